/* SPDX-License-Identifier: MIT
 *
 * unit/wait/cancel_test.c - cancellation between two instructions: before a wait is complete, and against a wake.
 *
 * The hook of base/point.h cancels, or serves the waiter, exactly between "decide to park" and "parked" and between "claimed"
 * and "delivered". Whatever the order, the wait ends once: cancelled with nothing taken, or served with nothing lost, and
 * then the next call of the fiber is cancelled. The calls are those of spec/blocking.h.
 */
#include "base/point.h"
#include "spec/blocking.h"
#include "wait/cancel.h"

static _Atomic(const char *) wanted_point; /* where the hook acts next; NULL: nowhere */
static void (*action)(void);
static _Atomic uint64_t victim_bits;
static _Atomic(weft_scope *) victim_scope;
static _Atomic pthread_t victim_thread; /* where the victim has opened its wait; it goes on there until it is parked */
static atomic_int victim_is_opening;
static atomic_int actions;

static void act(void) {
    atomic_fetch_add(&actions, 1);
    action();
}

static void hook(const char *name) {
    const char *wanted = atomic_load(&wanted_point);
    if (!wanted)
        return;
    bool is_victim = weft_self().bits == atomic_load(&victim_bits);
    if (is_victim && strcmp(name, "wait.after_open") == 0) {
        atomic_store(&victim_thread, pthread_self());
        atomic_store(&victim_is_opening, 1);
    }
    if (strcmp(name, wanted) != 0)
        return;
    bool is_parking = !strncmp(name, "wait.", 5) || !strncmp(name, "park.", 5);
    if (is_parking && !(atomic_load(&victim_is_opening) && pthread_equal(atomic_load(&victim_thread), pthread_self())))
        return;
    if (atomic_exchange(&wanted_point, NULL))
        act();
}

static void cancel_now(void) {
    CHECK_EQ(weft_scope_cancel(atomic_load(&victim_scope), -EINTR, "by the hook"), 0);
}

struct victim {
    int (*wait)(weft_time deadline);
    weft_time deadline;
    const char *point; /* armed by the victim itself, for places that it passes; or NULL */
    int status;
    int again;
};

static int victim_main(void *opaque) {
    struct victim *victim = opaque;
    atomic_store(&victim_is_opening, 0);
    atomic_store(&victim_bits, weft_self().bits);
    if (victim->point)
        atomic_store(&wanted_point, victim->point);
    victim->status = victim->wait(victim->deadline);
    if (victim->point && atomic_exchange(&wanted_point, NULL))
        cancel_now(); /* it has not passed that place: its deadline was over before it could wait */
    victim->again = weft_sleep(weft_after(1000 * PATIENCE_NS));
    return 0;
}

static void *opener_main(void *opaque) {
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    atomic_store(&victim_scope, scope);
    CHECK_EQ(weft_scope_go(scope, victim_main, opaque), 0);
    CHECK_EQ(weft_scope_close(scope), -EINTR);
    return NULL;
}

static weft_fiber start_victim(struct victim *victim) {
    weft_fiber fiber;
    atomic_store(&victim_bits, 0);
    atomic_store(&actions, 0);
    SPAWN(&fiber, opener_main, victim);
    return fiber;
}

static void during_park_body(void) {
    static const char *const points[] = {"wait.after_open", "park.before_commit", "wait.before_parked"};
    action = cancel_now;
    for (int i = 0; i < BLOCKING_KINDS; i++) {
        for (int p = 0; p < 6; p++) {
            struct victim victim = {.wait = blocking_kinds[i].wait, .point = points[p % 3]};
            victim.deadline = p < 3 ? WEFT_NEVER : weft_after(1000 * PATIENCE_NS);
            blocking_kinds[i].prepare();
            JOIN(start_victim(&victim), NULL);
            if (victim.status != -ECANCELED)
                fprintf(stderr, "%s at %s: %d\n", blocking_kinds[i].name, victim.point, victim.status);
            CHECK_EQ(victim.status, -ECANCELED);
            CHECK_EQ(victim.again, -ECANCELED);
            CHECK_EQ(atomic_load(&actions), 1);
            blocking_kinds[i].check_and_drop();
        }
    }
}

static void run_hooked(void (*body)(void)) {
    wf_point_hook = hook;
    run_fibers(body);
    wf_point_hook = NULL;
}

TEST(cancel_between_the_decision_to_park_and_the_park_is_not_missed) {
    run_hooked(during_park_body);
}

