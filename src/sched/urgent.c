/* SPDX-License-Identifier: MIT
 *
 * sched/urgent.c - tasks that are due at a moment: before all others, the earliest first, whoever comes by.
 *
 * One queue for the engine, sorted by the moment; tasks that are due at the same one stay in order. It is short, or the word
 * means nothing, so a list under a lock will do. Nobody steals from it: every worker looks here first.
 *
 * Whoever puts one in sets the attention of every processor, so that each comes by at its next scheduling point, and
 * notifies like for any other task. Whoever takes one and leaves others sets its own again.
 */
#include "base/assert.h"
#include "sched/engine.h"

void wf_urgent_submit_any(struct wf_engine *engine, struct wf_task *task) {
    struct wf_urgent *urgent = &engine->urgent;
    int64_t due = engine->policy->due(task);
    wf_lock_take(&urgent->lock);
    struct wf_task **at = &urgent->first;
    while (*at && engine->policy->due(*at) <= due)
        at = &(*at)->next;
    task->next = *at;
    *at = task;
    wf_count_owner(&urgent->length, 1);
    wf_lock_drop(&urgent->lock);
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
        wf_store_relaxed(&engine->processors[i]->attention, 1);
    wf_engine_notify_any(engine);
}

struct wf_task *wf_urgent_take_owner(struct wf_processor *processor) {
    struct wf_urgent *urgent = &processor->engine->urgent;
    if (WF_LIKELY(wf_load_relaxed(&urgent->length) == 0))
        return NULL;
    wf_lock_take(&urgent->lock);
    struct wf_task *task = urgent->first;
    if (task) {
        urgent->first = task->next;
        task->next = NULL;
        wf_count_owner(&urgent->length, -1);
    }
    bool has_more = urgent->first != NULL;
    wf_lock_drop(&urgent->lock);
    if (has_more)
        wf_store_relaxed(&processor->attention, 1);
    return task;
}
