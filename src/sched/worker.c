/* SPDX-License-Identifier: MIT
 *
 * sched/worker.c - the worker's loop: find a task, run it, and sleep when there is none.
 *
 *     loop:  attend: hold if the world is stopped; leave if an extra processor is not needed any more
 *            end if the engine is stopping
 *            serve     timers that are due, descriptors; every so often the shared queue, a lower lane or the supply first
 *            pick      what is local
 *            share     a batch from the injection queue
 *            supply    what is no task yet, and waits outside
 *            others    timers that are due on other processors
 *            search    other processors: rings, a next slot that has gone stale
 *            sleep     (sched/sleep.c)
 *
 * At most one worker searches at a time. A searcher that finds something and was the last one looks whether there is more
 * and, if so, wakes the next before it runs what it found: a burst wakes all workers, one after another, a single task one,
 * and a steady load none.
 *
 * A next slot is stale when its owner has not switched tasks since the thief first saw it, STALE_ROUNDS rounds ago
 * (some microseconds): then the owner computes, and its next task is better off here.
 *
 * Known cost: a worker spins for SEARCH_ROUNDS rounds, some 30 us, before it sleeps, but only while another worker is
 * awake; that is about the wake-up which it may save.
 */
#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "os/report.h"
#include "sched/engine.h"

/* 61: a prime, so that looking elsewhere does not fall into step with batches of a power of two. */
enum { ALLOWANCE = 61, VISIT_NS = 50000 };
/* 64: of so many visits one is not for urgent tasks, so that one that never waits leaves something to the others. */
enum { URGENT_TURNS = 64 };
/* 64: with so many processors or fewer, one look a visit is enough. */
enum { RELIEVE_VISITS = 64 };
enum { SEARCH_ROUNDS = 128, STALE_ROUNDS = 16, ROUND_RELAX = 8, SHARE_BATCH = 128 };

static const uint8_t lane_order[WF_LANES] = WF_LANE_ORDER;

struct stale_watch {
    struct wf_processor *processor;
    struct wf_task *task;
    uint64_t switches;
    int since;
};

static struct wf_task *worker_next(struct wf_worker *worker);
static struct wf_task *worker_look(struct wf_worker *worker);
static bool worker_attend(struct wf_worker *worker);
static struct wf_task *worker_serve(struct wf_worker *worker);
static struct wf_task *worker_relieve(struct wf_worker *worker);
static struct wf_task *take_from_lane(struct wf_worker *worker, enum wf_lane lane);
static void set_allowance(struct wf_processor *processor, int64_t now);
static void fire_timers(struct wf_worker *worker, struct wf_processor *processor, int64_t now);
static struct wf_task *worker_fire_others(struct wf_worker *worker);
static struct wf_task *worker_share(struct wf_worker *worker, size_t max);
static inline struct wf_task *worker_ask_supply(struct wf_worker *worker);
static struct wf_task *worker_search(struct wf_worker *worker);
static struct wf_task *search_round(struct wf_worker *worker, struct stale_watch *watch, int round);
static struct wf_task *steal_ring(struct wf_worker *worker, struct wf_processor *victim);
static struct wf_task *steal_next(struct wf_worker *worker, struct wf_processor *victim, struct stale_watch *watch,
                                  int round);

void wf_worker_loop(struct wf_worker *worker) {
    struct wf_task *task;
    while (worker->processor && (task = worker_next(worker)))
        worker->engine->policy->run(worker, task);
    if (worker->processor)
        wf_world_rest(worker); /* it runs no task any more: nobody has to wait for it */
}

