/* SPDX-License-Identifier: MIT
 *
 * spec/pool_force_test.c - stopping by force: waits that are cut short, calls that are interrupted, works that are given up, and
 * the end of a pool, which does all of it.
 *
 * The grace period is long where a work is to come back, so that being given up would show, and short where it is to be given
 * up. Whether a thread is blocked in a system call is read from the system.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "spec/pool.h"
#include "support/child.h"

#define LONG_GRACE (30 * WEFT_SECOND)
#define SHORT_GRACE (5 * WEFT_MILLISECOND)

enum { CALM_LOOKS = 5, DISPOSERS = 3 };

static const weft_work_options stores = {.store_result = true};
static const weft_pool_options patient = {.threads = 1, .grace = LONG_GRACE};
static const weft_pool_options hasty = {.threads = 1, .grace = SHORT_GRACE};

static atomic_int runs;

static struct {
    weft_pool *pool;
    weft_chan *chan;
    weft_work other;
    int pipe[2];
    atomic_int begun;
    atomic_int inside; /* functions that have not come back */
    atomic_long thread;
    atomic_bool may_end;
} stage;

static void set_stage(const weft_pool_options *options) {
    stage.pool = make_pool(options);
    atomic_store(&stage.begun, 0);
    atomic_store(&stage.inside, 0);
    atomic_store(&stage.thread, 0);
    atomic_store(&stage.may_end, false);
    CHECK_EQ(weft_chan_new(&stage.chan, 1, 0), 0);
    CHECK_EQ(pipe2(stage.pipe, O_CLOEXEC), 0);
}

static void drop_stage(void) {
    end_pool(stage.pool);
    weft_chan_free(stage.chan);
    close(stage.pipe[0]);
    close(stage.pipe[1]);
}

static weft_work submit_and_see_it_begin(const weft_work_options *options, weft_work_fn fn, void *arg) {
    int begun = atomic_load(&stage.begun);
    weft_work work = submit_with(stage.pool, options, fn, arg);
    WAIT_UNTIL(atomic_load(&stage.begun) > begun);
    return work;
}

/* ---- Waits ---- */

static int receive(void) {
    char byte;
    return weft_chan_recv(stage.chan, &byte, WEFT_NEVER);
}

static int sleep_long(void) {
    return weft_sleep(weft_after(LONG_GRACE));
}

static int wait_for_other(void) {
    return weft_pool_wait_work(stage.pool, stage.other, NULL, WEFT_NEVER);
}

static int select_other(void) {
    weft_case cases[] = {weft_on_work(stage.pool, stage.other, NULL), weft_on_receive(stage.chan, NULL)};
    return weft_select(cases, 2, WEFT_NEVER);
}

static int acquire(void) {
    static weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(0);
    return weft_semaphore_acquire(&semaphore, 1, WEFT_NEVER);
}

static int wait_in_turn(void *arg) {
    int (*wait)(void) = *(int (**)(void))arg;
    atomic_fetch_add(&stage.begun, 1);
    int status = wait();
    CHECK_EQ(status, -ECANCELED);
    CHECK_EQ(receive(), -ECANCELED); /* so are those that follow */
    CHECK_EQ(weft_cancel_reason(NULL, 0), -ECANCELED);
    CHECK(weft_work_is_stopping());
    CHECK_EQ(weft_work_pause_point(), -ECANCELED);
    return status;
}

static void cut_waits_short(void) {
    static int (*waits[])(void) = {receive, sleep_long, wait_for_other, select_other, acquire};
    set_stage(&patient);
    stage.other = submit_with(stage.pool, &(weft_work_options){.priority = -1}, wait_in_turn, &waits[0]);
    WAIT_UNTIL(atomic_load(&stage.begun) == 1);
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        weft_work work = submit_and_see_it_begin(&stores, wait_in_turn, &waits[i]);
        CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, work), 0);
        weft_result result = result_of(stage.pool, work);
        CHECK_EQ(result.status, WEFT_WORK_FORCE_STOPPED);
        CHECK_EQ(result.error, -ECANCELED);
        CHECK_EQ(result.code, -ECANCELED);
    }
    CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, stage.other), 0);
    CHECK_EQ(weft_pool_wait(stage.pool, WEFT_NEVER), 0);
    CHECK_EQ(pool_stats(stage.pool).abandoned, 0);
    CHECK_EQ(pool_stats(stage.pool).force_stopped, 6);
    drop_stage();
}

