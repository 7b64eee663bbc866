/* SPDX-License-Identifier: MIT
 *
 * stress/wake_test.c - a wake-up that comes at the worst moment is neither lost nor doubled.
 *
 * The worst moments are the points of the runtime (base/point.h). A hook on one of them lets the other side act exactly
 * there: the side that stands at the point says so and waits until the other one has acted, or is known to be about to
 * take the lock that the first one holds; it never waits for anything that needs the lock.
 */
#include "base/point.h"
#include "support/rendezvous.h"
#include "support/run.h"

enum { STEPS = 200 };

static _Atomic(const char *) armed;  /* the point where the next one to come stands still */
static _Atomic(const char *) second; /* the point that shows that the other side is there; NULL: acted says so */
static atomic_int stands;
static atomic_int acted;
static atomic_int resumed;
static atomic_int is_brief;
static atomic_long epoch; /* of arming: whoever stands goes on when the test has gone on */

static bool is_point(_Atomic(const char *) *wanted, const char *name) {
    const char *point = atomic_load(wanted);
    return point && strcmp(point, name) == 0;
}

/* The other side has had its time to run into whatever we hold. */
static void let_others_run(void) {
    for (int i = 0; i < 20; i++)
        sched_yield();
}

static void stand_still(const char *name) {
    if (is_point(&second, name))
        atomic_store(&acted, 1);
    long mine = atomic_load(&epoch);
    const char *point = atomic_load(&armed);
    if (!point || strcmp(point, name) != 0 || !atomic_compare_exchange_strong(&armed, &point, NULL))
        return;
    atomic_store(&stands, 1);
    /* A handshake that fails must not hang the suite; where the other side may have nothing to do, not even for long. */
    weft_time limit = weft_after(atomic_load(&is_brief) ? WEFT_MILLISECOND : 5 * WEFT_SECOND);
    while (!atomic_load(&acted) && atomic_load(&epoch) == mine && weft_now() < limit)
        sched_yield();
    let_others_run();
}

static void arm(const char *first, const char *other) {
    atomic_fetch_add(&epoch, 1);
    atomic_store(&stands, 0);
    atomic_store(&acted, 0);
    atomic_store(&resumed, 0);
    atomic_store(&second, other);
    atomic_store(&armed, first);
}

static void run_with_workers(unsigned workers, void (*body)(void)) {
    weft_options options = {.workers = workers};
    wf_point_hook = stand_still;
    run_fibers_with(&options, body);
    wf_point_hook = NULL;
}

static void run_with_hook(unsigned least_workers, void (*body)(void)) {
    unsigned workers = wf_test_workers();
    run_with_workers(workers < least_workers ? least_workers : workers, body);
}

/* The child computes on another worker until its joiner stands at the point; then it ends. */
static atomic_int child_runs;

static void *child_until_parent_stands(void *arg) {
    atomic_store(&child_runs, 1);
    weft_time limit = weft_after(5 * WEFT_SECOND);
    while (!atomic_load(&stands) && weft_now() < limit)
        sched_yield();
    return arg;
}

static void join_while_child_ends(const char *point, int64_t deadline_ns) {
    weft_fiber child;
    void *result = NULL;
    atomic_store(&child_runs, 0);
    arm(NULL, NULL);
    SPAWN(&child, child_until_parent_stands, &child);
    WAIT_UNTIL(atomic_load(&child_runs));
    arm(point, "end.before_lock");
    CHECK_EQ(weft_join(child, &result, deadline_ns), 0);
    CHECK_EQ(atomic_fetch_add(&resumed, 1), 0);
    CHECK(result == &child);
    CHECK(atomic_load(&stands));
    CHECK(atomic_load(&acted));
}

static void end_between_link_and_switch(void) {
    for (long i = 0; i < scaled(STEPS, 20); i++)
        join_while_child_ends("park.before_switch", i % 2 ? WEFT_NEVER : weft_after(60 * WEFT_SECOND));
}

TEST(an_end_between_linking_and_the_switch_wakes_the_joiner_once) {
    run_with_hook(2, end_between_link_and_switch);
}

static void end_between_switch_and_commit(void) {
    for (long i = 0; i < scaled(STEPS, 20); i++)
        join_while_child_ends("park.before_commit", i % 2 ? WEFT_NEVER : weft_after(60 * WEFT_SECOND));
}

