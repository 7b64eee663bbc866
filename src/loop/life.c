/* SPDX-License-Identifier: MIT
 *
 * loop/life.c - a loop's life: made, run, ended, awaited.
 *
 * Who runs a loop has a *frame* for it, on its thread or its fiber, and so has a work that a loop has handed out. By the
 * frames a call knows whether it comes from a callback, and whether waiting for the loop would be waiting for itself.
 *
 * The end is in two steps: TERMINATING closes the door, and whoever is, or becomes, the owner then *finishes* the loop; only
 * when no callback can run any more is it TERMINATED and are those told who wait for it. The step that ends a loop because
 * nothing is alive looks once more and closes the door under one lock, so nothing that was accepted is left behind it.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "fiber/fiber.h"
#include "loop/loop.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "os/thread.h"
#include "weft/fiber.h"

WF_MACHINE_DEFINE(loop, WF_LOOP_STATES)

/* Plain threads do not move, so an ordinary thread-local will do; a fiber has it in its stack. */
static __thread struct wf_loop_frame *thread_frames;

/* On the stack of whoever runs a loop, or finishes it. */
struct owner {
    struct wf_leaver leaver; /* first; of a fiber: it is dropped with its runtime */
    struct wf_loop_frame frame;
};

static void loop_free(weft_loop *loop);
static void owner_begin(struct owner *owner, weft_loop *loop);
static void owner_end(struct owner *owner);
static int run_begin(weft_loop *loop);
static int run_turns(weft_loop *loop, weft_loop_mode mode, int64_t deadline_ns);
static int why_not_go_on(weft_loop *loop, weft_loop_mode mode, int64_t deadline_ns);
static int take_error(weft_loop *loop);
static bool quiet_step(weft_loop *loop);
static bool is_over(weft_loop *loop);
static void run_end(weft_loop *loop);
static void loop_finish(weft_loop *loop, bool gives_back);
static bool wait_for_workers(weft_loop *loop);
static void owner_dropped(struct wf_leaver *leaver);
static int loop_end(weft_loop *loop, bool is_close, int64_t deadline_ns);
static int await_end_locked(weft_loop *loop, int64_t deadline_ns);
static int finish_here(weft_loop *loop);
static int start_finisher_locked(weft_loop *loop);
static void finisher_main(void *opaque);

int weft_loop_new(weft_loop **out, const weft_loop_options *options) {
    if (!out || (options && (unsigned)options->fast > WEFT_LOOP_FAST_DISABLED))
        return -EINVAL;
    weft_loop *loop = wf_os_alloc_aligned(64, sizeof *loop);
    if (!loop)
        return -ENOMEM;
    if (options)
        loop->options = *options;
    if (loop->options.name)
        strncpy(loop->name, loop->options.name, sizeof loop->name - 1);
    loop->options.name = loop->name;
    loop->fast = loop->options.fast;
    if (loop->options.metrics && wf_metrics_new(&loop->metrics) != 0) {
        wf_os_free(loop);
        return -ENOMEM;
    }
    wf_store_relaxed(&loop->references, 1);
    loop->virtual_now = 1; /* 0 is a test, not a moment */
    wf_list_init(&loop->unhandled);
    wf_loop_timers_init(loop);
    wf_loop_sources_init(loop);
    *out = loop;
    return 0;
}

weft_loop *weft_loop_ref(weft_loop *loop) {
    if (loop)
        wf_fetch_add_relaxed(&loop->references, 1);
    return loop;
}

void weft_loop_unref(weft_loop *loop) {
    /* Release: what was done under this reference; acquire, by the last one: what was done under the others. */
    if (!loop || wf_fetch_sub_acq_rel(&loop->references, 1) > 1)
        return;
    if (wf_loop_state(loop) != WF_LOOP_TERMINATED) {
        wf_store_relaxed(&loop->references, 1);
        int status = loop_end(loop, true, WEFT_NEVER); /* nobody runs it: it ends here */
        WF_ASSERT(status == 0);
        (void)status;
    }
    loop_free(loop);
}

static void loop_free(weft_loop *loop) {
    WF_ASSERT(wf_loop_state(loop) == WF_LOOP_TERMINATED);
    wf_loop_promises_term(loop);
    wf_loop_free_jobs(loop);
    wf_loop_timers_term(loop);
    wf_loop_sources_term(loop);
    wf_metrics_free(loop->metrics);
    wf_os_free(loop);
}

