/* SPDX-License-Identifier: MIT
 *
 * unit/queue/idle_test.c - the idle set: its transitions one by one, then whole workers on real threads.
 *
 * The stress tests run the protocol of queue/idle.h with real parkers and no time limit anywhere: a lost wake-up is a
 * hang, a lost or double task is seen by the ledger.
 */
#include "os/fault.h"
#include "os/memory.h"
#include "queue/idle.h"
#include "queue/inject.h"
#include "queue/mailbox.h"
#include "queue/parker.h"
#include "queue/ring.h"
#include "unit/queue/crew.h"

enum { STRESS_TASKS = 2000 * WEFT_TEST_SCALE, WORKERS = 4, PRODUCERS = 2 };

static struct wf_idle idle;

TEST(most_recently_parked_is_woken_first_and_as_the_only_searcher) {
    CHECK_EQ(wf_idle_init(&idle, 3, 0), 0);
    CHECK_EQ(wf_idle_notify_any(&idle), -1);
    for (uint32_t i = 0; i < 3; i++)
        wf_idle_park(&idle, i, false);
    CHECK_EQ(wf_idle_parked_any(&idle), 3);
    CHECK_EQ(wf_idle_notify_any(&idle), 2);
    CHECK_EQ(wf_idle_searching_any(&idle), 1);
    CHECK_EQ(wf_idle_parked_any(&idle), 2);
    CHECK_EQ(wf_idle_notify_any(&idle), -1); /* somebody searches */
    CHECK(!wf_idle_unpark_self(&idle, 2));
    CHECK(wf_idle_woken_to_search(&idle, 2));
    CHECK(wf_idle_search_end(&idle));
    CHECK_EQ(wf_idle_notify_any(&idle), 1);
    CHECK(!wf_idle_unpark_self(&idle, 1));
    wf_idle_park(&idle, 1, true);
    CHECK_EQ(wf_idle_searching_any(&idle), 0);
    CHECK(wf_idle_unpark_self(&idle, 1));
    CHECK(wf_idle_unpark_self(&idle, 0));
    CHECK_EQ(wf_idle_parked_any(&idle), 0);
    wf_idle_term(&idle);
}

static void expect_near(uint32_t wish, uint32_t spared, int worker) {
    CHECK_EQ(wf_idle_notify_near(&idle, wish, spared), worker);
    CHECK(wf_idle_search_end(&idle));
}

TEST(a_wish_goes_first_and_who_is_spared_is_woken_only_as_the_last_one) {
    enum { NONE = -1 };
    CHECK_EQ(wf_idle_init(&idle, 5, 1), 0);
    for (uint32_t i = 0; i < 5; i++)
        wf_idle_park(&idle, i, false);
    expect_near(1, 4, 1);
    expect_near((uint32_t)NONE, 4, 3); /* not 4, which is on top */
    expect_near(3, 0, 4);              /* who is wished for is not parked */
    expect_near(0, 0, 0);              /* a wish counts for more */
    expect_near((uint32_t)NONE, 2, 2); /* nobody else is there */
    CHECK_EQ(wf_idle_notify_near(&idle, 2, 2), NONE);
    wf_idle_term(&idle);
}

TEST(searchers_are_capped_and_the_last_one_is_told) {
    CHECK_EQ(wf_idle_init(&idle, 4, 2), 0);
    CHECK(wf_idle_search_begin(&idle));
    CHECK(wf_idle_search_begin(&idle));
    CHECK(!wf_idle_search_begin(&idle));
    CHECK(!wf_idle_search_end(&idle));
    CHECK(wf_idle_search_begin(&idle));
    CHECK(!wf_idle_search_end(&idle));
    CHECK(wf_idle_search_end(&idle));
    CHECK_EQ(wf_idle_searching_any(&idle), 0);
    wf_idle_term(&idle);
}

TEST(take_removes_exactly_that_worker_and_not_as_a_searcher) {
    CHECK_EQ(wf_idle_init(&idle, 3, 1), 0);
    CHECK(!wf_idle_take(&idle, 1));
    for (uint32_t i = 0; i < 3; i++)
        wf_idle_park(&idle, i, false);
    CHECK(wf_idle_take(&idle, 1));
    CHECK(!wf_idle_take(&idle, 1));
    CHECK_EQ(wf_idle_searching_any(&idle), 0);
    CHECK(!wf_idle_unpark_self(&idle, 1));
    CHECK(!wf_idle_woken_to_search(&idle, 1));
    CHECK_EQ(wf_idle_notify_any(&idle), 2);
    CHECK(!wf_idle_unpark_self(&idle, 2));
    CHECK(wf_idle_woken_to_search(&idle, 2));
    CHECK(wf_idle_search_end(&idle));
    wf_idle_park(&idle, 1, false);
    CHECK_EQ(wf_idle_notify_any(&idle), 1);
    CHECK(wf_idle_search_end(&idle));
    CHECK_EQ(wf_idle_notify_any(&idle), 0);
    wf_idle_term(&idle);
}

TEST(init_survives_the_failure_of_each_allocation) {
    int64_t blocks = wf_os_live_blocks();
    for (long nth = 1;; nth++) {
        wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
        int error = wf_idle_init(&idle, 8, 1);
        if (wf_fault_hits() == 0) {
            CHECK_EQ(error, 0);
            break;
        }
        CHECK_EQ(error, -ENOMEM);
        CHECK_EQ(wf_os_live_blocks(), blocks);
    }
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    wf_idle_term(&idle);
    CHECK_EQ(wf_os_live_blocks(), blocks);
}

