/* SPDX-License-Identifier: MIT
 *
 * unit/io/staged.h - one pair of descriptors under test, and things that happen at a point of the runtime.
 *
 *     at("fd.before_wait", write_one);         // called when somebody comes by there, once
 *     CHECK_EQ(weft_read(ends[0], ...), 1);
 *     leave_stage();                           // waits until that has been done
 */
#ifndef WF_UNIT_IO_STAGED_H
#define WF_UNIT_IO_STAGED_H

#include "base/point.h"
#include "io/fd.h"
#include "support/door.h"
#include "support/io.h"

static const char *_Atomic stage_point;
static void (*_Atomic stage_fn)(void);
static void (*_Atomic stage_script)(const char *name); /* instead: is told of every point */
static atomic_int stage_passed;
static weft_fd ends[2];
static char room[64];

static inline void stage_hook(const char *name) {
    const char *wanted = atomic_load(&stage_point);
    void (*script)(const char *) = atomic_load(&stage_script);
    if (script)
        script(name);
    if (!wanted || strcmp(name, wanted) != 0 || !atomic_compare_exchange_strong(&stage_point, &wanted, NULL))
        return;
    atomic_load (&stage_fn)();
    atomic_store(&stage_passed, 1);
}

/* Before any thread of ours starts. */
__attribute__((constructor(150))) static void stage_open(void) {
    wf_point_hook = stage_hook;
}

static inline void at(const char *name, void (*fn)(void)) {
    atomic_store(&stage_fn, fn);
    atomic_store(&stage_passed, 0);
    atomic_store(&stage_point, name);
}

static inline void leave_stage(void) {
    COMPUTE_UNTIL(atomic_load(&stage_passed));
}

/* The record, by somebody who knows that it stays. */
static inline struct wf_fd *record_of(weft_fd fd) {
    return wf_fds_at((uint32_t)fd.bits - 1);
}

static inline uint32_t news_of(weft_fd fd) {
    return wf_load_relaxed(&record_of(fd)->news) / WF_NEWS_ONE;
}

static inline bool has_waiter(weft_fd fd, enum wf_io_way way) {
    struct wf_fd *record = record_of(fd);
    wf_lock_take(&record->lock);
    bool has = record->waiting[way];
    wf_lock_drop(&record->lock);
    return has;
}

static inline bool has_closer(weft_fd fd) {
    struct wf_fd *record = record_of(fd);
    wf_lock_take(&record->lock);
    bool has = record->closer;
    wf_lock_drop(&record->lock);
    return has;
}

/* A sentry of the keeper stands there, and has told that there is room to write. */
static inline void *wait_briefly(void *opaque) {
    weft_fd fd = *(weft_fd *)opaque;
    CHECK_EQ(weft_wait_readable(fd, weft_after(WEFT_MICROSECOND)), -ETIMEDOUT);
    COMPUTE_UNTIL(news_of(fd) != 0);
    return NULL;
}
static inline void open_watched(enum io_kind kind) {
    io_open(kind, ends);
    on_thread(wait_briefly, &ends[0]);
}

#endif
