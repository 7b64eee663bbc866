/* SPDX-License-Identifier: MIT
 *
 * spec/loop_watch_test.c - a loop with descriptors whose owner is a fiber.
 *
 * The fiber parks, and its worker does something else; the descriptors are noticed by whichever worker polls, also when
 * none of them ever has nothing to do.
 */
#include "spec/loop_fd.h"
#include "support/door.h"

static int fiber_pipe[2];
static atomic_int loop_is_over;

static void *run_loop_fiber(void *arg) {
    *(int *)arg = loop_run(WEFT_LOOP_UNTIL_QUIET);
    atomic_store(&loop_is_over, 1);
    return NULL;
}

static void *put_later(void *arg) {
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    put_byte(fiber_pipe[1]);
    return arg;
}

static void begin_fiber_loop(struct told *told, weft_fiber *fiber, int *status) {
    *told = (struct told){.removes = true};
    *status = 1;
    atomic_store(&loop_is_over, 0);
    pipe_open(fiber_pipe);
    loop_open();
    add(fiber_pipe[0], WEFT_FD_READ, told);
    SPAWN(fiber, run_loop_fiber, status);
}

static void end_fiber_loop(struct told *told, weft_fiber fiber, const int *status) {
    JOIN(fiber, NULL);
    CHECK_EQ(*status, 0);
    CHECK_EQ(told->calls, 1);
    loop_drop();
    pair_close(fiber_pipe);
}

/* Its worker is free: with one worker the other fiber runs there. */
static void others_run(void) {
    struct told told;
    weft_fiber fibers[2];
    int status;
    begin_fiber_loop(&told, &fibers[0], &status);
    SPAWN(&fibers[1], put_later, NULL);
    JOIN(fibers[1], NULL);
    end_fiber_loop(&told, fibers[0], &status);
}

TEST(a_loop_that_waits_for_descriptors_in_a_fiber_leaves_its_worker_to_others) {
    run_fibers(others_run);
}

/* No worker ever sleeps, so nobody polls. */
static void *stay_busy(void *arg) {
    while (!atomic_load(&loop_is_over))
        weft_yield();
    return arg;
}

static void busy_fibers(void) {
    struct told told;
    weft_fiber fiber;
    weft_fiber busy[16];
    int status;
    begin_fiber_loop(&told, &fiber, &status);
    for (int i = 0; i < 16; i++)
        SPAWN(&busy[i], stay_busy, NULL);
    put_later(NULL);
    for (int i = 0; i < 16; i++)
        JOIN(busy[i], NULL);
    end_fiber_loop(&told, fiber, &status);
}

TEST(a_descriptor_is_noticed_though_all_workers_are_busy) {
    run_fibers(busy_fibers);
}

static void *compute(void *arg) {
    COMPUTE_UNTIL(atomic_load(&loop_is_over));
    return arg;
}

static void *put_from_outside(void *arg) {
    COMPUTE_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    put_byte(fiber_pipe[1]);
    return arg;
}

static void computing_fibers(void) {
    struct told told;
    weft_fiber fiber;
    weft_fiber hogs[64];
    unsigned count = wf_test_workers();
    int status;
    begin_fiber_loop(&told, &fiber, &status);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    for (unsigned i = 0; i < count; i++)
        SPAWN(&hogs[i], compute, NULL);
    pthread_t thread = thread_start(put_from_outside, NULL);
    for (unsigned i = 0; i < count; i++)
        JOIN(hogs[i], NULL);
    thread_join(thread);
    end_fiber_loop(&told, fiber, &status);
}

/* They never come to a scheduling point before the descriptor was noticed. */
TEST(a_descriptor_is_noticed_though_all_workers_compute) {
    run_fibers(computing_fibers);
}

static int run_until_cancelled(void *arg) {
    *(int *)arg = loop_run(WEFT_LOOP_UNTIL_QUIET);
    return 0;
}

static void cancelled_owner(void) {
    struct told told = {.removes = true};
    weft_scope *scope;
    int status = 0;
    pipe_open(fiber_pipe);
    loop_open();
    add(fiber_pipe[0], WEFT_FD_READ, &told);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, run_until_cancelled, &status), 0);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    CHECK_EQ(status, -ECANCELED);
    put_byte(fiber_pipe[1]); /* the loop lives on, and the next owner is this fiber */
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    CHECK_EQ(told.calls, 1);
    loop_drop();
    pair_close(fiber_pipe);
}

TEST(a_fiber_that_is_cancelled_leaves_a_loop_that_others_can_run) {
    run_fibers(cancelled_owner);
}

static struct told wandering_told;

static void one_more_turn(void) {
    int calls = wandering_told.calls;
    put_byte(fiber_pipe[1]);
    CHECK_EQ(loop_run(WEFT_LOOP_ONCE), 1);
    CHECK_EQ(wandering_told.calls, calls + 1);
    CHECK_EQ(weft_loop_run(loop, WEFT_LOOP_ONCE, weft_after(WEFT_MILLISECOND)) >= -ETIMEDOUT, 1); /* it sleeps */
}

TEST(a_loop_moves_from_runtime_to_runtime_and_to_a_thread) {
    wandering_told = (struct told){.drains = true};
    pipe_open(fiber_pipe);
    loop_open();
    add(fiber_pipe[0], WEFT_FD_READ, &wandering_told);
    for (int i = 0; i < 3; i++) {
        run_fibers(one_more_turn);
        one_more_turn();
    }
    loop_drop();
    pair_close(fiber_pipe);
}

static void abandon_a_loop(void) {
    weft_fiber fiber;
    static int status;
    SPAWN(&fiber, run_loop_fiber, &status);
    WAIT_UNTIL(weft_loop_get_state(loop) == WEFT_LOOP_SLEEPING);
}

/* The runtime ends while its fiber sleeps in the loop: the loop is over with it, and nothing is left open. */
TEST(a_runtime_that_drops_its_fibers_ends_the_loops_they_run) {
    struct told told = {0};
    weft_options options = {.abandon = true};
    pipe_open(fiber_pipe);
    loop_open();
    add(fiber_pipe[0], WEFT_FD_READ, &told);
    run_fibers_with(&options, abandon_a_loop);
    CHECK_EQ(weft_loop_get_state(loop), WEFT_LOOP_TERMINATED);
    CHECK_EQ(weft_loop_fd_remove(loop, fiber_pipe[0]), -EPIPE);
    loop_drop();
    pair_close(fiber_pipe);
}

/* A fiber that is bound to a thread of its own. */
static void *bound_loop(void *arg) {
    CHECK_EQ(weft_bind(NULL), 0);
    *(int *)arg = loop_run(WEFT_LOOP_UNTIL_QUIET);
    return NULL;
}

static void bound_owner(void) {
    struct told told = {.removes = true};
    weft_fiber fiber;
    int status = 1;
    pipe_open(fiber_pipe);
    loop_open();
    add(fiber_pipe[0], WEFT_FD_READ, &told);
    SPAWN(&fiber, bound_loop, &status);
    put_later(NULL);
    JOIN(fiber, NULL);
    CHECK_EQ(status, 0);
    CHECK_EQ(told.calls, 1);
    loop_drop();
    pair_close(fiber_pipe);
}

TEST(a_fiber_with_a_thread_of_its_own_runs_a_loop_with_descriptors) {
    run_fibers(bound_owner);
}
