/* SPDX-License-Identifier: MIT
 *
 * unit/queue/ring_test.c - the run ring: order, halves, overflow, wrapping indices, thieves.
 */
#include "queue/ring.h"
#include "unit/queue/crew.h"

enum { HALF = WF_RING_CAPACITY / 2, STRESS_TASKS = 20000 * WEFT_TEST_SCALE, THIEVES = 3 };

static struct wf_ring ring, own;
static struct wf_task tasks[3 * WF_RING_CAPACITY];

/* Both rings empty, with indices that wrap soon. */
static void reset(void) {
    wf_store_relaxed(&ring.head, wf_ring_head(UINT32_MAX - 2, UINT32_MAX - 2));
    wf_store_relaxed(&ring.tail, UINT32_MAX - 2);
    wf_store_relaxed(&own.head, wf_ring_head(UINT32_MAX, UINT32_MAX));
    wf_store_relaxed(&own.tail, UINT32_MAX);
}

static void push_range(struct wf_ring *to, int first, int count) {
    for (int i = first; i < first + count; i++)
        CHECK(wf_ring_push_owner(to, &tasks[i]));
}

static void check_pops(struct wf_ring *from, int first, int count) {
    for (int i = first; i < first + count; i++)
        CHECK(wf_ring_pop_owner(from) == &tasks[i]);
}

TEST(pops_in_the_order_of_the_pushes) {
    reset();
    CHECK(wf_ring_pop_owner(&ring) == NULL);
    push_range(&ring, 0, 3);
    check_pops(&ring, 0, 2);
    push_range(&ring, 3, 2);
    CHECK_EQ(wf_ring_size_any(&ring), 3);
    check_pops(&ring, 2, 3);
    CHECK(wf_ring_is_empty_any(&ring));
}

TEST(push_fails_when_full_and_changes_nothing) {
    reset();
    push_range(&ring, 0, WF_RING_CAPACITY);
    CHECK(!wf_ring_push_owner(&ring, &tasks[WF_RING_CAPACITY]));
    CHECK_EQ(wf_ring_size_any(&ring), WF_RING_CAPACITY);
    check_pops(&ring, 0, WF_RING_CAPACITY);
}

TEST(steal_takes_the_older_half_rounded_up) {
    reset();
    struct wf_task *first = NULL;
    CHECK_EQ(wf_ring_steal_thief(&ring, &own, &first), 0);
    CHECK(!first);
    push_range(&ring, 0, WF_RING_CAPACITY - 1);
    CHECK_EQ(wf_ring_steal_thief(&ring, &own, &first), HALF);
    CHECK(first == &tasks[0]);
    check_pops(&own, 1, HALF - 1);
    CHECK(wf_ring_is_empty_any(&own));
    check_pops(&ring, HALF, HALF - 1);
}

TEST(steal_of_a_single_task_leaves_the_own_ring_alone) {
    reset();
    struct wf_task *first = NULL;
    push_range(&ring, 0, 1);
    CHECK_EQ(wf_ring_steal_thief(&ring, &own, &first), 1);
    CHECK(first == &tasks[0]);
    CHECK(wf_ring_is_empty_any(&own));
    CHECK(wf_ring_is_empty_any(&ring));
}

TEST(steal_takes_no_more_than_fits) {
    reset();
    struct wf_task *first = NULL;
    push_range(&ring, 0, WF_RING_CAPACITY);
    push_range(&own, WF_RING_CAPACITY, WF_RING_CAPACITY - 1);
    CHECK_EQ(wf_ring_steal_thief(&ring, &own, &first), 2);
    CHECK(first == &tasks[0]);
    CHECK_EQ(wf_ring_size_any(&own), WF_RING_CAPACITY);
    CHECK_EQ(wf_ring_steal_thief(&ring, &own, &first), 1);
    CHECK(first == &tasks[2]);
}

TEST(export_hands_out_the_newer_half_and_keeps_the_older_one) {
    reset();
    push_range(&ring, 0, WF_RING_CAPACITY);
    struct wf_chain out = {0};
    CHECK_EQ(wf_ring_export_owner(&ring, &out), HALF);
    CHECK_EQ(out.count, HALF);
    for (int i = HALF; i < WF_RING_CAPACITY; i++)
        CHECK(wf_chain_take_first(&out) == &tasks[i]);
    push_range(&ring, WF_RING_CAPACITY, HALF);
    check_pops(&ring, 0, HALF);
    check_pops(&ring, WF_RING_CAPACITY, HALF);
}

/* Puts the ring into the state in which a thief has claimed count tasks and copies them out. */
static void claim_as_a_slow_thief(int count) {
    uint64_t head = wf_load_relaxed(&ring.head);
    wf_store_relaxed(&ring.head, wf_ring_head(wf_ring_released(head), wf_ring_claimed(head) + (uint32_t)count));
}

