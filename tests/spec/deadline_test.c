/* SPDX-License-Identifier: MIT
 *
 * spec/deadline_test.c - every call that can block ends at its deadline, never before it, and leaves no trace.
 *
 * The calls are those of spec/blocking.h. How late a deadline may be is not asserted: that depends on the machine. Scopes
 * have deadlines too, which cancel what is inside; they go down the tree and never up.
 */
#include "spec/blocking.h"

static void check_deadline(const struct blocking_kind *kind, int64_t distance) {
    kind->prepare();
    weft_time deadline = weft_after(distance);
    int status = kind->wait(deadline);
    if (status != -ETIMEDOUT)
        fprintf(stderr, "%s: %d\n", kind->name, status);
    CHECK_EQ(status, -ETIMEDOUT);
    CHECK_GE(weft_now(), deadline);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    kind->check_and_drop();
}

/* Whoever prepares a mutex holds it, and may not lock it again; so somebody else waits. */
static void *wait_main(void *opaque) {
    static const int64_t distances[] = {1, 50 * WEFT_MICROSECOND, 2 * WEFT_MILLISECOND};
    const struct blocking_kind *kind = opaque;
    for (size_t i = 0; i < sizeof distances / sizeof distances[0]; i++) {
        weft_time deadline = weft_after(distances[i]);
        int status = kind->wait(deadline);
        if (status != -ETIMEDOUT)
            fprintf(stderr, "%s: %d\n", kind->name, status);
        CHECK_EQ(status, -ETIMEDOUT);
        CHECK_GE(weft_now(), deadline);
    }
    return NULL;
}

static void fiber_body(void) {
    for (int i = 0; i < BLOCKING_KINDS; i++) {
        weft_fiber fiber;
        blocking_kinds[i].prepare();
        SPAWN(&fiber, wait_main, (void *)(uintptr_t)&blocking_kinds[i]);
        JOIN(fiber, NULL);
        blocking_kinds[i].check_and_drop();
    }
}

TEST(deadline_of_every_call_passes_and_never_early) {
    run_fibers(fiber_body);
}

/* Inside something that can be cancelled a wait is built differently. */
static int wait_child(void *opaque) {
    wait_main(opaque);
    return 0;
}

static int wait_scope(weft_scope *scope, void *opaque) {
    return weft_scope_go(scope, wait_child, opaque);
}

static void scope_body(void) {
    for (int i = 0; i < BLOCKING_KINDS; i++) {
        blocking_kinds[i].prepare();
        CHECK_EQ(weft_scope_run(NULL, wait_scope, (void *)(uintptr_t)&blocking_kinds[i]), 0);
        blocking_kinds[i].check_and_drop();
    }
}

TEST(deadline_of_every_call_passes_inside_a_scope_as_well) {
    run_fibers(scope_body);
}

static bool is_for_fibers(const struct blocking_kind *kind) {
    return strstr(kind->name, "scope") != NULL;
}

struct visit {
    const struct blocking_kind *kind;
    atomic_int is_done;
};

static void *thread_main(void *opaque) {
    struct visit *visit = opaque;
    wait_main((void *)(uintptr_t)visit->kind);
    atomic_store(&visit->is_done, 1);
    return NULL;
}

static void thread_body(void) {
    for (int i = 0; i < BLOCKING_KINDS; i++) {
        struct visit visit = {.kind = &blocking_kinds[i]};
        if (is_for_fibers(visit.kind))
            continue;
        visit.kind->prepare();
        pthread_t thread = thread_start(thread_main, &visit);
        WAIT_UNTIL(atomic_load(&visit.is_done));
        thread_join(thread);
        visit.kind->check_and_drop();
    }
}

TEST(deadline_of_every_call_passes_on_a_plain_thread) {
    run_fibers(thread_body);
}

/* Workers that never pause but to yield do not keep a deadline from passing. */
static atomic_int is_over;

static void *hog(void *arg) {
    while (!atomic_load(&is_over))
        weft_yield();
    return arg;
}

static void hog_body(void) {
    enum { HOGS = 16 };
    weft_fiber hogs[HOGS];
    atomic_store(&is_over, 0);
    for (int i = 0; i < HOGS; i++)
        SPAWN(&hogs[i], hog, NULL);
    for (int i = 0; i < BLOCKING_KINDS; i++)
        if (strcmp(blocking_kinds[i].name, "mutex") != 0)
            check_deadline(&blocking_kinds[i], 100 * WEFT_MICROSECOND);
    atomic_store(&is_over, 1);
    for (int i = 0; i < HOGS; i++)
        JOIN(hogs[i], NULL);
}

TEST(deadline_passes_while_all_workers_are_busy) {
    run_fibers(hog_body);
}

/* Whichever comes first, the deadline of the call or that of the scope, says its name. */
static int wait_with_far_deadline(void *opaque) {
    const struct blocking_kind *kind = opaque;
    weft_time limit = weft_deadline();
    CHECK_NE(limit, WEFT_NEVER);
    int status = kind->wait(weft_after(1000 * PATIENCE_NS));
    if (status != -ECANCELED)
        fprintf(stderr, "%s: %d\n", kind->name, status);
    CHECK_EQ(status, -ECANCELED);
    CHECK_GE(weft_now(), limit);
    CHECK_EQ(weft_cancel_reason(NULL, 0), -ETIMEDOUT);
    return 0;
}

