/* SPDX-License-Identifier: MIT
 *
 * sched/monitor.c - watching for tasks that keep others waiting: calls that block, computations that do not end.
 *
 * A thread of its own looks at every processor each LOOK_NS, each LOOK_SOON_NS while something is suspicious, and not at all
 * while all of them sleep.
 *
 *   lent, and the same region as last time: somebody blocks. If work waits, or after a while anyway, the processor is taken
 *         and goes to another thread (sched/lend.c).
 *   held, and not one switch for HOG_NS, although its thread could run: a hog. Its processor cannot be taken, since the task may call us at any moment and
 *         would use its queues. It need not be: others steal from its rings, fire its timers and take over its place in the
 *         poller. What is missing is somebody to do so, and so an *extra* processor is put into service with a thread of its
 *         own; the hog's is *detached*, its attention flag set. When the hog comes to its loop, one extra processor goes out
 *         of service again (sched/extra.c). An engine without stand-ins leaves hogs alone, but for those that somebody names.
 *
 * It also puts those extra processors into service that were asked for.
 *
 * Tasks that are pinned to a processor wait for its thread: that is what pinned means. A processor with such tasks is not
 * taken when it is lent but treated as a hog's.
 *
 * Sleep: a worker that wakes up passes a fence and looks at is_asleep; the monitor sets that, passes a fence and looks
 * whether all are idle. One of the two sees the other.
 *
 * With one processor nothing is shared at first, and its owner takes from its next slot without an atomic exchange. Before
 * the first extra one begins, is_shared is set, all threads pass a barrier, and nobody may be between the two steps of the
 * owner's take: in_next says so. If somebody is, we come back later.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/barrier.h"
#include "os/clock.h"
#include "os/report.h"
#include "os/thread.h"
#include "sched/engine.h"

/* A look costs a microsecond or two. 10 ms is what a fiber may keep others waiting before it is a hog. A blocked call without
 * anybody waiting gives its processor up after PATIENCE_NS, so that a program that does nothing else lets us sleep. */
enum {
    LOOK_NS = 10 * 1000 * 1000,
    LOOK_SOON_NS = 2 * 1000 * 1000,
    HOG_NS = 10 * 1000 * 1000,
    PATIENCE_NS = 20 * 1000 * 1000
};
/* What a hog has to have had of it, after it became suspicious. */
enum { OWN_NS = 5 * 1000 * 1000 };
enum { NOT_ASKED = -1 };
/* 8: a program that is idle for a few milliseconds between two requests does not wake us each time. */
enum { QUIET_TICKS = 8 };

struct wf_sight {
    const struct wf_worker *holder;
    uint32_t grip;
    uint64_t switches;
    int64_t since;  /* when it first looked like this */
    int64_t ran_ns; /* what the kernel said when it was first asked about the thread; NOT_ASKED: not yet */
};

enum look { LOOK_IDLE, LOOK_BUSY, LOOK_SUSPICIOUS };

/* Mutants, found by tests/model/model_monitor.c. */
#ifdef WF_MUTANT_MONITOR_NO_FENCE
#define MONITOR_FENCE() (void)0
#else
#define MONITOR_FENCE() wf_fence_seq_cst()
#endif
#ifdef WF_MUTANT_MONITOR_NO_BARRIER
#define MONITOR_BARRIER() (void)0
#else
#define MONITOR_BARRIER() wf_os_barrier()
#endif

static void monitor_thread(void *opaque);
static void sleep_deeply(struct wf_engine *engine);
static bool is_idle(struct wf_engine *engine);
static enum look look_at_all(struct wf_engine *engine, int64_t now);
static enum look look_at(struct wf_engine *engine, struct wf_processor *processor, int64_t now);
static enum look look_at_lent(struct wf_engine *engine, struct wf_processor *processor, struct wf_worker *holder,
                              int64_t for_ns, int64_t now);
static enum look look_at_held(struct wf_engine *engine, struct wf_processor *processor, struct wf_worker *holder,
                              int64_t for_ns, int64_t now);
