/* SPDX-License-Identifier: MIT
 *
 * unit/sched/supply_test.c - what waits outside of the engine: everything runs once, nobody sleeps over it, nobody starves.
 *
 * As many processors as WEFT_WORKERS says, all but one of them extra ones, as in a pool. What arrives while a worker lies down
 * is forced, at every point between its last look and its sleep.
 */
#include "support/supplied.h"

static struct wf_runtime_plan plain_plan(void) {
    return (struct wf_runtime_plan){.wanted = (uint32_t)wf_test_workers()};
}

enum { SUBMITTERS = 3 };

static struct item *items;
static long item_count;
static atomic_long next_item;

static void *submit_share(void *arg) {
    long at;
    while ((at = atomic_fetch_add(&next_item, 1)) < item_count)
        supplied_add(&items[at]);
    return arg;
}

static void submit_from_outside(void) {
    pthread_t threads[SUBMITTERS];
    atomic_store(&next_item, 0);
    for (int i = 0; i < SUBMITTERS; i++)
        threads[i] = thread_start(submit_share, NULL);
    for (int i = 0; i < SUBMITTERS; i++)
        thread_join(threads[i]);
    supplied_wait((int)item_count);
    for (long i = 0; i < item_count; i++)
        CHECK_EQ(atomic_load(&items[i].runs), 1);
}

TEST(everything_from_several_threads_runs_once) {
    item_count = scaled(100000, 1000);
    items = calloc((size_t)item_count, sizeof *items);
    run_supplied(plain_plan(), submit_from_outside);
    free(items);
}

/* One at a time: the worker sleeps, or is about to, when the next one comes. */
static void submit_one_by_one(void) {
    for (long i = 0; i < item_count; i++) {
        supplied_add(&items[i]);
        supplied_wait((int)i + 1);
    }
}

TEST(one_at_a_time_is_never_slept_over) {
    item_count = scaled(20000, 300);
    items = calloc((size_t)item_count, sizeof *items);
    run_supplied(plain_plan(), submit_one_by_one);
    free(items);
}

static const char *wanted_point;
static atomic_int is_armed;
static struct item late;
static pthread_t helper;
static atomic_int has_helper;

static void *add_late(void *arg) {
    supplied_add(&late);
    return arg;
}

/* On whatever worker comes there; the engine knows nothing of the thread that adds. */
static void add_at_point(const char *name) {
    if (strcmp(name, wanted_point) != 0 || !atomic_exchange(&is_armed, 0))
        return;
    helper = thread_start(add_late, NULL);
    thread_join(helper);
    atomic_store(&has_helper, 1);
}

/* Gives them something to do, and lets them sleep, until the hook has had what it waits for. */
static void add_until_it_was_there(void) {
    struct wf_engine *engine = atomic_load(&supplied.engine);
    weft_time limit = weft_after(PATIENCE_NS);
    atomic_store(&is_armed, 1);
    while (atomic_load(&is_armed)) {
        struct item another = {0};
        CHECK_LE(weft_now(), limit);
        supplied_add(&another);
        COMPUTE_UNTIL(atomic_load(&another.runs) == 1);
        COMPUTE_UNTIL(!atomic_load(&is_armed) || wf_idle_parked_any(&engine->idle) == wf_engine_in_service_any(engine));
    }
}

static void wait_for_late(void) {
    add_until_it_was_there();
    COMPUTE_UNTIL(atomic_load(&has_helper) && atomic_load(&late.runs) == 1);
}

TEST(what_arrives_while_a_worker_lies_down_is_seen_or_wakes_it) {
    static const char *const points[] = {"idle.before_fence", "sleep.before_recheck", "sleep.before_park",
                                         "poll.before_wait"};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        for (uint32_t wanted = 1; wanted <= wf_test_workers(); wanted++) {
            if (strncmp(points[i], "poll", 4) == 0 && wanted > 1)
                continue; /* one of them polls, and others have the work */
            wanted_point = points[i];
            atomic_store(&late.runs, 0);
            atomic_store(&has_helper, 0);
            wf_point_hook = add_at_point;
            run_supplied((struct wf_runtime_plan){.wanted = wanted}, wait_for_late);
            wf_point_hook = NULL;
        }
    }
}

static atomic_int inside;

static void compute_until_both_do(struct item *item) {
    (void)item;
    atomic_fetch_add(&inside, 1);
    COMPUTE_UNTIL(atomic_load(&inside) == 2);
}

static struct item twins[2] = {{.fn = compute_until_both_do}, {.fn = compute_until_both_do}};

/* Its search has turned away whoever wanted to wake somebody for these; and it can run only one of them. */
static void add_two_to_a_searcher(const char *name) {
    struct wf_engine *engine = atomic_load(&supplied.engine);
    if (strcmp(name, "sleep.before_idle") != 0 || !wf_worker_self()->base.is_searching ||
        wf_idle_parked_any(&engine->idle) == 0 || !atomic_exchange(&is_armed, 0))
        return;
    supplied_add(&twins[0]);
    supplied_add(&twins[1]);
}

