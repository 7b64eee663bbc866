/* SPDX-License-Identifier: MIT
 *
 * pool/parallel.c - parallel forms over a range: for, for each, map, reduce, invoke; and what all forms share.
 *
 * Every form is a *loop* over the numbers 0 to count, walked in chunks. Whoever walks a part of it looks before each chunk
 * whether something forked waits at its processor. If so, others have something to steal, and it just goes on. If not, it forks
 * the upper half of what is left and walks the lower one; the join then walks the upper half itself, unless a thief does.
 * So a loop nobody helps with is divided once for each halving, and one with idle threads around as often as they come.
 * The depth is that of the halving, 64 at most. A walker that waits inside a chunk keeps what is left of its part; where
 * functions may wait for each other (invoke) everything is divided at once instead.
 *
 * Chunks of a grain that was not given begin with one number, and grow until they take CHUNK_NS: long enough to hide the looks,
 * short enough for thieves and stops. A part inherits the pace of the one it was cut from.
 *
 * A reduction walks into an accumulator. An upper half that the join walks goes on with that of the lower half, which is
 * complete by then; one that was stolen, or called before the lower half, has its own, and the join combines the two. So
 * combining goes strictly from left to right. Without memory for an accumulator nothing is forked.
 *
 * The first error, a stop or a cancellation is kept in the loop, and every walker looks at it before each chunk. A panic leaves the frames
 * of the walkers: each takes back what it has forked, or waits for it, and marks the loop as failed so that the others end.
 *
 * Called outside its pool a form is submitted as a work, the *root*. Its caller waits until the function has come back, also
 * when the work was given up by then, because the loop is on the caller's stack; only one that never began is over without that,
 * which its callback tells.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "os/clock.h"
#include "os/memory.h"
#include "pool/form.h"

/* MEASURE_EVERY: once the pace is found; a clock costs as much as ten numbers of a small loop. LONG_NS, LEFT_PART: a chunk may be
 * that long, but no more than that part of what is left, so that thieves find nobody in a long one at the end. */
enum { CHUNK_NS = 2000, CHUNK_MAX_NS = 4 * CHUNK_NS, QUICK_NS = CHUNK_NS / 4, LONG_NS = 10 * CHUNK_NS };
enum { MEASURE_EVERY = 16, LEFT_PART = 8, SMALL_SIZE = 64 };
/* Of a body that does nothing: so that a grain never overflows. */
#define GRAIN_MAX (UINT64_C(1) << 40)

struct form_root {
    int (*run)(void *arg);
    void *arg;
    int outcome; /* whoever ends it, before over is done */
    struct wf_job over;
};

struct pace {
    uint64_t grain;
    uint64_t most;       /* in a chunk that is far from the end */
    uint32_t unmeasured; /* chunks until the next look at the clock */
    bool is_given;
};

struct loop {
    /* Walks a chunk: 0 or a negative error. */
    int (*chunk)(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator);
    uint64_t count;
    uint64_t grain; /* 0: to be found */
    bool is_eager;  /* divided to the end at once: chunks may wait for each other */
    int64_t begin;  /* of ranges: number i is begin + i * step */
    int64_t end;
    int64_t step;
    weft_range_fn body;
    int (*each)(void *item, void *arg);
    int (*map)(const void *in, void *out, void *arg);
    const char *in;
    size_t in_size;
    char *out;
    size_t out_size;
    weft_branch *branches;
    const weft_reduction *reduction;
    void *arg;
    struct wf_form_ties ties;
    _Atomic int error; /* any walker: the first one stays */
};

/* An upper half. All but has_own is written before the fork; is_lower_done by the forker, for itself. */
struct part {
    struct loop *loop;
    uint64_t begin;
    uint64_t end;
    struct pace pace;
    weft_job job;
    struct wf_fiber *forker;
    bool is_open; /* between fork and combining; the forker's */
    bool is_lower_done;
    bool has_own;      /* whoever walked it: it has walked into own */
    void *accumulator; /* of the lower half */
    void *own;
    _Alignas(16) unsigned char small[SMALL_SIZE];
};

