/* SPDX-License-Identifier: MIT
 *
 * unit/sync/mutex_test.c - one holder, nobody starved, and rules that are watched.
 *
 * The test build checks owners of every mutex, ranked or not. Contention comes from fibers and plain threads together.
 */
#include "base/point.h"
#include "support/child.h"
#include "unit/sync/waiters.h"

enum { QUEUE = 8 };

static weft_mutex mutex = WEFT_MUTEX_INIT;
static atomic_int gate;
static int order[QUEUE];
static int served;

static void lock(void) {
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NEVER), 0);
}

static void unlock(void) {
    weft_mutex_unlock(&mutex);
}

static void check_as_new(void) {
    CHECK(is_all_zero(&mutex, sizeof mutex));
}

struct adder {
    long rounds;
    uint64_t seed; /* 0: no deadlines */
    long done;
    long *sum;
};

static void *add(void *opaque) {
    struct adder *adder = opaque;
    for (long i = 0; i < adder->rounds; i++) {
        weft_time deadline = adder->seed ? weft_after((int64_t)random_below(&adder->seed, 3000)) : WEFT_NEVER;
        int status = weft_mutex_lock(&mutex, deadline);
        CHECK(status == 0 || (adder->seed && status == -ETIMEDOUT));
        if (status)
            continue;
        long before = *adder->sum;
        if (i % 16 == 0)
            weft_yield(); /* with the mutex held: now the others have to wait */
        *adder->sum = before + 1;
        adder->done++;
        unlock();
    }
    return NULL;
}

static void run_adders(bool has_deadlines) {
    struct adder adders[8];
    struct on_thread_call calls[2];
    weft_fiber fibers[6];
    uint64_t seed = has_deadlines ? wf_test_seed() : 0;
    long sum = 0, done = 0;
    for (int i = 0; i < 8; i++)
        adders[i] = (struct adder){.rounds = scaled(2000, 50), .seed = seed ? seed + (uint64_t)i * 77 : 0, .sum = &sum};
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], add, &adders[i]);
    for (int i = 0; i < 2; i++)
        on_thread_start(&calls[i], add, &adders[6 + i]);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 2; i++)
        on_thread_finish(&calls[i]);
    for (int i = 0; i < 8; i++)
        done += adders[i].done;
    CHECK_EQ(sum, done);
    CHECK(has_deadlines || done == 8 * adders[0].rounds);
    lock();
    unlock();
    check_as_new();
}

static void exclusion_body(void) {
    run_adders(false);
}

TEST(mutex_has_one_holder_among_fibers_and_threads) {
    run_fibers(exclusion_body);
}

static void exclusion_with_deadlines_body(void) {
    run_adders(true);
}

TEST(mutex_has_one_holder_when_waiters_give_up_at_any_moment) {
    run_fibers(exclusion_with_deadlines_body);
}

static void *lock_in_turn(void *number) {
    lock();
    order[served++] = (int)(intptr_t)number;
    unlock();
    return NULL;
}

static void order_body(void) {
    weft_fiber fibers[QUEUE];
    struct on_thread_call calls[QUEUE];
    served = 0;
    lock();
    for (int i = 0; i < QUEUE; i++) {
        if (i % 2)
            on_thread_start(&calls[i], lock_in_turn, (void *)(intptr_t)i);
        else
            SPAWN(&fibers[i], lock_in_turn, (void *)(intptr_t)i);
        WAIT_WAITERS(mutex, &mutex, i + 1);
    }
    unlock();
    for (int i = 0; i < QUEUE; i++) {
        if (i % 2)
            on_thread_finish(&calls[i]);
        else
            JOIN(fibers[i], NULL);
    }
    for (int i = 0; i < QUEUE; i++)
        CHECK_EQ(order[i], i);
    check_as_new();
}

TEST(mutex_is_handed_over_in_the_order_of_arrival) {
    run_fibers(order_body);
}

static void *lock_until_gate(void *arg) {
    lock();
    WAIT_UNTIL(atomic_load(&gate));
    unlock();
    return arg;
}

