/* SPDX-License-Identifier: MIT
 *
 * unit/fiber/panic_test.c - deferred calls, tries, panics and exits, alone and inside each other.
 *
 * Every test writes letters into a log; the order of the letters is what is checked.
 */
#include "support/child.h"
#include "support/run.h"

static char trace[64];
static size_t trace_length;

static void log_clear(void) {
    trace_length = 0;
    trace[0] = 0;
}

static void say(const char *letters) {
    size_t length = strlen(letters);
    CHECK_LE(trace_length + length, sizeof trace - 1);
    memcpy(trace + trace_length, letters, length + 1);
    trace_length += length;
}

static void say_it(void *letters) {
    say(letters);
}

static void say_and_panic(void *letters) {
    say(letters);
    weft_panic("deferred %s", (char *)letters);
}

static void say_and_exit(void *letters) {
    say(letters);
    weft_exit(letters);
}

#define DEFER(fn, letters) CHECK_EQ(weft_defer((fn), (letters)), 0)

/* Runs the body as a fiber; its status and result are what its joiner gets. */
static int run_body(void *(*body)(void *), void **result) {
    weft_fiber fiber;
    log_clear();
    SPAWN(&fiber, body, NULL);
    return weft_join(fiber, result, WEFT_NEVER);
}

static void *defer_three(void *arg) {
    DEFER(say_it, "a");
    DEFER(say_it, "b");
    DEFER(say_it, "c");
    say("x");
    return arg;
}

static void *defer_and_panic(void *arg) {
    (void)arg;
    DEFER(say_it, "a");
    DEFER(say_it, "b");
    weft_panic("%d", 7);
}

static void *defer_and_exit(void *arg) {
    (void)arg;
    DEFER(say_it, "a");
    DEFER(say_it, "b");
    weft_exit(trace);
}

static void ends_body(void) {
    void *result = trace;
    CHECK_EQ(run_body(defer_three, &result), 0);
    CHECK_TEXT(trace, "xcba");
    CHECK(result == NULL);
    result = trace;
    CHECK_EQ(run_body(defer_and_panic, &result), -EOWNERDEAD);
    CHECK_TEXT(trace, "ba");
    CHECK(result == NULL);
    CHECK_EQ(run_body(defer_and_exit, &result), 0);
    CHECK_TEXT(trace, "ba");
    CHECK(result == trace);
}

static const weft_options quiet = {.quiet = true};

TEST(deferred_calls_run_newest_first_however_the_fiber_ends) {
    run_fibers_with(&quiet, ends_body);
}

static void *defer_while_deferred(void *arg);

static void defer_more(void *arg) {
    say(arg);
    DEFER(say_it, "n");
}

static void *defer_while_deferred(void *arg) {
    DEFER(say_it, "a");
    DEFER(defer_more, "m");
    return arg;
}

static void defer_in_defer_body(void) {
    CHECK_EQ(run_body(defer_while_deferred, NULL), 0);
    CHECK_TEXT(trace, "mna");
}

TEST(a_call_deferred_by_a_deferred_call_runs_next) {
    run_fibers(defer_in_defer_body);
}

static void *panic_in_deferred(void *arg) {
    DEFER(say_it, "a");
    DEFER(say_and_panic, "p");
    DEFER(say_it, "c");
    return arg;
}

static void *panic_twice(void *arg) {
    (void)arg;
    DEFER(say_it, "a");
    DEFER(say_and_panic, "p");
    DEFER(say_and_panic, "q");
    weft_panic("first");
}

static void panic_in_deferred_body(void) {
    CHECK_EQ(run_body(panic_in_deferred, NULL), -EOWNERDEAD);
    CHECK_TEXT(trace, "cpa");
    CHECK_EQ(run_body(panic_twice, NULL), -EOWNERDEAD);
    CHECK_TEXT(trace, "qpa");
}

TEST(a_panic_in_a_deferred_call_ends_badly_and_the_others_still_run) {
    run_fibers_with(&quiet, panic_in_deferred_body);
}

static void *exit_in_deferred(void *arg) {
    DEFER(say_it, "a");
    DEFER(say_and_exit, "e");
    return arg;
}

static void exit_in_deferred_body(void) {
    void *result = NULL;
    CHECK_EQ(run_body(exit_in_deferred, &result), 0);
    CHECK_TEXT(trace, "ea");
    CHECK_TEXT((char *)result, "e");
}

TEST(an_exit_in_a_deferred_call_sets_the_result_and_the_others_still_run) {
    run_fibers(exit_in_deferred_body);
}

static void *undefer_some(void *arg) {
    CHECK_EQ(weft_undefer(true), -ENOENT);
    DEFER(say_it, "a");
    DEFER(say_it, "b");
    DEFER(say_it, "c");
    CHECK_EQ(weft_undefer(true), 0);
    say("x");
    CHECK_EQ(weft_undefer(false), 0);
    return arg;
}

static void undefer_body(void) {
    CHECK_EQ(run_body(undefer_some, NULL), 0);
    CHECK_TEXT(trace, "cxa");
    CHECK_EQ(weft_defer(NULL, NULL), -EINVAL);
}

TEST(undefer_takes_back_the_newest_call_and_runs_it_if_asked) {
    run_fibers(undefer_body);
    CHECK_EQ(weft_defer(say_it, "a"), -EPERM);
    CHECK_EQ(weft_undefer(true), -ENOENT);
}

