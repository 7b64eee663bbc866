/* SPDX-License-Identifier: MIT
 *
 * support/child.h - tests of what ends the process: the body runs in a forked child, the parent looks at its end.
 *
 *     struct child_end end = child_run(break_a_rule, NULL);
 *     CHECK(child_was_aborted(&end));
 *     CHECK(strstr(end.text, "which rule") != NULL);
 *
 * The child has its standard error in end.text, writes no core file and is ended by SIGALRM when it hangs, so a hang
 * shows as a wrong end and not as a stuck suite. Call it while no runtime runs.
 */
#ifndef WF_SUPPORT_CHILD_H
#define WF_SUPPORT_CHILD_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

/* Children start threads of their own, which ThreadSanitizer dislikes after a fork from a process that had some. */
#if defined(__SANITIZE_THREAD__)
#ifdef __cplusplus
extern "C" {
#endif
const char *__tsan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void) {
    return "die_after_fork=0";
}
#ifdef __cplusplus
}
#endif
#endif

enum { CHILD_PATIENCE_SECONDS = 60, CHILD_TEXT = 8192 };

struct child_end {
    int status;
    char text[CHILD_TEXT];
};

static inline void child_read(int fd, struct child_end *end) {
    size_t used = 0;
    char rest[256];
    ssize_t got;
    do {
        bool is_full = used == sizeof end->text - 1;
        got = is_full ? read(fd, rest, sizeof rest) : read(fd, end->text + used, sizeof end->text - 1 - used);
        if (got > 0 && !is_full)
            used += (size_t)got;
    } while (got > 0 || (got < 0 && errno == EINTR));
    end->text[used] = 0;
}

static inline struct child_end child_run(void (*body)(void *arg), void *arg) {
    struct child_end end;
    int ends[2];
    fflush(NULL);
    CHECK_EQ(pipe(ends), 0);
    pid_t pid = fork();
    CHECK_GE(pid, 0);
    if (pid == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        close(ends[0]);
        dup2(ends[1], STDERR_FILENO);
        close(ends[1]);
        alarm(CHILD_PATIENCE_SECONDS);
        body(arg);
        _exit(0);
    }
    close(ends[1]);
    child_read(ends[0], &end);
    close(ends[0]);
    while (waitpid(pid, &end.status, 0) != pid)
        CHECK_EQ(errno, EINTR);
    return end;
}

static inline bool child_was_aborted(const struct child_end *end) {
    return WIFSIGNALED(end->status) && WTERMSIG(end->status) == SIGABRT;
}

static inline bool child_ended_well(const struct child_end *end) {
    return WIFEXITED(end->status) && WEXITSTATUS(end->status) == 0;
}

/* Fails with the child's last words when it did not end well. */
#define CHECK_CHILD_WELL(end) \
    do { \
        if (!child_ended_well(end)) \
            fprintf(stderr, "status %#x, standard error: %s\n", (unsigned)(end)->status, (end)->text); \
        CHECK(child_ended_well(end)); \
    } while (0)

/* Fails with the child's last words when it was not aborted with that message. */
#define CHECK_CHILD_FATAL(end, message) \
    do { \
        bool child_is_right = child_was_aborted(end) && strstr((end)->text, (message)); \
        if (!child_is_right) \
            fprintf(stderr, "status %#x, standard error: %s\n", (unsigned)(end)->status, (end)->text); \
        CHECK(child_is_right); \
    } while (0)

#endif
