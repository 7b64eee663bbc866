/* SPDX-License-Identifier: MIT
 *
 * pool/life.c - making a pool, its engine and threads, and the end.
 *
 * The engine is that of a runtime which a thread of the pool runs (runtime/runtime.h). Its first fiber, the keeper, only waits
 * for the end. One processor is regular, the others are extra ones, so that their number can change.
 *
 *     off --> starting --> on <--> ending --> off         off --> gone
 *                `----------------------------^  (no thread, no memory)
 *
 * A pool that is not elastic is ON from weft_pool_new to weft_pool_free. An elastic one is *mortal*: it starts with its first
 * work, and when it may be without threads and has been idle for long enough, its engine ends. Both sides decide under
 * pool->lock: the submit looks at the state after it has counted its work, the end looks at the count after it has announced
 * itself; a submit that comes while it ends finds it OFF or, if that is not done yet, leaves it to whoever ends it to see that
 * there is something to do, and to start again.
 *
 * From a mortal pool's fibers the engine is there as long as they are. Everybody else touches it under pool->lock only.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "os/signal.h"
#include "pool/pool.h"
#include "runtime/runtime.h"

#define POOL_KEEP_ALIVE_NS (10 * WEFT_SECOND)
#define POOL_GRACE_NS (100 * WEFT_MILLISECOND)
/* After a start that failed. */
#define START_AGAIN_NS (10 * WEFT_MILLISECOND)
/* While fibers that works have spawned are left. */
#define LOOK_AGAIN_MOST_NS WEFT_SECOND
/* How many fibers may be bound to threads of their own: works that run long. */
enum { LONG_WORKS_MAX = 10000, NICE_LOWEST = 19, NICE_HIGHEST = -20, STACK_LEAST = 16 * 1024 };

static int reserve_alarm(weft_pool *pool);
static int resolve_options(weft_pool *pool, const weft_pool_options *given);
static bool options_are_wrong(const weft_pool_options *options);
static int start_and_wait(weft_pool *pool);
static bool has_to_do(const weft_pool *pool);
static int start_locked(weft_pool *pool);
static void pool_main(void *opaque);
static int pool_keeper(void *opaque);
static void pool_ready(void *opaque, struct wf_fibers *fibers);
static void set_pool_state_locked(weft_pool *pool, enum wf_pool_state state);
static struct wf_waiter *end_locked(weft_pool *pool);
static void ring_idle(weft_pool *pool, struct wf_pool_alarm *alarm);
static struct wf_task *supply_take_owner(struct wf_worker *worker);
static bool supply_has_any(struct wf_engine *engine);
static void supply_leaves(struct wf_processor *processor);
static bool count_inside(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque);
static void shut_gate(weft_pool *pool, uint32_t gate);
static void end_engine(weft_pool *pool);
static uint32_t wanted_now(const weft_pool *pool);

static const struct wf_supply pool_supply = {
    .take_owner = supply_take_owner,
    .has_any = supply_has_any,
    .processor_leaves = supply_leaves,
};

int weft_pool_new(weft_pool **out, const weft_pool_options *options) {
    if (!out)
        return -EINVAL;
    weft_pool *pool = wf_os_alloc_aligned(64, sizeof *pool);
    if (!pool)
        return -ENOMEM;
    int error = resolve_options(pool, options);
    if (error)
        goto free_pool;
    wf_list_init(&pool->stored);
    wf_list_init(&pool->groups);
    wf_pool_alarm_init(&pool->idle_alarm, ring_idle);
    if (!wf_worker_self())
        wf_os_thread_note_program();
    error = wf_os_interrupt_prepare();
    if (!error && pool->is_mortal)
        error = reserve_alarm(pool);
    /* A mortal pool would find out later that it cannot have its threads as it wants them. */
    bool is_picky = pool->options.cpus || pool->options.nice;
    if (!error && (!pool->is_mortal || is_picky))
        error = start_and_wait(pool);
    if (!error && pool->is_mortal && is_picky)
        wf_pool_rest(pool);
    if (error)
        goto free_parts;
    *out = pool;
    return 0;

free_parts:
    wf_clock_stop(pool);
    wf_shards_term(pool);
    wf_os_free((void *)pool->options.cpus);
free_pool:
    wf_os_free(pool);
    return error;
}

