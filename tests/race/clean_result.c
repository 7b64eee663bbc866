/* SPDX-License-Identifier: MIT
 *
 * race/clean_result.c - a result on the heap is made by the child and freed by the parent.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static void *make_result(void *arg) {
    int *number = malloc(sizeof *number);
    *number = (int)(intptr_t)arg;
    return number;
}

static void body(void) {
    for (intptr_t i = 0; i < 50; i++) {
        weft_fiber child;
        void *result;
        SPAWN(&child, make_result, (void *)i);
        JOIN(child, &result);
        CHECK_EQ(*(int *)result, i);
        free(result);
    }
}

TEST(a_result_is_handed_over) {
    run_fibers(body);
}
