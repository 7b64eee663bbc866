/* SPDX-License-Identifier: MIT
 *
 * spec/cancel_test.c - cancellation reaches a fiber wherever it waits, once, and loses nothing.
 *
 * The matrix: every call that can block (spec/blocking.h) by how the cancellation comes: while the fiber is parked, before
 * it calls, from a fiber, from a plain thread, by a deadline. Then clean-up: deferred calls, shields.
 */
#include "spec/blocking.h"
#include "support/child.h"

struct victim {
    const struct blocking_kind *kind;
    _Atomic uint64_t id;
    atomic_int may_wait;
    atomic_int ends;
    atomic_int cleanups;
    int status;
    int again;
    int reason;
    char text[128];
};

static void victim_clean_up(void *opaque) {
    struct victim *victim = opaque;
    atomic_fetch_add(&victim->cleanups, 1);
}

static int victim_main(void *opaque) {
    struct victim *victim = opaque;
    CHECK_EQ(weft_defer(victim_clean_up, victim), 0);
    WAIT_UNTIL(atomic_load(&victim->may_wait));
    atomic_store(&victim->id, weft_self().bits);
    victim->status = victim->kind->wait(WEFT_NEVER);
    victim->again = victim->kind->wait(WEFT_NEVER);
    CHECK_EQ(victim->kind->wait(WEFT_NOW), victim->kind->at_now);
    victim->reason = weft_cancel_reason(victim->text, sizeof victim->text);
    atomic_fetch_add(&victim->ends, 1);
    return victim->status;
}

static void check_victim(struct victim *victim, int outcome) {
    if (victim->status != -ECANCELED || victim->again != -ECANCELED)
        fprintf(stderr, "%s: %d, then %d\n", victim->kind->name, victim->status, victim->again);
    CHECK_EQ(victim->status, -ECANCELED);
    CHECK_EQ(victim->again, -ECANCELED);
    CHECK_EQ(victim->reason, -ENOTCONN);
    CHECK_TEXT(victim->text, "the line is down");
    CHECK_EQ(atomic_load(&victim->ends), 1);
    CHECK_EQ(atomic_load(&victim->cleanups), 1);
    CHECK_EQ(outcome, -ENOTCONN);
}

static void cancel_scope(void *scope) {
    CHECK_EQ(weft_scope_cancel(scope, -ENOTCONN, "the line is down"), 0);
    CHECK_EQ(weft_scope_cancel(scope, -EIO, "too late"), -EALREADY);
}

static void *cancel_scope_main(void *scope) {
    cancel_scope(scope);
    return NULL;
}

/* The opener is inside its scope and would be cancelled too; so the scope has an opener of its own. */
struct stage {
    struct victim *victim;
    _Atomic(weft_scope *) scope;
    atomic_int may_close; /* nobody cancels it any more */
    int outcome;
};

static void *stage_main(void *opaque) {
    struct stage *stage = opaque;
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, victim_main, stage->victim), 0);
    atomic_store(&stage->scope, scope);
    WAIT_UNTIL(atomic_load(&stage->may_close));
    stage->outcome = weft_scope_close(scope);
    return NULL;
}

enum by { BY_FIBER, BY_THREAD, BEFORE };

static void cancel_in(const struct blocking_kind *kind, enum by by) {
    struct victim victim = {.kind = kind};
    struct stage stage = {.victim = &victim};
    weft_fiber fiber;
    pthread_t thread = {0};
    kind->prepare();
    SPAWN(&fiber, stage_main, &stage);
    WAIT_UNTIL(atomic_load(&stage.scope));
    if (by != BEFORE) {
        atomic_store(&victim.may_wait, 1);
        WAIT_UNTIL(blocking_is_parked(atomic_load(&victim.id)));
    }
    if (by == BY_THREAD)
        thread = thread_start(cancel_scope_main, atomic_load(&stage.scope));
    else
        cancel_scope(atomic_load(&stage.scope));
    if (by == BY_THREAD)
        thread_join(thread);
    atomic_store(&stage.may_close, 1);
    atomic_store(&victim.may_wait, 1);
    JOIN(fiber, NULL);
    check_victim(&victim, stage.outcome);
    kind->check_and_drop();
}

static void parked_body(void) {
    for (int i = 0; i < BLOCKING_KINDS; i++)
        for (long round = 0; round < scaled(20, 3); round++)
            cancel_in(&blocking_kinds[i], BY_FIBER);
}

TEST(cancel_ends_every_wait_once_and_loses_nothing) {
    run_fibers(parked_body);
}

static void thread_body(void) {
    for (int i = 0; i < BLOCKING_KINDS; i++)
        cancel_in(&blocking_kinds[i], BY_THREAD);
}

