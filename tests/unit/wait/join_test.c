/* SPDX-License-Identifier: MIT
 *
 * unit/wait/join_test.c - waiting for the end of a fiber, from fibers and from plain threads.
 *
 * The matrix: what the id names (running, ended, detached, joined, never existed) by the deadline (now, past, future,
 * never) by who asks. How many wait is read from the record itself, so that no test guesses when somebody sleeps.
 */
#include "support/run.h"
#include "wait/wait.h"

static atomic_int gate;

static void *wait_at_gate(void *arg) {
    WAIT_UNTIL(atomic_load(&gate));
    return arg;
}

static void *end_at_once(void *arg) {
    return arg;
}

static weft_fiber spawn_at_gate(void *value) {
    weft_fiber fiber;
    atomic_store(&gate, 0);
    SPAWN(&fiber, wait_at_gate, value);
    return fiber;
}

static void open_gate_and_join(weft_fiber fiber, void *value) {
    void *result = NULL;
    atomic_store(&gate, 1);
    JOIN(fiber, &result);
    CHECK(result == value);
}

/* How many wait for the end of that fiber now; on a fiber of its runtime. */
static int count_waiters(weft_fiber id) {
    int count = 0;
    struct wf_fiber *fiber = wf_record_lock(wf_worker_self()->fibers, id);
    CHECK(fiber != NULL);
    struct wf_waiter *waiter = fiber->waiters;
    while (waiter) {
        count++;
        waiter = waiter->next == fiber->waiters ? NULL : waiter->next;
    }
    wf_lock_drop(&fiber->lock);
    return count;
}

/* Waits until the fiber has ended without being joined. */
static void wait_for_end(weft_fiber id) {
    for (bool has_ended = false; !has_ended; weft_yield()) {
        struct wf_fiber *fiber = wf_record_lock(wf_worker_self()->fibers, id);
        CHECK(fiber != NULL);
        has_ended = wf_load_relaxed(&fiber->task.state) == WF_FIBER_ENDED;
        wf_lock_drop(&fiber->lock);
    }
}

struct visit {
    void (*fn)(void *arg);
    void *arg;
    atomic_int is_done;
};

static void *visit_main(void *opaque) {
    struct visit *visit = opaque;
    visit->fn(visit->arg);
    atomic_store(&visit->is_done, 1);
    return NULL;
}

/* Runs fn on a plain thread while the fibers go on. */
static void on_thread(void (*fn)(void *arg), void *arg) {
    struct visit visit = {.fn = fn, .arg = arg};
    pthread_t thread = thread_start(visit_main, &visit);
    WAIT_UNTIL(atomic_load(&visit.is_done));
    thread_join(thread);
}

static void result_body(void) {
    weft_fiber fiber;
    void *result = NULL;
    SPAWN(&fiber, end_at_once, &gate);
    JOIN(fiber, &result);
    CHECK(result == &gate);
    SPAWN(&fiber, end_at_once, &gate);
    JOIN(fiber, NULL);
}

TEST(join_hands_over_the_result) {
    run_fibers(result_body);
}

static const weft_time past_deadlines[] = {WEFT_NOW, 1, -1, -WEFT_SECOND, INT64_MIN};

static void check_past_deadlines(void *opaque) {
    weft_fiber fiber = *(weft_fiber *)opaque;
    for (size_t i = 0; i < sizeof past_deadlines / sizeof past_deadlines[0]; i++) {
        void *result = &gate;
        CHECK_EQ(weft_join(fiber, &result, past_deadlines[i]), -ETIMEDOUT);
        CHECK(result == &gate);
    }
}

static void past_deadline_body(void) {
    weft_fiber fiber = spawn_at_gate(&gate);
    check_past_deadlines(&fiber);
    open_gate_and_join(fiber, &gate);
}

TEST(join_of_a_running_fiber_with_a_deadline_in_the_past_times_out) {
    run_fibers(past_deadline_body);
}

static void past_deadline_thread_body(void) {
    weft_fiber fiber = spawn_at_gate(&gate);
    on_thread(check_past_deadlines, &fiber);
    open_gate_and_join(fiber, &gate);
}

TEST(join_by_a_plain_thread_with_a_deadline_in_the_past_times_out) {
    run_fibers(past_deadline_thread_body);
}

