/* SPDX-License-Identifier: MIT
 *
 * pool/clock.c - moments: timeouts, deadlines, grace periods, ticks.
 *
 * A pool has one heap of alarms and one thread that rings them, started with the first alarm and asleep until the earliest. It is
 * a thread and no fiber, because all threads of the pool may be inside works that compute, and those are the ones to be stopped.
 *
 *     wf_pool_alarm_set --> in the heap --due--> ringing --> not set
 *                          `---clear, over---^ (waits until the ring is over)
 *
 * Lives. An alarm of a work is part of its terms, which go when the work is over. Whoever ends a work calls wf_clock_over first,
 * which takes the alarms back and waits while one of them rings; so a ring may look at the terms, the record and its handle, until
 * it does something that could end the work on the clock's own thread: stop it, or call a function of the program. There,
 * wf_clock_over does not wait, and the ring goes on with nothing but the handle. The pool's own alarms live as long as the pool,
 * and are taken back without waiting; their rings ask whether they still mean anything.
 *
 * Room. Setting an alarm must not fail when it is too late to refuse: a work that has begun, a pause that ends. So an alarm gets
 * its place in the heap, and the thread, once and early (has_room), and gives it back with the end of its work.
 *
 * Wake-ups. The thread is woken for an alarm that is earlier than what it sleeps for, and not for one that was taken back: with a
 * timeout that never passes, that would be a system call for every work. The price is one look for nothing, after which it sleeps
 * for what there is.
 *
 * clock.lock is innermost; nothing is called under it but the heap, memory, and the start of the thread.
 */
#include <errno.h>

#include "base/point.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"
#include "pool/pool.h"

/* See ring_grace. */
enum { GRACE_STEPS = 8 };

static int alarm_set_locked(weft_pool *pool, struct wf_pool_alarm *alarm, int64_t when);
static int alarm_reserve_locked(weft_pool *pool, struct wf_pool_alarm *alarm);
static bool alarm_is_set(const struct wf_pool_alarm *alarm);
static bool alarm_take_back_locked(struct wf_pool_clock *clock, struct wf_pool_alarm *alarm);
static int64_t alarm_stand_still_locked(struct wf_pool_clock *clock, struct wf_pool_alarm *alarm, int64_t now);
static void alarm_give_up_room_locked(struct wf_pool_clock *clock, struct wf_pool_alarm *alarm);
static void alarm_await_ring_locked(struct wf_pool_clock *clock, const struct wf_pool_alarm *alarm);
static bool clock_is_own_locked(const struct wf_pool_clock *clock);
static void clock_main(void *opaque);
static struct wf_pool_alarm *clock_take_due_locked(struct wf_pool_clock *clock);
static void clock_ring_locked(weft_pool *pool, struct wf_pool_alarm *alarm);
static int terms_begin_locked(weft_pool *pool, struct wf_terms *terms);
static void terms_use_locked(struct wf_terms *terms);
static void ring_timeout(weft_pool *pool, struct wf_pool_alarm *alarm);
static void ring_deadline(weft_pool *pool, struct wf_pool_alarm *alarm);
static void work_is_late(weft_pool *pool, struct wf_work *work, weft_work handle, weft_timeout_action action);
static void ring_grace(weft_pool *pool, struct wf_pool_alarm *alarm);
static void ring_pool_timeout(weft_pool *pool, struct wf_pool_alarm *alarm);
static bool pool_is_at(weft_pool *pool, uint32_t generation);
static void ring_tick(weft_pool *pool, struct wf_pool_alarm *alarm);
static void tell_if_stuck(weft_pool *pool);

/* ---- Alarms ---- */

void wf_pool_alarm_init(struct wf_pool_alarm *alarm, void (*ring)(weft_pool *pool, struct wf_pool_alarm *alarm)) {
    *alarm = (struct wf_pool_alarm){.node.index = WF_HEAP_OUTSIDE, .ring = ring};
}

