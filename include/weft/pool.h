/* SPDX-License-Identifier: MIT
 *
 * weft/pool.h - a pool of threads for work: submit functions, wait for them, stop them, say what comes after what.
 *
 *     weft_pool *pool;
 *     weft_pool_new(&pool, NULL);                            // a thread for every processor
 *     weft_work work;
 *     weft_pool_submit(pool, &work, render, tile);           // int render(void *tile)
 *     weft_pool_wait(pool, WEFT_NEVER);                      // until nothing is left to do
 *     weft_pool_free(pool);
 *
 * A pool has threads of its own, beside those of weft_run, and needs no weft_run. From plain threads, from fibers of any
 * runtime and from works of any pool every call may be made; what waits parks a fiber and blocks a thread.
 *
 * A *work* is a function with an argument that is run once, as a fiber of the pool: while it waits, for another work, a
 * channel, a lock, its thread does something else, so that two threads are enough for any number of works that wait for each
 * other. It returns 0 or more when it has succeeded and a negative error when it has failed; a panic is a failure, -EOWNERDEAD.
 *
 * States: held (it waits for other works, for weft_pool_start or for the end of a stop), queued, running, over. A work is run
 * or cancelled, never both; it is claimed by one atomic step before it runs.
 *
 * Names. A weft_work is a number that no later work of the pool gets again, unless 2^32 works have used its slot. Once the
 * work is over and its result is not stored, calls about it answer -ESTALE. Besides it a work may have an id of the
 * program's choice, a text or a number, which nobody else may have until it is over.
 *
 * Generations. A pool is *idle* when nothing submitted to it is left, and each time between two idle moments is a generation
 * with one WEFT_POOL_STARTED and one WEFT_POOL_IDLED.
 *
 * Functions of the program that the pool calls (callbacks, handlers, predicates) run on whichever thread or fiber brought the
 * thing about. They may call the pool, but not wait for the work they are told about nor, told of a beginning or an end, for the
 * pool, and a negative value or a panic of theirs is reported as WEFT_POOL_ERROR and changes nothing else.
 */
#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include <limits.h>

#include "weft/base.h"
#include "weft/promise.h"
#include "weft/select.h"
#include "weft/time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_pool weft_pool;
typedef struct weft_group weft_group;

typedef struct weft_work {
    uint64_t bits;
} weft_work;
#define WEFT_NO_WORK ((weft_work){0})

typedef int (*weft_work_fn)(void *arg);

enum { WEFT_POOL_THREADS_MAX = 1024, WEFT_WORK_ID_MAX = 255 };

/* An id of the program's choice: a text of 1 to WEFT_WORK_ID_MAX bytes or, when that is null, a number; none when both are
 * null and 0. The text "1" and the number 1 are two ids. */
typedef struct weft_work_id {
    const char *text;
    uint64_t number;
} weft_work_id;

typedef enum weft_work_status {
    WEFT_WORK_PENDING = 0, /* not over */
    WEFT_WORK_SUCCEEDED,
    WEFT_WORK_FAILED,        /* it returned a negative error, or a work that it had to come after has not succeeded */
    WEFT_WORK_CANCELLED,     /* before it began; also one that was discarded */
    WEFT_WORK_STOPPED,       /* it was asked to stop, and did */
    WEFT_WORK_FORCE_STOPPED, /* its waits were cut short, and it came back, or it was given up */
    WEFT_WORK_TIMED_OUT      /* its timeout or deadline passed, and it was stopped or never began */
} weft_work_status;

/* What came of a work. Moments are 0 unless the pool measures. */
typedef struct weft_result {
    weft_work work;
    weft_work_status status;
    int error; /* 0 or the negative error: what it returned, -ECANCELED, -ETIMEDOUT, -ENOENT for a failed dependency */
    int code;  /* what the function returned last */
    void *value;       /* what it gave to weft_work_set_value */
    unsigned attempts; /* times it was begun */
    weft_work cause;   /* the work whose failure made this one fail, or WEFT_NO_WORK */
    weft_time submitted;
    weft_time started; /* for the first time; 0: it never began */
    weft_time ended;
    int64_t run_ns; /* from begin to end, all attempts, waits included */
} weft_result;

