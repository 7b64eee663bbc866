/* SPDX-License-Identifier: MIT
 *
 * unit/fiber/alone_test.c - waiting alone: a bound fiber sleeps with its thread and is woken by everybody who can wake.
 *
 * Every kind of wait meets every kind of partner, once the fiber is seen asleep and once in a race. The hook of base/point.h
 * spawns a fiber exactly between "decide to park" and "parked". The rest looks at what a binding leaves behind in records,
 * processors and workers, which only private headers show.
 */
#include "base/point.h"
#include "fiber/fiber.h"
#include "os/fault.h"
#include "runtime/runtime.h"
#include "support/parked.h"
#include "weft/event.h"
#include "weft/promise.h"
#include "weft/timer.h"

static const weft_spawn_options bound = {.bound = true};

enum kind {
    RECEIVE,
    SEND,
    SELECT,
    MUTEX,
    COND,
    SEMAPHORE,
    JOIN_FIBER,
    EVENT,
    PROMISE,
    GROUP,
    WRITE_LOCK,
    BARRIER,
    SLEEP,
    KINDS
};
enum partner { LIGHT, THREAD, BOUND, PARTNERS };

static struct {
    enum kind kind;
    bool is_raced;
    weft_chan *chan;
    weft_mutex mutex;
    weft_cond cond;
    bool is_true; /* under mutex */
    weft_semaphore semaphore;
    weft_fiber other; /* ends when it gets let_end */
    weft_semaphore let_end;
    weft_events *events;
    weft_event event;
    weft_promise *promise;
    weft_waitgroup group;
    weft_rwlock rwlock;
    weft_barrier barrier;
    atomic_int is_prepared;
    _Atomic uint64_t waiter;
} meeting;

static int wait_for_condition(void) {
    int error = weft_mutex_lock(&meeting.mutex, WEFT_NEVER);
    while (!error && !meeting.is_true)
        error = weft_cond_wait(&meeting.cond, &meeting.mutex, WEFT_NEVER);
    weft_mutex_unlock(&meeting.mutex);
    return error;
}

static int wait_for_lock(void) {
    int error = weft_mutex_lock(&meeting.mutex, WEFT_NEVER);
    CHECK(meeting.is_true);
    weft_mutex_unlock(&meeting.mutex);
    return error;
}

static int wait_to_write(void) {
    int error = weft_rwlock_write(&meeting.rwlock, WEFT_NEVER);
    weft_rwlock_unlock(&meeting.rwlock);
    return error;
}

static int wait_by_select(void) {
    int value = 0;
    weft_case cases[] = {weft_on_receive(meeting.chan, &value), weft_on_semaphore(&meeting.semaphore),
                         weft_on_promise(meeting.promise, NULL), weft_on_time(weft_after(PATIENCE_NS))};
    CHECK_EQ(weft_select(cases, 4, WEFT_NEVER), 1);
    return cases[1].status;
}

static int wait_once(void) {
    int value = 4;
    switch (meeting.kind) {
    case RECEIVE:
        return weft_chan_recv(meeting.chan, &value, WEFT_NEVER);
    case SEND:
        return weft_chan_send(meeting.chan, &value, WEFT_NEVER);
    case SELECT:
        return wait_by_select();
    case MUTEX:
        return wait_for_lock();
    case COND:
        return wait_for_condition();
    case SEMAPHORE:
        return weft_semaphore_acquire(&meeting.semaphore, 1, WEFT_NEVER);
    case JOIN_FIBER:
        return weft_join(meeting.other, NULL, WEFT_NEVER);
    case EVENT:
        return weft_event_wait(meeting.events, meeting.event, NULL, WEFT_NEVER);
    case PROMISE:
        return weft_promise_await(meeting.promise, NULL, WEFT_NEVER);
    case GROUP:
        return weft_waitgroup_wait(&meeting.group, WEFT_NEVER);
    case WRITE_LOCK:
        return wait_to_write();
    case BARRIER:
        return weft_barrier_wait(&meeting.barrier, WEFT_NEVER) < 0 ? -1 : 0;
    default:
        return weft_sleep(weft_after(10 * WEFT_MICROSECOND));
    }
}

