/* SPDX-License-Identifier: MIT
 *
 * runtime/runtime.c - start, run, stop.
 *
 * Start: options, a number in the table of runtimes, fibers (stacks, records, engine), fault handlers, then the first
 * fiber is spawned and the engine runs on the calling thread. Stop is the reverse. Each step that fails undoes those
 * before it.
 *
 * The end comes when the first fiber has ended and, unless it abandons the others, nothing is alive: the last worker that
 * parks finds that out (sched/sleep.c). Then plain threads that are inside leave, and only then anything is freed.
 */
#include "runtime/runtime.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "ffi/call.h"
#include "io/fd.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "os/signal.h"
#include "os/thread.h"
#include "sync/timer.h"
#include "wait/join.h"
#include "wait/wait.h"

static int run_with(const weft_options *options, const struct wf_runtime_plan *plan, int (*first)(void *arg),
                    void *arg);
static int runtime_start(weft_runtime *runtime, const weft_options *options);
static int check_plan(const weft_options *options, const struct wf_runtime_plan *plan);
static void follow_plan(weft_runtime *runtime);
static void say_ready(struct wf_engine *engine);
static void runtime_stop(weft_runtime *runtime);
static void *run_first(void *opaque);
static void first_ended(struct wf_fibers *fibers, void *result, int error);

int weft_run(const weft_options *options, int (*first)(void *arg), void *arg) {
    return wf_runtime_run(options, NULL, first, arg);
}

int wf_runtime_run(const weft_options *given, const struct wf_runtime_plan *plan, int (*first)(void *arg), void *arg) {
    weft_options options;
    if (!first)
        return -EINVAL;
    if (wf_worker_self())
        return -EDEADLK;
    int error = wf_options_resolve(given, plan != NULL, &options);
    if (!error && plan)
        error = check_plan(&options, plan);
    if (error)
        return error;
    if (options.replay_seed && (error = wf_os_clock_replay_begin()) != 0)
        return error;
    int outcome = run_with(&options, plan, first, arg);
    if (options.replay_seed)
        wf_os_clock_replay_end();
    return outcome;
}

static int check_plan(const weft_options *options, const struct wf_runtime_plan *plan) {
    uint32_t wanted = plan->wanted ? plan->wanted : options->workers;
    if (options->replay_seed || wanted < options->workers || wanted - options->workers > WF_EXTRA_MAX ||
        plan->nice < -20 || plan->nice > 19 || plan->extra_keep_alive_ns < 0 || wf_os_cpus_check(plan->cpus) != 0)
        return -EINVAL;
    return 0;
}

static int run_with(const weft_options *options, const struct wf_runtime_plan *plan, int (*first)(void *arg),
                    void *arg) {
    weft_runtime *runtime = wf_os_alloc_aligned(64, sizeof *runtime);
    if (!runtime)
        return -ENOMEM;
    runtime->plan = plan;
    runtime->first = first;
    runtime->first_arg = arg;
    int error = runtime_start(runtime, options);
    if (!error) {
        error = wf_engine_run(&runtime->fibers.engine);
        wf_context_acquire(&runtime->fibers);
        runtime_stop(runtime);
    }
    int outcome = error ? error : runtime->outcome;
    wf_os_free(runtime);
    return outcome;
}

