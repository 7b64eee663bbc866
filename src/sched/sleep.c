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
 *
 * What the poller was told by descriptors (sched/sentry.h) it passes on once it is out of the idle set.
 *
 * Spinning, where there is a supply: what is added to it comes from outside, often in a steady stream, and then a worker that
 * sleeps is woken again at once, which costs both sides more than the work. Whoever was woken SPIN_SHORT_NS or less after it
 * lay down looks on for a while before it sleeps again. Finding something makes that while longer, finding nothing makes it
 * shorter, until there is none. It is a search: one worker at a time, and its presence turns notifications away.
 *
 * An extra processor that has had nothing to do for long enough goes out of service: sched/extra.c.
 */
#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "sched/engine.h"

/* A wake-up takes some 50 us all told. Below SPIN_LEAST_NS looking on is not worth its two readings of the clock. */
enum { SPIN_SHORT_NS = 50 * 1000, SPIN_MOST_NS = 100 * 1000, SPIN_LEAST_NS = 4 * 1000, SPIN_RELAX = 16 };

static void lie_down(struct wf_worker *worker, int64_t rest_until, int64_t stays_until);
static bool sees_work(struct wf_worker *worker);
static bool is_finished(struct wf_engine *engine);
static int64_t engine_earliest(struct wf_engine *engine);
static void worker_poll(struct wf_worker *worker, int64_t rest_until);

void wf_worker_sleep(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    bool was_searching = worker->is_searching;
    WF_POINT("sleep.before_idle");
    int64_t slept_at = engine->can_spin ? wf_os_now() : 0;
    int64_t stays_until = WF_NEVER;
    wf_idle_park(&engine->idle, worker->processor->index, was_searching);
    worker->is_searching = false;
    int64_t rest_until = engine->policy->rest(worker); /* without a searcher's place: it takes its time */
    WF_POINT("sleep.before_recheck");
    worker->has_seen_work = sees_work(worker) || (was_searching && wf_engine_has_next_any(engine, worker->processor));
    if (!worker->has_seen_work) {
        if (is_finished(engine)) {
            wf_engine_stop(engine);
        } else {
            stays_until = wf_extra_stays_until(worker);
            lie_down(worker, rest_until, stays_until);
        }
    }
    bool took_itself = wf_idle_unpark_self(&engine->idle, worker->processor->index);
    worker->is_searching = !took_itself && wf_idle_woken_to_search(&engine->idle, worker->processor->index);
    /* What it has seen may be more than it takes, and those who published that were turned away by its search: so it goes on
     * as a searcher, who looks for more when it has found something. Unless there is another one by now, who does. */
    if (took_itself && was_searching && worker->has_seen_work)
        worker->is_searching = wf_idle_search_begin(&engine->idle);
    wf_fence_seq_cst(); /* pairs with the fence of the monitor before it sleeps: it sees us awake, or we see it asleep */
    wf_monitor_wake(engine);
    if (WF_UNLIKELY(worker->told_count))
        wf_sentries_tell(&engine->sentries, worker->told, &worker->told_count);
    if (slept_at && !worker->has_seen_work && worker->is_searching && wf_os_now() - slept_at <= SPIN_SHORT_NS)
        worker->spin_ns = 2 * worker->spin_ns < SPIN_SHORT_NS ? SPIN_SHORT_NS : SPIN_MOST_NS;
    if (took_itself && stays_until != WF_NEVER && wf_os_now() >= stays_until && !sees_work(worker))
        wf_extra_gives_up(worker);
}

static void lie_down(struct wf_worker *worker, int64_t rest_until, int64_t stays_until) {
    struct wf_engine *engine = worker->engine;
    int32_t nobody = WF_POLLER_NONE;
    bool polls = wf_cas_acq_rel(&engine->poller, &nobody, (int32_t)worker->processor->index);
    wf_count_owner(&worker->processor->counters.worker_parks, 1);
    wf_world_rest(worker);
    WF_POINT("sleep.before_park");
    if (polls) {
        worker_poll(worker, rest_until < stays_until ? rest_until : stays_until);
    } else {
        if (worker->processor->is_uncovered)
            wf_worker_cover_timers(worker);
        /* nobody is somebody by now: the poller. It alone has a limit, so it has to come back for our wish; also when it has not
         * said yet how long it will sleep, since it may have asked before we were idle. */
        int64_t limit = wf_load_relaxed(&engine->poll_deadline);
        if (rest_until < limit || (limit == INT64_MIN && rest_until != WF_NEVER))
            wf_engine_unpark_any(engine, (uint32_t)nobody);
        WF_POINT("sleep.beside_poller");
        wf_parker_park(&worker->processor->parker, stays_until);
    }
    wf_world_resume(worker);
}

bool wf_worker_spin(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    if (worker->spin_ns == 0)
        return false;
    if (!worker->is_searching)
        worker->is_searching = wf_idle_search_begin(&engine->idle);
    if (!worker->is_searching)
        return false;
    int64_t until = wf_time_add(wf_os_now(), worker->spin_ns);
    int64_t earliest = engine_earliest(engine);
    until = earliest < until ? earliest : until;
    do {
        if (sees_work(worker)) {
            worker->spin_ns = 2 * worker->spin_ns < SPIN_MOST_NS ? 2 * worker->spin_ns : SPIN_MOST_NS;
            return true;
        }
        for (int i = 0; i < SPIN_RELAX; i++)
            wf_relax();
    } while (wf_os_now() < until);
    worker->spin_ns = worker->spin_ns / 2 < SPIN_LEAST_NS ? 0 : worker->spin_ns / 2;
    return false;
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
    WF_POINT("poll.before_limit");
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
    wf_worker_leave_poller(worker);
}

void wf_worker_leave_poller(struct wf_worker *worker) {
    struct wf_os_poll *poll = &worker->engine->poll;
    worker->told_count = poll->ready_count;
    for (uint32_t i = 0; i < poll->ready_count; i++)
        worker->told[i] = poll->ready[i];
    poll->ready_count = 0;
    wf_store_release(&worker->engine->poller, WF_POLLER_NONE); /* pairs with the compare and swap of the next poller */
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