/* It competes with us once; when it has lost, the next unlock makes it the holder, whether it runs yet or not. */
static void insisting_body(void) {
    weft_fiber fiber;
    atomic_store(&gate, 0);
    lock();
    SPAWN(&fiber, lock_until_gate, NULL);
    WAIT_WAITERS(mutex, &mutex, 1);
    unlock();
    if (weft_mutex_lock(&mutex, WEFT_NOW) == 0) {
        WAIT_WAITERS(mutex, &mutex, 1);
        unlock();
    }
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NOW), -ETIMEDOUT);
    atomic_store(&gate, 1);
    JOIN(fiber, NULL);
    check_as_new();
}

TEST(mutex_is_handed_to_a_waiter_that_has_lost_once) {
    for (int i = 0; i < 20; i++)
        run_fibers(insisting_body);
}

static int lock_and_unlock(void) {
    int status = weft_mutex_lock(&mutex, WEFT_NEVER);
    if (status == 0)
        unlock();
    atomic_store(&gate, 1);
    return status;
}

/* One that has lost and insists gives up: its right passes to the one behind it. */
static void insisting_gives_up_body(void) {
    struct quitter quitter;
    weft_fiber last;
    served = 0;
    atomic_store(&gate, 0);
    lock();
    quitter_start(&quitter, lock_and_unlock);
    WAIT_WAITERS(mutex, &mutex, 1);
    SPAWN(&last, lock_in_turn, (void *)1);
    WAIT_WAITERS(mutex, &mutex, 2);
    unlock();
    if (weft_mutex_lock(&mutex, WEFT_NOW) == 0) {
        WAIT_UNTIL(COUNT_WAITERS(mutex, &mutex) == 2 || atomic_load(&gate)); /* it insists, or was quicker than we */
        CHECK(wf_cancel_fire(&quitter.cancel, -ECANCELED, NULL));
        unlock();
    }
    JOIN(quitter.fiber, NULL);
    CHECK(quitter.status == 0 || quitter.status == -ECANCELED);
    wf_cancel_term(&quitter.cancel);
    JOIN(last, NULL);
    CHECK_EQ(order[0], 1);
    check_as_new();
}

TEST(mutex_goes_on_when_a_waiter_that_insists_gives_up) {
    for (int i = 0; i < 20; i++)
        run_fibers(insisting_gives_up_body);
}

static atomic_int stop_locking;

static void *lock_again_and_again(void *arg) {
    while (!atomic_load(&stop_locking)) {
        lock();
        unlock();
    }
    return arg;
}

static void *lock_now_and_then(void *arg) {
    for (int i = 0; i < 50; i++) {
        lock();
        unlock();
        weft_yield();
    }
    return arg;
}

static void starvation_body(void) {
    struct on_thread_call busy[2];
    weft_fiber fibers[4];
    atomic_store(&stop_locking, 0);
    for (int i = 0; i < 2; i++)
        on_thread_start(&busy[i], lock_again_and_again, NULL);
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], lock_now_and_then, NULL);
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    atomic_store(&stop_locking, 1);
    for (int i = 0; i < 2; i++)
        on_thread_finish(&busy[i]);
    lock();
    unlock();
    check_as_new();
}

TEST(mutex_waiter_is_not_starved_by_those_who_never_wait) {
    run_fibers(starvation_body);
}

static void *vain_tries(void *arg) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(200 * WEFT_MICROSECOND)};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_mutex_lock(&mutex, deadlines[i]), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadlines[i]);
    }
    return arg;
}

static void deadlines_body(void) {
    weft_fiber fiber;
    lock();
    SPAWN(&fiber, vain_tries, NULL);
    JOIN(fiber, NULL);
    on_thread(vain_tries, NULL);
    CHECK_EQ(COUNT_WAITERS(mutex, &mutex), 0);
    unlock();
    check_as_new();
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(WEFT_SECOND), WEFT_NEVER};
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(weft_mutex_lock(&mutex, deadlines[i]), 0);
        unlock();
    }
    CHECK_EQ(weft_mutex_lock(NULL, WEFT_NEVER), -EINVAL);
}

TEST(mutex_that_is_held_times_out_and_one_that_is_free_is_had_whatever_the_deadline) {
    run_fibers(deadlines_body);
}

static int lock_for_ever(void) {
    return weft_mutex_lock(&mutex, WEFT_NEVER);
}

