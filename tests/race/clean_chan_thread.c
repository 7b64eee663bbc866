/* SPDX-License-Identifier: MIT
 *
 * race/clean_chan_thread.c - a plain thread hands over to a fiber by a channel, and gets an answer.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_chan *there, *back;
static int shared;

static void *thread_main(void *arg) {
    int value = 1;
    shared++;
    CHECK_EQ(weft_chan_send(there, &value, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_recv(back, &value, WEFT_NEVER), 0);
    shared++;
    return arg;
}

static void body(void) {
    int value;
    CHECK_EQ(weft_chan_new(&there, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&back, sizeof(int), 1), 0);
    pthread_t thread = thread_start(thread_main, NULL);
    CHECK_EQ(weft_chan_recv(there, &value, WEFT_NEVER), 0);
    shared++;
    CHECK_EQ(weft_chan_send(back, &value, WEFT_NEVER), 0);
    thread_join(thread);
    CHECK_EQ(shared, 3);
    weft_chan_free(there);
    weft_chan_free(back);
}

TEST(a_channel_orders_a_thread_and_a_fiber) {
    run_fibers(body);
}
