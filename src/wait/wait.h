/* SPDX-License-Identifier: MIT
 *
 * wait/wait.h - waiting for an object: one node, one lock, one wake.
 *
 * A waiter is a node on the stack of whoever waits: a fiber or a plain thread. It is put into the object's queue under
 * the object's lock, and **whoever takes it out, under that lock, owns the one and only wake**: the object when it has
 * something to give, the timer at the deadline, the thread itself when its time is up. Nobody touches the node after
 * that wake.
 *
 *     idle --enqueue--> linked --taken by the object--> woken, status of the object
 *                         |------taken by the timer---> woken, -ETIMEDOUT
 *                         `------(thread) by itself---> -ETIMEDOUT
 *
 * A fiber parks with the lock held and the other side of the switch drops it, so it cannot be found before its stack is
 * free. A deadline is armed before the lock is taken (lock order: timers, then objects); if it fires before the node is
 * linked, it leaves the mark is_expired, under the lock.
 */
#ifndef WF_WAIT_WAIT_H
#define WF_WAIT_WAIT_H

#include "fiber/fiber.h"
#include "queue/parker.h"
#include "sched/timer.h"

struct wf_waiter {
    struct wf_waiter *next; /* a ring; all of these under the object's lock */
    struct wf_waiter *previous;
    struct wf_waiter **queue;
    struct wf_lock *lock;
    bool is_linked;
    bool is_expired;
    bool has_timer; /* owner only */
    int status;     /* written by whoever takes it out, before the wake */
    void *value;
    struct wf_fibers *fibers; /* of the fiber that waits */
    struct wf_fiber *fiber;   /* NULL: a plain thread */
    struct wf_parker parker;
    struct wf_timer timer;
};

/* Readies a node for the calling fiber or thread. */
static inline void wf_wait_begin(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue) {
    struct wf_fiber_worker *worker = wf_worker_self();
    waiter->lock = lock;
    waiter->queue = queue;
    waiter->is_linked = false;
    waiter->is_expired = false;
    waiter->has_timer = false;
    waiter->value = NULL;
    waiter->fiber = worker ? worker->current : NULL;
    waiter->fibers = worker ? worker->fibers : NULL;
    wf_parker_init(&waiter->parker);
}
/* Arms its deadline, if it is a fiber's. Without locks held. Returns 0 or -ENOMEM. */
int wf_wait_arm(struct wf_waiter *waiter, int64_t deadline_ns);
/* With the object's lock held, which is dropped: waits until the node is taken out. Returns its status. */
int wf_wait_sleep_locked(struct wf_waiter *waiter, int64_t deadline_ns);
/* Takes the deadline back. Without locks held; after it the node may go. Both ways of leaving end with it. */
void wf_wait_finish(struct wf_waiter *waiter);

/* With the object's lock held: takes the first waiter out and wakes it. The queue must not be empty. */
void wf_wait_wake_first_locked(struct wf_waiter **queue, int status, void *value);
/* The same for everybody in the queue who is not a fiber of that runtime, which ends without its fibers. */
void wf_wait_wake_outside_locked(struct wf_waiter **queue, const struct wf_fibers *ending, int status);

#endif
