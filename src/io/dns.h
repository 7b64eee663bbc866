/* SPDX-License-Identifier: MIT
 *
 * io/dns.h - the addresses of a name: who is asked, in which order.
 *
 *     weft_resolve --> number? --> hosts.c: /etc/hosts --> dns_cache.c: what is kept --> dns_ask.c: the servers
 *
 * A *question* is a name as it is looked for, with a family and, if it is not the system, who is to be asked. The cache has one
 * *place* a question. Whoever finds nothing kept there becomes its *asker*, and the others wait at the place:
 *
 *     nothing --enter--> asked for --leave: an answer--> kept --time, forget--> nothing
 *                            |`--leave: nobody answered--> nothing; those who wait are told
 *                            `--leave: cancelled, late, no memory--> asked for, by the first of those who wait
 *
 * A fiber that is dropped with its runtime leaves in the third way.
 */
#ifndef WF_IO_DNS_H
#define WF_IO_DNS_H

#include "weft/dns.h"

enum {
    WF_DNS_NAME = 255,   /* 253 bytes, a dot and the zero */
    WF_DNS_SERVERS = 97, /* longer lists are asked, but what they say is not kept */
    WF_DNS_KEPT_NAMES = 1024,
    WF_DNS_KEPT_ADDRESSES = 32, /* of one name; longer answers are not kept */
};
#define WF_DNS_SHORTEST_NS WEFT_SECOND
#define WF_DNS_LONGEST_NS (3600 * WEFT_SECOND)
#define WF_DNS_NEGATIVE_NS (5 * WEFT_SECOND)

struct wf_dns_question {
    int family;             /* 0: any */
    uint32_t hash;          /* of the name without the dot */
    uint32_t length;        /* without the dot */
    const char *servers;    /* the caller's; NULL: the system's */
    char name[WF_DNS_NAME]; /* in small letters; with the dot, if it has one at its end */
};

/* Where addresses are to go. */
struct wf_dns_out {
    weft_address *addresses;
    int room;
    unsigned port;
};

struct wf_dns_address {
    uint8_t bytes[16]; /* 4 of them, unless it is IPv6 */
    bool is_v6;
};

struct wf_dns_answer {
    int64_t lifetime_ns;
    uint32_t count; /* 0: there is none */
    struct wf_dns_address addresses[];
};

/* Returns 0 or -EINVAL. The servers are not looked at. */
int wf_dns_question_init(struct wf_dns_question *question, const char *name, int family, const char *servers);
/* Returns how many there was room for. */
int wf_dns_write(const struct wf_dns_out *out, const struct wf_dns_address *addresses, uint32_t count);

/* ---- io/hosts.c ---- */

#define WF_HOSTS_PATH "/etc/hosts"
/* The addresses that the file at path has for it. Returns how many were written, 0 when it is not there; -ENOMEM, -EMFILE. A
 * file that cannot be read has none. Every name that ends in localhost is there. */
int wf_hosts_find(const char *path, const struct wf_dns_question *question, const struct wf_dns_out *out);
void wf_hosts_after_fork(void);

/* ---- io/dns_cache.c ---- */

struct wf_dns_place;

struct wf_dns_asker {
    struct wf_dns_place *place; /* under the lock of the cache; NULL: it asks for itself alone, or does not ask */
};

/* What is kept at that moment. Returns how many were written; -ENOENT when it is kept that there is none; 0: nothing is. */
int wf_dns_cache_find(const struct wf_dns_question *question, const struct wf_dns_out *out, int64_t now_ns);
/* The same, or waits while somebody else asks. 0: the caller is to ask, and to leave afterwards. -EAGAIN when who asked was not
 * answered; -ETIMEDOUT, -ECANCELED, -ENOMEM. The asker stays where it is until the caller has left, or was dropped. */
int wf_dns_cache_enter(struct wf_dns_asker *asker, const struct wf_dns_question *question, bool is_fresh,
                       const struct wf_dns_out *out, int64_t deadline_ns);
/* status: 0 with an answer, or why there is none. Does nothing for one that does not ask. */
void wf_dns_cache_leave(struct wf_dns_asker *asker, int status, const struct wf_dns_answer *answer, int64_t now_ns);
/* In the child of a fork: nobody asks, nothing is kept. */
void wf_dns_after_fork(void);

/* ---- io/dns_ask.c, or io/dns_absent.c without c-ares ---- */

/* What weft_resolve returns once everything else has nothing to say. */
int wf_dns_ask(const struct wf_dns_question *question, bool is_fresh, const struct wf_dns_out *out,
               int64_t deadline_ns);

#endif
