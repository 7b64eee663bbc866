/* SPDX-License-Identifier: MIT
 *
 * stress/conserve_test.c - whatever is spawned runs once, and the counters balance.
 *
 * Trees of fibers grow at random from fibers and from plain threads, with yields, sleeps, priorities, pins, detaches and
 * joins with random deadlines. Every fiber draws a number; the oracle is that each number was run exactly once and that
 * the runtime's counters are back in balance when all is quiet.
 */
#include "support/run.h"

enum { THREADS_MAX = 8, CHILDREN_MAX = 3, NODES_MAX = 400000 };

static _Atomic uint8_t times_run[NODES_MAX];
static atomic_long next_node;
static atomic_long live;
static atomic_int threads_left;
static long node_count;
static long live_max;

static void *node_main(void *arg);

/* A number, if there is one left. */
static bool draw(long *node) {
    if (atomic_load(&next_node) >= node_count)
        return false;
    *node = atomic_fetch_add(&next_node, 1);
    return *node < node_count;
}

static void settle_child(weft_fiber child, long node, uint64_t *random) {
    void *result = NULL;
    int error = -ETIMEDOUT;
    switch (random_below(random, 4)) {
    case 0:
        CHECK_EQ(weft_detach(child), 0);
        return;
    case 1:
        error = weft_join(child, &result, WEFT_NOW);
        break;
    case 2:
        error = weft_join(child, &result, weft_after((int64_t)random_below(random, 300) * WEFT_MICROSECOND));
        break;
    default:
        break;
    }
    if (error == -ETIMEDOUT)
        error = weft_join(child, &result, WEFT_NEVER);
    CHECK_EQ(error, 0);
    CHECK_EQ((long)(intptr_t)result, node + 1);
    CHECK_EQ(weft_join(child, NULL, WEFT_NOW), -ESTALE);
}

static void spawn_child(long node, uint64_t *random) {
    static const size_t sizes[] = {0, 0, 0, 16 * 1024, 64 * 1024, 256 * 1024};
    weft_spawn_options options = {
        .name = random_below(random, 2) ? "node" : NULL,
        .stack_size = sizes[random_below(random, 6)],
        .priority = (weft_priority)random_below(random, 3),
        .detached = random_below(random, 5) == 0,
    };
    weft_fiber child;
    atomic_fetch_add(&live, 1);
    CHECK_EQ(weft_spawn_with(&child, &options, node_main, (void *)(intptr_t)node), 0);
    if (!options.detached)
        settle_child(child, node, random);
}

static void *node_main(void *arg) {
    long node = (long)(intptr_t)arg;
    uint64_t random = wf_test_seed() ^ ((uint64_t)(node + 1) * 0x9E3779B97F4A7C15u);
    atomic_fetch_add(&times_run[node], 1);
    if (random_below(&random, 4) == 0)
        weft_set_priority((weft_priority)random_below(&random, 3));
    bool is_pinned = random_below(&random, 8) == 0;
    if (is_pinned)
        CHECK_EQ(weft_pin(), 0);
    for (uint64_t i = random_below(&random, 4); i > 0; i--)
        weft_yield();
    if (random_below(&random, 16) == 0)
        CHECK_EQ(weft_sleep(weft_after((int64_t)random_below(&random, 200) * WEFT_MICROSECOND)), 0);
    long child;
    for (uint64_t i = random_below(&random, CHILDREN_MAX + 1); i > 0; i--)
        if (atomic_load(&live) < live_max && draw(&child))
            spawn_child(child, &random);
    if (is_pinned)
        weft_unpin();
    atomic_fetch_sub(&live, 1);
    return (void *)(intptr_t)(node + 1);
}

static void grow_trees(uint64_t random) {
    long node;
    for (;;) {
        WAIT_UNTIL(atomic_load(&live) < live_max);
        if (!draw(&node))
            return;
        spawn_child(node, &random);
    }
}

static void *grow_from_thread(void *arg) {
    grow_trees(wf_test_seed() + 1000 + (uintptr_t)arg);
    atomic_fetch_sub(&threads_left, 1);
    return NULL;
}

