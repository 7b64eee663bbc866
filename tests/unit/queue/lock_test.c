/* SPDX-License-Identifier: MIT
 *
 * unit/queue/lock_test.c - the futex lock: states one by one, then mutual exclusion on real threads.
 *
 * The interleavings themselves are explored by tests/model/model_lock.c; here the real futex is behind it.
 */
#include "queue/lock.h"
#include "unit/queue/crew.h"

enum { ENTRIES = 2000 * WEFT_TEST_SCALE };

struct shared {
    struct wf_lock lock;
    long counter;
    _Atomic uint32_t is_waiting;
};

TEST(zeroed_lock_is_free) {
    struct wf_lock lock = {0};
    CHECK(wf_lock_try(&lock));
    wf_lock_drop(&lock);
    CHECK_EQ(wf_load_relaxed(&lock.word), WF_LOCK_FREE);
}

TEST(try_fails_while_held) {
    struct wf_lock lock;
    wf_lock_init(&lock);
    wf_lock_take(&lock);
    CHECK(!wf_lock_try(&lock));
    CHECK_EQ(wf_load_relaxed(&lock.word), WF_LOCK_HELD);
    wf_lock_drop(&lock);
    CHECK(wf_lock_try(&lock));
    wf_lock_drop(&lock);
}

static void take_or_drop(int index, void *argument) {
    struct shared *shared = argument;
    if (index == 0) {
        wf_store_relaxed(&shared->is_waiting, 1);
        wf_lock_take(&shared->lock);
        CHECK_EQ(shared->counter, 1);
        wf_lock_drop(&shared->lock);
    } else {
        while (wf_load_relaxed(&shared->lock.word) != WF_LOCK_CONTENDED)
            crew_wait();
        shared->counter = 1;
        wf_lock_drop(&shared->lock);
    }
}

TEST(another_thread_may_drop_and_that_wakes_a_sleeper) {
    struct shared shared = {0};
    wf_lock_take(&shared.lock);
    crew_run(2, take_or_drop, &shared);
    CHECK_EQ(wf_load_relaxed(&shared.lock.word), WF_LOCK_FREE);
}

static void count_up(int index, void *argument) {
    struct shared *shared = argument;
    for (int i = 0; i < ENTRIES; i++) {
        if (index % 2 && wf_lock_try(&shared->lock)) {
            shared->counter++;
            wf_lock_drop(&shared->lock);
            continue;
        }
        wf_lock_take(&shared->lock);
        shared->counter++;
        wf_lock_drop(&shared->lock);
    }
}

TEST(one_at_a_time_on_four_threads) {
    struct shared shared = {0};
    crew_run(4, count_up, &shared);
    CHECK_EQ(shared.counter, 4L * ENTRIES);
    CHECK_EQ(wf_load_relaxed(&shared.lock.word), WF_LOCK_FREE);
}
