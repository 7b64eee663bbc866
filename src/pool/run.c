/* SPDX-License-Identifier: MIT
 *
 * pool/run.c - runners: fibers of the pool that run works, and others that run one now and then.
 *
 * A worker of the engine that has no fiber to go on with takes an item out of the queues and makes a fiber for it. That fiber,
 * the runner, runs the item and then the next ones, as long as
 *   - there is an item,
 *   - nothing else is ready on its processor, and it is not time for the worker's loop (timers, the shared queue, ...),
 *   - the work has left the fiber as it found it: no deferred calls, no fiber-local values, no open scope, shield, pin or
 *     binding, no name, no lane of its own.
 * Otherwise it ends, and the worker asks for a new one. A work that has left something behind is over only when the end of the
 * fiber has cleaned that up: the runner's leaver ends it. So does a panic and weft_exit, which leave the frames of the runner.
 *
 * A runner is a region of cancellation, too. Stopping a work by force fires it; after that the runner runs no other work.
 *
 * The runner of a work is written before the claim, by whoever took the work out of its queue and so is the only one to claim
 * it. Whoever stops the work by force sets FORCE under the work's lock, which makes the end of the work take that lock: until
 * then the runner is there.
 *
 * Others who run works, a helper or a submitter, have a runner on their own stack, and call the work inside a try.
 */
#include <errno.h>
#include <string.h>

#include "arch/call.h"
#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "os/thread.h"
#include "pool/pool.h"
#include "weft/panic.h"

/* Of a plain thread, and of a worker while a work is on its thread's own stack. */
static __thread struct wf_runner *thread_runner;

struct thread_stack_call {
    struct wf_fiber_worker *worker;
    struct wf_runner *runner;
    bool has_panicked;
};

static void *runner_main(void *opaque);
static void *runner_long(void *opaque);
static struct wf_runner *runner_begin(weft_pool *pool);
static void runner_end(struct wf_runner *runner);
static void runner_free(struct wf_runner *runner);
static void give_slot_back(struct wf_runner *runner);
static bool run_item(struct wf_runner *runner, struct wf_task *item);
static bool run_work(struct wf_runner *runner, struct wf_work *work);
static void work_starts(struct wf_runner *runner, struct wf_work *work);
static void count_long(const struct wf_runner *runner, bool is_more);
static bool is_clean(const struct wf_stack *stack, const struct wf_runner *runner);
static bool may_go_on(const struct wf_runner *runner);
static void runner_left(struct wf_leaver *leaver);
static void runner_dropped(struct wf_leaver *leaver);
static void call_work(void *opaque);
static bool call_on_thread_stack(struct wf_runner *runner);
static void on_thread_stack(void *opaque);
static bool call_guarded(struct wf_runner *runner, struct wf_try **innermost);
static void run_without_fiber(struct wf_fiber_worker *worker, struct wf_task *item);
static void run_without_runner(weft_pool *pool, struct wf_task *item, bool has_slot);

struct wf_runner *wf_runner_self(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    return fiber ? wf_fiber_stack(fiber)->work : thread_runner;
}

/* On a worker between two fibers. */
struct wf_task *wf_runner_take_owner(struct wf_worker *base) {
    struct wf_fiber_worker *worker = (struct wf_fiber_worker *)base;
    weft_pool *pool = base->engine->supply_owner;
    struct wf_shard *shard = wf_shard_of_owner(pool, base->processor);
    if (WF_UNLIKELY(!shard)) { /* no memory for it: as a helper would */
        struct wf_task *any = wf_pool_next_any(pool);
        if (any)
            run_without_fiber(worker, any);
        return NULL;
    }
    struct wf_task *item = wf_shard_next_owner(pool, shard, base->processor);
    if (!item) {
        wf_runner_flush(worker, shard);
        return NULL;
    }
    int error = 0;
    struct wf_fiber *fiber = wf_fiber_make_owner(worker, runner_main, item, WF_FLAG_DETACHED, &error);
    if (WF_UNLIKELY(!fiber)) {
        run_without_fiber(worker, item);
        return NULL;
    }
    return &fiber->task;
}

