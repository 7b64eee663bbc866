/* SPDX-License-Identifier: MIT
 *
 * io/socket.c - making sockets: listeners, pairs; their addresses and their ends.
 *
 * What a connection inherits from its listener is set there, once: Nagle's algorithm, keeping alive, the sizes of buffers. So
 * accepting costs one system call.
 *
 * A path is taken over in two steps, a look whether somebody has it and its removal. Two programs that do so at the same
 * moment can both succeed, and the later one has it; whoever must rule that out has to lock something of its own.
 */
#include "io/socket.h"

#include <errno.h>

enum { BACKLOG_DEFAULT = 1024, MODE_MOST = 07777 };

static const weft_socket_options no_socket_options;

static int open_and_bind(const weft_address *address, int type, const weft_socket_options *options);
static int set_options(int number, int family, int type, const weft_socket_options *options);
static int bind_path(int number, const weft_address *address, unsigned mode);

bool wf_socket_options_are_good(const weft_socket_options *options) {
    if (!options)
        return true;
    return options->backlog >= 0 && options->send_buffer >= 0 && options->receive_buffer >= 0 &&
           options->mode <= MODE_MOST && (!options->local || wf_address_is_good(options->local));
}

/* Where there is no IPv6, everything is every IPv4 address. */
int wf_socket_bound(const weft_address *address, int type, const weft_socket_options *options) {
    weft_address any, any_v4;
    options = options ? options : &no_socket_options;
    int number = open_and_bind(address, type, options);
    wf_address_any(&any, weft_address_port(address));
    if ((number == -EAFNOSUPPORT || number == -EADDRNOTAVAIL) && !options->only_v6 &&
        weft_address_equal(address, &any)) {
        wf_address_any_v4(&any_v4, weft_address_port(address));
        number = open_and_bind(&any_v4, type, options);
    }
    return number;
}

static int open_and_bind(const weft_address *address, int type, const weft_socket_options *options) {
    int family = address->storage.ss_family;
    int number = wf_os_socket(family, type);
    if (number < 0)
        return number;
    int error = set_options(number, family, type, options);
    if (!error && family == AF_INET6)
        error = wf_os_socket_set(number, WF_OS_ONLY_V6, options->only_v6);
    /* For datagrams reusing an address is sharing it, which nobody asked for. */
    if (!error && family != AF_UNIX && type == SOCK_STREAM && !options->keeps_address)
        error = wf_os_socket_set(number, WF_OS_REUSE_ADDRESS, true);
    if (!error && options->shares_port && family != AF_UNIX)
        error = wf_os_socket_set(number, WF_OS_REUSE_PORT, true);
    if (!error)
        error = wf_address_is_path(address) ? bind_path(number, address, options->mode) : wf_os_bind(number, address);
    if (error) {
        wf_os_close_checked(number);
        return error;
    }
    return number;
}

static int set_options(int number, int family, int type, const weft_socket_options *options) {
    bool is_ip_stream = family != AF_UNIX && type == SOCK_STREAM;
    int error = 0;
    if (is_ip_stream && !options->delays)
        error = wf_os_socket_set(number, WF_OS_NO_DELAY, true);
    if (!error && is_ip_stream && options->keeps_alive)
        error = wf_os_socket_set(number, WF_OS_KEEP_ALIVE, true);
    if (!error && type == SOCK_DGRAM && options->broadcasts)
        error = wf_os_socket_set(number, WF_OS_BROADCAST, true);
    if (!error && options->send_buffer)
        error = wf_os_socket_set(number, WF_OS_SEND_BUFFER, options->send_buffer);
    if (!error && options->receive_buffer)
        error = wf_os_socket_set(number, WF_OS_RECEIVE_BUFFER, options->receive_buffer);
    return error;
}

/* Nobody can connect before it listens: its permissions are right by then. */
static int bind_path(int number, const weft_address *address, unsigned mode) {
    int error = wf_os_bind(number, address);
    if (error == -EADDRINUSE && wf_os_socket_path_is_stale(address)) {
        wf_os_socket_path_remove(address);
        error = wf_os_bind(number, address);
    }
    if (error || mode == 0)
        return error;
    error = wf_os_socket_path_set_mode(address, mode);
    if (error)
        wf_os_socket_path_remove(address);
    return error;
}

