/* SPDX-License-Identifier: MIT
 *
 * queue/lock.c - the slow half of the lock: spin a little, then sleep. The word and its invariants: queue/lock.h.
 *
 * The spin pays when the holder runs on another core and is about to drop. It ends at once when the word says
 * CONTENDED: then others sleep already, and spinning past them would only starve them.
 */
#include "queue/lock.h"

#include "os/futex.h"

/* 100: about the length of the longest critical section under these locks, and a fraction of one futex wake. Models
 * set it to 1, so that the sleeping path is met early. */
#ifndef WF_LOCK_SPINS
#define WF_LOCK_SPINS 100
#endif

/* A sleeper that takes the lock as HELD forgets the sleepers behind it. */
#ifdef WF_MUTANT_LOCK_TAKE_AS_HELD
#define LOCK_TAKEN WF_LOCK_HELD
#else
#define LOCK_TAKEN WF_LOCK_CONTENDED
#endif
#ifdef WF_MUTANT_LOCK_RELAXED_SLEEPER
#define LOCK_EXCHANGE_TAKE wf_exchange_relaxed
#else
#define LOCK_EXCHANGE_TAKE wf_exchange_acquire
#endif

static bool lock_spin(struct wf_lock *lock);

WF_NOINLINE void wf_lock_take_slow(struct wf_lock *lock) {
    if (lock_spin(lock))
        return;
    while (LOCK_EXCHANGE_TAKE(&lock->word, LOCK_TAKEN) != WF_LOCK_FREE) /* B: pairs with A in wf_lock_drop */
        wf_os_futex_wait(&lock->word, LOCK_TAKEN, INT64_MAX);
}

static bool lock_spin(struct wf_lock *lock) {
    for (int i = 0; i < WF_LOCK_SPINS; i++) {
        uint32_t word = wf_load_relaxed(&lock->word);
        if (word == WF_LOCK_CONTENDED)
            return false;
        if (word == WF_LOCK_FREE && wf_lock_try(lock))
            return true;
        wf_relax();
    }
    return false;
}

WF_NOINLINE void wf_lock_wake(struct wf_lock *lock) {
#ifndef WF_MUTANT_LOCK_NO_WAKE
    wf_os_futex_wake(&lock->word, 1);
#else
    (void)lock;
#endif
}
