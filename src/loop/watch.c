/* SPDX-License-Identifier: MIT
 *
 * loop/watch.c - descriptors: which are registered, which are ready, and how a loop sleeps in epoll.
 *
 * A registration is a record in a slab. It owns a duplicate of the caller's descriptor, and the epoll set knows that
 * duplicate by the id of the record: what the caller does with its own number has no effect on us, and an event that was
 * collected before its registration went finds a stale id. A map leads from the caller's number to the record.
 *
 * Everything is registered and removed under the loop's lock, mode FORCED is set under it, and nobody waits or calls back with
 * it. The owner collects without the lock and then, for each event, takes the lock, finds the record, leaves of the
 * event what the record still asks for, drops the lock and calls.
 *
 * Waking: the set has an eventfd with the tag 0, which is no record's. It is written under the lock, once until the owner has
 * read it (is_signalled), and only while the set is open; so nobody writes to a number that belongs to somebody else by
 * then, and however many have something for the loop, one of them makes the system call.
 *
 * An owner that is a fiber does not wait in epoll: the engine's poller has the set in its own (sched/sentry.h) and rouses the
 * loop, which then only looks.
 *
 * An error of the wait, but for a signal, is for good: the loop is told, and ends.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "loop/loop.h"
#include "os/clock.h"
#include "os/epoll.h"
#include "os/eventfd.h"
#include "os/memory.h"
#include "sched/sentry.h"

_Static_assert(WEFT_FD_READ == (int)WF_EPOLL_READ && WEFT_FD_WRITE == (int)WF_EPOLL_WRITE &&
                   WEFT_FD_HANGUP == (int)WF_EPOLL_HANGUP && WEFT_FD_ERROR == (int)WF_EPOLL_ERROR,
               "events are the same bits here and below");

enum {
    WATCH_ASKABLE = WEFT_FD_READ | WEFT_FD_WRITE,
    WATCH_UNASKED = WEFT_FD_HANGUP | WEFT_FD_ERROR,
    WATCH_PLACES = 64, /* in the map at first; a power of two, as it stays */
    WAKE_TAG = 0       /* no id is */
};

/* Under the loop's lock. */
struct watched {
    struct wf_slot slot; /* first */
    int fd;              /* the caller's number */
    int own_fd;
    unsigned events;
    uint32_t next; /* with the same place in the map: index + 1; 0: none */
    weft_loop_fd_fn fn;
    void *arg;
};

struct wf_watches {
    weft_loop *loop; /* this and the next two are constant */
    int epoll_fd;
    int event_fd;
    struct wf_sentry sentry; /* of a fiber's loop, while one runs it */
    /* under the loop's lock */
    struct wf_slab slab;
    uint32_t *places; /* by the caller's number, modulo place_count: index + 1 of the first; 0: none */
    uint32_t place_count;
    _Atomic uint32_t count;        /* read by the owner without */
    _Atomic uint32_t is_signalled; /* the same; event_fd was written and not read */
    /* the owner's */
    uint32_t ready_next;
    uint32_t ready_count;
    struct wf_os_ready ready[WF_EPOLL_MOST];
};

static int watch_open_locked(weft_loop *loop);
static int watch_add_locked(weft_loop *loop, int fd, unsigned events, weft_loop_fd_fn fn, void *arg);
static int watch_record_locked(struct wf_watches *watches, int fd, unsigned events, struct watched **out);
static int map_grow_locked(struct wf_watches *watches);
static uint32_t *map_place(const struct wf_watches *watches, int fd);
static struct watched *map_find_locked(const struct wf_watches *watches, int fd);
static void map_remove_locked(struct wf_watches *watches, struct watched *watched);
static void watch_ready(struct wf_sentry *sentry, uint32_t events);
static void watch_drain(weft_loop *loop, struct wf_watches *watches);
static void watch_failed(weft_loop *loop, int error);

int weft_loop_fd_add(weft_loop *loop, int fd, unsigned events, weft_loop_fd_fn fn, void *arg) {
    if (!loop || !fn || !(events & WATCH_ASKABLE) || (events & ~(unsigned)(WATCH_ASKABLE | WATCH_UNASKED)))
        return -EINVAL;
    if (fd < 0)
        return -EBADF;
    WF_POINT("watch.before_add");
    wf_lock_take(&loop->lock);
    int error = watch_add_locked(loop, fd, events, fn, arg);
    /* An owner that sleeps in epoll, or is watched over by the poller, has the new one in its set already. */
    bool is_first = !error && wf_watch_count_locked(loop) == 1 && !loop->is_polling;
    if (is_first && wf_loop_state(loop) == WF_LOOP_SLEEPING)
        wf_loop_drop_and_rouse(loop);
    else
        wf_lock_drop(&loop->lock);
    return error;
}

