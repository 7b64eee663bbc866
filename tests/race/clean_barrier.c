/* SPDX-License-Identifier: MIT
 *
 * race/clean_barrier.c - what came before the meeting is visible to all parties after it.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

enum { PARTIES = 3 };
static weft_barrier barrier = WEFT_BARRIER_INIT(PARTIES);
static int shared[PARTIES];

static void *write_meet_read(void *opaque) {
    int *own = opaque;
    for (int round = 1; round <= 20; round++) {
        *own = round;
        CHECK_GE(weft_barrier_wait(&barrier, WEFT_NEVER), 0);
        for (int i = 0; i < PARTIES; i++)
            CHECK_EQ(shared[i], round);
        CHECK_GE(weft_barrier_wait(&barrier, WEFT_NEVER), 0);
    }
    return NULL;
}

static void body(void) {
    weft_fiber fibers[PARTIES];
    for (int i = 0; i < PARTIES; i++)
        SPAWN(&fibers[i], write_meet_read, &shared[i]);
    for (int i = 0; i < PARTIES; i++)
        JOIN(fibers[i], NULL);
}

TEST(a_meeting_orders_its_parties) {
    run_fibers(body);
}
