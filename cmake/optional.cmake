# weft_optional(<NAME> <text> PKG <module> LIBRARY <name> PACKAGE <Debian's> WITHOUT <what is missed> SOURCE <program>)
#
# A library of the system that weft can do without. Sets WEFT_HAS_<NAME> and WEFT_<NAME>_LIBRARY, and makes the target
# weft_<name>, which brings WF_<NAME>=1 and is empty where there is none.
#   WEFT_<NAME>   AUTO (if it is there), ON (it must be) or OFF
# It is linked by its name, not by its place on this machine, because the name goes into the installed CMake files. A
# cross build looks only when told to: pkg-config would answer for the machine that builds.
include(CheckCSourceCompiles)
function(weft_optional NAME text)
    cmake_parse_arguments(PARSE_ARGV 2 given "" "PKG;LIBRARY;PACKAGE;WITHOUT;SOURCE" "")
    string(TOLOWER ${NAME} name)
    set(WEFT_${NAME} AUTO CACHE STRING "${text}: AUTO, ON or OFF")
    set_property(CACHE WEFT_${NAME} PROPERTY STRINGS AUTO ON OFF)
    add_library(weft_${name} INTERFACE)
    set(is_wanted ${WEFT_${NAME}})
    if(WEFT_${NAME} STREQUAL "AUTO")
        set(is_wanted TRUE)
        if(CMAKE_CROSSCOMPILING)
            set(is_wanted FALSE)
        endif()
    endif()
    set(links FALSE)
    if(is_wanted)
        find_package(PkgConfig QUIET)
        if(PkgConfig_FOUND AND NOT CMAKE_CROSSCOMPILING)
            pkg_check_modules(${NAME} QUIET ${given_PKG})
        endif()
        set(CMAKE_REQUIRED_INCLUDES ${${NAME}_INCLUDE_DIRS})
        set(CMAKE_REQUIRED_LINK_OPTIONS ${${NAME}_LDFLAGS_OTHER})
        foreach(directory ${${NAME}_LIBRARY_DIRS})
            list(APPEND CMAKE_REQUIRED_LINK_OPTIONS -L${directory})
        endforeach()
        set(CMAKE_REQUIRED_LIBRARIES ${given_LIBRARY})
        check_c_source_compiles("${given_SOURCE}" WEFT_${NAME}_LINKS)
        set(links ${WEFT_${NAME}_LINKS})
    endif()
    set(WEFT_HAS_${NAME} FALSE PARENT_SCOPE)
    set(WEFT_${NAME}_LIBRARY "" PARENT_SCOPE)
    if(links)
        set(WEFT_HAS_${NAME} TRUE PARENT_SCOPE)
        set(WEFT_${NAME}_LIBRARY ${given_LIBRARY} PARENT_SCOPE)
        target_compile_definitions(weft_${name} INTERFACE WF_${NAME}=1)
        target_include_directories(weft_${name} SYSTEM INTERFACE ${CMAKE_REQUIRED_INCLUDES})
        target_link_options(weft_${name} INTERFACE ${CMAKE_REQUIRED_LINK_OPTIONS})
        target_link_libraries(weft_${name} INTERFACE ${given_LIBRARY})
    elseif(is_wanted AND NOT WEFT_${NAME} STREQUAL "AUTO")
        message(FATAL_ERROR "WEFT_${NAME}=ON, but it is not there (Debian: ${given_PACKAGE})")
    else()
        message(STATUS "weft: without ${given_LIBRARY}, ${given_WITHOUT}")
    endif()
endfunction()

weft_optional(LIBFFI "Dynamic foreign calls by libffi" PKG libffi LIBRARY ffi PACKAGE libffi-dev
    WITHOUT "dynamic foreign calls will answer -ENOSYS"
    SOURCE "#include <ffi.h>
        int main(void) {
            void *code;
            return ffi_closure_alloc(sizeof(ffi_closure), &code) == 0;
        }")
# ares_getaddrinfo came with 1.16, the lifetime of what it answers too.
weft_optional(CARES "Names by c-ares" PKG libcares LIBRARY cares PACKAGE libc-ares-dev
    WITHOUT "names that are not in /etc/hosts will answer -ENOSYS"
    SOURCE "#include <ares.h>
        int main(void) {
            struct ares_addrinfo_node node = {0};
            ares_getaddrinfo(0, \"\", 0, 0, 0, 0);
            return node.ai_ttl;
        }")
# Streams that tell by themselves whether they are gzip came with 1.2.
weft_optional(ZLIB "Packed HTTP bodies by zlib" PKG zlib LIBRARY z PACKAGE zlib1g-dev
    WITHOUT "HTTP clients ask for no packed bodies, and servers send none"
    SOURCE "#include <zlib.h>
        int main(void) {
            z_stream stream = {0};
            return inflateInit2(&stream, 15 + 16) + inflateReset(&stream) + inflateEnd(&stream);
        }")
