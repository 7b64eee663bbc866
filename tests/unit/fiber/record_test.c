/* SPDX-License-Identifier: MIT
 *
 * unit/fiber/record_test.c - records and ids: unique, stale when they should be, limited in number.
 *
 * Generations are put forward by hand where a test would otherwise have to live through four thousand million of them.
 */
#include "fiber/fiber.h"
#include "support/run.h"

static atomic_int gate;

static void *wait_at_gate(void *arg) {
    WAIT_UNTIL(atomic_load(&gate));
    return arg;
}

static void *end_at_once(void *arg) {
    return arg;
}

static void *own_id(void *opaque) {
    *(weft_fiber *)opaque = weft_self();
    return NULL;
}

static void self_body(void) {
    weft_fiber child, seen = WEFT_NO_FIBER;
    CHECK_NE(weft_self().bits, 0);
    SPAWN(&child, own_id, &seen);
    JOIN(child, NULL);
    CHECK_EQ(seen.bits, child.bits);
    CHECK_NE(child.bits, weft_self().bits);
}

TEST(self_is_the_id_that_spawn_gave) {
    CHECK_EQ(weft_self().bits, 0);
    run_fibers(self_body);
    CHECK_EQ(weft_self().bits, 0);
}

enum { MANY = 300 };

static int compare_ids(const void *left, const void *right) {
    uint64_t a = ((const weft_fiber *)left)->bits, b = ((const weft_fiber *)right)->bits;
    return a < b ? -1 : a > b;
}

static void unique_body(void) {
    weft_fiber fibers[MANY];
    atomic_store(&gate, 0);
    for (int i = 0; i < MANY; i++)
        SPAWN(&fibers[i], wait_at_gate, NULL);
    qsort(fibers, MANY, sizeof fibers[0], compare_ids);
    for (int i = 1; i < MANY; i++)
        CHECK_NE(fibers[i - 1].bits, fibers[i].bits);
    atomic_store(&gate, 1);
    for (int i = 0; i < MANY; i++)
        JOIN(fibers[i], NULL);
}

TEST(ids_of_living_fibers_are_all_different) {
    run_fibers(unique_body);
}

static void reuse_body(void) {
    weft_fiber first, next;
    SPAWN(&first, end_at_once, NULL);
    JOIN(first, NULL);
    for (int i = 0; i < 1000; i++) {
        SPAWN(&next, end_at_once, NULL);
        CHECK_NE(next.bits, first.bits);
        CHECK_EQ(weft_join(first, NULL, WEFT_NOW), -ESTALE);
        JOIN(next, NULL);
    }
}

TEST(an_old_id_stays_stale_while_its_record_serves_others) {
    run_fibers(reuse_body);
}

/* Puts every free record of this processor to its last generation. */
static void age_free_records(void) {
    struct wf_fiber_processor *processor = (struct wf_fiber_processor *)wf_worker_self()->base.processor;
    for (struct wf_fiber *fiber = processor->free_records; fiber; fiber = (struct wf_fiber *)(void *)fiber->task.next)
        wf_store_relaxed(&fiber->task.version, UINT32_MAX);
}

static void wrap_body(void) {
    weft_fiber last, first;
    CHECK_EQ(weft_pin(), 0);
    SPAWN(&last, end_at_once, NULL); /* fills the processor's list */
    JOIN(last, NULL);
    age_free_records();
    SPAWN(&last, end_at_once, NULL);
    CHECK_EQ(last.bits >> 32, UINT32_MAX);
    JOIN(last, NULL);
    CHECK_EQ(weft_join(last, NULL, WEFT_NOW), -ESTALE);
    uint32_t index = (uint32_t)last.bits;
    for (int i = 0; i < 1000; i++) {
        SPAWN(&first, end_at_once, NULL);
        CHECK_NE(first.bits >> 32, 0);
        if ((uint32_t)first.bits == index)
            CHECK_LE(first.bits >> 32, 1001);
        CHECK_EQ(weft_join(last, NULL, WEFT_NOW), -ESTALE);
        JOIN(first, NULL);
    }
    weft_unpin();
}

TEST(generations_wrap_past_zero) {
    run_fibers(wrap_body);
}

enum { FEW = 10 };

static void limit_body(void) {
    weft_fiber fibers[FEW];
    int count = 0, error = 0;
    atomic_store(&gate, 0);
    while (count < FEW && (error = weft_spawn(&fibers[count], wait_at_gate, NULL)) == 0)
        count++;
    CHECK_EQ(error, -EAGAIN);
    CHECK_GE(count, FEW - 3); /* this fiber and the runtime's own count as well */
    CHECK_EQ(weft_go(end_at_once, NULL), -EAGAIN);
    atomic_store(&gate, 1);
    for (int i = 0; i < count; i++)
        JOIN(fibers[i], NULL);
    for (int i = 0; i < 100; i++) { /* and there is room again */
        CHECK_EQ(weft_spawn(&fibers[0], end_at_once, NULL), 0);
        JOIN(fibers[0], NULL);
    }
}

