/* SPDX-License-Identifier: MIT
 *
 * race/racy_argument.c - the parent writes to the argument that it has handed over.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static void *read_argument(void *arg) {
    volatile int *number = arg;
    return (void *)(intptr_t)*number;
}

static void body(void) {
    static int number;
    weft_fiber child;
    SPAWN(&child, read_argument, &number);
    number = 7;
    JOIN(child, NULL);
}

TEST(the_parent_writes_to_an_argument_after_the_spawn) {
    run_fibers(body);
}
