/* SPDX-License-Identifier: MIT
 *
 * sched/engine.h - the engine: processors, workers, and the work that moves between them.
 *
 * An engine is an instance; a process may have several. It runs *tasks* and knows nothing of fibers: the policy says
 * what running one means.
 *
 *     engine ---- injection queues (3 lanes), idle set, poller
 *       |-- processor 0: next slot, run rings (3 lanes), mailbox, timers  <--- worker 0 (the thread that called)
 *       |-- processor 1: ...                                              <--- worker 1
 *
 * A *processor* is the right to run tasks, and the queues that go with it; a *worker* is a thread that holds one. Every
 * function named _owner may be called by that thread only, at any depth of the policy's run.
 *
 * Where a task waits
 *   next      one task that its maker wants to run soon, in the maker's own slice; thieves take it only when it has
 *             gone stale
 *   rings     by lane; FIFO; thieves take half
 *   pinned    tasks that only this processor may run; others leave them in the mailbox
 *   inject    what came from outside, or overflowed
 *
 * The order of picking is high lane, next, normal lane, low lane. Every 61 picks, or fewer while timers are armed and
 * tasks run long, the worker's own loop looks elsewhere first (injection queue, low lane, timers), so that nothing
 * starves behind a busy local queue.
 *
 * In replay (sched/replay.c) there is one worker, and the order within a lane is drawn from the seed.
 */
#ifndef WF_SCHED_ENGINE_H
#define WF_SCHED_ENGINE_H

#include "base/assert.h"
#include "base/rng.h"
#include "base/task.h"
#include "os/poll.h"
#include "os/thread.h"
#include "queue/idle.h"
#include "queue/inject.h"
#include "queue/mailbox.h"
#include "queue/parker.h"
#include "queue/ring.h"
#include "sched/timer.h"

struct wf_engine;
struct wf_processor;
struct wf_worker;

struct wf_engine_policy {
    size_t worker_size;    /* of the structure that begins with struct wf_worker; zeroed by the engine */
    size_t processor_size; /* of the structure that begins with struct wf_processor */
    /* On the worker's own thread, before its first task and after its last. begin returns 0 or a negative error. */
    int (*worker_begin)(struct wf_worker *worker);
    void (*worker_end)(struct wf_worker *worker);
    /* Runs the task, and others that wf_processor_pick_owner gives out, until that gives none. */
    void (*run)(struct wf_worker *worker, struct wf_task *task);
    /* All workers are parked and the engine is draining: true when nothing is left to wait for. */
    bool (*is_done)(struct wf_engine *engine);
    /* A worker has nothing to do: house-keeping. Returns the moment at which it wants to be called again. */
    int64_t (*rest)(struct wf_worker *worker);
};

/* Counters have one writer, the owner, unless said otherwise. */
struct wf_counters {
    _Atomic uint64_t switches;
    _Atomic uint64_t parks;
    _Atomic uint64_t wakes;
    _Atomic uint64_t steals;
    _Atomic uint64_t stolen;
    _Atomic uint64_t injected;
    _Atomic uint64_t worker_parks;
    _Atomic uint64_t polls;
};

struct wf_processor {
    /* owner only */
    struct wf_engine *engine;
    uint32_t index;
    uint32_t countdown;        /* picks left until the loop must look elsewhere */
    uint32_t allowance;        /* what the countdown began with */
    int64_t visited_ns;        /* when the loop last read the clock, or 0 */
    int64_t clock_ns;          /* a recent moment, for reports: to a few milliseconds when the loop last came by */
    uint64_t visited_switches; /* what the switch counter said then */
    uint32_t rounds;           /* visits of the loop, for taking turns */
    bool is_uncovered;         /* timers may have changed since somebody last promised to wake for them */
    bool takes_pinned;         /* take turns between pinned and other tasks */
    bool has_extra;            /* pinned tasks, or tasks in another lane than the normal one, may be here; or replay */
    struct wf_chain pinned;
    struct wf_rng rng;

