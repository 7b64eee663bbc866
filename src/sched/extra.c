/* SPDX-License-Identifier: MIT
 *
 * sched/extra.c - extra processors: how they go into service and out of it again.
 *
 * There is to be one for each *detached* processor, whose holder is a hog (sched/monitor.c), and there are to be as many
 * again as were *granted* by wf_engine_resize_any. Only the monitor puts one into service, since that takes a thread, which
 * may have to be started; each goes out of service by itself.
 *
 *     extras < detached + granted   the monitor hires a thread and adds one
 *     extras > detached + granted   a holder of one that comes to its loop takes 1 from extras, hands in what waits there, and
 *                                   becomes spare
 *
 * Who changes what, and who is told, so that the two sums meet in the end
 *   - granted or detached goes down: all extra ones get attention, and those that sleep are woken (call_back). One that is
 *     only about to begin is not seen by that; the monitor counts it first, then looks at the sum again and gives it attention
 *     itself. A fence on either side: one of the two sees the other.
 *   - granted goes up: the monitor is unparked. One that leaves just then may have seen the old sum; so it looks again after
 *     it has taken 1 from extras, and unparks the monitor if that was one too many.
 *   - detached and extras go up together, on the monitor.
 *
 * Keep-alive: the holder of an extra one that has had nothing to do for extra_keep_alive_ns takes 1 from granted, as long as
 * that is above resident, and attends. It takes itself out of the idle set first: somebody who was taken out by a
 * notification has work to look for. What is published later goes to those who are left, or is seen by them before they
 * sleep; and leaving ends with a notification. With granted at resident nobody sleeps with a limit.
 *
 * An extra processor keeps its timers when it leaves. Others fire them.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "os/report.h"
#include "sched/engine.h"

/* 16: so many at a time, since the monitor has others to look after. 100 ms: when there was no thread, one may have ended by
 * then. 1 ms: an owner is between two instructions, or has lost its processor of the machine there. */
enum { GROW_BATCH = 16, GROW_AGAIN_NS = 100 * 1000 * 1000, GROW_SOON_NS = 1000 * 1000 };

/* Mutants, found by tests/model/model_extra.c. */
#ifdef WF_MUTANT_EXTRA_NO_FENCE
#define EXTRA_FENCE() (void)0
#else
#define EXTRA_FENCE() wf_fence_seq_cst()
#endif

static uint32_t extras_needed(struct wf_engine *engine);
static bool is_stopping(struct wf_engine *engine);
static void serve_requests(struct wf_engine *engine, int64_t now);
static struct wf_processor *find_unheld(struct wf_engine *engine);
static void say_denied(struct wf_engine *engine);
static void hand_in(struct wf_processor *processor);

int wf_engine_resize_any(struct wf_engine *engine, uint32_t wanted) {
    struct wf_monitor *monitor = &engine->monitor;
    if (wanted < engine->count || wanted - engine->count > WF_EXTRA_MAX || engine->replay.is_on)
        return -EINVAL;
    uint32_t granted = wanted - engine->count;
    uint32_t was = wf_exchange_seq_cst(&monitor->granted, granted);
    WF_POINT("resize.granted");
    /* Above resident they may sleep with a limit, and those that sleep without one have to know. */
    if (granted < was || (granted > wf_load_relaxed(&engine->resident) && was <= wf_load_relaxed(&engine->resident)))
        wf_extra_call_back(engine);
    if (granted > was)
        wf_parker_unpark(&monitor->parker);
    return 0;
}

uint32_t wf_engine_in_service_any(struct wf_engine *engine) {
    return wf_load_relaxed(&engine->active);
}

uint32_t wf_engine_wanted_any(struct wf_engine *engine) {
    return engine->count + wf_load_relaxed(&engine->monitor.granted);
}

