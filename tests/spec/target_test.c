/* SPDX-License-Identifier: MIT
 *
 * spec/target_test.c - targets: the order of listeners, options, removal, canceling, stopping, failures, threads.
 *
 * Listeners write their letter into a trace.
 */
#include "weft/target.h"

#include "support/quiet.h"
#include "support/run.h"
#include "support/trace.h"

static void note(weft_target_event *event, void *arg) {
    CHECK_EQ(event->phase, WEFT_TARGET_AT_TARGET);
    CHECK(event->current_target == event->target);
    trace_add((char)(intptr_t)arg);
}

static void add(weft_target *target, char letter) {
    CHECK_EQ(weft_target_add(target, "x", note, LETTER(letter), NULL), 0);
}

static void add_capture(weft_target *target, weft_target_fn fn, char letter) {
    weft_target_options options = {.capture = true};
    CHECK_EQ(weft_target_add(target, "x", fn, LETTER(letter), &options), 0);
}

static int dispatch(weft_target *target) {
    weft_target_event event = {.type = "x", .cancelable = true};
    trace[0] = 0;
    return weft_target_dispatch(target, &event);
}

static weft_target static_target; /* all zero, and WEFT_TARGET_INIT says the same */

TEST(a_target_of_zeros_is_ready) {
    weft_target target = WEFT_TARGET_INIT;
    CHECK_EQ(dispatch(&static_target), 1);
    CHECK_EQ(dispatch(&target), 1);
    CHECK_EQ(weft_target_count(&target, NULL), 0);
    CHECK_EQ(weft_target_remove(&target, "x", note, NULL, false), -ENOENT);
    add(&static_target, 'a');
    CHECK_EQ(dispatch(&static_target), 1);
    CHECK_TEXT(trace, "a");
    weft_target_term(&static_target);
    weft_target_term(&target);
    add(&static_target, 'b'); /* as new */
    dispatch(&static_target);
    CHECK_TEXT(trace, "b");
    weft_target_term(&static_target);
    CHECK_EQ(weft_target_count(&static_target, NULL), 0);
}

TEST(listeners_of_the_type_are_called_in_order_those_with_capture_first) {
    weft_target target = {0};
    char type[] = "other"; /* is copied */
    add(&target, 'a');
    CHECK_EQ(weft_target_add(&target, type, note, LETTER('o'), NULL), 0);
    type[0] = 'x';
    add_capture(&target, note, 'C');
    add(&target, 'b');
    add_capture(&target, note, 'D');
    dispatch(&target);
    CHECK_TEXT(trace, "CDab");
    CHECK_EQ(weft_target_count(&target, "x"), 4);
    CHECK_EQ(weft_target_count(&target, "other"), 1);
    CHECK_EQ(weft_target_count(&target, "xther"), 0);
    CHECK_EQ(weft_target_count(&target, NULL), 5);
    weft_target_term(&target);
}

TEST(the_same_listener_is_added_once) {
    weft_target_options capture = {.capture = true, .once = true};
    weft_target_options once = {.once = true};
    weft_target target = {0};
    add(&target, 'a');
    add(&target, 'b');
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('a'), NULL), -EEXIST);
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('a'), &once), -EEXIST); /* and stays as it was */
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('a'), &capture), 0);
    CHECK_EQ(weft_target_add(&target, "y", note, LETTER('a'), NULL), 0);
    dispatch(&target);
    CHECK_TEXT(trace, "aab");
    dispatch(&target);
    CHECK_TEXT(trace, "ab");
    weft_target_term(&target);
}

TEST(removal_needs_the_same_type_function_argument_and_capture) {
    weft_target target = {0};
    add(&target, 'a');
    CHECK_EQ(weft_target_remove(&target, "y", note, LETTER('a'), false), -ENOENT);
    CHECK_EQ(weft_target_remove(&target, "x", note, LETTER('b'), false), -ENOENT);
    CHECK_EQ(weft_target_remove(&target, "x", note, LETTER('a'), true), -ENOENT);
    CHECK_EQ(weft_target_remove(&target, "x", note, LETTER('a'), false), 0);
    CHECK_EQ(weft_target_remove(&target, "x", note, LETTER('a'), false), -ENOENT);
    dispatch(&target);
    CHECK_TEXT(trace, "");
    weft_target_term(&target);
}

