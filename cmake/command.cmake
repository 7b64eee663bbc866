# The weft command, twice: one for the build tree, which finds its files in the source tree, and one to install.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.c)
if(NOT sources)
    return()
endif()

function(weft_add_command target)
    add_executable(${target} ${sources})
    target_link_libraries(${target} PRIVATE weft_static weft_program_flags)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cli)
    target_compile_definitions(${target} PRIVATE WEFT_PREFIX="${CMAKE_INSTALL_PREFIX}" ${ARGN})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME weft)
endfunction()

weft_add_command(weft-cli WEFT_BUILD_ROOT="${PROJECT_SOURCE_DIR}")
weft_add_command(weft-cli-installed)
set_target_properties(weft-cli-installed PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/installed)
install(TARGETS weft-cli-installed)
