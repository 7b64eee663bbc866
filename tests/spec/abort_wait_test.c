/* SPDX-License-Identifier: MIT
 *
 * spec/abort_wait_test.c - abort signals that fibers and threads wait for, select, and give to scopes.
 *
 * What handlers do is written into a trace, a letter for each call.
 */
#include "support/parked.h"
#include "support/run.h"
#include "support/signals.h"
#include "support/trace.h"
#include "weft/abort.h"

static void *wait_for_it(void *signal) {
    weft_abort_reason reason;
    CHECK_EQ(weft_abort_wait(signal, &reason, WEFT_NEVER), 0);
    return (void *)(intptr_t)reason.error;
}

static void waits(void) {
    weft_abort_signal *root = make();
    weft_abort_signal *signal = any_of(root, NULL);
    weft_fiber fibers[3];
    struct on_thread_call call;
    for (int i = 0; i < 3; i++) {
        SPAWN(&fibers[i], wait_for_it, i ? signal : root);
        wait_parked(fibers[i]);
    }
    on_thread_start(&call, wait_for_it, signal);
    CHECK_EQ(weft_abort_wait(signal, NULL, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_abort_wait(signal, NULL, weft_after(1)), -ETIMEDOUT);
    CHECK_EQ(weft_abort_fire(root, NULL), 0);
    for (int i = 0; i < 3; i++) {
        void *error;
        JOIN(fibers[i], &error);
        CHECK_EQ((intptr_t)error, -ECANCELED);
    }
    on_thread_finish(&call);
    CHECK_EQ(weft_abort_wait(signal, NULL, WEFT_NOW), 0);
    weft_abort_unref(signal);
    weft_abort_unref(root);
}

TEST(fibers_and_threads_wait_for_a_signal) {
    run_fibers(waits);
}

static void *select_it(void *opaque) {
    weft_abort_signal **signals = opaque;
    weft_abort_reason reason = {.error = 0};
    weft_case cases[] = {weft_on_abort(NULL, NULL), weft_on_abort(signals[0], &reason),
                         weft_on_abort(signals[1], &reason)};
    int index = weft_select(cases, 3, WEFT_NEVER);
    CHECK_EQ(cases[index].status, 0);
    CHECK_EQ(reason.error, -EPIPE);
    return (void *)(intptr_t)index;
}

static void selects(void) {
    weft_abort_reason reason = {.error = -EPIPE};
    void *index;
    weft_fiber fiber;
    weft_abort_signal *signals[] = {make(), make()};
    SPAWN(&fiber, select_it, signals);
    wait_parked(fiber);
    CHECK_EQ(weft_abort_fire(signals[1], &reason), 0);
    JOIN(fiber, &index);
    CHECK_EQ((intptr_t)index, 2);
    CHECK_EQ((intptr_t)select_it(signals), 2); /* ready at once */
    weft_case never[] = {weft_on_abort(signals[0], NULL), weft_on_abort(NULL, NULL)};
    CHECK_EQ(weft_select(never, 2, WEFT_NOW), -ETIMEDOUT);
    weft_abort_unref(signals[0]);
    weft_abort_unref(signals[1]);
}

TEST(a_signal_is_a_case_of_select) {
    run_fibers(selects);
}

struct crossing {
    weft_abort_signal *root;
    weft_abort_signal *derived;
};

static void *select_both(void *opaque) {
    struct crossing *crossing = opaque;
    weft_case cases[] = {weft_on_abort(crossing->derived, NULL), weft_on_abort(crossing->root, NULL)};
    int index = weft_select(cases, 2, WEFT_NEVER);
    CHECK_GE(index, 0);
    return NULL;
}

/* A select holds the locks of both in the order of their addresses. */
static void crossings(void) {
    for (long round = 0; round < scaled(500, 20); round++) {
        weft_fiber fiber;
        struct crossing crossing = {.root = make()};
        crossing.derived = any_of(crossing.root, NULL);
        SPAWN(&fiber, select_both, &crossing);
        if (round & 1)
            weft_yield();
        CHECK_EQ(weft_abort_fire(crossing.root, NULL), 0);
        JOIN(fiber, NULL);
        weft_abort_unref(crossing.derived);
        weft_abort_unref(crossing.root);
    }
}

TEST(a_select_for_a_root_and_what_is_derived_from_it_meets_the_abort) {
    run_fibers(crossings);
}

static void yield_in_handler(weft_abort_signal *signal, void *arg) {
    (void)signal;
    weft_yield();
    trace_add((char)(intptr_t)arg);
}

static void parking_handlers(void) {
    weft_abort_signal *signal = make();
    trace[0] = 0;
    for (char letter = 'a'; letter < 'e'; letter++)
        CHECK_EQ(weft_abort_on(signal, NULL, yield_in_handler, LETTER(letter)), 0);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    CHECK_TEXT(trace, "abcd");
    weft_abort_unref(signal);
}

TEST(a_handler_on_a_fiber_may_wait) {
    run_fibers(parking_handlers);
}

/* Scopes. */

static int sleep_until_cancelled(void *arg) {
    atomic_int *started = arg;
    atomic_fetch_add(started, 1);
    int error = weft_sleep(weft_after(PATIENCE_NS));
    CHECK_EQ(weft_cancel_reason(NULL, 0), -EPIPE);
    return error;
}

struct scope_case {
    weft_abort_signal *signal;
    atomic_int started;
    int how; /* what body does */
};

static void *abort_when_started(void *opaque) {
    struct scope_case *the = opaque;
    weft_abort_reason reason = {.error = -EPIPE, .text = "not wanted"};
    WAIT_UNTIL(atomic_load(&the->started) == 2);
    CHECK_EQ(weft_abort_fire(the->signal, &reason), 0);
    return NULL;
}

enum { BODY_LEAVES_CHILDREN, BODY_WAITS, BODY_IS_DONE, BODY_FAILS, BODY_PANICS };

static int scope_body(weft_scope *scope, void *opaque) {
    struct scope_case *the = opaque;
    if (the->how == BODY_PANICS)
        weft_panic("the body");
    if (the->how == BODY_IS_DONE || the->how == BODY_FAILS)
        return the->how == BODY_FAILS ? -EIO : 7;
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_scope_go(scope, sleep_until_cancelled, &the->started), 0);
    if (the->how == BODY_WAITS) {
        CHECK_EQ(weft_sleep(weft_after(PATIENCE_NS)), -ECANCELED);
        char why[32];
        CHECK_EQ(weft_cancel_reason(why, sizeof why), -EPIPE);
        CHECK_TEXT(why, "not wanted");
    }
    return 0;
}

