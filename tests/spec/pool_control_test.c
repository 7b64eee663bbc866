/* SPDX-License-Identifier: MIT
 *
 * spec/pool_control_test.c - what can be done to works and to the whole pool: cancel, stop, veto, pause, resume, dispose.
 *
 * Stopping by force is in spec/pool_force_test.c. Works that are to be running compute, or wait for a flag that the test sets.
 */
#include "spec/pool.h"

enum { FEW = 6, ROUNDS = 300, CANCELLERS = 3 };

static atomic_int runs;
static const weft_work_options stores = {.store_result = true};
static const weft_control all_controls[] = {WEFT_CANCEL, WEFT_STOP, WEFT_FORCE_STOP, WEFT_PAUSE, WEFT_RESUME};
enum { CONTROLS = sizeof all_controls / sizeof all_controls[0] };

/* A work that goes round a loop with a stop point and a pause point in it until it is told otherwise. */
static struct {
    atomic_int begun;
    atomic_int rounds;
    atomic_int at_pause;  /* arrivals at the pause point */
    atomic_bool may_end;  /* it returns 17 */
    atomic_bool may_stop; /* it looks at its stop point */
} loop;

static void reset_loop(void) {
    atomic_store(&loop.begun, 0);
    atomic_store(&loop.rounds, 0);
    atomic_store(&loop.at_pause, 0);
    atomic_store(&loop.may_end, false);
    atomic_store(&loop.may_stop, true);
}

static int go_round(void *arg) {
    int (*hook)(void *) = *(int (**)(void *))arg;
    atomic_fetch_add(&loop.begun, 1);
    for (;;) {
        atomic_fetch_add(&loop.rounds, 1);
        if (atomic_load(&loop.may_stop) && weft_work_stop_point(hook, &runs))
            return 4;
        if (atomic_load(&loop.may_end))
            return 17;
        atomic_fetch_add(&loop.at_pause, 1);
        int status = weft_work_pause_point();
        if (status)
            return status;
        weft_yield();
    }
}

static int (*no_hook)(void *);

static weft_work submit_round(weft_pool *pool) {
    return submit_with(pool, &stores, go_round, &no_hook);
}

static weft_work begin_round(weft_pool *pool) {
    reset_loop();
    weft_work work = submit_round(pool);
    WAIT_UNTIL(atomic_load(&loop.begun) == 1);
    return work;
}

/* ---- Cancel ---- */

static void cancel_queued(void) {
    weft_pool *pool = make_pool_of(1);
    atomic_store(&runs, 0);
    occupy(pool, 1);
    weft_work work = submit_with(pool, &stores, count_up, &runs);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), 0);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), -ESTALE);
    CHECK_EQ(result_of(pool, work).status, WEFT_WORK_CANCELLED);
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 0);
    CHECK_EQ(pool_stats(pool).cancelled, 1);
    end_pool(pool);
}

TEST(a_queued_work_is_cancelled_once_and_never_runs) {
    everywhere(cancel_queued);
}

/* Scenario 12. */
TEST(a_running_work_cannot_be_cancelled) {
    weft_pool *pool = make_pool(NULL);
    weft_work work = begin_round(pool);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), -EBUSY);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, work), -EBUSY);
    atomic_store(&loop.may_end, true);
    weft_result result = result_of(pool, work);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(result.code, 17);
    end_pool(pool);
}

static struct {
    weft_pool *pool;
    weft_work work;
    atomic_int round;
    atomic_int cancelled;
    atomic_int arrived;
} race;

static void *cancel_each_round(void *arg) {
    for (int round = 1; round <= ROUNDS; round++) {
        COMPUTE_UNTIL(atomic_load(&race.round) >= round);
        int status = weft_pool_control(race.pool, WEFT_CANCEL, race.work);
        CHECK(status == 0 || status == -ESTALE || status == -EBUSY);
        atomic_fetch_add(&race.cancelled, status == 0);
        atomic_fetch_add(&race.arrived, 1);
    }
    return arg;
}

