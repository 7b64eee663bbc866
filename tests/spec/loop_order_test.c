/* SPDX-License-Identifier: MIT
 *
 * spec/loop_order_test.c - in which order a loop runs what it was given, and what a checkpoint is.
 *
 * Where JavaScript has the same thing the expected trace is that of Node 20.
 */
#include "support/loop.h"
#include "support/quiet.h"

/* ---- The checkpoint ---- */

TEST_BOTH(a_next_tick_of_a_microtask_waits_for_the_other_microtasks) {
    loop_open();
    when("c", "micro:m1");
    when("m1", "micro:m2 tick:t");
    play("submit:c");
    finish("c m1 m2 t");
}

TEST_BOTH(next_ticks_come_before_microtasks_and_again_until_both_are_empty) {
    loop_open();
    when("c", "micro:m1 tick:t1 micro:m2 tick:t2");
    when("t1", "tick:t3 micro:m3");
    when("m1", "tick:t4 micro:m4");
    when("t4", "micro:m5");
    play("submit:c");
    finish("c t1 t2 t3 m1 m2 m3 m4 t4 m5");
}

TEST_BOTH(a_checkpoint_comes_between_two_callbacks_of_every_phase) {
    static const char *const kinds[] = {"poll", "immediate", "close", "timer", "internal", "submit"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char orders[64];
        loop_open();
        when("a", "tick:n micro:p");
        snprintf(orders, sizeof orders, "%s:a %s:b", kinds[i], kinds[i]);
        play(orders);
        finish("a n p b");
    }
}

TEST_BOTH(the_end_of_a_checkpoint_comes_when_both_queues_are_empty) {
    loop_open();
    when("c", "end:e1 end:e2 micro:m1 tick:t1");
    when("m1", "micro:m2 tick:t2");
    when("e1", "micro:m3 tick:t3");
    when("m3", "micro:m4");
    play("submit:c submit:d");
    finish("c t1 m1 m2 t2 e1 t3 m3 m4 e2 d");
}

TEST_BOTH(an_end_of_checkpoint_that_asks_for_another_gets_it_in_the_same_checkpoint) {
    loop_open();
    when("c", "end:e1");
    when("e1", "end:e2 micro:m");
    play("submit:c submit:d");
    finish("c e1 m e2 d");
}

static void tick_from_elsewhere(void) {
    play_elsewhere("tick:t2");
}

TEST_BOTH(a_next_tick_of_another_thread_that_was_accepted_joins_before_the_microtasks) {
    loop_open();
    when("c", "tick:t1 micro:m");
    when_do("t1", tick_from_elsewhere);
    play("submit:c");
    finish("c t1 t2 m");
}

static void micro_from_elsewhere(void) {
    play_elsewhere("micro:theirs");
}

TEST_BOTH(what_another_thread_has_queued_before_the_owner_does_comes_first) {
    loop_open();
    when_do("c", micro_from_elsewhere);
    when("c", "micro:mine");
    play("submit:c");
    finish("c theirs mine");
}

enum { CHAIN = 200000 };
static long chained;

static void chain(void *arg) {
    if (++chained < CHAIN)
        CHECK_EQ(weft_loop_microtask(loop, chain, arg), 0);
}

static void chain_begin(void) {
    chained = 0;
    CHECK_EQ(weft_loop_microtask(loop, chain, NULL), 0);
}

static void chain_is_done(void) {
    CHECK_EQ(chained, CHAIN);
}

TEST_BOTH(two_hundred_thousand_chained_microtasks_all_run_with_one_diagnostic_before_a_timer) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when_do("c", chain_begin);
    when_do("T", chain_is_done);
    play("internal:c timer:T");
    finish("c !microtasks T");
    CHECK(last_failed == NULL);
}

TEST_BOTH(the_diagnostic_of_long_checkpoints_comes_once_in_each_after_so_many) {
    weft_loop_options options = {.on_failure = note_failure, .warn_after = 2};
    loop_open_with(&options);
    when("a", "micro:m1 micro:m2 micro:m3 micro:m4");
    when("b", "micro:m5 micro:m6 micro:m7");
    play("submit:a submit:b");
    finish("a m1 m2 !microtasks m3 m4 b m5 m6 !microtasks m7");
}

/* ---- The phases ---- */

