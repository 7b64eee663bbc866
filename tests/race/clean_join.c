/* SPDX-License-Identifier: MIT
 *
 * race/clean_join.c - the parent reads what its child wrote, after joining it.
 *
 * The race detector has to stay silent: the library orders the two accesses.
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
    JOIN(child, NULL);
    shared++;
    CHECK_EQ(shared, 2);
}

TEST(a_join_hands_over) {
    run_fibers(body);
}
