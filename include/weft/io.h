/* SPDX-License-Identifier: MIT
 *
 * weft/io.h - descriptors as things that a fiber reads and writes: it waits, its thread does not.
 *
 *     char line[512];
 *     ssize_t n = weft_read(fd, line, sizeof line, weft_after(WEFT_SECOND));
 *     if (n > 0)
 *         weft_write_all(fd, line, (size_t)n, WEFT_NEVER);
 *     weft_close(fd);
 *
 * A weft_fd stands for one open descriptor: a socket (weft/net.h), a pipe, a terminal, a file (weft/file.h), or anything else
 * that was made elsewhere and is adopted here. It is a number with a generation: once it was closed, every call with it says
 * -EBADF, also after the kernel has given the same descriptor to somebody else. Zero, WEFT_NO_FD, is never one.
 *
 * Calls that may have to wait take a deadline last, and can be cancelled. They come from fibers and from plain threads. Any
 * number of them may be under way on one descriptor at once; which of them gets what has come is not said, and the bytes of
 * one system call stay together. weft_close ends all of them with -EBADF, and only then the kernel may use the
 * number again.
 *
 * On files of a disk, and whatever else cannot be waited for, a call keeps its thread until it is done; the fiber is inside a
 * blocking region meanwhile (weft/thread.h), so that the others go on. Deadline and cancellation are looked at before.
 *
 * Writing where nobody reads any more gives -EPIPE and no signal; SIGPIPE is ignored from the first weft_fd on, unless
 * the program has a handler for it.
 */
#ifndef WEFT_IO_H
#define WEFT_IO_H

#include <sys/types.h>
#include <sys/uio.h>

#include "weft/select.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_fd {
    uint64_t bits;
} weft_fd;

#define WEFT_NO_FD ((weft_fd){0})

/* How a descriptor comes in. KEEP: closing the weft_fd leaves the descriptor open, and it is up to the caller that it lives as
 * long. */
enum { WEFT_ADOPT_KEEP = 1 };

/* Takes over a descriptor that is open; it is made non-blocking where that means something. On an error it is the caller's as
 * before. One number may be adopted once at a time; whether it is closed on exec stays as it was, and
 * a TCP socket must not get another layer inside the kernel (kTLS) while it is ours. Returns 0; -EBADF when it is not open; -ENOMEM; -ENFILE when 2^24 are open; -EINVAL for a null out or unknown flags. */
WEFT_API int weft_adopt(weft_fd *out, int number, unsigned flags);
/* Gives the descriptor back, blocking again if it was, and forgets the weft_fd as weft_close does. Returns it, or -EBADF. */
WEFT_API int weft_release(weft_fd fd);
/* The descriptor, for calls that are not here: it must not be closed, nor read after weft_close. Or -EBADF. */
WEFT_API int weft_fd_number(weft_fd fd);

/* Closes it. Everybody who waits on it gets -EBADF; when it returns, nobody uses it any more. Returns 0; -EBADF when it was not
 * open; -EIO and other errors that the kernel gives for a file, which is closed then too. Cannot be cancelled. */
WEFT_API int weft_close(weft_fd fd);

/* Reads what is there, at most size bytes, or waits until something is. Returns how many; 0 at the end, or for a size of 0;
 * -ETIMEDOUT, at once for WEFT_NOW; -ECANCELED; -EBADF; -ECONNRESET and other errors of the kernel; -ENOMEM when the deadline
 * cannot be armed, or the descriptor cannot be watched; -EINVAL for a null buffer of a size above 0. */
WEFT_API ssize_t weft_read(weft_fd fd, void *buffer, size_t size, weft_time deadline);
/* parts: at most 1,024, and not over 2 GiB less 4 KiB in all; else -EINVAL. */
WEFT_API ssize_t weft_readv(weft_fd fd, const struct iovec *parts, int count, weft_time deadline);
/* Writes what there is room for, or waits until there is some. Returns how many bytes; the errors of weft_read, and -EPIPE. */
WEFT_API ssize_t weft_write(weft_fd fd, const void *bytes, size_t size, weft_time deadline);
WEFT_API ssize_t weft_writev(weft_fd fd, const struct iovec *parts, int count, weft_time deadline);

/* Goes on until all of it is read, or the end comes. Returns how many bytes that were, which is less than size at the end only;
 * or the error that came, and then *done, which may be null, says how many bytes had been read before it. */
WEFT_API ssize_t weft_read_full(weft_fd fd, void *buffer, size_t size, size_t *done, weft_time deadline);
/* Goes on until all of it is written. Returns 0, or the error that came; *done, which may be null, says how many bytes had
 * been written. The parts are used as room for what is left, and are not what they were afterwards. */
WEFT_API int weft_write_all_done(weft_fd fd, const void *bytes, size_t size, size_t *done, weft_time deadline);
WEFT_API int weft_writev_all(weft_fd fd, struct iovec *parts, int count, size_t *done, weft_time deadline);
static inline int weft_write_all(weft_fd fd, const void *bytes, size_t size, weft_time deadline) {
    return weft_write_all_done(fd, bytes, size, NULL, deadline);
}

/* Waits until a read, or a write, would not wait: also at the end, or with an error that the next call will tell. Returns 0;
 * -ETIMEDOUT, -ECANCELED, -EBADF, -ENOMEM. Files of a disk are always ready. */
WEFT_API int weft_wait_readable(weft_fd fd, weft_time deadline);
WEFT_API int weft_wait_writable(weft_fd fd, weft_time deadline);
/* The same as cases of weft_select; the status is 0, -EBADF, or why it cannot be watched. They may come too early, when the
 * other side has shut half of it, or the runtime that watched it has ended: what is tried then would wait. */
WEFT_API weft_case weft_on_readable(weft_fd fd);
WEFT_API weft_case weft_on_writable(weft_fd fd);

/* A pipe: what is written to ends[1] is read from ends[0]. Returns 0; -EMFILE, -ENFILE, -ENOMEM; -EINVAL for null. */
WEFT_API int weft_pipe(weft_fd ends[2]);

/* Moves bytes inside the kernel, at most size of them. send_file: from a file at *offset, which moves on, to anything. splice:
 * one of the two is a pipe. Return how many bytes, 0 at the end of the source; the errors of weft_read and weft_write; -EINVAL
 * when the kernel cannot do it with these two. */
WEFT_API ssize_t weft_send_file(weft_fd to, weft_fd file, off_t *offset, size_t size, weft_time deadline);
WEFT_API ssize_t weft_splice(weft_fd to, weft_fd from, size_t size, weft_time deadline);

#ifdef __cplusplus
}
#endif

#endif