TEST_BOTH(work_of_all_kinds_queued_before_run_comes_in_the_order_of_the_start_and_the_first_turn) {
    loop_open();
    play("submit:external close:close immediate:check poll:poll timer:timer micro:micro tick:tick internal:internal");
    finish("internal tick micro timer poll check close external");
}

TEST_BOTH(work_of_all_kinds_queued_by_a_callback_comes_in_the_order_of_the_next_turn) {
    loop_open();
    when("c", "submit:ext internal:internal timer:timer close:close immediate:check poll:poll micro:micro tick:tick");
    play("submit:c");
    finish("c tick micro poll check close timer internal ext");
}

TEST_BOTH(immediates_that_an_immediate_sets_wait_for_the_next_turn) {
    loop_open();
    when("i1", "immediate:i3 tick:n");
    play("immediate:i1 immediate:i2");
    finish("i1 n i2 i3");
}

TEST_BOTH(each_phase_runs_what_is_there_when_it_begins) {
    static const char *const kinds[] = {"poll", "immediate", "close", "timer", "internal", "submit"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char orders[64], own[64];
        loop_open();
        /* The mark is in a phase after ours, or is before it in the next turn. */
        snprintf(own, sizeof own, "%s:b %s:mark", kinds[i], i == 5 ? "immediate" : "submit");
        when("a", own);
        snprintf(orders, sizeof orders, "%s:a", kinds[i]);
        when("first", orders);
        play("submit:first");
        finish("first a mark b");
    }
}

TEST_BOTH(a_timer_made_by_a_timer_waits_for_the_next_turn) {
    loop_open();
    when("T1", "timer:T2 immediate:i");
    when("T2", "timer:T3 immediate:j");
    play("timer:T1");
    finish("T1 i T2 j T3");
}

static int pipe_ends[2];

static void on_readable(int fd, unsigned events, void *arg) {
    CHECK(events & WEFT_FD_READ);
    CHECK_EQ(weft_loop_fd_remove(loop, fd), 0);
    run_part(arg);
}

