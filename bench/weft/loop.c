/* SPDX-License-Identifier: MIT
 *
 * bench/weft/loop.c - the event loop: submission from outside, waking a loop that sleeps, microtasks, immediates,
 * timers, promises, descriptors.
 *
 * Same work as bench/peers/uv/loop.c and bench/peers/node/loop.js. There is no weft_run here: the loop is run by this
 * thread, except in "wake", where it has one of its own.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../shared/loop_work.h"
#include "bench.h"

static weft_loop *loop;
static long ran;    /* callbacks of this pass */
static long wanted; /* of them */

/* The row is the best pass, after one that warms up. A pass returns nanoseconds. */
static void report_best(const char *row, const char *suffix, long n, weft_time (*pass)(void)) {
    weft_time best = INT64_MAX;
    pass();
    for (int i = 0; i < LOOP_PASSES; i++) {
        weft_time took = pass();
        best = took < best ? took : best;
    }
    bench_report(row, suffix, (double)best / (double)n, "ns");
}

/* Runs the loop, which has something to begin with, until nothing is left. */
static weft_time run_until_quiet(long n) {
    ran = 0;
    wanted = n;
    weft_time start = weft_now();
    bench_must(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER));
    weft_time took = weft_now() - start;
    if (ran != n)
        weft_fatal("benchmark: %ld callbacks have run", ran);
    return took;
}

/* ---- submission ----------------------------------------------------------------------------------------------- */

static int producers;
static bool stays_busy;
static pthread_barrier_t begin;

static void count_and_stop(void *arg) {
    (void)arg;
    if (++ran == wanted)
        bench_must(weft_loop_stop(loop));
}

/* As long as there is an immediate the loop does not sleep. */
static void again(void *arg) {
    if (ran != wanted)
        bench_must(weft_set_immediate(loop, NULL, again, arg));
}

static void *produce(void *arg) {
    pthread_barrier_wait(&begin);
    for (long i = 0; i < LOOP_SUBMITS / producers; i++)
        bench_must(weft_loop_submit(loop, count_and_stop, NULL));
    return arg;
}

static weft_time submit_pass(void) {
    pthread_t threads[LOOP_PRODUCERS_MAX];
    ran = 0;
    wanted = LOOP_SUBMITS;
    bench_must(-pthread_barrier_init(&begin, NULL, (unsigned)producers + 1));
    for (int i = 0; i < producers; i++)
        bench_must(-pthread_create(&threads[i], NULL, produce, NULL));
    bench_must(weft_loop_keep(loop));
    if (stays_busy)
        again(NULL);
    weft_time start = weft_now();
    pthread_barrier_wait(&begin);
    bench_must(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER));
    weft_time took = weft_now() - start;
    weft_loop_unkeep(loop);
    for (int i = 0; i < producers; i++)
        bench_must(-pthread_join(threads[i], NULL));
    pthread_barrier_destroy(&begin);
    while (weft_loop_is_alive(loop)) /* the last immediate */
        bench_must(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER));
    if (ran != LOOP_SUBMITS)
        weft_fatal("benchmark: %ld tasks have run", ran);
    return took;
}

static void submit(const char *suffix) {
    producers = suffix ? atoi(suffix) : 1;
    if (producers < 1 || producers > LOOP_PRODUCERS_MAX)
        weft_fatal("benchmark: producers: 1 to %d", LOOP_PRODUCERS_MAX);
    report_best("loop.submit", suffix, LOOP_SUBMITS, submit_pass);
}

static void submit_running(const char *suffix) {
    producers = 1;
    stays_busy = true;
    report_best("loop.submit_running", suffix, LOOP_SUBMITS, submit_pass);
}

/* ---- waking a loop that sleeps -------------------------------------------------------------------------------- */

static _Atomic int64_t started;
static _Atomic int owner_id;

static void *own(void *arg) {
    atomic_store(&owner_id, (int)syscall(SYS_gettid));
    bench_must(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER));
    return arg;
}

static void note_start(void *arg) {
    (void)arg;
    atomic_store_explicit(&started, weft_now(), memory_order_release);
}

