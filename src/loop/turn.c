/* SPDX-License-Identifier: MIT
 *
 * loop/turn.c - the turn, as weft/loop.h tells it, and the checkpoint between any two callbacks.
 *
 * Everything here is the owner's. A phase takes what is in its track when it begins (batch) and runs it step by step; so do
 * timers and descriptors with steps of their own. The steps of a phase run inside one guarded call. When a callback
 * panics, the guarded call is left, the panic is told, and the steps go on in a new one: whatever a step has to remember
 * beyond its callback is in the loop, not on the stack.
 *
 * A callback leaves a debt, the checkpoint, which is paid before the next step; so one that was cut short by a panic is
 * finished before anything else runs, in the track in which it was.
 */
#include <errno.h>

#include "base/point.h"
#include "fiber/fiber.h"
#include "loop/loop.h"
#include "os/clock.h"
#include "os/report.h"

enum { WARN_AFTER = 100000 };

static void turn_poll(weft_loop *loop, bool may_wait, int64_t deadline_ns);
static void run_track(weft_loop *loop, enum wf_track track);
static void run_timers(weft_loop *loop);
static bool batch_step(weft_loop *loop);
static bool no_step(weft_loop *loop);
static void panic_told(weft_loop *loop, struct wf_loop_promise *outer, const char *message);
static void steps_run(void *opaque);
static void checkpoint_drain(weft_loop *loop);
static void checkpoint_inside(weft_loop *loop);
static void checkpoint_run(void *opaque);
static bool drain_track(weft_loop *loop, enum wf_track track);
static bool count_microtask(weft_loop *loop);

static const char *const track_sources[WF_TRACKS] = {
    [WF_TRACK_TICK] = "next tick",    [WF_TRACK_MICRO] = "microtask",    [WF_TRACK_END] = "end of checkpoint",
    [WF_TRACK_POLL] = "poll",         [WF_TRACK_CHECK] = "immediate",    [WF_TRACK_CLOSE] = "close",
    [WF_TRACK_INTERNAL] = "internal", [WF_TRACK_EXTERNAL] = "submitted",
};

void wf_loop_turn(weft_loop *loop, bool may_wait, int64_t deadline_ns) {
    loop->turn++;
    if (loop->metrics)
        wf_metrics_turn_begin(loop);
    wf_loop_timers_merge(loop);
    wf_loop_checkpoint(loop);
    turn_poll(loop, may_wait, deadline_ns);
    run_track(loop, WF_TRACK_CHECK);
    run_track(loop, WF_TRACK_CLOSE);
    run_timers(loop);
    if (loop->metrics)
        wf_metrics_internal(loop);
    run_track(loop, WF_TRACK_INTERNAL);
    run_track(loop, WF_TRACK_EXTERNAL);
    if (loop->metrics)
        wf_metrics_turn_end(loop);
}

void wf_loop_start_up(weft_loop *loop) {
    wf_loop_look_for(loop, 1u << WF_TRACK_INTERNAL);
    bool has_internal = loop->tracks[WF_TRACK_INTERNAL].first != NULL;
    run_track(loop, WF_TRACK_INTERNAL);
    if (!has_internal) /* else the last of them was a boundary; who has cut that short has left the rest to the next */
        wf_loop_checkpoint(loop);
    wf_loop_timers_merge(loop);
    run_timers(loop);
}

void wf_loop_drain(weft_loop *loop) {
    do {
        wf_loop_checkpoint(loop);
        run_track(loop, WF_TRACK_POLL);
        run_track(loop, WF_TRACK_CHECK);
        run_track(loop, WF_TRACK_CLOSE);
        run_track(loop, WF_TRACK_INTERNAL);
        run_track(loop, WF_TRACK_EXTERNAL);
        wf_loop_look(loop);
    } while (wf_loop_has_jobs(loop) && !wf_load_relaxed(&loop->is_closing));
}

static void turn_poll(weft_loop *loop, bool may_wait, int64_t deadline_ns) {
    wf_loop_look(loop);
    if (may_wait && !wf_loop_has_jobs(loop))
        wf_loop_sleep(loop, deadline_ns);
    else
        wf_watch_poll(loop, 0);
    wf_loop_run_steps(loop, wf_watch_step);
    run_track(loop, WF_TRACK_POLL);
}

