/* SPDX-License-Identifier: MIT
 *
 * fiber/switch.c - suspending a fiber and going on with another.
 *
 *     fiber A                         fiber B, or the worker's own stack
 *     park(commit)
 *       leave = {PARK, A, commit}
 *       switch  ----------------->    arrive: A's stack is free now
 *                                       state = parked, commit(A): drops the lock, A can be found
 *                                     goes on with its own work
 *
 * A goes straight to the next local fiber when there is one, and to the worker's loop when there is none. What A wants
 * done with itself (wait, go to the end of the queue, vanish) is done by whoever arrives, never by A: until the switch
 * is over A runs on its stack, and another worker that found it would run on it too.
 *
 * A fiber that ends and finds a new one next does not switch at all: the new one begins on the same stack.
 *
 * The arriving side may be on another thread than the one it left, so the worker is read anew after every switch, and
 * errno and, for fibers that ask for it, the floating-point control words are carried over.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "fiber/fiber.h"
#include "os/report.h"
#include "os/thread.h"

WF_MACHINE_DEFINE(fiber, WF_FIBER_STATES)

/* 4: often enough for two calls in a row to be separated, seldom enough for five to stay together. */
enum { PERTURB_ONE_IN = 4 };

static void leave_for(struct wf_fiber_worker *worker, struct wf_fiber *fiber, struct wf_task *task);
static bool enter_task(struct wf_fiber_worker *worker, struct wf_task *task);
static void put_back(struct wf_fiber_worker *worker, struct wf_task *task);
static void switch_to(struct wf_fiber_worker *worker, struct wf_context *from, struct wf_fiber *to, bool dies);
static void arrive(void);
static void settle_leaver(struct wf_fiber_worker *worker);
static void settle_alone(struct wf_fiber_worker *worker, struct wf_fiber *leaver, enum wf_leave leave);
static bool start_fiber(struct wf_fiber_worker *worker, struct wf_fiber *fiber);
static void start_specially(struct wf_fiber_worker *worker, struct wf_fiber *fiber,
                            const struct wf_attributes *attributes);
static void dress_stack(struct wf_fiber_worker *worker, struct wf_fiber *fiber, struct wf_stack *stack);
static bool can_cut_back(const struct wf_stacks *stacks, const struct wf_stack *stack);
static void stack_main(void *opaque);
static void run_body(struct wf_fiber *fiber);

void wf_fiber_park(wf_commit *commit, void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_fiber *fiber = wf_worker_fiber(worker);
    if (WF_UNLIKELY(!worker->base.processor)) {
        wf_alone_park(worker, commit, arg);
        return;
    }
    wf_count_owner(&worker->base.processor->counters.parks, 1);
    worker->leave = WF_LEAVE_PARK;
    worker->leaver = fiber;
    worker->commit = commit;
    worker->commit_arg = arg;
    WF_POINT("park.before_switch");
    leave_for(worker, fiber, wf_processor_pick_owner(worker->base.processor));
}

void wf_fiber_yield(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_fiber *fiber = wf_worker_fiber(worker);
    struct wf_processor *processor = worker->base.processor;
    if (WF_UNLIKELY(!processor)) {
        wf_os_thread_yield();
        return;
    }
    struct wf_task *task = wf_processor_pick_owner(processor);
    if (!task && processor->countdown > 0 && !wf_load_relaxed(&processor->attention))
        return; /* alone and nothing due: going through the loop would only bring us back */
    worker->leave = WF_LEAVE_YIELD;
    worker->leaver = fiber;
    leave_for(worker, fiber, task);
}

void wf_fiber_leave(struct wf_fiber_worker *worker, enum wf_leave leave) {
    struct wf_fiber *fiber = wf_worker_fiber(worker);
    worker->leave = leave;
    worker->leaver = fiber;
    leave_for(worker, fiber, NULL);
}

void wf_fiber_perturb(void) {
    if (wf_fiber_may_yield() && wf_rng_below(&wf_worker_self()->base.processor->rng, PERTURB_ONE_IN) == 0)
        wf_fiber_yield();
}

