/* SPDX-License-Identifier: MIT
 *
 * pool/pool.h - the work pool: three words, one shared queue, and a shard for every processor of its engine.
 *
 *     submit --> shared queue (by priority) --batch--> ring of a shard --.
 *        `-----> deque of the submitter's shard -------------------------+--> claimed by a runner --> over
 *     fork  ---> jobs of the forker's shard -----------------------------'
 *
 * The engine is that of a runtime of its own. Works wait in the pool's queues; a worker that has no fiber to run asks for one
 * (struct wf_supply), and gets a *runner*: a fiber that runs works, one after another, until there is a reason to end. A work
 * that waits parks its runner; the worker asks again and gets another runner. So works begin when a thread is free, and no
 * thread is held by a work that waits.
 *
 * The words
 *   pool     {generation 32, stopping 1, outstanding 31}. outstanding: submitted and not over, without those held back by the
 *            gate (suspended, or a stop). Submit adds; the end subtracts, in batches; whoever makes it 0 adds 1 to the
 *            generation in the same step, clears stopping, and owns the end of that generation
 *   work     {handle generation 32, flags, status, phase}, below
 *   worker   sched/engine.h: grip, and the idle word
 *
 * Locks, outermost first: pool->lock, queue.lock, a work's lock, those of regions (wait/cancel.h). pool->clock.lock is innermost
 * as well. No function of the program is called under any of them, but for those of a custom queue (queue.lock).
 *
 * Layer: a pool starts a runtime, so it stands above runtime/.
 */
#ifndef WF_POOL_POOL_H
#define WF_POOL_POOL_H

#include "base/heap.h"
#include "base/list.h"
#include "base/state.h"
#include "base/task.h"
#include "fiber/fiber.h"
#include "os/thread.h"
#include "pool/depend.h"
#include "pool/fork.h"
#include "pool/word.h"
#include "queue/deque.h"
#include "queue/lock.h"
#include "queue/parker.h"
#include "queue/ring.h"
#include "wait/cancel.h"
#include "wait/wait.h"
#include "weft/pool.h"

/* ---- The pool's life ---- */

#define WF_POOL_STATES(X) \
    X(WF_POOL_OFF, "off", WF_BIT(WF_POOL_STARTING) | WF_BIT(WF_POOL_GONE)) \
    X(WF_POOL_STARTING, "starting", WF_BIT(WF_POOL_ON) | WF_BIT(WF_POOL_OFF)) \
    X(WF_POOL_ON, "on", WF_BIT(WF_POOL_ENDING)) \
    X(WF_POOL_ENDING, "ending", WF_BIT(WF_POOL_ON) | WF_BIT(WF_POOL_OFF)) \
    X(WF_POOL_GONE, "gone", 0)

/* Whether its engine runs. OFF <-> ON happens in a pool that may have no threads at all. */
enum wf_pool_state { WF_POOL_STATES(WF_STATE_ENUM) };
extern const struct wf_machine wf_pool_machine;

/* What is in the queues: both begin with a task, whose state says which it is. */
enum { WF_ITEM_WORK = 1, WF_ITEM_JOB = 2 };

struct wf_runner;
struct wf_terms;
struct wf_shard;

/* A work that nobody asks about lives in the first cache line alone; in the second everything is 0 until it is needed, and
 * again when the record is FREE. */
struct wf_work {
    struct wf_task task;   /* in the queues; state is WF_ITEM_WORK, version the generation of the pool that counts it */
    _Atomic uint64_t word; /* above */
    weft_work_fn fn;       /* constant from submit to end */
    void *arg;
    _Atomic(struct wf_terms *)
        terms; /* what was asked for besides; NULL for most. Set under pool->lock, before or after SPECIAL;
                                         constant once there; freed with the record. Read it by wf_work_terms */
    struct wf_runner
        *runner;    /* whoever takes it out of the queue, before the claim; read under lock once FORCE is set */
    uint32_t index; /* constant */
    _Atomic unsigned attempts; /* whoever runs it writes */
    void *value;               /* whoever runs it, with SPECIAL set */
    struct wf_waiter *waiters; /* under lock */
    struct wf_lock lock;
    int priority;         /* constant */
    int code;             /* whoever ends it after a run: what fn returned */
    int error;            /* whoever has made it DONE */
    bool is_in_queue;     /* under queue.lock, in a pool with a limit: in the shared queue */
    bool is_dead;         /* the same: and over */
    int64_t submitted_at; /* 0 unless the pool measures */
    int64_t started_at;
};

