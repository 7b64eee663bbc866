/* SPDX-License-Identifier: MIT
 *
 * unit/runtime/runtime_test.c - starting, stopping, refusing; several runtimes at once; statistics.
 *
 * What a start refuses is tried in a forked child, whose environment and standard error are its own.
 */
#include "base/point.h"
#include "os/fault.h"
#include "os/memory.h"
#include "runtime/runtime.h"
#include "support/child.h"
#include "support/run.h"
#include "wait/wait.h"
#include "weft/local.h"

static int return_arg(void *arg) {
    return (int)(intptr_t)arg;
}

static void *end_at_once(void *arg) {
    return arg;
}

TEST(run_returns_what_the_first_fiber_returned) {
    const int values[] = {0, 1, -1, 42, -EINVAL};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        CHECK_EQ(weft_run(NULL, return_arg, (void *)(intptr_t)values[i]), values[i]);
    CHECK_EQ(weft_run(NULL, NULL, NULL), -EINVAL);
    CHECK(weft_runtime_self() == NULL);
}

static int panic_first(void *arg) {
    (void)arg;
    weft_panic("the first fiber");
}

static int exit_first(void *arg) {
    weft_exit(arg);
}

TEST(run_of_a_first_fiber_that_panics_gives_eownerdead) {
    weft_options options = {.quiet = true};
    CHECK_EQ(weft_run(&options, panic_first, NULL), -EOWNERDEAD);
    CHECK_EQ(weft_run(&options, exit_first, (void *)5), 5);
}

struct refusal {
    weft_options options;
    const char *variable;
    const char *value;
    const char *word; /* in the message */
};

static void try_refusal(void *opaque) {
    const struct refusal *refusal = opaque;
    if (refusal->variable)
        setenv(refusal->variable, refusal->value, 1);
    int status = weft_run(&refusal->options, return_arg, NULL);
    CHECK_EQ(status, -EINVAL);
}

static void check_refusal(struct refusal refusal) {
    struct child_end end = child_run(try_refusal, &refusal);
    CHECK_CHILD_WELL(&end);
    if (!strstr(end.text, refusal.word))
        fprintf(stderr, "\"%s\" does not name %s\n", end.text, refusal.word);
    CHECK(strstr(end.text, refusal.word) != NULL);
}

TEST(run_refuses_wrong_options_and_says_which) {
    check_refusal((struct refusal){.options = {.workers = WEFT_WORKERS_MAX + 1}, .word = "workers"});
    check_refusal((struct refusal){.options = {.workers = UINT32_MAX}, .word = "workers"});
    check_refusal((struct refusal){.options = {.stack_size = 1}, .word = "stack_size"});
    check_refusal((struct refusal){.options = {.stack_size = 16 * 1024 - 1}, .word = "stack_size"});
    check_refusal((struct refusal){.options = {.stack_size = ((size_t)1 << 30) + 1}, .word = "stack_size"});
    check_refusal((struct refusal){.options = {.stack_size = SIZE_MAX}, .word = "stack_size"});
    check_refusal((struct refusal){.options = {.max_fibers = (1u << 26) + 1}, .word = "max_fibers"});
    check_refusal((struct refusal){.options = {.max_fibers = 1}, .word = "max_fibers"});
}

TEST(run_refuses_wrong_environment_values_and_says_which) {
    const char *const variables[] = {"WEFT_WORKERS", "WEFT_STACK_SIZE", "WEFT_MAX_FIBERS"};
    const char *const values[] = {"",   "x",   "-1",   " -1", "1x", "0x10", "0", "99999999999999999999", "17179869184G",
                                  "4T", "2KK", "1.5M", "K",   "5 ", "100G"};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
            check_refusal((struct refusal){.variable = variables[i], .value = values[k], .word = variables[i]});
    check_refusal((struct refusal){.variable = "WEFT_WORKERS", .value = "1025", .word = "WEFT_WORKERS"});
    check_refusal((struct refusal){.variable = "WEFT_STACK_SIZE", .value = "15K", .word = "WEFT_STACK_SIZE"});
}

static int check_environment(void *arg) {
    (void)arg;
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    return (int)stats.workers;
}