/* Starts the clock, so that setting the alarm later on cannot fail: it is what starts the threads again. */
static int reserve_alarm(weft_pool *pool) {
    int error = wf_pool_alarm_set(pool, &pool->idle_alarm, WF_NEVER - 1);
    return error ? error : wf_pool_alarm_set(pool, &pool->idle_alarm, WF_NEVER);
}

static int resolve_options(weft_pool *pool, const weft_pool_options *given) {
    weft_pool_options *options = &pool->options;
    if (given)
        *options = *given;
    if (options->threads == 0) {
        int count = wf_os_processors();
        options->threads = count > 0 ? (unsigned)count : 1;
        if (options->threads > WEFT_POOL_THREADS_MAX)
            options->threads = WEFT_POOL_THREADS_MAX;
        if (given && options->elastic && options->min_threads > options->threads)
            options->threads = options->min_threads;
    }
    if (options_are_wrong(options))
        return -EINVAL;
    strncpy(pool->name, options->name ? options->name : "weft-pool", sizeof pool->name - 1);
    options->name = pool->name;
    options->keep_alive = options->keep_alive ? options->keep_alive : POOL_KEEP_ALIVE_NS;
    options->grace = options->grace ? options->grace : POOL_GRACE_NS;
    options->events = options->events ? options->events : UINT32_MAX;
    if (!options->placement)
        options->placement = options->discipline == WEFT_POOL_DEQUE ? WEFT_PLACE_LOCAL : WEFT_PLACE_SHARED;
    pool->is_mortal = options->elastic;
    wf_store_relaxed(&pool->max_threads, options->threads);
    bool is_special =
        options->handler || options->callback || options->measure || options->store_results || options->work_timeout;
    pool->special = is_special ? WF_WORK_SPECIAL : 0;
    wf_store_relaxed(&pool->gate, options->suspended ? WF_GATE_SUSPENDED : 0);
    if (options->cpus) {
        size_t size = strlen(options->cpus) + 1;
        char *copy = wf_os_alloc(size);
        if (!copy)
            return -ENOMEM;
        memcpy(copy, options->cpus, size);
        options->cpus = copy;
    }
    return 0;
}

static bool options_are_wrong(const weft_pool_options *options) {
    bool is_custom = options->discipline == WEFT_POOL_CUSTOM;
    const weft_work_queue *custom = options->custom;
    return options->threads > WEFT_POOL_THREADS_MAX || (options->elastic && options->min_threads > options->threads) ||
           (unsigned)options->discipline > WEFT_POOL_CUSTOM || is_custom != (custom != NULL) ||
           (is_custom && (!custom->push || !custom->pop)) ||
           (unsigned)options->placement > WEFT_PLACE_IDLE_THEN_LOCAL ||
           (unsigned)options->rejection > WEFT_REJECT_BLOCK || (options->name && strlen(options->name) > 11) ||
           (unsigned)options->work_timeout_action > WEFT_TIMEOUT_TELL ||
           (unsigned)options->timeout_action > WEFT_TIMEOUT_TELL || options->work_timeout < 0 || options->timeout < 0 ||
           options->grace < 0 || options->tick < 0 || options->nice < NICE_HIGHEST || options->nice > NICE_LOWEST ||
           (options->stack_size && (options->stack_size < STACK_LEAST || options->stack_size > WF_STACK_MAX)) ||
           wf_os_cpus_check(options->cpus) != 0;
}

static void set_pool_state_locked(weft_pool *pool, enum wf_pool_state state) {
    WF_MOVE_CHECK(&wf_pool_machine, wf_load_relaxed(&pool->state), state);
    wf_store_seq_cst(&pool->state, state);
}

/* How many threads it begins with. */
static uint32_t wanted_now(const weft_pool *pool) {
    const weft_pool_options *options = &pool->options;
    return !options->elastic ? options->threads : options->min_threads ? options->min_threads : 1;
}

static int start_and_wait(weft_pool *pool) {
    wf_lock_take(&pool->lock);
    int error = start_locked(pool);
    while (!error && wf_load_relaxed(&pool->state) == WF_POOL_STARTING) {
        struct wf_waiter waiter;
        wf_wait_surely_locked(&waiter, &pool->lock, &pool->starters, "start of a pool", false);
        wf_lock_take(&pool->lock);
    }
    error = error ? error : pool->start_error;
    wf_lock_drop(&pool->lock);
    if (error && pool->has_thread) {
        wf_os_thread_join(&pool->thread);
        pool->has_thread = false;
    }
    return error;
}

