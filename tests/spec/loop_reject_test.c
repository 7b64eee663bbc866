/* SPDX-License-Identifier: MIT
 *
 * spec/loop_reject_test.c - rejections that nobody handles, time, and what the end of a loop means for its promises.
 */
#include "spec/loop_promise.h"

static weft_reply tick(void *value, void *arg) {
    (void)value;
    note((char)('0' + NUMBER(arg)));
    return weft_reply_value(NULL);
}

static weft_reply reject_and_catch_later(void *value, void *arg) {
    (void)value, (void)arg;
    weft_promise *promise = rejected(-EIO);
    weft_promise_unref(then(resolved(1), one, NULL, NULL));
    *(weft_promise **)arg = promise;
    return weft_reply_value(NULL);
}

static weft_reply catch_it(void *value, void *arg) {
    (void)value;
    weft_promise_unref(quietly(*(weft_promise **)arg));
    return weft_reply_value(NULL);
}

TEST(a_handler_of_the_same_checkpoint_is_in_time) {
    begin();
    weft_promise *late;
    weft_promise_unref(then(then(resolved(1), reject_and_catch_later, NULL, &late), catch_it, NULL, &late));
    run();
    CHECK_EQ(unhandled, 0);
    end();
}

TEST(a_rejection_without_a_handler_is_told_once_at_the_end_of_the_checkpoint) {
    begin();
    weft_promise *promise = rejected(-EIO);
    ticks_of(tick, 3);
    run();
    CHECK_TEXT(trace, "123u");
    CHECK_EQ(last_error, -EIO);
    weft_promise_unref(promise); /* and not once more */
    end();
}

TEST(the_duty_to_handle_goes_to_the_derived_promise) {
    begin();
    weft_promise_unref(then(then(rejected(-EIO), one, NULL, NULL), one, NULL, NULL));
    run();
    CHECK_EQ(unhandled, 1);
    end();
}

static void attach(void *promise) {
    weft_promise_unref(quietly(promise));
}

TEST(a_handler_that_comes_late_is_told) {
    begin();
    weft_promise *promise = rejected(-EIO);
    CHECK_EQ(weft_loop_submit(loop, attach, promise), 0);
    CHECK_EQ(weft_loop_submit(loop, attach, weft_promise_ref(promise)), 0);
    run();
    CHECK_TEXT(trace, "uh");
    CHECK_EQ(handled_late, 1);
    end();
}

static void look(void *promise) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_poll(promise, &outcome), 0);
    CHECK_EQ(outcome.error, -EIO);
    weft_promise_unref(promise);
}

TEST(looking_at_a_rejection_counts_as_handling) {
    begin();
    look(rejected(-EIO));
    CHECK_EQ(weft_loop_submit(loop, look, rejected(-EIO)), 0);
    run();
    CHECK_TEXT(trace, "uh");
    end();
}

static void unhandled_panics(weft_loop *of, weft_promise *promise, const weft_outcome *outcome, void *arg) {
    (void)of, (void)promise, (void)outcome, (void)arg;
    unhandled++;
    weft_panic("hook");
}
static void failure_count(weft_loop *of, const weft_loop_failure *failure, void *arg) {
    (void)of, (void)arg;
    CHECK_TEXT(failure->message, "hook");
    handled_late++;
}

TEST(a_hook_that_panics_does_not_end_the_loop) {
    weft_loop_options options = {.on_unhandled = unhandled_panics, .on_failure = failure_count};
    unhandled = handled_late = 0;
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    weft_promise_unref(rejected(-EIO));
    weft_promise_unref(rejected(-EIO));
    run();
    CHECK_EQ(unhandled, 2);
    CHECK_EQ(handled_late, 2);
    end();
}

