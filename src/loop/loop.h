/* SPDX-License-Identifier: MIT
 *
 * loop/loop.h - the loop: one owner, one lock, one state word.
 *
 * Whoever is inside weft_loop_run owns the loop: its queues (*tracks*), its turn, its free jobs. Everybody else comes through
 * the *ingress*, a second set of the same tracks under the lock, which the owner moves over to its own side before it adds to
 * them itself, before each phase and between the callbacks of a checkpoint. Timers and descriptors are under the lock for
 * everybody, so that an answer about one of them is exact, whoever asks and whether or not the loop runs.
 *
 *     from \ to     how
 *     AWAKE         RUNNING: run. TERMINATING: shutdown or close, whose caller becomes the owner
 *     RUNNING       SLEEPING: the owner has seen under the lock that there is nothing. AWAKE: run returns. TERMINATING
 *     SLEEPING      RUNNING: whoever brings something, and so owns the one wake; or the owner, when its time has come
 *     TERMINATING   TERMINATED: by the owner, once no callback can run any more
 *
 * Every move is made under the lock, by compare and swap. So "is there anything" and "I sleep" are one step for the owner,
 * and "here is something" and "was it asleep" are one step for everybody else: whoever finds SLEEPING makes it RUNNING and
 * wakes it, once, however many come. Termination begins under the same lock: what was accepted before it is in a track, and
 * nothing is accepted after it.
 *
 * A sleeping owner waits in sleepers, by the wait protocol; a plain thread with descriptors sleeps in epoll instead, and is
 * woken by a descriptor, written with the lock held, so that nobody writes to it after it was closed.
 *
 * Lock order: that of the sources, those of objects that they wait for, the loop's lock, then timers of the engine. A promise
 * may be locked when the loop's lock is taken; not the other way round.
 */
#ifndef WF_LOOP_LOOP_H
#define WF_LOOP_LOOP_H

#include "base/heap.h"
#include "base/list.h"
#include "base/state.h"
#include "fiber/fiber.h"
#include "loop/slab.h"
#include "wait/wait.h"
#include "weft/loop.h"

#define WF_LOOP_STATES(X) \
    X(WF_LOOP_AWAKE, "awake", WF_BIT(WF_LOOP_RUNNING) | WF_BIT(WF_LOOP_TERMINATING)) \
    X(WF_LOOP_RUNNING, "running", WF_BIT(WF_LOOP_AWAKE) | WF_BIT(WF_LOOP_SLEEPING) | WF_BIT(WF_LOOP_TERMINATING)) \
    X(WF_LOOP_SLEEPING, "sleeping", WF_BIT(WF_LOOP_RUNNING) | WF_BIT(WF_LOOP_TERMINATING)) \
    X(WF_LOOP_TERMINATING, "terminating", WF_BIT(WF_LOOP_TERMINATED)) \
    X(WF_LOOP_TERMINATED, "terminated", 0)
enum wf_loop_state { WF_LOOP_STATES(WF_STATE_ENUM) };
extern const struct wf_machine wf_loop_machine;

enum wf_track {
    WF_TRACK_TICK,
    WF_TRACK_MICRO,
    WF_TRACK_END, /* of a checkpoint */
    WF_TRACK_POLL,
    WF_TRACK_CHECK,
    WF_TRACK_CLOSE,
    WF_TRACK_INTERNAL,
    WF_TRACK_EXTERNAL,
    WF_TRACKS
};

/* Something to be run by the owner. run gets a null loop when the loop ends without running it: then it only gives back
 * what it holds. The job belongs to run. */
struct wf_loop_job {
    struct wf_loop_job *next;
    void (*run)(weft_loop *loop, struct wf_loop_job *job);
};

struct wf_loop_jobs {
    struct wf_loop_job *first;
    struct wf_loop_job *last;
    uint64_t count;
};

/* Calls of the user, as they came: one job for many of them, which others may be added to for as long as it is the last one
 * of its track and has room. Its run only gives it back; its calls are run one by one, by wf_loop_run_first. */
