/* SPDX-License-Identifier: MIT
 *
 * io/table.c - the table of descriptors: opening, using, closing. Model: io/fd.h.
 *
 * Records come in blocks of BLOCK_SIZE, which stay; a weft_fd leads to its record by two loads and no lock. Opening and closing
 * take the lock of the table for the free list.
 */
#include <errno.h>

#include "base/assert.h"
#include "base/point.h"
#include "io/fd.h"
#include "os/memory.h"
#include "os/thread.h"
#include "weft/thread.h"

/* 2^24 records in all: what an index has room for. The first block is there from the start, so that a program with few
 * descriptors needs none of the others. Models have smaller ones. */
#ifndef WF_FD_INDEX_BITS
#define WF_FD_INDEX_BITS 24
#define WF_FD_BLOCK_BITS 9
#endif
enum { BLOCK_BITS = WF_FD_BLOCK_BITS, BLOCK_SIZE = 1 << BLOCK_BITS, BLOCKS = 1 << (WF_FD_INDEX_BITS - BLOCK_BITS) };

/* Mutants: one wrong order or step each; tests/model/model_fd.c has to find them all. */
#ifdef WF_MUTANT_FD_RELAXED_OPEN
#define FD_STORE_OPEN wf_store_relaxed
#else
#define FD_STORE_OPEN wf_store_release
#endif
#ifdef WF_MUTANT_FD_RELAXED_GET
#define FD_CAS_GET wf_cas_relaxed
#else
#define FD_CAS_GET wf_cas_acquire
#endif
#ifdef WF_MUTANT_FD_RELAXED_PUT
#define FD_SUB_PUT wf_fetch_sub_relaxed
#else
#define FD_SUB_PUT wf_fetch_sub_acq_rel
#endif
#ifdef WF_MUTANT_FD_RELAXED_COUNT
#define FD_STORE_COUNT wf_store_relaxed
#else
#define FD_STORE_COUNT wf_store_release
#endif

/* A table for the process, since descriptors are the process's. */
static struct wf_lock fds_lock;
static struct wf_fd *first_free_fd;   /* under fds_lock */
static _Atomic uint32_t record_count; /* written under fds_lock */
static struct wf_fd first_block[BLOCK_SIZE];
static _Atomic(struct wf_fd *) fd_blocks[BLOCKS];

static struct wf_fd *record_take(int *error);
static struct wf_fd *record_make_locked(int *error);
static void record_give(struct wf_fd *record);
static int close_or_release(weft_fd fd, bool is_release);

static struct wf_fd *record_at(uint32_t index) {
    struct wf_fd *block = index < BLOCK_SIZE ? first_block : wf_load_acquire(&fd_blocks[index >> BLOCK_BITS]); /* A */
    WF_ASSERT(block);
    return &block[index & (BLOCK_SIZE - 1)];
}

uint32_t wf_fds_count(void) {
    return wf_load_acquire(&record_count); /* pairs with record_make_locked */
}

struct wf_fd *wf_fds_at(uint32_t index) {
    return record_at(index);
}

int wf_fd_open(weft_fd *out, int number, enum wf_os_kind kind, unsigned flags) {
    int error = 0;
    struct wf_fd *record = record_take(&error);
    if (!record)
        return error;
    record->number = number;
    record->kind = (uint8_t)kind;
    record->is_kept = flags & WF_FD_KEPT;
    record->was_blocking = flags & WF_FD_WAS_BLOCKING;
    record->is_fifo = flags & WF_FD_FIFO;
    record->can_drain = kind == WF_OS_TCP;
    wf_store_relaxed(&record->news, 0);
    uint64_t word = wf_load_relaxed(&record->word) & ~(uint64_t)WF_FD_CLOSED;
    FD_STORE_OPEN(&record->word, word); /* pairs with wf_fd_get */
    *out = wf_fd_id(record);
    return 0;
}

struct wf_fd *wf_fd_get(weft_fd fd) {
    uint32_t index = (uint32_t)fd.bits - 1;
    if (WF_UNLIKELY(index >= wf_fds_count()))
        return NULL;
    struct wf_fd *record = record_at(index);
    uint64_t word = wf_load_relaxed(&record->word);
    do {
#ifdef WF_MUTANT_FD_GET_ANY
        fd.bits = (uint32_t)fd.bits | word >> 32 << 32;
#endif
        if (WF_UNLIKELY((word ^ fd.bits) >> 32 || (word & WF_FD_CLOSED)))
            return NULL;
        WF_ASSERT((word & WF_FD_USERS) < WF_FD_USERS);
    } while (!FD_CAS_GET(&record->word, &word, word + 1)); /* pairs with wf_fd_open, and with the last put */
    return record;
}

void wf_fd_put(struct wf_fd *record) {
    uint64_t word = FD_SUB_PUT(&record->word, 1); /* with itself: what users did comes before the end */
#ifdef WF_MUTANT_FD_PUT_WITHOUT_END
    return;
#endif
    if (WF_UNLIKELY((word & (WF_FD_CLOSED | WF_FD_USERS)) == (WF_FD_CLOSED | 1)))
        wf_fd_end(record);
}

int weft_close(weft_fd fd) {
    return close_or_release(fd, false);
}

int weft_release(weft_fd fd) {
    return close_or_release(fd, true);
}

int weft_fd_number(weft_fd fd) {
    struct wf_fd *record = wf_fd_get(fd);
    if (!record)
        return -EBADF;
    int number = record->number;
    wf_fd_put(record);
    return number;
}

