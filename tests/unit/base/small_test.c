/* SPDX-License-Identifier: MIT
 *
 * unit/base/small_test.c - the small headers: lists, chains, random numbers, sums of times.
 *
 * Each is a page of code that everything else stands on, so each has its edges looked at once.
 */
#include "base/list.h"
#include "base/rng.h"
#include "base/task.h"
#include "os/clock.h"
#include "support/run.h"

TEST(list_keeps_order_and_knows_who_is_linked) {
    struct wf_list head, nodes[5];
    wf_list_init(&head);
    CHECK(wf_list_is_empty(&head));
    CHECK(wf_list_take_first(&head) == NULL);
    for (int i = 0; i < 5; i++) {
        wf_list_init(&nodes[i]);
        CHECK(!wf_list_is_linked(&nodes[i]));
        wf_list_append(&head, &nodes[i]);
        CHECK(wf_list_is_linked(&nodes[i]));
    }
    wf_list_remove(&nodes[2]);
    wf_list_remove(&nodes[0]);
    CHECK(!wf_list_is_linked(&nodes[2]));
    CHECK(wf_list_take_first(&head) == &nodes[1]);
    CHECK(wf_list_take_first(&head) == &nodes[3]);
    CHECK(wf_list_take_first(&head) == &nodes[4]);
    CHECK(wf_list_is_empty(&head));
}

TEST(chain_counts_and_keeps_order) {
    struct wf_chain chain = {0};
    struct wf_task tasks[3] = {0};
    CHECK(wf_chain_take_first(&chain) == NULL);
    for (int i = 0; i < 3; i++)
        wf_chain_append(&chain, &tasks[i]);
    CHECK_EQ(chain.count, 3);
    for (int i = 0; i < 3; i++)
        CHECK(wf_chain_take_first(&chain) == &tasks[i]);
    CHECK_EQ(chain.count, 0);
    CHECK(chain.first == NULL);
    CHECK(chain.last == NULL);
}

TEST(task_route_holds_lane_and_processor_apart) {
    struct wf_task task = {0};
    for (uint32_t processor = 0; processor <= 1024; processor++) {
        for (int lane = 0; lane < WF_LANES; lane++) {
            wf_task_set_pinned(&task, processor);
            wf_task_set_lane(&task, (enum wf_lane)lane);
            CHECK_EQ(wf_task_pinned(&task), processor);
            CHECK_EQ(wf_task_lane(&task), lane);
        }
    }
}

TEST(rng_repeats_by_seed_stays_below_its_bound_and_reaches_everything) {
    struct wf_rng a, b;
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint32_t seen = 0;
        wf_rng_init(&a, seed);
        wf_rng_init(&b, seed);
        for (int i = 0; i < 1000; i++) {
            uint32_t number = wf_rng_below(&a, 10);
            CHECK_EQ(number, wf_rng_below(&b, 10));
            CHECK_LE(number, 9);
            seen |= 1u << number;
            CHECK_EQ(wf_rng_below(&a, 1), 0);
            CHECK_EQ(wf_rng_below(&b, 1), 0);
        }
        CHECK_EQ(seen, 0x3ff);
        CHECK_NE(a.state, 0);
    }
}

TEST(times_are_added_without_overflow) {
    CHECK_EQ(wf_time_add(10, 5), 15);
    CHECK_EQ(wf_time_add(10, 0), 10);
    CHECK_EQ(wf_time_add(10, -5), 10);
    CHECK_EQ(wf_time_add(10, INT64_MIN), 10);
    CHECK_EQ(wf_time_add(10, INT64_MAX), WF_NEVER);
    CHECK_EQ(wf_time_add(10, INT64_MAX - 10), WF_NEVER);
    CHECK_EQ(wf_time_add(10, INT64_MAX - 11), WF_NEVER - 1);
    CHECK_EQ(wf_time_add(0, INT64_MAX), WF_NEVER);
}
