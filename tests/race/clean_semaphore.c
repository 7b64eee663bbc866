/* SPDX-License-Identifier: MIT
 *
 * race/clean_semaphore.c - one permit is a mutex.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(1);
static int shared;

static void *add_with_permit(void *arg) {
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(weft_semaphore_acquire(&semaphore, 1, WEFT_NEVER), 0);
        shared++;
        weft_semaphore_release(&semaphore, 1);
        if (i % 8 == 0)
            weft_yield();
    }
    return arg;
}

static void body(void) {
    weft_fiber fibers[4];
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], add_with_permit, NULL);
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(shared, 400);
}

TEST(one_permit_orders_its_holders) {
    run_fibers(body);
}
