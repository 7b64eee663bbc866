/* SPDX-License-Identifier: MIT
 *
 * js/file_names.c - calls on names, and on what is said about files: permissions, owners, times. See js/file.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "file.h"

/* ---- What is said about a file ---- */

static int system_error(int result) {
    return result < 0 ? -errno : 0;
}

/* stat(file or path, of a link itself, as BigInts) */
static ssize_t run_stat(struct wf_js_file_call *call) {
    if (!call->file) {
        bool is_link = call->numbers[0] != 0;
        int error = system_error(statx(AT_FDCWD, call->path, is_link ? AT_SYMLINK_NOFOLLOW : 0,
                                       STATX_BASIC_STATS | STATX_BTIME, &call->about));
        if (error && is_link)
            call->failed_call = "lstat";
        return error;
    }
    int number = wf_js_file_begin(call->file);
    if (number < 0)
        return number;
    int error = system_error(statx(number, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &call->about));
    wf_js_file_end(call->file);
    return error;
}

/* As uint64_t all of them: a device of 64 bits is no more exact as a number than in Node. */
static JSValue give_numbers(JSContext *context, const uint64_t *numbers, uint32_t count, bool is_big) {
    JSValue list = JS_NewArray(context);
    for (uint32_t i = 0; i < count && !JS_IsException(list); i++) {
        int64_t number = (int64_t)numbers[i];
        JSValue value = is_big ? JS_NewBigInt64(context, number) : JS_NewInt64(context, number);
        if (JS_IsException(value) || JS_SetPropertyUint32(context, list, i, value) < 0) {
            JS_FreeValue(context, list);
            return JS_EXCEPTION;
        }
    }
    return list;
}

/* -> dev, mode, nlink, uid, gid, rdev, blksize, ino, size, blocks, then seconds and nanoseconds of atime, mtime, ctime, birthtime */
static JSValue give_stat(JSContext *context, struct wf_js_file_call *call) {
    const struct statx *about = &call->about;
    const struct statx_timestamp *times[] = {&about->stx_atime, &about->stx_mtime, &about->stx_ctime,
                                             &about->stx_btime};
    uint64_t numbers[18] = {makedev(about->stx_dev_major, about->stx_dev_minor),
                            about->stx_mode,
                            about->stx_nlink,
                            about->stx_uid,
                            about->stx_gid,
                            makedev(about->stx_rdev_major, about->stx_rdev_minor),
                            about->stx_blksize,
                            about->stx_ino,
                            about->stx_size,
                            about->stx_blocks};
    for (int i = 0; i < 4; i++) {
        numbers[10 + 2 * i] = (uint64_t)times[i]->tv_sec;
        numbers[11 + 2 * i] = times[i]->tv_nsec;
    }
    return give_numbers(context, numbers, 18, call->numbers[1] != 0);
}

/* statSystem(path, as BigInts) -> type, bsize, blocks, bfree, bavail, files, ffree */
static ssize_t run_stat_system(struct wf_js_file_call *call) {
    return system_error(statfs(call->path, &call->system));
}

static JSValue give_stat_system(JSContext *context, struct wf_js_file_call *call) {
    const struct statfs *about = &call->system;
    uint64_t numbers[7] = {(uint64_t)about->f_type, (uint64_t)about->f_bsize, about->f_blocks, about->f_bfree,
                           about->f_bavail,         about->f_files,           about->f_ffree};
    return give_numbers(context, numbers, 7, call->numbers[0] != 0);
}

/* access(path, mode) */
static ssize_t run_access(struct wf_js_file_call *call) {
    return system_error(access(call->path, (int)call->numbers[0]));
}

/* exists(path) -> whether it is there */
static ssize_t run_exists(struct wf_js_file_call *call) {
    return access(call->path, F_OK) == 0;
}

static JSValue is_so(JSContext *context, struct wf_js_file_call *call) {
    return JS_NewBool(context, call->count != 0);
}

/* ---- Changing it ---- */

/* chmod(file or path, mode) */
static ssize_t run_chmod(struct wf_js_file_call *call) {
    mode_t mode = (mode_t)call->numbers[0];
    if (!call->file)
        return system_error(chmod(call->path, mode));
    int number = wf_js_file_begin(call->file);
    if (number < 0)
        return number;
    int error = system_error(fchmod(number, mode));
    wf_js_file_end(call->file);
    return error;
}

/* chown(file or path, user, group, of a link itself) */
static ssize_t run_chown(struct wf_js_file_call *call) {
    uid_t user = (uid_t)call->numbers[0];
    gid_t group = (gid_t)call->numbers[1];
    if (!call->file) {
        bool is_link = call->numbers[2] != 0;
        if (is_link)
            call->failed_call = "lchown";
        return system_error(fchownat(AT_FDCWD, call->path, user, group, is_link ? AT_SYMLINK_NOFOLLOW : 0));
    }
    int number = wf_js_file_begin(call->file);
    if (number < 0)
        return number;
    int error = system_error(fchown(number, user, group));
    wf_js_file_end(call->file);
    return error;
}

/* As exact as libuv makes it: a millionth. */
static struct timespec time_of(double seconds) {
    double whole = floor(seconds);
    return (struct timespec){.tv_sec = (time_t)whole, .tv_nsec = (long)((seconds - whole) * 1e6) * 1000};
}

/* times(file or path, accessed, modified, of a link itself): in seconds */
static ssize_t run_times(struct wf_js_file_call *call) {
    struct timespec times[2] = {time_of(call->times[0]), time_of(call->times[1])};
    if (!call->file) {
        bool is_link = call->numbers[0] != 0;
        if (is_link)
            call->failed_call = "lutime";
        return system_error(utimensat(AT_FDCWD, call->path, times, is_link ? AT_SYMLINK_NOFOLLOW : 0));
    }
    int number = wf_js_file_begin(call->file);
    if (number < 0)
        return number;
    int error = system_error(futimens(number, times));
    wf_js_file_end(call->file);
    return error;
}

