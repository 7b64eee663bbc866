/* SPDX-License-Identifier: MIT
 *
 * loop/sleep.c - how the owner goes to sleep, and how it is woken. Model: loop/loop.h, tests/model/spin/loop.pml.
 *
 *     owner                                        anybody else
 *     take the lock                                take the lock
 *     something is there, or nothing               put it there, or take away
 *     is alive? drop it and go on                  what kept it alive
 *     RUNNING -> SLEEPING                          SLEEPING -> RUNNING? then the wake is mine
 *     drop the lock and sleep, in one step         drop the lock, wake
 *
 * In epoll "drop and sleep" are two steps, and the wake is a descriptor that stays readable until the owner has read it:
 * so it does not matter which of the two comes first.
 *
 * Virtual time: when only timers can be waited for, nobody sleeps; the clock goes to the first of them.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "loop/loop.h"
#include "os/clock.h"

static bool must_not_sleep_locked(weft_loop *loop, int64_t earliest_ns);
static bool jump_locked(weft_loop *loop, int64_t earliest_ns);
static void sleep_in_epoll(weft_loop *loop, int64_t until_ns);
static void sleep_in_queue(weft_loop *loop, int64_t until_ns);

void wf_loop_sleep(weft_loop *loop, int64_t until_ns) {
    WF_POINT("loop.before_sleep");
    wf_loop_promises_trim(loop);
    wf_lock_take(&loop->lock);
    int64_t earliest = wf_loop_earliest_locked(loop);
    bool polls = wf_watch_is_needed_locked(loop);
    bool stays_up = must_not_sleep_locked(loop, earliest);
    if (!stays_up && polls) {
        loop->error = wf_watch_arm_locked(loop);
        stays_up = loop->error != 0;
    }
    if (stays_up) {
        wf_lock_drop(&loop->lock);
        wf_watch_poll(loop, 0);
        return;
    }
    if (!loop->options.virtual_time && earliest < until_ns)
        until_ns = earliest;
    WF_POINT("loop.before_sleeping");
    bool moved = wf_loop_move_locked(loop, WF_LOOP_RUNNING, WF_LOOP_SLEEPING);
    WF_ASSERT(moved);
    loop->sleep_until = loop->options.virtual_time ? WF_NEVER : until_ns; /* any timer of another clock wakes it */
    if (loop->metrics)
        wf_metrics_sleep(loop);
    if (polls && !loop->of_fibers)
        sleep_in_epoll(loop, until_ns);
    else
        sleep_in_queue(loop, until_ns);
    if (loop->metrics)
        wf_metrics_awake(loop);
    wf_loop_move_locked(loop, WF_LOOP_SLEEPING, WF_LOOP_RUNNING); /* nobody has woken us: the time has come */
    wf_lock_drop(&loop->lock);
    if (polls && loop->of_fibers)
        wf_watch_poll(loop, 0);
}

static bool must_not_sleep_locked(weft_loop *loop, int64_t earliest_ns) {
    if (wf_load_relaxed(&loop->has_ingress) || wf_loop_state(loop) != WF_LOOP_RUNNING ||
        wf_load_relaxed(&loop->is_stopped) || !wf_loop_is_alive_locked(loop))
        return true;
    if (loop->options.virtual_time)
        return jump_locked(loop, earliest_ns);
    return earliest_ns != WF_NEVER && earliest_ns <= wf_os_now();
}

static bool jump_locked(weft_loop *loop, int64_t earliest_ns) {
    if (earliest_ns == WF_NEVER)
        return false;
    if (earliest_ns <= loop->virtual_now)
        return true;
    if (loop->keeps || loop->sourced || loop->workers || wf_watch_count_locked(loop))
        return false;
    loop->virtual_now = earliest_ns;
    return true;
}

/* Both are entered with the lock, drop it, and take it again. */
static void sleep_in_epoll(weft_loop *loop, int64_t until_ns) {
    loop->is_polling = true;
    wf_lock_drop(&loop->lock);
    WF_POINT("loop.before_poll");
    wf_watch_poll(loop, until_ns);
    WF_POINT("loop.after_sleep");
    wf_lock_take(&loop->lock);
    loop->is_polling = false;
}

static void sleep_in_queue(weft_loop *loop, int64_t until_ns) {
    struct wf_waiter waiter = {0};
    struct wf_fibers *fibers = loop->of_fibers;
    if (fibers)
        wf_fetch_add_relaxed(&fibers->outside_wakers, 1);
    int status = wf_wait_locked(&waiter, &loop->lock, &loop->sleepers, until_ns, "loop");
    if (fibers)
        wf_fetch_sub_relaxed(&fibers->outside_wakers, 1);
    if (status && status != -ETIMEDOUT)
        loop->error = status;
    WF_POINT("loop.after_sleep");
    wf_lock_take(&loop->lock);
}

/* An owner that ends its loop waits in sleepers too, without SLEEPING. */
struct wf_waiter *wf_loop_wake_locked(weft_loop *loop, bool was_asleep) {
    if (was_asleep && loop->metrics)
        wf_metrics_woken(loop);
    bool is_hosts = loop->is_embedded && wf_loop_state(loop) == WF_LOOP_AWAKE;
    if ((was_asleep && loop->is_polling) || is_hosts) {
        wf_watch_signal_locked(loop);
        return NULL;
    }
    return loop->sleepers ? wf_wait_take_first_locked(&loop->sleepers) : NULL;
}

void wf_loop_drop_and_rouse(weft_loop *loop) {
    /* Nearly always it runs, and then there is nothing to compare and swap. */
    struct wf_waiter *waiter = NULL;
    if (WF_UNLIKELY(wf_loop_state(loop) != WF_LOOP_RUNNING || loop->sleepers))
        waiter = wf_loop_wake_locked(loop, wf_loop_move_locked(loop, WF_LOOP_SLEEPING, WF_LOOP_RUNNING));
    wf_lock_drop(&loop->lock);
    WF_POINT("loop.before_wake");
    if (waiter)
        wf_wait_wake(waiter);
}

int weft_loop_wake(weft_loop *loop) {
    if (!loop)
        return -EINVAL;
    wf_lock_take(&loop->lock);
    bool is_over = wf_loop_is_ending(loop);
    wf_loop_drop_and_rouse(loop);
    return is_over ? -EPIPE : 0;
}

int64_t wf_loop_earliest_locked(const weft_loop *loop) {
    const struct wf_timers_of_loop *timers = &loop->timers;
    int64_t earliest = wf_list_is_empty(&timers->fresh) ? WF_NEVER : timers->fresh_earliest;
    if (timers->heap.count && timers->heap.entries[0].key < earliest)
        earliest = timers->heap.entries[0].key;
    return earliest;
}

weft_time weft_loop_backend_deadline(weft_loop *loop) {
    if (!loop)
        return WEFT_NEVER;
    wf_lock_take(&loop->lock);
    int64_t earliest = wf_loop_earliest_locked(loop);
    bool has_work =
        wf_loop_state(loop) == WF_LOOP_AWAKE ? wf_loop_has_work_locked(loop) : wf_load_relaxed(&loop->has_ingress) != 0;
    if (loop->options.virtual_time) /* which only weft_loop_advance moves while a host waits */
        earliest = earliest <= loop->virtual_now ? WEFT_NOW : WEFT_NEVER;
    wf_lock_drop(&loop->lock);
    return has_work ? WEFT_NOW : earliest;
}
