/* SPDX-License-Identifier: MIT
 *
 * sched/engine.c - making, running and stopping an engine, and handing tasks to it from any thread.
 *
 * Start: the calling thread is the first worker; it starts the others one by one and waits for each to report that it has
 * begun; none gets a processor before all have, and the monitor too. So an error leaves nothing behind and has run nothing: those that run are
 * stopped, and the caller gets the error.
 *
 * Stop: is_stopping is set, then every processor's attention flag, then every holder gets a token, and every worker without
 * a processor too. A worker that is about to sleep finds the flag in its re-check or the token in its parker; a running one
 * finds the flag at its next pick. The calling thread then waits until nobody runs (sched/crew.c).
 */
#include "sched/engine.h"

#include <errno.h>
#include <string.h>

#include "base/point.h"
#include "os/barrier.h"
#include "os/clock.h"
#include "os/memory.h"

WF_MACHINE_DEFINE(worker, WF_WORKER_STATES)

static int engine_alloc(struct wf_engine *engine);
static void engine_free_processors(struct wf_engine *engine);
static void notify_near(struct wf_engine *engine, uint32_t wish);

int wf_engine_init(struct wf_engine *engine, const struct wf_engine_policy *policy, void *owner, uint32_t count,
                   uint64_t seed, const char *name) {
    memset(engine, 0, sizeof *engine);
    engine->policy = policy;
    engine->owner = owner;
    engine->count = count;
    engine->seed = seed;
    engine->name = name;
    engine->crew.max = UINT32_MAX;
    engine->crew.keep_alive_ns = WF_NEVER;
    engine->extra_keep_alive_ns = WF_NEVER;
    engine->has_stand_ins = true;
    wf_store_relaxed(&engine->active, count);
    wf_store_relaxed(&engine->poller, WF_POLLER_NONE);
    wf_store_relaxed(&engine->poll_deadline, INT64_MIN);
    /* Without the barrier nobody could become a thief later. */
    wf_store_relaxed(&engine->is_shared, count > 1 || wf_os_barrier_prepare() != 0);
    wf_sentries_init(&engine->sentries, &engine->poll);
    int error = wf_os_poll_open(&engine->poll);
    if (error)
        return error;
    error = wf_idle_init(&engine->idle, count + WF_EXTRA_MAX, 1);
    if (error)
        goto close_poll;
    error = engine_alloc(engine);
    if (error)
        goto term_idle;
    return 0;

term_idle:
    wf_idle_term(&engine->idle);
close_poll:
    wf_os_poll_close(&engine->poll);
    return error;
}

static int engine_alloc(struct wf_engine *engine) {
    engine->processors = wf_os_alloc((engine->count + WF_EXTRA_MAX) * sizeof *engine->processors);
    engine->monitor.sights = wf_os_alloc(wf_monitor_sights_size(engine));
    if (!engine->processors || !engine->monitor.sights)
        goto free_all;
    for (uint32_t i = 0; i < engine->count; i++) {
        if (!wf_processor_new(engine, i))
            goto free_all;
    }
    return 0;

free_all:
    engine_free_processors(engine);
    return -ENOMEM;
}

struct wf_processor *wf_processor_new(struct wf_engine *engine, uint32_t index) {
    struct wf_processor *processor = wf_os_alloc_aligned(64, engine->policy->processor_size);
    if (!processor)
        return NULL;
    processor->engine = engine;
    processor->index = index;
    processor->home = (uint8_t)(index < UINT8_MAX ? index + 1 : 0);
    wf_rng_init(&processor->rng, engine->seed + index);
    wf_timers_init(&processor->timers);
    if (engine->policy->processor_begin)
        engine->policy->processor_begin(processor);
    engine->processors[index] = processor;
    wf_store_release(&engine->limit, index + 1); /* pairs with wf_engine_limit */
    return processor;
}

static void engine_free_processors(struct wf_engine *engine) {
    for (uint32_t i = 0; i < wf_engine_limit(engine); i++) {
        wf_timers_term(&engine->processors[i]->timers);
        wf_os_free(engine->processors[i]);
    }
    wf_os_free(engine->processors);
    wf_os_free(engine->monitor.sights);
}

void wf_engine_term(struct wf_engine *engine) {
    wf_crew_term(engine);
    engine_free_processors(engine);
    wf_idle_term(&engine->idle);
    wf_sentries_term(&engine->sentries);
    wf_os_poll_close(&engine->poll);
}

int wf_engine_run(struct wf_engine *engine) {
    wf_store_relaxed(&engine->world_active, engine->count);
    struct wf_worker *first = NULL;
    int error = wf_crew_start(engine, &first);
    if (!first)
        return error;
    if (!error && !engine->replay.is_on)
        error = wf_monitor_start(engine);
    if (error) {
        wf_engine_stop(engine);
        wf_crew_cancel(first);
    } else {
        if (engine->on_ready)
            engine->on_ready(engine);
        wf_monitor_open(engine);
        wf_crew_begin(engine, first);
    }
    wf_crew_serve(first);
    wf_crew_wait_quiet(engine);
    wf_monitor_stop(engine);
    return error;
}

