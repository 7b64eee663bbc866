/* SPDX-License-Identifier: MIT
 *
 * The event loop's rows by libuv: submission from outside, waking a loop that sleeps, timers, descriptors. Same work as
 * bench/weft/loop.c.
 *
 * libuv lets other threads wake a loop, not hand it anything: the queue of tasks is the program's. Here it is what does
 * that with the least effort, an array under a mutex, which the loop exchanges for an empty one; no task allocates. The
 * loop is woken after each task, or only after one that finds the array empty; both are timed, and the better one is
 * reported. Timers are memory of the program too, and are initialised once, before the clock starts.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <uv.h>

#include "../../shared/loop_work.h"
#include "../../shared/plain.h"

static uv_loop_t *loop;
static long ran;    /* callbacks of this pass */
static long wanted; /* of them */

/* The best pass, after one that warms up. A pass returns nanoseconds. */
static double best_of(long n, int64_t (*pass)(void)) {
    int64_t best = INT64_MAX;
    pass();
    for (int i = 0; i < LOOP_PASSES; i++) {
        int64_t took = pass();
        best = took < best ? took : best;
    }
    return (double)best / (double)n;
}

static int64_t run_until_quiet(long n) {
    ran = 0;
    wanted = n;
    int64_t start = bench_now();
    bench_must(uv_run(loop, UV_RUN_DEFAULT) == 0, "uv_run");
    int64_t took = bench_now() - start;
    bench_must(ran == n, "callbacks are missing");
    return took;
}

/* ---- tasks from outside --------------------------------------------------------------------------------------- */

typedef struct task {
    void (*fn)(void *arg);
    void *arg;
} task;

typedef struct task_list {
    task *tasks;
    size_t count;
    size_t room;
} task_list;

static struct {
    uv_mutex_t mutex;
    task_list waiting; /* under the mutex */
    task_list taken;   /* the loop's */
    uv_async_t async;
    bool wakes_if_empty;
} inbox;

static void inbox_run(uv_async_t *async) {
    (void)async;
    uv_mutex_lock(&inbox.mutex);
    task_list empty = inbox.taken;
    inbox.taken = inbox.waiting;
    inbox.waiting = empty;
    uv_mutex_unlock(&inbox.mutex);
    for (size_t i = 0; i < inbox.taken.count; i++)
        inbox.taken.tasks[i].fn(inbox.taken.tasks[i].arg);
    inbox.taken.count = 0;
}

static void inbox_open(void) {
    bench_must(uv_mutex_init(&inbox.mutex) == 0, "uv_mutex_init");
    bench_must(uv_async_init(loop, &inbox.async, inbox_run) == 0, "uv_async_init");
}

static void inbox_submit(void (*fn)(void *arg), void *arg) {
    uv_mutex_lock(&inbox.mutex);
    task_list *list = &inbox.waiting;
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 64;
        list->tasks = realloc(list->tasks, list->room * sizeof *list->tasks);
        bench_must(list->tasks != NULL, "memory");
    }
    bool was_empty = list->count == 0;
    list->tasks[list->count++] = (task){fn, arg};
    uv_mutex_unlock(&inbox.mutex);
    if (was_empty || !inbox.wakes_if_empty)
        bench_must(uv_async_send(&inbox.async) == 0, "uv_async_send");
}

/* ---- submission ----------------------------------------------------------------------------------------------- */

static int producers;
static bool stays_busy;
static uv_barrier_t begin;

static void count_and_stop(void *arg) {
    (void)arg;
    if (++ran == wanted)
        uv_stop(loop);
}

/* As long as there is an idle handle the loop does not sleep. */
static void again(uv_idle_t *idle) {
    (void)idle;
}

static void produce(void *arg) {
    (void)arg;
    uv_barrier_wait(&begin);
    for (long i = 0; i < LOOP_SUBMITS / producers; i++)
        inbox_submit(count_and_stop, NULL);
}

