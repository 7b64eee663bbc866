/* SPDX-License-Identifier: MIT
 *
 * unit/scope/scope_test.c - scopes from the inside: arguments, limits, places, memory that is refused.
 *
 * What children see of each other is in spec/scope_test.c. Here the allocator fails on demand, and turns that were given to
 * somebody who could not use them must reach the next one.
 */
#include "os/fault.h"
#include "support/run.h"

#define FOR_EVER (1000 * PATIENCE_NS)

static int return_zero(void *opaque) {
    (void)opaque;
    return 0;
}

static int sleep_for_ever(void *opaque) {
    (void)opaque;
    return weft_sleep(weft_after(FOR_EVER));
}

static int empty_body(weft_scope *scope, void *opaque) {
    (void)scope;
    return (int)(intptr_t)opaque;
}

static void arguments_body(void) {
    weft_scope *scope;
    CHECK_EQ(weft_scope_run(NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_scope_open(NULL, NULL), -EINVAL);
    CHECK_EQ(weft_scope_close(NULL), -EINVAL);
    CHECK_EQ(weft_scope_go(NULL, return_zero, NULL), -EINVAL);
    CHECK_EQ(weft_scope_wait(NULL, WEFT_NOW), -EINVAL);
    CHECK_EQ(weft_scope_result(NULL, 0, &(int){0}), -EINVAL);
    CHECK_EQ(weft_scope_cancel(NULL, 0, NULL), -EINVAL);
    CHECK_EQ(weft_scope_run(NULL, empty_body, (void *)6), 6);
    CHECK_EQ(weft_scope_run(NULL, empty_body, (void *)-6), -6);
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_scope_cancel(scope, 1, "no error"), -EINVAL);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NOW), 0);
    CHECK_EQ(weft_scope_close(scope), 0);
}

TEST(scope_refuses_wrong_arguments) {
    weft_scope *scope = NULL;
    run_fibers(arguments_body);
    CHECK_EQ(weft_scope_open(&scope, NULL), -EPERM);
    CHECK_EQ(weft_scope_run(NULL, empty_body, NULL), -EPERM);
    CHECK(scope == NULL);
}

struct outside {
    weft_scope *scope;
    atomic_int is_done;
};

static void *from_outside(void *opaque) {
    struct outside *outside = opaque;
    CHECK_EQ(weft_scope_go(outside->scope, return_zero, NULL), -EPERM);
    CHECK_EQ(weft_scope_wait(outside->scope, WEFT_NEVER), -EPERM);
    atomic_store(&outside->is_done, 1);
    return NULL;
}

static void *wait_for_foreign(void *scope) {
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), -EPERM);
    CHECK_EQ(weft_scope_go(scope, return_zero, NULL), 0); /* starting is for every fiber inside */
    return NULL;
}

static void foreign_body(void) {
    struct outside outside = {0};
    weft_fiber fiber;
    CHECK_EQ(weft_scope_open(&outside.scope, NULL), 0);
    pthread_t thread = thread_start(from_outside, &outside);
    WAIT_UNTIL(atomic_load(&outside.is_done));
    thread_join(thread);
    SPAWN(&fiber, wait_for_foreign, outside.scope);
    JOIN(fiber, NULL);
    CHECK_EQ(weft_scope_close(outside.scope), 0);
}

TEST(scope_tells_threads_and_other_fibers_what_they_may_not) {
    run_fibers(foreign_body);
}

static void after_cancel_body(void) {
    weft_scope_options options = {.max_children = 2};
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, &options), 0);
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, NULL), 0);
    CHECK_EQ(weft_scope_cancel(scope, 0, "that is all"), 0);
    CHECK_EQ(weft_scope_go(scope, return_zero, NULL), -ECANCELED);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), -ECANCELED);
    weft_shield();
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
    CHECK_EQ(weft_scope_go(scope, return_zero, NULL), -ECANCELED);
    weft_unshield();
    CHECK_EQ(weft_scope_close(scope), -ECANCELED);
}

TEST(scope_starts_nothing_once_it_is_cancelled) {
    run_fibers(after_cancel_body);
}