/* From here on nobody gets it, and those who wait learn of it. Whoever is the last to use it ends it; that may be us. */
static int close_or_release(weft_fd fd, bool is_release) {
    struct wf_waiter waiter = {0};
    struct wf_fd *record = wf_fd_get(fd);
    if (!record)
        return -EBADF;
#ifdef WF_MUTANT_FD_CLOSE_BY_STORE
    uint64_t word = wf_load_acquire(&record->word);
    wf_store_release(&record->word, word | WF_FD_CLOSED);
#else
    uint64_t word = wf_fetch_or_acq_rel(&record->word, WF_FD_CLOSED); /* with wf_fd_put */
#endif
    if (word & WF_FD_CLOSED) { /* somebody else, between our get and here */
        wf_fd_put(record);
        return -EBADF;
    }
    int number = record->number;
    if (is_release)
        record->is_kept = true; /* read by whoever ends it, which is not before we have put it */
#ifndef WF_MUTANT_FD_CLOSE_UNLOCKED
    wf_lock_take(&record->lock);
#endif
    struct wf_waiter *readers = wf_wait_take_all_locked(&record->waiting[WF_IO_READ], -EBADF, NULL);
    struct wf_waiter *writers = wf_wait_take_all_locked(&record->waiting[WF_IO_WRITE], -EBADF, NULL);
#ifndef WF_MUTANT_FD_CLOSE_UNLOCKED
    wf_lock_drop(&record->lock);
#endif
    wf_wait_wake_chain(readers);
    wf_wait_wake_chain(writers);

    WF_POINT("fd.before_close_wait");
    wf_lock_take(&record->lock);
    int error;
    if ((FD_SUB_PUT(&record->word, 1) & WF_FD_USERS) == 1) { /* as in wf_fd_put */
        wf_lock_drop(&record->lock);
        bool may_block = record->kind == WF_OS_FILE; /* what was written may have to go to a disk far away */
        if (may_block)
            weft_blocking_begin();
        error = wf_fd_end(record);
        if (may_block)
            weft_blocking_end();
    } else {
#ifdef WF_MUTANT_FD_CLOSE_AT_ONCE
        wf_lock_drop(&record->lock);
        return 0;
#endif
        error = wf_wait_surely_locked(&waiter, &record->lock, &record->closer, "close", false);
    }
    return error || !is_release ? error : number;
}

/* Nobody uses it, nobody waits for it, nobody can get it. */
int wf_fd_end(struct wf_fd *record) {
    int error = 0;
#ifndef WF_MUTANT_FD_END_WATCHED
    wf_fd_unwatch(record);
#endif
    if (record->is_kept && record->was_blocking)
        wf_os_fd_set_blocking(record->number, true);
    else if (!record->is_kept)
        error = wf_os_close_checked(record->number);
    wf_lock_take(&record->lock);
    struct wf_waiter *closer = wf_wait_take_first_locked(&record->closer);
    if (closer)
        closer->status = error;
    /* The next generation already, and CLOSED until it is opened again. */
    uint64_t generation = (wf_load_relaxed(&record->word) >> 32) + 1;
#ifdef WF_MUTANT_FD_SAME_GENERATION
    generation--;
#endif
    wf_store_relaxed(&record->word, generation << 32 | WF_FD_CLOSED);
    wf_lock_drop(&record->lock);
    record_give(record);
    if (closer)
        wf_wait_wake(closer);
    return error;
}

static struct wf_fd *record_take(int *error) {
    wf_lock_take(&fds_lock);
    struct wf_fd *record = first_free_fd;
    if (record)
        first_free_fd = record->next_free;
    else
        record = record_make_locked(error);
    wf_lock_drop(&fds_lock);
    return record;
}

static struct wf_fd *record_make_locked(int *error) {
    uint32_t index = wf_load_relaxed(&record_count);
    if (index == 0) {
        *error = wf_os_at_fork(wf_fds_after_fork);
        if (*error)
            return NULL;
        wf_os_ignore_broken_pipes();
    }
    if (index == BLOCKS * BLOCK_SIZE) {
        *error = -ENFILE;
        return NULL;
    }
    if (index % BLOCK_SIZE == 0 && index > 0 && !wf_load_relaxed(&fd_blocks[index >> BLOCK_BITS])) {
        struct wf_fd *block = wf_os_alloc_lasting(BLOCK_SIZE * sizeof *block);
        if (!block) {
            *error = -ENOMEM;
            return NULL;
        }
        wf_store_release(&fd_blocks[index >> BLOCK_BITS], block); /* A: pairs with record_at */
    }
    struct wf_fd *record = record_at(index);
    record->index = index;
    wf_store_relaxed(&record->word, WF_FD_CLOSED);
    FD_STORE_COUNT(&record_count, index + 1); /* pairs with wf_fds_count */
    return record;
}

static void record_give(struct wf_fd *record) {
    wf_lock_take(&fds_lock);
    record->next_free = first_free_fd;
    first_free_fd = record;
    wf_lock_drop(&fds_lock);
}

void wf_fds_after_fork(void) {
    wf_lock_init(&fds_lock);
    wf_keeper_after_fork();
    wf_fds_unlock_after_fork();
    for (uint32_t i = 0, count = wf_fds_count(); i < count; i++) {
        struct wf_fd *record = record_at(i);
        uint64_t word = wf_load_relaxed(&record->word);
        wf_lock_init(&record->lock);
        record->waiting[WF_IO_READ] = record->waiting[WF_IO_WRITE] = NULL;
        record->closer = NULL;
        record->sentry = (struct wf_sentry){0};
        record->is_watched = false;
        wf_store_relaxed(&record->news, 0);
        wf_store_relaxed(&record->word, word & ~(uint64_t)WF_FD_USERS);
    }
}
