/* SPDX-License-Identifier: MIT
 *
 * bench/weft/blas.c - a thousand bound fibers call OpenBLAS beside a hundred thousand that are parked.
 *
 * The same slices of dot products are computed in three ways that take turns: by plain threads, one for each slice; by
 * bound fibers, each slice in one foreign call, which shows what being bound costs; and by bound fibers with a foreign
 * call for every dot product, which adds what each call costs. Rates are calls per second of the processor time of the
 * computing threads, so a thread that waits for a core is not counted as slow, and the best pass of each way counts.
 * Meanwhile two light fibers pass a number to and fro.
 */
#include <cblas.h>
#include <stdatomic.h>
#include <unistd.h>

#include "bench.h"
#include "dots.h"

enum { PARKED = 100000, PASSES = 8 };

typedef enum way { PLAIN, BY_SLICE, BY_CALL } way;

typedef struct ddot_call {
    const dots *slice;
    double result;
} ddot_call;

typedef struct pair {
    weft_chan *there;
    weft_chan *back;
    atomic_long rounds;
    atomic_bool is_over;
} pair;

static dots *slices;
static way chosen_way;
static weft_fiber sleeper;
static atomic_long parked;
static pair light;
static weft_barrier begin = WEFT_BARRIER_INIT(DOTS_SLICES + 1), end = WEFT_BARRIER_INIT(DOTS_SLICES + 1);

static void *sleep_an_hour(void *arg) {
    weft_sleep(weft_after(3600 * WEFT_SECOND));
    return arg;
}

static void *park(void *arg) {
    atomic_fetch_add_explicit(&parked, 1, memory_order_relaxed);
    weft_join(sleeper, NULL, WEFT_NEVER);
    return arg;
}

static void call_ddot(void *arg) {
    ddot_call *call = arg;
    call->result = cblas_ddot(DOTS_LENGTH, call->slice->x, 1, call->slice->y, 1);
}

static void run_by_call(dots *slice) {
    weft_ffi_site *here = weft_ffi_here();
    double sum = 0;
    int64_t begun = dots_thread_cpu_ns();
    for (int i = 0; i < DOTS_CALLS; i++) {
        ddot_call call = {slice, 0};
        weft_ffi_call_bound(here, call_ddot, &call);
        sum += call.result;
    }
    slice->cpu_ns = dots_thread_cpu_ns() - begun;
    slice->sum = sum;
}

static void *compute(void *arg) {
    dots *slice = arg;
    for (;;) {
        bench_must(weft_barrier_wait(&begin, WEFT_NEVER));
        if (!weft_is_bound())
            weft_fatal("benchmark: a fiber is not bound");
        if (chosen_way == BY_CALL)
            run_by_call(slice);
        else
            bench_must(weft_ffi_call(dots_run, slice));
        bench_must(weft_barrier_wait(&end, WEFT_NEVER));
    }
    return NULL;
}

static void *ask(void *arg) {
    int64_t value = 0;
    while (!atomic_load_explicit(&light.is_over, memory_order_relaxed)) {
        bench_must(weft_chan_send(light.there, &value, WEFT_NEVER));
        bench_must(weft_chan_recv(light.back, &value, WEFT_NEVER));
        atomic_fetch_add_explicit(&light.rounds, 1, memory_order_relaxed);
    }
    bench_must(weft_chan_close(light.there));
    return arg;
}

static void *answer(void *arg) {
    int64_t value;
    while (weft_chan_recv(light.there, &value, WEFT_NEVER) == 0)
        bench_must(weft_chan_send(light.back, &value, WEFT_NEVER));
    return arg;
}

static void compute_plain(void) {
    weft_blocking_begin();
    bench_must(-dots_run_plain(slices));
    weft_blocking_end();
}

static void compute_bound(way how) {
    chosen_way = how;
    bench_must(weft_barrier_wait(&begin, WEFT_NEVER));
    bench_must(weft_barrier_wait(&end, WEFT_NEVER));
}

/* Computes all slices, with the light pair beside. Returns how long it took. */
static weft_time pass(way how, double *best_rate) {
    weft_fiber asking, answering;
    atomic_store(&light.is_over, false);
    bench_must(weft_chan_new(&light.there, sizeof(int64_t), 0));
    bench_must(weft_chan_new(&light.back, sizeof(int64_t), 0));
    bench_must(weft_spawn(&asking, ask, NULL));
    bench_must(weft_spawn(&answering, answer, NULL));
    weft_time start = weft_now();
    if (how == PLAIN)
        compute_plain();
    else
        compute_bound(how);
    weft_time took = weft_now() - start;
    atomic_store(&light.is_over, true);
    bench_must(weft_join(asking, NULL, WEFT_NEVER));
    bench_must(weft_join(answering, NULL, WEFT_NEVER));
    weft_chan_free(light.there);
    weft_chan_free(light.back);
    int64_t cpu_ns = dots_collect(slices);
    if (cpu_ns <= 0)
        weft_fatal("benchmark: a slice has a wrong sum");
    double rate = (double)DOTS_SLICES * DOTS_CALLS * 1e3 / (double)cpu_ns;
    if (rate > *best_rate)
        *best_rate = rate;
    return took;
}

static void start_all(void) {
    slices = dots_new();
    if (!slices)
        weft_fatal("benchmark: no memory");
    bench_must(weft_spawn(&sleeper, sleep_an_hour, NULL));
    for (long i = 0; i < PARKED; i++)
        bench_must(weft_go(park, NULL));
    while (atomic_load_explicit(&parked, memory_order_relaxed) < PARKED)
        weft_yield();
    for (long i = 0; i < DOTS_SLICES; i++)
        bench_must(weft_spawn_with(NULL, &(weft_spawn_options){.bound = true, .detached = true}, compute, &slices[i]));
}

static void blas(const char *suffix) {
    double plain = 0, bound = 0, call = 0;
    weft_time took = 0; /* by the bound fibers */
    long rounds = 0;    /* of the light pair, beside them */
    (void)suffix;
    start_all();
    for (int i = 0; i < PASSES; i++) {
        pass(PLAIN, &plain);
        atomic_store(&light.rounds, rounds);
        took += pass(BY_SLICE, &bound);
        took += pass(BY_CALL, &call);
        rounds = atomic_load(&light.rounds);
    }
    bench_report("blas.plain_rate", NULL, plain, "M/s");
    bench_report("blas.bound_rate", NULL, bound, "M/s");
    bench_report("blas.bound_ratio", NULL, bound / plain, "x");
    bench_report("blas.call_ratio", NULL, call / plain, "x");
    bench_report("blas.light_rounds", NULL, (double)rounds * 1e9 / (double)took, "1/s");
    bench_report("blas.memory", NULL, (double)bench_memory_bytes() / 1e6, "MB");
    _exit(0);
}

static const bench all[] = {{"blas", blas}};

BENCH_MAIN(all)
