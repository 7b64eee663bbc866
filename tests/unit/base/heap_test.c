/* SPDX-License-Identifier: MIT
 *
 * unit/base/heap_test.c - the heap against a sorted model.
 *
 * Random inserts, removals from the middle and from the top; after each step the first node has to be the model's.
 */
#include "base/heap.h"

#include "support/run.h"

enum { MANY = 400 };

struct entry {
    struct wf_heap_node node;
    int64_t key;
    uint64_t sequence;
    bool is_inside;
};

static struct wf_heap_entry memory[MANY];
static struct entry entries[MANY];

static struct entry *model_first(void) {
    struct entry *first = NULL;
    for (int i = 0; i < MANY; i++) {
        struct entry *entry = &entries[i];
        if (entry->is_inside &&
            (!first || entry->key < first->key || (entry->key == first->key && entry->sequence < first->sequence)))
            first = entry;
    }
    return first;
}

static void check_first(struct wf_heap *heap) {
    struct entry *first = model_first();
    CHECK(wf_heap_first(heap) == (first ? &first->node : NULL));
    for (uint32_t i = 0; i < heap->count; i++)
        CHECK_EQ(heap->entries[i].node->index, i);
}

TEST(heap_agrees_with_a_sorted_model) {
    struct wf_heap heap = {.entries = memory, .capacity = MANY};
    uint64_t seed = wf_test_seed(), sequence = 0;
    memset(entries, 0, sizeof entries);
    for (long step = 0; step < scaled(20000, 500); step++) {
        struct entry *entry = &entries[random_below(&seed, MANY)];
        if (entry->is_inside) {
            wf_heap_remove(&heap, &entry->node);
            CHECK_EQ(entry->node.index, WF_HEAP_OUTSIDE);
            entry->is_inside = false;
        } else {
            entry->key = (int64_t)random_below(&seed, 40) - 20;
            entry->sequence = sequence++;
            wf_heap_insert(&heap, &entry->node, entry->key, entry->sequence);
            entry->is_inside = true;
        }
        check_first(&heap);
    }
    struct entry *first;
    while ((first = model_first())) {
        CHECK(wf_heap_first(&heap) == &first->node);
        wf_heap_remove(&heap, &first->node);
        first->is_inside = false;
    }
    CHECK(wf_heap_first(&heap) == NULL);
    CHECK_EQ(heap.count, 0);
}

TEST(heap_gives_equal_keys_in_the_order_of_their_sequence) {
    struct wf_heap heap = {.entries = memory, .capacity = MANY};
    for (int i = 0; i < MANY; i++)
        wf_heap_insert(&heap, &entries[i].node, 7, (uint64_t)(i * 37 % MANY));
    for (int i = 0; i < MANY; i++) {
        struct wf_heap_node *first = wf_heap_first(&heap);
        CHECK_EQ(heap.entries[0].sequence, i);
        wf_heap_remove(&heap, first);
    }
}

TEST(heap_bears_the_extreme_keys) {
    struct wf_heap heap = {.entries = memory, .capacity = MANY};
    wf_heap_insert(&heap, &entries[0].node, INT64_MAX, 0);
    wf_heap_insert(&heap, &entries[1].node, INT64_MIN, 1);
    wf_heap_insert(&heap, &entries[2].node, 0, 2);
    CHECK(wf_heap_first(&heap) == &entries[1].node);
    wf_heap_remove(&heap, &entries[1].node);
    wf_heap_remove(&heap, &entries[2].node);
    CHECK(wf_heap_first(&heap) == &entries[0].node);
}
