/* SPDX-License-Identifier: MIT
 *
 * wait/select.h - what a thing has to bring so that weft_select can wait for it.
 *
 * One table of functions a kind, and a function that makes a weft_case of it; select itself knows no kinds. The
 * constructors are public (weft_on_receive in weft/chan.h and so on), the table is not.
 *
 * Per select: begin for every case; then, with the locks of all objects held, attempt in the chosen order until one succeeds;
 * if none does, all are linked and waited for, and finish turns what the object left in the node of the winning case into
 * its status. end for every case that was begun, whatever came.
 */
#ifndef WF_WAIT_SELECT_H
#define WF_WAIT_SELECT_H

#include "wait/wait.h"
#include "weft/select.h"

struct wf_case_kind {
    const char *name;
    /* Finds the object and says which lock and which queue are its. False: there is none, and the case counts as ready with
     * the status that was put into it, or never comes if that is 0. */
    bool (*begin)(weft_case *entry, struct wf_lock **lock, struct wf_waiter ***queue);
    /* With the lock: true when it could be done at once, with its status. *wakes: chain of waiters, linked by next, to be
     * woken once the locks are dropped. */
    bool (*attempt)(weft_case *entry, struct wf_waiter **wakes);
    /* NULL, or: with the lock, before the node is linked: what the object wants to find in it. */
    void (*prepare)(weft_case *entry, struct wf_waiter *node);
    /* The object has taken the node out and the wait is over. Without locks. */
    void (*finish)(weft_case *entry, struct wf_waiter *node);
    /* NULL, or: what begin has to give back. Without locks. */
    void (*end)(weft_case *entry);
};

static inline weft_case wf_case_make(const struct wf_case_kind *kind, void *object, uint64_t id, void *value) {
    weft_case entry = {kind, object, id, value, 0};
    return entry;
}

#endif
