/* SPDX-License-Identifier: MIT
 *
 * race/clean_spawn.c - a child reads what its parent wrote before the spawn.
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
    shared = 41;
    SPAWN(&child, add, NULL);
    JOIN(child, NULL);
    CHECK_EQ(shared, 42);
}

TEST(a_spawn_hands_over) {
    run_fibers(body);
}