static void gap_body(void) {
    weft_fiber first, last;
    struct quitter quitter;
    served = 0;
    lock();
    SPAWN(&first, lock_in_turn, (void *)0);
    WAIT_WAITERS(mutex, &mutex, 1);
    quitter_start(&quitter, lock_for_ever);
    WAIT_WAITERS(mutex, &mutex, 2);
    SPAWN(&last, lock_in_turn, (void *)1);
    WAIT_WAITERS(mutex, &mutex, 3);
    quitter_give_up(&quitter);
    CHECK_EQ(COUNT_WAITERS(mutex, &mutex), 2);
    unlock();
    JOIN(first, NULL);
    JOIN(last, NULL);
    CHECK_EQ(order[0], 0);
    CHECK_EQ(order[1], 1);
    check_as_new();
}

TEST(mutex_passes_over_a_waiter_that_gave_up) {
    run_fibers(gap_body);
}

/* Whoever got the mutex last may free it at once. The one that held it before may still be on its way out of its unlock, the
 * long way because a try that failed has left its mark. */
static weft_mutex *short_lived; /* written before its round begins */
static atomic_long round_begun;
static atomic_int is_held, was_tried;

static void *hold_short_lived(void *opaque) {
    for (long i = 1; i <= (intptr_t)opaque; i++) {
        while (atomic_load(&round_begun) < i)
            sched_yield();
        weft_mutex *last = short_lived;
        CHECK_EQ(weft_mutex_lock(last, WEFT_NEVER), 0);
        atomic_store(&is_held, 1);
        while (!atomic_load(&was_tried))
            sched_yield();
        weft_mutex_unlock(last);
    }
    return NULL;
}

TEST(mutex_may_go_when_its_last_holder_has_unlocked_it) {
    long rounds = scaled(2000, 200);
    atomic_store(&round_begun, 0);
    pthread_t thread = thread_start(hold_short_lived, (void *)(intptr_t)rounds);
    for (long i = 1; i <= rounds; i++) {
        weft_mutex *last = short_lived = calloc(1, sizeof *last);
        atomic_store(&is_held, 0);
        atomic_store(&was_tried, 0);
        atomic_store(&round_begun, i);
        while (!atomic_load(&is_held))
            sched_yield();
        CHECK_EQ(weft_mutex_lock(last, WEFT_NOW), -ETIMEDOUT);
        atomic_store(&was_tried, 1);
        while (wf_load_relaxed(&((struct wf_mutex *)last)->word))
            sched_yield();
        CHECK_EQ(weft_mutex_lock(last, WEFT_NEVER), 0);
        weft_mutex_unlock(last);
        free(last);
    }
    thread_join(thread);
}

/* The holder unlocks just when the waiter has announced itself and is not in the queue yet. */
static atomic_int hook_reached;

static void hook(const char *name) {
    if (strcmp(name, "mutex.before_wait") == 0)
        atomic_store(&hook_reached, 1);
}

static void *unlock_when_reached(void *arg) {
    lock();
    atomic_store(&gate, 1);
    while (!atomic_load(&hook_reached))
        sched_yield();
    unlock();
    return arg;
}

static void unlock_before_wait_body(void) {
    struct on_thread_call call;
    for (int i = 0; i < 50; i++) {
        atomic_store(&gate, 0);
        atomic_store(&hook_reached, 0);
        on_thread_start(&call, unlock_when_reached, NULL);
        WAIT_UNTIL(atomic_load(&gate));
        lock();
        unlock();
        on_thread_finish(&call);
        check_as_new();
    }
}

TEST(mutex_unlocked_while_somebody_is_about_to_wait_is_handed_to_it) {
    wf_point_hook = hook;
    run_fibers(unlock_before_wait_body);
    wf_point_hook = NULL;
}

static void unlock_unlocked(void *arg) {
    (void)arg;
    unlock();
}

static void unlock_null(void *arg) {
    (void)arg;
    weft_mutex_unlock(NULL);
}

static void lock_twice(void *arg) {
    (void)arg;
    lock();
    lock();
}

static void *lock_it(void *arg) {
    lock();
    return arg;
}

