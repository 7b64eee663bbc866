/* SPDX-License-Identifier: MIT
 *
 * spec/fiber_test.c - the life of a fiber as the headers promise it: parents, names, lanes, stacks, panics, scanners.
 *
 * One test for each promise, with the public headers alone.
 */
#include <execinfo.h>
#include <unistd.h>

#include "support/child.h"
#include "support/run.h"

static void *give_back(void *arg) {
    return arg;
}

/* Lanes. On one worker the order is exact. */
static char order[64];
static int order_size;

static void *append_letter(void *arg) {
    order[order_size++] = *(const char *)arg;
    return NULL;
}

static void spawn_in_lane(const char *letter, weft_priority priority) {
    weft_spawn_options options = {.priority = priority, .detached = true};
    CHECK_EQ(weft_spawn_with(NULL, &options, append_letter, (void *)(uintptr_t)letter), 0);
}

static void fill_lanes(void) {
    order_size = 0;
    for (int i = 0; i < 3; i++) {
        spawn_in_lane("l", WEFT_PRIORITY_LOW);
        spawn_in_lane("n", WEFT_PRIORITY_NORMAL);
        spawn_in_lane("h", WEFT_PRIORITY_HIGH);
    }
    WAIT_UNTIL(order_size == 9);
    order[order_size] = 0;
    CHECK(strncmp(order, "hhh", 3) == 0 || strchr(order, 'h') - order <= 1);
    CHECK_EQ(order[8], 'l');
}

TEST(high_goes_before_normal_and_low_comes_last) {
    run_fibers_with(&(weft_options){.workers = 1}, fill_lanes);
}

static atomic_int low_has_run;

static void *run_low(void *arg) {
    atomic_store(&low_has_run, 1);
    return arg;
}

static void *keep_busy(void *arg) {
    while (!atomic_load(&low_has_run))
        weft_yield();
    return arg;
}

static void starve(void) {
    weft_spawn_options low = {.priority = WEFT_PRIORITY_LOW, .detached = true};
    weft_spawn_options high = {.priority = WEFT_PRIORITY_HIGH, .detached = true};
    atomic_store(&low_has_run, 0);
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(weft_go(keep_busy, NULL), 0);
        CHECK_EQ(weft_spawn_with(NULL, &high, keep_busy, NULL), 0);
    }
    CHECK_EQ(weft_spawn_with(NULL, &low, run_low, NULL), 0);
    WAIT_UNTIL(atomic_load(&low_has_run));
}

TEST(a_low_fiber_is_not_starved) {
    run_fibers(starve);
}

/* Parents and names. */
static void *answer_parent(void *arg) {
    weft_fiber parent;
    CHECK_EQ(weft_parent(weft_self(), &parent), 0);
    *(weft_fiber *)arg = parent;
    return NULL;
}

static void *spawn_and_leave(void *arg) {
    weft_fiber *ids = arg;
    ids[0] = weft_self();
    SPAWN(&ids[1], answer_parent, &ids[2]);
    return NULL;
}

static void check_parents(void) {
    weft_fiber child, ids[3];
    SPAWN(&child, spawn_and_leave, ids);
    JOIN(child, NULL);
    JOIN(ids[1], NULL); /* its parent is gone by now, the name is not */
    CHECK_EQ(ids[2].bits, ids[0].bits);
    CHECK_EQ(ids[2].bits, child.bits);
    CHECK_EQ(weft_parent(child, &ids[0]), -ESTALE);
}

TEST(a_fiber_knows_its_parent_even_after_its_end) {
    run_fibers(check_parents);
}

static void *rename_self(void *arg) {
    char name[64];
    CHECK_EQ(weft_get_name(weft_self(), name, sizeof name), 0);
    CHECK_TEXT(name, (const char *)arg);
    CHECK_EQ(weft_set_name("a name that is longer than thirty-one bytes"), 0);
    CHECK_EQ(weft_get_name(weft_self(), name, sizeof name), 0);
    CHECK_TEXT(name, "a name that is longer than thir");
    CHECK_EQ(weft_get_name(weft_self(), name, 7), 0);
    CHECK_TEXT(name, "a name");
    return NULL;
}

