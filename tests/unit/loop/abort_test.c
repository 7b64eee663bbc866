/* SPDX-License-Identifier: MIT
 *
 * unit/loop/abort_test.c - signals, targets and timings where it is hard: no memory, and steps of others in between.
 *
 * The harness checks after each test that no block is left. Interleavings are forced: a point calls the other side's step.
 */
#include "loop/abort.h"

#include "base/point.h"
#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/parked.h"
#include "support/run.h"
#include "support/signals.h"
#include "weft/performance.h"
#include "weft/target.h"

static int calls;

static void count_call(weft_abort_signal *signal, void *arg) {
    CHECK(weft_abort_is_aborted(signal));
    (void)arg;
    calls++;
}

/* Step of somebody else at a point, once. */
static struct {
    const char *point;
    int skip;                     /* so many times */
    _Atomic(void (*)(void)) step; /* other threads pass points, too */
} between;

static void at_point(const char *name) {
    void (*step)(void) = atomic_load(&between.step);
    if (!step || strcmp(name, between.point) != 0 || between.skip-- > 0)
        return;
    atomic_store(&between.step, NULL);
    step();
}

static void step_at(const char *point, int skip, void (*step)(void)) {
    between.point = point;
    between.skip = skip;
    atomic_store(&between.step, step);
    wf_point_hook = at_point;
}

static void step_was_made(void) {
    wf_point_hook = NULL;
    CHECK(atomic_load(&between.step) == NULL);
}

static weft_abort_signal *shared[3];

static void fire_first(void) {
    CHECK_EQ(weft_abort_fire(shared[0], NULL), 0);
}

static void fire_second(void) {
    CHECK_EQ(weft_abort_fire(shared[1], NULL), 0);
}

/* No memory. */

typedef int attempt_fn(void);

/* Each allocation fails in turn, with -ENOMEM and nothing left behind, until none does. */
static void sweep(attempt_fn *attempt, int least) {
    for (int nth = 1;; nth++) {
        int64_t blocks = wf_os_live_blocks();
        wf_fault_order_here(WF_CALL_ALLOC, nth, ENOMEM, 0);
        int status = attempt();
        long hits = wf_fault_hits();
        wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
        CHECK_EQ(wf_os_live_blocks(), blocks);
        if (!hits) {
            CHECK_EQ(status, 0);
            CHECK_GE(nth, least);
            return;
        }
        CHECK_EQ(status, -ENOMEM);
    }
}

static int try_new(void) {
    weft_abort_signal *signal;
    int status = weft_abort_new(&signal);
    if (!status)
        weft_abort_unref(signal);
    return status;
}

static int try_any(void) {
    weft_abort_signal *inputs[] = {shared[0], shared[1], shared[2]};
    weft_abort_signal *signal;
    int status = weft_abort_any(&signal, inputs, 3);
    if (!status)
        weft_abort_unref(signal);
    return status;
}

static int try_on(void) {
    weft_abort_signal *signal = shared[0];
    weft_abort_handler handlers[9];
    int count = 0;
    int status = 0;
    while (count < 9 && !status) {
        status = weft_abort_on(signal, &handlers[count], count_call, NULL);
        count += !status;
    }
    for (int i = 0; i < count; i++)
        CHECK_EQ(weft_abort_off(signal, handlers[i]), 0);
    return status;
}

static void timeouts_without_memory(void) {
    weft_abort_signal *signal;
    weft_loop *loop = make_loop();
    for (int nth = 1; nth <= 2; nth++) {
        wf_fault_order_here(WF_CALL_ALLOC, nth, ENOMEM, 0);
        CHECK_EQ(weft_abort_timeout(loop, &signal, 0), -ENOMEM);
    }
    wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(weft_abort_timeout(loop, &signal, 0), 0);
    weft_abort_unref(signal);
    weft_loop_unref(loop);
}

