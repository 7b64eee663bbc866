/* SPDX-License-Identifier: MIT
 *
 * spec/loop_source_test.c - channels, events and all else that can be selected, as sources of a loop.
 *
 * Each law holds for a loop of a plain thread and for one of a fiber (both_ways). How sources end: loop_source_end_test.c.
 */
#include "spec/loop_source.h"

/* ---- Channels ---- */

struct sending {
    weft_chan *chan;
    int count;
};
static void *send_and_close(void *arg) {
    struct sending *sending = arg;
    for (int i = 0; i < sending->count; i++)
        CHECK_EQ(weft_chan_send(sending->chan, &i, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_close(sending->chan), 0);
    return NULL;
}
static int expected;
static int pipes;
static void in_order(int status, void *arg) {
    if (status == 0)
        CHECK_EQ(*(int *)arg, expected++);
    else
        pipes += status == -EPIPE;
}
static void receive_all(int capacity) {
    int number = -1;
    int count = (int)scaled(2000, 200);
    struct sending sending = {make_chan(capacity), count};
    struct on_thread_call call;
    expected = pipes = 0;
    begin();
    on_thread_start(&call, send_and_close, &sending);
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_receive(sending.chan, &number), in_order, &number), 0);
    run_to_end();
    CHECK_EQ(expected, count);
    CHECK_EQ(pipes, 1);
    on_thread_finish(&call);
    weft_chan_free(sending.chan);
}
static void receive_all_ways(void) {
    receive_all(0);
    receive_all(1);
    receive_all(64);
}
TEST(a_channel_is_received_in_order_and_its_end_is_told_once) {
    both_ways(receive_all_ways);
}

static void next_number(struct tale *tale) {
    tale->value++;
    if (tale->calls == 5)
        off_in_callback(tale);
}
static void send_some(void) {
    weft_chan *chan = make_chan(5);
    struct tale tale = {.value = 100, .then = next_number};
    int number;
    begin();
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_send(chan, &tale.value), told, &tale), 0);
    run_to_end();
    CHECK_EQ(tale.calls, 5);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_chan_recv(chan, &number, WEFT_NOW), 0);
        CHECK_EQ(number, 100 + i);
    }
    CHECK_EQ(weft_chan_recv(chan, &number, WEFT_NOW), -ETIMEDOUT);
    weft_chan_free(chan);
}
TEST(a_source_that_sends_sends_again_until_it_is_taken_back) {
    both_ways(send_some);
}

static void receive_once(void) {
    weft_chan *chan = make_chan(2);
    struct tale tale = {0};
    int number = 7;
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    begin();
    CHECK_EQ(weft_loop_once(loop, &tale.source, weft_on_receive(chan, &tale.value), told, &tale), 0);
    CHECK_EQ(weft_chan_len(chan), 1); /* the wish is carried out at once, the callback comes later */
    CHECK_EQ(tale.calls, 0);
    run_to_end();
    CHECK_EQ(tale.calls, 1);
    CHECK_EQ(tale.values[0], 7);
    CHECK_EQ(weft_chan_len(chan), 1);
    weft_chan_free(chan);
}
TEST(once_takes_one_value_and_no_more) {
    both_ways(receive_once);
}

static void closed_already(void) {
    weft_chan *chan = make_chan(0);
    struct tale receives = {0}, sends = {0};
    weft_chan_close(chan);
    begin();
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_receive(chan, &receives.value), told, &receives), 0);
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_send(chan, &sends.value), told, &sends), 0);
    run_to_end();
    CHECK_EQ(receives.calls, 1);
    CHECK_EQ(receives.last_status, -EPIPE);
    CHECK_EQ(sends.calls, 1);
    CHECK_EQ(sends.last_status, -EPIPE);
    weft_chan_free(chan);
}
TEST(a_channel_that_is_closed_already_is_told_too) {
    both_ways(closed_already);
}

