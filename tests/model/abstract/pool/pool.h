/* SPDX-License-Identifier: MIT
 *
 * tests/model/abstract/pool/pool.h - a pool of one shard, in the place of src/pool/pool.h.
 *
 * Just what src/pool/fork.c uses. Who is on which processor is the driver's business.
 */
#ifndef WF_POOL_POOL_H
#define WF_POOL_POOL_H

#include "fiber/fiber.h"
#include "pool/fork.h"
#include "queue/deque.h"
#include "wait/wait.h"

enum { WF_ITEM_WORK = 1, WF_ITEM_JOB = 2 };

struct wf_shard {
    struct wf_deque jobs;
};

struct weft_pool {
    _Atomic(struct wf_shard *) shards[1];
};

weft_pool *wf_pool_of_worker(const struct wf_fiber_worker *worker);
void wf_pool_notify(weft_pool *pool);
struct wf_shard *wf_shard_of_owner(weft_pool *pool, struct wf_processor *processor);

static inline struct wf_work *wf_work_of_fiber(const struct wf_fiber *fiber) {
    (void)fiber;
    return NULL;
}

#endif
