/* SPDX-License-Identifier: MIT
 *
 * unit/sync/timer_test.c - timers where it is hard: between expiration and ring, without memory, at the end.
 *
 * The hook timer.before_ring stands where an alarm has expired and its record has not been looked at yet.
 */
#include "base/point.h"
#include "os/fault.h"
#include "os/memory.h"
#include "sched/timer.h"
#include "support/run.h"
#include "wait/cancel.h"

static atomic_int calls;
static weft_timer shared;
static weft_timer newer;

static void *count_call(void *arg) {
    atomic_fetch_add(&calls, 1);
    return arg;
}

/* Steps in once. */
static void (*step)(void);
static atomic_int steps;

static void step_before_ring(const char *name) {
    if (strcmp(name, "timer.before_ring") == 0 && atomic_fetch_add(&steps, 1) == 0)
        step();
}

static void with_step(void (*fn)(void), void (*body)(void)) {
    step = fn;
    atomic_store(&steps, 0);
    atomic_store(&calls, 0);
    wf_point_hook = step_before_ring;
    run_fibers(body);
    wf_point_hook = NULL;
}

static void stop_and_start_another(void) {
    CHECK_EQ(weft_timer_stop(shared), 1); /* it has expired, but nothing came of it yet */
    CHECK_EQ(weft_timer_start(&newer, WEFT_NEVER, 0, count_call, NULL), 0);
}

static void expire_shared(void) {
    CHECK_EQ(weft_timer_start(&shared, weft_after(WEFT_MILLISECOND), 0, count_call, NULL), 0);
    WAIT_UNTIL(atomic_load(&steps) > 0);
    CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    WAIT_UNTIL(weft_timer_stop(newer) == 1);
    CHECK_EQ(atomic_load(&calls), 0);
    CHECK_EQ(weft_timer_stop(shared), -ESTALE);
}

TEST(a_stop_between_expiration_and_ring_is_in_time) {
    newer = (weft_timer){0};
    with_step(stop_and_start_another, expire_shared);
}

static void reset_to_later(void) {
    CHECK_EQ(weft_timer_reset(shared, weft_after(2 * WEFT_MILLISECOND), 0), 0);
}

static void expire_after_reset(void) {
    weft_time start = weft_now();
    CHECK_EQ(weft_timer_start(&shared, weft_after(WEFT_MILLISECOND), 0, count_call, NULL), 0);
    WAIT_UNTIL(atomic_load(&calls) == 1);
    CHECK_GE(weft_now(), start + 3 * WEFT_MILLISECOND);
    CHECK_EQ(weft_timer_stop(shared), 0);
}

TEST(a_reset_between_expiration_and_ring_counts) {
    with_step(reset_to_later, expire_after_reset);
}

/* Memory. */
static bool attempt_timers(void) {
    uint64_t count = 0;
    weft_timer counts, runs;
    int errors = 0;
    int error = weft_timer_start(&counts, WEFT_NOW, 0, NULL, NULL);
    if (error) {
        CHECK_EQ(error, -ENOMEM);
        errors++;
    } else {
        CHECK_EQ(weft_timer_wait(counts, &count, WEFT_NEVER), 0);
        CHECK_EQ(count, 1);
        CHECK_EQ(weft_timer_stop(counts), 0);
    }
    error = weft_timer_start(&runs, WEFT_NOW, 0, count_call, NULL);
    if (error)
        return false;
    uint64_t missed = 0;
    int before = atomic_load(&calls);
    while (atomic_load(&calls) == before && missed == 0) {
        CHECK_EQ(weft_timer_missed(runs, &missed), 0);
        weft_yield();
    }
    CHECK_EQ(weft_timer_stop(runs), 0);
    return errors == 0 && missed == 0;
}

static long refused_call;
static bool was_refused;

static void refuse_one(void) {
    wf_fault_order(WF_CALL_ALLOC, refused_call, ENOMEM, 0);
    bool is_whole = attempt_timers();
    was_refused = wf_fault_hits() > 0;
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK(is_whole || was_refused);
    CHECK(attempt_timers());
}

TEST(memory_may_be_refused_to_the_first_timers) {
    for (refused_call = 1;; refused_call++) {
        CHECK_LE(refused_call, 50);
        run_fibers_with(&(weft_options){.quiet = true}, refuse_one);
        if (!was_refused)
            break;
    }
    CHECK_GE(refused_call, 3); /* at least the table and a chunk of records */
}

/* So many that chunks and heaps grow, with every allocation refused once in between. */
static void sweep_growth(void) {
    enum { TIMERS = 700 };
    weft_timer timers[TIMERS];
    int refusals = 0;
    for (int i = 0; i < TIMERS; i++) {
        wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
        int error = weft_timer_start(&timers[i], WEFT_NEVER, 0, NULL, NULL);
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        if (error) {
            CHECK_EQ(error, -ENOMEM);
            refusals++;
            CHECK_EQ(weft_timer_start(&timers[i], WEFT_NEVER, 0, NULL, NULL), 0);
        }
    }
    CHECK_GE(refusals, 3);
    for (int i = 0; i < TIMERS; i++)
        CHECK_EQ(weft_timer_stop(timers[i]), 1);
}

TEST(memory_may_be_refused_while_they_grow) {
    run_fibers(sweep_growth);
}

