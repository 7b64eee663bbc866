/* SPDX-License-Identifier: MIT
 *
 * loop/promise.h - promises of a loop: a cell with room for the one reaction that settles it, and a home.
 *
 * The cell is that of promise/promise.h. Beside it lies what is needed to settle it later without asking for memory: a
 * follower in the queue of another promise, a job in a track of a loop. A promise is settled by at most one such reaction, so
 * one place is enough, and adopting uses it again.
 *
 * The *home* is what the promises of one loop have in common and what outlives the loop, as they may. Everybody who is not
 * the owner reaches the loop through it, under its lock: it is there as long as home->loop says so.
 *
 * Registered promises are rejected at the loop's end. Those are made by weft_loop_promise, those that adopt, and those derived
 * from a promise of another home. The others need not be: what they depend on is registered itself, or is a job in a track
 * of the loop, and either way the end comes down to them.
 *
 * Locks: a promise's, then a home's, then the loop's.
 */
#ifndef WF_LOOP_PROMISE_H
#define WF_LOOP_PROMISE_H

#include "loop/loop.h"
#include "promise/promise.h"
#include "weft/loop_promise.h"

struct wf_loop_promise;
struct wf_promisify;

struct wf_loop_home {
    struct wf_lock lock;
    _Atomic uint64_t references;  /* the loop's, those of promises, and stock */
    _Atomic(weft_loop *) loop;    /* until it is freed; written under lock, read by its owner without */
    bool traces;                  /* promises remember where they were made; constant */
    bool is_over;                 /* under lock: nothing is registered any more */
    struct wf_list pending;       /* under lock */
    struct wf_list late;          /* the owner's: handled after they were told */
    struct wf_loop_promise *free; /* the owner's, linked by their sources */
    uint32_t free_count;
    uint64_t stock; /* references that the owner has in hand, so that it needs no atomic operation for each promise */
};

/* Where a promise was made. */
struct wf_promise_trace {
    int count;
    const void *frames[WEFT_TRACE_MOST];
};

struct wf_loop_promise {
    weft_promise cell; /* first */
    struct wf_loop_home *home;
    struct wf_list node;            /* in home->pending, or rejected: in the loop's unhandled or in home->late */
    struct wf_loop_job telling;     /* on its way there */
    bool is_ticket_open;            /* under the cell's lock */
    uint32_t ticket;                /* the same: of the last resolver */
    struct wf_promise_trace *trace; /* or NULL; constant */
    struct wf_promisify *work;      /* that settles it, with a reference; or NULL; constant */

    /* The reaction, which holds a reference to this cell. */
    struct wf_follower follower;
    struct wf_loop_job job;
    weft_promise *source; /* with a reference: rejected, or to be adopted; NULL: resolved, with the next two */
    void *value;
    struct wf_owned *owned; /* with a reference */
    weft_promise *replaced; /* finally: what its handler returned was rejected, with a reference */
    union {
        weft_on_value on_value;
        weft_loop_work fn;
        weft_thenable then;
    } call;
    weft_on_error on_error;
    void *arg;
    bool is_finally;
    uint8_t hops; /* microtasks until it is settled */
};

extern const struct wf_home wf_loop_home_calls;

/* loop/promise.c */
/* NULL: no memory. */
struct wf_loop_home *wf_loop_home(weft_loop *loop);
/* With that many references; NULL: no memory. */
struct wf_loop_promise *wf_loop_promise_make(struct wf_loop_home *home, bool is_derived, uint32_t references);
static inline struct wf_loop_promise *wf_loop_promise_of(weft_promise *promise) {
    return promise->home == &wf_loop_home_calls ? (struct wf_loop_promise *)promise : NULL;
}
/* The loop's end will settle it. False: that is over, or nobody but the owner may begin anything. */
bool wf_loop_promise_register(struct wf_loop_promise *promise);
/* Into the microtasks of the home's loop. Returns 0, -EPIPE. */
int wf_loop_home_post(struct wf_loop_home *home, struct wf_loop_job *job);
static inline bool wf_loop_home_is_mine(struct wf_loop_home *home) {
    weft_loop *loop = wf_load_relaxed(&home->loop); /* if it is ours, it is there: only its owner ends it */
    return loop && wf_loop_is_mine(loop);
}
void wf_loop_home_unref(struct wf_loop_home *home);
struct wf_settled wf_settled_by_end(void);

/* loop/reaction.c */
/* A reply, by the reaction of that promise, whose reference is used up. */
void wf_loop_promise_reply(struct wf_loop_promise *promise, const weft_reply *reply, struct wf_settlement *settlement);
/* Settles it, and gives the reaction's reference back. */
void wf_loop_promise_finish(struct wf_loop_promise *promise, const struct wf_settled *how,
                            struct wf_settlement *settlement);
/* loop/promisify.c */
void wf_promisify_unref(struct wf_promisify *work);

/* Calls fn(arg), and makes a panic an error, whose text goes to buffer. */
weft_reply wf_loop_reply_of(weft_loop_work fn, void *arg, char *buffer, size_t size);

#endif