/* A place for every moment at which something is to happen: pool/clock.c. */
struct wf_pool_alarm {
    struct wf_heap_node node; /* under clock.lock, as what follows */
    void (*ring)(struct weft_pool *pool,
                 struct wf_pool_alarm *alarm); /* on the clock's thread, without locks; NULL: never set */
    int64_t when;                              /* for when it was last set */
    bool has_room;                             /* there is a place for it among the clock's alarms */
    bool is_off;                               /* its work is over: it cannot be set any more */
};

struct wf_terms {
    struct wf_work *work;
    struct wf_name *name;      /* its id, or NULL: pool/ident.c */
    struct wf_list dependents; /* under pool->lock: edges of works that come after it */
    struct wf_edge *edges;     /* what it comes after; constant */
    size_t edge_count;
    size_t pending;               /* under pool->lock: edges that are not over, and one for its submit */
    size_t unmet;                 /* under pool->lock: edges that are not over */
    uint64_t mark;                /* under pool->lock: the last search that came by */
    struct wf_terms *search_next; /* under pool->lock: what that search has still to look at */
    weft_work cause; /* why it cannot come to run; written once, under pool->lock; read after has_failed_before */
    _Atomic bool has_failed_before; /* such a cause is there. Whoever lets a work through the gate looks at it */
    struct wf_list memberships;     /* under pool->lock: pool/group.c */
    bool has_place;                 /* of the submitter until it is queued: a place in the queue is promised to it */
    bool on_thread_stack;
    bool is_long;
    bool stores;
    weft_placement placement;
    weft_retry retry;
    unsigned retries_left;
    weft_work_callback callback;
    void *callback_arg;
    weft_promise *promise;
    int64_t timeout; /* 0: none */
    weft_timeout_action timeout_action;
    int64_t timeout_left; /* under clock.lock: while it is paused, once it has begun */
    bool has_begun;       /* under clock.lock: its timeout counts */
    bool stands_still;    /* under clock.lock: but not while it is paused */
    int64_t deadline;     /* WF_NEVER: none */
    struct wf_pool_alarm timeout_alarm;
    struct wf_pool_alarm deadline_alarm;
    struct wf_pool_alarm grace_alarm;
    int64_t grace_end;     /* under clock.lock */
    weft_result result;    /* once DONE: what is stored */
    uint32_t generation;   /* of the pool, when that was */
    bool is_told;          /* whoever ends it: the handler knows of its last attempt */
    struct wf_list stored; /* under pool->lock: in pool->stored */
};

/* ---- Queues ---- */

struct wf_level {
    int priority;
    struct wf_task *first; /* a list, oldest first */
    struct wf_task *last;
    size_t count;
};

struct wf_pool_queue {
    struct wf_lock lock;
    _Atomic uint64_t
        length; /* written under lock; without it a hint, and, after the fences of queue/idle.h, a park re-check */
    struct wf_level plain;   /* under lock, as all that follows: priority 0 */
    struct wf_level *others; /* by falling priority, without 0 */
    size_t other_count;
    size_t other_room;
    struct wf_waiter *room_waiters; /* who waits to submit */
    struct wf_task *free_records;   /* linked by task.next */
    uint32_t next_index;            /* first record that was never used */
    _Atomic uint64_t submitted;     /* written under lock: those that went the short way */
    uint64_t dead;                  /* works in it that are over, in a pool with a limit */
    _Atomic uint32_t slots_taken; /* written under lock: runs of works, in a pool with max_running; read as length is */
    uint32_t promised;            /* places that were promised to submits, in a pool with a limit */
};

