// SPDX-License-Identifier: MIT
//
// A plain thread hands work to a Boost.Fiber thread that is asleep: how soon it starts, what the hand-off costs. The
// counterpart of bench/weft/wake.c. The library has no submission from outside; its way is a channel whose receiver
// launches a fiber per message.
#include "bench.hh"

#include <atomic>
#include <unistd.h>

namespace {

constexpr int warm_up = 50, samples = 1000;
constexpr std::chrono::milliseconds pause_time(2);

using moment = std::atomic<std::int64_t>;

void submit_from_outside(boost::fibers::buffered_channel<moment *> &work) {
    std::vector<std::int64_t> delay, cost;
    for (int i = -warm_up; i < samples; i++) {
        static moment started;
        started = 0;
        std::this_thread::sleep_for(pause_time);
        std::int64_t submitted = bench::now();
        work.push(&started);
        std::int64_t returned = bench::now();
        while (started.load(std::memory_order_acquire) == 0)
            std::this_thread::sleep_for(pause_time);
        if (i < 0)
            continue;
        delay.push_back(started - submitted);
        cost.push_back(returned - submitted);
    }
    bench::report("wake.p50", nullptr, static_cast<double>(bench::percentile(delay, 0.50)) / 1e3, "us");
    bench::report("wake.p99", nullptr, static_cast<double>(bench::percentile(delay, 0.99)) / 1e3, "us");
    bench::report("wake_cost.p50", nullptr, static_cast<double>(bench::percentile(cost, 0.50)) / 1e3, "us");
    _exit(0);
}

void wake(const char *) {
    boost::fibers::buffered_channel<moment *> work(64);
    std::thread outside([&] { submit_from_outside(work); });
    for (moment *started : work)
        boost::fibers::fiber(boost::fibers::launch::dispatch, [started] {
            started->store(bench::now(), std::memory_order_release);
        }).detach();
    outside.join();
}

const bench::entry all[] = {{"wake", wake}};

} // namespace

int main(int argc, char **argv) {
    return bench::main(argc, argv, all);
}
