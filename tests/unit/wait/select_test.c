/* SPDX-License-Identifier: MIT
 *
 * unit/wait/select_test.c - what a select leaves behind, which is nothing, also when memory is short.
 *
 * Queues are read from the objects themselves: a semaphore shows its waiters, and a channel that can be freed has none.
 */
#include "os/fault.h"
#include "support/timers.h"
#include "unit/sync/waiters.h"

enum { MANY = 40 };

static weft_semaphore semaphores[MANY];

static void semaphores_reset(void) {
    memset(semaphores, 0, sizeof semaphores);
}

static void check_nobody_waits(void) {
    for (int i = 0; i < MANY; i++)
        CHECK(semaphores[i].waiters == NULL);
}

static void wait_all_waiting(int count, int each) {
    for (int i = 0; i < count; i++)
        WAIT_WAITERS(counter, &semaphores[i], each);
}

struct choice {
    int count;
    int chosen;
    weft_time deadline;
};

static void *choose(void *opaque) {
    struct choice *choice = opaque;
    weft_case cases[MANY];
    for (int i = 0; i < choice->count; i++)
        cases[i] = weft_on_semaphore(&semaphores[i]);
    choice->chosen = weft_select(cases, choice->count, choice->deadline);
    return NULL;
}

static void check_choice(int count, int wanted, weft_time deadline, bool is_thread) {
    struct choice choice = {.count = count, .deadline = deadline};
    struct on_thread_call call;
    weft_fiber fiber;
    if (is_thread)
        on_thread_start(&call, choose, &choice);
    else
        SPAWN(&fiber, choose, &choice);
    wait_all_waiting(count, 1);
    weft_semaphore_release(&semaphores[wanted], 1);
    if (is_thread)
        on_thread_finish(&call);
    else
        JOIN(fiber, NULL);
    CHECK_EQ(choice.chosen, wanted);
    CHECK_EQ(weft_semaphore_permits(&semaphores[wanted]), 0);
    check_nobody_waits();
}

static void leaves_nothing_body(void) {
    semaphores_reset();
    const int counts[] = {1, 2, 15, 16, 17, MANY};
    for (int c = 0; c < 6; c++)
        for (int i = 0; i < counts[c]; i += 1 + counts[c] / 4)
            for (int kind = 0; kind < 4; kind++)
                check_choice(counts[c], i, kind & 1 ? WEFT_NEVER : weft_after(PATIENCE_NS), kind & 2);
}

TEST(select_stands_in_every_queue_and_afterwards_in_none) {
    run_fibers(leaves_nothing_body);
}

static void *time_out(void *arg) {
    struct choice choice = {.count = MANY};
    const weft_time deadlines[] = {WEFT_NOW, 1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    for (int i = 0; i < 4; i++) {
        choice.deadline = deadlines[i];
        choose(&choice);
        CHECK_EQ(choice.chosen, -ETIMEDOUT);
        check_nobody_waits();
    }
    return arg;
}

static void time_out_body(void) {
    semaphores_reset();
    time_out(NULL);
    on_thread(time_out, NULL);
}

TEST(select_that_times_out_leaves_every_queue) {
    run_fibers(time_out_body);
}

static int choose_for_ever(void) {
    struct choice choice = {.count = 20, .deadline = WEFT_NEVER};
    choose(&choice);
    return choice.chosen;
}

static void cancel_body(void) {
    struct quitter quitter;
    semaphores_reset();
    quitter_start(&quitter, choose_for_ever);
    wait_all_waiting(20, 1);
    quitter_give_up(&quitter);
    check_nobody_waits();
}

TEST(select_that_is_cancelled_leaves_every_queue) {
    run_fibers(cancel_body);
}

/* Two selects over the same objects in opposite orders, and those who release: no deadlock, no permit lost. */
struct worker {
    uint64_t seed;
    long rounds;
    long taken;
    bool is_reversed;
};

static void *take_permits(void *opaque) {
    struct worker *worker = opaque;
    for (long i = 0; i < worker->rounds; i++) {
        weft_case cases[20];
        int count = 1 + (int)random_below(&worker->seed, 20);
        for (int c = 0; c < count; c++)
            cases[c] = weft_on_semaphore(&semaphores[worker->is_reversed ? 19 - c : c]);
        int chosen = weft_select(cases, count, weft_after((int64_t)random_below(&worker->seed, 5000)));
        CHECK(chosen == -ETIMEDOUT || (chosen >= 0 && chosen < count));
        worker->taken += chosen >= 0;
    }
    return NULL;
}

static void *give_permits(void *opaque) {
    struct worker *worker = opaque;
    for (long i = 0; i < worker->rounds; i++) {
        weft_semaphore_release(&semaphores[random_below(&worker->seed, 20)], 1);
        if (i % 8 == 0)
            weft_yield();
    }
    return NULL;
}

static void opposite_body(void) {
    struct worker workers[7];
    weft_fiber fibers[6];
    struct on_thread_call call;
    uint64_t seed = wf_test_seed();
    int64_t left = 0, taken = 0;
    semaphores_reset();
    for (int i = 0; i < 7; i++)
        workers[i] =
            (struct worker){.seed = seed + (uint64_t)i * 31, .rounds = scaled(1000, 50), .is_reversed = i % 2 != 0};
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], i < 3 ? take_permits : give_permits, &workers[i]);
    on_thread_start(&call, take_permits, &workers[6]);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&call);
    for (int i = 0; i < 20; i++)
        left += weft_semaphore_permits(&semaphores[i]);
    for (int i = 0; i < 7; i++)
        taken += workers[i].taken;
    CHECK_EQ(left + taken, 3 * workers[0].rounds);
    check_nobody_waits();
}

