/* SPDX-License-Identifier: MIT
 *
 * race/clean_run_returns.c - what fibers wrote is visible when weft_run has returned, also that of detached ones.
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
    CHECK_EQ(weft_go(add, NULL), 0);
}

TEST(a_runtime_that_ended_hands_over) {
    for (int i = 1; i <= 5; i++) {
        run_fibers(body);
        CHECK_EQ(shared, i);
    }
}
