/* SPDX-License-Identifier: MIT
 *
 * fault/threads_test.c - threads, memory and knowledge of threads are refused while calls block and computations last.
 *
 * A workload in which processors are taken, given away and stood in for is run again and again; in run n the n-th call of one
 * kind fails, then all from the n-th on. What cannot have a thread waits until a call is over: a plain thread lets the calls
 * go when one was refused, or when everything else is done. Nothing is lost and nothing is left.
 */
#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/door.h"

/* REFUSALS: the monitor asks again each time it looks. */
enum { WORKERS = 2, BLOCKED = 4, LIGHT = 20, REFUSALS = 30 };

static atomic_int light_done;
static atomic_int all_done;
static bool is_every;

static void *block_at_the_door(void *arg) {
    weft_blocking_begin();
    door_wait();
    weft_blocking_end();
    return arg;
}

static void *wait_inside(void *arg) {
    door_wait();
    return arg;
}

static void *block_for_long(void *arg) {
    return weft_blocking(wait_inside, arg);
}

static void *compute_until_done(void *arg) {
    COMPUTE_UNTIL(atomic_load(&all_done));
    return arg;
}

static void *say_done(void *arg) {
    int status = weft_sleep(weft_after(WEFT_MILLISECOND));
    CHECK(status == 0 || status == -ENOMEM);
    atomic_fetch_add(&light_done, 1);
    return arg;
}

/* Everything light is done while the rest blocks and computes; or somebody was refused again and again, and then not. */
static void *let_go(void *arg) {
    int light = (int)(intptr_t)arg;
    COMPUTE_UNTIL(atomic_load(&light_done) >= light || (is_every && wf_fault_hits() >= REFUSALS));
    atomic_store(&all_done, 1);
    door_lift();
    return NULL;
}

static int spawn_all(weft_fiber *fibers, bool *exists, weft_fn *kinds) {
    int light = 0;
    for (int i = 0; i < BLOCKED + LIGHT; i++) {
        bool is_light = i >= BLOCKED;
        int status = weft_spawn(&fibers[i], is_light ? say_done : kinds[i], &fibers[i]);
        CHECK(status == 0 || status == -ENOMEM || status == -EAGAIN);
        exists[i] = status == 0;
        light += is_light && exists[i];
    }
    return light;
}

static void block_and_join(weft_fn *kinds) {
    weft_fiber fibers[BLOCKED + LIGHT];
    bool exists[BLOCKED + LIGHT];
    atomic_store(&light_done, 0);
    atomic_store(&all_done, 0);
    door_shut();
    int light = spawn_all(fibers, exists, kinds);
    pthread_t thread = thread_start(let_go, (void *)(intptr_t)light);
    for (int n = 0; n < BLOCKED + LIGHT; n++) { /* the light ones first: one that has no stack is counted here */
        int i = (n + BLOCKED) % (BLOCKED + LIGHT);
        void *result = NULL;
        if (!exists[i])
            continue;
        int status = weft_join(fibers[i], &result, WEFT_NEVER);
        CHECK(status == 0 || status == -ENOMEM); /* no stack for it */
        if (status == 0)
            CHECK(result == &fibers[i]);
        else
            atomic_fetch_add(&light_done, 1);
    }
    thread_join(thread);
    door_drop();
}

static int block_and_compute(void *arg) {
    weft_fn calls[BLOCKED] = {block_at_the_door, block_at_the_door, block_at_the_door, block_at_the_door};
    weft_fn long_calls[BLOCKED] = {block_for_long, block_for_long, block_at_the_door, block_for_long};
    weft_fn computations[BLOCKED] = {compute_until_done, compute_until_done, block_at_the_door, wait_inside};
    (void)arg;
    block_and_join(calls);
    block_and_join(long_calls);
    block_and_join(computations);
    WAIT_UNTIL(thread_stats().hogs_now == 0);
    return 21;
}

struct point {
    enum wf_system_call call;
    int error;
    long nth;
    bool every;
};

enum { END_HIT = 40, END_CLEAN = 41 };

static void run_point(void *opaque) {
    const struct point *point = opaque;
    weft_options options = {.workers = WORKERS, .keep_alive = 2 * WEFT_MILLISECOND, .quiet = true};
    alarm(40);
    is_every = point->every;
    wf_fault_order(point->call, point->nth, point->error, point->every);
    int status = weft_run(&options, block_and_compute, NULL);
    long hits = wf_fault_hits();
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK(status == 21 || (hits > 0 && (status == -EAGAIN || status == -ENOMEM)));
    CHECK_EQ(wf_os_live_blocks(), 0);
    CHECK_EQ(wf_os_mapped_bytes(), 0);
    is_every = false;
    if (!IS_SANITIZED || point->nth % 4 == 1)
        CHECK_EQ(weft_run(&options, block_and_compute, NULL), 21); /* and it works again */
    _exit(hits ? END_HIT : END_CLEAN);
}

