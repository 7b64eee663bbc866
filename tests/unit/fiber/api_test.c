/* SPDX-License-Identifier: MIT
 *
 * unit/fiber/api_test.c - names, priorities, pins, stack sizes: what a fiber can say about itself and others.
 *
 * Order between fibers is judged only where a single worker decides it.
 */
#include "fiber/fiber.h"
#include "support/child.h"
#include "support/run.h"

static atomic_int gate;

static void *wait_at_gate(void *arg) {
    WAIT_UNTIL(atomic_load(&gate));
    return arg;
}

static void *rename_oneself(void *arg) {
    char name[40];
    CHECK_EQ(weft_get_name(weft_self(), name, sizeof name), 0);
    CHECK_TEXT(name, "given");
    CHECK_EQ(weft_set_name("chosen"), 0);
    CHECK_EQ(weft_set_name(NULL), -EINVAL);
    atomic_fetch_add(&gate, 1);
    while (atomic_load(&gate) < 2)
        weft_yield();
    return arg;
}

static void names_body(void) {
    weft_fiber fiber;
    char name[40];
    atomic_store(&gate, 0);
    weft_spawn_options options = {.name = "given"};
    CHECK_EQ(weft_spawn_with(&fiber, &options, rename_oneself, NULL), 0);
    WAIT_UNTIL(atomic_load(&gate));
    CHECK_EQ(weft_get_name(fiber, name, sizeof name), 0);
    CHECK_TEXT(name, "chosen");
    CHECK_EQ(weft_get_name(fiber, name, 4), 0);
    CHECK_TEXT(name, "cho");
    CHECK_EQ(weft_get_name(fiber, name, 0), -EINVAL);
    CHECK_EQ(weft_get_name(fiber, NULL, 8), -EINVAL);
    atomic_store(&gate, 2);
    JOIN(fiber, NULL);
    CHECK_EQ(weft_get_name(fiber, name, sizeof name), -ESTALE);
    CHECK_EQ(weft_get_name(weft_self(), name, sizeof name), 0);
    CHECK_TEXT(name, "");
    CHECK_EQ(weft_set_name("0123456789012345678901234567890123456789"), 0);
    CHECK_EQ(weft_get_name(weft_self(), name, sizeof name), 0);
    CHECK_TEXT(name, "0123456789012345678901234567890");
}

TEST(names_are_given_chosen_cut_and_read) {
    CHECK_EQ(weft_set_name("thread"), -EPERM);
    run_fibers(names_body);
}

/* Somebody asks for the name of fibers that begin and end meanwhile. */
static void name_race_body(void) {
    weft_spawn_options options = {.name = "a name of some length"};
    for (long i = 0; i < scaled(5000, 100); i++) {
        weft_fiber fibers[4];
        atomic_store(&gate, 1);
        for (int k = 0; k < 4; k++)
            CHECK_EQ(weft_spawn_with(&fibers[k], k % 2 ? &options : &(weft_spawn_options){0}, wait_at_gate, NULL), 0);
        for (int k = 0; k < 8; k++) {
            char name[40];
            CHECK_EQ(weft_get_name(fibers[k % 4], name, sizeof name), 0);
            CHECK(name[0] == 0 || strcmp(name, options.name) == 0);
        }
        for (int k = 0; k < 4; k++)
            JOIN(fibers[k], NULL);
    }
}

TEST(a_name_can_be_read_at_any_moment_of_a_life) {
    run_fibers(name_race_body);
}

static char order[16];
static atomic_int order_length;

static void *write_letter(void *letter) {
    order[atomic_fetch_add(&order_length, 1)] = *(char *)letter;
    return NULL;
}

static void spawn_letter(weft_fiber *fiber, weft_priority priority, char *letter) {
    weft_spawn_options options = {.priority = priority};
    CHECK_EQ(weft_spawn_with(fiber, &options, write_letter, letter), 0);
}

