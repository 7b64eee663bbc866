/* SPDX-License-Identifier: MIT
 *
 * sync/mutex.c - the mutex: one word for the quick way, a queue for the rest.
 *
 *     word: 0 free | LOCKED | LOCKED + WAITERS
 *
 * Free to locked and back is one compare and swap each. Who finds it locked spins a little if the holder may be running on
 * another worker, then sets WAITERS under the queue's lock and waits. An unlock that finds WAITERS takes the first one out of
 * the queue and leaves the word locked: the mutex is its now. So nobody overtakes the queue, and WAITERS is set whenever
 * somebody is in it (it may be set while the queue is empty, when those who waited have given up).
 *
 * Ranks: the ranked mutexes that a fiber or thread holds are a list, newest first, through outer.
 *
 * Rejected: waking the first waiter to compete with newcomers. It is faster when critical sections are short and workers
 * many, but a waiter then needs a count of its defeats to be safe from starving.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/report.h"
#include "sync/sync.h"

enum { WF_MUTEX_LOCKED = 1, WF_MUTEX_WAITERS = 2 };

/* 60: some 200 ns, the length of a short critical section; a park and its wake cost about that. */
enum { SPINS = 60 };

#ifdef WF_DEBUG
enum { CHECKS_OWNER = 1 };
#else
enum { CHECKS_OWNER = 0 };
#endif

static int mutex_lock_slow(struct wf_mutex *mutex, int64_t deadline_ns, bool is_sure);
static bool mutex_spin(struct wf_mutex *mutex);
static void mutex_unlock_slow(struct wf_mutex *mutex);
static void note_locked(struct wf_mutex *mutex);
static void note_unlock(struct wf_mutex *mutex);
static void check_order(const struct wf_mutex *mutex);

/* Ranked mutexes held by a plain thread, and its name as an owner. */
static __thread struct wf_mutex *thread_held;

static void *self_as_owner(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    return fiber ? (void *)fiber : (void *)&thread_held;
}

static struct wf_mutex **held_list(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    return fiber ? (struct wf_mutex **)&wf_fiber_stack(fiber)->held : &thread_held;
}

static inline bool is_checked(const struct wf_mutex *mutex) {
    return CHECKS_OWNER || mutex->rank;
}

int weft_mutex_lock(weft_mutex *public_mutex, weft_time deadline) {
    struct wf_mutex *mutex = (struct wf_mutex *)public_mutex;
    if (WF_UNLIKELY(!mutex))
        return -EINVAL;
    int error = wf_wait_enter(deadline);
    if (WF_UNLIKELY(error))
        return error;
    if (WF_UNLIKELY(is_checked(mutex)))
        check_order(mutex);
    uint32_t word = 0;
    if (WF_UNLIKELY(!wf_cas_acquire(&mutex->word, &word, WF_MUTEX_LOCKED))) { /* pairs with the release of an unlock */
        error = mutex_lock_slow(mutex, deadline, false);
        if (error)
            return error;
    }
    wf_context_acquire(mutex);
    if (WF_UNLIKELY(is_checked(mutex)))
        note_locked(mutex);
    return 0;
}

void wf_mutex_lock_surely(struct wf_mutex *mutex) {
    uint32_t word = 0;
    if (!wf_cas_acquire(&mutex->word, &word, WF_MUTEX_LOCKED))
        mutex_lock_slow(mutex, WEFT_NEVER, true);
    wf_context_acquire(mutex);
    if (is_checked(mutex))
        note_locked(mutex);
}

