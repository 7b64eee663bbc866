/* SPDX-License-Identifier: MIT
 *
 * fiber/thread.c - the public side of blocking regions and binding, and the list of hogs.
 *
 * What a fiber has open is counted on its stack: regions and bindings nest, and only the outermost does something. How it is
 * done: fiber/alone.c, sched/lend.c, sched/monitor.c.
 */
#include "weft/thread.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "fiber/fiber.h"
#include "os/clock.h"
#include "os/report.h"
#include "os/thread.h"

struct region {
    char unused;
};

static void begin(bool is_long);
static void region_end(struct region *region);
static weft_hog *find_hog_locked(struct wf_hogs *hogs, weft_fn entry);

void weft_blocking_begin(void) {
    begin(false);
}

static inline __attribute__((always_inline)) void begin(bool is_long) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker)
        return;
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    if (stack->blocks++ == 0 && worker->base.processor && !worker->fibers->engine.replay.is_on)
        wf_alone_block(worker, stack, is_long);
}

void weft_blocking_end(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker)
        return;
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    if (WF_UNLIKELY(stack->blocks == 0))
        wf_fatal("weft_blocking_end without a weft_blocking_begin before it");
    if (--stack->blocks == 0 && stack->seat && !stack->site.is_bound)
        wf_alone_unblock(worker, stack);
}

void *weft_blocking(void *(*fn)(void *arg), void *arg) {
    if (!fn)
        wf_fatal("weft_blocking was given no function");
    begin(true);
    struct region region __attribute__((cleanup(region_end), unused)) = {0}; /* an exception may leave it too */
    return fn(arg);
}

static void region_end(struct region *region) {
    (void)region;
    weft_blocking_end();
}

void weft_maybe_yield(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (worker && worker->base.processor && WF_UNLIKELY(wf_load_relaxed(&worker->base.processor->attention)) &&
        wf_fiber_may_yield())
        wf_fiber_yield();
}

int weft_bind(const weft_bind_options *options) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker)
        return -EPERM;
    if (options &&
        (options->nice < -20 || options->nice > 19 || options->real_time > 99 || wf_os_cpus_check(options->cpus) != 0))
        return -EINVAL;
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    if (stack->blocks > 0 || wf_world_is_mine(&worker->base))
        return -EBUSY;
    int error = stack->site.is_bound ? 0 : wf_alone_bind(worker, options);
    if (!error)
        stack->binds++;
    return error == -ENOSPC ? -EAGAIN : error;
}

int weft_unbind(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_stack *stack = worker ? wf_fiber_stack(wf_worker_fiber(worker)) : NULL;
    if (!stack || !stack->site.is_bound)
        return -EPERM;
    if (stack->binds > (stack->stays_bound ? 0 : 1)) {
        stack->binds--;
        return 0;
    }
    bool is_foreign = stack->seat && !stack->site.native_sp && !wf_alone_is_home(stack);
    if (is_foreign || stack->blocks > 0 || (stack->seat && stack->pins > 0))
        return -EBUSY;
    wf_alone_unbind(worker, stack);
    return 0;
}

bool weft_is_bound(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    return fiber && wf_fiber_stack(fiber)->site.is_bound;
}

/* On the monitor. */
bool wf_hog_is_at_task(struct wf_worker *base) {
    return wf_load_relaxed(&((struct wf_fiber_worker *)base)->current) != NULL;
}

/* The record cannot go, but the fiber can: then nobody is named, or another one that has the record by now; that one runs
 * too. */
void wf_hog_note(struct wf_worker *base, struct wf_processor *processor) {
    struct wf_fiber_worker *worker = (struct wf_fiber_worker *)base;
    struct wf_fibers *fibers = wf_fibers_of(base->engine);
    _Atomic(weft_fn) *entry = &((struct wf_fiber_processor *)processor)->hog_entry;
    struct wf_fiber *fiber = wf_load_acquire(&worker->current); /* pairs with the switch to it */
    wf_store_relaxed(entry, NULL);
    if (!fiber)
        return;
    weft_hog seen = {0};
    WF_POINT("hog.before_look");
    wf_lock_take(&fiber->lock);
    seen.entry = wf_load_relaxed(&fiber->entry);
    seen.last = wf_fiber_id(fibers, fiber);
    wf_fiber_copy_name(fiber, seen.name);
    bool is_over = wf_load_relaxed(&fiber->place) & WF_PLACE_NEW;
    wf_lock_drop(&fiber->lock);
    if (is_over)
        return;
    wf_store_relaxed(entry, seen.entry);
    wf_lock_take(&fibers->hogs.lock);
    weft_hog *hog = find_hog_locked(&fibers->hogs, seen.entry);
    if (hog) {
        hog->last = seen.last;
        memcpy(hog->name, seen.name, sizeof hog->name);
        hog->count++;
    }
    wf_lock_drop(&fibers->hogs.lock);
}

/* On whoever holds the processor when it comes back: the hog may have given it away. */
void wf_hog_over(struct wf_worker *base, int64_t for_ns) {
    struct wf_fiber_worker *worker = (struct wf_fiber_worker *)base;
    struct wf_hogs *hogs = &worker->fibers->hogs;
    weft_fn entry = wf_load_relaxed(&((struct wf_fiber_processor *)base->processor)->hog_entry);
    if (!entry)
        return;
    wf_lock_take(&hogs->lock);
    weft_hog *hog = find_hog_locked(hogs, entry);
    if (hog && (uint64_t)for_ns > hog->longest_ns)
        hog->longest_ns = (uint64_t)for_ns;
    wf_lock_drop(&hogs->lock);
}

static weft_hog *find_hog_locked(struct wf_hogs *hogs, weft_fn entry) {
    for (uint32_t i = 0; i < hogs->count; i++)
        if (hogs->list[i].entry == entry)
            return &hogs->list[i];
    if (hogs->count == WF_HOGS_MAX)
        return NULL;
    hogs->list[hogs->count] = (weft_hog){.entry = entry};
    return &hogs->list[hogs->count++];
}

int weft_get_hogs(weft_runtime *runtime, weft_hog *hogs, unsigned size) {
    if (!hogs && size)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter_this((struct wf_fibers *)runtime);
    if (!fibers)
        return -ESTALE;
    wf_lock_take(&fibers->hogs.lock);
    int count = (int)fibers->hogs.count;
    for (unsigned i = 0; i < size && i < fibers->hogs.count; i++)
        hogs[i] = fibers->hogs.list[i];
    wf_lock_drop(&fibers->hogs.lock);
    wf_runtimes_leave(fibers);
    return count;
}