struct wf_loop_frame **wf_loop_frames(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    /* While the joiners of a fiber are told of its end, nobody is inside of anything. */
    struct wf_fiber *fiber = worker && !worker->is_telling ? wf_worker_fiber(worker) : NULL;
    return fiber ? &wf_fiber_stack(fiber)->loops : &thread_frames;
}

weft_loop *weft_loop_current(void) {
    struct wf_loop_frame *frame = *wf_loop_frames();
    return frame && !frame->is_worker ? frame->loop : NULL;
}

/* Whether the caller is inside of it, at whatever depth: 0, or what its frame is. */
enum { OUTSIDE_OF_LOOP, IN_CALLBACK, IN_WORK };
static int where_am_i(const weft_loop *loop) {
    int where = OUTSIDE_OF_LOOP;
    for (struct wf_loop_frame *frame = *wf_loop_frames(); frame; frame = frame->outer)
        if (frame->loop == loop && where != IN_CALLBACK)
            where = frame->is_worker ? IN_WORK : IN_CALLBACK;
    return where;
}

bool wf_loop_move_locked(weft_loop *loop, enum wf_loop_state from, enum wf_loop_state to) {
    uint32_t found = from;
    /* Release: who sees the end, or that nobody runs it, without the lock (A), sees what was done before. For others the lock
     * orders everything. */
    if (!wf_cas_release(&loop->state, &found, to))
        return false;
    WF_MOVE_CHECK(&wf_loop_machine, from, to);
    return true;
}

bool wf_loop_shut_locked(weft_loop *loop) {
    bool was_asleep = wf_loop_move_locked(loop, WF_LOOP_SLEEPING, WF_LOOP_TERMINATING);
    if (!was_asleep)
        wf_loop_move_locked(loop, WF_LOOP_RUNNING, WF_LOOP_TERMINATING);
    return was_asleep;
}

weft_loop_state weft_loop_get_state(const weft_loop *loop) {
    if (!loop)
        return WEFT_LOOP_TERMINATED;
    uint32_t state = wf_load_acquire(&((weft_loop *)loop)->state); /* A: pairs with wf_loop_move_locked */
    if (state == WF_LOOP_TERMINATED)
        wf_context_acquire((void *)loop);
    return (weft_loop_state)state;
}

int weft_loop_run(weft_loop *loop, weft_loop_mode mode, weft_time deadline) {
    if (!loop || (unsigned)mode > WEFT_LOOP_NO_WAIT)
        return -EINVAL;
    int status = run_begin(loop);
    if (status)
        return status;
    struct owner owner;
    owner_begin(&owner, loop);
    status = run_turns(loop, mode, deadline);
    run_end(loop);
    owner_end(&owner);
    return status;
}

/* The caller, a fiber or a plain thread, has made the loop its own and has a reference for it. */
static void owner_begin(struct owner *owner, weft_loop *loop) {
    struct wf_loop_frame **frames = wf_loop_frames();
    struct wf_fiber *fiber = wf_fiber_self();
    *owner = (struct owner){.leaver = {.drop = owner_dropped}, .frame = {.loop = loop, .outer = *frames}};
    *frames = &owner->frame;
    if (fiber)
        wf_leaver_push(wf_fiber_stack(fiber), &owner->leaver);
}

static void owner_end(struct owner *owner) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (fiber)
        wf_leaver_remove(wf_fiber_stack(fiber), &owner->leaver);
    *wf_loop_frames() = owner->frame.outer;
    weft_loop_unref(owner->frame.loop);
}

static int run_begin(weft_loop *loop) {
    if (where_am_i(loop) != OUTSIDE_OF_LOOP)
        return -EDEADLK;
    WF_POINT("loop.before_start");
    wf_lock_take(&loop->lock);
    bool is_mine = wf_loop_move_locked(loop, WF_LOOP_AWAKE, WF_LOOP_RUNNING);
    int status = is_mine ? 0 : wf_loop_is_ending(loop) ? -EPIPE : -EBUSY;
    if (is_mine) {
        struct wf_fiber_worker *worker = wf_worker_self();
        loop->of_fibers = worker ? worker->fibers : NULL;
        weft_loop_ref(loop);
    }
    wf_lock_drop(&loop->lock);
    return status;
}

