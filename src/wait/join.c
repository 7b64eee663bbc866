/* SPDX-License-Identifier: MIT
 *
 * wait/join.c - waiting for the end of a fiber.
 *
 * The object is the fiber's record: its lock, its queue of waiters. The end hands the result to every waiter and frees
 * the record; a record that ended without waiters keeps its result for the first join.
 *
 * A runtime that stops says so before wf_join_abandon takes the lock of a record: whoever comes from outside and waits is
 * either found there or finds out here.
 */
#include "wait/join.h"

#include <errno.h>

#include "base/assert.h"
#include "wait/select.h"
#include "wait/wait.h"

static int join_refusal_locked(struct wf_fibers *fibers, struct wf_fiber *fiber);
static int take_ended_locked(struct wf_fibers *fibers, struct wf_fiber *fiber, void **result);

int weft_join(weft_fiber id, void **result, weft_time deadline) {
    int status = wf_wait_enter(deadline);
    if (WF_UNLIKELY(status))
        return status;
    struct wf_fibers *fibers = wf_runtimes_enter(id);
    if (WF_UNLIKELY(!fibers))
        return -ESTALE;
    struct wf_fiber *fiber = wf_record_lock(fibers, id);
    if (!fiber) {
        status = -ESTALE;
    } else if (wf_load_relaxed(&fiber->task.state) == WF_FIBER_ENDED) {
        status = take_ended_locked(fibers, fiber, result);
    } else if ((status = join_refusal_locked(fibers, fiber)) != 0) {
        wf_lock_drop(&fiber->lock);
    } else {
        struct wf_waiter waiter;
        waiter.value = &waiter; /* no fiber's result */
        status = wf_wait_locked(&waiter, &fiber->lock, &fiber->waiters, deadline, "join");
        if (WF_LIKELY(waiter.value != &waiter && status != -ECANCELED)) {
            wf_context_acquire(fiber);
            if (result)
                *result = waiter.value;
        }
    }
    wf_runtimes_leave(fibers);
    return status;
}

static inline int join_refusal_locked(struct wf_fibers *fibers, struct wf_fiber *fiber) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_UNLIKELY(worker && fiber == wf_worker_fiber(worker)))
        return -EDEADLK;
    if (WF_UNLIKELY(fiber->parent & WF_FLAG_DETACHED))
        return -ESTALE;
    bool is_inside = worker && worker->fibers == fibers;
    if (WF_UNLIKELY(!is_inside && wf_load_acquire(&fibers->engine.is_stopping))) /* pairs with wf_engine_stop */
        return -ECANCELED;
    if (WF_UNLIKELY(worker && !is_inside && worker->fibers->abandons))
        return -EPERM; /* it may be dropped, and then nobody would leave the runtime it has entered */
    return 0;
}

static int ended_status(const struct wf_fiber *fiber) {
    return fiber->parent & WF_FLAG_PANICKED ? -EOWNERDEAD : fiber->parent & WF_FLAG_NO_STACK ? -ENOMEM : 0;
}

static int take_ended_locked(struct wf_fibers *fibers, struct wf_fiber *fiber, void **result) {
    int error = ended_status(fiber);
    wf_context_acquire(fiber);
    if (result)
        *result = fiber->value;
    wf_record_count_freed(fibers);
    wf_record_free_locked(fibers, fiber);
    return error;
}

struct wf_waiter *wf_join_take(struct wf_fiber *fiber, void *result, int error) {
    return wf_wait_take_all_locked(&fiber->waiters, error, result);
}

void wf_join_tell(struct wf_waiter *taken) {
    wf_wait_wake_chain(taken);
}

void wf_join_abandon(struct wf_fibers *fibers) {
    wf_lock_take(&fibers->records_lock); /* threads may still be spawning */
    uint32_t end = fibers->next_index;
    wf_lock_drop(&fibers->records_lock);
    for (uint32_t i = 0; i < end; i++) {
        struct wf_fiber *fiber = wf_record_at(fibers, i);
        wf_lock_take(&fiber->lock);
        struct wf_waiter *first = wf_wait_take_all_locked(&fiber->waiters, -ECANCELED, NULL);
        wf_lock_drop(&fiber->lock);
        wf_wait_wake_chain(first);
    }
}

/* As a case of select. The low bit of object: the result was taken, and the record goes with the end of the select, because
 * freeing it drops its lock. */
static struct wf_fibers *end_case_fibers(const weft_case *entry) {
    return (struct wf_fibers *)((uintptr_t)entry->object & ~(uintptr_t)1);
}

static bool end_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_fiber id = {entry->id};
    struct wf_fibers *fibers = wf_runtimes_enter(id);
    struct wf_fiber *fiber = fibers ? wf_record_of(fibers, id) : NULL;
    entry->object = fibers;
    if (!fiber) {
        entry->status = -ESTALE;
        return false;
    }
    *lock = &fiber->lock;
    *queue = &fiber->waiters;
    return true;
}

static bool end_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    (void)wakes;
    weft_fiber id = {entry->id};
    struct wf_fibers *fibers = end_case_fibers(entry);
    struct wf_fiber *fiber = wf_record_of(fibers, id);
    if (!wf_record_is_locked(fiber, id)) {
        entry->status = -ESTALE;
    } else if (wf_load_relaxed(&fiber->task.state) == WF_FIBER_ENDED) {
        entry->status = ended_status(fiber);
        if (entry->value)
            *(void **)entry->value = fiber->value;
        entry->object = (char *)fibers + 1;
        wf_context_acquire(fiber);
    } else {
        entry->status = join_refusal_locked(fibers, fiber);
        return entry->status != 0;
    }
    return true;
}

static void end_case_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
    if (node->status == -ECANCELED)
        return;
    wf_context_acquire(wf_record_of(end_case_fibers(entry), (weft_fiber){entry->id}));
    if (entry->value)
        *(void **)entry->value = node->value;
}

static void end_case_end(weft_case *entry) {
    struct wf_fibers *fibers = end_case_fibers(entry);
    if (!fibers)
        return;
    if ((uintptr_t)entry->object & 1) {
        struct wf_fiber *fiber = wf_record_lock(fibers, (weft_fiber){entry->id});
        if (fiber) /* else somebody else came for the same result meanwhile */
            take_ended_locked(fibers, fiber, NULL);
    }
    entry->object = NULL;
    wf_runtimes_leave(fibers);
}

static const struct wf_case_kind end_kind = {
    .name = "end of a fiber",
    .begin = end_case_begin,
    .attempt = end_case_attempt,
    .finish = end_case_finish,
    .end = end_case_end,
};

weft_case weft_on_end(weft_fiber fiber, void **result) {
    return wf_case_make(&end_kind, NULL, fiber.bits, (void *)result);
}
