/* SPDX-License-Identifier: MIT
 *
 * spec/loop_life_test.c - how a loop is made, run, stopped, kept alive and ended, and what every call answers meanwhile.
 */
#include <poll.h>

#include "support/child.h"
#include "support/loop.h"

static void nothing(void *arg) {
    (void)arg;
}

/* ---- Made ---- */

TEST(a_loop_is_made_with_good_options_only) {
    weft_loop *made = NULL;
    weft_loop_options options = {.fast = (weft_loop_fast)3};
    CHECK_EQ(weft_loop_new(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_loop_new(&made, &options), -EINVAL);
    options.fast = (weft_loop_fast)-1;
    CHECK_EQ(weft_loop_new(&made, &options), -EINVAL);
    CHECK(made == NULL);
    options.fast = WEFT_LOOP_FAST_DISABLED;
    CHECK_EQ(weft_loop_new(&made, &options), 0);
    CHECK(weft_loop_ref(made) == made);
    weft_loop_unref(made);
    CHECK_EQ(weft_loop_get_state(made), WEFT_LOOP_AWAKE);
    weft_loop_unref(made);
    CHECK(weft_loop_ref(NULL) == NULL);
    weft_loop_unref(NULL);
}

TEST_BOTH(many_loops_are_made_and_closed_without_a_trace) {
    for (long i = scaled(5000, 300); i > 0; i--) {
        weft_loop_options options = {.fast = (weft_loop_fast)(i % 3)};
        loop_open_with(&options);
        play("submit:a timer:b immediate:c micro:d");
        CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
        CHECK_TEXT(trace, "");
        loop_drop();
    }
}

TEST_BOTH(the_last_reference_closes_a_loop_that_has_not_ended) {
    loop_open();
    play("submit:a timer:b immediate:c micro:d tick:e end:f close:g internal:h interval:i");
    loop_drop();
    CHECK_TEXT(trace, "");
}

static void unref_the_only_one(void) {
    weft_loop_unref(loop);
    play("micro:m submit:s");
}

TEST_BOTH(whoever_runs_a_loop_has_a_reference_of_its_own) {
    loop_open();
    when_do("c", unref_the_only_one);
    play("submit:c");
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_TEXT(trace, "c m s");
}

/* ---- Answers ---- */

TEST(null_loops_and_functions_are_refused) {
    static int (*const adders[])(weft_loop *, weft_loop_fn, void *) = {
        weft_loop_submit,         weft_loop_submit_internal, weft_loop_microtask,   weft_loop_next_tick,
        weft_loop_checkpoint_end, weft_loop_close_callback,  weft_loop_submit_poll,
    };
    loop_open();
    for (size_t i = 0; i < sizeof adders / sizeof *adders; i++) {
        CHECK_EQ(adders[i](NULL, nothing, NULL), -EINVAL);
        CHECK_EQ(adders[i](loop, NULL, NULL), -EINVAL);
    }
    CHECK_EQ(weft_loop_run(NULL, WEFT_LOOP_ONCE, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_loop_run(loop, (weft_loop_mode)3, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_loop_run(loop, (weft_loop_mode)-1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_loop_stop(NULL), -EINVAL);
    CHECK_EQ(weft_loop_wake(NULL), -EINVAL);
    CHECK_EQ(weft_loop_keep(NULL), -EINVAL);
    CHECK_EQ(weft_loop_shutdown(NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_loop_close(NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_loop_join(NULL, WEFT_NEVER), -EINVAL);
    CHECK(!weft_loop_is_alive(NULL));
    CHECK_EQ(weft_loop_get_state(NULL), WEFT_LOOP_TERMINATED);
    CHECK(weft_loop_current() == NULL);
    finish("");
}

static void check_all_refused(void) {
    static const char *const orders[] = {"submit:x", "internal:x",  "micro:x", "tick:x",     "end:x",
                                         "close:x",  "immediate:x", "timer:x", "interval:x", "poll:x"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        CHECK_EQ(answer_to(orders[i]), -EPIPE);
    CHECK_EQ(weft_loop_wake(loop), -EPIPE);
    CHECK_EQ(weft_loop_stop(loop), -EPIPE);
    CHECK_EQ(weft_loop_keep(loop), -EPIPE);
}

TEST_BOTH(a_loop_that_has_ended_refuses_everything) {
    for (int way = 0; way < 3; way++) {
        loop_open();
        CHECK_EQ(way == 0   ? loop_run(WEFT_LOOP_UNTIL_QUIET)
                 : way == 1 ? weft_loop_shutdown(loop, WEFT_NEVER)
                            : weft_loop_close(loop, WEFT_NEVER),
                 0);
        CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
        check_all_refused();
        CHECK(!weft_loop_is_alive(loop));
        CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), -EPIPE);
        CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), -EPIPE);
        CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -EPIPE);
        CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), -EPIPE);
        CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), 0);
        CHECK_EQ(weft_loop_join(loop, WEFT_NOW), 0);
        loop_drop();
    }
}