static int run_turns(weft_loop *loop, weft_loop_mode mode, int64_t deadline_ns) {
    for (;;) {
        if (wf_loop_is_ending(loop))
            return take_error(loop);
        int status = why_not_go_on(loop, mode, deadline_ns);
        if (status)
            return status;
        if (wf_exchange_relaxed(&loop->is_stopped, 0))
            return wf_loop_is_alive_owner(loop);
        if (!loop->has_started) {
            loop->has_started = true;
            wf_loop_start_up(loop);
            continue;
        }
        if (mode == WEFT_LOOP_UNTIL_QUIET && !wf_loop_is_alive_owner(loop)) {
            loop->is_resumed = false;
            if (loop->options.on_quiet)
                wf_loop_run_steps(loop, quiet_step);
            if (!loop->is_resumed && is_over(loop))
                return 0;
            continue;
        }
        wf_loop_turn(loop, mode != WEFT_LOOP_NO_WAIT, deadline_ns);
        if (mode != WEFT_LOOP_UNTIL_QUIET && !loop->error)
            return !wf_loop_is_ending(loop) && wf_loop_is_alive_owner(loop);
    }
}

/* Why weft_loop_run has to return between two turns: an error, or 0. */
static int why_not_go_on(weft_loop *loop, weft_loop_mode mode, int64_t deadline_ns) {
    int error = take_error(loop);
    if (loop->of_fibers && loop->turn > 0)
        weft_yield(); /* a loop that always has something to do is not the only fiber of its worker */
    if (!error && loop->of_fibers)
        error = wf_wait_enter(mode == WEFT_LOOP_NO_WAIT ? WEFT_NOW : WEFT_NEVER);
    if (!error && mode != WEFT_LOOP_NO_WAIT && deadline_ns != WEFT_NEVER && deadline_ns <= wf_os_now())
        error = -ETIMEDOUT;
    return error;
}

static int take_error(weft_loop *loop) {
    int error = loop->error;
    loop->error = 0;
    return error;
}

static bool quiet_step(weft_loop *loop) {
    if (loop->is_asked)
        return loop->is_asked = false;
    loop->is_asked = true;
    wf_loop_enter(loop, "quiet", NULL);
    loop->is_resumed = loop->options.on_quiet(loop, loop->options.arg);
    wf_loop_leave(loop);
    return true;
}

/* Nothing was alive. If nothing is, the door closes in the same step. */
static bool is_over(weft_loop *loop) {
    WF_POINT("loop.before_commit");
    wf_lock_take(&loop->lock);
    bool is_quiet = wf_loop_state(loop) == WF_LOOP_RUNNING && !wf_loop_is_alive_locked(loop);
    if (is_quiet && !loop->options.stays) {
        wf_store_relaxed(&loop->is_closing, 1); /* immediates that keep nothing alive may be left, and do not run */
        wf_loop_move_locked(loop, WF_LOOP_RUNNING, WF_LOOP_TERMINATING);
    }
    wf_lock_drop(&loop->lock);
    return is_quiet;
}

static void run_end(weft_loop *loop) {
    wf_watch_leave(loop);
    wf_store_relaxed(&loop->is_stopped, 0);
    wf_lock_take(&loop->lock);
    bool is_left = wf_loop_move_locked(loop, WF_LOOP_RUNNING, WF_LOOP_AWAKE);
    if (is_left) {
        loop->of_fibers = NULL;
        if (loop->is_embedded && wf_loop_has_work_locked(loop))
            wf_watch_signal_locked(loop);
    }
    wf_lock_drop(&loop->lock);
    if (!is_left)
        loop_finish(loop, false);
}

/* By the owner; TERMINATING. gives_back: its reference, before anybody is told. Those who wait have references of their own. */
static void loop_finish(weft_loop *loop, bool gives_back) {
    wf_loop_timers_discard(loop);
    wf_loop_sources_stop(loop);
    do
        wf_loop_drain(loop);
    while (wait_for_workers(loop));
    wf_watch_close(loop);
    wf_loop_promises_reject(loop);
    if (!wf_load_relaxed(&loop->is_closing))
        wf_loop_drain(loop);
    wf_loop_drop_jobs(loop);
    WF_POINT("loop.before_terminated");
    wf_context_release(loop);
    wf_lock_take(&loop->lock);
    bool moved = wf_loop_move_locked(loop, WF_LOOP_TERMINATING, WF_LOOP_TERMINATED);
    WF_ASSERT(moved);
    loop->of_fibers = NULL;
    struct wf_waiter *joiners = wf_wait_take_all_locked(&loop->joiners, 0, NULL);
    wf_lock_drop(&loop->lock);
    if (gives_back)
        weft_loop_unref(loop);
    wf_wait_wake_chain(joiners);
}

