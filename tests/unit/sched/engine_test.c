/* SPDX-License-Identifier: MIT
 *
 * unit/sched/engine_test.c - the engine with a policy of the test's own: a task is a function and a number.
 *
 * Every task counts itself; a test ends its engine by drain, which waits until as many have ended as were begun.
 */
#include "sched/engine.h"

#include "arch/current.h"
#include "base/list.h"
#include "base/point.h"
#include "os/clock.h"
#include "support/run.h"

struct rig {
    struct wf_engine engine;
    atomic_long begun; /* tasks that exist */
    atomic_long ended;
    atomic_long seen; /* the test's own counts */
    atomic_int flag;
    long patience; /* how often others may run before the flag has to be set */
    int begin_error;
    uint32_t failing_worker;
};

struct job {
    struct wf_task task;
    void (*fn)(struct rig *rig, struct wf_processor *processor, struct job *job);
    long value;
    bool stays; /* it has put itself somewhere again */
};

static int rig_begin(struct wf_worker *worker) {
    struct rig *rig = worker->engine->owner;
    return worker->index == rig->failing_worker ? rig->begin_error : 0;
}

static void rig_end(struct wf_worker *worker) {
    (void)worker;
}

static void rig_run(struct wf_worker *worker, struct wf_task *task) {
    struct rig *rig = worker->engine->owner;
    for (; task; task = wf_processor_pick_owner(worker->processor)) {
        struct job *job = WF_CONTAINER(task, struct job, task);
        wf_count_owner(&worker->processor->counters.switches, 1);
        job->stays = false;
        job->fn(rig, worker->processor, job);
    }
}

/* The job is over: its memory is not touched any more. */
static void job_end(struct rig *rig) {
    atomic_fetch_add(&rig->ended, 1);
}

static bool rig_is_done(struct wf_engine *engine) {
    struct rig *rig = engine->owner;
    return atomic_load(&rig->ended) == atomic_load(&rig->begun);
}

static int64_t rig_rest(struct wf_worker *worker) {
    (void)worker;
    return INT64_MAX;
}

static const struct wf_engine_policy policy = {
    .worker_size = sizeof(struct wf_worker),
    .processor_size = sizeof(struct wf_processor),
    .worker_begin = rig_begin,
    .worker_end = rig_end,
    .run = rig_run,
    .is_done = rig_is_done,
    .rest = rig_rest,
};

static void rig_init(struct rig *rig, unsigned workers) {
    memset(rig, 0, sizeof *rig);
    rig->failing_worker = UINT32_MAX;
    rig->patience = INT64_MAX;
    CHECK_EQ(wf_engine_init(&rig->engine, &policy, rig, workers, wf_test_seed(), "rig"), 0);
}

static void rig_submit(struct rig *rig, struct job *job, enum wf_lane lane, uint32_t pinned) {
    atomic_fetch_add(&rig->begun, 1);
    wf_task_set_lane(&job->task, lane);
    wf_task_set_pinned(&job->task, pinned);
    wf_engine_submit_any(&rig->engine, &job->task);
}

static void rig_run_and_term(struct rig *rig) {
    wf_engine_drain(&rig->engine);
    CHECK_EQ(wf_engine_run(&rig->engine), 0);
    CHECK_EQ(atomic_load(&rig->ended), atomic_load(&rig->begun));
    wf_engine_term(&rig->engine);
}

static void count_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    (void)processor;
    atomic_fetch_add(&rig->seen, job->value);
    job_end(rig);
}

enum { MANY = 3000 };
static struct job jobs[MANY];

TEST(an_engine_runs_what_was_submitted_and_stops_when_it_is_drained) {
    struct rig rig;
    rig_init(&rig, wf_test_workers());
    for (int i = 0; i < 1000; i++) {
        jobs[i] = (struct job){.fn = count_job, .value = i};
        rig_submit(&rig, &jobs[i], (enum wf_lane)(i % WF_LANES), 0);
    }
    rig_run_and_term(&rig);
    CHECK_EQ(atomic_load(&rig.seen), 1000 * 999 / 2);
}

TEST(an_engine_without_tasks_drains_at_once) {
    for (int i = 0; i < 20; i++) {
        struct rig rig;
        rig_init(&rig, wf_test_workers());
        rig_run_and_term(&rig);
    }
}

