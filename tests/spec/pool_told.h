/* SPDX-License-Identifier: MIT
 *
 * spec/pool_told.h - a pool whose events are written down, and works to try it with.
 *
 *     told_begin((weft_pool_options){.tick = WEFT_MILLISECOND});   // pool; WEFT_WORKERS threads
 *     ... submit, wait ...
 *     CHECK_EQ(count_told(WEFT_POOL_TICK), 3);
 *     told_end();
 *
 * One pool at a time. Public headers only.
 */
#ifndef WF_SPEC_POOL_TOLD_H
#define WF_SPEC_POOL_TOLD_H

#include "support/run.h"
#include "weft/pool.h"

enum { TOLD_MAX = 8192, ANY_KIND = -1 };

struct told {
    weft_pool_event event;
    weft_result result;
    bool has_result;
    weft_time when;
};

static weft_pool *pool;
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static struct told told[TOLD_MAX]; /* under the lock while the pool is there */
static int told_count;

/* How the handler is to fail, and at what. */
enum failure { GOES_WELL, RETURNS_ERROR, PANICS, EXITS };
static enum failure failure;
static int failing_kind = ANY_KIND;

/* What works have done, and whether they may end. */
static atomic_int runs;
static atomic_int may_end;

static inline int note_event(const weft_pool_event *event, void *arg) {
    CHECK(arg == &told_lock);
    CHECK(event->pool != NULL);
    pthread_mutex_lock(&told_lock);
    CHECK(told_count < TOLD_MAX);
    struct told *entry = &told[told_count++];
    *entry = (struct told){.event = *event, .has_result = event->result != NULL, .when = weft_now()};
    if (event->result)
        entry->result = *event->result;
    pthread_mutex_unlock(&told_lock);
    if (failing_kind != ANY_KIND && event->kind != (weft_pool_event_kind)failing_kind)
        return 1;
    if (failure == PANICS)
        weft_panic("a handler that panics at %s", weft_pool_event_name(event->kind));
    if (failure == EXITS)
        weft_exit(NULL);
    return failure == RETURNS_ERROR ? -EIO : 1;
}

static inline int count_told(weft_pool_event_kind kind) {
    int count = 0;
    pthread_mutex_lock(&told_lock);
    for (int i = 0; i < told_count; i++)
        count += told[i].event.kind == kind;
    pthread_mutex_unlock(&told_lock);
    return count;
}

/* The nth of them, from 0. */
static inline struct told nth_told(weft_pool_event_kind kind, int n) {
    struct told found = {.event.kind = WEFT_POOL_EVENT_KINDS};
    pthread_mutex_lock(&told_lock);
    for (int i = 0; i < told_count && found.event.kind != kind; i++)
        if (told[i].event.kind == kind && n-- == 0)
            found = told[i];
    pthread_mutex_unlock(&told_lock);
    CHECK_EQ(found.event.kind, kind);
    return found;
}

static inline void told_begin(weft_pool_options options) {
    told_count = 0;
    atomic_store(&runs, 0);
    atomic_store(&may_end, 0);
    options.threads = wf_test_workers();
    options.grace = options.grace ? options.grace : PATIENCE_NS; /* nobody is given up for being slow */
    options.handler = options.handler ? options.handler : note_event;
    options.handler_arg = &told_lock;
    CHECK_EQ(weft_pool_new(&pool, &options), 0);
}

/* From here on nothing is told any more. */
static inline void told_end(void) {
    weft_pool_free(pool);
    failure = GOES_WELL;
    failing_kind = ANY_KIND;
}

static inline void wait_idle(void) {
    CHECK_EQ(weft_pool_wait(pool, weft_after(PATIENCE_NS)), 0);
}

static inline weft_pool_stats pool_stats(void) {
    weft_pool_stats stats;
    CHECK_EQ(weft_pool_get_stats(pool, &stats), 0);
    return stats;
}

/* Its result stays until a work begins the next generation. */
static inline weft_work submit_stored(weft_work_options options, weft_work_fn fn, void *arg) {
    weft_work work;
    options.store_result = true;
    CHECK_EQ(weft_pool_submit_with(pool, &work, &options, fn, arg), 0);
    return work;
}

static inline weft_result result_of(weft_work work) {
    weft_result result;
    CHECK_EQ(weft_pool_wait_work(pool, work, &result, weft_after(PATIENCE_NS)), 0);
    return result;
}

/* Works. */
static inline int end_at_once(void *code) {
    atomic_fetch_add(&runs, 1);
    return code ? *(int *)code : 0;
}

/* Without waiting for anything that could be cut short. */
static inline int until_stopped(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    WAIT_UNTIL(weft_work_stop_point(NULL, NULL));
    return 0;
}

static inline int until_told(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    WAIT_UNTIL(atomic_load(&may_end));
    return 0;
}

/* A wait of weft that nothing ends but a stop by force. */
static inline int wait_for_ever(void *arg) {
    (void)arg;
    atomic_fetch_add(&runs, 1);
    return weft_sleep(WEFT_NEVER);
}

/* Nobody else begins until may_end. One by one: there may be room for one only. */
static inline void occupy_threads(void) {
    atomic_store(&runs, 0);
    for (unsigned i = 0; i < wf_test_workers(); i++) {
        CHECK_EQ(weft_pool_submit_with(pool, NULL, &(weft_work_options){.on_thread_stack = true}, until_told, NULL), 0);
        WAIT_UNTIL(atomic_load(&runs) == (int)i + 1);
    }
}

#endif
