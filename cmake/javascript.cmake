# The JavaScript host, libweft-js: a library of its own, made where there is an engine. Sets WEFT_HAS_JS.
#
#   WEFT_JS            auto (if the engine can be had, and not with ThreadSanitizer), on (it must be), off
#   WEFT_JS_ROUTE      where the engine comes from: one of tools/fetch's routes; else the first that works
#   WEFT_JS_SANITIZE   the engine itself is compiled with the sanitizer, too
#
# An engine that comes as source is compiled as part of the library; npm's is a library already, of an older line.
set(WEFT_JS auto CACHE STRING "JavaScript: auto, on or off")
set(WEFT_JS_ROUTE "" CACHE STRING "Where the engine comes from: installed, forky, npm, or whichever works")
option(WEFT_JS_SANITIZE "The engine itself is compiled with the sanitizer, too" OFF)
set_property(CACHE WEFT_JS PROPERTY STRINGS auto on off)
set(WEFT_HAS_JS FALSE)
if(WEFT_JS STREQUAL off OR CMAKE_CROSSCOMPILING OR (WEFT_SANITIZE MATCHES "^thread" AND NOT WEFT_JS STREQUAL on))
    return()
endif()

set(engine ${WEFT_FETCHED}/quickjs)
if(WEFT_JS_ROUTE) # beside the one of the other builds
    string(APPEND engine -${WEFT_JS_ROUTE})
endif()
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tools/fetch quickjs ${engine} ${WEFT_JS_ROUTE}
    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said OUTPUT_STRIP_TRAILING_WHITESPACE)
message(STATUS "weft: ${said}")
if(failed)
    if(WEFT_JS STREQUAL on)
        message(FATAL_ERROR "weft: no JavaScript engine")
    endif()
    message(STATUS "weft: without an engine: no JavaScript")
    return()
endif()
set(WEFT_HAS_JS TRUE)
string(REGEX MATCH "[^\n]*$" origin "${said}")

# The engine, mended where it is source, once for the library and once for the tool that compiles js/lib.
if(EXISTS ${engine}/lib/quickjs.a)
    set(is_older 1)
    set(engine_library ${engine}/lib/quickjs.a)
    add_library(weft_js_engine OBJECT ${PROJECT_SOURCE_DIR}/js/engine_older.c)
    target_include_directories(weft_js_engine SYSTEM PRIVATE ${engine}/include)
else()
    set(is_older 0)
    set(engine_library "")
    set(mended ${PROJECT_BINARY_DIR}/js/engine)
    file(MAKE_DIRECTORY ${mended})
    add_custom_command(OUTPUT ${mended}/quickjs.c
        COMMAND ${PROJECT_SOURCE_DIR}/js/tool/mend ${engine}/src/quickjs.c ${mended}/quickjs.c
        DEPENDS ${PROJECT_SOURCE_DIR}/js/tool/mend ${engine}/src/quickjs.c COMMENT "Mending the engine")
    set_source_files_properties(${PROJECT_SOURCE_DIR}/js/engine.c PROPERTIES OBJECT_DEPENDS ${mended}/quickjs.c)
    add_library(weft_js_engine OBJECT ${PROJECT_SOURCE_DIR}/js/engine.c ${engine}/src/libregexp.c ${engine}/src/libunicode.c
        ${engine}/src/dtoa.c)
    target_compile_options(weft_js_engine PRIVATE -w -funsigned-char -fno-sanitize=undefined)
    target_include_directories(weft_js_engine PRIVATE ${mended} ${engine}/src)
    # Its assertions, and what it can print of itself for every step, are for builds that look for errors.
    target_compile_definitions(weft_js_engine PRIVATE QUICKJS_NG_BUILD=1 $<$<NOT:$<BOOL:${WEFT_SANITIZE}>>:NDEBUG>)
endif()
target_include_directories(weft_js_engine PRIVATE ${PROJECT_SOURCE_DIR}/js)
target_compile_definitions(weft_js_engine PRIVATE WF_JS_OLDER=${is_older})
if(WEFT_JS_SANITIZE OR is_older OR NOT WEFT_SANITIZE)
    target_link_libraries(weft_js_engine PRIVATE weft_library_flags)
