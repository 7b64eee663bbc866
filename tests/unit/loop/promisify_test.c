/* SPDX-License-Identifier: MIT
 *
 * unit/loop/promisify_test.c - works that are cancelled, dropped, or lose their loop, at the worst moments.
 *
 * The harness checks after each test that no block is left.
 */
#include "unit/loop/promise.h"

static weft_reply work_runs(void *arg) {
    atomic_fetch_add(&runs, 1);
    return weft_reply_value(arg);
}

static weft_promise *worked;
static void cancel_worked(void) {
    CHECK_EQ(weft_loop_cancel(worked, 0, NULL), 0);
}

static weft_reply waits(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return weft_reply_value(VALUE(weft_sleep(WEFT_NEVER)));
}

static void works_are_cancelled_at_the_door(void) {
    static const char *const points[] = {"promisify.before_enter", "promisify.entered"};
    for (int i = 0; i < 2; i++) {
        begin();
        CHECK_EQ(weft_loop_promisify(loop, &worked, NULL, waits, NULL), 0);
        CHECK_EQ(weft_loop_catch(loop, worked, NULL, count_error, NULL), 0);
        watch_point(points[i], cancel_worked); /* one worker: it has not begun */
        run();
        unwatch_point();
        CHECK_EQ(atomic_load(&runs), 1 + i); /* the handler, and fn only once it was entered */
        CHECK_EQ(outcome_of(worked).error, -ECANCELED);
        weft_loop_unref(loop);
    }
}
TEST(a_work_is_skipped_or_cancelled_wherever_the_cancellation_comes) {
    weft_options options = {.workers = 1};
    run_fibers_with(&options, works_are_cancelled_at_the_door);
}

static void *close_now(void *arg) {
    int status = weft_loop_close(arg, WEFT_NOW);
    CHECK(status == -EINPROGRESS || status == 0);
    return NULL;
}
static void close_loop(void) {
    thread_join(thread_start(close_now, loop));
}
static void work_loses_its_loop(void) {
    static const char *const points[] = {"promisify.before_enter", "promisify.entered", "promisify.before_back"};
    for (int i = 0; i < 3; i++) {
        begin();
        atomic_store(&works_back, 0);
        watch_point(points[i], close_loop);
        CHECK_EQ(weft_loop_promisify(loop, &worked, NULL, work_runs, VALUE(3)), 0);
        int status = weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
        CHECK(status == 0 || status == -EPIPE);
        weft_outcome outcome = outcome_of(worked);
        bool has_value = outcome.state == WEFT_PROMISE_RESOLVED && NUMBER(outcome.value) == 3;
        CHECK(outcome.error == -EPIPE || (has_value && i > 0)); /* once it was entered, it may be faster than the end */
        weft_loop_unref(loop);
        WAIT_UNTIL(atomic_load(&works_back) == 1); /* nobody waits for the work but us */
        unwatch_point();
        CHECK_EQ(atomic_load(&runs), i > 0);
    }
}
TEST(a_work_whose_loop_is_closed_under_it_is_rejected_once) {
    run_fibers(work_loses_its_loop);
}

static void *never_ends(void *arg) {
    (void)arg;
    weft_sleep(WEFT_NEVER);
    return NULL;
}
static void drops_fibers(void) {
    weft_fiber fiber;
    SPAWN(&fiber, never_ends, NULL);
    CHECK_EQ(weft_loop_promisify(loop, &worked, NULL, waits, NULL), 0);
    WAIT_UNTIL(atomic_load(&runs) == 1);
}
TEST(a_work_that_is_dropped_with_its_runtime_rejects) {
    weft_options options = {.abandon = true};
    begin();
    run_fibers_with(&options, drops_fibers);
    CHECK_EQ(weft_loop_catch(loop, worked, NULL, count_error, NULL), 0);
    run();
    CHECK_EQ(atomic_load(&runs), 2);
    CHECK_EQ(outcome_of(worked).error, -ECANCELED);
    weft_loop_unref(loop);
}

static weft_reply value_on_first(void *value, void *arg) {
    (void)arg;
    CHECK(weft_loop_current() == loop);
    weft_loop_unkeep(loop);
    return weft_reply_value(value);
}

/* A fiber's result, which is settled at the very end of the fiber, where it has no stack any more. */
static void *give_seven(void *arg) {
    return arg;
}
static void follows_async(void) {
    begin();
    weft_promise *result, *derived;
    CHECK_EQ(weft_async(&result, give_seven, VALUE(7)), 0);
    CHECK_EQ(weft_loop_then(loop, result, &derived, count_value, NULL, NULL), 0);
    CHECK_EQ(weft_loop_keep(loop), 0);
    CHECK_EQ(weft_loop_then(loop, derived, NULL, value_on_first, NULL, NULL), 0);
    run();
    CHECK_EQ(NUMBER(outcome_of(derived).value), 7);
    CHECK_EQ(atomic_load(&runs), 1);
    weft_promise_unref(result);
    weft_loop_unref(loop);
}
TEST(what_follows_from_a_fiber_runs_on_the_loop) {
    run_fibers(follows_async);
}
