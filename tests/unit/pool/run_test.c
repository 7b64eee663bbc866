/* SPDX-License-Identifier: MIT
 *
 * unit/pool/run_test.c - runners, works that are given up, results that are taken away, and pools that go to sleep, each against what
 * comes at the same moment.
 */
#include "support/child.h"
#include "unit/pool/threads.h"

/* ---- Works that are given up ---- */

static atomic_int is_stuck, may_return, has_returned;
static atomic_int ends;
static weft_result last_end;

static int get_stuck(void *arg) {
    atomic_store(&is_stuck, 1);
    while (!atomic_load(&may_return))
        sched_yield();
    weft_work_set_value(&may_return); /* nobody wants to know any more */
    atomic_store(&has_returned, 1);
    return arg ? -EIO : 3;
}

static int note_end(const weft_result *result, void *arg) {
    (void)arg;
    last_end = *result;
    atomic_fetch_add(&ends, 1);
    return 0;
}

static void stuck_begin(const weft_pool_options *given) {
    weft_pool_options options = given ? *given : (weft_pool_options){0};
    options.grace = options.grace ? options.grace : WEFT_MILLISECOND;
    atomic_store(&is_stuck, 0);
    atomic_store(&may_return, 0);
    atomic_store(&has_returned, 0);
    atomic_store(&ends, 0);
    staged_new(&options);
    atomic_store(&staged_may_go, 1);
}

static weft_work submit_stuck(const weft_work_options *given) {
    weft_work_options options = given ? *given : (weft_work_options){0};
    weft_work work;
    options.callback = note_end;
    CHECK_EQ(weft_pool_submit_with(staged, &work, &options, get_stuck, NULL), 0);
    WAIT_UNTIL(atomic_load(&is_stuck));
    return work;
}

static void give_up(weft_work work) {
    CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, work), 0);
    WAIT_UNTIL(staged_stats().abandoned == 1);
}

static void check_given_up(weft_work work) {
    WAIT_UNTIL(atomic_load(&ends) == 1);
    CHECK_EQ(last_end.work.bits, work.bits);
    CHECK_EQ(last_end.status, WEFT_WORK_FORCE_STOPPED);
    CHECK_EQ(last_end.error, -ECANCELED);
    CHECK(last_end.value == NULL);
}

/* One thread: it is replaced. The function comes back when it likes, and that is the end of the record. */
TEST(a_work_that_is_given_up_ends_once_and_its_record_when_it_comes_back) {
    static const weft_work_options kinds[] = {{.priority = 0}, {.on_thread_stack = true}, {.long_running = true}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        stuck_begin(NULL);
        weft_work work = submit_stuck(&kinds[i]);
        give_up(work);
        check_given_up(work);
        CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
        CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, work), -ESTALE);
        CHECK_EQ(weft_pool_wait_work(staged, work, NULL, WEFT_NEVER), -ESTALE);
        CHECK(staged_word(work) & WF_WORK_INSIDE);
        staged_submit(count_run, NULL);
        CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0); /* somebody else runs it */
        CHECK_EQ(atomic_load(&runs), 1);
        CHECK_EQ(atomic_load(&has_returned), 0);
        atomic_store(&may_return, 1);
        WAIT_UNTIL(wf_work_phase(staged_word(work)) == WF_WORK_FREE);
        CHECK_EQ(atomic_load(&ends), 1);
        CHECK_EQ(staged_stats().force_stopped, 1);
        staged_end();
    }
}

static void let_the_grace_pass(void) {
    weft_time end = weft_after(20 * WEFT_MILLISECOND);
    while (weft_now() < end)
        sched_yield();
}

/* Whoever stops it by force is held up for longer than the grace period, between the two steps of that. */
TEST(a_work_is_given_up_though_whoever_forces_it_is_slower_than_its_grace) {
    stuck_begin(NULL);
    weft_work work = submit_stuck(NULL);
    strike_at("pool.before_grace", let_the_grace_pass);
    give_up(work);
    strike_over();
    check_given_up(work);
    atomic_store(&may_return, 1);
    staged_end();
}

