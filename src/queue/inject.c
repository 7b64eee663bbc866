/* SPDX-License-Identifier: MIT
 *
 * queue/inject.c - the global queue. Model and invariants: queue/inject.h.
 *
 * Everything under the lock is a few pointer moves: pushing a chain and taking all of it are independent of its length;
 * taking a part walks that part, which callers keep short (a ring's worth).
 */
#include "queue/inject.h"

/* Mutants, found by tests/model/model_inject.c. */
#ifdef WF_MUTANT_INJECT_NO_LOCK_ON_PUSH
#define INJECT_TAKE_PUSH(inject) (void)(inject)
#define INJECT_DROP_PUSH(inject) (void)(inject)
#else
#define INJECT_TAKE_PUSH(inject) wf_lock_take(&(inject)->lock)
#define INJECT_DROP_PUSH(inject) wf_lock_drop(&(inject)->lock)
#endif

static void inject_splice(struct wf_chain *to, struct wf_chain *from);

void wf_inject_init(struct wf_inject *inject) {
    *inject = (struct wf_inject){0};
}

void wf_inject_push_any(struct wf_inject *inject, struct wf_task *task) {
    struct wf_chain chain = {0};
    wf_chain_append(&chain, task);
    wf_inject_push_chain_any(inject, &chain);
}

void wf_inject_push_chain_any(struct wf_inject *inject, struct wf_chain *chain) {
    if (chain->count == 0)
        return;
    INJECT_TAKE_PUSH(inject);
    inject_splice(&inject->chain, chain);
#ifdef WF_MUTANT_INJECT_LENGTH_AFTER_DROP
    INJECT_DROP_PUSH(inject);
    wf_store_relaxed(&inject->length, inject->chain.count);
#else
    wf_store_relaxed(&inject->length, inject->chain.count);
    INJECT_DROP_PUSH(inject);
#endif
}

size_t wf_inject_pop_any(struct wf_inject *inject, size_t max, struct wf_chain *out) {
    if (wf_inject_is_empty_any(inject))
        return 0;
    wf_lock_take(&inject->lock);
    size_t count = inject->chain.count;
    if (count <= max) {
        inject_splice(out, &inject->chain);
    } else {
        count = max;
        for (size_t i = 0; i < count; i++)
            wf_chain_append(out, wf_chain_take_first(&inject->chain));
    }
#ifndef WF_MUTANT_INJECT_STALE_LENGTH
    wf_store_relaxed(&inject->length, inject->chain.count);
#endif
    wf_lock_drop(&inject->lock);
    return count;
}

/* Moves all of from to the end of to. */
static void inject_splice(struct wf_chain *to, struct wf_chain *from) {
    if (from->count == 0)
        return;
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    to->count += from->count;
    *from = (struct wf_chain){0};
}