static int micro_after; /* calls when the microtask ran */
static void note_calls(void *arg) {
    micro_after = ((struct tale *)arg)->calls;
}
static void add_microtask(struct tale *tale) {
    if (tale->calls == 1)
        CHECK_EQ(weft_loop_microtask(loop, note_calls, tale), 0);
}
static void one_callback_a_turn(void) {
    weft_chan *chan = make_chan(3);
    struct tale tale = {.then = add_microtask};
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_chan_send(chan, &i, WEFT_NOW), 0);
    begin();
    micro_after = 0;
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_receive(chan, &tale.value), told, &tale), 0);
    for (int i = 1; i <= 3; i++) {
        CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NOW), 1);
        CHECK_EQ(tale.calls, i);
        CHECK_EQ(tale.values[i - 1], i - 1);
    }
    CHECK_EQ(micro_after, 1);
    CHECK_EQ(weft_loop_off(loop, tale.source), 0);
    run_to_end();
    weft_chan_free(chan);
}
TEST(a_source_calls_at_most_once_a_turn_with_a_checkpoint_after_it) {
    both_ways(one_callback_a_turn);
}

/* A callback that sends to a channel which its own loop receives from: nobody waits for itself. */
static void feed_next(struct tale *tale) {
    int next = tale->values[tale->calls - 1] + 1;
    if (tale->calls < 5)
        CHECK_EQ(weft_chan_send(tale->chan, &next, WEFT_NOW), 0);
    else
        off_in_callback(tale);
}
static void send_first(void *arg) {
    int first = 10;
    CHECK_EQ(weft_chan_send(arg, &first, WEFT_NOW), 0);
}
static void feed_oneself(void) {
    struct tale tale = {.then = feed_next, .chan = make_chan(1)};
    begin();
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_receive(tale.chan, &tale.value), told, &tale), 0);
    CHECK_EQ(weft_loop_submit(loop, send_first, tale.chan), 0);
    run_to_end();
    CHECK_EQ(tale.calls, 5);
    CHECK_EQ(tale.values[4], 14);
    weft_chan_free(tale.chan);
}
TEST(a_callback_may_feed_a_source_of_its_own_loop) {
    both_ways(feed_oneself);
}

/* One loop sends by a source, another receives by one; whoever comes second serves the first. */
static struct {
    weft_loop *loops[2];
    weft_chan *chan;
    int out, in, count;
    int received;
    weft_source sender;
} line;
static void line_sent(int status, void *arg) {
    (void)arg;
    CHECK_EQ(status, 0);
    if (++line.out == line.count) {
        CHECK_EQ(weft_loop_off(line.loops[0], line.sender), 0);
        CHECK_EQ(weft_chan_close(line.chan), 0);
    }
}
static void line_received(int status, void *arg) {
    (void)arg;
    if (status == 0)
        CHECK_EQ(line.in, line.received++);
    else
        CHECK_EQ(status, -EPIPE);
}
static void *line_run(void *arg) {
    CHECK_EQ(weft_loop_run(arg, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    return NULL;
}
static void loop_to_loop(void) {
    line.out = line.received = 0;
    line.count = (int)scaled(1000, 100);
    line.chan = make_chan(0);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_loop_new(&line.loops[i], NULL), 0);
    CHECK_EQ(weft_loop_on(line.loops[0], &line.sender, weft_on_send(line.chan, &line.out), line_sent, NULL), 0);
    CHECK_EQ(weft_loop_on(line.loops[1], NULL, weft_on_receive(line.chan, &line.in), line_received, NULL), 0);
    struct on_thread_call call;
    on_thread_start(&call, line_run, line.loops[1]);
    line_run(line.loops[0]);
    on_thread_finish(&call);
    CHECK_EQ(line.received, line.count);
    for (int i = 0; i < 2; i++)
        weft_loop_unref(line.loops[i]);
    weft_chan_free(line.chan);
}
TEST(two_loops_hand_values_to_each_other) {
    both_ways(loop_to_loop);
}

/* ---- Everything else ---- */

static void *trigger_events(void *arg) {
    weft_event *events_of = arg;
    weft_events *events = *(weft_events **)(void *)&events_of[2];
    CHECK_EQ(weft_event_trigger(events, events_of[0]), 0);
    CHECK_EQ(weft_event_poison(events, events_of[1], 5, "spoilt"), 0);
    return NULL;
}
static void events_as_sources(void) {
    weft_events *events;
    weft_event_reason reason = {0};
    CHECK_EQ(weft_events_new(&events, NULL), 0);
    struct {
        weft_event list[2];
        weft_events *events;
    } both = {.events = events};
    struct tale good = {0}, bad = {0}, old = {0};
    for (int i = 0; i < 2; i++)
        CHECK_EQ(weft_event_new(events, &both.list[i], WEFT_NOW), 0);
    begin();
    CHECK_EQ(weft_loop_on(loop, &good.source, weft_on_event(events, both.list[0], NULL), told, &good), 0);
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_event(events, both.list[1], &reason), told, &bad), 0);
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_event(events, WEFT_NO_EVENT, NULL), told, &old), 0);
    struct on_thread_call call;
    on_thread_start(&call, trigger_events, &both);
    run_to_end();
    on_thread_finish(&call);
    CHECK_EQ(good.calls, 1);
    CHECK_EQ(good.last_status, 0);
    CHECK_EQ(bad.calls, 1);
    CHECK_EQ(bad.last_status, -ENOTRECOVERABLE);
    CHECK_TEXT(reason.text, "spoilt");
    CHECK_EQ(old.calls, 1);
    weft_events_free(events);
}
TEST(an_event_is_told_once_with_its_reason) {
    both_ways(events_as_sources);
}

