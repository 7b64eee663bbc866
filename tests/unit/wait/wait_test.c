/* SPDX-License-Identifier: MIT
 *
 * unit/wait/wait_test.c - the claim word: who ends a wait when two want to at once.
 *
 * Every pair of object, deadline and cancellation is brought together at the points where the other has done one half of its
 * work, by hooks. Whatever the order, the wait ends once, a value is either received or still to be had, and nothing is left in
 * the queues.
 */
#include "base/point.h"
#include "os/fault.h"
#include "support/parked.h"
#include "wait/cancel.h"
#include "wait/wait.h"

/* A fiber that receives inside a region. */
struct subject {
    struct wf_cancel region;
    weft_chan *chan, *other;
    weft_time deadline;
    int value;
    int status;
    int next_status; /* of a second call, when the first is over */
    atomic_int is_done;
    weft_fiber fiber;
};

static struct subject subject;

static void *subject_receive(void *arg) {
    struct wf_member member;
    wf_cancel_enter(&subject.region, &member);
    subject.status = weft_chan_recv(subject.chan, &subject.value, subject.deadline);
    atomic_store(&subject.is_done, 1);
    subject.next_status = weft_chan_recv(subject.chan, NULL, 1);
    wf_cancel_leave(&member);
    return arg;
}

static void *subject_select(void *arg) {
    struct wf_member member;
    weft_case cases[] = {weft_on_receive(subject.chan, &subject.value), weft_on_receive(subject.other, &subject.value)};
    wf_cancel_enter(&subject.region, &member);
    subject.status = weft_select(cases, 2, subject.deadline);
    atomic_store(&subject.is_done, 1);
    wf_cancel_leave(&member);
    return arg;
}

static void subject_start(weft_fn fn, weft_time deadline) {
    memset(&subject, 0, sizeof subject);
    wf_cancel_init(&subject.region, NULL);
    subject.deadline = deadline;
    subject.value = -1;
    CHECK_EQ(weft_chan_new(&subject.chan, sizeof(int), 0), 0);
    CHECK_EQ(weft_chan_new(&subject.other, sizeof(int), 0), 0);
    SPAWN(&subject.fiber, fn, NULL);
}

/* Freeing the channels is the proof that nobody is left in them. */
static void subject_finish(void) {
    JOIN(subject.fiber, NULL);
    wf_cancel_term(&subject.region);
    weft_chan_free(subject.chan);
    weft_chan_free(subject.other);
}

static void subject_cancel(void) {
    wf_cancel_fire(&subject.region, -ECANCELED, NULL);
}

static void run_hooked(void (*hook)(const char *name), void (*body)(void)) {
    for (int i = 0; i < 10; i++) {
        wf_point_hook = hook;
        run_fibers(body);
        wf_point_hook = NULL;
    }
}

/* Is this the point, for the first time? */
static atomic_int is_armed;

static bool is_first_at(const char *name, const char *wanted) {
    return strcmp(name, wanted) == 0 && atomic_exchange(&is_armed, 0);
}

static void cancel_after_open_hook(const char *name) {
    if (is_first_at(name, "wait.after_open"))
        subject_cancel();
}

static void cancelled_by_receive(weft_fn fn, weft_time deadline) {
    atomic_store(&is_armed, 1);
    subject_start(fn, deadline);
    JOIN(subject.fiber, NULL);
    CHECK_EQ(subject.status, -ECANCELED);
    CHECK_EQ(subject.next_status, fn == subject_receive ? -ECANCELED : 0);
    CHECK_EQ(subject.value, -1);
    wf_cancel_term(&subject.region);
    weft_chan_free(subject.chan);
    weft_chan_free(subject.other);
}

static void cancelled_body(void) {
    cancelled_by_receive(subject_receive, WEFT_NEVER);
    cancelled_by_receive(subject_receive, weft_after(PATIENCE_NS));
    cancelled_by_receive(subject_select, WEFT_NEVER);
    cancelled_by_receive(subject_select, weft_after(PATIENCE_NS));
}

TEST(cancellation_right_after_the_word_is_open_ends_the_wait) {
    run_hooked(cancel_after_open_hook, cancelled_body);
}

static void cancel_before_parked_hook(const char *name) {
    if (is_first_at(name, "wait.before_parked"))
        subject_cancel();
}

