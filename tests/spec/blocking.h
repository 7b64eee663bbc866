/* SPDX-License-Identifier: MIT
 *
 * spec/blocking.h - every call that can block, as a table: for the tests of cancellation and of deadlines.
 *
 * Each kind makes its object such that the call has to wait, waits, and afterwards shows that the object works and that
 * nothing was lost or left behind. Objects are static: one kind at a time.
 *
 *     kind->prepare();                  // by the fiber that runs the test
 *     kind->wait(deadline);             // by another one
 *     kind->check_and_drop();           // by the first again
 */
#ifndef WF_SPEC_BLOCKING_H
#define WF_SPEC_BLOCKING_H

#include "support/run.h"
#include "weft/event.h"
#include "weft/timer.h"

struct blocking_kind {
    const char *name;
    void (*prepare)(void);
    int (*wait)(weft_time deadline);
    void (*check_and_drop)(void);
    int at_now; /* what a cancelled fiber gets for WEFT_NOW */
};

static weft_chan *blocking_chan;
static weft_chan *blocking_other;
static weft_mutex blocking_mutex;
static weft_rwlock blocking_rwlock;
static weft_cond blocking_cond;
static weft_semaphore blocking_semaphore;
static weft_waitgroup blocking_group;
static weft_once blocking_once;
static weft_barrier blocking_barrier;
static weft_fiber blocking_fiber;
static weft_promise *blocking_promise;
static weft_events *blocking_events;
static weft_event blocking_event;
static weft_event_queue *blocking_queue;
static weft_timer blocking_timer;
static atomic_int blocking_gate;
static atomic_int blocking_count;

static inline void blocking_nothing(void) {}

static inline int blocking_sleep(weft_time deadline) {
    weft_time until = deadline == WEFT_NEVER ? weft_after(1000 * PATIENCE_NS) : deadline;
    int status = weft_sleep(until);
    return status == 0 ? -ETIMEDOUT : status; /* a sleep that has come to its end is a deadline that has passed */
}

static inline void blocking_make_chans(void) {
    CHECK_EQ(weft_chan_new(&blocking_chan, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&blocking_other, sizeof(int), 1), 0);
}

static inline int blocking_send(weft_time deadline) {
    int value = 13;
    return weft_chan_send(blocking_chan, &value, deadline);
}

static inline int blocking_receive(weft_time deadline) {
    int value = 14;
    int status = weft_chan_recv(blocking_chan, &value, deadline);
    CHECK_EQ(value, 14);
    return status;
}

static inline void *blocking_send_one(void *arg) {
    int value = 77;
    CHECK_EQ(weft_chan_send(blocking_chan, &value, WEFT_NEVER), 0);
    return arg;
}

/* A value that is sent later is received by somebody else; the one that was given up never comes. */
static inline void blocking_check_chan(void) {
    weft_fiber sender;
    int value = 0;
    CHECK_EQ(weft_chan_recv(blocking_chan, &value, WEFT_NOW), -ETIMEDOUT);
    SPAWN(&sender, blocking_send_one, NULL);
    CHECK_EQ(weft_chan_recv(blocking_chan, &value, WEFT_NEVER), 0);
    CHECK_EQ(value, 77);
    JOIN(sender, NULL);
    CHECK_EQ(weft_chan_recv(blocking_chan, &value, WEFT_NOW), -ETIMEDOUT);
    weft_chan_free(blocking_chan); /* fatal if somebody were left in it */
    weft_chan_free(blocking_other);
}

static inline void blocking_make_full(void) {
    int value = 5;
    blocking_make_chans();
    CHECK_EQ(weft_chan_send(blocking_other, &value, WEFT_NOW), 0);
    blocking_semaphore = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
}

static inline int blocking_select(weft_time deadline) {
    int in = 0, out = 6;
    weft_case cases[] = {
        weft_on_receive(blocking_chan, &in), weft_on_send(blocking_other, &out),     weft_on_receive(NULL, &in),
        weft_on_receive(blocking_chan, &in), weft_on_semaphore(&blocking_semaphore),
    };
    return weft_select(cases, 5, deadline);
}

