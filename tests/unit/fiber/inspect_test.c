/* SPDX-License-Identifier: MIT
 *
 * unit/fiber/inspect_test.c - stopping the world and looking at every fiber.
 *
 * A stopped world is proven by a counter that other fibers raise as fast as they can: it does not move meanwhile.
 */
#include "support/child.h"
#include "support/run.h"

static atomic_int gate;
static atomic_long beats;

static void *wait_at_gate(void *arg) {
    WAIT_UNTIL(atomic_load(&gate));
    return arg;
}

static void *beat(void *arg) {
    while (!atomic_load(&gate)) {
        atomic_fetch_add(&beats, 1);
        weft_yield();
    }
    return arg;
}

struct census {
    int seen[WEFT_FIBER_ENDED + 1];
    int named;
    int with_stack;
    weft_fiber child;
    bool found_child;
    int limit;
};

static int count_fiber(const weft_fiber_info *info, void *opaque) {
    struct census *census = opaque;
    CHECK(info->name != NULL);
    CHECK_LE(info->state, WEFT_FIBER_ENDED);
    census->seen[info->state]++;
    census->named += strcmp(info->name, "somebody") == 0;
    if (info->stack_low) {
        census->with_stack++;
        CHECK((const char *)info->stack_low <= (const char *)info->stack_high);
        CHECK((size_t)((const char *)info->stack_high - (const char *)info->stack_low) <= info->stack_size);
    }
    if (info->fiber.bits == census->child.bits) {
        census->found_child = true;
        CHECK(info->entry == wait_at_gate);
        CHECK_EQ(info->parent.bits, weft_self().bits);
        CHECK(info->arg == &gate);
    }
    return census->limit && --census->limit == 0 ? 77 : 0;
}

static void census_body(void) {
    struct census census = {0};
    weft_stats stats;
    weft_fiber named;
    weft_spawn_options options = {.name = "somebody"};
    atomic_store(&gate, 0);
    SPAWN(&census.child, wait_at_gate, &gate);
    CHECK_EQ(weft_spawn_with(&named, &options, wait_at_gate, NULL), 0);
    for (int i = 0; i < 10; i++)
        weft_yield();
    CHECK_EQ(weft_world_stop(), 0);
    CHECK_EQ(weft_world_stop(), -EBUSY);
    CHECK_EQ(weft_each_fiber(NULL, count_fiber, &census), 0);
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    struct census first = {.limit = 2};
    CHECK_EQ(weft_each_fiber(NULL, count_fiber, &first), 77);
    weft_world_start();
    CHECK(census.found_child);
    CHECK_EQ(census.named, 1);
    CHECK_EQ(census.seen[WEFT_FIBER_RUNNING], 1);
    int all = 0;
    for (int i = 0; i <= WEFT_FIBER_ENDED; i++)
        all += census.seen[i];
    CHECK_EQ(all, stats.fibers_alive);
    CHECK_EQ(census.with_stack, all - census.seen[WEFT_FIBER_NEW]);
    atomic_store(&gate, 1);
    JOIN(census.child, NULL);
    JOIN(named, NULL);
    CHECK_EQ(weft_each_fiber(NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_each_fiber((weft_runtime *)&census, count_fiber, &census), -ESTALE);
}

TEST(each_fiber_shows_all_of_them_with_their_stacks_in_a_stopped_world) {
    run_fibers(census_body);
    CHECK_EQ(weft_each_fiber(NULL, count_fiber, NULL), -ESTALE);
}

static int count_only(const weft_fiber_info *info, void *opaque) {
    CHECK_NE(info->fiber.bits, 0);
    CHECK(info->stack_low == NULL);
    ++*(int *)opaque;
    return 0;
}

static void *come_and_go(void *arg) {
    for (long i = 0; i < scaled(2000, 50); i++) {
        weft_fiber child;
        SPAWN(&child, beat, NULL);
        JOIN(child, NULL);
        CHECK_EQ(weft_set_priority(i % 2 ? WEFT_PRIORITY_HIGH : WEFT_PRIORITY_NORMAL), 0);
    }
    atomic_fetch_add(&beats, 1000000000);
    return arg;
}

static void blurred_body(void) {
    weft_fiber fibers[4];
    atomic_store(&gate, 1);
    atomic_store(&beats, 0);
    for (int i = 0; i < 4; i++)
        SPAWN(&fibers[i], come_and_go, NULL);
    while (atomic_load(&beats) < 4000000000) {
        int count = 0;
        CHECK_EQ(weft_each_fiber(NULL, count_only, &count), 0);
        CHECK_GE(count, 2);
        weft_yield();
    }
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
}

TEST(each_fiber_may_look_while_fibers_come_and_go) {
    run_fibers(blurred_body);
}

static void still_body(void) {
    weft_fiber fibers[8];
    atomic_store(&gate, 0);
    atomic_store(&beats, 0);
    for (int i = 0; i < 8; i++)
        SPAWN(&fibers[i], beat, NULL);
    for (long round = 0; round < scaled(300, 10); round++) {
        long before = atomic_load(&beats);
        WAIT_UNTIL(atomic_load(&beats) > before);
        CHECK_EQ(weft_world_stop(), 0);
        long stopped = atomic_load(&beats);
        for (int i = 0; i < 100; i++) {
            sched_yield();
            CHECK_EQ(atomic_load(&beats), stopped);
        }
        weft_world_start();
    }
    atomic_store(&gate, 1);
    for (int i = 0; i < 8; i++)
        JOIN(fibers[i], NULL);
}

TEST(nothing_runs_in_a_stopped_world) {
    run_fibers(still_body);
}

static atomic_int stoppers;

static void *stop_often(void *arg) {
    for (long i = 0; i < scaled(500, 10); i++) {
        CHECK_EQ(weft_world_stop(), 0);
        CHECK_EQ(atomic_fetch_add(&stoppers, 1), 0); /* one at a time */
        atomic_fetch_sub(&stoppers, 1);
        weft_world_start();
        if (i % 3 == 0)
            weft_yield();
        else if (i % 3 == 1)
            CHECK_EQ(weft_sleep(weft_after(WEFT_MICROSECOND)), 0);
    }
    return arg;
}

static void contend_body(void) {
    weft_fiber fibers[6];
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], stop_often, NULL);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
}

