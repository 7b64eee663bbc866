/* SPDX-License-Identifier: MIT
 *
 * spec/interop_test.c - plain threads beside the runtime, and runtimes beside each other.
 *
 * What a plain thread may do: spawn, join, detach, sleep, ask; at any moment, also while runtimes come and go. What it
 * started runs exactly once or was refused.
 */
#include "support/run.h"

enum { THREADS = 4 };

static atomic_long accepted;
static atomic_long refused;
static atomic_long executed;
static atomic_int is_over;
static atomic_long run_number;

enum { SPAWNS_A_RUN = 100 }; /* for each thread: a runtime that always has something to do never ends */

static void *count_run(void *arg) {
    atomic_fetch_add(&executed, 1);
    return arg;
}

static void *add_one(void *arg) {
    return (void *)((uintptr_t)arg + 1);
}

TEST(spawn_without_a_runtime_is_refused) {
    weft_fiber fiber = WEFT_NO_FIBER;
    weft_spawn_options detached = {.detached = true};
    CHECK_EQ(weft_go(count_run, NULL), -ESRCH);
    CHECK_EQ(weft_spawn(&fiber, count_run, NULL), -ESRCH);
    CHECK_EQ(weft_spawn_with(NULL, &detached, count_run, NULL), -ESRCH);
    CHECK_EQ(fiber.bits, 0);
    CHECK(weft_runtime_self() == NULL);
    CHECK_EQ(weft_self().bits, 0);
}

TEST(calls_that_need_a_fiber_say_so_on_a_plain_thread) {
    weft_key key;
    CHECK_EQ(weft_pin(), -EPERM);
    CHECK_EQ(weft_set_name("x"), -EPERM);
    CHECK_EQ(weft_set_priority(WEFT_PRIORITY_HIGH), -EPERM);
    CHECK_EQ(weft_keep_fp_control(true), -EPERM);
    CHECK_EQ(weft_world_stop(), -EPERM);
    CHECK_EQ(weft_key_new(&key, NULL), 0);
    CHECK_EQ(weft_local_set(key, &key), -EPERM);
    CHECK(weft_local_get(key) == NULL);
    CHECK_EQ(weft_key_free(key), 0);
    CHECK_EQ(weft_undefer(true), -ENOENT);
    weft_yield();
    weft_time moment = weft_after(2 * WEFT_MILLISECOND);
    CHECK_EQ(weft_sleep(moment), 0);
    CHECK_GE(weft_now(), moment);
}

static void *spawn_all_the_time(void *arg) {
    uint64_t random = wf_test_seed() + (uintptr_t)arg * 77;
    long run = -1, left = 0;
    while (!atomic_load(&is_over)) {
        weft_fiber fiber;
        void *result = NULL;
        if (run != atomic_load(&run_number)) {
            run = atomic_load(&run_number);
            left = SPAWNS_A_RUN;
        }
        if (left == 0) {
            sched_yield();
            continue;
        }
        int error = weft_spawn(&fiber, count_run, &random);
        if (error) {
            CHECK(error == -ESRCH || error == -ECANCELED);
            atomic_fetch_add(&refused, 1);
            sched_yield();
            continue;
        }
        left--;
        atomic_fetch_add(&accepted, 1);
        if (random_below(&random, 4) == 0) {
            error = weft_detach(fiber);
            CHECK(error == 0 || error == -ESTALE); /* stale: its runtime is over, it ran */
        } else {
            error = weft_join(fiber, &result, WEFT_NEVER);
            CHECK(error == 0 || error == -ESTALE);
            CHECK(error != 0 || result == &random);
        }
        if (random_below(&random, 8) == 0)
            CHECK_EQ(weft_sleep(weft_after((int64_t)random_below(&random, 100) * WEFT_MICROSECOND)), 0);
    }
    return NULL;
}

static int short_life(void *arg) {
    (void)arg;
    weft_fiber fiber;
    void *result;
    SPAWN(&fiber, add_one, (void *)41);
    JOIN(fiber, &result);
    CHECK_EQ((uintptr_t)result, 42);
    return 7;
}

TEST(plain_threads_spawn_and_join_while_runtimes_start_and_stop) {
    pthread_t threads[THREADS];
    long runs = scaled(100, 10);
    wf_test_seed();
    atomic_store(&is_over, 0);
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = thread_start(spawn_all_the_time, (void *)i);
    for (long i = 0; i < runs; i++) {
        atomic_store(&run_number, i);
        CHECK_EQ(weft_run(NULL, short_life, NULL), 7);
    }
    atomic_store(&is_over, 1);
    for (int i = 0; i < THREADS; i++)
        thread_join(threads[i]);
    CHECK_EQ(atomic_load(&executed), atomic_load(&accepted));
    printf("    %ld fibers from plain threads in %ld runtimes, %ld refused\n", atomic_load(&accepted), runs,
           atomic_load(&refused));
}

/* Two runtimes at once, each on a thread of its own; fibers of one spawn into and join from the other. */
static _Atomic(weft_runtime *) runtimes[2];
static atomic_int finished[2];

static void *answer_runtime(void *arg) {
    (void)arg;
    weft_yield();
    return weft_runtime_self();
}

