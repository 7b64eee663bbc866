/* SPDX-License-Identifier: MIT
 *
 * race/racy_yield.c - a yield is no hand-over: two fibers take turns by luck.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static int shared;

static void *add_and_yield(void *arg) {
    for (int i = 0; i < 10; i++) {
        shared++;
        weft_yield();
    }
    return arg;
}

static void body(void) {
    weft_fiber one, two;
    SPAWN(&one, add_and_yield, NULL);
    SPAWN(&two, add_and_yield, NULL);
    JOIN(one, NULL);
    JOIN(two, NULL);
}

TEST(two_fibers_take_turns_by_yields) {
    run_fibers_with(&(weft_options){.workers = 1}, body);
}
