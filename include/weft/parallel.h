/* SPDX-License-Identifier: MIT
 *
 * weft/parallel.h - one computation on all threads of a pool: fork and join, loops, reductions, pipelines.
 *
 *     static int brighten(int64_t begin, int64_t end, void *image) {
 *         for (int64_t row = begin; row < end; row++)
 *             brighten_row(image, row);
 *         return 0;
 *     }
 *     weft_parallel_for(pool, 0, height, 0, brighten, image);      // from any thread, fiber or work
 *
 *     static void sort(void *arg) {                                // divide and conquer, inside a work
 *         struct part *part = arg, low, high;
 *         if (part->count < 2)
 *             return;
 *         divide(part, &low, &high);
 *         weft_fork_join(sort, &low, sort, &high);
 *     }
 *
 * A *job* is a function that may run at the same time as what its forker does until it joins the job. Forking costs about
 * as much as a few function calls: the job is kept by the forker's own thread, and if no other thread had time for it, the
 * join calls it. So programs may fork wherever there are two things to do, at any depth, and leave the rest to the pool.
 * Outside a pool's fibers, on plain threads and in other runtimes, a fork calls the function at once: the same code is
 * correct everywhere, only not parallel.
 *
 * What a job may not rely on: which fiber it runs on. On another one weft_self, fiber-local variables and scopes are
 * different, while weft_work_self and its relatives, and a stop of the work by force, are those of the forker's work. A job
 * closes what it opens, and does not call weft_exit.
 *
 * A join may call other jobs of the same fiber that were forked after the one that it joins. So do not hold a lock in a join
 * that such a job takes. Jobs of other fibers are never run inside a join; if the job is at work elsewhere, the fiber waits and
 * its thread does something else.
 *
 * Panics. A panic of a job goes on in its join, with its message, whichever fiber it ran on; so does an exception of C++, which
 * from another fiber arrives as a panic. A panic that leaves the forker's frame between fork and join must not leave the job
 * behind: weft_fork_join and all forms of this header see to that; so does WEFT_JOB, in C++ and in C that is compiled with
 * -fexceptions. Otherwise no panic may leave a frame that has forked and not joined; where that is noticed, it is fatal.
 *
 * The forms (for, for each, map, reduce, invoke, pipeline) take a pool. Inside a work of that pool, or with null for the pool of
 * the calling work, they run right there, together with whoever has time; from anywhere else they submit one work and wait for
 * it. They return 0, or the first negative value that a function of the program returned: after that nothing more is begun, and
 * what has begun is waited for. -ECANCELED when the calling fiber is cancelled or its work asked to stop before everything
 * was begun; both are looked at between two calls of the program's function. -EINVAL for a null function, a null pool outside a
 * work, and what is said below. From outside the pool also: errors of weft_pool_submit; -EOWNERDEAD after a panic, which from
 * inside goes on in the caller; -ECANCELED when the work was cancelled; -EPERM for a fiber of a runtime that abandons its fibers.
 */
#ifndef WEFT_PARALLEL_H
#define WEFT_PARALLEL_H

#include "weft/pool.h"
#include "weft/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Fork and join ---- */

/* A job: automatic or part of something else, not to be moved or to go before it was joined. */
typedef struct weft_job {
    uint64_t reserved[11];
} weft_job;

#define WEFT_JOB_INIT \
    { \
        { 0 } \
    }

/* A local job that cannot be left behind: at the end of its block it is joined, taken back or was never forked. */
#if defined(__GNUC__)
#define WEFT_JOB(name) weft_job name __attribute__((cleanup(weft_job_leave))) = WEFT_JOB_INIT
#endif

/* Lets fn(arg) run now or later, at the latest in the join; the memory of job needs no initial value. Without memory, and
 * outside a pool's fibers, it is called at once. Null pointers are fatal. */
WEFT_API void weft_fork(weft_job *job, void (*fn)(void *arg), void *arg);

/* Returns when the function has returned; what it wrote is visible then. By the fiber that has forked, exactly once for each
 * fork; anything else is fatal or, where it cannot be noticed, undefined. Cannot be cancelled. A panic of the job goes on
 * here. */
WEFT_API void weft_join_job(weft_job *job);

/* Takes a job back that was forked and not joined: it will not run any more or, if it has begun, has ended when this returns. Its
 * panic, if it had one, is forgotten. Nothing for one that was joined, or never forked and set to WEFT_JOB_INIT. */
WEFT_API void weft_job_leave(weft_job *job);

/* Calls both functions, if possible at the same time, first on the calling fiber. If it panics, second is taken back or waited
 * for before the panic goes on. */
WEFT_API void weft_fork_join(void (*first)(void *arg), void *first_arg, void (*second)(void *arg), void *second_arg);

/* ---- Loops ---- */

