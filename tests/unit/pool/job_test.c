/* SPDX-License-Identifier: MIT
 *
 * Jobs that go wrong: panics on whichever fiber, jobs that are taken back, what happens without memory, and the rules that are
 * fatal to break. What goes right is in fork_test.c.
 */
#include "os/fault.h"
#include "pool/pool.h"
#include "support/child.h"
#include "support/run.h"
#include "unit/pool/jobs.h"

static _Atomic int started;
static weft_semaphore may_end = WEFT_SEMAPHORE_INIT(0);

static void begin_and_wait(void *opaque) {
    int *value = opaque;
    atomic_fetch_add(&started, 1);
    CHECK_EQ(weft_semaphore_acquire(&may_end, 1, WEFT_NEVER), 0);
    *value = 42;
}

/* Another fiber, on this thread or another one, has begun the job when this returns. */
static void fork_elsewhere(weft_job *job, void (*fn)(void *arg), void *arg) {
    atomic_store(&started, 0);
    weft_fork(job, fn, arg);
    WAIT_UNTIL(atomic_load(&started) > 0);
}

/* ---- Panics ---- */

static void panic_at_once(void *opaque) {
    atomic_fetch_add(&started, 1);
    weft_panic("%s", (const char *)opaque);
}

static void exit_at_once(void *opaque) {
    atomic_fetch_add(&started, 1);
    weft_exit(opaque);
}

static void join_inline(void *opaque) {
    weft_job job;
    weft_fork(&job, panic_at_once, opaque);
    weft_join_job(&job);
    CHECK(false);
}

static void join_elsewhere(void *opaque) {
    weft_job job;
    fork_elsewhere(&job, panic_at_once, opaque);
    weft_join_job(&job);
    CHECK(false);
}

static void join_exit(void *opaque) {
    weft_job job;
    fork_elsewhere(&job, exit_at_once, opaque);
    weft_join_job(&job);
    CHECK(false);
}

static void check_panic(void (*fn)(void *arg), void *arg, const char *text) {
    char got[160];
    CHECK_EQ(weft_try(fn, arg, got, sizeof got), -EOWNERDEAD);
    CHECK_TEXT(got, text);
}

static void panics(void) {
    check_panic(join_inline, "in the join", "in the join");
    check_panic(join_elsewhere, "on another fiber", "on another fiber");
    check_panic(join_exit, NULL, "a job has called weft_exit");
    many_at_once();
}

TEST(panic_of_a_job_goes_on_in_its_join) {
    check_panic(join_inline, "on a thread", "on a thread");
    in_any_pool(panics);
}

static void count_elsewhere(void *opaque) {
    atomic_fetch_add((_Atomic int *)opaque, 1);
    atomic_fetch_add(&started, 1);
    CHECK_EQ(weft_semaphore_acquire(&may_end, 1, WEFT_NEVER), 0);
    atomic_fetch_add((_Atomic int *)opaque, 1);
}

static void panic_when_stolen(void *opaque) {
    WAIT_UNTIL(atomic_load(&started) > 0);
    weft_semaphore_release(&may_end, 1);
    weft_panic("%s", (const char *)opaque);
}

static void pair_first_panics(void *opaque) {
    weft_fork_join(panic_at_once, opaque, count_run, &runs[0]);
}

static void pair_both_panic(void *opaque) {
    weft_fork_join(panic_when_stolen, opaque, panic_at_once, "the second");
}

static void pair_waits(void *opaque) {
    weft_fork_join(panic_when_stolen, opaque, count_elsewhere, &runs[1]);
}

static void pair_second_panics(void *opaque) {
    weft_fork_join(count_run, &runs[2], panic_at_once, opaque);
}

static void pair_nested(void *opaque) {
    weft_fork_join(pair_first_panics, opaque, count_run, &runs[3]);
}

