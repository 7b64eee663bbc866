/* SPDX-License-Identifier: MIT
 *
 * unit/pool/mended_more_test.c - laws of threads, clocks, groups and parallel forms that were once broken, each with what went
 * wrong then. Goes on where mended_test.c ends.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fault.h"
#include "unit/pool/threads.h"
#include "weft/parallel.h"

static atomic_int begun, may_end;

static int compute(void *arg) {
    (void)arg;
    atomic_fetch_add(&begun, 1);
    while (!atomic_load(&may_end))
        sched_yield();
    return 0;
}

static void more_new(const weft_pool_options *options) {
    atomic_store(&begun, 0);
    atomic_store(&may_end, 0);
    staged_new(options);
    atomic_store(&staged_may_go, 1);
}

static void more_end(void) {
    atomic_store(&may_end, 1);
    staged_end();
}

static bool somebody_waits(void) {
    wf_lock_take(&staged->lock);
    bool is = staged->idlers != NULL;
    wf_lock_drop(&staged->lock);
    return is;
}

static bool is_telling(void) {
    wf_lock_take(&staged->lock);
    bool is = staged->is_telling;
    wf_lock_drop(&staged->lock);
    return is;
}

/* ---- Alarms ring in order: when this one has rung, all that were due before it have ---- */

static atomic_int has_rung;

static void bell_ring(weft_pool *pool, struct wf_pool_alarm *alarm) {
    (void)pool;
    (void)alarm;
    atomic_store(&has_rung, 1);
}

static void wait_for_the_clock(int64_t when) {
    struct wf_pool_alarm bell = {0};
    atomic_store(&has_rung, 0);
    wf_pool_alarm_init(&bell, bell_ring);
    CHECK_EQ(wf_pool_alarm_set(staged, &bell, when), 0);
    WAIT_UNTIL(atomic_load(&has_rung));
    wf_pool_alarm_clear(staged, &bell);
}

/* ---- Elastic pools ---- */

/* Nobody asked for threads when the limit was raised, and as the queue was not empty no later submit did either. */
TEST(an_elastic_pool_whose_limit_is_raised_grows_for_what_is_queued) {
    more_new(&(weft_pool_options){.threads = 1, .elastic = true, .min_threads = 1});
    for (int i = 0; i < 3; i++)
        staged_submit(compute, NULL);
    WAIT_UNTIL(atomic_load(&begun) == 1);
    CHECK_EQ(weft_pool_set_threads(staged, 1, 2 + wf_test_workers()), 0);
    WAIT_UNTIL(atomic_load(&begun) == 3);
    more_end();
}

static atomic_int leaver_is_there, leaver_may_go;

static void hold_the_leaver(void) {
    atomic_store(&leaver_is_there, 1);
    while (!atomic_load(&leaver_may_go))
        sched_yield();
}

/* A submit took the thread that was about to go for one that is there, and the work waited for the end of another that computed. */
TEST(a_work_that_comes_while_an_idle_thread_goes_does_not_wait_for_one_that_computes) {
    more_new(&(weft_pool_options){.threads = 2, .elastic = true, .min_threads = 1, .keep_alive = WEFT_MILLISECOND});
    atomic_store(&leaver_is_there, 0);
    atomic_store(&leaver_may_go, 0);
    staged_submit(compute, NULL);
    staged_submit(compute, NULL);
    WAIT_UNTIL(atomic_load(&begun) == 2);
    strike_at("extra.before_give_up", hold_the_leaver);
    atomic_store(&may_end, 1);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    WAIT_UNTIL(atomic_load(&leaver_is_there));
    strike_over();
    atomic_store(&may_end, 0);
    staged_submit(compute, NULL);
    WAIT_UNTIL(atomic_load(&begun) == 3);
    staged_submit(count_run, NULL);
    atomic_store(&leaver_may_go, 1);
    WAIT_UNTIL(atomic_load(&runs) == 1); /* while the other computes */
    more_end();
}

static weft_promise *promise;

