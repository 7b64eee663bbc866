/* SPDX-License-Identifier: MIT
 *
 * spec/idle_test.c - what rests costs nothing, and what arrives wakes one.
 *
 * Counted by the kernel: context switches of every thread of the process over a second in which a thousand fibers wait
 * and one sleeps for an hour.
 */
#include <dirent.h>
#include <sched.h>
#include <unistd.h>

#include "support/child.h"
#include "support/run.h"

static weft_fiber blocker;
static atomic_int is_released;
static atomic_long waiting;

static void *sleep_for_an_hour(void *arg) {
    (void)arg;
    weft_sleep(weft_after(3600 * WEFT_SECOND));
    return NULL;
}

static void *wait_for_blocker(void *arg) {
    (void)arg;
    atomic_fetch_add(&waiting, 1);
    weft_join(blocker, NULL, WEFT_NEVER);
    return NULL;
}

/* Context switches of all threads of this process except the caller. */
static long other_switches(void) {
    long sum = 0;
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        char path[300], line[128];
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == gettid())
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) {
            long value;
            if (sscanf(line, "voluntary_ctxt_switches: %ld", &value) == 1 ||
                sscanf(line, "nonvoluntary_ctxt_switches: %ld", &value) == 1)
                sum += value;
        }
        if (file)
            fclose(file);
    }
    closedir(folder);
    return sum;
}

static void *watch_idle(void *arg) {
    (void)arg;
    weft_runtime *runtime;
    WAIT_UNTIL((runtime = weft_runtime_self()) && atomic_load(&waiting) == scaled(1000, 100));
    long before, after;
    weft_stats first, last;
    weft_time limit = weft_after(PATIENCE_NS);
    do { /* until trimming and searching have come to rest */
        before = other_switches();
        CHECK_EQ(weft_get_stats(runtime, &first), 0);
        weft_sleep(weft_after(WEFT_SECOND));
        after = other_switches();
        CHECK_EQ(weft_get_stats(runtime, &last), 0);
    } while (after != before && weft_now() < limit);
    CHECK_EQ(after, before);
    CHECK_EQ(last.worker_parks, first.worker_parks);
    CHECK_EQ(last.worker_wakes, first.worker_wakes);
    CHECK_EQ(last.workers_idle, last.workers);
    atomic_store(&is_released, 1);
    return NULL;
}

static int rest(void *arg) {
    (void)arg;
    SPAWN(&blocker, sleep_for_an_hour, NULL);
    for (long i = scaled(1000, 100); i > 0; i--)
        CHECK_EQ(weft_go(wait_for_blocker, NULL), 0);
    weft_fiber end;
    SPAWN(&end, sleep_for_an_hour, NULL);
    return weft_join(end, NULL, WEFT_NEVER);
}

/* An idle runtime cannot be asked to end without waking it, so the process that holds it is a child, and exits. */
static void *watch_and_exit(void *arg) {
    watch_idle(arg);
    _exit(0);
}

static void rest_in_child(void *arg) {
    thread_start(watch_and_exit, arg);
    weft_run(NULL, rest, NULL);
}

TEST(an_idle_runtime_does_not_wake_up) {
    if (IS_THREAD_SANITIZED) /* its own thread wakes up */
        return;
    struct child_end end = child_run(rest_in_child, NULL);
    if (end.status != 0)
        fprintf(stderr, "%s", end.text);
    CHECK_EQ(end.status, 0);
}

static atomic_int runs;
static atomic_int is_over;

static void *count_run(void *arg) {
    atomic_fetch_add(&runs, 1);
    return arg;
}

