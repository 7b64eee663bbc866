/* SPDX-License-Identifier: MIT
 *
 * os/poll.h - one epoll set with an eventfd that breaks a wait.
 *
 * The engine's poller sleeps here with the next timer as its limit. Descriptors of users join the set in a higher
 * layer; the wake-up descriptor is the one that is always in it.
 */
#ifndef WF_OS_POLL_H
#define WF_OS_POLL_H

#include <stdint.h>

struct wf_os_poll {
    int epoll_fd;
    int event_fd;
};

/* Returns 0, or -EMFILE, -ENFILE, -ENOMEM, -ENOSPC; then nothing is left open. */
int wf_os_poll_open(struct wf_os_poll *poll);
void wf_os_poll_close(struct wf_os_poll *poll);

/* Sleeps until somebody calls wf_os_poll_wake or the deadline has passed. A wake that came before the wait ends it at
 * once; wakes do not add up. May return early for a signal: the caller looks at its own words anyway. */
void wf_os_poll_wait(struct wf_os_poll *poll, int64_t deadline_ns);
void wf_os_poll_wake(struct wf_os_poll *poll);

#endif
