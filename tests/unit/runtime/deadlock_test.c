/* SPDX-License-Identifier: MIT
 *
 * unit/runtime/deadlock_test.c - what keeps a silence from being called a deadlock, and how often it is looked into.
 *
 * The outcome of weft_run tells: -EDEADLK, or what the first fiber returned after somebody woke it. Standard error is a
 * file meanwhile.
 */
#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/point.h"
#include "os/fault.h"
#include "os/thread.h"
#include "runtime/runtime.h"
#include "support/door.h"
#include "support/quiet.h"
#include "support/rendezvous.h"
#include "support/run.h"

/* Longer than the second within which a deadlock is reported. */
#define SILENCE_NS (1200 * WEFT_MILLISECOND)

static struct rendezvous meeting;

static int receive_for_ever(void *arg) {
    void *value = arg;
    CHECK_EQ(rendezvous_receive(&meeting, &value, WEFT_NEVER), 0);
    return (int)(intptr_t)value;
}

TEST(a_receive_that_nobody_sends_to_is_reported) {
    CHECK_EQ(run_quietly(NULL, receive_for_ever, NULL), -EDEADLK);
    CHECK(strstr(text, "deadlock: all 1 fibers wait and nothing can wake them"));
    CHECK(strstr(text, "in rendezvous on 0x"));
    CHECK(strstr(text, "(receive_for_ever)"));
    CHECK(meeting.receivers == NULL); /* it was taken out of the queue when it was dropped */
}

static atomic_int is_holding;
static atomic_int is_held;
static atomic_int is_beside;

/* Whoever goes to the poller next, before it has said for how long, stays there until another one has lain down. */
static void hold_the_poller(const char *name) {
    if (strcmp(name, "sleep.beside_poller") == 0)
        atomic_store(&is_beside, 1);
    if (strcmp(name, "poll.before_limit") != 0 || !atomic_exchange(&is_holding, 0))
        return;
    atomic_store(&is_beside, 0);
    atomic_store(&is_held, 1);
    weft_time limit = weft_after(PATIENCE_NS);
    while (!atomic_load(&is_beside) && weft_now() < limit)
        sched_yield();
}

/* The other worker sleeps in the poller, is woken for nothing, and asks for its limit while this one is busy. */
static int wait_while_the_poller_is_held(void *arg) {
    struct wf_engine *engine = &weft_runtime_self()->fibers.engine;
    int32_t poller;
    COMPUTE_UNTIL((poller = wf_load_relaxed(&engine->poller)) != WF_POLLER_NONE &&
                  wf_load_relaxed(&engine->poll_deadline) != INT64_MIN);
    atomic_store(&is_holding, 1);
    wf_engine_unpark_any(engine, (uint32_t)poller);
    COMPUTE_UNTIL(atomic_load(&is_held));
    return receive_for_ever(arg);
}

TEST(a_poller_that_asked_before_the_last_one_was_idle_comes_back) {
    atomic_store(&is_held, 0);
    wf_point_hook = hold_the_poller;
    CHECK_EQ(run_quietly(&(weft_options){.workers = 2}, wait_while_the_poller_is_held, NULL), -EDEADLK);
    wf_point_hook = NULL;
    CHECK(atomic_load(&is_beside));
}

static void *send_after_a_silence(void *arg) {
    WAIT_UNTIL(weft_runtime_self());
    weft_sleep(weft_after(SILENCE_NS));
    CHECK_EQ(rendezvous_send(&meeting, arg, WEFT_NEVER), 0);
    return NULL;
}

TEST(a_thread_of_the_program_may_still_wake_somebody) {
    pthread_t thread = thread_start(send_after_a_silence, (void *)5);
    CHECK_EQ(run_quietly(NULL, receive_for_ever, NULL), 5);
    thread_join(thread);
    CHECK_TEXT(text, "");
}

static int send_from_another_runtime(void *arg) {
    weft_sleep(weft_after(SILENCE_NS));
    return rendezvous_send(&meeting, arg, WEFT_NEVER);
}

static void *run_another(void *arg) {
    CHECK_EQ(weft_run(NULL, send_from_another_runtime, arg), 0);
    return NULL;
}

TEST(another_runtime_may_still_wake_somebody) {
    pthread_t thread = thread_start(run_another, (void *)6);
    CHECK_EQ(run_quietly(NULL, receive_for_ever, NULL), 6);
    thread_join(thread);
    CHECK_TEXT(text, "");
}

/* What is announced keeps a silence from being looked into at all: nobody even asks for the number of threads. The next test
 * shows that without it somebody does. */
static int receive_with_outside_waker(void *arg) {
    struct wf_fibers *fibers = &weft_runtime_self()->fibers;
    wf_fetch_add_relaxed(&fibers->outside_wakers, 1);
    int outcome = receive_for_ever(arg);
    wf_fetch_sub_relaxed(&fibers->outside_wakers, 1);
    return outcome;
}

