/* SPDX-License-Identifier: MIT
 *
 * unit/fiber/stack_test.c - the pool of stacks: classes, reuse, colours, guards, trimming.
 *
 * The pool is driven directly, without fibers: a stack is memory that can be asked for, written to and given back.
 */
#include "fiber/stack.h"

#include "os/fault.h"
#include "support/child.h"
#include "support/run.h"

struct pool {
    struct wf_stacks stacks;
    struct wf_stack_cache cache;
};

static void pool_init(struct pool *pool, size_t default_size) {
    memset(pool, 0, sizeof *pool);
    CHECK_EQ(wf_stacks_init(&pool->stacks, default_size), 0);
}

static void pool_term(struct pool *pool) {
    wf_stacks_term(&pool->stacks);
}

static struct wf_stack *pool_take(struct pool *pool, size_t size) {
    struct wf_stack *stack = wf_stack_take(&pool->stacks, &pool->cache, size);
    CHECK(stack != NULL);
    return stack;
}

static void pool_give(struct pool *pool, struct wf_stack *stack) {
    wf_stack_give(&pool->stacks, &pool->cache, stack);
}

TEST(every_size_gets_at_least_what_was_asked_for) {
    const size_t sizes[] = {1,         4096,    16 << 10, 44 << 10, 60 << 10, 64 << 10, 160 << 10,
                            200 << 10, 1 << 20, 2 << 20,  7 << 20,  8 << 20,  16 << 20, 64u << 20};
    struct pool pool;
    pool_init(&pool, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct wf_stack *stack = pool_take(&pool, sizes[i]);
        CHECK_GE(wf_stack_size(stack), sizes[i]);
        CHECK_EQ((uintptr_t)wf_stack_top(stack) % 16, 0);
        stack->low[8] = 1; /* the lowest bytes and the highest are really there */
        ((char *)wf_stack_top(stack))[-1] = 1;
        pool_give(&pool, stack);
    }
    pool_term(&pool);
}

TEST(a_stack_without_a_size_has_the_default_size) {
    const size_t defaults[] = {0, 16 << 10, 160 << 10, 1 << 20, 6 << 20, 16 << 20};
    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        struct pool pool;
        pool_init(&pool, defaults[i]);
        for (int round = 0; round < 3; round++) {
            struct wf_stack *stack = pool_take(&pool, 0);
            CHECK_GE(wf_stack_size(stack), defaults[i] ? defaults[i] : WF_STACK_DEFAULT);
            pool_give(&pool, stack);
        }
        pool_term(&pool);
    }
}

TEST(sizes_hold_when_the_default_is_larger_than_every_class) {
    struct pool pool;
    pool_init(&pool, 16 << 20);
    struct wf_stack *usual = pool_take(&pool, 0);
    pool_give(&pool, usual);
    struct wf_stack *huge = pool_take(&pool, 64 << 20);
    CHECK_GE(wf_stack_size(huge), 64 << 20);
    struct wf_stack *less = pool_take(&pool, 10 << 20);
    CHECK_GE(wf_stack_size(less), 10 << 20);
    pool_give(&pool, less);
    usual = pool_take(&pool, 0);
    CHECK_GE(wf_stack_size(usual), 16 << 20);
    pool_give(&pool, usual);
    pool_give(&pool, huge);
    pool_term(&pool);
}

TEST(reuse_is_last_in_first_out) {
    struct pool pool;
    struct wf_stack *stacks[8];
    pool_init(&pool, 0);
    for (int i = 0; i < 8; i++)
        stacks[i] = pool_take(&pool, 0);
    for (int i = 0; i < 8; i++)
        pool_give(&pool, stacks[i]);
    for (int i = 7; i >= 0; i--)
        CHECK(pool_take(&pool, 0) == stacks[i]);
    CHECK_EQ(wf_load_relaxed(&pool.stacks.mapped), 8);
    pool_term(&pool);
}

