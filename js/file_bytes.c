/* SPDX-License-Identifier: MIT
 *
 * js/file_bytes.c - calls on what is in files: opening and closing, reading and writing, whole files. See js/file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

/* READ_MOST: what the kernel gives in one go. */
enum { ROOM_FIRST = 8192, READ_MOST = 0x7ffff000, WRITER_WAIT = 5 * WEFT_MILLISECOND };

static const char *data_of(const struct wf_js_file_call *call);
static int write_all(struct wf_js_file_call *call, weft_fd fd);

/* ---- Opening and closing ---- */

/* What weft can open by itself. False: the flags have more in them. */
static bool weft_flags(int flags, unsigned mode, unsigned *out) {
    static const struct {
        int system;
        unsigned weft;
    } pairs[] = {{O_APPEND, WEFT_OPEN_APPEND},
                 {O_CREAT, WEFT_OPEN_CREATE},
                 {O_TRUNC, WEFT_OPEN_EMPTY},
                 {O_NOFOLLOW, WEFT_OPEN_NO_FOLLOW}};
    int way = flags & O_ACCMODE, left = flags & ~(O_ACCMODE | O_EXCL);
    *out = way == O_RDONLY ? WEFT_OPEN_READ : way == O_WRONLY ? WEFT_OPEN_WRITE : WEFT_OPEN_READ | WEFT_OPEN_WRITE;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        *out |= left & pairs[i].system ? pairs[i].weft : 0;
        left &= ~pairs[i].system;
    }
    if (flags & O_EXCL)
        *out |= WEFT_OPEN_NEW;
    bool makes_sense = way != O_RDONLY || !(flags & (O_APPEND | O_TRUNC));
    return left == 0 && makes_sense && (!(flags & O_EXCL) || (flags & O_CREAT)) && (!(flags & O_CREAT) || mode != 0);
}

static int open_plainly(weft_fd *out, const char *path, int flags, unsigned mode) {
    weft_blocking_begin();
    int number = open(path, flags | O_CLOEXEC, mode);
    int error = number < 0 ? -errno : 0;
    weft_blocking_end();
    if (error)
        return error;
    error = weft_adopt(out, number, 0);
    if (error)
        close(number);
    return error;
}

/* A FIFO that is opened to be written waits for a reader, which the kernel does not tell us of: it is looked for now and then. */
static int open_path(weft_fd *out, const char *path, int flags, unsigned mode) {
    unsigned wanted;
    struct weft_file_info about;
    if (!weft_flags(flags, mode, &wanted))
        return open_plainly(out, path, flags, mode);
    int error = weft_file_open(out, path, wanted, mode);
    while (error == -ENXIO && weft_file_stat(path, &about) == 0 && about.kind == WEFT_FILE_FIFO) {
        error = weft_sleep(weft_after(WRITER_WAIT));
        if (!error)
            error = weft_file_open(out, path, wanted, mode);
    }
    return error;
}

static ssize_t run_open(struct wf_js_file_call *call) {
    return open_path(&call->fd, call->path, (int)call->numbers[0], (unsigned)call->numbers[1]);
}

static JSValue opened(JSContext *context, struct wf_js_file_call *call) {
    return wf_js_file_give(context, call->fd, call->numbers[2] != 0);
}

static ssize_t run_close(struct wf_js_file_call *call) {
    weft_shield();
    (void)weft_rwlock_write(&call->file->lock, WEFT_NEVER);
    int error = weft_close(call->file->fd);
    weft_rwlock_unlock(&call->file->lock);
    weft_unshield();
    if (call->numbers[0] >= 0 && close((int)call->numbers[0]) != 0)
        error = -errno;
    return error;
}

/* ---- Some bytes ---- */

static JSValue number_of(JSContext *context, struct wf_js_file_call *call) {
    return JS_NewInt64(context, call->count);
}

static ssize_t read_at(struct wf_js_file_call *call, int64_t position) {
    return position < 0 ? weft_read(call->file->fd, call->bytes, call->size, WEFT_NEVER)
                        : weft_pread(call->file->fd, call->bytes, call->size, position);
}

