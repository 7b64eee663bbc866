/* SPDX-License-Identifier: MIT
 *
 * unit/loop/source_test.c - sources of a loop at the moments that matter.
 *
 * The window between an object that has served a source and the source's fire is held open by a hook in base/point.h, on a
 * plain thread; meanwhile a fiber takes the source back, or ends the loop, and is seen to wait. Then failing allocations.
 */
#include "base/point.h"
#include "loop/loop.h"
#include "os/fault.h"
#include "support/parked.h"
#include "weft/loop.h"

static weft_loop *loop;
static weft_chan *chan;
static weft_source source;
static int value;
static int calls;
static int last_status;

static void told(int status, void *arg) {
    (void)arg;
    calls++;
    last_status = status;
}
static void begin(int capacity) {
    calls = value = 0;
    CHECK_EQ(weft_loop_new(&loop, NULL), 0);
    CHECK_EQ(weft_chan_new(&chan, sizeof(int), capacity), 0);
}
static void finish(void) {
    weft_loop_unref(loop);
    weft_chan_free(chan);
}
static void receive(void) {
    CHECK_EQ(weft_loop_on(loop, &source, weft_on_receive(chan, &value), told, NULL), 0);
}

/* ---- The window ---- */

static _Atomic(const char *) window; /* the point whose first passing is held up; NULL: none */
static atomic_int is_inside, may_leave;

static void hold(const char *name) {
    const char *wanted = atomic_load(&window);
    if (!wanted || strcmp(name, wanted) != 0 || atomic_exchange(&is_inside, 1))
        return;
    while (!atomic_load(&may_leave))
        sched_yield();
}
static void *send_one(void *arg) {
    (void)arg;
    int number = 5;
    CHECK_EQ(weft_chan_send(chan, &number, WEFT_NEVER), 0);
    return NULL;
}
/* A thread that has handed something to the source and has not fired it yet. */
static void open_window(struct on_thread_call *call, const char *name, weft_fn fn, void *arg) {
    atomic_store(&is_inside, 0);
    atomic_store(&may_leave, 0);
    atomic_store(&window, name);
    on_thread_start(call, fn, arg);
    WAIT_UNTIL(atomic_load(&is_inside));
}
static void close_window(struct on_thread_call *call) {
    atomic_store(&may_leave, 1);
    on_thread_finish(call);
    atomic_store(&window, NULL);
}
/* The hook is set while nothing runs. */
static void run_with_windows(void (*body)(void)) {
    wf_point_hook = hold;
    run_fibers(body);
    wf_point_hook = NULL;
}

static void *take_back(void *arg) {
    (void)arg;
    return (void *)(intptr_t)weft_loop_off(loop, source);
}
static void *shut_down(void *arg) {
    (void)arg;
    return (void *)(intptr_t)weft_loop_shutdown(loop, WEFT_NEVER);
}
static void *shut_at_once(void *arg) {
    (void)arg;
    return (void *)(intptr_t)weft_loop_close(loop, WEFT_NEVER);
}
static int64_t result_of(weft_fiber fiber) {
    void *result = NULL;
    JOIN(fiber, &result);
    return (int64_t)(intptr_t)result;
}

static void off_in_the_window(const char *name) {
    struct on_thread_call sender;
    begin(0);
    receive();
    open_window(&sender, name, send_one, NULL);
    weft_fiber taker = spawn_parked(take_back, NULL);
    CHECK_EQ(weft_loop_off(loop, source), -ESTALE); /* it is taken back already, by another */
    close_window(&sender);
    CHECK_EQ(result_of(taker), 1);
    CHECK_EQ(value, 5);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK_EQ(calls, 0);
    finish();
}
static void off_in_both_windows(void) {
    off_in_the_window("wake.before_deliver");
    off_in_the_window("loop.before_source");
}
TEST(off_waits_for_a_value_that_is_on_its_way) {
    run_with_windows(off_in_both_windows);
}

static void *close_channel(void *arg) {
    (void)arg;
    CHECK_EQ(weft_chan_close(chan), 0);
    return NULL;
}
static void off_while_closed(void) {
    struct on_thread_call closer;
    begin(0);
    receive();
    open_window(&closer, "loop.before_source", close_channel, NULL);
    weft_fiber taker = spawn_parked(take_back, NULL);
    close_window(&closer);
    CHECK_EQ(result_of(taker), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK_EQ(calls, 0);
    finish();
}
TEST(off_says_that_nothing_was_taken_when_the_end_is_on_its_way) {
    run_with_windows(off_while_closed);
}

static weft_promise *promise;
static weft_outcome outcome;
static void *resolve(void *arg) {
    CHECK_EQ(weft_promise_resolve(promise, arg), 0);
    return NULL;
}
static void off_of_a_promise(void) {
    struct on_thread_call resolver;
    begin(0);
    outcome = (weft_outcome){0};
    CHECK_EQ(weft_promise_new(&promise), 0);
    CHECK_EQ(weft_loop_on(loop, &source, weft_on_promise(promise, &outcome), told, NULL), 0);
    open_window(&resolver, "wake.before_deliver", resolve, &outcome);
    weft_fiber taker = spawn_parked(take_back, NULL);
    CHECK_EQ(outcome.state, WEFT_PROMISE_PENDING); /* it is the fire that copies it */
    close_window(&resolver);
    CHECK_EQ(result_of(taker), 1);
    CHECK_EQ(outcome.state, WEFT_PROMISE_RESOLVED);
    CHECK(outcome.value == &outcome);
    weft_promise_unref(promise);
    finish();
}
TEST(what_was_taken_is_in_its_place_when_off_returns) {
    run_with_windows(off_of_a_promise);
}

static void shutdown_in_the_window(void) {
    struct on_thread_call sender;
    begin(0);
    receive();
    open_window(&sender, "loop.before_source", send_one, NULL);
    weft_fiber ender = spawn_parked(shut_down, NULL);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATING);
    close_window(&sender);
    CHECK_EQ(result_of(ender), 0);
    CHECK_EQ(calls, 1);
    CHECK_EQ(last_status, 0);
    CHECK_EQ(value, 5);
    finish();
}
TEST(shutdown_waits_for_a_value_that_is_on_its_way_and_tells_it) {
    run_with_windows(shutdown_in_the_window);
}

