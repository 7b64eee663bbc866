/* SPDX-License-Identifier: MIT
 *
 * sched/timer.c - arming, firing, cancelling. Model and lock order: sched/timer.h.
 *
 * earliest is kept in step with the heap under the lock and read without it, by the poller for its time limit and by
 * searchers for what is due. Lateness of that read is covered by the protocol in sched/sleep.c, not here.
 */
#include "sched/timer.h"

#include <errno.h>
#include <string.h>

#include "base/list.h"
#include "os/clock.h"
#include "os/memory.h"

/* 64: a processor's first timers cost one small block. The array doubles from there, and goes back when the heap is
 * empty and larger than SHRINK_ABOVE, so that a burst of a million sleepers leaves nothing behind. */
enum { FIRST_CAPACITY = 64, SHRINK_ABOVE = 4096 };

static void timers_publish(struct wf_timers *timers);
static void timers_shrink(struct wf_timers *timers);
static struct wf_task *alarm_fire(struct wf_timer *timer);
static bool alarm_expire_locked(struct wf_timers *timers, struct wf_alarm *alarm, int64_t deadline, int64_t now);

void wf_timers_init(struct wf_timers *timers) {
    memset(timers, 0, sizeof *timers);
    wf_store_relaxed(&timers->earliest, INT64_MAX);
}

void wf_timers_term(struct wf_timers *timers) {
    wf_os_free(timers->heap.entries);
    timers->heap = (struct wf_heap){0};
}

int wf_timers_arm_locked(struct wf_timers *timers, struct wf_timer *timer, int64_t deadline_ns) {
    wf_lock_take(&timers->lock);
    if (timers->heap.count == timers->heap.capacity) {
        int error = wf_heap_grow(&timers->heap);
        if (error) {
            wf_lock_drop(&timers->lock);
            return error;
        }
    }
    timer->home = timers;
    wf_heap_insert(&timers->heap, &timer->node, deadline_ns, timers->sequence++);
    wf_count_owner(&timers->armed, 1);
    if (timer->node.index == 0)
        timers_publish(timers);
    return 0;
}

int wf_timers_arm(struct wf_timers *timers, struct wf_timer *timer, int64_t deadline_ns) {
    int error = wf_timers_arm_locked(timers, timer, deadline_ns);
    if (!error)
        wf_lock_drop(&timers->lock);
    return error;
}

bool wf_timers_cancel(struct wf_timer *timer) {
    struct wf_timers *timers = timer->home;
    wf_lock_take(&timers->lock);
    bool is_inside = timer->node.index != WF_HEAP_OUTSIDE;
    if (is_inside) {
        wf_heap_remove(&timers->heap, &timer->node);
        wf_count_owner(&timers->cancelled, 1);
        timers_publish(timers);
        timers_shrink(timers);
    }
    wf_lock_drop(&timers->lock);
    return is_inside;
}

uint32_t wf_timers_fire(struct wf_timers *timers, int64_t now, struct wf_chain *ready) {
    uint32_t fired = 0;
    struct wf_alarm *due = NULL;
    struct wf_alarm **last_due = &due;
    wf_lock_take(&timers->lock);
    while (timers->heap.count > 0 && timers->heap.entries[0].key <= now) {
        int64_t deadline = timers->heap.entries[0].key;
        struct wf_timer *timer = WF_CONTAINER(wf_heap_first(&timers->heap), struct wf_timer, node);
        wf_heap_remove(&timers->heap, &timer->node);
        if (timer->fire == alarm_fire) {
            struct wf_alarm *alarm = (struct wf_alarm *)timer;
            if (alarm_expire_locked(timers, alarm, deadline, now)) {
                *last_due = alarm;
                last_due = &alarm->next_due;
            }
        } else {
            struct wf_task *task = timer->fire(timer);
            if (task)
                wf_chain_append(ready, task);
        }
        fired++;
    }
    *last_due = NULL;
    if (fired) {
        wf_count_owner(&timers->fired, fired);
        timers_publish(timers);
        timers_shrink(timers);
    }
    wf_lock_drop(&timers->lock);
    for (struct wf_alarm *alarm = due, *next; alarm; alarm = next) {
        next = alarm->next_due;
        alarm->ring(alarm);
    }
    return fired;
}

