/* SPDX-License-Identifier: MIT
 *
 * queue/deque.h - work-stealing deque after Chase and Lev, growing without bound.
 *
 *           top                  bottom
 *     . . . [t0][t1][t2][t3][t4] . . . .        slot of index i: i modulo the capacity of the array in force
 *           ^                    ^
 *           steal                push and pop
 *
 * One owner pushes and pops at the bottom, newest first; any other thread steals the oldest at the top. For divide and
 * conquer only: newest first is what keeps its working set small and its stack shallow, and what would starve fibers
 * (those use queue/ring.h).
 *
 * Who writes what
 *   top      anybody, by compare and swap from t to t + 1: that *is* taking the task at t. Never goes down
 *   bottom   owner only
 *   array    owner only, when the old one is full. Old arrays are kept until wf_deque_term, because a thief may still
 *            read one; together they are smaller than the array in force
 *   slot     owner only; atomic, because a thief whose claim is going to fail may read a slot that is filled again
 *
 * Invariants
 *   - bottom - top >= 0, but for the moment in which a pop has announced its claim and may have to take it back.
 *   - Only the last task can be claimed from both ends, and then by compare and swap on top from both.
 *
 * Pairs
 *   A  every store of bottom is a release     B  steal loads bottom (acquire): slots, tasks and array are visible.
 *      "Every": after a pop, a thief may read the bottom that the pop stored, and must still see older pushes
 *   C  pop stores bottom, fence, loads top    D  steal loads top, fence, loads bottom. Both fences are seq_cst: either
 *                                                the thief sees the lowered bottom or the owner sees the raised top
 *   E  grow stores array (release)            F  steal loads array (acquire): the copied slots
 *   G  the claim of top (seq_cst)             H  push and steal load top (acquire): a slot is filled again only after
 *                                                its last reader has read it
 * No other fences: race detectors do not understand them, and with release stores none is needed.
 *
 * The struct owns whole cache lines: allocate it with wf_os_alloc_aligned(64, ...).
 */
#ifndef WF_QUEUE_DEQUE_H
#define WF_QUEUE_DEQUE_H

#include "base/atomic.h"
#include "base/task.h"

struct wf_deque_array;

struct wf_deque {
    _Alignas(64) _Atomic int64_t top;
    _Alignas(64) _Atomic int64_t bottom;
    _Atomic(struct wf_deque_array *) array;
};

/* An empty deque. Returns 0 or -ENOMEM. */
int wf_deque_init(struct wf_deque *deque);
/* Frees the arrays. Nobody uses the deque any more; tasks left in it are the caller's to have taken out. */
void wf_deque_term(struct wf_deque *deque);

/* Adds the newest task. Returns 0, or -ENOMEM when it would have had to grow; then nothing has changed. */
int wf_deque_push_owner(struct wf_deque *deque, struct wf_task *task);
/* Takes the newest task; NULL when there is none. */
struct wf_task *wf_deque_pop_owner(struct wf_deque *deque);
/* Takes the oldest task. Returns 1 and *out; 0 when the deque was empty; -1 when another thread took that task first,
 * which means "maybe work" and must not be taken for empty before a sleep. */
int wf_deque_steal_thief(struct wf_deque *deque, struct wf_task **out);

/* Whether there was no task a moment ago. As a park re-check it needs the fences of queue/idle.h on both sides. */
static inline bool wf_deque_is_empty_any(struct wf_deque *deque) {
    int64_t top = wf_load_relaxed(&deque->top);
    return wf_load_relaxed(&deque->bottom) <= top;
}

#endif
