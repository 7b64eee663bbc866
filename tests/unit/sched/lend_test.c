/* SPDX-License-Identifier: MIT
 *
 * unit/sched/lend_test.c - who gets a processor that was lent: the races between taking, reclaiming and stopping the world.
 *
 * The points of sched/lend.c hold one side where it has decided and not yet acted, until the other side has done its part.
 */
#include <unistd.h>

#include "base/point.h"
#include "fiber/fiber.h"
#include "support/door.h"

static atomic_int is_armed;  /* the next one to come to the point stops there */
static atomic_int is_held;   /* somebody stands there */
static atomic_int is_let_go; /* it may go on */
static _Atomic(struct wf_worker *) lender;

static void hold_at(const char *name, const char *wanted) {
    if (strcmp(name, wanted) != 0 || !atomic_exchange(&is_armed, 0))
        return;
    atomic_store(&is_held, 1);
    COMPUTE_UNTIL(atomic_load(&is_let_go));
}

static void arm(void) {
    atomic_store(&is_held, 0);
    atomic_store(&is_let_go, 0);
    atomic_store(&is_armed, 1);
}

static void hold_the_taker(const char *name) {
    hold_at(name, "take.before_claim");
}

static void hold_the_lender(const char *name) {
    hold_at(name, "reclaim.before_claim");
}

static void run_hooked(const weft_options *options, void (*hook)(const char *name), void (*body)(void)) {
    for (long i = scaled(10, 2); i > 0; i--) {
        wf_point_hook = hook;
        run_fibers_with(options, body);
        wf_point_hook = NULL;
    }
}

/* Inside a region: it is its own worker's. */
static enum wf_worker_state own_state(void) {
    return wf_worker_state(&wf_worker_self()->base);
}

static void lend_and_reclaim(void) {
    struct wf_worker *worker = &wf_worker_self()->base;
    CHECK_EQ(own_state(), WF_WORKER_HOLDS);
    uint64_t regions = wf_load_relaxed(&worker->regions);
    CHECK_EQ(weft_pin(), 0); /* so nobody takes it */
    weft_blocking_begin();
    CHECK(own_state() == WF_WORKER_LENT || own_state() == WF_WORKER_FROZEN);
    CHECK(worker->processor == NULL);
    weft_blocking_end();
    CHECK(&wf_worker_self()->base == worker);
    CHECK_EQ(own_state(), WF_WORKER_HOLDS);
    CHECK(worker->processor != NULL);
    CHECK_EQ(wf_load_relaxed(&worker->regions), regions + 1);
    weft_unpin();
}

TEST(a_region_lends_the_processor_and_takes_it_back) {
    run_fibers(lend_and_reclaim);
}

static void take_and_rejoin(void) {
    struct wf_worker *worker = &wf_worker_self()->base;
    struct wf_engine *engine = worker->engine;
    uint64_t before = thread_stats().takeovers;
    weft_blocking_begin();
    wait_until_taken(before);
    CHECK_EQ(own_state(), WF_WORKER_ALONE);
    CHECK(&wf_worker_self()->base == worker);
    CHECK_GE(wf_load_relaxed(&engine->alone), 1);
    CHECK_GE(wf_load_relaxed(&worker->alone_since), 1);
    weft_blocking_end();
    CHECK_EQ(own_state(), WF_WORKER_HOLDS);
    WAIT_UNTIL(wf_load_relaxed(&engine->alone) == 0);
}

TEST(a_worker_whose_processor_was_taken_is_alone_until_it_is_spare) {
    run_fibers(take_and_rejoin);
}

/* The taker has seen LENT and stands before its claim; the lender is faster. */
static void reclaim_before_the_claim(void) {
    struct wf_engine *engine = wf_worker_self()->base.engine;
    uint64_t before = thread_stats().takeovers;
    arm();
    weft_blocking_begin();
    COMPUTE_UNTIL(atomic_load(&is_held));
    weft_blocking_end();
    CHECK_EQ(own_state(), WF_WORKER_HOLDS);
    atomic_store(&is_let_go, 1);
    WAIT_UNTIL(wf_load_relaxed(&engine->alone) == 0);
    WAIT_UNTIL(thread_stats().spare >= 1); /* the heir in vain */
    CHECK_EQ(thread_stats().takeovers, before);
}

TEST(a_taker_that_comes_too_late_takes_nothing) {
    run_hooked(NULL, hold_the_taker, reclaim_before_the_claim);
}

/* The same, but when the taker claims the worker is inside its next region. One value of the word names one region. */
static void lend_again_before_the_claim(void) {
    arm();
    weft_blocking_begin();
    COMPUTE_UNTIL(atomic_load(&is_held));
    weft_blocking_end();
    struct wf_worker *worker = &wf_worker_self()->base;
    uint64_t before = thread_stats().takeovers;
    CHECK_EQ(weft_pin(), 0);
    weft_blocking_begin();
    CHECK_EQ(own_state(), WF_WORKER_LENT);
    atomic_store(&is_let_go, 1);
    WAIT_UNTIL(thread_stats().spare >= 1);
    CHECK_EQ(own_state(), WF_WORKER_LENT);
    CHECK_EQ(thread_stats().takeovers, before);
    weft_blocking_end();
    CHECK(&wf_worker_self()->base == worker);
    weft_unpin();
}

