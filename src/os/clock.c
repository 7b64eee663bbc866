/* SPDX-License-Identifier: MIT
 *
 * os/clock.c - the monotonic clock through the vDSO, about 30 ns a read.
 *
 * CLOCK_MONOTONIC and not the coarse one: a deadline must never end early, and a tick of 4 ms would round it. It does
 * not count the time that the machine was suspended, which is what people expect of a time-out. The engine reads it once
 * per visit of its loop, not once per switch.
 */
#include "os/clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t wf_os_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t wf_os_now_coarse(void) {
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

void wf_os_sleep_until(int64_t deadline_ns) {
    struct timespec until = {.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}