    /* shared */
    _Alignas(64) _Atomic(struct wf_task *) next; /* owner sets when empty; owner and thieves clear */
    _Atomic uint32_t attention;                  /* anybody sets: leave the fast path; the loop clears */
    struct wf_mailbox mailbox;
    struct wf_counters counters;

    struct wf_timers timers;
    struct wf_ring lanes[WF_LANES];
};

struct wf_worker {
    struct wf_engine *engine;
    struct wf_processor *processor;
    uint32_t index;
    bool is_searching;  /* owner only: it holds a searcher's place in the idle set */
    bool has_seen_work; /* owner only: the last look before a sleep found something to steal */
    bool has_thread;    /* worker 0 runs on the caller's */
    int begin_error;    /* written by the thread before started is unparked */
    struct wf_os_thread thread;
    _Alignas(64) struct wf_parker parker; /* sleeps here when idle */
    struct wf_parker world_parker;        /* and here while the world is stopped */
};

enum { WF_POLLER_NONE = -1 };

/* Worker 0 only. Two runs that made the same choices at the same moments have the same trace. */
struct wf_replay {
    bool is_on;     /* constant once the engine runs */
    uint64_t picks; /* choices so far */
    uint64_t trace; /* a hash of all of them */
};

struct wf_engine {
    const struct wf_engine_policy *policy;
    void *owner; /* for the policy */
    uint32_t count;
    struct wf_processor **processors;
    struct wf_worker **workers;
    const char *name; /* of its threads */

    _Alignas(64) struct wf_inject inject[WF_LANES];
    struct wf_idle idle;
    _Atomic uint32_t is_stopping;
    _Atomic uint32_t is_draining;
    _Atomic uint64_t worker_wakes; /* any thread */
    _Atomic uint64_t injected;     /* any thread */

    struct wf_os_poll poll;
    _Atomic int32_t poller;        /* worker that sleeps in the poller, or WF_POLLER_NONE */
    _Atomic int64_t poll_deadline; /* when it will wake by itself; INT64_MIN while nobody polls */

    _Atomic uint32_t world_requested; /* a fiber wants, or has, the world stopped */
    _Atomic uint32_t world_active;    /* workers that are neither asleep nor held */
    _Atomic(struct wf_parker *) world_stopper;

    struct wf_parker started;
    struct wf_replay replay;
};

/* Makes the engine: count processors, nothing runs yet. Returns 0, -ENOMEM, -EMFILE and other errors of the poller. */
int wf_engine_init(struct wf_engine *engine, const struct wf_engine_policy *policy, void *owner, uint32_t count,
                   uint64_t seed, const char *name);
void wf_engine_term(struct wf_engine *engine);

/* Turns the calling thread into worker 0, starts the others, and returns when the engine was stopped and all of them have
 * ended: 0, or an error when they could not all be started. */
int wf_engine_run(struct wf_engine *engine);

/* Any thread: no worker takes another task; those that sleep are woken. */
void wf_engine_stop(struct wf_engine *engine);
/* Any thread: stop by yourself once all workers are parked and policy->is_done. */
void wf_engine_drain(struct wf_engine *engine);

/* Any thread: puts a task in from outside; a pinned one goes to its processor. */
void wf_engine_submit_any(struct wf_engine *engine, struct wf_task *task);
/* Any thread: something was published that any worker could run; wakes one if that is needed. */
void wf_engine_notify_any(struct wf_engine *engine);
/* Any thread: whether there is something that any worker could take. */
bool wf_engine_has_surplus_any(struct wf_engine *engine);
/* Any thread: whether another processor has a task in its next slot, which only a searcher can take. A notification for
 * one is turned away by a searcher; so a searcher must not go to sleep, or end, while there is one. */
bool wf_engine_has_next_any(struct wf_engine *engine, const struct wf_processor *except);
/* Any thread: wakes a given worker. */
void wf_engine_unpark_any(struct wf_engine *engine, uint32_t worker);

/* Makes a task ready on the owner's processor. soon: run it next, in this slice, if nobody else is to; else it goes to
 * the end of its lane. */