/* Its runner has ended others before it, and counted them for itself. */
TEST(works_that_ended_before_one_that_is_given_up_do_not_keep_the_pool_busy) {
    stuck_begin(NULL);
    staged_block();
    for (int i = 0; i < 30; i++)
        staged_submit(count_run, NULL);
    weft_work work;
    CHECK_EQ(weft_pool_submit(staged, &work, get_stuck, NULL), 0);
    atomic_store(&staged_may_go, 1);
    WAIT_UNTIL(atomic_load(&is_stuck));
    CHECK_EQ(atomic_load(&runs), 30);
    give_up(work);
    CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    CHECK(staged_stats().is_idle);
    CHECK_EQ(staged_stats().outstanding, 0);
    atomic_store(&may_return, 1);
    staged_end();
}

TEST(a_pool_that_is_disposed_of_with_a_work_that_does_not_come_back_says_so) {
    stuck_begin(NULL);
    weft_work work = submit_stuck(NULL);
    CHECK_EQ(weft_pool_dispose(staged), -EBUSY);
    check_given_up(work);
    CHECK_EQ(weft_pool_submit(staged, NULL, count_run, NULL), -ESHUTDOWN);
    atomic_store(&may_return, 1);
    WAIT_UNTIL(weft_pool_dispose(staged) == 0);
    weft_pool_free(staged);
}

/* Nothing is left to do, and yet a function is inside: the engine cannot end, and the pool must go on. */
TEST(a_pool_that_may_sleep_works_on_beside_a_work_that_was_given_up) {
    stuck_begin(&(weft_pool_options){.elastic = true, .threads = 2, .keep_alive = -1});
    weft_work work = submit_stuck(NULL);
    give_up(work);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
        for (int spins = 0; spins < 2000; spins++)
            sched_yield();
        staged_submit(count_run, NULL);
    }
    CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(atomic_load(&runs), 20);
    atomic_store(&may_return, 1);
    staged_end();
}

static int return_when_stopped(void *arg) {
    atomic_fetch_add(&runs, 1);
    atomic_store(&is_stuck, 1);
    while (!weft_work_is_stopping())
        sched_yield();
    for (uintptr_t i = (uintptr_t)arg; i > 0; i--)
        wf_relax();
    return 5;
}

/* The grace period ends as the function does: whoever is first, it ends once. */
TEST(a_work_that_comes_back_as_it_is_given_up_ends_once) {
    uint64_t random = wf_test_seed();
    stuck_begin(&(weft_pool_options){.threads = 2, .grace = 1, .callback = note_end});
    long rounds = scaled(300, 30);
    for (long i = 0; i < rounds; i++) {
        weft_work work;
        atomic_store(&is_stuck, 0);
        CHECK_EQ(weft_pool_submit(staged, &work, return_when_stopped, (void *)random_below(&random, 200)), 0);
        WAIT_UNTIL(atomic_load(&is_stuck));
        CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, work), 0);
        CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&ends), i + 1);
    }
    weft_pool_stats stats = staged_stats();
    CHECK_EQ(stats.succeeded + stats.force_stopped, rounds);
    CHECK_LE(stats.abandoned, stats.force_stopped);
    staged_end();
}

/* ---- Retries against force ---- */

static weft_work retried;

static int fail_always(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return -EIO;
}

static void force_retried(void) {
    CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, retried), 0);
}

static void stop_retried(void) {
    CHECK_EQ(weft_pool_control(staged, WEFT_STOP, retried), 0);
}

static void strike_before_retry(void (*what)(void), weft_work_status status) {
    stuck_begin(&(weft_pool_options){.grace = PATIENCE_NS}); /* it comes back, however slow the machine is */
    staged_block();
    weft_work_options options = {.retry = WEFT_RETRY_REQUEUE, .max_retries = 5, .callback = note_end};
    CHECK_EQ(weft_pool_submit_with(staged, &retried, &options, fail_always, NULL), 0);
    strike_at("pool.before_requeue", what);
    staged_settle();
    strike_over();
    CHECK_EQ(atomic_load(&ends), 1);
    CHECK_EQ(last_end.status, status);
    CHECK_EQ(last_end.attempts, 1);
    CHECK_EQ(atomic_load(&runs), 1);
    CHECK_EQ(staged_stats().abandoned, 0);
    staged_end();
}