TEST_BOTH(in_the_callback_of_a_descriptor_an_immediate_comes_before_a_timer_of_no_delay) {
    loop_open();
    when("io", "timer:T immediate:i");
    CHECK_EQ(pipe(pipe_ends), 0);
    CHECK_EQ(write(pipe_ends[1], "x", 1), 1);
    CHECK_EQ(weft_loop_fd_add(loop, pipe_ends[0], WEFT_FD_READ, on_readable, named("io")), 0);
    finish("io i T");
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

TEST_BOTH(a_timer_made_in_the_start_is_eligible_in_the_start) {
    loop_open();
    when("internal", "timer:T1");
    when("micro", "timer:T2");
    play("internal:internal micro:micro immediate:i");
    finish("internal micro T1 T2 i");
}

TEST_BOTH(a_close_callback_keeps_the_loop_alive_and_comes_after_the_immediates) {
    loop_open();
    when("c", "close:k immediate:i");
    play("close:c");
    CHECK(weft_loop_is_alive(loop));
    finish("c i k");
}

TEST_BOTH(the_internal_lane_passes_everything_that_is_external) {
    loop_open();
    char expected[640] = "start internal";
    play("submit:start"); /* so that the rest is not the start pass */
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    CHECK_TEXT(trace, "start");
    for (int i = 0; i < 64; i++) {
        char order[32];
        snprintf(order, sizeof order, "submit:e%d", i);
        play(order);
        strcat(expected, " ");
        strcat(expected, order + strlen("submit:"));
    }
    play("internal:internal");
    finish(expected);
}

static long resubmits;
static long turns_of_timer;
static long turns_of_immediate;

static void resubmit(void *arg) {
    if (++resubmits < 1000)
        CHECK_EQ(weft_loop_submit(loop, resubmit, arg), 0);
}

static void count_up(void *counter) {
    if (resubmits < 1000)
        ++*(long *)counter;
}

static void count_and_again(void *counter) {
    count_up(counter);
    if (resubmits < 1000)
        CHECK_EQ(weft_set_immediate(loop, NULL, count_and_again, counter), 0);
}

static weft_loop_timer ticking;

static void stop_ticking(void *arg) {
    (void)arg;
    CHECK_EQ(weft_clear_timer(loop, ticking), 0);
}

static void count_ticks(void *counter) {
    count_up(counter);
    if (resubmits >= 1000)
        stop_ticking(NULL);
}

TEST_BOTH(a_task_that_submits_itself_again_starves_neither_timers_nor_immediates) {
    resubmits = turns_of_timer = turns_of_immediate = 0;
    loop_open();
    CHECK_EQ(weft_loop_submit(loop, resubmit, NULL), 0);
    CHECK_EQ(weft_set_interval(loop, &ticking, 0, count_ticks, &turns_of_timer), 0);
    CHECK_EQ(weft_set_immediate(loop, NULL, count_and_again, &turns_of_immediate), 0);
    finish("");
    CHECK_EQ(resubmits, 1000);
    CHECK_GE(turns_of_timer, 999);
    CHECK_GE(turns_of_immediate, 999);
}

TEST_BOTH(submits_of_one_thread_run_in_their_order_and_on_the_owner) {
    loop_open();
    play_elsewhere("submit:a submit:b submit:c");
    play("submit:d");
    play_elsewhere("submit:e");
    finish("a b c d e"); /* each part checks where it runs */
}

/* ---- Modes that are not those of JavaScript ---- */

TEST_BOTH(with_batches_one_checkpoint_follows_each_phase) {
    weft_loop_options options = {.batches = true};
    loop_open_with(&options);
    when("a", "micro:m1 tick:t1");
    when("b", "micro:m2");
    when("i", "micro:m3");
    when("j", "micro:m4");
    play("submit:a submit:b immediate:i immediate:j");
    finish("i j m3 m4 a b t1 m1 m2");
}

TEST_BOTH(a_panic_in_a_batch_costs_one_callback_and_no_checkpoint) {
    weft_loop_options options = {.batches = true, .on_failure = note_failure};
    loop_open_with(&options);
    when("a", "micro:m1 panic:oh");
    when("m1", "panic:again");
    when("b", "micro:m2");
    play("submit:a submit:b");
    finish("a !submitted b m1 !microtask m2");
}

TEST_BOTH(a_budget_ends_a_checkpoint_and_the_rest_is_carried_over) {
    weft_loop_options options = {.budget = 2, .on_failure = note_failure};
    loop_open_with(&options);
    when("a", "micro:m1 micro:m2 micro:m3 micro:m4 micro:m5");
    play("submit:a submit:b");
    finish("a m1 m2 !budget b m3 m4 !budget m5");
}

TEST_BOTH(a_budget_that_is_just_enough_is_not_told) {
    weft_loop_options options = {.budget = 2, .on_failure = note_failure};
    loop_open_with(&options);
    when("a", "micro:m1 tick:t1");
    play("submit:a submit:b");
    finish("a t1 m1 b");
}

static void let_it_end(void) {
    weft_loop_unkeep(loop);
}

TEST_BOTH(what_a_budget_has_left_runs_though_nothing_else_comes) {
    weft_loop_options options = {.budget = 1, .on_failure = note_failure};
    loop_open_with(&options);
    CHECK_EQ(weft_loop_keep(loop), 0);
    when("a", "micro:m1 micro:m2 micro:m3");
    when_do("m3", let_it_end);
    play("submit:a");
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0); /* it would sleep for ever with something left */
    CHECK(strstr(trace, "m3"));
    loop_drop();
}

/* ---- Seams for hosts ---- */

TEST_BOTH(a_call_is_a_callback_with_a_checkpoint_of_its_own) {
    loop_open();
    when("c", "micro:m1 call:d say:after micro:m3");
    when("d", "micro:m2 tick:t");
    play("submit:c");
    finish("c d t m1 m2 after m3");
}

TEST_BOTH(a_call_inside_a_checkpoint_leaves_the_checkpoint_to_it) {
    loop_open();
    when("c", "micro:m1 micro:m2");
    when("m1", "call:d say:after");
    when("d", "micro:m3 tick:t");
    play("submit:c");
    finish("c m1 d after m2 m3 t");
}

TEST_BOTH(a_call_that_panics_returns_to_its_caller) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when("c", "call:d say:after micro:m2");
    when("d", "micro:m1 panic:oh");
    play("submit:c");
    finish("c d !call m1 after m2");
    CHECK_TEXT(last_message, "panic oh");
}

TEST_BOTH(a_microtask_that_panics_in_the_checkpoint_of_a_call_costs_only_itself) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when("c", "micro:m1 call:d say:after");
    when("m1", "panic:oh");
    play("submit:c submit:e");
    finish("c d m1 !microtask after e");
}

