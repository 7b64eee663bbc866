/* SPDX-License-Identifier: MIT
 *
 * weft/process.h - child processes: started, talked to, waited for, killed.
 *
 *     const char *argv[] = {"sort", "-u", NULL};
 *     weft_process_options options = {.in = {WEFT_STDIO_PIPE}, .out = {WEFT_STDIO_PIPE}};
 *     weft_process sort;
 *     weft_fd pipes[3];
 *     if (weft_process_spawn(&sort, argv, &options, pipes) == 0) {
 *         ... weft_write_all(pipes[0], ...), weft_close(pipes[0]), weft_read(pipes[1], ...), weft_close(pipes[1]) ...
 *         weft_process_end end;
 *         weft_process_wait(sort, &end, WEFT_NEVER);
 *         weft_process_free(sort);
 *     }
 *
 *     weft_process_output output;                          // or all of it in one call
 *     options = (weft_process_options){.input = words, .input_size = strlen(words)};
 *     weft_process_run(&output, argv, &options, weft_after(5 * WEFT_SECOND));
 *
 * A weft_process is a number with a generation, which goes stale when it is freed: calls with it say -ESTALE then. It names
 * the child itself and not its process id, so nothing here can hit another process that has got the same id. Children are
 * reaped the moment they end, waited for or not; how they ended is kept until weft_process_free.
 *
 * From fibers and from plain threads, with or without a runtime. Needs pidfds (Linux 5.4): spawning is -ENOSYS without. A
 * program that ignores SIGCHLD, or that waits for any child itself, takes the ends away: waiting is -ECHILD then. In the
 * child of a fork, every weft_process is stale.
 */
#ifndef WEFT_PROCESS_H
#define WEFT_PROCESS_H

#include "weft/io.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_process {
    uint64_t bits;
} weft_process;

#define WEFT_NO_PROCESS ((weft_process){0})

/* What a child has as its standard input, output or error. */
enum {
    WEFT_STDIO_DEFAULT, /* as INHERIT; of weft_process_run: its input, and what it collects */
    WEFT_STDIO_INHERIT, /* that of this process */
    WEFT_STDIO_NULL,    /* /dev/null */
    WEFT_STDIO_PIPE,    /* a pipe, whose other end the caller gets */
    WEFT_STDIO_FD,  /* fd. It becomes blocking, as programs expect it: the caller had better only close it afterwards */
    WEFT_STDIO_OUT, /* of the error only: where the output goes */
};

typedef struct weft_stdio {
    int kind;
    weft_fd fd;
} weft_stdio;

/* A group that the child is the first in; a session, too, without a terminal. */
enum { WEFT_PROCESS_OWN_GROUP = -1, WEFT_PROCESS_OWN_SESSION = -2 };

/* Zero is the default everywhere. */
typedef struct weft_process_options {
    weft_stdio in;
    weft_stdio out;
    weft_stdio err;
    const char *const *environment; /* "NAME=value", up to a null; default: that of this process */
    const char *folder;             /* where it runs */
    const char *file;               /* the program, if it is not argv[0], which is what the program is told then */
    int group;            /* the id of a process group, or one of those above; default: that of this process */
    int dies_with;        /* a signal that it gets when this process ends, however that comes: SIGKILL; default: none */
    bool default_signals; /* it does not ignore what this process ignores either */
    /* Of weft_process_run. */
    const void *input;
    size_t input_size;
    size_t limit; /* of bytes that are kept of the output, and as many of the error; default 16 MiB */
} weft_process_options;

/* How it ended. */
typedef struct weft_process_end {
    int code;   /* what it exited with; -1 when a signal killed it */
    int signal; /* which; or 0 */
    bool dumped_core;
    int64_t user_ns; /* time on processors, that of its own children that it has waited for included */
    int64_t system_ns;
    uint64_t peak_memory; /* bytes, at the most */
} weft_process_end;

/* Starts a program. Its name, argv[0], with a slash is its path, otherwise it is looked for in PATH of this process. It has
 * default signal handling, but for what this process ignores (SIGPIPE excepted; see default_signals), blocks no signal, and
 * has no descriptor of weft but those three. pipes, which may be null when there are none, gets our end of each one that is a
 * PIPE, and WEFT_NO_FD otherwise; they are the caller's to close. Keeps its thread until the program runs, a millisecond or
 * so, inside a blocking region. Returns 0; what kept the program from running: -ENOENT, -EACCES, -ENOEXEC, -E2BIG, -ENOTDIR
 * and so on, and for a bad group -EPERM; -EBADF for a descriptor that is not open; -EMFILE, -ENFILE, -EAGAIN, -ENOMEM;
 * -ENOSYS; -EINVAL. */
WEFT_API int weft_process_spawn(weft_process *out, const char *const *argv, const weft_process_options *options,
                                weft_fd pipes[3]);
/* Its process id, or -ESTALE. Of a child that has ended it may be another's. */
WEFT_API int weft_process_id(weft_process process);

/* Waits for its end. Any number may, also later: all get the same. *end may be null. Returns 0; -ETIMEDOUT, at once for
 * WEFT_NOW; -ECANCELED; -ESTALE, also when it is freed meanwhile; -ECHILD when somebody else has reaped it; -ENOMEM. */
WEFT_API int weft_process_wait(weft_process process, weft_process_end *end, weft_time deadline);
/* The same as a case of weft_select. */
WEFT_API weft_case weft_on_process_end(weft_process process, weft_process_end *end);

/* Sends it a signal; 0 sends none and asks. Returns 0; -ESRCH when it has ended; -EPERM; -EINVAL; -ESTALE. */
WEFT_API int weft_process_kill(weft_process process, int signal);

/* Forgets it. One that still runs goes on, and is reaped when it ends; its descriptor goes with the next call that spawns or
 * frees. Whoever waits for it gets -ESTALE. Returns 0 or -ESTALE. */
WEFT_API int weft_process_free(weft_process process);

/* What weft_process_run has collected: bytes with a zero behind them, or null where nothing was to be collected. */
typedef struct weft_process_output {
    char *out;
    size_t out_size;
    char *err;
    size_t err_size;
    bool was_cut; /* there was more than the limit; the rest was read and dropped */
    weft_process_end end;
} weft_process_output;

/* Runs a program to its end: gives it the input, or /dev/null without one, and collects its output and error, unless options
 * say other things about those. It has ended when it has exited and nobody holds its output or error open any more. When the
 * deadline has passed, or the fiber is cancelled, or memory is out, it is killed by SIGKILL and reaped before the call
 * returns; what it has started itself is not. It may leave input unread. Returns 0, whatever it exited with, and then
 * *output, which may not be null, has to go to weft_process_output_free; -ETIMEDOUT, -ECANCELED; the errors of
 * weft_process_spawn and weft_process_wait. */
WEFT_API int weft_process_run(weft_process_output *output, const char *const *argv, const weft_process_options *options,
                              weft_time deadline);
WEFT_API void weft_process_output_free(weft_process_output *output);

#ifdef __cplusplus
}
#endif

#endif
