/* SPDX-License-Identifier: MIT
 *
 * spec/pool_queue_test.c - in which order works run, where they wait, and what happens when there is no room.
 *
 * Order is looked at in a pool with one thread, which is busy until everything is queued. With more threads works begin in that
 * order and run side by side, so nothing is said about their ends.
 */
#include "spec/pool.h"

enum { MANY = 1000, LOG_MAX = 4096, LOCALS = 64, THREADS = 4 };

static atomic_int runs;
static const weft_work_options stores = {.store_result = true};

static int order_log[LOG_MAX];
static atomic_int logged;

static int log_it(void *arg) {
    order_log[atomic_fetch_add(&logged, 1)] = (int)(intptr_t)arg;
    return 0;
}

static weft_pool *make_busy(const weft_pool_options *options) {
    weft_pool *pool = make_pool(options);
    atomic_store(&logged, 0);
    atomic_store(&runs, 0);
    occupy(pool, 1);
    return pool;
}

static void finish(weft_pool *pool, int expected) {
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&logged), expected);
}

static void submit_logged(weft_pool *pool, int number, int priority) {
    submit_with(pool, &(weft_work_options){.priority = priority}, log_it, (void *)(intptr_t)number);
}

/* ---- Disciplines ---- */

TEST(fifo_runs_the_oldest_first) {
    weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1});
    for (int i = 0; i < MANY; i++)
        submit_logged(pool, i, 0);
    finish(pool, MANY);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(order_log[i], i);
    end_pool(pool);
}

TEST(lifo_runs_the_newest_first) {
    weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1, .discipline = WEFT_POOL_LIFO});
    for (int i = 0; i < MANY; i++)
        submit_logged(pool, i, 0);
    finish(pool, MANY);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(order_log[i], MANY - 1 - i);
    end_pool(pool);
}

static int submit_three(void *arg) {
    for (int i = 0; i < 3; i++)
        CHECK_EQ(weft_pool_submit(weft_work_pool(), NULL, log_it, (void *)(intptr_t)i), 0);
    return (int)(intptr_t)arg;
}

static int submit_three_locally(void *arg) {
    for (int i = 0; i < 3; i++)
        submit_with(weft_work_pool(), &(weft_work_options){.placement = WEFT_PLACE_LOCAL}, log_it, (void *)(intptr_t)i);
    return (int)(intptr_t)arg;
}

/* What the work has submitted comes before what came from outside. */
TEST(a_deque_runs_the_newest_of_its_own_first) {
    weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1, .discipline = WEFT_POOL_DEQUE});
    submit(pool, submit_three_locally, NULL);
    submit_logged(pool, 10, 0);
    submit_logged(pool, 11, 0);
    finish(pool, 5);
    const int expected[] = {2, 1, 0, 10, 11};
    for (int i = 0; i < 5; i++)
        CHECK_EQ(order_log[i], expected[i]);
    end_pool(pool);
}

TEST(in_a_pool_with_deques_works_are_kept_by_their_submitters_thread) {
    weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1, .discipline = WEFT_POOL_DEQUE});
    submit(pool, submit_three, NULL);
    submit_logged(pool, 10, 0);
    finish(pool, 4);
    const int expected[] = {2, 1, 0, 10};
    for (int i = 0; i < 4; i++)
        CHECK_EQ(order_log[i], expected[i]);
    end_pool(pool);
}

TEST(local_works_come_before_shared_ones_and_shared_ones_are_the_default) {
    weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1});
    submit(pool, submit_three, NULL);
    submit(pool, submit_three_locally, NULL);
    submit_logged(pool, 10, 0);
    finish(pool, 7);
    const int expected[] = {0, 1, 2, 10, 0, 1, 2}; /* local ones, oldest first; from outside; shared */
    for (int i = 0; i < 7; i++)
        CHECK_EQ(order_log[i], expected[i]);
    end_pool(pool);
}

/* A queue of the program: the highest name first, and it counts. */
static struct {
    weft_work works[LOG_MAX];
    int priorities[LOG_MAX];
    int count;
    int pushes;
    int pops;
    int discards;
    int refusal; /* what push answers, if not 0 */
} custom;

