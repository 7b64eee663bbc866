/* SPDX-License-Identifier: MIT
 *
 * os/clock.c - the monotonic clock through the vDSO, about 30 ns a read; in replay, a counter.
 *
 * CLOCK_MONOTONIC and not the coarse one: a deadline must never end early, and a tick of 4 ms would round it. It does
 * not count the time that the machine was suspended, which is what people expect of a time-out. The engine reads it once
 * per visit of its loop, not once per switch.
 *
 * The counter is state of the process and not of a runtime, because there is one clock for all who ask, plain threads
 * among them. It only ever goes up: by READING_NS with each reading, so that a loop which waits by looking at the clock
 * ends; to the next timer when nothing else can happen; and by what really passed when somebody really slept.
 */
#include "os/clock.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#include "base/assert.h"
#include "base/atomic.h"
#include "os/fault.h"

/* 1,000 s: so far from 0 that no program which subtracts a little from now finds a negative moment. 100 ns: about what a
 * real reading and the work around it take, so that a loop which polls the clock runs about as often. */
#define FIRST_MOMENT_NS INT64_C(1000000000000)
enum { READING_NS = 100 };

enum { CLOCK_REAL, CLOCK_CLAIMED, CLOCK_VIRTUAL };

static _Atomic uint32_t clock_mode;      /* CLOCK_CLAIMED: one thread is about to make it virtual; real until then */
static _Atomic int64_t clock_counter_ns; /* means something while virtual */
static bool clock_is_prepared;           /* belongs to whoever has claimed the clock */

static bool clock_is_virtual(void) {
    return wf_load_relaxed(&clock_mode) == CLOCK_VIRTUAL;
}

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t wf_os_now(void) {
    if (WF_UNLIKELY(clock_is_virtual()))
        return wf_fetch_add_relaxed(&clock_counter_ns, READING_NS) + READING_NS;
    return read_clock(CLOCK_MONOTONIC);
}

int64_t wf_os_now_coarse(void) {
    if (WF_UNLIKELY(clock_is_virtual()))
        return wf_load_relaxed(&clock_counter_ns);
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

int64_t wf_os_wall_now(void) {
    return read_clock(CLOCK_REALTIME);
}

int64_t wf_os_wall_second(void) {
    return read_clock(CLOCK_REALTIME_COARSE) / 1000000000;
}

void wf_os_sleep_until(int64_t deadline_ns) {
    int64_t lag = wf_os_clock_lag();
    int64_t real_ns = wf_os_clock_to_real(deadline_ns, lag);
    struct timespec until = {.tv_sec = real_ns / 1000000000, .tv_nsec = real_ns % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
    wf_os_clock_catch_up(lag);
}

int wf_os_clock_replay_begin(void) {
    uint32_t was = CLOCK_REAL;
    if (!wf_cas_acq_rel(&clock_mode, &was, CLOCK_CLAIMED)) /* pairs with the release of wf_os_clock_replay_end */
        return -EBUSY;
    if (!clock_is_prepared) {
        int error = wf_fault(WF_CALL_ATFORK);
        if (!error)
            error = -pthread_atfork(NULL, NULL, wf_os_clock_replay_end);
        if (error) {
            wf_os_clock_replay_end();
            return error;
        }
        clock_is_prepared = true;
    }
    wf_store_relaxed(&clock_counter_ns, FIRST_MOMENT_NS);
    wf_store_relaxed(&clock_mode, CLOCK_VIRTUAL); /* a plain thread that reads it meanwhile has no order to rely on */
    return 0;
}

void wf_os_clock_replay_end(void) {
    wf_store_release(&clock_mode, CLOCK_REAL); /* pairs with the next wf_os_clock_replay_begin */
}

void wf_os_clock_jump(int64_t moment_ns) {
    int64_t now = wf_load_relaxed(&clock_counter_ns);
    while (clock_is_virtual() && now < moment_ns && !wf_cas_relaxed(&clock_counter_ns, &now, moment_ns))
        continue;
}

int64_t wf_os_clock_lag(void) {
    return clock_is_virtual() ? read_clock(CLOCK_MONOTONIC) - wf_load_relaxed(&clock_counter_ns) : WF_NO_LAG;
}

int64_t wf_os_clock_to_real(int64_t deadline_ns, int64_t lag) {
    if (deadline_ns < 0) /* the kernel refuses moments before its clock began */
        deadline_ns = 0;
    if (lag == WF_NO_LAG || deadline_ns == WF_NEVER)
        return deadline_ns;
    if (lag > 0)
        return wf_time_add(deadline_ns, lag);
    return deadline_ns + lag > 0 ? deadline_ns + lag : 0;
}

void wf_os_clock_catch_up(int64_t lag) {
    if (WF_UNLIKELY(lag != WF_NO_LAG))
        wf_os_clock_jump(read_clock(CLOCK_MONOTONIC) - lag);
}
