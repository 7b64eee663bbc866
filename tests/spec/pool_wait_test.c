/* SPDX-License-Identifier: MIT
 *
 * spec/pool_wait_test.c - waiting for works: one, a list, one of several by select; and helping meanwhile.
 *
 * Works that somebody is to wait for are kept from ending until he does, since a work that is over and not stored is not known
 * any more. Waiting for the whole pool is in spec/pool_test.c.
 */
#include "spec/pool.h"

enum { WAITERS = 6, FEW = 8 };

static const weft_work_options stores = {.store_result = true};

static int return_arg(void *arg) {
    return (int)(intptr_t)arg;
}

/* ---- Waiting for works ---- */

static struct {
    weft_pool *pool;
    weft_work work;
    atomic_int waiting;
    atomic_int told;
    atomic_bool may_end;
} awaited;

/* Waits as a fiber does: its thread is free meanwhile. */
static int end_when_told(void *arg) {
    WAIT_UNTIL(atomic_load(&awaited.may_end));
    return return_arg(arg);
}

static void begin_awaited(const weft_pool_options *options) {
    awaited.pool = make_pool(options);
    atomic_store(&awaited.waiting, 0);
    atomic_store(&awaited.told, 0);
    atomic_store(&awaited.may_end, false);
    awaited.work = submit(awaited.pool, end_when_told, (void *)11);
}

static int await(void *arg) {
    weft_result result;
    (void)arg;
    atomic_fetch_add(&awaited.waiting, 1);
    int status = weft_pool_wait_work(awaited.pool, awaited.work, &result, WEFT_NEVER);
    if (status)
        return status;
    CHECK_EQ(result.work.bits, awaited.work.bits);
    CHECK_EQ(result.code, 11);
    atomic_fetch_add(&awaited.told, 1);
    return 0;
}

static void *await_on_thread(void *arg) {
    CHECK_EQ(await(arg), 0);
    return NULL;
}

