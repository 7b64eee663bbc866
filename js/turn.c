/* SPDX-License-Identifier: MIT
 *
 * js/turn.c - go, and waiting: how fibers take turns in one engine. See js/host.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack.h"

/* What functions of C below JavaScript may need. */
enum { STACK_SPARE = 64 * 1024 };

static void begin_fiber(void *opaque);
static void resume_fiber(void *opaque);
static void run_fiber(struct wf_js_fiber *fiber);
static void *fiber_main(void *opaque);
static void lend_turn(weft_js *js, struct wf_js_fiber *fiber);
static void give_back(struct wf_js_fiber *fiber);
static void take_turn(struct wf_js_fiber *fiber);
static JSValue start_fiber(JSContext *context, int count, JSValueConst *arguments, struct wf_js_fiber **out);
static void free_fiber(struct wf_js_fiber *fiber);
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

static JSClassID fiber_class; /* of handles, by which a fiber can be cancelled */
static JSClassID wait_class;  /* and a wait */

/* go(fn, ...arguments) -> promise */
static JSValue js_go(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_fiber *fiber = NULL;
    (void)self;
    return start_fiber(context, count, arguments, &fiber);
}

/* goStart(name, bytes of stack, is in the background, fn, ...arguments) -> [promise, handle]; 0 bytes: as many as others have */
static JSValue js_go_start(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    enum { NAME, STACK, BACKGROUND, OPTIONS };
    struct wf_js_fiber *fiber = NULL;
    int64_t stack;
    (void)self;
    if (count <= OPTIONS || JS_ToInt64(context, &stack, arguments[STACK]))
        return JS_EXCEPTION;
    const char *name = JS_ToCString(context, arguments[NAME]);
    if (!name)
        return JS_EXCEPTION;
    JSValue promise = start_fiber(context, count - OPTIONS, arguments + OPTIONS, &fiber);
    if (!JS_IsException(promise)) {
        if (stack > 0)
            fiber->stack_size = (size_t)stack;
        snprintf(fiber->name, sizeof fiber->name, "%s", name);
        fiber->is_background = JS_ToBool(context, arguments[BACKGROUND]);
    }
    JS_FreeCString(context, name);
    if (JS_IsException(promise))
        return promise;
    JSValue handle = JS_NewObjectClass(context, (int)fiber_class);
    if (JS_IsException(handle)) {
        JS_FreeValue(context, promise);
        return handle;
    }
    JS_SetOpaque(handle, fiber);
    fiber->handle = handle;
    JSValue pair = JS_NewArray(context);
    JS_SetPropertyUint32(context, pair, 0, promise);
    JS_SetPropertyUint32(context, pair, 1, handle);
    return pair;
}

static JSValue start_fiber(JSContext *context, int count, JSValueConst *arguments, struct wf_js_fiber **out) {
    weft_js *js = wf_js_of(context);
    if (count < 1 || !JS_IsFunction(context, arguments[0]))
        return JS_ThrowTypeError(context, "go needs a function");
    struct wf_js_fiber *fiber = calloc(1, sizeof *fiber + (size_t)(count - 1) * sizeof(JSValue));
    if (!fiber)
        return JS_ThrowOutOfMemory(context);
    JSValue promise = JS_NewPromiseCapability(context, fiber->settle);
    if (JS_IsException(promise)) {
        free(fiber);
        return promise;
    }
    *out = fiber;
    fiber->js = js;
    fiber->number = ++js->fiber_count;
    fiber->stack_size = js->options.fiber_stack;
    fiber->handle = JS_UNDEFINED;
    fiber->fn = JS_DupValue(context, arguments[0]);
    wf_engine_function_name(context, fiber->fn, fiber->name, sizeof fiber->name);
    fiber->arguments = (JSValue *)(fiber + 1);
    for (int i = 1; i < count; i++)
        fiber->arguments[fiber->count++] = JS_DupValue(context, arguments[i]);
    fiber->next = js->fibers;
    if (js->fibers)
        js->fibers->previous = fiber;
    js->fibers = fiber;
    int error = wf_js_begins(js);
    if (!error && (error = weft_loop_submit(js->loop, begin_fiber, fiber)) != 0)
        wf_js_ends(js, true);
    if (error) {
        JS_FreeValue(context, promise);
        free_fiber(fiber);
        return wf_js_throw_errno(context, error, "go");
    }
    return promise;
}

