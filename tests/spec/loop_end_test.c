/* SPDX-License-Identifier: MIT
 *
 * spec/loop_end_test.c - shutdown, close and join: from everywhere, at every moment, and nothing that was accepted is lost.
 */
#include "support/loop.h"
#include "support/parked.h"

/* ---- A loop that nobody runs ---- */

TEST_BOTH(shutdown_of_a_loop_that_never_ran_runs_what_was_accepted_but_no_timers) {
    loop_open();
    when("s", "micro:m1 tick:t1");
    when("i", "micro:m2");
    play("timer:T interval:I submit:s internal:n close:c immediate:i micro:m tick:t");
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_TEXT(trace, "t m i m2 c n s t1 m1");
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -EPIPE);
    loop_drop();
}

TEST_BOTH(shutdown_without_waiting_finishes_a_loop_that_nobody_runs) {
    loop_open();
    play("submit:s");
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NOW), 0);
    CHECK_TEXT(trace, "s");
    loop_drop();
}

TEST_BOTH(close_of_a_loop_that_never_ran_runs_nothing) {
    loop_open();
    play("timer:T interval:I submit:s internal:n close:c immediate:i micro:m tick:t end:e");
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_TEXT(trace, "");
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), -EPIPE);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -EPIPE);
    loop_drop();
}

static void check_terminating(void) {
    static const char *const refused[] = {"submit:x", "internal:x", "close:x", "immediate:x", "timer:x", "interval:x"};
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATING);
    CHECK(weft_loop_current() == loop);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK_EQ(answer_to(refused[i]), -EPIPE);
    CHECK_EQ(weft_loop_keep(loop), -EPIPE);
    CHECK_EQ(weft_loop_wake(loop), -EPIPE);
    play("micro:m1 tick:t1 end:e1");
}

TEST_BOTH(while_a_loop_ends_its_callbacks_may_add_microtasks_only) {
    loop_open();
    when_do("s", check_terminating);
    when("m1", "micro:m2 tick:t2");
    play("submit:s submit:u");
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_TEXT(trace, "s t1 m1 m2 t2 e1 u");
    loop_drop();
}

static void *microtask_while_ending(void *arg) {
    CHECK_EQ(weft_loop_microtask(loop, run_part, named("theirs")), -EPIPE);
    CHECK_EQ(weft_loop_next_tick(loop, run_part, named("theirs")), -EPIPE);
    CHECK_EQ(weft_loop_checkpoint_end(loop, run_part, named("theirs")), -EPIPE);
    return arg;
}

static void let_another_add(void) {
    thread_join(thread_start(microtask_while_ending, NULL));
}

TEST_BOTH(while_a_loop_ends_other_threads_may_add_nothing) {
    loop_open();
    when_do("s", let_another_add);
    play("submit:s");
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_TEXT(trace, "s");
    loop_drop();
}

TEST_BOTH(what_tasks_and_microtasks_add_in_a_chain_before_shutdown_all_runs) {
    loop_open();
    when("a", "internal:b");
    when("b", "micro:c");
    when("c", "tick:d");
    when("d", "submit:e");
    play("submit:a");
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_TEXT(trace, "a");
    when("b", "micro:c");
    when("d", "micro:f");
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_TEXT(trace, "a b c d f");
    loop_drop();
}

/* ---- From inside ---- */

static void shut_down_inside(void) {
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -EINPROGRESS);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -EINPROGRESS);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATING);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_ONCE, WEFT_NEVER), -EDEADLK);
}

TEST_BOTH(shutdown_in_a_callback_begins_and_does_not_wait) {
    loop_open();
    when_do("b", shut_down_inside);
    when("b", "micro:m");
    play("submit:a submit:b submit:c timer60000:T");
    finish("a b m c");
}

TEST_BOTH(shutdown_in_a_timer_or_a_microtask_lets_no_other_timer_fire) {
    loop_open_virtual();
    when_do("T1", shut_down_inside);
    play("timer1:T1 timer1:T2 submit:s");
    finish("s T1");
    loop_open();
    when_do("m", shut_down_inside);
    play("micro:m micro:n timer:T submit:s immediate:i");
    finish("m n i s");
}

