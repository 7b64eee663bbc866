/* SPDX-License-Identifier: MIT
 *
 * unit/sync/once_test.c - something that is done once, by whoever comes first.
 *
 * Many callers, from fibers and threads; a function that panics, or ends its fiber, has not done it, and the next one tries.
 */
#include "unit/sync/waiters.h"

enum { CALLERS = 12 };

static weft_once once;
static atomic_int calls, gate;
static int made; /* written by the function, read by every caller without anything else to order it */

static void start(void) {
    once = (weft_once)WEFT_ONCE_INIT;
    atomic_store(&calls, 0);
    atomic_store(&gate, 0);
    made = 0;
}

static void make(void *arg) {
    (void)arg;
    atomic_fetch_add(&calls, 1);
    weft_yield();
    made = 7;
}

static void *call_make(void *arg) {
    CHECK_EQ(weft_once_call(&once, make, NULL, arg ? weft_after(PATIENCE_NS) : WEFT_NEVER), 0);
    CHECK_EQ(made, 7);
    return NULL;
}

static void many_body(void) {
    weft_fiber fibers[CALLERS];
    struct on_thread_call threads[2];
    start();
    for (int i = 0; i < CALLERS; i++)
        SPAWN(&fibers[i], call_make, i % 2 ? &once : NULL);
    for (int i = 0; i < 2; i++)
        on_thread_start(&threads[i], call_make, NULL);
    for (int i = 0; i < CALLERS; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 2; i++)
        on_thread_finish(&threads[i]);
    CHECK_EQ(atomic_load(&calls), 1);
    CHECK_EQ(weft_once_call(&once, make, NULL, WEFT_NOW), 0);
    CHECK_EQ(atomic_load(&calls), 1);
    CHECK_EQ(weft_once_call(NULL, make, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_once_call(&once, NULL, NULL, WEFT_NEVER), -EINVAL);
}

TEST(once_is_called_once_by_many) {
    for (int i = 0; i < 20; i++)
        run_fibers(many_body);
}

static void make_at_gate(void *arg) {
    (void)arg;
    atomic_fetch_add(&calls, 1);
    WAIT_UNTIL(atomic_load(&gate));
    made = 7;
}

static void *call_at_gate(void *arg) {
    CHECK_EQ(weft_once_call(&once, make_at_gate, NULL, WEFT_NOW), 0); /* the deadline is not for the function */
    return arg;
}

static void *vain_calls(void *arg) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_once_call(&once, make, NULL, deadlines[i]), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadlines[i]);
    }
    return arg;
}

static void deadlines_body(void) {
    weft_fiber first, second;
    start();
    SPAWN(&first, call_at_gate, NULL);
    WAIT_UNTIL(atomic_load(&calls) == 1);
    vain_calls(NULL);
    on_thread(vain_calls, NULL);
    SPAWN(&second, call_make, NULL);
    WAIT_WAITERS(once, &once, 1);
    atomic_store(&gate, 1);
    JOIN(first, NULL);
    JOIN(second, NULL);
    CHECK_EQ(atomic_load(&calls), 1);
}

TEST(once_deadline_is_for_waiting_for_another) {
    run_fibers(deadlines_body);
}

/* The first two calls fail, the third does it. */
static void fail_twice(void *arg) {
    bool exits = arg != NULL;
    int call = atomic_fetch_add(&calls, 1);
    if (call == 0)
        WAIT_UNTIL(atomic_load(&gate));
    if (call < 2 && exits)
        weft_exit(&once);
    if (call < 2)
        weft_panic("attempt %d", call);
    made = 7;
}

static void *call_failing(void *arg) {
    int status = weft_once_call(&once, fail_twice, arg, WEFT_NEVER);
    CHECK_EQ(status, 0);
    CHECK_EQ(made, 7);
    return NULL;
}

static void run_failing(void *arg, int expected) {
    weft_fiber fibers[CALLERS];
    int failed = 0;
    start();
    for (int i = 0; i < CALLERS; i++)
        SPAWN(&fibers[i], call_failing, arg);
    WAIT_WAITERS(once, &once, CALLERS - 1);
    atomic_store(&gate, 1);
    for (int i = 0; i < CALLERS; i++) {
        void *result = NULL;
        int status = weft_join(fibers[i], &result, WEFT_NEVER);
        CHECK(status == 0 || status == -EOWNERDEAD);
        failed += status == expected && (status != 0 || result == &once);
    }
    CHECK_EQ(failed, 2);
    CHECK_EQ(atomic_load(&calls), 3);
}

static void panic_body(void) {
    run_failing(NULL, -EOWNERDEAD);
}

TEST(once_that_panics_is_tried_again_by_the_next) {
    weft_options options = {.quiet = true, .workers = wf_test_workers()};
    run_fibers_with(&options, panic_body);
}

static void exit_body(void) {
    run_failing(&once, 0);
}

TEST(once_whose_function_ends_the_fiber_is_tried_again_by_the_next) {
    run_fibers(exit_body);
}

static void try_on_thread(void *arg) {
    weft_once_call(&once, fail_twice, arg, WEFT_NEVER);
}

static void *panic_on_thread(void *arg) {
    char message[32];
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_try(try_on_thread, NULL, message, sizeof message), -EOWNERDEAD);
    CHECK_TEXT(message, "attempt 1");
    CHECK_EQ(weft_try(try_on_thread, NULL, message, sizeof message), 0);
    CHECK_EQ(made, 7);
    return arg;
}

TEST(once_that_panics_on_a_plain_thread_passes_the_panic_on) {
    start();
    atomic_store(&gate, 1);
    panic_on_thread(NULL);
}
