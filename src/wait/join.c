/* SPDX-License-Identifier: MIT
 *
 * wait/join.c - waiting for the end of a fiber.
 *
 * The object is the fiber's record: its lock, its queue of waiters. The end hands the result to every waiter and frees
 * the record; a record that ended without waiters keeps its result for the first join.
 */
#include "wait/join.h"

#include <errno.h>

#include "base/assert.h"
#include "os/clock.h"
#include "wait/wait.h"

static int join_inside(struct wf_fibers *fibers, weft_fiber id, void **result, int64_t deadline_ns);
static int take_ended_locked(struct wf_fibers *fibers, struct wf_fiber *fiber, void **result);

int weft_join(weft_fiber id, void **result, weft_time deadline) {
    struct wf_fibers *fibers = wf_runtimes_enter(id);
    if (!fibers)
        return -ESTALE;
    int error = join_inside(fibers, id, result, deadline);
    wf_runtimes_leave(fibers);
    return error;
}

static int join_inside(struct wf_fibers *fibers, weft_fiber id, void **result, int64_t deadline_ns) {
    struct wf_fiber *fiber = wf_record_lock(fibers, id);
    if (!fiber)
        return -ESTALE;
    if (wf_load_relaxed(&fiber->state) == WF_FIBER_ENDED)
        return take_ended_locked(fibers, fiber, result);
    int refusal = fiber == wf_fiber_self()             ? -EDEADLK
                  : fiber->flags & WF_FLAG_DETACHED    ? -ESTALE
                  : deadline_ns == WEFT_NOW            ? -ETIMEDOUT
                                                       : 0;
    struct wf_waiter waiter;
    int status = refusal;
    bool needs_timer = deadline_ns != WF_NEVER && wf_fiber_self();
    if (refusal || needs_timer)
        wf_lock_drop(&fiber->lock);
    if (refusal)
        return refusal;

    status = wf_wait_begin(&waiter, &fiber->lock, &fiber->waiters, deadline_ns);
    if (status)
        return status;
    if (needs_timer) { /* the lock was given up for arming it: the fiber may have ended, or be another one */
        if (!(fiber = wf_record_lock(fibers, id))) {
            wf_wait_finish(&waiter);
            return -ESTALE;
        }
        if (wf_load_relaxed(&fiber->state) == WF_FIBER_ENDED) {
            status = take_ended_locked(fibers, fiber, result);
            wf_wait_finish(&waiter);
            return status;
        }
    }
    void *object = fiber;
    status = wf_wait_sleep_locked(&waiter, deadline_ns);
    wf_wait_finish(&waiter);
    if (status != -ETIMEDOUT) {
        wf_context_acquire(object);
        if (result)
            *result = waiter.value;
    }
    return status;
}

static int take_ended_locked(struct wf_fibers *fibers, struct wf_fiber *fiber, void **result) {
    int error = fiber->flags & WF_FLAG_PANICKED ? -EOWNERDEAD : fiber->flags & WF_FLAG_NO_STACK ? -ENOMEM : 0;
    wf_context_acquire(fiber);
    if (result)
        *result = fiber->value;
    wf_record_free_locked(fibers, fiber);
    return error;
}

void wf_join_deliver(struct wf_fibers *fibers, struct wf_fiber *fiber, void *result, int error) {
    (void)fibers;
    while (fiber->waiters)
        wf_wait_wake_first_locked(&fiber->waiters, error, result);
}

void wf_join_abandon(struct wf_fibers *fibers) {
    for (uint32_t i = 0; i < fibers->next_index; i++) {
        struct wf_fiber *fiber = &fibers->chunks[i / WF_CHUNK_RECORDS][i % WF_CHUNK_RECORDS];
        wf_lock_take(&fiber->lock);
        wf_wait_wake_threads_locked(&fiber->waiters, -ECANCELED);
        wf_lock_drop(&fiber->lock);
    }
}
