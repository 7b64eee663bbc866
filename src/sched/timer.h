/* SPDX-License-Identifier: MIT
 *
 * sched/timer.h - timers of one processor.
 *
 * Kept in the order (deadline, sequence) under a lock of its own. The processor's worker arms timers here; anybody may take
 * one back, and an idle worker may fire what is due on a busy processor ("stealing" a timer: it stays where it is until
 * it fires, only the hand that fires it changes).
 *
 *     outside --arm--> inside --fire--> outside        whoever takes it out, under the lock, owns what follows: firing and
 *                         `-----cancel--> outside      cancelling exclude each other
 *
 * Most deadlines are one of a few limits after the moment of arming, and so come in order: each of the *runs* is a list in
 * which no deadline is before the one in front of it. A timer goes behind the latest end of a run that is not after it, and
 * comes out by unlinking. What fits behind none of them goes into a heap, which needs room and a number of steps.
 *
 * The node is the owner's memory, usually on the stack of the fiber that waits. fire runs under the lock, so a cancel
 * that returns has also waited for a fire in progress: the node may go at once.
 *
 * Lock order: timers, then whatever lock fire takes. So nobody may arm or cancel while holding such a lock.
 *
 * An *alarm* is a timer whose expiry means more than one task, and which may be periodic. Under the lock its expirations are
 * only counted, and a periodic one goes back in. Afterwards, without the lock, ring is called, which takes what was counted.
 * An alarm may be taken out, moved or expire again between the two, but its memory must stay until ring has come:
 * wf_alarm_disarm says whether it is still to come.
 */
#ifndef WF_SCHED_TIMER_H
#define WF_SCHED_TIMER_H

#include "base/heap.h"
#include "base/list.h"
#include "base/task.h"
#include "queue/lock.h"

/* As many as there are limits that programs mix: of a request, of its parts, of idleness, of a connection. */
enum { WF_TIMER_RUNS = 4 };

struct wf_timer_run {
    struct wf_list timers;
    int64_t end_ns; /* no deadline in it is later; INT64_MIN: it is empty */
};

struct wf_timers {
    struct wf_lock lock;
    _Atomic int64_t earliest; /* deadline of the first one, or INT64_MAX; written under lock, read by anybody */
    struct wf_timer_run runs[WF_TIMER_RUNS]; /* under lock; so are the next two */
    struct wf_heap heap;
    uint64_t sequence;
    _Atomic uint64_t armed; /* counters, written under lock */
    _Atomic uint64_t fired;
    _Atomic uint64_t cancelled;
};

struct wf_timer {
    struct wf_heap_node node; /* its index says where it is: in the heap, in a run (timer.c), or outside */
    struct wf_timers *home;
    struct wf_list link; /* in its run */
    int64_t deadline_ns;
    uint64_t sequence;
    /* The deadline has passed. Returns the task that is to run now, or NULL. Under the lock: short, never blocks. */
    struct wf_task *(*fire)(struct wf_timer *timer);
};

struct wf_alarm {
    struct wf_timer timer;                /* first */
    void (*ring)(struct wf_alarm *alarm); /* constant: on the worker that fired it, at most one call at a time */
    struct wf_alarm *next_due;            /* of whoever is about to call ring */
    /* under the lock of timer.home, which changes only while the alarm is outside and by whoever may arm it */
    int64_t period_ns; /* 0: once */
    uint64_t expired;  /* expirations that ring has not taken yet */
    bool is_due;       /* ring is about to be called */
};

void wf_timers_init(struct wf_timers *timers);
void wf_timers_term(struct wf_timers *timers);

/* Puts the timer in and leaves the lock held, for an owner that parks and drops it once its stack is left. Returns 0, or
 * -ENOMEM with the lock free. */
int wf_timers_arm_locked(struct wf_timers *timers, struct wf_timer *timer, int64_t deadline_ns);
/* The same with the lock free afterwards. */
int wf_timers_arm(struct wf_timers *timers, struct wf_timer *timer, int64_t deadline_ns);
/* True when it was taken out; false when it had fired. */
bool wf_timers_cancel(struct wf_timer *timer);
/* Fires whatever is due and appends the tasks to *ready, in order. Returns the number of timers fired. */
uint32_t wf_timers_fire(struct wf_timers *timers, int64_t now, struct wf_chain *ready);

/* Alarms are armed, moved and disarmed by one at a time. Each of these forgets expirations that were not taken. arm: it is
 * outside. Returns 0 or, with nothing changed, -ENOMEM. */
int wf_alarm_arm(struct wf_timers *timers, struct wf_alarm *alarm, int64_t deadline_ns, int64_t period_ns);
/* True: it was inside, and is inside with the new times. False: it is outside, and nothing was changed. */
bool wf_alarm_move(struct wf_alarm *alarm, int64_t deadline_ns, int64_t period_ns);
/* True: there was something to take out or to forget. */
bool wf_alarm_disarm(struct wf_alarm *alarm, bool *is_due);
/* For ring, first of all: how often it has expired. */
uint64_t wf_alarm_take(struct wf_alarm *alarm);

static inline int64_t wf_timers_earliest(struct wf_timers *timers) {
    return wf_load_relaxed(&timers->earliest);
}

/* Room for twice as many, under whatever guards the heap. 0, or -ENOMEM and nothing has changed. */
int wf_heap_grow(struct wf_heap *heap);

#endif
