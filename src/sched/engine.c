/* SPDX-License-Identifier: MIT
 *
 * sched/engine.c - making, running and stopping an engine, and handing tasks to it from any thread.
 *
 * Start: the calling thread creates the other workers one by one and waits for each to report that it has begun; none
 * runs a task before all have. So an error leaves nothing behind and has run nothing: those that run are stopped and joined, and the caller gets the error.
 *
 * Stop: is_stopping is set, then every worker's attention flag, then every worker gets a token. A worker that is about to
 * sleep finds the flag in its re-check or the token in its parker; a running one finds the flag at its next pick.
 */
#include "sched/engine.h"

#include <errno.h>
#include <string.h>

#include "arch/current.h"
#include "base/point.h"
#include "os/memory.h"

static int engine_alloc(struct wf_engine *engine, uint64_t seed);
static void processor_init(struct wf_processor *processor, struct wf_engine *engine, uint32_t index, uint64_t seed);
static int engine_start_thread(struct wf_engine *engine, struct wf_worker *worker);
static void worker_thread(void *opaque);
static int begin_worker(struct wf_worker *worker);
static void end_worker(struct wf_worker *worker);

int wf_engine_init(struct wf_engine *engine, const struct wf_engine_policy *policy, void *owner, uint32_t count,
                   uint64_t seed, const char *name) {
    memset(engine, 0, sizeof *engine);
    engine->policy = policy;
    engine->owner = owner;
    engine->count = count;
    engine->name = name;
    wf_store_relaxed(&engine->poller, WF_POLLER_NONE);
    wf_store_relaxed(&engine->poll_deadline, INT64_MIN);
    int error = wf_os_poll_open(&engine->poll);
    if (error)
        return error;
    error = wf_idle_init(&engine->idle, count, 1);
    if (error)
        goto close_poll;
    error = engine_alloc(engine, seed);
    if (error)
        goto term_idle;
    return 0;

term_idle:
    wf_idle_term(&engine->idle);
close_poll:
    wf_os_poll_close(&engine->poll);
    return error;
}

static int engine_alloc(struct wf_engine *engine, uint64_t seed) {
    engine->processors = wf_os_alloc(engine->count * sizeof *engine->processors);
    engine->workers = wf_os_alloc(engine->count * sizeof *engine->workers);
    if (!engine->processors || !engine->workers)
        goto free_all;
    for (uint32_t i = 0; i < engine->count; i++) {
        engine->processors[i] = wf_os_alloc_aligned(64, engine->policy->processor_size);
        engine->workers[i] = wf_os_alloc_aligned(64, engine->policy->worker_size);
        if (!engine->processors[i] || !engine->workers[i])
            goto free_all;
        processor_init(engine->processors[i], engine, i, seed);
        engine->workers[i]->engine = engine;
        engine->workers[i]->processor = engine->processors[i];
        engine->workers[i]->index = i;
    }
    return 0;

free_all:
    for (uint32_t i = 0; i < engine->count; i++) {
        if (engine->processors)
            wf_os_free(engine->processors[i]);
        if (engine->workers)
            wf_os_free(engine->workers[i]);
    }
    wf_os_free(engine->processors);
    wf_os_free(engine->workers);
    return -ENOMEM;
}

static void processor_init(struct wf_processor *processor, struct wf_engine *engine, uint32_t index, uint64_t seed) {
    processor->engine = engine;
    processor->index = index;
    wf_rng_init(&processor->rng, seed + index);
    wf_timers_init(&processor->timers);
}

void wf_engine_term(struct wf_engine *engine) {
    for (uint32_t i = 0; i < engine->count; i++) {
        wf_timers_term(&engine->processors[i]->timers);
        wf_os_free(engine->processors[i]);
        wf_os_free(engine->workers[i]);
    }
    wf_os_free(engine->processors);
    wf_os_free(engine->workers);
    wf_idle_term(&engine->idle);
    wf_os_poll_close(&engine->poll);
}

