# Sets WEFT_VERSION from the public header, where alone it is written.
function(weft_read_version header)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    foreach(part MAJOR MINOR PATCH)
        file(STRINGS ${header} line REGEX "^#define WEFT_VERSION_${part} [0-9]+$")
        string(REGEX MATCH "[0-9]+$" ${part} "${line}")
    endforeach()
    set(WEFT_VERSION ${MAJOR}.${MINOR}.${PATCH} PARENT_SCOPE)
endfunction()