TEST(slots_that_a_thief_is_copying_are_not_filled_again) {
    reset();
    push_range(&ring, 0, WF_RING_CAPACITY);
    claim_as_a_slow_thief(2);
    CHECK_EQ(wf_ring_size_any(&ring), WF_RING_CAPACITY - 2);
    CHECK(!wf_ring_push_owner(&ring, &tasks[WF_RING_CAPACITY]));
    struct wf_chain out = {0};
    CHECK_EQ(wf_ring_export_owner(&ring, &out), 0);
    check_pops(&ring, 2, WF_RING_CAPACITY - 2);
    CHECK(!wf_ring_push_owner(&ring, &tasks[0]));
}

TEST(one_thief_at_a_time_and_the_second_hears_maybe) {
    reset();
    struct wf_task *first = NULL;
    push_range(&ring, 0, WF_RING_CAPACITY);
    claim_as_a_slow_thief(1);
    CHECK_EQ(wf_ring_steal_thief(&ring, &own, &first), -1);
    CHECK(!first);
    CHECK(wf_ring_pop_owner(&ring) == &tasks[1]);
    CHECK_EQ(wf_ring_steal_thief(&ring, &own, &first), -1);
}

TEST(export_does_nothing_while_there_is_room) {
    reset();
    push_range(&ring, 0, WF_RING_CAPACITY - 1);
    struct wf_chain out = {0};
    CHECK_EQ(wf_ring_export_owner(&ring, &out), 0);
    CHECK_EQ(out.count, 0);
    check_pops(&ring, 0, WF_RING_CAPACITY - 1);
}

/* The owner pushes ids upwards, pops now and then, and takes what it exports itself. Each consumer sees ids rise: claims
 * are made from the oldest end. */
struct stress {
    struct ledger ledger;
    struct wf_ring victim, own[THIEVES];
    _Atomic uint32_t is_over;
};

static void take_rising(struct stress *stress, struct wf_task *task, int64_t *last) {
    if (!task)
        return;
    int64_t id = ledger_take(&stress->ledger, task);
    CHECK_OP(id, >, *last);
    *last = id;
}

static void stress_owner(struct stress *stress) {
    int64_t last = -1;
    for (uint32_t id = 0; id < stress->ledger.count; id++) {
        struct wf_task *task = ledger_task(&stress->ledger, id);
        if (!wf_ring_push_owner(&stress->victim, task)) {
            struct wf_chain out = {0};
            bool must_fit = wf_ring_export_owner(&stress->victim, &out) > 0;
            ledger_take_chain(&stress->ledger, &out);
            if (!wf_ring_push_owner(&stress->victim, task)) {
                CHECK(!must_fit);
                ledger_take(&stress->ledger, task);
            }
        }
        if (id % 3 == 0)
            take_rising(stress, wf_ring_pop_owner(&stress->victim), &last);
    }
    struct wf_task *task;
    while ((task = wf_ring_pop_owner(&stress->victim)))
        take_rising(stress, task, &last);
    wf_store_release(&stress->is_over, 1);
}

static void stress_thief(struct stress *stress, struct wf_ring *mine) {
    int64_t last = -1;
    for (;;) {
        bool is_over = wf_load_acquire(&stress->is_over);
        struct wf_task *first = NULL;
        int count = wf_ring_steal_thief(&stress->victim, mine, &first);
        take_rising(stress, first, &last);
        struct wf_task *task;
        while ((task = wf_ring_pop_owner(mine)))
            take_rising(stress, task, &last);
        if (count == 0 && is_over)
            return;
        if (count <= 0)
            crew_wait();
    }
}

static void stress_member(int index, void *argument) {
    struct stress *stress = argument;
    if (index == 0)
        stress_owner(stress);
    else
        stress_thief(stress, &stress->own[index - 1]);
}

TEST(every_task_is_taken_once_by_owner_and_thieves) {
    static struct stress stress;
    ledger_init(&stress.ledger, STRESS_TASKS);
    crew_run(1 + THIEVES, stress_member, &stress);
    ledger_term(&stress.ledger);
}

/* Thieves that rob each other: work given to one ring spreads, and nothing gets lost on the way. */
static void relay_member(int index, void *argument) {
    struct stress *stress = argument;
    struct wf_ring *mine = &stress->own[index];
    uint32_t next = (uint32_t)index;
    while (!ledger_is_complete(&stress->ledger)) {
        while (next < stress->ledger.count && wf_ring_push_owner(mine, ledger_task(&stress->ledger, next)))
            next += THIEVES;
        struct wf_task *task = NULL;
        wf_ring_steal_thief(&stress->own[(index + 1) % THIEVES], mine, &task);
        if (task)
            ledger_take(&stress->ledger, task);
        if ((task = wf_ring_pop_owner(mine)))
            ledger_take(&stress->ledger, task);
        else
            crew_wait();
    }
}

TEST(thieves_may_rob_each_other) {
    static struct stress stress;
    ledger_init(&stress.ledger, STRESS_TASKS / 4);
    crew_run(THIEVES, relay_member, &stress);
    ledger_term(&stress.ledger);
}
