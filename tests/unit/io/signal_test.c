/* SPDX-License-Identifier: MIT
 *
 * unit/io/signal_test.c - sets of signals when system calls fail.
 *
 * What is started once in a process is started again in the child of a fork, so those failures are tried there.
 */
#include "io/signal.h"

#include <signal.h>
#include <unistd.h>

#include "os/fault.h"
#include "os/memory.h"
#include "os/signals.h"
#include "support/child.h"
#include "support/parked.h"

static int open_both(weft_signals *signals) {
    return weft_signals_open(signals, (int[]){SIGUSR1, SIGUSR2}, 2);
}

__attribute__((constructor(101))) static void start_what_stays(void) {
    weft_signals signals;
    CHECK_EQ(open_both(&signals), 0);
    CHECK_EQ(weft_signals_close(signals), 0);
    WAIT_UNTIL(wf_os_live_blocks() == 0); /* the threads have begun */
}

static void check_default(int number) {
    struct sigaction now;
    CHECK_EQ(sigaction(number, NULL, &now), 0);
    CHECK(now.sa_handler == SIG_DFL);
}

static void check_failure(enum wf_system_call call, long nth, int error) {
    weft_signals signals = {7};
    wf_fault_order_here(call, nth, error, 0);
    CHECK_EQ(open_both(&signals), -error);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order_here(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(signals.bits, 7);
    check_default(SIGUSR1);
    check_default(SIGUSR2);
}

static void check_works(void) {
    weft_signals signals;
    weft_signal_info info;
    CHECK_EQ(open_both(&signals), 0);
    raise(SIGUSR2);
    CHECK_EQ(weft_signal_wait(signals, &info, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(info.number, SIGUSR2);
    CHECK_EQ(weft_signals_close(signals), 0);
    check_default(SIGUSR2);
}

TEST(a_signal_that_cannot_be_caught_leaves_the_others_alone) {
    check_failure(WF_CALL_SIGACTION, 1, EINVAL);
    check_failure(WF_CALL_SIGACTION, 2, EINVAL);
    check_works();
}

static void fail_first(void *arg) {
    (void)arg;
    check_failure(WF_CALL_THREAD, 1, EAGAIN);
    check_failure(WF_CALL_EPOLL_CREATE, 1, EMFILE);
    check_failure(WF_CALL_EVENTFD, 1, EMFILE); /* of the keeper */
    check_failure(WF_CALL_EVENTFD, 2, EMFILE);
    check_failure(WF_CALL_EPOLL_CTL, 1, ENOMEM);
    check_works();
}

TEST(the_first_set_stands_every_failure) {
    struct child_end end = child_run(fail_first, NULL);
    CHECK_CHILD_WELL(&end);
}

static void *wait_signals(void *arg) {
    CHECK_EQ(weft_signal_wait(*(weft_signals *)arg, NULL, WEFT_NEVER), -ESTALE);
    return NULL;
}

static void told_to_the_runtime(void) {
    weft_signals signals;
    CHECK_EQ(open_both(&signals), 0);
    CHECK(!wf_signals_are_awaited());
    weft_fiber fiber = spawn_parked(wait_signals, &signals);
    CHECK(wf_signals_are_awaited());
    CHECK_EQ(weft_signals_close(signals), 0);
    JOIN(fiber, NULL);
    CHECK(!wf_signals_are_awaited());
}

TEST(the_runtime_is_told_that_somebody_waits) {
    run_fibers(told_to_the_runtime);
}

TEST(names_of_closed_sets_stay_stale) {
    weft_signals old[40];
    for (int i = 0; i < 40; i++)
        CHECK_EQ(open_both(&old[i]), 0);
    for (int i = 0; i < 40; i++)
        CHECK_EQ(weft_signals_close(old[i]), 0);
    for (int round = 0; round < 3; round++) {
        weft_signals signals;
        CHECK_EQ(open_both(&signals), 0);
        for (int i = 0; i < 40; i++)
            CHECK_EQ(weft_signal_wait(old[i], NULL, WEFT_NOW), -ESTALE);
        CHECK_EQ(weft_signals_close(signals), 0);
    }
}
