/* SPDX-License-Identifier: MIT
 *
 * unit/loop/staged.h - stepping into a loop at one of its points.
 *
 *     at("loop.before_commit", meanwhile_submit);
 *     ... the first thread that comes to the point calls meanwhile_submit there ...
 *     CHECK(was_there());
 *
 * What is called may block, and lets other threads act by elsewhere(). One point at a time; each fires once.
 */
#ifndef WF_UNIT_LOOP_STAGED_H
#define WF_UNIT_LOOP_STAGED_H

#include "base/point.h"
#include "loop/loop.h"
#include "support/loop.h"

static const char *_Atomic staged_point;
static void (*_Atomic staged_fn)(void);
static atomic_int staged_is_armed;
static atomic_int staged_fired;

static inline void staged_hook(const char *name) {
    int armed = 1;
    if (!atomic_load(&staged_is_armed) || strcmp(name, atomic_load(&staged_point)) != 0)
        return;
    if (!atomic_compare_exchange_strong(&staged_is_armed, &armed, 0))
        return;
    atomic_store(&staged_fired, 1);
    atomic_load (&staged_fn)(); /* which may arm the next one */
}

static inline void at(const char *point, void (*fn)(void)) {
    CHECK(!atomic_load(&staged_is_armed));
    atomic_store(&staged_point, point);
    atomic_store(&staged_fn, fn);
    atomic_store(&staged_fired, 0);
    atomic_store(&staged_is_armed, 1);
}

static inline bool was_there(void) {
    return atomic_load(&staged_fired);
}

static inline void *elsewhere_main(void *opaque) {
    void (**fn)(void) = opaque;
    (*fn)();
    return NULL;
}

/* By a plain thread; returns when it is done. */
static inline void elsewhere(void (*fn)(void)) {
    thread_join(thread_start(elsewhere_main, &fn));
}

/* By a plain thread that is stopped by the loop's lock, which the caller holds: returns when it stands there. */
static pthread_t blocked_thread;
static void (*blocked_fn)(void);

static inline void blocked_elsewhere(void (*fn)(void)) {
    blocked_fn = fn;
    blocked_thread = thread_start(elsewhere_main, &blocked_fn);
    weft_time limit = weft_after(PATIENCE_NS);
    while (atomic_load(&loop->lock.word) != WF_LOCK_CONTENDED) {
        CHECK_LE(weft_now(), limit);
        sched_yield();
    }
}

/* A test with the hook in place, on a plain thread and on a fiber. */
#define TEST_STAGED(name) \
    static void body_##name(void); \
    TEST(name) { \
        wf_point_hook = staged_hook; \
        both_ways(body_##name); \
        wf_point_hook = NULL; \
        CHECK(!atomic_load(&staged_is_armed)); \
    } \
    static void body_##name(void)

#endif
