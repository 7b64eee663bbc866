# The library in three shapes from the same sources:
#   weft, weft_static   the product (one compilation serves both)
#   weft_testing        assertions, hooks and fault points on; never installed

string(TOLOWER ${CMAKE_SYSTEM_PROCESSOR} processor)
string(REGEX REPLACE "^(amd64|x86-64)$" "x86_64" processor ${processor})
string(REGEX REPLACE "^arm64$" "aarch64" processor ${processor})
if(NOT processor MATCHES "^(x86_64|aarch64)$")
    message(FATAL_ERROR "weft knows x86_64 and aarch64, not ${processor}")
endif()
file(GLOB WEFT_SOURCES CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/*/*.c ${PROJECT_SOURCE_DIR}/src/arch/*_${processor}.S)

# In every build these are objects of their own: a program that makes no dynamic calls links libweft.a without libffi.
foreach(noun callback direct invoke library signature)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/ffi/${noun}.c PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()
# The same for names and c-ares, and what is packed and zlib.
foreach(file os/ares io/dns io/dns_ask io/dial http/deflate http/inflate http/client http/client_fields http/client_pool http/client_request http/client_response)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/${file}.c PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endforeach()

function(weft_set_up target)
    target_link_libraries(${target} PRIVATE weft_library_flags weft_libffi weft_cares weft_llhttp weft_zlib)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${WEFT_UNITY} UNITY_BUILD_BATCH_SIZE 0)
endfunction()

add_library(weft_objects OBJECT ${WEFT_SOURCES})
weft_set_up(weft_objects)
target_compile_definitions(weft_objects PRIVATE $<$<CONFIG:Debug>:WF_DEBUG=1>)

add_library(weft SHARED $<TARGET_OBJECTS:weft_objects> ${WEFT_LLHTTP_OBJECTS})
set(version_script ${PROJECT_SOURCE_DIR}/cmake/weft.map)
target_link_options(weft PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--version-script=${version_script})
target_link_libraries(weft PRIVATE weft_program_flags weft_libffi weft_cares weft_llhttp weft_zlib)
set_target_properties(weft PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C LINK_DEPENDS ${version_script})

add_library(weft_static STATIC $<TARGET_OBJECTS:weft_objects> ${WEFT_LLHTTP_OBJECTS})
target_link_libraries(weft_static PRIVATE Threads::Threads ${CMAKE_DL_LIBS} ${WEFT_LIBFFI_LIBRARY} ${WEFT_CARES_LIBRARY}
    ${WEFT_LLHTTP_LIBRARY} ${WEFT_ZLIB_LIBRARY})
foreach(needed weft_libffi weft_cares weft_llhttp weft_zlib)
    target_link_options(weft_static INTERFACE $<BUILD_INTERFACE:$<TARGET_PROPERTY:${needed},INTERFACE_LINK_OPTIONS>>)
endforeach()
set_target_properties(weft_static PROPERTIES OUTPUT_NAME weft LINKER_LANGUAGE C)

foreach(target weft weft_static)
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    add_library(weft::${target} ALIAS ${target})
endforeach()

# What the definitions change reaches into private headers, so the tests that include those must see them as well.
add_library(weft_testing STATIC EXCLUDE_FROM_ALL ${WEFT_SOURCES} ${WEFT_LLHTTP_OBJECTS})
weft_set_up(weft_testing)
target_compile_definitions(weft_testing PUBLIC WF_TESTING=1 WF_DEBUG=1)
target_include_directories(weft_testing INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
