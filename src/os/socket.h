/* SPDX-License-Identifier: MIT
 *
 * os/socket.h - system calls on sockets.
 *
 * Each returns 0, a count or a descriptor, or a negative error; -EINTR never, the call is made again. Every socket that is made
 * here is closed on exec and does not block.
 */
#ifndef WF_OS_SOCKET_H
#define WF_OS_SOCKET_H

#include "weft/net.h"

int wf_os_socket(int family, int type);
int wf_os_socket_pair(int ends[2]);

enum wf_os_option {
    WF_OS_REUSE_ADDRESS,
    WF_OS_REUSE_PORT,
    WF_OS_ONLY_V6,
    WF_OS_NO_DELAY,
    WF_OS_KEEP_ALIVE,
    WF_OS_BROADCAST,
    WF_OS_SEND_BUFFER,
    WF_OS_RECEIVE_BUFFER,
};
int wf_os_socket_set(int fd, enum wf_os_option option, int value);
/* Closing it will not look like an end to the other side, but like a failure. */
int wf_os_socket_reset_at_close(int fd);
/* The same now, of a TCP connection: whoever reads or writes on this side is told, too. */
int wf_os_disconnect(int fd);

int wf_os_bind(int fd, const weft_address *address);
int wf_os_listen(int fd, int backlog);
/* The descriptor of the next connection. from may be null. */
int wf_os_accept(int fd, weft_address *from);
/* Begins a connection, and tells how one fares that was begun: 0: it stands; -EINPROGRESS: it is on its way; anything else: it
 * has failed. -EAGAIN: a path whose listener has as many connections waiting as it takes; this is not told when it changes. */
int wf_os_connect(int fd, const weft_address *address);
int wf_os_shutdown(int fd, int how);
int wf_os_local_address(int fd, weft_address *out);
int wf_os_peer_address(int fd, weft_address *out);

/* One datagram. to and from may be null. */
ssize_t wf_os_send_to(int fd, const void *bytes, size_t size, const weft_address *to);
ssize_t wf_os_receive_from(int fd, void *buffer, size_t size, weft_address *from, bool *was_cut);

/* Whether the path of a socket is left of somebody who has gone, and what to do about it. */
bool wf_os_socket_path_is_stale(const weft_address *address);
int wf_os_socket_path_set_mode(const weft_address *address, unsigned mode);
void wf_os_socket_path_remove(const weft_address *address);

/* Of an interface of the network: its number, 0 when there is none of that name; its name, false when there is none. */
unsigned wf_os_interface_number(const char *name);
enum { WF_OS_INTERFACE_NAME = 16 };
bool wf_os_interface_name(unsigned number, char name[WF_OS_INTERFACE_NAME]);

#endif