static bool has_run_meanwhile(struct wf_sight *sight, const struct wf_worker *holder);
static bool is_at_task(struct wf_worker *worker);
static bool work_waits(struct wf_engine *engine, int64_t now);
static void take(struct wf_engine *engine, struct wf_worker *holder, uint32_t grip);
static bool stand_in_for(struct wf_engine *engine, struct wf_processor *processor, struct wf_worker *hog, int64_t now);
static void warn(struct wf_engine *engine);
static void count_back(struct wf_engine *engine);

size_t wf_monitor_sights_size(const struct wf_engine *engine) {
    return (engine->count + WF_EXTRA_MAX) * sizeof(struct wf_sight);
}

int wf_monitor_start(struct wf_engine *engine) {
    int error = wf_os_thread_start(&engine->monitor.thread, "weft-monitor", monitor_thread, engine);
    engine->monitor.has_thread = error == 0;
    if (!error) /* a thread that is still being made holds locks of the C library, and a task may fork */
        wf_parker_park(&engine->monitor.begun, WF_NEVER);
    return error;
}

void wf_monitor_open(struct wf_engine *engine) {
    wf_store_release(&engine->monitor.may_grow, 1); /* pairs with wf_extra_tend */
    if (wf_load_relaxed(&engine->monitor.granted))
        wf_parker_unpark(&engine->monitor.parker);
}

/* The engine is stopping. */
void wf_monitor_stop(struct wf_engine *engine) {
    if (!engine->monitor.has_thread)
        return;
    wf_parker_unpark(&engine->monitor.parker);
    wf_os_thread_join(&engine->monitor.thread);
    engine->monitor.has_thread = false;
}

WF_NOINLINE void wf_monitor_wake_slow(struct wf_engine *engine) {
    if (wf_exchange_acq_rel(&engine->monitor.is_asleep, 0))
        wf_parker_unpark(&engine->monitor.parker);
}

static void monitor_thread(void *opaque) {
    struct wf_engine *engine = opaque;
    int quiet = 0;
    struct wf_os_thread_policy before;
    if (engine->thread_cpus) /* but not the niceness: it looks after those who have it. Workers say what went wrong */
        (void)wf_os_thread_policy_set(&before, engine->thread_cpus, 0, 0);
    wf_parker_unpark(&engine->monitor.begun);
    while (!wf_load_acquire(&engine->is_stopping)) {
        int64_t now = wf_os_now();
        int64_t again = wf_extra_tend(engine, now);
        enum look look = look_at_all(engine, now);
        quiet = look == LOOK_IDLE ? quiet + 1 : 0;
        if (quiet > QUIET_TICKS && again == WF_NEVER) {
            sleep_deeply(engine);
            quiet = 0;
        } else {
            int64_t next = now + (look == LOOK_SUSPICIOUS ? LOOK_SOON_NS : LOOK_NS);
            wf_parker_park(&engine->monitor.parker, next < again ? next : again);
        }
    }
}

static void sleep_deeply(struct wf_engine *engine) {
    wf_store_relaxed(&engine->monitor.is_asleep, 1);
    MONITOR_FENCE(); /* pairs with the fence at the end of wf_worker_sleep */
    WF_POINT("monitor.before_sleep");
#ifdef WF_MUTANT_MONITOR_SLEEP_WITHOUT_LOOK
    if (!wf_load_acquire(&engine->is_stopping))
#else
    if (is_idle(engine) && !wf_load_acquire(&engine->is_stopping))
#endif
        wf_parker_park(&engine->monitor.parker, WF_NEVER);
    wf_store_relaxed(&engine->monitor.is_asleep, 0);
}

static bool is_idle(struct wf_engine *engine) {
    return wf_idle_parked_any(&engine->idle) >= wf_load_relaxed(&engine->active);
}

static enum look look_at_all(struct wf_engine *engine, int64_t now) {
    if (is_idle(engine))
        return LOOK_IDLE;
    enum look worst = LOOK_BUSY;
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++) {
        enum look look = look_at(engine, engine->processors[i], now);
        worst = look > worst ? look : worst;
    }
    return worst;
}

