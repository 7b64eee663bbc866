/* SPDX-License-Identifier: MIT
 *
 * weft/loop_promise.h - promises on a loop, with the rules and the order of JavaScript.
 *
 *     static weft_reply twice(void *value, void *arg) { return weft_reply_value((void *)(2 * (intptr_t)value)); }
 *     weft_promise *promise, *doubled;
 *     weft_loop_promise(loop, &promise);
 *     weft_loop_then(loop, promise, &doubled, twice, NULL, NULL);
 *     weft_promise_resolve(promise, (void *)21);                    // from anywhere
 *     weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
 *
 * A promise of a loop is a weft_promise: any thread may settle it, fibers and threads may await, poll and select it. What is
 * special is where its handlers run: as microtasks of the loop that was named when they were registered, one after another in
 * the order of registration, whoever settles it and whenever. A pending promise does not keep its loop alive.
 *
 * A handler returns a *reply*: a value, an error, another promise whose outcome is to be taken over, or a thenable. The
 * number of microtasks is that of JavaScript in every case. A handler that panics, or calls weft_exit, rejects with
 * -EOWNERDEAD and the message, and is not reported otherwise.
 *
 * When the loop ends, its promises that are pending are rejected with -EPIPE, and so is what follows from them once handlers
 * can no longer run. After that, registering still succeeds, and what is derived is rejected at once.
 *
 * A promise of a loop that is rejected and has no handler when the checkpoint ends is told to on_unhandled of the loop's
 * options, once; somebody who waits for it counts as a handler. A derived promise takes the duty over.
 */
#ifndef WEFT_LOOP_PROMISE_H
#define WEFT_LOOP_PROMISE_H

#include "weft/abort.h"
#include "weft/loop.h"
#include "weft/pool.h"
#include "weft/promise.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The right to settle a promise, once; later calls answer -EALREADY. Good for as long as somebody has a reference to the
 * promise: who keeps one beyond the call that it was given to takes one, weft_promise_ref(resolver.promise). */
typedef struct weft_resolver {
    weft_promise *promise;
    uint32_t ticket;
} weft_resolver;

/* Something that is like a promise: calls one of the functions below, now or later. A panic counts as an error, unless the
 * resolver was used before. */
typedef void (*weft_thenable)(weft_resolver resolver, void *arg);

typedef enum weft_reply_kind {
    WEFT_REPLY_VALUE = 0,
    WEFT_REPLY_ERROR,
    WEFT_REPLY_FOLLOW,
    WEFT_REPLY_THENABLE
} weft_reply_kind;

/* What a handler answers. Made by the functions below; all zero is the value NULL. */
typedef struct weft_reply {
    weft_reply_kind kind;
    int error;
    void *value; /* or promise, or argument of the thenable */
    union {
        const char *text;
        weft_thenable then;
    } how;
} weft_reply;

static inline weft_reply weft_reply_value(void *value) {
    weft_reply reply = {WEFT_REPLY_VALUE, 0, NULL, {NULL}};
    reply.value = value;
    return reply;
}
/* An error that is not negative becomes -EINVAL. text may be null, has to last until the handler has returned, and is copied
 * then, at most 95 bytes. */
static inline weft_reply weft_reply_error(int error, const char *text) {
    weft_reply reply = {WEFT_REPLY_ERROR, 0, NULL, {NULL}};
    reply.error = error;
    reply.how.text = text;
    return reply;
}
/* Gives the caller's reference away. Null is an error, -EINVAL; the derived promise itself is one, -EDEADLK, but for a
 * handler of finally, which leaves it pending for ever, as in JavaScript. */
static inline weft_reply weft_reply_follow(weft_promise *promise) {
    weft_reply reply = {WEFT_REPLY_FOLLOW, 0, NULL, {NULL}};
    reply.value = promise;
    return reply;
}
/* then(resolver, arg) is called by a microtask of its own. */
static inline weft_reply weft_reply_thenable(weft_thenable then, void *arg) {
    weft_reply reply = {WEFT_REPLY_THENABLE, 0, NULL, {NULL}};
    reply.value = arg;
    reply.how.then = then;
    return reply;
}

typedef weft_reply (*weft_on_value)(void *value, void *arg);
typedef weft_reply (*weft_on_error)(const weft_outcome *outcome, void *arg);
typedef weft_reply (*weft_loop_work)(void *arg);

/* Makes a pending promise of the loop with one reference; weft_promise_resolve, weft_promise_reject and the functions below
 * settle it, the first wins. Returns 0, -ENOMEM, -EPIPE, -EINVAL for null. */
WEFT_API int weft_loop_promise(weft_loop *loop, weft_promise **out);

/* With the option traces: where the promise was made, as addresses inside the functions that were called, innermost first,
 * at most WEFT_TRACE_MOST; the report of an unhandled rejection tells it, too. Returns how many there are, of which limit were
 * written; 0 without the option, or without memory at the time; -EINVAL for null or a promise of no loop. */
enum { WEFT_TRACE_MOST = 32 };
WEFT_API int weft_loop_promise_trace(const weft_promise *promise, const void **frames, int limit);

