/* SPDX-License-Identifier: MIT
 *
 * Who asks the echo servers: "ping PORT SIZE SECONDS CONNECTIONS". Each connection sends so many bytes, waits until all of them
 * have come back, and sends again. Prints how many times that was, and how many microseconds it took for 50 and 99 of 100.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum { BATCH = 256, SAMPLES = 1 << 22, LARGEST = 1 << 20 };

struct connection {
    int fd;
    size_t missing; /* bytes that have not come back */
    int64_t sent_ns;
};

static int32_t samples[SAMPLES]; /* microseconds */
static char message[LARGEST], back[LARGEST];

static int must(int result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
    return result;
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void send_message(struct connection *connection, size_t size) {
    connection->sent_ns = now_ns();
    connection->missing = size;
    if (send(connection->fd, message, size, MSG_NOSIGNAL) != (ssize_t)size)
        must(-1, "send");
}

static void connect_one(int epoll, struct connection *connection, int port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int yes = 1;
    connection->fd = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    must(connect(connection->fd, (struct sockaddr *)&address, sizeof address), "connect");
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, connection->fd, &event), "epoll_ctl");
}

static int by_size(const void *left, const void *right) {
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    if (argc != 5)
        return fprintf(stderr, "usage: %s PORT SIZE SECONDS CONNECTIONS\n", argv[0]) < 0 ? 1 : 2;
    size_t size = (size_t)atol(argv[2]), count = (size_t)atol(argv[4]);
    struct connection *connections = calloc(count, sizeof *connections);
    if (!connections || size < 1 || size > LARGEST || count < 1)
        return 2;
    int epoll = must(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    for (size_t i = 0; i < count; i++)
        connect_one(epoll, &connections[i], atoi(argv[1]));
    int64_t end = now_ns() + (int64_t)(atof(argv[3]) * 1e9), now = 0;
    long rounds = 0;
    for (size_t i = 0; i < count; i++)
        send_message(&connections[i], size);
    while (now < end) {
        struct epoll_event events[BATCH];
        int ready = epoll_wait(epoll, events, BATCH, 100);
        now = now_ns();
        for (int i = 0; i < ready; i++) {
            struct connection *connection = events[i].data.ptr;
            ssize_t got = recv(connection->fd, back, connection->missing, MSG_DONTWAIT);
            if (got <= 0)
                must(-1, "the server has gone");
            connection->missing -= (size_t)got;
            if (connection->missing > 0)
                continue;
            if (rounds < SAMPLES)
                samples[rounds] = (int32_t)((now_ns() - connection->sent_ns) / 1000);
            rounds++;
            send_message(connection, size);
        }
    }
    size_t taken = rounds < SAMPLES ? (size_t)rounds : SAMPLES;
    if (taken == 0)
        return 1;
    qsort(samples, taken, sizeof *samples, by_size);
    printf("%ld %d %d\n", rounds, samples[taken / 2], samples[taken * 99 / 100]);
    return 0;
}
