/* SPDX-License-Identifier: MIT
 *
 * race/clean_chan.c - a send hands over what came before it.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_chan *chan;
static int shared;

static void *add_then_send(void *arg) {
    int value = 1;
    shared++;
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NEVER), 0);
    return arg;
}

static void *receive_then_add(void *arg) {
    int value;
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NEVER), 0);
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
    SPAWN(&fibers[0], add_then_send, NULL);
    SPAWN(&fibers[1], receive_then_add, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
    weft_chan_free(chan);
}

TEST(a_send_hands_over) {
    run_fibers(body);
}