TEST(cancel_by_a_plain_thread_ends_every_wait) {
    run_fibers(thread_body);
}

static void before_body(void) {
    for (int i = 0; i < BLOCKING_KINDS; i++)
        cancel_in(&blocking_kinds[i], BEFORE);
}

TEST(cancel_before_the_call_makes_every_call_refuse_to_wait) {
    run_fibers(before_body);
}

/* Neither parked for certain nor not: whenever the cancellation comes, the wait ends. */
static void anytime_body(void) {
    uint64_t seed = wf_test_seed();
    for (long round = 0; round < scaled(2000, 60); round++) {
        const struct blocking_kind *kind = &blocking_kinds[random_below(&seed, BLOCKING_KINDS)];
        struct victim victim = {.kind = kind};
        struct stage stage = {.victim = &victim};
        weft_fiber fiber;
        kind->prepare();
        SPAWN(&fiber, stage_main, &stage);
        WAIT_UNTIL(atomic_load(&stage.scope));
        atomic_store(&victim.may_wait, 1);
        for (uint64_t i = random_below(&seed, 6); i > 0; i--)
            weft_yield();
        cancel_scope(atomic_load(&stage.scope));
        atomic_store(&stage.may_close, 1);
        JOIN(fiber, NULL);
        check_victim(&victim, stage.outcome);
        kind->check_and_drop();
    }
}

TEST(cancel_at_any_moment_ends_the_wait) {
    run_fibers(anytime_body);
}

/* What a cancelled fiber still can do: everything that does not wait. */
static void cancelled_body(void) {
    weft_chan *chan;
    weft_mutex mutex = WEFT_MUTEX_INIT;
    weft_semaphore semaphore = WEFT_SEMAPHORE_INIT(1);
    weft_scope *scope, *inner = NULL;
    int value = 3;
    CHECK_EQ(weft_chan_new(&chan, sizeof value, 1), 0);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    CHECK_EQ(weft_cancel_reason(NULL, 0), -ECANCELED);
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0);
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), 0);
    CHECK_EQ(weft_mutex_lock(&mutex, weft_after(PATIENCE_NS)), -ECANCELED);
    CHECK_EQ(weft_mutex_lock(&mutex, WEFT_NOW), 0);
    weft_mutex_unlock(&mutex);
    CHECK_EQ(weft_semaphore_acquire(&semaphore, 1, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_semaphore_acquire(&semaphore, 1, WEFT_NOW), 0);
    CHECK_EQ(weft_sleep(weft_after(PATIENCE_NS)), -ECANCELED);
    CHECK_EQ(weft_sleep(WEFT_NOW), 0);
    CHECK_EQ(weft_scope_open(&inner, NULL), -ECANCELED);
    CHECK(inner == NULL);
    weft_yield();
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_sleep(weft_after(1)), 0); /* and outside of it nothing is cancelled any more */
    weft_chan_free(chan);
}

TEST(cancel_refuses_only_what_would_wait_and_ends_with_its_scope) {
    run_fibers(cancelled_body);
}

static int shielded_child(void *opaque) {
    atomic_int *steps = opaque;
    weft_chan *chan;
    int value = 1;
    CHECK_EQ(weft_chan_new(&chan, sizeof value, 0), 0);
    CHECK_EQ(weft_sleep(weft_after(1000 * PATIENCE_NS)), -ECANCELED);
    weft_shield();
    CHECK_EQ(weft_cancel_reason(NULL, 0), -EINTR);
    CHECK_EQ(weft_sleep(weft_after(10 * WEFT_MICROSECOND)), 0);
    weft_shield();
    CHECK_EQ(weft_chan_recv(chan, &value, weft_after(10 * WEFT_MICROSECOND)), -ETIMEDOUT);
    weft_unshield();
    CHECK_EQ(weft_chan_recv(chan, &value, weft_after(10 * WEFT_MICROSECOND)), -ETIMEDOUT); /* still inside one */
    weft_unshield();
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NEVER), -ECANCELED);
    atomic_fetch_add(steps, 1);
    weft_chan_free(chan);
    return -ECANCELED;
}

static int sleeps_well(void *opaque) {
    CHECK_EQ(weft_sleep(weft_after(20 * WEFT_MICROSECOND)), 0);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_deadline(), WEFT_NEVER);
    atomic_fetch_add((atomic_int *)opaque, 1);
    return 0;
}

