/* SPDX-License-Identifier: MIT
 *
 * race/racy_parent_before_join.c - the parent writes what its child writes, before it joins it.
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
    shared++;
    JOIN(child, NULL);
}

TEST(the_parent_writes_before_it_joins) {
    run_fibers(body);
}
