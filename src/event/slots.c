/* SPDX-License-Identifier: MIT
 *
 * event/slots.c - where slots come from and where they go.
 *
 * A slot is taken from the magazine of the calling processor; else from the shared list; else, when more than enough of
 * them rest there, the one that has rested longest; else a new one; else, rather than to fail, again one that rests. It is
 * retired instead of given back when its generations are used up, or when a strict system would have to forget a verdict.
 *
 * Whoever waits for a slot, at the cap, is in events->room, and whoever gives one back under the lock serves it. A completion
 * that puts its slot into a magazine has to notice, too, that somebody waits, and a fence in every completion would cost more
 * than the rest of it. So the one that waits pays: it sets is_wanted, makes every thread pass a barrier (H), and looks at the
 * magazines again. A completion has put its slot there before that barrier, and is seen; or after it, and sees is_wanted (G).
 * Where the kernel has no such barrier there are no magazines.
 *
 * The magazines belong to the first runtime whose fibers use the system. When it ends, at most 64 slots for each of its
 * processors stay there unused.
 */
#include <errno.h>

#include "base/assert.h"
#include "event/event.h"
#include "os/barrier.h"

enum { MAGAZINE_BATCH = WF_EVENT_MAGAZINE / 2 };

#define DIRECTORY_BYTES (WF_EVENT_CHUNKS * sizeof(struct wf_event_slot *))
#define CHUNK_BYTES (WF_EVENT_CHUNK * sizeof(struct wf_event_slot))

/* Somebody who waits for a slot. */
struct room {
    struct wf_leaver leaver;
    struct wf_waiter waiter;
    weft_events *events;
};

static void room_drop(struct wf_leaver *leaver);
static struct wf_event_slot *take_room(weft_events *events, int64_t deadline_ns, int *error);
static struct wf_event_slot *take_slot_locked(weft_events *events, int *error);
static struct wf_event_slot *take_fresh_locked(weft_events *events, int *error);
static struct wf_event_slot *take_rested_locked(weft_events *events);
static struct wf_event_slot *counted_out_locked(weft_events *events, struct wf_event_slot *slot);
static bool is_at_cap_locked(weft_events *events);
static int add_chunk_locked(weft_events *events, uint32_t number);
static void fill_magazine_locked(weft_events *events, struct wf_event_magazine *magazine);
static void put_slot_locked(weft_events *events, struct wf_event_slot *slot, bool poisoned);
static struct wf_waiter *serve_room_locked(weft_events *events);
static void settle_home(weft_events *events, struct wf_fibers *fibers);

int wf_event_slots_init(weft_events *events) {
    void *base;
    int error = wf_os_map(DIRECTORY_BYTES, &base);
    if (error)
        return error;
    events->chunks = base;
    events->free_first = events->rest_first = events->rest_last = WF_EVENT_NO_SLOT;
    events->has_magazines = events->max_pending > WF_EVENT_EXACT_CAP && wf_os_barrier_prepare() == 0;
    return 0;
}

void wf_event_slots_term(weft_events *events) {
    for (uint32_t i = 0; i < WF_EVENT_CHUNKS && wf_load_relaxed(&events->chunks[i]); i++)
        wf_os_unmap(wf_load_relaxed(&events->chunks[i]), CHUNK_BYTES);
    wf_os_unmap((void *)events->chunks, DIRECTORY_BYTES);
    wf_os_free(events->magazines);
}

struct wf_event_slot *wf_event_slot_take_slow(weft_events *events, int64_t deadline_ns, int *error) {
    struct wf_event_magazine *magazine = wf_event_magazine(events);
    wf_lock_take(&events->lock);
    struct wf_event_slot *slot = take_slot_locked(events, error);
    if (WF_UNLIKELY(!slot)) {
        if (*error == -ENOSPC && deadline_ns != WEFT_NOW)
            return take_room(events, deadline_ns, error);
        wf_lock_drop(&events->lock);
        return NULL;
    }
    if (magazine) {
        fill_magazine_locked(events, magazine);
        wf_count_owner(&magazine->created, 1);
    } else {
        events->created++;
    }
    wf_lock_drop(&events->lock);
    return slot;
}