static void wait_for_both(void) {
    add_until_it_was_there();
    COMPUTE_UNTIL(atomic_load(&inside) == 2);
    COMPUTE_UNTIL(wf_idle_parked_any(&atomic_load(&supplied.engine)->idle) == wf_test_workers());
}

TEST(what_a_searcher_sees_when_it_lies_down_is_not_left_to_it_alone) {
    if (wf_test_workers() == 1)
        return;
    supplied.batch = 1;
    for (long i = scaled(50, 5); i > 0; i--) {
        atomic_store(&inside, 0);
        wf_point_hook = add_two_to_a_searcher;
        run_supplied(plain_plan(), wait_for_both);
        wf_point_hook = NULL;
    }
    supplied.batch = SUPPLIED_BATCH;
}

static atomic_int has_run;

static void say_has_run(struct item *item) {
    (void)item;
    atomic_store(&has_run, 1);
}

static void *yield_until_it_has_run(void *arg) {
    while (!atomic_load(&has_run))
        weft_yield();
    return arg;
}

/* Two for each processor, so that somebody is always ready everywhere. */
static void yield_beside(struct item *item) {
    (void)item;
    weft_fiber fibers[16];
    unsigned count = 2 * wf_test_workers();
    CHECK_LE(count, 16);
    for (unsigned i = 0; i < count; i++)
        SPAWN(&fibers[i], yield_until_it_has_run, NULL);
    for (unsigned i = 0; i < count; i++)
        JOIN(fibers[i], NULL);
}

static void add_beside_yielders(void) {
    struct item yielders = {.fn = yield_beside};
    struct item sayer = {.fn = say_has_run};
    atomic_store(&has_run, 0);
    supplied_add(&yielders);
    COMPUTE_UNTIL(atomic_load(&yielders.runs));
    supplied_add(&sayer);
    supplied_wait(2);
}

TEST(fibers_that_are_always_ready_do_not_starve_the_supply) {
    run_supplied(plain_plan(), add_beside_yielders);
}

static atomic_int sleeps_left;

static void sleep_often(struct item *item) {
    (void)item;
    while (atomic_fetch_sub(&sleeps_left, 1) > 1) {
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
        weft_yield();
    }
}

static void add_again(struct item *item) {
    if (atomic_load(&sleeps_left) > 0) {
        atomic_fetch_sub(&supplied.ended, 1);
        atomic_store(&item->runs, 0);
        supplied_add(item);
    }
}

/* Whoever takes one of them adds it again at once. */
static void sleep_beside_an_endless_supply(void) {
    struct item sleeper = {.fn = sleep_often};
    struct item endless[16];
    unsigned count = 2 * wf_test_workers();
    CHECK_LE(count, 16);
    atomic_store(&sleeps_left, 20);
    for (unsigned i = 0; i < count; i++) {
        endless[i] = (struct item){.fn = add_again};
        supplied_add(&endless[i]);
    }
    supplied_add(&sleeper);
    supplied_wait((int)count + 1);
}

TEST(a_supply_that_never_ends_does_not_starve_fibers_and_timers) {
    run_supplied(plain_plan(), sleep_beside_an_endless_supply);
}

static void block_at_the_door(struct item *item) {
    (void)item;
    weft_blocking_begin();
    door_wait();
    weft_blocking_end();
}

static void add_while_all_block(void) {
    struct item blocked[8] = {0};
    struct item sayer = {.fn = say_has_run};
    unsigned count = wf_test_workers();
    atomic_store(&has_run, 0);
    door_shut();
    for (unsigned i = 0; i < count; i++) {
        blocked[i].fn = block_at_the_door;
        supplied_add(&blocked[i]);
    }
    for (unsigned i = 0; i < count; i++)
        COMPUTE_UNTIL(atomic_load(&blocked[i].runs));
    supplied_add(&sayer);
    COMPUTE_UNTIL(atomic_load(&has_run));
    door_lift();
    supplied_wait((int)count + 1);
    door_drop();
}

TEST(a_processor_that_is_lent_is_taken_for_what_waits_in_the_supply) {
    run_supplied(plain_plan(), add_while_all_block);
}

/* Long enough for several looks of a monitor that would mind. */
static void compute_for_a_while(struct item *item) {
    (void)item;
    weft_time end = weft_after(60 * WEFT_MILLISECOND);
    while (weft_now() < end)
        continue;
}

static void compute_while_work_waits(void) {
    struct item hogs[8] = {0};
    struct item more[8] = {0};
    unsigned count = wf_test_workers();
    for (unsigned i = 0; i < count; i++) {
        hogs[i].fn = compute_for_a_while;
        supplied_add(&hogs[i]);
    }
    for (unsigned i = 0; i < count; i++)
        supplied_add(&more[i]);
    supplied_wait(2 * (int)count);
    CHECK_EQ(wf_load_relaxed(&atomic_load(&supplied.engine)->monitor.hogs), 0);
    CHECK_LE(wf_engine_in_service_any(atomic_load(&supplied.engine)), count);
}

