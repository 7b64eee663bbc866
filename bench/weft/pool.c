/* SPDX-License-Identifier: MIT
 *
 * bench/weft/pool.c - the work pool: submission, fork-join, tree search, parallel for, waking an idle pool.
 *
 * Same work as bench/peers/tbb/pool.cc and bench/peers/go/pool.go; what the works compute is in bench/shared. There is
 * no weft_run here, only plain threads and a pool of WEFT_WORKERS threads. Where there are two ways to write a row both
 * are timed, and the better one is reported, as it is for the peers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "../shared/pool_work.h"
#include "bench.h"

enum { SUBMITTERS_MAX = 4, CHILDREN_MAX = 32 };

static weft_pool *pool;

typedef struct way {
    const char *name;
    weft_time (*pass)(void); /* the nanoseconds it took */
} way;

/* The row is the best pass of the best way, after one pass that warms up; what each way takes goes to the side. */
static void report_best(const char *row, long n, double unit_ns, const char *unit, const way *ways, size_t count) {
    double best = 0;
    for (size_t i = 0; i < count; i++) {
        weft_time shortest = INT64_MAX;
        ways[i].pass();
        for (int pass = 0; pass < POOL_PASSES; pass++) {
            weft_time took = ways[i].pass();
            shortest = took < shortest ? took : shortest;
        }
        double each = (double)shortest / (double)n / unit_ns;
        fprintf(stderr, "%s by %s: %.3f %s\n", row, ways[i].name, each, unit);
        best = i == 0 || each < best ? each : best;
    }
    bench_report(row, NULL, best, unit);
}

/* Runs fn as a work of the pool, and waits for it. */
static weft_time time_work(weft_work_fn fn) {
    weft_time start = weft_now();
    bench_must(weft_pool_submit(pool, NULL, fn, NULL));
    bench_must(weft_pool_wait(pool, WEFT_NEVER));
    return weft_now() - start;
}

/* ---- submission ----------------------------------------------------------------------------------------------- */

static int submitters;
static bool submitters_help;
static pthread_barrier_t begin;

static int empty(void *arg) {
    (void)arg;
    return 0;
}

static void *submit_share(void *arg) {
    pthread_barrier_wait(&begin);
    for (long i = 0; i < POOL_WORKS / submitters; i++)
        bench_must(weft_pool_submit(pool, NULL, empty, NULL));
    if (submitters_help)
        bench_must(weft_pool_help(pool, WEFT_NEVER));
    return arg;
}

static uint64_t works_succeeded(void) {
    weft_pool_stats stats;
    bench_must(weft_pool_get_stats(pool, &stats));
    return stats.succeeded;
}

static weft_time submit_pass(bool help) {
    pthread_t threads[SUBMITTERS_MAX];
    uint64_t before = works_succeeded();
    submitters_help = help;
    bench_must(-pthread_barrier_init(&begin, NULL, (unsigned)submitters + 1));
    for (int i = 0; i < submitters; i++)
        bench_must(-pthread_create(&threads[i], NULL, submit_share, NULL));
    weft_time start = weft_now();
    pthread_barrier_wait(&begin);
    for (int i = 0; i < submitters; i++)
        bench_must(-pthread_join(threads[i], NULL));
    bench_must(weft_pool_wait(pool, WEFT_NEVER));
    weft_time took = weft_now() - start;
    pthread_barrier_destroy(&begin);
    if (works_succeeded() - before != POOL_WORKS)
        weft_fatal("benchmark: %llu works have run", (unsigned long long)(works_succeeded() - before));
    return took;
}

static weft_time submit_waiting(void) {
    return submit_pass(false);
}

static weft_time submit_helping(void) {
    return submit_pass(true);
}

static void submit_from(int threads, const char *row) {
    static const way ways[] = {{"submitters that wait", submit_waiting}, {"submitters that help", submit_helping}};
    submitters = threads;
    report_best(row, POOL_WORKS, 1, "ns", ways, 2);
}

