/* SPDX-License-Identifier: MIT
 *
 * The work pool's rows by libuv: submission and waking an idle pool. Same work as bench/weft/pool.c.
 *
 * uv_queue_work may be called by the loop's own thread only, so there is no row with four submitters; and a work cannot
 * wait for another, so there is nothing to set beside fork-join. The threads are those of UV_THREADPOOL_SIZE. Each
 * request has its memory before the clock starts. The loop learns of every end, and the clock stops when it has learnt
 * of all.
 */
#include <stdatomic.h>
#include <unistd.h>
#include <uv.h>

#include "../../shared/plain.h"
#include "../../shared/pool_work.h"

static uv_work_t requests[POOL_WORKS];
static long ended;

static void empty(uv_work_t *request) {
    (void)request;
}

static void count_end(uv_work_t *request, int status) {
    (void)request;
    ended += status == 0;
}

static int64_t submit_pass(void) {
    uv_loop_t *loop = uv_default_loop();
    ended = 0;
    int64_t start = bench_now();
    for (long i = 0; i < POOL_WORKS; i++)
        bench_must(uv_queue_work(loop, &requests[i], empty, count_end) == 0, "uv_queue_work");
    bench_must(uv_run(loop, UV_RUN_DEFAULT) == 0, "uv_run");
    int64_t took = bench_now() - start;
    bench_must(ended == POOL_WORKS, "works are missing");
    return took;
}

static void submit1(const char *suffix) {
    int64_t best = INT64_MAX;
    (void)suffix;
    submit_pass();
    for (int i = 0; i < POOL_PASSES; i++) {
        int64_t took = submit_pass();
        best = took < best ? took : best;
    }
    bench_report("pool.submit1", NULL, (double)best / POOL_WORKS, "ns");
}

static _Atomic int64_t started;

static void note_start(uv_work_t *request) {
    (void)request;
    atomic_store_explicit(&started, bench_now(), memory_order_release);
}

static void wake(const char *suffix) {
    static int64_t delay[POOL_WAKES];
    uv_loop_t *loop = uv_default_loop();
    (void)suffix;
    for (int i = -POOL_WAKES_WARM_UP; i < POOL_WAKES; i++) {
        atomic_store(&started, 0);
        bench_pause(POOL_WAKE_PAUSE_NS);
        int64_t submitted = bench_now();
        bench_must(uv_queue_work(loop, &requests[0], note_start, NULL) == 0, "uv_queue_work");
        while (atomic_load_explicit(&started, memory_order_acquire) == 0)
            bench_pause(POOL_WAKE_PAUSE_NS);
        bench_must(uv_run(loop, UV_RUN_DEFAULT) == 0, "uv_run");
        if (i >= 0)
            delay[i] = atomic_load(&started) - submitted;
    }
    bench_report("pool.wake.p50", NULL, (double)bench_percentile(delay, POOL_WAKES, 0.50) / 1e3, "us");
    bench_report("pool.wake.p99", NULL, (double)bench_percentile(delay, POOL_WAKES, 0.99) / 1e3, "us");
}

/* Stays, once the works it had have run; bench/run watches from outside. */
static void idle(const char *suffix) {
    (void)suffix;
    submit_pass();
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

static const bench all[] = {{"submit1", submit1}, {"wake", wake}, {"idle", idle}};

BENCH_MAIN(all)