static int watch_add_locked(weft_loop *loop, int fd, unsigned events, weft_loop_fd_fn fn, void *arg) {
    if (wf_loop_is_ending(loop))
        return -EPIPE;
    if (loop->fast == WEFT_LOOP_FAST_FORCED)
        return -ENOTSUP;
    int error = watch_open_locked(loop);
    if (error)
        return error;
    struct wf_watches *watches = wf_load_relaxed(&loop->watches);
    if (map_find_locked(watches, fd))
        return -EEXIST;
    struct watched *watched = NULL;
    error = watch_record_locked(watches, fd, events, &watched);
    if (error)
        return error;
    watched->fn = fn;
    watched->arg = arg;
    wf_store_relaxed(&watches->count, watches->slab.used);
    return 0;
}

/* What can fail comes before the descriptor enters the set, so that no event of it has to be taken back. */
static int watch_record_locked(struct wf_watches *watches, int fd, unsigned events, struct watched **out) {
    int error = watches->slab.used >= watches->place_count ? map_grow_locked(watches) : 0;
    if (error)
        return error;
    void *record;
    error = wf_slab_take(&watches->slab, &record);
    if (error)
        return error;
    struct watched *watched = record;
    watched->fd = fd;
    watched->events = events;
    watched->own_fd = wf_os_duplicate(fd);
    if (watched->own_fd < 0) {
        error = watched->own_fd;
        goto give_record;
    }
    error = wf_os_epoll_add(watches->epoll_fd, watched->own_fd, events, wf_slab_id(watched));
    if (error)
        goto close_duplicate;
    uint32_t *place = map_place(watches, fd);
    watched->next = *place;
    *place = watched->slot.index + 1;
    *out = watched;
    return 0;

close_duplicate:
    wf_os_close(watched->own_fd);
give_record:
    wf_slab_give(&watches->slab, watched);
    return error;
}

int weft_loop_fd_modify(weft_loop *loop, int fd, unsigned events) {
    if (!loop || (events & ~(unsigned)(WATCH_ASKABLE | WATCH_UNASKED)))
        return -EINVAL;
    wf_lock_take(&loop->lock);
    struct wf_watches *watches = wf_load_relaxed(&loop->watches);
    struct watched *watched = watches ? map_find_locked(watches, fd) : NULL;
    int error = wf_loop_is_ending(loop) ? -EPIPE : watched ? 0 : -ENOENT;
    if (!error)
        error = wf_os_epoll_modify(watches->epoll_fd, watched->own_fd, events, wf_slab_id(watched));
    if (!error)
        watched->events = events;
    wf_lock_drop(&loop->lock);
    return error;
}

int weft_loop_fd_remove(weft_loop *loop, int fd) {
    if (!loop)
        return -EINVAL;
    wf_lock_take(&loop->lock);
    struct wf_watches *watches = wf_load_relaxed(&loop->watches);
    struct watched *watched = watches ? map_find_locked(watches, fd) : NULL;
    int error = wf_loop_is_ending(loop) ? -EPIPE : watched ? 0 : -ENOENT;
    if (error) {
        wf_lock_drop(&loop->lock);
        return error;
    }
    map_remove_locked(watches, watched);
    wf_os_epoll_remove(watches->epoll_fd, watched->own_fd);
    wf_os_close(watched->own_fd);
    wf_slab_give(&watches->slab, watched);
    wf_store_relaxed(&watches->count, watches->slab.used);
    if (watches->slab.used == 0)
        wf_loop_drop_and_rouse(loop); /* it may have nothing to live for any more */
    else
        wf_lock_drop(&loop->lock);
    return 0;
}

int weft_loop_set_fast(weft_loop *loop, weft_loop_fast fast) {
    if (!loop || (unsigned)fast > WEFT_LOOP_FAST_DISABLED)
        return -EINVAL;
    WF_POINT("watch.before_set_fast");
    wf_lock_take(&loop->lock);
    bool has_descriptors = wf_watch_count_locked(loop) > 0 || loop->is_embedded;
    int error = wf_loop_is_ending(loop) ? -EPIPE : fast == WEFT_LOOP_FAST_FORCED && has_descriptors ? -ENOTSUP : 0;
    if (error || loop->fast == fast) {
        wf_lock_drop(&loop->lock);
        return error;
    }
    loop->fast = fast;
    wf_loop_drop_and_rouse(loop); /* it sleeps again, in the other way */
    return 0;
}

