/* SPDX-License-Identifier: MIT
 *
 * race/clean_mutex.c - a mutex orders its holders.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_mutex mutex = WEFT_MUTEX_INIT;
static int shared;

static void *add_locked(void *arg) {
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(weft_mutex_lock(&mutex, i % 2 ? WEFT_NEVER : weft_after(60 * WEFT_SECOND)), 0);
        shared++;
        weft_mutex_unlock(&mutex);
        if (i % 8 == 0)
            weft_yield();
    }
    return arg;
}

static void body(void) {
    weft_fiber fibers[4];
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], add_locked, NULL);
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(shared, 400);
}

TEST(a_mutex_orders_its_holders) {
    run_fibers(body);
}
