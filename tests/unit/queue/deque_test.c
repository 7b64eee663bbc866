/* SPDX-License-Identifier: MIT
 *
 * unit/queue/deque_test.c - the work-stealing deque: both ends, growth, failure to grow, thieves.
 */
#include "os/fault.h"
#include "os/memory.h"
#include "queue/deque.h"
#include "unit/queue/crew.h"

enum { MANY = 1000, STRESS_TASKS = 20000 * WEFT_TEST_SCALE, THIEVES = 3 };

static struct wf_task tasks[MANY];

TEST(owner_pops_the_newest_and_a_thief_takes_the_oldest) {
    static struct wf_deque deque;
    CHECK_EQ(wf_deque_init(&deque), 0);
    struct wf_task *task = NULL;
    CHECK(wf_deque_pop_owner(&deque) == NULL);
    CHECK_EQ(wf_deque_steal_thief(&deque, &task), 0);
    CHECK(wf_deque_is_empty_any(&deque));
    for (int i = 0; i < 4; i++)
        CHECK_EQ(wf_deque_push_owner(&deque, &tasks[i]), 0);
    CHECK(!wf_deque_is_empty_any(&deque));
    CHECK(wf_deque_pop_owner(&deque) == &tasks[3]);
    CHECK_EQ(wf_deque_steal_thief(&deque, &task), 1);
    CHECK(task == &tasks[0]);
    CHECK(wf_deque_pop_owner(&deque) == &tasks[2]);
    CHECK(wf_deque_pop_owner(&deque) == &tasks[1]);
    CHECK(wf_deque_pop_owner(&deque) == NULL);
    CHECK_EQ(wf_deque_push_owner(&deque, &tasks[0]), 0);
    CHECK(wf_deque_pop_owner(&deque) == &tasks[0]);
    wf_deque_term(&deque);
}

TEST(growing_keeps_the_tasks_and_term_frees_all_arrays) {
    static struct wf_deque deque;
    int64_t blocks = wf_os_live_blocks();
    CHECK_EQ(wf_deque_init(&deque), 0);
    struct wf_task *task;
    for (int i = 0; i < MANY; i++) {
        CHECK_EQ(wf_deque_push_owner(&deque, &tasks[i]), 0);
        if (i == 10)
            CHECK_EQ(wf_deque_steal_thief(&deque, &task), 1);
    }
    CHECK_OP(wf_os_live_blocks(), >, blocks + 1);
    CHECK_EQ(wf_deque_steal_thief(&deque, &task), 1);
    CHECK(task == &tasks[1]);
    for (int i = MANY - 1; i >= 2; i--)
        CHECK(wf_deque_pop_owner(&deque) == &tasks[i]);
    CHECK(wf_deque_pop_owner(&deque) == NULL);
    wf_deque_term(&deque);
    CHECK_EQ(wf_os_live_blocks(), blocks);
}

TEST(out_of_memory_is_returned_and_loses_nothing) {
    static struct wf_deque deque;
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(wf_deque_init(&deque), -ENOMEM);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(wf_deque_init(&deque), 0);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    int pushed = 0;
    int error;
    while ((error = wf_deque_push_owner(&deque, &tasks[pushed])) == 0)
        pushed++;
    CHECK_EQ(error, -ENOMEM);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(wf_deque_push_owner(&deque, &tasks[pushed]), 0);
    for (int i = pushed; i >= 0; i--)
        CHECK(wf_deque_pop_owner(&deque) == &tasks[i]);
    wf_deque_term(&deque);
}

/* Bursts of pushes and pops, so that the fight for the last task happens all the time; growth in between. */
struct stress {
    struct ledger ledger;
    struct wf_deque deque;
    _Atomic uint32_t is_over;
};

static void stress_owner(struct stress *stress) {
    uint32_t id = 0;
    struct wf_task *task;
    while (id < stress->ledger.count) {
        uint32_t burst = id % 7 == 0 ? 300 : 1 + id % 3;
        for (uint32_t i = 0; i < burst && id < stress->ledger.count; i++)
            CHECK_EQ(wf_deque_push_owner(&stress->deque, ledger_task(&stress->ledger, id++)), 0);
        for (uint32_t i = 0; i < burst; i++)
            if ((task = wf_deque_pop_owner(&stress->deque)))
                ledger_take(&stress->ledger, task);
    }
    while ((task = wf_deque_pop_owner(&stress->deque)))
        ledger_take(&stress->ledger, task);
    wf_store_release(&stress->is_over, 1);
}

static void stress_member(int index, void *argument) {
    struct stress *stress = argument;
    if (index == 0) {
        stress_owner(stress);
        return;
    }
    for (;;) {
        bool is_over = wf_load_acquire(&stress->is_over);
        struct wf_task *task;
        int result = wf_deque_steal_thief(&stress->deque, &task);
        if (result == 1)
            ledger_take(&stress->ledger, task);
        else if (result == 0 && is_over)
            return;
        else
            crew_wait();
    }
}

TEST(every_task_is_taken_once_by_owner_and_thieves) {
    static struct stress stress;
    CHECK_EQ(wf_deque_init(&stress.deque), 0);
    ledger_init(&stress.ledger, STRESS_TASKS);
    crew_run(1 + THIEVES, stress_member, &stress);
    ledger_term(&stress.ledger);
    wf_deque_term(&stress.deque);
}