static int custom_push(void *queue, weft_work work, int priority) {
    CHECK(queue == &custom);
    if (custom.refusal)
        return custom.refusal;
    CHECK_LE(custom.count, LOG_MAX - 1);
    custom.works[custom.count] = work;
    custom.priorities[custom.count++] = priority;
    custom.pushes++;
    return 0;
}

static bool custom_take(weft_work *work, int index) {
    if (custom.count == 0)
        return false;
    *work = custom.works[index];
    memmove(&custom.works[index], &custom.works[index + 1], (size_t)(custom.count - index - 1) * sizeof *custom.works);
    memmove(&custom.priorities[index], &custom.priorities[index + 1],
            (size_t)(custom.count - index - 1) * sizeof *custom.priorities);
    custom.count--;
    return true;
}

/* The lowest priority first: as no pool of weft does it. */
static bool custom_pop(void *queue, weft_work *work) {
    int lowest = 0;
    CHECK(queue == &custom);
    for (int i = 1; i < custom.count; i++)
        if (custom.priorities[i] < custom.priorities[lowest])
            lowest = i;
    custom.pops++;
    return custom_take(work, lowest);
}

static bool custom_discard(void *queue, weft_work *work) {
    CHECK(queue == &custom);
    custom.discards++;
    return custom_take(work, custom.count - 1);
}

static const weft_work_queue custom_queue = {custom_push, custom_pop, custom_discard};
static const weft_work_queue custom_without_discard = {custom_push, custom_pop, NULL};

static weft_pool_options custom_options(const weft_work_queue *queue) {
    memset(&custom, 0, sizeof custom);
    return (weft_pool_options){.threads = 1, .discipline = WEFT_POOL_CUSTOM, .custom = queue, .custom_queue = &custom};
}

TEST(a_custom_queue_decides_the_order) {
    weft_pool_options options = custom_options(&custom_queue);
    weft_pool *pool = make_busy(&options);
    for (int i = 0; i < 100; i++)
        submit_logged(pool, i, (i * 37) % 100);
    finish(pool, 100);
    for (int i = 0; i < 100; i++)
        CHECK_EQ((order_log[i] * 37) % 100, i);
    CHECK_EQ(custom.pushes, 101);
    CHECK_EQ(custom.count, 0);
    end_pool(pool);
}

TEST(a_custom_queue_may_refuse) {
    weft_pool_options options = custom_options(&custom_queue);
    weft_pool *pool = make_busy(&options);
    const int refusals[] = {-EDQUOT, -EAGAIN};
    weft_work work = WEFT_NO_WORK;
    for (int i = 0; i < 2; i++) {
        custom.refusal = refusals[i];
        CHECK_EQ(weft_pool_submit(pool, &work, log_it, NULL), refusals[i]);
        CHECK_EQ(work.bits, 0);
        weft_result result = result_of(pool, submit_with(pool, &stores, log_it, NULL)); /* or the work fails with it */
        CHECK_EQ(result.status, WEFT_WORK_FAILED);
        CHECK_EQ(result.error, refusals[i]);
        CHECK_EQ(result.attempts, 0);
    }
    custom.refusal = 0;
    submit_logged(pool, 1, 0);
    finish(pool, 1);
    end_pool(pool);
}

TEST(a_custom_queue_with_many_threads_loses_nothing) {
    weft_pool_options options = custom_options(&custom_queue);
    options.threads = wf_test_workers();
    weft_pool *pool = make_pool(&options);
    atomic_store(&runs, 0);
    for (int i = 0; i < MANY; i++)
        submit(pool, count_up, &runs);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    CHECK_EQ(atomic_load(&runs), MANY);
    end_pool(pool);
}

