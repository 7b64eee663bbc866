/* SPDX-License-Identifier: MIT
 *
 * event/owner.c - events that die with their fiber.
 *
 * A fiber that owns events of a system has one owner record for it, among the leavers of its stack. The record heads a list
 * of slots, linked by index inside the slots. Completion takes a slot out of its owner's list, under the slot's lock and
 * the owner's; so what is still in the list when the fiber ends is pending, and is poisoned.
 *
 * The record goes with the fiber. Nobody else can hold it by then: who found it in a slot held that slot's lock, and was
 * waited for. The drop of the owner's lock is its last touch.
 */
#include <errno.h>

#include "base/assert.h"
#include "event/event.h"

struct wf_event_owner {
    struct wf_leaver leaver;
    struct wf_list node; /* in events->owners, under events->lock */
    weft_events *events; /* written under lock; NULL once the system is gone */
    struct wf_lock lock;
    uint32_t first; /* under lock */
};

static struct wf_event_owner *owner_of_self(weft_events *events, struct wf_stack *stack);
static void owner_leave(struct wf_leaver *leaver);

int weft_event_own(weft_events *events, weft_event event) {
    struct wf_fiber_worker *worker = wf_worker_self();
    int error;
    if (!events)
        return -EINVAL;
    if (event.bits == 0)
        return -EALREADY;
    struct wf_event_slot *slot = wf_event_find(events, event, &error);
    if (!slot)
        return error;
    if (!worker)
        return -EPERM;
    struct wf_event_owner *owner = owner_of_self(events, wf_fiber_stack(wf_worker_fiber(worker)));
    if (!owner)
        return -ENOMEM;
    wf_lock_take(&slot->lock);
    if (wf_load_relaxed(&slot->active) != wf_event_generation(event)) {
        error = wf_event_generation(event) <= wf_event_word_last(wf_load_relaxed(&slot->word)) ? -EALREADY : -EINVAL;
    } else if (slot->owner) {
        error = slot->owner == owner ? 0 : -EBUSY;
    } else {
        error = 0;
        slot->owner = owner;
        slot->owned_previous = WF_EVENT_NO_SLOT;
        wf_lock_take(&owner->lock);
        slot->owned_next = owner->first;
        if (owner->first != WF_EVENT_NO_SLOT)
            wf_event_slot_at(events, owner->first)->owned_previous = slot->index;
        owner->first = slot->index;
        wf_lock_drop(&owner->lock);
    }
    wf_lock_drop(&slot->lock);
    return error;
}

static struct wf_event_owner *owner_of_self(weft_events *events, struct wf_stack *stack) {
    for (struct wf_leaver *leaver = stack->leavers; leaver; leaver = leaver->next)
        if (leaver->leave == owner_leave && WF_CONTAINER(leaver, struct wf_event_owner, leaver)->events == events)
            return WF_CONTAINER(leaver, struct wf_event_owner, leaver);
    struct wf_event_owner *owner = wf_os_alloc(sizeof *owner);
    if (!owner)
        return NULL;
    owner->events = events;
    owner->first = WF_EVENT_NO_SLOT;
    owner->leaver.leave = owner_leave;
    owner->leaver.drop = owner_leave;
    wf_leaver_push(stack, &owner->leaver);
    wf_lock_take(&events->lock);
    wf_list_append(&events->owners, &owner->node);
    wf_lock_drop(&events->lock);
    return owner;
}

/* Poisoning takes an event out of the list; one that somebody else completes meanwhile is out when that lock is free. */
static void owner_leave(struct wf_leaver *leaver) {
    struct wf_event_owner *owner = WF_CONTAINER(leaver, struct wf_event_owner, leaver);
    weft_event_reason reason;
    struct wf_event_ending ending = {.reason = &reason, .owner = owner};
    wf_lock_take(&owner->lock);
    weft_events *events = owner->events;
    if (events)
        wf_fetch_add_relaxed(&events->runs, 1); /* whoever is told of the poison may free the system: it waits for us */
    wf_lock_drop(&owner->lock);
    wf_event_reason_set(&reason, -EOWNERDEAD, "owner exited");
    while (events) {
        weft_event event = WEFT_NO_EVENT;
        wf_lock_take(&owner->lock);
        if (owner->first != WF_EVENT_NO_SLOT) {
            struct wf_event_slot *slot = wf_event_slot_at(events, owner->first);
            event = wf_event_handle(events, slot, wf_load_relaxed(&slot->active));
        }
        wf_lock_drop(&owner->lock);
        if (event.bits == 0)
            break;
        wf_event_end(events, event, &ending);
    }
    if (events) {
        wf_lock_take(&events->lock);
        wf_list_remove(&owner->node);
        wf_lock_drop(&events->lock);
        wf_fetch_sub_release(&events->runs, 1); /* pairs with weft_events_free */
    }
    wf_os_free(owner);
}

int weft_event_disown(weft_events *events, weft_event event) {
    int error;
    if (!events)
        return -EINVAL;
    if (event.bits == 0)
        return -ENOENT;
    struct wf_event_slot *slot = wf_event_find(events, event, &error);
    if (!slot)
        return error;
    if (weft_event_poll(events, event) < 0)
        return -EINVAL;
    error = -ENOENT;
    wf_lock_take(&slot->lock);
    if (slot->owner && wf_load_relaxed(&slot->active) == wf_event_generation(event)) {
        wf_event_disown_locked(events, slot);
        error = 0;
    }
    wf_lock_drop(&slot->lock);
    return error;
}

void wf_event_disown_locked(weft_events *events, struct wf_event_slot *slot) {
    struct wf_event_owner *owner = slot->owner;
    slot->owner = NULL;
    wf_lock_take(&owner->lock);
    if (slot->owned_next != WF_EVENT_NO_SLOT)
        wf_event_slot_at(events, slot->owned_next)->owned_previous = slot->owned_previous;
    if (slot->owned_previous != WF_EVENT_NO_SLOT)
        wf_event_slot_at(events, slot->owned_previous)->owned_next = slot->owned_next;
    else
        owner->first = slot->owned_next;
    wf_lock_drop(&owner->lock);
}

void wf_event_owners_forget(weft_events *events) {
    struct wf_list *node;
    wf_lock_take(&events->lock);
    while ((node = wf_list_take_first(&events->owners))) {
        struct wf_event_owner *owner = WF_CONTAINER(node, struct wf_event_owner, node);
        wf_lock_take(&owner->lock);
        owner->events = NULL;
        wf_lock_drop(&owner->lock);
    }
    wf_lock_drop(&events->lock);
}