static int start_locked(weft_pool *pool) {
    pool->start_error = 0;
    set_pool_state_locked(pool, WF_POOL_STARTING);
    int error = wf_os_thread_start(&pool->thread, pool->name, pool_main, pool);
    pool->has_thread = error == 0;
    if (error)
        set_pool_state_locked(pool, WF_POOL_OFF);
    return error;
}

/* The first worker's thread. */
static void pool_main(void *opaque) {
    weft_pool *pool = opaque;
    wf_lock_take(&pool->lock);
    const weft_pool_options *options = &pool->options;
    struct wf_runtime_plan plan = {
        .supply = &pool_supply,
        .supply_owner = pool,
        .name = pool->name,
        .cpus = options->cpus,
        .nice = options->nice,
        .wanted = wanted_now(pool),
        .resident = wanted_now(pool) - 1,
        .extra_keep_alive_ns = !options->elastic         ? WF_NEVER
                               : options->keep_alive > 0 ? options->keep_alive
                                                         : 1,
        .ready = pool_ready,
        .arg = pool,
    };
    weft_options runtime = {.workers = 1,
                            .stack_size = options->stack_size,
                            .no_deadlock_report = true,
                            .max_bound = LONG_WORKS_MAX,
                            .no_fault_report = true};
    wf_lock_drop(&pool->lock);
    int error = wf_runtime_run(&runtime, &plan, pool_keeper, pool);
    bool is_again = error && pool->is_mortal && has_to_do(pool);
    if (is_again) /* while nobody waits for this thread */
        wf_pool_tell_error(pool, WEFT_SOURCE_THREAD, WEFT_NO_WORK, NULL, error);
    wf_lock_take(&pool->lock);
    pool->start_error = error;
    wf_store_release(&pool->fibers, NULL);
    set_pool_state_locked(pool, WF_POOL_OFF);
    if (error && pool->is_mortal && has_to_do(pool)) /* again: a submit may have found it starting */
        wf_pool_alarm_set(pool, &pool->idle_alarm, wf_os_now() + START_AGAIN_NS);
    struct wf_waiter *told = wf_wait_take_all_locked(&pool->starters, 0, NULL);
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
}

/* Everything has started, and nothing runs yet. */
static void pool_ready(void *opaque, struct wf_fibers *fibers) {
    weft_pool *pool = opaque;
    fibers->on_stillborn = wf_runner_stillborn;
    wf_store_release(&pool->fibers, fibers);
}

static int pool_keeper(void *opaque) {
    weft_pool *pool = opaque;
    wf_lock_take(&pool->lock);
    set_pool_state_locked(pool,
                          WF_POOL_ON); /* not before there is a stack for this fiber; its worker then looks for works */
    struct wf_waiter *told = wf_wait_take_all_locked(&pool->starters, 0, NULL);
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
    wf_lock_take(&pool->lock);
    while (wf_load_relaxed(&pool->state) != WF_POOL_ENDING) {
        struct wf_waiter waiter;
        wf_wait_surely_locked(&waiter, &pool->lock, &pool->keepers, "end of the pool", false);
        wf_lock_take(&pool->lock);
    }
    wf_lock_drop(&pool->lock);
    return 0;
}

static struct wf_task *supply_take_owner(struct wf_worker *worker) {
    return wf_runner_take_owner(worker);
}

static bool supply_has_any(struct wf_engine *engine) {
    return wf_pool_has_any(engine->supply_owner);
}

static void supply_leaves(struct wf_processor *processor) {
    weft_pool *pool = processor->engine->supply_owner;
    struct wf_shard *shard = wf_load_relaxed(&pool->shards[processor->index]);
    if (shard)
        wf_shard_hand_in_owner(pool, shard);
    wf_fence_seq_cst(); /* pairs with wf_pool_notify: a submit may have taken this one for a thread that is there */
    wf_pool_notify_engine(pool, processor->engine);
}

/* ---- Mortal pools ---- */