static void unlock_of_another_body(void) {
    weft_fiber fiber;
    SPAWN(&fiber, lock_it, NULL);
    JOIN(fiber, NULL);
    unlock();
}

static void unlock_of_another(void *arg) {
    (void)arg;
    run_fibers(unlock_of_another_body);
}

TEST(mutex_misuse_is_fatal_and_names_the_rule) {
    struct child_end end = child_run(unlock_unlocked, NULL);
    CHECK_CHILD_FATAL(&end, "a mutex was unlocked that is not locked");
    end = child_run(unlock_null, NULL);
    CHECK_CHILD_FATAL(&end, "weft_mutex_unlock of a null pointer");
    end = child_run(lock_twice, NULL);
    CHECK_CHILD_FATAL(&end, "a mutex was locked by the one that holds it");
    end = child_run(unlock_of_another, NULL);
    CHECK_CHILD_FATAL(&end, "a mutex was unlocked by another than the one that holds it");
}

static weft_mutex rank_3 = WEFT_MUTEX_RANKED(3), rank_5 = WEFT_MUTEX_RANKED(5), rank_5_too = WEFT_MUTEX_RANKED(5);
static weft_mutex rank_9 = WEFT_MUTEX_RANKED(9);

static void *ranks_upwards(void *arg) {
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(weft_mutex_lock(&rank_3, WEFT_NEVER), 0);
        lock(); /* without a rank: anywhere */
        CHECK_EQ(weft_mutex_lock(&rank_5, WEFT_NEVER), 0);
        CHECK_EQ(weft_mutex_lock(&rank_9, WEFT_NOW), 0);
        weft_mutex_unlock(&rank_5); /* in any order */
        weft_mutex_unlock(&rank_9);
        CHECK_EQ(weft_mutex_lock(&rank_5_too, WEFT_NEVER), 0);
        weft_mutex_unlock(&rank_3);
        weft_mutex_unlock(&rank_5_too);
        unlock();
    }
    return arg;
}

static void *hold_9(void *arg) {
    CHECK_EQ(weft_mutex_lock(&rank_9, WEFT_NEVER), 0);
    WAIT_UNTIL(atomic_load(&gate));
    weft_mutex_unlock(&rank_9);
    return arg;
}

static void ranks_body(void) {
    weft_fiber fiber;
    ranks_upwards(NULL);
    on_thread(ranks_upwards, NULL);
    atomic_store(&gate, 0);
    SPAWN(&fiber, hold_9, NULL);
    WAIT_UNTIL(weft_mutex_lock(&rank_9, WEFT_NOW) == -ETIMEDOUT || (weft_mutex_unlock(&rank_9), false));
    CHECK_EQ(weft_mutex_lock(&rank_3, WEFT_NEVER), 0); /* what others hold does not count */
    weft_mutex_unlock(&rank_3);
    atomic_store(&gate, 1);
    JOIN(fiber, NULL);
}

TEST(mutex_ranks_that_go_up_are_fine) {
    run_fibers(ranks_body);
}

static void *ranks_downwards(void *second) {
    CHECK_EQ(weft_mutex_lock(&rank_5, WEFT_NEVER), 0);
    weft_mutex_lock(second, WEFT_NOW);
    return NULL;
}

static void ranks_on_thread(void *second) {
    ranks_downwards(second);
}

static void ranks_on_fiber_body(void) {
    weft_fiber fiber;
    SPAWN(&fiber, ranks_downwards, &rank_3);
    JOIN(fiber, NULL);
}

static void ranks_on_fiber(void *arg) {
    (void)arg;
    run_fibers(ranks_on_fiber_body);
}

TEST(mutex_ranks_that_do_not_go_up_are_fatal_with_both_ranks_named) {
    struct child_end end = child_run(ranks_on_thread, &rank_3);
    CHECK_CHILD_FATAL(&end, "a mutex of rank 3 was locked while one of rank 5 is held");
    end = child_run(ranks_on_thread, &rank_5_too);
    CHECK_CHILD_FATAL(&end, "a mutex of rank 5 was locked while one of rank 5 is held");
    end = child_run(ranks_on_fiber, NULL);
    CHECK_CHILD_FATAL(&end, "a mutex of rank 3 was locked while one of rank 5 is held");
}