struct worker {
    _Alignas(64) struct wf_parker parker;
    struct wf_ring ring;
    struct wf_mailbox mailbox;
    struct wf_chain mail; /* taken out of the mailbox; nobody else may run it */
};

/* Workers with a ring and a mailbox each, a global queue, producers outside. is_stepwise: a producer waits until its
 * task is done before it makes the next, so that each push meets the workers on their way to sleep. */
struct engine {
    struct ledger ledger;
    struct wf_idle idle;
    struct wf_inject inject;
    struct worker worker[WORKERS];
    bool is_stepwise;
};

static void wake(struct engine *engine, int worker) {
    if (worker >= 0)
        CHECK(!wf_parker_unpark(&engine->worker[worker].parker));
}

/* Own work first: mail, then the ring. */
static struct wf_task *look_at_home(struct worker *self) {
    wf_mailbox_take_owner(&self->mailbox, &self->mail);
    struct wf_task *task = wf_chain_take_first(&self->mail);
    return task ? task : wf_ring_pop_owner(&self->ring);
}

static struct wf_task *search(struct engine *engine, struct worker *self) {
    struct wf_chain batch = {0};
    wf_inject_pop_any(&engine->inject, 4, &batch);
    struct wf_task *first = wf_chain_take_first(&batch);
    struct wf_task *task;
    while ((task = wf_chain_take_first(&batch)))
        CHECK(wf_ring_push_owner(&self->ring, task));
    for (int i = 0; i < WORKERS && !first; i++)
        if (&engine->worker[i] != self)
            wf_ring_steal_thief(&engine->worker[i].ring, &self->ring, &first);
    return first;
}

static bool sees_work(struct engine *engine, struct worker *self) {
    if (ledger_is_complete(&engine->ledger) || !wf_mailbox_is_empty_any(&self->mailbox) ||
        !wf_inject_is_empty_any(&engine->inject))
        return true;
    for (int i = 0; i < WORKERS; i++)
        if (!wf_ring_is_empty_any(&engine->worker[i].ring))
            return true;
    return false;
}

static void run(struct engine *engine, struct wf_task *task) {
    ledger_take(&engine->ledger, task);
    if (ledger_is_complete(&engine->ledger))
        for (int i = 0; i < WORKERS; i++)
            wake(engine, i);
}

static void work(struct engine *engine, uint32_t index) {
    struct worker *self = &engine->worker[index];
    bool is_searching = false;
    bool has_seen_work = false;
    while (!ledger_is_complete(&engine->ledger)) {
        struct wf_task *task = look_at_home(self);
        if (!task && !is_searching)
            is_searching = wf_idle_search_begin(&engine->idle);
        CHECK_LE(wf_idle_searching_any(&engine->idle), 1);
        if (!task && (is_searching || has_seen_work))
            task = search(engine, self);
        has_seen_work = false;
        if (task) {
            if (is_searching ? wf_idle_search_end(&engine->idle) : !wf_ring_is_empty_any(&self->ring))
                wake(engine, wf_idle_notify_any(&engine->idle));
            is_searching = false;
            run(engine, task);
            continue;
        }
        wf_idle_park(&engine->idle, index, is_searching);
        has_seen_work = sees_work(engine, self);
        if (!has_seen_work)
            CHECK(wf_parker_park(&self->parker, INT64_MAX));
        is_searching = !wf_idle_unpark_self(&engine->idle, index) && wf_idle_woken_to_search(&engine->idle, index);
    }
    if (is_searching)
        wf_idle_search_end(&engine->idle);
}

static void produce(struct engine *engine, uint32_t first) {
    for (uint32_t id = first; id < engine->ledger.count; id += PRODUCERS) {
        struct wf_task *task = ledger_task(&engine->ledger, id);
        uint32_t owner = id / PRODUCERS % WORKERS;
        if (id % 4 == 0) {
            if (wf_mailbox_push_any(&engine->worker[owner].mailbox, task) && wf_idle_take(&engine->idle, owner))
                wake(engine, (int)owner);
        } else {
            wf_inject_push_any(&engine->inject, task);
            wake(engine, wf_idle_notify_any(&engine->idle));
        }
        while (engine->is_stepwise && !wf_load_relaxed(&engine->ledger.taken[id]))
            crew_wait();
    }
}

static void engine_member(int index, void *argument) {
    struct engine *engine = argument;
    if (index < WORKERS)
        work(engine, (uint32_t)index);
    else
        produce(engine, (uint32_t)(index - WORKERS));
}

static void run_engine(uint32_t tasks, bool is_stepwise) {
    static struct engine engine;
    memset((void *)&engine, 0, sizeof engine);
    engine.is_stepwise = is_stepwise;
    CHECK_EQ(wf_idle_init(&engine.idle, WORKERS, 1), 0);
    ledger_init(&engine.ledger, tasks);
    crew_run(WORKERS + PRODUCERS, engine_member, &engine);
    ledger_term(&engine.ledger);
    CHECK_EQ(wf_idle_parked_any(&engine.idle), 0);
    CHECK_EQ(wf_idle_searching_any(&engine.idle), 0);
    wf_idle_term(&engine.idle);
}

TEST(workers_run_a_flood_of_tasks_once_each) {
    run_engine(STRESS_TASKS * 4, false);
}

TEST(workers_wake_for_every_single_task) {
    run_engine(STRESS_TASKS / 2, true);
}