static void ask_in_callback(void) {
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_RUNNING);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NOW), -EDEADLK);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_wake(loop), 0);
    CHECK(!weft_loop_is_alive(loop)); /* the callback itself is no reason to go on */
    play("submit:d");
    CHECK(weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_RUNNING);
}

TEST_BOTH(what_would_wait_for_itself_is_refused_in_a_callback) {
    loop_open();
    when_do("c", ask_in_callback);
    play("submit:c");
    finish("c d");
}

static atomic_int second_status;

static void *run_as_second(void *arg) {
    atomic_store(&second_status, loop_run(WEFT_LOOP_UNTIL_QUIET));
    return arg;
}

static void let_another_run(void) {
    CHECK(weft_loop_current() == loop);
    thread_join(thread_start(run_as_second, NULL));
    CHECK_EQ(atomic_load(&second_status), -EBUSY);
}

TEST_BOTH(a_second_run_is_refused_while_one_runs_or_sleeps) {
    struct running running;
    loop_open();
    when_do("c", let_another_run);
    play("submit:c");
    CHECK_EQ(weft_loop_keep(loop), 0);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), -EBUSY);
    CHECK(weft_loop_is_alive(loop));
    weft_loop_unkeep(loop);
    CHECK_EQ(running_join(&running), 0);
    loop_drop();
}

/* ---- Modes ---- */

TEST_BOTH(one_turn_without_waiting_runs_what_is_there) {
    loop_open();
    when("a", "submit:b");
    play("submit:a timer60000:T");
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_TEXT(trace, "a");
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_AWAKE);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_TEXT(trace, "a b");
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    play("clear:T");
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_AWAKE); /* it has not ended: it was not asked to go on */
    play("submit:c");
    finish("a b c");
}

TEST_BOTH(one_turn_sleeps_until_something_comes) {
    loop_open();
    weft_time before = weft_now();
    play("timer3:T");
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 0);
    CHECK_TEXT(trace, "T");
    CHECK_GE(weft_now(), before + 3 * WEFT_MILLISECOND);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 0); /* nothing is alive: it does not sleep */
    finish("T");
}

TEST_BOTH(one_turn_that_sleeps_ends_when_the_loop_is_woken) {
    struct running running;
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    running_start(&running, WEFT_LOOP_ONCE);
    wait_asleep();
    CHECK_EQ(weft_loop_wake(loop), 0);
    CHECK_EQ(running_join(&running), 1);
    CHECK_EQ(weft_loop_wake(loop), 0); /* nobody runs it: nothing happens */
    running_start(&running, WEFT_LOOP_ONCE);
    wait_asleep();
    play("submit:s");
    CHECK_EQ(running_join(&running), 1);
    weft_loop_unkeep(loop);
    finish("s");
}

TEST_BOTH(a_deadline_ends_the_run_and_not_the_loop) {
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    play("timer60000:T");
    weft_time deadline = weft_after(2 * WEFT_MILLISECOND);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, deadline), -ETIMEDOUT);
    CHECK_GE(weft_now(), deadline);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_AWAKE);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_ONCE, 1), -ETIMEDOUT);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NOW), 1);
    weft_loop_unkeep(loop);
    play("clear:T submit:s");
    finish("s");
}

static long spins;

static void spin_on(void *arg) {
    spins++;
    CHECK_EQ(weft_loop_submit(loop, spin_on, arg), 0);
}

/* False: the deadline had passed before the first turn. */
static bool spins_until_a_deadline(void) {
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, weft_after(2 * WEFT_MILLISECOND)), -ETIMEDOUT);
    return spins > 0;
}

TEST_BOTH(a_deadline_is_seen_between_two_turns_of_a_loop_that_never_sleeps) {
    spins = 0;
    loop_open();
    CHECK_EQ(weft_loop_submit(loop, spin_on, NULL), 0);
    WAIT_UNTIL(spins_until_a_deadline());
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    loop_drop();
}

/* ---- In another loop ---- */