static void serve_once(void) {
    int value = 4;
    switch (meeting.kind) {
    case RECEIVE:
        CHECK_EQ(weft_chan_send(meeting.chan, &value, WEFT_NEVER), 0);
        break;
    case SEND:
        CHECK_EQ(weft_chan_recv(meeting.chan, &value, WEFT_NEVER), 0);
        break;
    case SELECT:
    case SEMAPHORE:
        weft_semaphore_release(&meeting.semaphore, 1);
        break;
    case MUTEX:
        meeting.is_true = true;
        weft_mutex_unlock(&meeting.mutex);
        break;
    case COND:
        CHECK_EQ(weft_mutex_lock(&meeting.mutex, WEFT_NEVER), 0);
        meeting.is_true = true;
        weft_cond_signal(&meeting.cond);
        weft_mutex_unlock(&meeting.mutex);
        break;
    case JOIN_FIBER:
        weft_semaphore_release(&meeting.let_end, 1);
        break;
    case EVENT:
        CHECK_EQ(weft_event_trigger(meeting.events, meeting.event), 0);
        break;
    case PROMISE:
        CHECK_EQ(weft_promise_resolve(meeting.promise, NULL), 0);
        break;
    case GROUP:
        weft_waitgroup_done(&meeting.group);
        break;
    case WRITE_LOCK:
        weft_rwlock_unlock(&meeting.rwlock);
        break;
    case BARRIER:
        CHECK_GE(weft_barrier_wait(&meeting.barrier, WEFT_NEVER), 0);
        break;
    default:
        break;
    }
}

static void *wait_alone(void *arg) {
    int64_t thread = wf_os_thread_id();
    CHECK(weft_is_bound());
    CHECK_EQ(wait_once(), 0);
    CHECK_EQ(wf_os_thread_id(), thread);
    return arg;
}

static void *serve(void *arg) {
    if (meeting.kind == MUTEX)
        CHECK_EQ(weft_mutex_lock(&meeting.mutex, WEFT_NEVER), 0);
    if (meeting.kind == WRITE_LOCK)
        CHECK_EQ(weft_rwlock_read(&meeting.rwlock, WEFT_NEVER), 0);
    atomic_store(&meeting.is_prepared, 1);
    WAIT_UNTIL(meeting.is_raced || atomic_load(&meeting.waiter));
    if (!meeting.is_raced && meeting.kind != SLEEP)
        wait_parked((weft_fiber){atomic_load(&meeting.waiter)});
    serve_once();
    return arg;
}

static void *end_when_told(void *arg) {
    CHECK_EQ(weft_semaphore_acquire(&meeting.let_end, 1, WEFT_NEVER), 0);
    return arg;
}

static void meet(enum kind kind, enum partner partner, bool is_raced) {
    weft_fiber waiter, other = WEFT_NO_FIBER;
    struct on_thread_call call;
    meeting.kind = kind;
    meeting.is_raced = is_raced;
    meeting.is_true = false;
    meeting.mutex = (weft_mutex)WEFT_MUTEX_INIT;
    meeting.cond = (weft_cond)WEFT_COND_INIT;
    meeting.semaphore = meeting.let_end = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    meeting.group = (weft_waitgroup)WEFT_WAITGROUP_INIT;
    weft_waitgroup_add(&meeting.group, 1);
    meeting.rwlock = (weft_rwlock)WEFT_RWLOCK_INIT;
    meeting.barrier = (weft_barrier)WEFT_BARRIER_INIT(2);
    atomic_store(&meeting.is_prepared, 0);
    atomic_store(&meeting.waiter, 0);
    CHECK_EQ(weft_promise_new(&meeting.promise), 0);
    CHECK_EQ(weft_event_new(meeting.events, &meeting.event, WEFT_NEVER), 0);
    if (kind == JOIN_FIBER)
        SPAWN(&meeting.other, end_when_told, NULL);
    if (partner == THREAD)
        on_thread_start(&call, serve, NULL);
    else
        CHECK_EQ(weft_spawn_with(&other, &(weft_spawn_options){.bound = partner == BOUND}, serve, NULL), 0);
    WAIT_UNTIL(atomic_load(&meeting.is_prepared));
    CHECK_EQ(weft_spawn_with(&waiter, &bound, wait_alone, NULL), 0);
    atomic_store(&meeting.waiter, waiter.bits);
    JOIN(waiter, NULL);
    if (partner == THREAD)
        on_thread_finish(&call);
    else
        JOIN(other, NULL);
    weft_event_trigger(meeting.events, meeting.event);
    weft_promise_unref(meeting.promise);
}

