/* SPDX-License-Identifier: MIT
 *
 * io/watch.c - news of files.
 *
 * A watch is an inotify descriptor and nothing else: one event is taken from the kernel at a time, so nothing is kept here, and
 * waiting, closing and weft_select are those of every descriptor. Taking one event takes several reads (os/inotify.c); the
 * descriptor's lock keeps others out of them, which do not block.
 */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#include "io/file.h"

static uint32_t notice_mask(unsigned what);
static unsigned notice_what(uint32_t mask);
static int notice_take(struct wf_fd *record, weft_watch_event *out);

static const struct {
    unsigned what;
    uint32_t mask;
} notice_kinds[] = {
    {WEFT_WATCH_MADE, IN_CREATE},
    {WEFT_WATCH_REMOVED, IN_DELETE},
    {WEFT_WATCH_LEFT, IN_MOVED_FROM},
    {WEFT_WATCH_CAME, IN_MOVED_TO},
    {WEFT_WATCH_WRITTEN, IN_MODIFY},
    {WEFT_WATCH_CLOSED, IN_CLOSE_WRITE},
    {WEFT_WATCH_CHANGED, IN_ATTRIB},
    {WEFT_WATCH_GONE, IN_DELETE_SELF},
    {WEFT_WATCH_MOVED, IN_MOVE_SELF},
    /* Never asked for, but told. */
    {WEFT_WATCH_GONE, IN_UNMOUNT},
    {WEFT_WATCH_ENDED, IN_IGNORED},
    {WEFT_WATCH_LOST, IN_Q_OVERFLOW},
};
enum {
    NOTICE_KINDS = sizeof notice_kinds / sizeof *notice_kinds,
    NOTICE_ASKED = 9, /* of them */
    WATCH_ALL = 2 * WEFT_WATCH_MOVED - 1,
};

int weft_watch_open(weft_watch *out) {
    weft_fd fd;
    if (!out)
        return -EINVAL;
    int number = wf_os_inotify_open();
    if (number < 0)
        return number;
    int error = wf_fd_open(&fd, number, WF_OS_PIPE, 0);
    if (error) {
        wf_os_close_checked(number);
        return error;
    }
    out->fd = fd;
    return 0;
}

int weft_watch_add(weft_watch watch, const char *path, unsigned what) {
    int result;
    if (!path || (what & ~(unsigned)WATCH_ALL))
        return -EINVAL;
    WF_FILE_FD_CALL(result, watch.fd, wf_os_inotify_add(number, path, notice_mask(what ? what : WATCH_ALL)));
    return result;
}

int weft_watch_remove(weft_watch watch, int id) {
    int error;
    WF_FILE_FD_CALL(error, watch.fd, wf_os_inotify_remove(number, id));
    return error;
}

int weft_watch_next(weft_watch watch, weft_watch_event *out, weft_time deadline) {
    if (!out)
        return -EINVAL;
    int error = wf_wait_enter(deadline);
    while (!error) {
        struct wf_fd *record = wf_fd_get(watch.fd);
        if (!record)
            return -EBADF;
        uint32_t before = wf_load_acquire(&record->news); /* as in wf_fd_try_read */
        error = notice_take(record, out);
        if (error != -EAGAIN) {
            wf_fd_put(record);
            return error;
        }
        error = wf_fd_wait(record, WF_IO_READ, before, deadline, "watch");
    }
    return error;
}

static int notice_take(struct wf_fd *record, weft_watch_event *out) {
    struct wf_os_notice notice;
    wf_lock_take(&record->lock);
    int error = wf_os_inotify_read(record->number, &notice);
    wf_lock_drop(&record->lock);
    if (error)
        return error;
    out->id = notice.id < 0 ? 0 : notice.id;
    out->what = notice_what(notice.mask);
    out->is_folder = notice.mask & IN_ISDIR;
    out->cookie = notice.cookie;
    memcpy(out->name, notice.name, strlen(notice.name) + 1);
    return 0;
}

static uint32_t notice_mask(unsigned what) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < NOTICE_ASKED; i++)
        mask |= what & notice_kinds[i].what ? notice_kinds[i].mask : 0;
    return mask;
}

static unsigned notice_what(uint32_t mask) {
    unsigned what = 0;
    for (unsigned i = 0; i < NOTICE_KINDS; i++)
        what |= mask & notice_kinds[i].mask ? notice_kinds[i].what : 0;
    return what;
}
