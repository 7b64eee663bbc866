/* SPDX-License-Identifier: MIT
 *
 * os/socket.c - system calls on sockets. Contracts: os/socket.h.
 *
 * How a connection fares is asked by connecting again: the kernel answers EALREADY while it is on its way, once 0 and then
 * EISCONN when it stands, and its error when it has failed. That is one call, and cannot be deceived by somebody who
 * was woken for nothing, as reading SO_ERROR could.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/socket.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "os/call.h"
#include "os/fault.h"

_Static_assert(WF_OS_INTERFACE_NAME == IF_NAMESIZE, "the system's length of a name");

static const char *path_of(const weft_address *address);

int wf_os_socket(int family, int type) {
    int result;
    WF_OS_CALL(result, SOCKET, socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    return result;
}

int wf_os_socket_pair(int ends[2]) {
    int result;
    WF_OS_CALL(result, SOCKET, socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends));
    return result;
}

int wf_os_socket_set(int fd, enum wf_os_option option, int value) {
    static const struct {
        int level, name;
    } names[] = {
        [WF_OS_REUSE_ADDRESS] = {SOL_SOCKET, SO_REUSEADDR}, [WF_OS_REUSE_PORT] = {SOL_SOCKET, SO_REUSEPORT},
        [WF_OS_ONLY_V6] = {IPPROTO_IPV6, IPV6_V6ONLY},      [WF_OS_NO_DELAY] = {IPPROTO_TCP, TCP_NODELAY},
        [WF_OS_KEEP_ALIVE] = {SOL_SOCKET, SO_KEEPALIVE},    [WF_OS_BROADCAST] = {SOL_SOCKET, SO_BROADCAST},
        [WF_OS_SEND_BUFFER] = {SOL_SOCKET, SO_SNDBUF},      [WF_OS_RECEIVE_BUFFER] = {SOL_SOCKET, SO_RCVBUF},
    };
    int result;
    WF_OS_CALL(result, SOCKET_OPTION, setsockopt(fd, names[option].level, names[option].name, &value, sizeof value));
    return result;
}

int wf_os_socket_reset_at_close(int fd) {
    struct linger at_once = {.l_onoff = 1};
    int result;
    WF_OS_CALL(result, SOCKET_OPTION, setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
    return result;
}

int wf_os_disconnect(int fd) {
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    int result;
    WF_OS_CALL(result, SHUTDOWN, connect(fd, &nobody, sizeof nobody));
    return result;
}

int wf_os_bind(int fd, const weft_address *address) {
    int result;
    WF_OS_CALL(result, BIND, bind(fd, (const struct sockaddr *)&address->storage, address->size));
    return result;
}

int wf_os_listen(int fd, int backlog) {
    int result;
    WF_OS_CALL(result, LISTEN, listen(fd, backlog));
    return result;
}

int wf_os_accept(int fd, weft_address *from) {
    struct sockaddr *peer = from ? (struct sockaddr *)&from->storage : NULL;
    socklen_t size = sizeof from->storage;
    int result;
    WF_OS_CALL(result, ACCEPT, accept4(fd, peer, from ? &size : NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (from && result >= 0)
        from->size = size;
    return result;
}

int wf_os_connect(int fd, const weft_address *address) {
    int result;
    WF_OS_CALL(result, CONNECT, connect(fd, (const struct sockaddr *)&address->storage, address->size));
    if (result == -EALREADY)
        return -EINPROGRESS;
    return result == -EISCONN ? 0 : result;
}

int wf_os_shutdown(int fd, int how) {
    int result;
    WF_OS_CALL(result, SHUTDOWN, shutdown(fd, how));
    return result;
}

int wf_os_local_address(int fd, weft_address *out) {
    socklen_t size = sizeof out->storage;
    int result;
    WF_OS_CALL(result, SOCKET_NAME, getsockname(fd, (struct sockaddr *)&out->storage, &size));
    out->size = size;
    return result;
}

int wf_os_peer_address(int fd, weft_address *out) {
    socklen_t size = sizeof out->storage;
    int result;
    WF_OS_CALL(result, SOCKET_NAME, getpeername(fd, (struct sockaddr *)&out->storage, &size));
    out->size = size;
    return result;
}

ssize_t wf_os_send_to(int fd, const void *bytes, size_t size, const weft_address *to) {
    const struct sockaddr *where = to ? (const struct sockaddr *)&to->storage : NULL;
    ssize_t result;
    WF_OS_CALL(result, SEND, sendto(fd, bytes, size, MSG_NOSIGNAL, where, to ? to->size : 0));
    return result;
}

ssize_t wf_os_receive_from(int fd, void *buffer, size_t size, weft_address *from, bool *was_cut) {
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t result;
    if (from) {
        message.msg_name = &from->storage;
        message.msg_namelen = sizeof from->storage;
    }
    WF_OS_CALL(result, RECEIVE, recvmsg(fd, &message, 0));
    if (result < 0)
        return result;
    if (from)
        from->size = message.msg_namelen;
    *was_cut = message.msg_flags & MSG_TRUNC;
    return result;
}

static const char *path_of(const weft_address *address) {
    return ((const struct sockaddr_un *)&address->storage)->sun_path;
}

/* A connection to what somebody has bound is refused only when he has closed it. He is asked by a socket of a kind that nobody
 * here has: it is refused for that reason otherwise, and whoever listens does not even notice. What is not a socket refuses too,
 * and is none of our business. */
bool wf_os_socket_path_is_stale(const weft_address *address) {
    struct stat about;
    int error;
    WF_OS_CALL(error, FSTAT, lstat(path_of(address), &about));
    if (error || !S_ISSOCK(about.st_mode))
        return false;
    int probe = wf_os_socket(AF_UNIX, SOCK_SEQPACKET);
    if (probe < 0)
        return false;
    bool is_stale = wf_os_connect(probe, address) == -ECONNREFUSED;
    close(probe);
    return is_stale;
}

int wf_os_socket_path_set_mode(const weft_address *address, unsigned mode) {
    int result;
    WF_OS_CALL(result, SOCKET_OPTION, chmod(path_of(address), mode));
    return result;
}

void wf_os_socket_path_remove(const weft_address *address) {
    unlink(path_of(address));
}

unsigned wf_os_interface_number(const char *name) {
    return if_nametoindex(name);
}

bool wf_os_interface_name(unsigned number, char name[WF_OS_INTERFACE_NAME]) {
    return if_indextoname(number, name) != NULL;
}