TEST(a_work_is_run_or_cancelled_and_never_both) {
    pthread_t threads[CANCELLERS];
    race.pool = make_pool(NULL);
    atomic_store(&race.round, 0);
    atomic_store(&race.arrived, 0);
    atomic_store(&runs, 0);
    for (int i = 0; i < CANCELLERS; i++)
        threads[i] = thread_start(cancel_each_round, NULL);
    for (int round = 1; round <= ROUNDS; round++) {
        int before = atomic_load(&runs);
        atomic_store(&race.cancelled, 0);
        race.work = submit(race.pool, count_up, &runs);
        atomic_store(&race.round, round);
        COMPUTE_UNTIL(atomic_load(&race.arrived) == round * CANCELLERS);
        CHECK_EQ(weft_pool_wait(race.pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&runs) - before + atomic_load(&race.cancelled), 1);
    }
    for (int i = 0; i < CANCELLERS; i++)
        thread_join(threads[i]);
    end_pool(race.pool);
}

TEST(cancelling_all_spares_what_runs) {
    weft_pool *pool = make_pool_of(1);
    weft_work_id never = {.number = 5};
    atomic_store(&runs, 0);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_CANCEL), 0);
    occupy(pool, 1);
    for (int i = 0; i < FEW; i++)
        submit(pool, count_up, &runs);
    submit_with(pool, &(weft_work_options){.after_ids = &never, .after_id_count = 1}, count_up, &runs);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_CANCEL), FEW + 1);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_CANCEL), 0);
    CHECK(!pool_stats(pool).is_stopping);
    submit(pool, count_up, &runs); /* taken as ever */
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 1);
    end_pool(pool);
}

static void *submit_and_cancel_all(void *arg) {
    weft_pool *pool = arg;
    for (long i = 0; i < scaled(2000, 100); i++) {
        submit(pool, count_up, &runs);
        if (i % 7 == 0)
            CHECK_GE(weft_pool_control_all(pool, WEFT_CANCEL), 0);
    }
    return NULL;
}

TEST(cancelling_all_against_submits_leaves_an_idle_pool) {
    weft_pool *pool = make_pool(NULL);
    pthread_t threads[CANCELLERS];
    atomic_store(&runs, 0);
    for (int i = 0; i < CANCELLERS; i++)
        threads[i] = thread_start(submit_and_cancel_all, pool);
    for (int i = 0; i < CANCELLERS; i++)
        thread_join(threads[i]);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    weft_pool_stats stats = pool_stats(pool);
    CHECK_EQ(stats.succeeded, (unsigned)atomic_load(&runs));
    CHECK_EQ(stats.succeeded + stats.cancelled, stats.submitted);
    end_pool(pool);
}

/* ---- Stop ---- */

static void stop_running(void) {
    weft_pool *pool = make_pool(NULL);
    weft_work work = begin_round(pool);
    atomic_store(&loop.may_stop, false);
    CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), 0);
    CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), -EALREADY);
    atomic_store(&loop.may_stop, true);
    weft_result result = result_of(pool, work);
    CHECK_EQ(result.status, WEFT_WORK_STOPPED);
    CHECK_EQ(result.error, -ECANCELED);
    CHECK_EQ(result.code, 4);
    CHECK_EQ(pool_stats(pool).stopped, 1);
    end_pool(pool);
}

TEST(a_running_work_stops_at_its_next_stop_point) {
    everywhere(stop_running);
}

static int look_and_succeed(void *arg) {
    atomic_fetch_add(&loop.begun, 1);
    WAIT_UNTIL(weft_work_is_stopping());
    return (int)(intptr_t)arg;
}

TEST(a_work_that_was_asked_to_stop_and_did_not_has_just_ended) {
    weft_pool *pool = make_pool(NULL);
    const struct {
        int code;
        weft_work_status status;
    } ends[] = {{3, WEFT_WORK_SUCCEEDED}, {-EIO, WEFT_WORK_FAILED}};
    for (int i = 0; i < 2; i++) {
        reset_loop();
        weft_work work = submit_with(pool, &stores, look_and_succeed, (void *)(intptr_t)ends[i].code);
        WAIT_UNTIL(atomic_load(&loop.begun) == 1);
        CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), 0);
        CHECK_EQ(result_of(pool, work).status, ends[i].status);
    }
    end_pool(pool);
}