/* What an object has to give, and who has it afterwards. */
struct service {
    const char *name;
    void (*prepare)(void);
    int (*wait)(weft_time deadline); /* 0 when it was served; uses up what it got */
    void (*serve)(void);
    void (*check_served)(void);   /* the victim got it */
    void (*check_unserved)(void); /* it did not, and it is still there for others */
};

static int service_value;

static void prepare_chan(void) {
    blocking_make_chans();
    service_value = 0;
}

static int wait_receive(weft_time deadline) {
    return weft_chan_recv(blocking_chan, &service_value, deadline);
}

static int wait_select(weft_time deadline) {
    weft_case cases[] = {weft_on_receive(blocking_other, NULL), weft_on_receive(blocking_chan, &service_value)};
    int chosen = weft_select(cases, 2, deadline);
    return chosen < 0 ? chosen : cases[chosen].status;
}

static int send_status;

static void serve_value(void) {
    int value = 41;
    send_status = weft_chan_send(blocking_chan, &value, WEFT_NOW);
}

static void check_value(void) {
    CHECK_EQ(send_status, 0);
    CHECK_EQ(service_value, 41);
    blocking_check_chan();
}

static void check_no_value(void) {
    CHECK_EQ(send_status, -ETIMEDOUT);
    CHECK_EQ(service_value, 0);
    blocking_check_chan();
}

static void prepare_permits(void) {
    blocking_semaphore = (weft_semaphore)WEFT_SEMAPHORE_INIT(0);
}

static int wait_permit(weft_time deadline) {
    return weft_semaphore_acquire(&blocking_semaphore, 1, deadline);
}

static int wait_permit_case(weft_time deadline) {
    weft_case cases[] = {weft_on_semaphore(&blocking_semaphore), weft_on_semaphore(&blocking_semaphore)};
    int chosen = weft_select(cases, 2, deadline);
    return chosen < 0 ? chosen : cases[chosen].status;
}

static void serve_permit(void) {
    weft_semaphore_release(&blocking_semaphore, 1);
}

static void check_no_permit(void) {
    CHECK_EQ(weft_semaphore_permits(&blocking_semaphore), 0);
}

static void check_permit(void) {
    CHECK_EQ(weft_semaphore_permits(&blocking_semaphore), 1);
}

static int wait_mutex(weft_time deadline) {
    int status = weft_mutex_lock(&blocking_mutex, deadline);
    if (!status)
        weft_mutex_unlock(&blocking_mutex);
    return status;
}

static void serve_mutex(void) {
    weft_mutex_unlock(&blocking_mutex);
}

static void check_unlocked(void) {
    CHECK_EQ(weft_mutex_lock(&blocking_mutex, WEFT_NOW), 0);
    weft_mutex_unlock(&blocking_mutex);
}

static int wait_write(weft_time deadline) {
    int status = weft_rwlock_write(&blocking_rwlock, deadline);
    if (!status)
        weft_rwlock_unlock(&blocking_rwlock);
    return status;
}

static void serve_rwlock(void) {
    weft_rwlock_unlock(&blocking_rwlock);
}

static void check_free_rwlock(void) {
    CHECK_EQ(weft_rwlock_write(&blocking_rwlock, WEFT_NOW), 0);
    weft_rwlock_unlock(&blocking_rwlock);
}

static void serve_group(void) {
    weft_waitgroup_done(&blocking_group);
}

static void check_group_done(void) {
    CHECK_EQ(weft_waitgroup_wait(&blocking_group, WEFT_NOW), 0);
}

static void serve_promise(void) {
    CHECK_EQ(weft_promise_resolve(blocking_promise, NULL), 0);
}

static void check_settled(void) {
    CHECK_EQ(weft_promise_await(blocking_promise, NULL, WEFT_NOW), 0);
    weft_promise_unref(blocking_promise);
}

static void serve_cond(void) {
    service_value = weft_cond_signal(&blocking_cond);
}

static void check_signalled(void) {
    CHECK_EQ(service_value, 1);
    blocking_check_cond();
}

static void check_unsignalled(void) {
    CHECK_EQ(service_value, 0);
    blocking_check_cond();
}