void wf_pool_wake_up(weft_pool *pool) {
    int error = 0;
    wf_lock_take(&pool->lock);
    enum wf_pool_state state = wf_load_relaxed(&pool->state);
    if (state == WF_POOL_ON)
        wf_pool_notify_engine(pool, &wf_load_relaxed(&pool->fibers)->engine);
    else if (state == WF_POOL_OFF)
        error = wf_pool_start_again_locked(pool);
    wf_lock_drop(&pool->lock);
    if (error)
        wf_pool_tell_error(pool, WEFT_SOURCE_THREAD, WEFT_NO_WORK, NULL, error);
}

/* Its thread has ended, or never was. Without a thread we try again in a while: the works are there and stay. */
int wf_pool_start_again_locked(weft_pool *pool) {
    if (pool->has_thread)
        wf_os_thread_join(&pool->thread);
    pool->has_thread = false;
    int error = start_locked(pool);
    if (error)
        wf_pool_alarm_set(pool, &pool->idle_alarm, wf_os_now() + START_AGAIN_NS);
    return error;
}

void wf_pool_rest(weft_pool *pool) {
    int64_t keep_alive = pool->options.keep_alive;
    wf_lock_take(&pool->lock);
    pool->idle_again_ns = 0;
    bool may_end = pool->options.min_threads == 0 && !(wf_load_relaxed(&pool->gate) & WF_GATE_DISPOSED);
    if (may_end &&
        wf_pool_alarm_set(pool, &pool->idle_alarm, wf_time_add(wf_os_now(), keep_alive > 0 ? keep_alive : 0)) != 0)
        wf_report("a pool cannot end its threads: no memory, or no thread, for its clock");
    wf_lock_drop(&pool->lock);
}

static bool has_to_do(const weft_pool *pool) {
    return wf_pool_outstanding(wf_load_seq_cst(&pool->word)) > 0;
}

/* Besides the keeper: those that works have spawned, a runner that is about to end, a work that was given up. More can come only
 * from works and from fibers. */
static bool has_fibers(weft_pool *pool) {
    return wf_fibers_alive(wf_load_relaxed(&pool->fibers)) > 1;
}

/* On the clock's thread: the pool has been idle for long enough, or a start has failed. */
static void ring_idle(weft_pool *pool, struct wf_pool_alarm *alarm) {
    int error = 0;
    struct wf_waiter *told = NULL;
    wf_lock_take(&pool->lock);
    if (wf_load_relaxed(&pool->state) == WF_POOL_OFF && has_to_do(pool)) {
        error = wf_pool_start_again_locked(pool);
    } else if (wf_load_relaxed(&pool->state) == WF_POOL_ON && pool->options.min_threads == 0 && !has_to_do(pool) &&
               has_fibers(pool)) {
        int64_t again = pool->idle_again_ns < LOOK_AGAIN_MOST_NS ? 2 * pool->idle_again_ns : LOOK_AGAIN_MOST_NS;
        pool->idle_again_ns = again > START_AGAIN_NS ? again : START_AGAIN_NS;
        wf_pool_alarm_set(pool, alarm, wf_os_now() + pool->idle_again_ns);
    } else if (wf_load_relaxed(&pool->state) == WF_POOL_ON && pool->options.min_threads == 0 && !has_to_do(pool)) {
        told = end_locked(pool);
        WF_POINT("pool.ending");
        if (has_to_do(
                pool)) { /* somebody has counted a work, and may have seen us ON, or a worker found nothing to take */
            set_pool_state_locked(pool, WF_POOL_ON);
            wf_pool_notify_engine(pool, &wf_load_relaxed(&pool->fibers)->engine);
        }
    }
    bool is_ending = wf_load_relaxed(&pool->state) == WF_POOL_ENDING;
    struct wf_os_thread thread = pool->thread;
    if (is_ending)
        pool->has_thread = false; /* it is ours to join */
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
    if (is_ending) {
        wf_os_thread_join(&thread); /* its fibers have ended: nothing in there waits for us */
        wf_lock_take(&pool->lock);
        if (has_to_do(pool) && wf_load_relaxed(&pool->state) == WF_POOL_OFF)
            error = wf_pool_start_again_locked(pool);
        wf_lock_drop(&pool->lock);
    }
    if (error)
        wf_pool_tell_error(pool, WEFT_SOURCE_THREAD, WEFT_NO_WORK, NULL, error);
}

