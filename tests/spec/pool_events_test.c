/* SPDX-License-Identifier: MIT
 *
 * spec/pool_events_test.c - what a pool tells, and what it makes of functions of the program that fail.
 *
 * Numbers in names are those of the scenarios that the pool was specified by.
 */
#include "spec/pool_told.h"

static int count_errors(weft_error_source source, weft_pool_event_kind failed_kind) {
    int count = 0;
    pthread_mutex_lock(&told_lock);
    for (int i = 0; i < told_count; i++)
        count += told[i].event.kind == WEFT_POOL_ERROR && told[i].event.source == source &&
                 (source != WEFT_SOURCE_HANDLER || told[i].event.failed_kind == failed_kind);
    pthread_mutex_unlock(&told_lock);
    return count;
}

static int panic(void *arg) {
    (void)arg;
    weft_panic("a work that panics");
}

TEST(every_generation_is_told_to_have_started_and_to_have_idled) {
    told_begin((weft_pool_options){0});
    for (int i = 0; i < 20; i++) {
        weft_time before = weft_now();
        for (int k = 0; k < 5; k++)
            CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
        wait_idle();
        CHECK_EQ(count_told(WEFT_POOL_STARTED), count_told(WEFT_POOL_IDLED)); /* it may have been idle in between */
        struct told idled = nth_told(WEFT_POOL_IDLED, count_told(WEFT_POOL_IDLED) - 1);
        CHECK_GE(idled.event.duration, 0);
        CHECK_LE(idled.event.duration, weft_now() - before);
    }
    int balance = 0;
    for (int i = 0; i < told_count; i++) {
        balance += told[i].event.kind == WEFT_POOL_STARTED;
        balance -= told[i].event.kind == WEFT_POOL_IDLED;
        CHECK(balance == 0 || balance == 1);
    }
    CHECK_EQ(balance, 0);
    weft_pool_stats stats = pool_stats();
    CHECK_EQ(stats.generation, count_told(WEFT_POOL_IDLED));
    told_end();
}

