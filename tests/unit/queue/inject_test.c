/* SPDX-License-Identifier: MIT
 *
 * unit/queue/inject_test.c - the global queue: order, chains, limits, many producers and consumers.
 */
#include "queue/inject.h"
#include "unit/queue/crew.h"

enum { STRESS_TASKS = 10000 * WEFT_TEST_SCALE, PRODUCERS = 3, CONSUMERS = 3 };

static struct wf_task tasks[8];

TEST(first_in_first_out) {
    struct wf_inject inject;
    wf_inject_init(&inject);
    CHECK(wf_inject_is_empty_any(&inject));
    for (int i = 0; i < 3; i++)
        wf_inject_push_any(&inject, &tasks[i]);
    CHECK_EQ(wf_inject_size_any(&inject), 3);
    struct wf_chain out = {0};
    CHECK_EQ(wf_inject_pop_any(&inject, 2, &out), 2);
    CHECK_EQ(out.count, 2);
    CHECK_EQ(wf_inject_size_any(&inject), 1);
    CHECK_EQ(wf_inject_pop_any(&inject, 2, &out), 1);
    CHECK_EQ(wf_inject_pop_any(&inject, 2, &out), 0);
    for (int i = 0; i < 3; i++)
        CHECK(wf_chain_take_first(&out) == &tasks[i]);
    CHECK_EQ(out.count, 0);
    CHECK(wf_inject_is_empty_any(&inject));
}

TEST(chains_keep_their_order_and_are_left_empty) {
    struct wf_inject inject = {0};
    struct wf_chain chain = {0};
    wf_inject_push_chain_any(&inject, &chain);
    CHECK(wf_inject_is_empty_any(&inject));
    wf_inject_push_any(&inject, &tasks[0]);
    for (int i = 1; i < 4; i++)
        wf_chain_append(&chain, &tasks[i]);
    wf_inject_push_chain_any(&inject, &chain);
    CHECK_EQ(chain.count, 0);
    CHECK(!chain.first);
    wf_inject_push_any(&inject, &tasks[4]);
    CHECK_EQ(wf_inject_pop_any(&inject, SIZE_MAX, &chain), 5);
    for (int i = 0; i < 5; i++)
        CHECK(wf_chain_take_first(&chain) == &tasks[i]);
}

TEST(pop_of_none_takes_none) {
    struct wf_inject inject = {0};
    struct wf_chain out = {0};
    wf_inject_push_any(&inject, &tasks[0]);
    CHECK_EQ(wf_inject_pop_any(&inject, 0, &out), 0);
    CHECK_EQ(wf_inject_size_any(&inject), 1);
    CHECK_EQ(wf_inject_pop_any(&inject, 1, &out), 1);
}

struct stress {
    struct ledger ledger;
    struct wf_inject inject;
};

static void produce(struct stress *stress, uint32_t first) {
    struct wf_chain chain = {0};
    for (uint32_t id = first; id < stress->ledger.count; id += PRODUCERS) {
        if (id % 5 == 0) {
            wf_inject_push_any(&stress->inject, ledger_task(&stress->ledger, id));
            continue;
        }
        wf_chain_append(&chain, ledger_task(&stress->ledger, id));
        if (chain.count == 7)
            wf_inject_push_chain_any(&stress->inject, &chain);
    }
    wf_inject_push_chain_any(&stress->inject, &chain);
}

static void stress_member(int index, void *argument) {
    struct stress *stress = argument;
    if (index < PRODUCERS) {
        produce(stress, (uint32_t)index);
        return;
    }
    size_t max = index == PRODUCERS ? SIZE_MAX : (size_t)index;
    while (!ledger_is_complete(&stress->ledger)) {
        struct wf_chain out = {0};
        size_t count = wf_inject_pop_any(&stress->inject, max, &out);
        CHECK_EQ(count, out.count);
        CHECK(count <= max);
        ledger_take_chain(&stress->ledger, &out);
        if (count == 0)
            crew_wait();
    }
}

TEST(every_task_is_taken_once_by_many_consumers) {
    static struct stress stress;
    ledger_init(&stress.ledger, STRESS_TASKS);
    crew_run(PRODUCERS + CONSUMERS, stress_member, &stress);
    CHECK(wf_inject_is_empty_any(&stress.inject));
    ledger_term(&stress.ledger);
}
