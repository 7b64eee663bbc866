/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_loop.c - loop/sleep.c and loop/job.c: what a loop has accepted is run, once, and its owner never sleeps on it.
 *
 * The owner takes over what was brought, runs it and sleeps; others submit, wake it, or end it, as loop/life.c does, which is
 * too large for the explorer: its state moves and its end are written out here. What a call writes is plain memory: one that
 * is run twice, lost or seen too early is a data race or a count that is wrong; a wake-up that is lost is a deadlock.
 * Descriptors are a word that stays set until it is read.
 *
 * Cases
 *   queue     two submit to an owner that is a plain thread and sleeps in the queue
 *   poll      the same in epoll
 *   fiber     one submits to an owner that is a fiber
 *   deadline  one submits to an owner that sleeps until a moment, in the queue
 *   late      the same in epoll
 *   end       one submits while another ends the loop: what was accepted is run
 *   close     the same in epoll, and the descriptor is closed by the owner as soon as the loop is over
 *   let       the last one that keeps the loop alive lets go
 *
 * Mutants of the driver: MOVE_STORES stores the new state, whatever was there; END_SILENT does not wake; END_UNLOCKED moves the
 * state without the lock; READ_FIRST reads the descriptor before the wait; LEAVE_EARLY ends without a last look;
 * LIFE_UNSEEN sleeps without asking whether anything is still alive.
 */
#include "loop/loop.h"
#include "model.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/report.h"

#include <errno.h>
#include <string.h>

enum { PRODUCERS = 2, OWNER = 1 };

static weft_loop loop;
static struct wf_loop_frame owner_frame = {.loop = &loop}, *owner_frames = &owner_frame, *no_frames;
static int64_t until_ns = WF_NEVER;
static bool ends, is_fiber, is_needed;
static uint32_t expected, ran[PRODUCERS], accepted[PRODUCERS]; /* plain */
static _Atomic uint32_t is_readable;                           /* the descriptor */
static bool is_closed;                                         /* under the loop's lock */
static struct wf_calls spare[PRODUCERS];                       /* so that none is allocated: they are large */

static struct wf_processor processor;
static struct wf_stack stack;
static struct wf_fiber fiber = {.stack = &stack};
static struct wf_fibers fibers = {.next_index = 1, .fiber = &fiber};
static struct wf_fiber_worker worker = {.base = {&processor}, .fibers = &fibers, .current = &fiber};

/* What stands in for other layers comes first, then the program. */

MODEL_UNSEEN struct wf_fiber_worker *wf_worker_self(void) {
    return is_fiber && model_thread() == OWNER ? &worker : NULL;
}

MODEL_UNSEEN struct wf_loop_frame **wf_loop_frames(void) {
    return model_thread() == OWNER ? &owner_frames : &no_frames;
}

_Noreturn void wf_fatal(const char *format, ...) {
    model_fail(format, __FILE__, __LINE__);
}

int64_t wf_os_now(void) {
    return 0;
}

#include "parking.h"

bool wf_loop_move_locked(weft_loop *of, enum wf_loop_state from, enum wf_loop_state to) {
#ifdef MODEL_MUTANT_MOVE_STORES
    (void)from;
    wf_store_relaxed(&of->state, to);
    return true;
#else
    uint32_t found = from;
    return wf_cas_relaxed(&of->state, &found, to);
#endif
}

bool wf_loop_is_alive_locked(const weft_loop *of) {
#ifdef MODEL_MUTANT_LIFE_UNSEEN
    return true;
#endif
    return of->keeps > 0 || wf_load_relaxed(&((weft_loop *)of)->has_ingress);
}

bool wf_watch_is_needed_locked(const weft_loop *of) {
    (void)of;
    return is_needed;
}

uint32_t wf_watch_count_locked(const weft_loop *of) {
    (void)of;
    return 0;
}

int wf_watch_arm_locked(weft_loop *of) {
    (void)of;
    return 0;
}

void wf_loop_promises_trim(weft_loop *of) {
    (void)of;
}

/* With the lock, and before it is closed. */
void wf_watch_signal_locked(weft_loop *of) {
    CHECK(of == &loop && !is_closed);
    CHECK(wf_exchange_relaxed(&is_readable, 1) == 0); /* one wake a sleep */
    wf_os_futex_wake(&is_readable, 1);
}

/* The wait of epoll: it ends while the descriptor is readable, and by time. */
void wf_watch_poll(weft_loop *of, int64_t deadline_ns) {
    CHECK(of == &loop);
    if (!is_needed || deadline_ns == 0)
        return;
#ifdef MODEL_MUTANT_READ_FIRST
    wf_store_relaxed(&is_readable, 0);
#endif
    while (!wf_load_relaxed(&is_readable))
        if (wf_os_futex_wait(&is_readable, 0, deadline_ns) == -ETIMEDOUT)
            return;
#ifndef MODEL_MUTANT_READ_FIRST
    wf_lock_take(&loop.lock);
    wf_store_relaxed(&is_readable, 0);
    wf_lock_drop(&loop.lock);
#endif
}

