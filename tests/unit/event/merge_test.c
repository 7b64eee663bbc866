/* SPDX-License-Identifier: MIT
 *
 * unit/event/merge_test.c - events made of events.
 *
 * Every policy against a plain computation over random verdicts and orders; the answers that cost no event; early poison;
 * chains a million deep; what is freed when a merge is decided while inputs are pending.
 */
#include "event/event.h"
#include "os/fault.h"
#include "support/run.h"

static weft_events *events;

static void begin(void) {
    CHECK_EQ(weft_events_new(&events, NULL), 0);
}
static void finish(void) {
    weft_events_free(events);
    events = NULL;
}
static weft_event make(void) {
    weft_event event;
    CHECK_EQ(weft_event_new(events, &event, WEFT_NOW), 0);
    return event;
}
static weft_event merge(const weft_event *inputs, size_t count, weft_merge_policy policy, size_t quorum) {
    weft_event out;
    CHECK_EQ(weft_event_merge(events, inputs, count, policy, quorum, &out), 0);
    return out;
}
static uint64_t pending(void) {
    weft_events_stats stats;
    CHECK_EQ(weft_events_get_stats(events, &stats), 0);
    return stats.pending;
}

TEST(a_merge_of_nothing_or_of_complete_events_is_complete_at_once) {
    begin();
    weft_event ready = make(), poisoned = make(), inputs[3] = {ready, WEFT_NO_EVENT, ready};
    CHECK_EQ(weft_event_trigger(events, ready), 0);
    CHECK_EQ(weft_event_poison(events, poisoned, 4, "four"), 0);
    CHECK_EQ(merge(NULL, 0, WEFT_MERGE_ALL, 0).bits, 0);
    CHECK_EQ(merge(NULL, 0, WEFT_MERGE_QUORUM, 0).bits, 0);
    CHECK_EQ(merge(inputs, 3, WEFT_MERGE_ALL, 0).bits, 0);
    inputs[1] = poisoned;
    CHECK_EQ(merge(inputs, 3, WEFT_MERGE_ALL_SETTLED, 0).bits, 0);
    CHECK_EQ(merge(inputs, 3, WEFT_MERGE_ANY, 0).bits, 0);
    CHECK_EQ(merge(inputs, 3, WEFT_MERGE_QUORUM, 2).bits, 0);
    weft_event out = merge(inputs, 3, WEFT_MERGE_ALL, 0);
    weft_event_reason reason;
    CHECK_EQ(weft_event_wait(events, out, &reason, WEFT_NOW), -ENOTRECOVERABLE);
    CHECK_EQ(reason.code, 4);
    CHECK_TEXT(reason.text, "four");
    CHECK_EQ(weft_event_merge(events, inputs, 3, WEFT_MERGE_QUORUM, 4, &out), -EINVAL);
    CHECK_EQ(weft_event_merge(events, NULL, 0, WEFT_MERGE_ANY, 0, &out), -EINVAL);
    finish();
}

TEST(a_merge_that_hangs_on_one_input_is_that_input) {
    begin();
    weft_event ready = make(), open = make(), inputs[2] = {ready, open};
    CHECK_EQ(weft_event_trigger(events, ready), 0);
    CHECK_EQ(merge(inputs, 2, WEFT_MERGE_ALL, 0).bits, open.bits);
    CHECK_EQ(merge(inputs, 2, WEFT_MERGE_QUORUM, 2).bits, open.bits);
    CHECK_EQ(merge(&open, 1, WEFT_MERGE_ANY, 0).bits, open.bits);
    weft_event settled = merge(&open, 1, WEFT_MERGE_ALL_SETTLED, 0);
    CHECK_NE(settled.bits, open.bits);
    CHECK_EQ(weft_event_poison(events, open, 1, "poisoned"), 0);
    CHECK_EQ(weft_event_poll(events, settled), WEFT_EVENT_READY);
    finish();
}

TEST(a_poisoned_input_poisons_a_merge_of_all_at_once_and_frees_it) {
    begin();
    weft_event inputs[3] = {make(), make(), make()};
    int64_t blocks = wf_os_live_blocks();
    weft_event out = merge(inputs, 3, WEFT_MERGE_ALL, 0);
    CHECK_EQ(weft_event_trigger(events, inputs[0]), 0);
    CHECK_EQ(weft_event_poll(events, out), WEFT_EVENT_PENDING);
    CHECK_EQ(weft_event_poison(events, inputs[1], 8, "eight"), 0);
    weft_event_reason reason;
    CHECK_EQ(weft_event_wait(events, out, &reason, WEFT_NOW), -ENOTRECOVERABLE);
    CHECK_EQ(reason.code, 8);
    CHECK_TEXT(reason.text, "eight");
    CHECK_EQ(wf_os_live_blocks(), blocks);
    CHECK_EQ(pending(), 1);
    CHECK_EQ(weft_event_trigger(events, inputs[2]), 0);
    finish();
}

