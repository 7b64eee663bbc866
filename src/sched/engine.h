/* SPDX-License-Identifier: MIT
 *
 * sched/engine.h - the engine: processors, workers, and the work that moves between them.
 *
 * An engine is an instance; a process may have several. It runs *tasks* and knows nothing of fibers: the policy says
 * what running one means.
 *
 *     engine ---- injection queues (3 lanes), idle set, poller with its sentries, crew, monitor
 *       |-- processor 0: next slot, run rings (3 lanes), mailbox, timers  <--- a worker
 *       |-- processor 1: ...                                              <--- a worker
 *                                                             spare workers, workers that run a task alone
 *
 * A *processor* is the right to run tasks, and the queues that go with it; a *worker* is a thread, and holds one at most.
 * A processor is always held, also while it sleeps. Every function named _owner may be called by the holder only, at any
 * depth of the policy's run.
 *
 * A worker gives its processor away when its task is to have a thread of its own, and lends it for the length of a call
 * that may block (sched/lend.c). Threads come from the crew (sched/crew.c). Besides the regular processors there are extra
 * ones, which the monitor puts into service while the holders of others compute for too long (sched/monitor.c), or because
 * more of them were asked for (sched/extra.c).
 *
 * Where a task waits
 *   next      one task that its maker wants to run soon, in the maker's own slice; thieves take it only when it has
 *             gone stale
 *   rings     by lane; FIFO; thieves take half
 *   pinned    tasks that only this processor may run; others leave them in the mailbox
 *   inject    what came from outside, or overflowed
 *   urgent    what is due at a moment, from anywhere
 *   supply    what is no task yet, in queues of somebody else (struct wf_supply)
 *
 * The order of picking is urgent, high lane, next, normal lane, low lane. Every 61 picks, or fewer while timers are armed and
 * tasks run long, the worker's own loop looks elsewhere first (injection queue, low lane, timers), so that nothing
 * starves behind a busy local queue.
 *
 * In replay (sched/replay.c) there is one worker, and the order within a lane is drawn from the seed.
 */
#ifndef WF_SCHED_ENGINE_H
#define WF_SCHED_ENGINE_H

#include "base/assert.h"
#include "base/rng.h"
#include "base/state.h"
#include "base/task.h"
#include "os/poll.h"
#include "os/thread.h"
#include "queue/idle.h"
#include "queue/inject.h"
#include "queue/mailbox.h"
#include "queue/parker.h"
#include "queue/ring.h"
#include "sched/sentry.h"
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
    /* When nothing runs any more. May be NULL. */
    void (*worker_term)(struct wf_worker *worker);
    /* Runs the task, and others that wf_processor_pick_owner gives out, until that gives none. */
    void (*run)(struct wf_worker *worker, struct wf_task *task);
    /* All workers are parked and the engine is draining: true when nothing is left to wait for. */
    bool (*is_done)(struct wf_engine *engine);
    /* A worker has nothing to do: house-keeping. Returns the moment at which it wants to be called again. */
    int64_t (*rest)(struct wf_worker *worker);
    /* From any thread: when a task of the urgent lane is due. NULL: there are none. */
    int64_t (*due)(const struct wf_task *task);
    /* From any thread: a task that is alone was made ready; its own thread is to go on with it. NULL: there are none. */
    void (*wake_alone)(struct wf_engine *engine, struct wf_task *task);
    /* On the monitor: whether that worker runs a task; and, on_hog, it has been at one for too long. Both may be NULL. */
    bool (*is_at_task)(struct wf_worker *worker);
    void (*on_hog)(struct wf_worker *worker, struct wf_processor *processor);
    /* On whoever holds the processor by then: it is back, so much later. May be NULL. */
    void (*on_hog_over)(struct wf_worker *worker, int64_t for_ns);
    /* A processor has been made, and nobody holds it yet; an extra one is about to go out of service, on its holder. Both may
     * be NULL. */
    void (*processor_begin)(struct wf_processor *processor);
    void (*processor_leaves)(struct wf_processor *processor);
};