TEST(a_pool_that_is_held_idles_once) {
    told_begin((weft_pool_options){0});
    CHECK_EQ(weft_pool_hold(pool), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(result_of(submit_stored((weft_work_options){0}, end_at_once, NULL)).status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(count_told(WEFT_POOL_IDLED), 0);
    weft_pool_stats stats = pool_stats();
    CHECK(!stats.is_idle);
    CHECK_EQ(stats.running + stats.queued + stats.held, 0);
    CHECK_EQ(weft_pool_release(pool), 0);
    wait_idle();
    CHECK_EQ(count_told(WEFT_POOL_STARTED), 1);
    CHECK_EQ(count_told(WEFT_POOL_IDLED), 1);
    told_end();
}

static int submit_when_idle(const weft_pool_event *event, void *arg) {
    note_event(event, arg);
    if (event->kind == WEFT_POOL_IDLED && event->pool && count_told(WEFT_POOL_IDLED) <= 3)
        CHECK_EQ(weft_pool_submit(event->pool, NULL, end_at_once, NULL), 0);
    return 0;
}

TEST(what_a_handler_submits_when_the_pool_has_idled_belongs_to_the_next_generation) {
    told_begin((weft_pool_options){.handler = submit_when_idle});
    CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
    WAIT_UNTIL(count_told(WEFT_POOL_IDLED) == 4);
    wait_idle();
    CHECK_EQ(atomic_load(&runs), 4);
    CHECK_EQ(count_told(WEFT_POOL_STARTED), 4);
    told_end();
}

TEST(a_work_is_told_to_have_started_and_to_have_ended) {
    int good = 5, bad = -EDOM;
    told_begin((weft_pool_options){.measure = true});
    weft_time before = weft_now();
    weft_work works[2];
    works[0] = submit_stored((weft_work_options){0}, end_at_once, &good);
    result_of(works[0]);
    works[1] = submit_stored((weft_work_options){0}, end_at_once, &bad);
    result_of(works[1]);
    wait_idle();
    for (int i = 0; i < 2; i++) {
        struct told started = nth_told(WEFT_POOL_WORK_STARTED, i);
        struct told ended = nth_told(WEFT_POOL_WORK_ENDED, i);
        CHECK_EQ(started.event.work.bits, works[i].bits);
        CHECK(!started.has_result);
        CHECK(ended.has_result);
        CHECK_EQ(ended.event.work.bits, works[i].bits);
        CHECK_EQ(ended.result.work.bits, works[i].bits);
        CHECK_EQ(ended.result.status, i == 0 ? WEFT_WORK_SUCCEEDED : WEFT_WORK_FAILED);
        CHECK_EQ(ended.result.code, i == 0 ? 5 : -EDOM);
        CHECK_EQ(ended.result.error, i == 0 ? 0 : -EDOM);
        CHECK_EQ(ended.result.attempts, 1);
        CHECK_GE(ended.result.submitted, before);
        CHECK_GE(ended.result.started, ended.result.submitted);
        CHECK_GE(ended.result.ended, ended.result.started);
        CHECK_EQ(ended.result.run_ns, ended.result.ended - ended.result.started);
    }
    CHECK_EQ(count_told(WEFT_POOL_WORK_STARTED), 2);
    CHECK_EQ(count_told(WEFT_POOL_WORK_ENDED), 2);
    told_end();
}

TEST(a_work_that_is_stopped_or_cancelled_is_told_as_such) {
    told_begin((weft_pool_options){0});
    weft_work stopped = submit_stored((weft_work_options){0}, until_stopped, NULL);
    WAIT_UNTIL(atomic_load(&runs) == 1);
    CHECK_EQ(weft_pool_control(pool, WEFT_STOP, stopped), 0);
    CHECK_EQ(result_of(stopped).status, WEFT_WORK_STOPPED);
    weft_work forced = submit_stored((weft_work_options){0}, until_stopped, NULL);
    WAIT_UNTIL(atomic_load(&runs) == 2);
    CHECK_EQ(weft_pool_control(pool, WEFT_FORCE_STOP, forced), 0);
    CHECK_EQ(result_of(forced).status, WEFT_WORK_FORCE_STOPPED);
    weft_work_id never = {.number = 7};
    weft_work held = submit_stored((weft_work_options){.after_ids = &never, .after_id_count = 1}, end_at_once, NULL);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, held), 0);
    wait_idle();
    CHECK_EQ(nth_told(WEFT_POOL_WORK_STOPPED, 0).result.status, WEFT_WORK_STOPPED);
    CHECK_EQ(nth_told(WEFT_POOL_WORK_STOPPED, 0).event.work.bits, stopped.bits);
    CHECK_EQ(nth_told(WEFT_POOL_WORK_STOPPED, 1).result.status, WEFT_WORK_FORCE_STOPPED);
    struct told cancelled = nth_told(WEFT_POOL_WORK_CANCELLED, 0);
    CHECK_EQ(cancelled.event.work.bits, held.bits);
    CHECK_EQ(cancelled.result.status, WEFT_WORK_CANCELLED);
    CHECK_EQ(cancelled.result.error, -ECANCELED);
    CHECK_EQ(cancelled.result.attempts, 0);
    CHECK_EQ(count_told(WEFT_POOL_WORK_ENDED), 0);
    CHECK_EQ(count_told(WEFT_POOL_WORK_STOPPED), 2);
    CHECK_EQ(count_told(WEFT_POOL_WORK_CANCELLED), 1);
    told_end();
}

TEST(the_number_of_running_works_is_told_with_every_change) {
    enum { COUNT = 50 };
    told_begin((weft_pool_options){.events = 1u << WEFT_POOL_RUNNING_CHANGED});
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
    wait_idle();
    CHECK_EQ(count_told(WEFT_POOL_RUNNING_CHANGED), 2 * COUNT);
    CHECK_EQ(told_count, 2 * COUNT);
    int ups = 0, downs = 0, to_none = 0;
    for (int i = 0; i < told_count; i++) {
        const weft_pool_event *event = &told[i].event;
        CHECK_LE(event->before, COUNT);
        CHECK_LE(event->now, COUNT);
        ups += event->now == event->before + 1;
        downs += event->before == event->now + 1;
        to_none += event->now == 0;
    }
    CHECK_EQ(ups, COUNT);
    CHECK_EQ(downs, COUNT);
    CHECK_GE(to_none, 1);
    told_end();
}

