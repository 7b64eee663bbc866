/* SPDX-License-Identifier: MIT
 *
 * loop/job.c - tracks: how work comes in, from the owner and from everybody else. Model: loop/loop.h.
 *
 * The owner adds to its own tracks without a lock, but not before it has taken over what others have brought: whoever saw
 * their call return before the owner's began finds them in that order.
 *
 * Calls are kept in arrays, so that most of them need no allocation, and the memory of one after another is read in order.
 * Free arrays are in two lists, one on each side of the lock; the owner, who empties them all, hands its list over when the
 * other side has run out. The owner keeps at most KEPT of them.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "loop/loop.h"
#include "os/memory.h"

enum { KEPT = 256 }; /* a megabyte: memory that comes and goes with each burst costs more than the calls */

static int submit(weft_loop *loop, enum wf_track track, weft_loop_fn fn, void *arg);
static int submit_owner(weft_loop *loop, enum wf_track track, weft_loop_fn fn, void *arg);
static int post_owner(weft_loop *loop, enum wf_track track, struct wf_loop_job *job);
static void post_locked(weft_loop *loop, enum wf_track track, struct wf_loop_job *job);
static bool owner_is_refused(const weft_loop *loop, enum wf_track track);
static bool calls_are_open(const struct wf_loop_jobs *jobs);
static int calls_open_locked(weft_loop *loop, struct wf_loop_jobs *jobs);
static void calls_link(struct wf_loop_jobs *jobs, struct wf_loop_job *job);
static void calls_append(struct wf_loop_jobs *jobs, weft_loop_fn fn, void *arg);
static void calls_run(weft_loop *loop, struct wf_loop_job *job);
static void calls_give(weft_loop *loop, struct wf_loop_job *job);
static void calls_free(struct wf_loop_job *first);

int weft_loop_submit(weft_loop *loop, weft_loop_fn fn, void *arg) {
    return submit(loop, WF_TRACK_EXTERNAL, fn, arg);
}

int weft_loop_submit_internal(weft_loop *loop, weft_loop_fn fn, void *arg) {
    return submit(loop, WF_TRACK_INTERNAL, fn, arg);
}

int weft_loop_submit_poll(weft_loop *loop, weft_loop_fn fn, void *arg) {
    return submit(loop, WF_TRACK_POLL, fn, arg);
}

int weft_loop_microtask(weft_loop *loop, weft_loop_fn fn, void *arg) {
    return submit(loop, WF_TRACK_MICRO, fn, arg);
}

int weft_loop_next_tick(weft_loop *loop, weft_loop_fn fn, void *arg) {
    return submit(loop, WF_TRACK_TICK, fn, arg);
}

int weft_loop_checkpoint_end(weft_loop *loop, weft_loop_fn fn, void *arg) {
    return submit(loop, WF_TRACK_END, fn, arg);
}

int weft_loop_close_callback(weft_loop *loop, weft_loop_fn fn, void *arg) {
    return submit(loop, WF_TRACK_CLOSE, fn, arg);
}

static int submit(weft_loop *loop, enum wf_track track, weft_loop_fn fn, void *arg) {
    if (!loop || !fn)
        return -EINVAL;
    if (wf_loop_is_mine(loop))
        return submit_owner(loop, track, fn, arg);
    struct wf_loop_jobs *jobs = &loop->ingress[track];
    wf_lock_take(&loop->lock);
    int error = wf_loop_is_ending(loop) ? -EPIPE : calls_are_open(jobs) ? 0 : calls_open_locked(loop, jobs);
    if (WF_UNLIKELY(error)) {
        wf_lock_drop(&loop->lock);
        return error;
    }
    calls_append(jobs, fn, arg);
    wf_loop_mark_ingress_locked(loop, track);
    wf_loop_drop_and_rouse(loop);
    return 0;
}

static inline bool calls_are_open(const struct wf_loop_jobs *jobs) {
    return jobs->first && jobs->last->run == calls_run && ((struct wf_calls *)jobs->last)->end < WF_CALLS_MOST;
}

static inline void calls_append(struct wf_loop_jobs *jobs, weft_loop_fn fn, void *arg) {
    struct wf_calls *calls = (struct wf_calls *)jobs->last;
    wf_context_release(&calls->calls[calls->end]);
    calls->calls[calls->end++] = (struct wf_call){fn, arg};
    jobs->count++;
}

/* Makes room at the end of ingress. The lock is dropped for the time of an allocation. Returns 0, -ENOMEM, -EPIPE. */
static WF_NOINLINE int calls_open_locked(weft_loop *loop, struct wf_loop_jobs *jobs) {
    if (!loop->free_shared) {
        wf_lock_drop(&loop->lock);
        struct wf_calls *calls = wf_os_alloc(sizeof *calls);
        WF_POINT("loop.before_admission");
        wf_lock_take(&loop->lock);
        if (calls) {
            calls->job.next = loop->free_shared;
            loop->free_shared = &calls->job;
        }
    }
    if (wf_loop_is_ending(loop))
        return -EPIPE;
    if (calls_are_open(jobs)) /* somebody else was faster */
        return 0;
    struct wf_loop_job *job = loop->free_shared;
    if (!job)
        return -ENOMEM;
    loop->free_shared = job->next;
    calls_link(jobs, job);
    return 0;
}

static void calls_link(struct wf_loop_jobs *jobs, struct wf_loop_job *job) {
    struct wf_calls *calls = (struct wf_calls *)job;
    calls->begin = calls->end = 0;
    job->run = calls_run;
    wf_loop_jobs_append(jobs, job);
    jobs->count--; /* it counts what it holds */
}