/* True: something has come back, or may have. False: nobody is out, or nobody cares. */
static bool wait_for_workers(weft_loop *loop) {
    wf_lock_take(&loop->lock);
    bool has_ingress = wf_load_relaxed(&loop->has_ingress);
    bool is_done = wf_load_relaxed(&loop->is_closing) || (!loop->workers && !has_ingress);
    if (is_done || has_ingress) {
        wf_lock_drop(&loop->lock);
        return !is_done;
    }
    struct wf_waiter waiter = {0};
    wf_wait_surely_locked(&waiter, &loop->lock, &loop->sleepers, "works of a loop", false);
    return true;
}

/* The owner was a fiber and will never run again. Nothing runs any more on its side, so this thread ends the loop. */
static void owner_dropped(struct wf_leaver *leaver) {
    weft_loop *loop = ((struct owner *)leaver)->frame.loop;
    wf_lock_take(&loop->lock);
    wf_store_relaxed(&loop->is_closing, 1);
    wf_loop_shut_locked(loop);
    loop->of_fibers = NULL;
    wf_lock_drop(&loop->lock);
    struct wf_loop_promise *promise = loop->reacting;
    loop->reacting = NULL;
    loop->is_in_checkpoint = false;
    if (promise)
        wf_loop_promise_dropped(promise);
    loop_finish(loop, false);
    weft_loop_unref(loop);
}

int weft_loop_shutdown(weft_loop *loop, weft_time deadline) {
    return loop ? loop_end(loop, false, deadline) : -EINVAL;
}

int weft_loop_close(weft_loop *loop, weft_time deadline) {
    return loop ? loop_end(loop, true, deadline) : -EINVAL;
}

static int loop_end(weft_loop *loop, bool is_close, int64_t deadline_ns) {
    int where = where_am_i(loop);
    if (is_close && where == IN_CALLBACK)
        return -EDEADLK;
    int cancelled = wf_wait_enter(deadline_ns);
    WF_POINT("loop.before_end");
    wf_lock_take(&loop->lock);
    if (wf_loop_state(loop) == WF_LOOP_TERMINATED) {
        wf_lock_drop(&loop->lock);
        return -EPIPE;
    }
    if (is_close)
        wf_store_relaxed(&loop->is_closing, 1);
    if (wf_loop_state(loop) == WF_LOOP_AWAKE) {
        /* A close does not wait for works. Who is one of them, or has a limit to its patience, cannot do so. */
        bool is_bounded =
            !is_close && loop->workers && (where == IN_WORK || deadline_ns != WEFT_NEVER || wf_worker_self());
        int error = is_bounded ? start_finisher_locked(loop) : 0;
        if (error && where == IN_WORK) {
            wf_lock_drop(&loop->lock);
            return error;
        }
        wf_loop_move_locked(loop, WF_LOOP_AWAKE, WF_LOOP_TERMINATING);
        if (!is_bounded || error) {
            weft_loop_ref(loop);
            wf_lock_drop(&loop->lock);
            return finish_here(loop);
        }
    }
    bool was_asleep = wf_loop_shut_locked(loop);
    struct wf_waiter *owner = wf_loop_wake_locked(loop, was_asleep);
    if (where != OUTSIDE_OF_LOOP || deadline_ns == WEFT_NOW || cancelled) {
        wf_lock_drop(&loop->lock);
        if (owner)
            wf_wait_wake(owner);
        return where == OUTSIDE_OF_LOOP && cancelled ? cancelled : -EINPROGRESS;
    }
    if (owner)
        wf_wait_wake(owner); /* with the lock, which it will need: we are in the queue before it can look */
    return await_end_locked(loop, deadline_ns);
}

/* Drops the lock. */
static int await_end_locked(weft_loop *loop, int64_t deadline_ns) {
    struct wf_waiter waiter = {0};
    int status = wf_wait_locked(&waiter, &loop->lock, &loop->joiners, deadline_ns, "end of a loop");
    if (status == 0)
        wf_context_acquire(loop);
    return status;
}

/* The caller becomes the owner of a loop that nobody runs; it has a reference for it. */
static int finish_here(weft_loop *loop) {
    struct owner owner;
    struct wf_fiber_worker *worker = wf_worker_self();
    loop->of_fibers = worker ? worker->fibers : NULL;
    owner_begin(&owner, loop);
    loop_finish(loop, false);
    owner_end(&owner);
    return 0;
}