static void close_in_the_window(void) {
    struct on_thread_call sender;
    begin(0);
    receive();
    open_window(&sender, "loop.before_source", send_one, NULL);
    weft_fiber ender = spawn_parked(shut_at_once, NULL);
    close_window(&sender);
    CHECK_EQ(result_of(ender), 0);
    CHECK_EQ(calls, 0);
    finish();
}
TEST(close_waits_for_a_fire_that_is_on_its_way_and_calls_nobody) {
    run_with_windows(close_in_the_window);
}

static void off_and_shutdown_in_the_window(void) {
    struct on_thread_call sender;
    begin(0);
    receive();
    open_window(&sender, "loop.before_source", send_one, NULL);
    weft_fiber taker = spawn_parked(take_back, NULL);
    weft_fiber ender = spawn_parked(shut_down, NULL);
    close_window(&sender);
    CHECK_EQ(result_of(taker), 1);
    CHECK_EQ(result_of(ender), 0);
    CHECK_EQ(calls, 0);
    finish();
}
TEST(off_and_shutdown_wait_for_the_same_fire) {
    run_with_windows(off_and_shutdown_in_the_window);
}

/* ---- A callback that is running ---- */

static void *off_from_thread(void *arg) {
    *(int *)arg = weft_loop_off(loop, source);
    return NULL;
}
static void told_and_taken_back(int status, void *arg) {
    told(status, NULL);
    on_thread(off_from_thread, arg);
}
static void off_while_running(void) {
    int answer = -1;
    begin(3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_chan_send(chan, &i, WEFT_NOW), 0);
    CHECK_EQ(weft_loop_on(loop, &source, weft_on_receive(chan, &value), told_and_taken_back, &answer), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK_EQ(answer, 0);
    CHECK_EQ(calls, 1);
    CHECK_EQ(weft_chan_len(chan), 2);
    finish();
}
TEST(a_source_taken_back_by_a_thread_while_its_callback_runs_takes_no_more) {
    off_while_running();
    run_fibers(off_while_running);
}

/* ---- Memory ---- */

TEST(without_memory_there_is_no_source_and_nothing_is_taken) {
    for (long nth = 1;; nth++) {
        int number = 5;
        begin(1);
        CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
        source.bits = 99;
        wf_fault_order_here(WF_CALL_ALLOC, nth, ENOMEM, 0);
        int status = weft_loop_on(loop, &source, weft_on_receive(chan, &value), told, NULL);
        long hits = wf_fault_hits();
        wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
        CHECK_EQ(status, hits ? -ENOMEM : 0);
        CHECK_EQ(weft_chan_len(chan), hits ? 1 : 0);
        CHECK_EQ(source.bits == 99, hits != 0);
        CHECK_EQ(loop->sourced, hits ? 0 : 1);
        finish();
        if (!hits)
            break;
        CHECK_LE(nth, 10);
    }
}

/* Posting needs none: sources go on when there is no memory at all. */
TEST(a_source_that_is_on_needs_no_more_memory) {
    int number = 5;
    begin(1);
    receive();
    wf_fault_order_here(WF_CALL_ALLOC, 1, ENOMEM, 1);
    for (int i = 1; i <= 100; i++) {
        CHECK_EQ(weft_chan_send(chan, &number, WEFT_NOW), 0);
        CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NOW), 1);
        CHECK_EQ(calls, i);
    }
    CHECK_EQ(weft_loop_off(loop, source), 0);
    CHECK_EQ(wf_fault_hits(), 0);
    wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
    finish();
}

TEST(places_of_sources_are_used_again) {
    begin(0);
    for (int i = 0; i < 10 * WF_SLAB_CHUNK; i++) {
        receive();
        CHECK_EQ(weft_loop_off(loop, source), 0);
    }
    CHECK_EQ(loop->sources.chunk_count, 1);
    CHECK_EQ(loop->sources.used, 0);
    CHECK_EQ(loop->sourced, 0);
    finish();
}
