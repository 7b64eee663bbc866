/* SPDX-License-Identifier: MIT
 *
 * unit/loop/promise_test.c - promises of a loop where it is hard: races forced at named points, long chains, no memory.
 *
 * The harness checks after each test that no block is left.
 */
#include "unit/loop/promise.h"

#include "os/fault.h"

/* Long chains. */
static weft_promise *chain_of(weft_promise *first, long length) {
    weft_promise *last = weft_promise_ref(first);
    for (long i = 0; i < length; i++) {
        weft_promise *next;
        CHECK_EQ(weft_loop_then(loop, last, &next, count_value, NULL, NULL), 0);
        weft_promise_unref(last);
        last = next;
    }
    return last;
}

TEST(a_long_chain_runs_and_leaves_nothing) {
    long length = scaled(300000, 10000);
    begin();
    weft_promise *first = pending_on(loop), *last = chain_of(first, length);
    CHECK_EQ(weft_promise_resolve(first, VALUE(42)), 0);
    weft_promise_unref(first);
    run();
    CHECK_EQ(atomic_load(&runs), length);
    CHECK_EQ(NUMBER(outcome_of(last).value), 42);
    weft_loop_unref(loop);
}

TEST(a_long_chain_is_rejected_at_the_end_without_recursion) {
    long length = scaled(300000, 10000);
    begin();
    weft_promise *first = pending_on(loop), *last = chain_of(first, length);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(outcome_of(last).error, -EPIPE);
    CHECK_EQ(outcome_of(first).error, -EPIPE);
    CHECK_EQ(atomic_load(&runs), 0);
    weft_loop_unref(loop);
}

TEST(a_long_chain_of_a_promise_that_is_settled_after_the_end_is_cut_without_recursion) {
    weft_promise *plain, *last;
    begin();
    CHECK_EQ(weft_promise_new(&plain), 0);
    weft_loop *other = loop;
    last = chain_of(plain, scaled(100000, 1000));
    weft_loop_unref(other);
    CHECK_EQ(weft_promise_resolve(plain, NULL), 0);
    weft_promise_unref(plain);
    CHECK_EQ(outcome_of(last).error, -EPIPE);
}

/* R44: handlers that come while the settlement is made known stand behind those that were there. */
static weft_promise *shared;
static char order[64];

static weft_reply note_order(void *value, void *arg) {
    size_t length = strlen(order);
    (void)value;
    CHECK(length + 1 < sizeof order);
    order[length] = (char)NUMBER(arg);
    return weft_reply_value(NULL);
}

static void *resolve_shared(void *arg) {
    CHECK_EQ(weft_promise_resolve(shared, arg), 0);
    return NULL;
}

static void attach_one_more(void) {
    pthread_t settler = thread_start(resolve_shared, NULL);
    thread_join(settler); /* it is settled between the decision to register and the registration */
}

TEST(a_handler_that_is_registered_while_it_is_settled_keeps_its_place) {
    memset(order, 0, sizeof order);
    begin();
    shared = pending_on(loop);
    CHECK_EQ(weft_loop_then(loop, shared, NULL, note_order, NULL, VALUE('a')), 0);
    CHECK_EQ(weft_loop_then(loop, shared, NULL, note_order, NULL, VALUE('b')), 0);
    watch_point("promise.before_follow", attach_one_more);
    CHECK_EQ(weft_loop_then(loop, shared, NULL, note_order, NULL, VALUE('c')), 0);
    unwatch_point();
    CHECK_EQ(weft_loop_then(loop, shared, NULL, note_order, NULL, VALUE('d')), 0);
    run();
    CHECK_TEXT(order, "abcd");
    weft_promise_unref(shared);
    weft_loop_unref(loop);
}

/* R42, R43: a handler that comes between the end of the checkpoint and the report, from another thread. */
static void *catch_shared(void *arg) {
    (void)arg;
    CHECK_EQ(weft_loop_catch(loop, shared, NULL, count_error, NULL), 0);
    return NULL;
}

static void catch_in_time(void) {
    thread_join(thread_start(catch_shared, NULL));
}