TEST(an_event_that_stands_twice_counts_twice) {
    begin();
    weft_event twice = make(), other = make(), inputs[3] = {twice, twice, other};
    weft_event out = merge(inputs, 3, WEFT_MERGE_QUORUM, 2);
    CHECK_EQ(weft_event_trigger(events, twice), 0);
    CHECK_EQ(weft_event_poll(events, out), WEFT_EVENT_READY);
    finish();
}

TEST(merges_that_are_pending_go_with_the_system) {
    begin();
    weft_event inputs[2] = {make(), make()};
    inputs[1] = merge(inputs, 2, WEFT_MERGE_ALL, 0);
    merge(inputs, 2, WEFT_MERGE_ANY, 0);
    CHECK_EQ(weft_event_trigger_after(events, inputs[0], inputs[1]), 0); /* a ring */
    CHECK_EQ(weft_event_poll(events, inputs[0]), WEFT_EVENT_PENDING);
    finish();
}

TEST(a_ring_of_orders_ends_by_hand) {
    begin();
    weft_event a = make(), b = make();
    CHECK_EQ(weft_event_trigger_after(events, a, a), -EDEADLK);
    CHECK_EQ(weft_event_trigger_after(events, a, b), 0);
    CHECK_EQ(weft_event_trigger_after(events, b, a), 0);
    CHECK_EQ(weft_event_poison(events, a, 6, "six"), 0);
    weft_event_reason reason;
    CHECK_EQ(weft_event_wait(events, b, &reason, WEFT_NOW), -ENOTRECOVERABLE);
    CHECK_TEXT(reason.text, "six");
    CHECK_EQ(weft_event_trigger_after(events, a, b), -EALREADY);
    weft_event c = make(), d = make();
    CHECK_EQ(weft_event_trigger_after(events, c, b), 0);
    CHECK_EQ(weft_event_poll(events, c), WEFT_EVENT_POISONED);
    CHECK_EQ(weft_event_trigger_after(events, d, WEFT_NO_EVENT), 0);
    CHECK_EQ(weft_event_poll(events, d), WEFT_EVENT_READY);
    finish();
}

static int expect(const int *verdicts, int count, size_t needed, bool settled) {
    size_t ready = 0, open = 0;
    for (int i = 0; i < count; i++) {
        ready += verdicts[i] == WEFT_EVENT_READY || (settled && verdicts[i] != WEFT_EVENT_PENDING);
        open += verdicts[i] == WEFT_EVENT_PENDING;
    }
    return ready >= needed ? WEFT_EVENT_READY : ready + open < needed ? WEFT_EVENT_POISONED : WEFT_EVENT_PENDING;
}

TEST(every_policy_agrees_with_a_plain_count_at_every_step) {
    enum { MOST = 6 };
    uint64_t random = wf_test_seed() | 1;
    begin();
    for (long round = 0; round < scaled(5000, 200); round++) {
        weft_event inputs[MOST], out[4];
        int verdicts[MOST] = {0}, count = 1 + (int)random_below(&random, MOST);
        size_t quorum = random_below(&random, (uint64_t)count + 1);
        size_t needed[4] = {(size_t)count, (size_t)count, 1, quorum};
        int early = (int)random_below(&random, (uint64_t)count + 1);
        for (int i = 0; i < count; i++)
            inputs[i] = make();
        for (int step = 0; step <= count; step++) {
            if (step == early)
                for (int policy = 0; policy < 4; policy++)
                    out[policy] = merge(inputs, (size_t)count, (weft_merge_policy)policy, quorum);
            for (int policy = 0; policy < 4 && step >= early; policy++)
                CHECK_EQ(weft_event_poll(events, out[policy]),
                         expect(verdicts, count, needed[policy], policy == WEFT_MERGE_ALL_SETTLED));
            if (step == count)
                break;
            int at = (int)random_below(&random, (uint64_t)count);
            while (verdicts[at])
                at = (at + 1) % count;
            verdicts[at] = random_below(&random, 3) ? WEFT_EVENT_READY : WEFT_EVENT_POISONED;
            if (verdicts[at] == WEFT_EVENT_READY)
                CHECK_EQ(weft_event_trigger(events, inputs[at]), 0);
            else
                CHECK_EQ(weft_event_poison(events, inputs[at], step, "chance"), 0);
        }
    }
    CHECK_EQ(pending(), 0);
    finish();
}