/* read(file, view, position): a position below 0 is where the file stands */
static ssize_t run_read(struct wf_js_file_call *call) {
    return read_at(call, call->numbers[0]);
}

static JSValue was_read(JSContext *context, struct wf_js_file_call *call) {
    if (!call->is_borrowed && call->count > 0) {
        size_t size;
        uint8_t *room = JS_GetUint8Array(context, &size, call->view);
        if (!room && JS_HasException(context))
            return JS_EXCEPTION;
        if (size > (size_t)call->count)
            size = (size_t)call->count;
        if (room)
            memcpy(room, call->bytes, size); /* if it has become shorter, the rest is lost */
    }
    return JS_NewInt64(context, call->count);
}

/* readSome(file, size, position) -> Uint8Array */
static ssize_t run_read_some(struct wf_js_file_call *call) {
    call->size = call->numbers[0] < READ_MOST ? (size_t)call->numbers[0] : READ_MOST;
    call->bytes = malloc(call->size + 1);
    return call->bytes ? read_at(call, call->numbers[1]) : -ENOMEM;
}

static JSValue give_read(JSContext *context, struct wf_js_file_call *call) {
    char *bytes = realloc(call->bytes, (size_t)call->count + 1);
    if (!bytes)
        bytes = call->bytes;
    call->bytes = NULL;
    return wf_js_give_bytes(context, bytes, (size_t)call->count);
}

static const char *data_of(const struct wf_js_file_call *call) {
    return call->text ? call->text : call->bytes ? call->bytes : "";
}

/* write(file, bytes, position) -> count */
static ssize_t run_write(struct wf_js_file_call *call) {
    int64_t position = call->numbers[0];
    return position < 0 ? weft_write(call->file->fd, data_of(call), call->size, WEFT_NEVER)
                        : weft_pwrite(call->file->fd, data_of(call), call->size, position);
}

/* writeFull(file, bytes, position) -> count: all of it */
static ssize_t run_write_full(struct wf_js_file_call *call) {
    int error = call->numbers[0] < 0
                    ? write_all(call, call->file->fd)
                    : weft_pwrite_all(call->file->fd, data_of(call), call->size, call->numbers[0], NULL);
    return error ? error : (ssize_t)call->size;
}

/* seek(file, offset, whence) -> where it stands */
static ssize_t run_seek(struct wf_js_file_call *call) {
    int number = wf_js_file_begin(call->file);
    if (number < 0)
        return number;
    off_t place = lseek(number, call->numbers[0], (int)call->numbers[1]);
    if (place < 0)
        place = -errno;
    wf_js_file_end(call->file);
    return place;
}

static ssize_t run_sync(struct wf_js_file_call *call) {
    return weft_file_sync(call->file->fd);
}

static ssize_t run_sync_data(struct wf_js_file_call *call) {
    return weft_file_sync_data(call->file->fd);
}

/* truncate(file or path, size) */
static ssize_t run_truncate(struct wf_js_file_call *call) {
    weft_fd fd;
    if (call->file)
        return weft_file_truncate(call->file->fd, call->numbers[0]);
    int error = open_path(&fd, call->path, O_RDWR, 0);
    if (error)
        return error;
    error = weft_file_truncate(fd, call->numbers[0]);
    if (error)
        wf_js_file_fail(call, error, "ftruncate", NULL);
    (void)weft_close(fd);
    return error;
}

/* ---- Whole files ---- */

/* Room for all that the file says to have, and one byte to find its end. */
static int first_room(struct wf_js_file_call *call, weft_fd fd, size_t *room) {
    weft_file_info about;
    int error = weft_file_stat_fd(fd, &about);
    if (error)
        return wf_js_file_fail(call, error, "fstat", NULL);
    if (about.size > PTRDIFF_MAX / 2)
        return wf_js_file_fail(call, -EFBIG, "read", NULL);
    *room = about.kind == WEFT_FILE_PLAIN && about.size > 0 ? (size_t)about.size + 1 : ROOM_FIRST;
    call->bytes = malloc(*room);
    return call->bytes ? 0 : wf_js_file_fail(call, -ENOMEM, "read", NULL);
}

