/* SPDX-License-Identifier: MIT
 *
 * unit/promise/promise_test.c - promises where it is hard: long chains, races, no memory, runtimes that end.
 *
 * The harness checks after each test that no block is left.
 */
#include "promise/promise.h"

#include "base/point.h"
#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/run.h"
#include "wait/cancel.h"

#define VALUE(n) ((void *)(intptr_t)(n))
#define NUMBER(value) ((intptr_t)(value))

static weft_promise *make(void) {
    weft_promise *promise;
    CHECK_EQ(weft_promise_new(&promise), 0);
    return promise;
}

static long chain_length(void) {
    return scaled(1000000, 20000);
}

static weft_promise *make_chain(weft_promise *first) {
    weft_promise *last = weft_promise_ref(first);
    for (long i = 0; i < chain_length(); i++) {
        weft_promise *next;
        CHECK_EQ(weft_promise_then(last, &next, NULL, NULL, NULL), 0);
        weft_promise_unref(last);
        last = next;
    }
    return last;
}

TEST(a_chain_of_a_million_is_settled_without_recursion) {
    weft_outcome outcome;
    weft_promise *first = make();
    weft_promise *last = make_chain(first);
    CHECK_EQ(weft_promise_resolve(first, VALUE(42)), 0);
    weft_promise_unref(first);
    CHECK_EQ(weft_promise_poll(last, &outcome), 0);
    CHECK_EQ(NUMBER(outcome.value), 42);
    weft_promise_unref(last);
}

TEST(a_chain_of_a_million_is_abandoned_without_recursion) {
    weft_outcome outcome;
    weft_promise *first = make();
    weft_promise *last = make_chain(first);
    weft_promise_unref(first);
    CHECK_EQ(weft_promise_poll(last, &outcome), 0);
    CHECK_EQ(outcome.error, -EPIPE);
    weft_promise_unref(last);
}

TEST(a_million_dependents_of_one) {
    weft_promise *first = make();
    long count = chain_length() / 4;
    weft_promise **all = calloc((size_t)count, sizeof *all);
    CHECK(all != NULL);
    for (long i = 0; i < count; i++)
        CHECK_EQ(weft_promise_then(first, &all[i], NULL, NULL, NULL), 0);
    CHECK_EQ(weft_promise_resolve(first, VALUE(3)), 0);
    for (long i = 0; i < count; i++) {
        CHECK_EQ(weft_promise_poll(all[i], NULL), 0);
        weft_promise_unref(all[i]);
    }
    free(all);
    weft_promise_unref(first);
}

enum { RACERS = 6 };
static atomic_int settled_by, is_open;

static void *settle_racing(void *arg) {
    while (!atomic_load(&is_open))
        weft_yield();
    int error = weft_promise_resolve(arg, arg);
    CHECK(error == 0 || error == -EALREADY);
    atomic_fetch_add(&settled_by, error == 0);
    weft_promise_unref(arg);
    return NULL;
}

static void *wait_racing(void *arg) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(arg, &outcome, weft_after(PATIENCE_NS)), 0);
    CHECK(outcome.value == arg);
    weft_promise_unref(arg);
    return NULL;
}

static void *keep(void *value, void *arg) {
    (void)arg;
    return value;
}

static void race_once(void) {
    weft_promise *promise = make(), *then, *all;
    weft_fiber fibers[2 * RACERS];
    atomic_store(&settled_by, 0);
    atomic_store(&is_open, 0);
    for (int i = 0; i < RACERS; i++) {
        SPAWN(&fibers[i], settle_racing, weft_promise_ref(promise));
        SPAWN(&fibers[RACERS + i], wait_racing, weft_promise_ref(promise));
    }
    pthread_t thread = thread_start(settle_racing, weft_promise_ref(promise));
    atomic_store(&is_open, 1);
    CHECK_EQ(weft_promise_then(promise, &then, keep, NULL, NULL), 0);
    CHECK_EQ(weft_promise_all(&all, (weft_promise *[]){promise, then, promise}, 3), 0);
    for (int i = 0; i < 2 * RACERS; i++)
        JOIN(fibers[i], NULL);
    thread_join(thread);
    weft_outcome outcome;
    CHECK_EQ(weft_promise_await(all, &outcome, weft_after(PATIENCE_NS)), 0);
    for (int i = 0; i < 3; i++)
        CHECK(((void **)outcome.value)[i] == promise);
    CHECK_EQ(atomic_load(&settled_by), 1);
    weft_promise_unref(all);
    weft_promise_unref(then);
    weft_promise_unref(promise);
}

static void race_often(void) {
    for (long i = 0; i < scaled(300, 10); i++)
        race_once();
}

TEST(of_many_settlers_one_wins) {
    run_fibers(race_often);
}

/* Every allocation of every call fails once: the call says so, and nothing is lost or left. */
static void *number_of(void *arg) {
    return arg;
}

