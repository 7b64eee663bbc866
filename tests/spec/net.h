/* SPDX-License-Identifier: MIT
 *
 * spec/net.h - what the suites about sockets share: addresses in a word, connections on this machine, and places at which
 * connecting takes for ever.
 *
 * A thread that waits for a descriptor outside of a runtime has the library start a thread of its own, which stays. It is started
 * before anything is counted (support/balance.c).
 */
#ifndef WF_SPEC_NET_H
#define WF_SPEC_NET_H

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/child.h"
#include "support/descriptors.h"
#include "support/parked.h"
#include "weft/net.h"

__attribute__((constructor(101))) static void start_keeper(void) {
    weft_fd ends[2];
    CHECK_EQ(weft_pipe(ends), 0);
    CHECK_EQ(weft_wait_readable(ends[0], 1), -ETIMEDOUT);
    CHECK_EQ(weft_close(ends[0]), 0);
    CHECK_EQ(weft_close(ends[1]), 0);
}

static inline weft_address at(const char *text) {
    weft_address address;
    CHECK_EQ(weft_address_parse(&address, text), 0);
    return address;
}

/* Port 0 becomes what the system has chosen. */
static inline weft_fd listen_with(weft_address *where, const weft_socket_options *options) {
    weft_fd listener;
    CHECK_EQ(weft_listen(&listener, where, options), 0);
    CHECK_EQ(weft_local_address(listener, where), 0);
    return listener;
}

static inline weft_fd listen_on(const char *text, weft_address *where) {
    *where = at(text);
    return listen_with(where, NULL);
}

static inline weft_fd connect_to(const weft_address *where) {
    weft_fd fd;
    CHECK_EQ(weft_connect(&fd, where, NULL, weft_after(PATIENCE_NS)), 0);
    return fd;
}

static inline weft_fd accept_from(weft_fd listener) {
    weft_fd fd;
    CHECK_EQ(weft_accept(listener, &fd, NULL, weft_after(PATIENCE_NS)), 0);
    return fd;
}

static inline void close_fd(weft_fd fd) {
    CHECK_EQ(weft_close(fd), 0);
}

/* Both ends of a connection over IP: the kernel connects before anybody accepts. */
static inline void connected(weft_fd ends[2]) {
    weft_address where;
    weft_fd listener = listen_on("127.0.0.1:0", &where);
    ends[0] = connect_to(&where);
    ends[1] = accept_from(listener);
    close_fd(listener);
}

static inline void check_talk(weft_fd one, weft_fd other) {
    char letters[4] = {0};
    CHECK_EQ(weft_write_all(one, "ping", 4, weft_after(PATIENCE_NS)), 0);
    CHECK_EQ(weft_read_full(other, letters, 4, NULL, weft_after(PATIENCE_NS)), 4);
    CHECK(memcmp(letters, "ping", 4) == 0);
}

static inline int option_of(weft_fd fd, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    CHECK_EQ(getsockopt(weft_fd_number(fd), level, name, &value, &size), 0);
    return value;
}

/* A listener with as many connections as it takes: the next one waits until somebody accepts. */
struct full {
    weft_fd listener;
    weft_address where;
    int count;
    weft_fd waiting[8];
};

static inline void full_open(struct full *full, const char *text) {
    weft_socket_options options = {.backlog = 1};
    int error;
    full->where = at(text);
    full->listener = listen_with(&full->where, &options);
    full->count = 0;
    bool is_path = full->where.storage.ss_family == AF_UNIX;
    /* A connection over IP takes a moment, and one that is not taken takes for ever: here it has as many as the kernel takes. */
    do {
        weft_time deadline = is_path           ? WEFT_NOW
                             : full->count < 2 ? weft_after(PATIENCE_NS)
                                               : weft_after(WEFT_MILLISECOND);
        CHECK_LE(full->count, 7);
        error = weft_connect(&full->waiting[full->count], &full->where, NULL, deadline);
        full->count += error == 0;
    } while (error == 0);
    CHECK_EQ(error, -ETIMEDOUT);
}

static inline void full_close(struct full *full) {
    while (full->count > 0)
        close_fd(full->waiting[--full->count]);
    close_fd(full->listener);
}

/* An address on which nobody will listen before the number that is returned is closed: it is bound, and that is all. */
static inline int refusing(weft_address *where) {
    int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *where = at("127.0.0.1:0");
    CHECK_EQ(bind(number, (struct sockaddr *)&where->storage, where->size), 0);
    where->size = sizeof where->storage;
    CHECK_EQ(getsockname(number, (struct sockaddr *)&where->storage, &where->size), 0);
    return number;
}

/* An address of this process alone: what it gives up there nobody else gets meanwhile. */
static inline const char *own_address(void) {
    static char text[WEFT_ADDRESS_TEXT];
    snprintf(text, sizeof text, "127.99.%d.%d:0", getpid() >> 8 & 255, getpid() & 255);
    return text;
}

/* Some machines have no IPv6. */
static inline bool has_v6(void) {
    weft_address where = at("[::1]:0");
    weft_fd listener;
    int error = weft_listen(&listener, &where, NULL);
    if (error == 0)
        close_fd(listener);
    return error == 0;
}

/* The body on the thread of the test, and as a fiber. */
static inline void on_both(void (*body)(void)) {
    body();
    run_fibers(body);
}

/* A path of this process for sockets; nothing is there. */
static inline const char *scratch_path(void) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/weft-net-%d", (int)getpid());
    unlink(path);
    return path;
}

static inline weft_address at_path(const char *path) {
    char text[WEFT_ADDRESS_TEXT];
    snprintf(text, sizeof text, "unix:%s", path);
    return at(text);
}

#endif
