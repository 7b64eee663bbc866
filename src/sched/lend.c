/* SPDX-License-Identifier: MIT
 *
 * sched/lend.c - a worker whose task may block: its processor goes to somebody else, at once or only if it lasts.
 *
 *     HOLDS --lend--> LENT --reclaim--> HOLDS            nothing has happened: an exchange and a compare and swap
 *                       |----take_lent-> ALONE           somebody else has it; the worker is without one until it is spare
 *                       `----stopper---> FROZEN --> LENT the world is stopped, and the worker counts as standing still
 *     HOLDS --give--> ALONE                              the worker itself has given it to an heir
 *
 * The word of a worker, grip, is the state in its low bits and above them how often it has lent. So one value names one
 * region, and whoever takes reads what was lent between two looks at the same value. (The count comes round after 2^29
 * regions; a taker that slept through exactly so many would take a wrong one. Accepted.)
 *
 * Orders: lending releases everything the worker did with the processor to whoever takes it (A), and taking it back acquires
 * nothing new, since nobody else has had it. The exchange is also the worker's half of a pair with the stopper of the world: it
 * publishes LENT and then looks whether somebody stops the world; the stopper asks first and looks for LENT afterwards.
 */
#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "sched/engine.h"

void wf_worker_lend(struct wf_worker *worker) {
    WF_ASSERT(worker->processor);
    if (WF_UNLIKELY(worker->processor->is_uncovered))
        wf_worker_cover_timers(worker); /* our loop may come late */
    wf_store_relaxed(&worker->lent, worker->processor);
    worker->processor = NULL;
    uint64_t regions = wf_load_relaxed(&worker->regions) + 1;
    wf_store_relaxed(&worker->regions, regions);
    wf_exchange_seq_cst(&worker->grip, wf_grip(WF_WORKER_LENT, (uint32_t)regions)); /* A: pairs with B */
    if (WF_UNLIKELY(wf_load_seq_cst(&worker->engine->world_requested)))
        wf_world_saw_lent(worker);
}

bool wf_worker_reclaim(struct wf_worker *worker) {
    uint32_t regions = (uint32_t)wf_load_relaxed(&worker->regions);
    WF_POINT("reclaim.before_claim");
    for (;;) {
        uint32_t found = wf_grip(WF_WORKER_LENT, regions);
        if (WF_LIKELY(wf_cas_acq_rel(&worker->grip, &found, wf_grip(WF_WORKER_HOLDS, regions)))) {
            worker->processor = wf_load_relaxed(&worker->lent);
            return true;
        }
        if (wf_grip_state(found) == WF_WORKER_ALONE)
            return false;
        WF_ASSERT(wf_grip_state(found) == WF_WORKER_FROZEN);
        wf_parker_park(&wf_load_relaxed(&worker->lent)->world_parker, WF_NEVER);
    }
}

bool wf_worker_take_lent(struct wf_worker *worker, struct wf_worker *heir) {
    uint32_t grip = wf_load_acquire(&worker->grip); /* B: pairs with A */
    if (wf_grip_state(grip) != WF_WORKER_LENT)
        return false;
    struct wf_processor *processor = wf_load_relaxed(&worker->lent);
    WF_POINT("take.before_claim");
    wf_fetch_add_relaxed(&worker->engine->alone, 1);
    wf_store_relaxed(&worker->alone_since, wf_os_now());
    if (!wf_cas_acq_rel(&worker->grip, &grip, wf_grip(WF_WORKER_ALONE, grip >> WF_GRIP_BITS))) {
        wf_fetch_sub_relaxed(&worker->engine->alone, 1);
        return false;
    }
    wf_crew_give_processor(heir, processor);
    return true;
}

void wf_worker_give(struct wf_worker *worker, struct wf_worker *heir) {
    struct wf_processor *processor = worker->processor;
    worker->processor = NULL;
    wf_fetch_add_relaxed(&worker->engine->alone, 1);
    wf_worker_move(worker, WF_WORKER_ALONE);
    wf_crew_give_processor(heir, processor);
}
