/* SPDX-License-Identifier: MIT
 *
 * sync/once.c - something that is done once.
 *
 *     NEW --first caller--> BUSY --returned--> DONE          BUSY --panicked, exited--> NEW (who waited tries next)
 *
 * DONE is read without a lock; everything else is under it. A caller that waits while it is BUSY is told to look again.
 */
#include <errno.h>

#include "base/assert.h"
#include "sync/sync.h"
#include "weft/panic.h"

enum { ONCE_NEW, ONCE_BUSY, ONCE_DONE };

static int once_run(struct wf_once *once, void (*fn)(void *arg), void *arg);

int weft_once_call(weft_once *public_once, void (*fn)(void *arg), void *arg, weft_time deadline) {
    struct wf_once *once = (struct wf_once *)public_once;
    if (!once || !fn)
        return -EINVAL;
    int status = 0;
    if (WF_LIKELY(wf_load_acquire(&once->state) == ONCE_DONE)) /* pairs with the release in once_run */
        goto done;
    status = wf_wait_enter(deadline);
    while (status == 0) {
        wf_lock_take(&once->lock);
        uint32_t state = wf_load_relaxed(&once->state);
        if (state == ONCE_NEW) {
            wf_store_relaxed(&once->state, ONCE_BUSY);
            wf_lock_drop(&once->lock);
            return once_run(once, fn, arg);
        }
        if (state == ONCE_DONE) {
            wf_lock_drop(&once->lock);
            break;
        }
        struct wf_waiter self;
        status = wf_wait_locked(&self, &once->lock, &once->waiters, deadline, "once");
    }
done:
    if (status == 0)
        wf_context_acquire(once);
    return status;
}

static int once_run(struct wf_once *once, void (*fn)(void *arg), void *arg) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_try attempt = {.is_exit = false}; /* a plain thread cannot exit as a fiber does */
    int error = fiber ? wf_try_call(&attempt, &wf_fiber_stack(fiber)->trying, fn, arg)
                      : weft_try(fn, arg, attempt.message, sizeof attempt.message);
    wf_context_release(once);
    wf_lock_take(&once->lock);
    wf_store_release(&once->state, error || attempt.is_exit ? ONCE_NEW : ONCE_DONE);
    struct wf_waiter *wakes = wf_wait_take_all_locked(&once->waiters, 0, NULL);
    wf_lock_drop(&once->lock);
    wf_wait_wake_chain(wakes);
    if (attempt.is_exit)
        weft_exit(attempt.result);
    if (error)
        weft_panic("%s", attempt.message);
    return 0;
}