static void run_track(weft_loop *loop, enum wf_track track) {
    wf_loop_look_for(loop, 1u << track);
    if (!loop->tracks[track].first ||
        wf_load_relaxed(&loop->is_closing)) /* then batch may hold what is to be dropped */
        return;
    WF_POINT("loop.before_track");
    loop->batch = loop->tracks[track];
    loop->tracks[track] = (struct wf_loop_jobs){0};
    loop->track_source = track_sources[track];
    wf_loop_run_steps(loop, batch_step);
}

static bool batch_step(weft_loop *loop) {
    if (!loop->batch.first)
        return false;
    wf_loop_run_first(loop, &loop->batch, loop->track_source);
    return true;
}

static void run_timers(weft_loop *loop) {
    loop->now = wf_loop_clock(loop);
    wf_loop_run_steps(loop, wf_loop_timer_step);
}

void wf_loop_checkpoint(weft_loop *loop) {
    wf_loop_look(loop);
    if (!wf_loop_has_jobs(loop) && wf_list_is_empty(&loop->unhandled))
        return;
    loop->owes_checkpoint = true;
    wf_loop_run_steps(loop, no_step);
}

static bool no_step(weft_loop *loop) {
    (void)loop;
    return false;
}

void wf_loop_run_steps(weft_loop *loop, bool (*step)(weft_loop *loop)) {
    char message[WF_LOOP_MESSAGE];
    loop->step = step;
    while (wf_try_contain(steps_run, loop, message, sizeof message, &loop->mark)) {
        loop->owes_checkpoint = !loop->options.batches || loop->is_in_checkpoint;
        loop->is_in_checkpoint = false;
        if (loop->metrics)
            wf_metrics_panic(loop, false);
        wf_loop_source_end(loop);
        panic_told(loop, NULL, message);
    }
}

/* That of a handler rejects its promise, that of anything else is told. outer: whose handler goes on afterwards, or NULL. */
static void panic_told(weft_loop *loop, struct wf_loop_promise *outer, const char *message) {
    struct wf_loop_promise *promise = loop->reacting;
    loop->reacting = outer;
    if (promise && promise != outer)
        wf_loop_promise_panicked(promise, message);
    else
        wf_loop_tell(loop, loop->source, loop->running, message);
}

/* Whether a checkpoint has anything to do. Most have not. */
static inline bool has_checkpoint(weft_loop *loop) {
    const struct wf_loop_jobs *tracks = loop->tracks;
    return tracks[WF_TRACK_TICK].first || tracks[WF_TRACK_MICRO].first || tracks[WF_TRACK_END].first ||
           (wf_load_relaxed(&loop->has_ingress) & WF_CHECKPOINT_TRACKS) || !wf_list_is_empty(&loop->unhandled);
}

static void steps_run(void *opaque) {
    weft_loop *loop = opaque;
    bool is_left = false; /* a callback did not want its own */
    for (;;) {
        if (loop->owes_checkpoint) {
            bool yields = loop->is_yielding;
            loop->is_yielding = false; /* for this callback alone, whether there is something to do or not */
            if (has_checkpoint(loop)) {
                is_left = yields;
                if (!yields)
                    checkpoint_drain(loop);
                loop->is_yielding = false;
            }
        }
        if (wf_load_relaxed(&loop->is_closing))
            return;
        loop->owes_checkpoint = !loop->options.batches;
        if (!loop->step(loop))
            break;
    }
    loop->owes_checkpoint = false;
    if (loop->options.batches || is_left)
        checkpoint_drain(loop);
}

static void checkpoint_drain(weft_loop *loop) {
    if (loop->is_in_checkpoint)
        return;
    loop->is_in_checkpoint = true;
    loop->is_yielding = false;
    loop->drained = 0;
    for (;;) {
        if (loop->checkpoint_track == WF_TRACK_TICK && !drain_track(loop, WF_TRACK_TICK))
            break;
        if (!drain_track(loop, WF_TRACK_MICRO))
            break;
        loop->checkpoint_track = WF_TRACK_TICK;
        if (loop->tracks[WF_TRACK_TICK].first)
            continue;
        if (wf_load_relaxed(&loop->is_closing) || loop->is_yielding)
            break;
        if (loop->tracks[WF_TRACK_END].first && !count_microtask(loop))
            break;
        if (loop->tracks[WF_TRACK_END].first)
            wf_loop_run_first(loop, &loop->tracks[WF_TRACK_END], track_sources[WF_TRACK_END]);
        else if (wf_list_is_empty(&loop->unhandled))
            break;
        else
            wf_loop_promises_tell(loop);
    }
    loop->is_in_checkpoint = false;
}

