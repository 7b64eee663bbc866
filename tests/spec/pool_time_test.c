/* SPDX-License-Identifier: MIT
 *
 * spec/pool_time_test.c - what a pool does when time passes: timeouts of works and of the pool, ticks.
 *
 * Moments are checked for being early, never for being late. Numbers in names are those of the scenarios that the pool was
 * specified by.
 */
#include "spec/pool_told.h"

TEST(a_work_is_stopped_when_its_timeout_has_passed_and_not_before) {
    told_begin((weft_pool_options){0});
    weft_time submitted = weft_now();
    weft_work work = submit_stored((weft_work_options){.timeout = 5 * WEFT_MILLISECOND}, until_stopped, NULL);
    weft_result result = result_of(work);
    CHECK_EQ(result.status, WEFT_WORK_TIMED_OUT);
    CHECK_EQ(result.error, -ETIMEDOUT);
    CHECK_GE(weft_now(), submitted + 5 * WEFT_MILLISECOND);
    wait_idle();
    CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 1);
    CHECK_EQ(count_told(WEFT_POOL_WORK_STOPPED), 1);
    struct told event = nth_told(WEFT_POOL_WORK_TIMED_OUT, 0);
    CHECK_EQ(event.event.work.bits, work.bits);
    CHECK_GE(event.when, submitted + 5 * WEFT_MILLISECOND);
    weft_pool_stats stats = pool_stats();
    CHECK_EQ(stats.timed_out, 1);
    CHECK_EQ(stats.running, 0);
    told_end();
}

TEST(a_work_that_ends_in_time_hears_nothing) {
    enum { COUNT = 200 };
    told_begin((weft_pool_options){.work_timeout = 1000 * WEFT_SECOND});
    for (int i = 0; i < COUNT; i++) {
        weft_work_options options = {.deadline = weft_after(1000 * WEFT_SECOND)};
        CHECK_EQ(weft_pool_submit_with(pool, NULL, i % 2 ? &options : NULL, end_at_once, NULL), 0);
    }
    wait_idle();
    CHECK_EQ(atomic_load(&runs), COUNT);
    CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 0);
    told_end();
}

TEST(a_work_that_pays_no_heed_to_its_timeout_has_just_ended) {
    told_begin((weft_pool_options){0});
    weft_work work = submit_stored((weft_work_options){.timeout = WEFT_MILLISECOND}, until_told, NULL);
    WAIT_UNTIL(count_told(WEFT_POOL_WORK_TIMED_OUT) == 1);
    atomic_store(&may_end, 1);
    CHECK_EQ(result_of(work).status, WEFT_WORK_SUCCEEDED);
    told_end();
}

static int veto(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
    return 0;
}

static int until_vetoed(void *arg) {
    (void)arg;
    atomic_int vetoes = 0;
    WAIT_UNTIL(weft_work_is_stopping());
    CHECK(!weft_work_stop_point(veto, &vetoes));
    CHECK_EQ(atomic_load(&vetoes), 1);
    return 7;
}

TEST(a_timeout_that_is_vetoed_is_as_if_it_had_not_been) {
    told_begin((weft_pool_options){0});
    weft_work work = submit_stored((weft_work_options){.timeout = WEFT_MILLISECOND}, until_vetoed, NULL);
    weft_result result = result_of(work);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(result.code, 7);
    wait_idle();
    CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 1);
    CHECK_EQ(count_told(WEFT_POOL_WORK_STOPPED), 0);
    told_end();
}

TEST(the_timeout_of_the_pool_is_for_works_without_their_own) {
    told_begin((weft_pool_options){.work_timeout = 2 * WEFT_MILLISECOND, .work_timeout_action = WEFT_TIMEOUT_FORCE});
    weft_work own = submit_stored((weft_work_options){.timeout = 1000 * WEFT_SECOND}, until_told, NULL);
    weft_work pools = submit_stored((weft_work_options){0}, wait_for_ever, NULL);
    weft_result result = result_of(pools);
    CHECK_EQ(result.status, WEFT_WORK_TIMED_OUT);
    CHECK_EQ(result.code, -ECANCELED);
    atomic_store(&may_end, 1);
    CHECK_EQ(result_of(own).status, WEFT_WORK_SUCCEEDED);
    wait_idle();
    CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 1);
    told_end();
}

static int until_stopped_with_pauses(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    weft_time limit = weft_after(PATIENCE_NS);
    while (!weft_work_stop_point(NULL, NULL)) {
        CHECK_LE(weft_now(), limit);
        if (weft_work_pause_point() == -ECANCELED)
            return -ECANCELED;
        weft_yield();
    }
    return 0;
}