static void *settle(void *arg) {
    weft_promise **promises = arg;
    CHECK_EQ(weft_promise_resolve(promises[0], &promises[0]), 0);
    CHECK_EQ(weft_promise_reject(promises[1], -EIO, "no luck"), 0);
    weft_promise_unref(promises[2]); /* nobody can settle it any more */
    return NULL;
}
static void promises_as_sources(void) {
    weft_promise *promises[3];
    weft_outcome outcomes[3] = {0};
    struct tale tales[3] = {0};
    begin();
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_promise_new(&promises[i]), 0);
        CHECK_EQ(weft_loop_on(loop, NULL, weft_on_promise(promises[i], &outcomes[i]), told, &tales[i]), 0);
    }
    struct on_thread_call call;
    on_thread_start(&call, settle, promises);
    run_to_end();
    on_thread_finish(&call);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(tales[i].calls, 1);
        CHECK_EQ(tales[i].last_status, 0);
    }
    CHECK_EQ(outcomes[0].state, WEFT_PROMISE_RESOLVED);
    CHECK(outcomes[0].value == &promises[0]);
    CHECK_EQ(outcomes[1].error, -EIO);
    CHECK_EQ(outcomes[2].error, -EPIPE);
    weft_promise_unref(promises[0]);
    weft_promise_unref(promises[1]);
}
TEST(a_promise_is_told_once_with_its_outcome) {
    both_ways(promises_as_sources);
}

/* Settling a promise posts to the loops of its followers while others put sources on it: neither waits for the other. */
static weft_promise *contested;
static atomic_int is_contested;
static weft_reply let_pass(void *value, void *arg) {
    (void)arg;
    return weft_reply_value(value);
}
static void *resolve_contested(void *arg) {
    (void)arg;
    WAIT_UNTIL(atomic_load(&is_contested));
    CHECK_EQ(weft_promise_resolve(contested, NULL), 0);
    return NULL;
}
static void source_against_follower(void) {
    long rounds = scaled(200, 20);
    begin();
    for (long i = 0; i < rounds; i++) {
        struct tale tale = {0};
        struct on_thread_call call;
        atomic_store(&is_contested, 0);
        CHECK_EQ(weft_promise_new(&contested), 0);
        for (int n = 0; n < 4; n++)
            CHECK_EQ(weft_loop_then(loop, contested, NULL, let_pass, NULL, NULL), 0);
        on_thread_start(&call, resolve_contested, NULL);
        atomic_store(&is_contested, 1);
        CHECK_EQ(weft_loop_on(loop, NULL, weft_on_promise(contested, NULL), told, &tale), 0);
        on_thread_finish(&call);
        while (tale.calls == 0)
            CHECK_GE(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NOW), 0);
        CHECK_EQ(tale.last_status, 0);
        weft_promise_unref(contested);
    }
    run_to_end();
}
TEST(a_promise_with_followers_of_the_same_loop_can_be_a_source) {
    both_ways(source_against_follower);
}