static void add_more(weft_target_event *event, void *arg) {
    weft_target *target = event->current_target;
    note(event, arg);
    (void)weft_target_add(target, "x", note, LETTER('n'), NULL);
    weft_target_options capture = {.capture = true};
    (void)weft_target_add(target, "x", note, LETTER('N'), &capture);
}

TEST(a_listener_added_meanwhile_waits_for_the_next_event) {
    weft_target target = {0};
    CHECK_EQ(weft_target_add(&target, "x", add_more, LETTER('a'), NULL), 0);
    add(&target, 'b');
    dispatch(&target);
    CHECK_TEXT(trace, "ab");
    dispatch(&target);
    CHECK_TEXT(trace, "Nabn");
    weft_target_term(&target);
}

/* As the DOM has it: the pass without capture looks at the list anew. */
TEST(one_without_capture_added_by_one_with_is_called) {
    weft_target target = {0};
    add_capture(&target, add_more, 'A');
    dispatch(&target);
    CHECK_TEXT(trace, "An");
    weft_target_term(&target);
}

static void remove_next(weft_target_event *event, void *arg) {
    note(event, arg);
    CHECK_EQ(weft_target_remove(event->target, "x", note, LETTER('b'), false), 0);
    (void)weft_target_remove(event->target, "x", remove_next, arg, false); /* itself */
}

TEST(removal_counts_until_the_call_begins) {
    weft_target target = {0};
    CHECK_EQ(weft_target_add(&target, "x", remove_next, LETTER('a'), NULL), 0);
    add(&target, 'b');
    add(&target, 'c');
    dispatch(&target);
    CHECK_TEXT(trace, "ac");
    dispatch(&target);
    CHECK_TEXT(trace, "c");
    weft_target_term(&target);
}

static void remove_and_add_again(weft_target_event *event, void *arg) {
    note(event, arg);
    CHECK_EQ(weft_target_remove(event->target, "x", note, LETTER('b'), false), 0);
    add(event->target, 'b');
}

TEST(one_that_is_removed_and_added_again_is_a_new_one) {
    weft_target target = {0};
    CHECK_EQ(weft_target_add(&target, "x", remove_and_add_again, LETTER('a'), NULL), 0);
    add(&target, 'b');
    add(&target, 'c');
    dispatch(&target);
    CHECK_TEXT(trace, "ac");
    weft_target_term(&target);
}

static void dispatch_inside(weft_target_event *event, void *arg) {
    note(event, arg);
    if (strlen(trace) < 4) {
        weft_target_event inner = {.type = "x"};
        CHECK_EQ(weft_target_dispatch(event->target, &inner), 1);
    }
    CHECK_EQ(weft_target_dispatch(event->target, event), -EBUSY);
}

TEST(once_is_claimed_before_the_call) {
    weft_target target = {0};
    weft_target_options once = {.once = true};
    CHECK_EQ(weft_target_add(&target, "x", dispatch_inside, LETTER('o'), &once), 0);
    add(&target, 'b');
    dispatch(&target); /* the inner one does not find it any more */
    CHECK_TEXT(trace, "obb");
    CHECK_EQ(weft_target_count(&target, "x"), 1);
    weft_target_term(&target);
}

TEST(an_event_that_is_being_dispatched_is_busy_others_nest) {
    weft_target target = {0};
    CHECK_EQ(weft_target_add(&target, "x", dispatch_inside, LETTER('i'), NULL), 0);
    dispatch(&target);
    CHECK_TEXT(trace, "iiii");
    weft_target_term(&target);
}

static void prevent(weft_target_event *event, void *arg) {
    note(event, arg);
    weft_target_prevent_default(event);
}

TEST(prevent_default_cancels_what_is_cancelable_and_stays) {
    weft_target target = {0};
    weft_target_event event = {.type = "x", .cancelable = true};
    weft_target_event fixed = {.type = "x"};
    trace[0] = 0;
    CHECK_EQ(weft_target_add(&target, "x", prevent, LETTER('p'), NULL), 0);
    CHECK_EQ(weft_target_dispatch(&target, &fixed), 1);
    CHECK(!weft_target_is_canceled(&fixed));
    CHECK(!weft_target_is_canceled(&event));
    CHECK_EQ(weft_target_dispatch(&target, &event), 0);
    CHECK(weft_target_is_canceled(&event));
    weft_target_term(&target);
    CHECK_EQ(weft_target_dispatch(&target, &event), 0); /* canceled for good */
}

