/* SPDX-License-Identifier: MIT
 *
 * sched/timer.c - arming, firing, cancelling. Model and lock order: sched/timer.h.
 *
 * earliest is kept in step with runs and heap under the lock and read without it, by the poller for its time limit and by
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
/* The index of one in run i is IN_RUN + i: no heap is as large as that. */
#define IN_RUN (WF_HEAP_OUTSIDE - WF_TIMER_RUNS)

static struct wf_timer_run *run_for(struct wf_timers *timers, int64_t deadline_ns);
static void timer_insert(struct wf_timers *timers, struct wf_timer_run *run, struct wf_timer *timer,
                         int64_t deadline_ns);
static void timer_return(struct wf_timers *timers, struct wf_timer *timer, int64_t deadline_ns);
static void timer_remove(struct wf_timers *timers, struct wf_timer *timer);
static void timer_cancel_locked(struct wf_timers *timers, struct wf_timer *timer);
static struct wf_timer *timers_first(const struct wf_timers *timers);
static void timers_publish(struct wf_timers *timers);
static void heap_shrink(struct wf_heap *heap);
static struct wf_task *alarm_fire(struct wf_timer *timer);
static bool alarm_expire_locked(struct wf_timers *timers, struct wf_alarm *alarm, int64_t now);

static bool timer_is_inside(const struct wf_timer *timer) {
    return timer->node.index != WF_HEAP_OUTSIDE;
}

void wf_timers_init(struct wf_timers *timers) {
    memset(timers, 0, sizeof *timers);
    wf_store_relaxed(&timers->earliest, INT64_MAX);
    for (int i = 0; i < WF_TIMER_RUNS; i++) {
        wf_list_init(&timers->runs[i].timers);
        timers->runs[i].end_ns = INT64_MIN;
    }
}

void wf_timers_term(struct wf_timers *timers) {
    wf_os_free(timers->heap.entries);
    timers->heap = (struct wf_heap){0};
}

int wf_timers_arm_locked(struct wf_timers *timers, struct wf_timer *timer, int64_t deadline_ns) {
    wf_lock_take(&timers->lock);
    struct wf_timer_run *run = run_for(timers, deadline_ns);
    if (!run && timers->heap.count == timers->heap.capacity) {
        int error = wf_heap_grow(&timers->heap);
        if (error) {
            wf_lock_drop(&timers->lock);
            return error;
        }
    }
    timer->home = timers;
    timer_insert(timers, run, timer, deadline_ns);
    wf_count_owner(&timers->armed, 1);
    return 0;
}

/* The one that ends latest without ending after the deadline: those with other limits are left to theirs. */
static struct wf_timer_run *run_for(struct wf_timers *timers, int64_t deadline_ns) {
    struct wf_timer_run *best = NULL;
    for (int i = 0; i < WF_TIMER_RUNS; i++) {
        struct wf_timer_run *run = &timers->runs[i];
        if (run->end_ns <= deadline_ns && (!best || run->end_ns > best->end_ns))
            best = run;
    }
    return best;
}

static bool timer_is_after(const struct wf_list *link, int64_t deadline_ns) {
    return WF_CONTAINER(link, struct wf_timer, link)->deadline_ns > deadline_ns;
}

/* run: for that deadline; without one, and with a heap that is full, it gets its place in the middle of a run. */
static void timer_insert(struct wf_timers *timers, struct wf_timer_run *run, struct wf_timer *timer,
                         int64_t deadline_ns) {
    timer->deadline_ns = deadline_ns;
    timer->sequence = timers->sequence++;
    if (deadline_ns < wf_load_relaxed(&timers->earliest))
        wf_store_relaxed(&timers->earliest, deadline_ns);
    if (!run && timers->heap.count < timers->heap.capacity) {
        wf_heap_insert(&timers->heap, &timer->node, deadline_ns, timer->sequence);
        return;
    }
    if (!run)
        run = &timers->runs[0];
    struct wf_list *next = &run->timers; /* its head: at the end */
    while (deadline_ns < run->end_ns && next->previous != &run->timers && timer_is_after(next->previous, deadline_ns))
        next = next->previous;
    wf_list_append(next, &timer->link);
    timer->node.index = IN_RUN + (uint32_t)(run - timers->runs);
    run->end_ns = deadline_ns > run->end_ns ? deadline_ns : run->end_ns;
}