static void *release_three(void *semaphore) {
    for (int i = 0; i < 3; i++)
        weft_semaphore_release(semaphore, 1);
    return NULL;
}
static void off_at_three(struct tale *tale) {
    if (tale->calls == 3)
        off_in_callback(tale);
}
static void semaphore_as_source(void) {
    weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
    struct tale tale = {.then = off_at_three};
    begin();
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_semaphore(&semaphore), told, &tale), 0);
    struct on_thread_call call;
    on_thread_start(&call, release_three, &semaphore);
    run_to_end();
    on_thread_finish(&call);
    CHECK_EQ(tale.calls, 3);
    CHECK_EQ(weft_semaphore_permits(&semaphore), 0);
}
TEST(a_semaphore_is_taken_permit_by_permit) {
    both_ways(semaphore_as_source);
}

static void *acquire_one(void *semaphore) {
    CHECK_EQ(weft_semaphore_acquire(semaphore, 2, WEFT_NEVER), 0);
    return NULL;
}
static void leave_the_line(void) {
    weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
    struct tale tale = {0};
    begin();
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_semaphore(&semaphore), told, &tale), 0);
    weft_fiber behind = spawn_parked(acquire_one, &semaphore);
    weft_semaphore_release(&semaphore, 2); /* one for the source; the one behind wants two */
    CHECK_EQ(weft_loop_off(loop, tale.source), 1);
    weft_semaphore_release(&semaphore, 1);
    JOIN(behind, NULL);
    run_to_end();
    CHECK_EQ(tale.calls, 0);
    CHECK_EQ(weft_semaphore_permits(&semaphore), 0);
}
TEST(a_permit_that_was_taken_before_off_is_said_by_its_answer) {
    run_fibers(leave_the_line);
}

static void let_others_through(void) {
    weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
    struct tale first = {0};
    begin();
    weft_fiber behind = spawn_parked(acquire_one, &semaphore);
    CHECK_EQ(weft_loop_on(loop, &first.source, weft_on_semaphore(&semaphore), told, &first), 0);
    weft_semaphore_release(&semaphore, 1); /* not enough for the first in line, who holds up the source */
    CHECK_EQ(weft_loop_off(loop, first.source), 0);
    weft_semaphore_release(&semaphore, 1);
    JOIN(behind, NULL);
    run_to_end();
    CHECK_EQ(first.calls, 0);
}
TEST(a_source_that_leaves_a_semaphore_takes_nothing) {
    run_fibers(let_others_through);
}

static void stop_timer(struct tale *tale);
static weft_timer ticker;
static void timer_as_source(void) {
    uint64_t count = 0;
    struct tale tale = {.then = stop_timer};
    begin();
    CHECK_EQ(weft_timer_start(&ticker, weft_now(), WEFT_MILLISECOND, NULL, NULL), 0);
    CHECK_EQ(weft_loop_on(loop, &tale.source, weft_on_timer(ticker, &count), told, &tale), 0);
    run_to_end();
    CHECK_EQ(tale.calls, 4);
    CHECK_EQ(tale.last_status, -ESTALE);
    CHECK_GE(count, 1);
}
static void stop_timer(struct tale *tale) {
    if (tale->calls == 3)
        CHECK_GE(weft_timer_stop(ticker), 0);
}
static void *run_timer_loop(void *arg) {
    (void)arg;
    timer_as_source();
    return NULL;
}
static void timer_from_outside(void) {
    timer_as_source();
    on_thread(run_timer_loop, NULL);
}
TEST(a_timer_is_told_again_and_again_until_it_is_stopped) {
    run_fibers(timer_from_outside);
}