TEST(a_worker_that_cannot_begin_ends_the_run_with_its_error) {
    for (uint32_t failing = 0; failing < wf_test_workers(); failing++) {
        struct rig rig;
        rig_init(&rig, wf_test_workers());
        rig.failing_worker = failing;
        rig.begin_error = -ENOMEM;
        jobs[0] = (struct job){.fn = count_job};
        rig_submit(&rig, &jobs[0], WF_LANE_NORMAL, 0);
        CHECK_EQ(wf_engine_run(&rig.engine), -ENOMEM);
        wf_engine_term(&rig.engine);
    }
}

static void *submit_from_thread(void *opaque) {
    struct rig *rig = opaque;
    for (int i = 0; i < MANY; i++) {
        wf_engine_submit_any(&rig->engine, &jobs[i].task);
        if (i % 100 == 0)
            while (atomic_load(&rig->ended) < i / 2) /* now and then they come one by one to a sleeping engine */
                sched_yield();
    }
    return NULL;
}

TEST(tasks_from_outside_wake_a_sleeping_engine) {
    struct rig rig;
    rig_init(&rig, wf_test_workers());
    atomic_store(&rig.begun, MANY);
    for (int i = 0; i < MANY; i++)
        jobs[i] = (struct job){.fn = count_job, .value = 1};
    pthread_t thread = thread_start(submit_from_thread, &rig);
    rig_run_and_term(&rig);
    thread_join(thread);
    CHECK_EQ(atomic_load(&rig.seen), MANY);
}

static void spin_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    job->stays = true;
    atomic_fetch_add(&rig->seen, 1);
    wf_processor_ready_owner(processor, &job->task, false);
}

static void *stop_from_thread(void *opaque) {
    struct rig *rig = opaque;
    while (atomic_load(&rig->seen) < 1000)
        sched_yield();
    wf_engine_stop(&rig->engine);
    return NULL;
}

TEST(stop_ends_an_engine_whose_tasks_never_end) {
    struct rig rig;
    rig_init(&rig, wf_test_workers());
    for (int i = 0; i < 20; i++) {
        jobs[i] = (struct job){.fn = spin_job};
        rig_submit(&rig, &jobs[i], WF_LANE_NORMAL, 0);
    }
    pthread_t thread = thread_start(stop_from_thread, &rig);
    CHECK_EQ(wf_engine_run(&rig.engine), 0);
    thread_join(thread);
    wf_engine_term(&rig.engine);
}

static char order[MANY + 1];

static void letter_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    (void)processor;
    order[atomic_fetch_add(&rig->seen, 1)] = (char)job->value;
    job_end(rig);
}

/* Makes six tasks ready on its own processor, the lowest lane first. */
static void make_lanes_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    const enum wf_lane lanes[] = {WF_LANE_LOW, WF_LANE_NORMAL, WF_LANE_HIGH};
    (void)job;
    for (int i = 0; i < 6; i++) {
        struct job *made = &jobs[1 + i];
        *made = (struct job){.fn = letter_job, .value = "lnh"[i / 2]};
        wf_task_set_lane(&made->task, lanes[i / 2]);
        atomic_fetch_add(&rig->begun, 1);
        wf_processor_ready_owner(processor, &made->task, false);
    }
    job_end(rig);
}

TEST(lanes_are_picked_high_normal_low) {
    struct rig rig;
    rig_init(&rig, 1);
    memset(order, 0, sizeof order);
    jobs[0] = (struct job){.fn = make_lanes_job};
    rig_submit(&rig, &jobs[0], WF_LANE_NORMAL, 0);
    rig_run_and_term(&rig);
    CHECK_TEXT(order, "hhnnll");
}

static void until_flag_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    CHECK_LE(atomic_fetch_add(&rig->seen, 1), rig->patience);
    if (atomic_load(&rig->flag))
        job_end(rig);
    else if (job->value)
        wf_engine_submit_any(&rig->engine, &job->task);
    else
        wf_processor_ready_owner(processor, &job->task, false);
}

static void set_flag_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    (void)processor;
    (void)job;
    atomic_store(&rig->flag, 1);
    job_end(rig);
}

/* Twenty tasks that go on until the low one has run. */
static void check_not_starved(enum wf_lane busy, enum wf_lane starving, bool through_injection) {
    struct rig rig;
    rig_init(&rig, wf_test_workers());
    rig.patience = 10000000;
    for (int i = 0; i < 20; i++) {
        jobs[i] = (struct job){.fn = until_flag_job, .value = through_injection};
        rig_submit(&rig, &jobs[i], busy, 0);
    }
    jobs[20] = (struct job){.fn = set_flag_job};
    rig_submit(&rig, &jobs[20], starving, 0);
    rig_run_and_term(&rig);
}

