/* SPDX-License-Identifier: MIT
 *
 * queue/idle.h - who sleeps, who searches, and whom a new task wakes.
 *
 * A worker without work *searches* (steals, polls), then *parks*. A thread that has published a task *notifies*: it
 * wakes one parked worker, as a searcher, unless somebody searches already. So a burst of tasks wakes a chain of
 * workers, each by its predecessor, and a steady load wakes nobody.
 *
 *     running --search_begin--> searching --search_end--> running (found work)
 *        ^  \                      |   ^
 *        |   \--------park-----.   |   `--notify_any (woken to search)
 *        |                      v  v                     \
 *        +---unpark_self, take--- parked -----------------+
 *
 * The word packs two counts, {searching, parked}, so that both can change in one step. The stack has the indices of
 * the parked workers, most recent on top: that one has the warmest caches.
 *
 * Who writes what
 *   word     searching: anybody, by read-modify-write; parked: the same, but only under lock
 *   stack    under lock; its depth is the parked count
 *   seat[w]  under lock; AWAKE by worker w itself. Read without lock by w, and as a hint by wf_idle_take
 *
 * Invariants
 *   1. A notifier that finds searching > 0 may return, because every searcher ends in one of two ways: it finds work and,
 *      as the last one, looks again and notifies if there is more (wf_idle_search_end); or it parks, and then looks again
 *      at every source.
 *   2. A notifier that finds parked == 0 may return, because whoever parks later looks again at every source.
 *   3. Both rest on one pair of seq_cst fences (store buffering): the notifier publishes its task, fence (A), reads the
 *      word; the sleeper changes the word, fence (B), reads the sources. One of the two sees the other. Both fences are
 *      in this module; the accesses on either side may be relaxed.
 *   4. *Every* parker looks again, also one that never searched because of the cap: the only searcher may have been
 *      somebody who found other work.
 *   5. searching goes down before the sources are looked at again, in the same step in which parked goes up: a notifier
 *      must never be turned away by a searcher that has already finished looking.
 *   6. A notifier raises searching only in the same step in which it takes a worker out, under lock, and only if there is
 *      one. So it never holds a searcher's place that it has to give back: doing that would have turned other notifiers
 *      away for nothing, and would need another look at every source.
 *
 * How a worker uses it, with its parker (queue/parker.h). is_searching and has_seen_work live across rounds:
 *
 *     if (!is_searching)
 *         is_searching = wf_idle_search_begin(idle);
 *     task = is_searching || has_seen_work ? search_everywhere() : NULL;
 *     has_seen_work = false;
 *     if (task) {
 *         if (is_searching ? wf_idle_search_end(idle) && others_have_work() : took_a_batch)
 *             wake(wf_idle_notify_any(idle));                      // chain: unpark that worker, if not -1
 *         is_searching = false;
 *         run(task);
 *     } else {
 *         wf_idle_park(idle, me, is_searching);
 *         has_seen_work = any_source_has_work();                   // all of them: rings, inject, mailbox, stop, timers
 *         if (!has_seen_work)
 *             wf_parker_park(&parker, next_deadline);
 *         is_searching = !wf_idle_unpark_self(idle, me) && wf_idle_woken_to_search(idle, me);
 *     }
 *
 * has_seen_work lets a worker that saw something go for it when the cap denies it a place: otherwise it would go round
 * without a pause until the searcher has taken it. For the one task it takes it owes nobody a notification. But moving a
 * batch into one's own ring (a steal, a pop from the injection queue) publishes the others there, and is notified like
 * a push by whoever is not a searcher: while they were on their way, no re-check could see them.
 *
 * How a producer uses it: put the task in, then wake(wf_idle_notify_any(idle)), where wake(w) is wf_parker_unpark on
 * worker w's parker if w is not -1. For a mailbox: if the push returned true and wf_idle_take(idle, owner), wake(owner).
 * A batch of n tasks needs one notification only: the chain does the rest.
 *
 * wf_idle_unpark_self returning false means that somebody took this worker, so a token for its parker is on its way or
 * was the one that woke it. There is no need to wait for it: if it comes later, it cuts the next sleep short.
 */
#ifndef WF_QUEUE_IDLE_H
#define WF_QUEUE_IDLE_H

#include "base/atomic.h"
#include "queue/lock.h"

struct wf_idle {
    _Alignas(64) _Atomic uint32_t word; /* searching in the low half, parked in the high half */
    _Alignas(64) struct wf_lock lock;
    uint32_t capacity;     /* workers have indices below this; constant */
    uint32_t searcher_cap; /* constant */
    uint32_t depth;        /* under lock */
    uint32_t *stack;       /* under lock */
    _Atomic uint8_t *seat; /* by worker: enum in idle.c */
};

/* For workers 0 to capacity - 1 (at most 65535), of which at most searcher_cap search at a time (0 means 1). Returns 0
 * or -ENOMEM. */
int wf_idle_init(struct wf_idle *idle, uint32_t capacity, uint32_t searcher_cap);
void wf_idle_term(struct wf_idle *idle);

/* After a task has been published: the worker that the caller has to unpark, or -1. That worker has left the idle set
 * and counts as searching. Begins with the fence A, which also covers the caller's publication. */
int wf_idle_notify_any(struct wf_idle *idle);
/* The same with a wish: that worker, if it is parked; and with one that is left alone where another is parked. Numbers that
 * no worker has are no wish. */
int wf_idle_notify_near(struct wf_idle *idle, uint32_t wish, uint32_t spared);

/* Asks for a searcher's place. False: enough others search; do not search, but look again after parking all the same. */
bool wf_idle_search_begin(struct wf_idle *idle);
/* Gives the place back, after work was found. True when it was the last one: the caller then looks at every shared source
 * again, before it runs what it found, and notifies once if there is more. Ends with the fence B in that case, so that
 * whoever was turned away by this searcher has published what the look will see. */
bool wf_idle_search_end(struct wf_idle *idle);

/* Enters the idle set, giving a searcher's place back in the same step if it had one. Ends with the fence B: the caller
 * has to look at every source again before it sleeps. */
void wf_idle_park(struct wf_idle *idle, uint32_t worker, bool was_searching);
/* Leaves the idle set after a sleep or instead of one. True: the worker took itself out. False: somebody else had taken
 * it out; wf_idle_woken_to_search tells as what. */
bool wf_idle_unpark_self(struct wf_idle *idle, uint32_t worker);
/* After wf_idle_unpark_self returned false: true when a notifier took this worker, which therefore counts as searching;
 * false when it was wf_idle_take. */
bool wf_idle_woken_to_search(struct wf_idle *idle, uint32_t worker);

/* After something was published that only this worker can run: takes exactly this worker out, not as a searcher. True:
 * the caller has to unpark it. False: it is awake, or somebody else is waking it; it looks before it sleeps. Begins with
 * the fence A. */
bool wf_idle_take(struct wf_idle *idle, uint32_t worker);

/* Whether it was in the idle set a moment ago. */
bool wf_idle_is_seated_any(struct wf_idle *idle, uint32_t worker);
/* Both counts as they were a moment ago. */
uint32_t wf_idle_searching_any(struct wf_idle *idle);
uint32_t wf_idle_parked_any(struct wf_idle *idle);

#endif