static int64_t submit_pass(void) {
    uv_thread_t threads[LOOP_PRODUCERS_MAX];
    uv_idle_t idle;
    ran = 0;
    wanted = LOOP_SUBMITS;
    bench_must(uv_barrier_init(&begin, (unsigned)producers + 1) == 0, "uv_barrier_init");
    for (int i = 0; i < producers; i++)
        bench_must(uv_thread_create(&threads[i], produce, NULL) == 0, "uv_thread_create");
    uv_idle_init(loop, &idle);
    if (stays_busy)
        uv_idle_start(&idle, again);
    int64_t start = bench_now();
    uv_barrier_wait(&begin);
    uv_run(loop, UV_RUN_DEFAULT);
    int64_t took = bench_now() - start;
    for (int i = 0; i < producers; i++)
        uv_thread_join(&threads[i]);
    uv_barrier_destroy(&begin);
    uv_close((uv_handle_t *)&idle, NULL);
    uv_run(loop, UV_RUN_NOWAIT);
    bench_must(ran == LOOP_SUBMITS, "tasks are missing");
    return took;
}

static void report_submits(const char *row, const char *suffix) {
    inbox_open();
    double always = best_of(LOOP_SUBMITS, submit_pass);
    inbox.wakes_if_empty = true;
    double if_empty = best_of(LOOP_SUBMITS, submit_pass);
    fprintf(stderr, "%s: woken after each task %.3f ns, if the array was empty %.3f ns\n", row, always, if_empty);
    bench_report(row, suffix, always < if_empty ? always : if_empty, "ns");
}

static void submit(const char *suffix) {
    producers = suffix ? atoi(suffix) : 1;
    bench_must(producers >= 1 && producers <= LOOP_PRODUCERS_MAX, "number of producers");
    report_submits("loop.submit", suffix);
}

static void submit_running(const char *suffix) {
    producers = 1;
    stays_busy = true;
    report_submits("loop.submit_running", suffix);
}

/* ---- waking a loop that sleeps -------------------------------------------------------------------------------- */

static _Atomic int64_t started;
static _Atomic int owner_id;
static _Atomic bool is_polling;

static void about_to_poll(uv_prepare_t *prepare) {
    (void)prepare;
    atomic_store(&is_polling, true);
}

static void own(void *arg) {
    (void)arg;
    atomic_store(&owner_id, (int)syscall(SYS_gettid));
    uv_run(loop, UV_RUN_DEFAULT);
}

static void note_start(void *arg) {
    (void)arg;
    int64_t now = bench_now();
    atomic_store(&is_polling, false);
    atomic_store_explicit(&started, now, memory_order_release);
}

static void stop(void *arg) {
    (void)arg;
    uv_stop(loop);
}

static void wake(const char *suffix) {
    static int64_t delay[LOOP_WAKES], cost[LOOP_WAKES];
    uv_thread_t owner;
    uv_prepare_t prepare;
    (void)suffix;
    inbox_open();
    uv_prepare_init(loop, &prepare);
    uv_prepare_start(&prepare, about_to_poll);
    bench_must(uv_thread_create(&owner, own, NULL) == 0, "uv_thread_create");
    while (atomic_load(&owner_id) == 0)
        sched_yield();
    int stat = loop_thread_open(atomic_load(&owner_id));
    for (int i = -LOOP_WAKES_WARM_UP; i < LOOP_WAKES; i++) {
        atomic_store(&started, 0);
        while (!atomic_load(&is_polling) || !loop_thread_sleeps(stat))
            sched_yield();
        int64_t before = bench_now();
        inbox_submit(note_start, NULL);
        int64_t after = bench_now();
        while (atomic_load_explicit(&started, memory_order_acquire) == 0)
            bench_pause(LOOP_WAKE_PAUSE_NS);
        if (i >= 0) {
            delay[i] = atomic_load(&started) - before;
            cost[i] = after - before;
        }
    }
    inbox_submit(stop, NULL);
    uv_thread_join(&owner);
    close(stat);
    bench_report("loop.wake.p50", NULL, (double)bench_percentile(delay, LOOP_WAKES, 0.50) / 1e3, "us");
    bench_report("loop.wake.p99", NULL, (double)bench_percentile(delay, LOOP_WAKES, 0.99) / 1e3, "us");
    bench_report("loop.wake_cost.p50", NULL, (double)bench_percentile(cost, LOOP_WAKES, 0.50) / 1e3, "us");
}

/* ---- timers --------------------------------------------------------------------------------------------------- */

static uint64_t delays_ms[LOOP_TIMERS];
static uv_timer_t timers[LOOP_TIMERS];
static uint32_t order[LOOP_TIMERS];
static uv_idle_t next_turn; /* runs once in the turn after it was started */

static void fire_round(uv_idle_t *idle);

