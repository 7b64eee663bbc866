/* SPDX-License-Identifier: MIT
 *
 * weft/loop.h - event loops with the semantics of JavaScript.
 *
 *     static void tick(void *arg) { puts(arg); }
 *     weft_loop *loop;
 *     weft_loop_new(&loop, NULL);
 *     weft_set_timeout(loop, NULL, 10 * WEFT_MILLISECOND, tick, "third");
 *     weft_loop_submit(loop, tick, "second");
 *     weft_loop_microtask(loop, tick, "first");
 *     weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);       // returns when nothing is left to do
 *     weft_loop_unref(loop);
 *
 * A loop has one *owner* at a time, the plain thread or the fiber inside weft_loop_run, and every callback runs there. All
 * other calls may come from anywhere. A loop that has nothing to do parks its fiber, or its thread, and makes no wake-ups.
 *
 * One turn:
 *
 *     microtasks      all of them, and those that they add
 *     poll            descriptors that are ready, weft_loop_submit_poll; here it sleeps when nothing else is to be done
 *     check           immediates
 *     close           close callbacks
 *     timers          those that are due, and older than this turn
 *     internal        the priority lane of weft_loop_submit_internal
 *     external        weft_loop_submit
 *
 * Each phase runs what is there when it begins; what is added meanwhile waits for the next turn. After every callback comes
 * a microtask checkpoint: first all of weft_loop_next_tick, then all microtasks, and again until both are empty. Before the
 * first turn: internal, microtasks, due timers.
 *
 * A loop ends when nothing is *alive* (a timer, a descriptor, work that was handed out, weft_loop_keep, anything queued), by
 * weft_loop_shutdown, which runs what was accepted, or by weft_loop_close, which does not. From then on calls answer -EPIPE.
 *
 * A callback that panics, or calls weft_exit, is left and reported, and the loop goes on with the next one; pthread_exit
 * inside a callback is not allowed. Null loops and functions are -EINVAL.
 */
#ifndef WEFT_LOOP_H
#define WEFT_LOOP_H

#include "weft/promise.h"
#include "weft/select.h"
#include "weft/time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_loop weft_loop;
typedef void (*weft_loop_fn)(void *arg);

/* How a loop sleeps. AUTO: on a word in memory while no descriptor is registered, else in epoll. FORCED: never in epoll, and
 * descriptors are refused. DISABLED: always in epoll. A fiber's loop parks the fiber in each case. */
typedef enum weft_loop_fast { WEFT_LOOP_FAST_AUTO = 0, WEFT_LOOP_FAST_FORCED, WEFT_LOOP_FAST_DISABLED } weft_loop_fast;

typedef enum weft_loop_mode {
    WEFT_LOOP_UNTIL_QUIET = 0, /* turn after turn until nothing is alive */
    WEFT_LOOP_ONCE,            /* one turn, which may sleep */
    WEFT_LOOP_NO_WAIT          /* one turn, which does not */
} weft_loop_mode;

typedef enum weft_loop_state {
    WEFT_LOOP_AWAKE = 0, /* nobody runs it */
    WEFT_LOOP_RUNNING,
    WEFT_LOOP_SLEEPING,
    WEFT_LOOP_TERMINATING, /* nothing is accepted any more; what was is carried out, or not */
    WEFT_LOOP_TERMINATED   /* no callback will run */
} weft_loop_state;

/* A callback that went wrong, or something the loop wants to be known. */
typedef struct weft_loop_failure {
    const char
        *source; /* what kind of callback: "microtask", "timer", "descriptor", ...; "budget", "microtasks", "poll" */
    weft_loop_fn fn;     /* or NULL */
    const char *message; /* of the panic; until the hook returns */
} weft_loop_failure;

