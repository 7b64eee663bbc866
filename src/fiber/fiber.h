/* SPDX-License-Identifier: MIT
 *
 * fiber/fiber.h - fibers: tasks that can be suspended.
 *
 * A fiber is a record of one cache line until it first runs; then it takes a stack, and gives it back the moment it
 * ends. The record stays until the fiber has ended and was joined or detached; it is then used again under the next
 * generation, so that an old weft_fiber value is found to be stale.
 *
 *     new --> running <--> ready          running --> parked --> ready
 *              `--> ended --> free --> new
 *
 * Who may change what
 *   state       whoever holds the fiber: its spawner, the worker that runs it, or the one that owns its wake. Others
 *               read it as a hint
 *   place       its spawner, then the worker that starts it; constant from first run to end. Others read it under lock,
 *               which keeps stack and attributes from being freed, because the end takes that lock
 *   version (the generation), value after the end, flags, waiters: under lock
 *   lane, pinned: the fiber itself while it runs
 *
 * The rule that everything rests on: a fiber is made ready only by the one who owns its wake, and nobody can own it
 * before its stack has been left. wf_fiber_park hands the caller's commit function to the other side of the switch; the
 * commit drops the lock under which the fiber was made findable, or decides that there is nothing to wait for.
 *
 * Records are never unmapped while their runtime lives, so locking one by an outdated id is safe; the generation tells.
 */
#ifndef WF_FIBER_FIBER_H
#define WF_FIBER_FIBER_H

#include <signal.h>

#include "arch/current.h"
#include "arch/guarded.h"
#include "base/list.h"
#include "base/state.h"
#include "base/task.h"
#include "fiber/stack.h"
#include "queue/lock.h"
#include "sched/engine.h"
#include "weft/fiber.h"
#include "weft/inspect.h"
#include "weft/runtime.h"
#include "weft/thread.h"

#define WF_FIBER_STATES(X) \
    X(WF_FIBER_FREE, "free", WF_BIT(WF_FIBER_NEW)) \
    X(WF_FIBER_NEW, "new", WF_BIT(WF_FIBER_RUNNING) | WF_BIT(WF_FIBER_ENDED) | WF_BIT(WF_FIBER_FREE)) \
    X(WF_FIBER_READY, "ready", WF_BIT(WF_FIBER_RUNNING)) \
    X(WF_FIBER_RUNNING, "running", \
      WF_BIT(WF_FIBER_READY) | WF_BIT(WF_FIBER_PARKED) | WF_BIT(WF_FIBER_ENDED) | WF_BIT(WF_FIBER_FREE)) \
    X(WF_FIBER_PARKED, "parked", WF_BIT(WF_FIBER_READY)) \
    X(WF_FIBER_ENDED, "ended", WF_BIT(WF_FIBER_FREE))

enum wf_fiber_state { WF_FIBER_STATES(WF_STATE_ENUM) };
extern const struct wf_machine wf_fiber_machine;

/* In the upper bits of wf_fiber.parent; set under the lock, or before the fiber is known. */
#define WF_FLAG_DETACHED (UINT64_C(1) << 58)
#define WF_FLAG_PANICKED (UINT64_C(2) << 58)
#define WF_FLAG_NO_STACK (UINT64_C(4) << 58)
#define WF_FLAG_FIRST (UINT64_C(8) << 58) /* its end is the runtime's business */
#define WF_PARENT_MASK (WF_FLAG_DETACHED - 1)
_Static_assert(offsetof(struct wf_task, next) == 0, "records are linked through their tasks");

struct wf_waiter;
struct wf_fibers;

/* What a spawn with a name or a size of its own keeps until the fiber starts. */
struct wf_attributes {
    size_t stack_size;
    int64_t due;
    unsigned real_time;
    bool is_bound;
    bool is_pinned;
    char name[WF_NAME_SIZE];
};

#define WF_PLACE_NEW ((uintptr_t)1)

