/* SPDX-License-Identifier: MIT
 *
 * pool/room.c - pools with a limit: who gets a place in the queue, and what happens to the others.
 *
 * A place is promised under the queue's lock before the work is made, so that what is rejected leaves no trace, and kept when the
 * work gets into the queue. Works that were accepted before (released by others, retried) are queued without asking. A work that
 * is over takes no place, although the queue may still have it (queue.dead).
 */
#include <errno.h>

#include "pool/pool.h"

static int wait_for_room(weft_pool *pool, int64_t deadline);
static bool discard_one(weft_pool *pool);

int wf_pool_find_room(weft_pool *pool, const weft_work_options *options, enum wf_room *out) {
    if (!pool->options.max_queued || options->after_count || options->after_id_count || options->long_running ||
        wf_pool_is_suspended(pool))
        return 0;
    int error;
    for (;;) {
        wf_lock_take(&pool->queue.lock);
        bool is_full = wf_queue_is_full_locked(pool);
        pool->queue.promised += !is_full;
        wf_lock_drop(&pool->queue.lock);
        *out = is_full ? WF_ROOM_ANY : WF_ROOM_PROMISED;
        if (!is_full)
            return 0;
        wf_pool_tell_rejected(pool);
        switch (pool->options.rejection) {
        case WEFT_REJECT_ABORT:
            return -EAGAIN;
        case WEFT_REJECT_CALLER_RUNS:
            *out = WF_ROOM_CALLER_RUNS;
            return 0;
        case WEFT_REJECT_DISCARD:
            *out = WF_ROOM_DISCARD;
            return 0;
        case WEFT_REJECT_DISCARD_QUEUED:
            if (!discard_one(pool))
                weft_yield(); /* all places are promised to others, who are about to take them */
            break;
        case WEFT_REJECT_BLOCK:
            error = wait_for_room(pool, options->submit_deadline ? options->submit_deadline : WEFT_NEVER);
            *out = error ? WF_ROOM_ANY : WF_ROOM_PROMISED;
            return error;
        }
    }
}

static int wait_for_room(weft_pool *pool, int64_t deadline) {
    bool has_waited = false;
    int status = wf_wait_enter(deadline);
    while (!status) {
        struct wf_waiter waiter;
        wf_lock_take(&pool->queue.lock);
        if (wf_load_relaxed(&pool->gate) & WF_GATE_DISPOSED) {
            wf_lock_drop(&pool->queue.lock);
            return -ESHUTDOWN;
        }
        if (!wf_queue_is_full_locked(pool)) {
            pool->queue.promised++;
            wf_lock_drop(&pool->queue.lock);
            return 0;
        }
        if (has_waited) /* somebody who came later was faster */
            status = wf_wait_first_locked(&waiter, &pool->queue.lock, &pool->queue.room_waiters, deadline, "room");
        else
            status = wf_wait_locked(&waiter, &pool->queue.lock, &pool->queue.room_waiters, deadline, "room");
        has_waited = true;
    }
    return status;
}

void wf_pool_give_place_back(weft_pool *pool) {
    wf_lock_take(&pool->queue.lock);
    pool->queue.promised--;
    struct wf_waiter *told = wf_wait_take_first_locked(&pool->queue.room_waiters);
    wf_lock_drop(&pool->queue.lock);
    wf_pool_wake_one(told);
}

/* Makes room, or finds that there is some: tombstones do not count once they are out. */
static bool discard_one(weft_pool *pool) {
    wf_lock_take(&pool->queue.lock);
    struct wf_work *work = wf_queue_discard_locked(pool);
    wf_lock_drop(&pool->queue.lock);
    if (!work)
        return false;
    weft_work handle = wf_work_handle(work, wf_load_acquire(&work->word)); /* LISTED: it stays the same work */
    if (wf_work_seize(work, handle, WEFT_WORK_CANCELLED)) {
        wf_pool_tell_discarded(pool, handle);
        wf_work_over_unrun(pool, work, -ECANCELED);
    }
    wf_work_let_go(pool, work, WF_WORK_LISTED);
    return true;
}

void wf_terms_give_place_back(weft_pool *pool, struct wf_terms *terms) {
    if (!terms->has_place)
        return;
    terms->has_place = false;
    wf_pool_give_place_back(pool);
}
