/* SPDX-License-Identifier: MIT
 *
 * unit/loop/race_test.c - the bad interleavings of an event loop, each forced at its point.
 *
 * The names say the class: what another thread does, and between which two steps of the owner. Timers are in timer_test.c.
 */
#include "unit/loop/staged.h"

static void let_go(void) {
    weft_loop_unkeep(loop);
}

static void submit_last(void) {
    play("submit:s");
}

static void submit_elsewhere(void) {
    elsewhere(submit_last);
}

/* A loop that is kept alive until s has run. */
static void open_kept(void) {
    loop_open();
    when_do("s", let_go);
    CHECK_EQ(weft_loop_keep(loop), 0);
}

/* ---- Sleep and wake ---- */

TEST_STAGED(no_wake_is_lost_when_a_producer_comes_between_the_look_and_the_lock_of_the_sleep) {
    open_kept();
    at("loop.before_sleep", submit_elsewhere);
    finish("s");
    CHECK(was_there());
}

static void unkeep_here(void) {
    weft_loop_unkeep(loop);
}

TEST_STAGED(a_loop_whose_last_reason_to_live_goes_as_it_lies_down_does_not_sleep_for_ever) {
    for (int i = 0; i < 2; i++) {
        weft_loop_options options = {.fast = i ? WEFT_LOOP_FAST_DISABLED : WEFT_LOOP_FAST_AUTO};
        loop_open_with(&options);
        CHECK_EQ(weft_loop_keep(loop), 0);
        at("loop.before_sleep", unkeep_here);
        finish("");
        CHECK(was_there());
    }
}

static void submit_behind_the_lock(void) {
    blocked_elsewhere(submit_last);
}

TEST_STAGED(no_wake_is_lost_when_a_producer_stands_at_the_lock_while_the_owner_goes_to_sleep) {
    open_kept();
    at("loop.before_sleeping", submit_behind_the_lock);
    finish("s");
    CHECK(was_there());
    thread_join(blocked_thread);
}

TEST_STAGED(no_wake_is_lost_between_sleeping_and_the_wait_in_epoll) {
    weft_loop_options options = {.fast = WEFT_LOOP_FAST_DISABLED};
    loop_open_with(&options);
    when_do("s", let_go);
    CHECK_EQ(weft_loop_keep(loop), 0);
    bool is_thread = weft_self().bits == 0;
    if (is_thread)
        at("loop.before_poll", submit_elsewhere);
    else
        at("loop.before_sleep", submit_elsewhere);
    finish("s");
    CHECK(was_there());
}

static void micro_last(void) {
    play("micro:m");
}

static void micro_elsewhere(void) {
    elsewhere(micro_last);
}

TEST_STAGED(a_microtask_of_another_thread_that_comes_while_the_owner_goes_to_sleep_is_run) {
    loop_open();
    when_do("m", let_go);
    CHECK_EQ(weft_loop_keep(loop), 0);
    at("loop.before_sleep", micro_elsewhere);
    finish("m");
    CHECK(was_there());
}

/* ---- The end against the sleep ---- */

static void close_now(void) {
    CHECK_EQ(weft_loop_close(loop, WEFT_NOW), -EINPROGRESS);
}

static void shut_down_now(void) {
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NOW), -EINPROGRESS);
}

static void close_elsewhere(void) {
    elsewhere(close_now);
}

static void shut_down_elsewhere(void) {
    elsewhere(shut_down_now);
}

static void close_behind_the_lock(void) {
    blocked_elsewhere(close_now);
}

static void ends_at(const char *point, void (*fn)(void), weft_loop_fast fast) {
    weft_loop_options options = {.fast = fast};
    loop_open_with(&options);
    CHECK_EQ(weft_loop_keep(loop), 0);
    play("timer60000:T");
    at(point, fn);
    finish("");
    CHECK(was_there());
}

TEST_STAGED(an_end_between_the_look_and_the_sleep_is_not_slept_over) {
    ends_at("loop.before_sleep", close_elsewhere, WEFT_LOOP_FAST_AUTO);
    ends_at("loop.before_sleep", shut_down_elsewhere, WEFT_LOOP_FAST_AUTO);
    ends_at("loop.before_sleep", close_elsewhere, WEFT_LOOP_FAST_DISABLED);
    ends_at("loop.before_sleeping", close_behind_the_lock, WEFT_LOOP_FAST_AUTO);
    thread_join(blocked_thread);
}