TEST(cancellation_just_before_the_fiber_is_parked_ends_the_wait) {
    run_hooked(cancel_before_parked_hook, cancelled_body);
}

/* The flag is up, the canceller has not come to the members yet, and the fiber, its word open, finds the flag itself. */
static atomic_int word_is_open, flag_is_up;

static void flag_first_hook(const char *name) {
    if (strcmp(name, "wait.after_open") == 0) {
        atomic_store(&word_is_open, 1);
        while (!atomic_load(&flag_is_up))
            sched_yield();
    } else if (strcmp(name, "cancel.after_flag") == 0) {
        atomic_store(&flag_is_up, 1);
        while (!atomic_load(&subject.is_done))
            sched_yield();
    }
}

static void *cancel_when_open(void *arg) {
    while (!atomic_load(&word_is_open))
        sched_yield();
    subject_cancel();
    return arg;
}

static void flag_first_body(void) {
    struct on_thread_call call;
    atomic_store(&word_is_open, 0);
    atomic_store(&flag_is_up, 0);
    subject_start(subject_select, WEFT_NEVER);
    on_thread_start(&call, cancel_when_open, NULL);
    on_thread_finish(&call);
    CHECK_EQ(subject.status, -ECANCELED);
    subject_finish();
}

TEST(fiber_that_finds_the_flag_itself_is_not_ended_twice) {
    run_hooked(flag_first_hook, flag_first_body);
}

static void no_memory_hook(const char *name) {
    if (is_first_at(name, "wait.after_open")) {
        subject_cancel();
        wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 1);
    }
}

static void no_memory_body(void) {
    atomic_store(&is_armed, 1);
    subject_start(subject_select, weft_after(PATIENCE_NS));
    WAIT_UNTIL(atomic_load(&subject.is_done));
    wf_fault_order(WF_CALL_ALLOC, 0, 0, 0);
    CHECK_EQ(subject.status, -ECANCELED);
    subject_finish();
}

TEST(cancellation_comes_before_the_want_of_memory_for_a_deadline) {
    run_hooked(no_memory_hook, no_memory_body);
}

/* All timers of the worker that the fiber has just left, as if their moment had come. */
static void expire_before_parked_hook(const char *name) {
    if (is_first_at(name, "wait.before_parked")) {
        struct wf_chain ready = {0};
        wf_timers_fire(&wf_worker_self()->base.processor->timers, INT64_MAX - 1, &ready);
        CHECK(ready.first == NULL); /* not parked: it will find out by itself */
    }
}

static void expire_body(void) {
    atomic_store(&is_armed, 1);
    subject_start(subject_receive, weft_after(PATIENCE_NS));
    subject_finish();
    CHECK_EQ(subject.status, -ETIMEDOUT);
    atomic_store(&is_armed, 1);
    subject_start(subject_select, weft_after(PATIENCE_NS));
    subject_finish();
    CHECK_EQ(subject.status, -ETIMEDOUT);
}

TEST(deadline_just_before_the_fiber_is_parked_ends_the_wait) {
    run_hooked(expire_before_parked_hook, expire_body);
}

/* A deadline has come and not claimed yet, when a sender comes. */
static atomic_int deadline_is_here, sender_is_done;

static void deadline_first_hook(const char *name) {
    if (is_first_at(name, "deadline.before_claim")) {
        atomic_store(&deadline_is_here, 1);
        while (!atomic_load(&sender_is_done))
            sched_yield();
    }
}

static void *send_at_deadline(void *arg) {
    int value = 11;
    while (!atomic_load(&deadline_is_here))
        sched_yield();
    CHECK_EQ(weft_chan_send(subject.chan, &value, WEFT_NOW), 0);
    atomic_store(&sender_is_done, 1);
    return arg;
}

static void run_sender_at_deadline(weft_fn fn) {
    struct on_thread_call call;
    atomic_store(&is_armed, 1);
    atomic_store(&deadline_is_here, 0);
    atomic_store(&sender_is_done, 0);
    subject_start(fn, weft_after(WEFT_MILLISECOND));
    on_thread_start(&call, send_at_deadline, NULL);
    on_thread_finish(&call);
    subject_finish();
    CHECK_EQ(subject.status, 0);
    CHECK_EQ(subject.value, 11);
}

static void sender_at_deadline_body(void) {
    run_sender_at_deadline(subject_receive);
    run_sender_at_deadline(subject_select);
}

