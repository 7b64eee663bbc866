/* SPDX-License-Identifier: MIT
 *
 * pool/job.c - calling a job's function on a fiber that is not joining it.
 *
 * The function runs as a part of the forker's work: with its name, and inside its runner's region of cancellation, so that
 * stopping the work by force reaches it. Both stay until the join. It runs inside a try, whose message goes to the joiner.
 * weft_exit would end a fiber that has other things to do; it becomes a panic.
 */
#include <string.h>

#include "base/assert.h"
#include "os/memory.h"
#include "os/report.h"
#include "pool/pool.h"
#include "weft/panic.h"

/* Long enough for what weft_panic keeps. */
enum { TEXT_SIZE = 160 };
static char text_for_lack_of_memory[] = "a job has panicked, and there was no memory for its message";

static char *call_guarded_job(struct wf_job *job);
static void call_without_exit(void *opaque);
static void call_function(void *opaque);

char *wf_job_call(struct wf_job *job) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_stack *stack = wf_fiber_stack(fiber);
    if (!job->work || wf_work_of_fiber(fiber) == job->work)
        return call_guarded_job(job);
    struct wf_runner *own = job->work->runner; /* which may be somebody of another pool who runs it */
    struct wf_runner runner = {.pool = own->pool, .work = job->work, .fiber = fiber, .outer = stack->work};
    struct wf_cancel *cancel = &own->cancel;
    struct wf_member member;
    stack->work = &runner;
    wf_cancel_enter(cancel, &member);
    char *panic = call_guarded_job(job);
    if (stack->cancel != cancel)
        wf_fatal("a job has left a scope open");
    wf_cancel_leave(&member);
    stack->work = runner.outer;
    return panic;
}

static char *call_guarded_job(struct wf_job *job) {
    char text[TEXT_SIZE];
    wf_context_acquire(job);
    if (WF_LIKELY(weft_try(call_without_exit, job, text, sizeof text) == 0))
        return NULL;
    wf_jobs_check_left(__builtin_frame_address(0));
    size_t size = strlen(text) + 1;
    char *panic = wf_os_alloc(size);
    return panic ? memcpy(panic, text, size) : text_for_lack_of_memory;
}

void wf_job_forget(char *panic) {
    if (panic != text_for_lack_of_memory)
        wf_os_free(panic);
}

/* weft_exit would leave the try around this one. */
static void call_without_exit(void *opaque) {
    struct wf_try attempt;
    int error = wf_try_call(&attempt, &wf_fiber_stack(wf_fiber_self())->trying, call_function, opaque);
    if (WF_UNLIKELY(attempt.is_exit))
        weft_panic("a job has called weft_exit");
    if (WF_UNLIKELY(error))
        weft_panic("%s", attempt.message);
}

static void call_function(void *opaque) {
    struct wf_job *job = opaque;
    job->fn(job->arg);
}

/* Empties the deque and fills it again; there is room for what was in it. What was stolen already is out of sight. */
void wf_jobs_check_left(const void *low) {
    weft_pool *pool = wf_pool_of_worker(wf_worker_self());
    struct wf_shard *shard = pool ? wf_shard_self(pool) : NULL;
    if (!shard)
        return;
    const char *bottom = wf_fiber_stack(wf_fiber_self())->low;
    struct wf_task *taken = NULL, *task;
    while ((task = wf_deque_pop_owner(&shard->jobs))) {
        const char *at = (const char *)task;
        if (at >= bottom && at < (const char *)low)
            wf_fatal("a panic has left a function that had forked a job and not joined it: see WEFT_JOB");
        task->next = taken;
        taken = task;
    }
    if (!taken)
        return;
    while ((task = taken)) {
        taken = task->next;
        task->next = NULL;
        if (wf_deque_push_owner(&shard->jobs, task) != 0)
            wf_fatal("a deque has no room for what was taken out of it");
    }
    wf_pool_notify(pool); /* they were out of everybody's sight */
}
