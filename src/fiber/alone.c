/* SPDX-License-Identifier: MIT
 *
 * fiber/alone.c - fibers that have a thread to themselves, for the length of a call or for longer.
 *
 * Such a fiber is *alone*: its worker has no processor, or has lent it; its stack's seat names the worker, and the route of
 * its task says so to everybody who makes it ready.
 *
 *     with others --block--> alone (lent) --unblock, still there--> with others
 *                                 `-------unblock, taken---------> in line for a processor
 *     with others --bind---> alone (bound) --unbind, end--------> in line, or gone
 *     new         --start bound--^
 *
 * It never leaves its stack to wait. The commit function that normally runs on the other side of the switch runs on the
 * fiber's own stack: nobody else will run there, so the stack need not be free before the fiber can be found. Then the thread
 * sleeps. Whoever makes the fiber ready sets is_woken in its worker, as the last touch of anything that belongs to the fiber,
 * and unparks the thread. The worker outlives the fiber.
 *
 * A thread spins for a short while before it sleeps, a few threads at a time: an answer that comes within microseconds then
 * costs no system call on either side.
 *
 * Everything else about the fiber works as for a plain thread that happens to have a fiber: what it makes ready goes to the
 * shared queue, its timers to the first processor.
 *
 * The world does not stop for a fiber that runs alone. One that sleeps is left as it is: when it is woken it says that it
 * runs, looks whether the world is stopped, and if so waits on; the stopper asks first and looks at states afterwards.
 *
 * When the runtime drops its fibers, one that sleeps alone stays where it is until all others have stopped, because frames of
 * foreign calls on its thread's stack may hold what others wait for.
 */
#include <errno.h>

#include "arch/call.h"
#include "base/assert.h"
#include "base/point.h"
#include "fiber/fiber.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "os/thread.h"

/* ALONE_SPINS: some 20 us, which is what a wake through the kernel costs. NATIVE_GAP: clear of the frame that the scheduler's
 * context was left in. */
enum { ALONE_SPINS = 600, NATIVE_GAP = 512 };
#define NATIVE_SIZE ((size_t)8 << 20)
#define NATIVE_GUARD ((size_t)64 << 10) /* a frame with a large array must not step over it */

/* Mutants, found by tests/model/model_alone.c. */
#ifdef WF_MUTANT_ALONE_RELAXED_WAKE
#define ALONE_STORE_WOKEN wf_store_relaxed
#else
#define ALONE_STORE_WOKEN wf_store_release
#endif
#ifdef WF_MUTANT_ALONE_WAKE_NOT_TAKEN
#define ALONE_TAKE_WOKEN(p) wf_load_acquire(p)
#else
#define ALONE_TAKE_WOKEN(p) wf_exchange_acquire((p), 0)
#endif
#ifdef WF_MUTANT_ALONE_UNORDERED_RUNNING
#define ALONE_STORE_RUNNING wf_store_release
#else
#define ALONE_STORE_RUNNING wf_store_seq_cst
#endif

static void take_seat(struct wf_fiber_worker *worker, struct wf_stack *stack);
static void drop_seat(struct wf_fiber_worker *worker, struct wf_stack *stack);
static bool spin_until_woken(struct wf_fiber_worker *worker);
static void sleep_until_woken(struct wf_fiber_worker *worker);
static void go_on(struct wf_fiber_worker *worker, struct wf_fiber *fiber);
static bool give_at_once(struct wf_fiber_worker *worker);
static int set_policy(struct wf_fiber_worker *worker, const weft_bind_options *options);
static void restore_policy(struct wf_fiber_worker *worker);
static bool reserve_binding(struct wf_fibers *fibers);
static void release_binding(struct wf_fibers *fibers);
static void bind_here(struct wf_fiber_worker *worker, struct wf_stack *stack);
static void unbind_here(struct wf_fiber_worker *worker, struct wf_stack *stack);
static void set_native(struct wf_fiber_worker *worker, void *used);
static void count_pin(struct wf_processor *processor, int change);

void wf_alone_park(struct wf_fiber_worker *worker, wf_commit *commit, void *arg) {
    struct wf_fiber *fiber = wf_worker_fiber(worker);
    struct wf_stack *stack = wf_fiber_stack(fiber);
    __builtin_unwind_init(); /* registers of the callers go to this frame, where a scanner finds them */
    stack->context.sp = wf_alone_is_home(stack) ? __builtin_frame_address(0) : (void *)stack->low;
    if (WF_UNLIKELY(stack->has_canary))
        wf_stack_check_canary(stack);
    int saved_errno = *worker->errno_location;
    WF_MOVE_CHECK(&wf_fiber_machine, wf_load_relaxed(&fiber->task.state), WF_FIBER_PARKED);
    wf_store_release(&fiber->task.state, WF_FIBER_PARKED); /* pairs with a picture of all: this thread is not stopped */
    WF_POINT("park.before_commit");
    if (!commit(fiber, arg))
        wf_fiber_set_state(fiber, WF_FIBER_READY);
    else if (!spin_until_woken(worker))
        sleep_until_woken(worker);
    go_on(worker, fiber);
    *worker->errno_location = saved_errno;
}

