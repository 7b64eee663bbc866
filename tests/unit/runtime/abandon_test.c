/* SPDX-License-Identifier: MIT
 *
 * unit/runtime/abandon_test.c - what fibers of an abandoning runtime may still do, and what not.
 *
 * Once the first fiber has returned, fibers that run go on to their next scheduling point while the other workers leave.
 * At any time such a fiber may vanish while it waits, so it must not leave a waiter in another runtime. What it waits in
 * (channels, locks) belongs to nobody's runtime, and goes on to work when the fiber is gone.
 */
#include "runtime/runtime.h"
#include "support/run.h"

static atomic_int is_running;
static atomic_int has_stopped;

static void *stop_world_at_the_end(void *arg) {
    struct wf_engine *engine = &wf_worker_self()->fibers->engine;
    weft_time limit = weft_after(PATIENCE_NS);
    atomic_store(&is_running, 1);
    while (!wf_load_acquire(&engine->is_stopping)) { /* the first fiber has returned */
        CHECK_LE(weft_now(), limit);
        sched_yield();
    }
    CHECK_EQ(weft_world_stop(), 0);
    weft_world_start();
    atomic_store(&has_stopped, 1);
    return arg;
}

static int return_beside_a_running_fiber(void *arg) {
    CHECK_EQ(weft_go(stop_world_at_the_end, NULL), 0);
    WAIT_UNTIL(atomic_load(&is_running));
    return (int)(intptr_t)arg;
}

TEST(a_fiber_that_still_runs_can_stop_the_world_although_other_workers_have_left) {
    weft_options options = {.abandon = true};
    if (wf_test_workers() == 1) /* the first fiber and the one that goes on need a worker each */
        return;
    for (long i = scaled(100, 10); i > 0; i--) {
        atomic_store(&is_running, 0);
        atomic_store(&has_stopped, 0);
        CHECK_EQ(weft_run(&options, return_beside_a_running_fiber, (void *)7), 7);
        CHECK_EQ(atomic_load(&has_stopped), 1);
    }
}

static weft_fiber foreign;
static atomic_int foreign_state; /* 1: foreign can be joined, 2: it may end */

static void *wait_for_leave(void *arg) {
    WAIT_UNTIL(atomic_load(&foreign_state) == 2);
    return arg;
}

static int own_the_foreign(void *arg) {
    void *result = NULL;
    SPAWN(&foreign, wait_for_leave, arg);
    atomic_store(&foreign_state, 1);
    JOIN(foreign, &result);
    CHECK(result == arg);
    return 5;
}

static void *run_the_foreign(void *arg) {
    CHECK_EQ(weft_run(&(weft_options){.workers = 1}, own_the_foreign, arg), 5);
    return NULL;
}

static void *join_the_foreign(void *arg) {
    void *result = arg;
    CHECK_EQ(weft_join(foreign, &result, WEFT_NEVER), -EPERM);
    CHECK_EQ(weft_join(foreign, &result, weft_after(PATIENCE_NS)), -EPERM);
    CHECK(result == arg);
    return arg;
}

static int join_from_fibers(void *arg) {
    weft_fiber fiber;
    WAIT_UNTIL(atomic_load(&foreign_state) == 1);
    join_the_foreign(arg);
    SPAWN(&fiber, join_the_foreign, arg);
    JOIN(fiber, NULL); /* in its own runtime it may wait */
    return 6;
}

TEST(a_fiber_of_an_abandoning_runtime_may_not_wait_for_a_fiber_of_another_one) {
    weft_options options = {.abandon = true};
    atomic_store(&foreign_state, 0);
    pthread_t thread = thread_start(run_the_foreign, &foreign);
    CHECK_EQ(weft_run(&options, join_from_fibers, &options), 6);
    atomic_store(&foreign_state, 2);
    thread_join(thread);
}

/* Objects of the main thread, in which fibers wait that are dropped. */
enum { WAITS = 8, EACH = 6 };

struct objects {
    weft_chan *empty;
    weft_chan *full;
    weft_mutex mutex;
    weft_rwlock rwlock;
    weft_cond cond;
    weft_mutex cond_mutex;
    weft_semaphore semaphore;
    weft_waitgroup group;
    weft_barrier barrier;
    atomic_int began;
};

static struct objects objects;

