/* SPDX-License-Identifier: MIT
 *
 * pool/fork.h - jobs: what is forked and joined.
 *
 * A job is the program's memory, usually on the stack of its forker, and in the deque of a processor until somebody takes it out
 * to run it. The word and its protocol are in pool/fork.c, the call of its function on another fiber in pool/job.c. The parallel
 * forms are made of jobs, and use the word for waiting as well.
 */
#ifndef WF_POOL_FORK_H
#define WF_POOL_FORK_H

#include "base/state.h"
#include "base/task.h"
#include "queue/lock.h"
#include "weft/parallel.h"

struct wf_fiber;
struct wf_shard;
struct wf_waiter;
struct wf_work;

#define WF_JOB_STATES(X) \
    X(WF_JOB_NONE, "none", WF_BIT(WF_JOB_OPEN)) \
    X(WF_JOB_OPEN, "open", WF_BIT(WF_JOB_NONE) | WF_BIT(WF_JOB_WAITED) | WF_BIT(WF_JOB_DONE)) \
    X(WF_JOB_WAITED, "waited", WF_BIT(WF_JOB_DONE)) \
    X(WF_JOB_DONE, "done", WF_BIT(WF_JOB_NONE))

/* NONE: never forked, or joined. WAITED: its joiner is in waiters, or about to be, with the lock held. */
enum wf_job_state { WF_JOB_STATES(WF_STATE_ENUM) };
extern const struct wf_machine wf_job_machine;

/* weft_job from the inside. What is not said to be atomic is written before the job is open, or, panic, before it is done. */
struct wf_job {
    struct wf_task task;   /* in the jobs of a shard; state is WF_ITEM_JOB */
    _Atomic uint32_t word; /* enum wf_job_state */
    struct wf_lock lock;
    void (*fn)(void *arg);
    void *arg;
    struct wf_fiber *fiber;    /* who forked it */
    struct wf_work *work;      /* on whose behalf, or NULL */
    struct wf_shard *shard;    /* where it was put first */
    int64_t position;          /* and where there: what was put there later has a higher one */
    struct wf_waiter *waiters; /* under lock; nothing before WAITED */
    char *panic;               /* its message, once DONE; NULL: it has returned */
} __attribute__((may_alias));
_Static_assert(sizeof(struct wf_job) == sizeof(weft_job), "one layout");

/* On a runner's fiber: a job that was taken or stolen from a shard. The job may be gone when this returns. */
void wf_job_run(struct wf_task *task);

/* A word to wait for that is no job in a queue: open, by whoever waits later; done, by one other, whose last touch that is. */
void wf_job_open(struct wf_job *job);
void wf_job_done(struct wf_job *job);
void wf_job_await(struct wf_job *job);

/* Whether a fork would feed somebody: the caller runs on a processor of a pool and nothing forked waits there. */
bool wf_fork_is_wanted(void);

/* pool/job.c: the call of a job's function by somebody who is not joining it. */
/* Returns NULL, or the message of its panic, for wf_job_forget. */
char *wf_job_call(struct wf_job *job);
void wf_job_forget(char *panic);
/* After a panic was caught on the calling fiber: fatal when a job in one of the frames that it has left is still in the queue
 * of its processor. low is the lowest address of a frame that is still there. */
void wf_jobs_check_left(const void *low);

#endif
