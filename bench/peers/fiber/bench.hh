// SPDX-License-Identifier: MIT
//
// What every Boost.Fiber benchmark shares: the choice of the row, the threads, the report, percentiles, processor time,
// memory. The counterpart of bench/weft/bench.h: called as "program NAME [SUFFIX]", prints lines "row value unit".
// Workers come from FIBER_WORKERS: one uses the library's default scheduler, several its work stealing one, idle
// threads sleeping.
#ifndef BENCH_HH
#define BENCH_HH

#include <algorithm>
#include <boost/fiber/all.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;

struct entry {
    const char *name;
    void (*run)(const char *suffix);
};

[[noreturn]] inline void fail(const char *message) {
    std::fprintf(stderr, "benchmark: %s\n", message);
    std::exit(1);
}

// Nanoseconds of the monotonic clock.
inline std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now().time_since_epoch()).count();
}

inline void report(const char *name, const char *suffix, double value, const char *unit) {
    std::printf("%s%s%s %.3f %s\n", name, suffix ? "." : "", suffix ? suffix : "", value, unit);
    std::fflush(stdout);
}

inline long count(const char *suffix) {
    long n = suffix ? std::atol(suffix) : 0;
    if (n <= 0)
        fail("this one needs a count");
    return n;
}

// Sorts the values; share 0.5 gives the median.
inline std::int64_t percentile(std::vector<std::int64_t> &values, double share) {
    if (values.empty())
        fail("no samples");
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(static_cast<double>(values.size() - 1) * share)];
}

// Processor time of this process so far.
inline std::int64_t cpu_ns() {
    rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * INT64_C(1000000000) +
           (use.ru_utime.tv_usec + use.ru_stime.tv_usec) * INT64_C(1000);
}

// Resident memory and page tables of this process.
inline long long memory_bytes() {
    char line[256];
    long long kib = 0, part;
    std::FILE *status = std::fopen("/proc/self/status", "r");
    if (!status)
        fail("no /proc/self/status");
    while (std::fgets(line, sizeof line, status))
        if (std::sscanf(line, "VmRSS: %lld", &part) == 1 || std::sscanf(line, "VmPTE: %lld", &part) == 1)
            kib += part;
    std::fclose(status);
    return kib * 1024;
}

// Stacks of 16 KiB, so that a million fit into what the kernel grants to one process; the library's default of 128 KiB
// would stop at the limit of mappings. Launched by post, which is the default.
template <typename Body> boost::fibers::fiber spawn(Body body) {
    return boost::fibers::fiber(std::allocator_arg, boost::fibers::fixedsize_stack(16 * 1024), std::move(body));
}

inline unsigned workers() {
    const char *text = std::getenv("FIBER_WORKERS");
    int n = text ? std::atoi(text) : 1;
    return n > 1 ? static_cast<unsigned>(n) : 1;
}

// Runs body on this thread while workers() - 1 further threads steal from it.
template <typename Body> void run(Body body) {
    unsigned n = workers();
    if (n == 1) {
        body();
        return;
    }
    boost::fibers::mutex lock;
    boost::fibers::condition_variable changed;
    bool over = false;
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < n; i++)
        helpers.emplace_back([&, n] {
            boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(n, true);
            std::unique_lock<boost::fibers::mutex> held(lock);
            changed.wait(held, [&] { return over; });
        });
    boost::fibers::use_scheduling_algorithm<boost::fibers::algo::work_stealing>(n, true);
    body();
    {
        std::unique_lock<boost::fibers::mutex> held(lock);
        over = true;
    }
    changed.notify_all();
    for (std::thread &helper : helpers)
        helper.join();
}

// Freed stacks stay with the process and serve every thread, as they do in the other systems: by default malloc would
// give them back to the kernel after each round, and warm rounds would pay for the pages again.
template <std::size_t N> int main(int argc, char **argv, const entry (&all)[N]) {
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_ARENA_MAX, 1);
    for (const entry &e : all)
        if (argc > 1 && std::strcmp(argv[1], e.name) == 0) {
            run([&] { e.run(argc > 2 ? argv[2] : nullptr); });
            return 0;
        }
    std::fprintf(stderr, "usage: %s NAME [SUFFIX]\n", argv[0]);
    return 2;
}

} // namespace bench

#endif
