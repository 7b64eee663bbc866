/* SPDX-License-Identifier: MIT
 *
 * tests/model/abstract/fiber/fiber.h - fibers as threads of the explorer, in the place of src/fiber/fiber.h.
 *
 * Just what src/wait, src/event, src/loop and src/io use. A fiber is a thread that parks by starting another one, the other side of
 * the switch, and sleeping until it is made ready. The other side writes the fiber's context, as a switch does, and then runs
 * the commit; the fiber reads the context when it goes on. So whoever makes it ready without having seen the switch is
 * reported as a data race, and whoever does it twice, or before the switch, by a CHECK.
 */
#ifndef WF_FIBER_FIBER_H
#define WF_FIBER_FIBER_H

#include <stddef.h>

#include "arch/context.h"
#include "base/assert.h"
#include "base/list.h"
#include "base/task.h"
#include "os/clock.h"
#include "os/memory.h"
#include "queue/lock.h"
#include "sched/sentry.h"
#include "sched/timer.h"
#include "weft/time.h"

enum { WF_CHECK_CANCEL = 1, WF_CHECK_DROP = 2, WF_CHECK_PERTURB = 4, WF_CHECK_LENT = 8 };
enum wf_fiber_state { WF_FIBER_RUNNING, WF_FIBER_READY, WF_FIBER_PARKED };

struct wf_wait;
struct wf_waiter;
struct wf_cancel;
struct wf_fiber;

typedef bool wf_commit(struct wf_fiber *fiber, void *arg);

struct wf_stack {
    _Atomic(struct wf_wait *) waiting;
    _Atomic uint32_t wait_word;
    uint8_t checks;
    uint32_t shields;
    struct wf_cancel *cancel;
    uint32_t context; /* how often it was left; written by the other side */
};

static inline void wf_stack_set_shields(struct wf_stack *stack, uint32_t shields) {
    stack->shields = shields;
    stack->checks = (uint8_t)(stack->cancel && shields == 0 ? WF_CHECK_CANCEL : 0);
}

/* What a callback has opened: nothing here. */
struct wf_try_mark {
    uint32_t unused;
};
static inline void wf_try_mark(struct wf_try_mark *mark) {
    mark->unused = 0;
}

struct wf_fiber {
    struct wf_task task;
    struct wf_stack *stack;
    _Atomic uint32_t is_ready;
    wf_commit *commit;
    void *commit_arg;
};

/* Of an engine: where sentries stand. */
struct wf_engine {
    struct wf_sentries sentries;
};

struct wf_fibers {
    struct wf_engine engine;
    uint32_t next_index;
    struct wf_fiber *fiber;
    uint32_t runtime;
    uint32_t first_generation;
    bool abandons;
    _Atomic uint32_t outside_wakers;
};

static inline bool wf_fiber_may_yield(void) {
    return false;
}

/* Nobody ends a runtime here. */
static inline bool wf_runtimes_hold(struct wf_fibers *fibers) {
    return fibers != NULL;
}
static inline void wf_runtimes_leave(struct wf_fibers *fibers) {
    (void)fibers;
}

struct wf_processor {
    uint32_t index;
    int64_t clock_ns;
    struct wf_timers timers;
};

struct wf_worker {
    struct wf_processor *processor;
};

struct wf_fiber_worker {
    struct wf_worker base;
    struct wf_fibers *fibers;
    struct wf_fiber *current;
};

static inline struct wf_fiber *wf_worker_fiber(const struct wf_fiber_worker *worker) {
    return worker->current;
}

struct wf_fiber_worker *wf_worker_self(void);
void wf_fiber_park(wf_commit *commit, void *arg);
void wf_fiber_ready(struct wf_fibers *fibers, struct wf_fiber *fiber);

static inline struct wf_stack *wf_fiber_stack(const struct wf_fiber *fiber) {
    return fiber->stack;
}

static inline struct wf_fiber *wf_fiber_self(void) {
    struct wf_fiber_worker *worker = wf_worker_self();
    return worker ? wf_worker_fiber(worker) : NULL;
}

static inline void wf_fiber_set_state(struct wf_fiber *fiber, enum wf_fiber_state state) {
    (void)fiber;
    (void)state;
}

static inline void wf_fiber_perturb(void) {}

static inline void wf_deferred_look(void) {}

static inline void wf_alone_before_wait(struct wf_stack *stack) {
    (void)stack;
}

static inline struct wf_processor *wf_timer_home(const struct wf_fiber_worker *worker) {
    return worker->base.processor;
}

static inline void wf_timer_home_changed(const struct wf_fiber_worker *worker) {
    (void)worker;
}

static inline int64_t wf_worker_clock(const struct wf_fiber_worker *worker) {
    return worker->base.processor->clock_ns;
}

static inline struct wf_fiber *wf_record_at(const struct wf_fibers *fibers, uint32_t index) {
    return &fibers->fiber[index];
}

#endif
