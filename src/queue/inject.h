/* SPDX-License-Identifier: MIT
 *
 * queue/inject.h - the global queue: any thread puts tasks in, any worker takes them out, first in first out.
 *
 * For tasks from outside the workers, and for what overflows from a run ring. A lock and an intrusive chain: it is the
 * rare path, batches make it rarer, and a lock cannot lose a task.
 *
 * Who writes what
 *   chain    under lock
 *   length   under lock; read by anybody, so that looking into an empty queue costs no lock
 *
 * Invariants
 *   - length == chain.count whenever the lock is free.
 *   - length is raised before the push returns. It is not an announcement by itself: a push is followed by
 *     wf_idle_notify_any, whose seq_cst fence, with that of wf_idle_park, makes either the pusher see the sleeper or
 *     the sleeper's re-check see the length. So relaxed accesses of length are enough.
 *
 * All zero is an empty queue.
 */
#ifndef WF_QUEUE_INJECT_H
#define WF_QUEUE_INJECT_H

#include "base/task.h"
#include "queue/lock.h"

struct wf_inject {
    struct wf_lock lock;
    _Atomic size_t length;
    struct wf_chain chain;
};

void wf_inject_init(struct wf_inject *inject);

void wf_inject_push_any(struct wf_inject *inject, struct wf_task *task);
/* Appends a whole chain, and leaves *chain empty. An empty chain is fine. */
void wf_inject_push_chain_any(struct wf_inject *inject, struct wf_chain *chain);
/* Moves up to max of the oldest tasks to the end of *out. Returns how many; takes no lock when there is nothing. */
size_t wf_inject_pop_any(struct wf_inject *inject, size_t max, struct wf_chain *out);

static inline size_t wf_inject_size_any(struct wf_inject *inject) {
    return wf_load_relaxed(&inject->length);
}

static inline bool wf_inject_is_empty_any(struct wf_inject *inject) {
    return wf_inject_size_any(inject) == 0;
}

#endif
