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
 */
#ifndef WF_PROMISE_PROMISE_H
#define WF_PROMISE_PROMISE_H

#include "wait/wait.h"
#include "weft/promise.h"

struct wf_reaction;

/* First in a block of wf_os_alloc that values point into. Every promise that has such a value holds a reference. */
struct wf_owned {
    _Atomic uint64_t references;
};

struct weft_promise {
    struct wf_lock lock;
    _Atomic uint32_t references;
    _Atomic uint32_t state;      /* weft_promise_state; written under lock, read by anybody: see A in promise.c */
    _Atomic uint32_t is_handled; /* somebody has seen the outcome, or will */
    bool is_committed;           /* under lock: only one way to settle it is left, and somebody has it */
    bool is_quiet;               /* rejected because nobody was left to settle it; constant once settled */
    struct wf_waiter *waiters;   /* under lock */
    weft_outcome outcome;        /* constant once settled */
    struct wf_owned *owned;      /* what the value points into, or NULL; constant once settled */
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
    const weft_promise *source; /* whose waiters are being told at this moment */
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
 * reactions into the settlement. */
void wf_promise_settle(weft_promise *promise, const struct wf_settled *how, struct wf_settlement *settlement);
/* Has the reaction carried out when the promise is settled: puts it into the settlement if it is. */
void wf_promise_on(weft_promise *promise, struct wf_reaction *reaction, struct wf_settlement *settlement);
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