TEST(an_end_between_the_switch_and_the_commit_wakes_the_joiner_once) {
    run_with_hook(2, end_between_switch_and_commit);
}

/* The object has taken the waiter out and stands before the wake; meanwhile the deadline passes. */
static void deadline_during_wake(void) {
    for (long i = 0; i < scaled(200, 10); i++) {
        weft_fiber child;
        atomic_store(&child_runs, 0);
        arm(NULL, NULL);
        SPAWN(&child, child_until_parent_stands, &child);
        WAIT_UNTIL(atomic_load(&child_runs));
        arm("wake.before_deliver", "deadline.before_claim");
        atomic_store(&stands, 1); /* the child may end */
        void *result = NULL;
        int error = weft_join(child, &result, weft_after(WEFT_MILLISECOND));
        CHECK_EQ(atomic_fetch_add(&resumed, 1), 0);
        if (error == -ETIMEDOUT) { /* the deadline came first after all */
            arm(NULL, NULL);
            error = weft_join(child, &result, WEFT_NEVER);
        }
        CHECK_EQ(error, 0);
        CHECK(result == &child);
    }
}

TEST(a_deadline_that_passes_during_the_wake_changes_nothing) {
    run_with_hook(2, deadline_during_wake);
}

/* The timer stands before the lock; meanwhile the child ends and takes the waiter out. */
static void end_during_deadline(void) {
    for (long i = 0; i < scaled(200, 10); i++) {
        weft_fiber child;
        void *result = NULL;
        atomic_store(&child_runs, 0);
        arm(NULL, NULL);
        SPAWN(&child, child_until_parent_stands, &child);
        WAIT_UNTIL(atomic_load(&child_runs));
        arm("deadline.before_claim", "wake.before_deliver");
        int error = weft_join(child, &result, weft_after(WEFT_MILLISECOND));
        CHECK_EQ(atomic_fetch_add(&resumed, 1), 0);
        if (error == -ETIMEDOUT)
            error = weft_join(child, &result, WEFT_NEVER);
        CHECK_EQ(error, 0);
        CHECK(result == &child);
    }
}

TEST(an_end_while_the_deadline_fires_wakes_the_joiner_once) {
    run_with_hook(2, end_during_deadline);
}

/* A plain thread sends while the receiving fiber stands between linking and commit. */
static struct rendezvous channel;

static void *send_when_it_stands(void *arg) {
    (void)arg;
    for (long i = 1; i <= scaled(STEPS, 20); i++) {
        while (!atomic_load(&stands))
            sched_yield();
        atomic_store(&stands, 0);
        atomic_store(&acted, 1);
        CHECK_EQ(rendezvous_send(&channel, (void *)i, WEFT_NEVER), 0);
    }
    return NULL;
}

static const char *receive_point;

static void receive_at_point(void) {
    pthread_t thread = thread_start(send_when_it_stands, NULL);
    for (long i = 1; i <= scaled(STEPS, 20); i++) {
        void *value = NULL;
        arm(receive_point, NULL);
        CHECK_EQ(rendezvous_receive(&channel, &value, WEFT_NEVER), 0);
        CHECK_EQ((long)(intptr_t)value, i);
    }
    arm(NULL, NULL);
    thread_join(thread);
}

TEST(a_thread_that_wakes_a_fiber_about_to_switch_wakes_it_once) {
    receive_point = "park.before_switch";
    run_with_hook(1, receive_at_point);
}

TEST(a_thread_that_wakes_a_fiber_about_to_commit_wakes_it_once) {
    receive_point = "park.before_commit";
    run_with_hook(1, receive_at_point);
}

/* A worker stands at a point on its way to sleep; exactly then a plain thread submits a fiber. */
static const char *sleep_point;

static void *count_and_return(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
    return arg;
}

static void spawn_and_join_counted(void) {
    atomic_int times = 0;
    weft_fiber fiber;
    SPAWN(&fiber, count_and_return, &times);
    JOIN(fiber, NULL);
    CHECK_EQ(atomic_load(&times), 1);
}

