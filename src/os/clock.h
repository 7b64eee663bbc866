/* SPDX-License-Identifier: MIT
 *
 * os/clock.h - the monotonic clock.
 *
 * One function reads it, so that a later virtual clock has one place to stand in. Deadlines are absolute nanoseconds;
 * INT64_MAX means never.
 */
#ifndef WF_OS_CLOCK_H
#define WF_OS_CLOCK_H

#include <stdint.h>

#define WF_NEVER INT64_MAX

int64_t wf_os_now(void);
/* The same to a few milliseconds, never ahead, for a fifth of the price. */
int64_t wf_os_now_coarse(void);

/* Blocks the calling thread until the moment has come. Only for threads that run no fibers. */
void wf_os_sleep_until(int64_t deadline_ns);

/* now + distance without overflow; a negative distance counts as 0. */
static inline int64_t wf_time_add(int64_t now, int64_t distance) {
    if (distance <= 0)
        return now;
    return distance >= WF_NEVER - now ? WF_NEVER : now + distance;
}

#endif
