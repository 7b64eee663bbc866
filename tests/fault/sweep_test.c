/* SPDX-License-Identifier: MIT
 *
 * fault/sweep_test.c - every system call fails once, at every place, with every error that it can have.
 *
 * A workload that uses most of the runtime is run again and again; in run n the n-th call of one kind fails, until a run
 * passes in which none did; then once more with all calls failing from the n-th on. Each run is a forked child with a time
 * limit: it has to end by itself, with an error that the contract names or with the right result, and without a block,
 * a mapped byte or a descriptor left over.
 *
 * Two workloads: fibers and what they are made of; and everything that fibers wait for, with deadlines, in scopes.
 */
#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/descriptors.h"
#include "support/run.h"
#include "weft/event.h"
#include "weft/local.h"
#include "weft/timer.h"

enum { WORKERS = 2, FIBERS = 12, NTH_MAX = 400 };

struct sweep {
    enum wf_system_call call;
    int error;
    int (*first)(void *arg); /* the workload */
    bool every;
    long points;
};

static weft_key key;

static void release(void *value) {
    (void)value;
}

/* Whatever may fail for want of memory does so with -ENOMEM, and only that way. */
static bool succeeded(int status) {
    CHECK(status == 0 || status == -ENOMEM || status == -EAGAIN);
    return status == 0;
}

static void *work(void *arg) {
    long n = (long)(intptr_t)arg;
    succeeded(weft_local_set(key, &key));
    succeeded(weft_defer(release, NULL));
    CHECK_EQ(weft_set_name("worker of the sweep"), 0);
    weft_yield();
    succeeded(weft_sleep(weft_after(n * 20 * WEFT_MICROSECOND)));
    if (n % 3 == 0)
        weft_panic("fiber %ld", n);
    return arg;
}

static void join_all(const weft_fiber *fibers, const bool *exists) {
    for (int i = 0; i < FIBERS; i++) {
        if (!exists[i])
            continue;
        void *result = NULL;
        int status = weft_join(fibers[i], &result, weft_after(PATIENCE_NS));
        if (status == -ENOMEM && weft_join(fibers[i], &result, WEFT_NOW) != -ESTALE) /* no timer to be had: no limit */
            status = weft_join(fibers[i], &result, WEFT_NEVER);
        CHECK(status == 0 || status == -ENOMEM || status == -EOWNERDEAD || status == -ESTALE);
        if (status == 0)
            CHECK_EQ((intptr_t)result, i);
    }
}

static int first(void *arg) {
    static const size_t sizes[] = {0, 0, 40 << 10, 1 << 20, 16 << 20};
    weft_fiber fibers[FIBERS];
    bool exists[FIBERS];
    (void)arg;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < FIBERS; i++) {
            weft_spawn_options options = {.stack_size = sizes[i % 5], .name = i % 2 ? "named" : NULL};
            exists[i] = succeeded(weft_spawn_with(&fibers[i], &options, work, (void *)(intptr_t)i));
        }
        join_all(fibers, exists);
        succeeded(weft_sleep(weft_after(100 * WEFT_MICROSECOND)));
    }
    return 21;
}

#define SHORTLY (30 * WEFT_MICROSECOND)

/* Inside a scope a failure of another child, or of the deadline to come, cancels. */
static bool went_well(int status) {
    CHECK(status >= 0 || status == -ENOMEM || status == -EAGAIN || status == -ETIMEDOUT || status == -ECANCELED);
    return status >= 0;
}

static int pass_a_value(void *opaque) {
    int value = 5;
    int status = weft_chan_send(opaque, &value, weft_after(SHORTLY));
    return went_well(status) || status != -ENOMEM ? 0 : status;
}

static int take_a_value(void *opaque) {
    int value = 0;
    int status = weft_chan_recv(opaque, &value, weft_after(SHORTLY));
    CHECK(status != 0 || value == 5);
    return went_well(status) || status != -ENOMEM ? 0 : status;
}