static void *submit_one_by_one(void *arg) {
    (void)arg;
    weft_runtime *runtime;
    weft_stats before, after;
    WAIT_UNTIL((runtime = weft_runtime_self()));
    uint64_t count = 200, wakes = count * 2;
    /* Waking two would be twice as many. The sleeper of the test wakes somebody now and then, and so does the monitor where
     * threads wait for a core: so the best of some rounds counts. */
    for (int round = 0; round < 5 && wakes > count * 11 / 10; round++) {
        wakes = 0;
        for (uint64_t i = 0; i < count; i++) {
            WAIT_UNTIL(weft_get_stats(runtime, &before) == 0 && before.workers_idle == before.workers);
            weft_fiber fiber;
            SPAWN(&fiber, count_run, NULL);
            JOIN(fiber, NULL);
            CHECK_EQ(weft_get_stats(runtime, &after), 0);
            wakes += after.worker_wakes - before.worker_wakes;
        }
        printf("    %llu wakes for %llu submits\n", (unsigned long long)wakes, (unsigned long long)count);
    }
    CHECK_LE(wakes, count * 11 / 10);
    CHECK_GE(wakes, count * 9 / 10);
    atomic_store(&is_over, 1);
    return NULL;
}

static void *wait_until_over(void *arg) {
    while (!atomic_load(&is_over))
        weft_sleep(weft_after(500 * WEFT_MILLISECOND));
    return arg;
}

static void idle_until_over(void) {
    wait_until_over(NULL);
}

TEST(a_submit_wakes_one_worker) {
    pthread_t thread = thread_start(submit_one_by_one, NULL);
    run_fibers(idle_until_over);
    thread_join(thread);
    CHECK(atomic_load(&runs) > 0 && atomic_load(&runs) % 200 == 0);
}

static void check_default_workers(void) {
    cpu_set_t set;
    weft_stats stats;
    CHECK_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    CHECK_LE(stats.workers, CPU_COUNT(&set));
    CHECK_GE(stats.workers, 1);
}

TEST(by_default_there_are_no_more_workers_than_processors) {
    char *given = getenv("WEFT_WORKERS");
    char kept[16] = "";
    if (given)
        snprintf(kept, sizeof kept, "%s", given);
    unsetenv("WEFT_WORKERS");
    run_fibers(check_default_workers);
    if (given)
        setenv("WEFT_WORKERS", kept, 1);
}

/* First a time in which calls block and fibers compute, with threads that come and go; then rest. */
static atomic_int light_runs;

static void *block_until_taken(void *arg) {
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    uint64_t before = stats.takeovers;
    weft_blocking_begin();
    WAIT_UNTIL(weft_get_thread_stats(NULL, &stats) == 0 && stats.takeovers > before);
    weft_blocking_end();
    return arg;
}

static void *compute_until_others_ran(void *arg) {
    weft_time limit = weft_after(PATIENCE_NS);
    while (atomic_load(&light_runs) == 0) {
        CHECK_LE(weft_now(), limit);
        sched_yield();
    }
    return arg;
}

static void *run_lightly(void *arg) {
    weft_thread_stats stats;
    while (weft_get_thread_stats(NULL, &stats) == 0 && stats.hogs == 0)
        weft_sleep(weft_after(WEFT_MILLISECOND));
    atomic_store(&light_runs, 1);
    return arg;
}

static int rest_after_work(void *arg) {
    weft_fiber fibers[16];
    CHECK_EQ(weft_go(run_lightly, NULL), 0);
    for (int i = 0; i < 16; i++)
        SPAWN(&fibers[i], i < 4 ? block_until_taken : compute_until_others_ran, NULL);
    for (int i = 0; i < 16; i++)
        JOIN(fibers[i], NULL);
    return rest(arg);
}

static void rest_after_work_in_child(void *arg) {
    thread_start(watch_and_exit, arg);
    weft_run(&(weft_options){.keep_alive = 10 * WEFT_MILLISECOND}, rest_after_work, NULL);
}

TEST(a_runtime_that_had_calls_and_computations_to_stand_in_for_rests_again) {
    if (IS_THREAD_SANITIZED) /* its own thread wakes up */
        return;
    atomic_store(&waiting, 0);
    struct child_end end = child_run(rest_after_work_in_child, NULL);
    CHECK_CHILD_WELL(&end);
}