static const struct service services[] = {
    {"receive", prepare_chan, wait_receive, serve_value, check_value, check_no_value},
    {"select", prepare_chan, wait_select, serve_value, check_value, check_no_value},
    {"semaphore", prepare_permits, wait_permit, serve_permit, check_no_permit, check_permit},
    {"semaphore case", prepare_permits, wait_permit_case, serve_permit, check_no_permit, check_permit},
    {"mutex", blocking_lock_mutex, wait_mutex, serve_mutex, check_unlocked, check_unlocked},
    {"rwlock", blocking_lock_rwlock, wait_write, serve_rwlock, check_free_rwlock, check_free_rwlock},
    {"group", blocking_make_group, blocking_wait_group, serve_group, check_group_done, check_group_done},
    {"promise", blocking_make_promise, blocking_await, serve_promise, check_settled, check_settled},
    {"condition", blocking_make_cond, blocking_wait_cond, serve_cond, check_signalled, check_unsignalled},
};
enum { SERVICES = sizeof services / sizeof services[0] };

static void check_outcome(const struct service *service, const struct victim *victim) {
    if (victim->status != 0 && victim->status != -ECANCELED)
        fprintf(stderr, "%s: %d\n", service->name, victim->status);
    CHECK(victim->status == 0 || victim->status == -ECANCELED);
    CHECK_EQ(victim->again, -ECANCELED);
    if (victim->status == 0)
        service->check_served();
    else
        service->check_unserved();
}

/* The object has claimed the wait: the cancellation comes too late for it, and is there for the next call. */
static void after_claim_body(void) {
    action = cancel_now;
    for (int i = 0; i < SERVICES; i++) {
        struct victim victim = {.wait = services[i].wait, .deadline = WEFT_NEVER};
        services[i].prepare();
        weft_fiber fiber = start_victim(&victim);
        WAIT_UNTIL(blocking_is_parked(atomic_load(&victim_bits)));
        atomic_store(&wanted_point, "wake.before_deliver");
        services[i].serve();
        CHECK_EQ(atomic_load(&actions), 1);
        JOIN(fiber, NULL);
        CHECK_EQ(victim.status, 0);
        check_outcome(&services[i], &victim);
    }
}

TEST(cancel_after_an_object_has_claimed_the_wait_does_not_take_its_gift_away) {
    run_hooked(after_claim_body);
}

/* The flag is up and the wait not claimed yet: the object is faster. */
static void after_flag_body(void) {
    for (int i = 0; i < SERVICES; i++) {
        struct victim victim = {.wait = services[i].wait, .deadline = WEFT_NEVER};
        services[i].prepare();
        action = services[i].serve;
        weft_fiber fiber = start_victim(&victim);
        WAIT_UNTIL(blocking_is_parked(atomic_load(&victim_bits)));
        atomic_store(&wanted_point, "cancel.after_flag");
        cancel_now();
        CHECK_EQ(atomic_load(&actions), 1);
        JOIN(fiber, NULL);
        CHECK_EQ(victim.status, 0);
        check_outcome(&services[i], &victim);
    }
}

TEST(cancel_whose_flag_is_up_still_lets_an_object_serve_the_waiter) {
    run_hooked(after_flag_body);
}

/* The cancellation has claimed, and its waiter has not come round to leave the queue: the object goes on to the next. */
static void after_cancel_body(void) {
    for (int i = 0; i < SERVICES; i++) {
        struct victim victim = {.wait = services[i].wait, .deadline = WEFT_NEVER};
        services[i].prepare();
        weft_fiber fiber = start_victim(&victim);
        WAIT_UNTIL(blocking_is_parked(atomic_load(&victim_bits)));
        cancel_now();
        services[i].serve();
        JOIN(fiber, NULL);
        CHECK_EQ(victim.status, -ECANCELED);
        check_outcome(&services[i], &victim);
    }
}

TEST(cancel_that_came_first_leaves_the_gift_for_others) {
    run_fibers(after_cancel_body);
}

static void at_deadline_body(void) {
    action = cancel_now;
    for (int i = 0; i < BLOCKING_KINDS; i++) {
        if (!strcmp(blocking_kinds[i].name, "room in a scope")) /* its deadline is no wait's */
            continue;
        struct victim victim = {.wait = blocking_kinds[i].wait, .point = "deadline.before_claim"};
        victim.deadline = weft_after(100 * WEFT_MICROSECOND);
        blocking_kinds[i].prepare();
        JOIN(start_victim(&victim), NULL);
        if (atomic_load(&actions) == 1)
            CHECK_EQ(victim.status, -ECANCELED);
        CHECK_EQ(victim.again, -ECANCELED);
        blocking_kinds[i].check_and_drop();
    }
}

