/* SPDX-License-Identifier: MIT
 *
 * spec/scope_test.c - structured concurrency: nothing that was started inside a scope outlives it.
 *
 * Errors, the tree of scopes, panics and exits, limits. What cancellation does to each call that waits is in
 * spec/cancel_test.c, deadlines are in spec/deadline_test.c.
 */
#include "support/child.h"
#include "support/run.h"

#define FOR_EVER (1000 * PATIENCE_NS)

static const weft_options quiet = {.quiet = true};

static int sleep_for_ever(void *opaque) {
    int status = weft_sleep(weft_after(FOR_EVER));
    if (opaque)
        atomic_fetch_add((atomic_int *)opaque, 1);
    return status;
}

static int yield_and_count(void *opaque) {
    for (int i = 0; i < 10; i++)
        weft_yield();
    atomic_fetch_add((atomic_int *)opaque, 1);
    return 0;
}

static int fail_at_once(void *opaque) {
    return (int)(intptr_t)opaque;
}

enum { CROWD = 50 };

static int start_crowd(weft_scope *scope, void *opaque) {
    for (int i = 0; i < CROWD; i++)
        CHECK_EQ(weft_scope_go(scope, yield_and_count, opaque), 0);
    return 9;
}

static void all_ended_body(void) {
    for (long i = 0; i < scaled(200, 5); i++) {
        atomic_int count = 0;
        CHECK_EQ(weft_scope_run(NULL, start_crowd, &count), 9);
        CHECK_EQ(atomic_load(&count), CROWD);
    }
}

TEST(scope_returns_when_all_children_have_ended_and_gives_what_its_body_returned) {
    run_fibers(all_ended_body);
}

/* Children start children, which the opener never hears of before they are counted. */
struct seedling {
    weft_scope *scope;
    int depth;
    atomic_int *count;
};

static int grow(void *opaque) {
    struct seedling *seedling = opaque;
    atomic_fetch_add(seedling->count, 1);
    if (seedling->depth > 0) {
        for (int i = 0; i < 2; i++) {
            struct seedling *next = malloc(sizeof *next);
            CHECK(next != NULL);
            *next = (struct seedling){seedling->scope, seedling->depth - 1, seedling->count};
            CHECK_EQ(weft_scope_go(seedling->scope, grow, next), 0);
        }
    }
    free(seedling);
    return 0;
}

static int plant(weft_scope *scope, void *opaque) {
    struct seedling *seedling = malloc(sizeof *seedling);
    CHECK(seedling != NULL);
    *seedling = (struct seedling){scope, 7, opaque};
    return weft_scope_go(scope, grow, seedling);
}

static void grow_body(void) {
    atomic_int count = 0;
    CHECK_EQ(weft_scope_run(NULL, plant, &count), 0);
    CHECK_EQ(atomic_load(&count), 255);
}

TEST(scope_waits_for_children_that_children_started) {
    run_fibers(grow_body);
}

static int one_fails(weft_scope *scope, void *opaque) {
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, opaque), 0);
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, opaque), 0);
    int status = weft_scope_go(scope, fail_at_once, (void *)-EDOM);
    CHECK_EQ(status, 0);
    status = weft_scope_wait(scope, WEFT_NEVER);
    CHECK(status == -ECANCELED || status == 0);
    return 4;
}

static void first_error_body(void) {
    atomic_int cancelled = 0;
    CHECK_EQ(weft_scope_run(NULL, one_fails, &cancelled), -EDOM);
    CHECK_EQ(atomic_load(&cancelled), 2);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
}

TEST(scope_keeps_the_first_error_and_cancels_the_others) {
    run_fibers(first_error_body);
}

static int fail_in_turn(weft_scope *scope, void *opaque) {
    CHECK_EQ(weft_scope_go(scope, fail_at_once, (void *)-EDOM), 0);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_scope_go(scope, fail_at_once, (void *)-ERANGE), 0);
    CHECK_EQ(weft_scope_go(scope, yield_and_count, opaque), 0);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
    return 4;
}

static void keep_going_body(void) {
    weft_scope_options options = {.keep_going = true};
    atomic_int count = 0;
    CHECK_EQ(weft_scope_run(&options, fail_in_turn, &count), -EDOM);
    CHECK_EQ(atomic_load(&count), 1);
}

TEST(scope_that_keeps_going_keeps_the_first_error_and_cancels_nobody) {
    run_fibers(keep_going_body);
}

static int body_fails(weft_scope *scope, void *opaque) {
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, opaque), 0);
    return -ENOLINK;
}