static int wait_in(int kind, weft_time deadline) {
    int value = 3;
    weft_case cases[] = {weft_on_receive(objects.empty, &value), weft_on_send(objects.full, &value),
                         weft_on_semaphore(&objects.semaphore)};
    switch (kind) {
    case 0:
        return weft_chan_recv(objects.empty, &value, deadline);
    case 1:
        return weft_chan_send(objects.full, &value, deadline);
    case 2:
        return weft_select(cases, 3, deadline);
    case 3:
        return weft_mutex_lock(&objects.mutex, deadline);
    case 4:
        return weft_rwlock_read(&objects.rwlock, deadline);
    case 5:
        return weft_semaphore_acquire(&objects.semaphore, 2, deadline);
    case 6:
        return weft_waitgroup_wait(&objects.group, deadline);
    default:
        return weft_barrier_wait(&objects.barrier, deadline);
    }
}

static void *wait_until_dropped(void *arg) {
    int kind = (int)(intptr_t)arg;
    atomic_fetch_add(&objects.began, 1);
    wait_in(kind / 2, kind % 2 ? weft_after(1000 * PATIENCE_NS) : WEFT_NEVER);
    return arg;
}

static void *wait_shortly_again_and_again(void *arg) {
    int kind = (int)(intptr_t)arg;
    atomic_fetch_add(&objects.began, 1);
    while (wait_in(kind / 2, weft_after(5 * WEFT_MICROSECOND)) == -ETIMEDOUT)
        continue;
    return arg;
}

static int return_from_waiting_fibers(void *arg) {
    for (int i = 0; i < 2 * WAITS; i++)
        for (int j = 0; j < EACH; j++)
            CHECK_EQ(weft_go(j % 3 ? wait_until_dropped : wait_shortly_again_and_again, (void *)(intptr_t)i), 0);
    WAIT_UNTIL(atomic_load(&objects.began) == 2 * WAITS * EACH);
    return (int)(intptr_t)arg;
}

static void objects_make(void) {
    int value = 1;
    memset(&objects, 0, sizeof objects);
    CHECK_EQ(weft_chan_new(&objects.empty, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&objects.full, sizeof(int), 1), 0);
    CHECK_EQ(weft_chan_send(objects.full, &value, WEFT_NOW), 0);
    CHECK_EQ(weft_mutex_lock(&objects.mutex, WEFT_NOW), 0);
    CHECK_EQ(weft_rwlock_write(&objects.rwlock, WEFT_NOW), 0);
    weft_waitgroup_add(&objects.group, 1);
    objects.barrier = (weft_barrier)WEFT_BARRIER_INIT(1000);
}

