/* SPDX-License-Identifier: MIT
 *
 * support/supplied.h - a runtime with an artificial supply: the smallest thing that is like a pool.
 *
 *     static void control(void) { ... supplied_add(&item) ... }      // on a plain thread, while the runtime runs
 *     run_supplied(&(struct wf_runtime_plan){.wanted = 4}, control);
 *
 * Items wait in a shared list, or in the list of a processor, where its holder puts a few at a time and from which others
 * steal; all of it under one lock. Each becomes a fiber when a worker takes it. Only for suites that are linked with the
 * library's test build, and one such runtime at a time.
 */
#ifndef WF_SUPPORT_SUPPLIED_H
#define WF_SUPPORT_SUPPLIED_H

#include "base/point.h"
#include "runtime/runtime.h"
#include "support/door.h"

struct item {
    struct item *next;
    void (*fn)(struct item *item); /* or NULL */
    atomic_int runs;
};

struct item_list {
    struct item *first;
    struct item *last;
};

/* SUPPLIED_PROCESSORS: as many as any test wants, and those that are on their way out. SUPPLIED_BATCH: usually taken at once. */
enum { SUPPLIED_PROCESSORS = 2048, SUPPLIED_BATCH = 4 };

static struct {
    pthread_mutex_t lock;
    struct item_list shared;
    struct item_list own[SUPPLIED_PROCESSORS];
    atomic_int waiting; /* in all lists */
    atomic_int ended;   /* items whose fibers are about to end */
    atomic_int handed_in;
    atomic_int readies;
    _Atomic(struct wf_engine *) engine;
    weft_chan *stop;
    void (*control)(void);
    int batch; /* how many a worker takes at once; set before it runs */
} supplied = {.lock = PTHREAD_MUTEX_INITIALIZER, .batch = SUPPLIED_BATCH};

static inline void list_append(struct item_list *list, struct item *item) {
    item->next = NULL;
    if (list->last)
        list->last->next = item;
    else
        list->first = item;
    list->last = item;
}

static inline struct item *list_take(struct item_list *list) {
    struct item *item = list->first;
    if (item) {
        list->first = item->next;
        if (!list->first)
            list->last = NULL;
    }
    return item;
}

/* From any thread. */
static inline void supplied_add(struct item *item) {
    pthread_mutex_lock(&supplied.lock);
    list_append(&supplied.shared, item);
    atomic_fetch_add_explicit(&supplied.waiting, 1, memory_order_relaxed);
    pthread_mutex_unlock(&supplied.lock);
    wf_engine_notify_any(atomic_load(&supplied.engine));
}

static inline void *supplied_run_item(void *opaque) {
    struct item *item = opaque;
    void (*fn)(struct item *) = item->fn;
    atomic_fetch_add(&item->runs, 1); /* without a function, the last touch of it */
    if (fn)
        fn(item);
    atomic_fetch_add(&supplied.ended, 1);
    return NULL;
}

static inline struct item *supplied_take(struct wf_processor *processor, bool *has_batch) {
    struct item_list *own = &supplied.own[processor->index];
    struct item *item = list_take(own);
    if (item)
        return item;
    item = list_take(&supplied.shared);
    struct item *more;
    for (int i = 1; item && i < supplied.batch && (more = list_take(&supplied.shared)); i++) {
        list_append(own, more);
        *has_batch = true;
    }
    for (uint32_t i = 0, limit = wf_engine_limit(processor->engine); i < limit && !item; i++)
        item = list_take(&supplied.own[i]);
    return item;
}

static inline struct wf_task *supplied_take_owner(struct wf_worker *worker) {
    bool has_batch = false;
    CHECK(worker->processor != NULL);
    CHECK(worker->engine->supply_owner == &supplied);
    if (atomic_load_explicit(&supplied.waiting, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&supplied.lock);
    struct item *item = supplied_take(worker->processor, &has_batch);
    if (item)
        atomic_fetch_sub_explicit(&supplied.waiting, 1, memory_order_relaxed);
    pthread_mutex_unlock(&supplied.lock);
    if (has_batch && !worker->is_searching)
        wf_engine_notify_any(worker->engine);
    if (!item)
        return NULL;
    int error = 0;
    struct wf_fiber *fiber =
        wf_fiber_make_owner((struct wf_fiber_worker *)worker, supplied_run_item, item, WF_FLAG_DETACHED, &error);
    CHECK(fiber != NULL);
    return &fiber->task;
}

static inline bool supplied_has_any(struct wf_engine *engine) {
    (void)engine;
    return atomic_load_explicit(&supplied.waiting, memory_order_relaxed) > 0;
}

static inline void supplied_processor_leaves(struct wf_processor *processor) {
    struct item *item;
    CHECK_GE(processor->index, processor->engine->count);
    pthread_mutex_lock(&supplied.lock);
    while ((item = list_take(&supplied.own[processor->index]))) {
        list_append(&supplied.shared, item);
        atomic_fetch_add(&supplied.handed_in, 1);
    }
    pthread_mutex_unlock(&supplied.lock);
}

static const struct wf_supply supplied_supply = {
    .take_owner = supplied_take_owner,
    .has_any = supplied_has_any,
    .processor_leaves = supplied_processor_leaves,
};

static inline void supplied_ready(void *arg, struct wf_fibers *fibers) {
    CHECK(arg == &supplied);
    atomic_store(&supplied.engine, &fibers->engine);
    atomic_fetch_add(&supplied.readies, 1);
}

static inline int supplied_first(void *arg) {
    char nothing;
    CHECK_EQ(atomic_load(&supplied.readies), 1);
    CHECK_EQ(weft_chan_recv(supplied.stop, &nothing, WEFT_NEVER), -EPIPE);
    return (int)(intptr_t)arg;
}

static inline void *supplied_control(void *arg) {
    COMPUTE_UNTIL(atomic_load(&supplied.readies));
    supplied.control();
    CHECK_EQ(weft_chan_close(supplied.stop), 0);
    return arg;
}

/* The plan without its supply and what belongs to that. Returns what wf_runtime_run does, which is 7 if all went well. */
static inline int run_supplied_with(const weft_options *options, struct wf_runtime_plan plan, void (*control)(void)) {
    plan.supply = &supplied_supply;
    plan.supply_owner = &supplied;
    plan.ready = supplied_ready;
    plan.arg = &supplied;
    atomic_store(&supplied.ended, 0);
    atomic_store(&supplied.handed_in, 0);
    atomic_store(&supplied.readies, 0);
    CHECK_EQ(weft_chan_new(&supplied.stop, 1, 0), 0);
    supplied.control = control;
    pthread_t thread = thread_start(supplied_control, NULL);
    int outcome = wf_runtime_run(options, &plan, supplied_first, (void *)7);
    thread_join(thread);
    weft_chan_free(supplied.stop);
    CHECK_EQ(atomic_load(&supplied.readies), 1);
    CHECK_EQ(atomic_load(&supplied.waiting), 0);
    return outcome;
}

static inline void run_supplied(struct wf_runtime_plan plan, void (*control)(void)) {
    CHECK_EQ(run_supplied_with(&(weft_options){.workers = 1}, plan, control), 7);
}

static inline void supplied_wait(int ended) {
    COMPUTE_UNTIL(atomic_load(&supplied.ended) == ended);
}

#endif
