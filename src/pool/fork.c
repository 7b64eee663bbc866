/* SPDX-License-Identifier: MIT
 *
 * pool/fork.c - fork and join: jobs on the forker's stack, in the deque of its processor.
 *
 * A fork puts the job into the jobs of the shard whose processor the fiber runs on; a join takes the newest one out again,
 * which nearly always is the job that it wants, and calls it. So the usual pair is a push, a look at the idle set, a pop and
 * a call; the job's own word is written by one thread only.
 *
 * The deque decides who runs a job: whoever takes it out of one, and nobody else, calls its function. The word is for the case
 * that this was not the joiner:
 *
 *     word      who moves it there           when
 *     OPEN      the forker                   before the push
 *     NONE      the joiner                   it has popped the job itself; or found it DONE
 *     WAITED    the joiner, lock held        it could not pop it and found it OPEN; then it parks, which drops the lock
 *     DONE      whoever has run it           exchange: after OPEN nothing else is touched; after WAITED the lock is taken, the
 *                                            one waiter taken out, the lock dropped, the waiter woken
 *
 * The job's memory goes as soon as the join returns. A joiner that finds DONE comes after the exchange, and a finisher whose
 * exchange has found OPEN is finished. A finisher that has found WAITED is waited for: it can take the lock only when the
 * joiner has parked and its stack is free, and the joiner goes on only by the wake, which is the last touch. Two threads at most
 * use the lock, so its drop wakes nobody.
 *
 * Pairs: the exchange to DONE (A, release) and the joiner's loads of the word (B, acquire): what the job wrote. The failed
 * compare-and-swap to WAITED reads DONE with acquire as well. From the fork to the thief the deque publishes.
 *
 * What a join may find on top of the deque instead of its job:
 *   - nothing: somebody has taken it, or the fiber has moved to another processor since. It waits;
 *   - a job that the same fiber has put there later: that is run on the spot, as if it were stolen;
 *   - a job of another fiber, which was here meanwhile, or an earlier one of its own: these may need a lock that this frame
 *     holds. They are put back, and the fiber waits: then its worker runs them in fibers of their own, and what is below.
 * A job that was popped and put back has been out of everybody's sight; so it is notified again.
 *
 * Panics. A job that is not run by its joiner is called inside a try (pool/job.c); its message goes to the joiner, who panics
 * with it. A forker's frame that is left takes its job back: see weft_fork_join.
 *
 * Rejected: waiting joiners that run other jobs on their stack (whoever holds a lock could run a job that wants it); a count of
 * open jobs in the fiber (a fork would have to find it); a claim word instead of the pop (the pop has decided already).
 */
#include "pool/fork.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/report.h"
#include "pool/pool.h"
#include "weft/panic.h"

/* Mutants: one wrong order or step each; tests/model/model_fork.c has to find them all. */
#ifdef WF_MUTANT_FORK_RELAXED_DONE
#define FORK_EXCHANGE_DONE wf_exchange_relaxed
#else
#define FORK_EXCHANGE_DONE wf_exchange_release
#endif
#ifdef WF_MUTANT_FORK_RELAXED_LOOK
#define FORK_LOAD_WORD wf_load_relaxed
#else
#define FORK_LOAD_WORD wf_load_acquire
#endif
#ifdef WF_MUTANT_FORK_RELAXED_WAITED
#define FORK_CAS_WAITED wf_cas_relaxed
#else
#define FORK_CAS_WAITED wf_cas_acquire
#endif
#ifdef WF_MUTANT_FORK_NO_LOCK
#define FORK_LOCK_TAKE(lock) (void)(lock)
#define FORK_LOCK_DROP(lock) (void)(lock)
#else
#define FORK_LOCK_TAKE wf_lock_take
#define FORK_LOCK_DROP wf_lock_drop
#endif

/* Long enough for what weft_panic keeps. */
enum { PANIC_SIZE = 160 };

WF_MACHINE_DEFINE(job, WF_JOB_STATES)

static struct wf_shard *new_shard(weft_pool *pool, const struct wf_fiber_worker *worker);
static void fork_at_once(struct wf_job *job, void (*fn)(void *arg), void *arg);
static void leave_slowly(struct wf_job *job);
static void join_slowly(struct wf_job *job, struct wf_shard *shard, struct wf_task *top);
static bool is_later_of_same(const struct wf_job *other, const struct wf_job *job);
static void put_job_back(struct wf_shard *shard, struct wf_task *task);
static void job_over(struct wf_job *job);

static inline struct wf_job *job_of(weft_job *job) {
    return (struct wf_job *)(void *)job;
}

static inline struct wf_job *job_of_task(struct wf_task *task) {
    return (struct wf_job *)(void *)task;
}

