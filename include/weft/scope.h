/* SPDX-License-Identifier: MIT
 *
 * weft/scope.h - structured concurrency: fibers that cannot outlive the block that started them.
 *
 *     static int fetch_all(weft_scope *scope, void *arg) {
 *         weft_scope_go(scope, fetch_users, arg);         // int fetch_users(void *arg)
 *         weft_scope_go(scope, fetch_orders, arg);
 *         return 0;
 *     }
 *
 *     weft_scope_options options = {.deadline = weft_after(2 * WEFT_SECOND)};
 *     int error = weft_scope_run(&options, fetch_all, &request);   // returns when both have ended
 *
 * A child returns 0 or more for success and a negative error for failure. The first failure is the scope's, and cancels the
 * other children unless the options say otherwise; so does the deadline (-ETIMEDOUT), weft_scope_cancel, and a panic of a
 * child (-EOWNERDEAD). Scopes form a tree: one that is opened inside another is cancelled with it and cannot outlast its
 * deadline.
 *
 * Cancellation is a request that nobody can miss: the call in which a cancelled fiber waits, and every call with a deadline
 * other than WEFT_NOW that it makes afterwards, returns -ECANCELED, whether it would have to wait or not; calls with WEFT_NOW,
 * which never wait, work as always. The fiber is expected to
 * clean up and return. What must wait even so goes between weft_shield and weft_unshield.
 */
#ifndef WEFT_SCOPE_H
#define WEFT_SCOPE_H

#include "weft/fiber.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_scope weft_scope;

/* Zero in a field means the default. */
typedef struct weft_scope_options {
    weft_time deadline;    /* when everything inside is cancelled; 0: no deadline of its own */
    bool keep_going;       /* a child that fails does not cancel the others; the first failure is still kept */
    bool keep_results;     /* keep what every child returned, for weft_scope_result */
    unsigned max_children; /* at the same time: weft_scope_go waits for its turn; 0: any number */
} weft_scope_options;

/* Calls body(scope, arg) in the calling fiber, waits for every child, and returns the scope's error: that of the first child
 * that failed, a negative value that body returned, the reason of its cancellation; or what body returned. A panic of body
 * cancels the children, waits for them and goes on. -EPERM on a plain thread; -ENOMEM; -ECANCELED when the caller is
 * cancelled already; -EINVAL for a null body. options may be null. */
WEFT_API int weft_scope_run(const weft_scope_options *options, int (*body)(weft_scope *scope, void *arg), void *arg);

/* The same in two calls, for the same fiber. Errors of open as above. A scope that is open when its fiber ends is cancelled
 * and closed then. Scopes of one fiber close in reverse order; anything else is fatal. */
WEFT_API int weft_scope_open(weft_scope **out, const weft_scope_options *options);
WEFT_API int weft_scope_close(weft_scope *scope);

/* Starts fn(arg) as a child. From any fiber inside the scope. Returns 0; -ECANCELED when the scope is cancelled: nothing was
 * started; -ENOMEM, -EAGAIN as weft_go; -EINVAL for a null scope or function; -EPERM on a plain thread. */
WEFT_API int weft_scope_go(weft_scope *scope, int (*fn)(void *arg), void *arg);

/* Waits until no child is left, without closing. Only the fiber that opened the scope. Returns 0; -ETIMEDOUT; -ECANCELED;
 * -ENOMEM; -EINVAL for a null scope; -EPERM for anybody else. */
WEFT_API int weft_scope_wait(weft_scope *scope, weft_time deadline);

/* What the child that was started as number index, from 0, returned; a start that failed keeps its number and its error. Returns 0; -EAGAIN while it runs; -ENOENT when there is
 * no such child or results are not kept; -EINVAL for a null pointer. */
WEFT_API int weft_scope_result(weft_scope *scope, size_t index, int *result);

/* Cancels everything inside, the opener too, with a reason: a negative error (0 becomes -ECANCELED) and a text of at most 95
 * bytes, which may be null. From anybody who knows that the scope is open. The first reason stays. Returns 0; -EALREADY when
 * it was cancelled before; -EINVAL for a null scope or a positive reason. */
WEFT_API int weft_scope_cancel(weft_scope *scope, int reason, const char *text);

/* Why the calling fiber is cancelled: 0 when it is not, else the negative reason, also inside a shield; the text goes to
 * buffer, which may be null. */
WEFT_API int weft_cancel_reason(char *buffer, size_t size);

/* The moment at which the calling fiber is cancelled at the latest; WEFT_NEVER when no scope has a deadline. */
WEFT_API weft_time weft_deadline(void);

/* In between the calling fiber waits as if it were not cancelled; pairs nest. A scope that is opened in between is not part of
 * the tree outside, and is to be closed before the unshield. Unshield without shield is fatal. Nothing on a
 * plain thread. */
WEFT_API void weft_shield(void);
WEFT_API void weft_unshield(void);

/* Something to run, and what came of it. */
typedef struct weft_branch {
    int (*fn)(void *arg);
    void *arg;
    int status; /* what fn returned; -ECANCELED when it was never started */
} weft_branch;

/* Run all branches at the same time, as children of a scope of their own; return when all have ended. Errors as
 * weft_scope_run, and -EINVAL for a null branch, a null function or a count below 1 (0 is allowed for weft_all).
 *   all   0, or the first failure, which cancels the others
 *   race  the index of the branch that ended first, well or badly, but not by a panic and not because it was cancelled; the
 *         others are cancelled
 *   any   the index of the first branch that did well; the others are cancelled. When all fail: the failure of the first
 *         one in the array
 * -ETIMEDOUT at the deadline. */
WEFT_API int weft_all(weft_branch *branches, int count, weft_time deadline);
WEFT_API int weft_race(weft_branch *branches, int count, weft_time deadline);
WEFT_API int weft_any(weft_branch *branches, int count, weft_time deadline);

/* Calls fn(item, arg) for each of count items of that size, at most parallel at the same time (0: as many as there are
 * workers). The first failure cancels what runs and starts nothing more. Returns 0 or that failure; errors as above. */
WEFT_API int weft_map(int (*fn)(void *item, void *arg), void *items, size_t size, size_t count, void *arg,
                      unsigned parallel, weft_time deadline);

#ifdef __cplusplus
}
#endif

#endif