TEST_BOTH(a_microtask_that_panics_in_a_checkpoint_asked_for_costs_only_itself) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when("c", "micro:m1 micro:m2 checkpoint:after micro:m3");
    when("m1", "panic:oh");
    play("submit:c submit:e");
    finish("c m1 !microtask m2 after m3 e");
}

TEST_BOTH(a_callback_that_panics_after_a_checkpoint_is_told_as_itself) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when("c", "micro:m call:d panic:oh");
    play("timer:c");
    finish("c d m !timer");
    CHECK(last_failed == run_part);
}

TEST_BOTH(a_checkpoint_can_be_asked_for_inside_a_callback) {
    loop_open();
    when("c", "micro:m1 tick:t1 checkpoint:after micro:m2");
    play("submit:c submit:d");
    finish("c t1 m1 after m2 d");
}

TEST_BOTH(a_checkpoint_asked_for_inside_a_checkpoint_does_nothing) {
    loop_open();
    when("c", "micro:m1 micro:m2");
    when("m1", "micro:m3 checkpoint:after");
    play("submit:c");
    finish("c m1 after m2 m3");
}

TEST_BOTH(a_checkpoint_that_is_yielded_ends_with_its_callback_and_goes_on_at_the_next_boundary) {
    loop_open();
    when("c", "micro:m1 micro:m2 micro:m3");
    when("m1", "tick:t yield:y");
    play("submit:c submit:d submit:e");
    finish("c m1 y d t m2 m3 e");
}

TEST_BOTH(a_yield_with_nothing_after_it_is_made_good_by_the_next_turn) {
    loop_open();
    when("c", "tick:t1 tick:t2 micro:m");
    when("t1", "yield:y");
    play("submit:c");
    finish("c t1 y t2 m");
}

TEST_BOTH(a_yield_outside_of_a_checkpoint_leaves_it_to_the_next_callback_of_the_phase) {
    loop_open();
    when("c", "micro:m1 yield:y micro:m2");
    play("submit:c submit:d submit:e");
    finish("c y d m1 m2 e");
}

TEST_BOTH(seams_outside_of_callbacks_are_refused) {
    loop_open();
    CHECK_EQ(weft_loop_call(loop, run_part, NULL), -EPERM);
    CHECK_EQ(weft_loop_run_checkpoint(loop), -EPERM);
    CHECK_EQ(weft_loop_yield_checkpoint(loop), -EPERM);
    CHECK_EQ(weft_loop_call(NULL, run_part, NULL), -EINVAL);
    CHECK_EQ(weft_loop_call(loop, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_loop_run_checkpoint(NULL), -EINVAL);
    CHECK_EQ(weft_loop_yield_checkpoint(NULL), -EINVAL);
    finish("");
}

static void *seams_of_another_thread(void *arg) {
    CHECK(weft_loop_current() == NULL);
    CHECK_EQ(weft_loop_call(loop, run_part, NULL), -EPERM);
    CHECK_EQ(weft_loop_run_checkpoint(loop), -EPERM);
    CHECK_EQ(weft_loop_yield_checkpoint(loop), -EPERM);
    return arg;
}

static void let_another_thread_try_the_seams(void) {
    thread_join(thread_start(seams_of_another_thread, NULL));
}

TEST_BOTH(seams_of_another_thread_are_refused_while_a_callback_runs) {
    loop_open();
    when_do("c", let_another_thread_try_the_seams);
    play("submit:c");
    finish("c");
    CHECK(weft_loop_current() == NULL);
}

/* ---- Panics ---- */

TEST_BOTH(a_panic_in_any_callback_is_told_with_its_source_and_the_loop_goes_on) {
    static const char *const kinds[][2] = {
        {"tick", "!next tick"},      {"micro", "!microtask"},  {"end", "!end of checkpoint"},
        {"immediate", "!immediate"}, {"close", "!close"},      {"timer", "!timer"},
        {"internal", "!internal"},   {"submit", "!submitted"}, {"poll", "!poll"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char orders[64], expected[64];
        weft_loop_options options = {.on_failure = note_failure};
        loop_open_with(&options);
        when("a", "panic:oh");
        snprintf(orders, sizeof orders, "%s:a %s:b", kinds[i][0], kinds[i][0]);
        snprintf(expected, sizeof expected, "a %s b", kinds[i][1]);
        play(orders);
        finish(expected);
        CHECK_TEXT(last_message, "panic oh");
        CHECK(last_failed == run_part);
    }
}

TEST_BOTH(a_checkpoint_that_was_cut_short_by_a_panic_is_finished_before_the_next_callback) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when("c", "micro:m1 micro:m2 tick:t1 tick:t2");
    when("t1", "panic:oh");
    when("m1", "tick:t3 panic:oh");
    play("submit:c submit:d");
    finish("c t1 !next\x20tick t2 m1 !microtask m2 t3 d");
}

TEST_BOTH(microtasks_of_a_callback_that_panics_still_run) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when("c", "micro:m tick:t panic:oh");
    play("submit:c submit:d");
    finish("c !submitted t m d");
}

