/* SPDX-License-Identifier: MIT
 *
 * race/clean_waitgroup.c - what came before done is visible after the wait.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_waitgroup group = WEFT_WAITGROUP_INIT;
static int shared[4];

static void *add_then_done(void *opaque) {
    ++*(int *)opaque;
    weft_waitgroup_done(&group);
    return NULL;
}

static void body(void) {
    weft_waitgroup_add(&group, 4);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(weft_go(add_then_done, &shared[i]), 0);
    CHECK_EQ(weft_waitgroup_wait(&group, WEFT_NEVER), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(++shared[i], 2);
}

TEST(done_hands_over_to_the_wait) {
    run_fibers(body);
}