/* What belongs to a processor of the engine: its holder is the owner. */
struct wf_shard {
    struct wf_deque jobs;  /* forked: pool/fork.c */
    struct wf_deque works; /* of a pool with deques */
    struct wf_ring ring;   /* a batch out of the shared queue, or local works */
    /* owner only */
    struct wf_task *free_records;
    uint32_t free_count;
    uint32_t turn;
    uint32_t batched; /* works in the ring that are a batch of the shared queue, or fewer: thieves take some */
    struct wf_runner *free_runners;
    /* One writer; read by anybody. */
    _Atomic uint64_t finished; /* over: those that were to be taken off the pool's word by a flush */
    _Atomic uint64_t flushed;  /* how many of them were; any thread, by compare and swap */
    _Atomic uint64_t succeeded;
    _Atomic uint64_t stolen;
};

/* Whoever runs a work: a fiber of the pool, or for a moment somebody else (a helper, a submitter). */
struct wf_runner {
    struct weft_pool *pool;
    struct wf_work *work;    /* that it runs now, or NULL */
    struct wf_runner *outer; /* somebody else: what it was running before, on the same stack */
    struct wf_runner *next;  /* free ones */
    struct wf_leaver leaver; /* of the fiber: ends the work when the fiber ends inside it */
    struct wf_cancel cancel; /* fired to stop the work by force: no runner runs another work after that */
    struct wf_member member;
    struct wf_fiber *fiber;        /* NULL: a plain thread */
    struct wf_fibers *fibers;      /* of that fiber; of another runtime than the pool\'s for some who run one work */
    int64_t thread_id;             /* of a plain thread */
    bool is_inside;                /* in the function of the work */
    int code;                      /* what that returned */
    bool is_long;                  /* it has a thread of its own */
    _Atomic uint32_t has_slot;     /* one of queue.slots_taken is its; whoever takes that off gives it back */
    _Atomic int64_t native_thread; /* not 0: it is on that thread's own stack */
};

/* ---- Time: pool/clock.c ---- */

struct wf_pool_clock { /* under lock, but for the parker */
    struct wf_lock lock;
    struct wf_heap alarms;
    uint32_t reserved; /* alarms that have a place, set or not; never more than there is room for */
    uint64_t sequence;
    struct wf_pool_alarm *ringing;     /* being rung; nobody frees it meanwhile but the ring itself */
    struct wf_waiter *ringing_waiters; /* who waits for the end of that */
    int64_t wakes_at;                  /* when its thread looks next, unless it is woken */
    struct wf_parker parker;
    struct wf_os_thread thread;
    int64_t thread_id;
    bool has_thread;
    bool is_over;
    bool is_running;     /* a generation has begun, */
    int64_t started_at;  /* at that moment, */
    uint32_t generation; /* with that number in the pool's word */
    bool is_paused;      /* the pool is */
    bool has_told_stuck;
    int64_t stuck_since;  /* since when nobody has moved although works are queued; 0: somebody has */
    uint64_t stuck_moves; /* by this count of everything that moves */
};

/* ---- Observation: pool/observe.c ---- */

struct wf_pool_counts { /* any thread */
    _Atomic uint64_t submitted;
    _Atomic uint64_t by_status[8];
    _Atomic uint64_t rejected;
    _Atomic uint64_t discarded;
    _Atomic uint64_t retried;
    _Atomic uint64_t abandoned;
    _Atomic int64_t queue_ns;
    _Atomic int64_t run_ns;
    _Atomic uint64_t queue_histogram[64];
    _Atomic uint64_t run_histogram[64];
};

/* Gates: why a submit cannot go the short way. */
enum { WF_GATE_SUSPENDED = 1, WF_GATE_DRAINING = 2, WF_GATE_DISPOSED = 4 };

enum { WF_WORK_CHUNK = 1024, WF_WORK_INDEX_BITS = 26, WF_SHARDS_MAX = WEFT_POOL_THREADS_MAX + 256 + 1 };

struct weft_pool {
    weft_pool_options options; /* resolved; strings are its own; constant but for threads and min_threads, under lock */
    char name[12];
    _Alignas(64) _Atomic uint64_t word; /* generation 32, stopping 1, outstanding 31 */
    struct wf_pool_queue queue;
    _Atomic uint32_t gate;              /* WF_GATE_*; written under lock and queue.lock */
    uint64_t special;                   /* constant: flags that every work begins with */
    _Atomic(struct wf_fibers *) fibers; /* while ON; written by the thread that starts it */
    bool is_mortal;                     /* constant: it may be without threads, and fibers may go */
    _Atomic uint32_t max_threads;       /* written under lock */
    _Atomic uint32_t state;             /* enum wf_pool_state; written under lock */
    _Atomic uint32_t is_paused;         /* written under lock */
    _Atomic uint32_t holds;             /* written under lock: who keeps it from becoming idle */
    _Atomic uint64_t held;              /* written under lock: works that wait for others, among the outstanding */

