/* SPDX-License-Identifier: MIT
 *
 * race/clean_thread_spawn.c - a plain thread hands an argument to a fiber and gets the result.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static int shared;

static void *add(void *arg) {
    shared++;
    return arg;
}

static void *spawn_in_thread(void *arg) {
    weft_fiber child;
    shared = 1;
    SPAWN(&child, add, NULL);
    JOIN(child, NULL);
    shared++;
    return arg;
}

static void body(void) {
    pthread_t thread = thread_start(spawn_in_thread, NULL);
    static atomic_int unused;
    CHECK_EQ(atomic_load(&unused), 0);
    if (wf_test_workers() > 1)
        thread_join(thread);
    else
        CHECK_EQ(pthread_detach(thread), 0);
}

TEST(a_thread_spawns_and_joins) {
    run_fibers(body);
}