static inline int blocking_select_many(weft_time deadline) {
    enum { MANY = 40 };
    weft_case cases[MANY];
    int in = 0;
    for (int i = 0; i < MANY; i++)
        cases[i] = i % 2 ? weft_on_receive(blocking_chan, &in) : weft_on_semaphore(&blocking_semaphore);
    return weft_select(cases, MANY, deadline);
}

static inline void blocking_check_select(void) {
    int value = 0;
    CHECK_EQ(weft_chan_recv(blocking_other, &value, WEFT_NOW), 0);
    CHECK_EQ(value, 5);
    CHECK_EQ(weft_chan_recv(blocking_other, &value, WEFT_NOW), -ETIMEDOUT);
    weft_semaphore_release(&blocking_semaphore, 1);
    CHECK_EQ(weft_semaphore_permits(&blocking_semaphore), 1);
    blocking_check_chan();
}

static inline void blocking_lock_mutex(void) {
    blocking_mutex = (weft_mutex)WEFT_MUTEX_INIT;
    CHECK_EQ(weft_mutex_lock(&blocking_mutex, WEFT_NOW), 0);
}

static inline int blocking_lock(weft_time deadline) {
    return weft_mutex_lock(&blocking_mutex, deadline);
}

static inline void blocking_check_mutex(void) {
    weft_mutex_unlock(&blocking_mutex);
    CHECK_EQ(weft_mutex_lock(&blocking_mutex, WEFT_NOW), 0);
    weft_mutex_unlock(&blocking_mutex);
}

static inline void blocking_lock_rwlock(void) {
    blocking_rwlock = (weft_rwlock)WEFT_RWLOCK_INIT;
    CHECK_EQ(weft_rwlock_write(&blocking_rwlock, WEFT_NOW), 0);
}

static inline int blocking_read(weft_time deadline) {
    return weft_rwlock_read(&blocking_rwlock, deadline);
}

static inline int blocking_write(weft_time deadline) {
    return weft_rwlock_write(&blocking_rwlock, deadline);
}

static inline void blocking_check_rwlock(void) {
    weft_rwlock_unlock(&blocking_rwlock);
    CHECK_EQ(weft_rwlock_read(&blocking_rwlock, WEFT_NOW), 0);
    CHECK_EQ(weft_rwlock_read(&blocking_rwlock, WEFT_NOW), 0);
    weft_rwlock_unlock(&blocking_rwlock);
    weft_rwlock_unlock(&blocking_rwlock);
    CHECK_EQ(weft_rwlock_write(&blocking_rwlock, WEFT_NOW), 0);
    weft_rwlock_unlock(&blocking_rwlock);
}

static inline void blocking_make_cond(void) {
    blocking_mutex = (weft_mutex)WEFT_MUTEX_INIT;
    blocking_cond = (weft_cond)WEFT_COND_INIT;
}

/* Whatever the wait returns, the mutex is held: unlocking one that is not would be fatal. */
static inline int blocking_wait_cond(weft_time deadline) {
    int status;
    weft_shield(); /* a second call of a cancelled fiber must get the mutex too */
    CHECK_EQ(weft_mutex_lock(&blocking_mutex, WEFT_NEVER), 0);
    weft_unshield();
    status = weft_cond_wait(&blocking_cond, &blocking_mutex, deadline);
    weft_mutex_unlock(&blocking_mutex);
    return status;
}

static inline void blocking_check_cond(void) {
    CHECK_EQ(weft_cond_signal(&blocking_cond), 0);
    CHECK_EQ(weft_cond_broadcast(&blocking_cond), 0);
    CHECK_EQ(weft_mutex_lock(&blocking_mutex, WEFT_NOW), 0);
    weft_mutex_unlock(&blocking_mutex);
}

static inline void blocking_make_semaphore(void) {
    blocking_semaphore = (weft_semaphore)WEFT_SEMAPHORE_INIT(2);
}

static inline int blocking_acquire(weft_time deadline) {
    return weft_semaphore_acquire(&blocking_semaphore, 3, deadline);
}

static inline void blocking_check_semaphore(void) {
    CHECK_EQ(weft_semaphore_permits(&blocking_semaphore), 2);
    CHECK_EQ(weft_semaphore_acquire(&blocking_semaphore, 2, WEFT_NOW), 0);
    weft_semaphore_release(&blocking_semaphore, 3);
    CHECK_EQ(weft_semaphore_permits(&blocking_semaphore), 3);
}

