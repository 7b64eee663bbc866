/* SPDX-License-Identifier: MIT
 *
 * sync/barrier.c - the barrier.
 *
 * The last to arrive takes all the others out of the queue. If one of them has just given up, it has not arrived after all,
 * and the meeting is not complete: those already taken are sent back to wait (AGAIN) and the last one joins them. So either
 * all parties go on, or none of them.
 */
#include <errno.h>

#include "base/assert.h"
#include "sync/sync.h"

enum { MET = 0, AGAIN = 1 };

static bool complete_locked(struct wf_barrier *barrier, struct wf_waiter **wakes);
static int wait_locked(struct wf_barrier *barrier, int64_t deadline_ns);

int weft_barrier_wait(weft_barrier *public_barrier, weft_time deadline) {
    struct wf_barrier *barrier = (struct wf_barrier *)public_barrier;
    if (!barrier || barrier->parties == 0)
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    wf_context_release(barrier);
    do {
        struct wf_waiter *wakes = NULL;
        wf_lock_take(&barrier->lock);
        if (complete_locked(barrier, &wakes)) {
            wf_lock_drop(&barrier->lock);
            wf_context_acquire(barrier);
            wf_wait_wake_chain(wakes);
            return 1;
        }
        wf_wait_wake_chain(wakes); /* sent back; they queue up behind us, which does not matter here */
        status = wait_locked(barrier, deadline);
    } while (status == AGAIN);
    if (status == MET)
        wf_context_acquire(barrier);
    return status;
}

/* True when everybody is here, with the caller as the last. wakes: the others, or those that have to come again. */
static bool complete_locked(struct wf_barrier *barrier, struct wf_waiter **wakes) {
    if (barrier->arrived + 1 < barrier->parties)
        return false;
    *wakes = wf_wait_take_all_locked(&barrier->waiters, MET, NULL);
    uint32_t taken = 0;
    for (struct wf_waiter *waiter = *wakes; waiter; waiter = waiter->next)
        taken++;
    barrier->arrived -= taken; /* whoever has given up takes itself off */
    if (taken + 1 >= barrier->parties)
        return true;
    for (struct wf_waiter *waiter = *wakes; waiter; waiter = waiter->next)
        waiter->status = AGAIN;
    return false;
}

static int wait_locked(struct wf_barrier *barrier, int64_t deadline_ns) {
    struct wf_waiter self;
    barrier->arrived++;
    int status = wf_wait_locked(&self, &barrier->lock, &barrier->waiters, deadline_ns, "barrier");
    if (status < 0) {
        wf_lock_take(&barrier->lock);
        barrier->arrived--;
        wf_lock_drop(&barrier->lock);
    }
    return status;
}
