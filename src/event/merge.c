/* SPDX-License-Identifier: MIT
 *
 * event/merge.c - events made of events, and telling chains of them without recursion.
 *
 * A merge is a block with one node for each pending input and two numbers: how many inputs must still be ready, and how
 * many may still fail. Every policy is a choice of these. The first of them to run out *decides* the merge. Then the output
 * is completed, nodes that still wait are taken out of their inputs, and the block goes when the last node is out or has
 * fired. A block knows its output by handle only, so the output's slot is free for others at once: no slot is held back
 * for a late input.
 *
 * While the nodes are being registered a node that fires only notes what it brings; whoever registers decides at the end.
 *
 * Telling: wf_event_tell goes through the waiters that a completion took out. Decided merges among them go on a list, the
 * others are woken; then the list is worked off, which may put more on it. So a chain of a million merges is a loop, not a
 * million frames. On a fiber the loop yields after every budget of merges, so that its worker is not held up.
 *
 * Rejected: a fiber for the rest of a long chain, which may find no memory for its stack, and then the rest is lost.
 * A task that waits for the inputs one after the other (slow, and reports a poison only when its turn comes);
 * keeping the output's slot from reuse until the last input has fired, which one input that never fires would make a leak.
 */
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "event/event.h"

/* 256: a few tens of microseconds. */
enum { TELL_BUDGET = 256 };

struct merge_node {
    struct wf_waiter waiter;
    union {
        struct wf_wait wait;
        weft_event_reason reason; /* of the input that decided against it, once this node has fired */
    };
    struct merge *merge;
    weft_event input;
    bool is_registered; /* by whoever registers */
};

struct merge {
    weft_events *events;
    weft_event output;
    struct merge *next; /* in a list of decided ones */
    struct wf_lock lock;
    uint32_t references; /* under lock: nodes that are linked or firing, and one of whoever registers or completes */
    uint32_t needed;     /* under lock: inputs that must still be ready */
    uint32_t spare;      /* under lock: inputs that may still fail */
    bool is_registering; /* under lock */
    bool is_decided;     /* under lock */
    bool counts_settled; /* constant: a poisoned input is as good as a ready one */
    const weft_event_reason *reason; /* under lock, constant once decided: why not, or NULL */
    uint32_t count;                  /* constant */
    struct merge_node nodes[];
};

/* What the inputs say. */
struct census {
    size_t needed;
    bool counts_settled;
    size_t pending;
    size_t ready;
    weft_event only;    /* a pending one */
    weft_event culprit; /* a poisoned one */
};

static int take_census(weft_events *events, const weft_event *inputs, size_t count, struct census *census,
                       struct merge *merge);
static int answer_census(weft_events *events, const struct census *census, weft_event *out);
static int merge_poisoned(weft_events *events, weft_event culprit, weft_event *out);
static struct merge *merge_alloc(weft_events *events, size_t nodes);
static void merge_start(struct merge *merge);
static void merge_register(struct merge *merge, struct merge_node *node);
static bool merge_account_locked(struct merge_node *node, int status, const weft_event_reason *reason);
static bool merge_arrive(struct merge_node *node, int status, const weft_event_reason *reason);
static void merge_close(struct merge *merge);
static void merge_release(struct merge *merge, uint32_t references);
static void merge_fire(struct wf_wait *wait);
static struct wf_waiter *tell_merges(struct wf_waiter *chain, const weft_event_reason *reason, struct merge **decided,
                                     uint32_t *waiters);
static void tell_waiters(weft_events *events, struct wf_waiter *chain, uint32_t count, const weft_event_reason *reason);
static void tell_decided(weft_events *events, struct merge *first);
static struct merge *tell_some(struct merge *first, uint32_t budget);