TEST(signals_without_memory) {
    shared[0] = make();
    shared[1] = make();
    shared[2] = any_of(shared[0], shared[1]);
    sweep(try_new, 2);
    sweep(try_any, 4);
    timeouts_without_memory();
    weft_abort_signal *kept = shared[0];
    shared[0] = make();
    int64_t blocks = wf_os_live_blocks();
    wf_fault_order_here(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(try_on(), -ENOMEM);
    wf_fault_order_here(WF_CALL_ALLOC, 2, ENOMEM, 0);
    CHECK_EQ(try_on(), -ENOMEM); /* when it grows; the first four were taken */
    wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(try_on(), 0);
    CHECK_EQ(wf_os_live_blocks(), blocks + 1);
    weft_abort_unref(shared[0]);
    weft_abort_unref(kept);
    weft_abort_unref(shared[1]);
    weft_abort_unref(shared[2]);
}

static int scope_body(weft_scope *scope, void *arg) {
    (void)scope;
    (void)arg;
    return 0;
}

static void scopes_without_memory(void) {
    weft_abort_signal *signal = make();
    wf_fault_order_here(WF_CALL_ALLOC, 2, ENOMEM, 0); /* the first is the scope's */
    CHECK_EQ(weft_abort_scope(signal, NULL, scope_body, NULL), -ENOMEM);
    wf_fault_order_here(WF_CALL_ALLOC, 3, ENOMEM, 0);
    CHECK_EQ(weft_abort_scope(signal, NULL, scope_body, NULL), -ENOMEM);
    wf_fault_order_here(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(weft_abort_scope(signal, NULL, scope_body, NULL), 0);
    weft_abort_unref(signal);
}

TEST(scopes_of_signals_without_memory) {
    weft_options options = {.workers = 1};
    run_fibers_with(&options, scopes_without_memory);
}

static void hear(weft_target_event *event, void *arg) {
    (void)event;
    (void)arg;
    calls++;
}

static int try_target(void) {
    weft_target target = {0};
    weft_abort_signal *signal = NULL;
    int status = weft_abort_new(&signal);
    weft_target_options options = {.signal = signal};
    if (!status)
        status = weft_target_add(&target, "x", hear, NULL, &options);
    if (status)
        CHECK_EQ(weft_target_count(&target, NULL), 0);
    weft_target_term(&target);
    weft_abort_unref(signal);
    return status;
}

TEST(targets_without_memory) {
    sweep(try_target, 5);
}

static int try_timing(void) {
    weft_performance *timing;
    weft_performance_entry *list;
    int status = weft_performance_new(&timing, NULL);
    if (status)
        return status;
    for (int i = 0; i < 17 && !status; i++)
        status = weft_performance_mark(timing, "a", NULL, NULL);
    if (!status)
        status = weft_performance_measure(timing, "m", NULL, NULL);
    if (!status) {
        int count = weft_performance_get_entries(timing, WEFT_PERFORMANCE_ALL, NULL, &list);
        status = count < 0 ? count : 0;
        if (!status)
            weft_performance_free_entries(list);
    }
    weft_performance_free(timing);
    return status;
}

TEST(timings_without_memory) {
    sweep(try_timing, 23);
}

/* Steps in between. */

TEST(a_root_that_is_aborted_while_it_is_linked_decides) {
    for (int link = 0; link < 3; link++) {
        shared[0] = make();
        shared[1] = make();
        step_at("abort.before_link", link == 2 ? 1 : 0, link ? fire_first : fire_second);
        weft_abort_signal *any = any_of(shared[0], shared[1]);
        step_was_made();
        CHECK_EQ(weft_abort_check(any), -ECANCELED);
        calls = 0;
        CHECK_EQ(weft_abort_on(any, NULL, count_call, NULL), 0);
        CHECK_EQ(calls, 1);
        for (int i = 0; i < 2; i++) {
            CHECK(wf_list_is_empty(&shared[i]->followers)); /* it follows nobody any more */
            weft_abort_unref(shared[i]);
        }
        weft_abort_unref(any);
    }
}

TEST(both_roots_are_aborted_while_they_are_linked) {
    shared[0] = make();
    shared[1] = make();
    weft_abort_signal *nested = any_of(shared[0], shared[1]);
    step_at("abort.before_link", 1, fire_first);
    weft_abort_signal *any = any_of(nested, NULL);
    step_was_made();
    CHECK_EQ(weft_abort_fire(shared[1], NULL), 0);
    CHECK_EQ(weft_abort_check(any), -ECANCELED);
    CHECK(wf_list_is_empty(&shared[0]->followers));
    CHECK(wf_list_is_empty(&shared[1]->followers));
    weft_abort_unref(nested);
    weft_abort_unref(any);
    weft_abort_unref(shared[0]);
    weft_abort_unref(shared[1]);
}

TEST(a_derived_signal_detaches_from_its_other_roots_when_it_is_aborted) {
    shared[0] = make();
    shared[1] = make();
    weft_abort_signal *any = any_of(shared[0], shared[1]);
    CHECK(!wf_list_is_empty(&shared[1]->followers));
    CHECK_EQ(wf_load_relaxed(&shared[1]->references), 2);
    CHECK_EQ(weft_abort_fire(shared[0], NULL), 0);
    CHECK(wf_list_is_empty(&shared[1]->followers));
    CHECK_EQ(wf_load_relaxed(&shared[1]->references), 1);
    weft_abort_unref(any);
    weft_abort_unref(shared[0]);
    weft_abort_unref(shared[1]);
}

TEST(any_links_each_root_once) {
    shared[0] = make();
    shared[1] = make();
    weft_abort_signal *nested = any_of(shared[1], shared[0]);
    weft_abort_signal *inputs[] = {shared[0], nested, shared[1], shared[0], nested};
    weft_abort_signal *any;
    CHECK_EQ(weft_abort_any(&any, inputs, 5), 0);
    CHECK_EQ(any->link_count, 2);
    weft_abort_unref(nested);
    CHECK_EQ(wf_load_relaxed(&shared[0]->references), 2);
    weft_abort_unref(any);
    weft_abort_unref(shared[0]);
    weft_abort_unref(shared[1]);
}

TEST(an_input_that_is_aborted_while_its_roots_are_looked_up_decides) {
    shared[0] = make();
    shared[1] = make();
    weft_abort_signal *input = any_of(shared[0], shared[1]);
    step_at("abort.before_roots", 0, fire_second);
    weft_abort_signal *any = any_of(input, NULL);
    step_was_made();
    CHECK_EQ(weft_abort_check(any), -ECANCELED);
    CHECK(any->origin == shared[1]);
    weft_abort_unref(input);
    weft_abort_unref(any);
    weft_abort_unref(shared[0]);
    weft_abort_unref(shared[1]);
}

TEST(a_timer_that_has_started_finds_the_signal_aborted_by_hand) {
    weft_abort_signal *signal;
    weft_loop *loop = make_loop();
    CHECK_EQ(weft_abort_timeout(loop, &signal, 0), 0);
    shared[0] = signal;
    calls = 0;
    CHECK_EQ(weft_abort_on(signal, NULL, count_call, NULL), 0);
    weft_loop_advance(loop, 1);
    step_at("loop.before_timer", 0, fire_first); /* the timer is out of the heap: it cannot be cleared any more */
    weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    step_was_made();
    CHECK_EQ(weft_abort_check(signal), -ECANCELED);
    CHECK_EQ(calls, 1);
    weft_abort_unref(signal);

    CHECK_EQ(weft_abort_timeout(loop, &shared[0], 0), 0);
    weft_loop_advance(loop, 1);
    step_at("abort.before_expire", 0, fire_first);
    weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    step_was_made();
    CHECK_EQ(weft_abort_check(shared[0]), -ECANCELED);
    CHECK(shared[0]->loop == NULL); /* which may go before the signal */
    weft_abort_unref(shared[0]);
    weft_loop_unref(loop);
}

static void give_back_first(void) {
    weft_abort_unref(shared[0]);
}

TEST(the_last_reference_of_a_timeout_goes_when_its_timer_has_started) {
    weft_loop *loop = make_loop();
    CHECK_EQ(weft_abort_timeout(loop, &shared[0], 0), 0);
    weft_loop_advance(loop, 1);
    step_at("loop.before_timer", 0, give_back_first);
    weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    step_was_made();
    weft_loop_unref(loop);
}

static atomic_int at_followers;
static pthread_t other_thread;

static void *unref_main(void *opaque) {
    atomic_store(&at_followers, 1);
    weft_abort_unref(opaque);
    return NULL;
}

/* The thread goes as far as the root's relations, which the one that aborts holds, or not so far: each is fine. */
static void begin_unref(void) {
    other_thread = thread_start(unref_main, shared[1]);
    while (!atomic_load(&at_followers) || wf_load_relaxed(&shared[1]->references) != 0)
        sched_yield();
}

TEST(a_derived_signal_without_references_is_left_alone_by_its_root) {
    shared[0] = make();
    shared[1] = any_of(shared[0], NULL);
    atomic_store(&at_followers, 0);
    calls = 0;
    CHECK_EQ(weft_abort_on(shared[1], NULL, count_call, NULL), 0);
    step_at("abort.before_followers", 0, begin_unref);
    CHECK_EQ(weft_abort_fire(shared[0], NULL), 0);
    step_was_made();
    thread_join(other_thread);
    CHECK_EQ(calls, 0);
    weft_abort_unref(shared[0]);
}

static void register_late(void) {
    CHECK_EQ(weft_abort_on(shared[0], NULL, count_call, NULL), 0);
}

TEST(a_handler_that_comes_after_the_last_but_before_the_end_is_called) {
    shared[0] = make();
    calls = 0;
    CHECK_EQ(weft_abort_on(shared[0], NULL, count_call, NULL), 0);
    step_at("abort.before_handler", 1, register_late);
    CHECK_EQ(weft_abort_fire(shared[0], NULL), 0);
    step_was_made();
    CHECK_EQ(calls, 2);
    weft_abort_unref(shared[0]);
}

TEST(a_signal_that_is_aborted_while_its_listener_is_put_there_keeps_it_out) {
    weft_target target = {0};
    shared[0] = make();
    weft_target_options options = {.signal = shared[0]};
    step_at("target.before_put", 0, fire_first);
    CHECK_EQ(weft_target_add(&target, "x", hear, NULL, &options), -ECANCELED);
    step_was_made();
    CHECK_EQ(weft_target_count(&target, NULL), 0);
    weft_target_term(&target);
    weft_abort_unref(shared[0]);
}

static weft_target *shared_target;

static void remove_listener(void) {
    CHECK_EQ(weft_target_remove(shared_target, "x", hear, NULL, false), 0);
}

static void add_listener(void) {
    CHECK_EQ(weft_target_add(shared_target, "x", hear, shared_target, NULL), 0);
}

TEST(a_listener_that_is_removed_before_its_claim_is_not_called) {
    weft_target target = {0};
    weft_target_event event = {.type = "x"};
    shared_target = &target;
    CHECK_EQ(weft_target_add(&target, "x", hear, NULL, NULL), 0);
    calls = 0;
    step_at("target.before_claim", 1, remove_listener); /* 0 is that of the pass with capture */
    CHECK_EQ(weft_target_dispatch(&target, &event), 1);
    step_was_made();
    CHECK_EQ(calls, 0);
    weft_target_term(&target);
}

TEST(two_that_make_the_board_of_a_target_agree_on_one) {
    weft_target target = {0};
    shared_target = &target;
    step_at("target.before_board", 0, add_listener);
    CHECK_EQ(weft_target_add(&target, "x", hear, NULL, NULL), 0);
    step_was_made();
    CHECK_EQ(weft_target_count(&target, "x"), 2);
    weft_target_term(&target);
}

static void *wait_for_it(void *signal) {
    weft_abort_wait(signal, NULL, WEFT_NEVER);
    return NULL;
}

static void give_back_what_is_waited_for(void) {
    weft_abort_signal *signal = make();
    weft_fiber fiber;
    SPAWN(&fiber, wait_for_it, signal);
    wait_parked(fiber);
    weft_abort_unref(signal);
}

static void run_the_break(void *arg) {
    (void)arg;
    run_fibers(give_back_what_is_waited_for);
}

TEST(giving_back_the_last_reference_while_somebody_waits_is_fatal) {
    struct child_end end = child_run(run_the_break, NULL);
    CHECK(child_was_aborted(&end));
    CHECK(strstr(end.text, "abort signal was given back while somebody waits") != NULL);
}

static int drop_body(weft_scope *scope, void *arg) {
    (void)scope;
    atomic_store((atomic_int *)arg, 1);
    weft_sleep(WEFT_NEVER);
    return 0;
}

static atomic_int drop_started;

static void *drop_main(void *signal) {
    weft_abort_scope(signal, NULL, drop_body, &drop_started);
    return NULL;
}

static int leave_it_waiting(void *signal) {
    CHECK_EQ(weft_go(drop_main, signal), 0);
    WAIT_UNTIL(atomic_load(&drop_started));
    return 0;
}

TEST(a_scope_that_is_dropped_with_its_runtime_is_not_touched_by_its_signal) {
    weft_abort_signal *signal = make();
    weft_options options = {.abandon = true};
    atomic_store(&drop_started, 0);
    CHECK_EQ(weft_run(&options, leave_it_waiting, signal), 0);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    CHECK_EQ(wf_load_relaxed(&signal->references), 1);
    weft_abort_unref(signal);
}

/* The handler has started when the scope ends, and gets on only when that is over. */
static atomic_int may_end;
static atomic_int has_ended;

static int wait_body(weft_scope *scope, void *arg) {
    (void)scope;
    (void)arg;
    WAIT_UNTIL(atomic_load(&may_end));
    return 3;
}

static void end_the_scope(void) {
    atomic_store(&may_end, 1);
    while (!atomic_load(&has_ended))
        sched_yield();
}

static void *fire_main(void *signal) {
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    return NULL;
}

static int fire_body(weft_scope *scope, void *arg) {
    other_thread = thread_start(fire_main, shared[0]);
    return wait_body(scope, arg);
}

static void scope_ends_first(void) {
    CHECK_EQ(weft_abort_scope(shared[0], NULL, fire_body, NULL), 3);
    atomic_store(&has_ended, 1);
}

TEST(a_scope_that_ends_while_the_handler_begins_is_not_touched) {
    shared[0] = make();
    atomic_store(&may_end, 0);
    atomic_store(&has_ended, 0);
    step_at("abort.before_tie", 0, end_the_scope);
    run_fibers(scope_ends_first);
    thread_join(other_thread);
    step_was_made();
    weft_abort_unref(shared[0]);
}
