/* SPDX-License-Identifier: MIT
 *
 * unit/loop/sender_test.c - who brings something to a loop: senders, works that come back, and how many wakes and how much memory
 * that takes.
 */
#include "os/fault.h"
#include "os/memory.h"
#include "unit/loop/staged.h"

static void let_go(void) {
    weft_loop_unkeep(loop);
}

static atomic_int second_status;

/* ---- The sender and the end of the loop ---- */

static pthread_t sender;
static atomic_int sender_stands;
static atomic_int sender_may_go;

static void stand_with_the_wake(void) {
    atomic_store(&sender_stands, 1);
    while (!atomic_load(&sender_may_go))
        sched_yield();
}

static void *send_one(void *arg) {
    CHECK_EQ(weft_loop_submit(loop, run_part, arg), 0);
    return NULL;
}

TEST_STAGED(a_sender_that_was_stopped_before_its_wake_does_not_touch_a_loop_that_is_gone) {
    atomic_store(&sender_stands, 0);
    atomic_store(&sender_may_go, 0);
    loop_open();
    at("loop.before_wake", stand_with_the_wake);
    sender = thread_start(send_one, named("s"));
    WAIT_UNTIL(atomic_load(&sender_stands));
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_TEXT(trace, "s");
    loop_drop(); /* the last reference: its memory is gone, and the sender still in weft_loop_submit */
    atomic_store(&sender_may_go, 1);
    thread_join(sender);
}

static void *let_the_sender_go(void *arg) {
    WAIT_UNTIL(atomic_load(&sender_stands));
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_RUNNING); /* by the sender, who owns the wake */
    play("submit:t");
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NOW), -EINPROGRESS);
    atomic_store(&sender_may_go, 1);
    return arg;
}

TEST_STAGED(a_loop_whose_wake_is_on_its_way_waits_for_it_also_when_it_is_ended) {
    struct running running;
    atomic_store(&sender_stands, 0);
    atomic_store(&sender_may_go, 0);
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    at("loop.before_wake", stand_with_the_wake);
    sender = thread_start(send_one, named("s"));
    let_the_sender_go(NULL);
    CHECK_EQ(running_join(&running), 0);
    thread_join(sender);
    CHECK_TEXT(trace, "s t");
    loop_drop();
}

/* ---- Works that were handed out ---- */

static struct wf_loop_job worker_job;
static atomic_int worker_state; /* 1: it runs, 2: it may come back */
static int worker_status;
static int worker_end_status;

static void worker_comes_back(weft_loop *which, struct wf_loop_job *job) {
    CHECK(job == &worker_job);
    if (which)
        say("back");
}

static void hand_out(void) {
    wf_lock_take(&loop->lock);
    loop->workers++;
    wf_lock_drop(&loop->lock);
}

static void *work_and_end(void *opaque) {
    int (*end)(weft_loop * which, weft_time deadline) = *(int (**)(weft_loop *, weft_time))opaque;
    struct wf_loop_frame frame = {.loop = loop, .outer = *wf_loop_frames(), .is_worker = true};
    *wf_loop_frames() = &frame;
    atomic_store(&worker_state, 1);
    if (end)
        worker_end_status = end(loop, WEFT_NEVER);
    CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), -EDEADLK);
    CHECK(weft_loop_current() == NULL);
    WAIT_UNTIL(atomic_load(&worker_state) == 2);
    *wf_loop_frames() = frame.outer;
    worker_job.run = worker_comes_back;
    worker_status = wf_loop_post_worker(loop, &worker_job);
    return NULL;
}

static void work_ends_loop(int (*end)(weft_loop *which, weft_time deadline), int status, const char *expected) {
    struct running running;
    loop_open();
    atomic_store(&worker_state, 0);
    hand_out();
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    pthread_t worker = thread_start(work_and_end, &end);
    WAIT_UNTIL(weft_loop_get_state(loop) >= WEFT_LOOP_TERMINATING);
    if (status) /* it does not wait for the work */
        CHECK_EQ(weft_loop_join(loop, WEFT_NEVER), 0);
    atomic_store(&worker_state, 2);
    thread_join(worker);
    CHECK_EQ(running_join(&running), 0);
    CHECK_EQ(worker_end_status, -EINPROGRESS);
    CHECK_EQ(worker_status, status);
    CHECK_TEXT(trace, expected);
    loop_drop();
}

TEST_STAGED(a_work_that_ends_its_own_loop_is_not_made_to_wait_for_itself) {
    work_ends_loop(weft_loop_shutdown, 0, "back");
    work_ends_loop(weft_loop_close, -EPIPE, "");
}

static void *wait_for_trace(void *arg) {
    WAIT_UNTIL(atomic_load(&second_status) == 7);
    worker_job.run = worker_comes_back;
    worker_status = wf_loop_post_worker(loop, &worker_job);
    return arg;
}

static void tell_the_work(void) {
    atomic_store(&second_status, 7);
}

