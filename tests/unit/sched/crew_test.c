/* SPDX-License-Identifier: MIT
 *
 * unit/sched/crew_test.c - threads: how many there may be, who goes home and when, and what happens to them at the end.
 *
 * At the limit calls keep their processor and nobody in the runtime may be free to let them go, so a plain thread does.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/point.h"
#include "fiber/fiber.h"
#include "support/child.h"
#include "support/door.h"
#include "support/quiet.h"

static atomic_int began;
static atomic_int has_run;
static _Atomic(struct wf_engine *) engine_now;

static void *give_back(void *arg) {
    return arg;
}

static int count_in_text(const char *wanted) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, wanted)); at++)
        count++;
    return count;
}

static void *wait_at_the_door(void *arg) {
    weft_blocking_begin();
    atomic_fetch_add(&began, 1);
    door_wait();
    weft_blocking_end();
    return arg;
}

static void *wait_inside(void *arg) {
    atomic_fetch_add(&began, 1);
    door_wait();
    return arg;
}

static void *wait_in_a_long_call(void *arg) {
    return weft_blocking(wait_inside, arg);
}

static void *compute_until_the_flag(void *arg) {
    atomic_fetch_add(&began, 1);
    COMPUTE_UNTIL(atomic_load(&has_run));
    return arg;
}

/* On a plain thread: every processor is in a call or computes, and a thread was wanted in vain. */
static void *let_go_when_denied(void *arg) {
    weft_thread_stats stats;
    COMPUTE_UNTIL(weft_get_thread_stats(NULL, &stats) == 0 && stats.denied > 0 &&
                  atomic_load(&began) >= (int)wf_test_workers());
    atomic_store(&has_run, 1);
    door_lift();
    return arg;
}

static int reach_the_limit_with(weft_fn block) {
    enum { MORE = 3 };
    weft_fiber fibers[64 + MORE];
    unsigned count = wf_test_workers() + MORE;
    atomic_store(&began, 0);
    atomic_store(&has_run, 0);
    door_shut();
    pthread_t thread = thread_start(let_go_when_denied, NULL);
    for (unsigned i = 0; i < count; i++)
        SPAWN(&fibers[i], block, &fibers[i]);
    for (unsigned i = 0; i < count; i++) {
        void *result = NULL;
        JOIN(fibers[i], &result);
        CHECK(result == &fibers[i]);
    }
    thread_join(thread);
    door_drop();
    return 0;
}

static int reach_the_limit(void *arg) {
    (void)arg;
    reach_the_limit_with(wait_at_the_door);
    reach_the_limit_with(wait_in_a_long_call);
    reach_the_limit_with(compute_until_the_flag);
    CHECK_EQ(thread_stats().takeovers, 0);
    CHECK_EQ(weft_bind(NULL), -EAGAIN);
    CHECK_EQ(thread_stats().threads, wf_test_workers() + 1);
    CHECK_EQ(thread_stats().threads_peak, wf_test_workers() + 1);
    return 5;
}

TEST(at_the_limit_of_threads_calls_keep_their_processor_and_that_is_said_once) {
    weft_options options = {.workers = wf_test_workers(), .max_threads = wf_test_workers() + 1};
    CHECK_EQ(run_quietly(&options, reach_the_limit, NULL), 5);
    CHECK_EQ(count_in_text("there can be no more threads"), 1);
}

static int exceed_the_limit_by_far(void *arg) {
    (void)arg;
    reach_the_limit_with(wait_at_the_door);
    CHECK_GE(thread_stats().takeovers, 1);
    reach_the_limit_with(compute_until_the_flag);
    CHECK_LE(thread_stats().threads_peak, wf_test_workers() + 3);
    return 5;
}

TEST(as_many_threads_as_the_option_says_and_no_more_are_started) {
    weft_options options = {.workers = wf_test_workers(), .max_threads = wf_test_workers() + 3};
    CHECK_EQ(run_quietly(&options, exceed_the_limit_by_far, NULL), 5);
    CHECK_LE(count_in_text("there can be no more threads"), 1);
}

static int return_nothing(void *arg) {
    (void)arg;
    return 0;
}