/* Nobody is left in them: what is given now is not taken by the dead. */
static void objects_check(void) {
    int value = 0;
    CHECK_EQ(weft_chan_send(objects.empty, &value, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_chan_recv(objects.full, &value, WEFT_NOW), 0);
    CHECK_EQ(value, 1);
    CHECK_EQ(weft_chan_recv(objects.full, &value, WEFT_NOW), -ETIMEDOUT);
    weft_mutex_unlock(&objects.mutex);
    CHECK_EQ(weft_mutex_lock(&objects.mutex, weft_after(PATIENCE_NS)), 0);
    weft_mutex_unlock(&objects.mutex);
    weft_rwlock_unlock(&objects.rwlock);
    CHECK_EQ(weft_rwlock_write(&objects.rwlock, WEFT_NOW), 0);
    weft_rwlock_unlock(&objects.rwlock);
    weft_semaphore_release(&objects.semaphore, 3);
    CHECK_EQ(weft_semaphore_permits(&objects.semaphore), 3);
    weft_waitgroup_done(&objects.group);
    CHECK_EQ(weft_waitgroup_wait(&objects.group, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_close(objects.empty), 0);
    weft_chan_free(objects.empty);
    weft_chan_free(objects.full);
}

TEST(a_fiber_that_is_dropped_while_it_waits_leaves_the_objects_usable) {
    weft_options options = {.abandon = true};
    for (long i = scaled(60, 4); i > 0; i--) {
        objects_make();
        CHECK_EQ(weft_run(&options, return_from_waiting_fibers, (void *)4), 4);
        objects_check();
    }
}

/* A thread that goes on sending, receiving and releasing while the fibers that it serves are dropped. */
static atomic_int is_over;

static void *serve_from_outside(void *arg) {
    int value = 2;
    while (!atomic_load(&is_over)) {
        weft_chan_send(objects.empty, &value, WEFT_NOW);
        weft_chan_send(objects.empty, &value, weft_after(10 * WEFT_MICROSECOND));
        weft_chan_recv(objects.full, &value, WEFT_NOW);
        weft_semaphore_release(&objects.semaphore, 1);
        weft_select((weft_case[]){weft_on_send(objects.empty, &value), weft_on_receive(objects.full, &value)}, 2,
                    weft_after(10 * WEFT_MICROSECOND));
    }
    return arg;
}

static void *wait_in_turn(void *arg) {
    static const int kinds[] = {0, 1, 2, 5};
    int kind = kinds[(intptr_t)arg % 4];
    atomic_fetch_add(&objects.began, 1);
    for (;;)
        wait_in(kind, (intptr_t)arg % 8 < 4 ? WEFT_NEVER : weft_after(20 * WEFT_MICROSECOND));
    return NULL;
}

static int return_while_served(void *arg) {
    enum { SERVED = 32 };
    for (int i = 0; i < SERVED; i++)
        CHECK_EQ(weft_go(wait_in_turn, (void *)(intptr_t)i), 0);
    WAIT_UNTIL(atomic_load(&objects.began) == SERVED);
    return (int)(intptr_t)arg;
}

TEST(a_thread_may_serve_fibers_while_they_are_dropped) {
    weft_options options = {.abandon = true};
    for (long i = scaled(100, 5); i > 0; i--) {
        objects_make();
        atomic_store(&is_over, 0);
        pthread_t thread = thread_start(serve_from_outside, NULL);
        CHECK_EQ(weft_run(&options, return_while_served, (void *)4), 4);
        atomic_store(&is_over, 1);
        thread_join(thread);
        while (weft_chan_recv(objects.full, NULL, WEFT_NOW) == 0)
            continue;
        CHECK_EQ(weft_chan_send(objects.full, &(int){1}, WEFT_NOW), 0);
        int64_t permits = weft_semaphore_permits(&objects.semaphore);
        if (permits > 0)
            CHECK_EQ(weft_semaphore_acquire(&objects.semaphore, permits, WEFT_NOW), 0);
        objects_check();
    }
}

/* What a dropped fiber holds goes with it: the open scope with its children, the block of a large select, its events. */
static weft_events *dropped_events;
static weft_event dropped_event;

static int sleep_for_ever(void *arg) {
    return weft_sleep(weft_after(1000 * PATIENCE_NS)) + (int)(intptr_t)arg;
}

static void *hold_much(void *arg) {
    enum { MANY = 24 };
    weft_scope *scope;
    weft_scope_options options = {.keep_results = true, .deadline = weft_after(1000 * PATIENCE_NS)};
    weft_case cases[MANY];
    CHECK_EQ(weft_scope_open(&scope, &options), 0);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_scope_go(scope, sleep_for_ever, NULL), 0);
    CHECK_EQ(weft_event_new(dropped_events, &dropped_event, WEFT_NOW), 0);
    CHECK_EQ(weft_event_own(dropped_events, dropped_event), 0);
    for (int i = 0; i < MANY; i++)
        cases[i] = weft_on_receive(objects.empty, NULL);
    atomic_store(&objects.began, 1);
    CHECK_EQ(weft_select(cases, MANY, WEFT_NEVER), 0);
    return arg;
}

static int return_from_holders(void *arg) {
    CHECK_EQ(weft_go(hold_much, NULL), 0);
    WAIT_UNTIL(atomic_load(&objects.began));
    for (int i = 0; i < 20; i++) /* so that it gets into its select, most of the time; right either way */
        weft_yield();
    return (int)(intptr_t)arg;
}

TEST(a_dropped_fiber_leaves_nothing_behind) {
    weft_options options = {.abandon = true};
    weft_event_reason reason;
    objects_make();
    CHECK_EQ(weft_events_new(&dropped_events, NULL), 0);
    CHECK_EQ(weft_run(&options, return_from_holders, (void *)3), 3);
    CHECK_EQ(weft_event_wait(dropped_events, dropped_event, &reason, WEFT_NOW), -ENOTRECOVERABLE);
    CHECK_TEXT(reason.text, "owner exited");
    weft_events_free(dropped_events);
    objects_check();
}