TEST(without_stand_ins_computations_are_left_alone) {
    run_supplied(plain_plan(), compute_while_work_waits);
}

static atomic_int may_end;
static _Atomic(struct wf_worker *) hog_worker;
static atomic_int hog_index;

static void compute_until_told(struct item *item) {
    (void)item;
    atomic_store(&hog_index, (int)wf_worker_self()->base.processor->index);
    atomic_store(&hog_worker, &wf_worker_self()->base);
    COMPUTE_UNTIL(atomic_load(&may_end));
}

static void replace_a_hog(void) {
    struct wf_engine *engine = atomic_load(&supplied.engine);
    struct item hog = {.fn = compute_until_told};
    struct item after = {.fn = say_has_run};
    atomic_store(&hog_worker, NULL);
    atomic_store(&may_end, 0);
    atomic_store(&has_run, 0);
    CHECK(!wf_engine_replace_any(engine, NULL, 4000));
    supplied_add(&hog);
    COMPUTE_UNTIL(atomic_load(&hog_worker));
    struct wf_worker *worker = atomic_load(&hog_worker);
    uint32_t index = (uint32_t)atomic_load(&hog_index);
    CHECK(!wf_engine_replace_any(engine, worker + 1, index));
    CHECK(wf_engine_replace_any(engine, worker, index));
    CHECK(!wf_engine_replace_any(engine, worker, index)); /* it was asked for, or is done */
    COMPUTE_UNTIL(wf_load_seq_cst(&engine->monitor.detached) == 1);
    CHECK(!wf_engine_replace_any(engine, worker, index));
    supplied_add(&after);
    COMPUTE_UNTIL(atomic_load(&has_run));
    COMPUTE_UNTIL(atomic_load(&supplied.ended) == 1); /* said a moment later; the hog's would be the second */
    atomic_store(&may_end, 1);
    supplied_wait(2);
    COMPUTE_UNTIL(wf_load_seq_cst(&engine->monitor.detached) == 0);
    COMPUTE_UNTIL(wf_engine_in_service_any(engine) == wf_engine_wanted_any(engine));
}

TEST(a_hog_is_stood_in_for_when_somebody_asks_until_it_is_back) {
    for (uint32_t wanted = 1; wanted <= wf_test_workers(); wanted++)
        run_supplied((struct wf_runtime_plan){.wanted = wanted}, replace_a_hog);
}

/* The one that is meant sleeps by the time the monitor looks, or runs something short. */
static void replace_nobody(void) {
    struct wf_engine *engine = atomic_load(&supplied.engine);
    for (long i = scaled(200, 20); i > 0; i--) {
        struct item nothing = {0};
        int before = atomic_load(&supplied.ended);
        supplied_add(&nothing);
        wf_engine_replace_any(engine, NULL, 0);
        supplied_wait(before + 1);
    }
    COMPUTE_UNTIL(wf_load_relaxed(&engine->monitor.requests) == 0);
    COMPUTE_UNTIL(wf_load_seq_cst(&engine->monitor.detached) == 0);
    COMPUTE_UNTIL(wf_engine_in_service_any(engine) == wf_engine_wanted_any(engine));
}

TEST(replacing_who_is_back_already_changes_nothing_for_long) {
    run_supplied(plain_plan(), replace_nobody);
}

static void burst_and_pause(void) {
    long count = scaled(2000, 50);
    struct item *all = calloc((size_t)count, sizeof *all);
    for (long i = 0; i < count; i++) {
        supplied_add(&all[i]);
        weft_time next = weft_after(10 * WEFT_MICROSECOND);
        while (weft_now() < next)
            continue;
    }
    supplied_wait((int)count);
    free(all);
}

TEST(a_stream_that_makes_workers_spin_loses_nothing) {
    run_supplied(plain_plan(), burst_and_pause);
}

static uint64_t count_parks(struct wf_engine *engine) {
    uint64_t sum = 0;
    for (uint32_t i = 0, limit = wf_engine_limit(engine); i < limit; i++)
        sum += wf_load_relaxed(&engine->processors[i]->counters.worker_parks);
    return sum;
}

static void be_idle(void) {
    struct wf_engine *engine = atomic_load(&supplied.engine);
    struct item item = {0};
    supplied_add(&item);
    supplied_wait(1);
    COMPUTE_UNTIL(wf_engine_in_service_any(engine) == wf_engine_wanted_any(engine));
    /* Nobody has anything to tidy up, and all of them have slept for some time. */
    COMPUTE_UNTIL(wf_load_relaxed(&engine->poll_deadline) == INT64_MAX && wf_load_seq_cst(&engine->monitor.is_asleep));
    uint64_t parks = count_parks(engine);
    weft_time end = weft_after(300 * WEFT_MILLISECOND);
    while (weft_now() < end)
        sched_yield();
    CHECK_EQ(count_parks(engine), parks);
    CHECK(wf_load_seq_cst(&engine->monitor.is_asleep));
}

TEST(with_nothing_to_do_nobody_wakes_up) {
    run_supplied(plain_plan(), be_idle);
}
