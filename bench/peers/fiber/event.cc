// SPDX-License-Identifier: MIT
//
// What a promise of nothing costs that serves as an event, with its future: to make and set, to ask, to wait for, to
// have pending. Same work as bench/weft/event.c, but for completion queues, which Boost.Fiber does not have. It asks by
// a wait until a moment long past, the cheapest way there is.
#include "bench.hh"

#include <atomic>

namespace {

using boost::fibers::fiber;
using event = boost::fibers::promise<void>;
using waitable = boost::fibers::future<void>;

constexpr long made = 2000000, polled = 20000000, rounds = 1000000, warm_up = 100000, pending = 1000000;
constexpr std::size_t completed = 256;
constexpr int passes = 5;

// Processor time of one operation in the best of the passes, of which the first is also the warm-up.
template <typename Pass> double best_cpu_ns(Pass pass, long n) {
    std::int64_t best = INT64_MAX;
    for (int i = 0; i < passes; i++) {
        std::int64_t start = bench::cpu_ns();
        pass(n);
        best = std::min(best, bench::cpu_ns() - start);
    }
    return static_cast<double>(best) / static_cast<double>(n);
}

void make_and_set(long n) {
    for (long i = 0; i < n; i++) {
        event e;
        waitable w = e.get_future();
        e.set_value();
    }
}

void create_trigger(const char *suffix) {
    bench::report("event.create_trigger", suffix, best_cpu_ns(make_and_set, made), "ns");
}

void poll_completed(const char *suffix) {
    std::vector<waitable> all;
    for (std::size_t i = 0; i < completed; i++) {
        event e;
        all.push_back(e.get_future());
        e.set_value();
    }
    auto poll = [&all](long n) {
        for (long i = 0; i < n; i++)
            if (all[static_cast<std::size_t>(i) % completed].wait_until(bench::clock::time_point()) !=
                boost::fibers::future_status::ready)
                bench::fail("an event is not ready");
    };
    bench::report("event.poll_completed", suffix, best_cpu_ns(poll, polled), "ns");
}

// The maker publishes a future and sets its promise once the waiter has taken it; on one worker it waits by then.
struct meeting {
    waitable next;
    std::atomic<long> published{0}, taken{0};
};

void wait_for_each(meeting &m, long n) {
    for (long i = 1; i <= n; i++) {
        while (m.published.load(std::memory_order_acquire) < i)
            boost::this_fiber::yield();
        waitable w = std::move(m.next);
        m.taken.store(i, std::memory_order_release);
        w.wait();
    }
}

std::int64_t meet(long n) {
    meeting m;
    std::int64_t start = bench::now();
    fiber waiter = bench::spawn([&m, n] { wait_for_each(m, n); });
    for (long i = 1; i <= n; i++) {
        event e;
        m.next = e.get_future();
        m.published.store(i, std::memory_order_release);
        while (m.taken.load(std::memory_order_acquire) < i)
            boost::this_fiber::yield();
        e.set_value();
    }
    waiter.join();
    return bench::now() - start;
}

void fiber_round(const char *suffix) {
    meet(warm_up);
    bench::report("event.fiber_round", suffix, static_cast<double>(meet(rounds)) / rounds, "ns");
}

// The places for the handles are there before; what the events take comes after.
void memory(const char *suffix) {
    std::vector<event> all;
    all.reserve(pending);
    std::memset(static_cast<void *>(all.data()), 0, pending * sizeof(event));
    long long before = bench::memory_bytes();
    for (long i = 0; i < pending; i++)
        all.emplace_back();
    bench::report("event.memory", suffix, static_cast<double>(bench::memory_bytes() - before) / pending, "B");
}

const bench::entry all[] = {
    {"create_trigger", create_trigger},
    {"poll_completed", poll_completed},
    {"fiber_round", fiber_round},
    {"memory", memory},
};

} // namespace

int main(int argc, char **argv) {
    return bench::main(argc, argv, all);
}
