/* SPDX-License-Identifier: MIT
 *
 * support/door.h - calls that block until a test lets them go, and what became of the threads.
 *
 *     door_shut();
 *     ... fibers call door_wait(): a read from an empty pipe, of which weft knows nothing ...
 *     door_lift();        // all of them go on
 *     ... join them ...
 *     door_drop();
 *
 * One door at a time. Public headers only, so that tests/spec may use it as well.
 */
#ifndef WF_SUPPORT_DOOR_H
#define WF_SUPPORT_DOOR_H

#include <fcntl.h>
#include <unistd.h>

#include "support/run.h"

static int door[2];

static inline void door_shut(void) {
    CHECK_EQ(pipe2(door, O_CLOEXEC), 0);
}

static inline void door_wait(void) {
    char byte;
    ssize_t got;
    while ((got = read(door[0], &byte, 1)) < 0)
        CHECK_EQ(errno, EINTR);
    CHECK_EQ(got, 0);
}

static inline void door_lift(void) {
    close(door[1]);
}

/* When nobody waits any more. */
static inline void door_drop(void) {
    close(door[0]);
}

/* Waits without a scheduling point: to the runtime this is a fiber that computes. */
#define COMPUTE_UNTIL(condition) \
    do { \
        weft_time compute_limit = weft_after(PATIENCE_NS); \
        while (!(condition)) { \
            CHECK_LE(weft_now(), compute_limit); \
            sched_yield(); \
        } \
    } while (0)

static inline weft_thread_stats thread_stats(void) {
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    return stats;
}

/* Inside a region, by the only fiber that is in one: its processor is somebody else's from here on. */
static inline void wait_until_taken(uint64_t takeovers_before) {
    WAIT_UNTIL(thread_stats().takeovers > takeovers_before);
}

/* With a short keep_alive. The thread that called weft_run cannot go, and may be the one without anything to do. */
static inline void wait_until_threads_are_gone(void) {
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    WAIT_UNTIL(thread_stats().hogs_now == 0);
    WAIT_UNTIL(thread_stats().spare <= 1);
    WAIT_UNTIL(thread_stats().threads - thread_stats().spare <= stats.workers + 1);
}

#endif
