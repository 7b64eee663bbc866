/* SPDX-License-Identifier: MIT
 *
 * spec/abort_test.c - abort signals: one reason, order of handlers, derived signals, timeouts, threads.
 *
 * What happens in which order is written into a trace, a letter for each event.
 */
#include "weft/abort.h"

#include "support/run.h"
#include "support/signals.h"
#include "support/trace.h"

/* arg is the letter. */
static void note(weft_abort_signal *signal, void *arg) {
    CHECK(weft_abort_is_aborted(signal));
    trace_add((char)(intptr_t)arg);
}

static void must_not_run(weft_abort_signal *signal, void *arg) {
    (void)signal;
    (void)arg;
    CHECK(!"a handler that was taken back ran");
}

static void on(weft_abort_signal *signal, char letter) {
    CHECK_EQ(weft_abort_on(signal, NULL, note, LETTER(letter)), 0);
}

TEST(a_signal_is_pending_until_it_is_aborted) {
    weft_abort_reason reason;
    weft_abort_signal *signal = make();
    CHECK(!weft_abort_is_aborted(signal));
    CHECK_EQ(weft_abort_check(signal), 0);
    CHECK_EQ(weft_abort_get_reason(signal, &reason), -EAGAIN);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    CHECK(weft_abort_is_aborted(signal));
    CHECK_EQ(weft_abort_check(signal), -ECANCELED);
    CHECK_EQ(weft_abort_get_reason(signal, &reason), 0);
    CHECK_EQ(reason.error, -ECANCELED);
    CHECK_TEXT(reason.text, "aborted");
    CHECK(reason.value == NULL);
    weft_abort_unref(signal);
}

static int dropped;

static void drop_value(void *value) {
    CHECK(value == &dropped);
    dropped++;
}

TEST(the_first_reason_stays_and_its_value_is_dropped_once) {
    weft_abort_reason mine = {.error = -EPIPE, .text = "gone", .value = &dropped, .drop = drop_value};
    weft_abort_reason other = {.error = -EIO, .value = &trace};
    weft_abort_reason got;
    weft_abort_signal *signal = make();
    weft_abort_signal *derived = any_of(signal, NULL);
    dropped = 0;
    CHECK_EQ(weft_abort_fire(signal, &mine), 0);
    CHECK_EQ(weft_abort_fire(signal, &other), -EALREADY);
    CHECK_EQ(weft_abort_get_reason(signal, &got), 0);
    CHECK_EQ(got.error, -EPIPE);
    CHECK_TEXT(got.text, "gone");
    weft_abort_unref(signal);
    CHECK_EQ(dropped, 0); /* the derived one still shows it */
    CHECK_EQ(weft_abort_get_reason(derived, &got), 0);
    CHECK(got.value == &dropped);
    weft_abort_unref(derived);
    CHECK_EQ(dropped, 1);
}

TEST(handlers_run_in_order_on_the_thread_that_aborts) {
    weft_abort_signal *signal = make();
    trace[0] = 0;
    for (char letter = 'a'; letter <= 'h'; letter++)
        on(signal, letter);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    CHECK_TEXT(trace, "abcdefgh");
    weft_abort_unref(signal);
}

TEST(a_late_handler_runs_at_once) {
    weft_abort_handler handler = {.bits = 77};
    weft_abort_signal *signal = make();
    trace[0] = 0;
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    CHECK_EQ(weft_abort_on(signal, &handler, note, LETTER('x')), 0);
    CHECK_TEXT(trace, "x");
    CHECK_EQ(handler.bits, 0);
    CHECK_EQ(weft_abort_off(signal, handler), -ESTALE);
    weft_abort_unref(signal);
}

static void add_another(weft_abort_signal *signal, void *arg) {
    note(signal, arg);
    on(signal, 'z');
    trace_add('-');
}

TEST(a_handler_that_is_added_meanwhile_joins_the_end) {
    weft_abort_signal *signal = make();
    trace[0] = 0;
    CHECK_EQ(weft_abort_on(signal, NULL, add_another, LETTER('a')), 0);
    on(signal, 'b');
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    CHECK_TEXT(trace, "a-bz");
    weft_abort_unref(signal);
}

