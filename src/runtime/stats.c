/* SPDX-License-Identifier: MIT
 *
 * runtime/stats.c - sums of what the workers have counted.
 *
 * Every counter has one writer; a reader adds them up without stopping anybody. So each is exact, and all together are a
 * picture with a short exposure time.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "runtime/runtime.h"

static void add_processor(weft_stats *stats, struct wf_fiber_processor *processor);
static void add_stacks(weft_stats *stats, struct wf_stacks *stacks);
static uint64_t count_regions(struct wf_crew *crew);

int weft_get_stats(weft_runtime *runtime, weft_stats *out) {
    if (!out)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter_this((struct wf_fibers *)runtime);
    if (!fibers)
        return -ESTALE;
    struct wf_engine *engine = &fibers->engine;
    weft_stats stats;
    memset(&stats, 0, sizeof stats);
    /* What ends is added up before what begins: a level can be too high by what happens meanwhile, never below zero. */
    uint64_t recycled = wf_load_relaxed(&fibers->recycled_outside);
    uint32_t limit = wf_engine_limit(engine);
    stats.fibers_ended = wf_load_relaxed(&fibers->ended_outside);
    for (uint32_t i = 0; i < limit; i++) {
        struct wf_fiber_processor *processor = (struct wf_fiber_processor *)engine->processors[i];
        recycled += wf_load_relaxed(&processor->recycled);
        stats.fibers_ended += wf_load_relaxed(&processor->ended);
    }
    for (uint32_t i = 0; i < limit; i++) {
        struct wf_fiber_processor *processor = (struct wf_fiber_processor *)engine->processors[i];
        add_processor(&stats, processor);
    }
    stats.fibers_started += wf_load_relaxed(&fibers->started_outside);
    stats.fibers_alive = stats.fibers_started - stats.fibers_ended;
    stats.records_held = stats.fibers_started - recycled;
    stats.panics += wf_load_relaxed(&fibers->panics_outside);
    stats.injected += wf_load_relaxed(&engine->injected);
    stats.worker_wakes = wf_load_relaxed(&engine->worker_wakes);
    stats.workers = engine->count;
    stats.workers_idle = wf_idle_parked_any(&engine->idle);
    add_stacks(&stats, &fibers->stacks);
    stats.guard = wf_stacks_guard_name(&fibers->stacks);
    stats.poller = "epoll";
    wf_runtimes_leave(fibers);
    *out = stats;
    return 0;
}

static void add_processor(weft_stats *stats, struct wf_fiber_processor *processor) {
    struct wf_counters *counters = &processor->base.counters;
    struct wf_timers *timers = &processor->base.timers;
    stats->fibers_started += wf_load_relaxed(&processor->started);
    stats->panics += wf_load_relaxed(&processor->panics);
    stats->switches += wf_load_relaxed(&counters->switches);
    stats->parks += wf_load_relaxed(&counters->parks);
    stats->wakes += wf_load_relaxed(&counters->wakes);
    stats->steals += wf_load_relaxed(&counters->steals);
    stats->stolen += wf_load_relaxed(&counters->stolen);
    stats->injected += wf_load_relaxed(&counters->injected);
    stats->worker_parks += wf_load_relaxed(&counters->worker_parks);
    stats->polls += wf_load_relaxed(&counters->polls);
    stats->timers_armed += wf_load_relaxed(&timers->armed);
    stats->timers_fired += wf_load_relaxed(&timers->fired);
    stats->timers_cancelled += wf_load_relaxed(&timers->cancelled);
}

static void add_stacks(weft_stats *stats, struct wf_stacks *stacks) {
    uint64_t out = 0;
    for (int i = 0; i < WF_STACK_CLASSES; i++) {
        struct wf_stack_class *class = &stacks->classes[i];
        wf_lock_take(&class->lock);
        stats->stacks_warm += class->warm_count;
        out += class->warm_count + class->cold_count;
        wf_lock_drop(&class->lock);
    }
    stats->stacks_mapped = wf_load_relaxed(&stacks->mapped);
    stats->stacks_in_use = stats->stacks_mapped - out; /* with those that a worker keeps hot */
    stats->stacks_trimmed = wf_load_relaxed(&stacks->trimmed);
}

int weft_get_spread(weft_runtime *runtime, uint64_t *switches, unsigned size) {
    if (!switches && size)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter_this((struct wf_fibers *)runtime);
    if (!fibers)
        return -ESTALE;
    unsigned count = fibers->engine.count;
    WF_ASSERT(count > 0);
    for (unsigned i = 0; i < count && i < size; i++)
        switches[i] = 0;
    for (unsigned i = 0, limit = wf_engine_limit(&fibers->engine); i < limit; i++)
        if (i % count < size)
            switches[i % count] += wf_load_relaxed(&fibers->engine.processors[i]->counters.switches);
    wf_runtimes_leave(fibers);
    return (int)count;
}

int weft_get_thread_stats(weft_runtime *runtime, weft_thread_stats *out) {
    if (!out)
        return -EINVAL;
    struct wf_fibers *fibers = wf_runtimes_enter_this((struct wf_fibers *)runtime);
    if (!fibers)
        return -ESTALE;
    struct wf_engine *engine = &fibers->engine;
    struct wf_crew *crew = &engine->crew;
    struct wf_binding *binding = &fibers->binding;
    uint32_t monitors = !engine->replay.is_on;
    *out = (weft_thread_stats){
        .threads = wf_load_relaxed(&crew->threads) + monitors,
        .threads_peak = wf_load_relaxed(&crew->peak) + monitors,
        .spare = wf_load_relaxed(&crew->spares),
        .births = wf_load_relaxed(&crew->births),
        .deaths = wf_load_relaxed(&crew->deaths),
        .denied = wf_load_relaxed(&crew->denied),
        .blocking = count_regions(crew),
        .takeovers = wf_load_relaxed(&crew->takeovers),
        .blocked_ns = wf_load_relaxed(&crew->alone_ns),
        .hogs = wf_load_relaxed(&engine->monitor.hogs),
        .hogs_now = wf_load_relaxed(&engine->monitor.detached),
        .hog_ns = wf_load_relaxed(&engine->monitor.hog_ns),
        .bound = wf_load_relaxed(&binding->bound),
        .bound_peak = wf_load_relaxed(&binding->peak),
        .bindings = wf_load_relaxed(&binding->bindings),
        .predicted = wf_load_relaxed(&binding->predicted),
        .bound_ns = wf_load_relaxed(&binding->bound_ns),
        .fallbacks = wf_load_relaxed(&binding->fallbacks),
        .bound_parks = wf_load_relaxed(&binding->parks),
        .bound_spins = wf_load_relaxed(&binding->spins),
    };
    wf_runtimes_leave(fibers);
    return 0;
}

static uint64_t count_regions(struct wf_crew *crew) {
    uint64_t sum = 0;
    wf_lock_take(&crew->lock);
    for (struct wf_worker *worker = crew->all; worker; worker = worker->next_all)
        sum += wf_load_relaxed(&worker->regions);
    wf_lock_drop(&crew->lock);
    return sum;
}
