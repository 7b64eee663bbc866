/* SPDX-License-Identifier: MIT
 *
 * spec/exception_test.cc - C++ on fibers: exceptions, destructors.
 *
 * An exception thrown and caught inside a fiber may cross suspensions; one that nobody catches ends its fiber like a
 * panic. Panics and exits run the destructors of the frames that they leave.
 */
#include <atomic>
#include <stdexcept>
#include <string>

#include "support/check.h"
#include "weft.h"

static std::atomic<int> alive;

namespace {
struct Counted {
    Counted() { alive++; }
    ~Counted() { alive--; }
};
} // namespace

static int run_body(void *opaque) {
    reinterpret_cast<void (*)()>(opaque)();
    return 0;
}

static void run(void (*body)()) {
    weft_options options = {};
    options.quiet = true;
    CHECK_EQ(weft_run(&options, run_body, reinterpret_cast<void *>(body)), 0);
    CHECK_EQ(alive.load(), 0);
}

static void thrower(int depth) {
    Counted counted;
    weft_yield();
    if (depth == 0)
        throw std::runtime_error("from below");
    thrower(depth - 1);
}

static void *catch_over_yields(void *arg) {
    for (int i = 0; i < 20; i++) {
        std::string what;
        try {
            thrower(5);
        } catch (const std::exception &error) {
            weft_yield(); /* with an exception in hand, maybe on to another thread */
            what = error.what();
        }
        CHECK(what == "from below");
    }
    return arg;
}

static int join_all(void *(*fn)(void *), int count) {
    weft_fiber fibers[64];
    int error = 0;
    for (int i = 0; i < count; i++)
        CHECK_EQ(weft_spawn(&fibers[i], fn, nullptr), 0);
    for (int i = 0; i < count; i++)
        error = weft_join(fibers[i], nullptr, WEFT_NEVER);
    return error;
}

static void catch_in_fibers() {
    CHECK_EQ(join_all(catch_over_yields, 64), 0);
}

TEST(an_exception_is_caught_inside_a_fiber_across_yields) {
    run(catch_in_fibers);
}

static void *let_escape(void *) {
    thrower(3);
    return nullptr;
}

static void escape_from_fibers() {
    weft_stats stats;
    CHECK_EQ(join_all(let_escape, 16), -EOWNERDEAD);
    CHECK_EQ(weft_get_stats(nullptr, &stats), 0);
    CHECK_EQ(stats.panics, 16);
}

TEST(an_exception_that_escapes_ends_its_fiber_only) {
    run(escape_from_fibers);
}

static void *panic_past_destructors(void *) {
    Counted one;
    [] {
        Counted two;
        weft_yield();
        weft_panic("with %d objects", 2);
    }();
    return nullptr;
}

static void *exit_past_destructors(void *) {
    Counted one;
    [] {
        Counted two;
        weft_exit(nullptr);
    }();
    return nullptr;
}

static void leave_past_destructors() {
    CHECK_EQ(join_all(panic_past_destructors, 16), -EOWNERDEAD);
    CHECK_EQ(alive.load(), 0);
    CHECK_EQ(join_all(exit_past_destructors, 16), 0);
}

TEST(panics_and_exits_run_destructors) {
    run(leave_past_destructors);
}

static void throw_in_try(void *) {
    thrower(1);
}

static void recover_exception() {
    char why[64];
    CHECK_EQ(weft_try(throw_in_try, nullptr, why, sizeof why), -EOWNERDEAD);
    CHECK(why[0] != 0);
}

TEST(a_try_recovers_from_an_exception) {
    run(recover_exception);
}