static void pairs(void) {
    check_panic(pair_first_panics, "the first", "the first");
    CHECK_LE(atomic_exchange(&runs[0], 0), 1);
    atomic_store(&started, 0);
    check_panic(pair_waits, "the first, later", "the first, later");
    CHECK_EQ(atomic_exchange(&runs[1], 0), 2); /* it was waited for */
    check_panic(pair_second_panics, "the second", "the second");
    CHECK_EQ(atomic_exchange(&runs[2], 0), 1);
    atomic_store(&started, 0);
    check_panic(pair_both_panic, "the first of two", "the first of two");
    weft_semaphore_acquire(&may_end, 1, WEFT_NOW);
    check_panic(pair_nested, "below", "below");
    atomic_exchange(&runs[0], 0);
    CHECK_LE(atomic_exchange(&runs[3], 0), 1);
    many_at_once();
}

TEST(pair_takes_its_second_back_or_waits_for_it_when_its_first_panics) {
    for (long i = 0; i < scaled(50, 3); i++)
        in_any_pool(pairs);
}

static void leave(void) {
    weft_job job = WEFT_JOB_INIT;
    int value = 0;
    weft_job_leave(&job);
    weft_job_leave(NULL);
    fork_elsewhere(&job, begin_and_wait, &value);
    weft_semaphore_release(&may_end, 1);
    weft_job_leave(&job);
    CHECK_EQ(value, 42);
    weft_job_leave(&job);
    weft_fork(&job, count_run, &runs[0]);
    weft_job_leave(&job);
    CHECK_LE(atomic_exchange(&runs[0], 0), 1);
    for (int i = 0; i < 3; i++) {
        WEFT_JOB(local);
        weft_fork(&local, count_run, &runs[0]);
        if (i == 1)
            continue;
        weft_join_job(&local);
    }
    int count = atomic_exchange(&runs[0], 0);
    CHECK(count == 2 || count == 3);
}

TEST(job_that_is_left_has_ended_or_never_begins) {
    in_any_pool(leave);
}

/* ---- Without memory ---- */

static void no_memory(void) {
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    for (int i = 0; i < JOBS; i++)
        weft_fork(&jobs[i], count_run, &runs[i]);
    for (int i = JOBS; i-- > 0;)
        weft_join_job(&jobs[i]);
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    check_runs(1);
}

TEST(fork_without_memory_is_a_call) {
    in_pool(1, no_memory);
}

static void panic_without_memory(void *opaque) {
    atomic_fetch_add(&started, 1);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    weft_panic("%s", (const char *)opaque);
}

static void join_without_memory(void *opaque) {
    weft_job job;
    fork_elsewhere(&job, panic_without_memory, opaque);
    weft_join_job(&job);
}

static void panic_text_lost(void) {
    check_panic(join_without_memory, "x", "a job has panicked, and there was no memory for its message");
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
}

TEST(panic_of_a_job_arrives_without_memory_for_its_message) {
    in_pool(1, panic_text_lost);
}

static _Atomic int items_made;

static int do_nothing(void *arg) {
    (void)arg;
    return 0;
}

static int fold_sum(int64_t begin, int64_t end, void *accumulator, void *arg) {
    int64_t *sum = accumulator;
    (void)arg;
    for (int64_t i = begin; i < end; i++)
        sum[i % 20] += i;
    return 0;
}

static int combine_sums(void *left, void *right, void *arg) {
    int64_t *to = left, *from = right;
    (void)arg;
    for (int i = 0; i < 20; i++)
        to[i] += from[i];
    return 0;
}

static int stage_count(void **item, void *arg) {
    *item = arg;
    return atomic_fetch_add(&items_made, 1) < 100 ? WEFT_STAGE_NEXT : WEFT_STAGE_END;
}

static int stage_pass(void **item, void *arg) {
    (void)item;
    atomic_fetch_add((_Atomic int *)arg, 1);
    return WEFT_STAGE_NEXT;
}