/* Functions of the program may be called by it, and the worker is between two fibers: it passes for a plain thread. */
void wf_runner_flush(struct wf_fiber_worker *worker, struct wf_shard *shard) {
    weft_pool *pool = worker->base.engine->supply_owner;
    if (wf_load_relaxed(&shard->finished) == wf_load_relaxed(&shard->flushed))
        return;
    wf_current_set(NULL);
    wf_shard_flush_any(pool, shard);
    wf_current_set(worker);
}

void wf_runner_stillborn(struct wf_fiber_worker *worker, weft_fn entry, void *arg) {
    if (entry == runner_main || entry == runner_long)
        run_without_fiber(worker, arg);
}

/* There is no memory for a fiber. A job stays where its joiner finds it; a work is run right here, as by a helper. */
static void run_without_fiber(struct wf_fiber_worker *worker, struct wf_task *item) {
    weft_pool *pool = worker->base.engine->supply_owner;
    if (wf_load_relaxed(&item->state) == WF_ITEM_JOB) {
        struct wf_shard *shard = wf_shard_self(pool);
        if (!shard || wf_deque_push_owner(&shard->jobs, item) != 0)
            wf_fatal("there is no memory, neither to run a job nor to put it back");
        return;
    }
    if (worker->base.is_searching) { /* it would turn others away for as long as this takes */
        worker->base.is_searching = false;
        if (wf_idle_search_end(&worker->base.engine->idle))
            wf_engine_notify_any(worker->base.engine);
    }
    wf_current_set(NULL);
    if (wf_work_claim(pool, wf_work_of(item), NULL))
        wf_work_run_here(pool, wf_work_of(item));
    if (pool->options.max_running)
        wf_pool_give_slot_back(pool);
    wf_current_set(worker);
}

static void *runner_main(void *opaque) {
    struct wf_task *item = opaque;
    struct wf_fiber_worker *worker = wf_worker_self();
    weft_pool *pool = worker->base.engine->supply_owner;
    struct wf_runner *runner = runner_begin(pool);
    if (WF_UNLIKELY(!runner)) {
        run_without_runner(pool, item, pool->options.max_running > 0);
        return NULL;
    }
    while (item && run_item(runner, item) && may_go_on(runner)) {
        give_slot_back(runner);
        struct wf_processor *processor = wf_worker_self()->base.processor;
        processor->countdown--;
        wf_count_owner(&processor->counters.switches, 1); /* so that the monitor sees that something goes on */
        struct wf_shard *shard = wf_shard_self(pool);
        item = shard ? wf_shard_next_owner(pool, shard, processor) : NULL;
    }
    if (!runner->work && is_clean(wf_fiber_stack(runner->fiber), runner))
        runner_end(runner);
    return NULL; /* else the leaver does it, after what was left behind */
}

/* On a thread of its own. */
static void *runner_long(void *opaque) {
    struct wf_work *work = opaque;
    weft_pool *pool = wf_worker_self()->base.engine->supply_owner;
    struct wf_runner *runner = runner_begin(pool);
    if (WF_UNLIKELY(!runner)) {
        run_without_runner(pool, &work->task, false);
        return NULL;
    }
    runner->is_long = true;
    run_item(runner, &work->task);
    if (!runner->work && is_clean(wf_fiber_stack(runner->fiber), runner))
        runner_end(runner);
    return NULL;
}

int wf_runner_start_long(weft_pool *pool, struct wf_work *work) {
    weft_spawn_options options = {.bound = true, .detached = true};
    weft_fiber fiber;
    return wf_fiber_spawn(wf_load_relaxed(&pool->fibers), &options, runner_long, work, true, &fiber);
}

/* On a fiber, but there is no memory for a runner. */
static void run_without_runner(weft_pool *pool, struct wf_task *item, bool has_slot) {
    bool is_job = wf_load_relaxed(&item->state) == WF_ITEM_JOB;
    if (is_job)
        wf_job_run(item);
    else if (wf_work_claim(pool, wf_work_of(item), NULL))
        wf_work_run_here(pool, wf_work_of(item));
    if (!is_job && has_slot)
        wf_pool_give_slot_back(pool);
    struct wf_shard *shard = wf_shard_self(pool);
    if (shard)
        wf_shard_flush_any(pool, shard);
}