struct wf_call {
    weft_loop_fn fn;
    void *arg;
};
#ifndef WF_CALLS_MOST
#define WF_CALLS_MOST 254 /* so that all is less than a page; a model has fewer */
#endif
struct wf_calls {
    struct wf_loop_job job; /* first */
    uint32_t begin;         /* the next to run */
    uint32_t end;
    struct wf_call calls[WF_CALLS_MOST];
};

enum wf_timer_state { WF_TIMER_FREE, WF_TIMER_FRESH, WF_TIMER_ARMED, WF_TIMER_QUEUED, WF_TIMER_FIRING };

/* A timer or an immediate, in a slab. Under the loop's lock. */
struct wf_loop_timer {
    struct wf_slot slot; /* first */
    uint8_t state;       /* wf_timer_state: FRESH is in fresh, ARMED in the heap, QUEUED (an immediate) in a track */
    bool is_immediate;
    bool repeats;
    bool keeps;      /* the loop alive */
    bool is_cleared; /* while FIRING or QUEUED */
    struct wf_heap_node node;
    struct wf_list fresh;
    struct wf_loop_job job; /* of an immediate */
    int64_t delay;          /* or period */
    int64_t deadline;
    uint64_t sequence;
    weft_loop_fn fn;
    weft_loop_fn dropped; /* or NULL: the loop ends, and it has not fired */
    void *arg;
};

struct wf_timers_of_loop {
    struct wf_slab slab;
    struct wf_heap heap;    /* has room for all that are fresh or armed */
    struct wf_list fresh;   /* made or set anew since the turn began: not to fire in it */
    int64_t fresh_earliest; /* of those, or before */
    uint64_t sequence;
    uint32_t count; /* fresh, armed and firing ones that repeat */
    uint32_t kept;  /* of those, and of immediates: what keeps the loop alive */
};

struct wf_loop_home;
struct wf_loop_promise;
struct wf_watches;
struct wf_metrics;
struct wf_source;

/* Where the owner is inside callbacks; they nest when a callback runs another loop. */
struct wf_loop_frame {
    weft_loop *loop;
    struct wf_loop_frame *outer;
    bool is_worker; /* not the owner, but a work that the loop has handed out */
};

/* What others write with every call lies on other cache lines than what the owner reads with every callback. */
struct weft_loop {
    _Alignas(64) _Atomic uint32_t state; /* wf_loop_state; moved under lock, read by anybody */
    _Atomic uint32_t has_ingress;        /* a bit for each track that has ingress; written under lock, read by the owner
                                          * without */
    _Atomic uint32_t is_closing;         /* no callback any more; set under lock, read by the owner without */
    _Atomic uint32_t is_stopped;         /* weft_loop_stop; read and cleared by the owner */
    _Atomic uint32_t references;

    /* under lock */
    _Alignas(64) struct wf_lock lock;
    struct wf_loop_jobs ingress[WF_TRACKS];
    struct wf_loop_job *free_shared; /* calls */
    struct wf_waiter *sleepers;      /* the owner, while it sleeps and not in epoll */
    struct wf_waiter *joiners;       /* who wait for the end */
    int64_t sleep_until;             /* of the owner that sleeps */
    bool is_polling;                 /* the owner sleeps in epoll */
    bool is_embedded;                /* a host watches our descriptor while nobody runs us */
    uint32_t keeps;                  /* weft_loop_keep */
    uint32_t sourced;                /* sources that are on */
    uint32_t workers;                /* works that were handed out and have not come back */
    weft_loop_fast fast;
    struct wf_timers_of_loop timers;
    _Atomic(struct wf_watches *) watches; /* NULL until there is need for epoll; read by the owner without */
    _Atomic(struct wf_loop_home *) home;  /* of its promises, or NULL; written once */
    int64_t virtual_now;                  /* virtual time */
    struct wf_fibers *of_fibers;          /* of the owner that is a fiber; else NULL */

