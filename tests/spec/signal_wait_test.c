/* SPDX-License-Identifier: MIT
 *
 * spec/signal_wait_test.c - signals that fibers and threads wait for.
 *
 * Signals are sent to the process, so that any thread which does not block them takes them: the one that called weft_run. A
 * signal that was handled is found by the next call that looks, so after raise on a thread that does not block it there is
 * nothing to wait for.
 */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spec/cancelled.h"
#include "support/child.h"
#include "support/run.h"
#include "weft/process.h"
#include "weft/signal.h"

static weft_signals open_signals(int first, int second) {
    weft_signals signals;
    int numbers[] = {first, second};
    CHECK_EQ(weft_signals_open(&signals, numbers, second ? 2 : 1), 0);
    return signals;
}

static void close_signals(weft_signals signals) {
    CHECK_EQ(weft_signals_close(signals), 0);
    CHECK_EQ(weft_signals_close(signals), -ESTALE);
}

__attribute__((constructor(101))) static void start_what_stays(void) {
    weft_process process;
    close_signals(open_signals(SIGUSR1, 0));
    CHECK_EQ(weft_process_spawn(&process, (const char *[]){"true", NULL}, NULL, NULL), 0);
    CHECK_EQ(weft_process_wait(process, NULL, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_process_free(process), 0);
}

static weft_signal_info wait_signal(weft_signals signals) {
    weft_signal_info info;
    CHECK_EQ(weft_signal_wait(signals, &info, weft_after(PATIENCE_NS)), 0);
    return info;
}

static void *raise_here(void *arg) {
    sigset_t all;
    sigfillset(&all);
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &all, NULL), 0);
    CHECK_EQ(raise(*(int *)arg), 0);
    return NULL;
}

/* ThreadSanitizer holds a signal back until the thread that took it calls a function which it knows, and one that sleeps in
 * weft does not. So there it goes to a thread of its own. */
static void signal_self(int number) {
    if (IS_THREAD_SANITIZED)
        thread_join(thread_start(raise_here, &number));
    else
        CHECK_EQ(kill(getpid(), number), 0);
}

static void check_silent(weft_signals signals) {
    CHECK_EQ(weft_signal_wait(signals, NULL, WEFT_NOW), -ETIMEDOUT);
}

static void told(void) {
    weft_signals signals = open_signals(SIGUSR1, SIGUSR2);
    check_silent(signals);
    signal_self(SIGUSR2);
    weft_signal_info info = wait_signal(signals);
    CHECK_EQ(info.number, SIGUSR2);
    CHECK_EQ(info.count, 1);
    CHECK_EQ(info.sender, getpid());
    CHECK_EQ(info.user, getuid());
    check_silent(signals);
    signal_self(SIGUSR1);
    CHECK_EQ(wait_signal(signals).number, SIGUSR1);
    close_signals(signals);
}

TEST(a_signal_is_told_once_with_who_sent_it) {
    run_fibers(told);
}

TEST(a_plain_thread_needs_no_runtime) {
    told();
}

/* On a thread that does not block it: handled when raise returns. */
TEST(what_comes_again_is_counted) {
    weft_signals signals = open_signals(SIGUSR1, SIGUSR2);
    for (int i = 0; i < 5; i++)
        raise(SIGUSR1);
    raise(SIGUSR2);
    raise(SIGUSR1);
    weft_signal_info info = wait_signal(signals);
    CHECK_EQ(info.number, SIGUSR1);
    CHECK_EQ(info.count, 6);
    raise(SIGUSR1);
    CHECK_EQ(wait_signal(signals).number, SIGUSR2); /* they take turns */
    CHECK_EQ(wait_signal(signals).count, 1);
    check_silent(signals);
    close_signals(signals);
}

TEST(every_set_gets_it_and_none_that_was_opened_later) {
    weft_signals first = open_signals(SIGUSR1, 0), second = open_signals(SIGUSR1, SIGUSR2);
    raise(SIGUSR1);
    weft_signals third = open_signals(SIGUSR1, 0);
    CHECK_EQ(wait_signal(first).count, 1);
    CHECK_EQ(wait_signal(second).count, 1);
    check_silent(third);
    close_signals(first);
    raise(SIGUSR1);
    CHECK_EQ(wait_signal(second).count, 1);
    CHECK_EQ(wait_signal(third).count, 1);
    CHECK_EQ(weft_signal_wait(first, NULL, WEFT_NEVER), -ESTALE);
    close_signals(second);
    close_signals(third);
}