static void ignore_unhandled(const weft_outcome *outcome, void *arg) {
    (void)outcome;
    (void)arg;
}

static bool attempt_everything(void) {
    weft_promise *source = NULL, *then = NULL, *async = NULL, *all = NULL, *adopts = NULL;
    weft_outcome outcome;
    int errors = 0;
    errors += weft_promise_new(&source) != 0;
    if (source) {
        errors += weft_promise_then(source, &then, keep, NULL, NULL) != 0;
        CHECK_EQ(weft_promise_resolve(source, VALUE(8)), 0);
        if (then) {
            CHECK_EQ(weft_promise_await(then, &outcome, WEFT_NEVER), 0);
            CHECK(outcome.state == WEFT_PROMISE_RESOLVED ? NUMBER(outcome.value) == 8 : outcome.error == -ENOMEM);
            errors += outcome.state != WEFT_PROMISE_RESOLVED;
        }
        errors += weft_promise_all(&all, (weft_promise *[]){source, source}, 2) != 0;
    }
    errors += weft_async(&async, number_of, VALUE(9)) != 0;
    if (async) {
        CHECK_EQ(weft_promise_await(async, &outcome, WEFT_NEVER), 0);
        CHECK(outcome.state == WEFT_PROMISE_RESOLVED ? NUMBER(outcome.value) == 9 : outcome.error == -ENOMEM);
        errors += weft_promise_new(&adopts) != 0;
        if (adopts)
            errors += weft_promise_adopt(adopts, async) != 0;
    }
    weft_promise_unref(adopts);
    weft_promise_unref(source);
    weft_promise_unref(then);
    weft_promise_unref(async);
    weft_promise_unref(all);
    return errors == 0;
}

static void sweep_memory(void) {
    weft_promise_on_unhandled(ignore_unhandled, NULL);
    CHECK(attempt_everything());
    for (long nth = 1; nth < 60; nth++) {
        int64_t before = wf_os_live_blocks();
        wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
        bool is_whole = attempt_everything();
        long hits = wf_fault_hits();
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        WAIT_UNTIL(wf_os_live_blocks() <= before); /* a settler may be about to give its own reference back */
        CHECK(is_whole || hits > 0);
    }
    weft_promise_on_unhandled(NULL, NULL);
}

TEST(memory_may_be_refused_anywhere) {
    run_fibers_with(&(weft_options){.quiet = true}, sweep_memory);
}

/* A fiber that finds no stack ends without having run: its promise is rejected all the same. */
static void refuse_stacks(void) {
    weft_promise *async, *then, *source = make();
    weft_outcome outcome;
    CHECK_EQ(weft_promise_then(source, &then, keep, NULL, NULL), 0);
    weft_promise *held[200];
    int count = 0;
    wf_fault_order(WF_CALL_MMAP, 1, ENOMEM, 1);
    for (; count < 200; count++) { /* until the stacks that are there are used up */
        CHECK_EQ(weft_async(&async, number_of, VALUE(1)), 0);
        held[count] = async;
    }
    CHECK_EQ(weft_promise_resolve(source, NULL), 0);
    CHECK_EQ(weft_promise_await(then, &outcome, WEFT_NEVER), 0);
    CHECK(outcome.state == WEFT_PROMISE_RESOLVED || outcome.error == -ENOMEM);
    for (int i = 0; i < count; i++) {
        CHECK_EQ(weft_promise_await(held[i], &outcome, WEFT_NEVER), 0);
        CHECK(outcome.state == WEFT_PROMISE_RESOLVED || outcome.error == -ENOMEM);
        weft_promise_unref(held[i]);
    }
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    weft_promise_unref(then);
    weft_promise_unref(source);
}

TEST(a_fiber_without_a_stack_rejects_its_promise) {
    run_fibers_with(&(weft_options){.quiet = true}, refuse_stacks);
}

static weft_promise *survivor, *survivor_then;

static void *park_for_ever(void *arg) {
    weft_promise *never = arg;
    weft_promise_await(never, NULL, WEFT_NEVER);
    return NULL;
}

static void leave_everything(void) {
    CHECK_EQ(weft_async(&survivor, park_for_ever, survivor_then), 0);
    weft_yield();
}

TEST(an_abandoned_fiber_rejects_its_promise) {
    weft_outcome outcome;
    survivor_then = make();
    run_fibers_with(&(weft_options){.abandon = true}, leave_everything);
    CHECK_EQ(weft_promise_poll(survivor, &outcome), 0);
    CHECK_EQ(outcome.error, -ECANCELED);
    weft_promise_unref(survivor);
    weft_promise_unref(survivor_then);
}

static void register_only(void) {
    CHECK_EQ(weft_promise_then(survivor, &survivor_then, keep, NULL, NULL), 0);
}