TEST(a_handler_that_was_taken_back_does_not_run) {
    weft_abort_handler handlers[10];
    weft_abort_signal *signal = make();
    trace[0] = 0;
    for (int i = 0; i < 10; i++)
        CHECK_EQ(weft_abort_on(signal, &handlers[i], i % 2 ? must_not_run : note, LETTER('0' + i)), 0);
    for (int i = 1; i < 10; i += 2)
        CHECK_EQ(weft_abort_off(signal, handlers[i]), 0);
    CHECK_EQ(weft_abort_off(signal, handlers[1]), -ESTALE);
    CHECK_EQ(weft_abort_off(signal, (weft_abort_handler){99}), -ESTALE);
    on(signal, 'a'); /* into the room that is left */
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    CHECK_TEXT(trace, "02468a");
    CHECK_EQ(weft_abort_off(signal, handlers[0]), -ESTALE);
    weft_abort_unref(signal);
}

struct pair_of_handlers {
    weft_abort_handler later;
    weft_abort_handler self;
};

static void take_back_the_later(weft_abort_signal *signal, void *arg) {
    struct pair_of_handlers *pair = arg;
    CHECK_EQ(weft_abort_off(signal, pair->self), -ESTALE);
    CHECK_EQ(weft_abort_off(signal, pair->later), 0);
}

TEST(a_handler_may_take_back_a_later_one_but_not_itself) {
    struct pair_of_handlers pair;
    weft_abort_signal *signal = make();
    CHECK_EQ(weft_abort_on(signal, &pair.self, take_back_the_later, &pair), 0);
    CHECK_EQ(weft_abort_on(signal, &pair.later, must_not_run, NULL), 0);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    weft_abort_unref(signal);
}

TEST(many_handlers_come_and_go_on_a_signal_that_stays) {
    enum { KEPT = 64 };
    weft_abort_handler kept[KEPT] = {{0}};
    uint64_t seed = wf_test_seed();
    weft_abort_signal *signal = make();
    for (long i = 0; i < scaled(200000, 2000); i++) {
        weft_abort_handler *handler = &kept[random_below(&seed, KEPT)];
        if (handler->bits)
            CHECK_EQ(weft_abort_off(signal, *handler), 0);
        CHECK_EQ(weft_abort_on(signal, handler, must_not_run, NULL), 0);
    }
    for (int i = 0; i < KEPT; i++)
        CHECK_EQ(weft_abort_off(signal, kept[i]), kept[i].bits ? 0 : -ESTALE);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    weft_abort_unref(signal);
}

static void panic_with(weft_abort_signal *signal, void *arg) {
    (void)signal;
    trace_add('!');
    weft_panic("%s", (const char *)arg);
}

static void fire_it(void *signal) {
    (void)weft_abort_fire(signal, NULL);
    CHECK(!"the panic was lost");
}

TEST(all_handlers_run_and_then_the_first_panic_goes_on) {
    char message[64];
    weft_abort_signal *signal = make();
    weft_abort_signal *derived = any_of(signal, NULL);
    trace[0] = 0;
    CHECK_EQ(weft_abort_on(signal, NULL, panic_with, "first"), 0);
    on(signal, 'a');
    CHECK_EQ(weft_abort_on(signal, NULL, panic_with, "second"), 0);
    CHECK_EQ(weft_abort_on(derived, NULL, panic_with, "third"), 0);
    on(derived, 'd');
    CHECK_EQ(weft_try(fire_it, signal, message, sizeof message), -EOWNERDEAD);
    CHECK_TEXT(message, "first");
    CHECK_TEXT(trace, "!a!!d");
    on(signal, 'l'); /* delivered: at once */
    CHECK_TEXT(trace, "!a!!dl");
    weft_abort_unref(derived);
    weft_abort_unref(signal);
}

static void fire_again(weft_abort_signal *signal, void *arg) {
    (void)arg;
    CHECK_EQ(weft_abort_fire(signal, NULL), -EALREADY);
    weft_abort_unref(signal); /* the only reference */
}

