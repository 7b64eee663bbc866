/* SPDX-License-Identifier: MIT
 *
 * bench/weft/wake.c - a plain thread hands work to a runtime that is asleep: how soon it starts, what that costs.
 *
 * The first fiber sleeps for an hour, so nothing keeps a worker awake. The plain thread pauses before every submission,
 * long enough for the workers to go idle, reports at the end and leaves by _exit.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { WARM_UP = 50, SAMPLES = 1000, PAUSE_NS = 2000000 };

static void *note_start(void *arg) {
    atomic_store_explicit((_Atomic int64_t *)arg, weft_now(), memory_order_release);
    return NULL;
}

static void *submit_from_outside(void *arg) {
    static int64_t delay[SAMPLES], cost[SAMPLES];
    (void)arg;
    for (int i = -WARM_UP; i < SAMPLES; i++) {
        static _Atomic int64_t started;
        struct timespec pause = {0, PAUSE_NS};
        atomic_store(&started, 0);
        nanosleep(&pause, NULL);
        weft_time submitted = weft_now();
        bench_must(weft_go(note_start, &started));
        weft_time returned = weft_now();
        while (atomic_load_explicit(&started, memory_order_acquire) == 0)
            nanosleep(&pause, NULL);
        if (i < 0)
            continue;
        delay[i] = atomic_load(&started) - submitted;
        cost[i] = returned - submitted;
    }
    bench_report("wake.p50", NULL, (double)bench_percentile(delay, SAMPLES, 0.50) / WEFT_MICROSECOND, "us");
    bench_report("wake.p99", NULL, (double)bench_percentile(delay, SAMPLES, 0.99) / WEFT_MICROSECOND, "us");
    bench_report("wake_cost.p50", NULL, (double)bench_percentile(cost, SAMPLES, 0.50) / WEFT_MICROSECOND, "us");
    _exit(0);
}

static void wake(const char *suffix) {
    pthread_t outside;
    (void)suffix;
    bench_must(-pthread_create(&outside, NULL, submit_from_outside, NULL));
    weft_sleep(weft_after(3600 * WEFT_SECOND));
}

static const bench all[] = {{"wake", wake}};

BENCH_MAIN(all)