TEST(object_that_claims_before_the_deadline_does_wins) {
    run_hooked(deadline_first_hook, sender_at_deadline_body);
}

/* A sender has claimed and not delivered, when something else comes. */
static __thread bool is_actor;
static atomic_int sender_has_claimed;
static void (*while_claimed)(void);

static void claimed_hook(const char *name) {
    if (!is_actor || strcmp(name, "wake.before_deliver") != 0)
        return;
    atomic_store(&sender_has_claimed, 1);
    while_claimed();
}

static void *send_as_actor(void *arg) {
    int value = 12;
    is_actor = true;
    int status = weft_chan_send(subject.chan, &value, weft_after(PATIENCE_NS));
    is_actor = false;
    CHECK_EQ(status, 0);
    return arg;
}

static void run_claimed(weft_fn fn, weft_time deadline, void (*meanwhile)(void)) {
    struct on_thread_call call;
    while_claimed = meanwhile;
    atomic_store(&sender_has_claimed, 0);
    subject_start(fn, deadline);
    wait_parked(subject.fiber);
    on_thread_start(&call, send_as_actor, NULL);
    on_thread_finish(&call);
    subject_finish();
    CHECK_EQ(subject.status, 0);
    CHECK_EQ(subject.value, 12);
    CHECK(atomic_load(&sender_has_claimed));
}

static void cancel_meanwhile(void) {
    subject_cancel();
    CHECK(!atomic_load(&subject.is_done));
}

static void cancel_while_claimed_body(void) {
    run_claimed(subject_receive, WEFT_NEVER, cancel_meanwhile);
    CHECK_EQ(subject.next_status, -ECANCELED); /* the value was not lost, and the next call says it */
    run_claimed(subject_select, weft_after(PATIENCE_NS), cancel_meanwhile);
}

TEST(cancellation_of_a_wait_that_is_claimed_does_not_take_the_value_away) {
    run_hooked(claimed_hook, cancel_while_claimed_body);
}

static void offer_other_meanwhile(void) {
    int value = 13;
    is_actor = false; /* this one is no actor: it finds nobody */
    CHECK_EQ(weft_chan_send(subject.other, &value, WEFT_NOW), -ETIMEDOUT);
    CHECK(!atomic_load(&subject.is_done));
}

static void other_while_claimed_body(void) {
    run_claimed(subject_select, WEFT_NEVER, offer_other_meanwhile);
    run_claimed(subject_select, weft_after(PATIENCE_NS), offer_other_meanwhile);
}

TEST(second_object_passes_over_a_wait_that_the_first_has_claimed) {
    run_hooked(claimed_hook, other_while_claimed_body);
}

static atomic_int deadline_was_here;

static void late_deadline_hook(const char *name) {
    if (strcmp(name, "deadline.before_claim") == 0)
        atomic_fetch_add(&deadline_was_here, 1);
    claimed_hook(name);
}

/* The timer counts as fired when its function has returned: then it has tried to claim, in vain. */
static void wait_for_deadline_meanwhile(void) {
    while (!atomic_load(&deadline_was_here))
        sched_yield();
}

static void deadline_while_claimed_body(void) {
    struct on_thread_call call;
    while_claimed = wait_for_deadline_meanwhile;
    atomic_store(&deadline_was_here, 0);
    subject_start(subject_select, weft_after(20 * WEFT_MILLISECOND));
    WAIT_UNTIL(is_parked(subject.fiber) || atomic_load(&subject.is_done));
    on_thread_start(&call, send_as_actor, NULL);
    WAIT_UNTIL(atomic_load(&subject.is_done));
    if (subject.status ==
        -ETIMEDOUT) /* on a busy machine the sender may come too late: then its value is still there */
        CHECK_EQ(weft_chan_recv(subject.chan, NULL, WEFT_NEVER), 0);
    else
        CHECK_EQ(subject.value, 12);
    on_thread_finish(&call);
    subject_finish();
}

TEST(deadline_of_a_wait_that_is_claimed_does_not_take_the_value_away) {
    run_hooked(late_deadline_hook, deadline_while_claimed_body);
}