int wf_pool_alarm_set(weft_pool *pool, struct wf_pool_alarm *alarm, int64_t when) {
    wf_lock_take(&pool->clock.lock);
    int error = alarm_set_locked(pool, alarm, when);
    wf_lock_drop(&pool->clock.lock);
    return error;
}

static int alarm_set_locked(weft_pool *pool, struct wf_pool_alarm *alarm, int64_t when) {
    struct wf_pool_clock *clock = &pool->clock;
    if (alarm->is_off)
        return 0;
    if (when != WF_NEVER) {
        int error = alarm_reserve_locked(pool, alarm);
        if (error)
            return error;
    }
    alarm_take_back_locked(clock, alarm);
    if (when == WF_NEVER || clock->is_over)
        return 0;
    alarm->when = when;
    wf_heap_insert(&clock->alarms, &alarm->node, when, clock->sequence++);
    if (when < clock->wakes_at) {
        clock->wakes_at = when;
        wf_parker_unpark(&clock->parker);
    }
    return 0;
}

/* A place for it in the heap, and the thread. */
static int alarm_reserve_locked(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct wf_pool_clock *clock = &pool->clock;
    if (alarm->has_room || alarm->is_off)
        return 0;
    if (clock->is_over)
        return -ESHUTDOWN;
    if (clock->reserved == clock->alarms.capacity) {
        int error = wf_heap_grow(&clock->alarms);
        if (error)
            return error;
    }
    if (!clock->has_thread) {
        clock->wakes_at = INT64_MIN; /* it looks before it sleeps */
        int error = wf_os_thread_start(&clock->thread, "weft-pool-clock", clock_main, pool);
        if (error)
            return error;
        clock->has_thread = true;
    }
    alarm->has_room = true;
    clock->reserved++;
    return 0;
}

/* Under the lock, or by whoever has the alarm to himself. */
static bool alarm_is_set(const struct wf_pool_alarm *alarm) {
    return alarm->ring && alarm->node.index != WF_HEAP_OUTSIDE;
}

static bool alarm_take_back_locked(struct wf_pool_clock *clock, struct wf_pool_alarm *alarm) {
    if (!alarm_is_set(alarm))
        return false;
    wf_heap_remove(&clock->alarms, &alarm->node);
    return true;
}

static void alarm_give_up_room_locked(struct wf_pool_clock *clock, struct wf_pool_alarm *alarm) {
    alarm_take_back_locked(clock, alarm);
    clock->reserved -= alarm->has_room;
    alarm->has_room = false;
}

bool wf_pool_alarm_clear(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct wf_pool_clock *clock = &pool->clock;
    wf_lock_take(&clock->lock);
    bool was_set = alarm_take_back_locked(clock, alarm);
    alarm_await_ring_locked(clock, alarm);
    wf_lock_drop(&clock->lock);
    return was_set;
}

/* The lock is dropped and taken again meanwhile. */
static void alarm_await_ring_locked(struct wf_pool_clock *clock, const struct wf_pool_alarm *alarm) {
    while (clock->ringing == alarm && !clock_is_own_locked(clock)) {
        struct wf_waiter waiter;
        wf_wait_surely_locked(&waiter, &clock->lock, &clock->ringing_waiters, "alarm", false);
        wf_lock_take(&clock->lock);
    }
}

/* Whether the caller is the clock's thread. */
static bool clock_is_own_locked(const struct wf_pool_clock *clock) {
    return clock->has_thread && clock->thread_id == wf_os_thread_id();
}

bool wf_clock_is_inside(weft_pool *pool) {
    wf_lock_take(&pool->clock.lock);
    bool is_own = clock_is_own_locked(&pool->clock);
    wf_lock_drop(&pool->clock.lock);
    return is_own;
}

/* ---- The thread ---- */

