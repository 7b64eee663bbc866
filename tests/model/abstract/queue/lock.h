/* SPDX-License-Identifier: MIT
 *
 * tests/model/abstract/queue/lock.h - a lock in one step, in the place of src/queue/lock.h.
 *
 * The real lock has a model of its own (model_lock.c). Where a larger model contains it, its inner steps only multiply
 * executions; found first on the include path, this header makes taking and dropping one visible operation each, with
 * the guarantees that model_lock.c checks: one holder at a time, and everything before a drop visible after the next
 * take.
 */
#ifndef WF_QUEUE_LOCK_H
#define WF_QUEUE_LOCK_H

#include "base/assert.h"
#include "base/atomic.h"
#include "model.h"

struct wf_lock {
    int number; /* 0: not used yet; the explorer's own */
};

static inline void wf_lock_init(struct wf_lock *lock) {
    (void)lock;
}

static inline void wf_lock_take(struct wf_lock *lock) {
    model_lock_take(lock);
}

static inline void wf_lock_drop(struct wf_lock *lock) {
    model_lock_drop(lock);
}

#endif
