/* SPDX-License-Identifier: MIT
 *
 * sched/processor.c - the owner's queues: making tasks ready and picking the next one.
 *
 * The fast path is inline, in sched/engine.h: no locks and no system calls unless a sleeping worker has to be woken. Here
 * is what is rarer: other lanes, pinned tasks, overflow.
 *
 * Fairness
 *   - The countdown's picks, then NULL: the worker's loop serves timers, injection queue and low lane.
 *   - The next slot is used only while the ring is empty, so it overtakes nobody; with other tasks waiting, everything
 *     goes first in, first out.
 *   - Pinned tasks and others take turns.
 *
 * Who is told about a new task: a worker is woken for it unless one searches already. That also goes for the next slot,
 * whose task will usually run here in a moment: its maker may go on computing, and then only somebody else can run it. To
 * keep the price down a searcher stays awake a while (sched/worker.c), so that a pair of tasks that wake each other finds
 * it searching and makes no system call.
 */
#include "sched/engine.h"

#include "base/assert.h"
#include "base/point.h"

static void push_overflow_owner(struct wf_processor *processor, struct wf_task *task, enum wf_lane lane);
static struct wf_task *take_pinned_owner(struct wf_processor *processor);

/* A task of another lane, a pinned one, or one that its ring has no room for. */
WF_NOINLINE void wf_processor_ready_slow_owner(struct wf_processor *processor, struct wf_task *task) {
    uint32_t pinned = wf_task_pinned(task);
    enum wf_lane lane = wf_task_lane(task);
    if (pinned == WF_TASK_ALONE) {
        processor->engine->policy->wake_alone(processor->engine, task);
        return;
    }
    if (pinned) {
        if (pinned == processor->index + 1) {
            wf_chain_append(&processor->pinned, task);
            processor->has_extra = true;
        } else {
            wf_engine_submit_any(processor->engine, task);
        }
        return;
    }
    if (lane == WF_LANE_URGENT) {
        wf_urgent_submit_any(processor->engine, task);
        return;
    }
    if (lane != WF_LANE_NORMAL)
        processor->has_extra = true;
    if (!wf_ring_push_owner(&processor->lanes[lane], task))
        push_overflow_owner(processor, task, lane);
    if (wf_load_relaxed(&processor->engine->is_shared))
        wf_engine_notify_any(processor->engine);
}

static void push_overflow_owner(struct wf_processor *processor, struct wf_task *task, enum wf_lane lane) {
    struct wf_chain exported = {0};
    uint32_t count = wf_ring_export_owner(&processor->lanes[lane], &exported);
    if (count) {
        wf_count_owner(&processor->counters.injected, count);
        wf_inject_push_chain_any(&processor->engine->inject[lane], &exported);
    }
    if (!wf_ring_push_owner(&processor->lanes[lane], task)) { /* a thief is still copying out what it took */
        wf_count_owner(&processor->counters.injected, 1);
        wf_inject_push_any(&processor->engine->inject[lane], task);
    }
}

WF_NOINLINE struct wf_task *wf_processor_pick_extra_owner(struct wf_processor *processor) {
    struct wf_task *task;
    if (processor->engine->replay.is_on)
        return wf_replay_pick_owner(processor);
    if ((task = take_pinned_owner(processor)) || (task = wf_ring_pop_owner(&processor->lanes[WF_LANE_HIGH])) ||
        (task = wf_processor_take_next_owner(processor)) ||
        (task = wf_ring_pop_owner(&processor->lanes[WF_LANE_NORMAL])) ||
        (task = wf_ring_pop_owner(&processor->lanes[WF_LANE_LOW])))
        return task;
    task = wf_chain_take_first(&processor->pinned); /* it was not their turn, but there is nobody else */
    processor->has_extra = processor->pinned.first != NULL;
    return task;
}

static struct wf_task *take_pinned_owner(struct wf_processor *processor) {
    wf_mailbox_take_owner(&processor->mailbox, &processor->pinned);
    if (processor->pinned.first)
        processor->has_extra = true;
    processor->takes_pinned = !processor->takes_pinned;
    return processor->takes_pinned ? wf_chain_take_first(&processor->pinned) : NULL;
}

bool wf_processor_has_local_owner(struct wf_processor *processor) {
    if (processor->pinned.first || !wf_mailbox_is_empty_any(&processor->mailbox) || wf_load_relaxed(&processor->next))
        return true;
    for (int lane = 0; lane < WF_LANES; lane++)
        if (!wf_ring_is_empty_any(&processor->lanes[lane]))
            return true;
    return false;
}