/* False: we were too slow, and it timed out before it was paused. */
static bool stands_still_while_paused(int64_t timeout, bool is_paused_first) {
    told_begin((weft_pool_options){.suspended = is_paused_first});
    weft_time submitted = weft_now();
    weft_work work = submit_stored((weft_work_options){.timeout = timeout}, until_stopped_with_pauses, NULL);
    int error = weft_pool_control(pool, WEFT_PAUSE, work);
    weft_time paused = weft_now();
    bool was_in_time = is_paused_first || paused < submitted + timeout;
    if (is_paused_first)
        CHECK_EQ(weft_pool_start(pool), 0);
    if (was_in_time) {
        CHECK_EQ(error, 0);
        WAIT_UNTIL(atomic_load(&runs) == 1);
        weft_sleep(paused + 2 * timeout);
        CHECK_EQ(weft_pool_control(pool, WEFT_PAUSE, work), 0); /* again: nothing changes */
        CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 0);
        weft_time resuming = weft_now();
        CHECK_EQ(weft_pool_control(pool, WEFT_RESUME, work), 0);
        CHECK_EQ(result_of(work).status, WEFT_WORK_TIMED_OUT);
        CHECK_GE(nth_told(WEFT_POOL_WORK_TIMED_OUT, 0).when, submitted + timeout + (resuming - paused));
        wait_idle();
        CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 1);
    }
    told_end();
    return was_in_time;
}

TEST(scenario_18_the_timeout_of_a_work_stands_still_while_that_work_is_paused) {
    for (int64_t timeout = 20 * WEFT_MILLISECOND; !stands_still_while_paused(timeout, false);)
        timeout *= 2;
    CHECK(stands_still_while_paused(20 * WEFT_MILLISECOND, true));
}

TEST(scenario_19_the_timeout_of_a_work_passes_while_the_pool_is_paused) {
    const weft_timeout_action actions[] = {WEFT_TIMEOUT_STOP, WEFT_TIMEOUT_FORCE};
    for (int i = 0; i < 2; i++) {
        told_begin((weft_pool_options){0});
        CHECK_EQ(weft_pool_control_all(pool, WEFT_PAUSE), 0);
        weft_time submitted = weft_now();
        weft_work_options options = {.timeout = 5 * WEFT_MILLISECOND, .timeout_action = actions[i]};
        weft_work work = submit_stored(options, until_stopped_with_pauses, NULL);
        CHECK_EQ(result_of(work).status, WEFT_WORK_TIMED_OUT);
        CHECK_GE(weft_now(), submitted + 5 * WEFT_MILLISECOND);
        wait_idle();
        CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 1);
        CHECK_EQ(weft_pool_control_all(pool, WEFT_RESUME), 0);
        told_end();
    }
}

static _Atomic weft_time first_run;

static int fail_again_and_again(void *arg) {
    weft_time none = 0;
    (void)arg;
    atomic_compare_exchange_strong(&first_run, &none, weft_now());
    atomic_fetch_add(&runs, 1);
    if (weft_work_stop_point(NULL, NULL))
        return -ECANCELED;
    weft_sleep(weft_after(WEFT_MILLISECOND / 2));
    return -EIO;
}

TEST(scenario_20_one_timeout_for_all_attempts_from_the_first_start) {
    const weft_retry retries[] = {WEFT_RETRY_IMMEDIATE, WEFT_RETRY_REQUEUE};
    for (int i = 0; i < 2; i++) {
        atomic_store(&first_run, 0);
        told_begin((weft_pool_options){0});
        weft_time submitted = weft_now();
        weft_work_options options = {
            .timeout = 20 * WEFT_MILLISECOND, .retry = retries[i], .max_retries = WEFT_RETRY_FOREVER};
        weft_work work = submit_stored(options, fail_again_and_again, NULL);
        weft_result result = result_of(work);
        CHECK(result.status == WEFT_WORK_TIMED_OUT ||
              result.status == WEFT_WORK_FAILED); /* it may fail as it is stopped */
        wait_idle();
        CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 1);
        weft_time rung = nth_told(WEFT_POOL_WORK_TIMED_OUT, 0).when;
        CHECK_GE(rung, submitted + 20 * WEFT_MILLISECOND);
        CHECK_EQ(result.attempts, atomic_load(&runs));
        CHECK_GE(count_told(WEFT_POOL_WORK_STARTED), result.attempts);
        told_end();
    }
}

TEST(scenario_21_a_timeout_that_only_tells_tells_once) {
    told_begin((weft_pool_options){0});
    weft_work_options options = {.timeout = WEFT_MILLISECOND, .timeout_action = WEFT_TIMEOUT_TELL};
    weft_work work = submit_stored(options, until_stopped, NULL);
    WAIT_UNTIL(count_told(WEFT_POOL_WORK_TIMED_OUT) == 1);
    weft_sleep(weft_after(5 * WEFT_MILLISECOND));
    CHECK_EQ(weft_pool_poll_work(pool, work, NULL), -EAGAIN); /* it goes on */
    CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), 0);
    CHECK_EQ(result_of(work).status, WEFT_WORK_STOPPED);
    wait_idle();
    CHECK_EQ(count_told(WEFT_POOL_WORK_TIMED_OUT), 1);
    told_end();
}

