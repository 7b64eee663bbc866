// SPDX-License-Identifier: MIT
//
// What a mutex of Boost.Fiber costs: alone, and with four fibers a worker after it. Same work as bench/weft/sync.c.
#include "bench.hh"

namespace {

using boost::fibers::fiber;

constexpr long pairs = 20000000, sections = 4000000, warm_up = 100000;
constexpr int fibers_per_worker = 4, yield_every = 16;

boost::fibers::mutex lock;
long number; // under lock

std::int64_t lock_and_unlock(long n) {
    std::int64_t start = bench::now();
    for (long i = 0; i < n; i++) {
        lock.lock();
        lock.unlock();
    }
    return bench::now() - start;
}

void uncontended(const char *suffix) {
    lock_and_unlock(warm_up);
    bench::report("mutex.uncontended", suffix, static_cast<double>(lock_and_unlock(pairs)) / pairs, "ns");
}

void add_ones(long n) {
    for (long i = 0; i < n; i++) {
        lock.lock();
        number++;
        if (i % yield_every == 0)
            boost::this_fiber::yield();
        lock.unlock();
    }
}

// The time a section takes, over all fibers.
double contend(int fibers, long n) {
    std::vector<fiber> adding;
    long share = n / fibers;
    number = 0;
    std::int64_t start = bench::now();
    for (int i = 0; i < fibers; i++)
        adding.push_back(bench::spawn([share] { add_ones(share); }));
    for (fiber &f : adding)
        f.join();
    std::int64_t took = bench::now() - start;
    if (number != fibers * share)
        bench::fail("another number of sections was counted");
    return static_cast<double>(took) / static_cast<double>(number);
}

void contended(const char *suffix) {
    int fibers = fibers_per_worker * static_cast<int>(bench::count(suffix));
    contend(fibers, warm_up);
    bench::report("mutex.contended", suffix, contend(fibers, sections), "ns");
}

const bench::entry all[] = {{"uncontended", uncontended}, {"contended", contended}};

} // namespace

int main(int argc, char **argv) {
    return bench::main(argc, argv, all);
}