TEST(a_taker_that_saw_another_region_takes_nothing) {
    run_hooked(NULL, hold_the_taker, lend_again_before_the_claim);
}

/* Time that a worker was not without a processor is not counted, whatever it does later. */
static void count_no_time_after_a_failed_claim(void) {
    reclaim_before_the_claim();
    weft_time limit = weft_after(20 * WEFT_MILLISECOND);
    COMPUTE_UNTIL(weft_now() >= limit);
    CHECK_EQ(weft_bind(NULL), 0);
    CHECK_EQ(weft_unbind(), 0);
    WAIT_UNTIL(wf_load_relaxed(&wf_worker_self()->base.engine->alone) == 0);
    CHECK_EQ(thread_stats().blocked_ns, 0);
}

TEST(a_claim_that_failed_leaves_no_time_behind) {
    run_hooked(NULL, hold_the_taker, count_no_time_after_a_failed_claim);
}

static void *let_the_lender_go_when_taken(void *arg) {
    COMPUTE_UNTIL(atomic_load(&is_held));
    COMPUTE_UNTIL(wf_worker_state(atomic_load(&lender)) == WF_WORKER_ALONE);
    atomic_store(&is_let_go, 1);
    return arg;
}

/* The lender stands before its claim; the taker is faster. */
static void take_before_the_reclaim(void) {
    uint64_t before = thread_stats().takeovers;
    atomic_store(&lender, &wf_worker_self()->base);
    arm();
    pthread_t thread = thread_start(let_the_lender_go_when_taken, NULL);
    weft_blocking_begin();
    weft_blocking_end();
    CHECK_EQ(own_state(), WF_WORKER_HOLDS);
    CHECK_GE(thread_stats().takeovers, before + 1);
    thread_join(thread);
}

TEST(a_lender_that_comes_too_late_gets_in_line) {
    run_hooked(NULL, hold_the_lender, take_before_the_reclaim);
}

static atomic_int came_out;

static void *pass_through_a_region(void *arg) {
    atomic_store(&lender, &wf_worker_self()->base);
    CHECK_EQ(weft_pin(), 0); /* so it stays LENT */
    weft_blocking_begin();
    weft_blocking_end();
    atomic_store(&came_out, 1);
    weft_unpin();
    return arg;
}

/* The lender stands before its claim; the world is stopped around it, and it waits until that is over. */
static void stop_before_the_reclaim(void) {
    weft_fiber fiber;
    atomic_store(&came_out, 0);
    arm();
    SPAWN(&fiber, pass_through_a_region, NULL);
    WAIT_UNTIL(atomic_load(&is_held));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_world_stop(), 0);
        CHECK_EQ(wf_worker_state(atomic_load(&lender)), WF_WORKER_FROZEN);
        if (i == 2)
            atomic_store(&is_let_go, 1);
        for (int n = 0; n < 200; n++) {
            sched_yield();
            CHECK_EQ(atomic_load(&came_out), 0);
        }
        weft_world_start();
        if (i < 2)
            CHECK_EQ(wf_worker_state(atomic_load(&lender)), WF_WORKER_LENT);
    }
    JOIN(fiber, NULL);
    CHECK_EQ(atomic_load(&came_out), 1);
}

TEST(a_lender_that_was_frozen_waits_until_the_world_goes_on) {
    run_hooked(NULL, hold_the_lender, stop_before_the_reclaim);
}

/* The taker stands before its claim; the world is stopped, which changes the word and changes it back. Then it may take. */
static void *stay_inside(void *arg) {
    weft_blocking_begin();
    COMPUTE_UNTIL(atomic_load(&came_out));
    weft_blocking_end();
    return arg;
}

static void stop_before_the_claim(void) {
    weft_fiber fiber;
    atomic_store(&came_out, 0);
    arm();
    SPAWN(&fiber, stay_inside, NULL);
    WAIT_UNTIL(atomic_load(&is_held));
    CHECK_EQ(weft_world_stop(), 0);
    atomic_store(&is_let_go, 1); /* it finds FROZEN */
    for (int n = 0; n < 200; n++)
        sched_yield();
    CHECK_EQ(wf_load_seq_cst(&wf_worker_self()->base.engine->world_active), 1);
    weft_world_start();
    atomic_store(&came_out, 1);
    JOIN(fiber, NULL);
    WAIT_UNTIL(wf_load_relaxed(&wf_worker_self()->base.engine->alone) == 0);
}

TEST(a_taker_that_meets_a_stopped_world_takes_nothing) {
    if (wf_test_workers() > 1) /* with one, the taken processor is the one that the stopper waits for */
        run_hooked(NULL, hold_the_taker, stop_before_the_claim);
}