TEST(options_that_make_no_sense_are_refused) {
    const weft_options wrong[] = {
        {.workers = 4, .max_threads = 4},
        {.workers = 4, .max_threads = 1},
        {.max_threads = 4 * 1024 * 1024 + 1},
        {.max_bound = 4 * 1024 * 1024 + 1},
        {.keep_alive = -1},
        {.keep_alive = INT64_MIN},
        {.bound_fallback = (weft_fallback)3},
        {.bound_fallback = (weft_fallback)-1},
        {.replay_seed = 1, .max_threads = 1},
        {.workers = WEFT_WORKERS_MAX + 1},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_EQ(run_quietly(&wrong[i], return_nothing, NULL), -EINVAL);
        CHECK_EQ(count_in_text("has to be from"), 1);
    }
    CHECK_EQ(run_quietly(&(weft_options){.workers = 4, .max_threads = 5}, return_nothing, NULL), 0);
    CHECK_EQ(run_quietly(&(weft_options){.keep_alive = INT64_MAX}, return_nothing, NULL), 0);
    CHECK_TEXT(text, "");
}

TEST(environment_values_that_make_no_sense_are_refused) {
    const char *const names[] = {"WEFT_MAX_THREADS", "WEFT_MAX_BOUND"};
    const char *const values[] = {"0", "-1", "", "many", "4194305", "99999999999999999999G", "3 "};
    const weft_options explicit = {.workers = 1, .max_threads = 10, .max_bound = 10};
    for (size_t i = 0; i < 2; i++) {
        for (size_t n = 0; n < sizeof values / sizeof values[0]; n++) {
            setenv(names[i], values[n], 1);
            CHECK_EQ(run_quietly(NULL, return_nothing, NULL), -EINVAL);
            CHECK(strstr(text, names[i]) != NULL);
            CHECK_EQ(run_quietly(&explicit, return_nothing, NULL), 0); /* an option that is set wins */
        }
        unsetenv(names[i]);
    }
    setenv("WEFT_MAX_THREADS", "5", 1);
    CHECK_EQ(run_quietly(&(weft_options){.workers = 5}, return_nothing, NULL), -EINVAL);
    CHECK_EQ(run_quietly(&(weft_options){.workers = 4}, return_nothing, NULL), 0);
    unsetenv("WEFT_MAX_THREADS");
}

static void *block_and_return(void *arg) {
    uint64_t before = thread_stats().takeovers;
    weft_blocking_begin();
    WAIT_UNTIL(thread_stats().takeovers > before);
    weft_blocking_end();
    return arg;
}

static bool are_all_counted(void) {
    weft_thread_stats stats = thread_stats();
    return stats.threads == 2 + stats.births - stats.deaths; /* 2: the caller's and the monitor */
}

/* Spare threads whose time is over at once race with whoever wants to hire them. */
static void hire_and_retire(void) {
    for (long i = scaled(300, 10); i > 0; i--) {
        weft_fiber fibers[4];
        for (int n = 0; n < 4; n++)
            SPAWN(&fibers[n], give_back, NULL);
        weft_blocking(give_back, NULL);
        for (int n = 0; n < 4; n++)
            JOIN(fibers[n], NULL);
        if (i % 50 == 0)
            block_and_return(NULL);
    }
    wait_until_threads_are_gone();
    WAIT_UNTIL(are_all_counted());
    CHECK_GE(thread_stats().births, wf_test_workers() - 1);
}

TEST(threads_that_have_nothing_to_do_go_home_and_are_counted) {
    const int64_t times[] = {1, 50 * WEFT_MICROSECOND, WEFT_MILLISECOND};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        run_fibers_with(&(weft_options){.keep_alive = times[i]}, hire_and_retire);
}

TEST(a_runtime_starts_although_its_threads_are_kept_for_no_time_at_all) {
    for (long i = scaled(100, 10); i > 0; i--)
        CHECK_EQ(weft_run(&(weft_options){.keep_alive = 1, .workers = 8}, return_nothing, NULL), 0);
}

/* What others do when the first fiber returns. */
static weft_chan *chan;

static void *wait_in_a_channel_inside(void *arg) {
    int value;
    bool must_be_taken = arg != NULL;
    weft_blocking_begin();
    if (must_be_taken)
        WAIT_UNTIL(wf_worker_state(&wf_worker_self()->base) == WF_WORKER_ALONE);
    atomic_fetch_add(&began, 1);
    weft_chan_recv(chan, &value, WEFT_NEVER);
    weft_blocking_end();
    return arg;
}