TEST(only_those_events_are_told_that_are_wanted) {
    int bad = -EDOM;
    for (int kind = 0; kind < WEFT_POOL_EVENT_KINDS; kind++) {
        told_begin((weft_pool_options){.events = 1u << kind});
        CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
        CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, &bad), 0);
        CHECK_EQ(weft_pool_submit(pool, NULL, panic, NULL), 0);
        wait_idle();
        CHECK_EQ(count_told((weft_pool_event_kind)kind), told_count);
        told_end();
    }
}

TEST(what_finds_no_room_is_told_before_the_rule_is_applied) {
    const weft_rejection rules[] = {WEFT_REJECT_ABORT, WEFT_REJECT_CALLER_RUNS, WEFT_REJECT_DISCARD,
                                    WEFT_REJECT_DISCARD_QUEUED};
    for (int i = 0; i < 4; i++) {
        told_begin((weft_pool_options){.max_queued = 1, .rejection = rules[i]});
        occupy_threads();
        int before = atomic_load(&runs);
        weft_work queued = submit_stored((weft_work_options){0}, end_at_once, NULL);
        weft_work second = WEFT_NO_WORK;
        weft_work_options stored = {.store_result = true};
        int error = weft_pool_submit_with(pool, &second, &stored, end_at_once, NULL);
        CHECK_EQ(error, rules[i] == WEFT_REJECT_ABORT ? -EAGAIN : 0);
        CHECK_EQ(atomic_load(&runs), before + (rules[i] == WEFT_REJECT_CALLER_RUNS));
        CHECK_GE(count_told(WEFT_POOL_WORK_REJECTED), 1);
        CHECK_EQ(nth_told(WEFT_POOL_WORK_REJECTED, 0).event.rejection, rules[i]);
        bool discards = rules[i] == WEFT_REJECT_DISCARD || rules[i] == WEFT_REJECT_DISCARD_QUEUED;
        CHECK_EQ(count_told(WEFT_POOL_WORK_DISCARDED), discards);
        if (discards) {
            weft_work gone = rules[i] == WEFT_REJECT_DISCARD ? second : queued;
            struct told discarded = nth_told(WEFT_POOL_WORK_DISCARDED, 0);
            CHECK_EQ(discarded.event.work.bits, gone.bits);
            CHECK(discarded.has_result);
            CHECK_EQ(discarded.result.status, WEFT_WORK_CANCELLED);
            CHECK_EQ(discarded.result.error, -ECANCELED);
            CHECK_EQ(result_of(gone).status, WEFT_WORK_CANCELLED);
        }
        atomic_store(&may_end, 1);
        wait_idle();
        weft_pool_stats stats;
        stats = pool_stats();
        CHECK_GE(stats.rejected, 1);
        CHECK_EQ(stats.discarded, discards);
        CHECK_EQ(stats.queued, 0);
        told_end();
    }
}

static int stop_at_the_third(const weft_pool_event *event, void *arg) {
    note_event(event, arg);
    if (event->kind == WEFT_POOL_WORK_ENDED && event->result->attempts == 3)
        CHECK_EQ(weft_pool_stop_retry(event->pool, event->work), 0);
    return 0;
}