/* Whoever waits for the end is to be woken; it looks at the state again. */
static struct wf_waiter *end_locked(weft_pool *pool) {
    wf_lock_take(&pool->queue.lock);
    set_pool_state_locked(pool, WF_POOL_ENDING);
    wf_lock_drop(&pool->queue.lock);
    return wf_wait_take_all_locked(&pool->keepers, 0, NULL);
}

int wf_pool_start_long(weft_pool *pool, struct wf_work *work) {
    if (!pool->is_mortal || wf_shard_self(pool))
        return wf_runner_start_long(pool, work);
    wf_lock_take(&pool->lock);
    int error = wf_load_relaxed(&pool->state) == WF_POOL_ON ? wf_runner_start_long(pool, work) : -EAGAIN;
    wf_lock_drop(&pool->lock);
    return error;
}

/* ---- Size, gate, end ---- */

int weft_pool_set_threads(weft_pool *pool, unsigned min_threads, unsigned threads) {
    if (!pool || threads == 0 || threads > WEFT_POOL_THREADS_MAX || (pool->options.elastic && min_threads > threads))
        return -EINVAL;
    wf_lock_take(&pool->lock);
    int error = wf_load_relaxed(&pool->gate) & WF_GATE_DISPOSED ? -ESHUTDOWN : 0;
    if (!error) {
        pool->options.threads = threads;
        pool->options.min_threads = min_threads;
        wf_store_relaxed(&pool->max_threads, threads);
        if (wf_load_relaxed(&pool->state) == WF_POOL_ON) {
            struct wf_engine *engine = &wf_load_relaxed(&pool->fibers)->engine;
            uint32_t now = wf_engine_wanted_any(engine);
            uint32_t least = wanted_now(pool);
            wf_store_relaxed(&engine->resident, least - 1);
            error = wf_engine_resize_any(engine, now < least ? least : now > threads ? threads : now);
            if (pool->options.elastic)
                wf_pool_notify_engine(pool, engine); /* it may grow; each one that comes asks for the next */
        }
    }
    wf_lock_drop(&pool->lock);
    if (!error && pool->is_mortal && !has_to_do(pool))
        wf_pool_rest(pool); /* it may be without threads from now on */
    return error;
}

int weft_pool_start(weft_pool *pool) {
    if (!pool)
        return -EINVAL;
    wf_lock_take(&pool->lock);
    uint32_t gate = wf_load_relaxed(&pool->gate);
    if (!(gate & WF_GATE_DISPOSED))
        wf_store_relaxed(&pool->gate, gate & ~(uint32_t)WF_GATE_SUSPENDED);
    wf_lock_drop(&pool->lock);
    if (gate & WF_GATE_DISPOSED)
        return -ESHUTDOWN;
    if (!(gate & WF_GATE_SUSPENDED))
        return -EALREADY;
    wf_pool_open_gate(pool);
    return 0;
}

int weft_pool_hold(weft_pool *pool) {
    bool is_first = false;
    if (!pool)
        return -EINVAL;
    wf_lock_take(&pool->lock);
    int error = wf_load_relaxed(&pool->gate) & WF_GATE_DISPOSED ? -ESHUTDOWN
                : !wf_pool_count_in(pool, 1, &is_first)         ? -EAGAIN
                                                                : 0;
    if (!error)
        wf_fetch_add_relaxed(&pool->holds, 1);
    wf_lock_drop(&pool->lock);
    if (is_first)
        wf_pool_begin(pool);
    return error;
}

int weft_pool_release(weft_pool *pool) {
    if (!pool)
        return -EINVAL;
    wf_lock_take(&pool->lock);
    bool is_held = wf_load_relaxed(&pool->holds) > 0;
    if (is_held)
        wf_fetch_sub_relaxed(&pool->holds, 1);
    wf_lock_drop(&pool->lock);
    if (is_held)
        wf_pool_count_out(pool, 1);
    return is_held ? 0 : -EINVAL;
}

