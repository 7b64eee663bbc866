// SPDX-License-Identifier: MIT
//
// What a parked fiber of Boost.Fiber costs: bytes, the time to make it, and what idle threads do. Same work as
// bench/weft/memory.c. Fibers park in a sleep of an hour, which links them without further memory and with the least
// stack: a wait on a condition variable keeps 5 KiB more of it.
#include "bench.hh"

#include <atomic>
#include <unistd.h>

namespace {

constexpr long idle_parked = 10000;

std::atomic<long> started;

void park() {
    started.fetch_add(1, std::memory_order_relaxed);
    boost::this_fiber::sleep_for(std::chrono::hours(1));
}

void park_many(long n) {
    for (long i = 0; i < n; i++)
        bench::spawn(park).detach();
    while (started.load(std::memory_order_relaxed) < n)
        boost::this_fiber::yield();
}

void mem(const char *suffix) {
    long n = bench::count(suffix);
    long long before = bench::memory_bytes();
    std::int64_t start = bench::now();
    park_many(n);
    std::int64_t took = bench::now() - start;
    bench::report("mem", suffix, static_cast<double>(bench::memory_bytes() - before) / static_cast<double>(n), "B");
    bench::report("memspawn", suffix, static_cast<double>(took) / static_cast<double>(n), "ns");
    _exit(0);
}

void idle(const char *) {
    park_many(idle_parked);
    std::puts("ready");
    std::fflush(stdout);
    boost::this_fiber::sleep_for(std::chrono::hours(1));
}

const bench::entry all[] = {{"mem", mem}, {"idle", idle}};

} // namespace

int main(int argc, char **argv) {
    return bench::main(argc, argv, all);
}
