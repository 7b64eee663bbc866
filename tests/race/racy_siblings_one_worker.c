/* SPDX-License-Identifier: MIT
 *
 * race/racy_siblings_one_worker.c - two siblings write the same variable, on one worker.
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
    weft_fiber one, two;
    SPAWN(&one, add, NULL);
    SPAWN(&two, add, NULL);
    JOIN(one, NULL);
    JOIN(two, NULL);
}

TEST(two_siblings_write_on_one_worker) {
    run_fibers_with(&(weft_options){.workers = 1}, body);
}
