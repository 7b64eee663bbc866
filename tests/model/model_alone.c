/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_alone.c - fiber/alone.c: a fiber that waits on its own thread is woken once a wait, and its waker does
 * not touch it afterwards.
 *
 * The fiber parks, is made ready by a waker of its own for each wait, and does what fibers do then: it changes its seat, or
 * ends, whose stack goes at once. The waker leaves a plain value that the fiber reads. The fiber finds no room to spin; a
 * spin is the same look, more often.
 *
 * Cases
 *   once   one wait, after which the stack is freed
 *   twice  two waits, each with a waker; the token of the first may come late
 *   stray  one wait, and a token from somebody who means nothing by it
 *   world  one wait, while somebody stops the world and looks at the fiber's stack if it is parked
 *   stop   the engine stops meanwhile: the fiber is woken, or is dropped
 */
#include <string.h>

#include "fiber/fiber.h"
#include "model.h"
#include "os/clock.h"
#include "os/memory.h"
#include "os/report.h"

static struct wf_fibers fibers;
static struct wf_fiber_worker worker;
static struct wf_fiber fiber;
static struct wf_stack *stack;
static struct wf_parker published[2]; /* the fiber can be found: one for each wait */
static int value, waits, errno_word;
static bool is_dropped;
static void *end_of_fiber[5];

WF_MACHINE_DEFINE(fiber, WF_FIBER_STATES)

/* What stands in for other modules. */

MODEL_UNSEEN void wf_machine_check(const struct wf_machine *machine, uint32_t from, uint32_t to) {
    if (!wf_machine_allows(machine, from, to))
        model_fail("an illegal move", machine->states[from], (int)to);
}

MODEL_UNSEEN _Noreturn void wf_fatal(const char *format, ...) {
    model_fail(format, __FILE__, __LINE__);
}

void wf_crew_rest_alone(struct wf_worker *unused) {
    (void)unused;
}

void wf_fiber_leave(struct wf_fiber_worker *unused, enum wf_leave leave) {
    (void)unused;
    CHECK(leave == WF_LEAVE_ABANDON);
    is_dropped = true;
    __builtin_longjmp(end_of_fiber, 1);
}

/* It has lent nothing. */
bool wf_worker_reclaim(struct wf_worker *unused) {
    (void)unused;
    return false;
}

__thread void *wf_current;
MODEL_UNUSED(weft_blocking_end)
MODEL_UNUSED(wf_crew_hire)
MODEL_UNUSED(wf_crew_let_go)
MODEL_UNUSED(wf_depth_note_foreign)
MODEL_UNUSED(wf_engine_has_surplus_any)
MODEL_UNUSED(wf_engine_notify_any)
MODEL_UNUSED(wf_idle_parked_any)
MODEL_UNUSED(wf_os_guard_install)
MODEL_UNUSED(wf_os_guard_probe)
MODEL_UNUSED(wf_os_map)
MODEL_UNUSED(wf_os_now)
MODEL_UNUSED(wf_os_now_coarse)
MODEL_UNUSED(wf_os_thread_policy_restore)
MODEL_UNUSED(wf_os_thread_policy_set)
MODEL_UNUSED(wf_os_unmap)
MODEL_UNUSED(wf_processor_has_local_owner)
MODEL_UNUSED(wf_stack_check_canary)
MODEL_UNUSED(wf_worker_give)
MODEL_UNUSED(wf_worker_lend)

static bool is_case(const char *name) {
    return strcmp(model_case(), name) == 0;
}

/* Publishes the wait. As with every wait, what came before is visible to whoever finds it. */
static bool commit(struct wf_fiber *unused, void *number) {
    (void)unused;
    wf_parker_unpark(&published[(uintptr_t)number]);
    return true;
}

static void fiber_main(void *unused) {
    (void)unused;
    if (is_case("stop") && __builtin_setjmp(end_of_fiber)) {
        CHECK(wf_load_relaxed(&fibers.engine.is_stopping));
        return;
    }
    for (int i = 0; i < waits; i++) {
        wf_alone_park(&worker, commit, (void *)(uintptr_t)i);
        CHECK(value == i + 1);
        stack->context.sp = NULL;
        stack->seat = NULL; /* a region or a binding ends, and another one begins */
        stack->seat = &worker;
    }
    if (is_case("once"))
        wf_os_free(stack);
}

static void waker(void *number) {
    uintptr_t i = (uintptr_t)number;
    wf_parker_park(&published[i], WF_NEVER);
    value = (int)i + 1;
    wf_fiber_set_state(&fiber, WF_FIBER_READY);
    wf_alone_wake(&fibers.engine, &fiber.task);
}

static void stray(void *unused) {
    (void)unused;
    wf_parker_unpark(&worker.base.parker);
}

static void stopper(void *unused) {
    (void)unused;
    wf_store_seq_cst(&fibers.engine.world_requested, 1);
    if (wf_load_seq_cst(&fiber.task.state) == WF_FIBER_PARKED)
        CHECK(stack->context.sp != (void *)&fibers);
    wf_store_seq_cst(&fibers.engine.world_requested, 0);
    wf_parker_unpark(&worker.base.parker);
}

static void end_engine(void *unused) {
    (void)unused;
    wf_store_seq_cst(&fibers.engine.is_stopping, 1);
    wf_parker_unpark(&worker.base.parker);
}

void model_main(void) {
    stack = wf_os_alloc(sizeof *stack);
    stack->seat = &worker;
    stack->fiber = &fiber;
    wf_store_relaxed(&fiber.place, (uintptr_t)stack);
    wf_store_relaxed(&fiber.task.state, WF_FIBER_RUNNING);
    wf_store_relaxed(&worker.current, &fiber);
    wf_store_relaxed(&fibers.engine.alone, 1);
    wf_store_relaxed(&fibers.binding.spinners, 1);
    worker.fibers = &fibers;
    worker.errno_location = &errno_word;
    waits = is_case("twice") ? 2 : 1;
    model_start(fiber_main, NULL);
    for (int i = 0; i < waits; i++)
        model_start(waker, (void *)(uintptr_t)i);
    if (is_case("stray"))
        model_start(stray, NULL);
    if (is_case("world"))
        model_start(stopper, NULL);
    if (is_case("stop"))
        model_start(end_engine, NULL);
    model_join_all();
    CHECK(is_dropped || !wf_load_relaxed(&worker.is_woken));
    CHECK(is_dropped || wf_load_relaxed(&fibers.engine.alone) == 1);
    if (!is_case("once"))
        wf_os_free(stack);
}
