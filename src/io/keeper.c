/* SPDX-License-Identifier: MIT
 *
 * io/keeper.c - a thread that waits for descriptors on behalf of plain threads.
 *
 * Fibers have the poller of their engine. A plain thread may wait when no engine runs at all, so the process has one thread for
 * that, with an epoll set of its own. It is started by the first one who needs it and stays: asleep in the kernel, without
 * a time limit, when nothing comes. Children and signals (io/process.c, io/signal.c) are watched here too, whoever waits for
 * them. The sentries that it tells are like those of an engine (sched/sentry.h).
 */
#include <errno.h>

#include "base/assert.h"
#include "io/fd.h"
#include "os/thread.h"

static struct {
    struct wf_lock lock;
    _Atomic uint32_t is_running; /* written under lock; what follows is constant then */
    _Atomic uint32_t is_telling; /* its own */
    struct wf_os_poll poll;
    struct wf_sentries sentries;
    struct wf_os_thread thread;
} keeper;

static int keeper_start_locked(void);
static void keeper_main(void *arg);

struct wf_sentries *wf_keeper(int *error) {
    wf_lock_take(&keeper.lock);
    *error = wf_load_relaxed(&keeper.is_running) ? 0 : keeper_start_locked();
    wf_lock_drop(&keeper.lock);
    return *error ? NULL : &keeper.sentries;
}

bool wf_keeper_is_there(void) {
    return wf_load_relaxed(&keeper.is_running);
}

bool wf_keeper_is_telling(void) {
    return wf_load_acquire(&keeper.is_telling);
}

static int keeper_start_locked(void) {
    int error = wf_os_poll_open(&keeper.poll);
    if (error)
        return error;
    wf_sentries_init(&keeper.sentries, &keeper.poll);
    keeper.sentries.lasts = true;
    error = wf_os_thread_start(&keeper.thread, "weft-keeper", keeper_main, NULL);
    if (error) {
        wf_os_poll_close(&keeper.poll);
        return error;
    }
    wf_os_thread_detach(&keeper.thread);
    wf_store_relaxed(&keeper.is_running, 1);
    return 0;
}

static void keeper_main(void *arg) {
    (void)arg;
    for (;;) {
        wf_os_poll_wait(&keeper.poll, INT64_MAX);
        wf_store_seq_cst(&keeper.is_telling, 1); /* pairs with the locks of the queues: who finds one empty sees this */
        wf_sentries_tell(&keeper.sentries, keeper.poll.ready, &keeper.poll.ready_count);
        wf_store_release(&keeper.is_telling, 0); /* pairs with wf_keeper_is_telling: they are awake */
    }
}

/* The thread does not exist in the child; the next one who needs it starts another. */
void wf_keeper_after_fork(void) {
    wf_lock_init(&keeper.lock);
    if (wf_load_relaxed(&keeper.is_running))
        wf_os_poll_close(&keeper.poll);
    wf_store_relaxed(&keeper.is_running, 0);
    wf_store_relaxed(&keeper.is_telling, 0);
    keeper.sentries = (struct wf_sentries){0};
}