static void use_environment(void *arg) {
    (void)arg;
    setenv("WEFT_WORKERS", "3", 1);
    setenv("WEFT_STACK_SIZE", "1M", 1);
    setenv("WEFT_MAX_FIBERS", "1K", 1);
    CHECK_EQ(weft_run(NULL, check_environment, NULL), 3);
    weft_options options = {.workers = 2};
    CHECK_EQ(weft_run(&options, check_environment, NULL), 2); /* an option wins */
    unsetenv("WEFT_WORKERS");
    CHECK_GE(weft_run(NULL, check_environment, NULL), 1);
}

TEST(the_environment_stands_in_for_options_that_are_zero) {
    struct child_end end = child_run(use_environment, NULL);
    CHECK_CHILD_WELL(&end);
}

static int run_inside(void *arg) {
    return weft_run(arg, return_arg, NULL);
}

TEST(run_inside_a_fiber_is_a_deadlock) {
    CHECK_EQ(weft_run(NULL, run_inside, NULL), -EDEADLK);
}

static atomic_int running;
static atomic_int may_end;

static int stay(void *arg) {
    (void)arg;
    atomic_fetch_add(&running, 1);
    while (!atomic_load(&may_end))
        weft_sleep(weft_after(WEFT_MILLISECOND));
    return 7;
}

static void *run_one(void *arg) {
    weft_options options = {.workers = 1, .stack_size = 64 * 1024};
    CHECK_EQ(weft_run(&options, stay, arg), 7);
    return NULL;
}

TEST(sixty_four_runtimes_run_at_once_and_one_more_is_refused_with_ebusy) {
    pthread_t threads[WEFT_RUNTIMES_MAX];
    weft_options options = {.workers = 1};
    atomic_store(&running, 0);
    atomic_store(&may_end, 0);
    for (int i = 0; i < WEFT_RUNTIMES_MAX; i++)
        threads[i] = thread_start(run_one, NULL);
    WAIT_UNTIL(atomic_load(&running) == WEFT_RUNTIMES_MAX);
    CHECK_EQ(weft_run(&options, return_arg, NULL), -EBUSY);
    atomic_store(&may_end, 1);
    for (int i = 0; i < WEFT_RUNTIMES_MAX; i++)
        thread_join(threads[i]);
    CHECK_EQ(weft_run(&options, return_arg, (void *)3), 3);
}

static atomic_int first_runs;

static int count_first(void *arg) {
    atomic_fetch_add(&first_runs, 1);
    return (int)(intptr_t)arg;
}

TEST(a_start_that_fails_at_a_later_thread_has_run_nothing) {
    weft_options options = {.workers = 4};
    atomic_store(&first_runs, 0);
    for (long i = scaled(100, 10); i > 0; i--) {
        wf_fault_order(WF_CALL_THREAD, 2, EAGAIN, 0); /* the third worker: the first one is this thread */
        CHECK_EQ(weft_run(&options, count_first, (void *)8), -EAGAIN);
        CHECK_EQ(wf_fault_hits(), 1);
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    }
    CHECK_EQ(atomic_load(&first_runs), 0);
    CHECK_EQ(weft_run(&options, count_first, (void *)8), 8);
    CHECK_EQ(atomic_load(&first_runs), 1);
}

static void *sleep_for_ever(void *arg) {
    weft_sleep(WEFT_NEVER);
    return arg;
}

static weft_fiber parked;
static atomic_int joiners;

static void *join_parked(void *arg) {
    atomic_fetch_add(&joiners, 1);
    CHECK_EQ(weft_join(parked, NULL, arg ? weft_after(PATIENCE_NS) : WEFT_NEVER), -ECANCELED);
    return NULL;
}

static void *join_in_fiber(void *arg) {
    (void)arg;
    weft_join(parked, NULL, WEFT_NEVER);
    return NULL;
}

static pthread_t threads_that_join[4];

/* How many wait for the parked fiber. */
static int count_waiters(void);

static int abandon_first(void *arg) {
    weft_fiber other;
    SPAWN(&parked, sleep_for_ever, NULL);
    for (int i = 0; i < 3; i++)
        SPAWN(&other, join_in_fiber, NULL);
    for (int i = 0; i < 4; i++)
        threads_that_join[i] = thread_start(join_parked, i % 2 ? arg : NULL);
    WAIT_UNTIL(count_waiters() == 7);
    return 9;
}

