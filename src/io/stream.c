/* SPDX-License-Identifier: MIT
 *
 * io/stream.c - reading and writing.
 *
 * Every call is the same loop: get the descriptor, try, and if that would block, wait for news and begin again. What differs
 * is the system call, so each has a function of its own that is given to transfer().
 *
 * On what cannot be waited for, the system call is made inside a blocking region. Such a call keeps the descriptor in use
 * meanwhile, so closing waits for it.
 */
#include <errno.h>
#include <limits.h>

#include "base/assert.h"
#include "io/fd.h"
#include "weft/thread.h"

/* A call and what it is about. Belongs to one caller. */
struct transfer {
    ssize_t (*call)(struct wf_fd *record, struct transfer *transfer);
    void *buffer;
    size_t size;
    const struct iovec *parts;
    int count;
    weft_fd source;
    off_t *offset;
};

static ssize_t transfer(weft_fd fd, struct transfer *what, enum wf_io_way way, int64_t deadline_ns, const char *reason);
static ssize_t transfer_blocking(struct wf_fd *record, struct transfer *what);
static int check_parts(const struct iovec *parts, int count, size_t *size);

/* What the kernel takes in one call; more is refused by it or cut. */
enum { PARTS_MOST = 1024 };
#define BYTES_MOST ((size_t)INT_MAX & ~(size_t)4095)

static size_t limited(size_t size) {
    return size < BYTES_MOST ? size : BYTES_MOST;
}

static ssize_t transfer(weft_fd fd, struct transfer *what, enum wf_io_way way, int64_t deadline_ns,
                        const char *reason) {
    int error = wf_wait_enter(deadline_ns);
    while (!error) {
        struct wf_fd *record = wf_fd_get(fd);
        if (!record)
            return -EBADF;
        if (record->kind == WF_OS_FILE)
            return transfer_blocking(record, what);
        uint32_t before;
        bool may_try = wf_fd_try_read(record, &before) || way != WF_IO_READ;
        ssize_t result = may_try ? what->call(record, what) : -EAGAIN;
        if (result != -EAGAIN) {
            if (way == WF_IO_READ && record->can_drain && result > 0 && (size_t)result < what->size)
                wf_fd_drained(record, before);
            wf_fd_put(record);
            return result;
        }
        error = wf_fd_wait(record, way, before, deadline_ns, reason);
    }
    return error;
}

static ssize_t transfer_blocking(struct wf_fd *record, struct transfer *what) {
    weft_blocking_begin();
    ssize_t result = what->call(record, what);
    weft_blocking_end();
    wf_fd_put(record);
    return result;
}

static ssize_t call_read(struct wf_fd *record, struct transfer *what) {
    return wf_os_read(record->number, what->buffer, what->size);
}

ssize_t weft_read(weft_fd fd, void *buffer, size_t size, weft_time deadline) {
    if (!buffer && size > 0)
        return -EINVAL;
    struct transfer what = {.call = call_read, .buffer = buffer, .size = limited(size)};
    return transfer(fd, &what, WF_IO_READ, deadline, "read");
}

static ssize_t call_write(struct wf_fd *record, struct transfer *what) {
    return wf_os_write(record->number, record->kind >= WF_OS_SOCKET, what->buffer, what->size);
}

ssize_t weft_write(weft_fd fd, const void *bytes, size_t size, weft_time deadline) {
    if (!bytes && size > 0)
        return -EINVAL;
    struct transfer what = {.call = call_write, .buffer = (void *)bytes, .size = limited(size)};
    return transfer(fd, &what, WF_IO_WRITE, deadline, "write");
}

static int check_parts(const struct iovec *parts, int count, size_t *size) {
    if (count < 0 || count > PARTS_MOST || (!parts && count > 0))
        return -EINVAL;
    *size = 0;
    for (int i = 0; i < count; i++) {
        if ((!parts[i].iov_base && parts[i].iov_len > 0) || parts[i].iov_len > BYTES_MOST - *size)
            return -EINVAL;
        *size += parts[i].iov_len;
    }
    return 0;
}

static ssize_t call_readv(struct wf_fd *record, struct transfer *what) {
    return wf_os_readv(record->number, what->parts, what->count);
}

ssize_t weft_readv(weft_fd fd, const struct iovec *parts, int count, weft_time deadline) {
    struct transfer what = {.call = call_readv, .parts = parts, .count = count};
    int error = check_parts(parts, count, &what.size);
    return error ? error : transfer(fd, &what, WF_IO_READ, deadline, "read");
}