bool wf_fiber_may_yield(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    return worker && !wf_world_is_mine(&worker->base);
}

void wf_fiber_ready(struct wf_fibers *fibers, struct wf_fiber *fiber) {
    struct wf_fiber_worker *worker = wf_worker_self();
    wf_fiber_set_state(fiber, WF_FIBER_READY);
    if (WF_LIKELY(worker && worker->fibers == fibers)) {
        struct wf_processor *processor = worker->base.processor;
        if (WF_UNLIKELY(!processor)) {
            wf_engine_submit_any(&fibers->engine, &fiber->task);
            return;
        }
        wf_count_owner(&processor->counters.wakes, 1);
        wf_processor_ready_owner(processor, &fiber->task, true);
    } else if (wf_runtimes_hold(fibers)) { /* the fiber may run and its runtime end before the submit is over */
        wf_engine_submit_any(&fibers->engine, &fiber->task);
        wf_runtimes_leave(fibers);
    }
}

/* The worker's loop found a task: run it, and whatever is local after it, until there is nothing local. */
void wf_fiber_run(struct wf_worker *base, struct wf_task *task) {
    struct wf_fiber_worker *worker = (struct wf_fiber_worker *)base;
    struct wf_fiber *fiber = wf_fiber_of(task);
    if (!enter_task(worker, task)) { /* here no fiber is being left, so no lock is held */
        if (!worker->base.processor)
            wf_alone_cannot_start(worker->fibers);
        wf_fiber_end(worker, fiber, NULL, -ENOMEM);
        return;
    }
    if (WF_UNLIKELY(!worker->base.processor) && !wf_alone_may_run(worker, fiber)) {
        wf_store_relaxed(&fiber->task.state, WF_FIBER_READY); /* it has a stack, and is dropped as one that has */
        return;
    }
    switch_to(worker, &worker->scheduler, fiber, false);
    settle_leaver(worker); /* the loop's stack never moves to another thread */
}

/* Suspended while it handles an exception: the next fiber must not find it. */
static WF_NOINLINE void keep_cxx(struct wf_cxx_state *cxx, struct wf_stack *stack) {
    stack->cxx = *cxx;
    stack->has_cxx = true;
    *cxx = (struct wf_cxx_state){0};
}

/* The words go with the fiber; whoever runs next on this thread gets the thread's own. */
static WF_NOINLINE void keep_fp_control(struct wf_fiber_worker *worker, struct wf_stack *stack) {
    stack->fp_control = wf_arch_fp_control_get();
    wf_arch_fp_control_set(worker->fp_control);
}

/* Suspends the fiber and goes on with the task, or with the worker's loop when there is none. */
static inline __attribute__((always_inline)) void leave_for(struct wf_fiber_worker *worker, struct wf_fiber *fiber,
                                                            struct wf_task *task) {
    struct wf_stack *stack = wf_fiber_stack(fiber);
    if (WF_UNLIKELY(stack->has_canary))
        wf_stack_check_canary(stack);
    stack->saved_errno = *worker->errno_location;
    if (WF_UNLIKELY(stack->keeps_fp))
        keep_fp_control(worker, stack);
    struct wf_cxx_state *cxx = worker->cxx_location;
    if (WF_UNLIKELY(cxx && (cxx->caught || cxx->uncaught)))
        keep_cxx(cxx, stack);
    if (task && !enter_task(worker, task)) {
        put_back(worker, task);
        task = NULL;
    }
    if (task) {
        switch_to(worker, &stack->context, wf_fiber_of(task), false);
    } else {
        wf_store_release(&worker->current, NULL); /* pairs with the monitor */
        wf_context_switch(&stack->context, &worker->scheduler, false);
    }
    arrive();
}

/* Gets the task ready to be switched to. False when it is new and no stack is to be had. */
static inline bool enter_task(struct wf_fiber_worker *worker, struct wf_task *task) {
    struct wf_fiber *fiber = wf_fiber_of(task);
    if (wf_load_relaxed(&fiber->task.state) == WF_FIBER_NEW && !start_fiber(worker, fiber))
        return false;
    struct wf_processor *processor = worker->base.processor;
    if (WF_LIKELY(processor)) {
        wf_store_relaxed(&fiber->task.home, processor->home);
        wf_count_owner(&processor->counters.switches, 1);
    }
    return true;
}