static void submit1(const char *suffix) {
    (void)suffix;
    submit_from(1, "pool.submit1");
}

static void submit4(const char *suffix) {
    (void)suffix;
    submit_from(4, "pool.submit4");
}

/* ---- fork and join -------------------------------------------------------------------------------------------- */

typedef struct fib_call {
    long n;
    long value;
} fib_call;

static void fib_forked(void *arg) {
    fib_call *self = arg;
    if (self->n < 2) {
        self->value = self->n;
        return;
    }
    fib_call left = {.n = self->n - 1}, right = {.n = self->n - 2};
    weft_job job;
    weft_fork(&job, fib_forked, &left);
    fib_forked(&right);
    weft_join_job(&job);
    self->value = left.value + right.value;
}

static void fib_paired(void *arg) {
    fib_call *self = arg;
    if (self->n < 2) {
        self->value = self->n;
        return;
    }
    fib_call left = {.n = self->n - 1}, right = {.n = self->n - 2};
    weft_fork_join(fib_paired, &right, fib_paired, &left);
    self->value = left.value + right.value;
}

static int fib_check(void (*fn)(void *arg)) {
    fib_call root = {.n = POOL_FIB};
    fn(&root);
    if (root.value != POOL_FIB_VALUE)
        weft_fatal("benchmark: fib has come to %ld", root.value);
    return 0;
}

static int fib_forked_work(void *arg) {
    (void)arg;
    return fib_check(fib_forked);
}

static int fib_paired_work(void *arg) {
    (void)arg;
    return fib_check(fib_paired);
}

static weft_time fib_forked_pass(void) {
    return time_work(fib_forked_work);
}

static weft_time fib_paired_pass(void) {
    return time_work(fib_paired_work);
}

static void fib(const char *suffix) {
    static const way ways[] = {{"weft_fork", fib_forked_pass}, {"weft_fork_join", fib_paired_pass}};
    (void)suffix;
    report_best("pool.fib", POOL_FIB_FORKS, 1, "ns", ways, 2);
}

/* ---- tree ----------------------------------------------------------------------------------------------------- */

typedef struct tree_call {
    uint64_t node;
    unsigned depth;
    long nodes;
} tree_call;

/* Apart from tree_node, so that leaves, which are three of four nodes, do not need its large frame. */
static __attribute__((noinline)) void tree_children(tree_call *self, unsigned count);

static void tree_node(void *arg) {
    tree_call *self = arg;
    unsigned count = pool_tree_children(self->node, self->depth);
    self->nodes = 1;
    if (count > 0)
        tree_children(self, count);
}

/* Forks all but the last, and joins them in the opposite order: the newest is on top. */
static void tree_children(tree_call *self, unsigned count) {
    tree_call children[CHILDREN_MAX];
    weft_job jobs[CHILDREN_MAX];
    for (unsigned i = 0; i < count; i++)
        children[i] = (tree_call){pool_tree_child(self->node, i), self->depth + 1, 0};
    for (unsigned i = 0; i + 1 < count; i++)
        weft_fork(&jobs[i], tree_node, &children[i]);
    tree_node(&children[count - 1]);
    for (unsigned i = count - 1; i-- > 0;)
        weft_join_job(&jobs[i]);
    for (unsigned i = 0; i < count; i++)
        self->nodes += children[i].nodes;
}

static int tree_work(void *arg) {
    tree_call root = {.node = pool_mix(POOL_TREE_ROOT)};
    (void)arg;
    tree_node(&root);
    if (root.nodes != POOL_TREE_NODES)
        weft_fatal("benchmark: the tree has %ld nodes", root.nodes);
    return 0;
}

static weft_time tree_pass(void) {
    return time_work(tree_work);
}

static void tree(const char *suffix) {
    static const way ways[] = {{"weft_fork", tree_pass}};
    (void)suffix;
    report_best("pool.tree", POOL_TREE_NODES, 1, "ns", ways, 1);
}

