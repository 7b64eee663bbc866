/* SPDX-License-Identifier: MIT
 *
 * bench/weft/sync.c - what a mutex costs: alone, and with four fibers a worker after it.
 *
 * Same work as bench/peers/go/sync.go and bench/peers/fiber/sync.cc. Under contention a section adds one to a number.
 * One in sixteen yields with the mutex held: on one worker nobody would ever find it locked otherwise.
 */
#include "bench.h"

enum { PAIRS = 20000000, SECTIONS = 4000000, WARM_UP = 100000 };
enum { FIBERS_PER_WORKER = 4, FIBERS_MAX = 64, YIELD_EVERY = 16 };

static weft_mutex mutex = WEFT_MUTEX_INIT;
static int64_t number; /* under mutex */

static weft_time lock_and_unlock(long n) {
    weft_time start = weft_now();
    for (long i = 0; i < n; i++) {
        bench_must(weft_mutex_lock(&mutex, WEFT_NEVER));
        weft_mutex_unlock(&mutex);
    }
    return weft_now() - start;
}

static void uncontended(const char *suffix) {
    lock_and_unlock(WARM_UP);
    bench_report("mutex.uncontended", suffix, (double)lock_and_unlock(PAIRS) / PAIRS, "ns");
}

static void *add_ones(void *arg) {
    for (long i = 0, n = (long)(intptr_t)arg; i < n; i++) {
        bench_must(weft_mutex_lock(&mutex, WEFT_NEVER));
        number++;
        if (i % YIELD_EVERY == 0)
            weft_yield();
        weft_mutex_unlock(&mutex);
    }
    return NULL;
}

/* The time a section takes, over all fibers. */
static double contend(int fibers, long n) {
    weft_fiber adding[FIBERS_MAX];
    long share = n / fibers;
    number = 0;
    weft_time start = weft_now();
    for (int i = 0; i < fibers; i++)
        bench_must(weft_spawn(&adding[i], add_ones, (void *)(intptr_t)share));
    for (int i = 0; i < fibers; i++)
        bench_must(weft_join(adding[i], NULL, WEFT_NEVER));
    weft_time took = weft_now() - start;
    if (number != fibers * share)
        weft_fatal("benchmark: %lld sections were counted", (long long)number);
    return (double)took / (double)number;
}

static void contended(const char *suffix) {
    int fibers = FIBERS_PER_WORKER * (suffix ? atoi(suffix) : 1);
    if (fibers < 1 || fibers > FIBERS_MAX)
        weft_fatal("benchmark: contended needs a number of workers");
    contend(fibers, WARM_UP);
    bench_report("mutex.contended", suffix, contend(fibers, SECTIONS), "ns");
}

static const bench all[] = {
    {"uncontended", uncontended},
    {"contended", contended},
};

BENCH_MAIN(all)