int weft_loop_backend_fd(weft_loop *loop) {
    if (!loop)
        return -EINVAL;
    wf_lock_take(&loop->lock);
    int error = wf_loop_is_ending(loop) ? -EPIPE : loop->fast == WEFT_LOOP_FAST_FORCED ? -ENOTSUP : 0;
    if (!error)
        error = watch_open_locked(loop);
    if (!error) {
        loop->is_embedded = true;
        bool is_idle = wf_loop_state(loop) == WF_LOOP_AWAKE; /* else whoever runs it signals when it leaves */
        if (is_idle && wf_loop_has_work_locked(loop))
            wf_watch_signal_locked(loop);
    }
    int fd = error ? error : wf_load_relaxed(&loop->watches)->epoll_fd;
    wf_lock_drop(&loop->lock);
    return fd;
}

static int watch_open_locked(weft_loop *loop) {
    if (wf_load_relaxed(&loop->watches))
        return 0;
    struct wf_watches *watches = wf_os_alloc(sizeof *watches);
    if (!watches)
        return -ENOMEM;
    int error;
    watches->loop = loop;
    watches->sentry.ready = watch_ready;
    wf_slab_init(&watches->slab, sizeof(struct watched));
    watches->epoll_fd = wf_os_epoll_open();
    if (watches->epoll_fd < 0) {
        error = watches->epoll_fd;
        goto free_watches;
    }
    watches->event_fd = wf_os_eventfd_open();
    if (watches->event_fd < 0) {
        error = watches->event_fd;
        goto close_epoll;
    }
    error = wf_os_epoll_add(watches->epoll_fd, watches->event_fd, WF_EPOLL_READ, WAKE_TAG);
    if (error)
        goto close_event;
    wf_store_release(&loop->watches, watches); /* pairs with the owner's look */
    return 0;

close_event:
    wf_os_eventfd_close(watches->event_fd);
close_epoll:
    wf_os_close(watches->epoll_fd);
free_watches:
    wf_os_free(watches);
    return error;
}

/* Numbers are small and dense, so their lowest bits spread them well. */
static uint32_t *map_place(const struct wf_watches *watches, int fd) {
    return &watches->places[(uint32_t)fd & (watches->place_count - 1)];
}

static int map_grow_locked(struct wf_watches *watches) {
    uint32_t count = watches->place_count ? watches->place_count * 2 : WATCH_PLACES;
    uint32_t *places = wf_os_alloc(count * sizeof *places);
    if (!places)
        return -ENOMEM;
    wf_os_free(watches->places);
    watches->places = places;
    watches->place_count = count;
    for (uint32_t i = 0; i < watches->slab.chunk_count * WF_SLAB_CHUNK; i++) {
        struct watched *watched = wf_slab_at(&watches->slab, i);
        if (!watched->slot.is_used)
            continue;
        uint32_t *place = map_place(watches, watched->fd);
        watched->next = *place;
        *place = i + 1;
    }
    return 0;
}

static struct watched *map_find_locked(const struct wf_watches *watches, int fd) {
    uint32_t at = watches->places ? *map_place(watches, fd) : 0;
    while (at) {
        struct watched *watched = wf_slab_at(&watches->slab, at - 1);
        if (watched->fd == fd)
            return watched;
        at = watched->next;
    }
    return NULL;
}

static void map_remove_locked(struct wf_watches *watches, struct watched *watched) {
    uint32_t *at = map_place(watches, watched->fd);
    while (*at != watched->slot.index + 1)
        at = &((struct watched *)wf_slab_at(&watches->slab, *at - 1))->next;
    *at = watched->next;
}

uint32_t wf_watch_count_locked(const weft_loop *loop) {
    struct wf_watches *watches = wf_load_relaxed(&((weft_loop *)loop)->watches);
    return watches ? watches->slab.used : 0;
}

bool wf_watch_is_needed_locked(const weft_loop *loop) {
    return loop->fast == WEFT_LOOP_FAST_DISABLED || wf_watch_count_locked(loop) > 0;
}

int wf_watch_arm_locked(weft_loop *loop) {
    struct wf_fibers *fibers = loop->of_fibers;
    if (!fibers)
        return watch_open_locked(loop);
    if (wf_watch_count_locked(loop) == 0)
        return 0;
    struct wf_watches *watches = wf_load_relaxed(&loop->watches);
    if (watches->sentry.sentries)
        return wf_sentry_arm(&watches->sentry);
    return wf_sentry_add(&fibers->engine.sentries, &watches->sentry, watches->epoll_fd);
}

