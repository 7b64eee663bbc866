/* SPDX-License-Identifier: MIT
 *
 * race/racy_semaphore.c - two permits are no mutual exclusion.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(2);
static atomic_int inside;
static int shared;

/* Both are inside at once; the counter says so without ordering anything. */
static void meet(void) {
    atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed);
    WAIT_UNTIL(atomic_load_explicit(&inside, memory_order_relaxed) == 2);
}

static void *add_with_permit(void *arg) {
    CHECK_EQ(weft_semaphore_acquire(&semaphore, 1, WEFT_NEVER), 0);
    meet();
    shared++;
    weft_semaphore_release(&semaphore, 1);
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    SPAWN(&fibers[0], add_with_permit, NULL);
    SPAWN(&fibers[1], add_with_permit, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
}

TEST(two_permits_do_not_order) {
    run_fibers(body);
}
