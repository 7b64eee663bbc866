/* SPDX-License-Identifier: MIT
 *
 * unit/sync/semaphore_test.c - permits, all or none, in the order of arrival.
 *
 * Who wants many holds up those behind it; when it gives up they go on. Permits are neither lost nor made up, whoever gives
 * up when.
 */
#include "support/child.h"
#include "unit/sync/waiters.h"

static weft_semaphore semaphore;
static atomic_int served;

static void start_with(int64_t permits) {
    semaphore = (weft_semaphore)WEFT_SEMAPHORE_INIT(permits);
    atomic_store(&served, 0);
}

struct taker {
    int64_t amount;
    int turn;
    weft_fiber fiber;
};

static void *take(void *opaque) {
    struct taker *taker = opaque;
    CHECK_EQ(weft_semaphore_acquire(&semaphore, taker->amount, taker->turn ? weft_after(PATIENCE_NS) : WEFT_NEVER), 0);
    taker->turn = atomic_fetch_add(&served, 1);
    return NULL;
}

static void enqueue(struct taker *taker, int64_t amount, int place) {
    *taker = (struct taker){.amount = amount, .turn = place % 2};
    SPAWN(&taker->fiber, take, taker);
    WAIT_WAITERS(counter, &semaphore, place);
}

static void order_body(void) {
    struct taker takers[4];
    const int64_t wishes[] = {5, 1, 2, 1};
    start_with(2);
    for (int i = 0; i < 4; i++)
        enqueue(&takers[i], wishes[i], i + 1);
    CHECK_EQ(weft_semaphore_acquire(&semaphore, 1, WEFT_NOW), -ETIMEDOUT); /* there are two, but others wait */
    weft_semaphore_release(&semaphore, 2);
    CHECK_EQ(COUNT_WAITERS(counter, &semaphore), 4); /* four are not enough for the first */
    CHECK_EQ(weft_semaphore_permits(&semaphore), 4);
    weft_semaphore_release(&semaphore, 1);
    JOIN(takers[0].fiber, NULL);
    CHECK_EQ(takers[0].turn, 0);
    CHECK_EQ(weft_semaphore_permits(&semaphore), 0);
    CHECK_EQ(COUNT_WAITERS(counter, &semaphore), 3);
    weft_semaphore_release(&semaphore, 2);
    JOIN(takers[1].fiber, NULL);
    CHECK_EQ(COUNT_WAITERS(counter, &semaphore), 2); /* one is left, the next wants two, the last may not overtake */
    weft_semaphore_release(&semaphore, 2);
    JOIN(takers[2].fiber, NULL);
    JOIN(takers[3].fiber, NULL);
    CHECK_EQ(weft_semaphore_permits(&semaphore), 0);
}

TEST(semaphore_is_first_come_first_served_also_for_large_wishes) {
    run_fibers(order_body);
}

static int take_hundred(void) {
    return weft_semaphore_acquire(&semaphore, 100, WEFT_NEVER);
}

static void give_up_body(void) {
    struct quitter quitter;
    struct taker takers[2];
    start_with(2);
    quitter_start(&quitter, take_hundred);
    WAIT_WAITERS(counter, &semaphore, 1);
    enqueue(&takers[0], 1, 2);
    enqueue(&takers[1], 1, 3);
    quitter_give_up(&quitter);
    JOIN(takers[0].fiber, NULL);
    JOIN(takers[1].fiber, NULL);
    CHECK_EQ(weft_semaphore_permits(&semaphore), 0);
}

static int select_permit(void) {
    weft_case entry = weft_on_semaphore(&semaphore);
    return weft_select(&entry, 1, WEFT_NEVER);
}

static void give_up_select_body(void) {
    struct quitter quitter;
    struct taker taker;
    start_with(0);
    quitter_start(&quitter, select_permit);
    WAIT_WAITERS(counter, &semaphore, 1);
    enqueue(&taker, 1, 2);
    quitter_give_up(&quitter);
    weft_semaphore_release(&semaphore, 1);
    JOIN(taker.fiber, NULL);
    CHECK_EQ(weft_semaphore_permits(&semaphore), 0);
}