/* An alarm that was inside a moment ago. That cannot fail: without memory it walks along a run. */
static void timer_return(struct wf_timers *timers, struct wf_timer *timer, int64_t deadline_ns) {
    struct wf_timer_run *run = run_for(timers, deadline_ns);
    if (!run && timers->heap.count == timers->heap.capacity)
        (void)wf_heap_grow(&timers->heap);
    timer_insert(timers, run, timer, deadline_ns);
}

/* The caller publishes. */
static void timer_remove(struct wf_timers *timers, struct wf_timer *timer) {
    if (timer->node.index < IN_RUN) {
        wf_heap_remove(&timers->heap, &timer->node);
        heap_shrink(&timers->heap);
        return;
    }
    struct wf_timer_run *run = &timers->runs[timer->node.index - IN_RUN];
    timer->node.index = WF_HEAP_OUTSIDE;
    wf_list_remove(&timer->link);
    if (wf_list_is_empty(&run->timers))
        run->end_ns = INT64_MIN;
}

static bool timer_is_before(const struct wf_timer *a, const struct wf_timer *b) {
    return a->deadline_ns < b->deadline_ns || (a->deadline_ns == b->deadline_ns && a->sequence < b->sequence);
}

static struct wf_timer *timers_first(const struct wf_timers *timers) {
    struct wf_heap_node *node = wf_heap_first(&timers->heap);
    struct wf_timer *first = node ? WF_CONTAINER(node, struct wf_timer, node) : NULL;
    for (int i = 0; i < WF_TIMER_RUNS; i++) {
        const struct wf_list *run = &timers->runs[i].timers;
        struct wf_timer *candidate = WF_CONTAINER(run->next, struct wf_timer, link);
        if (!wf_list_is_empty(run) && (!first || timer_is_before(candidate, first)))
            first = candidate;
    }
    return first;
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
    bool was_inside = timer_is_inside(timer);
    if (was_inside)
        timer_cancel_locked(timers, timer);
    wf_lock_drop(&timers->lock);
    return was_inside;
}

static void timer_cancel_locked(struct wf_timers *timers, struct wf_timer *timer) {
    timer_remove(timers, timer);
    wf_count_owner(&timers->cancelled, 1);
    if (timer->deadline_ns == wf_load_relaxed(&timers->earliest))
        timers_publish(timers);
}

uint32_t wf_timers_fire(struct wf_timers *timers, int64_t now, struct wf_chain *ready) {
    uint32_t fired = 0;
    struct wf_alarm *due = NULL;
    struct wf_alarm **last_due = &due;
    struct wf_timer *timer;
    wf_lock_take(&timers->lock);
    while ((timer = timers_first(timers)) && timer->deadline_ns <= now) {
        timer_remove(timers, timer);
        if (timer->fire == alarm_fire) {
            struct wf_alarm *alarm = (struct wf_alarm *)timer;
            if (alarm_expire_locked(timers, alarm, now)) {
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
static bool alarm_expire_locked(struct wf_timers *timers, struct wf_alarm *alarm, int64_t now) {
    int64_t period = alarm->period_ns, deadline = alarm->timer.deadline_ns;
    bool was_due = alarm->is_due;
    alarm->expired++;
    if (period > 0) {
        int64_t missed = (now - deadline) / period;
        alarm->expired += (uint64_t)missed;
        int64_t next = wf_time_add(deadline + missed * period, period);
        timer_return(timers, &alarm->timer, next);
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
    bool was_inside = timer_is_inside(&alarm->timer);
    if (was_inside) {
        alarm->expired = 0;
        timer_remove(timers, &alarm->timer);
        timer_return(timers, &alarm->timer, deadline_ns);
        alarm->period_ns = period_ns;
        timers_publish(timers);
    }
    wf_lock_drop(&timers->lock);
    return was_inside;
}

bool wf_alarm_disarm(struct wf_alarm *alarm, bool *is_due) {
    struct wf_timers *timers = alarm->timer.home;
    wf_lock_take(&timers->lock);
    bool was_inside = timer_is_inside(&alarm->timer);
    bool has_expired = alarm->expired > 0;
    alarm->expired = 0;
    *is_due = alarm->is_due;
    if (was_inside)
        timer_cancel_locked(timers, &alarm->timer);
    wf_lock_drop(&timers->lock);
    return was_inside || has_expired;
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
    const struct wf_timer *first = timers_first(timers);
    wf_store_relaxed(&timers->earliest, first ? first->deadline_ns : INT64_MAX);
}

static void heap_shrink(struct wf_heap *heap) {
    if (heap->count == 0 && heap->capacity > SHRINK_ABOVE) {
        wf_os_free(heap->entries);
        heap->entries = NULL;
        heap->capacity = 0;
    }
}
