/* SPDX-License-Identifier: MIT
 *
 * event/event.h - what the files of this layer share: slots, the system, completion.
 *
 * A *slot* is one cache line that serves one event after another; each is a *generation* of it. Slots are cut from chunks
 * behind a directory that only grows, so a handle, however old or forged, is looked up by two loads and without a lock, and
 * what it finds is always a slot.
 *
 *     idle --new--> active --trigger or poison--> idle (one generation further), or retired: out of generations
 *
 * Completing, under the slot's lock: take the waiters out, publish the word, active = 0. Then, without it: the slot goes
 * back to the free ones, and only then the waiters are told, each with the verdict in its node. So a waiter that wakes may
 * free the whole system, and who waits for generation N does not care how many came since.
 *
 * Free slots: triggered ones last in first out, in a magazine for each processor of the runtime that used the system
 * first, and a shared list for everybody else. Poisoned ones rest in a first-in-first-out quarantine, so that their
 * verdicts stay in the window. Magazines need no lock and no atomic operation; who waits for a slot at the cap pays
 * for that by a barrier on all threads (event/slots.c). Systems with a small cap have none, and their cap is exact.
 *
 * Locks: slot, then owner, events->lock or reasons.lock, each of which is the last. Two slots only for select.
 */
#ifndef WF_EVENT_EVENT_H
#define WF_EVENT_EVENT_H

#include <errno.h>

#include "event/word.h"
#include "wait/wait.h"
#include "weft/event.h"

enum {
    WF_EVENT_CHUNK = 4096, /* slots: 256 KiB */
    WF_EVENT_CHUNKS = 4096,
    WF_EVENT_MAX = (1 << 24) - 1,
    WF_EVENT_MAGAZINE = 64,
    WF_EVENT_EXACT_CAP = 65536, /* up to here the cap is exact, and there are no magazines */
    WF_EVENT_QUARANTINE = 4096, /* as many as there are reasons, so that neither outlives the other by far */
    WF_EVENT_SYSTEMS = 255,
};

#define WF_EVENT_NO_SLOT UINT32_MAX

struct wf_event_owner;

struct wf_event_slot {
    _Atomic uint64_t word; /* under lock; read by anybody: event/word.h */
    _Atomic uint32_t
        active; /* generation that is pending, or 0; set by the creator, who has the slot alone; else as word */
    struct wf_lock lock;
    struct wf_waiter *waiters;    /* under lock */
    struct wf_event_owner *owner; /* under lock: whose end poisons it, or NULL */
    uint32_t index;               /* constant once handed out */
    uint32_t next_free;           /* under events->lock while in one of its lists */
    uint32_t owned_next;          /* under the owner's lock: indices of slots */
    uint32_t owned_previous;
    _Atomic uint32_t shut_generation; /* the one that the shutdown poisoned; as word */
    uint32_t unused[3];
};
_Static_assert(sizeof(struct wf_event_slot) == 64, "a slot is one cache line");

/* Free slots of one processor, and what was counted there; its own. The counters are read by anybody. */
struct wf_event_magazine {
    _Alignas(64) _Atomic uint32_t count;
    struct wf_event_slot *slots[WF_EVENT_MAGAZINE];
    _Atomic uint64_t created;
    _Atomic uint64_t triggered;
    _Atomic uint64_t wakes;
};

/* One poison, kept. */
struct wf_event_record {
    uint64_t bits; /* the event; 0: never used */
    uint32_t next; /* in its bucket: number of a record + 1 */
    weft_event_reason reason;
};

/* The newest poisons, by number modulo size, found by event. */
struct wf_event_reasons {
    struct wf_lock lock;
    uint32_t size;
    uint32_t mask;  /* of buckets */
    uint64_t count; /* under lock: poisons so far */
    struct wf_event_record *records;
    uint32_t *buckets; /* number of a record + 1 */
    size_t bytes;      /* of the mapping that holds both */
};

struct weft_events {
    uint8_t tag;
    bool is_strict;
    bool has_magazines;
    uint32_t first_generation;
    _Atomic(struct wf_event_slot *) *chunks; /* entries are written once, under lock */
    _Atomic uint64_t home; /* the runtime whose processors have magazines: wf_event_runtime; 0: none yet */
    struct wf_event_magazine *magazines; /* written before home */
    uint32_t magazine_count;
    uint32_t max_pending;
    _Atomic uint32_t is_shut; /* under lock; read by creators */
    _Atomic uint64_t expired;
    _Atomic uint64_t wakes;
    _Atomic uint32_t runs; /* completions of merges under way */

    _Alignas(64) struct wf_lock lock;
    uint32_t next_index; /* under lock, as all that follows: first that was never used */
    uint32_t free_first;
    uint32_t rest_first; /* quarantine */
    uint32_t rest_last;
    uint32_t rest_count;
    uint32_t retired;
    uint32_t out; /* slots that are neither free here nor retired: pending, or in a magazine */
    uint64_t created;
    uint64_t triggered;
    uint64_t poisoned;
    struct wf_waiter *room;     /* who waits for a slot */
    _Atomic uint32_t is_wanted; /* under lock; read by completions: somebody is in room */
    struct wf_list owners;
    weft_event_reason shut_reason; /* constant once shut */

