/* SPDX-License-Identifier: MIT
 *
 * unit/sched/monitor_test.c - computations that do not end: who stands in for them, who is named, and how it ends.
 *
 * Also the monitor's own sleep, and a processor that is found to be a hog's at the very moment at which it is none any more.
 * Those are forced: by the points of sched/monitor.c, and by an engine with a policy of the test's own, whose on_hog takes
 * its time.
 */
#include <unistd.h>

#include "base/list.h"
#include "base/point.h"
#include "fiber/fiber.h"
#include "support/door.h"

static const weft_options impatient = {.keep_alive = WEFT_MILLISECOND};
static atomic_int has_run;
static atomic_int began;

static void *say_has_run(void *arg) {
    atomic_store(&has_run, 1);
    return arg;
}

static void *say_began(void *arg) {
    atomic_fetch_add(&began, 1);
    return arg;
}

static void *compute_until_it_has_run(void *arg) {
    atomic_fetch_add(&began, 1);
    COMPUTE_UNTIL(atomic_load(&has_run));
    return arg;
}

static void *sleep_and_say(void *arg) {
    CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    return say_has_run(arg);
}

/* When all of them compute at once and this runs too, somebody stands in for one. */
static void *sleep_until_all_compute(void *arg) {
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    while (atomic_load(&began) < (int)stats.workers)
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    return say_has_run(arg);
}

static void check_hogs_are_named(void) {
    weft_hog hogs[4];
    int count = weft_get_hogs(NULL, hogs, 4);
    CHECK_EQ(weft_get_hogs(NULL, NULL, 0), count);
    CHECK_GE(count, 1);
    bool is_named = false;
    for (int i = 0; i < count && i < 4; i++) {
        CHECK(hogs[i].entry != NULL);
        CHECK_GE(hogs[i].count, 1);
        if (hogs[i].entry == compute_until_it_has_run) {
            is_named = true;
            CHECK_TEXT(hogs[i].name, "hog");
            CHECK_NE(hogs[i].last.bits, 0);
            CHECK_GE(hogs[i].longest_ns, 1);
        }
    }
    CHECK(is_named);
}

static void compute_on_every_worker(void) {
    weft_spawn_options named = {.name =
                                    "hog"}; /* from its first moment: it may be found out before it has run a line */
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    weft_fiber *fibers = calloc(stats.workers, sizeof *fibers);
    atomic_store(&has_run, 0);
    atomic_store(&began, 0);
    CHECK_EQ(weft_go(sleep_until_all_compute, NULL), 0);
    for (unsigned i = 0; i < stats.workers; i++)
        CHECK_EQ(weft_spawn_with(&fibers[i], &named, compute_until_it_has_run, NULL), 0);
    for (unsigned i = 0; i < stats.workers; i++)
        JOIN(fibers[i], NULL);
    free(fibers);
    wait_until_threads_are_gone();
    CHECK_GE(thread_stats().hogs, 1);
    CHECK_GE(thread_stats().hog_ns, 1);
    check_hogs_are_named();
}

TEST(a_timer_fires_while_every_worker_computes) {
    run_fibers_with(&impatient, compute_on_every_worker);
}

static atomic_int hogs_wanted;

static void *compute_until_all_do(void *arg) {
    atomic_fetch_add(&began, 1);
    COMPUTE_UNTIL(atomic_load(&began) >= atomic_load(&hogs_wanted));
    return arg;
}

/* Each is found out when it has had some milliseconds of a core to itself, and all of them share the cores. */
static void compute_many_at_once(void) {
    enum { HOGS = IS_SANITIZED ? 10 : 20 };
    weft_fiber fibers[HOGS];
    for (int round = 0; round < 2; round++) {
        atomic_store(&began, 0);
        atomic_store(&hogs_wanted, HOGS);
        for (int i = 0; i < HOGS; i++)
            SPAWN(&fibers[i], compute_until_all_do, NULL);
        for (int i = 0; i < HOGS; i++)
            JOIN(fibers[i], NULL);
        CHECK_GE(thread_stats().hogs, HOGS - wf_test_workers());
        wait_until_threads_are_gone();
    }
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    CHECK_EQ(stats.workers, wf_load_relaxed(&wf_worker_self()->fibers->engine.active));
}

TEST(many_computations_at_once_are_stood_in_for_and_then_the_extra_processors_go) {
    run_fibers_with(&impatient, compute_many_at_once);
}

