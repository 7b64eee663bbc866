/* SPDX-License-Identifier: MIT
 *
 * unit/sched/replay_test.c - replay from inside: the trace of all choices, the lanes, and the virtual clock.
 *
 * Two runs are the same when their traces are: a hash of every choice and of the moment at which it was made.
 */
#include "fiber/fiber.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/futex.h"
#include "os/poll.h"
#include "os/thread.h"
#include "support/run.h"

enum { FIBERS = 40, ROUNDS = 10 };

static struct wf_replay seen;

static void remember_replay(void) {
    seen = wf_worker_self()->base.engine->replay;
}

static void run_replay(uint64_t seed, void (*body)(void)) {
    weft_options options = {.replay_seed = seed, .workers = 8};
    run_fibers_with(&options, body);
}

/* First of all: fork is prepared for once, by the first replay of the process. */
TEST(a_replay_that_cannot_start_leaves_the_clock_alone) {
    wf_fault_order(WF_CALL_ATFORK, 1, ENOMEM, 0);
    CHECK_EQ(wf_os_clock_replay_begin(), -ENOMEM);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(wf_os_clock_lag(), WF_NO_LAG);
    CHECK_EQ(wf_os_clock_replay_begin(), 0);
    wf_os_clock_replay_end();
}

/* Yields, sleeps, joins and spawns by numbers of its own, which are the same in each run. */
static void *wander(void *arg) {
    uint64_t state = (uintptr_t)arg * 77 + 1;
    for (int i = 0; i < ROUNDS; i++) {
        weft_fiber child;
        switch (random_below(&state, 4)) {
        case 0:
            weft_yield();
            break;
        case 1:
            weft_sleep(weft_after((int64_t)random_below(&state, 1000) * WEFT_MILLISECOND));
            break;
        case 2:
            CHECK_EQ(weft_set_priority((weft_priority)random_below(&state, 3)), 0);
            break;
        default:
            if ((uintptr_t)arg < 4 * FIBERS) {
                SPAWN(&child, wander, (void *)((uintptr_t)arg + 2 * FIBERS));
                JOIN(child, NULL);
            }
        }
    }
    return NULL;
}

static void wander_all(void) {
    weft_fiber fibers[FIBERS];
    for (uintptr_t i = 0; i < FIBERS; i++)
        SPAWN(&fibers[i], wander, (void *)(i + 1));
    for (int i = 0; i < FIBERS; i++)
        JOIN(fibers[i], NULL);
    remember_replay();
}

TEST(two_runs_of_one_seed_make_the_same_choices_at_the_same_moments) {
    for (uint64_t seed = 1; seed <= (uint64_t)scaled(30, 3); seed++) {
        run_replay(seed, wander_all);
        struct wf_replay first = seen;
        CHECK_GE(first.picks, FIBERS);
        run_replay(seed, wander_all);
        CHECK_EQ(seen.picks, first.picks);
        CHECK_EQ(seen.trace, first.trace);
    }
}

TEST(seeds_that_differ_make_other_choices) {
    run_replay(1, wander_all);
    uint64_t trace = seen.trace;
    for (uint64_t seed = 2; seed < (IS_THREAD_SANITIZED ? 6 : 20); seed++) {
        run_replay(seed, wander_all);
        CHECK_NE(seen.trace, trace);
    }
}

static int spawn_and_join(void *arg) {
    weft_fiber fiber;
    int error = weft_spawn(&fiber, wander, arg);
    return error ? error : weft_join(fiber, NULL, WEFT_NEVER);
}

static void sweep_memory(enum wf_system_call call) {
    for (long nth = 1, hits = 1; hits > 0; nth++) {
        weft_options options = {.replay_seed = 1};
        wf_fault_order(call, nth, ENOMEM, 0);
        int outcome = weft_run(&options, spawn_and_join, (void *)(uintptr_t)(4 * FIBERS));
        hits = wf_fault_hits();
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        CHECK(outcome == 0 || (outcome < 0 && hits > 0));
        CHECK_EQ(wf_os_clock_lag(), WF_NO_LAG);
    }
}

TEST(a_replay_without_memory_ends_with_an_error_and_a_real_clock) {
    sweep_memory(WF_CALL_MMAP);
    sweep_memory(WF_CALL_ALLOC);
}

static int first_number;

static void *note_number(void *arg) {
    if (first_number < 0)
        first_number = (int)(intptr_t)arg;
    return NULL;
}

static void spawn_eight(void) {
    weft_fiber fibers[8];
    first_number = -1;
    for (intptr_t i = 0; i < 8; i++)
        SPAWN(&fibers[i], note_number, (void *)i);
    for (int i = 0; i < 8; i++)
        JOIN(fibers[i], NULL);
}

TEST(each_ready_fiber_comes_first_under_some_seed) {
    unsigned missing = 255;
    for (uint64_t seed = 1; seed <= 500 && missing; seed++) {
        run_replay(seed, spawn_eight);
        missing &= ~(1u << first_number);
    }
    CHECK_EQ(missing, 0);
}

static char letters[64];

static void *note_letter(void *arg) {
    letters[strlen(letters)] = *(const char *)arg;
    return NULL;
}

