/* SPDX-License-Identifier: MIT
 *
 * spec/deadlock_test.c - a program in which everybody waits for somebody else is told so, and one that does not is not.
 *
 * The silence of the tests that expect no report lasts longer than the second within which one is promised. Standard
 * error is a file meanwhile.
 */
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "support/child.h"
#include "support/quiet.h"
#include "support/run.h"

#define SILENCE_NS (1200 * WEFT_MILLISECOND)

static weft_fiber left;
static weft_fiber right;

static __attribute__((noinline)) int wait_at_a_known_place(weft_fiber other) {
    int status = weft_join(other, NULL, WEFT_NEVER);
    __asm__ volatile("" : "+r"(status)); /* no tail call: the frame stays */
    return status;
}

static void *join_right(void *arg) {
    wait_at_a_known_place(right);
    return arg;
}

static void *join_left(void *arg) {
    wait_at_a_known_place(left);
    return arg;
}

static int spawn_a_circle(void *arg) {
    (void)arg;
    const weft_spawn_options options = {.name = "left one"};
    weft_world_stop(); /* neither runs before both ids are known */
    CHECK_EQ(weft_spawn_with(&left, &options, join_right, NULL), 0);
    SPAWN(&right, join_left, NULL);
    weft_world_start();
    return 0;
}

static int spawn_a_circle_and_join(void *arg) {
    spawn_a_circle(arg);
    return weft_join(left, NULL, WEFT_NEVER);
}

static void check_report(const char *heading) {
    if (!strstr(text, heading) || !strstr(text, "\"left one\" (join_right)") || !strstr(text, "(join_left)") ||
        !strstr(text, "in join of fiber ") || !strstr(text, "wait_at_a_known_place"))
        fprintf(stderr, "%s", text);
    CHECK(strstr(text, heading));
    CHECK(strstr(text, "\"left one\" (join_right)"));
    CHECK(strstr(text, "(join_left)"));
    CHECK(strstr(text, "in join of fiber "));
    CHECK(strstr(text, "#0 weft_join"));
    CHECK(strstr(text, "wait_at_a_known_place"));
}

TEST(two_fibers_that_join_each_other_are_reported) {
    CHECK_EQ(run_quietly(NULL, spawn_a_circle_and_join, NULL), -EDEADLK);
    check_report("deadlock: all 3 fibers wait and nothing can wake them");
    CHECK(strstr(text, "(spawn_a_circle_and_join)"));
}

TEST(a_circle_that_the_first_fiber_leaves_behind_is_reported) {
    CHECK_EQ(run_quietly(NULL, spawn_a_circle, NULL), -EDEADLK);
    check_report("deadlock: all 2 fibers wait and nothing can wake them");
}

static int deadlock_again(void *arg) {
    CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    return spawn_a_circle_and_join(arg);
}

TEST(a_runtime_runs_well_after_one_that_was_in_a_deadlock) {
    CHECK_EQ(run_quietly(NULL, deadlock_again, NULL), -EDEADLK);
    CHECK_EQ(run_quietly(NULL, deadlock_again, NULL), -EDEADLK);
}

static weft_chan *channel;

static int receive_what_nobody_sends(void *arg) {
    int value;
    (void)arg;
    return weft_chan_recv(channel, &value, WEFT_NEVER);
}

TEST(a_receive_that_nobody_sends_to_is_reported) {
    CHECK_EQ(weft_chan_new(&channel, sizeof(int), 0), 0);
    CHECK_EQ(run_quietly(NULL, receive_what_nobody_sends, NULL), -EDEADLK);
    weft_chan_free(channel); /* nobody is left in its queue */
    CHECK(strstr(text, "(receive_what_nobody_sends)"));
    CHECK(strstr(text, " in receive on 0x"));
    CHECK(strstr(text, "#0 weft_chan_recv\n"));
}

static weft_mutex locks[2];
static weft_barrier both_hold_one;

