/* SPDX-License-Identifier: MIT
 *
 * event/system.c - systems of events: made, shut down, counted, freed.
 *
 * Each has a tag of eight bits in its handles, so that another system knows them as foreign. Tags are handed out in turn,
 * so that those of a system that is gone stay unknown for as long as possible. Which are taken is the one thing that all
 * systems share.
 *
 * Whoever frees a system waits for runs: completions of merges that weft itself still has under way, possibly on a fiber
 * that nobody else knows of. Everything else that is under way is the caller's business, see weft/event.h.
 */
#include <string.h>

#include "base/assert.h"
#include "event/event.h"
#include "os/report.h"

enum { REASONS_DEFAULT = 4096, REASONS_MAX = 1 << 20 };

/* Bit t: tag t is in use. next_tag is only where the search begins. */
static _Atomic uint64_t tags_used[4];
static _Atomic uint32_t next_tag;

static int options_fill(weft_events_options *options, const weft_events_options *given);
static int take_tag(uint8_t *tag);
static void give_tag(uint8_t tag);
static void drop_waiters(weft_events *events, struct wf_event_slot *slot);
static void refuse_waiters(weft_events *events);
static void poison_all(weft_events *events, uint32_t count);

int weft_events_new(weft_events **out, const weft_events_options *given) {
    weft_events_options options;
    if (!out)
        return -EINVAL;
    int error = options_fill(&options, given);
    if (error)
        return error;
    weft_events *events = wf_os_alloc_aligned(64, sizeof *events);
    if (!events)
        return -ENOMEM;
    events->is_strict = options.strict;
    events->max_pending = options.max_pending;
    events->first_generation = options.first_generation;
    wf_list_init(&events->owners);
    if (options.name)
        strncpy(events->name, options.name, sizeof events->name - 1);
    error = wf_event_slots_init(events);
    if (error)
        goto free_events;
    error = wf_event_reasons_init(&events->reasons, options.reasons);
    if (error)
        goto term_slots;
    error = take_tag(&events->tag);
    if (error)
        goto term_reasons;
    *out = events;
    return 0;

term_reasons:
    wf_event_reasons_term(&events->reasons);
term_slots:
    wf_event_slots_term(events);
free_events:
    wf_os_free(events);
    return error;
}

static int options_fill(weft_events_options *options, const weft_events_options *given) {
    *options = given ? *given : (weft_events_options){.name = NULL};
    if (!options->max_pending)
        options->max_pending = WF_EVENT_MAX;
    if (!options->first_generation)
        options->first_generation = 1;
    if (!options->reasons)
        options->reasons = REASONS_DEFAULT;
    return options->max_pending > WF_EVENT_MAX || options->reasons > REASONS_MAX ? -EINVAL : 0;
}

static int take_tag(uint8_t *tag) {
    for (uint32_t tries = 0; tries < WF_EVENT_SYSTEMS; tries++) {
        uint32_t wanted = wf_fetch_add_relaxed(&next_tag, 1) % WF_EVENT_SYSTEMS + 1;
        uint64_t bit = UINT64_C(1) << wanted % 64;
        if (!(wf_fetch_or_acq_rel(&tags_used[wanted / 64], bit) & bit)) {
            *tag = (uint8_t)wanted;
            return 0;
        }
    }
    return -EAGAIN;
}

static void give_tag(uint8_t tag) {
    wf_fetch_and_acq_rel(&tags_used[tag / 64], ~(UINT64_C(1) << tag % 64));
}

void weft_events_free(weft_events *events) {
    if (!events)
        return;
    wf_event_owners_forget(events);
    while (wf_load_acquire(&events->runs)) /* pairs with the end of a run in event/merge.c */
        weft_yield();
    refuse_waiters(events);
    for (uint32_t i = 0; i < events->next_index; i++)
        drop_waiters(events, wf_event_slot_at(events, i));
    give_tag(events->tag);
    wf_os_free(events->fds);
    wf_event_reasons_term(&events->reasons);
    wf_event_slots_term(events);
    wf_os_free(events);
}

static void refuse_waiters(weft_events *events) {
    if (wf_load_relaxed(&events->queues))
        wf_fatal("weft_events_free of \"%s\" before its queues: call weft_event_queue_free first", events->name);
    if (events->fds_open)
        wf_fatal("weft_events_free of \"%s\" while a descriptor of it is open: call weft_event_close_fd first",
                 events->name);
    if (events->room)
        wf_fatal("weft_events_free of \"%s\" while somebody waits in weft_event_new", events->name);
}

static void drop_waiters(weft_events *events, struct wf_event_slot *slot) {
    wf_lock_take(&slot->lock);
    while (slot->waiters)
        if (!wf_event_merge_drop_locked(slot->waiters))
            wf_fatal("weft_events_free of \"%s\" while somebody waits for one of its events", events->name);
    wf_lock_drop(&slot->lock);
}

int weft_events_shutdown(weft_events *events, int code, const char *text) {
    if (!events)
        return -EINVAL;
    wf_lock_take(&events->lock);
    if (wf_load_relaxed(&events->is_shut)) {
        wf_lock_drop(&events->lock);
        return -EALREADY;
    }
    wf_event_reason_set(&events->shut_reason, code, text);
    wf_store_seq_cst(&events->is_shut, 1); /* F: pairs with E in event/event.c */
    struct wf_waiter *room = wf_wait_take_all_locked(&events->room, -ESHUTDOWN, NULL);
    uint32_t count = events->next_index;
    wf_lock_drop(&events->lock);
    wf_wait_wake_chain(room);
    poison_all(events, count);
    return 0;
}

/* All of them are poisoned before anybody is told: telling one may complete another, that hangs on it, in another way. */
static void poison_all(weft_events *events, uint32_t count) {
    struct wf_event_ending ending = {.reason = &events->shut_reason, .is_shutdown = true};
    struct wf_waiter *all = NULL;
    struct wf_waiter **end = &all;
    for (uint32_t i = 0; i < count; i++) {
        struct wf_event_slot *slot = wf_event_slot_at(events, i);
        uint32_t generation = wf_load_seq_cst(&slot->active); /* F: pairs with E in event/event.c */
        if (!generation)
            continue;
        wf_event_complete(events, slot, generation, &ending, end);
        while (*end)
            end = &(*end)->next;
    }
    if (all)
        wf_event_tell(events, all, ending.reason);
}

int weft_events_get_stats(weft_events *events, weft_events_stats *out) {
    if (!events || !out)
        return -EINVAL;
    memset(out, 0, sizeof *out);
    wf_lock_take(&events->lock);
    out->created = events->created;
    out->triggered = events->triggered;
    out->poisoned = events->poisoned;
    out->slots = events->next_index;
    out->quarantined = events->rest_count;
    out->retired = events->retired;
    for (uint32_t i = 0; i < events->magazine_count; i++) {
        out->triggered += wf_load_relaxed(&events->magazines[i].triggered);
        out->created += wf_load_relaxed(&events->magazines[i].created);
        out->wakes += wf_load_relaxed(&events->magazines[i].wakes);
    }
    wf_lock_drop(&events->lock);
    uint64_t completed = out->triggered + out->poisoned;
    out->pending = out->created > completed ? out->created - completed : 0;
    out->wakes += wf_load_relaxed(&events->wakes);
    out->expired = wf_load_relaxed(&events->expired);
    wf_lock_take(&events->reasons.lock);
    if (events->reasons.count > events->reasons.size)
        out->lost = events->reasons.count - events->reasons.size;
    wf_lock_drop(&events->reasons.lock);
    return 0;
}
