/* SPDX-License-Identifier: MIT
 *
 * weft/js.h - JavaScript on a loop: instances of an engine, whose timers, promises and waits are weft's. Link with libweft-js.
 *
 *     weft_js *js;
 *     weft_js_new(&js, loop, NULL);
 *     weft_js_define(js, "answer", answer, NULL);                // a C function, as a global one
 *     weft_js_run(js, "app.js");                                  // begins; the loop does the rest
 *     int code = weft_js_finish(js);
 *     weft_js_free(js);
 *
 * An instance belongs to its loop: all of these functions are for the loop's owner, between its turns or in its callbacks.
 * Functions that are started by go (from 'weft:go') run on fibers of their own, one at a time and only while the loop waits for
 * them; so JavaScript code runs to its next wait without being disturbed, as JavaScript programmers expect.
 *
 * What a script throws and nobody catches ends the script, not the process: it is reported on standard error, with its stack, and
 * is the exit code.
 */
#ifndef WEFT_JS_H
#define WEFT_JS_H

#include "weft/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_js weft_js;

/* Zero is the default everywhere. */
typedef struct weft_js_options {
    size_t max_memory;  /* bytes of the engine's heap; 0: no limit. More is an InternalError in JavaScript */
    size_t max_stack;   /* of what the loop's owner has; 0: all of it but 64 KiB */
    size_t fiber_stack; /* of each go; 1 MiB */
    int64_t max_run;    /* nanoseconds of one callback, or of one go between two waits; 0: no limit */
    bool
        no_fibers; /* go calls functions on the loop, and whatever waits gives a promise. So it is always with an engine that does
                     * not stand the self-test of its frames */
    const char *const *arguments; /* process.argv from its second on; ends with null; not copied */
    /* Options of "weft run" for scripts, as --name=value, and process.execArgv: --import-map=FILE, --input-type=module for a text;
     * the same rules. */
    const char *const *host_arguments;
} weft_js_options;

/* Returns 0; -EINVAL; -ENOMEM. */
WEFT_API int weft_js_new(weft_js **out, weft_loop *loop, const weft_js_options *options);
/* Nothing of it runs any more: the loop has ended, or is not run; else it is fatal. Null is allowed. */
WEFT_API void weft_js_free(weft_js *js);

/* The loop will begin with a file, as a module or a script, whatever it is; or with a text, as a script with that name. Return 0;
 * -EINVAL; -ENOMEM; -EPIPE after the loop's end. */
WEFT_API int weft_js_run(weft_js *js, const char *path);
WEFT_API int weft_js_eval(weft_js *js, const char *text, size_t size, const char *name);
/* Runs the loop, which is one that stays (weft_loop_options), until the script has ended: nothing is alive and its beforeExit
 * listeners have found nothing to do, or it has called process.exit. Returns its exit code; or the error of weft_loop_run.
 * What waits for JavaScript alone, for a channel or a lock of the script, does not count as alive when nothing else is: promises are
 * left pending, fibers are a deadlock, which is told on standard error with a list of them. A program that will call functions of
 * the script later keeps the loop (weft_loop_keep). */
WEFT_API int weft_js_finish(weft_js *js);
/* What the process should exit with: process.exitCode, 1 after something that nobody caught, 13 when the main module still waits
 * for something that never comes, 35 after a deadlock. */
WEFT_API int weft_js_exit_code(weft_js *js);

/* A function of C as a global one: arguments and the result are JSON texts. It returns 0 with *result, which malloc has made, or
 * null for undefined; a negative errno becomes an Error. Returns 0; -EINVAL; -ENOMEM. */
typedef int (*weft_js_fn)(weft_js *js, const char *arguments, char **result, void *arg);
WEFT_API int weft_js_define(weft_js *js, const char *name, weft_js_fn fn, void *arg);

/* The engine and its version, and where it came from. */
WEFT_API const char *weft_js_engine(void);

#ifdef __cplusplus
}
#endif

#endif
