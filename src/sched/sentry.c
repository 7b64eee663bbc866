/* SPDX-License-Identifier: MIT
 *
 * sched/sentry.c - slots and tags of sentries, and calling those that the poller was told of. Model: sched/sentry.h.
 *
 * A look takes the poller's place, so that it cannot swallow the wake of somebody who sleeps in the poller: there is nobody.
 * Whoever wanted to poll meanwhile sleeps without it, and timers may have come that nobody wakes for; so the worker sees to
 * that afterwards as one that has left the poller. Sentries need no such care: the worker itself is awake, looks again, and
 * polls when it sleeps.
 */
#include "sched/sentry.h"

#include <errno.h>
#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/memory.h"
#include "sched/engine.h"

/* 200 us: what a look takes, about a microsecond, is little of it, and there are several to tell at once. A worker that has
 * run everything there is does not wait for it. */
enum { SENTRY_LOOK_NS = 200 * 1000, SENTRY_ROOM = 16 };

static int slot_take_locked(struct wf_sentries *sentries, struct wf_sentry *sentry);
static void slot_give_locked(struct wf_sentries *sentries, struct wf_sentry *sentry);
static void set_armed_locked(struct wf_sentry *sentry, bool is_armed);
static struct wf_sentry *find_told_locked(struct wf_sentries *sentries, uint64_t tag);

static uint64_t sentry_tag(const struct wf_sentries *sentries, const struct wf_sentry *sentry) {
    return (uint64_t)sentries->slots[sentry->index].generation << 32 | (sentry->index + 1);
}

int wf_sentry_add(struct wf_sentries *sentries, struct wf_sentry *sentry, int fd) {
    wf_lock_take(&sentries->lock);
    int error = slot_take_locked(sentries, sentry);
    if (!error) {
        uint64_t tag = sentry_tag(sentries, sentry);
        error = sentry->lasts ? wf_os_poll_watch(sentries->poll, fd, tag) : wf_os_poll_add(sentries->poll, fd, tag);
        if (error)
            slot_give_locked(sentries, sentry);
    }
    if (!error) {
        sentry->sentries = sentries;
        sentry->fd = fd;
        set_armed_locked(sentry, true);
    }
    wf_lock_drop(&sentries->lock);
    return error;
}

int wf_sentry_arm(struct wf_sentry *sentry) {
    struct wf_sentries *sentries = sentry->sentries;
    wf_lock_take(&sentries->lock);
    int error = 0;
    if (!sentry->is_armed) {
        error = wf_os_poll_arm(sentries->poll, sentry->fd, sentry_tag(sentries, sentry));
        if (!error)
            set_armed_locked(sentry, true);
    }
    wf_lock_drop(&sentries->lock);
    return error;
}

void wf_sentry_remove(struct wf_sentry *sentry) {
    struct wf_sentries *sentries = sentry->sentries;
    struct wf_parker parker = {0};
    wf_lock_take(&sentries->lock);
    wf_os_poll_remove(sentries->poll, sentry->fd);
    if (sentry->is_armed)
        set_armed_locked(sentry, false);
    slot_give_locked(sentries, sentry);
    sentry->remover = &parker;
    bool must_wait = sentry->calls > 0;
    wf_lock_drop(&sentries->lock);
    if (must_wait) {
        WF_POINT("sentry.before_removal");
        wf_parker_park(&parker, INT64_MAX);
        wf_lock_take(&sentries->lock); /* also waits for the one who has just unparked us */
        wf_lock_drop(&sentries->lock);
    }
    sentry->remover = NULL;
    sentry->sentries = NULL;
}

