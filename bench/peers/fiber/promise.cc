// SPDX-License-Identifier: MIT
//
// What a promise and its future cost in Boost.Fiber: set before anybody asks, and with a fiber that waits. Same work as
// bench/weft/promise.c.
#include "bench.hh"

#include <atomic>

namespace {

using boost::fibers::fiber;
using promise = boost::fibers::promise<std::int64_t>;
using future = boost::fibers::future<std::int64_t>;

constexpr std::int64_t settled = 2000000, rounds = 1000000, warm_up = 100000;

void check_sum(std::int64_t sum, std::int64_t n) {
    if (sum != n * (n + 1) / 2)
        bench::fail("the values added up to something else");
}

std::int64_t settle_and_await(std::int64_t n) {
    std::int64_t sum = 0, start = bench::now();
    for (std::int64_t i = 1; i <= n; i++) {
        promise p;
        future f = p.get_future();
        p.set_value(i);
        sum += f.get();
    }
    std::int64_t took = bench::now() - start;
    check_sum(sum, n);
    return took;
}

void settle_await(const char *suffix) {
    settle_and_await(warm_up);
    bench::report("promise.settle_await", suffix, static_cast<double>(settle_and_await(settled)) / settled, "ns");
}

// The maker publishes a future and sets its promise once the waiter has taken it; on one worker it waits by then.
struct meeting {
    future next;
    std::atomic<std::int64_t> published{0}, taken{0};
    std::int64_t sum = 0;
};

void await_each(meeting &m, std::int64_t n) {
    for (std::int64_t i = 1; i <= n; i++) {
        while (m.published.load(std::memory_order_acquire) < i)
            boost::this_fiber::yield();
        future f = std::move(m.next);
        m.taken.store(i, std::memory_order_release);
        m.sum += f.get();
    }
}

std::int64_t meet(std::int64_t n) {
    meeting m;
    std::int64_t start = bench::now();
    fiber waiter = bench::spawn([&m, n] { await_each(m, n); });
    for (std::int64_t i = 1; i <= n; i++) {
        promise p;
        m.next = p.get_future();
        m.published.store(i, std::memory_order_release);
        while (m.taken.load(std::memory_order_acquire) < i)
            boost::this_fiber::yield();
        p.set_value(i);
    }
    waiter.join();
    std::int64_t took = bench::now() - start;
    check_sum(m.sum, n);
    return took;
}

void round(const char *suffix) {
    meet(warm_up);
    bench::report("promise.round", suffix, static_cast<double>(meet(rounds)) / rounds, "ns");
}

const bench::entry all[] = {{"settle_await", settle_await}, {"round", round}};

} // namespace

int main(int argc, char **argv) {
    return bench::main(argc, argv, all);
}
