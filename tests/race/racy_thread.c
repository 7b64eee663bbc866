/* SPDX-License-Identifier: MIT
 *
 * race/racy_thread.c - a plain thread and a fiber write the same variable.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static int shared;

static void *add(void *arg) {
    shared++;
    return arg;
}

static void *write_in_thread(void *arg) {
    shared++;
    return arg;
}

static void body(void) {
    pthread_t thread = thread_start(write_in_thread, NULL);
    weft_fiber child;
    SPAWN(&child, add, NULL);
    JOIN(child, NULL);
    thread_join(thread);
}

TEST(a_thread_and_a_fiber_write) {
    run_fibers(body);
}
