/* SPDX-License-Identifier: MIT
 *
 * cli/doctor_weft.c - weft itself: does it start, and can programs be compiled against it.
 *
 * The runtime is started in a child process. Whatever it does there, be it a crash in a place that no other check
 * foresaw or a hang, becomes a finding instead of the end of the report. What the child saw comes back through a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor.h"
#include "kit.h"
#include "weft/runtime.h"

enum { START_SECONDS = 20 }; /* a start takes a millisecond; this is for a machine on its knees */

/* What the child tells. error is that of weft_run; the rest holds when it is 0. */
struct trial {
    int error;
    unsigned workers;
    char guard[16];
    char poller[16];
};

static int trial_run(struct trial *out, int *signal_number);
static void trial_child(int fd);
static int trial_app(void *arg);

static void check_runtime(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    struct trial trial = {0};
    int signal_number = 0;
    int error = trial_run(&trial, &signal_number);
    if (signal_number == SIGALRM) {
        cli_found(out, CLI_MISSING, "does not come to an end within %d seconds", START_SECONDS);
    } else if (signal_number) {
        cli_found(out, CLI_MISSING, "crashes: %s", strsignal(signal_number));
    } else if (error) {
        cli_found(out, CLI_MISSING, "cannot be tried: %s", strerror(-error));
    } else if (trial.error) {
        cli_found(out, CLI_MISSING, "does not start: %s", strerror(-trial.error));
        cli_advise(out, "%s",
                   trial.error == -EINVAL ? "look at the variables WEFT_WORKERS, WEFT_STACK_SIZE and "
                                            "WEFT_MAX_FIBERS"
                                          : "look at the limits above");
    } else {
        cli_found(out, CLI_OK, "starts with %u workers, guards stacks by %s, polls by %s", trial.workers, trial.guard,
                  trial.poller);
    }
}

/* Returns 0 when out was filled in, or a negative errno value; *signal_number is set when the child died of one. */
static int trial_run(struct trial *out, int *signal_number) {
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    fflush(stdout); /* or the child would print it again */
    signal(SIGCHLD, SIG_DFL);
    pid_t child = fork();
    if (child == 0)
        trial_child(ends[1]);
    int error = child < 0 ? -errno : 0;
    close(ends[1]);
    if (!error) {
        ssize_t size = read(ends[0], out, sizeof *out);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
        *signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        error = size == sizeof *out ? 0 : -EPROTO;
    }
    close(ends[0]);
    return error;
}

static void trial_child(int fd) {
    struct trial trial = {0};
    alarm(START_SECONDS);
    int status = weft_run(NULL, trial_app, &trial);
    if (status < 0)
        trial.error = status;
    ssize_t size = write(fd, &trial, sizeof trial);
    _exit(size == sizeof trial ? 0 : 1);
}

static int trial_app(void *arg) {
    struct trial *trial = arg;
    weft_stats stats;
    int error = weft_get_stats(NULL, &stats);
    if (error)
        return error;
    trial->workers = stats.workers;
    snprintf(trial->guard, sizeof trial->guard, "%s", stats.guard);
    snprintf(trial->poller, sizeof trial->poller, "%s", stats.poller);
    return 0;
}

static void check_compiler(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    struct cli_words command = {0};
    char *path = NULL, *missing = NULL;
    if (cli_compiler_find(NULL, &command, &path, &missing) == 0) {
        cli_found(out, CLI_OK, "%s", path);
    } else {
        cli_found(out, CLI_MISSING, "%s%s", missing ? "not there, though $CC names it: " : "none",
                  missing ? missing : "");
        cli_advise(out, "weft run needs one: install gcc or clang");
    }
    free(missing);
    free(path);
    cli_words_term(&command);
}

static void check_library(const struct cli_patient *patient, struct cli_finding *out) {
    (void)patient;
    struct cli_kit kit;
    struct cli_text looked_in = {0};
    if (cli_kit_find(&kit, &looked_in) == 0)
        cli_found(out, CLI_OK, "%s", kit.library ? kit.library : "as pkg-config says");
    else {
        cli_found(out, CLI_MISSING, "no weft.h and libweft in %s", looked_in.bytes);
        cli_advise(out, "weft run needs them: install weft whole, or set PKG_CONFIG_PATH");
    }
    cli_text_term(&looked_in);
    cli_kit_term(&kit);
}

const struct cli_check cli_weft_checks[] = {
    {"weft", "runtime", check_runtime, true},
    {"weft", "compiler", check_compiler, false},
    {"weft", "library", check_library, false},
    {NULL, NULL, NULL, false},
};
