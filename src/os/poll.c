/* SPDX-License-Identifier: MIT
 *
 * os/poll.c - epoll.
 *
 * epoll_pwait2 takes nanoseconds; kernels before 5.11 have only milliseconds, which are rounded up, so that a timer is
 * late by less than one and never early. Sandboxes that do not know the newer call answer with various errors: any of
 * them means the older one.
 *
 * The eventfd is registered edge-triggered: a wake is noticed once, and its counter is never read on the way back to
 * work. It is drained only when a write finds it full, 2^64 wakes later or in a test.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/poll.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/clock.h"
#include "os/fault.h"

static void close_quietly(int fd);
static void poll_wait_for(int epoll_fd, int64_t distance_ns);
static int poll_wait_milliseconds(int epoll_fd, struct epoll_event *event, int64_t distance_ns);

int wf_os_poll_open(struct wf_os_poll *poll) {
    int error = wf_fault(WF_CALL_EPOLL_CREATE);
    poll->epoll_fd = error ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (poll->epoll_fd < 0)
        return error ? error : -errno;

    error = wf_fault(WF_CALL_EVENTFD);
    poll->event_fd = error ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (poll->event_fd < 0) {
        error = error ? error : -errno;
        goto close_epoll;
    }

    struct epoll_event wish = {.events = EPOLLIN | EPOLLET, .data.u64 = 0};
    error = wf_fault(WF_CALL_EPOLL_CTL);
    if (!error && epoll_ctl(poll->epoll_fd, EPOLL_CTL_ADD, poll->event_fd, &wish) != 0)
        error = -errno;
    if (!error)
        return 0;

    close_quietly(poll->event_fd);
close_epoll:
    close_quietly(poll->epoll_fd);
    return error;
}

/* Here and below the bare call: ThreadSanitizer watches the library's functions for the user's descriptors, and these are
 * not the user's. */
static void close_quietly(int fd) {
    syscall(SYS_close, fd);
}

void wf_os_poll_close(struct wf_os_poll *poll) {
    close_quietly(poll->event_fd);
    close_quietly(poll->epoll_fd);
}

void wf_os_poll_wait(struct wf_os_poll *poll, int64_t deadline_ns) {
    if (wf_fault(WF_CALL_EPOLL_WAIT))
        return;
    int64_t lag = wf_os_clock_lag();
    int64_t distance = deadline_ns < 0 ? 0 : deadline_ns == WF_NEVER ? WF_NEVER : deadline_ns - wf_os_now();
    poll_wait_for(poll->epoll_fd, distance < 0 ? 0 : distance);
    if (distance > 0) /* a look takes no time */
        wf_os_clock_catch_up(lag);
}

static void poll_wait_for(int epoll_fd, int64_t distance_ns) {
    struct epoll_event event;
    if (distance_ns == WF_NEVER) {
        epoll_wait(epoll_fd, &event, 1, -1);
        return;
    }
#ifdef SYS_epoll_pwait2
    struct timespec limit = {.tv_sec = distance_ns / 1000000000, .tv_nsec = distance_ns % 1000000000};
    long got = syscall(SYS_epoll_pwait2, epoll_fd, &event, 1, &limit, NULL, 0);
    if (got >= 0 || errno == EINTR)
        return;
#endif
    poll_wait_milliseconds(epoll_fd, &event, distance_ns);
}

static int poll_wait_milliseconds(int epoll_fd, struct epoll_event *event, int64_t distance_ns) {
    int64_t milliseconds = distance_ns / 1000000 + (distance_ns % 1000000 != 0);
    return epoll_wait(epoll_fd, event, 1, milliseconds > INT_MAX ? INT_MAX : (int)milliseconds);
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
