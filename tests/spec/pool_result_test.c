/* SPDX-License-Identifier: MIT
 *
 * spec/pool_result_test.c - what comes of a work: results, those that are stored, callbacks, promises.
 *
 * A result that is not stored is known to those who wait for it only; so works whose result is looked at later store it, or are
 * kept from running until somebody waits. Waiting itself is in spec/pool_wait_test.c.
 */
#include "spec/pool.h"

enum { FEW = 8, MANY = 500 };

static atomic_int runs;
static const weft_work_options stores = {.store_result = true};

static int return_arg(void *arg) {
    return (int)(intptr_t)arg;
}

/* ---- What the result says ---- */

static int give_value(void *arg) {
    CHECK_EQ(weft_work_set_value(&runs), 0);
    CHECK_EQ(weft_work_set_value(arg), 0);
    return 5;
}

static void look_at_results(void) {
    weft_pool *pool = make_pool(NULL);
    int value;
    weft_result result = result_of(pool, submit_with(pool, &stores, give_value, &value));
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(result.error, 0);
    CHECK_EQ(result.code, 5);
    CHECK(result.value == &value);
    CHECK_EQ(result.attempts, 1);
    CHECK_EQ(result.cause.bits, 0);
    CHECK_EQ(result.submitted | result.started | result.ended | result.run_ns, 0);
    result = result_of(pool, submit_with(pool, &stores, return_arg, (void *)(intptr_t)-EIO));
    CHECK_EQ(result.status, WEFT_WORK_FAILED);
    CHECK_EQ(result.error, -EIO);
    CHECK_EQ(result.code, -EIO);
    CHECK(result.value == NULL);
    CHECK_EQ(result.attempts, 1);
    end_pool(pool);
}

TEST(a_result_says_what_the_work_returned) {
    everywhere(look_at_results);
}

static void leave_by_panic(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
}

static int panic_now(void *arg) {
    CHECK_EQ(weft_defer(leave_by_panic, arg), 0);
    weft_panic("that is enough");
}

static int exit_now(void *arg) {
    CHECK_EQ(weft_defer(leave_by_panic, arg), 0);
    weft_exit(arg);
}

static int leave_something(void *arg) {
    CHECK_EQ(weft_defer(leave_by_panic, arg), 0);
    return 3;
}

/* Deferred calls have run when the work is over. */
TEST(a_panic_is_a_failure_and_the_end_of_the_fiber_a_success) {
    weft_pool *pool = make_pool_of(1);
    atomic_store(&runs, 0);
    weft_result result = result_of(pool, submit_with(pool, &stores, panic_now, &runs));
    CHECK_EQ(result.status, WEFT_WORK_FAILED);
    CHECK_EQ(result.error, -EOWNERDEAD);
    CHECK_EQ(atomic_load(&runs), 1);
    result = result_of(pool, submit_with(pool, &stores, exit_now, &runs));
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(atomic_load(&runs), 2);
    result = result_of(pool, submit_with(pool, &stores, leave_something, &runs));
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(result.code, 3);
    CHECK_EQ(atomic_load(&runs), 3);
    CHECK_EQ(pool_stats(pool).failed, 1);
    CHECK_EQ(pool_stats(pool).succeeded, 2);
    end_pool(pool);
}

static weft_key key;

static int set_local(void *arg) {
    CHECK(weft_local_get(key) == NULL);
    CHECK_EQ(weft_local_set(key, arg), 0);
    CHECK_EQ(weft_set_name("mine"), 0);
    CHECK_EQ(weft_set_priority(WEFT_PRIORITY_LOW), 0);
    return 0;
}

TEST(no_work_sees_what_another_has_left_in_its_fiber) {
    weft_pool *pool = make_pool_of(1);
    CHECK_EQ(weft_key_new(&key, NULL), 0);
    weft_work works[FEW];
    CHECK_EQ(weft_pool_hold(pool), 0); /* one generation, however fast they are */
    for (int i = 0; i < FEW; i++)
        works[i] = submit_with(pool, &stores, set_local, &runs);
    for (int i = 0; i < FEW; i++)
        CHECK_EQ(result_of(pool, works[i]).status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(weft_pool_release(pool), 0);
    CHECK_EQ(weft_key_free(key), 0);
    end_pool(pool);
}

TEST(moments_are_there_when_the_pool_measures) {
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 1, .measure = true});
    weft_time before = weft_now();
    weft_result result = result_of(pool, submit_with(pool, &stores, return_arg, NULL));
    CHECK_LE(before, result.submitted);
    CHECK_LE(result.submitted, result.started);
    CHECK_LE(result.started, result.ended);
    CHECK_LE(result.ended, weft_now());
    CHECK_LE(result.run_ns, result.ended - result.started);
    CHECK_GE(result.run_ns, 0);
    occupy(pool, 1);
    weft_work work = submit_with(pool, &stores, return_arg, (void *)9);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), 0);
    result = result_of(pool, work);
    CHECK_EQ(result.started, 0);
    CHECK_LE(result.submitted, result.ended);
    let_go();
    end_pool(pool);
}