static inline void blocking_make_group(void) {
    blocking_group = (weft_waitgroup)WEFT_WAITGROUP_INIT;
    weft_waitgroup_add(&blocking_group, 1);
}

static inline int blocking_wait_group(weft_time deadline) {
    return weft_waitgroup_wait(&blocking_group, deadline);
}

static inline void blocking_check_group(void) {
    weft_waitgroup_done(&blocking_group);
    CHECK_EQ(weft_waitgroup_wait(&blocking_group, WEFT_NOW), 0);
}

static inline void blocking_run_once(void *arg) {
    (void)arg;
    atomic_fetch_add(&blocking_count, 1);
    while (!atomic_load(&blocking_gate))
        weft_yield();
}

static inline void *blocking_first_caller(void *arg) {
    CHECK_EQ(weft_once_call(&blocking_once, blocking_run_once, arg, WEFT_NEVER), 0);
    return NULL;
}

static inline void blocking_make_once(void) {
    blocking_once = (weft_once)WEFT_ONCE_INIT;
    atomic_store(&blocking_gate, 0);
    atomic_store(&blocking_count, 0);
    SPAWN(&blocking_fiber, blocking_first_caller, NULL);
    WAIT_UNTIL(atomic_load(&blocking_count) == 1);
}

static inline int blocking_call_once(weft_time deadline) {
    return weft_once_call(&blocking_once, blocking_run_once, NULL, deadline);
}

static inline void blocking_check_once(void) {
    atomic_store(&blocking_gate, 1);
    JOIN(blocking_fiber, NULL);
    CHECK_EQ(weft_once_call(&blocking_once, blocking_run_once, NULL, WEFT_NOW), 0);
    CHECK_EQ(atomic_load(&blocking_count), 1);
}

static inline void blocking_make_barrier(void) {
    blocking_barrier = (weft_barrier)WEFT_BARRIER_INIT(2);
}

static inline int blocking_meet(weft_time deadline) {
    return weft_barrier_wait(&blocking_barrier, deadline);
}

static inline void *blocking_meet_main(void *arg) {
    int status = weft_barrier_wait(&blocking_barrier, WEFT_NEVER);
    CHECK(status == 0 || status == 1);
    atomic_fetch_add(&blocking_count, status);
    return arg;
}

/* The one that gave up has not arrived: it takes two others. */
static inline void blocking_check_barrier(void) {
    weft_fiber other;
    atomic_store(&blocking_count, 0);
    CHECK_EQ(weft_barrier_wait(&blocking_barrier, WEFT_NOW), -ETIMEDOUT);
    SPAWN(&other, blocking_meet_main, NULL);
    blocking_meet_main(NULL);
    JOIN(other, NULL);
    CHECK_EQ(atomic_load(&blocking_count), 1);
}

static inline void *blocking_wait_at_gate(void *arg) {
    while (!atomic_load(&blocking_gate))
        weft_yield();
    return arg;
}

static inline void blocking_make_fiber(void) {
    atomic_store(&blocking_gate, 0);
    SPAWN(&blocking_fiber, blocking_wait_at_gate, &blocking_gate);
}

static inline int blocking_join(weft_time deadline) {
    return weft_join(blocking_fiber, NULL, deadline);
}

static inline int blocking_select_end(weft_time deadline) {
    weft_case cases[] = {weft_on_end(blocking_fiber, NULL)};
    return weft_select(cases, 1, deadline);
}

static inline void blocking_check_fiber(void) {
    void *result = NULL;
    atomic_store(&blocking_gate, 1);
    JOIN(blocking_fiber, &result);
    CHECK(result == &blocking_gate);
}

static inline int blocking_child(void *arg) {
    (void)arg;
    while (!atomic_load(&blocking_gate))
        weft_yield();
    return 0;
}

/* The child of a scope of its own, which opens the gate when the wait is over. */
static inline int blocking_scope_wait(weft_time deadline) {
    weft_scope *scope;
    atomic_store(&blocking_gate, 0);
    int status = weft_scope_open(&scope, NULL);
    if (status)
        return status;
    status = weft_scope_go(scope, blocking_child, NULL);
    if (!status)
        status = weft_scope_wait(scope, deadline);
    atomic_store(&blocking_gate, 1);
    weft_scope_close(scope);
    return status;
}