struct wf_fiber {
    struct wf_task task;       /* with state and, as version, generation */
    _Atomic(weft_fn) entry;    /* its spawner; the monitor may look at one that has just ended */
    void *value;               /* argument until it starts, result once it has ended */
    _Atomic uintptr_t place;   /* the stack once started; while new, the attributes with WF_PLACE_NEW added */
    struct wf_waiter *waiters; /* who waits for its end: a ring, see wait/wait.h */
    uint32_t index;
    struct wf_lock lock;
    uint64_t parent; /* id of the same runtime, without its number: 58 bits; above them the flags */
};
_Static_assert(sizeof(struct wf_fiber) == 64, "a record is one cache line");

/* Of a fiber that has started and not ended. */
static inline struct wf_stack *wf_fiber_stack(const struct wf_fiber *fiber) {
    return (struct wf_stack *)wf_load_relaxed(&fiber->place);
}
/* Of a new fiber; may be NULL. */
static inline struct wf_attributes *wf_fiber_attributes(const struct wf_fiber *fiber) {
    return (struct wf_attributes *)(wf_load_relaxed(&fiber->place) - WF_PLACE_NEW);
}

/* What a fiber that is being left has asked the other side to do. */
enum wf_leave {
    WF_LEAVE_NOTHING,
    WF_LEAVE_YIELD,
    WF_LEAVE_PARK,
    WF_LEAVE_END,
    WF_LEAVE_REJOIN,  /* it was alone, and gets in line for a processor */
    WF_LEAVE_MOVE,    /* it goes on alone, on the heir's thread */
    WF_LEAVE_ABANDON, /* it waits alone, and its runtime drops it */
};

/* Runs on the other side of the switch, when the fiber's stack is free. Returns false when the fiber is to go on at
 * once. Must not suspend. After it has dropped the lock that made the fiber findable, the fiber may be anywhere. */
typedef bool wf_commit(struct wf_fiber *fiber, void *arg);

struct wf_fiber_worker {
    struct wf_worker base;
    struct wf_fibers *fibers;
    _Atomic(struct wf_fiber *) current; /* its own; the monitor looks at it */
    struct wf_context scheduler;        /* the thread's own stack */
    struct wf_context *native;          /* where foreign calls run: the free part of that, or a stack of its own */
    void *native_sp;                    /* and where on it they begin */
    struct wf_context own_native;       /* that stack's, with its memory; or unused */
    void *native_memory;
    struct wf_fiber_worker *heir; /* who goes on with a fiber that moves */
    _Atomic uint32_t is_woken;    /* the fiber that sleeps here alone was made ready; anybody sets, it takes */
    struct wf_os_thread_policy kept_policy; /* of the thread, while a binding has one of its own */
    int *errno_location;
    struct wf_cxx_state *cxx_location; /* of the C++ library's state of this thread, or NULL */
    uint64_t fp_control;               /* the thread's own, for fibers that do not keep theirs */
    enum wf_leave leave;
    struct wf_fiber *leaver;
    struct wf_stack *left_stack; /* of a fiber that has ended */
    wf_commit *commit;
    void *commit_arg;
    struct wf_visit *visit; /* a parked fiber is being looked at from its own stack: fiber/visit.c */
    void *altstack;
    bool has_altstack;
    bool is_telling; /* those who waited for a fiber that has ended: current is of no use */
};

struct wf_fiber_processor {
    struct wf_processor base;
    struct wf_stack_cache stacks;
    struct wf_fiber *free_records; /* owner only: linked by task.next */
    uint32_t free_count;
    uint32_t free_max;  /* how many it keeps; constant: see wf_records_share */
    uint32_t sample_in; /* fiber starts until the next depth sample */
    uint32_t sample_step;
    _Atomic uint64_t started; /* fibers spawned here; one writer */
    _Atomic uint64_t ended;
    _Atomic uint64_t recycled; /* records freed here */
    _Atomic uint64_t panics;
    _Atomic(weft_fn) hog_entry; /* of the last hog here, or NULL; the monitor writes, whoever holds it then reads */
};

enum { WF_CHUNK_RECORDS = 4096, WF_INDEX_BITS = 26, WF_RUNTIME_BITS = 6, WF_DEPTH_SLOTS = 1024 };

struct wf_depth {
    _Atomic uintptr_t entry;  /* function, or 0 */
    _Atomic uint32_t foreign; /* its fibers make foreign calls */
    _Atomic uint64_t samples;
    _Atomic uint64_t deepest;
};

