/* SPDX-License-Identifier: MIT
 *
 * spec/panic_test.c - deferred calls, panics, recovery, exits: their order and what the joiner sees.
 *
 * Every step leaves a letter in a trace; the trace is the oracle.
 */
#include "support/run.h"

static char trace[64];

static void leave_letter(void *arg) {
    size_t used = strlen(trace);
    CHECK_LE(used, sizeof trace - 2);
    trace[used] = *(const char *)arg;
    trace[used + 1] = 0;
}

static void defer_letter(const char *letter) {
    CHECK_EQ(weft_defer(leave_letter, (void *)(uintptr_t)letter), 0);
}

static void *in_fiber(void *(*fn)(void *), int expected) {
    weft_fiber fiber;
    void *result = trace;
    trace[0] = 0;
    SPAWN(&fiber, fn, NULL);
    CHECK_EQ(weft_join(fiber, &result, WEFT_NEVER), expected);
    return result;
}

static void *return_with_defers(void *arg) {
    (void)arg;
    defer_letter("a");
    defer_letter("b");
    weft_yield();
    defer_letter("c");
    CHECK_EQ(weft_undefer(false), 0);
    defer_letter("d");
    CHECK_EQ(weft_undefer(true), 0);
    leave_letter("x");
    return trace;
}

static void *panic_with_defers(void *arg) {
    (void)arg;
    defer_letter("a");
    defer_letter("b");
    weft_panic("at %d", 7);
}

static void *exit_with_defers(void *arg) {
    (void)arg;
    defer_letter("a");
    defer_letter("b");
    weft_exit(&trace[1]);
}

static void check_order(void) {
    CHECK(in_fiber(return_with_defers, 0) == trace);
    CHECK_TEXT(trace, "dxba");
    CHECK(in_fiber(panic_with_defers, -EOWNERDEAD) == NULL);
    CHECK_TEXT(trace, "ba");
    CHECK(in_fiber(exit_with_defers, 0) == &trace[1]);
    CHECK_TEXT(trace, "ba");
}

TEST(deferred_calls_run_newest_first_however_a_fiber_ends) {
    run_fibers_with(&(weft_options){.quiet = true}, check_order);
}

static void inner(void *arg) {
    (void)arg;
    defer_letter("i");
    weft_yield();
    weft_panic("inner %s", "trouble");
}

static void panic_again(void *arg) {
    leave_letter(arg);
    weft_panic("second");
}

static void outer(void *arg) {
    char why[32];
    (void)arg;
    defer_letter("o");
    CHECK_EQ(weft_try(inner, NULL, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "inner trouble");
    CHECK_TEXT(trace, "i");
    defer_letter("p");
    CHECK_EQ(weft_defer(panic_again, (void *)(uintptr_t) "q"), 0);
    weft_panic("outer");
}

static void *nest(void *arg) {
    char why[8];
    CHECK_EQ(weft_try(outer, arg, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "second");
    CHECK_TEXT(trace, "iqpo");
    CHECK_EQ(weft_try(leave_letter, (void *)(uintptr_t) "z", why, sizeof why), 0);
    return NULL;
}

static void check_nesting(void) {
    in_fiber(nest, 0);
    CHECK_TEXT(trace, "iqpoz");
}

TEST(panics_nest_and_a_panic_in_a_deferred_call_replaces_the_first) {
    run_fibers_with(&(weft_options){.quiet = true}, check_nesting);
}

static void exit_inside(void *arg) {
    defer_letter("e");
    weft_exit(arg);
}

static void *exit_from_try(void *arg) {
    (void)arg;
    defer_letter("f");
    weft_try(exit_inside, trace, NULL, 0);
    leave_letter("!");
    return NULL;
}

static void check_exit_in_try(void) {
    CHECK(in_fiber(exit_from_try, 0) == trace);
    CHECK_TEXT(trace, "ef");
}

TEST(an_exit_passes_through_every_try) {
    run_fibers(check_exit_in_try);
}

/* Destructors of fiber variables. */
static weft_key key;

static void *set_then_return(void *arg) {
    defer_letter("a");
    CHECK_EQ(weft_local_set(key, (void *)(uintptr_t) "v"), 0);
    return arg;
}

static void *set_then_panic(void *arg) {
    set_then_return(arg);
    weft_panic("with a variable set");
}

static void check_destructors(void) {
    CHECK_EQ(weft_key_new(&key, leave_letter), 0);
    in_fiber(set_then_return, 0);
    CHECK_TEXT(trace, "av");
    in_fiber(set_then_panic, -EOWNERDEAD);
    CHECK_TEXT(trace, "av");
    CHECK_EQ(weft_key_free(key), 0);
}

TEST(destructors_of_variables_run_after_deferred_calls) {
    run_fibers_with(&(weft_options){.quiet = true}, check_destructors);
}

static void *set_only(void *arg) {
    CHECK_EQ(weft_local_set(key, (void *)(uintptr_t) "v"), 0);
    return arg;
}

static void check_panicking_destructor(void) {
    CHECK_EQ(weft_key_new(&key, panic_again), 0);
    weft_fiber fiber;
    trace[0] = 0;
    SPAWN(&fiber, set_only, NULL);
    int error = weft_join(fiber, NULL, WEFT_NEVER);
    CHECK(error == 0 || error == -EOWNERDEAD);
    CHECK_TEXT(trace, "v");
    CHECK_EQ(weft_key_free(key), 0);
}

TEST(a_panic_in_a_destructor_ends_the_fiber_and_nothing_else) {
    run_fibers_with(&(weft_options){.quiet = true}, check_panicking_destructor);
}

static int panic_first(void *arg) {
    (void)arg;
    weft_panic("the first fiber");
}

TEST(a_first_fiber_that_panics_ends_its_runtime_with_ownerdead) {
    CHECK_EQ(weft_run(&(weft_options){.quiet = true}, panic_first, NULL), -EOWNERDEAD);
}

static void panic_on_thread(void *arg) {
    weft_panic("on %s", (const char *)arg);
}

TEST(a_plain_thread_recovers_as_well) {
    char why[32];
    CHECK_EQ(weft_try(panic_on_thread, (void *)(uintptr_t) "a thread", why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "on a thread");
    CHECK_EQ(weft_defer(leave_letter, NULL), -EPERM);
}