static void clock_main(void *opaque) {
    weft_pool *pool = opaque;
    struct wf_pool_clock *clock = &pool->clock;
    wf_os_thread_exact_timers();
    wf_lock_take(&clock->lock);
    clock->thread_id = wf_os_thread_id();
    while (!clock->is_over) {
        struct wf_pool_alarm *alarm = clock_take_due_locked(clock);
        if (alarm) {
            clock_ring_locked(pool, alarm);
            continue;
        }
        int64_t until = clock->alarms.count ? clock->alarms.entries[0].key : WF_NEVER;
        clock->wakes_at = until;
        wf_lock_drop(&clock->lock);
        WF_POINT("clock.before_park");
        wf_parker_park(&clock->parker, until);
        wf_lock_take(&clock->lock);
        clock->wakes_at = INT64_MIN;
    }
    wf_lock_drop(&clock->lock);
}

static struct wf_pool_alarm *clock_take_due_locked(struct wf_pool_clock *clock) {
    struct wf_heap_node *node = wf_heap_first(&clock->alarms);
    if (!node || clock->alarms.entries[0].key > wf_os_now())
        return NULL;
    wf_heap_remove(&clock->alarms, node);
    return WF_CONTAINER(node, struct wf_pool_alarm, node);
}

/* The lock is dropped meanwhile. The alarm may be gone when its ring is over. */
static void clock_ring_locked(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct wf_pool_clock *clock = &pool->clock;
    clock->ringing = alarm;
    wf_lock_drop(&clock->lock);
    WF_POINT("clock.before_ring");
    alarm->ring(pool, alarm);
    wf_lock_take(&clock->lock);
    clock->ringing = NULL;
    struct wf_waiter *told = wf_wait_take_all_locked(&clock->ringing_waiters, 0, NULL);
    if (!told)
        return;
    wf_lock_drop(&clock->lock);
    wf_wait_wake_chain(told);
    wf_lock_take(&clock->lock);
}

void wf_clock_stop(weft_pool *pool) {
    struct wf_pool_clock *clock = &pool->clock;
    if (wf_clock_is_inside(pool))
        wf_fatal("a handler that the clock of a pool has called ends that pool");
    wf_lock_take(&clock->lock);
    clock->is_over = true;
    bool has_thread = clock->has_thread;
    wf_lock_drop(&clock->lock);
    if (has_thread) {
        wf_parker_unpark(&clock->parker);
        wf_os_thread_join(&clock->thread);
    }
    wf_lock_take(&clock->lock);
    clock->has_thread = false;
    for (uint32_t i = 0; i < clock->alarms.count; i++)
        clock->alarms.entries[i].node->index = WF_HEAP_OUTSIDE;
    wf_os_free(clock->alarms.entries);
    clock->alarms = (struct wf_heap){0};
    wf_lock_drop(&clock->lock);
}

/* ---- Works ---- */

/* While it is not over, wf_clock_over is still to come, and the terms are there as long as we have the lock. */
int wf_clock_submitted(weft_pool *pool, struct wf_work *work, weft_work handle) {
    int error = 0;
    wf_lock_take(&pool->clock.lock);
    uint64_t word = wf_load_acquire(&work->word); /* pairs with the moves of the work */
    bool is_over = !wf_work_is(word, handle) || wf_work_phase(word) == WF_WORK_DONE;
    struct wf_terms *terms = is_over ? NULL : wf_work_terms(work);
    if (terms && (terms->timeout || terms->deadline != WF_NEVER))
        error = terms_begin_locked(pool, terms);
    wf_lock_drop(&pool->clock.lock);
    return error;
}

static int terms_begin_locked(weft_pool *pool, struct wf_terms *terms) {
    int error = 0;
    terms_use_locked(terms);
    if (terms->timeout)
        error = alarm_reserve_locked(pool, &terms->timeout_alarm);
    if (!error && terms->timeout && terms->timeout_action == WEFT_TIMEOUT_FORCE)
        error = alarm_reserve_locked(pool, &terms->grace_alarm);
    return error ? error : alarm_set_locked(pool, &terms->deadline_alarm, terms->deadline);
}

/* Terms are made all zero, and for many reasons. */
static void terms_use_locked(struct wf_terms *terms) {
    if (terms->timeout_alarm.ring || terms->timeout_alarm.is_off)
        return;
    wf_pool_alarm_init(&terms->timeout_alarm, ring_timeout);
    wf_pool_alarm_init(&terms->deadline_alarm, ring_deadline);
    wf_pool_alarm_init(&terms->grace_alarm, ring_grace);
}

