/* SPDX-License-Identifier: MIT
 *
 * race/clean_own_stack.c - a fiber keeps what is on its stack across yields and sleeps, on any worker.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static void *keep(void *arg) {
    int numbers[100];
    for (int i = 0; i < 100; i++)
        numbers[i] = i;
    for (int i = 0; i < 100; i++) {
        weft_yield();
        if (i % 10 == 0)
            weft_sleep(weft_after(50 * WEFT_MICROSECOND));
        numbers[i]++;
    }
    for (int i = 0; i < 100; i++)
        CHECK_EQ(numbers[i], i + 1);
    return arg;
}

static void body(void) {
    weft_fiber fibers[16];
    for (int i = 0; i < 16; i++)
        SPAWN(&fibers[i], keep, NULL);
    for (int i = 0; i < 16; i++)
        JOIN(fibers[i], NULL);
}

TEST(a_stack_belongs_to_its_fiber) {
    run_fibers(body);
}
