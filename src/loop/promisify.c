/* SPDX-License-Identifier: MIT
 *
 * loop/promisify.c - functions that run elsewhere and come back to the loop.
 *
 * A *work* is counted by the loop from its start until it comes back, which it does once, whatever happens to it: a fiber by
 * the callback at its end, which also knows of fibers that were dropped or never had a stack; a work of a pool by its
 * callback, which also knows of those that were cancelled, stopped or given up. So there is no way to leave the promise pending.
 *
 *     made --promise is pending--> inside fn --> back, through the internal track --> the reply settles the promise
 *        `--rejected meanwhile: fn is skipped--------^                   `--no loop any more: settles it here
 *
 * fn is skipped as well when its loop has begun to close. Cancelling rejects the promise and then, under the work's lock, fires
 * the region that the fiber is in; entering looks at the promise under the same lock. So fn is either skipped or cancelled.
 *
 * A pool may give a work up that still runs: then the callback comes first, and what fn replies later is thrown away.
 *
 * References to the work: the promise's, one of the way back, one of fn in a pool. Locks: the work's, then a home's or those of
 * regions.
 */
#include <errno.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/point.h"
#include "loop/promise.h"
#include "os/memory.h"
#include "wait/cancel.h"

struct wf_promisify {
    struct wf_reaction watch; /* first: of the fiber's end */
    _Atomic uint32_t references;
    weft_loop *loop;                 /* to be compared, and no more: it may be gone */
    struct wf_loop_promise *promise; /* with a reference, until it has come back */
    weft_loop_work fn;
    void *arg;
    weft_abort_signal *signal;  /* with a reference, or NULL */
    weft_abort_handler handler; /* it holds a reference to the promise */
    struct wf_loop_job job;     /* the way back */
    struct wf_lock lock;
    bool is_inside; /* under lock, as the next: a fiber is in the region */
    bool has_reply;
    bool is_back;
    struct wf_fibers *fibers; /* of that fiber */
    struct wf_cancel region;
    weft_reply reply;
    char text[WF_LOOP_MESSAGE];
};

static int promisify_check(const weft_promisify_options *options);
static int work_make(weft_loop *loop, struct wf_promisify **out, weft_loop_work fn, void *arg);
static void work_discard(struct wf_promisify *work);
static int work_heed(struct wf_promisify *work, weft_abort_signal *signal);
static void work_aborted(weft_abort_signal *signal, void *opaque);
static int promisify_on_fiber(struct wf_promisify *work, bool is_bound);
static int start_in_pool(struct wf_promisify *work, const weft_promisify_options *options);
static void *work_fiber(void *opaque);
static int work_in_pool(void *opaque);
static void work_run(struct wf_promisify *work);
static bool region_enter(struct wf_promisify *work, struct wf_member *member, bool is_fiber);
static bool is_awaited(struct wf_loop_promise *promise);
static void region_leave(struct wf_promisify *work, struct wf_member *member);
static void keep_reply(struct wf_promisify *work, const weft_reply *reply);
static void work_fiber_ended(struct wf_reaction *reaction, int status, void *result, struct wf_settlement *settlement);
static int work_over(const weft_result *result, void *opaque);
static void come_back(struct wf_promisify *work, int error, const char *text);
static void work_arrive(weft_loop *loop, struct wf_loop_job *job);

int weft_loop_promisify(weft_loop *loop, weft_promise **out, const weft_promisify_options *options, weft_loop_work fn,
                        void *arg) {
    static const weft_promisify_options none;
    if (!options)
        options = &none;
    if (!loop || !out || !fn || promisify_check(options) != 0)
        return -EINVAL;
    int error = wf_loop_keep_by(loop, &loop->workers);
    if (error)
        return error;
    struct wf_promisify *work;
    error = work_make(loop, &work, fn, arg);
    if (error) {
        wf_loop_unkeep_by(loop, &loop->workers);
        return error;
    }
    weft_promise *promise = weft_promise_ref(&work->promise->cell);
    error = options->signal ? work_heed(work, options->signal) : 0;
    if (!error && wf_load_acquire(&promise->state) != WEFT_PROMISE_PENDING) /* pairs with A in promise/promise.c */
        come_back(work, -ECANCELED, NULL);
    else if (!error)
        error = options->where == WEFT_ON_POOL ? start_in_pool(work, options)
                                               : promisify_on_fiber(work, options->where == WEFT_ON_THREAD);
    if (error) {
        work_discard(work);
        wf_loop_unkeep_by(loop, &loop->workers);
        weft_promise_unref(promise);
        return error;
    }
    *out = promise;
    return 0;
}

static int promisify_check(const weft_promisify_options *options) {
    const weft_work_options *work = options->work;
    bool is_pool = options->where == WEFT_ON_POOL;
    if ((unsigned)options->where > WEFT_ON_THREAD || is_pool != (options->pool != NULL) || (work && !is_pool))
        return -EINVAL;
    return work && (work->callback || work->promise || work->retry != WEFT_RETRY_NEVER) ? -EINVAL : 0;
}

