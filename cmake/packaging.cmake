# Install rules, weft.pc, find_package(weft), and the Debian package. Everything finds its neighbours relative to
# itself, so an installed tree may be moved.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS weft weft_static EXPORT weftTargets)
install(DIRECTORY include/ TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE TYPE DOC)

install(EXPORT weftTargets NAMESPACE weft:: DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/weftConfig.cmake.in weftConfig.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weftConfig.cmake ${PROJECT_BINARY_DIR}/weftConfigVersion.cmake
    DESTINATION ${package_dir})

file(RELATIVE_PATH prefix_from_pc /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(cmake/weft.pc.in weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${pkgconfig_dir})

foreach(section 1 3 7)
    file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.${section})
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

function(weft_install_completion file directory name)
    if(EXISTS ${PROJECT_SOURCE_DIR}/tools/completion/${file})
        install(FILES tools/completion/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${directory} RENAME ${name})
    endif()
endfunction()
weft_install_completion(weft.bash bash-completion/completions weft)
weft_install_completion(weft.zsh zsh/site-functions _weft)
weft_install_completion(weft.fish fish/vendor_completions.d weft.fish)

if(PROJECT_IS_TOP_LEVEL)
    set(CPACK_GENERATOR DEB)
    set(CPACK_PACKAGE_CONTACT "the weft authors")
    set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
    find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
    if(DPKG_SHLIBDEPS)
        set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
    else()
        set(CPACK_DEBIAN_PACKAGE_DEPENDS libc6)
    endif()
    set(CPACK_STRIP_FILES ON)
    include(CPack)
endif()
