/* SPDX-License-Identifier: MIT
 *
 * unit/loop/promise.h - a loop, promises on it, and a named point where something happens once.
 */
#ifndef WF_UNIT_LOOP_PROMISE_H
#define WF_UNIT_LOOP_PROMISE_H

#include "loop/promise.h"

#include "base/point.h"
#include "support/run.h"

#define VALUE(n) ((void *)(intptr_t)(n))
#define NUMBER(value) ((intptr_t)(value))

static weft_loop *loop;
static atomic_int unhandled, handled_late, runs;

static inline void count_unhandled(weft_loop *of, weft_promise *promise, const weft_outcome *outcome, void *arg) {
    (void)of, (void)promise, (void)outcome, (void)arg;
    atomic_fetch_add(&unhandled, 1);
}

static inline void count_late(weft_loop *of, weft_promise *promise, void *arg) {
    (void)of, (void)promise, (void)arg;
    atomic_fetch_add(&handled_late, 1);
}

static inline weft_loop *make_loop(void) {
    weft_loop_options options = {
        .on_unhandled = count_unhandled, .on_handled_late = count_late, .warn_after = UINT32_MAX};
    weft_loop *made;
    CHECK_EQ(weft_loop_new(&made, &options), 0);
    return made;
}

static inline void begin(void) {
    atomic_store(&unhandled, 0);
    atomic_store(&handled_late, 0);
    atomic_store(&runs, 0);
    loop = make_loop();
}

static inline void run(void) {
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
}

static inline weft_promise *pending_on(weft_loop *of) {
    weft_promise *promise;
    CHECK_EQ(weft_loop_promise(of, &promise), 0);
    return promise;
}

static inline weft_reply count_value(void *value, void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return weft_reply_value(value);
}

static inline weft_reply count_error(const weft_outcome *outcome, void *arg) {
    (void)arg, (void)outcome;
    atomic_fetch_add(&runs, 1);
    return weft_reply_value(NULL);
}

static inline weft_outcome outcome_of(weft_promise *promise) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(promise, &outcome, weft_after(PATIENCE_NS)), 0);
    weft_promise_unref(promise);
    return outcome;
}

/* One point, once: what is to happen there. The hook is there from the beginning, before anything runs. */
static _Atomic(const char *) point_name;
static void (*point_action)(void);
static atomic_int point_hits, works_back;

static inline void on_point(const char *name) {
    const char *wanted = atomic_load(&point_name);
    if (strcmp(name, "promisify.before_back") == 0)
        atomic_fetch_add(&works_back, 1);
    if (wanted && strcmp(name, wanted) == 0 && atomic_fetch_add(&point_hits, 1) == 0)
        point_action();
}

__attribute__((constructor)) static void hook_points(void) {
    wf_point_hook = on_point;
}

static inline void watch_point(const char *name, void (*action)(void)) {
    point_action = action;
    atomic_store(&point_hits, 0);
    atomic_store(&point_name, name);
}

static inline void unwatch_point(void) {
    atomic_store(&point_name, NULL);
    CHECK_GE(atomic_load(&point_hits), 1);
}

#endif
