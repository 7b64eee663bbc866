/* SPDX-License-Identifier: MIT
 *
 * The servers of bench/weft/http.c as plainly as the kernel allows: one thread, one level-triggered epoll, no parser. "hello"
 * answers every empty line with the same bytes; "echo" writes what it has read.
 *
 * Called as "http NAME", prints "ready PORT" and serves until it is killed.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECE = 16384, BATCH = 256, MOST = 65536 };

static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, world!";
static unsigned char matched[MOST]; /* by descriptor: how many bytes of the empty line have come */

static int must(int result, const char *what) {
    if (result < 0) {
        perror(what);
        exit(1);
    }
    return result;
}

static int listen_anywhere(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = must(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
    must(bind(listener, (struct sockaddr *)&address, size), "bind");
    must(listen(listener, 1024), "listen");
    must(getsockname(listener, (struct sockaddr *)&address, &size), "getsockname");
    printf("ready %u\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static bool send_all(int fd, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t count = send(fd, bytes, size, MSG_NOSIGNAL);
        if (count < 0 && poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, 10000) != 1)
            return false;
        bytes += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* Answers as many requests as end in these bytes. */
static bool answer_all(int fd, const char *bytes, size_t size) {
    static const char empty[] = "\r\n\r\n";
    unsigned char seen = matched[fd];
    for (size_t i = 0; i < size; i++) {
        seen = bytes[i] == empty[seen] ? seen + 1 : bytes[i] == '\r';
        if (seen == 4) {
            seen = 0;
            if (!send_all(fd, answer, sizeof answer - 1))
                return false;
        }
    }
    matched[fd] = seen;
    return true;
}

static void accept_one(int epoll, int listener) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), yes = 1;
    if (fd < 0)
        return;
    if (fd >= MOST) {
        close(fd);
        return;
    }
    matched[fd] = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &(struct epoll_event){.events = EPOLLIN, .data.fd = fd}), "epoll_ctl");
}

int main(int argc, char **argv) {
    static char piece[PIECE];
    struct epoll_event events[BATCH];
    bool is_hello = argc > 1 && strcmp(argv[1], "hello") == 0;
    if (!is_hello && (argc < 2 || strcmp(argv[1], "echo") != 0))
        return fprintf(stderr, "usage: %s hello|echo\n", argv[0]) < 0 ? 1 : 2;
    int listener = listen_anywhere(), epoll = must(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN, .data.fd = listener}),
         "epoll_ctl");
    for (;;) {
        int count = epoll_wait(epoll, events, BATCH, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                accept_one(epoll, listener);
                continue;
            }
            ssize_t size = read(fd, piece, sizeof piece);
            if (size <= 0 || !(is_hello ? answer_all : send_all)(fd, piece, (size_t)size))
                close(fd);
        }
    }
}
