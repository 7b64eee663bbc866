/* SPDX-License-Identifier: MIT
 *
 * scope/scope.c - scopes: a region of cancellation, and a count of the children inside it.
 *
 * The opener is inside the region too. A child enters it before its first instruction and leaves it after its last, and what
 * it has left open inside is closed before that. Its end is a callback of its record, so a child that never ran, because
 * there was no stack for it, is reported as well. The order of a report matters: the result is noted, then the siblings are
 * cancelled, and only then the child is taken off the count, because from that moment on the opener may close the scope and
 * free it.
 *
 * Those that wait in a scope are the opener (amount is WANTS_END) and, with a limit, whoever wants to start the next child
 * (WANTS_ROOM). Whoever was given a turn and cannot use it passes it on.
 *
 * The deadline is a timer whose firing cancels. Locks: timers, then a region's; a scope's own lock is taken with none held.
 */
#include "weft/scope.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "os/memory.h"
#include "os/report.h"
#include "wait/cancel.h"
#include "wait/wait.h"
#include "weft/panic.h"

enum { WANTS_END, WANTS_ROOM };
enum { RESULT_RUNNING = INT32_MIN, FIRST_RESULTS = 16 };

struct weft_scope {
    struct wf_cancel cancel;
    struct wf_member opener; /* opener.fiber and opener.outer: who, and what it was inside before */
    struct wf_timer timer;
    struct wf_leaver leaver;
    bool has_timer;
    bool keeps_going; /* constant */
    bool keeps_results;
    uint32_t max_children;
    struct wf_lock lock;
    struct wf_waiter *waiters; /* under lock */
    uint64_t alive;
    uint64_t started;
    int first_error;
    int *results;
    size_t result_room;
};

struct child {
    weft_scope *scope;
    int (*fn)(void *arg);
    void *arg;
    uint64_t index;
    int status;
    struct wf_wait end; /* of its fiber */
    struct wf_waiter end_node;
};

static struct wf_task *scope_expire(struct wf_timer *timer);
static void close_left_open(struct wf_leaver *leaver);
static void scope_drop(struct wf_leaver *leaver);
static void close_inside(weft_scope *scope);
static int scope_end(weft_scope *scope);
static int take_place(weft_scope *scope, uint64_t *index);
static void note_result(weft_scope *scope, uint64_t index, int result);
static int keep_room_locked(weft_scope *scope);
static void *child_main(void *opaque);
static void child_watch(struct child *child, weft_fiber id);
static void child_ended(struct wf_wait *wait);
static void child_report(struct child *child);
static void leave_place(weft_scope *scope);
static struct wf_waiter *take_next_locked(weft_scope *scope);

int weft_scope_open(weft_scope **out, const weft_scope_options *options) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!out)
        return -EINVAL;
    if (!fiber)
        return -EPERM;
    int error = wf_wait_enter(WEFT_NEVER);
    if (error)
        return error;
    weft_scope *scope = wf_os_alloc(sizeof *scope);
    if (!scope)
        return -ENOMEM;
    struct wf_stack *stack = wf_fiber_stack(fiber);
    wf_cancel_init(&scope->cancel, stack->shields ? NULL : stack->cancel); /* what is shielded is not of that tree */
    if (options) {
        scope->keeps_going = options->keep_going;
        scope->keeps_results = options->keep_results;
        scope->max_children = options->max_children;
        if (options->deadline && options->deadline < scope->cancel.deadline) {
            struct wf_fiber_worker *worker = wf_worker_self();
            scope->cancel.deadline = options->deadline;
            scope->timer.fire = scope_expire;
            error = wf_timers_arm(&wf_timer_home(worker)->timers, &scope->timer, options->deadline);
            if (error) {
                wf_cancel_term(&scope->cancel);
                wf_os_free(scope);
                return error;
            }
            scope->has_timer = true;
            wf_timer_home_changed(worker);
        }
    }
    wf_cancel_enter(&scope->cancel, &scope->opener);
    scope->leaver = (struct wf_leaver){.leave = close_left_open, .drop = scope_drop, .is_region = true};
    wf_leaver_push(stack, &scope->leaver);
    *out = scope;
    return 0;
}

