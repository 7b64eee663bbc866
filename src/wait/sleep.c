/* SPDX-License-Identifier: MIT
 *
 * wait/sleep.c - waiting for a moment.
 *
 * The timer's heap is the object: the fiber parks with the heap's lock held, and firing takes the timer out and owns the
 * wake. Nobody else can end a sleep, so there is nothing to arbitrate.
 */
#include "base/assert.h"
#include "fiber/fiber.h"
#include "os/clock.h"
#include "weft/time.h"

struct sleeper {
    struct wf_timer timer;
    struct wf_fiber *fiber;
};

static struct wf_task *sleeper_fire(struct wf_timer *timer);
static bool commit_drop_timers(struct wf_fiber *fiber, void *arg);

weft_time weft_now(void) {
    return wf_os_now();
}

weft_time weft_after(int64_t nanoseconds) {
    return wf_time_add(wf_os_now(), nanoseconds);
}

int weft_sleep(weft_time until) {
    struct wf_fiber_worker *worker = wf_worker_self();
    if (!worker) {
        wf_os_sleep_until(until < 0 ? 0 : until);
        return 0;
    }
    if (until <= wf_os_now()) {
        wf_fiber_yield();
        return 0;
    }
    struct wf_processor *processor = worker->base.processor;
    struct sleeper sleeper = {.timer.fire = sleeper_fire, .fiber = worker->current};
    int error = wf_timers_arm_locked(&processor->timers, &sleeper.timer, until);
    if (error)
        return error;
    if (sleeper.timer.node.index == 0)
        wf_processor_timers_changed_owner(processor);
    wf_fiber_park(commit_drop_timers, &processor->timers);
    return 0;
}

static bool commit_drop_timers(struct wf_fiber *fiber, void *arg) {
    (void)fiber;
    struct wf_timers *timers = arg;
    wf_lock_drop(&timers->lock);
    return true;
}

static struct wf_task *sleeper_fire(struct wf_timer *timer) {
    struct sleeper *sleeper = WF_CONTAINER(timer, struct sleeper, timer);
    wf_fiber_set_state(sleeper->fiber, WF_FIBER_READY);
    return &sleeper->fiber->task;
}