static ssize_t call_writev(struct wf_fd *record, struct transfer *what) {
    return wf_os_writev(record->number, record->kind >= WF_OS_SOCKET, what->parts, what->count);
}

ssize_t weft_writev(weft_fd fd, const struct iovec *parts, int count, weft_time deadline) {
    struct transfer what = {.call = call_writev, .parts = parts, .count = count};
    int error = check_parts(parts, count, &what.size);
    return error ? error : transfer(fd, &what, WF_IO_WRITE, deadline, "write");
}

ssize_t weft_read_full(weft_fd fd, void *buffer, size_t size, size_t *done, weft_time deadline) {
    size_t so_far = 0;
    ssize_t result = size == 0 ? weft_read(fd, buffer, 0, deadline) : 1;
    while (so_far < size && result > 0) {
        result = weft_read(fd, (char *)buffer + so_far, size - so_far, deadline);
        so_far += result > 0 ? (size_t)result : 0;
    }
    if (done)
        *done = so_far;
    return result < 0 ? result : (ssize_t)so_far;
}

int weft_write_all_done(weft_fd fd, const void *bytes, size_t size, size_t *done, weft_time deadline) {
    size_t so_far = 0;
    ssize_t result = size == 0 ? weft_write(fd, bytes, 0, deadline) : 0;
    while (so_far < size && result >= 0) {
        result = weft_write(fd, (const char *)bytes + so_far, size - so_far, deadline);
        so_far += result > 0 ? (size_t)result : 0;
    }
    if (done)
        *done = so_far;
    return result < 0 ? (int)result : 0;
}

int weft_writev_all(weft_fd fd, struct iovec *parts, int count, size_t *done, weft_time deadline) {
    size_t so_far = 0, size;
    ssize_t result = check_parts(parts, count, &size);
    bool is_first = true;
    while (result >= 0 && (so_far < size || is_first)) {
        result = weft_writev(fd, parts, count, deadline);
        is_first = false;
        size_t written = result > 0 ? (size_t)result : 0;
        so_far += written;
        for (; count > 0 && written >= parts->iov_len; parts++, count--)
            written -= parts->iov_len;
        if (written > 0) {
            parts->iov_base = (char *)parts->iov_base + written;
            parts->iov_len -= written;
        }
    }
    if (done)
        *done = so_far;
    return result < 0 ? (int)result : 0;
}

/* ---- Inside the kernel ---- */

/* The source is got for each try: nobody uses it while this one is parked. */
static ssize_t call_send_file(struct wf_fd *record, struct transfer *what) {
    struct wf_fd *source = wf_fd_get(what->source);
    if (!source)
        return -EBADF;
    ssize_t result = -EINVAL;
    if (source->kind == WF_OS_FILE) {
        weft_blocking_begin(); /* the disk */
        result = wf_os_send_file(record->number, source->number, what->offset, what->size);
        weft_blocking_end();
    }
    wf_fd_put(source);
    return result;
}

ssize_t weft_send_file(weft_fd to, weft_fd file, off_t *offset, size_t size, weft_time deadline) {
    if (!offset || *offset < 0)
        return -EINVAL;
    struct transfer what = {.call = call_send_file, .source = file, .offset = offset, .size = limited(size)};
    return transfer(to, &what, WF_IO_WRITE, deadline, "send file");
}

/* Which of the two it would have to wait for is not told: the source is asked. */
static ssize_t splice_once(weft_fd to, weft_fd from, size_t size, bool *waits_for_source) {
    struct wf_fd *sink = wf_fd_get(to);
    struct wf_fd *source = sink ? wf_fd_get(from) : NULL;
    ssize_t result = -EBADF;
    if (source) {
        weft_blocking_begin();
        result = wf_os_splice(source->number, sink->number, size);
        weft_blocking_end();
        *waits_for_source = result == -EAGAIN && source->kind != WF_OS_FILE && !wf_os_is_readable(source->number);
        wf_fd_put(source);
    }
    if (sink)
        wf_fd_put(sink);
    return result;
}

ssize_t weft_splice(weft_fd to, weft_fd from, size_t size, weft_time deadline) {
    int error = wf_wait_enter(deadline);
    while (!error) {
        bool waits_for_source = false;
        ssize_t result = splice_once(to, from, limited(size), &waits_for_source);
        if (result != -EAGAIN)
            return result;
        error = waits_for_source ? weft_wait_readable(from, deadline) : weft_wait_writable(to, deadline);
    }
    return error;
}
