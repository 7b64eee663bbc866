/* SPDX-License-Identifier: MIT
 *
 * fiber/panic.c - guarded regions: deferred calls, panics, exits.
 *
 * Every fiber's body runs inside one wf_try, and every weft_try adds another inside it. A region owns the calls that were
 * deferred while it was the innermost. It is left by returning, by a panic, by weft_exit or by an exception that nobody
 * caught; in each case its deferred calls run afterwards, newest first, each guarded by the same region, so that a panic
 * in one of them replaces the message and the others still run.
 *
 * weft_exit leaves all regions, one after another, from the inside.
 *
 * A plain thread has regions too (weft_try), but no deferred calls: there is no end of a fiber for them to wait for.
 */
#include "weft/panic.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/memory.h"
#include "os/report.h"

struct wf_deferred {
    struct wf_deferred *next;
    void (*fn)(void *arg);
    void *arg;
};

/* Innermost region of a plain thread. Plain threads do not move, so an ordinary thread-local will do. */
static __thread struct wf_try *thread_trying;

static struct wf_try **innermost_here(void);
static bool region_ended_badly(struct wf_try *attempt, int end);
static void run_deferred(struct wf_try *attempt, bool *has_panicked);
static void leave_regions(struct wf_fiber *fiber, const struct wf_leaver *outer);
static void leave_opened(const struct wf_try_mark *mark);
static _Noreturn void leave_region(struct wf_try *attempt);

int wf_try_call(struct wf_try *attempt, struct wf_try **innermost, void (*fn)(void *arg), void *arg) {
    attempt->outer = *innermost;
    attempt->deferred = NULL;
    attempt->is_exit = false;
    attempt->message[0] = 0;
    *innermost = attempt;
    bool has_panicked = region_ended_badly(attempt, wf_arch_guarded_call(&attempt->guarded, fn, arg));
    if (WF_UNLIKELY(attempt->deferred))
        run_deferred(attempt, &has_panicked);
    *innermost = attempt->outer;
    return WF_UNLIKELY(has_panicked) ? -EOWNERDEAD : 0;
}

static bool region_ended_badly(struct wf_try *attempt, int end) {
    if (WF_LIKELY(end == WF_GUARDED_RETURNED))
        return false;
    if (end == WF_GUARDED_EXCEPTION)
        wf_guarded_describe(attempt->guarded.exception, attempt->message, sizeof attempt->message);
    return end == WF_GUARDED_EXCEPTION || !attempt->is_exit;
}

static void run_deferred(struct wf_try *attempt, bool *has_panicked) {
    while (attempt->deferred) {
        struct wf_deferred call = *attempt->deferred;
        wf_os_free(attempt->deferred);
        attempt->deferred = call.next;
        bool was_exit = attempt->is_exit;
        if (region_ended_badly(attempt, wf_arch_guarded_call(&attempt->guarded, call.fn, call.arg)))
            *has_panicked = true;
        attempt->is_exit |= was_exit;
    }
}

static struct wf_try **innermost_here(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    return fiber ? &wf_fiber_stack(fiber)->trying : &thread_trying;
}

int weft_try(void (*fn)(void *arg), void *arg, char *message, size_t size) {
    if (!fn || (!message && size))
        return -EINVAL;
    struct wf_try attempt;
    struct wf_try_mark mark;
    wf_try_mark(&mark);
    int error = wf_try_call(&attempt, innermost_here(), fn, arg);
    if (error)
        leave_opened(&mark);
    if (attempt.is_exit)
        weft_exit(attempt.result);
    if (error && size)
        snprintf(message, size, "%s", attempt.message);
    return error;
}

int wf_try_contain(void (*fn)(void *arg), void *arg, char *message, size_t size, const struct wf_try_mark *mark) {
    struct wf_try attempt;
    struct wf_try_mark own;
    if (!mark)
        wf_try_mark(&own);
    int error = wf_try_call(&attempt, innermost_here(), fn, arg);
    if (WF_LIKELY(!error && !attempt.is_exit))
        return 0;
    leave_opened(mark ? mark : &own);
    snprintf(message, size, "%s", attempt.is_exit ? "weft_exit was called" : attempt.message);
    return -EOWNERDEAD;
}

void wf_try_mark(struct wf_try_mark *mark) {
    struct wf_fiber *fiber = wf_fiber_self();
    *mark = (struct wf_try_mark){0};
    if (fiber) {
        const struct wf_stack *stack = wf_fiber_stack(fiber);
        *mark = (struct wf_try_mark){stack->shields, stack->pins, wf_alone_pairs(stack), stack->leavers};
    }
}

