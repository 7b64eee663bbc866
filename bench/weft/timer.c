/* SPDX-License-Identifier: MIT
 *
 * bench/weft/timer.c - many sleeping fibers: how long a million take, what a hundred thousand cost, how late they wake.
 *
 * The last sleeper takes the time; the other fibers just count down. The distances are a hash of the sleeper's number,
 * the same in every system.
 */
#include <stdatomic.h>

#include "bench.h"

enum { LATE_SLEEPERS = 100000, SETTLE_MS = 200 };

typedef struct sleeper {
    weft_time begun;
    weft_time due;
    weft_time woken;
} sleeper;

static atomic_long left;
static _Atomic weft_time ended; /* written by the last sleeper, zero until then */
static sleeper *sleepers_made;

/* A whole number below 1e9 from a task's number: the finalizer of splitmix64. */
static int64_t spread_ns(uint64_t i) {
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (int64_t)((x ^ (x >> 31)) % 1000000000);
}

static void count_down(void) {
    if (atomic_fetch_sub_explicit(&left, 1, memory_order_acq_rel) == 1)
        atomic_store_explicit(&ended, weft_now(), memory_order_release);
}

static weft_time wait_for_all(void) {
    while (atomic_load_explicit(&ended, memory_order_acquire) == 0)
        weft_sleep(weft_after(20 * WEFT_MILLISECOND));
    return atomic_load(&ended);
}

static void *sleep_long(void *arg) {
    weft_sleep(weft_after(WEFT_SECOND + spread_ns((uint64_t)(uintptr_t)arg)));
    count_down();
    return NULL;
}

static void *sleep_and_note(void *arg) {
    sleeper *self = arg;
    self->begun = weft_now();
    self->due = self->begun + spread_ns((uint64_t)(self - sleepers_made));
    weft_sleep(self->due);
    self->woken = weft_now();
    count_down();
    return NULL;
}

static void sleepers(const char *suffix) {
    long n = suffix ? atol(suffix) : 0;
    if (n <= 0)
        weft_fatal("benchmark: sleepers needs a count");
    atomic_store(&left, n);
    weft_time start = weft_now();
    for (long i = 0; i < n; i++)
        bench_must(weft_go(sleep_long, (void *)(intptr_t)i));
    bench_report("sleepers", suffix, (double)(wait_for_all() - start) / WEFT_MILLISECOND, "ms");
}

/* Lateness counts for sleepers that are due well after the last one has begun: before that, spawning is in the way and
 * the backlog that it left. */
static void report_lateness(void) {
    int64_t *lateness = malloc(LATE_SLEEPERS * sizeof *lateness);
    if (!lateness)
        weft_fatal("benchmark: no memory");
    weft_time steady = 0;
    size_t n = 0;
    for (long i = 0; i < LATE_SLEEPERS; i++)
        if (sleepers_made[i].begun > steady)
            steady = sleepers_made[i].begun;
    steady += SETTLE_MS * WEFT_MILLISECOND;
    for (long i = 0; i < LATE_SLEEPERS; i++)
        if (sleepers_made[i].due > steady)
            lateness[n++] = sleepers_made[i].woken - sleepers_made[i].due;
    bench_report("sleepers.late.p50", NULL, (double)bench_percentile(lateness, n, 0.50) / WEFT_MICROSECOND, "us");
    bench_report("sleepers.late.p99", NULL, (double)bench_percentile(lateness, n, 0.99) / WEFT_MICROSECOND, "us");
    free(lateness);
}

static void late(const char *suffix) {
    sleepers_made = calloc(LATE_SLEEPERS, sizeof *sleepers_made);
    if (!sleepers_made)
        weft_fatal("benchmark: no memory");
    atomic_store(&left, LATE_SLEEPERS);
    weft_time start = bench_cpu_ns();
    for (long i = 0; i < LATE_SLEEPERS; i++)
        bench_must(weft_go(sleep_and_note, &sleepers_made[i]));
    wait_for_all();
    bench_report("sleepers.cpu", suffix, (double)(bench_cpu_ns() - start) / WEFT_MILLISECOND, "ms");
    report_lateness();
    free(sleepers_made);
}

static const bench all[] = {
    {"sleepers", sleepers},
    {"late", late},
};

BENCH_MAIN(all)