bool wf_engine_replace_any(struct wf_engine *engine, struct wf_worker *holder, uint32_t index) {
    if (index >= wf_engine_limit(engine) || engine->replay.is_on)
        return false;
    struct wf_processor *processor = engine->processors[index];
    if (holder && wf_load_relaxed(&processor->holder) != holder)
        return false;
    if (wf_load_relaxed(&processor->is_detached) || wf_exchange_acq_rel(&processor->wants_stand_in, 1))
        return false;
    wf_fetch_add_release(&engine->monitor.requests, 1); /* pairs with serve_requests */
    wf_parker_unpark(&engine->monitor.parker);
    return true;
}

/* How many there are to be. */
static uint32_t extras_needed(struct wf_engine *engine) {
    return wf_load_seq_cst(&engine->monitor.detached) + wf_load_seq_cst(&engine->monitor.granted);
}

static bool is_stopping(struct wf_engine *engine) {
    return wf_load_acquire(&engine->is_stopping);
}

int64_t wf_extra_tend(struct wf_engine *engine, int64_t now) {
    struct wf_monitor *monitor = &engine->monitor;
    if (!wf_load_acquire(&monitor->may_grow)) /* pairs with wf_monitor_open */
        return WF_NEVER;
    if (wf_load_relaxed(&monitor->requests))
        serve_requests(engine, now);
    for (int i = 0; wf_load_seq_cst(&monitor->extras) < extras_needed(engine) && !is_stopping(engine); i++) {
        struct wf_processor *extra;
        struct wf_worker *heir;
        if (i == GROW_BATCH)
            return now;
        if (now < monitor->grow_at)
            break; /* a look of the monitor is soon enough; and none, while everybody sleeps */
        int error = wf_extra_find(engine, &extra, &heir);
        if (error == -EBUSY)
            return now + GROW_SOON_NS;
        if (error) {
            say_denied(engine);
            monitor->grow_at = now + GROW_AGAIN_NS;
            break;
        }
        wf_fetch_add_seq_cst(&monitor->extras, 1);
        wf_fetch_add_seq_cst(&engine->active, 1);
        WF_POINT("extra.counted");
        wf_extra_enter(engine, extra, heir);
    }
    return WF_NEVER;
}

/* Those that cannot be served yet stay for the monitor's next look, which comes, because their holders are awake. */
static void serve_requests(struct wf_engine *engine, int64_t now) {
    uint32_t left = 0;
    wf_exchange_acquire(&engine->monitor.requests, 0); /* pairs with wf_engine_replace_any */
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++) {
        struct wf_processor *processor = engine->processors[i];
        if (!wf_load_acquire(&processor->wants_stand_in))
            continue;
        if (wf_monitor_stand_in(engine, processor, now))
            wf_store_release(&processor->wants_stand_in, 0);
        else
            left++;
    }
    if (left)
        wf_fetch_add_relaxed(&engine->monitor.requests, left);
}

int wf_extra_find(struct wf_engine *engine, struct wf_processor **extra, struct wf_worker **heir) {
    if (!wf_monitor_become_shared(engine))
        return -EBUSY;
    *extra = find_unheld(engine);
    if (!*extra) { /* all that there can be are held, some of them perhaps by somebody on the way out */
        bool some_leave = wf_engine_limit(engine) == engine->count + WF_EXTRA_MAX &&
                          wf_load_relaxed(&engine->monitor.extras) < WF_EXTRA_MAX;
        return some_leave ? -EBUSY : -ENOMEM;
    }
    *heir = wf_crew_hire(engine, false);
    return *heir ? 0 : -EAGAIN;
}

/* One that nobody holds, or a new one. NULL: there are enough, or no memory. */
static struct wf_processor *find_unheld(struct wf_engine *engine) {
    uint32_t limit = wf_engine_limit(engine);
    for (uint32_t i = engine->count; i < limit; i++)
        if (!wf_load_acquire(&engine->processors[i]->holder)) /* pairs with wf_extra_leaves */
            return engine->processors[i];
    return limit < engine->count + WF_EXTRA_MAX ? wf_processor_new(engine, limit) : NULL;
}

void wf_extra_enter(struct wf_engine *engine, struct wf_processor *extra, struct wf_worker *heir) {
    EXTRA_FENCE(); /* pairs with that of wf_extra_call_back, which may not know this one */
    if (wf_load_seq_cst(&engine->monitor.extras) > extras_needed(engine))
        wf_store_seq_cst(&extra->attention, 1);
    extra->is_entering = true;
    wf_crew_give_processor(heir, extra);
}