static void meet_everybody(void) {
    CHECK_EQ(weft_chan_new(&meeting.chan, sizeof(int), 0), 0);
    CHECK_EQ(weft_events_new(&meeting.events, NULL), 0);
    for (long round = scaled(30, 2); round > 0; round--)
        for (int kind = 0; kind < KINDS; kind++)
            for (int partner = 0; partner < PARTNERS; partner++)
                meet((enum kind)kind, (enum partner)partner, round % 2);
    weft_events_free(meeting.events);
    weft_chan_free(meeting.chan);
}

TEST(a_bound_fiber_can_wait_for_everything) {
    run_fibers(meet_everybody);
}

/* Something else is made ready between the decision and the sleep. */
static weft_semaphore narrow;
static atomic_int is_armed;

static void spawn_in_between(const char *name) {
    if (strcmp(name, "park.before_commit") == 0 && !wf_worker_self()->base.processor && atomic_exchange(&is_armed, 0))
        CHECK_EQ(weft_go(end_when_told, NULL), 0); /* something that the commit does not know of */
}

static void *park_with_a_hook(void *arg) {
    for (int i = 0; i < 20; i++) {
        atomic_store(&is_armed, 1);
        weft_semaphore_release(&meeting.let_end, 1);
        CHECK_EQ(weft_semaphore_acquire(&narrow, 1, weft_after(20 * WEFT_MICROSECOND)), -ETIMEDOUT);
    }
    return arg;
}

static void spawn_while_it_falls_asleep(void) {
    weft_fiber fiber;
    narrow = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    meeting.let_end = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    CHECK_EQ(weft_spawn_with(&fiber, &bound, park_with_a_hook, NULL), 0);
    JOIN(fiber, NULL);
}

TEST(what_happens_while_a_bound_fiber_falls_asleep_does_no_harm) {
    wf_point_hook = spawn_in_between;
    run_fibers(spawn_while_it_falls_asleep);
    wf_point_hook = NULL;
}

static int fail_late(void *arg) {
    (void)arg;
    CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    return -EDOM;
}

static int wait_until_cancelled(weft_scope *scope, void *arg) {
    if (arg)
        CHECK_EQ(weft_scope_go(scope, fail_late, NULL), 0);
    CHECK_EQ(weft_semaphore_acquire(&narrow, 1, WEFT_NEVER), -ECANCELED);
    CHECK_NE(weft_cancel_reason(NULL, 0), 0);
    return 0;
}

static atomic_int ticks;

static void *tick(void *arg) {
    atomic_fetch_add(&ticks, 1);
    return arg;
}

static void *use_time_alone(void *arg) {
    weft_timer timer;
    uint64_t count = 0;
    weft_scope_options options = {.deadline = weft_after(WEFT_MILLISECOND)};
    CHECK_EQ(weft_semaphore_acquire(&narrow, 1, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_scope_run(&options, wait_until_cancelled, NULL), -ETIMEDOUT);
    CHECK_EQ(weft_scope_run(NULL, wait_until_cancelled, arg), -EDOM);
    CHECK_EQ(weft_timer_start(&timer, weft_after(100 * WEFT_MICROSECOND), 100 * WEFT_MICROSECOND, NULL, NULL), 0);
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(weft_timer_wait(timer, &count, WEFT_NEVER), 0);
        CHECK_GE(count, 1);
    }
    CHECK_GE(weft_timer_stop(timer), 0);
    atomic_store(&ticks, 0);
    CHECK_EQ(weft_timer_start(&timer, weft_after(1000), 1000, tick, NULL), 0);
    WAIT_UNTIL(atomic_load(&ticks) >= 5);
    CHECK_GE(weft_timer_stop(timer), 0);
    CHECK_EQ(weft_timer_start(&timer, weft_after(PATIENCE_NS), 0, NULL, NULL), 0);
    CHECK_EQ(weft_timer_stop(timer), 1);
    return arg;
}