/* Under the lock of the timers. */
static struct wf_task *scope_expire(struct wf_timer *timer) {
    weft_scope *scope = WF_CONTAINER(timer, weft_scope, timer);
    wf_cancel_fire(&scope->cancel, -ETIMEDOUT, "the deadline of the scope has passed");
    return NULL;
}

int weft_scope_close(weft_scope *scope) {
    if (!scope)
        return -EINVAL;
    struct wf_fiber *fiber = wf_fiber_self();
    if (scope->opener.fiber != fiber || wf_fiber_stack(fiber)->cancel != &scope->cancel)
        wf_fatal("a scope was closed by another fiber than its opener, or not in reverse order of opening");
    wf_leaver_remove(wf_fiber_stack(fiber), &scope->leaver);
    return scope_end(scope);
}

/* The fiber ends, and has not closed it. */
static void close_left_open(struct wf_leaver *leaver) {
    weft_scope *scope = WF_CONTAINER(leaver, weft_scope, leaver);
    wf_cancel_fire(&scope->cancel, -ECANCELED, "its opener has ended");
    scope_end(scope);
}

/* Its children are dropped too, and have reported. */
static void scope_drop(struct wf_leaver *leaver) {
    weft_scope *scope = WF_CONTAINER(leaver, weft_scope, leaver);
    wf_os_free(scope->results);
    wf_os_free(scope);
}

static int scope_end(weft_scope *scope) {
    wf_lock_take(&scope->lock);
    if (scope->alive > 0) {
        struct wf_waiter self = {.amount = WANTS_END};
        wf_wait_surely_locked(&self, &scope->lock, &scope->waiters, "end of a scope", false);
    } else {
        wf_lock_drop(&scope->lock);
    }
    wf_context_acquire(scope);
    if (scope->has_timer)
        wf_timers_cancel(&scope->timer);
    wf_cancel_leave(&scope->opener);
    wf_cancel_term(&scope->cancel); /* from here on nobody cancels it any more */
    int outcome = scope->first_error;
    if (!outcome && wf_cancel_is_fired(&scope->cancel))
        outcome = scope->cancel.reason;
    wf_os_free(scope->results);
    wf_os_free(scope);
    return outcome;
}

struct body_call {
    int (*body)(weft_scope *scope, void *arg);
    weft_scope *scope;
    void *arg;
    int status;
};

static void call_body(void *opaque) {
    struct body_call *call = opaque;
    call->status = call->body(call->scope, call->arg);
}

int weft_scope_run(const weft_scope_options *options, int (*body)(weft_scope *scope, void *arg), void *arg) {
    struct body_call call = {.body = body, .arg = arg};
    if (!body)
        return -EINVAL;
    int error = weft_scope_open(&call.scope, options);
    if (error)
        return error;
    char message[160];
    int panicked = weft_try(call_body, &call, message, sizeof message);
    if (panicked) {
        wf_cancel_fire(&call.scope->cancel, -EOWNERDEAD, message);
        close_inside(call.scope);
    } else if (call.status < 0) {
        wf_cancel_fire(&call.scope->cancel, call.status, "the body of the scope failed");
    }
    error = weft_scope_close(call.scope);
    if (panicked)
        weft_panic("%s", message);
    return error ? error : call.status;
}

/* Scopes inside this one that the calling fiber opened, and whose closing it will not come to any more. */
static void close_inside(weft_scope *scope) {
    struct wf_stack *stack = wf_fiber_stack(wf_fiber_self());
    while (stack->cancel != &scope->cancel) {
        weft_scope *inner = WF_CONTAINER(stack->cancel, weft_scope, cancel);
        wf_cancel_fire(&inner->cancel, -ECANCELED, "its opener has ended");
        weft_scope_close(inner);
    }
}