typedef struct weft_loop_options {
    const char *name; /* for reports; copied, cut at 31 bytes */
    weft_loop_fast fast;
    bool stays;        /* when nothing is alive weft_loop_run returns, but the loop is not over: it may be run again */
    bool virtual_time; /* a clock that stands until weft_loop_advance, or until only a timer can be waited for */
    bool metrics;      /* see weft_loop_get_metrics */
    bool traces;       /* each promise remembers where it was made: weft_loop_promise_trace */
    bool batches;      /* not as JavaScript: one checkpoint after each phase, instead of each callback */
    /* Not as JavaScript: at most that many microtasks in one checkpoint; the rest waits for the next, and on_failure is
     * told. 0: all of them. */
    uint32_t budget;
    uint32_t warn_after; /* on_failure is told once when one checkpoint runs that many; 0: 100,000 */
    /* Hooks run on the owner. on_failure: instead of a line on standard error. on_quiet: nothing is alive; true: look again
     * (it may also have added something), false: end. */
    void (*on_failure)(weft_loop *loop, const weft_loop_failure *failure, void *arg);
    bool (*on_quiet)(weft_loop *loop, void *arg);
    /* on_unhandled: at the end of a checkpoint, once for each promise of the loop that was rejected and that nobody handles,
     * instead of a line on standard error. on_handled_late: one of those has got a handler after all. */
    void (*on_unhandled)(weft_loop *loop, weft_promise *promise, const weft_outcome *outcome, void *arg);
    void (*on_handled_late)(weft_loop *loop, weft_promise *promise, void *arg);
    void *arg;
} weft_loop_options;

enum { WEFT_LOOP_BUDGET = 1024 }; /* a usual budget */

/* Makes a loop with one reference. options may be null. Returns 0, -ENOMEM, -EINVAL for a null out or an unknown fast. */
WEFT_API int weft_loop_new(weft_loop **out, const weft_loop_options *options);
WEFT_API weft_loop *weft_loop_ref(weft_loop *loop);
/* The last one closes a loop that has not ended. Whoever runs it has one of its own. Null is allowed. */
WEFT_API void weft_loop_unref(weft_loop *loop);

/* Runs the loop here. Returns 0 once it has ended, or when nothing is alive; 1 when something is (ONCE and NO_WAIT, and after
 * weft_loop_stop); -EBUSY when somebody else runs it; -EDEADLK inside one of its own callbacks or works; -EPIPE when it has ended or
 * is about to; -ETIMEDOUT or -ECANCELED when the deadline has passed, or the fiber was cancelled, between two turns, -ENOMEM
 * when there is no room for a fiber's deadline: then it may be run again; and errors of epoll and eventfd, of
 * which one of the wait itself also ends the loop. */
WEFT_API int weft_loop_run(weft_loop *loop, weft_loop_mode mode, weft_time deadline);
/* weft_loop_run returns after this turn, or at once when it comes. */
WEFT_API int weft_loop_stop(weft_loop *loop);
/* The loop whose callback is running here, or NULL. */
WEFT_API weft_loop *weft_loop_current(void);
WEFT_API weft_loop_state weft_loop_get_state(const weft_loop *loop);
/* Whether something keeps it from ending. Exact for the owner and while nobody runs it; else true when in doubt. */
WEFT_API bool weft_loop_is_alive(weft_loop *loop);
/* Keeps the loop alive, and no longer; they are counted. Keeping is -EPIPE from the loop's end on; one unkeep too many is
 * fatal. */
WEFT_API int weft_loop_keep(weft_loop *loop);
WEFT_API void weft_loop_unkeep(weft_loop *loop);

/* For embedding in another loop: a descriptor that is readable when weft_loop_run(loop, WEFT_LOOP_NO_WAIT, ..) has something
 * to do, or errors of epoll and eventfd; -ENOTSUP with FORCED; -EPIPE from the loop's end on. And the moment when it has to be called at the latest. The
 * descriptor is the loop's. */
WEFT_API int weft_loop_backend_fd(weft_loop *loop);
WEFT_API weft_time weft_loop_backend_deadline(weft_loop *loop);

