/* SPDX-License-Identifier: MIT
 *
 * unit/pool/observe_test.c - guarded calls, times in histograms, the detector, and what happens without a thread for the clock.
 */
#include "os/clock.h"
#include "os/fault.h"
#include "os/memory.h"
#include "pool/pool.h"
#include "support/run.h"

static weft_pool *bare;

static void bare_begin(weft_pool_options options) {
    bare = wf_os_alloc_aligned(64, sizeof *bare);
    CHECK(bare != NULL);
    bare->options = options;
}

static void bare_end(void) {
    wf_os_free(bare);
}

/* ---- Calls of the program ---- */

enum way { RETURNS, PANICS, EXITS, DEFERS };

static atomic_int deferred_calls;

static void count_deferred(void *arg) {
    (void)arg;
    atomic_fetch_add(&deferred_calls, 1);
}

static int behave(void *opaque, void *value) {
    enum way way = *(enum way *)opaque;
    if (way == PANICS)
        weft_panic("as it was told");
    if (way == EXITS)
        weft_exit(NULL);
    if (way == DEFERS)
        CHECK_EQ(weft_defer(count_deferred, NULL), 0);
    return *(int *)value;
}

static void calls_on_a_fiber(void) {
    enum way ways[] = {RETURNS, PANICS, EXITS, DEFERS};
    int value = -7, other = 3;
    atomic_store(&deferred_calls, 0);
    CHECK_EQ(wf_pool_call(behave, &ways[0], &value), -7);
    CHECK_EQ(wf_pool_call(behave, &ways[0], &other), 3);
    CHECK_EQ(wf_pool_call(behave, &ways[1], &value), -EOWNERDEAD);
    CHECK_EQ(wf_pool_call(behave, &ways[2], &value), -EOWNERDEAD);
    CHECK_EQ(wf_pool_call(behave, &ways[3], &other), 3);
    CHECK_EQ(atomic_load(&deferred_calls), 1); /* when the call was over, not when the fiber is */
    weft_yield();
}

TEST(a_call_of_the_program_on_a_fiber_comes_back_whatever_it_does) {
    run_fibers(calls_on_a_fiber);
}

TEST(a_call_of_the_program_on_a_thread_comes_back_from_a_panic) {
    enum way ways[] = {RETURNS, PANICS};
    int value = -7;
    CHECK_EQ(wf_pool_call(behave, &ways[0], &value), -7);
    CHECK_EQ(wf_pool_call(behave, &ways[1], &value), -EOWNERDEAD);
}

static int told[WEFT_POOL_EVENT_KINDS];
static weft_pool_event last;

static int fail_at_all(const weft_pool_event *event, void *arg) {
    (void)arg;
    told[event->kind]++;
    last = *event;
    return -EIO;
}

TEST(a_handler_that_fails_is_told_once_and_not_of_its_failure_at_that) {
    weft_work work = {.bits = 9};
    for (int kind = 0; kind < WEFT_POOL_EVENT_KINDS; kind++) {
        memset(told, 0, sizeof told);
        bare_begin((weft_pool_options){.handler = fail_at_all, .events = UINT32_MAX});
        wf_pool_tell_kind(bare, (weft_pool_event_kind)kind, work, NULL);
        CHECK_EQ(told[kind], 1);
        CHECK_EQ(told[WEFT_POOL_ERROR], 1);
        CHECK_EQ(last.kind, WEFT_POOL_ERROR);
        CHECK(last.pool == bare);
        CHECK_EQ(last.work.bits, work.bits);
        if (kind != WEFT_POOL_ERROR) {
            CHECK_EQ(last.source, WEFT_SOURCE_HANDLER);
            CHECK_EQ(last.failed_kind, kind);
            CHECK_EQ(last.error, -EIO);
        }
        bare->options.events = ~(1u << WEFT_POOL_ERROR);
        wf_pool_tell_kind(bare, (weft_pool_event_kind)kind, work, NULL);
        CHECK_EQ(told[WEFT_POOL_ERROR], 1); /* nobody wants to know */
        bare->options.handler = NULL;
        wf_pool_tell_kind(bare, (weft_pool_event_kind)kind, work, NULL);
        bare_end();
    }
}

TEST(times_are_counted_by_powers_of_two) {
    const struct {
        int64_t ns;
        int bucket;
    } cases[] = {{0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}, {1023, 9}, {1024, 10}, {INT64_MAX, 62}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bare_begin((weft_pool_options){.measure = true});
        weft_result result = {.status = WEFT_WORK_SUCCEEDED, .submitted = 100, .started = 100, .run_ns = cases[i].ns};
        wf_pool_count_result(bare, &result);
        for (int k = 0; k < 64; k++)
            CHECK_EQ(wf_load_relaxed(&bare->counts.run_histogram[k]), k == cases[i].bucket);
        CHECK_EQ(wf_load_relaxed(&bare->counts.run_ns), cases[i].ns);
        CHECK_EQ(wf_load_relaxed(&bare->counts.queue_histogram[0]), 1);
        result = (weft_result){.status = WEFT_WORK_CANCELLED, .submitted = 100}; /* it never began */
        wf_pool_count_result(bare, &result);
        CHECK_EQ(wf_load_relaxed(&bare->counts.queue_histogram[0]), 1);
        CHECK_EQ(wf_load_relaxed(&bare->counts.by_status[WEFT_WORK_CANCELLED]), 1);
        CHECK_EQ(wf_load_relaxed(&bare->counts.by_status[WEFT_WORK_SUCCEEDED]), 1);
        bare_end();
    }
}

/* ---- The detector ---- */

static weft_pool *pool;
static atomic_int runs;
static atomic_int stuck_events;
static atomic_int thread_errors;