TEST(scenario_23_a_handler_ends_the_retries) {
    const weft_retry retries[] = {WEFT_RETRY_IMMEDIATE, WEFT_RETRY_REQUEUE};
    int bad = -EDOM;
    for (int i = 0; i < 2; i++) {
        told_begin((weft_pool_options){.handler = stop_at_the_third});
        weft_work work = submit_stored((weft_work_options){.retry = retries[i], .max_retries = 5}, end_at_once, &bad);
        weft_result result = result_of(work);
        CHECK_EQ(result.status, WEFT_WORK_FAILED);
        CHECK_EQ(result.attempts, 3);
        wait_idle();
        CHECK_EQ(atomic_load(&runs), 3);
        CHECK_EQ(count_told(WEFT_POOL_WORK_STARTED), 3);
        CHECK_EQ(count_told(WEFT_POOL_WORK_ENDED), 3);
        weft_pool_stats stats;
        stats = pool_stats();
        CHECK_EQ(stats.retried, 2);
        CHECK_EQ(stats.failed, 1);
        told_end();
    }
}

TEST(all_attempts_are_told_when_nobody_ends_them) {
    int bad = -EDOM;
    told_begin((weft_pool_options){0});
    weft_work work =
        submit_stored((weft_work_options){.retry = WEFT_RETRY_IMMEDIATE, .max_retries = 2}, end_at_once, &bad);
    CHECK_EQ(result_of(work).attempts, 3);
    wait_idle();
    CHECK_EQ(count_told(WEFT_POOL_WORK_ENDED), 3);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(nth_told(WEFT_POOL_WORK_ENDED, i).result.attempts, i + 1);
    told_end();
}

/* ---- Errors ---- */

static atomic_int callbacks;

static int call_back(const weft_result *result, void *arg) {
    enum failure *how = arg;
    CHECK_NE(result->status, WEFT_WORK_PENDING);
    atomic_fetch_add(&callbacks, 1);
    if (*how == PANICS)
        weft_panic("a callback that panics");
    if (*how == EXITS)
        weft_exit(NULL);
    return *how == RETURNS_ERROR ? -EILSEQ : 0;
}

TEST(a_panic_of_a_work_is_told_and_is_its_failure) {
    told_begin((weft_pool_options){0});
    weft_work work = submit_stored((weft_work_options){0}, panic, NULL);
    weft_result result = result_of(work);
    CHECK_EQ(result.status, WEFT_WORK_FAILED);
    CHECK_EQ(result.error, -EOWNERDEAD);
    wait_idle();
    CHECK_EQ(count_told(WEFT_POOL_ERROR), 1);
    struct told error = nth_told(WEFT_POOL_ERROR, 0);
    CHECK_EQ(error.event.source, WEFT_SOURCE_WORK);
    CHECK_EQ(error.event.work.bits, work.bits);
    CHECK_EQ(error.event.error, -EOWNERDEAD);
    told_end();
}

TEST(a_callback_that_fails_is_told_and_changes_nothing) {
    enum failure ways[] = {GOES_WELL, RETURNS_ERROR, PANICS, EXITS};
    for (int i = 0; i < 4; i++) {
        atomic_store(&callbacks, 0);
        told_begin((weft_pool_options){0});
        weft_work works[2];
        weft_work_options options = {.callback = call_back, .callback_arg = &ways[i]};
        works[0] = submit_stored(options, end_at_once, NULL);
        CHECK_EQ(result_of(works[0]).status, WEFT_WORK_SUCCEEDED);
        if (ways[i] == EXITS) { /* on a plain thread weft_exit is nobody's right */
            wait_idle();
        } else {
            weft_work_id never = {.text = "never"};
            options.after_ids = &never;
            options.after_id_count = 1;
            works[1] = submit_stored(options, end_at_once, NULL);
            CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, works[1]), 0); /* on this thread */
            CHECK_EQ(result_of(works[1]).status, WEFT_WORK_CANCELLED);
        }
        wait_idle();
        int calls = ways[i] == EXITS ? 1 : 2;
        CHECK_EQ(atomic_load(&callbacks), calls);
        CHECK_EQ(count_told(WEFT_POOL_ERROR), ways[i] == GOES_WELL ? 0 : calls);
        for (int k = 0; k < count_told(WEFT_POOL_ERROR); k++) {
            struct told error = nth_told(WEFT_POOL_ERROR, k);
            CHECK_EQ(error.event.source, WEFT_SOURCE_CALLBACK);
            CHECK_EQ(error.event.work.bits, works[k].bits);
            CHECK_EQ(error.event.error, ways[i] == RETURNS_ERROR ? -EILSEQ : -EOWNERDEAD);
            CHECK(error.has_result);
            CHECK_EQ(error.result.work.bits, works[k].bits);
        }
        told_end();
    }
}

