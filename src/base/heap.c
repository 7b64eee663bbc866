/* SPDX-License-Identifier: MIT
 *
 * base/heap.c - sifting.
 *
 * Four children instead of two: half the levels, and the children of one parent lie side by side, so that a million
 * timers cost ten levels of about one cache miss each.
 *
 * Invariants: the entry at i is not after any of its children 4i+1 to 4i+4; entries[i].node->index == i.
 */
#include "base/heap.h"

#include <stddef.h>

#include "base/assert.h"

enum { ARITY = 4 };

static bool is_before(const struct wf_heap_entry *a, const struct wf_heap_entry *b);
static void place(struct wf_heap *heap, uint32_t index, struct wf_heap_entry entry);
static void sift_up(struct wf_heap *heap, uint32_t index, struct wf_heap_entry entry);
static void sift_down(struct wf_heap *heap, uint32_t index, struct wf_heap_entry entry);

void wf_heap_insert(struct wf_heap *heap, struct wf_heap_node *node, int64_t key, uint64_t sequence) {
    WF_ASSERT(heap->count < heap->capacity);
    sift_up(heap, heap->count++, (struct wf_heap_entry){.key = key, .sequence = sequence, .node = node});
}

void wf_heap_remove(struct wf_heap *heap, struct wf_heap_node *node) {
    uint32_t hole = node->index;
    WF_ASSERT(hole < heap->count);
    WF_ASSERT(heap->entries[hole].node == node);
    node->index = WF_HEAP_OUTSIDE;
    struct wf_heap_entry last = heap->entries[--heap->count];
    if (hole == heap->count)
        return;
    if (hole > 0 && is_before(&last, &heap->entries[(hole - 1) / ARITY]))
        sift_up(heap, hole, last);
    else
        sift_down(heap, hole, last);
}

struct wf_heap_node *wf_heap_first(const struct wf_heap *heap) {
    return heap->count ? heap->entries[0].node : NULL;
}

static bool is_before(const struct wf_heap_entry *a, const struct wf_heap_entry *b) {
    return a->key != b->key ? a->key < b->key : a->sequence < b->sequence;
}

static void place(struct wf_heap *heap, uint32_t index, struct wf_heap_entry entry) {
    heap->entries[index] = entry;
    entry.node->index = index;
}

static void sift_up(struct wf_heap *heap, uint32_t index, struct wf_heap_entry entry) {
    while (index > 0) {
        uint32_t parent = (index - 1) / ARITY;
        if (!is_before(&entry, &heap->entries[parent]))
            break;
        place(heap, index, heap->entries[parent]);
        index = parent;
    }
    place(heap, index, entry);
}

static void sift_down(struct wf_heap *heap, uint32_t index, struct wf_heap_entry entry) {
    for (;;) {
        uint64_t first = (uint64_t)index * ARITY + 1;
        if (first >= heap->count)
            break;
        uint32_t best = (uint32_t)first;
        for (uint32_t child = best + 1; child < first + ARITY && child < heap->count; child++)
            if (is_before(&heap->entries[child], &heap->entries[best]))
                best = child;
        if (!is_before(&heap->entries[best], &entry))
            break;
        place(heap, index, heap->entries[best]);
        index = best;
    }
    place(heap, index, entry);
}
