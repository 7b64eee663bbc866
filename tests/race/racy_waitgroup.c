/* SPDX-License-Identifier: MIT
 *
 * race/racy_waitgroup.c - what comes after done is not waited for.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_waitgroup group = WEFT_WAITGROUP_INIT;
static int shared;

static void *done_then_add(void *arg) {
    weft_waitgroup_done(&group);
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber fiber;
    weft_waitgroup_add(&group, 1);
    SPAWN(&fiber, done_then_add, NULL);
    CHECK_EQ(weft_waitgroup_wait(&group, WEFT_NEVER), 0);
    shared++;
    JOIN(fiber, NULL);
}

TEST(what_comes_after_done_is_not_ordered) {
    run_fibers(body);
}