TEST(a_passive_listener_cannot_prevent_the_default) {
    weft_target target = {0};
    weft_target_options passive = {.passive = true};
    CHECK_EQ(weft_target_add(&target, "x", prevent, LETTER('p'), &passive), 0);
    CHECK_EQ(dispatch(&target), 1);
    CHECK_EQ(weft_target_add(&target, "x", prevent, LETTER('q'), NULL), 0);
    CHECK_EQ(dispatch(&target), 0);
    CHECK_TEXT(trace, "pq");
    weft_target_term(&target);
}

static void stop(weft_target_event *event, void *arg) {
    note(event, arg);
    weft_target_stop_propagation(event);
}

static void stop_now(weft_target_event *event, void *arg) {
    note(event, arg);
    weft_target_stop_immediate_propagation(event);
}

TEST(stopping_the_propagation_spares_the_present_pass) {
    weft_target target = {0};
    add_capture(&target, stop, 'S');
    add_capture(&target, note, 'T');
    add(&target, 'a');
    dispatch(&target);
    CHECK_TEXT(trace, "ST");
    weft_target_term(&target);
    CHECK_EQ(weft_target_add(&target, "x", stop, LETTER('s'), NULL), 0);
    add(&target, 'a');
    dispatch(&target);
    CHECK_TEXT(trace, "sa");
    weft_target_term(&target);
}

TEST(stopping_at_once_ends_it_and_lasts_until_the_dispatch_ends) {
    weft_target target = {0};
    weft_target_event event = {.type = "x"};
    CHECK_EQ(weft_target_add(&target, "x", stop_now, LETTER('s'), NULL), 0);
    add(&target, 'a');
    trace[0] = 0;
    CHECK_EQ(weft_target_dispatch(&target, &event), 1);
    CHECK_EQ(weft_target_dispatch(&target, &event), 1);
    CHECK_TEXT(trace, "ss");
    weft_target_stop_propagation(&event); /* before: nobody is called, this time */
    CHECK_EQ(weft_target_dispatch(&target, &event), 1);
    CHECK_TEXT(trace, "ss");
    CHECK_EQ(weft_target_dispatch(&target, &event), 1);
    CHECK_TEXT(trace, "sss");
    weft_target_term(&target);
}

static void look(weft_target_event *event, void *arg) {
    CHECK(event->detail == arg);
    CHECK(event->bubbles);
    CHECK(event->composed);
    CHECK_NE(event->time_stamp, 0);
    trace_add('l');
}

TEST(listeners_see_what_the_event_says) {
    weft_target target = {0};
    weft_target_event event = {.type = "x", .detail = &target, .bubbles = true, .composed = true};
    trace[0] = 0;
    weft_time before = weft_now();
    CHECK_EQ(weft_target_add(&target, "x", look, &target, NULL), 0);
    CHECK_EQ(weft_target_dispatch(&target, &event), 1);
    CHECK_GE(event.time_stamp, before);
    CHECK_LE(event.time_stamp, weft_now());
    CHECK_EQ(event.phase, WEFT_TARGET_NONE);
    CHECK(event.current_target == NULL);
    CHECK(event.target == &target);
    weft_time stamp = event.time_stamp;
    CHECK_EQ(weft_target_dispatch(&target, &event), 1);
    CHECK_EQ(event.time_stamp, stamp);
    CHECK_TEXT(trace, "ll");
    weft_target_term(&target);
}

static weft_abort_signal *make_signal(void) {
    weft_abort_signal *signal;
    CHECK_EQ(weft_abort_new(&signal), 0);
    return signal;
}

TEST(a_signal_removes_its_listeners) {
    weft_target target = {0};
    weft_abort_signal *signal = make_signal();
    weft_target_options options = {.signal = signal};
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('s'), &options), 0);
    CHECK_EQ(weft_target_add(&target, "y", note, LETTER('s'), &options), 0);
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('s'), &options), -EEXIST);
    add(&target, 'a');
    dispatch(&target);
    CHECK_TEXT(trace, "sa");
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    CHECK_EQ(weft_target_count(&target, NULL), 1);
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('t'), &options), -ECANCELED);
    dispatch(&target);
    CHECK_TEXT(trace, "a");
    weft_target_term(&target);
    weft_abort_unref(signal);
}