static int await_promise(void *arg) {
    weft_outcome outcome;
    (void)arg;
    atomic_fetch_add(&begun, 1);
    return weft_promise_await(promise, &outcome, WEFT_NEVER);
}

static int resolve_promise(void *arg) {
    (void)arg;
    return weft_promise_resolve(promise, NULL);
}

static void hold_the_keeper_next(void) {
    strike_at("end.before_lock", hold_the_leaver); /* no other fiber is left */
}

/* An engine that was ending took the first work, which waits for the second; the second was left to the next engine, which did not
 * come before the end of the first. */
TEST(works_that_come_while_the_threads_of_a_pool_end_may_wait_for_each_other) {
    CHECK_EQ(weft_promise_new(&promise), 0);
    more_new(&(weft_pool_options){.threads = 2, .elastic = true, .keep_alive = -1});
    atomic_store(&leaver_is_there, 0);
    atomic_store(&leaver_may_go, 0);
    strike_at("pool.ending", hold_the_keeper_next);
    staged_submit(count_run, NULL);
    WAIT_UNTIL(atomic_load(&leaver_is_there));
    staged_submit(await_promise, NULL);
    atomic_store(&leaver_may_go, 1);
    WAIT_UNTIL(atomic_load(&begun) == 1);
    for (int i = 0; i < 200; i++) /* it may have come to wait */
        sched_yield();
    staged_submit(resolve_promise, NULL);
    CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    more_end();
    weft_promise_unref(promise);
}

static void *await_on_a_fiber(void *arg) {
    await_promise(arg);
    return NULL;
}

static int spawn_one(void *arg) {
    weft_fiber fiber;
    CHECK_EQ(weft_spawn(&fiber, await_on_a_fiber, arg), 0);
    return 0;
}

/* Not 0: the pool was idle, and the clock has seen that somebody is there all the same. */
static int64_t looks_again_after(void) {
    wf_lock_take(&staged->lock);
    int64_t distance = staged->idle_again_ns;
    wf_lock_drop(&staged->lock);
    return distance;
}

/* The engine was told to end beside a fiber that waited for what only a later work did; that work waited for the end. */
TEST(a_pool_does_not_end_its_threads_beside_fibers_that_its_works_have_spawned) {
    CHECK_EQ(weft_promise_new(&promise), 0);
    more_new(&(weft_pool_options){.threads = 2, .elastic = true, .keep_alive = -1});
    staged_submit(spawn_one, NULL);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    WAIT_UNTIL(looks_again_after() > 0);
    CHECK_EQ(wf_load_acquire(&staged->state), WF_POOL_ON);
    int64_t distance = looks_again_after();
    WAIT_UNTIL(looks_again_after() >= 2 * distance); /* and ever more rarely */
    staged_submit(resolve_promise, NULL);
    CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    WAIT_UNTIL(wf_load_acquire(&staged->state) == WF_POOL_OFF);
    more_end();
    weft_promise_unref(promise);
}

/* The end of the time was in the past, by overflow. */
TEST(a_pool_that_keeps_its_threads_for_ever_keeps_them) {
    more_new(&(weft_pool_options){.threads = 2, .elastic = true, .keep_alive = INT64_MAX});
    staged_submit(count_run, NULL);
    CHECK_EQ(weft_pool_wait(staged, WEFT_NEVER), 0);
    WAIT_UNTIL(!is_telling());
    wait_for_the_clock(wf_os_now());
    CHECK_EQ(wf_load_acquire(&staged->state), WF_POOL_ON);
    CHECK_GE(staged_stats().threads, 1);
    more_end();
}

/* An elastic pool took them, and then failed to start for ever. */
TEST(an_elastic_pool_refuses_what_its_threads_could_never_be_started_with) {
    char beyond[32];
    snprintf(beyond, sizeof beyond, "%ld", sysconf(_SC_NPROCESSORS_CONF)); /* they count from 0 */
    const weft_pool_options wrong[] = {{.threads = 1, .stack_size = 1}, {.threads = 1, .cpus = beyond}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weft_pool *pool = NULL;
        weft_pool_options options = wrong[i];
        CHECK_EQ(weft_pool_new(&pool, &options), -EINVAL);
        options.elastic = true;
        CHECK_EQ(weft_pool_new(&pool, &options), -EINVAL);
        CHECK(pool == NULL);
    }
}