int weft_scope_go(weft_scope *scope, int (*fn)(void *arg), void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!scope || !fn)
        return -EINVAL;
    if (!worker)
        return -EPERM;
    uint64_t index = 0;
    int error = take_place(scope, &index);
    if (error)
        return error;
    struct child *child = wf_os_alloc(sizeof *child);
    if (child) {
        weft_fiber id;
        *child = (struct child){.scope = scope, .fn = fn, .arg = arg, .index = index};
        error = weft_spawn(&id, child_main, child);
        if (!error) {
            child_watch(child, id);
            return 0;
        }
        wf_os_free(child);
    }
    error = error ? error : -ENOMEM;
    note_result(scope, index, error);
    leave_place(scope);
    return error;
}

static void note_result(weft_scope *scope, uint64_t index, int result) {
    if (!scope->keeps_results)
        return;
    wf_lock_take(&scope->lock);
    scope->results[index] = result == RESULT_RUNNING ? RESULT_RUNNING + 1 : result;
    wf_lock_drop(&scope->lock);
}

/* Counts one more child in, when there is room for it. */
static int take_place(weft_scope *scope, uint64_t *index) {
    bool was_called = false;
    for (;; was_called = true) {
        wf_lock_take(&scope->lock);
        if (wf_cancel_is_fired(&scope->cancel)) {
            struct wf_waiter *wake = was_called ? take_next_locked(scope) : NULL; /* our turn is the next one's */
            wf_lock_drop(&scope->lock);
            if (wake)
                wf_wait_wake(wake);
            return -ECANCELED;
        }
        if (!scope->max_children || scope->alive < scope->max_children)
            break;
        struct wf_waiter self = {.amount = WANTS_ROOM};
        int error = wf_wait_locked(&self, &scope->lock, &scope->waiters, WEFT_NEVER, "room in a scope");
        if (error)
            return error;
    }
    struct wf_waiter *wake = NULL;
    int error = scope->keeps_results ? keep_room_locked(scope) : 0;
    if (!error) {
        scope->alive++;
        *index = scope->started++;
    } else if (was_called) {
        wake = take_next_locked(scope);
    }
    wf_lock_drop(&scope->lock);
    if (wake)
        wf_wait_wake(wake);
    return error;
}

static int keep_room_locked(weft_scope *scope) {
    if (scope->started == scope->result_room) {
        size_t room = scope->result_room ? scope->result_room * 2 : FIRST_RESULTS;
        int *results = wf_os_alloc(room * sizeof *results);
        if (!results)
            return -ENOMEM;
        if (scope->started)
            memcpy(results, scope->results, scope->started * sizeof *results);
        wf_os_free(scope->results);
        scope->results = results;
        scope->result_room = room;
    }
    scope->results[scope->started] = RESULT_RUNNING;
    return 0;
}

static void call_child(void *opaque) {
    struct child *child = opaque;
    child->status = child->fn(child->arg);
}

static void *child_main(void *opaque) {
    wf_fiber_set_indirect();
    struct child *child = opaque;
    struct wf_member member;
    struct wf_try attempt;
    wf_cancel_enter(&child->scope->cancel, &member);
    if (wf_try_call(&attempt, &wf_fiber_stack(wf_fiber_self())->trying, call_child, child) != 0) {
        child->status = -EOWNERDEAD;
        wf_panic_report(wf_worker_self(), wf_fiber_self(), &attempt);
    } else if (attempt.is_exit) {
        child->status = (int)(intptr_t)attempt.result;
    }
    close_inside(child->scope);
    wf_cancel_leave(&member);
    return NULL;
}

