/* SPDX-License-Identifier: MIT
 *
 * promise/promise.h - the cell, and what happens when it is settled.
 *
 * Who waits for a promise is in one queue under its lock: fibers, threads, and *reactions*, which are callbacks. The state
 * is set under the lock, once, and everybody is taken out in the same step.
 *
 *     pending --resolve, reject, an adopted one settles, the last reference goes--> resolved or rejected
 *
 * A reaction may settle another promise, which may have reactions, and so on for a million links. So none is carried out
 * where it is found: the settler has a *settlement*, a list of reactions to be carried out, and everything that it sets off
 * goes to its end. The waiters' value leads each callback to that list.
 *
 * References: a reaction holds one on its target and none on its source, which owns it instead. The memory of a reaction and
 * of its target is there from registration on, so that settling cannot fail.
 *
 * A promise may have a *home*, which is a loop's (loop/promise.h). Then it has *followers* too: small reactions that are told
 * of the settlement under the promise's lock, in the order in which they came, so that what they put into a queue is in that
 * order whoever settles and whoever comes meanwhile. And the home is told of a rejection that nobody handles:
 *
 *     NONE --rejected without a handler--> LISTED --the home has told it--> TOLD --first handler--> LATE --told--> NONE
 *                                            `--handled before--> NONE
 *
 * Locks: a promise's, then whatever its followers take.
 */
#ifndef WF_PROMISE_PROMISE_H
#define WF_PROMISE_PROMISE_H

#include "wait/wait.h"
#include "weft/promise.h"

struct wf_reaction;
struct wf_settlement;

enum wf_rejection { WF_REJECTION_NONE, WF_REJECTION_LISTED, WF_REJECTION_TOLD, WF_REJECTION_LATE };

/* What a loop does for its promises. By a caller who has a reference. */
struct wf_home {
    /* A registered promise was settled, or one was rejected and has no handler (is_unhandled, LISTED). */
    void (*settled)(weft_promise *promise, bool is_unhandled);
    /* The first handler of one that was told (LATE). May put something into a queue, and nothing else. */
    void (*handled_late_locked)(weft_promise *promise);
    /* The last reference has gone: frees it. */
    void (*release)(weft_promise *promise);
};

struct wf_follower {
    struct wf_follower *next;
    /* With the source's lock held: may take references and put something into a queue, and nothing else. What cannot be done
     * so is put off by wf_settlement_put_off. */
    void (*settled)(struct wf_follower *follower, weft_promise *source, struct wf_settlement *settlement);
    /* What was put off. Without locks. */
    void (*late)(struct wf_follower *follower, struct wf_settlement *settlement);
};

/* First in a block of wf_os_alloc that values point into. Every promise that has such a value holds a reference. */
struct wf_owned {
    _Atomic uint64_t references;
};

struct weft_promise {
    struct wf_lock lock;
    _Atomic uint32_t references;
    _Atomic uint32_t state;        /* weft_promise_state; written under lock, read by anybody: see A in promise.c */
    _Atomic uint32_t is_handled;   /* somebody has seen the outcome, or will */
    bool is_committed;             /* under lock: only one way to settle it is left, and somebody has it */
    bool is_quiet;                 /* rejected because nobody was left to settle it; constant once settled */
    bool is_registered;            /* its home wants to know when it is settled; constant once anybody can settle it */
    uint8_t rejection;             /* wf_rejection; under lock */
    struct wf_waiter *waiters;     /* under lock */
    struct wf_follower *followers; /* under lock, in their order */
    struct wf_follower *last_follower; /* when there are any */
    const struct wf_home *home;        /* or NULL; constant */
    struct wf_owned *owned;            /* what the value points into, or NULL; constant once settled */
    weft_outcome outcome;              /* constant once settled */
};

/* How a promise is settled. */
struct wf_settled {
    weft_outcome outcome;
    bool is_quiet;
    struct wf_owned *owned; /* with a reference, or NULL */
};

/* On the stack of whoever settles. */
struct wf_settlement {
    struct wf_reaction *first;
    struct wf_reaction *last;
    const weft_promise *source;     /* whose waiters are being told at this moment */
    struct wf_follower *late_first; /* followers that were put off */
    struct wf_follower *late_last;
};

struct wf_reaction {
    struct wf_wait wait;
    struct wf_waiter node;    /* in the queue of its source, later perhaps in that of the fiber it started */
    struct wf_reaction *next; /* in a settlement */
    weft_promise *target;     /* with a reference; NULL for one of many, which has an owner instead */
    void *owner;
    struct wf_settled source; /* how its source was settled */
    /* Carries it out. The reaction belongs to this call. */
    void (*react)(struct wf_reaction *reaction, struct wf_settlement *settlement);
    /* The fiber it started has ended. The reaction belongs to this call. */
    void (*ended)(struct wf_reaction *reaction, int status, void *result, struct wf_settlement *settlement);
};

/* A promise with one reference; derived: nobody but its reaction may settle it. NULL: no memory. */
weft_promise *wf_promise_make(bool is_derived);
/* Settles a pending promise; the caller alone may do so and has a reference. Takes over what how owns, and puts the
 * reactions into the settlement. One that has a home may have been settled by its loop's end: false, and nothing happens. */
bool wf_promise_settle(weft_promise *promise, const struct wf_settled *how, struct wf_settlement *settlement);
/* The same with a value: without the text that most of an outcome is. */
bool wf_promise_fulfil(weft_promise *promise, void *value, struct wf_owned *owned, struct wf_settlement *settlement);
/* Has the reaction carried out when the promise is settled: puts it into the settlement if it is. */
void wf_promise_on(weft_promise *promise, struct wf_reaction *reaction, struct wf_settlement *settlement);
/* The same for a follower. */
void wf_promise_follow(weft_promise *promise, struct wf_follower *follower, struct wf_settlement *settlement);
void wf_settlement_put_off(struct wf_settlement *settlement, struct wf_follower *follower);
/* The one way to settle it is the caller's from now on; false: it is somebody else's. */
bool wf_promise_commit(weft_promise *promise);
/* Somebody handles it. */
void wf_promise_see(weft_promise *promise);
/* Carries out everything in the list, and what that adds to it. */
void wf_settlement_run(struct wf_settlement *settlement);
/* Settles the target, gives the reference to it back and frees the reaction. how may be a copy of its source. */
void wf_reaction_finish(struct wf_reaction *reaction, const struct wf_settled *how, struct wf_settlement *settlement);
/* The caller has spawned that fiber, joinable, and keeps its runtime from ending: ended is called after its end. */
void wf_reaction_watch(struct wf_reaction *reaction, struct wf_fibers *fibers, weft_fiber id,
                       struct wf_settlement *settlement);

void wf_owned_unref(struct wf_owned *owned);
struct wf_settled wf_settled_value(void *value);
struct wf_settled wf_settled_error(int error, const char *text);

/* In the child of a fork: whoever held the lock of the hook is gone. */
void wf_promises_after_fork(void);

#endif
