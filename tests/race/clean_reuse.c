/* SPDX-License-Identifier: MIT
 *
 * race/clean_reuse.c - stacks and records that are used again carry no old accesses with them.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static void *add(void *arg) {
    (void)arg;
    return arg;
}

static void *write_stack(void *arg) {
    volatile int numbers[200];
    for (int i = 0; i < 200; i++)
        numbers[i] = i;
    return numbers[199] == 199 ? add(arg) : NULL;
}

static void body(void) {
    for (int round = 0; round < 20; round++) {
        weft_fiber fibers[20];
        for (int i = 0; i < 20; i++)
            SPAWN(&fibers[i], write_stack, NULL);
        for (int i = 0; i < 20; i++)
            JOIN(fibers[i], NULL);
    }
}

TEST(reused_stacks_carry_nothing_over) {
    run_fibers(body);
}