/* Reports when the fiber has ended, which may be before it could be watched. */
static void child_watch(struct child *child, weft_fiber id) {
    struct wf_fibers *fibers = wf_worker_self()->fibers;
    struct wf_fiber *fiber = wf_record_lock(fibers, id);
    if (fiber && wf_load_relaxed(&fiber->task.state) != WF_FIBER_ENDED) {
        wf_wait_begin_callback(&child->end, &child->end_node, child_ended);
        wf_wait_link_locked(&child->end_node, &fiber->lock, &fiber->waiters);
        wf_lock_drop(&fiber->lock);
        return;
    }
    if (fiber) { /* else the child has let somebody join it */
        wf_context_acquire(fiber);
        if (fiber->parent & WF_FLAG_NO_STACK)
            child->status = -ENOMEM;
        wf_record_count_freed(fibers);
        wf_record_free_locked(fibers, fiber);
    }
    child_report(child);
}

/* On the stack of the fiber that ends; without one when it never ran; or when its runtime drops it. */
static void child_ended(struct wf_wait *wait) {
    struct child *child = WF_CONTAINER(wait, struct child, end);
    if (child->end_node.status)
        child->status = child->end_node.status;
    child_report(child);
}

static void child_report(struct child *child) {
    weft_scope *scope = child->scope;
    bool has_failed = child->status < 0;
    wf_context_release(scope);
    note_result(scope, child->index, child->status);
    if (has_failed) {
        wf_lock_take(&scope->lock);
        if (!scope->first_error && !wf_cancel_is_fired(&scope->cancel))
            scope->first_error = child->status;
        wf_lock_drop(&scope->lock);
    }
    if (has_failed && !scope->keeps_going)
        wf_cancel_fire(&scope->cancel, child->status, "a child has failed");
    wf_os_free(child);
    leave_place(scope);
}

/* The scope may be gone once the lock is dropped. */
static void leave_place(weft_scope *scope) {
    wf_lock_take(&scope->lock);
    scope->alive--;
    struct wf_waiter *wake = take_next_locked(scope);
    wf_lock_drop(&scope->lock);
    if (wake)
        wf_wait_wake(wake);
}

/* The first who wants room; the opener, when there is nobody else and no child is left. */
static struct wf_waiter *take_next_locked(weft_scope *scope) {
    while (scope->waiters) {
        struct wf_waiter *first = scope->waiters;
        if (first->amount == WANTS_END && first->next != first)
            first = first->next;
        else if (first->amount == WANTS_END && scope->alive > 0)
            return NULL;
        if (wf_wait_take_locked(first)) {
            first->status = 0;
            return first;
        }
    }
    return NULL;
}

int weft_scope_wait(weft_scope *scope, weft_time deadline) {
    if (!scope)
        return -EINVAL;
    if (scope->opener.fiber != wf_fiber_self())
        return -EPERM;
    int error = wf_wait_enter(deadline);
    if (error)
        return error;
    wf_lock_take(&scope->lock);
    if (scope->alive > 0) {
        struct wf_waiter self = {.amount = WANTS_END};
        error = wf_wait_locked(&self, &scope->lock, &scope->waiters, deadline, "children of a scope");
    } else {
        wf_lock_drop(&scope->lock);
    }
    if (!error)
        wf_context_acquire(scope);
    return error;
}

int weft_scope_result(weft_scope *scope, size_t index, int *result) {
    if (!scope || !result)
        return -EINVAL;
    int error = 0;
    wf_lock_take(&scope->lock);
    if (!scope->keeps_results || index >= scope->started)
        error = -ENOENT;
    else if (scope->results[index] == RESULT_RUNNING)
        error = -EAGAIN;
    else
        *result = scope->results[index];
    wf_lock_drop(&scope->lock);
    return error;
}

int weft_scope_cancel(weft_scope *scope, int reason, const char *text) {
    if (!scope || reason > 0)
        return -EINVAL;
    return wf_cancel_fire(&scope->cancel, reason ? reason : -ECANCELED, text) ? 0 : -EALREADY;
}
