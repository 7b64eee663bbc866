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
    for (int i = 0; i < WF_TIMER_RUNS; i++) /* each begins a run, which takes no memory */
        item_arm(&timers, &items[i], 100 - i);
    CHECK_EQ(wf_fault_hits(), 0);
    CHECK_EQ(wf_timers_arm(&timers, &item.timer, 1), -ENOMEM);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(wf_timers_arm_locked(&timers, &item.timer, 1), 0);
    wf_lock_drop(&timers.lock);
    CHECK_EQ(wf_timers_fire(&timers, 1, &ready), 1);
    wf_timers_term(&timers);
}

/* Random limits after a clock that goes on, so that there are runs and a heap; each of them cancelled or fired, compared with a
 * plain list. */
TEST(runs_and_heap_together_keep_one_order) {
    static const int64_t limits[] = {10, 1000, 60, 300, 0, 7, 5000};
    struct wf_timers timers;
    uint64_t seed = wf_test_seed();
    int64_t now = 0;
    bool is_armed[200] = {false};
    wf_timers_init(&timers);
    for (long step = scaled(200000, 20000); step > 0; step--) {
        size_t i = random_below(&seed, 200);
        int64_t earliest = INT64_MAX;
        if (is_armed[i])
            CHECK(wf_timers_cancel(&items[i].timer));
        else
            item_arm(&timers, &items[i], now + limits[random_below(&seed, 7)] + (int64_t)random_below(&seed, 2));
        is_armed[i] = !is_armed[i];
        now += (int64_t)random_below(&seed, 3);
        struct wf_chain ready = {0};
        uint32_t fired = wf_timers_fire(&timers, now, &ready);
        struct item *item;
        for (int64_t before = INT64_MIN; (item = chain_take(&ready)); before = item->deadline, fired--) {
            CHECK(is_armed[item - items]);
            is_armed[item - items] = false;
            CHECK(before <= item->deadline && item->deadline <= now);
        }
        CHECK_EQ(fired, 0);
        for (size_t other = 0; other < 200; other++)
            if (is_armed[other] && items[other].deadline < earliest)
                earliest = items[other].deadline;
        CHECK_EQ(wf_timers_earliest(&timers), earliest);
    }
    wf_timers_term(&timers);
}

static void count_ring(struct wf_alarm *alarm) {
    wf_alarm_take(alarm);
}

/* It was in a run and leaves it, fits behind no other, and the heap has no room: it is put between others. */
TEST(an_alarm_that_comes_back_needs_no_memory) {
    struct wf_timers timers;
    struct wf_chain ready = {0};
    struct wf_alarm alarm = {.ring = count_ring};
    bool is_due;
    wf_timers_init(&timers);
    CHECK_EQ(wf_alarm_arm(&timers, &alarm, 500, 0), 0);
    for (int i = 0; i < WF_TIMER_RUNS; i++) /* all of the runs end late */
        item_arm(&timers, &items[i], 1000 - i);
    CHECK_EQ(timers.heap.capacity, 0);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK(wf_alarm_move(&alarm, 600, 100));
    CHECK_EQ(wf_timers_earliest(&timers), 600);
    for (int64_t at = 600; at < 1000; at += 100) {
        CHECK_EQ(wf_timers_fire(&timers, at - 1, &ready), 0);
        CHECK_EQ(wf_timers_fire(&timers, at, &ready), 1);
    }
    CHECK(wf_alarm_move(&alarm, 1, 0)); /* before all others */
    CHECK_EQ(wf_timers_earliest(&timers), 1);
    CHECK(wf_alarm_disarm(&alarm, &is_due));
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK(!is_due);
    CHECK_EQ(wf_timers_fire(&timers, 1000, &ready), WF_TIMER_RUNS);
    for (int i = WF_TIMER_RUNS - 1; i >= 0; i--)
        CHECK(chain_take(&ready) == &items[i]);
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