static int failing_veto(void *arg) {
    if (arg)
        weft_panic("a hook that panics");
    return -EPERM;
}

static int until_veto_fails(void *arg) {
    atomic_fetch_add(&runs, 1);
    WAIT_UNTIL(weft_work_stop_point(failing_veto, arg));
    return 0;
}

TEST(a_veto_that_fails_is_told_and_is_none) {
    for (int i = 0; i < 2; i++) {
        told_begin((weft_pool_options){0});
        weft_work work = submit_stored((weft_work_options){0}, until_veto_fails, i ? &runs : NULL);
        WAIT_UNTIL(atomic_load(&runs) == 1);
        CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), 0);
        CHECK_EQ(result_of(work).status, WEFT_WORK_STOPPED);
        wait_idle();
        CHECK_EQ(count_told(WEFT_POOL_ERROR), 1);
        CHECK_EQ(nth_told(WEFT_POOL_ERROR, 0).event.source, WEFT_SOURCE_VETO);
        CHECK_EQ(nth_told(WEFT_POOL_ERROR, 0).event.error, i ? -EOWNERDEAD : -EPERM);
        told_end();
    }
}

/* Something of every kind but the last resort. */
static void make_all_kinds(void) {
    int bad = -EDOM;
    enum failure how = RETURNS_ERROR;
    result_of(submit_stored((weft_work_options){0}, end_at_once, NULL));
    result_of(submit_stored((weft_work_options){.callback = call_back, .callback_arg = &how}, end_at_once, &bad));
    result_of(submit_stored((weft_work_options){.retry = WEFT_RETRY_REQUEUE, .max_retries = 2}, end_at_once, &bad));
    result_of(submit_stored((weft_work_options){0}, panic, NULL));
    result_of(submit_stored((weft_work_options){.timeout = WEFT_MILLISECOND}, until_stopped, NULL));
    weft_work_id never = {.text = "never"};
    weft_work held = submit_stored((weft_work_options){.after_ids = &never, .after_id_count = 1}, end_at_once, NULL);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, held), 0);
    wait_idle();
    atomic_store(&runs, 0);
    occupy_threads();
    CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
    CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0); /* discarded */
    WAIT_UNTIL(count_told(WEFT_POOL_TIMED_OUT) >= 1);
    WAIT_UNTIL(count_told(WEFT_POOL_TICK) >= 1);
    atomic_store(&may_end, 1);
    wait_idle();
}

/* No worker is lost: so many works run at once. */
static void check_threads(void) {
    occupy_threads();
    atomic_store(&may_end, 1);
    wait_idle();
    weft_pool_stats stats = pool_stats();
    CHECK_EQ(stats.running + stats.queued + stats.held + stats.outstanding, 0);
}

TEST(scenario_38_a_handler_that_fails_at_any_event_is_told_and_changes_nothing) {
    const enum failure ways[] = {RETURNS_ERROR, PANICS};
    for (int kind = 0; kind < WEFT_POOL_EVENT_KINDS; kind++) {
        if (kind == WEFT_POOL_STUCK) /* there is no way to bring that about */
            continue;
        for (int i = 0; i < 2; i++) {
            atomic_store(&runs, 0);
            failure = ways[i];
            failing_kind = kind;
            told_begin((weft_pool_options){.timeout = 3 * WEFT_MILLISECOND,
                                           .timeout_action = WEFT_TIMEOUT_TELL,
                                           .tick = WEFT_MILLISECOND,
                                           .max_queued = 1,
                                           .rejection = WEFT_REJECT_DISCARD});
            make_all_kinds();
            check_threads();
            told_end(); /* from here on nothing is told any more */
            weft_pool_event_kind failed = (weft_pool_event_kind)kind;
            CHECK_GE(count_told(failed), 1);
            if (failed == WEFT_POOL_ERROR) {
                CHECK_EQ(count_errors(WEFT_SOURCE_HANDLER, failed), 0); /* that would have no end */
            } else {
                CHECK_EQ(count_errors(WEFT_SOURCE_HANDLER, failed), count_told(failed));
                CHECK_EQ(count_told(WEFT_POOL_ERROR), count_errors(WEFT_SOURCE_HANDLER, failed) +
                                                          count_errors(WEFT_SOURCE_WORK, failed) +
                                                          count_errors(WEFT_SOURCE_CALLBACK, failed));
            }
            CHECK_EQ(count_errors(WEFT_SOURCE_WORK, failed), 1);
            CHECK_EQ(count_errors(WEFT_SOURCE_CALLBACK, failed), 1);
            for (int k = 0; k < told_count; k++)
                if (told[k].event.kind == WEFT_POOL_ERROR && told[k].event.source == WEFT_SOURCE_HANDLER)
                    CHECK_EQ(told[k].event.error, ways[i] == PANICS ? -EOWNERDEAD : -EIO);
        }
    }
}