/* Something to do that waits outside of the engine, in queues of its owner, and becomes a task only when a worker is free for
 * it. Whoever adds to it calls wf_engine_notify_any afterwards, from whatever thread. */
struct wf_supply {
    /* On a worker that holds a processor and runs no task: a task made of what waits, wherever that is, or NULL. May move more
     * to where this worker finds it first; then it notifies, unless worker->is_searching. */
    struct wf_task *(*take_owner)(struct wf_worker *worker);
    /* Any thread, without locks: whether something may wait that any worker could take. After the fence of the caller it
     * has to see what was added before the fence of wf_engine_notify_any. It must not go on saying so of what take_owner
     * cannot have. */
    bool (*has_any)(struct wf_engine *engine);
    /* On its holder: an extra processor goes out of service. What waits there is put where others find it. */
    void (*processor_leaves)(struct wf_processor *processor);
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
    uint8_t home;              /* what its tasks get as their home */
    uint32_t countdown;        /* picks left until the loop must look elsewhere */
    uint32_t allowance;        /* what the countdown began with */
    int64_t visited_ns;        /* when the loop last read the clock, or 0 */
    int64_t clock_ns;          /* a recent moment, for reports: to a few milliseconds when the loop last came by */
    uint64_t visited_switches; /* what the switch counter said then */
    uint32_t rounds;           /* visits of the loop, for taking turns */
    bool is_uncovered;         /* timers may have changed since somebody last promised to wake for them */
    bool takes_pinned;         /* take turns between pinned and other tasks */
    bool is_entering;          /* an extra one is being put into service; set by the monitor before it gives it away */
    bool has_extra;            /* pinned tasks, or tasks in another lane than the normal one, may be here; or replay */
    uint32_t pins;             /* tasks that may run here only */
    struct wf_chain pinned;
    struct wf_rng rng;

    /* shared */
    _Alignas(64) _Atomic(struct wf_task *) next; /* owner sets when empty; owner and thieves clear */
    _Atomic uint32_t attention;                  /* anybody sets: leave the fast path; the loop clears */
    _Atomic uint32_t in_next;                    /* owner: it takes from next as if there were no thieves */
    _Atomic uint32_t is_detached;       /* the monitor sets, the holder clears: an extra one stands in for it */
    _Atomic uint32_t wants_stand_in;    /* anybody sets, the monitor clears: wf_engine_replace_any */
    _Atomic uint32_t has_pins;          /* pins is not 0; written by the owner */
    _Atomic int64_t detached_at;        /* when that was */
    _Atomic(struct wf_worker *) holder; /* written by whoever hands it over */
    struct wf_parker parker;            /* its holder sleeps here when idle */
    struct wf_parker world_parker;      /* and here while the world is stopped */
    struct wf_mailbox mailbox;
    struct wf_counters counters;

    struct wf_timers timers;
    struct wf_ring lanes[WF_LANES];
};

/* What a worker has to do with processors. LENT: it holds one and is inside a call that may block: whoever moves it to
 * ALONE has taken that processor. FROZEN: the same while the world is stopped, when nobody may move it but the stopper. */
#define WF_WORKER_STATES(X) \
    X(WF_WORKER_SPARE, "spare", WF_BIT(WF_WORKER_HOLDS) | WF_BIT(WF_WORKER_ALONE)) \
    X(WF_WORKER_HOLDS, "holds", WF_BIT(WF_WORKER_SPARE) | WF_BIT(WF_WORKER_LENT) | WF_BIT(WF_WORKER_ALONE)) \
    X(WF_WORKER_LENT, "lent", WF_BIT(WF_WORKER_HOLDS) | WF_BIT(WF_WORKER_FROZEN) | WF_BIT(WF_WORKER_ALONE)) \
    X(WF_WORKER_FROZEN, "frozen", WF_BIT(WF_WORKER_LENT)) \
    X(WF_WORKER_ALONE, "alone", WF_BIT(WF_WORKER_SPARE))

