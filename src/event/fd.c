/* SPDX-License-Identifier: MIT
 *
 * event/fd.c - an event as a descriptor for somebody else's poll, select or epoll.
 *
 * One eventfd and one callback for each. The system keeps them in a table by number, so that closing takes the number alone.
 * Closing takes the callback out of the event. If it is not there any more, a completion is about to set the descriptor or
 * has done so; the one who closes waits for the end of that, which is a system call away, because a descriptor that was
 * closed too early could be somebody else's when it is written.
 */
#include "base/assert.h"
#include "base/point.h"
#include "event/event.h"
#include "os/eventfd.h"

struct wf_event_fd {
    struct wf_waiter waiter;
    struct wf_wait wait;
    int fd;
    bool is_registered;        /* constant */
    _Atomic uint32_t is_fired; /* the last touch of a callback */
};

static int table_put(weft_events *events, struct wf_event_fd *entry);
static void fd_register(weft_events *events, weft_event event, struct wf_event_fd *entry);
static void fd_fire(struct wf_wait *wait);

int weft_event_open_fd(weft_events *events, weft_event event) {
    int verdict = weft_event_poll(events, event);
    if (verdict < 0)
        return verdict;
    struct wf_event_fd *entry = wf_os_alloc(sizeof *entry);
    if (!entry)
        return -ENOMEM;
    int fd = entry->fd = wf_os_eventfd_open();
    int error = fd < 0 ? fd : table_put(events, entry);
    if (error) {
        if (fd >= 0)
            wf_os_eventfd_close(fd);
        wf_os_free(entry);
        return error;
    }
    fd_register(events, event, entry);
    return fd;
}

static int table_put(weft_events *events, struct wf_event_fd *entry) {
    uint32_t at = (uint32_t)entry->fd;
    int error = 0;
    wf_lock_take(&events->fds_lock);
    if (at >= events->fds_size) {
        uint32_t size = (at + 64) / 64 * 64 * 2;
        struct wf_event_fd **wider = wf_os_alloc(size * sizeof *wider);
        if (wider) {
            for (uint32_t i = 0; i < events->fds_size; i++)
                wider[i] = events->fds[i];
            wf_os_free(events->fds);
            events->fds = wider;
            events->fds_size = size;
        } else {
            error = -ENOMEM;
        }
    }
    if (!error) {
        events->fds[at] = entry;
        events->fds_open++;
    }
    wf_lock_drop(&events->fds_lock);
    return error;
}

static void fd_register(weft_events *events, weft_event event, struct wf_event_fd *entry) {
    int error;
    struct wf_event_slot *slot = event.bits ? wf_event_find(events, event, &error) : &events->none;
    wf_wait_begin_callback(&entry->wait, &entry->waiter, fd_fire);
    entry->waiter.value = NULL;
    wf_lock_take(&slot->lock);
    entry->is_registered = event.bits && wf_load_relaxed(&slot->active) == wf_event_generation(event);
    if (entry->is_registered)
        wf_wait_link_locked(&entry->waiter, &slot->lock, &slot->waiters);
    wf_lock_drop(&slot->lock);
    if (!entry->is_registered)
        wf_os_eventfd_set(entry->fd);
}

static void fd_fire(struct wf_wait *wait) {
    struct wf_event_fd *entry = WF_CONTAINER(wait, struct wf_event_fd, wait);
    WF_POINT("event_fd.before_set");
    wf_os_eventfd_set(entry->fd);
    wf_store_release(&entry->is_fired, 1); /* A: pairs with B */
}

int weft_event_close_fd(weft_events *events, int fd) {
    if (!events)
        return -EINVAL;
    struct wf_event_fd *entry = NULL;
    wf_lock_take(&events->fds_lock);
    if (fd >= 0 && (uint32_t)fd < events->fds_size)
        entry = events->fds[fd];
    if (entry) {
        events->fds[fd] = NULL;
        events->fds_open--;
    }
    wf_lock_drop(&events->fds_lock);
    if (!entry)
        return -EBADF;
    if (entry->is_registered && !wf_wait_unlink(&entry->waiter))
        while (!wf_load_acquire(&entry->is_fired)) /* B: pairs with A */
            weft_yield();
    wf_os_eventfd_close(fd);
    wf_os_free(entry);
    return 0;
}