/* Fibers with threads of their own. */
struct wf_binding {
    uint32_t max;           /* constant */
    weft_fallback fallback; /* constant */
    _Atomic uint32_t bound; /* any thread */
    _Atomic uint32_t peak;
    _Atomic uint64_t bindings;
    _Atomic uint64_t predicted;
    _Atomic uint64_t bound_ns;
    _Atomic uint64_t fallbacks;
    _Atomic uint64_t parks;
    _Atomic uint64_t spins;
    _Atomic uint32_t spinners; /* threads that spin before they sleep */
    struct wf_lock lock;
    struct wf_waiter *waiters; /* under lock: fibers that wait to be bound, see ffi/call.c */
};

/* Functions whose fibers computed for too long. */
enum { WF_HOGS_MAX = 64 };
struct wf_hogs {
    struct wf_lock lock;
    uint32_t count;
    weft_hog list[WF_HOGS_MAX];
};

/* All fibers of one runtime. */
struct wf_fibers {
    struct wf_engine engine;
    struct wf_stacks stacks;
    uint32_t runtime;          /* its number in ids */
    uint32_t first_generation; /* of its records: above those of earlier runtimes with that number */
    uint32_t max;
    bool is_pool; /* its works come from a supply; plain threads that name no runtime do not mean this one */
    bool is_quiet;
    bool abandons; /* fibers may be dropped while they wait */
    bool fault_panics;
    uint8_t checks; /* what every stack begins with */
    /* How many things that are no thread of this process can wake fibers: watched descriptors, calls that block, signals.
     * Any thread adds and subtracts; while it is not 0, nobody speaks of a deadlock. */
    _Atomic uint32_t outside_wakers;

    struct wf_lock records_lock;
    _Atomic(struct wf_fiber *) *chunks; /* by index / WF_CHUNK_RECORDS; entries are written once */
    uint32_t next_index;                /* under records_lock: first that was never used */
    struct wf_fiber *shared_free;       /* under records_lock */
    uint32_t shared_free_count;
    _Atomic uint64_t started_outside; /* spawned by plain threads and by fibers that are alone */
    _Atomic uint64_t ended_outside;
    _Atomic uint64_t recycled_outside;
    _Atomic uint64_t panics_outside;

    struct wf_depth *depths;          /* open hash by entry */
    _Atomic uint32_t deep_entries;    /* how many of them need more than the default */
    _Atomic uint32_t foreign_entries; /* how many of them were seen to make foreign calls */

    struct wf_binding binding;
    struct wf_hogs hogs;

    _Atomic(void *) timer_table; /* of sync/timer.c; NULL until the first timer */

    /* Set by runtime/: a worker that has entered the idle set is about to sleep. Returns when it wants to be called again.
     * NULL: nobody asks. */
    int64_t (*on_rest)(struct wf_fiber_worker *worker, int64_t now);
    /* The fiber that the runtime was started with, and what its end means. Set by runtime/. */
    void (*on_first_end)(struct wf_fibers *fibers, void *result, int error);
    /* Set by wait/: takes everybody out of fiber->waiters who can still be told of the end, under the record's lock; and
     * tells them, without it. NULL: there is nobody. */
    struct wf_waiter *(*on_end)(struct wf_fiber *fiber, void *result, int error);
    void (*on_end_tell)(struct wf_waiter *taken);
    /* Set by ffi/: a fiber was unbound. NULL: nobody waits for that. */
    void (*on_unbound)(struct wf_fibers *fibers);
    /* Set by whoever makes fibers by wf_fiber_make_owner: one of them never began, because there was no stack. On the worker,
     * before its end. NULL: nobody asks. */
    void (*on_stillborn)(struct wf_fiber_worker *worker, weft_fn entry, void *arg);
};

static inline struct wf_fiber_worker *wf_worker_self(void) {
    return wf_current_get();
}

static inline struct wf_fiber *wf_worker_fiber(const struct wf_fiber_worker *worker) {
    return wf_load_relaxed(&worker->current);
}