    struct wf_lock lock;
    struct wf_waiter *idlers;  /* under lock, as all that follows: who waits for the pool; amount: the generation */
    struct wf_waiter *keepers; /* the first fiber of its runtime, which waits for the end */
    struct wf_waiter *pausers; /* works at a pause point */
    struct wf_lock helpers_lock;
    struct wf_waiter *helpers;     /* under helpers_lock: threads that wait for something to run */
    _Atomic uint32_t helper_count; /* of those that may be there */
    struct wf_waiter *starters;    /* who waits until the state is ON or OFF */
    struct wf_chain gated;         /* works that wait for the gate, LISTED */
    struct wf_list stored;         /* terms */
    size_t stored_count;
    struct wf_list groups;  /* pool/group.c */
    struct wf_name **names; /* open hash by id: pool/ident.c */
    size_t name_count;
    size_t name_room;
    struct wf_list over_names; /* those of them that are over; there once names is */
    struct wf_failure
        *failures; /* those who did not succeed, remembered; the first failure_count are there: pool/ident.c */
    size_t failure_room;
    size_t failure_count;
    size_t failure_next;    /* the oldest, once there is no more room */
    uint32_t failures_from; /* generation: older ones are for works that come after them only, and not listed */
    struct wf_failure
        few_failures[WF_FAILURES_FEW]; /* where failures are while they are few, or no memory is to be had */
    uint64_t marks;               /* searches through works or groups so far: the mark of the next one is one more */
    weft_group *named_groups[64]; /* a hash by name: pool/group.c */
    int start_error;              /* of the last start */
    uint32_t begun;               /* generations whose beginning was seen to */
    uint64_t turns_due;           /* beginnings and ends of generations that have come about */
    uint64_t turns_told;          /* and that everybody was told of */
    bool is_telling;              /* somebody is at it, and goes on until all are told */
    int64_t started_at;           /* of this generation */
    int64_t runtime_ns;           /* of those before */
    int64_t idle_again_ns;        /* how long until a mortal pool with fibers looks again */
    struct wf_pool_alarm timeout_alarm;
    struct wf_pool_alarm tick_alarm;
    struct wf_pool_alarm idle_alarm; /* a mortal pool: when its threads end */
    int64_t timeout_left;            /* under clock.lock: while it is paused */
    struct wf_os_thread thread;      /* its first worker */
    bool has_thread;

    struct wf_pool_clock clock;
    struct wf_pool_counts counts;
    _Atomic uint32_t running;      /* works that run; kept only for the event that tells of it */
    _Atomic uint32_t inside;       /* works that were given up and have not come back */
    _Atomic uint32_t long_running; /* works that have a thread of their own */
    _Atomic(struct wf_work *)
        chunks[(1 << WF_WORK_INDEX_BITS) / WF_WORK_CHUNK]; /* written once each, under queue.lock */
    _Atomic(struct wf_shard *) shards[WF_SHARDS_MAX];
};

/* The pool's word. */
#define WF_POOL_STOPPING (UINT64_C(1) << 31)
static inline uint32_t wf_pool_outstanding(uint64_t word) {
    return (uint32_t)word & 0x7fffffffu;
}
static inline uint32_t wf_pool_generation(uint64_t word) {
    return (uint32_t)(word >> 32);
}

static inline struct wf_work *wf_work_of(struct wf_task *task) {
    return (struct wf_work *)(void *)task;
}
static inline struct wf_work *wf_work_at(weft_pool *pool, uint32_t index) {
    return wf_load_acquire(&pool->chunks[index / WF_WORK_CHUNK]) + index % WF_WORK_CHUNK; /* pairs with its making */
}
static inline struct wf_terms *wf_work_terms(const struct wf_work *work) {
    return wf_load_acquire(&work->terms); /* pairs with their making */
}
static inline weft_work wf_work_handle(const struct wf_work *work, uint64_t word) {
    return (weft_work){(uint64_t)wf_work_generation(word) << 32 | work->index};
}

