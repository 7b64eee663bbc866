/* SPDX-License-Identifier: MIT
 *
 * race/clean_argument.c - an argument on the heap is made by the parent and freed by the child.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static void *free_argument(void *arg) {
    int number = *(int *)arg;
    free(arg);
    return (void *)(intptr_t)number;
}

static void body(void) {
    for (int i = 0; i < 50; i++) {
        int *number = malloc(sizeof *number);
        weft_fiber child;
        void *result;
        *number = i;
        SPAWN(&child, free_argument, number);
        JOIN(child, &result);
        CHECK_EQ((intptr_t)result, i);
    }
}

TEST(an_argument_is_handed_over) {
    run_fibers(body);
}