static weft_stats before; /* taken while only this fiber and what the runtime needs for itself were alive */

/* Alone again. */
static bool is_balanced(const weft_stats *stats) {
    return stats->fibers_alive == before.fibers_alive && stats->records_held == before.records_held &&
           stats->parks - stats->wakes == before.parks - before.wakes &&
           stats->timers_armed == stats->timers_fired + stats->timers_cancelled;
}

static void check_balanced(long spawned) {
    weft_stats stats;
    weft_time limit = weft_after(20 * WEFT_SECOND);
    do {
        CHECK_EQ(weft_get_stats(NULL, &stats), 0);
        weft_yield();
    } while (!is_balanced(&stats) && weft_now() < limit);
    CHECK_EQ(stats.fibers_started, spawned + (long)before.fibers_started);
    CHECK_EQ(stats.fibers_alive, before.fibers_alive);
    CHECK_EQ(stats.records_held, before.records_held);
    CHECK_EQ(stats.parks - stats.wakes, before.parks - before.wakes);
    CHECK_EQ(stats.timers_armed, stats.timers_fired + stats.timers_cancelled);
    CHECK_EQ(stats.panics, 0);
    CHECK_LE(stats.fibers_started, stats.switches);
    uint64_t spread[64] = {0}, sum = 0;
    int workers = weft_get_spread(NULL, spread, 64);
    CHECK_EQ(workers, stats.workers);
    for (int i = 0; i < workers; i++)
        sum += spread[i];
    CHECK_GE(sum, stats.switches);
}

static void grow_everywhere(void) {
    pthread_t threads[THREADS_MAX];
    CHECK_EQ(weft_get_stats(NULL, &before), 0);
    int count = 1 + (int)(wf_test_seed() / 2 % THREADS_MAX);
    atomic_store(&threads_left, count);
    for (int i = 0; i < count; i++)
        threads[i] = thread_start(grow_from_thread, (void *)(intptr_t)i);
    grow_trees(wf_test_seed());
    while (atomic_load(&threads_left) > 0)
        weft_sleep(weft_after(WEFT_MILLISECOND));
    for (int i = 0; i < count; i++)
        thread_join(threads[i]);
    WAIT_UNTIL(atomic_load(&live) == 0);
    check_balanced(node_count);
    printf("    %ld fibers from %d threads and from each other\n", node_count, count);
}

TEST(every_fiber_of_a_random_tree_runs_exactly_once) {
    node_count = scaled(IS_SANITIZED ? NODES_MAX / 2 : NODES_MAX, 1);
    live_max = IS_SANITIZED ? 300 : 5000;
    run_fibers(grow_everywhere);
    for (long i = 0; i < node_count; i++)
        CHECK_EQ(times_run[i], 1);
}

static void *panic_or_exit(void *arg) {
    uintptr_t number = (uintptr_t)arg;
    weft_yield();
    if (number % 3 == 0)
        weft_panic("number %lu", (unsigned long)number);
    if (number % 3 == 1)
        weft_exit(arg);
    return arg;
}

static void end_in_every_way(void) {
    long count = scaled(30000, 300);
    CHECK_EQ(weft_get_stats(NULL, &before), 0);
    for (long i = 0; i < count; i++) {
        weft_fiber fiber;
        void *result = &fiber;
        SPAWN(&fiber, panic_or_exit, (void *)i);
        int error = weft_join(fiber, &result, WEFT_NEVER);
        CHECK_EQ(error, i % 3 == 0 ? -EOWNERDEAD : 0);
        CHECK(result == (i % 3 == 0 ? NULL : (void *)i));
    }
    weft_stats stats; /* a joiner may be faster than the worker that counts the end */
    WAIT_UNTIL(weft_get_stats(NULL, &stats) == 0 && stats.records_held == before.records_held);
    CHECK_EQ(stats.panics, (count + 2) / 3);
}

TEST(fibers_that_return_exit_and_panic_leave_nothing_behind) {
    run_fibers_with(&(weft_options){.quiet = true}, end_in_every_way);
}