static void check_names(void) {
    for (long i = 0; i < scaled(2000, 100); i++) {
        char name[64] = "";
        weft_fiber fiber;
        weft_spawn_options options = {.name = "worker bee"};
        CHECK_EQ(weft_spawn_with(&fiber, &options, rename_self, (void *)(uintptr_t) "worker bee"), 0);
        int error = weft_get_name(fiber, name, sizeof name); /* it may not have begun, run, or be over */
        CHECK_EQ(error, 0);
        CHECK(strncmp(name, "worker bee", 10) == 0 || strncmp(name, "a name", 6) == 0 || name[0] == 0);
        JOIN(fiber, NULL);
    }
}

TEST(a_name_can_be_read_while_its_fiber_starts_and_ends) {
    run_fibers(check_names);
}

/* A fiber that spawns the next and ends, a great many times: nothing grows. */
static atomic_long links_left;

static void *next_link(void *arg) {
    if (atomic_fetch_sub(&links_left, 1) > 1)
        CHECK_EQ(weft_go(next_link, arg), 0);
    return NULL;
}

static void run_chain(void) {
    /* To the race detector every fiber is a thread that is made and ended by system calls. */
    atomic_store(&links_left, IS_THREAD_SANITIZED ? 1000 : scaled(IS_SANITIZED ? 200000 : 1000000, 1000));
    CHECK_EQ(weft_go(next_link, NULL), 0);
    WAIT_UNTIL(atomic_load(&links_left) <= 0);
}

TEST(a_long_chain_of_spawns_does_not_recurse) {
    run_fibers(run_chain);
}

/* Stack sizes. */
static __attribute__((noinline)) int touch(size_t bytes) {
    if (bytes < 4096)
        return 1;
    volatile char page[2048];
    page[0] = 1;
    page[2047] = 2;
    return touch(bytes - 2048) + page[0] + page[2047];
}

static void *touch_bytes(void *arg) {
    return (void *)(intptr_t)touch((size_t)(uintptr_t)arg);
}

static void check_sizes(void) {
    static const size_t sizes[] = {8 << 10, 64 << 10, 512 << 10, 4 << 20, 64 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        weft_spawn_options options = {.stack_size = sizes[i]};
        weft_fiber fiber;
        CHECK_EQ(
            weft_spawn_with(&fiber, &options, touch_bytes, (void *)(IS_SANITIZED ? sizes[i] / 4 : sizes[i] / 8 * 7)),
            0);
        JOIN(fiber, NULL);
    }
    weft_spawn_options largest = {.stack_size = (size_t)1 << 30}, larger = {.stack_size = ((size_t)1 << 30) + 1};
    weft_fiber fiber;
    CHECK_EQ(weft_spawn_with(&fiber, &largest, touch_bytes, (void *)(1 << 20)), 0);
    JOIN(fiber, NULL);
    CHECK_EQ(weft_spawn_with(&fiber, &larger, touch_bytes, NULL), -EINVAL);
}

TEST(a_fiber_gets_the_stack_that_it_asks_for_up_to_a_gibibyte) {
    run_fibers(check_sizes);
}

static void *go_deep(void *arg) {
    return (void *)(intptr_t)touch((size_t)(uintptr_t)arg);
}

static void check_prediction(void) {
    weft_stack_use use;
    CHECK_EQ(weft_get_stack_use(NULL, give_back, &use), -ENOENT);
    for (long i = 0; i < 3000; i++) {
        weft_fiber fiber;
        SPAWN(&fiber, go_deep, (void *)(140 << 10));
        JOIN(fiber, NULL);
    }
    CHECK_EQ(weft_get_stack_use(NULL, go_deep, &use), 0);
    CHECK_GE(use.samples, 1);
    CHECK_GE(use.deepest, 140 << 10);
    CHECK_GE(use.next_size, use.deepest);
}

TEST(deep_stacks_are_seen_and_the_next_fiber_gets_more) {
    if (!IS_SANITIZED) /* frames are larger there */
        run_fibers(check_prediction);
}

static int copy_own_size(const weft_fiber_info *info, void *size) {
    if (info->fiber.bits != weft_self().bits)
        return 0;
    *(size_t *)size = info->stack_size;
    return 1;
}