TEST(more_fibers_than_allowed_are_refused_with_eagain) {
    weft_options options = {.max_fibers = FEW};
    run_fibers_with(&options, limit_body);
}

static int spawn_everywhere_error;
static atomic_int arrived;

/* One such fiber on each worker: none leaves before all have come. */
static void *spawn_on_this_worker(void *arg) {
    weft_fiber fiber;
    CHECK_EQ(weft_pin(), 0);
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < (int)wf_test_workers())
        sched_yield();
    for (int i = 0; i < 50; i++) {
        int error = weft_spawn(&fiber, end_at_once, NULL);
        if (error)
            spawn_everywhere_error = error;
        else
            JOIN(fiber, NULL);
    }
    weft_unpin();
    return arg;
}

static void everywhere_body(void) {
    weft_fiber fibers[16];
    unsigned workers = wf_test_workers();
    atomic_store(&arrived, 0);
    spawn_everywhere_error = 0;
    for (unsigned i = 0; i < workers; i++)
        SPAWN(&fibers[i], spawn_on_this_worker, NULL);
    for (unsigned i = 0; i < workers; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(spawn_everywhere_error, 0);
}

TEST(a_small_limit_can_be_used_up_from_any_worker) {
    weft_options options = {.max_fibers = 40}; /* at most 2 + 2 * 8 exist at once */
    run_fibers_with(&options, everywhere_body);
}

static void *parent_of_three(void *opaque) {
    weft_fiber *ids = opaque;
    weft_fiber child, parent;
    ids[0] = weft_self();
    SPAWN(&child, wait_at_gate, NULL);
    CHECK_EQ(weft_parent(child, &parent), 0);
    CHECK_EQ(parent.bits, ids[0].bits);
    ids[1] = child;
    return NULL;
}

static void parent_body(void) {
    weft_fiber ids[2], fiber, parent;
    atomic_store(&gate, 0);
    SPAWN(&fiber, parent_of_three, ids);
    JOIN(fiber, NULL);
    CHECK_EQ(weft_parent(ids[1], &parent), 0);
    CHECK_EQ(parent.bits, ids[0].bits); /* also when the parent is gone */
    CHECK_EQ(weft_join(parent, NULL, WEFT_NOW), -ESTALE);
    CHECK_EQ(weft_parent(ids[1], NULL), -EINVAL);
    atomic_store(&gate, 1);
    JOIN(ids[1], NULL);
    CHECK_EQ(weft_parent(ids[1], &parent), -ESTALE);
}

TEST(a_fiber_knows_its_parent_also_when_that_is_gone) {
    run_fibers(parent_body);
}

static void *spawn_from_thread(void *opaque) {
    CHECK_EQ(weft_spawn(opaque, end_at_once, &gate), 0);
    atomic_store(&arrived, 1);
    return NULL;
}

static void outside_body(void) {
    weft_fiber fiber, parent = {1};
    void *result = NULL;
    atomic_store(&arrived, 0);
    pthread_t thread = thread_start(spawn_from_thread, &fiber);
    WAIT_UNTIL(atomic_load(&arrived));
    thread_join(thread);
    CHECK_EQ(weft_parent(fiber, &parent), 0);
    CHECK_EQ(parent.bits, 0);
    JOIN(fiber, &result);
    CHECK(result == &gate);
}

TEST(a_fiber_of_a_plain_thread_has_no_parent) {
    run_fibers(outside_body);
}

TEST(spawn_refuses_what_makes_no_sense) {
    weft_fiber fiber;
    weft_spawn_options options = {0};
    CHECK_EQ(weft_go(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_spawn(NULL, end_at_once, NULL), -EINVAL);
    CHECK_EQ(weft_spawn(&fiber, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_spawn_with(&fiber, NULL, end_at_once, NULL), -EINVAL);
    CHECK_EQ(weft_spawn_with(NULL, &options, end_at_once, NULL), -EINVAL);
    options.stack_size = ((size_t)1 << 30) + 1;
    CHECK_EQ(weft_spawn_with(&fiber, &options, end_at_once, NULL), -EINVAL);
    options = (weft_spawn_options){.priority = (weft_priority)3};
    CHECK_EQ(weft_spawn_with(&fiber, &options, end_at_once, NULL), -EINVAL);
    options = (weft_spawn_options){.runtime = (weft_runtime *)&options};
    CHECK_EQ(weft_spawn_with(&fiber, &options, end_at_once, NULL), -ESTALE);
    CHECK_EQ(weft_go(end_at_once, NULL), -ESRCH);
    CHECK_EQ(weft_spawn(&fiber, end_at_once, NULL), -ESRCH);
}
