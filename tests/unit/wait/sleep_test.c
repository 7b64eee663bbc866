/* SPDX-License-Identifier: MIT
 *
 * unit/wait/sleep_test.c - waiting for a moment: order, never early, and the arithmetic of deadlines.
 *
 * Lateness is not judged: the machine may be busy. Order is judged where one worker decides it, and where a later sleep
 * is begun only after an earlier one has ended.
 */
#include "os/clock.h"
#include "support/run.h"

enum { SLEEPERS = 64 };

struct sleeper {
    weft_time until;
    weft_time began;
    int order;
};

static atomic_int woken;

static void *sleep_until(void *opaque) {
    struct sleeper *sleeper = opaque;
    sleeper->began = weft_now();
    CHECK_EQ(weft_sleep(sleeper->until), 0);
    CHECK_GE(weft_now(), sleeper->until);
    sleeper->order = atomic_fetch_add(&woken, 1);
    return NULL;
}

/* True when all of them lay down before the first one was due, so that the order says something. */
static bool run_sleepers(struct sleeper *sleepers, weft_time first_due) {
    weft_fiber fibers[SLEEPERS];
    bool was_in_time = wf_test_workers() == 1; /* several workers take what is due in turns */
    atomic_store(&woken, 0);
    for (int i = 0; i < SLEEPERS; i++)
        SPAWN(&fibers[i], sleep_until, &sleepers[i]);
    for (int i = 0; i < SLEEPERS; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < SLEEPERS; i++)
        was_in_time &= sleepers[i].began < first_due;
    return was_in_time;
}

static void order_body(void) {
    struct sleeper sleepers[SLEEPERS];
    uint64_t seed = wf_test_seed();
    int place[SLEEPERS];
    for (int i = 0; i < SLEEPERS; i++) {
        int other = (int)random_below(&seed, (uint64_t)i + 1);
        place[i] = place[other];
        place[other] = i;
    }
    for (int round = 0; round < 8; round++) {
        weft_time base = weft_after(WEFT_MILLISECOND << round);
        for (int i = 0; i < SLEEPERS; i++)
            sleepers[place[i]].until = base + i * 20 * WEFT_MICROSECOND;
        if (!run_sleepers(sleepers, base))
            continue;
        for (int i = 0; i < SLEEPERS; i++)
            CHECK_EQ(sleepers[place[i]].order, i);
        break;
    }
}

TEST(sleepers_wake_in_the_order_of_their_moments_and_never_early) {
    run_fibers_strictly(order_body);
}

static void tie_body(void) {
    struct sleeper sleepers[SLEEPERS];
    for (int round = 0; round < 8; round++) {
        weft_time until = weft_after(WEFT_MILLISECOND << round);
        for (int i = 0; i < SLEEPERS; i++)
            sleepers[i].until = until;
        if (!run_sleepers(sleepers, until))
            continue;
        for (int i = 1; i < SLEEPERS; i++)
            CHECK_EQ(sleepers[i].order, sleepers[i - 1].order + 1);
        break;
    }
}

TEST(sleepers_of_the_same_moment_wake_in_the_order_in_which_they_lay_down) {
    run_fibers_strictly(tie_body);
}

static void *count_one(void *opaque) {
    atomic_fetch_add((atomic_int *)opaque, 1);
    return NULL;
}

static void past_body(void) {
    const weft_time moments[] = {WEFT_NOW, 1, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        weft_fiber fiber;
        atomic_int count = 0;
        SPAWN(&fiber, count_one, &count);
        CHECK_EQ(weft_sleep(moments[i]), 0);
        if (wf_test_workers() == 1)
            CHECK_EQ(atomic_load(&count), 1); /* it yielded */
        JOIN(fiber, NULL);
    }
}

TEST(sleep_until_a_moment_in_the_past_yields_once) {
    run_fibers_strictly(past_body);
}

TEST(sleep_of_a_plain_thread_is_never_early) {
    for (int i = 0; i < 5; i++) {
        weft_time until = weft_after(i * 200 * WEFT_MICROSECOND);
        CHECK_EQ(weft_sleep(until), 0);
        CHECK_GE(weft_now(), until);
    }
    CHECK_EQ(weft_sleep(WEFT_NOW), 0);
    CHECK_EQ(weft_sleep(-1), 0);
    CHECK_EQ(weft_sleep(INT64_MIN), 0);
}

TEST(after_adds_without_overflow) {
    weft_time now = weft_now();
    CHECK_GE(weft_after(0), now);
    CHECK_GE(weft_after(-WEFT_SECOND), now);
    CHECK_GE(weft_after(INT64_MIN), now);
    CHECK_LE(weft_after(INT64_MIN), weft_now());
    CHECK_EQ(weft_after(INT64_MAX), WEFT_NEVER);
    CHECK_EQ(weft_after(WEFT_NEVER - 1), WEFT_NEVER);
    CHECK_GE(weft_after(WEFT_SECOND), now + WEFT_SECOND);
}

static void *sleep_often(void *opaque) {
    uint64_t seed = (uint64_t)(uintptr_t)opaque;
    for (long i = 0; i < scaled(200, 10); i++) {
        weft_time until = weft_after((int64_t)random_below(&seed, 100 * WEFT_MICROSECOND));
        CHECK_EQ(weft_sleep(until), 0);
        CHECK_GE(weft_now(), until);
    }
    return NULL;
}

static void crowd_body(void) {
    weft_fiber fibers[SLEEPERS];
    weft_stats stats;
    uint64_t seed = wf_test_seed();
    for (int i = 0; i < SLEEPERS; i++)
        SPAWN(&fibers[i], sleep_often, (void *)(uintptr_t)(random_next(&seed) | 1));
    for (int i = 0; i < SLEEPERS; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    CHECK_EQ(stats.timers_armed, stats.timers_fired);
    CHECK_EQ(stats.timers_cancelled, 0);
}

TEST(sleepers_without_number_are_never_early_and_none_is_forgotten) {
    run_fibers(crowd_body);
}
