/* SPDX-License-Identifier: MIT
 *
 * io/ready.c - what the poller tells about descriptors, and waiting for it. Model: io/fd.h.
 *
 * A descriptor gets its sentry when somebody first has to wait: in the engine of the fiber that waits, or with the keeper when
 * it is a plain thread. It stays there, whoever waits later, until it is closed or that engine ends.
 *
 * Everybody who waits for the same way of one descriptor is woken by news, and tries again: the poller cannot know how
 * many of them what has come is enough for. Those for whom it is not come back.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/list.h"
#include "base/point.h"
#include "io/fd.h"
#include "wait/select.h"

enum { TRY_AGAIN = 1 };

/* Sentries are removed one at a time: whoever ends a descriptor must not do it in an engine that is ending too. */
static struct wf_lock removal_lock;

static int watch_locked(struct wf_fd *record);
static void fd_ready(struct wf_sentry *sentry, uint32_t events);
static bool unwatch(struct wf_fd *record, const struct wf_engine *engine);
static bool is_ready_now(const struct wf_fd *record, enum wf_io_way way);

int wf_fd_wait(struct wf_fd *record, enum wf_io_way way, uint32_t before, int64_t deadline_ns, const char *reason) {
    struct wf_waiter waiter = {0};
    if (deadline_ns == WEFT_NOW) {
        wf_fd_put(record);
        return -ETIMEDOUT;
    }
    WF_POINT("fd.before_wait");
    wf_lock_take(&record->lock);
    int error = watch_locked(record);
    bool has_news = wf_load_relaxed(&record->news) / WF_NEWS_ONE != before / WF_NEWS_ONE;
#ifdef WF_MUTANT_FD_COUNT_UNSEEN
    has_news = false;
#endif
    if (error || has_news) {
        wf_lock_drop(&record->lock);
        wf_fd_put(record);
        return error;
    }
#ifdef WF_MUTANT_FD_RELAXED_WAIT
    uint64_t word = wf_fetch_sub_relaxed(&record->word, 1);
#else
    uint64_t word = wf_fetch_sub_acq_rel(&record->word, 1); /* as in wf_fd_put */
#endif
#ifdef WF_MUTANT_FD_WAIT_CLOSED
    word &= ~(uint64_t)WF_FD_CLOSED;
#endif
    if (WF_UNLIKELY(word & WF_FD_CLOSED)) { /* it is being closed, and perhaps nobody but us keeps it */
        wf_lock_drop(&record->lock);
        if ((word & WF_FD_USERS) == 1)
            wf_fd_end(record);
        return -EBADF;
    }
    int status = wf_wait_locked(&waiter, &record->lock, &record->waiting[way], deadline_ns, reason);
    return status == TRY_AGAIN ? 0 : status;
}

int wf_fd_rest(weft_fd fd, int64_t deadline_ns) {
    int error = wf_wait_enter(deadline_ns);
    if (error)
        return error;
    struct wf_fd *record = wf_fd_get(fd);
    uint32_t before;
    if (!record)
        return -EBADF;
    if (wf_fd_try_read(record, &before)) {
        if (record->kind == WF_OS_FILE || is_ready_now(record, WF_IO_READ)) {
            wf_fd_put(record);
            return 0;
        }
        wf_fd_drained(record, before);
    }
    return wf_fd_wait(record, WF_IO_READ, before, deadline_ns, "rest");
}

/* By a user: its sentry stands somewhere. */
static int watch_locked(struct wf_fd *record) {
    if (WF_LIKELY(record->is_watched))
        return 0;
    struct wf_fiber_worker *worker = wf_worker_self();
    int error = 0;
    struct wf_sentries *sentries = worker ? &worker->fibers->engine.sentries : wf_keeper(&error);
    if (!sentries)
        return error;
    record->sentry.ready = fd_ready;
    record->sentry.lasts = true;
    error = wf_sentry_add(sentries, &record->sentry, record->number);
    record->is_watched = error == 0;
    return error;
}

/* Of that engine, or, when it is NULL, wherever its sentry stands. True: it had one. */
static bool unwatch(struct wf_fd *record, const struct wf_engine *engine) {
#ifndef WF_MUTANT_FD_REMOVAL_UNLOCKED
    wf_lock_take(&removal_lock);
#endif
    wf_lock_take(&record->lock);
    bool is_meant = record->is_watched && (!engine || record->sentry.sentries == &engine->sentries);
    wf_lock_drop(&record->lock);
    if (is_meant) {
        wf_sentry_remove(&record->sentry);
        wf_lock_take(&record->lock);
        record->is_watched = false;
        wf_lock_drop(&record->lock);
    }
#ifndef WF_MUTANT_FD_REMOVAL_UNLOCKED
    wf_lock_drop(&removal_lock);
#endif
    return is_meant;
}

void wf_fd_unwatch(struct wf_fd *record) {
    unwatch(record, NULL);
}

