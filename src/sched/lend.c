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

/* Mutants, found by tests/model/model_lend.c and model_world.c. */
#if defined(WF_MUTANT_LEND_RELAXED_LEND)
#define LEND_EXCHANGE wf_exchange_relaxed
#elif defined(WF_MUTANT_LEND_UNORDERED_LEND)
#define LEND_EXCHANGE wf_exchange_acq_rel
#else
#define LEND_EXCHANGE wf_exchange_seq_cst
#endif
#ifdef WF_MUTANT_LEND_RELAXED_TAKE
#define LEND_LOAD_GRIP wf_load_relaxed
#define LEND_CAS_TAKE wf_cas_relaxed
#else
#define LEND_LOAD_GRIP wf_load_acquire
#define LEND_CAS_TAKE wf_cas_acq_rel
#endif
#ifdef WF_MUTANT_LEND_NO_COUNT
#define LEND_COUNT(regions) ((uint32_t)(regions)&0)
#else
#define LEND_COUNT(regions) ((uint32_t)(regions))
#endif

void wf_worker_lend(struct wf_worker *worker) {
    WF_ASSERT(worker->processor);
    if (WF_UNLIKELY(worker->processor->is_uncovered))
        wf_worker_cover_timers(worker); /* our loop may come late */
    wf_store_relaxed(&worker->lent, worker->processor);
    worker->processor = NULL;
    uint64_t regions = wf_load_relaxed(&worker->regions) + 1;
    wf_store_relaxed(&worker->regions, regions);
    LEND_EXCHANGE(&worker->grip, wf_grip(WF_WORKER_LENT, LEND_COUNT(regions))); /* A: pairs with B */
#ifndef WF_MUTANT_LEND_NO_POKE
    if (WF_UNLIKELY(wf_load_seq_cst(&worker->engine->world_requested)))
        wf_world_saw_lent(worker);
#endif
}

bool wf_worker_reclaim(struct wf_worker *worker) {
    uint32_t regions = LEND_COUNT(wf_load_relaxed(&worker->regions));
    WF_POINT("reclaim.before_claim");
    for (;;) {
        uint32_t found = wf_grip(WF_WORKER_LENT, regions);
        if (WF_LIKELY(wf_cas_acq_rel(&worker->grip, &found, wf_grip(WF_WORKER_HOLDS, regions)))) {
            worker->processor = wf_load_relaxed(&worker->lent);
            return true;
        }
#ifdef WF_MUTANT_LEND_FROZEN_GOES_ON
        if (wf_grip_state(found) == WF_WORKER_FROZEN) {
            worker->processor = wf_load_relaxed(&worker->lent);
            return true;
        }
#endif
        if (wf_grip_state(found) == WF_WORKER_ALONE)
            return false;
        WF_ASSERT(wf_grip_state(found) == WF_WORKER_FROZEN);
        wf_parker_park(&worker->parker,
                       WF_NEVER); /* its own: the processor may have another holder when this is over */
    }
}

bool wf_worker_take_lent(struct wf_worker *worker, uint32_t seen, struct wf_worker *heir) {
    uint32_t grip = LEND_LOAD_GRIP(&worker->grip);             /* B: pairs with A */
    if (grip != seen || wf_grip_state(grip) != WF_WORKER_LENT) /* another region may be one of a pinned task */
        return false;
    struct wf_processor *processor = wf_load_relaxed(&worker->lent);
    WF_POINT("take.before_claim");
    wf_fetch_add_relaxed(&worker->engine->alone, 1);
    int64_t now = wf_os_now();
    wf_store_relaxed(&worker->alone_since, now);
    if (!LEND_CAS_TAKE(&worker->grip, &grip, wf_grip(WF_WORKER_ALONE, grip >> WF_GRIP_BITS))) {
        wf_cas_relaxed(&worker->alone_since, &now, 0); /* unless it counts for another reason by now */
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