int wf_engine_run(struct wf_engine *engine) {
    wf_store_relaxed(&engine->world_active, engine->count);
    int error = begin_worker(engine->workers[0]);
    if (error)
        return error;
    for (uint32_t i = 1; i < engine->count && !error; i++)
        error = engine_start_thread(engine, engine->workers[i]);
    if (error)
        wf_engine_stop(engine);
    for (uint32_t i = 1; i < engine->count; i++)
        wf_parker_unpark(&engine->workers[i]->world_parker);
    if (!error)
        wf_worker_loop(engine->workers[0]);
    for (uint32_t i = 1; i < engine->count; i++)
        if (engine->workers[i]->has_thread)
            wf_os_thread_join(&engine->workers[i]->thread);
    end_worker(engine->workers[0]);
    return error;
}

static int engine_start_thread(struct wf_engine *engine, struct wf_worker *worker) {
    int error = wf_os_thread_start(&worker->thread, engine->name, worker_thread, worker);
    if (error)
        return error;
    worker->has_thread = true;
    wf_parker_park(&engine->started, INT64_MAX);
    return worker->begin_error;
}

static void worker_thread(void *opaque) {
    struct wf_worker *worker = opaque;
    int error = begin_worker(worker);
    worker->begin_error = error;
    wf_parker_unpark(&worker->engine->started);
    if (error)
        return;
    wf_parker_park(&worker->world_parker, INT64_MAX); /* no task runs before all workers have begun */
    wf_worker_loop(worker);
    end_worker(worker);
}

static int begin_worker(struct wf_worker *worker) {
    int error = worker->engine->policy->worker_begin(worker);
    if (!error)
        wf_current_set(worker);
    return error;
}

static void end_worker(struct wf_worker *worker) {
    wf_current_set(NULL);
    worker->engine->policy->worker_end(worker);
}

void wf_engine_stop(struct wf_engine *engine) {
    wf_store_seq_cst(&engine->is_stopping, 1);
    for (uint32_t i = 0; i < engine->count; i++)
        wf_store_seq_cst(&engine->processors[i]->attention, 1);
    for (uint32_t i = 0; i < engine->count; i++)
        wf_engine_unpark_any(engine, i);
}

void wf_engine_drain(struct wf_engine *engine) {
    wf_store_seq_cst(&engine->is_draining, 1);
    wf_engine_notify_any(engine); /* the last one that parks has to see it: somebody looks again */
}

void wf_engine_submit_any(struct wf_engine *engine, struct wf_task *task) {
    if (wf_task_pinned(task)) {
        uint32_t processor = wf_task_pinned(task) - 1;
        if (wf_mailbox_push_any(&engine->processors[processor]->mailbox, task) &&
            wf_idle_take(&engine->idle, processor))
            wf_engine_unpark_any(engine, processor);
        return;
    }
    wf_fetch_add_relaxed(&engine->injected, 1);
    wf_inject_push_any(&engine->inject[wf_task_lane(task)], task);
    if (wf_task_lane(task) == WF_LANE_HIGH) /* whoever comes to a scheduling point looks into the shared queue */
        for (uint32_t i = 0; i < engine->count; i++)
            wf_store_relaxed(&engine->processors[i]->attention, 1);
    WF_POINT("submit.before_notify");
    wf_engine_notify_any(engine);
}

void wf_engine_notify_any(struct wf_engine *engine) {
    int worker = wf_idle_notify_any(&engine->idle);
    if (worker >= 0)
        wf_engine_unpark_any(engine, (uint32_t)worker);
}

bool wf_engine_has_surplus_any(struct wf_engine *engine) {
    for (int lane = 0; lane < WF_LANES; lane++) {
        if (!wf_inject_is_empty_any(&engine->inject[lane]))
            return true;
        for (uint32_t i = 0; i < engine->count; i++)
            if (!wf_ring_is_empty_any(&engine->processors[i]->lanes[lane]))
                return true;
    }
    return false;
}

bool wf_engine_has_next_any(struct wf_engine *engine, const struct wf_processor *except) {
    for (uint32_t i = 0; i < engine->count; i++)
        if (engine->processors[i] != except && wf_load_relaxed(&engine->processors[i]->next))
            return true;
    return false;
}

void wf_engine_unpark_any(struct wf_engine *engine, uint32_t worker) {
    wf_fetch_add_relaxed(&engine->worker_wakes, 1);
    if (wf_parker_unpark(&engine->workers[worker]->parker))
        wf_os_poll_wake(&engine->poll);
}
