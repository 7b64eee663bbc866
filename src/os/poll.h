/* SPDX-License-Identifier: MIT
 *
 * os/poll.h - one epoll set with an eventfd that breaks a wait.
 *
 * The engine's poller sleeps here with the next timer as its limit. Descriptors of a higher layer join the set with a tag
 * (sched/sentry.h); the wake-up descriptor is the one that is always in it.
 */
#ifndef WF_OS_POLL_H
#define WF_OS_POLL_H

#include "os/epoll.h"

/* 64: in one wait. What is ready beyond that is found by the next one, and another worker may be the one who waits. */
enum { WF_POLL_MOST = 64 };

struct wf_os_poll {
    int epoll_fd;
    int event_fd;
    /* Of the last wait; for the one who waited. */
    uint32_t ready_count;
    struct wf_os_ready ready[WF_POLL_MOST];
};

/* Returns 0, or -EMFILE, -ENFILE, -ENOMEM, -ENOSPC; then nothing is left open. */
int wf_os_poll_open(struct wf_os_poll *poll);
void wf_os_poll_close(struct wf_os_poll *poll);

/* Sleeps until somebody calls wf_os_poll_wake, a descriptor is ready, or the deadline has passed. A wake that came before the
 * wait ends it at once; wakes do not add up. May return early for a signal: the caller looks at its own words anyway. One
 * thread at a time. */
void wf_os_poll_wait(struct wf_os_poll *poll, int64_t deadline_ns);
void wf_os_poll_wake(struct wf_os_poll *poll);

/* Any thread. add: one wait tells the tag, which is not 0, when fd is readable, and no other does until it is armed again.
 * watch: each wait tells the tag when something is new, whatever it is, and fd need not be armed. Return 0; -ENOMEM, -ENOSPC,
 * -EPERM, -EBADF, -ELOOP. remove: a wait that goes on may still tell the tag. */
int wf_os_poll_add(struct wf_os_poll *poll, int fd, uint64_t tag);
int wf_os_poll_watch(struct wf_os_poll *poll, int fd, uint64_t tag);
int wf_os_poll_arm(struct wf_os_poll *poll, int fd, uint64_t tag);
void wf_os_poll_remove(struct wf_os_poll *poll, int fd);

#endif
