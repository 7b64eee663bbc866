/* SPDX-License-Identifier: MIT
 *
 * io/reader.c - reading through a buffer. Contract: weft/buffer.h.
 *
 * The bytes that were read and not yet handed out are [start, end) of the buffer. Only reader_fill() moves them, to the front, and
 * only it reads into the buffer; so what a call hands out stays where it is until the next one.
 *
 *     |  handed out  |  start ... end  |  room  | 1 |
 *
 * The one byte behind the room is for the zero of a last line that fills the buffer.
 *
 * Without a buffer, at first and after weft_reader_rest, a reader over a descriptor waits until that is readable and allocates
 * then. Somebody else may be faster to read; then the buffer waits with us.
 */
#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "os/memory.h"
#include "weft/buffer.h"

/* One caller at a time. */
struct weft_reader {
    weft_read_fn read;
    void *source;
    weft_fd fd;   /* the source, if read is reader_read_fd */
    char *buffer; /* size + 1 bytes, or NULL */
    size_t size;
    size_t start;
    size_t end;
};

static ssize_t reader_read_fd(void *source, void *buffer, size_t size, weft_time deadline);
static ssize_t reader_fill(weft_reader *reader, weft_time deadline);
static ssize_t reader_find(weft_reader *reader, char delimiter, size_t limit, weft_time deadline);

int weft_reader_new_from(weft_reader **out, weft_read_fn read, void *source, size_t size) {
    if (!out || !read || (size != 0 && size < WEFT_BUFFER_LEAST) || size > WEFT_BUFFER_MOST)
        return -EINVAL;
    weft_reader *reader = wf_os_alloc(sizeof *reader);
    if (!reader)
        return -ENOMEM;
    reader->read = read;
    reader->source = source;
    reader->size = size ? size : WEFT_BUFFER_SIZE;
    *out = reader;
    return 0;
}

int weft_reader_new(weft_reader **out, weft_fd fd, size_t size) {
    int error = weft_reader_new_from(out, reader_read_fd, NULL, size);
    if (error)
        return error;
    (*out)->source = *out;
    (*out)->fd = fd;
    return 0;
}

static ssize_t reader_read_fd(void *source, void *buffer, size_t size, weft_time deadline) {
    return weft_read(((weft_reader *)source)->fd, buffer, size, deadline);
}

void weft_reader_free(weft_reader *reader) {
    if (!reader)
        return;
    wf_os_free(reader->buffer);
    wf_os_free(reader);
}

int weft_reader_rest(weft_reader *reader) {
    if (!reader)
        return -EINVAL;
    if (reader->start != reader->end)
        return -EBUSY;
    wf_os_free(reader->buffer);
    reader->buffer = NULL;
    reader->start = reader->end = 0;
    return 0;
}

/* Reads once, as much as there is room for. Returns how many bytes, 0 at the end, or an error. There is room: the caller has
 * seen that fewer than size bytes are there. */
static ssize_t reader_fill(weft_reader *reader, weft_time deadline) {
    WF_ASSERT(reader->end - reader->start < reader->size);
    if (!reader->buffer) {
        int error = reader->read == reader_read_fd ? weft_wait_readable(reader->fd, deadline) : 0;
        if (error)
            return error;
        reader->buffer = wf_os_alloc(reader->size + 1);
        if (!reader->buffer)
            return -ENOMEM;
    }
    if (reader->start == reader->end || reader->end == reader->size) {
        memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
        reader->end -= reader->start;
        reader->start = 0;
    }
    size_t room = reader->size - reader->end;
    ssize_t got = reader->read(reader->source, reader->buffer + reader->end, room, deadline);
    WF_ASSERT(got <= (ssize_t)room);
    if (got > 0)
        reader->end += (size_t)got;
    return got;
}

static size_t reader_take(weft_reader *reader, void *buffer, size_t size) {
    size_t there = weft_reader_buffered(reader);
    size_t count = size < there ? size : there;
    if (count > 0 && buffer)
        memcpy(buffer, reader->buffer + reader->start, count);
    reader->start += count;
    return count;
}

