/* SPDX-License-Identifier: MIT
 *
 * io/dns.c - weft_resolve: numbers, then /etc/hosts, then what is kept, then the servers. Model: io/dns.h.
 *
 * A name is a number of labels, 253 bytes at most, of letters, digits, hyphens and underscores; with a dot at its end it is
 * looked for as it is, without the domains that the system would try behind it.
 */
#include "io/dns.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "os/clock.h"
#include "os/thread.h"
#include "wait/wait.h"

/* SERVERS_MOST: half of what io/dns_ask.c has room for, since each may be asked by UDP and by TCP. */
enum { NAME_MOST = 253, LABEL_MOST = 63, SERVERS_MOST = 32 };

static int find_number(const char *name, int family, const struct wf_dns_out *out);
static bool is_well_formed(const char *name, size_t length);
static int prepare_for_fork(void);
static bool servers_are_good(const char *servers);

int weft_resolve(const char *name, unsigned port, weft_address *out, int room, const weft_resolve_options *options,
                 weft_time deadline) {
    static const weft_resolve_options defaults = {0};
    struct wf_dns_question question;
    struct wf_dns_out where = {out, room, port};
    if (!options)
        options = &defaults;
    int family = options->family;
    if (!name || !out || room <= 0 || port > UINT16_MAX || (family && family != AF_INET && family != AF_INET6) ||
        !servers_are_good(options->servers))
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    status = find_number(name, family, &where);
    if (status == 0)
        status = prepare_for_fork();
    if (status)
        return status;
    status = wf_dns_question_init(&question, name, family, options->servers);
    if (status)
        return status;
    status = wf_hosts_find(WF_HOSTS_PATH, &question, &where);
    if (status == 0 && !options->is_fresh)
        status = wf_dns_cache_find(&question, &where, wf_os_now());
    if (status == 0)
        status = wf_dns_ask(&question, options->is_fresh, &where, deadline);
    return status;
}

/* Once; whoever comes meanwhile does not wait for it, since nothing is lost by preparing twice. */
static int prepare_for_fork(void) {
    static _Atomic uint32_t is_prepared;
    if (wf_load_relaxed(&is_prepared))
        return 0;
    int error = wf_os_at_fork(wf_dns_after_fork);
    if (!error)
        wf_store_relaxed(&is_prepared, 1);
    return error;
}

/* Addresses with a port or without one, and commas between them. */
static bool servers_are_good(const char *servers) {
    for (int count = 0; servers; count++) {
        char item[WEFT_ADDRESS_TEXT];
        weft_address address;
        size_t length = strcspn(servers, ",");
        if (length == 0 || length >= sizeof item || count == SERVERS_MOST)
            return false;
        memcpy(item, servers, length);
        item[length] = 0;
        bool is_good = weft_address_of(&address, item, 0) == 0 ||
                       ((item[0] == '[' || (item[0] >= '0' && item[0] <= '9')) && !weft_address_parse(&address, item));
        if (!is_good)
            return false;
        servers = servers[length] ? servers + length + 1 : NULL;
    }
    return true;
}

/* 0: it is none. */
static int find_number(const char *name, int family, const struct wf_dns_out *out) {
    weft_address address;
    if (weft_address_of(&address, name, out->port))
        return 0;
    if (family && family != address.storage.ss_family)
        return -ENOENT;
    out->addresses[0] = address;
    return 1;
}

int wf_dns_question_init(struct wf_dns_question *question, const char *name, int family, const char *servers) {
    size_t length = strnlen(name, WF_DNS_NAME), all = length;
    if (length > 0 && name[length - 1] == '.')
        length--;
    if (length > NAME_MOST || !is_well_formed(name, length))
        return -EINVAL;
    *question = (struct wf_dns_question){.family = family, .length = (uint32_t)length, .servers = servers};
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < all; i++) {
        unsigned char letter = (unsigned char)name[i];
        question->name[i] = (char)(letter >= 'A' && letter <= 'Z' ? letter - 'A' + 'a' : letter);
        if (i < length)
            hash = (hash ^ (unsigned char)question->name[i]) * 16777619u;
    }
    question->hash = hash;
    return 0;
}

static bool is_well_formed(const char *name, size_t length) {
    size_t label = 0;
    for (size_t i = 0; i < length; i++) {
        char letter = name[i];
        bool is_plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                        (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
        if (letter == '.' ? label == 0 : !is_plain || label == LABEL_MOST)
            return false;
        label = letter == '.' ? 0 : label + 1;
    }
    return label > 0;
}

int wf_dns_write(const struct wf_dns_out *out, const struct wf_dns_address *addresses, uint32_t count) {
    int written = 0;
    for (uint32_t i = 0; i < count && written < out->room; i++) {
        weft_address *address = &out->addresses[written++];
        memset(address, 0, sizeof *address);
        if (addresses[i].is_v6) {
            struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address->storage;
            six->sin6_family = AF_INET6;
            six->sin6_port = htons((uint16_t)out->port);
            memcpy(&six->sin6_addr, addresses[i].bytes, sizeof six->sin6_addr);
            address->size = sizeof *six;
        } else {
            struct sockaddr_in *four = (struct sockaddr_in *)&address->storage;
            four->sin_family = AF_INET;
            four->sin_port = htons((uint16_t)out->port);
            memcpy(&four->sin_addr, addresses[i].bytes, sizeof four->sin_addr);
            address->size = sizeof *four;
        }
    }
    return written;
}
