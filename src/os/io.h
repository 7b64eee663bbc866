/* SPDX-License-Identifier: MIT
 *
 * os/io.h - system calls on descriptors.
 *
 * Each returns a count or 0, or a negative error; -EINTR never, the call is made again. On descriptors that do not block,
 * -EAGAIN says that it would have.
 */
#ifndef WF_OS_IO_H
#define WF_OS_IO_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/* What a descriptor is, as far as waiting goes. */
enum wf_os_kind {
    WF_OS_FILE,   /* never waits in a way that can be waited for: disks, folders, some devices */
    WF_OS_PIPE,   /* pipes, terminals, and what else epoll takes */
    WF_OS_SOCKET, /* any socket but the next */
    WF_OS_TCP,    /* a stream over IP: a read that fills less than it could has read everything */
};

/* Its kind, or -EBADF. */
int wf_os_fd_kind(int fd);
/* Returns whether it was blocking before, or a negative error. */
int wf_os_fd_set_blocking(int fd, bool is_blocking);
/* SIGPIPE is ignored from now on, unless there is a handler. */
void wf_os_ignore_broken_pipes(void);

ssize_t wf_os_read(int fd, bool is_socket, void *buffer, size_t size);
ssize_t wf_os_readv(int fd, const struct iovec *parts, int count);
/* No signal where nobody reads any more, on a socket. */
ssize_t wf_os_write(int fd, bool is_socket, const void *bytes, size_t size);
ssize_t wf_os_writev(int fd, bool is_socket, const struct iovec *parts, int count);
ssize_t wf_os_send_file(int to, int from, off_t *offset, size_t size);
ssize_t wf_os_splice(int from, int to, size_t size);
int wf_os_pipe(int ends[2]);
/* Whether it is readable, or writable, at once: also when it has ended, or failed. */
bool wf_os_is_readable(int fd);
bool wf_os_is_writable(int fd);
/* -EIO and others: it is closed then too. */
int wf_os_close_checked(int fd);

#endif