TEST(weft_exit_in_a_handler_ends_neither_fiber_nor_work) {
    const weft_pool_event_kind kinds[] = {WEFT_POOL_WORK_STARTED, WEFT_POOL_WORK_ENDED};
    for (int i = 0; i < 2; i++) {
        failure = EXITS;
        failing_kind = (int)kinds[i];
        told_begin((weft_pool_options){0});
        for (int k = 0; k < 10; k++)
            CHECK_EQ(result_of(submit_stored((weft_work_options){0}, end_at_once, NULL)).status, WEFT_WORK_SUCCEEDED);
        wait_idle();
        CHECK_EQ(atomic_load(&runs), 10);
        CHECK_EQ(count_errors(WEFT_SOURCE_HANDLER, kinds[i]), 10);
        told_end();
    }
}

static int leave_things_open(const weft_pool_event *event, void *arg) {
    note_event(event, arg);
    if (event->kind == WEFT_POOL_WORK_STARTED) {
        weft_scope *scope;
        weft_scope_open(&scope, NULL);
        weft_pin();
        weft_panic("with things left open");
    }
    return 0;
}

TEST(a_handler_that_panics_leaves_nothing_open_on_the_fiber_of_a_work) {
    told_begin((weft_pool_options){.handler = leave_things_open});
    for (int k = 0; k < 10; k++)
        CHECK_EQ(result_of(submit_stored((weft_work_options){0}, end_at_once, NULL)).status, WEFT_WORK_SUCCEEDED);
    wait_idle();
    CHECK_EQ(count_errors(WEFT_SOURCE_HANDLER, WEFT_POOL_WORK_STARTED), 10);
    told_end();
}

/* ---- Callbacks ---- */

static atomic_int pool_callbacks;

static int pool_call_back(const weft_result *result, void *arg) {
    (void)result;
    CHECK(arg == &runs);
    atomic_fetch_add(&pool_callbacks, 1);
    return 0;
}

TEST(the_callback_of_a_work_comes_instead_of_the_pools_and_before_anybody_who_waits) {
    enum failure how = GOES_WELL;
    atomic_store(&callbacks, 0);
    atomic_store(&pool_callbacks, 0);
    told_begin((weft_pool_options){.callback = pool_call_back, .callback_arg = &runs});
    weft_work own = submit_stored((weft_work_options){.callback = call_back, .callback_arg = &how}, end_at_once, NULL);
    result_of(own);
    CHECK_EQ(atomic_load(&callbacks), 1);
    CHECK_EQ(atomic_load(&pool_callbacks), 0);
    result_of(submit_stored((weft_work_options){0}, end_at_once, NULL));
    CHECK_EQ(atomic_load(&callbacks), 1);
    CHECK_EQ(atomic_load(&pool_callbacks), 1);
    CHECK_EQ(weft_pool_submit(pool, NULL, end_at_once, NULL), 0);
    wait_idle();
    CHECK_EQ(atomic_load(&pool_callbacks), 2);
    told_end();
}