static int slot_take_locked(struct wf_sentries *sentries, struct wf_sentry *sentry) {
    if (!sentries->first_free && sentries->count == sentries->room) {
        uint32_t room = sentries->room ? 2 * sentries->room : SENTRY_ROOM;
        size_t size = room * sizeof(struct wf_sentry_slot);
        struct wf_sentry_slot *slots = sentries->lasts ? wf_os_alloc_lasting(size) : wf_os_alloc(size);
        if (!slots)
            return -ENOMEM;
        if (sentries->count)
            memcpy(slots, sentries->slots, sentries->count * sizeof *slots);
        if (sentries->lasts)
            wf_os_free_lasting(sentries->slots);
        else
            wf_os_free(sentries->slots);
        sentries->slots = slots;
        sentries->room = room;
    }
    if (sentries->first_free) {
        sentry->index = sentries->first_free - 1;
        sentries->first_free = sentries->slots[sentry->index].next_free;
    } else {
        sentry->index = sentries->count++;
    }
    sentries->slots[sentry->index].sentry = sentry;
    return 0;
}

static void slot_give_locked(struct wf_sentries *sentries, struct wf_sentry *sentry) {
    struct wf_sentry_slot *slot = &sentries->slots[sentry->index];
    slot->sentry = NULL;
    slot->generation++; /* 2^32 of them do not pass while one poller has a tag in hand */
    slot->next_free = sentries->first_free;
    sentries->first_free = sentry->index + 1;
}

static void set_armed_locked(struct wf_sentry *sentry, bool is_armed) {
    struct wf_sentries *sentries = sentry->sentries;
    WF_ASSERT(sentry->is_armed != is_armed);
    sentry->is_armed = is_armed;
    wf_count_owner(&sentries->armed, is_armed ? 1u : -1u);
}

void wf_sentries_look_owner(struct wf_worker *worker, int64_t now) {
    struct wf_engine *engine = worker->engine;
    struct wf_sentries *sentries = &engine->sentries;
    int32_t nobody = WF_POLLER_NONE;
    if (now - wf_load_relaxed(&sentries->looked_at) < SENTRY_LOOK_NS ||
        wf_load_relaxed(&engine->poller) != WF_POLLER_NONE ||
        !wf_cas_acq_rel(&engine->poller, &nobody, (int32_t)worker->processor->index)) /* as one who sleeps there */
        return;
    wf_store_relaxed(&sentries->looked_at, now);
    wf_os_poll_wait(&engine->poll, 0);
    wf_worker_leave_poller(worker);
    wf_sentries_tell(sentries, worker->told, &worker->told_count);
}

/* All of them under one lock before, and one after. */
void wf_sentries_tell(struct wf_sentries *sentries, const struct wf_os_ready *told, uint32_t *count) {
    struct wf_sentry *found[WF_POLL_MOST];
    uint32_t told_count = *count;
    WF_ASSERT(told_count <= WF_POLL_MOST);
    *count = 0;
    if (told_count == 0)
        return;
    WF_POINT("sentry.before_call");
    wf_lock_take(&sentries->lock);
    for (uint32_t i = 0; i < told_count; i++)
        found[i] = find_told_locked(sentries, told[i].tag);
    wf_lock_drop(&sentries->lock);
    WF_POINT("sentry.calls");
    for (uint32_t i = 0; i < told_count; i++)
        if (found[i])
            found[i]->ready(found[i], told[i].events);
    wf_lock_take(&sentries->lock);
    for (uint32_t i = 0; i < told_count; i++)
        if (found[i] && --found[i]->calls == 0 && found[i]->remover)
            wf_parker_unpark(found[i]->remover);
    wf_lock_drop(&sentries->lock);
}

/* The sentry, counted in; NULL when it has gone meanwhile. */
static struct wf_sentry *find_told_locked(struct wf_sentries *sentries, uint64_t tag) {
    const struct wf_sentry_slot *slot = &sentries->slots[(uint32_t)tag - 1];
    struct wf_sentry *sentry = slot->generation == tag >> 32 ? slot->sentry : NULL;
    if (!sentry)
        return NULL;
    if (!sentry->lasts)
        set_armed_locked(sentry, false); /* so the kernel was asked once for what it has told once */
    sentry->calls++;
    return sentry;
}

void wf_sentries_term(struct wf_sentries *sentries) {
    WF_ASSERT(wf_load_relaxed(&sentries->armed) == 0);
    wf_os_free(sentries->slots);
}
