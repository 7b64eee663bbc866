/* SPDX-License-Identifier: MIT
 *
 * bench/weft/memory.c - what a parked fiber costs: bytes, the time to make it, and what an idle runtime does.
 *
 * Fibers park in a join with one fiber that sleeps for an hour. The process leaves by _exit, without waking them.
 * "idle" prints "ready" and stays: bench/run watches the process from outside, so that no observer disturbs it.
 */
#include <stdatomic.h>
#include <unistd.h>

#include "bench.h"

enum { IDLE_PARKED = 10000 };

static weft_fiber sleeper;
static atomic_long started;

static void *sleep_an_hour(void *arg) {
    weft_sleep(weft_after(3600 * WEFT_SECOND));
    return arg;
}

static void *park(void *arg) {
    atomic_fetch_add_explicit(&started, 1, memory_order_relaxed);
    weft_join(sleeper, NULL, WEFT_NEVER);
    return arg;
}

static void park_many(long n) {
    for (long i = 0; i < n; i++)
        bench_must(weft_go(park, NULL));
    while (atomic_load_explicit(&started, memory_order_relaxed) < n)
        weft_yield();
}

static void mem(const char *suffix) {
    long n = suffix ? atol(suffix) : 0;
    if (n <= 0)
        weft_fatal("benchmark: mem needs a count");
    bench_must(weft_spawn(&sleeper, sleep_an_hour, NULL));
    long long before = bench_memory_bytes();
    weft_time start = weft_now();
    park_many(n);
    weft_time took = weft_now() - start;
    bench_report("mem", suffix, (double)(bench_memory_bytes() - before) / (double)n, "B");
    bench_report("memspawn", suffix, (double)took / (double)n, "ns");
    _exit(0);
}

static void idle(const char *suffix) {
    (void)suffix;
    bench_must(weft_spawn(&sleeper, sleep_an_hour, NULL));
    park_many(IDLE_PARKED);
    puts("ready");
    fflush(stdout);
    weft_join(sleeper, NULL, WEFT_NEVER);
}

static const bench all[] = {
    {"mem", mem},
    {"idle", idle},
};

BENCH_MAIN(all)