/* Each form either does all of its work or says that there was no memory. */
static void forms_without_memory(long nth) {
    const weft_reduction reduction = {20 * sizeof(int64_t), NULL, fold_sum, combine_sums, NULL};
    const weft_stage stages[] = {{WEFT_STAGE_SERIAL, stage_count, &items_made},
                                 {WEFT_STAGE_IN_ORDER, stage_pass, &runs[0]}};
    int64_t sums[20] = {0}, sum = 0;
    wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
    int error = weft_parallel_reduce(pool, 0, 1000, 1, &reduction, sums);
    for (int i = 0; i < 20; i++)
        sum += sums[i];
    CHECK(error == -ENOMEM || (error == 0 && sum == 499500));
    atomic_store(&items_made, 0);
    wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
    error = weft_pipeline(pool, stages, 2, NULL);
    int passed = atomic_exchange(&runs[0], 0);
    CHECK(error == -ENOMEM || (error == 0 && passed == 100));
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
}

TEST(forms_do_everything_or_nothing_when_an_allocation_fails) {
    weft_pool_options options = {.threads = wf_test_workers()};
    for (long nth = 1; nth < 30; nth++) {
        CHECK_EQ(weft_pool_new(&pool, &options), 0);
        CHECK_EQ(weft_pool_submit(pool, NULL, do_nothing, NULL), 0);
        CHECK_EQ(weft_pool_wait(pool, WEFT_NEVER), 0); /* its threads have begun */
        forms_without_memory(nth);
        weft_pool_free(pool);
    }
}

/* ---- Rules ---- */

static void break_join_twice(void) {
    weft_job job;
    weft_fork(&job, count_run, &runs[0]);
    weft_join_job(&job);
    weft_join_job(&job);
}

static void *join_other(void *job) {
    weft_join_job(job);
    return NULL;
}

static void break_join_other(void) {
    weft_job job;
    weft_fiber fiber;
    int value;
    fork_elsewhere(&job, begin_and_wait, &value);
    SPAWN(&fiber, join_other, &job);
    JOIN(fiber, NULL);
}

static void open_scope(void *opaque) {
    weft_scope *scope;
    (void)opaque;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    atomic_fetch_add(&started, 1);
}

static void break_scope(void) {
    weft_job job;
    fork_elsewhere(&job, open_scope, NULL);
    weft_join_job(&job);
}

static void break_null_fork(void) {
    weft_job job;
    weft_fork(&job, NULL, NULL);
}

static void break_null_join(void) {
    weft_join_job(NULL);
}

static void break_null_pair(void) {
    weft_fork_join(NULL, NULL, count_run, &runs[0]);
}

static void in_child(void *opaque) {
    void (**body)(void) = opaque;
    in_pool(1, *body);
}

static void check_fatal(void (*body)(void), const char *text) {
    struct child_end end = child_run(in_child, &body);
    CHECK_CHILD_FATAL(&end, text);
}

TEST(rules_of_fork_and_join_are_fatal_to_break) {
    check_fatal(break_join_twice, "joined that was not forked, or was joined before");
    check_fatal(break_join_other, "joined by another fiber");
    check_fatal(break_scope, "left a scope open");
    check_fatal(break_null_fork, "null pointer");
    check_fatal(break_null_join, "null pointer");
    check_fatal(break_null_pair, "null pointer");
}

#ifndef __SANITIZE_ADDRESS__ /* which puts frames elsewhere */
/* A frame that forks and panics, on the fiber of a job; nobody has time to steal what it has left behind. */
static void fork_and_panic(void *opaque) {
    weft_job job;
    (void)opaque;
    atomic_fetch_add(&started, 1);
    weft_fork(&job, count_run, &runs[0]);
    weft_panic("between fork and join");
}

static void break_left_behind(void) {
    weft_job job;
    fork_elsewhere(&job, fork_and_panic, NULL);
    weft_join_job(&job);
}

TEST(panic_that_leaves_a_forked_job_behind_is_fatal) {
    check_fatal(break_left_behind, "had forked a job and not joined it");
}
#endif
