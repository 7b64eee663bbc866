/* SPDX-License-Identifier: MIT
 *
 * support/raw_server.h - a server that says what a test tells it to: plain threads and plain sockets on 127.0.0.1.
 *
 *     static void serve(struct raw_server *server, int fd, int number) {      // number: of the connection, from 0 on
 *         char head[RAW_HEAD];
 *         while (raw_read_head(server, fd, head))
 *             raw_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
 *     }
 *     struct raw_server server;
 *     raw_server_start(&server, serve);
 *     ... server.url is "http://127.0.0.1:port" ...
 *     raw_server_stop(&server);
 *
 * Each connection has a thread, which closes it when serve returns. Stopping ends what connections there are: whoever reads
 * gets the end. No runtime is needed.
 */
#ifndef WF_SUPPORT_RAW_SERVER_H
#define WF_SUPPORT_RAW_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/run.h"

enum { RAW_PEERS = 1024, RAW_HEAD = 32768 };

struct raw_server;
typedef void (*raw_serve)(struct raw_server *server, int fd, int number);

struct raw_peer {
    struct raw_server *server;
    pthread_t thread;
    int fd;
    int number;
};

struct raw_server {
    char url[64];
    int listener;
    unsigned port;
    raw_serve serve;
    void *arg; /* the test's */
    pthread_t thread;
    pthread_mutex_t lock; /* of what is shut down: a number that was closed may be somebody else's */
    atomic_int accepted;
    atomic_int requests; /* heads that raw_read_head has seen */
    struct raw_peer peers[RAW_PEERS];
};

static inline void *raw_peer_main(void *opaque) {
    struct raw_peer *peer = opaque;
    peer->server->serve(peer->server, peer->fd, peer->number);
    pthread_mutex_lock(&peer->server->lock);
    close(peer->fd);
    peer->fd = -1;
    pthread_mutex_unlock(&peer->server->lock);
    return NULL;
}

static inline void *raw_server_main(void *opaque) {
    struct raw_server *server = opaque;
    for (;;) {
        int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return NULL;
        int number = atomic_load(&server->accepted), one = 1;
        CHECK_LE(number, RAW_PEERS - 1);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct raw_peer *peer = &server->peers[number];
        *peer = (struct raw_peer){.server = server, .fd = fd, .number = number};
        atomic_store(&server->accepted, number + 1); /* whoever hangs up on it finds it */
        peer->thread = thread_start(raw_peer_main, peer);
    }
}

static inline void raw_server_start(struct raw_server *server, raw_serve serve) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    void *arg = server->arg;
    *server = (struct raw_server){.serve = serve, .arg = arg, .lock = PTHREAD_MUTEX_INITIALIZER};
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(bind(server->listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(server->listener, 128), 0);
    CHECK_EQ(getsockname(server->listener, (struct sockaddr *)&address, &size), 0);
    server->port = ntohs(address.sin_port);
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u", server->port);
    server->thread = thread_start(raw_server_main, server);
}

/* Ends all connections that there are: both sides read the end. */
static inline void raw_server_hang_up(struct raw_server *server) {
    for (int i = 0; i < atomic_load(&server->accepted); i++) {
        pthread_mutex_lock(&server->lock);
        if (server->peers[i].fd >= 0)
            shutdown(server->peers[i].fd, SHUT_RDWR);
        pthread_mutex_unlock(&server->lock);
    }
}

static inline void raw_server_stop(struct raw_server *server) {
    shutdown(server->listener, SHUT_RDWR);
    thread_join(server->thread);
    close(server->listener);
    raw_server_hang_up(server);
    for (int i = 0; i < atomic_load(&server->accepted); i++)
        thread_join(server->peers[i].thread);
}

/* ---- For those who serve ---- */

/* The next request up to its empty line, with a zero, and no byte more. False: there is none. */
static inline bool raw_read_head(struct raw_server *server, int fd, char head[RAW_HEAD]) {
    size_t size = 0;
    while (size < RAW_HEAD - 1 && recv(fd, head + size, 1, 0) == 1) {
        head[++size] = 0;
        if (size >= 4 && memcmp(head + size - 4, "\r\n\r\n", 4) == 0) {
            atomic_fetch_add(&server->requests, 1);
            return true;
        }
    }
    return false;
}

static inline bool raw_read(int fd, void *buffer, size_t size) {
    return recv(fd, buffer, size, MSG_WAITALL) == (ssize_t)size;
}

static inline bool raw_send_bytes(int fd, const void *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t count = send(fd, (const char *)bytes + done, size - done, MSG_NOSIGNAL);
        if (count <= 0)
            return false;
        done += (size_t)count;
    }
    return true;
}

static inline bool raw_send(int fd, const char *text) {
    return raw_send_bytes(fd, text, strlen(text));
}

/* Each byte in a packet of its own, as far as the kernel lets us. */
static inline bool raw_dribble(int fd, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (!raw_send_bytes(fd, (const char *)bytes + i, 1))
            return false;
    return true;
}

/* Waits until the other side has closed. */
static inline void raw_await_end(int fd) {
    char bytes[256];
    while (recv(fd, bytes, sizeof bytes, 0) > 0)
        continue;
}

/* The next close is a reset. */
static inline void raw_will_reset(int fd) {
    struct linger now = {.l_onoff = 1};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

#endif