static struct wf_runner *runner_begin(weft_pool *pool) {
    struct wf_shard *shard = wf_shard_self(pool);
    struct wf_runner *runner = shard ? shard->free_runners : NULL;
    if (runner) {
        shard->free_runners = runner->next;
    } else {
        runner = wf_os_alloc(sizeof *runner);
        if (!runner)
            return NULL;
        runner->pool = pool;
        wf_cancel_init(&runner->cancel, NULL);
        runner->leaver.leave = runner_left;
        runner->leaver.drop = runner_dropped;
    }
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_stack *stack = wf_fiber_stack(fiber);
    runner->fiber = fiber;
    runner->fibers = wf_worker_self()->fibers;
    runner->is_inside = false;
    runner->is_long = false;
    wf_store_relaxed(&runner->has_slot, 0);
    runner->leaver.next = NULL;
    stack->leavers = &runner->leaver;
    stack->work = runner;
    wf_cancel_enter(&runner->cancel, &runner->member);
    return runner;
}

/* The fiber has no work, and is about to end. */
static void runner_end(struct wf_runner *runner) {
    wf_fiber_stack(runner->fiber)->leavers = NULL;
    runner_free(runner);
}

static void runner_free(struct wf_runner *runner) {
    weft_pool *pool = runner->pool;
    give_slot_back(runner);
    wf_cancel_leave(&runner->member);
    wf_fiber_stack(runner->fiber)->work = NULL;
    struct wf_shard *shard = wf_shard_self(pool);
    if (shard) {
        wf_shard_flush_any(pool, shard); /* the worker may now be busy with others for long */
        shard = wf_shard_self(pool);     /* functions of the program may have waited in there */
    }
    if (shard && !wf_cancel_is_fired(&runner->cancel)) {
        runner->next = shard->free_runners;
        shard->free_runners = runner;
        return;
    }
    wf_cancel_term(&runner->cancel);
    wf_os_free(runner);
}

/* That of its last work, unless that was given up. */
static inline void give_slot_back(struct wf_runner *runner) {
    if (WF_UNLIKELY(wf_load_relaxed(&runner->has_slot)) && wf_exchange_acq_rel(&runner->has_slot, 0))
        wf_pool_give_slot_back(runner->pool);
}

/* The fiber ends inside a work: by a panic, by weft_exit, or because the work has left something behind. */
static void runner_left(struct wf_leaver *leaver) {
    struct wf_runner *runner = WF_CONTAINER(leaver, struct wf_runner, leaver);
    struct wf_work *work = runner->work;
    weft_pool *pool = runner->pool;
    if (!work) { /* a job has left something behind */
        runner_free(runner);
        return;
    }
    bool by_panic = runner->is_inside && wf_fiber_stack(runner->fiber)->has_panicked;
    int code = runner->is_inside ? 0 : runner->code; /* inside: weft_exit, unless it was a panic */
    runner->is_inside = false;
    runner->work = NULL;
    count_long(runner, false);
    if (wf_work_over_run(pool, wf_shard_self(pool), work, code, by_panic))
        wf_work_requeue(pool, work);
    runner_free(runner);
}

/* The runtime of a pool never drops fibers. */
static void runner_dropped(struct wf_leaver *leaver) {
    (void)leaver;
    wf_fatal("a runner of a pool was dropped");
}

/* False: the fiber is to end, with the work or without. */
static bool run_item(struct wf_runner *runner, struct wf_task *item) {
    if (wf_load_relaxed(&item->state) == WF_ITEM_JOB) {
        wf_job_run(item);
        return is_clean(wf_fiber_stack(runner->fiber), runner);
    }
    struct wf_work *work = wf_work_of(item);
    const struct wf_terms *terms = wf_work_terms(work);
    if (WF_UNLIKELY(runner->pool->options.max_running) && !runner->is_long)
        wf_store_release(&runner->has_slot, 1); /* pairs with whoever gives the work up */
    if (WF_UNLIKELY(terms && terms->is_long && !runner->is_long) && wf_runner_start_long(runner->pool, work) == 0)
        return true; /* it could not be started when it was submitted */
    return !wf_work_claim(runner->pool, work, runner) || run_work(runner, work);
}

