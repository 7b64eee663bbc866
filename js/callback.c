/* SPDX-License-Identifier: MIT
 *
 * js/callback.c - timers, immediates and ticks: callbacks of the loop that call JavaScript.
 *
 * Each has a block, which holds on to what it will call as long as it may, and is in the instance's list for that time. The
 * handle that JavaScript has points to the block, and keeps it when it has fired.
 */
#include <errno.h>
#include <stdlib.h>

#include "host.h"

/* From TICK on they have no handle, and call what they own. */
enum kind { TIMEOUT, INTERVAL, IMMEDIATE, TICK, PENDING, CLOSING };

struct wf_js_callback {
    weft_js *js;
    struct wf_js_callback *next, *previous; /* while is_armed */
    enum kind kind;
    bool is_armed;
    bool has_handle;
    JSValue owner;
    weft_loop_timer timer;
    weft_immediate immediate;
};

static JSClassID handle_class;

static bool is_plain(enum kind kind) {
    return kind >= TICK;
}

static void callback_arm(struct wf_js_callback *callback, JSValueConst owner) {
    weft_js *js = callback->js;
    callback->owner = JS_DupValue(js->context, owner);
    callback->is_armed = true;
    callback->previous = NULL;
    callback->next = js->callbacks;
    if (js->callbacks)
        js->callbacks->previous = callback;
    js->callbacks = callback;
}

static void callback_disarm(struct wf_js_callback *callback) {
    weft_js *js = callback->js;
    *(callback->previous ? &callback->previous->next : &js->callbacks) = callback->next;
    if (callback->next)
        callback->next->previous = callback->previous;
    JSValue owner = callback->owner;
    callback->is_armed = false;
    if (!callback->has_handle)
        js_free(js->context, callback);
    JS_FreeValue(js->context, owner); /* and with it, maybe, the handle and the callback */
}

void wf_js_drop_callbacks(weft_js *js) {
    for (struct wf_js_callback *callback = js->callbacks, *next; callback; callback = next) {
        next = callback->next;
        if (callback->kind == IMMEDIATE)
            (void)weft_clear_immediate(js->loop, callback->immediate);
        else if (!is_plain(callback->kind))
            (void)weft_clear_timer(js->loop, callback->timer);
        callback_disarm(callback);
    }
}

static void handle_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_callback *callback = JS_GetOpaque(value, handle_class);
    if (!callback)
        return;
    callback->has_handle = false;
    if (!callback->is_armed)
        js_free_rt(runtime, callback);
}

/* ---- They fire ---- */

static void fire(void *opaque) {
    struct wf_js_callback *callback = opaque;
    weft_js *js = callback->js;
    bool calls_owner = is_plain(callback->kind);
    js->queued -= calls_owner;
    if (!(callback->kind == TICK ? wf_js_enter_checkpoint(js) : wf_js_enter(js))) {
        if (calls_owner)
            callback_disarm(callback);
        return;
    }
    JSValue arguments[] = {JS_DupValue(js->context, callback->owner)};
    if (callback->kind != INTERVAL)
        callback_disarm(callback);
    bool is_good =
        calls_owner ? wf_js_call(js, arguments[0], 0, NULL) : wf_js_call(js, js->hooks[WF_JS_ON_TIMER], 1, arguments);
    if (!is_good && !js->has_ended)
        (void)weft_loop_yield_checkpoint(js->loop); /* as in Node: what it has put off comes at the next boundary */
    JS_FreeValue(js->context, arguments[0]);
    wf_js_leave(js);
}

static int start(struct wf_js_callback *callback, double milliseconds) {
    weft_loop *loop = callback->js->loop;
    int64_t delay = (int64_t)(milliseconds * 1e6);
    switch (callback->kind) {
    case TIMEOUT:
        return weft_set_timeout(loop, &callback->timer, delay, fire, callback);
    case INTERVAL:
        return weft_set_interval(loop, &callback->timer, delay, fire, callback);
    case IMMEDIATE:
        return weft_set_immediate(loop, &callback->immediate, fire, callback);
    case PENDING:
        return weft_loop_submit(loop, fire, callback);
    case CLOSING:
        return weft_loop_close_callback(loop, fire, callback);
    default:
        return weft_loop_next_tick(loop, fire, callback);
    }
}