TEST(waits_of_a_work_that_is_stopped_by_force_are_cut_short) {
    everywhere(cut_waits_short);
}

static int check_uncut(void *arg) {
    weft_time moment = weft_after(1);
    (void)arg;
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_sleep(moment), 0);
    CHECK(!weft_work_is_stopping());
    atomic_fetch_add(&runs, 1);
    return 0;
}

TEST(works_that_run_after_one_that_was_stopped_by_force_are_not) {
    static int (*wait)(void) = receive;
    set_stage(&patient);
    atomic_store(&runs, 0);
    for (int i = 0; i < 20; i++) {
        weft_work work = submit_and_see_it_begin(NULL, wait_in_turn, &wait);
        submit(stage.pool, check_uncut, NULL);
        CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, work), 0);
        submit(stage.pool, check_uncut, NULL);
    }
    CHECK_EQ(weft_pool_wait(stage.pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 40);
    drop_stage();
}

static int end_in_spite(void *arg) {
    atomic_fetch_add(&stage.begun, 1);
    WAIT_UNTIL(weft_work_is_stopping() && atomic_load(&stage.may_end));
    return (int)(intptr_t)arg;
}

TEST(force_follows_a_stop_and_comes_once) {
    set_stage(&patient);
    weft_work work = submit_and_see_it_begin(&stores, end_in_spite, (void *)6);
    CHECK_EQ(weft_pool_control(stage.pool, WEFT_STOP, work), 0);
    CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, work), 0);
    CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, work), -EALREADY);
    CHECK_EQ(weft_pool_control(stage.pool, WEFT_STOP, work), -EALREADY);
    atomic_store(&stage.may_end, true);
    weft_result result = result_of(stage.pool, work); /* it came back well, whatever was asked */
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(result.code, 6);
    drop_stage();
}

static int fail_when_cut(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    atomic_fetch_add(&stage.begun, 1);
    return receive();
}

TEST(a_work_that_was_stopped_by_force_is_not_tried_again) {
    set_stage(&patient);
    for (int retry = WEFT_RETRY_IMMEDIATE; retry <= WEFT_RETRY_REQUEUE; retry++) {
        atomic_store(&runs, 0);
        weft_work_options options = {
            .store_result = true, .retry = (weft_retry)retry, .max_retries = WEFT_RETRY_FOREVER};
        weft_work work = submit_and_see_it_begin(&options, fail_when_cut, NULL);
        CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, work), 0);
        CHECK_EQ(result_of(stage.pool, work).status, WEFT_WORK_FORCE_STOPPED);
        CHECK_EQ(atomic_load(&runs), 1);
    }
    drop_stage();
}

/* ---- System calls ---- */

static bool thread_sleeps(long thread) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_GE(fd, 0);
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    CHECK_GE(length, 1);
    text[length] = 0;
    return strrchr(text, ')')[2] == 'S';
}

static void wait_until_it_blocks(void) {
    WAIT_UNTIL(atomic_load(&stage.thread));
    for (int calm = 0; calm < CALM_LOOKS; calm++)
        if (!thread_sleeps(atomic_load(&stage.thread)))
            calm = -1;
        else
            weft_yield();
}

static int read_until_interrupted(void *arg) {
    char byte;
    (void)arg;
    atomic_store(&stage.thread, syscall(SYS_gettid));
    ssize_t got = read(stage.pipe[0], &byte, 1);
    int error = errno;
    CHECK_EQ(got, -1);
    CHECK_EQ(error, EINTR);
    return -error;
}

static void interrupt_and_check(weft_work work) {
    wait_until_it_blocks();
    CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, work), 0);
    weft_result result = result_of(stage.pool, work);
    CHECK_EQ(result.status, WEFT_WORK_FORCE_STOPPED);
    CHECK_EQ(result.code, -EINTR);
    CHECK_EQ(pool_stats(stage.pool).abandoned, 0);
    atomic_store(&stage.thread, 0);
}

TEST(a_system_call_of_a_work_that_is_stopped_by_force_ends_with_eintr) {
    const weft_work_options kinds[] = {
        {.store_result = true},
        {.store_result = true, .on_thread_stack = true},
        {.store_result = true, .long_running = true},
    };
    set_stage(&patient);
    for (int i = 0; i < 3; i++)
        interrupt_and_check(submit_with(stage.pool, &kinds[i], read_until_interrupted, NULL));
    drop_stage();
}

