/* SPDX-License-Identifier: MIT
 *
 * unit/io/process_test.c - children when system calls fail: the error comes back, and nothing is left.
 *
 * Every call of one kind is made to fail, the first, the second and so on, until none is hit any more; memory, descriptors and
 * zombies are counted afterwards. Only calls of the thread that spawns: so it is a plain one.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/process.h"
#include "os/fault.h"
#include "os/memory.h"
#include "support/child.h"
#include "support/descriptors.h"
#include "support/run.h"

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void check_no_zombies(void) {
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_EQ(errno, ECHILD);
}

static int run_once(void) {
    weft_process_output output;
    weft_process_options options = {.input = "text", .input_size = 4, .err = {.kind = WEFT_STDIO_NULL}};
    int error = weft_process_run(&output, ARGV("cat"), &options, weft_after(PATIENCE_NS));
    if (!error) {
        CHECK_EQ(output.end.code, 0);
        CHECK_TEXT(output.out, "text");
        weft_process_output_free(&output);
    }
    return error;
}

static int run_dying(void) {
    weft_process process;
    int error = weft_process_spawn(&process, ARGV("true"), &(weft_process_options){.dies_with = SIGTERM}, NULL);
    if (!error) {
        CHECK_EQ(weft_process_wait(process, NULL, weft_after(PATIENCE_NS)), 0);
        CHECK_EQ(weft_process_free(process), 0);
    }
    return error;
}

__attribute__((constructor(101))) static void start_what_stays(void) {
    CHECK_EQ(run_once(), 0);
    CHECK_EQ(run_dying(), 0);
    WAIT_UNTIL(wf_os_live_blocks() == 0); /* the threads have begun */
}

/* Returns how many of the calls let the attempt fail; those that give something back do not. */
static long sweep(int (*attempt)(void), enum wf_system_call call, int error) {
    long failures = 0;
    for (long nth = 1;; nth++) {
        wf_fault_order_here(call, nth, error, 0);
        int outcome = attempt();
        long hits = wf_fault_hits();
        wf_fault_order_here(WF_CALL_COUNT, 0, 0, 0);
        check_no_zombies();
        if (hits == 0) {
            CHECK_EQ(outcome, 0);
            return failures;
        }
        if (outcome != -error && outcome != 0)
            fprintf(stderr, "%s %ld: %d\n", wf_fault_name(call), nth, outcome);
        CHECK(outcome == -error || outcome == 0);
        failures += outcome != 0;
    }
}

TEST(run_stands_every_failure) {
    CHECK_GE(sweep(run_once, WF_CALL_PIPE, EMFILE), 2);
    CHECK_GE(sweep(run_once, WF_CALL_FCNTL, EBADF), 2);
    CHECK_GE(sweep(run_once, WF_CALL_DUPLICATE, EMFILE), 1);
    CHECK_GE(sweep(run_once, WF_CALL_CHILD, EAGAIN), 2);
    CHECK_GE(sweep(run_once, WF_CALL_EPOLL_CTL, ENOMEM), 1);
    CHECK_GE(sweep(run_once, WF_CALL_SEND, EIO), 1);
    CHECK_GE(sweep(run_once, WF_CALL_READ, EIO), 1);
    CHECK_GE(sweep(run_once, WF_CALL_ALLOC, ENOMEM), 2);
}

TEST(a_kernel_without_pidfds_is_enosys) {
    wf_fault_order_here(WF_CALL_CHILD, 1, ENOSYS, 0);
    CHECK_EQ(run_once(), -ENOSYS);
    wf_fault_order_here(WF_CALL_COUNT, 0, 0, 0);
}

/* Whoever asks too early waits for the keeper. */
TEST(a_child_that_has_not_ended_is_waited_for) {
    wf_fault_order_here(WF_CALL_CHILD_WAIT, 1, EAGAIN, 1);
    CHECK_EQ(run_once(), 0);
    wf_fault_order_here(WF_CALL_COUNT, 0, 0, 0);
}

/* It cannot be killed, say because it is somebody else's by now: the call does not wait for it. */
TEST(a_run_whose_child_cannot_be_killed_leaves_it) {
    weft_process_output output;
    weft_fd ends[2];
    int descriptors = count_descriptors();
    CHECK_EQ(weft_pipe(ends), 0);
    weft_process_options options = {.in = {WEFT_STDIO_FD, ends[0]}};
    wf_fault_order_here(WF_CALL_CHILD_SIGNAL, 1, EPERM, 0);
    CHECK_EQ(weft_process_run(&output, ARGV("cat"), &options, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(wf_fault_hits(), 1);
    wf_fault_order_here(WF_CALL_COUNT, 0, 0, 0);
    CHECK_EQ(weft_close(ends[0]), 0);
    CHECK_EQ(weft_close(ends[1]), 0);
    WAIT_UNTIL(weft_process_free(WEFT_NO_PROCESS) == -ESTALE && count_descriptors() <= descriptors);
    check_no_zombies();
}

static void *spawn_dying(void *arg) {
    *(int *)arg = run_dying();
    return NULL;
}

TEST(the_spawner_serves_many) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int outcomes[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = thread_start(spawn_dying, &outcomes[i]);
    for (int i = 0; i < THREADS; i++) {
        thread_join(threads[i]);
        CHECK_EQ(outcomes[i], 0);
    }
    check_no_zombies();
}

/* In the child of a fork everything is started again, and that may fail. */
static void start_anew(void *arg) {
    weft_process process = *(weft_process *)arg;
    CHECK_EQ(weft_process_wait(process, NULL, WEFT_NOW), -ESTALE);
    CHECK_EQ(weft_process_free(process), -ESTALE);
    CHECK_EQ(sweep(run_dying, WF_CALL_THREAD, EAGAIN), 2); /* the keeper and the spawner */
    CHECK_EQ(run_once(), 0);
}

TEST(a_forked_child_begins_anew) {
    weft_process process;
    weft_fd pipes[3];
    weft_process_options options = {.in = {.kind = WEFT_STDIO_PIPE}};
    CHECK_EQ(weft_process_spawn(&process, ARGV("cat"), &options, pipes), 0);
    struct child_end end = child_run(start_anew, &process);
    CHECK_CHILD_WELL(&end);
    CHECK_EQ(weft_close(pipes[0]), 0);
    CHECK_EQ(weft_process_wait(process, NULL, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_process_free(process), 0);
}

static void wait_with_others(void) {
    CHECK(!wf_processes_are_awaited());
    CHECK_EQ(run_once(), 0);
}

TEST(a_fiber_runs_one_too) {
    run_fibers(wait_with_others);
}