/* NULL: the caller is no fiber of a pool, or is alone. */
static inline struct wf_shard *shard_of(weft_pool *pool, const struct wf_fiber_worker *worker) {
    const struct wf_processor *processor = pool ? worker->base.processor : NULL;
    return processor ? wf_load_relaxed(&pool->shards[processor->index]) : NULL;
}

static inline struct wf_shard *shard_here(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    return shard_of(wf_pool_of_worker(worker), worker);
}

static inline void job_move(struct wf_job *job, enum wf_job_state state) {
    WF_MOVE_CHECK(&wf_job_machine, wf_load_relaxed(&job->word), state);
    wf_store_relaxed(&job->word, state);
}

/* These three are inlined into what calls them here; the public ones cannot be. */
static inline void fork_job(struct wf_job *job, void (*fn)(void *arg), void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    weft_pool *pool = wf_pool_of_worker(worker);
    struct wf_shard *shard = shard_of(pool, worker);
    if (WF_UNLIKELY(!shard) && !(shard = new_shard(pool, worker))) {
        fork_at_once(job, fn, arg);
        return;
    }
    struct wf_fiber *fiber = wf_worker_fiber(worker);
    job->task.next = NULL;
    wf_store_relaxed(&job->task.route, 0);
    wf_store_relaxed(&job->task.state, WF_ITEM_JOB);
    wf_store_relaxed(&job->word, WF_JOB_OPEN);
    wf_lock_init(&job->lock);
    job->fn = fn;
    job->arg = arg;
    job->fiber = fiber;
    job->work = wf_work_of_fiber(fiber);
    job->shard = shard;
    job->position = wf_load_relaxed(&shard->jobs.bottom);
    wf_context_release(job);
    if (WF_UNLIKELY(wf_deque_push_owner(&shard->jobs, &job->task) != 0)) {
        fork_at_once(job, fn, arg);
        return;
    }
    WF_POINT("fork.pushed");
    wf_pool_notify(pool);
}

static inline void join_job(struct wf_job *job) {
    struct wf_shard *shard = shard_here();
    struct wf_task *top = NULL;
    if (WF_LIKELY(shard == job->shard && wf_load_relaxed(&job->word) == WF_JOB_OPEN)) {
        top = wf_deque_pop_owner(&shard->jobs);
        if (WF_LIKELY(top == &job->task)) {
            job_move(job, WF_JOB_NONE); /* before the call: a panic of it leaves nothing to take back */
            job->fn(job->arg);
            return;
        }
    }
    join_slowly(job, shard, top);
}

static inline void leave_job(weft_job *job) {
    if (WF_UNLIKELY(wf_load_relaxed(&job_of(job)->word) != WF_JOB_NONE))
        leave_slowly(job_of(job));
}

void weft_fork(weft_job *job, void (*fn)(void *arg), void *arg) {
    if (WF_UNLIKELY(!job || !fn))
        wf_fatal("weft_fork was given a null pointer");
    fork_job(job_of(job), fn, arg);
}

void weft_join_job(weft_job *job) {
    if (WF_UNLIKELY(!job))
        wf_fatal("weft_join_job was given a null pointer");
    join_job(job_of(job));
}

void weft_job_leave(weft_job *job) {
    if (job)
        leave_job(job);
}

/* A panic of first runs the cleanup of this frame. */
void weft_fork_join(void (*first)(void *arg), void *first_arg, void (*second)(void *arg), void *second_arg) {
    weft_job job __attribute__((cleanup(leave_job)));
    if (WF_UNLIKELY(!first || !second))
        wf_fatal("weft_fork_join was given a null pointer");
    fork_job(job_of(&job), second, second_arg);
    first(first_arg);
    join_job(job_of(&job));
}

/* A fiber may have come to a processor that has never asked for work. */
static WF_NOINLINE struct wf_shard *new_shard(weft_pool *pool, const struct wf_fiber_worker *worker) {
    return pool && worker->base.processor ? wf_shard_of_owner(pool, worker->base.processor) : NULL;
}

/* The word says that there is nothing to join until it has returned: for whoever takes it back after a panic. */
static WF_NOINLINE void fork_at_once(struct wf_job *job, void (*fn)(void *arg), void *arg) {
    wf_store_relaxed(&job->word, WF_JOB_NONE);
    job->fiber = wf_fiber_self();
    job->shard = NULL;
    job->panic = NULL;
    fn(arg);
    wf_store_relaxed(&job->word, WF_JOB_DONE);
}