/* At the cap, with the lock, which is dropped. */
static struct wf_event_slot *take_room(weft_events *events, int64_t deadline_ns, int *error) {
    if (events->has_magazines) {
        wf_store_relaxed(&events->is_wanted, 1);
        wf_os_barrier(); /* H: pairs with G in event/event.c */
        struct wf_event_slot *slot = take_slot_locked(events, error);
        if (slot)
            events->created++;
        if (slot || *error != -ENOSPC) {
            wf_store_relaxed(&events->is_wanted, events->room != NULL);
            wf_lock_drop(&events->lock);
            return slot;
        }
    }
    struct wf_fiber *fiber = wf_fiber_self();
    struct room room = {.leaver = {.leave = room_drop, .drop = room_drop}, .events = events};
    if (fiber)
        wf_leaver_push(wf_fiber_stack(fiber), &room.leaver);
    *error = wf_wait_locked(&room.waiter, &events->lock, &events->room, deadline_ns, "event slot");
    if (fiber)
        wf_leaver_remove(wf_fiber_stack(fiber), &room.leaver);
    return *error ? NULL : room.waiter.value; /* counted by whoever handed it over */
}

/* The fiber is dropped; it may have been handed a slot that it will not use any more. */
static void room_drop(struct wf_leaver *leaver) {
    struct room *room = WF_CONTAINER(leaver, struct room, leaver);
    weft_events *events = room->events;
    if (!room->waiter.value)
        return;
    wf_lock_take(&events->lock);
    events->created--;
    put_slot_locked(events, room->waiter.value, false);
    struct wf_waiter *served = serve_room_locked(events);
    wf_lock_drop(&events->lock);
    wf_wait_wake_chain(served);
}

static struct wf_event_slot *take_slot_locked(weft_events *events, int *error) {
    if (wf_load_relaxed(&events->is_shut)) {
        *error = -ESHUTDOWN;
        return NULL;
    }
    *error = -ENOSPC;
    if (WF_UNLIKELY(events->out >= events->max_pending) && is_at_cap_locked(events))
        return NULL;
    if (events->free_first != WF_EVENT_NO_SLOT) {
        struct wf_event_slot *slot = wf_event_slot_at(events, events->free_first);
        events->free_first = slot->next_free;
        return counted_out_locked(events, slot);
    }
    struct wf_event_slot *slot = NULL;
    if (events->rest_count > WF_EVENT_QUARANTINE)
        slot = take_rested_locked(events);
    if (!slot)
        slot = take_fresh_locked(events, error);
    if (!slot)
        slot = take_rested_locked(events);
    return slot ? counted_out_locked(events, slot) : NULL;
}

/* Slots in magazines are not pending. */
static bool is_at_cap_locked(weft_events *events) {
    uint32_t idle = 0;
    if (wf_load_acquire(&events->home)) /* pairs with settle_home */
        for (uint32_t i = 0; i < events->magazine_count; i++)
            idle += wf_load_relaxed(&events->magazines[i].count);
    return events->out >= events->max_pending + (uint64_t)idle;
}

static struct wf_event_slot *counted_out_locked(weft_events *events, struct wf_event_slot *slot) {
    events->out++;
    return slot;
}

static struct wf_event_slot *take_rested_locked(weft_events *events) {
    if (events->rest_first == WF_EVENT_NO_SLOT)
        return NULL;
    struct wf_event_slot *slot = wf_event_slot_at(events, events->rest_first);
    events->rest_first = slot->next_free;
    if (events->rest_first == WF_EVENT_NO_SLOT)
        events->rest_last = WF_EVENT_NO_SLOT;
    events->rest_count--;
    return slot;
}

static struct wf_event_slot *take_fresh_locked(weft_events *events, int *error) {
    uint32_t index = events->next_index;
    if (index > WF_EVENT_MAX)
        return NULL;
    if (index % WF_EVENT_CHUNK == 0 && !wf_load_relaxed(&events->chunks[index / WF_EVENT_CHUNK])) {
        int failed = add_chunk_locked(events, index / WF_EVENT_CHUNK);
        if (failed) {
            *error = failed;
            return NULL;
        }
    }
    struct wf_event_slot *slot = wf_event_slot_at(events, index);
    events->next_index++;
    slot->index = index;
    wf_store_relaxed(&slot->word, wf_event_word_first(events->first_generation));
    return slot;
}

/* Zero memory is a chunk of slots without a past; whoever looks one up by a forged handle finds nothing active there. */
static int add_chunk_locked(weft_events *events, uint32_t number) {
    void *base;
    int error = wf_os_map(CHUNK_BYTES, &base);
    if (!error)
        wf_store_release(&events->chunks[number], base); /* pairs with wf_event_find */
    return error;
}

