/* SPDX-License-Identifier: MIT
 *
 * os/file.c - system calls on files and folders.
 *
 * The functions of the C library where it has one, for the same reason as in os/io.c. What belongs together, such as making a
 * file, filling it and giving it its name, is put together in io/; here is one call to a function. Contracts: os/file.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "os/call.h"
#include "os/clock.h"
#include "os/fault.h"

int wf_os_open(int folder, const char *path, int flags, unsigned mode) {
    int result;
    WF_OS_CALL(result, OPEN, openat(folder, path, flags | O_CLOEXEC | O_NOCTTY, (mode_t)mode));
    return result;
}

int wf_os_file_unset_nonblocking(int fd, int flags) {
    int result;
    WF_OS_CALL(result, FCNTL, fcntl(fd, F_SETFL, flags & ~O_NONBLOCK));
    return result;
}

ssize_t wf_os_pread(int fd, void *buffer, size_t size, off_t offset) {
    ssize_t result;
    WF_OS_CALL(result, PREAD, pread(fd, buffer, size, offset));
    return result;
}

ssize_t wf_os_pwrite(int fd, const void *bytes, size_t size, off_t offset) {
    ssize_t result;
    WF_OS_CALL(result, PWRITE, pwrite(fd, bytes, size, offset));
    return result;
}

int wf_os_sync(int fd, bool is_data_only) {
    int result;
    WF_OS_CALL(result, SYNC, is_data_only ? fdatasync(fd) : fsync(fd));
    return result;
}

int wf_os_truncate(int fd, off_t size) {
    int result;
    WF_OS_CALL(result, TRUNCATE, ftruncate(fd, size));
    return result;
}

ssize_t wf_os_copy_range(int from, int to, size_t size) {
    ssize_t result;
    WF_OS_CALL(result, COPY, copy_file_range(from, NULL, to, NULL, size, 0));
    return result;
}

int wf_os_stat(int folder, const char *path, bool follows, struct stat *out) {
    int result;
    WF_OS_CALL(result, FSTAT, fstatat(folder, path, out, follows ? 0 : AT_SYMLINK_NOFOLLOW));
    return result;
}

int wf_os_stat_fd(int fd, struct stat *out) {
    int result;
    WF_OS_CALL(result, FSTAT, fstat(fd, out));
    return result;
}

int wf_os_set_mode(const char *path, unsigned mode) {
    int result;
    WF_OS_CALL(result, NAME, chmod(path, (mode_t)mode));
    return result;
}

int wf_os_set_mode_fd(int fd, unsigned mode) {
    int result;
    WF_OS_CALL(result, NAME, fchmod(fd, (mode_t)mode));
    return result;
}

int wf_os_make_folder(const char *path, unsigned mode) {
    int result;
    WF_OS_CALL(result, NAME, mkdir(path, (mode_t)mode));
    return result;
}

int wf_os_unlink(int folder, const char *path, bool is_folder) {
    int result;
    WF_OS_CALL(result, NAME, unlinkat(folder, path, is_folder ? AT_REMOVEDIR : 0));
    return result;
}

int wf_os_rename(int from_folder, const char *from, int to_folder, const char *to) {
    int result;
    WF_OS_CALL(result, NAME, renameat(from_folder, from, to_folder, to));
    return result;
}

int wf_os_link(const char *path, const char *also) {
    int result;
    WF_OS_CALL(result, NAME, link(path, also));
    return result;
}

int wf_os_symlink(const char *text, const char *path) {
    int result;
    WF_OS_CALL(result, NAME, symlink(text, path));
    return result;
}

ssize_t wf_os_read_link(const char *path, char *text, size_t size) {
    ssize_t result;
    WF_OS_CALL(result, NAME, readlink(path, text, size));
    return result;
}

ssize_t wf_os_folder_read(int fd, void *buffer, size_t size) {
    ssize_t result;
    WF_OS_CALL(result, FOLDER, getdents64(fd, buffer, size));
    return result == -ENOENT ? 0 : result; /* it was removed: nothing is in it */
}

int wf_os_folder_rewind(int fd) {
    int result;
    WF_OS_CALL(result, FOLDER, lseek(fd, 0, SEEK_SET) < 0 ? -1 : 0);
    return result;
}

struct wf_os_entry wf_os_folder_entry(const void *at) {
    const struct dirent64 *entry = at;
    return (struct wf_os_entry){.name = entry->d_name,
                                .number = entry->d_ino,
                                .format = (unsigned)DTTOIF(entry->d_type),
                                .bytes = entry->d_reclen};
}

/* What the clock says is enough where there is nothing better: names are tried until one is free. */
uint64_t wf_os_file_random(void) {
    uint64_t number;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
        number = (uint64_t)wf_os_now() * UINT64_C(0x9e3779b97f4a7c15);
    return number;
}
