/* SPDX-License-Identifier: MIT
 *
 * loop/abort.h - what the files about abort signals share.
 *
 * A *root* is aborted by hand or by its timer; a *derived* signal only by its roots. What is derived from a derived one follows
 * the roots of that, so there are two levels and no more. A derived signal has a *link* for each root and holds a reference
 * on it; the root lists the links of those that follow it and holds none on them.
 *
 *     PENDING --fire--> ABORTED: it has its reason, handlers run --none left--> DELIVERED: a new one runs where it comes from
 *
 * Locks: relations of a root, which is held while the root and all that follow it are given their reason, then the lock of one
 * signal at a time, since a select holds several of those in the order of their addresses; inside that the lock of the
 * loop, for its timer. No lock is held while a handler runs.
 *
 * The last reference of a derived signal may go while one of its roots is fired: it is taken off the root's list under the
 * root's relations before its memory goes, and who finds it there and cannot get a reference leaves it alone.
 *
 * Handlers are in an array in the order of their ids, so that one is found by bisection and a signal with one handler needs
 * little; those that were taken back leave a hole.
 */
#ifndef WF_LOOP_ABORT_H
#define WF_LOOP_ABORT_H

#include "base/list.h"
#include "loop/loop.h"
#include "weft/abort.h"

enum wf_abort_state { WF_ABORT_PENDING, WF_ABORT_ABORTED, WF_ABORT_DELIVERED };

struct wf_abort_entry {
    uint64_t id;
    weft_abort_fn fn; /* NULL: a hole */
    void *arg;
};

struct wf_abort_link {
    struct wf_list node; /* in the root's followers; under its relations */
    weft_abort_signal *root;
    weft_abort_signal *derived;
};

struct weft_abort_signal {
    struct wf_lock relations; /* of a root: its followers, and their being given its reason */
    struct wf_lock lock;
    _Atomic uint32_t references;
    _Atomic uint32_t state; /* wf_abort_state; written under lock, read by anybody */
    bool is_derived;        /* constant, as is_timeout */
    bool is_timeout;
    struct wf_list followers;  /* under relations: wf_abort_link */
    struct wf_waiter *waiters; /* under lock, as all up to link_count */
    struct wf_abort_entry *entries;
    uint32_t first; /* those before it were called */
    uint32_t count;
    uint32_t room;
    uint32_t live;
    uint64_t last_id;
    weft_loop *loop; /* whose timer holds a reference on us; else NULL */
    weft_loop_timer timer;
    struct wf_abort_link *links; /* of a derived one that is pending, link_count of them */
    uint32_t link_count;
    struct wf_waiter *told;  /* of whoever aborts it, as next */
    weft_abort_signal *next; /* derived ones that are aborted together */
    /* constant once aborted */
    weft_abort_signal *origin; /* the root whose reason it has, with a reference; or NULL: its own */
    weft_abort_reason reason;
};

/* A pending signal with one reference, or NULL: no memory. */
weft_abort_signal *wf_abort_make(bool is_derived);
/* Gives a derived signal the reason of a root that is aborted. False: it has one already, or is about to go. Else with a
 * reference on it: the caller detaches it, wakes those in told and calls its handlers. */
bool wf_abort_follow(weft_abort_signal *derived, weft_abort_signal *root);
/* It follows nobody any more. */
void wf_abort_detach(weft_abort_signal *derived);
/* No handler was registered so far: the first that is runs at once. */
void wf_abort_close(weft_abort_signal *signal);

#endif