static atomic_int errors_told;

static int use_the_pool(const weft_pool_event *event, void *arg) {
    weft_pool_stats stats;
    (void)arg;
    CHECK_EQ(event->source, WEFT_SOURCE_THREAD);
    CHECK_EQ(event->error, -EAGAIN);
    CHECK_EQ(weft_pool_get_stats(event->pool, &stats), 0);
    if (atomic_fetch_add(&errors_told, 1) == 0) {
        CHECK_EQ(weft_pool_control_all(event->pool, WEFT_CANCEL), 1); /* what the start was for */
        CHECK_EQ(weft_pool_submit(event->pool, NULL, count_run, NULL), 0);
    }
    return 0;
}

/* The handler was called on a thread that others joined under the pool's lock. */
TEST(the_handler_of_a_start_that_failed_may_use_the_pool) {
    more_new(
        &(weft_pool_options){.threads = 2, .elastic = true, .handler = use_the_pool, .events = 1u << WEFT_POOL_ERROR});
    atomic_store(&errors_told, 0);
    wf_fault_order(WF_CALL_EPOLL_CREATE, 1, EMFILE, 0);
    staged_submit(count_run, NULL);
    WAIT_UNTIL(atomic_load(&runs) == 1);
    wf_fault_order(WF_CALL_EPOLL_CREATE, 0, 0, 0);
    CHECK_EQ(atomic_load(&errors_told), 1);
    CHECK_EQ(staged_stats().cancelled, 1);
    more_end();
}

/* ---- Threads and fibers ---- */

static atomic_int second_has_run;

static int run_second(void *arg) {
    (void)arg;
    atomic_store(&second_has_run, 1);
    return 0;
}

static int wait_for_second(void *arg) {
    (void)arg;
    while (!atomic_load(&second_has_run))
        sched_yield();
    return 0;
}

static int submit_three(void *arg) {
    (void)arg;
    staged_submit(wait_for_second, NULL);
    staged_submit(run_second, NULL);
    staged_submit(wait_for_second, NULL);
    return 0;
}

/* Half of a thread's works are on their way to a thief, and nobody who looks meanwhile sees them: the thief has to announce them,
 * or the second stays behind the first. */
TEST(what_is_stolen_together_does_not_stay_behind_the_first_of_it) {
    more_new(&(weft_pool_options){.threads = 2 + wf_test_workers(), .placement = WEFT_PLACE_LOCAL});
    for (long round = scaled(100, 10); round > 0; round--) {
        atomic_store(&second_has_run, 0);
        staged_submit(submit_three, NULL);
        CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    }
    more_end();
}

static int go_elsewhere(const weft_pool_event *event, void *arg) {
    (void)event;
    (void)arg;
    weft_yield();
    weft_sleep(weft_after(WEFT_MICROSECOND));
    return 0;
}

/* A handler that waits comes back on another thread. The runner was given back to the thread that it had been on before. */
TEST(a_handler_may_move_the_fiber_that_tells_of_the_end) {
    more_new(&(weft_pool_options){
        .threads = 1 + wf_test_workers(), .handler = go_elsewhere, .events = 1u << WEFT_POOL_IDLED});
    long rounds = scaled(150, 15);
    for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < 8; i++)
            staged_submit(count_run, NULL);
        if (round % 3)
            CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
    }
    staged_settle();
    CHECK_EQ(atomic_load(&runs), 8 * rounds);
    more_end();
}

/* ---- Late and forced ---- */

static weft_work late;

/* It has failed and is about to be put back; its time, which stood still, passes now. */
static void let_it_be_late(void) {
    CHECK_EQ(weft_pool_control(staged, WEFT_RESUME, late), 0);
    WAIT_UNTIL(staged_word(late) & WF_WORK_LATE);
}