TEST(a_handler_may_fire_again_in_vain_and_give_back_the_last_reference) {
    weft_abort_signal *signal = make();
    CHECK_EQ(weft_abort_on(signal, NULL, fire_again, NULL), 0);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
}

/* Derived signals. */

TEST(any_is_aborted_with_the_first_of_its_inputs) {
    weft_abort_reason reason = {.error = -EPIPE};
    weft_abort_signal *a = make();
    weft_abort_signal *b = make();
    weft_abort_signal *any = any_of(a, b);
    trace[0] = 0;
    on(any, 'x');
    CHECK_EQ(weft_abort_fire(any, NULL), -EPERM);
    CHECK(!weft_abort_is_aborted(any));
    CHECK_EQ(weft_abort_fire(b, &reason), 0);
    CHECK_EQ(weft_abort_check(any), -EPIPE);
    CHECK_EQ(weft_abort_fire(a, NULL), 0);
    CHECK_EQ(weft_abort_check(any), -EPIPE);
    CHECK_TEXT(trace, "x");
    weft_abort_unref(a);
    weft_abort_unref(b);
    weft_abort_unref(any);
}

TEST(any_of_aborted_inputs_has_the_reason_of_the_first_in_the_list) {
    weft_abort_reason reasons[] = {{.error = -EPIPE}, {.error = -EIO}};
    weft_abort_signal *pending = make();
    weft_abort_signal *a = make();
    weft_abort_signal *b = make();
    CHECK_EQ(weft_abort_fire(b, &reasons[1]), 0);
    CHECK_EQ(weft_abort_fire(a, &reasons[0]), 0);
    weft_abort_signal *list[] = {pending, a, b};
    weft_abort_signal *any;
    CHECK_EQ(weft_abort_any(&any, list, 3), 0);
    CHECK_EQ(weft_abort_check(any), -EPIPE);
    trace[0] = 0;
    on(any, 'n');
    CHECK_TEXT(trace, "n"); /* at once */
    weft_abort_signal *nested = any_of(any, NULL);
    CHECK_EQ(weft_abort_check(nested), -EPIPE);
    weft_abort_unref(nested);
    weft_abort_unref(any);
    weft_abort_unref(a);
    weft_abort_unref(b);
    weft_abort_unref(pending);
}

TEST(any_takes_each_input_once_and_follows_what_its_inputs_follow) {
    weft_abort_signal *a = make();
    weft_abort_signal *b = make();
    weft_abort_signal *inner = any_of(a, b);
    weft_abort_signal *list[] = {inner, a, inner, b, a};
    weft_abort_signal *outer;
    CHECK_EQ(weft_abort_any(&outer, list, 5), 0);
    weft_abort_unref(inner); /* it does not matter whether it stays */
    trace[0] = 0;
    on(outer, 'o');
    CHECK_EQ(weft_abort_fire(a, NULL), 0);
    CHECK_TEXT(trace, "o");
    weft_abort_unref(a);
    weft_abort_unref(b);
    weft_abort_unref(outer);
}

static void check_aborted(weft_abort_signal *signal, void *other) {
    (void)signal;
    CHECK(weft_abort_is_aborted(other));
    trace_add('c');
}

TEST(derived_signals_have_their_reason_before_any_handler_runs_and_run_after_the_root) {
    weft_abort_signal *root = make();
    weft_abort_signal *first = any_of(root, NULL);
    weft_abort_signal *second = any_of(first, NULL);
    trace[0] = 0;
    on(second, '2');
    on(first, '1');
    CHECK_EQ(weft_abort_on(root, NULL, check_aborted, second), 0);
    on(root, 'r');
    CHECK_EQ(weft_abort_fire(root, NULL), 0);
    CHECK_TEXT(trace, "cr12");
    weft_abort_unref(second);
    weft_abort_unref(first);
    weft_abort_unref(root);
}