static bool is_readable(int fd) {
    struct pollfd look = {.fd = fd, .events = POLLIN};
    int found = poll(&look, 1, 0);
    CHECK_GE(found, 0);
    return found == 1;
}

TEST_BOTH(a_host_sees_by_descriptor_and_deadline_when_there_is_something_to_do) {
    loop_open();
    int fd = weft_loop_backend_fd(loop);
    CHECK_GE(fd, 0);
    CHECK_EQ(weft_loop_backend_fd(loop), fd);
    CHECK(!is_readable(fd));
    CHECK_EQ(weft_loop_backend_deadline(loop), WEFT_NEVER);
    play_elsewhere("submit:a");
    CHECK(is_readable(fd));
    CHECK_EQ(weft_loop_backend_deadline(loop), WEFT_NOW);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    CHECK(!is_readable(fd));
    when("b", "submit:c timer50000:T"); /* left over by the turn */
    play("submit:b");
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK(is_readable(fd));
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK(!is_readable(fd));
    CHECK_GE(weft_loop_backend_deadline(loop), weft_now());
    play("clear:T");
    CHECK_EQ(weft_loop_backend_deadline(loop), WEFT_NEVER);
    finish("a b c");
}

TEST_BOTH(a_host_that_looks_at_the_deadline_only_sees_what_a_turn_has_left) {
    loop_open();
    when("a", "submit:b");
    play("submit:a");
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(weft_loop_backend_deadline(loop), WEFT_NOW);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    CHECK_EQ(weft_loop_backend_deadline(loop), WEFT_NEVER);
    finish("a b");
}

TEST(a_loop_that_is_forced_to_sleep_without_epoll_has_no_descriptor) {
    weft_loop_options options = {.fast = WEFT_LOOP_FAST_FORCED};
    loop_open_with(&options);
    CHECK_EQ(weft_loop_backend_fd(loop), -ENOTSUP);
    CHECK_EQ(weft_loop_backend_fd(NULL), -EINVAL);
    finish("");
}

/* ---- Stop, stays, keep ---- */

static void stop_now(void) {
    CHECK_EQ(weft_loop_stop(loop), 0);
}

TEST_BOTH(stop_in_a_callback_ends_the_run_after_its_turn) {
    loop_open();
    when_do("a", stop_now);
    when("a", "submit:c micro:m");
    play("immediate:a submit:b timer60000:T");
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 1);
    CHECK_TEXT(trace, "a m b c");
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_AWAKE);
    play("clear:T");
    finish("a m b c");
}

TEST_BOTH(stop_with_nothing_alive_answers_so_and_does_not_end_the_loop) {
    loop_open();
    when_do("a", stop_now);
    play("submit:a");
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_AWAKE);
    play("submit:b");
    finish("a b");
}

TEST_BOTH(stop_before_run_ends_that_run_at_once_and_only_that) {
    loop_open();
    play("submit:a");
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    play("submit:b");
    stop_now();
    stop_now();
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 1);
    CHECK_TEXT(trace, "a");
    finish("a b");
}

TEST_BOTH(stop_in_a_single_turn_does_not_cost_the_next_one) {
    loop_open();
    when_do("a", stop_now);
    when("a", "submit:b");
    play("submit:a");
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    CHECK_TEXT(trace, "a b");
    finish("a b");
}

TEST_BOTH(stop_from_another_thread_wakes_a_loop_that_sleeps) {
    struct running running;
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    stop_now();
    CHECK_EQ(running_join(&running), 1);
    weft_loop_unkeep(loop);
    finish("");
}

TEST_BOTH(a_loop_that_stays_may_be_run_again_until_it_is_ended) {
    weft_loop_options options = {.stays = true};
    loop_open_with(&options);
    when("a", "timer1:b");
    for (int i = 0; i < 3; i++) {
        play("submit:a");
        CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
        CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_AWAKE);
        CHECK(!weft_loop_is_alive(loop));
    }
    play("submit:c");
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_TEXT(trace, "a b a b a b c");
    loop_drop();
}