/* promise becomes what other does, as by resolve(other) of JavaScript: two microtasks later at the earliest, on the promise's
 * loop, and by way of that of other if it has another one. No reference is taken over. Returns 0, also when it is
 * rejected at once because the loop is over; -EALREADY; -EDEADLK for itself, having rejected it with that; -EINVAL for null
 * or a promise of no loop. */
WEFT_API int weft_loop_resolve_with(weft_promise *promise, weft_promise *other);
/* The same with a thenable. */
WEFT_API int weft_loop_resolve_thenable(weft_promise *promise, weft_thenable then, void *arg);

/* By whoever has a resolver. Returns 0; -EALREADY when it was used, or the promise is settled; errors as above. */
WEFT_API int weft_resolver_resolve(weft_resolver resolver, void *value);
WEFT_API int weft_resolver_reject(weft_resolver resolver, int error, const char *text);
WEFT_API int weft_resolver_resolve_with(weft_resolver resolver, weft_promise *other);

/* When the promise, of whatever loop or of none, is settled, a microtask of this loop runs on_value or on_error; its reply
 * settles *out, a promise of this loop. A null handler lets the outcome through. out may be null. Returns 0, -ENOMEM, -EINVAL
 * for a null loop or promise. catch: on_error only.
 * finally: fn on both ends; the outcome goes through afterwards, unless its reply is an error, or a promise or a thenable
 * that is rejected. -EINVAL also for a null fn. */
WEFT_API int weft_loop_then(weft_loop *loop, weft_promise *promise, weft_promise **out, weft_on_value on_value,
                            weft_on_error on_error, void *arg);
WEFT_API int weft_loop_catch(weft_loop *loop, weft_promise *promise, weft_promise **out, weft_on_error on_error,
                             void *arg);
WEFT_API int weft_loop_finally(weft_loop *loop, weft_promise *promise, weft_promise **out, weft_loop_work fn,
                               void *arg);
/* Calls fn(arg) at once; its reply, or its panic, settles *out. Returns 0, -ENOMEM, -EPIPE (fn was not called), -EINVAL. */
WEFT_API int weft_loop_try(weft_loop *loop, weft_promise **out, weft_loop_work fn, void *arg);

/* As the functions of weft/promise.h, but each input is noted by a microtask of the loop, and *out is a promise of it: rejected
 * with -EPIPE when such a microtask cannot run any more. A null among the inputs is -EINVAL before anything is attached. */
WEFT_API int weft_loop_all(weft_loop *loop, weft_promise **out, weft_promise *const *inputs, size_t count);
WEFT_API int weft_loop_all_settled(weft_loop *loop, weft_promise **out, weft_promise *const *inputs, size_t count);
WEFT_API int weft_loop_any(weft_loop *loop, weft_promise **out, weft_promise *const *inputs, size_t count);
WEFT_API int weft_loop_race(weft_loop *loop, weft_promise **out, weft_promise *const *inputs, size_t count);

/* Resolved with NULL, or rejected with -ETIMEDOUT, after that many nanoseconds, by a timer that keeps the loop alive; and at
 * once when the loop ends. Returns 0, -ENOMEM, -ENOSPC, -EPIPE, -EINVAL. */
WEFT_API int weft_loop_sleep_promise(weft_loop *loop, weft_promise **out, int64_t nanoseconds);
WEFT_API int weft_loop_timeout_promise(weft_loop *loop, weft_promise **out, int64_t nanoseconds);

typedef enum weft_promisify_where {
    WEFT_ON_FIBER = 0, /* of the caller's runtime, or the oldest one */
    WEFT_ON_POOL,
    WEFT_ON_THREAD /* a fiber that is bound to a thread of its own */
} weft_promisify_where;

/* Zero in a field means the default. */
typedef struct weft_promisify_options {
    weft_promisify_where where;
    weft_pool *pool;               /* for WEFT_ON_POOL: outlives the work */
    const weft_work_options *work; /* for WEFT_ON_POOL, or null; without callback, promise and retry */
    weft_abort_signal *signal;     /* cancels it when it is aborted, with its reason; or null */
} weft_promisify_options;

/* Runs fn(arg) elsewhere; its reply settles *out on the loop, which it keeps alive, and which waits for it when it is shut down
 * but not when it is closed. A panic, weft_exit, the end of its runtime or its pool reject *out. If *out is rejected before fn
 * has begun, by a cancellation or by the loop's end, fn is not called. Inside fn, weft_loop_shutdown of that loop answers
 * -EINPROGRESS. options may be null. Returns 0; -EPIPE; -ENOMEM; -EINVAL for null and wrong options; and errors as
 * weft_spawn_with or weft_pool_submit_with. */
WEFT_API int weft_loop_promisify(weft_loop *loop, weft_promise **out, const weft_promisify_options *options,
                                 weft_loop_work fn, void *arg);
/* Rejects a promise of weft_loop_promisify with that error and text (0: -ECANCELED; may be null). A fiber that runs fn is
 * cancelled as weft/scope.h says, with that reason; one that waits in a pool is skipped when its turn
 * comes, and keeps the loop until then. From anywhere. Returns 0; -EALREADY when it was settled; -EINVAL for a
 * positive error or any other promise. */
WEFT_API int weft_loop_cancel(weft_promise *promise, int error, const char *text);

#ifdef __cplusplus
}
#endif

#endif