static inline int blocking_scope_room(weft_time deadline) {
    weft_scope_options options = {.deadline = deadline == WEFT_NEVER ? 0
                                              : deadline > 0         ? deadline
                                                                     : 1,
                                  .max_children = 1};
    weft_scope *scope;
    atomic_store(&blocking_gate, 0);
    int status = weft_scope_open(&scope, &options);
    if (status)
        return status;
    status = weft_scope_go(scope, blocking_child, NULL);
    if (!status)
        status = weft_scope_go(scope, blocking_child, NULL);
    atomic_store(&blocking_gate, 1);
    weft_scope_close(scope);
    return deadline != WEFT_NEVER && weft_now() >= deadline ? -ETIMEDOUT
                                                            : status; /* the scope's deadline is the call's */
}

static inline void blocking_make_promise(void) {
    CHECK_EQ(weft_promise_new(&blocking_promise), 0);
}

static inline int blocking_await(weft_time deadline) {
    return weft_promise_await(blocking_promise, NULL, deadline);
}

static inline int blocking_select_promise(weft_time deadline) {
    weft_case cases[] = {weft_on_promise(blocking_promise, NULL)};
    return weft_select(cases, 1, deadline);
}

static inline void blocking_check_promise(void) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_resolve(blocking_promise, &outcome), 0);
    CHECK_EQ(weft_promise_await(blocking_promise, &outcome, WEFT_NOW), 0);
    CHECK(outcome.value == &outcome);
    weft_promise_unref(blocking_promise);
}

static inline void blocking_make_event(void) {
    CHECK_EQ(weft_events_new(&blocking_events, &(weft_events_options){.max_pending = 1}), 0);
    CHECK_EQ(weft_event_new(blocking_events, &blocking_event, WEFT_NOW), 0);
    CHECK_EQ(weft_event_queue_new(blocking_events, &blocking_queue), 0);
    CHECK_EQ(weft_event_queue_add(blocking_queue, blocking_event, &blocking_queue), 0);
}

static inline int blocking_wait_event(weft_time deadline) {
    return weft_event_wait(blocking_events, blocking_event, NULL, deadline);
}

static inline int blocking_wait_any_event(weft_time deadline) {
    weft_event list[] = {blocking_event, blocking_event};
    return weft_event_wait_any(blocking_events, list, 2, deadline);
}

static inline int blocking_select_event(weft_time deadline) {
    weft_case cases[] = {weft_on_event(blocking_events, blocking_event, NULL)};
    return weft_select(cases, 1, deadline);
}

/* The one place for a pending event is taken. */
static inline int blocking_new_event(weft_time deadline) {
    weft_event event;
    int status = weft_event_new(blocking_events, &event, deadline);
    return status == -ENOSPC ? -ETIMEDOUT : status;
}

static inline int blocking_pop(weft_time deadline) {
    weft_event_completion completion;
    return weft_event_queue_pop(blocking_queue, &completion, 1, deadline);
}

static inline void blocking_check_event(void) {
    weft_event next;
    weft_event_completion completion;
    CHECK_EQ(weft_event_new(blocking_events, &next, WEFT_NOW), -ENOSPC);
    CHECK_EQ(weft_event_trigger(blocking_events, blocking_event), 0);
    CHECK_EQ(weft_event_wait(blocking_events, blocking_event, NULL, WEFT_NOW), 0);
    CHECK_EQ(weft_event_queue_pop(blocking_queue, &completion, 1, WEFT_NOW), 1);
    CHECK(completion.tag == &blocking_queue);
    CHECK_EQ(weft_event_new(blocking_events, &next, WEFT_NOW), 0);
    weft_event_queue_free(blocking_queue);
    weft_events_free(blocking_events); /* fatal if somebody were left waiting */
}

static inline void blocking_make_timer(void) {
    CHECK_EQ(weft_timer_start(&blocking_timer, weft_after(1000 * PATIENCE_NS), 0, NULL, NULL), 0);
}

static inline int blocking_wait_timer(weft_time deadline) {
    return weft_timer_wait(blocking_timer, NULL, deadline);
}

