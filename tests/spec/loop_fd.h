/* SPDX-License-Identifier: MIT
 *
 * spec/loop_fd.h - pipes, and callbacks that remember what they were told of them.
 *
 * For the suites of a loop's descriptors. Public headers only.
 */
#ifndef WF_SPEC_LOOP_FD_H
#define WF_SPEC_LOOP_FD_H

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/loop.h"

/* What a callback was told. */
struct told {
    int calls;
    int fd;
    unsigned events;
    bool removes; /* itself */
    bool drains;
    void (*also)(struct told *told);
};

static inline void note(int fd, unsigned events, void *arg) {
    struct told *told = arg;
    CHECK(weft_loop_current() == loop);
    told->calls++;
    told->fd = fd;
    told->events = events;
    char byte;
    if (told->drains)
        CHECK_EQ(read(fd, &byte, 1), 1);
    if (told->removes)
        CHECK_EQ(weft_loop_fd_remove(loop, fd), 0);
    if (told->also)
        told->also(told);
}

static inline void pipe_open(int *ends) {
    CHECK_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
}

static inline void pair_open(int *ends) {
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
}

static inline void pair_close(const int *ends) {
    CHECK_EQ(close(ends[0]), 0);
    CHECK_EQ(close(ends[1]), 0);
}

static inline void put_byte(int fd) {
    CHECK_EQ(write(fd, "x", 1), 1);
}

static inline void add(int fd, unsigned events, struct told *told) {
    CHECK_EQ(weft_loop_fd_add(loop, fd, events, note, told), 0);
}

static inline void finish_quietly(void) {
    CHECK_EQ(loop_run(WEFT_LOOP_UNTIL_QUIET), 0);
    loop_drop();
}

#endif
