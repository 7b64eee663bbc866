/* SPDX-License-Identifier: MIT
 *
 * io/datagram.c - datagrams.
 *
 * A datagram to a path whose owner has a full queue cannot be sent, and the kernel does not tell the sender when there is room
 * unless the two are connected: so it is tried again after a pause, or earlier when there is news.
 */
#include <errno.h>
#include <stddef.h>

#include "io/socket.h"

/* As in io/connect.c: the owner of a path comes round. */
enum { FULL_PAUSE_MOST_NS = 100 * 1000 * 1000 };

static int wait_to_send(struct wf_fd *record, uint32_t before, bool is_told, int64_t *pause_ns, int64_t deadline_ns);

int weft_datagram_open(weft_fd *out, const weft_address *address, const weft_socket_options *options) {
    weft_address any = {0};
    weft_fd fd;
    if (!address)
        wf_address_any(&any, 0);
    address = address ? address : &any;
    if (!out || !wf_address_is_good(address) || !wf_socket_options_are_good(options))
        return -EINVAL;
    int number = wf_socket_bound(address, SOCK_DGRAM, options);
    if (number < 0)
        return number;
    int error = wf_socket_wrap(&fd, number, WF_OS_SOCKET);
    if (!error)
        *out = fd;
    else if (wf_address_is_path(address))
        wf_os_socket_path_remove(address);
    return error;
}

int weft_datagram_connect(weft_fd fd, const weft_address *address) {
    if (!wf_address_is_good(address))
        return -EINVAL;
    struct wf_fd *record = wf_fd_get(fd);
    if (!record)
        return -EBADF;
    int error = record->kind == WF_OS_TCP ? -EINVAL : wf_os_connect(record->number, address);
    wf_fd_put(record);
    return error;
}

ssize_t weft_send_to(weft_fd fd, const void *bytes, size_t size, const weft_address *to, weft_time deadline) {
    int64_t pause_ns = 0;
    if ((!bytes && size > 0) || (to && !wf_address_is_good(to)))
        return -EINVAL;
    bool is_told = !to || to->storage.ss_family != AF_UNIX;
    int error = wf_wait_enter(deadline);
    while (!error) {
        struct wf_fd *record = wf_fd_get(fd);
        if (!record)
            return -EBADF;
        uint32_t before = wf_load_acquire(&record->news); /* as in wf_fd_try_read */
        ssize_t result = wf_os_send_to(record->number, bytes, size, to);
        if (result == -EAGAIN) {
            error = wait_to_send(record, before, is_told, &pause_ns, deadline);
            continue;
        }
        wf_fd_put(record);
        return result == -ENOTCONN && !to ? -EDESTADDRREQ : result; /* paths say the one, IP says the other */
    }
    return error;
}

/* The caller has got the socket; it is put here. 0: try again. */
static int wait_to_send(struct wf_fd *record, uint32_t before, bool is_told, int64_t *pause_ns, int64_t deadline_ns) {
    if (is_told || deadline_ns == WEFT_NOW)
        return wf_fd_wait(record, WF_IO_WRITE, before, deadline_ns, "send");
    int64_t until = wf_pause_until(pause_ns, FULL_PAUSE_MOST_NS, deadline_ns);
    int error = wf_fd_wait(record, WF_IO_WRITE, before, until, "send");
    return error == -ETIMEDOUT && until != deadline_ns ? 0 : error;
}

ssize_t weft_receive_from(weft_fd fd, void *buffer, size_t size, weft_address *from, bool *was_cut,
                          weft_time deadline) {
    weft_address sender = {.size = 0};
    bool is_cut = false;
    if (!buffer && size > 0)
        return -EINVAL;
    int error = wf_wait_enter(deadline);
    while (!error) {
        struct wf_fd *record = wf_fd_get(fd);
        if (!record)
            return -EBADF;
        uint32_t before = wf_load_acquire(&record->news); /* as in wf_fd_try_read */
        ssize_t result = wf_os_receive_from(record->number, buffer, size, from ? &sender : NULL, &is_cut);
        if (result == -EAGAIN) {
            error = wf_fd_wait(record, WF_IO_READ, before, deadline, "receive");
            continue;
        }
        wf_fd_put(record);
        if (result < 0)
            return result;
        if (was_cut)
            *was_cut = is_cut;
        if (from && sender.size == 0) /* a path socket that is not bound has no name, and the kernel says nothing */
            sender = (weft_address){.storage = {.ss_family = AF_UNIX}, .size = sizeof sender.storage.ss_family};
        if (from) {
            wf_address_from_kernel(&sender);
            *from = sender;
        }
        return result;
    }
    return error;
}