/* A walker on a fiber of its own. loop is NULL once it has come to its end. */
struct visitor {
    struct loop *loop;
    struct wf_form_visit visit;
};

static int root_main(void *opaque);
static int root_over(const weft_result *result, void *opaque);
static void root_left(struct form_root **root);
static uint64_t steps_between(int64_t begin, int64_t end, int64_t step);
static int loop_run(void *opaque);
static int loop_start(weft_pool *pool, struct loop *loop);
static void loop_walk(struct loop *loop, uint64_t begin, uint64_t end, struct pace *pace, void *accumulator);
static bool loop_is_ended(struct loop *loop);
static void loop_fail(struct loop *loop, int error);
static bool loop_divide(struct loop *loop, uint64_t begin, uint64_t end, struct pace *pace, void *accumulator);
static void part_main(void *opaque);
static void part_left(struct part *part);
static void visitor_left(struct visitor *visitor);
static void accumulator_begin(const weft_reduction *reduction, void *accumulator);
static uint64_t chunk_size(const struct pace *pace, uint64_t left);
static void pace_learn(struct pace *pace, int64_t took_ns);
static int chunk_of_range(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator);
static int chunk_of_items(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator);
static int chunk_of_pairs(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator);
static int chunk_of_branches(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator);
static int chunk_of_fold(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator);

/* ---- The forms ---- */

int weft_parallel_for(weft_pool *pool, int64_t begin, int64_t end, int64_t grain, weft_range_fn body, void *arg) {
    return weft_parallel_for_step(pool, begin, end, 1, grain, body, arg);
}

int weft_parallel_for_step(weft_pool *pool, int64_t begin, int64_t end, int64_t step, int64_t grain, weft_range_fn body,
                           void *arg) {
    if (!body || step == 0 || grain < 0)
        return -EINVAL;
    struct loop loop = {.chunk = chunk_of_range,
                        .count = steps_between(begin, end, step),
                        .grain = (uint64_t)grain,
                        .begin = begin,
                        .end = end,
                        .step = step,
                        .body = body,
                        .arg = arg};
    return loop_start(pool, &loop);
}

/* How many numbers there are. Differences of two numbers of 64 bits fit without a sign. */
static uint64_t steps_between(int64_t begin, int64_t end, int64_t step) {
    if (step > 0 ? end <= begin : end >= begin)
        return 0;
    uint64_t distance = step > 0 ? (uint64_t)end - (uint64_t)begin : (uint64_t)begin - (uint64_t)end;
    uint64_t stride = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    return (distance - 1) / stride + 1; // cppcheck-suppress zerodivcond ; the caller has refused a step of 0
}

/* The part that reaches the end of the loop ends where the program said, which may be no multiple of the step. */
static int chunk_of_range(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator) {
    uint64_t first = (uint64_t)loop->begin + begin * (uint64_t)loop->step;
    uint64_t last = end == loop->count ? (uint64_t)loop->end : (uint64_t)loop->begin + end * (uint64_t)loop->step;
    (void)accumulator;
    return loop->body((int64_t)first, (int64_t)last, loop->arg);
}

int weft_parallel_for_each(weft_pool *pool, void *items, size_t size, size_t count, int (*fn)(void *item, void *arg),
                           void *arg) {
    if (!fn || (!items && count > 0))
        return -EINVAL;
    struct loop loop = {
        .chunk = chunk_of_items, .count = count, .each = fn, .out = items, .out_size = size, .arg = arg};
    return loop_start(pool, &loop);
}

static int chunk_of_items(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator) {
    int error = 0;
    (void)accumulator;
    for (uint64_t i = begin; i < end && error >= 0; i++)
        error = loop->each(loop->out + i * loop->out_size, loop->arg);
    return error;
}

