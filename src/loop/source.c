/* SPDX-License-Identifier: MIT
 *
 * loop/source.c - what weft_select can wait for, as a source of callbacks.
 *
 * A source waits in its object's queue as a callback (wait/wait.h). Whoever serves it there *fires* it, on its own thread and
 * without locks: the wish has been carried out by then, and the source's job goes to the external track.
 *
 *     LINKED --fire--> READY --job--> RUNNING --callback ended--> LINKED, or READY when it can be done at once
 *       |                |  `--its last callback--> free             `--taken back meanwhile, or the loop ends--> free
 *       |                `--off: the job frees it and calls nobody
 *       `--off--> free; but when the object has taken the node out already, off waits for the fire, which is on its way
 *
 * States are under a lock of their own, one for all sources of a loop, and so are the attempt and the linking: hence taking
 * back is exact, and an object may go as soon as nobody can find the source any more. A source that is LINKED under this
 * lock has not fired yet, so its object is there: even a runtime that ends has to come through here first. The end of
 * the loop takes the lock once no source is admitted any more, and what it finds is all there is.
 *
 * A case is begun and ended within one call, since what begin enters (a runtime, for one that is not inside) only the
 * same thread can leave; begun keeps what finish has to know. An object that wants to hear of everybody who leaves its
 * queue does so in end: for that the case is begun and ended once more after unlinking.
 *
 * Lock order: that of the sources, the object's, the loop's. A fire comes with none of them. The loop's own lock would not do
 * for the states: objects take it while they are locked, a promise for one that posts to the loops of its followers.
 */
#include <errno.h>

#include "arch/context.h"
#include "base/assert.h"
#include "base/point.h"
#include "loop/loop.h"
#include "wait/select.h"
#include "weft/chan.h"
#include "weft/sync.h"
#include "weft/timer.h"

enum wf_source_state { WF_SOURCE_LINKED = 1, WF_SOURCE_READY, WF_SOURCE_RUNNING };

/* In a slab. Under the lock of the sources, but for what is constant, and begun and node while it fires. */
struct wf_source {
    struct wf_slot slot; /* first */
    enum wf_source_state state;
    bool is_off;              /* its id is stale, and it does not count as keeping the loop alive */
    bool repeats;             /* constant */
    weft_loop *loop;          /* constant */
    weft_source_fn fn;        /* constant */
    void *arg;                /* constant */
    weft_case wish;           /* constant: as it was given */
    weft_case begun;          /* as begin, attempt and finish have left it */
    struct wf_waiter *takers; /* who wait for its fire */
    struct wf_waiter node;
    struct wf_wait wait;
    struct wf_loop_job job;
};

/* One attempt to have the wish, or to lie down for it. */
struct arming {
    weft_case begun;
    struct wf_lock *lock;
    struct wf_waiter **queue;
    struct wf_waiter *wakes; /* who were served on the way */
};

static int source_add(weft_loop *loop, weft_source *out, weft_case wish, weft_source_fn fn, void *arg, bool repeats);
static bool kind_comes_again(const void *kind);
static bool arming_begin(struct arming *arming, const weft_case *wish);
static void source_arm_locked(struct wf_source *source, struct arming *arming);
static void arming_end(struct arming *arming, const weft_case *wish);
static void case_left_queue(const weft_case *wish);
static void source_fire(struct wf_wait *wait);
static void source_ready_locked(struct wf_source *source, bool is_mine);
static void source_run(weft_loop *loop, struct wf_loop_job *job);
static void source_free_locked(struct wf_source *source);
static int source_wait_locked(struct wf_source *source);

void wf_loop_sources_init(weft_loop *loop) {
    wf_slab_init(&loop->sources, sizeof(struct wf_source));
}

int weft_loop_on(weft_loop *loop, weft_source *out, weft_case wish, weft_source_fn fn, void *arg) {
    return source_add(loop, out, wish, fn, arg, kind_comes_again(wish.kind));
}

int weft_loop_once(weft_loop *loop, weft_source *out, weft_case wish, weft_source_fn fn, void *arg) {
    return source_add(loop, out, wish, fn, arg, false);
}

/* An event, a promise, the end of something come once, and then stay. */
static bool kind_comes_again(const void *kind) {
    return kind == weft_on_receive(NULL, NULL).kind || kind == weft_on_send(NULL, NULL).kind ||
           kind == weft_on_semaphore(NULL).kind || kind == weft_on_timer((weft_timer){0}, NULL).kind;
}