TEST(a_handler_that_comes_just_before_the_report_prevents_it) {
    begin();
    shared = pending_on(loop);
    CHECK_EQ(weft_promise_reject(shared, -EIO, NULL), 0);
    watch_point("loop.before_unhandled", catch_in_time);
    run();
    unwatch_point();
    CHECK_EQ(atomic_load(&unhandled), 0);
    CHECK_EQ(atomic_load(&handled_late), 0);
    CHECK_EQ(atomic_load(&runs), 1);
    weft_promise_unref(shared);
    weft_loop_unref(loop);
}

TEST(two_rejections_of_one_checkpoint_are_told_each_once) {
    begin();
    for (int i = 0; i < 2; i++) {
        weft_promise *promise = pending_on(loop);
        CHECK_EQ(weft_promise_reject(promise, -EIO, NULL), 0);
        weft_promise_unref(promise);
    }
    run();
    CHECK_EQ(atomic_load(&unhandled), 2);
    weft_loop_unref(loop);
}

static atomic_int told_by_promise;
static void count_promise_report(const weft_outcome *outcome, void *arg) {
    (void)outcome, (void)arg;
    atomic_fetch_add(&told_by_promise, 1);
}

TEST(a_rejection_that_a_closed_loop_cannot_tell_is_told_when_the_promise_goes) {
    atomic_store(&told_by_promise, 0);
    weft_promise_on_unhandled(count_promise_report, NULL);
    begin();
    weft_promise *promise = pending_on(loop);
    CHECK_EQ(weft_promise_reject(promise, -EIO, NULL), 0); /* on its way to the owner */
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&unhandled), 0);
    weft_promise_unref(promise);
    CHECK_EQ(atomic_load(&told_by_promise), 1);
    weft_loop_unref(loop);
    weft_promise_on_unhandled(NULL, NULL);
}

static void let_loop_go(void *of) {
    weft_loop_unkeep(of);
}

static void *reject_shared(void *arg) {
    CHECK_EQ(weft_promise_reject(shared, -EIO, NULL), 0);
    CHECK_EQ(weft_loop_submit(arg, let_loop_go, arg), 0);
    return NULL;
}

TEST(a_rejection_by_another_thread_is_told_on_the_owner) {
    begin();
    shared = pending_on(loop);
    CHECK_EQ(weft_loop_keep(loop), 0);
    pthread_t thread = thread_start(reject_shared, loop);
    run();
    thread_join(thread);
    CHECK_EQ(atomic_load(&unhandled), 1);
    weft_promise_unref(shared);
    weft_loop_unref(loop);
}

/* Scenario 38. */
enum { SETTLERS = 8, ATTACHERS = 8, MOST_HANDLERS = 64 };
static atomic_int winners, is_open, left;
static int handlers_each;
static struct attachment {
    int thread;
    int number;
} attachments[ATTACHERS][MOST_HANDLERS];
static int next_of[ATTACHERS];
static int seen_states[3];

static void note_attachment(const struct attachment *which, int state) {
    CHECK(weft_loop_current() == loop);
    CHECK_EQ(which->number, next_of[which->thread]);
    next_of[which->thread]++;
    seen_states[state]++;
}

static weft_reply attached_value(void *value, void *arg) {
    note_attachment(arg, WEFT_PROMISE_RESOLVED);
    return weft_reply_value(value);
}

static weft_reply attached_error(const weft_outcome *outcome, void *arg) {
    CHECK_EQ(outcome->state, WEFT_PROMISE_REJECTED);
    note_attachment(arg, WEFT_PROMISE_REJECTED);
    return weft_reply_value(NULL);
}

/* The last one lets the loop end. */
static void leave_race(void) {
    if (atomic_fetch_add(&left, 1) + 1 == SETTLERS + ATTACHERS)
        CHECK_EQ(weft_loop_submit(loop, let_loop_go, loop), 0);
}

static void *settle_in_race(void *arg) {
    WAIT_UNTIL(atomic_load(&is_open));
    int status = NUMBER(arg) % 2 ? weft_promise_resolve(shared, arg) : weft_promise_reject(shared, -EIO, "race");
    if (status == 0)
        atomic_fetch_add(&winners, 1);
    else
        CHECK_EQ(status, -EALREADY);
    leave_race();
    return NULL;
}

