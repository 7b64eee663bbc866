/* SPDX-License-Identifier: MIT
 *
 * unit/pool/jobs.h - a pool to run a body in, and many jobs that are counted.
 *
 * For the suites of fork and join. in_pool runs a function as a work of a pool that lives for that long.
 */
#ifndef WF_UNIT_POOL_JOBS_H
#define WF_UNIT_POOL_JOBS_H

#include "support/run.h"
#include "weft/parallel.h"
#include "weft/pool.h"

static weft_pool *pool;

static inline int call_body(void *opaque) {
    void (**body)(void) = opaque;
    (*body)();
    return 0;
}

static size_t stack_size; /* 0: the default */

/* Runs body as a work of a pool with so many threads. */
static inline void in_pool(unsigned threads, void (*body)(void)) {
    weft_pool_options options = {.threads = threads, .stack_size = stack_size};
    weft_work_options stored = {.store_result = true};
    weft_work work;
    weft_result result;
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    CHECK_EQ(weft_pool_submit_with(pool, &work, &stored, call_body, &body), 0);
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    weft_pool_free(pool);
}

static inline void in_any_pool(void (*body)(void)) {
    in_pool(wf_test_workers(), body);
}

enum { JOBS = 700 };
static _Atomic int runs[JOBS];
static weft_job jobs[JOBS];

static inline void count_run(void *opaque) {
    _Atomic int *count = opaque;
    atomic_fetch_add(count, 1);
    if ((count - runs) % 5 == 0)
        weft_yield();
}

static inline void check_runs(int expected) {
    for (int i = 0; i < JOBS; i++)
        CHECK_EQ(atomic_exchange(&runs[i], 0), expected);
}

/* More jobs than a new deque has room for. */
static inline void many_at_once(void) {
    for (int i = 0; i < JOBS; i++)
        weft_fork(&jobs[i], count_run, &runs[i]);
    for (int i = 0; i < JOBS; i++)
        weft_join_job(&jobs[i]);
    check_runs(1);
    for (int i = 0; i < JOBS; i++)
        weft_fork(&jobs[i], count_run, &runs[i]);
    for (int i = JOBS; i-- > 0;)
        weft_join_job(&jobs[i]);
    check_runs(1);
}

#endif