typedef int (*weft_work_callback)(const weft_result *result, void *arg);

typedef enum weft_discipline {
    WEFT_POOL_FIFO = 0, /* first in, first out */
    WEFT_POOL_LIFO,     /* last in, first out */
    WEFT_POOL_DEQUE, /* what a work submits is kept by its own thread: newest first there, oldest first for thieves */
    WEFT_POOL_CUSTOM /* by the functions of custom */
} weft_discipline;

/* A queue of the program. All functions are called under a lock of the pool: they must not call it. */
typedef struct weft_work_queue {
    int (*push)(void *queue, weft_work work,
                int priority); /* 0, or a negative error: the submit returns it, or the work fails with it */
    bool (*pop)(void *queue, weft_work *work);     /* the next one to run; false: it is empty */
    bool (*discard)(void *queue, weft_work *work); /* the one that matters least; may be null: pop is used */
} weft_work_queue;

typedef enum weft_placement {
    WEFT_PLACE_DEFAULT = 0,     /* as the pool's; its default: PLACE_SHARED, in a pool with deques PLACE_LOCAL */
    WEFT_PLACE_SHARED,          /* whoever is free first */
    WEFT_PLACE_LOCAL,           /* the submitter's own thread, if it is one of the pool; others steal it */
    WEFT_PLACE_IDLE_THEN_LOCAL, /* an idle thread if there is one, else the submitter's */
} weft_placement;

typedef enum weft_rejection {
    WEFT_REJECT_ABORT = 0,      /* the submit returns -EAGAIN */
    WEFT_REJECT_CALLER_RUNS,    /* the submitter runs it before the submit returns */
    WEFT_REJECT_DISCARD,        /* it is over at once, cancelled */
    WEFT_REJECT_DISCARD_QUEUED, /* the queued work of the lowest priority, the oldest of those, makes room */
    WEFT_REJECT_BLOCK           /* the submitter waits until there is room, or until submit_deadline */
} weft_rejection;

typedef enum weft_retry {
    WEFT_RETRY_NEVER = 0,
    WEFT_RETRY_IMMEDIATE, /* on the spot */
    WEFT_RETRY_REQUEUE    /* at the end of the queue */
} weft_retry;

#define WEFT_RETRY_FOREVER UINT_MAX

/* What happens when a timeout passes. */
typedef enum weft_timeout_action {
    WEFT_TIMEOUT_STOP = 0, /* tell, then ask to stop */
    WEFT_TIMEOUT_FORCE,    /* tell, then stop by force */
    WEFT_TIMEOUT_TELL      /* tell only */
} weft_timeout_action;

/* Zero in a field means the default. */
typedef struct weft_work_options {
    weft_work_id id;
    int priority; /* higher ones first; default 0 */
    weft_placement placement;
    bool on_thread_stack; /* run on the thread's own stack: what waits blocks the thread */
    bool long_running;    /* run on a thread of its own that the pool's limit does not count */
    bool store_result;    /* keep the result until it is removed, or the next generation begins */
    weft_group *group;
    const weft_work
        *after; /* works that have to succeed first, in whatever way others end; over ones count by what became of
                               them, as far as that is known: of the last 65,536 that did not succeed. -EINVAL for a name
                               that was never given out */
    size_t after_count;
    const weft_work_id *after_ids; /* the same by ids, which may be used by works to come */
    size_t after_id_count;
    weft_retry retry;
    unsigned max_retries; /* default 3; WEFT_RETRY_FOREVER */
    int64_t timeout;      /* nanoseconds from its first start, over all attempts, pauses of this work left out */
    weft_timeout_action timeout_action;
    weft_time deadline;          /* a moment: if it is not over by then, it is cancelled, or stopped as by a timeout */
    weft_time submit_deadline;   /* for WEFT_REJECT_BLOCK; default WEFT_NEVER */
    weft_work_callback callback; /* when it is over, before anybody who waits is told; else the pool's */
    void *callback_arg;
    weft_promise **promise; /* gets a promise: resolved with the value, rejected with the error */
} weft_work_options;