static void *yield_politely(void *arg) {
    weft_time limit = weft_after(PATIENCE_NS);
    while (!atomic_load(&has_run)) {
        weft_maybe_yield();
        CHECK_LE(weft_now(), limit);
    }
    return arg;
}

static void yield_beside_another(void) {
    for (int i = 0; i < 3; i++) {
        weft_fiber fiber;
        atomic_store(&has_run, 0);
        SPAWN(&fiber, yield_politely, NULL);
        CHECK_EQ(weft_go(say_has_run, NULL), 0);
        JOIN(fiber, NULL);
        atomic_store(&has_run, 0);
        CHECK_EQ(weft_go(sleep_and_say, NULL), 0);
        yield_politely(NULL);
    }
}

TEST(a_long_loop_that_asks_lets_others_run_on_the_only_worker) {
    run_fibers_with(&(weft_options){.workers = 1}, yield_beside_another);
}

static void *wait_for_the_flag(void *arg) {
    COMPUTE_UNTIL(atomic_load(&has_run));
    return arg;
}

/* First it computes, and is found out; then it calls something that blocks, or binds itself, and so its processor comes back
 * by way of somebody else. */
static void *compute_then_block(void *arg) {
    bool must_bind = arg != NULL;
    uint64_t before = thread_stats().hogs;
    atomic_store(&has_run, 0);
    CHECK_EQ(weft_go(wait_for_the_flag, NULL), 0); /* keeps the one that stands in for us from taking what follows */
    COMPUTE_UNTIL(thread_stats().hogs > before);
    CHECK_EQ(weft_go(say_has_run, NULL), 0);
    if (must_bind) {
        CHECK_EQ(weft_bind(NULL), 0);
        wait_for_the_flag(NULL);
        CHECK_EQ(weft_unbind(), 0);
    } else {
        weft_blocking(wait_for_the_flag, NULL);
    }
    return arg;
}

static void check_every_hog(void) {
    weft_hog hogs[8];
    int count = weft_get_hogs(NULL, hogs, 8);
    CHECK_GE(count, 1);
    for (int i = 0; i < count && i < 8; i++) {
        CHECK(hogs[i].entry != NULL);
        CHECK_GE(hogs[i].count, 1);
    }
}

static void give_away_the_processor_of_a_hog(void) {
    for (int i = 0; i < 4; i++) {
        weft_fiber fiber;
        SPAWN(&fiber, compute_then_block, i % 2 ? &has_run : NULL);
        JOIN(fiber, NULL);
        WAIT_UNTIL(thread_stats().hogs_now == 0);
        check_every_hog();
    }
}

TEST(a_hog_that_gives_its_processor_away_is_not_mistaken_for_another) {
    run_fibers_with(&(weft_options){.workers = 1}, give_away_the_processor_of_a_hog);
}

static void *be_taken_and_say(void *arg) {
    uint64_t before = thread_stats().takeovers;
    weft_blocking_begin();
    wait_until_taken(before);
    weft_blocking_end();
    return say_has_run(arg);
}

/* The processor that is taken is an extra one, which was counted when it was put into service. */
static void take_an_extra_processor(void) {
    weft_fiber fiber;
    atomic_store(&has_run, 0);
    SPAWN(&fiber, be_taken_and_say, NULL);
    wait_for_the_flag(NULL);
    JOIN(fiber, NULL);
    wait_until_threads_are_gone();
    CHECK_EQ(weft_world_stop(), 0);
    CHECK_EQ(wf_load_relaxed(&wf_worker_self()->fibers->engine.world_active), 1);
    weft_world_start();
}

TEST(the_world_stops_also_after_an_extra_processor_was_taken) {
    run_fibers_with(&(weft_options){.workers = 1, .keep_alive = WEFT_MILLISECOND}, take_an_extra_processor);
}

/* Pinned fibers wait for their thread, others do not; and a processor with pinned fibers is not taken. */
static void *block_beside_a_pinned_one(void *arg) {
    CHECK_EQ(weft_pin(), 0);
    weft_blocking_begin();
    atomic_store(&began, 1);
    door_wait();
    weft_unpin();
    weft_blocking_end();
    CHECK_EQ(weft_pin(), 0);
    weft_unpin();
    return arg;
}

