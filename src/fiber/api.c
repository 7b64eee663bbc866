/* SPDX-License-Identifier: MIT
 *
 * fiber/api.c - the calls of weft/fiber.h that need no waiting.
 *
 * Each checks what the caller gave, finds the runtime that is meant, and hands over to the module that does the work.
 * Calls about other fibers take the record's lock, which also tells whether the id is stale.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/report.h"
#include "os/thread.h"

static int spawn_checked(struct wf_fibers *wanted, const weft_spawn_options *options, weft_fn fn, void *arg,
                         bool detached, weft_fiber *out);

int weft_go(weft_fn fn, void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_LIKELY(worker && fn))
        return wf_fiber_spawn_here(worker, fn, arg, WF_FLAG_DETACHED, NULL);
    return spawn_checked(NULL, NULL, fn, arg, true, NULL);
}

int weft_spawn(weft_fiber *out, weft_fn fn, void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_LIKELY(worker && fn && out))
        return wf_fiber_spawn_here(worker, fn, arg, 0, out);
    return out ? spawn_checked(NULL, NULL, fn, arg, false, out) : -EINVAL;
}

int weft_spawn_with(weft_fiber *out, const weft_spawn_options *options, weft_fn fn, void *arg) {
    if (!options || (!out && !options->detached))
        return -EINVAL;
    if (options->stack_size > WF_STACK_MAX || (unsigned)options->priority > WEFT_PRIORITY_LOW)
        return -EINVAL;
    return spawn_checked((struct wf_fibers *)options->runtime, options, fn, arg, options->detached, out);
}

static int spawn_checked(struct wf_fibers *wanted, const weft_spawn_options *options, weft_fn fn, void *arg,
                         bool detached, weft_fiber *out) {
    if (WF_UNLIKELY(!fn))
        return -EINVAL;
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_LIKELY(worker && !wanted))
        return wf_fiber_spawn(worker->fibers, options, fn, arg, detached, out);
    struct wf_fibers *fibers = wf_runtimes_enter_this(wanted);
    if (!fibers)
        return wanted ? -ESTALE : -ESRCH;
    int error = -ECANCELED;
    if (!wf_load_acquire(&fibers->engine.is_stopping)) /* pairs with wf_engine_stop */
        error = wf_fiber_spawn(fibers, options, fn, arg, detached, out);
    wf_runtimes_leave(fibers);
    return error;
}

int weft_detach(weft_fiber id) {
    struct wf_fibers *fibers = wf_runtimes_enter(id);
    if (!fibers)
        return -ESTALE;
    struct wf_fiber *fiber = wf_record_lock(fibers, id);
    if (fiber) {
        bool is_detached = fiber->parent & WF_FLAG_DETACHED;
        fiber->parent |= WF_FLAG_DETACHED;
        if (wf_load_relaxed(&fiber->task.state) == WF_FIBER_ENDED) {
            wf_record_count_freed(fibers);
            wf_record_free_locked(fibers, fiber);
        } else {
            wf_lock_drop(&fiber->lock);
        }
        if (is_detached)
            fiber = NULL;
    }
    wf_runtimes_leave(fibers);
    return fiber ? 0 : -ESTALE;
}

weft_fiber weft_self(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    return fiber ? wf_fiber_id(wf_worker_self()->fibers, fiber) : WEFT_NO_FIBER;
}

void weft_yield(void) {
    if (wf_worker_self())
        wf_fiber_yield();
    else
        wf_os_thread_yield();
}

int weft_get_name(weft_fiber id, char *buffer, size_t size) {
    if (!buffer || size == 0)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter(id);
    if (!fibers)
        return -ESTALE;
    struct wf_fiber *fiber = wf_record_lock(fibers, id);
    if (fiber) {
        char name[WF_NAME_SIZE];
        wf_fiber_copy_name(fiber, name);
        wf_lock_drop(&fiber->lock);
        strncpy(buffer, name, size - 1);
        buffer[size - 1] = 0;
    }
    wf_runtimes_leave(fibers);
    return fiber ? 0 : -ESTALE;
}

int weft_set_name(const char *name) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return -EPERM;
    if (!name)
        return -EINVAL;
    char copy[WF_NAME_SIZE] = "";
    strncpy(copy, name, sizeof copy - 1);
    wf_lock_take(&fiber->lock);
    memcpy(wf_fiber_stack(fiber)->name, copy, sizeof copy);
    wf_lock_drop(&fiber->lock);
    return 0;
}

int weft_set_priority(weft_priority priority) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return -EPERM;
    if ((unsigned)priority > WEFT_PRIORITY_LOW)
        return -EINVAL;
    wf_task_set_lane(&fiber->task, wf_lane_of(priority));
    return 0;
}

int weft_set_due(weft_time due) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return -EPERM;
    wf_fiber_stack(fiber)->due = due;
    wf_task_set_lane(&fiber->task, due == WEFT_NEVER ? WF_LANE_NORMAL : WF_LANE_URGENT);
    return 0;
}

int weft_parent(weft_fiber id, weft_fiber *out) {
    if (!out)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter(id);
    if (!fibers)
        return -ESTALE;
    struct wf_fiber *fiber = wf_record_lock(fibers, id);
    if (fiber) {
        *out = wf_parent_id(fibers, fiber);
        wf_lock_drop(&fiber->lock);
    }
    wf_runtimes_leave(fibers);
    return fiber ? 0 : -ESTALE;
}

int weft_pin(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return -EPERM;
    struct wf_stack *stack = wf_fiber_stack(fiber);
    if (stack->blocks > 0)
        return -EBUSY;
    wf_fiber_set_pins(fiber, stack->pins + 1);
    return 0;
}

void weft_unpin(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber || wf_fiber_stack(fiber)->pins == 0)
        wf_fatal("weft_unpin without a weft_pin before it");
    wf_fiber_set_pins(fiber, wf_fiber_stack(fiber)->pins - 1);
}

int weft_keep_fp_control(bool keep) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return -EPERM;
    wf_fiber_stack(fiber)->keeps_fp = keep;
    return 0;
}