TEST(any_of_nothing_stays_pending) {
    weft_abort_signal *any;
    CHECK_EQ(weft_abort_any(&any, NULL, 0), 0);
    CHECK(!weft_abort_is_aborted(any));
    weft_abort_signal *nested = any_of(any, NULL);
    CHECK(!weft_abort_is_aborted(nested));
    weft_abort_unref(nested);
    weft_abort_unref(any);
}

TEST(any_outlives_its_inputs_and_goes_before_them) {
    weft_abort_signal *a = make();
    weft_abort_signal *gone = any_of(a, NULL);
    weft_abort_signal *stays = any_of(a, NULL);
    CHECK_EQ(weft_abort_on(gone, NULL, must_not_run, NULL), 0);
    weft_abort_unref(gone);
    CHECK_EQ(weft_abort_fire(a, NULL), 0);
    weft_abort_unref(a);
    CHECK_EQ(weft_abort_check(stays), -ECANCELED);
    weft_abort_unref(stays);
    weft_abort_signal *b = make();
    stays = any_of(b, NULL);
    weft_abort_unref(b); /* nobody can abort it any more */
    CHECK(!weft_abort_is_aborted(stays));
    weft_abort_unref(stays);
}

/* Timeouts. */

TEST(a_timeout_is_aborted_by_the_loop_when_its_time_has_come) {
    weft_abort_reason reason;
    weft_abort_signal *signal;
    weft_loop *loop = make_loop();
    CHECK_EQ(weft_abort_timeout(loop, &signal, 5 * WEFT_MILLISECOND), 0);
    trace[0] = 0;
    on(signal, 't');
    CHECK_EQ(weft_loop_advance(loop, 4 * WEFT_MILLISECOND), 0);
    weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    CHECK(!weft_abort_is_aborted(signal));
    CHECK_EQ(weft_loop_advance(loop, WEFT_MILLISECOND), 0);
    weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    CHECK_EQ(weft_abort_get_reason(signal, &reason), 0);
    CHECK_EQ(reason.error, -ETIMEDOUT);
    CHECK_TEXT(reason.text, "timed out");
    CHECK_TEXT(trace, "t");
    weft_abort_unref(signal);
    weft_loop_unref(loop);
}

TEST(a_timeout_does_not_keep_the_loop_alive) {
    weft_abort_signal *signal;
    weft_loop *loop = make_loop();
    CHECK_EQ(weft_abort_timeout(loop, &signal, WEFT_SECOND), 0);
    CHECK(!weft_loop_is_alive(loop));
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER), 0);
    CHECK(!weft_abort_is_aborted(signal));
    weft_abort_unref(signal);
    weft_loop_unref(loop);
}

TEST(a_timeout_that_was_aborted_by_hand_keeps_that_reason) {
    weft_abort_signal *signal;
    weft_loop *loop = make_loop();
    CHECK_EQ(weft_abort_timeout(loop, &signal, 0), 0);
    CHECK_EQ(weft_abort_fire(signal, NULL), 0);
    weft_loop_advance(loop, 1);
    weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    CHECK_EQ(weft_abort_check(signal), -ECANCELED);
    weft_abort_unref(signal);
    weft_loop_unref(loop);
}

TEST(a_timeout_with_handlers_is_kept_by_its_timer_and_one_without_is_not) {
    weft_abort_signal *signal;
    weft_loop *loop = make_loop();
    trace[0] = 0;
    CHECK_EQ(weft_abort_timeout(loop, &signal, 0), 0);
    on(signal, 'k');
    weft_abort_unref(signal);
    CHECK_EQ(weft_abort_timeout(loop, &signal, 0), 0);
    weft_abort_unref(signal);
    weft_loop_advance(loop, 1);
    weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    CHECK_TEXT(trace, "k");
    weft_loop_unref(loop);
}

TEST(a_loop_that_ends_lets_go_of_its_timeouts) {
    weft_abort_signal *kept, *forgotten, *any;
    weft_loop *loop = make_loop();
    CHECK_EQ(weft_abort_timeout(loop, &kept, WEFT_SECOND), 0);
    CHECK_EQ(weft_abort_timeout(loop, &forgotten, WEFT_SECOND), 0);
    any = any_of(kept, forgotten);
    CHECK_EQ(weft_abort_on(forgotten, NULL, must_not_run, NULL), 0);
    weft_abort_unref(forgotten);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    weft_loop_unref(loop);
    CHECK(!weft_abort_is_aborted(kept));
    CHECK_EQ(weft_abort_fire(kept, NULL), 0);
    CHECK_EQ(weft_abort_check(any), -ECANCELED);
    weft_abort_unref(kept);
    weft_abort_unref(any);
}