/* There was no stack for it, and the fiber that is being left may hold the very lock that ending this one takes: the
 * worker's loop tries again, and ends it if it must. */
static void put_back(struct wf_fiber_worker *worker, struct wf_task *task) {
    worker->base.processor->countdown = 0;
    wf_processor_ready_owner(worker->base.processor, task, true);
}

static inline __attribute__((always_inline)) void switch_to(struct wf_fiber_worker *worker, struct wf_context *from,
                                                            struct wf_fiber *to, bool dies) {
    if (WF_LIKELY(worker->base.processor)) /* one that is alone has said so itself */
        wf_fiber_set_state(to, WF_FIBER_RUNNING);
    wf_store_release(&worker->current, to); /* pairs with the monitor */
    wf_context_switch(from, &wf_fiber_stack(to)->context, dies);
}

/* First thing after a switch into a fiber that was suspended before. */
static WF_NOINLINE void arrive(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    while (WF_UNLIKELY(worker->visit)) { /* not our turn: somebody wants to see this stack */
        wf_visit_answer(worker);
        worker = wf_worker_self();
    }
    settle_leaver(worker);
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    *worker->errno_location = stack->saved_errno;
    if (WF_UNLIKELY(stack->keeps_fp))
        wf_arch_fp_control_set(stack->fp_control);
    if (WF_UNLIKELY(stack->has_cxx)) {
        *worker->cxx_location = stack->cxx;
        stack->has_cxx = false;
    }
}

/* The stack that was left is free: do what its fiber wanted done. */
static void settle_leaver(struct wf_fiber_worker *worker) {
    struct wf_fiber *leaver = worker->leaver;
    enum wf_leave leave = worker->leave;
    worker->leave = WF_LEAVE_NOTHING;
    worker->leaver = NULL;
    if (leave == WF_LEAVE_PARK) {
        wf_fiber_set_state(leaver, WF_FIBER_PARKED);
        WF_POINT("park.before_commit");
        if (WF_UNLIKELY(!worker->commit(leaver, worker->commit_arg)))
            wf_fiber_ready(worker->fibers, leaver);
    } else if (leave == WF_LEAVE_YIELD) {
        wf_fiber_set_state(leaver, WF_FIBER_READY);
        wf_processor_ready_owner(worker->base.processor, &leaver->task, false);
    } else if (leave == WF_LEAVE_END) {
        struct wf_stack *stack = worker->left_stack;
        struct wf_fiber_processor *processor = (struct wf_fiber_processor *)worker->base.processor;
        wf_context_term(&stack->context);
        if (WF_LIKELY(processor))
            wf_stack_give(&worker->fibers->stacks, &processor->stacks, stack);
        else
            wf_stack_give_slow(&worker->fibers->stacks, NULL, stack);
    } else if (leave == WF_LEAVE_REJOIN || leave == WF_LEAVE_MOVE) {
        settle_alone(worker, leaver, leave);
    }
}

static WF_NOINLINE void settle_alone(struct wf_fiber_worker *worker, struct wf_fiber *leaver, enum wf_leave leave) {
    struct wf_stack *stack = wf_fiber_stack(leaver);
    stack->seat = leave == WF_LEAVE_REJOIN ? NULL : worker->heir;
    if (leave == WF_LEAVE_REJOIN) {
        wf_task_set_pinned(&leaver->task, stack->kept_route >> 2); /* its lane may be another one by now */
        stack->checks &= (uint8_t)~WF_CHECK_LENT;
    }
    WF_MOVE_CHECK(&wf_fiber_machine, wf_load_relaxed(&leaver->task.state), WF_FIBER_READY);
    wf_store_release(&leaver->task.state, WF_FIBER_READY); /* pairs with a picture of all: this thread is not stopped */
    if (leave == WF_LEAVE_REJOIN)
        wf_engine_submit_any(&worker->fibers->engine, &leaver->task);
    else
        wf_crew_give_task(&worker->heir->base, &leaver->task);
}

