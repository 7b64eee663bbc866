/* SPDX-License-Identifier: MIT
 *
 * os/inotify.c - what happens to files, as the kernel tells it.
 *
 * The kernel gives as many events as the buffer has room for, and -EINVAL when the first does not fit. So that nothing has to
 * be kept between two calls, a read begins with room for the shortest event and tries again with the next longer one: what
 * fits first is one event exactly. A name is padded to a multiple of the size of an event, so that most take two calls.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/assert.h"
#include "os/call.h"
#include "os/fault.h"
#include "os/file.h"

enum { NOTICE_SHORTEST = sizeof(struct inotify_event), NOTICE_LONGEST = NOTICE_SHORTEST + 256 };

int wf_os_inotify_open(void) {
    int result;
    WF_OS_CALL(result, INOTIFY, inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    return result;
}

int wf_os_inotify_add(int fd, const char *path, uint32_t mask) {
    int result;
    WF_OS_CALL(result, INOTIFY, inotify_add_watch(fd, path, mask));
    return result;
}

int wf_os_inotify_remove(int fd, int id) {
    int result;
    WF_OS_CALL(result, INOTIFY, inotify_rm_watch(fd, id));
    return result;
}

int wf_os_inotify_read(int fd, struct wf_os_notice *out) {
    union {
        struct inotify_event event;
        char bytes[NOTICE_LONGEST];
    } buffer;
    int result;
    size_t room = 0;
    do {
        room += NOTICE_SHORTEST;
        WF_OS_CALL(result, READ, read(fd, &buffer, room));
    } while (result == -EINVAL && room < NOTICE_LONGEST);
    if (result < 0)
        return result;
    WF_ASSERT((size_t)result == sizeof buffer.event + buffer.event.len);
    out->id = buffer.event.wd;
    out->mask = buffer.event.mask;
    out->cookie = buffer.event.cookie;
    out->name[0] = 0;
    if (buffer.event.len > 0)
        memcpy(out->name, buffer.bytes + sizeof buffer.event, buffer.event.len);
    return 0;
}
