/* SPDX-License-Identifier: MIT
 *
 * weft/fiber.h - fibers: functions that run at the same time, as cheap as function calls.
 *
 *     static void *square(void *arg) {
 *         int64_t n = (int64_t)(intptr_t)arg;
 *         return (void *)(intptr_t)(n * n);
 *     }
 *
 *     weft_fiber child;
 *     void *result;
 *     if (weft_spawn(&child, square, (void *)7) == 0)
 *         weft_join(child, &result, WEFT_NEVER);    // result is 49
 *
 * A fiber runs on whichever worker thread is free and may continue on another one after any call that can suspend it
 * (join, sleep, yield and everything in later headers that takes a deadline). So a fiber must not keep the address of
 * a thread-local variable or of errno, nor hold a pthread mutex, across such a call; weft/local.h has variables that
 * travel with the fiber. errno itself is saved and restored with each fiber.
 *
 * A fiber takes a stack when it first runs and gives it back when it ends; until then it is a record of 64 bytes.
 * Stacks grow in place, up to a fixed reserve (at least 160 KiB unless asked otherwise); running over it ends the process
 * with a message that names the fiber. A fiber for which no stack can be had ends without having run: its joiner gets
 * -ENOMEM.
 *
 * A fiber is named by a weft_fiber, a value that can go stale safely: once the fiber is gone every call answers
 * -ESTALE, also when its record serves another fiber by then.
 */
#ifndef WEFT_FIBER_H
#define WEFT_FIBER_H

#include "weft/time.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_runtime weft_runtime;

/* What a fiber runs. What it returns is the fiber's result. */
typedef void *(*weft_fn)(void *arg);

/* Names a fiber. bits is 0 for no fiber. */
typedef struct weft_fiber {
    uint64_t bits;
} weft_fiber;

#define WEFT_NO_FIBER ((weft_fiber){0})

typedef enum weft_priority {
    WEFT_PRIORITY_NORMAL = 0,
    WEFT_PRIORITY_HIGH, /* picked first at every scheduling point */
    WEFT_PRIORITY_LOW   /* picked when nothing else is ready, and now and then even so */
} weft_priority;

/* How to spawn. Zero in a field means the default. */
typedef struct weft_spawn_options {
    const char *name;  /* copied, at most 31 bytes are kept; shown in reports */
    size_t stack_size; /* bytes of stack the fiber can count on; at most 1 GiB */
    weft_priority priority;
    bool detached;      /* nobody joins it: it vanishes when it ends */
    weft_time due;      /* when it should be done: it is urgent, see weft_set_due */
    unsigned home;      /* the processor that it should begin on, 1 to the number of workers; default: any */
    bool pinned;        /* and stay on, as after weft_pin; needs a home */
    bool bound;         /* it begins bound to a thread of its own: weft/thread.h */
    unsigned real_time; /* 1 to 99: it is bound, and its thread has the policy SCHED_FIFO at that priority if the system
                              allows it; if not, it has the priority WEFT_PRIORITY_HIGH */
    weft_runtime *runtime; /* where; default: the caller's, or the oldest one for a plain thread */
} weft_spawn_options;

/* Starts a fiber that nobody joins. Returns 0; -ENOMEM; -EAGAIN when the runtime has as many fibers as it can name;
 * -ESRCH when called from a plain thread and no runtime runs; -ECANCELED when the runtime is ending without its fibers;
 * -EINVAL for a null function. The child may run at once or later, on any worker. */
WEFT_API int weft_go(weft_fn fn, void *arg);

/* Starts a fiber that is to be joined or detached exactly once. Errors as weft_go, and -EINVAL for a null out. */
WEFT_API int weft_spawn(weft_fiber *out, weft_fn fn, void *arg);

/* The same with options; out may be null when options->detached is set. Errors also: -EINVAL for null options, a
 * stack of over 1 GiB, an unknown priority, a home that there is not, pinned without a home, bound or real_time with one, or a
 * real_time over 99; -EAGAIN when it is to be bound and no thread is to be had; -ESTALE for a runtime that is not running. */