/* record.c: the table of works. */
/* Under queue.lock. NULL: no memory, or too many. FREE, with a generation. */
struct wf_work *wf_work_take_locked(weft_pool *pool);
/* A DONE or CLAIMED work becomes FREE under the next generation; nobody knows it any more. To the shard's list or, when
 * shard is NULL, the shared one. */
void wf_work_recycle(weft_pool *pool, struct wf_shard *shard, struct wf_work *work);
/* A FREE record goes to that list. */
void wf_work_put_free(weft_pool *pool, struct wf_shard *shard, struct wf_work *work);
/* Takes flags of WF_WORK_KEEPS off a DONE work, and frees it when none is left. */
void wf_work_let_go(weft_pool *pool, struct wf_work *work, uint64_t flags);
/* The same, but the caller frees it when this says so. */
bool wf_work_let_go_is_last(struct wf_work *work, uint64_t flags);
/* The record that the handle means, alive or not; NULL when there never was such a one. Compare generations under a lock or
 * in the compare-and-swap that follows. */
struct wf_work *wf_work_find(weft_pool *pool, weft_work handle);
/* True while the word is that handle's, and not FREE. */
static inline bool wf_work_is(uint64_t word, weft_work handle) {
    return wf_work_generation(word) == handle.bits >> 32 && wf_work_phase(word) != WF_WORK_FREE;
}
/* Sets flags while the work is that handle's and in one of the phases (WF_BIT). Returns the word before; 0: it was not. */
uint64_t wf_work_flag(struct wf_work *work, weft_work handle, uint32_t phases, uint64_t flags);
/* pool->lock: the terms of a work that is HELD, QUEUED or CLAIMED and that handle's; made if it has none. NULL and *error:
 * -ESTALE, -ENOMEM. */
struct wf_terms *wf_work_terms_locked(weft_pool *pool, struct wf_work *work, weft_work handle, int *error);
/* Terms of that work, empty. */
void wf_terms_init(struct wf_terms *terms, struct wf_work *work);
/* Nothing runs any more: the chunks. */
void wf_works_term(weft_pool *pool);
/* Calls fn for every record that is not FREE, until it returns false. The record may change meanwhile. */
void wf_work_each(weft_pool *pool, bool (*fn)(weft_pool *pool, struct wf_work *work, uint64_t word, void *arg),
                  void *arg);

/* queue.c: the shared queue and the shards. _locked: queue.lock. */
/* 0; -ENOMEM unless the priority was prepared; or an error of a custom queue. Nothing has changed then. */
int wf_queue_push_locked(weft_pool *pool, struct wf_work *work);
/* Whether somebody has to be told of what is about to be put in. */
bool wf_queue_is_news_locked(const weft_pool *pool);
/* In a pool with a limit. */
bool wf_queue_is_full_locked(const weft_pool *pool);
/* A queued work is over, in a pool with a limit: its place is free. The caller keeps the record. */
void wf_queue_note_dead(weft_pool *pool, struct wf_work *work);
/* There will be a place for works of that priority. False: no memory. */
bool wf_queue_prepare_locked(weft_pool *pool, int priority);
/* The next one to run, the first that is no tombstone being up to the caller; NULL. */
struct wf_work *wf_queue_pop_locked(weft_pool *pool);
/* The queued work that matters least; NULL. */
struct wf_work *wf_queue_discard_locked(weft_pool *pool);
/* Makes a QUEUED work findable, wherever it belongs, and wakes somebody. Needs no memory but for a new priority: then -ENOMEM
 * and nothing has changed. */
