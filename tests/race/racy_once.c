/* SPDX-License-Identifier: MIT
 *
 * race/racy_once.c - what callers do after a once is not ordered by it.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_once once = WEFT_ONCE_INIT;
static int shared;

static void nothing(void *arg) {
    (void)arg;
}

static void *call_then_add(void *arg) {
    CHECK_EQ(weft_once_call(&once, nothing, NULL, WEFT_NEVER), 0);
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    SPAWN(&fibers[0], call_then_add, NULL);
    SPAWN(&fibers[1], call_then_add, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
}

TEST(what_comes_after_a_once_is_not_ordered) {
    run_fibers(body);
}
