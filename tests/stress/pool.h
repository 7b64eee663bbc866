/* SPDX-License-Identifier: MIT
 *
 * stress/pool.h - what the stress suites of pools share: how much to do, and a pool with nothing left in it.
 *
 * The pool has as many threads as the entry says. WEFT_POOL_FULL=1, or a scale of 10000, runs the long versions:
 * 10,000 bursts, a million rounds, a hundred times a million works. That takes hours.
 */
#ifndef WF_STRESS_POOL_H
#define WF_STRESS_POOL_H

#include "support/run.h"
#include "weft/pool.h"

enum { MANY_THREADS = 33 };

static inline bool is_full(void) {
    const char *value = getenv("WEFT_POOL_FULL");
    return (value && value[0] == '1') || wf_test_scale() >= 10000;
}

static inline long amount(long usual, long least, long full) {
    return is_full() ? full : scaled(usual, least);
}

static inline unsigned pool_threads(void) {
    return wf_test_workers();
}

static inline weft_pool *pool_with(const weft_pool_options *options) {
    weft_pool *pool = NULL;
    CHECK_EQ(weft_pool_new(&pool, options), 0);
    return pool;
}

static inline weft_pool_stats pool_stats(weft_pool *pool) {
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_get_stats(pool, &stats), 0);
    return stats;
}

/* Nothing is left, whatever has happened. */
static inline void check_empty(weft_pool *pool) {
    weft_pool_stats stats = pool_stats(pool);
    CHECK(stats.is_idle);
    CHECK_EQ(stats.outstanding, 0);
    CHECK_EQ(stats.queued, 0);
    CHECK_EQ(stats.held, 0);
    CHECK_EQ(stats.running, 0);
    uint64_t ended =
        stats.succeeded + stats.failed + stats.cancelled + stats.stopped + stats.force_stopped + stats.timed_out;
    CHECK_EQ(ended, stats.submitted);
}

static inline void spin_for(int64_t ns) {
    weft_time end = weft_after(ns);
    while (weft_now() < end)
        ;
}

#endif