static int fill_a_scope(weft_scope *scope, void *opaque) {
    weft_scope *inner = NULL;
    for (int i = 0; i < 9; i++) {
        went_well(weft_scope_go(scope, pass_a_value, opaque));
        went_well(weft_scope_go(scope, take_a_value, opaque));
    }
    if (went_well(weft_scope_open(&inner, &(weft_scope_options){.deadline = weft_after(SHORTLY), .max_children = 2}))) {
        for (int i = 0; i < 4; i++)
            went_well(weft_scope_go(inner, take_a_value, opaque));
        went_well(weft_scope_close(inner));
    }
    went_well(weft_scope_wait(scope, weft_after(SHORTLY)));
    return 0;
}

static void use_channels_and_select(weft_chan *chan) {
    enum { MANY = 24 };
    weft_semaphore permits = WEFT_SEMAPHORE_INIT(0);
    weft_case cases[MANY];
    int value = 5;
    for (int i = 0; i < MANY; i++)
        cases[i] = i % 2 ? weft_on_receive(chan, &value) : weft_on_semaphore(&permits);
    went_well(weft_select(cases, MANY, weft_after(SHORTLY)));
    went_well(weft_select(cases, 4, weft_after(SHORTLY)));
    went_well(weft_select(cases, MANY, WEFT_NOW));
    went_well(weft_chan_recv(chan, &value, weft_after(SHORTLY)));
    CHECK_EQ(weft_chan_send(chan, &value, WEFT_NOW), 0); /* what failed has left nobody in the queue */
    CHECK_EQ(weft_chan_recv(chan, &value, WEFT_NOW), 0);
    CHECK_EQ(weft_semaphore_permits(&permits), 0);
}

static int count_item(void *item, void *arg) {
    (void)arg;
    ++*(int *)item;
    return 0;
}

static void use_forms(weft_chan *chan) {
    weft_branch branches[] = {{pass_a_value, chan, 0}, {take_a_value, chan, 0}, {take_a_value, chan, 0}};
    int items[10] = {0};
    went_well(weft_all(branches, 3, weft_after(WEFT_MILLISECOND)));
    went_well(weft_race(branches, 3, weft_after(WEFT_MILLISECOND)));
    went_well(weft_any(branches, 3, weft_after(WEFT_MILLISECOND)));
    if (went_well(weft_map(count_item, items, sizeof(int), 10, NULL, 3, weft_after(PATIENCE_NS))))
        for (int i = 0; i < 10; i++)
            CHECK_EQ(items[i], 1);
}

static void *add_one(void *value, void *arg) {
    (void)arg;
    return (char *)value + 1;
}

static void use_promises(void) {
    weft_promise *inputs[2] = {NULL, NULL}, *both = NULL, *sum = NULL;
    weft_outcome outcome;
    for (int i = 0; i < 2; i++)
        if (!went_well(weft_promise_new(&inputs[i])))
            goto unref;
    if (went_well(weft_promise_all(&both, inputs, 2)))
        went_well(weft_promise_await(both, &outcome, weft_after(SHORTLY)));
    went_well(weft_promise_then(inputs[0], &sum, add_one, NULL, NULL));
    CHECK_EQ(weft_promise_resolve(inputs[0], (void *)1), 0);
    CHECK_EQ(weft_promise_resolve(inputs[1], (void *)1), 0);
    if (sum && went_well(weft_promise_await(sum, &outcome, WEFT_NEVER)))
        CHECK(outcome.state == WEFT_PROMISE_RESOLVED ? (intptr_t)outcome.value == 2
                                                     : went_well(outcome.error) == false);
    if (both)
        CHECK_EQ(weft_promise_await(both, NULL, WEFT_NOW), 0);
unref:
    weft_promise_unref(sum);
    weft_promise_unref(both);
    weft_promise_unref(inputs[1]);
    weft_promise_unref(inputs[0]);
}