static void use_time_in_two(void) {
    weft_fiber fibers[4];
    narrow = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(weft_spawn_with(&fibers[i], &bound, use_time_alone, &fibers), 0);
    for (int i = 0; i < 4; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(weft_bind(NULL), 0);
    use_time_alone(fibers);
}

TEST(timers_deadlines_and_scopes_of_a_bound_fiber_work) {
    run_fibers(use_time_in_two);
    run_fibers_with(&(weft_options){.workers = 1}, use_time_in_two);
}

static void *look_at_the_seat(void *arg) {
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    CHECK(stack->seat == worker);
    CHECK(worker->base.processor == NULL);
    CHECK_EQ(wf_worker_state(&worker->base), WF_WORKER_ALONE);
    CHECK_GE(wf_load_relaxed(&worker->fibers->engine.alone), 1);
    CHECK_EQ(weft_pin(), 0);
    CHECK_EQ(weft_pin(), 0);
    weft_unpin();
    weft_unpin();
    CHECK_EQ(weft_set_priority(WEFT_PRIORITY_LOW), 0);
    CHECK_EQ(weft_unbind(), 0);
    stack = wf_fiber_stack(wf_fiber_self());
    CHECK(stack->seat == NULL);
    CHECK_EQ(wf_task_pinned(&wf_fiber_self()->task), 0);
    CHECK(wf_worker_self()->base.processor != NULL);
    return arg;
}

static void look_at_seats(void) {
    weft_fiber fiber;
    struct wf_engine *engine = &wf_worker_self()->fibers->engine;
    for (int i = 0; i < 20; i++) {
        CHECK_EQ(weft_spawn_with(&fiber, &bound, look_at_the_seat, NULL), 0);
        JOIN(fiber, NULL);
        CHECK_EQ(weft_bind(NULL), 0);
        look_at_the_seat(NULL);
    }
    WAIT_UNTIL(wf_load_relaxed(&engine->alone) == 0);
    CHECK_EQ(wf_load_relaxed(&engine->active), engine->count);
    for (uint32_t i = 0; i < engine->count; i++)
        CHECK_EQ(wf_load_relaxed(&engine->processors[i]->has_pins), 0);
}

TEST(a_binding_leaves_nothing_behind) {
    run_fibers(look_at_seats);
}

struct priority_search {
    weft_fiber fiber;
    weft_priority priority;
};

static int find_priority(const weft_fiber_info *info, void *opaque) {
    struct priority_search *search = opaque;
    if (info->fiber.bits != search->fiber.bits)
        return 0;
    search->priority = info->priority;
    return 1;
}

static void *look_at_own_priority(void *arg) {
    struct priority_search search = {.fiber = weft_self(), .priority = WEFT_PRIORITY_LOW};
    CHECK(weft_is_bound());
    CHECK_EQ(weft_each_fiber(NULL, find_priority, &search), 1);
    CHECK_EQ(search.priority, WEFT_PRIORITY_HIGH);
    CHECK_EQ(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
    return arg;
}

static void be_refused_real_time(void) {
    weft_fiber fiber;
    wf_fault_order(WF_CALL_POLICY, 1, EPERM, 1);
    CHECK_EQ(weft_spawn_with(&fiber, &(weft_spawn_options){.real_time = 10}, look_at_own_priority, NULL), 0);
    JOIN(fiber, NULL);
    CHECK_GE(wf_fault_hits(), 1);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
}

TEST(a_fiber_that_may_not_be_real_time_has_high_priority) {
    run_fibers(be_refused_real_time);
}
