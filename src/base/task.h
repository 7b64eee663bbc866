/* SPDX-License-Identifier: MIT
 *
 * base/task.h - what the engine schedules: a link and a lane.
 *
 * A fiber begins with one. Queues link tasks through next; a task is in at most one queue at a time, and next belongs
 * to whoever holds that queue. Chains are NULL-terminated.
 *
 * Lanes are strict priorities with a floor: see sched/processor.c for how the lower ones are kept alive.
 */
#ifndef WF_BASE_TASK_H
#define WF_BASE_TASK_H

#include <stddef.h>
#include <stdint.h>

enum wf_lane { WF_LANE_HIGH, WF_LANE_NORMAL, WF_LANE_LOW, WF_LANES };

struct wf_task {
    struct wf_task *next;
};

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
