/* SPDX-License-Identifier: MIT
 *
 * event/queue.c - completion queues: any number of events, one place to wait.
 *
 * Each add is an entry with a callback on its event. The callback moves the entry from the list of expected ones to the end
 * of those that have arrived, under the queue's lock, and wakes one that pops. The descriptor, once there is one, is set
 * and cleared under the same lock, so that it is readable exactly while something has arrived.
 *
 * Freeing takes every expected entry out of its event. An entry that is not there any more is about to arrive, and is
 * waited for; the drop of the queue's lock is the last touch of a callback.
 *
 * Lock order: a slot's lock is never held when the queue's is taken, nor the other way round.
 */
#include <limits.h>

#include "base/assert.h"
#include "base/point.h"
#include "event/event.h"
#include "os/eventfd.h"
#include "os/report.h"

struct queue_entry {
    struct wf_waiter waiter;
    struct wf_wait wait;
    struct wf_list node; /* in expected or arrived, under the queue's lock */
    weft_event_queue *queue;
    weft_event_completion completion;
};

struct weft_event_queue {
    weft_events *events;
    struct wf_lock lock;
    int fd; /* under lock; -1: nobody has asked for it */
    struct wf_list expected;
    struct wf_list arrived;
    struct wf_waiter *poppers;
};

static void queue_fire(struct wf_wait *wait);
static void queue_arrive(struct queue_entry *entry);
static int queue_take_locked(weft_event_queue *queue, weft_event_completion *out, size_t count);
static struct wf_waiter *queue_hand_on_locked(weft_event_queue *queue);

int weft_event_queue_new(weft_events *events, weft_event_queue **out) {
    if (!events || !out)
        return -EINVAL;
    weft_event_queue *queue = wf_os_alloc(sizeof *queue);
    if (!queue)
        return -ENOMEM;
    queue->events = events;
    queue->fd = -1;
    wf_list_init(&queue->expected);
    wf_list_init(&queue->arrived);
    wf_fetch_add_relaxed(&events->queues, 1);
    *out = queue;
    return 0;
}

void weft_event_queue_free(weft_event_queue *queue) {
    if (!queue)
        return;
    struct wf_list *node;
    wf_lock_take(&queue->lock);
    if (queue->poppers)
        wf_fatal("weft_event_queue_free while somebody waits in weft_event_queue_pop");
    while (!wf_list_is_empty(&queue->expected)) {
        struct queue_entry *entry = WF_CONTAINER(queue->expected.next, struct queue_entry, node);
        wf_lock_drop(&queue->lock);
        bool is_mine = wf_wait_unlink(&entry->waiter); /* false: it is about to arrive, or has */
        if (!is_mine)
            weft_yield();
        wf_lock_take(&queue->lock);
        if (is_mine) {
            wf_list_remove(&entry->node);
            wf_os_free(entry);
        }
    }
    while ((node = wf_list_take_first(&queue->arrived)))
        wf_os_free(WF_CONTAINER(node, struct queue_entry, node));
    wf_lock_drop(&queue->lock);
    if (queue->fd >= 0)
        wf_os_eventfd_close(queue->fd);
    wf_fetch_sub_relaxed(&queue->events->queues, 1);
    wf_os_free(queue);
}

int weft_event_queue_add(weft_event_queue *queue, weft_event event, void *tag) {
    int error;
    if (!queue)
        return -EINVAL;
    int verdict = weft_event_poll(queue->events, event);
    if (verdict < 0)
        return verdict;
    struct queue_entry *entry = wf_os_alloc(sizeof *entry);
    if (!entry)
        return -ENOMEM;
    entry->queue = queue;
    entry->completion.event = event;
    entry->completion.tag = tag;
    wf_wait_begin_callback(&entry->wait, &entry->waiter, queue_fire);
    entry->waiter.value = &entry->completion.reason;
    wf_lock_take(&queue->lock);
    wf_list_append(&queue->expected, &entry->node);
    wf_lock_drop(&queue->lock);
    struct wf_event_slot *slot = event.bits ? wf_event_find(queue->events, event, &error) : &queue->events->none;
    wf_lock_take(&slot->lock);
    bool is_pending = event.bits && wf_load_relaxed(&slot->active) == wf_event_generation(event);
    if (is_pending)
        wf_wait_link_locked(&entry->waiter, &slot->lock, &slot->waiters);
    wf_lock_drop(&slot->lock);
    if (is_pending)
        return 0;
    if (event.bits) {
        verdict = wf_event_verdict_of(queue->events, slot, event);
        entry->completion.status = wf_event_status_of(queue->events, slot, event, verdict, &entry->completion.reason);
    }
    queue_arrive(entry);
    return 0;
}

static void queue_fire(struct wf_wait *wait) {
    struct queue_entry *entry = WF_CONTAINER(wait, struct queue_entry, wait);
    WF_POINT("event_queue.before_arrive");
    entry->completion.status = entry->waiter.status;
    queue_arrive(entry);
}

static void queue_arrive(struct queue_entry *entry) {
    weft_event_queue *queue = entry->queue;
    wf_lock_take(&queue->lock);
    wf_list_remove(&entry->node);
    if (queue->fd >= 0 && wf_list_is_empty(&queue->arrived))
        wf_os_eventfd_set(queue->fd);
    wf_list_append(&queue->arrived, &entry->node);
    struct wf_waiter *popper = queue_hand_on_locked(queue);
    wf_lock_drop(&queue->lock);
    if (popper)
        wf_wait_wake(popper);
}

/* Something has arrived: one that waits for it takes what it can carry. The completions are put where it wants them. */
static struct wf_waiter *queue_hand_on_locked(weft_event_queue *queue) {
    struct wf_waiter *popper = wf_wait_take_first_locked(&queue->poppers);
    if (popper)
        popper->status = queue_take_locked(queue, popper->value, popper->amount);
    return popper;
}

int weft_event_queue_pop(weft_event_queue *queue, weft_event_completion *out, size_t count, weft_time deadline) {
    if (!queue || !out || count == 0)
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    wf_lock_take(&queue->lock);
    if (!wf_list_is_empty(&queue->arrived)) {
        status = queue_take_locked(queue, out, count);
        wf_lock_drop(&queue->lock);
        return status;
    }
    struct wf_waiter waiter = {.value = out, .amount = count};
    return wf_wait_locked(&waiter, &queue->lock, &queue->poppers, deadline, "event queue");
}

static int queue_take_locked(weft_event_queue *queue, weft_event_completion *out, size_t count) {
    int taken = 0;
    struct wf_list *node;
    while ((size_t)taken < count && taken < INT_MAX && (node = wf_list_take_first(&queue->arrived))) {
        struct queue_entry *entry = WF_CONTAINER(node, struct queue_entry, node);
        out[taken++] = entry->completion;
        wf_os_free(entry);
    }
    if (queue->fd >= 0 && wf_list_is_empty(&queue->arrived))
        wf_os_eventfd_clear(queue->fd);
    return taken;
}

int weft_event_queue_get_fd(weft_event_queue *queue) {
    if (!queue)
        return -EINVAL;
    wf_lock_take(&queue->lock);
    if (queue->fd < 0) {
        int fd = wf_os_eventfd_open();
        if (fd < 0) {
            wf_lock_drop(&queue->lock);
            return fd;
        }
        if (!wf_list_is_empty(&queue->arrived))
            wf_os_eventfd_set(fd);
        queue->fd = fd;
    }
    int fd = queue->fd;
    wf_lock_drop(&queue->lock);
    return fd;
}
