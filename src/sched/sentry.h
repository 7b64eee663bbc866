/* SPDX-License-Identifier: MIT
 *
 * sched/sentry.h - descriptors that the engine's poller watches for somebody.
 *
 * A *sentry* stands at one descriptor. While it is armed, the poller has that in its set; when it is readable, ready is called
 * once, and the sentry has to be armed again for the next time. One that lasts is armed from its addition to its removal, and
 * is told every time something is new: what can be read, that there is room again, that the other side has gone.
 *
 *     outside --add--> armed --readable--> told --arm--> armed        remove leads outside from everywhere
 *
 * Who looks: the worker that sleeps in the poller. While all are busy nobody sleeps there; then a worker takes the poller's
 * place for a look without waiting, every so often, on the visits of its loop. If all compute without coming to their loop,
 * the monitor sees that nobody looks, and an idle worker, or one more, is called. An engine without armed sentries pays one
 * load a visit for all this.
 *
 * What the kernel reports is a tag, index and generation of a slot; the poller may have one in hand whose sentry has gone by
 * then, or has made way for another. So it takes the lock, finds the sentry by its tag, and counts itself in; ready is
 * called without the lock; and remove waits for those who are counted. Somebody who has a poller of its own, without an
 * engine, has sentries of its own and tells them itself.
 *
 * Lock order: whatever ready takes is taken before the lock here. Nobody holds ours while ready runs.
 */
#ifndef WF_SCHED_SENTRY_H
#define WF_SCHED_SENTRY_H

#include "os/poll.h"
#include "queue/lock.h"
#include "queue/parker.h"

struct wf_sentries;
struct wf_worker;

/* The memory is its owner's, all zero but for ready and lasts before it is added. */
struct wf_sentry {
    /* On a worker of the engine, which runs no task at the time; must not block, nor remove. Constant. */
    void (*ready)(struct wf_sentry *sentry, uint32_t events);
    struct wf_sentries *sentries; /* its owner's: where it was added, or NULL */
    bool lasts;                   /* constant */
    /* under the lock of those sentries */
    int fd;
    uint32_t index;
    uint32_t calls; /* of ready, that have not returned */
    bool is_armed;
    struct wf_parker *remover; /* who waits for them */
};

struct wf_sentry_slot {
    struct wf_sentry *sentry; /* or NULL */
    uint32_t generation;
    uint32_t next_free; /* index + 1; 0: none */
};

struct wf_sentries {
    struct wf_lock lock;
    struct wf_os_poll *poll;      /* constant */
    bool lasts;                   /* constant: as long as the process, and so does the memory */
    struct wf_sentry_slot *slots; /* under lock; so are the next three */
    uint32_t count;
    uint32_t room;
    uint32_t first_free;       /* index + 1; 0: none */
    _Atomic uint32_t armed;    /* how many are; written under lock */
    _Atomic int64_t looked_at; /* when somebody last had a look */
};

/* add and arm: it is armed from now on; arm, of one that was added, also when it is already. Any thread; one at a time for each
 * sentry. Return 0; -ENOMEM, -ENOSPC, -EPERM, -EBADF, -ELOOP: it is outside, or not armed. */
int wf_sentry_add(struct wf_sentries *sentries, struct wf_sentry *sentry, int fd);
int wf_sentry_arm(struct wf_sentry *sentry);
/* When it returns, ready does not run and will not. Any thread, while fd is open and without locks that ready takes. */
void wf_sentry_remove(struct wf_sentry *sentry);

/* All zero but for this. */
static inline void wf_sentries_init(struct wf_sentries *sentries, struct wf_os_poll *poll) {
    sentries->poll = poll;
}
/* The worker's loop: a look without waiting, unless there was one lately, or somebody polls. */
void wf_sentries_look_owner(struct wf_worker *worker, int64_t now);
/* What somebody was told in the poller, at most WF_POLL_MOST, and has not passed on yet: *count becomes 0. */
void wf_sentries_tell(struct wf_sentries *sentries, const struct wf_os_ready *told, uint32_t *count);
void wf_sentries_term(struct wf_sentries *sentries);

#endif
