/* SPDX-License-Identifier: MIT
 *
 * race/racy_two_mutexes.c - two mutexes do not know of each other.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_mutex mutexes[2] = {WEFT_MUTEX_INIT, WEFT_MUTEX_INIT};
static int shared;

static void *add_locked(void *opaque) {
    CHECK_EQ(weft_mutex_lock(opaque, WEFT_NEVER), 0);
    shared++;
    weft_mutex_unlock(opaque);
    return NULL;
}

static void body(void) {
    weft_fiber fibers[2];
    for (int i = 0; i < 2; i++)
        SPAWN(&fibers[i], add_locked, &mutexes[i]);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
}

TEST(two_mutexes_do_not_order_each_other) {
    run_fibers(body);
}