TEST(a_full_cache_hands_stacks_to_another_processor) {
    struct pool pool;
    struct wf_stack_cache other = {0};
    enum { COUNT = WF_STACK_HOT_MAX + 10 };
    static struct wf_stack *stacks[COUNT];
    pool_init(&pool, 0);
    for (int i = 0; i < COUNT; i++)
        stacks[i] = pool_take(&pool, 0);
    for (int i = 0; i < COUNT; i++)
        pool_give(&pool, stacks[i]);
    CHECK_LE(pool.cache.count, WF_STACK_HOT_MAX);
    struct wf_stack *stack = wf_stack_take(&pool.stacks, &other, 0);
    CHECK(stack != NULL);
    CHECK_EQ(wf_load_relaxed(&pool.stacks.mapped), COUNT); /* none was made for it */
    pool_term(&pool);
}

TEST(tops_of_neighbouring_stacks_have_different_colours) {
    struct pool pool;
    bool seen[16] = {false};
    int colours = 0;
    pool_init(&pool, 0);
    for (int i = 0; i < 16; i++) {
        struct wf_stack *stack = pool_take(&pool, 0);
        size_t from_end = (size_t)(stack->slot + stack->slot_size - (char *)stack);
        CHECK_LE(from_end, pool.stacks.page); /* header and first frames share the top page */
        size_t colour = from_end / 64 % 16;
        colours += !seen[colour];
        seen[colour] = true;
    }
    CHECK_EQ(colours, 16);
    pool_term(&pool);
}

TEST(the_stack_of_an_address_is_found_and_its_guard_recognised) {
    struct pool pool;
    bool is_guard;
    pool_init(&pool, 0);
    const size_t sizes[] = {0, 16 << 10, 1 << 20, 20 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct wf_stack *stack = pool_take(&pool, sizes[i]);
        CHECK(wf_stacks_find(&pool.stacks, stack->low, &is_guard) == stack);
        CHECK(!is_guard);
        CHECK(wf_stacks_find(&pool.stacks, (char *)stack - 1, &is_guard) == stack);
        CHECK(!is_guard);
        CHECK(wf_stacks_find(&pool.stacks, stack->low - 1, &is_guard) == stack);
        CHECK(is_guard);
        CHECK(wf_stacks_find(&pool.stacks, stack->slot, &is_guard) == stack);
        CHECK(is_guard);
    }
    CHECK(wf_stacks_find(&pool.stacks, &pool, &is_guard) == NULL);
    pool_term(&pool);
}

struct guard_case {
    enum wf_guard guard;
    int64_t budget;
    size_t size;
    bool is_reused; /* cold, and used again */
};

static void *volatile touched;

static void make_cold(struct pool *pool, struct wf_stack *stack) {
    struct wf_stack_class *class = &pool->stacks.classes[stack->class_index];
    char *slot = stack->slot;
    CHECK_EQ(wf_os_discard(stack->low, (size_t)(slot + stack->slot_size - stack->low)), 0);
    class->cold[class->cold_count++] = (uintptr_t)slot;
}

static void touch_below(void *opaque) {
    const struct guard_case *test = opaque;
    struct pool pool;
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    pool_init(&pool, 0);
    pool.stacks.guard = test->guard;
    wf_store_relaxed(&pool.stacks.guard_budget, test->budget);
    struct wf_stack *stack = pool_take(&pool, test->size);
    if (test->is_reused) {
        make_cold(&pool, stack);
        stack = pool_take(&pool, test->size);
    }
    touched = stack->low;
    stack->low[-1] = 1;
    if (stack->has_canary)
        _exit(3);
    _exit(2);
}

static void check_guard(struct guard_case test) {
    struct child_end end = child_run(touch_below, &test);
    if (!WIFSIGNALED(end.status))
        fprintf(stderr, "guard %d budget %lld size %zu reused %d: status %#x\n", (int)test.guard,
                (long long)test.budget, test.size, test.is_reused, (unsigned)end.status);
    CHECK(WIFSIGNALED(end.status));
    CHECK(WTERMSIG(end.status) == SIGSEGV || WTERMSIG(end.status) == SIGBUS);
}

