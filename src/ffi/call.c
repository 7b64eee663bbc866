/* SPDX-License-Identifier: MIT
 *
 * ffi/call.c - foreign calls: the fast way for bound fibers, and what happens to the others.
 *
 * A bound fiber's call is a call on the thread's own stack: one load, a branch, and the stack pointer goes there and back.
 * While it is on that stack, native_sp is NULL: calls that the foreign code makes back into the fiber and from there into
 * foreign code again simply go on below.
 *
 * The first call binds. When no more fibers can be bound, the option says what happens. Waiting is a queue of fibers in
 * arrival order; each unbinding wakes the first, which tries again, in front of all others if somebody was faster.
 */
#include "ffi/call.h"

#include <errno.h>

#include "arch/call.h"
#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/report.h"
#include "wait/wait.h"
#include "weft/ffi.h"

struct unbound_call {
    struct wf_stack *stack;
};

static int call_first(struct wf_fiber_worker *worker, void (*fn)(void *arg), void *arg);
static int bind_waiting(struct wf_fibers *fibers);
static void call_unbound(void (*fn)(void *arg), void *arg);
static void call_native(weft_ffi_site *site, void (*fn)(void *arg), void *arg);
static void *find_native(void);
static void end_fallback(struct unbound_call *call);
static void leave_call(struct unbound_call *call);

/* Of plain threads. Never written: it has no stack to go to. */
static weft_ffi_site thread_site = {.is_bound = 1};

int weft_ffi_call(void (*fn)(void *arg), void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_UNLIKELY(!fn))
        return -EINVAL;
    if (!worker) {
        fn(arg);
        return 0;
    }
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    if (WF_UNLIKELY(!stack->site.is_bound || stack->is_predicted))
        return call_first(worker, fn, arg);
    call_native(&stack->site, fn, arg);
    return 0;
}

static inline __attribute__((always_inline)) void call_native(weft_ffi_site *site, void (*fn)(void *arg), void *arg) {
    void *sp = site->native_sp;
    if (WF_UNLIKELY(!sp)) {
        if (!site->is_bound)
            wf_fatal("weft_ffi_call_bound was called by a fiber that is not bound");
        sp = find_native();
        if (!sp) {
            fn(arg);
            return;
        }
    }
    site->native_sp = NULL;
    wf_context_call_on(sp, wf_context_wants_bounds() ? wf_worker_self()->native : NULL, fn, arg);
    site->native_sp = sp;
}

/* NULL on a plain thread, in replay, and inside a foreign call. What runs after a panic has left one, before it is caught,
 * is not inside any more. */
static WF_NOINLINE void *find_native(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_stack *stack = fiber ? wf_fiber_stack(fiber) : NULL;
    return stack && stack->seat && wf_alone_is_home(stack) ? stack->seat->native_sp : NULL;
}

static WF_NOINLINE int call_first(struct wf_fiber_worker *worker, void (*fn)(void *arg), void *arg) {
    struct wf_fibers *fibers = worker->fibers;
    struct wf_fiber *fiber = wf_worker_fiber(worker);
    struct wf_stack *stack = wf_fiber_stack(fiber);
    stack->is_predicted = false;
    if (wf_world_is_mine(&worker->base)) { /* then it stays where it is */
        fn(arg);
        return 0;
    }
    if (stack->blocks > 0 && !stack->site.is_bound) { /* it has its thread already, for as long as it blocks */
        call_unbound(fn, arg);
        return 0;
    }
    bool was_bound = stack->site.is_bound;
    int error = was_bound ? 0 : wf_alone_bind(worker, NULL);
    if (error == -ENOSPC)
        error = fibers->binding.fallback == WEFT_FALLBACK_WAIT ? bind_waiting(fibers) : -EAGAIN;
    if (!error) {
        stack->stays_bound |= !was_bound;
        if (!stack->is_indirect)
            wf_depth_note_foreign(fibers, wf_load_relaxed(&fiber->entry), true);
        call_native(&stack->site, fn, arg);
    } else if (error == -EBUSY || (error == -EAGAIN && fibers->binding.fallback == WEFT_FALLBACK_BLOCKING)) {
        /* -EBUSY: it is pinned to a thread that it shares, which is as good as bound for as long as the call lasts. */
        wf_fetch_add_relaxed(&fibers->binding.fallbacks, 1);
        weft_blocking_begin();
        struct unbound_call call __attribute__((cleanup(end_fallback), unused)) = {0};
        call_unbound(fn, arg);
        error = 0;
    }
    return error;
}

/* Also when an exception passes. */
static void end_fallback(struct unbound_call *call) {
    (void)call;
    weft_blocking_end();
}

/* Inside a blocking region, on the stack of whatever thread that is. */
static void call_unbound(void (*fn)(void *arg), void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    if (!stack->seat || !wf_alone_is_home(stack) || wf_alone_native(worker) != 0) {
        fn(arg);
        return;
    }
    // NOLINTNEXTLINE(clang-analyzer-deadcode.DeadStores): the cleanup reads it
    struct unbound_call call __attribute__((cleanup(leave_call))) = {stack};
    stack->is_foreign = true;
    wf_context_call_on(worker->native_sp, worker->native, fn, arg);
}

static void leave_call(struct unbound_call *call) {
    call->stack->is_foreign = false;
}

static int bind_waiting(struct wf_fibers *fibers) {
    struct wf_binding *binding = &fibers->binding;
    struct wf_waiter waiter = {0};
    bool has_waited = false;
    for (;;) {
        int error = wf_wait_enter(WEFT_NEVER);
        if (error && has_waited)
            wf_ffi_unbound(fibers); /* what it was woken for is for the next one */
        if (error)
            return error;
        wf_lock_take(&binding->lock);
        if (wf_load_seq_cst(&binding->bound) >= binding->max) {
            error = has_waited ? wf_wait_first_locked(&waiter, &binding->lock, &binding->waiters, WEFT_NEVER, "bind")
                               : wf_wait_locked(&waiter, &binding->lock, &binding->waiters, WEFT_NEVER, "bind");
        } else {
            wf_lock_drop(&binding->lock);
        }
        if (error)
            return error;
        has_waited = true;
        error = wf_alone_bind(wf_worker_self(), NULL);
        if (error == -ENOSPC) /* somebody was faster */
            continue;
        if (error)
            wf_ffi_unbound(fibers);
        return error;
    }
}

void wf_ffi_unbound(struct wf_fibers *fibers) {
    struct wf_binding *binding = &fibers->binding;
    wf_lock_take(&binding->lock);
    struct wf_waiter *waiter = wf_wait_take_first_locked(&binding->waiters);
    wf_lock_drop(&binding->lock);
    if (waiter) {
        waiter->status = 0;
        wf_wait_wake(waiter);
    }
}

weft_ffi_site *weft_ffi_here(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return &thread_site;
    wf_fiber_stack(fiber)->is_predicted = false; /* whoever asks makes foreign calls */
    return &wf_fiber_stack(fiber)->site;
}

void weft_ffi_call_bound(weft_ffi_site *here, void (*fn)(void *arg), void *arg) {
    call_native(here, fn, arg);
}