/* Under both locks: the short way of a submit looks at it under the queue's. */
static void shut_gate(weft_pool *pool, uint32_t gate) {
    wf_lock_take(&pool->queue.lock);
    wf_store_relaxed(&pool->gate, wf_load_relaxed(&pool->gate) | gate);
    wf_lock_drop(&pool->queue.lock);
    wf_fence_seq_cst(); /* pairs with that of a local submit, which looks at the gate after it has queued its work */
}

int weft_pool_drain(weft_pool *pool, weft_time deadline) {
    const struct wf_runner *runner = wf_runner_self();
    if (!pool)
        return -EINVAL;
    if (runner && runner->pool == pool)
        return -EPERM;
    wf_lock_take(&pool->lock);
    shut_gate(pool, WF_GATE_DRAINING);
    wf_lock_drop(&pool->lock);
    return weft_pool_wait(pool, deadline);
}

int weft_pool_dispose(weft_pool *pool) {
    const struct wf_runner *runner = wf_runner_self();
    if (!pool)
        return -EINVAL;
    if (runner && runner->pool == pool)
        return -EDEADLK;
    wf_lock_take(&pool->lock);
    shut_gate(pool, WF_GATE_DISPOSED);
    uint32_t holds = wf_load_relaxed(&pool->holds);
    wf_store_relaxed(&pool->holds, 0);
    wf_lock_drop(&pool->lock);
    wf_lock_take(&pool->queue.lock);
    struct wf_waiter *told = wf_wait_take_all_locked(&pool->queue.room_waiters, 0, NULL);
    wf_lock_drop(&pool->queue.lock);
    wf_wait_wake_chain(told);
    if (holds)
        wf_pool_count_out(pool, holds);
    weft_pool_control_all(pool, WEFT_FORCE_STOP);
    weft_pool_control_all(pool, WEFT_CANCEL); /* what waits for the gate */
    wf_pool_wake_pausers(pool);
    wf_cancel_shield(); /* what ends a pool is not cut short */
    int error = wf_pool_wait_idle(pool, WEFT_NEVER);
    wf_cancel_unshield();
    uint32_t inside = 0;
    wf_work_each(pool, count_inside, &inside);
    return error ? error : inside ? -EBUSY : 0;
}

static bool count_inside(weft_pool *pool, struct wf_work *work, uint64_t word, void *opaque) {
    (void)pool;
    (void)work;
    *(uint32_t *)opaque += (word & WF_WORK_INSIDE) != 0;
    return true;
}

void weft_pool_free(weft_pool *pool) {
    if (!pool)
        return;
    const struct wf_runner *runner = wf_runner_self();
    if (runner && runner->pool == pool)
        wf_fatal("a pool cannot be freed by one of its own works");
    weft_pool_dispose(pool);
    end_engine(pool);
    wf_clock_stop(pool);
    wf_lock_take(&pool->lock);
    set_pool_state_locked(pool, WF_POOL_GONE);
    wf_lock_drop(&pool->lock);
    wf_groups_term(pool);
    wf_names_term(pool);
    wf_shards_term(pool);
    wf_works_term(pool);
    wf_os_free((void *)pool->options.cpus);
    wf_os_free(pool);
}

/* Nothing is submitted any more; the clock may be ending or starting it. Works that were given up keep it waiting. */
static void end_engine(weft_pool *pool) {
    wf_pool_alarm_clear(pool, &pool->idle_alarm);
    wf_lock_take(&pool->lock);
    struct wf_waiter *told = wf_load_relaxed(&pool->state) == WF_POOL_ON ? end_locked(pool) : NULL;
    wf_lock_drop(&pool->lock);
    wf_wait_wake_chain(told);
    wf_lock_take(&pool->lock);
    while (wf_load_relaxed(&pool->state) != WF_POOL_OFF) {
        struct wf_waiter waiter;
        wf_wait_surely_locked(&waiter, &pool->lock, &pool->starters, "end of a pool", false);
        wf_lock_take(&pool->lock);
        if (wf_load_relaxed(&pool->state) == WF_POOL_ON) { /* it was still starting */
            told = end_locked(pool);
            wf_lock_drop(&pool->lock);
            wf_wait_wake_chain(told);
            wf_lock_take(&pool->lock);
        }
    }
    bool has_thread = pool->has_thread;
    pool->has_thread = false;
    wf_lock_drop(&pool->lock);
    if (has_thread)
        wf_os_thread_join(&pool->thread);
}