/* A ticker needs no memory to go on, and moving an armed one neither. */
static void starve(void) {
    uint64_t count = 0;
    weft_timer ticker;
    CHECK_EQ(weft_timer_start(&ticker, WEFT_NOW, 100 * WEFT_MICROSECOND, NULL, NULL), 0);
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(weft_timer_wait(ticker, &count, WEFT_NEVER), 0);
    CHECK_EQ(weft_timer_reset(ticker, weft_after(WEFT_MILLISECOND), 50 * WEFT_MICROSECOND), 0);
    CHECK_EQ(weft_timer_wait(ticker, &count, WEFT_NEVER), 0);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(weft_timer_stop(ticker), 1);
}

TEST(a_ticker_needs_no_memory_to_go_on) {
    run_fibers(starve);
}

/* Whoever waits from outside is told when the runtime ends without its fibers. */
static atomic_int thread_status;
static atomic_int thread_is_in;

static void *wait_from_outside(void *arg) {
    uint64_t count;
    (void)arg;
    atomic_store(&thread_is_in, 1);
    atomic_store(&thread_status, weft_timer_wait(shared, &count, WEFT_NEVER));
    return NULL;
}

static pthread_t outside;

static void *wait_inside(void *arg) {
    (void)arg;
    weft_timer_wait(shared, NULL, WEFT_NEVER);
    return NULL;
}

static void leave_a_waiter(void) {
    CHECK_EQ(weft_timer_start(&shared, WEFT_NEVER, 0, NULL, NULL), 0);
    CHECK_EQ(weft_go(wait_inside, NULL), 0);
    atomic_store(&thread_is_in, 0);
    outside = thread_start(wait_from_outside, NULL);
    WAIT_UNTIL(atomic_load(&thread_is_in));
}

TEST(an_abandoning_runtime_tells_who_waits_from_outside) {
    for (long i = 0; i < scaled(50, 5); i++) {
        run_fibers_with(&(weft_options){.abandon = true}, leave_a_waiter);
        thread_join(outside);
        int status = atomic_load(&thread_status);
        CHECK(status == -ECANCELED || status == -ESTALE);
    }
}

/* Many start, move, wait for and stop the same timers. */
enum { SHARED = 8 };
static weft_timer crowd[SHARED];
static struct wf_lock crowd_lock;

static weft_timer crowd_get(int i) {
    wf_lock_take(&crowd_lock);
    weft_timer timer = crowd[i];
    wf_lock_drop(&crowd_lock);
    return timer;
}

static void *push_about(void *arg) {
    uint64_t random = wf_test_seed() + (uintptr_t)arg * 1234567;
    for (long i = 0; i < scaled(10000, 200); i++) {
        int which = (int)random_below(&random, SHARED);
        weft_timer timer = crowd_get(which);
        weft_time soon = weft_after((int64_t)random_below(&random, 50) * WEFT_MICROSECOND);
        int64_t period = (int64_t)random_below(&random, 3) * 200 * WEFT_MICROSECOND;
        weft_fn fn = random_below(&random, 2) ? count_call : NULL;
        uint64_t count;
        int status;
        switch (random_below(&random, 4)) {
        case 0:
            status = weft_timer_reset(timer, soon, period);
            CHECK(status == 0 || status == -ESTALE);
            break;
        case 1:
            status = weft_timer_wait(timer, &count, soon);
            CHECK(status == 0 || status == -ESTALE || status == -ETIMEDOUT || status == -EINVAL);
            break;
        case 2:
            CHECK_EQ(weft_timer_start(NULL, soon, 0, count_call, NULL), 0);
            break;
        default:
            status = weft_timer_stop(timer);
            CHECK(status == 0 || status == 1 || status == -ESTALE);
            if (status == -ESTALE)
                break;
            CHECK_EQ(weft_timer_start(&timer, soon, period, fn, NULL), 0);
            wf_lock_take(&crowd_lock);
            crowd[which] = timer;
            wf_lock_drop(&crowd_lock);
        }
    }
    return NULL;
}

static void push_all(void) {
    enum { PUSHERS = 6 };
    weft_fiber fibers[PUSHERS];
    wf_test_seed(); /* before several ask for it at once */
    for (int i = 0; i < SHARED; i++)
        CHECK_EQ(weft_timer_start(&crowd[i], WEFT_NOW, 0, NULL, NULL), 0);
    for (int i = 0; i < PUSHERS; i++)
        SPAWN(&fibers[i], push_about, (void *)(intptr_t)i);
    pthread_t thread = thread_start(push_about, (void *)(intptr_t)PUSHERS);
    for (int i = 0; i < PUSHERS; i++)
        JOIN(fibers[i], NULL);
    thread_join(thread);
}

TEST(many_use_the_same_timers) {
    run_fibers(push_all);
}

static struct wf_cancel region;
static atomic_int has_entered;

static void *wait_in_region(void *arg) {
    struct wf_member member;
    wf_cancel_enter(&region, &member);
    atomic_store(&has_entered, 1);
    int status = weft_timer_wait(shared, NULL, WEFT_NEVER);
    wf_cancel_leave(&member);
    (void)arg;
    return (void *)(intptr_t)status;
}

static void cancel_a_wait(void) {
    weft_fiber waits;
    void *status;
    atomic_store(&has_entered, 0);
    wf_cancel_init(&region, NULL);
    CHECK_EQ(weft_timer_start(&shared, WEFT_NEVER, 0, NULL, NULL), 0);
    SPAWN(&waits, wait_in_region, NULL);
    WAIT_UNTIL(atomic_load(&has_entered));
    wf_cancel_fire(&region, -ECANCELED, NULL);
    JOIN(waits, &status);
    CHECK_EQ((intptr_t)status, -ECANCELED);
    CHECK_EQ(weft_timer_stop(shared), 1);
    wf_cancel_term(&region);
}

TEST(cancellation_ends_the_wait_for_a_timer) {
    run_fibers(cancel_a_wait);
}