/* Time. */
TEST(sleep_and_timeout_are_settled_by_the_clock_or_by_the_end) {
    weft_loop_options options = {.virtual_time = true};
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    weft_promise *slept, *late, *never, *never_late;
    CHECK_EQ(weft_loop_sleep_promise(loop, &slept, 5 * WEFT_SECOND), 0);
    CHECK_EQ(weft_loop_timeout_promise(loop, &late, 6 * WEFT_SECOND), 0);
    quietly(late);
    CHECK_EQ(weft_promise_resolve(slept, NULL), -EALREADY);
    weft_time start = weft_loop_now(loop);
    while (weft_promise_poll(late, NULL) == -EAGAIN)
        CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_ONCE, WEFT_NEVER) < 0, 0);
    CHECK_EQ(weft_loop_now(loop) - start, 6 * WEFT_SECOND);
    CHECK_VALUE(slept, 0);
    CHECK_EQ(outcome_of(late).error, -ETIMEDOUT);
    CHECK_EQ(weft_loop_sleep_promise(loop, &never, WEFT_SECOND), 0);
    CHECK_EQ(weft_loop_timeout_promise(loop, &never_late, WEFT_SECOND), 0);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_VALUE(never, 0);
    CHECK_EQ(outcome_of(never_late).error, -ETIMEDOUT);
    CHECK_EQ(weft_loop_sleep_promise(loop, &never, 0), -EPIPE);
    end();
}

/* The end. */
static weft_reply count_run(void *value, void *arg) {
    (void)value;
    ++*(int *)arg;
    return weft_reply_value(NULL);
}
static weft_reply count_error(const weft_outcome *outcome, void *arg) {
    CHECK_EQ(outcome->error, -EPIPE);
    ++*(int *)arg;
    return weft_reply_value(VALUE(5));
}

TEST(shutdown_rejects_what_is_pending_and_its_handlers_still_run) {
    int runs = 0;
    begin();
    weft_promise *promise = pending();
    weft_promise *caught = then(weft_promise_ref(promise), NULL, count_error, &runs);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_EQ(runs, 1);
    CHECK_EQ(outcome_of(promise).error, -EPIPE);
    CHECK_VALUE(caught, 5);
    CHECK_EQ(unhandled, 0);
    end();
}

TEST(close_rejects_all_of_a_chain_and_no_handler_runs) {
    int runs = 0;
    begin();
    weft_promise *promise = pending(), *settled = resolved(1), *plain;
    CHECK_EQ(weft_promise_new(&plain), 0);
    weft_promise *chain = then(then(weft_promise_ref(promise), count_run, count_error, &runs), count_run, NULL, &runs);
    weft_promise *queued = then(settled, count_run, NULL, &runs);
    weft_promise *foreign = then(weft_promise_ref(plain), count_run, NULL, &runs);
    weft_promise *both = combined(weft_loop_all, weft_promise_ref(promise), weft_promise_ref(plain), NULL);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(runs, 0);
    CHECK_EQ(outcome_of(promise).error, -EPIPE);
    CHECK_EQ(outcome_of(chain).error, -EPIPE);
    CHECK_EQ(outcome_of(queued).error, -EPIPE);
    CHECK_EQ(outcome_of(foreign).error, -EPIPE);
    CHECK_EQ(outcome_of(both).error, -EPIPE);
    CHECK_EQ(weft_promise_resolve(plain, NULL), 0); /* too late, and harmless */
    weft_promise_unref(plain);
    CHECK_EQ(unhandled, 0);
    end();
}

TEST(after_the_end_promises_are_refused_and_what_is_derived_is_rejected_at_once) {
    int runs = 0;
    begin();
    weft_promise *promise = resolved(1), *out, *plain;
    CHECK_EQ(weft_promise_new(&plain), 0);
    run();
    CHECK_EQ(weft_loop_promise(loop, &out), -EPIPE);
    CHECK_EQ(weft_loop_try(loop, &out, finally_plain, NULL), -EPIPE);
    CHECK_EQ(weft_loop_promisify(loop, &out, NULL, finally_plain, NULL), -EPIPE);
    CHECK_EQ(outcome_of(then(promise, count_run, NULL, &runs)).error, -EPIPE);
    CHECK_EQ(outcome_of(then(plain, count_run, NULL, &runs)).error, -EPIPE);
    CHECK_EQ(weft_loop_race(loop, &out, NULL, 0), 0);
    CHECK_EQ(outcome_of(out).error, -EPIPE);
    CHECK_EQ(runs, 0);
    end();
}