static void *help_with(void *arg) {
    weft_result result;
    CHECK_EQ(weft_pool_help_work(stage.pool, *(weft_work *)arg, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.code, -EINTR);
    return NULL;
}

TEST(a_system_call_of_a_helper_is_interrupted_too) {
    set_stage(&patient);
    occupy(stage.pool, 1);
    weft_work work = submit_with(stage.pool, &stores, read_until_interrupted, NULL);
    pthread_t thread = thread_start(help_with, &work);
    interrupt_and_check(work);
    thread_join(thread);
    let_go();
    drop_stage();
}

/* ---- Given up ---- */

static int stay_inside(void *arg) {
    atomic_fetch_add(&stage.inside, 1);
    atomic_fetch_add(&stage.begun, 1);
    COMPUTE_UNTIL(atomic_load(&stage.may_end));
    CHECK_EQ(weft_work_set_value(arg), 0); /* nobody looks at that any more */
    atomic_fetch_sub(&stage.inside, 1);
    return 23;
}

static void give_up(const weft_work_options *options) {
    set_stage(&hasty);
    atomic_store(&runs, 0);
    weft_work work = submit_and_see_it_begin(options, stay_inside, &runs);
    submit(stage.pool, count_up, &runs);
    CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, work), 0);
    weft_result result = result_of(stage.pool, work);
    CHECK_EQ(atomic_load(&stage.inside), 1);
    CHECK_EQ(result.status, WEFT_WORK_FORCE_STOPPED);
    CHECK_EQ(result.error, -ECANCELED);
    CHECK_EQ(weft_pool_wait(stage.pool, WEFT_NEVER), 0); /* another thread does what is left */
    CHECK_EQ(atomic_load(&runs), 1);
    for (int i = 0; i < 100; i++)
        submit(stage.pool, count_up, &runs);
    CHECK_EQ(weft_pool_wait(stage.pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), 101);
    CHECK_EQ(atomic_load(&stage.inside), 1);
    weft_pool_stats stats = pool_stats(stage.pool);
    CHECK_EQ(stats.abandoned, 1);
    CHECK_EQ(stats.force_stopped, 1);
    atomic_store(&stage.may_end, true);
    WAIT_UNTIL(atomic_load(&stage.inside) == 0);
    WAIT_UNTIL(pool_stats(stage.pool).threads == 1); /* and the other one goes */
    submit(stage.pool, count_up, &runs);
    drop_stage();
    CHECK_EQ(atomic_load(&runs), 102);
}

TEST(a_work_that_does_not_come_back_is_given_up_and_its_thread_replaced) {
    give_up(&stores);
}

TEST(a_work_on_the_stack_of_its_thread_is_given_up_and_its_thread_replaced) {
    give_up(&(weft_work_options){.store_result = true, .on_thread_stack = true});
}

TEST(a_long_running_work_is_given_up) {
    give_up(&(weft_work_options){.store_result = true, .long_running = true});
}

TEST(works_that_are_done_before_one_is_given_up_do_not_keep_the_pool_busy) {
    set_stage(&hasty);
    atomic_store(&runs, 0);
    occupy(stage.pool, 1);
    for (int i = 0; i < 10; i++)
        submit(stage.pool, count_up, &runs);
    weft_work work = submit(stage.pool, stay_inside, NULL);
    let_go();
    WAIT_UNTIL(atomic_load(&stage.inside) == 1);
    CHECK_EQ(weft_pool_control(stage.pool, WEFT_FORCE_STOP, work), 0);
    CHECK_EQ(weft_pool_wait(stage.pool, WEFT_NEVER), 0);
    check_nothing_left(stage.pool);
    CHECK_EQ(atomic_load(&runs), 10);
    atomic_store(&stage.may_end, true);
    drop_stage();
}

/* ---- The whole pool ---- */