int wf_pool_enqueue(weft_pool *pool, struct wf_work *work);
/* A run of a work has ended, in a pool with max_running: the next one may begin. No lock is held. */
void wf_pool_give_slot_back(weft_pool *pool);
/* After something was put into a queue. */
void wf_pool_notify(weft_pool *pool);
/* The same when the engine is known to be there. */
void wf_pool_notify_engine(weft_pool *pool, struct wf_engine *engine);
/* The next item for the owner of that shard: own jobs, own works, the shared queue, those of others. */
struct wf_task *wf_shard_next_owner(weft_pool *pool, struct wf_shard *shard, struct wf_processor *processor);
/* Any thread: an item of the shared queue or of somebody's shard, for a helper. */
struct wf_task *wf_pool_next_any(weft_pool *pool);
bool wf_pool_has_any(weft_pool *pool);
/* Whether there is something for wf_pool_next_any. */
bool wf_pool_has_work_any(weft_pool *pool);
/* Somebody who was taken out of a queue, or NULL, is told to look again. */
static inline void wf_pool_wake_one(struct wf_waiter *waiter) {
    if (WF_LIKELY(!waiter))
        return;
    waiter->status = 0;
    wf_wait_wake(waiter);
}
/* help.c: somebody who waits may help. */
void wf_pool_call_helper(weft_pool *pool);
/* What its owner has finished goes off the pool's word. */
void wf_shard_flush_any(weft_pool *pool, struct wf_shard *shard);
/* The same for all of them: an owner may never come to do it. */
void wf_shards_flush_any(weft_pool *pool);
/* The shard of the processor that the calling fiber runs on, if that is one of the pool; else, or without memory, NULL. */
struct wf_shard *wf_shard_self(weft_pool *pool);
/* The shard of that processor; made by the holder. NULL: no memory. */
struct wf_shard *wf_shard_of_owner(weft_pool *pool, struct wf_processor *processor);
void wf_shard_hand_in_owner(weft_pool *pool, struct wf_shard *shard);
void wf_shards_term(weft_pool *pool);

/* count.c: the pool's word. */
/* So many more outstanding: false when the pool is being stopped, and nothing has changed. is_first: it was idle, and the
 * caller, once it has no lock, calls wf_pool_begin. */
bool wf_pool_count_in(weft_pool *pool, uint32_t count, bool *is_first);
void wf_pool_begin(weft_pool *pool);
/* So many are over. Ends the generation when they were the last. Without locks. */
void wf_pool_count_out(weft_pool *pool, uint32_t count);
/* pool->lock: the generation that has to end before the pool counts as idle. False: it is idle. */
bool wf_pool_awaited_locked(weft_pool *pool, uint64_t *generation);
/* Waits until the pool is idle: as weft_pool_wait. */
int wf_pool_wait_idle(weft_pool *pool, int64_t deadline);
/* pool->lock: everything outstanding waits for works that were never submitted. */
bool wf_pool_is_at_a_loss_locked(weft_pool *pool);
/* Those who wait for the pool are told so, if it is. Without locks. */
void wf_pool_tell_loss(weft_pool *pool);

/* run.c */
struct wf_task *wf_runner_take_owner(struct wf_worker *base); /* for struct wf_supply */
/* Runs a work that the caller has claimed, on the caller's own stack. */
void wf_work_run_here(weft_pool *pool, struct wf_work *work);
/* Takes a work that was dequeued for running: false when it is a tombstone, which is let go. */
bool wf_work_claim(weft_pool *pool, struct wf_work *work, struct wf_runner *runner);
struct wf_runner *wf_runner_self(void);
/* Under the work's lock: the work is given up; the processor that its fiber is on, if it is on one, gets a stand-in. */
void wf_runner_replace(struct wf_runner *runner);
/* wf_shard_flush_any on a worker that is in no fiber. */
void wf_runner_flush(struct wf_fiber_worker *worker, struct wf_shard *shard);
/* A fiber that was to run an item never began: for wf_fibers.on_stillborn. */
void wf_runner_stillborn(struct wf_fiber_worker *worker, weft_fn entry, void *arg);
/* A fiber for a work that has a thread of its own. 0, or an error, and nothing has changed. */
int wf_runner_start_long(weft_pool *pool, struct wf_work *work);

/* over.c: the end of a work. The caller has it: it was the one that moved the word away from HELD, QUEUED (to DONE | BUSY with
 * the status) or that runs it. */
/* A HELD or QUEUED work that was moved to DONE | BUSY: tells everybody. */
void wf_work_over_unrun(weft_pool *pool, struct wf_work *work, int error);
/* HELD or QUEUED to DONE | BUSY. False: it is neither, or another. pool->lock may be held. */
bool wf_work_seize(struct wf_work *work, weft_work handle, weft_work_status status);
/* The function has come back with that code, or never will (by_panic). shard may be NULL. True: it is to be run again, on the
 * spot. */