TEST(a_lower_lane_is_not_starved_by_local_tasks) {
    check_not_starved(WF_LANE_NORMAL, WF_LANE_LOW, false);
    check_not_starved(WF_LANE_HIGH, WF_LANE_LOW, false);
    check_not_starved(WF_LANE_HIGH, WF_LANE_NORMAL, false);
}

TEST(a_lower_lane_is_not_starved_by_tasks_from_outside) {
    check_not_starved(WF_LANE_NORMAL, WF_LANE_LOW, true);
    check_not_starved(WF_LANE_HIGH, WF_LANE_LOW, true);
    check_not_starved(WF_LANE_HIGH, WF_LANE_NORMAL, true);
}

static void pinned_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    CHECK_EQ(processor->index + 1, wf_task_pinned(&job->task));
    if (--job->value > 0) {
        if (job->value % 2)
            wf_processor_ready_owner(processor, &job->task, true);
        else
            wf_engine_submit_any(&rig->engine, &job->task);
        return;
    }
    job_end(rig);
}

TEST(pinned_tasks_run_on_their_processor_only) {
    struct rig rig;
    rig_init(&rig, wf_test_workers());
    for (unsigned i = 0; i < 100; i++) {
        jobs[i] = (struct job){.fn = pinned_job, .value = 50};
        rig_submit(&rig, &jobs[i], (enum wf_lane)(i % WF_LANES), 1 + i % wf_test_workers());
    }
    rig_run_and_term(&rig);
}

static void flood_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    (void)job;
    for (int i = 1; i < MANY; i++) {
        jobs[i] = (struct job){.fn = count_job, .value = 1};
        atomic_fetch_add(&rig->begun, 1);
        wf_processor_ready_owner(processor, &jobs[i].task, false);
    }
    atomic_fetch_add(&rig->seen, (long)wf_load_relaxed(&processor->counters.injected) * 1000000);
    job_end(rig);
}

TEST(more_tasks_than_the_ring_holds_overflow_into_the_injection_queue) {
    struct rig rig;
    rig_init(&rig, wf_test_workers());
    jobs[0] = (struct job){.fn = flood_job};
    rig_submit(&rig, &jobs[0], WF_LANE_NORMAL, 0);
    rig_run_and_term(&rig);
    CHECK_EQ(atomic_load(&rig.seen) % 1000000, MANY - 1);
    if (wf_test_workers() == 1) /* with others, how much of it thieves take first is up to them */
        CHECK_GE(atomic_load(&rig.seen) / 1000000, WF_RING_CAPACITY / 2);
}

static void wait_for_all_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    (void)processor;
    (void)job;
    atomic_fetch_add(&rig->seen, 1);
    while (atomic_load(&rig->seen) < (long)wf_test_workers()) /* each on a worker of its own, or never */
        sched_yield();
    job_end(rig);
}

static void make_for_all_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    for (unsigned i = 1; i < wf_test_workers(); i++) {
        jobs[i] = (struct job){.fn = wait_for_all_job};
        atomic_fetch_add(&rig->begun, 1);
        wf_processor_ready_owner(processor, &jobs[i].task, false);
    }
    wait_for_all_job(rig, processor, job);
}

TEST(idle_workers_steal_from_one_that_computes) {
    struct rig rig;
    rig_init(&rig, wf_test_workers());
    jobs[0] = (struct job){.fn = make_for_all_job};
    rig_submit(&rig, &jobs[0], WF_LANE_NORMAL, 0);
    wf_engine_drain(&rig.engine);
    CHECK_EQ(wf_engine_run(&rig.engine), 0);
    uint64_t steals = 0, stolen = 0;
    for (uint32_t i = 0; i < rig.engine.count; i++) {
        steals += wf_load_relaxed(&rig.engine.processors[i]->counters.steals);
        stolen += wf_load_relaxed(&rig.engine.processors[i]->counters.stolen);
    }
    if (wf_test_workers() > 1)
        CHECK_GE(steals, 1);
    CHECK_GE(stolen, wf_test_workers() - 1);
    wf_engine_term(&rig.engine);
}

static void wait_for_the_other_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    (void)processor;
    (void)job;
    atomic_fetch_add(&rig->seen, 1);
    while (atomic_load(&rig->seen) < 2)
        sched_yield();
    job_end(rig);
}

/* Its search has turned away whoever wanted to wake somebody for these, and it may take only one of them. */
static void submit_two_to_a_searcher(const char *name) {
    struct wf_worker *worker = wf_current_get();
    if (strcmp(name, "sleep.before_idle") != 0 || !worker->is_searching ||
        wf_idle_parked_any(&worker->engine->idle) == 0)
        return;
    struct rig *rig = worker->engine->owner;
    if (atomic_exchange(&rig->flag, 1))
        return;
    for (int i = 0; i < 2; i++) {
        jobs[i] = (struct job){.fn = wait_for_the_other_job};
        wf_engine_submit_any(&rig->engine, &jobs[i].task);
    }
}

