/* SPDX-License-Identifier: MIT
 *
 * spec/fork_test.c - fork from inside a fiber.
 *
 * The child may exec, or start a runtime of its own; a fiber function that returns in it is fatal. The parent notices
 * nothing: its timers fire and its workers can be woken as before. Whichever worker forks, the child blocks the signals that
 * the program blocks, not those that worker threads do.
 */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/run.h"

static int child_status(pid_t pid) {
    int status = 0;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    return status;
}

/* Timers, wakes and spawns still work here. */
static void *give_back(void *arg) {
    return arg;
}

static void check_parent_is_intact(void) {
    for (int i = 0; i < 5; i++) {
        weft_time moment = weft_after(2 * WEFT_MILLISECOND);
        CHECK_EQ(weft_sleep(moment), 0);
        CHECK_GE(weft_now(), moment);
        weft_fiber fiber;
        void *result;
        SPAWN(&fiber, give_back, &fiber);
        JOIN(fiber, &result);
        CHECK(result == &fiber);
    }
}

static void *sleep_meanwhile(void *arg) {
    for (int i = 0; i < 20; i++)
        CHECK_EQ(weft_sleep(weft_after(WEFT_MILLISECOND)), 0);
    return arg;
}

static void fork_and_exec(void) {
    weft_fiber sleeper;
    SPAWN(&sleeper, sleep_meanwhile, NULL);
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        CHECK_GE(pid, 0);
        if (pid == 0) {
            execl("/bin/sh", "sh", "-c", "exit 23", (char *)NULL);
            _exit(1);
        }
        int status = child_status(pid);
        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), 23);
        check_parent_is_intact();
    }
    JOIN(sleeper, NULL);
}

TEST(a_child_of_a_fiber_can_exec) {
    run_fibers(fork_and_exec);
}

static int second_life(void *arg) {
    check_parent_is_intact(); /* all of it works in the new runtime too */
    return (int)(intptr_t)arg;
}

static void fork_and_run(void) {
    weft_fiber self = weft_self();
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        CHECK_GE(pid, 0);
        if (pid == 0) {
            int ok = weft_self().bits == 0 && weft_go(give_back, NULL) == -ESRCH && weft_detach(self) == -ESTALE;
            _exit(ok ? weft_run(NULL, second_life, (void *)31) : 1);
        }
        int status = child_status(pid);
        CHECK(WIFEXITED(status));
        CHECK_EQ(WEXITSTATUS(status), 31);
        check_parent_is_intact();
    }
}

TEST(a_child_of_a_fiber_can_start_a_runtime_of_its_own) {
    if (!IS_THREAD_SANITIZED) /* which cannot start threads in the child of a process with threads */
        run_fibers(fork_and_run);
}

static int report_end[2];
static pid_t returning_child;

static void *fork_and_return(void *arg) {
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        dup2(report_end[1], STDERR_FILENO);
        return arg;
    }
    returning_child = pid;
    return arg;
}

static void fork_in_child_fiber(void) {
    weft_fiber fiber;
    char text[1024] = "";
    CHECK_EQ(pipe(report_end), 0);
    SPAWN(&fiber, fork_and_return, NULL);
    JOIN(fiber, NULL);
    int status = child_status(returning_child);
    CHECK(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
    CHECK_GE(read(report_end[0], text, sizeof text - 1), 1);
    CHECK(strstr(text, "a fiber function returned in a process that was forked from a running runtime") != NULL);
    close(report_end[0]);
    close(report_end[1]);
    check_parent_is_intact();
}

TEST(a_fiber_function_that_returns_in_the_child_is_fatal) {
    run_fibers(fork_in_child_fiber);
}

static sigset_t program_mask;
static atomic_int both_run;

static bool has_program_mask(void) {
    sigset_t mask;
    if (sigprocmask(SIG_SETMASK, NULL, &mask) != 0)
        return false;
    for (int number = 1; number < NSIG; number++)
        if (sigismember(&mask, number) != sigismember(&program_mask, number))
            return false;
    return true;
}

static void fork_and_look_at_mask(void) {
    pid_t pid = fork();
    CHECK_GE(pid, 0);
    if (pid == 0)
        _exit(has_program_mask() ? 17 : 1);
    int status = child_status(pid);
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), 17);
}

static void *fork_beside_parent(void *arg) {
    atomic_store(&both_run, 1);
    fork_and_look_at_mask();
    return arg;
}

/* Neither comes to a scheduling point before its fork, so one of the two is on a thread that weft started. */
static void fork_on_two_workers(void) {
    weft_fiber fiber;
    weft_time limit = weft_after(PATIENCE_NS);
    atomic_store(&both_run, 0);
    SPAWN(&fiber, fork_beside_parent, NULL);
    while (!atomic_load(&both_run)) {
        CHECK_LE(weft_now(), limit);
        sched_yield();
    }
    fork_and_look_at_mask();
    JOIN(fiber, NULL);
}

TEST(a_child_has_the_signal_mask_of_the_program_whichever_worker_forked) {
    sigset_t blocked;
    if (wf_test_workers() == 1)
        return;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &program_mask), 0);
    run_fibers(fork_on_two_workers);
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &blocked, NULL), 0);
}