static void *go_deep_and_tell_size(void *arg) {
    touch(140 << 10);
    CHECK_EQ(weft_world_stop(), 0);
    CHECK_EQ(weft_each_fiber(NULL, copy_own_size, arg), 1);
    weft_world_start();
    return NULL;
}

enum { REUSERS = 8 };

static void check_reused_stacks(void) {
    weft_stack_use use = {0};
    weft_fiber fibers[REUSERS], others[REUSERS];
    size_t sizes[REUSERS] = {0}, size = 0;
    for (long i = 0; i < 3000 && use.next_size < 2 * (140 << 10); i++) {
        SPAWN(&fibers[0], go_deep_and_tell_size, &size);
        JOIN(fibers[0], NULL);
        weft_get_stack_use(NULL, go_deep_and_tell_size, &use);
    }
    CHECK_GE(use.next_size, 2 * (140 << 10));
    for (int i = 0; i < REUSERS; i++) { /* the stack of a small fiber is at hand when the deep one begins */
        SPAWN(&others[i], give_back, NULL);
        SPAWN(&fibers[i], go_deep_and_tell_size, &sizes[i]);
    }
    for (int i = 0; i < REUSERS; i++) {
        JOIN(others[i], NULL);
        JOIN(fibers[i], NULL);
        CHECK_GE(sizes[i], use.next_size);
    }
}

TEST(a_fiber_that_begins_on_a_used_stack_gets_the_size_that_was_predicted) {
    if (!IS_SANITIZED)
        run_fibers(check_reused_stacks);
}

/* Overflow. */
static __attribute__((noinline)) int endless(int depth) {
    volatile char page[1024];
    page[0] = (char)depth;
    return depth < 0 ? 0 : endless(depth + 1) + page[0];
}

void *overflowing_entry(void *arg);
void *overflowing_entry(void *arg) {
    weft_yield();
    return (void *)(intptr_t)endless((int)(intptr_t)arg);
}

static void *wait_forever(void *arg) {
    weft_join(*(weft_fiber *)arg, NULL, WEFT_NEVER);
    return NULL;
}

static void overflow_among_others(void) {
    weft_fiber fiber;
    weft_spawn_options options = {.name = "greedy", .stack_size = 64 << 10};
    CHECK_EQ(weft_spawn_with(&fiber, &options, overflowing_entry, NULL), 0);
    for (int i = 0; i < 200; i++)
        CHECK_EQ(weft_go(wait_forever, &fiber), 0);
    JOIN(fiber, NULL);
}

static void overflow_child(void *arg) {
    (void)arg;
    run_fibers(overflow_among_others);
}

TEST(an_overflow_names_the_fiber_its_function_and_its_stack) {
    struct child_end end = child_run(overflow_child, NULL);
    if (!strstr(end.text, "stack overflow in fiber"))
        fprintf(stderr, "%s", end.text);
    CHECK(WIFSIGNALED(end.status) || WEXITSTATUS(end.status) != 0);
    CHECK(strstr(end.text, "stack overflow in fiber") != NULL);
    CHECK(strstr(end.text, "\"greedy\"") != NULL);
    CHECK(strstr(end.text, "overflowing_entry") != NULL);
    CHECK(strstr(end.text, "its stack has ") != NULL);
    size_t size = strtoul(strstr(end.text, "its stack has ") + 14, NULL, 10);
    CHECK_GE(size, 64 << 10);
}

/* Backtraces, as a debugger makes them. */
static void *return_address;

static __attribute__((noinline)) int walk(void) {
    void *frames[64];
    return_address = __builtin_return_address(0);
    int count = backtrace(frames, 64);
    for (int i = 0; i < count; i++)
        if (frames[i] == return_address)
            return count;
    return -1;
}

static void *walk_from_fiber(void *arg) {
    (void)arg;
    volatile int count = walk();
    CHECK_GE(count, 2);
    CHECK_LE(count, 40);
    return NULL;
}

static void check_backtrace(void) {
    weft_fiber fiber;
    SPAWN(&fiber, walk_from_fiber, NULL);
    JOIN(fiber, NULL);
}

TEST(a_backtrace_on_a_fiber_comes_to_an_end) {
    run_fibers(check_backtrace);
}

