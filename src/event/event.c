/* SPDX-License-Identifier: MIT
 *
 * event/event.c - the life of an event: made, completed, asked for, waited for. Model and locks: event/event.h.
 *
 * The pairs. A: the word is published by a release store, under the slot's lock; B: anybody reads it by an acquire load and
 * may go by it. C: active goes to 0 after A, also by a release store; whoever reads that (D, acquire) and then the word
 * again finds the word complete, so a handle that is neither active nor complete was never given out.
 * E: a creator publishes active and then looks whether the system is shut; F: a shutdown says so and then looks who is
 * active. Both sequentially consistent: one of them sees the other.
 *
 * Who waits looks at the word without the lock, and again at active with it: without the second look it could lie down in
 * the queue after the waiters were taken out of it. Mutants of these rules are compiled by WF_MUTANT_EVENT_*; the tests
 * and models have to find them.
 */
#include <errno.h>

#include "arch/context.h"
#include "base/assert.h"
#include "base/point.h"
#include "event/event.h"
#include "wait/select.h"

_Static_assert((int)WF_EVENT_INCOMPLETE == (int)WEFT_EVENT_PENDING, "verdicts are the same inside and outside");
_Static_assert((int)WF_EVENT_READY == (int)WEFT_EVENT_READY, "verdicts are the same inside and outside");
_Static_assert((int)WF_EVENT_POISONED == (int)WEFT_EVENT_POISONED, "verdicts are the same inside and outside");
_Static_assert((int)WF_EVENT_EXPIRED == (int)WEFT_EVENT_EXPIRED, "verdicts are the same inside and outside");

static struct wf_event_slot *event_take_slot(weft_events *events, int64_t deadline_ns, int *error);
static void event_give_slot(weft_events *events, struct wf_event_slot *slot, bool poisoned);
static int begin_shut(weft_events *events, weft_event event);
static void publish_locked(struct wf_event_slot *slot, bool poisoned, struct wf_waiter **chain);
static struct wf_waiter *take_waiters_locked(struct wf_event_slot *slot, int status);
static int verdict_slow(weft_events *events, struct wf_event_slot *slot, weft_event event, uint64_t word);
static int wait_pending(weft_events *events, struct wf_event_slot *slot, weft_event event, weft_event_reason *reason,
                        int64_t deadline_ns);
static int any_complete(weft_events *events, const weft_event *list, size_t count);

int weft_event_new(weft_events *events, weft_event *out, weft_time deadline) {
    if (WF_UNLIKELY(!events || !out))
        return -EINVAL;
    int error = wf_wait_enter(deadline);
    if (WF_UNLIKELY(error))
        return error;
    struct wf_event_slot *slot = event_take_slot(events, deadline, &error);
    if (WF_UNLIKELY(!slot))
        return error;
    uint32_t generation = wf_event_word_last(wf_load_relaxed(&slot->word)) + 1;
    weft_event event = wf_event_handle(events, slot, generation);
    wf_exchange_seq_cst(&slot->active, generation);     /* E: pairs with F */
    if (WF_UNLIKELY(wf_load_seq_cst(&events->is_shut))) /* E */
        return begin_shut(events, event);
    *out = event;
    return 0;
}

static inline struct wf_event_slot *event_take_slot(weft_events *events, int64_t deadline_ns, int *error) {
    struct wf_event_magazine *magazine = wf_event_magazine(events);
    uint32_t count = magazine ? wf_load_relaxed(&magazine->count) : 0;
    if (WF_UNLIKELY(count == 0))
        return wf_event_slot_take_slow(events, deadline_ns, error);
    wf_store_relaxed(&magazine->count, count - 1);
    wf_count_owner(&magazine->created, 1);
    return magazine->slots[count - 1];
}

/* The shutdown may have passed this slot already, or may be about to poison it: either way it is poisoned. */
static int begin_shut(weft_events *events, weft_event event) {
    struct wf_event_ending ending = {.reason = &events->shut_reason, .is_shutdown = true};
    wf_event_end(events, event, &ending);
    return -ESHUTDOWN;
}

int weft_event_trigger(weft_events *events, weft_event event) {
    static const struct wf_event_ending triggered = {.reason = NULL};
    return wf_event_end(events, event, &triggered);
}

