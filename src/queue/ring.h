/* SPDX-License-Identifier: MIT
 *
 * queue/ring.h - the run queue of a processor: a bounded FIFO that thieves halve.
 *
 *            head                 tail
 *     . . . . [t0][t1][t2][t3][t4] . . . .        slot of index i: i modulo the capacity
 *             ^                   ^
 *             pop and steal       push
 *
 * One owner pushes at tail and pops at head; any other thread may steal half of it at head. The owner is whoever holds
 * the processor; when a processor changes hands, the hand-over itself orders the two owners.
 *
 * Who writes what
 *   head   anybody, by compare and swap only, and only upwards: moving it from h to h + n *is* taking the n tasks at h
 *   tail   owner only
 *   slot   owner only, and only at indices in [tail, head + capacity); atomic, because a thief with an outdated head
 *          may read a slot while the owner fills it again. Its compare and swap then fails and it forgets what it read
 *
 * Invariants (indices are 32 bits and wrap; differences are what counts)
 *   - 0 <= tail - head <= capacity.
 *   - A task is in exactly one place: its index is in [head, tail), or somebody has claimed it.
 *   - Claims are made from the oldest end, so a single consumer sees the order of the pushes.
 *   - An outdated head cannot be claimed, unless exactly a multiple of 2^32 tasks went by between a thief's two
 *     accesses; at a task a nanosecond that is a thief asleep for a multiple of 4.3 s, to the task. Accepted.
 *
 * Pairs
 *   A  push stores tail (release)          B  steal loads tail (acquire): the slots and the tasks behind them
 *   C  every claim moves head (release)    D  push and steal load head (acquire): a slot is filled again only after
 *                                             its last reader has read it, and no thief sees a tail behind its head
 * Emptiness as a park re-check needs more: a seq_cst fence on both sides, which queue/idle.h has.
 *
 * The struct owns whole cache lines: allocate it with wf_os_alloc_aligned(64, ...). All zero is an empty ring.
 */
#ifndef WF_QUEUE_RING_H
#define WF_QUEUE_RING_H

#include "base/assert.h"
#include "base/atomic.h"
#include "base/task.h"

/* 256: 2 KiB of slots stay in the first-level cache, and an export of half of it pays for the lock of the injection
 * queue 128 times. Test builds set 4 or 8, so that overflow is the daily case. */
#ifndef WF_RING_CAPACITY
#define WF_RING_CAPACITY 256
#endif
_Static_assert((WF_RING_CAPACITY & (WF_RING_CAPACITY - 1)) == 0, "indices wrap: the capacity is a power of two");
_Static_assert(WF_RING_CAPACITY >= 2, "half of it is at least one task");

struct wf_ring {
    _Alignas(64) _Atomic uint32_t head;
    _Alignas(64) _Atomic uint32_t tail;
    _Atomic(struct wf_task *) slot[WF_RING_CAPACITY];
};

/* Mutants, found by tests/model/model_ring.c. */
#ifdef WF_MUTANT_RING_RELAXED_PUSH
#define WF_RING_STORE_TAIL wf_store_relaxed
#else
#define WF_RING_STORE_TAIL wf_store_release
#endif
#ifdef WF_MUTANT_RING_RELAXED_CLAIM
#define WF_RING_CAS_HEAD wf_cas_relaxed
#else
#define WF_RING_CAS_HEAD wf_cas_release
#endif

static inline _Atomic(struct wf_task *) *wf_ring_slot(struct wf_ring *ring, uint32_t index) {
    return &ring->slot[index & (WF_RING_CAPACITY - 1)];
}

/* Appends a task. Returns false when the ring is full: then wf_ring_export_owner makes room. */
static inline bool wf_ring_push_owner(struct wf_ring *ring, struct wf_task *task) {
    uint32_t tail = wf_load_relaxed(&ring->tail);
    uint32_t head = wf_load_acquire(&ring->head); /* D */
    if (WF_UNLIKELY(tail - head >= WF_RING_CAPACITY))
        return false;
    wf_store_relaxed(wf_ring_slot(ring, tail), task);
    WF_RING_STORE_TAIL(&ring->tail, tail + 1); /* A */
    return true;
}

/* Takes the oldest task; NULL when there is none. */
static inline struct wf_task *wf_ring_pop_owner(struct wf_ring *ring) {
    uint32_t tail = wf_load_relaxed(&ring->tail);
    uint32_t head = wf_load_relaxed(&ring->head);
    while (head != tail) {
        struct wf_task *task = wf_load_relaxed(wf_ring_slot(ring, head));
#ifdef WF_MUTANT_RING_POP_WITHOUT_CAS
        wf_store_release(&ring->head, head + 1);
        return task;
#else
        if (WF_LIKELY(WF_RING_CAS_HEAD(&ring->head, &head, head + 1))) /* C */
            return task;
#endif
    }
    return NULL;
}

/* Takes half of the victim's tasks, rounded up, from its oldest end, at most as many as fit. The oldest goes to *first,
 * the others are appended to the thief's own ring in order. Returns how many were taken; 0 when the victim was empty;
 * -1 when another thread got in between, which means "maybe work" and must not be taken for empty before a sleep.
 * The caller owns own; victim and own differ. */
int wf_ring_steal_thief(struct wf_ring *victim, struct wf_ring *own, struct wf_task **first);

/* Makes room in a full ring: appends its newer half to *out, oldest first, and keeps the older half. Returns how many
 * went out: half the capacity, or 0 when thieves have made room meanwhile. In both cases a push can succeed now.
 * While it works, thieves see an empty ring; so the push that follows must be notified, as every push. */
uint32_t wf_ring_export_owner(struct wf_ring *ring, struct wf_chain *out);

/* How many tasks there were a moment ago. */
static inline uint32_t wf_ring_size_any(struct wf_ring *ring) {
    uint32_t head = wf_load_acquire(&ring->head); /* D: before tail, so that the difference is never negative */
    uint32_t size = wf_load_relaxed(&ring->tail) - head;
    return size < WF_RING_CAPACITY ? size : WF_RING_CAPACITY;
}

static inline bool wf_ring_is_empty_any(struct wf_ring *ring) {
    return wf_ring_size_any(ring) == 0;
}

#endif
