/* SPDX-License-Identifier: MIT
 *
 * race/clean_rwlock.c - a writer is ordered with every reader.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_rwlock rwlock = WEFT_RWLOCK_INIT;
static int shared;

static void *visit(void *arg) {
    for (int i = 0; i < 100; i++) {
        bool writes = i % 4 == 0;
        CHECK_EQ(writes ? weft_rwlock_write(&rwlock, WEFT_NEVER) : weft_rwlock_read(&rwlock, WEFT_NEVER), 0);
        if (writes)
            shared++;
        else
            CHECK_GE(shared, i / 4);
        weft_rwlock_unlock(&rwlock);
        weft_yield();
    }
    return arg;
}

static void body(void) {
    weft_fiber fibers[4];
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], visit, NULL);
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(shared, 100);
}

TEST(a_writer_is_ordered_with_readers) {
    run_fibers(body);
}
