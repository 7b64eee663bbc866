/* SPDX-License-Identifier: MIT
 *
 * wait/wait.c - the one way to wait. Model and rules: wait/wait.h.
 *
 * Why no claim word here: a node is in one queue, so the queue's lock decides. Waiting for several objects at once needs
 * one, and will add it beside this.
 *
 * Rejected: releasing the lock before parking and parking by a token, which costs two more read-modify-writes a wait;
 * cancelling the timer under the object's lock, which inverts the order in which firing takes the two.
 */
#include "wait/wait.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"

static struct wf_task *deadline_fire(struct wf_timer *timer);
static void take_out_and_wake(struct wf_waiter *waiter, int status, void *value);
static void queue_append(struct wf_waiter *waiter);
static void queue_remove(struct wf_waiter *waiter);
static bool commit_drop(struct wf_fiber *fiber, void *arg);
static int sleep_thread(struct wf_waiter *waiter, int64_t deadline_ns);

int wf_wait_arm(struct wf_waiter *waiter, int64_t deadline_ns) {
    if (!waiter->fiber)
        return 0;
    struct wf_processor *processor = wf_worker_self()->base.processor;
    waiter->timer.fire = deadline_fire;
    int error = wf_timers_arm(&processor->timers, &waiter->timer, deadline_ns);
    waiter->has_timer = error == 0;
    if (!error)
        wf_processor_timers_changed_owner(processor);
    return error;
}

/* Under the lock of the timers. */
static struct wf_task *deadline_fire(struct wf_timer *timer) {
    struct wf_waiter *waiter = WF_CONTAINER(timer, struct wf_waiter, timer);
    struct wf_task *task = NULL;
    WF_POINT("deadline.before_lock");
    wf_lock_take(waiter->lock);
    struct wf_lock *lock = waiter->lock;
    if (waiter->is_linked) {
        queue_remove(waiter);
        waiter->status = -ETIMEDOUT;
        wf_fiber_set_state(waiter->fiber, WF_FIBER_READY);
        task = &waiter->fiber->task;
    } else {
        waiter->is_expired = true;
    }
    wf_lock_drop(lock);
    return task;
}

int wf_wait_sleep_locked(struct wf_waiter *waiter, int64_t deadline_ns) {
    if (waiter->is_expired) {
        wf_lock_drop(waiter->lock);
        return -ETIMEDOUT;
    }
    queue_append(waiter);
    if (!waiter->fiber)
        return sleep_thread(waiter, deadline_ns);
    wf_fiber_park(commit_drop, waiter->lock);
    return waiter->status;
}

static bool commit_drop(struct wf_fiber *fiber, void *arg) {
    (void)fiber;
    wf_lock_drop(arg);
    return true;
}

static int sleep_thread(struct wf_waiter *waiter, int64_t deadline_ns) {
    wf_lock_drop(waiter->lock);
    if (wf_parker_park(&waiter->parker, deadline_ns))
        return waiter->status;
    wf_lock_take(waiter->lock);
    bool was_linked = waiter->is_linked;
    if (was_linked)
        queue_remove(waiter);
    wf_lock_drop(waiter->lock);
    if (was_linked)
        return -ETIMEDOUT;
    wf_parker_park(&waiter->parker, WF_NEVER); /* somebody has taken it out: the token is on its way */
    return waiter->status;
}

void wf_wait_finish(struct wf_waiter *waiter) {
    if (waiter->has_timer)
        wf_timers_cancel(&waiter->timer);
}

void wf_wait_wake_first_locked(struct wf_waiter **queue, int status, void *value) {
    take_out_and_wake(*queue, status, value);
}

void wf_wait_wake_outside_locked(struct wf_waiter **queue, const struct wf_fibers *ending, int status) {
    struct wf_waiter *last = *queue ? (*queue)->previous : NULL;
    for (struct wf_waiter *waiter = *queue, *next; waiter; waiter = next) {
        next = waiter == last ? NULL : waiter->next;
        if (waiter->fibers != ending)
            take_out_and_wake(waiter, status, NULL);
    }
}

static void take_out_and_wake(struct wf_waiter *waiter, int status, void *value) {
    queue_remove(waiter);
    waiter->status = status;
    waiter->value = value;
    WF_POINT("wake.before_ready");
    if (waiter->fiber)
        wf_fiber_ready(waiter->fibers, waiter->fiber);
    else
        wf_parker_unpark(&waiter->parker);
}

static void queue_append(struct wf_waiter *waiter) {
    struct wf_waiter *first = *waiter->queue;
    if (!first) {
        waiter->next = waiter->previous = waiter;
        *waiter->queue = waiter;
    } else {
        waiter->next = first;
        waiter->previous = first->previous;
        first->previous->next = waiter;
        first->previous = waiter;
    }
    waiter->is_linked = true;
}

static void queue_remove(struct wf_waiter *waiter) {
    WF_ASSERT(waiter->is_linked);
    if (waiter->next == waiter) {
        *waiter->queue = NULL;
    } else {
        waiter->previous->next = waiter->next;
        waiter->next->previous = waiter->previous;
        if (*waiter->queue == waiter)
            *waiter->queue = waiter->next;
    }
    waiter->is_linked = false;
}