TEST(something_outside_that_is_announced_may_still_wake_somebody) {
    pthread_t thread = thread_start(send_after_a_silence, (void *)7);
    wf_fault_order(WF_CALL_THREAD_COUNT, 1, EIO, true);
    CHECK_EQ(run_quietly(NULL, receive_with_outside_waker, NULL), 7);
    long looks = wf_fault_calls(WF_CALL_THREAD_COUNT);
    wf_fault_order(WF_CALL_THREAD_COUNT, 0, 0, false);
    thread_join(thread);
    CHECK_EQ(looks, 0);
    CHECK_TEXT(text, "");
}

static void *send_after_a_look(void *arg) {
    WAIT_UNTIL(wf_fault_calls(WF_CALL_THREAD_COUNT) > 0);
    CHECK_EQ(rendezvous_send(&meeting, arg, WEFT_NEVER), 0);
    return NULL;
}

TEST(a_count_of_threads_that_cannot_be_read_is_no_deadlock_and_is_read_once) {
    wf_fault_order(WF_CALL_THREAD_COUNT, 1, EIO, true);
    pthread_t thread = thread_start(send_after_a_look, (void *)8);
    CHECK_EQ(run_quietly(NULL, receive_for_ever, NULL), 8);
    long looks = wf_fault_calls(WF_CALL_THREAD_COUNT);
    wf_fault_order(WF_CALL_THREAD_COUNT, 0, 0, false);
    thread_join(thread);
    CHECK_GE(looks, 1);
    CHECK_LE(looks, 2); /* once for each time that everything was silent: before and, rarely, after the send */
    CHECK_TEXT(text, "");
}

static weft_stats settled;

static void *watch_a_silence(void *arg) {
    weft_runtime *runtime;
    weft_stats before;
    weft_time limit = weft_after(PATIENCE_NS);
    WAIT_UNTIL((runtime = weft_runtime_self()));
    do { /* until the one check is over, and trimming */
        CHECK_EQ(weft_get_stats(runtime, &before), 0);
        weft_sleep(weft_after(SILENCE_NS));
        CHECK_EQ(weft_get_stats(runtime, &settled), 0);
    } while (settled.worker_parks != before.worker_parks && weft_now() < limit);
    CHECK_EQ(settled.worker_parks, before.worker_parks);
    CHECK_EQ(settled.polls, before.polls);
    CHECK_EQ(rendezvous_send(&meeting, arg, WEFT_NEVER), 0);
    return NULL;
}

TEST(a_silence_is_looked_into_once_and_then_left_alone) {
    pthread_t thread = thread_start(watch_a_silence, (void *)9);
    CHECK_EQ(run_quietly(NULL, receive_for_ever, NULL), 9);
    thread_join(thread);
    CHECK_TEXT(text, "");
}

static void *receive_in_fiber(void *arg) {
    return (void *)(intptr_t)receive_for_ever(arg);
}

static struct wf_fiber *records[50];

/* The report finds no memory: for the picture at all, or for the list in it. */
static int wait_without_memory(void *arg) {
    weft_fiber fibers[50];
    for (int i = 0; i < 50; i++) {
        SPAWN(&fibers[i], receive_in_fiber, NULL);
        records[i] = wf_record_of(&weft_runtime_self()->fibers, fibers[i]);
    }
    for (int i = 0; i < 50; i++)
        WAIT_UNTIL(wf_load_relaxed(&records[i]->task.state) == WF_FIBER_PARKED);
    wf_fault_order(WF_CALL_ALLOC, (long)(intptr_t)arg, ENOMEM, true);
    return 0;
}

TEST(a_report_without_memory_still_ends_the_runtime) {
    for (intptr_t nth = 1; nth <= 2; nth++) {
        int outcome = run_quietly(NULL, wait_without_memory, (void *)nth);
        long hits = wf_fault_hits();
        wf_fault_order(WF_CALL_ALLOC, 0, 0, false);
        CHECK_EQ(outcome, -EDEADLK);
        CHECK_GE(hits, 1);
        CHECK(strstr(text, "deadlock: all 50 fibers wait"));
        CHECK(strstr(text, "deadlock: the list is not complete: no memory"));
        CHECK(meeting.receivers == NULL);
    }
}

static atomic_int may_end;

static void *wait_to_end(void *arg) {
    WAIT_UNTIL(atomic_load(&may_end));
    return arg;
}

static int listed_threads(void) {
    DIR *folder = opendir("/proc/self/task");
    int count = 0;
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

TEST(threads_are_counted) {
    atomic_store(&may_end, 0);
    WAIT_UNTIL(wf_os_thread_count() == listed_threads()); /* those of former tests take a moment to go */
    pthread_t thread = thread_start(wait_to_end, NULL);
    WAIT_UNTIL(wf_os_thread_count() == listed_threads());
    CHECK_GE(wf_os_thread_count(), 2);
    atomic_store(&may_end, 1);
    thread_join(thread);
}
