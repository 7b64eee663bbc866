/* SPDX-License-Identifier: MIT
 *
 * os/clock.h - the monotonic clock.
 *
 * One place reads it, so that in replay a counter can stand in for it. Deadlines are absolute nanoseconds; INT64_MAX
 * means never.
 *
 * Replay: between begin and end the clock of the whole process is *virtual*: it stands unless somebody reads it, jumps or
 * sleeps. A thread that sleeps in the kernel sleeps in real time, so it turns its deadline into a real one first, and
 * afterwards lets the virtual clock catch up with what has passed:
 *
 *     int64_t lag = wf_os_clock_lag();
 *     ... sleeps until wf_os_clock_to_real(deadline_ns, lag) ...
 *     wf_os_clock_catch_up(lag);
 */
#ifndef WF_OS_CLOCK_H
#define WF_OS_CLOCK_H

#include <stdint.h>

#define WF_NEVER INT64_MAX
#define WF_NO_LAG INT64_MIN /* the clock is real */

int64_t wf_os_now(void);
/* The same to a few milliseconds, never ahead, for a fifth of the price. */
int64_t wf_os_now_coarse(void);

/* Nanoseconds since 1970, as the system believes: not for deadlines. Never virtual. */
int64_t wf_os_wall_now(void);
/* The same in whole seconds, to a few milliseconds, for a fifth of the price. */
int64_t wf_os_wall_second(void);

/* Blocks the calling thread until the moment has come. Only for threads that run no fibers. */
void wf_os_sleep_until(int64_t deadline_ns);

/* The clock becomes virtual and starts at the same moment each time. Returns 0; -EBUSY while it is virtual already;
 * -ENOMEM. The child of a fork has the real clock. */
int wf_os_clock_replay_begin(void);
void wf_os_clock_replay_end(void);
/* A virtual clock goes to that moment, unless it is past it. A real one does not. */
void wf_os_clock_jump(int64_t moment_ns);

/* How far the real clock is ahead of the virtual one, or WF_NO_LAG. */
int64_t wf_os_clock_lag(void);
/* The real moment for a deadline, at least 0. */
int64_t wf_os_clock_to_real(int64_t deadline_ns, int64_t lag);
/* The virtual clock is behind the real one by no more than that. */
void wf_os_clock_catch_up(int64_t lag);

/* now + distance without overflow; a negative distance counts as 0. */
static inline int64_t wf_time_add(int64_t now, int64_t distance) {
    if (distance <= 0)
        return now;
    return distance >= WF_NEVER - now ? WF_NEVER : now + distance;
}

#endif
