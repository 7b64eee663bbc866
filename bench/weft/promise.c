/* SPDX-License-Identifier: MIT
 *
 * bench/weft/promise.c - what a promise costs: settled before anybody asks, and with a fiber that waits for it.
 *
 * Same work as bench/peers/go/promise.go and bench/peers/fiber/promise.cc.
 */
#include <stdatomic.h>

#include "bench.h"

enum { SETTLED = 2000000, ROUNDS = 1000000, WARM_UP = 100000 };

static intptr_t await_value(weft_promise *promise) {
    weft_outcome outcome;
    bench_must(weft_promise_await(promise, &outcome, WEFT_NEVER));
    if (outcome.state != WEFT_PROMISE_RESOLVED)
        weft_fatal("benchmark: a promise was rejected");
    return (intptr_t)outcome.value;
}

static void check_sum(int64_t sum, int64_t n) {
    if (sum != n * (n + 1) / 2)
        weft_fatal("benchmark: the values added up to %lld", (long long)sum);
}

static weft_time settle_and_await(long n) {
    int64_t sum = 0;
    weft_time start = weft_now();
    for (long i = 1; i <= n; i++) {
        weft_promise *promise;
        bench_must(weft_promise_new(&promise));
        bench_must(weft_promise_resolve(promise, (void *)(intptr_t)i));
        sum += await_value(promise);
        weft_promise_unref(promise);
    }
    weft_time took = weft_now() - start;
    check_sum(sum, n);
    return took;
}

static void settle_await(const char *suffix) {
    settle_and_await(WARM_UP);
    bench_report("promise.settle_await", suffix, (double)settle_and_await(SETTLED) / SETTLED, "ns");
}

/* The maker publishes a promise and resolves it once the waiter has taken it; on one worker it waits by then. Each
 * gives its own reference back. */
typedef struct meeting {
    weft_promise *promise;
    atomic_long published;
    atomic_long taken;
    long count;
    int64_t sum;
} meeting;

static void *await_each(void *arg) {
    meeting *self = arg;
    for (long i = 1; i <= self->count; i++) {
        while (atomic_load_explicit(&self->published, memory_order_acquire) < i)
            weft_yield();
        weft_promise *promise = self->promise;
        atomic_store_explicit(&self->taken, i, memory_order_release);
        self->sum += await_value(promise);
        weft_promise_unref(promise);
    }
    return NULL;
}

static weft_time meet(long n) {
    meeting shared = {.count = n};
    weft_fiber waiter;
    weft_time start = weft_now();
    bench_must(weft_spawn(&waiter, await_each, &shared));
    for (long i = 1; i <= n; i++) {
        weft_promise *promise;
        bench_must(weft_promise_new(&promise));
        weft_promise_ref(promise);
        shared.promise = promise;
        atomic_store_explicit(&shared.published, i, memory_order_release);
        while (atomic_load_explicit(&shared.taken, memory_order_acquire) < i)
            weft_yield();
        bench_must(weft_promise_resolve(promise, (void *)(intptr_t)i));
        weft_promise_unref(promise);
    }
    bench_must(weft_join(waiter, NULL, WEFT_NEVER));
    weft_time took = weft_now() - start;
    check_sum(shared.sum, n);
    return took;
}

static void round_of_two(const char *suffix) {
    meet(WARM_UP);
    bench_report("promise.round", suffix, (double)meet(ROUNDS) / ROUNDS, "ns");
}

static const bench all[] = {
    {"settle_await", settle_await},
    {"round", round_of_two},
};

BENCH_MAIN(all)
