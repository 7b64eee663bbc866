/* SPDX-License-Identifier: MIT
 *
 * spec/signal_test.c - signals that hit the middle of switches leave no trace.
 *
 * A thousand signals a second, with handlers that use the stack they are given, while every worker switches as fast as
 * it can; fibers check what they have on their stacks and in their registers.
 */
#include <signal.h>
#include <sys/time.h>

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

static void run_with_handlers(int flags) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags | SA_RESTART}, before[2];
    sigemptyset(&action.sa_mask);
    CHECK_EQ(sigaction(SIGALRM, &action, &before[0]), 0);
    CHECK_EQ(sigaction(SIGPROF, &action, &before[1]), 0);
    run_fibers(switch_under_fire);
    signal(SIGALRM, SIG_IGN); /* one may still be under way */
    signal(SIGPROF, SIG_IGN);
}

TEST(signals_on_fiber_stacks_do_not_disturb_switches) {
    run_with_handlers(0);
}

TEST(signals_on_the_alternate_stack_do_not_disturb_switches) {
    run_with_handlers(SA_ONSTACK);
}
