/* SPDX-License-Identifier: MIT
 *
 * race/racy_chan_timeout.c - a receive that timed out orders nothing.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_chan *chan;
static int shared;

static void *add_then_try(void *arg) {
    int value = 1;
    shared++;
    CHECK_EQ(weft_chan_send(chan, &value, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    return arg;
}

static weft_chan *other;

static void *time_out_then_add(void *arg) {
    CHECK_EQ(weft_chan_recv(other, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&other, sizeof(int), 0), 0);
    SPAWN(&fibers[0], add_then_try, NULL);
    SPAWN(&fibers[1], time_out_then_add, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
    weft_chan_free(chan);
    weft_chan_free(other);
}

TEST(a_receive_that_timed_out_orders_nothing) {
    run_fibers(body);
}
