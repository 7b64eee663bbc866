/* SPDX-License-Identifier: MIT
 *
 * weft/runtime.h - starting and stopping, options, statistics.
 *
 *     static int app(void *arg) { ...; return 0; }
 *     int main(void) { return weft_run(NULL, app, NULL); }
 *
 * weft_run turns the calling thread into the first worker, starts the others, runs app as the first fiber and returns
 * when every fiber has ended. It may be called again, any number of times, and several runtimes may run at once, each
 * from its own thread.
 *
 * Environment: WEFT_WORKERS, WEFT_STACK_SIZE, WEFT_MAX_FIBERS, WEFT_MAX_THREADS and WEFT_MAX_BOUND stand in for options that
 * are zero; a value that makes no sense is refused like a wrong option.
 *
 * Replay: with WEFT_SEED=n or the option replay_seed, n from 1, a program runs the same way each time and another way
 * for another n. There is one worker; which ready fiber comes next, and whether a call that may block yields first, is
 * drawn from n; and weft_now counts virtual time, which jumps to the next deadline when every fiber waits. A failure
 * that depends on the order becomes a number that can be run again. Threads of the program, its input and deadlines made
 * before weft_run are outside of it. One runtime at a time.
 *
 * Deadlock: when every fiber waits, no deadline is pending and nothing outside can wake one, weft_run says so on standard
 * error within a second, with a list of all fibers as by weft_dump, drops them and returns -EDEADLK. A thread of the
 * program besides the workers, whatever it does, and a second runtime count as something outside.
 *
 * abandon drops the fibers that are left. Channels, events and promises in which they waited go on without them, but what
 * was being handed to one of them is lost with it; locks, semaphores and barriers that they held or waited for must not be
 * used any more.
 *
 * fork: the child has only the thread that called fork and no running runtime. It may call exec or _exit, or start a
 * new runtime by weft_run; the fibers of the parent do not exist in it, and a fiber function that returns there is
 * fatal. The parent notices nothing.
 *
 * Signals: weft installs handlers for SIGSEGV and SIGBUS on an alternate stack, to name the fiber that overflowed its
 * stack, and hands every other fault to the handler that was there before. Handlers of the program that should not
 * run on a fiber's stack need SA_ONSTACK; worker threads have an alternate stack of 64 KiB.
 */
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <stdio.h>

#include "weft/fiber.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WEFT_WORKERS_MAX = 1024, WEFT_RUNTIMES_MAX = 64 };

typedef enum weft_fallback {
    WEFT_FALLBACK_BLOCKING = 0, /* make it unbound, inside a blocking region */
    WEFT_FALLBACK_WAIT,         /* wait until another fiber is unbound */
    WEFT_FALLBACK_ERROR         /* return -EAGAIN */
} weft_fallback;

/* Zero in a field means the default. */
typedef struct weft_options {
    unsigned workers;        /* worker threads, 1 to WEFT_WORKERS_MAX; default: the processors this process may use */
    size_t stack_size;       /* what a fiber can count on by default, 16 KiB to 1 GiB; default 160 KiB */
    uint32_t max_fibers;     /* how many may exist at once, at most 67,108,864, which is the default */
    bool abandon;            /* weft_run returns when the first fiber does; what still runs or waits is dropped */
    bool no_fault_report;    /* leave SIGSEGV and SIGBUS alone */
    bool fault_panics;       /* SIGSEGV, SIGBUS and SIGFPE inside a fiber become a panic of that fiber, which runs
                                deferred calls but no cleanups of frames; a stack overflow stays fatal */
    bool quiet;              /* no report on standard error when a fiber ends by a panic */
    bool no_deadlock_report; /* wait for ever when every fiber waits for another */
    uint64_t seed;           /* of scheduling choices; default: from the clock */
    uint64_t replay_seed; /* not 0: replay with this seed, see above; the options workers and seed count for nothing */
    unsigned max_threads; /* that weft may have at once, workers and a monitor included: at least one more than workers;
                             default 10,000; see weft/thread.h */
    unsigned max_bound;   /* fibers that may be bound at once; default 1,000 */
    int64_t keep_alive;   /* nanoseconds that a thread without anything to do is kept; default 5 s */
    weft_fallback bound_fallback; /* a foreign call when no more fibers can be bound; see weft/ffi.h */
} weft_options;

/* Runs first(arg) as a fiber on a new runtime and returns what it returned, once all fibers have ended. Negative when
 * the runtime could not start: -EINVAL for a wrong option or environment value (said on standard error), -ENOMEM,
 * -EAGAIN (no thread or descriptor to be had), -EBUSY when WEFT_RUNTIMES_MAX run already, or for a second replay at the
 * same time, -EDEADLK inside a fiber. Negative also after a deadlock, -EDEADLK, and when the first fiber panics,
 * -EOWNERDEAD. So first should return 0 or more. */
WEFT_API int weft_run(const weft_options *options, int (*first)(void *arg), void *arg);

/* The runtime of the calling fiber; on a plain thread the oldest one that runs, or null. */
WEFT_API weft_runtime *weft_runtime_self(void);

/* Counters since start, and levels. A sum of per-worker values, each exact, taken at slightly different moments. */
typedef struct weft_stats {
    uint64_t fibers_started; /* spawned */
    uint64_t fibers_ended;
    uint64_t fibers_alive; /* spawned and not ended */
    uint64_t records_held; /* fiber records in use: alive, or ended and not joined yet */
    uint64_t switches;     /* times a fiber was given a worker */
    uint64_t parks;        /* times a fiber was suspended to wait */
    uint64_t wakes;        /* times one was made ready again */
    uint64_t steals;       /* times work was taken from another worker */
    uint64_t stolen;       /* fibers moved that way */
    uint64_t injected;     /* fibers that came through the shared queue */
    uint64_t worker_parks; /* times a worker went to sleep */
    uint64_t worker_wakes; /* times one was woken by another thread */
    uint64_t polls;        /* times a worker slept in the poller */
    uint64_t timers_armed;
    uint64_t timers_fired;
    uint64_t timers_cancelled;
    uint64_t stacks_mapped;  /* slots that exist */
    uint64_t stacks_in_use;  /* slots of started fibers, and those that a worker keeps hot for the next */
    uint64_t stacks_warm;    /* idle slots whose memory is kept for reuse */
    uint64_t stacks_trimmed; /* slots whose memory went back to the system */
    uint64_t panics;
    uint32_t workers;
    uint32_t workers_idle;
    const char *guard;  /* "marker", "mprotect" or "canary": how stack overflow is caught */
    const char *poller; /* "epoll" */
} weft_stats;

/* Returns 0; -ESTALE for a runtime that is not running; -EINVAL for a null out. runtime may be null: the caller's. */
WEFT_API int weft_get_stats(weft_runtime *runtime, weft_stats *out);

/* How often fibers were given to each worker: the spread. Those of workers that stood in for a hog (weft/thread.h) are added to
 * the others'. Writes at most size values and returns the number of
 * workers, or -ESTALE, -EINVAL. */
WEFT_API int weft_get_spread(weft_runtime *runtime, uint64_t *switches, unsigned size);

#ifdef __cplusplus
}
#endif

#endif