int weft_event_poison(weft_events *events, weft_event event, int code, const char *text) {
    weft_event_reason reason;
    wf_event_reason_set(&reason, code, text);
    struct wf_event_ending ending = {.reason = &reason};
    int status = wf_event_end(events, event, &ending);
    if (status == -EALREADY && weft_event_poll(events, event) == WEFT_EVENT_POISONED)
        return 0;
    return status;
}

int wf_event_end(weft_events *events, weft_event event, const struct wf_event_ending *ending) {
    int error;
    if (WF_UNLIKELY(event.bits == 0))
        return events ? -EALREADY : -EINVAL;
    struct wf_event_slot *slot = wf_event_find(events, event, &error);
    if (WF_UNLIKELY(!slot))
        return error;
    struct wf_waiter *chain = NULL;
    error = wf_event_complete(events, slot, wf_event_generation(event), ending, &chain);
    if (chain)
        wf_event_tell(events, chain, ending->reason);
    return error;
}

int wf_event_complete(weft_events *events, struct wf_event_slot *slot, uint32_t generation,
                      const struct wf_event_ending *ending, struct wf_waiter **chain) {
    bool poisoned = ending->reason != NULL;
    wf_lock_take(&slot->lock);
    if (WF_UNLIKELY(wf_load_relaxed(&slot->active) != generation)) {
        bool was_begun = generation <= wf_event_word_last(wf_load_relaxed(&slot->word));
        wf_lock_drop(&slot->lock);
        return was_begun ? -EALREADY : -EINVAL;
    }
    if (WF_UNLIKELY(ending->owner && slot->owner != ending->owner)) { /* disowned meanwhile */
        wf_lock_drop(&slot->lock);
        return -EALREADY;
    }
    if (WF_UNLIKELY(slot->owner))
        wf_event_disown_locked(events, slot);
    if (poisoned && !ending->is_shutdown)
        wf_event_reasons_add(&events->reasons, wf_event_handle(events, slot, generation), ending->reason);
    if (ending->is_shutdown)
        wf_store_relaxed(&slot->shut_generation, generation);
    wf_context_release(slot);
    publish_locked(slot, poisoned, chain);
    wf_lock_drop(&slot->lock);
    WF_POINT("event.before_give");
    event_give_slot(events, slot, poisoned);
    return 0;
}

static inline void publish_locked(struct wf_event_slot *slot, bool poisoned, struct wf_waiter **chain) {
    uint64_t word = wf_event_word_complete(wf_load_relaxed(&slot->word), poisoned);
    if (slot->waiters)
        *chain = take_waiters_locked(slot, poisoned ? -ENOTRECOVERABLE : 0);
    WF_POINT("event.before_publish");
#ifdef WF_MUTANT_EVENT_WAKE_FIRST
    wf_wait_wake_chain(*chain);
    *chain = NULL;
    WF_POINT("event.mutant_woken");
#endif
#ifdef WF_MUTANT_EVENT_TWO_STORES
    wf_store_release(&slot->word, word & ~(UINT64_C(1) << 32));
    WF_POINT("event.mutant_between");
#endif
    wf_store_release(&slot->word, word); /* A: pairs with B */
    WF_POINT("event.after_publish");
    wf_store_release(&slot->active, 0); /* C: pairs with D */
}

/* In the order in which they came. Their value stays: it is where they want the reason. */
static struct wf_waiter *take_waiters_locked(struct wf_event_slot *slot, int status) {
    struct wf_waiter *first = NULL;
    struct wf_waiter **end = &first;
    struct wf_waiter *waiter;
    while ((waiter = wf_wait_take_first_locked(&slot->waiters))) {
        waiter->status = status;
        *end = waiter;
        end = &waiter->next;
    }
    *end = NULL;
    return first;
}

static inline void event_give_slot(weft_events *events, struct wf_event_slot *slot, bool poisoned) {
    struct wf_event_magazine *magazine = wf_event_magazine(events);
    uint32_t count = magazine ? wf_load_relaxed(&magazine->count) : WF_EVENT_MAGAZINE;
    if (WF_UNLIKELY(poisoned || events->is_strict || count == WF_EVENT_MAGAZINE ||
                    wf_event_word_last(wf_load_relaxed(&slot->word)) == UINT32_MAX)) {
        wf_event_slot_give_slow(events, slot, poisoned);
        return;
    }
    magazine->slots[count] = slot;
    wf_store_relaxed(&magazine->count, count + 1);
    wf_count_owner(&magazine->triggered, 1);
    wf_fence_compiler(); /* G: the slot lies there, then this look; pairs with H in event/slots.c */
    if (WF_UNLIKELY(wf_load_relaxed(&events->is_wanted)))
        wf_event_magazine_empty(events, magazine);
}

