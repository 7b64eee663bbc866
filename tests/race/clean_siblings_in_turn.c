/* SPDX-License-Identifier: MIT
 *
 * race/clean_siblings_in_turn.c - siblings write one after another, each joined before the next is spawned.
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
    for (int i = 0; i < 100; i++) {
        weft_fiber child;
        SPAWN(&child, add, NULL);
        JOIN(child, NULL);
    }
    CHECK_EQ(shared, 100);
}

TEST(siblings_in_turn) {
    run_fibers(body);
}