static atomic_int cancel_events;

static int count_cancels(const weft_pool_event *event, void *arg) {
    (void)arg;
    atomic_fetch_add(&cancel_events, event->kind == WEFT_POOL_WORK_CANCELLED);
    return 0;
}

/* Scenario 10. */
TEST(stopping_a_queued_work_cancels_it) {
    for (int i = 1; i <= 2; i++) { /* WEFT_STOP, WEFT_FORCE_STOP */
        weft_pool *pool = make_pool(&(weft_pool_options){.threads = 2, .handler = count_cancels});
        atomic_store(&cancel_events, 0);
        atomic_store(&runs, 0);
        occupy(pool, 2);
        submit(pool, count_up, &runs);
        weft_work work = submit_with(pool, &stores, count_up, &runs);
        CHECK_EQ(weft_pool_control(pool, all_controls[i], work), 0);
        CHECK_EQ(weft_pool_control(pool, all_controls[i], work), -ESTALE);
        CHECK_EQ(result_of(pool, work).status, WEFT_WORK_CANCELLED);
        let_go();
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&runs), 1);
        CHECK_EQ(pool_stats(pool).succeeded, 3);
        CHECK_EQ(atomic_load(&cancel_events), 1);
        end_pool(pool);
    }
}

static atomic_int hook_calls;
static int hook_answer;

static int answer_hook(void *arg) {
    CHECK(arg == &runs);
    atomic_fetch_add(&hook_calls, 1);
    if (hook_answer == 99)
        weft_panic("a hook that fails");
    return hook_answer;
}

static atomic_int veto_errors;

static int count_veto_errors(const weft_pool_event *event, void *arg) {
    (void)arg;
    atomic_fetch_add(&veto_errors, event->kind == WEFT_POOL_ERROR && event->source == WEFT_SOURCE_VETO);
    return 0;
}

/* Scenario 14. */
TEST(a_veto_takes_the_stop_back) {
    static int (*hook)(void *) = answer_hook;
    weft_pool *pool = make_pool(NULL);
    reset_loop();
    atomic_store(&hook_calls, 0);
    hook_answer = 0;
    weft_work work = submit_with(pool, &stores, go_round, &hook);
    WAIT_UNTIL(atomic_load(&loop.begun) == 1);
    CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), 0);
    WAIT_UNTIL(atomic_load(&hook_calls) == 1);
    int rounds = atomic_load(&loop.rounds);
    WAIT_UNTIL(atomic_load(&loop.rounds) > rounds + 1);
    CHECK_EQ(atomic_load(&hook_calls), 1);                 /* the request is gone */
    CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), 0); /* a new one is asked again */
    WAIT_UNTIL(atomic_load(&hook_calls) == 2);
    atomic_store(&loop.may_end, true);
    CHECK_EQ(result_of(pool, work).status, WEFT_WORK_SUCCEEDED);
    end_pool(pool);
}

TEST(a_hook_that_agrees_or_fails_is_no_veto) {
    static int (*hook)(void *) = answer_hook;
    weft_pool *pool = make_pool(&(weft_pool_options){.handler = count_veto_errors});
    const int answers[] = {1, -EIO, 99 /* a panic */};
    atomic_store(&veto_errors, 0);
    for (int i = 0; i < 3; i++) {
        reset_loop();
        hook_answer = answers[i];
        weft_work work = submit_with(pool, &stores, go_round, &hook);
        WAIT_UNTIL(atomic_load(&loop.begun) == 1);
        CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), 0);
        CHECK_EQ(result_of(pool, work).status, WEFT_WORK_STOPPED);
        CHECK_EQ(atomic_load(&veto_errors), i);
    }
    end_pool(pool);
}

