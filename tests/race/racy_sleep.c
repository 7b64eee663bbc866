/* SPDX-License-Identifier: MIT
 *
 * race/racy_sleep.c - a sleep is no hand-over, however long.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static int shared;

static void *add(void *arg) {
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber child;
    SPAWN(&child, add, NULL);
    CHECK_EQ(weft_sleep(weft_after(20 * WEFT_MILLISECOND)), 0);
    shared++;
    JOIN(child, NULL);
}

TEST(a_fiber_sleeps_instead_of_joining) {
    run_fibers(body);
}