int weft_event_poll(weft_events *events, weft_event event) {
    int error;
    if (WF_UNLIKELY(event.bits == 0))
        return events ? WEFT_EVENT_READY : -EINVAL;
    struct wf_event_slot *slot = wf_event_find(events, event, &error);
    if (WF_UNLIKELY(!slot))
        return error;
    int verdict = wf_event_verdict_of(events, slot, event);
    wf_context_acquire(slot);
    return verdict;
}

int wf_event_verdict_of(weft_events *events, struct wf_event_slot *slot, weft_event event) {
    uint64_t word = wf_load_acquire(&slot->word); /* B: pairs with A */
    enum wf_event_verdict verdict = wf_event_word_verdict(word, wf_event_generation(event));
    if (WF_LIKELY(verdict == WF_EVENT_READY || verdict == WF_EVENT_POISONED))
        return (int)verdict;
    return verdict_slow(events, slot, event, word);
}

static WF_NOINLINE int verdict_slow(weft_events *events, struct wf_event_slot *slot, weft_event event, uint64_t word) {
    uint32_t generation = wf_event_generation(event);
    enum wf_event_verdict verdict = wf_event_word_verdict(word, generation);
    if (verdict == WF_EVENT_INCOMPLETE) {
        WF_POINT("event.before_active");
        if (wf_load_acquire(&slot->active) == generation) /* D: pairs with C */
            return WEFT_EVENT_PENDING;
        verdict = wf_event_word_verdict(wf_load_acquire(&slot->word), generation); /* B */
        if (verdict == WF_EVENT_INCOMPLETE)
            return -EINVAL;
    }
    if (verdict != WF_EVENT_EXPIRED)
        return (int)verdict;
    bool is_whole;
    if (wf_event_reasons_find(&events->reasons, event, NULL, &is_whole))
        return WEFT_EVENT_POISONED;
    if (is_whole)
        return WEFT_EVENT_READY;
    wf_fetch_add_relaxed(&events->expired, 1);
    return WEFT_EVENT_EXPIRED;
}

int wf_event_status_of(weft_events *events, struct wf_event_slot *slot, weft_event event, int verdict,
                       weft_event_reason *out) {
    wf_context_acquire(slot);
    if (verdict == WEFT_EVENT_READY)
        return 0;
    if (verdict == WEFT_EVENT_EXPIRED)
        return -ENODATA;
    if (verdict != WEFT_EVENT_POISONED)
        return verdict;
    bool is_whole;
    if (!out || wf_event_reasons_find(&events->reasons, event, out, &is_whole))
        return -ENOTRECOVERABLE;
    if (wf_load_relaxed(&slot->shut_generation) == wf_event_generation(event)) /* written before A */
        *out = events->shut_reason;
    else
        wf_event_reason_set(out, -ENODATA, "reason no longer kept");
    return -ENOTRECOVERABLE;
}

int weft_event_get_reason(weft_events *events, weft_event event, weft_event_reason *out) {
    int error;
    if (!events || !out)
        return -EINVAL;
    if (event.bits == 0)
        return -ENOENT;
    struct wf_event_slot *slot = wf_event_find(events, event, &error);
    if (!slot)
        return error;
    int verdict = wf_event_verdict_of(events, slot, event);
    if (verdict == WEFT_EVENT_PENDING || verdict == WEFT_EVENT_READY)
        return -ENOENT;
    int status = wf_event_status_of(events, slot, event, verdict, out);
    return status == -ENOTRECOVERABLE ? 0 : status;
}

