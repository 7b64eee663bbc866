/* SPDX-License-Identifier: MIT
 *
 * js/wait.c - waiting: the one way in which calls of JavaScript do it. See struct wf_js_wait in js/host.h.
 *
 * On a go fiber a call steps aside, waits, and has the turn again. Elsewhere, or when it is told to call back, it waits on a fiber
 * of its own, and a callback of the loop tells what came of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "host.h"

static JSValue wait_apart(JSContext *context, struct wf_js_wait *wait);
static void free_told(struct wf_js_wait *wait);
static void link_wait(struct wf_js_wait *wait);
static void unlink_wait(struct wf_js_wait *wait);
static void take_handle(struct wf_js_wait *wait);
static void drop_handle(struct wf_js_wait *wait);
static int wait_in_scope(struct wf_js_wait *wait);
static void *wait_main(void *opaque);
static void settle_wait(void *opaque);
static void tell(struct wf_js_wait *wait, bool has_failed, JSValueConst result);
static int wait_here(struct wf_js_wait *wait);

static JSClassID wait_class; /* of handles, by which a wait can be cancelled */

int wf_js_submit(weft_loop *loop, weft_loop_fn fn, void *arg) {
    int error;
    weft_shield();
    while ((error = weft_loop_submit(loop, fn, arg)) == -ENOMEM)
        (void)weft_sleep(weft_after(WEFT_MILLISECOND));
    weft_unshield();
    return error;
}

JSValue wf_js_throw_end(JSContext *context) {
    JSValue error = JS_NewError(context);
    if (JS_IsException(error))
        return error;
    return wf_engine_throw_end(context, error);
}

JSValue wf_js_perform(JSContext *context, struct wf_js_wait *wait) {
    weft_js *js = wf_js_of(context);
    struct wf_js_fiber *fiber = js->holder;
    wait->js = js;
    take_handle(wait);
    wait->surroundings = wait->has_callback ? wf_engine_surroundings(context) : JS_UNDEFINED;
    if (!fiber || wait->is_promise || wait->has_callback)
        return wait_apart(context, wait);
    wait->fiber = fiber->id;
    fiber->waiting = wait;
    fiber->since = weft_now();
    wf_js_lies_down(wait);
    wait->status = wf_js_step_aside(fiber, wait_here, wait);
    fiber->waiting = NULL;
    drop_handle(wait);
    JSValue result = wait->finish(context, wait);
    free(wait);
    if (!js->has_ended)
        return result;
    if (JS_IsException(result))
        JS_FreeValue(context, JS_GetException(context));
    JS_FreeValue(context, result);
    return wf_js_throw_end(context);
}

/* On the fiber itself, without the turn. */
static int wait_here(struct wf_js_wait *wait) {
    if (wait->is_sure)
        weft_shield();
    bool has_scope = wait->is_sure || !JS_IsUndefined(wait->handle);
    int status = has_scope ? wait_in_scope(wait) : wait->wait(wait);
    if (wait->is_sure)
        weft_unshield();
    wf_js_gets_up(wait);
    return status;
}

/* What comes of it is told by a promise, or to a callback. */
static JSValue wait_apart(JSContext *context, struct wf_js_wait *wait) {
    weft_js *js = wait->js;
    weft_spawn_options options = {
        .name = "wait", .stack_size = wait->stack_size, .runtime = js->holder ? js->home : NULL};
    weft_fiber id;
    JSValue promise = wait->has_callback ? JS_UNDEFINED : JS_NewPromiseCapability(context, wait->settle);
    bool has_promise = !wait->has_callback && !JS_IsException(promise);
    int error = JS_IsException(promise) ? -ENOMEM : wf_js_begins(js);
    if (!error) {
        link_wait(wait);
        wait->is_apart = true;
        wf_js_lies_down(wait);
        error = weft_spawn_with(&id, &options, wait_main, wait);
        if (!error) {
            weft_detach(id);
            wait->fiber = id; /* it is freed with the turn */
            return promise;
        }
        unlink_wait(wait);
        wf_js_gets_up(wait);
        wf_js_ends(js, true);
    }
    wait->status = error;
    drop_handle(wait);
    JSValue nothing = wait->finish(context, wait);
    if (JS_IsException(nothing))
        JS_FreeValue(context, JS_GetException(context));
    JS_FreeValue(context, nothing);
    if (has_promise || wait->has_callback)
        free_told(wait);
    JS_FreeValue(context, promise);
    free(wait);
    return wf_js_throw_errno(context, error, "wait");
}

