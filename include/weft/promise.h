/* SPDX-License-Identifier: MIT
 *
 * weft/promise.h - promises: values that come later, once, from anywhere.
 *
 *     weft_promise *page, *length;
 *     weft_async(&page, fetch, url);                                // a fiber's result is a promise
 *     weft_promise_then(page, &length, measure, NULL, NULL);        // measure runs in a fiber of its own
 *     weft_outcome outcome;
 *     if (weft_promise_await(length, &outcome, weft_after(WEFT_SECOND)) == 0 && outcome.state == WEFT_PROMISE_RESOLVED)
 *         printf("%td bytes\n", (intptr_t)outcome.value);
 *     weft_promise_unref(length);
 *     weft_promise_unref(page);
 *
 * A promise is pending until it is resolved with a value or rejected with an error, and never changes again. Any thread may
 * settle it, fibers and plain threads may wait for it, and it stands in weft_select. What was written before it was settled
 * is visible to whoever sees it settled.
 *
 * Promises are counted: who makes one holds a reference, weft_promise_ref adds one, weft_promise_unref gives one back. Every
 * call needs a reference that lasts as long as the call. A promise does not own its value, but for the arrays of the
 * combinators. A promise whose last reference goes while it is pending can never be settled: what was derived from it is
 * rejected with -EPIPE. Promises that adopt each other in a circle stay pending and are never freed.
 *
 * Continuations run as fibers: of the runtime of the fiber that registered them or, when a plain thread did, of whoever
 * settles the promise or else the oldest one. A runtime does not wait for continuations whose promise is pending. When the
 * fiber cannot be had (-ENOMEM, -EAGAIN, -ESRCH: no such runtime any more, -ECANCELED: it is ending) the derived promise is
 * rejected with that error; when it panics, with -EOWNERDEAD. The fiber belongs to the promise and must not be joined.
 *
 * A rejection that nobody looked at is reported when the promise goes: see weft_promise_on_unhandled.
 */
#ifndef WEFT_PROMISE_H
#define WEFT_PROMISE_H

#include "weft/fiber.h"
#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_promise weft_promise;

typedef enum weft_promise_state {
    WEFT_PROMISE_PENDING = 0,
    WEFT_PROMISE_RESOLVED,
    WEFT_PROMISE_REJECTED
} weft_promise_state;

enum { WEFT_OUTCOME_TEXT = 96 };

/* What became of a promise. */
typedef struct weft_outcome {
    weft_promise_state state;
    int error;                    /* when rejected: a negative errno value; else 0 */
    void *value;                  /* when resolved; also the errors of weft_promise_any */
    char text[WEFT_OUTCOME_TEXT]; /* when rejected: what the rejecter said, cut; else empty */
} weft_outcome;

/* Makes a pending promise with one reference. Returns 0, -ENOMEM, -EINVAL for a null out. */
WEFT_API int weft_promise_new(weft_promise **out);

/* One more reference; returns its argument. */
WEFT_API weft_promise *weft_promise_ref(weft_promise *promise);
/* One reference less. Null is allowed. Fatal when the last one goes while somebody waits for the promise. */
WEFT_API void weft_promise_unref(weft_promise *promise);

/* Settles the promise and wakes everybody; needs no memory and never blocks. From any thread. Returns 0; -EALREADY when it
 * was settled or adopts another, or is a derived one; -EINVAL for a null promise or an error that is not negative. text may
 * be null. */
WEFT_API int weft_promise_resolve(weft_promise *promise, void *value);
WEFT_API int weft_promise_reject(weft_promise *promise, int error, const char *text);

/* The promise settles as other does, now or later. Returns 0, -EALREADY as above, -EDEADLK for the promise itself, -ENOMEM,
 * -EINVAL. Keeps no reference to other. */
WEFT_API int weft_promise_adopt(weft_promise *promise, weft_promise *other);

