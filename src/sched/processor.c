/* SPDX-License-Identifier: MIT
 *
 * sched/processor.c - the owner's fast path: making tasks ready and picking the next one.
 *
 * No locks and no system calls unless a sleeping worker has to be woken or a ring overflows.
 *
 * Fairness
 *   - The countdown's picks, then NULL: the worker's loop serves timers, injection queue and low lane.
 *   - NEXT_STREAK picks from the next slot in a row, then a ring goes first: a pair of tasks that wake each other shares
 *     one slice and cannot starve the rest.
 *   - Pinned tasks and others take turns.
 *
 * Who is told about a new task: pushing to a ring makes surplus that another worker could run at once, so it always
 * notifies. The next slot is different: its task will usually run here in a moment, when its maker suspends itself, and
 * waking a core for it costs more than the task. So the first time somebody is woken; when woken searchers keep coming
 * back with nothing, the engine's back-off makes the owner leave out up to 1,023 such wakes. Nothing can be lost by
 * that: the owner runs the task itself.
 */
#include "sched/engine.h"

#include "base/assert.h"
#include "base/point.h"

enum { NEXT_STREAK = 32 };

static void push_owner(struct wf_processor *processor, struct wf_task *task);
static void push_overflow_owner(struct wf_processor *processor, struct wf_task *task, enum wf_lane lane);
static void notify_soon_owner(struct wf_processor *processor);
static struct wf_task *take_next_owner(struct wf_processor *processor);
static struct wf_task *take_pinned_owner(struct wf_processor *processor);

void wf_processor_ready_owner(struct wf_processor *processor, struct wf_task *task, bool soon) {
    int pinned = processor->engine->policy->pinned_to(task);
    if (WF_UNLIKELY(pinned >= 0)) {
        if ((uint32_t)pinned == processor->index)
            wf_chain_append(&processor->pinned, task);
        else
            wf_engine_submit_pinned_any(processor->engine, task, (uint32_t)pinned);
        return;
    }
    if (!soon || processor->engine->policy->lane(task) != WF_LANE_NORMAL) {
        push_owner(processor, task);
        return;
    }
    /* Only the owner makes next non-null, so null stays null under its feet and a store is enough. */
    if (!wf_load_relaxed(&processor->next)) {
        wf_store_release(&processor->next, task); /* pairs with the acquire of take_next_owner and of thieves */
    } else {
        struct wf_task *older = wf_exchange_acq_rel(&processor->next, task);
        if (older)
            push_owner(processor, older);
    }
    notify_soon_owner(processor);
}

static void push_owner(struct wf_processor *processor, struct wf_task *task) {
    enum wf_lane lane = processor->engine->policy->lane(task);
    if (WF_UNLIKELY(!wf_ring_push_owner(&processor->lanes[lane], task)))
        push_overflow_owner(processor, task, lane);
    if (processor->engine->count > 1)
        wf_engine_notify_any(processor->engine);
}

static WF_NOINLINE void push_overflow_owner(struct wf_processor *processor, struct wf_task *task, enum wf_lane lane) {
    struct wf_chain exported = {0};
    uint32_t count = wf_ring_export_owner(&processor->lanes[lane], &exported);
    if (count) {
        wf_count_owner(&processor->counters.injected, count);
        wf_inject_push_chain_any(&processor->engine->inject[lane], &exported);
    }
    bool has_room = wf_ring_push_owner(&processor->lanes[lane], task);
    WF_CHECK(has_room);
}

static void notify_soon_owner(struct wf_processor *processor) {
    if (processor->engine->count == 1)
        return;
    if (processor->wake_skip > 0) {
        processor->wake_skip--;
        return;
    }
    processor->wake_skip = wf_load_relaxed(&processor->engine->wake_backoff);
    wf_engine_notify_any(processor->engine);
}

struct wf_task *wf_processor_pick_owner(struct wf_processor *processor) {
    if (WF_UNLIKELY(processor->countdown == 0 || wf_load_relaxed(&processor->attention)))
        return NULL;
    processor->countdown--;
    struct wf_task *task;
    if (WF_UNLIKELY(processor->pinned.first || !wf_mailbox_is_empty_any(&processor->mailbox)))
        if ((task = take_pinned_owner(processor)))
            return task;
    if ((task = wf_ring_pop_owner(&processor->lanes[WF_LANE_HIGH])))
        return task;
    if (WF_LIKELY(processor->next_streak < NEXT_STREAK) && (task = take_next_owner(processor))) {
        processor->next_streak++;
        return task;
    }
    processor->next_streak = 0;
    if ((task = wf_ring_pop_owner(&processor->lanes[WF_LANE_NORMAL])))
        return task;
    if ((task = take_next_owner(processor)))
        return task;
    return wf_ring_pop_owner(&processor->lanes[WF_LANE_LOW]);
}

static struct wf_task *take_next_owner(struct wf_processor *processor) {
    if (!wf_load_relaxed(&processor->next))
        return NULL;
    if (processor->engine->count == 1) { /* no thieves */
        struct wf_task *task = wf_load_relaxed(&processor->next);
        wf_store_relaxed(&processor->next, NULL);
        return task;
    }
    return wf_exchange_acquire(&processor->next, NULL); /* a thief may have been faster: then NULL */
}

static struct wf_task *take_pinned_owner(struct wf_processor *processor) {
    processor->takes_pinned = !processor->takes_pinned;
    if (!processor->takes_pinned)
        return NULL;
    wf_mailbox_take_owner(&processor->mailbox, &processor->pinned);
    return wf_chain_take_first(&processor->pinned);
}

bool wf_processor_has_local_owner(struct wf_processor *processor) {
    if (processor->pinned.first || !wf_mailbox_is_empty_any(&processor->mailbox) || wf_load_relaxed(&processor->next))
        return true;
    for (int lane = 0; lane < WF_LANES; lane++)
        if (!wf_ring_is_empty_any(&processor->lanes[lane]))
            return true;
    return false;
}
