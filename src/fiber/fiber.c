/* SPDX-License-Identifier: MIT
 *
 * fiber/fiber.c - the life of fibers: spawn, end, and the whole set of them.
 *
 * Counting without a shared counter: every processor counts what it spawned and what ended on it. The difference of the
 * sums is exact when nothing moves, which is when it decides something: the last worker that parks in a draining runtime
 * asks whether anything is alive (is_done).
 *
 * The end of a fiber, under its record's lock: whoever waits gets the result and is woken, and the record is freed at
 * once when somebody waited or nobody ever will. Otherwise it stays, ended, until it is joined.
 */
#include "fiber/fiber.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "os/signal.h"
#include "os/thread.h"

static int worker_begin(struct wf_worker *base);
static void worker_end(struct wf_worker *base);
static bool fibers_are_done(struct wf_engine *engine);
static void drop_fibers(struct wf_fibers *fibers);
static int64_t worker_rest(struct wf_worker *base);
static void fill_record(struct wf_fiber *fiber, weft_fn entry, void *arg, uint64_t parent, uint16_t route,
                        struct wf_attributes *attributes);
static struct wf_fiber *take_record(struct wf_fibers *fibers, int *error);
static void send_off(struct wf_fibers *fibers, struct wf_fiber *fiber, const weft_spawn_options *options,
                     struct wf_worker *heir);
static int check_options(struct wf_fibers *fibers, const weft_spawn_options *options);
static int make_attributes(const weft_spawn_options *options, struct wf_attributes **out);

static int64_t fiber_due(const struct wf_task *task);
static void processor_begin(struct wf_processor *base);
static void processor_leaves(struct wf_processor *base);

static const struct wf_engine_policy fiber_policy = {
    .worker_size = sizeof(struct wf_fiber_worker),
    .processor_size = sizeof(struct wf_fiber_processor),
    .worker_begin = worker_begin,
    .worker_end = worker_end,
    .worker_term = wf_alone_term,
    .run = wf_fiber_run,
    .is_done = fibers_are_done,
    .rest = worker_rest,
    .due = fiber_due,
    .wake_alone = wf_alone_wake,
    .is_at_task = wf_hog_is_at_task,
    .on_hog = wf_hog_note,
    .on_hog_over = wf_hog_over,
    .processor_begin = processor_begin,
    .processor_leaves = processor_leaves,
};

int wf_fibers_init(struct wf_fibers *fibers, uint32_t workers, size_t stack_size, uint32_t max, uint64_t seed,
                   uint32_t runtime) {
    fibers->runtime = runtime;
    fibers->max = max;
    int error = wf_stacks_init(&fibers->stacks, stack_size);
    if (error)
        return error;
    error = wf_records_init(fibers);
    if (error)
        goto term_stacks;
    fibers->depths = wf_os_alloc(WF_DEPTH_SLOTS * sizeof *fibers->depths);
    if (!fibers->depths) {
        error = -ENOMEM;
        goto term_records;
    }
    error = wf_engine_init(&fibers->engine, &fiber_policy, fibers, workers, seed, "weft");
    if (error)
        goto free_depths;
    wf_records_share(fibers);
    return 0;

free_depths:
    wf_os_free(fibers->depths);
term_records:
    wf_records_term(fibers);
term_stacks:
    wf_stacks_term(&fibers->stacks);
    return error;
}

void wf_fibers_term(struct wf_fibers *fibers) {
    if (wf_fibers_alive(fibers) > 0)
        drop_fibers(fibers);
    wf_engine_term(&fibers->engine);
    wf_os_free(fibers->depths);
    wf_records_term(fibers);
    wf_stacks_term(&fibers->stacks);
}

/* What fibers hold that will not run again. Their stacks are still there; nothing on them is called. */
static void drop_fibers(struct wf_fibers *fibers) {
    for (uint32_t i = 0; i < fibers->next_index; i++) {
        struct wf_fiber *fiber = wf_record_at(fibers, i);
        enum wf_fiber_state state = wf_load_relaxed(&fiber->task.state);
        if (state == WF_FIBER_NEW) {
            wf_os_free(wf_fiber_attributes(fiber));
        } else if (state != WF_FIBER_FREE && state != WF_FIBER_ENDED) {
            struct wf_stack *stack = wf_fiber_stack(fiber);
            wf_try_drop(stack->trying);
            while (stack->leavers) {
                struct wf_leaver *leaver = stack->leavers;
                stack->leavers = leaver->next;
                leaver->drop(leaver);
            }
            wf_os_free(stack->locals);
            wf_os_free(stack->attributes);
        }
    }
}

