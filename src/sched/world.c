/* SPDX-License-Identifier: MIT
 *
 * sched/world.c - holding every processor but one at a point where no task runs.
 *
 * world_active counts processors whose holders may be running a task. It goes down when a holder sleeps or is held and up
 * when it goes on; going up is followed by a look at world_requested, and a worker that finds a request goes down again and
 * waits on its processor's world_parker. The stopper sets the request first and looks at the count afterwards. All four are
 * seq_cst, so either the stopper still counts the processor or the worker sees the request.
 *
 *     stopper: request = 1; wait until active == 1 ... the world stands still ... request = 0; unpark everybody
 *     worker:  active - 1; sleep; active + 1; if request: active - 1, wait, again
 *
 * Only a worker that holds a processor can be the stopper, so 1 is itself.
 *
 * A processor that is lent counts too, and its worker may be in a call for hours. The stopper *freezes* it: it moves the
 * worker's word from LENT to FROZEN and takes it out of the count. A worker that comes back finds that and waits; the stopper
 * thaws it afterwards. One that lends later sees the request and pokes the stopper, who looks again.
 *
 * Tasks that run alone are not stopped while they run. They touch nothing that belongs to a processor; one that sleeps looks
 * at the request when it wakes, and waits (fiber/alone.c).
 */
#include "base/assert.h"
#include "os/clock.h"
#include "os/report.h"
#include "sched/engine.h"

/* Mutants, found by tests/model/model_world.c. */
#ifdef WF_MUTANT_WORLD_RELAXED_LOOKS
#define WORLD_LOAD wf_load_relaxed
#else
#define WORLD_LOAD wf_load_seq_cst
#endif

static void freeze_lent(struct wf_engine *engine);
static void thaw_lent(struct wf_engine *engine);

bool wf_world_request(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    uint32_t nobody = 0;
    WF_ASSERT(worker->processor);
    if (!wf_cas_seq_cst(&engine->world_requested, &nobody, 1))
        return false;
    struct wf_parker *parker = &worker->processor->world_parker;
    wf_store_seq_cst(&engine->world_stopper, parker);
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
        wf_store_seq_cst(&engine->processors[i]->attention, 1); /* ours too: a stopper that suspends itself is caught */
    for (;;) {
        freeze_lent(engine);
        if (WORLD_LOAD(&engine->world_active) == 1)
            return true;
        wf_parker_park(parker, WF_NEVER);
    }
}

static void freeze_lent(struct wf_engine *engine) {
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++) {
        struct wf_worker *holder = wf_load_acquire(&engine->processors[i]->holder); /* pairs with its hand-over */
        uint32_t grip = holder ? wf_load_seq_cst(&holder->grip) : 0;
#ifdef WF_MUTANT_WORLD_COUNT_LENT
        if (holder && wf_grip_state(grip) == WF_WORKER_LENT) /* as if a lent processor could not come back */
#else
        if (holder && wf_grip_state(grip) == WF_WORKER_LENT &&
            wf_cas_seq_cst(&holder->grip, &grip, wf_grip(WF_WORKER_FROZEN, grip >> WF_GRIP_BITS)))
#endif
            wf_fetch_sub_seq_cst(&engine->world_active, 1);
    }
}

static void thaw_lent(struct wf_engine *engine) {
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++) {
        struct wf_worker *holder = wf_load_acquire(&engine->processors[i]->holder);
        uint32_t grip = holder ? wf_load_seq_cst(&holder->grip) : 0;
        if (!holder || wf_grip_state(grip) != WF_WORKER_FROZEN)
            continue;
#ifndef WF_MUTANT_WORLD_THAW_UNCOUNTED
        wf_fetch_add_seq_cst(&engine->world_active, 1);
#endif
        wf_store_seq_cst(&holder->grip, wf_grip(WF_WORKER_LENT, grip >> WF_GRIP_BITS));
    }
}

void wf_world_release(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
#ifndef WF_MUTANT_WORLD_THAW_LATE
    thaw_lent(engine); /* before anybody else can stop the world, and count them again */
#endif
    wf_store_seq_cst(&engine->world_stopper, NULL);
    wf_store_seq_cst(&engine->world_requested, 0);
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
        if (engine->processors[i] != worker->processor)
            wf_parker_unpark(&engine->processors[i]->world_parker);
    wf_crew_unpark_busy(engine); /* those who were frozen, or slept alone and were woken meanwhile */
#ifdef WF_MUTANT_WORLD_THAW_LATE
    thaw_lent(engine);
#endif
}

void wf_world_saw_lent(struct wf_worker *worker) {
    /* The processor may be somebody else's by now, who stops the world; acquire: then we see that it was taken. */
    if (wf_load_acquire(&worker->engine->world_stopper) == &wf_load_relaxed(&worker->lent)->world_parker &&
        wf_worker_state(worker) != WF_WORKER_ALONE)
        wf_fatal("a fiber began a blocking region while it had the world stopped");
    wf_world_poke(worker->engine);
}

void wf_world_poke(struct wf_engine *engine) {
    struct wf_parker *stopper = wf_load_seq_cst(&engine->world_stopper);
    if (stopper)
        wf_parker_unpark(stopper);
}

void wf_world_rest(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    uint32_t was = wf_fetch_sub_seq_cst(&engine->world_active, 1);
    WF_ASSERT(was > 0);
#ifndef WF_MUTANT_WORLD_REST_UNSEEN
    wf_world_poke(engine);
#endif
}

void wf_world_resume(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    for (;;) {
        wf_fetch_add_seq_cst(&engine->world_active, 1);
        if (!WORLD_LOAD(&engine->world_requested))
            return;
        wf_world_rest(worker);
        wf_parker_park(&worker->processor->world_parker, WF_NEVER);
    }
}