typedef enum weft_pool_event_kind {
    WEFT_POOL_STARTED = 0,
    WEFT_POOL_IDLED,           /* duration: of the generation */
    WEFT_POOL_RUNNING_CHANGED, /* before, now: works that run */
    WEFT_POOL_WORK_STARTED,    /* each attempt */
    WEFT_POOL_WORK_ENDED,      /* each attempt that succeeded or failed; also failed without a start */
    WEFT_POOL_WORK_STOPPED,    /* stopped, also by force or by a timeout */
    WEFT_POOL_WORK_CANCELLED,
    WEFT_POOL_WORK_TIMED_OUT,
    WEFT_POOL_TIMED_OUT,
    WEFT_POOL_WORK_REJECTED,  /* no room: before the rule is applied */
    WEFT_POOL_WORK_DISCARDED, /* by that rule */
    WEFT_POOL_ERROR,          /* a function of the program failed: source, error */
    WEFT_POOL_STUCK,          /* works are queued and no thread runs any: a defect, told once; needs tick */
    WEFT_POOL_TICK,           /* the running timer; duration: since the generation began */
    WEFT_POOL_EVENT_KINDS
} weft_pool_event_kind;

typedef enum weft_error_source {
    WEFT_SOURCE_NONE = 0,
    WEFT_SOURCE_WORK, /* a panic */
    WEFT_SOURCE_CALLBACK,
    WEFT_SOURCE_HANDLER,
    WEFT_SOURCE_VETO,
    WEFT_SOURCE_QUEUE, /* custom */
    WEFT_SOURCE_THREAD /* a thread could not be had */
} weft_error_source;

typedef struct weft_pool_event {
    weft_pool_event_kind kind;
    weft_pool *pool;
    weft_work work;
    const weft_result *result; /* for ENDED, STOPPED, CANCELLED, DISCARDED, and errors of callbacks; else null */
    weft_rejection rejection;
    weft_error_source source;
    weft_pool_event_kind failed_kind; /* of the event whose handler failed */
    int error;
    uint32_t before;
    uint32_t now;
    int64_t duration;
} weft_pool_event;

typedef int (*weft_pool_handler)(const weft_pool_event *event, void *arg);

/* Zero in a field means the default. */
typedef struct weft_pool_options {
    const char *name;     /* of its threads, 11 bytes at most; default "weft-pool" */
    unsigned threads;     /* at most, 1 to WEFT_POOL_THREADS_MAX; default: the processors this process may use */
    bool elastic;         /* threads come when they are needed and go when they are idle for keep_alive */
    unsigned min_threads; /* that stay, in an elastic pool; 0: the pool lives without any until work comes */
    int64_t keep_alive;   /* nanoseconds; default 10 s, negative: none */
    weft_discipline discipline;
    const weft_work_queue *custom;
    void *custom_queue;
    bool steal_one; /* a thread that steals takes one work, not half of them */
    weft_placement placement;
    uint32_t max_queued; /* works that may be queued, not counting held and running ones; default: any number */
    weft_rejection rejection;
    uint32_t
        max_running; /* works that may run at one time, those that wait included; default: any number. Not counted: works that
                             have a thread of their own, and those that their submitter runs */
    bool suspended;       /* works are held until weft_pool_start */
    bool store_results;   /* as if every work asked for it */
    bool keep_results;    /* do not clear stored results and ids that are over when a generation begins */
    bool measure;         /* take the moments of results, and keep histograms */
    size_t stack_size;    /* of works, as in weft_options */
    int64_t work_timeout; /* for works without their own */
    weft_timeout_action work_timeout_action;
    int64_t timeout; /* nanoseconds of a generation, pauses of the pool left out */
    weft_timeout_action timeout_action;
    int64_t grace; /* how long a work that was stopped by force may take before it is given up; default 100 ms */
    weft_work_callback callback;
    void *callback_arg;
    weft_pool_handler handler;
    void *handler_arg;
    uint32_t events;  /* bits 1u << weft_pool_event_kind that the handler wants; default: all */
    int64_t tick;     /* nanoseconds between two WEFT_POOL_TICK while the pool is not idle; default: none */
    const char *cpus; /* processors of the machine for its threads, as in weft/thread.h; default: any */
    int nice;         /* of its threads, -20 to 19 */
} weft_pool_options;

