/* SPDX-License-Identifier: MIT
 *
 * race/clean_select.c - a select that receives is ordered with its sender.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_chan *chans[2];
static int shared;

static void *add_then_send(void *arg) {
    for (int i = 0; i < 20; i++) {
        shared++;
        CHECK_EQ(weft_chan_send(chans[i % 2], &i, WEFT_NEVER), 0);
        CHECK_EQ(weft_chan_recv(chans[0], NULL, WEFT_NEVER), 0);
    }
    return arg;
}

static void *select_then_add(void *arg) {
    for (int i = 0; i < 20; i++) {
        int value;
        weft_case cases[] = {weft_on_receive(chans[0], &value), weft_on_receive(chans[1], &value)};
        CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), i % 2);
        shared++;
        CHECK_EQ(weft_chan_send(chans[0], &i, WEFT_NEVER), 0);
    }
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_chan_new(&chans[i], sizeof(int), 0), 0);
    SPAWN(&fibers[0], add_then_send, NULL);
    SPAWN(&fibers[1], select_then_add, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 2; i++)
        weft_chan_free(chans[i]);
}

TEST(a_select_is_ordered_with_its_sender) {
    run_fibers(body);
}