    /* the owner's */
    _Alignas(64) struct wf_loop_jobs tracks[WF_TRACKS];
    struct wf_loop_jobs batch; /* the rest of the present phase */
    struct wf_loop_job *free_own;
    uint32_t free_count;
    uint64_t turn;
    int64_t now;                   /* when the timers of this turn were looked at */
    struct wf_loop_timer *firing;  /* whose callback runs, when it repeats */
    struct wf_source *sourcing;    /* the same for a source */
    bool (*step)(weft_loop *loop); /* of the present phase: one callback; false: none left */
    bool has_started;
    bool is_asked;        /* on_quiet, in this round */
    bool is_resumed;      /* by on_quiet */
    bool owes_checkpoint; /* a callback has run since the last one */
    bool is_in_checkpoint;
    bool is_yielding;                 /* weft_loop_yield_checkpoint */
    uint64_t drained;                 /* microtasks of the present checkpoint */
    int error;                        /* why weft_loop_run has to return, or 0 */
    enum wf_track checkpoint_track;   /* where it is, or was when a callback panicked */
    struct wf_loop_promise *reacting; /* whose handler runs, or NULL */
    struct wf_try_mark mark;          /* what a fiber that owns it had opened when the present callback began */
    const char *source;               /* what runs, for reports */
    const char *track_source;         /* of the present batch */
    weft_loop_fn running;             /* and its function, or NULL */
    struct wf_list unhandled;         /* rejected promises nobody has handled: loop/promise.c */
    struct wf_metrics *metrics;       /* or NULL; constant */

    struct wf_lock sources_lock;
    struct wf_slab sources; /* loop/source.c; under sources_lock */

    weft_loop_options options; /* constant; its name points here */
    char name[32];
};

/* loop/life.c */
/* The innermost frame of the caller, thread or fiber. */
struct wf_loop_frame **wf_loop_frames(void);
static inline bool wf_loop_is_mine(const weft_loop *loop) {
    struct wf_loop_frame *frame = *wf_loop_frames();
    return frame && frame->loop == loop && !frame->is_worker;
}
static inline enum wf_loop_state wf_loop_state(const weft_loop *loop) {
    return wf_load_relaxed(&((weft_loop *)loop)->state);
}
static inline bool wf_loop_is_ending(const weft_loop *loop) {
    return wf_loop_state(loop) >= WF_LOOP_TERMINATING;
}
/* With the lock: true when the state was from. */
bool wf_loop_move_locked(weft_loop *loop, enum wf_loop_state from, enum wf_loop_state to);
/* The same from RUNNING or SLEEPING to TERMINATING, if it is in one of them. True: the owner sleeps, and is to be woken. */
bool wf_loop_shut_locked(weft_loop *loop);
/* The owner's answer: whether something keeps the loop from ending. */
bool wf_loop_is_alive_owner(weft_loop *loop);
bool wf_loop_is_alive_locked(const weft_loop *loop);
/* weft_loop_keep and weft_loop_unkeep, with keeps, sourced or workers as the counter. */
int wf_loop_keep_by(weft_loop *loop, uint32_t *counter);
void wf_loop_unkeep_by(weft_loop *loop, uint32_t *counter);

