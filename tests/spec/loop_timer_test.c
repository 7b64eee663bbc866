/* SPDX-License-Identifier: MIT
 *
 * spec/loop_timer_test.c - timers and immediates: when they fire, in what order, and what ends them.
 *
 * Orders of time are tested with a virtual clock, which is exact; with the real one only what holds on a slow machine as well:
 * that nothing is early, and that everything comes.
 */
#include <signal.h>

#include "support/loop.h"

#define MS WEFT_MILLISECOND

static void nothing(void *arg) {
    (void)arg;
}

/* ---- Order ---- */

TEST_BOTH(timers_fire_by_their_time_and_equal_ones_in_the_order_of_creation) {
    loop_open_virtual();
    play("timer3:a timer1:b timer2:c timer1:d timer3:e timer:f");
    finish("f b d c a e");
}

TEST_BOTH(a_checkpoint_comes_between_two_timers_that_are_due) {
    loop_open_virtual();
    when("T1", "tick:n micro:p");
    play("timer5:T1 timer5:T2");
    finish("T1 n p T2");
}

TEST_BOTH(a_timer_cleared_by_an_earlier_one_of_the_same_turn_does_not_fire) {
    loop_open_virtual();
    when("a", "clear:b");
    play("timer1:a timer1:b timer1:c");
    finish("a c");
}

TEST_BOTH(a_timer_that_is_set_anew_counts_as_just_made) {
    loop_open_virtual();
    when("a", "refresh:b");
    play("timer4:a timer6:b timer8:c timer10:d");
    finish("a c d b"); /* at 4 + 6, together with d, which is older now */
}

TEST_BOTH(an_immediate_cleared_by_an_earlier_one_of_the_same_turn_does_not_run) {
    loop_open();
    when("a", "clear:b");
    play("immediate:a immediate:b immediate:c");
    finish("a c");
    loop_open();
    play("immediate:a");
    CHECK_EQ(answer_to("clear:a"), 0);
    CHECK_EQ(answer_to("clear:a"), -ESTALE);
    finish("");
}

/* Model: an array sorted by time and number. */
struct random_timer {
    weft_loop_timer id;
    int64_t deadline;
    bool is_cleared;
    bool has_fired;
};

static struct random_timer *random_timers;
static long random_count;
static struct random_timer *random_last;
static bool random_is_virtual;

static void random_fires(void *arg) {
    struct random_timer *timer = arg;
    CHECK(!timer->is_cleared);
    CHECK(!timer->has_fired);
    timer->has_fired = true;
    CHECK_GE(weft_loop_now(loop), timer->deadline);
    if (random_is_virtual) {
        CHECK_EQ(weft_loop_now(loop), timer->deadline);
        if (random_last)
            CHECK(random_last->deadline < timer->deadline ||
                  (random_last->deadline == timer->deadline && random_last < timer));
    }
    random_last = timer;
}

static void random_timers_fire(long count, uint64_t range_ns) {
    uint64_t seed = wf_test_seed() | 1;
    random_count = count;
    random_last = NULL;
    random_timers = calloc((size_t)count, sizeof *random_timers);
    CHECK(random_timers != NULL);
    for (long i = 0; i < count; i++) {
        int64_t delay = (int64_t)random_below(&seed, range_ns);
        random_timers[i].deadline = weft_loop_now(loop) + delay;
        CHECK_EQ(weft_set_timeout(loop, &random_timers[i].id, delay, random_fires, &random_timers[i]), 0);
    }
    long cleared = 0;
    for (long i = 0; i < count; i++) {
        if (random_below(&seed, 2) == 0)
            continue;
        CHECK_EQ(weft_clear_timer(loop, random_timers[i].id), 0);
        random_timers[i].is_cleared = true;
        cleared++;
    }
    CHECK(cleared > 0 && cleared < count);
    finish("");
    for (long i = 0; i < count; i++)
        CHECK_EQ(random_timers[i].has_fired, !random_timers[i].is_cleared);
    free(random_timers);
}

TEST_BOTH(of_random_timers_exactly_those_not_cleared_fire_in_order) {
    random_is_virtual = true;
    loop_open_virtual();
    random_timers_fire(scaled(100000, 3000), 2000);
}

