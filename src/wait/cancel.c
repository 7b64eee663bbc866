/* SPDX-License-Identifier: MIT
 *
 * wait/cancel.c - the tree of regions. Rules and lock order: wait/cancel.h.
 *
 * The walk goes down with the locks of the regions on the way held, so that none of them vanishes meanwhile; its depth is
 * that of the tree, a frame of some 60 bytes a level.
 */
#include "wait/cancel.h"

#include <string.h>

#include "base/assert.h"
#include "base/point.h"
#include "os/report.h"
#include "wait/wait.h"

static void fire_locked(struct wf_cancel *cancel, int reason, const char *text);

void wf_cancel_init(struct wf_cancel *cancel, struct wf_cancel *parent) {
    memset(cancel, 0, sizeof *cancel);
    cancel->parent = parent;
    cancel->deadline = parent ? parent->deadline : WEFT_NEVER;
    wf_list_init(&cancel->sibling);
    wf_list_init(&cancel->children);
    wf_list_init(&cancel->members);
    if (!parent)
        return;
    wf_lock_take(&parent->lock);
    wf_list_append(&parent->children, &cancel->sibling);
    if (wf_cancel_is_fired(parent))
        fire_locked(cancel, parent->reason, parent->text);
    wf_lock_drop(&parent->lock);
}

void wf_cancel_term(struct wf_cancel *cancel) {
    WF_ASSERT(wf_list_is_empty(&cancel->children));
    WF_ASSERT(wf_list_is_empty(&cancel->members));
    if (cancel->parent) {
        wf_lock_take(&cancel->parent->lock);
        wf_list_remove(&cancel->sibling);
        wf_lock_drop(&cancel->parent->lock);
    }
    wf_lock_take(&cancel->lock); /* whoever fires it has let go */
    wf_lock_drop(&cancel->lock);
}

bool wf_cancel_fire(struct wf_cancel *cancel, int reason, const char *text) {
    wf_lock_take(&cancel->lock);
    bool is_first = !wf_cancel_is_fired(cancel);
    if (is_first)
        fire_locked(cancel, reason, text ? text : "");
    wf_lock_drop(&cancel->lock);
    return is_first;
}

static void fire_locked(struct wf_cancel *cancel, int reason, const char *text) {
    cancel->reason = reason;
    strncpy(cancel->text, text, sizeof cancel->text - 1);
    wf_store_seq_cst(&cancel->is_cancelled, 1); /* D: pairs with C in wait/wait.c */
    WF_POINT("cancel.after_flag");
    /* What lies below first: a fiber in there is a member here too, and finds its own region cancelled when it wakes. */
    for (struct wf_list *node = cancel->children.next; node != &cancel->children; node = node->next) {
        struct wf_cancel *child = WF_CONTAINER(node, struct wf_cancel, sibling);
        wf_lock_take(&child->lock);
        if (!wf_cancel_is_fired(child))
            fire_locked(child, reason, text);
        wf_lock_drop(&child->lock);
    }
    for (struct wf_list *node = cancel->members.next; node != &cancel->members; node = node->next) {
        struct wf_member *member = WF_CONTAINER(node, struct wf_member, node);
        wf_wait_cancel(member->fibers, member->fiber);
    }
}

void wf_cancel_enter(struct wf_cancel *cancel, struct wf_member *member) {
    struct wf_fiber_worker *worker = wf_worker_self();
    struct wf_stack *stack = wf_fiber_stack(wf_worker_fiber(worker));
    member->fiber = wf_worker_fiber(worker);
    member->fibers = worker->fibers;
    member->outer = stack->cancel;
    wf_lock_take(&cancel->lock);
    wf_list_append(&cancel->members, &member->node);
    wf_lock_drop(&cancel->lock);
    stack->cancel = cancel;
    wf_stack_set_shields(stack, stack->shields);
}

void wf_cancel_leave(struct wf_member *member) {
    struct wf_stack *stack = wf_fiber_stack(member->fiber);
    struct wf_cancel *cancel = stack->cancel;
    wf_lock_take(&cancel->lock);
    wf_list_remove(&member->node);
    wf_lock_drop(&cancel->lock);
    stack->cancel = member->outer;
    wf_stack_set_shields(stack, stack->shields);
}

void wf_cancel_shield(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return; /* a plain thread cannot be cancelled at all */
    struct wf_stack *stack = wf_fiber_stack(fiber);
    wf_stack_set_shields(stack, stack->shields + 1);
}

void wf_cancel_unshield(void) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return;
    struct wf_stack *stack = wf_fiber_stack(fiber);
    if (stack->shields == 0)
        wf_fatal("weft_unshield without a weft_shield before it");
    wf_stack_set_shields(stack, stack->shields - 1);
}
