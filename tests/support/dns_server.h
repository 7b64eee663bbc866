/* SPDX-License-Identifier: MIT
 *
 * support/dns_server.h - a small DNS server on a plain thread, with plain sockets: UDP and TCP on one port of 127.0.0.1.
 *
 *     struct dns_server server;
 *     dns_server_start(&server);
 *     weft_resolve_options options = {.servers = server.text};      // "127.0.0.1:port"
 *     ... names end in a dot, so that no domains are tried behind them ...
 *     dns_server_stop(&server);
 *
 * The first label says what is answered:
 *
 *     one       192.0.2.1, no IPv6             none      no address at all       held      nothing until dns_server_release
 *     both      192.0.2.1 and 2001:db8::1      nx        there is no such name   silent    nothing
 *     six       2001:db8::1, no IPv4           fails     SERVFAIL                wrong     first false answers, then one
 *     many      40 addresses, by TCP           refuses   REFUSED                 cut       by TCP one; by UDP cut short
 *     alias     one.test. has it; 9 seconds    brief     one, for 0 seconds      broken    by TCP the connection is closed
 *
 * Each lives for 300 seconds unless it says otherwise. No runtime is needed.
 */
#ifndef WF_SUPPORT_DNS_SERVER_H
#define WF_SUPPORT_DNS_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/run.h"

enum {
    DNS_HELD = 64,
    DNS_SEEN = 256,
    DNS_PEERS = 16,
    DNS_MESSAGE = 4096,
    DNS_MANY = 40,
    DNS_A = 1,
    DNS_CNAME = 5,
    DNS_AAAA = 28
};

struct dns_held {
    struct sockaddr_in from;
    size_t size;
    unsigned char query[512];
};

struct dns_server {
    char text[32];
    int udp, tcp, commands[2];
    int peers[DNS_PEERS]; /* connections; -1: none */
    pthread_t thread;
    atomic_int asked;        /* questions so far, by either way; the same one asked again after a while counts once */
    atomic_int asked_tcp;    /* of these by TCP */
    uint32_t seen[DNS_SEEN]; /* ports and ids of the last ones */
    unsigned seen_count;
    struct dns_held held[DNS_HELD];
    int held_count;
    bool is_released; /* held names are answered at once */
};

/* A message under way. */
struct dns_reply {
    unsigned char bytes[DNS_MESSAGE];
    size_t size;
    int answers;
};

static inline void dns_put(struct dns_reply *reply, unsigned value, int bytes) {
    while (bytes-- > 0)
        reply->bytes[reply->size++] = (unsigned char)(value >> 8 * bytes);
}

/* Of the name that was asked for, or (pointer) of one that stands elsewhere in the message. */
static inline void dns_put_record(struct dns_reply *reply, unsigned pointer, unsigned type, unsigned ttl,
                                  const void *data, size_t size) {
    dns_put(reply, 0xc000u | pointer, 2);
    dns_put(reply, type, 2);
    dns_put(reply, 1, 2);
    dns_put(reply, ttl, 4);
    dns_put(reply, (unsigned)size, 2);
    memcpy(reply->bytes + reply->size, data, size);
    reply->size += size;
    reply->answers++;
}

static inline void dns_put_address(struct dns_reply *reply, unsigned pointer, unsigned type, unsigned ttl,
                                   unsigned last) {
    unsigned char four[4] = {192, 0, 2, (unsigned char)last};
    unsigned char six[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = (unsigned char)last};
    dns_put_record(reply, pointer, type, ttl, type == DNS_A ? four : six, type == DNS_A ? sizeof four : sizeof six);
}

static inline bool dns_name_is(const unsigned char *query, const char *label) {
    size_t length = strlen(label);
    return query[12] >= length && memcmp(query + 13, label, length) == 0 &&
           (query[12] == length || query[13 + length] == '-'); /* "one-2" is another "one" */
}

static inline void dns_put_alias(struct dns_reply *reply, unsigned type) {
    static const unsigned char target[] = "\3one\4test"; /* with the zero of the root */
    dns_put_record(reply, 12, DNS_CNAME, 9, target, sizeof target);
    dns_put_address(reply, (unsigned)(reply->size - sizeof target), type, 300, 1);
}

