/* SPDX-License-Identifier: MIT
 *
 * unit/loop/metrics_test.c - what a loop says about itself, to the nanosecond.
 *
 * The clock of the process is virtual in most tests here (os/clock.h): it stands, but for a fixed step at each reading, and
 * callbacks take as long as they say by moving it. Where the loop sleeps it is real, and only bounds are checked.
 */
#include "loop/loop.h"
#include "os/clock.h"
#include "os/fault.h"
#include "support/run.h"

static weft_loop *loop;
static int64_t reading; /* what one look at the virtual clock costs */

static void begin_with(weft_loop_options options) {
    options.metrics = true;
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
}
static void begin(void) {
    begin_with((weft_loop_options){0});
}
static void begin_virtual(void) {
    CHECK_EQ(wf_os_clock_replay_begin(), 0);
    int64_t first = wf_os_now();
    reading = wf_os_now() - first;
    begin();
}
static void end_virtual(void) {
    weft_loop_unref(loop);
    wf_os_clock_replay_end();
}
static weft_loop_metrics look(void) {
    weft_loop_metrics metrics;
    CHECK_EQ(weft_loop_get_metrics(loop, &metrics), 0);
    return metrics;
}
static void turn(void) {
    CHECK_GE(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NOW), 0);
}

/* A callback that takes this long. */
static void take_time(void *arg) {
    wf_os_clock_jump(wf_os_now_coarse() + (int64_t)(intptr_t)arg - reading);
}
static void spend(int64_t ns) {
    CHECK_GE(ns, reading);
    CHECK_EQ(weft_loop_submit(loop, take_time, (void *)(intptr_t)ns), 0);
    turn();
}
static void nothing(void *arg) {
    (void)arg;
}

TEST(a_loop_without_metrics_says_so) {
    weft_loop_metrics metrics;
    CHECK_EQ(weft_loop_new(&loop, NULL), 0);
    CHECK_EQ(weft_loop_get_metrics(loop, &metrics), -ENOTSUP);
    CHECK_EQ(weft_loop_get_metrics(NULL, &metrics), -EINVAL);
    CHECK_EQ(weft_loop_get_metrics(loop, NULL), -EINVAL);
    weft_loop_unref(loop);
}

TEST(without_memory_for_metrics_there_is_no_loop) {
    weft_loop_options options = {.metrics = true};
    for (long nth = 1; nth <= 2; nth++) {
        loop = (weft_loop *)&options;
        wf_fault_order_here(WF_CALL_ALLOC, nth, ENOMEM, 0);
        CHECK_EQ(weft_loop_new(&loop, &options), -ENOMEM);
        CHECK_EQ(wf_fault_hits(), 1);
        wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
        CHECK(loop == (weft_loop *)&options);
    }
}

TEST(a_new_loop_has_measured_nothing) {
    begin();
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.callback.count, 0);
    CHECK_EQ(metrics.callback.p99, 0);
    CHECK_EQ(metrics.turns + metrics.callbacks + metrics.panics + metrics.sleeps + metrics.wakes, 0);
    CHECK_EQ(metrics.idle + metrics.active, 0);
    CHECK(metrics.per_second == 0 && metrics.utilisation == 0 && metrics.ingress.average == 0);
    weft_loop_unref(loop);
}

TEST(quantiles_of_up_to_five_values_are_exact) {
    const int64_t durations[] = {5000, 1000, 3000, 2000, 4000};
    const int64_t medians[] = {5000, 1000, 3000, 2000, 3000}; /* the value that half of them do not exceed */
    const int64_t greatest[] = {5000, 5000, 5000, 5000, 5000};
    begin_virtual();
    for (int i = 0; i < 5; i++) {
        spend(durations[i] * 1000);
        weft_loop_metrics metrics = look();
        CHECK_EQ(metrics.callback.count, i + 1);
        CHECK_EQ(metrics.callback.p50, medians[i] * 1000);
        CHECK_EQ(metrics.callback.p90, greatest[i] * 1000);
        CHECK_EQ(metrics.callback.p99, greatest[i] * 1000);
        CHECK_EQ(metrics.callback.max, 5000000);
    }
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.callback.min, 1000000);
    CHECK_EQ(metrics.callback.mean, 3000000);
    CHECK_EQ(metrics.callbacks, 5);
    CHECK_EQ(metrics.turns, 5);
    end_virtual();
}