static void sweep(enum wf_system_call call, int error, bool every, long most) {
    long points = 0;
    for (long nth = 1; nth <= most; nth++) {
        struct point point = {call, error, nth, every};
        struct child_end end = child_run(run_point, &point);
        bool is_right =
            WIFEXITED(end.status) && (WEXITSTATUS(end.status) == END_HIT || WEXITSTATUS(end.status) == END_CLEAN);
        if (!is_right)
            fprintf(stderr, "%s call %ld%s, errno %d: status %#x: %s\n", wf_fault_name(call), nth,
                    every ? " and all after it" : "", error, (unsigned)end.status, end.text);
        CHECK(is_right);
        points++;
        if (WEXITSTATUS(end.status) == END_CLEAN)
            break;
    }
    printf("    %-14s errno %2d%s: %ld points\n", wf_fault_name(call), error, every ? ", all" : "", points);
}

TEST(a_thread_that_cannot_be_had_is_done_without) {
    sweep(WF_CALL_THREAD, EAGAIN, false, scaled(20, 6));
    sweep(WF_CALL_THREAD, ENOMEM, true, scaled(20, 6));
}

TEST(memory_for_a_worker_that_cannot_be_had_is_done_without) {
    sweep(WF_CALL_ALLOC, ENOMEM, false, scaled(60, 4));
    sweep(WF_CALL_ALLOC, ENOMEM, true, scaled(60, 4));
    sweep(WF_CALL_MMAP, ENOMEM, false, scaled(30, 4));
    sweep(WF_CALL_SIGALTSTACK, ENOMEM, false, scaled(10, 4));
}

TEST(hogs_are_found_although_nobody_knows_how_long_a_thread_ran) {
    sweep(WF_CALL_THREAD_RAN, ENOENT, false, scaled(10, 2));
    sweep(WF_CALL_THREAD_RAN, ENOENT, true, 1);
}

TEST(a_barrier_that_is_missing_changes_nothing) {
    sweep(WF_CALL_BARRIER, ENOSYS, false, scaled(4, 2));
    sweep(WF_CALL_BARRIER, ENOSYS, true, scaled(4, 2));
}

/* A thread whose policy could not be set is as before; one that could not be put back is not used again. */
static int bind_with_options(void *arg) {
    weft_bind_options options = {.nice = 5, .cpus = "0"};
    (void)arg;
    for (int i = 0; i < 3; i++) {
        int status = weft_bind(&options);
        CHECK(status == 0 || status == -EPERM || status == -EINVAL);
        CHECK_EQ(weft_is_bound(), status == 0);
        CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
        if (status == 0)
            CHECK_EQ(weft_unbind(), 0);
        uint64_t before = thread_stats().takeovers;
        weft_blocking_begin();
        wait_until_taken(before);
        weft_blocking_end();
    }
    wait_until_threads_are_gone();
    return 21;
}

TEST(a_policy_that_cannot_be_set_or_put_back_spoils_its_thread_only) {
    weft_options options = {.workers = WORKERS, .keep_alive = 2 * WEFT_MILLISECOND};
    for (int every = 0; every < 2; every++) {
        long hits = 1;
        for (long nth = 1; hits > 0; nth++) {
            wf_fault_order(WF_CALL_POLICY, nth, EPERM, every);
            CHECK_EQ(weft_run(&options, bind_with_options, NULL), 21);
            hits = wf_fault_hits();
            wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        }
    }
}

/* One worker, so that an extra processor has to become a thief first, which needs the barrier. */
static int compute_alone(void *arg) {
    weft_fiber fiber;
    (void)arg;
    atomic_store(&light_done, 0);
    SPAWN(&fiber, say_done, NULL);
    COMPUTE_UNTIL(atomic_load(&light_done));
    JOIN(fiber, NULL);
    return 21;
}

TEST(the_only_worker_is_stood_in_for_also_without_a_barrier) {
    for (long nth = 1; nth <= 2; nth++) {
        wf_fault_order(WF_CALL_BARRIER, nth, ENOSYS, true);
        CHECK_EQ(weft_run(&(weft_options){.workers = 1}, compute_alone, NULL), 21);
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    }
}