static void *shut_down_for_a_callback(void *arg) {
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NOW), -EINPROGRESS);
    CHECK_EQ(weft_loop_shutdown(loop, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    return arg;
}

static void *close_for_a_callback(void *arg) {
    CHECK_EQ(weft_loop_close(loop, WEFT_NOW), -EINPROGRESS);
    CHECK_EQ(weft_loop_join(loop, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_loop_close(loop, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    return arg;
}

static void wait_for_a_child_that_shuts_down(void) {
    thread_join(thread_start(shut_down_for_a_callback, NULL));
}

static void wait_for_a_child_that_closes(void) {
    thread_join(thread_start(close_for_a_callback, NULL));
    CHECK_EQ(answer_to("micro:never"), 0); /* accepted, and dropped with all the rest */
}

TEST_BOTH(a_child_that_a_callback_waits_for_may_begin_a_shutdown) {
    loop_open();
    when_do("a", wait_for_a_child_that_shuts_down);
    play("submit:a submit:b timer60000:T");
    finish("a b");
}

TEST_BOTH(after_the_callback_during_which_a_loop_is_closed_no_other_one_runs) {
    static const char *const kinds[] = {"tick",  "micro", "end",      "poll",  "immediate",
                                        "close", "timer", "internal", "submit"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char orders[64];
        loop_open();
        when_do("a", wait_for_a_child_that_closes);
        snprintf(orders, sizeof orders, "%s:a", kinds[i]);
        play(orders);
        snprintf(orders, sizeof orders, "%s:x1 %s:x2", kinds[i], kinds[i]);
        play(orders);
        play("tick:y micro:y end:y poll:y immediate:y close:y timer:y internal:y submit:y");
        /* What is before a in the turn may run, nothing after it. */
        CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
        size_t length = strlen(trace);
        CHECK(length > 0 && trace[length - 1] == 'a');
        CHECK(strstr(trace, "x") == NULL);
        CHECK(strstr(trace, "never") == NULL);
        CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
        loop_drop();
    }
}

/* ---- From outside ---- */

static void ends_asleep(int (*end)(weft_loop *which, weft_time deadline), const char *expected) {
    struct running running;
    loop_open();
    play("timer60000:T interval60000:I");
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    CHECK_EQ(end(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_EQ(running_join(&running), 0);
    CHECK_TEXT(trace, expected);
    loop_drop();
}

TEST_BOTH(a_loop_that_sleeps_is_ended_from_outside) {
    ends_asleep(weft_loop_shutdown, "");
    ends_asleep(weft_loop_close, "");
}

enum { ENDERS = 6 };
static atomic_int enders_ready;

struct ender {
    int (*end)(weft_loop *which, weft_time deadline);
    int status;
};

static void *end_together(void *opaque) {
    struct ender *ender = opaque;
    atomic_fetch_add(&enders_ready, 1);
    WAIT_UNTIL(atomic_load(&enders_ready) == ENDERS);
    ender->status = ender->end(loop, WEFT_NEVER);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    return NULL;
}

TEST_BOTH(all_who_end_a_loop_at_once_wait_for_the_same_end) {
    for (long round = scaled(30, 4); round > 0; round--) {
        pthread_t threads[ENDERS];
        struct ender enders[ENDERS];
        struct running running;
        bool is_run = round % 2;
        atomic_store(&enders_ready, 0);
        loop_open();
        play("submit:s timer60000:T");
        if (is_run)
            running_start(&running, WEFT_LOOP_UNTIL_QUIET);
        for (int i = 0; i < ENDERS; i++) {
            enders[i].end = i < 2 ? weft_loop_shutdown : i < 4 ? weft_loop_close : weft_loop_join;
            threads[i] = thread_start(end_together, &enders[i]);
        }
        for (int i = 0; i < ENDERS; i++) {
            thread_join(threads[i]);
            CHECK(enders[i].status == 0 || (i < 4 && enders[i].status == -EPIPE));
        }
        if (is_run) {
            int status = running_join(&running);
            CHECK(status == 0 || status == -EPIPE);
        }
        CHECK(trace_length <= 1);
        loop_drop();
    }
}

static void *join_loop(void *arg) {
    CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    return arg;
}

TEST_BOTH(join_waits_for_whoever_ends_the_loop) {
    loop_open();
    play("submit:s");
    CHECK_EQ(weft_loop_join(loop, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_loop_join(loop, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    pthread_t joiner = thread_start(join_loop, NULL);
    weft_loop *ended = loop;
    weft_loop_ref(ended);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    thread_join(joiner);
    weft_loop_unref(ended);
    loop_drop();
}

static int shut_down_cancelled(void *arg) {
    (void)arg;
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -ECANCELED);
    return 0;
}

static atomic_int gate_is_open;

static void wait_for_gate(void) {
    while (!atomic_load(&gate_is_open))
        weft_yield();
}

static void cancel_a_shutdown(void) {
    weft_scope *scope;
    struct running running;
    atomic_store(&gate_is_open, 0);
    loop_open();
    when_do("a", wait_for_gate);
    play("submit:a submit:b");
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_RUNNING);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, shut_down_cancelled, NULL), 0);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_TERMINATING);
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    atomic_store(&gate_is_open, 1);
    CHECK_EQ(running_join(&running), 0);
    CHECK_TEXT(trace, "a b");
    loop_drop();
}

TEST(a_cancelled_fiber_ends_its_own_wait_and_not_the_shutdown) {
    run_fibers(cancel_a_shutdown);
}

static void sleep_for_ever(void) {
    atomic_store(&gate_is_open, 1);
    weft_sleep(WEFT_NEVER);
    CHECK(!"it was dropped");
}

static void *shut_down_and_vanish(void *arg) {
    weft_loop_shutdown(loop, WEFT_NEVER);
    CHECK(!"it was dropped");
    return arg;
}

static int vanish(void *arg) {
    (void)arg;
    CHECK_EQ(weft_go(shut_down_and_vanish, NULL), 0);
    WAIT_UNTIL(atomic_load(&gate_is_open));
    return 0;
}

TEST(a_loop_whose_finisher_is_dropped_with_its_runtime_ends) {
    weft_options options = {.abandon = true};
    atomic_store(&gate_is_open, 0);
    loop_open();
    when_do("a", sleep_for_ever);
    play("submit:a submit:b");
    CHECK_EQ(weft_run(&options, vanish, NULL), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_EQ(weft_loop_join(loop, WEFT_NOW), 0);
    CHECK_TEXT(trace, "a");
    loop_drop();
}

/* ---- Conservation ---- */

static atomic_long accepted;
static long executed;

static void count_executed(void *arg) {
    (void)arg;
    executed++;
}

static void *submit_until_refused(void *opaque) {
    static int (*const adders[])(weft_loop *, weft_loop_fn, void *) = {
        weft_loop_submit,         weft_loop_submit_internal, weft_loop_microtask,   weft_loop_next_tick,
        weft_loop_close_callback, weft_loop_checkpoint_end,  weft_loop_submit_poll,
    };
    uint64_t seed = (uintptr_t)opaque | 1;
    long mine = 0;
    for (;;) {
        uint64_t kind = random_below(&seed, 8);
        int status =
            kind == 7 ? weft_set_immediate(loop, NULL, count_executed, NULL) : adders[kind](loop, count_executed, NULL);
        if (status == -EPIPE)
            break;
        CHECK_EQ(status, 0);
        mine++;
        if (mine % 16 == 0)
            sched_yield();
    }
    atomic_fetch_add(&accepted, mine);
    return NULL;
}

static void conserve(bool is_run) {
    enum { PRODUCERS = 4 };
    pthread_t threads[PRODUCERS];
    struct running running;
    atomic_store(&accepted, 0);
    executed = 0;
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    if (is_run)
        running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    for (int i = 0; i < PRODUCERS; i++)
        threads[i] = thread_start(submit_until_refused, (void *)(uintptr_t)(wf_test_seed() + (uint64_t)i));
    uint64_t seed = wf_test_seed() | 1;
    for (uint64_t pause = random_below(&seed, 30); pause > 0; pause--)
        sched_yield();
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    for (int i = 0; i < PRODUCERS; i++)
        thread_join(threads[i]);
    if (is_run) {
        int status = running_join(&running);
        CHECK(status == 0 || status == -EPIPE); /* the shutdown may have been there first */
    }
    CHECK_EQ(executed, atomic_load(&accepted));
    loop_drop();
}

TEST_BOTH(what_producers_had_accepted_before_a_shutdown_is_executed) {
    for (long round = scaled(8, 2); round > 0; round--) {
        conserve(true);
        conserve(false);
    }
}

enum { SUBMITTERS = 16 };

static void *submit_many(void *opaque) {
    for (long i = *(long *)opaque; i > 0; i--)
        CHECK_EQ(weft_loop_submit(loop, count_executed, NULL), 0);
    weft_loop_unkeep(loop);
    return NULL;
}

TEST_BOTH(every_submit_of_many_threads_runs_though_the_loop_sleeps_whenever_it_is_empty) {
    pthread_t threads[SUBMITTERS];
    long each = scaled(1000, 60);
    executed = 0;
    loop_open();
    for (int i = 0; i < SUBMITTERS; i++)
        CHECK_EQ(weft_loop_keep(loop), 0);
    for (int i = 0; i < SUBMITTERS; i++)
        threads[i] = thread_start(submit_many, &each);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_EQ(executed, SUBMITTERS * each);
    for (int i = 0; i < SUBMITTERS; i++)
        thread_join(threads[i]);
    loop_drop();
}