else() # two minutes for one file; and what it allocates is watched all the same
    target_link_libraries(weft_js_engine PRIVATE weft_flags)
endif()

add_executable(weft-js-compile ${PROJECT_SOURCE_DIR}/js/tool/compile.c $<TARGET_OBJECTS:weft_js_engine>)
target_link_libraries(weft-js-compile PRIVATE weft_program_flags ${engine_library} m Threads::Threads)
target_include_directories(weft-js-compile PRIVATE ${PROJECT_SOURCE_DIR}/js)
target_include_directories(weft-js-compile SYSTEM PRIVATE ${engine}/include)
target_compile_definitions(weft-js-compile PRIVATE WF_JS_OLDER=${is_older})

# The files of js/lib become code in one object.
file(GLOB libraries CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/js/lib/*.js)
set(codes "")
set(places "")
set(entries "")
foreach(library ${libraries})
    get_filename_component(noun ${library} NAME_WE)
    set(code ${PROJECT_BINARY_DIR}/js/${noun}.code)
    add_custom_command(OUTPUT ${code} COMMAND weft-js-compile ${library} weft:internal/${noun} ${code}
        DEPENDS weft-js-compile ${library} COMMENT "Compiling js/lib/${noun}.js")
    list(APPEND codes ${code})
    string(APPEND places "CODE(${noun}, \"${code}\")\n")
    string(APPEND entries "    {\"${noun}\", wf_js_code_${noun}, wf_js_end_${noun}},\n")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/js/sources.c.in ${PROJECT_BINARY_DIR}/js/sources.c @ONLY)
set_source_files_properties(${PROJECT_BINARY_DIR}/js/sources.c PROPERTIES OBJECT_DEPENDS "${codes}")

# The library, shared and static, of the same objects:
#   weft_js          static; all that is not weft_js_* is local to it, so that a program may have an engine of its own
#   weft_js_shared   shared
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/js/*.c)
list(FILTER sources EXCLUDE REGEX /engine[^/]*[.]c$)
add_library(weft_js_objects OBJECT ${sources} ${PROJECT_BINARY_DIR}/js/sources.c)
target_link_libraries(weft_js_objects PRIVATE weft_library_flags weft_zlib)
target_include_directories(weft_js_objects PRIVATE ${PROJECT_SOURCE_DIR}/js ${PROJECT_SOURCE_DIR}/include)
target_include_directories(weft_js_objects SYSTEM PRIVATE ${engine}/include)
target_compile_definitions(weft_js_objects PRIVATE WF_JS_ORIGIN="${origin}" WF_JS_OLDER=${is_older}
    $<$<CONFIG:Debug>:WF_DEBUG=1>)
set(objects $<TARGET_OBJECTS:weft_js_objects> $<TARGET_OBJECTS:weft_js_engine>)

set(whole ${PROJECT_BINARY_DIR}/js/weft-js.o)
add_custom_command(OUTPUT ${whole}
    COMMAND ${CMAKE_C_COMPILER} -nostdlib -no-pie -Wl,-r -o ${whole} ${objects} ${engine_library}
    # DW.ref.*: what other objects have, too, and the linker takes once for all
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=weft_js_* --keep-global-symbol=DW.ref.* ${whole}
    DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM COMMENT "Joining libweft-js")
set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
add_library(weft_js STATIC ${whole})
target_link_libraries(weft_js PUBLIC weft_static PRIVATE ${WEFT_ZLIB_LIBRARY} m)
set_target_properties(weft_js PROPERTIES LINKER_LANGUAGE C EXPORT_NAME js_static)

add_library(weft_js_shared SHARED ${objects})
set(version_script ${PROJECT_SOURCE_DIR}/cmake/weft-js.map)
target_link_options(weft_js_shared PRIVATE -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--version-script=${version_script})
target_link_libraries(weft_js_shared PUBLIC weft PRIVATE weft_program_flags weft_zlib ${engine_library} m)
set_target_properties(weft_js_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE C LINK_DEPENDS ${version_script} EXPORT_NAME js)

foreach(target weft_js weft_js_shared)
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME weft-js)
endforeach()
add_library(weft::js ALIAS weft_js_shared)
add_library(weft::js_static ALIAS weft_js)