static int compare_numbers(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}
/* Estimates against the sorted values: how many there are below each. */
static void check_rank(const int64_t *sorted, int count, int64_t estimate, double quantile, double error) {
    int below = 0;
    while (below < count && sorted[below] < estimate)
        below++;
    double rank = (double)below / count;
    if (rank < quantile - error || rank > quantile + error)
        fprintf(stderr, "the estimate for %g is at %g\n", quantile, rank);
    CHECK(rank >= quantile - error && rank <= quantile + error);
}
static void check_estimates(int64_t (*draw)(uint64_t *random), double error) {
    enum { VALUES = 4000 };
    static int64_t values[VALUES];
    uint64_t random = wf_test_seed() | 1;
    int64_t sum = 0;
    begin_virtual();
    for (int i = 0; i < VALUES; i++) {
        values[i] = draw(&random);
        sum += values[i];
        spend(values[i]);
    }
    weft_loop_metrics metrics = look();
    qsort(values, VALUES, sizeof values[0], compare_numbers);
    CHECK_EQ(metrics.callback.count, VALUES);
    CHECK_EQ(metrics.callback.min, values[0]);
    CHECK_EQ(metrics.callback.max, values[VALUES - 1]);
    CHECK_EQ(metrics.callback.mean, sum / VALUES);
    check_rank(values, VALUES, metrics.callback.p50, 0.50, error);
    check_rank(values, VALUES, metrics.callback.p90, 0.90, 0.6 * error);
    check_rank(values, VALUES, metrics.callback.p95, 0.95, 0.6 * error);
    check_rank(values, VALUES, metrics.callback.p99, 0.99, 0.3 * error);
    CHECK_LE(metrics.callback.p50, metrics.callback.p90);
    CHECK_LE(metrics.callback.p90, metrics.callback.p95);
    CHECK_LE(metrics.callback.p95, metrics.callback.p99);
    end_virtual();
}
static int64_t draw_evenly(uint64_t *random) {
    return 100000 + (int64_t)random_below(random, 1000000);
}
/* Halves of halves: many short ones, few very long ones. */
static int64_t draw_with_a_tail(uint64_t *random) {
    int64_t scale = 20000;
    while (scale < (1 << 28) && random_below(random, 2))
        scale *= 2;
    return scale + (int64_t)random_below(random, (uint64_t)scale);
}
TEST(quantiles_of_many_values_are_near) {
    check_estimates(draw_evenly, 0.04);
    check_estimates(draw_with_a_tail, 0.12);
}

static int64_t draw_the_same(uint64_t *random) {
    (void)random;
    return 50000;
}
TEST(quantiles_of_equal_values_are_that_value) {
    begin_virtual();
    for (int i = 0; i < 100; i++)
        spend(draw_the_same(NULL));
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.callback.p50, 50000);
    CHECK_EQ(metrics.callback.p99, 50000);
    CHECK_EQ(metrics.callback.min, 50000);
    end_virtual();
}

/* ---- The rate ---- */

static void let_pass(int64_t ns) {
    wf_os_clock_jump(wf_os_now_coarse() + ns);
}
static bool is_near(double value, double wanted) {
    bool is = value > 0.98 * wanted && value < 1.02 * wanted;
    if (!is)
        fprintf(stderr, "%g is not near %g\n", value, wanted);
    return is;
}
TEST(the_rate_is_over_the_last_ten_seconds) {
    begin_virtual();
    for (int i = 0; i < 100; i++) { /* one in 20 ms: 50 a second */
        let_pass(20 * WEFT_MILLISECOND);
        spend(reading);
    }
    CHECK(is_near(look().per_second, 50)); /* over two seconds */
    for (int i = 0; i < 900; i++) {
        let_pass(20 * WEFT_MILLISECOND);
        spend(reading);
    }
    CHECK(is_near(look().per_second, 50)); /* only the last ten of twenty */
    let_pass(5 * WEFT_SECOND);
    CHECK(is_near(look().per_second, 25));
    let_pass(5 * WEFT_SECOND + 100 * WEFT_MILLISECOND);
    CHECK(look().per_second == 0);
    let_pass(3600 * WEFT_SECOND);
    CHECK(look().per_second == 0);
    spend(reading);
    CHECK(is_near(look().per_second, 0.1));
    end_virtual();
}