static void *attach_in_race(void *arg) {
    WAIT_UNTIL(atomic_load(&is_open));
    for (int i = 0; i < handlers_each; i++) {
        struct attachment *mine = &attachments[NUMBER(arg)][i];
        *mine = (struct attachment){(int)NUMBER(arg), i};
        CHECK_EQ(weft_loop_then(loop, shared, NULL, attached_value, attached_error, mine), 0);
    }
    leave_race();
    return NULL;
}

TEST(racing_settlers_and_attachers_give_one_outcome_and_every_handler_once_in_order) {
    handlers_each = IS_SANITIZED ? 16 : MOST_HANDLERS;
    for (long round = 0; round < scaled(20, 2); round++) {
        pthread_t threads[SETTLERS + ATTACHERS];
        begin();
        memset(next_of, 0, sizeof next_of);
        memset(seen_states, 0, sizeof seen_states);
        atomic_store(&winners, 0);
        atomic_store(&is_open, 0);
        atomic_store(&left, 0);
        shared = pending_on(loop);
        CHECK_EQ(weft_loop_keep(loop), 0);
        for (intptr_t i = 0; i < SETTLERS; i++)
            threads[i] = thread_start(settle_in_race, VALUE(i));
        for (intptr_t i = 0; i < ATTACHERS; i++)
            threads[SETTLERS + i] = thread_start(attach_in_race, VALUE(i));
        atomic_store(&is_open, 1);
        run();
        for (int i = 0; i < SETTLERS + ATTACHERS; i++)
            thread_join(threads[i]);
        CHECK_EQ(atomic_load(&winners), 1);
        weft_outcome outcome;
        CHECK_EQ(weft_promise_poll(shared, &outcome), 0);
        CHECK_EQ(seen_states[outcome.state], ATTACHERS * handlers_each);
        CHECK_EQ(seen_states[0] + seen_states[1] + seen_states[2], ATTACHERS * handlers_each);
        weft_promise_unref(shared);
        weft_loop_unref(loop);
    }
}

/* Two loops. */
static weft_loop *second;
static atomic_int relays;

static void count_relay(void) {
    CHECK(weft_loop_current() == second);
    atomic_fetch_add(&relays, 1);
}

static void *run_second(void *arg) {
    CHECK_EQ(weft_loop_run(second, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    return arg;
}

static void resolve_and_let_go(void *promise) {
    CHECK_EQ(weft_promise_resolve(promise, VALUE(8)), 0);
    weft_loop_unkeep(second);
}

static weft_reply value_on_first(void *value, void *arg) {
    (void)arg;
    CHECK(weft_loop_current() == loop);
    weft_loop_unkeep(loop);
    return weft_reply_value(value);
}

TEST(adoption_across_loops_goes_through_both_owners) {
    begin();
    second = make_loop();
    atomic_store(&relays, 0);
    weft_promise *mine = pending_on(loop), *other = pending_on(second), *seen;
    CHECK_EQ(weft_loop_keep(loop), 0);
    CHECK_EQ(weft_loop_keep(second), 0);
    CHECK_EQ(weft_loop_resolve_with(mine, other), 0);
    CHECK_EQ(weft_loop_then(loop, mine, &seen, value_on_first, NULL, NULL), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER), 1); /* it follows now */
    watch_point("loop.before_relay", count_relay);
    CHECK_EQ(weft_loop_submit(second, resolve_and_let_go, other), 0);
    pthread_t thread = thread_start(run_second, NULL);
    run();
    thread_join(thread);
    unwatch_point();
    CHECK_EQ(atomic_load(&relays), 1);
    CHECK_EQ(NUMBER(outcome_of(mine).value), 8);
    CHECK_EQ(NUMBER(outcome_of(seen).value), 8);
    weft_promise_unref(other);
    weft_loop_unref(second);
    weft_loop_unref(loop);
}

TEST(an_adopted_promise_whose_loop_ends_rejects_the_adopter) {
    begin();
    second = make_loop();
    weft_promise *mine = pending_on(loop), *other = pending_on(second);
    CHECK_EQ(weft_loop_keep(loop), 0);
    CHECK_EQ(weft_loop_resolve_with(mine, other), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER), 1);
    weft_loop_unref(second);
    weft_loop_unkeep(loop);
    run();
    CHECK_EQ(outcome_of(mine).error, -EPIPE);
    CHECK_EQ(outcome_of(other).error, -EPIPE);
    weft_loop_unref(loop);
}

