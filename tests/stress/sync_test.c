/* SPDX-License-Identifier: MIT
 *
 * stress/sync_test.c - all locks and counters at once, with waiters that give up by deadline or cancellation at any moment.
 *
 * A random walk over one of each kind. What each object promises is checked inside the sections; afterwards every object is
 * free, nobody waits in any of them, and all permits are there.
 */
#include "support/parked.h"
#include "wait/cancel.h"

enum { WALKERS = 16, THREADS = 2, PERMITS = 3 };

static weft_mutex mutex;
static weft_rwlock rwlock;
static weft_cond cond;
static weft_semaphore semaphore;
static weft_barrier barrier;
static long under_mutex, under_rwlock[2];
static atomic_int permits_used, walkers_left;

struct walker {
    uint64_t seed;
    long steps;
    struct wf_cancel region;
    struct wf_member member;
    weft_fiber fiber;
};

static bool is_fine(int status) {
    CHECK(status == 0 || status == -ETIMEDOUT || status == -ECANCELED);
    return status == 0;
}

static void step_mutex(weft_time deadline, bool waits) {
    if (!is_fine(weft_mutex_lock(&mutex, deadline)))
        return;
    long before = under_mutex;
    if (waits) {
        under_mutex = 0; /* the mutex is given back meanwhile: whoever has it finds a number */
        is_fine(weft_cond_wait(&cond, &mutex, deadline == WEFT_NEVER ? weft_after(3000) : deadline));
        before = under_mutex;
    }
    weft_yield();
    CHECK_EQ(under_mutex, before);
    under_mutex = before + 1;
    weft_mutex_unlock(&mutex);
    weft_cond_signal(&cond);
}

static void step_rwlock(weft_time deadline, bool writes) {
    if (!is_fine(writes ? weft_rwlock_write(&rwlock, deadline) : weft_rwlock_read(&rwlock, deadline)))
        return;
    CHECK_EQ(under_rwlock[0], under_rwlock[1]);
    if (writes)
        under_rwlock[0]++;
    weft_yield();
    if (writes)
        under_rwlock[1]++;
    CHECK_EQ(under_rwlock[0], under_rwlock[1]);
    weft_rwlock_unlock(&rwlock);
}

static void step_semaphore(weft_time deadline, int amount) {
    if (!is_fine(weft_semaphore_acquire(&semaphore, amount, deadline)))
        return;
    CHECK_LE(atomic_fetch_add(&permits_used, amount) + amount, PERMITS);
    weft_yield();
    atomic_fetch_sub(&permits_used, amount);
    weft_semaphore_release(&semaphore, amount);
}

static void step_barrier(weft_time deadline) {
    int status = weft_barrier_wait(&barrier, deadline == WEFT_NEVER ? weft_after(5000) : deadline);
    is_fine(status == 1 ? 0 : status);
}

static void walk(struct walker *walker) {
    for (long i = 0; i < walker->steps; i++) {
        weft_time deadline =
            random_below(&walker->seed, 4) ? weft_after((int64_t)random_below(&walker->seed, 4000)) : WEFT_NEVER;
        switch (random_below(&walker->seed, 4)) {
        case 0:
            step_mutex(deadline, random_below(&walker->seed, 4) == 0);
            break;
        case 1:
            step_rwlock(deadline, random_below(&walker->seed, 3) == 0);
            break;
        case 2:
            step_semaphore(deadline, 1 + (int)random_below(&walker->seed, PERMITS));
            break;
        default:
            step_barrier(deadline);
        }
    }
}

static void *walk_cancellable(void *opaque) {
    struct walker *walker = opaque;
    wf_cancel_enter(&walker->region, &walker->member);
    walk(walker);
    wf_cancel_leave(&walker->member);
    atomic_fetch_sub(&walkers_left, 1);
    return NULL;
}

static void *walk_on_thread(void *opaque) {
    walk(opaque);
    return NULL;
}

static void reset(void) {
    mutex = (weft_mutex)WEFT_MUTEX_INIT;
    rwlock = (weft_rwlock)WEFT_RWLOCK_INIT;
    cond = (weft_cond)WEFT_COND_INIT;
    semaphore = (weft_semaphore)WEFT_SEMAPHORE_INIT(PERMITS);
    barrier = (weft_barrier)WEFT_BARRIER_INIT(3);
    under_mutex = under_rwlock[0] = under_rwlock[1] = 0;
    atomic_store(&permits_used, 0);
    atomic_store(&walkers_left, WALKERS);
}

static void check_all_free(void) {
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NOW), 0);
    weft_mutex_unlock(&mutex);
    CHECK_EQ(weft_rwlock_write(&rwlock, WEFT_NOW), 0);
    weft_rwlock_unlock(&rwlock);
    CHECK_EQ(weft_semaphore_permits(&semaphore), PERMITS);
    CHECK_EQ(barrier.arrived, 0);
    CHECK(!mutex.waiters && !rwlock.waiters && !cond.waiters && !semaphore.waiters && !barrier.waiters);
}

static void walk_body(void) {
    static struct walker walkers[WALKERS + THREADS];
    struct on_thread_call calls[THREADS];
    uint64_t seed = wf_test_seed();
    reset();
    for (int i = 0; i < WALKERS + THREADS; i++) {
        walkers[i].seed = seed + (uint64_t)i * 7907;
        walkers[i].steps = scaled(2000, 60);
        wf_cancel_init(&walkers[i].region, NULL);
    }
    for (int i = 0; i < THREADS; i++)
        on_thread_start(&calls[i], walk_on_thread, &walkers[WALKERS + i]);
    for (int i = 0; i < WALKERS; i++)
        SPAWN(&walkers[i].fiber, walk_cancellable, &walkers[i]);
    for (int i = 0; i < WALKERS; i += 2) { /* every other one is cancelled somewhere on its way */
        for (uint64_t pause = random_below(&seed, 50); pause > 0; pause--)
            weft_yield();
        wf_cancel_fire(&walkers[i].region, -ECANCELED, "stress");
    }
    for (int i = 0; i < WALKERS; i++)
        JOIN(walkers[i].fiber, NULL);
    for (int i = 0; i < THREADS; i++)
        on_thread_finish(&calls[i]);
    for (int i = 0; i < WALKERS + THREADS; i++)
        wf_cancel_term(&walkers[i].region);
    check_all_free();
}

TEST(objects_stay_whole_when_waiters_give_up_at_any_moment) {
    for (int i = 0; i < 3; i++)
        run_fibers(walk_body);
}