TEST(scenario_22_the_pool_times_out_once_in_each_generation) {
    const weft_timeout_action actions[] = {WEFT_TIMEOUT_STOP, WEFT_TIMEOUT_FORCE, WEFT_TIMEOUT_TELL};
    for (int i = 0; i < 3; i++) {
        told_begin((weft_pool_options){.timeout = 5 * WEFT_MILLISECOND, .timeout_action = actions[i]});
        for (int run = 0; run < 2; run++) {
            atomic_store(&runs, 0);
            weft_time submitted = weft_now();
            weft_work work = submit_stored((weft_work_options){0}, until_stopped, NULL);
            WAIT_UNTIL(count_told(WEFT_POOL_TIMED_OUT) == run + 1);
            CHECK_GE(nth_told(WEFT_POOL_TIMED_OUT, run).when, submitted + 5 * WEFT_MILLISECOND);
            if (actions[i] == WEFT_TIMEOUT_TELL)
                CHECK_EQ(weft_pool_control_all(pool, WEFT_STOP), 0);
            weft_work_status status = result_of(work).status;
            CHECK(status == WEFT_WORK_CANCELLED || /* before it began */
                  status == (actions[i] == WEFT_TIMEOUT_FORCE ? WEFT_WORK_FORCE_STOPPED : WEFT_WORK_STOPPED));
            wait_idle();
            CHECK_EQ(count_told(WEFT_POOL_TIMED_OUT), run + 1);
            CHECK_EQ(count_told(WEFT_POOL_IDLED), run + 1);
        }
        told_end();
    }
}

TEST(the_timeout_of_the_pool_stands_still_while_the_pool_is_paused) {
    const int64_t timeout = 20 * WEFT_MILLISECOND;
    told_begin((weft_pool_options){.timeout = timeout, .timeout_action = WEFT_TIMEOUT_TELL});
    weft_time submitted = weft_now();
    CHECK_EQ(weft_pool_submit(pool, NULL, until_told, NULL), 0);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_PAUSE), 0);
    weft_time paused = weft_now();
    weft_sleep(paused + 2 * timeout);
    weft_time resuming = weft_now();
    CHECK_EQ(weft_pool_control_all(pool, WEFT_RESUME), 0);
    WAIT_UNTIL(count_told(WEFT_POOL_TIMED_OUT) == 1);
    if (paused < submitted + timeout)
        CHECK_GE(nth_told(WEFT_POOL_TIMED_OUT, 0).when, submitted + timeout + (resuming - paused));
    atomic_store(&may_end, 1);
    wait_idle();
    /* A pool that is paused when its generation begins: nothing counts before it is resumed. */
    atomic_store(&may_end, 0);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_PAUSE), 0);
    CHECK_EQ(weft_pool_submit(pool, NULL, until_told, NULL), 0);
    weft_sleep(weft_after(2 * timeout));
    CHECK_EQ(count_told(WEFT_POOL_TIMED_OUT), 1);
    resuming = weft_now();
    CHECK_EQ(weft_pool_control_all(pool, WEFT_RESUME), 0);
    WAIT_UNTIL(count_told(WEFT_POOL_TIMED_OUT) == 2);
    CHECK_GE(nth_told(WEFT_POOL_TIMED_OUT, 1).when, resuming + timeout);
    atomic_store(&may_end, 1);
    wait_idle();
    told_end();
}

TEST(a_pool_that_ends_in_time_does_not_time_out) {
    told_begin((weft_pool_options){.timeout = 1000 * WEFT_SECOND});
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
        wait_idle();
    }
    CHECK_EQ(count_told(WEFT_POOL_TIMED_OUT), 0);
    told_end();
}

/* ---- Ticks ---- */

TEST(a_pool_ticks_while_it_is_not_idle) {
    told_begin((weft_pool_options){.tick = 2 * WEFT_MILLISECOND});
    weft_time first_begun = weft_now();
    for (int run = 0; run < 2; run++) {
        atomic_store(&may_end, 0);
        int before = count_told(WEFT_POOL_TICK);
        weft_time begun = weft_now();
        CHECK_EQ(weft_pool_submit(pool, NULL, until_told, NULL), 0);
        WAIT_UNTIL(count_told(WEFT_POOL_TICK) >= before + 3);
        atomic_store(&may_end, 1);
        wait_idle();
        int64_t last = 0;
        for (int i = 0; i < 3; i++) {
            struct told tick = nth_told(WEFT_POOL_TICK, before + i);
            CHECK_GE(tick.when, begun + (i + 1) * 2 * WEFT_MILLISECOND);
            CHECK_GE(tick.event.duration, last + (i == 0 ? 2 * WEFT_MILLISECOND : 0));
            CHECK_LE(tick.event.duration, tick.when - begun);
            last = tick.event.duration;
        }
    }
    /* No tick belongs to the time before the first generation. By the clock: which of the beginning and the first tick is told
     * first is up to the threads that tell them. */
    int ticks = count_told(WEFT_POOL_TICK);
    CHECK_GE(ticks, 6);
    for (int i = 0; i < ticks; i++)
        CHECK_GE(nth_told(WEFT_POOL_TICK, i).when, first_begun + 2 * WEFT_MILLISECOND);
    CHECK_EQ(count_told(WEFT_POOL_STUCK), 0);
    told_end();
}

