// SPDX-License-Identifier: MIT
//
// Values from fiber to fiber of Boost.Fiber: round trips without a buffer, a stream through one. Same work as
// bench/weft/chan.c. The library has no select. Its buffer of 128 holds 127 values.
#include "bench.hh"

namespace {

using boost::fibers::channel_op_status;
using boost::fibers::fiber;
using buffered_channel = boost::fibers::buffered_channel<std::int64_t>;
using unbuffered_channel = boost::fibers::unbuffered_channel<std::int64_t>;

constexpr std::int64_t round_trip_count = 1000000, elements = 4000000, warm_up = 100000;
constexpr std::size_t capacity = 128;

void check_sum(std::int64_t sum, std::int64_t n) {
    if (sum != n * (n - 1) / 2)
        bench::fail("the values added up to something else");
}

void must(channel_op_status status) {
    if (status != channel_op_status::success)
        bench::fail("a channel was closed too early");
}

std::int64_t ask(unbuffered_channel &there, unbuffered_channel &back, std::int64_t n) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < n; i++) {
        std::int64_t value = i;
        must(there.push(value));
        must(back.pop(value));
        sum += value;
    }
    return sum;
}

void answer(unbuffered_channel &there, unbuffered_channel &back, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i++) {
        std::int64_t value;
        must(there.pop(value));
        must(back.push(value));
    }
}

std::int64_t round_trips(std::int64_t n) {
    unbuffered_channel there, back;
    std::int64_t sum = 0;
    std::int64_t start = bench::now();
    fiber left = bench::spawn([&] { sum = ask(there, back, n); });
    fiber right = bench::spawn([&] { answer(there, back, n); });
    left.join();
    right.join();
    std::int64_t took = bench::now() - start;
    check_sum(sum, n);
    return took;
}

void unbuffered(const char *suffix) {
    round_trips(warm_up);
    bench::report("chan.unbuffered", suffix, static_cast<double>(round_trips(round_trip_count)) / round_trip_count,
                  "ns");
}

void send_all(buffered_channel &stream, std::int64_t first, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i++)
        must(stream.push(first + i));
}

std::int64_t receive_until_closed(buffered_channel &stream) {
    std::int64_t value, sum = 0;
    while (stream.pop(value) == channel_op_status::success)
        sum += value;
    return sum;
}

std::int64_t pump(int sides, std::int64_t n) {
    buffered_channel stream(capacity);
    std::vector<fiber> sending, receiving;
    std::vector<std::int64_t> sums(static_cast<std::size_t>(sides));
    std::int64_t share = n / sides, sum = 0;
    std::int64_t start = bench::now();
    for (int i = 0; i < sides; i++) {
        sending.push_back(bench::spawn([&, i] { send_all(stream, i * share, share); }));
        receiving.push_back(bench::spawn([&, i] { sums[static_cast<std::size_t>(i)] = receive_until_closed(stream); }));
    }
    for (fiber &f : sending)
        f.join();
    stream.close();
    for (fiber &f : receiving)
        f.join();
    std::int64_t took = bench::now() - start;
    for (std::int64_t part : sums)
        sum += part;
    check_sum(sum, n);
    return took;
}

void buffered(const char *suffix) {
    int sides = suffix && std::strcmp(suffix, "4to4") == 0 ? 4 : 1;
    pump(sides, warm_up);
    bench::report("chan.buffered", suffix, static_cast<double>(pump(sides, elements)) / elements, "ns");
}

const bench::entry all[] = {{"unbuffered", unbuffered}, {"buffered", buffered}};

} // namespace

int main(int argc, char **argv) {
    return bench::main(argc, argv, all);
}