static bool start_fiber(struct wf_fiber_worker *worker, struct wf_fiber *fiber) {
    struct wf_fibers *fibers = worker->fibers;
    struct wf_fiber_processor *processor = (struct wf_fiber_processor *)worker->base.processor;
    const struct wf_attributes *attributes = wf_fiber_attributes(fiber);
    size_t size = attributes ? attributes->stack_size : 0;
    if (size == 0 && WF_UNLIKELY(wf_load_relaxed(&fibers->deep_entries) > 0))
        size = wf_depth_predict(fibers, wf_load_relaxed(&fiber->entry));
    struct wf_stack *stack = WF_LIKELY(processor) ? wf_stack_take(&fibers->stacks, &processor->stacks, size)
                                                  : wf_stack_take_slow(&fibers->stacks, NULL, size);
    if (WF_UNLIKELY(!stack))
        return false;
    wf_context_init(&stack->context, stack->low, (size_t)((char *)wf_stack_top(stack) - stack->low),
                    &worker->scheduler);
    dress_stack(worker, fiber, stack);
    if (WF_UNLIKELY(!processor || attributes))
        start_specially(worker, fiber, attributes);
    stack->context.sp = wf_arch_prepare(wf_stack_top(stack), stack_main, NULL);
    return true;
}

/* Bound, or pinned, from its first moment. */
static WF_NOINLINE void start_specially(struct wf_fiber_worker *worker, struct wf_fiber *fiber,
                                        const struct wf_attributes *attributes) {
    if (!attributes || attributes->is_bound || !worker->base.processor) { /* without a processor there may be none */
        wf_alone_begin(worker, fiber);
    } else if (attributes->is_pinned) {
        wf_task_set_pinned(&fiber->task, 0);
        wf_fiber_set_pins(fiber, 1);
    }
}

/* The stack becomes the fiber's. */
static void dress_stack(struct wf_fiber_worker *worker, struct wf_fiber *fiber, struct wf_stack *stack) {
    stack->fiber = fiber;
    stack->arg = fiber->value;
    stack->pins = 0;
    stack->keeps_fp = false;
    stack->has_cxx = false;
    stack->is_indirect = false;
    stack->checks = worker->fibers->checks;
    stack->shields = 0;
    stack->cancel = NULL;
    stack->leavers = NULL;
    stack->work = NULL;
    stack->loops = NULL;
    stack->describe = NULL;
    stack->held = NULL;
    WF_ASSERT(
        !stack->seat); /* what has to do with threads is all zero, at first and after every fiber: wf_alone_finish */
    wf_store_relaxed(&stack->waiting, NULL);
    wf_store_relaxed(&stack->wait_word, 0);
    stack->saved_errno = 0;
    stack->name[0] = 0;
    stack->attributes = wf_fiber_attributes(fiber);
    if (WF_UNLIKELY(stack->attributes)) {
        __builtin_memcpy(stack->name, stack->attributes->name, sizeof stack->name);
        stack->due = stack->attributes->due;
    }
    wf_store_release(&fiber->place, (uintptr_t)stack); /* pairs with wf_fiber_copy_name */
    struct wf_fiber_processor *processor = (struct wf_fiber_processor *)worker->base.processor;
    stack->is_sampled = WF_LIKELY(processor) && wf_depth_wants_sample(processor);
    if (WF_UNLIKELY(stack->is_sampled)) {
        stack->is_shallow = false;
        if (can_cut_back(&worker->fibers->stacks, stack))
            wf_stack_make_shallow(&worker->fibers->stacks, stack);
        stack->is_sampled = stack->is_shallow;
    }
}

/* We may be running on that very stack, in its first frames: these must lie in the page that stays, with room to spare
 * for the calls that drop the others. */
static bool can_cut_back(const struct wf_stacks *stacks, const struct wf_stack *stack) {
    const char *here = __builtin_frame_address(0);
    bool is_here = here >= stack->low && here < stack->slot + stack->slot_size;
    return !is_here || here - 1024 >= stack->slot + stack->slot_size - stacks->page;
}