static void body_fails_body(void) {
    atomic_int cancelled = 0;
    CHECK_EQ(weft_scope_run(NULL, body_fails, &cancelled), -ENOLINK);
    CHECK_EQ(atomic_load(&cancelled), 1);
    weft_scope_options options = {.keep_going = true};
    CHECK_EQ(weft_scope_run(&options, body_fails, &cancelled), -ENOLINK);
    CHECK_EQ(atomic_load(&cancelled), 2);
}

TEST(scope_whose_body_fails_cancels_its_children) {
    run_fibers(body_fails_body);
}

/* Cancellation goes down, with reason and text, and not up. */
struct level {
    int depth;
    atomic_int *woken;
    _Atomic(weft_scope *) *middle; /* set once all levels are there */
    weft_scope *chosen;
};

static int reason_child(void *opaque) {
    struct level *level = opaque;
    char text[200];
    CHECK_EQ(weft_sleep(weft_after(FOR_EVER)), -ECANCELED);
    CHECK_EQ(weft_cancel_reason(text, sizeof text), -EHOSTDOWN);
    CHECK_TEXT(text, "gone for lunch");
    CHECK_EQ(weft_cancel_reason(text, 5), -EHOSTDOWN);
    CHECK_TEXT(text, "gone");
    CHECK_EQ(weft_cancel_reason(NULL, 0), -EHOSTDOWN);
    atomic_fetch_add(level->woken, 1);
    return 0;
}

enum { DEPTH = 5, MIDDLE = 3 };

static int level_body(weft_scope *scope, void *opaque) {
    struct level *level = opaque;
    CHECK_EQ(weft_scope_go(scope, reason_child, level), 0);
    if (level->depth == MIDDLE)
        level->chosen = scope;
    if (level->depth == DEPTH) {
        atomic_store(level->middle, level->chosen);
        return 0;
    }
    struct level below = {level->depth + 1, level->woken, level->middle, level->chosen};
    CHECK_EQ(weft_scope_run(NULL, level_body, &below), -EHOSTDOWN);
    if (level->depth >= MIDDLE) {
        CHECK_EQ(weft_cancel_reason(NULL, 0), -EHOSTDOWN);
        return 0;
    }
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0); /* above the one that was cancelled nothing happened */
    CHECK_EQ(weft_scope_wait(scope, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_scope_cancel(scope, -EHOSTDOWN, "gone for lunch"), 0);
    return 0;
}

static void *cancel_middle(void *opaque) {
    struct level *level = opaque;
    WAIT_UNTIL(atomic_load(level->middle));
    CHECK_EQ(weft_scope_cancel(atomic_load(level->middle), -EHOSTDOWN, "gone for lunch"), 0);
    return NULL;
}

static void tree_body(void) {
    for (int by_thread = 0; by_thread < 2; by_thread++) {
        atomic_int woken = 0;
        _Atomic(weft_scope *) middle = NULL;
        struct level top = {0, &woken, &middle, NULL};
        weft_fiber fiber = WEFT_NO_FIBER;
        pthread_t thread = {0};
        if (by_thread)
            thread = thread_start(cancel_middle, &top);
        else
            SPAWN(&fiber, cancel_middle, &top);
        CHECK_EQ(weft_scope_run(NULL, level_body, &top), -EHOSTDOWN);
        CHECK_EQ(atomic_load(&woken), DEPTH + 1);
        if (by_thread)
            thread_join(thread);
        else
            JOIN(fiber, NULL);
    }
}

TEST(scope_cancellation_goes_down_the_tree_with_its_reason_and_not_up) {
    run_fibers(tree_body);
}

static void long_text_body(void) {
    char text[256], shown[256];
    weft_scope *scope;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_cancel(scope, -EIO, text), 0);
    CHECK_EQ(weft_cancel_reason(shown, sizeof shown), -EIO);
    CHECK_EQ(strlen(shown), 95);
    CHECK_EQ(weft_scope_close(scope), -EIO);
}

TEST(scope_cuts_a_long_text) {
    run_fibers(long_text_body);
}

static int panic_child(void *opaque) {
    (void)opaque;
    weft_yield();
    weft_panic("a child gives up");
}

static int start_panic(weft_scope *scope, void *opaque) {
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, opaque), 0);
    CHECK_EQ(weft_scope_go(scope, panic_child, NULL), 0);
    return 0;
}

static void child_panic_body(void) {
    weft_stats stats;
    atomic_int cancelled = 0;
    CHECK_EQ(weft_scope_run(NULL, start_panic, &cancelled), -EOWNERDEAD);
    CHECK_EQ(atomic_load(&cancelled), 1);
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    CHECK_EQ(stats.panics, 1);
}

TEST(scope_with_a_child_that_panics_fails_and_cancels_the_others) {
    run_fibers_with(&quiet, child_panic_body);
}

