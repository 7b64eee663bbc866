/* SPDX-License-Identifier: MIT
 *
 * examples/children.c - child processes and signals: several commands at once, and a way to stop.
 *
 *     children [COMMAND...]
 *
 * Each argument is a command for the shell; all run at the same time, each with a fiber that collects what it says. The first
 * fiber waits for them and for SIGINT or SIGTERM, in one select, and cancels what is left when one comes: that kills the
 * commands.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include <weft.h>

struct command {
    const char *text;
    weft_chan *done;
};

static int run_command(void *arg) {
    struct command *command = arg;
    const char *argv[] = {"sh", "-c", command->text, NULL};
    weft_process_options options = {.err = {.kind = WEFT_STDIO_OUT}, .limit = 64 * 1024};
    weft_process_output output;
    int error = weft_process_run(&output, argv, &options, weft_after(60 * WEFT_SECOND));
    if (error) {
        printf("%s: error %d\n", command->text, error);
    } else {
        printf("%s: exit %d\n%s", command->text, output.end.code, output.out);
        weft_process_output_free(&output);
    }
    return weft_chan_send(command->done, &error, WEFT_NEVER);
}

struct plan {
    char **texts;
    int count;
};

static int run_all(weft_scope *scope, void *arg) {
    struct plan *plan = arg;
    struct command commands[64];
    weft_signals stop;
    weft_signal_info info;
    weft_chan *done;
    int error, left = 0;
    if (weft_chan_new(&done, sizeof error, 64) != 0 || weft_signals_open(&stop, (int[]){SIGINT, SIGTERM}, 2) != 0)
        weft_fatal("no memory or no descriptors");
    for (; left < plan->count && left < 64; left++) {
        commands[left] = (struct command){plan->texts[left], done};
        if (weft_scope_go(scope, run_command, &commands[left]) != 0)
            break;
    }
    weft_case cases[] = {weft_on_receive(done, &error), weft_on_signal(stop, &info)};
    while (left > 0 && weft_select(cases, 2, WEFT_NEVER) == 0)
        left--;
    if (left > 0) {
        printf("stopped by signal %d\n", info.number);
        weft_scope_cancel(scope, -EINTR, "stopped");
    }
    weft_shield(); /* also when cancelled: the commands use the channel and their places here */
    weft_scope_wait(scope, WEFT_NEVER);
    weft_unshield();
    weft_signals_close(stop);
    weft_chan_free(done);
    return 0;
}

static int app(void *arg) {
    return weft_scope_run(NULL, run_all, arg);
}

int main(int argc, char **argv) {
    char *some[] = {"echo one; exit 1", "echo two | tr a-z A-Z", "kill -9 $$"};
    struct plan plan = {argc > 1 ? argv + 1 : some, argc > 1 ? argc - 1 : 3};
    return weft_run(NULL, app, &plan) == 0 ? 0 : 1;
}