static void defer_b_and_panic(void *arg) {
    DEFER(say_it, "b");
    CHECK_EQ(weft_undefer(false), 0);
    CHECK_EQ(weft_undefer(false), -ENOENT); /* what was deferred outside is not ours */
    DEFER(say_it, "b");
    if (arg)
        weft_panic("%s", (char *)arg);
}

static void *try_inside(void *arg) {
    char why[16] = "untouched";
    DEFER(say_it, "a");
    CHECK_EQ(weft_try(defer_b_and_panic, NULL, why, sizeof why), 0);
    CHECK_TEXT(why, "untouched");
    say("1");
    CHECK_EQ(weft_try(defer_b_and_panic, "because", why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "because");
    CHECK_EQ(weft_try(defer_b_and_panic, "because", why, 4), -EOWNERDEAD);
    CHECK_TEXT(why, "bec");
    CHECK_EQ(weft_try(defer_b_and_panic, "because", NULL, 0), -EOWNERDEAD);
    CHECK_EQ(weft_try(NULL, NULL, NULL, 0), -EINVAL);
    CHECK_EQ(weft_try(say_it, "z", NULL, 8), -EINVAL);
    return arg;
}

static void try_body(void) {
    CHECK_EQ(run_body(try_inside, NULL), 0);
    CHECK_TEXT(trace, "b1bbba");
}

TEST(try_runs_its_own_deferred_calls_and_hands_over_the_message) {
    run_fibers(try_body);
}

static void panic_deep(void *arg) {
    int depth = (int)(intptr_t)arg;
    char why[32];
    if (depth == 0)
        weft_panic("bottom");
    CHECK_EQ(weft_try(panic_deep, (void *)(intptr_t)(depth - 1), why, sizeof why), -EOWNERDEAD);
    weft_panic("%d %s", depth, depth == 1 ? why : "up");
}

static void nest_body(void) {
    char why[32];
    CHECK_EQ(weft_try(panic_deep, (void *)1, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "1 bottom");
    CHECK_EQ(weft_try(panic_deep, (void *)20, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "20 up");
}

TEST(tries_nest) {
    run_fibers(nest_body);
    nest_body(); /* on a plain thread as well */
}

static void exit_from_inside(void *arg) {
    DEFER(say_it, "b");
    weft_exit(arg);
}

static void *exit_through_tries(void *arg) {
    (void)arg;
    DEFER(say_it, "a");
    weft_try(exit_from_inside, trace, NULL, 0);
    say("never");
    return NULL;
}

static void exit_body(void) {
    void *result = NULL;
    CHECK_EQ(run_body(exit_through_tries, &result), 0);
    CHECK_TEXT(trace, "ba");
    CHECK(result == trace);
}

TEST(exit_passes_every_try_on_its_way) {
    run_fibers(exit_body);
}

static void say_cleanup(const char **letters) {
    say(*letters);
}

static void (*volatile panic_at_depth)(void *arg);

static void recurse_and_panic(void *arg) {
    const char *letter __attribute__((cleanup(say_cleanup))) = "f";
    int depth = (int)(intptr_t)arg;
    if (depth == 0)
        weft_panic("deep");
    panic_at_depth((void *)(intptr_t)(depth - 1));
    say("never");
}

static void cleanup_body(void) {
    log_clear();
    panic_at_depth = recurse_and_panic;
    CHECK_EQ(weft_try(recurse_and_panic, (void *)4, NULL, 0), -EOWNERDEAD);
#if defined(__EXCEPTIONS)
    CHECK_TEXT(trace, "fffff");
#else
    CHECK(strstr(trace, "never") == NULL);
#endif
}

TEST(a_panic_leaves_every_frame_up_to_the_try) {
    run_fibers(cleanup_body);
}

static void long_message(void *arg) {
    (void)arg;
    weft_panic("%0300d", 1);
}

static void long_body(void) {
    char why[400];
    CHECK_EQ(weft_try(long_message, NULL, why, sizeof why), -EOWNERDEAD);
    CHECK_EQ(strlen(why), 159);
}

TEST(a_message_is_cut_at_159_bytes) {
    run_fibers(long_body);
}

static void panic_on_thread(void *arg) {
    (void)arg;
    weft_panic("nobody %s", "catches this");
}

static void exit_on_thread(void *arg) {
    weft_exit(arg);
}

TEST(a_panic_or_exit_of_a_plain_thread_is_fatal) {
    struct child_end end = child_run(panic_on_thread, NULL);
    CHECK_CHILD_FATAL(&end, "nobody catches this");
    end = child_run(exit_on_thread, NULL);
    CHECK_CHILD_FATAL(&end, "weft_exit");
    char why[32];
    CHECK_EQ(weft_try(panic_on_thread, NULL, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "nobody catches this");
}

static void report_body(void) {
    CHECK_EQ(run_body(defer_and_panic, NULL), -EOWNERDEAD);
}

static void run_loud(void *arg) {
    (void)arg;
    run_fibers(report_body);
}

static void run_quiet(void *arg) {
    (void)arg;
    run_fibers_with(&quiet, report_body);
}

TEST(a_panic_that_ends_a_fiber_is_reported_with_its_function_unless_quiet) {
    struct child_end end = child_run(run_loud, NULL);
    CHECK_CHILD_WELL(&end);
    CHECK(strstr(end.text, "panic in fiber") != NULL);
    CHECK(strstr(end.text, "defer_and_panic") != NULL);
    CHECK(strstr(end.text, ": 7") != NULL);
    end = child_run(run_quiet, NULL);
    CHECK_CHILD_WELL(&end);
    CHECK(strstr(end.text, "panic in") == NULL);
}
