/* SPDX-License-Identifier: MIT
 *
 * fault/loop_test.c - memory, descriptors and waits are refused to a loop, at every place.
 *
 * A workload that uses all of a loop is run again and again; in run n the n-th call of one kind fails, until a run passes in
 * which none did; then once more with all calls failing from the n-th on. Each run is a forked child with a time limit. A
 * call that returns an error has changed nothing; one that returns 0 has its callback once. A loop that could not go on says
 * so and can be run again, but for one whose epoll is broken: that one ends. Nothing is left when it is freed.
 *
 * The owner is a plain thread or a fiber, and sleeps on a word or in epoll.
 */
#include <sys/eventfd.h>

#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/descriptors.h"
#include "support/run.h"
#include "weft/loop_promise.h"

enum { WORKERS = 2, SUBMITS = 12, TIMERS = 66, FDS = 3, BROUGHT = 8, TICKS = 3, ACCOUNTS = 400, NTH_MAX = 150 };

struct account {
    bool was_accepted;
    int wanted; /* how often it has to run */
    int runs;   /* the owner's */
    int fd;
    weft_loop_timer timer;
};

struct workload {
    bool is_fiber;
    weft_loop_fast fast;
};

static struct account accounts[ACCOUNTS];
static atomic_int next_account;
static weft_loop *loop;
static int fds[FDS];
static weft_semaphore permits;
static weft_promise *promise, *derived, *gathered, *slept, *worked;
static bool has_runtime;
static atomic_int is_through; /* nobody runs it any more */
static bool is_broken;        /* it has ended before its time */

static struct account *account_new(void) {
    int number = atomic_fetch_add(&next_account, 1);
    CHECK(number < ACCOUNTS);
    accounts[number].fd = -1;
    return &accounts[number];
}

static bool is_shortage(int status) {
    return status == -ENOMEM || status == -EMFILE || status == -ENFILE || status == -ENOSPC;
}

/* What was not accepted may not run; after the end nothing is accepted. */
static bool accepted(struct account *account, int status) {
    CHECK(status == 0 || is_shortage(status) || (status == -EPIPE && is_broken));
    account->was_accepted = status == 0;
    account->wanted = status == 0;
    return status == 0;
}

static void count(void *opaque) {
    struct account *account = opaque;
    account->runs++;
}

/* ---- The owner's callbacks ---- */

static void add_more(void *opaque) {
    struct account *micro = account_new(), *tick = account_new(), *timer = account_new(), *immediate = account_new();
    count(opaque);
    accepted(micro, weft_loop_microtask(loop, count, micro));
    accepted(tick, weft_loop_next_tick(loop, count, tick));
    accepted(timer, weft_set_timeout(loop, NULL, 20 * WEFT_MICROSECOND, count, timer));
    accepted(immediate, weft_set_immediate(loop, NULL, count, immediate));
}

static void tick(void *opaque) {
    struct account *account = opaque;
    if (++account->runs == TICKS)
        CHECK_EQ(weft_clear_timer(loop, account->timer), 0);
}

static void read_once(int fd, unsigned events, void *opaque) {
    uint64_t value;
    CHECK(events & WEFT_FD_READ);
    CHECK_EQ(read(fd, &value, sizeof value), sizeof value);
    CHECK_EQ(weft_loop_fd_remove(loop, fd), 0);
    count(opaque);
}

static void take_permit(int status, void *opaque) {
    CHECK(status == 0 || status == -ENOMEM);
    count(opaque);
}

static weft_reply add_one(void *value, void *opaque) {
    count(opaque);
    return weft_reply_value((char *)value + 1);
}

/* ---- What is done to it ---- */

static weft_reply work(void *opaque) {
    int *entered = opaque;
    weft_yield();
    ++*entered;
    return weft_reply_value(opaque);
}

