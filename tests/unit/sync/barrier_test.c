/* SPDX-License-Identifier: MIT
 *
 * unit/sync/barrier_test.c - a meeting of a fixed number of parties, again and again.
 *
 * Either all parties go on or none. The hard case is a party that gives up at the moment when the last one arrives; it is
 * forced by letting its deadline come while the last one is on its way.
 */
#include "base/point.h"
#include "unit/sync/waiters.h"

enum { PARTIES = 6 };

static weft_barrier barrier;
static atomic_long arrivals, lasts;

static void start(uint32_t parties) {
    barrier = (weft_barrier)WEFT_BARRIER_INIT(parties);
    atomic_store(&arrivals, 0);
    atomic_store(&lasts, 0);
}

static void *meet_often(void *opaque) {
    long rounds = (long)(intptr_t)opaque;
    for (long i = 1; i <= rounds; i++) {
        atomic_fetch_add(&arrivals, 1);
        int status = weft_barrier_wait(&barrier, i % 2 ? WEFT_NEVER : weft_after(PATIENCE_NS));
        CHECK(status == 0 || status == 1);
        atomic_fetch_add(&lasts, status);
        CHECK_GE(atomic_load(&arrivals), i * PARTIES); /* nobody goes on before all have come */
    }
    return NULL;
}

static void meet_body(void) {
    weft_fiber fibers[PARTIES - 1];
    struct on_thread_call call;
    long rounds = scaled(1000, 30);
    start(PARTIES);
    for (int i = 0; i < PARTIES - 1; i++)
        SPAWN(&fibers[i], meet_often, (void *)(intptr_t)rounds);
    on_thread_start(&call, meet_often, (void *)(intptr_t)rounds);
    for (int i = 0; i < PARTIES - 1; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&call);
    CHECK_EQ(atomic_load(&lasts), rounds); /* one of them was the last, each time */
    CHECK_EQ(barrier.arrived, 0);
}

TEST(barrier_lets_nobody_through_before_all_have_come) {
    run_fibers(meet_body);
}

static void *vain_waits(void *arg) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_barrier_wait(&barrier, deadlines[i]), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadlines[i]);
    }
    return arg;
}

static void deadlines_body(void) {
    start(2);
    vain_waits(NULL);
    on_thread(vain_waits, NULL);
    CHECK_EQ(barrier.arrived, 0);
    start(1);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_barrier_wait(&barrier, WEFT_NOW), 1);
    start(0);
    CHECK_EQ(weft_barrier_wait(&barrier, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_barrier_wait(NULL, WEFT_NEVER), -EINVAL);
}

TEST(barrier_party_that_times_out_has_not_arrived) {
    run_fibers(deadlines_body);
}

static int wait_for_ever(void) {
    return weft_barrier_wait(&barrier, WEFT_NEVER);
}

static void *meet_once(void *arg) {
    int status = weft_barrier_wait(&barrier, WEFT_NEVER);
    CHECK(status == 0 || status == 1);
    atomic_fetch_add(&lasts, status);
    atomic_fetch_add(&arrivals, 1);
    return arg;
}

/* Its wait is over, but it has not been able to take itself out: the lock of the barrier is held all the while. */
static void give_up_at_the_end_body(void) {
    struct wf_barrier *inner = (struct wf_barrier *)&barrier;
    struct quitter quitter;
    weft_fiber first, second, third;
    start(3);
    SPAWN(&first, meet_once, NULL);
    WAIT_WAITERS(barrier, &barrier, 1);
    quitter_start(&quitter, wait_for_ever);
    WAIT_WAITERS(barrier, &barrier, 2);
    wf_lock_take(&inner->lock);
    CHECK(wf_cancel_fire(&quitter.cancel, -ECANCELED, NULL));
    wf_lock_drop(&inner->lock);
    SPAWN(&second, meet_once, NULL); /* the last one, had the quitter stayed */
    JOIN(quitter.fiber, NULL);
    CHECK_EQ(quitter.status, -ECANCELED);
    wf_cancel_term(&quitter.cancel);
    WAIT_WAITERS(barrier, &barrier, 2);
    CHECK_EQ(atomic_load(&arrivals), 0); /* two of three: nobody has gone on */
    SPAWN(&third, meet_once, NULL);
    JOIN(first, NULL);
    JOIN(second, NULL);
    JOIN(third, NULL);
    CHECK_EQ(atomic_load(&lasts), 1);
    CHECK_EQ(barrier.arrived, 0);
}