int weft_parallel_map(weft_pool *pool, const void *in, size_t in_size, void *out, size_t out_size, size_t count,
                      int (*fn)(const void *in, void *out, void *arg), void *arg) {
    if (!fn || ((!in || !out) && count > 0))
        return -EINVAL;
    struct loop loop = {.chunk = chunk_of_pairs,
                        .count = count,
                        .map = fn,
                        .in = in,
                        .in_size = in_size,
                        .out = out,
                        .out_size = out_size,
                        .arg = arg};
    return loop_start(pool, &loop);
}

static int chunk_of_pairs(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator) {
    int error = 0;
    (void)accumulator;
    for (uint64_t i = begin; i < end && error >= 0; i++)
        error = loop->map(loop->in + i * loop->in_size, loop->out + i * loop->out_size, loop->arg);
    return error;
}

int weft_parallel_invoke(weft_pool *pool, weft_branch *branches, size_t count) {
    if (!branches && count > 0)
        return -EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!branches[i].fn)
            return -EINVAL;
    struct loop loop = {.chunk = chunk_of_branches, .count = count, .grain = 1, .is_eager = true, .branches = branches};
    if (!wf_form_pool(pool))
        return -EINVAL;
    for (size_t i = 0; i < count; i++)
        branches[i].status = -ECANCELED;
    return loop_start(pool, &loop);
}

static int chunk_of_branches(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator) {
    (void)end;
    (void)accumulator;
    weft_branch *branch = &loop->branches[begin];
    branch->status = -EOWNERDEAD; /* should it panic */
    branch->status = branch->fn(branch->arg);
    return branch->status;
}

int weft_parallel_reduce(weft_pool *pool, int64_t begin, int64_t end, int64_t grain, const weft_reduction *reduction,
                         void *result) {
    if (!reduction || !reduction->fold || !reduction->combine || reduction->size == 0 || !result || grain < 0)
        return -EINVAL;
    struct loop loop = {.chunk = chunk_of_fold,
                        .count = steps_between(begin, end, 1),
                        .grain = (uint64_t)grain,
                        .begin = begin,
                        .reduction = reduction,
                        .out = result};
    if (!wf_form_pool(pool))
        return -EINVAL;
    accumulator_begin(reduction, result); /* here, since the loop may never begin */
    return loop_start(pool, &loop);
}

static int chunk_of_fold(const struct loop *loop, uint64_t begin, uint64_t end, void *accumulator) {
    const weft_reduction *reduction = loop->reduction;
    uint64_t first = (uint64_t)loop->begin + begin;
    uint64_t last = (uint64_t)loop->begin + end;
    return reduction->fold((int64_t)first, (int64_t)last, accumulator, reduction->arg);
}

static void accumulator_begin(const weft_reduction *reduction, void *accumulator) {
    if (reduction->identity)
        memcpy(accumulator, reduction->identity, reduction->size);
    else
        memset(accumulator, 0, reduction->size);
}

/* ---- Where a form runs ---- */

weft_pool *wf_form_pool(weft_pool *pool) {
    if (!pool)
        pool = weft_work_pool(); /* also of a work that somebody else runs */
    return pool ? pool : wf_pool_of_worker(wf_worker_self());
}

int wf_form_run(weft_pool *pool, int (*run)(void *arg), void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (wf_form_pool(NULL) == pool)
        return run(arg);
    if (worker && worker->fibers->abandons)
        return -EPERM; /* its stack may go while it waits, and what is done is there */
    struct form_root root = {.run = run, .arg = arg, .outcome = -ECANCELED};
    weft_work_options options = {.callback = root_over, .callback_arg = &root};
    weft_work work;
    wf_job_open(&root.over);
    wf_context_release(&root);
    int error = weft_pool_submit_with(pool, &work, &options, root_main, &root);
    if (error)
        return error;
    if (weft_pool_wait_work(pool, work, NULL, WEFT_NEVER) == -ECANCELED)
        weft_pool_control(pool, WEFT_STOP, work);
    wf_job_await(&root.over);
    wf_context_acquire(&root);
    return root.outcome;
}