static int work_make(weft_loop *loop, struct wf_promisify **out, weft_loop_work fn, void *arg) {
    struct wf_loop_home *home = wf_loop_home(loop);
    struct wf_promisify *work = home ? wf_os_alloc(sizeof *work) : NULL;
    struct wf_loop_promise *promise = work ? wf_loop_promise_make(home, true, 1) : NULL;
    if (!promise) {
        wf_os_free(work);
        return -ENOMEM;
    }
    wf_store_relaxed(&work->references, 2); /* the promise's, and the way back */
    work->loop = loop;
    work->fn = fn;
    work->arg = arg;
    work->promise = promise;
    work->job.run = work_arrive;
    promise->work = work;
    if (!wf_loop_promise_register(promise)) {
        work_discard(work);
        return -EPIPE;
    }
    *out = work;
    return 0;
}

void wf_promisify_unref(struct wf_promisify *work) {
    if (!work || wf_fetch_sub_acq_rel(&work->references, 1) > 1) /* with itself: what others did is done */
        return;
    weft_abort_unref(work->signal);
    wf_os_free(work);
}

/* It never started. */
static void work_discard(struct wf_promisify *work) {
    struct wf_settlement settlement = {0};
    struct wf_settled how = wf_settled_by_end();
    if (work->handler.bits && weft_abort_off(work->signal, work->handler) == 0)
        weft_promise_unref(&work->promise->cell);
    wf_loop_promise_finish(work->promise, &how, &settlement);
    wf_settlement_run(&settlement);
    wf_promisify_unref(work);
}

static int work_heed(struct wf_promisify *work, weft_abort_signal *signal) {
    work->signal = weft_abort_ref(signal);
    weft_promise_ref(&work->promise->cell); /* the handler's */
    int error = weft_abort_on(signal, &work->handler, work_aborted, &work->promise->cell);
    if (error)
        weft_promise_unref(&work->promise->cell);
    return error;
}

static void work_aborted(weft_abort_signal *signal, void *opaque) {
    weft_abort_reason reason = {0};
    weft_abort_get_reason(signal, &reason);
    weft_loop_cancel(opaque, reason.error, reason.text);
    weft_promise_unref(opaque);
}

static int promisify_on_fiber(struct wf_promisify *work, bool is_bound) {
    struct wf_fibers *fibers = wf_runtimes_enter_this(NULL);
    struct wf_settlement settlement = {0};
    weft_spawn_options options = {.bound = is_bound};
    weft_fiber id;
    if (!fibers)
        return -ESRCH;
    int error = -ECANCELED;
    work->watch.ended = work_fiber_ended;
    if (!wf_load_acquire(&fibers->engine.is_stopping)) /* pairs with wf_engine_stop */
        error = wf_fiber_spawn(fibers, is_bound ? &options : NULL, work_fiber, work, false, &id);
    if (!error)
        wf_reaction_watch(&work->watch, fibers, id, &settlement);
    wf_runtimes_leave(fibers);
    wf_settlement_run(&settlement);
    return error;
}

static int start_in_pool(struct wf_promisify *work, const weft_promisify_options *options) {
    weft_work_options with = options->work ? *options->work : (weft_work_options){0};
    with.callback = work_over;
    with.callback_arg = work;
    wf_fetch_add_relaxed(&work->references, 1); /* of fn */
    int error = weft_pool_submit_with(options->pool, NULL, &with, work_in_pool, work);
    if (error)
        wf_promisify_unref(work);
    return error;
}

static void *work_fiber(void *opaque) {
    wf_fiber_set_indirect();
    work_run(opaque);
    return NULL;
}

static int work_in_pool(void *opaque) {
    work_run(opaque);
    wf_promisify_unref(opaque);
    return 0;
}

static void work_run(struct wf_promisify *work) {
    bool is_fiber = wf_fiber_self() != NULL;
    struct wf_member member;
    WF_POINT("promisify.before_enter");
    if (!region_enter(work, &member, is_fiber))
        return;
    WF_POINT("promisify.entered");
    struct wf_loop_frame frame = {.loop = work->loop, .outer = *wf_loop_frames(), .is_worker = true};
    char message[WF_LOOP_MESSAGE];
    *wf_loop_frames() = &frame;
    weft_reply reply = wf_loop_reply_of(work->fn, work->arg, message, sizeof message);
    *wf_loop_frames() = frame.outer; /* a fiber may be on another thread by now, but its stack is the same */
    if (is_fiber)
        region_leave(work, &member);
    keep_reply(work, &reply);
}

/* False: nobody wants it any more. */
static bool region_enter(struct wf_promisify *work, struct wf_member *member, bool is_fiber) {
    wf_lock_take(&work->lock);
    bool is_wanted = !work->is_back && is_awaited(work->promise); /* if it was given up, it has no promise any more */
    if (is_wanted && is_fiber) {
        struct wf_fiber_worker *worker = wf_worker_self();
        struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
        work->fibers = worker->fibers;
        work->is_inside = true;
        wf_cancel_init(&work->region, stack->shields ? NULL : stack->cancel);
        wf_cancel_enter(&work->region, member);
    }
    wf_lock_drop(&work->lock);
    return is_wanted;
}