int weft_event_merge(weft_events *events, const weft_event *inputs, size_t count, weft_merge_policy policy,
                     size_t quorum, weft_event *out) {
    if (!events || !out || (!inputs && count) || (unsigned)policy > WEFT_MERGE_QUORUM || count > UINT32_MAX)
        return -EINVAL;
    struct census census = {.counts_settled = policy == WEFT_MERGE_ALL_SETTLED};
    census.needed = policy == WEFT_MERGE_ANY ? 1 : policy == WEFT_MERGE_QUORUM ? quorum : count;
    if (census.needed > count)
        return -EINVAL;
    int answer = take_census(events, inputs, count, &census, NULL);
    if (!answer)
        answer = answer_census(events, &census, out);
    if (answer <= 0)
        return answer;
    struct merge *merge = merge_alloc(events, census.pending);
    if (!merge)
        return -ENOMEM;
    answer = take_census(events, inputs, count, &census, merge);
    if (!answer)
        answer = answer_census(events, &census, out);
    if (answer > 0)
        answer = weft_event_new(events, &merge->output, WEFT_NOW);
    else
        merge->count = 0;
    if (answer || merge->count == 0) {
        wf_os_free(merge);
        return answer;
    }
    merge->counts_settled = census.counts_settled;
    merge->needed = (uint32_t)(census.needed - census.ready);
    merge->spare = (uint32_t)(census.ready + census.pending - census.needed);
    *out = merge->output;
    merge_start(merge);
    return 0;
}

/* Counts, and notes the pending ones in merge, if there is one: it has room for those that were pending before, and none
 * becomes pending again. */
static int take_census(weft_events *events, const weft_event *inputs, size_t count, struct census *census,
                       struct merge *merge) {
    census->pending = census->ready = 0;
    for (size_t i = 0; i < count; i++) {
        int verdict = weft_event_poll(events, inputs[i]);
        if (verdict < 0)
            return verdict;
        if (verdict == WEFT_EVENT_PENDING) {
            if (merge)
                merge->nodes[merge->count++].input = inputs[i];
            census->pending++;
            census->only = inputs[i];
        } else if (verdict == WEFT_EVENT_READY || census->counts_settled) {
            census->ready++;
        } else if (verdict == WEFT_EVENT_POISONED) {
            census->culprit = inputs[i];
        } else {
            return -ENODATA;
        }
    }
    return 0;
}

/* 0 or an error: that was all. 1: it takes a merge. */
static int answer_census(weft_events *events, const struct census *census, weft_event *out) {
    if (census->ready >= census->needed) {
        *out = WEFT_NO_EVENT;
        return 0;
    }
    if (census->ready + census->pending < census->needed)
        return merge_poisoned(events, census->culprit, out);
    if (census->pending > 1 || census->counts_settled)
        return 1;
    *out = census->only;
    return 0;
}

/* It cannot become ready any more: an event of its own that is poisoned from the start. */
static int merge_poisoned(weft_events *events, weft_event culprit, weft_event *out) {
    weft_event_reason reason;
    struct wf_event_ending ending = {.reason = &reason};
    weft_event event;
    if (weft_event_get_reason(events, culprit, &reason) != 0)
        wf_event_reason_set(&reason, -ENODATA, "reason no longer kept");
    int error = weft_event_new(events, &event, WEFT_NOW);
    if (error)
        return error;
    wf_event_end(events, event, &ending);
    *out = event;
    return 0;
}

static struct merge *merge_alloc(weft_events *events, size_t nodes) {
    struct merge *merge = wf_os_alloc(sizeof *merge + nodes * sizeof merge->nodes[0]);
    if (!merge)
        return NULL;
    wf_lock_init(&merge->lock);
    merge->events = events;
    merge->references = 1;
    merge->is_registering = true;
    return merge;
}

