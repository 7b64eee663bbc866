/* SPDX-License-Identifier: MIT
 *
 * unit/sched/timer_test.c - timers of one processor: order, cancelling, growth, and cancel against fire.
 *
 * Time is a number that the test gives; nothing waits for a clock.
 */
#include "sched/timer.h"

#include "base/list.h"
#include "os/fault.h"
#include "os/memory.h"
#include "support/run.h"

struct item {
    struct wf_timer timer;
    struct wf_task task;
    int64_t deadline;
    int fired;
};

static struct wf_task *item_fire(struct wf_timer *timer) {
    struct item *item = WF_CONTAINER(timer, struct item, timer);
    item->fired++;
    return &item->task;
}

static void item_arm(struct wf_timers *timers, struct item *item, int64_t deadline) {
    *item = (struct item){.timer.fire = item_fire, .deadline = deadline};
    CHECK_EQ(wf_timers_arm(timers, &item->timer, deadline), 0);
}

static struct item *chain_take(struct wf_chain *chain) {
    struct wf_task *task = wf_chain_take_first(chain);
    return task ? WF_CONTAINER(task, struct item, task) : NULL;
}

enum { MANY = 5000 };
static struct item items[MANY];

TEST(timers_fire_in_the_order_of_deadline_then_of_arming) {
    struct wf_timers timers;
    struct wf_chain ready = {0};
    uint64_t seed = wf_test_seed();
    wf_timers_init(&timers);
    CHECK_EQ(wf_timers_earliest(&timers), INT64_MAX);
    int64_t earliest = INT64_MAX;
    for (int i = 0; i < 1000; i++) {
        int64_t deadline = (int64_t)random_below(&seed, 50);
        earliest = deadline < earliest ? deadline : earliest;
        item_arm(&timers, &items[i], deadline);
        CHECK_EQ(wf_timers_earliest(&timers), earliest);
    }
    uint32_t fired = 0;
    for (int64_t now = -1; now <= 50; now += 3) {
        fired += wf_timers_fire(&timers, now, &ready);
        CHECK(wf_timers_earliest(&timers) > now);
    }
    CHECK_EQ(fired, 1000);
    struct item *last = chain_take(&ready), *item;
    while ((item = chain_take(&ready))) {
        CHECK_LE(last->deadline, item->deadline);
        if (last->deadline == item->deadline)
            CHECK(last < item);
        last = item;
    }
    CHECK_EQ(wf_timers_earliest(&timers), INT64_MAX);
    wf_timers_term(&timers);
}

TEST(a_cancelled_timer_does_not_fire_and_a_fired_one_is_not_cancelled) {
    struct wf_timers timers;
    struct wf_chain ready = {0};
    wf_timers_init(&timers);
    for (int i = 0; i < 10; i++)
        item_arm(&timers, &items[i], i);
    for (int i = 0; i < 10; i += 2)
        CHECK(wf_timers_cancel(&items[i].timer));
    CHECK_EQ(wf_timers_earliest(&timers), 1);
    CHECK_EQ(wf_timers_fire(&timers, 100, &ready), 5);
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(items[i].fired, i % 2);
        CHECK(!wf_timers_cancel(&items[i].timer));
    }
    CHECK_EQ(wf_load_relaxed(&timers.armed), 10);
    CHECK_EQ(wf_load_relaxed(&timers.fired), 5);
    CHECK_EQ(wf_load_relaxed(&timers.cancelled), 5);
    wf_timers_term(&timers);
}

TEST(the_heap_grows_and_gives_its_memory_back_when_it_is_empty) {
    struct wf_timers timers;
    struct wf_chain ready = {0};
    wf_timers_init(&timers);
    for (int i = 0; i < MANY; i++)
        item_arm(&timers, &items[i], MANY - i);
    CHECK_GE(timers.heap.capacity, MANY);
    for (int i = 0; i < MANY; i += 2)
        CHECK(wf_timers_cancel(&items[i].timer));
    CHECK_EQ(wf_timers_fire(&timers, MANY, &ready), MANY / 2);
    CHECK_EQ(timers.heap.count, 0);
    CHECK_EQ(timers.heap.capacity, 0);
    CHECK_EQ(wf_os_live_blocks(), 0);
    item_arm(&timers, &items[0], 1); /* and it is still good */
    CHECK(wf_timers_cancel(&items[0].timer));
    wf_timers_term(&timers);
}

TEST(arming_without_memory_fails_and_leaves_the_lock_free) {
    struct wf_timers timers;
    struct wf_chain ready = {0};
    wf_timers_init(&timers);
    struct item item = {.timer.fire = item_fire};
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(wf_timers_arm(&timers, &item.timer, 1), -ENOMEM);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(wf_timers_arm_locked(&timers, &item.timer, 1), 0);
    wf_lock_drop(&timers.lock);
    CHECK_EQ(wf_timers_fire(&timers, 1, &ready), 1);
    wf_timers_term(&timers);
}

struct duel {
    struct wf_timers timers;
    atomic_int round;
    atomic_int done;
    long rounds;
};

static void *duel_fire(void *opaque) {
    struct duel *duel = opaque;
    for (int round = 1; round <= duel->rounds; round++) {
        while (atomic_load(&duel->round) < round)
            sched_yield();
        struct wf_chain ready = {0};
        wf_timers_fire(&duel->timers, 1000, &ready);
        atomic_store(&duel->done, round);
    }
    return NULL;
}

TEST(cancel_against_fire_from_another_thread_has_exactly_one_winner) {
    struct duel duel = {.rounds = scaled(50000, 500)};
    long fired = 0;
    wf_timers_init(&duel.timers);
    pthread_t thread = thread_start(duel_fire, &duel);
    for (int round = 1; round <= duel.rounds; round++) {
        struct item own[4]; /* gone after this round: nobody may look at it then */
        for (int i = 0; i < 4; i++)
            item_arm(&duel.timers, &own[i], i);
        atomic_store(&duel.round, round);
        for (int i = 3; i >= 0; i--) {
            bool was_cancelled = wf_timers_cancel(&own[i].timer);
            CHECK_EQ(own[i].fired, !was_cancelled);
            fired += !was_cancelled;
        }
        memset(own, 0xff, sizeof own);
        while (atomic_load(&duel.done) < round)
            sched_yield();
    }
    thread_join(thread);
    printf("    %ld of %ld fired\n", fired, duel.rounds * 4);
    CHECK_EQ(wf_load_relaxed(&duel.timers.armed), duel.rounds * 4);
    CHECK_EQ(wf_load_relaxed(&duel.timers.fired), fired);
    wf_timers_term(&duel.timers);
}
