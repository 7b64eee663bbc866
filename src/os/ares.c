/* SPDX-License-Identifier: MIT
 *
 * os/ares.c - the system calls of c-ares. Contracts: os/ares.h.
 *
 * c-ares takes its results as the C library gives them: -1 and errno. In a test build its memory comes from here too, so that
 * a test can deny it; a program that uses c-ares itself shares the library with us, and in a product nothing of it is changed.
 */
#ifdef WF_CARES

#include "os/ares.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/fault.h"
#include "os/socket.h"

static pthread_once_t ares_once = PTHREAD_ONCE_INIT;
static int ares_status; /* written once, inside it */

static void ares_start(void);
static int call_failed(int error);

/* What a channel's calls are made by. */
static ares_socket_t ares_socket_open(int family, int type, int protocol, void *opaque) {
    int *failure = opaque;
    (void)protocol;
    int fd = wf_os_socket(family, type);
    if (fd >= 0)
        return fd;
    if (fd == -EMFILE || fd == -ENFILE)
        *failure = -EMFILE;
    else if (fd == -ENOMEM || fd == -ENOBUFS)
        *failure = -ENOMEM;
    return call_failed(fd);
}

static int call_failed(int error) {
    errno = -error;
    return -1;
}

static int ares_socket_close(ares_socket_t fd, void *opaque) {
    (void)opaque;
    return close(fd);
}

static int ares_socket_connect(ares_socket_t fd, const struct sockaddr *address, ares_socklen_t size, void *opaque) {
    (void)opaque;
    int fault = wf_fault(WF_CALL_CONNECT);
    return fault ? call_failed(fault) : connect(fd, address, size);
}

static ares_ssize_t ares_socket_receive(ares_socket_t fd, void *buffer, size_t size, int flags, struct sockaddr *from,
                                        ares_socklen_t *from_size, void *opaque) {
    (void)opaque;
    int fault = wf_fault(WF_CALL_RECEIVE);
    return fault ? call_failed(fault) : recvfrom(fd, buffer, size, flags, from, from_size);
}

/* No signal when the other side has gone. */
static ares_ssize_t ares_socket_send(ares_socket_t fd, const struct iovec *parts, int count, void *opaque) {
    (void)opaque;
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};
    int fault = wf_fault(WF_CALL_SEND);
    return fault ? call_failed(fault) : sendmsg(fd, &message, MSG_NOSIGNAL);
}

static const struct ares_socket_functions ares_calls = {
    .asocket = ares_socket_open,
    .aclose = ares_socket_close,
    .aconnect = ares_socket_connect,
    .arecvfrom = ares_socket_receive,
    .asendv = ares_socket_send,
};

int wf_os_ares_open(ares_channel *out, struct ares_options *options, int mask, int *failure) {
    ares_channel channel = NULL;
    pthread_once(&ares_once, ares_start);
    if (ares_status)
        return -ENOMEM;
    errno = 0;
    int status = ares_init_options(&channel, options, mask);
    if (status == ARES_ENOMEM)
        return -ENOMEM;
    if (status)
        return errno == EMFILE || errno == ENFILE ? -EMFILE : -EAGAIN;
    ares_set_socket_functions(channel, &ares_calls, failure);
    *out = channel;
    return 0;
}

#ifdef WF_TESTING
static void *ares_alloc(size_t bytes) {
    return wf_fault(WF_CALL_ALLOC) ? NULL : malloc(bytes);
}

static void *ares_realloc(void *block, size_t bytes) {
    return wf_fault(WF_CALL_ALLOC) ? NULL : realloc(block, bytes);
}

static void ares_start(void) {
    ares_status = ares_library_init_mem(ARES_LIB_INIT_ALL, ares_alloc, free, ares_realloc);
}
#else
static void ares_start(void) {
    ares_status = ares_library_init(ARES_LIB_INIT_ALL);
}
#endif

#endif

typedef int wf_ares_unit_is_not_empty;