static int submit_owner(weft_loop *loop, enum wf_track track, weft_loop_fn fn, void *arg) {
    struct wf_loop_jobs *jobs = &loop->tracks[track];
    wf_loop_look_for(loop, 1u << track);
    if (WF_UNLIKELY(owner_is_refused(loop, track)))
        return -EPIPE;
    if (!calls_are_open(jobs)) {
        struct wf_loop_job *job = loop->free_own;
        if (job) {
            loop->free_own = job->next;
            loop->free_count--;
        } else {
            job = wf_os_alloc(sizeof(struct wf_calls));
            if (!job)
                return -ENOMEM;
        }
        calls_link(jobs, job);
    }
    calls_append(jobs, fn, arg);
    return 0;
}

/* The owner that ends its loop still drains microtasks: only it may add some. */
static bool owner_is_refused(const weft_loop *loop, enum wf_track track) {
    return wf_loop_is_ending(loop) && track > WF_TRACK_END;
}

void wf_loop_run_first(weft_loop *loop, struct wf_loop_jobs *jobs, const char *source) {
    struct wf_loop_job *job = jobs->first;
    jobs->count--;
    if (WF_LIKELY(job->run == calls_run)) {
        struct wf_calls *calls = (struct wf_calls *)job;
        wf_context_acquire(&calls->calls[calls->begin]);
        struct wf_call call = calls->calls[calls->begin++];
        if (calls->begin == calls->end) {
            jobs->first = job->next;
            calls_give(loop, job);
        }
        wf_loop_enter(loop, source, call.fn);
        call.fn(call.arg);
    } else {
        jobs->first = job->next;
        wf_loop_enter(loop, source, NULL);
        job->run(loop, job);
    }
    wf_loop_leave(loop);
}

static inline void calls_give(weft_loop *loop, struct wf_loop_job *job) {
    if (WF_UNLIKELY(loop->free_count == KEPT)) {
        wf_os_free(job);
        return;
    }
    job->next = loop->free_own;
    loop->free_own = job;
    loop->free_count++;
}

/* The loop ends: what is left of them is not run. */
static void calls_run(weft_loop *loop, struct wf_loop_job *job) {
    WF_ASSERT(!loop);
    wf_os_free(job);
}

int wf_loop_post(weft_loop *loop, enum wf_track track, struct wf_loop_job *job) {
    if (wf_loop_is_mine(loop))
        return post_owner(loop, track, job);
    wf_lock_take(&loop->lock);
    if (wf_loop_is_ending(loop)) {
        wf_lock_drop(&loop->lock);
        return -EPIPE;
    }
    post_locked(loop, track, job);
    wf_loop_drop_and_rouse(loop);
    return 0;
}

static int post_owner(weft_loop *loop, enum wf_track track, struct wf_loop_job *job) {
    wf_loop_look_for(loop, 1u << track);
    if (WF_UNLIKELY(owner_is_refused(loop, track)))
        return -EPIPE;
    wf_loop_jobs_append(&loop->tracks[track], job);
    return 0;
}

static void post_locked(weft_loop *loop, enum wf_track track, struct wf_loop_job *job) {
    wf_loop_jobs_append(&loop->ingress[track], job);
    wf_loop_mark_ingress_locked(loop, track);
}

int wf_loop_post_worker(weft_loop *loop, struct wf_loop_job *job) {
    wf_lock_take(&loop->lock);
    WF_ASSERT(loop->workers > 0);
    loop->workers--;
    bool is_refused = wf_load_relaxed(&loop->is_closing) || wf_loop_state(loop) == WF_LOOP_TERMINATED;
    if (!is_refused)
        post_locked(loop, WF_TRACK_INTERNAL, job);
    wf_loop_drop_and_rouse(loop);
    return is_refused ? -EPIPE : 0;
}

void wf_loop_materialise(weft_loop *loop) {
    WF_POINT("loop.before_materialise");
    wf_lock_take(&loop->lock);
    if (loop->metrics)
        wf_metrics_ingress_locked(loop);
    for (int track = 0; track < WF_TRACKS; track++)
        wf_loop_jobs_move(&loop->tracks[track], &loop->ingress[track]);
    wf_store_relaxed(&loop->has_ingress, 0);
    if (!loop->free_shared) {
        loop->free_shared = loop->free_own;
        loop->free_own = NULL;
        loop->free_count = 0;
    }
    wf_lock_drop(&loop->lock);
}

void wf_loop_jobs_move(struct wf_loop_jobs *to, struct wf_loop_jobs *from) {
    if (!from->first)
        return;
    if (to->first) {
        to->last->next = from->first;
        to->last = from->last;
        to->count += from->count;
    } else {
        *to = *from;
    }
    *from = (struct wf_loop_jobs){0};
}

bool wf_loop_has_jobs(const weft_loop *loop) {
    for (int track = 0; track < WF_TRACKS; track++)
        if (loop->tracks[track].first)
            return true;
    return loop->batch.first != NULL;
}

void wf_loop_drop_jobs(weft_loop *loop) {
    do {
        wf_loop_materialise(loop);
        for (int track = 0; track < WF_TRACKS; track++)
            wf_loop_jobs_move(&loop->batch, &loop->tracks[track]);
        struct wf_loop_job *job;
        while ((job = wf_loop_jobs_take(&loop->batch)))
            job->run(NULL, job);
    } while (wf_loop_has_jobs(loop));
}

void wf_loop_free_jobs(weft_loop *loop) {
    calls_free(loop->free_own);
    calls_free(loop->free_shared);
}

static void calls_free(struct wf_loop_job *first) {
    while (first) {
        struct wf_loop_job *next = first->next;
        wf_os_free(first);
        first = next;
    }
}