TEST(selects_over_the_same_objects_in_opposite_orders_lose_nothing) {
    run_fibers(opposite_body);
}

static void no_memory_body(void) {
    struct choice few = {.count = 16, .deadline = WEFT_NOW}, many = {.count = 17, .deadline = WEFT_NOW};
    semaphores_reset();
    weft_semaphore_release(&semaphores[3], 2);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    choose(&few); /* sixteen need no memory */
    choose(&many);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(few.chosen, 3);
    CHECK_EQ(many.chosen, -ENOMEM);
    CHECK_EQ(weft_semaphore_permits(&semaphores[3]), 1);
    choose(&many);
    CHECK_EQ(many.chosen, 3);
    check_nobody_waits();
    few.deadline = weft_after(PATIENCE_NS);
    timers_need_memory();
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    choose(&few);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(few.chosen, -ENOMEM);
    check_nobody_waits();
}

TEST(select_without_memory_says_so_and_has_done_nothing) {
    run_fibers(no_memory_body);
}

static void *end_at_once(void *arg) {
    return arg;
}

static void ends_body(void) {
    weft_fiber fibers[MANY];
    weft_case cases[MANY];
    void *results[MANY] = {NULL};
    bool was_chosen[MANY] = {false};
    for (int i = 0; i < MANY; i++)
        SPAWN(&fibers[i], end_at_once, &fibers[i]);
    for (int i = 0; i < MANY; i++)
        cases[i] = weft_on_end(fibers[i], &results[i]);
    for (int left = MANY; left > 0; left--) {
        int chosen = weft_select(cases, left, WEFT_NEVER);
        CHECK(chosen >= 0 && chosen < left);
        if (chosen < 0 || chosen >= left)
            abort();
        CHECK_EQ(cases[chosen].status, 0);
        void **result = cases[chosen].value;
        CHECK(*result == &fibers[result - results]);
        CHECK(!was_chosen[result - results]);
        was_chosen[result - results] = true;
        cases[chosen] = cases[left - 1];
    }
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(weft_join(fibers[i], NULL, WEFT_NOW), -ESTALE);
}

TEST(select_joins_many_fibers_one_by_one) {
    run_fibers(ends_body);
}

static weft_fiber target;
static atomic_int gate;

static void *end_at_gate(void *arg) {
    WAIT_UNTIL(atomic_load(&gate));
    return arg;
}

static void *select_end(void *arg) {
    weft_case cases[] = {weft_on_end(target, NULL), weft_on_end(target, NULL), weft_on_semaphore(&semaphores[0])};
    int chosen = weft_select(cases, 3, WEFT_NEVER);
    CHECK(chosen == (arg ? 2 : 0) || (!arg && chosen == 1));
    return arg;
}

/* The end finds somebody in its queue whose select is over already, or two who wait twice each. */
static void end_of_one_body(void) {
    weft_fiber waiting[2];
    semaphores_reset();
    atomic_store(&gate, 0);
    SPAWN(&target, end_at_gate, &gate);
    waiting[0] = spawn_parked(select_end, &gate);
    weft_semaphore_release(&semaphores[0], 1);
    JOIN(waiting[0], NULL);
    for (int i = 0; i < 2; i++)
        waiting[i] = spawn_parked(select_end, NULL);
    atomic_store(&gate, 1);
    for (int i = 0; i < 2; i++)
        JOIN(waiting[i], NULL);
    CHECK_EQ(weft_join(target, NULL, WEFT_NEVER), -ESTALE);
    check_nobody_waits();
}

TEST(select_on_the_end_of_one_fiber_by_many) {
    run_fibers(end_of_one_body);
}