TEST(a_list_of_works_is_controlled_as_far_as_it_can_be) {
    weft_pool *pool = make_pool_of(1);
    weft_work works[4], failed[4] = {{9}, {9}, {9}, {9}};
    occupy(pool, 1);
    works[0] = submit(pool, count_up, &runs);
    works[1] = WEFT_NO_WORK;
    works[2] = submit(pool, count_up, &runs);
    works[3] = works[0];
    CHECK_EQ(weft_pool_control_works(pool, WEFT_CANCEL, works, 4, failed), 2);
    CHECK_EQ(failed[0].bits, 0);
    CHECK_EQ(failed[1].bits, works[0].bits);
    CHECK_EQ(failed[2].bits, 9);
    CHECK_EQ(weft_pool_control_works(pool, WEFT_STOP, works, 4, NULL), 4);
    CHECK_EQ(weft_pool_control_works(pool, WEFT_STOP, NULL, 0, NULL), 0);
    CHECK_EQ(weft_pool_control_works(pool, WEFT_STOP, NULL, 1, NULL), -EINVAL);
    CHECK_EQ(weft_pool_control_works(NULL, WEFT_STOP, works, 4, NULL), -EINVAL);
    let_go();
    end_pool(pool);
}

/* Scenario 13. */
static void control_what_is_over(void) {
    weft_pool *pool = make_pool(NULL);
    weft_work stored = submit_with(pool, &stores, count_up, &runs);
    weft_work over = submit(pool, count_up, &runs);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    const weft_work works[] = {stored, over, WEFT_NO_WORK, {UINT64_MAX}};
    for (int i = 0; i < CONTROLS; i++) {
        for (int j = 0; j < 4; j++)
            CHECK_EQ(weft_pool_control(pool, all_controls[i], works[j]), -ESTALE);
        CHECK_EQ(weft_pool_control(NULL, all_controls[i], over), -EINVAL);
        CHECK_EQ(weft_pool_control_all(NULL, all_controls[i]), -EINVAL);
    }
    CHECK_EQ(weft_pool_wait_work(pool, over, NULL, WEFT_NEVER), -ESTALE);
    CHECK_EQ(weft_pool_control(pool, (weft_control)99, stored), -EINVAL);
    CHECK_EQ(weft_pool_control(pool, (weft_control)-1, stored), -EINVAL);
    CHECK_EQ(weft_pool_control_all(pool, (weft_control)99), -EINVAL);
    CHECK_EQ(weft_pool_control_works(pool, (weft_control)99, works, 1, NULL), -EINVAL);
    CHECK_EQ(weft_pool_stop_retry(pool, over), -ESTALE);
    CHECK_EQ(weft_pool_stop_retry(NULL, over), -EINVAL);
    end_pool(pool);
}

TEST(nothing_can_be_done_to_a_work_that_is_over_or_not_known) {
    everywhere(control_what_is_over);
}

/* ---- Stop of the pool ---- */