static int source_add(weft_loop *loop, weft_source *out, weft_case wish, weft_source_fn fn, void *arg, bool repeats) {
    if (!loop || !fn || !wish.kind)
        return -EINVAL;
    if (wish.kind == weft_on_time(0).kind)
        return -ENOTSUP;
    struct arming arming;
    void *record;
    if (!arming_begin(&arming, &wish)) {
        arming_end(&arming, &wish);
        return arming.begun.status ? arming.begun.status : -EINVAL;
    }
    wf_lock_take(&loop->sources_lock);
    int error = wf_slab_take(&loop->sources, &record);
    if (!error && (error = wf_loop_keep_by(loop, &loop->sourced)) != 0)
        wf_slab_give(&loop->sources, record);
    if (!error) {
        struct wf_source *source = record;
        source->loop = loop;
        source->fn = fn;
        source->arg = arg;
        source->wish = wish;
        source->repeats = repeats;
        source->job.run = source_run;
        if (out)
            out->bits = wf_slab_id(source);
        wf_context_release(source);
        source_arm_locked(source, &arming);
    }
    wf_lock_drop(&loop->sources_lock);
    arming_end(&arming, &wish);
    return error;
}

/* False: there is no object, and status says why; 0: it would never come. */
static bool arming_begin(struct arming *arming, const weft_case *wish) {
    const struct wf_case_kind *kind = wish->kind;
    *arming = (struct arming){.begun = *wish};
    arming->begun.status = 0;
    return kind->begin(&arming->begun, &arming->lock, &arming->queue);
}

static void source_arm_locked(struct wf_source *source, struct arming *arming) {
    const struct wf_case_kind *kind = source->wish.kind;
    wf_lock_take(arming->lock);
    bool is_done = kind->attempt(&arming->begun, &arming->wakes);
    source->begun = arming->begun;
    if (!is_done) {
        source->state = WF_SOURCE_LINKED;
        source->node = (struct wf_waiter){0};
        wf_wait_begin_callback(&source->wait, &source->node, source_fire);
        if (kind->prepare)
            kind->prepare(&source->begun, &source->node);
        wf_wait_link_locked(&source->node, arming->lock, arming->queue);
    }
    wf_lock_drop(arming->lock);
    if (is_done)
        source_ready_locked(source, wf_loop_is_mine(source->loop));
}

/* Without locks. The object itself may be gone by now, if the source was taken back meanwhile; what begin has entered and
 * noted in the case is not. */
static void arming_end(struct arming *arming, const weft_case *wish) {
    const struct wf_case_kind *kind = wish->kind;
    wf_wait_wake_chain(arming->wakes);
    if (kind->end && arming->begun.object != wish->object)
        kind->end(&arming->begun);
}

/* Without locks: it may have stood in somebody's way. */
static void case_left_queue(const weft_case *wish) {
    const struct wf_case_kind *kind = wish->kind;
    struct arming arming;
    if (!kind->end)
        return;
    arming_begin(&arming, wish);
    kind->end(&arming.begun);
}

/* On the thread of whoever serves the source, or ends its object. It may be a fiber at its very end, which is not asked what
 * loops it is inside of any more. */
static void source_fire(struct wf_wait *wait) {
    struct wf_source *source = WF_CONTAINER(wait, struct wf_source, wait);
    weft_loop *loop = source->loop;
    ((const struct wf_case_kind *)source->wish.kind)->finish(&source->begun, &source->node);
    wf_context_release(source);
    WF_POINT("loop.before_source");
    wf_lock_take(&loop->sources_lock);
    struct wf_waiter *takers = wf_wait_take_all_locked(&source->takers, source->begun.status, NULL);
    if (source->is_off)
        source_free_locked(source);
    else
        source_ready_locked(source, false);
    wf_lock_drop(&loop->sources_lock);
    wf_wait_wake_chain(takers);
}

/* Posts the job, also in a loop that ends: that does not begin to run or drop the last ones before it has seen to all
 * sources. */
static void source_ready_locked(struct wf_source *source, bool is_mine) {
    weft_loop *loop = source->loop;
    source->state = WF_SOURCE_READY;
    if (is_mine) {
        wf_loop_look(loop);
        wf_loop_jobs_append(&loop->tracks[WF_TRACK_EXTERNAL], &source->job);
        return;
    }
    wf_lock_take(&loop->lock);
    wf_loop_jobs_append(&loop->ingress[WF_TRACK_EXTERNAL], &source->job);
    wf_loop_mark_ingress_locked(loop, WF_TRACK_EXTERNAL);
    wf_loop_drop_and_rouse(loop);
}