static void say_denied(struct wf_engine *engine) {
    if (engine->monitor.has_said_denied)
        return;
    engine->monitor.has_said_denied = true;
    wf_report("%s: %u workers are wanted and %u are there: no thread, or no memory, for more of them", engine->name,
              wf_engine_wanted_any(engine), wf_engine_in_service_any(engine));
}

void wf_extra_call_back(struct wf_engine *engine) {
    EXTRA_FENCE(); /* pairs with that of wf_extra_enter */
    for (uint32_t i = engine->count, limit = wf_engine_limit(engine); i < limit; i++) {
        wf_store_seq_cst(&engine->processors[i]->attention, 1);
#ifndef WF_MUTANT_EXTRA_CALL_SILENT
        wf_engine_unpark_any(engine, i);
#endif
    }
}

bool wf_extra_leaves(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    struct wf_monitor *monitor = &engine->monitor;
    struct wf_processor *processor = worker->processor;
    if (processor->pins > 0)
        return false;
    uint32_t extras = wf_load_seq_cst(&monitor->extras);
    do {
        if (extras <= extras_needed(engine))
            return false;
        WF_POINT("extra.before_leave");
    } while (!wf_cas_seq_cst(&monitor->extras, &extras, extras - 1));
    if (worker->is_searching) {
        worker->is_searching = false;
        wf_idle_search_end(&engine->idle); /* the notification below stands in for another look */
    }
    if (engine->supply)
        engine->supply->processor_leaves(processor);
    hand_in(processor);
    if (engine->policy->processor_leaves)
        engine->policy->processor_leaves(processor);
    worker->processor = NULL;
    wf_world_rest(worker);
    wf_fetch_sub_seq_cst(&engine->active, 1);
    wf_store_seq_cst(&processor->holder, NULL); /* pairs with find_unheld, and with the end of a stand-in's beginning */
    wf_engine_notify_any(engine); /* for what was handed in; and the last one of the others has to see that it is */
    wf_engine_timers_changed_any(engine);
#ifndef WF_MUTANT_EXTRA_LEAVE_UNSEEN
    if (wf_load_seq_cst(&monitor->extras) < extras_needed(engine))
        wf_parker_unpark(&monitor->parker); /* more were granted while this one decided, or before its place was free */
#endif
    return true;
}

/* Everything that waits here goes to where others find it. */
static void hand_in(struct wf_processor *processor) {
    struct wf_task *task = wf_processor_take_next_owner(processor);
    if (task)
        wf_inject_push_any(&processor->engine->inject[WF_LANE_NORMAL], task);
    for (int lane = 0; lane < WF_LANES; lane++)
        while ((task = wf_ring_pop_owner(&processor->lanes[lane])))
            wf_inject_push_any(&processor->engine->inject[lane], task);
}

int64_t wf_extra_stays_until(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    if (worker->processor->index < engine->count || engine->extra_keep_alive_ns == WF_NEVER)
        return WF_NEVER;
    uint64_t switches = wf_load_relaxed(&worker->processor->counters.switches);
    if (worker->idle_switches != switches || worker->idle_since == 0) {
        worker->idle_switches = switches;
        worker->idle_since = wf_os_now();
    }
    if (wf_load_relaxed(&engine->monitor.granted) <= wf_load_relaxed(&engine->resident))
        return WF_NEVER;
    return wf_time_add(worker->idle_since, engine->extra_keep_alive_ns);
}

void wf_extra_gives_up(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    uint32_t granted = wf_load_seq_cst(&engine->monitor.granted);
    do {
        if (granted <= wf_load_relaxed(&engine->resident))
            return;
        WF_POINT("extra.before_give_up");
    } while (!wf_cas_seq_cst(&engine->monitor.granted, &granted, granted - 1));
    worker->idle_since = 0;
    wf_store_seq_cst(&worker->processor->attention, 1);
}