static void settle_in_another(void) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_resolve(survivor, NULL), 0);
    CHECK_EQ(weft_promise_poll(survivor_then, &outcome), 0);
    CHECK_EQ(outcome.error, -ESRCH);
}

TEST(a_continuation_goes_with_its_runtime) {
    survivor = make();
    run_fibers(register_only);
    CHECK_EQ(weft_promise_poll(survivor_then, NULL), -EAGAIN);
    run_fibers(settle_in_another); /* the same number, perhaps the same address */
    weft_promise_unref(survivor_then);
    weft_promise_unref(survivor);
}

/* Registered by a plain thread: runs in whatever runtime there is when the time comes. */
static void settle_for_a_thread(void) {
    weft_outcome outcome;
    CHECK_EQ(weft_promise_resolve(survivor, VALUE(5)), 0);
    CHECK_EQ(weft_promise_await(survivor_then, &outcome, WEFT_NEVER), 0);
    CHECK_EQ(NUMBER(outcome.value), 5);
}

TEST(a_continuation_of_a_thread_runs_where_it_is_settled) {
    survivor = make();
    CHECK_EQ(weft_promise_then(survivor, &survivor_then, keep, NULL, NULL), 0);
    run_fibers(settle_for_a_thread);
    weft_promise_unref(survivor_then);
    weft_promise_unref(survivor);
}

/* The settler stands just before the lock while a waiter looks and lies down. */
static atomic_int settler_waits, waiter_is_in;

static void hold_settler(const char *name) {
    if (strcmp(name, "promise.before_settle") != 0 || !atomic_load(&settler_waits))
        return;
    while (!atomic_load(&waiter_is_in))
        sched_yield();
}

static void *resolve_held(void *arg) {
    CHECK_EQ(weft_promise_resolve(arg, arg), 0);
    return NULL;
}

static bool has_committed(weft_promise *promise) {
    wf_lock_take(&promise->lock);
    bool is_committed = promise->is_committed;
    wf_lock_drop(&promise->lock);
    return is_committed;
}

static bool has_waiter(weft_promise *promise) {
    wf_lock_take(&promise->lock);
    bool has_one = promise->waiters != NULL;
    wf_lock_drop(&promise->lock);
    return has_one;
}

TEST(a_waiter_between_decision_and_settling_is_woken) {
    weft_promise *promise = make();
    atomic_store(&waiter_is_in, 0);
    atomic_store(&settler_waits, 1);
    wf_point_hook = hold_settler;
    pthread_t settles = thread_start(resolve_held, promise);
    WAIT_UNTIL(has_committed(promise));
    CHECK_EQ(weft_promise_poll(promise, NULL), -EAGAIN);
    CHECK_EQ(weft_promise_resolve(promise, NULL), -EALREADY);
    pthread_t waits = thread_start(wait_racing, weft_promise_ref(promise));
    WAIT_UNTIL(has_waiter(promise));
    atomic_store(&waiter_is_in, 1);
    thread_join(settles);
    thread_join(waits);
    wf_point_hook = NULL;
    weft_promise_unref(promise);
}

static void *wait_without_reference(void *arg) {
    return VALUE(weft_promise_await(arg, NULL, WEFT_NEVER));
}

static void release_awaited(void) {
    weft_fiber waits;
    weft_promise *promise = make();
    SPAWN(&waits, wait_without_reference, promise);
    WAIT_UNTIL(has_waiter(promise));
    weft_promise_unref(promise);
}

static void release_in_child(void *arg) {
    (void)arg;
    run_fibers(release_awaited);
}

TEST(giving_back_an_awaited_promise_is_fatal) {
    struct child_end end = child_run(release_in_child, NULL);
    CHECK_CHILD_FATAL(&end, "while somebody waits for it");
}

static struct wf_cancel region;

static void *await_in_region(void *arg) {
    struct wf_member member;
    wf_cancel_enter(&region, &member);
    int status = weft_promise_await(arg, NULL, WEFT_NEVER);
    weft_outcome outcome;
    weft_case one = weft_on_promise(arg, &outcome);
    CHECK_EQ(weft_select(&one, 1, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_promise_await(arg, NULL, WEFT_NOW), -ETIMEDOUT); /* a test is no wait */
    wf_cancel_leave(&member);
    return VALUE(status);
}

static void cancel_a_wait(void) {
    weft_fiber waits;
    void *status;
    weft_promise *promise = make();
    wf_cancel_init(&region, NULL);
    SPAWN(&waits, await_in_region, promise);
    WAIT_UNTIL(has_waiter(promise));
    wf_cancel_fire(&region, -ECANCELED, NULL);
    JOIN(waits, &status);
    CHECK_EQ(NUMBER(status), -ECANCELED);
    CHECK(!has_waiter(promise));
    wf_cancel_term(&region);
    weft_promise_unref(promise);
}

TEST(cancellation_ends_the_wait_for_a_promise) {
    run_fibers(cancel_a_wait);
}
