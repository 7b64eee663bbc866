/* SPDX-License-Identifier: MIT
 *
 * bench/weft/realtime.c - how soon an urgent fiber runs once it is woken, while everything is busy.
 *
 * "high": a fiber of high priority, among fibers that compute for 10 us and yield, four for each worker. "real_time": a
 * fiber with a real-time thread, while one fiber for each worker computes without a pause. One of the busy fibers is
 * the waker: every millisecond it notes the time, sends it over a channel that has room, and goes on with its turn, so it
 * does not hand over by itself.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { YIELDERS = 4, BUSY_MAX = 256, SAMPLES_MAX = 4096, WARM_UP = 20, REAL_TIME = 10 };
static const weft_time LASTS = 3 * WEFT_SECOND, TURN = 10 * WEFT_MICROSECOND, BETWEEN = WEFT_MILLISECOND;

typedef struct load {
    weft_chan *wakes; /* takes the time of each wake */
    bool yields;
    weft_time end;
    _Atomic weft_time answered; /* when the urgent fiber last ran; 0 while a wake is under way */
    int64_t delay[SAMPLES_MAX];
    size_t samples;
} load;

static load busy;

/* Asks the kernel's clock, not weft's: a fiber that computes does not call weft. */
static weft_time clock_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * WEFT_SECOND + time.tv_nsec;
}

static void compute(weft_time ns) {
    for (weft_time end = clock_ns() + ns; clock_ns() < end;)
        ;
}

static void *keep_busy(void *arg) {
    (void)arg;
    while (clock_ns() < busy.end) {
        compute(TURN);
        if (busy.yields)
            weft_yield();
    }
    return NULL;
}

static void *keep_busy_and_wake(void *arg) {
    (void)arg;
    while (clock_ns() < busy.end) {
        weft_time answered = atomic_load(&busy.answered), now = clock_ns();
        if (answered != 0 && now - answered >= BETWEEN) {
            atomic_store(&busy.answered, 0);
            now = clock_ns();
            bench_must(weft_chan_send(busy.wakes, &now, WEFT_NOW));
        }
        compute(TURN);
        if (busy.yields)
            weft_yield();
    }
    bench_must(weft_chan_close(busy.wakes));
    return NULL;
}

static void *answer(void *arg) {
    weft_time sent;
    int wakes = 0;
    while (weft_chan_recv(busy.wakes, &sent, WEFT_NEVER) == 0) {
        weft_time now = clock_ns();
        if (++wakes > WARM_UP && busy.samples < SAMPLES_MAX)
            busy.delay[busy.samples++] = now - sent;
        atomic_store(&busy.answered, clock_ns());
    }
    return arg;
}

static void *answer_in_real_time(void *arg) {
    if ((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_FIFO) {
        fputs("the real-time policy is not allowed here\n", stderr);
        _exit(1);
    }
    return answer(arg);
}

static void time_wakes(weft_fn urgent, const weft_spawn_options *options, unsigned each) {
    weft_fiber fibers[BUSY_MAX + 1];
    weft_stats stats;
    bench_must(weft_get_stats(NULL, &stats));
    unsigned n = stats.workers * each;
    if (n > BUSY_MAX)
        weft_fatal("benchmark: too many workers");
    bench_must(weft_chan_new(&busy.wakes, sizeof(weft_time), 1));
    busy.end = clock_ns() + LASTS;
    atomic_store(&busy.answered, clock_ns());
    bench_must(weft_spawn_with(&fibers[n], options, urgent, NULL));
    for (unsigned i = 0; i < n; i++) {
        weft_spawn_options home = {.home = i % stats.workers + 1};
        bench_must(weft_spawn_with(&fibers[i], &home, i == 0 ? keep_busy_and_wake : keep_busy, NULL));
    }
    for (unsigned i = 0; i <= n; i++)
        bench_must(weft_join(fibers[i], NULL, WEFT_NEVER));
    weft_chan_free(busy.wakes);
}

static void report_delays(const char *p50, const char *p99, const char *max) {
    bench_report(p50, NULL, (double)bench_percentile(busy.delay, busy.samples, 0.50) / WEFT_MICROSECOND, "us");
    bench_report(p99, NULL, (double)bench_percentile(busy.delay, busy.samples, 0.99) / WEFT_MICROSECOND, "us");
    bench_report(max, NULL, (double)bench_percentile(busy.delay, busy.samples, 1) / WEFT_MICROSECOND, "us");
}

static void high(const char *suffix) {
    (void)suffix;
    busy.yields = true;
    time_wakes(answer, &(weft_spawn_options){.priority = WEFT_PRIORITY_HIGH}, YIELDERS);
    report_delays("rt.wake.high.p50", "rt.wake.high.p99", "rt.wake.high.max");
}

static void real_time(const char *suffix) {
    (void)suffix;
    busy.yields = false;
    time_wakes(answer_in_real_time, &(weft_spawn_options){.real_time = REAL_TIME}, 1);
    report_delays("rt.wake.real_time.p50", "rt.wake.real_time.p99", "rt.wake.real_time.max");
}

static const bench all[] = {
    {"high", high},
    {"real_time", real_time},
};

BENCH_MAIN(all)
