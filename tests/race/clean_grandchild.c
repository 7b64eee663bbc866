/* SPDX-License-Identifier: MIT
 *
 * race/clean_grandchild.c - what a grandchild wrote passes up through two joins.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static int shared;

static void *add(void *arg) {
    shared++;
    return arg;
}

static void *spawn_writer(void *arg) {
    weft_fiber child;
    SPAWN(&child, add, arg);
    JOIN(child, NULL);
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber child;
    SPAWN(&child, spawn_writer, NULL);
    JOIN(child, NULL);
    CHECK_EQ(shared, 2);
}

TEST(a_grandchild_hands_over_through_two_joins) {
    run_fibers(body);
}
