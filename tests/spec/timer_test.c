/* SPDX-License-Identifier: MIT
 *
 * spec/timer_test.c - the laws of timers: never early, in order, and a name that goes stale.
 *
 * No test says how late something may be; only that it comes, and not before its time.
 */
#include "support/run.h"

enum { MANY = 64 };

static atomic_int order[MANY];
static atomic_int order_count;
static atomic_int calls;
static weft_timer shared;

static void *note_order(void *arg) {
    atomic_store(&order[atomic_fetch_add(&order_count, 1)], (int)(intptr_t)arg);
    return NULL;
}

static void *count_call(void *arg) {
    atomic_fetch_add(&calls, 1);
    return arg;
}

static void reset_counts(void) {
    atomic_store(&order_count, 0);
    atomic_store(&calls, 0);
}

/* Four moments, started in turn. False: so slowly that the first of them has come before all were started. */
static bool start_in_turn(weft_timer *timers, weft_time base) {
    for (int i = 0; i < MANY; i++) {
        weft_time moment = base + (3 - i % 4) * WEFT_MILLISECOND;
        CHECK_EQ(weft_timer_start(&timers[i], moment, 0, note_order, (void *)(intptr_t)i), 0);
    }
    return weft_now() < base;
}

static void ordered(void) {
    weft_timer timers[MANY];
    bool is_in_time = false;
    for (int64_t distance = 20 * WEFT_MILLISECOND; !is_in_time; distance *= 2) {
        reset_counts();
        weft_time base = weft_after(distance);
        is_in_time = start_in_turn(timers, base);
        WAIT_UNTIL(atomic_load(&order_count) == MANY);
        CHECK_GE(weft_now(), base + 3 * WEFT_MILLISECOND);
        for (int i = 0; i < MANY; i++)
            CHECK_EQ(weft_timer_stop(timers[i]), 0);
    }
    for (int i = 1; i < MANY && wf_test_workers() == 1; i++) {
        int before = atomic_load(&order[i - 1]), after = atomic_load(&order[i]);
        CHECK(3 - before % 4 < 3 - after % 4 || (before % 4 == after % 4 && before < after));
    }
}

TEST(timers_fire_by_moment_and_then_by_start) {
    run_fibers_strictly(ordered);
}