static atomic_int strolls;
static atomic_bool is_over;
static void *stroll(void *arg) {
    while (!atomic_load(&is_over)) {
        atomic_fetch_add(&strolls, 1);
        weft_yield();
    }
    return arg;
}

static weft_event make_chain(weft_event root, long depth) {
    weft_event last = root;
    for (long i = 0; i < depth; i++)
        last = merge(&last, 1, WEFT_MERGE_ALL_SETTLED, 0);
    return last;
}

static void deep_chain(void) {
    weft_fiber walker;
    begin();
    atomic_store(&is_over, false);
    weft_event root = make(), last = make_chain(root, scaled(1000000, 20000));
    SPAWN(&walker, stroll, NULL);
    WAIT_UNTIL(atomic_load(&strolls) > 0);
    int before = atomic_load(&strolls);
    CHECK_EQ(weft_event_trigger(events, root), 0);
    CHECK_EQ(weft_event_wait(events, last, NULL, WEFT_NEVER), 0);
    if (wf_test_workers() == 1) /* elsewhere the other one has a worker to itself, which may sleep all the time */
        CHECK(atomic_load(&strolls) > before);
    atomic_store(&is_over, true);
    JOIN(walker, NULL);
    finish();
}
TEST(a_very_deep_chain_of_merges_completes_in_a_loop_and_lets_others_run) {
    run_fibers(deep_chain);
}
TEST(a_deep_chain_completes_on_a_plain_thread_as_well) {
    begin();
    weft_event root = make(), last = make_chain(root, scaled(100000, 5000));
    CHECK_EQ(weft_event_poison(events, root, 1, "root"), 0);
    CHECK_EQ(weft_event_poll(events, last), WEFT_EVENT_READY);
    finish();
}

static void *trigger_arg(void *arg) {
    CHECK_EQ(weft_event_trigger(events, *(weft_event *)arg), 0);
    return NULL;
}
static void *poison_arg(void *arg) {
    CHECK_EQ(weft_event_poison(events, *(weft_event *)arg, 1, "race"), 0);
    return NULL;
}
static void racing_inputs(void) {
    enum { WIDE = 6 };
    uint64_t random = wf_test_seed() | 1;
    begin();
    for (long round = 0; round < scaled(3000, 100); round++) {
        weft_event inputs[WIDE];
        weft_fiber fibers[WIDE];
        bool poisoned = false;
        for (int i = 0; i < WIDE; i++)
            inputs[i] = make();
        for (int i = 0; i < WIDE; i++) {
            bool is_bad = random_below(&random, 8) == 0;
            poisoned |= is_bad;
            SPAWN(&fibers[i], is_bad ? poison_arg : trigger_arg, &inputs[i]);
        }
        weft_event all = merge(inputs, WIDE, WEFT_MERGE_ALL, 0);
        weft_event any = merge(inputs, WIDE, WEFT_MERGE_ANY, 0);
        weft_event settled = merge(inputs, WIDE, WEFT_MERGE_ALL_SETTLED, 0);
        CHECK_EQ(weft_event_wait(events, all, NULL, WEFT_NEVER), poisoned ? -ENOTRECOVERABLE : 0);
        CHECK_EQ(weft_event_wait(events, settled, NULL, WEFT_NEVER), 0);
        int status = weft_event_wait(events, any, NULL, WEFT_NEVER);
        CHECK(status == 0 || status == -ENOTRECOVERABLE);
        for (int i = 0; i < WIDE; i++)
            JOIN(fibers[i], NULL);
    }
    CHECK_EQ(pending(), 0);
    finish();
}
TEST(merges_agree_while_their_inputs_complete_on_other_workers) {
    run_fibers(racing_inputs);
}

TEST(a_merge_without_memory_changes_nothing) {
    begin();
    weft_event inputs[2] = {make(), make()}, out = {7};
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(weft_event_merge(events, inputs, 2, WEFT_MERGE_ALL, 0, &out), -ENOMEM);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(weft_event_trigger_after(events, inputs[0], inputs[1]), -ENOMEM);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(out.bits, 7);
    CHECK_EQ(pending(), 2);
    CHECK_EQ(weft_event_trigger(events, inputs[0]), 0);
    finish();
}