static void wait_in_many_ways(void) {
    begin_awaited(&(weft_pool_options){.threads = 1});
    weft_pool *other = make_pool_of(1);
    struct on_thread_call threads[WAITERS];
    weft_fiber fibers[WAITERS];
    for (int i = 0; i < WAITERS; i++) {
        on_thread_start(&threads[i], await_on_thread, NULL);
        fibers[i] = spawn_parked(await_on_thread, NULL);
        submit(other, await, NULL);
        submit(awaited.pool, await, NULL);
    }
    CHECK_EQ(status_when_cancelled(await, NULL), -ECANCELED);
    WAIT_UNTIL(atomic_load(&awaited.waiting) == 4 * WAITERS + 1);
    CHECK_EQ(weft_pool_wait_work(awaited.pool, awaited.work, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_wait_work(awaited.pool, awaited.work, NULL, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_pool_poll_work(awaited.pool, awaited.work, NULL), -EAGAIN);
    CHECK_EQ(atomic_load(&awaited.told), 0);
    atomic_store(&awaited.may_end, true);
    for (int i = 0; i < WAITERS; i++) {
        JOIN(fibers[i], NULL);
        on_thread_finish(&threads[i]);
    }
    end_pool(other);
    end_pool(awaited.pool);
    CHECK_EQ(atomic_load(&awaited.told), 4 * WAITERS);
}

TEST(threads_fibers_and_works_wait_for_one_work) {
    run_fibers(wait_in_many_ways);
}

static void ask_for_unknown_works(void) {
    weft_pool *pool = make_pool(NULL);
    weft_work over = submit(pool, return_arg, NULL);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    const weft_work unknown[] = {WEFT_NO_WORK, over, {UINT64_MAX}, {1}, {UINT64_C(77) << 32}, {over.bits + 1}};
    weft_result result;
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        CHECK_EQ(weft_pool_wait_work(pool, unknown[i], &result, WEFT_NEVER), -ESTALE);
        CHECK_EQ(weft_pool_help_work(pool, unknown[i], &result, WEFT_NEVER), -ESTALE);
        CHECK_EQ(weft_pool_poll_work(pool, unknown[i], &result), -ESTALE);
        CHECK_EQ(weft_pool_remove(pool, unknown[i]), -ESTALE);
        weft_case entry = weft_on_work(pool, unknown[i], &result);
        CHECK_EQ(weft_select(&entry, 1, WEFT_NEVER), 0);
        CHECK_EQ(entry.status, -ESTALE);
    }
    CHECK_EQ(weft_pool_wait_work(NULL, over, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_pool_help_work(NULL, over, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_pool_help(NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_pool_poll_work(NULL, over, NULL), -EINVAL);
    CHECK_EQ(weft_pool_wait_works(NULL, &over, 1, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_pool_wait_works(pool, NULL, 1, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_pool_wait_works(pool, NULL, 0, NULL, WEFT_NEVER), 0);
    end_pool(pool);
}

TEST(works_that_are_not_known_are_stale_at_once) {
    everywhere(ask_for_unknown_works);
}

static void wait_for_a_list(void) {
    weft_pool *pool = make_pool_of(1);
    weft_work works[FEW];
    weft_result results[FEW];
    CHECK_EQ(weft_pool_hold(pool), 0); /* one generation, however fast they are */
    for (int i = 0; i < FEW; i++)
        works[i] = submit_with(pool, &stores, return_arg, (void *)(intptr_t)(i + 1));
    works[2] = WEFT_NO_WORK;
    works[5].bits += UINT64_C(1) << 32;
    CHECK_EQ(weft_pool_wait_works(pool, works, FEW, results, WEFT_NEVER), 2);
    for (int i = 0; i < FEW; i++) {
        bool is_known = i != 2 && i != 5;
        CHECK_EQ(results[i].status, is_known ? WEFT_WORK_SUCCEEDED : WEFT_WORK_PENDING);
        CHECK_EQ(results[i].code, is_known ? i + 1 : 0);
        CHECK_EQ(results[i].work.bits, works[i].bits);
    }
    occupy(pool, 1);
    works[3] = submit(pool, return_arg, NULL);
    CHECK_EQ(weft_pool_wait_works(pool, works, FEW, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    let_go();
    CHECK_EQ(weft_pool_release(pool), 0);
    end_pool(pool);
}

TEST(waiting_for_a_list_counts_those_that_are_not_known) {
    everywhere(wait_for_a_list);
}

static int await_list(void *arg) {
    (void)arg;
    return weft_pool_wait_works(awaited.pool, &awaited.work, 1, NULL, WEFT_NEVER);
}

static void cancel_a_list(void) {
    begin_awaited(NULL);
    CHECK_EQ(status_when_cancelled(await_list, NULL), -ECANCELED);
    atomic_store(&awaited.may_end, true);
    end_pool(awaited.pool);
}

TEST(a_cancelled_fiber_does_not_wait_for_a_list) {
    run_fibers(cancel_a_list);
}

/* ---- Select ---- */

static void select_works(void) {
    weft_pool *pool = make_pool_of(1);
    weft_chan *chan;
    weft_result results[2] = {{.code = -1}, {.code = -1}};
    int value;
    CHECK_EQ(weft_chan_new(&chan, sizeof value, 1), 0);
    occupy(pool, 1);
    weft_work first =
        submit_with(pool, &(weft_work_options){.store_result = true, .priority = -1}, return_arg, (void *)21);
    weft_work second = submit(pool, return_arg, (void *)22);
    weft_case cases[] = {weft_on_work(pool, first, &results[0]), weft_on_receive(chan, &value),
                         weft_on_work(pool, second, &results[1])};
    CHECK_EQ(weft_select(cases, 3, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_select(cases, 3, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    value = 4;
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0);
    CHECK_EQ(weft_select(cases, 3, WEFT_NEVER), 1); /* the works go on as if nobody had asked */
    CHECK_EQ(results[0].code, -1);
    CHECK_EQ(results[1].code, -1);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, second), 0);
    CHECK_EQ(weft_select(cases, 3, WEFT_NEVER), 2);
    CHECK_EQ(cases[2].status, -ESTALE);
    let_go();
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 0);
    CHECK_EQ(cases[0].status, 0);
    CHECK_EQ(results[0].code, 21);
    results[0].code = 0;
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), 0); /* it is stored, and stays over */
    CHECK_EQ(results[0].code, 21);
    weft_chan_free(chan);
    end_pool(pool);
}

TEST(the_end_of_a_work_is_a_case_of_select) {
    everywhere(select_works);
}

static void *end_it(void *arg) {
    atomic_store(&awaited.may_end, true);
    return arg;
}

static void select_a_running_work(void) {
    weft_result result = {0};
    begin_awaited(NULL);
    weft_case cases[] = {weft_on_work(awaited.pool, awaited.work, &result), weft_on_time(weft_after(PATIENCE_NS))};
    struct on_thread_call call;
    on_thread_start(&call, end_it, NULL);
    int chosen = weft_select(cases, 2, WEFT_NEVER);
    CHECK_EQ(chosen, 0);
    CHECK(cases[0].status == -ESTALE || (cases[0].status == 0 && result.code == 11));
    on_thread_finish(&call);
    end_pool(awaited.pool);
}

TEST(a_work_that_runs_ends_a_select) {
    for (int i = 0; i < 20; i++)
        everywhere(select_a_running_work);
}

/* ---- Helping ---- */

static struct {
    weft_pool *pool;
    pthread_t helper;
    atomic_int runs;
    atomic_int by_helper;
} help;

static int note_who_runs(void *arg) {
    CHECK(weft_work_pool() == help.pool);
    CHECK(weft_work_self().bits != 0);
    atomic_fetch_add(&help.by_helper, pthread_equal(pthread_self(), help.helper) != 0);
    atomic_fetch_add(&help.runs, 1);
    return return_arg(arg);
}

static void begin_help(unsigned threads) {
    help.pool = make_pool_of(threads);
    help.helper = pthread_self();
    atomic_store(&help.runs, 0);
    atomic_store(&help.by_helper, 0);
}

/* Scenario 8, without its seconds: the only thread is busy all the time, and all is done. */
TEST(a_helping_thread_runs_what_is_queued) {
    begin_help(1);
    occupy(help.pool, 1);
    for (int i = 0; i < 4; i++)
        submit(help.pool, note_who_runs, NULL);
    weft_work last = submit_with(help.pool, &stores, note_who_runs, (void *)13);
    weft_result result;
    CHECK_EQ(weft_pool_help_work(help.pool, last, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.code, 13);
    CHECK_EQ(atomic_load(&help.runs), 5);
    CHECK_EQ(atomic_load(&help.by_helper), 5);
    CHECK_EQ(weft_pool_help(help.pool, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    let_go();
    CHECK_EQ(weft_pool_help(help.pool, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_help(help.pool, WEFT_NEVER), 0); /* it is idle */
    CHECK_EQ(pool_stats(help.pool).succeeded, 6);
    end_pool(help.pool);
}

static int submit_and_compute(void *arg) {
    (void)arg;
    atomic_fetch_add(&busy.begun, 1);
    COMPUTE_UNTIL(atomic_load(&busy.is_over)); /* the helper has found nothing to do */
    submit(help.pool, note_who_runs, NULL);
    COMPUTE_UNTIL(atomic_load(&help.runs) == 1);
    return 0;
}

static void *let_go_later(void *arg) {
    WAIT_UNTIL(pool_stats(help.pool).running == 1 && pool_stats(help.pool).queued == 0);
    let_go();
    return arg;
}

/* The work that comes later can be run by the helper only. */
TEST(a_helping_thread_also_runs_what_is_submitted_while_it_waits) {
    begin_help(1);
    atomic_store(&busy.begun, 0);
    atomic_store(&busy.is_over, false);
    submit(help.pool, submit_and_compute, NULL);
    WAIT_UNTIL(atomic_load(&busy.begun) == 1);
    pthread_t thread = thread_start(let_go_later, NULL);
    CHECK_EQ(weft_pool_help(help.pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&help.by_helper), 1);
    thread_join(thread);
    end_pool(help.pool);
}

static int help_below(void *arg) {
    intptr_t depth = (intptr_t)arg;
    note_who_runs(NULL);
    if (depth == 0)
        return 0;
    weft_work below = submit_with(help.pool, &stores, help_below, (void *)(depth - 1));
    return weft_pool_help_work(help.pool, below, NULL, WEFT_NEVER);
}

TEST(helping_nests) {
    begin_help(1);
    occupy(help.pool, 1);
    weft_work work = submit_with(help.pool, &stores, help_below, (void *)50);
    weft_result result;
    CHECK_EQ(weft_pool_help_work(help.pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(atomic_load(&help.by_helper), 51);
    CHECK_EQ(weft_work_self().bits, 0);
    let_go();
    end_pool(help.pool);
}

static int panic_on_helper(void *arg) {
    note_who_runs(arg);
    weft_panic("not here");
}

TEST(a_helper_survives_works_that_panic_fail_or_were_cancelled) {
    begin_help(1);
    occupy(help.pool, 1);
    weft_work panics = submit_with(help.pool, &stores, panic_on_helper, NULL);
    weft_work fails = submit_with(help.pool, &stores, note_who_runs, (void *)(intptr_t)-EIO);
    weft_work cancelled = submit_with(help.pool, &stores, note_who_runs, NULL);
    weft_work last = submit_with(help.pool, &stores, note_who_runs, NULL);
    CHECK_EQ(weft_pool_control(help.pool, WEFT_CANCEL, cancelled), 0);
    CHECK_EQ(weft_pool_help_work(help.pool, last, NULL, WEFT_NEVER), 0);
    CHECK_EQ(result_of(help.pool, panics).error, -EOWNERDEAD);
    CHECK_EQ(result_of(help.pool, fails).error, -EIO);
    CHECK_EQ(atomic_load(&help.runs), 3);
    let_go();
    end_pool(help.pool);
}

static void help_on_a_fiber(void) {
    begin_help(1);
    occupy(help.pool, 1);
    weft_work work = submit_with(help.pool, &stores, note_who_runs, NULL);
    CHECK_EQ(weft_pool_help_work(help.pool, work, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_help(help.pool, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(atomic_load(&help.runs), 0);
    let_go();
    CHECK_EQ(weft_pool_help_work(help.pool, work, NULL, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_help(help.pool, WEFT_NEVER), 0);
    end_pool(help.pool);
}

TEST(a_fiber_that_helps_just_waits) {
    run_fibers(help_on_a_fiber);
}

static void *help_out(void *arg) {
    CHECK_EQ(weft_pool_help(help.pool, WEFT_NEVER), 0);
    return arg;
}

TEST(many_helpers_run_every_work_once) {
    enum { HELPERS = 4, WORKS = 2000 };
    pthread_t threads[HELPERS];
    begin_help(wf_test_workers());
    for (int i = 0; i < WORKS / 2; i++)
        submit(help.pool, note_who_runs, NULL);
    for (int i = 0; i < HELPERS; i++)
        threads[i] = thread_start(help_out, NULL);
    for (int i = 0; i < WORKS / 2; i++)
        submit(help.pool, note_who_runs, NULL);
    for (int i = 0; i < HELPERS; i++)
        thread_join(threads[i]);
    CHECK_EQ(weft_pool_wait(help.pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&help.runs), WORKS);
    end_pool(help.pool);
}
