/* SPDX-License-Identifier: MIT
 *
 * loop/timer.c - timers, intervals and immediates.
 *
 * Under the loop's lock, for the owner as well: so an id is known to its caller before the callback can run, and clearing
 * is exact. Every timer that is set goes to the *fresh* list first and into the heap when the next turn begins. That is
 * why one made in a turn does not fire in it, why an interval of no length fires once a turn, and why setting and
 * clearing in one callback touches no heap. Room in the heap is made when a timer is set, so the rest cannot fail.
 *
 *     FREE --set--> FRESH --turn--> ARMED --due--> FREE, or for one that repeats: FIRING --callback--> FRESH
 *                     `------------clear, refresh (FRESH)-------------'  cleared meanwhile: FREE
 *     FREE --immediate--> QUEUED --check phase--> FREE
 *
 * The deadline counts from the clock at the call, so no timer is early; equal ones come in the order of their numbers.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "loop/loop.h"
#include "os/clock.h"
#include "os/memory.h"

enum { KEPT_TIMERS = 1024 };

static int timer_set(weft_loop *loop, weft_loop_timer *out, const struct wf_loop_timer *wish);
static void timers_trim(struct wf_timers_of_loop *timers);
static int timer_make(weft_loop *loop, bool keeps, struct wf_loop_timer **out);
static void timer_freshen(weft_loop *loop, struct wf_loop_timer *timer, int64_t deadline);
static void timer_unlink(weft_loop *loop, struct wf_loop_timer *timer);
static void timer_give(weft_loop *loop, struct wf_loop_timer *timer);
static void timer_end_firing(weft_loop *loop);
static void timer_discard(weft_loop *loop, struct wf_loop_timer *timer);
static struct wf_loop_timer *timer_get(weft_loop *loop, uint64_t id, bool is_immediate);
static int timer_clear(weft_loop *loop, uint64_t id, bool is_immediate);
static int timer_keep(weft_loop *loop, uint64_t id, bool is_immediate, bool keeps);
static void immediate_run(weft_loop *loop, struct wf_loop_job *job);

void wf_loop_timers_init(weft_loop *loop) {
    wf_slab_init(&loop->timers.slab, sizeof(struct wf_loop_timer));
    wf_list_init(&loop->timers.fresh);
    loop->timers.fresh_earliest = WF_NEVER;
}

int64_t wf_loop_clock(weft_loop *loop) {
    if (WF_LIKELY(!loop->options.virtual_time))
        return wf_os_now();
    wf_lock_take(&loop->lock);
    int64_t now = loop->virtual_now;
    wf_lock_drop(&loop->lock);
    return now;
}

weft_time weft_loop_now(weft_loop *loop) {
    return loop ? wf_loop_clock(loop) : wf_os_now();
}

int weft_loop_advance(weft_loop *loop, int64_t nanoseconds) {
    if (!loop || nanoseconds < 0)
        return -EINVAL;
    if (!loop->options.virtual_time)
        return -ENOTSUP;
    wf_lock_take(&loop->lock);
    loop->virtual_now = wf_time_add(loop->virtual_now, nanoseconds);
    wf_loop_drop_and_rouse(loop);
    return 0;
}

int weft_set_timeout(weft_loop *loop, weft_loop_timer *out, int64_t delay, weft_loop_fn fn, void *arg) {
    const struct wf_loop_timer wish = {.fn = fn, .arg = arg, .delay = delay, .keeps = true};
    return timer_set(loop, out, &wish);
}

int weft_set_interval(weft_loop *loop, weft_loop_timer *out, int64_t period, weft_loop_fn fn, void *arg) {
    const struct wf_loop_timer wish = {.fn = fn, .arg = arg, .delay = period, .keeps = true, .repeats = true};
    return timer_set(loop, out, &wish);
}

int wf_loop_set_timeout(weft_loop *loop, weft_loop_timer *out, int64_t delay, bool keeps, weft_loop_fn fn,
                        weft_loop_fn dropped, void *arg) {
    const struct wf_loop_timer wish = {.fn = fn, .dropped = dropped, .arg = arg, .delay = delay, .keeps = keeps};
    return timer_set(loop, out, &wish);
}

static int timer_set(weft_loop *loop, weft_loop_timer *out, const struct wf_loop_timer *wish) {
    if (!loop || !wish->fn)
        return -EINVAL;
    struct wf_loop_timer *timer;
    int64_t now = wf_loop_clock(loop);
    wf_lock_take(&loop->lock);
    int error = wf_loop_is_ending(loop) ? -EPIPE : timer_make(loop, wish->keeps, &timer);
    if (error) {
        wf_lock_drop(&loop->lock);
        return error;
    }
    timer->fn = wish->fn;
    timer->dropped = wish->dropped;
    timer->arg = wish->arg;
    timer->delay = wish->delay < 0 ? 0 : wish->delay;
    timer->repeats = wish->repeats;
    loop->timers.count++;
    timer_freshen(loop, timer, wf_time_add(now, timer->delay));
    if (out)
        out->bits = wf_slab_id(timer);
    wf_context_release(timer);
    enum wf_loop_state state = wf_loop_state(loop);
    if (state == WF_LOOP_AWAKE || (state == WF_LOOP_SLEEPING && timer->deadline < loop->sleep_until))
        wf_loop_drop_and_rouse(loop);
    else
        wf_lock_drop(&loop->lock);
    return 0;
}

/* With room in the heap. */
static int timer_make(weft_loop *loop, bool keeps, struct wf_loop_timer **out) {
    struct wf_timers_of_loop *timers = &loop->timers;
    void *record;
    if (timers->count >= timers->heap.capacity && wf_heap_grow(&timers->heap) != 0)
        return -ENOMEM;
    int error = wf_slab_take(&timers->slab, &record);
    if (error)
        return error;
    *out = record;
    (*out)->node.index = WF_HEAP_OUTSIDE;
    wf_list_init(&(*out)->fresh);
    (*out)->keeps = keeps;
    timers->kept += keeps;
    return 0;
}

