/* SPDX-License-Identifier: MIT
 *
 * os/eventfd.h - descriptors that are readable while they are set.
 *
 * For handing the state of an object of ours to somebody else's poll, select or epoll. Nobody ever blocks on one here:
 * they are not blocking, and set and clear are at most one system call each.
 */
#ifndef WF_OS_EVENTFD_H
#define WF_OS_EVENTFD_H

/* The descriptor, closed on exec; or -EMFILE, -ENFILE, -ENOMEM, -ENODEV. */
int wf_os_eventfd_open(void);
void wf_os_eventfd_close(int fd);
/* Readable from now on, and no longer. Both may be repeated. */
void wf_os_eventfd_set(int fd);
void wf_os_eventfd_clear(int fd);

#endif
