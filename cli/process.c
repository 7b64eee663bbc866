/* SPDX-License-Identifier: MIT
 *
 * cli/process.c - spawning and waiting.
 *
 * While a child runs, we must outlive it in order to clean up after it. So the signals that end a process are blocked
 * and taken one by one: what somebody sends to us goes on to the child, what the terminal sends reaches the child
 * anyhow. Its end, by whatever cause, is also a signal, and ends the wait.
 *
 * posix_spawn reports a program that cannot be executed as an error of the call itself, so no exit status has to be set
 * aside for that.
 */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"

extern char **environ;

static bool program_is_at(const char *path);
static int program_start(const char *path, char **argv, int output_fd, const sigset_t *mask, pid_t *out);
static int program_wait(pid_t child, const sigset_t *watched, int *signal_number);

char *cli_program_find(const char *name) {
    if (strchr(name, '/'))
        return program_is_at(name) ? cli_format("%s", name) : NULL;
    const char *rest = getenv("PATH");
    if (!rest)
        rest = "/usr/local/bin:/usr/bin:/bin";
    while (*name) {
        size_t length = strcspn(rest, ":");
        char *path = length ? cli_format("%.*s/%s", (int)length, rest, name) : cli_format("./%s", name);
        if (program_is_at(path))
            return path;
        free(path);
        if (!rest[length])
            break;
        rest += length + 1;
    }
    return NULL;
}

static bool program_is_at(const char *path) {
    return cli_file_exists(path) && access(path, X_OK) == 0;
}

int cli_program_run(const char *path, const struct cli_words *words, struct cli_text *output, int *signal_number) {
    int ends[2] = {-1, -1};
    if (output && pipe2(ends, O_CLOEXEC) < 0)
        return -errno;

    sigset_t watched, mask;
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGHUP);
    sigaddset(&watched, SIGINT);
    sigaddset(&watched, SIGQUIT);
    sigaddset(&watched, SIGTERM);
    signal(SIGCHLD, SIG_DFL); /* inherited as ignored, it would hide how the child ended */
    sigprocmask(SIG_BLOCK, &watched, &mask);

    pid_t child = -1;
    int result = program_start(path, words->list, ends[1], &mask, &child);
    if (ends[1] >= 0)
        close(ends[1]);
    if (result == 0 && output)
        cli_fd_read(ends[0], output);
    if (result == 0)
        result = program_wait(child, &watched, signal_number);
    if (ends[0] >= 0)
        close(ends[0]);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return result;
}

static int program_start(const char *path, char **argv, int output_fd, const sigset_t *mask, pid_t *out) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return -error;
    error = posix_spawnattr_init(&attributes);
    if (error)
        goto destroy_actions;
    if (output_fd >= 0) {
        error = posix_spawn_file_actions_adddup2(&actions, output_fd, STDOUT_FILENO);
        if (!error)
            error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    if (!error)
        error = posix_spawnattr_setsigmask(&attributes, mask);
    if (!error)
        error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    if (!error)
        error = posix_spawn(out, path, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
destroy_actions:
    posix_spawn_file_actions_destroy(&actions);
    return -error;
}

static int program_wait(pid_t child, const sigset_t *watched, int *signal_number) {
    int status = 0;
    for (;;) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            break;
        if (ended < 0)
            return -errno;
        siginfo_t info;
        int number = sigwaitinfo(watched, &info);
        bool is_from_terminal = info.si_code == SI_KERNEL;
        if (number > 0 && number != SIGCHLD && !is_from_terminal)
            kill(child, number);
    }
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    *signal_number = WTERMSIG(status);
    return -EINTR;
}