static void timer_freshen(weft_loop *loop, struct wf_loop_timer *timer, int64_t deadline) {
    struct wf_timers_of_loop *timers = &loop->timers;
    timer->state = WF_TIMER_FRESH;
    timer->deadline = deadline;
    timer->sequence = timers->sequence++;
    wf_list_append(&timers->fresh, &timer->fresh);
    if (deadline < timers->fresh_earliest)
        timers->fresh_earliest = deadline;
}

void wf_loop_timers_merge(weft_loop *loop) {
    struct wf_timers_of_loop *timers = &loop->timers;
    struct wf_list *node;
    wf_lock_take(&loop->lock);
    while ((node = wf_list_take_first(&timers->fresh))) {
        struct wf_loop_timer *timer = WF_CONTAINER(node, struct wf_loop_timer, fresh);
        timer->state = WF_TIMER_ARMED;
        wf_heap_insert(&timers->heap, &timer->node, timer->deadline, timer->sequence);
    }
    timers->fresh_earliest = WF_NEVER;
    if (WF_UNLIKELY(timers->slab.used == 0))
        timers_trim(timers);
    wf_lock_drop(&loop->lock);
}

/* After a burst. */
static void timers_trim(struct wf_timers_of_loop *timers) {
    wf_slab_trim(&timers->slab);
    if (timers->heap.capacity > KEPT_TIMERS) {
        wf_os_free(timers->heap.entries);
        timers->heap = (struct wf_heap){0};
    }
}

/* One callback. What a timer that repeats needs after it is done when the next step begins, since a panic skips the rest. */
bool wf_loop_timer_step(weft_loop *loop) {
    struct wf_timers_of_loop *timers = &loop->timers;
    wf_lock_take(&loop->lock);
    timer_end_firing(loop);
    if (timers->heap.count == 0 || timers->heap.entries[0].key > loop->now || wf_loop_is_ending(loop)) {
        wf_lock_drop(&loop->lock);
        return false;
    }
    struct wf_loop_timer *timer = WF_CONTAINER(wf_heap_first(&timers->heap), struct wf_loop_timer, node);
    wf_heap_remove(&timers->heap, &timer->node);
    if (loop->metrics)
        wf_metrics_late_locked(loop, timer->deadline);
    weft_loop_fn fn = timer->fn;
    void *arg = timer->arg;
    wf_context_acquire(timer);
    const char *source = timer->repeats ? "interval" : "timer";
    if (timer->repeats) {
        timer->state = WF_TIMER_FIRING;
        timer->deadline = wf_time_add(loop->options.virtual_time ? loop->virtual_now : wf_os_now(), timer->delay);
        loop->firing = timer;
    } else {
        timer_give(loop, timer);
    }
    wf_lock_drop(&loop->lock);
    WF_POINT("loop.before_timer");
    wf_loop_enter(loop, source, fn);
    fn(arg);
    wf_loop_leave(loop);
    return true;
}

