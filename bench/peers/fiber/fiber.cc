// SPDX-License-Identifier: MIT
//
// The cost of Boost.Fiber's fibers themselves: yield, spawn and join, a million at once, the skynet tree. Same work as
// bench/weft/fiber.c.
#include "bench.hh"

namespace {

using boost::fibers::fiber;

constexpr long yields = 2000000, joins = 1000000, warm_up = 100000, batch = 1000000, leaves = 1000000;
constexpr int branches = 10;
constexpr std::int64_t leaves_sum = 499999500000;

std::int64_t yield_pair(long n) {
    auto body = [n] {
        for (long i = 0; i < n; i++)
            boost::this_fiber::yield();
    };
    std::int64_t start = bench::now();
    fiber left = bench::spawn(body), right = bench::spawn(body);
    left.join();
    right.join();
    return bench::now() - start;
}

void yield(const char *suffix) {
    yield_pair(warm_up);
    bench::report("yield", suffix, static_cast<double>(yield_pair(yields)) / (2.0 * yields), "ns");
}

std::int64_t spawn_and_join(long n) {
    std::int64_t start = bench::now();
    for (long i = 0; i < n; i++)
        bench::spawn([] {}).join();
    return bench::now() - start;
}

void spawn_join(const char *suffix) {
    spawn_and_join(warm_up);
    bench::report("spawn_join", suffix, static_cast<double>(spawn_and_join(joins)) / joins, "ns");
}

std::int64_t spawn_all_join_all(std::vector<fiber> &fibers, long n) {
    std::int64_t start = bench::now();
    for (long i = 0; i < n; i++)
        fibers.push_back(bench::spawn([] {}));
    for (fiber &f : fibers)
        f.join();
    std::int64_t took = bench::now() - start;
    fibers.clear();
    return took;
}

void spawn_batch(const char *suffix) {
    std::vector<fiber> fibers;
    fibers.reserve(batch);
    bench::report("spawn_batch.cold", suffix, static_cast<double>(spawn_all_join_all(fibers, batch)) / batch, "ns");
    bench::report("spawn_batch.warm", suffix, static_cast<double>(spawn_all_join_all(fibers, batch)) / batch, "ns");
}

std::int64_t skynet_node(std::int64_t first, std::int64_t size) {
    if (size == 1)
        return first;
    fiber fibers[branches];
    std::int64_t parts[branches], share = size / branches, sum = 0;
    for (int i = 0; i < branches; i++)
        fibers[i] =
            bench::spawn([part = &parts[i], begin = first + i * share, share] { *part = skynet_node(begin, share); });
    for (int i = 0; i < branches; i++) {
        fibers[i].join();
        sum += parts[i];
    }
    return sum;
}

void skynet_round(const char *name, const char *suffix) {
    std::int64_t start = bench::now();
    std::int64_t sum = skynet_node(0, leaves);
    std::int64_t took = bench::now() - start;
    if (sum != leaves_sum)
        bench::fail("skynet added up to something else");
    bench::report(name, suffix, static_cast<double>(took) / 1e6, "ms");
}

void skynet(const char *suffix) {
    skynet_round("skynet.cold", suffix);
    skynet_round("skynet.warm", suffix);
}

const bench::entry all[] = {
    {"yield", yield},
    {"spawn_join", spawn_join},
    {"spawn_batch", spawn_batch},
    {"skynet", skynet},
};

} // namespace

int main(int argc, char **argv) {
    return bench::main(argc, argv, all);
}
