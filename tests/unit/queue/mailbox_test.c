/* SPDX-License-Identifier: MIT
 *
 * unit/queue/mailbox_test.c - many to one: order of each pusher, the "was empty" answer, nothing lost.
 */
#include "queue/mailbox.h"
#include "unit/queue/crew.h"

enum { STRESS_TASKS = 20000 * WEFT_TEST_SCALE, PUSHERS = 3 };

static struct wf_task tasks[4];

TEST(takes_all_in_the_order_of_the_pushes) {
    struct wf_mailbox mailbox;
    wf_mailbox_init(&mailbox);
    struct wf_chain out = {0};
    CHECK_EQ(wf_mailbox_take_owner(&mailbox, &out), 0);
    CHECK(wf_mailbox_push_any(&mailbox, &tasks[0]));
    CHECK(!wf_mailbox_push_any(&mailbox, &tasks[1]));
    CHECK(!wf_mailbox_is_empty_any(&mailbox));
    CHECK_EQ(wf_mailbox_take_owner(&mailbox, &out), 2);
    CHECK(wf_mailbox_is_empty_any(&mailbox));
    CHECK(wf_mailbox_push_any(&mailbox, &tasks[2]));
    CHECK_EQ(wf_mailbox_take_owner(&mailbox, &out), 1);
    CHECK_EQ(out.count, 3);
    for (int i = 0; i < 3; i++)
        CHECK(wf_chain_take_first(&out) == &tasks[i]);
}

struct stress {
    struct ledger ledger;
    struct wf_mailbox mailbox;
    _Atomic uint32_t were_empty;
    uint32_t takes;
};

static void own(struct stress *stress) {
    int64_t last[PUSHERS] = {-1, -1, -1};
    while (!ledger_is_complete(&stress->ledger)) {
        struct wf_chain out = {0};
        if (wf_mailbox_take_owner(&stress->mailbox, &out) == 0) {
            crew_wait();
            continue;
        }
        stress->takes++;
        struct wf_task *task;
        while ((task = wf_chain_take_first(&out))) {
            int64_t id = ledger_take(&stress->ledger, task);
            CHECK_OP(id, >, last[id % PUSHERS]);
            last[id % PUSHERS] = id;
        }
    }
}

static void stress_member(int index, void *argument) {
    struct stress *stress = argument;
    if (index == PUSHERS) {
        own(stress);
        return;
    }
    for (uint32_t id = (uint32_t)index; id < stress->ledger.count; id += PUSHERS)
        if (wf_mailbox_push_any(&stress->mailbox, ledger_task(&stress->ledger, id)))
            wf_fetch_add_relaxed(&stress->were_empty, 1);
}

TEST(every_task_arrives_once_and_each_take_had_one_push_into_an_empty_box) {
    static struct stress stress;
    ledger_init(&stress.ledger, STRESS_TASKS);
    crew_run(PUSHERS + 1, stress_member, &stress);
    CHECK_EQ(wf_load_relaxed(&stress.were_empty), stress.takes);
    ledger_term(&stress.ledger);
}