static void run_panicking_scope(void *opaque) {
    struct scope_case *the = opaque;
    (void)weft_abort_scope(the->signal, NULL, scope_body, the);
}

static void scopes(void) {
    for (int how = BODY_LEAVES_CHILDREN; how <= BODY_WAITS; how++) {
        struct scope_case the = {.signal = make(), .how = how};
        weft_fiber fiber;
        SPAWN(&fiber, abort_when_started, &the);
        CHECK_EQ(weft_abort_scope(the.signal, NULL, scope_body, &the), -EPIPE);
        JOIN(fiber, NULL);
        CHECK_EQ(weft_abort_scope(the.signal, NULL, scope_body, &the), -EPIPE); /* at once */
        CHECK_EQ(atomic_load(&the.started), 2);
        weft_abort_unref(the.signal);
    }
    struct scope_case the = {.signal = make(), .how = BODY_IS_DONE};
    CHECK_EQ(weft_abort_scope(the.signal, NULL, scope_body, &the), 7);
    CHECK_EQ(weft_abort_scope(NULL, NULL, scope_body, &the), 7);
    the.how = BODY_FAILS;
    CHECK_EQ(weft_abort_scope(the.signal, NULL, scope_body, &the), -EIO);
    the.how = BODY_PANICS;
    char message[32];
    CHECK_EQ(weft_try(run_panicking_scope, &the, message, sizeof message), -EOWNERDEAD);
    CHECK_TEXT(message, "the body");
    CHECK_EQ(weft_abort_scope(the.signal, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_abort_fire(the.signal, NULL), 0); /* the scopes are gone: nothing is cancelled */
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    weft_abort_unref(the.signal);
}

TEST(a_signal_cancels_the_scope_that_it_was_given_to) {
    run_fibers(scopes);
}

static int exit_body(weft_scope *scope, void *arg) {
    (void)scope;
    (void)arg;
    weft_exit((void *)5);
}

static void *exit_inside(void *signal) {
    weft_abort_scope(signal, NULL, exit_body, NULL);
    CHECK(!"weft_exit returned");
    return NULL;
}

static void exits(void) {
    weft_abort_signal *signal = make();
    weft_fiber fiber;
    void *result;
    SPAWN(&fiber, exit_inside, signal);
    JOIN(fiber, &result);
    CHECK_EQ((intptr_t)result, 5);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    weft_abort_unref(signal);
}

TEST(an_exit_inside_such_a_scope_ends_the_fiber) {
    run_fibers(exits);
}

TEST(a_scope_needs_a_fiber) {
    weft_abort_signal *signal = make();
    CHECK_EQ(weft_abort_scope(signal, NULL, scope_body, NULL), -EPERM);
    weft_abort_unref(signal);
}