/* On a fiber of the owner's runtime: fn has run, or the promise says why not. */
static int work_entered;
static void promisify(void *opaque) {
    count(opaque);
    if (!has_runtime)
        return;
    int status = weft_loop_promisify(loop, &worked, NULL, work, &work_entered);
    CHECK(status == 0 || is_shortage(status) || status == -EAGAIN);
}

static void submit_in_every_way(void) {
    int (*const ways[])(weft_loop *, weft_loop_fn, void *) = {
        weft_loop_submit,         weft_loop_submit_internal, weft_loop_microtask,   weft_loop_next_tick,
        weft_loop_checkpoint_end, weft_loop_close_callback,  weft_loop_submit_poll,
    };
    for (int i = 0; i < SUBMITS; i++) {
        struct account *account = account_new();
        accepted(account, ways[i % 7](loop, i % 7 ? count : add_more, account));
    }
}

/* Enough for a second chunk of records, and for the heap to grow; with one that is cleared again. */
static void set_timers(void) {
    for (int i = 0; i < TIMERS; i++) {
        struct account *account = account_new();
        if (accepted(account, weft_set_timeout(loop, &account->timer, i * WEFT_MICROSECOND, count, account)) &&
            i % 7 == 0) {
            CHECK_EQ(weft_clear_timer(loop, account->timer), 0);
            account->wanted = 0;
        }
    }
    struct account *interval = account_new();
    if (accepted(interval, weft_set_interval(loop, &interval->timer, 10 * WEFT_MICROSECOND, tick, interval)))
        interval->wanted = TICKS;
    struct account *immediate = account_new();
    accepted(immediate, weft_set_immediate(loop, NULL, count, immediate));
}

static void watch_descriptors(void) {
    for (int i = 0; i < FDS; i++) {
        struct account *account = account_new();
        fds[i] = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK_GE(fds[i], 0);
        if (!accepted(account, weft_loop_fd_add(loop, fds[i], WEFT_FD_READ | WEFT_FD_WRITE, read_once, account))) {
            CHECK_EQ(weft_loop_fd_modify(loop, fds[i], WEFT_FD_READ), -ENOENT);
            continue;
        }
        int status = weft_loop_fd_modify(loop, fds[i], WEFT_FD_READ);
        CHECK(status == 0 || is_shortage(status));
        if (status == 0)
            continue;
        CHECK_EQ(weft_loop_fd_remove(loop, fds[i]), 0); /* else it were ready for what it is not asked for */
        account->wanted = 0;
    }
}

static void promise_something(void) {
    struct account *reaction = account_new(), *taken = account_new(), *sent = account_new();
    promise = derived = gathered = slept = worked = NULL;
    work_entered = 0;
    if (weft_loop_promise(loop, &promise) == 0) {
        accepted(reaction, weft_loop_then(loop, promise, &derived, add_one, NULL, reaction));
        CHECK_EQ(weft_promise_resolve(promise, (void *)1), 0);
    }
    weft_promise *inputs[] = {promise, derived};
    int status = weft_loop_sleep_promise(loop, &slept, 30 * WEFT_MICROSECOND);
    CHECK(status == 0 || is_shortage(status));
    if (promise && derived) {
        status = weft_loop_all(loop, &gathered, inputs, 2);
        CHECK(status == 0 || is_shortage(status));
    }
    accepted(sent, weft_loop_submit(loop, promisify, sent));
    permits = (weft_semaphore)WEFT_SEMAPHORE_INIT(1);
    accepted(taken, weft_loop_once(loop, NULL, weft_on_semaphore(&permits), take_permit, taken));
}

/* Another thread, which finds it asleep whenever that can be. */
static void *bring_more(void *arg) {
    for (int i = 0; i < BROUGHT; i++) {
        while (weft_loop_get_state(loop) != WEFT_LOOP_SLEEPING && !atomic_load(&is_through))
            sched_yield();
        struct account *account = account_new();
        int status = weft_loop_submit(loop, count, account);
        CHECK(status == 0 || status == -ENOMEM || status == -EPIPE);
        account->was_accepted = status == 0;
        account->wanted = status == 0;
    }
    weft_loop_unkeep(loop);
    return arg;
}

