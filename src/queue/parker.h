/* SPDX-License-Identifier: MIT
 *
 * queue/parker.h - one thread's bed: it sleeps here, anybody wakes it.
 *
 * The word holds at most one token. An unpark leaves a token, a park waits for one and consumes it; an unpark that
 * comes first makes the next park return at once, and several make it return once. A thread can sleep in two ways: on
 * the word itself (PARKED, a futex), or in epoll (POLLING), where only a write to its eventfd reaches it.
 *
 *     from \ by   park        poll_begin   unpark                       park or poll returning
 *     EMPTY       PARKED      POLLING      NOTIFIED                     -
 *     PARKED      -           -            NOTIFIED, futex wake         EMPTY (deadline)
 *     POLLING     -           -            NOTIFIED, caller wakes epoll EMPTY (an event, or its time is up)
 *     NOTIFIED    EMPTY, go   EMPTY, go    NOTIFIED                     EMPTY (token consumed)
 *
 * park, poll_begin and poll_end belong to the one thread that sleeps here; anybody may unpark at any time.
 *
 * Invariants
 *   - Every transition is a read-modify-write, so no token is overwritten unseen: an unpark that finds a token already
 *     there makes no system call, and therefore relies on that token's consumer reading *its* exchange.
 *   - What was written before an unpark (A, release) is visible after the park, poll_begin or poll_end that consumed its
 *     token (B, acquire), also when several unparks left one token: they are one release sequence.
 *   - An unpark touches the parker by its exchange and not afterwards, but for the futex wake of a PARKED one. The
 *     sleeper may have seen the token and freed the parker before that wake: the kernel looks the address up without
 *     reading the word, so that is harmless (at worst a spurious return of somebody else who sleeps at that address).
 *     A caller that gets true has to write the eventfd, so the eventfd has to outlive the unparkers.
 *
 * The token says "look again", not "there is work": whoever wakes looks at everything it may have been woken for.
 * All zero is an empty parker.
 */
#ifndef WF_QUEUE_PARKER_H
#define WF_QUEUE_PARKER_H

#include "base/atomic.h"

enum { WF_PARKER_EMPTY, WF_PARKER_PARKED, WF_PARKER_POLLING, WF_PARKER_NOTIFIED };

struct wf_parker {
    _Atomic uint32_t word; /* any thread, by read-modify-write only */
};

static inline void wf_parker_init(struct wf_parker *parker) {
    wf_store_relaxed(&parker->word, WF_PARKER_EMPTY);
}

/* Sleeps until there is a token, and consumes it: true. False once the absolute monotonic deadline has passed
 * (INT64_MAX: none). Spurious wakes of the futex stay inside. */
bool wf_parker_park(struct wf_parker *parker, int64_t deadline_ns);

/* Announces a sleep in epoll. False when there was a token, which is consumed: do not sleep, or only look. */
bool wf_parker_poll_begin(struct wf_parker *parker);
/* Ends what a true wf_parker_poll_begin began. True when a token came meanwhile; it is consumed. The write to the eventfd
 * may still be on its way and then cuts a later poll short, which is harmless. */
bool wf_parker_poll_end(struct wf_parker *parker);

/* Leaves a token and wakes the thread if it sleeps on the futex. Returns true when it sleeps, or is about to sleep, in
 * epoll: then the caller writes its eventfd. */
bool wf_parker_unpark(struct wf_parker *parker);

#endif