enum wf_worker_state { WF_WORKER_STATES(WF_STATE_ENUM) };
extern const struct wf_machine wf_worker_machine;

struct wf_worker {
    struct wf_engine *engine;
    struct wf_processor *processor;      /* its own; NULL while it has none, or has lent it */
    _Atomic(struct wf_processor *) lent; /* written before LENT, read by whoever takes it */
    bool is_searching;                   /* owner only: it holds a searcher's place in the idle set */
    bool has_seen_work;                  /* owner only: the last look before a sleep found something to steal */
    int64_t spin_ns;                     /* owner only: how long it looks on before it sleeps: sched/sleep.c */
    int64_t idle_since;                  /* owner only: when it first lay down after its last task */
    uint64_t idle_switches;              /* owner only: how many switches its processor had made by then */
    uint32_t told_count;                 /* owner only: what it has found in the poller and not told yet */
    struct wf_os_ready told[WF_POLL_MOST];
    bool has_thread; /* the first one runs on the caller's */
    bool is_spare;   /* under the crew's lock: it is in the list */
    bool is_spoilt;  /* its own: the thread is to end and not to be used again */
    bool is_resting; /* under the crew's lock: see wf_crew_rest_alone */
    int begin_error; /* written by the thread before begun is unparked */
    uint32_t index;  /* how many there were before it */
    struct wf_os_thread thread;
    _Atomic int64_t thread_id; /* the kernel's; written before begun is unparked; the monitor may be late to look */
    struct wf_parker begun;
    struct wf_worker *next;               /* under the crew's lock: spare, unused */
    struct wf_worker *next_all;           /* constant */
    _Atomic(struct wf_processor *) given; /* by whoever hired it, before it is unparked */
    _Atomic(struct wf_task *) given_task; /* the same: to be run alone */
    _Atomic uint64_t regions;             /* times it lent its processor; its own */
    _Atomic int64_t alone_since;          /* when its processor was taken or given away */
    _Alignas(64) _Atomic uint32_t grip;   /* enum wf_worker_state, and above it how often it has lent: sched/lend.c */
    struct wf_parker parker;              /* sleeps here without a processor */
};

enum { WF_GRIP_BITS = 3 };
static inline uint32_t wf_grip(enum wf_worker_state state, uint32_t regions) {
    return regions << WF_GRIP_BITS | (uint32_t)state;
}
static inline enum wf_worker_state wf_grip_state(uint32_t grip) {
    return (enum wf_worker_state)(grip & ((1u << WF_GRIP_BITS) - 1));
}
static inline enum wf_worker_state wf_worker_state(const struct wf_worker *worker) {
    return wf_grip_state(wf_load_relaxed(&worker->grip));
}
/* By the worker itself, where nobody else may. */
static inline void wf_worker_move(struct wf_worker *worker, enum wf_worker_state state) {
    uint32_t grip = wf_load_relaxed(&worker->grip);
    WF_MOVE_CHECK(&wf_worker_machine, wf_grip_state(grip), state);
    wf_store_release(&worker->grip, wf_grip(state, grip >> WF_GRIP_BITS)); /* pairs with whoever takes what it lends */
}