static WF_NOINLINE int mutex_lock_slow(struct wf_mutex *mutex, int64_t deadline_ns, bool is_sure) {
    if (mutex_spin(mutex))
        return 0;
    wf_lock_take(&mutex->lock);
    uint32_t word = wf_load_relaxed(&mutex->word);
    for (;;) {
        uint32_t wanted = word & WF_MUTEX_LOCKED ? word | WF_MUTEX_WAITERS : word | WF_MUTEX_LOCKED;
        if (wf_cas_acquire(&mutex->word, &word, wanted))
            break;
    }
    if (!(word & WF_MUTEX_LOCKED)) {
        wf_lock_drop(&mutex->lock);
        return 0;
    }
    WF_POINT("mutex.before_wait");
    struct wf_waiter self;
    if (!is_sure)
        return wf_wait_locked(&self, &mutex->lock, &mutex->waiters, deadline_ns, "mutex");
    wf_wait_surely_locked(&self, &mutex->lock, &mutex->waiters, "mutex");
    return 0;
}

/* Only where the holder can be running meanwhile, and nobody queues. */
static bool mutex_spin(struct wf_mutex *mutex) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (worker && worker->fibers->engine.count == 1)
        return false;
    for (int i = 0; i < SPINS; i++) {
        uint32_t word = wf_load_relaxed(&mutex->word);
        if (word & WF_MUTEX_WAITERS)
            return false;
        if (word == 0 && wf_cas_acquire(&mutex->word, &word, WF_MUTEX_LOCKED))
            return true;
        wf_relax();
    }
    return false;
}

void weft_mutex_unlock(weft_mutex *public_mutex) {
    struct wf_mutex *mutex = (struct wf_mutex *)public_mutex;
    if (WF_UNLIKELY(!mutex))
        wf_fatal("weft_mutex_unlock of a null pointer");
    if (WF_UNLIKELY(is_checked(mutex)))
        note_unlock(mutex);
    wf_context_release(mutex);
    uint32_t word = WF_MUTEX_LOCKED;
    if (WF_UNLIKELY(!wf_cas_release(&mutex->word, &word, 0))) /* pairs with the acquire of a lock */
        mutex_unlock_slow(mutex);
}

static WF_NOINLINE void mutex_unlock_slow(struct wf_mutex *mutex) {
    wf_lock_take(&mutex->lock);
    if (!(wf_load_relaxed(&mutex->word) & WF_MUTEX_LOCKED))
        wf_fatal("a mutex was unlocked that is not locked");
    struct wf_waiter *next = wf_wait_take_first_locked(&mutex->waiters);
    if (next)
        next->status = 0;
    /* Others can change the word under the queue's lock only, since it is locked. */
    wf_store_release(&mutex->word, (next ? WF_MUTEX_LOCKED : 0) | (mutex->waiters ? WF_MUTEX_WAITERS : 0));
    wf_lock_drop(&mutex->lock);
    if (next)
        wf_wait_wake(next); /* the mutex is the next one's, and may be gone */
}

static void check_order(const struct wf_mutex *mutex) {
    if (wf_load_relaxed(&mutex->owner) == self_as_owner() && wf_load_relaxed(&mutex->word) & WF_MUTEX_LOCKED)
        wf_fatal("a mutex was locked by the one that holds it");
    struct wf_mutex *newest = *held_list();
    if (mutex->rank && newest && newest->rank >= mutex->rank)
        wf_fatal("a mutex of rank %u was locked while one of rank %u is held: ranks must go up", mutex->rank,
                 newest->rank);
}

static void note_locked(struct wf_mutex *mutex) {
    wf_store_relaxed(&mutex->owner, self_as_owner());
    if (mutex->rank) {
        mutex->outer = *held_list();
        *held_list() = mutex;
    }
}

static void note_unlock(struct wf_mutex *mutex) {
    void *owner = wf_load_relaxed(&mutex->owner);
    if (owner != self_as_owner())
        wf_fatal(owner ? "a mutex was unlocked by another than the one that holds it"
                       : "a mutex was unlocked that is not locked");
    wf_store_relaxed(&mutex->owner, NULL);
    if (!mutex->rank)
        return;
    for (struct wf_mutex **at = held_list(); *at; at = &(*at)->outer)
        if (*at == mutex) {
            *at = mutex->outer;
            return;
        }
}