TEST(a_listener_that_has_gone_lets_go_of_its_signal) {
    weft_target target = {0};
    weft_abort_signal *signal = make_signal();
    weft_target_options options = {.signal = signal, .once = true};
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('s'), &options), 0);
    dispatch(&target);
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('r'), &options), 0);
    CHECK_EQ(weft_target_remove(&target, "x", note, LETTER('r'), false), 0);
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('t'), &options), 0);
    weft_target_term(&target);
    weft_abort_unref(signal); /* the last: nobody else has one */
}

static void abort_it(weft_target_event *event, void *arg) {
    note(event, LETTER('!'));
    CHECK_EQ(weft_abort_fire(arg, NULL), 0);
}

TEST(a_signal_that_a_listener_aborts_removes_the_next_one) {
    weft_target target = {0};
    weft_abort_signal *signal = make_signal();
    weft_target_options options = {.signal = signal};
    CHECK_EQ(weft_target_add(&target, "x", abort_it, signal, &options), 0);
    CHECK_EQ(weft_target_add(&target, "x", note, LETTER('s'), &options), 0);
    add(&target, 'a');
    dispatch(&target);
    CHECK_TEXT(trace, "!a");
    weft_target_term(&target);
    weft_abort_unref(signal);
}

static void fail(weft_target_event *event, void *arg) {
    note(event, arg);
    weft_panic("listener %c", (char)(intptr_t)arg);
}

TEST(a_listener_that_panics_is_told_and_the_others_run) {
    weft_target target = {0};
    weft_target_options passive = {.passive = true};
    CHECK_EQ(weft_target_add(&target, "x", fail, LETTER('f'), &passive), 0);
    CHECK_EQ(weft_target_add(&target, "x", prevent, LETTER('p'), NULL), 0);
    struct quiet quiet = quiet_begin();
    CHECK_EQ(dispatch(&target), 0);
    quiet_end(quiet);
    CHECK_TEXT(trace, "fp");
    CHECK(strstr(text, "a listener for \"x\" panicked: listener f") != NULL);
    weft_target_term(&target);
}

static void told(weft_loop *loop, const weft_loop_failure *failure, void *arg) {
    (void)loop;
    CHECK_TEXT(failure->source, "listener");
    CHECK_TEXT(failure->message, "listener f");
    ++*(int *)arg;
}

static void dispatch_callback(void *target) {
    CHECK_EQ(dispatch(target), 1);
}

TEST(in_a_callback_of_a_loop_the_loop_is_told) {
    int failures = 0;
    weft_loop_options options = {.on_failure = told, .arg = &failures};
    weft_target target = {0};
    weft_loop *loop;
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    CHECK_EQ(weft_target_add(&target, "x", fail, LETTER('f'), NULL), 0);
    add(&target, 'a');
    CHECK_EQ(weft_loop_submit(loop, dispatch_callback, &target), 0);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK_EQ(failures, 1);
    CHECK_TEXT(trace, "fa");
    weft_target_term(&target);
    weft_loop_unref(loop);
}

static void end_target(weft_target_event *event, void *arg) {
    note(event, LETTER('e'));
    weft_target_term(arg);
    free(arg);
}

TEST(a_listener_may_end_its_target) {
    weft_target *target = calloc(1, sizeof *target);
    CHECK(target != NULL);
    CHECK_EQ(weft_target_add(target, "x", end_target, target, NULL), 0);
    add(target, 'a');
    CHECK_EQ(dispatch(target), 1);
    CHECK_TEXT(trace, "e");
}

/* Threads. */

enum { DISPATCHERS = 3, LISTENERS = 8 };

struct crowd {
    weft_target target;
    atomic_int go;
    atomic_int once_calls;
    atomic_long calls;
};