/* Only what lies free: new slots and those that rest are taken one by one. */
static void fill_magazine_locked(weft_events *events, struct wf_event_magazine *magazine) {
    uint32_t count = wf_load_relaxed(&magazine->count);
    while (count < MAGAZINE_BATCH && events->free_first != WF_EVENT_NO_SLOT) {
        struct wf_event_slot *slot = wf_event_slot_at(events, events->free_first);
        events->free_first = slot->next_free;
        magazine->slots[count++] = counted_out_locked(events, slot);
    }
    wf_store_relaxed(&magazine->count, count);
}

void wf_event_slot_give_slow(weft_events *events, struct wf_event_slot *slot, bool poisoned) {
    struct wf_event_magazine *magazine = poisoned ? NULL : wf_event_magazine(events);
    wf_lock_take(&events->lock);
    if (magazine) {
        uint32_t count = wf_load_relaxed(&magazine->count);
        while (count > MAGAZINE_BATCH)
            put_slot_locked(events, magazine->slots[--count], false);
        wf_store_relaxed(&magazine->count, count);
        wf_count_owner(&magazine->triggered, 1);
    } else {
        events->triggered += !poisoned;
        events->poisoned += poisoned;
    }
    put_slot_locked(events, slot, poisoned);
    struct wf_waiter *served = serve_room_locked(events);
    wf_lock_drop(&events->lock);
    wf_wait_wake_chain(served);
}

void wf_event_magazine_empty(weft_events *events, struct wf_event_magazine *magazine) {
    wf_lock_take(&events->lock);
    uint32_t count = wf_load_relaxed(&magazine->count);
    while (count > 0)
        put_slot_locked(events, magazine->slots[--count], false);
    wf_store_relaxed(&magazine->count, 0);
    struct wf_waiter *served = serve_room_locked(events);
    wf_lock_drop(&events->lock);
    wf_wait_wake_chain(served);
}

/* A slot for everybody who waits for one, as far as they go; the chain is to be woken. */
static struct wf_waiter *serve_room_locked(weft_events *events) {
    struct wf_waiter *served = NULL;
    struct wf_waiter **end = &served;
    int error;
    while (WF_UNLIKELY(events->room)) {
        struct wf_event_slot *room = take_slot_locked(events, &error);
        struct wf_waiter *waiter = room ? wf_wait_take_first_locked(&events->room) : NULL;
        if (!waiter) {
            if (room)
                put_slot_locked(events, room, false);
            break;
        }
        events->created++;
        waiter->status = 0;
        waiter->value = room;
        *end = waiter;
        end = &waiter->next;
    }
    *end = NULL;
    wf_store_relaxed(&events->is_wanted, events->room != NULL);
    return served;
}

static void put_slot_locked(weft_events *events, struct wf_event_slot *slot, bool poisoned) {
    uint64_t word = wf_load_relaxed(&slot->word);
    events->out--;
    if (wf_event_word_last(word) == UINT32_MAX || (events->is_strict && wf_event_word_forgets_next(word))) {
        events->retired++;
    } else if (!poisoned) {
        slot->next_free = events->free_first;
        events->free_first = slot->index;
    } else {
        slot->next_free = WF_EVENT_NO_SLOT;
        if (events->rest_last == WF_EVENT_NO_SLOT)
            events->rest_first = slot->index;
        else
            wf_event_slot_at(events, events->rest_last)->next_free = slot->index;
        events->rest_last = slot->index;
        events->rest_count++;
    }
}

struct wf_event_magazine *wf_event_magazine_slow(weft_events *events, struct wf_fiber_worker *worker) {
    if (wf_load_acquire(&events->home)) /* pairs with settle_home */
        return NULL;
    settle_home(events, worker->fibers);
    if (wf_load_acquire(&events->home) != wf_event_runtime(worker->fibers))
        return NULL;
    uint32_t index = worker->base.processor->index;
    return index < events->magazine_count ? &events->magazines[index] : NULL;
}

/* Without memory for it the shared list does. */
static void settle_home(weft_events *events, struct wf_fibers *fibers) {
    uint32_t count = fibers->engine.count;
    struct wf_event_magazine *magazines = wf_os_alloc_aligned(64, count * sizeof *magazines);
    if (!magazines)
        return;
    wf_lock_take(&events->lock);
    bool is_first = !wf_load_relaxed(&events->home);
    if (is_first) {
        events->magazines = magazines;
        events->magazine_count = count;
        wf_store_release(&events->home, wf_event_runtime(fibers)); /* pairs with wf_event_magazine */
    }
    wf_lock_drop(&events->lock);
    if (!is_first)
        wf_os_free(magazines);
}