static void wake(const char *suffix) {
    static int64_t delay[LOOP_WAKES], cost[LOOP_WAKES];
    const struct timespec pause = {0, LOOP_WAKE_PAUSE_NS};
    pthread_t owner;
    (void)suffix;
    bench_must(weft_loop_keep(loop));
    bench_must(-pthread_create(&owner, NULL, own, NULL));
    while (atomic_load(&owner_id) == 0)
        sched_yield();
    int stat = loop_thread_open(atomic_load(&owner_id));
    for (int i = -LOOP_WAKES_WARM_UP; i < LOOP_WAKES; i++) {
        atomic_store(&started, 0);
        while (weft_loop_get_state(loop) != WEFT_LOOP_SLEEPING || !loop_thread_sleeps(stat))
            sched_yield();
        weft_time before = weft_now();
        bench_must(weft_loop_submit(loop, note_start, NULL));
        weft_time after = weft_now();
        while (atomic_load_explicit(&started, memory_order_acquire) == 0)
            nanosleep(&pause, NULL);
        if (i >= 0) {
            delay[i] = atomic_load(&started) - before;
            cost[i] = after - before;
        }
    }
    bench_must(weft_loop_stop(loop));
    pthread_join(owner, NULL);
    weft_loop_unkeep(loop);
    close(stat);
    bench_report("loop.wake.p50", NULL, (double)bench_percentile(delay, LOOP_WAKES, 0.50) / WEFT_MICROSECOND, "us");
    bench_report("loop.wake.p99", NULL, (double)bench_percentile(delay, LOOP_WAKES, 0.99) / WEFT_MICROSECOND, "us");
    bench_report("loop.wake_cost.p50", NULL, (double)bench_percentile(cost, LOOP_WAKES, 0.50) / WEFT_MICROSECOND, "us");
}

/* ---- microtasks, ticks, immediates ---------------------------------------------------------------------------- */

typedef int (*queue_fn)(weft_loop *loop, weft_loop_fn fn, void *arg);
static queue_fn queue;

static void burst(void *arg);

static void count_in_burst(void *arg) {
    (void)arg;
    if (++ran % LOOP_BURST == 0 && ran != wanted)
        bench_must(weft_loop_submit(loop, burst, NULL));
}

static void burst(void *arg) {
    (void)arg;
    for (int i = 0; i < LOOP_BURST; i++)
        bench_must(queue(loop, count_in_burst, NULL));
}

static weft_time burst_pass(void) {
    bench_must(weft_loop_submit(loop, burst, NULL));
    return run_until_quiet((long)LOOP_BURST * LOOP_BURSTS);
}

static void report_bursts(const char *row, queue_fn by) {
    queue = by;
    report_best(row, NULL, (long)LOOP_BURST * LOOP_BURSTS, burst_pass);
}

static void microtask(const char *suffix) {
    (void)suffix;
    report_bursts("loop.microtask", weft_loop_microtask);
}

static void next_tick(const char *suffix) {
    (void)suffix;
    report_bursts("loop.next_tick", weft_loop_next_tick);
}

static int queue_immediate(weft_loop *in, weft_loop_fn fn, void *arg) {
    return weft_set_immediate(in, NULL, fn, arg);
}

static void immediate(const char *suffix) {
    (void)suffix;
    report_bursts("loop.immediate", queue_immediate);
}

static void next_link(void *arg) {
    if (++ran != wanted)
        bench_must(weft_loop_microtask(loop, next_link, arg));
}

static weft_time nested_pass(void) {
    bench_must(weft_loop_microtask(loop, next_link, NULL));
    return run_until_quiet((long)LOOP_BURST * LOOP_BURSTS);
}

static void microtask_nested(const char *suffix) {
    report_best("loop.microtask_nested", suffix, (long)LOOP_BURST * LOOP_BURSTS, nested_pass);
}

/* ---- timers --------------------------------------------------------------------------------------------------- */

static int64_t delays[LOOP_TIMERS];
static weft_loop_timer timers[LOOP_TIMERS];
static uint32_t order[LOOP_TIMERS];

static void fire_round(void *arg);

static void fired(void *arg) {
    (void)arg;
    if (++ran % LOOP_TIMERS == 0 && ran != wanted)
        bench_must(weft_loop_submit(loop, fire_round, NULL));
}

static void fire_round(void *arg) {
    (void)arg;
    for (int i = 0; i < LOOP_TIMERS; i++)
        bench_must(weft_set_timeout(loop, &timers[i], delays[i], fired, NULL));
}

static weft_time fire_pass(void) {
    bench_must(weft_loop_submit(loop, fire_round, NULL));
    weft_time start = bench_cpu_ns();
    run_until_quiet((long)LOOP_TIMERS * LOOP_FIRE_ROUNDS);
    return bench_cpu_ns() - start;
}

static void timer_fire(const char *suffix) {
    uint32_t state = 1;
    for (int i = 0; i < LOOP_TIMERS; i++)
        delays[i] = loop_random(&state, LOOP_FIRE_NS);
    report_best("loop.timer_fire", suffix, (long)LOOP_TIMERS * LOOP_FIRE_ROUNDS, fire_pass);
}