/* Each returns 0, -ENOMEM, -EPIPE. From any thread, in order, and never blocks.
 *   submit            the external phase
 *   submit_internal   the internal phase, before all that is external
 *   submit_poll       the poll phase, after descriptors: for what arrives from outside, as Node's messages do
 *   microtask         the next checkpoint; in the loop's last moments from its callbacks only
 *   next_tick         the same, before microtasks
 *   checkpoint_end    once, when next both queues are empty
 *   close_callback    the close phase */
WEFT_API int weft_loop_submit(weft_loop *loop, weft_loop_fn fn, void *arg);
WEFT_API int weft_loop_submit_internal(weft_loop *loop, weft_loop_fn fn, void *arg);
WEFT_API int weft_loop_submit_poll(weft_loop *loop, weft_loop_fn fn, void *arg);
WEFT_API int weft_loop_microtask(weft_loop *loop, weft_loop_fn fn, void *arg);
WEFT_API int weft_loop_next_tick(weft_loop *loop, weft_loop_fn fn, void *arg);
WEFT_API int weft_loop_checkpoint_end(weft_loop *loop, weft_loop_fn fn, void *arg);
WEFT_API int weft_loop_close_callback(weft_loop *loop, weft_loop_fn fn, void *arg);
/* A loop that sleeps makes a turn. Returns 0, -EPIPE. */
WEFT_API int weft_loop_wake(weft_loop *loop);

/* For hosts of a language, inside a callback; -EPERM elsewhere. call: fn(arg) as a callback of its own, then a checkpoint
 * unless one is running. run_checkpoint: a checkpoint now. yield_checkpoint: the one that is running ends with the present
 * callback, and the rest is done at the next boundary; if none is running, the one that would follow the present callback is
 * left to the next callback of the phase, or to its end. */
WEFT_API int weft_loop_call(weft_loop *loop, weft_loop_fn fn, void *arg);
WEFT_API int weft_loop_run_checkpoint(weft_loop *loop);
WEFT_API int weft_loop_yield_checkpoint(weft_loop *loop);

/* Timers. An id never names another timer. All bits zero: none. Ids fit into 53 bits. */
typedef struct weft_loop_timer {
    uint64_t bits;
} weft_loop_timer;
typedef struct weft_immediate {
    uint64_t bits;
} weft_immediate;

/* fn(arg) once, not before delay nanoseconds from now; a negative delay counts as 0. Equal times in the order of their
 * creation. *out, which may be null, is written before the callback can run. Returns 0, -ENOMEM, -EPIPE, -ENOSPC when there
 * are 2^24 timers. */
WEFT_API int weft_set_timeout(weft_loop *loop, weft_loop_timer *out, int64_t delay, weft_loop_fn fn, void *arg);
/* Again and again, period after the last start, at most once in a turn, until it is cleared. */
WEFT_API int weft_set_interval(weft_loop *loop, weft_loop_timer *out, int64_t period, weft_loop_fn fn, void *arg);
/* 0: it does not start any more; only an interval's callback that is just starting, on the owner, may still run. -ESTALE: it
 * has fired, was cleared, or never was; -EPIPE: or the loop has ended. Either kind. */
WEFT_API int weft_clear_timer(weft_loop *loop, weft_loop_timer timer);
/* One after another, the answer of each into results (may be null). Returns how many were cleared. */
WEFT_API int weft_clear_timers(weft_loop *loop, const weft_loop_timer *timers, int *results, size_t count);
/* Whether the timer keeps the loop alive; a new one does. Returns 0, -ESTALE. */
WEFT_API int weft_loop_timer_keep(weft_loop *loop, weft_loop_timer timer, bool keeps);
WEFT_API int weft_loop_timer_keeps(weft_loop *loop, weft_loop_timer timer); /* 1, 0, -ESTALE */
/* Begins its time anew. Returns 0, -ESTALE. */
WEFT_API int weft_loop_timer_refresh(weft_loop *loop, weft_loop_timer timer);
/* The check phase. Errors as weft_set_timeout. */
WEFT_API int weft_set_immediate(weft_loop *loop, weft_immediate *out, weft_loop_fn fn, void *arg);
WEFT_API int weft_clear_immediate(weft_loop *loop, weft_immediate immediate);
WEFT_API int weft_immediate_keep(weft_loop *loop, weft_immediate immediate, bool keeps);

