/* SPDX-License-Identifier: MIT
 *
 * os/io.c - system calls on descriptors.
 *
 * The functions of the C library and not the bare calls: they are the program's descriptors, and ThreadSanitizer is to see
 * that what was written to one was read from it. Except, where no sanitizer looks, for what every request of a server does:
 * in a process with several threads the library gets ready for pthread_cancel each time, which takes longer than the rest of
 * its way. Contracts: os/io.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/io.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "os/call.h"
#include "os/epoll.h"
#include "os/fault.h"

static int socket_kind(int fd);
static int device_kind(int fd);

int wf_os_fd_kind(int fd) {
    struct stat about;
    int result;
    WF_OS_CALL(result, FSTAT, fstat(fd, &about));
    if (result < 0)
        return result;
    if (S_ISSOCK(about.st_mode))
        return socket_kind(fd);
    if (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode))
        return WF_OS_FILE;
    return S_ISCHR(about.st_mode) ? device_kind(fd) : WF_OS_PIPE;
}

/* A terminal can be watched, /dev/null cannot, and only trying tells. */
static int device_kind(int fd) {
    int set = wf_os_epoll_open();
    if (set < 0)
        return set;
    int error = wf_os_epoll_add(set, fd, WF_EPOLL_READ, 0);
    wf_os_close(set);
    return error == -EPERM ? WF_OS_FILE : error ? error : WF_OS_PIPE;
}

static int socket_kind(int fd) {
    int domain = 0, protocol = 0;
    socklen_t size = sizeof domain;
    getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    size = sizeof protocol;
    getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size);
    return (domain == AF_INET || domain == AF_INET6) && protocol == IPPROTO_TCP ? WF_OS_TCP : WF_OS_SOCKET;
}

int wf_os_fd_set_blocking(int fd, bool is_blocking) {
    int flags, result;
    WF_OS_CALL(flags, FCNTL, fcntl(fd, F_GETFL));
    if (flags < 0)
        return flags;
    bool was_blocking = !(flags & O_NONBLOCK);
    if (was_blocking == is_blocking)
        return was_blocking;
    WF_OS_CALL(result, FCNTL, fcntl(fd, F_SETFL, is_blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK));
    return result < 0 ? result : was_blocking;
}

void wf_os_ignore_broken_pipes(void) {
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) {
        now.sa_handler = SIG_IGN;
        sigaction(SIGPIPE, &now, NULL);
    }
}

#if defined(WF_ASAN) || defined(WF_TSAN)
#define RECEIVE(fd, buffer, size) recv(fd, buffer, size, 0)
#define TRANSMIT(fd, bytes, size) send(fd, bytes, size, MSG_NOSIGNAL)
#else
#define RECEIVE(fd, buffer, size) syscall(SYS_recvfrom, fd, buffer, size, 0, NULL, NULL)
#define TRANSMIT(fd, bytes, size) syscall(SYS_sendto, fd, bytes, size, MSG_NOSIGNAL, NULL, 0)
#endif

/* For a socket each of these is a way through the kernel that is a little shorter than the general one. */
ssize_t wf_os_read(int fd, bool is_socket, void *buffer, size_t size) {
    ssize_t result;
    WF_OS_CALL(result, READ, is_socket ? RECEIVE(fd, buffer, size) : read(fd, buffer, size));
    return result;
}

ssize_t wf_os_readv(int fd, const struct iovec *parts, int count) {
    ssize_t result;
    WF_OS_CALL(result, READ, readv(fd, parts, count));
    return result;
}

ssize_t wf_os_write(int fd, bool is_socket, const void *bytes, size_t size) {
    ssize_t result;
    WF_OS_CALL(result, SEND, is_socket ? TRANSMIT(fd, bytes, size) : write(fd, bytes, size));
    return result;
}

ssize_t wf_os_writev(int fd, bool is_socket, const struct iovec *parts, int count) {
    if (count == 1)
        return wf_os_write(fd, is_socket, parts->iov_base, parts->iov_len);
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};
    ssize_t result;
    WF_OS_CALL(result, SEND, is_socket ? sendmsg(fd, &message, MSG_NOSIGNAL) : writev(fd, parts, count));
    return result;
}

ssize_t wf_os_send_file(int to, int from, off_t *offset, size_t size) {
    ssize_t result;
    WF_OS_CALL(result, SEND, sendfile(to, from, offset, size));
    return result;
}

ssize_t wf_os_splice(int from, int to, size_t size) {
    ssize_t result;
    WF_OS_CALL(result, SEND, splice(from, NULL, to, NULL, size, SPLICE_F_NONBLOCK | SPLICE_F_MOVE));
    return result;
}

int wf_os_pipe(int ends[2]) {
    int result;
    WF_OS_CALL(result, PIPE, pipe2(ends, O_CLOEXEC | O_NONBLOCK));
    return result;
}

static bool is_ready(int fd, short events) {
    struct pollfd look = {.fd = fd, .events = events};
    int result;
    WF_OS_CALL(result, POLL, poll(&look, 1, 0));
    return result != 0; /* one that cannot be asked is ready to say so */
}

bool wf_os_is_readable(int fd) {
    return is_ready(fd, POLLIN | POLLRDHUP);
}

bool wf_os_is_writable(int fd) {
    return is_ready(fd, POLLOUT);
}

int wf_os_close_checked(int fd) {
    int fault = wf_fault(WF_CALL_CLOSE);
    return close(fd) == 0 || errno == EINTR ? fault : -errno; /* interrupted: it is closed all the same */
}
