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
    bool must_try = deadline_ns == WEFT_NOW || way != WF_IO_READ;
    while (!error) {
        struct wf_fd *record = wf_fd_get(fd);
        if (!record)
            return -EBADF;
        if (record->kind == WF_OS_FILE)
            return transfer_blocking(record, what);
        uint32_t before;
        bool may_try = wf_fd_try_read(record, &before) || must_try;
        ssize_t result = what->size == 0 ? 0 : may_try ? what->call(record, what) : -EAGAIN;
        if (result != -EAGAIN) {
            if (way == WF_IO_READ && record->can_drain && result > 0 && (size_t)result < what->size)
                wf_fd_drained(record, before);
            wf_fd_put(record);
            return result;
        }
        error = wf_fd_wait(record, way, before, deadline_ns, reason);
        if (error == -ETIMEDOUT && !may_try) { /* what the poller has not told yet may be there */
            error = 0;
            must_try = true;
            deadline_ns = WEFT_NOW;
        }
    }
    return error;
}

/* Put before the region ends: there the fiber gets in line again, and may be dropped with its runtime. */
static ssize_t transfer_blocking(struct wf_fd *record, struct transfer *what) {
    weft_blocking_begin();
    ssize_t result = what->call(record, what);
    wf_fd_put(record);
    weft_blocking_end();
    return result;
}

/* A named pipe says that it has ended when no writer has come yet; poll knows better. */
static ssize_t end_or_wait(const struct wf_fd *record, ssize_t result) {
    return result == 0 && record->is_fifo && !wf_os_is_readable(record->number) ? -EAGAIN : result;
}

static ssize_t call_read(struct wf_fd *record, struct transfer *what) {
    return end_or_wait(record, wf_os_read(record->number, record->kind >= WF_OS_SOCKET, what->buffer, what->size));
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
    return end_or_wait(record, wf_os_readv(record->number, what->parts, what->count));
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
        wf_parts_advance(&parts, &count, written);
    }
    if (done)
        *done = so_far;
    return result < 0 ? (int)result : 0;
}

/* ---- Inside the kernel ---- */

/* One try, inside a blocking region because of the disk. Neither of the two is in use when it returns. */
static ssize_t move_once(weft_fd to, weft_fd from, off_t *offset, size_t size, bool *waits_for_source) {
    weft_blocking_begin();
    struct wf_fd *sink = wf_fd_get(to);
    struct wf_fd *source = sink ? wf_fd_get(from) : NULL;
    ssize_t result = -EBADF;
    if (source) {
        result = offset ? wf_os_send_file(sink->number, source->number, offset, size)
                        : wf_os_splice(source->number, sink->number, size);
        /* Which of the two it would have to wait for is not told: the source is asked. */
        *waits_for_source = result == -EAGAIN && source->kind != WF_OS_FILE && !wf_os_is_readable(source->number);
        wf_fd_put(source);
    }
    if (sink)
        wf_fd_put(sink);
    weft_blocking_end();
    return result;
}

static ssize_t move(weft_fd to, weft_fd from, off_t *offset, size_t size, int64_t deadline_ns) {
    int error = wf_wait_enter(deadline_ns);
    while (!error) {
        bool waits_for_source = false;
        ssize_t result = move_once(to, from, offset, limited(size), &waits_for_source);
        if (result != -EAGAIN)
            return result;
        error = waits_for_source ? weft_wait_readable(from, deadline_ns) : weft_wait_writable(to, deadline_ns);
    }
    return error;
}

ssize_t weft_send_file(weft_fd to, weft_fd file, off_t *offset, size_t size, weft_time deadline) {
    return offset && *offset >= 0 ? move(to, file, offset, size, deadline) : -EINVAL;
}

ssize_t weft_splice(weft_fd to, weft_fd from, size_t size, weft_time deadline) {
    return move(to, from, NULL, size, deadline);
}
