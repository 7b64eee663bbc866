/* SPDX-License-Identifier: MIT
 *
 * stress/pool_test.c - whatever is submitted to a pool runs once, however it falls asleep in between.
 *
 * Every work has a number. Works come one by one into a pool that is about to sleep, in bursts, and from many threads at once. The
 * oracle is that each number has run once, and a pool with nothing left in it.
 */
#include "stress/pool.h"

enum { SUBMITTERS = 8, WORKS_MAX = 1000000 };

static _Atomic uint8_t times_run[WORKS_MAX];

static int note_run(void *arg) {
    atomic_fetch_add_explicit(&times_run[(uintptr_t)arg], 1, memory_order_relaxed);
    return 0;
}

static void forget_runs(long count) {
    for (long i = 0; i < count; i++)
        atomic_store_explicit(&times_run[i], 0, memory_order_relaxed);
}

static void check_each_ran_once(long count) {
    for (long i = 0; i < count; i++)
        if (atomic_load(&times_run[i]) != 1) {
            fprintf(stderr, "work %ld ran %d times\n", i, atomic_load(&times_run[i]));
            CHECK_EQ(atomic_load(&times_run[i]), 1);
        }
}

/* ---- Bursts ---- */

static int spin_and_note(void *arg) {
    spin_for(10 * WEFT_MICROSECOND);
    return note_run(arg);
}

static int spin_at_random(void *arg) {
    spin_for((int64_t)((uintptr_t)arg * 7919 % 20) * WEFT_MICROSECOND);
    return note_run(arg);
}

/* The threads have just lain down, or are about to, when the burst comes. */
TEST(a_burst_that_meets_33_threads_as_they_fall_asleep_is_run_to_its_end) {
    enum { BURST = 100 };
    uint64_t random = wf_test_seed();
    weft_pool *pool = pool_with(&(weft_pool_options){.threads = MANY_THREADS});
    for (long round = amount(300, 20, 10000); round > 0; round--) {
        forget_runs(MANY_THREADS + BURST);
        for (uintptr_t i = 0; i < MANY_THREADS; i++)
            CHECK_EQ(weft_pool_submit(pool, NULL, spin_and_note, (void *)i), 0);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        if (random_below(&random, 4) == 0)
            weft_sleep(weft_after((int64_t)random_below(&random, is_full() ? 20000 : 300) * WEFT_MICROSECOND));
        else
            spin_for((int64_t)random_below(&random, 100) * WEFT_MICROSECOND);
        for (uintptr_t i = MANY_THREADS; i < MANY_THREADS + BURST; i++)
            CHECK_EQ(weft_pool_submit(pool, NULL, spin_at_random, (void *)i), 0);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        check_each_ran_once(MANY_THREADS + BURST);
    }
    check_empty(pool);
    weft_pool_free(pool);
}

/* Each submit finds the pool about to sleep. */
TEST(works_that_come_one_by_one_are_not_missed) {
    uint64_t random = wf_test_seed();
    weft_pool *pool = pool_with(&(weft_pool_options){.threads = pool_threads()});
    long count = amount(3000, 200, 100000);
    forget_runs(count);
    for (long i = 0; i < count; i++) {
        weft_work work;
        CHECK_EQ(weft_pool_submit(pool, &work, note_run, (void *)(uintptr_t)i), 0);
        if (random_below(&random, 2)) {
            int status = weft_pool_wait_work(pool, work, NULL, WEFT_NEVER);
            CHECK(status == 0 || status == -ESTALE);
        } else {
            CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        }
        CHECK_EQ(atomic_load(&times_run[i]), 1);
        for (uint64_t spins = random_below(&random, 3) ? 0 : random_below(&random, 2000); spins > 0; spins--)
            sched_yield();
    }
    check_each_ran_once(count);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    check_empty(pool);
    weft_pool_free(pool);
}

/* ---- Many submitters ---- */

struct share {
    weft_pool *pool;
    long begin, end;
};

static void *submit_share(void *opaque) {
    const struct share *share = opaque;
    for (long i = share->begin; i < share->end; i++)
        CHECK_EQ(weft_pool_submit(share->pool, NULL, note_run, (void *)(uintptr_t)i), 0);
    return NULL;
}