TEST(a_work_that_is_stopped_by_force_before_its_retry_is_not_retried) {
    strike_before_retry(force_retried, WEFT_WORK_FORCE_STOPPED);
}

TEST(a_work_that_is_stopped_before_its_retry_is_not_retried) {
    strike_before_retry(stop_retried, WEFT_WORK_STOPPED);
}

TEST(a_work_that_fails_is_run_as_often_as_was_asked) {
    static const weft_retry kinds[] = {WEFT_RETRY_NEVER, WEFT_RETRY_IMMEDIATE, WEFT_RETRY_REQUEUE};
    for (int i = 0; i < 3; i++) {
        stuck_begin(NULL);
        weft_work_options options = {.retry = kinds[i], .max_retries = 4, .callback = note_end};
        CHECK_EQ(weft_pool_submit_with(staged, NULL, &options, fail_always, NULL), 0);
        staged_settle();
        CHECK_EQ(atomic_load(&runs), i ? 5 : 1);
        CHECK_EQ(last_end.attempts, atomic_load(&runs));
        CHECK_EQ(last_end.status, WEFT_WORK_FAILED);
        CHECK_EQ(last_end.error, -EIO);
        CHECK_EQ(atomic_load(&ends), 1);
        CHECK_EQ(staged_stats().retried, i ? 4 : 0);
        staged_end();
    }
}

/* ---- Stored results ---- */

static weft_work stored;
static int stored_value;

static int set_stored_value(void *arg) {
    return weft_work_set_value(arg);
}

static void *fetch_until_gone(void *arg) {
    int status = 0;
    while (status == 0) {
        weft_result result = {0};
        status = weft_pool_poll_work(staged, stored, &result);
        if (status == 0) {
            CHECK_EQ(result.work.bits, stored.bits);
            CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
            CHECK(result.value == &stored_value);
        }
    }
    CHECK_EQ(status, -ESTALE);
    return arg;
}

TEST(a_result_that_is_removed_while_it_is_fetched_is_whole_or_gone) {
    uint64_t random = wf_test_seed();
    staged_new(&(weft_pool_options){.threads = 2});
    for (long round = scaled(100, 15); round > 0; round--) {
        pthread_t threads[2];
        weft_work_options options = {.store_result = true};
        CHECK_EQ(weft_pool_submit_with(staged, &stored, &options, set_stored_value, &stored_value), 0);
        CHECK_EQ(weft_pool_wait_work(staged, stored, NULL, WEFT_NEVER), 0);
        for (int i = 0; i < 2; i++)
            threads[i] = thread_start(fetch_until_gone, NULL);
        for (uint64_t i = random_below(&random, 30); i > 0; i--)
            sched_yield();
        if (random_below(&random, 2))
            CHECK_EQ(weft_pool_remove(staged, stored), 0);
        else
            CHECK_EQ(weft_pool_clear(staged), 1);
        CHECK_EQ(weft_pool_remove(staged, stored), -ESTALE);
        staged_submit(count_run, NULL); /* the record may be used again at once */
        for (int i = 0; i < 2; i++)
            thread_join(threads[i]);
    }
    atomic_store(&staged_may_go, 1);
    staged_end();
}

/* ---- A pool that goes to sleep ---- */

static pthread_t late_submitter;

static void *submit_late(void *arg) {
    staged_submit(count_run, NULL);
    return arg;
}

/* With the pool's lock held: the submit has counted its work, and waits for the lock to see whether somebody is there to run it. */
static void let_somebody_submit(void) {
    late_submitter = thread_start(submit_late, NULL);
    while (wf_pool_outstanding(wf_load_seq_cst(&staged->word)) == 0)
        sched_yield();
}

