/* SPDX-License-Identifier: MIT
 *
 * race/racy_stack.c - a child writes to a variable on the stack of its parent, which reads it without joining.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static void *write_result(void *arg) {
    *(volatile int *)arg = 7;
    return NULL;
}

static void body(void) {
    volatile int number = 0;
    weft_fiber child;
    SPAWN(&child, write_result, (void *)(uintptr_t)&number);
    weft_sleep(weft_after(5 * WEFT_MILLISECOND));
    int seen = number;
    JOIN(child, NULL);
    CHECK(seen == 0 || seen == 7);
}

TEST(the_parent_reads_its_stack_without_joining) {
    run_fibers(body);
}