/* Makes a pool and starts its threads, but for those that an elastic pool does not need yet. Returns 0; -EINVAL for a wrong
 * option; -ENOMEM; -EAGAIN when no thread or descriptor is to be had; -EBUSY when WEFT_RUNTIMES_MAX runtimes and pools run. */
WEFT_API int weft_pool_new(weft_pool **out, const weft_pool_options *options);

/* Ends everything: what is held or queued is cancelled, what runs is stopped by force, everybody who waits is released, and
 * from then on submits answer -ESHUTDOWN. Returns 0 when nothing runs any more; -EBUSY when a work that was given up after the
 * grace period still does; -EDEADLK from a work of the pool; 0 if it was done before. */
WEFT_API int weft_pool_dispose(weft_pool *pool);
/* Disposes of the pool if that was not done, waits for works that were given up, and frees it. Nobody else uses it any more.
 * Null is allowed. Fatal from a work of the pool. */
WEFT_API void weft_pool_free(weft_pool *pool);

/* Submits fn(arg). out may be null. Returns 0; -EINVAL for a null pointer; -ENOMEM; -EAGAIN or what the rejection rule says
 * when there is no room: -ETIMEDOUT and -ECANCELED for a submitter that waited; -ESHUTDOWN. */
WEFT_API int weft_pool_submit(weft_pool *pool, weft_work *out, weft_work_fn fn, void *arg);
/* The same with options, which may be null. Also -EEXIST for an id that is in use; -EINVAL for a wrong option; -ELOOP when it
 * would come after itself; -ESTALE for a group of another pool. A work that cannot come to run because one that it comes after
 * has not succeeded is over at once, and the submit returns 0. */
WEFT_API int weft_pool_submit_with(weft_pool *pool, weft_work *out, const weft_work_options *options, weft_work_fn fn,
                                   void *arg);
/* Submits fn(args[i]) for count arguments in one step; out, an array of count, may be null. Options may not have an id or a
 * promise. Returns 0, or an error as above: then the first *done works, which may be null, were submitted. */
WEFT_API int weft_pool_submit_batch(weft_pool *pool, weft_work *out, const weft_work_options *options, weft_work_fn fn,
                                    void *const *args, size_t count, size_t *done);

/* Lets a suspended pool go. Returns 0; -EALREADY when it was not suspended; -ESHUTDOWN. */
WEFT_API int weft_pool_start(weft_pool *pool);

/* Waits until the pool is idle. Returns 0; -EDEADLK when all that is left comes after works that were never submitted;
 * -ETIMEDOUT; -ECANCELED; -ENOMEM; -EPERM from a work of the same pool, which would wait for itself. */
WEFT_API int weft_pool_wait(weft_pool *pool, weft_time deadline);
/* No more submits, -ESHUTDOWN, but from works of the pool; and as weft_pool_wait. */
WEFT_API int weft_pool_drain(weft_pool *pool, weft_time deadline);
/* While a pool is held it does not become idle. Returns 0; hold: -ESHUTDOWN, and -EAGAIN while it is being stopped; release:
 * -EINVAL when nobody holds it. */
WEFT_API int weft_pool_hold(weft_pool *pool);
WEFT_API int weft_pool_release(weft_pool *pool);

/* Waits until the work is over and copies its result, if out is not null. Returns 0, whatever became of it; -ESTALE when it is
 * not known: over and not stored; -ETIMEDOUT; -ECANCELED; -ENOMEM; -EDEADLK for the work itself. */
WEFT_API int weft_pool_wait_work(weft_pool *pool, weft_work work, weft_result *out, weft_time deadline);
/* Waits for all of them. Returns how many were not known, or a negative error. out, an array of count, may be null: those that
 * were not known have the status WEFT_WORK_PENDING. */
WEFT_API int weft_pool_wait_works(weft_pool *pool, const weft_work *works, size_t count, weft_result *out,
                                  weft_time deadline);