static JSValue begin(JSContext *context, enum kind kind, JSValueConst owner, double milliseconds) {
    struct wf_js_callback *callback =
        js_mallocz(context, sizeof *callback); /* it counts, so that not even ticks are endless */
    if (!callback)
        return JS_EXCEPTION;
    callback->js = wf_js_of(context);
    callback->kind = kind;
    JSValue handle = is_plain(kind) ? JS_UNDEFINED : JS_NewObjectClass(context, (int)handle_class);
    if (JS_IsException(handle)) {
        js_free(context, callback);
        return handle;
    }
    if (!is_plain(kind)) {
        JS_SetOpaque(handle, callback);
        callback->has_handle = true;
    }
    callback_arm(callback, owner);
    int error = start(callback, milliseconds);
    if (error) {
        callback_disarm(callback);
        JS_FreeValue(context, handle);
        return wf_js_throw_errno(context, error, "timer");
    }
    callback->js->queued += is_plain(kind);
    return handle;
}

/* startTimer(owner, milliseconds, repeats) -> handle */
static JSValue js_start_timer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    double milliseconds;
    (void)self;
    if (count < 3 || JS_ToFloat64(context, &milliseconds, arguments[1]))
        return JS_EXCEPTION;
    return begin(context, JS_ToBool(context, arguments[2]) ? INTERVAL : TIMEOUT, arguments[0], milliseconds);
}

/* startImmediate(owner) -> handle */
static JSValue js_start_immediate(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return begin(context, IMMEDIATE, arguments[0], 0);
}

/* nextTick(fn) */
static JSValue js_next_tick(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return begin(context, TICK, arguments[0], 0);
}

/* whenPending(fn): in the next turn of the loop, as what has come from outside */
static JSValue js_when_pending(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return begin(context, PENDING, arguments[0], 0);
}

/* whenClosing(fn): in the phase of the loop for things that are closed */
static JSValue js_when_closing(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return begin(context, CLOSING, arguments[0], 0);
}

/* stopTimer(handle): whether it was armed */
static JSValue js_stop_timer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_callback *callback = count > 0 ? JS_GetOpaque(arguments[0], handle_class) : NULL;
    (void)self, (void)context;
    if (!callback || !callback->is_armed)
        return JS_FALSE;
    if (callback->kind == IMMEDIATE)
        (void)weft_clear_immediate(callback->js->loop, callback->immediate);
    else
        (void)weft_clear_timer(callback->js->loop, callback->timer);
    callback_disarm(callback);
    return JS_TRUE;
}

/* keepTimer(handle, keeps) */
static JSValue js_keep_timer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_callback *callback = count > 1 ? JS_GetOpaque(arguments[0], handle_class) : NULL;
    (void)self;
    if (!callback || !callback->is_armed)
        return JS_FALSE;
    bool keeps = JS_ToBool(context, arguments[1]);
    int error = callback->kind == IMMEDIATE ? weft_immediate_keep(callback->js->loop, callback->immediate, keeps)
                                            : weft_loop_timer_keep(callback->js->loop, callback->timer, keeps);
    return JS_NewBool(context, error == 0);
}

/* refreshTimer(handle): false when it has fired */
static JSValue js_refresh_timer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_callback *callback = count > 0 ? JS_GetOpaque(arguments[0], handle_class) : NULL;
    (void)self;
    return JS_NewBool(context, callback && callback->is_armed &&
                                   weft_loop_timer_refresh(callback->js->loop, callback->timer) == 0);
}

int wf_js_add_callbacks(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "TimerHandle", .finalizer = handle_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("startTimer", 3, js_start_timer),   JS_CFUNC_DEF("startImmediate", 1, js_start_immediate),
        JS_CFUNC_DEF("nextTick", 1, js_next_tick),       JS_CFUNC_DEF("stopTimer", 1, js_stop_timer),
        JS_CFUNC_DEF("keepTimer", 2, js_keep_timer),     JS_CFUNC_DEF("refreshTimer", 1, js_refresh_timer),
        JS_CFUNC_DEF("whenPending", 1, js_when_pending), JS_CFUNC_DEF("whenClosing", 1, js_when_closing),
    };
    wf_js_new_class(JS_GetRuntime(context), &handle_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