TEST_BOTH(an_interval_whose_callback_panics_goes_on) {
    weft_loop_options options = {.on_failure = note_failure, .virtual_time = true};
    loop_open_with(&options);
    when("I", "panic:oh");
    when("T", "clear:I");
    play("interval2:I timer5:T");
    finish("I !interval I !interval T");
}

static void panic_in_hook(weft_loop *which, const weft_loop_failure *failure, void *arg) {
    (void)which;
    (void)failure;
    (void)arg;
    weft_panic("the hook too");
}

TEST(a_hook_that_panics_is_reported_and_the_loop_goes_on) {
    weft_loop_options options = {.on_failure = panic_in_hook, .name = "hooked"};
    struct quiet quiet = quiet_begin();
    loop_open_with(&options);
    when("a", "panic:oh");
    play("submit:a submit:b");
    finish("a b");
    quiet_end(quiet);
    CHECK(strstr(text, "hooked") != NULL);
    CHECK(strstr(text, "the hook too") != NULL);
}

TEST(without_a_hook_a_failure_is_a_line_on_standard_error) {
    weft_loop_options options = {.name = "a name that is cut at thirty-one bytes"};
    struct quiet quiet = quiet_begin();
    loop_open_with(&options);
    when("a", "panic:oh");
    play("timer:a submit:b");
    finish("a b");
    quiet_end(quiet);
    CHECK(strstr(text, "a name that is cut at thirty-on") != NULL);
    CHECK(strstr(text, "thirty-one") == NULL);
    CHECK(strstr(text, "timer") != NULL);
    CHECK(strstr(text, "panic oh") != NULL);
}

static void call_api_in_hook(weft_loop *which, const weft_loop_failure *failure, void *arg) {
    note_failure(which, failure, arg);
    play("micro:m submit:s timer:T immediate:i");
    CHECK(weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), -EDEADLK);
}

TEST_BOTH(the_failure_hook_may_call_the_loop) {
    weft_loop_options options = {.on_failure = call_api_in_hook};
    loop_open_with(&options);
    when("c", "panic:oh");
    play("submit:c submit:d");
    finish("c !submitted m d i T s");
}

static void exit_here(void) {
    weft_exit(NULL);
}

static void exit_in_callback(void) {
    weft_loop_options options = {.on_failure = note_failure};
    loop_open_with(&options);
    when_do("a", exit_here);
    play("submit:a submit:b");
    finish("a !submitted b");
    CHECK(strstr(last_message, "weft_exit") != NULL);
}

TEST(a_callback_that_exits_its_fiber_is_left_as_by_a_panic) {
    run_fibers(exit_in_callback);
}

/* ---- Loops in loops ---- */

static weft_loop *inner;
static void inner_says(void *word) {
    CHECK(weft_loop_current() == inner);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_ONCE, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_loop_call(loop, run_part, NULL), -EPERM);
    play("micro:outer_m submit:outer_s");
    say(word);
    weft_panic("inside");
}

static void inner_failed(weft_loop *which, const weft_loop_failure *failure, void *arg) {
    (void)arg;
    CHECK(which == inner);
    CHECK_TEXT(failure->message, "inside");
}

static void run_inner(void) {
    weft_loop_options options = {.on_failure = inner_failed};
    CHECK_EQ(weft_loop_new(&inner, &options), 0);
    CHECK_EQ(weft_loop_submit(inner, inner_says, "inner"), 0);
    CHECK_EQ(weft_loop_run(inner, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    weft_loop_unref(inner);
    CHECK(weft_loop_current() == loop);
}

TEST_BOTH(a_callback_may_run_another_loop_whose_callbacks_may_call_the_outer_one) {
    loop_open();
    when_do("c", run_inner);
    play("submit:c submit:d");
    finish("c inner outer_m d outer_s");
    CHECK(weft_loop_current() == NULL);
}