/* The same without waiting: -EAGAIN while it is not over. */
WEFT_API int weft_pool_poll_work(weft_pool *pool, weft_work work, weft_result *out);
/* A case of weft_select: the work is over. */
WEFT_API weft_case weft_on_work(weft_pool *pool, weft_work work, weft_result *out);

/* As weft_pool_wait and weft_pool_wait_work, and a plain thread runs queued works meanwhile, one after another. What such a
 * work waits for, the thread waits for, and a stop by force does not cut that short. A fiber just waits: its thread helps anyway. */
WEFT_API int weft_pool_help(weft_pool *pool, weft_time deadline);
WEFT_API int weft_pool_help_work(weft_pool *pool, weft_work work, weft_result *out, weft_time deadline);

/* Stored results. find: the work with that id, while it is not over or its result is stored, -ENOENT. remove: forgets a stored
 * result; -ESTALE for no such, -EBUSY for a work that is not over. clear: all of them; returns how many. each: calls fn for every one
 * in no order, until it returns something other than 0, and returns that. */
WEFT_API int weft_pool_find(weft_pool *pool, weft_work_id id, weft_work *out);
WEFT_API int weft_pool_remove(weft_pool *pool, weft_work work);
WEFT_API int weft_pool_clear(weft_pool *pool);
WEFT_API int weft_pool_each_result(weft_pool *pool, int (*fn)(const weft_result *result, void *arg), void *arg);

/* What can be done to a work. */
typedef enum weft_control {
    WEFT_CANCEL = 0, /* before it begins: true exactly once; -EBUSY when it runs */
    WEFT_STOP,       /* queued: cancel; running: its next stop point says so */
    WEFT_FORCE_STOP, /* and its waits are cut short with -ECANCELED, its blocking system call with EINTR; after the grace period
                        it is given up: over as far as the pool is concerned, and its thread replaced until it comes back */
    WEFT_PAUSE, /* its next pause point waits; its timeout too. Paused before: 0 */
    WEFT_RESUME /* -EALREADY when it was not paused */
} weft_control;

/* Returns 0; -ESTALE for a work that is not known or is over; errors as above; -EALREADY for a second stop of the same kind. */
WEFT_API int weft_pool_control(weft_pool *pool, weft_control what, weft_work work);
/* The same to each of them. Returns how many could not be; their names go to failed, which may be null, in order. */
WEFT_API int weft_pool_control_works(weft_pool *pool, weft_control what, const weft_work *works, size_t count,
                                     weft_work *failed);
/* To the whole pool.
 *   CANCEL      everything that is held or queued; returns how many
 *   STOP        cancels everything that is held or queued, asks what runs to stop; submits that come meanwhile are held until
 *               the pool is idle, and then run. 0; -EAGAIN when it is idle; -EALREADY while it is being stopped
 *   FORCE_STOP  the same by force
 *   PAUSE       works wait at their pause points; others still begin. The timeout of the pool stands still, those of works do not
 *   RESUME      and also works that were paused one by one. -EALREADY when nothing was paused */
WEFT_API int weft_pool_control_all(weft_pool *pool, weft_control what);

/* Inside a work. self: WEFT_NO_WORK outside. attempt: from 1; 0 outside. */
WEFT_API weft_work weft_work_self(void);
WEFT_API weft_pool *weft_work_pool(void);
WEFT_API unsigned weft_work_attempt(void);
/* What its result will have as value. Returns 0, or -EPERM outside a work. */
WEFT_API int weft_work_set_value(void *value);
/* Whether it was asked to stop. */
WEFT_API bool weft_work_is_stopping(void);
/* Where a work may end because it was asked to: true means that it is to clean up and return. The hook, which may be null, is
 * asked first; if it returns 0 the stop is vetoed: the request is taken back, and the work goes on as if nothing had been. */
WEFT_API bool weft_work_stop_point(int (*hook)(void *arg), void *arg);
/* Waits while the work, its group or the pool is paused. Returns 0; -ECANCELED when it is stopped by force meanwhile, or the
 * pool disposed of; -EPERM outside a work. */