/* All threads but the monitor's. Spare ones are asleep; the last to lie down is the first to be called. */
struct wf_crew {
    struct wf_lock lock;
    struct wf_worker *all;     /* under lock; never shrinks */
    struct wf_worker *first;   /* on the caller's thread; constant once there */
    struct wf_worker *spare;   /* under lock */
    struct wf_worker *unused;  /* under lock: workers whose threads have ended */
    struct wf_worker *retired; /* under lock: the last thread that has ended; the next one joins it */
    uint32_t max;              /* threads at once, the monitor's included; constant */
    int64_t keep_alive_ns;     /* constant */
    uint32_t made;             /* under lock: workers that exist */
    uint32_t busy;             /* under lock: threads of ours, without the caller's, that run and are not at rest */
    bool is_over;              /* under lock: the engine has stopped, and nothing that runs is left */
    struct wf_parker quiet;    /* for the caller's thread: busy became 0 */
    struct wf_os_thread_policy caller_policy; /* what the caller's thread had before, where its threads get another */
    _Atomic uint32_t has_said_undressed;      /* that a thread could not get it */
    _Atomic uint32_t threads;                 /* written under lock */
    _Atomic uint32_t spares;
    _Atomic uint32_t is_caller_spare; /* first is among them */
    _Atomic uint32_t peak;
    _Atomic uint64_t births;
    _Atomic uint64_t deaths;
    _Atomic uint64_t denied; /* any thread */
    _Atomic uint64_t takeovers;
    _Atomic uint64_t alone_ns; /* any thread: time without a processor, of those whose processor was taken */
};

struct wf_monitor {
    struct wf_os_thread thread;
    struct wf_parker begun;
    struct wf_parker parker;
    bool has_thread;
    _Atomic uint32_t is_asleep; /* it has no limit to its sleep: whoever wakes up wakes it too */
    _Atomic uint32_t detached;  /* processors whose holders are hogs */
    _Atomic uint32_t granted;   /* extra processors that were asked for; those that are not needed give themselves up */
    _Atomic uint32_t extras;    /* extra processors in service: on its way to detached + granted */
    _Atomic uint32_t may_grow;  /* everything has started */
    _Atomic uint32_t requests;  /* processors with wants_stand_in, or more */
    _Atomic uint64_t hogs;
    _Atomic uint64_t hog_ns;
    bool has_warned;
    bool has_said_denied;    /* its own: that there were no threads for those that were granted */
    bool is_open;            /* its own: every owner is known to know is_shared */
    int64_t grow_at;         /* its own: not before then, after there was no thread */
    struct wf_sight *sights; /* its own: what each processor looked like last time */
};

/* 1,024: as many as there can be regular ones. With so many in service, computations that follow keep their processor. */
enum { WF_POLLER_NONE = -1, WF_EXTRA_MAX = 1024 };

struct wf_urgent {
    struct wf_lock lock;
    struct wf_task *first;   /* under lock */
    _Atomic uint32_t length; /* written under lock; not an announcement by itself, as in queue/inject.h */
};

/* Worker 0 only. Two runs that made the same choices at the same moments have the same trace. */
struct wf_replay {
    bool is_on;     /* constant once the engine runs */
    uint64_t picks; /* choices so far */
    uint64_t trace; /* a hash of all of them */
};

struct wf_engine {
    const struct wf_engine_policy *policy;
    void *owner;                      /* for the policy */
    uint32_t count;                   /* regular processors, always in service; constant */
    _Atomic uint32_t limit;           /* processors that exist, the extra ones behind the regular; only grows */
    struct wf_processor **processors; /* room for count + WF_EXTRA_MAX */
    const char *name;                 /* of its threads */
    uint64_t seed;
    _Atomic uint32_t active;    /* processors in service */
    _Atomic uint32_t is_shared; /* there are, or were, several: tasks can be stolen. Never taken back */
    _Atomic uint32_t alone;     /* workers that run a task without a processor and do not sleep in it */
    struct wf_crew crew;
    struct wf_monitor monitor;

    /* Constant once the engine runs. */
    const struct wf_supply *supply; /* NULL: there is none */
    void *supply_owner;
    void (*on_ready)(
        struct wf_engine *engine); /* all have started, and nothing has run: on the first worker. Or NULL */
    const char *thread_cpus;       /* where its threads run, as wf_os_thread_policy_set takes it; or NULL */
    int thread_nice;               /* 0: as it is */
    bool has_stand_ins;            /* for hogs; else they are left alone */
    bool is_guest;                 /* the thread that runs it is not one of the program's own */
    bool can_spin;                 /* it has a supply, and more than one processor of the machine */
    _Atomic uint32_t resident; /* extra processors, of those granted, that stay however long they have nothing to do */
    int64_t extra_keep_alive_ns; /* how long the others do */