/* A part of a loop: the iterations from begin to end, end left out. 0, or a negative error. */
typedef int (*weft_range_fn)(int64_t begin, int64_t end, void *arg);

/* Calls body for parts of begin to end (left out) that cover each number once; at most grain at a time. grain 0: as many as take
 * a few microseconds, found by measuring. The loop is divided as it goes: while others are busy it stays in one piece. body may
 * wait, but not for another part, which may be kept behind it. Nothing is called for an empty range, end <= begin. -EINVAL for a
 * negative grain. */
WEFT_API int weft_parallel_for(weft_pool *pool, int64_t begin, int64_t end, int64_t grain, weft_range_fn body,
                               void *arg);

/* The numbers begin, begin + step, ... that lie before end; downwards for a negative step, then end is below begin. body goes
 * from its begin to its end in the same steps; grain counts steps. -EINVAL for step 0. */
WEFT_API int weft_parallel_for_step(weft_pool *pool, int64_t begin, int64_t end, int64_t step, int64_t grain,
                                    weft_range_fn body, void *arg);

/* Calls fn(item, arg) for each of count items of that size. -EINVAL for a null array that is not empty. */
WEFT_API int weft_parallel_for_each(weft_pool *pool, void *items, size_t size, size_t count,
                                    int (*fn)(void *item, void *arg), void *arg);

/* Calls fn(in, out, arg) for each pair of items: out[i] from in[i]. The arrays may be one. */
WEFT_API int weft_parallel_map(weft_pool *pool, const void *in, size_t in_size, void *out, size_t out_size,
                               size_t count, int (*fn)(const void *in, void *out, void *arg), void *arg);

/* Calls all of them; with enough memory none has to end for another to begin, so that they may wait for each other (but in a work
 * that has a thread of its own, is on its thread's own stack, or is run by somebody who helps: there they are called one after
 * another). Each one's status is what it returned, -ECANCELED for one that was not begun, -EOWNERDEAD for one that has panicked. */
WEFT_API int weft_parallel_invoke(weft_pool *pool, weft_branch *branches, size_t count);

/* ---- Reduction ---- */

/* Accumulators are size bytes that begin as a copy of identity, or as zeros when that is null. fold goes on with one of them,
 * from begin to end; combine adds right, which comes later and is not used again, to left. Both return 0 or a negative error.
 * The order is kept: combine has to be associative only. */
typedef struct weft_reduction {
    size_t size;
    const void *identity;
    int (*fold)(int64_t begin, int64_t end, void *accumulator, void *arg);
    int (*combine)(void *left, void *right, void *arg);
    void *arg;
} weft_reduction;

/* Folds begin to end (left out) into *result, an accumulator of the caller. For an empty range that is the identity. After an
 * error, too, every accumulator has been combined, so that what they own is found in *result and can be freed; after -EINVAL
 * it was not touched. Accumulators are aligned to 16 bytes. -EINVAL for a size of 0. */
WEFT_API int weft_parallel_reduce(weft_pool *pool, int64_t begin, int64_t end, int64_t grain,
                                  const weft_reduction *reduction, void *result);

/* ---- Pipeline ---- */

typedef enum weft_stage_kind {
    WEFT_STAGE_PARALLEL = 0, /* any number of items at a time */
    WEFT_STAGE_SERIAL,       /* one at a time, as they come */
    WEFT_STAGE_IN_ORDER      /* one at a time, in the order in which the first stage made them */
} weft_stage_kind;

/* What a stage says about its item. */
enum {
    WEFT_STAGE_NEXT = 0, /* on to the next stage */
    WEFT_STAGE_DROP = 1, /* it goes no further */
    WEFT_STAGE_END = 2   /* it goes no further, and the first stage makes no more; those on their way go on */
};

/* *item is the item, and may be replaced. The first stage makes it: it gets null, and there is no item if it says DROP or END.
 * What a stage drops, it frees. Negative values are errors: those on their way go no further than the stage they are in. */
typedef struct weft_stage {
    weft_stage_kind kind;
    int (*fn)(void **item, void *arg);
    void *arg;
} weft_stage;

typedef struct weft_pipeline_options {
    size_t max_items;                       /* on their way at the same time; default: 4 for each thread of the pool */
    void (*discard)(void *item, void *arg); /* for items that an error or a panic keeps from going on; default: none */
    void *arg;
} weft_pipeline_options;

/* Runs the stages until the first one has said END and all items have gone through. An item stays on its fiber from the first
 * stage to the last, so that stages may wait. The first stage is called one at a time unless it is PARALLEL. options may be
 * null. -EINVAL for no stage or an unknown kind; -ENOMEM. */
WEFT_API int weft_pipeline(weft_pool *pool, const weft_stage *stages, size_t count,
                           const weft_pipeline_options *options);

#ifdef __cplusplus
}
#endif

#endif