WEFT_API int weft_work_pause_point(void);
/* No more retries of this work. Inside it, or in its callback or handler. Returns 0, -ESTALE. */
WEFT_API int weft_pool_stop_retry(weft_pool *pool, weft_work work);

/* Changes the number of threads; in a pool that is not elastic min_threads does not matter. Those too many go when their works
 * end or wait. Returns 0; -EINVAL; -ESHUTDOWN. */
WEFT_API int weft_pool_set_threads(weft_pool *pool, unsigned min_threads, unsigned threads);

/* Groups: sets of works, and of other groups below them. A work may be in several. What is done to a group is done to all works
 * in it and below it. A group belongs to its pool and is freed by weft_group_free, at the latest before the pool; its works go on.
 * new: name may be null, or has 1 to 255 bytes. 0, -ENOMEM, -EINVAL, -EEXIST for a name in use. find: -ENOENT. */
WEFT_API int weft_group_new(weft_group **out, weft_pool *pool, const char *name);
WEFT_API int weft_group_find(weft_pool *pool, const char *name, weft_group **out);
WEFT_API void weft_group_free(weft_group *group);
/* Returns 0; -ESTALE for a work that is over; add: -EEXIST; remove: -ENOENT; -ENOMEM. */
WEFT_API int weft_group_add(weft_group *group, weft_work work);
WEFT_API int weft_group_remove(weft_group *group, weft_work work);
/* parent stands above child. Returns 0; -ELOOP when that would close a circle, a group above itself included; -EEXIST; -ESTALE for
 * groups of two pools; -ENOMEM. part: takes it back, -ENOENT. */
WEFT_API int weft_group_join(weft_group *parent, weft_group *child);
WEFT_API int weft_group_part(weft_group *parent, weft_group *child);
/* Waits until no work is left in it or below it. As weft_pool_wait; -EPERM only from a work inside it; -ESTALE when it is freed
 * meanwhile. */
WEFT_API int weft_group_wait(weft_group *group, weft_time deadline);
/* As weft_pool_control_works. For PAUSE and RESUME also what is submitted to it later. */
WEFT_API int weft_group_control(weft_group *group, weft_control what);
/* Works in it and below it that are not over; at most size of them go to works, which may be null. */
WEFT_API size_t weft_group_works(weft_group *group, weft_work *works, size_t size);

/* Levels and counts. */
typedef struct weft_pool_stats {
    bool is_idle, is_stopping, is_suspended, is_paused, is_disposed;
    uint32_t threads; /* that exist and may run works */
    uint32_t threads_idle;
    uint32_t threads_long; /* works that have a thread of their own */
    uint64_t generation;
    uint64_t outstanding; /* submitted and not over */
    uint64_t queued;
    uint64_t held;
    uint64_t running; /* begun and not over, those that wait included */
    uint64_t stored;
    uint64_t submitted;
    uint64_t succeeded, failed, cancelled, stopped, force_stopped, timed_out;
    uint64_t rejected, discarded, retried, abandoned, stolen;
    int64_t runtime_ns; /* time that it was not idle */
    /* When it measures. */
    int64_t queue_ns;             /* from submit to start, the sum */
    int64_t run_ns;               /* from start to end, the sum */
    uint64_t queue_histogram[64]; /* [i]: from 2^i to below 2^(i+1) nanoseconds */
    uint64_t run_histogram[64];
} weft_pool_stats;

/* Returns 0 or -EINVAL. */
WEFT_API int weft_pool_get_stats(weft_pool *pool, weft_pool_stats *out);
/* Names of works: those that are not over for WEFT_WORK_PENDING, else those that ended so and are stored or, for failed ones,
 * remembered. At most size go to works; returns how many there are. */
WEFT_API size_t weft_pool_list(weft_pool *pool, weft_work_status status, weft_work *works, size_t size);

/* Name of a status or an event, for people. */
WEFT_API const char *weft_work_status_name(weft_work_status status);
WEFT_API const char *weft_pool_event_name(weft_pool_event_kind kind);

#ifdef __cplusplus
}
#endif

#endif