static int root_main(void *opaque) {
    struct form_root *root __attribute__((cleanup(root_left))) = opaque;
    wf_context_acquire(root);
    root->outcome = -EOWNERDEAD; /* should it panic */
    root->outcome = root->run(root->arg);
    return root->outcome;
}

/* However the function ends; the caller may be gone afterwards. */
static void root_left(struct form_root **root) {
    wf_context_release(*root);
    wf_job_done(&(*root)->over);
}

/* It is over. If it has begun, its function says so itself. */
static int root_over(const weft_result *result, void *opaque) {
    struct form_root *root = opaque;
    if (result->attempts == 0) {
        root->outcome = result->error < 0 ? result->error : -ECANCELED;
        root_left(&root);
    }
    return 0;
}

void wf_form_tie(struct wf_form_ties *ties) {
    const struct wf_runner *runner = wf_runner_self();
    struct wf_fiber *fiber = wf_fiber_self();
    const struct wf_stack *stack = fiber ? wf_fiber_stack(fiber) : NULL;
    ties->work = runner ? runner->work : NULL;
    ties->cancel = stack && !stack->shields ? stack->cancel : NULL;
}

bool wf_form_is_ended(const struct wf_form_ties *ties) {
    return (ties->work && (wf_load_relaxed(&ties->work->word) & (WF_WORK_STOP | WF_WORK_FORCE))) ||
           (ties->cancel && wf_cancel_is_fired(ties->cancel));
}

void wf_form_enter(const struct wf_form_ties *ties, struct wf_form_visit *visit) {
    const struct wf_stack *stack = wf_fiber_stack(wf_fiber_self());
    visit->is_inside = ties->cancel && stack->cancel != ties->cancel;
    if (visit->is_inside)
        wf_cancel_enter(ties->cancel, &visit->member);
}

void wf_form_leave(struct wf_form_visit *visit) {
    if (visit->is_inside)
        wf_cancel_leave(&visit->member);
}

/* ---- The loop ---- */

static int loop_start(weft_pool *pool, struct loop *loop) {
    pool = wf_form_pool(pool);
    if (!pool)
        return -EINVAL;
    return loop->count == 0 ? 0 : wf_form_run(pool, loop_run, loop);
}

static int loop_run(void *opaque) {
    struct loop *loop = opaque;
    struct pace pace = {.grain = loop->grain ? loop->grain : 1, .is_given = loop->grain > 0};
    wf_form_tie(&loop->ties);
    loop_walk(loop, 0, loop->count, &pace, loop->reduction ? loop->out : NULL);
    return wf_load_relaxed(&loop->error);
}

static void loop_walk(struct loop *loop, uint64_t begin, uint64_t end, struct pace *pace, void *accumulator) {
    while (begin < end && !loop_is_ended(loop)) {
        if (end - begin > pace->grain && (loop->is_eager || wf_fork_is_wanted()) &&
            loop_divide(loop, begin, end, pace, accumulator))
            return;
        bool is_measured = !pace->is_given && pace->unmeasured == 0;
        uint64_t stop = begin + chunk_size(pace, end - begin);
        int64_t start = is_measured ? wf_os_now() : 0;
        int error = loop->chunk(loop, begin, stop, accumulator);
        if (WF_UNLIKELY(error < 0)) {
            loop_fail(loop, error);
            return;
        }
        if (is_measured)
            pace_learn(pace, wf_os_now() - start);
        else if (!pace->is_given)
            pace->unmeasured--;
        begin = stop;
    }
}