static void stop_the_pool(void) {
    weft_pool *pool = make_pool_of(1);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_STOP), -EAGAIN);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_FORCE_STOP), -EAGAIN);
    atomic_store(&runs, 0);
    weft_work running = begin_round(pool);
    atomic_store(&loop.may_stop, false);
    occupy(pool, 1);
    weft_work queued = submit_with(pool, &stores, count_up, &runs);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_STOP), 0);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_STOP), -EALREADY);
    CHECK(pool_stats(pool).is_stopping);
    CHECK_EQ(result_of(pool, queued).status, WEFT_WORK_CANCELLED);
    weft_work meanwhile = submit_with(pool, &stores, count_up, &runs);
    weft_work unwanted = submit_with(pool, &stores, count_up, &runs);
    CHECK_EQ(pool_stats(pool).held, 2);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, unwanted), 0); /* scenario 16 */
    CHECK_EQ(weft_pool_wait_work(pool, meanwhile, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(atomic_load(&runs), 0);
    atomic_store(&loop.may_stop, true);
    let_go();
    CHECK_EQ(weft_pool_wait_work(pool, meanwhile, NULL, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 1);
    CHECK(!pool_stats(pool).is_stopping);
    CHECK_EQ(pool_stats(pool).stopped, 1);
    CHECK_EQ(pool_stats(pool).cancelled, 2);
    CHECK_EQ(weft_pool_poll_work(pool, running, NULL), -ESTALE); /* the results of that generation are gone */
    end_pool(pool);
}

/* Scenarios 15 and 16. */
TEST(what_is_submitted_while_the_pool_is_stopped_runs_afterwards) {
    everywhere(stop_the_pool);
}

static int compute_until_stopped(void *arg) {
    atomic_fetch_add(&loop.begun, 1);
    COMPUTE_UNTIL(weft_work_is_stopping());
    return (int)(intptr_t)arg;
}

/* The thread is free again while the stop is still under way. */
TEST(what_is_queued_when_the_pool_is_stopped_never_runs) {
    enum { QUEUED = 500 };
    for (int round = 0; round < 20; round++) {
        weft_pool *pool = make_pool_of(1);
        reset_loop();
        atomic_store(&runs, 0);
        submit(pool, compute_until_stopped, NULL);
        WAIT_UNTIL(atomic_load(&loop.begun) == 1);
        for (int i = 0; i < QUEUED; i++)
            submit(pool, count_up, &runs);
        CHECK_EQ(weft_pool_control_all(pool, round % 2 ? WEFT_STOP : WEFT_FORCE_STOP), 0);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&runs), 0);
        CHECK_EQ(pool_stats(pool).cancelled, QUEUED);
        end_pool(pool);
    }
}

TEST(a_pool_that_was_stopped_is_used_again) {
    weft_pool *pool = make_pool(NULL);
    for (int i = 0; i < FEW; i++) {
        weft_work work = begin_round(pool);
        CHECK_EQ(weft_pool_control_all(pool, WEFT_STOP), 0);
        CHECK_EQ(result_of(pool, work).status, WEFT_WORK_STOPPED);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    }
    CHECK_EQ(pool_stats(pool).generation, FEW);
    end_pool(pool);
}

/* ---- Pause ---- */

/* The work has come to its pause point, and stays there: nobody is at the loop any more. */
static void wait_until_paused(weft_pool *pool) {
    WAIT_UNTIL(pool_stats(pool).threads_idle == pool_stats(pool).threads);
}

static void pause_one(void) {
    weft_pool *pool = make_pool(NULL);
    weft_work work = begin_round(pool);
    CHECK_EQ(weft_pool_control(pool, WEFT_RESUME, work), -EALREADY);
    CHECK_EQ(weft_pool_control(pool, WEFT_PAUSE, work), 0);
    CHECK_EQ(weft_pool_control(pool, WEFT_PAUSE, work), 0);
    wait_until_paused(pool);
    int rounds = atomic_load(&loop.rounds);
    atomic_store(&runs, 0);
    submit(pool, count_up, &runs); /* others go on */
    WAIT_UNTIL(atomic_load(&runs) == 1);
    CHECK_EQ(atomic_load(&loop.rounds), rounds);
    CHECK_EQ(weft_pool_control(pool, WEFT_RESUME, work), 0);
    CHECK_EQ(weft_pool_control(pool, WEFT_RESUME, work), -EALREADY);
    WAIT_UNTIL(atomic_load(&loop.rounds) > rounds);
    atomic_store(&loop.may_end, true);
    CHECK_EQ(result_of(pool, work).status, WEFT_WORK_SUCCEEDED);
    end_pool(pool);
}

TEST(a_paused_work_waits_at_its_pause_point_until_it_is_resumed) {
    everywhere(pause_one);
}

TEST(a_work_that_is_paused_before_it_begins_waits_too) {
    weft_pool *pool = make_pool_of(1);
    occupy(pool, 1);
    reset_loop();
    weft_work work = submit_round(pool);
    CHECK_EQ(weft_pool_control(pool, WEFT_PAUSE, work), 0);
    let_go();
    WAIT_UNTIL(atomic_load(&loop.begun) == 1);
    wait_until_paused(pool);
    CHECK_EQ(atomic_load(&loop.rounds), 1);
    CHECK_EQ(weft_pool_control(pool, WEFT_STOP, work), 0); /* a stop ends the pause */
    CHECK_EQ(result_of(pool, work).status, WEFT_WORK_STOPPED);
    end_pool(pool);
}

