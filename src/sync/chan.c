/* SPDX-License-Identifier: MIT
 *
 * sync/chan.c - channels: a ring of values, a queue of senders, a queue of receivers, one lock.
 *
 * Invariants, under the lock
 *   - Receivers wait only while the ring is empty and no sender waits; senders only while the ring is full and no receiver
 *     waits. (Those whose wait was ended by something else may still be linked; taking them out finds that.)
 *   - Values leave in the order in which they came: a sender that waits has its value behind all that are in the ring.
 *   - A closed channel has nobody waiting in it, and never opens again.
 *
 * Whoever takes a waiter out copies its value after the lock is dropped: until it is woken the waiter, with the place its
 * value points to, stays where it is.
 *
 * The mark tells a channel from one that was freed. It lies beyond the first two words, which the C library uses for its own
 * lists once a block is free.
 */
#include "weft/chan.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "os/memory.h"
#include "os/report.h"
#include "wait/select.h"

enum { MARK_ALIVE = 0x63686e21, MARK_FREED = 0x64656164 };

struct weft_chan {
    struct wf_waiter *senders; /* under lock */
    struct wf_waiter *receivers;
    _Atomic uint32_t mark;
    struct wf_lock lock;
    size_t element_size;        /* constant */
    uint32_t capacity;          /* constant */
    uint32_t first;             /* under lock: index of the oldest value in the ring */
    _Atomic uint32_t count;     /* written under lock */
    _Atomic uint32_t is_closed; /* written under lock */
    char ring[];
};

static bool send_locked(weft_chan *chan, const void *value, int *status, struct wf_waiter **wake);
static bool receive_locked(weft_chan *chan, void *value, int *status, struct wf_waiter **wake);
static void ring_put(weft_chan *chan, const void *value);

static inline void chan_check(const weft_chan *chan) {
    if (WF_UNLIKELY(wf_load_relaxed(&chan->mark) != MARK_ALIVE))
        wf_fatal("a channel was used that is not one, or was freed");
}

/* Where the library only tells the race detector what its calls mean, memcpy is the detector's own and would count as an
 * access by the user's fiber. */
static inline void copy(void *to, const void *from, size_t size) {
#ifdef WF_TSAN_ANNOTATE
    for (size_t i = 0; i < size; i++)
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
#else
    if (size == 8) /* most elements are a pointer or a number */
        memcpy(to, from, 8);
    else if (size)
        memcpy(to, from, size);
#endif
}

int weft_chan_new(weft_chan **out, size_t element_size, int64_t capacity) {
    const size_t most = (size_t)1 << 40;
    if (!out || capacity < 0 || capacity > WEFT_CHAN_CAPACITY_MAX || element_size > most)
        return -EINVAL;
    if (element_size && (size_t)capacity > most / element_size)
        return -EINVAL;
    weft_chan *chan = wf_os_alloc(sizeof *chan + element_size * (size_t)capacity);
    if (!chan)
        return -ENOMEM;
    chan->element_size = element_size;
    chan->capacity = (uint32_t)capacity;
    wf_store_relaxed(&chan->mark, MARK_ALIVE);
    *out = chan;
    return 0;
}

void weft_chan_free(weft_chan *chan) {
    if (!chan)
        return;
    chan_check(chan);
    wf_lock_take(&chan->lock); /* also waits for whoever has just served us and is about to drop it */
    if (chan->senders || chan->receivers)
        wf_fatal("a channel was freed while somebody waits in it");
    wf_store_relaxed(&chan->mark, MARK_FREED);
    wf_lock_drop(&chan->lock);
    wf_os_free(chan);
}

int weft_chan_send(weft_chan *chan, const void *value, weft_time deadline) {
    if (WF_UNLIKELY(!chan || (!value && chan->element_size)))
        return -EINVAL;
    chan_check(chan);
    int status = wf_wait_enter(deadline);
    if (WF_UNLIKELY(status))
        return status;
    struct wf_waiter *wake = NULL;
    wf_context_release(&chan->senders);
    wf_lock_take(&chan->lock);
    if (send_locked(chan, value, &status, &wake)) {
        wf_lock_drop(&chan->lock);
        if (wake) {
            copy(wake->value, value, wake->value ? chan->element_size : 0);
            wf_wait_wake(wake);
        }
    } else {
        struct wf_waiter self;
        self.value = (void *)(uintptr_t)value;
        status = wf_wait_locked(&self, &chan->lock, &chan->senders, deadline, "send");
    }
    if (status == 0)
        wf_context_acquire(&chan->receivers);
    return status;
}

/* True: it is decided, *status says how; *wake is a receiver that is to get the value. False: it has to wait. */
static inline bool send_locked(weft_chan *chan, const void *value, int *status, struct wf_waiter **wake) {
    *status = 0;
    if (WF_UNLIKELY(wf_load_relaxed(&chan->is_closed))) {
        *status = -EPIPE;
        return true;
    }
    if (chan->receivers && (*wake = wf_wait_take_first_locked(&chan->receivers))) {
        (*wake)->status = 0;
        return true;
    }
    if (wf_load_relaxed(&chan->count) == chan->capacity)
        return false;
    ring_put(chan, value);
    return true;
}

static inline void ring_put(weft_chan *chan, const void *value) {
    uint32_t count = wf_load_relaxed(&chan->count);
    uint32_t at = chan->first + count;
    if (at >= chan->capacity)
        at -= chan->capacity;
    copy(chan->ring + at * chan->element_size, value, chan->element_size);
    wf_store_relaxed(&chan->count, count + 1);
}

