/* SPDX-License-Identifier: MIT
 *
 * base/heap.c - sifting.
 *
 * Four children instead of two: half the levels, and the children of one parent lie side by side, so that a million
 * timers cost ten levels of about one cache miss each.
 *
 * A hole is filled by moving it down to a leaf along the first of the children, and the last entry up from there: it mostly
 * belongs near the leaves, so that on the way down nothing is compared with it. Choosing among four has no branches, which
 * nobody could predict.
 *
 * Invariants: the entry at i is not after any of its children 4i+1 to 4i+4; entries[i].node->index == i.
 */
#include "base/heap.h"

#include <stddef.h>

#include "base/assert.h"

enum { ARITY = 4 };

static uint32_t least_child(const struct wf_heap *heap, uint32_t first);
static void place(struct wf_heap *heap, uint32_t index, struct wf_heap_entry entry);
static void sift_up(struct wf_heap *heap, uint32_t index, struct wf_heap_entry entry);

static inline bool is_before(const struct wf_heap_entry *a, const struct wf_heap_entry *b) {
    bool is_less = a->key < b->key;
    bool is_equal = a->key == b->key;
    return is_less | (is_equal & (a->sequence < b->sequence));
}

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
    for (;;) {
        uint64_t first = (uint64_t)hole * ARITY + 1;
        if (first >= heap->count)
            break;
        uint32_t least = least_child(heap, (uint32_t)first);
        place(heap, hole, heap->entries[least]);
        hole = least;
    }
    sift_up(heap, hole, last);
}

static uint32_t least_child(const struct wf_heap *heap, uint32_t first) {
    const struct wf_heap_entry *entries = heap->entries;
    if (first + ARITY <= heap->count) {
        uint32_t a = first + is_before(&entries[first + 1], &entries[first]);
        uint32_t b = first + 2 + is_before(&entries[first + 3], &entries[first + 2]);
        return is_before(&entries[b], &entries[a]) ? b : a;
    }
    uint32_t least = first;
    for (uint32_t child = first + 1; child < heap->count; child++)
        if (is_before(&entries[child], &entries[least]))
            least = child;
    return least;
}

struct wf_heap_node *wf_heap_first(const struct wf_heap *heap) {
    return heap->count ? heap->entries[0].node : NULL;
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
