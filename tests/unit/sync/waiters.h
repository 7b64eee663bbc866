/* SPDX-License-Identifier: MIT
 *
 * unit/sync/waiters.h - how many wait, read from the queue itself.
 *
 * Whoever is counted has been linked under the object's lock, so what the test does next to the object finds it there. This
 * works for fibers and for plain threads alike, where no state could be asked.
 */
#ifndef WF_UNIT_SYNC_WAITERS_H
#define WF_UNIT_SYNC_WAITERS_H

#include "support/parked.h"
#include "sync/sync.h"
#include "wait/cancel.h"

static inline int count_queue(struct wf_lock *lock, struct wf_waiter **queue) {
    int count = 0;
    wf_lock_take(lock);
    struct wf_waiter *waiter = *queue;
    while (waiter) {
        count++;
        waiter = waiter->next == *queue ? NULL : waiter->next;
    }
    wf_lock_drop(lock);
    return count;
}

/* kind: the inner structure's name, as in WAIT_WAITERS(mutex, &lock, 3). */
#define COUNT_WAITERS(kind, object) \
    count_queue(&((struct wf_##kind *)(object))->lock, &((struct wf_##kind *)(object))->waiters)
#define WAIT_WAITERS(kind, object, number) WAIT_UNTIL(COUNT_WAITERS(kind, object) == (number))

/* A fiber that waits until the test tells it to give up. */
struct quitter {
    struct wf_cancel cancel;
    int (*wait)(void);
    int status;
    weft_fiber fiber;
};

static inline void *quitter_main(void *opaque) {
    struct quitter *quitter = opaque;
    struct wf_member member;
    wf_cancel_enter(&quitter->cancel, &member);
    quitter->status = quitter->wait();
    wf_cancel_leave(&member);
    return NULL;
}

static inline void quitter_start(struct quitter *quitter, int (*wait)(void)) {
    quitter->wait = wait;
    wf_cancel_init(&quitter->cancel, NULL);
    SPAWN(&quitter->fiber, quitter_main, quitter);
}

static inline void quitter_give_up(struct quitter *quitter) {
    CHECK(wf_cancel_fire(&quitter->cancel, -ECANCELED, NULL));
    JOIN(quitter->fiber, NULL);
    CHECK_EQ(quitter->status, -ECANCELED);
    wf_cancel_term(&quitter->cancel);
}

/* Nobody holds it, nobody waits, nothing is left behind: as good as new. */
static inline bool is_all_zero(const void *object, size_t size) {
    const unsigned char *bytes = object;
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

#endif
