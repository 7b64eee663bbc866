/* SPDX-License-Identifier: MIT
 *
 * sync/mutex.c - the mutex: one word for the quick way, a queue for the rest.
 *
 *     LOCKED    somebody holds it
 *     WAITERS   somebody may be in the queue
 *     WOKEN     the first of the queue has been sent to compete for it, and is on its way
 *     INSISTS   the first of the queue has competed and lost: the next unlock makes it the holder
 *
 * Free to locked and back is one compare and swap each. Who finds it locked spins a little if the holder may be running on
 * another worker, then sets WAITERS under the queue's lock and waits. An unlock with waiters frees the mutex and sends the
 * first of them to compete with whoever comes meanwhile; one at a time (WOKEN). If it loses, it goes back to the front of the
 * queue and insists. So a busy holder goes on without a switch for every section, and a waiter is passed over once at most.
 *
 * Only whoever holds the mutex frees it, so while LOCKED is set nobody but those with the queue's lock changes the word.
 * A wake cannot be lost: the one that was woken either takes the mutex or finds it locked, under the queue's lock, and then
 * its holder has the unlock still before it, which looks at the queue.
 *
 * Ranks: the ranked mutexes that a fiber or thread holds are a list, newest first, through outer.
 *
 * Rejected: always handing over to the first. Strictly fair, but once there is a queue every section costs a switch: half the
 * throughput and less. Counting time until a waiter insists, which needs the clock.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/report.h"
#include "sync/sync.h"

enum { LOCKED = 1, WAITERS = 2, WOKEN = 4, INSISTS = 8 };

/* What a waiter is told. */
enum { HANDED = 0, COMPETE = 1 };

/* 60: some 200 ns, the length of a short critical section; a park and its wake cost about that. */
enum { SPINS = 60 };

#ifdef WF_DEBUG
enum { CHECKS_OWNER = 1 };
#else
enum { CHECKS_OWNER = 0 };
#endif

static int mutex_lock_slow(struct wf_mutex *mutex, int64_t deadline_ns, bool is_sure);
static bool set_waiting_locked(struct wf_mutex *mutex, uint32_t mine);
static bool mutex_spin(struct wf_mutex *mutex, uint32_t mine);
static bool mutex_unlock_slow(struct wf_mutex *mutex);
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
    if (WF_UNLIKELY(!wf_cas_acquire(&mutex->word, &word, LOCKED))) { /* pairs with the release of an unlock */
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
    if (!wf_cas_acquire(&mutex->word, &word, LOCKED))
        mutex_lock_slow(mutex, WEFT_NEVER, true);
    wf_context_acquire(mutex);
    if (is_checked(mutex))
        note_locked(mutex);
}

static WF_NOINLINE int mutex_lock_slow(struct wf_mutex *mutex, int64_t deadline_ns, bool is_sure) {
    struct wf_waiter self = {.amount = 0};
    int status = COMPETE;
    for (uint32_t mine = 0; status == COMPETE; mine = WOKEN) { /* mine: the bit that is to go once we have competed */
        if (mutex_spin(mutex, mine))
            return 0;
        wf_lock_take(&mutex->lock);
        if (!set_waiting_locked(mutex, mine)) {
            wf_lock_drop(&mutex->lock);
            return 0;
        }
        WF_POINT("mutex.before_wait");
        if (is_sure)
            status = wf_wait_surely_locked(&self, &mutex->lock, &mutex->waiters, "mutex", mine != 0);
        else if (mine)
            status = wf_wait_first_locked(&self, &mutex->lock, &mutex->waiters, deadline_ns, "mutex");
        else
            status = wf_wait_locked(&self, &mutex->lock, &mutex->waiters, deadline_ns, "mutex");
        if (status < 0)
            return status;
    }
    return 0;
}

/* Says in the word that we wait, and insist if we have lost once; false when it was free, and is ours now. */
static bool set_waiting_locked(struct wf_mutex *mutex, uint32_t mine) {
    uint32_t word = wf_load_relaxed(&mutex->word);
    for (;;) {
        bool is_locked = word & LOCKED;
        uint32_t wanted = (word & ~mine) | (is_locked ? WAITERS | (mine ? INSISTS : 0) : LOCKED);
        if (wf_cas_acquire(&mutex->word, &word, wanted)) /* pairs with the release of an unlock */
            return is_locked;
    }
}

/* Tries as long as it makes sense: once where the holder cannot be running meanwhile. */
static bool mutex_spin(struct wf_mutex *mutex, uint32_t mine) {
    struct wf_fiber_worker *worker = wf_worker_self();
    int spins = worker && !wf_load_relaxed(&worker->fibers->engine.is_shared) ? 1 : SPINS;
    for (int i = 0; i < spins; i++) {
        uint32_t word = wf_load_relaxed(&mutex->word);
        if (!(word & LOCKED) && wf_cas_acquire(&mutex->word, &word, (word & ~mine) | LOCKED))
            return true;
        if (i + 1 < spins)
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
    uint32_t word = LOCKED;
    while (WF_UNLIKELY(!wf_cas_release(&mutex->word, &word, word & ~LOCKED))) { /* pairs with the acquire of a lock */
        if ((word & (LOCKED | WOKEN | INSISTS)) != (LOCKED | WOKEN)) {
            if (mutex_unlock_slow(mutex))
                return;
            word = LOCKED;
        }
    }
}

/* Nobody is on its way to take it, or the first in the queue insists. False: nobody waits after all, and the mutex is still to
 * be freed. Not here: as soon as it is free its next holder may be its last, and its memory gone before we drop the lock. */
static WF_NOINLINE bool mutex_unlock_slow(struct wf_mutex *mutex) {
    wf_lock_take(&mutex->lock);
    uint32_t word = wf_load_relaxed(&mutex->word);
    if (!(word & LOCKED))
        wf_fatal("a mutex was unlocked that is not locked");
    struct wf_waiter *next = NULL;
    uint32_t kept = word & WOKEN;
    if ((word & INSISTS) || !(word & WOKEN))
        next = wf_wait_take_first_locked(&mutex->waiters);
    if (next && (word & INSISTS)) {
        next->status = HANDED;
        kept |= LOCKED;
    } else if (next) {
        next->status = COMPETE;
        kept |= WOKEN;
    } else {
        kept |= LOCKED;
    }
    wf_store_release(&mutex->word, kept | (mutex->waiters ? WAITERS : 0));
    wf_lock_drop(&mutex->lock);
    if (next)
        wf_wait_wake(next); /* the mutex may be gone by now */
    return next != NULL;
}

static void check_order(const struct wf_mutex *mutex) {
    if (wf_load_relaxed(&mutex->owner) == self_as_owner() && wf_load_relaxed(&mutex->word) & LOCKED)
        wf_fatal("a mutex was locked by the one that holds it");
    for (struct wf_mutex *held = *held_list(); mutex->rank && held; held = held->outer)
        if (held->rank >= mutex->rank)
            wf_fatal("a mutex of rank %u was locked while one of rank %u is held: ranks must go up", mutex->rank,
                     held->rank);
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