static void check_future_deadline(void *opaque) {
    weft_fiber fiber = *(weft_fiber *)opaque;
    for (int i = 0; i < 3; i++) {
        weft_time deadline = weft_after(i * 500 * WEFT_MICROSECOND + 1);
        CHECK_EQ(weft_join(fiber, NULL, deadline), -ETIMEDOUT);
        CHECK_GE(weft_now(), deadline);
    }
}

static void future_deadline_body(void) {
    weft_fiber fiber = spawn_at_gate(&gate);
    check_future_deadline(&fiber);
    on_thread(check_future_deadline, &fiber);
    CHECK_EQ(count_waiters(fiber), 0);
    open_gate_and_join(fiber, &gate);
}

TEST(join_times_out_at_its_deadline_and_never_early_and_leaves_the_fiber_joinable) {
    run_fibers(future_deadline_body);
}

static void ended_body(void) {
    const weft_time deadlines[] = {WEFT_NOW, 1, -1, INT64_MIN, weft_after(WEFT_SECOND), WEFT_NEVER};
    for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++) {
        weft_fiber fiber;
        void *result = NULL;
        SPAWN(&fiber, end_at_once, &gate);
        wait_for_end(fiber);
        CHECK_EQ(weft_join(fiber, &result, deadlines[i]), 0);
        CHECK(result == &gate);
        CHECK_EQ(weft_join(fiber, &result, deadlines[i]), -ESTALE);
    }
}

TEST(join_of_an_ended_fiber_succeeds_once_whatever_the_deadline) {
    run_fibers(ended_body);
}

static void deadline_beats_nothing_body(void) {
    void *result = NULL;
    weft_fiber fiber = spawn_at_gate(&gate);
    atomic_store(&gate, 1);
    CHECK_EQ(weft_join(fiber, &result, weft_after(PATIENCE_NS)), 0);
    CHECK(result == &gate);
}

TEST(join_with_a_distant_deadline_returns_when_the_fiber_ends) {
    run_fibers(deadline_beats_nothing_body);
}

enum { CROWD = 6 };

struct crowd {
    weft_fiber target;
    atomic_int got;
};

static void crowd_join(void *opaque) {
    struct crowd *crowd = opaque;
    void *result = NULL;
    int order = atomic_fetch_add(&crowd->got, 0);
    weft_time deadline = order % 2 ? WEFT_NEVER : weft_after(PATIENCE_NS);
    CHECK_EQ(weft_join(crowd->target, &result, deadline), 0);
    CHECK(result == &gate);
    atomic_fetch_add(&crowd->got, 1);
}

static void *crowd_join_main(void *opaque) {
    crowd_join(opaque);
    return NULL;
}

static void crowd_body(void) {
    struct crowd crowd = {.target = spawn_at_gate(&gate)};
    weft_fiber fibers[CROWD];
    pthread_t threads[CROWD];
    for (int i = 0; i < CROWD; i++) {
        SPAWN(&fibers[i], crowd_join_main, &crowd);
        threads[i] = thread_start(crowd_join_main, &crowd);
    }
    WAIT_UNTIL(count_waiters(crowd.target) == 2 * CROWD);
    atomic_store(&gate, 1);
    for (int i = 0; i < CROWD; i++)
        JOIN(fibers[i], NULL);
    WAIT_UNTIL(atomic_load(&crowd.got) == 2 * CROWD);
    for (int i = 0; i < CROWD; i++)
        thread_join(threads[i]);
    CHECK_EQ(weft_join(crowd.target, NULL, WEFT_NEVER), -ESTALE);
}

TEST(join_by_fibers_and_threads_at_once_gives_all_of_them_the_result) {
    run_fibers(crowd_body);
}