TEST(a_write_below_the_stack_faults) {
    const size_t sizes[] = {0, 16 << 10, 1 << 20, 64u << 20};
    enum wf_guard best = wf_os_guard_probe();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        check_guard((struct guard_case){.guard = best, .budget = 10, .size = sizes[i]});
        check_guard((struct guard_case){.guard = WF_GUARD_PROTECT, .budget = 10, .size = sizes[i]});
    }
}

TEST(a_write_below_a_stack_that_was_cold_faults) {
    check_guard((struct guard_case){.guard = wf_os_guard_probe(), .budget = 10, .is_reused = true});
    check_guard((struct guard_case){.guard = WF_GUARD_PROTECT, .budget = 10, .is_reused = true});
}

static void touch_below_after_failure(void *opaque) {
    (void)opaque;
    struct pool pool;
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    pool_init(&pool, 0);
    wf_fault_order(WF_CALL_GUARD, 1, ENOMEM, 0);
    struct wf_stack *stack = wf_stack_take(&pool.stacks, &pool.cache, 0);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    if (!stack) /* refused: the next try must not come without a guard */
        stack = pool_take(&pool, 0);
    if (stack->has_canary)
        abort();
    stack->low[-1] = 1;
}

TEST(a_stack_whose_guard_failed_once_is_not_handed_out_unguarded) {
    struct child_end end = child_run(touch_below_after_failure, NULL);
    CHECK(WIFSIGNALED(end.status));
}

TEST(beyond_the_budget_of_guards_there_are_canaries) {
    struct pool pool;
    pool_init(&pool, 0);
    pool.stacks.guard = WF_GUARD_PROTECT;
    wf_store_relaxed(&pool.stacks.guard_budget, 3);
    for (int i = 0; i < 6; i++) {
        CHECK_TEXT(wf_stacks_guard_name(&pool.stacks), i < 3 ? "mprotect" : "canary");
        struct wf_stack *stack = pool_take(&pool, 0);
        CHECK_EQ(stack->has_canary, i >= 3);
        if (stack->has_canary)
            wf_stack_check_canary(stack);
    }
    pool_term(&pool);
}

TEST(a_large_stack_gives_its_guard_back_to_the_budget) {
    struct pool pool;
    pool_init(&pool, 0);
    pool.stacks.guard = WF_GUARD_PROTECT;
    wf_store_relaxed(&pool.stacks.guard_budget, 2);
    for (int i = 0; i < 6; i++) {
        struct wf_stack *stack = pool_take(&pool, 20 << 20);
        CHECK(!stack->has_canary);
        pool_give(&pool, stack);
    }
    pool_term(&pool);
}

static void break_canary(void *opaque) {
    (void)opaque;
    struct pool pool;
    pool_init(&pool, 0);
    pool.stacks.guard = WF_GUARD_PROTECT;
    wf_store_relaxed(&pool.stacks.guard_budget, 0);
    struct wf_stack *stack = pool_take(&pool, 0);
    CHECK(stack->has_canary);
    wf_stack_check_canary(stack);
    stack->low[0] ^= 1;
    wf_stack_check_canary(stack);
}

TEST(a_canary_that_is_gone_is_fatal) {
    struct child_end end = child_run(break_canary, NULL);
    CHECK_CHILD_FATAL(&end, "stack overflow");
}

TEST(large_stacks_are_mapped_by_themselves_and_unmapped_at_once) {
    struct pool pool;
    pool_init(&pool, 0);
    int64_t before = wf_os_mapped_bytes();
    for (int round = 0; round < 3; round++) {
        struct wf_stack *stacks[4];
        for (int i = 0; i < 4; i++) {
            size_t size = (size_t)16 << (20 + i % 3);
            stacks[i] = pool_take(&pool, size);
            CHECK_GE(wf_stack_size(stacks[i]), size);
            memset(stacks[i]->low, 1, 4096);
        }
        CHECK_EQ(wf_load_relaxed(&pool.stacks.mapped), 4);
        for (int i = 0; i < 4; i++)
            pool_give(&pool, stacks[i]);
        CHECK_EQ(wf_os_mapped_bytes(), before);
        CHECK_EQ(wf_load_relaxed(&pool.stacks.mapped), 0);
    }
    pool_term(&pool);
}