int wf_clock_started(weft_pool *pool, struct wf_work *work) {
    struct wf_terms *terms = wf_work_terms(work);
    if (!terms || !terms->timeout)
        return 0;
    int error = 0;
    wf_lock_take(&pool->clock.lock);
    if (!terms->has_begun) {
        terms_use_locked(terms);
        terms->has_begun = true;
        terms->timeout_left = terms->timeout;
        if (!terms->stands_still)
            error = alarm_set_locked(pool, &terms->timeout_alarm, wf_time_add(wf_os_now(), terms->timeout));
    }
    wf_lock_drop(&pool->clock.lock);
    return error;
}

void wf_clock_pause(weft_pool *pool, struct wf_terms *terms, bool is_paused) {
    struct wf_pool_clock *clock = &pool->clock;
    wf_lock_take(&clock->lock);
    if (terms->stands_still != is_paused) {
        terms->stands_still = is_paused;
        int64_t now = wf_os_now();
        if (!is_paused && terms->has_begun && terms->timeout_left)
            alarm_set_locked(pool, &terms->timeout_alarm, wf_time_add(now, terms->timeout_left));
        else if (is_paused && terms->has_begun)
            terms->timeout_left = alarm_stand_still_locked(clock, &terms->timeout_alarm, now);
    }
    wf_lock_drop(&clock->lock);
}

/* Takes it back. What is left of it, at least 1; 0 when it was not set: it has rung. */
static int64_t alarm_stand_still_locked(struct wf_pool_clock *clock, struct wf_pool_alarm *alarm, int64_t now) {
    if (!alarm_take_back_locked(clock, alarm))
        return 0;
    return alarm->when > now ? alarm->when - now : 1;
}

void wf_clock_over(weft_pool *pool, struct wf_terms *terms) {
    struct wf_pool_clock *clock = &pool->clock;
    struct wf_pool_alarm *alarms[] = {&terms->timeout_alarm, &terms->deadline_alarm, &terms->grace_alarm};
    wf_lock_take(&clock->lock);
    for (int i = 0; i < 3; i++) {
        alarm_give_up_room_locked(clock, alarms[i]);
        alarms[i]->is_off = true;
    }
    for (int i = 0; i < 3; i++)
        alarm_await_ring_locked(clock, alarms[i]);
    wf_lock_drop(&clock->lock);
}

static void ring_timeout(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct wf_terms *terms = WF_CONTAINER(alarm, struct wf_terms, timeout_alarm);
    struct wf_work *work = terms->work;
    weft_work handle = wf_work_handle(work, wf_load_acquire(&work->word)); /* pairs with the moves of the work */
    work_is_late(pool, work, handle, terms->timeout_action);
}

/* One that tells only is for the timeout: a deadline always ends the work. */
static void ring_deadline(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct wf_terms *terms = WF_CONTAINER(alarm, struct wf_terms, deadline_alarm);
    struct wf_work *work = terms->work;
    weft_work handle = wf_work_handle(work, wf_load_acquire(&work->word)); /* pairs with the moves of the work */
    weft_timeout_action action = terms->timeout_action == WEFT_TIMEOUT_FORCE ? WEFT_TIMEOUT_FORCE : WEFT_TIMEOUT_STOP;
    work_is_late(pool, work, handle, action);
}