static void free_fiber(struct wf_js_fiber *fiber) {
    weft_js *js = fiber->js;
    JSContext *context = js->context;
    JS_FreeValue(context, fiber->fn);
    for (int i = 0; i < fiber->count; i++)
        JS_FreeValue(context, fiber->arguments[i]);
    JS_FreeValue(context, fiber->settle[0]);
    JS_FreeValue(context, fiber->settle[1]);
    if (!JS_IsUndefined(fiber->handle))
        JS_SetOpaque(fiber->handle, NULL);
    *(fiber->previous ? &fiber->previous->next : &js->fibers) = fiber->next;
    if (fiber->next)
        fiber->next->previous = fiber->previous;
    free(fiber);
}

/* ---- On the loop ---- */

static void begin_fiber(void *opaque) {
    struct wf_js_fiber *fiber = opaque;
    weft_js *js = fiber->js;
    wf_js_enter_any(js);
    weft_spawn_options options = {.stack_size = fiber->stack_size, .name = fiber->name[0] ? fiber->name : "go"};
    int error = js->has_ended || fiber->is_cancelled ? -ECANCELED
                : js->options.no_fibers              ? 0
                                                     : weft_spawn_with(&fiber->id, &options, fiber_main, fiber);
    if (error) {
        JSValue thrown = (wf_js_throw_errno(js->context, error, "go"), JS_GetException(js->context));
        if (!js->has_ended)
            wf_js_call(js, fiber->settle[1], 1, &thrown);
        JS_FreeValue(js->context, thrown);
        free_fiber(fiber);
        wf_js_ends(js, true);
    } else if (js->options.no_fibers) {
        run_fiber(fiber);
    } else {
        weft_detach(fiber->id);
        lend_turn(js, fiber);
    }
    wf_js_leave(js);
}

/* After the end, too: then it gets out of its JavaScript at once. */
static void resume_fiber(void *opaque) {
    struct wf_js_fiber *fiber = opaque;
    weft_js *js = fiber->js;
    wf_js_enter_any(js);
    lend_turn(js, fiber);
    wf_js_leave(js);
}

static void lend_turn(weft_js *js, struct wf_js_fiber *fiber) {
    void *mine = wf_engine_frame(js->runtime);
    uint64_t self = atomic_load(&js->inside);
    wf_engine_set_frame(js->runtime, fiber->frame);
    js->holder = fiber;
    atomic_store(&js->inside, fiber->id.bits);
    weft_semaphore_release(&fiber->turn, 1);
    weft_shield();
    while (weft_semaphore_acquire(&js->back, 1, WEFT_NEVER) != 0)
        continue;
    weft_unshield();
    js->holder = NULL;
    wf_js_be_inside(js, self);
    wf_engine_set_frame(js->runtime, mine);
    wf_js_set_stack(js, js->stack_end);
}

/* ---- On the fiber ---- */

static void *fiber_main(void *opaque) {
    struct wf_js_fiber *fiber = opaque;
    weft_js *js = fiber->js;
    JSContext *context = js->context;
    fiber->stack_end = (const char *)__builtin_frame_address(0) - fiber->stack_size + STACK_SPARE;
    int error = weft_scope_open(&fiber->scope, NULL);
    take_turn(fiber);
    wf_js_stack_show(fiber);
    if (error)
        JS_FreeValue(context, wf_js_throw_errno(context, error, "go"));
    weft_scope *scope = fiber->scope;
    run_fiber(fiber);
    atomic_store(&js->inside, 0);
    weft_semaphore_release(&js->back, 1);
    if (scope)
        (void)weft_scope_close(scope);
    return NULL;
}

/* With the turn: calls the function, unless something is thrown already, and settles its promise. The fiber's block goes with it. */
static void run_fiber(struct wf_js_fiber *fiber) {
    weft_js *js = fiber->js;
    JSContext *context = js->context;
    JSValue result = JS_HasException(context)
                         ? JS_EXCEPTION
                         : JS_Call(context, fiber->fn, JS_UNDEFINED, fiber->count, fiber->arguments);
    bool has_failed = JS_IsException(result);
    if (has_failed) {
        result = JS_GetException(context);
        JS_ClearUncatchableError(context, result); /* it was, for the fiber */
    }
    if (!js->has_ended)
        wf_js_call(js, fiber->settle[has_failed], 1, &result);
    JS_FreeValue(context, result);
    wf_js_close_scopes(fiber);
    if (fiber->owns_events)
        wf_js_leaves_late(js);
    if (js->holder)
        wf_js_stack_hide();
    free_fiber(fiber);
    wf_js_ends(js, true);
}