TEST_BOTH(of_random_timers_none_is_early_by_the_real_clock) {
    random_is_virtual = false;
    loop_open();
    random_timers_fire(scaled(2000, 200), 30 * MS);
}

/* ---- Delays ---- */

static weft_time set_at;
static int64_t set_delay;

static void check_not_early(void *arg) {
    (void)arg;
    CHECK_GE(weft_now(), set_at + set_delay);
    say("T");
}

TEST_BOTH(a_timer_of_less_than_a_millisecond_sleeps_and_is_not_early) {
    static const int64_t delays[] = {1, 999, 1000, 250000, 999999, 1000001, 1999999};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        loop_open();
        set_delay = delays[i];
        set_at = weft_now();
        CHECK_EQ(weft_set_timeout(loop, NULL, set_delay, check_not_early, NULL), 0);
        finish("T");
    }
}

TEST_BOTH(a_negative_delay_counts_as_none) {
    loop_open_virtual();
    CHECK_EQ(weft_set_timeout(loop, NULL, -1, run_part, named("a")), 0);
    CHECK_EQ(weft_set_timeout(loop, NULL, 0, run_part, named("b")), 0);
    CHECK_EQ(weft_set_timeout(loop, NULL, INT64_MIN, run_part, named("c")), 0);
    CHECK_EQ(weft_set_timeout(loop, NULL, 1, run_part, named("d")), 0);
    finish("a b c d");
}

TEST_BOTH(a_delay_beyond_all_time_never_comes_and_can_be_cleared) {
    loop_open();
    weft_loop_timer timer;
    CHECK_EQ(weft_set_timeout(loop, &timer, INT64_MAX, run_part, named("never")), 0);
    CHECK_EQ(weft_loop_backend_deadline(loop), WEFT_NEVER);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(weft_clear_timer(loop, timer), 0);
    finish("");
}

TEST_BOTH(a_loop_that_sleeps_for_a_late_timer_is_woken_for_an_earlier_one) {
    struct running running;
    loop_open();
    when("soon", "clear:late");
    play("timer60000:late");
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    play("timer1:soon");
    CHECK_EQ(running_join(&running), 0);
    CHECK_TEXT(trace, "soon");
    loop_drop();
}

/* ---- What keeps a loop alive ---- */

TEST_BOTH(a_timer_that_keeps_nothing_alive_does_not_fire_alone) {
    loop_open_virtual();
    play("timer5:T unkeep:T");
    CHECK(!weft_loop_is_alive(loop));
    finish("");
}

TEST_BOTH(a_timer_that_keeps_nothing_alive_fires_beside_a_later_one_that_does) {
    loop_open_virtual();
    play("timer5:T unkeep:T timer9:U timer12:V unkeep:V");
    finish("T U");
}

TEST_BOTH(keeping_and_not_keeping_are_applied_in_their_order) {
    loop_open_virtual();
    play("timer5:T unkeep:T keep:T unkeep:T keep:T timer7:U unkeep:U unkeep:U");
    CHECK_EQ(weft_loop_timer_keeps(loop, named("T")->timer), 1);
    CHECK_EQ(weft_loop_timer_keeps(loop, named("U")->timer), 0);
    CHECK(weft_loop_is_alive(loop));
    finish("T");
}

TEST_BOTH(what_one_thread_asks_before_run_is_answered_at_once_and_in_order) {
    loop_open_virtual();
    play("timer1:a timer2:b timer3:c timer4:d");
    CHECK_EQ(answer_to("clear:b"), 0);
    CHECK_EQ(answer_to("clear:b"), -ESTALE);
    CHECK_EQ(answer_to("unkeep:b"), -ESTALE);
    CHECK_EQ(answer_to("unkeep:d"), 0);
    play_elsewhere("clear:a timer2:e unkeep:e keep:e");
    CHECK_EQ(answer_to("refresh:c"), 0);
    finish("e c");
}

