/* SPDX-License-Identifier: MIT
 *
 * sync/sync.h - the structures of weft/sync.h as the inside sees them.
 *
 * The public ones have plain members, so that any C or C++ program can embed them; here the same bytes have their locks,
 * queues and atomic words. The two must agree in size and order, which is asserted, and the inner ones may alias them.
 */
#ifndef WF_SYNC_SYNC_H
#define WF_SYNC_SYNC_H

#include "wait/wait.h"
#include "weft/sync.h"

#define WF_INNER __attribute__((may_alias))

struct wf_mutex {
    _Atomic uint32_t word;     /* WF_MUTEX_* */
    struct wf_lock lock;       /* of the queue */
    struct wf_waiter *waiters; /* under lock */
    _Atomic(void *) owner;     /* the holder, when that is checked */
    struct wf_mutex *outer;    /* the holder's: the ranked one that it locked before this one */
    uint32_t rank;             /* constant */
    uint32_t reserved;
} WF_INNER;
_Static_assert(sizeof(struct wf_mutex) == sizeof(weft_mutex), "one layout");

struct wf_rwlock {
    struct wf_lock lock;
    int32_t holders; /* under lock */
    struct wf_waiter *waiters;
} WF_INNER;
_Static_assert(sizeof(struct wf_rwlock) == sizeof(weft_rwlock), "one layout");

struct wf_cond {
    struct wf_lock lock;
    uint32_t reserved;
    struct wf_waiter *waiters; /* under lock */
} WF_INNER;
_Static_assert(sizeof(struct wf_cond) == sizeof(weft_cond), "one layout");

/* A number under a lock, and those who wait for it to be right: semaphore and wait group. */
struct wf_counter {
    struct wf_lock lock;
    uint32_t reserved;
    struct wf_waiter *waiters; /* under lock */
    _Atomic int64_t count;     /* written under lock */
} WF_INNER;
_Static_assert(sizeof(struct wf_counter) == sizeof(weft_semaphore), "one layout");
_Static_assert(sizeof(struct wf_counter) == sizeof(weft_waitgroup), "one layout");

struct wf_once {
    _Atomic uint32_t state;
    struct wf_lock lock;
    struct wf_waiter *waiters; /* under lock */
} WF_INNER;
_Static_assert(sizeof(struct wf_once) == sizeof(weft_once), "one layout");

struct wf_barrier {
    struct wf_lock lock;
    uint32_t parties; /* constant */
    uint32_t arrived; /* under lock */
    uint32_t reserved;
    struct wf_waiter *waiters;
} WF_INNER;
_Static_assert(sizeof(struct wf_barrier) == sizeof(weft_barrier), "one layout");

/* Gets a mutex back that was unlocked for a while: cannot fail. */
void wf_mutex_lock_surely(struct wf_mutex *mutex);

#endif
