/* SPDX-License-Identifier: MIT
 *
 * weft/js.h - JavaScript on a loop: instances of an engine, whose timers, promises and waits are weft's. Link with libweft-js.
 *
 *     weft_js *js;
 *     weft_js_new(&js, loop, NULL);
 *     weft_js_enter(js);
 *     weft_js_set(js, weft_js_global(js), "add", weft_js_function(js, "add", 2, add, NULL, NULL));   // weft/js_value.h
 *     weft_js_leave(js);
 *     weft_js_run(js, "app.js");                                  // begins; the loop does the rest
 *     int code = weft_js_finish(js);
 *     weft_js_free(js);
 *
 * An instance belongs to its loop: these functions are for the loop's owner, between its turns or in its callbacks, but for those that
 * say that they are for any thread. Functions that are started by go (from 'weft:go') run on fibers of their own, one at a time and only
 * while the loop waits for them; so JavaScript code runs to its next wait without being disturbed, as JavaScript programmers
 * expect.
 *
 * What a script throws and nobody catches ends the script, not the process: it is reported on standard error, with its stack, and
 * is the exit code.
 */
#ifndef WEFT_JS_H
#define WEFT_JS_H

#include "weft/js_value.h"
#include "weft/loop.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    bool tell_leaks; /* weft_js_free says on standard error how many values are still kept; as in debug builds */
} weft_js_options;

/* Returns 0; -EINVAL; -ENOMEM. */
WEFT_API int weft_js_new(weft_js **out, weft_loop *loop, const weft_js_options *options);
/* Nothing of it runs any more: the loop has ended, or is not run; else it is fatal. What waits in it is cancelled, and the loop is run
 * until that is gone; then all finalizers have run. Null is allowed. */
WEFT_API void weft_js_free(weft_js *js);
/* A reference to what is left of an instance then: for threads that may still call, and get -EPIPE. Taken while the instance is
 * there; from any thread. Null is allowed for unref. */
WEFT_API weft_js *weft_js_ref(weft_js *js);
WEFT_API void weft_js_unref(weft_js *js);

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
 * for something that never comes, 35 after a deadlock. -EINVAL for null. */
WEFT_API int weft_js_exit_code(weft_js *js);

/* A function of C as a global one: arguments and the result are JSON texts. It returns 0 with *result, which malloc has made, or
 * null for undefined; a negative errno becomes an Error. weft_js_function has values instead. Returns 0; -EINVAL; -ENOMEM; -EPIPE,
 * -EPERM, -EBUSY as weft_js_enter. */
typedef int (*weft_js_fn)(weft_js *js, const char *arguments, char **result, void *arg);
WEFT_API int weft_js_define(weft_js *js, const char *name, weft_js_fn fn, void *arg);

/* ---- For any thread ----
 *
 * By whoever knows that the instance has not been freed, or has a reference. */

/* fn(js, arg) as a callback of the loop, inside the instance (weft/js_value.h), in the order of the calls; an error that it leaves
 * pending is one that nobody has caught. drop(arg), which may be null, is called instead when the script ends before. Returns 0;
 * -EINVAL; -ENOMEM; -EPIPE after the script's end, with nothing called. */
WEFT_API int weft_js_submit(weft_js *js, void (*fn)(weft_js *js, void *arg), void (*drop)(void *arg), void *arg);
/* begin(js, arg) in the same way, and waits for what it returns: if that is a promise, until it is settled. Then done(js, value, arg)
 * is called, inside, with the value; it may be null. Neither runs after the call has returned. Returns 0; -EOWNERDEAD when begin or
 * done left an error, or the promise was rejected: *error, which may be null, says with what; -EPIPE when the script ends before;
 * -ETIMEDOUT; -ECANCELED; -ENOMEM; -EDEADLK for whoever the loop would wait for: inside the instance, or in a callback of its loop;
 * -EINVAL. */
WEFT_API int weft_js_do(weft_js *js, weft_js_value (*begin)(weft_js *js, void *arg),
                        void (*done)(weft_js *js, weft_js_value value, void *arg), void *arg, weft_js_error *error,
                        weft_time deadline);
/* Calls a function of the script and waits for its result. name: a global one, or one of an object there ("app.users.find"); or an
 * export of a module ("app:users#find", "./lib/users.js#find", from the current folder). arguments: a JSON array, or null for none.
 * *result, which may be null, gets a JSON text that malloc has made, or null for undefined. Returns as weft_js_do, and -ENOENT when there is no
 * such function. */
WEFT_API int weft_js_call_wait(weft_js *js, const char *name, const char *arguments, char **result,
                               weft_js_error *error, weft_time deadline);
/* What JavaScript runs now gets an error that it cannot catch; nothing happens when none runs. The instance goes on. Returns 0,
 * -EINVAL, -EPIPE. */
WEFT_API int weft_js_interrupt(weft_js *js);
/* The script ends, in the middle of whatever it does, with that exit code, as by process.exit but without its listeners;
 * weft_js_finish returns. The first one counts. Returns 0, -EINVAL, -ENOMEM, -EPIPE when it has ended. */
WEFT_API int weft_js_terminate(weft_js *js, int code);

/* ---- Limits and figures ---- */

/* Zero: no limit, or the default, as in weft_js_options. */
typedef struct weft_js_limits {
    size_t max_memory;
    size_t max_stack; /* from the next callback on */
    int64_t max_run;
} weft_js_limits;

/* Return 0; -EINVAL; -EPERM, -EBUSY as weft_js_enter. */
WEFT_API int weft_js_get_limits(weft_js *js, weft_js_limits *out);
WEFT_API int weft_js_set_limits(weft_js *js, const weft_js_limits *limits);

typedef struct weft_js_stats {
    size_t heap;      /* bytes */
    uint64_t blocks;  /* of memory */
    uint64_t objects; /* the next ones are among them, but for strings */
    uint64_t functions;
    uint64_t arrays;
    uint64_t strings;
    uint32_t fibers; /* of go */
    uint32_t waits;  /* of promises */
    uint32_t kept;   /* values, by weft_js_keep */
} weft_js_stats;

/* Looks at the whole heap. Returns as above. */
WEFT_API int weft_js_get_stats(weft_js *js, weft_js_stats *out);
/* Frees what nobody can reach. Returns as above. */
WEFT_API int weft_js_collect(weft_js *js);

/* The engine and its version, and where it came from. */
WEFT_API const char *weft_js_engine(void);

#ifdef __cplusplus
}
#endif

#endif