static void timer_end_firing(weft_loop *loop) {
    struct wf_loop_timer *timer = loop->firing;
    loop->firing = NULL;
    if (!timer)
        return;
    if (timer->is_cleared)
        timer_give(loop, timer);
    else
        timer_freshen(loop, timer, timer->deadline);
}

static void timer_unlink(weft_loop *loop, struct wf_loop_timer *timer) {
    if (timer->state == WF_TIMER_FRESH)
        wf_list_remove(&timer->fresh);
    else if (timer->state == WF_TIMER_ARMED)
        wf_heap_remove(&loop->timers.heap, &timer->node);
}

static void timer_give(weft_loop *loop, struct wf_loop_timer *timer) {
    if (timer->keeps)
        loop->timers.kept--;
    if (!timer->is_immediate)
        loop->timers.count--;
    timer->state = WF_TIMER_FREE;
    wf_slab_give(&loop->timers.slab, timer);
}

static struct wf_loop_timer *timer_get(weft_loop *loop, uint64_t id, bool is_immediate) {
    struct wf_loop_timer *timer = wf_slab_find(&loop->timers.slab, id);
    return timer && timer->is_immediate == is_immediate && !timer->is_cleared ? timer : NULL;
}

int weft_clear_timer(weft_loop *loop, weft_loop_timer timer) {
    return timer_clear(loop, timer.bits, false);
}

int weft_clear_immediate(weft_loop *loop, weft_immediate immediate) {
    return timer_clear(loop, immediate.bits, true);
}

static int timer_clear_locked(weft_loop *loop, uint64_t id, bool is_immediate) {
    struct wf_loop_timer *timer = timer_get(loop, id, is_immediate);
    if (!timer)
        return wf_loop_is_ending(loop) ? -EPIPE : -ESTALE;
    if (timer->state == WF_TIMER_FIRING || timer->state == WF_TIMER_QUEUED) {
        timer->is_cleared = true; /* whoever has it gives it back */
        if (timer->keeps)
            loop->timers.kept--;
        timer->keeps = false;
        return 0;
    }
    timer_unlink(loop, timer);
    timer_give(loop, timer);
    return 0;
}

static int timer_clear(weft_loop *loop, uint64_t id, bool is_immediate) {
    if (!loop)
        return -EINVAL;
    wf_lock_take(&loop->lock);
    int status = timer_clear_locked(loop, id, is_immediate);
    /* Perhaps nothing is alive any more: a loop that sleeps has to look. */
    if (!status && loop->timers.kept == 0)
        wf_loop_drop_and_rouse(loop);
    else
        wf_lock_drop(&loop->lock);
    return status;
}

int weft_clear_timers(weft_loop *loop, const weft_loop_timer *timers, int *results, size_t count) {
    if (!loop || (!timers && count))
        return -EINVAL;
    int cleared = 0;
    wf_lock_take(&loop->lock);
    for (size_t i = 0; i < count; i++) {
        int status = timer_clear_locked(loop, timers[i].bits, false);
        cleared += status == 0;
        if (results)
            results[i] = status;
    }
    if (cleared && loop->timers.kept == 0)
        wf_loop_drop_and_rouse(loop);
    else
        wf_lock_drop(&loop->lock);
    return cleared;
}

int weft_loop_timer_keep(weft_loop *loop, weft_loop_timer timer, bool keeps) {
    return timer_keep(loop, timer.bits, false, keeps);
}

int weft_immediate_keep(weft_loop *loop, weft_immediate immediate, bool keeps) {
    return timer_keep(loop, immediate.bits, true, keeps);
}

static int timer_keep(weft_loop *loop, uint64_t id, bool is_immediate, bool keeps) {
    if (!loop)
        return -EINVAL;
    wf_lock_take(&loop->lock);
    struct wf_loop_timer *timer = timer_get(loop, id, is_immediate);
    if (timer && timer->keeps != keeps) {
        timer->keeps = keeps;
        loop->timers.kept += keeps ? 1 : (uint32_t)-1;
    }
    if (timer && loop->timers.kept == 0)
        wf_loop_drop_and_rouse(loop);
    else
        wf_lock_drop(&loop->lock);
    return timer ? 0 : -ESTALE;
}

