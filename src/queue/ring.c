/* SPDX-License-Identifier: MIT
 *
 * queue/ring.c - taking many at once: steal half, export half. Layout, invariants and pairs A to D: queue/ring.h.
 *
 * Both read or place the tasks first and claim them afterwards, or claim first and read afterwards, for one reason
 * each: a thief has to read before its claim, because after it the owner may fill the slots again; the owner may read
 * after its claim, because nobody else fills slots.
 */
#include "queue/ring.h"

#ifdef WF_MUTANT_RING_RELAXED_LOOK
#define RING_LOAD_TAIL wf_load_relaxed
#else
#define RING_LOAD_TAIL wf_load_acquire
#endif

int wf_ring_steal_thief(struct wf_ring *victim, struct wf_ring *own, struct wf_task **first) {
    WF_ASSERT(victim != own);
    uint32_t head = wf_load_acquire(&victim->head);       /* D */
    uint32_t size = RING_LOAD_TAIL(&victim->tail) - head; /* B */
    WF_ASSERT((int32_t)size >= 0);
    if (size == 0)
        return 0;
    if (size > WF_RING_CAPACITY)
        return -1; /* head is outdated: the claim below would fail */

    uint32_t own_tail = wf_load_relaxed(&own->tail);
    uint32_t room = WF_RING_CAPACITY - (own_tail - wf_load_acquire(&own->head)); /* D */
    uint32_t count = size - size / 2;
    if (count > room + 1)
        count = room + 1;

    struct wf_task *oldest = wf_load_relaxed(wf_ring_slot(victim, head));
    for (uint32_t i = 1; i < count; i++) {
        struct wf_task *task = wf_load_relaxed(wf_ring_slot(victim, head + i));
        wf_store_relaxed(wf_ring_slot(own, own_tail + i - 1), task);
    }
    if (!WF_RING_CAS_HEAD(&victim->head, &head, head + count)) /* C */
        return -1;
    if (count > 1)
        WF_RING_STORE_TAIL(&own->tail, own_tail + count - 1); /* A */
    *first = oldest;
    return (int)count;
}

/* The ring is full, so index tail names the same slot as index head: once all tasks are claimed, the older half already
 * lies where pushing it back would put it. */
uint32_t wf_ring_export_owner(struct wf_ring *ring, struct wf_chain *out) {
    const uint32_t half = WF_RING_CAPACITY / 2;
    uint32_t tail = wf_load_relaxed(&ring->tail);
    uint32_t head = wf_load_relaxed(&ring->head);
    if (tail - head < WF_RING_CAPACITY)
        return 0;
#ifdef WF_MUTANT_RING_EXPORT_WITHOUT_CLAIM
    tail -= WF_RING_CAPACITY;
#else
    if (!WF_RING_CAS_HEAD(&ring->head, &head, tail)) /* C */
        return 0;
#endif
    for (uint32_t i = half; i < WF_RING_CAPACITY; i++)
        wf_chain_append(out, wf_load_relaxed(wf_ring_slot(ring, tail + i)));
    WF_RING_STORE_TAIL(&ring->tail, tail + half); /* A */
    return half;
}