static void free_told(struct wf_js_wait *wait) {
    JSContext *context = wait->js->context;
    if (wait->has_callback) {
        JS_FreeValue(context, wait->callback);
        JS_FreeValue(context, wait->surroundings);
        return;
    }
    JS_FreeValue(context, wait->settle[0]);
    JS_FreeValue(context, wait->settle[1]);
}

void wf_js_lock_waits(weft_js *js) {
    wf_js_lock(&js->waits_lock);
}

void wf_js_unlock_waits(weft_js *js) {
    wf_js_unlock(&js->waits_lock);
}

static void link_wait(struct wf_js_wait *wait) {
    weft_js *js = wait->js;
    wf_js_lock_waits(js);
    wait->next = js->waits;
    if (js->waits)
        js->waits->previous = wait;
    js->waits = wait;
    wf_js_unlock_waits(js);
}

static void unlink_wait(struct wf_js_wait *wait) {
    weft_js *js = wait->js;
    wf_js_lock_waits(js);
    *(wait->previous ? &wait->previous->next : &js->waits) = wait->next;
    if (wait->next)
        wait->next->previous = wait->previous;
    wf_js_unlock_waits(js);
}

/* Its scope is known from here on, or no more, or it ends at once: whoever cancels all sees one of them. */
static void show_scope(struct wf_js_wait *wait, weft_scope *scope) {
    wf_js_lock_waits(wait->js);
    wait->scope = scope;
    if (scope && (wait->js->has_ended || wait->is_cancelled))
        weft_scope_cancel(scope, -ECANCELED, NULL);
    wf_js_unlock_waits(wait->js);
}

static int wait_in_scope(struct wf_js_wait *wait) {
    weft_scope *scope;
    int status = weft_scope_open(&scope, NULL);
    if (status)
        return status;
    show_scope(wait, scope);
    status = wait->wait(wait);
    show_scope(wait, NULL);
    (void)weft_scope_close(scope);
    return status;
}

static void *wait_main(void *opaque) {
    struct wf_js_wait *wait = opaque;
    weft_loop *loop = weft_loop_ref(wait->js->loop); /* the instance may be gone before submitting is over */
    wait->status = wait_in_scope(wait);
    wf_js_gets_up(wait);
    (void)wf_js_submit(loop, settle_wait, wait); /* else nobody is left who would want to know */
    weft_loop_unref(loop);
    return NULL;
}

static void settle_wait(void *opaque) {
    struct wf_js_wait *wait = opaque;
    weft_js *js = wait->js;
    JSContext *context = js->context;
    unlink_wait(wait);
    wf_js_enter_any(js);
    drop_handle(wait);
    JSValue result = wait->finish(context, wait);
    bool has_failed = JS_IsException(result);
    if (has_failed)
        result = JS_GetException(context);
    if (!js->has_ended)
        tell(wait, has_failed, result);
    JS_FreeValue(context, result);
    free_told(wait);
    bool is_idle = wait->is_idle;
    free(wait);
    wf_js_leave(js);
    wf_js_ends(js, !is_idle);
}

static void tell(struct wf_js_wait *wait, bool has_failed, JSValueConst result) {
    weft_js *js = wait->js;
    if (!wait->has_callback) {
        wf_js_call(js, wait->settle[has_failed], 1, &result);
        return;
    }
    JSValueConst good[] = {JS_NULL, result};
    int count = JS_IsUndefined(result) ? 1 : 2;
    JSValue surroundings = wait->surroundings;
    wait->surroundings = JS_UNDEFINED;
    bool is_good = has_failed ? wf_js_call_in(js, surroundings, wait->callback, 1, &result)
                              : wf_js_call_in(js, surroundings, wait->callback, count, good);
    if (!is_good && !js->has_ended)
        (void)weft_loop_yield_checkpoint(js->loop); /* as timers: what it has put off comes at the next boundary */
}

/* Idle waits keep the loop from now on, too: who frees the instance sleeps in it until they are gone. */
void wf_js_cancel_all(weft_js *js) {
    wf_js_lock_waits(js);
    for (struct wf_js_fiber *fiber = js->fibers; fiber; fiber = fiber->next) {
        if (fiber->scope)
            weft_scope_cancel(fiber->scope, -ECANCELED, NULL);
        if (fiber->waiting && fiber->waiting->scope) /* inside a shield */
            weft_scope_cancel(fiber->waiting->scope, -ECANCELED, NULL);
    }
    for (struct wf_js_wait *wait = js->waits; wait; wait = wait->next) {
        if (wait->is_idle)
            wait->is_idle = wf_js_keep(js) != 0;
        if (wait->scope)
            weft_scope_cancel(wait->scope, -ECANCELED, NULL);
    }
    wf_js_unlock_waits(js);
}