bool wf_work_over_run(weft_pool *pool, struct wf_shard *shard, struct wf_work *work, int code, bool by_panic);
/* The short way: it has succeeded, and nobody asked. False: not this way. */
bool wf_work_over_quietly(weft_pool *pool, struct wf_shard *shard, struct wf_work *work);
/* A claimed work that is to be run again, by whoever comes by. */
void wf_work_requeue(weft_pool *pool, struct wf_work *work);
/* A QUEUED work, LISTED, goes into a queue, or ends with the error of a custom one. */
void wf_work_put_in_queue(weft_pool *pool, struct wf_work *work);
/* Gives up a work that was stopped by force and does not come back. */
void wf_work_abandon(weft_pool *pool, struct wf_work *work, weft_work handle);
/* Fills in the result of a work that is DONE, or is about to be, from its word and fields. */
void wf_work_result(const struct wf_work *work, uint64_t word, weft_result *out);

/* room.c. What find_room has found. ANY: there is no limit, or none for this work. */
enum wf_room { WF_ROOM_ANY, WF_ROOM_PROMISED, WF_ROOM_CALLER_RUNS, WF_ROOM_DISCARD };
/* A place for a work that goes to the queue at once, or what is to be done without one. Errors of the submit. */
int wf_pool_find_room(weft_pool *pool, const weft_work_options *options, enum wf_room *out);
void wf_pool_give_place_back(weft_pool *pool);
/* The place in the queue that was promised to it, if there is one, is somebody else's. */
void wf_terms_give_place_back(weft_pool *pool, struct wf_terms *terms);
static inline bool wf_pool_is_suspended(const weft_pool *pool) {
    return wf_load_relaxed(&pool->gate) & WF_GATE_SUSPENDED;
}
/* Nothing comes out of the gate. */
static inline bool wf_pool_is_shut(const weft_pool *pool) {
    return wf_load_relaxed(&pool->gate) & (WF_GATE_SUSPENDED | WF_GATE_DISPOSED);
}

/* submit.c */
/* A HELD work that nothing holds any more, LISTED by the caller: to the queue, or to a thread of its own. Without locks. */
void wf_work_release(weft_pool *pool, struct wf_work *work);
/* pool->lock: a HELD work waits for nothing any more, and is LISTED for the caller. False: it has been ended. */
bool wf_work_list_held(weft_pool *pool, struct wf_work *work);
void wf_terms_free(struct wf_terms *terms);
void wf_work_unmake_locked(weft_pool *pool, struct wf_work *work);
/* The gate is open again: whatever waited for it. pool->lock is not held. */
void wf_pool_open_gate(weft_pool *pool);

/* life.c */
/* A fiber with a thread of its own for a QUEUED work. 0; else it is to be queued. */
int wf_pool_start_long(weft_pool *pool, struct wf_work *work);
/* A mortal pool has something to do: see that its engine runs. */
void wf_pool_wake_up(weft_pool *pool);
int wf_pool_start_again_locked(weft_pool *pool);
/* It has become idle: its threads may end, after a while. */
void wf_pool_rest(weft_pool *pool);

/* wait.c */
bool wf_work_is_own(const struct wf_work *work, weft_work handle);
/* pool->lock: forgets stored results: of generations before that one, or all. */
void wf_results_clear_locked(weft_pool *pool, bool even_new, uint32_t generation);

/* control.c */
void wf_pool_wake_pausers(weft_pool *pool);
int wf_work_control(weft_pool *pool, weft_control what, weft_work handle);

/* group.c. Under pool->lock. */
/* 0; -ESTALE for a group of another pool; -EEXIST, -ENOMEM. */
int wf_group_enter_locked(weft_pool *pool, weft_group *group, struct wf_terms *terms);
/* The work is over: leaves all its groups; the waiters to be woken are added to *told. */
void wf_group_leave_locked(weft_pool *pool, struct wf_terms *terms, struct wf_waiter **told);
bool wf_group_is_paused_locked(const struct wf_terms *terms);
/* Whether a work is paused, by itself or by a group, may have changed: its timeout stands still meanwhile. */
void wf_group_pause_changed_locked(weft_pool *pool, struct wf_terms *terms);
void wf_groups_term(weft_pool *pool);

