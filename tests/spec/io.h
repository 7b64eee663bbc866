/* SPDX-License-Identifier: MIT
 *
 * spec/io.h - every call of weft/io.h that may wait, in a table.
 *
 * So that each way in which a wait can end is tried with all of them: those that wait for something to read on an empty
 * descriptor, and those that wait for room on a full one.
 */
#ifndef WF_SPEC_IO_H
#define WF_SPEC_IO_H

#include "support/io.h"

static char room[1 << 16];

/* Those who read have room of their own: several of them may do so at once. */
static inline long call_read(weft_fd fd, weft_time deadline) {
    char byte;
    return weft_read(fd, &byte, 1, deadline);
}
static inline long call_readv(weft_fd fd, weft_time deadline) {
    char bytes[2];
    struct iovec parts[] = {{NULL, 0}, {bytes, 1}, {bytes + 1, 1}};
    return weft_readv(fd, parts, 3, deadline);
}
static inline long call_read_full(weft_fd fd, weft_time deadline) {
    char bytes[2];
    size_t done = 7;
    long result = weft_read_full(fd, bytes, 2, &done, deadline);
    CHECK_EQ(done, result < 0 ? 0 : result);
    return result;
}
static inline long call_wait_readable(weft_fd fd, weft_time deadline) {
    return weft_wait_readable(fd, deadline);
}
static inline long select_one(weft_case entry, weft_time deadline) {
    int chosen = weft_select(&entry, 1, deadline);
    return chosen < 0 ? chosen : entry.status;
}
static inline long call_on_readable(weft_fd fd, weft_time deadline) {
    return select_one(weft_on_readable(fd), deadline);
}

static inline long call_write(weft_fd fd, weft_time deadline) {
    return weft_write(fd, room, sizeof room, deadline);
}
static inline long call_writev(weft_fd fd, weft_time deadline) {
    struct iovec parts[] = {{room, 100}, {NULL, 0}, {room, 4096}};
    return weft_writev(fd, parts, 3, deadline);
}
static inline long call_write_all(weft_fd fd, weft_time deadline) {
    size_t done = 7;
    long result = weft_write_all_done(fd, room, 1, &done, deadline);
    CHECK_EQ(done, result < 0 ? 0 : 1);
    return result;
}
static inline long call_writev_all(weft_fd fd, weft_time deadline) {
    struct iovec parts[] = {{NULL, 0}, {room, 1}};
    size_t done = 7;
    long result = weft_writev_all(fd, parts, 2, &done, deadline);
    CHECK_EQ(done, result < 0 ? 0 : 1);
    return result;
}
static inline long call_wait_writable(weft_fd fd, weft_time deadline) {
    return weft_wait_writable(fd, deadline);
}
static inline long call_on_writable(weft_fd fd, weft_time deadline) {
    return select_one(weft_on_writable(fd), deadline);
}

struct call {
    long (*fn)(weft_fd fd, weft_time deadline);
    bool is_write;
};

static const struct call calls[] = {
    {call_read, false},        {call_readv, false},        {call_read_full, false},  {call_wait_readable, false},
    {call_on_readable, false}, {call_write, true},         {call_writev, true},      {call_write_all, true},
    {call_writev_all, true},   {call_wait_writable, true}, {call_on_writable, true},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* A descriptor on which that call would have to wait, in ends[call->is_write]. */
static inline weft_fd open_stuck(enum io_kind kind, const struct call *call, weft_fd ends[2]) {
    io_open(call->is_write && kind == IO_TCP ? IO_PAIR : kind, ends); /* TCP does not stay full */
    if (call->is_write)
        io_fill(ends[1]);
    return ends[call->is_write];
}

/* What it waited for comes. */
static inline void unstick(const struct call *call, weft_fd ends[2]) {
    if (call->is_write)
        CHECK_NE(io_drain(ends[0]), 0);
    else
        CHECK_EQ(weft_write(ends[1], "xy", 2, WEFT_NEVER), 2);
}

/* A call that is made by somebody else. */
struct attempt {
    const struct call *call;
    weft_fd fd;
    long result;
};

static inline void *make_attempt(void *opaque) {
    struct attempt *attempt = opaque;
    attempt->result = attempt->call->fn(attempt->fd, WEFT_NEVER);
    return NULL;
}

#endif