static void give_back(struct wf_js_fiber *fiber) {
    fiber->frame = wf_engine_frame(fiber->js->runtime);
    atomic_store(&fiber->js->inside, 0);
    weft_semaphore_release(&fiber->js->back, 1);
}

static void take_turn(struct wf_js_fiber *fiber) {
    weft_shield();
    while (weft_semaphore_acquire(&fiber->turn, 1, WEFT_NEVER) != 0)
        continue;
    weft_unshield();
    wf_js_set_stack(fiber->js, fiber->stack_end);
}

/* ---- Waiting ---- */

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
    if (!fiber || wait->is_promise || wait->has_callback)
        return wait_apart(context, wait);
    wait->fiber = fiber->id;
    fiber->waiting = wait;
    fiber->since = weft_now();
    wf_js_lies_down(wait);
    give_back(fiber);
    if (wait->is_sure)
        weft_shield();
    bool has_scope = wait->is_sure || !JS_IsUndefined(wait->handle);
    wait->status = has_scope ? wait_in_scope(wait) : wait->wait(wait);
    if (wait->is_sure)
        weft_unshield();
    wf_js_gets_up(wait);
    if (wf_js_submit(js->loop, resume_fiber, fiber) != 0) {
        wf_js_stack_hide();
        weft_exit(NULL); /* the loop is over: nobody will ever lend the turn again */
    }
    take_turn(fiber);
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

/* What comes of it is told by a promise, or to a callback. */
static JSValue wait_apart(JSContext *context, struct wf_js_wait *wait) {
    weft_js *js = wait->js;
    weft_spawn_options options = {.name = "wait"};
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
    bool is_good = has_failed ? wf_js_call(js, wait->callback, 1, &result) : wf_js_call(js, wait->callback, 2, good);
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

/* ---- Handles: what a wait and a fiber can be cancelled by ---- */

/* Of the call that comes next, if JavaScript has said so. */
static void take_handle(struct wf_js_wait *wait) {
    wait->handle = wait->js->next_handle;
    wait->js->next_handle = JS_UNDEFINED;
    if (JS_IsUndefined(wait->handle))
        return;
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
    struct wf_js_wait *wait = count > 0 ? JS_GetOpaque(arguments[0], wait_class) : NULL;
    (void)self;
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
    struct wf_js_wait *wait = count > 1 ? JS_GetOpaque(arguments[0], wait_class) : NULL;
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

static void handle_gone(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_fiber *fiber = JS_GetOpaque(value, fiber_class);
    (void)runtime;
    if (fiber)
        fiber->handle = JS_UNDEFINED;
}

/* goCancel(handle, text): whether there was something to cancel */
static JSValue js_go_cancel(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_fiber *fiber = count > 0 ? JS_GetOpaque(arguments[0], fiber_class) : NULL;
    (void)self, (void)context;
    if (!fiber || fiber->is_cancelled)
        return JS_FALSE;
    fiber->is_cancelled = true;
    if (fiber->scope)
        weft_scope_cancel(fiber->scope, -ECANCELED, NULL);
    return JS_TRUE;
}

/* fiberNumber(): of the fiber that has the turn; 0: none has */
static JSValue js_fiber_number(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    const struct wf_js_fiber *fiber = wf_js_of(context)->holder;
    (void)self, (void)count, (void)arguments;
    return JS_NewInt64(context, fiber ? fiber->number : 0);
}

static JSValue js_is_fiber(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    return JS_NewBool(context, wf_js_of(context)->holder != NULL);
}

int wf_js_add_turn(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("go", 1, js_go),
        JS_CFUNC_DEF("goStart", 4, js_go_start),
        JS_CFUNC_DEF("goCancel", 1, js_go_cancel),
        JS_CFUNC_DEF("isFiber", 0, js_is_fiber),
        JS_CFUNC_DEF("fiberNumber", 0, js_fiber_number),
        JS_CFUNC_DEF("waitHandle", 0, js_wait_handle),
        JS_CFUNC_DEF("nextWait", 1, js_next_wait),
        JS_CFUNC_DEF("waitCancel", 1, js_wait_cancel),
        JS_CFUNC_DEF("waitKeep", 2, js_wait_keep),
    };
    static const JSClassDef definition = {.class_name = "FiberHandle", .finalizer = handle_gone};
    static const JSClassDef of_waits = {.class_name = "WaitHandle"};
    wf_js_new_class(JS_GetRuntime(context), &fiber_class, &definition);
    wf_js_new_class(JS_GetRuntime(context), &wait_class, &of_waits);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