/* Waits until the promise is settled and says how in *out, which may be null. Returns 0, whichever way it was settled;
 * -ETIMEDOUT, -ECANCELED, -ENOMEM (no room for the deadline), -EINVAL for a null promise. */
WEFT_API int weft_promise_await(weft_promise *promise, weft_outcome *out, weft_time deadline);
/* The same without waiting: -EAGAIN while it is pending. */
WEFT_API int weft_promise_poll(weft_promise *promise, weft_outcome *out);
/* The promise is settled: its outcome into *out, which may be null. A case of a null promise never comes. */
WEFT_API weft_case weft_on_promise(weft_promise *promise, weft_outcome *out);

/* When the promise is settled, on_value or on_error runs in a new fiber; what it returns resolves the derived promise
 * *out. A handler that is null lets the outcome through. out may be null: then only a rejection that comes out is seen, by
 * the report. Returns 0; -ENOMEM; -EINVAL for a null promise. */
WEFT_API int weft_promise_then(weft_promise *promise, weft_promise **out, void *(*on_value)(void *value, void *arg),
                               void *(*on_error)(const weft_outcome *outcome, void *arg), void *arg);
/* The same with handlers that return a promise, and with it their reference: the derived promise adopts it. Null counts as
 * resolved with null; the derived promise itself is refused with -EDEADLK. */
WEFT_API int weft_promise_chain(weft_promise *promise, weft_promise **out,
                                weft_promise *(*on_value)(void *value, void *arg),
                                weft_promise *(*on_error)(const weft_outcome *outcome, void *arg), void *arg);
/* The same with one function for both ends, after which the outcome goes through unless the function panicked. -EINVAL also
 * for a null function. */
WEFT_API int weft_promise_finally(weft_promise *promise, weft_promise **out, void (*fn)(void *arg), void *arg);

/* Starts a fiber whose result resolves the promise *out; a panic rejects it with -EOWNERDEAD, a fiber that finds no stack
 * with -ENOMEM, the end of a runtime that abandons its fibers with -ECANCELED, a fiber that detached itself at once with
 * -ESTALE. Errors as weft_go, and -EINVAL for a null out. */
WEFT_API int weft_async(weft_promise **out, weft_fn fn, void *arg);

/* One promise out of many, by the rules of JavaScript. One promise may stand in inputs several times; no references to them
 * are kept. Arrays have count elements in the order of inputs. They belong to the derived promise, and to those
 * that got the same value from it by then, finally or adopt, and go with the last of these.
 *   all          resolved with an array of their values (void **) once all are resolved; rejected as the first that is
 *   all_settled  resolved with an array of weft_outcome once all are settled
 *   any          resolved as the first that is; rejected with -ENOENT, and as value an array of weft_outcome, once all are
 *   race         settled as the first that is; of none: for ever pending
 * Of none, all and all_settled are resolved at once and any is rejected. Returns 0; -ENOMEM; -EINVAL for a null out, null
 * inputs or a null among them.
 * The array that a combinator resolves with lives as long as its promise and those that pass it on; where it is itself the
 * value of an input of another one, keep a reference to that input. */
WEFT_API int weft_promise_all(weft_promise **out, weft_promise *const *inputs, size_t count);
WEFT_API int weft_promise_all_settled(weft_promise **out, weft_promise *const *inputs, size_t count);
WEFT_API int weft_promise_any(weft_promise **out, weft_promise *const *inputs, size_t count);
WEFT_API int weft_promise_race(weft_promise **out, weft_promise *const *inputs, size_t count);

/* Called for a rejected promise whose last reference goes without that anybody has awaited or polled it since, selected it,
 * or derived another from it; instead of a line on standard error, which a null hook brings back. It runs on whichever
 * thread gave the reference back, perhaps at the end of a fiber: it must not block, panic or exit. */
WEFT_API void weft_promise_on_unhandled(void (*hook)(const weft_outcome *outcome, void *arg), void *arg);

#ifdef __cplusplus
}
#endif

#endif