/* A panic has left pairs and blocks open that will not be closed any more. */
static void leave_opened(const struct wf_try_mark *mark) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return;
    wf_stack_set_shields(wf_fiber_stack(fiber), mark->shields);
    wf_fiber_set_pins(fiber, mark->pins);
    wf_alone_close(fiber, &mark->alone);
    leave_regions(fiber, mark->leavers);
}

/* Newest first. The block at the mark may itself have been left since: then nobody knows which ones are newer, and they stay. */
static void leave_regions(struct wf_fiber *fiber, const struct wf_leaver *outer) {
    struct wf_leaver **at = &wf_fiber_stack(fiber)->leavers;
    const struct wf_leaver *mark = *at;
    while (mark && mark != outer)
        mark = mark->next;
    if (mark != outer)
        return;
    while (*at != outer) {
        struct wf_leaver *leaver = *at;
        if (!leaver->is_region) {
            at = &leaver->next;
            continue;
        }
        *at = leaver->next;
        leaver->leave(leaver);
    }
}

void weft_panic(const char *format, ...) {
    struct wf_try *attempt = *innermost_here();
    va_list arguments;
    va_start(arguments, format);
    if (!attempt)
        wf_fatal_list(format, arguments);
    vsnprintf(attempt->message, sizeof attempt->message, format, arguments);
    va_end(arguments);
    attempt->is_exit = false;
    leave_region(attempt);
}

void weft_exit(void *result) {
    struct wf_try *attempt = *innermost_here(); /* a plain thread may be inside something that contains it */
    if (!attempt)
        wf_fatal("weft_exit was called outside a fiber");
    attempt->is_exit = true;
    attempt->result = result;
    leave_region(attempt);
}

/* For a fault: the interrupted frame was not calling anybody, so its cleanups cannot be run. Deferred calls are. */
_Noreturn void wf_panic_at_once(const char *message) {
    struct wf_try *attempt = *innermost_here();
    snprintf(attempt->message, sizeof attempt->message, "%s", message);
    attempt->is_exit = false;
    wf_guarded_drop(&attempt->guarded);
}

static _Noreturn void leave_region(struct wf_try *attempt) {
    wf_guarded_leave(&attempt->guarded);
}

int weft_defer(void (*fn)(void *arg), void *arg) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fn)
        return -EINVAL;
    if (!fiber)
        return -EPERM;
    struct wf_deferred *deferred = wf_os_alloc(sizeof *deferred);
    if (!deferred)
        return -ENOMEM;
    struct wf_try *attempt = wf_fiber_stack(fiber)->trying;
    *deferred = (struct wf_deferred){.next = attempt->deferred, .fn = fn, .arg = arg};
    attempt->deferred = deferred;
    return 0;
}

int weft_undefer(bool run) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber || !wf_fiber_stack(fiber)->trying->deferred)
        return -ENOENT;
    struct wf_try *attempt = wf_fiber_stack(fiber)->trying;
    struct wf_deferred call = *attempt->deferred;
    wf_os_free(attempt->deferred);
    attempt->deferred = call.next;
    if (run)
        call.fn(call.arg);
    return 0;
}

void wf_deferred_run(void) {
    while (weft_undefer(true) == 0)
        continue;
}

void wf_try_drop(struct wf_try *innermost) {
    for (struct wf_try *attempt = innermost; attempt; attempt = attempt->outer) {
        while (attempt->deferred) {
            struct wf_deferred *deferred = attempt->deferred;
            attempt->deferred = deferred->next;
            wf_os_free(deferred);
        }
    }
}

void wf_panic_report(struct wf_fiber_worker *worker, struct wf_fiber *fiber, const struct wf_try *attempt) {
    struct wf_fibers *fibers = worker->fibers;
    struct wf_fiber_processor *processor = (struct wf_fiber_processor *)worker->base.processor;
    if (processor)
        wf_count_owner(&processor->panics, 1);
    else
        wf_fetch_add_relaxed(&fibers->panics_outside, 1);
    if (fibers->is_quiet)
        return;
    char who[160];
    wf_fiber_describe(fibers, fiber, who, sizeof who);
    wf_report("panic in %s: %s", who, attempt->message);
}

void weft_fatal(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    wf_fatal_list(format, arguments);
}