bool wf_work_claim(weft_pool *pool, struct wf_work *work, struct wf_runner *runner) {
    uint64_t word = wf_load_acquire(&work->word); /* pairs with its submit */
    WF_POINT("pool.before_claim");
    while (wf_work_phase(word) == WF_WORK_QUEUED) {
        work->runner = runner;
        uint64_t next = wf_work_with_phase(word & ~WF_WORK_LISTED, WF_WORK_CLAIMED);
        if (wf_cas_acq_rel(&work->word, &word, next)) /* pairs with whoever stops it by force */
            return true;
    }
    wf_work_let_go(pool, work, WF_WORK_LISTED);
    return false;
}

/* A work that was claimed, and again as long as it is retried on the spot. False: the fiber is to end with it, or it is over
 * and the fiber is to end anyway. */
static bool run_work(struct wf_runner *runner, struct wf_work *work) {
    struct wf_stack *stack = wf_fiber_stack(runner->fiber);
    weft_pool *pool = runner->pool;
    runner->work = work;
    do {
        count_long(runner, true);
        work_starts(runner, work);
        const struct wf_terms *terms = wf_work_terms(work);
        bool has_panicked = false;
        runner->is_inside = true;
        if (WF_UNLIKELY(terms && terms->on_thread_stack))
            has_panicked = call_on_thread_stack(runner);
        else
            runner->code = work->fn(work->arg);
        runner->is_inside = false;
        if (WF_UNLIKELY(has_panicked))
            runner->code = -EOWNERDEAD;
        if (WF_UNLIKELY(!is_clean(stack, runner)))
            return false;
        runner->work = NULL;
        count_long(runner, false);
        struct wf_shard *shard = wf_shard_self(pool);
        if (WF_LIKELY(runner->code >= 0 && !has_panicked) && WF_LIKELY(wf_work_over_quietly(pool, shard, work)))
            return true;
        if (WF_LIKELY(!wf_work_over_run(pool, shard, work, runner->code, has_panicked)))
            return !wf_cancel_is_fired(&runner->cancel) && is_clean(stack, runner);
        runner->work = work;
    } while (!wf_cancel_is_fired(&runner->cancel));
    runner->work = NULL;
    wf_work_requeue(pool, work);
    return false;
}

/* Works that have a thread of their own: not any more when they are over. */
static inline void count_long(const struct wf_runner *runner, bool is_more) {
    if (WF_UNLIKELY(runner->is_long))
        wf_fetch_add_relaxed(&runner->pool->long_running, is_more ? 1u : UINT32_MAX);
}

static void work_starts(struct wf_runner *runner, struct wf_work *work) {
    unsigned attempts = wf_load_relaxed(&work->attempts) + 1;
    wf_store_relaxed(&work->attempts, attempts);
    wf_context_acquire(work);
    uint64_t word = wf_load_relaxed(&work->word);
    if (WF_LIKELY(!(word & WF_WORK_SPECIAL)))
        return;
    weft_pool *pool = runner->pool;
    if (attempts == 1) {
        if (pool->options.measure)
            work->started_at = wf_os_now();
        wf_clock_started(pool, work);
    }
    wf_pool_tell_running(pool, 1);
    if (wf_pool_wants(pool, WEFT_POOL_WORK_STARTED))
        wf_pool_tell_kind(pool, WEFT_POOL_WORK_STARTED, wf_work_handle(work, word), NULL);
}

static inline bool is_clean(const struct wf_stack *stack, const struct wf_runner *runner) {
    return stack->leavers == &runner->leaver && !stack->locals && !stack->trying->deferred && stack->shields == 0 &&
           stack->pins == 0 && stack->blocks == 0 && !stack->name[0] && !stack->keeps_fp &&
           (runner->is_long || (!stack->site.is_bound && wf_load_relaxed(&runner->fiber->task.route) == 0));
}