static void count_once(weft_target_event *event, void *arg) {
    (void)event;
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void count_call(weft_target_event *event, void *arg) {
    (void)arg;
    atomic_fetch_add((atomic_long *)event->detail, 1);
}

static void *dispatch_main(void *opaque) {
    struct crowd *crowd = opaque;
    while (!atomic_load(&crowd->go))
        sched_yield();
    for (int i = 0; i < 20; i++) {
        weft_target_event event = {.type = "x", .detail = &crowd->calls};
        CHECK_EQ(weft_target_dispatch(&crowd->target, &event), 1);
    }
    return NULL;
}

/* Adds and removes by hand and by signal, all the time. */
static void *change_main(void *opaque) {
    struct crowd *crowd = opaque;
    while (!atomic_load(&crowd->go))
        sched_yield();
    for (intptr_t i = 1; i <= 20; i++) {
        weft_abort_signal *signal = make_signal();
        weft_target_options options = {.signal = signal, .capture = i & 1};
        CHECK_EQ(weft_target_add(&crowd->target, "x", count_call, (void *)i, &options), 0);
        if (i % 3 == 0)
            CHECK_EQ(weft_target_remove(&crowd->target, "x", count_call, (void *)i, i & 1), 0);
        CHECK_EQ(weft_abort_fire(signal, NULL), 0);
        weft_abort_unref(signal);
    }
    return NULL;
}

TEST(threads_dispatch_add_and_remove_at_the_same_time) {
    for (long round = 0; round < scaled(200, 10); round++) {
        struct crowd crowd = {.go = 0};
        weft_target_options once = {.once = true};
        pthread_t threads[DISPATCHERS + 1];
        CHECK_EQ(weft_target_add(&crowd.target, "x", count_once, &crowd.once_calls, &once), 0);
        CHECK_EQ(weft_target_add(&crowd.target, "x", count_call, NULL, NULL), 0);
        for (int i = 0; i < DISPATCHERS; i++)
            threads[i] = thread_start(dispatch_main, &crowd);
        threads[DISPATCHERS] = thread_start(change_main, &crowd);
        atomic_store(&crowd.go, 1);
        for (int i = 0; i <= DISPATCHERS; i++)
            thread_join(threads[i]);
        CHECK_EQ(atomic_load(&crowd.once_calls), 1);
        CHECK_GE(atomic_load(&crowd.calls), 20 * DISPATCHERS);
        CHECK_EQ(weft_target_count(&crowd.target, NULL), 1);
        weft_target_term(&crowd.target);
    }
}

static void *first_add_main(void *opaque) {
    struct crowd *crowd = opaque;
    while (!atomic_load(&crowd->go))
        sched_yield();
    for (intptr_t i = 0; i < LISTENERS; i++) {
        int status = weft_target_add(&crowd->target, "x", count_call, (void *)i, NULL);
        CHECK(status == 0 || status == -EEXIST);
    }
    return NULL;
}

TEST(threads_that_add_the_first_listener_agree) {
    for (long round = 0; round < scaled(200, 10); round++) {
        struct crowd crowd = {.go = 0};
        pthread_t threads[DISPATCHERS];
        for (int i = 0; i < DISPATCHERS; i++)
            threads[i] = thread_start(first_add_main, &crowd);
        atomic_store(&crowd.go, 1);
        for (int i = 0; i < DISPATCHERS; i++)
            thread_join(threads[i]);
        CHECK_EQ(weft_target_count(&crowd.target, "x"), LISTENERS);
        weft_target_term(&crowd.target);
    }
}

static void wait_a_little(weft_target_event *event, void *arg) {
    weft_yield();
    note(event, arg);
}

static void fibers(void) {
    weft_target target = {0};
    CHECK_EQ(weft_target_add(&target, "x", wait_a_little, LETTER('a'), NULL), 0);
    CHECK_EQ(weft_target_add(&target, "x", wait_a_little, LETTER('b'), NULL), 0);
    CHECK_EQ(dispatch(&target), 1);
    CHECK_TEXT(trace, "ab");
    weft_target_term(&target);
}

TEST(a_listener_on_a_fiber_may_wait) {
    run_fibers(fibers);
}

TEST(bad_input_is_refused) {
    weft_target target = {0};
    weft_target_event event = {.type = "x"};
    weft_target_event no_type = {.cancelable = true};
    CHECK_EQ(weft_target_add(NULL, "x", note, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_target_add(&target, NULL, note, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_target_add(&target, "x", NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_target_remove(NULL, "x", note, NULL, false), -EINVAL);
    CHECK_EQ(weft_target_remove(&target, NULL, note, NULL, false), -EINVAL);
    CHECK_EQ(weft_target_remove(&target, "x", NULL, NULL, false), -EINVAL);
    CHECK_EQ(weft_target_dispatch(NULL, &event), -EINVAL);
    CHECK_EQ(weft_target_dispatch(&target, NULL), -EINVAL);
    CHECK_EQ(weft_target_dispatch(&target, &no_type), -EINVAL);
    CHECK_EQ(weft_target_count(NULL, "x"), 0);
    CHECK(!weft_target_is_canceled(NULL));
    weft_target_prevent_default(NULL);
    weft_target_stop_propagation(NULL);
    weft_target_stop_immediate_propagation(NULL);
    weft_target_term(NULL);
}
