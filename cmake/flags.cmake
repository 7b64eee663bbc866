# Flags, as interface libraries:
#   weft_flags           warnings; every translation unit
#   weft_program_flags   + sanitizers; tests, examples, the command
#   weft_library_flags   + visibility, thread-locals, unwinding; the library itself
include(CheckCCompilerFlag)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 17)

add_library(weft_flags INTERFACE)
target_compile_options(weft_flags INTERFACE
    -Wall -Wextra -Wshadow -Wvla -Wundef
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes$<SEMICOLON>-Wmissing-prototypes>
    $<$<BOOL:${WEFT_WERROR}>:-Werror>)
# Empty, so that a file which says so itself ("#define _GNU_SOURCE") does not redefine it. C++ always has it.
target_compile_definitions(weft_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:_GNU_SOURCE=>)
target_link_libraries(weft_flags INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

set(sanitize "")
if(WEFT_SANITIZE STREQUAL "address")
    set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=undefined)
elseif(WEFT_SANITIZE MATCHES "^thread(-user)?$")
    set(sanitize -fsanitize=thread)
elseif(WEFT_SANITIZE)
    message(FATAL_ERROR "WEFT_SANITIZE=${WEFT_SANITIZE}: address, thread, thread-user or empty")
endif()
if(WEFT_COVERAGE)
    list(APPEND sanitize --coverage -fprofile-update=atomic)
endif()
add_library(weft_program_flags INTERFACE)
target_link_libraries(weft_program_flags INTERFACE weft_flags)
target_compile_options(weft_program_flags INTERFACE ${sanitize})
target_link_options(weft_program_flags INTERFACE ${sanitize})

# -fexceptions and the unwind tables let C++ exceptions and debuggers pass through frames of the library. Initial-exec
# keeps thread-locals one load away; the library must then be loaded at program start.
add_library(weft_library_flags INTERFACE)
target_link_libraries(weft_library_flags INTERFACE weft_flags)
target_compile_options(weft_library_flags INTERFACE -fvisibility=hidden -ftls-model=initial-exec
    -fasynchronous-unwind-tables $<$<COMPILE_LANGUAGE:C>:-fexceptions>)
check_c_compiler_flag(-fstack-clash-protection WEFT_HAS_STACK_CLASH_PROTECTION)
if(WEFT_HAS_STACK_CLASH_PROTECTION)
    target_compile_options(weft_library_flags INTERFACE -fstack-clash-protection)
endif()

# For races in user code the library is left out of ThreadSanitizer and tells it what its primitives mean instead;
# were it instrumented, the atomics of the scheduler would order, and so hide, what the user's fibers do.
if(WEFT_SANITIZE STREQUAL "thread-user")
    target_compile_definitions(weft_library_flags INTERFACE WF_TSAN_ANNOTATE=1)
else()
    target_compile_options(weft_library_flags INTERFACE ${sanitize})
endif()
