/* SPDX-License-Identifier: MIT
 *
 * spec/promisify_test.c - functions that run on fibers, pools and threads and settle a promise on a loop.
 */
#include "spec/loop_promise.h"

static weft_reply work_value(void *arg) {
    return weft_reply_value(VALUE(NUMBER(arg) + 1));
}
static weft_reply work_error(void *arg) {
    snprintf(arg, 16, "of the stack");
    return weft_reply_error(-EBUSY, arg);
}
static weft_reply work_exits(void *arg) {
    weft_exit(arg);
}
static weft_reply work_shuts_down(void *arg) {
    return weft_reply_value(VALUE(weft_loop_shutdown(arg, WEFT_NEVER)));
}

static weft_promise *promisify(const weft_promisify_options *options, weft_loop_work fn, void *arg) {
    weft_promise *promise;
    CHECK_EQ(weft_loop_promisify(loop, &promise, options, fn, arg), 0);
    return promise;
}

static void works_everywhere(const weft_promisify_options *options) {
    char text[16];
    begin();
    weft_promise *value = promisify(options, work_value, VALUE(41));
    weft_promise *panicked = quietly(promisify(options, panics, "a work"));
    weft_promise *followed = promisify(options, finally_follows, resolved(6));
    weft_promise *failed = quietly(promisify(options, work_error, text));
    run();
    CHECK_ERROR(failed, -EBUSY, "of the stack");
    CHECK_VALUE(value, 42);
    CHECK_ERROR(panicked, -EOWNERDEAD, "in a work");
    CHECK_VALUE(followed, 6);
    end();
    begin();
    weft_promise *shut = promisify(options, work_shuts_down, loop);
    int status = weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
    CHECK(status == 0 || status == -EPIPE); /* which is when the work was faster */
    CHECK_EQ(weft_loop_join(loop, weft_after(PATIENCE_NS)), 0);
    CHECK_VALUE(shut, -EINPROGRESS);
    end();
}

static void on_fibers(void) {
    works_everywhere(NULL);
    begin();
    weft_promise *left = quietly(promisify(NULL, work_exits, NULL));
    run();
    CHECK_EQ(outcome_of(left).error, -EOWNERDEAD);
    end();
}
TEST(a_work_on_a_fiber_settles_its_promise_whatever_it_does) {
    run_fibers(on_fibers);
}

static void on_threads(void) {
    weft_promisify_options options = {.where = WEFT_ON_THREAD};
    works_everywhere(&options);
}
TEST(a_work_on_a_thread_settles_its_promise_whatever_it_does) {
    run_fibers(on_threads);
}

TEST(a_work_in_a_pool_settles_its_promise_whatever_it_does) {
    weft_promisify_options options = {.where = WEFT_ON_POOL};
    CHECK_EQ(weft_pool_new(&options.pool, NULL), 0);
    works_everywhere(&options);
    weft_pool_free(options.pool);
}

TEST(without_a_runtime_there_is_no_fiber_for_a_work) {
    begin();
    weft_promise *out;
    CHECK_EQ(weft_loop_promisify(loop, &out, NULL, work_value, NULL), -ESRCH);
    run();
    end();
}

static weft_reply wait_for_cancel(void *arg) {
    atomic_store((atomic_int *)arg, 1);
    int status = weft_sleep(WEFT_NEVER);
    char text[64];
    CHECK_EQ(weft_cancel_reason(text, sizeof text), -EINTR);
    CHECK_TEXT(text, "enough");
    atomic_store((atomic_int *)arg, 2);
    return weft_reply_value(VALUE(status));
}

static weft_promise *victim;
static void cancel_victim(void *arg) {
    WAIT_UNTIL(atomic_load((atomic_int *)arg) == 1);
    CHECK_EQ(weft_loop_cancel(victim, 1, NULL), -EINVAL);
    CHECK_EQ(weft_loop_cancel(victim, -EINTR, "enough"), 0);
    CHECK_EQ(weft_loop_cancel(victim, -EINTR, "enough"), -EALREADY);
}

