/* SPDX-License-Identifier: MIT
 *
 * queue/mailbox.h - many to one: any thread leaves a task for one owner, who takes all of them at once.
 *
 * For what only one processor, loop or bound thread may run. The word is the top of a stack linked through task.next:
 *
 *     NULL --push t0--> t0 --push t1--> t1,t0 --take--> NULL     and the owner turns t1,t0 round into t0,t1
 *
 * Invariants
 *   - Tasks are pushed one by one and taken all at once, never popped singly: the stack is free of ABA.
 *   - A task's next belongs to the pusher until its compare and swap, then to the mailbox, then to the owner.
 *   - A push touches the mailbox by its last compare and swap and not afterwards, so the owner may free it after it has
 *     taken the task that says so.
 *   - Tasks of one pusher come out in the order it pushed them.
 *
 * Pairs: A  push (release)   B  take (acquire): task and link are visible. Pushes are read-modify-writes, so a take
 * that reads the last one has synchronised with all of them.
 *
 * All zero is an empty mailbox.
 */
#ifndef WF_QUEUE_MAILBOX_H
#define WF_QUEUE_MAILBOX_H

#include "base/atomic.h"
#include "base/task.h"

struct wf_mailbox {
    _Atomic(struct wf_task *) top; /* any thread, by read-modify-write only */
};

void wf_mailbox_init(struct wf_mailbox *mailbox);

/* Leaves a task. Returns true when the mailbox was empty: then the owner may be about to sleep and has to be woken (see
 * queue/idle.h, wf_idle_take); otherwise whoever made it non-empty has seen to that. */
bool wf_mailbox_push_any(struct wf_mailbox *mailbox, struct wf_task *task);

/* Moves all tasks to the end of *out, oldest first. Returns how many. */
size_t wf_mailbox_take_owner(struct wf_mailbox *mailbox, struct wf_chain *out);

/* As a park re-check it needs the fences of queue/idle.h on both sides. */
static inline bool wf_mailbox_is_empty_any(struct wf_mailbox *mailbox) {
    return wf_load_relaxed(&mailbox->top) == NULL;
}

#endif
