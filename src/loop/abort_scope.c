/* SPDX-License-Identifier: MIT
 *
 * loop/abort_scope.c - a scope that a signal cancels: weft_abort_scope.
 *
 * The handler runs wherever the signal is aborted, perhaps while the scope is being closed. So it does not know the scope but
 * a *tie* to it, which is cut, under its lock, before the scope can go: when body and all children have ended, and by
 * a leaver when the fiber leaves in another way.
 *
 * References: the fiber's, until it cuts the tie, and the handler's, until it has run or was taken back.
 */
#include <errno.h>

#include "base/point.h"
#include "loop/abort.h"
#include "os/memory.h"
#include "weft/panic.h"

struct abort_tie {
    struct wf_leaver leaver; /* first */
    struct wf_lock lock;
    _Atomic uint32_t references;
    weft_scope *scope; /* under lock; NULL: cut */
    weft_abort_signal *signal;
    weft_abort_handler handler;
};

/* On the stack of the caller, which waits for it. */
struct abort_body {
    weft_abort_signal *signal;
    weft_scope *scope;
    int (*body)(weft_scope *scope, void *arg);
    void *arg;
    int status;
};

static int tied_body(weft_scope *scope, void *opaque);
static void call_tied_body(void *opaque);
static int tie_make(struct abort_tie **out, weft_abort_signal *signal, weft_scope *scope);
static void tie_fire(weft_abort_signal *signal, void *opaque);
static void tie_cut(struct wf_leaver *leaver);
static void tie_unref(struct abort_tie *tie);

int weft_abort_scope(weft_abort_signal *signal, const weft_scope_options *options,
                     int (*body)(weft_scope *scope, void *arg), void *arg) {
    if (!body)
        return -EINVAL;
    if (!signal)
        return weft_scope_run(options, body, arg);
    struct abort_body call = {.signal = signal, .body = body, .arg = arg};
    int error = wf_fiber_self() ? weft_abort_check(signal) : 0; /* a plain thread is told what is wrong first */
    return error ? error : weft_scope_run(options, tied_body, &call);
}

static int tied_body(weft_scope *scope, void *opaque) {
    struct abort_body *call = opaque;
    struct abort_tie *tie;
    int error = tie_make(&tie, call->signal, scope);
    if (error)
        return error;
    struct wf_stack *stack = wf_fiber_stack(wf_fiber_self());
    wf_leaver_push(stack, &tie->leaver);

    /* With a guarded call of its own, so that what body has deferred is done before we wait for the children. */
    char message[WF_LOOP_MESSAGE];
    call->scope = scope;
    if (weft_try(call_tied_body, call, message, sizeof message) != 0)
        weft_panic("%s", message);
    if (call->status >= 0)
        (void)weft_scope_wait(scope, WEFT_NEVER); /* -ECANCELED: cancelled already, the tie has nothing left to do */

    wf_leaver_remove(stack, &tie->leaver);
    tie_cut(&tie->leaver);
    return call->status;
}

static void call_tied_body(void *opaque) {
    struct abort_body *call = opaque;
    call->status = call->body(call->scope, call->arg);
}

static int tie_make(struct abort_tie **out, weft_abort_signal *signal, weft_scope *scope) {
    struct abort_tie *tie = wf_os_alloc(sizeof *tie);
    if (!tie)
        return -ENOMEM;
    tie->leaver = (struct wf_leaver){.leave = tie_cut, .drop = tie_cut, .is_region = true};
    tie->scope = scope;
    tie->signal = weft_abort_ref(signal);
    wf_store_relaxed(&tie->references, 2);
    int error = weft_abort_on(signal, &tie->handler, tie_fire, tie);
    if (error) {
        weft_abort_unref(signal);
        wf_os_free(tie);
        return error;
    }
    *out = tie;
    return 0;
}

static void tie_fire(weft_abort_signal *signal, void *opaque) {
    struct abort_tie *tie = opaque;
    weft_abort_reason reason;
    (void)weft_abort_get_reason(signal, &reason);
    WF_POINT("abort.before_tie");
    wf_lock_take(&tie->lock);
    if (tie->scope)
        (void)weft_scope_cancel(tie->scope, reason.error, reason.text); /* the first reason stays */
    wf_lock_drop(&tie->lock);
    tie_unref(tie);
}

static void tie_cut(struct wf_leaver *leaver) {
    struct abort_tie *tie = (struct abort_tie *)(void *)leaver;
    wf_lock_take(&tie->lock);
    tie->scope = NULL;
    wf_lock_drop(&tie->lock);
    if (weft_abort_off(tie->signal, tie->handler) == 0)
        tie_unref(tie);
    tie_unref(tie);
}

static void tie_unref(struct abort_tie *tie) {
    if (wf_fetch_sub_acq_rel(&tie->references, 1) > 1) /* with itself: what the other did is done */
        return;
    weft_abort_unref(tie->signal);
    wf_os_free(tie);
}