static inline bool may_go_on(const struct wf_runner *runner) {
    struct wf_processor *processor = wf_worker_self()->base.processor;
    (void)runner;
    return processor && processor->countdown > 1 && !wf_load_relaxed(&processor->attention) && !processor->has_extra &&
           !wf_load_relaxed(&processor->next) && wf_ring_is_empty_any(&processor->lanes[WF_LANE_NORMAL]) &&
           wf_mailbox_is_empty_any(&processor->mailbox);
}

static void call_work(void *opaque) {
    struct wf_runner *runner = opaque;
    runner->code = runner->work->fn(runner->work->arg);
}

/* Returns whether it has panicked. On a fiber weft_exit ends the work and not the fiber. */
static bool call_guarded(struct wf_runner *runner, struct wf_try **innermost) {
    struct wf_try attempt;
    int error = wf_try_call(&attempt, innermost, call_work, runner);
    if (!error && attempt.is_exit)
        runner->code = 0;
    return error != 0;
}

/* The thread of the fiber's worker is as good as a plain one meanwhile: what waits, blocks it. */
static bool call_on_thread_stack(struct wf_runner *runner) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker->base.processor || wf_alone_native(worker) != 0)
        return call_guarded(runner, &wf_fiber_stack(runner->fiber)->trying);
    struct thread_stack_call call = {.worker = worker, .runner = runner};
    wf_store_release(&runner->native_thread, wf_os_thread_id()); /* pairs with wf_runner_interrupt */
    wf_context_call_on(worker->native_sp, worker->native, on_thread_stack, &call);
    wf_store_release(&runner->native_thread, 0);
    return call.has_panicked;
}

static void on_thread_stack(void *opaque) {
    struct thread_stack_call *call = opaque;
    wf_current_set(NULL);
    thread_runner = call->runner;
    call->has_panicked = weft_try(call_work, call->runner, NULL, 0) != 0;
    thread_runner = NULL;
    wf_current_set(call->worker);
}

void wf_work_run_here(weft_pool *pool, struct wf_work *work) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_stack *stack = fiber ? wf_fiber_stack(fiber) : NULL;
    struct wf_runner runner = {.pool = pool, .fiber = fiber, .outer = wf_runner_self()};
    runner.thread_id = fiber ? 0 : wf_os_thread_id();
    runner.fibers = fiber ? wf_worker_self()->fibers : NULL;
    wf_cancel_init(&runner.cancel, stack && !stack->shields ? stack->cancel : NULL);
    wf_lock_take(&work->lock); /* whoever stopped it by force before found no runner */
    work->runner = &runner;    // cppcheck-suppress autoVariables ; the work is over when this returns
    bool is_forced = wf_load_relaxed(&work->word) & WF_WORK_FORCE;
    wf_lock_drop(&work->lock);
    if (is_forced)
        wf_cancel_fire(&runner.cancel, -ECANCELED, "the work was stopped by force");
    if (stack) {
        wf_cancel_enter(&runner.cancel, &runner.member);
        stack->work = &runner;
    } else {
        thread_runner = &runner;
    }
    bool is_again;
    do {
        runner.work = work;
        work_starts(&runner, work);
        runner.is_inside = true;
        bool has_panicked;
        if (stack)
            has_panicked = call_guarded(&runner, &stack->trying);
        else
            has_panicked = weft_try(call_work, &runner, NULL, 0) != 0;
        runner.is_inside = false;
        runner.work = NULL;
        is_again = wf_work_over_run(pool, wf_shard_self(pool), work, runner.code, has_panicked);
    } while (is_again && !wf_cancel_is_fired(&runner.cancel));
    if (is_again)
        wf_work_requeue(pool, work);
    if (stack) {
        wf_cancel_leave(&runner.member);
        stack->work = runner.outer;
    } else {
        thread_runner = runner.outer;
    }
    wf_cancel_term(&runner.cancel);
}