/* clock.c. All zero is an alarm that is not set. */
void wf_pool_alarm_init(struct wf_pool_alarm *alarm, void (*ring)(weft_pool *pool, struct wf_pool_alarm *alarm));
/* Sets it, anew if it was set; WF_NEVER takes it back, and does not wait. Under any lock but the clock's. 0, -ENOMEM, -EAGAIN (no
 * thread for the clock), -ESHUTDOWN (it was stopped); the last two not for one that has been set before. */
int wf_pool_alarm_set(weft_pool *pool, struct wf_pool_alarm *alarm, int64_t when);
/* Takes it back, and returns when it does not ring any more; from inside its own ring, at once. True: it was set, and had not rung.
 * Without locks. */
bool wf_pool_alarm_clear(weft_pool *pool, struct wf_pool_alarm *alarm);
/* Nothing rings any more. Without locks; not from inside a ring. */
void wf_clock_stop(weft_pool *pool);
/* Whether the caller is a function of the program that the clock has called: it cannot wait for the end of the clock. */
bool wf_clock_is_inside(weft_pool *pool);
/* A work with a timeout or a deadline. submitted: it is HELD or further by then; it may ring at once; 0 if it is over.
 * Errors as wf_pool_alarm_set. After that started cannot fail. started: with every attempt, the first one counts. over: without
 * locks; whatever rings for it is over. pause: under any lock. */
int wf_clock_submitted(weft_pool *pool, struct wf_work *work, weft_work handle);
int wf_clock_started(weft_pool *pool, struct wf_work *work);
void wf_clock_over(weft_pool *pool, struct wf_terms *terms);
void wf_clock_pause(weft_pool *pool, struct wf_terms *terms, bool is_paused);
/* A generation begins or ends, by turns; the pool is paused or resumed. begin: without locks. */
void wf_clock_begin(weft_pool *pool);
void wf_clock_end(weft_pool *pool);
void wf_clock_pause_pool(weft_pool *pool, bool is_paused);
/* A work was stopped by force: it has until the end of the grace period. Errors as wf_pool_alarm_set. */
int wf_clock_grace(weft_pool *pool, struct wf_terms *terms);

/* interrupt.c. With the lock of the work that it runs, which was stopped by force: a system call that it is blocked in returns. */
void wf_runner_interrupt(struct wf_runner *runner);

/* observe.c. Without locks. */
static inline bool wf_pool_wants(const weft_pool *pool, weft_pool_event_kind kind) {
    return pool->options.handler && (pool->options.events >> kind & 1);
}
void wf_pool_tell(weft_pool *pool, weft_pool_event *event);
void wf_pool_tell_kind(weft_pool *pool, weft_pool_event_kind kind, weft_work work, const weft_result *result);
void wf_pool_tell_error(weft_pool *pool, weft_error_source source, weft_work work, const weft_result *result,
                        int error);
void wf_pool_tell_running(weft_pool *pool, int change);
void wf_pool_tell_rejected(weft_pool *pool);
void wf_pool_tell_discarded(weft_pool *pool, weft_work work);
/* Works are queued, every thread is asleep, and it was so when this was asked some time ago, with nothing in between: a defect. */
bool wf_pool_is_stuck(weft_pool *pool);
void wf_pool_count_result(weft_pool *pool, const weft_result *result);
/* Calls a function of the program, guarded. Returns what it returned, or -EOWNERDEAD after a panic. */
int wf_pool_call(int (*fn)(void *a, void *b), void *a, void *b);
int wf_pool_call_back(weft_work_callback callback, const weft_result *result, void *arg);

/* ---- Jobs and parallel forms: pool/fork.h, pool/form.h ---- */

/* The pool whose runtime the calling fiber belongs to; NULL for any other, and on a plain thread. */
static inline weft_pool *wf_pool_of_worker(const struct wf_fiber_worker *worker) {
    return worker && worker->fibers->is_pool ? worker->fibers->engine.supply_owner : NULL;
}
/* The work that the fiber runs, or has a part of, or NULL. */
static inline struct wf_work *wf_work_of_fiber(const struct wf_fiber *fiber) {
    const struct wf_runner *runner = wf_fiber_stack(fiber)->work;
    return runner ? runner->work : NULL;
}

#endif
