/* SPDX-License-Identifier: MIT
 *
 * race/racy_cond.c - a signal without the mutex orders nothing by itself.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_cond cond = WEFT_COND_INIT;
static int shared;

static void *wait_then_add(void *arg) {
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
    CHECK_EQ(weft_cond_wait(&cond, &mutex, WEFT_NEVER), 0);
    weft_mutex_unlock(&mutex);
    shared++;
    return arg;
}

static void *add_then_signal(void *arg) {
    shared++;
    WAIT_UNTIL(weft_cond_signal(&cond) == 1);
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    SPAWN(&fibers[0], wait_then_add, NULL);
    SPAWN(&fibers[1], add_then_signal, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
}

TEST(a_signal_without_the_mutex_orders_nothing) {
    run_fibers(body);
}
