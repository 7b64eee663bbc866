/* SPDX-License-Identifier: MIT
 *
 * unit/sync/cond_test.c - waiting for a condition that a mutex guards.
 *
 * No signal is lost between the unlock and the wait, none is made up, and whatever ends the wait the mutex is held again.
 */
#include "base/point.h"
#include "support/child.h"
#include "unit/sync/waiters.h"

enum { CROWD = 6 };

static weft_mutex mutex = WEFT_MUTEX_INIT;
static weft_cond cond = WEFT_COND_INIT;
static long tokens, waiting, woken;

static void lock(void) {
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
}

static void unlock(void) {
    weft_mutex_unlock(&mutex);
}

static void check_as_new(void) {
    CHECK(is_all_zero(&mutex, sizeof mutex));
    CHECK(is_all_zero(&cond, sizeof cond));
}

/* The test build takes a second lock by the holder for a mistake, so the mutex is tried from elsewhere. */
static void *try_mutex(void *arg) {
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NOW), -ETIMEDOUT);
    return arg;
}

/* Waits without a loop: whoever comes back with 0 was signalled. */
static void *wait_and_hold(void *arg) {
    lock();
    CHECK_EQ(weft_cond_wait(&cond, &mutex, arg ? weft_after(PATIENCE_NS) : WEFT_NEVER), 0);
    weft_fiber fiber;
    if (weft_self().bits) {
        SPAWN(&fiber, try_mutex, NULL);
        JOIN(fiber, NULL);
    }
    woken++;
    unlock();
    return NULL;
}

static void counts_body(void) {
    weft_fiber fibers[CROWD];
    struct on_thread_call call;
    woken = 0;
    CHECK_EQ(weft_cond_signal(&cond), 0);
    CHECK_EQ(weft_cond_broadcast(&cond), 0);
    for (int i = 0; i < CROWD; i++) {
        SPAWN(&fibers[i], wait_and_hold, i % 2 ? &cond : NULL);
        WAIT_WAITERS(cond, &cond, i + 1);
    }
    on_thread_start(&call, wait_and_hold, NULL);
    WAIT_WAITERS(cond, &cond, CROWD + 1);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(weft_cond_signal(&cond), 1);
        JOIN(fibers[i], NULL); /* the first ones first */
        CHECK_EQ(COUNT_WAITERS(cond, &cond), CROWD - i);
    }
    lock();
    CHECK_EQ(weft_cond_broadcast(&cond), CROWD - 1);
    CHECK_EQ(woken, 2); /* they have to wait for the mutex */
    unlock();
    for (int i = 2; i < CROWD; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&call);
    CHECK_EQ(woken, CROWD + 1);
    check_as_new();
}

TEST(cond_signal_lets_one_through_and_broadcast_all_and_both_count) {
    run_fibers(counts_body);
}

static void *time_out(void *arg) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    lock();
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_cond_wait(&cond, &mutex, deadlines[i]), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadlines[i]);
    }
    waiting = 1; /* under the mutex, or the race detector says so */
    unlock();
    return arg;
}