MODEL_UNUSED(wf_metrics_begin)
MODEL_UNUSED(wf_metrics_end)
MODEL_UNUSED(wf_metrics_sleep)
MODEL_UNUSED(wf_metrics_awake)
MODEL_UNUSED(wf_metrics_woken)
MODEL_UNUSED(wf_metrics_ingress_locked)

/* The program. */

static void run_jobs(void) {
    struct wf_loop_jobs *jobs = &loop.tracks[WF_TRACK_EXTERNAL];
    wf_loop_look(&loop);
    while (jobs->first)
        wf_loop_run_first(&loop, jobs, "model");
}

static bool is_done(void) {
    if (ends)
        return wf_loop_is_ending(&loop);
    return expected ? ran[0] + ran[1] == expected : !wf_loop_has_jobs(&loop) && loop.keeps == 0;
}

/* As loop_finish: the door is closed, and what came before is run. */
static void finish(void) {
#ifndef MODEL_MUTANT_LEAVE_EARLY
    wf_lock_take(&loop.lock); /* whoever closed the door has left */
    wf_lock_drop(&loop.lock);
    run_jobs();
#endif
    wf_lock_take(&loop.lock);
    CHECK(wf_loop_move_locked(&loop, WF_LOOP_TERMINATING, WF_LOOP_TERMINATED));
    is_closed = true;
    wf_lock_drop(&loop.lock);
    wf_loop_drop_jobs(&loop);
}

static void owner(void *unused) {
    (void)unused;
    for (;;) {
        run_jobs();
        wf_lock_take(&loop.lock);
        bool leaves = is_done();
        wf_lock_drop(&loop.lock);
        if (leaves)
            break;
        wf_loop_sleep(&loop, until_ns);
        until_ns = WF_NEVER; /* time passes once */
    }
    if (ends)
        finish();
    CHECK(!loop.sleepers);
}

static void count(void *which) {
    ++*(uint32_t *)which;
}

static void producer(void *number) {
    uint32_t *mine = number;
    int status = weft_loop_submit(&loop, count, &ran[mine - accepted]);
    CHECK(status == 0 || (ends && status == -EPIPE));
    *mine = status == 0;
}

/* As loop_end. */
static void ender(void *unused) {
    (void)unused;
#ifdef MODEL_MUTANT_END_UNLOCKED
    bool was_asleep = wf_loop_move_locked(&loop, WF_LOOP_SLEEPING, WF_LOOP_TERMINATING);
    if (!was_asleep)
        wf_loop_move_locked(&loop, WF_LOOP_RUNNING, WF_LOOP_TERMINATING);
    wf_lock_take(&loop.lock);
#else
    wf_lock_take(&loop.lock);
    bool was_asleep = wf_loop_move_locked(&loop, WF_LOOP_SLEEPING, WF_LOOP_TERMINATING);
    if (!was_asleep)
        wf_loop_move_locked(&loop, WF_LOOP_RUNNING, WF_LOOP_TERMINATING);
#endif
#ifdef MODEL_MUTANT_END_SILENT
    struct wf_waiter *woken = NULL;
#else
    struct wf_waiter *woken = wf_loop_wake_locked(&loop, was_asleep);
#endif
    wf_lock_drop(&loop.lock);
    if (woken)
        wf_wait_wake(woken);
}

/* As weft_loop_unkeep. */
static void let_go(void *unused) {
    (void)unused;
    wf_lock_take(&loop.lock);
    loop.keeps--;
    wf_loop_drop_and_rouse(&loop);
}

static void timer(void *unused) {
    (void)unused;
    if (wf_timers_fire_armed(&processor.timers))
        wf_fiber_ready(&fibers, &fiber);
}

static bool is_case(const char *name) {
    return strcmp(model_case(), name) == 0;
}

void model_main(void) {
    ends = is_case("end") || is_case("close");
    is_fiber = is_case("fiber");
    is_needed = is_case("poll") || is_case("late") || is_case("close");
    until_ns = is_case("deadline") || is_case("late") || is_fiber ? 1 : WF_NEVER;
    loop.of_fibers = is_fiber ? &fibers : NULL;
    loop.keeps = 1;
    wf_list_init(&loop.timers.fresh);
    wf_store_relaxed(&loop.state, WF_LOOP_RUNNING);
    spare[0].job.next = &spare[1].job;
    loop.free_shared = &spare[0].job;
    int producers = is_case("let") ? 0 : is_case("queue") || is_case("poll") ? 2 : 1;
    expected = (uint32_t)producers;

    model_start(owner, NULL); /* OWNER */
    for (int i = 0; i < producers; i++)
        model_start(producer, &accepted[i]);
    if (ends)
        model_start(ender, NULL);
    if (is_case("let"))
        model_start(let_go, NULL);
    if (is_fiber)
        model_start(timer, NULL);
    model_join_all();
    CHECK(ran[0] == accepted[0] && ran[1] == accepted[1]);
    CHECK(!processor.timers.armed);
    CHECK(!wf_load_relaxed(&loop.has_ingress) && !wf_loop_has_jobs(&loop));
}