uint64_t wf_fibers_alive(struct wf_fibers *fibers) {
    /* Ended before started: a sum that moves meanwhile can be too large but never below zero. */
    uint64_t ended = wf_load_relaxed(&fibers->ended_outside);
    for (uint32_t i = 0, limit = wf_engine_limit(&fibers->engine); i < limit; i++)
        ended += wf_load_relaxed(&((struct wf_fiber_processor *)fibers->engine.processors[i])->ended);
    uint64_t started = wf_load_relaxed(&fibers->started_outside);
    for (uint32_t i = 0, limit = wf_engine_limit(&fibers->engine); i < limit; i++)
        started += wf_load_relaxed(&((struct wf_fiber_processor *)fibers->engine.processors[i])->started);
    return started - ended;
}

static int worker_begin(struct wf_worker *base) {
    struct wf_fiber_worker *worker = (struct wf_fiber_worker *)base;
    worker->fibers = wf_fibers_of(base->engine);
    worker->errno_location = wf_os_errno_location();
    worker->cxx_location = wf_cxx_state_location();
    worker->fp_control = wf_arch_fp_control_get();
    void *low = NULL;
    size_t size = 0;
    int error = wf_context_wants_bounds() ? wf_os_thread_stack(&low, &size) : 0;
    if (error)
        return error;
    error = wf_os_map(WF_ALTSTACK_SIZE, &worker->altstack); /* hardly ever touched */
    if (error)
        return error;
    error = wf_os_altstack_install(worker->altstack, &worker->has_altstack);
    if (error) {
        wf_os_unmap(worker->altstack, WF_ALTSTACK_SIZE);
        return error;
    }
    wf_context_adopt(&worker->scheduler, low, size);
    wf_os_thread_exact_timers();
    if (worker->fibers->is_pool) /* works can be stopped by force */
        wf_os_interrupt_allow();
    return 0;
}

static void worker_end(struct wf_worker *base) {
    struct wf_fiber_worker *worker = (struct wf_fiber_worker *)base;
    if (worker->has_altstack)
        wf_os_altstack_remove();
    wf_os_unmap(worker->altstack, WF_ALTSTACK_SIZE);
    worker->has_altstack = false;
}

static bool fibers_are_done(struct wf_engine *engine) {
    struct wf_fibers *fibers = wf_fibers_of(engine);
    return wf_fibers_alive(fibers) == 0 && wf_runtimes_shut(fibers);
}

static int64_t worker_rest(struct wf_worker *base) {
    struct wf_fiber_processor *processor = (struct wf_fiber_processor *)base->processor;
    struct wf_fibers *fibers = wf_fibers_of(base->engine);
    int64_t now = wf_os_now();
    int64_t again = wf_stacks_trim(&fibers->stacks, &processor->stacks, now);
    int64_t watch = fibers->on_rest ? fibers->on_rest((struct wf_fiber_worker *)base, now) : WF_NEVER;
    return watch < again ? watch : again;
}

/* Regular ones get their share of records later. In a pool extra ones are as good as regular: they keep as many. */
static void processor_begin(struct wf_processor *base) {
    struct wf_engine *engine = base->engine;
    if (base->index >= engine->count && wf_fibers_of(engine)->is_pool)
        ((struct wf_fiber_processor *)base)->free_max = ((struct wf_fiber_processor *)engine->processors[0])->free_max;
}

/* Nobody else would find the stacks that it keeps. */
static void processor_leaves(struct wf_processor *base) {
    struct wf_stacks *stacks = &wf_fibers_of(base->engine)->stacks;
    struct wf_stack_cache *cache = &((struct wf_fiber_processor *)base)->stacks;
    while (cache->hot) {
        struct wf_stack *stack = cache->hot;
        cache->hot = stack->next;
        cache->count--;
        wf_stack_give_slow(stacks, NULL, stack);
    }
}

/* The caller is a fiber of this runtime. */
int wf_fiber_spawn_here(struct wf_fiber_worker *worker, weft_fn entry, void *arg, uint64_t flags, weft_fiber *out) {
    struct wf_fibers *fibers = worker->fibers;
    struct wf_fiber_processor *processor = (struct wf_fiber_processor *)worker->base.processor;
    int error = 0;
    if (WF_UNLIKELY(!processor || wf_load_relaxed(&fibers->foreign_entries)))
        return wf_fiber_spawn(fibers, NULL, entry, arg, flags & WF_FLAG_DETACHED, out);
    struct wf_fiber *fiber = wf_record_take(fibers, processor, &error);
    if (WF_UNLIKELY(!fiber))
        return error;
    struct wf_fiber *parent = wf_worker_fiber(worker);
    uint64_t parent_id = (uint64_t)wf_load_relaxed(&parent->task.version) << WF_INDEX_BITS | parent->index;
    fill_record(fiber, entry, arg, parent_id | flags, 0, NULL);
    if (out)
        *out = wf_fiber_id(fibers, fiber);
    wf_context_release(fiber);
    wf_count_owner(&processor->started, 1);
    wf_processor_ready_owner(&processor->base, &fiber->task, true);
    return 0;
}