static void refusals(void) {
    weft_signals signals;
    const int bad[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
                       SIGSYS,  SIGURG,  0,       -1,     32,     65,     1 << 30};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_EQ(weft_signals_open(&signals, (int[]){SIGUSR1, bad[i]}, 2), -EINVAL);
    CHECK_EQ(weft_signals_open(NULL, (int[]){SIGUSR1}, 1), -EINVAL);
    CHECK_EQ(weft_signals_open(&signals, NULL, 1), -EINVAL);
    CHECK_EQ(weft_signals_open(&signals, (int[]){SIGUSR1}, 0), -EINVAL);
    CHECK_EQ(weft_signal_wait(WEFT_NO_SIGNALS, NULL, WEFT_NEVER), -ESTALE);
    CHECK_EQ(weft_signals_close((weft_signals){~UINT64_C(0)}), -ESTALE);
    weft_case none = weft_on_signal(WEFT_NO_SIGNALS, NULL);
    CHECK_EQ(weft_select(&none, 1, WEFT_NEVER), 0);
    CHECK_EQ(none.status, -ESTALE);
}

TEST(what_cannot_be_waited_for_is_refused) {
    run_fibers(refusals);
}

struct waiting {
    weft_signals signals;
    int status;
    weft_signal_info info;
};

static void *wait_signals(void *arg) {
    struct waiting *waiting = arg;
    waiting->status = weft_signal_wait(waiting->signals, &waiting->info, WEFT_NEVER);
    return NULL;
}

static void waits_end_early(void) {
    weft_signals signals = open_signals(SIGUSR1, 0);
    struct waiting cancelled = {.signals = signals}, closed = cancelled;
    CHECK_EQ(weft_signal_wait(signals, NULL, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    cancelled_run(&(struct cancelled){.fn = wait_signals, .arg = &cancelled});
    CHECK_EQ(cancelled.status, -ECANCELED);
    weft_fiber fiber = spawn_parked(wait_signals, &closed);
    close_signals(signals);
    JOIN(fiber, NULL);
    CHECK_EQ(closed.status, -ESTALE);
}

TEST(waiting_ends_by_deadline_cancellation_and_close) {
    run_fibers(waits_end_early);
}

/* Parked ones, in the order in which they came; and a thread in another set. */
static void parked_are_woken(void) {
    weft_signals signals = open_signals(SIGUSR1, 0), other = open_signals(SIGUSR1, SIGUSR2);
    struct waiting waiting[2] = {{.signals = signals}, {.signals = signals}}, outside = {.signals = other};
    weft_fiber first = spawn_parked(wait_signals, &waiting[0]), second = spawn_parked(wait_signals, &waiting[1]);
    struct on_thread_call thread;
    on_thread_start(&thread, wait_signals, &outside);
    signal_self(SIGUSR1);
    JOIN(first, NULL);
    on_thread_finish(&thread);
    CHECK_EQ(waiting[0].info.number, SIGUSR1);
    CHECK_EQ(outside.info.number, SIGUSR1);
    CHECK(is_parked(second));
    signal_self(SIGUSR1);
    JOIN(second, NULL);
    CHECK_EQ(waiting[1].info.number, SIGUSR1);
    close_signals(signals);
    close_signals(other);
}

TEST(those_who_wait_are_woken_one_a_signal) {
    run_fibers(parked_are_woken);
}

static void selects(void) {
    weft_signals first = open_signals(SIGUSR1, 0), second = open_signals(SIGUSR2, 0);
    weft_signal_info info[2];
    weft_case cases[] = {weft_on_signal(first, &info[0]), weft_on_signal(second, &info[1])};
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), -ETIMEDOUT);
    for (int i = 0; i < 20; i++) {
        int which = i % 2;
        signal_self(which ? SIGUSR2 : SIGUSR1);
        CHECK_EQ(weft_select(cases, 2, weft_after(PATIENCE_NS)), which);
        CHECK_EQ(cases[which].status, 0);
        CHECK_EQ(info[which].number, which ? SIGUSR2 : SIGUSR1);
        CHECK_EQ(info[which].count, 1);
    }
    CHECK_EQ(weft_select(cases, 2, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    close_signals(first);
    close_signals(second);
}

TEST(a_signal_is_a_case_of_select) {
    run_fibers(selects);
}

static atomic_int own_calls;

static void own_handler(int number) {
    (void)number;
    atomic_fetch_add(&own_calls, 1);
}

TEST(what_the_program_did_with_a_signal_comes_back) {
    struct sigaction own = {.sa_handler = own_handler}, now;
    sigemptyset(&own.sa_mask);
    CHECK_EQ(sigaction(SIGUSR1, &own, NULL), 0);
    weft_signals signals = open_signals(SIGUSR1, 0), more = open_signals(SIGUSR1, 0);
    raise(SIGUSR1);
    close_signals(signals);
    raise(SIGUSR1);
    CHECK_EQ(atomic_load(&own_calls), 0);
    CHECK_EQ(wait_signal(more).count, 2);
    close_signals(more);
    raise(SIGUSR1);
    CHECK_EQ(atomic_load(&own_calls), 1);

    signals = open_signals(SIGUSR1, 0); /* one that is installed meanwhile stays */
    own.sa_handler = SIG_IGN;
    CHECK_EQ(sigaction(SIGUSR1, &own, NULL), 0);
    close_signals(signals);
    CHECK_EQ(sigaction(SIGUSR1, NULL, &now), 0);
    CHECK(now.sa_handler == SIG_IGN);
    signal(SIGUSR1, SIG_DFL);
}

/* Signals at 1 kHz, one kind handled by the program and one waited for, while all workers switch. */
static atomic_int is_over;

static void *switch_hard(void *arg) {
    volatile uint64_t words[64];
    for (int i = 0; i < 64; i++)
        words[i] = (uint64_t)(uintptr_t)arg * (uint64_t)(i + 1);
    while (!atomic_load(&is_over)) {
        weft_yield();
        for (int i = 0; i < 64; i += 7)
            CHECK(words[i] == (uint64_t)(uintptr_t)arg * (uint64_t)(i + 1));
    }
    return NULL;
}

static void ticks(void) {
    enum { FIBERS = 8 };
    uint64_t wanted =
        wf_test_workers() > 2 ? 40 : 200; /* the kernel merges what comes while others have its processor */
    weft_fiber fibers[FIBERS];
    struct itimerval often = {.it_interval = {0, 1000}, .it_value = {0, 1000}}, never = {0};
    weft_signals alarms = open_signals(SIGALRM, 0);
    uint64_t count = 0;
    long waits = 0;
    atomic_store(&is_over, 0);
    for (uintptr_t i = 0; i < FIBERS; i++)
        SPAWN(&fibers[i], switch_hard, (void *)(i + 1));
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_PROF, &often, NULL), 0);
    for (; count < wanted; waits++) {
        weft_signal_info info = wait_signal(alarms);
        CHECK_EQ(info.number, SIGALRM);
        CHECK_EQ(info.sender, 0);
        count += info.count;
    }
    CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_PROF, &never, NULL), 0);
    atomic_store(&is_over, 1);
    for (int i = 0; i < FIBERS; i++)
        JOIN(fibers[i], NULL);
    printf("    %llu signals in %ld waits, %d handled\n", (unsigned long long)count, waits, atomic_load(&own_calls));
    signal(SIGPROF, SIG_IGN); /* one may still be under way */
    signal_self(SIGALRM);     /* the last one that is */
    wait_signal(alarms);
    close_signals(alarms);
}

