/* SPDX-License-Identifier: MIT
 *
 * io/dns_ask.c - asking the servers of a name, by c-ares. Model: io/dns.h.
 *
 * Each asker has a channel of c-ares to itself, with sockets and a random port of its own: nothing is shared, so there are no
 * locks around it, and giving up is taking it apart. c-ares says which of its sockets it wants to read or write, and until when
 * it wants to hear; we wait for that by weft_select and let it go on.
 *
 *     open (reads /etc/resolv.conf) --> ask --> select --> process --+--> addresses_came --> close
 *                                                 ^------------------'
 *
 * c-ares never calls the network's functions of the C library that block, and its callbacks come only from inside the calls
 * that are made here. A socket that it is about to close is taken out of the poller first, in the callback that says so.
 *
 * All that an asker has is in memory that goes with its fiber, if that ends or is dropped before it has left.
 *
 * Rejected: one channel for everybody. It would want a lock, a fiber of its own to run it, and every runtime that ends would
 * have to hand it over.
 */
#ifdef WF_CARES

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "base/list.h"
#include "io/dns.h"
#include "io/fd.h"
#include "os/ares.h"
#include "os/clock.h"
#include "os/memory.h"
#include "weft/thread.h"

/* A server has up to two: thirty-two of them. */
enum { SOCKETS_MOST = 64 };

struct dns_socket {
    weft_fd fd;
    int number;
    bool reads;
    bool writes;
};

/* What c-ares is to be told when a case comes. */
struct dns_wish {
    ares_socket_t reader;
    ares_socket_t writer;
};

/* What is between us and the servers. Belongs to the asker. */
struct dns_talk {
    ares_channel channel;
    struct wf_dns_answer *answer;
    bool is_done;
    int status;  /* once it is done */
    int error;   /* why it cannot go on; 0: it can */
    int failure; /* of a socket that was not to be had: see os/ares.h */
    uint32_t count;
    struct dns_socket sockets[SOCKETS_MOST];
    weft_case cases[2 * SOCKETS_MOST + 1];
    struct dns_wish wishes[2 * SOCKETS_MOST + 1]; /* by case */
};

struct dns_ask {
    struct wf_leaver leaver; /* of a fiber */
    struct wf_dns_asker asker;
    struct dns_talk *talk; /* NULL: it has not come to that */
};

static struct dns_ask *ask_new(void);
static void ask_free(struct dns_ask *ask);
static void ask_left(struct wf_leaver *leaver);
static void ask_end(struct dns_ask *ask);
static int talk_run(struct dns_talk *talk, const struct wf_dns_question *question, int64_t deadline_ns);
static int talk_open(struct dns_talk *talk, const struct wf_dns_question *question);
static int talk_step(struct dns_talk *talk, int64_t deadline_ns);
static uint32_t make_cases(struct dns_talk *talk);
static void talk_free(struct dns_talk *talk);
static void socket_changed(void *opaque, ares_socket_t number, int reads, int writes);
static void addresses_came(void *opaque, int status, int timeouts, struct ares_addrinfo *info);
static int take_addresses(struct dns_talk *talk, const struct ares_addrinfo *info);
static int ares_error_of(const struct dns_talk *talk, int status);

int wf_dns_ask(const struct wf_dns_question *question, bool is_fresh, const struct wf_dns_out *out,
               int64_t deadline_ns) {
    if (deadline_ns == WEFT_NOW)
        return -ETIMEDOUT;
    struct dns_ask *ask = ask_new();
    if (!ask)
        return -ENOMEM;
    int status = wf_dns_cache_enter(&ask->asker, question, is_fresh, out, deadline_ns);
    if (status == 0) {
        ask->talk = wf_os_alloc(sizeof *ask->talk);
        status = ask->talk ? talk_run(ask->talk, question, deadline_ns) : -ENOMEM;
        const struct wf_dns_answer *answer = ask->talk ? ask->talk->answer : NULL;
        wf_dns_cache_leave(&ask->asker, status, answer, wf_os_now());
        if (status == 0)
            status = answer->count > 0 ? wf_dns_write(out, answer->addresses, answer->count) : -ENOENT;
    }
    ask_free(ask);
    return status;
}