static int fail_always(void *arg) {
    count_run(arg);
    return -EIO;
}

/* It was marked as late and then stopped, in two steps; a retry in between was cancelled in the queue. */
TEST(a_work_that_is_late_before_its_retry_has_timed_out) {
    staged_begin(NULL);
    weft_result result;
    weft_work_options options = {.retry = WEFT_RETRY_REQUEUE,
                                 .max_retries = WEFT_RETRY_FOREVER,
                                 .timeout = WEFT_MILLISECOND,
                                 .store_result = true};
    CHECK_EQ(weft_pool_submit_with(staged, &late, &options, fail_always, NULL), 0);
    CHECK_EQ(weft_pool_control(staged, WEFT_PAUSE, late), 0);
    strike_at("pool.before_requeue", let_it_be_late);
    atomic_store(&staged_may_go, 1);
    CHECK_EQ(weft_pool_wait_work(staged, late, &result, weft_after(PATIENCE_NS)), 0);
    strike_over();
    CHECK_EQ(result.status, WEFT_WORK_TIMED_OUT);
    CHECK_EQ(result.attempts, 1);
    CHECK_EQ(atomic_load(&runs), 1);
    staged_end();
}

static int sleep_for_ever(void *arg) {
    (void)arg;
    atomic_fetch_add(&begun, 1);
    return weft_sleep(WEFT_NEVER);
}

/* Nothing at all was done to the work, and whoever disposed of the pool waited for ever. */
TEST(a_work_that_waits_is_stopped_by_force_without_memory_and_threads) {
    static const enum wf_system_call missing[] = {WF_CALL_ALLOC, WF_CALL_THREAD};
    for (int i = 0; i < 2; i++) {
        weft_work work;
        weft_result result;
        more_new(&(weft_pool_options){.threads = wf_test_workers()});
        weft_work_options options = {.store_result = true};
        CHECK_EQ(weft_pool_submit_with(staged, &work, &options, sleep_for_ever, NULL), 0);
        WAIT_UNTIL(atomic_load(&begun) == 1);
        wf_fault_order(missing[i], 1, i ? EAGAIN : ENOMEM, 1);
        int status = weft_pool_control(staged, WEFT_FORCE_STOP, work);
        wf_fault_order(missing[i], 0, 0, 0);
        CHECK(status == 0 || status == (i ? -EAGAIN : -ENOMEM));
        CHECK_EQ(weft_pool_wait_work(staged, work, &result, weft_after(PATIENCE_NS)), 0);
        CHECK_EQ(result.status, WEFT_WORK_FORCE_STOPPED);
        more_end();
    }
}

/* ---- Groups ---- */

static weft_group *group;
static atomic_int group_status;

static void *wait_for_group(void *arg) {
    atomic_store(&group_status, weft_group_wait(group, weft_after(PATIENCE_NS)));
    return arg;
}

static void free_group(void) {
    weft_group_free(group);
}

/* Whoever waits for a group is also woken by the end of a generation, and looks at the group again. It was freed in between. */
TEST(a_group_may_be_freed_while_whoever_waits_for_it_is_woken_by_the_pool) {
    more_new(&(weft_pool_options){.threads = wf_test_workers(), .suspended = true});
    CHECK_EQ(weft_group_new(&group, staged, NULL), 0);
    CHECK_EQ(weft_pool_submit_with(staged, NULL, &(weft_work_options){.group = group}, count_run, NULL), 0);
    CHECK_EQ(weft_pool_hold(staged), 0); /* a generation, while the work is at the gate */
    pthread_t waiter = thread_start(wait_for_group, NULL);
    WAIT_UNTIL(somebody_waits());
    strike_at("wake.before_deliver", free_group);
    CHECK_EQ(weft_pool_release(staged), 0);
    thread_join(waiter);
    strike_over();
    CHECK_EQ(atomic_load(&group_status), -ESTALE);
    CHECK_EQ(weft_pool_start(staged), 0);
    more_end();
}