ssize_t weft_reader_read(weft_reader *reader, void *buffer, size_t size, weft_time deadline) {
    if (!reader || (!buffer && size > 0))
        return -EINVAL;
    if (size == 0)
        return 0;
    if (reader->start == reader->end) {
        if (size >= reader->size)
            return reader->read(reader->source, buffer, size, deadline);
        ssize_t got = reader_fill(reader, deadline);
        if (got <= 0)
            return got;
    }
    return (ssize_t)reader_take(reader, buffer, size);
}

ssize_t weft_reader_read_full(weft_reader *reader, void *buffer, size_t size, size_t *done, weft_time deadline) {
    size_t so_far = 0;
    ssize_t result = reader && (buffer || size == 0) ? 1 : -EINVAL;
    while (so_far < size && result > 0) {
        result = weft_reader_read(reader, (char *)buffer + so_far, size - so_far, deadline);
        so_far += result > 0 ? (size_t)result : 0;
    }
    if (done)
        *done = so_far;
    return result < 0 ? result : (ssize_t)so_far;
}

ssize_t weft_reader_skip(weft_reader *reader, size_t size, size_t *done, weft_time deadline) {
    size_t so_far = 0;
    ssize_t result = reader ? 1 : -EINVAL;
    while (so_far < size && result > 0) {
        if (reader->start == reader->end)
            result = reader_fill(reader, deadline);
        so_far += reader_take(reader, NULL, size - so_far);
    }
    if (done)
        *done = so_far;
    return result < 0 ? result : (ssize_t)so_far;
}

ssize_t weft_reader_peek(weft_reader *reader, const void **bytes, size_t least, weft_time deadline) {
    if (!reader || !bytes)
        return -EINVAL;
    if (least > reader->size)
        return -EMSGSIZE;
    ssize_t got = 1;
    while (weft_reader_buffered(reader) < least && got > 0)
        got = reader_fill(reader, deadline);
    if (got < 0)
        return got;
    *bytes = reader->buffer ? reader->buffer + reader->start : NULL;
    return (ssize_t)weft_reader_buffered(reader);
}

size_t weft_reader_buffered(const weft_reader *reader) {
    return reader ? reader->end - reader->start : 0;
}

int weft_reader_discard(weft_reader *reader, size_t size) {
    if (!reader || size > weft_reader_buffered(reader))
        return -EINVAL;
    reader->start += size;
    return 0;
}

/* Waits until the delimiter is there, among the first limit bytes. Returns the length up to it and with it; at the end the length
 * of what is left. What was looked at once is not looked at again. */
static ssize_t reader_find(weft_reader *reader, char delimiter, size_t limit, weft_time deadline) {
    if (limit == 0 || limit > reader->size)
        limit = reader->size;
    for (size_t looked_at = 0;;) {
        size_t there = weft_reader_buffered(reader);
        size_t most = there < limit ? there : limit;
        const char *found = NULL;
        if (most > looked_at)
            found = memchr(reader->buffer + reader->start + looked_at, delimiter, most - looked_at);
        if (found)
            return found - (reader->buffer + reader->start) + 1;
        if (there >= limit)
            return -EMSGSIZE;
        looked_at = there;
        ssize_t got = reader_fill(reader, deadline);
        if (got <= 0)
            return got < 0 ? got : (ssize_t)there;
    }
}

ssize_t weft_reader_until(weft_reader *reader, char delimiter, const char **bytes, size_t limit, weft_time deadline) {
    if (!reader || !bytes)
        return -EINVAL;
    ssize_t length = reader_find(reader, delimiter, limit, deadline);
    if (length > 0) {
        *bytes = reader->buffer + reader->start;
        reader->start += (size_t)length;
    }
    return length;
}

int weft_reader_line(weft_reader *reader, char **line, size_t *length, size_t limit, weft_time deadline) {
    if (!reader || !line)
        return -EINVAL;
    ssize_t found = reader_find(reader, '\n', limit, deadline);
    if (found <= 0)
        return (int)found;
    char *text = reader->buffer + reader->start;
    size_t size = (size_t)found;
    reader->start += size;
    if (text[size - 1] == '\n')
        size -= size > 1 && text[size - 2] == '\r' ? 2 : 1;
    text[size] = 0; /* where its end was; or, at the end of all, behind everything that was read */
    *line = text;
    if (length)
        *length = size;
    return 1;
}