void wf_alone_wake(struct wf_engine *engine, struct wf_task *task) {
    (void)engine;
    struct wf_fiber_worker *seat = wf_fiber_stack(wf_fiber_of(task))->seat;
#ifdef WF_MUTANT_ALONE_UNPARK_FIRST
    wf_parker_unpark(&seat->base.parker);
    wf_store_release(&seat->is_woken, 1);
    return;
#endif
    ALONE_STORE_WOKEN(&seat->is_woken, 1); /* pairs with take_wake; the fiber may go on, and end, from here on */
#ifdef WF_MUTANT_ALONE_SEAT_AGAIN
    seat = wf_fiber_stack(wf_fiber_of(task))->seat;
#endif
    wf_parker_unpark(&seat->base.parker);
}

int64_t wf_worker_clock_slow(void) {
    return wf_os_now_coarse();
}

static bool take_wake(struct wf_fiber_worker *worker) {
    return wf_load_relaxed(&worker->is_woken) && ALONE_TAKE_WOKEN(&worker->is_woken); /* pairs with wf_alone_wake */
}

static bool spin_until_woken(struct wf_fiber_worker *worker) {
    struct wf_binding *binding = &worker->fibers->binding;
    uint32_t most = worker->fibers->engine.count > 2 ? worker->fibers->engine.count / 2 : 1;
    bool is_woken = take_wake(worker);
    if (is_woken || wf_load_relaxed(&binding->spinners) >= most)
        return is_woken;
    wf_fetch_add_relaxed(&binding->spinners, 1);
    for (int i = 0; i < ALONE_SPINS && !(is_woken = take_wake(worker)); i++)
        wf_relax();
    wf_fetch_sub_relaxed(&binding->spinners, 1);
    if (is_woken)
        wf_fetch_add_relaxed(&binding->spins, 1);
    return is_woken;
}

static void sleep_until_woken(struct wf_fiber_worker *worker) {
    struct wf_engine *engine = &worker->fibers->engine;
    wf_fetch_add_relaxed(&worker->fibers->binding.parks, 1);
    /* Whoever was last awake may have left it to us to notice that nobody will wake anybody: somebody looks again. */
    bool was_last = wf_fetch_sub_seq_cst(&engine->alone, 1) == 1;
    wf_fence_seq_cst(); /* pairs with that of wf_idle_park, after which others look at alone */
    if (was_last && worker->fibers->on_rest && wf_idle_parked_any(&engine->idle) >= wf_load_relaxed(&engine->active))
        wf_engine_notify_any(engine);
    while (!take_wake(worker)) {
        if (wf_load_acquire(&engine->is_stopping))
            break;
        wf_parker_park(&worker->base.parker, WF_NEVER);
#ifdef WF_MUTANT_ALONE_TOKEN_IS_WAKE
        break;
#endif
    }
    wf_fetch_add_relaxed(&engine->alone, 1);
}

/* It was made ready, or the engine is stopping. */
static void go_on(struct wf_fiber_worker *worker, struct wf_fiber *fiber) {
    if (WF_LIKELY(wf_alone_may_run(worker, fiber)))
        return;
    wf_crew_rest_alone(&worker->base);
    wf_worker_reclaim(&worker->base); /* what it had lent, if nobody has taken that: it has to be given up in order */
    wf_context_forget_calls();
    wf_fiber_leave(worker, WF_LEAVE_ABANDON);
    __builtin_unreachable();
}

bool wf_alone_may_run(struct wf_fiber_worker *worker, struct wf_fiber *fiber) {
    struct wf_engine *engine = &worker->fibers->engine;
    for (;;) {
        if (wf_load_acquire(&engine->is_stopping))
            return false;
        uint8_t state = wf_load_relaxed(&fiber->task.state);
        WF_MOVE_CHECK(&wf_fiber_machine, state, WF_FIBER_RUNNING);
        ALONE_STORE_RUNNING(&fiber->task.state,
                            WF_FIBER_RUNNING); /* pairs with a stopper: it asks, then looks at states */
        if (WF_LIKELY(!wf_load_seq_cst(&engine->world_requested)))
            return true;
        wf_store_seq_cst(&fiber->task.state, state);
        wf_parker_park(&worker->base.parker, WF_NEVER); /* the end of it unparks everybody */
    }
}