static void block_pinned(void) {
    weft_fiber fibers[8];
    unsigned count = wf_test_workers() < 8 ? wf_test_workers() : 8;
    uint64_t before = thread_stats().takeovers;
    atomic_store(&began, 0);
    atomic_store(&has_run, 0);
    door_shut();
    for (unsigned i = 0; i < count; i++)
        SPAWN(&fibers[i], block_beside_a_pinned_one, NULL);
    CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    CHECK_EQ(weft_go(sleep_and_say, NULL), 0);
    WAIT_UNTIL(atomic_load(&has_run) && atomic_load(&began));
    CHECK_EQ(thread_stats().takeovers, before);
    door_lift();
    for (unsigned i = 0; i < count; i++)
        JOIN(fibers[i], NULL);
    door_drop();
    wait_until_threads_are_gone();
}

TEST(a_processor_with_pinned_fibers_is_stood_in_for_and_not_taken) {
    run_fibers_with(&impatient, block_pinned);
}

/* What a hook needs to know of the runtime that runs. */
static _Atomic(struct wf_engine *) engine_now;
static atomic_int is_armed;

static void arm_hook(void) {
    atomic_store(&engine_now, &wf_worker_self()->fibers->engine);
    atomic_store(&is_armed, 1);
}

static bool is_first_at(const char *name, const char *wanted) {
    return strcmp(name, wanted) == 0 && atomic_exchange(&is_armed, 0);
}

static void run_hooked(const weft_options *options, void (*hook)(const char *name), void (*body)(void)) {
    for (long i = scaled(5, 2); i > 0; i--) {
        wf_point_hook = hook;
        run_fibers_with(options, body);
        wf_point_hook = NULL;
        CHECK_EQ(atomic_load(&is_armed), 0); /* it came to that */
    }
}

/* The hog is back, and has said so, before anybody stands in for it. */
static void come_back_at_once(const char *name) {
    if (!is_first_at(name, "monitor.detached"))
        return;
    atomic_store(&has_run, 1);
    COMPUTE_UNTIL(wf_load_relaxed(&atomic_load(&engine_now)->monitor.detached) == 0);
}

static void compute_until_found_out(void) {
    weft_fiber fiber;
    arm_hook();
    atomic_store(&has_run, 0);
    SPAWN(&fiber, yield_politely, NULL); /* somebody who waits */
    wait_for_the_flag(NULL);
    JOIN(fiber, NULL);
    wait_until_threads_are_gone();
    CHECK_EQ(wf_load_relaxed(&atomic_load(&engine_now)->active), 1);
    CHECK_EQ(wf_load_relaxed(&atomic_load(&engine_now)->monitor.extras), 0);
}

TEST(a_hog_that_is_back_before_its_extra_processor_begins_leaves_none_in_service) {
    weft_options options = {.workers = 1, .keep_alive = WEFT_MILLISECOND};
    run_hooked(&options, come_back_at_once, compute_until_found_out);
}

static atomic_int is_joined;

static void be_over_before_the_look(const char *name) {
    if (!is_first_at(name, "hog.before_look"))
        return;
    atomic_store(&has_run, 1);
    COMPUTE_UNTIL(atomic_load(&is_joined));
}

static void *compute_while_another_waits(void *arg) {
    CHECK_EQ(weft_go(say_began, NULL), 0);
    return wait_for_the_flag(arg);
}

static void compute_until_looked_at(void) {
    weft_fiber fiber;
    weft_hog hogs[4];
    weft_spawn_options named = {.name = "hog"};
    arm_hook();
    atomic_store(&has_run, 0);
    atomic_store(&is_joined, 0);
    CHECK_EQ(weft_spawn_with(&fiber, &named, compute_while_another_waits, NULL), 0);
    JOIN(fiber, NULL);
    atomic_store(&is_joined, 1);
    wait_until_threads_are_gone();
    CHECK_GE(thread_stats().hogs, 1);
    for (int i = weft_get_hogs(NULL, hogs, 4) - 1; i >= 0; i--)
        CHECK(hogs[i].entry != compute_while_another_waits);
}

TEST(a_hog_that_is_over_before_its_name_is_read_is_counted_and_not_named) {
    weft_options options = {.workers = 1, .keep_alive = WEFT_MILLISECOND};
    run_hooked(&options, be_over_before_the_look, compute_until_looked_at);
}

static weft_chan *answers;

static void *block_until_taken(void *arg) {
    int value = 5;
    uint64_t before = thread_stats().takeovers;
    weft_blocking_begin();
    atomic_store(&began, 1);
    wait_until_taken(before);
    weft_blocking_end();
    CHECK_EQ(weft_chan_send(answers, &value, WEFT_NEVER), 0);
    return arg;
}