TEST_STAGED(a_shutdown_waits_for_a_work_that_waits_for_an_accepted_callback) {
    loop_open();
    atomic_store(&second_status, 0);
    when_do("s", tell_the_work);
    play("submit:s");
    hand_out();
    pthread_t worker = thread_start(wait_for_trace, NULL);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    CHECK_TEXT(trace, "s back");
    thread_join(worker);
    CHECK_EQ(worker_status, 0);
    loop_drop();
}

static void *close_it(void *arg) {
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_TERMINATING);
    CHECK_EQ(weft_loop_close(loop, WEFT_NEVER), 0);
    return arg;
}

TEST_STAGED(a_close_ends_the_wait_of_a_shutdown_for_works) {
    loop_open();
    hand_out();
    pthread_t closer = thread_start(close_it, NULL);
    CHECK_EQ(weft_loop_shutdown(loop, WEFT_NEVER), 0);
    thread_join(closer);
    worker_job.run = worker_comes_back;
    CHECK_EQ(wf_loop_post_worker(loop, &worker_job), -EPIPE);
    CHECK_TEXT(trace, "");
    loop_drop();
}

/* ---- How many wakes ---- */

static atomic_int sleeps;
static atomic_int wakes;

static void count_sleeps(const char *name) {
    if (strcmp(name, "loop.before_sleeping") == 0)
        atomic_fetch_add(&sleeps, 1);
    if (strcmp(name, "wake.before_deliver") == 0)
        atomic_fetch_add(&wakes, 1);
}

TEST(an_idle_loop_sleeps_once_and_makes_no_wake_ups) {
    struct running running;
    atomic_store(&sleeps, 0);
    wf_point_hook = count_sleeps;
    loop_open();
    CHECK_EQ(weft_loop_keep(loop), 0);
    play("timer60000:T");
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0); /* counts from here on */
    CHECK_EQ(weft_sleep(weft_after(150 * WEFT_MILLISECOND)), 0);
    CHECK_EQ(atomic_load(&sleeps), 1);
    CHECK_LE(wf_fault_calls(WF_CALL_FUTEX_WAIT), 2); /* ours, and perhaps that of the loop, which was about to */
    CHECK_EQ(wf_fault_calls(WF_CALL_EPOLL_WAIT), 0);
    play("clear:T");
    let_go();
    CHECK_EQ(running_join(&running), 0);
    CHECK_LE(atomic_load(&sleeps), 3);
    loop_drop();
    wf_point_hook = NULL;
}

static pthread_barrier_t producers_start;

static void *produce_one(void *arg) {
    pthread_barrier_wait(&producers_start);
    play("submit:x");
    return arg;
}

static void hold_the_owner(void) {
    stand_with_the_wake();
}

TEST(a_hundred_submits_to_a_sleeping_loop_make_one_wake) {
    enum { PRODUCERS = 100 };
    struct running running;
    pthread_t threads[PRODUCERS];
    wf_point_hook = count_sleeps;
    loop_open();
    named("x"); /* so that the producers only read */
    when_do("first", hold_the_owner);
    CHECK_EQ(weft_loop_keep(loop), 0);
    running_start(&running, WEFT_LOOP_UNTIL_QUIET);
    wait_asleep();
    atomic_store(&sender_stands, 0);
    atomic_store(&sender_may_go, 0);
    atomic_store(&wakes, 0);
    CHECK_EQ(pthread_barrier_init(&producers_start, NULL, PRODUCERS), 0);
    play("submit:first");
    for (int i = 0; i < PRODUCERS; i++)
        threads[i] = thread_start(produce_one, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        thread_join(threads[i]);
    CHECK_EQ(atomic_load(&wakes), 1);
    atomic_store(&sender_may_go, 1);
    let_go();
    CHECK_EQ(running_join(&running), 0);
    CHECK_EQ(trace_length, strlen("first") + 2 * PRODUCERS);
    pthread_barrier_destroy(&producers_start);
    loop_drop();
    wf_point_hook = NULL;
}

/* ---- Memory of jobs ---- */

static void nothing(void *arg) {
    (void)arg;
}

TEST(after_a_burst_the_memory_of_most_jobs_is_given_back) {
    enum { KEPT_AT_MOST = 256, BLOCKS = KEPT_AT_MOST + 100 };
    loop_open();
    long before = (long)wf_os_live_blocks();
    while ((long)wf_os_live_blocks() < before + BLOCKS)
        CHECK_EQ(weft_loop_submit(loop, nothing, NULL), 0);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    CHECK_LE((long)wf_os_live_blocks(), before + KEPT_AT_MOST + 2);
    finish("");
}

TEST(jobs_are_used_again_by_the_owner_and_by_others) {
    loop_open();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 10; i++)
            CHECK_EQ(weft_loop_submit(loop, nothing, NULL), 0);
        CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    }
    long before = (long)wf_os_live_blocks();
    for (int i = 0; i < 10; i++)
        CHECK_EQ(weft_loop_submit(loop, nothing, NULL), 0);
    CHECK_LE((long)wf_os_live_blocks(), before + 10);
    CHECK_EQ(loop_run(WEFT_LOOP_NO_WAIT), 0);
    finish("");
}
