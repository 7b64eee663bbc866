/* SPDX-License-Identifier: MIT
 *
 * io/socket.h - what the files about sockets share.
 *
 * Addresses that go to the kernel are looked at first; those that come from it are put right: an IPv4 address inside an IPv6 one
 * is what such a socket shows of somebody who uses IPv4, and becomes a plain IPv4 address.
 */
#ifndef WF_IO_SOCKET_H
#define WF_IO_SOCKET_H

#include "io/fd.h"
#include "os/socket.h"

/* IPv4, IPv6 or of a path, complete and no longer than its room. */
bool wf_address_is_good(const weft_address *address);
/* With a path in the file system, not an abstract name. */
bool wf_address_is_path(const weft_address *address);
/* Every address of the machine, IPv6 and IPv4; and the same without IPv6, for systems that have none. */
void wf_address_any(weft_address *out, unsigned port);
void wf_address_any_v4(weft_address *out, unsigned port);
/* From the kernel's form. */
void wf_address_from_kernel(weft_address *address);

/* A socket of that type with these options, bound to that address; options may be null. Returns its number, or an error:
 * nothing is left then, no path either. */
int wf_socket_bound(const weft_address *address, int type, const weft_socket_options *options);
/* A stream of that family, or bound to what the options name as local. The same. */
int wf_socket_from(int family, const weft_socket_options *options);
bool wf_socket_options_are_good(const weft_socket_options *options);
/* The descriptor for that number, which is closed if there is none to be had. */
int wf_socket_wrap(weft_fd *out, int number, enum wf_os_kind kind);

/* To the other side, closing it will not look like an end but like a failure; abort: here and now, as a shutdown both ways. Unix
 * sockets have no such thing: these end as they always do. */
int wf_socket_reset_at_close(weft_fd fd);
int wf_socket_abort(weft_fd fd);

/* The end of a pause before a try that nothing tells the moment of: *pause_ns is 0 at first, becomes 1 ms, and then twice as
 * much each time. */
enum { WF_PAUSE_MOST_NS = 1000 * 1000 * 1000 };
int64_t wf_pause_until(int64_t *pause_ns, int64_t most_ns, int64_t deadline_ns);

/* Connections that are on their way, by one fiber or thread. If the fiber is dropped with its runtime, they are closed. */
enum { WF_ATTEMPTS = 16 };
struct wf_attempts {
    struct wf_leaver leaver;
    struct wf_fiber *fiber; /* whose it is, or NULL */
    uint32_t count;
    weft_fd fds[WF_ATTEMPTS];
    const weft_address *addresses[WF_ATTEMPTS];
};
void wf_attempts_init(struct wf_attempts *attempts);
/* Closes what is still on its way. */
void wf_attempts_term(struct wf_attempts *attempts);
/* One more, there being room: a socket that has not begun to connect. Returns 0: it is the last one; or an error. The address has
 * to stay. */
int wf_attempts_add(struct wf_attempts *attempts, const weft_address *address, const weft_socket_options *options);
/* Begins the i-th, or tells how it fares: 0: it stands, and is the caller's; -EINPROGRESS; another error: it is closed. In both cases it is not
 * among the attempts any more, and the last one has its place. */
int wf_attempts_look(struct wf_attempts *attempts, uint32_t i, weft_fd *out);

/* The first of these, at least 1, that stands; see io/dial.c. They are put into the order in which they are tried. */
int wf_dial_addresses(weft_fd *out, weft_address *addresses, int count, const weft_socket_options *options,
                      int64_t deadline_ns);

#endif