/* Its promise is pending, and its loop has not begun to close. */
static bool is_awaited(struct wf_loop_promise *promise) {
    struct wf_loop_home *home = promise->home;
    wf_lock_take(&home->lock);
    weft_loop *loop = wf_load_relaxed(&home->loop);
    bool is_open = loop && !wf_load_relaxed(&loop->is_closing);
    wf_lock_drop(&home->lock);
    return is_open && wf_load_acquire(&promise->cell.state) == WEFT_PROMISE_PENDING; /* pairs with A in promise.c */
}

static void region_leave(struct wf_promisify *work, struct wf_member *member) {
    wf_lock_take(&work->lock);
    work->is_inside = false;
    wf_lock_drop(&work->lock);
    wf_cancel_leave(member);
    wf_cancel_term(&work->region);
}

/* Its text lasts until here. */
static void keep_reply(struct wf_promisify *work, const weft_reply *reply) {
    wf_lock_take(&work->lock);
    bool is_kept = !work->is_back;
    if (is_kept) {
        work->reply = *reply;
        work->has_reply = true;
        if (reply->kind == WEFT_REPLY_ERROR && reply->how.text) {
            snprintf(work->text, sizeof work->text, "%s", reply->how.text);
            work->reply.how.text = work->text;
        }
    }
    wf_lock_drop(&work->lock);
    if (!is_kept && reply->kind == WEFT_REPLY_FOLLOW)
        weft_promise_unref(reply->value);
}

static void work_fiber_ended(struct wf_reaction *reaction, int status, void *result, struct wf_settlement *settlement) {
    (void)result;
    (void)settlement;
    come_back((struct wf_promisify *)reaction, status,
              status == -ENOMEM ? "no memory for the stack of the fiber" : "the fiber ended without a reply");
}

static int work_over(const weft_result *result, void *opaque) {
    if (result->attempts == 0)
        wf_promisify_unref(opaque); /* fn's: it was never begun */
    come_back(opaque, result->error ? result->error : -ECANCELED, "the pool ended the work");
    return 0;
}

/* The error is for the case that there is no reply. */
static void come_back(struct wf_promisify *work, int error, const char *text) {
    struct wf_loop_home *home = work->promise->home;
    wf_lock_take(&work->lock);
    work->is_inside = false; /* of a fiber that was dropped */
    work->is_back = true;
    if (!work->has_reply)
        work->reply = weft_reply_error(error ? error : -ECANCELED, text);
    wf_lock_drop(&work->lock);
    WF_POINT("promisify.before_back");
    wf_lock_take(&home->lock);
    weft_loop *loop = wf_load_relaxed(&home->loop);
    int refused = loop ? wf_loop_post_worker(loop, &work->job) : -EPIPE;
    wf_lock_drop(&home->lock);
    if (refused)
        work_arrive(NULL, &work->job);
}

static void work_arrive(weft_loop *loop, struct wf_loop_job *job) {
    struct wf_promisify *work = WF_CONTAINER(job, struct wf_promisify, job);
    struct wf_loop_promise *promise = work->promise;
    struct wf_settlement settlement = {0};
    if (work->handler.bits && weft_abort_off(work->signal, work->handler) == 0)
        weft_promise_unref(&promise->cell);
    if (loop || work->has_reply) {
        wf_loop_promise_reply(promise, &work->reply, &settlement);
    } else {
        struct wf_settled how = wf_settled_by_end();
        wf_loop_promise_finish(promise, &how, &settlement);
    }
    wf_settlement_run(&settlement);
    wf_promisify_unref(work);
}

int weft_loop_cancel(weft_promise *promise, int error, const char *text) {
    struct wf_loop_promise *of = promise ? wf_loop_promise_of(promise) : NULL;
    if (!of || !of->work || error > 0)
        return -EINVAL;
    struct wf_promisify *work = of->work;
    struct wf_settlement settlement = {0};
    struct wf_settled how = wf_settled_error(error ? error : -ECANCELED, text ? text : "it was cancelled");
    if (!wf_promise_settle(promise, &how, &settlement))
        return -EALREADY;
    WF_POINT("promisify.before_cancel");
    struct wf_fiber_worker *worker = wf_worker_self();
    wf_lock_take(&work->lock);
    if (work->is_inside) {
        bool is_outside = !worker || worker->fibers != work->fibers;
        if (!is_outside || wf_runtimes_hold(work->fibers)) {
            wf_cancel_fire(&work->region, how.outcome.error, how.outcome.text);
            if (is_outside)
                wf_runtimes_leave_slow(work->fibers);
        }
    }
    wf_lock_drop(&work->lock);
    wf_settlement_run(&settlement);
    return 0;
}
