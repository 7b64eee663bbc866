/* SPDX-License-Identifier: MIT
 *
 * spec/loop_source_end_test.c - how sources of a loop end: taken back, with the loop, with its fiber, amid a panic.
 *
 * What is sent is counted at both ends: it is told to a callback, or weft_loop_off says that it was taken, or it is still in
 * the channel.
 */
#include "spec/loop_source.h"

/* ---- Taking back ---- */

static void off_before(void) {
    weft_chan *chan = make_chan(1);
    struct tale tale = {0};
    int number = 5;
    begin();
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_receive(chan, &tale.value), told, &tale), 0);
    CHECK(weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_off(loop, tale.source), 0);
    CHECK(!weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_off(loop, tale.source), -ESTALE);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_len(chan), 1);
    run_to_end();
    CHECK_EQ(tale.calls, 0);
    weft_chan_free(chan);
}
TEST(a_source_that_was_taken_back_takes_nothing) {
    both_ways(off_before);
}

static void off_after(void) {
    weft_chan *chan = make_chan(0);
    struct tale tale = {0};
    int number = 5;
    begin();
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_receive(chan, &tale.value), told, &tale), 0);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_loop_off(loop, tale.source), 1);
    CHECK_EQ(tale.value, 5);
    CHECK_EQ(weft_loop_off(loop, tale.source), -ESTALE);
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_receive(chan, &tale.value), told, &tale), 0);
    CHECK_EQ(weft_chan_close(chan), 0);
    CHECK_EQ(weft_loop_off(loop, tale.source), 0); /* it was about to tell the end: nothing was taken */
    run_to_end();
    CHECK_EQ(tale.calls, 0);
    weft_chan_free(chan);
}
TEST(off_says_when_a_value_had_been_taken_already) {
    both_ways(off_after);
}

static struct tale pair[2];
static int taken_by_off;
static void take_back_the_other(struct tale *tale) {
    struct tale *other = &pair[tale == &pair[0]];
    taken_by_off += weft_loop_off(loop, other->source);
    off_in_callback(tale);
}
static void off_of_a_ready_one(void) {
    weft_chan *chan = make_chan(2);
    begin();
    taken_by_off = 0;
    for (int i = 0; i < 2; i++) {
        pair[i] = (struct tale){.then = take_back_the_other};
        CHECK_EQ(weft_chan_send(chan, &i, WEFT_NOW), 0);
        CHECK_EQ(weft_loop_on(loop, &pair[i].source, weft_on_receive(chan, &pair[i].value), told, &pair[i]), 0);
    }
    run_to_end();
    CHECK_EQ(pair[0].calls + pair[1].calls, 1);
    CHECK_EQ(taken_by_off, 1);
    CHECK_EQ(pair[1].value, 1); /* it is where the case said */
    weft_chan_free(chan);
}
TEST(a_source_that_is_ready_can_be_taken_back_by_an_earlier_callback) {
    both_ways(off_of_a_ready_one);
}

static void free_in_callback(struct tale *tale) {
    off_in_callback(tale);
    weft_chan_free(tale->chan);
}
static void off_and_free(void) {
    weft_chan *chan = make_chan(1);
    struct tale tale = {.then = free_in_callback};
    int number = 1;
    tale.chan = chan;
    begin();
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_receive(chan, &tale.value), told, &tale), 0);
    run_to_end();
    CHECK_EQ(tale.calls, 1);
}
TEST(a_callback_may_take_its_source_back_and_free_the_channel) {
    both_ways(off_and_free);
}

static void *off_from_elsewhere(void *arg) {
    struct tale *tale = arg;
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    CHECK_EQ(weft_loop_off(loop, tale->source), 0);
    return NULL;
}
static void off_ends_the_loop(void) {
    weft_chan *chan = make_chan(0);
    struct tale tale = {0};
    struct on_thread_call call;
    begin();
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_receive(chan, &tale.value), told, &tale), 0);
    weft_loop_ref(loop);
    on_thread_start(&call, off_from_elsewhere, &tale);
    run_to_end(); /* the source kept it alive until then */
    on_thread_finish(&call);
    weft_loop_unref(loop);
    weft_chan_free(chan);
}
TEST(a_source_keeps_the_loop_alive_until_it_is_taken_back) {
    both_ways(off_ends_the_loop);
}

