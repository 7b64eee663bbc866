/* SPDX-License-Identifier: MIT
 *
 * support/parked.h - waiting until a fiber waits, and running the same body on a fiber and on a plain thread.
 *
 * A fiber that is seen parked stands in the queues of what it waits for already: whoever takes their locks finds it there.
 * So a test that needs somebody waiting spawns it and calls wait_parked, without guessing. Public headers only.
 */
#ifndef WF_SUPPORT_PARKED_H
#define WF_SUPPORT_PARKED_H

#include "support/run.h"

struct parked_search {
    weft_fiber fiber;
    bool is_parked;
};

static inline int parked_visit(const weft_fiber_info *info, void *opaque) {
    struct parked_search *search = opaque;
    if (info->fiber.bits != search->fiber.bits)
        return 0;
    search->is_parked = info->state == WEFT_FIBER_PARKED;
    return 1;
}

static inline bool is_parked(weft_fiber fiber) {
    struct parked_search search = {.fiber = fiber};
    weft_each_fiber(NULL, parked_visit, &search);
    return search.is_parked;
}

static inline void wait_parked(weft_fiber fiber) {
    WAIT_UNTIL(is_parked(fiber));
}

/* Spawns a fiber and waits until it waits for something. */
static inline weft_fiber spawn_parked(weft_fn fn, void *arg) {
    weft_fiber fiber;
    SPAWN(&fiber, fn, arg);
    wait_parked(fiber);
    return fiber;
}

struct on_thread_call {
    weft_fn fn;
    void *arg;
    atomic_int is_done;
    pthread_t thread;
};

static inline void *on_thread_main(void *opaque) {
    struct on_thread_call *call = opaque;
    call->fn(call->arg);
    atomic_store(&call->is_done, 1);
    return NULL;
}

/* A plain thread that a fiber can wait for without holding up its worker. */
static inline void on_thread_start(struct on_thread_call *call, weft_fn fn, void *arg) {
    call->fn = fn;
    call->arg = arg;
    atomic_store(&call->is_done, 0);
    call->thread = thread_start(on_thread_main, call);
}

static inline void on_thread_finish(struct on_thread_call *call) {
    WAIT_UNTIL(atomic_load(&call->is_done));
    thread_join(call->thread);
}

static inline void on_thread(weft_fn fn, void *arg) {
    struct on_thread_call call;
    on_thread_start(&call, fn, arg);
    on_thread_finish(&call);
}

#endif