static void take_seat(struct wf_fiber_worker *worker, struct wf_stack *stack) {
    stack->seat = worker;
    stack->kept_route = wf_load_relaxed(&stack->fiber->task.route);
    wf_task_set_pinned(&stack->fiber->task, WF_TASK_ALONE);
}

/* The worker has its processor again. */
static void drop_seat(struct wf_fiber_worker *worker, struct wf_stack *stack) {
    stack->seat = NULL;
    stack->checks &= (uint8_t)~WF_CHECK_LENT;
    wf_task_set_pinned(&stack->fiber->task, stack->kept_route >> 2);            /* its lane may be another one by now */
    if (WF_UNLIKELY(wf_task_pinned(&stack->fiber->task) && stack->pins == 0)) { /* unpinned meanwhile */
        wf_task_set_pinned(&stack->fiber->task, 0);
        count_pin(worker->base.processor, -1);
    }
}

void wf_alone_block(struct wf_fiber_worker *worker, struct wf_stack *stack, bool is_long) {
    struct wf_processor *processor = worker->base.processor;
    struct wf_engine *engine = &worker->fibers->engine;
    take_seat(worker, stack);
    stack->checks |= WF_CHECK_LENT;
    if (is_long && (wf_processor_has_local_owner(processor) || wf_engine_has_surplus_any(engine)) &&
        give_at_once(worker)) {
        wf_count_owner(&worker->base.regions, 1);
        return;
    }
    wf_worker_lend(&worker->base);
}

/* False: there is no thread for it, or others rely on this one. */
static bool give_at_once(struct wf_fiber_worker *worker) {
    struct wf_engine *engine = &worker->fibers->engine;
    struct wf_worker *heir = worker->base.processor->pins == 0 ? wf_crew_hire(engine, false) : NULL;
    if (!heir)
        return false;
    wf_fetch_add_relaxed(&engine->crew.takeovers, 1);
    wf_store_relaxed(&worker->base.alone_since, wf_os_now());
    wf_worker_give(&worker->base, heir);
    return true;
}

/* With no thread to be had, the fiber waits like any other, and the rest of its region keeps the processor. Only where frames
 * of a foreign call keep it on its thread does it wait with what it has lent. */
void wf_alone_before_wait(struct wf_stack *stack) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (wf_worker_state(&worker->base) != WF_WORKER_LENT && wf_worker_state(&worker->base) != WF_WORKER_FROZEN)
        return;
    if (!wf_worker_reclaim(&worker->base) || give_at_once(worker))
        return;
    if (wf_alone_is_home(stack))
        drop_seat(worker, stack);
    else
        wf_worker_lend(&worker->base);
}

void wf_alone_unblock(struct wf_fiber_worker *worker, struct wf_stack *stack) {
    if (WF_LIKELY(wf_worker_reclaim(&worker->base)))
        drop_seat(worker, stack);
    else
        wf_fiber_leave(worker, WF_LEAVE_REJOIN);
}

int wf_alone_bind(struct wf_fiber_worker *worker, const weft_bind_options *options) {
    struct wf_fibers *fibers = worker->fibers;
    struct wf_processor *processor = worker->base.processor;
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    bool is_shared = processor->pins > (stack->pins > 0); /* others rely on this thread */
    bool is_first = !worker->base.has_thread;             /* its attributes are the program's */
    bool must_move = is_shared || (is_first && options);
    if (must_move && stack->pins > 0)
        return -EBUSY;
    if (!reserve_binding(fibers))
        return -ENOSPC;
    if (fibers->engine.replay.is_on) {
        stack->site.is_bound = 1;
        return 0;
    }
    struct wf_worker *heir = NULL;
    if (must_move || wf_alone_native(worker) == 0)
        heir = wf_crew_hire(&fibers->engine, must_move);
    int error = !heir ? -EAGAIN : options && !must_move ? set_policy(worker, options) : 0;
    if (error) {
        if (heir)
            wf_crew_let_go(heir);
        release_binding(fibers);
        return error;
    }
    take_seat(worker, stack);
    if (must_move) {
        worker->heir = (struct wf_fiber_worker *)heir;
        wf_fiber_leave(worker, WF_LEAVE_MOVE);
        worker = wf_worker_self();
        set_native(worker, worker->scheduler.sp); /* a task is given to a thread of ours only */
    } else {
        if (stack->pins > 0)
            count_pin(processor, -1);
        stack->kept_route &= 3;
        wf_worker_give(&worker->base, heir);
    }
    bind_here(worker, stack);
    if (options && must_move)
        error = set_policy(worker, options);
    stack->has_thread_options = options && !error;
    if (error)
        wf_alone_unbind(worker, stack); /* it is not pinned: nothing of it is lost */
    return error;
}

