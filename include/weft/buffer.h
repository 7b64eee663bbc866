/* SPDX-License-Identifier: MIT
 *
 * weft/buffer.h - readers and writers with a buffer: lines, whole records, formatted text, few system calls.
 *
 *     weft_reader *reader;
 *     char *line;
 *     weft_reader_new(&reader, fd, 0);
 *     while (weft_reader_line(reader, &line, NULL, 0, weft_after(60 * WEFT_SECOND)) > 0)
 *         weft_writer_printf(writer, WEFT_NEVER, "you said: %s\n", line);
 *     weft_writer_flush(writer, WEFT_NEVER);
 *
 * Below stands a weft_fd, or a function that reads or writes like weft_read and weft_writev. Neither is closed here. A reader
 * or a writer belongs to one fiber or thread at a time.
 *
 * A call that fails loses nothing that was read: it stays in the buffer, and the same call may be made again, also after a
 * deadline. What is handed out without copying points into the buffer and is good until the next call.
 */
#ifndef WEFT_BUFFER_H
#define WEFT_BUFFER_H

#include <stdarg.h>

#include "weft/io.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WEFT_BUFFER_SIZE = 16384, WEFT_BUFFER_LEAST = 64, WEFT_BUFFER_MOST = 1 << 30 };

/* ---- Reading ---- */

typedef struct weft_reader weft_reader;

/* As weft_read: how many bytes, 0 at the end, or an error. */
typedef ssize_t (*weft_read_fn)(void *source, void *buffer, size_t size, weft_time deadline);

/* size: of the buffer, 0 for WEFT_BUFFER_SIZE. The buffer itself is allocated by the first call that reads, and, over a weft_fd,
 * not before something is there to be read. Returns 0; -ENOMEM; -EINVAL for null, or a size out of bounds. */
WEFT_API int weft_reader_new(weft_reader **out, weft_fd fd, size_t size);
WEFT_API int weft_reader_new_from(weft_reader **out, weft_read_fn read, void *source, size_t size);
/* What is in the buffer is dropped. Null is allowed. */
WEFT_API void weft_reader_free(weft_reader *reader);

/* Those below return, besides what they say, the errors of weft_read, and -ENOMEM when there is no memory for the buffer; -EINVAL
 * for null where something is needed. */

/* What is in the buffer first, else what comes, at most size bytes. Returns how many; 0 at the end. Reads that are larger than
 * the buffer go past it. */
WEFT_API ssize_t weft_reader_read(weft_reader *reader, void *buffer, size_t size, weft_time deadline);
/* As weft_read_full: goes on until all of it is read. Bytes that were read before an error are in the caller's buffer, *done of
 * them. */
WEFT_API ssize_t weft_reader_read_full(weft_reader *reader, void *buffer, size_t size, size_t *done,
                                       weft_time deadline);
/* Drops the next size bytes. Returns how many, which is less at the end only; *done as above. */
WEFT_API ssize_t weft_reader_skip(weft_reader *reader, size_t size, size_t *done, weft_time deadline);

/* Waits until at least so many bytes are in the buffer, and leaves them there: *bytes points to them. Returns how many there are,
 * perhaps more; fewer than least only at the end. -EMSGSIZE when least is more than the size of the buffer. */
WEFT_API ssize_t weft_reader_peek(weft_reader *reader, const void **bytes, size_t least, weft_time deadline);
/* How many bytes are in the buffer; takes so many of them out. -EINVAL when there are not so many, and nothing is taken. */
WEFT_API size_t weft_reader_buffered(const weft_reader *reader);
WEFT_API int weft_reader_discard(weft_reader *reader, size_t size);

/* Everything up to that byte and including it, without copying. Returns its length; at the end what is left, without the byte,
 * and then 0. -EMSGSIZE when the byte is not among the first limit bytes, or not among as many as the buffer holds, which is
 * what a limit of 0 means: nothing is taken out then. */
WEFT_API ssize_t weft_reader_until(weft_reader *reader, char delimiter, const char **bytes, size_t limit,
                                   weft_time deadline);
/* The next line, as text that ends with a zero, without its end, which is LF or CRLF. *length, which may be null, is for lines
 * that contain zeros. Returns 1; 0 at the end; what is left there without an end of line is a line. -EMSGSIZE as above, the
 * limit being that of the line with its end. */
WEFT_API int weft_reader_line(weft_reader *reader, char **line, size_t *length, size_t limit, weft_time deadline);

/* Gives the memory of the buffer back until something comes: for connections that are silent for long. Returns 0; -EBUSY when
 * there is something in it. */
WEFT_API int weft_reader_rest(weft_reader *reader);

/* ---- Writing ---- */

typedef struct weft_writer weft_writer;

/* As weft_writev: how many bytes were written, at least one, or an error. */
typedef ssize_t (*weft_write_fn)(void *sink, const struct iovec *parts, int count, weft_time deadline);

/* As for readers. */
WEFT_API int weft_writer_new(weft_writer **out, weft_fd fd, size_t size);
WEFT_API int weft_writer_new_to(weft_writer **out, weft_write_fn write, void *sink, size_t size);
/* What was not flushed is dropped. Null is allowed. */
WEFT_API void weft_writer_free(weft_writer *writer);

/* From now on everything is written as soon as so many bytes have come together, at most the size of the buffer, which is also
 * what 0 means; 1: at once. Returns 0 or -EINVAL. */
WEFT_API int weft_writer_set_flush_at(weft_writer *writer, size_t size);

/* Takes all of it, into the buffer, or, together with what is in there and without copying, out. Returns 0, or the errors of
 * weft_write and -ENOMEM, and then nothing of it was taken. If that cannot be, because the sink has failed, or because part of
 * what does not fit into the buffer had gone at the deadline, the error stays: all later calls return it. */
WEFT_API int weft_writer_write(weft_writer *writer, const void *bytes, size_t size, weft_time deadline);
/* As printf. Returns 0, or an error as above; -EINVAL when the format is wrong. */
WEFT_API int weft_writer_printf(weft_writer *writer, weft_time deadline, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
WEFT_API int weft_writer_vprintf(weft_writer *writer, weft_time deadline, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
/* Writes everything that is in the buffer. After an error that does not stay (-ETIMEDOUT, -ECANCELED, -ENOMEM) the rest is
 * still there, and it may be tried again. */
WEFT_API int weft_writer_flush(weft_writer *writer, weft_time deadline);

/* How many bytes wait for a flush; the error that stays, or 0. */
WEFT_API size_t weft_writer_buffered(const weft_writer *writer);
WEFT_API int weft_writer_error(const weft_writer *writer);

#ifdef __cplusplus
}
#endif

#endif