    struct wf_event_reasons reasons;
    struct wf_event_slot none; /* stands for WEFT_NO_EVENT where a lock and a queue are needed */
    struct wf_lock fds_lock;
    struct wf_event_fd **fds; /* under fds_lock: by descriptor */
    uint32_t fds_size;
    uint32_t fds_open;
    _Atomic uint32_t queues;
    char name[32];
};

/* How an event is completed. reason is NULL for a trigger. */
struct wf_event_ending {
    const weft_event_reason *reason;
    bool is_shutdown;
    const struct wf_event_owner *owner; /* not NULL: only if it is still this one's */
};

static inline uint32_t wf_event_index(weft_event event) {
    return (uint32_t)(event.bits >> 32) & 0xffffff;
}
static inline uint32_t wf_event_generation(weft_event event) {
    return (uint32_t)event.bits;
}
static inline weft_event wf_event_handle(const weft_events *events, const struct wf_event_slot *slot,
                                         uint32_t generation) {
    return (weft_event){(uint64_t)events->tag << 56 | (uint64_t)slot->index << 32 | generation};
}
static inline struct wf_event_slot *wf_event_slot_at(const weft_events *events, uint32_t index) {
    return &wf_load_relaxed(&events->chunks[index / WF_EVENT_CHUNK])[index % WF_EVENT_CHUNK];
}

/* The slot of a handle of this system other than WEFT_NO_EVENT; or NULL and -EXDEV or -EINVAL. */
static inline struct wf_event_slot *wf_event_find(weft_events *events, weft_event event, int *error) {
    if (WF_UNLIKELY(!events || event.bits >> 56 != events->tag)) {
        *error = events ? -EXDEV : -EINVAL;
        return NULL;
    }
    uint32_t index = wf_event_index(event);
    struct wf_event_slot *chunk = wf_load_acquire(&events->chunks[index / WF_EVENT_CHUNK]); /* pairs with add_chunk */
    if (WF_UNLIKELY(!chunk || wf_event_generation(event) < events->first_generation)) {
        *error = -EINVAL;
        return NULL;
    }
    return &chunk[index % WF_EVENT_CHUNK];
}

/* event/slots.c: where slots come from and go to */
struct wf_event_slot *wf_event_slot_take_slow(weft_events *events, int64_t deadline_ns, int *error);
void wf_event_slot_give_slow(weft_events *events, struct wf_event_slot *slot, bool poisoned);
/* Somebody waits for a slot: what is in the magazine of the calling worker goes to the shared list. */
void wf_event_magazine_empty(weft_events *events, struct wf_event_magazine *magazine);
struct wf_event_magazine *wf_event_magazine_slow(weft_events *events, struct wf_fiber_worker *worker);
int wf_event_slots_init(weft_events *events);
void wf_event_slots_term(weft_events *events);
static inline uint64_t wf_event_runtime(const struct wf_fibers *fibers) {
    return (uint64_t)(fibers->runtime + 1) << 32 | fibers->first_generation;
}
/* Of the calling worker, or NULL. */
static inline struct wf_event_magazine *wf_event_magazine(weft_events *events) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker || !worker->base.processor || !events->has_magazines)
        return NULL;
    if (WF_UNLIKELY(wf_load_acquire(&events->home) != wf_event_runtime(worker->fibers))) /* pairs with settle_home */
        return wf_event_magazine_slow(events, worker);
    uint32_t index = worker->base.processor->index;
    return WF_LIKELY(index < events->magazine_count) ? &events->magazines[index] : NULL; /* an extra one has none */
}

/* event/reason.c: why events were poisoned */
int wf_event_reasons_init(struct wf_event_reasons *reasons, uint32_t size);
void wf_event_reasons_term(struct wf_event_reasons *reasons);
void wf_event_reasons_add(struct wf_event_reasons *reasons, weft_event event, const weft_event_reason *reason);
/* True when that event is among those kept; out may be NULL. *is_whole: none was ever lost. */
bool wf_event_reasons_find(struct wf_event_reasons *reasons, weft_event event, weft_event_reason *out, bool *is_whole);
void wf_event_reason_set(weft_event_reason *reason, int code, const char *text);

/* event/event.c */
/* The verdict with everything that is known, or -EINVAL for a generation that was never begun. */
int wf_event_verdict_of(weft_events *events, struct wf_event_slot *slot, weft_event event);
/* The status of one that is complete, and its reason, if it has one and out is not NULL. */
int wf_event_status_of(weft_events *events, struct wf_event_slot *slot, weft_event event, int verdict,
                       weft_event_reason *out);
/* 0 and the waiters that are to be told; or -EALREADY, -EINVAL. */
int wf_event_complete(weft_events *events, struct wf_event_slot *slot, uint32_t generation,
                      const struct wf_event_ending *ending, struct wf_waiter **chain);
int wf_event_end(weft_events *events, weft_event event, const struct wf_event_ending *ending);

/* event/owner.c; with the slot's lock */
void wf_event_disown_locked(weft_events *events, struct wf_event_slot *slot);
void wf_event_owners_forget(weft_events *events);

/* event/merge.c */
/* Tells everybody in the chain, completes what hangs on merges among them, and so on, without recursion. */
void wf_event_tell(weft_events *events, struct wf_waiter *chain, const weft_event_reason *reason);
/* The system goes: takes a waiter that is a merge's out and drops it. False: it is none. With the slot's lock. */
bool wf_event_merge_drop_locked(struct wf_waiter *waiter);

#endif