int wf_socket_from(int family, const weft_socket_options *options) {
    options = options ? options : &no_socket_options;
    if (options->local)
        return open_and_bind(options->local, SOCK_STREAM, options);
    int number = wf_os_socket(family, SOCK_STREAM);
    int error = number < 0 ? 0 : set_options(number, family, SOCK_STREAM, options);
    if (error) {
        wf_os_close_checked(number);
        return error;
    }
    return number;
}

int wf_socket_wrap(weft_fd *out, int number, enum wf_os_kind kind) {
    int error = wf_fd_open(out, number, kind, 0);
    if (error)
        wf_os_close_checked(number);
    return error;
}

int weft_listen(weft_fd *out, const weft_address *address, const weft_socket_options *options) {
    weft_fd fd;
    if (!out || !wf_address_is_good(address) || !wf_socket_options_are_good(options))
        return -EINVAL;
    int number = wf_socket_bound(address, SOCK_STREAM, options);
    if (number < 0)
        return number;
    int error = wf_os_listen(number, options && options->backlog ? options->backlog : BACKLOG_DEFAULT);
    if (error)
        wf_os_close_checked(number);
    else
        error = wf_socket_wrap(&fd, number, address->storage.ss_family == AF_UNIX ? WF_OS_SOCKET : WF_OS_TCP);
    if (!error)
        *out = fd;
    else if (wf_address_is_path(address))
        wf_os_socket_path_remove(address);
    return error;
}

int weft_socket_pair(weft_fd ends[2]) {
    int numbers[2];
    weft_fd fds[2];
    if (!ends)
        return -EINVAL;
    int error = wf_os_socket_pair(numbers);
    if (error)
        return error;
    error = wf_socket_wrap(&fds[0], numbers[0], WF_OS_SOCKET);
    if (error) {
        wf_os_close_checked(numbers[1]);
        return error;
    }
    error = wf_socket_wrap(&fds[1], numbers[1], WF_OS_SOCKET);
    if (error) {
        weft_close(fds[0]);
        return error;
    }
    ends[0] = fds[0];
    ends[1] = fds[1];
    return 0;
}

int weft_shutdown(weft_fd fd, int how) {
    static const int ways[] = {[WEFT_SHUT_READ] = SHUT_RD, [WEFT_SHUT_WRITE] = SHUT_WR, [WEFT_SHUT_BOTH] = SHUT_RDWR};
    if (how < WEFT_SHUT_READ || how > WEFT_SHUT_BOTH)
        return -EINVAL;
    struct wf_fd *record = wf_fd_get(fd);
    if (!record)
        return -EBADF;
    int error = wf_os_shutdown(record->number, ways[how]);
    wf_fd_put(record);
    return error;
}

int wf_socket_reset_at_close(weft_fd fd) {
    struct wf_fd *record = wf_fd_get(fd);
    if (!record)
        return -EBADF;
    int error = wf_os_socket_reset_at_close(record->number);
    wf_fd_put(record);
    return error;
}

int wf_socket_abort(weft_fd fd) {
    struct wf_fd *record = wf_fd_get(fd);
    if (!record)
        return -EBADF;
    int error =
        record->kind == WF_OS_TCP ? wf_os_disconnect(record->number) : wf_os_shutdown(record->number, SHUT_RDWR);
    wf_fd_put(record);
    return error;
}

static int address_of_socket(weft_fd fd, weft_address *out, int (*ask)(int number, weft_address *address)) {
    weft_address address = {.size = 0};
    if (!out)
        return -EINVAL;
    struct wf_fd *record = wf_fd_get(fd);
    if (!record)
        return -EBADF;
    int error = ask(record->number, &address);
    wf_fd_put(record);
    if (error)
        return error;
    wf_address_from_kernel(&address);
    *out = address;
    return 0;
}

int weft_local_address(weft_fd fd, weft_address *out) {
    return address_of_socket(fd, out, wf_os_local_address);
}

int weft_peer_address(weft_fd fd, weft_address *out) {
    return address_of_socket(fd, out, wf_os_peer_address);
}
