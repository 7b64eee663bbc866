/* SPDX-License-Identifier: MIT
 *
 * spec/loop_promise_test.c - promises on a loop: JavaScript's rules, and its exact order of microtasks.
 *
 * The traces are those that Node 20 prints for the same program, one letter for each thing that happens: a digit is a tick of
 * a chain of thens that began at the same time, a small letter a promise that was resolved, a capital one that was rejected.
 */
#include "spec/loop_promise.h"

static weft_reply see_value(void *value, void *arg) {
    (void)value;
    note((char)NUMBER(arg));
    return weft_reply_value(NULL);
}

static weft_reply see_error(const weft_outcome *outcome, void *arg) {
    CHECK_EQ(outcome->state, WEFT_PROMISE_REJECTED);
    note((char)(NUMBER(arg) - 'a' + 'A'));
    return weft_reply_value(NULL);
}

static void see(char letter, weft_promise *promise) {
    weft_promise_unref(then(promise, see_value, see_error, VALUE(letter)));
}

static int action_at;
static weft_promise *action_on;

static weft_reply tick(void *value, void *arg) {
    (void)value;
    note((char)('0' + NUMBER(arg)));
    if (NUMBER(arg) == action_at) {
        note('!');
        CHECK_EQ(weft_promise_resolve(action_on, VALUE(1)), 0);
        weft_promise_unref(action_on);
    }
    return weft_reply_value(NULL);
}

/* At that tick the promise, whose reference is given away, is resolved. */
static void at(int number, weft_promise *promise) {
    action_at = number;
    action_on = promise;
}

static weft_reply follow(void *value, void *arg) {
    (void)value;
    return weft_reply_follow(arg);
}

static weft_reply finally_fails(void *arg) {
    (void)arg;
    note('f');
    return weft_reply_error(-EIO, "instead");
}

static void thenable_one(weft_resolver resolver, void *arg) {
    (void)arg;
    note('t');
    CHECK_EQ(weft_resolver_resolve(resolver, VALUE(1)), 0);
    CHECK_EQ(weft_resolver_resolve(resolver, VALUE(2)), -EALREADY);
    CHECK_EQ(weft_resolver_reject(resolver, -EIO, NULL), -EALREADY);
    CHECK_EQ(weft_promise_resolve(resolver.promise, NULL), -EALREADY);
}

static void thenable_panics(weft_resolver resolver, void *arg) {
    (void)resolver, (void)arg;
    note('t');
    weft_panic("thenable");
}

static void thenable_follows(weft_resolver resolver, void *arg) {
    note('t');
    CHECK_EQ(weft_resolver_resolve_with(resolver, arg), 0);
    CHECK_EQ(weft_resolver_resolve_with(resolver, arg), -EALREADY);
    weft_promise_unref(arg);
}

static weft_reply reply_thenable(void *value, void *arg) {
    (void)value, (void)arg;
    return weft_reply_thenable(thenable_one, NULL);
}

static weft_reply reply_thenable_panics(void *value, void *arg) {
    (void)value, (void)arg;
    return weft_reply_thenable(thenable_panics, NULL);
}

static weft_reply reply_thenable_follows(void *value, void *arg) {
    (void)value;
    return weft_reply_thenable(thenable_follows, arg);
}

static weft_reply finally_thenable_reply(void *arg) {
    (void)arg;
    note('f');
    return weft_reply_thenable(thenable_one, NULL);
}

