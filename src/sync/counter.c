/* SPDX-License-Identifier: MIT
 *
 * sync/counter.c - a number and those who wait for it: the semaphore and the wait group.
 *
 * A semaphore lets the first in its queue through when the number is large enough for it, and takes that off; who wants many
 * holds up those behind it rather than being overtaken for ever. A wait group lets everybody through when the number is zero.
 */
#include <errno.h>

#include "base/assert.h"
#include "os/report.h"
#include "sync/sync.h"
#include "wait/select.h"

#define COUNT_MAX (INT64_C(1) << 62)

static struct wf_waiter *let_through_locked(struct wf_counter *semaphore);
static bool take_locked(struct wf_counter *semaphore, int64_t count);
static void give_way(struct wf_counter *semaphore);

int weft_semaphore_acquire(weft_semaphore *public_semaphore, int64_t count, weft_time deadline) {
    struct wf_counter *semaphore = (struct wf_counter *)public_semaphore;
    if (!semaphore || count < 1)
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    wf_lock_take(&semaphore->lock);
    if (take_locked(semaphore, count)) {
        wf_lock_drop(&semaphore->lock);
    } else {
        struct wf_waiter self = {.amount = (uint64_t)count};
        status = wf_wait_locked(&self, &semaphore->lock, &semaphore->waiters, deadline, "semaphore");
        if (status) {
            give_way(semaphore);
            return status;
        }
    }
    wf_context_acquire(semaphore);
    return 0;
}

static bool take_locked(struct wf_counter *semaphore, int64_t count) {
    int64_t permits = wf_load_relaxed(&semaphore->count);
    if (semaphore->waiters || permits < count)
        return false;
    wf_store_relaxed(&semaphore->count, permits - count);
    return true;
}

/* Somebody gave up: those behind may have waited for its turn only. */
static void give_way(struct wf_counter *semaphore) {
    wf_lock_take(&semaphore->lock);
    struct wf_waiter *wakes = let_through_locked(semaphore);
    wf_lock_drop(&semaphore->lock);
    wf_wait_wake_chain(wakes);
}

void weft_semaphore_release(weft_semaphore *public_semaphore, int64_t count) {
    struct wf_counter *semaphore = (struct wf_counter *)public_semaphore;
    if (!semaphore || count < 1)
        wf_fatal("weft_semaphore_release of a null pointer, or of fewer than one permit");
    wf_context_release(semaphore);
    wf_lock_take(&semaphore->lock);
    int64_t permits = wf_load_relaxed(&semaphore->count);
    if (permits > COUNT_MAX - count)
        wf_fatal("a semaphore was given more permits than it can count");
    wf_store_relaxed(&semaphore->count, permits + count);
    struct wf_waiter *wakes = let_through_locked(semaphore);
    wf_lock_drop(&semaphore->lock);
    wf_wait_wake_chain(wakes);
}

static struct wf_waiter *let_through_locked(struct wf_counter *semaphore) {
    struct wf_waiter *first = NULL;
    struct wf_waiter **end = &first;
    struct wf_waiter *waiter;
    int64_t permits = wf_load_relaxed(&semaphore->count);
    while ((waiter = semaphore->waiters) && (int64_t)waiter->amount <= permits) {
        int64_t wanted = (int64_t)waiter->amount;
        if (!wf_wait_take_locked(waiter))
            continue;
        permits -= wanted;
        waiter->status = 0;
        *end = waiter;
        end = &waiter->next;
    }
    *end = NULL;
    wf_store_relaxed(&semaphore->count, permits);
    return first;
}

int64_t weft_semaphore_permits(weft_semaphore *semaphore) {
    return semaphore ? wf_load_relaxed(&((struct wf_counter *)semaphore)->count) : 0;
}

static bool semaphore_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    struct wf_counter *semaphore = entry->object;
    if (!semaphore) {
        entry->status = -EINVAL;
        return false;
    }
    *lock = &semaphore->lock;
    *queue = &semaphore->waiters;
    return true;
}

static bool semaphore_attempt(weft_case *entry, struct wf_waiter **wakes) {
    (void)wakes;
    bool is_taken = take_locked(entry->object, 1);
    if (is_taken)
        wf_context_acquire(entry->object);
    return is_taken;
}

static void semaphore_prepare(weft_case *entry, struct wf_waiter *node) {
    (void)entry;
    node->amount = 1;
}

static void semaphore_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status;
    wf_context_acquire(entry->object);
}

/* A case that was not chosen has stood in the queue, perhaps in somebody's way. */
static void semaphore_end(weft_case *entry) {
    if (entry->object)
        give_way(entry->object);
}

static const struct wf_case_kind semaphore_kind = {
    .name = "semaphore",
    .begin = semaphore_begin,
    .attempt = semaphore_attempt,
    .prepare = semaphore_prepare,
    .finish = semaphore_finish,
    .end = semaphore_end,
};

weft_case weft_on_semaphore(weft_semaphore *semaphore) {
    return wf_case_make(&semaphore_kind, semaphore, 0, NULL);
}

void weft_waitgroup_add(weft_waitgroup *public_group, int64_t count) {
    struct wf_counter *group = (struct wf_counter *)public_group;
    if (!group)
        wf_fatal("weft_waitgroup_add to a null pointer");
    wf_context_release(group);
    wf_lock_take(&group->lock);
    int64_t sum = 0;
    if (__builtin_add_overflow(wf_load_relaxed(&group->count), count, &sum) || sum < 0 || sum > COUNT_MAX)
        wf_fatal("a wait group was counted below zero, or beyond what it can count");
    wf_store_relaxed(&group->count, sum);
    struct wf_waiter *wakes = sum == 0 ? wf_wait_take_all_locked(&group->waiters, 0, NULL) : NULL;
    wf_lock_drop(&group->lock);
    wf_wait_wake_chain(wakes);
}

void weft_waitgroup_done(weft_waitgroup *group) {
    weft_waitgroup_add(group, -1);
}

int weft_waitgroup_wait(weft_waitgroup *public_group, weft_time deadline) {
    struct wf_counter *group = (struct wf_counter *)public_group;
    if (!group)
        return -EINVAL;
    int status = wf_wait_enter(deadline);
    if (status)
        return status;
    wf_lock_take(&group->lock);
    if (wf_load_relaxed(&group->count) == 0) {
        wf_lock_drop(&group->lock);
    } else {
        struct wf_waiter self;
        status = wf_wait_locked(&self, &group->lock, &group->waiters, deadline, "wait group");
    }
    if (status == 0)
        wf_context_acquire(group);
    return status;
}
