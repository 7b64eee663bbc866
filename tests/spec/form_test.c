/* SPDX-License-Identifier: MIT
 *
 * Where parallel forms run, and how they end together with works and pools: submitted from outside and cancelled, discarded,
 * refused, run by their caller, or given up; inside works on a thread's own stack, on a thread of their own, and run by a helper.
 */
#include "support/run.h"
#include "weft/parallel.h"

static weft_pool *pool;
static _Atomic int64_t called;
static _Atomic int outcome;
static _Atomic bool is_back;
static _Atomic bool may_end;

static int count_range(int64_t begin, int64_t end, void *arg) {
    (void)arg;
    atomic_fetch_add(&called, end - begin);
    return 0;
}

static void reset(void) {
    atomic_store(&called, 0);
    atomic_store(&outcome, 1);
    atomic_store(&is_back, false);
    atomic_store(&may_end, false);
}

static void *call_from_outside(void *opaque) {
    weft_range_fn body = *(weft_range_fn *)opaque;
    atomic_store(&outcome, weft_parallel_for(pool, 0, 1000, 1, body, NULL));
    atomic_store(&is_back, true);
    return NULL;
}

static uint64_t outstanding(void) {
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_get_stats(pool, &stats), 0);
    return stats.held + stats.queued + stats.running;
}

static weft_range_fn counting = count_range;

/* A suspended pool holds the form's work. */
static pthread_t call_held(void) {
    weft_pool_options options = {.threads = 1, .suspended = true};
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    reset();
    pthread_t thread = thread_start(call_from_outside, &counting);
    WAIT_UNTIL(outstanding() == 1);
    return thread;
}

TEST(form_returns_when_its_work_is_cancelled_before_it_begins) {
    pthread_t thread = call_held();
    CHECK_EQ(weft_pool_control_all(pool, WEFT_CANCEL), 1);
    thread_join(thread);
    CHECK_EQ(atomic_load(&outcome), -ECANCELED);
    CHECK_EQ(atomic_load(&called), 0);
    weft_pool_free(pool);
}

TEST(form_returns_when_its_pool_is_disposed_of) {
    pthread_t thread = call_held();
    CHECK_EQ(weft_pool_dispose(pool), 0);
    thread_join(thread);
    CHECK_EQ(atomic_load(&outcome), -ECANCELED);
    CHECK_EQ(atomic_load(&called), 0);
    weft_pool_free(pool);
}

TEST(form_runs_when_its_pool_is_started) {
    pthread_t thread = call_held();
    CHECK_EQ(weft_pool_start(pool), 0);
    thread_join(thread);
    CHECK_EQ(atomic_load(&outcome), 0);
    CHECK_EQ(atomic_load(&called), 1000);
    weft_pool_free(pool);
}

static void *call_and_be_cancelled(void *opaque) {
    weft_scope *scope = opaque;
    WAIT_UNTIL(outstanding() == 1);
    CHECK_EQ(weft_scope_cancel(scope, -ECANCELED, NULL), 0);
    return NULL;
}

static int call_in_scope(weft_scope *scope, void *arg) {
    weft_fiber canceller;
    (void)arg;
    SPAWN(&canceller, call_and_be_cancelled, scope);
    CHECK_EQ(weft_parallel_for(pool, 0, 1000, 1, count_range, NULL), -ECANCELED);
    weft_shield();
    JOIN(canceller, NULL);
    weft_unshield();
    return 0;
}

static void cancelled_while_held(void) {
    CHECK_EQ(weft_scope_run(NULL, call_in_scope, NULL), -ECANCELED);
}

TEST(form_whose_caller_is_cancelled_takes_its_work_back) {
    weft_pool_options options = {.threads = 1, .suspended = true};
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    reset();
    run_fibers(cancelled_while_held);
    CHECK_EQ(atomic_load(&called), 0);
    CHECK_EQ(outstanding(), 0);
    weft_pool_free(pool);
}

/* ---- Rejection ---- */

static int block(void *arg) {
    (void)arg;
    atomic_fetch_add(&called, 1);
    while (!atomic_load(&may_end))
        sched_yield(); /* and keeps its thread */
    return 0;
}

static void full_pool(weft_rejection rejection) {
    weft_pool_options options = {.threads = 1, .max_queued = 1, .rejection = rejection};
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    reset();
    CHECK_EQ(weft_pool_submit(pool, NULL, block, NULL), 0);
    WAIT_UNTIL(atomic_load(&called) == 1); /* it runs: the next one is queued */
    CHECK_EQ(weft_pool_submit(pool, NULL, block, NULL), 0);
    atomic_store(&called, 0);
}