static void submit_from_threads(weft_pool *pool, long count) {
    struct share shares[SUBMITTERS];
    pthread_t threads[SUBMITTERS];
    for (long i = 0; i < SUBMITTERS; i++) {
        shares[i] = (struct share){pool, count * i / SUBMITTERS, count * (i + 1) / SUBMITTERS};
        threads[i] = thread_start(submit_share, &shares[i]);
    }
    for (int i = 0; i < SUBMITTERS; i++)
        thread_join(threads[i]);
}

TEST(a_million_works_of_eight_submitters_run_once_each) {
    long count = amount(WORKS_MAX, 20000, WORKS_MAX);
    weft_pool *pool = pool_with(&(weft_pool_options){.threads = 4});
    forget_runs(count);
    submit_from_threads(pool, count);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    check_each_ran_once(count);
    check_empty(pool);
    CHECK_EQ(pool_stats(pool).succeeded, count);
    weft_pool_free(pool);
}

TEST(counters_are_zero_after_every_wait) {
    enum { WORKS = 100 };
    weft_pool *pool = pool_with(&(weft_pool_options){.threads = pool_threads()});
    uint64_t generation = pool_stats(pool).generation;
    for (long round = amount(3000, 100, 1000000); round > 0; round--) {
        forget_runs(WORKS);
        for (uintptr_t i = 0; i < WORKS; i++)
            CHECK_EQ(weft_pool_submit(pool, NULL, note_run, (void *)i), 0);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        check_each_ran_once(WORKS);
        check_empty(pool);
        CHECK(pool_stats(pool).generation > generation);
        generation = pool_stats(pool).generation;
    }
    weft_pool_free(pool);
}

static atomic_int starts_told, ends_told;

static int count_generations(const weft_pool_event *event, void *arg) {
    (void)arg;
    atomic_fetch_add(event->kind == WEFT_POOL_STARTED ? &starts_told : &ends_told, 1);
    CHECK_LE(atomic_load(&ends_told), atomic_load(&starts_told));
    return 0;
}

TEST(a_pool_that_is_held_over_all_submits_becomes_idle_once) {
    long count = amount(WORKS_MAX / 10, 10000, WORKS_MAX);
    weft_pool_options options = {.threads = pool_threads(),
                                 .handler = count_generations,
                                 .events = 1u << WEFT_POOL_STARTED | 1u << WEFT_POOL_IDLED};
    for (long run = is_full() ? 100 : 2; run > 0; run--) {
        weft_pool *pool = pool_with(&options);
        atomic_store(&starts_told, 0);
        atomic_store(&ends_told, 0);
        forget_runs(count);
        CHECK_EQ(weft_pool_hold(pool), 0);
        submit_from_threads(pool, count);
        CHECK_EQ(weft_pool_release(pool), 0);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&starts_told), 1);
        CHECK_EQ(atomic_load(&ends_told), 1);
        check_each_ran_once(count);
        check_empty(pool);
        weft_pool_free(pool);
    }
}

/* Generations end and begin on many threads at once; they are told by turns. */
TEST(beginnings_and_ends_of_generations_are_told_by_turns) {
    weft_pool_options options = {.threads = pool_threads(),
                                 .handler = count_generations,
                                 .events = 1u << WEFT_POOL_STARTED | 1u << WEFT_POOL_IDLED};
    weft_pool *pool = pool_with(&options);
    atomic_store(&starts_told, 0);
    atomic_store(&ends_told, 0);
    long count = amount(20000, 2000, 200000);
    forget_runs(count);
    submit_from_threads(pool, count);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&starts_told), atomic_load(&ends_told));
    CHECK_EQ(atomic_load(&ends_told), pool_stats(pool).generation);
    check_each_ran_once(count);
    check_empty(pool);
    weft_pool_free(pool);
}

/* ---- The end of a pool that may be without threads, against submits ---- */

TEST(a_pool_without_threads_comes_back_for_every_work) {
    uint64_t random = wf_test_seed();
    weft_pool *pool = pool_with(&(weft_pool_options){.threads = pool_threads(), .elastic = true, .keep_alive = -1});
    long count = amount(1500, 100, 100000);
    forget_runs(count);
    for (long i = 0; i < count; i++) {
        CHECK_EQ(weft_pool_submit(pool, NULL, note_run, (void *)(uintptr_t)i), 0);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&times_run[i]), 1);
        spin_for((int64_t)random_below(&random, 150) * WEFT_MICROSECOND);
    }
    check_each_ran_once(count);
    check_empty(pool);
    weft_pool_free(pool);
}
