/* SPDX-License-Identifier: MIT
 *
 * spec/cancelled.h - a fiber that is cancelled while it waits.
 *
 *     struct cancelled cancelled = {.fn = wait_for_something, .arg = &outcome};
 *     cancelled_run(&cancelled);       // returns when fn has
 */
#ifndef WF_SPEC_CANCELLED_H
#define WF_SPEC_CANCELLED_H

#include "support/parked.h"

struct cancelled {
    weft_fn fn;
    void *arg;
    _Atomic(weft_scope *) scope;
};

static inline void *cancelled_main(void *opaque) {
    struct cancelled *cancelled = opaque;
    weft_scope *scope;
    CHECK_EQ(weft_scope_open(&scope, NULL), 0);
    atomic_store(&cancelled->scope, scope);
    cancelled->fn(cancelled->arg);
    weft_scope_close(scope);
    return NULL;
}

/* On a fiber. fn waits for nothing but what it is to be cancelled in. */
static inline void cancelled_run(struct cancelled *cancelled) {
    weft_fiber fiber = spawn_parked(cancelled_main, cancelled);
    CHECK_EQ(weft_scope_cancel(atomic_load(&cancelled->scope), -ECANCELED, NULL), 0);
    JOIN(fiber, NULL);
}

#endif