int weft_loop_timer_keeps(weft_loop *loop, weft_loop_timer timer) {
    if (!loop)
        return -EINVAL;
    wf_lock_take(&loop->lock);
    const struct wf_loop_timer *found = timer_get(loop, timer.bits, false);
    int answer = found ? found->keeps : -ESTALE;
    wf_lock_drop(&loop->lock);
    return answer;
}

int weft_loop_timer_refresh(weft_loop *loop, weft_loop_timer timer) {
    if (!loop)
        return -EINVAL;
    int64_t now = wf_loop_clock(loop);
    wf_lock_take(&loop->lock);
    struct wf_loop_timer *found = timer_get(loop, timer.bits, false);
    if (found && found->state == WF_TIMER_FIRING) {
        found->deadline = wf_time_add(now, found->delay);
    } else if (found) {
        timer_unlink(loop, found);
        timer_freshen(loop, found, wf_time_add(now, found->delay));
    }
    wf_lock_drop(&loop->lock);
    return found ? 0 : -ESTALE;
}

int weft_set_immediate(weft_loop *loop, weft_immediate *out, weft_loop_fn fn, void *arg) {
    if (!loop || !fn)
        return -EINVAL;
    bool is_mine = wf_loop_is_mine(loop);
    if (is_mine)
        wf_loop_look_for(loop, 1u << WF_TRACK_CHECK);
    wf_lock_take(&loop->lock);
    void *record;
    int error = wf_loop_is_ending(loop) ? -EPIPE : wf_slab_take(&loop->timers.slab, &record);
    if (error) {
        wf_lock_drop(&loop->lock);
        return error;
    }
    struct wf_loop_timer *immediate = record;
    immediate->state = WF_TIMER_QUEUED;
    immediate->is_immediate = true;
    immediate->keeps = true;
    immediate->fn = fn;
    immediate->arg = arg;
    immediate->job.run = immediate_run;
    loop->timers.kept++;
    if (out)
        out->bits = wf_slab_id(immediate);
    wf_context_release(immediate);
    wf_loop_jobs_append(is_mine ? &loop->tracks[WF_TRACK_CHECK] : &loop->ingress[WF_TRACK_CHECK], &immediate->job);
    if (is_mine) {
        wf_lock_drop(&loop->lock);
        return 0;
    }
    wf_loop_mark_ingress_locked(loop, WF_TRACK_CHECK);
    wf_loop_drop_and_rouse(loop);
    return 0;
}

/* A null loop is that of a loop that ends, which frees the slab as a whole. */
static void immediate_run(weft_loop *loop, struct wf_loop_job *job) {
    if (!loop)
        return;
    struct wf_loop_timer *immediate = WF_CONTAINER(job, struct wf_loop_timer, job);
    wf_lock_take(&loop->lock);
    bool is_cleared = immediate->is_cleared;
    wf_context_acquire(immediate);
    weft_loop_fn fn = immediate->fn;
    void *arg = immediate->arg;
    timer_give(loop, immediate);
    wf_lock_drop(&loop->lock);
    if (is_cleared)
        return;
    loop->running = fn;
    fn(arg);
}

void wf_loop_timers_discard(weft_loop *loop) {
    struct wf_timers_of_loop *timers = &loop->timers;
    struct wf_heap_node *first;
    wf_lock_take(&loop->lock);
    timer_end_firing(loop);
    while (!wf_list_is_empty(&timers->fresh))
        timer_discard(loop, WF_CONTAINER(timers->fresh.next, struct wf_loop_timer, fresh));
    while ((first = wf_heap_first(&timers->heap)))
        timer_discard(loop, WF_CONTAINER(first, struct wf_loop_timer, node));
    wf_lock_drop(&loop->lock);
}

static void timer_discard(weft_loop *loop, struct wf_loop_timer *timer) {
    weft_loop_fn dropped = timer->dropped;
    void *arg = timer->arg;
    timer_unlink(loop, timer);
    timer_give(loop, timer);
    if (!dropped)
        return;
    wf_lock_drop(&loop->lock);
    dropped(arg);
    wf_lock_take(&loop->lock);
}

void wf_loop_timers_term(weft_loop *loop) {
    wf_slab_term(&loop->timers.slab);
    wf_os_free(loop->timers.heap.entries);
}
