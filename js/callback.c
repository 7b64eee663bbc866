/* SPDX-License-Identifier: MIT
 *
 * js/callback.c - ticks and their kin: callbacks of the loop that call one function of JavaScript, once.
 *
 * Each has a block, which holds on to the function, and to the surroundings in which it was given, and is in the instance's list
 * until it has been called. Timers and immediates: js/timer.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "host.h"

enum kind { TICK, PENDING, CLOSING };

struct wf_js_callback {
    weft_js *js;
    struct wf_js_callback *next, *previous;
    enum kind kind;
    JSValue fn;
    JSValue surroundings;
};

static void callback_free(struct wf_js_callback *callback) {
    weft_js *js = callback->js;
    *(callback->previous ? &callback->previous->next : &js->callbacks) = callback->next;
    if (callback->next)
        callback->next->previous = callback->previous;
    JS_FreeValue(js->context, callback->fn);
    JS_FreeValue(js->context, callback->surroundings);
    js_free(js->context, callback);
}

void wf_js_drop_callbacks(weft_js *js) {
    while (js->callbacks)
        callback_free(js->callbacks);
}

static void fire(void *opaque) {
    struct wf_js_callback *callback = opaque;
    weft_js *js = callback->js;
    js->queued--;
    if (!(callback->kind == TICK ? wf_js_enter_checkpoint(js) : wf_js_enter(js))) {
        callback_free(callback);
        return;
    }
    JSValue fn = callback->fn, surroundings = callback->surroundings;
    callback->fn = callback->surroundings = JS_UNDEFINED;
    callback_free(callback);
    if (!wf_js_call_in(js, surroundings, fn, 0, NULL) && !js->has_ended)
        (void)weft_loop_yield_checkpoint(js->loop); /* as in Node: what it has put off comes at the next boundary */
    JS_FreeValue(js->context, fn);
    wf_js_leave(js);
}

static int start(struct wf_js_callback *callback) {
    weft_loop *loop = callback->js->loop;
    switch (callback->kind) {
    case PENDING:
        return weft_loop_submit(loop, fire, callback);
    case CLOSING:
        return weft_loop_close_callback(loop, fire, callback);
    default:
        return weft_loop_next_tick(loop, fire, callback);
    }
}

/* nextTick(fn); whenPending(fn): in the next turn of the loop, as what has come from outside; whenClosing(fn): in the phase of the
 * loop for things that are closed */
static JSValue js_begin(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int kind) {
    weft_js *js = wf_js_of(context);
    (void)self;
    if (count < 1)
        return JS_EXCEPTION;
    struct wf_js_callback *callback =
        js_malloc(context, sizeof *callback); /* it counts, so that not even ticks are endless */
    if (!callback)
        return JS_EXCEPTION;
    *callback = (struct wf_js_callback){.js = js,
                                        .next = js->callbacks,
                                        .kind = (enum kind)kind,
                                        .fn = JS_DupValue(context, arguments[0]),
                                        .surroundings = wf_engine_surroundings(context)};
    if (js->callbacks)
        js->callbacks->previous = callback;
    js->callbacks = callback;
    int error = start(callback);
    if (error) {
        callback_free(callback);
        return wf_js_throw_errno(context, error, "tick");
    }
    js->queued++;
    return JS_UNDEFINED;
}

bool wf_js_call_in(weft_js *js, JSValue surroundings, JSValueConst fn, int count, JSValueConst *arguments) {
    JSValue outer = wf_engine_surround(js->context, surroundings);
    bool is_good = wf_js_call(js, fn, count, arguments);
    JS_FreeValue(js->context, wf_engine_surround(js->context, outer));
    return is_good;
}

/* surroundings(): of what runs now; undefined: it has none */
static JSValue js_surroundings(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    return wf_engine_surroundings(context);
}

/* surround(value): from now on; what was before */
static JSValue js_surround(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    return wf_engine_surround(context, count > 0 ? JS_DupValue(context, arguments[0]) : JS_UNDEFINED);
}

int wf_js_add_callbacks(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_MAGIC_DEF("nextTick", 1, js_begin, TICK),
        JS_CFUNC_MAGIC_DEF("whenPending", 1, js_begin, PENDING),
        JS_CFUNC_MAGIC_DEF("whenClosing", 1, js_begin, CLOSING),
        JS_CFUNC_DEF("surroundings", 0, js_surroundings),
        JS_CFUNC_DEF("surround", 1, js_surround),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