/* The processor that the calling thread holds, if it is one of that runtime; NULL for a plain thread, for one of another
 * runtime, and for a fiber that is alone. */
static inline struct wf_fiber_processor *wf_processor_self(const struct wf_fibers *fibers) {
    struct wf_fiber_worker *worker = wf_worker_self();
    return WF_LIKELY(worker && worker->fibers == fibers) ? (struct wf_fiber_processor *)worker->base.processor : NULL;
}

/* Where a fiber arms its timers: its processor's, or the first one's when it is alone. */
static inline struct wf_processor *wf_timer_home(const struct wf_fiber_worker *worker) {
    return WF_LIKELY(worker->base.processor) ? worker->base.processor : worker->fibers->engine.processors[0];
}
/* After one was armed there. */
static inline void wf_timer_home_changed(const struct wf_fiber_worker *worker) {
    if (WF_LIKELY(worker->base.processor))
        wf_processor_timers_changed_owner(worker->base.processor);
    else
        wf_processor_timers_changed_any(worker->fibers->engine.processors[0]);
}
/* A recent moment, for reports. */
int64_t wf_worker_clock_slow(void);
static inline int64_t wf_worker_clock(const struct wf_fiber_worker *worker) {
    return WF_LIKELY(worker->base.processor) ? worker->base.processor->clock_ns : wf_worker_clock_slow();
}

static inline enum wf_lane wf_lane_of(weft_priority priority) {
    return priority == WEFT_PRIORITY_HIGH ? WF_LANE_HIGH : priority == WEFT_PRIORITY_LOW ? WF_LANE_LOW : WF_LANE_NORMAL;
}

/* fiber/fiber.c: life */
int wf_fibers_init(struct wf_fibers *fibers, uint32_t workers, size_t stack_size, uint32_t max, uint64_t seed,
                   uint32_t runtime);
void wf_fibers_term(struct wf_fibers *fibers);
uint64_t wf_fibers_alive(struct wf_fibers *fibers);
int wf_fiber_spawn_here(struct wf_fiber_worker *worker, weft_fn entry, void *arg, uint64_t flags, weft_fiber *out);
int wf_fiber_spawn(struct wf_fibers *fibers, const weft_spawn_options *options, weft_fn entry, void *arg, bool detached,
                   weft_fiber *out);
/* On a worker that holds a processor, in a fiber or, for a supply, outside of one: a fiber that nobody knows and that is in no
 * queue. The caller makes it ready, or has the worker run its task. flags: WF_FLAG_DETACHED or 0. NULL, and an error, as
 * wf_fiber_spawn. */
struct wf_fiber *wf_fiber_make_owner(struct wf_fiber_worker *worker, weft_fn entry, void *arg, uint64_t flags,
                                     int *error);
void wf_fiber_end(struct wf_fiber_worker *worker, struct wf_fiber *fiber, void *result, int error);

/* fiber/record.c: records and ids */
struct wf_fiber *wf_record_take_slow(struct wf_fibers *fibers, struct wf_fiber_processor *processor, int *error);
/* processor is the calling worker's. */
static inline struct wf_fiber *wf_record_take(struct wf_fibers *fibers, struct wf_fiber_processor *processor,
                                              int *error) {
    struct wf_fiber *fiber = processor->free_records;
    if (WF_UNLIKELY(!fiber))
        return wf_record_take_slow(fibers, processor, error);
    processor->free_records = (struct wf_fiber *)(void *)fiber->task.next;
    processor->free_count--;
    return fiber;
}
/* The lock is held and dropped by this call; the id is stale from now on. */
void wf_record_free_locked(struct wf_fibers *fibers, struct wf_fiber *fiber);
/* Goes before it: whoever is told of the end finds the record counted as gone. */
void wf_record_count_freed(struct wf_fibers *fibers);
weft_fiber wf_parent_id(struct wf_fibers *fibers, const struct wf_fiber *fiber);
static inline weft_fiber wf_fiber_id(const struct wf_fibers *fibers, const struct wf_fiber *fiber) {
    uint64_t generation = wf_load_relaxed(&fiber->task.version);
    return (weft_fiber){generation << 32 | (uint64_t)fibers->runtime << WF_INDEX_BITS | fiber->index};
}
/* The record with a number that was handed out. */
static inline struct wf_fiber *wf_record_at(const struct wf_fibers *fibers, uint32_t index) {
    return &wf_load_relaxed(&fibers->chunks[index / WF_CHUNK_RECORDS])[index % WF_CHUNK_RECORDS];
}
/* The record that an id of this runtime points to, whatever it is by now; NULL for a number never handed out. */
static inline struct wf_fiber *wf_record_of(struct wf_fibers *fibers, weft_fiber id) {
    uint32_t index = (uint32_t)id.bits & ((1u << WF_INDEX_BITS) - 1);
    struct wf_fiber *chunk = wf_load_acquire(&fibers->chunks[index / WF_CHUNK_RECORDS]); /* pairs with chunk_add */
    return WF_LIKELY(chunk) ? &chunk[index % WF_CHUNK_RECORDS] : NULL; /* NULL: a number that was never handed out */
}
/* With the record's lock held: whether the id still names it. A free record has its next generation already, and one that
 * was never handed out has generation 0. */
