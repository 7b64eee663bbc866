/* SPDX-License-Identifier: MIT
 *
 * weft/inspect.h - looking at fibers from outside: lists, stacks for scanners, stack-depth figures.
 *
 * For garbage collectors, debuggers and reports. A collector stops the world, walks every fiber's live stack and saved
 * registers, and lets it go on:
 *
 *     weft_world_stop();                    // returns when no other fiber of this runtime runs on a worker
 *     weft_each_fiber(NULL, scan, &marks);  // scan gets [stack_low, stack_high) of each fiber
 *     weft_world_start();
 *
 * The registers that a suspended fiber needs back are saved inside that range, so scanning it is enough.
 *
 * For people there is weft_dump(NULL, 2): every fiber, what it waits for and where.
 */
#ifndef WEFT_INSPECT_H
#define WEFT_INSPECT_H

#include "weft/fiber.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum weft_fiber_state {
    WEFT_FIBER_NEW,   /* spawned, has not run yet, has no stack */
    WEFT_FIBER_READY, /* waits for a worker */
    WEFT_FIBER_RUNNING,
    WEFT_FIBER_PARKED, /* waits for something else */
    WEFT_FIBER_ENDED   /* not joined yet */
} weft_fiber_state;

typedef struct weft_fiber_info {
    weft_fiber fiber;
    weft_fiber parent;
    weft_fiber_state state;
    weft_priority priority;
    weft_fn entry;
    void *arg;        /* what entry was called with; only for a fiber that has not ended */
    const char *name; /* valid during the visit; never null */
    const void *
        stack_low; /* live part of the stack, saved registers included; null for a fiber without one. All of the stack */
    const void *stack_high; /* for one that runs on a thread of its own: see weft_world_stop */
    size_t stack_size;      /* what it may grow to; 0 without a stack */
} weft_fiber_info;

/* Calls visit for every fiber that exists, in no special order, until it returns non-zero, and returns that value, or 0.
 * Without a stopped world the picture is a blurred one: states move while it is taken, stack ranges are null, and arg is
 * given for new fibers only.
 * runtime may be null: the caller's. -ESTALE when it is not running. visit must not suspend the fiber. */
WEFT_API int weft_each_fiber(weft_runtime *runtime, int (*visit)(const weft_fiber_info *info, void *arg), void *arg);

/* Whether the fiber waits in a call that can be cancelled (weft/scope.h), and nothing has ended that wait yet: 1; 0 when it runs,
 * is ready or about to be, and when it waits outside of every scope or inside a shield. What the caller, or somebody whom the
 * caller has waited for, has done to end it is seen: so when a program knows all who could, it knows that nobody has. Returns
 * -ESTALE for one that is gone. */
WEFT_API int weft_is_waiting(weft_fiber fiber);

/* Stops every other worker of the calling fiber's runtime at its next scheduling point and returns 0 when all stand
 * still. A fiber that computes without pause delays it. Fibers that have a thread to themselves, because they are bound or
 * inside a blocking region (weft/thread.h), are not stopped while they run: they go on, and stop when they next wait and are
 * woken. What they have on the stack of their thread, inside a foreign call, is in no range. -EPERM on a plain thread, and in a
 * fiber that has a thread to itself; -EBUSY when this fiber has the world
 * stopped already; a second fiber that tries waits its turn. Until weft_world_start the caller must not suspend itself:
 * that is fatal. */
WEFT_API int weft_world_stop(void);
WEFT_API void weft_world_start(void);

/* Writes a list of every fiber to fd: id, name, function, parent, state, what it waits for and since when, and its
 * backtrace, one frame a line. Taken with the world stopped, as by weft_world_stop, and written after it goes on; a caller
 * that has the world stopped already keeps it so. runtime may be null: the caller's, or the oldest one on a plain thread,
 * for which a fiber of that runtime takes the picture. Returns 0; -ESTALE when it is not running; -ECANCELED when it ended
 * before the picture was taken; -EPERM for a fiber of another runtime; -EAGAIN when no fiber could be spawned; -ENOMEM,
 * where the list ends with what there was room for; or the error of write. */
WEFT_API int weft_dump(weft_runtime *runtime, int fd);

/* What the calling fiber adds to its entry in these lists, until the next call of this kind: fn writes lines of text into
 * the buffer, at most size bytes with a terminating zero, and returns how long they are. It runs while the picture is taken,
 * under a lock of the fiber, which itself may be running if it has a thread to itself: it must not suspend, wait, panic or call weft,
 * and should be quick. What it looks at may belong to others: stands_still tells whether a fiber is the one that asks, or will
 * not run before the picture is taken. When weft_describe returns, the function of before does not run any more. Null: nothing is
 * added. A host of a language shows in this way where a fiber stands in that language. Returns 0, -EPERM on a plain
 * thread. */
typedef size_t (*weft_describe_fn)(char *buffer, size_t size, bool (*stands_still)(weft_fiber fiber), void *arg);
WEFT_API int weft_describe(weft_describe_fn fn, void *arg);

/* Deepest stack use seen, per entry function: how many of its fibers were measured (a sample: the first ones, then ever
 * fewer), the deepest of them in bytes (exact to a page), and the stack size that the next spawn without a size of its own
 * gets. Returns 0, -ENOENT for a function of which no fiber was measured yet, -ESTALE, -EINVAL. runtime may be null. */
typedef struct weft_stack_use {
    uint64_t samples;
    size_t deepest;
    size_t next_size;
} weft_stack_use;

WEFT_API int weft_get_stack_use(weft_runtime *runtime, weft_fn entry, weft_stack_use *out);

#ifdef __cplusplus
}
#endif

#endif