static enum look look_at(struct wf_engine *engine, struct wf_processor *processor, int64_t now) {
    struct wf_sight *sight = &engine->monitor.sights[processor->index];
    struct wf_worker *holder = wf_load_acquire(&processor->holder); /* pairs with its hand-over */
    uint32_t grip = holder ? wf_load_acquire(&holder->grip) : 0; /* pairs with lending, and has_pins as it was then */
    bool is_looked_after = wf_load_relaxed(&processor->is_detached) && wf_grip_state(grip) != WF_WORKER_LENT;
    if (!holder || wf_idle_is_seated_any(&engine->idle, processor->index) || is_looked_after) {
        sight->holder = NULL;
        return LOOK_IDLE;
    }
    struct wf_sight seen = {.holder = holder,
                            .grip = grip,
                            .switches = wf_load_relaxed(&processor->counters.switches),
                            .since = sight->since,
                            .ran_ns = sight->ran_ns};
    if (seen.holder != sight->holder || seen.grip != sight->grip || seen.switches != sight->switches) {
        seen.since = now;
        seen.ran_ns = NOT_ASKED;
    }
    *sight = seen;
    if (seen.since == now)
        return wf_grip_state(seen.grip) == WF_WORKER_LENT ? LOOK_SUSPICIOUS : LOOK_BUSY;
    if (wf_grip_state(seen.grip) == WF_WORKER_LENT)
        return look_at_lent(engine, processor, holder, now - seen.since, now);
    if (wf_grip_state(seen.grip) == WF_WORKER_HOLDS)
        return look_at_held(engine, processor, holder, now - seen.since, now);
    return LOOK_BUSY;
}

static enum look look_at_lent(struct wf_engine *engine, struct wf_processor *processor, struct wf_worker *holder,
                              int64_t for_ns, int64_t now) {
    if (!work_waits(engine, now) && for_ns < PATIENCE_NS)
        return LOOK_SUSPICIOUS;
    if (!wf_load_relaxed(&processor->has_pins))
        take(engine, holder, engine->monitor.sights[processor->index].grip);
    else if (for_ns >= HOG_NS && work_waits(engine, now) && !wf_load_relaxed(&processor->is_detached))
        stand_in_for(engine, processor, holder, now);
    return LOOK_BUSY;
}

static enum look look_at_held(struct wf_engine *engine, struct wf_processor *processor, struct wf_worker *holder,
                              int64_t for_ns, int64_t now) {
    wf_store_relaxed(&processor->attention, 1); /* a fiber that asks (weft_maybe_yield) is told that it is time */
    if (wf_timers_earliest(&processor->timers) != WF_NEVER)
        wf_engine_timers_changed_any(engine); /* it may have armed one, and not come to see who wakes for it */
    if (wf_engine_lacks_poller_any(engine))
        wf_engine_notify_any(engine);
    if (!engine->has_stand_ins || !work_waits(engine, now) || !is_at_task(holder))
        return LOOK_BUSY;
    bool has_run = has_run_meanwhile(&engine->monitor.sights[processor->index], holder);
    if (has_run && for_ns >= HOG_NS)
        stand_in_for(engine, processor, holder, now);
    return LOOK_SUSPICIOUS;
}

/* Whether the thread had OWN_NS of a processor of the machine since we first asked, or waits in the kernel, in a call that
 * nobody announced. On a machine with too few processors for all its threads, one that merely waits its turn is no hog, and
 * a thread more would make matters worse. */
static bool has_run_meanwhile(struct wf_sight *sight, const struct wf_worker *holder) {
    int64_t thread_id = wf_load_relaxed(&holder->thread_id);
    int64_t ran = wf_os_thread_ran(thread_id);
    if (ran < 0)
        return true; /* nobody knows: then time is what counts */
    if (sight->ran_ns == NOT_ASKED) {
        sight->ran_ns = ran;
        return false;
    }
    return ran - sight->ran_ns >= OWN_NS || wf_os_thread_waits(thread_id);
}

/* A worker may also be on its way to sleep, or held because the world is stopped. */
static bool is_at_task(struct wf_worker *worker) {
    const struct wf_engine_policy *policy = worker->engine->policy;
    return !policy->is_at_task || policy->is_at_task(worker);
}

/* Something could run now, and nobody is free to do so. */
static bool work_waits(struct wf_engine *engine, int64_t now) {
    if (wf_idle_parked_any(&engine->idle) > 0)
        return false;
    if (wf_engine_has_surplus_any(engine) || wf_engine_has_next_any(engine, NULL) || wf_engine_lacks_poller_any(engine))
        return true;
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
        if (wf_timers_earliest(&engine->processors[i]->timers) <= now + LOOK_SOON_NS)
            return true;
    return false;
}