static void priority_body(void) {
    weft_fiber fibers[6];
    memset(order, 0, sizeof order);
    atomic_store(&order_length, 0);
    CHECK_EQ(weft_sleep(WEFT_NOW), 0); /* a whole allowance of picks lies ahead */
    spawn_letter(&fibers[0], WEFT_PRIORITY_LOW, "l");
    spawn_letter(&fibers[1], WEFT_PRIORITY_NORMAL, "n");
    spawn_letter(&fibers[2], WEFT_PRIORITY_HIGH, "h");
    spawn_letter(&fibers[3], WEFT_PRIORITY_LOW, "l");
    spawn_letter(&fibers[4], WEFT_PRIORITY_NORMAL, "n");
    spawn_letter(&fibers[5], WEFT_PRIORITY_HIGH, "h");
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    if (wf_test_workers() == 1) {
        CHECK(strchr(order, 'h') < strchr(order, 'n'));
        CHECK(strrchr(order, 'h') < strrchr(order, 'l'));
    }
    CHECK_EQ(weft_set_priority(WEFT_PRIORITY_HIGH), 0);
    weft_yield();
    CHECK_EQ(weft_set_priority((weft_priority)7), -EINVAL);
    CHECK_EQ(weft_set_priority(WEFT_PRIORITY_NORMAL), 0);
}

TEST(priorities_order_what_waits_on_one_worker) {
    CHECK_EQ(weft_set_priority(WEFT_PRIORITY_HIGH), -EPERM);
    run_fibers_strictly(priority_body);
}

static void *yield_until_gate(void *arg) {
    while (!atomic_load(&gate))
        weft_yield();
    return arg;
}

static void *open_gate(void *arg) {
    atomic_store(&gate, 1);
    return arg;
}

static void low_body(void) {
    weft_fiber busy[20], low;
    atomic_store(&gate, 0);
    for (int i = 0; i < 20; i++) {
        weft_spawn_options options = {.priority = i % 2 ? WEFT_PRIORITY_HIGH : WEFT_PRIORITY_NORMAL};
        CHECK_EQ(weft_spawn_with(&busy[i], &options, yield_until_gate, NULL), 0);
    }
    weft_spawn_options options = {.priority = WEFT_PRIORITY_LOW};
    CHECK_EQ(weft_spawn_with(&low, &options, open_gate, NULL), 0);
    for (int i = 0; i < 20; i++)
        JOIN(busy[i], NULL);
    JOIN(low, NULL);
}

TEST(a_low_fiber_runs_now_and_then_while_higher_ones_never_stop) {
    run_fibers(low_body);
}

static void *pinned_life(void *arg) {
    CHECK_EQ(weft_pin(), 0);
    int64_t thread = wf_os_thread_id();
    for (int i = 0; i < 20; i++) {
        weft_yield();
        CHECK_EQ(wf_os_thread_id(), thread);
        CHECK_EQ(weft_pin(), 0); /* nests */
        CHECK_EQ(weft_sleep(weft_after(10 * WEFT_MICROSECOND)), 0);
        CHECK_EQ(wf_os_thread_id(), thread);
        weft_unpin();
        weft_fiber child;
        SPAWN(&child, open_gate, NULL);
        JOIN(child, NULL);
        CHECK_EQ(wf_os_thread_id(), thread);
    }
    weft_unpin();
    return arg;
}

static void pin_body(void) {
    weft_fiber fibers[16];
    for (int i = 0; i < 16; i++)
        SPAWN(&fibers[i], pinned_life, NULL);
    for (int i = 0; i < 16; i++)
        JOIN(fibers[i], NULL);
}

TEST(a_pinned_fiber_stays_on_its_thread_and_pins_nest) {
    CHECK_EQ(weft_pin(), -EPERM);
    run_fibers(pin_body);
}

static void unpin_body(void) {
    CHECK_EQ(weft_pin(), 0);
    weft_unpin();
    weft_unpin();
}

