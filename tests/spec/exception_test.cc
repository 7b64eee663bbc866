/* SPDX-License-Identifier: MIT
 *
 * spec/exception_test.cc - C++ on fibers: exceptions, destructors.
 *
 * An exception thrown and caught inside a fiber may cross suspensions; one that nobody catches ends its fiber like a
 * panic. Panics and exits run the destructors of the frames that they leave, and pass a catch (...) that rethrows; one
 * that keeps them to itself ends the process.
 */
#include <atomic>
#include <stdexcept>
#include <string>

#include "support/child.h"
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

static void panic_through_catch(void *arg) {
    Counted counted;
    try {
        weft_panic("on its way");
    } catch (...) {
        ++*static_cast<int *>(arg);
        throw;
    }
}

static void rethrow_panic() {
    char why[64];
    int caught = 0;
    CHECK_EQ(weft_try(panic_through_catch, &caught, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "on its way");
    CHECK_EQ(caught, 1);
}

TEST(a_catch_all_that_rethrows_lets_a_panic_pass) {
    run(rethrow_panic);
}

static void *swallow_panic(void *) {
    try {
        weft_panic("not to be swallowed");
    } catch (...) {
    }
    return nullptr;
}

static void *swallow_exit(void *) {
    try {
        weft_exit(nullptr);
    } catch (...) {
    }
    return nullptr;
}

static void swallow_panic_in_fiber() {
    join_all(swallow_panic, 1);
}

static void swallow_exit_in_fiber() {
    join_all(swallow_exit, 1);
}

static void run_swallower(void *body) {
    run(reinterpret_cast<void (*)()>(body));
}

TEST(a_catch_all_that_swallows_a_panic_or_an_exit_is_fatal) {
    struct child_end end = child_run(run_swallower, reinterpret_cast<void *>(swallow_panic_in_fiber));
    CHECK_CHILD_FATAL(&end, "a catch (...) block has to rethrow");
    end = child_run(run_swallower, reinterpret_cast<void *>(swallow_exit_in_fiber));
    CHECK_CHILD_FATAL(&end, "a catch (...) block has to rethrow");
}
