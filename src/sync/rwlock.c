/* SPDX-License-Identifier: MIT
 *
 * sync/rwlock.c - many readers or one writer, in the order of arrival.
 *
 * Who finds somebody waiting waits behind them, whatever they want; so a writer waits for the readers before it and no
 * others, and a reader for one writer at most that came before it. Whenever something changes (an unlock, a waiter that gave
 * up) the front of the queue is let in as far as it goes together: readers up to the next writer, or one writer.
 */
#include <errno.h>

#include "base/assert.h"
#include "os/report.h"
#include "sync/sync.h"

enum wish { WISH_READ, WISH_WRITE };

static int rwlock_lock(struct wf_rwlock *rwlock, enum wish wish, int64_t deadline_ns);
static struct wf_waiter *let_in_locked(struct wf_rwlock *rwlock);

int weft_rwlock_read(weft_rwlock *rwlock, weft_time deadline) {
    return rwlock_lock((struct wf_rwlock *)rwlock, WISH_READ, deadline);
}

int weft_rwlock_write(weft_rwlock *rwlock, weft_time deadline) {
    return rwlock_lock((struct wf_rwlock *)rwlock, WISH_WRITE, deadline);
}

static int rwlock_lock(struct wf_rwlock *rwlock, enum wish wish, int64_t deadline_ns) {
    if (!rwlock)
        return -EINVAL;
    int status = wf_wait_enter(deadline_ns);
    if (status)
        return status;
    wf_lock_take(&rwlock->lock);
    if (!rwlock->waiters && (wish == WISH_READ ? rwlock->holders >= 0 : rwlock->holders == 0)) {
        rwlock->holders += wish == WISH_READ ? 1 : -1;
        wf_lock_drop(&rwlock->lock);
    } else {
        struct wf_waiter self = {.amount = wish};
        status = wf_wait_locked(&self, &rwlock->lock, &rwlock->waiters, deadline_ns,
                                wish == WISH_READ ? "read lock" : "write lock");
        if (status) { /* those behind may have waited for our turn only */
            wf_lock_take(&rwlock->lock);
            struct wf_waiter *wakes = let_in_locked(rwlock);
            wf_lock_drop(&rwlock->lock);
            wf_wait_wake_chain(wakes);
            return status;
        }
    }
    wf_context_acquire(rwlock);
    return 0;
}

void weft_rwlock_unlock(weft_rwlock *public_rwlock) {
    struct wf_rwlock *rwlock = (struct wf_rwlock *)public_rwlock;
    if (!rwlock)
        wf_fatal("weft_rwlock_unlock of a null pointer");
    wf_context_release(rwlock);
    wf_lock_take(&rwlock->lock);
    if (rwlock->holders == 0)
        wf_fatal("a read-write lock was unlocked that nobody holds");
    rwlock->holders += rwlock->holders > 0 ? -1 : 1;
    struct wf_waiter *wakes = let_in_locked(rwlock);
    wf_lock_drop(&rwlock->lock);
    wf_wait_wake_chain(wakes);
}

/* Everybody at the front who can go in now, as a chain to be woken. */
static struct wf_waiter *let_in_locked(struct wf_rwlock *rwlock) {
    struct wf_waiter *first = NULL;
    struct wf_waiter **end = &first;
    struct wf_waiter *waiter;
    while ((waiter = rwlock->waiters)) {
        bool reads = waiter->amount == WISH_READ;
        if (reads ? rwlock->holders < 0 : rwlock->holders != 0)
            break;
        if (!wf_wait_take_locked(waiter))
            continue;
        rwlock->holders += reads ? 1 : -1;
        waiter->status = 0;
        *end = waiter;
        end = &waiter->next;
    }
    *end = NULL;
    return first;
}
