/* SPDX-License-Identifier: MIT
 *
 * weft/sync.h - locks and counters that fibers and plain threads share.
 *
 *     static weft_mutex lock = WEFT_MUTEX_INIT;
 *
 *     weft_mutex_lock(&lock, WEFT_NEVER);                      // or a deadline; WEFT_NOW only tries
 *     balance += amount;
 *     weft_mutex_unlock(&lock);
 *
 * All of these are plain structures: static or automatic, members of others, all zero at the start (the ..._INIT macros say
 * the same). They need no end; their memory may go when nobody uses them. Not to be copied or moved while in use, not for
 * memory shared between processes, not from signal handlers.
 *
 * A fiber that waits gives its worker to others; a plain thread that waits sleeps. Those who wait are served in the order in
 * which they came (but see the mutex). Every call that can wait takes a deadline and returns 0; -ETIMEDOUT; -ECANCELED when the fiber is
 * cancelled; -ENOMEM when the deadline cannot be armed; -EINVAL for a null pointer. After an error the caller has got
 * nothing. Breaking a rule ("only what is locked can be unlocked") is fatal.
 *
 * Whatever was written before an unlock, release, done or arrival is visible after the lock, acquire or wait that it let
 * through.
 */
#ifndef WEFT_SYNC_H
#define WEFT_SYNC_H

#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A lock with one holder. Uncontended it costs two atomic operations a pair. Under contention the first in the queue competes
 * with newcomers once; if it loses, the next unlock hands the mutex to it, so nobody starves.
 *
 * rank is for finding lock-order mistakes: a fiber or thread that holds a mutex with a rank may lock others with a higher
 * rank only, and only its holder may unlock it; breaking this is fatal, with both ranks named. 0: no rank, and no such checks
 * but in debug builds of the library, which check the holder of every mutex. */
typedef struct weft_mutex {
    uint32_t word;
    uint32_t lock;
    void *waiters;
    void *owner;
    struct weft_mutex *outer;
    uint32_t rank;
    uint32_t reserved;
} weft_mutex;

#define WEFT_MUTEX_INIT \
    { 0, 0, NULL, NULL, NULL, 0, 0 }
#define WEFT_MUTEX_RANKED(rank) \
    { 0, 0, NULL, NULL, NULL, (rank), 0 }

WEFT_API int weft_mutex_lock(weft_mutex *mutex, weft_time deadline);
/* Fatal when it is not locked. */
WEFT_API void weft_mutex_unlock(weft_mutex *mutex);

/* Many readers or one writer. Who comes while others wait, waits behind them: readers cannot starve a writer. */
typedef struct weft_rwlock {
    uint32_t lock;
    int32_t holders; /* readers, or -1 for a writer */
    void *waiters;
} weft_rwlock;

#define WEFT_RWLOCK_INIT \
    { 0, 0, NULL }

WEFT_API int weft_rwlock_read(weft_rwlock *rwlock, weft_time deadline);
WEFT_API int weft_rwlock_write(weft_rwlock *rwlock, weft_time deadline);
/* Ends one read or the write. Fatal when nobody holds it. */
WEFT_API void weft_rwlock_unlock(weft_rwlock *rwlock);

/* Waiting for a condition that a mutex guards:
 *
 *     weft_mutex_lock(&lock, WEFT_NEVER);
 *     while (!ready && (error = weft_cond_wait(&changed, &lock, deadline)) == 0)
 *         continue;
 */
typedef struct weft_cond {
    uint32_t lock;
    uint32_t reserved;
    void *waiters;
} weft_cond;

#define WEFT_COND_INIT \
    { 0, 0, NULL }

/* Unlocks the mutex and waits for a signal, as one step; the mutex is locked again whatever is returned, also after a
 * deadline or a cancellation. Never returns 0 without a signal of its own. */
WEFT_API int weft_cond_wait(weft_cond *cond, weft_mutex *mutex, weft_time deadline);
/* Lets one, or all, of those through who wait now. With or without the mutex. Returns how many. */
WEFT_API int weft_cond_signal(weft_cond *cond);
WEFT_API int weft_cond_broadcast(weft_cond *cond);

/* A number of permits. Who wants many is not overtaken by those who want few. */
typedef struct weft_semaphore {
    uint32_t lock;
    uint32_t reserved;
    void *waiters;
    int64_t permits;
} weft_semaphore;

#define WEFT_SEMAPHORE_INIT(permits) \
    { 0, 0, NULL, (permits) }

/* Takes count permits, all or none. -EINVAL also for a count below 1. */
WEFT_API int weft_semaphore_acquire(weft_semaphore *semaphore, int64_t count, weft_time deadline);
/* Gives count permits. Fatal for a count below 1 and when the sum would pass 2^62. */
WEFT_API void weft_semaphore_release(weft_semaphore *semaphore, int64_t count);
/* Free permits a moment ago. */
WEFT_API int64_t weft_semaphore_permits(weft_semaphore *semaphore);
/* One permit, as a case of weft_select. */
WEFT_API weft_case weft_on_semaphore(weft_semaphore *semaphore);

/* Waiting until a number of things is done. */
typedef struct weft_waitgroup {
    uint32_t lock;
    uint32_t reserved;
    void *waiters;
    int64_t count;
} weft_waitgroup;

#define WEFT_WAITGROUP_INIT \
    { 0, 0, NULL, 0 }

/* count more things, or fewer; fatal below zero. Whoever waits goes on at zero. */
WEFT_API void weft_waitgroup_add(weft_waitgroup *group, int64_t count);
WEFT_API void weft_waitgroup_done(weft_waitgroup *group);
WEFT_API int weft_waitgroup_wait(weft_waitgroup *group, weft_time deadline);

/* Something that is done once, by whoever comes first; the others wait for it. */
typedef struct weft_once {
    uint32_t state;
    uint32_t lock;
    void *waiters;
} weft_once;

#define WEFT_ONCE_INIT \
    { 0, 0, NULL }

/* Calls fn(arg) unless that has been done. If fn panics, so does this call, and the next one tries again. The deadline is for
 * waiting for another's call, not for fn. A call from inside fn for the same once waits for itself. */
WEFT_API int weft_once_call(weft_once *once, void (*fn)(void *arg), void *arg, weft_time deadline);

/* A meeting of a fixed number of parties, again and again. */
typedef struct weft_barrier {
    uint32_t lock;
    uint32_t parties;
    uint32_t arrived;
    uint32_t reserved;
    void *waiters;
} weft_barrier;

#define WEFT_BARRIER_INIT(parties) \
    { 0, (parties), 0, 0, NULL }

/* Waits until as many have arrived as the barrier has parties. Returns 1 to the last one that came and 0 to the others. One
 * that gives up (deadline, cancellation) has not arrived. -EINVAL also for a barrier of 0 parties. */
WEFT_API int weft_barrier_wait(weft_barrier *barrier, weft_time deadline);

#ifdef __cplusplus
}
#endif

#endif