static int count_waiters(void) {
    int count = 0;
    struct wf_fiber *fiber = wf_record_lock(wf_worker_self()->fibers, parked);
    CHECK(fiber != NULL);
    struct wf_waiter *waiter = fiber->waiters;
    while (waiter) {
        count++;
        waiter = waiter->next == fiber->waiters ? NULL : waiter->next;
    }
    wf_lock_drop(&fiber->lock);
    return count;
}

TEST(abandoned_fibers_are_dropped_and_threads_that_wait_for_one_get_ecanceled) {
    weft_options options = {.abandon = true};
    CHECK_EQ(weft_run(&options, abandon_first, &parked), 9);
    for (int i = 0; i < 4; i++)
        thread_join(threads_that_join[i]);
    CHECK_EQ(weft_join(parked, NULL, WEFT_NEVER), -ESTALE);
}

static void *join_with_result(void *arg) {
    void *result = &parked;
    CHECK_EQ(weft_join(parked, &result, arg ? weft_after(PATIENCE_NS) : WEFT_NEVER), -ECANCELED);
    CHECK(result == &parked);
    return NULL;
}

static int abandon_with_joiners(void *arg) {
    SPAWN(&parked, sleep_for_ever, NULL);
    for (int i = 0; i < 4; i++)
        threads_that_join[i] = thread_start(join_with_result, i % 2 ? arg : NULL);
    WAIT_UNTIL(count_waiters() == 4);
    return 0;
}

TEST(a_join_that_is_cancelled_leaves_the_result_as_it_was) {
    weft_options options = {.abandon = true};
    CHECK_EQ(weft_run(&options, abandon_with_joiners, &parked), 0);
    for (int i = 0; i < 4; i++)
        thread_join(threads_that_join[i]);
}

static void *keep_going(void *arg) {
    for (;;)
        weft_yield();
    return arg;
}

static int abandon_running(void *arg) {
    for (int i = 0; i < 20; i++)
        CHECK_EQ(weft_go(keep_going, NULL), 0);
    for (int i = 0; i < 20; i++)
        CHECK_EQ(weft_go(end_at_once, NULL), 0);
    weft_yield();
    return (int)(intptr_t)arg;
}

TEST(abandoned_fibers_may_be_running_or_new) {
    weft_options options = {.abandon = true};
    for (long i = 0; i < scaled(100, 5); i++)
        CHECK_EQ(weft_run(&options, abandon_running, (void *)4), 4);
}

static weft_key abandoned_key;

static void *keep_things(void *arg) {
    CHECK_EQ(weft_local_set(abandoned_key, arg), 0);
    CHECK_EQ(weft_defer(free, NULL), 0);
    CHECK_EQ(weft_set_name("keeper"), 0);
    atomic_fetch_add(&running, 1);
    weft_sleep(WEFT_NEVER);
    return arg;
}

static int abandon_things(void *arg) {
    weft_spawn_options named = {.name = "never started", .stack_size = 1 << 20};
    weft_fiber fiber;
    atomic_store(&running, 0);
    CHECK_EQ(weft_go(keep_things, arg), 0);
    WAIT_UNTIL(atomic_load(&running) == 1);
    CHECK_EQ(weft_spawn_with(&fiber, &named, end_at_once, NULL), 0);
    return 0;
}

TEST(abandoned_fibers_leave_no_blocks_behind) {
    weft_options options = {.abandon = true};
    CHECK_EQ(weft_key_new(&abandoned_key, NULL), 0);
    CHECK_EQ(weft_run(&options, abandon_things, &running), 0);
    CHECK_EQ(weft_key_free(abandoned_key), 0);
    CHECK_EQ(wf_os_live_blocks(), 0);
}

static atomic_int phase;

static int join_across(void *arg) {
    (void)arg;
    return weft_join(parked, NULL, WEFT_NEVER);
}

static void *run_join_across(void *arg) {
    weft_options options = {.workers = 1};
    CHECK_EQ(weft_run(&options, join_across, NULL), -ECANCELED);
    return arg;
}

static int abandon_across(void *arg) {
    SPAWN(&parked, sleep_for_ever, NULL);
    threads_that_join[0] = thread_start(run_join_across, arg);
    WAIT_UNTIL(count_waiters() == 1);
    return 0;
}

