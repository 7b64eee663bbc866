// SPDX-License-Identifier: MIT
//
// Many sleeping fibers of Boost.Fiber: how long a million take, what a hundred thousand cost, how late they wake. Same
// work and same distances as bench/weft/timer.c.
#include "bench.hh"

#include <atomic>

namespace {

constexpr long late_sleepers = 100000;
constexpr std::int64_t settle_ns = 200000000;

struct sleeper {
    std::int64_t begun, due, woken;
};

std::atomic<long> left;
std::atomic<std::int64_t> ended; // written by the last sleeper, zero until then

// A whole number below 1e9 from a task's number: the finalizer of splitmix64.
std::int64_t spread_ns(std::uint64_t i) {
    std::uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return static_cast<std::int64_t>((x ^ (x >> 31)) % 1000000000);
}

void count_down() {
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1)
        ended.store(bench::now(), std::memory_order_release);
}

std::int64_t wait_for_all() {
    while (ended.load(std::memory_order_acquire) == 0)
        boost::this_fiber::sleep_for(std::chrono::milliseconds(20));
    return ended.load();
}

void sleep_and_note(sleeper *self, std::uint64_t i) {
    bench::clock::time_point due = bench::clock::now();
    self->begun = std::chrono::nanoseconds(due.time_since_epoch()).count();
    due += std::chrono::nanoseconds(spread_ns(i));
    self->due = std::chrono::nanoseconds(due.time_since_epoch()).count();
    boost::this_fiber::sleep_until(due);
    self->woken = bench::now();
    count_down();
}

void sleepers(const char *suffix) {
    long n = bench::count(suffix);
    left = n;
    std::int64_t start = bench::now();
    for (long i = 0; i < n; i++)
        bench::spawn([i] {
            boost::this_fiber::sleep_for(std::chrono::seconds(1) +
                                         std::chrono::nanoseconds(spread_ns(static_cast<std::uint64_t>(i))));
            count_down();
        }).detach();
    bench::report("sleepers", suffix, static_cast<double>(wait_for_all() - start) / 1e6, "ms");
}

// Lateness counts for sleepers that are due well after the last one has begun: before that, spawning is in the way and
// the backlog that it left.
void report_lateness(const std::vector<sleeper> &all) {
    std::int64_t steady = 0;
    std::vector<std::int64_t> lateness;
    for (const sleeper &s : all)
        steady = std::max(steady, s.begun);
    for (const sleeper &s : all)
        if (s.due > steady + settle_ns)
            lateness.push_back(s.woken - s.due);
    bench::report("sleepers.late.p50", nullptr, static_cast<double>(bench::percentile(lateness, 0.50)) / 1e3, "us");
    bench::report("sleepers.late.p99", nullptr, static_cast<double>(bench::percentile(lateness, 0.99)) / 1e3, "us");
}

void late(const char *suffix) {
    std::vector<sleeper> all(late_sleepers);
    left = late_sleepers;
    std::int64_t start = bench::cpu_ns();
    for (long i = 0; i < late_sleepers; i++)
        bench::spawn([&all, i] {
            sleep_and_note(&all[static_cast<std::size_t>(i)], static_cast<std::uint64_t>(i));
        }).detach();
    wait_for_all();
    bench::report("sleepers.cpu", suffix, static_cast<double>(bench::cpu_ns() - start) / 1e6, "ms");
    report_lateness(all);
}

const bench::entry all[] = {{"sleepers", sleepers}, {"late", late}};

} // namespace

int main(int argc, char **argv) {
    return bench::main(argc, argv, all);
}