static void use_timers(void) {
    weft_timer timer;
    uint64_t count;
    if (!went_well(weft_timer_start(&timer, weft_after(SHORTLY), SHORTLY, NULL, NULL)))
        return;
    went_well(weft_timer_wait(timer, &count, weft_after(PATIENCE_NS)));
    int status = weft_timer_reset(timer, weft_after(PATIENCE_NS), 0);
    CHECK(status == 0 || status == -ENOMEM);
    went_well(weft_timer_wait(timer, &count, weft_after(SHORTLY)));
    CHECK_GE(weft_timer_stop(timer), 0);
}

static void use_events(void) {
    weft_events *events = NULL;
    weft_event inputs[3], merged = WEFT_NO_EVENT;
    int made = 0;
    if (!went_well(weft_events_new(&events, NULL)))
        return;
    while (made < 3 && went_well(weft_event_new(events, &inputs[made], WEFT_NEVER)))
        made++;
    if (made == 3 && went_well(weft_event_merge(events, inputs, 3, WEFT_MERGE_ALL, 0, &merged))) {
        went_well(weft_event_wait(events, merged, NULL, weft_after(SHORTLY)));
        went_well(weft_event_own(events, inputs[0]));
    }
    for (int i = 0; i < made; i++)
        CHECK_EQ(weft_event_trigger(events, inputs[i]), 0);
    if (made == 3)
        CHECK_EQ(weft_event_wait(events, merged, NULL, WEFT_NEVER), 0);
    weft_events_free(events);
}

static int wait_for_everything(void *arg) {
    weft_chan *chan = NULL;
    (void)arg;
    if (went_well(weft_chan_new(&chan, sizeof(int), 1))) {
        weft_scope_options options = {
            .keep_results = true, .keep_going = true, .deadline = weft_after(WEFT_MILLISECOND)};
        use_channels_and_select(chan);
        went_well(weft_scope_run(&options, fill_a_scope, chan));
        use_forms(chan);
        weft_chan_free(chan); /* fatal if a wait that failed had left something behind */
    }
    use_promises();
    use_timers();
    use_events();
    return 21;
}

static bool is_documented(int status) {
    const int errors[] = {-ENOMEM, -EAGAIN, -EINVAL, -EOWNERDEAD};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (status == errors[i])
            return true;
    return status == 21;
}

struct point {
    struct sweep *sweep;
    long nth;
};

enum { END_HIT = 40, END_CLEAN = 41 };

static void run_point(void *opaque) {
    const struct point *point = opaque;
    bool asks_for_processors = point->sweep->call == WF_CALL_AFFINITY;
    weft_options options = {.workers = asks_for_processors ? 0 : WORKERS, .quiet = true};
    unsetenv("WEFT_WORKERS");
    int descriptors = count_descriptors();
    alarm(20);
    CHECK_EQ(weft_key_new(&key, release), 0);
    wf_fault_order(point->sweep->call, point->nth, point->sweep->error, point->sweep->every);
    int status = weft_run(&options, point->sweep->first, NULL);
    long hits = wf_fault_hits();
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    if (!is_documented(status))
        fprintf(stderr, "weft_run returned %d\n", status);
    CHECK(is_documented(status));
    if (hits == 0)
        CHECK_EQ(status, 21);
    CHECK_EQ(wf_os_live_blocks(), 0);
    CHECK_EQ(wf_os_mapped_bytes(), 0);
    CHECK_EQ(count_descriptors(), descriptors);
    if (!IS_SANITIZED || point->nth % 4 == 1)
        CHECK_EQ(weft_run(&options, point->sweep->first, NULL), 21); /* and it works again */
    _exit(hits ? END_HIT : END_CLEAN);
}

static void sweep_one(struct sweep *sweep, long most) {
    for (long nth = 1; nth <= most; nth++) {
        struct point point = {.sweep = sweep, .nth = nth};
        struct child_end end = child_run(run_point, &point);
        bool is_right =
            WIFEXITED(end.status) && (WEXITSTATUS(end.status) == END_HIT || WEXITSTATUS(end.status) == END_CLEAN);
        if (!is_right)
            fprintf(stderr, "%s call %ld%s, errno %d: status %#x: %s\n", wf_fault_name(sweep->call), nth,
                    sweep->every ? " and all after it" : "", sweep->error, (unsigned)end.status, end.text);
        CHECK(is_right);
        sweep->points++;
        if (WEXITSTATUS(end.status) == END_CLEAN)
            return;
    }
}

