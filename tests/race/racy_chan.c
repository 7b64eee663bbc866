/* SPDX-License-Identifier: MIT
 *
 * race/racy_chan.c - a send orders what comes before it, not what comes after.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_chan *chan;
static int shared;

static void *send_then_add(void *arg) {
    int value = 1;
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NEVER), 0);
    shared++;
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
    SPAWN(&fibers[0], send_then_add, NULL);
    SPAWN(&fibers[1], receive_then_add, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
    weft_chan_free(chan);
}

TEST(what_comes_after_a_send_is_not_ordered) {
    run_fibers(body);
}