static void spawn_in_lanes(void) {
    const weft_priority priorities[] = {WEFT_PRIORITY_LOW, WEFT_PRIORITY_NORMAL, WEFT_PRIORITY_HIGH};
    const char *const names[] = {"l", "n", "h"};
    weft_fiber fibers[30];
    memset(letters, 0, sizeof letters);
    CHECK_EQ(weft_set_priority(WEFT_PRIORITY_HIGH), 0);
    for (int i = 0; i < 30; i++) {
        weft_spawn_options options = {.priority = priorities[i % 3]};
        CHECK_EQ(weft_spawn_with(&fibers[i], &options, note_letter, (void *)names[i % 3]), 0);
    }
    for (int i = 0; i < 30; i++)
        JOIN(fibers[i], NULL);
}

/* A visit of the loop may give one fiber of a lower lane its turn, no more. */
TEST(lanes_keep_their_order) {
    for (uint64_t seed = 1; seed < 30; seed++) {
        run_replay(seed, spawn_in_lanes);
        CHECK_EQ(strlen(letters), 30);
        int early = 0;
        for (int i = 0; i < 10; i++)
            early += letters[i] != 'h';
        CHECK_LE(early, 2);
    }
}

static atomic_long ended;

static void *pin_and_yield(void *arg) {
    if ((intptr_t)arg % 2)
        CHECK_EQ(weft_pin(), 0);
    weft_yield();
    if ((intptr_t)arg % 2)
        weft_unpin();
    atomic_fetch_add(&ended, 1);
    return NULL;
}

static void overflow(void) {
    const long count = (IS_THREAD_SANITIZED ? 4 : 20) * WF_RING_CAPACITY;
    atomic_store(&ended, 0);
    for (intptr_t i = 0; i < count; i++)
        CHECK_EQ(weft_go(pin_and_yield, (void *)i), 0);
    WAIT_UNTIL(atomic_load(&ended) == count);
    remember_replay();
}

TEST(more_ready_fibers_than_a_ring_holds_run_the_same_way_twice) {
    run_replay(3, overflow);
    uint64_t trace = seen.trace;
    run_replay(3, overflow);
    CHECK_EQ(seen.trace, trace);
}

TEST(a_virtual_clock_counts_readings_and_jumps_and_never_goes_back) {
    CHECK_EQ(wf_os_clock_replay_begin(), 0);
    int64_t now = wf_os_now();
    CHECK_EQ(wf_os_now(), now + 100);
    CHECK_EQ(wf_os_now_coarse(), now + 100);
    wf_os_clock_jump(now + 5000);
    CHECK_EQ(wf_os_now(), now + 5100);
    wf_os_clock_jump(now);
    CHECK_EQ(wf_os_now(), now + 5200);
    CHECK_EQ(wf_os_clock_replay_begin(), -EBUSY);
    wf_os_clock_replay_end();
    CHECK_EQ(wf_os_clock_replay_begin(), 0);
    CHECK_EQ(wf_os_now(), now);
    wf_os_clock_replay_end();
    wf_os_clock_jump(WF_NEVER);
    CHECK(wf_os_now() != WF_NEVER);
}

TEST(deadlines_become_real_ones_by_their_distance) {
    CHECK_EQ(wf_os_clock_to_real(5, WF_NO_LAG), 5);
    CHECK_EQ(wf_os_clock_to_real(-5, WF_NO_LAG), 0);
    CHECK_EQ(wf_os_clock_to_real(5, 10), 15);
    CHECK_EQ(wf_os_clock_to_real(-5, 10), 10);
    CHECK_EQ(wf_os_clock_to_real(15, -10), 5);
    CHECK_EQ(wf_os_clock_to_real(5, -10), 0);
    CHECK_EQ(wf_os_clock_to_real(WF_NEVER, 10), WF_NEVER);
    CHECK_EQ(wf_os_clock_to_real(WF_NEVER, -10), WF_NEVER);
    CHECK_EQ(wf_os_clock_to_real(WF_NEVER - 1, 10), WF_NEVER);
    CHECK_EQ(wf_os_clock_lag(), WF_NO_LAG);
}

TEST(a_thread_that_waits_really_waits_and_finds_the_moment_passed) {
    _Atomic uint32_t word = 0;
    struct wf_os_poll poll;
    CHECK_EQ(wf_os_poll_open(&poll), 0);
    CHECK_EQ(wf_os_clock_replay_begin(), 0);
    int64_t deadline = wf_time_add(wf_os_now(), WEFT_MILLISECOND);
    while (wf_os_futex_wait(&word, 0, deadline) != -ETIMEDOUT)
        continue;
    CHECK_GE(wf_os_now(), deadline);
    deadline = wf_time_add(wf_os_now(), WEFT_MILLISECOND);
    wf_os_sleep_until(deadline);
    CHECK_GE(wf_os_now(), deadline);
    deadline = wf_time_add(wf_os_now(), WEFT_MILLISECOND);
    while (wf_os_now_coarse() < deadline)
        wf_os_poll_wait(&poll, deadline);
    int64_t now = wf_os_now();
    wf_os_poll_wait(&poll, 0);
    CHECK_EQ(wf_os_now(), now + 200); /* one reading in between, and a look takes no time */
    wf_os_clock_replay_end();
    wf_os_poll_close(&poll);
}

static void sleep_with_unknown_company(void) {
    wf_fault_order(WF_CALL_THREAD_COUNT, 1, EACCES, 1);
    weft_time moment = weft_after(WEFT_MILLISECOND);
    CHECK_EQ(weft_sleep(moment), 0);
    CHECK_GE(weft_now(), moment);
    CHECK_GE(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
}

TEST(where_threads_cannot_be_counted_time_passes_as_it_does) {
    run_replay(1, sleep_with_unknown_company);
}
