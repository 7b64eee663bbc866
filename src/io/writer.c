/* SPDX-License-Identifier: MIT
 *
 * io/writer.c - writing through a buffer. Contract: weft/buffer.h.
 *
 * The bytes that wait are the first used ones of the buffer. A write that brings their number to flush_at goes out together
 * with them, in one vectored call without being copied. If it comes to a halt half way, what is left of both is put into the
 * buffer when it fits: so only a write that is larger than the buffer can be torn, and that is an error that stays.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "os/memory.h"
#include "wait/wait.h"
#include "weft/buffer.h"

/* One caller at a time. */
struct weft_writer {
    weft_write_fn write;
    void *sink;
    weft_fd fd;   /* the sink, if write is writer_write_fd */
    char *buffer; /* NULL until something is to be kept */
    size_t size;
    size_t used;
    size_t flush_at;
    int error; /* the one that stays */
};

static ssize_t writer_write_fd(void *sink, const struct iovec *parts, int count, weft_time deadline);
static int writer_keep(weft_writer *writer, const char *bytes, size_t size);
static int writer_send(weft_writer *writer, const char *bytes, size_t size, weft_time deadline);
static int writer_send_parts(weft_writer *writer, struct iovec parts[2], weft_time deadline);
static int writer_format_long(weft_writer *writer, weft_time deadline, const char *format, va_list args, size_t length);

int weft_writer_new_to(weft_writer **out, weft_write_fn write, void *sink, size_t size) {
    if (!out || !write || (size != 0 && size < WEFT_BUFFER_LEAST) || size > WEFT_BUFFER_MOST)
        return -EINVAL;
    weft_writer *writer = wf_os_alloc(sizeof *writer);
    if (!writer)
        return -ENOMEM;
    writer->write = write;
    writer->sink = sink;
    writer->size = size ? size : WEFT_BUFFER_SIZE;
    writer->flush_at = writer->size;
    *out = writer;
    return 0;
}

int weft_writer_new(weft_writer **out, weft_fd fd, size_t size) {
    int error = weft_writer_new_to(out, writer_write_fd, NULL, size);
    if (error)
        return error;
    (*out)->sink = *out;
    (*out)->fd = fd;
    return 0;
}

static ssize_t writer_write_fd(void *sink, const struct iovec *parts, int count, weft_time deadline) {
    return weft_writev(((weft_writer *)sink)->fd, parts, count, deadline);
}

void weft_writer_free(weft_writer *writer) {
    if (!writer)
        return;
    wf_os_free(writer->buffer);
    wf_os_free(writer);
}

int weft_writer_set_flush_at(weft_writer *writer, size_t size) {
    if (!writer || size > writer->size)
        return -EINVAL;
    writer->flush_at = size ? size : writer->size;
    return 0;
}

size_t weft_writer_buffered(const weft_writer *writer) {
    return writer ? writer->used : 0;
}

int weft_writer_error(const weft_writer *writer) {
    return writer ? writer->error : -EINVAL;
}

int weft_writer_write(weft_writer *writer, const void *bytes, size_t size, weft_time deadline) {
    if (!writer || (!bytes && size > 0))
        return -EINVAL;
    if (writer->error || size == 0)
        return writer->error;
    bool fits = writer->used < writer->flush_at && size < writer->flush_at - writer->used;
    return fits ? writer_keep(writer, bytes, size) : writer_send(writer, bytes, size, deadline);
}

int weft_writer_flush(weft_writer *writer, weft_time deadline) {
    if (!writer)
        return -EINVAL;
    return writer->error || writer->used == 0 ? writer->error : writer_send(writer, NULL, 0, deadline);
}

/* Into the buffer, where it fits. */
static int writer_keep(weft_writer *writer, const char *bytes, size_t size) {
    WF_ASSERT(size <= writer->size - writer->used);
    if (!writer->buffer) {
        writer->buffer = wf_os_alloc(writer->size);
        if (!writer->buffer)
            return -ENOMEM;
    }
    memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
    return 0;
}

/* Everything, what waits and these bytes. */
static int writer_send(weft_writer *writer, const char *bytes, size_t size, weft_time deadline) {
    struct iovec parts[2] = {{writer->buffer, writer->used}, {(void *)bytes, size}};
    int error = writer_send_parts(writer, parts, deadline);
    bool is_whole = parts[1].iov_len == size; /* nothing of it has gone */
    size_t left = parts[0].iov_len;
    if (left > 0 && left < writer->used)
        memmove(writer->buffer, parts[0].iov_base, left);
    writer->used = left;
    if (!error)
        return 0;
    if (error != -ETIMEDOUT && error != -ECANCELED && error != -ENOMEM)
        return writer->error = error;
    if (is_whole)
        return error;
    if (parts[1].iov_len <= writer->size && writer_keep(writer, parts[1].iov_base, parts[1].iov_len) == 0)
        return 0;
    return writer->error = error;
}

/* parts: what is left of them. */
static int writer_send_parts(weft_writer *writer, struct iovec parts[2], weft_time deadline) {
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        int first = parts[0].iov_len == 0, count = parts[1].iov_len == 0 ? 1 : 2 - first;
        ssize_t written = writer->write(writer->sink, parts + first, count, deadline);
        if (written <= 0)
            return written < 0 ? (int)written : -EIO;
        for (int i = 0; i < 2; i++) {
            size_t gone = (size_t)written < parts[i].iov_len ? (size_t)written : parts[i].iov_len;
            parts[i].iov_base = gone ? (char *)parts[i].iov_base + gone : parts[i].iov_base;
            parts[i].iov_len -= gone;
            written -= (ssize_t)gone;
        }
        WF_ASSERT(written == 0);
    }
    return 0;
}

/* ---- Formatted ---- */

int weft_writer_printf(weft_writer *writer, weft_time deadline, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int error = weft_writer_vprintf(writer, deadline, format, args);
    va_end(args);
    return error;
}

/* Into a small room first, which is long enough for most. */
int weft_writer_vprintf(weft_writer *writer, weft_time deadline, const char *format, va_list args) {
    char small[512];
    va_list again;
    if (!writer || !format)
        return -EINVAL;
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args), error = -EINVAL;
    if (length >= 0)
        error = (size_t)length < sizeof small ? weft_writer_write(writer, small, (size_t)length, deadline)
                                              : writer_format_long(writer, deadline, format, again, (size_t)length);
    va_end(again);
    return error;
}

/* The memory goes with the fiber if that is dropped while it writes. */
static int writer_format_long(weft_writer *writer, weft_time deadline, const char *format, va_list args,
                              size_t length) {
    char *text = wf_wait_alloc(length + 1);
    if (!text)
        return -ENOMEM;
    vsnprintf(text, length + 1, format, args);
    int error = weft_writer_write(writer, text, length, deadline);
    wf_wait_free(text);
    return error;
}