struct wf_fiber *wf_fiber_make_owner(struct wf_fiber_worker *worker, weft_fn entry, void *arg, uint64_t flags,
                                     int *error) {
    struct wf_fiber_processor *processor = (struct wf_fiber_processor *)worker->base.processor;
    WF_ASSERT(processor);
    struct wf_fiber *fiber = wf_record_take(worker->fibers, processor, error);
    if (WF_UNLIKELY(!fiber))
        return NULL;
    fill_record(fiber, entry, arg, flags, 0, NULL);
    wf_context_release(fiber);
    wf_count_owner(&processor->started, 1);
    return fiber;
}

/* The caller is a fiber of this runtime, or any thread that keeps it from ending. options may be NULL. */
int wf_fiber_spawn(struct wf_fibers *fibers, const weft_spawn_options *options, weft_fn entry, void *arg, bool detached,
                   weft_fiber *out) {
    struct wf_worker *heir = NULL; /* its thread, if it begins bound */
    struct wf_attributes *attributes = NULL;
    int error = options ? check_options(fibers, options) : 0;
    if (!error && options)
        error = make_attributes(options, &attributes);
    if (error)
        return error;
    bool is_asked = attributes && attributes->is_bound;
    bool has_home = options && options->home; /* then what its function usually does counts for nothing */
    if (is_asked || (!has_home && wf_load_relaxed(&fibers->foreign_entries) && wf_depth_is_foreign(fibers, entry)))
        heir = wf_alone_reserve(fibers);
    struct wf_fiber *fiber = NULL;
    if (is_asked && !heir && !fibers->engine.replay.is_on)
        error = -EAGAIN;
    else
        fiber = take_record(fibers, &error);
    if (!fiber) {
        if (heir) {
            wf_crew_let_go(heir);
            wf_alone_cannot_start(fibers);
        }
        wf_os_free(attributes);
        return error;
    }
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_fiber *parent = worker && worker->fibers == fibers ? wf_worker_fiber(worker) : NULL;
    uint64_t parent_id = 0;
    if (parent)
        parent_id = (uint64_t)wf_load_relaxed(&parent->task.version) << WF_INDEX_BITS | parent->index;
    uint16_t route = options ? wf_lane_of(options->priority) : 0;
    if (options && options->due)
        route = WF_LANE_URGENT;
    fill_record(fiber, entry, arg, parent_id | (detached ? WF_FLAG_DETACHED : 0), route, attributes);
    if (out)
        *out = wf_fiber_id(fibers, fiber);
    wf_context_release(fiber);
    send_off(fibers, fiber, options, heir);
    return 0;
}

/* Nobody else touches a task that is made ready or waits in a queue. */
static int64_t fiber_due(const struct wf_task *task) {
    const struct wf_fiber *fiber = (const struct wf_fiber *)(const void *)task;
    return wf_load_relaxed(&task->state) == WF_FIBER_NEW ? wf_fiber_attributes(fiber)->due : wf_fiber_stack(fiber)->due;
}

static struct wf_fiber *take_record(struct wf_fibers *fibers, int *error) {
    struct wf_fiber_processor *processor = wf_processor_self(fibers);
    return processor ? wf_record_take(fibers, processor, error) : wf_record_take_slow(fibers, NULL, error);
}

/* A new fiber to where it begins. */
static void send_off(struct wf_fibers *fibers, struct wf_fiber *fiber, const weft_spawn_options *options,
                     struct wf_worker *heir) {
    struct wf_fiber_processor *processor = wf_processor_self(fibers);
    unsigned home = options ? options->home : 0;
    if (processor)
        wf_count_owner(&processor->started, 1);
    else
        wf_fetch_add_relaxed(&fibers->started_outside, 1);
    if (heir) {
        wf_task_set_pinned(&fiber->task, WF_TASK_ALONE);
        wf_crew_give_task(heir, &fiber->task);
        return;
    }
    if (home && options->pinned)
        wf_task_set_pinned(&fiber->task, home);
    wf_store_relaxed(&fiber->task.home, (uint8_t)(home <= UINT8_MAX ? home : 0));
    if (processor && (home == 0 || home == processor->base.index + 1))
        wf_processor_ready_owner(&processor->base, &fiber->task, true);
    else
        wf_engine_submit_any(&fibers->engine, &fiber->task);
}

