/* SPDX-License-Identifier: MIT
 *
 * unit/pool/queue_test.c - the order of the shared queue, and shards that are handed in, stolen from and looked into.
 *
 * The shared queue needs nothing of a pool but its own part, so it is tested on a pool that is only memory, against an oracle that
 * keeps a plain list.
 */
#include "os/fault.h"
#include "support/child.h"
#include "unit/pool/bare.h"
#include "unit/pool/threads.h"

enum { LISTED = 600 };

static struct {
    struct wf_work *works[LISTED];
    int count;
} oracle; /* in the order in which they came */

static weft_pool *memory;

static void memory_begin(weft_discipline discipline) {
    memory = bare_new();
    memory->options.discipline = discipline;
    oracle.count = 0;
}

static void memory_end(void) {
    wf_shards_term(memory);
    bare_free(memory);
}

static struct wf_work *make_work(int priority) {
    struct wf_work *work = wf_work_take_locked(memory);
    CHECK(work != NULL);
    work->priority = priority;
    uint64_t word = wf_load_relaxed(&work->word);
    wf_store_relaxed(&work->word, wf_work_with_phase(word, WF_WORK_QUEUED) | WF_WORK_LISTED);
    return work;
}

static void free_work(struct wf_work *work) {
    uint64_t word = wf_load_relaxed(&work->word);
    wf_store_relaxed(&work->word, wf_work_with_phase(word & ~WF_WORK_LISTED, WF_WORK_CLAIMED));
    wf_work_recycle(memory, NULL, work);
}

static void push_one(int priority) {
    struct wf_work *work = make_work(priority);
    CHECK_EQ(wf_queue_push_locked(memory, work), 0);
    oracle.works[oracle.count++] = work;
}

/* The one that the rules name; takes it out of the list. */
static struct wf_work *oracle_take(bool is_discard) {
    bool is_newest = !is_discard && memory->options.discipline == WEFT_POOL_LIFO;
    int best = -1;
    for (int i = 0; i < oracle.count; i++) {
        int better = best < 0 ? 1 : oracle.works[i]->priority - oracle.works[best]->priority;
        better = is_discard && best >= 0 ? -better : better;
        if (better > 0 || (better == 0 && is_newest))
            best = i;
    }
    if (best < 0)
        return NULL;
    struct wf_work *work = oracle.works[best];
    memmove(&oracle.works[best], &oracle.works[best + 1], sizeof work * (size_t)(oracle.count - best - 1));
    oracle.count--;
    return work;
}

static void take_one(bool is_discard) {
    struct wf_work *wanted = oracle_take(is_discard);
    struct wf_work *got = is_discard ? wf_queue_discard_locked(memory) : wf_queue_pop_locked(memory);
    CHECK(got == wanted);
    if (got)
        free_work(got);
}

static void compare_with_oracle(weft_discipline discipline, int priorities) {
    uint64_t random = wf_test_seed();
    memory_begin(discipline);
    for (long step = scaled(20000, 1000); step > 0; step--) {
        uint64_t what = random_below(&random, 10);
        if (what < 5 && oracle.count < LISTED)
            push_one(priorities ? (int)random_below(&random, (uint64_t)(2 * priorities + 1)) - priorities : 0);
        else
            take_one(what == 9);
        CHECK_EQ(wf_load_relaxed(&memory->queue.length), oracle.count);
    }
    while (oracle.count > 0)
        take_one(false);
    take_one(false);
    take_one(true);
    memory_end();
}

TEST(the_first_that_came_is_the_first_that_goes) {
    compare_with_oracle(WEFT_POOL_FIFO, 0);
    compare_with_oracle(WEFT_POOL_DEQUE, 0);
}

TEST(the_last_that_came_is_the_first_that_goes_from_a_stack) {
    compare_with_oracle(WEFT_POOL_LIFO, 0);
}

