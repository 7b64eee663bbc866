/* SPDX-License-Identifier: MIT
 *
 * spec/promise_test.c - the laws of promises: settled once, seen by everybody, combined by JavaScript's rules.
 *
 * Whatever is rejected on purpose is looked at, or counted by the hook for unhandled rejections.
 */
#include "support/child.h"
#include "support/run.h"

#define VALUE(n) ((void *)(intptr_t)(n))
#define NUMBER(value) ((intptr_t)(value))

static atomic_int unhandled;
static weft_outcome last_unhandled;

static void count_unhandled(const weft_outcome *outcome, void *arg) {
    CHECK(arg == &unhandled);
    last_unhandled = *outcome;
    atomic_fetch_add(&unhandled, 1);
}

static void watch_unhandled(void) {
    atomic_store(&unhandled, 0);
    weft_promise_on_unhandled(count_unhandled, &unhandled);
}

static weft_promise *make(void) {
    weft_promise *promise;
    CHECK_EQ(weft_promise_new(&promise), 0);
    return promise;
}

static weft_promise *resolved(intptr_t number) {
    weft_promise *promise = make();
    CHECK_EQ(weft_promise_resolve(promise, VALUE(number)), 0);
    return promise;
}

static weft_promise *rejected(int error, const char *text) {
    weft_promise *promise = make();
    CHECK_EQ(weft_promise_reject(promise, error, text), 0);
    return promise;
}

/* Waits for it and gives the reference back. */
static weft_outcome outcome_of(weft_promise *promise) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(promise, &outcome, weft_after(PATIENCE_NS)), 0);
    weft_promise_unref(promise);
    return outcome;
}

#define CHECK_RESOLVED(promise, number) \
    do { \
        weft_outcome check_outcome = outcome_of(promise); \
        CHECK_EQ(check_outcome.state, WEFT_PROMISE_RESOLVED); \
        CHECK_EQ(check_outcome.error, 0); \
        CHECK_EQ(NUMBER(check_outcome.value), (number)); \
    } while (0)

#define CHECK_REJECTED(promise, code) \
    do { \
        weft_outcome check_outcome = outcome_of(promise); \
        CHECK_EQ(check_outcome.state, WEFT_PROMISE_REJECTED); \
        CHECK_EQ(check_outcome.error, (code)); \
    } while (0)