static void shield_body(void) {
    struct wf_cancel region;
    struct wf_member member;
    weft_chan *chan;
    wf_cancel_init(&region, NULL);
    CHECK_EQ(weft_chan_new(&chan, 0, 0), 0);
    wf_cancel_enter(&region, &member);
    wf_cancel_fire(&region, -ECANCELED, NULL);
    CHECK_EQ(weft_chan_recv(chan, NULL, WEFT_NEVER), -ECANCELED);
    CHECK_EQ(weft_chan_recv(chan, NULL, WEFT_NOW), -ETIMEDOUT); /* what cannot block is not cancelled */
    wf_cancel_shield();
    CHECK_EQ(weft_chan_recv(chan, NULL, weft_after(100 * WEFT_MICROSECOND)), -ETIMEDOUT);
    wf_cancel_unshield();
    CHECK_EQ(weft_chan_recv(chan, NULL, weft_after(PATIENCE_NS)), -ECANCELED);
    wf_cancel_leave(&member);
    wf_cancel_term(&region);
    weft_chan_free(chan);
}

TEST(shielded_wait_is_not_cancelled) {
    run_fibers(shield_body);
}

/* A wait that is a callback. */
static struct wf_lock object_lock;
static struct wf_waiter *object_queue;
static int fired;

static void fire(struct wf_wait *wait) {
    CHECK_EQ(wait->winner->status, 5);
    fired++;
}

TEST(callback_fires_once_or_is_taken_back) {
    struct wf_wait waits[3];
    struct wf_waiter nodes[3];
    for (int i = 0; i < 3; i++) {
        wf_wait_begin_callback(&waits[i], &nodes[i], fire);
        wf_lock_take(&object_lock);
        wf_wait_link_locked(&nodes[i], &object_lock, &object_queue);
        wf_lock_drop(&object_lock);
    }
    CHECK(wf_wait_unlink(&nodes[1]));
    CHECK(!wf_wait_unlink(&nodes[1]));
    wf_lock_take(&object_lock);
    struct wf_waiter *first = wf_wait_take_first_locked(&object_queue);
    CHECK(first == &nodes[0]);
    struct wf_waiter *rest = wf_wait_take_all_locked(&object_queue, 5, NULL);
    wf_lock_drop(&object_lock);
    first->status = 5;
    wf_wait_wake(first);
    CHECK_EQ(fired, 1);
    CHECK(!wf_wait_unlink(&nodes[0]));
    CHECK_EQ(wf_wait_wake_chain(rest), 1);
    CHECK_EQ(fired, 2);
    CHECK(object_queue == NULL);
}

/* A runtime that drops its fibers takes them out of the queues of what outlives it. */
static weft_chan *outliving;
static weft_mutex outliving_mutex = WEFT_MUTEX_INIT;
static weft_semaphore outliving_semaphore = WEFT_SEMAPHORE_INIT(0);

static void *receive_outliving(void *arg) {
    weft_chan_recv(outliving, NULL, WEFT_NEVER);
    return arg;
}

static void *select_outliving(void *arg) {
    weft_case cases[] = {weft_on_receive(outliving, NULL), weft_on_semaphore(&outliving_semaphore)};
    weft_select(cases, 2, weft_after(PATIENCE_NS));
    return arg;
}

static void *lock_outliving(void *arg) {
    weft_mutex_lock(&outliving_mutex, WEFT_NEVER);
    return arg;
}

static void drop_body(void) {
    CHECK_EQ(weft_mutex_lock(&outliving_mutex, WEFT_NEVER), 0);
    spawn_parked(receive_outliving, NULL);
    spawn_parked(select_outliving, NULL);
    spawn_parked(lock_outliving, NULL);
    weft_mutex_unlock(&outliving_mutex); /* for somebody who may be dropped before it runs */
}

TEST(dropped_fibers_are_taken_out_of_every_queue) {
    weft_options options = {.abandon = true, .workers = wf_test_workers()};
    for (int i = 0; i < 20; i++) {
        memset(&outliving_mutex, 0, sizeof outliving_mutex);
        CHECK_EQ(weft_chan_new(&outliving, 0, 0), 0);
        run_fibers_with(&options, drop_body);
        CHECK_EQ(weft_chan_send(outliving, NULL, WEFT_NOW), -ETIMEDOUT);
        CHECK(outliving_semaphore.waiters == NULL);
        CHECK(outliving_mutex.waiters == NULL);
        weft_chan_free(outliving);
    }
}