static void stale_ids(void) {
    weft_chan *chan = make_chan(0);
    struct tale tale = {0};
    weft_source old, fresh;
    begin();
    CHECK_EQ(weft_loop_on(loop, &old, weft_on_receive(chan, &tale.value), told, &tale), 0);
    CHECK_EQ(weft_loop_off(loop, old), 0);
    CHECK_EQ(weft_loop_on(loop, &fresh, weft_on_receive(chan, &tale.value), told, &tale), 0);
    CHECK(old.bits != fresh.bits);
    CHECK_EQ(weft_loop_off(loop, old), -ESTALE);
    CHECK_EQ(weft_loop_off(loop, fresh), 0);
    run_to_end();
    weft_chan_free(chan);
}
TEST(an_id_never_names_another_source) {
    both_ways(stale_ids);
}

/* ---- The loop's end ---- */

static void shutdown_tells(void) {
    weft_chan *chan = make_chan(0);
    struct tale taken = {0}, waits = {0};
    int number = 5;
    begin();
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_receive(chan, &taken.value), told, &taken), 0);
    CHECK_EQ(weft_loop_on(loop, &waits.source, weft_on_receive(chan, &waits.value), told, &waits), 0);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_EQ(taken.calls, 1);
    CHECK_EQ(taken.values[0], 5);
    CHECK_EQ(waits.calls, 0);
    CHECK_EQ(weft_loop_off(loop, waits.source), -ESTALE);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), -ETIMEDOUT); /* nobody waits there any more */
    weft_loop_unref(loop);
    weft_chan_free(chan);
}
TEST(shutdown_tells_what_was_taken_and_no_source_waits_after_it) {
    both_ways(shutdown_tells);
}

static void close_drops(void) {
    weft_chan *chan = make_chan(0);
    struct tale taken = {0}, waits = {0};
    int number = 5;
    begin();
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_receive(chan, &taken.value), told, &taken), 0);
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_receive(chan, &waits.value), told, &waits), 0);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    weft_loop_unref(loop); /* the last one closes it */
    CHECK_EQ(taken.calls + waits.calls, 0);
    weft_chan_free(chan);
}
TEST(close_calls_nobody_and_leaves_no_trace_in_the_channel) {
    both_ways(close_drops);
}

static void shutdown_here(struct tale *tale) {
    (void)tale;
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), -EINPROGRESS);
}
static void shutdown_in_callback(void) {
    weft_chan *chan = make_chan(2);
    struct tale tale = {.then = shutdown_here};
    int number = 5;
    begin();
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_receive(chan, &tale.value), told, &tale), 0);
    run_to_end();
    CHECK_EQ(tale.calls, 1);
    CHECK_EQ(weft_chan_len(chan), 1); /* the ended loop has not asked for the next one */
    weft_chan_free(chan);
}
TEST(a_loop_that_ends_takes_no_more) {
    both_ways(shutdown_in_callback);
}

