/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_monitor.c - sched/monitor.c: it does not sleep while somebody computes, and nothing is taken twice from
 * a next slot that becomes open to thieves.
 *
 * The monitor's own thread runs unchanged, with a clock that is always late: what it looks at for the second time has
 * stood still for too long. It gets the rounds that lead to what the case is about, and after that only when something has
 * changed. The parker is a stand-in, whose sleeps with a limit end at once.
 *
 * Cases
 *   sleep  a worker leaves the idle set, while the monitor finds all idle and lies down; it waits to be looked at
 *   share  the only processor's owner makes tasks and takes them from its next slot; the monitor takes it for a hog and has
 *          another worker stand in for it, which takes from the same slot
 *
 * Mutants of the driver: WORKER_WITHOUT_FENCE leaves out the fence at the end of wf_worker_sleep; IN_NEXT_LATE has an owner
 * that looks at is_shared before it sets in_next.
 */
#include <string.h>

#include "model.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/thread.h"
#include "sched/engine.h"

enum { TASKS = 2 };

static const struct wf_engine_policy policy;
static struct wf_engine engine;
static struct wf_processor processor[2];
static struct wf_processor *processors[2] = {&processor[0], &processor[1]};
static struct wf_worker worker[2];
static struct wf_task task[TASKS];
static uint32_t taken[TASKS];
static int64_t now_ns;
static int64_t sights[64]; /* room for those of two processors; what is in one is the monitor's own affair */
static int rounds;
static struct wf_parker noticed;
static bool is_asleep; /* it is the case sleep */

/* What stands in for other modules. */

MODEL_UNSEEN int64_t wf_os_now(void) {
    return now_ns += INT64_C(100000000);
}

/* All are idle, and soon it will lie down; or the next look is the second one. */
MODEL_UNSEEN static bool may_go_on(void) {
    return is_asleep ? *(const volatile uint32_t *)&engine.idle.word != 0 : rounds++ == 0;
}

bool wf_parker_park(struct wf_parker *parker, int64_t deadline_ns) {
    if (deadline_ns == WF_NEVER) {
        while (!wf_exchange_acquire(&parker->word, 0))
            wf_os_futex_wait(&parker->word, 0, INT64_MAX);
        return true;
    }
    if (!may_go_on())
        wf_relax();
    return false;
}

bool wf_parker_unpark(struct wf_parker *parker) {
    wf_exchange_release(&parker->word, 1);
    wf_os_futex_wake(&parker->word, 1);
    return false;
}

int wf_os_thread_start(struct wf_os_thread *thread, const char *name, void (*function)(void *), void *argument) {
    (void)thread;
    (void)name;
    model_start(function, argument);
    return 0;
}

int64_t wf_os_thread_ran(int64_t thread_id) {
    (void)thread_id;
    return -1;
}

/* Whether work waits: asked when the monitor has found somebody at work for the second time. */
bool wf_engine_has_surplus_any(struct wf_engine *unused) {
    (void)unused;
    if (is_asleep)
        wf_parker_unpark(&noticed);
    return !is_asleep;
}

bool wf_engine_has_next_any(struct wf_engine *unused, const struct wf_processor *except) {
    (void)unused;
    (void)except;
    return false;
}

void wf_engine_notify_any(struct wf_engine *unused) {
    (void)unused;
}

void wf_engine_unpark_any(struct wf_engine *unused, uint32_t index) {
    (void)unused;
    (void)index;
}

struct wf_worker *wf_crew_hire(struct wf_engine *unused, bool for_task) {
    (void)for_task;
    (void)unused;
    return &worker[1];
}

struct wf_processor *wf_processor_new(struct wf_engine *unused, uint32_t index) {
    (void)unused;
    CHECK(index == 1);
    return &processor[1];
}

MODEL_UNUSED(wf_crew_let_go)
MODEL_UNUSED(wf_engine_timers_changed_any)
MODEL_UNUSED(wf_inject_push_any)
MODEL_UNUSED(wf_os_thread_join)
MODEL_UNUSED(wf_os_thread_policy_set)
MODEL_UNUSED(wf_os_thread_waits)
MODEL_UNUSED(wf_processor_pick_extra_owner)
MODEL_UNUSED(wf_processor_ready_slow_owner)
MODEL_UNUSED(wf_report)
MODEL_UNUSED(wf_worker_take_lent)
MODEL_UNUSED(wf_world_rest)

/* The program. */

MODEL_UNSEEN static void note_taken(const struct wf_task *one) {
    CHECK(taken[one - task] == 0);
    taken[one - task]++;
}

static void end(void) {
    wf_store_seq_cst(&engine.is_stopping, 1);
    wf_parker_unpark(&engine.monitor.parker);
}

/* The end of wf_worker_sleep, and a task that waits until it was noticed. */
static void riser(void *unused) {
    (void)unused;
    wf_idle_unpark_self(&engine.idle, 0);
#ifndef MODEL_MUTANT_WORKER_WITHOUT_FENCE
    wf_fence_seq_cst();
#endif
    wf_monitor_wake(&engine);
    wf_parker_park(&noticed, WF_NEVER);
    end();
}

static struct wf_task *take(struct wf_processor *from) {
#ifdef MODEL_MUTANT_IN_NEXT_LATE
    bool is_shared = wf_load_relaxed(&from->engine->is_shared);
    wf_store_relaxed(&from->in_next, 1);
    struct wf_task *found = wf_load_relaxed(&from->next);
    if (!is_shared)
        wf_store_relaxed(&from->next, NULL);
    wf_store_release(&from->in_next, 0);
    return is_shared ? wf_exchange_acquire(&from->next, NULL) : found;
#else
    return wf_processor_take_next_owner(from);
#endif
}

static void owner(void *unused) {
    (void)unused;
    for (int i = 0; i < TASKS; i++) {
        wf_processor_ready_owner(&processor[0], &task[i], true);
        struct wf_task *found = take(&processor[0]);
        if (found)
            note_taken(found);
    }
    end();
}

/* As in sched/worker.c. */
static void thief(void *unused) {
    (void)unused;
    struct wf_task *found = wf_load_relaxed(&processor[0].next);
    if (found && wf_cas_acq_rel(&processor[0].next, &found, NULL))
        note_taken(found);
}

void wf_crew_give_processor(struct wf_worker *heir, struct wf_processor *given) {
    wf_store_release(&given->holder, heir);
    model_start(thief, NULL);
}

void model_main(void) {
    is_asleep = strcmp(model_case(), "sleep") == 0;
    engine.policy = &policy;
    engine.count = 1;
    engine.has_stand_ins = true;
    engine.processors = processors;
    engine.monitor.sights = (struct wf_sight *)(void *)sights;
    wf_store_relaxed(&engine.limit, 1);
    wf_store_relaxed(&engine.active, 1);
    CHECK(wf_idle_init(&engine.idle, 2, 1) == 0);
    for (int i = 0; i < 2; i++) {
        processor[i].engine = worker[i].engine = &engine;
        processor[i].index = (uint32_t)i;
    }
    wf_store_relaxed(&worker[0].grip, wf_grip(WF_WORKER_HOLDS, 0));
    wf_store_relaxed(&processor[0].holder, &worker[0]);
    worker[0].processor = &processor[0];
    if (is_asleep)
        wf_idle_park(&engine.idle, 0, false);
    model_start(is_asleep ? riser : owner, NULL);
    CHECK(wf_monitor_start(&engine) == 0);
    model_join_all();
    for (int i = 0; i < TASKS && !is_asleep; i++)
        CHECK(taken[i] == 1);
    wf_idle_term(&engine.idle);
}