static int pause_once(void *arg) {
    (void)arg;
    atomic_fetch_add(&begun, 1);
    return weft_work_pause_point();
}

/* Only works that were in the group when it was paused had their time stand still. */
TEST(the_timeout_of_a_work_stands_still_in_a_group_that_was_paused_before) {
    for (int is_added = 0; is_added < 2; is_added++) {
        weft_work work;
        more_new(&(weft_pool_options){.threads = wf_test_workers(), .suspended = true});
        CHECK_EQ(weft_group_new(&group, staged, NULL), 0);
        CHECK_EQ(weft_group_control(group, WEFT_PAUSE), 0);
        weft_work_options options = {.group = is_added ? NULL : group, .timeout = WEFT_MICROSECOND};
        CHECK_EQ(weft_pool_submit_with(staged, &work, &options, pause_once, NULL), 0);
        if (is_added)
            CHECK_EQ(weft_group_add(group, work), 0);
        CHECK_EQ(weft_pool_start(staged), 0);
        WAIT_UNTIL(atomic_load(&begun) == 1);
        wait_for_the_clock(wf_os_now() + WEFT_MICROSECOND);
        CHECK(!(staged_word(work) & WF_WORK_LATE));
        CHECK_EQ(weft_group_control(group, WEFT_RESUME), 0);
        CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
        weft_group_free(group);
        more_end();
    }
}

/* ---- Parallel forms ---- */

static weft_pool *other;
static atomic_int job_pool_is_right;

static void look_at_pool(void *arg) {
    (void)arg;
    atomic_store(&job_pool_is_right, weft_work_pool() == staged ? 1 : -1);
}

static int fork_one(void *arg) {
    weft_job job;
    (void)arg;
    CHECK(weft_work_pool() == staged);
    weft_fork(&job, look_at_pool, NULL);
    while (!atomic_load(&job_pool_is_right)) /* another thread of the other pool takes it */
        sched_yield();
    weft_join_job(&job);
    return 0;
}

static int submit_to_the_full_one(void *arg) {
    (void)arg;
    return weft_pool_submit(staged, NULL, fork_one, NULL);
}

