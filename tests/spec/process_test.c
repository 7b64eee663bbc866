/* SPDX-License-Identifier: MIT
 *
 * spec/process_test.c - child processes: what they are given, how they end, and that nothing of them is left.
 *
 * The thread and the descriptors that stay with a process from its first child on are there before anything is counted.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spec/cancelled.h"
#include "support/child.h"
#include "support/descriptors.h"
#include "support/run.h"
#include "weft/process.h"

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(script) ARGV("sh", "-c", script)

static weft_process spawn(const char *const *argv, const weft_process_options *options, weft_fd pipes[3]) {
    weft_process process;
    CHECK_EQ(weft_process_spawn(&process, argv, options, pipes), 0);
    return process;
}

static weft_process_end wait_and_free(weft_process process) {
    weft_process_end end;
    CHECK_EQ(weft_process_wait(process, &end, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_process_free(process), 0);
    CHECK_EQ(weft_process_free(process), -ESTALE);
    return end;
}

__attribute__((constructor(101))) static void start_what_stays(void) {
    weft_process_options options = {.dies_with = SIGKILL};
    wait_and_free(spawn(SHELL(":"), &options, NULL));
}

static void check_no_zombies(void) {
    CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_EQ(errno, ECHILD);
}

/* A child that ends when its input does. */
static weft_process spawn_waiting(weft_fd *in) {
    weft_process_options options = {.in = {.kind = WEFT_STDIO_PIPE}};
    weft_fd pipes[3];
    weft_process process = spawn(ARGV("cat"), &options, pipes);
    *in = pipes[0];
    return process;
}

/* Reads all of it and closes it. */
static void read_text(weft_fd fd, char *text, size_t size) {
    ssize_t got = weft_read_full(fd, text, size - 1, NULL, weft_after(PATIENCE_NS));
    CHECK_GE(got, 0);
    text[got] = 0;
    CHECK_EQ(weft_close(fd), 0);
}

static void ends_are_told(void) {
    weft_process_end end = wait_and_free(spawn(SHELL("exit 7"), NULL, NULL));
    CHECK_EQ(end.code, 7);
    CHECK_EQ(end.signal, 0);
    CHECK_GE((long long)end.peak_memory, 1);
    end = wait_and_free(spawn(SHELL("kill -9 $$"), NULL, NULL));
    CHECK_EQ(end.code, -1);
    CHECK_EQ(end.signal, SIGKILL);
    CHECK(!end.dumped_core);
    check_no_zombies();
}

TEST(an_end_says_its_code_or_its_signal) {
    run_fibers(ends_are_told);
}

TEST(a_plain_thread_needs_no_runtime) {
    ends_are_told();
}

