// SPDX-License-Identifier: MIT
//
// The work pool's rows by oneTBB: submission, fork-join, tree search, parallel for, waking an idle pool. Same work as
// bench/weft/pool.c.
//
// Where oneTBB has several ways to write a row, the program times them all and reports the best. TBB_WORKERS threads
// run the works: for submission and waking these are the library's own, beside the submitters; for the others the
// calling thread is one of them, as the library means it. By default there would be one thread less than processors,
// hence the limit in main.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/combinable.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <unistd.h>

#include "../../shared/plain.h"
#include "../../shared/pool_work.h"

namespace {

using oneapi::tbb::blocked_range;
using oneapi::tbb::task_arena;
using oneapi::tbb::task_group;

int workers() {
    const char *text = std::getenv("TBB_WORKERS");
    int n = text ? std::atoi(text) : 2;
    return n > 1 ? n : 1;
}

// The shortest of POOL_PASSES passes, after one that warms up. A pass returns the nanoseconds it took.
std::int64_t best_of(const std::function<std::int64_t()> &pass) {
    std::int64_t best = INT64_MAX;
    pass();
    for (int i = 0; i < POOL_PASSES; i++)
        best = std::min(best, pass());
    return best;
}

struct way {
    const char *name;
    std::int64_t took_ns;
};

// The row is the best way; what each took, per one of n, goes to the side.
void report_best(const char *row, long n, const std::vector<way> &ways) {
    double best = HUGE_VAL;
    for (const way &one : ways) {
        double each = static_cast<double>(one.took_ns) / static_cast<double>(n);
        std::fprintf(stderr, "%s by %s: %.1f ns\n", row, one.name, each);
        best = std::min(best, each);
    }
    bench_report(row, nullptr, best, "ns");
}

std::int64_t timed(const std::function<void()> &body) {
    std::int64_t start = bench_now();
    body();
    return bench_now() - start;
}

// ---- submission -----------------------------------------------------------------------------------------------------

// Lets n threads go at once, each to submit its share, and waits for the end: that of the threads, then that of done.
std::int64_t submit_from(int n, const std::function<void(long)> &submit, const std::function<void()> &done) {
    std::atomic<int> ready{0};
    std::atomic<bool> is_begun{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < n; i++)
        threads.emplace_back([&] {
            ready++;
            is_begun.wait(false);
            submit(POOL_WORKS / n);
        });
    while (ready < n)
        std::this_thread::yield();
    return timed([&] {
        is_begun = true;
        is_begun.notify_all();
        for (std::thread &thread : threads)
            thread.join();
        done();
    });
}

// Into the arena's queue for work from outside.
std::int64_t submit_enqueued(task_arena &arena, int submitters) {
    task_group group;
    return submit_from(
        submitters,
        [&](long n) {
            for (long i = 0; i < n; i++)
                arena.enqueue(group.defer([] {}));
        },
        [&] { group.wait(); });
}

// To a queue of the submitter's own, from which the workers steal while it submits; then it helps to empty it. That is
// the way the library is meant to be used, but the submitters become workers.
std::int64_t submit_helping(int submitters) {
    task_arena arena(workers() + submitters, static_cast<unsigned>(submitters));
    return submit_from(
        submitters,
        [&](long n) {
            arena.execute([&] {
                task_group group;
                for (long i = 0; i < n; i++)
                    group.run([] {});
                group.wait();
            });
        },
        [] {});
}

void submit(const char *row, int submitters) {
    task_arena arena(workers(), 0);
    std::int64_t enqueued = best_of([&] { return submit_enqueued(arena, submitters); });
    std::int64_t helping = best_of([&] { return submit_helping(submitters); });
    report_best(row, POOL_WORKS, {{"task_arena::enqueue", enqueued}, {"task_group::run", helping}});
}

void submit1(const char *) {
    submit("pool.submit1", 1);
}

void submit4(const char *) {
    submit("pool.submit4", 4);
}

// ---- fork and join --------------------------------------------------------------------------------------------------

long fib_invoke(int n) {
    if (n < 2)
        return n;
    long left, right;
    oneapi::tbb::parallel_invoke([&] { left = fib_invoke(n - 1); }, [&] { right = fib_invoke(n - 2); });
    return left + right;
}

long fib_group(int n) {
    if (n < 2)
        return n;
    long left, right;
    task_group group;
    group.run([&] { left = fib_group(n - 1); });
    right = fib_group(n - 2);
    group.wait();
    return left + right;
}

std::int64_t fib_pass(task_arena &arena, long (*fork)(int)) {
    long value = 0;
    std::int64_t took = timed([&] { arena.execute([&] { value = fork(POOL_FIB); }); });
    bench_must(value == POOL_FIB_VALUE, "wrong sum");
    return took;
}

void fib(const char *) {
    task_arena arena(workers(), 1);
    std::int64_t invoke = best_of([&] { return fib_pass(arena, fib_invoke); });
    std::int64_t group = best_of([&] { return fib_pass(arena, fib_group); });
    report_best("pool.fib", POOL_FIB_FORKS, {{"parallel_invoke", invoke}, {"task_group", group}});
}

// ---- tree -----------------------------------------------------------------------------------------------------------

// Every node forks its children but the last, and joins them.
long tree_joined(std::uint64_t node, unsigned depth) {
    unsigned children = pool_tree_children(node, depth);
    if (children == 0)
        return 1;
    long counts[32];
    task_group group;
    for (unsigned i = 0; i + 1 < children; i++)
        group.run([=, &counts] { counts[i] = tree_joined(pool_tree_child(node, i), depth + 1); });
    long sum = 1 + tree_joined(pool_tree_child(node, children - 1), depth + 1);
    group.wait();
    for (unsigned i = 0; i + 1 < children; i++)
        sum += counts[i];
    return sum;
}

// One group for all nodes, so that nobody waits but the root; every thread counts for itself.
void tree_counted(task_group &group, oneapi::tbb::combinable<long> &counts, std::uint64_t node, unsigned depth) {
    unsigned children = pool_tree_children(node, depth);
    counts.local()++;
    for (unsigned i = 0; i < children; i++)
        group.run([=, &group, &counts] { tree_counted(group, counts, pool_tree_child(node, i), depth + 1); });
}

std::int64_t tree_pass(task_arena &arena, bool is_joined) {
    long nodes = 0;
    std::int64_t took = timed([&] {
        arena.execute([&] {
            if (is_joined) {
                nodes = tree_joined(pool_mix(POOL_TREE_ROOT), 0);
                return;
            }
            task_group group;
            oneapi::tbb::combinable<long> counts([] { return 0L; });
            tree_counted(group, counts, pool_mix(POOL_TREE_ROOT), 0);
            group.wait();
            nodes = counts.combine(std::plus<long>());
        });
    });
    bench_must(nodes == POOL_TREE_NODES, "wrong number of nodes");
    return took;
}

void tree(const char *) {
    task_arena arena(workers(), 1);
    std::int64_t joined = best_of([&] { return tree_pass(arena, true); });
    std::int64_t counted = best_of([&] { return tree_pass(arena, false); });
    report_best("pool.tree", POOL_TREE_NODES, {{"a group at each node", joined}, {"one group", counted}});
}

// ---- parallel for ---------------------------------------------------------------------------------------------------

double for_range(std::uint64_t n, std::uint64_t (*range)(std::uint64_t, std::uint64_t)) {
    task_arena arena(workers(), 1);
    std::uint64_t expected = range(0, n);
    std::int64_t best = best_of([&] {
        std::atomic<std::uint64_t> sum{0};
        std::int64_t took = timed([&] {
            arena.execute([&] {
                oneapi::tbb::parallel_for(blocked_range<std::uint64_t>(0, n),
                                          [&](const blocked_range<std::uint64_t> &part) {
                                              sum.fetch_add(range(part.begin(), part.end()), std::memory_order_relaxed);
                                          });
            });
        });
        bench_must(sum == expected, "wrong sum");
        return took;
    });
    return static_cast<double>(best) / static_cast<double>(n);
}

void for_small(const char *) {
    bench_report("pool.for_small", nullptr, for_range(POOL_SMALL, pool_small_range), "ns");
}

void for_large(const char *) {
    bench_report("pool.for_large", nullptr, for_range(POOL_LARGE, pool_large_range) / 1e3, "us");
}

// ---- idle -----------------------------------------------------------------------------------------------------------

void wake(const char *) {
    static std::int64_t delay[POOL_WAKES];
    task_arena arena(workers(), 0);
    for (int i = -POOL_WAKES_WARM_UP; i < POOL_WAKES; i++) {
        std::atomic<std::int64_t> started{0};
        bench_pause(POOL_WAKE_PAUSE_NS);
        std::int64_t submitted = bench_now();
        arena.enqueue([&started] { started.store(bench_now(), std::memory_order_release); });
        while (started.load(std::memory_order_acquire) == 0)
            bench_pause(POOL_WAKE_PAUSE_NS);
        if (i >= 0)
            delay[i] = started - submitted;
    }
    bench_report("pool.wake.p50", nullptr, static_cast<double>(bench_percentile(delay, POOL_WAKES, 0.50)) / 1e3, "us");
    bench_report("pool.wake.p99", nullptr, static_cast<double>(bench_percentile(delay, POOL_WAKES, 0.99)) / 1e3, "us");
}

// Stays, once the works it had have run; bench/run watches from outside.
void idle(const char *) {
    task_arena arena(workers(), 0);
    submit_enqueued(arena, 1);
    std::puts("ready");
    std::fflush(stdout);
    for (;;)
        pause();
}

const bench all[] = {
    {"submit1", submit1},     {"submit4", submit4},     {"fib", fib},   {"tree", tree},
    {"for_small", for_small}, {"for_large", for_large}, {"wake", wake}, {"idle", idle},
};

} // namespace

int main(int argc, char **argv) {
    oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                      static_cast<std::size_t>(workers()) + 1);
    return bench_main(argc, argv, all, sizeof all / sizeof *all);
}