/* From where a function of the program is called, the terms may be gone, and the record somebody else's. */
static void work_is_late(weft_pool *pool, struct wf_work *work, weft_work handle, weft_timeout_action action) {
    if (action != WEFT_TIMEOUT_TELL && wf_work_seize(work, handle, WEFT_WORK_TIMED_OUT)) {
        wf_pool_tell_kind(pool, WEFT_POOL_WORK_TIMED_OUT, handle, NULL);
        wf_work_over_unrun(pool, work, -ETIMEDOUT);
        return;
    }
    uint64_t word = wf_load_acquire(&work->word); /* pairs with the moves of the work */
    if (!wf_work_is(word, handle) || wf_work_phase(word) == WF_WORK_DONE)
        return;
    wf_pool_tell_kind(pool, WEFT_POOL_WORK_TIMED_OUT, handle, NULL);
    if (action == WEFT_TIMEOUT_TELL)
        return;
    WF_POINT("clock.before_late");
    /* A work that fails is put into the queue again while it may be: then it is seized there after all. */
    while (!wf_work_flag(work, handle, WF_BIT(WF_WORK_CLAIMED), WF_WORK_LATE | WF_WORK_STOP | WF_WORK_SPECIAL)) {
        if (wf_work_seize(work, handle, WEFT_WORK_TIMED_OUT)) {
            wf_work_over_unrun(pool, work, -ETIMEDOUT);
            return;
        }
        word = wf_load_acquire(&work->word); /* pairs with the moves of the work */
        if (!wf_work_is(word, handle) || wf_work_phase(word) == WF_WORK_DONE)
            return;
    }
    if (action == WEFT_TIMEOUT_FORCE)
        wf_work_control(pool, WEFT_FORCE_STOP, handle);
    else
        wf_pool_wake_pausers(pool);
}

int wf_clock_grace(weft_pool *pool, struct wf_terms *terms) {
    wf_lock_take(&pool->clock.lock);
    terms_use_locked(terms);
    int64_t now = wf_os_now();
    terms->grace_end = wf_time_add(now, pool->options.grace);
    int error = alarm_set_locked(pool, &terms->grace_alarm, wf_time_add(now, pool->options.grace / GRACE_STEPS));
    wf_lock_drop(&pool->clock.lock);
    return error;
}

/* A signal that comes just before a system call does not end it. So the work is interrupted again, a few times, before it is
 * given up. */
static void ring_grace(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct wf_terms *terms = WF_CONTAINER(alarm, struct wf_terms, grace_alarm);
    struct wf_work *work = terms->work;
    weft_work handle = wf_work_handle(work, wf_load_acquire(&work->word)); /* pairs with the moves of the work */
    int64_t now = wf_os_now();
    wf_lock_take(&pool->clock.lock);
    int64_t end = terms->grace_end;
    wf_lock_drop(&pool->clock.lock);
    if (now >= end) {
        wf_work_abandon(pool, work, handle);
        return;
    }
    wf_lock_take(&work->lock);
    uint64_t word = wf_load_acquire(&work->word); /* the same */
    if (wf_work_is(word, handle) && wf_work_phase(word) == WF_WORK_CLAIMED && work->runner)
        wf_runner_interrupt(work->runner);
    wf_lock_drop(&work->lock);
    int64_t next = wf_time_add(now, pool->options.grace / GRACE_STEPS);
    wf_pool_alarm_set(pool, alarm, next < end ? next : end);
}

/* ---- Generations ---- */

void wf_clock_begin(weft_pool *pool) {
    struct wf_pool_clock *clock = &pool->clock;
    if (!pool->options.timeout && !pool->options.tick)
        return;
    wf_lock_take(&pool->lock);
    uint32_t generation = (uint32_t)(pool->turns_told / 2);
    wf_lock_drop(&pool->lock);
    int64_t now = wf_os_now();
    int error = 0;
    wf_lock_take(&clock->lock);
    if (!pool->timeout_alarm.ring) {
        wf_pool_alarm_init(&pool->timeout_alarm, ring_pool_timeout);
        wf_pool_alarm_init(&pool->tick_alarm, ring_tick);
    }
    clock->is_running = true;
    clock->started_at = now;
    clock->generation = generation;
    pool->timeout_left = pool->options.timeout;
    if (pool->options.timeout && !clock->is_paused)
        error = alarm_set_locked(pool, &pool->timeout_alarm, wf_time_add(now, pool->options.timeout));
    if (pool->options.tick && !error)
        error = alarm_set_locked(pool, &pool->tick_alarm, wf_time_add(now, pool->options.tick));
    wf_lock_drop(&clock->lock);
    if (error)
        wf_pool_tell_error(pool, WEFT_SOURCE_THREAD, WEFT_NO_WORK, NULL, error);
}

