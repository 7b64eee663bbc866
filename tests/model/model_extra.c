/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_extra.c - sched/extra.c: however often the number of processors changes, in the end there are as many in
 * service as were asked for.
 *
 * The monitor is a thread that tends and sleeps; each extra processor that goes into service gets a thread that attends and
 * sleeps. Nobody has a limit to its sleep, so a change that somebody should have been told of is a lost wake-up. The main
 * thread waits until the numbers agree, and looks again each time one of them has changed.
 *
 * Cases
 *   down   one was asked for, and none is wanted any more while the monitor puts it into service
 *   up     one is in service; none, and then again one, are asked for while its holder looks
 *   give   one is in service and gives itself up, while two are asked for
 */
#include <string.h>

#include "model.h"
#include "os/clock.h"
#include "os/futex.h"
#include "sched/engine.h"

enum { MOST = 4 };

static const struct wf_engine_policy policy;
static struct wf_engine engine;
static struct wf_processor processor[1 + MOST];
static struct wf_processor *processors[1 + MOST];
static struct wf_worker worker[1 + MOST];
static int hired;
static struct wf_parker settled;
static bool is_give;

/* What stands in for other modules. */

int64_t wf_os_now(void) {
    return 1;
}

bool wf_parker_park(struct wf_parker *parker, int64_t deadline_ns) {
    CHECK(deadline_ns == WF_NEVER);
    while (!wf_exchange_acquire(&parker->word, 0))
        wf_os_futex_wait(&parker->word, 0, INT64_MAX);
    return true;
}

bool wf_parker_unpark(struct wf_parker *parker) {
    wf_exchange_release(&parker->word, 1);
    wf_os_futex_wake(&parker->word, 1);
    return false;
}

void wf_engine_unpark_any(struct wf_engine *unused, uint32_t index) {
    (void)unused;
    wf_parker_unpark(&processor[index].parker);
}

/* One has left: the main thread looks. */
void wf_engine_notify_any(struct wf_engine *unused) {
    (void)unused;
    wf_parker_unpark(&settled);
}

void wf_engine_timers_changed_any(struct wf_engine *unused) {
    (void)unused;
}

void wf_world_rest(struct wf_worker *unused) {
    (void)unused;
}

bool wf_monitor_become_shared(struct wf_engine *unused) {
    (void)unused;
    return true;
}

MODEL_UNSEEN static struct wf_worker *next_worker(void) {
    CHECK(hired < MOST);
    return &worker[++hired];
}

struct wf_worker *wf_crew_hire(struct wf_engine *unused, bool for_task) {
    (void)unused;
    (void)for_task;
    return next_worker();
}

struct wf_processor *wf_processor_new(struct wf_engine *unused, uint32_t index) {
    (void)unused;
    CHECK(index <= MOST);
    wf_store_release(&engine.limit, index + 1);
    return &processor[index];
}

MODEL_UNUSED(wf_engine_has_surplus_any)
MODEL_UNUSED(wf_idle_search_end)
MODEL_UNUSED(wf_inject_push_any)
MODEL_UNUSED(wf_monitor_stand_in)
MODEL_UNUSED(wf_processor_pick_extra_owner)
MODEL_UNUSED(wf_processor_ready_slow_owner)
MODEL_UNUSED(wf_report)

/* The program. */

/* As in the worker's loop: attend, then sleep. */
static void holder(void *opaque) {
    struct wf_worker *self = opaque;
    struct wf_processor *own = self->processor;
    if (is_give && own->index == 1) {
        wf_extra_gives_up(self);
        wf_parker_unpark(&settled);
    }
    while (!wf_load_acquire(&engine.is_stopping)) {
        if (wf_load_relaxed(&own->attention)) {
            wf_store_seq_cst(&own->attention, 0);
            if (wf_extra_leaves(self))
                return;
        }
        wf_parker_park(&own->parker, WF_NEVER);
    }
}

static void begin_holder(struct wf_worker *heir, struct wf_processor *given) {
    heir->engine = &engine;
    heir->processor = given;
    wf_store_release(&given->holder, heir);
    model_start(holder, heir);
}

void wf_crew_give_processor(struct wf_worker *heir, struct wf_processor *given) {
    begin_holder(heir, given);
    wf_parker_unpark(&settled);
}

static void monitor(void *unused) {
    (void)unused;
    while (!wf_load_acquire(&engine.is_stopping)) {
        int64_t again = wf_extra_tend(&engine, 1);
        CHECK(again == WF_NEVER);
        wf_parker_park(&engine.monitor.parker, WF_NEVER);
    }
}

static void put_one_into_service(void) {
    wf_store_relaxed(&engine.monitor.extras, 1);
    wf_store_relaxed(&engine.active, 2);
    wf_store_relaxed(&engine.limit, 2);
    begin_holder(next_worker(), &processor[1]);
}

/* In a thread of its own, and after it the numbers have to agree by themselves. */
static void resizer(void *unused) {
    (void)unused;
    if (is_give) {
        wf_engine_resize_any(&engine, 3);
    } else {
        wf_engine_resize_any(&engine, 1);
        if (strcmp(model_case(), "up") == 0)
            wf_engine_resize_any(&engine, 2);
    }
    wf_store_seq_cst(&engine.is_draining, 1); /* for the main thread: nothing more is asked for */
    wf_parker_unpark(&settled);
}

static bool has_settled(void) {
    return wf_load_seq_cst(&engine.is_draining) &&
           wf_load_seq_cst(&engine.monitor.extras) == wf_load_seq_cst(&engine.monitor.granted);
}

void model_main(void) {
    is_give = strcmp(model_case(), "give") == 0;
    engine.policy = &policy;
    engine.count = 1;
    engine.processors = processors;
    engine.extra_keep_alive_ns = is_give ? 1 : WF_NEVER;
    for (uint32_t i = 0; i <= MOST; i++) {
        processors[i] = &processor[i];
        processor[i].engine = &engine;
        processor[i].index = i;
    }
    wf_store_relaxed(&engine.limit, 1);
    wf_store_relaxed(&engine.active, 1);
    wf_store_relaxed(&engine.is_shared, 1);
    wf_store_relaxed(&engine.monitor.may_grow, 1);
    wf_store_relaxed(&engine.monitor.granted, 1);
    if (strcmp(model_case(), "down") != 0)
        put_one_into_service();
    model_start(monitor, NULL);
    model_start(resizer, NULL);
    while (!has_settled())
        wf_parker_park(&settled, WF_NEVER);
    CHECK(wf_load_seq_cst(&engine.active) - 1 <= wf_load_seq_cst(&engine.monitor.extras) + 1);
    wf_store_seq_cst(&engine.is_stopping, 1);
    wf_parker_unpark(&engine.monitor.parker);
    for (uint32_t i = 1; i <= MOST; i++)
        wf_parker_unpark(&processor[i].parker);
    model_join_all();
}