int weft_event_trigger_after(weft_events *events, weft_event event, weft_event after) {
    int verdict = weft_event_poll(events, event);
    int wanted = verdict < 0 ? verdict : weft_event_poll(events, after);
    if (wanted < 0)
        return wanted;
    if (verdict != WEFT_EVENT_PENDING)
        return -EALREADY;
    if (event.bits == after.bits)
        return -EDEADLK;
    if (wanted == WEFT_EVENT_EXPIRED)
        return -ENODATA;
    if (wanted == WEFT_EVENT_READY)
        return weft_event_trigger(events, event);
    struct merge *merge = merge_alloc(events, 1);
    if (!merge)
        return -ENOMEM;
    merge->output = event;
    merge->needed = 1;
    merge->nodes[0].input = after;
    merge->count = 1;
    merge_start(merge);
    return 0;
}

/* Registers the nodes; decides if that is possible by then. */
static void merge_start(struct merge *merge) {
    weft_events *events = merge->events;
    wf_fetch_add_relaxed(&events->runs, 1);
    for (uint32_t i = 0; i < merge->count; i++)
        merge_register(merge, &merge->nodes[i]);
    WF_POINT("merge.registered");
    wf_lock_take(&merge->lock);
    merge->is_registering = false;
    bool is_decided = merge->is_decided;
    wf_lock_drop(&merge->lock);
    if (is_decided) {
        tell_decided(events, merge);
        return;
    }
    merge_release(merge, 1);
    wf_fetch_sub_release(&events->runs, 1); /* pairs with weft_events_free */
}

/* An input that has completed since it was counted is accounted here. */
static void merge_register(struct merge *merge, struct merge_node *node) {
    int error;
    weft_event_reason reason;
    struct wf_event_slot *slot = wf_event_find(merge->events, node->input, &error);
    node->merge = merge;
    wf_wait_begin_callback(&node->wait, &node->waiter, merge_fire);
    node->waiter.value = NULL;
    wf_lock_take(&merge->lock);
    bool is_decided = merge->is_decided;
    merge->references += !is_decided;
    wf_lock_drop(&merge->lock);
    if (is_decided)
        return;
    wf_lock_take(&slot->lock);
    node->is_registered = wf_load_relaxed(&slot->active) == wf_event_generation(node->input);
    if (node->is_registered)
        wf_wait_link_locked(&node->waiter, &slot->lock, &slot->waiters);
    wf_lock_drop(&slot->lock);
    if (node->is_registered)
        return;
    int verdict = wf_event_verdict_of(merge->events, slot, node->input);
    int status = wf_event_status_of(merge->events, slot, node->input, verdict, &reason);
    if (status == -ENODATA)
        wf_event_reason_set(&reason, -ENODATA, "reason no longer kept");
    wf_lock_take(&merge->lock);
    merge->references--; /* whoever registers has one of its own */
    merge_account_locked(node, status, &reason);
    wf_lock_drop(&merge->lock);
}

/* True: this one decides. The node's own wait is over, so its memory has room for the reason. */
static bool merge_account_locked(struct merge_node *node, int status, const weft_event_reason *reason) {
    struct merge *merge = node->merge;
    if (merge->is_decided)
        return false;
    if (status == 0 || merge->counts_settled) {
        merge->is_decided = --merge->needed == 0;
    } else if (merge->spare > 0) {
        merge->spare--;
    } else {
        merge->is_decided = true;
        node->reason = *reason;
        merge->reason = &node->reason;
    }
    return merge->is_decided;
}

/* An input has completed. True: that decides the merge, and the node's reference is the caller's, who completes it. */
static bool merge_arrive(struct merge_node *node, int status, const weft_event_reason *reason) {
    struct merge *merge = node->merge;
    wf_lock_take(&merge->lock);
    bool decides = merge_account_locked(node, status, reason) && !merge->is_registering;
    wf_lock_drop(&merge->lock);
    if (!decides)
        merge_release(merge, 1);
    return decides;
}

/* Decided: the inputs that are still pending need not tell it. */
static void merge_close(struct merge *merge) {
    uint32_t unlinked = 0;
    for (uint32_t i = 0; i < merge->count; i++)
        if (merge->nodes[i].is_registered)
            unlinked += wf_wait_unlink(&merge->nodes[i].waiter);
    merge_release(merge, unlinked + 1);
}