static int check_options(struct wf_fibers *fibers, const weft_spawn_options *options) {
    bool is_bound = options->bound || options->real_time;
    if (options->home > fibers->engine.count || options->real_time > 99 || (options->pinned && !options->home) ||
        (is_bound && options->home))
        return -EINVAL;
    return 0;
}

static inline void fill_record(struct wf_fiber *fiber, weft_fn entry, void *arg, uint64_t parent, uint16_t route,
                               struct wf_attributes *attributes) {
    wf_store_relaxed(&fiber->task.route, route);
    wf_store_relaxed(&fiber->task.home, 0);
    wf_store_relaxed(&fiber->entry, entry);
    fiber->value = arg;
    WF_ASSERT(!fiber->waiters); /* nobody waits for the end of a record that is free */
    fiber->parent = parent;
    /* The monitor has this record from the fiber before, and looks for a name whatever its state is. */
    if (attributes)
        wf_store_release(&fiber->place, (uintptr_t)attributes + WF_PLACE_NEW); /* pairs with wf_fiber_copy_name */
    else
        wf_store_relaxed(&fiber->place, WF_PLACE_NEW);
    WF_MOVE_CHECK(&wf_fiber_machine, wf_load_relaxed(&fiber->task.state), WF_FIBER_NEW);
    wf_store_release(&fiber->task.state, WF_FIBER_NEW); /* pairs with weft_each_fiber, which finds it by itself */
}

static int make_attributes(const weft_spawn_options *options, struct wf_attributes **out) {
    bool is_bound = options->bound || options->real_time;
    if (!options->name && !options->stack_size && !is_bound && !options->pinned && !options->due)
        return 0;
    struct wf_attributes *attributes = wf_os_alloc(sizeof *attributes);
    if (!attributes)
        return -ENOMEM;
    attributes->stack_size = options->stack_size;
    attributes->real_time = options->real_time;
    attributes->due = options->due;
    attributes->is_bound = is_bound;
    attributes->is_pinned = options->pinned;
    if (options->name)
        strncpy(attributes->name, options->name, sizeof attributes->name - 1);
    *out = attributes;
    return 0;
}

/* On the fiber's worker, at its very end; or instead of its beginning, when there is no stack for it. */
void wf_fiber_end(struct wf_fiber_worker *worker, struct wf_fiber *fiber, void *result, int error) {
    struct wf_fibers *fibers = worker->fibers;
    struct wf_fiber_processor *processor = (struct wf_fiber_processor *)worker->base.processor;
    if (WF_UNLIKELY(error == -ENOMEM)) {
        wf_report("a fiber could not start: no memory for its stack");
        if (fibers->on_stillborn)
            fibers->on_stillborn(worker, wf_load_relaxed(&fiber->entry), fiber->value);
    }
    wf_context_release(fiber);
    wf_context_release(fibers); /* weft_run returns after the end of every fiber */
    WF_POINT("end.before_lock");
    if (WF_LIKELY(processor)) /* before the joiner knows: what it counts then includes this one */
        wf_count_owner(&processor->ended, 1);
    else
        wf_fetch_add_release(&fibers->ended_outside, 1);
    wf_lock_take(&fiber->lock);
    uintptr_t place = wf_load_relaxed(&fiber->place);
    struct wf_attributes *attributes =
        place & WF_PLACE_NEW ? wf_fiber_attributes(fiber) : wf_fiber_stack(fiber)->attributes;
    if (WF_UNLIKELY(attributes))
        wf_os_free(attributes);
    wf_store_relaxed(&fiber->place, WF_PLACE_NEW);
    struct wf_waiter *told = fiber->waiters ? fibers->on_end(fiber, result, error) : NULL;
    bool is_first = fiber->parent & WF_FLAG_FIRST;
    if (told || (fiber->parent & WF_FLAG_DETACHED)) {
        if (WF_LIKELY(processor)) /* as wf_record_count_freed, on the spot: before anybody is told */
            wf_count_owner(&processor->recycled, 1);
        else
            wf_fetch_add_relaxed(&fibers->recycled_outside, 1);
        wf_record_free_locked(fibers, fiber);
        if (told) {
            worker->is_telling = true;
            fibers->on_end_tell(told);
            worker->is_telling = false;
        }
    } else {
        fiber->value = result;
        if (error)
            fiber->parent |= error == -ENOMEM ? WF_FLAG_NO_STACK : WF_FLAG_PANICKED;
        wf_fiber_set_state(fiber, WF_FIBER_ENDED);
        wf_lock_drop(&fiber->lock);
    }
    if (WF_UNLIKELY(is_first))
        fibers->on_first_end(fibers, result, error);
}
