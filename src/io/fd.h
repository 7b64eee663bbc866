/* SPDX-License-Identifier: MIT
 *
 * io/fd.h - descriptors that fibers and threads wait for.
 *
 * A *descriptor* here is a record in one table of the process; a weft_fd is its place and its generation. Records are never
 * given back to the system while the process lives, so that whoever has an old weft_fd, an old event of the poller or a place
 * in a queue can always look, and see by the generation that it is too late.
 *
 * One word says whether it is open and who uses it:
 *
 *     free --open--> OPEN, n users --close--> CLOSED, n users --the last one leaves--> closed in the kernel --> free, next
 *                      `-- get: n + 1, put: n - 1 --'                                                          generation
 *
 * A user is somebody between get and put: inside a system call that does not block. Nobody is one while parked; whoever wakes
 * up gets the descriptor again by its weft_fd, and so learns of a close. The last user gives the number back to the kernel, and
 * the closer waits for that: so no call ever meets a number that is somebody else's by then.
 *
 * A second word, news, counts what the poller has told. Whoever tries a system call has read the word before; if the call
 * would have to wait, it waits, under the lock, unless the count has moved since: then it tries again. So nothing that comes
 * after the try is missed, however many try at once. Below the count:
 *
 *     DRAINED   the last read left nothing, and nothing came since: the next one can wait without trying. Set by a compare and
 *               swap on the word as it was before that read, so any news since makes it fail; taken off by news
 *     SPENT     the other side has gone, or something has failed: nothing counts as drained any more
 *
 * Lock order: a descriptor's lock, then those of sentries and timers. Two descriptors' locks only by weft_select.
 */
#ifndef WF_IO_FD_H
#define WF_IO_FD_H

#include "os/io.h"
#include "sched/sentry.h"
#include "wait/wait.h"
#include "weft/io.h"

enum wf_io_way { WF_IO_READ, WF_IO_WRITE, WF_IO_WAYS };

enum {
    WF_FD_CLOSED = 1 << 24, /* below it: how many use it; from bit 32 on: the generation */
    WF_FD_USERS = WF_FD_CLOSED - 1,
};

enum { WF_NEWS_DRAINED = 1, WF_NEWS_SPENT = 2, WF_NEWS_ONE = 4 };

struct wf_fd {
    _Atomic uint64_t word; /* any thread: generation, CLOSED, users */
    _Atomic uint32_t news; /* counted under lock; DRAINED by any user */
    uint32_t index;        /* constant */
    int number;            /* constant while open; so are the next five */
    uint8_t kind;          /* enum wf_os_kind */
    bool is_kept;          /* closing leaves the number open */
    bool was_blocking;     /* before it was adopted */
    bool is_fifo;          /* has a name: what looks like the end may be the time before the first writer */
    bool can_drain;        /* a read that fills less than it could has read everything */
    struct wf_lock lock;
    struct wf_waiter *waiting[WF_IO_WAYS]; /* under lock */
    struct wf_waiter *closer;              /* under lock: who waits for the users */
    bool is_watched;                       /* under lock: the sentry stands at it */
    struct wf_sentry sentry;               /* added under lock; removed by whoever ends it, or with its engine */
    struct wf_fd *next_free;               /* under the table's lock */
};

/* A new one for that number. Returns 0; -ENOMEM, -ENFILE: the number is the caller's as before. */
int wf_fd_open(weft_fd *out, int number, enum wf_os_kind kind, unsigned flags);
enum { WF_FD_KEPT = 1, WF_FD_WAS_BLOCKING = 2, WF_FD_FIFO = 4 };
/* The descriptor, for a moment: NULL when it is not open (any more). */
struct wf_fd *wf_fd_get(weft_fd fd);
void wf_fd_put(struct wf_fd *record);
/* Of one that the caller has got. */
static inline weft_fd wf_fd_id(const struct wf_fd *record) {
    return (weft_fd){(wf_load_relaxed(&((struct wf_fd *)record)->word) >> 32 << 32) | (record->index + 1)};
}

/* The start of a read: false when the last one left nothing and nothing came since. *before is for what comes next. */
static inline bool wf_fd_try_read(struct wf_fd *record, uint32_t *before) {
    *before = wf_load_acquire(&record->news); /* so that the system call comes after; with nothing */
    return (*before & (WF_NEWS_DRAINED | WF_NEWS_SPENT)) != WF_NEWS_DRAINED;
}
/* A read of one that can_drain has filled less than it could, or there was nothing. */
static inline void wf_fd_drained(struct wf_fd *record, uint32_t before) {
#ifdef WF_MUTANT_FD_DRAINED_BY_STORE
    wf_store_relaxed(&record->news, before | WF_NEWS_DRAINED);
    return;
#endif
    wf_cas_relaxed(&record->news, &before, before | WF_NEWS_DRAINED);
}

/* Takes what has been written off the front of the parts. */
static inline void wf_parts_advance(struct iovec **parts, int *count, size_t written) {
    for (; *count > 0 && written >= (*parts)->iov_len; ++*parts, --*count)
        written -= (*parts)->iov_len;
    if (*count > 0) {
        (*parts)->iov_base = (char *)(*parts)->iov_base + written;
        (*parts)->iov_len -= written;
    }
}

/* Waits for news since before was read. The caller has got the descriptor; it is put here, whatever comes. 0: try again. */
int wf_fd_wait(struct wf_fd *record, enum wf_io_way way, uint32_t before, int64_t deadline_ns, const char *reason);

/* Waits until a read is worth trying; without a system call where the last one is known to have left nothing. At the
 * deadline something may have come that was not told yet. */
int wf_fd_rest(weft_fd fd, int64_t deadline_ns);

/* Whoever waits by weft_select: see wf_case_kind. */
weft_case wf_fd_case(weft_fd fd, enum wf_io_way way);

/* An engine ends, and its workers have: its sentries go, and who waits for them looks for another one. */
void wf_fds_abandon(struct wf_engine *engine);
/* Any thread: whether somebody is parked on a descriptor. */
bool wf_fds_are_awaited(void);
/* In the child of a fork: descriptors stay, those who used them and waited for them do not exist. */
void wf_fds_after_fork(void);

/* io/keeper.c: sentries that a thread of ours tells, for descriptors that plain threads wait for. NULL: no thread, or no
 * memory, with the error. */
struct wf_sentries *wf_keeper(int *error);
/* Whether there is one; whether it has taken somebody out of a queue and perhaps not woken it yet. */
bool wf_keeper_is_there(void);
bool wf_keeper_is_telling(void);
void wf_keeper_after_fork(void);

/* Between io/table.c and io/ready.c. end: of one that is closed and has lost its last user; returns what the kernel says. */
int wf_fd_end(struct wf_fd *record);
void wf_fd_unwatch(struct wf_fd *record);
void wf_fds_unlock_after_fork(void);

/* All records there have ever been, by index. */
uint32_t wf_fds_count(void);
struct wf_fd *wf_fds_at(uint32_t index);

#endif