static void run_to_its_end(bool is_fiber) {
    for (int i = 0; !is_broken && weft_loop_get_state(loop) != WEFT_LOOP_TERMINATED; i++) {
        int status = weft_loop_run(loop, WEFT_LOOP_UNTIL_QUIET, WEFT_NEVER);
        if (status == 0)
            continue;
        is_broken = weft_loop_get_state(loop) == WEFT_LOOP_TERMINATED;
        if (!is_broken && !is_shortage(status))
            fprintf(stderr, "weft_loop_run returned %d\n", status);
        CHECK(is_broken || is_shortage(status));
        if (i == 20) /* there is never enough: without */
            wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
        if (is_fiber)
            weft_yield();
    }
}

static int run_in_fiber(void *arg) {
    run_to_its_end(true);
    (void)arg;
    return 0;
}

static void check_accounts(void) {
    for (int i = 0; i < atomic_load(&next_account); i++) {
        const struct account *account = &accounts[i];
        bool is_right = is_broken ? account->runs <= account->wanted : account->runs == account->wanted;
        if (!is_right)
            fprintf(stderr, "account %d: accepted %d, wanted %d, runs %d\n", i, account->was_accepted, account->wanted,
                    account->runs);
        CHECK(is_right);
    }
}

/* All are settled now, and those that could be kept were: a shortage shows as an error of the call, or of the outcome. */
static void check_promises(void) {
    weft_promise *all[] = {derived, gathered, slept, worked};
    weft_outcome outcome;
    for (int i = 0; i < 4; i++) {
        if (!all[i])
            continue;
        CHECK_EQ(weft_promise_await(all[i], &outcome, WEFT_NOW), 0);
        bool is_kept = outcome.state == WEFT_PROMISE_RESOLVED;
        CHECK(is_kept || is_shortage(outcome.error) || outcome.error == -EAGAIN ||
              (is_broken && outcome.error == -EPIPE));
        if (i == 0 && is_kept)
            CHECK_EQ(outcome.value, (void *)2);
        if (i == 3)
            CHECK(is_broken || work_entered == is_kept);
        weft_promise_unref(all[i]);
    }
    weft_promise_unref(promise);
}

/* Returns how often a call was made to fail. */
static long use_loop(const struct workload *workload) {
    weft_loop_options options = {.name = "sweep", .fast = workload->fast, .metrics = true};
    weft_options fibers = {.workers = WORKERS, .quiet = true};
    memset(accounts, 0, sizeof accounts);
    atomic_store(&next_account, 0);
    atomic_store(&is_through, 0);
    is_broken = false;
    has_runtime = workload->is_fiber;
    memset(fds, -1, sizeof fds);
    int status = weft_loop_new(&loop, &options);
    CHECK(status == 0 || status == -ENOMEM);
    if (status)
        return wf_fault_hits();
    CHECK_EQ(weft_loop_keep(loop), 0);
    submit_in_every_way();
    set_timers();
    watch_descriptors();
    promise_something();
    pthread_t other = thread_start(bring_more, NULL);
    if (workload->is_fiber) {
        status = weft_run(&fibers, run_in_fiber, NULL);
        CHECK(status == 0 || is_shortage(status) || status == -EAGAIN);
        is_broken = is_broken || status != 0;
    } else {
        run_to_its_end(false);
    }
    atomic_store(&is_through, 1);
    status = weft_loop_close(loop, WEFT_NEVER);
    CHECK(status == (is_broken && status == 0 ? 0 : -EPIPE));
    thread_join(other);
    long hits = wf_fault_hits();
    check_accounts();
    check_promises();
    for (int i = 0; i < FDS; i++)
        CHECK(fds[i] < 0 || close(fds[i]) == 0);
    weft_loop_unref(loop);
    return hits;
}