/* Somebody is to search while the other one sleeps: whichever of them lay down first. */
static void *wake_until_submitted(void *opaque) {
    struct rig *rig = opaque;
    while (!atomic_load(&rig->flag)) {
        wf_engine_notify_any(&rig->engine);
        sched_yield();
    }
    return NULL;
}

TEST(what_a_searcher_sees_when_it_lies_down_is_not_left_to_it_alone) {
    if (wf_test_workers() == 1)
        return;
    for (long round = scaled(100, 5); round > 0; round--) {
        struct rig rig;
        rig_init(&rig, wf_test_workers());
        atomic_store(&rig.begun, 2);
        wf_point_hook = submit_two_to_a_searcher;
        pthread_t thread = thread_start(wake_until_submitted, &rig);
        wf_engine_drain(&rig.engine);
        CHECK_EQ(wf_engine_run(&rig.engine), 0);
        thread_join(thread);
        wf_point_hook = NULL;
        wf_engine_term(&rig.engine);
    }
}

static void leave_next_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    (void)job;
    jobs[1] = (struct job){.fn = set_flag_job};
    atomic_fetch_add(&rig->begun, 1);
    wf_processor_ready_owner(processor, &jobs[1].task, true);
    while (!atomic_load(&rig->flag)) /* computes until somebody else has run it */
        sched_yield();
    job_end(rig);
}

TEST(a_next_slot_whose_owner_computes_is_taken_by_another_worker) {
    if (wf_test_workers() == 1)
        return;
    for (int round = 0; round < 20; round++) {
        struct rig rig;
        rig_init(&rig, wf_test_workers());
        jobs[0] = (struct job){.fn = leave_next_job};
        rig_submit(&rig, &jobs[0], WF_LANE_NORMAL, 0);
        rig_run_and_term(&rig);
    }
}

static void stop_world_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    struct wf_worker *worker = atomic_load(&processor->holder);
    if (wf_world_request(worker)) {
        long seen = atomic_load(&rig->seen);
        for (int i = 0; i < 50; i++) {
            sched_yield();
            CHECK_EQ(atomic_load(&rig->seen), seen);
        }
        wf_world_release(worker);
        if (--job->value == 0) {
            atomic_store(&rig->flag, 1);
            job_end(rig);
            return;
        }
    }
    wf_processor_ready_owner(processor, &job->task, false);
}

TEST(a_stopped_world_holds_every_other_worker) {
    struct rig rig;
    rig_init(&rig, wf_test_workers());
    for (int i = 0; i < 20; i++) {
        jobs[i] = (struct job){.fn = until_flag_job};
        rig_submit(&rig, &jobs[i], WF_LANE_NORMAL, 0);
    }
    jobs[20] = (struct job){.fn = stop_world_job, .value = scaled(200, 10)};
    rig_submit(&rig, &jobs[20], WF_LANE_NORMAL, 0);
    rig_run_and_term(&rig);
}

static struct wf_task *flag_fire(struct wf_timer *timer) {
    (void)timer;
    return &jobs[1].task;
}

static struct wf_timer shared_timer;

static void arm_and_compute_job(struct rig *rig, struct wf_processor *processor, struct job *job) {
    if (job->value == 0) { /* arms, and goes through the loop as a fiber that sleeps would */
        job->value = 1;
        jobs[1] = (struct job){.fn = set_flag_job};
        atomic_fetch_add(&rig->begun, 1);
        shared_timer.fire = flag_fire;
        CHECK_EQ(wf_timers_arm(&processor->timers, &shared_timer, wf_os_now() + WEFT_MILLISECOND), 0);
        wf_processor_timers_changed_owner(processor);
        wf_processor_ready_owner(processor, &job->task, false);
        return;
    }
    while (!atomic_load(&rig->flag)) /* only another worker can fire it */
        sched_yield();
    job_end(rig);
}

TEST(a_timer_fires_on_another_worker_while_its_own_computes) {
    if (wf_test_workers() == 1)
        return;
    for (int round = 0; round < 20; round++) {
        struct rig rig;
        rig_init(&rig, wf_test_workers());
        jobs[0] = (struct job){.fn = arm_and_compute_job};
        rig_submit(&rig, &jobs[0], WF_LANE_NORMAL, 0);
        rig_run_and_term(&rig);
    }
}
