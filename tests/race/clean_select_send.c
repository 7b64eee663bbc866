/* SPDX-License-Identifier: MIT
 *
 * race/clean_select_send.c - a select that sends is ordered with its receiver.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_chan *chans[2];
static int shared;

static void *add_then_select(void *arg) {
    int value = 1;
    weft_case cases[] = {weft_on_receive(chans[0], NULL), weft_on_send(chans[1], &value)};
    shared++;
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    return arg;
}

static void *receive_then_add(void *arg) {
    CHECK_EQ(weft_chan_recv(chans[1], NULL, WEFT_NEVER), 0);
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_chan_new(&chans[i], sizeof(int), 0), 0);
    SPAWN(&fibers[0], add_then_select, NULL);
    SPAWN(&fibers[1], receive_then_add, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 2; i++)
        weft_chan_free(chans[i]);
}

TEST(a_select_that_sends_is_ordered_with_its_receiver) {
    run_fibers(body);
}