/* ---- The sweep ---- */

struct point {
    enum wf_system_call call;
    int error;
    bool every;
    long nth;
    struct workload workload;
};

enum { END_HIT = 40, END_CLEAN = 41 };

static void run_point(void *opaque) {
    const struct point *point = opaque;
    unsetenv("WEFT_WORKERS");
    int descriptors = count_descriptors();
    alarm(30);
    wf_fault_order(point->call, point->nth, point->error, point->every);
    long hits = use_loop(&point->workload);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
    CHECK(hits > 0 || !is_broken);
    CHECK_EQ(wf_os_live_blocks(), 0);
    CHECK_EQ(wf_os_mapped_bytes(), 0);
    CHECK_EQ(count_descriptors(), descriptors);
    if (point->nth % 8 == 1) {
        CHECK_EQ(use_loop(&point->workload), 0);
        CHECK(!is_broken);
    }
    _exit(hits ? END_HIT : END_CLEAN);
}

static long total_points;

static void sweep_one(struct point point, long most) {
    for (point.nth = 1; point.nth <= most; point.nth++) {
        struct child_end end = child_run(run_point, &point);
        bool is_right =
            WIFEXITED(end.status) && (WEXITSTATUS(end.status) == END_HIT || WEXITSTATUS(end.status) == END_CLEAN);
        if (!is_right)
            fprintf(stderr, "%s call %ld%s, errno %d, %s, %d: status %#x: %s\n", wf_fault_name(point.call), point.nth,
                    point.every ? " and all after it" : "", point.error, point.workload.is_fiber ? "fiber" : "thread",
                    point.workload.fast, (unsigned)end.status, end.text);
        CHECK(is_right);
        total_points++;
        if (WEXITSTATUS(end.status) == END_CLEAN)
            return;
    }
}

static void sweep(enum wf_system_call call, int error, bool with_every) {
    long before = total_points;
    for (int way = 0; way < 4; way += IS_SANITIZED ? 3 : 1) { /* a child costs much there */
        struct workload workload = {.is_fiber = way & 2,
                                    .fast = way & 1 ? WEFT_LOOP_FAST_DISABLED : WEFT_LOOP_FAST_AUTO};
        sweep_one((struct point){.call = call, .error = error, .workload = workload}, scaled(NTH_MAX, 3));
        if (with_every)
            sweep_one((struct point){.call = call, .error = error, .workload = workload, .every = true}, scaled(6, 2));
    }
    printf("    %-14s errno %2d: %ld points\n", wf_fault_name(call), error, total_points - before);
}

TEST(memory_may_be_refused_to_a_loop_anywhere) {
    sweep(WF_CALL_ALLOC, ENOMEM, true);
    sweep(WF_CALL_MMAP, ENOMEM, false);
}

TEST(descriptors_may_be_refused_to_a_loop) {
    sweep(WF_CALL_EPOLL_CREATE, EMFILE, true);
    sweep(WF_CALL_EVENTFD, ENFILE, true);
    sweep(WF_CALL_DUPLICATE, EMFILE, true);
    sweep(WF_CALL_EPOLL_CTL, ENOMEM, true);
    sweep(WF_CALL_EPOLL_CTL, ENOSPC, false);
}

TEST(waits_of_a_loop_may_be_interrupted_or_fail) {
    sweep(WF_CALL_FUTEX_WAIT, EINTR, false);
    sweep(WF_CALL_EPOLL_WAIT, EINTR, false);
    sweep(WF_CALL_EPOLL_WAIT, EBADF, true);
    sweep(WF_CALL_EVENTFD_WRITE, EINTR, false);
    sweep(WF_CALL_EVENTFD_READ, EINTR, false);
}

TEST(the_sweep_of_the_loop_was_a_wide_one) {
    printf("    %ld points in all\n", total_points);
    CHECK_GE(total_points, scaled(200, 40));
}