static void crowd_timeout(void *opaque) {
    struct crowd *crowd = opaque;
    CHECK_EQ(weft_join(crowd->target, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    atomic_fetch_add(&crowd->got, 1);
}

static void *crowd_timeout_main(void *opaque) {
    crowd_timeout(opaque);
    return NULL;
}

static void crowd_partly_body(void) {
    struct crowd crowd = {.target = spawn_at_gate(&gate)};
    weft_fiber patient, hasty[CROWD];
    pthread_t threads[CROWD];
    SPAWN(&patient, crowd_join_main, &crowd);
    for (int i = 0; i < CROWD; i++) {
        SPAWN(&hasty[i], crowd_timeout_main, &crowd);
        threads[i] = thread_start(crowd_timeout_main, &crowd);
    }
    WAIT_UNTIL(atomic_load(&crowd.got) == 2 * CROWD);
    WAIT_UNTIL(count_waiters(crowd.target) == 1);
    atomic_store(&gate, 1);
    JOIN(patient, NULL);
    for (int i = 0; i < CROWD; i++) {
        JOIN(hasty[i], NULL);
        thread_join(threads[i]);
    }
}

TEST(join_that_times_out_leaves_those_who_still_wait_in_the_queue) {
    run_fibers(crowd_partly_body);
}

static void detached_body(void) {
    weft_fiber fiber = spawn_at_gate(NULL);
    CHECK_EQ(weft_detach(fiber), 0);
    CHECK_EQ(weft_detach(fiber), -ESTALE);
    CHECK_EQ(weft_join(fiber, NULL, WEFT_NEVER), -ESTALE);
    CHECK_EQ(weft_join(fiber, NULL, WEFT_NOW), -ESTALE);
    atomic_store(&gate, 1);
    weft_fiber ended;
    SPAWN(&ended, end_at_once, NULL);
    wait_for_end(ended);
    CHECK_EQ(weft_detach(ended), 0);
    CHECK_EQ(weft_join(ended, NULL, WEFT_NEVER), -ESTALE);
    CHECK_EQ(weft_detach(ended), -ESTALE);
}

TEST(join_of_a_detached_fiber_is_stale) {
    run_fibers(detached_body);
}

static void self_body(void) {
    CHECK_EQ(weft_join(weft_self(), NULL, WEFT_NEVER), -EDEADLK);
    CHECK_EQ(weft_join(weft_self(), NULL, WEFT_NOW), -EDEADLK);
    CHECK_EQ(weft_join(weft_self(), NULL, weft_after(WEFT_SECOND)), -EDEADLK);
}

TEST(join_of_oneself_is_a_deadlock) {
    run_fibers(self_body);
}

static void check_stale(weft_fiber id) {
    char name[8];
    weft_fiber parent;
    CHECK_EQ(weft_join(id, NULL, WEFT_NOW), -ESTALE);
    CHECK_EQ(weft_join(id, NULL, weft_after(WEFT_MILLISECOND)), -ESTALE);
    CHECK_EQ(weft_get_name(id, name, sizeof name), -ESTALE);
    CHECK_EQ(weft_parent(id, &parent), -ESTALE);
    CHECK_EQ(weft_detach(id), -ESTALE);
    CHECK_EQ(weft_join(id, NULL, WEFT_NEVER), -ESTALE);
}

static void check_garbage(void *opaque) {
    uint64_t good = ((weft_fiber *)opaque)->bits;
    uint64_t index = good & ((UINT64_C(1) << WF_INDEX_BITS) - 1);
    check_stale(WEFT_NO_FIBER);
    check_stale((weft_fiber){UINT64_MAX});
    check_stale((weft_fiber){good - (UINT64_C(1) << 32)});               /* a generation before its first */
    check_stale((weft_fiber){good & UINT32_MAX});                        /* generation 0 */
    check_stale((weft_fiber){(good & ~index) | (WF_CHUNK_RECORDS - 1)}); /* a record that was never handed out */
    check_stale((weft_fiber){((good & ~index) | (WF_CHUNK_RECORDS - 1)) & UINT32_MAX});
    check_stale((weft_fiber){good | ((UINT64_C(1) << WF_INDEX_BITS) - 1)}); /* far beyond the last record */
    check_stale((weft_fiber){good | UINT64_C(63) << WF_INDEX_BITS});        /* a runtime that does not run */
    uint64_t seed = wf_test_seed();
    for (long i = 0; i < scaled(20000, 200); i++) {
        uint64_t bits = random_next(&seed);
        if (bits != good && bits >> 32 > 1000) /* never one of the few that exist */
            check_stale((weft_fiber){bits});
    }
}

static void garbage_body(void) {
    weft_fiber fiber = spawn_at_gate(NULL);
    check_garbage(&fiber);
    on_thread(check_garbage, &fiber);
    open_gate_and_join(fiber, NULL);
    check_stale(fiber);
}

TEST(join_of_ids_that_were_never_handed_out_is_stale) {
    run_fibers(garbage_body);
    check_stale((weft_fiber){UINT64_C(1) << 32}); /* and without any runtime */
}

static void next_generation_body(void) {
    weft_fiber fiber;
    SPAWN(&fiber, end_at_once, NULL);
    JOIN(fiber, NULL);
    check_stale((weft_fiber){fiber.bits + (UINT64_C(1) << 32)});
}

TEST(join_of_an_id_that_will_be_handed_out_next_is_stale) {
    run_fibers(next_generation_body);
}

static void *panic_at_once(void *arg) {
    (void)arg;
    weft_panic("on purpose");
}

static void panic_body(void) {
    weft_fiber fiber;
    void *result = &gate;
    SPAWN(&fiber, panic_at_once, NULL);
    CHECK_EQ(weft_join(fiber, &result, WEFT_NEVER), -EOWNERDEAD);
    CHECK(result == NULL);
    SPAWN(&fiber, panic_at_once, NULL);
    wait_for_end(fiber);
    result = &gate;
    CHECK_EQ(weft_join(fiber, &result, WEFT_NOW), -EOWNERDEAD);
    CHECK(result == NULL);
    CHECK_EQ(weft_join(fiber, &result, WEFT_NOW), -ESTALE);
}

TEST(join_of_a_fiber_that_panicked_says_that_its_owner_died) {
    weft_options options = {.quiet = true};
    run_fibers_with(&options, panic_body);
}

struct duel {
    weft_time end_at;
    weft_time deadline;
    weft_fiber fiber;
    int timeouts;
};

static void *end_at_moment(void *opaque) {
    struct duel *duel = opaque;
    while (weft_now() < duel->end_at)
        weft_yield();
    return duel;
}

static void duel_join(void *opaque) {
    struct duel *duel = opaque;
    void *result = NULL;
    int status = weft_join(duel->fiber, &result, duel->deadline);
    if (status == -ETIMEDOUT) {
        CHECK_GE(weft_now(), duel->deadline);
        CHECK(result == NULL);
        duel->timeouts++;
        status = weft_join(duel->fiber, &result, WEFT_NEVER);
    }
    CHECK_EQ(status, 0);
    CHECK(result == duel);
}

static void duel_body(void) {
    uint64_t seed = wf_test_seed();
    struct duel duel = {0};
    long rounds = scaled(20000, 300);
    for (long i = 0; i < rounds; i++) {
        weft_time now = weft_now();
        duel.end_at = now + (int64_t)random_below(&seed, 20000);
        duel.deadline = duel.end_at + (int64_t)random_below(&seed, 8000) - 4000;
        SPAWN(&duel.fiber, end_at_moment, &duel);
        duel_join(&duel);
    }
    printf("    %d of %ld timed out\n", duel.timeouts, rounds);
}

TEST(join_deadline_against_the_end_gives_exactly_one_of_both) {
    run_fibers(duel_body);
}

static void duel_thread_body(void) {
    uint64_t seed = wf_test_seed();
    struct duel duel = {0};
    long rounds = scaled(1000, 30);
    for (long i = 0; i < rounds; i++) {
        weft_time now = weft_now();
        duel.end_at = now + 50000 + (int64_t)random_below(&seed, 50000);
        duel.deadline = duel.end_at + (int64_t)random_below(&seed, 40000) - 20000;
        SPAWN(&duel.fiber, end_at_moment, &duel);
        on_thread(duel_join, &duel);
    }
    printf("    %d of %ld timed out\n", duel.timeouts, rounds);
}

TEST(join_deadline_of_a_plain_thread_against_the_end_gives_exactly_one_of_both) {
    run_fibers(duel_thread_body);
}

static void balance_body(void) {
    weft_stats stats;
    for (long i = 0; i < scaled(2000, 50); i++) {
        weft_fiber fiber;
        SPAWN(&fiber, end_at_once, NULL);
        CHECK_EQ(weft_join(fiber, NULL, weft_after(PATIENCE_NS)), 0);
    }
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    CHECK_EQ(stats.timers_armed, stats.timers_fired + stats.timers_cancelled);
}

TEST(join_takes_back_the_deadline_it_did_not_need) {
    run_fibers(balance_body);
}