static int partner(void *arg) {
    uintptr_t me = (uintptr_t)arg;
    atomic_store(&runtimes[me], weft_runtime_self());
    WAIT_UNTIL(atomic_load(&runtimes[1 - me]));
    weft_runtime *other = atomic_load(&runtimes[1 - me]);
    CHECK(other != weft_runtime_self());
    weft_spawn_options there = {.runtime = other, .name = "visitor"};
    for (long i = 0; i < scaled(2000, 50); i++) {
        weft_fiber fiber, parent = {1};
        void *result = NULL;
        CHECK_EQ(weft_spawn_with(&fiber, &there, answer_runtime, NULL), 0);
        int error = weft_parent(fiber, &parent);
        CHECK_EQ(error, 0);
        CHECK_EQ(parent.bits, 0);
        JOIN(fiber, &result);
        CHECK(result == other);
        CHECK(weft_runtime_self() == atomic_load(&runtimes[me]));
    }
    atomic_store(&finished[me], 1);
    WAIT_UNTIL(atomic_load(&finished[1 - me]));
    return (int)me + 10;
}

static void *run_partner(void *arg) {
    CHECK_EQ(weft_run(NULL, partner, arg), (int)(uintptr_t)arg + 10);
    return NULL;
}

TEST(two_runtimes_spawn_into_and_join_from_each_other) {
    for (int i = 0; i < 2; i++) {
        atomic_store(&runtimes[i], NULL);
        atomic_store(&finished[i], 0);
    }
    pthread_t thread = thread_start(run_partner, (void *)1);
    run_partner((void *)0);
    thread_join(thread);
}

static weft_fiber old_fiber;
static weft_runtime *old_runtime;

static void leave_ids_behind(void) {
    old_runtime = weft_runtime_self();
    SPAWN(&old_fiber, add_one, NULL); /* not joined */
}

static void expect_stale(void) {
    char name[32];
    weft_fiber parent;
    void *result = &parent;
    CHECK_EQ(weft_join(old_fiber, &result, WEFT_NEVER), -ESTALE);
    CHECK_EQ(weft_join(old_fiber, &result, WEFT_NOW), -ESTALE);
    CHECK(result == &parent);
    CHECK_EQ(weft_detach(old_fiber), -ESTALE);
    CHECK_EQ(weft_get_name(old_fiber, name, sizeof name), -ESTALE);
    CHECK_EQ(weft_parent(old_fiber, &parent), -ESTALE);
}

TEST(ids_of_a_dead_runtime_are_stale) {
    run_fibers(leave_ids_behind);
    expect_stale();
    weft_stats stats;
    weft_fiber fiber;
    weft_spawn_options there = {.runtime = old_runtime};
    CHECK_EQ(weft_get_stats(old_runtime, &stats), -ESTALE);
    CHECK_EQ(weft_spawn_with(&fiber, &there, add_one, NULL), -ESTALE);
}

static void spawn_many_then_expect_stale(void) {
    expect_stale(); /* the same runtime number, the same index perhaps, another life */
    for (int i = 0; i < 300; i++) {
        weft_fiber fiber;
        SPAWN(&fiber, add_one, NULL);
        JOIN(fiber, NULL);
        CHECK_EQ(weft_join(fiber, NULL, WEFT_NEVER), -ESTALE);
    }
}

TEST(ids_of_a_dead_runtime_are_stale_in_the_next_one) {
    run_fibers(leave_ids_behind);
    run_fibers(spawn_many_then_expect_stale);
}

/* A plain thread waits for a fiber that sleeps; the deadline passes first, the second time it gets the result. */
static void *sleep_a_little(void *arg) {
    weft_sleep(weft_after(20 * WEFT_MILLISECOND));
    return arg;
}

static void *join_with_deadline(void *arg) {
    weft_fiber fiber = *(weft_fiber *)arg;
    void *result = NULL;
    weft_time deadline = weft_after(WEFT_MILLISECOND);
    int error = weft_join(fiber, &result, deadline);
    if (error == -ETIMEDOUT) {
        CHECK_GE(weft_now(), deadline);
        error = weft_join(fiber, &result, WEFT_NEVER);
    }
    CHECK_EQ(error, 0);
    CHECK(result == &old_fiber);
    return NULL;
}

static void spawn_sleeper(void) {
    weft_fiber fiber;
    SPAWN(&fiber, sleep_a_little, &old_fiber);
    pthread_t thread = thread_start(join_with_deadline, &fiber);
    thread_join(thread); /* blocks a worker, which is the point: one worker must do as well once it is free */
}

static void *spawn_from_thread(void *arg) {
    (void)arg;
    WAIT_UNTIL(weft_runtime_self());
    weft_fiber fiber;
    SPAWN(&fiber, sleep_a_little, &old_fiber);
    join_with_deadline(&fiber);
    atomic_store(&is_over, 1);
    return NULL;
}

static void wait_for_thread(void) {
    WAIT_UNTIL(atomic_load(&is_over));
}

TEST(a_plain_thread_joins_with_a_deadline) {
    atomic_store(&is_over, 0);
    pthread_t thread = thread_start(spawn_from_thread, NULL);
    run_fibers(wait_for_thread);
    thread_join(thread);
    if (wf_test_workers() > 1)
        run_fibers(spawn_sleeper);
}

static int nested(void *arg) {
    (void)arg;
    return weft_run(NULL, short_life, NULL);
}

TEST(a_runtime_inside_a_fiber_is_refused) {
    CHECK_EQ(weft_run(NULL, nested, NULL), -EDEADLK);
}
