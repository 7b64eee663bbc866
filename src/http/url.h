/* SPDX-License-Identifier: MIT
 *
 * http/url.h - addresses of the web, http://user@host:port/path?query#fragment (RFC 3986).
 *
 * What comes out can be sent as it is: the host in lower case, the path beginning with "/" and without "." and "..", and no byte
 * that does not belong into a request line. What a browser would quietly put right in a path (letters beyond ASCII, braces and
 * the like) is escaped; what has been used to make two readers see two different hosts is an error.
 */
#ifndef WF_HTTP_URL_H
#define WF_HTTP_URL_H

#include <stdbool.h>
#include <stdint.h>

enum { WF_URL_MOST = 8192 };

/* One block: freed by wf_os_free. */
struct wf_url {
    bool is_secure;
    uint16_t port;
    const char *host;      /* an IPv6 address without its brackets */
    const char *authority; /* the same as the Host header has it: brackets, and the port unless it is the scheme's */
    const char *target;    /* path and query */
    const char *user;      /* what is before "@", decoded; NULL: nothing */
    const char *text;      /* all of it, without user and fragment */
    char bytes[];
};

/* Return 0; -EINVAL: it is none, or too long; -EPROTONOSUPPORT: neither http nor https; -ENOMEM. */
int wf_url_parse(const char *text, struct wf_url **out);
/* What a reference, such as "../next?page=2", means where base is the page it stands on (RFC 3986, 5.2). */
int wf_url_join(const struct wf_url *base, const char *reference, struct wf_url **out);

/* Whether both are of one origin: scheme, host and port. */
bool wf_url_same_origin(const struct wf_url *left, const struct wf_url *right);

#endif