TEST(a_custom_queue_chooses_what_is_discarded) {
    const weft_work_queue *queues[] = {&custom_queue, &custom_without_discard};
    for (int i = 0; i < 2; i++) {
        weft_pool_options options = custom_options(queues[i]);
        options.max_queued = 2;
        options.rejection = WEFT_REJECT_DISCARD_QUEUED;
        weft_pool *pool = make_busy(&options);
        submit_logged(pool, 1, 1);
        submit_logged(pool, 2, 2);
        submit_logged(pool, 3, 3); /* the discard drops 2, the pop would have dropped 1 */
        finish(pool, 2);
        CHECK_EQ(order_log[0], i == 0 ? 1 : 2);
        CHECK_EQ(order_log[1], 3);
        CHECK_EQ(custom.discards, i == 0);
        end_pool(pool);
    }
}

/* ---- Priorities ---- */

TEST(higher_priorities_run_first_and_equal_ones_in_order) {
    const weft_discipline disciplines[] = {WEFT_POOL_FIFO, WEFT_POOL_DEQUE};
    const int priorities[] = {0, -1, 5, INT_MIN, 0, INT_MAX, -1, 5, 1, INT_MIN};
    const int expected[] = {5, 2, 7, 8, 0, 4, 1, 6, 3, 9};
    for (int d = 0; d < 2; d++) {
        weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1, .discipline = disciplines[d]});
        for (int i = 0; i < 10; i++)
            submit_logged(pool, i, priorities[i]);
        finish(pool, 10);
        for (int i = 0; i < 10; i++)
            CHECK_EQ(order_log[i], expected[i]);
        end_pool(pool);
    }
}

TEST(lifo_reverses_the_order_within_a_priority) {
    weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1, .discipline = WEFT_POOL_LIFO});
    const int priorities[] = {0, 3, 0, 3, -3, -3};
    const int expected[] = {3, 1, 2, 0, 5, 4};
    for (int i = 0; i < 6; i++)
        submit_logged(pool, i, priorities[i]);
    finish(pool, 6);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(order_log[i], expected[i]);
    end_pool(pool);
}

TEST(a_hundred_priorities_are_kept_apart) {
    weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1});
    for (int i = 0; i < MANY; i++)
        submit_logged(pool, (i * 7) % 100 - 50, (i * 7) % 100 - 50);
    finish(pool, MANY);
    for (int i = 1; i < MANY; i++)
        CHECK_LE(order_log[i], order_log[i - 1]);
    end_pool(pool);
}

static struct {
    atomic_int high_begun;
    atomic_int high_ended;
    atomic_int low;
} two;

/* Both of them are there before either goes, so that neither thread is free for a low one before. */
static int run_high(void *arg) {
    CHECK_EQ(atomic_load(&two.low), 0);
    atomic_fetch_add(&two.high_begun, 1);
    COMPUTE_UNTIL(atomic_load(&two.high_begun) == 2);
    atomic_fetch_add(&two.high_ended, 1);
    COMPUTE_UNTIL(atomic_load(&two.high_ended) == 2);
    return (int)(intptr_t)arg;
}

static int run_low(void *arg) {
    CHECK_EQ(atomic_load(&two.high_ended), 2);
    atomic_fetch_add(&two.low, 1);
    return (int)(intptr_t)arg;
}

/* Scenario 39. */
TEST(two_threads_run_both_high_works_before_both_low_ones) {
    for (int round = 0; round < 20; round++) {
        weft_pool *pool = make_pool_of(2);
        memset(&two, 0, sizeof two);
        occupy(pool, 2);
        for (int i = 0; i < 2; i++)
            submit(pool, run_low, NULL);
        for (int i = 0; i < 2; i++)
            submit_with(pool, &(weft_work_options){.priority = 1}, run_high, NULL);
        let_go();
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
        CHECK_EQ(atomic_load(&two.low), 2);
        end_pool(pool);
    }
}

/* ---- Stealing ---- */

static weft_placement local_placement;

/* Its thread is busy until others have run all of them: they can only be stolen. */
static int submit_and_stay(void *arg) {
    for (int i = 0; i < LOCALS; i++)
        submit_with(weft_work_pool(), &(weft_work_options){.placement = local_placement}, count_up, &runs);
    COMPUTE_UNTIL(atomic_load(&runs) == LOCALS);
    return (int)(intptr_t)arg;
}

