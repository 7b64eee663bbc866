/* SPDX-License-Identifier: MIT
 *
 * os/beneath.c - opening inside a folder.
 *
 * openat2 (Linux 5.6) does it in one call. Where it is missing, or forbidden by a sandbox, the path is walked one name at a
 * time, and links are not followed at all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "os/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/fault.h"

enum { TRIES = 8, NAME_ROOM = 256, READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

static int walk(int folder_fd, const char *path);

int wf_os_open_beneath(const char *folder, const char *path) {
    int fault = wf_fault(WF_CALL_OPEN);
    if (fault)
        return fault;
    int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder_fd < 0)
        return -errno;
    struct open_how how = {.flags = READ_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    const char *inside = *path ? path : ".";
    fault = wf_fault(WF_CALL_OPEN);
    int fd;
    int tries = 0;
    do { /* EAGAIN: something on the way was renamed meanwhile */
        fd = fault ? fault : (int)syscall(SYS_openat2, folder_fd, inside, &how, sizeof how);
        if (fd < 0 && !fault)
            fd = -errno;
    } while (fd == -EAGAIN && !fault && ++tries < TRIES);
    if (fd == -ENOSYS || fd == -EPERM) /* EPERM: a sandbox; if it is not that, the walk says so too */
        fd = walk(folder_fd, inside);
    close(folder_fd);
    return fd;
}

static int walk(int folder_fd, const char *path) {
    int at = folder_fd;
    for (;;) {
        char name[NAME_ROOM];
        path += strspn(path, "/");
        size_t size = strcspn(path, "/");
        bool is_last = path[size] == 0;
        int next;
        size_t kept = size < sizeof name ? size : sizeof name - 1;
        memcpy(name, path, kept);
        name[kept] = 0;
        if (kept < size)
            next = -ENAMETOOLONG;
        else if (strcmp(name, "..") == 0)
            next = -EXDEV;
        else if ((next = openat(at, size ? name : ".",
                                (is_last ? READ_FLAGS : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW)) < 0)
            next = -errno;
        if (at != folder_fd)
            close(at);
        if (next < 0 || is_last)
            return next;
        at = next;
        path += size;
    }
}
