/* SPDX-License-Identifier: MIT
 *
 * race/clean_chan_owner.c - a pointer that goes from fiber to fiber takes its owner's rights with it.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

enum { STAGES = 5 };
static weft_chan *stages[STAGES + 1];

static void *pass_on(void *opaque) {
    long stage = (long)(intptr_t)opaque;
    int *number;
    while (weft_chan_recv(stages[stage], &number, WEFT_NEVER) == 0) {
        ++*number;
        CHECK_EQ(weft_chan_send(stages[stage + 1], &number, WEFT_NEVER), 0);
    }
    CHECK_EQ(weft_chan_close(stages[stage + 1]), 0);
    return NULL;
}

static void body(void) {
    weft_fiber fibers[STAGES];
    int numbers[20] = {0}, *number = NULL;
    for (int i = 0; i <= STAGES; i++)
        CHECK_EQ(weft_chan_new(&stages[i], sizeof(int *), i == STAGES ? 20 : i % 3), 0);
    for (int i = 0; i < STAGES; i++)
        SPAWN(&fibers[i], pass_on, (void *)(intptr_t)i);
    for (int i = 0; i < 20; i++) {
        number = &numbers[i];
        CHECK_EQ(weft_chan_send(stages[0], &number, WEFT_NEVER), 0);
    }
    CHECK_EQ(weft_chan_close(stages[0]), 0);
    while (weft_chan_recv(stages[STAGES], &number, WEFT_NEVER) == 0)
        CHECK_EQ(*number, STAGES);
    for (int i = 0; i < STAGES; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i <= STAGES; i++)
        weft_chan_free(stages[i]);
}

TEST(a_pointer_through_channels_takes_ownership_along) {
    run_fibers(body);
}