TEST_BOTH(keeps_are_counted_and_the_last_unkeep_lets_a_sleeping_loop_end) {
    struct running running;
    loop_open();
    CHECK(!weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_keep(loop), 0);
    CHECK_EQ(weft_loop_keep(loop), 0);
    CHECK(weft_loop_is_alive(loop));
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    weft_loop_unkeep(loop);
    CHECK_EQ(weft_loop_keep(loop), 0);
    weft_loop_unkeep(loop);
    wait_asleep();
    CHECK(weft_loop_is_alive(loop));
    weft_loop_unkeep(loop);
    CHECK_EQ(running_join(&running), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    weft_loop_unkeep(NULL);
    loop_drop();
}

static void unkeep_once_too_often(void *arg) {
    (void)arg;
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    weft_loop_unkeep(loop);
    weft_loop_unkeep(loop);
}

TEST(one_unkeep_too_many_is_fatal) {
    struct child_end end = child_run(unkeep_once_too_often, NULL);
    CHECK_CHILD_FATAL(&end, "weft_loop_unkeep");
}

/* ---- Quiet ---- */

static int quiet_calls;
static const char *quiet_orders[4];

static bool on_quiet(weft_loop *which, void *arg) {
    CHECK(which == loop);
    CHECK(weft_loop_current() == loop);
    CHECK(!weft_loop_is_alive(loop));
    say("before");
    const char *orders = quiet_orders[quiet_calls++];
    if (orders)
        play(orders);
    return arg && quiet_calls < 3;
}

static void open_quiet(bool resumes, const char *orders) {
    weft_loop_options options = {
        .on_quiet = on_quiet, .arg = resumes ? &quiet_calls : NULL, .on_failure = note_failure};
    quiet_calls = 0;
    quiet_orders[0] = orders;
    loop_open_with(&options);
}

TEST_BOTH(when_nothing_is_alive_the_loop_asks_and_goes_on_if_something_was_added) {
    open_quiet(false, "micro:m");
    when("m", "immediate:i");
    play("submit:a");
    finish("a before m i before");
}

TEST_BOTH(a_microtask_alone_does_not_make_the_loop_ask_again) {
    open_quiet(false, "micro:m");
    finish("before m");
}

TEST_BOTH(a_loop_that_is_told_to_look_again_does) {
    open_quiet(true, NULL);
    finish("before before before");
}

TEST_BOTH(a_panic_of_the_question_counts_as_no) {
    open_quiet(true, "panic:oh");
    finish("before !quiet");
}

TEST_BOTH(a_single_turn_does_not_ask) {
    open_quiet(false, NULL);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 0);
    finish("before");
}

/* ---- On fibers ---- */

static void *submit_beside(void *arg) {
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    play("submit:s");
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    weft_loop_unkeep(loop);
    return arg;
}

static void sleep_beside_a_fiber(void) {
    weft_fiber fiber;
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    SPAWN(&fiber, submit_beside, NULL);
    finish("s");
    JOIN(fiber, NULL);
}

TEST(a_loop_that_sleeps_on_a_fiber_leaves_its_worker_to_others) {
    run_fibers_strictly(sleep_beside_a_fiber);
}

static void yield_here(void) {
    weft_yield();
    CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    CHECK(weft_loop_current() == loop);
}

static void wait_in_callback(void) {
    loop_open();
    when_do("a", yield_here);
    play("submit:a submit:b");
    finish("a b");
}

TEST(a_callback_on_a_fiber_may_wait_and_no_other_callback_runs_meanwhile) {
    run_fibers(wait_in_callback);
}

static int run_cancelled(void *arg) {
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), -ECANCELED);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_AWAKE);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), -ECANCELED);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), -ECANCELED);
    atomic_store((atomic_int *)arg, 1);
    return 0;
}

static void cancel_a_run(void) {
    weft_scope *scope;
    atomic_int is_done;
    atomic_init(&is_done, 0);
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, run_cancelled, &is_done), 0);
    wait_asleep();
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    CHECK_EQ(atomic_load(&is_done), 1);
    weft_loop_unkeep(loop);
    play("submit:s");
    finish("s");
}

TEST(a_fiber_that_is_cancelled_leaves_the_loop_to_the_next) {
    run_fibers(cancel_a_run);
}

static void *run_and_vanish(void *arg) {
    loop_run(WEFT_LOOP_UNTIL_QUIET);
    CHECK(!"it was dropped");
    return arg;
}

static int vanish(void *arg) {
    (void)arg;
    CHECK_EQ(weft_go(run_and_vanish, NULL), 0);
    wait_asleep();
    return 0;
}

TEST(a_loop_whose_fiber_is_dropped_with_its_runtime_ends) {
    weft_options options = {.abandon = true};
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    play("timer60000:T immediate:i");
    CHECK_EQ(weft_run(&options, vanish, NULL), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), 0);
    CHECK_TEXT(trace, "i");
    loop_drop();
}
