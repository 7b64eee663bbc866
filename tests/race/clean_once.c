/* SPDX-License-Identifier: MIT
 *
 * race/clean_once.c - what was done once is visible to every caller.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_once once = WEFT_ONCE_INIT;
static int shared;

static void make(void *arg) {
    (void)arg;
    weft_yield();
    shared = 7;
}

static void *call_then_read(void *arg) {
    CHECK_EQ(weft_once_call(&once, make, NULL, WEFT_NEVER), 0);
    CHECK_EQ(shared, 7);
    return arg;
}

static void body(void) {
    weft_fiber fibers[4];
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], call_then_read, NULL);
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    call_then_read(NULL);
}

TEST(what_was_done_once_is_visible_to_all) {
    run_fibers(body);
}
