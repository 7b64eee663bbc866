/* SPDX-License-Identifier: MIT
 *
 * weft/time.h - deadlines.
 *
 * Everything that can block takes an absolute point in time as its last argument, in nanoseconds of the monotonic
 * clock. There are no twins with and without a time limit:
 *
 *     weft_join(fiber, &result, WEFT_NEVER);                       // as long as it takes
 *     weft_join(fiber, &result, weft_after(50 * WEFT_MILLISECOND));// at most 50 ms
 *     weft_join(fiber, &result, WEFT_NOW);                         // a test, never blocks
 *
 * A deadline that is computed once bounds a whole sequence of calls. Nothing ever ends before its deadline.
 */
#ifndef WEFT_TIME_H
#define WEFT_TIME_H

#include "weft/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds since an arbitrary fixed point (the monotonic clock). */
typedef int64_t weft_time;

#define WEFT_NOW ((weft_time)0)
#define WEFT_NEVER INT64_MAX

#define WEFT_MICROSECOND INT64_C(1000)
#define WEFT_MILLISECOND INT64_C(1000000)
#define WEFT_SECOND INT64_C(1000000000)

/* The present moment. Costs one read of the clock, about 30 ns. */
WEFT_API weft_time weft_now(void);

/* The moment that lies nanoseconds from now; a sum too large becomes WEFT_NEVER, a negative distance becomes now. */
WEFT_API weft_time weft_after(int64_t nanoseconds);

/* Suspends the calling fiber (or blocks the calling plain thread) until the moment has come. A moment in the past
 * yields once. Returns 0; -ENOMEM without having slept; -ECANCELED when the fiber is cancelled before or meanwhile. The
 * fiber's worker goes on with something else. */
WEFT_API int weft_sleep(weft_time until);

#ifdef __cplusplus
}
#endif

#endif