TEST(cancel_just_before_the_deadline_claims_wins) {
    run_hooked(at_deadline_body);
}

/* Without hooks: who is faster is left to the machine. */
struct duel {
    const struct service *service;
    atomic_int may_begin;
};

static void *serve_main(void *opaque) {
    struct duel *duel = opaque;
    WAIT_UNTIL(atomic_load(&duel->may_begin));
    duel->service->serve();
    return NULL;
}

static void duel_body(void) {
    uint64_t seed = wf_test_seed();
    long served = 0;
    long rounds = scaled(4000, 60);
    for (long i = 0; i < rounds; i++) {
        struct duel duel = {.service = &services[random_below(&seed, SERVICES)]};
        struct victim victim = {.wait = duel.service->wait, .deadline = WEFT_NEVER};
        weft_fiber server = WEFT_NO_FIBER;
        duel.service->prepare();
        bool is_owned = duel.service->serve == serve_mutex; /* only the fiber that locked it may unlock it */
        if (!is_owned)
            SPAWN(&server, serve_main, &duel);
        weft_fiber fiber = start_victim(&victim);
        WAIT_UNTIL(blocking_is_parked(atomic_load(&victim_bits)));
        atomic_store(&duel.may_begin, 1);
        for (uint64_t pause = random_below(&seed, 2000); pause > 0; pause--)
            wf_relax();
        if (random_below(&seed, 2))
            weft_yield();
        if (is_owned)
            serve_mutex();
        cancel_now();
        if (!is_owned)
            JOIN(server, NULL);
        JOIN(fiber, NULL);
        served += victim.status == 0;
        check_outcome(duel.service, &victim);
    }
    printf("    %ld of %ld were served\n", served, rounds);
}

TEST(cancel_against_a_wake_gives_exactly_one_of_both) {
    run_fibers(duel_body);
}

static void deadline_duel_body(void) {
    uint64_t seed = wf_test_seed();
    long late = 0;
    long rounds = scaled(2000, 40);
    for (long i = 0; i < rounds; i++) {
        const struct blocking_kind *kind = &blocking_kinds[random_below(&seed, BLOCKING_KINDS)];
        struct victim victim = {.wait = kind->wait};
        kind->prepare();
        weft_time deadline = weft_after(20 * WEFT_MICROSECOND + (int64_t)random_below(&seed, 20000));
        weft_time moment = deadline + (int64_t)random_below(&seed, 10000) - 5000;
        victim.deadline = deadline;
        weft_fiber fiber = start_victim(&victim);
        WAIT_UNTIL(atomic_load(&victim_bits));
        while (weft_now() < moment)
            weft_yield();
        cancel_now();
        JOIN(fiber, NULL);
        CHECK(victim.status == -ETIMEDOUT || victim.status == -ECANCELED);
        CHECK_EQ(victim.again, -ECANCELED);
        late += victim.status == -ETIMEDOUT;
        kind->check_and_drop();
    }
    printf("    %ld of %ld timed out\n", late, rounds);
}

TEST(cancel_against_a_deadline_gives_exactly_one_of_both) {
    run_fibers(deadline_duel_body);
}

/* The tree itself, without scopes. */
static void region_body(void) {
    struct wf_cancel top, left, right, late;
    wf_cancel_init(&top, NULL);
    wf_cancel_init(&left, &top);
    wf_cancel_init(&right, &top);
    CHECK(wf_cancel_fire(&left, -EIO, "left"));
    CHECK(!wf_cancel_fire(&left, -EDOM, "again"));
    CHECK(wf_cancel_is_fired(&left));
    CHECK(!wf_cancel_is_fired(&top));
    CHECK(!wf_cancel_is_fired(&right));
    CHECK(wf_cancel_fire(&top, -EINTR, NULL));
    CHECK_EQ(right.reason, -EINTR);
    CHECK_TEXT(right.text, "");
    CHECK_EQ(left.reason, -EIO); /* the first reason stays, at every level */
    CHECK_TEXT(left.text, "left");
    wf_cancel_init(&late, &right); /* born cancelled */
    CHECK(wf_cancel_is_fired(&late));
    CHECK_EQ(late.reason, -EINTR);
    wf_cancel_term(&late);
    wf_cancel_term(&right);
    wf_cancel_term(&left);
    wf_cancel_term(&top);
}

TEST(cancel_region_below_a_cancelled_one_is_born_cancelled) {
    run_fibers(region_body);
}