/* The question goes back as it came; its end is told by the zero of its name. */
static inline void dns_answer(struct dns_reply *reply, const unsigned char *query, size_t size, bool is_tcp) {
    size_t end = 12 + strnlen((const char *)query + 12, size - 12) + 5;
    unsigned type = query[end - 3], flags = 0x8180;
    bool is_four = type == DNS_A, by_tcp_only = dns_name_is(query, "cut") || dns_name_is(query, "broken");
    reply->size = 0;
    reply->answers = 0;
    memcpy(reply->bytes, query, end);
    reply->size = end;
    if ((by_tcp_only || dns_name_is(query, "many")) && !is_tcp)
        flags |= 0x0200;
    else if (dns_name_is(query, "nx"))
        flags |= 3;
    else if (dns_name_is(query, "fails"))
        flags |= 2;
    else if (dns_name_is(query, "refuses"))
        flags |= 5;
    else if (dns_name_is(query, "alias"))
        dns_put_alias(reply, type);
    else if (dns_name_is(query, "brief"))
        dns_put_address(reply, 12, type, 0, 1);
    else if (dns_name_is(query, "both") || (dns_name_is(query, "six") && !is_four))
        dns_put_address(reply, 12, type, 300, 1);
    else if (dns_name_is(query, "many") && is_four)
        for (unsigned i = 0; i < DNS_MANY; i++)
            dns_put_address(reply, 12, type, 300, i);
    else if (!dns_name_is(query, "none") && !dns_name_is(query, "six") && is_four)
        dns_put_address(reply, 12, type, 300, 1);
    reply->bytes[2] = (unsigned char)(flags >> 8);
    reply->bytes[3] = (unsigned char)flags;
    reply->bytes[6] = 0;
    reply->bytes[7] = (unsigned char)reply->answers;
    memset(reply->bytes + 8, 0, 4);
}

static inline void dns_send(const struct dns_server *server, const struct dns_reply *reply,
                            const struct sockaddr_in *to) {
    sendto(server->udp, reply->bytes, reply->size, 0, (const struct sockaddr *)to, sizeof *to);
}

/* Somebody else's answers: another id, another question. */
static inline void dns_send_false(const struct dns_server *server, const unsigned char *query, size_t size,
                                  const struct sockaddr_in *to) {
    struct dns_reply reply;
    dns_answer(&reply, query, size, false);
    reply.bytes[1] ^= 0x55;
    reply.bytes[reply.size - 1] = 99;
    dns_send(server, &reply, to);
    reply.bytes[1] ^= 0x55;
    reply.bytes[13] ^= 1;
    dns_send(server, &reply, to);
}

static inline bool dns_is_new(struct dns_server *server, const struct dns_held *now) {
    uint32_t mark = (uint32_t)now->from.sin_port << 16 | (uint32_t)now->query[0] << 8 | now->query[1];
    for (unsigned i = 0; i < DNS_SEEN && i < server->seen_count; i++)
        if (server->seen[i] == mark)
            return false;
    server->seen[server->seen_count++ % DNS_SEEN] = mark;
    return true;
}

static inline void dns_serve_datagram(struct dns_server *server) {
    struct dns_held now;
    socklen_t from_size = sizeof now.from;
    ssize_t size = recvfrom(server->udp, now.query, sizeof now.query, 0, (struct sockaddr *)&now.from, &from_size);
    if (size < 17)
        return;
    now.size = (size_t)size;
    if (dns_name_is(now.query, "held") && !server->is_released) {
        CHECK_LE(server->held_count, DNS_HELD - 1);
        server->held[server->held_count++] = now;
    }
    if (dns_is_new(server, &now))
        atomic_fetch_add(&server->asked, 1); /* before anybody can have an answer */
    if (!dns_name_is(now.query, "silent") && (!dns_name_is(now.query, "held") || server->is_released)) {
        struct dns_reply reply;
        if (dns_name_is(now.query, "wrong"))
            dns_send_false(server, now.query, now.size, &now.from);
        dns_answer(&reply, now.query, now.size, false);
        dns_send(server, &reply, &now.from);
    }
}

