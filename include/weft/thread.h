/* SPDX-License-Identifier: MIT
 *
 * weft/thread.h - fibers and threads: calls that block, fibers that keep a thread, fibers that keep a processor busy.
 *
 * A worker holds a *processor*, the right to run fibers and the queues that go with it. There are as many processors as the
 * option workers says, and usually as many threads. A fiber that blocks its thread in the kernel says so:
 *
 *     weft_blocking_begin();
 *     ssize_t n = read(tape, buffer, size);       // may take long; other fibers go on
 *     weft_blocking_end();
 *
 * If the call is quick nothing happens: the pair costs two atomic operations. If it lasts and other fibers want to run, a
 * monitor gives the processor to another thread, and the fiber gets in line again when its call has returned.
 *
 * A *bound* fiber has a thread of its own and no processor: for libraries that keep state in thread-locals, that want to be
 * called from one thread only, or that compute for long. Everything that can block works as before, but waits with the
 * thread; waking a bound fiber costs what waking a thread costs, less when it has just begun to wait.
 *
 * A fiber that computes without calling weft keeps its processor, and is left alone: after some 10 ms, when others wait,
 * another processor with a thread of its own takes over what it keeps waiting, until it comes back. Such a *hog* is counted
 * and named (weft_get_hogs). weft_maybe_yield in a long loop is the polite way.
 *
 * Threads are made when they are needed, at most the option max_threads, and end when they had nothing to do for the option
 * keep_alive. When there can be no more, calls keep their processor while they block, which is said once on standard
 * error, and weft_bind returns -EAGAIN.
 *
 * In replay there is one thread: all of this may be called and changes nothing but what weft_is_bound says.
 */
#ifndef WEFT_THREAD_H
#define WEFT_THREAD_H

#include "weft/fiber.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From here to weft_blocking_end the calling fiber may block its thread, and its processor may be taken away. Pairs nest.
 * Everything of weft may be called in between; what waits then waits with the thread. Fatal to end a fiber inside, except
 * by a panic. On a plain thread, and in a bound fiber, both do nothing. weft_blocking_end without a begin is fatal. */
WEFT_API void weft_blocking_begin(void);
WEFT_API void weft_blocking_end(void);

/* Returns fn(arg), called inside such a pair. For calls that are known to be long: when other fibers are ready, the
 * processor is given away at once. */
WEFT_API void *weft_blocking(void *(*fn)(void *arg), void *arg);

/* For long computations: lets others run if somebody asked for it, because a fiber of higher priority is ready or this one
 * has had its time. Costs next to nothing otherwise. */
WEFT_API void weft_maybe_yield(void);

/* How a fiber is bound. Zero in a field means the default. */
typedef struct weft_bind_options {
    const char
        *cpus; /* processors of the machine that its thread may use, as in "0-3,8"; default: those of the process */
    int nice;  /* of its thread, -20 to 19; default 0 */
    unsigned real_time; /* 1 to 99: its thread has the real-time policy SCHED_FIFO at that priority */
} weft_bind_options;

/* Gives the calling fiber a thread of its own, the one it is on, until weft_unbind or its end; binds nest, and the options of
 * the outermost count. options may be null. Returns 0; -EAGAIN when max_bound fibers are bound or no thread is to be had;
 * -EINVAL for wrong options; -EPERM when the system does not allow them or on a plain thread; -EBUSY inside a blocking
 * region, while the fiber has the world stopped, and when it is pinned to a thread that cannot be its own: one that others are
 * pinned to as well or, with options, the one that called weft_run. Nothing has changed then. */
WEFT_API int weft_bind(const weft_bind_options *options);
/* Ends it: the fiber gets in line for a processor. -EPERM when it is not bound, -EBUSY while it is pinned or inside a
 * foreign call. */
WEFT_API int weft_unbind(void);
/* Whether the calling fiber is bound. False on a plain thread. */
WEFT_API bool weft_is_bound(void);

/* A function whose fibers kept a processor too long. */
typedef struct weft_hog {
    weft_fn entry;       /* of the fibers */
    weft_fiber last;     /* the last one of them */
    char name[32];       /* its name, or empty */
    uint64_t count;      /* how often */
    uint64_t longest_ns; /* from when it was noticed to when it came back; of those that did */
} weft_hog;

/* The functions that were noticed first, at most 64 are kept. Writes at most size and returns how many there are; -ESTALE for
 * a runtime that does not run; -EINVAL. runtime may be null: the caller's. */
WEFT_API int weft_get_hogs(weft_runtime *runtime, weft_hog *hogs, unsigned size);

/* Threads, since the runtime began and now. */
typedef struct weft_thread_stats {
    uint32_t threads; /* that weft has now, the one that called weft_run and the monitor included */
    uint32_t threads_peak;
    uint32_t spare;      /* of them: without anything to do */
    uint64_t births;     /* threads started */
    uint64_t deaths;     /* threads that ended because they were idle */
    uint64_t denied;     /* times a thread was wanted and none was to be had */
    uint64_t blocking;   /* blocking regions entered */
    uint64_t takeovers;  /* processors that went to another thread because a call lasted */
    uint64_t blocked_ns; /* time that such calls went on without a processor */
    uint64_t hogs;       /* times a computation was left alone */
    uint64_t hogs_now;
    uint64_t hog_ns; /* time that hogs kept a processor after they had been noticed */
    uint32_t bound;  /* fibers that are bound now */
    uint32_t bound_peak;
    uint64_t bindings;    /* times a fiber was bound */
    uint64_t predicted;   /* of them: from its first moment, because its function was known to make foreign calls */
    uint64_t bound_ns;    /* time that fibers were bound, until their binding ended */
    uint64_t fallbacks;   /* foreign calls that were made unbound because no more fibers could be bound */
    uint64_t bound_parks; /* times a bound fiber slept with its thread */
    uint64_t bound_spins; /* times it was woken before it slept */
} weft_thread_stats;

/* Returns 0; -ESTALE for a runtime that is not running; -EINVAL for a null out. runtime may be null: the caller's. */
WEFT_API int weft_get_thread_stats(weft_runtime *runtime, weft_thread_stats *out);

#ifdef __cplusplus
}
#endif

#endif
