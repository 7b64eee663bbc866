/* SPDX-License-Identifier: MIT
 *
 * race/clean_mutex_thread.c - a mutex orders fibers and plain threads.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_mutex mutex = WEFT_MUTEX_INIT;
static int shared;

static void *add_locked(void *arg) {
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
        shared++;
        weft_mutex_unlock(&mutex);
    }
    return arg;
}

static void body(void) {
    weft_fiber fiber;
    pthread_t thread = thread_start(add_locked, NULL);
    SPAWN(&fiber, add_locked, NULL);
    add_locked(NULL);
    JOIN(fiber, NULL);
    thread_join(thread);
    CHECK_EQ(shared, 600);
}

TEST(a_mutex_orders_fibers_and_threads) {
    run_fibers(body);
}