/* top is what was popped instead of it, or NULL. */
static WF_NOINLINE void join_slowly(struct wf_job *job, struct wf_shard *shard, struct wf_task *top) {
    if (wf_load_relaxed(&job->word) == WF_JOB_NONE)
        wf_fatal("a job was joined that was not forked, or was joined before");
    if (job->fiber != wf_fiber_self())
        wf_fatal("a job was joined by another fiber than the one that forked it");
    while (top && top != &job->task && is_later_of_same(job_of_task(top), job)) {
        wf_job_run(top);
        shard = shard_here(); /* it may have come back elsewhere */
        top =
            shard == job->shard && wf_load_relaxed(&job->word) == WF_JOB_OPEN ? wf_deque_pop_owner(&shard->jobs) : NULL;
    }
    if (top == &job->task) {
        job_move(job, WF_JOB_NONE);
        job->fn(job->arg);
        return;
    }
    if (top)
        put_job_back(shard, top);
    wf_job_await(job);
    wf_context_acquire(job);
    char *panic = job->panic;
    job_move(job, WF_JOB_NONE);
    if (WF_LIKELY(!panic))
        return;
    char text[PANIC_SIZE];
    snprintf(text, sizeof text, "%s", panic);
    wf_job_forget(panic);
    weft_panic("%s", text);
}

/* Both are, or were, in the same deque, where positions grow. */
static bool is_later_of_same(const struct wf_job *other, const struct wf_job *job) {
    return other->fiber == job->fiber && other->shard == job->shard && other->position > job->position;
}

/* It was there a moment ago, so there is room. */
static void put_job_back(struct wf_shard *shard, struct wf_task *task) {
    if (wf_deque_push_owner(&shard->jobs, task) != 0)
        wf_fatal("a deque has no room for what was taken out of it");
    wf_pool_notify(wf_pool_of_worker(wf_worker_self()));
}

/* Out of the queue, if that is easy; else it is waited for. */
static WF_NOINLINE void leave_slowly(struct wf_job *job) {
    struct wf_shard *shard = shard_here();
    if (shard && shard == job->shard && wf_load_relaxed(&job->word) == WF_JOB_OPEN) {
        struct wf_task *top = wf_deque_pop_owner(&shard->jobs);
        if (top == &job->task) {
            job_move(job, WF_JOB_NONE);
            return;
        }
        if (top)
            put_job_back(shard, top);
    }
    wf_job_await(job);
    wf_context_acquire(job);
    wf_job_forget(job->panic);
    job_move(job, WF_JOB_NONE);
}

bool wf_fork_is_wanted(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    weft_pool *pool = wf_pool_of_worker(worker);
    struct wf_shard *shard = shard_of(pool, worker);
    return shard ? wf_deque_is_empty_any(&shard->jobs) : pool && worker->base.processor;
}

void wf_job_open(struct wf_job *job) {
    wf_lock_init(&job->lock);
    job->panic = NULL;
    wf_store_relaxed(&job->word, WF_JOB_OPEN);
}

void wf_job_done(struct wf_job *job) {
    job_over(job);
}

/* See the table above for who may still touch what. */
static void job_over(struct wf_job *job) {
    wf_context_release(job);
    WF_POINT("job.before_done");
    uint32_t was = FORK_EXCHANGE_DONE(&job->word, WF_JOB_DONE); /* A: pairs with B */
    WF_ASSERT(was == WF_JOB_OPEN || was == WF_JOB_WAITED);
    if (WF_LIKELY(was == WF_JOB_OPEN))
        return;
    WF_POINT("job.before_wake");
    FORK_LOCK_TAKE(&job->lock); /* when the joiner has parked */
    struct wf_waiter *waiter = wf_wait_take_first_locked(&job->waiters);
    waiter->status = 0;
    FORK_LOCK_DROP(&job->lock);
    wf_wait_wake(waiter);
#ifdef WF_MUTANT_FORK_LATE_TOUCH
    job->waiters = NULL;
#endif
}

void wf_job_await(struct wf_job *job) {
    if (FORK_LOAD_WORD(&job->word) == WF_JOB_DONE) /* B: pairs with A */
        return;
    wf_wait_enter(WEFT_NEVER); /* gives up what a blocking region has lent; a cancellation does not count */
    WF_POINT("join.before_wait");
    wf_lock_take(&job->lock);
    job->waiters = NULL;
    uint32_t word = WF_JOB_OPEN;
    if (!FORK_CAS_WAITED(&job->word, &word, WF_JOB_WAITED)) { /* B: the word was DONE */
        wf_lock_drop(&job->lock);
        return;
    }
    struct wf_waiter self = {0};
    wf_wait_surely_locked(&self, &job->lock, &job->waiters, "job", false);
}

void wf_job_run(struct wf_task *task) {
    struct wf_job *job = job_of_task(task);
    job->panic = wf_job_call(job);
    job_over(job);
}