/* Until the track is empty: true. False: the checkpoint ends here, and the rest is left. */
static bool drain_track(weft_loop *loop, enum wf_track track) {
    struct wf_loop_jobs *jobs = &loop->tracks[track];
    loop->checkpoint_track = track;
    for (;;) {
        wf_loop_look_for(loop, WF_CHECKPOINT_TRACKS);
        if (!jobs->first)
            return true;
        if (loop->is_yielding || wf_load_relaxed(&loop->is_closing) || !count_microtask(loop)) {
            loop->checkpoint_track = WF_TRACK_TICK; /* the next one begins anew */
            return false;
        }
        wf_loop_run_first(loop, jobs, track_sources[track]);
    }
}

static bool count_microtask(weft_loop *loop) {
    uint64_t count = loop->drained++;
    uint32_t warn_after = loop->options.warn_after ? loop->options.warn_after : WARN_AFTER;
    if (WF_UNLIKELY(loop->options.budget && count >= loop->options.budget)) {
        wf_loop_tell(loop, "budget", NULL, "one checkpoint has used up its budget of microtasks");
        return false;
    }
    if (WF_UNLIKELY(count == warn_after))
        wf_loop_tell(loop, "microtasks", NULL, "one checkpoint goes on and on");
    return true;
}

struct loop_telling {
    weft_loop *loop;
    const weft_loop_failure *failure;
};

static void call_on_failure(void *opaque) {
    struct loop_telling *telling = opaque;
    const weft_loop_options *options = &telling->loop->options;
    options->on_failure(telling->loop, telling->failure, options->arg);
}

void wf_loop_tell(weft_loop *loop, const char *source, weft_loop_fn fn, const char *message) {
    weft_loop_failure failure = {.source = source, .fn = fn, .message = message};
    if (loop->options.on_failure) {
        char ignored[WF_LOOP_MESSAGE];
        struct loop_telling telling = {loop, &failure};
        if (wf_try_contain(call_on_failure, &telling, ignored, sizeof ignored, NULL))
            wf_report("the loop %s: on_failure itself panicked: %s", loop->name, ignored);
        return;
    }
    char name[96] = "";
    if (fn)
        wf_symbol_name((const void *)(uintptr_t)fn, name, sizeof name);
    wf_report("the loop %s: %s%s%s: %s", loop->name[0] ? loop->name : "(no name)", source, fn ? " " : "", name,
              message);
}

int weft_loop_run_checkpoint(weft_loop *loop) {
    if (!loop)
        return -EINVAL;
    if (!wf_loop_is_mine(loop))
        return -EPERM;
    checkpoint_inside(loop);
    return 0;
}

/* Inside a callback, which goes on afterwards whatever a microtask did, and is what runs then. */
static void checkpoint_inside(weft_loop *loop) {
    const char *source = loop->source;
    weft_loop_fn running = loop->running;
    struct wf_loop_promise *reacting = loop->reacting;
    struct wf_try_mark mark = loop->mark;
    char message[WF_LOOP_MESSAGE];
    if (loop->is_in_checkpoint)
        return;
    while (wf_try_contain(checkpoint_run, loop, message, sizeof message, &loop->mark)) {
        loop->is_in_checkpoint = false;
        if (loop->metrics)
            wf_metrics_panic(loop, true);
        panic_told(loop, reacting, message);
    }
    loop->source = source;
    loop->running = running;
    loop->mark = mark;
}

static void checkpoint_run(void *opaque) {
    checkpoint_drain(opaque);
}

int weft_loop_yield_checkpoint(weft_loop *loop) {
    if (!loop)
        return -EINVAL;
    if (!wf_loop_is_mine(loop))
        return -EPERM;
    loop->is_yielding = true;
    return 0;
}

struct direct_call {
    weft_loop_fn fn;
    void *arg;
};

static void direct_run(void *opaque) {
    const struct direct_call *call = opaque;
    call->fn(call->arg);
}

int weft_loop_call(weft_loop *loop, weft_loop_fn fn, void *arg) {
    if (!loop || !fn)
        return -EINVAL;
    if (!wf_loop_is_mine(loop))
        return -EPERM;
    struct direct_call call = {fn, arg};
    char message[WF_LOOP_MESSAGE];
    if (wf_try_contain(direct_run, &call, message, sizeof message, NULL))
        wf_loop_tell(loop, "call", fn, message);
    checkpoint_inside(loop);
    return 0;
}
