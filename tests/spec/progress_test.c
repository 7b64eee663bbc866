/* SPDX-License-Identifier: MIT
 *
 * spec/progress_test.c - what is ready comes to run, whatever the others do.
 *
 * Fibers that yield for ever in a higher lane, or that compute and never come to a scheduling point, go on until they see
 * what a fiber did that has to get its turn beside them. Nothing is said about how soon: a turn that never comes shows as
 * patience that ran out.
 */
#include "support/run.h"

enum { ROUNDS = 50 };

static atomic_int has_run;

/* Waits without a scheduling point: to the runtime this is a fiber that computes. */
#define COMPUTE_UNTIL(condition) \
    do { \
        weft_time compute_limit = weft_after(PATIENCE_NS); \
        while (!(condition)) { \
            CHECK_LE(weft_now(), compute_limit); \
            sched_yield(); \
        } \
    } while (0)

static void *say_has_run(void *arg) {
    atomic_store(&has_run, 1);
    return arg;
}

static void *yield_until_it_has_run(void *arg) {
    WAIT_UNTIL(atomic_load(&has_run));
    return arg;
}

static void *spawn_then_yield(void *arg) {
    CHECK_EQ(weft_go(say_has_run, NULL), 0);
    return yield_until_it_has_run(arg);
}

static void yield_in_the_high_lane(long count) {
    weft_fiber fibers[64];
    weft_spawn_options high = {.priority = WEFT_PRIORITY_HIGH};
    atomic_store(&has_run, 0);
    for (long i = 0; i < count; i++)
        CHECK_EQ(weft_spawn_with(&fibers[i], &high, i == 0 ? spawn_then_yield : yield_until_it_has_run, NULL), 0);
    for (long i = 0; i < count; i++)
        JOIN(fibers[i], NULL);
}

static void yield_in_pairs_and_crowds(void) {
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    for (long i = scaled(ROUNDS, 5); i > 0; i--) {
        yield_in_the_high_lane(2);
        yield_in_the_high_lane(2 * (long)stats.workers);
    }
}

TEST(a_normal_fiber_spawned_by_a_high_one_runs_while_high_fibers_yield_for_ever) {
    const unsigned counts[] = {1, 2, 8};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        run_fibers_with(&(weft_options){.workers = counts[i]}, yield_in_pairs_and_crowds);
}

static void *give_back(void *arg) {
    return arg;
}

static void compute_until_the_child_has_run(void) {
    weft_fiber fiber;
    for (int round = 0; round < 5; round++) {
        for (long i = scaled(10000, 500); i > 0; i--) { /* a parent whose children never needed another worker */
            SPAWN(&fiber, give_back, NULL);
            JOIN(fiber, NULL);
        }
        atomic_store(&has_run, 0);
        SPAWN(&fiber, say_has_run, NULL);
        COMPUTE_UNTIL(atomic_load(&has_run));
        JOIN(fiber, NULL);
    }
}

TEST(a_child_runs_on_another_worker_while_its_parent_computes) {
    if (wf_test_workers() > 1)
        run_fibers(compute_until_the_child_has_run);
}

static void *compute_until_it_has_run(void *arg) {
    COMPUTE_UNTIL(atomic_load(&has_run));
    return arg;
}

/* The short sleep lets every worker lie down, so each round begins with finding out anew who looks after the timers. */
static void sleep_while_others_compute(void) {
    for (int round = 0; round < ROUNDS; round++) {
        weft_fiber fibers[2];
        atomic_store(&has_run, 0);
        CHECK_EQ(weft_sleep(weft_after(3 * WEFT_MILLISECOND)), 0);
        for (int i = 0; i < 2; i++)
            SPAWN(&fibers[i], compute_until_it_has_run, NULL);
        CHECK_EQ(weft_sleep(weft_after(10 * WEFT_MILLISECOND)), 0);
        atomic_store(&has_run, 1);
        for (int i = 0; i < 2; i++)
            JOIN(fibers[i], NULL);
    }
}

TEST(a_timer_fires_while_all_workers_but_one_compute) {
    run_fibers_with(&(weft_options){.workers = 3}, sleep_while_others_compute);
}
