/* SPDX-License-Identifier: MIT
 *
 * sync/cond.c - the condition variable.
 *
 * The mutex is unlocked while the lock of the condition's queue is held, and that one is dropped when the waiter is in the
 * queue and off its stack. A signal needs that lock, so it comes either before the mutex was unlocked, when whoever signals
 * cannot have changed anything yet, or finds the waiter. This is the one place where two objects' locks are held at once:
 * the condition's first, then the mutex's.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "sync/sync.h"

int weft_cond_wait(weft_cond *public_cond, weft_mutex *mutex, weft_time deadline) {
    struct wf_cond *cond = (struct wf_cond *)public_cond;
    if (!cond || !mutex)
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    struct wf_waiter self;
    wf_lock_take(&cond->lock);
    weft_mutex_unlock(mutex);
    WF_POINT("cond.before_wait");
    status = wf_wait_locked(&self, &cond->lock, &cond->waiters, deadline, "condition");
    wf_mutex_lock_surely((struct wf_mutex *)mutex);
    return status;
}

int weft_cond_signal(weft_cond *public_cond) {
    struct wf_cond *cond = (struct wf_cond *)public_cond;
    if (!cond)
        return -EINVAL;
    wf_lock_take(&cond->lock);
    struct wf_waiter *first = wf_wait_take_first_locked(&cond->waiters);
    if (first)
        first->status = 0;
    wf_lock_drop(&cond->lock);
    if (first)
        wf_wait_wake(first);
    return first ? 1 : 0;
}

int weft_cond_broadcast(weft_cond *public_cond) {
    struct wf_cond *cond = (struct wf_cond *)public_cond;
    if (!cond)
        return -EINVAL;
    wf_lock_take(&cond->lock);
    struct wf_waiter *all = wf_wait_take_all_locked(&cond->waiters, 0, NULL);
    wf_lock_drop(&cond->lock);
    return (int)wf_wait_wake_chain(all);
}
