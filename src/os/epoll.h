/* SPDX-License-Identifier: MIT
 *
 * os/epoll.h - epoll sets: which of many descriptors are ready.
 *
 * Each descriptor in a set has a tag of the caller's, which comes back with what it is ready for. Readiness is told as long
 * as it lasts, unless it was asked for ONCE: then the descriptor is deaf afterwards, until it is modified; or at EDGES: then
 * only what is new is told.
 */
#ifndef WF_OS_EPOLL_H
#define WF_OS_EPOLL_H

#include <stdint.h>

/* HANGUP: the other side has shut down, or half of it. It and ERROR come unasked; half of a hangup does not when nothing is
 * asked for. */
enum {
    WF_EPOLL_READ = 1,
    WF_EPOLL_WRITE = 2,
    WF_EPOLL_HANGUP = 4,
    WF_EPOLL_ERROR = 8,
    WF_EPOLL_ONCE = 16,
    WF_EPOLL_EDGES = 32,
    WF_EPOLL_URGENT = 64, /* data out of turn */
};

struct wf_os_ready {
    uint64_t tag;
    uint32_t events;
};

enum { WF_EPOLL_MOST = 256 }; /* in one wait */

/* The descriptor of an empty set, closed on exec; or -EMFILE, -ENFILE, -ENOMEM. It is itself readable while something in it
 * is ready. */
int wf_os_epoll_open(void);
/* 0; -EBADF, -EPERM for what cannot be watched, -ENOMEM, -ENOSPC, -ELOOP, -EEXIST, -ENOENT. */
int wf_os_epoll_add(int epoll_fd, int fd, unsigned events, uint64_t tag);
int wf_os_epoll_modify(int epoll_fd, int fd, unsigned events, uint64_t tag);
/* fd is in the set; if somebody has closed it behind our back it is out of it already. */
void wf_os_epoll_remove(int epoll_fd, int fd);

/* Waits until something is ready, or the moment has come; one that is past: only looks. Returns how many it has written, at
 * most room, which is at most WF_EPOLL_MOST; -EINTR for a signal; other errors are for good. Never back before the moment
 * without a reason. */
int wf_os_epoll_wait(int epoll_fd, struct wf_os_ready *ready, int room, int64_t deadline_ns);

/* Another descriptor for the same file, closed on exec; or -EBADF, -EMFILE. */
int wf_os_duplicate(int fd);
void wf_os_close(int fd);

#endif
