/* SPDX-License-Identifier: MIT
 *
 * cli/script.c - "weft run app.js", and "weft repl": an instance of the engine on a loop of its own, inside a runtime.
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
#include "quantity.h"
#include "say.h"
#include "weft.h"

bool cli_is_script(const char *file) {
    static const char *const endings[] = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"};
    if (!strchr(cli_path_name(file), '.'))
        return !cli_directory_exists(file);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (cli_path_has_suffix(file, endings[i]))
            return true;
    return false;
}

/* STACK_LEAST: below, not even an error can be told. */
enum { STACK_LEAST = 64 << 10, STACK_MOST = 512 << 20 };

int cli_script_option(struct cli_script *script, const char *command, int option, const char *value) {
    const char *wants;
    bool is_good;
    switch (option) {
    case CLI_SCRIPT_IMPORT_MAP:
        cli_words_add(&script->host, "--import-map=%s", value);
        return CLI_DONE;
    case CLI_SCRIPT_MAX_MEMORY:
        is_good = cli_parse_size(value, &script->max_memory);
        wants = "--max-memory takes a size as 64m";
        break;
    case CLI_SCRIPT_MAX_STACK:
        is_good = cli_parse_size(value, &script->max_stack) && script->max_stack >= STACK_LEAST &&
                  script->max_stack <= STACK_MOST;
        wants = "--max-stack takes a size from 64k to 512m";
        break;
    case CLI_SCRIPT_MAX_RUN:
        is_good = cli_parse_time(value, &script->max_run);
        wants = "--max-run takes a time as 500ms";
        break;
    default:
        if (cli_parse_count(value, WEFT_WORKERS_MAX, &script->workers))
            return CLI_DONE;
        return cli_misuse(command, "%s: --workers takes a number from 1 to %d, not '%s'", command, WEFT_WORKERS_MAX,
                          value);
    }
    return is_good ? CLI_DONE : cli_misuse(command, "%s: %s, not '%s'", command, wants, value);
}

#if defined(WF_JS) && WF_JS
#include "weft/js.h"

/* STACK: as a main thread has. STACK_BELOW: what C needs of it. DESCRIPTORS_MOST: some programs that scripts start close all that
 * there could be, one by one. */
enum { STACK = 8 << 20, STACK_BELOW = 128 << 10, DESCRIPTORS_MOST = 1 << 20 };

struct run {
    const struct cli_script *script;
    int status;
};

static void *script_main(void *opaque) {
    struct run *run = opaque;
    const struct cli_script *script = run->script;
    weft_loop *loop;
    weft_js *js;
    weft_loop_options loop_options = {.name = "script", .stays = true};
    weft_js_options options = {.max_memory = script->max_memory,
                               .max_stack = script->max_stack ? script->max_stack : STACK - STACK_BELOW,
                               .max_run = script->max_run,
                               .arguments = (const char *const *)script->arguments,
                               .host_arguments = (const char *const *)script->host.list};
    int error = weft_loop_new(&loop, &loop_options);
    if (!error)
        error = weft_js_new(&js, loop, &options);
    if (!error)
        error = script->text ? weft_js_eval(js, script->text, script->text_size, script->file)
                             : weft_js_run(js, script->file);
    if (error) {
        run->status = cli_fail("cannot run %s: %s", script->file, strerror(-error));
        return NULL;
    }
    run->status = weft_js_finish(js);
    fflush(NULL);
    _Exit(run->status & 0xff);
}

static int runtime_main(void *opaque) {
    struct run *run = opaque;
    weft_fiber fiber;
    size_t stack = run->script->max_stack ? run->script->max_stack + STACK_BELOW : STACK;
    weft_spawn_options options = {.stack_size = stack, .name = "script"};
    int error = weft_spawn_with(&fiber, &options, script_main, opaque);
    if (error)
        return cli_fail("cannot start: %s", strerror(-error));
    weft_join(fiber, NULL, WEFT_NEVER);
    return run->status;
}

/* As many descriptors as the system allows, within reason: what is set at first is for programs that use select(). */
static void raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= DESCRIPTORS_MOST)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int cli_script_run(const struct cli_script *script) {
    struct run run = {.script = script};
    raise_descriptors();
    return weft_run(&(weft_options){.workers = (unsigned)script->workers}, runtime_main, &run);
}

#else

int cli_script_run(const struct cli_script *script) {
    return cli_fail("cannot run %s: JavaScript is not part of this build", script->file);
}
#endif
