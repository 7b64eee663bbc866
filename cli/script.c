/* SPDX-License-Identifier: MIT
 *
 * cli/script.c - "weft run app.js": an instance of the engine on a loop of its own, inside a runtime.
 *
 * The loop runs on a fiber with as much stack as a main thread has. What a script has left behind at its end, fibers that wait
 * among it, goes with the process.
 */
#include "script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "file.h"
#include "say.h"
#include "weft.h"

bool cli_is_script(const char *file) {
    static const char *const endings[] = {".js", ".mjs", ".cjs"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (cli_path_has_suffix(file, endings[i]))
            return true;
    return false;
}

#if defined(WF_JS) && WF_JS
#include "weft/js.h"

/* STACK: as a main thread has. STACK_BELOW: what C needs of it. DESCRIPTORS_MOST: some programs that scripts start close all that
 * there could be, one by one. */
enum { STACK = 8 << 20, STACK_BELOW = 128 << 10, DESCRIPTORS_MOST = 1 << 20 };

struct script {
    const char *file;
    const char *text;
    char **arguments;
    int status;
};

static void *script_main(void *opaque) {
    struct script *script = opaque;
    weft_loop *loop;
    weft_js *js;
    weft_loop_options loop_options = {.name = "script", .stays = true};
    weft_js_options options = {.max_stack = STACK - STACK_BELOW, .arguments = (const char *const *)script->arguments};
    int error = weft_loop_new(&loop, &loop_options);
    if (!error)
        error = weft_js_new(&js, loop, &options);
    if (!error)
        error = script->text ? weft_js_eval(js, script->text, strlen(script->text), script->file)
                             : weft_js_run(js, script->file);
    if (error) {
        script->status = cli_fail("cannot run %s: %s", script->file, strerror(-error));
        return NULL;
    }
    script->status = weft_js_finish(js);
    fflush(NULL);
    _Exit(script->status & 0xff);
}

static int runtime_main(void *opaque) {
    weft_fiber fiber;
    weft_spawn_options options = {.stack_size = STACK, .name = "script"};
    int error = weft_spawn_with(&fiber, &options, script_main, opaque);
    if (error)
        return cli_fail("cannot start: %s", strerror(-error));
    weft_join(fiber, NULL, WEFT_NEVER);
    return ((struct script *)opaque)->status;
}

/* As many descriptors as the system allows, within reason: what is set at first is for programs that use select(). */
static void raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= DESCRIPTORS_MOST)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int cli_script_run(const char *file, const char *text, char **arguments) {
    struct script script = {.file = file, .text = text, .arguments = arguments};
    raise_descriptors();
    return weft_run(NULL, runtime_main, &script);
}

#else

int cli_script_run(const char *file, const char *text, char **arguments) {
    (void)text, (void)arguments;
    return cli_fail("cannot run %s: JavaScript is not part of this build", file);
}
#endif
