/* SPDX-License-Identifier: MIT
 *
 * queue/lock.h - the runtime's own mutex: one futex word.
 *
 *     FREE --take--> HELD --take by another--> CONTENDED --drop--> FREE (and one sleeper is woken)
 *       ^              |
 *       +----drop------+
 *
 * Free, taking and dropping cost one read-modify-write each and no system call. For short critical sections that never
 * park a fiber: the injection queue, the idle stack, the queues of waiters.
 *
 * All zero is a free lock. The word knows no owner: a lock taken on one call stack may be dropped on another (a fiber
 * takes it, the scheduler drops it once the fiber's stack has been left), also by another thread.
 *
 * Invariants
 *   - While somebody may be asleep on the word, it is CONTENDED or about to be taken as CONTENDED by a woken sleeper.
 *     That is why a sleeper always takes it as CONTENDED: it cannot know whether it was the last one.
 *   - What was written before a drop (A) is visible after the next take (B): A and B are the pair.
 *   - A drop touches the lock by the exchange and, if it was CONTENDED, by one futex wake on its address. The memory may
 *     be gone by then: the kernel looks the address up and never reads the word, so the worst case is a spurious
 *     return of whoever sleeps at that address now, and every sleeper of this runtime allows for that.
 */
#ifndef WF_QUEUE_LOCK_H
#define WF_QUEUE_LOCK_H

#include "base/assert.h"
#include "base/atomic.h"

enum { WF_LOCK_FREE, WF_LOCK_HELD, WF_LOCK_CONTENDED };

struct wf_lock {
    _Atomic uint32_t word; /* any thread, by read-modify-write only */
};

/* Mutants: one wrong order or value each; tests/model/model_lock.c has to find them all. */
#ifdef WF_MUTANT_LOCK_RELAXED_TAKE
#define WF_LOCK_CAS_TAKE wf_cas_relaxed
#else
#define WF_LOCK_CAS_TAKE wf_cas_acquire
#endif
#ifdef WF_MUTANT_LOCK_RELAXED_DROP
#define WF_LOCK_EXCHANGE_DROP wf_exchange_relaxed
#else
#define WF_LOCK_EXCHANGE_DROP wf_exchange_release
#endif

void wf_lock_take_slow(struct wf_lock *lock);
void wf_lock_wake(struct wf_lock *lock);

static inline void wf_lock_init(struct wf_lock *lock) {
    wf_store_relaxed(&lock->word, WF_LOCK_FREE);
}

/* Takes the lock if that needs no waiting. */
static inline bool wf_lock_try(struct wf_lock *lock) {
    uint32_t found = WF_LOCK_FREE;
    return WF_LOCK_CAS_TAKE(&lock->word, &found, WF_LOCK_HELD); /* B: pairs with A in wf_lock_drop */
}

/* Takes the lock; spins briefly, then sleeps. Not recursive. */
static inline void wf_lock_take(struct wf_lock *lock) {
    if (WF_UNLIKELY(!wf_lock_try(lock)))
        wf_lock_take_slow(lock);
}

/* Any thread may drop on behalf of the taker. */
static inline void wf_lock_drop(struct wf_lock *lock) {
    uint32_t was = WF_LOCK_EXCHANGE_DROP(&lock->word, WF_LOCK_FREE); /* A: pairs with B */
    WF_ASSERT(was != WF_LOCK_FREE);
    if (WF_UNLIKELY(was == WF_LOCK_CONTENDED))
        wf_lock_wake(lock);
}

#endif