/* Looking at it moves the window at most once for each tenth of a second, however often and however many look. */
TEST(the_window_does_not_move_because_it_is_looked_at) {
    begin_virtual();
    for (int i = 0; i < 500; i++) {
        let_pass(20 * WEFT_MILLISECOND);
        spend(reading);
        for (int again = 0; again < 3; again++)
            look();
    }
    CHECK(is_near(look().per_second, 50));
    end_virtual();
}

static void fail(void *arg) {
    take_time(arg);
    weft_panic("on purpose");
}
static void ignore_failure(weft_loop *of, const weft_loop_failure *failure, void *arg) {
    (void)of;
    (void)failure;
    (void)arg;
}
TEST(a_callback_that_panics_counts_but_not_in_the_rate) {
    CHECK_EQ(wf_os_clock_replay_begin(), 0);
    begin_with((weft_loop_options){.on_failure = ignore_failure});
    reading = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_loop_submit(loop, fail, (void *)(intptr_t)1000000), 0);
        CHECK_EQ(weft_loop_microtask(loop, fail, (void *)(intptr_t)1000000), 0);
        turn();
    }
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.panics, 6);
    CHECK_EQ(metrics.callbacks, 6);
    CHECK_GE(metrics.callback.min, 1000000);
    CHECK(metrics.per_second == 0);
    CHECK_EQ(weft_loop_submit(loop, nothing, NULL), 0);
    turn();
    metrics = look();
    CHECK_EQ(metrics.callbacks, 7);
    CHECK(metrics.per_second > 0);
    end_virtual();
}

/* ---- Nesting ---- */

static void run_checkpoint_inside(void *arg) {
    (void)arg;
    wf_os_clock_jump(wf_os_now_coarse() + 1000000);
    CHECK_EQ(weft_loop_microtask(loop, take_time, (void *)(intptr_t)5000000), 0);
    CHECK_EQ(weft_loop_run_checkpoint(loop), 0);
    wf_os_clock_jump(wf_os_now_coarse() + 1000000);
}
TEST(a_checkpoint_inside_a_callback_is_part_of_it) {
    begin_virtual();
    CHECK_EQ(weft_loop_submit(loop, run_checkpoint_inside, NULL), 0);
    turn();
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.callbacks, 2);
    CHECK_EQ(metrics.callback.min, 5000000);
    CHECK_GE(metrics.callback.max, 7000000);
    CHECK_LE(metrics.callback.max, 7000000 + 4 * reading);
    end_virtual();
}

static void fail_inside(void *arg) {
    (void)arg;
    CHECK_EQ(weft_loop_microtask(loop, fail, (void *)(intptr_t)1000000), 0);
    CHECK_EQ(weft_loop_run_checkpoint(loop), 0);
    wf_os_clock_jump(wf_os_now_coarse() + 1000000);
}
TEST(a_panic_in_a_checkpoint_inside_a_callback_counts_for_itself) {
    CHECK_EQ(wf_os_clock_replay_begin(), 0);
    begin_with((weft_loop_options){.on_failure = ignore_failure});
    CHECK_EQ(weft_loop_submit(loop, fail_inside, NULL), 0);
    turn();
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.callbacks, 2);
    CHECK_EQ(metrics.panics, 1);
    CHECK_GE(metrics.callback.max, 2000000);
    CHECK_LE(metrics.callback.min, 1500000);
    end_virtual();
}

/* ---- Queues ---- */