static inline int blocking_select_timer(weft_time deadline) {
    weft_case cases[] = {weft_on_timer(blocking_timer, NULL)};
    return weft_select(cases, 1, deadline);
}

/* It tells its expiration to the next who waits. */
static inline void blocking_check_timer(void) {
    uint64_t count = 0;
    CHECK_EQ(weft_timer_reset(blocking_timer, weft_after(1), 0), 0);
    CHECK_EQ(weft_timer_wait(blocking_timer, &count, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(count, 1);
    CHECK_EQ(weft_timer_stop(blocking_timer), 0);
}

static const struct blocking_kind blocking_kinds[] = {
    {"sleep", blocking_nothing, blocking_sleep, blocking_nothing, -ETIMEDOUT},
    {"send", blocking_make_chans, blocking_send, blocking_check_chan, -ETIMEDOUT},
    {"receive", blocking_make_chans, blocking_receive, blocking_check_chan, -ETIMEDOUT},
    {"select", blocking_make_full, blocking_select, blocking_check_select, -ETIMEDOUT},
    {"select of many", blocking_make_full, blocking_select_many, blocking_check_select, -ETIMEDOUT},
    {"mutex", blocking_lock_mutex, blocking_lock, blocking_check_mutex, -ETIMEDOUT},
    {"read lock", blocking_lock_rwlock, blocking_read, blocking_check_rwlock, -ETIMEDOUT},
    {"write lock", blocking_lock_rwlock, blocking_write, blocking_check_rwlock, -ETIMEDOUT},
    {"condition", blocking_make_cond, blocking_wait_cond, blocking_check_cond, -ETIMEDOUT},
    {"semaphore", blocking_make_semaphore, blocking_acquire, blocking_check_semaphore, -ETIMEDOUT},
    {"wait group", blocking_make_group, blocking_wait_group, blocking_check_group, -ETIMEDOUT},
    {"once", blocking_make_once, blocking_call_once, blocking_check_once, -ETIMEDOUT},
    {"barrier", blocking_make_barrier, blocking_meet, blocking_check_barrier, -ETIMEDOUT},
    {"join", blocking_make_fiber, blocking_join, blocking_check_fiber, -ETIMEDOUT},
    {"select of an end", blocking_make_fiber, blocking_select_end, blocking_check_fiber, -ETIMEDOUT},
    {"children of a scope", blocking_nothing, blocking_scope_wait, blocking_nothing, -ECANCELED},
    {"room in a scope", blocking_nothing, blocking_scope_room, blocking_nothing, -ECANCELED},
    {"promise", blocking_make_promise, blocking_await, blocking_check_promise, -ETIMEDOUT},
    {"select of a promise", blocking_make_promise, blocking_select_promise, blocking_check_promise, -ETIMEDOUT},
    {"event", blocking_make_event, blocking_wait_event, blocking_check_event, -ETIMEDOUT},
    {"any event", blocking_make_event, blocking_wait_any_event, blocking_check_event, -ETIMEDOUT},
    {"select of an event", blocking_make_event, blocking_select_event, blocking_check_event, -ETIMEDOUT},
    {"place for an event", blocking_make_event, blocking_new_event, blocking_check_event, -ETIMEDOUT},
    {"event queue", blocking_make_event, blocking_pop, blocking_check_event, -ETIMEDOUT},
    {"timer", blocking_make_timer, blocking_wait_timer, blocking_check_timer, -ETIMEDOUT},
    {"select of a timer", blocking_make_timer, blocking_select_timer, blocking_check_timer, -ETIMEDOUT},
};
enum { BLOCKING_KINDS = sizeof blocking_kinds / sizeof blocking_kinds[0] };

/* Whether that fiber is parked now, as far as one can see from outside. */
static inline int blocking_is_parked_visit(const weft_fiber_info *info, void *arg) {
    const weft_fiber *wanted = arg;
    return info->fiber.bits == wanted->bits && info->state == WEFT_FIBER_PARKED ? 1 : 0;
}

static inline bool blocking_is_parked(uint64_t bits) {
    weft_fiber fiber = {bits};
    return bits && weft_each_fiber(weft_runtime_self(), blocking_is_parked_visit, &fiber) == 1;
}

#endif
