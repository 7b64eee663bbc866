/* SPDX-License-Identifier: MIT
 *
 * io/dns_absent.c - asking servers in a build without c-ares: it says so.
 *
 * Numbers and what is in /etc/hosts need no server and work all the same. Who waits for an answer, and what is kept, is the
 * same code as elsewhere, but nobody ever comes to it.
 */
#ifndef WF_CARES

#include <errno.h>

#include "io/dns.h"

int wf_dns_ask(const struct wf_dns_question *question, bool is_fresh, const struct wf_dns_out *out,
               int64_t deadline_ns) {
    (void)question;
    (void)is_fresh;
    (void)out;
    (void)deadline_ns;
    return -ENOSYS;
}

#endif

typedef int wf_dns_absent_unit_is_not_empty;