TEST(an_end_at_the_last_instant_before_the_wait_in_epoll_is_not_slept_over) {
    wf_point_hook = staged_hook;
    ends_at("loop.before_poll", close_elsewhere, WEFT_LOOP_FAST_DISABLED);
    ends_at("loop.before_poll", shut_down_elsewhere, WEFT_LOOP_FAST_DISABLED);
    wf_point_hook = NULL;
}

/* A timer that is due before the loop sleeps is set again, for twice as long: some time the loop sleeps until it. */
static int64_t sleep_ns;

static void sleep_longer(void *arg) {
    CHECK(!was_there());
    sleep_ns *= 2;
    CHECK_EQ(weft_set_timeout(loop, NULL, sleep_ns, sleep_longer, arg), 0);
}

TEST_STAGED(an_owner_woken_by_time_does_not_bring_a_loop_back_that_is_ending) {
    for (int i = 0; i < 2; i++) {
        loop_open();
        sleep_ns = WEFT_MILLISECOND;
        CHECK_EQ(weft_set_timeout(loop, NULL, sleep_ns, sleep_longer, NULL), 0);
        play("submit:s");
        at("loop.after_sleep", i ? close_elsewhere : shut_down_elsewhere);
        finish("s");
        CHECK(was_there());
    }
}

/* ---- Two who start, start against end ---- */

static atomic_int second_status;

static void run_second(void) {
    atomic_store(&second_status, loop_run(WEFT_LOOP_UNTIL_QUIET));
}

static void run_second_elsewhere(void) {
    elsewhere(run_second);
}

TEST_STAGED(of_two_who_start_a_loop_at_once_one_runs_it) {
    loop_open();
    play("submit:s");
    at("loop.before_start", run_second_elsewhere);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), -EPIPE); /* the other one has run it to its end */
    CHECK_EQ(atomic_load(&second_status), 0);
    CHECK_TEXT(trace, "s");
    loop_drop();
}

static void start_second_and_see_it_asleep(void) {
    blocked_fn = run_second;
    blocked_thread = thread_start(elsewhere_main, &blocked_fn);
    weft_time limit = weft_after(PATIENCE_NS);
    while (weft_loop_get_state(loop) != WEFT_LOOP_SLEEPING) {
        CHECK_LE(weft_now(), limit);
        sched_yield();
    }
}

TEST_STAGED(who_comes_second_to_a_loop_that_sleeps_is_refused) {
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    at("loop.before_start", start_second_and_see_it_asleep);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), -EBUSY);
    let_go();
    thread_join(blocked_thread);
    CHECK_EQ(atomic_load(&second_status), 0);
    loop_drop();
}

static void shut_down_fully(void) {
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
}

static void shut_down_fully_elsewhere(void) {
    elsewhere(shut_down_fully);
}

TEST_STAGED(a_shutdown_that_wins_against_the_start_finishes_the_loop_itself) {
    loop_open();
    play("submit:s timer:T");
    at("loop.before_start", shut_down_fully_elsewhere);
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), -EPIPE);
    CHECK_TEXT(trace, "s");
    loop_drop();
}

static void run_to_its_end(void) {
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
}

static void run_to_its_end_elsewhere(void) {
    elsewhere(run_to_its_end);
}

TEST_STAGED(a_shutdown_that_finds_the_loop_ended_meanwhile_says_so) {
    loop_open();
    play("submit:s");
    at("loop.before_end", run_to_its_end_elsewhere);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -EPIPE);
    CHECK_TEXT(trace, "s");
    loop_drop();
}

/* ---- Admission ---- */

static int admission;

static void *submit_late(void *arg) {
    admission = weft_loop_submit(loop, run_part, named("late"));
    return arg;
}

TEST_STAGED(a_task_that_comes_while_its_memory_is_fetched_and_the_loop_ends_is_refused_and_not_lost) {
    loop_open();
    at("loop.before_admission", shut_down_fully_elsewhere);
    submit_late(NULL);
    CHECK(was_there());
    CHECK_EQ(admission, -EPIPE);
    CHECK_TEXT(trace, "");
    loop_drop();
}

static void everything_is_refused(void) {
    CHECK_EQ(weft_loop_submit(loop, run_part, NULL), -EPIPE);
    CHECK_EQ(weft_loop_submit_internal(loop, run_part, NULL), -EPIPE);
    CHECK_EQ(weft_loop_microtask(loop, run_part, NULL), -EPIPE);
    CHECK_EQ(weft_set_timeout(loop, NULL, 0, run_part, NULL), -EPIPE);
    CHECK_EQ(weft_set_immediate(loop, NULL, run_part, NULL), -EPIPE);
    CHECK_EQ(weft_loop_keep(loop), -EPIPE);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATING);
}

static void everything_is_refused_elsewhere(void) {
    elsewhere(everything_is_refused);
}

