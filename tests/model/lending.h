/* SPDX-License-Identifier: MIT
 *
 * tests/model/lending.h - processors and workers for the models of sched/lend.c and sched/world.c.
 *
 * A processor has a plain field that whoever holds it changes and whoever has stopped the world reads, so two of them at once
 * are reported as a data race. Beside that the test itself keeps book of who holds what. The crew is a stand-in with the same
 * stores in the same order: an heir is a thread that waits until it was given a processor.
 */
#ifndef WF_TESTS_MODEL_LENDING_H
#define WF_TESTS_MODEL_LENDING_H

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model.h"
#include "os/clock.h"
#include "os/report.h"
#include "sched/engine.h"

enum { PROCESSORS = 2, WORKERS = 4 };

static struct wf_engine engine;
static struct wf_processor processor[PROCESSORS];
static struct wf_processor *processors[PROCESSORS] = {&processor[0], &processor[1]};
static struct wf_worker worker[WORKERS];
static const struct wf_worker *held_by[PROCESSORS];
static int workers = WORKERS; /* that exist in this case */
static bool is_stopped;
static bool is_long; /* a call inside a region returns only when somebody ends it */
static struct wf_parker call_end;

WF_MACHINE_DEFINE(worker, WF_WORKER_STATES)

/* What stands in for other modules. */

MODEL_UNSEEN void wf_machine_check(const struct wf_machine *machine, uint32_t from, uint32_t to) {
    if (!wf_machine_allows(machine, from, to))
        model_fail("an illegal move", machine->states[from], (int)to);
}

MODEL_UNSEEN _Noreturn void wf_fatal(const char *format, ...) {
    model_fail(format, __FILE__, __LINE__);
}

int64_t wf_os_now(void) {
    return 1;
}

void wf_worker_cover_timers(struct wf_worker *unused) {
    (void)unused;
}

void wf_crew_give_processor(struct wf_worker *heir, struct wf_processor *given) {
    wf_store_release(&given->holder, heir);
    wf_store_release(&heir->given, given);
    wf_parker_unpark(&heir->parker);
}

void wf_crew_unpark_busy(struct wf_engine *unused) {
    (void)unused;
    for (int i = 0; i < workers; i++)
        wf_parker_unpark(&worker[i].parker);
}

/* The test's own book. */

MODEL_UNSEEN static void note_held(const struct wf_worker *by, const struct wf_processor *what) {
    CHECK(!is_stopped);
    CHECK(held_by[what - processor] == NULL);
    held_by[what - processor] = by;
}

MODEL_UNSEEN static void note_free(const struct wf_worker *by, const struct wf_processor *what) {
    CHECK(!is_stopped);
    CHECK(held_by[what - processor] == by);
    held_by[what - processor] = NULL;
}

MODEL_UNSEEN static void note_stopped(bool value) {
    is_stopped = value;
}

/* What a task does with the processor that it runs on. */
static void use(struct wf_worker *self) {
    self->processor->countdown++;
}

static void hold(struct wf_worker *self) {
    note_held(self, self->processor);
    use(self);
}

/* A blocking region with a call in it. True: the processor is still there. */
static bool block(struct wf_worker *self) {
    use(self);
    note_free(self, self->processor);
    wf_worker_lend(self);
    if (is_long)
        wf_parker_park(&call_end, WF_NEVER);
    if (!wf_worker_reclaim(self))
        return false;
    hold(self);
    return true;
}

/* What the loop of a worker does before it sleeps for good. */
static void rest(struct wf_worker *self) {
    use(self);
    note_free(self, self->processor);
    wf_world_rest(self);
}

/* What the monitor does: it has looked, and then takes. */
static bool take(struct wf_worker *from, struct wf_worker *heir) {
    uint32_t seen = wf_load_relaxed(&from->grip);
    return wf_worker_take_lent(from, seen, heir);
}

/* On the thread of an heir that was given something. */
static void serve(struct wf_worker *heir) {
    struct wf_processor *given;
    while (!(given = wf_exchange_acquire(&heir->given, NULL)))
        wf_parker_park(&heir->parker, WF_NEVER);
    wf_worker_move(heir, WF_WORKER_HOLDS);
    heir->processor = given;
    hold(heir);
}

static void init_engine(void) {
    engine.count = PROCESSORS;
    engine.processors = processors;
    wf_store_relaxed(&engine.limit, PROCESSORS);
    wf_store_relaxed(&engine.world_active, PROCESSORS);
    for (int i = 0; i < WORKERS; i++)
        worker[i].engine = &engine;
    for (int i = 0; i < PROCESSORS; i++) {
        processor[i].engine = &engine;
        processor[i].index = (uint32_t)i;
    }
}

static void seat(struct wf_worker *self, struct wf_processor *on) {
    wf_worker_move(self, WF_WORKER_HOLDS);
    wf_store_relaxed(&on->holder, self);
    self->processor = on;
    hold(self);
}

/* Stops the world from the last processor, and looks at the others. */
static void stop_world(struct wf_worker *self) {
    CHECK(wf_world_request(self));
    note_stopped(true);
    for (int i = 0; i < PROCESSORS; i++)
        CHECK(processor[i].countdown < 100);
    note_stopped(false);
    wf_world_release(self);
}

static bool is_case(const char *name) {
    return strcmp(model_case(), name) == 0;
}

#endif
