/* SPDX-License-Identifier: MIT
 *
 * io/file.c - opening files, bytes at a place, names.
 *
 * Everything is opened without waiting, since what a path leads to is known only afterwards: opening a FIFO or a terminal line
 * could take for ever otherwise, and nobody could end it. What turns out to be a file of a disk is set back, because some of
 * them, in /proc, heed it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"

enum {
    OPEN_WAYS = WEFT_OPEN_READ | WEFT_OPEN_WRITE | WEFT_OPEN_APPEND,
    OPEN_ALL = 2 * WEFT_OPEN_NO_FOLLOW - 1,
};

static int open_flags(unsigned flags);
static int file_open_path(weft_fd *out, const char *path, int flags, unsigned mode);
static int file_enter(weft_fd *out, int number, int flags);
static ssize_t pread_pieces(int number, char *buffer, size_t size, off_t offset, size_t *done);
static ssize_t pwrite_pieces(int number, const char *bytes, size_t size, off_t offset, size_t *done);
static void fill_info(weft_file_info *out, const struct stat *about);
static int stat_path(const char *path, bool follows, weft_file_info *out);

int weft_file_open(weft_fd *out, const char *path, unsigned flags, unsigned mode) {
    int system_flags = open_flags(flags), error;
    if (!out || !path || system_flags < 0)
        return -EINVAL;
    WF_FILE_CALL(error, file_open_path(out, path, system_flags, mode ? mode : 0666));
    return error;
}

static int open_flags(unsigned flags) {
    bool is_written = flags & (WEFT_OPEN_WRITE | WEFT_OPEN_APPEND);
    if ((flags & ~(unsigned)OPEN_ALL) || !(flags & OPEN_WAYS) || (!is_written && (flags & WEFT_OPEN_EMPTY)))
        return -1;
    int result = !is_written ? O_RDONLY : flags & WEFT_OPEN_READ ? O_RDWR : O_WRONLY;
    result |= flags & WEFT_OPEN_APPEND ? O_APPEND : 0;
    result |= flags & (WEFT_OPEN_CREATE | WEFT_OPEN_NEW) ? O_CREAT : 0;
    result |= flags & WEFT_OPEN_NEW ? O_EXCL : 0;
    result |= flags & WEFT_OPEN_EMPTY ? O_TRUNC : 0;
    result |= flags & WEFT_OPEN_SYNC ? O_DSYNC : 0;
    result |= flags & WEFT_OPEN_NO_FOLLOW ? O_NOFOLLOW : 0;
    return result | O_NONBLOCK;
}

static int file_open_path(weft_fd *out, const char *path, int flags, unsigned mode) {
    int number = wf_os_open(AT_FDCWD, path, flags, mode);
    return number < 0 ? number : file_enter(out, number, flags);
}

/* On an error the number is closed. */
static int file_enter(weft_fd *out, int number, int flags) {
    struct stat about = {0};
    int kind = wf_os_fd_kind(number);
    int error = kind < 0 ? kind : 0;
    if (kind == WF_OS_PIPE)
        error = wf_os_stat_fd(number, &about);
    else if (kind == WF_OS_FILE && (flags & O_NONBLOCK))
        error = wf_os_file_unset_nonblocking(number, flags);
    if (!error)
        error = wf_fd_open(out, number, (enum wf_os_kind)kind, S_ISFIFO(about.st_mode) ? WF_FD_FIFO : 0);
    if (error)
        wf_os_close_checked(number);
    else if (kind == WF_OS_PIPE)
        wf_os_ignore_broken_pipes();
    return error;
}

/* ---- Temporary files ---- */

void wf_file_random_name(char name[WF_FILE_RANDOM_NAME]) {
    static const char digits[] = "0123456789abcdef", prefix[] = ".weft-";
    uint64_t number = wf_os_file_random();
    size_t length = sizeof prefix - 1;
    memcpy(name, prefix, length);
    for (; number; number >>= 4)
        name[length++] = digits[number & 15];
    name[length] = 0;
}