TEST(stopping_the_pool_by_force_ends_all_and_lets_it_go_on) {
    static int (*wait)(void) = receive;
    set_stage(&patient);
    atomic_store(&runs, 0);
    weft_work works[3];
    for (int i = 0; i < 3; i++)
        works[i] = submit_and_see_it_begin(&stores, wait_in_turn, &wait);
    occupy(stage.pool, 1);
    weft_work queued = submit_with(stage.pool, &stores, count_up, &runs);
    CHECK_EQ(weft_pool_control_all(stage.pool, WEFT_FORCE_STOP), 0);
    CHECK_EQ(weft_pool_control_all(stage.pool, WEFT_FORCE_STOP), -EALREADY);
    CHECK_EQ(result_of(stage.pool, queued).status, WEFT_WORK_CANCELLED);
    let_go();
    weft_result results[3];
    CHECK_EQ(weft_pool_wait_works(stage.pool, works, 3, results, WEFT_NEVER), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(results[i].status, WEFT_WORK_FORCE_STOPPED);
    CHECK_EQ(weft_pool_wait(stage.pool, WEFT_NEVER), 0);
    submit(stage.pool, check_uncut, NULL);
    drop_stage();
    CHECK_EQ(atomic_load(&runs), 1);
}

TEST(force_reaches_works_of_a_pool_that_is_being_stopped) {
    static int (*wait)(void) = receive;
    set_stage(&patient);
    weft_work work = submit_and_see_it_begin(&stores, wait_in_turn, &wait);
    CHECK_EQ(weft_pool_control_all(stage.pool, WEFT_STOP), 0);
    CHECK_EQ(weft_pool_wait_work(stage.pool, work, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_pool_control_all(stage.pool, WEFT_FORCE_STOP), -EALREADY);
    CHECK_EQ(result_of(stage.pool, work).status, WEFT_WORK_FORCE_STOPPED);
    drop_stage();
}

/* ---- Dispose ---- */

static void check_disposed(weft_pool *pool) {
    weft_work work = WEFT_NO_WORK;
    void *arg = &runs;
    CHECK_EQ(weft_pool_submit(pool, &work, count_up, &runs), -ESHUTDOWN);
    CHECK_EQ(weft_pool_submit_with(pool, &work, &stores, count_up, &runs), -ESHUTDOWN);
    CHECK_EQ(weft_pool_submit_batch(pool, &work, NULL, count_up, &arg, 1, NULL), -ESHUTDOWN);
    CHECK_EQ(work.bits, 0);
    CHECK_EQ(weft_pool_start(pool), -ESHUTDOWN);
    CHECK_EQ(weft_pool_hold(pool), -ESHUTDOWN);
    CHECK_EQ(weft_pool_set_threads(pool, 0, 1), -ESHUTDOWN);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(weft_pool_dispose(pool), 0);
    CHECK(pool_stats(pool).is_disposed);
    check_nothing_left(pool);
    WAIT_UNTIL(pool_stats(pool).threads_long == 0); /* the work is over a little before its thread is free */
}

static int compute_until_stopped(void *arg) {
    atomic_fetch_add(&stage.begun, 1);
    COMPUTE_UNTIL(weft_work_is_stopping());
    return (int)(intptr_t)arg;
}

static void *dispose(void *arg) {
    CHECK_EQ(weft_pool_dispose(arg), 0);
    return NULL;
}

static void dispose_of_all(void) {
    static int (*wait)(void) = receive;
    weft_work_id never = {.text = "never"};
    pthread_t threads[DISPOSERS];
    set_stage(&patient);
    atomic_store(&runs, 0);
    submit_and_see_it_begin(&(weft_work_options){.long_running = true}, wait_in_turn, &wait);
    submit_and_see_it_begin(NULL, wait_in_turn, &wait);
    submit_and_see_it_begin(NULL, compute_until_stopped, NULL);
    submit(stage.pool, count_up, &runs);
    submit_with(stage.pool, &(weft_work_options){.after_ids = &never, .after_id_count = 1}, count_up, &runs);
    CHECK_EQ(weft_pool_hold(stage.pool), 0);
    for (int i = 0; i < DISPOSERS; i++)
        threads[i] = thread_start(dispose, stage.pool);
    CHECK_EQ(weft_pool_dispose(stage.pool), 0);
    check_disposed(stage.pool);
    for (int i = 0; i < DISPOSERS; i++)
        thread_join(threads[i]);
    CHECK_EQ(atomic_load(&runs), 0);
    CHECK_EQ(pool_stats(stage.pool).cancelled, 2);
    drop_stage();
}

TEST(dispose_ends_everything_and_refuses_the_rest) {
    everywhere(dispose_of_all);
    CHECK_EQ(weft_pool_dispose(NULL), -EINVAL);
}

static void *await_pool(void *arg) {
    CHECK_EQ(weft_pool_wait(stage.pool, WEFT_NEVER), 0);
    return arg;
}

static void *await_other(void *arg) {
    weft_result result;
    CHECK_EQ(weft_pool_wait_work(stage.pool, stage.other, &result, WEFT_NEVER), 0);
    CHECK_EQ(result.status, WEFT_WORK_CANCELLED);
    return arg;
}

static void *select_end_of_other(void *arg) {
    weft_case cases[] = {weft_on_work(stage.pool, stage.other, NULL), weft_on_receive(stage.chan, NULL)};
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 0);
    CHECK_EQ(cases[0].status, 0);
    return arg;
}

static void *await_room(void *arg) {
    CHECK_EQ(weft_pool_submit(stage.pool, NULL, count_up, &runs), -ESHUTDOWN);
    return arg;
}

static void *await_promise(void *arg) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(arg, &outcome, WEFT_NEVER), 0);
    CHECK_EQ(outcome.error, -ECANCELED);
    return NULL;
}

