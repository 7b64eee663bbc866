/* SPDX-License-Identifier: MIT
 *
 * os/poll.c - an epoll set and its eventfd.
 *
 * The eventfd is registered edge-triggered: a wake is noticed once, and its counter is never read on the way back to
 * work. It is drained only when a write finds it full, 2^64 wakes later or in a test.
 *
 * The bare calls: see os/epoll.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/poll.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/epoll.h"
#include "os/fault.h"

int wf_os_poll_open(struct wf_os_poll *poll) {
    poll->ready_count = 0;
    poll->epoll_fd = wf_os_epoll_open();
    if (poll->epoll_fd < 0)
        return poll->epoll_fd;

    int error = wf_fault(WF_CALL_EVENTFD);
    poll->event_fd = error ? -1 : (int)syscall(SYS_eventfd2, 0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (poll->event_fd < 0) {
        error = error ? error : -errno;
        goto close_epoll;
    }

    struct epoll_event wish = {.events = EPOLLIN | EPOLLET, .data.u64 = 0};
    error = wf_fault(WF_CALL_EPOLL_CTL);
    if (!error && syscall(SYS_epoll_ctl, poll->epoll_fd, EPOLL_CTL_ADD, poll->event_fd, &wish) != 0)
        error = -errno;
    if (!error)
        return 0;

    wf_os_close(poll->event_fd);
close_epoll:
    wf_os_close(poll->epoll_fd);
    return error;
}

void wf_os_poll_close(struct wf_os_poll *poll) {
    wf_os_close(poll->event_fd);
    wf_os_close(poll->epoll_fd);
}

void wf_os_poll_wait(struct wf_os_poll *poll, int64_t deadline_ns) {
    int count = wf_os_epoll_wait(poll->epoll_fd, poll->ready, WF_POLL_MOST, deadline_ns);
    poll->ready_count = 0;
    for (int i = 0; i < count; i++)
        if (poll->ready[i].tag)
            poll->ready[poll->ready_count++] = poll->ready[i];
}

void wf_os_poll_wake(struct wf_os_poll *poll) {
    for (;;) {
        uint64_t one = 1;
        int fault = wf_fault(WF_CALL_EVENTFD_WRITE);
        if (!fault && syscall(SYS_write, poll->event_fd, &one, sizeof one) == sizeof one)
            return;
        int error = fault ? -fault : errno;
        WF_CHECK(error == EAGAIN || error == EINTR);
        if (error == EAGAIN && !wf_fault(WF_CALL_EVENTFD_READ)) {
            long ignored = syscall(SYS_read, poll->event_fd, &one, sizeof one);
            (void)ignored;
        }
    }
}

int wf_os_poll_add(struct wf_os_poll *poll, int fd, uint64_t tag) {
    WF_ASSERT(tag != 0);
    return wf_os_epoll_add(poll->epoll_fd, fd, WF_EPOLL_READ | WF_EPOLL_ONCE, tag);
}

int wf_os_poll_watch(struct wf_os_poll *poll, int fd, uint64_t tag) {
    WF_ASSERT(tag != 0);
    return wf_os_epoll_add(poll->epoll_fd, fd, WF_EPOLL_READ | WF_EPOLL_WRITE | WF_EPOLL_URGENT | WF_EPOLL_EDGES, tag);
}

int wf_os_poll_arm(struct wf_os_poll *poll, int fd, uint64_t tag) {
    return wf_os_epoll_modify(poll->epoll_fd, fd, WF_EPOLL_READ | WF_EPOLL_ONCE, tag);
}

void wf_os_poll_remove(struct wf_os_poll *poll, int fd) {
    wf_os_epoll_remove(poll->epoll_fd, fd);
}
