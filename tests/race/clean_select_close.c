/* SPDX-License-Identifier: MIT
 *
 * race/clean_select_close.c - a select that finds the channel closed sees what came before the close.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_chan *chan;
static int shared;

static void *add_then_close(void *arg) {
    shared++;
    CHECK_EQ(weft_chan_close(chan), 0);
    return arg;
}

static void *receive_then_read(void *arg) {
    weft_case entry = weft_on_receive(chan, NULL);
    CHECK_EQ(weft_select(&entry, 1, WEFT_NEVER), 0);
    CHECK_EQ(entry.status, -EPIPE);
    CHECK_EQ(shared, 1);
    return arg;
}

static void body(void) {
    weft_fiber fibers[3];
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
    SPAWN(&fibers[0], receive_then_read, NULL);
    SPAWN(&fibers[1], add_then_close, NULL);
    SPAWN(&fibers[2], receive_then_read, NULL);
    for (int i = 0; i < 3; i++)
        JOIN(fibers[i], NULL);
    weft_chan_free(chan);
}

TEST(a_close_hands_over_to_a_select) {
    run_fibers(body);
}