static inline bool wf_record_is_locked(const struct wf_fiber *fiber, weft_fiber id) {
    return wf_load_relaxed(&fiber->task.version) == (uint32_t)(id.bits >> 32) &&
           wf_load_relaxed(&fiber->task.state) != WF_FIBER_FREE;
}
/* The record of an id of this runtime, locked; NULL when it is stale. */
static inline struct wf_fiber *wf_record_lock(struct wf_fibers *fibers, weft_fiber id) {
    struct wf_fiber *fiber = wf_record_of(fibers, id);
    if (WF_UNLIKELY(!fiber))
        return NULL;
    wf_lock_take(&fiber->lock);
    if (WF_LIKELY(wf_record_is_locked(fiber, id)))
        return fiber;
    wf_lock_drop(&fiber->lock);
    return NULL;
}
int wf_records_init(struct wf_fibers *fibers);
/* Once there are processors: how many free records each may keep for itself. */
void wf_records_share(struct wf_fibers *fibers);
void wf_records_term(struct wf_fibers *fibers);
uint32_t wf_records_next_generation(const struct wf_fibers *fibers);

/* fiber/runtimes.c: from an id, or a plain thread, to a runtime. One that was entered cannot end until it is left. */
int wf_runtimes_add(struct wf_fibers *fibers);
void wf_runtimes_open(struct wf_fibers *fibers);
bool wf_runtimes_shut(struct wf_fibers *fibers);
void wf_runtimes_close(struct wf_fibers *fibers);
void wf_runtimes_remove(struct wf_fibers *fibers);
/* The runtime of an id, or NULL. */
struct wf_fibers *wf_runtimes_enter_slow(weft_fiber id);
/* That runtime if it runs; for NULL the caller's own, or the oldest one that is no pool's. */
struct wf_fibers *wf_runtimes_enter_this(struct wf_fibers *wanted);
/* Whether it is the only runtime of the process and no plain thread is inside. */
bool wf_runtimes_is_alone(struct wf_fibers *fibers);
/* Enters a runtime that cannot have ended yet, because a fiber of it waits for the caller. False when it is being closed
 * and drops its fibers. */
bool wf_runtimes_hold(struct wf_fibers *fibers);
void wf_runtimes_leave_slow(struct wf_fibers *fibers);
static inline void wf_runtimes_leave(struct wf_fibers *fibers) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_UNLIKELY(!worker || worker->fibers != fibers))
        wf_runtimes_leave_slow(fibers);
}
void wf_runtimes_forget_all(void);

