/* SPDX-License-Identifier: MIT
 *
 * os/text.c - small files that are read whole. Contracts: os/text.h.
 *
 * The stamp is that of the descriptor, so it belongs to the bytes even when the path leads elsewhere meanwhile. A file that
 * grows while it is read is read up to the size it had; the next look sees another stamp.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/fault.h"
#include "os/io.h"
#include "os/memory.h"

static int text_open(const char *path);
static void fill_stamp(struct wf_os_stamp *stamp, const struct stat *about);

int wf_os_text_stamp(const char *path, struct wf_os_stamp *out) {
    struct stat about;
    int fault = wf_fault(WF_CALL_FSTAT);
    if (fault)
        return fault;
    if (stat(path, &about))
        return -errno;
    fill_stamp(out, &about);
    return 0;
}

static void fill_stamp(struct wf_os_stamp *stamp, const struct stat *about) {
    stamp->device = about->st_dev;
    stamp->inode = about->st_ino;
    stamp->size = about->st_size;
    stamp->changed_ns = (int64_t)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec;
}

int wf_os_text_read(const char *path, size_t limit, char **out, size_t *size, struct wf_os_stamp *stamp) {
    struct stat about;
    int fd = text_open(path);
    if (fd < 0)
        return fd;
    int error = wf_fault(WF_CALL_FSTAT);
    char *text = NULL;
    size_t used = 0;
    if (!error && fstat(fd, &about))
        error = -errno;
    if (!error && !S_ISREG(about.st_mode))
        error = -EINVAL;
    if (!error && (uintmax_t)about.st_size > limit)
        error = -EFBIG;
    if (!error) {
        text = wf_os_alloc((size_t)about.st_size + 1);
        error = text ? 0 : -ENOMEM;
    }
    while (!error && used < (size_t)about.st_size) {
        ssize_t count = wf_os_read(fd, false, text + used, (size_t)about.st_size - used);
        if (count == 0)
            break;
        error = count < 0 ? (int)count : 0;
        used += count > 0 ? (size_t)count : 0;
    }
    close(fd);
    if (error) {
        wf_os_free(text);
        return error;
    }
    fill_stamp(stamp, &about);
    *out = text;
    *size = used;
    return 0;
}

/* Not waiting, in case that it is a pipe that nobody writes to. */
static int text_open(const char *path) {
    int fd;
    do {
        int fault = wf_fault(WF_CALL_OPEN);
        if (fault)
            return fault;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    } while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}