static weft_result last_result;

static int keep_result(const weft_result *result, void *arg) {
    last_result = *result;
    atomic_fetch_add((atomic_int *)arg, 1);
    return 0;
}

/* The record of a work was another one's before. */
TEST(the_result_of_a_work_that_never_began_has_nothing_of_an_earlier_one) {
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 1, .callback = keep_result, .callback_arg = &runs});
    for (int i = 0; i < MANY; i++)
        submit(pool, return_arg, (void *)(i % 2 ? 7 : (intptr_t)-EIO));
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    occupy(pool, 1);
    for (int i = 0; i < MANY; i++) {
        weft_work work = submit(pool, return_arg, NULL);
        CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), 0);
        CHECK_EQ(last_result.work.bits, work.bits);
        CHECK_EQ(last_result.status, WEFT_WORK_CANCELLED);
        CHECK_EQ(last_result.error, -ECANCELED);
        CHECK_EQ(last_result.code, 0);
        CHECK_EQ(last_result.attempts, 0);
        CHECK(last_result.value == NULL);
    }
    let_go();
    end_pool(pool);
}

/* ---- Stored results ---- */

static void store_and_remove(void) {
    weft_pool *pool = make_pool_of(1);
    weft_work found;
    weft_result result;
    occupy(pool, 1);
    weft_work_options options = {.store_result = true, .id = {.text = "kept"}};
    weft_work work = submit_with(pool, &options, return_arg, (void *)31);
    CHECK_EQ(weft_pool_remove(pool, work), -EBUSY);
    CHECK_EQ(weft_pool_remove(NULL, work), -EINVAL);
    CHECK_EQ(pool_stats(pool).stored, 0);
    let_go();
    CHECK_EQ(result_of(pool, work).code, 31);
    CHECK_EQ(result_of(pool, work).code, 31); /* as often as one likes */
    CHECK_EQ(weft_pool_poll_work(pool, work, &result), 0);
    CHECK_EQ(result.code, 31);
    CHECK_EQ(weft_pool_wait_work(pool, work, NULL, WEFT_NOW), 0);
    CHECK_EQ(weft_pool_help_work(pool, work, &result, WEFT_NOW), 0);
    CHECK_EQ(weft_pool_find(pool, options.id, &found), 0);
    CHECK_EQ(found.bits, work.bits);
    CHECK_EQ(pool_stats(pool).stored, 1);
    CHECK_EQ(weft_pool_remove(pool, work), 0);
    CHECK_EQ(weft_pool_remove(pool, work), -ESTALE);
    CHECK_EQ(weft_pool_poll_work(pool, work, &result), -ESTALE);
    CHECK_EQ(weft_pool_find(pool, options.id, &found), -ENOENT);
    CHECK_EQ(pool_stats(pool).stored, 0);
    end_pool(pool);
}

TEST(a_stored_result_stays_until_it_is_removed) {
    everywhere(store_and_remove);
}

TEST(stored_results_go_when_the_next_generation_begins) {
    weft_pool *pool = make_pool(&(weft_pool_options){.store_results = true});
    weft_work works[FEW];
    CHECK_EQ(weft_pool_hold(pool), 0);
    for (int i = 0; i < FEW; i++)
        works[i] = submit(pool, return_arg, (void *)(intptr_t)i);
    CHECK_EQ(weft_pool_release(pool), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(pool_stats(pool).stored, FEW);
    for (int i = 0; i < FEW; i++)
        CHECK_EQ(result_of(pool, works[i]).code, i);
    weft_work next = submit(pool, return_arg, NULL);
    for (int i = 0; i < FEW; i++)
        CHECK_EQ(weft_pool_wait_work(pool, works[i], NULL, WEFT_NEVER), -ESTALE);
    result_of(pool, next);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(pool_stats(pool).stored, 1);
    end_pool(pool);
}

static int count_or_stop(const weft_result *result, void *arg) {
    int *left = arg;
    CHECK_EQ(result->status, WEFT_WORK_SUCCEEDED);
    return --*left == 0 ? 40 + result->code : 0;
}

TEST(a_pool_that_keeps_results_keeps_them_until_they_are_cleared) {
    weft_pool *pool = make_pool(&(weft_pool_options){.store_results = true, .keep_results = true});
    weft_work works[3];
    for (int i = 0; i < 3; i++) {
        works[i] = submit(pool, return_arg, (void *)2);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    }
    for (int i = 0; i < 3; i++)
        CHECK_EQ(result_of(pool, works[i]).code, 2);
    int left = 100;
    CHECK_EQ(weft_pool_each_result(pool, count_or_stop, &left), 0);
    CHECK_EQ(left, 97);
    left = 2;
    CHECK_EQ(weft_pool_each_result(pool, count_or_stop, &left), 42);
    CHECK_EQ(left, 0);
    CHECK_EQ(weft_pool_each_result(NULL, count_or_stop, &left), -EINVAL);
    CHECK_EQ(weft_pool_each_result(pool, NULL, &left), -EINVAL);
    CHECK_EQ(weft_pool_clear(NULL), -EINVAL);
    CHECK_EQ(weft_pool_clear(pool), 3);
    CHECK_EQ(weft_pool_clear(pool), 0);
    CHECK_EQ(weft_pool_poll_work(pool, works[0], NULL), -ESTALE);
    end_pool(pool);
}

/* May call the pool: no lock is held. */
static int remove_each(const weft_result *result, void *arg) {
    return weft_pool_remove(arg, result->work);
}

TEST(the_function_that_sees_results_may_remove_them) {
    weft_pool *pool = make_pool(&(weft_pool_options){.store_results = true});
    for (int i = 0; i < FEW; i++)
        submit(pool, return_arg, NULL);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_each_result(pool, remove_each, pool), 0);
    CHECK_EQ(pool_stats(pool).stored, 0);
    end_pool(pool);
}