/* Marks a timer as an alarm; is not called. */
static struct wf_task *alarm_fire(struct wf_timer *timer) {
    (void)timer;
    return NULL;
}

/* True when ring is to be called. A periodic one never drifts: its next deadline is a whole number of periods later, and
 * the first one that is not past. */
static bool alarm_expire_locked(struct wf_timers *timers, struct wf_alarm *alarm, int64_t deadline, int64_t now) {
    int64_t period = alarm->period_ns;
    bool was_due = alarm->is_due;
    alarm->expired++;
    if (period > 0) {
        int64_t missed = (now - deadline) / period;
        alarm->expired += (uint64_t)missed;
        int64_t next = wf_time_add(deadline + missed * period, period);
        wf_heap_insert(&timers->heap, &alarm->timer.node, next, timers->sequence++);
        wf_count_owner(&timers->armed, 1);
    }
    alarm->is_due = true;
    return !was_due;
}

int wf_alarm_arm(struct wf_timers *timers, struct wf_alarm *alarm, int64_t deadline_ns, int64_t period_ns) {
    alarm->timer.fire = alarm_fire;
    int error = wf_timers_arm_locked(timers, &alarm->timer, deadline_ns);
    if (error)
        return error;
    alarm->period_ns = period_ns;
    alarm->expired = 0;
    wf_lock_drop(&timers->lock);
    return 0;
}

bool wf_alarm_move(struct wf_alarm *alarm, int64_t deadline_ns, int64_t period_ns) {
    struct wf_timers *timers = alarm->timer.home;
    wf_lock_take(&timers->lock);
    bool is_inside = alarm->timer.node.index != WF_HEAP_OUTSIDE;
    if (is_inside) {
        alarm->expired = 0;
        wf_heap_remove(&timers->heap, &alarm->timer.node);
        wf_heap_insert(&timers->heap, &alarm->timer.node, deadline_ns, timers->sequence++);
        alarm->period_ns = period_ns;
        timers_publish(timers);
    }
    wf_lock_drop(&timers->lock);
    return is_inside;
}

bool wf_alarm_disarm(struct wf_alarm *alarm, bool *is_due) {
    struct wf_timers *timers = alarm->timer.home;
    wf_lock_take(&timers->lock);
    bool is_inside = alarm->timer.node.index != WF_HEAP_OUTSIDE;
    bool has_expired = alarm->expired > 0;
    alarm->expired = 0;
    *is_due = alarm->is_due;
    if (is_inside) {
        wf_heap_remove(&timers->heap, &alarm->timer.node);
        wf_count_owner(&timers->cancelled, 1);
        timers_publish(timers);
        timers_shrink(timers);
    }
    wf_lock_drop(&timers->lock);
    return is_inside || has_expired;
}

uint64_t wf_alarm_take(struct wf_alarm *alarm) {
    struct wf_timers *timers = alarm->timer.home;
    wf_lock_take(&timers->lock);
    uint64_t expired = alarm->expired;
    alarm->expired = 0;
    alarm->is_due = false;
    wf_lock_drop(&timers->lock);
    return expired;
}

int wf_heap_grow(struct wf_heap *heap) {
    uint32_t capacity = heap->capacity ? heap->capacity * 2 : FIRST_CAPACITY;
    struct wf_heap_entry *entries = wf_os_alloc(capacity * sizeof *entries);
    if (!entries)
        return -ENOMEM;
    if (heap->count)
        memcpy(entries, heap->entries, heap->count * sizeof *entries);
    wf_os_free(heap->entries);
    heap->entries = entries;
    heap->capacity = capacity;
    return 0;
}

static void timers_publish(struct wf_timers *timers) {
    wf_store_relaxed(&timers->earliest, timers->heap.count ? timers->heap.entries[0].key : INT64_MAX);
}

static void timers_shrink(struct wf_timers *timers) {
    if (timers->heap.count == 0 && timers->heap.capacity > SHRINK_ABOVE) {
        wf_os_free(timers->heap.entries);
        timers->heap.entries = NULL;
        timers->heap.capacity = 0;
    }
}