static void merge_release(struct merge *merge, uint32_t references) {
    wf_lock_take(&merge->lock);
    bool is_last = (merge->references -= references) == 0;
    wf_lock_drop(&merge->lock);
    if (is_last)
        wf_os_free(merge);
}

/* Says what a waiter is; never called, because tell_merges comes before it. */
static void merge_fire(struct wf_wait *wait) {
    (void)wait;
    WF_CHECK(!"a merge was woken like a waiter");
}

bool wf_event_merge_drop_locked(struct wf_waiter *waiter) {
    if (waiter->wait->fire != merge_fire)
        return false;
    wf_wait_take_locked(waiter);
    merge_release(WF_CONTAINER(waiter, struct merge_node, waiter)->merge, 1);
    return true;
}

/* Nothing of the system may be touched once a waiter has been woken who might free it, unless there is a run. */
void wf_event_tell(weft_events *events, struct wf_waiter *chain, const weft_event_reason *reason) {
    struct merge *decided = NULL;
    uint32_t count = 0;
    chain = tell_merges(chain, reason, &decided, &count);
    if (WF_UNLIKELY(decided != NULL))
        wf_fetch_add_relaxed(&events->runs, 1);
    if (chain)
        tell_waiters(events, chain, count, reason);
    if (WF_UNLIKELY(decided != NULL))
        tell_decided(events, decided);
}

/* Takes merges out of a chain and accounts them; the rest of it, in order. */
static struct wf_waiter *tell_merges(struct wf_waiter *chain, const weft_event_reason *reason, struct merge **decided,
                                     uint32_t *waiters) {
    struct wf_waiter *rest = NULL;
    struct wf_waiter **end = &rest;
    for (struct wf_waiter *next; chain; chain = next) {
        next = chain->next;
        if (chain->wait->fire != merge_fire) {
            *end = chain;
            end = &chain->next;
            ++*waiters;
            continue;
        }
        struct merge_node *node = WF_CONTAINER(chain, struct merge_node, waiter);
        struct merge *merge = node->merge;
        if (merge_arrive(node, chain->status, reason)) {
            merge->next = *decided;
            *decided = merge;
        }
    }
    *end = NULL;
    return rest;
}

static void tell_waiters(weft_events *events, struct wf_waiter *chain, uint32_t count,
                         const weft_event_reason *reason) {
    struct wf_event_magazine *magazine = wf_event_magazine(events);
    if (magazine)
        wf_count_owner(&magazine->wakes, count);
    else
        wf_fetch_add_relaxed(&events->wakes, count);
    for (struct wf_waiter *next; chain; chain = next) {
        next = chain->next;
        if (reason && chain->value)
            *(weft_event_reason *)chain->value = *reason;
        WF_POINT("event.before_wake");
        wf_wait_wake(chain);
    }
}

/* With a run, which ends with the last of them. */
static void tell_decided(weft_events *events, struct merge *first) {
    while ((first = tell_some(first, TELL_BUDGET))) {
        bool may_be_dropped = wf_worker_self() && wf_worker_self()->fibers->abandons; /* and would drop them too */
        if (wf_fiber_may_yield() && !may_be_dropped)
            weft_yield();
    }
    wf_fetch_sub_release(&events->runs, 1); /* pairs with weft_events_free */
}

static struct merge *tell_some(struct merge *first, uint32_t budget) {
    while (first && budget-- > 0) {
        struct merge *merge = first;
        weft_events *events = merge->events;
        struct wf_event_ending ending = {.reason = merge->reason};
        struct wf_waiter *chain = NULL;
        uint32_t count = 0;
        int error;
        first = merge->next;
        struct wf_event_slot *slot = wf_event_find(events, merge->output, &error);
        wf_event_complete(events, slot, wf_event_generation(merge->output), &ending, &chain);
        chain = tell_merges(chain, ending.reason, &first, &count);
        if (chain)
            tell_waiters(events, chain, count, ending.reason);
        merge_close(merge);
    }
    return first;
}