static inline void wf_processor_ready_owner(struct wf_processor *processor, struct wf_task *task, bool soon);
/* The next task, or NULL: nothing local, or it is time to go through the worker's loop. */
static inline struct wf_task *wf_processor_pick_owner(struct wf_processor *processor);
/* Whether a pick could find something without a look elsewhere. */
bool wf_processor_has_local_owner(struct wf_processor *processor);
/* A timer was armed here: see to it that somebody wakes for it. */
static inline void wf_processor_timers_changed_owner(struct wf_processor *processor) {
    processor->is_uncovered = true;
    processor->countdown = 0;
}

/* The worker's loop (sched/worker.c). */
void wf_worker_loop(struct wf_worker *worker);

/* Stopping the world (sched/world.c). request: false when somebody else has it. */
bool wf_world_request(struct wf_worker *worker);
void wf_world_release(struct wf_worker *worker);
void wf_world_rest(struct wf_worker *worker);
void wf_world_resume(struct wf_worker *worker);

/* Sleeping (sched/sleep.c). */
void wf_worker_sleep(struct wf_worker *worker);
void wf_worker_cover_timers(struct wf_worker *worker);
/* Any thread: a timer was armed in another processor than the caller's: see to it that somebody wakes for it. */
void wf_engine_timers_changed_any(struct wf_engine *engine);

/* Replay (sched/replay.c). start: before the engine runs; it has one worker and the clock is virtual. */
void wf_replay_start(struct wf_engine *engine);
struct wf_task *wf_replay_pick_owner(struct wf_processor *processor);
struct wf_task *wf_replay_serve_owner(struct wf_processor *processor);
void wf_replay_poll(struct wf_engine *engine, int64_t limit_ns);

/* The rest of this header is the fast path; the slow one is in sched/processor.c. */
void wf_processor_ready_slow_owner(struct wf_processor *processor, struct wf_task *task);
struct wf_task *wf_processor_pick_extra_owner(struct wf_processor *processor);

static inline void wf_processor_ready_owner(struct wf_processor *processor, struct wf_task *task, bool soon) {
    struct wf_ring *ring = &processor->lanes[WF_LANE_NORMAL];
    if (WF_UNLIKELY(wf_load_relaxed(&task->route) != 0)) { /* pinned, or in another lane */
        wf_processor_ready_slow_owner(processor, task);
        return;
    }
    /* Only the owner makes next non-null, so null stays null under its feet and a store is enough. */
    if (soon && !wf_load_relaxed(&processor->next) && wf_ring_is_empty_any(ring)) {
        wf_store_release(&processor->next, task); /* pairs with the acquire of whoever takes it out */
        if (processor->engine->count > 1)
            wf_engine_notify_any(processor->engine);
        return;
    }
    if (WF_UNLIKELY(!wf_ring_push_owner(ring, task)))
        wf_processor_ready_slow_owner(processor, task);
    else if (processor->engine->count > 1)
        wf_engine_notify_any(processor->engine);
}

static inline struct wf_task *wf_processor_take_next_owner(struct wf_processor *processor) {
    struct wf_task *task = wf_load_relaxed(&processor->next);
    if (!task)
        return NULL;
    if (processor->engine->count == 1) { /* no thieves */
        wf_store_relaxed(&processor->next, NULL);
        return task;
    }
    return wf_exchange_acquire(&processor->next, NULL); /* a thief may have been faster: then NULL */
}

static inline struct wf_task *wf_processor_pick_owner(struct wf_processor *processor) {
    if (WF_UNLIKELY(processor->countdown == 0 || wf_load_relaxed(&processor->attention)))
        return NULL;
    processor->countdown--;
    if (WF_UNLIKELY(processor->has_extra || !wf_mailbox_is_empty_any(&processor->mailbox)))
        return wf_processor_pick_extra_owner(processor);
    struct wf_task *task = wf_processor_take_next_owner(processor);
    return task ? task : wf_ring_pop_owner(&processor->lanes[WF_LANE_NORMAL]);
}

#endif
