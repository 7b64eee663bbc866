/* SPDX-License-Identifier: MIT
 *
 * unit/io/keeper_test.c - the thread that waits for descriptors on behalf of plain threads.
 *
 * The suite has started it before the first test; a child of a fork has none, so its start is tested there.
 */
#include "os/fault.h"
#include "support/child.h"
#include "unit/io/staged.h"

static void *read_one(void *opaque) {
    char byte = 0;
    CHECK_EQ(weft_read(*(weft_fd *)opaque, &byte, 1, WEFT_NEVER), 1);
    return (void *)(intptr_t)byte;
}

static void check_it_works(void) {
    io_open(IO_TCP, ends);
    pthread_t thread = thread_start(read_one, &ends[0]);
    COMPUTE_UNTIL(has_waiter(ends[0], WF_IO_READ));
    io_put(ends[1], "x");
    thread_join(thread);
    io_close(ends);
}

TEST(there_is_one_and_everybody_gets_the_same) {
    int error = 1;
    CHECK(wf_keeper_is_there());
    struct wf_sentries *sentries = wf_keeper(&error);
    CHECK(sentries);
    CHECK_EQ(error, 0);
    check_it_works();
    CHECK(wf_keeper(&error) == sentries);
    CHECK(!wf_keeper_is_telling() || wf_keeper_is_there());
}

/* More than one wait of the poller tells, and more than the first slots hold. */
TEST(many_threads_wait_for_descriptors_of_their_own) {
    enum { THREADS = 40, PAIRS = 150 };
    static weft_fd fds[PAIRS][2];
    pthread_t threads[THREADS];
    int error;
    for (int i = 0; i < PAIRS; i++) {
        io_open(IO_PAIR, fds[i]);
        CHECK_EQ(weft_wait_readable(fds[i][0], weft_after(1)), -ETIMEDOUT);
        CHECK(record_of(fds[i][0])->sentry.sentries == wf_keeper(&error));
    }
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(read_one, &fds[i][0]);
    for (int i = 0; i < PAIRS; i++)
        io_put(fds[i][1], (char[]){(char)(i % 100 + 1), 0});
    for (int i = 0; i < THREADS; i++) {
        void *got;
        CHECK_EQ(pthread_join(threads[i], &got), 0);
        CHECK_EQ((intptr_t)got, i + 1);
    }
    for (int i = 0; i < PAIRS; i++)
        io_close(fds[i]);
}

/* The descriptor is watched by the keeper, the one who waits is a fiber. */
static weft_fiber reader;
static void wait_in_a_fiber(void) {
    void *got;
    reader = spawn_parked(read_one, &ends[0]);
    io_put(ends[1], "x");
    JOIN(reader, &got);
    CHECK_EQ((intptr_t)got, 'x');
}
TEST(a_fiber_may_be_told_by_it_too) {
    for (int i = 0; i < 20; i++) {
        open_watched(IO_TCP);
        run_fibers(wait_in_a_fiber);
        io_close(ends);
    }
}

/* ---- Its start, in a child, which ThreadSanitizer cannot follow ---- */

static enum wf_system_call refused_call;
static int refused_error;

static void start_it_in_vain(void *arg) {
    (void)arg;
    CHECK(!wf_keeper_is_there());
    weft_case entry;
    io_open(IO_PAIR, ends);
    for (int i = 0; i < 2; i++) {
        wf_fault_order(refused_call, 1, refused_error, 0);
        CHECK_EQ(weft_read(ends[0], room, 1, weft_after(PATIENCE_NS)), -refused_error);
        wf_fault_order(refused_call, 1, refused_error, 0);
        entry = weft_on_readable(ends[0]);
        CHECK_EQ(weft_select(&entry, 1, weft_after(PATIENCE_NS)), 0);
        CHECK_EQ(entry.status, -refused_error);
    }
    wf_fault_order(refused_call, 0, 0, 0);
    io_close(ends);
    check_it_works();
    check_it_works();
    CHECK(wf_keeper_is_there());
}

TEST(a_start_that_fails_says_why_and_may_be_tried_again) {
    if (IS_THREAD_SANITIZED)
        return;
    const struct {
        enum wf_system_call call;
        int error;
    } cases[] = {{WF_CALL_EPOLL_CREATE, EMFILE}, {WF_CALL_EVENTFD, ENFILE}, {WF_CALL_EPOLL_CTL, ENOMEM},
                 {WF_CALL_EPOLL_CTL, ENOSPC},    {WF_CALL_THREAD, EAGAIN},  {WF_CALL_ALLOC, ENOMEM}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refused_call = cases[i].call;
        refused_error = cases[i].error;
        struct child_end end = child_run(start_it_in_vain, NULL);
        CHECK_CHILD_WELL(&end);
    }
}

static void fork_again(void *arg) {
    check_it_works();
    if (arg)
        return;
    struct child_end end = child_run(fork_again, room);
    CHECK_CHILD_WELL(&end);
    check_it_works();
}
TEST(every_process_has_its_own) {
    if (IS_THREAD_SANITIZED)
        return;
    struct child_end end = child_run(fork_again, NULL);
    CHECK_CHILD_WELL(&end);
    check_it_works();
}

/* Its signals are the program's other threads' to take. */
static void take_no_signal(void *arg) {
    sigset_t set;
    int taken;
    (void)arg;
    check_it_works();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    CHECK_EQ(kill(getpid(), SIGUSR1), 0); /* would end a process in which anybody takes it */
    CHECK_EQ(sigwait(&set, &taken), 0);
    CHECK_EQ(taken, SIGUSR1);
}
TEST(it_takes_no_signals_of_the_process) {
    if (IS_THREAD_SANITIZED)
        return;
    struct child_end end = child_run(take_no_signal, NULL);
    CHECK_CHILD_WELL(&end);
}
