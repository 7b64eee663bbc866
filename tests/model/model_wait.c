/* SPDX-License-Identifier: MIT
 *
 * tests/model/model_wait.c - wait/wait.c and wait/cancel.c: one wake a wait, none lost, and a frame that may go at once.
 *
 * An object is a count of items; a giver hands one to the first waiter that it can claim, or leaves it there. The memory
 * of a wait is a block that its owner scribbles over and frees as soon as the wait has returned, so whoever touches it
 * later is found. Fibers, their switches and timers are stand-ins: abstract/fiber/fiber.h, abstract/sched/timer.h.
 *
 * Cases
 *   deadline  one object against the deadline; who timed out waits again, without one
 *   cancel    a cancellation and nothing else: it must not be lost
 *   object    one object against a cancellation
 *   both      the deadline against a cancellation
 *   many      two objects, each with a giver
 *   late      two objects, the second of which gives, against the deadline
 *   plain     one object and nothing else: the lock decides
 *   thread    a plain thread with a deadline, and one object
 *   callback  a callback that one thread takes back while an object gives; it fires or is taken back, and not both
 *   drop      a runtime that drops its parked fiber, while an object has claimed it
 *
 * Mutants of the driver: NO_RECHECK looks at the object before it has the lock, and not again; STATUS_LATE writes the
 * status after the wake; COMMIT_EARLY runs the commit before the fiber's stack is left.
 */
#include "model.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/report.h"
#include "wait/cancel.h"
#include "wait/wait.h"

#include <errno.h>
#include <string.h>

enum { OBJECTS = 2, STATUS = 7 };

struct object {
    struct wf_lock lock;
    struct wf_waiter *queue;
    uint32_t items;
};

struct frame {
    struct wf_wait wait;
    struct wf_waiter node[OBJECTS];
    struct wf_lock *lock[OBJECTS];
};

static struct object object[OBJECTS];
static uint32_t objects, received;
static int64_t deadline_ns = WF_NEVER;
static bool is_cancellable, is_dropping;
static int fiber_thread; /* 0: the waiter is a plain thread */

static struct wf_processor processor;
static struct wf_stack stack;
static struct wf_fiber fiber = {.stack = &stack};
static struct wf_fibers fibers = {.next_index = 1, .fiber = &fiber};
static struct wf_fiber_worker worker = {.base = {&processor}, .fibers = &fibers, .current = &fiber};
static struct wf_cancel region;
static _Atomic uint32_t is_left, shares;
static void *end_of_fiber[5];

/* What stands in for other layers comes first, then the program. */

MODEL_UNSEEN struct wf_fiber_worker *wf_worker_self(void) {
    return fiber_thread && model_thread() == fiber_thread ? &worker : NULL;
}

_Noreturn void wf_fatal(const char *format, ...) {
    model_fail(format, __FILE__, __LINE__);
}

void wf_fiber_ready(struct wf_fibers *unused, struct wf_fiber *woken) {
    (void)unused;
    CHECK(wf_exchange_release(&woken->is_ready, 1) == 0);
    wf_os_futex_wake(&woken->is_ready, 1);
}

static void other_side(void *unused) {
    (void)unused;
#ifdef MODEL_MUTANT_COMMIT_EARLY
    bool is_parked = fiber.commit(&fiber, fiber.commit_arg);
    stack.context++;
#else
    stack.context++;
    bool is_parked = fiber.commit(&fiber, fiber.commit_arg);
#endif
    if (is_dropping) {
        wf_store_release(&is_left, 1);
        wf_os_futex_wake(&is_left, 1);
    } else if (!is_parked) {
        wf_fiber_ready(&fibers, &fiber);
    }
}

static void scribble_and_free(struct frame *frame) {
    frame->wait.winner = NULL;
    frame->wait.word = NULL;
    frame->wait.fiber = NULL;
    frame->wait.fibers = NULL;
    frame->wait.timer.fire = NULL;
    for (uint32_t i = 0; i < objects; i++)
        frame->node[i] = (struct wf_waiter){.status = -1};
    wf_os_free(frame);
}

/* Everything of the runtime has stopped; this thread now ends it. The fiber does not come back. */
static void drop_fiber(void) {
    while (!wf_load_acquire(&is_left))
        wf_os_futex_wait(&is_left, 0, INT64_MAX);
    struct frame *frame = (struct frame *)(void *)wf_load_relaxed(&stack.waiting);
    wf_wait_drop_all(&fibers);
    scribble_and_free(frame);
    __builtin_longjmp(end_of_fiber, 1);
}

void wf_fiber_park(wf_commit *commit, void *arg) {
    uint32_t context = stack.context;
    fiber.commit = commit;
    fiber.commit_arg = arg;
    model_start(other_side, NULL);
    if (is_dropping)
        drop_fiber();
    while (!wf_exchange_acquire(&fiber.is_ready, 0))
        wf_os_futex_wait(&fiber.is_ready, 0, INT64_MAX);
    CHECK(stack.context == context + 1);
}

/* With the locks. */
static bool take_item(void) {
    for (uint32_t i = 0; i < objects; i++)
        if (object[i].items > 0) {
            object[i].items--;
            return true;
        }
    return false;
}