int weft_event_wait(weft_events *events, weft_event event, weft_event_reason *reason, weft_time deadline) {
    int error = wf_wait_enter(deadline);
    if (WF_UNLIKELY(error))
        return error;
    if (WF_UNLIKELY(event.bits == 0))
        return events ? 0 : -EINVAL;
    struct wf_event_slot *slot = wf_event_find(events, event, &error);
    if (WF_UNLIKELY(!slot))
        return error;
    int verdict = wf_event_verdict_of(events, slot, event);
    if (verdict != WEFT_EVENT_PENDING)
        return wf_event_status_of(events, slot, event, verdict, reason);
    return wait_pending(events, slot, event, reason, deadline);
}

static int wait_pending(weft_events *events, struct wf_event_slot *slot, weft_event event, weft_event_reason *reason,
                        int64_t deadline_ns) {
    WF_POINT("event.before_register");
    wf_lock_take(&slot->lock);
#ifndef WF_MUTANT_EVENT_NO_RECHECK
    if (wf_load_relaxed(&slot->active) != wf_event_generation(event)) {
        wf_lock_drop(&slot->lock);
        return wf_event_status_of(events, slot, event, wf_event_verdict_of(events, slot, event), reason);
    }
#else
    (void)events;
    (void)event;
#endif
    struct wf_waiter waiter = {.value = reason};
    int status = wf_wait_locked(&waiter, &slot->lock, &slot->waiters, deadline_ns, "event");
    wf_context_acquire(slot);
    return status;
}

int weft_event_wait_any(weft_events *events, const weft_event *list, size_t count, weft_time deadline) {
    enum { FEW_EVENTS = 16 };
    weft_case few[FEW_EVENTS];
    if (!events || !list || count == 0 || count > WEFT_SELECT_MAX)
        return -EINVAL;
    int chosen = wf_wait_enter(deadline);
    if (!chosen)
        chosen = any_complete(events, list, count);
    if (chosen != -ETIMEDOUT || deadline == WEFT_NOW)
        return chosen;
    weft_case *cases = count <= FEW_EVENTS ? few : wf_wait_alloc(count * sizeof *cases);
    if (!cases)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        cases[i] = weft_on_event(events, list[i], NULL);
    chosen = weft_select_ordered(cases, (int)count, deadline);
    if (cases != few)
        wf_wait_free(cases);
    return chosen;
}

/* The lowest that is complete; an error of the first that is none; else -ETIMEDOUT. */
static int any_complete(weft_events *events, const weft_event *list, size_t count) {
    int first = -ETIMEDOUT;
    for (size_t i = 0; i < count; i++) {
        int verdict = weft_event_poll(events, list[i]);
        if (verdict < 0)
            return verdict;
        if (verdict != WEFT_EVENT_PENDING && first < 0)
            first = (int)i;
    }
    return first;
}

/* As a case of select. */
static struct wf_event_slot *event_case_slot(const weft_case *entry) {
    int error;
    weft_events *events = entry->object;
    return entry->id ? wf_event_find(events, (weft_event){entry->id}, &error) : &events->none;
}

static bool event_case_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_events *events = entry->object;
    if (!events) {
        entry->status = -EINVAL;
        return false;
    }
    if (entry->id && !wf_event_find(events, (weft_event){entry->id}, &entry->status))
        return false;
    struct wf_event_slot *slot = event_case_slot(entry);
    *lock = &slot->lock;
    *queue = &slot->waiters;
    return true;
}

static bool event_case_attempt(weft_case *entry, struct wf_waiter **wakes) {
    (void)wakes;
    weft_event event = {entry->id};
    struct wf_event_slot *slot = event_case_slot(entry);
    if (event.bits == 0)
        return true;
    if (wf_load_relaxed(&slot->active) == wf_event_generation(event))
        return false;
    int verdict = wf_event_verdict_of(entry->object, slot, event);
    entry->status = wf_event_status_of(entry->object, slot, event, verdict, entry->value);
    return true;
}

static void event_case_prepare(weft_case *entry, struct wf_waiter *node) {
    node->value = entry->value;
}

static void event_case_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
    wf_context_acquire(event_case_slot(entry));
}

static const struct wf_case_kind event_kind = {
    .name = "event",
    .begin = event_case_begin,
    .attempt = event_case_attempt,
    .prepare = event_case_prepare,
    .finish = event_case_finish,
};

weft_case weft_on_event(weft_events *events, weft_event event, weft_event_reason *reason) {
    return wf_case_make(&event_kind, events, event.bits, reason);
}