/* One question each: c-ares writes it at once. False: the connection is over. */
static inline bool dns_serve_peer(struct dns_server *server, int peer) {
    unsigned char query[2 + 512];
    struct dns_reply reply;
    ssize_t size = read(peer, query, sizeof query);
    if (size < 19)
        return false;
    atomic_fetch_add(&server->asked_tcp, 1);
    atomic_fetch_add(&server->asked, 1);
    if (dns_name_is(query + 2, "broken"))
        return false;
    for (size_t at = 0; at + 19 <= (size_t)size;) { /* one after another */
        size_t length = (size_t)query[at] << 8 | query[at + 1];
        dns_answer(&reply, query + at + 2, length, true);
        unsigned char head[2] = {(unsigned char)(reply.size >> 8), (unsigned char)reply.size};
        if (send(peer, head, 2, MSG_NOSIGNAL) != 2 ||
            send(peer, reply.bytes, reply.size, MSG_NOSIGNAL) != (ssize_t)reply.size)
            return false;
        at += 2 + length;
    }
    return true;
}

static inline void dns_serve_held(struct dns_server *server) {
    struct dns_reply reply;
    server->is_released = true;
    for (int i = 0; i < server->held_count; i++) {
        dns_answer(&reply, server->held[i].query, server->held[i].size, false);
        dns_send(server, &reply, &server->held[i].from);
    }
    server->held_count = 0;
}

static inline void dns_accept(struct dns_server *server) {
    int peer = accept(server->tcp, NULL, NULL);
    for (int i = 0; i < DNS_PEERS && peer >= 0; i++)
        if (server->peers[i] < 0) {
            server->peers[i] = peer;
            peer = -1;
        }
    CHECK_EQ(peer, -1);
}

static inline void *dns_server_main(void *opaque) {
    struct dns_server *server = opaque;
    for (;;) {
        struct pollfd waits[3 + DNS_PEERS] = {
            {server->commands[0], POLLIN, 0}, {server->udp, POLLIN, 0}, {server->tcp, POLLIN, 0}};
        for (int i = 0; i < DNS_PEERS; i++)
            waits[3 + i] = (struct pollfd){server->peers[i], POLLIN, 0};
        if (poll(waits, 3 + DNS_PEERS, -1) < 0)
            continue;
        char command = 0;
        if (waits[0].revents && read(server->commands[0], &command, 1) == 1 && command == 's')
            return NULL;
        if (command == 'r')
            dns_serve_held(server);
        if (waits[1].revents)
            dns_serve_datagram(server);
        if (waits[2].revents)
            dns_accept(server);
        for (int i = 0; i < DNS_PEERS; i++)
            if (waits[3 + i].revents && !dns_serve_peer(server, server->peers[i])) {
                close(server->peers[i]);
                server->peers[i] = -1;
            }
    }
}

/* A port that both have. */
static inline void dns_server_bind(struct dns_server *server) {
    for (bool is_bound = false; !is_bound;) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof address;
        server->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        server->tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        CHECK_EQ(bind(server->udp, (struct sockaddr *)&address, sizeof address), 0);
        CHECK_EQ(getsockname(server->udp, (struct sockaddr *)&address, &size), 0);
        is_bound = bind(server->tcp, (struct sockaddr *)&address, sizeof address) == 0 && listen(server->tcp, 16) == 0;
        if (!is_bound) {
            close(server->udp);
            close(server->tcp);
        }
        snprintf(server->text, sizeof server->text, "127.0.0.1:%u", ntohs(address.sin_port));
    }
}

static inline void dns_server_start(struct dns_server *server) {
    *server = (struct dns_server){.held_count = 0};
    for (int i = 0; i < DNS_PEERS; i++)
        server->peers[i] = -1;
    dns_server_bind(server);
    CHECK_EQ(pipe(server->commands), 0);
    server->thread = thread_start(dns_server_main, server);
}

/* From now on held names are answered, those that are waiting too. */
static inline void dns_server_release(struct dns_server *server) {
    CHECK_EQ(write(server->commands[1], "r", 1), 1);
}

static inline void dns_server_stop(struct dns_server *server) {
    CHECK_EQ(write(server->commands[1], "s", 1), 1);
    thread_join(server->thread);
    for (int i = 0; i < DNS_PEERS; i++)
        if (server->peers[i] >= 0)
            close(server->peers[i]);
    close(server->udp);
    close(server->tcp);
    close(server->commands[0]);
    close(server->commands[1]);
}

static inline int dns_server_asked(struct dns_server *server) {
    return atomic_load(&server->asked);
}

#endif
