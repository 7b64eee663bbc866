/* SPDX-License-Identifier: MIT
 *
 * sched/world.c - holding every worker but one at a point where no task runs.
 *
 * world_active counts workers that may be running a task. It goes down when a worker sleeps or is held and up when it
 * goes on; going up is followed by a look at world_requested, and a worker that finds a request goes down again and
 * waits on its world_parker. The stopper sets the request first and looks at the count afterwards. All four are seq_cst,
 * so either the stopper still counts the worker or the worker sees the request.
 *
 *     stopper: request = 1; wait until active == 1 ... the world stands still ... request = 0; unpark everybody
 *     worker:  active - 1; sleep; active + 1; if request: active - 1, wait, again
 *
 * Only a worker that runs a task can be the stopper, so 1 is itself.
 */
#include "base/assert.h"
#include "sched/engine.h"

bool wf_world_request(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    uint32_t nobody = 0;
    if (!wf_cas_seq_cst(&engine->world_requested, &nobody, 1))
        return false;
    wf_store_seq_cst(&engine->world_stopper, &worker->world_parker);
    for (uint32_t i = 0; i < engine->count; i++)
        wf_store_seq_cst(&engine->processors[i]->attention, 1); /* ours too: a stopper that suspends itself is caught */
    while (wf_load_seq_cst(&engine->world_active) != 1)
        wf_parker_park(&worker->world_parker, INT64_MAX);
    return true;
}

void wf_world_release(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    wf_store_seq_cst(&engine->world_stopper, NULL);
    wf_store_seq_cst(&engine->world_requested, 0);
    wf_store_relaxed(&worker->processor->attention, 0);
    for (uint32_t i = 0; i < engine->count; i++)
        if (i != worker->index)
            wf_parker_unpark(&engine->workers[i]->world_parker);
}

void wf_world_rest(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    uint32_t was = wf_fetch_sub_seq_cst(&engine->world_active, 1);
    WF_ASSERT(was > 0);
    struct wf_parker *stopper = wf_load_seq_cst(&engine->world_stopper);
    if (stopper)
        wf_parker_unpark(stopper);
}

void wf_world_resume(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    for (;;) {
        wf_fetch_add_seq_cst(&engine->world_active, 1);
        if (!wf_load_seq_cst(&engine->world_requested))
            return;
        wf_world_rest(worker);
        wf_parker_park(&worker->world_parker, INT64_MAX);
    }
}