int wf_file_make_random(int folder, char name[WF_FILE_RANDOM_NAME], unsigned mode) {
    int number, tries = 100; /* 64 random bits: a second try is for a test, or for somebody's joke */
    do {
        wf_file_random_name(name);
        number = wf_os_open(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    } while (number == -EEXIST && --tries > 0);
    return number;
}

/* Not every file system has files without a name; there it loses it at once. */
static int open_nameless(const char *folder) {
    char name[WF_FILE_RANDOM_NAME];
    int number = wf_os_open(AT_FDCWD, folder, O_TMPFILE | O_RDWR | O_EXCL, 0600);
    if (number != -EOPNOTSUPP && number != -EISDIR && number != -ENOENT)
        return number;
    int within = wf_os_open(AT_FDCWD, folder, O_PATH | O_DIRECTORY, 0);
    if (within < 0)
        return within;
    number = wf_file_make_random(within, name, 0600);
    if (number >= 0)
        wf_os_unlink(within, name, false);
    wf_os_close_checked(within);
    return number;
}

static int open_named(const char *folder, char *path) {
    size_t length = strlen(folder);
    int within = wf_os_open(AT_FDCWD, folder, O_PATH | O_DIRECTORY, 0);
    if (within < 0)
        return within;
    memcpy(path, folder, length + 1);
    path[length] = '/';
    int number = wf_file_make_random(within, path + length + 1, 0600);
    wf_os_close_checked(within);
    return number;
}

static int make_temporary(weft_fd *out, const char *folder, char *path) {
    int number = path ? open_named(folder, path) : open_nameless(folder);
    if (number < 0)
        return number;
    int error = file_enter(out, number, O_RDWR);
    if (error && path)
        wf_os_unlink(AT_FDCWD, path, false);
    return error;
}

int weft_file_temporary(weft_fd *out, const char *folder, char *path, size_t size) {
    int error;
    if (!out)
        return -EINVAL;
    if (!folder)
        folder = getenv("TMPDIR");
    if (!folder || !*folder)
        folder = "/tmp";
    if (path && size < strlen(folder) + 1 + WF_FILE_RANDOM_NAME)
        return -ENOSPC;
    WF_FILE_CALL(error, make_temporary(out, folder, path));
    if (error && path && size > 0)
        path[0] = 0;
    return error;
}

/* ---- Bytes ---- */

ssize_t weft_pread(weft_fd fd, void *buffer, size_t size, off_t offset) {
    ssize_t result;
    if ((!buffer && size > 0) || offset < 0)
        return -EINVAL;
    WF_FILE_FD_CALL(result, fd, wf_os_pread(number, buffer, size, offset));
    return result;
}

ssize_t weft_pwrite(weft_fd fd, const void *bytes, size_t size, off_t offset) {
    ssize_t result;
    if ((!bytes && size > 0) || offset < 0)
        return -EINVAL;
    WF_FILE_FD_CALL(result, fd, wf_os_pwrite(number, bytes, size, offset));
    return result;
}

ssize_t weft_pread_full(weft_fd fd, void *buffer, size_t size, off_t offset, size_t *done) {
    size_t so_far = 0;
    ssize_t result = -EINVAL;
    if ((buffer || size == 0) && offset >= 0)
        WF_FILE_FD_CALL(result, fd, pread_pieces(number, buffer, size, offset, &so_far));
    if (done)
        *done = so_far;
    return result < 0 ? result : (ssize_t)so_far;
}

static ssize_t pread_pieces(int number, char *buffer, size_t size, off_t offset, size_t *done) {
    ssize_t result;
    do {
        result = *done > 0 ? wf_file_look() : 0;
        if (!result)
            result = wf_os_pread(number, buffer + *done, wf_file_piece(size - *done), offset + (off_t)*done);
        *done += result > 0 ? (size_t)result : 0;
    } while (result > 0 && *done < size);
    return result;
}

int weft_pwrite_all(weft_fd fd, const void *bytes, size_t size, off_t offset, size_t *done) {
    size_t so_far = 0;
    ssize_t result = -EINVAL;
    if ((bytes || size == 0) && offset >= 0)
        WF_FILE_FD_CALL(result, fd, pwrite_pieces(number, bytes, size, offset, &so_far));
    if (done)
        *done = so_far;
    return result < 0 ? (int)result : 0;
}

static ssize_t pwrite_pieces(int number, const char *bytes, size_t size, off_t offset, size_t *done) {
    ssize_t result;
    do {
        result = *done > 0 ? wf_file_look() : 0;
        if (!result)
            result = wf_os_pwrite(number, bytes + *done, wf_file_piece(size - *done), offset + (off_t)*done);
        *done += result > 0 ? (size_t)result : 0;
    } while (result >= 0 && *done < size);
    return result;
}

int weft_file_sync(weft_fd fd) {
    int error;
    WF_FILE_FD_CALL(error, fd, wf_os_sync(number, false));
    return error;
}

int weft_file_sync_data(weft_fd fd) {
    int error;
    WF_FILE_FD_CALL(error, fd, wf_os_sync(number, true));
    return error;
}

int weft_file_truncate(weft_fd fd, off_t size) {
    int error;
    WF_FILE_FD_CALL(error, fd, wf_os_truncate(number, size));
    return error;
}

/* ---- What a path leads to ---- */

int wf_file_kind(unsigned mode) {
    switch (mode & S_IFMT) {
    case S_IFREG:
        return WEFT_FILE_PLAIN;
    case S_IFDIR:
        return WEFT_FILE_FOLDER;
    case S_IFLNK:
        return WEFT_FILE_LINK;
    case S_IFIFO:
        return WEFT_FILE_FIFO;
    case S_IFSOCK:
        return WEFT_FILE_SOCKET;
    case S_IFCHR:
        return WEFT_FILE_CHARACTERS;
    case S_IFBLK:
        return WEFT_FILE_BLOCKS;
    default:
        return WEFT_FILE_OTHER;
    }
}

static int64_t whole_ns(struct timespec time) {
    return (int64_t)time.tv_sec * WEFT_SECOND + time.tv_nsec;
}

static void fill_info(weft_file_info *out, const struct stat *about) {
    *out = (weft_file_info){
        .kind = wf_file_kind(about->st_mode),
        .mode = about->st_mode & 07777,
        .size = (uint64_t)about->st_size,
        .used = (uint64_t)about->st_blocks * 512, /* the unit of st_blocks, whatever the disk has */
        .device = about->st_dev,
        .number = about->st_ino,
        .links = about->st_nlink,
        .user = about->st_uid,
        .group = about->st_gid,
        .modified_ns = whole_ns(about->st_mtim),
        .changed_ns = whole_ns(about->st_ctim),
        .accessed_ns = whole_ns(about->st_atim),
    };
}

static int stat_path(const char *path, bool follows, weft_file_info *out) {
    struct stat about;
    int error;
    if (!path || !out)
        return -EINVAL;
    WF_FILE_CALL(error, wf_os_stat(AT_FDCWD, path, follows, &about));
    if (!error)
        fill_info(out, &about);
    return error;
}

int weft_file_stat(const char *path, weft_file_info *out) {
    return stat_path(path, true, out);
}

int weft_file_stat_link(const char *path, weft_file_info *out) {
    return stat_path(path, false, out);
}

int weft_file_stat_fd(weft_fd fd, weft_file_info *out) {
    struct stat about;
    int error;
    if (!out)
        return -EINVAL;
    WF_FILE_FD_CALL(error, fd, wf_os_stat_fd(number, &about));
    if (!error)
        fill_info(out, &about);
    return error;
}

/* ---- Names ---- */

int weft_file_rename(const char *from, const char *to) {
    int error;
    if (!from || !to)
        return -EINVAL;
    WF_FILE_CALL(error, wf_os_rename(AT_FDCWD, from, AT_FDCWD, to));
    return error;
}

int weft_file_remove(const char *path) {
    int error;
    if (!path)
        return -EINVAL;
    WF_FILE_CALL(error, wf_os_unlink(AT_FDCWD, path, false));
    return error;
}

int weft_file_link(const char *path, const char *also) {
    int error;
    if (!path || !also)
        return -EINVAL;
    WF_FILE_CALL(error, wf_os_link(path, also));
    return error;
}

int weft_file_symlink(const char *text, const char *path) {
    int error;
    if (!text || !path)
        return -EINVAL;
    WF_FILE_CALL(error, wf_os_symlink(text, path));
    return error;
}

/* The kernel cuts off what has no room, without a word: what fills it all may have been cut. */
ssize_t weft_file_read_link(const char *path, char *text, size_t size) {
    ssize_t length;
    if (!path || !text)
        return -EINVAL;
    if (size == 0)
        return -ENOSPC;
    WF_FILE_CALL(length, wf_os_read_link(path, text, size));
    if (length == (ssize_t)size)
        length = -ENOSPC;
    text[length < 0 ? 0 : length] = 0;
    return length;
}

int weft_file_set_mode(const char *path, unsigned mode) {
    int error;
    if (!path || (mode & ~07777u))
        return -EINVAL;
    WF_FILE_CALL(error, wf_os_set_mode(path, mode));
    return error;
}