static uint64_t steals_of(weft_discipline discipline, bool steal_one, weft_placement placement) {
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 2, .discipline = discipline, .steal_one = steal_one});
    atomic_store(&runs, 0);
    local_placement = placement;
    submit(pool, submit_and_stay, NULL);
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    uint64_t stolen = pool_stats(pool).stolen;
    end_pool(pool);
    return stolen;
}

TEST(works_of_a_busy_thread_are_stolen_one_by_one_or_by_halves) {
    CHECK_EQ(steals_of(WEFT_POOL_FIFO, true, WEFT_PLACE_LOCAL), LOCALS);
    uint64_t by_halves = steals_of(WEFT_POOL_FIFO, false, WEFT_PLACE_LOCAL);
    CHECK_GE(by_halves, 1);
    CHECK_LE(by_halves, LOCALS);
    CHECK_EQ(steals_of(WEFT_POOL_DEQUE, true, WEFT_PLACE_LOCAL), LOCALS);
    CHECK_GE(steals_of(WEFT_POOL_DEQUE, false, WEFT_PLACE_LOCAL), 1);
    CHECK_GE(steals_of(WEFT_POOL_LIFO, true, WEFT_PLACE_LOCAL), 1);
    steals_of(WEFT_POOL_FIFO, false, WEFT_PLACE_SHARED);
    steals_of(WEFT_POOL_FIFO, false, WEFT_PLACE_IDLE_THEN_LOCAL);
    steals_of(WEFT_POOL_DEQUE, false, WEFT_PLACE_IDLE_THEN_LOCAL);
}

static int submit_tree(void *arg) {
    intptr_t depth = (intptr_t)arg;
    atomic_fetch_add(&runs, 1);
    for (int i = 0; i < 2 && depth > 0; i++)
        CHECK_EQ(weft_pool_submit(weft_work_pool(), NULL, submit_tree, (void *)(depth - 1)), 0);
    return 0;
}

TEST(every_discipline_placement_and_way_of_stealing_runs_a_tree_once) {
    const unsigned threads[] = {wf_test_workers(), 33};
    for (int discipline = WEFT_POOL_FIFO; discipline <= WEFT_POOL_DEQUE; discipline++)
        for (int placement = WEFT_PLACE_SHARED; placement <= WEFT_PLACE_IDLE_THEN_LOCAL; placement++)
            for (int i = 0; i < 4; i++) {
                weft_pool *pool = make_pool(&(weft_pool_options){.threads = threads[i / 2],
                                                                 .discipline = (weft_discipline)discipline,
                                                                 .placement = (weft_placement)placement,
                                                                 .steal_one = i % 2});
                atomic_store(&runs, 0);
                submit(pool, submit_tree, (void *)7);
                CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
                CHECK_EQ(atomic_load(&runs), 255);
                end_pool(pool);
            }
}

/* ---- No room ---- */

static atomic_int rejections;
static atomic_int discards;

static int count_rejections(const weft_pool_event *event, void *arg) {
    (void)arg;
    atomic_fetch_add(&rejections, event->kind == WEFT_POOL_WORK_REJECTED);
    atomic_fetch_add(&discards, event->kind == WEFT_POOL_WORK_DISCARDED);
    return 0;
}

/* Scenario 31: four threads with eight blockers, four of which are queued, and there is no room for more. */
static weft_pool *make_full(weft_rejection rejection, weft_work queued[THREADS]) {
    weft_pool *pool = make_pool(&(weft_pool_options){
        .threads = THREADS, .max_queued = THREADS, .rejection = rejection, .handler = count_rejections});
    atomic_store(&rejections, 0);
    atomic_store(&discards, 0);
    atomic_store(&runs, 0);
    occupy(pool, THREADS);
    for (int i = 0; i < THREADS; i++)
        queued[i] = submit_with(pool, &stores, keep_busy, NULL);
    CHECK_EQ(pool_stats(pool).queued, THREADS);
    return pool;
}