WEFT_API int weft_spawn_with(weft_fiber *out, const weft_spawn_options *options, weft_fn fn, void *arg);

/* Waits until the fiber has ended, hands over its result and releases it. result may be null. From fibers and from
 * plain threads. Several may wait at once and all get the result; a join that comes later finds it gone.
 * Returns 0; -ETIMEDOUT at the deadline (the fiber stays joinable); -ESTALE when the fiber was joined or detached
 * already; -EDEADLK for the caller itself; -EOWNERDEAD when the fiber ended by a panic, -ENOMEM when there was no stack
 * for it: then result is set to null. -ENOMEM also when the deadline cannot be armed, and then the fiber stays joinable;
 * -ECANCELED when the caller is a fiber and is cancelled, and for a caller outside the runtime when that ends and abandons
 * the fiber; -EPERM for a fiber of a runtime that abandons its fibers, about a fiber of another one. */
WEFT_API int weft_join(weft_fiber fiber, void **result, weft_time deadline);

/* Nobody will join the fiber: it vanishes when it ends, or now if it has ended. Returns 0 or -ESTALE. */
WEFT_API int weft_detach(weft_fiber fiber);

/* The fiber that calls; WEFT_NO_FIBER on a plain thread. */
WEFT_API weft_fiber weft_self(void);

/* Lets every other ready fiber of this worker run first. On a plain thread: gives up the processor once. */
WEFT_API void weft_yield(void);

/* Ends the calling fiber with that result, as if its function had returned it: deferred calls run, C++ destructors and
 * cleanup handlers of the frames on its stack run. Fatal on a plain thread. */
WEFT_API WEFT_NORETURN void weft_exit(void *result);

/* Name of a fiber, as set at spawn or by weft_set_name (of the calling fiber; -EPERM on a plain thread). A fiber
 * without a name, or one that has ended, gives an empty string. Writes at most size bytes with the terminating zero.
 * Returns 0, -ESTALE, -EINVAL for a null name or a null or empty buffer. */
WEFT_API int weft_get_name(weft_fiber fiber, char *buffer, size_t size);
WEFT_API int weft_set_name(const char *name);

/* The calling fiber's lane from its next scheduling on. Returns 0, -EINVAL, -EPERM on a plain thread. */
WEFT_API int weft_set_priority(weft_priority priority);

/* The calling fiber should be done by then: from its next scheduling on it is *urgent*, and is picked before all others, also
 * those of high priority, at every scheduling point of any worker; of several, the one that is due first. WEFT_NEVER makes it
 * an ordinary fiber again, and so does weft_set_priority. Nothing happens at that moment. A pinned fiber waits for its worker
 * all the same. Returns 0, -EPERM on a plain thread. */
WEFT_API int weft_set_due(weft_time due);

/* The fiber that spawned this one. out gets WEFT_NO_FIBER for a fiber started by a plain thread, and the parent's
 * id even when the parent has ended. Returns 0, -ESTALE, or -EINVAL for a null out. */
WEFT_API int weft_parent(weft_fiber fiber, weft_fiber *out);

/* Between pin and unpin the calling fiber stays on the worker thread that it is on, whatever it waits for; pairs nest. If that
 * thread blocks or computes meanwhile, the fiber waits for it. -EPERM on a plain thread, -EBUSY inside a blocking region.
 * weft_unpin without a pin is fatal. */
WEFT_API int weft_pin(void);
WEFT_API void weft_unpin(void);

/* Whether the floating-point control words (rounding, masks, flush to zero) travel with the calling fiber. Off at
 * start: then they belong to the worker thread, and a fiber that changes them must change them back before it can be
 * suspended. Returns 0, -EPERM on a plain thread. */
WEFT_API int weft_keep_fp_control(bool keep);

#ifdef __cplusplus
}
#endif

#endif