static void source_run(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_source *source = WF_CONTAINER(job, struct wf_source, job);
    weft_loop *home = source->loop;
    wf_context_acquire(source);
    wf_lock_take(&home->sources_lock);
    weft_source_fn fn = loop && !source->is_off ? source->fn : NULL;
    void *arg = source->arg;
    int status = source->begun.status;
    bool is_last = !fn || !source->repeats || status < 0;
    if (is_last)
        source_free_locked(source);
    else
        source->state = WF_SOURCE_RUNNING;
    wf_lock_drop(&home->sources_lock);
    if (!fn)
        return;
    loop->source = "source";
    loop->running = (weft_loop_fn)(uintptr_t)fn;
    loop->sourcing = is_last ? NULL : source;
    fn(status, arg);
    if (loop->of_fibers)
        wf_deferred_look(); /* it may look at what came, which the next time is written again */
    wf_loop_source_end(loop);
}

void wf_loop_source_end(weft_loop *loop) {
    struct wf_source *source = loop->sourcing;
    if (!source)
        return;
    struct arming arming = {0};
    weft_case wish = source->wish;
    loop->sourcing = NULL;
    wf_lock_take(&loop->sources_lock);
    if (source->is_off || wf_loop_is_ending(loop)) {
        source_free_locked(source);
        wf_lock_drop(&loop->sources_lock);
        return;
    }
    if (arming_begin(&arming, &wish)) {
        source_arm_locked(source, &arming);
    } else {
        source->begun.status = arming.begun.status;
        source_ready_locked(source, true);
    }
    wf_lock_drop(&loop->sources_lock);
    arming_end(&arming, &wish);
}

static void source_free_locked(struct wf_source *source) {
    weft_loop *loop = source->loop;
    WF_ASSERT(!source->takers);
    if (!source->is_off)
        wf_loop_unkeep_by(loop, &loop->sourced);
    wf_slab_give(&loop->sources, source);
}

int weft_loop_off(weft_loop *loop, weft_source id) {
    if (!loop)
        return -EINVAL;
    wf_lock_take(&loop->sources_lock);
    struct wf_source *source = wf_slab_find(&loop->sources, id.bits);
    if (!source || source->is_off) {
        wf_lock_drop(&loop->sources_lock);
        return -ESTALE;
    }
    weft_case wish = source->wish;
    bool was_linked = source->state == WF_SOURCE_LINKED;
    bool was_taken = source->state == WF_SOURCE_READY && source->begun.status >= 0;
    source->is_off = true;
    wf_loop_unkeep_by(loop, &loop->sourced);
    if (was_linked && !wf_wait_unlink(&source->node))
        return source_wait_locked(source) >= 0;
    if (was_linked)
        source_free_locked(source);
    wf_lock_drop(&loop->sources_lock);
    if (was_linked)
        case_left_queue(&wish);
    return was_taken;
}

/* Somebody is about to fire it. Drops the lock. Returns the status that the wish was carried out with. */
static int source_wait_locked(struct wf_source *source) {
    struct wf_waiter waiter = {0};
    return wf_wait_surely_locked(&waiter, &source->loop->sources_lock, &source->takers, "source", false);
}

void wf_loop_sources_stop(weft_loop *loop) {
    wf_lock_take(&loop->sources_lock);
    for (uint32_t i = 0; i < loop->sources.chunk_count * WF_SLAB_CHUNK; i++) {
        struct wf_source *source = wf_slab_at(&loop->sources, i);
        if (!source->slot.is_used || source->state == WF_SOURCE_READY)
            continue;
        if (source->state == WF_SOURCE_RUNNING) { /* its fiber was dropped inside the callback */
            loop->sourcing = NULL;
            source_free_locked(source);
            continue;
        }
        weft_case wish = source->wish;
        bool is_mine = wf_wait_unlink(&source->node);
        if (is_mine) {
            source_free_locked(source);
            wf_lock_drop(&loop->sources_lock);
            case_left_queue(&wish);
        } else {
            source_wait_locked(source);
        }
        wf_lock_take(&loop->sources_lock);
    }
    wf_lock_drop(&loop->sources_lock);
}

void wf_loop_sources_term(weft_loop *loop) {
    WF_ASSERT(loop->sources.used == 0);
    wf_slab_term(&loop->sources);
}