TEST(signals_at_a_kilohertz_are_waited_for_while_fibers_switch) {
    struct sigaction own = {.sa_handler = own_handler, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigemptyset(&own.sa_mask);
    signal(SIGALRM, SIG_IGN);
    CHECK_EQ(sigaction(SIGPROF, &own, NULL), 0);
    run_fibers(ticks);
}

/* In the child of a fork signals do what they did, and it may wait for signals of its own. */
static void fork_child(void *arg) {
    weft_signals inherited = *(weft_signals *)arg;
    struct sigaction now;
    CHECK_EQ(weft_signal_wait(inherited, NULL, WEFT_NOW), -ESTALE);
    CHECK_EQ(sigaction(SIGUSR1, NULL, &now), 0);
    CHECK(now.sa_handler == SIG_DFL);
    weft_signals own = open_signals(SIGUSR1, 0);
    raise(SIGUSR1);
    CHECK_EQ(wait_signal(own).count, 1);
    if (!IS_THREAD_SANITIZED) /* which knows no threads that begin after a fork */
        run_fibers(told);
}

TEST(a_forked_child_begins_without_any) {
    weft_signals signals = open_signals(SIGUSR1, 0);
    struct child_end end = child_run(fork_child, &signals);
    CHECK_CHILD_WELL(&end);
    check_silent(signals);
    raise(SIGUSR1);
    CHECK_EQ(wait_signal(signals).count, 1);
    close_signals(signals);
}

/* A child is not told what its parent waits for, and its end is a signal like others. */
static void children(void) {
    weft_signals signals = open_signals(SIGCHLD, SIGTERM);
    weft_process process;
    weft_process_end end;
    CHECK_EQ(weft_process_spawn(&process, (const char *[]){"sh", "-c", "kill -TERM $$", NULL}, NULL, NULL), 0);
    CHECK_EQ(weft_process_wait(process, &end, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(end.signal, SIGTERM);
    weft_signal_info info = wait_signal(signals);
    CHECK_EQ(info.number, SIGCHLD);
    CHECK_EQ(info.sender, weft_process_id(process));
    CHECK_EQ(weft_process_free(process), 0);
    close_signals(signals);
}

TEST(children_have_default_handling) {
    if (!IS_THREAD_SANITIZED) /* as above: nobody can say which thread takes SIGCHLD */
        run_fibers(children);
}