static void set_round(void *arg);

static void cancel_round(void *arg) {
    for (int i = 0; i < LOOP_TIMERS; i++)
        bench_must(weft_clear_timer(loop, timers[order[i]]));
    ran += LOOP_TIMERS;
    if (ran != wanted)
        bench_must(weft_loop_submit(loop, set_round, arg));
}

static void set_round(void *arg) {
    for (int i = 0; i < LOOP_TIMERS; i++)
        bench_must(weft_set_timeout(loop, &timers[i], delays[i], fired, NULL));
    bench_must(weft_loop_submit(loop, cancel_round, arg));
}

static weft_time cancel_pass(void) {
    bench_must(weft_loop_submit(loop, set_round, NULL));
    return run_until_quiet((long)LOOP_TIMERS * LOOP_CANCEL_ROUNDS);
}

static void timer_cancel(const char *suffix) {
    uint32_t state = 1;
    for (int i = 0; i < LOOP_TIMERS; i++)
        delays[i] = WEFT_SECOND + loop_random(&state, LOOP_CANCEL_MS) * WEFT_MILLISECOND;
    loop_shuffle(order, LOOP_TIMERS);
    report_best("loop.timer_cancel", suffix, (long)LOOP_TIMERS * LOOP_CANCEL_ROUNDS, cancel_pass);
}

/* ---- promises -------------------------------------------------------------------------------------------------- */

static weft_reply next_in_chain(void *value, void *arg) {
    (void)arg;
    ran++;
    return weft_reply_value(value);
}

static void chain(void *arg) {
    weft_promise *first, *last, *next;
    bench_must(weft_loop_promise(loop, &first));
    last = weft_promise_ref(first);
    for (int i = 0; i < LOOP_CHAIN; i++) {
        bench_must(weft_loop_then(loop, last, &next, next_in_chain, NULL, NULL));
        weft_promise_unref(last);
        last = next;
    }
    bench_must(weft_promise_resolve(first, arg));
    weft_promise_unref(first);
    weft_promise_unref(last);
}

static weft_time chain_pass(void) {
    bench_must(weft_loop_submit(loop, chain, &ran));
    return run_until_quiet(LOOP_CHAIN);
}

static void then_chain(const char *suffix) {
    report_best("loop.then_chain", suffix, LOOP_CHAIN, chain_pass);
}

/* ---- descriptors ---------------------------------------------------------------------------------------------- */

static int ends[2];

static void answer(int fd, unsigned events, void *arg) {
    char byte;
    (void)arg;
    if (events != WEFT_FD_READ || read(fd, &byte, 1) != 1)
        weft_fatal("benchmark: nothing to be read");
    if (++ran == wanted) {
        bench_must(weft_loop_fd_remove(loop, ends[0]));
        bench_must(weft_loop_fd_remove(loop, ends[1]));
    } else if (write(fd, &byte, 1) != 1) {
        weft_fatal("benchmark: nothing could be written");
    }
}

static weft_time fd_pass(void) {
    bench_must(weft_loop_fd_add(loop, ends[0], WEFT_FD_READ, answer, NULL));
    bench_must(weft_loop_fd_add(loop, ends[1], WEFT_FD_READ, answer, NULL));
    if (write(ends[0], "", 1) != 1)
        weft_fatal("benchmark: nothing could be written");
    return run_until_quiet(2L * LOOP_ROUND_TRIPS);
}

static void fd_round(const char *suffix) {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        weft_fatal("benchmark: no pair of sockets");
    report_best("loop.fd_round", suffix, LOOP_ROUND_TRIPS, fd_pass);
}

static const bench all[] = {
    {"submit", submit},
    {"submit_running", submit_running},
    {"wake", wake},
    {"microtask", microtask},
    {"microtask_nested", microtask_nested},
    {"next_tick", next_tick},
    {"immediate", immediate},
    {"timer_fire", timer_fire},
    {"timer_cancel", timer_cancel},
    {"then_chain", then_chain},
    {"fd_round", fd_round},
};

int main(int argc, char **argv) {
    weft_loop_options options = {.stays = true, .warn_after = UINT32_MAX};
    int status = bench_choose(argc, argv, all, sizeof all / sizeof *all);
    if (status != 0)
        return status;
    bench_must(weft_loop_new(&loop, &options));
    bench_chosen->run(bench_suffix);
    weft_loop_unref(loop);
    return 0;
}