/* ---- Names ---- */

static ssize_t run_rename(struct wf_js_file_call *call) {
    return weft_file_rename(call->path, call->other);
}

static ssize_t run_link(struct wf_js_file_call *call) {
    return weft_file_link(call->path, call->other);
}

static ssize_t run_symlink(struct wf_js_file_call *call) {
    return weft_file_symlink(call->path, call->other);
}

static ssize_t run_unlink(struct wf_js_file_call *call) {
    return weft_file_remove(call->path);
}

/* readlink(path, as bytes) */
static ssize_t run_readlink(struct wf_js_file_call *call) {
    call->bytes = malloc(PATH_MAX + 1);
    return call->bytes ? weft_file_read_link(call->path, call->bytes, PATH_MAX + 1) : -ENOMEM;
}

static JSValue give_name(JSContext *context, struct wf_js_file_call *call) {
    size_t size = strlen(call->bytes);
    if (!call->numbers[0])
        return wf_js_new_text(context, call->bytes, size);
    char *bytes = call->bytes;
    call->bytes = NULL;
    return wf_js_give_bytes(context, bytes, size);
}

/* The first part of an absolute path that is not there, or leads nowhere, is told, as if it had been walked. */
static int blame(struct wf_js_file_call *call, int error) {
    struct stat about;
    char *path = strdup(call->path);
    for (size_t end = 1; path && path[end - 1];) {
        while (path[end] && path[end] != '/')
            end++;
        path[end] = 0;
        int failure = system_error(lstat(path, &about));
        if (failure)
            return wf_js_file_fail(call, failure, "lstat", path);
        failure = S_ISLNK(about.st_mode) ? system_error(stat(path, &about)) : 0;
        if (failure)
            return wf_js_file_fail(call, failure, "stat", path);
        path[end] = call->path[end];
        end++;
    }
    free(path);
    return error;
}

/* realpath(path, as bytes, whether an error tells which part is wrong) */
static ssize_t run_realpath(struct wf_js_file_call *call) {
    call->bytes = calloc(1, PATH_MAX);
    if (!call->bytes)
        return -ENOMEM;
    if (realpath(call->path, call->bytes))
        return 0;
    int error = -errno;
    return call->numbers[1] ? blame(call, error) : error;
}

/* Whether both lead to one file. */
static bool is_same(const char *one, const char *other) {
    weft_file_info first, second;
    return weft_file_stat(one, &first) == 0 && weft_file_stat(other, &second) == 0 && first.device == second.device &&
           first.number == second.number;
}

/* What is not a plain file is read to its end. */
static int copy_by_hand(const char *from, const char *to, bool must_be_new) {
    weft_fd source, sink;
    int error = weft_file_open(&source, from, WEFT_OPEN_READ, 0);
    if (error)
        return error;
    unsigned flags = WEFT_OPEN_WRITE | WEFT_OPEN_EMPTY | (must_be_new ? WEFT_OPEN_NEW : WEFT_OPEN_CREATE);
    error = weft_file_open(&sink, to, flags, 0);
    char *room = error ? NULL : malloc(WF_JS_FILE_PIECE);
    ssize_t count = error ? error : room ? 1 : -ENOMEM;
    while (count > 0 && (count = weft_read(source, room, WF_JS_FILE_PIECE, WEFT_NEVER)) > 0)
        if ((error = weft_write_all(sink, room, (size_t)count, WEFT_NEVER)) != 0)
            count = error;
    free(room);
    if (!error)
        (void)weft_close(sink);
    (void)weft_close(source);
    return (int)count;
}

/* copy(from, to, flags): 1 must be new, 2 shares the blocks if it can, 4 must do so */
static ssize_t run_copy(struct wf_js_file_call *call) {
    bool must_be_new = call->numbers[0] & 1;
    if (call->numbers[0] & 4)
        return -ENOTSUP;
    int error = weft_file_copy(call->path, call->other, must_be_new ? WEFT_COPY_NEW : 0);
    if (error != -EINVAL)
        return error;
    return is_same(call->path, call->other) ? 0 : copy_by_hand(call->path, call->other, must_be_new);
}

const struct wf_js_file_operation wf_js_file_names[] = {
    {"stat", "xii", "stat", "fstat", true, false, run_stat, give_stat},
    {"statSystem", "pi", "statfs", NULL, true, false, run_stat_system, give_stat_system},
    {"access", "pi", "access", NULL, true, false, run_access, NULL},
    {"exists", "p", "access", NULL, true, false, run_exists, is_so},
    {"chmod", "xi", "chmod", "fchmod", true, false, run_chmod, NULL},
    {"chown", "xiii", "chown", "fchown", true, false, run_chown, NULL},
    {"times", "xddi", "utime", "futime", true, false, run_times, NULL},
    {"rename", "pq", "rename", NULL, false, false, run_rename, NULL},
    {"link", "pq", "link", NULL, false, false, run_link, NULL},
    {"symlink", "pq", "symlink", NULL, false, false, run_symlink, NULL},
    {"unlink", "p", "unlink", NULL, false, false, run_unlink, NULL},
    {"readlink", "pi", "readlink", NULL, false, false, run_readlink, give_name},
    {"realpath", "pii", "realpath", NULL, true, false, run_realpath, give_name},
    {"copy", "pqi", "copyfile", NULL, false, false, run_copy, NULL},
    {0},
};