static atomic_int waited;

static int wait_in_handler(const weft_pool_event *event, void *arg) {
    (void)arg;
    if (event->kind == WEFT_POOL_TIMED_OUT) {
        atomic_store(&may_end, 1);
        CHECK_EQ(weft_pool_wait(event->pool, WEFT_NEVER), 0);
        CHECK_EQ(weft_pool_dispose(event->pool), 0);
        atomic_store(&waited, 1);
    }
    return 0;
}

TEST(a_handler_that_the_clock_calls_may_wait_for_the_pool_and_dispose_of_it) {
    atomic_store(&waited, 0);
    told_begin((weft_pool_options){
        .handler = wait_in_handler, .timeout = WEFT_MILLISECOND, .timeout_action = WEFT_TIMEOUT_TELL});
    CHECK_EQ(weft_pool_submit(pool, NULL, until_told, NULL), 0);
    WAIT_UNTIL(atomic_load(&waited));
    told_end();
}

/* Timeouts, deadlines, stops and ends at random: every work ends exactly once, and everybody is told once. */
struct hurried {
    uint64_t random;
    int64_t length;
};

static atomic_int callbacks;

static int count_callback(const weft_result *result, void *arg) {
    (void)arg;
    CHECK_NE(result->status, WEFT_WORK_PENDING);
    atomic_fetch_add(&callbacks, 1);
    return 0;
}

static int hurried_work(void *arg) {
    const struct hurried *hurried = arg;
    weft_time end = weft_after(hurried->length);
    while (weft_now() < end) {
        if (weft_work_stop_point(NULL, NULL))
            return -ECANCELED;
        if (hurried->random % 3 == 0 && weft_sleep(weft_after(50 * WEFT_MICROSECOND)) == -ECANCELED)
            return -ECANCELED;
        weft_yield();
    }
    return hurried->random % 5 == 0 ? -EIO : 0;
}

TEST(every_work_ends_once_however_late_it_is) {
    enum { COUNT = 400 };
    static struct hurried hurried[COUNT];
    static weft_work works[COUNT];
    uint64_t random = wf_test_seed() | 1;
    int count = (int)scaled(COUNT, 60);
    atomic_store(&callbacks, 0);
    told_begin((weft_pool_options){.callback = count_callback,
                                   .tick = WEFT_MILLISECOND,
                                   .timeout = 20 * WEFT_MILLISECOND,
                                   .timeout_action = WEFT_TIMEOUT_TELL,
                                   .grace = PATIENCE_NS});
    for (int i = 0; i < count; i++) {
        hurried[i] = (struct hurried){.random = random_next(&random),
                                      .length = (int64_t)random_below(&random, 600 * WEFT_MICROSECOND)};
        weft_work_options options = {
            .timeout = random_below(&random, 2) ? 1 + (int64_t)random_below(&random, WEFT_MILLISECOND) : 0,
            .deadline =
                random_below(&random, 2) ? weft_after((int64_t)random_below(&random, 20 * WEFT_MILLISECOND)) : 0,
            .timeout_action = (weft_timeout_action)random_below(&random, 3),
            .retry = (weft_retry)random_below(&random, 3),
            .store_result = random_below(&random, 2),
        };
        CHECK_EQ(weft_pool_submit_with(pool, &works[i], &options, hurried_work, &hurried[i]), 0);
        weft_work other = works[random_below(&random, (uint64_t)i + 1)];
        weft_control control = (weft_control)random_below(&random, WEFT_RESUME + 1);
        if (random_below(&random, 8) == 0)
            weft_pool_control(pool, control, other);
    }
    weft_pool_control_all(pool, WEFT_RESUME);
    wait_idle();
    CHECK_EQ(atomic_load(&callbacks), count);
    weft_pool_stats stats = pool_stats();
    CHECK_EQ(stats.succeeded + stats.failed + stats.cancelled + stats.stopped + stats.force_stopped + stats.timed_out,
             count);
    CHECK_EQ(stats.outstanding, 0);
    CHECK_EQ(stats.abandoned, 0);
    told_end();
}
