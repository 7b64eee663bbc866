# What unpacks the bodies that an HTTP client gets: zlib. Sets WEFT_HAS_ZLIB and WEFT_ZLIB_LIBRARY, and makes the target
# weft_zlib, which is empty where there is none.
#   WEFT_ZLIB   AUTO (if it is there), ON (it must be) or OFF
# It is linked by its name, and a cross build looks only when told to, as with libffi. Streams that tell by themselves whether
# they are gzip came with 1.2.
set(WEFT_ZLIB AUTO CACHE STRING "Packed HTTP bodies by zlib: AUTO, ON or OFF")
set_property(CACHE WEFT_ZLIB PROPERTY STRINGS AUTO ON OFF)
set(WEFT_HAS_ZLIB FALSE)
set(WEFT_ZLIB_LIBRARY "")
add_library(weft_zlib INTERFACE)
set(is_wanted ${WEFT_ZLIB})
if(WEFT_ZLIB STREQUAL "AUTO")
    set(is_wanted TRUE)
    if(CMAKE_CROSSCOMPILING)
        set(is_wanted FALSE)
    endif()
endif()

if(is_wanted)
    include(CheckCSourceCompiles)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND AND NOT CMAKE_CROSSCOMPILING)
        pkg_check_modules(ZLIB QUIET zlib)
    endif()
    set(CMAKE_REQUIRED_INCLUDES ${ZLIB_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_LINK_OPTIONS ${ZLIB_LDFLAGS_OTHER})
    foreach(directory ${ZLIB_LIBRARY_DIRS})
        list(APPEND CMAKE_REQUIRED_LINK_OPTIONS -L${directory})
    endforeach()
    set(CMAKE_REQUIRED_LIBRARIES z)
    check_c_source_compiles("
        #include <zlib.h>
        int main(void) {
            z_stream stream = {0};
            return inflateInit2(&stream, 15 + 16) + inflateReset(&stream) + inflateEnd(&stream);
        }" WEFT_ZLIB_LINKS)
    if(WEFT_ZLIB_LINKS)
        set(WEFT_HAS_ZLIB TRUE)
        set(WEFT_ZLIB_LIBRARY z)
        target_compile_definitions(weft_zlib INTERFACE WF_ZLIB=1)
        target_include_directories(weft_zlib SYSTEM INTERFACE ${CMAKE_REQUIRED_INCLUDES})
        target_link_options(weft_zlib INTERFACE ${CMAKE_REQUIRED_LINK_OPTIONS})
        target_link_libraries(weft_zlib INTERFACE ${WEFT_ZLIB_LIBRARY})
    elseif(NOT WEFT_ZLIB STREQUAL "AUTO")
        message(FATAL_ERROR "WEFT_ZLIB=ON, but there is no zlib (Debian: zlib1g-dev)")
    endif()
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(NOT WEFT_HAS_ZLIB)
    message(STATUS "weft: without zlib, HTTP clients ask for no packed bodies")
endif()