static void watch_ready(struct wf_sentry *sentry, uint32_t events) {
    (void)events;
    weft_loop *loop = WF_CONTAINER(sentry, struct wf_watches, sentry)->loop;
    wf_lock_take(&loop->lock);
    wf_loop_drop_and_rouse(loop);
}

void wf_watch_leave(weft_loop *loop) {
    struct wf_watches *watches =
        wf_load_acquire(&loop->watches); /* pairs with watch_open_locked; only the owner ends it */
    if (watches && watches->sentry.sentries)
        wf_sentry_remove(&watches->sentry);
}

void wf_watch_signal_locked(weft_loop *loop) {
    struct wf_watches *watches = wf_load_relaxed(&loop->watches);
    if (!watches || wf_load_relaxed(&watches->is_signalled))
        return;
    wf_store_relaxed(&watches->is_signalled, 1);
    wf_os_eventfd_set(watches->event_fd);
}

void wf_watch_poll(weft_loop *loop, int64_t until_ns) {
    struct wf_watches *watches = wf_load_acquire(&loop->watches); /* pairs with watch_open_locked */
    /* Without anything to be seen a look is not worth the call. What comes meanwhile is seen before the owner sleeps. */
    if (!watches || (until_ns <= 0 && !wf_load_relaxed(&watches->count) && !wf_load_relaxed(&watches->is_signalled)))
        return;
    WF_ASSERT(watches->ready_next == watches->ready_count);
    int count;
    do {
        WF_POINT("watch.before_wait");
        count = wf_os_epoll_wait(watches->epoll_fd, watches->ready, WF_EPOLL_MOST, until_ns);
    } while (count == -EINTR && (until_ns == WF_NEVER || wf_os_now() < until_ns));
    WF_POINT("watch.collected");
    if (count < 0 && count != -EINTR)
        watch_failed(loop, count);
    watches->ready_next = 0;
    watches->ready_count = count < 0 ? 0 : (uint32_t)count;
    for (uint32_t i = 0; i < watches->ready_count; i++)
        if (watches->ready[i].tag == WAKE_TAG)
            watch_drain(loop, watches);
}

/* With the lock, so that the flag and the descriptor say the same. */
static void watch_drain(weft_loop *loop, struct wf_watches *watches) {
    wf_lock_take(&loop->lock);
    wf_os_eventfd_clear(watches->event_fd);
    wf_store_relaxed(&watches->is_signalled, 0);
    wf_lock_drop(&loop->lock);
}

static void watch_failed(weft_loop *loop, int error) {
    wf_lock_take(&loop->lock);
    loop->error = error;
    wf_store_relaxed(&loop->is_closing, 1);
    wf_loop_shut_locked(loop);
    wf_lock_drop(&loop->lock);
    wf_loop_tell(loop, "poll", NULL, "the loop cannot wait for its descriptors any more, and ends");
}

bool wf_watch_step(weft_loop *loop) {
    struct wf_watches *watches = wf_load_acquire(&loop->watches); /* pairs with watch_open_locked */
    while (watches && watches->ready_next < watches->ready_count) {
        const struct wf_os_ready *ready = &watches->ready[watches->ready_next++];
        WF_POINT("watch.before_claim");
        wf_lock_take(&loop->lock);
        struct watched *found = wf_slab_find(&watches->slab, ready->tag);
        struct watched watched = found ? *found : (struct watched){0};
        wf_lock_drop(&loop->lock);
        unsigned events = found ? ready->events & (watched.events | WATCH_UNASKED) : 0;
        if (!events)
            continue;
        wf_loop_enter(loop, "descriptor", (weft_loop_fn)(void (*)(void))watched.fn); /* a name for reports */
        watched.fn(watched.fd, events, watched.arg);
        wf_loop_leave(loop);
        return true;
    }
    return false;
}

void wf_watch_close(weft_loop *loop) {
    wf_watch_leave(loop);
    wf_lock_take(&loop->lock);
    struct wf_watches *watches = wf_load_relaxed(&loop->watches);
    wf_store_relaxed(&loop->watches, NULL);
    wf_lock_drop(&loop->lock);
    if (!watches)
        return;
    for (uint32_t i = 0; i < watches->slab.chunk_count * WF_SLAB_CHUNK; i++) {
        const struct watched *watched = wf_slab_at(&watches->slab, i);
        if (watched->slot.is_used)
            wf_os_close(watched->own_fd);
    }
    wf_os_eventfd_close(watches->event_fd);
    wf_os_close(watches->epoll_fd);
    wf_slab_term(&watches->slab);
    wf_os_free(watches->places);
    wf_os_free(watches);
}