static void fd_ready(struct wf_sentry *sentry, uint32_t events) {
    struct wf_fd *record = WF_CONTAINER(sentry, struct wf_fd, sentry);
    struct wf_waiter *woken[WF_IO_WAYS] = {NULL, NULL};
    bool is_spent = events & (WF_EPOLL_HANGUP | WF_EPOLL_ERROR | WF_EPOLL_URGENT);
    bool is_new[WF_IO_WAYS] = {is_spent || (events & WF_EPOLL_READ), is_spent || (events & WF_EPOLL_WRITE)};
    wf_lock_take(&record->lock);
    for (unsigned way = 0; way < WF_IO_WAYS; way++)
        if (is_new[way] && record->waiting[way])
            woken[way] = wf_wait_take_all_locked(&record->waiting[way], TRY_AGAIN, NULL);
    uint32_t news = wf_load_relaxed(&record->news), next;
    do {
        next = (is_new[WF_IO_READ] ? news & ~(uint32_t)WF_NEWS_DRAINED : news) + WF_NEWS_ONE;
#ifdef WF_MUTANT_FD_COUNT_STILL
        next -= WF_NEWS_ONE;
#endif
#ifdef WF_MUTANT_FD_SPENT_UNSAID
        is_spent = false;
#endif
#ifdef WF_MUTANT_FD_NEWS_OF_DRAINED
        next |= news & WF_NEWS_DRAINED;
#endif
    } while (!wf_cas_relaxed(&record->news, &news, is_spent ? next | WF_NEWS_SPENT : next));
    WF_POINT("fd.ready");
    wf_lock_drop(&record->lock);
    for (unsigned way = 0; way < WF_IO_WAYS; way++)
        if (woken[way])
            wf_wait_wake_chain(woken[way]);
}

static int wait_ready(weft_fd fd, enum wf_io_way way, int64_t deadline_ns) {
    int error = wf_wait_enter(deadline_ns);
    while (!error) {
        struct wf_fd *record = wf_fd_get(fd);
        if (!record)
            return -EBADF;
        uint32_t before;
        (void)wf_fd_try_read(record, &before);
        if (record->kind == WF_OS_FILE || is_ready_now(record, way)) {
            wf_fd_put(record);
            return 0;
        }
        error = wf_fd_wait(record, way, before, deadline_ns, way == WF_IO_READ ? "readable" : "writable");
    }
    return error;
}

int weft_wait_readable(weft_fd fd, weft_time deadline) {
    return wait_ready(fd, WF_IO_READ, deadline);
}

int weft_wait_writable(weft_fd fd, weft_time deadline) {
    return wait_ready(fd, WF_IO_WRITE, deadline);
}

static bool is_ready_now(const struct wf_fd *record, enum wf_io_way way) {
    return way == WF_IO_READ ? wf_os_is_readable(record->number) : wf_os_is_writable(record->number);
}

/* ---- As cases of weft_select ---- */

/* Nobody is a user of it while it waits, so the weft_fd is kept: records stay, and the generation is looked at under the lock. */
static bool ready_begin(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue) {
    struct wf_fd *record = wf_fd_get((weft_fd){entry->id});
    if (!record) {
        entry->status = -EBADF;
        return false;
    }
    entry->value = record;
    *lock = &record->lock;
    *queue = &record->waiting[(uintptr_t)entry->object];
    wf_fd_put(record);
    return true;
}

/* The kernel is asked: what was told may be old, and what has not been taken is not told again. A look is a system call with
 * the lock held, which costs those who come at the same time a microsecond. With the lock and not closed, nobody ends it. */
static bool ready_attempt(weft_case *entry, struct wf_waiter **wakes) {
    struct wf_fd *record = entry->value;
    uint64_t word = wf_load_relaxed(&record->word);
    (void)wakes;
#ifdef WF_MUTANT_FD_CASE_OF_NEXT
    word = (uint32_t)word | entry->id >> 32 << 32;
#endif
    if ((word ^ entry->id) >> 32 || (word & WF_FD_CLOSED)) {
        entry->status = -EBADF;
        return true;
    }
    entry->status = record->kind == WF_OS_FILE ? 0 : watch_locked(record);
    return entry->status || record->kind == WF_OS_FILE ||
           is_ready_now(record, (enum wf_io_way)(uintptr_t)entry->object);
}

static void ready_finish(weft_case *entry, struct wf_waiter *node) {
    entry->status = node->status == TRY_AGAIN ? 0 : node->status;
}

static const struct wf_case_kind ready_kind = {
    .name = "descriptor",
    .begin = ready_begin,
    .attempt = ready_attempt,
    .finish = ready_finish,
};

weft_case wf_fd_case(weft_fd fd, enum wf_io_way way) {
    return wf_case_make(&ready_kind, (void *)(uintptr_t)way, fd.bits, NULL);
}

weft_case weft_on_readable(weft_fd fd) {
    return wf_fd_case(fd, WF_IO_READ);
}

weft_case weft_on_writable(weft_fd fd) {
    return wf_fd_case(fd, WF_IO_WRITE);
}

/* ---- The end of an engine, and of a process ---- */

void wf_fds_abandon(struct wf_engine *engine) {
    for (uint32_t i = 0, count = wf_fds_count(); i < count; i++) {
        struct wf_fd *record = wf_fds_at(i);
        bool was_watched = unwatch(record, engine);
#ifdef WF_MUTANT_FD_ABANDON_SILENT
        was_watched = false;
#endif
        if (was_watched)
            fd_ready(&record->sentry, WF_EPOLL_READ | WF_EPOLL_WRITE);
    }
}

void wf_fds_unlock_after_fork(void) {
    wf_lock_init(&removal_lock);
}

bool wf_fds_are_awaited(void) {
    bool is_awaited = false;
    for (uint32_t i = 0, count = wf_fds_count(); i < count && !is_awaited; i++) {
        struct wf_fd *record = wf_fds_at(i);
        wf_lock_take(&record->lock);
        is_awaited = record->waiting[WF_IO_READ] || record->waiting[WF_IO_WRITE];
        wf_lock_drop(&record->lock);
    }
    return is_awaited || wf_keeper_is_telling();
}