static void spawn_before_sleep(const char *name) {
    if (is_first_at(name, "monitor.before_sleep"))
        CHECK_EQ(weft_go(block_until_taken, NULL), 0);
}

static void spawn_and_see_it_run_before_sleep(const char *name) {
    if (!is_first_at(name, "monitor.before_sleep"))
        return;
    CHECK_EQ(weft_go(block_until_taken, NULL), 0);
    COMPUTE_UNTIL(atomic_load(&began));
}

static void rest_until_answered(void) {
    int value = 0;
    atomic_store(&began, 0);
    arm_hook();
    CHECK_EQ(weft_chan_recv(answers, &value, WEFT_NEVER), 0);
    CHECK_EQ(value, 5);
}

TEST(what_arrives_while_the_monitor_lies_down_is_watched) {
    weft_options options = {.no_deadlock_report = true};
    CHECK_EQ(weft_chan_new(&answers, sizeof(int), 0), 0);
    run_hooked(&options, spawn_before_sleep, rest_until_answered);
    run_hooked(&options, spawn_and_see_it_run_before_sleep, rest_until_answered);
    weft_chan_free(answers);
}

/* An engine of its own, whose tasks are functions. */
struct job {
    struct wf_task task;
    void (*fn)(void);
};

static struct wf_engine rig;
static atomic_long jobs_begun;
static atomic_long jobs_ended;
static atomic_int is_noted;

static int rig_begin(struct wf_worker *worker) {
    (void)worker;
    return 0;
}

static void rig_end(struct wf_worker *worker) {
    (void)worker;
}

static void rig_run(struct wf_worker *worker, struct wf_task *task) {
    for (; task; task = wf_processor_pick_owner(worker->processor)) {
        wf_count_owner(&worker->processor->counters.switches, 1);
        WF_CONTAINER(task, struct job, task)->fn();
        atomic_fetch_add(&jobs_ended, 1);
    }
}

static bool rig_is_done(struct wf_engine *engine) {
    (void)engine;
    return atomic_load(&jobs_ended) == atomic_load(&jobs_begun);
}

static int64_t rig_rest(struct wf_worker *worker) {
    (void)worker;
    return INT64_MAX;
}

/* Slow: meanwhile the job ends, the next one too, and the worker goes to sleep. */
static void note_slowly(struct wf_worker *worker, struct wf_processor *processor) {
    if (atomic_exchange(&is_noted, 1))
        return;
    COMPUTE_UNTIL(wf_idle_is_seated_any(&worker->engine->idle, processor->index) &&
                  wf_load_relaxed(&processor->counters.worker_parks) > 0 &&
                  wf_load_relaxed(&worker->engine->world_active) == 0);
}

static const struct wf_engine_policy rig_policy = {
    .worker_size = sizeof(struct wf_worker),
    .processor_size = sizeof(struct wf_processor),
    .worker_begin = rig_begin,
    .worker_end = rig_end,
    .run = rig_run,
    .is_done = rig_is_done,
    .rest = rig_rest,
    .on_hog = note_slowly,
};

static void compute_until_noted(void) {
    COMPUTE_UNTIL(atomic_load(&is_noted));
}

static void do_nothing(void) {}

static void *end_when_nobody_is_detached(void *arg) {
    COMPUTE_UNTIL(atomic_load(&is_noted) && wf_load_relaxed(&rig.monitor.hogs) == 1 &&
                  wf_load_seq_cst(&rig.monitor.detached) == 0 && wf_load_seq_cst(&rig.monitor.extras) == 0);
    wf_engine_drain(&rig);
    return arg;
}

TEST(a_processor_that_went_to_sleep_while_it_was_found_out_is_not_left_detached) {
    static struct job jobs[2];
    for (long round = scaled(5, 2); round > 0; round--) {
        atomic_store(&jobs_ended, 0);
        atomic_store(&jobs_begun, 2);
        atomic_store(&is_noted, 0);
        CHECK_EQ(wf_engine_init(&rig, &rig_policy, NULL, 1, 1, "rig"), 0);
        for (int i = 0; i < 2; i++) {
            jobs[i] = (struct job){.fn = i == 0 ? compute_until_noted : do_nothing};
            wf_engine_submit_any(&rig, &jobs[i].task);
        }
        pthread_t thread = thread_start(end_when_nobody_is_detached, NULL);
        CHECK_EQ(wf_engine_run(&rig), 0);
        thread_join(thread);
        wf_engine_term(&rig);
    }
}
