/* SPDX-License-Identifier: MIT
 *
 * os/eventfd.c - the eventfd calls.
 *
 * A write that would block means that the counter is full, so it is readable already; a read that would block means that
 * it is clear already. Interrupted calls are made again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/eventfd.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/fault.h"

int wf_os_eventfd_open(void) {
    int fault = wf_fault(WF_CALL_EVENTFD);
    if (fault)
        return fault;
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

void wf_os_eventfd_close(int fd) {
    close(fd);
}

void wf_os_eventfd_set(int fd) {
    uint64_t one = 1;
    int error;
    do {
        int fault = wf_fault(WF_CALL_EVENTFD_WRITE);
        error = fault ? -fault : write(fd, &one, sizeof one) == sizeof one ? 0 : errno;
    } while (error == EINTR);
    WF_CHECK(error == 0 || error == EAGAIN);
}

void wf_os_eventfd_clear(int fd) {
    uint64_t count;
    int error;
    do {
        int fault = wf_fault(WF_CALL_EVENTFD_READ);
        error = fault ? -fault : read(fd, &count, sizeof count) == sizeof count ? 0 : errno;
    } while (error == EINTR);
    WF_CHECK(error == 0 || error == EAGAIN);
}