static void cancels(const weft_promisify_options *options) {
    atomic_int step = 0;
    begin();
    victim = quietly(promisify(options, wait_for_cancel, &step));
    CHECK_EQ(weft_loop_submit(loop, cancel_victim, &step), 0);
    run();
    CHECK_EQ(atomic_load(&step), 2); /* the loop has waited for it */
    CHECK_ERROR(victim, -EINTR, "enough");
    end();
}
static void cancels_fiber(void) {
    cancels(NULL);
    weft_promisify_options options = {.where = WEFT_ON_THREAD};
    cancels(&options);
}
TEST(a_cancelled_work_on_a_fiber_is_woken_and_its_promise_rejected) {
    run_fibers(cancels_fiber);
}
TEST(a_cancelled_work_in_a_pool_is_woken_and_its_promise_rejected) {
    weft_promisify_options options = {.where = WEFT_ON_POOL};
    CHECK_EQ(weft_pool_new(&options.pool, NULL), 0);
    cancels(&options);
    weft_pool_free(options.pool);
}

static weft_reply must_not_run(void *arg) {
    (void)arg;
    CHECK(!"a work that nobody wants was begun");
    return weft_reply_value(NULL);
}

TEST(a_work_whose_signal_is_aborted_is_skipped) {
    weft_promisify_options options = {.where = WEFT_ON_POOL};
    CHECK_EQ(weft_pool_new(&options.pool, NULL), 0);
    CHECK_EQ(weft_abort_new(&options.signal), 0);
    weft_abort_reason reason = {.error = -EINTR, .text = "before"};
    CHECK_EQ(weft_abort_fire(options.signal, &reason), 0);
    begin();
    weft_promise *promise = quietly(promisify(&options, must_not_run, NULL));
    run();
    CHECK_ERROR(promise, -EINTR, "before");
    end();
    weft_abort_unref(options.signal);
    weft_pool_free(options.pool);
}

static void abort_signal(void *arg) {
    weft_abort_reason reason = {.error = -EINTR, .text = "enough"};
    atomic_int *step = ((void **)arg)[0];
    WAIT_UNTIL(atomic_load(step) == 1);
    CHECK_EQ(weft_abort_fire(((void **)arg)[1], &reason), 0);
}

TEST(a_signal_cancels_a_work_that_runs) {
    atomic_int step = 0;
    weft_promisify_options options = {.where = WEFT_ON_POOL};
    CHECK_EQ(weft_pool_new(&options.pool, NULL), 0);
    CHECK_EQ(weft_abort_new(&options.signal), 0);
    begin();
    weft_promise *promise = quietly(promisify(&options, wait_for_cancel, &step));
    weft_promise *other = promisify(&options, work_value, NULL); /* which it does not reach in time */
    void *both[] = {&step, options.signal};
    WAIT_UNTIL(atomic_load(&step) == 1);
    WAIT_UNTIL(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER) == 1 && weft_promise_poll(other, NULL) == 0);
    abort_signal(both);
    run();
    CHECK_ERROR(promise, -EINTR, "enough");
    CHECK_VALUE(other, 1);
    end();
    weft_abort_unref(options.signal);
    weft_pool_free(options.pool);
}

TEST(a_pool_that_ends_rejects_what_it_has_not_begun) {
    weft_pool_options suspended = {.suspended = true};
    weft_promisify_options options = {.where = WEFT_ON_POOL};
    CHECK_EQ(weft_pool_new(&options.pool, &suspended), 0);
    begin();
    weft_promise *promise = quietly(promisify(&options, must_not_run, NULL));
    CHECK_EQ(weft_pool_dispose(options.pool), 0);
    run();
    CHECK_EQ(outcome_of(promise).error, -ECANCELED);
    weft_promise *out;
    CHECK_EQ(weft_loop_promisify(loop, &out, &options, must_not_run, NULL), -EPIPE);
    end();
    begin();
    CHECK_EQ(weft_loop_promisify(loop, &out, &options, must_not_run, NULL), -ESHUTDOWN);
    run();
    end();
    weft_pool_free(options.pool);
}

TEST(a_work_that_was_not_begun_when_the_loop_closed_is_skipped) {
    weft_pool_options suspended = {.suspended = true};
    weft_promisify_options options = {.where = WEFT_ON_POOL};
    CHECK_EQ(weft_pool_new(&options.pool, &suspended), 0);
    begin();
    weft_promise *promise = promisify(&options, must_not_run, NULL);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_promise_poll(promise, NULL), 0);
    CHECK_EQ(weft_pool_start(options.pool), 0);
    CHECK_EQ(weft_pool_wait(options.pool, WEFT_NEVER), 0);
    CHECK_EQ(outcome_of(promise).error, -EPIPE);
    end();
    weft_pool_free(options.pool);
}