/* A scope that is opened inside a shield belongs to no tree: clean-up may be structured as well. */
static int shielded_scope_child(void *opaque) {
    weft_scope *scope;
    CHECK_EQ(weft_sleep(weft_after(1000 * PATIENCE_NS)), -ECANCELED);
    weft_shield();
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_scope_go(scope, sleeps_well, opaque), 0);
    CHECK_EQ(weft_scope_go(scope, sleeps_well, opaque), 0);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
    CHECK_EQ(weft_scope_close(scope), 0);
    CHECK_EQ(weft_cancel_reason(NULL, 0), -EINTR);
    weft_unshield();
    CHECK_EQ(weft_sleep(weft_after(1000 * PATIENCE_NS)), -ECANCELED);
    atomic_fetch_add((atomic_int *)opaque, 1);
    return 0;
}

static int shield_scope(weft_scope *scope, void *opaque) {
    CHECK_EQ(weft_scope_go(scope, shielded_child, opaque), 0);
    CHECK_EQ(weft_scope_go(scope, shielded_scope_child, opaque), 0);
    CHECK_EQ(weft_scope_cancel(scope, -EINTR, NULL), 0);
    return 0;
}

static void shield_body(void) {
    atomic_int steps = 0;
    CHECK_EQ(weft_scope_run(NULL, shield_scope, &steps), -EINTR);
    CHECK_EQ(atomic_load(&steps), 4);
    weft_shield(); /* outside any scope it is nothing */
    weft_unshield();
}

TEST(cancel_waits_for_clean_up_behind_a_shield) {
    run_fibers(shield_body);
    weft_shield(); /* nor on a plain thread */
    weft_unshield();
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_deadline(), WEFT_NEVER);
}

/* A fiber that is parked inside a shield stays so; the cancellation is there when it comes out. */
static int parked_behind_shield(void *opaque) {
    struct victim *victim = opaque;
    weft_shield();
    atomic_store(&victim->id, weft_self().bits);
    victim->status = victim->kind->wait(WEFT_NEVER);
    weft_unshield();
    victim->again = weft_sleep(weft_after(PATIENCE_NS));
    return 0;
}

static void *cancel_then_serve(void *opaque) {
    struct stage *stage = opaque;
    int value = 0;
    WAIT_UNTIL(blocking_is_parked(atomic_load(&stage->victim->id)));
    CHECK_EQ(weft_scope_cancel(atomic_load(&stage->scope), -EINTR, NULL), 0);
    CHECK_EQ(weft_chan_recv(blocking_chan, &value, WEFT_NEVER), 0);
    CHECK_EQ(value, 13);
    return NULL;
}

static void parked_shield_body(void) {
    struct victim victim = {.kind = &blocking_kinds[1]};
    struct stage stage = {.victim = &victim};
    weft_scope *scope;
    weft_fiber server;
    CHECK_TEXT(victim.kind->name, "send");
    victim.kind->prepare();
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    atomic_store(&stage.scope, scope);
    CHECK_EQ(weft_scope_go(scope, parked_behind_shield, &victim), 0);
    SPAWN(&server, cancel_then_serve, &stage);
    CHECK_EQ(weft_scope_close(scope), -EINTR);
    JOIN(server, NULL);
    CHECK_EQ(victim.status, 0);
    CHECK_EQ(victim.again, -ECANCELED);
    victim.kind->check_and_drop();
}

TEST(cancel_does_not_touch_a_wait_behind_a_shield) {
    run_fibers(parked_shield_body);
}

static void unshield_for_nothing(void) {
    weft_unshield();
}

static void unshield_in_child(void *arg) {
    (void)arg;
    run_fibers(unshield_for_nothing);
}

TEST(cancel_unshield_without_shield_is_fatal) {
    struct child_end end = child_run(unshield_in_child, NULL);
    CHECK_CHILD_FATAL(&end, "weft_unshield without a weft_shield");
}

/* A panic that leaves a shield, or a pin, open takes it along. */
static void panic_behind_a_shield(void *arg) {
    weft_shield();
    weft_shield();
    CHECK_EQ(weft_pin(), 0);
    weft_panic("behind %p", arg);
}

static int recover_and_wait(void *arg) {
    (void)arg;
    CHECK_EQ(weft_try(panic_behind_a_shield, NULL, NULL, 0), -EOWNERDEAD);
    return weft_sleep(WEFT_NEVER);
}

static int cancel_after_recovery(weft_scope *scope, void *arg) {
    (void)arg;
    CHECK_EQ(weft_scope_go(scope, recover_and_wait, NULL), 0);
    weft_yield();
    CHECK_EQ(weft_scope_cancel(scope, 0, NULL), 0);
    return 0;
}

static void shield_after_panic_body(void) {
    CHECK_EQ(weft_scope_run(NULL, cancel_after_recovery, NULL), -ECANCELED);
}

TEST(cancel_reaches_a_fiber_that_has_recovered_from_a_panic_behind_a_shield) {
    run_fibers(shield_after_panic_body);
}