/* fiber/switch.c: suspension */
/* The fiber that calls, or NULL on a plain thread. */
static inline struct wf_fiber *wf_fiber_self(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    return worker ? wf_worker_fiber(worker) : NULL;
}
void wf_fiber_park(wf_commit *commit, void *arg);
void wf_fiber_yield(void);
/* Whether the caller is a fiber, and one that may suspend itself now: it does not hold the world. */
bool wf_fiber_may_yield(void);
/* Replay: yields, or not, by a seeded choice. */
void wf_fiber_perturb(void);
/* Makes a parked fiber ready; the caller owns its wake. From any thread. */
void wf_fiber_ready(struct wf_fibers *fibers, struct wf_fiber *fiber);
static inline void wf_fiber_set_state(struct wf_fiber *fiber, enum wf_fiber_state state) {
    WF_MOVE_CHECK(&wf_fiber_machine, wf_load_relaxed(&fiber->task.state), state);
    wf_store_relaxed(&fiber->task.state, (uint8_t)state);
}
void wf_fiber_run(struct wf_worker *base, struct wf_task *task);
/* Suspends the calling fiber, which has left nothing behind on its processor's queues, for the worker's own stack. */
void wf_fiber_leave(struct wf_fiber_worker *worker, enum wf_leave leave);

/* For an entry function that only calls what it was given. */
static inline void wf_fiber_set_indirect(void) {
    wf_fiber_stack(wf_fiber_self())->is_indirect = true;
}

/* fiber/alone.c: fibers with a thread to themselves */
void wf_alone_park(struct wf_fiber_worker *worker, wf_commit *commit, void *arg);
void wf_alone_wake(struct wf_engine *engine, struct wf_task *task);
void wf_alone_block(struct wf_fiber_worker *worker, struct wf_stack *stack, bool is_long);
void wf_alone_unblock(struct wf_fiber_worker *worker, struct wf_stack *stack);
/* Inside a region, before the calling fiber may wait: whoever is to wake it may need what it has lent. Without locks. */
void wf_alone_before_wait(struct wf_stack *stack);
/* What it has opened; and closing what was opened since, after a panic that was caught outside of it. */
struct wf_alone_pairs {
    uint32_t binds;
    uint32_t blocks;
    bool is_bound;
    bool is_foreign; /* inside a foreign call */
};
struct wf_alone_pairs wf_alone_pairs(const struct wf_stack *stack);
void wf_alone_close(struct wf_fiber *fiber, const struct wf_alone_pairs *outer);
/* Whether the caller, the fiber itself, is on its own stack: not inside a foreign call, or a panic has left that and what it
 * deferred runs. */
bool wf_alone_is_home(const struct wf_stack *stack);
/* At the fiber's end. */
void wf_alone_finish(struct wf_fiber *fiber, bool has_panicked);
void wf_alone_unbind(struct wf_fiber_worker *worker, struct wf_stack *stack);
/* -ENOSPC when as many are bound as may be, -EAGAIN without a thread for it. Not for a fiber that is bound. */
int wf_alone_bind(struct wf_fiber_worker *worker, const weft_bind_options *options);
/* For a new fiber that is to begin bound: a place and a thread, or NULL; then the fiber is given to it. */
struct wf_worker *wf_alone_reserve(struct wf_fibers *fibers);
void wf_alone_begin(struct wf_fiber_worker *worker, struct wf_fiber *fiber);
void wf_alone_cannot_start(struct wf_fibers *fibers);
/* Before a fiber goes on on a thread of its own: waits while the world is stopped. False: it is not to run any more. */
bool wf_alone_may_run(struct wf_fiber_worker *worker, struct wf_fiber *fiber);
/* Gives the worker a native stack. -ENOMEM. */
int wf_alone_native(struct wf_fiber_worker *worker);
void wf_alone_term(struct wf_worker *base);
/* How often a fiber is pinned to its thread. */
void wf_fiber_set_pins(struct wf_fiber *fiber, uint32_t pins);

/* fiber/thread.c: for the monitor */
bool wf_hog_is_at_task(struct wf_worker *base);
void wf_hog_note(struct wf_worker *base, struct wf_processor *processor);
void wf_hog_over(struct wf_worker *base, int64_t for_ns);

/* fiber/visit.c: on the stack of another */
struct wf_visit {
    void (*look)(void *arg);
    void *arg;
    struct wf_context *from; /* the visitor's */
};
/* Calls look(arg) on the stack of a fiber that is suspended and stays so: the caller has the world stopped. It may stand on
 * a fiber of that runtime or on the worker's own stack. look must not suspend. False, and nothing was called, when that
 * stack has too little room left. */
