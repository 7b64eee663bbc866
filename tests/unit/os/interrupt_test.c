/* SPDX-License-Identifier: MIT
 *
 * unit/os/interrupt_test.c - ending a system call of another thread.
 *
 * What SIGURG does is looked at once in a process, so every test that asks has a child of its own.
 */
#include <fcntl.h>

#include "base/atomic.h"
#include "os/fault.h"
#include "os/signal.h"
#include "os/thread.h"
#include "support/child.h"
#include "support/run.h"

static int interrupt_pipe[2];
static _Atomic int64_t reader_id;
static atomic_int reader_ended;
static atomic_int own_calls;

static void read_until_interrupted(void *opaque) {
    char byte;
    bool *is_allowed_late = opaque;
    sigset_t mask;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    CHECK_EQ(sigismember(&mask, SIGURG), 1);
    if (!*is_allowed_late)
        wf_os_interrupt_allow();
    wf_store_release(&reader_id, wf_os_thread_id());
    wf_os_interrupt_allow();
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    CHECK_EQ(sigismember(&mask, SIGURG), 0);
    ssize_t got = read(interrupt_pipe[0], &byte, 1);
    CHECK_EQ(got, -1);
    CHECK_EQ(errno, EINTR);
    atomic_store(&reader_ended, 1);
}

static void interrupt_a_reader(void *opaque) {
    struct wf_os_thread thread;
    CHECK_EQ(pipe2(interrupt_pipe, O_CLOEXEC), 0);
    CHECK_EQ(wf_os_interrupt_prepare(), 0);
    CHECK_EQ(wf_os_interrupt_prepare(), 0);
    CHECK_EQ(wf_os_thread_start(&thread, "reader", read_until_interrupted, opaque), 0);
    WAIT_UNTIL(wf_load_acquire(&reader_id) != 0);
    WAIT_UNTIL(wf_os_interrupt(wf_load_relaxed(&reader_id)) != 0 ||
               atomic_load(&reader_ended)); /* it may be too early */
    wf_os_thread_join(&thread);
}

TEST(a_thread_that_is_blocked_in_a_system_call_is_interrupted) {
    for (int i = 0; i < 2; i++) {
        bool is_allowed_late = i;
        struct child_end end = child_run(interrupt_a_reader, &is_allowed_late);
        CHECK_CHILD_WELL(&end);
    }
}

static void count_own_call(int signal) {
    (void)signal;
    atomic_fetch_add(&own_calls, 1);
}

static void keep_own_handler(void *opaque) {
    (void)opaque;
    struct sigaction now;
    signal(SIGURG, count_own_call);
    CHECK_EQ(wf_os_interrupt_prepare(), 0);
    CHECK_EQ(sigaction(SIGURG, NULL, &now), 0);
    CHECK(now.sa_handler == count_own_call);
    CHECK_EQ(wf_os_interrupt(wf_os_thread_id()), 0);
    CHECK_EQ(atomic_load(&own_calls), 1);
}

static void keep_ignoring(void *opaque) {
    (void)opaque;
    struct sigaction now;
    signal(SIGURG, SIG_IGN);
    CHECK_EQ(wf_os_interrupt_prepare(), 0);
    CHECK_EQ(sigaction(SIGURG, NULL, &now), 0);
    CHECK(now.sa_handler == SIG_IGN);
    CHECK_EQ(wf_os_interrupt(wf_os_thread_id()), 0);
}

TEST(what_the_program_does_with_the_signal_is_left_alone) {
    struct child_end end = child_run(keep_own_handler, NULL);
    CHECK_CHILD_WELL(&end);
    end = child_run(keep_ignoring, NULL);
    CHECK_CHILD_WELL(&end);
}

static void meet_errors(void *opaque) {
    (void)opaque;
    struct sigaction now;
    wf_fault_order(WF_CALL_SIGACTION, 1, EINVAL, 0);
    CHECK_EQ(wf_os_interrupt_prepare(), -EINVAL);
    CHECK_EQ(sigaction(SIGURG, NULL, &now), 0);
    CHECK(now.sa_handler == SIG_DFL);
    CHECK_EQ(wf_os_interrupt_prepare(), 0); /* a failure is not remembered */
    CHECK_EQ(sigaction(SIGURG, NULL, &now), 0);
    CHECK(now.sa_handler != SIG_DFL);
    CHECK_EQ(now.sa_flags & SA_RESTART, 0);
    wf_fault_order(WF_CALL_INTERRUPT, 1, EAGAIN, 0);
    CHECK_EQ(wf_os_interrupt(wf_os_thread_id()), -EAGAIN);
    CHECK_EQ(wf_os_interrupt(wf_os_thread_id()), 0);
    CHECK_EQ(wf_os_interrupt(INT32_MAX), -ESRCH);
    CHECK_EQ(wf_os_interrupt(0), -EINVAL);
    CHECK_EQ(wf_os_interrupt(-1), -EINVAL);
    wf_fault_order(WF_CALL_COUNT, 0, 0, 0);
}

TEST(errors_of_interrupting_are_returned) {
    struct child_end end = child_run(meet_errors, NULL);
    CHECK_CHILD_WELL(&end);
}
