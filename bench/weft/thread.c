/* SPDX-License-Identifier: MIT
 *
 * bench/weft/thread.c - calls that block and fibers that compute: what saying so costs, and whether timers keep going.
 *
 * A thousand fibers sleep 10 ms again and again while every worker is taken away for 2 s, by a call that blocks or by a
 * loop that computes. They have all begun their first sleep before the first worker is gone. The figure is the worst
 * lateness of any of their sleeps.
 */
#include <stdatomic.h>
#include <time.h>

#include "bench.h"

enum { PAIRS = 10000000, WARM_UP = 100000 };
enum { SLEEPERS = 1000, TAKERS_MAX = 64 };
static const weft_time NAP = 10 * WEFT_MILLISECOND, TAKEN = 2 * WEFT_SECOND;

typedef struct taker {
    void (*take)(void); /* keeps the worker for TAKEN */
    weft_time begun;
} taker;

static atomic_long asleep, takers_left;
static int64_t lateness[SLEEPERS]; /* the worst of each sleeper */

static weft_time blocking_pairs(long n) {
    weft_time start = weft_now();
    for (long i = 0; i < n; i++) {
        weft_blocking_begin();
        weft_blocking_end();
    }
    return weft_now() - start;
}

static void pair(const char *suffix) {
    (void)suffix;
    blocking_pairs(WARM_UP);
    bench_report("blocking.pair", NULL, (double)blocking_pairs(PAIRS) / PAIRS, "ns");
}

static void *sleep_again(void *arg) {
    int64_t *worst = arg;
    bool is_first = true;
    do {
        weft_time due = weft_after(NAP);
        if (is_first)
            atomic_fetch_add(&asleep, 1);
        is_first = false;
        weft_sleep(due);
        int64_t late = weft_now() - due;
        if (late > *worst)
            *worst = late;
    } while (atomic_load_explicit(&takers_left, memory_order_relaxed) > 0);
    return NULL;
}

static void block(void) {
    struct timespec pause = {TAKEN / WEFT_SECOND, TAKEN % WEFT_SECOND};
    weft_blocking_begin();
    nanosleep(&pause, NULL);
    weft_blocking_end();
}

/* Asks the kernel's clock, not weft's: a fiber that computes does not call weft. */
static weft_time clock_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * WEFT_SECOND + time.tv_nsec;
}

static void compute(void) {
    for (weft_time end = clock_ns() + TAKEN; clock_ns() < end;)
        ;
}

static void *take_worker(void *arg) {
    taker *self = arg;
    self->begun = weft_now();
    self->take();
    atomic_fetch_sub(&takers_left, 1);
    return NULL;
}

static int count_workers(void) {
    weft_stats stats;
    bench_must(weft_get_stats(NULL, &stats));
    if (stats.workers > TAKERS_MAX)
        weft_fatal("benchmark: at most %d workers", TAKERS_MAX);
    return (int)stats.workers;
}

/* A worker that was taken only after another was free again would make the figure a lie. */
static void check_overlap(const taker *takers, int n) {
    for (int i = 1; i < n; i++)
        if (takers[i].begun - takers[0].begun > TAKEN / 2 || takers[0].begun - takers[i].begun > TAKEN / 2)
            weft_fatal("benchmark: the workers were not taken at the same time");
}

static void time_sleeps(const char *row, void (*take)(void)) {
    static weft_fiber sleepers[SLEEPERS], taking[TAKERS_MAX];
    static taker takers[TAKERS_MAX];
    int n = count_workers();
    atomic_store(&takers_left, n);
    for (int i = 0; i < SLEEPERS; i++)
        bench_must(weft_spawn(&sleepers[i], sleep_again, &lateness[i]));
    while (atomic_load(&asleep) < SLEEPERS)
        weft_yield();
    for (int i = 0; i < n; i++) {
        weft_spawn_options options = {.home = (unsigned)i + 1};
        takers[i].take = take;
        bench_must(weft_spawn_with(&taking[i], &options, take_worker, &takers[i]));
    }
    for (int i = 0; i < n; i++)
        bench_must(weft_join(taking[i], NULL, WEFT_NEVER));
    for (int i = 0; i < SLEEPERS; i++)
        bench_must(weft_join(sleepers[i], NULL, WEFT_NEVER));
    check_overlap(takers, n);
    bench_report(row, NULL, (double)bench_percentile(lateness, SLEEPERS, 1) / WEFT_MILLISECOND, "ms");
}

static void blocking_timers(const char *suffix) {
    (void)suffix;
    time_sleeps("blocking.timers", block);
}

static void hog_timers(const char *suffix) {
    (void)suffix;
    time_sleeps("hog.timers", compute);
}

static const bench all[] = {
    {"pair", pair},
    {"blocking_timers", blocking_timers},
    {"hog_timers", hog_timers},
};

BENCH_MAIN(all)