bool wf_fiber_visit(struct wf_fiber *fiber, void (*look)(void *arg), void *arg);
/* The other end of it: in the fiber that was switched to. */
void wf_visit_answer(struct wf_fiber_worker *worker);

/* fiber/depth.c */
size_t wf_depth_predict(struct wf_fibers *fibers, weft_fn entry);
bool wf_depth_starts_sample(struct wf_fiber_processor *processor);
static inline bool wf_depth_wants_sample(struct wf_fiber_processor *processor) {
    if (WF_LIKELY(processor->sample_in > 0)) {
        processor->sample_in--;
        return false;
    }
    return wf_depth_starts_sample(processor);
}
void wf_depth_record(struct wf_fibers *fibers, weft_fn entry, size_t depth);
/* Whether fibers of that function make foreign calls: what was seen, and what was not although it was expected. */
bool wf_depth_is_foreign(struct wf_fibers *fibers, weft_fn entry);
void wf_depth_note_foreign(struct wf_fibers *fibers, weft_fn entry, bool is_foreign);

static inline struct wf_fibers *wf_runtimes_enter(weft_fiber id) {
    struct wf_fiber_worker *worker = wf_worker_self();
    uint32_t number = (uint32_t)(id.bits >> WF_INDEX_BITS) & ((1u << WF_RUNTIME_BITS) - 1);
    return WF_LIKELY(worker && worker->fibers->runtime == number) ? worker->fibers : wf_runtimes_enter_slow(id);
}

/* fiber/panic.c */
struct wf_try {
    struct wf_guarded guarded; /* first */
    struct wf_try *outer;
    struct wf_deferred *deferred;
    bool is_exit;
    void *result;
    char message[160];
};
/* Calls fn(arg) as the innermost try; deferred calls have run when it returns 0, or -EOWNERDEAD after a panic. */
int wf_try_call(struct wf_try *attempt, struct wf_try **innermost, void (*fn)(void *arg), void *arg);

/* What the calling fiber has opened so far: pairs (pin and unpin, ...) and blocks. All zero on a plain thread. */
struct wf_try_mark {
    uint32_t shields;
    uint32_t pins;
    struct wf_alone_pairs alone;
    const struct wf_leaver *leavers;
};
void wf_try_mark(struct wf_try_mark *mark);
/* As weft_try, but a call of weft_exit inside counts as a panic. What was opened since the mark is closed after either; fn may
 * set a later mark. NULL: since the call. */
int wf_try_contain(void (*fn)(void *arg), void *arg, char *message, size_t size, const struct wf_try_mark *mark);

/* Runs what was deferred in the innermost region so far, newest first, and inside of it: a panic in one of them leaves the
 * region, which then runs the rest. On a fiber. */
void wf_deferred_run(void);
static inline void wf_deferred_look(void) {
    if (WF_UNLIKELY(wf_fiber_stack(wf_fiber_self())->trying->deferred != NULL))
        wf_deferred_run();
}

/* Frees the deferred calls of a fiber that is dropped, without running them. */
void wf_try_drop(struct wf_try *innermost);

_Noreturn void wf_panic_at_once(const char *message);
void wf_panic_report(struct wf_fiber_worker *worker, struct wf_fiber *fiber, const struct wf_try *attempt);

/* fiber/local.c: runs the destructors of the fiber's variables and frees them. */
void wf_locals_end(struct wf_stack *stack);
/* In the child of a fork: whoever held the lock of the keys is gone. */
void wf_locals_after_fork(void);

/* fiber/fault.c */
bool wf_fiber_on_fault(int signal, siginfo_t *info, void *context);

/* fiber/inspect.c */
/* Under the record's lock: the name, WF_NAME_SIZE bytes; empty when it has none. */
void wf_fiber_copy_name(const struct wf_fiber *fiber, char *name);
void wf_fiber_describe(struct wf_fibers *fibers, const struct wf_fiber *fiber, char *buffer, size_t size);

static inline struct wf_fibers *wf_fibers_of(struct wf_engine *engine) {
    return engine->owner;
}
static inline struct wf_fiber *wf_fiber_of(struct wf_task *task) {
    return WF_CONTAINER(task, struct wf_fiber, task);
}

#endif