int weft_chan_recv(weft_chan *chan, void *value, weft_time deadline) {
    if (WF_UNLIKELY(!chan))
        return -EINVAL;
    chan_check(chan);
    int status = wf_wait_enter(deadline);
    if (WF_UNLIKELY(status))
        return status;
    struct wf_waiter *wake = NULL;
    wf_context_release(&chan->receivers);
    wf_lock_take(&chan->lock);
    if (receive_locked(chan, value, &status, &wake)) {
        wf_lock_drop(&chan->lock);
        if (wake)
            wf_wait_wake(wake);
    } else {
        struct wf_waiter self;
        self.value = value;
        status = wf_wait_locked(&self, &chan->lock, &chan->receivers, deadline, "receive");
    }
    if (status == 0 || status == -EPIPE)
        wf_context_acquire(&chan->senders); /* of the sender, or of whoever closed it */
    return status;
}

/* True: it is decided; *wake is a sender whose value has been taken. */
static inline bool receive_locked(weft_chan *chan, void *value, int *status, struct wf_waiter **wake) {
    *status = 0;
    uint32_t count = wf_load_relaxed(&chan->count);
    size_t size = value ? chan->element_size : 0;
    if (count > 0) {
        copy(value, chan->ring + chan->first * chan->element_size, size);
        if (++chan->first == chan->capacity)
            chan->first = 0;
        wf_store_relaxed(&chan->count, count - 1);
        if (chan->senders && (*wake = wf_wait_take_first_locked(&chan->senders)))
            ring_put(chan, (*wake)->value);
    } else if (chan->senders && (*wake = wf_wait_take_first_locked(&chan->senders))) {
        copy(value, (*wake)->value, size);
    } else if (wf_load_relaxed(&chan->is_closed)) {
        *status = -EPIPE;
    } else {
        return false;
    }
    if (*wake)
        (*wake)->status = 0;
    return true;
}

int weft_chan_close(weft_chan *chan) {
    if (!chan)
        return -EINVAL;
    chan_check(chan);
    wf_context_release(&chan->senders);
    wf_lock_take(&chan->lock);
    bool was_closed = wf_load_relaxed(&chan->is_closed);
    wf_store_relaxed(&chan->is_closed, 1);
    struct wf_waiter *receivers = wf_wait_take_all_locked(&chan->receivers, -EPIPE, NULL);
    struct wf_waiter *senders = wf_wait_take_all_locked(&chan->senders, -EPIPE, NULL);
    wf_lock_drop(&chan->lock);
    wf_wait_wake_chain(receivers);
    wf_wait_wake_chain(senders);
    return was_closed ? -EPIPE : 0;
}

size_t weft_chan_len(weft_chan *chan) {
    return chan ? wf_load_relaxed(&chan->count) : 0;
}

size_t weft_chan_cap(weft_chan *chan) {
    return chan ? chan->capacity : 0;
}

bool weft_chan_is_closed(weft_chan *chan) {
    return !chan || wf_load_relaxed(&chan->is_closed);
}

/* The cases of select. A null channel has no queue and a status of 0: it never comes. */
static bool send_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_chan *chan = entry->object;
    if (!chan)
        return false;
    chan_check(chan);
    if (!entry->value && chan->element_size) {
        entry->status = -EINVAL;
        return false;
    }
    wf_context_release(&chan->senders);
    *lock = &chan->lock;
    *queue = &chan->senders;
    return true;
}

static bool send_attempt(weft_case *entry, struct wf_waiter **wakes) {
    weft_chan *chan = entry->object;
    struct wf_waiter *wake = NULL;
    bool is_done = send_locked(chan, entry->value, &entry->status, &wake);
    if (wake) {
        copy(wake->value, entry->value, wake->value ? chan->element_size : 0);
        wake->next = *wakes;
        *wakes = wake;
    }
    if (is_done && entry->status == 0)
        wf_context_acquire(&chan->receivers);
    return is_done;
}

static bool receive_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    weft_chan *chan = entry->object;
    if (!chan)
        return false;
    chan_check(chan);
    wf_context_release(&chan->receivers);
    *lock = &chan->lock;
    *queue = &chan->receivers;
    return true;
}

static bool receive_attempt(weft_case *entry, struct wf_waiter **wakes) {
    weft_chan *chan = entry->object;
    struct wf_waiter *wake = NULL;
    bool is_done = receive_locked(chan, entry->value, &entry->status, &wake);
    if (wake) {
        wake->next = *wakes;
        *wakes = wake;
    }
    if (is_done)
        wf_context_acquire(&chan->senders); /* of the sender, or of whoever closed it */
    return is_done;
}

static void chan_prepare(weft_case *entry, struct wf_waiter *node) {
    node->value = entry->value;
}

static void send_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
    wf_context_acquire(&((weft_chan *)entry->object)->receivers);
}

static void receive_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
    wf_context_acquire(&((weft_chan *)entry->object)->senders);
}

static const struct wf_case_kind send_kind = {
    .name = "send",
    .begin = send_begin,
    .attempt = send_attempt,
    .prepare = chan_prepare,
    .finish = send_finish,
};

static const struct wf_case_kind receive_kind = {
    .name = "receive",
    .begin = receive_begin,
    .attempt = receive_attempt,
    .prepare = chan_prepare,
    .finish = receive_finish,
};

weft_case weft_on_send(weft_chan *chan, const void *value) {
    return wf_case_make(&send_kind, chan, 0, (void *)(uintptr_t)value);
}

weft_case weft_on_receive(weft_chan *chan, void *value) {
    return wf_case_make(&receive_kind, chan, 0, value);
}
