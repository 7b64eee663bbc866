/* SPDX-License-Identifier: MIT
 *
 * spec/loop_promise.h - a loop under test, promises on it, and a trace of letters; what the suites about them share.
 */
#ifndef WF_SPEC_LOOP_PROMISE_H
#define WF_SPEC_LOOP_PROMISE_H

#include "support/run.h"
#include "support/trace.h"
#include "weft/loop_promise.h"

#define VALUE(n) ((void *)(intptr_t)(n))
#define NUMBER(value) ((intptr_t)(value))

static weft_loop *loop;

static inline void note(char letter) {
    trace_add(letter);
}

static int unhandled, handled_late;
static int last_error;

static inline void count_unhandled(weft_loop *of, weft_promise *promise, const weft_outcome *outcome, void *arg) {
    (void)arg;
    CHECK(of == loop && promise != NULL);
    CHECK_EQ(outcome->state, WEFT_PROMISE_REJECTED);
    last_error = outcome->error;
    unhandled++;
    note('u');
}

static inline void count_late(weft_loop *of, weft_promise *promise, void *arg) {
    (void)arg;
    CHECK(of == loop && promise != NULL);
    handled_late++;
    note('h');
}

static inline void begin(void) {
    weft_loop_options options = {.name = "test", .on_unhandled = count_unhandled, .on_handled_late = count_late};
    trace[0] = 0;
    unhandled = handled_late = 0;
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
}

static inline void run(void) {
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
}

static inline void end(void) {
    weft_loop_unref(loop);
    loop = NULL;
}

static inline weft_promise *pending(void) {
    weft_promise *promise;
    CHECK_EQ(weft_loop_promise(loop, &promise), 0);
    return promise;
}

static inline weft_promise *resolved(intptr_t number) {
    weft_promise *promise = pending();
    CHECK_EQ(weft_promise_resolve(promise, VALUE(number)), 0);
    return promise;
}

static inline weft_promise *rejected(int error) {
    weft_promise *promise = pending();
    CHECK_EQ(weft_promise_reject(promise, error, "on purpose"), 0);
    return promise;
}

static inline weft_promise *then(weft_promise *promise, weft_on_value on_value, weft_on_error on_error, void *arg) {
    weft_promise *derived;
    CHECK_EQ(weft_loop_then(loop, promise, &derived, on_value, on_error, arg), 0);
    weft_promise_unref(promise);
    return derived;
}

static inline weft_promise *finally(weft_promise *promise, weft_loop_work fn, void *arg) {
    weft_promise *derived;
    CHECK_EQ(weft_loop_finally(loop, promise, &derived, fn, arg), 0);
    weft_promise_unref(promise);
    return derived;
}

static inline weft_reply one(void *value, void *arg) {
    (void)value, (void)arg;
    return weft_reply_value(VALUE(1));
}

static inline weft_reply ignore(const weft_outcome *outcome, void *arg) {
    (void)outcome, (void)arg;
    return weft_reply_value(NULL);
}

static inline weft_reply finally_plain(void *arg) {
    (void)arg;
    note('f');
    return weft_reply_value(VALUE(99));
}

static inline weft_reply finally_follows(void *arg) {
    note('f');
    return weft_reply_follow(arg);
}

static inline weft_promise *quietly(weft_promise *promise) {
    weft_promise_unref(then(weft_promise_ref(promise), NULL, ignore, NULL));
    return promise;
}

typedef int combinator(weft_loop *of, weft_promise **out, weft_promise *const *inputs, size_t count);

static inline weft_promise *combined(combinator *combine, weft_promise *first, weft_promise *second,
                                     weft_promise *third) {
    weft_promise *inputs[] = {first, second, third}, *out;
    size_t count = third ? 3 : second ? 2 : first ? 1 : 0;
    CHECK_EQ(combine(loop, &out, inputs, count), 0);
    for (size_t i = 0; i < count; i++)
        weft_promise_unref(inputs[i]);
    return out;
}

static inline weft_outcome outcome_of(weft_promise *promise) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_poll(promise, &outcome), 0);
    weft_promise_unref(promise);
    return outcome;
}

#define CHECK_VALUE(promise, number) \
    do { \
        weft_outcome check_outcome = outcome_of(promise); \
        CHECK_EQ(check_outcome.state, WEFT_PROMISE_RESOLVED); \
        CHECK_EQ(NUMBER(check_outcome.value), (number)); \
    } while (0)
#define CHECK_ERROR(promise, number, words) \
    do { \
        weft_outcome check_outcome = outcome_of(promise); \
        CHECK_EQ(check_outcome.state, WEFT_PROMISE_REJECTED); \
        CHECK_EQ(check_outcome.error, (number)); \
        CHECK_TEXT(check_outcome.text, (words)); \
    } while (0)

static inline weft_reply panics(void *arg) {
    weft_panic("in %s", (const char *)arg);
}

/* Fulfilled one after another, each a microtask later; tick tells. */
static inline void ticks_of(weft_on_value tick, int count) {
    weft_promise *last = resolved(0);
    for (intptr_t i = 1; i <= count; i++)
        last = then(last, tick, NULL, VALUE(i));
    weft_promise_unref(last);
}

#endif
