/* SPDX-License-Identifier: MIT
 *
 * weft/timer.h - timers: something that happens at a moment, once or again and again.
 *
 *     weft_timer ticks;
 *     weft_timer_start(&ticks, weft_after(WEFT_SECOND), WEFT_SECOND, NULL, NULL);
 *     uint64_t count;
 *     while (weft_timer_wait(ticks, &count, WEFT_NEVER) == 0)      // count > 1: we were late
 *         draw_clock();
 *     weft_timer_stop(ticks);
 *
 *     weft_timer_start(NULL, weft_after(WEFT_SECOND), 0, say_hello, name);   // once, and forgotten
 *
 * A timer with a function starts a fiber for it at each expiration, in the runtime where the timer was started; at most one
 * at a time: expirations that come while it runs, or that are late, are not made up for but counted as missed. So is one for
 * which no fiber can be had. A timer without a function counts its expirations for whoever waits, and stands in weft_select.
 *
 * Timers fire in the order of their moments and, for one moment, of their starts; with several workers their functions run
 * at the same time. Nothing fires early, and a periodic timer does not drift: it expires at first, first + period, and so on.
 *
 * A timer is named by a value that can go stale safely: after weft_timer_stop every call answers -ESTALE, also when its
 * record serves another timer by then. Timers do not keep a runtime from ending; those that are left go with it. So once the
 * first fiber has ended, a periodic timer whose worker is never idle may miss expirations.
 */
#ifndef WEFT_TIMER_H
#define WEFT_TIMER_H

#include "weft/fiber.h"
#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Names a timer. bits is 0 for no timer. */
typedef struct weft_timer {
    uint64_t bits;
} weft_timer;

/* Starts a timer that expires at first (a moment that is past counts as now) and then every period nanoseconds, or only
 * once for a period of 0. It has to be stopped, also when it has expired. With a null out it needs a function, happens once
 * and cannot be stopped. From a plain thread: in the oldest runtime. Returns 0; -ENOMEM; -EAGAIN when the runtime has as
 * many timers as it can name; -ESRCH on a plain thread when no runtime runs; -ECANCELED when the runtime is ending without
 * its fibers; -EINVAL for a negative period, and for a null out without a function or with a period. */
WEFT_API int weft_timer_start(weft_timer *out, weft_time first, int64_t period, weft_fn fn, void *arg);

/* Sets other times. What has expired and was not waited for, or not run yet, is forgotten. Returns 0; -ESTALE; -EINVAL for a
 * negative period; -ENOMEM, only for a timer that had expired for good, which stays so. */
WEFT_API int weft_timer_reset(weft_timer timer, weft_time first, int64_t period);

/* Ends the timer and frees its name. Returns 1 when something was still to come, which does not come any more: its function
 * is not called again. Returns 0 when it had expired for good; -ESTALE. Does not wait for a function that runs, and may be
 * called by it. Whoever waits for the timer gets -ESTALE. */
WEFT_API int weft_timer_stop(weft_timer timer);

/* Waits until the timer has expired at least once since the last wait, and says in *count, which may be null, how often.
 * Each expiration is told to one waiter only. Returns 0; -ETIMEDOUT, -ENOMEM and -ECANCELED as weft_join; -EINVAL for a timer
 * with a function; -ESTALE; -EPERM for a fiber of a runtime that abandons its fibers, about a timer of another one. */
WEFT_API int weft_timer_wait(weft_timer timer, uint64_t *count, weft_time deadline);
/* The same as a case of weft_select. */
WEFT_API weft_case weft_on_timer(weft_timer timer, uint64_t *count);

/* How many expirations of a timer with a function did not run it. Returns 0, -ESTALE, -EINVAL for a null count. */
WEFT_API int weft_timer_missed(weft_timer timer, uint64_t *count);

#ifdef __cplusplus
}
#endif

#endif