/* The opener may leave the children to a later moment: waiting and going on. */
static void wait_again_body(void) {
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    for (int i = 0; i < 20; i++) {
        weft_time deadline = weft_after(10 * WEFT_MICROSECOND);
        CHECK_EQ(weft_scope_wait(scope, WEFT_NOW), 0);
        CHECK_EQ(weft_scope_go(scope, return_zero, NULL), 0);
        CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
        int status = weft_scope_wait(scope, deadline);
        CHECK_EQ(status, 0);
    }
    CHECK_EQ(weft_scope_go(scope, sleep_for_ever, NULL), 0);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_scope_wait(scope, weft_after(10 * WEFT_MICROSECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_scope_cancel(scope, -EINTR, NULL), 0);
    CHECK_EQ(weft_scope_close(scope), -EINTR);
}

TEST(scope_can_be_waited_for_again_and_again) {
    run_fibers(wait_again_body);
}

/* How many are inside at once, counted by themselves. */
struct crowd {
    weft_scope *scope;
    unsigned limit;
    atomic_int inside;
    atomic_int most;
    atomic_int ended;
    atomic_int refused;
};

static int crowd_child(void *opaque) {
    struct crowd *crowd = opaque;
    int now = atomic_fetch_add(&crowd->inside, 1) + 1;
    int most = atomic_load(&crowd->most);
    while (now > most && !atomic_compare_exchange_weak(&crowd->most, &most, now))
        continue;
    for (int i = 0; i < 3; i++)
        weft_yield();
    atomic_fetch_sub(&crowd->inside, 1);
    atomic_fetch_add(&crowd->ended, 1);
    return 0;
}

static void *crowd_starter(void *opaque) {
    struct crowd *crowd = opaque;
    for (int i = 0; i < 30; i++)
        CHECK_EQ(weft_scope_go(crowd->scope, crowd_child, crowd), 0);
    return NULL;
}

static void limit_body(void) {
    enum { STARTERS = 4 };
    for (unsigned limit = 1; limit < 6; limit += 2) {
        struct crowd crowd = {.limit = limit};
        weft_scope_options options = {.max_children = limit};
        weft_fiber starters[STARTERS];
        CHECK_EQ(weft_scope_open(&crowd.scope, &options), 0);
        for (int i = 0; i < STARTERS; i++)
            SPAWN(&starters[i], crowd_starter, &crowd);
        for (int i = 0; i < STARTERS; i++)
            JOIN(starters[i], NULL);
        CHECK_EQ(weft_scope_close(crowd.scope), 0);
        CHECK_EQ(atomic_load(&crowd.ended), STARTERS * 30);
        CHECK_LE(atomic_load(&crowd.most), limit);
        CHECK_GE(atomic_load(&crowd.most), 1);
    }
}

TEST(scope_with_a_limit_never_has_more_children_at_once) {
    run_fibers(limit_body);
}

/* Those who wait for room and are cancelled themselves, by scopes of their own, take nobody's turn with them. */
static int impatient_starter(weft_scope *own, void *opaque) {
    struct crowd *crowd = opaque;
    (void)own;
    int status = weft_scope_go(crowd->scope, crowd_child, crowd);
    CHECK(status == 0 || status == -ECANCELED);
    if (status)
        atomic_fetch_add(&crowd->refused, 1);
    return 0;
}

static void *impatient_main(void *opaque) {
    weft_scope_options options = {.deadline = weft_after(30 * WEFT_MICROSECOND)};
    int status = weft_scope_run(&options, impatient_starter, opaque);
    if (status == -ECANCELED || status == -ETIMEDOUT || status == 0)
        return NULL;
    CHECK_EQ(status, 0);
    return NULL;
}

static void impatient_body(void) {
    enum { STARTERS = 24 };
    long refused = 0;
    for (long round = 0; round < scaled(200, 4); round++) {
        struct crowd crowd = {0};
        weft_scope_options options = {.max_children = 2};
        weft_fiber starters[STARTERS];
        CHECK_EQ(weft_scope_open(&crowd.scope, &options), 0);
        for (int i = 0; i < STARTERS; i++)
            SPAWN(&starters[i], i % 2 ? impatient_main : crowd_starter, &crowd);
        for (int i = 0; i < STARTERS; i++)
            JOIN(starters[i], NULL);
        CHECK_EQ(weft_scope_close(crowd.scope), 0);
        CHECK_LE(atomic_load(&crowd.most), 2);
        CHECK_GE(atomic_load(&crowd.ended), STARTERS / 2 * 30);
        refused += atomic_load(&crowd.refused);
    }
    printf("    %ld gave up waiting for room\n", refused);
}

TEST(scope_with_a_limit_loses_no_turn_when_somebody_gives_up) {
    run_fibers(impatient_body);
}

static int start_when_there_is_room(void *opaque) {
    struct crowd *crowd = opaque;
    int status = weft_scope_go(crowd->scope, crowd_child, crowd);
    CHECK_EQ(status, -ECANCELED);
    atomic_fetch_add(&crowd->refused, 1);
    return 0; /* its own scope may be told of the cancellation a moment later, and that is what counts there */
}

static void limit_cancel_body(void) {
    enum { STARTERS = 5 };
    struct crowd crowd = {0};
    weft_scope_options options = {.max_children = 1};
    weft_scope *starters;
    CHECK_EQ(weft_scope_open(&crowd.scope, &options), 0);
    CHECK_EQ(weft_scope_go(crowd.scope, sleep_for_ever, NULL), 0);
    CHECK_EQ(weft_scope_open(&starters, NULL), 0); /* inside the first, and cancelled with it */
    for (int i = 0; i < STARTERS; i++)
        CHECK_EQ(weft_scope_go(starters, start_when_there_is_room, &crowd), 0);
    weft_yield();
    CHECK_EQ(weft_scope_cancel(crowd.scope, -ESHUTDOWN, NULL), 0);
    CHECK_EQ(weft_scope_close(starters), -ESHUTDOWN);
    CHECK_EQ(atomic_load(&crowd.refused), STARTERS);
    CHECK_EQ(weft_scope_close(crowd.scope), -ESHUTDOWN);
    CHECK_EQ(atomic_load(&crowd.ended), 0);
}

TEST(scope_that_is_cancelled_turns_away_those_who_wait_for_room) {
    run_fibers(limit_cancel_body);
}

/* A turn that was given to somebody who finds no memory for it goes to the next. The starters are no children and not
 * inside anything; the results need more memory with the seventeenth child. */
struct queue {
    weft_scope *scope;
    atomic_int gate;
    atomic_int began;
    atomic_int refused;
    atomic_int started;
};

static int wait_at_gate(void *opaque) {
    struct queue *queue = opaque;
    WAIT_UNTIL(atomic_load(&queue->gate));
    return 0;
}

static void *start_next(void *opaque) {
    struct queue *queue = opaque;
    atomic_fetch_add(&queue->began, 1);
    int status = weft_scope_go(queue->scope, return_zero, NULL);
    CHECK(status == 0 || status == -ENOMEM);
    atomic_fetch_add(status ? &queue->refused : &queue->started, 1);
    return NULL;
}

static void refused_turn_body(void) {
    enum { STARTERS = 3 };
    struct queue queue = {0};
    weft_scope_options options = {.max_children = 1, .keep_results = true};
    weft_fiber starters[STARTERS];
    CHECK_EQ(weft_scope_open(&queue.scope, &options), 0);
    for (int i = 0; i < 15; i++)
        CHECK_EQ(weft_scope_go(queue.scope, return_zero, NULL), 0);
    CHECK_EQ(weft_scope_go(queue.scope, wait_at_gate, &queue), 0);
    uint64_t parks = 0;
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    parks = stats.parks;
    for (int i = 0; i < STARTERS; i++)
        SPAWN(&starters[i], start_next, &queue);
    do {
        weft_yield();
        CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    } while (stats.parks < parks + STARTERS); /* all of them wait for room */
    wf_fault_order(WF_CALL_ALLOC, 1, ENOMEM, 0);
    atomic_store(&queue.gate, 1);
    WAIT_UNTIL(atomic_load(&queue.refused) + atomic_load(&queue.started) == STARTERS);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(atomic_load(&queue.refused), 1);
    for (int i = 0; i < STARTERS; i++)
        JOIN(starters[i], NULL);
    CHECK_EQ(weft_scope_close(queue.scope), 0);
}

TEST(scope_turn_of_one_that_finds_no_memory_goes_to_the_next) {
    run_fibers(refused_turn_body);
}

/* Every allocation of opening and starting refused once. */
static void memory_body(void) {
    weft_scope_options options = {.deadline = weft_after(FOR_EVER), .keep_results = true};
    bool is_clean = false;
    for (long nth = 1; !is_clean; nth++) {
        weft_scope *scope = NULL;
        int started = 0;
        CHECK_LE(nth, 100);
        wf_fault_order(WF_CALL_ALLOC, nth, ENOMEM, 0);
        int status = weft_scope_open(&scope, &options);
        CHECK(status == 0 || status == -ENOMEM);
        for (int i = 0; i < 20 && scope; i++) {
            status = weft_scope_go(scope, return_zero, NULL);
            CHECK(status == 0 || status == -ENOMEM);
            started += status == 0;
        }
        is_clean = wf_fault_hits() == 0;
        wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        if (scope)
            CHECK_EQ(weft_scope_close(scope), 0);
        CHECK_GE(started, scope ? 19 : 0);
    }
}

TEST(scope_survives_memory_that_is_refused) {
    run_fibers(memory_body);
}

/* A child that finds no stack counts as one that failed for want of memory. */
static void no_stack_body(void) {
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    wf_fault_order(WF_CALL_MMAP, 1, ENOMEM, 1);
    int status = 0;
    for (int i = 0; i < 4000 && !status; i++)
        status = weft_scope_go(scope, sleep_for_ever, NULL);
    CHECK(status == 0 || status == -ENOMEM || status == -ECANCELED);
    if (status != -ECANCELED)
        CHECK_EQ(weft_sleep(weft_after(FOR_EVER)), -ECANCELED);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(weft_cancel_reason(NULL, 0), -ENOMEM);
    CHECK_EQ(weft_scope_close(scope), -ENOMEM);
}

TEST(scope_child_without_a_stack_fails_with_no_memory) {
    run_fibers_with(&(weft_options){.quiet = true, .no_deadlock_report = true}, no_stack_body);
}

/* A fiber that is cancelled inside an inner scope finds that one cancelled when it wakes, and with the outer reason. */
static weft_chan *never_sent;
static atomic_int reasons_right;

static int wait_inside(weft_scope *scope, void *arg) {
    (void)scope;
    *(bool *)arg = true;
    int status = weft_chan_recv(never_sent, NULL, WEFT_NEVER);
    if (status == -ECANCELED && weft_cancel_reason(NULL, 0) == -EIO)
        atomic_fetch_add(&reasons_right, 1);
    return status;
}

static int open_inner(void *arg) {
    (void)arg;
    bool is_inside = false; /* else it was cancelled before it could open one */
    int status = weft_scope_run(NULL, wait_inside, &is_inside);
    CHECK_EQ(status, is_inside ? -EIO : -ECANCELED);
    atomic_fetch_sub(&reasons_right, is_inside);
    return 0;
}

static int cancel_them(weft_scope *scope, void *arg) {
    (void)arg;
    for (int i = 0; i < 50; i++)
        CHECK_EQ(weft_scope_go(scope, open_inner, NULL), 0);
    for (int i = 0; i < 20; i++)
        weft_yield();
    CHECK_EQ(weft_scope_cancel(scope, -EIO, "outer"), 0);
    return 0;
}

static void inner_reason_body(void) {
    long rounds = scaled(100, 5);
    atomic_store(&reasons_right, 0);
    CHECK_EQ(weft_chan_new(&never_sent, 0, 0), 0);
    for (long i = 0; i < rounds; i++)
        CHECK_EQ(weft_scope_run(NULL, cancel_them, NULL), -EIO);
    CHECK_EQ(atomic_load(&reasons_right), 0); /* each one inside has found the reason, and has been taken off again */
    weft_chan_free(never_sent);
}

TEST(scope_inside_a_cancelled_one_is_cancelled_before_its_fibers_wake) {
    run_fibers(inner_reason_body);
}

/* Room goes to whoever wants to start a child, though the opener waits for the end in front of it. */
static weft_scope *narrow;
static atomic_int narrow_step, narrow_started;

static int occupy(void *arg) {
    (void)arg;
    WAIT_UNTIL(atomic_load(&narrow_step) == 3);
    for (int i = 0; i < 20; i++)
        weft_yield();
    return 0;
}

static int count_start(void *arg) {
    (void)arg;
    atomic_fetch_add(&narrow_started, 1);
    return 0;
}

static int start_first(void *arg) {
    (void)arg;
    atomic_store(&narrow_step, 1);
    return weft_scope_go(narrow, count_start, NULL);
}

static int start_second(void *arg) {
    (void)arg;
    WAIT_UNTIL(atomic_load(&narrow_step) == 2);
    for (int i = 0; i < 20; i++)
        weft_yield();
    atomic_store(&narrow_step, 3);
    return weft_scope_go(narrow, count_start, NULL);
}

static int wait_between(weft_scope *scope, void *arg) {
    (void)arg;
    CHECK_EQ(weft_scope_go(scope, start_first, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, start_second, NULL), 0);
    WAIT_UNTIL(atomic_load(&narrow_step) == 1);
    for (int i = 0; i < 20; i++)
        weft_yield();
    atomic_store(&narrow_step, 2);
    return weft_scope_wait(narrow, WEFT_NEVER);
}

static int fill_narrow(weft_scope *scope, void *arg) {
    narrow = scope;
    CHECK_EQ(weft_scope_go(scope, occupy, NULL), 0);
    return weft_scope_run(NULL, wait_between, arg);
}

static void narrow_body(void) {
    weft_scope_options options = {.max_children = 1};
    atomic_store(&narrow_step, 0);
    atomic_store(&narrow_started, 0);
    CHECK_EQ(weft_scope_run(&options, fill_narrow, NULL), 0);
    CHECK_EQ(atomic_load(&narrow_started), 2);
}

TEST(scope_room_goes_to_those_who_start_before_the_one_who_waits_for_the_end) {
    run_fibers(narrow_body);
}

/* A panic that is caught outside an open scope closes it, so that the outer ones can be closed in order. */
static int wait_cancelled(weft_scope *scope, void *arg) {
    (void)scope;
    (void)arg;
    CHECK_EQ(weft_chan_recv(never_sent, NULL, WEFT_NEVER), -ECANCELED);
    return 0;
}

static void open_and_panic_here(void *arg) {
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    CHECK_EQ(weft_scope_go(scope, (int (*)(void *))arg, NULL), 0);
    weft_panic("inside");
}

static int receive_until_cancelled(void *arg) {
    (void)arg;
    CHECK_EQ(weft_scope_run(NULL, wait_cancelled, NULL), -ECANCELED);
    return 0;
}

static void caught_panic_body(void) {
    weft_scope *outer;
    CHECK_EQ(weft_chan_new(&never_sent, 0, 0), 0);
    CHECK_EQ(weft_scope_open(&outer, NULL), 0);
    CHECK_EQ(weft_try(open_and_panic_here, (void *)receive_until_cancelled, NULL, 0), -EOWNERDEAD);
    CHECK_EQ(weft_cancel_reason(NULL, 0), 0);
    CHECK_EQ(weft_scope_close(outer), 0);
    weft_chan_free(never_sent);
}

TEST(scope_that_a_caught_panic_has_left_is_closed) {
    run_fibers(caught_panic_body);
}

/* The first failure of a scope that goes on stays, whatever comes later. */
static int fail_with(void *arg) {
    return (int)(intptr_t)arg;
}

static int fail_and_go_on(weft_scope *scope, void *arg) {
    (void)arg;
    CHECK_EQ(weft_scope_go(scope, fail_with, (void *)(intptr_t)-EIO), 0);
    CHECK_EQ(weft_scope_wait(scope, WEFT_NEVER), 0);
    return -EINVAL;
}

static void first_failure_body(void) {
    weft_scope_options options = {.keep_going = true};
    CHECK_EQ(weft_scope_run(&options, fail_and_go_on, NULL), -EIO);
}

TEST(scope_that_goes_on_keeps_its_first_failure) {
    run_fibers(first_failure_body);
}