TEST(a_timeout_of_a_loop_that_has_ended_is_refused) {
    weft_abort_signal *signal = NULL;
    weft_loop *loop = make_loop();
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    CHECK_EQ(weft_abort_timeout(loop, &signal, 0), -EPIPE);
    CHECK(signal == NULL);
    weft_loop_unref(loop);
}

static void count_failure(weft_loop *loop, const weft_loop_failure *failure, void *arg) {
    (void)loop;
    CHECK_TEXT(failure->source, "timer");
    CHECK_TEXT(failure->message, "handler of a timeout");
    ++*(int *)arg;
}

TEST(a_panic_in_a_handler_of_a_timeout_is_told_by_the_loop) {
    int failures = 0;
    weft_loop_options options = {.virtual_time = true, .on_failure = count_failure, .arg = &failures};
    weft_abort_signal *signal;
    weft_loop *loop;
    CHECK_EQ(weft_loop_new(&loop, &options), 0);
    CHECK_EQ(weft_abort_timeout(loop, &signal, 0), 0);
    trace[0] = 0;
    CHECK_EQ(weft_abort_on(signal, NULL, panic_with, "handler of a timeout"), 0);
    on(signal, 'b');
    weft_loop_advance(loop, 1);
    weft_loop_run(loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    CHECK_EQ(failures, 1);
    CHECK_TEXT(trace, "!b");
    weft_abort_unref(signal);
    weft_loop_unref(loop);
}

/* Many threads. */

enum { RACERS = 4 };

struct race {
    weft_abort_signal *signal;
    weft_loop *loop;
    atomic_int go;
    atomic_int wins;
    atomic_int calls;
};

static void count_call(weft_abort_signal *signal, void *arg) {
    struct race *race = arg;
    weft_abort_reason reason;
    CHECK_EQ(weft_abort_get_reason(signal, &reason), 0);
    CHECK(reason.error == -ECANCELED || reason.error == -ETIMEDOUT);
    atomic_fetch_add(&race->calls, 1);
}

static void *racer_main(void *opaque) {
    struct race *race = opaque;
    while (!atomic_load(&race->go))
        sched_yield();
    CHECK_EQ(weft_abort_on(race->signal, NULL, count_call, race), 0);
    int status = weft_abort_fire(race->signal, NULL);
    CHECK(status == 0 || status == -EALREADY);
    atomic_fetch_add(&race->wins, status == 0);
    CHECK(weft_abort_is_aborted(race->signal)); /* the loser has the reason */
    CHECK_EQ(weft_abort_on(race->signal, NULL, count_call, race), 0);
    return NULL;
}

TEST(of_racing_aborts_and_a_timer_one_wins_and_every_handler_runs_once) {
    for (long round = 0; round < scaled(300, 20); round++) {
        pthread_t threads[RACERS];
        struct race race = {.loop = make_loop()};
        CHECK_EQ(weft_abort_timeout(race.loop, &race.signal, 0), 0);
        for (int i = 0; i < RACERS; i++)
            threads[i] = thread_start(racer_main, &race);
        weft_loop_advance(race.loop, 1);
        atomic_store(&race.go, 1);
        weft_loop_run(race.loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
        for (int i = 0; i < RACERS; i++)
            thread_join(threads[i]);
        CHECK_EQ(atomic_load(&race.wins), weft_abort_check(race.signal) == -ETIMEDOUT ? 0 : 1);
        CHECK_EQ(atomic_load(&race.calls), 2 * RACERS);
        weft_abort_unref(race.signal);
        weft_loop_unref(race.loop);
    }
}

struct family {
    weft_abort_signal *roots[2];
    atomic_int go;
    atomic_int calls;
};

static void count_family(weft_abort_signal *signal, void *arg) {
    struct family *family = arg;
    CHECK(weft_abort_is_aborted(signal));
    atomic_fetch_add(&family->calls, 1);
}

/* Derives again and again, keeps some for a while, and counts on being told of those. */
static void *derive_main(void *opaque) {
    struct family *family = opaque;
    weft_abort_signal *former = NULL;
    while (!atomic_load(&family->go))
        sched_yield();
    for (int i = 0; i < 40; i++) {
        weft_abort_signal *inputs[] = {family->roots[i & 1], former ? former : family->roots[0], family->roots[1]};
        weft_abort_signal *any;
        CHECK_EQ(weft_abort_any(&any, inputs, 3), 0);
        CHECK_EQ(weft_abort_on(any, NULL, count_family, family), 0);
        weft_abort_unref(former);
        former = any;
    }
    weft_abort_wait(former, NULL, WEFT_NEVER);
    weft_abort_unref(former);
    return NULL;
}

static void *abort_root_main(void *opaque) {
    struct family *family = opaque;
    while (!atomic_load(&family->go))
        sched_yield();
    CHECK_EQ(weft_abort_fire(family->roots[1], NULL), 0);
    return NULL;
}

TEST(signals_are_derived_and_dropped_while_their_roots_are_aborted) {
    for (long round = 0; round < scaled(200, 10); round++) {
        struct family family = {.roots = {make(), make()}};
        pthread_t threads[3] = {thread_start(derive_main, &family), thread_start(derive_main, &family),
                                thread_start(abort_root_main, &family)};
        atomic_store(&family.go, 1);
        CHECK_EQ(weft_abort_fire(family.roots[0], NULL), 0);
        for (int i = 0; i < 3; i++)
            thread_join(threads[i]);
        CHECK_GE(atomic_load(&family.calls), 2); /* at least the two that were kept */
        weft_abort_unref(family.roots[0]);
        weft_abort_unref(family.roots[1]);
    }
}

TEST(bad_input_is_refused) {
    weft_abort_reason positive = {.error = 1};
    weft_abort_reason no_value = {.drop = drop_value};
    weft_abort_reason out;
    weft_abort_signal *signal = make();
    weft_abort_signal *list[] = {signal, NULL};
    weft_abort_signal *any;
    CHECK_EQ(weft_abort_new(NULL), -EINVAL);
    CHECK(weft_abort_ref(NULL) == NULL);
    weft_abort_unref(NULL);
    CHECK_EQ(weft_abort_fire(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_abort_fire(signal, &positive), -EINVAL);
    CHECK_EQ(weft_abort_fire(signal, &no_value), -EINVAL);
    CHECK(!weft_abort_is_aborted(NULL));
    CHECK_EQ(weft_abort_check(NULL), 0);
    CHECK_EQ(weft_abort_get_reason(NULL, &out), -EINVAL);
    CHECK_EQ(weft_abort_get_reason(signal, NULL), -EINVAL);
    CHECK_EQ(weft_abort_on(NULL, NULL, note, NULL), -EINVAL);
    CHECK_EQ(weft_abort_on(signal, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_abort_off(NULL, (weft_abort_handler){1}), -EINVAL);
    CHECK_EQ(weft_abort_off(signal, (weft_abort_handler){0}), -ESTALE);
    CHECK_EQ(weft_abort_any(NULL, list, 1), -EINVAL);
    CHECK_EQ(weft_abort_any(&any, NULL, 1), -EINVAL);
    CHECK_EQ(weft_abort_any(&any, list, 2), -EINVAL);
    CHECK_EQ(weft_abort_timeout(NULL, &any, 0), -EINVAL);
    CHECK_EQ(weft_abort_wait(NULL, NULL, WEFT_NOW), -EINVAL);
    weft_loop *loop = make_loop();
    CHECK_EQ(weft_abort_timeout(loop, NULL, 0), -EINVAL);
    CHECK(!weft_abort_is_aborted(signal));
    weft_loop_unref(loop);
    weft_abort_unref(signal);
}
