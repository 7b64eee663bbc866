/* SPDX-License-Identifier: MIT
 *
 * runtime/deadlock.c - noticing that every fiber waits and nothing can wake one.
 *
 * A worker that has entered the idle set asks here before it sleeps. When all workers are in it, fibers are alive, no timer
 * is armed and nothing outside is known to wake fibers, that is *suspicious*: the sum of all switches is remembered, and
 * somebody comes back half a second later. If the sum is still the same it is *checked*, three times at most for that sum:
 *
 *     quiet --all idle--> suspicious(sum, at) --at has come, same sum--> checked(sum) --> reported, and the runtime ends
 *       ^                     |  another sum                               |
 *       `---------------------'                                            `--> quiet until the sum changes
 *
 * The check is strict, because a false alarm ends a program that works. It stops the world and wants: no other runtime in
 * the process, no plain thread inside this one, no thread in the process but ours, and every living fiber parked. A
 * thread of the program that waits for something else, or merely exists, is taken for one that may wake a fiber.
 *
 * An idle runtime wakes up three times for this and then never again, so a thread that goes away later without having woken
 * anybody leaves a deadlock unreported.
 *
 * Rejected: following who holds what, which finds cycles of locks but not a receive that nobody will send to; asking again
 * and again, which would wake an idle machine.
 */
#include <errno.h>

#include "base/assert.h"
#include "io/fd.h"
#include "io/process.h"
#include "io/signal.h"
#include "os/clock.h"
#include "os/report.h"
#include "os/thread.h"
#include "runtime/runtime.h"
#include "weft/time.h"

/* Half of the second within which a report is promised. */
enum { DELAY_MS = 500, STDERR = 2 };

/* 3: a thread that was joined may still be listed for a moment, so one look is not enough. */
enum { CHECKS = 3 };

/* ThreadSanitizer has a thread of its own, but not in the child of a fork. */
#ifdef WF_TSAN
enum { FOREIGN_THREADS = 1 };
#else
enum { FOREIGN_THREADS = 0 };
#endif

static bool is_silent(struct wf_fibers *fibers);
static uint64_t count_switches(struct wf_fibers *fibers);
static bool is_outside_awaited(void);
static bool is_alone(struct wf_fibers *fibers);
static uint64_t count_parked(struct wf_fibers *fibers);
static void check(weft_runtime *runtime, struct wf_fiber_worker *worker);
static void report(weft_runtime *runtime, uint64_t count);

int64_t wf_deadlock_rest(struct wf_fiber_worker *worker, int64_t now) {
    weft_runtime *runtime = (weft_runtime *)worker->fibers;
    struct wf_deadlock *deadlock = &runtime->deadlock;
    struct wf_engine *engine = &worker->fibers->engine;
    if (wf_idle_parked_any(&engine->idle) != wf_load_relaxed(&engine->active) || !is_silent(worker->fibers))
        return WF_NEVER;
    uint64_t switches = count_switches(worker->fibers);
    wf_lock_take(&deadlock->lock);
    if (deadlock->switches != switches) {
        deadlock->switches = switches;
        deadlock->checks_left = CHECKS;
        deadlock->check_at = wf_time_add(now, DELAY_MS * WEFT_MILLISECOND);
    }
    bool is_due = deadlock->check_at <= now; /* one worker checks, a few times for this sum */
    if (is_due && --deadlock->checks_left > 0)
        deadlock->check_at = wf_time_add(now, DELAY_MS * WEFT_MILLISECOND);
    else if (is_due)
        deadlock->check_at = WF_NEVER;
    int64_t again = deadlock->check_at;
    wf_lock_drop(&deadlock->lock);
    if (is_due)
        check(runtime, worker);
    return again;
}

/* Somebody is alive, and nothing is known that will wake anybody. */
static bool is_silent(struct wf_fibers *fibers) {
    struct wf_engine *engine = &fibers->engine;
    if (wf_load_relaxed(&fibers->outside_wakers) != 0 || wf_load_seq_cst(&engine->alone) != 0 ||
        wf_load_relaxed(&engine->is_stopping))
        return false;
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
        if (wf_timers_earliest(&engine->processors[i]->timers) != WF_NEVER)
            return false;
    return wf_fibers_alive(fibers) > 0;
}

static uint64_t count_switches(struct wf_fibers *fibers) {
    uint64_t sum = wf_load_relaxed(&fibers->binding.parks); /* those that run alone are not switched to */
    for (uint32_t i = 0, limit = wf_engine_limit(&fibers->engine); i < limit; i++)
        sum += wf_load_relaxed(&fibers->engine.processors[i]->counters.switches);
    return sum;
}

/* On the worker's own stack, before it sleeps: it still counts as awake, so it can stop the world. Once that is done the
 * idle set says nothing any more, because a worker that wakes for some other reason is held outside of it; the states of
 * the fibers say everything. */
static void check(weft_runtime *runtime, struct wf_fiber_worker *worker) {
    struct wf_fibers *fibers = &runtime->fibers;
    WF_ASSERT(!wf_worker_fiber(worker));
    if (!is_alone(fibers) || !wf_world_request(&worker->base))
        return;
    uint64_t parked = count_parked(fibers);
    /* Counted again: the keeper of descriptors does not stop with the world, and may have woken one meanwhile. */
    if (parked > 0 && is_silent(fibers) && is_alone(fibers) && !is_outside_awaited() &&
        count_parked(fibers) == parked) {
        report(runtime, parked);
        runtime->outcome = -EDEADLK;
        wf_engine_stop(&fibers->engine);
    }
    wf_world_release(&worker->base);
}

/* Something outside of the process may come that somebody waits for. */
static bool is_outside_awaited(void) {
    return wf_processes_are_awaited() || wf_signals_are_awaited() || wf_fds_are_awaited();
}

static bool is_alone(struct wf_fibers *fibers) {
    int threads = wf_os_thread_count();
    int workers = (int)wf_load_relaxed(&fibers->engine.crew.threads) + fibers->engine.monitor.has_thread +
                  wf_keeper_is_there() + wf_spawner_is_there();
    return threads >= workers && threads <= workers + FOREIGN_THREADS && wf_runtimes_is_alone(fibers);
}

/* How many fibers are alive if all of them are parked; 0 when one is not. Nobody spawns: the world is stopped, and no other
 * thread exists. */
static uint64_t count_parked(struct wf_fibers *fibers) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < fibers->next_index; i++) {
        enum wf_fiber_state state = wf_load_relaxed(&wf_record_at(fibers, i)->task.state);
        if (state == WF_FIBER_PARKED)
            count++;
        else if (state != WF_FIBER_FREE && state != WF_FIBER_ENDED)
            return 0;
    }
    return count;
}

static void report(weft_runtime *runtime, uint64_t count) {
    wf_report("deadlock: all %llu fibers wait and nothing can wake them", (unsigned long long)count);
    struct wf_picture *picture = wf_picture_take(&runtime->fibers, NULL);
    if (!picture || wf_picture_print(picture, STDERR) == -ENOMEM)
        wf_report("deadlock: the list is not complete: no memory");
    wf_picture_free(picture);
}
