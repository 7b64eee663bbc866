/* SPDX-License-Identifier: MIT
 *
 * race/clean_timed_join.c - a join with a deadline that succeeds hands over.
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
    CHECK_EQ(weft_join(child, NULL, weft_after(60 * WEFT_SECOND)), 0);
    shared++;
    CHECK_EQ(shared, 2);
}

TEST(a_join_with_a_deadline_hands_over) {
    run_fibers(body);
}
