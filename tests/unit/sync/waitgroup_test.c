/* SPDX-License-Identifier: MIT
 *
 * unit/sync/waitgroup_test.c - waiting until a number of things is done.
 *
 * Everybody who waits goes on at zero, the group can be used again, and counting below zero is a mistake of the caller.
 */
#include "support/child.h"
#include "unit/sync/waiters.h"

enum { WAITERS = 4 };

static weft_waitgroup group = WEFT_WAITGROUP_INIT;
static atomic_long work;

static void *work_and_done(void *arg) {
    atomic_fetch_add(&work, 1);
    weft_waitgroup_done(&group);
    return arg;
}

static void *wait_for_work(void *arg) {
    CHECK_EQ(weft_waitgroup_wait(&group, arg ? weft_after(PATIENCE_NS) : WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&work), 1);
    return NULL;
}

static void all_wait_body(void) {
    weft_fiber fibers[WAITERS];
    struct on_thread_call call;
    atomic_store(&work, 0);
    weft_waitgroup_add(&group, 3);
    for (int i = 0; i < WAITERS; i++)
        SPAWN(&fibers[i], wait_for_work, i % 2 ? &group : NULL);
    on_thread_start(&call, wait_for_work, NULL);
    WAIT_WAITERS(counter, &group, WAITERS + 1);
    weft_waitgroup_add(&group, -2);
    CHECK_EQ(COUNT_WAITERS(counter, &group), WAITERS + 1);
    work_and_done(NULL);
    for (int i = 0; i < WAITERS; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&call);
    CHECK(is_all_zero(&group, sizeof group));
    CHECK_EQ(weft_waitgroup_wait(&group, WEFT_NOW), 0);
}

TEST(waitgroup_lets_everybody_through_at_zero) {
    run_fibers(all_wait_body);
}

static void reuse_body(void) {
    long rounds = scaled(200, 10);
    for (long round = 0; round < rounds; round++) {
        int count = 1 + (int)(round % 20);
        atomic_store(&work, 0);
        weft_waitgroup_add(&group, count);
        for (int i = 0; i < count; i++)
            CHECK_EQ(weft_go(work_and_done, NULL), 0);
        CHECK_EQ(weft_waitgroup_wait(&group, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&work), count);
    }
    CHECK(is_all_zero(&group, sizeof group));
}

TEST(waitgroup_can_be_used_again) {
    run_fibers(reuse_body);
}

/* The memory of a group may go as soon as the wait for it has returned. */
static void *done_on_stack(void *opaque) {
    weft_waitgroup_done(opaque);
    return NULL;
}

static void short_lived_body(void) {
    long rounds = scaled(2000, 100);
    for (long i = 0; i < rounds; i++) {
        weft_waitgroup *short_lived = calloc(1, sizeof *short_lived);
        weft_waitgroup_add(short_lived, 2);
        CHECK_EQ(weft_go(done_on_stack, short_lived), 0);
        CHECK_EQ(weft_go(done_on_stack, short_lived), 0);
        CHECK_EQ(weft_waitgroup_wait(short_lived, WEFT_NEVER), 0);
        free(short_lived);
    }
}

TEST(waitgroup_may_go_when_the_wait_for_it_is_over) {
    run_fibers(short_lived_body);
}

static void *vain_waits(void *arg) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_waitgroup_wait(&group, deadlines[i]), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadlines[i]);
    }
    return arg;
}

static void deadlines_body(void) {
    weft_waitgroup_add(&group, 1);
    vain_waits(NULL);
    on_thread(vain_waits, NULL);
    weft_waitgroup_done(&group);
    CHECK(is_all_zero(&group, sizeof group));
    CHECK_EQ(weft_waitgroup_wait(NULL, WEFT_NEVER), -EINVAL);
    weft_waitgroup_add(&group, 0);
    CHECK_EQ(weft_waitgroup_wait(&group, WEFT_NEVER), 0);
}

TEST(waitgroup_deadlines) {
    run_fibers(deadlines_body);
}

static void done_at_zero(void *arg) {
    (void)arg;
    weft_waitgroup_done(&group);
}

static void add_too_much(void *arg) {
    (void)arg;
    weft_waitgroup_add(&group, INT64_MAX);
}

static void add_to_null(void *arg) {
    (void)arg;
    weft_waitgroup_add(NULL, 1);
}

TEST(waitgroup_counted_below_zero_is_fatal) {
    struct child_end end = child_run(done_at_zero, NULL);
    CHECK_CHILD_FATAL(&end, "a wait group was counted below zero");
    end = child_run(add_too_much, NULL);
    CHECK_CHILD_FATAL(&end, "beyond what it can count");
    end = child_run(add_to_null, NULL);
    CHECK_CHILD_FATAL(&end, "weft_waitgroup_add to a null pointer");
}