static void *lock_both(void *arg) {
    intptr_t mine = (intptr_t)arg;
    CHECK_EQ(weft_mutex_lock(&locks[mine], WEFT_NEVER), 0);
    weft_barrier_wait(&both_hold_one, WEFT_NEVER);
    return (void *)(intptr_t)weft_mutex_lock(&locks[1 - mine], WEFT_NEVER);
}

static int lock_in_both_orders(void *arg) {
    (void)arg;
    CHECK_EQ(weft_go(lock_both, (void *)0), 0);
    CHECK_EQ(weft_go(lock_both, (void *)1), 0);
    return 0;
}

TEST(locks_taken_in_both_orders_are_reported) {
    locks[0] = (weft_mutex)WEFT_MUTEX_INIT;
    locks[1] = (weft_mutex)WEFT_MUTEX_INIT;
    both_hold_one = (weft_barrier)WEFT_BARRIER_INIT(2);
    CHECK_EQ(run_quietly(NULL, lock_in_both_orders, NULL), -EDEADLK);
    CHECK(strstr(text, "all 2 fibers wait"));
    char *one = strstr(text, " in mutex on 0x");
    CHECK(one && strstr(one + 1, " in mutex on 0x"));
}

static weft_cond nobody_signals;

static int wait_for_a_signal(void *arg) {
    (void)arg;
    CHECK_EQ(weft_mutex_lock(&locks[0], WEFT_NEVER), 0);
    return weft_cond_wait(&nobody_signals, &locks[0], WEFT_NEVER);
}

TEST(a_condition_that_nobody_signals_is_reported) {
    locks[0] = (weft_mutex)WEFT_MUTEX_INIT;
    nobody_signals = (weft_cond)WEFT_COND_INIT;
    CHECK_EQ(run_quietly(NULL, wait_for_a_signal, NULL), -EDEADLK);
    CHECK(strstr(text, " in condition on 0x"));
    CHECK(strstr(text, "#0 weft_cond_wait\n"));
}

static int join_with_a_deadline(void *arg) {
    spawn_a_circle(arg);
    return weft_join(left, NULL, weft_after(SILENCE_NS)) == -ETIMEDOUT ? 3 : 4;
}

TEST(nothing_is_reported_while_a_deadline_is_pending) {
    weft_options options = {.abandon = true};
    CHECK_EQ(run_quietly(&options, join_with_a_deadline, NULL), 3);
    CHECK_TEXT(text, "");
}

static void *sleep_long(void *arg) {
    CHECK_EQ(weft_sleep(weft_after(SILENCE_NS)), 0);
    return arg;
}

static int join_a_sleeper(void *arg) {
    (void)arg;
    weft_fiber sleeper;
    SPAWN(&sleeper, sleep_long, NULL);
    return weft_join(sleeper, NULL, WEFT_NEVER);
}

TEST(nothing_is_reported_while_a_fiber_sleeps) {
    CHECK_EQ(run_quietly(NULL, join_a_sleeper, NULL), 0);
    CHECK_TEXT(text, "");
}

static void *run_beside(void *arg) {
    atomic_int *is_over = arg;
    weft_time limit = weft_after(PATIENCE_NS);
    while (!atomic_load(is_over)) { /* a thread of the program that has nothing to do with fibers */
        CHECK_LE(weft_now(), limit);
        sched_yield();
    }
    return NULL;
}

/* Everybody waits and no deadline is pending; only the existence of another thread speaks against a deadlock. The runtime
 * would wait for ever, so it is in a child, which an alarm ends. */
static void deadlock_beside_a_thread(void *arg) {
    static atomic_int is_over;
    (void)arg;
    alarm(2);
    thread_start(run_beside, &is_over);
    weft_run(NULL, spawn_a_circle_and_join, NULL);
}