static int read_all(struct wf_js_file_call *call, weft_fd fd) {
    size_t room = 0;
    int error = first_room(call, fd, &room);
    while (!error) {
        size_t piece = room - call->size < WF_JS_FILE_PIECE ? room - call->size : WF_JS_FILE_PIECE;
        ssize_t count = weft_read(fd, call->bytes + call->size, piece, WEFT_NEVER);
        if (count <= 0)
            return count ? wf_js_file_fail(call, (int)count, "read", NULL) : 0;
        call->size += (size_t)count;
        error = wf_js_file_look(call);
        if (error || call->size < room)
            continue;
        // NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): room is never 0
        char *longer = realloc(call->bytes, 2 * room);
        if (!longer)
            return wf_js_file_fail(call, -ENOMEM, "read", NULL);
        call->bytes = longer;
        room *= 2;
    }
    return error;
}

/* readAll(file or path, flags, as a text) */
static ssize_t run_read_all(struct wf_js_file_call *call) {
    weft_fd fd = call->file ? call->file->fd : WEFT_NO_FD;
    int error = call->file ? 0 : open_path(&fd, call->path, (int)call->numbers[0], 0666);
    if (error)
        return error;
    error = read_all(call, fd);
    if (!call->file)
        (void)weft_close(fd);
    return error;
}

static JSValue give_all(JSContext *context, struct wf_js_file_call *call) {
    if (call->numbers[1])
        return wf_js_new_text(context, call->bytes, call->size);
    call->count = (ssize_t)call->size;
    return give_read(context, call);
}

static int write_all(struct wf_js_file_call *call, weft_fd fd) {
    const char *bytes = data_of(call);
    int error = 0;
    for (size_t done = 0; done < call->size && !error; error = error ? error : wf_js_file_look(call)) {
        size_t piece = call->size - done < WF_JS_FILE_PIECE ? call->size - done : WF_JS_FILE_PIECE;
        ssize_t count = weft_write(fd, bytes + done, piece, WEFT_NEVER);
        if (count < 0)
            error = wf_js_file_fail(call, (int)count, "write", NULL);
        else
            done += (size_t)count;
    }
    return error;
}

/* replace(path, bytes, mode): whoever opens it finds the old bytes or the new ones */
static ssize_t run_replace(struct wf_js_file_call *call) {
    return weft_file_write_whole(call->path, data_of(call), call->size, (unsigned)call->numbers[0]);
}

/* writeAll(file or path, bytes, flags, mode, sync) */
static ssize_t run_write_all(struct wf_js_file_call *call) {
    weft_fd fd = call->file ? call->file->fd : WEFT_NO_FD;
    int error = call->file ? 0 : open_path(&fd, call->path, (int)call->numbers[0], (unsigned)call->numbers[1]);
    if (error)
        return error;
    error = write_all(call, fd);
    if (!error && call->numbers[2] && (error = weft_file_sync(fd)) != 0)
        wf_js_file_fail(call, error, "fsync", NULL);
    if (call->file)
        return error;
    int closed = weft_close(fd);
    return !error && closed ? wf_js_file_fail(call, closed, "close", NULL) : error;
}

const struct wf_js_file_operation wf_js_file_bytes[] = {
    {"open", "piii", "open", NULL, false, false, run_open, opened},
    {"close", "f", NULL, "close", false, true, run_close, NULL},
    {"read", "fvi", NULL, "read", false, false, run_read, was_read},
    {"readSome", "fii", NULL, "read", false, false, run_read_some, give_read},
    {"write", "fbi", NULL, "write", false, false, run_write, number_of},
    {"writeFull", "fbi", NULL, "write", false, false, run_write_full, number_of},
    {"seek", "fii", NULL, "lseek", true, false, run_seek, number_of},
    {"sync", "f", NULL, "fsync", false, false, run_sync, NULL},
    {"syncData", "f", NULL, "fdatasync", false, false, run_sync_data, NULL},
    {"truncate", "xi", "open", "ftruncate", false, false, run_truncate, NULL},
    {"readAll", "xii", "open", "read", false, false, run_read_all, give_all},
    {"replace", "pbi", "open", NULL, false, false, run_replace, NULL},
    {"writeAll", "xbiii", "open", "write", false, false, run_write_all, NULL},
    {0},
};