static void check_rejected(weft_pool *pool, int succeeded, int discarded) {
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    weft_pool_stats stats = pool_stats(pool);
    CHECK_EQ(stats.rejected, (unsigned)atomic_load(&rejections));
    CHECK_EQ(stats.discarded, discarded);
    CHECK_EQ(atomic_load(&discards), discarded);
    CHECK_EQ(stats.succeeded, succeeded);
    CHECK_EQ(stats.cancelled, discarded);
    end_pool(pool);
}

static void abort_when_full(void) {
    weft_work queued[THREADS], work = WEFT_NO_WORK;
    weft_pool *pool = make_full(WEFT_REJECT_ABORT, queued);
    CHECK_EQ(weft_pool_submit(pool, &work, count_up, &runs), -EAGAIN);
    CHECK_EQ(weft_pool_submit_with(pool, &work, &stores, count_up, &runs), -EAGAIN);
    CHECK_EQ(work.bits, 0);
    CHECK_EQ(atomic_load(&rejections), 2);
    CHECK_EQ(weft_pool_submit_with(pool, NULL, &(weft_work_options){.long_running = true}, count_up, &runs), 0);
    let_go();
    CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0);
    submit(pool, count_up, &runs); /* there is room again */
    check_rejected(pool, 2 * THREADS + 2, 0);
}

TEST(rejection_by_abort_is_an_error_of_the_submit) {
    everywhere(abort_when_full);
}

static pthread_t runner_thread;

static int note_thread(void *arg) {
    runner_thread = pthread_self();
    CHECK(weft_work_self().bits != 0);
    return count_up(arg);
}

static void run_when_full(void) {
    weft_work queued[THREADS];
    weft_pool *pool = make_full(WEFT_REJECT_CALLER_RUNS, queued);
    weft_work outer = weft_work_self();
    weft_work work = submit_with(pool, &stores, note_thread, &runs);
    CHECK_EQ(atomic_load(&runs), 1);
    CHECK(pthread_equal(runner_thread, pthread_self()));
    CHECK_EQ(weft_work_self().bits, outer.bits);
    weft_result result;
    CHECK_EQ(weft_pool_poll_work(pool, work, &result), 0);
    CHECK_EQ(result.status, WEFT_WORK_SUCCEEDED);
    CHECK_EQ(atomic_load(&rejections), 1);
    check_rejected(pool, 2 * THREADS + 1, 0);
}

TEST(rejection_by_caller_runs_is_done_when_the_submit_returns) {
    everywhere(run_when_full);
}

static void discard_when_full(void) {
    weft_work queued[THREADS];
    weft_pool *pool = make_full(WEFT_REJECT_DISCARD, queued);
    weft_result result = result_of(pool, submit_with(pool, &stores, count_up, &runs));
    CHECK_EQ(result.status, WEFT_WORK_CANCELLED);
    CHECK_EQ(result.error, -ECANCELED);
    CHECK_EQ(atomic_load(&rejections), 1);
    check_rejected(pool, 2 * THREADS, 1);
    CHECK_EQ(atomic_load(&runs), 0);
}

TEST(rejection_by_discard_ends_the_new_work_at_once) {
    everywhere(discard_when_full);
}

static void discard_queued_when_full(void) {
    weft_work queued[THREADS];
    weft_pool *pool = make_full(WEFT_REJECT_DISCARD_QUEUED, queued);
    submit(pool, count_up, &runs);
    CHECK_EQ(result_of(pool, queued[0]).status, WEFT_WORK_CANCELLED); /* the oldest */
    CHECK_EQ(weft_pool_poll_work(pool, queued[1], NULL), -EAGAIN);
    CHECK_EQ(atomic_load(&rejections), 1);
    check_rejected(pool, 2 * THREADS, 1);
    CHECK_EQ(atomic_load(&runs), 1);
}

TEST(rejection_by_discard_queued_drops_the_oldest_queued_work) {
    everywhere(discard_queued_when_full);
}