TEST(higher_priorities_go_first_and_the_lowest_is_discarded) {
    compare_with_oracle(WEFT_POOL_FIFO, 1);
    compare_with_oracle(WEFT_POOL_FIFO, 40);
    compare_with_oracle(WEFT_POOL_LIFO, 40);
}

TEST(priorities_may_be_as_far_apart_as_numbers_go) {
    static const int priorities[] = {0, INT_MIN, INT_MAX, -1, 1};
    static const int order[] = {INT_MAX, 1, 0, -1, INT_MIN};
    memory_begin(WEFT_POOL_FIFO);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(wf_queue_push_locked(memory, make_work(priorities[i])), 0);
    for (int i = 0; i < 5; i++) {
        struct wf_work *work = wf_queue_pop_locked(memory);
        CHECK_EQ(work->priority, order[i]);
        free_work(work);
    }
    memory_end();
}

TEST(a_priority_for_which_there_is_no_memory_changes_nothing) {
    memory_begin(WEFT_POOL_FIFO);
    push_one(0);
    struct wf_work *work = make_work(5);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK_EQ(wf_queue_push_locked(memory, work), -ENOMEM);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK(!wf_queue_prepare_locked(memory, 5));
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(wf_load_relaxed(&memory->queue.length), 1);
    CHECK(wf_queue_prepare_locked(memory, 5));
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    CHECK_EQ(wf_queue_push_locked(memory, work), 0); /* a place was prepared */
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK(wf_queue_pop_locked(memory) == work);
    free_work(work);
    take_one(false);
    memory_end();
}

TEST(records_are_refused_without_memory_and_there_again_later) {
    memory_begin(WEFT_POOL_FIFO);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK(wf_work_take_locked(memory) == NULL);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    for (int i = 0; i < WF_WORK_CHUNK; i++)
        CHECK_EQ(wf_work_take_locked(memory)->index, i);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    CHECK(wf_work_take_locked(memory) == NULL); /* the second chunk */
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(wf_work_take_locked(memory)->index, WF_WORK_CHUNK);
    memory->queue.next_index = 1u << WF_WORK_INDEX_BITS;
    CHECK(wf_work_take_locked(memory) == NULL); /* there are no more numbers */
    memory->queue.next_index = 2 * WF_WORK_CHUNK;
    memory_end();
}

/* ---- A queue of the program ---- */

static struct {
    weft_work works[64];
    int count;
} basket;

static int basket_push(void *queue, weft_work work, int priority) {
    (void)queue;
    if (priority < 0)
        return -EXFULL;
    basket.works[basket.count++] = work;
    return 0;
}

static bool basket_pop(void *queue, weft_work *work) {
    (void)queue;
    if (basket.count == 0)
        return false;
    *work = basket.works[--basket.count];
    return true;
}

static const weft_work_queue basket_queue = {.push = basket_push, .pop = basket_pop};

TEST(a_custom_queue_decides_the_order_and_may_refuse) {
    memory_begin(WEFT_POOL_CUSTOM);
    memory->options.custom = &basket_queue;
    basket.count = 0;
    struct wf_work *first = make_work(0), *second = make_work(7), *third = make_work(-1);
    CHECK_EQ(wf_queue_push_locked(memory, first), 0);
    CHECK_EQ(wf_queue_push_locked(memory, second), 0);
    CHECK_EQ(wf_queue_push_locked(memory, third), -EXFULL);
    CHECK_EQ(wf_load_relaxed(&memory->queue.length), 2);
    CHECK(wf_queue_pop_locked(memory) == second);
    CHECK(wf_queue_discard_locked(memory) == first); /* without a function for it */
    CHECK(wf_queue_pop_locked(memory) == NULL);
    free_work(first);
    free_work(second);
    free_work(third);
    memory_end();
}

static void pop_a_strange_work(void *arg) {
    (void)arg;
    memory_begin(WEFT_POOL_CUSTOM);
    memory->options.custom = &basket_queue;
    basket.count = 0;
    struct wf_work *work = make_work(0);
    CHECK_EQ(wf_queue_push_locked(memory, work), 0);
    basket.works[0].bits += (uint64_t)1 << 32;
    wf_queue_pop_locked(memory);
}