/* The loop's clock: weft_now(), unless time is virtual. */
WEFT_API weft_time weft_loop_now(weft_loop *loop);
/* A virtual clock goes on by that; the timers fire in the loop's next turns. Returns 0, -EINVAL for a negative distance,
 * -ENOTSUP when time is real. */
WEFT_API int weft_loop_advance(weft_loop *loop, int64_t nanoseconds);

/* Descriptors. What may be ready, and what was: HANGUP (the other side has shut down, or half of it) and ERROR are reported
 * whether or not they are asked for. */
enum { WEFT_FD_READ = 1, WEFT_FD_WRITE = 2, WEFT_FD_HANGUP = 4, WEFT_FD_ERROR = 8 };
typedef void (*weft_loop_fd_fn)(int fd, unsigned events, void *arg);

/* Calls fn(fd, events, arg) in the poll phase of every turn in which it is ready, once with all that it is ready for. The
 * loop watches a duplicate: the caller may close fd at any time, and whatever gets its number next is not taken for it. The
 * registration keeps the loop alive until it is removed. Returns 0; -EINVAL when events has neither READ nor WRITE, or
 * others; -EEXIST when fd is registered; -ENOTSUP with FORCED; -EBADF, -EPERM, -ELOOP (epoll cannot watch it), -EMFILE, -ENFILE,
 * -ENOMEM, -ENOSPC; -EPIPE. */
WEFT_API int weft_loop_fd_add(weft_loop *loop, int fd, unsigned events, weft_loop_fd_fn fn, void *arg);
/* What to look for from now on; 0: for nothing, though HANGUP and ERROR may come. Returns 0, -ENOENT when it is not
 * registered, -EINVAL, -ENOMEM, -EPIPE. */
WEFT_API int weft_loop_fd_modify(weft_loop *loop, int fd, unsigned events);
/* Its callback does not start any more; one that has started may still be running. Returns 0, -ENOENT, -EPIPE. */
WEFT_API int weft_loop_fd_remove(weft_loop *loop, int fd);
/* Changes how the loop sleeps. Returns 0, -EINVAL, -EPIPE, -ENOTSUP for FORCED while descriptors are registered, or after
 * weft_loop_backend_fd. */
WEFT_API int weft_loop_set_fast(weft_loop *loop, weft_loop_fast fast);

/* Ends the loop: nothing more is accepted; immediates, close callbacks, internal and external works that were accepted run,
 * and what they add to the microtasks; timers do not. Work that was handed out is waited for, then promises of the loop that
 * are pending are rejected with -EPIPE. A loop that nobody runs is finished by the caller; but while works are out, and the
 * caller is a fiber or has a deadline, by a thread made for it (or by the caller, if none can be had). Returns 0 once it is
 * over; -EINPROGRESS when it has begun and the caller cannot wait: inside a callback or a work of the loop, or with WEFT_NOW;
 * -ETIMEDOUT, -ECANCELED and -ENOMEM (no room for the deadline) end only the caller's wait; -EPIPE when it was over before;
 * -EAGAIN or -ENOMEM, with nothing done, inside a work when nobody runs the loop and no thread can be had. */
WEFT_API int weft_loop_shutdown(weft_loop *loop, weft_time deadline);
/* Ends the loop at once: after the callback that is running no other one runs; promises of the loop are rejected with -EPIPE,
 * and work that was handed out is not waited for. Returns as weft_loop_shutdown, but -EDEADLK, having done nothing, inside
 * a callback of the loop. */
WEFT_API int weft_loop_close(weft_loop *loop, weft_time deadline);
/* Waits until it is over, whoever ends it. Returns 0, -ETIMEDOUT, -ECANCELED, -ENOMEM, -EDEADLK inside a callback. */
WEFT_API int weft_loop_join(weft_loop *loop, weft_time deadline);