/* A thread of its own, which stands at the lock until the caller has closed the door. Returns 0, -EAGAIN, -ENOMEM. */
static int start_finisher_locked(weft_loop *loop) {
    struct wf_os_thread thread;
    weft_loop_ref(loop);
    int error = wf_os_thread_start(&thread, "weft-finisher", finisher_main, loop);
    if (error)
        wf_fetch_sub_relaxed(&loop->references, 1); /* not the last: the caller has one */
    else
        wf_os_thread_detach(&thread);
    return error;
}

static void finisher_main(void *opaque) {
    weft_loop *loop = opaque;
    struct wf_loop_frame frame = {.loop = loop};
    wf_lock_take(&loop->lock);
    wf_lock_drop(&loop->lock);
    *wf_loop_frames() = &frame;
    loop_finish(loop, true);
    *wf_loop_frames() = NULL;
}

int weft_loop_join(weft_loop *loop, weft_time deadline) {
    if (!loop)
        return -EINVAL;
    if (where_am_i(loop) != OUTSIDE_OF_LOOP)
        return -EDEADLK;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    wf_lock_take(&loop->lock);
    if (wf_loop_state(loop) == WF_LOOP_TERMINATED) {
        wf_lock_drop(&loop->lock);
        wf_context_acquire(loop);
        return 0;
    }
    return await_end_locked(loop, deadline);
}

int weft_loop_stop(weft_loop *loop) {
    if (!loop)
        return -EINVAL;
    wf_lock_take(&loop->lock);
    bool is_ending = wf_loop_is_ending(loop);
    wf_store_relaxed(&loop->is_stopped, 1);
    wf_loop_drop_and_rouse(loop);
    return is_ending ? -EPIPE : 0;
}

int weft_loop_keep(weft_loop *loop) {
    return loop ? wf_loop_keep_by(loop, &loop->keeps) : -EINVAL;
}

void weft_loop_unkeep(weft_loop *loop) {
    if (loop)
        wf_loop_unkeep_by(loop, &loop->keeps);
}

int wf_loop_keep_by(weft_loop *loop, uint32_t *counter) {
    wf_lock_take(&loop->lock);
    bool is_ending = wf_loop_is_ending(loop);
    if (!is_ending)
        ++*counter;
    wf_lock_drop(&loop->lock);
    return is_ending ? -EPIPE : 0;
}

void wf_loop_unkeep_by(weft_loop *loop, uint32_t *counter) {
    wf_lock_take(&loop->lock);
    if (*counter == 0)
        wf_fatal("weft_loop_unkeep was called more often than weft_loop_keep");
    --*counter;
    wf_loop_drop_and_rouse(loop);
}

bool weft_loop_is_alive(weft_loop *loop) {
    if (!loop)
        return false;
    if (wf_loop_is_mine(loop))
        return wf_loop_is_alive_owner(loop);
    wf_lock_take(&loop->lock);
    enum wf_loop_state state = wf_loop_state(loop);
    bool is_alive = state == WF_LOOP_RUNNING || state == WF_LOOP_TERMINATING ||
                    (state != WF_LOOP_TERMINATED && wf_loop_is_alive_locked(loop));
    wf_lock_drop(&loop->lock);
    return is_alive;
}

bool wf_loop_is_alive_owner(weft_loop *loop) {
    /* Its own queues need no lock, and mostly they are the reason. An immediate may be one that keeps nothing alive. */
    for (int track = 0; track < WF_TRACKS; track++)
        if (track != WF_TRACK_CHECK && loop->tracks[track].first)
            return true;
    if (wf_load_relaxed(&loop->has_ingress) & ~(1u << WF_TRACK_CHECK))
        return true;
    wf_lock_take(&loop->lock);
    bool is_alive = wf_loop_is_alive_locked(loop);
    wf_lock_drop(&loop->lock);
    return is_alive;
}

/* By the owner, or while the loop has none or sleeps: then its own side stands still. An immediate is among the timers that
 * are kept, or does not count. */
bool wf_loop_is_alive_locked(const weft_loop *loop) {
    if (loop->timers.kept || loop->keeps || loop->sourced || loop->workers || wf_watch_count_locked(loop) ||
        loop->batch.first)
        return true;
    for (int track = 0; track < WF_TRACKS; track++)
        if (track != WF_TRACK_CHECK && (loop->tracks[track].first || loop->ingress[track].first))
            return true;
    return false;
}