/* Somebody has to wake up to go to sleep. The worker that stands may be the one that is to run the fiber. */
static weft_fiber wake_until_one_stands(atomic_int *times) {
    weft_fiber fiber;
    weft_time limit = weft_after(PATIENCE_NS);
    int error = 0;
    do {
        CHECK_LE(weft_now(), limit);
        SPAWN(&fiber, count_and_return, times);
        while ((error = weft_join(fiber, NULL, weft_after(WEFT_MILLISECOND))) == -ETIMEDOUT && !atomic_load(&stands))
            continue;
    } while (!atomic_load(&stands));
    return error ? fiber : WEFT_NO_FIBER;
}

static void *submit_when_it_stands(void *arg) {
    (void)arg;
    for (long i = 0; i < scaled(STEPS, 20); i++) {
        atomic_int nudges = 0, times = 0;
        weft_fiber fiber;
        arm(sleep_point, NULL);
        weft_fiber nudge = wake_until_one_stands(&nudges);
        SPAWN(&fiber, count_and_return, &times);
        atomic_store(&acted, 1);
        JOIN(fiber, NULL);
        CHECK_EQ(atomic_load(&times), 1);
        if (nudge.bits)
            JOIN(nudge, NULL);
    }
    arm(NULL, NULL);
    CHECK_EQ(rendezvous_send(&channel, NULL, WEFT_NEVER), 0);
    return NULL;
}

static void rest_until_thread_is_done(void) {
    void *value;
    pthread_t thread = thread_start(submit_when_it_stands, NULL);
    CHECK_EQ(rendezvous_receive(&channel, &value, WEFT_NEVER), 0);
    thread_join(thread);
}

TEST(a_submit_before_the_fence_of_a_worker_that_goes_to_sleep_is_run) {
    sleep_point = "idle.before_fence";
    run_with_hook(1, rest_until_thread_is_done);
}

TEST(a_submit_before_the_last_look_of_a_worker_is_run) {
    sleep_point = "sleep.before_recheck";
    run_with_hook(1, rest_until_thread_is_done);
}

TEST(a_submit_between_the_last_look_and_sleep_is_run) {
    sleep_point = "sleep.before_park";
    run_with_hook(1, rest_until_thread_is_done);
}

TEST(a_submit_before_the_poller_sleeps_is_run) {
    sleep_point = "poll.before_wait";
    run_with_workers(1, rest_until_thread_is_done); /* among several the one that polls is not the one that is woken */
}

/* The submitter stands between publishing and notifying while the workers go to sleep, or run it already. */
static void *submit_slowly(void *arg) {
    (void)arg;
    for (long i = 0; i < scaled(200, 10); i++) {
        arm("submit.before_notify", "sleep.before_recheck");
        spawn_and_join_counted();
    }
    arm(NULL, NULL);
    CHECK_EQ(rendezvous_send(&channel, NULL, WEFT_NEVER), 0);
    return NULL;
}

static void rest_while_submits_are_slow(void) {
    void *value;
    pthread_t thread = thread_start(submit_slowly, NULL);
    CHECK_EQ(rendezvous_receive(&channel, &value, WEFT_NEVER), 0);
    thread_join(thread);
}

TEST(a_submit_that_notifies_late_is_run) {
    atomic_store(&is_brief, 1);
    run_with_hook(1, rest_while_submits_are_slow);
    atomic_store(&is_brief, 0);
}

/* The commit function itself: nothing to wait for, or the wake comes before it returns. */
static bool commit_refuses(struct wf_fiber *fiber, void *arg) {
    (void)fiber;
    (*(int *)arg)++;
    return false;
}

static bool commit_wakes_at_once(struct wf_fiber *fiber, void *arg) {
    (*(int *)arg)++;
    wf_fiber_ready(wf_worker_self()->fibers, fiber);
    return true;
}

static void park_for_nothing(void) {
    int refusals = 0, wakes = 0;
    for (long i = 0; i < scaled(100000, 100); i++) {
        wf_fiber_park(commit_refuses, &refusals);
        CHECK_EQ(refusals, i + 1);
        wf_fiber_park(commit_wakes_at_once, &wakes);
        CHECK_EQ(wakes, i + 1);
    }
}

TEST(a_commit_that_refuses_or_wakes_at_once_resumes_the_fiber_once) {
    run_fibers(park_for_nothing);
}