static void pause_all(void) {
    weft_pool *pool = make_pool(NULL);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_RESUME), -EALREADY);
    weft_work first = begin_round(pool);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_PAUSE), 0);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_PAUSE), 0);
    CHECK(pool_stats(pool).is_paused);
    weft_work second = submit_round(pool); /* still begins */
    WAIT_UNTIL(atomic_load(&loop.begun) == 2);
    wait_until_paused(pool);
    CHECK_EQ(weft_pool_control(pool, WEFT_PAUSE, first), 0);
    int rounds = atomic_load(&loop.rounds);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_RESUME), 0); /* also the one that was paused by itself */
    CHECK_EQ(weft_pool_control(pool, WEFT_RESUME, first), -EALREADY);
    WAIT_UNTIL(atomic_load(&loop.rounds) > rounds + 2);
    CHECK(!pool_stats(pool).is_paused);
    atomic_store(&loop.may_end, true);
    CHECK_EQ(result_of(pool, first).status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(result_of(pool, second).status, WEFT_WORK_SUCCEEDED);
    end_pool(pool);
}

TEST(a_paused_pool_holds_works_at_their_pause_points_and_begins_others) {
    everywhere(pause_all);
}

TEST(resuming_the_pool_resumes_works_that_were_paused_one_by_one) {
    weft_pool *pool = make_pool(NULL);
    weft_work work = begin_round(pool);
    CHECK_EQ(weft_pool_control(pool, WEFT_PAUSE, work), 0);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_RESUME), 0);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_RESUME), -EALREADY);
    atomic_store(&loop.may_end, true);
    CHECK_EQ(result_of(pool, work).status, WEFT_WORK_SUCCEEDED);
    end_pool(pool);
}

TEST(a_work_that_is_stopped_by_force_leaves_its_pause) {
    weft_pool *pool = make_pool(NULL);
    weft_work work = begin_round(pool);
    atomic_store(&loop.may_stop, false);
    CHECK_EQ(weft_pool_control(pool, WEFT_PAUSE, work), 0);
    wait_until_paused(pool);
    CHECK_EQ(weft_pool_control(pool, WEFT_FORCE_STOP, work), 0);
    weft_result result = result_of(pool, work);
    CHECK_EQ(result.status, WEFT_WORK_FORCE_STOPPED);
    CHECK_EQ(result.code, -ECANCELED);
    end_pool(pool);
}

/* ---- Held back, and controlled ---- */

TEST(works_of_a_suspended_pool_are_cancelled_together) {
    weft_pool *pool = make_pool(&(weft_pool_options){.suspended = true});
    weft_work_options named = {.id = {.text = "held"}};
    atomic_store(&runs, 0);
    for (int i = 0; i < FEW; i++)
        submit(pool, count_up, &runs);
    submit_with(pool, &named, count_up, &runs);
    CHECK_EQ(weft_pool_submit_with(pool, NULL, &named, count_up, &runs), -EEXIST);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_STOP), -EAGAIN); /* nothing has begun */
    CHECK_EQ(weft_pool_control_all(pool, WEFT_CANCEL), FEW + 1);
    CHECK_EQ(pool_stats(pool).held, 0);
    submit_with(pool, &named, count_up, &runs); /* the id is free */
    CHECK_EQ(weft_pool_start(pool), 0);
    end_pool(pool);
    CHECK_EQ(atomic_load(&runs), 1);
}

TEST(a_pool_cannot_be_held_while_it_is_stopped) {
    weft_pool *pool = make_pool_of(1);
    occupy(pool, 1);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_STOP), 0);
    CHECK_EQ(weft_pool_hold(pool), -EAGAIN);
    CHECK_EQ(weft_pool_release(pool), -EINVAL);
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_hold(pool), 0);
    CHECK_EQ(weft_pool_release(pool), 0);
    end_pool(pool);
}