static void deadlines_body(void) {
    time_out(NULL);
    on_thread(time_out, NULL);
    CHECK_EQ(weft_cond_signal(&cond), 0); /* those who gave up are not counted */
    check_as_new();
    CHECK_EQ(weft_cond_wait(NULL, &mutex, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_cond_wait(&cond, NULL, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_cond_signal(NULL), -EINVAL);
    CHECK_EQ(weft_cond_broadcast(NULL), -EINVAL);
}

TEST(cond_deadline_returns_with_the_mutex_held) {
    run_fibers(deadlines_body);
}

static int wait_for_ever(void) {
    lock();
    int status = weft_cond_wait(&cond, &mutex, WEFT_NEVER);
    unlock(); /* fatal if it were not held */
    return status;
}

static void cancel_body(void) {
    struct quitter quitter;
    quitter_start(&quitter, wait_for_ever);
    WAIT_WAITERS(cond, &cond, 1);
    lock();
    CHECK(wf_cancel_fire(&quitter.cancel, -ECANCELED, NULL));
    WAIT_WAITERS(mutex, &mutex, 1); /* cancelled, and still it waits for its mutex */
    unlock();
    JOIN(quitter.fiber, NULL);
    CHECK_EQ(quitter.status, -ECANCELED);
    wf_cancel_term(&quitter.cancel);
    check_as_new();
}

TEST(cond_cancelled_wait_gets_its_mutex_back_first) {
    run_fibers(cancel_body);
}

/* A signal by somebody who locked the mutex right after it was unlocked, before the waiter lay down. */
static atomic_int hook_reached, signalled;

static void hook(const char *name) {
    if (strcmp(name, "cond.before_wait") == 0)
        atomic_store(&hook_reached, 1);
}

static void *signal_when_reached(void *arg) {
    while (!atomic_load(&hook_reached))
        sched_yield();
    lock();
    tokens++;
    unlock();
    atomic_store(&signalled, weft_cond_signal(&cond));
    return arg;
}

static void lost_signal_body(void) {
    struct on_thread_call call;
    for (int i = 0; i < 50; i++) {
        atomic_store(&hook_reached, 0);
        atomic_store(&signalled, 0);
        tokens = 0;
        lock();
        on_thread_start(&call, signal_when_reached, NULL);
        while (tokens == 0)
            CHECK_EQ(weft_cond_wait(&cond, &mutex, i % 2 ? WEFT_NEVER : weft_after(PATIENCE_NS)), 0);
        unlock();
        on_thread_finish(&call);
        CHECK_EQ(atomic_load(&signalled), 1);
        check_as_new();
    }
}

TEST(cond_signal_between_unlock_and_wait_is_not_lost) {
    wf_point_hook = hook;
    run_fibers(lost_signal_body);
    wf_point_hook = NULL;
}

struct buffer {
    weft_cond filled, emptied;
    int values[4], count;
    long total, sum;
};

static struct buffer buffer;

static void *produce(void *opaque) {
    long rounds = (long)(intptr_t)opaque;
    for (long i = 1; i <= rounds; i++) {
        lock();
        while (buffer.count == 4)
            CHECK_EQ(weft_cond_wait(&buffer.emptied, &mutex, WEFT_NEVER), 0);
        buffer.values[buffer.count++] = (int)i;
        weft_cond_signal(&buffer.filled);
        unlock();
    }
    return NULL;
}

static void *consume(void *opaque) {
    long rounds = (long)(intptr_t)opaque;
    for (long i = 0; i < rounds; i++) {
        lock();
        while (buffer.count == 0)
            CHECK_EQ(weft_cond_wait(&buffer.filled, &mutex, weft_after(PATIENCE_NS)), 0);
        buffer.sum += buffer.values[--buffer.count];
        buffer.total++;
        unlock();
        weft_cond_signal(&buffer.emptied);
    }
    return NULL;
}

static void buffer_body(void) {
    weft_fiber fibers[6];
    struct on_thread_call calls[2];
    long rounds = scaled(2000, 50);
    buffer = (struct buffer){.filled = WEFT_COND_INIT, .emptied = WEFT_COND_INIT};
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], i % 2 ? produce : consume, (void *)(intptr_t)rounds);
    for (int i = 0; i < 2; i++)
        on_thread_start(&calls[i], i % 2 ? produce : consume, (void *)(intptr_t)rounds);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 2; i++)
        on_thread_finish(&calls[i]);
    CHECK_EQ(buffer.total, 4 * rounds);
    CHECK_EQ(buffer.sum, 4 * (rounds * (rounds + 1) / 2));
}

TEST(cond_bounded_buffer_of_fibers_and_threads_passes_everything) {
    run_fibers(buffer_body);
}

static void wait_unlocked(void *arg) {
    (void)arg;
    weft_cond_wait(&cond, &mutex, WEFT_NOW);
}

TEST(cond_wait_without_the_mutex_is_fatal) {
    struct child_end end = child_run(wait_unlocked, NULL);
    CHECK_CHILD_FATAL(&end, "a mutex was unlocked that is not locked");
}
