/* SPDX-License-Identifier: MIT
 *
 * fiber/inspect.c - looking at fibers: lists for scanners and reports.
 *
 * A record is copied out under its lock, which pins its generation but not its state. Stack ranges are given only while
 * the world is stopped: then a fiber that is not running is where it was left, and its saved stack pointer is the lower
 * end of what it uses, saved registers included.
 */
#include "weft/inspect.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/report.h"

static bool copy_info(struct wf_fibers *fibers, struct wf_fiber *fiber, bool is_stopped, weft_fiber_info *info,
                      char *name);
static void copy_stack(struct wf_fiber *fiber, enum wf_fiber_state state, weft_fiber_info *info);

int weft_each_fiber(weft_runtime *runtime, int (*visit)(const weft_fiber_info *info, void *arg), void *arg) {
    if (!visit)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter_this((struct wf_fibers *)runtime);
    if (!fibers)
        return -ESTALE;
    __builtin_unwind_init(); /* registers of the caller go to this frame, where a scanner of its stack finds them */
    struct wf_fiber_worker *worker = wf_worker_self();
    bool is_stopped = worker && worker->fibers == fibers && wf_world_is_mine(&worker->base);
    wf_lock_take(&fibers->records_lock);
    uint32_t end = fibers->next_index;
    wf_lock_drop(&fibers->records_lock);
    int verdict = 0;
    for (uint32_t i = 0; i < end && verdict == 0; i++) {
        struct wf_fiber *fiber = wf_record_at(fibers, i);
        if (wf_load_relaxed(&fiber->task.state) == WF_FIBER_FREE)
            continue;
        weft_fiber_info info;
        char name[WF_NAME_SIZE];
        if (copy_info(fibers, fiber, is_stopped, &info, name))
            verdict = visit(&info, arg);
    }
    wf_runtimes_leave(fibers);
    return verdict;
}

static bool copy_info(struct wf_fibers *fibers, struct wf_fiber *fiber, bool is_stopped, weft_fiber_info *info,
                      char *name) {
    static const uint8_t states[] = {[WF_FIBER_NEW] = WEFT_FIBER_NEW,
                                     [WF_FIBER_READY] = WEFT_FIBER_READY,
                                     [WF_FIBER_RUNNING] = WEFT_FIBER_RUNNING,
                                     [WF_FIBER_PARKED] = WEFT_FIBER_PARKED,
                                     [WF_FIBER_ENDED] = WEFT_FIBER_ENDED};
    static const uint8_t priorities[] = {[WF_LANE_HIGH] = WEFT_PRIORITY_HIGH,
                                         [WF_LANE_NORMAL] = WEFT_PRIORITY_NORMAL,
                                         [WF_LANE_LOW] = WEFT_PRIORITY_LOW,
                                         [WF_LANE_URGENT] = WEFT_PRIORITY_HIGH};
    memset(info, 0, sizeof *info);
    name[0] = 0;
    wf_lock_take(&fiber->lock);
    enum wf_fiber_state state = wf_load_acquire(&fiber->task.state); /* pairs with the spawn */
    bool exists = state != WF_FIBER_FREE;
    if (exists) {
        info->fiber = wf_fiber_id(fibers, fiber);
        info->parent = wf_parent_id(fibers, fiber);
        info->state = (weft_fiber_state)states[state];
        info->priority = (weft_priority)priorities[wf_task_lane(&fiber->task)];
        info->entry = wf_load_relaxed(&fiber->entry);
        info->name = name;
        bool has_stack = state == WF_FIBER_READY || state == WF_FIBER_PARKED || state == WF_FIBER_RUNNING;
        if (state == WF_FIBER_NEW)
            info->arg = fiber->value;
        wf_fiber_copy_name(fiber, name);
        if (is_stopped && has_stack)
            copy_stack(fiber, state, info);
    }
    wf_lock_drop(&fiber->lock);
    return exists;
}

/* The state is the one that was acquired: one that runs alone may have gone on to sleep since. */
static void copy_stack(struct wf_fiber *fiber, enum wf_fiber_state state, weft_fiber_info *info) {
    struct wf_stack *stack = wf_fiber_stack(fiber);
    info->arg = stack->arg;
    info->stack_size = wf_stack_size(stack);
    info->stack_high = wf_stack_top(stack);
    /* The world does not stop for one that runs alone: it may be anywhere on its stack. */
    info->stack_low = state == WF_FIBER_RUNNING ? stack->low : stack->context.sp;
    if (fiber == wf_fiber_self())
        info->stack_low = __builtin_frame_address(0);
}

void wf_fiber_copy_name(const struct wf_fiber *fiber, char *name) {
    uintptr_t place = wf_load_acquire(&fiber->place); /* pairs with its spawn and its start */
    const char *found = "";
    if (!(place & WF_PLACE_NEW))
        found = ((struct wf_stack *)place)->name;
    else if (place != WF_PLACE_NEW)
        found = ((struct wf_attributes *)(place - WF_PLACE_NEW))->name;
    strncpy(name, found, WF_NAME_SIZE);
}

void wf_fiber_describe(struct wf_fibers *fibers, const struct wf_fiber *fiber, char *buffer, size_t size) {
    char entry[64];
    wf_symbol_name((const void *)(uintptr_t)wf_load_relaxed(&fiber->entry), entry, sizeof entry);
    const char *name = wf_fiber_stack(fiber)->name;
    snprintf(buffer, size, "fiber %llu%s%s%s (%s)", (unsigned long long)wf_fiber_id(fibers, fiber).bits,
             name[0] ? " \"" : "", name, name[0] ? "\"" : "", entry);
}

int weft_describe(weft_describe_fn fn, void *arg) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return -EPERM;
    struct wf_stack *stack = wf_fiber_stack(fiber);
    wf_lock_take(&fiber->lock);
    stack->describe = fn;
    stack->describe_arg = arg;
    wf_lock_drop(&fiber->lock);
    return 0;
}

int weft_world_stop(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return -EPERM;
    struct wf_worker *worker = &wf_worker_self()->base;
    if (!worker->processor)
        return -EPERM;
    if (wf_world_is_mine(worker))
        return -EBUSY;
    /* Somebody else has it: passing through the loop holds this worker until the world goes on. */
    while (!wf_world_request(worker)) {
        worker->processor->countdown = 0;
        wf_store_relaxed(&worker->processor->attention, 1);
        wf_fiber_yield();
        worker = &wf_worker_self()->base;
    }
    return 0;
}

void weft_world_start(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_worker *worker = fiber ? &wf_worker_self()->base : NULL;
    if (!worker || !wf_world_is_mine(worker))
        wf_fatal("weft_world_start was called by a fiber that has not stopped the world");
    wf_world_release(worker);
}
