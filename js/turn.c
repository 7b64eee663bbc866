/* SPDX-License-Identifier: MIT
 *
 * js/turn.c - go: how fibers take turns in one engine. See js/host.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack.h"

/* What functions of C below JavaScript may need. */
enum { STACK_SPARE = 64 * 1024, REPORT_MEMORY = 64 * 1024 };

static void begin_fiber(void *opaque);
static void attend_fiber(void *opaque);
static void link_fiber(struct wf_js_fiber *fiber);
static void run_fiber(struct wf_js_fiber *fiber);
static void *fiber_main(void *opaque);
static void lend_turn(weft_js *js, struct wf_js_fiber *fiber);
static void give_back(struct wf_js_fiber *fiber);
static JSValue start_fiber(JSContext *context, int count, JSValueConst *arguments, struct wf_js_fiber **out);
static void free_fiber(struct wf_js_fiber *fiber);

static JSClassID fiber_class; /* of handles, by which a fiber can be cancelled */

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
    if (!JS_IsException(promise) && fiber) {
        if (stack > 0)
            fiber->stack_size = (size_t)stack;
        snprintf(fiber->name, sizeof fiber->name, "%s", name);
        fiber->is_background = JS_ToBool(context, arguments[BACKGROUND]);
    }
    JS_FreeCString(context, name);
    if (JS_IsException(promise) || !fiber)
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
    fiber->stack_size = js->options.fiber_stack;
    fiber->handle = JS_UNDEFINED;
    fiber->surroundings = wf_engine_surroundings(context);
    fiber->fn = JS_DupValue(context, arguments[0]);
    wf_engine_function_name(context, fiber->fn, fiber->name, sizeof fiber->name);
    fiber->arguments = (JSValue *)(fiber + 1);
    for (int i = 1; i < count; i++)
        fiber->arguments[fiber->count++] = JS_DupValue(context, arguments[i]);
    link_fiber(fiber);
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

static void link_fiber(struct wf_js_fiber *fiber) {
    weft_js *js = fiber->js;
    fiber->number = ++js->fiber_count;
    fiber->next = js->fibers;
    if (js->fibers)
        js->fibers->previous = fiber;
    js->fibers = fiber;
}

static void free_fiber(struct wf_js_fiber *fiber) {
    weft_js *js = fiber->js;
    JSContext *context = js->context;
    JS_FreeValue(context, fiber->fn);
    for (int i = 0; i < fiber->count; i++)
        JS_FreeValue(context, fiber->arguments[i]);
    JS_FreeValue(context, fiber->settle[0]);
    JS_FreeValue(context, fiber->settle[1]);
    JS_FreeValue(context, fiber->surroundings);
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
void wf_js_resume(void *opaque) {
    struct wf_js_fiber *fiber = opaque;
    weft_js *js = fiber->js;
    wf_js_enter_any(js);
    lend_turn(js, fiber);
    wf_js_leave(js);
}

/* Somebody else has started it: see wf_js_attend. */
static void attend_fiber(void *opaque) {
    struct wf_js_fiber *fiber = opaque;
    weft_js *js = fiber->js;
    wf_js_enter_any(js);
    link_fiber(fiber);
    wf_js_arrives(js);
    lend_turn(js, fiber);
    wf_js_leave(js);
}

static void lend_turn(weft_js *js, struct wf_js_fiber *fiber) {
    js->home = weft_runtime_self();
    void *mine = wf_engine_frame(js->runtime);
    uint64_t self = atomic_load(&js->inside);
    wf_engine_set_frame(js->runtime, fiber->frame);
    JSValue outer = wf_engine_surround(js->context, fiber->surroundings);
    fiber->surroundings = JS_UNDEFINED;
    js->holder = fiber;
    bool may_lend = fiber->lends;
    atomic_store(&js->inside, fiber->id.bits);
    weft_semaphore_release(&fiber->turn, 1); /* it may be gone from here on */
    struct wf_js_fiber *lender = wf_js_turn_await(js, may_lend);
    js->holder = NULL;
    wf_js_be_inside(js, self);
    JSValue inner = wf_engine_surround(js->context, outer);
    if (lender)
        lender->surroundings = inner; /* it left them where they were, and gets the turn again by us alone */
    else
        JS_FreeValue(js->context, inner);
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
    wf_js_take_turn(fiber);
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
    if (has_failed && !wf_engine_has_room(js->runtime, REPORT_MEMORY))
        JS_RunGC(js->runtime); /* what it had is garbage now; without memory nobody would hear of it */
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

struct wf_js_fiber *wf_js_attend(weft_js *js, const char *stack_end) {
    struct wf_js_fiber *fiber;
    while (!(fiber = calloc(1, sizeof *fiber)) || weft_scope_open(&fiber->scope, NULL) == -ENOMEM) {
        free(fiber);
        (void)weft_sleep(weft_after(WEFT_MILLISECOND));
    }
    fiber->js = js;
    fiber->fn = fiber->settle[0] = fiber->settle[1] = fiber->handle = fiber->surroundings = JS_UNDEFINED;
    fiber->stack_end = stack_end;
    fiber->id = weft_self();
    if (wf_js_submit(js->loop, attend_fiber, fiber) != 0)
        weft_exit(NULL); /* the loop is over: nobody will ever lend the turn */
    wf_js_take_turn(fiber);
    wf_js_stack_show(fiber);
    return fiber;
}

void wf_js_depart(struct wf_js_fiber *fiber) {
    weft_js *js = fiber->js;
    weft_scope *scope = fiber->scope;
    wf_js_close_scopes(fiber);
    if (fiber->owns_events)
        wf_js_leaves_late(js);
    wf_js_stack_hide();
    free_fiber(fiber);
    wf_js_ends(js, false);
    atomic_store(&js->inside, 0);
    weft_semaphore_release(&js->back, 1);
    if (scope)
        (void)weft_scope_close(scope);
}

static void give_back(struct wf_js_fiber *fiber) {
    fiber->frame = wf_engine_frame(fiber->js->runtime);
    fiber->surroundings = wf_engine_surround(fiber->js->context, JS_UNDEFINED);
    atomic_store(&fiber->js->inside, 0);
    weft_semaphore_release(&fiber->js->back, 1);
}

void wf_js_take_turn(struct wf_js_fiber *fiber) {
    weft_shield();
    while (weft_semaphore_acquire(&fiber->turn, 1, WEFT_NEVER) != 0)
        continue;
    weft_unshield();
    wf_js_set_stack(fiber->js, fiber->stack_end);
}

int wf_js_step_aside(struct wf_js_fiber *fiber, int (*wait)(struct wf_js_wait *wait), struct wf_js_wait *arg) {
    give_back(fiber);
    int status = wait(arg);
    if (wf_js_submit(fiber->js->loop, wf_js_resume, fiber) != 0) {
        wf_js_stack_hide();
        weft_exit(NULL); /* the loop is over: nobody will ever lend the turn again */
    }
    wf_js_take_turn(fiber);
    return status;
}

/* ---- Handles: what a fiber can be cancelled by ---- */

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
    };
    static const JSClassDef definition = {.class_name = "FiberHandle", .finalizer = handle_gone};
    wf_js_new_class(JS_GetRuntime(context), &fiber_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