static struct wf_task *worker_next(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    for (;;) {
        if (wf_load_relaxed(&worker->processor->attention) && !worker_attend(worker))
            return NULL;
        if (wf_load_acquire(&engine->is_stopping))
            return NULL;
        struct wf_task *task = worker_look(worker);
        if (task) {
            if (worker->is_searching) {
                worker->is_searching = false;
                worker->processor->is_uncovered = true; /* whoever wanted a poller may have been turned away by us */
                if (wf_idle_search_end(&engine->idle) &&
                    (wf_engine_has_surplus_any(engine) || wf_engine_has_next_any(engine, worker->processor)))
                    wf_engine_notify_any(engine);
            }
            if (worker->processor->is_uncovered)
                wf_worker_cover_timers(worker);
            return task;
        }
        if (WF_UNLIKELY(wf_load_relaxed(&engine->crew.is_caller_spare)) && wf_crew_make_way(worker))
            return NULL;
        if (!engine->can_spin || !wf_worker_spin(worker))
            wf_worker_sleep(worker);
    }
}

static struct wf_task *worker_look(struct wf_worker *worker) {
    struct wf_processor *processor = worker->processor;
    struct wf_task *task = worker_serve(worker);
    if (!task)
        task = wf_processor_pick_owner(processor);
    if (!task)
        task = worker_share(worker, SHARE_BATCH);
    if (!task)
        task = wf_urgent_take_owner(processor);
    if (!task)
        task = worker_ask_supply(worker);
    if (!task && wf_load_relaxed(&worker->engine->is_shared)) {
        task = worker_fire_others(worker);
        if (!task)
            task = worker_search(worker);
    }
    return task;
}

/* Somebody set the attention flag: for a stopped world, for the end, because of a hog, or for no reason any more. False: the
 * worker has no processor any more. */
static bool worker_attend(struct wf_worker *worker) {
    wf_store_seq_cst(&worker->processor->attention, 0);
    if (wf_load_seq_cst(&worker->engine->world_requested)) {
        if (wf_world_is_mine(worker))
            wf_fatal("a fiber suspended itself while it had the world stopped");
        wf_world_rest(worker);
        wf_world_resume(worker);
    }
    if (wf_load_relaxed(&worker->processor->is_detached))
        wf_monitor_came_back(worker);
    return worker->processor->index < worker->engine->count || !wf_extra_leaves(worker);
}

static struct wf_task *worker_serve(struct wf_worker *worker) {
    struct wf_processor *processor = worker->processor;
    bool has_sentries = wf_load_relaxed(&worker->engine->sentries.armed) > 0;
    if (has_sentries || wf_timers_earliest(&processor->timers) != WF_NEVER) {
        int64_t now = wf_os_now();
        processor->clock_ns = now;
        set_allowance(processor, now);
        fire_timers(worker, processor, now);
        if (has_sentries)
            wf_sentries_look_owner(worker, now);
    } else {
        processor->clock_ns = wf_os_now_coarse();
        processor->visited_ns = 0;
        processor->allowance = ALLOWANCE;
    }
    processor->countdown = processor->allowance;
    if (wf_load_relaxed(&worker->engine->is_shared)) {
        struct wf_task *relieved = worker_relieve(worker);
        if (relieved)
            return relieved;
    }
    bool is_others_turn = processor->rounds % URGENT_TURNS == URGENT_TURNS - 1;
    struct wf_task *urgent = is_others_turn ? NULL : wf_urgent_take_owner(processor);
    if (urgent) {
        processor->rounds++;
        return urgent;
    }
    if (worker->engine->replay.is_on)
        return wf_replay_serve_owner(processor);
    struct wf_task *task = NULL;
    switch (processor->rounds++ % 4) { /* most visits are for the shared queue */
    case 0:
        return take_from_lane(worker, WF_LANE_LOW);
    case 1:
        return take_from_lane(worker, WF_LANE_NORMAL);
    case 2:
        task = worker_ask_supply(worker); /* which comes last otherwise, behind tasks that may always be ready */
        break;
    }
    return task ? task : worker_share(worker, 1);
}

/* What others cannot look after: on each visit the timers of another processor or two, which may be busy or out of service, so
 * that RELIEVE_VISITS see them all; and on an extra one, which is here for that, all that waits behind hogs. */