static int runtime_start(weft_runtime *runtime, const weft_options *options) {
    struct wf_fibers *fibers = &runtime->fibers;
    int error = wf_fork_prepare();
    if (error)
        return error;
    error = wf_runtimes_add(fibers);
    if (error)
        return error;
    error = wf_fibers_init(fibers, options->workers, options->stack_size, options->max_fibers, options->seed,
                           fibers->runtime);
    if (error == -EMFILE || error == -ENFILE || error == -ENOSPC) /* no descriptor, or no room for it in the poller */
        error = -EAGAIN;
    if (error)
        goto remove;
    fibers->engine.crew.max = options->max_threads;
    fibers->engine.crew.keep_alive_ns = options->keep_alive;
    fibers->binding.max = options->max_bound;
    fibers->binding.fallback = options->bound_fallback;
    fibers->on_unbound = wf_ffi_unbound;
    fibers->is_quiet = options->quiet;
    fibers->abandons = options->abandon;
    fibers->fault_panics = options->fault_panics;
    fibers->checks = options->abandon ? WF_CHECK_DROP : 0;
    if (options->replay_seed) {
        fibers->checks |= WF_CHECK_PERTURB;
        wf_replay_start(&fibers->engine);
    }
    fibers->on_rest = options->no_deadlock_report ? NULL : wf_deadlock_rest;
    if (runtime->plan)
        follow_plan(runtime);
    fibers->on_end = wf_join_take;
    fibers->on_end_tell = wf_join_tell;
    runtime->handles_faults = !options->no_fault_report || options->fault_panics;
    if (runtime->handles_faults) {
        error = wf_os_faults_install(wf_fiber_on_fault, options->fault_panics);
        if (error)
            goto term;
    }
    weft_fiber first;
    error = wf_fiber_spawn(fibers, NULL, run_first, runtime, true, &first);
    if (error)
        goto remove_faults;
    wf_record_of(fibers, first)->parent |= WF_FLAG_FIRST;
    fibers->on_first_end = first_ended;
    wf_runtimes_open(fibers);
    return 0;

remove_faults:
    if (runtime->handles_faults)
        wf_os_faults_remove(options->fault_panics);
term:
    wf_fibers_term(fibers);
remove:
    wf_runtimes_remove(fibers);
    return error;
}

static void follow_plan(weft_runtime *runtime) {
    const struct wf_runtime_plan *plan = runtime->plan;
    struct wf_fibers *fibers = &runtime->fibers;
    struct wf_engine *engine = &fibers->engine;
    uint32_t granted = plan->wanted ? plan->wanted - engine->count : 0;
    engine->supply = plan->supply;
    engine->supply_owner = plan->supply_owner;
    if (plan->name)
        engine->name = plan->name;
    engine->thread_cpus = plan->cpus;
    engine->thread_nice = plan->nice;
    engine->has_stand_ins = plan->has_stand_ins;
    engine->is_guest = plan->supply != NULL;
    engine->resident = plan->resident;
    engine->extra_keep_alive_ns = plan->extra_keep_alive_ns ? plan->extra_keep_alive_ns : WF_NEVER;
    engine->on_ready = plan->ready ? say_ready : NULL;
    wf_store_relaxed(&engine->monitor.granted, granted);
    if (granted) /* nothing runs yet, so that nobody has to be told */
        wf_store_relaxed(&engine->is_shared, 1);
    fibers->is_pool = plan->supply != NULL;
    if (plan->supply)
        fibers->on_rest = NULL;
}

static void say_ready(struct wf_engine *engine) {
    const struct wf_runtime_plan *plan = ((weft_runtime *)wf_fibers_of(engine))->plan;
    plan->ready(plan->arg, wf_fibers_of(engine));
}

static void runtime_stop(weft_runtime *runtime) {
    struct wf_fibers *fibers = &runtime->fibers;
    if (wf_fibers_alive(fibers) > 0) /* abandoned, or spawned by a thread at the last moment */
        wf_join_abandon(fibers);
    wf_timer_table_abandon(fibers);
    wf_runtimes_close(fibers);
    wf_crew_wait_quiet(&fibers->engine); /* again: one of them may have started a thread for a fiber */
    if (wf_fibers_alive(fibers) > 0) {
        wf_join_abandon(fibers); /* again: those who were inside may have left callbacks for the end of a fiber */
        wf_wait_drop_all(fibers);
        wf_dump_term(runtime);
    }
    if (runtime->handles_faults)
        wf_os_faults_remove(fibers->fault_panics);
    wf_timer_table_term(fibers);
    wf_fds_abandon(&fibers->engine);
    wf_fibers_term(fibers);
    wf_runtimes_remove(fibers);
}

static void first_ended(struct wf_fibers *fibers, void *result, int error) {
    weft_runtime *runtime = (weft_runtime *)fibers;
    runtime->outcome = error ? error : (int)(intptr_t)result;
    if (runtime->fibers.abandons)
        wf_engine_stop(&fibers->engine);
    else
        wf_engine_drain(&fibers->engine);
}

static void *run_first(void *opaque) {
    weft_runtime *runtime = opaque;
    return (void *)(intptr_t)runtime->first(runtime->first_arg);
}

weft_runtime *weft_runtime_self(void) {
    struct wf_fibers *fibers = wf_runtimes_enter_this(NULL);
    if (fibers)
        wf_runtimes_leave(fibers);
    return (weft_runtime *)fibers;
}

const char *weft_version(void) {
    return WEFT_VERSION_STRING;
}