static int set_policy(struct wf_fiber_worker *worker, const weft_bind_options *options) {
    return wf_os_thread_policy_set(&worker->kept_policy, options->cpus, options->nice, options->real_time);
}

static void restore_policy(struct wf_fiber_worker *worker) {
    if (wf_os_thread_policy_restore(&worker->kept_policy) != 0)
        worker->base.is_spoilt = true; /* what was given up cannot be had again: the thread ends instead */
}

static bool reserve_binding(struct wf_fibers *fibers) {
    struct wf_binding *binding = &fibers->binding;
    uint32_t bound = wf_load_relaxed(&binding->bound);
    do {
        if (bound >= binding->max)
            return false;
    } while (!wf_cas_relaxed(&binding->bound, &bound, bound + 1));
    uint32_t peak = wf_load_relaxed(&binding->peak);
    while (bound + 1 > peak && !wf_cas_relaxed(&binding->peak, &peak, bound + 1))
        continue;
    return true;
}

static void release_binding(struct wf_fibers *fibers) {
    wf_fetch_sub_seq_cst(&fibers->binding.bound, 1);
    if (fibers->on_unbound)
        fibers->on_unbound(fibers);
}

static void bind_here(struct wf_fiber_worker *worker, struct wf_stack *stack) {
    wf_fetch_add_relaxed(&worker->fibers->binding.bindings, 1);
    stack->bound_at = wf_os_now_coarse();
    stack->site.native_sp = worker->native_sp;
    stack->site.is_bound = 1;
    stack->is_predicted = false;
    stack->has_thread_options = false;
}

/* It is alone still. */
static void unbind_here(struct wf_fiber_worker *worker, struct wf_stack *stack) {
    struct wf_fibers *fibers = worker->fibers;
    stack->binds = 0;
    stack->stays_bound = false;
    stack->site = (struct weft_ffi_site){0};
    if (stack->seat) {
        wf_fetch_add_relaxed(&fibers->binding.bound_ns, (uint64_t)(wf_os_now_coarse() - stack->bound_at));
        if (stack->has_thread_options)
            restore_policy(worker);
    }
    release_binding(fibers);
}

void wf_alone_unbind(struct wf_fiber_worker *worker, struct wf_stack *stack) {
    unbind_here(worker, stack);
    if (stack->seat)
        wf_fiber_leave(worker, WF_LEAVE_REJOIN);
}

int wf_alone_native(struct wf_fiber_worker *worker) {
    if (!worker->base.has_thread && !worker->native_memory) {
        /* The first worker's own stack is needed to end the runtime while frames of foreign calls may still be there. */
        int error = wf_os_map(NATIVE_SIZE, &worker->native_memory);
        if (!error &&
            (error = wf_os_guard_install(worker->native_memory, NATIVE_GUARD, worker->fibers->stacks.guard)) != 0)
            wf_os_unmap(worker->native_memory, NATIVE_SIZE);
        if (error) {
            worker->native_memory = NULL;
            return error;
        }
        wf_context_describe(&worker->own_native, worker->native_memory, NATIVE_SIZE);
        worker->native = &worker->own_native;
        worker->native_sp = (char *)worker->native_memory + NATIVE_SIZE - NATIVE_GAP;
    } else if (worker->base.has_thread) {
        set_native(worker, worker->scheduler.sp);
    }
    return 0;
}

static void set_native(struct wf_fiber_worker *worker, void *used) {
    worker->native = &worker->scheduler;
    worker->native_sp = (void *)(((uintptr_t)used - NATIVE_GAP) & ~(uintptr_t)15);
}

void wf_alone_term(struct wf_worker *base) {
    struct wf_fiber_worker *worker = (struct wf_fiber_worker *)base;
    if (worker->native_memory)
        wf_os_unmap(worker->native_memory, NATIVE_SIZE);
}

struct wf_worker *wf_alone_reserve(struct wf_fibers *fibers) {
    if (fibers->engine.replay.is_on || !reserve_binding(fibers))
        return NULL;
    struct wf_worker *heir = wf_crew_hire(&fibers->engine, true);
    if (!heir)
        release_binding(fibers);
    return heir;
}