static void add_microtasks(void *arg) {
    for (int i = 0; i < (int)(intptr_t)arg; i++)
        CHECK_EQ(i % 2 ? weft_loop_microtask(loop, nothing, NULL) : weft_loop_next_tick(loop, nothing, NULL), 0);
}
static void add_internal(void *arg) {
    for (int i = 0; i < (int)(intptr_t)arg; i++)
        CHECK_EQ(weft_loop_submit_internal(loop, nothing, NULL), 0);
}
static bool is_close(double value, double wanted) {
    return value > wanted - 0.0001 && value < wanted + 0.0001;
}
TEST(the_depth_of_queues_is_what_the_loop_finds) {
    begin();
    for (int i = 0; i < 4; i++)
        CHECK_EQ(weft_loop_submit(loop, nothing, NULL), 0);
    CHECK_EQ(look().ingress.current, 4);
    CHECK_EQ(look().ingress.max, 4);
    turn();
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.ingress.current, 0);
    CHECK_EQ(metrics.ingress.max, 4);
    CHECK(is_close(metrics.ingress.average, 4));
    CHECK_EQ(weft_loop_submit(loop, nothing, NULL), 0);
    turn();
    CHECK(is_close(look().ingress.average, 0.9 * 4 + 0.1 * 1));
    CHECK_EQ(look().microtask.max, 0);
    CHECK_EQ(weft_loop_submit(loop, add_microtasks, (void *)10), 0);
    turn();
    metrics = look();
    CHECK_EQ(metrics.microtask.current, 10);
    CHECK_EQ(metrics.microtask.max, 10);
    CHECK(is_close(metrics.microtask.average, 1)); /* after five that left none */
    CHECK_EQ(metrics.internal.max, 0);
    CHECK_EQ(weft_loop_submit(loop, add_internal, (void *)6), 0);
    turn();
    turn();
    metrics = look();
    CHECK_EQ(metrics.internal.current, 6);
    CHECK_EQ(metrics.internal.max, 6);
    CHECK(is_close(metrics.internal.average, 0.6));
    weft_loop_unref(loop);
}

/* ---- Delay, turns, sleep ---- */

TEST(a_late_timer_and_a_long_turn_are_seen) {
    begin_virtual();
    CHECK_EQ(weft_set_timeout(loop, NULL, 10 * WEFT_MILLISECOND, nothing, NULL), 0);
    turn();
    CHECK_EQ(look().delay.count, 0);
    let_pass(35 * WEFT_MILLISECOND);
    turn();
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.delay.count, 1);
    CHECK_GE(metrics.delay.max, 25 * WEFT_MILLISECOND - 10 * reading);
    CHECK_LE(metrics.delay.max, 25 * WEFT_MILLISECOND + 100 * reading);
    CHECK_LE(metrics.turn.max, 100 * reading);
    spend(80 * WEFT_MILLISECOND);
    metrics = look();
    CHECK_GE(metrics.turn.max, 80 * WEFT_MILLISECOND);
    CHECK_LE(metrics.turn.max, 80 * WEFT_MILLISECOND + 100 * reading);
    CHECK_EQ(metrics.turn.count, metrics.turns);
    CHECK_GE(metrics.active, 80 * WEFT_MILLISECOND);
    CHECK_LE(metrics.active, 80 * WEFT_MILLISECOND + 300 * reading); /* what passes between two runs does not count */
    CHECK_EQ(metrics.idle, 0);
    CHECK(metrics.utilisation == 1);
    end_virtual();
}

TEST(timers_of_a_virtual_clock_are_late_by_that_clock) {
    begin_with((weft_loop_options){.virtual_time = true});
    CHECK_EQ(weft_set_timeout(loop, NULL, 10, nothing, NULL), 0);
    CHECK_EQ(weft_loop_advance(loop, 17), 0);
    turn();
    turn();
    CHECK_EQ(look().delay.count, 1);
    CHECK_EQ(look().delay.max, 7);
    weft_loop_unref(loop);
}

