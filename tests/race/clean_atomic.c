/* SPDX-License-Identifier: MIT
 *
 * race/clean_atomic.c - two fibers share an atomic.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static atomic_int shared;

static void *add(void *arg) {
    for (int i = 0; i < 100; i++) {
        atomic_fetch_add(&shared, 1);
        weft_yield();
    }
    return arg;
}

static void body(void) {
    weft_fiber one, two;
    SPAWN(&one, add, NULL);
    SPAWN(&two, add, NULL);
    JOIN(one, NULL);
    JOIN(two, NULL);
    CHECK_EQ(atomic_load(&shared), 200);
}

TEST(fibers_share_an_atomic) {
    run_fibers(body);
}
