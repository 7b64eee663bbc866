/* SPDX-License-Identifier: MIT
 *
 * race/racy_select.c - a select orders with the sender of the case it took, and with no other.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_chan *chans[2];
static int shared;

static void *add_then_send(void *arg) {
    int value = 1;
    shared++;
    CHECK_EQ(weft_chan_send(chans[0], &value, WEFT_NEVER), 0);
    return arg;
}

static void *select_then_add(void *arg) {
    int value = 0;
    weft_case cases[] = {weft_on_receive(NULL, &value), weft_on_receive(chans[1], &value)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    int value = 1;
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_chan_new(&chans[i], sizeof(int), 1), 0);
    SPAWN(&fibers[0], add_then_send, NULL);
    SPAWN(&fibers[1], select_then_add, NULL);
    CHECK_EQ(weft_chan_send(chans[1], &value, WEFT_NEVER), 0);
    for (int i = 0; i < 2; i++) {
        JOIN(fibers[i], NULL);
        weft_chan_free(chans[i]);
    }
}

TEST(a_select_orders_with_no_other_sender) {
    run_fibers(body);
}
