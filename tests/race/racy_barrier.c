/* SPDX-License-Identifier: MIT
 *
 * race/racy_barrier.c - what parties do after the meeting is not ordered by it.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_barrier barrier = WEFT_BARRIER_INIT(2);
static int shared;

static void *meet_then_add(void *arg) {
    CHECK_GE(weft_barrier_wait(&barrier, WEFT_NEVER), 0);
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    SPAWN(&fibers[0], meet_then_add, NULL);
    SPAWN(&fibers[1], meet_then_add, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
}

TEST(what_comes_after_a_meeting_is_not_ordered) {
    run_fibers(body);
}