/* The scenarios. */
static void then_value(void) {
    see('a', then(resolved(1), one, NULL, NULL));
    ticks_of(tick, 6);
}
static void pass_value(void) {
    see('a', then(then(resolved(1), NULL, NULL, NULL), NULL, ignore, NULL));
    ticks_of(tick, 6);
}
static void pass_error(void) {
    see('a', then(rejected(-EIO), one, NULL, NULL));
    ticks_of(tick, 6);
}
static void then_follow(void) {
    see('a', then(resolved(1), follow, NULL, resolved(1)));
    ticks_of(tick, 7);
}
static void then_follow_rejected(void) {
    see('a', then(resolved(1), follow, NULL, quietly(rejected(-EIO))));
    ticks_of(tick, 7);
}
static void resolve_with(void) {
    weft_promise *promise = pending(), *other = resolved(1);
    CHECK_EQ(weft_loop_resolve_with(promise, other), 0);
    weft_promise_unref(other);
    see('a', promise);
    ticks_of(tick, 6);
}
static void resolve_with_pending(void) {
    weft_promise *promise = pending(), *other = pending();
    CHECK_EQ(weft_loop_resolve_with(promise, other), 0);
    see('a', promise);
    ticks_of(tick, 8);
    at(3, other);
}
static void resolve_with_chain(void) {
    weft_promise *last = pending(), *middle = pending(), *first = pending();
    CHECK_EQ(weft_loop_resolve_with(middle, first), 0);
    CHECK_EQ(weft_loop_resolve_with(last, middle), 0);
    see('a', middle);
    see('b', last);
    ticks_of(tick, 9);
    at(2, first);
}
static void finally_value(void) {
    see('a', finally(resolved(1), finally_plain, NULL));
    ticks_of(tick, 7);
}
static void finally_error(void) {
    see('a', finally(rejected(-EIO), finally_plain, NULL));
    ticks_of(tick, 7);
}
static void finally_throws(void) {
    see('a', finally(resolved(1), finally_fails, NULL));
    ticks_of(tick, 7);
}
static void finally_follow(void) {
    see('a', finally(resolved(1), finally_follows, resolved(5)));
    ticks_of(tick, 8);
}
static void finally_follow_rejected(void) {
    see('a', finally(resolved(1), finally_follows, quietly(rejected(-EIO))));
    ticks_of(tick, 8);
}
static void finally_follow_pending(void) {
    weft_promise *other = pending();
    see('a', finally(resolved(1), finally_follows, weft_promise_ref(other)));
    ticks_of(tick, 9);
    at(4, other);
}
static void finally_thenable(void) {
    see('a', finally(resolved(1), finally_thenable_reply, NULL));
    ticks_of(tick, 9);
}
static void thenable(void) {
    see('a', then(resolved(1), reply_thenable, NULL, NULL));
    ticks_of(tick, 7);
}
static void thenable_throws(void) {
    see('a', then(resolved(1), reply_thenable_panics, NULL, NULL));
    ticks_of(tick, 7);
}
static void thenable_follow(void) {
    see('a', then(resolved(1), reply_thenable_follows, NULL, resolved(1)));
    ticks_of(tick, 8);
}
static void resolve_thenable(void) {
    weft_promise *promise = pending();
    CHECK_EQ(weft_loop_resolve_thenable(promise, thenable_one, NULL), 0);
    see('a', promise);
    ticks_of(tick, 6);
}

static void all(void) {
    see('a', combined(weft_loop_all, resolved(1), resolved(2), NULL));
    ticks_of(tick, 6);
}
static void all_empty(void) {
    see('a', combined(weft_loop_all, NULL, NULL, NULL));
    ticks_of(tick, 5);
}
static void all_rejected(void) {
    see('a', combined(weft_loop_all, resolved(1), rejected(-EIO), rejected(-EINTR)));
    ticks_of(tick, 6);
}
static void all_settled(void) {
    see('a', combined(weft_loop_all_settled, resolved(1), rejected(-EIO), NULL));
    ticks_of(tick, 6);
}
static void all_settled_empty(void) {
    see('a', combined(weft_loop_all_settled, NULL, NULL, NULL));
    ticks_of(tick, 5);
}
static void any(void) {
    see('a', combined(weft_loop_any, rejected(-EIO), resolved(2), NULL));
    ticks_of(tick, 6);
}
static void any_rejected(void) {
    see('a', combined(weft_loop_any, rejected(-EIO), rejected(-EINTR), NULL));
    ticks_of(tick, 6);
}
static void any_empty(void) {
    see('a', combined(weft_loop_any, NULL, NULL, NULL));
    ticks_of(tick, 5);
}
static void race(void) {
    weft_promise *never = pending();
    see('a', combined(weft_loop_race, weft_promise_ref(never), rejected(-EIO), NULL));
    ticks_of(tick, 6);
    weft_promise_resolve(never, NULL);
    weft_promise_unref(never);
}
static void race_empty(void) {
    weft_promise *out = combined(weft_loop_race, NULL, NULL, NULL);
    see('a', weft_promise_ref(out));
    ticks_of(tick, 4);
    run();
    weft_promise_unref(out);
}

