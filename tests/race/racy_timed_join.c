/* SPDX-License-Identifier: MIT
 *
 * race/racy_timed_join.c - a join that timed out orders nothing.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static int shared;

static void *add(void *arg) {
    shared++;
    return arg;
}

static void *add_then_sleep(void *arg) {
    shared++;
    weft_sleep(weft_after(50 * WEFT_MILLISECOND));
    return arg;
}

static void body(void) {
    weft_fiber child, other;
    SPAWN(&child, add_then_sleep, NULL);
    CHECK_EQ(weft_join(child, NULL, weft_after(10 * WEFT_MILLISECOND)), -ETIMEDOUT);
    shared++;
    JOIN(child, NULL);
    SPAWN(&other, add, NULL);
    JOIN(other, NULL);
}

TEST(a_join_that_timed_out_orders_nothing) {
    run_fibers(body);
}