TEST(a_submit_while_the_threads_of_a_pool_end_is_run) {
    for (int i = 0; i < 10; i++) {
        staged_new(&(weft_pool_options){.elastic = true, .threads = 2, .keep_alive = -1});
        strike_at("pool.ending", let_somebody_submit);
        staged_submit(count_run, NULL);
        WAIT_UNTIL(atomic_load(&stroke_left) == 0);
        WAIT_UNTIL(atomic_load(&runs) == 2);
        thread_join(late_submitter);
        strike_over();
        atomic_store(&staged_may_go, 1);
        staged_end();
    }
}

static bool has_no_threads(void) {
    return wf_load_acquire(&staged->state) == WF_POOL_OFF;
}

TEST(a_pool_whose_threads_have_ended_starts_again) {
    staged_new(&(weft_pool_options){.elastic = true, .threads = 2, .keep_alive = -1});
    atomic_store(&staged_may_go, 1);
    CHECK(has_no_threads());
    for (int i = 1; i <= 10; i++) {
        staged_submit(count_run, NULL);
        CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&runs), i);
        WAIT_UNTIL(has_no_threads());
        CHECK_EQ(staged_stats().threads, 0);
    }
    staged_end();
}

TEST(a_pool_is_freed_at_any_moment_of_its_sleep) {
    uint64_t random = wf_test_seed();
    for (long round = scaled(200, 20); round > 0; round--) {
        staged_new(&(weft_pool_options){.elastic = true, .threads = 2, .keep_alive = -1});
        atomic_store(&staged_may_go, 1);
        staged_submit(count_run, NULL);
        if (random_below(&random, 2))
            CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
        for (uint64_t i = random_below(&random, 100); i > 0; i--)
            sched_yield();
        weft_pool_free(staged);
    }
}

/* ---- What a work leaves behind ---- */

static atomic_int deferred;

static void note_deferred(void *arg) {
    (void)arg;
    atomic_fetch_add(&deferred, 1);
}

static int leave_a_deferred_call(void *arg) {
    CHECK_EQ(weft_defer(note_deferred, NULL), 0);
    return count_run(arg);
}

static int exit_inside(void *arg) {
    (void)arg;
    CHECK_EQ(weft_defer(note_deferred, NULL), 0);
    weft_exit(NULL);
}

static int name_itself(void *arg) {
    CHECK_EQ(weft_set_name("a work"), 0);
    CHECK_EQ(weft_pin(), 0);
    return count_run(arg);
}

/* The end of the fiber cleans up; only then is the work over. */
TEST(a_work_is_over_when_what_it_left_behind_is_cleaned_up) {
    stuck_begin(&(weft_pool_options){.callback = note_end});
    atomic_store(&deferred, 0);
    for (int i = 1; i <= 20; i++) {
        weft_work work;
        CHECK_EQ(weft_pool_submit(staged, &work, i % 2 ? leave_a_deferred_call : exit_inside, NULL), 0);
        CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&deferred), i);
        CHECK_EQ(last_end.status, WEFT_WORK_SUCCEEDED);
        CHECK_EQ(last_end.code, 0);
        staged_submit(name_itself, NULL);
        staged_submit(count_run, NULL);
    }
    staged_end();
}

/* And whoever ended them has gone. */
static bool has_rested(void) {
    wf_lock_take(&staged->clock.lock);
    bool is_ringing = staged->clock.ringing != NULL;
    wf_lock_drop(&staged->clock.lock);
    return !is_ringing && has_no_threads();
}

/* The last work of a generation is cancelled in the queue: the dead entry stays there when the threads end. */
TEST(a_pool_whose_threads_ended_beside_a_dead_entry_starts_again) {
    staged_begin(&(weft_pool_options){.elastic = true, .threads = 1, .keep_alive = -1});
    weft_work dead = staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_control(staged, WEFT_CANCEL, dead), 0);
    struct wf_task *entry = wf_pool_next_any(staged);
    CHECK(entry != NULL);
    atomic_store(&staged_may_go, 1);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    WAIT_UNTIL(has_rested());
    wf_lock_take(&staged->queue.lock);
    CHECK_EQ(wf_queue_push_locked(staged, wf_work_of(entry)), 0); /* as if nobody had come for it */
    wf_lock_drop(&staged->queue.lock);
    staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(atomic_load(&runs), 1);
    staged_end();
}