static void release_waiters(void) {
    static weft_fn kinds[] = {await_pool, await_other, select_end_of_other, await_room, await_promise};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    weft_fiber fibers[KINDS];
    struct on_thread_call calls[KINDS];
    weft_promise *promise;
    set_stage(&(weft_pool_options){.threads = 1, .grace = LONG_GRACE, .max_queued = 1, .rejection = WEFT_REJECT_BLOCK});
    submit_and_see_it_begin(NULL, compute_until_stopped, NULL);
    stage.other =
        submit_with(stage.pool, &(weft_work_options){.promise = &promise, .store_result = true}, count_up, &runs);
    for (int i = 0; i < KINDS; i++)
        fibers[i] = spawn_parked(kinds[i], promise);
    on_thread_start(&calls[0], await_pool, NULL); /* may come too late, and is released all the same */
    on_thread_start(&calls[1], await_room, NULL);
    CHECK_EQ(weft_pool_dispose(stage.pool), 0);
    for (int i = 0; i < KINDS; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&calls[0]);
    on_thread_finish(&calls[1]);
    weft_promise_unref(promise);
    drop_stage();
}

TEST(dispose_releases_everybody_who_waits) {
    run_fibers(release_waiters);
}

TEST(dispose_of_a_pool_with_a_work_that_was_given_up_is_not_done_until_it_comes_back) {
    set_stage(&hasty);
    submit_and_see_it_begin(NULL, stay_inside, NULL);
    CHECK_EQ(weft_pool_dispose(stage.pool), -EBUSY);
    CHECK_EQ(weft_pool_dispose(stage.pool), -EBUSY);
    check_nothing_left(stage.pool);
    atomic_store(&stage.may_end, true);
    WAIT_UNTIL(weft_pool_dispose(stage.pool) == 0);
    CHECK_EQ(atomic_load(&stage.inside), 0);
    drop_stage();
}

static void *end_the_stay(void *arg) {
    atomic_store(&stage.may_end, true);
    return arg;
}

TEST(freeing_a_pool_waits_for_works_that_were_given_up) {
    set_stage(&hasty);
    submit_and_see_it_begin(NULL, stay_inside, NULL);
    CHECK_EQ(weft_pool_dispose(stage.pool), -EBUSY);
    pthread_t thread = thread_start(end_the_stay, NULL);
    weft_pool_free(stage.pool);
    CHECK_EQ(atomic_load(&stage.inside), 0);
    thread_join(thread);
    stage.pool = make_pool(NULL);
    drop_stage();
}

static void *help_until_disposed(void *arg) {
    CHECK_EQ(weft_pool_help(stage.pool, WEFT_NEVER), 0);
    return arg;
}

TEST(dispose_does_not_wait_for_a_helper_that_could_stop) {
    set_stage(&(weft_pool_options){.threads = 1, .grace = LONG_GRACE});
    submit_and_see_it_begin(NULL, compute_until_stopped, NULL);
    submit(stage.pool, compute_until_stopped, NULL);
    pthread_t thread = thread_start(help_until_disposed, NULL);
    WAIT_UNTIL(atomic_load(&stage.begun) == 2);
    CHECK_EQ(weft_pool_dispose(stage.pool), 0);
    thread_join(thread);
    drop_stage();
}

static int free_own_pool(void *arg) {
    weft_pool_free(weft_work_pool());
    return (int)(intptr_t)arg;
}

static void free_from_inside(void *arg) {
    weft_pool *pool = make_pool_of(1);
    submit(pool, free_own_pool, arg);
    weft_pool_wait(pool, WEFT_NEVER);
}

TEST(a_work_that_frees_its_own_pool_is_fatal) {
    struct child_end end = child_run(free_from_inside, NULL);
    CHECK_CHILD_FATAL(&end, "one of its own works");
}