static void deadlock_with_the_report_turned_off(void *arg) {
    weft_options options = {.no_deadlock_report = true};
    (void)arg;
    alarm(2);
    weft_run(&options, spawn_a_circle_and_join, NULL);
}

static void check_waits_for_ever(void (*body)(void *arg)) {
    struct child_end end = child_run(body, NULL);
    if (!WIFSIGNALED(end.status) || WTERMSIG(end.status) != SIGALRM)
        fprintf(stderr, "status %#x, standard error: %s\n", (unsigned)end.status, end.text);
    CHECK(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGALRM);
    CHECK(!strstr(end.text, "deadlock"));
}

TEST(nothing_is_reported_beside_a_thread_of_the_program) {
    if (IS_THREAD_SANITIZED) /* in the child of a fork it has no thread of its own, and takes this one for it */
        return;
    check_waits_for_ever(deadlock_beside_a_thread);
}

TEST(nothing_is_reported_when_the_option_says_so) {
    check_waits_for_ever(deadlock_with_the_report_turned_off);
}

static uint64_t count_takeovers(void) {
    weft_thread_stats stats;
    CHECK_EQ(weft_get_thread_stats(NULL, &stats), 0);
    return stats.takeovers;
}

static void be_taken(void) {
    uint64_t before = count_takeovers();
    weft_blocking_begin();
    WAIT_UNTIL(count_takeovers() > before);
}

static int deadlock_beside_spare_threads(void *arg) {
    be_taken();
    weft_blocking_end();
    return spawn_a_circle_and_join(arg);
}

TEST(a_deadlock_is_reported_beside_threads_without_anything_to_do) {
    CHECK_EQ(run_quietly(NULL, deadlock_beside_spare_threads, NULL), -EDEADLK);
    check_report("deadlock: all 3 fibers wait and nothing can wake them");
}

static int deadlock_inside_a_region(void *arg) {
    spawn_a_circle(arg);
    be_taken();
    return weft_join(left, NULL, WEFT_NEVER);
}

static int deadlock_inside_a_region_at_once(void *arg) {
    spawn_a_circle(arg);
    weft_blocking_begin();
    return weft_join(left, NULL, WEFT_NEVER);
}

TEST(a_deadlock_of_fibers_that_wait_inside_regions_is_reported) {
    CHECK_EQ(run_quietly(NULL, deadlock_inside_a_region, NULL), -EDEADLK);
    CHECK(strstr(text, "deadlock: all 3 fibers wait and nothing can wake them"));
    CHECK_EQ(run_quietly(NULL, deadlock_inside_a_region_at_once, NULL), -EDEADLK);
    CHECK(strstr(text, "deadlock: all 3 fibers wait and nothing can wake them"));
}

static void *receive_one(void *arg) {
    CHECK_EQ(receive_what_nobody_sends(arg), 0);
    return arg;
}

/* A call that ends by itself, after longer than a report would take. */
static int block_beside_waiters(void *arg) {
    struct itimerspec end = {.it_value = {SILENCE_NS / WEFT_SECOND, SILENCE_NS % WEFT_SECOND}};
    uint64_t expirations;
    int value = 4;
    CHECK_EQ(weft_go(receive_one, arg), 0);
    int clock = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    CHECK_GE(clock, 0);
    CHECK_EQ(timerfd_settime(clock, 0, &end, NULL), 0);
    weft_blocking_begin();
    CHECK_EQ(read(clock, &expirations, sizeof expirations), sizeof expirations);
    weft_blocking_end();
    close(clock);
    return weft_chan_send(channel, &value, WEFT_NEVER);
}

TEST(nothing_is_reported_while_a_fiber_is_inside_a_region) {
    CHECK_EQ(weft_chan_new(&channel, sizeof(int), 0), 0);
    CHECK_EQ(run_quietly(NULL, block_beside_waiters, NULL), 0);
    CHECK_TEXT(text, "");
    weft_chan_free(channel);
}