TEST(a_promise_is_settled_once) {
    weft_outcome outcome;
    weft_promise *promise = make();
    CHECK_EQ(weft_promise_poll(promise, &outcome), -EAGAIN);
    CHECK_EQ(weft_promise_await(promise, &outcome, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_promise_resolve(promise, VALUE(7)), 0);
    CHECK_EQ(weft_promise_resolve(promise, VALUE(8)), -EALREADY);
    CHECK_EQ(weft_promise_reject(promise, -EIO, "late"), -EALREADY);
    CHECK_EQ(weft_promise_poll(promise, &outcome), 0);
    CHECK_EQ(outcome.state, WEFT_PROMISE_RESOLVED);
    CHECK_EQ(NUMBER(outcome.value), 7);
    CHECK_EQ(weft_promise_await(promise, NULL, WEFT_NOW), 0);
    weft_promise_unref(promise);
}

TEST(a_rejection_carries_an_error_and_a_text_that_is_cut) {
    char text[300];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    weft_outcome outcome = outcome_of(rejected(-EIO, text));
    CHECK_EQ(outcome.state, WEFT_PROMISE_REJECTED);
    CHECK_EQ(outcome.error, -EIO);
    CHECK_EQ(strlen(outcome.text), WEFT_OUTCOME_TEXT - 1);
    CHECK_TEXT(outcome_of(rejected(-EIO, NULL)).text, "");
}

TEST(what_is_wrong_is_refused) {
    weft_promise *promise = make(), *out;
    CHECK_EQ(weft_promise_new(NULL), -EINVAL);
    CHECK_EQ(weft_promise_resolve(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_promise_reject(NULL, -EIO, NULL), -EINVAL);
    CHECK_EQ(weft_promise_reject(promise, 0, NULL), -EINVAL);
    CHECK_EQ(weft_promise_reject(promise, EIO, NULL), -EINVAL);
    CHECK_EQ(weft_promise_await(NULL, NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_promise_poll(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_promise_then(NULL, &out, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_promise_chain(NULL, &out, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_promise_finally(promise, &out, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_promise_adopt(promise, NULL), -EINVAL);
    CHECK_EQ(weft_promise_adopt(promise, promise), -EDEADLK);
    CHECK_EQ(weft_async(NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_promise_all(NULL, &promise, 1), -EINVAL);
    CHECK_EQ(weft_promise_any(&out, NULL, 1), -EINVAL);
    weft_promise *with_null[] = {promise, NULL};
    CHECK_EQ(weft_promise_race(&out, with_null, 2), -EINVAL);
    CHECK(weft_promise_ref(NULL) == NULL);
    weft_promise_unref(NULL);
    weft_promise_unref(promise);
}

static void *await_number(void *arg) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(arg, &outcome, weft_after(PATIENCE_NS)), 0);
    return outcome.value;
}

static void *resolve_with_five(void *arg) {
    CHECK_EQ(weft_promise_resolve(arg, VALUE(5)), 0);
    return NULL;
}

static void many_wait(void) {
    enum { WAITERS = 40 };
    weft_promise *promise = make();
    weft_fiber fibers[WAITERS];
    for (int i = 0; i < WAITERS; i++)
        SPAWN(&fibers[i], await_number, promise);
    pthread_t waits = thread_start(await_number, promise);
    for (int i = 0; i < 5; i++)
        weft_yield();
    pthread_t settles = thread_start(resolve_with_five, promise);
    for (int i = 0; i < WAITERS; i++) {
        void *result;
        JOIN(fibers[i], &result);
        CHECK_EQ(NUMBER(result), 5);
    }
    thread_join(settles);
    thread_join(waits);
    weft_promise_unref(promise);
}

TEST(fibers_and_threads_wait_for_what_a_thread_settles) {
    run_fibers(many_wait);
}

static void deadline_passes(void) {
    weft_promise *promise = make();
    weft_time deadline = weft_after(2 * WEFT_MILLISECOND);
    CHECK_EQ(weft_promise_await(promise, NULL, deadline), -ETIMEDOUT);
    CHECK_GE(weft_now(), deadline);
    CHECK_EQ(weft_promise_resolve(promise, VALUE(1)), 0);
    CHECK_RESOLVED(promise, 1);
}

TEST(a_deadline_ends_the_wait_and_not_the_promise) {
    run_fibers(deadline_passes);
    deadline_passes();
}

static void *add_arg(void *value, void *arg) {
    return VALUE(NUMBER(value) + NUMBER(arg));
}

static void *code_of(const weft_outcome *outcome, void *arg) {
    (void)arg;
    return VALUE(-outcome->error);
}

static void *panics(void *value, void *arg) {
    (void)value;
    (void)arg;
    weft_panic("on purpose");
}

static void *exits(void *value, void *arg) {
    (void)value;
    weft_exit(arg);
}

static void then_laws(void) {
    weft_promise *source = make(), *plus, *same, *caught, *dead, *left;
    CHECK_EQ(weft_promise_then(source, &plus, add_arg, NULL, VALUE(10)), 0);
    CHECK_EQ(weft_promise_then(source, &same, NULL, code_of, NULL), 0);
    CHECK_EQ(weft_promise_then(source, &dead, panics, NULL, NULL), 0);
    CHECK_EQ(weft_promise_then(source, &left, exits, NULL, VALUE(66)), 0);
    CHECK_EQ(weft_promise_resolve(plus, NULL), -EALREADY); /* a derived one is not for others to settle */
    CHECK_EQ(weft_promise_poll(plus, NULL), -EAGAIN);
    CHECK_EQ(weft_promise_resolve(source, VALUE(3)), 0);
    weft_promise_unref(source);
    CHECK_RESOLVED(plus, 13);
    CHECK_RESOLVED(same, 3);
    CHECK_RESOLVED(left, 66);
    CHECK_EQ(weft_promise_then(dead, &caught, add_arg, code_of, NULL), 0);
    CHECK_RESOLVED(caught, EOWNERDEAD);
    CHECK_REJECTED(dead, -EOWNERDEAD);
    source = rejected(-EIO, "broken");
    CHECK_EQ(weft_promise_then(source, &same, add_arg, NULL, NULL), 0);
    CHECK_EQ(weft_promise_then(source, &caught, NULL, code_of, NULL), 0);
    weft_promise_unref(source);
    CHECK_TEXT(outcome_of(weft_promise_ref(same)).text, "broken");
    CHECK_REJECTED(same, -EIO);
    CHECK_RESOLVED(caught, EIO);
}

TEST(continuations_pass_on_what_they_do_not_handle) {
    run_fibers_with(&(weft_options){.quiet = true}, then_laws);
}

static weft_promise *inner_promise;

static weft_promise *give_inner(void *value, void *arg) {
    (void)value;
    (void)arg;
    return weft_promise_ref(inner_promise);
}

static weft_promise *give_nothing(const weft_outcome *outcome, void *arg) {
    CHECK_EQ(outcome->error, -EIO);
    (void)arg;
    return NULL;
}

static void count_call(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void chain_laws(void) {
    atomic_int calls = 0;
    weft_promise *source = resolved(1), *follows, *nothing, *after;
    inner_promise = make();
    CHECK_EQ(weft_promise_chain(source, &follows, give_inner, give_nothing, NULL), 0);
    CHECK_EQ(weft_promise_await(follows, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_promise_resolve(inner_promise, VALUE(9)), 0);
    CHECK_RESOLVED(follows, 9);
    weft_promise_unref(inner_promise);
    weft_promise_unref(source);
    source = rejected(-EIO, NULL);
    CHECK_EQ(weft_promise_chain(source, &nothing, give_inner, give_nothing, NULL), 0);
    CHECK_RESOLVED(nothing, 0);
    CHECK_EQ(weft_promise_finally(source, &after, count_call, &calls), 0);
    CHECK_REJECTED(after, -EIO);
    CHECK_EQ(atomic_load(&calls), 1);
    weft_promise_unref(source);
    source = make(); /* a handler that returns what follows from it */
    CHECK_EQ(weft_promise_chain(source, &follows, give_inner, NULL, NULL), 0);
    inner_promise = follows;
    CHECK_EQ(weft_promise_resolve(source, NULL), 0);
    weft_promise_unref(source);
    CHECK_REJECTED(follows, -EDEADLK);
}

TEST(a_continuation_may_return_a_promise) {
    run_fibers(chain_laws);
}

TEST(a_promise_adopts_another_once) {
    weft_promise *one = make(), *other = make(), *late = resolved(4);
    CHECK_EQ(weft_promise_adopt(one, other), 0);
    CHECK_EQ(weft_promise_adopt(one, late), -EALREADY);
    CHECK_EQ(weft_promise_resolve(one, NULL), -EALREADY);
    CHECK_EQ(weft_promise_poll(one, NULL), -EAGAIN);
    CHECK_EQ(weft_promise_reject(other, -EIO, "adopted"), 0);
    weft_promise_unref(other);
    CHECK_REJECTED(one, -EIO);
    one = make();
    CHECK_EQ(weft_promise_adopt(one, late), 0);
    weft_promise_unref(late);
    CHECK_RESOLVED(one, 4);
}

static void *square(void *arg) {
    weft_yield();
    return VALUE(NUMBER(arg) * NUMBER(arg));
}

static void *panic_now(void *arg) {
    (void)arg;
    weft_panic("on purpose");
}

static void async_laws(void) {
    enum { MANY = 50 };
    weft_promise *squares[MANY], *all, *dead;
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(weft_async(&squares[i], square, VALUE(i)), 0);
    CHECK_EQ(weft_promise_all(&all, squares, MANY), 0);
    for (int i = 0; i < MANY; i++)
        weft_promise_unref(squares[i]);
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(all, &outcome, weft_after(PATIENCE_NS)), 0);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(NUMBER(((void **)outcome.value)[i]), i * i);
    weft_promise_unref(all);
    CHECK_EQ(weft_async(&dead, panic_now, NULL), 0);
    CHECK_REJECTED(dead, -EOWNERDEAD);
}

TEST(the_result_of_a_fiber_is_a_promise) {
    run_fibers_with(&(weft_options){.quiet = true}, async_laws);
}

TEST(without_a_runtime_there_is_no_fiber_for_it) {
    weft_promise *promise, *then, *source = resolved(1);
    CHECK_EQ(weft_async(&promise, square, NULL), -ESRCH);
    CHECK_EQ(weft_promise_then(source, &then, add_arg, NULL, NULL), 0);
    CHECK_REJECTED(then, -ESRCH);
    weft_promise_unref(source);
}

TEST(none_of_them_is_a_case_of_its_own) {
    weft_promise *out;
    weft_outcome outcome;
    watch_unhandled();
    CHECK_EQ(weft_promise_all(&out, NULL, 0), 0);
    CHECK_EQ(weft_promise_poll(out, &outcome), 0);
    CHECK_EQ(outcome.state, WEFT_PROMISE_RESOLVED);
    weft_promise_unref(out);
    CHECK_EQ(weft_promise_all_settled(&out, NULL, 0), 0);
    CHECK_EQ(weft_promise_poll(out, &outcome), 0);
    CHECK_EQ(outcome.state, WEFT_PROMISE_RESOLVED);
    weft_promise_unref(out);
    CHECK_EQ(weft_promise_any(&out, NULL, 0), 0);
    CHECK_REJECTED(out, -ENOENT);
    CHECK_EQ(weft_promise_race(&out, NULL, 0), 0);
    CHECK_EQ(weft_promise_await(out, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    weft_promise_unref(out);
    CHECK_EQ(atomic_load(&unhandled), 0);
    weft_promise_on_unhandled(NULL, NULL);
}

TEST(the_first_one_decides_and_late_ones_are_ignored) {
    weft_promise *inputs[3] = {make(), make(), make()}, *all, *race, *any, *settled;
    watch_unhandled();
    CHECK_EQ(weft_promise_all(&all, inputs, 3), 0);
    CHECK_EQ(weft_promise_race(&race, inputs, 3), 0);
    CHECK_EQ(weft_promise_any(&any, inputs, 3), 0);
    CHECK_EQ(weft_promise_all_settled(&settled, inputs, 3), 0);
    CHECK_EQ(weft_promise_reject(inputs[1], -EIO, "second"), 0);
    CHECK_EQ(weft_promise_poll(all, NULL), 0);
    CHECK_EQ(weft_promise_poll(any, NULL), -EAGAIN);
    CHECK_EQ(weft_promise_resolve(inputs[2], VALUE(2)), 0);
    CHECK_EQ(weft_promise_poll(settled, NULL), -EAGAIN);
    CHECK_EQ(weft_promise_reject(inputs[0], -EPERM, "late"), 0);
    CHECK_REJECTED(all, -EIO);
    CHECK_REJECTED(race, -EIO);
    CHECK_RESOLVED(any, 2);
    weft_outcome outcome;
    CHECK_EQ(weft_promise_poll(settled, &outcome), 0);
    const weft_outcome *each = outcome.value;
    CHECK_EQ(each[0].error, -EPERM);
    CHECK_TEXT(each[1].text, "second");
    CHECK_EQ(NUMBER(each[2].value), 2);
    weft_promise_unref(settled);
    for (int i = 0; i < 3; i++)
        weft_promise_unref(inputs[i]);
    CHECK_EQ(atomic_load(&unhandled), 0);
    weft_promise_on_unhandled(NULL, NULL);
}

TEST(one_promise_may_stand_in_many_places) {
    weft_promise *one = make(), *two = resolved(2), *out, *same;
    weft_promise *inputs[] = {one, two, one, one};
    CHECK_EQ(weft_promise_all(&out, inputs, 4), 0);
    CHECK_EQ(weft_promise_resolve(one, VALUE(1)), 0);
    CHECK_EQ(weft_promise_then(out, &same, NULL, NULL, NULL), 0);
    weft_promise_unref(out); /* the array goes with the last promise that has it as its value */
    weft_outcome outcome;
    CHECK_EQ(weft_promise_poll(same, &outcome), 0);
    void **values = outcome.value;
    CHECK_EQ(NUMBER(values[0]), 1);
    CHECK_EQ(NUMBER(values[1]), 2);
    CHECK_EQ(NUMBER(values[2]), 1);
    CHECK_EQ(NUMBER(values[3]), 1);
    weft_promise_unref(same);
    weft_promise_unref(one);
    weft_promise_unref(two);
}

TEST(when_none_is_resolved_any_has_all_errors) {
    weft_promise *inputs[] = {rejected(-EIO, "a"), rejected(-EPERM, "b")}, *any;
    weft_outcome outcome;
    CHECK_EQ(weft_promise_any(&any, inputs, 2), 0);
    weft_promise_unref(inputs[0]);
    weft_promise_unref(inputs[1]);
    CHECK_EQ(weft_promise_poll(any, &outcome), 0);
    CHECK_EQ(outcome.error, -ENOENT);
    CHECK_EQ(((weft_outcome *)outcome.value)[0].error, -EIO);
    CHECK_EQ(((weft_outcome *)outcome.value)[1].error, -EPERM);
    weft_promise_unref(any);
}

static void select_laws(void) {
    weft_promise *one = make(), *two = make();
    weft_outcome first = {0}, second = {0};
    weft_case cases[] = {weft_on_promise(one, &first), weft_on_promise(two, &second), weft_on_promise(NULL, NULL)};
    CHECK_EQ(weft_select(cases, 3, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_select(cases, 3, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    pthread_t settles = thread_start(resolve_with_five, two);
    CHECK_EQ(weft_select(cases, 3, weft_after(PATIENCE_NS)), 1);
    CHECK_EQ(NUMBER(second.value), 5);
    CHECK_EQ(first.state, WEFT_PROMISE_PENDING);
    thread_join(settles);
    CHECK_EQ(weft_promise_resolve(one, VALUE(6)), 0);
    CHECK_EQ(weft_select_ordered(cases, 3, WEFT_NOW), 0);
    CHECK_EQ(NUMBER(first.value), 6);
    weft_promise_unref(one);
    weft_promise_unref(two);
}

TEST(select_waits_for_promises) {
    run_fibers(select_laws);
    select_laws();
}

TEST(a_rejection_that_nobody_saw_is_reported_once) {
    weft_promise *then;
    watch_unhandled();
    weft_promise_unref(rejected(-EIO, "unseen"));
    CHECK_EQ(atomic_load(&unhandled), 1);
    CHECK_TEXT(last_unhandled.text, "unseen");
    CHECK_REJECTED(rejected(-EIO, "seen"), -EIO);
    CHECK_EQ(atomic_load(&unhandled), 1);
    weft_promise *source = rejected(-EPERM, "passed on");
    CHECK_EQ(weft_promise_then(source, &then, NULL, NULL, NULL), 0);
    weft_promise_unref(source);
    CHECK_EQ(atomic_load(&unhandled), 1);
    weft_promise_unref(then);
    CHECK_EQ(atomic_load(&unhandled), 2);
    source = rejected(-ENOSPC, "to nobody");
    CHECK_EQ(weft_promise_then(source, NULL, NULL, NULL, NULL), 0);
    CHECK_EQ(atomic_load(&unhandled), 3);
    weft_promise_unref(source);
    weft_promise_unref(make());
    CHECK_EQ(atomic_load(&unhandled), 3);
    weft_promise_on_unhandled(NULL, NULL);
}

TEST(what_depends_on_a_lost_promise_is_rejected) {
    weft_promise *inputs[2] = {make(), resolved(1)}, *all, *then;
    watch_unhandled();
    CHECK_EQ(weft_promise_all(&all, inputs, 2), 0);
    CHECK_EQ(weft_promise_then(all, &then, add_arg, NULL, NULL), 0);
    weft_promise_unref(inputs[1]);
    CHECK_EQ(weft_promise_poll(all, NULL), -EAGAIN);
    weft_promise_unref(inputs[0]);
    CHECK_REJECTED(all, -EPIPE);
    weft_promise_unref(then);
    CHECK_EQ(atomic_load(&unhandled), 0);
    weft_promise_on_unhandled(NULL, NULL);
}

static void report_unseen(void *arg) {
    (void)arg;
    weft_promise_unref(rejected(-EIO, "what happened"));
}

TEST(without_a_hook_standard_error_has_the_report) {
    struct child_end end = child_run(report_unseen, NULL);
    CHECK(child_ended_well(&end));
    CHECK(strstr(end.text, "what happened") != NULL);
}