static struct dns_ask *ask_new(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct dns_ask *ask = wf_os_alloc(sizeof *ask);
    if (!ask)
        return NULL;
    ask->leaver = (struct wf_leaver){.leave = ask_left, .drop = ask_left, .is_region = true};
    if (fiber)
        wf_leaver_push(wf_fiber_stack(fiber), &ask->leaver);
    return ask;
}

static void ask_free(struct dns_ask *ask) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (fiber)
        wf_leaver_remove(wf_fiber_stack(fiber), &ask->leaver);
    ask_end(ask);
}

/* Its fiber does not come back. */
static void ask_left(struct wf_leaver *leaver) {
    struct dns_ask *ask = WF_CONTAINER(leaver, struct dns_ask, leaver);
    wf_dns_cache_leave(&ask->asker, -ECANCELED, NULL, 0);
    ask_end(ask);
}

static void ask_end(struct dns_ask *ask) {
    if (ask->talk)
        talk_free(ask->talk);
    wf_os_free(ask);
}

static void talk_free(struct dns_talk *talk) {
    if (talk->channel)
        ares_destroy(talk->channel); /* with callbacks, which change the talk */
    wf_os_free(talk->answer);
    wf_os_free(talk);
}

/* 0: there is an answer, if only that there are no addresses. */
static int talk_run(struct dns_talk *talk, const struct wf_dns_question *question, int64_t deadline_ns) {
    struct ares_addrinfo_hints hints = {.ai_family = question->family};
    weft_blocking_begin();
    int error = talk_open(talk, question);
    weft_blocking_end();
    if (error)
        return error;
    ares_getaddrinfo(talk->channel, question->name, NULL, &hints, addresses_came, talk);
    while (!talk->is_done && !talk->error && !error)
        error = talk_step(talk, deadline_ns);
    if (talk->is_done)
        return talk->status;
    return error ? error : talk->error;
}

static int talk_open(struct dns_talk *talk, const struct wf_dns_question *question) {
    static char only_servers[] = "b"; /* the file is ours to read */
    struct ares_options options = {
        .sock_state_cb = socket_changed,
        .sock_state_cb_data = talk,
        .lookups = only_servers,
    };
    int error = wf_os_ares_open(&talk->channel, &options, ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS, &talk->failure);
    if (error || !question->servers)
        return error;
    int status = ares_set_servers_ports_csv(talk->channel, question->servers);
    if (status == ARES_SUCCESS)
        return 0;
    return status == ARES_ENOMEM ? -ENOMEM : -EINVAL;
}

static int talk_step(struct dns_talk *talk, int64_t deadline_ns) {
    uint32_t count = make_cases(talk);
    if (count == 0)
        return -EAGAIN;
    int chosen = weft_select(talk->cases, (int)count, deadline_ns);
    if (chosen < 0)
        return chosen;
    if (talk->cases[chosen].status)
        return talk->cases[chosen].status;
    ares_process_fd(talk->channel, talk->wishes[chosen].reader, talk->wishes[chosen].writer);
    return 0;
}

