/* SPDX-License-Identifier: MIT
 *
 * race/racy_detached.c - a parent writes after its detached child may have.
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
    CHECK_EQ(weft_go(add, NULL), 0);
    weft_yield();
    shared++;
}

TEST(a_detached_child_and_its_parent_write) {
    run_fibers(body);
}