/* ---- Handles: what a wait can be cancelled by ---- */

/* What a handle has whose wait was cancelled before it began: what comes before a wait may run scripts. */
static struct wf_js_wait cancelled_early;

static struct wf_js_wait *wait_of(int count, JSValueConst *arguments) {
    struct wf_js_wait *wait = count > 0 ? JS_GetOpaque(arguments[0], wait_class) : NULL;
    return wait != &cancelled_early ? wait : NULL;
}

/* Of the call that comes next, if JavaScript has said so. */
static void take_handle(struct wf_js_wait *wait) {
    wait->handle = wait->js->next_handle;
    wait->js->next_handle = JS_UNDEFINED;
    if (JS_IsUndefined(wait->handle))
        return;
    wait->is_cancelled = JS_GetOpaque(wait->handle, wait_class) == &cancelled_early;
    JS_SetOpaque(wait->handle, wait);
    JSValue done = JS_GetPropertyStr(wait->js->context, wait->handle, "done");
    if (JS_IsUndefined(done) || wait->has_callback)
        return;
    wait->has_callback = true;
    wait->callback = done;
}

bool wf_js_is_called(weft_js *js) {
    if (JS_IsUndefined(js->next_handle))
        return false;
    JSValue done = JS_GetPropertyStr(js->context, js->next_handle, "done");
    JS_FreeValue(js->context, done);
    return !JS_IsUndefined(done);
}

static void drop_handle(struct wf_js_wait *wait) {
    if (!JS_IsUndefined(wait->handle))
        JS_SetOpaque(wait->handle, NULL);
    JS_FreeValue(wait->js->context, wait->handle);
}

/* waitHandle(). With a function as its property "done" the wait calls back, also on a fiber. */
static JSValue js_wait_handle(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    return JS_NewObjectClass(context, (int)wait_class);
}

/* nextWait(handle): the wait that the next call begins has it; undefined: no wait has, if none has begun */
static JSValue js_next_wait(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_js *js = wf_js_of(context);
    (void)self;
    JS_FreeValue(context, js->next_handle);
    js->next_handle =
        count > 0 && JS_GetClassID(arguments[0]) == wait_class ? JS_DupValue(context, arguments[0]) : JS_UNDEFINED;
    return JS_UNDEFINED;
}

/* waitCancel(handle): whether there was something to cancel */
static JSValue js_wait_cancel(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_wait *wait = wait_of(count, arguments);
    (void)self;
    if (!wait && count > 0 && JS_GetClassID(arguments[0]) == wait_class)
        JS_SetOpaque(arguments[0], &cancelled_early);
    if (!wait)
        return JS_FALSE;
    wf_js_lock_waits(wait->js);
    wait->is_cancelled = true;
    if (wait->scope)
        weft_scope_cancel(wait->scope, -ECANCELED, NULL);
    wf_js_unlock_waits(wait->js);
    (void)context;
    return JS_TRUE;
}

/* waitKeep(handle, keeps): whether the wait, which has begun and is not a fiber's own, keeps the loop alive; it does at first */
static JSValue js_wait_keep(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_wait *wait = count > 1 ? wait_of(count, arguments) : NULL;
    (void)self;
    if (!wait || !wait->is_apart)
        return JS_FALSE;
    bool is_idle = !JS_ToBool(context, arguments[1]);
    if (is_idle == wait->is_idle)
        return JS_TRUE;
    if (is_idle)
        wf_js_unkeep(wait->js);
    else if (wf_js_keep(wait->js) != 0)
        return JS_FALSE;
    wait->is_idle = is_idle;
    return JS_TRUE;
}

int wf_js_add_waits(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("waitHandle", 0, js_wait_handle),
        JS_CFUNC_DEF("nextWait", 1, js_next_wait),
        JS_CFUNC_DEF("waitCancel", 1, js_wait_cancel),
        JS_CFUNC_DEF("waitKeep", 2, js_wait_keep),
    };
    static const JSClassDef definition = {.class_name = "WaitHandle"};
    wf_js_new_class(JS_GetRuntime(context), &wait_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