TEST(several_fibers_stop_the_world_in_turns) {
    run_fibers(contend_body);
}

static void start_body(void) {
    weft_world_start();
}

static void start_unstopped(void *arg) {
    (void)arg;
    run_fibers(start_body);
}

static void suspend_body(void) {
    CHECK_EQ(weft_world_stop(), 0);
    weft_sleep(weft_after(WEFT_MILLISECOND));
}

static void suspend_stopped(void *arg) {
    (void)arg;
    run_fibers(suspend_body);
}

TEST(breaking_the_rules_of_a_stopped_world_is_fatal) {
    CHECK_EQ(weft_world_stop(), -EPERM);
    struct child_end end = child_run(start_unstopped, NULL);
    CHECK_CHILD_FATAL(&end, "weft_world_start");
    end = child_run(suspend_stopped, NULL);
    CHECK_CHILD_FATAL(&end, "world");
}

static void *go_deep(void *arg) {
    volatile char block[90 * 1024];
    for (size_t i = 0; i < sizeof block; i += 1024)
        block[i] = (char)i;
    return arg;
}

static void depth_body(void) {
    weft_stack_use use;
    CHECK_EQ(weft_get_stack_use(NULL, go_deep, &use), -ENOENT);
    CHECK_EQ(weft_get_stack_use(NULL, NULL, &use), -EINVAL);
    CHECK_EQ(weft_get_stack_use(NULL, go_deep, NULL), -EINVAL);
    for (int i = 0; i < 2100; i++) {
        weft_fiber fiber;
        SPAWN(&fiber, go_deep, NULL);
        JOIN(fiber, NULL);
    }
    CHECK_EQ(weft_get_stack_use(NULL, go_deep, &use), 0);
    CHECK_GE(use.samples, 1);
#if !defined(__SANITIZE_ADDRESS__)
    CHECK_GE(use.deepest, 90 * 1024);
#endif
    CHECK_GE(use.next_size, use.deepest);
}

TEST(the_depth_of_stacks_is_known_by_entry_function) {
    weft_stack_use use;
    run_fibers(depth_body);
    CHECK_EQ(weft_get_stack_use(NULL, go_deep, &use), -ESTALE);
}

static weft_semaphore permits;

static void *wait_in_scope(void *arg) {
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_semaphore_acquire(&permits, 1, WEFT_NEVER), 0);
    CHECK_EQ(weft_scope_close(scope), 0);
    return arg;
}

/* Whoever has ended a wait finds that it has ended, however far its fiber is. */
static void waiting_body(void) {
    weft_fiber fiber;
    CHECK_EQ(weft_is_waiting(WEFT_NO_FIBER), -ESTALE);
    CHECK_EQ(weft_is_waiting(weft_self()), 0);
    for (long i = 0; i < scaled(2000, 50); i++) {
        SPAWN(&fiber, wait_in_scope, NULL);
        if (i % 2 == 0)
            WAIT_UNTIL(weft_is_waiting(fiber) == 1);
        weft_semaphore_release(&permits, 1);
        CHECK(weft_is_waiting(fiber) != 1);
        JOIN(fiber, NULL);
        CHECK_EQ(weft_is_waiting(fiber), -ESTALE);
    }
}

TEST(a_fiber_waits_until_somebody_has_ended_that) {
    run_fibers(waiting_body);
}
