/* SPDX-License-Identifier: MIT
 *
 * wait/wait.h - waiting: one node per object, one lock per object, one wake per wait.
 *
 * A *wait* is what one fiber, one plain thread or one callback does until something ends it. It has a *waiter*, a node in
 * the queue of each object it waits for, linked and unlinked under that object's lock. Four things can end it: an object,
 * its deadline, the cancellation of its fiber, and the end of a runtime that drops its fibers. Exactly one of them does.
 *
 * The plain case, one object and nothing else: **whoever takes the node out of the queue, under the object's lock, owns the
 * one and only wake.** A fiber parks with the lock held and the other side of the switch drops it, so it cannot be found
 * before its stack is free. No word is needed for it (word is NULL).
 *
 * Everything else has a claim word; that of a fiber which can be cancelled is in the header of its stack, where the
 * cancellation finds it, and outlives the wait:
 *
 *     0 --begin--> OPEN --claim--> CLAIMED --deliver--> DELIVERED --finish--> 0
 *                    `---- PARKED is added by the other side of the switch, at any time ----'
 *
 *   claim    a compare and swap; the winner owns the wake. An object that finds the word claimed goes on to its next
 *            waiter. Timer and cancellation claim and deliver in one step, since they bring nothing.
 *   deliver  after the winner has written status and value. If PARKED is there, the winner makes the fiber ready; if it is
 *            not, the fiber finds DELIVERED when it parks and goes on at once. One of the two sees the other, because both
 *            are read-modify-writes of one word.
 *   finish   by the owner: unlinks its other nodes, each under its object's lock, and takes its timer back. After that
 *            nobody knows the node, and its memory may go.
 *
 * Lock order: objects, then timers. Whoever waits for several objects takes their locks in the order of their addresses.
 * Nobody else holds two objects' locks at once, but for those that say so (a condition variable and its mutex).
 */
#ifndef WF_WAIT_WAIT_H
#define WF_WAIT_WAIT_H

#include "fiber/fiber.h"
#include "queue/parker.h"
#include "sched/timer.h"

enum {
    WF_WAIT_OPEN = 1,
    WF_WAIT_CLAIMED = 2,
    WF_WAIT_PARKED = 4,
    WF_WAIT_DELIVERED = 8,
    WF_WAIT_TIMED_OUT = 16, /* what claimed it; none of these: an object */
    WF_WAIT_CANCELLED = 32,
};

struct wf_wait;

/* A place in the queue of one object. What is not said to be the owner's is under the object's lock. */
struct wf_waiter {
    struct wf_waiter *next; /* a ring */
    struct wf_waiter *previous;
    struct wf_waiter **queue; /* constant while linked */
    struct wf_lock *lock;     /* of the object; owner's */
    struct wf_wait *wait;     /* owner's; constant */
    bool is_linked;
    int status;      /* written by whoever claims the wait through this node, before it delivers */
    void *value;     /* for the object: what to hand over, or where to put it */
    uint64_t amount; /* for the object: how much of it, or what kind of wish */
};

struct wf_wait {
    const char *reason;       /* what for, in a word, as reports name it: "receive", "mutex" */
    const void *object;       /* and on what */
    int64_t since;            /* by the clock that the worker has read last */
    struct wf_waiter *nodes;  /* all of them, count in a row */
    struct wf_waiter *winner; /* the node through which an object claimed it; written before delivery */
    uint32_t count;
    bool has_timer;
    _Atomic uint32_t own_word; /* of a thread or a callback */
    _Atomic uint32_t *word;    /* NULL: the lock of the one object decides */
    struct wf_fiber *fiber;    /* NULL: a plain thread, or a callback */
    struct wf_fibers *fibers;
    /* A callback: called by whoever delivers, without locks of objects, at most once; must not block. The wait belongs to
     * it from then on. NULL: not a callback. */
    void (*fire)(struct wf_wait *wait);
    struct wf_parker parker; /* of a thread */
    struct wf_timer timer;
};

/* The start of every call that may block. Returns 0, or -ECANCELED for a fiber that was cancelled, unless the call cannot
 * block because its deadline is WEFT_NOW. */
int wf_wait_enter_slow(struct wf_stack *stack, int64_t deadline_ns);
static inline int wf_wait_enter(int64_t deadline_ns) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker)
        return 0;
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    return WF_LIKELY(!stack->checks) ? 0 : wf_wait_enter_slow(stack, deadline_ns);
}

/* Waits for one object. With its lock held, which is dropped; the caller has seen that there is nothing to have at once.
 * The waiter's value and amount may be set; next to be read are its status, value and amount as the object left them.
 * Returns that status; -ETIMEDOUT at the deadline, at once for WEFT_NOW; -ECANCELED; -ENOMEM when there is no room for the
 * deadline. For a negative answer of ours the object has not touched the waiter. */
int wf_wait_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue, int64_t deadline_ns,
                   const char *reason);
/* The same at the front of the queue: for one that was woken to compete, and lost. */
int wf_wait_first_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue, int64_t deadline_ns,
                         const char *reason);
/* As wf_wait_locked, but it cannot be cancelled and has no deadline: for getting back what was lent. Returns the status that
 * the object gave. */
int wf_wait_surely_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue, const char *reason,
                          bool at_front);

/* Waits for several objects, or for none but time. All their locks are held, in order and each once, in locks, and are
 * dropped; nodes have wait, lock and queue set and are linked here. Returns the index of the node whose object claimed the
 * wait; -ETIMEDOUT, -ECANCELED, -ENOMEM. */
int wf_wait_many_locked(struct wf_wait *wait, struct wf_waiter *nodes, uint32_t count, struct wf_lock **locks,
                        uint32_t lock_count, int64_t deadline_ns, const char *reason);

/* A callback instead of somebody who waits. Set fire, and link by wf_wait_link_locked with the object's lock held. */
void wf_wait_begin_callback(struct wf_wait *wait, struct wf_waiter *node, void (*fire)(struct wf_wait *wait));
void wf_wait_link_locked(struct wf_waiter *waiter, struct wf_lock *lock, struct wf_waiter **queue);
/* Takes a callback's node out again. True: it was still linked and will not fire. False: it has fired, or is about to:
 * somebody else owns that. */
bool wf_wait_unlink(struct wf_waiter *waiter);

/* The object's side. With its lock held: takes waiters out, from the first on, until one could be claimed, and returns that
 * one: the caller owns its wake. NULL when the queue is empty. */
struct wf_waiter *wf_wait_take_first_locked(struct wf_waiter **queue);
/* The same for one given node that is linked: true when it was claimed. It is out of the queue either way. */
bool wf_wait_take_locked(struct wf_waiter *waiter);
/* Delivers to a waiter that was taken, its status and value written. With or without the object's lock; not with it for
 * callbacks. The last touch of the waiter. */
void wf_wait_wake(struct wf_waiter *waiter);
/* Takes everybody out and gives them a status; the chain is linked by next and ends with NULL. Wake them one by one with
 * wf_wait_wake_chain, without the lock. */
struct wf_waiter *wf_wait_take_all_locked(struct wf_waiter **queue, int status, void *value);
uint32_t wf_wait_wake_chain(struct wf_waiter *first);

/* Memory for the length of a call that may wait: it goes with the calling fiber if that is dropped. NULL: none to be had. */
void *wf_wait_alloc(size_t bytes);
void wf_wait_free(void *memory);

/* The cancellation of a fiber: ends the wait that it is in, if it is in one. The caller keeps its stack from going. */
void wf_wait_cancel(struct wf_fibers *fibers, struct wf_fiber *fiber);

/* Nobody of that runtime runs any more, and its parked fibers are dropped: takes them out of the queues of everything. */
void wf_wait_drop_all(struct wf_fibers *fibers);

#endif
