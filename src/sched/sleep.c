/* SPDX-License-Identifier: MIT
 *
 * sched/sleep.c - how a worker goes to sleep, and who wakes for timers.
 *
 * One protocol: enter the idle set (which ends with a fence), look at every source again, sleep on the parker. Whoever
 * publishes work does so first and looks at the idle set afterwards, with a fence between; so one of the two sees the
 * other. No time limit is part of it.
 *
 * One of the sleepers is the *poller*: it sleeps in epoll instead of on its parker, until the earliest timer of all
 * processors. The others sleep without limit.
 *
 * Coverage: while there are timers and idle workers, one of them polls with a limit no later than the earliest timer.
 *   - A worker that goes to sleep while nobody polls becomes the poller.
 *   - A worker that armed a timer, or has just left the poller, sets is_uncovered on its processor. Unless it becomes the
 *     poller itself, it makes sure before it runs a task or sleeps (cover_timers): a poller that sleeps too long is woken
 *     to set its limit anew, and if there is none, an idle worker is woken to become one.
 *   - The limit is published, then (fence) the timers are looked at again; the armer publishes its timer, then (fence)
 *     looks at the limit. So an earlier timer is either in the limit or breaks the sleep.
 */
#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "sched/engine.h"

static bool sees_work(struct wf_worker *worker);
static bool is_finished(struct wf_engine *engine);
static int64_t engine_earliest(struct wf_engine *engine);
static void worker_poll(struct wf_worker *worker, int64_t rest_until);

void wf_worker_sleep(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    bool was_searching = worker->is_searching;
    wf_idle_park(&engine->idle, worker->processor->index, was_searching);
    worker->is_searching = false;
    int64_t rest_until = engine->policy->rest(worker); /* without a searcher's place: it takes its time */
    WF_POINT("sleep.before_recheck");
    worker->has_seen_work = sees_work(worker) || (was_searching && wf_engine_has_next_any(engine, worker->processor));
    if (!worker->has_seen_work) {
        if (is_finished(engine)) {
            wf_engine_stop(engine);
        } else {
            int32_t nobody = WF_POLLER_NONE;
            bool polls = wf_cas_acq_rel(&engine->poller, &nobody, (int32_t)worker->processor->index);
            wf_count_owner(&worker->processor->counters.worker_parks, 1);
            wf_world_rest(worker);
            WF_POINT("sleep.before_park");
            if (polls) {
                worker_poll(worker, rest_until);
            } else {
                if (worker->processor->is_uncovered)
                    wf_worker_cover_timers(worker);
                /* nobody is somebody by now: the poller. It alone has a limit, so it has to come back for our wish. */
                if (rest_until < wf_load_relaxed(&engine->poll_deadline))
                    wf_engine_unpark_any(engine, (uint32_t)nobody);
                wf_parker_park(&worker->processor->parker, WF_NEVER);
            }
            wf_world_resume(worker);
        }
    }
    bool took_itself = wf_idle_unpark_self(&engine->idle, worker->processor->index);
    worker->is_searching = !took_itself && wf_idle_woken_to_search(&engine->idle, worker->processor->index);
    wf_fence_seq_cst(); /* pairs with the fence of the monitor before it sleeps: it sees us awake, or we see it asleep */
    wf_monitor_wake(engine);
}

/* Every source of work that this worker could take, and every reason to be awake. After the fence of wf_idle_park. */
static bool sees_work(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    if (wf_load_relaxed(&worker->processor->attention) || wf_load_relaxed(&engine->is_stopping))
        return true;
    if (wf_processor_has_local_owner(worker->processor))
        return true;
    return wf_engine_has_surplus_any(engine);
}

/* Called by a worker that has entered the idle set: when it was the last one, nothing moves any more. */
static bool is_finished(struct wf_engine *engine) {
    return wf_load_seq_cst(&engine->is_draining) &&
           wf_idle_parked_any(&engine->idle) == wf_load_relaxed(&engine->active) && engine->policy->is_done(engine);
}

static int64_t engine_earliest(struct wf_engine *engine) {
    int64_t earliest = WF_NEVER;
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++) {
        int64_t candidate = wf_timers_earliest(&engine->processors[i]->timers);
        if (candidate < earliest)
            earliest = candidate;
    }
    return earliest;
}

static void worker_poll(struct wf_worker *worker, int64_t rest_until) {
    struct wf_engine *engine = worker->engine;
    int64_t limit = rest_until;
    for (;;) {
        int64_t earliest = engine_earliest(engine);
        if (earliest < limit)
            limit = earliest;
        wf_store_relaxed(&engine->poll_deadline, limit);
        wf_fence_seq_cst(); /* pairs with the fence of wf_worker_cover_timers */
        if (engine_earliest(engine) >= limit)
            break;
    }
    if (wf_parker_poll_begin(&worker->processor->parker)) {
        WF_POINT("poll.before_wait");
        wf_count_owner(&worker->processor->counters.polls, 1);
        if (engine->replay.is_on)
            wf_replay_poll(engine, limit);
        else
            wf_os_poll_wait(&engine->poll, limit);
        wf_parker_poll_end(&worker->processor->parker);
    }
    wf_store_relaxed(&engine->poll_deadline, INT64_MIN);
    wf_store_release(&engine->poller, WF_POLLER_NONE); /* pairs with the compare and swap of the next poller */
    worker->processor->is_uncovered = true;
}

void wf_worker_cover_timers(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    worker->processor->is_uncovered = false;
    if (wf_load_relaxed(&engine->is_shared))
        wf_engine_timers_changed_any(engine);
}

void wf_processor_timers_changed_any(struct wf_processor *processor) {
    wf_store_relaxed(&processor->attention, 1); /* it may be busy, and have had no timers to look at */
    wf_engine_timers_changed_any(processor->engine);
}

/* An engine with one worker needs it too: that worker may be polling. If it is not, it looks at its timers again before it
 * sleeps, and every so many tasks while it does not. */
void wf_engine_timers_changed_any(struct wf_engine *engine) {
    /* Pairs with the fence of worker_poll, and with itself on another worker: our timers and our leaving the poller are
     * published, now we look at the timers and the limit. */
    wf_fence_seq_cst();
    int64_t earliest = engine_earliest(engine);
    if (earliest == WF_NEVER)
        return;
    int32_t poller = wf_load_relaxed(&engine->poller);
    if (poller == WF_POLLER_NONE)
        wf_engine_notify_any(engine);
    else if (wf_load_relaxed(&engine->poll_deadline) > earliest)
        wf_engine_unpark_any(engine, (uint32_t)poller);
}