static void end_full_pool(void) {
    atomic_store(&may_end, true);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    weft_pool_free(pool);
}

TEST(form_is_refused_by_a_full_pool) {
    full_pool(WEFT_REJECT_ABORT);
    CHECK_EQ(weft_parallel_for(pool, 0, 1000, 0, count_range, NULL), -EAGAIN);
    CHECK_EQ(atomic_load(&called), 0);
    end_full_pool();
}

TEST(form_is_run_by_its_caller_where_that_is_the_rule) {
    full_pool(WEFT_REJECT_CALLER_RUNS);
    CHECK_EQ(weft_parallel_for(pool, 0, 1000, 0, count_range, NULL), 0);
    CHECK_EQ(atomic_load(&called), 1000);
    end_full_pool();
}

TEST(form_is_discarded_where_that_is_the_rule) {
    full_pool(WEFT_REJECT_DISCARD);
    CHECK_EQ(weft_parallel_for(pool, 0, 1000, 0, count_range, NULL), -ECANCELED);
    CHECK_EQ(atomic_load(&called), 0);
    end_full_pool();
}

/* ---- Given up ---- */

static int hold_on(int64_t begin, int64_t end, void *arg) {
    (void)arg;
    atomic_fetch_add(&called, end - begin);
    while (!atomic_load(&may_end))
        sched_yield(); /* looks at nothing, waits for nothing */
    return 0;
}

static weft_range_fn holding = hold_on;

TEST(form_whose_work_is_given_up_still_waits_for_its_body) {
    weft_pool_options options = {.threads = 1, .grace = WEFT_MILLISECOND};
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    reset();
    pthread_t thread = thread_start(call_from_outside, &holding);
    WAIT_UNTIL(atomic_load(&called) > 0);
    CHECK_EQ(weft_pool_control_all(pool, WEFT_FORCE_STOP), 0);
    do {
        CHECK_EQ(weft_pool_get_stats(pool, &stats), 0);
        weft_yield();
    } while (stats.abandoned == 0);
    CHECK(!atomic_load(&is_back)); /* what it works on is the caller's */
    atomic_store(&may_end, true);
    thread_join(thread);
    CHECK_EQ(atomic_load(&outcome), -ECANCELED);
    weft_pool_free(pool);
}

/* ---- Works of other kinds ---- */

static int run_forms(void *arg) {
    weft_branch branches[2] = {{block, NULL, 0}, {block, NULL, 0}};
    (void)arg;
    CHECK_EQ(weft_parallel_for(NULL, 0, 1000, 0, count_range, NULL), 0);
    CHECK_EQ(weft_parallel_for(pool, 0, 1000, 7, count_range, NULL), 0);
    CHECK_EQ(weft_parallel_invoke(NULL, branches, 2), 0);
    return 0;
}

static void check_kind(const weft_work_options *options) {
    weft_work work;
    weft_result result;
    CHECK_EQ(weft_pool_submit_with(pool, &work, options, run_forms, NULL), 0);
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(atomic_exchange(&called, 0), 2002);
}

TEST(forms_work_in_works_of_every_kind) {
    weft_pool_options options = {.threads = wf_test_workers()};
    weft_work_options plain = {.store_result = true};
    weft_work_options on_thread = {.store_result = true, .on_thread_stack = true};
    weft_work_options alone = {.store_result = true, .long_running = true};
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    reset();
    atomic_store(&may_end, true);
    for (int i = 0; i < scaled(50, 3); i++) {
        check_kind(&plain);
        check_kind(&on_thread);
        check_kind(&alone);
    }
    weft_pool_free(pool);
}

static int run_loop_only(void *arg) {
    (void)arg;
    return weft_parallel_for(NULL, 0, 1000, 0, count_range, NULL);
}

static int begin_and_block(void *arg) {
    atomic_store(&is_back, true);
    return block(arg);
}

TEST(forms_work_in_a_work_that_a_helper_runs) {
    weft_pool_options options = {.threads = 1};
    weft_work work;
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    reset();
    CHECK_EQ(weft_pool_submit(pool, NULL, begin_and_block, NULL), 0);
    WAIT_UNTIL(atomic_load(&is_back)); /* the only thread is taken */
    atomic_store(&called, 0);
    CHECK_EQ(weft_pool_submit(pool, &work, run_loop_only, NULL), 0);
    int error = weft_pool_help_work(pool, work, NULL, WEFT_NEVER);
    CHECK(error == 0 || error == -ESTALE);
    CHECK_EQ(atomic_load(&called), 1000);
    atomic_store(&may_end, true);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    weft_pool_free(pool);
}