static int64_t cpu_ns(void) {
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * INT64_C(1000000000) +
           (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * INT64_C(1000);
}

static void timers_open(void) {
    uv_idle_init(loop, &next_turn);
    for (int i = 0; i < LOOP_TIMERS; i++)
        uv_timer_init(loop, &timers[i]);
}

static void fired(uv_timer_t *timer) {
    (void)timer;
    if (++ran % LOOP_TIMERS == 0 && ran != wanted)
        uv_idle_start(&next_turn, fire_round);
}

static void fire_round(uv_idle_t *idle) {
    uv_idle_stop(idle);
    for (int i = 0; i < LOOP_TIMERS; i++)
        bench_must(uv_timer_start(&timers[i], fired, delays_ms[i], 0) == 0, "uv_timer_start");
}

static int64_t fire_pass(void) {
    uv_idle_start(&next_turn, fire_round);
    int64_t start = cpu_ns();
    run_until_quiet((long)LOOP_TIMERS * LOOP_FIRE_ROUNDS);
    return cpu_ns() - start;
}

static void timer_fire(const char *suffix) {
    uint32_t state = 1;
    timers_open();
    for (int i = 0; i < LOOP_TIMERS; i++)
        delays_ms[i] = (loop_random(&state, LOOP_FIRE_NS) + 500000) / 1000000;
    bench_report("loop.timer_fire", suffix, best_of((long)LOOP_TIMERS * LOOP_FIRE_ROUNDS, fire_pass), "ns");
}

static void set_round(uv_idle_t *idle);

static void cancel_round(uv_idle_t *idle) {
    uv_idle_stop(idle);
    for (int i = 0; i < LOOP_TIMERS; i++)
        bench_must(uv_timer_stop(&timers[order[i]]) == 0, "uv_timer_stop");
    ran += LOOP_TIMERS;
    if (ran != wanted)
        uv_idle_start(idle, set_round);
}

static void set_round(uv_idle_t *idle) {
    uv_idle_stop(idle);
    for (int i = 0; i < LOOP_TIMERS; i++)
        bench_must(uv_timer_start(&timers[i], fired, delays_ms[i], 0) == 0, "uv_timer_start");
    uv_idle_start(idle, cancel_round);
}

static int64_t cancel_pass(void) {
    uv_idle_start(&next_turn, set_round);
    return run_until_quiet((long)LOOP_TIMERS * LOOP_CANCEL_ROUNDS);
}

static void timer_cancel(const char *suffix) {
    uint32_t state = 1;
    timers_open();
    for (int i = 0; i < LOOP_TIMERS; i++)
        delays_ms[i] = 1000 + loop_random(&state, LOOP_CANCEL_MS);
    loop_shuffle(order, LOOP_TIMERS);
    bench_report("loop.timer_cancel", suffix, best_of((long)LOOP_TIMERS * LOOP_CANCEL_ROUNDS, cancel_pass), "ns");
}

/* ---- descriptors ---------------------------------------------------------------------------------------------- */

static int ends[2];
static uv_poll_t polls[2];

static void answer(uv_poll_t *poll, int status, int events) {
    char byte;
    int fd = ends[poll - polls];
    bench_must(status == 0 && events == UV_READABLE && read(fd, &byte, 1) == 1, "nothing to be read");
    if (++ran == wanted) {
        uv_poll_stop(&polls[0]);
        uv_poll_stop(&polls[1]);
    } else {
        bench_must(write(fd, &byte, 1) == 1, "nothing could be written");
    }
}

static int64_t fd_pass(void) {
    for (int i = 0; i < 2; i++)
        bench_must(uv_poll_start(&polls[i], UV_READABLE, answer) == 0, "uv_poll_start");
    bench_must(write(ends[0], "", 1) == 1, "nothing could be written");
    return run_until_quiet(2L * LOOP_ROUND_TRIPS);
}

static void fd_round(const char *suffix) {
    bench_must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0, "a pair of sockets");
    for (int i = 0; i < 2; i++)
        bench_must(uv_poll_init(loop, &polls[i], ends[i]) == 0, "uv_poll_init");
    bench_report("loop.fd_round", suffix, best_of(LOOP_ROUND_TRIPS, fd_pass), "ns");
}

static const bench all[] = {
    {"submit", submit},         {"submit_running", submit_running}, {"wake", wake},
    {"timer_fire", timer_fire}, {"timer_cancel", timer_cancel},     {"fd_round", fd_round},
};

int main(int argc, char **argv) {
    loop = uv_default_loop();
    return bench_main(argc, argv, all, sizeof all / sizeof *all);
}
