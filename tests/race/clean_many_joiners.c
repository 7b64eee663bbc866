/* SPDX-License-Identifier: MIT
 *
 * race/clean_many_joiners.c - several wait for the same fiber and all see what it wrote.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static int shared;

static void *add(void *arg) {
    shared++;
    return arg;
}

static weft_fiber writer;

static void *sleep_then_add(void *arg) {
    weft_sleep(weft_after(20 * WEFT_MILLISECOND));
    shared = 7;
    return arg;
}

static void *join_and_read(void *arg) {
    int error = weft_join(writer, NULL, WEFT_NEVER);
    if (error == 0)
        CHECK_EQ(shared, 7);
    return arg;
}

static void body(void) {
    weft_fiber readers[8];
    SPAWN(&writer, sleep_then_add, NULL);
    for (int i = 0; i < 8; i++)
        SPAWN(&readers[i], join_and_read, NULL);
    for (int i = 0; i < 8; i++)
        JOIN(readers[i], NULL);
    weft_fiber last;
    SPAWN(&last, add, NULL);
    JOIN(last, NULL);
}

TEST(several_joiners_see_what_was_written) {
    run_fibers(body);
}
