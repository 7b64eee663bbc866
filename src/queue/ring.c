/* SPDX-License-Identifier: MIT
 *
 * queue/ring.c - taking many at once: steal half, export half. Layout, invariants and pairs A to D: queue/ring.h.
 *
 * Both claim first and read afterwards. What a thief has claimed stays untouched until it moves released up; what the
 * owner has claimed nobody else fills, so it needs no such step.
 */
#include "queue/ring.h"

#ifdef WF_MUTANT_RING_RELAXED_LOOK
#define RING_LOAD_TAIL wf_load_relaxed
#else
#define RING_LOAD_TAIL wf_load_acquire
#endif

static uint32_t ring_claim(struct wf_ring *victim, uint32_t limit, uint32_t *first_index, bool *is_busy);
static void ring_release(struct wf_ring *victim);

int wf_ring_steal_one_thief(struct wf_ring *victim, struct wf_task **first) {
    uint32_t from;
    bool is_busy = false;
    if (ring_claim(victim, 1, &from, &is_busy) == 0)
        return is_busy ? -1 : 0;
    *first = wf_load_relaxed(wf_ring_slot(victim, from));
    ring_release(victim);
    return 1;
}

int wf_ring_steal_thief(struct wf_ring *victim, struct wf_ring *own, struct wf_task **first) {
    WF_ASSERT(victim != own);
    uint32_t own_tail = wf_load_relaxed(&own->tail);
    uint32_t room = WF_RING_CAPACITY - (own_tail - wf_ring_released(wf_load_acquire(&own->head))); /* D */
    uint32_t from;
    bool is_busy = false;
    uint32_t count = ring_claim(victim, room + 1, &from, &is_busy);
    if (count == 0)
        return is_busy ? -1 : 0;
    *first = wf_load_relaxed(wf_ring_slot(victim, from));
    for (uint32_t i = 1; i < count; i++) {
        struct wf_task *task = wf_load_relaxed(wf_ring_slot(victim, from + i));
        wf_store_relaxed(wf_ring_slot(own, own_tail + i - 1), task);
    }
    ring_release(victim);
    if (count > 1)
        WF_RING_STORE_TAIL(&own->tail, own_tail + count - 1); /* A */
    return (int)count;
}

/* Moves claimed over half of the tasks, at most limit. Returns how many; 0 when there are none, or is_busy: another
 * thief is copying. The owner can make the step fail only by taking a task itself, so trying again ends. */
static uint32_t ring_claim(struct wf_ring *victim, uint32_t limit, uint32_t *first_index, bool *is_busy) {
    uint64_t head = wf_load_acquire(&victim->head); /* D */
    for (;;) {
        uint32_t claimed = wf_ring_claimed(head);
        uint32_t size = RING_LOAD_TAIL(&victim->tail) - claimed; /* B */
        WF_ASSERT((int32_t)size >= 0);
        if (size == 0)
            return 0;
#ifndef WF_MUTANT_RING_TWO_THIEVES
        if (wf_ring_released(head) != claimed) {
            *is_busy = true;
            return 0;
        }
#endif
        uint32_t count = size - size / 2;
        if (count > WF_RING_CAPACITY / 2) /* head is outdated: the step would fail, but not before a wrong copy */
            count = WF_RING_CAPACITY / 2;
        if (count > limit)
            count = limit;
        *first_index = claimed;
        if (wf_cas_acq_rel(&victim->head, &head, wf_ring_head(claimed, claimed + count))) /* C, D */
            return count;
    }
}

/* The owner may have popped meanwhile, so claimed is wherever it is now. */
static void ring_release(struct wf_ring *victim) {
    uint64_t head = wf_load_relaxed(&victim->head);
    while (!WF_RING_CAS_HEAD(&victim->head, &head, wf_ring_head(wf_ring_claimed(head), wf_ring_claimed(head)))) /* C */
        continue;
}

/* The ring is full, so index tail names the same slot as index head: once all tasks are claimed, the older half already
 * lies where pushing it back would put it. */
uint32_t wf_ring_export_owner(struct wf_ring *ring, struct wf_chain *out) {
    const uint32_t half = WF_RING_CAPACITY / 2;
    uint32_t tail = wf_load_relaxed(&ring->tail);
    uint64_t head = wf_load_relaxed(&ring->head);
    if (tail - wf_ring_claimed(head) < WF_RING_CAPACITY)
        return 0; /* thieves took some, or are about to */
#ifdef WF_MUTANT_RING_EXPORT_WITHOUT_CLAIM
    tail -= WF_RING_CAPACITY;
#else
    if (!WF_RING_CAS_HEAD(&ring->head, &head, wf_ring_head(tail, tail))) /* C */
        return 0;
#endif
    for (uint32_t i = half; i < WF_RING_CAPACITY; i++)
        wf_chain_append(out, wf_load_relaxed(wf_ring_slot(ring, tail + i)));
    WF_RING_STORE_TAIL(&ring->tail, tail + half); /* A */
    return half;
}
