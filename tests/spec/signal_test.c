/* SPDX-License-Identifier: MIT
 *
 * spec/signal_test.c - signals that hit the middle of switches leave no trace.
 *
 * A thousand signals a second, with handlers that use the stack they are given, while every worker switches as fast as
 * it can; fibers check what they have on their stacks and in their registers. And a SIGSEGV that somebody sent, with no
 * instruction at fault, does what it does in a program without weft.
 */
#include <signal.h>
#include <sys/time.h>

#include "support/child.h"
#include "support/run.h"

enum { FIBERS = 32 };

static atomic_long handled;
static atomic_int is_over;

static __attribute__((noinline)) void use_stack(volatile char *area, int size) {
    for (int i = 0; i < size; i++)
        area[i] = (char)0xA5;
}

static void on_signal(int number) {
    volatile char area[4096];
    int kept = errno;
    (void)number;
    use_stack(area, sizeof area);
    atomic_fetch_add(&handled, 1);
    errno = kept;
}

static void *switch_hard(void *arg) {
    uint64_t seed = (uint64_t)(uintptr_t)arg * 0x9E3779B97F4A7C15u + 1;
    volatile uint64_t words[64];
    double sum = 0;
    long rounds = 0;
    for (int i = 0; i < 64; i++)
        words[i] = seed * (uint64_t)(i + 1);
    while (!atomic_load(&is_over)) {
        sum += 0.5;
        weft_yield();
        rounds++;
        for (int i = 0; i < 64; i += 7)
            CHECK(words[i] == seed * (uint64_t)(i + 1));
        CHECK(sum == (double)rounds * 0.5);
    }
    return NULL;
}

static void switch_under_fire(void) {
    weft_fiber fibers[FIBERS];
    atomic_store(&is_over, 0);
    atomic_store(&handled, 0);
    struct itimerval often = {.it_interval = {0, 1000}, .it_value = {0, 1000}}, never = {0};
    for (uintptr_t i = 0; i < FIBERS; i++)
        SPAWN(&fibers[i], switch_hard, (void *)i);
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_PROF, &often, NULL), 0);
    long wanted = scaled(500, 100);
    while (atomic_load(&handled) < wanted)
        weft_yield();
    CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
    CHECK_EQ(setitimer(ITIMER_PROF, &never, NULL), 0);
    atomic_store(&is_over, 1);
    for (int i = 0; i < FIBERS; i++)
        JOIN(fibers[i], NULL);
    printf("    %ld signals\n", atomic_load(&handled));
}

/* What this thread blocks is what it has blocked before. Under ThreadSanitizer, which blocks all while it tells a signal that it has
 * put off, that is not so once in a while. */
static bool mask_is_ours(const sigset_t *before) {
#ifdef __SANITIZE_THREAD__
    (void)before;
    return true;
#else
    sigset_t now;
    if (pthread_sigmask(SIG_SETMASK, NULL, &now) != 0)
        return false;
    for (int number = 1; number < 32; number++)
        if (sigismember(&now, number) != sigismember(before, number))
            return false;
    return true;
#endif
}

static void run_with_handlers(int flags) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags | SA_RESTART}, before[2];
    sigemptyset(&action.sa_mask);
    CHECK_EQ(sigaction(SIGALRM, &action, &before[0]), 0);
    CHECK_EQ(sigaction(SIGPROF, &action, &before[1]), 0);
    sigset_t mask;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    run_fibers(switch_under_fire);
    CHECK(mask_is_ours(&mask));
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    signal(SIGALRM, SIG_IGN); /* one may still be under way */
    signal(SIGPROF, SIG_IGN);
}

TEST(signals_on_fiber_stacks_do_not_disturb_switches) {
    run_with_handlers(0);
}

TEST(signals_on_the_alternate_stack_do_not_disturb_switches) {
    run_with_handlers(SA_ONSTACK);
}

static int raise_first(void *arg) {
    (void)arg;
    raise(SIGSEGV);
    return 1; /* survived */
}

static void *raise_in_fiber(void *arg) {
    raise_first(arg);
    return arg;
}

static int raise_in_child_fiber(void *arg) {
    weft_fiber fiber;
    SPAWN(&fiber, raise_in_fiber, arg);
    JOIN(fiber, NULL);
    return 1;
}

static void raise_with_default(void *opaque) {
    int (*first)(void *) = *(int (**)(void *))opaque;
    signal(SIGSEGV, SIG_DFL); /* sanitizers have a handler of their own */
    _exit(weft_run(NULL, first, NULL));
}

TEST(a_sent_sigsegv_kills_a_process_with_a_runtime) {
    int (*firsts[])(void *) = {raise_first, raise_in_child_fiber};
    for (int i = 0; i < 2; i++) {
        struct child_end end = child_run(raise_with_default, &firsts[i]);
        CHECK(WIFSIGNALED(end.status));
        CHECK_EQ(WTERMSIG(end.status), SIGSEGV);
    }
}

static volatile sig_atomic_t own_handler_runs;

static void own_handler(int number) {
    if (number == SIGSEGV)
        own_handler_runs++;
}

static void own_handler_with_info(int number, siginfo_t *info, void *context) {
    (void)context;
    if (info->si_code <= 0)
        own_handler(number);
}

static void raise_with_handler(void *opaque) {
    struct sigaction own = {0};
    sigemptyset(&own.sa_mask);
    if (*(bool *)opaque) {
        own.sa_sigaction = own_handler_with_info;
        own.sa_flags = SA_SIGINFO;
    } else {
        own.sa_handler = own_handler;
    }
    CHECK_EQ(sigaction(SIGSEGV, &own, NULL), 0);
    CHECK_EQ(weft_run(NULL, raise_first, NULL), 1);
    CHECK_EQ(own_handler_runs, 1);
    CHECK_EQ(weft_run(NULL, raise_in_child_fiber, NULL), 1);
    CHECK_EQ(own_handler_runs, 2);
}

TEST(a_sent_sigsegv_goes_to_the_handler_of_the_program) {
    for (int i = 0; i < 2; i++) {
        bool wants_info = i == 1;
        struct child_end end = child_run(raise_with_handler, &wants_info);
        CHECK_CHILD_WELL(&end);
    }
}