static const struct {
    const char *name;
    void (*play)(void);
    const char *trace;
} traces[] = {
    {"then_value", then_value, "1a23456"},
    {"pass_value", pass_value, "12a3456"},
    {"pass_error", pass_error, "1A23456"},
    {"then_follow", then_follow, "123a4567"},
    {"then_follow_rejected", then_follow_rejected, "123A4567"},
    {"resolve_with", resolve_with, "12a3456"},
    {"resolve_with_pending", resolve_with_pending, "123!4a5678"},
    {"resolve_with_chain", resolve_with_chain, "12!3a4b56789"},
    {"finally_value", finally_value, "f123a4567"},
    {"finally_error", finally_error, "f123A4567"},
    {"finally_throws", finally_throws, "f1A234567"},
    {"finally_follow", finally_follow, "f123a45678"},
    {"finally_follow_rejected", finally_follow_rejected, "f123A45678"},
    {"finally_follow_pending", finally_follow_pending, "f1234!56a789"},
    {"finally_thenable", finally_thenable, "f1t234a56789"},
    {"thenable", thenable, "1t2a34567"},
    {"thenable_throws", thenable_throws, "1t2A34567"},
    {"thenable_follow", thenable_follow, "1t234a5678"},
    {"resolve_thenable", resolve_thenable, "t1a23456"},
    {"all", all, "1a23456"},
    {"all_empty", all_empty, "a12345"},
    {"all_rejected", all_rejected, "1A23456"},
    {"all_settled", all_settled, "1a23456"},
    {"all_settled_empty", all_settled_empty, "a12345"},
    {"any", any, "1a23456"},
    {"any_rejected", any_rejected, "1A23456"},
    {"any_empty", any_empty, "A12345"},
    {"race", race, "1A23456"},
    {"race_empty", race_empty, "1234"},
};

TEST(every_scenario_takes_as_many_microtasks_as_in_javascript) {
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        begin();
        action_at = 0;
        traces[i].play();
        if (weft_loop_get_state(loop) != WEFT_LOOP_TERMINATED)
            run();
        if (strcmp(trace, traces[i].trace) != 0)
            fprintf(stderr, "%s: %s\n", traces[i].name, trace);
        CHECK_TEXT(trace, traces[i].trace);
        CHECK_EQ(unhandled, 0);
        end();
    }
}

TEST(the_first_settlement_wins_and_the_others_are_ignored) {
    begin();
    weft_promise *promise = pending();
    CHECK_EQ(weft_promise_poll(promise, NULL), -EAGAIN);
    CHECK_EQ(weft_promise_resolve(promise, VALUE(1)), 0);
    CHECK_EQ(weft_promise_resolve(promise, VALUE(2)), -EALREADY);
    CHECK_EQ(weft_promise_reject(promise, -EIO, NULL), -EALREADY);
    CHECK_EQ(weft_loop_resolve_with(promise, promise), -EALREADY);
    CHECK_EQ(weft_loop_resolve_thenable(promise, thenable_one, NULL), -EALREADY);
    CHECK_VALUE(promise, 1);
    end();
}

