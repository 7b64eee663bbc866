/* SPDX-License-Identifier: MIT
 *
 * weft/dns.h - addresses of names, without blocking a thread.
 *
 *     weft_address found[8];
 *     int count = weft_resolve("example.org", 443, found, 8, NULL, weft_after(WEFT_SECOND));
 *
 * Numbers are taken as they are, /etc/hosts comes before the servers of /etc/resolv.conf, and answers are kept for as long as
 * they say they are good. Who asks for a name that somebody is asking for already waits for the same answer.
 */
#ifndef WEFT_DNS_H
#define WEFT_DNS_H

#include "weft/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_resolve_options {
    int family;          /* AF_INET or AF_INET6 only; 0: both */
    bool is_fresh;       /* not from what is kept */
    const char *servers; /* "127.0.0.1:5353,..." instead of the system's; null: the system's */
} weft_resolve_options;

/* The addresses of a name, in the order in which they should be tried, with that port, at most room of them. Returns how many
 * were written, at least 1; -ENOENT when the name does not exist or has no address; -EAGAIN when no server gave an answer;
 * -ETIMEDOUT, -ECANCELED, -ENOMEM, -EMFILE; -EINVAL for null, no room, a name that is too long or none, and options it does not
 * know; -ENOSYS for anything but numbers and /etc/hosts in a library that was built without c-ares. */
WEFT_API int weft_resolve(const char *name, unsigned port, weft_address *out, int room,
                          const weft_resolve_options *options, weft_time deadline);
/* Forgets what is kept, of one name or (null) of all. */
WEFT_API void weft_resolve_forget(const char *name);

#ifdef __cplusplus
}
#endif

#endif
