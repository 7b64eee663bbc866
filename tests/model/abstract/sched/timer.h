/* SPDX-License-Identifier: MIT
 *
 * tests/model/abstract/sched/timer.h - timers without a heap, in the place of src/sched/timer.h.
 *
 * Room for one timer, and time that passes whenever the model says so. What callers rely on is as in the original: arming,
 * cancelling and firing exclude each other, and fire runs under the lock.
 */
#ifndef WF_SCHED_TIMER_H
#define WF_SCHED_TIMER_H

#include "base/task.h"
#include "queue/lock.h"

struct wf_timers {
    struct wf_lock lock;
    struct wf_timer *armed; /* under lock */
};

struct wf_timer {
    struct wf_timers *home;
    struct wf_task *(*fire)(struct wf_timer *timer);
    bool is_armed; /* under lock */
};

static inline int wf_timers_arm(struct wf_timers *timers, struct wf_timer *timer, int64_t deadline_ns) {
    (void)deadline_ns;
    wf_lock_take(&timers->lock);
    timer->home = timers;
    timer->is_armed = true;
    timers->armed = timer;
    wf_lock_drop(&timers->lock);
    return 0;
}

/* Nobody asks but for what waits; a timer that is armed is due. */
static inline int64_t wf_timers_earliest(struct wf_timers *timers) {
    return timers->armed ? 0 : INT64_MAX;
}

static inline bool wf_timers_cancel(struct wf_timer *timer) {
    struct wf_timers *timers = timer->home;
    wf_lock_take(&timers->lock);
    bool is_inside = timer->is_armed;
    timer->is_armed = false;
    if (is_inside)
        timers->armed = NULL;
    wf_lock_drop(&timers->lock);
    return is_inside;
}

/* The one timer, if it is armed: it is due. Returns the task that it made ready. */
static inline struct wf_task *wf_timers_fire_armed(struct wf_timers *timers) {
    struct wf_task *task = NULL;
    wf_lock_take(&timers->lock);
    struct wf_timer *timer = timers->armed;
    if (timer) {
        timers->armed = NULL;
        timer->is_armed = false;
        task = timer->fire(timer);
    }
    wf_lock_drop(&timers->lock);
    return task;
}

#endif