static int panic_in_body(weft_scope *scope, void *opaque) {
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, opaque), 0);
    weft_panic("the body gives up, %d", 7);
}

static void run_panic_in_body(void *opaque) {
    weft_scope_run(NULL, panic_in_body, opaque);
    CHECK(false);
}

static void body_panic_body(void) {
    char why[64];
    atomic_int cancelled = 0;
    CHECK_EQ(weft_try(run_panic_in_body, &cancelled, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "the body gives up, 7");
    CHECK_EQ(atomic_load(&cancelled), 1);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_sleep(weft_after(1)), 0);
}

TEST(scope_whose_body_panics_cancels_waits_and_lets_the_panic_go_on) {
    run_fibers(body_panic_body);
}

/* The panic passes a scope that nobody had time to close. */
static int panic_with_open_scope(weft_scope *outer, void *opaque) {
    weft_scope *inner;
    CHECK_EQ(weft_scope_open(&inner, NULL), 0);
    CHECK_EQ(weft_scope_go(inner, sleep_for_ever, opaque), 0);
    CHECK_EQ(weft_scope_go(outer, sleep_for_ever, opaque), 0);
    weft_panic("in the middle of it");
}

static void run_panic_with_open_scope(void *opaque) {
    weft_scope_run(NULL, panic_with_open_scope, opaque);
}

static void panic_open_body(void) {
    char why[64];
    atomic_int cancelled = 0;
    CHECK_EQ(weft_try(run_panic_with_open_scope, &cancelled, why, sizeof why), -EOWNERDEAD);
    CHECK_TEXT(why, "in the middle of it");
    CHECK_EQ(atomic_load(&cancelled), 2);
    CHECK_EQ(weft_sleep(weft_after(1)), 0);
}

TEST(scope_that_a_panic_of_the_body_left_open_is_cancelled_and_closed) {
    run_fibers(panic_open_body);
}

static void count_up(void *opaque) {
    atomic_fetch_add((atomic_int *)opaque, 1);
}

static int exit_child(void *opaque) {
    CHECK_EQ(weft_defer(count_up, opaque), 0);
    weft_exit((void *)-ECHILD);
}

static int start_exit(weft_scope *scope, void *opaque) {
    CHECK_EQ(weft_scope_go(scope, exit_child, opaque), 0);
    return 0;
}

static void child_exit_body(void) {
    atomic_int count = 0;
    CHECK_EQ(weft_scope_run(NULL, start_exit, &count), -ECHILD);
    CHECK_EQ(atomic_load(&count), 1);
}

TEST(scope_child_that_exits_has_returned_that_value) {
    run_fibers(child_exit_body);
}

/* Scopes that are open when their fiber ends: by return, by exit, inside a child or not. */
static void leave_two_open(atomic_int *cancelled, bool exits) {
    weft_scope *outer, *inner;
    CHECK_EQ(weft_scope_open(&outer, NULL), 0);
    CHECK_EQ(weft_scope_go(outer, sleep_for_ever, cancelled), 0);
    CHECK_EQ(weft_scope_open(&inner, &(weft_scope_options){.deadline = weft_after(FOR_EVER)}), 0);
    CHECK_EQ(weft_scope_go(inner, sleep_for_ever, cancelled), 0);
    if (exits)
        weft_exit(NULL);
}

static void *return_with_open_scopes(void *opaque) {
    leave_two_open(opaque, false);
    return NULL;
}

static void *exit_with_open_scopes(void *opaque) {
    leave_two_open(opaque, true);
    return NULL;
}

static void *panic_with_open_scopes(void *opaque) {
    leave_two_open(opaque, false);
    weft_panic("and nobody closes them");
}

static void open_end_body(void) {
    atomic_int cancelled = 0;
    weft_fiber fiber;
    SPAWN(&fiber, return_with_open_scopes, &cancelled);
    JOIN(fiber, NULL);
    CHECK_EQ(atomic_load(&cancelled), 2);
    SPAWN(&fiber, exit_with_open_scopes, &cancelled);
    JOIN(fiber, NULL);
    CHECK_EQ(atomic_load(&cancelled), 4);
    SPAWN(&fiber, panic_with_open_scopes, &cancelled);
    CHECK_EQ(weft_join(fiber, NULL, WEFT_NEVER), -EOWNERDEAD);
    CHECK_EQ(atomic_load(&cancelled), 6);
}

TEST(scope_left_open_at_the_end_of_its_fiber_is_cancelled_and_closed) {
    run_fibers_with(&quiet, open_end_body);
}

static int child_returns_open(void *opaque) {
    leave_two_open(opaque, false);
    return 0;
}

