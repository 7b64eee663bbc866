/* SPDX-License-Identifier: MIT
 *
 * pool/interrupt.c - reaching a work that was stopped by force inside a system call.
 *
 * The cancellation of its region ends what a work waits for through weft. A system call that blocks its thread knows nothing of
 * that; a signal makes it return with EINTR. It goes to the thread that the work is on at this moment, and while we look the
 * work may begin to wait, and its thread go on with another: then a system call of that one may see EINTR, as any may.
 *
 * Layer: looks into the engine's crew, under its lock.
 */
#include "os/signal.h"
#include "pool/pool.h"

static struct wf_worker *worker_of(struct wf_fibers *fibers, const struct wf_fiber *fiber);

void wf_runner_interrupt(struct wf_runner *runner) {
    int64_t thread = wf_load_acquire(&runner->native_thread); /* pairs with whoever goes there */
    if (!thread && runner->fiber) {
        const struct wf_worker *worker = worker_of(runner->fibers, runner->fiber);
        thread = worker ? wf_load_relaxed(&worker->thread_id) : 0;
    } else if (!thread) {
        thread = runner->thread_id;
    }
    if (thread && wf_os_interrupt_prepare() == 0)
        wf_os_interrupt(thread); /* an error: it is gone, or cannot be reached, and the grace period decides */
}

void wf_runner_replace(struct wf_runner *runner) {
    struct wf_worker *worker = runner->fiber ? worker_of(runner->fibers, runner->fiber) : NULL;
    for (uint32_t i = 0, limit = worker ? wf_engine_limit(worker->engine) : 0; i < limit; i++)
        if (wf_load_acquire(&worker->engine->processors[i]->holder) == worker) /* pairs with its hand-over */
            wf_engine_replace_any(worker->engine, worker, i);
}

/* NULL: it is on none, so it is in no call; or it is a fiber of another runtime, which runs the work for the pool, perhaps while
 * that has no threads. Workers stay as long as their engine. */
static struct wf_worker *worker_of(struct wf_fibers *fibers, const struct wf_fiber *fiber) {
    if (!fibers)
        return NULL;
    struct wf_crew *crew = &fibers->engine.crew;
    wf_lock_take(&crew->lock);
    struct wf_worker *worker = crew->all;
    while (worker && wf_worker_fiber((struct wf_fiber_worker *)worker) != fiber)
        worker = worker->next_all;
    wf_lock_drop(&crew->lock);
    return worker;
}