static struct wf_task *worker_relieve(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    struct wf_processor *own = worker->processor;
    uint32_t limit = wf_engine_limit(engine);
    uint32_t looks = limit / RELIEVE_VISITS + 1;
    for (uint32_t i = 0; i < looks; i++) {
        struct wf_processor *other = engine->processors[(own->rounds * looks + i) % limit];
        if (wf_timers_earliest(&other->timers) != WF_NEVER)
            fire_timers(worker, other, wf_os_now());
    }
    if (own->index < engine->count || wf_load_relaxed(&engine->monitor.detached) == 0)
        return NULL;
    struct wf_task *task = NULL;
    for (uint32_t i = 0; i < limit && !task; i++) {
        struct wf_processor *hog = engine->processors[i];
        if (hog == own || !wf_load_relaxed(&hog->is_detached))
            continue;
        if (wf_timers_earliest(&hog->timers) != WF_NEVER)
            fire_timers(worker, hog, wf_os_now());
        task = wf_exchange_acquire(&hog->next, NULL); /* stale by any measure */
        if (!task)
            task = steal_ring(worker, hog);
    }
    return task;
}

/* The turn of a lane that higher ones, here or in the shared queue, might never let through. */
static struct wf_task *take_from_lane(struct wf_worker *worker, enum wf_lane lane) {
    struct wf_task *task = lane == WF_LANE_NORMAL ? wf_processor_take_next_owner(worker->processor) : NULL;
    if (!task)
        task = wf_ring_pop_owner(&worker->processor->lanes[lane]);
    struct wf_inject *inject = &worker->engine->inject[lane];
    if (task || wf_inject_is_empty_any(inject))
        return task;
    struct wf_chain one = {0};
    wf_inject_pop_any(inject, 1, &one);
    return wf_chain_take_first(&one);
}

/* With timers or sentries armed the clock is to be read about every VISIT_NS: so many picks as took that long last time, and only one
 * as long as that is not known. */
static void set_allowance(struct wf_processor *processor, int64_t now) {
    uint64_t switches = wf_load_relaxed(&processor->counters.switches);
    int64_t picks = (int64_t)(switches - processor->visited_switches);
    int64_t elapsed = now - processor->visited_ns;
    int64_t allowance = 1;
    if (processor->visited_ns != 0 && elapsed > 0 && picks > 0)
        allowance = VISIT_NS * picks / elapsed;
    processor->allowance = allowance < 1 ? 1 : allowance < ALLOWANCE ? (uint32_t)allowance : ALLOWANCE;
    processor->visited_ns = now;
    processor->visited_switches = switches;
}

static void fire_timers(struct wf_worker *worker, struct wf_processor *processor, int64_t now) {
    if (wf_timers_earliest(&processor->timers) > now)
        return;
    struct wf_chain ready = {0};
    wf_timers_fire(&processor->timers, now, &ready);
    struct wf_task *task;
    while ((task = wf_chain_take_first(&ready))) {
        wf_count_owner(&worker->processor->counters.wakes, 1);
        wf_processor_ready_owner(worker->processor, task, false);
    }
}

/* Timers that are due on other processors, which may be busy. No searcher's place is needed for it: a poller that was
 * woken by such a timer would otherwise poll again and again until it may search. */
static struct wf_task *worker_fire_others(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    int64_t now = 0;
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++) {
        if (wf_timers_earliest(&engine->processors[i]->timers) == WF_NEVER)
            continue;
        if (now == 0)
            now = wf_os_now();
        fire_timers(worker, engine->processors[i], now);
    }
    return now ? wf_processor_pick_owner(worker->processor) : NULL;
}

static struct wf_task *worker_share(struct wf_worker *worker, size_t max) {
    struct wf_processor *processor = worker->processor;
    struct wf_engine *engine = worker->engine;
    for (int i = 0; i < WF_LANES; i++) {
        int lane = lane_order[i];
        size_t waiting = wf_inject_size_any(&engine->inject[lane]);
        if (waiting == 0)
            continue;
        size_t share = waiting / wf_load_relaxed(&engine->active) + 1;
        struct wf_chain batch = {0};
        wf_inject_pop_any(&engine->inject[lane], share < max ? share : max, &batch);
        struct wf_task *first = wf_chain_take_first(&batch);
        struct wf_task *task;
        while ((task = wf_chain_take_first(&batch)))
            wf_processor_ready_owner(processor, task, false);
        if (first)
            return first;
    }
    return NULL;
}

