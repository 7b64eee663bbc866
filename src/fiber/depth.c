/* SPDX-License-Identifier: MIT
 *
 * fiber/depth.c - how deep the stacks of each entry function go, and what the next spawn gets.
 *
 * Measuring costs two system calls, so a sample of the fibers is measured: the first ones, then ever fewer, down to one
 * in 8,192. A measured fiber begins on a stack with only its top page in memory; the lowest page that has memory at its
 * end is its depth.
 *
 * A function whose fibers were seen to use more than three quarters of the default gets twice what was seen. The other
 * way round nothing is taken away: a sample shows what happened, not what can.
 *
 * The table is an open hash that is only added to; all fields are atomic and need no lock. When it is full, further
 * functions are not recorded.
 */
#include <errno.h>

#include "base/assert.h"
#include "fiber/fiber.h"

enum { SAMPLE_MAX = 8192 };

static struct wf_depth *depth_find(struct wf_fibers *fibers, weft_fn entry, bool add);
static size_t size_after(struct wf_fibers *fibers, size_t deepest);

bool wf_depth_starts_sample(struct wf_fiber_processor *processor) {
    processor->sample_step = processor->sample_step < SAMPLE_MAX / 2 ? processor->sample_step * 2 + 1 : SAMPLE_MAX;
    /* Spread, so that functions that are spawned in turns are all met. */
    processor->sample_in = processor->sample_step / 2 + wf_rng_below(&processor->base.rng, processor->sample_step + 1);
    return true;
}

void wf_depth_record(struct wf_fibers *fibers, weft_fn entry, size_t depth) {
    struct wf_depth *found = depth_find(fibers, entry, true);
    if (!found)
        return;
    uint64_t deepest = wf_load_relaxed(&found->deepest);
    size_t before = size_after(fibers, deepest);
    while (depth > deepest && !wf_cas_relaxed(&found->deepest, &deepest, depth))
        continue;
    wf_fetch_add_relaxed(&found->samples, 1);
    if (before == fibers->stacks.default_size && size_after(fibers, depth) > before)
        wf_fetch_add_relaxed(&fibers->deep_entries, 1);
}

size_t wf_depth_predict(struct wf_fibers *fibers, weft_fn entry) {
    struct wf_depth *found = depth_find(fibers, entry, false);
    return found ? size_after(fibers, wf_load_relaxed(&found->deepest)) : fibers->stacks.default_size;
}

bool wf_depth_is_foreign(struct wf_fibers *fibers, weft_fn entry) {
    struct wf_depth *found = depth_find(fibers, entry, false);
    return found && wf_load_relaxed(&found->foreign);
}

void wf_depth_note_foreign(struct wf_fibers *fibers, weft_fn entry, bool is_foreign) {
    struct wf_depth *found = depth_find(fibers, entry, is_foreign);
    if (!found || wf_exchange_relaxed(&found->foreign, is_foreign) == (uint32_t)is_foreign)
        return;
    if (is_foreign)
        wf_fetch_add_relaxed(&fibers->foreign_entries, 1);
    else
        wf_fetch_sub_relaxed(&fibers->foreign_entries, 1);
}

static size_t size_after(struct wf_fibers *fibers, size_t deepest) {
    size_t standard = fibers->stacks.default_size;
    if (deepest <= standard / 4 * 3)
        return standard;
    return deepest * 2 < WF_STACK_MAX ? deepest * 2 : WF_STACK_MAX;
}

static struct wf_depth *depth_find(struct wf_fibers *fibers, weft_fn entry, bool add) {
    uintptr_t wanted = (uintptr_t)entry;
    uint32_t start = (uint32_t)((wanted >> 4) * 2654435761u);
    for (uint32_t i = 0; i < WF_DEPTH_SLOTS; i++) {
        struct wf_depth *slot = &fibers->depths[(start + i) % WF_DEPTH_SLOTS];
        uintptr_t found = wf_load_relaxed(&slot->entry);
        if (found == wanted)
            return slot;
        if (found == 0) {
            if (!add)
                return NULL;
            if (wf_cas_relaxed(&slot->entry, &found, wanted) || found == wanted)
                return slot;
        }
    }
    return NULL;
}

int weft_get_stack_use(weft_runtime *runtime, weft_fn entry, weft_stack_use *out) {
    if (!entry || !out)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter_this((struct wf_fibers *)runtime);
    if (!fibers)
        return -ESTALE;
    struct wf_depth *found = depth_find(fibers, entry, false);
    if (found) {
        size_t deepest = wf_load_relaxed(&found->deepest);
        *out = (weft_stack_use){wf_load_relaxed(&found->samples), deepest, size_after(fibers, deepest)};
    }
    wf_runtimes_leave(fibers);
    return found ? 0 : -ENOENT;
}