static void abandon_across_runtimes(void *arg) {
    weft_options options = {.abandon = true};
    CHECK_EQ(weft_run(&options, abandon_across, arg), 0);
    thread_join(threads_that_join[0]);
}

TEST(a_fiber_of_another_runtime_that_waits_for_an_abandoned_one_gets_ecanceled) {
    struct child_end end = child_run(abandon_across_runtimes, NULL);
    CHECK_CHILD_WELL(&end);
}

static void *yield_until_phase_3(void *arg) {
    while (atomic_load(&phase) < 3)
        weft_yield();
    return arg;
}

static int join_other_runtime(void *arg) {
    void *result = NULL;
    CHECK_EQ(weft_go(yield_until_phase_3, NULL), 0); /* keeps the worker awake: it needs no notice */
    CHECK_EQ(weft_join(parked, &result, WEFT_NEVER), 0);
    CHECK(result == arg);
    atomic_store(&phase, 3);
    return 0;
}

static void *run_join_other(void *arg) {
    weft_options options = {.workers = 1};
    CHECK_EQ(weft_run(&options, join_other_runtime, arg), 0);
    atomic_store(&phase, 4);
    return NULL;
}

static void *wait_for_phase_2(void *arg) {
    WAIT_UNTIL(atomic_load(&phase) == 2);
    return arg;
}

/* The waker has handed the task over; now the runtime that it went to gets every chance to end first. */
static void linger_before_notify(const char *name) {
    if (strcmp(name, "submit.before_notify") != 0 || atomic_load(&phase) < 2)
        return;
    while (atomic_load(&phase) < 3)
        sched_yield();
    for (int i = 0; i < 2000 && atomic_load(&phase) < 4; i++)
        sched_yield();
}

static int host_other_runtime(void *arg) {
    (void)arg;
    atomic_store(&phase, 0);
    SPAWN(&parked, wait_for_phase_2, &phase);
    pthread_t thread = thread_start(run_join_other, &phase);
    WAIT_UNTIL(count_waiters() == 1);
    atomic_store(&phase, 2);
    WAIT_UNTIL(atomic_load(&phase) == 4);
    thread_join(thread);
    return 0;
}

static void wake_across_runtimes(void *arg) {
    wf_point_hook = linger_before_notify;
    CHECK_EQ(weft_run(NULL, host_other_runtime, arg), 0);
    wf_point_hook = NULL;
}

TEST(a_wake_across_runtimes_does_not_look_back_at_one_that_has_ended) {
    struct child_end end = child_run(wake_across_runtimes, NULL);
    CHECK_CHILD_WELL(&end);
}

static void *spawn_many(void *arg) {
    for (long i = 0; i < scaled(2000, 50); i++) {
        weft_fiber fiber;
        SPAWN(&fiber, end_at_once, NULL);
        if (i % 4 == 0)
            weft_yield();
        JOIN(fiber, NULL);
    }
    atomic_fetch_sub(&running, 1);
    return arg;
}

static int stats_first(void *arg) {
    weft_stats stats;
    (void)arg;
    atomic_store(&running, 8);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(weft_go(spawn_many, NULL), 0);
    while (atomic_load(&running) > 0) {
        CHECK_EQ(weft_get_stats(NULL, &stats), 0);
        CHECK_LE(stats.fibers_alive, stats.fibers_started); /* a picture, but never a negative one */
        CHECK_LE(stats.records_held, stats.fibers_started);
        CHECK_GE(stats.records_held, 1);
        CHECK_GE(stats.fibers_alive, 1);
        CHECK_LE(stats.stacks_in_use, stats.stacks_mapped);
        weft_yield();
    }
    return 0;
}

TEST(levels_in_the_statistics_are_never_below_zero) {
    CHECK_EQ(weft_run(NULL, stats_first, NULL), 0);
}

