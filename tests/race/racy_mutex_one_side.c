/* SPDX-License-Identifier: MIT
 *
 * race/racy_mutex_one_side.c - a mutex orders only those who lock it.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_mutex mutex = WEFT_MUTEX_INIT;
static int shared;

static void *add_locked(void *arg) {
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
    shared++;
    weft_mutex_unlock(&mutex);
    return arg;
}

static void *add(void *arg) {
    shared++;
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    SPAWN(&fibers[0], add_locked, NULL);
    SPAWN(&fibers[1], add, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
}

TEST(a_mutex_orders_only_those_who_lock_it) {
    run_fibers(body);
}