static int far_scope(weft_scope *scope, void *opaque) {
    return weft_scope_go(scope, wait_with_far_deadline, opaque);
}

static void scope_deadline_body(void) {
    for (int i = 0; i < BLOCKING_KINDS; i++) {
        weft_scope_options options = {.deadline = weft_after(200 * WEFT_MICROSECOND)};
        blocking_kinds[i].prepare();
        CHECK_EQ(weft_scope_run(&options, far_scope, (void *)(uintptr_t)&blocking_kinds[i]), -ETIMEDOUT);
        CHECK_GE(weft_now(), options.deadline);
        blocking_kinds[i].check_and_drop();
    }
}

TEST(deadline_of_a_scope_cancels_every_wait_inside_it) {
    run_fibers(scope_deadline_body);
}

/* Down the tree and not up. */
static int inner_body(weft_scope *scope, void *opaque) {
    (void)scope;
    weft_time *seen = opaque;
    *seen = weft_deadline();
    return 0;
}

static weft_time deadline_inside(weft_time deadline) {
    weft_scope_options options = {.deadline = deadline};
    weft_time seen = 0;
    CHECK_EQ(weft_scope_run(&options, inner_body, &seen), 0);
    return seen;
}

static void tree_body(void) {
    weft_time far = weft_after(PATIENCE_NS), farther = weft_after(2 * PATIENCE_NS);
    weft_scope_options options = {.deadline = far};
    weft_scope *scope;
    CHECK_EQ(weft_deadline(), WEFT_NEVER);
    CHECK_EQ(deadline_inside(0), WEFT_NEVER);
    CHECK_EQ(deadline_inside(WEFT_NEVER), WEFT_NEVER);
    CHECK_EQ(deadline_inside(farther), farther);
    CHECK_EQ(weft_scope_open(&scope, &options), 0);
    CHECK_EQ(weft_deadline(), far);
    CHECK_EQ(deadline_inside(0), far);
    CHECK_EQ(deadline_inside(farther), far); /* an outer one counts if it is earlier */
    CHECK_EQ(deadline_inside(far - 1), far - 1);
    CHECK_EQ(weft_deadline(), far);
    CHECK_EQ(weft_scope_close(scope), 0);
    CHECK_EQ(weft_deadline(), WEFT_NEVER);
}

TEST(deadline_of_a_scope_is_the_earliest_of_those_around_it) {
    run_fibers(tree_body);
}

static void past_body(void) {
    static const weft_time past[] = {1, -1, -WEFT_SECOND, INT64_MIN};
    for (size_t i = 0; i < sizeof past / sizeof past[0]; i++) {
        weft_scope_options options = {.deadline = past[i]};
        weft_scope *scope;
        CHECK_EQ(weft_scope_open(&scope, &options), 0);
        CHECK_EQ(weft_sleep(weft_after(1000 * PATIENCE_NS)), -ECANCELED);
        CHECK_EQ(weft_cancel_reason(NULL, 0), -ETIMEDOUT);
        CHECK_EQ(weft_scope_close(scope), -ETIMEDOUT);
    }
}

TEST(deadline_of_a_scope_may_have_passed_already) {
    run_fibers(past_body);
}

/* The inner one passes, the outer scope goes on. */
static int outer_survives(weft_scope *outer, void *opaque) {
    (void)opaque;
    weft_scope_options options = {.deadline = weft_after(50 * WEFT_MICROSECOND)};
    weft_scope *inner;
    char text[96];
    CHECK_EQ(weft_scope_open(&inner, &options), 0);
    CHECK_EQ(weft_sleep(weft_after(1000 * PATIENCE_NS)), -ECANCELED);
    CHECK_EQ(weft_cancel_reason(text, sizeof text), -ETIMEDOUT);
    CHECK(text[0] != 0);
    CHECK_EQ(weft_scope_close(inner), -ETIMEDOUT);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_sleep(weft_after(10)), 0);
    CHECK_EQ(weft_scope_wait(outer, WEFT_NEVER), 0);
    return 8;
}

static void survive_body(void) {
    CHECK_EQ(weft_scope_run(NULL, outer_survives, NULL), 8);
}

TEST(deadline_of_an_inner_scope_leaves_the_outer_one_alone) {
    run_fibers(survive_body);
}

/* With the thread: inside a blocking region, whose processor is still there or has gone to somebody else. */
struct inside {
    const struct blocking_kind *kind;
    bool is_taken;
};

static uint64_t count_takeovers(void) {
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    return stats.takeovers;
}

static void *wait_inside_a_region(void *opaque) {
    const struct inside *inside = opaque;
    uint64_t before = count_takeovers();
    weft_blocking_begin();
    if (inside->is_taken)
        WAIT_UNTIL(count_takeovers() > before);
    wait_main((void *)(uintptr_t)inside->kind);
    weft_blocking_end();
    return opaque;
}

static void region_body(void) {
    for (int i = 0; i < 2 * BLOCKING_KINDS; i++) {
        struct inside inside = {&blocking_kinds[i / 2], i % 2};
        weft_fiber fiber;
        inside.kind->prepare();
        SPAWN(&fiber, wait_inside_a_region, &inside);
        JOIN(fiber, NULL);
        inside.kind->check_and_drop();
    }
}

TEST(deadline_of_every_call_passes_inside_a_blocking_region) {
    run_fibers(region_body);
}