TEST(failed_and_cancelled_works_are_stored_as_well) {
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 1, .store_results = true});
    occupy(pool, 1);
    weft_work failing = submit(pool, return_arg, (void *)(intptr_t)-EBADF);
    weft_work cancelled = submit(pool, return_arg, NULL);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, cancelled), 0);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, cancelled), -ESTALE);
    weft_result result = result_of(pool, cancelled);
    CHECK_EQ(result.status, WEFT_WORK_CANCELLED);
    CHECK_EQ(result.error, -ECANCELED);
    CHECK_EQ(result.attempts, 0);
    let_go();
    CHECK_EQ(result_of(pool, failing).error, -EBADF);
    CHECK_TEXT(weft_work_status_name(WEFT_WORK_CANCELLED), "cancelled");
    CHECK_TEXT(weft_work_status_name(WEFT_WORK_FAILED), "failed");
    end_pool(pool);
}

/* ---- Callbacks ---- */

static struct {
    atomic_int own;
    atomic_int of_pool;
    atomic_int errors;
    _Atomic(pthread_t) thread;
    atomic_bool may_return;
    int answer;
} calls;

static void reset_calls(void) {
    atomic_store(&calls.own, 0);
    atomic_store(&calls.of_pool, 0);
    atomic_store(&calls.errors, 0);
    atomic_store(&calls.may_return, true);
    calls.answer = 0;
}

static int own_callback(const weft_result *result, void *arg) {
    CHECK(arg == &runs);
    last_result = *result;
    atomic_store(&calls.thread, pthread_self());
    atomic_fetch_add(&calls.own, 1);
    COMPUTE_UNTIL(atomic_load(&calls.may_return));
    if (calls.answer == 1)
        weft_panic("a callback that fails");
    return calls.answer;
}

static int pool_callback(const weft_result *result, void *arg) {
    CHECK(arg == &calls);
    CHECK(result->status != WEFT_WORK_PENDING);
    atomic_fetch_add(&calls.of_pool, 1);
    return 0;
}

static int see_errors(const weft_pool_event *event, void *arg) {
    (void)arg;
    if (event->kind != WEFT_POOL_ERROR)
        return 0;
    CHECK_EQ(event->source, WEFT_SOURCE_CALLBACK);
    CHECK_EQ(event->error, calls.answer == 1 ? -EOWNERDEAD : calls.answer);
    CHECK(event->result != NULL);
    atomic_fetch_add(&calls.errors, 1);
    return 0;
}

static const weft_work_options with_callback = {.store_result = true, .callback = own_callback, .callback_arg = &runs};

TEST(the_callback_of_a_work_takes_the_place_of_the_pools) {
    weft_pool *pool = make_pool(&(weft_pool_options){.callback = pool_callback, .callback_arg = &calls});
    reset_calls();
    submit(pool, return_arg, NULL);
    submit(pool, return_arg, (void *)(intptr_t)-EIO);
    submit_with(pool, &with_callback, return_arg, (void *)6);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&calls.own), 1);
    CHECK_EQ(atomic_load(&calls.of_pool), 2);
    CHECK_EQ(last_result.code, 6);
    CHECK_EQ(last_result.status, WEFT_WORK_SUCCEEDED);
    end_pool(pool);
}

