/* SPDX-License-Identifier: MIT
 *
 * queue/ring.h - the run queue of a processor: a bounded FIFO that thieves halve.
 *
 *      released   claimed            tail
 *     . [s0][s1][s2][t0][t1][t2][t3][t4] . . . .        slot of index i: i modulo the capacity
 *        ^          ^                   ^
 *        being      pop and steal       push
 *        copied out
 *
 * One owner pushes at tail and pops at claimed; any other thread may steal half of it there. The owner is whoever holds
 * the processor; when a processor changes hands, the hand-over itself orders the two owners.
 *
 * A thief first claims, by moving claimed in one compare and swap, then copies at leisure, then moves released up to
 * claimed. So a thief needs only one quick step against an owner that pops every few nanoseconds; copying first and
 * claiming afterwards would nearly always fail. One thief at a time: while released and claimed differ, others go on.
 *
 * Who writes what
 *   head   {released, claimed} in one word; anybody, by compare and swap only, and only upwards: moving claimed from h to
 *          h + n *is* taking the n tasks at h
 *   tail   owner only
 *   slot   owner only, and only at indices in [tail, released + capacity)
 *
 * Invariants (indices are 32 bits and wrap; differences are what counts)
 *   - released <= claimed <= tail <= released + capacity.
 *   - A task is in exactly one place: its index is in [claimed, tail), or somebody has claimed it.
 *   - Claims are made from the oldest end, so a single consumer sees the order of the pushes.
 *   - An outdated head cannot be claimed, unless exactly a multiple of 2^32 tasks went by between a thief's two
 *     accesses; at a task a nanosecond that is a thief asleep for a multiple of 4.3 s, to the task. Accepted.
 *
 * Pairs
 *   A  push stores tail (release)          B  steal loads tail (acquire): the slots and the tasks behind them
 *   C  every move of head (release)        D  push and steal load head (acquire): a slot is filled again only after
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
    _Alignas(64) _Atomic uint64_t head; /* released in the upper half, claimed in the lower */
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

#ifdef WF_MUTANT_RING_PUSH_FORGETS_THIEF
#define WF_RING_PUSH_LIMIT wf_ring_claimed
#else
#define WF_RING_PUSH_LIMIT wf_ring_released
#endif

static inline uint32_t wf_ring_claimed(uint64_t head) {
    return (uint32_t)head;
}

static inline uint32_t wf_ring_released(uint64_t head) {
    return (uint32_t)(head >> 32);
}

static inline uint64_t wf_ring_head(uint32_t released, uint32_t claimed) {
    return (uint64_t)released << 32 | claimed;
}

static inline _Atomic(struct wf_task *) *wf_ring_slot(struct wf_ring *ring, uint32_t index) {
    return &ring->slot[index & (WF_RING_CAPACITY - 1)];
}

/* Appends a task. Returns false when the ring is full, or when what a thief is copying out leaves no room: then see
 * wf_ring_export_owner. */
static inline bool wf_ring_push_owner(struct wf_ring *ring, struct wf_task *task) {
    uint32_t tail = wf_load_relaxed(&ring->tail);
    uint64_t head = wf_load_acquire(&ring->head); /* D */
    if (WF_UNLIKELY(tail - WF_RING_PUSH_LIMIT(head) >= WF_RING_CAPACITY))
        return false;
    wf_store_relaxed(wf_ring_slot(ring, tail), task);
    WF_RING_STORE_TAIL(&ring->tail, tail + 1); /* A */
    return true;
}

/* Takes the oldest task; NULL when there is none. */
static inline struct wf_task *wf_ring_pop_owner(struct wf_ring *ring) {
    uint32_t tail = wf_load_relaxed(&ring->tail);
    uint64_t head = wf_load_relaxed(&ring->head);
    while (wf_ring_claimed(head) != tail) {
        uint32_t claimed = wf_ring_claimed(head);
        uint32_t released = wf_ring_released(head);
        struct wf_task *task = wf_load_relaxed(wf_ring_slot(ring, claimed));
        uint64_t next = wf_ring_head(released == claimed ? claimed + 1 : released, claimed + 1);
#ifdef WF_MUTANT_RING_POP_WITHOUT_CAS
        wf_store_release(&ring->head, next);
        return task;
#else
        if (WF_LIKELY(WF_RING_CAS_HEAD(&ring->head, &head, next))) /* C */
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
/* The same for one task, by anybody: no ring of its own is needed. */
int wf_ring_steal_one_thief(struct wf_ring *victim, struct wf_task **first);

/* Makes room in a full ring: appends its newer half to *out, oldest first, and keeps the older half. Returns how many
 * went out: half the capacity, and a push will succeed now; or 0 when a thief is at work, and a push may still fail: then
 * the task goes elsewhere. While it works, thieves see an empty ring; so the push that follows must be notified, as every
 * push. */
uint32_t wf_ring_export_owner(struct wf_ring *ring, struct wf_chain *out);

/* How many tasks there were a moment ago. */
static inline uint32_t wf_ring_size_any(struct wf_ring *ring) {
    uint64_t head = wf_load_acquire(&ring->head); /* D: before tail, so that the difference is never negative */
    uint32_t size = wf_load_relaxed(&ring->tail) - wf_ring_claimed(head);
    return size < WF_RING_CAPACITY ? size : WF_RING_CAPACITY;
}

static inline bool wf_ring_is_empty_any(struct wf_ring *ring) {
    return wf_ring_size_any(ring) == 0;
}

#endif