static inline bool loop_is_ended(struct loop *loop) {
    if (WF_UNLIKELY(wf_load_relaxed(&loop->error)))
        return true;
    if (WF_LIKELY(!wf_form_is_ended(&loop->ties)))
        return false;
    loop_fail(loop, -ECANCELED);
    return true;
}

/* Read by the caller of the form after all joins. */
static void loop_fail(struct loop *loop, int error) {
    int none = 0;
    wf_cas_relaxed(&loop->error, &none, error);
}

/* Between two looks at the clock larger chunks will do, as long as much more than that is left. */
static inline uint64_t chunk_size(const struct pace *pace, uint64_t left) {
    uint64_t size = pace->grain;
    if (pace->unmeasured > 0 && left / LEFT_PART > size)
        size = left / LEFT_PART < pace->most ? left / LEFT_PART : pace->most;
    return size < left ? size : left;
}

static void pace_learn(struct pace *pace, int64_t took_ns) {
    if (took_ns < QUICK_NS && pace->grain < GRAIN_MAX) {
        pace->grain *= 4;
    } else if (took_ns < CHUNK_NS && pace->grain < GRAIN_MAX) {
        pace->grain *= 2;
    } else if (took_ns > CHUNK_MAX_NS && pace->grain > 1) {
        pace->grain /= 2;
    } else {
        pace->unmeasured = MEASURE_EVERY;
        pace->most = pace->grain * (took_ns < LONG_NS ? (uint64_t)(LONG_NS / (took_ns + 1)) : 1);
    }
}

/* Walks all of it, the upper half at the same time if somebody comes for it. False: no memory, and nothing was done. */
static bool loop_divide(struct loop *loop, uint64_t begin, uint64_t end, struct pace *pace, void *accumulator) {
    uint64_t middle = begin + (end - begin) / 2;
    struct part part __attribute__((cleanup(part_left))) = {
        .loop = loop, .begin = middle, .end = end, .pace = *pace, .accumulator = accumulator};
    part.forker = wf_fiber_self();
    part.own = part.small;
    if (loop->reduction && loop->reduction->size > SMALL_SIZE)
        part.own = wf_os_alloc(loop->reduction->size);
    if (!part.own)
        return false;
    part.is_open = true;
    weft_fork(&part.job, part_main, &part);
    loop_walk(loop, begin, middle, pace, accumulator);
    part.is_lower_done = true;
    weft_join_job(&part.job);
    if (part.has_own) {
        int error = loop->reduction->combine(accumulator, part.own, loop->reduction->arg);
        if (error < 0)
            loop_fail(loop, error);
    }
    part.is_open = false;
    return true;
}

/* After a panic the others need not go on, but have to be waited for. */
static void part_left(struct part *part) {
    if (WF_UNLIKELY(part->is_open)) {
        loop_fail(part->loop, -EOWNERDEAD);
        weft_job_leave(&part->job);
    }
    if (part->own != part->small)
        wf_os_free(part->own);
}

/* Inside the forker's join, and it just goes on; or anywhere else. */
static void part_main(void *opaque) {
    struct part *part = opaque;
    struct loop *loop = part->loop;
    bool is_forker = part->forker == wf_fiber_self();
    void *accumulator = part->accumulator;
    if (loop->reduction && !(is_forker && part->is_lower_done)) {
        accumulator = part->own;
        accumulator_begin(loop->reduction, accumulator);
        part->has_own = true;
    }
    if (is_forker) {
        loop_walk(loop, part->begin, part->end, &part->pace, accumulator);
        return;
    }
    struct visitor visitor __attribute__((cleanup(visitor_left))) = {.loop = loop};
    wf_form_enter(&loop->ties, &visitor.visit);
    loop_walk(loop, part->begin, part->end, &part->pace, accumulator);
    visitor.loop = NULL;
}

static void visitor_left(struct visitor *visitor) {
    wf_form_leave(&visitor->visit);
    if (visitor->loop)
        loop_fail(visitor->loop, -EOWNERDEAD);
}