    _Alignas(64) struct wf_inject inject[WF_LANES];
    struct wf_urgent urgent;
    struct wf_idle idle;
    _Atomic uint32_t is_stopping;
    _Atomic uint32_t is_draining;
    _Atomic uint64_t worker_wakes; /* any thread */
    _Atomic uint64_t injected;     /* any thread */

    struct wf_os_poll poll;
    _Atomic int32_t poller;        /* processor whose holder sleeps in the poller, or WF_POLLER_NONE */
    _Atomic int64_t poll_deadline; /* when it will wake by itself; INT64_MIN while nobody polls */
    struct wf_sentries sentries;

    _Atomic uint32_t world_requested; /* a fiber wants, or has, the world stopped */
    _Atomic uint32_t world_active;    /* processors that are neither asleep nor held nor frozen */
    _Atomic(struct wf_parker *) world_stopper;

    struct wf_replay replay;
};

/* Makes the engine: count processors, nothing runs yet. Returns 0, -ENOMEM, -EMFILE and other errors of the poller. */
int wf_engine_init(struct wf_engine *engine, const struct wf_engine_policy *policy, void *owner, uint32_t count,
                   uint64_t seed, const char *name);
void wf_engine_term(struct wf_engine *engine);

/* Turns the calling thread into a worker, starts the others, and returns when the engine was stopped and nothing runs any
 * more: 0, or an error when they could not all be started. Threads that sleep inside a task stay until wf_engine_term. */
int wf_engine_run(struct wf_engine *engine);

/* Any thread: no worker takes another task; those that sleep are woken. */
void wf_engine_stop(struct wf_engine *engine);
/* Any thread: stop by yourself once all workers are parked and policy->is_done. */
void wf_engine_drain(struct wf_engine *engine);

/* Any thread: puts a task in from outside; a pinned one goes to its processor. */
void wf_engine_submit_any(struct wf_engine *engine, struct wf_task *task);
/* Any thread: something was published that any worker could run; wakes one if that is needed. The same for what was added to
 * the supply: see sched/engine.c for why nothing is overlooked. */
void wf_engine_notify_any(struct wf_engine *engine);
/* Any thread: whether there is something that any worker could take, the supply included. */
bool wf_engine_has_surplus_any(struct wf_engine *engine);
/* Any thread: whether another processor has a task in its next slot, which only a searcher can take. A notification for
 * one is turned away by a searcher; so a searcher must not go to sleep, or end, while there is one. */
bool wf_engine_has_next_any(struct wf_engine *engine, const struct wf_processor *except);
/* Any thread: wakes the holder of a processor. */
void wf_engine_unpark_any(struct wf_engine *engine, uint32_t processor);
/* Any thread: processors that exist. */
static inline uint32_t wf_engine_limit(struct wf_engine *engine) {
    return wf_load_acquire(&engine->limit); /* pairs with the monitor, which adds one */
}
/* A processor that wf_engine_init has not made. NULL: no memory. */
struct wf_processor *wf_processor_new(struct wf_engine *engine, uint32_t index);

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

/* The crew (sched/crew.c). hire: a worker without anything to do, whose thread runs and waits; NULL when there can be none. It
 * is given something, or let go again. */