static long total_points;

static void sweep_with(int (*workload)(void *arg), enum wf_system_call call, int error, bool with_every) {
    struct sweep one = {.call = call, .error = error, .first = workload};
    struct sweep every = {.call = call, .error = error, .first = workload, .every = true};
    sweep_one(&one, scaled(NTH_MAX, 8));
    if (with_every)
        sweep_one(&every, scaled(60, 4));
    printf("    %-14s errno %2d: %ld points\n", wf_fault_name(call), error, one.points + every.points);
    total_points += one.points + every.points;
}

static void sweep(enum wf_system_call call, int error, bool with_every) {
    sweep_with(first, call, error, with_every);
}

TEST(memory_may_be_refused_anywhere) {
    sweep(WF_CALL_ALLOC, ENOMEM, true);
    sweep(WF_CALL_MMAP, ENOMEM, true);
    sweep(WF_CALL_GUARD, ENOMEM, true);
    sweep(WF_CALL_GUARD, EINVAL, true);
    sweep(WF_CALL_GUARD, EAGAIN, true);
    sweep(WF_CALL_DISCARD, EINVAL, true);
    sweep(WF_CALL_DISCARD, EAGAIN, true);
}

TEST(memory_may_be_refused_to_whatever_waits) {
    sweep_with(wait_for_everything, WF_CALL_ALLOC, ENOMEM, true);
    sweep_with(wait_for_everything, WF_CALL_MMAP, ENOMEM, true);
    sweep_with(wait_for_everything, WF_CALL_GUARD, ENOMEM, true);
}

TEST(threads_may_be_refused) {
    sweep(WF_CALL_THREAD, EAGAIN, true);
    sweep(WF_CALL_THREAD, ENOMEM, true);
    sweep(WF_CALL_AFFINITY, EINVAL, true);
    sweep(WF_CALL_AFFINITY, ENOMEM, true);
    sweep(WF_CALL_ATFORK, ENOMEM, true);
    sweep(WF_CALL_SIGALTSTACK, ENOMEM, true);
    sweep(WF_CALL_SIGALTSTACK, EINVAL, true);
    sweep(WF_CALL_SIGACTION, EINVAL, true);
}

TEST(descriptors_may_be_refused) {
    sweep(WF_CALL_EPOLL_CREATE, EMFILE, true);
    sweep(WF_CALL_EPOLL_CREATE, ENFILE, true);
    sweep(WF_CALL_EPOLL_CREATE, ENOMEM, true);
    sweep(WF_CALL_EVENTFD, EMFILE, true);
    sweep(WF_CALL_EVENTFD, ENFILE, true);
    sweep(WF_CALL_EVENTFD, ENOMEM, true);
    sweep(WF_CALL_EPOLL_CTL, ENOMEM, true);
    sweep(WF_CALL_EPOLL_CTL, ENOSPC, true);
}

/* A write that is refused for ever would be a broken kernel: it is tried again until it succeeds. */
TEST(waits_may_be_interrupted_anywhere) {
    sweep(WF_CALL_FUTEX_WAIT, EINTR, true);
    sweep(WF_CALL_EPOLL_WAIT, EINTR, true);
    sweep(WF_CALL_EPOLL_WAIT, EINVAL, true);
    sweep(WF_CALL_EVENTFD_WRITE, EINTR, false);
    sweep(WF_CALL_EVENTFD_WRITE, EAGAIN, false);
    sweep(WF_CALL_EVENTFD_READ, EAGAIN, false);
}

TEST(the_sweep_was_a_wide_one) {
    printf("    %ld points in all\n", total_points);
    CHECK_GE(total_points, scaled(400, 60));
}