/* The first frame of every stack: runs one fiber after another for as long as new ones come next. */
static void stack_main(void *opaque) {
    (void)opaque;
    wf_context_entered();
    settle_leaver(wf_worker_self());
    *wf_worker_self()->errno_location = 0;
    for (;;) {
        run_body(wf_worker_fiber(wf_worker_self()));
        struct wf_fiber_worker *worker = wf_worker_self(); /* maybe another one by now */
        struct wf_stack *stack = worker->left_stack;
        wf_store_release(&worker->current, NULL); /* pairs with the monitor */
        struct wf_task *task =
            WF_LIKELY(worker->base.processor) ? wf_processor_pick_owner(worker->base.processor) : NULL;
        if (!task) {
            worker->leave = WF_LEAVE_END;
            wf_context_switch(&stack->context, &worker->scheduler, true);
            __builtin_unreachable();
        }
        struct wf_fiber *next = wf_fiber_of(task);
#ifndef WF_TSAN /* there each fiber is a thread of its own to the sanitizer */
        if (wf_load_relaxed(&next->task.state) == WF_FIBER_NEW && !wf_fiber_attributes(next) &&
            wf_load_relaxed(&worker->fibers->deep_entries) == 0 &&
            stack->class_index == worker->fibers->stacks.default_class) {
            wf_count_owner(&worker->base.processor->counters.switches, 1);
            wf_store_relaxed(&next->task.home, worker->base.processor->home);
            dress_stack(worker, next, stack);
            wf_fiber_set_state(next, WF_FIBER_RUNNING);
            wf_store_release(&worker->current, next); /* pairs with the monitor */
            *worker->errno_location = 0;
            continue;
        }
#endif
        worker->leave = WF_LEAVE_END;
        if (!enter_task(worker, task)) {
            put_back(worker, task);
            wf_context_switch(&stack->context, &worker->scheduler, true);
            __builtin_unreachable();
        }
        switch_to(worker, &stack->context, next, true);
        __builtin_unreachable();
    }
}

struct body {
    struct wf_fiber *fiber;
    void *result;
};

static void call_entry(void *opaque) {
    struct body *body = opaque;
    body->result = wf_load_relaxed(&body->fiber->entry)(wf_fiber_stack(body->fiber)->arg);
}

/* From the fiber's first instruction to the moment when its joiner knows. Leaves its stack in worker->left_stack. */
static void run_body(struct wf_fiber *fiber) {
    struct wf_stack *stack = wf_fiber_stack(fiber);
    struct body body = {.fiber = fiber};
    struct wf_try attempt;
    wf_context_acquire(fiber);
    wf_context_acquire(stack); /* the frames of its former owner are gone */
    int error = wf_try_call(&attempt, &stack->trying, call_entry, &body);
    if (WF_UNLIKELY(stack->locals))
        wf_locals_end(stack);
    stack->has_panicked = error != 0;
    while (WF_UNLIKELY(stack->leavers)) {
        struct wf_leaver *leaver = stack->leavers;
        stack->leavers = leaver->next;
        leaver->leave(leaver);
    }
    struct wf_fiber_worker *worker = wf_worker_self();
    if (WF_UNLIKELY(!worker))
        wf_fatal("a fiber function returned in a process that was forked from a running runtime");
    struct wf_fibers *fibers = worker->fibers;
    if (WF_UNLIKELY(error))
        wf_panic_report(worker, fiber, &attempt);
    if (WF_UNLIKELY(stack->pins | stack->blocks | stack->site.is_bound)) {
        wf_alone_finish(fiber, error != 0);
        worker = wf_worker_self();
    }
    if (WF_UNLIKELY(stack->keeps_fp))
        wf_arch_fp_control_set(worker->fp_control);
    if (WF_UNLIKELY(stack->is_sampled))
        wf_depth_record(fibers, wf_load_relaxed(&fiber->entry), wf_stack_depth(stack));
    worker->left_stack = stack;
    wf_context_release(stack);
    void *result = attempt.is_exit ? attempt.result : body.result;
    wf_fiber_end(worker, fiber, error ? NULL : result, error);
}
