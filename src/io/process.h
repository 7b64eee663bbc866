/* SPDX-License-Identifier: MIT
 *
 * io/process.h - child processes: what the files about them share.
 *
 * The interface is weft/process.h, the model is told in io/process.c: a record for each child, a sentry at its pidfd, and the
 * keeper that reaps it.
 */
#ifndef WF_IO_PROCESS_H
#define WF_IO_PROCESS_H

#include "os/process.h"
#include "weft/process.h"

/* Waits for the end of one that was killed, whoever is cancelled meanwhile. Returns as weft_process_wait. */
int wf_process_wait_surely(weft_process process, weft_process_end *end);

/* io/spawner.c: wf_os_child_start on a thread that stays as long as this process. */
int wf_spawner_start_child(const struct wf_os_child *what, int *id);
void wf_spawner_after_fork(void);
/* Whether that thread is there, and has nothing to do. */
bool wf_spawner_is_there(void);

/* Any thread: whether somebody waits for a child. */
bool wf_processes_are_awaited(void);
/* In the child of a fork: the children are those of the parent, and every name of one is stale. */
void wf_processes_after_fork(void);

#endif
