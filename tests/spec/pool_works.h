/* SPDX-License-Identifier: MIT
 *
 * spec/pool_works.h - a pool that stores results and counts what is told, works that succeed, fail, or end when the test says so.
 *
 * Public headers only.
 */
#ifndef WF_SPEC_POOL_WORKS_H
#define WF_SPEC_POOL_WORKS_H

#include "support/run.h"
#include "weft/pool.h"

#define AFTER(...) \
    .after = (weft_work[]){__VA_ARGS__}, .after_count = sizeof((weft_work[]){__VA_ARGS__}) / sizeof(weft_work)
#define AFTER_IDS(...) \
    .after_ids = (weft_work_id[]){__VA_ARGS__}, \
    .after_id_count = sizeof((weft_work_id[]){__VA_ARGS__}) / sizeof(weft_work_id)
#define TEXT(name) ((weft_work_id){.text = (name)})
#define NUMBER(n) ((weft_work_id){.number = (uint64_t)(n)})

static weft_pool *pool;
static atomic_int runs, calls, cancels_told, ends_told;

static inline int count_event(const weft_pool_event *event, void *arg) {
    (void)arg;
    if (event->kind == WEFT_POOL_WORK_ENDED)
        atomic_fetch_add(&ends_told, 1);
    if (event->kind == WEFT_POOL_WORK_CANCELLED)
        atomic_fetch_add(&cancels_told, 1);
    return 0;
}

static inline int count_call(const weft_result *result, void *arg) {
    (void)arg;
    CHECK(result->status != WEFT_WORK_PENDING);
    atomic_fetch_add(&calls, 1);
    return 0;
}

/* Results are stored, and kept when the pool is idle in between, unless it is forgetful. */
static inline void pool_begin_with(weft_pool_options options, bool is_forgetful) {
    options.threads = options.threads ? options.threads : wf_test_workers();
    options.store_results = true;
    options.grace = options.grace ? options.grace : PATIENCE_NS; /* nobody is given up for being slow */
    options.keep_results = !is_forgetful;
    options.handler = count_event;
    options.callback = count_call;
    atomic_store(&runs, 0);
    atomic_store(&calls, 0);
    atomic_store(&cancels_told, 0);
    atomic_store(&ends_told, 0);
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
}

static inline void pool_begin(weft_pool_options options) {
    pool_begin_with(options, false);
}

static inline void pool_end(void) {
    weft_pool_free(pool);
}

static inline weft_work submit(weft_work_options options, weft_work_fn fn, void *arg) {
    weft_work work = WEFT_NO_WORK;
    CHECK_EQ(weft_pool_submit_with(pool, &work, &options, fn, arg), 0);
    return work;
}

static inline int submit_error(weft_work_options options, weft_work_fn fn) {
    weft_work work = WEFT_NO_WORK;
    int error = weft_pool_submit_with(pool, &work, &options, fn, NULL);
    CHECK_EQ(work.bits, 0);
    return error;
}

static inline weft_result result_of(weft_work work) {
    weft_result result;
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(result.work.bits, work.bits);
    return result;
}

static inline void check_ended(weft_work work, weft_work_status status) {
    weft_result result = result_of(work);
    CHECK_EQ(result.status, status);
    CHECK_EQ(result.cause.bits, 0);
}

static inline void check_failed_by(weft_work work, weft_work cause) {
    weft_result result = result_of(work);
    CHECK_EQ(result.status, WEFT_WORK_FAILED);
    CHECK_EQ(result.error, -ENOENT);
    CHECK_EQ(result.cause.bits, cause.bits);
    CHECK_EQ(result.attempts, 0);
}

static inline weft_pool_stats stats(void) {
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_get_stats(pool, &stats), 0);
    return stats;
}

static inline void wait_idle(void) {
    CHECK_EQ(weft_pool_wait(pool, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(stats().outstanding, 0);
    CHECK_EQ(stats().held, 0);
    CHECK_EQ(stats().queued, 0);
}

static inline int succeed(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return 0;
}

static inline int fail(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return -EIO;
}

/* A work that ends when the test says so. */
struct latch {
    weft_semaphore begun;
    weft_semaphore go;
    int code;
};
#define LATCH(code) \
    { WEFT_SEMAPHORE_INIT(0), WEFT_SEMAPHORE_INIT(0), (code) }

static inline int wait_at_latch(void *opaque) {
    struct latch *latch = opaque;
    weft_semaphore_release(&latch->begun, 1);
    int error = weft_semaphore_acquire(&latch->go, 1, WEFT_NEVER);
    return error ? error : latch->code;
}

static inline void latch_begun(struct latch *latch) {
    CHECK_EQ(weft_semaphore_acquire(&latch->begun, 1, weft_after(PATIENCE_NS)), 0);
}

static inline void latch_lift(struct latch *latch) {
    weft_semaphore_release(&latch->go, 1);
}

#endif