static weft_chan *outer_chan;
static atomic_int is_waiting;
static void *loop_forever(void *arg) {
    atomic_store(&is_waiting, 1);
    CHECK_EQ(weft_loop_run(arg, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    return NULL;
}
static int leave_it_running(void *arg) {
    struct tale *tale = arg;
    begin();
    CHECK_EQ(weft_loop_on(loop, &tale->source, weft_on_receive(outer_chan, &tale->value), told, tale), 0);
    CHECK_EQ(weft_go(loop_forever, loop), 0);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    return 0;
}
TEST(a_fiber_that_is_dropped_with_its_loop_takes_the_sources_along) {
    weft_options options = {.abandon = true};
    struct tale tale = {0};
    outer_chan = make_chan(0);
    CHECK_EQ(weft_run(&options, leave_it_running, &tale), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_EQ(weft_loop_off(loop, tale.source), -ESTALE);
    weft_loop_unref(loop);
    weft_chan_free(outer_chan); /* fatal if somebody waited in it */
    CHECK_EQ(tale.calls, 0);
}

static void *park_in_callback(void *arg) {
    CHECK_EQ(weft_loop_run(arg, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    return NULL;
}
static void wait_for_ever(struct tale *tale) {
    (void)tale;
    int nothing;
    atomic_store(&is_waiting, 1);
    weft_chan_recv(outer_chan, &nothing, WEFT_NEVER);
}
static int leave_it_in_a_callback(void *arg) {
    struct tale *tale = arg;
    weft_chan *chan = tale->chan;
    int number = 1;
    begin();
    atomic_store(&is_waiting, 0);
    CHECK_EQ(weft_loop_on(loop, &tale->source, weft_on_receive(chan, &tale->value), told, tale), 0);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_go(park_in_callback, loop), 0);
    WAIT_UNTIL(atomic_load(&is_waiting));
    return 0;
}
TEST(a_fiber_that_is_dropped_inside_a_callback_of_a_source_frees_it) {
    weft_options options = {.abandon = true};
    struct tale tale = {.then = wait_for_ever};
    weft_chan *chan = make_chan(0);
    tale.chan = chan;
    outer_chan = make_chan(0);
    CHECK_EQ(weft_run(&options, leave_it_in_a_callback, &tale), 0);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    weft_loop_unref(loop);
    weft_chan_free(outer_chan);
    weft_chan_free(chan);
}

/* A runtime that ends tells a loop outside of it. */
static struct tale outside;
static uint64_t outside_count;
static weft_timer idle_timer;
static int start_and_leave(void *arg) {
    (void)arg;
    CHECK_EQ(weft_timer_start(&idle_timer, weft_after(3600 * WEFT_SECOND), 0, NULL, NULL), 0);
    CHECK_EQ(weft_loop_on(loop, &outside.source, weft_on_timer(idle_timer, &outside_count), told, &outside), 0);
    return 0;
}
TEST(a_timer_whose_runtime_ends_is_told_as_cancelled) {
    outside = (struct tale){0};
    begin();
    CHECK_EQ(weft_run(NULL, start_and_leave, NULL), 0);
    run_to_end();
    CHECK_EQ(outside.calls, 1);
    CHECK_EQ(outside.last_status, -ECANCELED);
}

/* ---- Panics ---- */

static int failures;
static void count_failure(weft_loop *of, const weft_loop_failure *failure, void *arg) {
    (void)of;
    (void)arg;
    CHECK_TEXT(failure->source, "source");
    CHECK_TEXT(failure->message, "cannot use it");
    CHECK(failure->fn != NULL);
    failures++;
}
static void panic_on_first(struct tale *tale) {
    if (tale->calls == 1)
        weft_panic("cannot use it");
    if (tale->calls == 3)
        off_in_callback(tale);
}
static void panic_in_callback(void) {
    weft_chan *chan = make_chan(3);
    struct tale tale = {.then = panic_on_first};
    weft_loop_options options = {.on_failure = count_failure};
    failures = 0;
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_chan_send(chan, &i, WEFT_NOW), 0);
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_receive(chan, &tale.value), told, &tale), 0);
    run_to_end();
    CHECK_EQ(failures, 1);
    CHECK_EQ(tale.calls, 3);
    CHECK_EQ(tale.values[2], 2);
    weft_chan_free(chan);
}
TEST(a_callback_that_panics_leaves_its_source_on) {
    both_ways(panic_in_callback);
}

/* ---- Conservation ---- */

/* Threads send, two loops receive by sources which threads put on and take off all the time: every value is told to a
 * callback, or was said to be taken by off, or is left in the channel. */
enum { SENDERS = 3, CHURNERS = 2 };
static weft_chan *shared_chan;
static atomic_llong sum_told, sum_off, sum_sent;
static long churn_rounds;

static void add_told(int status, void *arg) {
    if (status == 0)
        atomic_fetch_add(&sum_told, *(int *)arg);
}
static void *send_until_closed(void *arg) {
    int value = (int)(intptr_t)arg;
    int status;
    while ((status = weft_chan_send(shared_chan, &value, WEFT_NEVER)) == 0) {
        atomic_fetch_add(&sum_sent, value);
        value = value % 1000 + 1;
    }
    CHECK_EQ(status, -EPIPE);
    return NULL;
}
/* Each source has a number of its own: a callback may still be reading the last one. */
static void *churn(void *arg) {
    weft_loop **loops = arg;
    int *numbers = calloc((size_t)churn_rounds * 2, sizeof *numbers);
    weft_source sources[2];
    CHECK(numbers != NULL);
    for (long i = 0; i < churn_rounds; i++) {
        int *number = &numbers[2 * i];
        for (int n = 0; n < 2; n++) {
            weft_case wish = weft_on_receive(shared_chan, &number[n]);
            CHECK_EQ(weft_loop_on(loops[n], &sources[n], wish, add_told, &number[n]), 0);
        }
        if (i % 3 == 0)
            sched_yield();
        for (int n = 0; n < 2; n++) {
            int taken = weft_loop_off(loops[n], sources[n]);
            CHECK_GE(taken, 0);
            if (taken)
                atomic_fetch_add(&sum_off, number[n]);
        }
    }
    return numbers;
}
static void *run_loop(void *arg) {
    CHECK_EQ(weft_loop_run(arg, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    return NULL;
}
TEST(every_value_is_told_or_said_to_be_taken_or_left) {
    weft_loop *loops[2];
    pthread_t runners[2], senders[SENDERS], churners[CHURNERS];
    void *numbers[CHURNERS];
    int number;
    long long left = 0;
    churn_rounds = scaled(4000, 300);
    atomic_store(&sum_told, 0);
    atomic_store(&sum_off, 0);
    atomic_store(&sum_sent, 0);
    shared_chan = make_chan(4);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(weft_loop_new(&loops[i], NULL), 0);
        CHECK_EQ(weft_loop_keep(loops[i]), 0);
        runners[i] = thread_start(run_loop, loops[i]);
    }
    for (int i = 0; i < SENDERS; i++)
        senders[i] = thread_start(send_until_closed, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < CHURNERS; i++)
        churners[i] = thread_start(churn, loops);
    for (int i = 0; i < CHURNERS; i++)
        CHECK_EQ(pthread_join(churners[i], &numbers[i]), 0);
    CHECK_EQ(weft_chan_close(shared_chan), 0);
    for (int i = 0; i < SENDERS; i++)
        thread_join(senders[i]);
    for (int i = 0; i < 2; i++) {
        weft_loop_unkeep(loops[i]);
        thread_join(runners[i]);
        weft_loop_unref(loops[i]);
    }
    while (weft_chan_recv(shared_chan, &number, WEFT_NOW) == 0)
        left += number;
    CHECK_EQ(atomic_load(&sum_told) + atomic_load(&sum_off) + left, atomic_load(&sum_sent));
    for (int i = 0; i < CHURNERS; i++)
        free(numbers[i]);
    weft_chan_free(shared_chan);
}

/* Shutdown while others send: what a source took is told, and the rest is in the channel or was refused. */
TEST(shutdown_amid_senders_loses_no_value) {
    long rounds = scaled(300, 40);
    for (long round = 0; round < rounds; round++) {
        pthread_t runner, senders[SENDERS];
        int number = 0, rest;
        long long left = 0;
        atomic_store(&sum_told, 0);
        atomic_store(&sum_sent, 0);
        shared_chan = make_chan(2);
        begin();
        CHECK_EQ(weft_loop_on(loop, NULL, weft_on_receive(shared_chan, &number), add_told, &number), 0);
        weft_loop_ref(loop);
        runner = thread_start(run_loop, loop);
        for (int i = 0; i < SENDERS; i++)
            senders[i] = thread_start(send_until_closed, (void *)(intptr_t)(i + 1));
        WAIT_UNTIL(atomic_load(&sum_told) > 100);
        CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
        thread_join(runner);
        CHECK_EQ(weft_chan_close(shared_chan), 0);
        for (int i = 0; i < SENDERS; i++)
            thread_join(senders[i]);
        while (weft_chan_recv(shared_chan, &rest, WEFT_NOW) == 0)
            left += rest;
        CHECK_EQ(atomic_load(&sum_told) + left, atomic_load(&sum_sent));
        weft_loop_unref(loop);
        weft_loop_unref(loop);
        weft_chan_free(shared_chan);
    }
}