static void stats_body(void) {
    weft_stats before, stats;
    uint64_t spread[WEFT_WORKERS_MAX] = {0};
    weft_fiber fibers[20];
    CHECK_EQ(weft_get_stats(NULL, &before), 0);
    for (int i = 0; i < 20; i++)
        SPAWN(&fibers[i], end_at_once, NULL);
    for (int i = 0; i < 20; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(weft_get_stats(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_get_stats((weft_runtime *)&stats, &stats), -ESTALE);
    WAIT_UNTIL(weft_get_stats(weft_runtime_self(), &stats) == 0 && stats.fibers_ended == before.fibers_ended + 20);
    CHECK_EQ(stats.fibers_started, before.fibers_started + 20);
    CHECK_EQ(stats.fibers_alive, before.fibers_alive);
    CHECK_EQ(stats.records_held, before.records_held);
    CHECK_GE(stats.switches, before.switches + 20);
    CHECK_EQ(stats.workers, wf_test_workers());
    CHECK_LE(stats.workers_idle, stats.workers - 1);
    CHECK_GE(stats.stacks_mapped, 1);
    CHECK_EQ(stats.panics, 0);
    CHECK_TEXT(stats.poller, "epoll");
    CHECK(stats.guard != NULL);
    CHECK_EQ(weft_get_spread(NULL, spread, WEFT_WORKERS_MAX), wf_test_workers());
    CHECK_EQ(weft_get_spread(NULL, NULL, 0), wf_test_workers());
    CHECK_EQ(weft_get_spread(NULL, NULL, 1), -EINVAL);
    uint64_t sum = 0;
    for (unsigned i = 0; i < wf_test_workers(); i++)
        sum += spread[i];
    CHECK_GE(sum, stats.switches);
}

TEST(statistics_count_what_happened) {
    weft_stats stats;
    uint64_t spread[1];
    run_fibers(stats_body);
    CHECK_EQ(weft_get_stats(NULL, &stats), -ESTALE);
    CHECK_EQ(weft_get_spread(NULL, spread, 1), -ESTALE);
}

static void busy_body(void) {
    weft_fiber fibers[10];
    for (int i = 0; i < 10; i++)
        SPAWN(&fibers[i], end_at_once, NULL);
    CHECK_EQ(weft_sleep(weft_after(10 * WEFT_MICROSECOND)), 0);
    for (int i = 0; i < 10; i++)
        JOIN(fibers[i], NULL);
}

TEST(a_hundred_starts_and_stops_leave_nothing_behind) {
    run_fibers(busy_body);
    int64_t blocks = wf_os_live_blocks(), bytes = wf_os_mapped_bytes();
    for (int i = 0; i < 100; i++) {
        run_fibers(busy_body);
        CHECK_EQ(wf_os_live_blocks(), blocks);
        CHECK_EQ(wf_os_mapped_bytes(), bytes);
        wf_test_after_each(); /* threads and descriptors */
    }
}

static void *spawn_while_stopping(void *opaque) {
    weft_runtime *runtime = opaque;
    struct wf_engine *engine = &runtime->fibers.engine;
    atomic_store(&phase, 1);
    while (!wf_load_acquire(&engine->is_stopping))
        sched_yield();
    weft_fiber fiber;
    weft_spawn_options options = {.runtime = runtime};
    int status = weft_spawn_with(&fiber, &options, end_at_once, NULL);
    if (status == 0)
        status = weft_join(fiber, NULL, WEFT_NEVER);
    CHECK_EQ(status, -ECANCELED);
    atomic_store(&phase, 2);
    return NULL;
}

static void *compute_until_phase_2(void *arg) {
    atomic_fetch_add(&running, 1);
    while (atomic_load(&phase) < 2)
        sched_yield();
    return arg;
}

static int stop_with_one_busy(void *arg) {
    (void)arg;
    atomic_store(&phase, 0);
    atomic_store(&running, 0);
    CHECK_EQ(weft_go(compute_until_phase_2, NULL), 0);
    while (atomic_load(&running) < 1)
        sched_yield(); /* another worker has it */
    threads_that_join[0] = thread_start(spawn_while_stopping, weft_runtime_self());
    while (atomic_load(&phase) < 1)
        sched_yield();
    return 0;
}

static void run_stop_with_one_busy(void *arg) {
    weft_options options = {.abandon = true, .workers = 2};
    CHECK_EQ(weft_run(&options, stop_with_one_busy, arg), 0);
    thread_join(threads_that_join[0]);
}

TEST(spawn_into_a_runtime_that_is_stopping_gives_ecanceled) {
    struct child_end end = child_run(run_stop_with_one_busy, NULL);
    CHECK_CHILD_WELL(&end);
}