/* Waits for all objects. Returns what the wait does, or 0 for what could be had at once. */
static int wait_once(int64_t until_ns) {
    struct frame *frame = wf_os_alloc(sizeof *frame);
#ifdef MODEL_MUTANT_NO_RECHECK
    wf_lock_take(&object[0].lock);
    bool has_item = take_item();
    wf_lock_drop(&object[0].lock);
#endif
    for (uint32_t i = 0; i < objects; i++) {
        wf_lock_take(&object[i].lock);
        frame->lock[i] = &object[i].lock;
        frame->node[i] = (struct wf_waiter){.wait = &frame->wait, .lock = &object[i].lock, .queue = &object[i].queue};
    }
#ifndef MODEL_MUTANT_NO_RECHECK
    bool has_item = take_item();
#endif
    int outcome = 0;
    if (has_item) {
        for (uint32_t i = 0; i < objects; i++)
            wf_lock_drop(&object[i].lock);
    } else {
        outcome = wf_wait_many_locked(&frame->wait, frame->node, objects, frame->lock, objects, until_ns, "model");
        if (outcome >= 0)
            CHECK(frame->node[outcome].status == STATUS);
    }
    if (outcome >= 0)
        received++;
    scribble_and_free(frame);
    return outcome;
}

static void waiter(void *unused) {
    (void)unused;
    struct wf_member member;
    if (is_dropping && __builtin_setjmp(end_of_fiber))
        return;
    if (is_cancellable)
        wf_cancel_enter(&region, &member);
    int outcome = wait_once(deadline_ns);
    if (outcome == -ETIMEDOUT && !is_cancellable)
        outcome = wait_once(WF_NEVER);
    CHECK(outcome >= 0 || outcome == -ETIMEDOUT || outcome == -ECANCELED);
    CHECK(outcome >= 0 || is_cancellable);
    if (is_cancellable)
        wf_cancel_leave(&member);
}

static void plain_waiter(void *unused) {
    (void)unused;
    struct wf_waiter node = {0};
    wf_lock_take(&object[0].lock);
    if (take_item())
        wf_lock_drop(&object[0].lock);
    else
        CHECK(wf_wait_locked(&node, &object[0].lock, &object[0].queue, WF_NEVER, "model") == STATUS);
    node = (struct wf_waiter){.status = -1};
    received++;
}

static void giver(void *mine) {
    struct object *from = mine;
    wf_lock_take(&from->lock);
    struct wf_waiter *taken = wf_wait_take_first_locked(&from->queue);
    if (!taken)
        from->items++;
#ifndef MODEL_MUTANT_STATUS_LATE
    else
        taken->status = STATUS;
#endif
    wf_lock_drop(&from->lock);
    if (taken)
        wf_wait_wake(taken);
#ifdef MODEL_MUTANT_STATUS_LATE
    if (taken)
        taken->status = STATUS;
#endif
}

/* The block goes with the second of its two shares: that of the node, and that of whoever may take it back. */
static void give_share(struct frame *frame) {
    if (wf_fetch_sub_acq_rel(&shares, 1) == 1)
        scribble_and_free(frame);
}

static void on_fire(struct wf_wait *wait) {
    struct frame *frame = (struct frame *)(void *)wait;
    CHECK(frame->node[0].status == STATUS);
    received++;
    give_share(frame);
}

static void callback_owner(void *unused) {
    (void)unused;
    struct frame *frame = wf_os_alloc(sizeof *frame);
    wf_store_relaxed(&shares, 2);
    wf_wait_begin_callback(&frame->wait, &frame->node[0], on_fire);
    wf_lock_take(&object[0].lock);
    if (take_item()) {
        wf_lock_drop(&object[0].lock);
        received++;
        scribble_and_free(frame);
        return;
    }
    wf_wait_link_locked(&frame->node[0], &object[0].lock, &object[0].queue);
    wf_lock_drop(&object[0].lock);
    if (wf_wait_unlink(&frame->node[0]))
        give_share(frame);
    give_share(frame);
}

static void timer(void *unused) {
    (void)unused;
    if (wf_timers_fire_armed(&processor.timers))
        wf_fiber_ready(&fibers, &fiber);
}

static void canceller(void *unused) {
    (void)unused;
    wf_cancel_fire(&region, -ECANCELED, NULL);
}

static bool is_case(const char *name) {
    return strcmp(model_case(), name) == 0;
}

void model_main(void) {
    objects = is_case("many") || is_case("late") ? 2 : 1;
    is_cancellable = is_case("cancel") || is_case("object") || is_case("both");
    is_dropping = is_case("drop");
    fiber_thread = is_case("thread") || is_case("callback") ? 0 : 1;
    bool has_timer = is_case("deadline") || is_case("both") || is_case("late");
    if (has_timer || is_case("thread"))
        deadline_ns = 1;
    if (is_dropping)
        wf_store_relaxed(&fiber.task.state, WF_FIBER_PARKED);
    wf_cancel_init(&region, NULL);

    uint32_t given = 0;
    model_start(is_case("plain") ? plain_waiter : is_case("callback") ? callback_owner : waiter, NULL);
    if (!is_case("cancel") && !is_case("both")) {
        given++;
        model_start(giver, &object[objects - 1]);
    }
    if (is_case("many")) {
        given++;
        model_start(giver, &object[0]);
    }
    if (has_timer)
        model_start(timer, NULL);
    if (is_cancellable)
        model_start(canceller, NULL);
    model_join_all();
    CHECK(is_dropping || received + object[0].items + object[1].items == given);
    CHECK(!object[0].queue && !object[1].queue);
    CHECK(!processor.timers.armed);
}