void wf_engine_stop(struct wf_engine *engine) {
    wf_store_seq_cst(&engine->is_stopping, 1);
    wf_fence_seq_cst(); /* pairs with that of wf_idle_park: an extra processor that we do not see yet sees that */
    uint32_t limit = wf_engine_limit(engine);
    for (uint32_t i = 0; i < limit; i++)
        wf_store_seq_cst(&engine->processors[i]->attention, 1);
    for (uint32_t i = 0; i < limit; i++)
        wf_engine_unpark_any(engine, i);
    wf_crew_unpark_all(engine);
}

void wf_engine_drain(struct wf_engine *engine) {
    wf_store_seq_cst(&engine->is_draining, 1);
    wf_engine_notify_any(engine); /* the last one that parks has to see it: somebody looks again */
}

void wf_engine_submit_any(struct wf_engine *engine, struct wf_task *task) {
    uint32_t pinned = wf_task_pinned(task);
    if (pinned == WF_TASK_ALONE) {
        engine->policy->wake_alone(engine, task);
        return;
    }
    if (pinned) {
        uint32_t processor = pinned - 1;
        if (wf_mailbox_push_any(&engine->processors[processor]->mailbox, task) &&
            wf_idle_take(&engine->idle, processor))
            wf_engine_unpark_any(engine, processor);
        return;
    }
    if (wf_task_lane(task) == WF_LANE_URGENT) {
        wf_urgent_submit_any(engine, task);
        return;
    }
    wf_fetch_add_relaxed(&engine->injected, 1);
    uint32_t home = wf_load_relaxed(&task->home) - 1u; /* before others can have it */
    wf_inject_push_any(&engine->inject[wf_task_lane(task)], task);
    if (wf_task_lane(task) == WF_LANE_HIGH) /* whoever comes to a scheduling point looks into the shared queue */
        for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
            wf_store_relaxed(&engine->processors[i]->attention, 1);
    WF_POINT("submit.before_notify");
    notify_near(engine, home);
}

/* Why nothing that was published, or added to the supply, before this call is overlooked: it begins with a fence, and then
 * looks at the idle set.
 *   - Somebody sleeps and nobody searches: one is woken. It is in the set before it sleeps, so the token reaches it, on its
 *     parker or, if it polls, in the poller; also the only worker of an engine that is not shared.
 *   - Nobody sleeps: every holder of a processor enters the set, passes a fence and then looks at all sources, the supply
 *     among them (sched/sleep.c), before it sleeps. Processor 0 never goes out of service, so there is such a holder. The
 *     holder of an extra one that goes out of service does not look; it notifies instead (sched/extra.c).
 *   - Somebody searches: it finds that, or something else, and looks again as the last searcher; or it sleeps, as above. A
 *     worker whose engine is not shared searches nobody, but counts as a searcher when it was woken, and ends like one.
 *   - A processor that is lent has nobody who looks. Its worker is not in the set, so the monitor is awake, sees by the same
 *     look at all sources that work waits, and takes it (sched/monitor.c).
 * The caller needs no place in the engine and no lock; the engine must not have ended. */
void wf_engine_notify_any(struct wf_engine *engine) {
    notify_near(engine, UINT32_MAX);
}

/* The poller is spared: whoever wakes it wakes another one as well, who takes its place for the sake of the timers. */
static void notify_near(struct wf_engine *engine, uint32_t wish) {
    int worker = wf_idle_notify_near(&engine->idle, wish, (uint32_t)wf_load_relaxed(&engine->poller));
    if (worker >= 0)
        wf_engine_unpark_any(engine, (uint32_t)worker);
}

bool wf_engine_has_surplus_any(struct wf_engine *engine) {
    if (wf_load_relaxed(&engine->urgent.length) > 0 || (engine->supply && engine->supply->has_any(engine)))
        return true;
    for (int lane = 0; lane < WF_LANES; lane++) {
        if (!wf_inject_is_empty_any(&engine->inject[lane]))
            return true;
        for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
            if (!wf_ring_is_empty_any(&engine->processors[i]->lanes[lane]))
                return true;
    }
    return false;
}

bool wf_engine_has_next_any(struct wf_engine *engine, const struct wf_processor *except) {
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
        if (engine->processors[i] != except && wf_load_relaxed(&engine->processors[i]->next))
            return true;
    return false;
}

void wf_engine_unpark_any(struct wf_engine *engine, uint32_t processor) {
    wf_fetch_add_relaxed(&engine->worker_wakes, 1);
    if (wf_parker_unpark(&engine->processors[processor]->parker))
        wf_os_poll_wake(&engine->poll);
}
