/* SPDX-License-Identifier: MIT
 *
 * race/racy_other_joined.c - joining one sibling does not order the other.
 *
 * The race detector has to report it, whatever the schedule.
 */
#include "support/run.h"

static int shared;

static void *add(void *arg) {
    shared++;
    return arg;
}

static void *give_back(void *arg) {
    return arg;
}

static void body(void) {
    weft_fiber one, two;
    SPAWN(&one, add, NULL);
    SPAWN(&two, give_back, NULL);
    JOIN(two, NULL);
    shared++;
    JOIN(one, NULL);
}

TEST(joining_one_sibling_does_not_order_the_other) {
    run_fibers(body);
}
