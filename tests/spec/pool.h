/* SPDX-License-Identifier: MIT
 *
 * spec/pool.h - short forms that the suites of the work pool share.
 *
 *     weft_pool *pool = make_pool(NULL);            // with WEFT_WORKERS threads
 *     occupy(pool, 1);                              // one thread is busy: what is submitted now stays queued
 *     ...
 *     let_go();
 *     end_pool(pool);                               // waits, looks that nothing is left, frees it
 *
 * One set of busy works at a time. Nothing here sleeps: what is to happen is waited for.
 */
#ifndef WF_SPEC_POOL_H
#define WF_SPEC_POOL_H

#include "support/door.h"
#include "support/parked.h"
#include "weft/pool.h"

static struct {
    atomic_uint begun;
    atomic_bool is_over;
} busy;

static inline weft_pool *make_pool(const weft_pool_options *options) {
    weft_pool_options own = options ? *options : (weft_pool_options){0};
    weft_pool *pool;
    if (own.threads == 0)
        own.threads = wf_test_workers();
    if (own.grace == 0)
        own.grace = PATIENCE_NS; /* nobody is given up for being slow */
    CHECK_EQ(weft_pool_new(&pool, &own), 0);
    return pool;
}

static inline weft_pool *make_pool_of(unsigned threads) {
    return make_pool(&(weft_pool_options){.threads = threads});
}

static inline weft_pool_stats pool_stats(weft_pool *pool) {
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_get_stats(pool, &stats), 0);
    return stats;
}

static inline void check_nothing_left(weft_pool *pool) {
    weft_pool_stats stats = pool_stats(pool);
    CHECK(stats.is_idle);
    CHECK_EQ(stats.outstanding, 0);
    CHECK_EQ(stats.held, 0);
    CHECK_EQ(stats.queued, 0);
    CHECK_EQ(stats.running, 0);
}

static inline void end_pool(weft_pool *pool) {
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    check_nothing_left(pool);
    weft_pool_free(pool);
}

static inline weft_work submit(weft_pool *pool, weft_work_fn fn, void *arg) {
    weft_work work = WEFT_NO_WORK;
    CHECK_EQ(weft_pool_submit(pool, &work, fn, arg), 0);
    CHECK(work.bits != 0);
    return work;
}

static inline weft_work submit_with(weft_pool *pool, const weft_work_options *options, weft_work_fn fn, void *arg) {
    weft_work work = WEFT_NO_WORK;
    CHECK_EQ(weft_pool_submit_with(pool, &work, options, fn, arg), 0);
    CHECK(work.bits != 0);
    return work;
}

/* Waits for a work that is not over, or is stored. */
static inline weft_result result_of(weft_pool *pool, weft_work work) {
    weft_result result = {0};
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.work.bits, work.bits);
    return result;
}

static inline int count_up(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
    return 0;
}

static inline int keep_busy(void *arg) {
    (void)arg;
    atomic_fetch_add(&busy.begun, 1);
    COMPUTE_UNTIL(atomic_load(&busy.is_over));
    return 0;
}

/* So many works that compute until let_go: all have begun when this returns. */
static inline void occupy(weft_pool *pool, unsigned count) {
    atomic_store(&busy.begun, 0);
    atomic_store(&busy.is_over, false);
    for (unsigned i = 0; i < count; i++)
        submit(pool, keep_busy, NULL);
    WAIT_UNTIL(atomic_load(&busy.begun) == count);
}

static inline void let_go(void) {
    atomic_store(&busy.is_over, true);
}

/* A call on a fiber that is cancelled while it waits. */
struct cut_call {
    int (*fn)(void *arg);
    void *arg;
    atomic_ullong fiber;
    int status;
};

static inline int cut_member(void *opaque) {
    struct cut_call *call = opaque;
    atomic_store(&call->fiber, weft_self().bits);
    call->status = call->fn(call->arg);
    return 0;
}

static inline int cut_scope(weft_scope *scope, void *opaque) {
    struct cut_call *call = opaque;
    CHECK_EQ(weft_scope_go(scope, cut_member, call), 0);
    WAIT_UNTIL(atomic_load(&call->fiber));
    wait_parked((weft_fiber){atomic_load(&call->fiber)});
    CHECK_EQ(weft_scope_cancel(scope, -ECANCELED, "enough"), 0);
    return 0;
}

/* What fn, which has to wait, returns then. On a fiber. */
static inline int status_when_cancelled(int (*fn)(void *arg), void *arg) {
    struct cut_call call = {.fn = fn, .arg = arg};
    weft_scope_run(NULL, cut_scope, &call);
    return call.status;
}

static inline int call_body(void *opaque) {
    void (**body)(void) = opaque;
    (*body)();
    return 0;
}

/* The body on a plain thread, on a fiber, and in a work of another pool. */
static inline void everywhere(void (*body)(void)) {
    body();
    run_fibers(body);
    weft_pool *other = make_pool_of(1);
    weft_result result;
    weft_work work = submit_with(other, &(weft_work_options){.store_result = true}, call_body, &body);
    result = result_of(other, work);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    end_pool(other);
}

#endif
