/* SPDX-License-Identifier: MIT
 *
 * spec/loop_interval_test.c - intervals: their period, their turns, and that a cleared one is gone.
 *
 * Periods are tested with a virtual clock, in which a callback takes as long as it says.
 */
#include <semaphore.h>

#include "support/loop.h"

#define MS WEFT_MILLISECOND

static int ticks;
static int64_t moments[16];
static int64_t tick_takes;

static void tick_three_times(void) {
    if (++ticks == 3)
        CHECK_EQ(answer_to("clear:I"), 0);
}

TEST_BOTH(an_interval_of_no_length_ticks_once_in_each_turn_until_it_is_cleared) {
    ticks = 0;
    loop_open();
    when_do("I", tick_three_times);
    when("I", "immediate:i");
    play("interval:I");
    finish("I i I i I i");
}

static void clear_twice(void) {
    CHECK_EQ(answer_to("clear:I"), 0);
    CHECK_EQ(answer_to("clear:I"), -ESTALE);
    CHECK_EQ(weft_loop_timer_keeps(loop, named("I")->timer), -ESTALE);
    CHECK_EQ(weft_loop_timer_refresh(loop, named("I")->timer), -ESTALE);
}

TEST_BOTH(an_interval_cleared_in_its_own_callback_is_stale_at_once) {
    loop_open();
    when_do("I", clear_twice);
    play("interval1:I");
    finish("I");
}

static void note_moment(void *arg) {
    (void)arg;
    moments[ticks++] = weft_loop_now(loop);
    CHECK_EQ(weft_loop_advance(loop, tick_takes), 0);
    if (ticks == 5)
        play("clear:I");
}

static void interval_takes(int64_t takes, int64_t distance) {
    ticks = 0;
    tick_takes = takes;
    loop_open_virtual();
    CHECK_EQ(weft_set_interval(loop, &named("I")->timer, 25 * MS, note_moment, NULL), 0);
    finish("");
    CHECK_EQ(ticks, 5);
    for (int i = 1; i < 5; i++)
        CHECK_EQ(moments[i] - moments[i - 1], distance);
}

TEST_BOTH(the_period_of_an_interval_counts_from_the_start_of_its_callback) {
    interval_takes(0, 25 * MS);
    interval_takes(10 * MS, 25 * MS);
    interval_takes(40 * MS, 40 * MS);
}

TEST_BOTH(an_interval_that_is_late_does_not_catch_up) {
    loop_open_virtual();
    when("T", "clear:I");
    when("i2", "immediate:i3");
    play("interval1:I");
    CHECK_EQ(weft_loop_advance(loop, 10 * MS), 0);
    play("timer1:T immediate:i1");
    finish("I i1 T"); /* once for ten periods; T and the next tick are due together, T was made first */
}

static void refresh_myself(void) {
    moments[ticks++] = weft_loop_now(loop);
    CHECK_EQ(weft_loop_advance(loop, 3 * MS), 0);
    CHECK_EQ(answer_to("refresh:I"), 0);
    if (ticks == 3)
        play("clear:I");
}

TEST_BOTH(an_interval_may_begin_its_time_anew_in_its_callback) {
    ticks = 0;
    loop_open_virtual();
    when_do("I", refresh_myself);
    play("interval10:I");
    finish("I I I");
    CHECK_EQ(moments[1] - moments[0], 13 * MS);
    CHECK_EQ(moments[2] - moments[1], 13 * MS);
}

TEST_BOTH(an_interval_that_keeps_nothing_alive_ticks_beside_others_only) {
    loop_open_virtual();
    play("interval2:I unkeep:I timer5:T");
    finish("I I T");
}

static void unkeep_myself(void) {
    play("unkeep:I");
}

TEST_BOTH(an_interval_may_cease_to_keep_the_loop_alive_in_its_callback) {
    loop_open_virtual();
    when_do("I", unkeep_myself);
    play("interval2:I");
    finish("I");
}

/* One thread clears the interval, again and again, half of the time while its callback waits for that. */
static weft_loop_timer ticking;
static sem_t callback_stands;
static sem_t callback_may_go;
static atomic_int is_cleared;
static long calls;
static long late_calls;
static bool waits_for_clear;

static void wait_semaphore(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0)
        CHECK_EQ(errno, EINTR);
}

static void tick_and_be_cleared(void *arg) {
    (void)arg;
    late_calls += atomic_load(&is_cleared);
    if (calls++ == 0)
        CHECK_EQ(sem_post(&callback_stands), 0);
    if (waits_for_clear)
        wait_semaphore(&callback_may_go);
}

static void *clear_while_it_runs(void *opaque) {
    for (long i = *(long *)opaque; i > 0; i--) {
        wait_semaphore(&callback_stands);
        bool is_waited_for = waits_for_clear;
        CHECK_EQ(weft_clear_timer(loop, ticking), 0);
        atomic_store(&is_cleared, 1);
        if (is_waited_for)
            CHECK_EQ(sem_post(&callback_may_go), 0);
    }
    return NULL;
}

TEST_BOTH(an_interval_cleared_by_another_thread_never_ticks_again) {
    weft_loop_options options = {.stays = true};
    long rounds = scaled(1000, 60);
    CHECK_EQ(sem_init(&callback_stands, 0, 0), 0);
    CHECK_EQ(sem_init(&callback_may_go, 0, 0), 0);
    loop_open_with(&options);
    pthread_t clearer = thread_start(clear_while_it_runs, &rounds);
    for (long i = 0; i < rounds; i++) {
        calls = late_calls = 0;
        waits_for_clear = i % 2;
        atomic_store(&is_cleared, 0);
        CHECK_EQ(weft_set_interval(loop, &ticking, 0, tick_and_be_cleared, NULL), 0);
        CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
        WAIT_UNTIL(atomic_load(&is_cleared));
        if (waits_for_clear)
            CHECK_EQ(calls, 1);
        CHECK_LE(late_calls, 1); /* one that was just starting */
    }
    thread_join(clearer);
    loop_drop();
    sem_destroy(&callback_stands);
    sem_destroy(&callback_may_go);
}