/* Metrics and sources.
 *
 * Metrics, of a loop that was made with options.metrics. Durations are in nanoseconds. Quantiles are exact for up to five
 * values and estimated from then on, in constant memory (P-square). */
typedef struct weft_loop_spread {
    uint64_t count;
    int64_t min;
    int64_t mean;
    int64_t max;
    int64_t p50;
    int64_t p90;
    int64_t p95;
    int64_t p99;
} weft_loop_spread;

/* How long a queue is when the loop looks at it. */
typedef struct weft_loop_depth {
    uint64_t current;
    uint64_t max;
    double average; /* moving: each new value counts for a tenth */
} weft_loop_depth;

typedef struct weft_loop_metrics {
    weft_loop_spread callback; /* how long callbacks take, each without the microtasks that follow it */
    weft_loop_spread delay;    /* how late timers fire */
    weft_loop_spread turn;     /* how long turns take, without the time asleep */
    double per_second;         /* callbacks that returned, over the last ten seconds, or since the loop was made */
    weft_loop_depth ingress;   /* what other threads have brought and the loop has not taken over yet */
    weft_loop_depth internal;  /* before the internal phase */
    weft_loop_depth microtask; /* before a checkpoint; next ticks included */
    uint64_t turns;
    uint64_t callbacks; /* that returned or panicked */
    uint64_t panics;
    uint64_t sleeps;
    uint64_t wakes;     /* that somebody made, not time */
    int64_t idle;       /* asleep inside weft_loop_run */
    int64_t active;     /* the rest of its turns */
    double utilisation; /* active / (active + idle), or 0 */
} weft_loop_metrics;

/* A copy of what there is now, from any thread. Returns 0, -EINVAL, -ENOTSUP without options.metrics. */
WEFT_API int weft_loop_get_metrics(weft_loop *loop, weft_loop_metrics *out);

/* Sources: whatever weft_select can wait for, a channel, an event, a promise, a semaphore, a timer of weft/timer.h, the end
 * of a fiber or of a work. An id never names another source.
 *
 *     static void got(int status, void *number) { if (status == 0) printf("%d\n", *(int *)number); }
 *     weft_loop_on(loop, NULL, weft_on_receive(numbers, &number), got, &number); */
typedef struct weft_source {
    uint64_t bits;
} weft_source;
typedef void (*weft_source_fn)(int status, void *arg);

/* As soon as the case can be carried out it is, by whoever makes it possible, and fn(status, arg) runs in the external phase;
 * what it brings is where the case says and stays there until the callback has ended. on: then it is tried again, for things
 * that can come again (channels, semaphores, timers), until a status below 0 was told, such as the -EPIPE of a closed
 * channel. once, and on for all other things: that was all. What the case names must stay until then.
 *
 * The source keeps the loop alive. When the loop ends it waits no longer: a shutdown still calls fn for what was carried out
 * before, a close does not. *out, which may be null, is written before the callback can run. Returns 0, -ENOMEM, -EPIPE,
 * -ENOSPC; -ENOTSUP for weft_on_time (weft_set_timeout is for that); -EINVAL for a case of nothing, -ESTALE for one of
 * something that is gone. */
WEFT_API int weft_loop_on(weft_loop *loop, weft_source *out, weft_case wish, weft_source_fn fn, void *arg);
WEFT_API int weft_loop_once(weft_loop *loop, weft_source *out, weft_case wish, weft_source_fn fn, void *arg);
/* Takes a source back: its callback does not start any more; one that has started may still be running. 0: nothing was
 * taken, sent or received that the callback does not know of. 1: it was, before this call, and is where the case says: no
 * callback will tell. -ESTALE: its last callback has begun, it was taken back, or never was. */
WEFT_API int weft_loop_off(weft_loop *loop, weft_source source);

#ifdef __cplusplus
}
#endif

#endif