static void *sleep_inside(void *arg) {
    weft_blocking_begin();
    atomic_fetch_add(&began, 1);
    weft_sleep(weft_after(1000 * PATIENCE_NS));
    weft_blocking_end();
    return arg;
}

static void *let_go_at_the_end(void *arg) {
    COMPUTE_UNTIL(atomic_load(&engine_now) && wf_load_acquire(&atomic_load(&engine_now)->is_stopping));
    atomic_store(&has_run, 1);
    door_lift();
    return arg;
}

static int return_beside_all(void *arg) {
    const weft_fn kinds[] = {wait_at_the_door, wait_in_a_long_call,    wait_in_a_channel_inside,
                             sleep_inside,     compute_until_the_flag, wait_in_a_channel_inside};
    (void)arg;
    for (int i = 0; i < 6; i++)
        CHECK_EQ(weft_go(kinds[i], i < 3 ? NULL : &chan), 0);
    WAIT_UNTIL(atomic_load(&began) == 6);
    atomic_store(&engine_now, &wf_worker_self()->fibers->engine);
    return 7;
}

TEST(fibers_inside_regions_and_computations_are_abandoned) {
    for (long i = scaled(20, 3); i > 0; i--) {
        atomic_store(&began, 0);
        atomic_store(&has_run, 0);
        atomic_store(&engine_now, NULL);
        CHECK_EQ(weft_chan_new(&chan, sizeof(int), 0), 0);
        door_shut();
        pthread_t thread = thread_start(let_go_at_the_end, NULL);
        CHECK_EQ(weft_run(&(weft_options){.abandon = true}, return_beside_all, NULL), 7);
        thread_join(thread);
        weft_chan_free(chan);
        door_drop();
    }
}

/* A thread that is about to become spare while everything ends. */
static atomic_int is_armed;

static void linger_before_spare(const char *name) {
    if (strcmp(name, "crew.before_spare") != 0 || !atomic_exchange(&is_armed, 0))
        return;
    struct wf_engine *engine = atomic_load(&engine_now);
    COMPUTE_UNTIL(wf_load_relaxed(&engine->is_draining) || wf_load_relaxed(&engine->is_stopping));
    for (int i = 0; i < 200; i++)
        sched_yield();
}

static int be_taken_and_return(void *arg) {
    atomic_store(&engine_now, &wf_worker_self()->fibers->engine);
    atomic_store(&is_armed, 1);
    block_and_return(arg);
    return 3;
}

TEST(a_runtime_that_ends_waits_for_a_thread_that_is_on_its_way_home) {
    for (long i = scaled(10, 2); i > 0; i--) {
        wf_point_hook = linger_before_spare;
        CHECK_EQ(weft_run(&(weft_options){.abandon = i % 2}, be_taken_and_return, NULL), 3);
        wf_point_hook = NULL;
        CHECK_EQ(atomic_load(&is_armed), 0);
    }
}

/* It is hired again and again before it is spare: somebody else is started. */
static void hold_until_others_were_hired(const char *name) {
    if (strcmp(name, "crew.before_spare") != 0 || !atomic_exchange(&is_armed, 0))
        return;
    struct wf_crew *crew = &atomic_load(&engine_now)->crew;
    uint64_t before = wf_load_relaxed(&crew->takeovers);
    COMPUTE_UNTIL(wf_load_relaxed(&crew->takeovers) >= before + 3);
}

static void take_four_times(void) {
    weft_fiber fibers[4];
    atomic_store(&engine_now, &wf_worker_self()->fibers->engine);
    atomic_store(&is_armed, 1);
    for (int i = 0; i < 4; i++) {
        SPAWN(&fibers[i], block_and_return, NULL);
        JOIN(fibers[i], NULL);
    }
    wait_until_threads_are_gone();
}

TEST(a_thread_that_is_not_spare_yet_is_not_hired) {
    for (long i = scaled(5, 2); i > 0; i--) {
        wf_point_hook = hold_until_others_were_hired;
        run_fibers_with(&(weft_options){.keep_alive = WEFT_MILLISECOND}, take_four_times);
        wf_point_hook = NULL;
        CHECK_EQ(atomic_load(&is_armed), 0);
    }
}