/* On its own thread, or on the only one there is: its stack has just become the fiber's. */
void wf_alone_begin(struct wf_fiber_worker *worker, struct wf_fiber *fiber) {
    struct wf_stack *stack = wf_fiber_stack(fiber);
    if (worker->base.processor) {
        stack->site.is_bound = stack->stays_bound = reserve_binding(worker->fibers);
        return;
    }
    unsigned real_time = stack->attributes ? stack->attributes->real_time : 0;
    stack->seat = worker;
    stack->kept_route = (uint16_t)(wf_load_relaxed(&fiber->task.route) & 3);
    set_native(worker, __builtin_frame_address(0)); /* we are on that stack, which is about to be left */
    bind_here(worker, stack);
    stack->stays_bound = true;
    stack->is_predicted = !stack->attributes || !stack->attributes->is_bound;
    if (stack->is_predicted)
        wf_fetch_add_relaxed(&worker->fibers->binding.predicted, 1);
    if (real_time) {
        stack->has_thread_options = wf_os_thread_policy_set(&worker->kept_policy, NULL, 0, real_time) == 0;
        if (!stack->has_thread_options)
            wf_task_set_lane(&fiber->task, WF_LANE_HIGH);
    }
}

void wf_alone_cannot_start(struct wf_fibers *fibers) {
    release_binding(fibers);
}

struct wf_alone_pairs wf_alone_pairs(const struct wf_stack *stack) {
    bool is_inside = stack->is_foreign || (stack->site.is_bound && stack->seat && !stack->site.native_sp);
    return (struct wf_alone_pairs){stack->binds, stack->blocks, stack->site.is_bound, is_inside};
}

bool wf_alone_is_home(const struct wf_stack *stack) {
    const char *here = __builtin_frame_address(0);
    return here >= stack->low && here < (const char *)stack;
}

void wf_alone_close(struct wf_fiber *fiber, const struct wf_alone_pairs *outer) {
    struct wf_stack *stack = wf_fiber_stack(fiber);
    bool is_own = stack->site.is_bound && stack->seat;
    if (is_own)
        stack->site.native_sp = outer->is_foreign ? NULL : stack->seat->native_sp;
    stack->is_foreign = outer->is_foreign && !is_own;
    while (stack->blocks > outer->blocks)
        weft_blocking_end();
    if (stack->binds > outer->binds) {
        stack->binds = outer->binds;
        if (stack->pins > 0)
            stack->stays_bound = true; /* its thread is where it is pinned */
        else if (!outer->is_bound && !stack->stays_bound)
            wf_alone_unbind(wf_worker_self(), stack);
    }
}

void wf_alone_finish(struct wf_fiber *fiber, bool has_panicked) {
    struct wf_stack *stack = wf_fiber_stack(fiber);
    struct wf_fiber_worker *worker = wf_worker_self();
    if (stack->blocks > 0) {
        if (!has_panicked && !stack->is_foreign) /* else the region was ours, of a call made unbound */
            wf_fatal("a fiber ended inside a blocking region");
        stack->blocks = 0;
        if (stack->seat && !stack->site.is_bound && wf_worker_reclaim(&worker->base))
            drop_seat(worker, stack);
    }
    if (stack->site.is_bound) {
        if (stack->is_predicted)
            wf_depth_note_foreign(worker->fibers, wf_load_relaxed(&fiber->entry), false);
        unbind_here(worker, stack);
    }
    wf_fiber_set_pins(fiber, 0);
    wf_store_relaxed(&fiber->task.route, 0);
    stack->seat = NULL; /* for the next fiber on this stack; this one has nothing left to wait for */
    stack->is_foreign = false;
}

void wf_fiber_set_pins(struct wf_fiber *fiber, uint32_t pins) {
    struct wf_stack *stack = wf_fiber_stack(fiber);
    bool was_pinned = stack->pins > 0;
    bool is_pinned = pins > 0;
    stack->pins = pins;
    if (stack->seat || was_pinned == is_pinned) /* one that is alone stays on its thread anyway */
        return;
    struct wf_processor *processor = wf_worker_self()->base.processor;
    wf_task_set_pinned(&fiber->task, is_pinned ? processor->index + 1 : 0);
    count_pin(processor, is_pinned ? 1 : -1);
}

static void count_pin(struct wf_processor *processor, int change) {
    processor->pins += (uint32_t)change;
    wf_store_relaxed(&processor->has_pins, processor->pins > 0);
    if (processor->pins == 0 && processor->index >= processor->engine->count)
        wf_store_relaxed(&processor->attention, 1); /* an extra one may have stayed for this */
}