static uint32_t make_cases(struct dns_talk *talk) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < talk->count; i++) {
        const struct dns_socket *socket = &talk->sockets[i];
        if (socket->reads) {
            talk->wishes[count] = (struct dns_wish){socket->number, ARES_SOCKET_BAD};
            talk->cases[count++] = weft_on_readable(socket->fd);
        }
        if (socket->writes) {
            talk->wishes[count] = (struct dns_wish){ARES_SOCKET_BAD, socket->number};
            talk->cases[count++] = weft_on_writable(socket->fd);
        }
    }
    struct timeval rest;
    if (ares_timeout(talk->channel, NULL, &rest)) {
        /* A millisecond more, since it must have passed by c-ares's clock too. */
        int64_t rest_ns = rest.tv_sec * WEFT_SECOND + rest.tv_usec * WEFT_MICROSECOND + WEFT_MILLISECOND;
        talk->wishes[count] = (struct dns_wish){ARES_SOCKET_BAD, ARES_SOCKET_BAD};
        talk->cases[count++] = weft_on_time(weft_after(rest_ns));
    }
    return count;
}

/* c-ares has opened a socket, wants something else of it, or is about to close it. */
static void socket_changed(void *opaque, ares_socket_t number, int reads, int writes) {
    struct dns_talk *talk = opaque;
    uint32_t at = 0;
    while (at < talk->count && talk->sockets[at].number != number)
        at++;
    struct dns_socket *socket = &talk->sockets[at];
    if (at == talk->count) {
        if (!reads && !writes)
            return;
        int error = at == SOCKETS_MOST ? -EMFILE : wf_fd_open(&socket->fd, number, WF_OS_SOCKET, WF_FD_KEPT);
        if (error) {
            talk->error = error;
            return;
        }
        socket->number = number;
        talk->count++;
    }
    if (reads || writes) {
        socket->reads = reads;
        socket->writes = writes;
    } else {
        weft_close(socket->fd);
        *socket = talk->sockets[--talk->count];
    }
}

/* Also when the channel is taken apart before. */
static void addresses_came(void *opaque, int status, int timeouts, struct ares_addrinfo *info) {
    struct dns_talk *talk = opaque;
    (void)timeouts;
    talk->is_done = true;
    if (status == ARES_SUCCESS || status == ARES_ENODATA || status == ARES_ENOTFOUND)
        talk->status = take_addresses(talk, status == ARES_SUCCESS ? info : NULL);
    else
        talk->status = ares_error_of(talk, status);
    if (info)
        ares_freeaddrinfo(info);
}

static int take_addresses(struct dns_talk *talk, const struct ares_addrinfo *info) {
    uint32_t most = 0;
    int lifetime = INT32_MAX;
    for (const struct ares_addrinfo_node *node = info ? info->nodes : NULL; node; node = node->ai_next)
        most++;
    struct wf_dns_answer *answer = wf_os_alloc(sizeof *answer + most * sizeof answer->addresses[0]);
    if (!answer)
        return -ENOMEM;
    for (const struct ares_addrinfo_node *node = info ? info->nodes : NULL; node; node = node->ai_next) {
        struct wf_dns_address *address = &answer->addresses[answer->count];
        address->is_v6 = node->ai_family == AF_INET6;
        if (address->is_v6)
            memcpy(address->bytes, &((const struct sockaddr_in6 *)(const void *)node->ai_addr)->sin6_addr, 16);
        else if (node->ai_family == AF_INET)
            memcpy(address->bytes, &((const struct sockaddr_in *)(const void *)node->ai_addr)->sin_addr, 4);
        else
            continue;
        answer->count++;
        lifetime = node->ai_ttl < lifetime ? node->ai_ttl : lifetime;
    }
    for (const struct ares_addrinfo_cname *alias = info ? info->cnames : NULL; alias; alias = alias->next)
        lifetime = alias->ttl < lifetime ? alias->ttl : lifetime;
    answer->lifetime_ns = lifetime * WEFT_SECOND;
    wf_os_free(talk->answer);
    talk->answer = answer;
    return 0;
}

static int ares_error_of(const struct dns_talk *talk, int status) {
    switch (status) {
    case ARES_ENOMEM:
        return -ENOMEM;
    case ARES_EBADNAME:
        return -EINVAL;
    default:
        return talk->failure ? talk->failure : -EAGAIN;
    }
}

#endif

typedef int wf_dns_ask_unit_is_not_empty;