TEST(a_custom_queue_that_gives_out_what_is_not_in_it_ends_the_process) {
    struct child_end end = child_run(pop_a_strange_work, NULL);
    CHECK_CHILD_FATAL(&end, "a custom queue gave out a work that is not in it");
}

/* ---- Shards ---- */

/* What a work has put into its own thread's deque or ring is found by a helper, and by the others when the thread goes. */
static weft_work local[32];

static int submit_locally(void *arg) {
    weft_work_options options = {.placement = WEFT_PLACE_LOCAL};
    for (int i = 0; i < 32; i++)
        CHECK_EQ(weft_pool_submit_with(staged, &local[i], &options, count_run, NULL), 0);
    return staged_blocker(arg);
}

static void find_local_works(weft_discipline discipline) {
    staged_new(&(weft_pool_options){.threads = 1, .discipline = discipline});
    atomic_store(&staged_is_busy, 0);
    atomic_store(&staged_may_go, 0);
    staged_submit(submit_locally, NULL);
    WAIT_UNTIL(atomic_load(&staged_is_busy));
    CHECK_EQ(wf_load_relaxed(&staged->queue.length), 0);
    CHECK(wf_pool_has_any(staged));
    for (int i = 0; i < 32; i++) {
        struct wf_task *task = wf_pool_next_any(staged);
        CHECK(task != NULL); /* the oldest, whatever the discipline: we are thieves */
        CHECK_EQ(wf_work_handle(wf_work_of(task), wf_load_relaxed(&wf_work_of(task)->word)).bits, local[i].bits);
        CHECK(wf_work_claim(staged, wf_work_of(task), NULL));
        wf_work_run_here(staged, wf_work_of(task));
    }
    CHECK(!wf_pool_has_any(staged));
    CHECK(wf_pool_next_any(staged) == NULL);
    CHECK_EQ(atomic_load(&runs), 32);
    staged_end();
}

TEST(works_of_a_thread_that_is_busy_are_found_by_others) {
    find_local_works(WEFT_POOL_FIFO);
    find_local_works(WEFT_POOL_DEQUE);
}

static int submit_and_end(void *arg) {
    weft_work_options options = {.placement = WEFT_PLACE_LOCAL};
    for (int i = 0; i < 50; i++)
        CHECK_EQ(weft_pool_submit_with(staged, NULL, &options, count_run, NULL), 0);
    return (int)(intptr_t)arg;
}

/* Threads go while their shards are full: everything is handed in. */
TEST(what_waits_with_a_thread_that_goes_is_run_by_those_who_stay) {
    static const weft_discipline disciplines[] = {WEFT_POOL_FIFO, WEFT_POOL_LIFO, WEFT_POOL_DEQUE};
    for (int i = 0; i < 3; i++) {
        staged_new(&(weft_pool_options){.threads = 8, .discipline = disciplines[i]});
        long rounds = scaled(200, 10);
        for (long round = 0; round < rounds; round++) {
            CHECK_EQ(weft_pool_set_threads(staged, 0, round % 2 ? 1 : 8), 0);
            staged_submit(submit_and_end, NULL);
            staged_submit(submit_and_end, NULL);
        }
        staged_settle();
        CHECK_EQ(atomic_load(&runs), 100 * rounds);
        staged_end();
    }
}

/* The batch that a thread takes for itself is not stuck behind a work that computes. */
TEST(a_batch_is_not_stuck_behind_a_work_that_computes) {
    enum { COUNT = 400 };
    void *args[COUNT] = {0};
    staged_begin(&(weft_pool_options){.threads = 2}); /* one is busy */
    CHECK_EQ(weft_pool_submit_batch(staged, NULL, NULL, count_run, args, COUNT, NULL), 0);
    WAIT_UNTIL(atomic_load(&runs) == COUNT);
    staged_end();
}
