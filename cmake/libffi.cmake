# Where dynamic foreign calls come from. Sets WEFT_HAS_LIBFFI and WEFT_LIBFFI_LIBRARY, and makes the target weft_libffi, which
# is empty where there is none.
#   WEFT_LIBFFI   AUTO (if it is there), ON (it must be) or OFF
# It is linked by its name, not by its place on this machine, because the name goes into the installed CMake files. A
# cross build looks only when told to: pkg-config would answer for the machine that builds.
set(WEFT_LIBFFI AUTO CACHE STRING "Dynamic foreign calls by libffi: AUTO, ON or OFF")
set_property(CACHE WEFT_LIBFFI PROPERTY STRINGS AUTO ON OFF)
set(WEFT_HAS_LIBFFI FALSE)
set(WEFT_LIBFFI_LIBRARY "")
add_library(weft_libffi INTERFACE)
set(is_wanted ${WEFT_LIBFFI})
if(WEFT_LIBFFI STREQUAL "AUTO")
    set(is_wanted TRUE)
    if(CMAKE_CROSSCOMPILING)
        set(is_wanted FALSE)
    endif()
endif()

if(is_wanted)
    include(CheckCSourceCompiles)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND AND NOT CMAKE_CROSSCOMPILING)
        pkg_check_modules(LIBFFI QUIET libffi)
    endif()
    set(CMAKE_REQUIRED_INCLUDES ${LIBFFI_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_LINK_OPTIONS ${LIBFFI_LDFLAGS_OTHER})
    foreach(directory ${LIBFFI_LIBRARY_DIRS})
        list(APPEND CMAKE_REQUIRED_LINK_OPTIONS -L${directory})
    endforeach()
    set(CMAKE_REQUIRED_LIBRARIES ffi)
    check_c_source_compiles("
        #include <ffi.h>
        int main(void) {
            void *code;
            return ffi_closure_alloc(sizeof(ffi_closure), &code) == 0;
        }" WEFT_LIBFFI_LINKS)
    if(WEFT_LIBFFI_LINKS)
        set(WEFT_HAS_LIBFFI TRUE)
        set(WEFT_LIBFFI_LIBRARY ffi)
        target_compile_definitions(weft_libffi INTERFACE WF_LIBFFI=1)
        target_include_directories(weft_libffi SYSTEM INTERFACE ${CMAKE_REQUIRED_INCLUDES})
        target_link_options(weft_libffi INTERFACE ${CMAKE_REQUIRED_LINK_OPTIONS})
        target_link_libraries(weft_libffi INTERFACE ${WEFT_LIBFFI_LIBRARY})
    elseif(NOT WEFT_LIBFFI STREQUAL "AUTO")
        message(FATAL_ERROR "WEFT_LIBFFI=ON, but there is no libffi (Debian: libffi-dev)")
    endif()
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(NOT WEFT_HAS_LIBFFI)
    message(STATUS "weft: without libffi, dynamic foreign calls will answer -ENOSYS")
endif()