static void talk(void) {
    weft_process_options options = {
        .in = {.kind = WEFT_STDIO_PIPE}, .out = {.kind = WEFT_STDIO_PIPE}, .err = {.kind = WEFT_STDIO_PIPE}};
    weft_fd pipes[3];
    char text[64];
    weft_process process = spawn(SHELL("tr a-z A-Z; echo done >&2"), &options, pipes);
    CHECK_EQ(weft_process_wait(process, NULL, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_write_all(pipes[0], "hello", 5, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_close(pipes[0]), 0);
    read_text(pipes[1], text, sizeof text);
    CHECK_TEXT(text, "HELLO");
    read_text(pipes[2], text, sizeof text);
    CHECK_TEXT(text, "done\n");
    CHECK_EQ(wait_and_free(process).code, 0);
}

TEST(pipes_lead_to_all_three) {
    run_fibers(talk);
}

static void pipeline(void) {
    weft_fd ends[2], pipes[3];
    char text[64];
    CHECK_EQ(weft_pipe(ends), 0);
    weft_process_options writes = {.out = {WEFT_STDIO_FD, ends[1]}};
    weft_process_options reads = {.in = {WEFT_STDIO_FD, ends[0]}, .out = {.kind = WEFT_STDIO_PIPE}};
    weft_process first = spawn(SHELL("echo one; echo two"), &writes, NULL);
    weft_process second = spawn(ARGV("cat"), &reads, pipes);
    CHECK_EQ(pipes[0].bits, 0);
    CHECK_EQ(pipes[2].bits, 0);
    CHECK_EQ(weft_close(ends[0]), 0);
    CHECK_EQ(weft_close(ends[1]), 0);
    read_text(pipes[1], text, sizeof text);
    CHECK_TEXT(text, "one\ntwo\n");
    CHECK_EQ(wait_and_free(first).code, 0);
    CHECK_EQ(wait_and_free(second).code, 0);
    CHECK_EQ(weft_process_spawn(&first, ARGV("cat"), &reads, pipes), -EBADF);
}

TEST(children_are_joined_by_a_pipe) {
    run_fibers(pipeline);
}

/* Also where descriptors lie in each other's places. */
static void collect(const char *script, weft_process_options options, const char *wanted) {
    weft_process_output output;
    CHECK_EQ(weft_process_run(&output, SHELL(script), &options, weft_after(PATIENCE_NS)), 0);
    CHECK_TEXT(output.out, wanted);
    CHECK_EQ(output.out_size, strlen(wanted));
    weft_process_output_free(&output);
}

/* Descriptors that the program itself lets its children have. */
static int count_inherited(void) {
    int count = 0;
    for (int i = 3; i < 1024; i++) {
        int flags = fcntl(i, F_GETFD);
        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

static void surroundings(void) {
    char count[16];
    snprintf(count, sizeof count, "%d\n", 4 + count_inherited()); /* the three, and that of ls */
    weft_process_options both = {.err = {.kind = WEFT_STDIO_OUT}};
    collect("echo a; echo b >&2", both, "a\nb\n");
    collect("cat; echo end", (weft_process_options){.in = {.kind = WEFT_STDIO_NULL}}, "end\n");
    collect("echo $NAME", (weft_process_options){.environment = ARGV("NAME=value", "PATH=/bin:/usr/bin")}, "value\n");
    collect("pwd", (weft_process_options){.folder = "/"}, "/\n");
    collect("test $(ps -o pgid= -p $$ 2>/dev/null || echo $$) -eq $$ && echo own",
            (weft_process_options){.group = WEFT_PROCESS_OWN_GROUP}, "own\n");
    collect("test $(ps -o sid= -p $$ 2>/dev/null || echo $$) -eq $$ && echo own",
            (weft_process_options){.group = WEFT_PROCESS_OWN_SESSION}, "own\n");
    weft_process_output output;
    CHECK_EQ(weft_process_run(&output, ARGV("a name", "-c", "echo $0"), &(weft_process_options){.file = "sh"},
                              weft_after(PATIENCE_NS)),
             0);
    CHECK_TEXT(output.out, "a name\n");
    weft_process_output_free(&output);
    collect("ls /proc/self/fd | wc -l", (weft_process_options){0}, count);
}

TEST(a_child_has_what_was_asked_for_and_nothing_else) {
    run_fibers(surroundings);
}

static unsigned long long signals_named(const char *text, const char *name) {
    const char *at = strstr(text, name);
    CHECK(at != NULL);
    return strtoull(at + strlen(name), NULL, 16);
}

/* Workers block everything, and SIGPIPE is ignored here: a child must not notice. */
static void signals_of_child(void) {
    weft_fd ends[2];
    weft_process_output output;
    CHECK_EQ(weft_pipe(ends), 0); /* ignores SIGPIPE */
    CHECK_EQ(weft_process_run(&output, ARGV("cat", "/proc/self/status"), NULL, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(signals_named(output.out, "SigBlk:"), 0);
    CHECK_EQ(signals_named(output.out, "SigIgn:") >> (SIGPIPE - 1) & 1, 0);
    CHECK_EQ(signals_named(output.out, "SigIgn:") >> (SIGHUP - 1) & 1, 1);
    weft_process_output_free(&output);
    weft_process_options options = {.default_signals = true};
    CHECK_EQ(weft_process_run(&output, ARGV("cat", "/proc/self/status"), &options, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(signals_named(output.out, "SigIgn:"), 0);
    weft_process_output_free(&output);
    CHECK_EQ(weft_close(ends[0]), 0);
    CHECK_EQ(weft_close(ends[1]), 0);
}

TEST(a_child_blocks_no_signal_and_ignores_what_the_program_ignores) {
    void (*before)(int) = signal(SIGHUP, SIG_IGN);
    run_fibers(signals_of_child);
    signal(SIGHUP, before);
}

static void refusals(void) {
    weft_process process;
    weft_fd pipes[3];
    weft_process_options piped = {.out = {.kind = WEFT_STDIO_PIPE}}, bad = {.in = {.kind = WEFT_STDIO_OUT}},
                         nowhere = {.folder = "/nowhere", .in = {.kind = WEFT_STDIO_PIPE}};
    CHECK_EQ(weft_process_spawn(&process, ARGV("no-such-program"), NULL, NULL), -ENOENT);
    CHECK_EQ(weft_process_spawn(&process, ARGV("/no/such/program"), NULL, NULL), -ENOENT);
    CHECK_EQ(weft_process_spawn(&process, ARGV(""), NULL, NULL), -ENOENT);
    CHECK_EQ(weft_process_spawn(&process, ARGV("/"), NULL, NULL), -EACCES);
    CHECK_EQ(weft_process_spawn(&process, ARGV("/dev/null"), NULL, NULL), -EACCES);
    CHECK_EQ(weft_process_spawn(&process, ARGV("true"), &nowhere, pipes), -ENOENT);
    CHECK_EQ(weft_process_spawn(&process, ARGV("true"), &(weft_process_options){.group = 1}, NULL), -EPERM);
    CHECK_EQ(weft_process_spawn(&process, ARGV("true"), &(weft_process_options){.group = -3}, NULL), -EINVAL);
    CHECK_EQ(weft_process_spawn(&process, ARGV("true"), &(weft_process_options){.file = "/nowhere"}, NULL), -ENOENT);
    CHECK_EQ(weft_process_spawn(NULL, ARGV("true"), NULL, NULL), -EINVAL);
    CHECK_EQ(weft_process_spawn(&process, NULL, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_process_spawn(&process, &(const char *){NULL}, NULL, NULL), -EINVAL);
    CHECK_EQ(weft_process_spawn(&process, ARGV("true"), &piped, NULL), -EINVAL);
    CHECK_EQ(weft_process_spawn(&process, ARGV("true"), &bad, NULL), -EINVAL);
    CHECK_EQ(weft_process_spawn(&process, ARGV("true"), &(weft_process_options){.dies_with = 99}, NULL), -EINVAL);
    CHECK_EQ(weft_process_wait(WEFT_NO_PROCESS, NULL, WEFT_NEVER), -ESTALE);
    CHECK_EQ(weft_process_kill(WEFT_NO_PROCESS, SIGTERM), -ESTALE);
    CHECK_EQ(weft_process_id((weft_process){~UINT64_C(0)}), -ESTALE);
    check_no_zombies();
}

TEST(what_keeps_a_program_from_running_is_returned) {
    run_fibers(refusals);
}

static void kills(void) {
    weft_fd in;
    weft_process_end end;
    weft_process process = spawn_waiting(&in);
    CHECK_GE(weft_process_id(process), 1);
    CHECK_EQ(weft_process_kill(process, 0), 0);
    CHECK_EQ(weft_process_kill(process, 9999), -EINVAL);
    CHECK_EQ(weft_process_kill(process, SIGTERM), 0);
    CHECK_EQ(weft_process_wait(process, &end, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(end.signal, SIGTERM);
    CHECK_EQ(weft_process_kill(process, SIGTERM), -ESRCH);
    CHECK_EQ(weft_process_wait(process, &end, WEFT_NOW), 0); /* again, and not waiting */
    CHECK_EQ(end.signal, SIGTERM);
    CHECK_EQ(weft_process_free(process), 0);
    CHECK_EQ(weft_process_kill(process, SIGTERM), -ESTALE);
    CHECK_EQ(weft_close(in), 0);
}

TEST(kill_hits_the_child_and_nobody_after_it) {
    run_fibers(kills);
}

struct waiting {
    weft_process process;
    weft_time deadline;
    weft_process_end end;
    int status;
};

static void *wait_for_end(void *arg) {
    struct waiting *waiting = arg;
    waiting->status = weft_process_wait(waiting->process, &waiting->end, waiting->deadline);
    return NULL;
}

static void many_wait(void) {
    enum { WAITERS = 5 };
    weft_fd in;
    weft_process process = spawn_waiting(&in);
    struct waiting waiting[WAITERS + 1];
    weft_fiber fibers[WAITERS];
    for (int i = 0; i <= WAITERS; i++)
        waiting[i] = (struct waiting){.process = process, .deadline = weft_after(PATIENCE_NS)};
    for (int i = 0; i < WAITERS; i++)
        fibers[i] = spawn_parked(wait_for_end, &waiting[i]);
    struct on_thread_call thread;
    on_thread_start(&thread, wait_for_end, &waiting[WAITERS]);
    CHECK_EQ(weft_close(in), 0);
    for (int i = 0; i < WAITERS; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&thread);
    for (int i = 0; i <= WAITERS; i++) {
        CHECK_EQ(waiting[i].status, 0);
        CHECK_EQ(waiting[i].end.code, 0);
    }
    CHECK_EQ(weft_process_free(process), 0);
}

TEST(everybody_who_waits_is_told) {
    run_fibers(many_wait);
}

static void waits_end_early(void) {
    weft_fd in;
    int descriptors = count_descriptors();
    weft_process process = spawn_waiting(&in);
    struct waiting late = {.process = process, .deadline = weft_after(WEFT_MILLISECOND)},
                   cancelled = {.process = process, .deadline = WEFT_NEVER}, freed = cancelled;
    wait_for_end(&late);
    CHECK_EQ(late.status, -ETIMEDOUT);
    cancelled_run(&(struct cancelled){.fn = wait_for_end, .arg = &cancelled});
    CHECK_EQ(cancelled.status, -ECANCELED);
    weft_fiber fiber = spawn_parked(wait_for_end, &freed);
    CHECK_EQ(weft_process_free(process), 0);
    JOIN(fiber, NULL);
    CHECK_EQ(freed.status, -ESTALE);
    CHECK_EQ(weft_close(in), 0); /* it ends by itself and is reaped */
    WAIT_UNTIL(weft_process_free(WEFT_NO_PROCESS) == -ESTALE && count_descriptors() <= descriptors);
    check_no_zombies();
}

TEST(waiting_ends_by_deadline_cancellation_and_free) {
    run_fibers(waits_end_early);
}

static void selects(void) {
    weft_fd in[2];
    weft_process processes[2] = {spawn_waiting(&in[0]), spawn_waiting(&in[1])};
    weft_process_end ends[2];
    weft_case cases[] = {weft_on_process_end(processes[0], &ends[0]), weft_on_process_end(processes[1], &ends[1])};
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), -ETIMEDOUT);
    CHECK_EQ(weft_select(cases, 2, weft_after(WEFT_MILLISECOND)), -ETIMEDOUT);
    CHECK_EQ(weft_close(in[1]), 0);
    CHECK_EQ(weft_select(cases, 2, weft_after(PATIENCE_NS)), 1);
    CHECK_EQ(cases[1].status, 0);
    CHECK_EQ(ends[1].code, 0);
    CHECK_EQ(weft_select(cases, 2, WEFT_NOW), 1); /* it stays so */
    CHECK_EQ(weft_process_free(processes[1]), 0);
    CHECK_EQ(weft_select(cases, 2, WEFT_NEVER), 1);
    CHECK_EQ(cases[1].status, -ESTALE);
    CHECK_EQ(weft_process_kill(processes[0], SIGKILL), 0);
    CHECK_EQ(weft_select(cases, 1, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(ends[0].signal, SIGKILL);
    CHECK_EQ(weft_process_free(processes[0]), 0);
    CHECK_EQ(weft_close(in[0]), 0);
}

TEST(an_end_is_a_case_of_select) {
    run_fibers(selects);
}

/* More than pipes hold, both ways at once. */
static void runs(void) {
    enum { SIZE = 1 << 20 };
    weft_process_output output;
    char *input = malloc(SIZE);
    memset(input, 'x', SIZE);
    weft_process_options options = {.input = input, .input_size = SIZE};
    CHECK_EQ(weft_process_run(&output, SHELL("tee /dev/stderr"), &options, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(output.end.code, 0);
    CHECK_EQ(output.out_size, SIZE);
    CHECK_EQ(output.err_size, SIZE);
    CHECK_EQ(memcmp(output.out, input, SIZE), 0);
    CHECK(!output.was_cut);
    weft_process_output_free(&output);

    options.limit = 5000;
    CHECK_EQ(weft_process_run(&output, ARGV("cat"), &options, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(output.out_size, 5000);
    CHECK_EQ(output.out[5000], 0);
    CHECK_EQ(output.err_size, 0);
    CHECK(output.was_cut);
    weft_process_output_free(&output);

    CHECK_EQ(weft_process_run(&output, SHELL("exit 3"), &options, weft_after(PATIENCE_NS)), 0); /* unread input */
    CHECK_EQ(output.end.code, 3);
    weft_process_output_free(&output);
    free(input);

    CHECK_EQ(weft_process_run(&output, ARGV("no-such-program"), NULL, WEFT_NEVER), -ENOENT);
    CHECK_EQ(weft_process_run(NULL, ARGV("true"), NULL, WEFT_NEVER), -EINVAL);
    options = (weft_process_options){.out = {.kind = WEFT_STDIO_NULL}};
    CHECK_EQ(weft_process_run(&output, SHELL("echo lost"), &options, weft_after(PATIENCE_NS)), 0);
    CHECK(output.out == NULL);
    weft_process_output_free(&output);
    check_no_zombies();
}

TEST(run_feeds_and_collects) {
    run_fibers(runs);
}

TEST(run_works_on_a_plain_thread) {
    runs();
}

static void *run_for_ever(void *arg) {
    weft_process_output output;
    *(int *)arg = weft_process_run(&output, SHELL("while :; do :; done"), NULL, WEFT_NEVER);
    return NULL;
}

static void runs_end_early(void) {
    weft_process_output output;
    int status = 0;
    CHECK_EQ(weft_process_run(&output, SHELL("while :; do :; done"), NULL, weft_after(5 * WEFT_MILLISECOND)),
             -ETIMEDOUT);
    check_no_zombies();
    cancelled_run(&(struct cancelled){.fn = run_for_ever, .arg = &status});
    CHECK_EQ(status, -ECANCELED);
    check_no_zombies();
}

TEST(run_kills_at_the_deadline_and_when_cancelled) {
    run_fibers(runs_end_early);
}

static int leave_a_child(void *arg) {
    int end = *(int *)arg;
    weft_process_options options = {.dies_with = SIGKILL};
    weft_process_output output;
    CHECK(dup2(end, STDOUT_FILENO) >= 0);
    /* Threads of the runtime that starts it end long before it. */
    CHECK_EQ(weft_process_run(&output, ARGV("true"), &options, WEFT_NEVER), 0);
    weft_process_output_free(&output);
    spawn(SHELL("echo ready; exec tail -f /dev/null"), &options, NULL);
    return 0;
}

static void end_before_a_child(void *arg) {
    CHECK_EQ(weft_run(NULL, leave_a_child, arg), 0);
    weft_fiber none = weft_self();
    CHECK_EQ(none.bits, 0);
    _exit(0);
}

TEST(a_child_can_die_with_its_parent) {
    int ends[2];
    char text[16];
    CHECK_EQ(pipe2(ends, O_CLOEXEC), 0);
    struct child_end end = child_run(end_before_a_child, &ends[1]);
    CHECK_CHILD_WELL(&end);
    CHECK_EQ(close(ends[1]), 0);
    while (read(ends[0], text, sizeof text) > 0) /* it ends when nobody is left who could write */
        ;
    CHECK_EQ(close(ends[0]), 0);
}

static void *spawn_some(void *arg) {
    for (int i = 0; i < 3; i++)
        CHECK_EQ(wait_and_free(spawn(SHELL("exit 5"), NULL, NULL)).code, 5);
    return arg;
}

static void spawn_at_once(void) {
    weft_fiber fibers[6];
    struct on_thread_call thread;
    for (int i = 0; i < 6; i++)
        SPAWN(&fibers[i], spawn_some, NULL);
    on_thread_start(&thread, spawn_some, NULL);
    for (int i = 0; i < 6; i++)
        JOIN(fibers[i], NULL);
    on_thread_finish(&thread);
    check_no_zombies();
}

TEST(many_spawn_at_once) {
    run_fibers(spawn_at_once);
}

static void take_the_end_away(void *arg) {
    weft_fd in;
    (void)arg;
    signal(SIGCHLD, SIG_IGN);
    weft_process process = spawn_waiting(&in);
    CHECK_EQ(weft_close(in), 0);
    CHECK_EQ(weft_process_wait(process, NULL, weft_after(PATIENCE_NS)), -ECHILD);
    CHECK_EQ(weft_process_wait(process, NULL, WEFT_NOW), -ECHILD);
    CHECK_EQ(weft_process_free(process), 0);
}

TEST(an_end_that_somebody_else_took_is_echild) {
    struct child_end end = child_run(take_the_end_away, NULL);
    CHECK_CHILD_WELL(&end);
}