/* The end against everybody: each promise is settled exactly once, and each handler at most once. */
enum { MAKERS = 4 };
static atomic_int accepted, settled_count;
static uint64_t maker_seed;

static weft_reply settled_value(void *value, void *arg) {
    (void)arg;
    atomic_fetch_add(&settled_count, 1);
    return weft_reply_value(value);
}
static weft_reply settled_error(const weft_outcome *outcome, void *arg) {
    (void)arg;
    CHECK_EQ(outcome->error, -EPIPE);
    atomic_fetch_add(&settled_count, 1);
    return weft_reply_value(NULL);
}

static void *make_until_refused(void *arg) {
    uint64_t seed = maker_seed + (uint64_t)NUMBER(arg) + 1;
    for (;;) {
        weft_promise *promise, *derived;
        int status = weft_loop_promise(loop, &promise);
        if (status) {
            CHECK_EQ(status, -EPIPE);
            return NULL;
        }
        atomic_fetch_add(&accepted, 1);
        CHECK_EQ(weft_loop_then(loop, promise, &derived, settled_value, settled_error, NULL), 0);
        bool resolves = random_below(&seed, 2);
        if (resolves)
            weft_promise_resolve(promise, NULL);
        weft_promise_unref(promise); /* or it is abandoned */
        if (random_below(&seed, 2))
            weft_promise_unref(derived);
        else
            outcome_of(derived);
    }
}

static void *end_it(void *arg) {
    WAIT_UNTIL(atomic_load(&accepted) > 20);
    int status = NUMBER(arg) ? weft_loop_close(loop, WEFT_NEVER) : weft_loop_shutdown(loop, WEFT_NEVER);
    CHECK(status == 0 || status == -EPIPE);
    return NULL;
}

TEST(promises_that_are_made_while_the_loop_ends_are_all_settled) {
    maker_seed = wf_test_seed();
    for (long round = 0; round < scaled(20, 4); round++) {
        pthread_t threads[MAKERS + 1];
        begin();
        atomic_store(&accepted, 0);
        atomic_store(&settled_count, 0);
        CHECK_EQ(weft_loop_keep(loop), 0);
        for (intptr_t i = 0; i < MAKERS; i++)
            threads[i] = thread_start(make_until_refused, VALUE(i));
        threads[MAKERS] = thread_start(end_it, VALUE(round % 2));
        run();
        for (int i = 0; i <= MAKERS; i++)
            thread_join(threads[i]);
        CHECK_LE(atomic_load(&settled_count), atomic_load(&accepted));
        weft_loop_unref(loop);
    }
}

/* No memory. */
static weft_reply work_runs(void *arg) {
    atomic_fetch_add(&runs, 1);
    return weft_reply_value(arg);
}

static int all_calls(weft_promise *promise) {
    weft_promise *out = NULL;
    weft_promise *const inputs[] = {promise};
    int error = 0;
    if ((error = weft_loop_promise(loop, &out)) != 0)
        return error;
    weft_promise_unref(out);
    if ((error = weft_loop_then(loop, promise, NULL, count_value, NULL, NULL)) != 0 ||
        (error = weft_loop_finally(loop, promise, NULL, work_runs, NULL)) != 0 ||
        (error = weft_loop_all(loop, &out, inputs, 1)) != 0)
        return error;
    weft_promise_unref(out);
    if ((error = weft_loop_sleep_promise(loop, &out, 0)) != 0)
        return error;
    weft_promise_unref(out);
    return 0;
}

TEST(without_memory_every_call_says_so_and_leaves_nothing) {
    weft_promise *plain;
    CHECK_EQ(weft_promise_new(&plain), 0);
    CHECK_EQ(weft_promise_resolve(plain, NULL), 0);
    int failures = 0;
    for (long nth = 1;; nth++) {
        begin();
        wf_fault_order_here(WF_CALL_ALLOC, nth, ENOMEM, 0);
        int status = all_calls(plain);
        wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
        run();
        weft_loop_unref(loop);
        if (status == 0)
            break;
        CHECK_EQ(status, -ENOMEM);
        failures++;
    }
    CHECK_GE(failures, 5);
    weft_promise_unref(plain);
}