TEST(barrier_is_not_complete_when_one_gives_up_just_as_the_last_one_comes) {
    for (int i = 0; i < 50; i++)
        run_fibers(give_up_at_the_end_body);
}

/* The last one arrives after a deadline has come and before it claims its waiter: the arrival wins. */
static atomic_int hook_reached, hook_go;

static void hook(const char *name) {
    if (strcmp(name, "deadline.before_claim") != 0 || atomic_load(&hook_reached))
        return;
    atomic_store(&hook_reached, 1);
    while (!atomic_load(&hook_go))
        sched_yield();
}

static void *meet_by_deadline(void *arg) {
    int status = weft_barrier_wait(&barrier, weft_after(WEFT_MILLISECOND));
    CHECK(status == 0 || status == -ETIMEDOUT);
    atomic_fetch_add(&arrivals, status == 0);
    return arg;
}

static void *meet_on_thread(void *arg) {
    while (!atomic_load(&hook_reached))
        sched_yield();
    int status = weft_barrier_wait(&barrier, WEFT_NOW); /* takes the waiter whose deadline is firing */
    CHECK_EQ(status, 1);
    atomic_store(&hook_go, 1);
    return arg;
}

static void deadline_and_last_body(void) {
    struct on_thread_call call;
    weft_fiber fiber;
    start(2);
    atomic_store(&hook_reached, 0);
    atomic_store(&hook_go, 0);
    on_thread_start(&call, meet_on_thread, NULL);
    SPAWN(&fiber, meet_by_deadline, NULL);
    JOIN(fiber, NULL);
    on_thread_finish(&call);
    CHECK_EQ(atomic_load(&arrivals), 1);
    CHECK_EQ(barrier.arrived, 0);
}

TEST(barrier_whose_last_party_comes_while_a_deadline_fires_is_met_by_both) {
    wf_point_hook = hook;
    run_fibers(deadline_and_last_body);
    wf_point_hook = NULL;
}

struct hasty {
    uint64_t seed;
    long rounds;
    long met;
};

static void *hasty_meet(void *opaque) {
    struct hasty *hasty = opaque;
    for (long i = 0; i < hasty->rounds; i++) {
        int status = weft_barrier_wait(&barrier, weft_after((int64_t)random_below(&hasty->seed, 20000)));
        CHECK(status == 0 || status == 1 || status == -ETIMEDOUT);
        hasty->met += status >= 0;
        atomic_fetch_add(&lasts, status == 1);
    }
    return NULL;
}

static void hasty_body(void) {
    struct hasty all[5];
    weft_fiber fibers[4];
    struct on_thread_call call;
    uint64_t seed = wf_test_seed();
    long met = 0;
    start(3);
    for (int i = 0; i < 5; i++)
        all[i] = (struct hasty){.seed = seed + (uint64_t)i * 17, .rounds = scaled(2000, 100)};
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], hasty_meet, &all[i]);
    on_thread_start(&call, hasty_meet, &all[4]);
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&call);
    for (int i = 0; i < 5; i++)
        met += all[i].met;
    CHECK_EQ(met, 3 * atomic_load(&lasts)); /* three at a time, or none */
    CHECK_EQ(barrier.arrived, 0);
    CHECK_EQ(COUNT_WAITERS(barrier, &barrier), 0);
}

TEST(barrier_is_met_by_all_parties_or_none_when_they_give_up_at_any_moment) {
    run_fibers(hasty_body);
}