/* ---- parallel for --------------------------------------------------------------------------------------------- */

static _Atomic uint64_t sum;
static uint64_t expected;

static int small_part(int64_t first, int64_t end, void *arg) {
    (void)arg;
    atomic_fetch_add_explicit(&sum, pool_small_range((uint64_t)first, (uint64_t)end), memory_order_relaxed);
    return 0;
}

static int large_part(int64_t first, int64_t end, void *arg) {
    (void)arg;
    atomic_fetch_add_explicit(&sum, pool_large_range((uint64_t)first, (uint64_t)end), memory_order_relaxed);
    return 0;
}

static weft_time for_pass(int64_t n, weft_range_fn part) {
    atomic_store(&sum, 0);
    weft_time start = weft_now();
    bench_must(weft_parallel_for(pool, 0, n, 0, part, NULL));
    weft_time took = weft_now() - start;
    if (atomic_load(&sum) != expected)
        weft_fatal("benchmark: the loop has come to a wrong sum");
    return took;
}

static weft_time small_pass(void) {
    return for_pass(POOL_SMALL, small_part);
}

static weft_time large_pass(void) {
    return for_pass(POOL_LARGE, large_part);
}

static void for_small(const char *suffix) {
    static const way ways[] = {{"weft_parallel_for", small_pass}};
    (void)suffix;
    expected = pool_small_range(0, POOL_SMALL);
    report_best("pool.for_small", POOL_SMALL, 1, "ns", ways, 1);
}

static void for_large(const char *suffix) {
    static const way ways[] = {{"weft_parallel_for", large_pass}};
    (void)suffix;
    expected = pool_large_range(0, POOL_LARGE);
    report_best("pool.for_large", POOL_LARGE, WEFT_MICROSECOND, "us", ways, 1);
}

/* ---- idle ----------------------------------------------------------------------------------------------------- */

static int note_start(void *arg) {
    atomic_store_explicit((_Atomic int64_t *)arg, weft_now(), memory_order_release);
    return 0;
}

static void wake(const char *suffix) {
    static int64_t delay[POOL_WAKES];
    static _Atomic int64_t started;
    const struct timespec pause = {0, POOL_WAKE_PAUSE_NS};
    (void)suffix;
    for (int i = -POOL_WAKES_WARM_UP; i < POOL_WAKES; i++) {
        atomic_store(&started, 0);
        nanosleep(&pause, NULL);
        weft_time submitted = weft_now();
        bench_must(weft_pool_submit(pool, NULL, note_start, &started));
        while (atomic_load_explicit(&started, memory_order_acquire) == 0)
            nanosleep(&pause, NULL);
        if (i >= 0)
            delay[i] = atomic_load(&started) - submitted;
    }
    bench_report("pool.wake.p50", NULL, (double)bench_percentile(delay, POOL_WAKES, 0.50) / WEFT_MICROSECOND, "us");
    bench_report("pool.wake.p99", NULL, (double)bench_percentile(delay, POOL_WAKES, 0.99) / WEFT_MICROSECOND, "us");
}

/* Stays, once the works it had have run; bench/run watches from outside. */
static void idle(const char *suffix) {
    (void)suffix;
    submitters = 1;
    submit_pass(false);
    puts("ready");
    fflush(stdout);
    for (;;)
        pause();
}

static const bench all[] = {
    {"submit1", submit1},     {"submit4", submit4},     {"fib", fib},   {"tree", tree},
    {"for_small", for_small}, {"for_large", for_large}, {"wake", wake}, {"idle", idle},
};

int main(int argc, char **argv) {
    const char *workers = getenv("WEFT_WORKERS");
    weft_pool_options options = {.threads = workers ? (unsigned)atoi(workers) : 2};
    int status = bench_choose(argc, argv, all, sizeof all / sizeof *all);
    if (status != 0)
        return status;
    bench_must(weft_pool_new(&pool, &options));
    bench_chosen->run(bench_suffix);
    weft_pool_free(pool);
    return 0;
}
