/* SPDX-License-Identifier: MIT
 *
 * race/racy_cousins.c - grandchildren of two branches write; only one branch was joined in between.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static int shared;

static void *add(void *arg) {
    shared++;
    return arg;
}

static void *spawn_writer(void *arg) {
    weft_fiber child;
    SPAWN(&child, add, arg);
    JOIN(child, NULL);
    return arg;
}

static void body(void) {
    weft_fiber one, two;
    SPAWN(&one, spawn_writer, NULL);
    SPAWN(&two, spawn_writer, NULL);
    JOIN(one, NULL);
    JOIN(two, NULL);
}

TEST(two_grandchildren_write) {
    run_fibers(body);
}