/* loop/job.c */
static inline void wf_loop_jobs_append(struct wf_loop_jobs *jobs, struct wf_loop_job *job) {
    job->next = NULL;
    if (jobs->first)
        jobs->last->next = job;
    else
        jobs->first = job;
    jobs->last = job;
    jobs->count++;
}
static inline struct wf_loop_job *wf_loop_jobs_take(struct wf_loop_jobs *jobs) {
    struct wf_loop_job *job = jobs->first;
    if (job) {
        jobs->first = job->next;
        jobs->count--;
    }
    return job;
}
void wf_loop_jobs_move(struct wf_loop_jobs *to, struct wf_loop_jobs *from);
/* Puts a job into a track, from anywhere; needs no memory. Returns 0, or -EPIPE: then the job is still the caller's. */
int wf_loop_post(weft_loop *loop, enum wf_track track, struct wf_loop_job *job);
/* The same for a work that comes back (workers counts it): refused only by a loop that closes or is over. */
int wf_loop_post_worker(weft_loop *loop, struct wf_loop_job *job);
/* The owner takes over what others have brought. */
void wf_loop_materialise(weft_loop *loop);
enum { WF_CHECKPOINT_TRACKS = 1 << WF_TRACK_TICK | 1 << WF_TRACK_MICRO | 1 << WF_TRACK_END };
/* Only for those tracks: while others bring work for a phase, callbacks of the present one leave the lock alone. */
static inline void wf_loop_look_for(weft_loop *loop, uint32_t tracks) {
    if (WF_UNLIKELY(wf_load_relaxed(&loop->has_ingress) & tracks))
        wf_loop_materialise(loop);
}
static inline void wf_loop_look(weft_loop *loop) {
    wf_loop_look_for(loop, UINT32_MAX);
}
/* With the lock. No store without need, so that the cache line does not go to and fro. */
static inline void wf_loop_mark_ingress_locked(weft_loop *loop, enum wf_track track) {
    uint32_t marks = wf_load_relaxed(&loop->has_ingress);
    if (!(marks & 1u << track))
        wf_store_relaxed(&loop->has_ingress, marks | 1u << track);
}
/* The owner: one callback of a track that has some. */
void wf_loop_run_first(weft_loop *loop, struct wf_loop_jobs *jobs, const char *source);
/* Whether a track has something: the owner's side only; or either side, with the lock, while nobody owns it. */
bool wf_loop_has_jobs(const weft_loop *loop);
static inline bool wf_loop_has_work_locked(weft_loop *loop) {
    return wf_load_relaxed(&loop->has_ingress) || wf_loop_has_jobs(loop);
}
/* The loop ends: drops what is in the tracks, and the memory of free jobs. */
void wf_loop_drop_jobs(weft_loop *loop);
void wf_loop_free_jobs(weft_loop *loop);

/* loop/turn.c */
void wf_loop_start_up(weft_loop *loop);
void wf_loop_turn(weft_loop *loop, bool may_wait, int64_t deadline_ns);
/* The end: all tracks until they are empty. */
void wf_loop_drain(weft_loop *loop);
/* One checkpoint, contained. */
void wf_loop_checkpoint(weft_loop *loop);
/* Runs step after step, with a checkpoint after each; a panic costs the step it happens in. */
void wf_loop_run_steps(weft_loop *loop, bool (*step)(weft_loop *loop));
enum { WF_LOOP_MESSAGE = 160 };
/* To on_failure, or on standard error. */
void wf_loop_tell(weft_loop *loop, const char *source, weft_loop_fn fn, const char *message);
/* Around every callback, for reports and metrics; also after a panic. */
int wf_metrics_new(struct wf_metrics **out);
void wf_metrics_free(struct wf_metrics *metrics);
void wf_metrics_begin(weft_loop *loop);
void wf_metrics_end(weft_loop *loop);
/* The rest of loop/metrics.c; like those two, only for a loop that has metrics. */
void wf_metrics_panic(weft_loop *loop, bool in_checkpoint); /* true: the callback that runs the checkpoint goes on */
void wf_metrics_turn_begin(weft_loop *loop);
void wf_metrics_turn_end(weft_loop *loop);
void wf_metrics_sleep(weft_loop *loop);
void wf_metrics_awake(weft_loop *loop);
void wf_metrics_woken(weft_loop *loop); /* by anybody */
/* With the loop's lock: a timer fires; the ingress is about to be taken over. */
void wf_metrics_late_locked(weft_loop *loop, int64_t deadline_ns);
void wf_metrics_ingress_locked(weft_loop *loop);
/* The internal phase is about to begin. */
void wf_metrics_internal(weft_loop *loop);
static inline void wf_loop_enter(weft_loop *loop, const char *source, weft_loop_fn fn) {
    loop->source = source;
    loop->running = fn;
    if (WF_UNLIKELY(loop->of_fibers != NULL))
        wf_try_mark(&loop->mark);
    if (WF_UNLIKELY(loop->metrics != NULL))
        wf_metrics_begin(loop);
}
static inline void wf_loop_leave(weft_loop *loop) {
    if (WF_UNLIKELY(loop->of_fibers != NULL)) /* a plain thread defers nothing */
        wf_deferred_look();
    if (WF_UNLIKELY(loop->metrics != NULL))
        wf_metrics_end(loop);
}

