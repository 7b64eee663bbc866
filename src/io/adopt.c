/* SPDX-License-Identifier: MIT
 *
 * io/adopt.c - descriptors that were made elsewhere, and pipes.
 *
 * A character device that epoll does not take (/dev/null, /dev/urandom) cannot be told from one that it does (a terminal) but
 * by asking it.
 */
#include <errno.h>

#include "io/fd.h"

int weft_adopt(weft_fd *out, int number, unsigned flags) {
    if (!out || (flags & ~(unsigned)WEFT_ADOPT_KEEP))
        return -EINVAL;
    int kind = wf_os_fd_kind(number);
    if (kind < 0)
        return kind;
    int was_blocking = kind == WF_OS_FILE ? 0 : wf_os_fd_set_blocking(number, false);
    if (was_blocking < 0)
        return was_blocking;
    weft_fd fd;
    int error = wf_fd_open(&fd, number, (enum wf_os_kind)kind,
                           (flags & WEFT_ADOPT_KEEP ? WF_FD_KEPT : 0) | (was_blocking ? WF_FD_WAS_BLOCKING : 0));
    if (error) {
        if (was_blocking)
            wf_os_fd_set_blocking(number, true);
        return error;
    }
    *out = fd;
    return 0;
}

int weft_pipe(weft_fd ends[2]) {
    int numbers[2];
    weft_fd fds[2];
    if (!ends)
        return -EINVAL;
    int error = wf_os_pipe(numbers);
    if (error)
        return error;
    error = wf_fd_open(&fds[0], numbers[0], WF_OS_PIPE, 0);
    if (error)
        goto close_both;
    error = wf_fd_open(&fds[1], numbers[1], WF_OS_PIPE, 0);
    if (error) {
        weft_close(fds[0]);
        goto close_second;
    }
    ends[0] = fds[0];
    ends[1] = fds[1];
    return 0;

close_both:
    wf_os_close_checked(numbers[0]);
close_second:
    wf_os_close_checked(numbers[1]);
    return error;
}