static int child_exits_open(void *opaque) {
    leave_two_open(opaque, true);
    return -EIO;
}

static int child_panics_open(void *opaque) {
    leave_two_open(opaque, false);
    weft_panic("with two of them open");
}

static int start_child(weft_scope *scope, void *opaque) {
    static int (*const children[])(void *) = {child_returns_open, child_exits_open, child_panics_open};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_scope_go(scope, children[i], opaque), 0);
        CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load((atomic_int *)opaque), 2 * i + 2);
    }
    return 0;
}

static void child_open_body(void) {
    atomic_int cancelled = 0;
    weft_scope_options options = {.keep_going = true};
    CHECK_EQ(weft_scope_run(&options, start_child, &cancelled), -EOWNERDEAD);
    CHECK_EQ(atomic_load(&cancelled), 6);
}

TEST(scope_left_open_by_a_child_ends_before_the_child_does) {
    run_fibers_with(&quiet, child_open_body);
}

static int exit_in_body(weft_scope *scope, void *opaque) {
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, opaque), 0);
    weft_exit(opaque);
}

static void *run_exit_in_body(void *opaque) {
    weft_scope_run(NULL, exit_in_body, opaque);
    CHECK(false);
    return NULL;
}

static void exit_body(void) {
    atomic_int cancelled = 0;
    weft_fiber fiber;
    void *result = NULL;
    SPAWN(&fiber, run_exit_in_body, &cancelled);
    JOIN(fiber, &result);
    CHECK(result == &cancelled);
    CHECK_EQ(atomic_load(&cancelled), 1);
}

TEST(scope_whose_body_exits_is_cancelled_and_closed_with_the_fiber) {
    run_fibers(exit_body);
}

static void close_out_of_order(void) {
    weft_scope *outer, *inner;
    CHECK_EQ(weft_scope_open(&outer, NULL), 0);
    CHECK_EQ(weft_scope_open(&inner, NULL), 0);
    weft_scope_close(outer);
}

static void *close_foreign_main(void *scope) {
    weft_scope_close(scope);
    return NULL;
}

static void close_foreign(void) {
    weft_scope *scope;
    weft_fiber fiber;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    SPAWN(&fiber, close_foreign_main, scope);
    JOIN(fiber, NULL);
}

static void run_in_child(void *opaque) {
    run_fibers(*(void (**)(void))opaque);
}

TEST(scope_closed_out_of_order_or_by_another_fiber_is_fatal) {
    void (*bodies[])(void) = {close_out_of_order, close_foreign};
    for (int i = 0; i < 2; i++) {
        struct child_end end = child_run(run_in_child, &bodies[i]);
        CHECK_CHILD_FATAL(&end, "not in reverse order");
    }
}

static int return_number(void *opaque) {
    int number = (int)(intptr_t)opaque;
    for (int i = number % 5; i > 0; i--)
        weft_yield();
    return number;
}

enum { RESULTS = 300 };

static int keep_results(weft_scope *scope, void *opaque) {
    (void)opaque;
    int result = 77;
    CHECK_EQ(weft_scope_result(scope, 0, &result), -ENOENT);
    for (int i = 0; i < RESULTS; i++)
        CHECK_EQ(weft_scope_go(scope, return_number, (void *)(intptr_t)(i % 7 == 0 ? -i - 1 : i)), 0);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
    for (int i = 0; i < RESULTS; i++) {
        CHECK_EQ(weft_scope_result(scope, (size_t)i, &result), 0);
        CHECK_EQ(result, i % 7 == 0 ? -i - 1 : i);
    }
    CHECK_EQ(weft_scope_result(scope, RESULTS, &result), -ENOENT);
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, NULL), 0);
    CHECK_EQ(weft_scope_result(scope, RESULTS, &result), -EAGAIN);
    CHECK_EQ(weft_scope_result(scope, RESULTS, NULL), -EINVAL);
    CHECK_EQ(weft_scope_cancel(scope, -EINTR, NULL), 0);
    return 0;
}

static void results_body(void) {
    weft_scope_options options = {.keep_going = true, .keep_results = true};
    int result = 5;
    weft_scope *scope;
    int error =
        weft_scope_run(&options, keep_results, NULL); /* of the child that failed first, not of the later cancel */
    CHECK(error < 0 && (-error - 1) % 7 == 0);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, return_number, (void *)3), 0);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
    CHECK_EQ(weft_scope_result(scope, 0, &result), -ENOENT); /* nobody asked for them to be kept */
    CHECK_EQ(result, 5);
    CHECK_EQ(weft_scope_close(scope), 0);
}

TEST(scope_results_are_in_the_order_of_the_starts) {
    run_fibers(results_body);
}