static int note_event(const weft_pool_event *event, void *arg) {
    (void)arg;
    if (event->kind == WEFT_POOL_STUCK)
        atomic_fetch_add(&stuck_events, 1);
    if (event->kind == WEFT_POOL_ERROR && event->source == WEFT_SOURCE_THREAD) {
        CHECK_EQ(event->error, -EAGAIN);
        atomic_fetch_add(&thread_errors, 1);
    }
    return 0;
}

static int count_run(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return 0;
}

static weft_pool_stats stats_of_pool(void) {
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_get_stats(pool, &stats), 0);
    return stats;
}

/* As a submit would, but for telling anybody. */
static void submit_in_secret(void) {
    bool is_first = false;
    wf_lock_take(&pool->queue.lock);
    CHECK(wf_pool_count_in(pool, 1, &is_first));
    struct wf_work *work = wf_work_take_locked(pool);
    CHECK(work != NULL);
    work->fn = count_run;
    work->attempts = 0;
    work->submitted_at = work->started_at = 0;
    uint64_t word = wf_work_with_phase(wf_load_relaxed(&work->word), WF_WORK_QUEUED);
    wf_store_release(&work->word, word | WF_WORK_LISTED | pool->special);
    CHECK_EQ(wf_queue_push_locked(pool, work), 0);
    wf_lock_drop(&pool->queue.lock);
    CHECK(is_first);
    wf_pool_begin(pool);
}

static bool is_all_asleep(void) {
    weft_pool_stats stats = stats_of_pool();
    return stats.threads == wf_test_workers() && stats.threads_idle == stats.threads;
}

TEST(a_work_that_nobody_was_told_of_is_noticed_after_a_while) {
    weft_pool_options options = {.threads = wf_test_workers(), .handler = note_event, .tick = 20 * WEFT_MILLISECOND};
    atomic_store(&runs, 0);
    atomic_store(&stuck_events, 0);
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    WAIT_UNTIL(is_all_asleep());
    CHECK(!wf_pool_is_stuck(pool));
    submit_in_secret();
    int64_t since = wf_os_now();
    WAIT_UNTIL(atomic_load(&runs) == 1 || wf_pool_is_stuck(pool));
    if (atomic_load(&runs) == 0) { /* else somebody came by: well */
        CHECK_GE(wf_os_now(), since + WEFT_SECOND);
        WAIT_UNTIL(atomic_load(&stuck_events) == 1);
        CHECK(wf_pool_is_stuck(pool));
        wf_pool_notify(pool);
    }
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 1);
    CHECK(!wf_pool_is_stuck(pool));
    CHECK_LE(atomic_load(&stuck_events), 1);
    weft_pool_free(pool);
}

static int look_busy(void *arg) {
    (void)arg;
    weft_sleep(weft_after(100 * WEFT_MICROSECOND));
    CHECK(!wf_pool_is_stuck(pool));
    return 0;
}

TEST(a_pool_that_works_is_not_stuck) {
    weft_pool_options options = {.threads = wf_test_workers()};
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    for (long i = 0; i < scaled(2000, 100); i++) {
        CHECK_EQ(weft_pool_submit(pool, NULL, look_busy, NULL), 0);
        CHECK(!wf_pool_is_stuck(pool));
    }
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK(!wf_pool_is_stuck(pool));
    weft_pool_free(pool);
}

/* ---- Without a thread for the clock ---- */

TEST(a_generation_without_a_clock_is_told_of_and_goes_on) {
    weft_pool_options options = {.threads = wf_test_workers(), .handler = note_event, .timeout = 1000 * WEFT_SECOND};
    atomic_store(&thread_errors, 0);
    atomic_store(&runs, 0);
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
    WAIT_UNTIL(stats_of_pool().threads == wf_test_workers());
    wf_fault_order(WF_CALL_THREAD, 1, EAGAIN, 0);
    CHECK_EQ(weft_pool_submit(pool, NULL, count_run, NULL), 0);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    wf_fault_order(WF_CALL_THREAD, 0, 0, 0);
    CHECK_EQ(atomic_load(&runs), 1);
    CHECK_EQ(atomic_load(&thread_errors), 1);
    CHECK_EQ(weft_pool_submit(pool, NULL, count_run, NULL), 0); /* the next one has it */
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&thread_errors), 1);
    weft_pool_free(pool);
}

TEST(a_work_whose_timeout_cannot_be_watched_does_not_begin) {
    weft_pool_options options = {.threads = wf_test_workers()};
    weft_work_options limits[] = {{.timeout = 1000 * WEFT_SECOND, .store_result = true},
                                  {.deadline = weft_after(1000 * WEFT_SECOND), .store_result = true}};
    for (int i = 0; i < 2; i++) {
        atomic_store(&runs, 0);
        CHECK_EQ(weft_pool_new(&pool, &options), 0);
        WAIT_UNTIL(stats_of_pool().threads == wf_test_workers());
        weft_work work;
        wf_fault_order(WF_CALL_THREAD, 1, EAGAIN, 0);
        int error = weft_pool_submit_with(pool, &work, &limits[i], count_run, NULL);
        wf_fault_order(WF_CALL_THREAD, 0, 0, 0);
        if (!error) { /* it was accepted, and has failed for that reason */
            weft_result result;
            CHECK_EQ(weft_pool_wait_work(pool, work, &result, WEFT_NEVER), 0);
            CHECK_EQ(result.status, WEFT_WORK_FAILED);
            error = result.error;
        }
        CHECK_EQ(error, -EAGAIN);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&runs), 0);
        CHECK_EQ(weft_pool_submit_with(pool, NULL, &limits[i], count_run, NULL), 0);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&runs), 1);
        CHECK_EQ(pool->clock.reserved, 0); /* every place was given back */
        weft_pool_free(pool);
    }
}