static void *run_to_end(void *arg) {
    CHECK_EQ(weft_loop_run(arg, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    return NULL;
}
static void sleep_and_wake(void) {
    begin();
    CHECK_EQ(weft_loop_keep(loop), 0);
    weft_loop_ref(loop);
    pthread_t runner = thread_start(run_to_end, loop);
    WAIT_UNTIL(look().sleeps == 1);
    WAIT_UNTIL(look().idle >= 5 * WEFT_MILLISECOND); /* it grows while the loop sleeps */
    CHECK_EQ(look().wakes, 0);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    CHECK_EQ(weft_loop_submit(loop, nothing, NULL), 0);
    WAIT_UNTIL(look().sleeps == 2);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.wakes, 1);
    CHECK(metrics.utilisation < 1);
    CHECK_GE(metrics.active, 0);
    weft_loop_unkeep(loop);
    thread_join(runner);
    metrics = look();
    CHECK_EQ(metrics.wakes, 2);
    CHECK_EQ(metrics.sleeps, 2);
    CHECK_EQ(metrics.callbacks, 1);
    int64_t idle = metrics.idle, active = metrics.active;
    metrics = look();
    CHECK_EQ(metrics.idle, idle); /* it is over */
    CHECK_EQ(metrics.active, active);
    weft_loop_unref(loop);
    weft_loop_unref(loop);
}
TEST(sleeps_wakes_and_idle_time_are_counted) {
    sleep_and_wake();
}

/* A timer that is due before the loop sleeps is set again, until the loop has slept for a millisecond. */
static uint64_t timers_set;
static weft_time sleep_limit;
static void sleep_again(void *arg) {
    CHECK_LE(weft_now(), sleep_limit);
    if (look().idle >= WEFT_MILLISECOND)
        return;
    timers_set++;
    CHECK_EQ(weft_set_timeout(loop, NULL, 3 * WEFT_MILLISECOND, sleep_again, arg), 0);
}
static void sleep_for_timers(void) {
    timers_set = 0;
    sleep_limit = weft_after(PATIENCE_NS);
    begin();
    sleep_again(NULL);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
}

TEST(a_timer_ends_a_sleep_without_a_wake) {
    sleep_for_timers();
    weft_loop_metrics metrics = look();
    CHECK_GE(metrics.sleeps, 1);
    CHECK_EQ(metrics.wakes, 0);
    CHECK_EQ(metrics.delay.count, timers_set);
    weft_loop_unref(loop);
}

/* ---- From everywhere ---- */

static atomic_int is_done;
static void *look_again_and_again(void *arg) {
    uint64_t seen = 0;
    (void)arg;
    while (!atomic_load(&is_done)) {
        weft_loop_metrics metrics = look();
        CHECK_GE(metrics.callbacks, seen);
        CHECK_LE(metrics.callback.min, metrics.callback.max);
        CHECK_LE(metrics.callback.p50, metrics.callback.max);
        CHECK(metrics.utilisation >= 0 && metrics.utilisation <= 1);
        seen = metrics.callbacks;
    }
    return NULL;
}
static long submits;
static void *submit_many(void *arg) {
    (void)arg;
    for (long i = 0; i < submits; i++)
        CHECK_EQ(weft_loop_submit(loop, i % 16 ? nothing : add_microtasks, (void *)1), 0);
    return NULL;
}
static void snapshots_amid_work(void) {
    enum { LOOKERS = 2, SUBMITTERS = 2 };
    pthread_t lookers[LOOKERS], submitters[SUBMITTERS];
    submits = scaled(20000, 500);
    atomic_store(&is_done, 0);
    begin();
    CHECK_EQ(weft_loop_keep(loop), 0);
    weft_loop_ref(loop);
    pthread_t runner = thread_start(run_to_end, loop);
    for (int i = 0; i < LOOKERS; i++)
        lookers[i] = thread_start(look_again_and_again, NULL);
    for (int i = 0; i < SUBMITTERS; i++)
        submitters[i] = thread_start(submit_many, NULL);
    for (int i = 0; i < SUBMITTERS; i++)
        thread_join(submitters[i]);
    weft_loop_unkeep(loop);
    thread_join(runner);
    atomic_store(&is_done, 1);
    for (int i = 0; i < LOOKERS; i++)
        thread_join(lookers[i]);
    weft_loop_metrics metrics = look();
    CHECK_EQ(metrics.callbacks, (uint64_t)(SUBMITTERS * (submits + (submits + 15) / 16)));
    CHECK_EQ(metrics.panics, 0);
    CHECK_EQ(metrics.ingress.current, 0);
    weft_loop_unref(loop);
    weft_loop_unref(loop);
}
TEST(snapshots_from_other_threads_are_whole) {
    snapshots_amid_work();
}

static void measure_a_fiber(void) {
    sleep_for_timers();
    CHECK_EQ(look().callbacks, timers_set);
    weft_loop_unref(loop);
}
TEST(a_loop_in_a_fiber_is_measured_alike) {
    run_fibers(measure_a_fiber);
}
