/* SPDX-License-Identifier: MIT
 *
 * os/process.h - child processes, by pidfd: starting, reaping, signalling.
 *
 * A pidfd names one process for as long as it is open, also when that has ended and its id is another's. It is readable when
 * the process has ended.
 */
#ifndef WF_OS_PROCESS_H
#define WF_OS_PROCESS_H

#include "weft/process.h"

/* What to start. */
struct wf_os_child {
    const char *const *paths; /* of the program, tried in turn, up to a null */
    const char *const *argv;
    const char *const *environment; /* NULL: that of this process */
    const char *folder;             /* NULL: that of this process */
    int numbers[3];                 /* descriptors that become 0, 1 and 2; -1: as they are here */
    int group;                      /* as in weft_process_options */
    int dies_with;                  /* signal at the end of the thread that starts it, or 0 */
    bool default_signals;           /* what is ignored here is not ignored there */
};

/* The paths for a program of that name, in one block for wf_os_free. NULL: no memory. */
const char **wf_os_child_paths(const char *name);
/* 0, or -ENOSYS when this kernel has no pidfds. */
int wf_os_children_check(void);
/* Keeps the thread until the program runs, or cannot. On success *id is set and the pidfd, closed on exec, returned; or a
 * negative error, and there is no child. */
int wf_os_child_start(const struct wf_os_child *what, int *id);
/* Reaps it if it has ended, without waiting. 0; -EAGAIN when it runs; -ECHILD when it is not ours to reap (any more). */
int wf_os_child_reap(int pidfd, weft_process_end *end);
/* 0; -ESRCH, -EPERM, -EINVAL. */
int wf_os_child_signal(int pidfd, int signal);
/* Of one that nobody is to know of: kills and reaps it, and closes the pidfd. */
void wf_os_child_destroy(int pidfd);
/* /dev/null for reading and writing, closed on exec; or a negative error. */
int wf_os_open_null(void);

#endif