/* loop/sleep.c */
/* The owner sleeps until something comes, or until that moment; not at all if something is there. */
void wf_loop_sleep(weft_loop *loop, int64_t until_ns);
/* With the lock: wakes an owner that was asleep, or waits for its works. What is returned, if anything, is to be given to
 * wf_wait_wake. */
struct wf_waiter *wf_loop_wake_locked(weft_loop *loop, bool was_asleep);
/* Something has come: makes a loop that sleeps run, drops the lock and wakes it. */
void wf_loop_drop_and_rouse(weft_loop *loop);
/* With the lock: until when the owner may sleep for its timers. */
int64_t wf_loop_earliest_locked(const weft_loop *loop);

/* loop/timer.c */
void wf_loop_timers_init(weft_loop *loop);
/* weft_set_timeout for the library. keeps: the loop alive, from the start. When the loop ends before it has fired, dropped(arg)
 * is called instead, by whoever ends it, without the lock; one that was cleared is neither fired nor dropped. */
int wf_loop_set_timeout(weft_loop *loop, weft_loop_timer *out, int64_t delay, bool keeps, weft_loop_fn fn,
                        weft_loop_fn dropped, void *arg);
/* The turn begins: what was fresh may fire. */
void wf_loop_timers_merge(weft_loop *loop);
bool wf_loop_timer_step(weft_loop *loop);
/* The loop ends: none of them fires any more. */
void wf_loop_timers_discard(weft_loop *loop);
void wf_loop_timers_term(weft_loop *loop);
int64_t wf_loop_clock(weft_loop *loop);

/* loop/watch.c */
/* With the lock: whether the loop has to look at descriptors when it polls. */
bool wf_watch_is_needed_locked(const weft_loop *loop);
/* With the lock: the owner is about to sleep and descriptors are to wake it. A thread's epoll is there from then on; for a
 * fiber the engine's poller rouses the loop when something is ready. Returns 0, or an error, and then it must not sleep. */
int wf_watch_arm_locked(weft_loop *loop);
/* The owner, without the lock: waits in epoll until that moment (0: only looks) and keeps what is ready. A fiber only looks. */
void wf_watch_poll(weft_loop *loop, int64_t until_ns);
/* One callback of what is ready; false: none left. */
bool wf_watch_step(weft_loop *loop);
/* With the lock: epoll returns, or a host's does. */
void wf_watch_signal_locked(weft_loop *loop);
/* With the lock: how many keep the loop alive. */
uint32_t wf_watch_count_locked(const weft_loop *loop);
/* The owner leaves, without the lock, before somebody else can own the loop: no engine watches it any more. */
void wf_watch_leave(weft_loop *loop);
/* The loop ends: removes all, closes everything. */
void wf_watch_close(weft_loop *loop);

/* loop/source.c */
void wf_loop_sources_init(weft_loop *loop);
/* The callback of a source that repeats has ended, or panicked: it waits for the next time. Else nothing. */
void wf_loop_source_end(weft_loop *loop);
/* The loop ends: none of them waits any more. What they have taken is in the external track. */
void wf_loop_sources_stop(weft_loop *loop);
void wf_loop_sources_term(weft_loop *loop);

/* loop/promise.c: the loop ends; its promises are rejected. */
void wf_loop_promises_reject(weft_loop *loop);
/* The loop is freed. */
void wf_loop_promises_term(weft_loop *loop);
/* The handler that ran for that promise was left by a panic. */
void wf_loop_promise_panicked(struct wf_loop_promise *promise, const char *message);
/* The same when the fiber that ran it was dropped with its runtime. */
void wf_loop_promise_dropped(struct wf_loop_promise *promise);
/* The owner is about to sleep: gives memory of promises back that was kept for the next ones. */
void wf_loop_promises_trim(weft_loop *loop);
/* Both queues of the checkpoint are empty: rejections that nobody has handled are told. */
void wf_loop_promises_tell(weft_loop *loop);

#endif