static void take(struct wf_engine *engine, struct wf_worker *holder, uint32_t grip) {
    struct wf_worker *heir = wf_crew_hire(engine, false);
    if (!heir) {
        warn(engine);
        return;
    }
    if (wf_worker_take_lent(holder, grip, heir))
        wf_fetch_add_relaxed(&engine->crew.takeovers, 1);
    else
        wf_crew_let_go(heir);
}

bool wf_monitor_stand_in(struct wf_engine *engine, struct wf_processor *processor, int64_t now) {
    struct wf_worker *holder = wf_load_acquire(&processor->holder); /* pairs with its hand-over */
    bool is_over = !holder || wf_worker_state(holder) != WF_WORKER_HOLDS || wf_load_relaxed(&processor->is_detached) ||
                   wf_idle_is_seated_any(&engine->idle, processor->index) || !is_at_task(holder);
    return is_over || stand_in_for(engine, processor, holder, now);
}

/* False: nobody does. */
static bool stand_in_for(struct wf_engine *engine, struct wf_processor *processor, struct wf_worker *hog, int64_t now) {
    struct wf_processor *extra;
    struct wf_worker *heir;
    int error = wf_extra_find(engine, &extra, &heir);
    if (error == -EAGAIN)
        warn(engine);
    if (error)
        return false;
    bool computes = wf_worker_state(hog) == WF_WORKER_HOLDS; /* else it blocks, and may not be taken */
    if (computes && engine->policy->on_hog)
        engine->policy->on_hog(hog, processor);
    wf_count_owner(&engine->monitor.hogs, computes ? 1 : 0);
    wf_fetch_add_seq_cst(&engine->monitor.detached, 1);
    wf_fetch_add_seq_cst(&engine->monitor.extras, 1);
    wf_fetch_add_seq_cst(&engine->active, 1);
    wf_store_relaxed(&processor->detached_at, now);
    wf_store_seq_cst(&processor->is_detached, 1);
    WF_POINT("monitor.detached");
    wf_store_seq_cst(&processor->attention, 1);
    wf_engine_unpark_any(engine, processor->index); /* it may have come back, and gone to sleep, while we were at it */
    wf_extra_enter(engine, extra, heir);
    /* The hog may have come back before it was told, and its processor, an extra one, may be out of service. */
    if (!wf_load_seq_cst(&processor->holder) && wf_exchange_seq_cst(&processor->is_detached, 0))
        count_back(engine);
    return true;
}

bool wf_monitor_become_shared(struct wf_engine *engine) {
    if (engine->monitor.is_open)
        return true;
    if (!wf_load_relaxed(&engine->is_shared)) {
        wf_store_relaxed(&engine->is_shared, 1);
        MONITOR_BARRIER();
    }
#ifndef WF_MUTANT_MONITOR_IN_NEXT_IGNORED
    for (uint32_t i = 0; i < engine->count; i++)
        if (wf_load_acquire(&engine->processors[i]->in_next)) /* pairs with wf_processor_take_next_owner */
            return false;
#endif
    engine->monitor.is_open = true;
    return true;
}

static void warn(struct wf_engine *engine) {
    if (engine->monitor.has_warned)
        return;
    engine->monitor.has_warned = true;
    wf_report("there can be no more threads: fibers wait until a call that blocks, or a computation, is over");
}

void wf_monitor_came_back(struct wf_worker *worker) {
    struct wf_engine *engine = worker->engine;
    struct wf_monitor *monitor = &engine->monitor;
    int64_t since = wf_load_relaxed(&worker->processor->detached_at);
    if (!wf_exchange_seq_cst(&worker->processor->is_detached, 0))
        return;
    int64_t for_ns = wf_os_now() - since;
    wf_fetch_add_relaxed(&monitor->hog_ns, (uint64_t)for_ns);
    if (engine->policy->on_hog_over)
        engine->policy->on_hog_over(worker, for_ns);
    count_back(engine);
}

/* There is one hog less: one of the extra processors is to see that it is not needed any more. */
static void count_back(struct wf_engine *engine) {
    wf_fetch_sub_seq_cst(&engine->monitor.detached, 1);
    wf_extra_call_back(engine);
}