TEST_STAGED(nothing_is_accepted_between_the_last_drain_and_the_end) {
    loop_open();
    play("submit:s");
    at("loop.before_terminated", everything_is_refused_elsewhere);
    finish("s");
    CHECK(was_there());
}

/* ---- The end that comes by itself ---- */

static void keep_until_it_sleeps(void) {
    CHECK_EQ(weft_loop_keep(loop), 0);
    at("loop.before_sleep", unkeep_here);
}

static void timer_elsewhere(void) {
    play("timer1:late");
}

static void immediate_elsewhere(void) {
    play("immediate:late");
}

static void micro_late(void) {
    play("micro:late");
}

static void submit_late_plainly(void) {
    play("submit:late");
}

static void (*commit_fn)(void);

static void commit_elsewhere(void) {
    elsewhere(commit_fn);
}

static void comes_before_commit(void (*fn)(void), const char *expected) {
    loop_open();
    commit_fn = fn;
    play("submit:a");
    at("loop.before_commit", commit_elsewhere);
    finish(expected);
    CHECK(was_there());
}

TEST_STAGED(what_is_added_between_the_last_look_and_the_commit_of_the_end_is_carried_out) {
    comes_before_commit(timer_elsewhere, "a late");
    comes_before_commit(immediate_elsewhere, "a late");
    comes_before_commit(micro_late, "a late");
    comes_before_commit(submit_late_plainly, "a late");
}

TEST_STAGED(a_keep_between_the_last_look_and_the_commit_of_the_end_keeps_the_loop) {
    loop_open();
    commit_fn = keep_until_it_sleeps;
    at("loop.before_commit", commit_elsewhere);
    finish("");
    CHECK(was_there()); /* at the second point: it went on, and to sleep */
}

static void stop_elsewhere(void) {
    CHECK_EQ(weft_loop_stop(loop), 0);
}

TEST_STAGED(an_end_from_outside_that_comes_before_the_commit_is_the_end) {
    loop_open();
    commit_fn = close_now;
    at("loop.before_commit", commit_elsewhere);
    finish("");
    loop_open();
    commit_fn = shut_down_now;
    at("loop.before_commit", commit_elsewhere);
    finish("");
    loop_open(); /* a stop does not keep it alive */
    commit_fn = stop_elsewhere;
    at("loop.before_commit", commit_elsewhere);
    finish("");
}

/* ---- Closing in the middle ---- */

TEST_STAGED(a_close_in_the_middle_of_a_phase_drops_the_rest_of_it_and_of_all_others) {
    static const char *const kinds[] = {"poll", "immediate", "close", "internal", "submit"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char orders[64];
        loop_open();
        snprintf(orders, sizeof orders, "%s:a %s:x %s:x", kinds[i], kinds[i], kinds[i]);
        when_do("a", close_elsewhere);
        when("first", orders);
        play("submit:first");
        CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1); /* so that a phase is a phase and not the start */
        play_elsewhere("immediate:y close:y timer60000:y internal:y submit:y");
        CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
        CHECK_TEXT(trace + trace_length - 2, " a");
        CHECK(strstr(trace, "x") == NULL);
        loop_drop(); /* and the balance of blocks says whether all were dropped */
    }
}

TEST_STAGED(a_close_as_a_phase_begins_lets_none_of_it_run) {
    loop_open();
    play("immediate:i1 immediate:i2 submit:s1 submit:s2 close:c1");
    at("loop.before_track", close_elsewhere);
    finish("");
    CHECK(was_there());
}

TEST_STAGED(a_close_while_a_timer_starts_lets_at_most_that_one_run) {
    loop_open();
    play("timer:T1 timer:T2 submit:s");
    at("loop.before_timer", close_elsewhere);
    finish("T1");
    CHECK(was_there());
}

/* ---- Order across the lock ---- */

static void theirs(void) {
    play("micro:theirs");
}

static void theirs_then_mine(void) {
    elsewhere(theirs);
    play("micro:mine");
}

TEST_STAGED(what_another_thread_was_told_is_queued_comes_before_what_the_owner_queues_then) {
    loop_open();
    when_do("c", theirs_then_mine);
    play("submit:c");
    finish("c theirs mine");
}

static void submit_at_materialise(void) {
    play("submit:c");
}

static void materialise_elsewhere(void) {
    elsewhere(submit_at_materialise);
}

TEST_STAGED(what_comes_while_the_owner_takes_over_keeps_its_place) {
    loop_open();
    play("submit:a submit:b");
    at("loop.before_materialise", materialise_elsewhere);
    finish("a b c");
    CHECK(was_there());
}
