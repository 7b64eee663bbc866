/* SPDX-License-Identifier: MIT
 *
 * os/epoll.c - the epoll calls.
 *
 * epoll_pwait2 takes nanoseconds; kernels before 5.11 have only milliseconds, which are rounded up, so that a timer is
 * late by less than one and never early. Sandboxes that do not know the newer call answer with various errors: any of
 * them means the older one, which then says what is really wrong.
 *
 * The bare calls: ThreadSanitizer watches the library's functions for the user's descriptors, and these are not the user's.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/epoll.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/report.h"

static int epoll_control(int epoll_fd, int operation, int fd, unsigned events, uint64_t tag);
static uint32_t to_kernel(unsigned events);
static uint32_t from_kernel(uint32_t flags);
static int wait_for(int epoll_fd, struct epoll_event *found, int room, int64_t distance_ns);

int wf_os_epoll_open(void) {
    int fault = wf_fault(WF_CALL_EPOLL_CREATE);
    if (fault)
        return fault;
    int fd = (int)syscall(SYS_epoll_create1, EPOLL_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int wf_os_epoll_add(int epoll_fd, int fd, unsigned events, uint64_t tag) {
    return epoll_control(epoll_fd, EPOLL_CTL_ADD, fd, events, tag);
}

int wf_os_epoll_modify(int epoll_fd, int fd, unsigned events, uint64_t tag) {
    return epoll_control(epoll_fd, EPOLL_CTL_MOD, fd, events, tag);
}

void wf_os_epoll_remove(int epoll_fd, int fd) {
    struct epoll_event ignored = {0};
    if (syscall(SYS_epoll_ctl, epoll_fd, EPOLL_CTL_DEL, fd, &ignored) != 0 && errno != EBADF && errno != ENOENT)
        wf_fatal("a descriptor cannot be taken out of its epoll set: error %d", errno);
}

static int epoll_control(int epoll_fd, int operation, int fd, unsigned events, uint64_t tag) {
    struct epoll_event wish = {.events = to_kernel(events), .data.u64 = tag};
    int fault = wf_fault(WF_CALL_EPOLL_CTL);
    if (fault)
        return fault;
    return syscall(SYS_epoll_ctl, epoll_fd, operation, fd, &wish) == 0 ? 0 : -errno;
}

static uint32_t to_kernel(unsigned events) {
    uint32_t flags = events & WF_EPOLL_ONCE ? EPOLLONESHOT : 0;
    if (events & WF_EPOLL_EDGES)
        flags |= EPOLLET;
    if (events & WF_EPOLL_URGENT)
        flags |= EPOLLPRI;
    if (events & (WF_EPOLL_READ | WF_EPOLL_WRITE))
        flags |= EPOLLRDHUP;
    if (events & WF_EPOLL_READ)
        flags |= EPOLLIN;
    if (events & WF_EPOLL_WRITE)
        flags |= EPOLLOUT;
    return flags;
}

static uint32_t from_kernel(uint32_t flags) {
    uint32_t events = 0;
    if (flags & EPOLLIN)
        events |= WF_EPOLL_READ;
    if (flags & EPOLLOUT)
        events |= WF_EPOLL_WRITE;
    if (flags & (EPOLLRDHUP | EPOLLHUP))
        events |= WF_EPOLL_HANGUP;
    if (flags & EPOLLERR)
        events |= WF_EPOLL_ERROR;
    if (flags & EPOLLPRI)
        events |= WF_EPOLL_URGENT;
    return events;
}

int wf_os_epoll_wait(int epoll_fd, struct wf_os_ready *ready, int room, int64_t deadline_ns) {
    struct epoll_event found[WF_EPOLL_MOST];
    WF_ASSERT(room <= WF_EPOLL_MOST);
    int fault = wf_fault(WF_CALL_EPOLL_WAIT);
    if (fault)
        return fault;
    int64_t lag = wf_os_clock_lag();
    int64_t distance = deadline_ns < 0 ? 0 : deadline_ns == WF_NEVER ? WF_NEVER : deadline_ns - wf_os_now();
    int count = wait_for(epoll_fd, found, room, distance < 0 ? 0 : distance);
    if (distance > 0) /* a look takes no time */
        wf_os_clock_catch_up(lag);
    for (int i = 0; i < count; i++)
        ready[i] = (struct wf_os_ready){.tag = found[i].data.u64, .events = from_kernel(found[i].events)};
    return count;
}

static int wait_for(int epoll_fd, struct epoll_event *found, int room, int64_t distance_ns) {
#ifdef SYS_epoll_pwait2
    if (distance_ns != WF_NEVER) {
        struct timespec limit = {.tv_sec = distance_ns / 1000000000, .tv_nsec = distance_ns % 1000000000};
        long count = syscall(SYS_epoll_pwait2, epoll_fd, found, room, &limit, NULL, 0);
        if (count >= 0 || errno == EINTR)
            return count < 0 ? -EINTR : (int)count;
    }
#endif
    int64_t milliseconds = distance_ns / 1000000 + (distance_ns % 1000000 != 0);
    int limit = distance_ns == WF_NEVER ? -1 : milliseconds > INT_MAX ? INT_MAX : (int)milliseconds;
    long count = syscall(SYS_epoll_pwait, epoll_fd, found, room, limit, NULL, 0);
    return count < 0 ? -errno : (int)count;
}

int wf_os_duplicate(int fd) {
    int fault = wf_fault(WF_CALL_DUPLICATE);
    if (fault)
        return fault;
    int copy = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? -errno : copy;
}

void wf_os_close(int fd) {
    syscall(SYS_close, fd);
}
