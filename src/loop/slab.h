/* SPDX-License-Identifier: MIT
 *
 * loop/slab.h - records with ids that go stale: an index and how often its slot was used.
 *
 * Records stay where they are. An id is index + generation << 24 and fits into 53 bits, which is what a number of
 * JavaScript holds; generations begin at 1, so that no id is 0, and a slot whose generations are used up is never used
 * again, so that no id names two things. Under the lock of whoever owns the slab.
 */
#ifndef WF_LOOP_SLAB_H
#define WF_LOOP_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WF_SLAB_INDEX_BITS = 24, WF_SLAB_CHUNK = 64 };
#define WF_SLAB_GENERATION_MAX ((1u << 29) - 1)

/* First in every record. */
struct wf_slot {
    uint32_t index;
    uint32_t generation;
    uint32_t next_free; /* index + 1 of the next free one; 0: none */
    uint32_t is_used;
};

struct wf_slab {
    char **chunks;
    size_t record_size;
    uint32_t chunk_count;
    uint32_t chunk_room;
    uint32_t first_free; /* index + 1; 0: none */
    uint32_t used;
    bool is_worn;   /* some slot has had so many generations that the others must not begin there: nothing is trimmed */
    uint32_t floor; /* generations below were used by records that are gone */
};

void wf_slab_init(struct wf_slab *slab, size_t record_size);
void wf_slab_term(struct wf_slab *slab);
/* A record, all zero but for its slot. Returns 0, -ENOMEM, -ENOSPC when all indices are used. */
int wf_slab_take(struct wf_slab *slab, void **out);
/* Its ids are stale from now on. */
void wf_slab_give(struct wf_slab *slab, void *record);
/* Gives the memory back, when nothing is used and there is much of it. Ids stay stale. */
void wf_slab_trim(struct wf_slab *slab);
/* NULL: there is none of that id. */
void *wf_slab_find(const struct wf_slab *slab, uint64_t id);

static inline uint64_t wf_slab_id(const void *record) {
    const struct wf_slot *slot = record;
    return (uint64_t)slot->generation << WF_SLAB_INDEX_BITS | slot->index;
}
/* The record of an index below chunk_count * WF_SLAB_CHUNK, used or not. */
static inline void *wf_slab_at(const struct wf_slab *slab, uint32_t index) {
    return slab->chunks[index / WF_SLAB_CHUNK] + (size_t)(index % WF_SLAB_CHUNK) * slab->record_size;
}

#endif