TEST(the_callback_comes_before_anybody_who_waits_is_told) {
    weft_pool *pool = make_pool(NULL);
    reset_calls();
    atomic_store(&calls.may_return, false);
    weft_work work = submit_with(pool, &with_callback, return_arg, (void *)8);
    WAIT_UNTIL(atomic_load(&calls.own) == 1);
    CHECK_EQ(weft_pool_poll_work(pool, work, NULL), -EAGAIN);
    CHECK_EQ(weft_pool_wait_work(pool, work, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), -ESTALE); /* it has begun to be over */
    atomic_store(&calls.may_return, true);
    CHECK_EQ(result_of(pool, work).code, 8);
    end_pool(pool);
}

TEST(the_callback_of_a_cancelled_work_runs_where_it_was_cancelled) {
    weft_pool *pool = make_pool_of(1);
    reset_calls();
    occupy(pool, 1);
    weft_work work = submit_with(pool, &with_callback, return_arg, NULL);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), 0);
    CHECK_EQ(atomic_load(&calls.own), 1);
    CHECK(pthread_equal(atomic_load(&calls.thread), pthread_self()));
    CHECK_EQ(last_result.status, WEFT_WORK_CANCELLED);
    let_go();
    end_pool(pool);
}

TEST(a_callback_that_fails_is_told_and_changes_nothing) {
    weft_pool *pool = make_pool(&(weft_pool_options){.handler = see_errors});
    reset_calls();
    const int answers[] = {-EDOM, 1 /* a panic */, 2};
    for (int i = 0; i < 3; i++) {
        calls.answer = answers[i];
        weft_result result = result_of(pool, submit_with(pool, &with_callback, return_arg, (void *)8));
        CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
        CHECK_EQ(result.code, 8);
        CHECK_EQ(atomic_load(&calls.errors), i < 2 ? i + 1 : 2);
    }
    CHECK_EQ(atomic_load(&calls.own), 3);
    end_pool(pool);
}

static int submit_the_next(const weft_result *result, void *arg) {
    (void)result;
    if (atomic_fetch_add(&calls.own, 1) < 100)
        submit_with(arg, &(weft_work_options){.callback = submit_the_next, .callback_arg = arg}, count_up, &runs);
    return 0;
}

TEST(a_callback_may_submit) {
    weft_pool *pool = make_pool(NULL);
    reset_calls();
    atomic_store(&runs, 0);
    submit_with(pool, &(weft_work_options){.callback = submit_the_next, .callback_arg = pool}, count_up, &runs);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 101);
    end_pool(pool);
}

/* ---- Promises ---- */

static void look_at_promises(void) {
    weft_pool *pool = make_pool_of(1);
    weft_promise *promise;
    weft_outcome outcome;
    weft_work_options options = {.promise = &promise};
    submit_with(pool, &options, give_value, pool);
    CHECK_EQ(weft_promise_await(promise, &outcome, WEFT_NEVER), 0);
    CHECK_EQ(outcome.state, WEFT_PROMISE_RESOLVED);
    CHECK(outcome.value == pool);
    weft_promise_unref(promise);
    submit_with(pool, &options, return_arg, (void *)(intptr_t)-EXDEV);
    CHECK_EQ(weft_promise_await(promise, &outcome, WEFT_NEVER), 0);
    CHECK_EQ(outcome.state, WEFT_PROMISE_REJECTED);
    CHECK_EQ(outcome.error, -EXDEV);
    weft_promise_unref(promise);
    occupy(pool, 1);
    weft_work work = submit_with(pool, &options, return_arg, NULL);
    CHECK_EQ(weft_promise_poll(promise, &outcome), -EAGAIN);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), 0);
    CHECK_EQ(weft_promise_poll(promise, &outcome), 0);
    CHECK_EQ(outcome.error, -ECANCELED);
    weft_promise_unref(promise);
    let_go();
    end_pool(pool);
}

TEST(a_promise_is_settled_as_the_work_ends) {
    everywhere(look_at_promises);
}

TEST(a_promise_may_be_dropped_before_the_work_ends) {
    weft_pool *pool = make_pool_of(1);
    weft_promise *promise;
    occupy(pool, 1);
    submit_with(pool, &(weft_work_options){.promise = &promise}, return_arg, NULL);
    weft_promise_unref(promise);
    let_go();
    end_pool(pool);
}

TEST(a_submit_that_is_refused_leaves_no_promise) {
    weft_pool *pool = make_pool_of(1);
    weft_promise *promise = NULL;
    CHECK_EQ(weft_pool_dispose(pool), 0);
    CHECK_EQ(weft_pool_submit_with(pool, NULL, &(weft_work_options){.promise = &promise}, return_arg, NULL),
             -ESHUTDOWN);
    CHECK(promise == NULL);
    weft_pool_free(pool);
}