static inline struct wf_task *worker_ask_supply(struct wf_worker *worker) {
    const struct wf_supply *supply = worker->engine->supply;
    return WF_UNLIKELY(supply) ? supply->take_owner(worker) : NULL;
}

static struct wf_task *worker_search(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    if (!worker->is_searching)
        worker->is_searching = wf_idle_search_begin(&engine->idle);
    /* Without a place, but having seen something before it wanted to sleep, a worker looks once: it would otherwise go
     * round and round between that sight and the refused search. */
    int rounds = worker->is_searching ? SEARCH_ROUNDS : worker->has_seen_work ? 1 : 0;
    worker->has_seen_work = false;
    struct stale_watch watch = {0};
    for (int round = 0; round < rounds; round++) {
        struct wf_task *task = search_round(worker, &watch, round);
        if (task)
            return task;
        bool is_last_awake = wf_idle_parked_any(&engine->idle) + 1 >= wf_load_relaxed(&engine->active);
        if (wf_load_relaxed(&worker->processor->attention) || (is_last_awake && !wf_load_relaxed(&engine->alone)))
            break; /* wanted elsewhere, or nobody is awake who could make work */
        for (int i = 0; i < ROUND_RELAX; i++)
            wf_relax();
    }
    return NULL;
}

static struct wf_task *search_round(struct wf_worker *worker, struct stale_watch *watch, int round) {
    struct wf_engine *engine = worker->engine;
    struct wf_processor *own = worker->processor;
    if (!wf_mailbox_is_empty_any(&own->mailbox))
        return wf_processor_pick_extra_owner(own);
    struct wf_task *task = worker_share(worker, SHARE_BATCH);
    if (!task)
        task = worker_ask_supply(worker);
    uint32_t limit = wf_engine_limit(engine);
    uint32_t start = wf_rng_below(&own->rng, limit);
    for (uint32_t i = 0; i < limit && !task; i++) {
        struct wf_processor *victim = engine->processors[(start + i) % limit];
        if (victim == own)
            continue;
        task = steal_ring(worker, victim);
        if (!task)
            task = steal_next(worker, victim, watch, round);
    }
    return task;
}

static struct wf_task *steal_ring(struct wf_worker *worker, struct wf_processor *victim) {
    for (int i = 0; i < WF_LANES; i++) {
        int lane = lane_order[i];
        struct wf_task *first = NULL;
        int count = wf_ring_steal_thief(&victim->lanes[lane], &worker->processor->lanes[lane], &first);
        if (count > 0) {
            wf_count_owner(&worker->processor->counters.steals, 1);
            wf_count_owner(&worker->processor->counters.stolen, (uint64_t)count);
            worker->processor->has_extra |= lane != WF_LANE_NORMAL;
            if (count > 1 && !worker->is_searching) /* a searcher that finds something notifies in worker_next */
                wf_engine_notify_any(worker->engine);
            return first;
        }
    }
    return NULL;
}

static struct wf_task *steal_next(struct wf_worker *worker, struct wf_processor *victim, struct stale_watch *watch,
                                  int round) {
    struct wf_task *task = wf_load_relaxed(&victim->next);
    if (!task || (watch->processor && watch->processor != victim))
        return NULL;
    uint64_t switches = wf_load_relaxed(&victim->counters.switches);
    if (watch->processor != victim || watch->task != task || watch->switches != switches) {
        *watch = (struct stale_watch){.processor = victim, .task = task, .switches = switches, .since = round};
        return NULL;
    }
    if (round - watch->since < STALE_ROUNDS)
        return NULL;
    watch->processor = NULL;
    if (!wf_cas_acq_rel(&victim->next, &task, NULL))
        return NULL;
    wf_count_owner(&worker->processor->counters.steals, 1);
    wf_count_owner(&worker->processor->counters.stolen, 1);
    return task;
}
