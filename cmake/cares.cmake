# Where answers about names come from: c-ares. Sets WEFT_HAS_CARES and WEFT_CARES_LIBRARY, and makes the target weft_cares, which
# is empty where there is none.
#   WEFT_CARES   AUTO (if it is there), ON (it must be) or OFF
# It is linked by its name, and a cross build looks only when told to, as with libffi. ares_getaddrinfo came with 1.16, the
# lifetime of what it answers too.
set(WEFT_CARES AUTO CACHE STRING "Names by c-ares: AUTO, ON or OFF")
set_property(CACHE WEFT_CARES PROPERTY STRINGS AUTO ON OFF)
set(WEFT_HAS_CARES FALSE)
set(WEFT_CARES_LIBRARY "")
add_library(weft_cares INTERFACE)
set(is_wanted ${WEFT_CARES})
if(WEFT_CARES STREQUAL "AUTO")
    set(is_wanted TRUE)
    if(CMAKE_CROSSCOMPILING)
        set(is_wanted FALSE)
    endif()
endif()

if(is_wanted)
    include(CheckCSourceCompiles)
    find_package(PkgConfig QUIET)
    if(PkgConfig_FOUND AND NOT CMAKE_CROSSCOMPILING)
        pkg_check_modules(CARES QUIET libcares)
    endif()
    set(CMAKE_REQUIRED_INCLUDES ${CARES_INCLUDE_DIRS})
    set(CMAKE_REQUIRED_LINK_OPTIONS ${CARES_LDFLAGS_OTHER})
    foreach(directory ${CARES_LIBRARY_DIRS})
        list(APPEND CMAKE_REQUIRED_LINK_OPTIONS -L${directory})
    endforeach()
    set(CMAKE_REQUIRED_LIBRARIES cares)
    check_c_source_compiles("
        #include <ares.h>
        int main(void) {
            struct ares_addrinfo_node node = {0};
            ares_getaddrinfo(0, \"\", 0, 0, 0, 0);
            return node.ai_ttl;
        }" WEFT_CARES_LINKS)
    if(WEFT_CARES_LINKS)
        set(WEFT_HAS_CARES TRUE)
        set(WEFT_CARES_LIBRARY cares)
        target_compile_definitions(weft_cares INTERFACE WF_CARES=1)
        target_include_directories(weft_cares SYSTEM INTERFACE ${CMAKE_REQUIRED_INCLUDES})
        target_link_options(weft_cares INTERFACE ${CMAKE_REQUIRED_LINK_OPTIONS})
        target_link_libraries(weft_cares INTERFACE ${WEFT_CARES_LIBRARY})
    elseif(NOT WEFT_CARES STREQUAL "AUTO")
        message(FATAL_ERROR "WEFT_CARES=ON, but there is no c-ares (Debian: libc-ares-dev)")
    endif()
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    unset(CMAKE_REQUIRED_LIBRARIES)
endif()
if(NOT WEFT_HAS_CARES)
    message(STATUS "weft: without c-ares, names that are not in /etc/hosts will answer -ENOSYS")
endif()