static void never_early(void) {
    uint64_t count = 0;
    weft_timer timer;
    weft_time moment = weft_after(3 * WEFT_MILLISECOND);
    CHECK_EQ(weft_timer_start(&timer, moment, 0, NULL, NULL), 0);
    CHECK_EQ(weft_timer_wait(timer, &count, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_timer_wait(timer, &count, weft_after(PATIENCE_NS)), 0);
    CHECK_GE(weft_now(), moment);
    CHECK_EQ(count, 1);
    CHECK_EQ(weft_timer_wait(timer, &count, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_timer_stop(timer), 0);
    CHECK_EQ(weft_timer_stop(timer), -ESTALE);
    CHECK_EQ(weft_timer_wait(timer, &count, WEFT_NEVER), -ESTALE);
    CHECK_EQ(weft_timer_reset(timer, moment, 0), -ESTALE);
    CHECK_EQ(weft_timer_missed(timer, &count), -ESTALE);
}

TEST(a_timer_fires_once_and_not_before_its_time) {
    run_fibers(never_early);
}

static void periodic(void) {
    const int64_t period = WEFT_MILLISECOND;
    weft_timer timer;
    weft_time first = weft_after(period);
    CHECK_EQ(weft_timer_start(&timer, first, period, NULL, NULL), 0);
    uint64_t total = 0;
    while (total < 20) {
        uint64_t count = 0;
        CHECK_EQ(weft_timer_wait(timer, &count, weft_after(PATIENCE_NS)), 0);
        CHECK_GE(count, 1);
        total += count;
        CHECK_GE(weft_now(), first + (int64_t)(total - 1) * period); /* no expiration is told early */
    }
    CHECK_EQ(weft_timer_stop(timer), 1);
}

TEST(a_periodic_timer_counts_every_expiration) {
    run_fibers(periodic);
}

static void past_moments(void) {
    uint64_t count = 0;
    weft_timer timer;
    CHECK_EQ(weft_timer_start(&timer, WEFT_NOW, WEFT_SECOND, NULL, NULL), 0);
    CHECK_EQ(weft_timer_wait(timer, &count, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(count, 1);
    CHECK_EQ(weft_timer_stop(timer), 1);
    CHECK_EQ(weft_timer_start(&timer, WEFT_NEVER, 0, NULL, NULL), 0);
    CHECK_EQ(weft_timer_wait(timer, &count, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_timer_reset(timer, INT64_MIN, 0), 0);
    CHECK_EQ(weft_timer_wait(timer, &count, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_timer_stop(timer), 0);
}

TEST(a_moment_that_is_past_is_now) {
    run_fibers(past_moments);
}

static void *stop_itself(void *arg) {
    (void)arg;
    CHECK_EQ(weft_timer_stop(shared), 1);
    atomic_fetch_add(&calls, 1);
    return NULL;
}

static void *stop_other(void *arg) {
    weft_timer *other = arg;
    CHECK_EQ(weft_timer_stop(*other), 1);
    atomic_fetch_add(&order_count, 1);
    return NULL;
}

static void stopped_inside(void) {
    reset_counts();
    CHECK_EQ(weft_timer_start(&shared, WEFT_NOW, WEFT_MILLISECOND, stop_itself, NULL), 0);
    WAIT_UNTIL(atomic_load(&calls) == 1);
    CHECK_EQ(weft_timer_stop(shared), -ESTALE);
    /* On one worker: of two timers of one moment the first may stop the second. */
    if (wf_test_workers() > 1)
        return;
    weft_timer first, second;
    weft_time moment = weft_after(WEFT_MILLISECOND);
    CHECK_EQ(weft_timer_start(&first, moment, 0, stop_other, &second), 0);
    CHECK_EQ(weft_timer_start(&second, moment, 0, count_call, NULL), 0);
    WAIT_UNTIL(atomic_load(&order_count) == 1);
    CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    CHECK_EQ(atomic_load(&calls), 1);
    CHECK_EQ(weft_timer_stop(first), 0);
}

TEST(a_function_may_stop_its_own_timer_and_others) {
    run_fibers_strictly(stopped_inside);
}

static void forgotten(void) {
    reset_counts();
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(weft_timer_start(NULL, weft_after(i * WEFT_MICROSECOND), 0, count_call, NULL), 0);
    WAIT_UNTIL(atomic_load(&calls) == MANY);
}

TEST(a_timer_without_a_name_fires_and_is_gone) {
    run_fibers(forgotten);
}

static void reused(void) {
    weft_timer first, timer;
    long reuses = scaled(1000000, 20000);
    CHECK_EQ(weft_timer_start(&first, WEFT_NEVER, 0, NULL, NULL), 0);
    CHECK_EQ(weft_timer_stop(first), 1);
    for (long i = 0; i < reuses; i++) {
        CHECK_EQ(weft_timer_start(&timer, WEFT_NEVER, 0, NULL, NULL), 0);
        CHECK(timer.bits != first.bits);
        CHECK_EQ(weft_timer_stop(first), -ESTALE);
        CHECK_EQ(weft_timer_stop(timer), 1);
    }
    CHECK_EQ(weft_timer_stop(timer), -ESTALE);
    shared = first;
}

static void from_another_runtime(void) {
    weft_timer timer;
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(weft_timer_start(&timer, WEFT_NEVER, 0, NULL, NULL), 0);
        CHECK(timer.bits != shared.bits);
        CHECK_EQ(weft_timer_reset(shared, WEFT_NOW, 0), -ESTALE);
    }
}

TEST(a_stale_name_never_means_a_newer_timer) {
    run_fibers(reused);
    CHECK_EQ(weft_timer_stop(shared), -ESTALE);
    run_fibers(from_another_runtime);
}

static void *wait_shared(void *arg) {
    uint64_t count = 0;
    (void)arg;
    return (void *)(intptr_t)weft_timer_wait(shared, &count, WEFT_NEVER);
}

static void stopped_while_awaited(void) {
    weft_fiber fibers[4];
    CHECK_EQ(weft_timer_start(&shared, WEFT_NEVER, 0, NULL, NULL), 0);
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], wait_shared, NULL);
    for (int i = 0; i < 4; i++)
        weft_yield();
    CHECK_EQ(weft_timer_stop(shared), 1);
    for (int i = 0; i < 4; i++) {
        void *result;
        JOIN(fibers[i], &result);
        CHECK_EQ((intptr_t)result, -ESTALE);
    }
}

TEST(stopping_tells_those_who_wait) {
    run_fibers(stopped_while_awaited);
}

static void selected(void) {
    uint64_t soon_count = 0, late_count = 0;
    weft_timer soon, late;
    CHECK_EQ(weft_timer_start(&soon, weft_after(2 * WEFT_MILLISECOND), 0, NULL, NULL), 0);
    CHECK_EQ(weft_timer_start(&late, WEFT_NEVER, 0, NULL, NULL), 0);
    weft_case cases[] = {weft_on_timer(late, &late_count), weft_on_timer(soon, &soon_count)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_select(cases, 2, weft_after(PATIENCE_NS)), 1);
    CHECK_EQ(cases[1].status, 0);
    CHECK_EQ(soon_count, 1);
    CHECK_EQ(late_count, 0);
    CHECK_EQ(weft_timer_reset(soon, WEFT_NOW, 0), 0);
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    CHECK_EQ(weft_timer_stop(soon), 0);
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    CHECK_EQ(cases[1].status, -ESTALE);
    CHECK_EQ(weft_timer_stop(late), 1);
}

TEST(select_waits_for_timers) {
    run_fibers(selected);
}

static void refused(void) {
    weft_timer timer;
    uint64_t count;
    CHECK_EQ(weft_timer_start(&timer, WEFT_NOW, -1, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_timer_start(NULL, WEFT_NOW, 0, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_timer_start(NULL, WEFT_NOW, 1, count_call, NULL), -EINVAL);
    CHECK_EQ(weft_timer_start(&timer, WEFT_NEVER, 0, count_call, NULL), 0);
    CHECK_EQ(weft_timer_reset(timer, WEFT_NEVER, -1), -EINVAL);
    CHECK_EQ(weft_timer_wait(timer, &count, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_timer_missed(timer, NULL), -EINVAL);
    weft_case one = weft_on_timer(timer, &count);
    CHECK_EQ(weft_select(&one, 1, WEFT_NEVER), 0);
    CHECK_EQ(one.status, -EINVAL);
    CHECK_EQ(weft_timer_stop(timer), 1);
    CHECK_EQ(weft_timer_stop((weft_timer){0}), -ESTALE);
    CHECK_EQ(weft_timer_stop((weft_timer){UINT64_MAX}), -ESTALE);
}

TEST(what_is_wrong_is_refused) {
    weft_timer timer;
    CHECK_EQ(weft_timer_start(&timer, WEFT_NOW, 0, NULL, NULL), -ESRCH);
    CHECK_EQ(weft_timer_stop((weft_timer){1}), -ESTALE);
    run_fibers(refused);
}

/* The runtime is idle: whoever polls has to be told of a timer that comes from outside. */
static void *use_from_thread(void *arg) {
    uint64_t count = 0;
    weft_timer timer;
    (void)arg;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(weft_timer_start(&timer, weft_after(200 * WEFT_MICROSECOND), 0, NULL, NULL), 0);
        CHECK_EQ(weft_timer_wait(timer, &count, weft_after(PATIENCE_NS)), 0);
        CHECK_EQ(count, 1);
        CHECK_EQ(weft_timer_reset(timer, weft_after(PATIENCE_NS), 0), 0);
        CHECK_EQ(weft_timer_reset(timer, weft_after(200 * WEFT_MICROSECOND), 0), 0);
        CHECK_EQ(weft_timer_wait(timer, &count, weft_after(PATIENCE_NS)), 0);
        CHECK_EQ(weft_timer_stop(timer), 0);
    }
    CHECK_EQ(weft_timer_start(&timer, WEFT_NOW, 0, stop_other, &shared), 0);
    return NULL;
}

static void threads_use_it(void) {
    uint64_t count;
    reset_counts();
    CHECK_EQ(weft_timer_start(&shared, WEFT_NEVER, 0, NULL, NULL), 0);
    pthread_t thread = thread_start(use_from_thread, NULL);
    CHECK_EQ(weft_timer_wait(shared, &count, WEFT_NEVER), -ESTALE); /* parked until the thread's timer stops it */
    thread_join(thread);
}

TEST(plain_threads_use_timers_of_an_idle_runtime) {
    run_fibers(threads_use_it);
}

static void leave_timers(void) {
    weft_timer timer;
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(
            weft_timer_start(&timer, weft_after(PATIENCE_NS), i % 2 * WEFT_SECOND, i % 3 ? count_call : NULL, NULL), 0);
    CHECK_EQ(weft_timer_start(NULL, weft_after(PATIENCE_NS), 0, count_call, NULL), 0);
    shared = timer;
}

TEST(timers_that_are_left_go_with_their_runtime) {
    reset_counts();
    run_fibers(leave_timers);
    CHECK_EQ(weft_timer_stop(shared), -ESTALE);
    CHECK_EQ(atomic_load(&calls), 0);
}

static atomic_int may_go;

static void *hold_on(void *arg) {
    atomic_fetch_add(&calls, 1);
    while (!atomic_load(&may_go))
        weft_yield();
    atomic_fetch_add(&order_count, 1);
    return arg;
}

static void one_at_a_time(void) {
    uint64_t missed = 0;
    weft_timer timer;
    reset_counts();
    atomic_store(&may_go, 0);
    CHECK_EQ(weft_timer_start(&timer, WEFT_NOW, 100 * WEFT_MICROSECOND, hold_on, NULL), 0);
    while (missed < 5) {
        weft_yield();
        CHECK_EQ(weft_timer_missed(timer, &missed), 0);
        CHECK_LE(atomic_load(&calls), 1);
    }
    atomic_store(&may_go, 1);
    WAIT_UNTIL(atomic_load(&calls) >= 3);
    CHECK_EQ(weft_timer_stop(timer), 1);
    WAIT_UNTIL(atomic_load(&order_count) == atomic_load(&calls));
}

TEST(a_function_runs_once_at_a_time_and_the_rest_is_missed) {
    run_fibers(one_at_a_time);
}

static void *keep_busy(void *arg) {
    weft_time until = weft_after(100 * WEFT_MICROSECOND);
    while (weft_now() < until)
        continue;
    return arg;
}

static void leave_tickers(void) {
    weft_timer timer;
    for (int i = 0; i < 8; i++)
        CHECK_EQ(weft_timer_start(&timer, WEFT_NOW, 10 * WEFT_MICROSECOND, keep_busy, NULL), 0);
}

TEST(tickers_that_never_rest_do_not_keep_a_runtime) {
    run_fibers(leave_tickers);
}
