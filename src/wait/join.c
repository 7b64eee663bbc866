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

static int join_refusal_locked(struct wf_fibers *fibers, struct wf_fiber *fiber, int64_t deadline_ns);
static int join_until(struct wf_fibers *fibers, weft_fiber id, void **result, int64_t deadline_ns);
static int take_ended_locked(struct wf_fibers *fibers, struct wf_fiber *fiber, void **result);

int weft_join(weft_fiber id, void **result, weft_time deadline) {
    struct wf_fibers *fibers = wf_runtimes_enter(id);
    if (WF_UNLIKELY(!fibers))
        return -ESTALE;
    struct wf_fiber *fiber = wf_record_lock(fibers, id);
    int status = -ESTALE;
    if (!fiber) {
        /* gone */
    } else if (wf_load_relaxed(&fiber->task.state) == WF_FIBER_ENDED) {
        status = take_ended_locked(fibers, fiber, result);
    } else if ((status = join_refusal_locked(fibers, fiber, deadline)) != 0) {
        wf_lock_drop(&fiber->lock);
    } else if (deadline == WEFT_NEVER) {
        struct wf_waiter waiter;
        void *object = fiber;
        wf_wait_begin(&waiter, &fiber->lock, &fiber->waiters);
        status = wf_wait_sleep_locked(&waiter, WF_NEVER);
        wf_context_acquire(object);
        if (result && status != -ECANCELED)
            *result = waiter.value;
    } else {
        wf_lock_drop(&fiber->lock); /* the deadline is armed without it */
        status = join_until(fibers, id, result, deadline);
    }
    wf_runtimes_leave(fibers);
    return status;
}

/* A runtime that stops says so before wf_join_abandon takes the lock: whoever comes from outside and waits here is either
 * found there or finds out here. */
static inline int join_refusal_locked(struct wf_fibers *fibers, struct wf_fiber *fiber, int64_t deadline_ns) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_UNLIKELY(worker && fiber == worker->current))
        return -EDEADLK;
    if (WF_UNLIKELY(fiber->parent & WF_FLAG_DETACHED))
        return -ESTALE;
    bool is_inside = worker && worker->fibers == fibers;
    if (WF_UNLIKELY(!is_inside && wf_load_acquire(&fibers->engine.is_stopping))) /* pairs with wf_engine_stop */
        return -ECANCELED;
    if (WF_UNLIKELY(worker && !is_inside && worker->fibers->abandons))
        return -EPERM; /* its stack, with the waiter on it, may vanish at any time */
    return deadline_ns == WEFT_NOW ? -ETIMEDOUT : 0;
}

static int join_until(struct wf_fibers *fibers, weft_fiber id, void **result, int64_t deadline_ns) {
    struct wf_waiter waiter;
    struct wf_fiber *fiber = wf_record_of(fibers, id);
    wf_wait_begin(&waiter, &fiber->lock, &fiber->waiters);
    int status = wf_wait_arm(&waiter, deadline_ns);
    if (status)
        return status;
    if (!(fiber = wf_record_lock(fibers, id))) {
        status = -ESTALE;
    } else if (wf_load_relaxed(&fiber->task.state) == WF_FIBER_ENDED) {
        status = take_ended_locked(fibers, fiber, result);
    } else if ((status = join_refusal_locked(fibers, fiber, deadline_ns)) != 0) {
        wf_lock_drop(&fiber->lock);
    } else {
        void *object = fiber;
        status = wf_wait_sleep_locked(&waiter, deadline_ns);
        if (status != -ETIMEDOUT && status != -ECANCELED) {
            wf_context_acquire(object);
            if (result)
                *result = waiter.value;
        }
    }
    wf_wait_finish(&waiter);
    return status;
}

static int take_ended_locked(struct wf_fibers *fibers, struct wf_fiber *fiber, void **result) {
    int error = fiber->parent & WF_FLAG_PANICKED ? -EOWNERDEAD : fiber->parent & WF_FLAG_NO_STACK ? -ENOMEM : 0;
    wf_context_acquire(fiber);
    if (result)
        *result = fiber->value;
    wf_record_count_freed(fibers);
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
        struct wf_fiber *fiber = wf_record_at(fibers, i);
        wf_lock_take(&fiber->lock);
        wf_wait_wake_outside_locked(&fiber->waiters, fibers, -ECANCELED);
        wf_lock_drop(&fiber->lock);
    }
}