/* Jobs took the pool of their thread for that of their work, and its lock as well. */
TEST(a_job_belongs_to_the_pool_of_its_work_whichever_pool_runs_it) {
    staged_begin(&(weft_pool_options){.max_queued = 1, .rejection = WEFT_REJECT_CALLER_RUNS});
    staged_submit(count_run, NULL);
    atomic_store(&job_pool_is_right, 0);
    CHECK_EQ(weft_pool_new(&other, &(weft_pool_options){.threads = 1 + wf_test_workers()}), 0);
    CHECK_EQ(weft_pool_submit(other, NULL, submit_to_the_full_one, NULL), 0);
    CHECK_EQ(weft_pool_wait(other, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(atomic_load(&job_pool_is_right), 1);
    weft_pool_free(other);
    staged_end();
}

static atomic_int noted_code;

static int note_code(const weft_result *result, void *arg) {
    (void)arg;
    atomic_store(&noted_code, result->code);
    return 0;
}

static bool is_asleep(long thread) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *name_end = strrchr(text, ')');
    return size > 0 && name_end && name_end[2] == 'S';
}

static _Atomic long reader;
static int pipe_ends[2];
static weft_work reading;

static int read_until_interrupted(void *arg) {
    char byte;
    (void)arg;
    reading = weft_work_self();
    atomic_store(&reader, syscall(SYS_gettid));
    ssize_t got = read(pipe_ends[0], &byte, 1);
    return got < 0 ? -errno : 0;
}

static int read_for_the_full_one(void *arg) {
    weft_work_options options = {.callback = note_code};
    (void)arg;
    return weft_pool_submit_with(staged, NULL, &options, read_until_interrupted, NULL);
}

/* Its thread was looked for among those of the work's own pool, whose engine may even have been gone. */
TEST(a_system_call_of_a_work_is_interrupted_whichever_pool_runs_it) {
    staged_begin(&(weft_pool_options){.max_queued = 1, .rejection = WEFT_REJECT_CALLER_RUNS, .grace = PATIENCE_NS});
    staged_submit(count_run, NULL);
    atomic_store(&reader, 0);
    atomic_store(&noted_code, 0);
    CHECK_EQ(pipe(pipe_ends), 0);
    CHECK_EQ(weft_pool_new(&other, &(weft_pool_options){.threads = wf_test_workers()}), 0);
    CHECK_EQ(weft_pool_submit(other, NULL, read_for_the_full_one, NULL), 0);
    WAIT_UNTIL(atomic_load(&reader) && is_asleep(atomic_load(&reader)));
    CHECK_EQ(weft_pool_control(staged, WEFT_FORCE_STOP, reading), 0);
    CHECK_EQ(weft_pool_wait(other, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(atomic_load(&noted_code), -EINTR);
    weft_pool_free(other);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    staged_end();
}

static const long identity = 7;
static long reduced;
static atomic_int form_status;

static int fold_nothing(int64_t begin, int64_t end, void *accumulator, void *arg) {
    (void)begin;
    (void)end;
    (void)accumulator;
    (void)arg;
    return 0;
}

static int combine_nothing(void *left, void *right, void *arg) {
    (void)left;
    (void)right;
    (void)arg;
    return 0;
}

static void *reduce_from_outside(void *arg) {
    weft_reduction reduction = {
        .size = sizeof identity, .identity = &identity, .fold = fold_nothing, .combine = combine_nothing};
    atomic_store(&form_status, weft_parallel_reduce(staged, 0, 10, 1, &reduction, &reduced));
    return arg;
}

/* The result was what the caller's memory had held before, and nobody could tell. */
TEST(a_reduction_that_never_began_leaves_an_accumulator) {
    more_new(&(weft_pool_options){.threads = wf_test_workers(), .suspended = true});
    reduced = 1234;
    pthread_t caller = thread_start(reduce_from_outside, NULL);
    WAIT_UNTIL(staged_stats().held == 1);
    CHECK_EQ(weft_pool_control_all(staged, WEFT_CANCEL), 1);
    thread_join(caller);
    CHECK_EQ(atomic_load(&form_status), -ECANCELED);
    CHECK_EQ(reduced, identity);
    CHECK_EQ(weft_pool_start(staged), 0);
    more_end();
}

static int go_on_until_stopped(int64_t begin, int64_t end, void *arg) {
    (void)arg;
    atomic_fetch_add(&begun, (int)(end - begin));
    while (!weft_work_is_stopping())
        sched_yield();
    return 0;
}

static int loop_until_stopped(void *arg) {
    if (arg) { /* only after the stop */
        atomic_fetch_add(&begun, 1);
        while (!weft_work_is_stopping())
            sched_yield();
    }
    atomic_store(&form_status, weft_parallel_for(NULL, 0, 100000, 1, go_on_until_stopped, NULL));
    return 0;
}

/* In a work with a thread of its own the loop was a work for itself: a stop of the caller was not seen in it, and while the pool
 * was being stopped it waited at the gate for the end of its own caller. */
TEST(a_loop_in_a_long_running_work_is_stopped_with_it) {
    weft_work_options options = {.long_running = true};
    for (int i = 0; i < 4; i++) {
        weft_work work;
        more_new(&(weft_pool_options){.threads = wf_test_workers()});
        atomic_store(&form_status, 1);
        CHECK_EQ(weft_pool_submit_with(staged, &work, &options, loop_until_stopped, i % 2 ? &options : NULL), 0);
        WAIT_UNTIL(atomic_load(&begun) > 0);
        CHECK_EQ(i < 2 ? weft_pool_control(staged, WEFT_STOP, work) : weft_pool_control_all(staged, WEFT_STOP), 0);
        CHECK_EQ(weft_pool_wait(staged, weft_after(PATIENCE_NS)), 0);
        CHECK_EQ(atomic_load(&form_status), -ECANCELED);
        CHECK_LE(atomic_load(&begun), 99999);
        more_end();
    }
}