TEST(discard_queued_drops_the_lowest_priority_first) {
    for (int discipline = WEFT_POOL_FIFO; discipline <= WEFT_POOL_DEQUE; discipline++) {
        weft_pool *pool = make_busy(&(weft_pool_options){.threads = 1,
                                                         .discipline = (weft_discipline)discipline,
                                                         .max_queued = 3,
                                                         .rejection = WEFT_REJECT_DISCARD_QUEUED});
        const int priorities[] = {0, -4, 7, -4, 7, 9}; /* drops 1, then 3, then 0 */
        for (int i = 0; i < 6; i++)
            submit_logged(pool, i, priorities[i]);
        finish(pool, 3);
        CHECK_EQ(order_log[0], 5);
        CHECK_EQ(order_log[1] + order_log[2], 2 + 4);
        CHECK_EQ(pool_stats(pool).discarded, 3);
        end_pool(pool);
    }
}

static atomic_int blocked;

static int submit_blocking(void *arg) {
    atomic_fetch_add(&blocked, 1);
    return weft_pool_submit(arg, NULL, count_up, &runs);
}

static void *submit_blocking_on_thread(void *arg) {
    CHECK_EQ(submit_blocking(arg), 0);
    return NULL;
}

static void block_when_full(void) {
    weft_work queued[THREADS];
    weft_pool *pool = make_full(WEFT_REJECT_BLOCK, queued);
    weft_work_options soon = {.submit_deadline = weft_after(WEFT_MILLISECOND)};
    struct on_thread_call call;
    atomic_store(&blocked, 0);
    CHECK_EQ(weft_pool_submit_with(pool, NULL, &soon, count_up, &runs), -ETIMEDOUT);
    CHECK_EQ(status_when_cancelled(submit_blocking, pool), -ECANCELED);
    weft_fiber fiber = spawn_parked(submit_blocking_on_thread, pool);
    on_thread_start(&call, submit_blocking_on_thread, pool);
    WAIT_UNTIL(atomic_load(&blocked) == 3);
    CHECK_EQ(atomic_load(&runs), 0);
    let_go();
    JOIN(fiber, NULL);
    on_thread_finish(&call);
    check_rejected(pool, 2 * THREADS + 2, 0);
    CHECK_EQ(atomic_load(&runs), 2);
}

TEST(rejection_by_block_waits_for_room_or_the_deadline) {
    run_fibers(block_when_full);
}

TEST(a_work_that_is_cancelled_in_the_queue_makes_room) {
    weft_work queued[THREADS];
    weft_pool *pool = make_full(WEFT_REJECT_ABORT, queued);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, queued[1]), 0);
    CHECK_EQ(pool_stats(pool).queued, THREADS - 1);
    CHECK_EQ(weft_pool_submit(pool, NULL, count_up, &runs), 0);
    CHECK_EQ(weft_pool_submit(pool, NULL, count_up, &runs), -EAGAIN);
    let_go();
    end_pool(pool);
    CHECK_EQ(atomic_load(&runs), 1);
}

static void cancel_for_room(void) {
    weft_work queued[THREADS];
    weft_pool *pool = make_full(WEFT_REJECT_BLOCK, queued);
    weft_fiber fiber = spawn_parked(submit_blocking_on_thread, pool);
    CHECK_EQ(weft_pool_control(pool, WEFT_CANCEL, queued[2]), 0);
    JOIN(fiber, NULL); /* the threads are still busy */
    let_go();
    end_pool(pool);
    CHECK_EQ(atomic_load(&runs), 1);
}

TEST(a_work_that_is_cancelled_in_the_queue_lets_a_blocked_submit_go_on) {
    run_fibers(cancel_for_room);
}

TEST(held_and_running_works_do_not_count_against_the_limit) {
    weft_pool *pool = make_pool(&(weft_pool_options){.threads = 1, .max_queued = 1});
    weft_work_id later = {.text = "later"};
    weft_work_options after = {.after_ids = &later, .after_id_count = 1};
    atomic_store(&runs, 0);
    occupy(pool, 1);
    for (int i = 0; i < 5; i++)
        submit_with(pool, &after, count_up, &runs);
    submit_with(pool, &(weft_work_options){.id = later}, count_up, &runs);
    CHECK_EQ(weft_pool_submit(pool, NULL, count_up, &runs), -EAGAIN);
    let_go();
    end_pool(pool);
    CHECK_EQ(atomic_load(&runs), 6);
}