static void *give_back(void *arg) {
    weft_yield();
    return arg;
}
static void *panics(void *arg) {
    (void)arg;
    weft_yield();
    weft_panic("on purpose");
}
static weft_fiber ended[2];
static void ends_as_sources(void) {
    void *result = NULL;
    struct tale good = {0}, bad = {0};
    begin();
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_end(ended[0], &result), told, &good), 0);
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_end(ended[1], NULL), told, &bad), 0);
    run_to_end();
    CHECK_EQ(good.calls, 1);
    CHECK_EQ(good.last_status, 0);
    CHECK(result == &ended);
    CHECK_EQ(bad.calls, 1);
    CHECK_EQ(bad.last_status, -EOWNERDEAD);
    CHECK_EQ(weft_join(ended[0], NULL, WEFT_NOW), -ESTALE);
}
static void *run_ends_loop(void *arg) {
    (void)arg;
    ends_as_sources();
    return NULL;
}
static void ends_of_fibers(void) {
    for (int outside = 0; outside < 2; outside++) {
        SPAWN(&ended[0], give_back, &ended);
        SPAWN(&ended[1], panics, NULL);
        if (outside)
            on_thread(run_ends_loop, NULL);
        else
            ends_as_sources();
    }
}
TEST(the_end_of_a_fiber_is_told_with_its_result) {
    weft_options options = {.quiet = true};
    run_fibers_with(&options, ends_of_fibers);
}

static atomic_int may_answer;
static int answer(void *arg) {
    WAIT_UNTIL(atomic_load(&may_answer)); /* the pool forgets a work that is over */
    return *(int *)arg;
}
static void work_as_source(void) {
    int forty_two = 42;
    weft_pool *pool;
    weft_work work;
    weft_result result = {0};
    struct tale tale = {0};
    weft_pool_options options = {.threads = 1};
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    begin();
    atomic_store(&may_answer, 0);
    CHECK_EQ(weft_pool_submit(pool, &work, answer, &forty_two), 0);
    CHECK_EQ(weft_loop_on(loop, NULL, weft_on_work(pool, work, &result), told, &tale), 0);
    atomic_store(&may_answer, 1);
    run_to_end();
    CHECK_EQ(tale.calls, 1);
    CHECK_EQ(tale.last_status, 0);
    CHECK_EQ(result.code, 42);
    weft_pool_free(pool);
}
TEST(the_end_of_a_work_is_told_with_its_result) {
    both_ways(work_as_source);
}

/* ---- Refusals ---- */

static void refuse(void) {
    weft_chan *chan = make_chan(1);
    struct tale tale = {0};
    weft_case nothing = {0};
    int number = 1;
    weft_source kept = {99};
    begin();
    CHECK_EQ(weft_loop_on(NULL, &kept, weft_on_receive(chan, NULL), told, &tale), -EINVAL);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_receive(chan, NULL), NULL, &tale), -EINVAL);
    CHECK_EQ(weft_loop_on(loop, &kept, nothing, told, &tale), -EINVAL);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_receive(NULL, NULL), told, &tale), -EINVAL);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_send(chan, NULL), told, &tale), -EINVAL);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_promise(NULL, NULL), told, &tale), -EINVAL);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_semaphore(NULL), told, &tale), -EINVAL);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_event(NULL, WEFT_NO_EVENT, NULL), told, &tale), -EINVAL);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_end((weft_fiber){12345}, NULL), told, &tale), -ESTALE);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_timer((weft_timer){12345}, NULL), told, &tale), -ESTALE);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_time(weft_now()), told, &tale), -ENOTSUP);
    CHECK_EQ(weft_loop_once(loop, &kept, weft_on_time(weft_now()), told, &tale), -ENOTSUP);
    CHECK_EQ(kept.bits, 99);
    CHECK(!weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_off(NULL, kept), -EINVAL);
    CHECK_EQ(weft_loop_off(loop, kept), -ESTALE);
    CHECK_EQ(weft_loop_off(loop, (weft_source){0}), -ESTALE);
    CHECK_EQ(weft_loop_off(loop, (weft_source){UINT64_MAX}), -ESTALE);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
    CHECK_EQ(weft_loop_on(loop, &kept, weft_on_receive(chan, &tale.value), told, &tale), -EPIPE);
    CHECK_EQ(weft_chan_len(chan), 1); /* and nothing was taken for it */
    weft_loop_unref(loop);
    weft_chan_free(chan);
    CHECK_EQ(tale.calls, 0);
}
TEST(wrong_input_and_an_ended_loop_are_refused_and_nothing_is_taken) {
    both_ways(refuse);
}