TEST(large_stacks_one_after_another_leave_no_blocks_behind) {
    struct pool pool;
    pool_init(&pool, 0);
    pool_give(&pool, pool_take(&pool, 16 << 20));
    int64_t before = wf_os_live_blocks();
    for (int i = 0; i < 50; i++)
        pool_give(&pool, pool_take(&pool, 16 << 20));
    CHECK_EQ(wf_os_live_blocks(), before);
    pool_term(&pool);
}

TEST(a_measured_depth_is_exact_to_a_page) {
    struct pool pool;
    pool_init(&pool, 0);
    struct wf_stack *stack = pool_take(&pool, 0);
    wf_stack_make_shallow(&pool.stacks, stack);
    CHECK(stack->is_shallow);
    CHECK_LE(wf_stack_depth(stack), pool.stacks.page);
    char *top = wf_stack_top(stack);
    top[-50 * 1024] = 1;
    CHECK_GE(wf_stack_depth(stack), 50 * 1024);
    CHECK_LE(wf_stack_depth(stack), 50 * 1024 + 2 * pool.stacks.page);
    pool_give(&pool, stack);
    pool_term(&pool);
}

TEST(trimming_gives_memory_back_by_and_by_and_keeps_some) {
    struct pool pool;
    enum { COUNT = 1000 };
    static struct wf_stack *stacks[COUNT];
    pool_init(&pool, 0);
    for (int i = 0; i < COUNT; i++)
        stacks[i] = pool_take(&pool, 0);
    for (int i = 0; i < COUNT; i++)
        pool_give(&pool, stacks[i]);
    int64_t now = 1, next = 0;
    int calls = 0;
    for (; next != INT64_MAX && calls < 2000; calls++) {
        next = wf_stacks_trim(&pool.stacks, &pool.cache, now);
        CHECK_GE(next, now); /* now: there is more to do at once */
        now = next;
    }
    CHECK_EQ(next, INT64_MAX); /* it comes to an end, so that an idle process is left alone */
    uint64_t trimmed = wf_load_relaxed(&pool.stacks.trimmed);
    CHECK_GE(trimmed, COUNT / 2);
    struct wf_stack_class *class = &pool.stacks.classes[pool.stacks.default_class];
    CHECK_EQ(class->cold_count, trimmed);
    CHECK_GE(class->warm_count + pool.cache.count, 1);
    for (int i = 0; i < COUNT; i++) { /* cold ones are as good as new */
        struct wf_stack *stack = pool_take(&pool, 0);
        CHECK_GE(wf_stack_size(stack), WF_STACK_DEFAULT);
        stack->low[16] = 1;
    }
    CHECK_EQ(wf_load_relaxed(&pool.stacks.mapped), COUNT);
    pool_term(&pool);
}

TEST(without_memory_a_stack_is_refused_and_the_next_try_succeeds) {
    const enum wf_system_call calls[] = {WF_CALL_ALLOC, WF_CALL_MMAP, WF_CALL_GUARD};
    const size_t sizes[] = {0, 16 << 10, 32 << 20};
    for (int i = 0; i < 9; i++) {
        for (long nth = 1; nth < 10; nth++) {
            struct pool pool;
            pool_init(&pool, 0);
            int64_t blocks = wf_os_live_blocks();
            wf_fault_order(calls[i / 3], nth, ENOMEM, 0);
            struct wf_stack *stack = wf_stack_take(&pool.stacks, &pool.cache, sizes[i % 3]);
            long hits = wf_fault_hits();
            wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
            bool has_canary = stack && stack->has_canary; /* what a protection guard that fails is replaced by */
            CHECK((stack == NULL || has_canary) == (hits > 0));
            if (!stack)
                stack = pool_take(&pool, sizes[i % 3]);
            pool_give(&pool, stack);
            CHECK_GE(wf_os_live_blocks(), blocks);
            pool_term(&pool);
            if (hits == 0)
                break;
        }
    }
}