int wf_crew_start(struct wf_engine *engine, struct wf_worker **out);
void wf_crew_begin(struct wf_engine *engine, struct wf_worker *first);
void wf_crew_cancel(struct wf_worker *first);
struct wf_worker *wf_crew_hire(struct wf_engine *engine, bool for_task);
void wf_crew_give_processor(struct wf_worker *worker, struct wf_processor *processor);
void wf_crew_give_task(struct wf_worker *worker, struct wf_task *task);
void wf_crew_let_go(struct wf_worker *worker);
/* A worker that has nothing to do gives its processor to the caller's thread, if that is spare: then true. */
bool wf_crew_make_way(struct wf_worker *worker);
/* What a thread of it does until it ends. */
void wf_crew_serve(struct wf_worker *worker);
/* The engine is stopping, and this worker, inside a task that it runs alone, has nothing left to do but to keep the task's
 * memory: sleeps until wf_engine_term. Returns at once on the thread that called wf_engine_run. */
void wf_crew_rest_alone(struct wf_worker *worker);
void wf_crew_unpark_all(struct wf_engine *engine);
/* Only those that are not spare. */
void wf_crew_unpark_busy(struct wf_engine *engine);
/* Waits until nobody runs. The caller is on the first worker's thread. */
void wf_crew_wait_quiet(struct wf_engine *engine);
void wf_crew_term(struct wf_engine *engine);

/* Lending (sched/lend.c). For the worker that holds a processor. */
void wf_worker_lend(struct wf_worker *worker);
/* True: it has its processor again. False: that was taken, and the worker is alone. */
bool wf_worker_reclaim(struct wf_worker *worker);
/* Gives it to heir, who was hired, and is alone. */
void wf_worker_give(struct wf_worker *worker, struct wf_worker *heir);
/* Any thread that has hired heir: takes what the worker lends while its word is grip. False: it has that back. */
bool wf_worker_take_lent(struct wf_worker *worker, uint32_t grip, struct wf_worker *heir);

/* The monitor (sched/monitor.c). */
size_t wf_monitor_sights_size(const struct wf_engine *engine);
int wf_monitor_start(struct wf_engine *engine);
/* From here on it may put extra processors into service: they run what is there. */
void wf_monitor_open(struct wf_engine *engine);
void wf_monitor_stop(struct wf_engine *engine);
void wf_monitor_wake_slow(struct wf_engine *engine);
/* A worker has left the idle set: somebody watches from now on. After a seq_cst read-modify-write or fence. */
static inline void wf_monitor_wake(struct wf_engine *engine) {
    if (wf_load_relaxed(&engine->monitor.is_asleep))
        wf_monitor_wake_slow(engine);
}
/* In the worker's loop: its processor is detached no longer. */
void wf_monitor_came_back(struct wf_worker *worker);
/* On the monitor: somebody stands in for its holder, if that runs a task. False: not now. */
bool wf_monitor_stand_in(struct wf_engine *engine, struct wf_processor *processor, int64_t now);
/* The same: tasks may be stolen from now on. False: ask again, an owner is in the middle of something. */
bool wf_monitor_become_shared(struct wf_engine *engine);

/* Extra processors (sched/extra.c). resize, from any thread: there are to be wanted processors in service, from
 * engine->count to WF_EXTRA_MAX more; it does not wait for that. -EINVAL for other numbers, and in replay. in_service:
 * how many there are; wanted: how many there are to be, which is less than what was asked for when some have given themselves
 * up. */
int wf_engine_resize_any(struct wf_engine *engine, uint32_t wanted);
uint32_t wf_engine_in_service_any(struct wf_engine *engine);
uint32_t wf_engine_wanted_any(struct wf_engine *engine);
/* Any thread: what the holder of that processor does will not end soon; somebody is to stand in for it until it does,
 * whatever has_stand_ins says. holder: who that was, or NULL for whoever it is. False: it is somebody else by now, or that was
 * asked for already. */
bool wf_engine_replace_any(struct wf_engine *engine, struct wf_worker *holder, uint32_t processor);
/* On the monitor: as many as are wanted, and stand-ins that were asked for. Returns when it wants to be called again. */
int64_t wf_extra_tend(struct wf_engine *engine, int64_t now);
/* On the monitor. find: one that nobody holds, and a thread for it. -EBUSY: not now; -ENOMEM; -EAGAIN. enter: it is counted, and
 * goes into service. */