/* A collector finds a pointer on the stack of every parked fiber. */
enum { SCANNED = 200 };
static uintptr_t marks[SCANNED];
static char found[SCANNED];
static weft_fiber gate;

static void *hold_pointer(void *arg) {
    uintptr_t *volatile held = arg;
    uintptr_t *only = held;
    __asm__ volatile("" : "+r"(only));
    weft_join(gate, NULL, WEFT_NEVER);
    __asm__ volatile("" : "+r"(only));
    return only == held ? arg : NULL;
}

static atomic_int gate_is_open;

static void *keep_gate(void *arg) {
    while (!atomic_load(&gate_is_open))
        weft_sleep(weft_after(WEFT_MILLISECOND));
    return arg;
}

static __attribute__((no_sanitize("address", "thread", "undefined"))) int scan(const weft_fiber_info *info, void *arg) {
    int *parked = arg;
    if (info->entry != hold_pointer || info->state != WEFT_FIBER_PARKED)
        return 0;
    ++*parked;
    const uintptr_t *word = (const uintptr_t *)(((uintptr_t)info->stack_low + 7) & ~(uintptr_t)7);
    for (; (const void *)(word + 1) <= info->stack_high; word++)
        if (*word >= (uintptr_t)marks && *word < (uintptr_t)(marks + SCANNED))
            found[(uintptr_t *)*word - marks] = 1;
    return 0;
}

static int count_waiting(const weft_fiber_info *info, void *arg) {
    *(int *)arg += info->entry == hold_pointer && info->state == WEFT_FIBER_PARKED;
    return 0;
}

static void scan_stacks(void) {
    weft_fiber fibers[SCANNED];
    int parked = 0, waiting;
    atomic_store(&gate_is_open, 0);
    SPAWN(&gate, keep_gate, NULL);
    for (int i = 0; i < SCANNED; i++)
        SPAWN(&fibers[i], hold_pointer, &marks[i]);
    do {
        waiting = 0;
        weft_yield();
        CHECK_EQ(weft_each_fiber(NULL, count_waiting, &waiting), 0);
    } while (waiting < SCANNED);
    CHECK_EQ(weft_world_stop(), 0);
    CHECK_EQ(weft_world_stop(), -EBUSY);
    CHECK_EQ(weft_each_fiber(NULL, scan, &parked), 0);
    weft_world_start();
    CHECK_EQ(parked, SCANNED);
    for (int i = 0; i < SCANNED; i++)
        CHECK(found[i]);
    atomic_store(&gate_is_open, 1);
    for (int i = 0; i < SCANNED; i++) {
        void *result;
        JOIN(fibers[i], &result);
        CHECK(result == &marks[i]);
    }
}

TEST(a_scanner_finds_what_parked_fibers_hold) {
    run_fibers(scan_stacks);
}

/* Memory of parked fibers, page tables included. */
static long memory_kb(void) {
    long sum = 0, value;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "VmRSS: %ld", &value) == 1 || sscanf(line, "VmPTE: %ld", &value) == 1)
            sum += value;
    fclose(file);
    return sum;
}

static atomic_long begun;

static void *wait_for_gate(void *arg) {
    atomic_fetch_add(&begun, 1);
    weft_join(gate, NULL, WEFT_NEVER);
    return arg;
}

static void measure_parked(void) {
    long count = IS_SANITIZED ? 1000 : scaled(100000, 1000); /* their size counts only where it is the real one */
    atomic_store(&gate_is_open, 0);
    atomic_store(&begun, 0);
    SPAWN(&gate, keep_gate, NULL);
    long before = memory_kb();
    for (long i = 0; i < count; i++)
        CHECK_EQ(weft_go(wait_for_gate, NULL), 0);
    WAIT_UNTIL(atomic_load(&begun) == count);
    long each = (memory_kb() - before) * 1024 / count;
    printf("    %ld bytes for each of %ld parked fibers\n", each, count);
    if (!IS_SANITIZED && count >= 10000)
        CHECK_LE(each, 4600);
    atomic_store(&gate_is_open, 1);
}

TEST(a_parked_fiber_takes_little_more_than_a_page) {
    run_fibers_strictly(
        measure_parked); /* threads that stand in for a spawner which had to wait for its core cost memory too */
}
