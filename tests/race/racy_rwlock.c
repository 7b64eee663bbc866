/* SPDX-License-Identifier: MIT
 *
 * race/racy_rwlock.c - two readers that write.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_rwlock rwlock = WEFT_RWLOCK_INIT;
static atomic_int inside;
static int shared;

/* Both are inside at once; the counter says so without ordering anything. */
static void meet(void) {
    atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
    WAIT_UNTIL(atomic_load_explicit(&inside, memory_order_relaxed) == 2);
}

static void *add_as_reader(void *arg) {
    CHECK_EQ(weft_rwlock_read(&rwlock, WEFT_NEVER), 0);
    meet();
    shared++;
    weft_rwlock_unlock(&rwlock);
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    SPAWN(&fibers[0], add_as_reader, NULL);
    SPAWN(&fibers[1], add_as_reader, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
}

TEST(two_readers_that_write_are_not_ordered) {
    run_fibers(body);
}