TEST(semaphore_waiter_that_gives_up_lets_those_behind_it_through) {
    run_fibers(give_up_body);
    run_fibers(give_up_select_body);
}

static void *vain_tries(void *arg) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_semaphore_acquire(&semaphore, 4, deadlines[i]), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadlines[i]);
        CHECK_EQ(weft_semaphore_permits(&semaphore), 3);
    }
    CHECK_EQ(weft_semaphore_acquire(&semaphore, 3, INT64_MIN), 0);
    weft_semaphore_release(&semaphore, 3);
    CHECK_EQ(weft_semaphore_acquire(&semaphore, 0, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_semaphore_acquire(&semaphore, -1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_semaphore_acquire(NULL, 1, WEFT_NEVER), -EINVAL);
    CHECK_EQ(weft_semaphore_permits(NULL), 0);
    return arg;
}

static void deadlines_body(void) {
    start_with(3);
    vain_tries(NULL);
    on_thread(vain_tries, NULL);
}

TEST(semaphore_deadlines) {
    run_fibers(deadlines_body);
}

enum { PERMITS = 5 };
static atomic_int in_use;

struct hasty {
    uint64_t seed;
    long rounds;
};

static void *hasty_take(void *opaque) {
    struct hasty *hasty = opaque;
    for (long i = 0; i < hasty->rounds; i++) {
        int amount = 1 + (int)random_below(&hasty->seed, PERMITS);
        weft_time deadline =
            random_below(&hasty->seed, 3) ? weft_after((int64_t)random_below(&hasty->seed, 3000)) : WEFT_NEVER;
        weft_case entry = weft_on_semaphore(&semaphore);
        int status =
            amount == 1 ? weft_select(&entry, 1, deadline) : weft_semaphore_acquire(&semaphore, amount, deadline);
        CHECK(status == 0 || status == -ETIMEDOUT);
        if (status)
            continue;
        CHECK_LE(atomic_fetch_add(&in_use, amount) + amount, PERMITS);
        if (i % 4 == 0)
            weft_yield();
        atomic_fetch_sub(&in_use, amount);
        weft_semaphore_release(&semaphore, amount);
    }
    return NULL;
}

static void hasty_body(void) {
    struct hasty all[8];
    weft_fiber fibers[6];
    struct on_thread_call calls[2];
    uint64_t seed = wf_test_seed();
    start_with(PERMITS);
    for (int i = 0; i < 8; i++)
        all[i] = (struct hasty){.seed = seed + (uint64_t)i * 91, .rounds = scaled(1500, 50)};
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], hasty_take, &all[i]);
    for (int i = 0; i < 2; i++)
        on_thread_start(&calls[i], hasty_take, &all[6 + i]);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 2; i++)
        on_thread_finish(&calls[i]);
    CHECK_EQ(weft_semaphore_permits(&semaphore), PERMITS);
    CHECK_EQ(COUNT_WAITERS(counter, &semaphore), 0);
}

TEST(semaphore_keeps_its_permits_when_waiters_give_up_at_any_moment) {
    run_fibers(hasty_body);
}

static void release_none(void *arg) {
    (void)arg;
    weft_semaphore_release(&semaphore, 0);
}

static void release_too_many(void *arg) {
    (void)arg;
    start_with(1);
    weft_semaphore_release(&semaphore, INT64_C(1) << 62);
}

TEST(semaphore_misuse_is_fatal) {
    struct child_end end = child_run(release_none, NULL);
    CHECK_CHILD_FATAL(&end, "fewer than one permit");
    end = child_run(release_too_many, NULL);
    CHECK_CHILD_FATAL(&end, "a semaphore was given more permits than it can count");
    start_with(1);
    weft_semaphore_release(&semaphore, (INT64_C(1) << 62) - 1);
    CHECK_EQ(weft_semaphore_permits(&semaphore), INT64_C(1) << 62);
}