TEST(promises_outlive_their_loop) {
    begin();
    weft_promise *promise = resolved(1), *waiting = pending();
    run();
    end();
    CHECK_EQ(weft_promise_resolve(waiting, NULL), -EALREADY);
    CHECK_EQ(outcome_of(waiting).error, -EPIPE);
    CHECK_VALUE(promise, 1);
}

/* Bridges: fibers and threads. */
static void *await_it(void *promise) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(promise, &outcome, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(outcome.state, WEFT_PROMISE_REJECTED);
    return VALUE(outcome.error);
}

static void reject_it(void *promise) {
    CHECK_EQ(weft_promise_reject(promise, -EBUSY, NULL), 0);
}

static void waiters_handle(void) {
    begin();
    weft_promise *promise = pending();
    weft_fiber fiber;
    void *result;
    SPAWN(&fiber, await_it, promise);
    weft_yield();
    CHECK_EQ(weft_loop_submit(loop, reject_it, promise), 0);
    run();
    JOIN(fiber, &result);
    CHECK_EQ(NUMBER(result), -EBUSY);
    CHECK_LE(unhandled, handled_late + 1); /* told only if the fiber was not there yet */
    weft_promise_unref(promise);
    end();
}
TEST(a_fiber_may_wait_for_a_promise_of_a_loop) {
    run_fibers(waiters_handle);
}

TEST(a_settled_promise_is_ready_for_everybody_with_no_loop_running) {
    begin();
    weft_promise *promise = rejected(-EIO), *other = pending();
    weft_outcome outcome;
    for (int i = 0; i < 2; i++) { /* as often as one likes */
        weft_case cases[] = {weft_on_promise(other, NULL), weft_on_promise(promise, &outcome)};
        CHECK_EQ(weft_select(cases, 2, WEFT_NOW), 1);
        CHECK_EQ(outcome.error, -EIO);
        CHECK_EQ(weft_promise_await(promise, &outcome, WEFT_NEVER), 0);
        CHECK_TEXT(outcome.text, "on purpose");
    }
    run();
    CHECK_EQ(unhandled, 0);
    weft_promise_unref(promise);
    weft_promise_unref(other);
    end();
}

TEST(a_promise_remembers_where_it_was_made_if_the_loop_is_asked_to) {
    const void *frames[WEFT_TRACE_MOST];
    weft_promise *promise, *plain;
    weft_loop_options options = {.traces = true, .on_unhandled = count_unhandled};
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    CHECK_EQ(weft_loop_promise(loop, &promise), 0);
    int count = weft_loop_promise_trace(promise, frames, WEFT_TRACE_MOST);
    CHECK_GE(count, 1);
    CHECK_LE(count, WEFT_TRACE_MOST);
    for (int i = 0; i < count; i++)
        CHECK(frames[i] != NULL);
    CHECK_EQ(weft_loop_promise_trace(promise, NULL, 0), count);
    CHECK_EQ(weft_loop_promise_trace(promise, frames, 1), count);
    CHECK_EQ(weft_loop_promise_trace(promise, NULL, 1), -EINVAL);
    CHECK_EQ(weft_loop_promise_trace(promise, frames, -1), -EINVAL);
    CHECK_EQ(weft_loop_promise_trace(NULL, frames, 1), -EINVAL);
    CHECK_EQ(weft_promise_new(&plain), 0);
    CHECK_EQ(weft_loop_promise_trace(plain, frames, 1), -EINVAL);
    weft_promise_unref(plain);
    weft_promise_unref(promise);
    end();
}

TEST(without_being_asked_nothing_is_remembered) {
    begin();
    weft_promise *promise = pending();
    const void *frame;
    CHECK_EQ(weft_loop_promise_trace(promise, &frame, 1), 0);
    weft_promise_unref(promise);
    end();
}
