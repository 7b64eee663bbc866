/* SPDX-License-Identifier: MIT
 *
 * race/clean_cond.c - a condition under its mutex hands over.
 *
 * The race detector has to stay silent: the library orders the two accesses.
 */
#include "support/run.h"

static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_cond cond = WEFT_COND_INIT;
static bool is_ready;
static int shared;

static void *wait_then_add(void *arg) {
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
    while (!is_ready)
        CHECK_EQ(weft_cond_wait(&cond, &mutex, WEFT_NEVER), 0);
    weft_mutex_unlock(&mutex);
    shared++;
    return arg;
}

static void *add_then_signal(void *arg) {
    shared++;
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
    is_ready = true;
    weft_mutex_unlock(&mutex);
    weft_cond_signal(&cond);
    return arg;
}

static void body(void) {
    weft_fiber fibers[2];
    SPAWN(&fibers[0], wait_then_add, NULL);
    SPAWN(&fibers[1], add_then_signal, NULL);
    for (int i = 0; i < 2; i++)
        JOIN(fibers[i], NULL);
}

TEST(a_condition_under_its_mutex_hands_over) {
    run_fibers(body);
}
