/* SPDX-License-Identifier: MIT
 *
 * base/heap.h - a 4-ary heap of (key, sequence) pairs whose nodes know where they stand.
 *
 * The array holds the keys, so that a comparison touches no node: 24 bytes an entry, four children in little more than
 * one cache line. A node stores its index, so that it can be taken out from the middle in O(log n). Equal keys come out
 * in the order of their sequence numbers.
 *
 * Memory belongs to the caller, who makes room before an insert. Not synchronised.
 */
#ifndef WF_BASE_HEAP_H
#define WF_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define WF_HEAP_OUTSIDE UINT32_MAX

struct wf_heap_node {
    uint32_t index; /* in the heap, or WF_HEAP_OUTSIDE */
};

struct wf_heap_entry {
    int64_t key;
    uint64_t sequence;
    struct wf_heap_node *node;
};

struct wf_heap {
    struct wf_heap_entry *entries;
    uint32_t count;
    uint32_t capacity;
};

/* Room for one more is the caller's duty: count < capacity. */
void wf_heap_insert(struct wf_heap *heap, struct wf_heap_node *node, int64_t key, uint64_t sequence);
/* Takes a node out that is in the heap. */
void wf_heap_remove(struct wf_heap *heap, struct wf_heap_node *node);
/* The node with the smallest key, still inside; NULL when the heap is empty. */
struct wf_heap_node *wf_heap_first(const struct wf_heap *heap);

#endif
