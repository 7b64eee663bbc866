/* SPDX-License-Identifier: MIT
 *
 * base/task.h - what the engine schedules: a link, a lane, and where it may run.
 *
 * A fiber begins with one. Queues link tasks through next; a task is in at most one queue at a time, and next belongs
 * to whoever holds that queue. Chains are NULL-terminated. lane and pin belong to the task while it runs and to
 * whoever makes it ready otherwise; both are in route, which is 0 for the usual task. A task may also be *alone*: it has a
 * thread of its own, and making it ready is the policy's business. home is a hint, where it ran last. The last two words
 * are not the engine's: they fill the gap for its user.
 *
 * Lanes are strict priorities with a floor: see sched/processor.c for how the lower ones are kept alive.
 */
#ifndef WF_BASE_TASK_H
#define WF_BASE_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"

/* The three lanes have a ring each. A task that is urgent is in none of them: see sched/urgent.c. */
enum wf_lane { WF_LANE_NORMAL, WF_LANE_HIGH, WF_LANE_LOW, WF_LANES, WF_LANE_URGENT = WF_LANES };

struct wf_task {
    struct wf_task *next;
    _Atomic uint16_t route;   /* lane in the two low bits; above, the one processor that may run it, plus 1, or 0 */
    _Atomic uint8_t state;    /* the user's */
    _Atomic uint8_t home;     /* index of the processor that it ran on last, plus 1; 0: unknown, or a higher one */
    _Atomic uint32_t version; /* the user's */
};
_Static_assert(sizeof(struct wf_task) == 16, "two words");

static inline enum wf_lane wf_task_lane(const struct wf_task *task) {
    return (enum wf_lane)(wf_load_relaxed(&task->route) & 3);
}

/* In place of a processor: the task is alone. */
#define WF_TASK_ALONE 0x3fffu

/* Processor plus 1, or 0; or WF_TASK_ALONE. */
static inline uint32_t wf_task_pinned(const struct wf_task *task) {
    return wf_load_relaxed(&task->route) >> 2;
}

static inline void wf_task_set_lane(struct wf_task *task, enum wf_lane lane) {
    wf_store_relaxed(&task->route, (uint16_t)((wf_load_relaxed(&task->route) & ~3u) | lane));
}

static inline void wf_task_set_pinned(struct wf_task *task, uint32_t processor_plus_1) {
    wf_store_relaxed(&task->route, (uint16_t)((wf_load_relaxed(&task->route) & 3u) | processor_plus_1 << 2));
}

/* The lanes, first to last. */
#define WF_LANE_ORDER \
    { WF_LANE_HIGH, WF_LANE_NORMAL, WF_LANE_LOW }

/* A NULL-terminated run of tasks. count is exact; both pointers are NULL when it is 0. */
struct wf_chain {
    struct wf_task *first;
    struct wf_task *last;
    size_t count;
};

static inline void wf_chain_append(struct wf_chain *chain, struct wf_task *task) {
    task->next = NULL;
    if (chain->last)
        chain->last->next = task;
    else
        chain->first = task;
    chain->last = task;
    chain->count++;
}

static inline struct wf_task *wf_chain_take_first(struct wf_chain *chain) {
    struct wf_task *task = chain->first;
    if (!task)
        return NULL;
    chain->first = task->next;
    if (!chain->first)
        chain->last = NULL;
    chain->count--;
    task->next = NULL;
    return task;
}

#endif
