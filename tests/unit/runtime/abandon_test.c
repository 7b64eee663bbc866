/* SPDX-License-Identifier: MIT
 *
 * unit/runtime/abandon_test.c - what fibers of an abandoning runtime may still do, and what not.
 *
 * Once the first fiber has returned, fibers that run go on to their next scheduling point while the other workers leave.
 * At any time such a fiber may vanish while it waits, so it must not leave a waiter in another runtime.
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
