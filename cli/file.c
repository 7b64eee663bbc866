/* SPDX-License-Identifier: MIT
 *
 * cli/file.c - reading, writing and naming files.
 *
 * A short write or a failing close counts as a failure of the whole: a file is there in full or an error says why not.
 */
#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file_write_all(int fd, const char *bytes, size_t size);

int cli_file_read(const char *path, struct cli_text *out) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = cli_fd_read(fd, out);
    close(fd);
    return error;
}

int cli_fd_read(int fd, struct cli_text *out) {
    enum { STEP = 16384 };
    for (;;) {
        char *end = cli_text_reserve(out, STEP);
        ssize_t count = read(fd, end, STEP);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        out->size += (size_t)count;
        out->bytes[out->size] = '\0';
        if (count == 0)
            return 0;
    }
}

int cli_file_write_new(const char *path, const void *bytes, size_t size, mode_t mode) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0)
        return -errno;
    int error = file_write_all(fd, bytes, size);
    if (close(fd) < 0 && !error)
        error = -errno;
    if (error)
        unlink(path);
    return error;
}

static int file_write_all(int fd, const char *bytes, size_t size) {
    while (size) {
        ssize_t count = write(fd, bytes, size);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        bytes += count;
        size -= (size_t)count;
    }
    return 0;
}

bool cli_file_exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool cli_directory_exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int cli_directory_make(const char *path, mode_t mode) {
    if (mkdir(path, mode) == 0)
        return 0;
    if (errno == EEXIST)
        return cli_directory_exists(path) ? 0 : -ENOTDIR;
    if (errno != ENOENT)
        return -errno;
    char *parent = cli_path_parent(path);
    int error = strcmp(parent, path) == 0 ? -ENOENT : cli_directory_make(parent, mode);
    free(parent);
    if (error)
        return error;
    return mkdir(path, mode) == 0 || errno == EEXIST ? 0 : -errno;
}

int cli_directory_is_empty(const char *path) {
    DIR *directory = opendir(path);
    if (!directory)
        return -errno;
    int is_empty = 1;
    const struct dirent *entry;
    while (is_empty && (entry = readdir(directory)))
        is_empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(directory);
    return is_empty;
}

void cli_directory_remove(const char *path) {
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
}

char *cli_path_parent(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return cli_format(".");
    if (slash == path)
        return cli_format("/");
    return cli_format("%.*s", (int)(slash - path), path);
}

const char *cli_path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool cli_path_has_suffix(const char *path, const char *suffix) {
    size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcmp(path + length - tail, suffix) == 0;
}