/* Does not wait: a handler that is told of the timeout may wait for the end of the generation. */
void wf_clock_end(weft_pool *pool) {
    struct wf_pool_clock *clock = &pool->clock;
    if (!pool->options.timeout && !pool->options.tick)
        return;
    wf_lock_take(&clock->lock);
    clock->is_running = false;
    pool->timeout_left = 0;
    alarm_take_back_locked(clock, &pool->timeout_alarm);
    alarm_take_back_locked(clock, &pool->tick_alarm);
    wf_lock_drop(&clock->lock);
}

void wf_clock_pause_pool(weft_pool *pool, bool is_paused) {
    struct wf_pool_clock *clock = &pool->clock;
    wf_lock_take(&clock->lock);
    if (clock->is_paused != is_paused) {
        clock->is_paused = is_paused;
        int64_t now = wf_os_now();
        if (is_paused && clock->is_running)
            pool->timeout_left = alarm_stand_still_locked(clock, &pool->timeout_alarm, now);
        else if (!is_paused && clock->is_running && pool->timeout_left)
            alarm_set_locked(pool, &pool->timeout_alarm, wf_time_add(now, pool->timeout_left));
    }
    wf_lock_drop(&clock->lock);
}

static void ring_pool_timeout(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct wf_pool_clock *clock = &pool->clock;
    (void)alarm;
    wf_lock_take(&clock->lock);
    bool is_running = clock->is_running;
    uint32_t generation = clock->generation;
    wf_lock_drop(&clock->lock);
    if (!is_running || !pool_is_at(pool, generation))
        return;
    wf_pool_tell_kind(pool, WEFT_POOL_TIMED_OUT, WEFT_NO_WORK, NULL);
    weft_timeout_action action = pool->options.timeout_action;
    if (action != WEFT_TIMEOUT_TELL && pool_is_at(pool, generation))
        weft_pool_control_all(pool, action == WEFT_TIMEOUT_FORCE ? WEFT_FORCE_STOP : WEFT_STOP);
}

/* Whether that generation is not over. */
static bool pool_is_at(weft_pool *pool, uint32_t generation) {
    uint64_t word = wf_load_acquire(&pool->word); /* pairs with the steps of the word */
    return wf_pool_generation(word) == generation && wf_pool_outstanding(word) > 0;
}

/* Ticks keep their distance; those that were missed are left out. */
static void ring_tick(weft_pool *pool, struct wf_pool_alarm *alarm) {
    struct wf_pool_clock *clock = &pool->clock;
    wf_lock_take(&clock->lock);
    bool is_running = clock->is_running;
    int64_t due = alarm->when;
    weft_pool_event event = {.kind = WEFT_POOL_TICK, .duration = wf_os_now() - clock->started_at};
    wf_lock_drop(&clock->lock);
    if (!is_running)
        return;
    wf_pool_tell(pool, &event);
    tell_if_stuck(pool);
    int64_t now = wf_os_now();
    int64_t next = wf_time_add(due, pool->options.tick);
    wf_lock_take(&clock->lock);
    if (clock->is_running && !alarm_is_set(alarm)) /* else the next generation has set it */
        alarm_set_locked(pool, alarm, next > now ? next : wf_time_add(now, pool->options.tick));
    wf_lock_drop(&clock->lock);
}

static void tell_if_stuck(weft_pool *pool) {
    struct wf_pool_clock *clock = &pool->clock;
    if (!wf_pool_is_stuck(pool))
        return;
    wf_lock_take(&clock->lock);
    bool is_news = !clock->has_told_stuck;
    clock->has_told_stuck = true;
    wf_lock_drop(&clock->lock);
    if (is_news)
        wf_pool_tell_kind(pool, WEFT_POOL_STUCK, WEFT_NO_WORK, NULL);
}