int wf_extra_find(struct wf_engine *engine, struct wf_processor **extra, struct wf_worker **heir);
void wf_extra_enter(struct wf_engine *engine, struct wf_processor *extra, struct wf_worker *heir);
/* There may be more of them in service than needed: they are to look, those that sleep too. */
void wf_extra_call_back(struct wf_engine *engine);
/* In the worker's loop: its extra processor is out of service, and the worker has none. */
bool wf_extra_leaves(struct wf_worker *worker);
/* Before its sleep: until when it keeps its processor without anything to do; and after it, if that has passed. */
int64_t wf_extra_stays_until(struct wf_worker *worker);
void wf_extra_gives_up(struct wf_worker *worker);

/* Urgent tasks (sched/urgent.c). */
void wf_urgent_submit_any(struct wf_engine *engine, struct wf_task *task);
struct wf_task *wf_urgent_take_owner(struct wf_processor *processor);

/* Stopping the world (sched/world.c). request: false when somebody else has it. The worker holds a processor. */
bool wf_world_request(struct wf_worker *worker);
/* The worker has lent its processor and found a request: that counts as standing still once the stopper has seen it. */
void wf_world_saw_lent(struct wf_worker *worker);
void wf_world_poke(struct wf_engine *engine);
/* Whether the world was stopped by the task that this worker runs. */
static inline bool wf_world_is_mine(const struct wf_worker *worker) {
    return worker->processor && wf_load_relaxed(&worker->engine->world_stopper) == &worker->processor->world_parker;
}
void wf_world_release(struct wf_worker *worker);
void wf_world_rest(struct wf_worker *worker);
void wf_world_resume(struct wf_worker *worker);

/* Sleeping (sched/sleep.c). spin: looks on for a while instead; true when there is something. For engines that can_spin. */
void wf_worker_sleep(struct wf_worker *worker);
bool wf_worker_spin(struct wf_worker *worker);
void wf_worker_cover_timers(struct wf_worker *worker);
/* It has the poller's place and gives it up, with what it was told there. */
void wf_worker_leave_poller(struct wf_worker *worker);
/* Any thread: descriptors are watched for, and nobody watches at the moment. */
static inline bool wf_engine_lacks_poller_any(struct wf_engine *engine) {
    return wf_load_relaxed(&engine->sentries.armed) > 0 && wf_load_relaxed(&engine->poller) == WF_POLLER_NONE;
}
/* Any thread: a timer was armed in another processor than the caller's: see to it that somebody wakes for it. */
void wf_engine_timers_changed_any(struct wf_engine *engine);
/* The same for one that was armed here by somebody who does not hold it. */
void wf_processor_timers_changed_any(struct wf_processor *processor);

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
        if (wf_load_relaxed(&processor->engine->is_shared))
            wf_engine_notify_any(processor->engine);
        return;
    }
    if (WF_UNLIKELY(!wf_ring_push_owner(ring, task)))
        wf_processor_ready_slow_owner(processor, task);
    else if (wf_load_relaxed(&processor->engine->is_shared))
        wf_engine_notify_any(processor->engine);
}

static inline struct wf_task *wf_processor_take_next_owner(struct wf_processor *processor) {
    struct wf_task *task = wf_load_relaxed(&processor->next);
    if (!task)
        return NULL;
    /* No thieves, as long as the engine is not shared. The monitor sets is_shared, makes every thread pass a barrier, and
     * waits until in_next is 0: from then on everybody here sees is_shared (sched/monitor.c). */
    wf_store_relaxed(&processor->in_next, 1);
    wf_fence_compiler();
    bool is_shared = wf_load_relaxed(&processor->engine->is_shared);
    if (!is_shared)
        wf_store_relaxed(&processor->next, NULL);
    wf_store_release(&processor->in_next, 0); /* pairs with the monitor's look */
    if (WF_LIKELY(!is_shared))
        return task;
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
