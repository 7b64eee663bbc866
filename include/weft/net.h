/* SPDX-License-Identifier: MIT
 *
 * weft/net.h - sockets: streams and datagrams, over IP and between processes.
 *
 *     weft_fd listener, peer;
 *     weft_address where;
 *     weft_address_parse(&where, "127.0.0.1:8080");
 *     weft_listen(&listener, &where, NULL);
 *     while (weft_accept(listener, &peer, NULL, WEFT_NEVER) == 0)
 *         weft_go(serve, peer);
 *
 *     weft_dial(&peer, "example.org", 80, NULL, weft_after(5 * WEFT_SECOND));     // looks the name up, tries all addresses
 *
 * What comes out is a weft_fd: read, write, wait and close it by weft/io.h. Sockets are closed on exec and do not block. Somebody
 * who uses IPv4 on a socket for IPv6 is shown with an IPv4 address, and such addresses are equal.
 */
#ifndef WEFT_NET_H
#define WEFT_NET_H

#include <sys/socket.h>

#include "weft/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An address of any family, as the system's calls take it. */
typedef struct weft_address {
    struct sockaddr_storage storage;
    socklen_t size;
} weft_address;

/* Long enough for any address as text, with its zero. */
enum { WEFT_ADDRESS_TEXT = 128 };

/* From text, numbers only, names are not looked up: "127.0.0.1:80", "[::1]:80", "[fe80::1%eth0]:80", "*:80" or ":80" (every
 * IPv6 and IPv4 address of the machine), "unix:/run/app.sock", "unix:@abstract". Returns 0; -EINVAL for anything else, for a
 * port above 65535 and for a path that is too long, and nothing is written. */
WEFT_API int weft_address_parse(weft_address *out, const char *text);
/* The same of an IP address and a port: "::1", 80. */
WEFT_API int weft_address_of(weft_address *out, const char *ip, unsigned port);
/* Back to text. Returns its length without the zero; -ENOSPC when size is too small; -EAFNOSUPPORT; -EINVAL for null. */
WEFT_API int weft_address_format(const weft_address *address, char *text, size_t size);
/* The port, 0 for what has none. */
WEFT_API unsigned weft_address_port(const weft_address *address);
WEFT_API bool weft_address_equal(const weft_address *left, const weft_address *right);

/* Zero is the default everywhere. */
typedef struct weft_socket_options {
    int backlog;      /* of a listener; default 1024, and the system's limit */
    bool shares_port; /* SO_REUSEPORT: several listeners on one address, and the kernel spreads connections over them */
    bool keeps_address; /* of a listener: without SO_REUSEADDR, so that a port in TIME_WAIT is -EADDRINUSE */
    bool only_v6;       /* an IPv6 socket that takes no IPv4 */
    bool delays;        /* leaves Nagle's algorithm on; streams over IP have it off otherwise */
    bool keeps_alive;   /* SO_KEEPALIVE */
    bool broadcasts;    /* datagrams to everybody */
    int send_buffer;    /* bytes; 0: the system's */
    int receive_buffer;
    unsigned mode;             /* of a listener on a path: its permissions, 0: by umask */
    const weft_address *local; /* of weft_connect and weft_dial: where from; null: anywhere */
} weft_socket_options;

/* A socket that waits for connections: a stream over IP or on a path. Port 0: the system chooses one, see weft_local_address. A
 * path that is left of a process that has gone is taken over; one that somebody listens on is -EADDRINUSE. weft_close does
 * not remove the path. Returns 0; -EADDRINUSE, -EADDRNOTAVAIL, -EACCES, -EMFILE and other errors of the kernel; -ENOMEM;
 * -EINVAL for null or a bad option. */
WEFT_API int weft_listen(weft_fd *out, const weft_address *address, const weft_socket_options *options);

/* Waits for the next connection. *from, which may be null, becomes the other side's address. Returns 0; -ETIMEDOUT, -ECANCELED,
 * -EBADF, -ENOMEM; -EINVAL when it does not listen. When there are no descriptors left (-EMFILE, -ENFILE, -ENOBUFS, -ENOMEM) it waits
 * a moment, up to a second, and tries again, since the connection is still there and would wake it at once: the error is
 * returned only at the deadline. Connections that were given up meanwhile are skipped. */
WEFT_API int weft_accept(weft_fd listener, weft_fd *out, weft_address *from, weft_time deadline);

/* A stream to that address. Returns 0; -ECONNREFUSED, -ENETUNREACH and other errors of the kernel; -ETIMEDOUT, -ECANCELED,
 * -ENOMEM, -EMFILE; -EINVAL. Whatever the error, nothing is left open. */
WEFT_API int weft_connect(weft_fd *out, const weft_address *address, const weft_socket_options *options,
                          weft_time deadline);
/* A stream to that name or number. All its addresses are tried, IPv6 and IPv4 by turns, each a quarter of a second after the
 * one before it, or as soon as that has failed; the first that stands is it (RFC 8305). "unix:..." is a path, and port is
 * ignored. Returns what weft_connect does, of the last address, and what weft_resolve does (weft/dns.h). */
WEFT_API int weft_dial(weft_fd *out, const char *host, unsigned port, const weft_socket_options *options,
                       weft_time deadline);

enum { WEFT_SHUT_READ = 0, WEFT_SHUT_WRITE = 1, WEFT_SHUT_BOTH = 2 };
/* Says that no more is read, or written: the other side reads the end. Returns 0; -ENOTCONN, -EBADF, -ENOTSOCK, -EINVAL. */
WEFT_API int weft_shutdown(weft_fd fd, int how);

/* A pair of streams that are connected with each other. */
WEFT_API int weft_socket_pair(weft_fd ends[2]);

/* A socket for datagrams, bound to that address; null: anywhere, IPv4 and IPv6. A path belongs to it as in weft_listen. */
WEFT_API int weft_datagram_open(weft_fd *out, const weft_address *address, const weft_socket_options *options);
/* Where weft_send_to sends to without an address, and the only one that weft_receive_from hears. */
WEFT_API int weft_datagram_connect(weft_fd fd, const weft_address *address);
/* One datagram. Returns how many bytes were sent; -EMSGSIZE; -EDESTADDRREQ, -ECONNREFUSED and other errors of the kernel;
 * -ETIMEDOUT, -ECANCELED, -EBADF, -ENOMEM, -EINVAL. */
WEFT_API ssize_t weft_send_to(weft_fd fd, const void *bytes, size_t size, const weft_address *to, weft_time deadline);
/* The next datagram; what does not fit is lost, and then *was_cut, which may be null, becomes true. */
WEFT_API ssize_t weft_receive_from(weft_fd fd, void *buffer, size_t size, weft_address *from, bool *was_cut,
                                   weft_time deadline);

WEFT_API int weft_local_address(weft_fd fd, weft_address *out);
WEFT_API int weft_peer_address(weft_fd fd, weft_address *out);

#ifdef __cplusplus
}
#endif

#endif
