/* SPDX-License-Identifier: MIT
 *
 * spec/loop_lost_test.c - promises and loops whose owner, handler or last holder goes away at an odd moment.
 *
 * Goal: none of them is left pending, waits for itself or is freed under somebody's feet.
 */
#include "support/run.h"
#include "weft/loop_promise.h"
#include "weft/sync.h"

static weft_loop *loop;
static atomic_int is_inside;
static weft_promise *source, *derived, *further;

static weft_reply sleep_in_handler(void *value, void *arg) {
    (void)value, (void)arg;
    atomic_store(&is_inside, 1);
    weft_sleep(weft_after(1000 * WEFT_SECOND));
    return weft_reply_value(NULL);
}

static void *own_the_loop(void *arg) {
    weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
    return arg;
}

static int leave_a_handler_asleep(void *arg) {
    (void)arg;
    CHECK_EQ(weft_loop_promise(loop, &source), 0);
    CHECK_EQ(weft_loop_then(loop, source, &derived, sleep_in_handler, NULL, NULL), 0);
    CHECK_EQ(weft_loop_then(loop, derived, &further, NULL, NULL, NULL), 0);
    CHECK_EQ(weft_promise_resolve(source, NULL), 0);
    CHECK_EQ(weft_go(own_the_loop, NULL), 0);
    while (!atomic_load(&is_inside))
        weft_yield();
    return 0;
}

TEST(a_handler_that_is_dropped_with_its_runtime_leaves_no_promise_pending) {
    weft_options options = {.abandon = true, .quiet = true};
    weft_outcome outcome;
    atomic_store(&is_inside, 0);
    CHECK_EQ(weft_loop_new(&loop, NULL), 0);
    CHECK_EQ(weft_run(&options, leave_a_handler_asleep, NULL), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_EQ(weft_promise_await(derived, &outcome, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(outcome.error, -EPIPE);
    CHECK_EQ(weft_promise_await(further, &outcome, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(outcome.error, -EPIPE);
    weft_promise_unref(further);
    weft_promise_unref(derived);
    weft_promise_unref(source);
    weft_loop_unref(loop);
}

static weft_reply await_time_of_the_loop(void *arg) {
    weft_promise *promises[2];
    weft_outcome outcome;
    (void)arg;
    CHECK_EQ(weft_loop_sleep_promise(loop, &promises[0], 1000 * WEFT_SECOND), 0);
    CHECK_EQ(weft_loop_timeout_promise(loop, &promises[1], 1000 * WEFT_SECOND), 0);
    atomic_store(&is_inside, 1);
    CHECK_EQ(weft_promise_await(promises[0], &outcome, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(outcome.state, WEFT_PROMISE_RESOLVED);
    CHECK_EQ(weft_promise_await(promises[1], &outcome, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(outcome.error, -ETIMEDOUT);
    for (int i = 0; i < 2; i++)
        weft_promise_unref(promises[i]);
    return weft_reply_value(NULL);
}

static void shut_down_under_a_work_that_waits(void) {
    weft_promise *promise;
    weft_outcome outcome;
    atomic_store(&is_inside, 0);
    CHECK_EQ(weft_loop_new(&loop, NULL), 0);
    CHECK_EQ(weft_loop_promisify(loop, &promise, NULL, await_time_of_the_loop, NULL), 0);
    while (!atomic_load(&is_inside))
        weft_yield();
    CHECK_EQ(weft_loop_shutdown(loop, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_promise_await(promise, &outcome, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(outcome.state, WEFT_PROMISE_RESOLVED);
    weft_promise_unref(promise);
    weft_loop_unref(loop);
}

TEST(a_shutdown_does_not_wait_for_a_work_that_waits_for_time_of_the_loop) {
    run_fibers(shut_down_under_a_work_that_waits);
}

static weft_semaphore may_go = WEFT_SEMAPHORE_INIT(0);

static weft_reply give_the_loop_back(void *arg) {
    (void)arg;
    CHECK_EQ(weft_semaphore_acquire(&may_go, 1, WEFT_NEVER), 0);
    weft_loop_unref(loop);
    return weft_reply_value(NULL);
}

static void let_a_work_have_the_last_reference(void) {
    weft_promise *promise;
    weft_outcome outcome;
    CHECK_EQ(weft_loop_new(&loop, NULL), 0);
    CHECK_EQ(weft_loop_promisify(loop, &promise, NULL, give_the_loop_back, NULL), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NOW), 1);
    weft_semaphore_release(&may_go, 1);
    CHECK_EQ(weft_promise_await(promise, &outcome, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(outcome.error, -EPIPE);
    weft_promise_unref(promise);
}

TEST(a_work_may_give_the_last_reference_to_its_loop_back) {
    run_fibers(let_a_work_have_the_last_reference);
}

static weft_reply follow_oneself(void *arg) {
    return weft_reply_follow(weft_promise_ref(*(weft_promise **)arg));
}

/* As in JavaScript; the end of the loop is the end of that, too. */
TEST(a_handler_of_finally_that_returns_what_follows_from_it_leaves_that_pending) {
    weft_outcome outcome;
    CHECK_EQ(weft_loop_new(&loop, &(weft_loop_options){.stays = true}), 0);
    CHECK_EQ(weft_loop_promise(loop, &source), 0);
    CHECK_EQ(weft_loop_finally(loop, source, &derived, follow_oneself, &derived), 0);
    CHECK_EQ(weft_promise_resolve(source, NULL), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK_EQ(weft_promise_poll(derived, &outcome), -EAGAIN);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_promise_poll(derived, &outcome), 0);
    CHECK_EQ(outcome.error, -EPIPE);
    weft_promise_unref(derived);
    weft_promise_unref(source);
    weft_loop_unref(loop);
}
