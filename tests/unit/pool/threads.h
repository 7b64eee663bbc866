/* SPDX-License-Identifier: MIT
 *
 * unit/pool/threads.h - a pool whose threads the test can hold up, and hooks that strike once.
 *
 *     staged_begin(NULL);          // its only thread is inside a work that computes
 *     ... what is submitted now stays queued, until the test takes it out or lets the thread go ...
 *     staged_end();
 *
 * A stroke is a function that is called at a named point, the first time that somebody comes by on the side that was asked for.
 */
#ifndef WF_UNIT_POOL_THREADS_H
#define WF_UNIT_POOL_THREADS_H

#include "base/point.h"
#include "pool/pool.h"
#include "support/run.h"

static weft_pool *staged;
static atomic_int staged_is_busy, staged_may_go;
static atomic_int runs; /* of count_run */

static inline int staged_blocker(void *arg) {
    (void)arg;
    atomic_store(&staged_is_busy, 1);
    while (!atomic_load(&staged_may_go))
        sched_yield();
    return 0;
}

static inline int count_run(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return 0;
}

static inline void staged_new(const weft_pool_options *given) {
    weft_pool_options options = given ? *given : (weft_pool_options){0};
    options.threads = options.threads ? options.threads : 1;
    options.grace = options.grace ? options.grace : PATIENCE_NS; /* nobody is given up for being slow */
    atomic_store(&runs, 0);
    CHECK_EQ(weft_pool_new(&staged, &options), 0);
}

/* The thread of the pool is busy from here on. */
static inline void staged_block(void) {
    atomic_store(&staged_is_busy, 0);
    atomic_store(&staged_may_go, 0);
    CHECK_EQ(weft_pool_submit(staged, NULL, staged_blocker, NULL), 0);
    WAIT_UNTIL(atomic_load(&staged_is_busy));
}

static inline void staged_begin(const weft_pool_options *options) {
    staged_new(options);
    staged_block();
}

static inline weft_pool_stats staged_stats(void) {
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_get_stats(staged, &stats), 0);
    return stats;
}

/* Everything has come to its end, and is accounted for. */
static inline void staged_settle(void) {
    atomic_store(&staged_may_go, 1);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    weft_pool_stats stats = staged_stats();
    CHECK_EQ(stats.outstanding, 0);
    CHECK_EQ(stats.queued, 0);
    CHECK_EQ(stats.running, 0);
    CHECK_EQ(stats.submitted,
             stats.succeeded + stats.failed + stats.cancelled + stats.stopped + stats.force_stopped + stats.timed_out);
}

static inline void staged_end(void) {
    staged_settle();
    weft_pool_free(staged);
}

static inline weft_work staged_submit(weft_work_fn fn, void *arg) {
    weft_work work;
    CHECK_EQ(weft_pool_submit(staged, &work, fn, arg), 0);
    return work;
}

static inline uint64_t staged_word(weft_work handle) {
    struct wf_work *work = wf_work_find(staged, handle);
    CHECK(work != NULL);
    return wf_load_acquire(&work->word);
}

/* ---- Strokes ---- */

static const char *_Atomic stroke_point;
static void (*_Atomic stroke)(void);
static atomic_int stroke_left;

static inline void stroke_hook(const char *name) {
    if (atomic_load(&stroke_left) && strcmp(name, atomic_load(&stroke_point)) == 0 && atomic_exchange(&stroke_left, 0))
        atomic_load (&stroke)();
}

__attribute__((constructor)) static void stroke_register(void) {
    wf_point_hook = stroke_hook; /* for good: it is changed while nothing runs */
}

static inline void strike_at(const char *point, void (*what)(void)) {
    atomic_store(&stroke_point, point);
    atomic_store(&stroke, what);
    atomic_store(&stroke_left, 1);
}

/* The stroke has fallen. */
static inline void strike_over(void) {
    CHECK_EQ(atomic_load(&stroke_left), 0);
}

#endif