TEST(null_and_foreign_arguments_are_refused) {
    begin();
    weft_promise *promise = pending(), *plain, *out = NULL;
    CHECK_EQ(weft_promise_new(&plain), 0);
    CHECK_EQ(weft_loop_promise(NULL, &out), -EINVAL);
    CHECK_EQ(weft_loop_promise(loop, NULL), -EINVAL);
    CHECK_EQ(weft_loop_then(NULL, promise, &out, one, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_loop_then(loop, NULL, &out, one, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_loop_catch(loop, NULL, &out, ignore, NULL), -EINVAL);
    CHECK_EQ(weft_loop_finally(loop, promise, &out, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_loop_finally(NULL, promise, &out, finally_plain, NULL), -EINVAL);
    CHECK_EQ(weft_loop_resolve_with(plain, promise), -EINVAL);
    CHECK_EQ(weft_loop_resolve_with(promise, NULL), -EINVAL);
    CHECK_EQ(weft_loop_resolve_thenable(promise, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_loop_resolve_thenable(plain, thenable_one, NULL), -EINVAL);
    weft_resolver none = {NULL, 0}, wrong = {plain, 1}, early = {promise, 1};
    CHECK_EQ(weft_resolver_resolve(none, NULL), -EINVAL);
    CHECK_EQ(weft_resolver_reject(wrong, -EIO, NULL), -EINVAL);
    CHECK_EQ(weft_resolver_reject(early, 0, NULL), -EINVAL);
    CHECK_EQ(weft_resolver_resolve(early, NULL), -EALREADY);
    CHECK_EQ(weft_resolver_resolve_with(early, NULL), -EINVAL);
    CHECK_EQ(weft_loop_try(loop, NULL, finally_plain, NULL), -EINVAL);
    CHECK_EQ(weft_loop_try(loop, &out, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_loop_sleep_promise(NULL, &out, 1), -EINVAL);
    CHECK_EQ(weft_loop_timeout_promise(loop, NULL, 1), -EINVAL);
    CHECK_EQ(weft_loop_cancel(promise, 0, NULL), -EINVAL);
    CHECK_EQ(weft_loop_promisify(loop, &out, NULL, NULL, NULL), -EINVAL);
    weft_promisify_options pool_without_pool = {.where = WEFT_ON_POOL};
    CHECK_EQ(weft_loop_promisify(loop, &out, &pool_without_pool, finally_plain, NULL), -EINVAL);
    CHECK(out == NULL);
    weft_promise_unref(plain);
    weft_promise_unref(promise);
    end();
}

TEST(a_null_among_the_inputs_is_refused_before_anything_is_attached) {
    begin();
    weft_promise *promise = rejected(-EIO), *out = NULL;
    weft_promise *const inputs[] = {promise, NULL};
    CHECK_EQ(weft_loop_all(loop, &out, inputs, 2), -EINVAL);
    CHECK_EQ(weft_loop_race(loop, &out, NULL, 1), -EINVAL);
    CHECK_EQ(weft_loop_any(loop, NULL, inputs, 1), -EINVAL);
    CHECK(out == NULL);
    run();
    CHECK_EQ(unhandled, 1); /* nobody handles it */
    weft_promise_unref(promise);
    end();
}

static weft_reply value_panics(void *value, void *arg) {
    (void)value;
    return panics(arg);
}
static weft_reply error_is(const weft_outcome *outcome, void *arg) {
    CHECK_EQ(outcome->error, NUMBER(arg));
    return weft_reply_value(VALUE(7));
}

TEST(a_handler_that_panics_rejects_and_the_loop_lives) {
    begin();
    weft_promise *from_then = then(resolved(1), value_panics, NULL, "then");
    weft_promise *from_finally = finally(resolved(1), panics, "finally");
    weft_promise *from_try;
    CHECK_EQ(weft_loop_try(loop, &from_try, panics, "try"), 0);
    weft_promise *caught = then(weft_promise_ref(from_then), NULL, error_is, VALUE(-EOWNERDEAD));
    weft_promise_unref(then(weft_promise_ref(from_finally), NULL, ignore, NULL));
    weft_promise_unref(then(weft_promise_ref(from_try), NULL, ignore, NULL));
    run();
    CHECK_ERROR(from_then, -EOWNERDEAD, "in then");
    CHECK_ERROR(from_finally, -EOWNERDEAD, "in finally");
    CHECK_ERROR(from_try, -EOWNERDEAD, "in try");
    CHECK_VALUE(caught, 7);
    CHECK_EQ(unhandled, 0);
    end();
}

static weft_reply error_reply(void *value, void *arg) {
    (void)value;
    return weft_reply_error((int)NUMBER(arg), "text of the error");
}

static weft_reply follow_nothing(void *value, void *arg) {
    (void)value, (void)arg;
    return weft_reply_follow(NULL);
}
static weft_reply no_thenable(void *value, void *arg) {
    (void)value, (void)arg;
    return weft_reply_thenable(NULL, NULL);
}

TEST(replies_that_are_errors_reject) {
    begin();
    weft_promise *plain = quietly(then(resolved(1), error_reply, NULL, VALUE(-EIO)));
    weft_promise *wrong = quietly(then(resolved(1), error_reply, NULL, VALUE(5)));
    weft_promise *nothing = quietly(then(resolved(1), follow_nothing, NULL, NULL));
    weft_promise *no_function = quietly(then(resolved(1), no_thenable, NULL, NULL));
    run();
    CHECK_ERROR(plain, -EIO, "text of the error");
    CHECK_ERROR(wrong, -EINVAL, "text of the error");
    CHECK_EQ(outcome_of(nothing).error, -EINVAL);
    CHECK_EQ(outcome_of(no_function).error, -EINVAL);
    end();
}

static weft_promise *itself;
static weft_reply follow_itself(void *value, void *arg) {
    (void)value, (void)arg;
    return weft_reply_follow(weft_promise_ref(itself));
}

TEST(a_promise_that_is_to_become_itself_is_rejected) {
    begin();
    itself = quietly(then(resolved(1), follow_itself, NULL, NULL));
    weft_promise *root = quietly(pending());
    CHECK_EQ(weft_loop_resolve_with(root, root), -EDEADLK);
    run();
    CHECK_EQ(outcome_of(itself).error, -EDEADLK);
    CHECK_EQ(outcome_of(root).error, -EDEADLK);
    end();
}

TEST(promises_that_adopt_each_other_stay_pending_until_the_loop_ends) {
    begin();
    weft_promise *first = pending(), *second = pending();
    CHECK_EQ(weft_loop_keep(loop), 0);
    CHECK_EQ(weft_loop_resolve_with(first, second), 0);
    CHECK_EQ(weft_loop_resolve_with(second, first), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER), 1);
    CHECK_EQ(weft_promise_poll(first, NULL), -EAGAIN);
    CHECK_EQ(weft_promise_poll(second, NULL), -EAGAIN);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(outcome_of(first).error, -EPIPE);
    CHECK_EQ(outcome_of(second).error, -EPIPE);
    end();
}

static weft_reply append_number(void *value, void *arg) {
    (void)value;
    note((char)NUMBER(arg));
    return weft_reply_value(NULL);
}

TEST(handlers_run_in_the_order_of_registration_before_and_after_settlement) {
    begin();
    weft_promise *promise = pending();
    for (intptr_t i = 0; i < 3; i++)
        CHECK_EQ(weft_loop_then(loop, promise, NULL, append_number, NULL, VALUE('a' + i)), 0);
    CHECK_EQ(weft_promise_resolve(promise, NULL), 0);
    CHECK_TEXT(trace, "");
    for (intptr_t i = 3; i < 6; i++)
        CHECK_EQ(weft_loop_then(loop, promise, NULL, append_number, NULL, VALUE('a' + i)), 0);
    weft_promise_unref(promise);
    run();
    CHECK_TEXT(trace, "abcdef");
    end();
}

TEST(finally_lets_the_outcome_through_or_replaces_it) {
    begin();
    weft_promise *value = finally(resolved(3), finally_plain, NULL);
    weft_promise *error = quietly(finally(rejected(-EINTR), finally_plain, NULL));
    weft_promise *replaced = quietly(finally(rejected(-EINTR), finally_fails, NULL));
    weft_promise *by_promise = quietly(finally(resolved(3), finally_follows, quietly(rejected(-EBUSY))));
    weft_promise *kept = quietly(finally(rejected(-EINTR), finally_follows, resolved(5)));
    run();
    CHECK_VALUE(value, 3);
    CHECK_ERROR(error, -EINTR, "on purpose");
    CHECK_ERROR(replaced, -EIO, "instead");
    CHECK_ERROR(by_promise, -EBUSY, "on purpose");
    CHECK_ERROR(kept, -EINTR, "on purpose");
    CHECK_EQ(unhandled, 0);
    end();
}

TEST(combinators_give_what_javascript_gives) {
    begin();
    weft_promise *both = combined(weft_loop_all, resolved(1), resolved(2), NULL);
    weft_promise *none = combined(weft_loop_all, NULL, NULL, NULL);
    weft_promise *settled = combined(weft_loop_all_settled, rejected(-EIO), resolved(2), NULL);
    weft_promise *first = combined(weft_loop_any, rejected(-EIO), resolved(2), resolved(3));
    weft_promise *no_one = quietly(combined(weft_loop_any, rejected(-EIO), rejected(-EINTR), NULL));
    weft_promise *of_none = quietly(combined(weft_loop_any, NULL, NULL, NULL));
    weft_promise *winner = combined(weft_loop_race, resolved(4), rejected(-EIO), NULL);
    weft_promise *failed = quietly(combined(weft_loop_all, resolved(1), rejected(-EBUSY), NULL));
    run();
    weft_outcome outcome;
    CHECK_EQ(weft_promise_poll(both, &outcome), 0);
    CHECK_EQ(NUMBER(((void **)outcome.value)[0]), 1);
    CHECK_EQ(NUMBER(((void **)outcome.value)[1]), 2);
    CHECK_EQ(weft_promise_poll(settled, &outcome), 0);
    CHECK_EQ(((weft_outcome *)outcome.value)[0].error, -EIO);
    CHECK_EQ(NUMBER(((weft_outcome *)outcome.value)[1].value), 2);
    CHECK_EQ(weft_promise_poll(no_one, &outcome), 0);
    CHECK_EQ(outcome.error, -ENOENT);
    CHECK_EQ(((weft_outcome *)outcome.value)[1].error, -EINTR);
    CHECK_EQ(outcome_of(none).state, WEFT_PROMISE_RESOLVED);
    CHECK_EQ(outcome_of(of_none).error, -ENOENT);
    CHECK_VALUE(first, 2);
    CHECK_VALUE(winner, 4);
    CHECK_EQ(outcome_of(failed).error, -EBUSY);
    weft_promise_unref(both);
    weft_promise_unref(settled);
    weft_promise_unref(no_one);
    end();
}
