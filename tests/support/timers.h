/* SPDX-License-Identifier: MIT
 *
 * support/timers.h - timers that need memory.
 *
 * Mostly a timer is put into a run, which takes none (sched/timer.h). For tests of what happens when there is no room for one, all
 * runs of the calling fiber's runtime, of which none may be in use, are made to end later than any deadline, so that the heap is
 * all that is left.
 */
#ifndef SUPPORT_TIMERS_H
#define SUPPORT_TIMERS_H

#include "fiber/fiber.h"
#include "support/check.h"

static inline void timers_need_memory(void) {
    struct wf_engine *engine = &wf_worker_self()->fibers->engine;
    for (uint32_t i = 0; i < wf_engine_limit(engine); i++) {
        struct wf_timers *timers = &engine->processors[i]->timers;
        wf_lock_take(&timers->lock);
        for (int run = 0; run < WF_TIMER_RUNS; run++) {
            CHECK(wf_list_is_empty(&timers->runs[run].timers));
            timers->runs[run].end_ns = INT64_MAX;
        }
        wf_lock_drop(&timers->lock);
    }
}

#endif