TEST_BOTH(an_immediate_that_keeps_nothing_alive_does_not_run_alone) {
    loop_open();
    when("c", "immediate:i unkeep:i");
    play("submit:c");
    finish("c");
    loop_open();
    play("immediate:i unkeep:i");
    finish("");
    loop_open();
    play("immediate:i unkeep:i immediate:j");
    finish("i j");
    loop_open();
    play("immediate:i unkeep:i keep:i");
    finish("i");
}

TEST_BOTH(whether_an_immediate_keeps_a_loop_alive_is_known_before_it_runs) {
    loop_open();
    play("immediate:i");
    CHECK(weft_loop_is_alive(loop));
    play("unkeep:i");
    CHECK(!weft_loop_is_alive(loop));
    play("keep:i");
    CHECK(weft_loop_is_alive(loop));
    finish("i");
}

static void sleeps_and_ends(const char *start, void (*end)(void)) {
    struct running running;
    loop_open();
    play(start);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    end();
    CHECK_EQ(running_join(&running), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_TEXT(trace, "");
    loop_drop();
}

static void clear_last(void) {
    play("clear:T");
}

static void clear_last_of_several(void) {
    CHECK_EQ(weft_clear_timers(loop, &named("T")->timer, NULL, 1), 1);
}

static void unkeep_last(void) {
    play("unkeep:T");
}

TEST_BOTH(a_sleeping_loop_ends_when_its_last_timer_is_cleared_or_keeps_it_no_more) {
    sleeps_and_ends("timer60000:T", clear_last);
    sleeps_and_ends("interval60000:T", clear_last);
    sleeps_and_ends("timer60000:T", clear_last_of_several);
    sleeps_and_ends("timer60000:T", unkeep_last);
}

/* ---- Ids and answers ---- */

TEST_BOTH(several_are_cleared_one_after_another_with_an_answer_each) {
    loop_open_virtual();
    play("timer1:a timer2:b timer3:c");
    weft_loop_timer a = named("a")->timer, b = named("b")->timer, missing = {12345};
    weft_loop_timer list[] = {a, missing, a, b};
    int results[4] = {7, 7, 7, 7};
    CHECK_EQ(weft_clear_timers(loop, list, results, 4), 2);
    CHECK_EQ(results[0], 0);
    CHECK_EQ(results[1], -ESTALE);
    CHECK_EQ(results[2], -ESTALE);
    CHECK_EQ(results[3], 0);
    CHECK_EQ(weft_clear_timers(loop, list, NULL, 4), 0);
    CHECK_EQ(weft_clear_timers(loop, NULL, NULL, 0), 0);
    CHECK_EQ(weft_clear_timers(loop, NULL, NULL, 1), -EINVAL);
    CHECK_EQ(weft_clear_timers(NULL, list, NULL, 1), -EINVAL);
    finish("c");
}

TEST_BOTH(ids_are_not_zero_fit_into_53_bits_and_never_come_again) {
    enum { MANY = 500 };
    static uint64_t seen[MANY];
    loop_open();
    for (int i = 0; i < MANY; i++) {
        weft_loop_timer timer = {0};
        CHECK_EQ(weft_set_timeout(loop, &timer, 0, nothing, NULL), 0);
        CHECK(timer.bits != 0 && timer.bits < UINT64_C(1) << 53);
        for (int j = 0; j < i; j++)
            CHECK(seen[j] != timer.bits);
        seen[i] = timer.bits;
        if (i % 3)
            CHECK_EQ(weft_clear_timer(loop, timer), 0);
    }
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(weft_clear_timer(loop, (weft_loop_timer){seen[i]}), i % 3 ? -ESTALE : 0);
    finish("");
}

static void clear_myself(void) {
    CHECK_EQ(answer_to("clear:T"), -ESTALE);
    CHECK_EQ(weft_loop_timer_keeps(loop, named("T")->timer), -ESTALE);
}

TEST_BOTH(a_timer_that_has_fired_is_stale_from_its_callback_on) {
    loop_open_virtual();
    when_do("T", clear_myself);
    play("timer:T timer1:U");
    weft_loop_timer fired = named("T")->timer;
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(weft_clear_timer(loop, fired), -ESTALE);
    CHECK_EQ(weft_loop_timer_keep(loop, fired, true), -ESTALE);
    CHECK_EQ(weft_loop_timer_refresh(loop, fired), -ESTALE);
    finish("T U");
}

TEST_BOTH(timers_and_immediates_do_not_share_their_ids) {
    loop_open();
    weft_loop_timer timer;
    weft_immediate immediate;
    CHECK_EQ(weft_set_timeout(loop, &timer, 0, nothing, NULL), 0);
    CHECK_EQ(weft_set_immediate(loop, &immediate, nothing, NULL), 0);
    CHECK_EQ(weft_clear_timer(loop, (weft_loop_timer){immediate.bits}), -ESTALE);
    CHECK_EQ(weft_clear_immediate(loop, (weft_immediate){timer.bits}), -ESTALE);
    CHECK_EQ(weft_loop_timer_keep(loop, (weft_loop_timer){immediate.bits}, true), -ESTALE);
    CHECK_EQ(weft_immediate_keep(loop, (weft_immediate){timer.bits}, true), -ESTALE);
    CHECK_EQ(weft_loop_timer_refresh(loop, (weft_loop_timer){immediate.bits}), -ESTALE);
    CHECK_EQ(weft_clear_timer(loop, (weft_loop_timer){0}), -ESTALE);
    CHECK_EQ(weft_clear_immediate(loop, (weft_immediate){0}), -ESTALE);
    CHECK_EQ(weft_clear_timer(loop, (weft_loop_timer){UINT64_MAX}), -ESTALE);
    finish("");
}

TEST_BOTH(calls_about_timers_with_bad_arguments_are_refused) {
    weft_loop_timer timer = {77};
    weft_immediate immediate = {77};
    loop_open();
    CHECK_EQ(weft_set_timeout(NULL, &timer, 0, nothing, NULL), -EINVAL);
    CHECK_EQ(weft_set_timeout(loop, &timer, 0, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_set_interval(NULL, &timer, 0, nothing, NULL), -EINVAL);
    CHECK_EQ(weft_set_interval(loop, &timer, 0, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_set_immediate(NULL, &immediate, nothing, NULL), -EINVAL);
    CHECK_EQ(weft_set_immediate(loop, &immediate, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_clear_timer(NULL, timer), -EINVAL);
    CHECK_EQ(weft_clear_immediate(NULL, immediate), -EINVAL);
    CHECK_EQ(weft_loop_timer_keep(NULL, timer, true), -EINVAL);
    CHECK_EQ(weft_loop_timer_keeps(NULL, timer), -EINVAL);
    CHECK_EQ(weft_loop_timer_refresh(NULL, timer), -EINVAL);
    CHECK_EQ(weft_immediate_keep(NULL, immediate, true), -EINVAL);
    CHECK_EQ(weft_loop_advance(NULL, 1), -EINVAL);
    CHECK_EQ(weft_loop_advance(loop, -1), -EINVAL);
    CHECK_EQ(weft_loop_advance(loop, 1), -ENOTSUP);
    CHECK_EQ(weft_loop_backend_deadline(NULL), WEFT_NEVER);
    CHECK_EQ(timer.bits, 77);
    CHECK_EQ(immediate.bits, 77);
    finish("");
}

TEST_BOTH(a_loop_that_has_ended_takes_no_timers) {
    loop_open();
    play("timer5:T timer60000:U immediate:i");
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(answer_to("timer:V"), -EPIPE);
    CHECK_EQ(answer_to("interval:V"), -EPIPE);
    CHECK_EQ(weft_set_immediate(loop, NULL, nothing, NULL), -EPIPE);
    CHECK_EQ(weft_clear_timer(loop, named("T")->timer), -EPIPE);
    CHECK_EQ(weft_clear_timers(loop, &named("U")->timer, NULL, 1), 0);
    CHECK_TEXT(trace, "");
    loop_drop();
}

/* ---- Other threads ---- */

static weft_loop_timer published;
static atomic_long seen_published;

static void look_at_id(void *arg) {
    (void)arg;
    CHECK(published.bits != 0);
    CHECK_EQ(weft_clear_timer(loop, published), -ESTALE);
    atomic_fetch_add(&seen_published, 1);
}

TEST_BOTH(the_id_is_there_before_the_callback_of_a_timer_that_is_due) {
    struct running running;
    loop_open();
    atomic_store(&seen_published, 0);
    CHECK_EQ(weft_loop_keep(loop), 0);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    for (long i = 0; i < scaled(2000, 200); i++) {
        published.bits = 0;
        CHECK_EQ(weft_set_timeout(loop, &published, 0, look_at_id, NULL), 0);
        WAIT_UNTIL(atomic_load(&seen_published) == i + 1);
    }
    weft_loop_unkeep(loop);
    CHECK_EQ(running_join(&running), 0);
    loop_drop();
}

static atomic_int storm_goes_on;
static pthread_t storm_target;

static void on_signal(int number) {
    (void)number;
}

static void *storm_main(void *arg) {
    while (atomic_load(&storm_goes_on)) {
        CHECK_EQ(pthread_kill(storm_target, SIGUSR1), 0);
        sched_yield();
    }
    return arg;
}

TEST(a_storm_of_signals_makes_a_timer_neither_early_nor_much_later) {
    struct sigaction action = {.sa_handler = on_signal}, before;
    CHECK_EQ(sigaction(SIGUSR1, &action, &before), 0);
    loop_open();
    set_delay = 100 * MS;
    set_at = weft_now();
    CHECK_EQ(weft_set_timeout(loop, NULL, set_delay, check_not_early, NULL), 0);
    atomic_store(&storm_goes_on, 1);
    storm_target = pthread_self();
    pthread_t storm = thread_start(storm_main, NULL);
    finish("T");
    CHECK_LE(weft_now() - set_at, 5 * WEFT_SECOND); /* not anew with every signal */
    atomic_store(&storm_goes_on, 0);
    thread_join(storm);
    CHECK_EQ(sigaction(SIGUSR1, &before, NULL), 0);
}

/* ---- Clocks ---- */

TEST_BOTH(the_clock_of_a_loop_is_the_real_one_unless_it_is_virtual) {
    loop_open();
    weft_time before = weft_now();
    weft_time now = weft_loop_now(loop);
    CHECK_GE(now, before);
    CHECK_LE(now, weft_now());
    CHECK_GE(weft_loop_now(NULL), before);
    finish("");
}

TEST_BOTH(a_virtual_clock_stands_until_it_is_advanced) {
    weft_loop_options options = {.virtual_time = true};
    loop_open_with(&options);
    CHECK_EQ(weft_loop_keep(loop), 0); /* something else may come: the clock does not jump */
    play("timer5:a timer5000:b");
    weft_time now = weft_loop_now(loop);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_EQ(weft_loop_now(loop), now);
    CHECK_EQ(weft_loop_advance(loop, 5 * MS - 1), 0);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_TEXT(trace, "");
    CHECK_EQ(weft_loop_advance(loop, 1), 0);
    CHECK_EQ(weft_loop_now(loop), now + 5 * MS);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 1);
    CHECK_TEXT(trace, "a");
    weft_loop_unkeep(loop);
    finish("a b");
}

TEST_BOTH(a_sleeping_loop_of_virtual_time_is_woken_by_its_clock) {
    struct running running;
    loop_open_virtual();
    when("T", "say:woken");
    CHECK_EQ(weft_loop_keep(loop), 0);
    play("timer1000:T");
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    CHECK_EQ(weft_loop_advance(loop, 1000 * MS), 0);
    WAIT_UNTIL(weft_loop_backend_deadline(loop) == WEFT_NEVER);
    weft_loop_unkeep(loop);
    CHECK_EQ(running_join(&running), 0);
    CHECK_TEXT(trace, "T woken");
    loop_drop();
}

TEST_BOTH(a_virtual_clock_that_is_advanced_beyond_all_time_stays_there) {
    loop_open_virtual();
    play("timer5:a timer7:b");
    CHECK_EQ(weft_loop_advance(loop, INT64_MAX), 0);
    CHECK_EQ(weft_loop_advance(loop, INT64_MAX), 0);
    finish("a b");
}