static void unpin_once_too_often(void *arg) {
    (void)arg;
    run_fibers(unpin_body);
}

static void unpin_on_thread(void *arg) {
    (void)arg;
    weft_unpin();
}

TEST(unpin_without_a_pin_is_fatal) {
    struct child_end end = child_run(unpin_once_too_often, NULL);
    CHECK_CHILD_FATAL(&end, "weft_unpin without");
    end = child_run(unpin_on_thread, NULL);
    CHECK_CHILD_FATAL(&end, "weft_unpin without");
}

static void *use_stack(void *arg) {
    size_t size = *(size_t *)arg;
    volatile char *block = __builtin_alloca(size);
    for (size_t i = 0; i < size; i += 4096)
        block[i] = 1;
    return NULL;
}

static void sizes_body(void) {
    const size_t sizes[] = {64 << 10, 1 << 20, 8 << 20, 16 << 20, 64u << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t used = sizes[i] - (32 << 10);
        weft_fiber fiber;
        weft_spawn_options options = {.stack_size = sizes[i]};
        CHECK_EQ(weft_spawn_with(&fiber, &options, use_stack, &used), 0);
        JOIN(fiber, NULL);
    }
}

TEST(a_stack_of_any_size_can_be_used_up_to_its_end) {
    run_fibers(sizes_body);
}

static void *large_life(void *arg) {
    weft_spawn_options options = {.stack_size = 12 << 20};
    for (long i = 0; i < scaled(200, 10); i++) {
        weft_fiber fiber;
        CHECK_EQ(weft_spawn_with(&fiber, &options, open_gate, NULL), 0);
        JOIN(fiber, NULL);
    }
    return arg;
}

static void large_body(void) {
    weft_fiber fibers[8];
    for (int i = 0; i < 8; i++)
        SPAWN(&fibers[i], large_life, NULL);
    for (int i = 0; i < 8; i++)
        JOIN(fibers[i], NULL);
}

TEST(large_stacks_come_and_go_on_several_workers_at_once) {
    run_fibers(large_body);
}

static void *check_errno_stays(void *arg) {
    int value = (int)(intptr_t)arg;
    for (int i = 0; i < 50; i++) {
        *wf_os_errno_location() = value;
        weft_yield();
        CHECK_EQ(*wf_os_errno_location(), value);
    }
    return NULL;
}

static void errno_body(void) {
    weft_fiber fibers[10];
    for (int i = 0; i < 10; i++)
        SPAWN(&fibers[i], check_errno_stays, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < 10; i++)
        JOIN(fibers[i], NULL);
}

TEST(errno_travels_with_the_fiber) {
    run_fibers(errno_body);
}

static void *keep_control(void *arg) {
    CHECK_EQ(weft_keep_fp_control(true), 0);
    uint64_t standard = wf_arch_fp_control_get();
    uint64_t own = arg ? standard ^ UINT64_C(0x6000) : standard; /* rounding of mxcsr */
#if !defined(__x86_64__)
    own = arg ? standard ^ UINT64_C(0xc00000) : standard;
#endif
    wf_arch_fp_control_set(own);
    for (int i = 0; i < 20; i++) {
        weft_yield();
        CHECK_EQ(wf_arch_fp_control_get() & ~UINT64_C(0x3f), own & ~UINT64_C(0x3f));
    }
    wf_arch_fp_control_set(standard);
    CHECK_EQ(weft_keep_fp_control(false), 0);
    return NULL;
}

static void control_body(void) {
    weft_fiber fibers[8];
    for (int i = 0; i < 8; i++)
        SPAWN(&fibers[i], keep_control, (void *)(intptr_t)(i % 2));
    for (int i = 0; i < 8; i++)
        JOIN(fibers[i], NULL);
}

TEST(floating_point_control_travels_with_fibers_that_keep_it) {
    CHECK_EQ(weft_keep_fp_control(true), -EPERM);
    run_fibers(control_body);
}
