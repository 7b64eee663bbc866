/* SPDX-License-Identifier: MIT
 *
 * loop/slab.c - chunks of records and a list of free ones. Model: loop/slab.h.
 *
 * Chunks are never moved, and given back only while nothing is used, so a pointer to a record stays good for as long as it is used.
 * A slot is found by its index without a search; the generation in the id says whether it is still the same.
 */
#include "loop/slab.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "os/memory.h"

enum { KEPT_CHUNKS = 16 };

static int slab_grow(struct wf_slab *slab);

void wf_slab_init(struct wf_slab *slab, size_t record_size) {
    *slab = (struct wf_slab){.record_size = record_size, .floor = 1};
}

void wf_slab_term(struct wf_slab *slab) {
    for (uint32_t i = 0; i < slab->chunk_count; i++)
        wf_os_free(slab->chunks[i]);
    wf_os_free(slab->chunks);
    slab->chunks = NULL;
    slab->chunk_count = 0;
    slab->chunk_room = 0;
    slab->first_free = 0;
}

void wf_slab_trim(struct wf_slab *slab) {
    if (slab->used || slab->chunk_count <= KEPT_CHUNKS || slab->is_worn)
        return;
    uint32_t highest = slab->floor;
    for (uint32_t i = 0; i < slab->chunk_count * WF_SLAB_CHUNK; i++) {
        const struct wf_slot *slot = wf_slab_at(slab, i);
        if (slot->generation > highest)
            highest = slot->generation;
    }
    if (highest > WF_SLAB_GENERATION_MAX / 2) {
        slab->is_worn = true;
        return;
    }
    wf_slab_term(slab);
    slab->floor = highest; /* what a slot has now was never in an id */
}

int wf_slab_take(struct wf_slab *slab, void **out) {
    if (!slab->first_free) {
        int error = slab_grow(slab);
        if (error)
            return error;
    }
    struct wf_slot *slot = wf_slab_at(slab, slab->first_free - 1);
    slab->first_free = slot->next_free;
    slab->used++;
    struct wf_slot kept = {.index = slot->index, .generation = slot->generation, .is_used = 1};
    memset(slot, 0, slab->record_size);
    *slot = kept;
    *out = slot;
    return 0;
}

static int slab_grow(struct wf_slab *slab) {
    if (slab->chunk_count == (1u << WF_SLAB_INDEX_BITS) / WF_SLAB_CHUNK)
        return -ENOSPC;
    if (slab->chunk_count == slab->chunk_room) {
        uint32_t room = slab->chunk_room ? slab->chunk_room * 2 : 8;
        char **chunks = wf_os_alloc(room * sizeof *chunks);
        if (!chunks)
            return -ENOMEM;
        if (slab->chunk_count)
            memcpy(chunks, slab->chunks, slab->chunk_count * sizeof *chunks);
        wf_os_free(slab->chunks);
        slab->chunks = chunks;
        slab->chunk_room = room;
    }
    char *chunk = wf_os_alloc(WF_SLAB_CHUNK * slab->record_size);
    if (!chunk)
        return -ENOMEM;
    uint32_t first = slab->chunk_count * WF_SLAB_CHUNK;
    slab->chunks[slab->chunk_count++] = chunk;
    for (uint32_t i = WF_SLAB_CHUNK; i > 0; i--) {
        struct wf_slot *slot = wf_slab_at(slab, first + i - 1);
        *slot = (struct wf_slot){.index = first + i - 1, .generation = slab->floor, .next_free = slab->first_free};
        slab->first_free = slot->index + 1;
    }
    return 0;
}

void wf_slab_give(struct wf_slab *slab, void *record) {
    struct wf_slot *slot = record;
    WF_ASSERT(slot->is_used);
    slot->is_used = 0;
    slab->used--;
    if (slot->generation == WF_SLAB_GENERATION_MAX)
        return;
    slot->generation++;
    slot->next_free = slab->first_free;
    slab->first_free = slot->index + 1;
}

void *wf_slab_find(const struct wf_slab *slab, uint64_t id) {
    uint32_t index = id & ((1u << WF_SLAB_INDEX_BITS) - 1);
    if (index >= slab->chunk_count * WF_SLAB_CHUNK)
        return NULL;
    struct wf_slot *slot = wf_slab_at(slab, index);
    return slot->is_used && wf_slab_id(slot) == id ? slot : NULL;
}
