/* SPDX-License-Identifier: MIT
 *
 * weft/abort.h - signals that something is not wanted any more: AbortController and AbortSignal.
 *
 *     weft_abort_signal *stop, *late, *either;
 *     weft_abort_new(&stop);                                        // weft_abort_fire(stop, NULL) when the user gives up
 *     weft_abort_timeout(loop, &late, 5 * WEFT_SECOND);
 *     weft_abort_signal *both[] = {stop, late};
 *     weft_abort_any(&either, both, 2);
 *     weft_abort_on(either, NULL, cancel_request, request);         // void cancel_request(weft_abort_signal *, void *arg)
 *
 * A signal is pending until it is *aborted*, once, with a reason that never changes. Whoever made it is its controller;
 * those whom it is given to look at it, register handlers, wait for it, or derive others from it. From fibers and plain
 * threads, any of them; not from signal handlers of the system.
 *
 * Order, as in the DOM: first the signal and all that were derived from it have their reason, then those who wait are woken,
 * then the handlers of the signal run, then those of the derived ones in the order in which they were made. Handlers run on
 * the thread, or the fiber, that aborts, each once and in the order of their registration; one that is registered
 * meanwhile joins the end. One that panics does not keep the others from running; the first panic goes on when all have.
 *
 * Signals are counted: the functions that make one give one reference, and every call needs one that lasts as long as the
 * call. A signal without references is gone, and so are its handlers; but a timeout that has handlers is kept by its timer.
 */
#ifndef WEFT_ABORT_H
#define WEFT_ABORT_H

#include "weft/loop.h"
#include "weft/scope.h"
#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_abort_signal weft_abort_signal;
typedef void (*weft_abort_fn)(weft_abort_signal *signal, void *arg);

enum { WEFT_ABORT_TEXT = 96 };

/* Why. Signals that were derived from others have the reason of the first that was aborted. */
typedef struct weft_abort_reason {
    int error;                  /* negative: -ECANCELED, or for a timeout -ETIMEDOUT */
    char text[WEFT_ABORT_TEXT]; /* "aborted", or for a timeout "timed out" */
    void *value;                /* the caller's, or NULL */
    void (*drop)(void *value);  /* NULL, or called once when nobody can get at the value any more; must not block */
} weft_abort_reason;

/* A handler that is registered. All bits zero: none. */
typedef struct weft_abort_handler {
    uint64_t bits;
} weft_abort_handler;

/* Makes a pending signal. Returns 0, -ENOMEM, -EINVAL for a null out. */
WEFT_API int weft_abort_new(weft_abort_signal **out);
WEFT_API weft_abort_signal *weft_abort_ref(weft_abort_signal *signal);
/* Null is allowed. Fatal when it is the last one and somebody waits for the signal. */
WEFT_API void weft_abort_unref(weft_abort_signal *signal);

/* Aborts the signal, also one of weft_abort_timeout. A null reason, an error of 0 and an empty text stand for the defaults.
 * Returns 0 after all handlers have run; -EALREADY when it was aborted before: then nothing has changed and the value is
 * still the caller's; -EPERM for one of weft_abort_any; -EINVAL for a null signal, a positive error, a drop without value. A
 * panic of a handler is raised again at the end, which on a plain thread outside weft_try is fatal. */
WEFT_API int weft_abort_fire(weft_abort_signal *signal, const weft_abort_reason *reason);

/* Whether it is aborted. A null signal never is. */
WEFT_API bool weft_abort_is_aborted(const weft_abort_signal *signal);
/* 0 while it is pending, then the error of its reason: to be returned by whoever was told to stop. Null: 0. */
WEFT_API int weft_abort_check(const weft_abort_signal *signal);
/* Returns 0, -EAGAIN while it is pending, -EINVAL for null. */
WEFT_API int weft_abort_get_reason(const weft_abort_signal *signal, weft_abort_reason *out);

/* Has fn(signal, arg) called when the signal is aborted; at once, here, when all of its handlers have run. *out, which may be
 * null, is for weft_abort_off, and none if it ran at once. Returns 0, -ENOMEM, -EINVAL for a null signal or function. */
WEFT_API int weft_abort_on(weft_abort_signal *signal, weft_abort_handler *out, weft_abort_fn fn, void *arg);
/* 0: it does not start any more. -ESTALE: it has started, was taken back, or never was. -EINVAL for a null signal. */
WEFT_API int weft_abort_off(weft_abort_signal *signal, weft_abort_handler handler);

/* Makes a signal that is aborted as the first of the inputs is; at once if one of them is, the first in the list. It follows
 * the signals that the inputs themselves follow, so it does not matter whether they stay. An input may stand there twice.
 * Once it is aborted it follows nobody. Of no inputs: stays pending. Returns 0, -ENOMEM, -EINVAL for null. */
WEFT_API int weft_abort_any(weft_abort_signal **out, weft_abort_signal *const *inputs, size_t count);

/* Makes a signal that is aborted by a timer of the loop, on its owner, after delay nanoseconds; a negative delay counts as 0.
 * The timer does not keep the loop alive; a loop that ends lets go of it, and then the signal stays pending unless it is
 * aborted by hand. Returns 0, -EINVAL for null, and the errors of weft_set_timeout. */
WEFT_API int weft_abort_timeout(weft_loop *loop, weft_abort_signal **out, int64_t delay);

/* Waits until it is aborted; the reason goes to *out, which may be null. Returns 0; -ETIMEDOUT at the deadline; -ECANCELED when
 * the fiber is cancelled; -ENOMEM; -EINVAL for null. */
WEFT_API int weft_abort_wait(weft_abort_signal *signal, weft_abort_reason *out, weft_time deadline);
/* As a case of weft_select: comes when the signal is aborted, with the status 0. That of a null signal never comes. */
WEFT_API weft_case weft_on_abort(weft_abort_signal *signal, weft_abort_reason *out);

/* weft_scope_run whose scope is cancelled, with the error and the text of the reason, when the signal is aborted while body or
 * one of its children runs. When it is aborted already nothing is called and the error of its reason is returned. A null
 * signal adds nothing. Errors as weft_scope_run. */
WEFT_API int weft_abort_scope(weft_abort_signal *signal, const weft_scope_options *options,
                              int (*body)(weft_scope *scope, void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif
