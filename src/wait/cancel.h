/* SPDX-License-Identifier: MIT
 *
 * wait/cancel.h - cancellation: a tree of regions, and the fibers inside each.
 *
 * A fiber is inside at most one region at a time, the innermost; its blocking calls look at that one's flag. Cancelling a
 * region sets the flag of it and of everything below it, and ends the wait of every fiber inside them. A flag never goes
 * down again, and a region made below a cancelled one is born cancelled.
 *
 *     cancel: flag = 1 (D), then claim the words of those inside     wait: word = OPEN (C), then look at the flag
 *
 * Both are sequentially consistent, so no fiber falls asleep past a cancellation. A fiber that enters looks at the flag with
 * its next call.
 *
 * Locks: a region's own, then those of regions below it. Inside them timers and run queues; never an object's. So the list
 * of members keeps the stack of everybody on it alive while a cancellation looks at it.
 */
#ifndef WF_WAIT_CANCEL_H
#define WF_WAIT_CANCEL_H

#include "base/list.h"
#include "fiber/fiber.h"
#include "queue/lock.h"

enum { WF_CANCEL_TEXT = 96 };

struct wf_cancel {
    struct wf_lock lock;
    _Atomic uint32_t is_cancelled; /* under lock; read by anybody inside */
    int reason;                    /* under lock, constant once cancelled: a negative error */
    char text[WF_CANCEL_TEXT];     /* the same */
    int64_t deadline;              /* constant: when it is cancelled at the latest, by its own deadline or one above */
    struct wf_cancel *parent;      /* constant */
    struct wf_list sibling;        /* under the parent's lock */
    struct wf_list children;       /* under lock */
    struct wf_list members;        /* under lock: wf_member */
};

/* A fiber inside a region; on that fiber's stack. */
struct wf_member {
    struct wf_list node;
    struct wf_fiber *fiber;
    struct wf_fibers *fibers;
    struct wf_cancel *outer; /* what it was inside before */
};

/* A region below parent, which may be NULL and must outlive it. */
void wf_cancel_init(struct wf_cancel *cancel, struct wf_cancel *parent);
/* Nobody is inside any more. */
void wf_cancel_term(struct wf_cancel *cancel);

/* Any thread. The first one gives the reason; later ones change nothing. True: this was the first. text may be NULL. */
bool wf_cancel_fire(struct wf_cancel *cancel, int reason, const char *text);
static inline bool wf_cancel_is_fired(struct wf_cancel *cancel) {
    return wf_load_relaxed(&cancel->is_cancelled);
}

/* The calling fiber goes in, and comes out again in reverse order. */
void wf_cancel_enter(struct wf_cancel *cancel, struct wf_member *member);
void wf_cancel_leave(struct wf_member *member);

/* The calling fiber cannot be cancelled in between; pairs nest. */
void wf_cancel_shield(void);
void wf_cancel_unshield(void);

#endif
