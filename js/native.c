/* SPDX-License-Identifier: MIT
 *
 * js/native.c - functions of C that JavaScript calls.
 *
 * What the engine calls is one function for all, with a block that says which one is meant; an object holds the block, and frees it when
 * nobody has the function any more. Arguments get handles in a frame of their own. A panic ends the function of C, not what called
 * it: nothing of the engine is left by it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* FEW: handles of arguments that need no memory of their own. LENGTH_MOST: what a function may ask for. */
enum { FEW = 8, LENGTH_MOST = 32 };

static JSClassID holder_class;

static void finalize(weft_js *js, const struct wf_js_native *native) {
    if (!native->finalize)
        return;
    js->embed.finalizing++;
    native->finalize(native->arg);
    js->embed.finalizing--;
}

static void holder_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_native *native = JS_GetOpaque(value, holder_class);
    if (!native)
        return;
    finalize(JS_GetRuntimeOpaque(runtime), native);
    free(native);
}

/* ---- A call ---- */

struct call {
    weft_js *js;
    const struct wf_js_native *native;
    weft_js_arguments given;
    weft_js_value few[FEW];
    weft_js_value result;
    void *pointer; /* that construct has made */
};

static void run(void *opaque) {
    struct call *call = opaque;
    if (call->native->construct)
        call->pointer = call->native->construct(call->js, &call->given);
    else
        call->result = call->native->fn(call->js, &call->given);
}

/* Handles for what was given, and undefined for what was not. False: something is pending. */
static bool hand_arguments(struct call *call, JSValueConst self, int count, JSValueConst *arguments) {
    weft_js *js = call->js;
    int room = count > call->native->length ? count : call->native->length;
    weft_js_value *values = room <= FEW ? call->few : malloc((size_t)room * sizeof *values);
    if (!values) {
        JS_ThrowOutOfMemory(js->context);
        wf_js_fail(js, -ENOMEM);
        return false;
    }
    call->given.values = values;
    call->given.self = wf_js_hand(js, JS_DupValue(js->context, self));
    for (int i = 0; i < room; i++)
        values[i] = wf_js_hand_placed(js, i < count ? JS_DupValue(js->context, arguments[i]) : JS_UNDEFINED);
    wf_js_running(js)->values = values;
    wf_js_running(js)->count = room;
    return wf_js_running(js)->status == 0;
}

/* The engine looks at the stack before each function of JavaScript, but C may call C through it for ever. */
static bool has_stack(weft_js *js) {
    const char *end = js->holder ? js->holder->stack_end : js->stack_end;
    if (!end || (const char *)__builtin_frame_address(0) > end)
        return true;
    JS_ThrowRangeError(js->context, "Maximum call stack size exceeded");
    return false;
}

/* A panic ends the function alone, and is what it fails with. */
static void run_tried(weft_js *js, struct wf_js_frame *frame, void (*fn)(void *arg), void *arg) {
    char message[160];
    if (weft_try(fn, arg, message, sizeof message) == 0)
        return;
    wf_js_frame_close_inner(js, frame);
    wf_js_throw_coded(js->context, NULL, message);
    wf_js_fail(js, -EOWNERDEAD);
}

JSValue wf_js_call_native(JSContext *context, const struct wf_js_native *native, JSValueConst self, int count,
                          JSValueConst *arguments, void **pointer) {
    weft_js *js = wf_js_of(context);
    struct call call = {.js = js, .native = native, .given = {.count = count, .arg = native->arg}};
    struct wf_js_frame frame;
    if (!has_stack(js))
        return JS_EXCEPTION;
    if (native->definition && !(call.given.pointer = wf_js_pointer_of(context, self, native->definition)))
        return JS_EXCEPTION;
    wf_js_frame_open(js, &frame);
    if (hand_arguments(&call, self, count, arguments))
        run_tried(js, &frame, run, &call);
    JSValue result = wf_js_frame_result(js, &frame, call.result);
    if (call.given.values != call.few)
        free((void *)call.given.values);
    if (pointer)
        *pointer = call.pointer;
    return result;
}

struct framed {
    weft_js *js;
    weft_js_value (*fn)(weft_js *js, void *arg);
    void *arg;
    weft_js_value result;
};

static void run_framed(void *opaque) {
    struct framed *framed = opaque;
    framed->result = framed->fn(framed->js, framed->arg);
}

JSValue wf_js_in_frame(weft_js *js, weft_js_value (*fn)(weft_js *js, void *arg), void *arg) {
    struct framed framed = {.js = js, .fn = fn, .arg = arg};
    struct wf_js_frame frame;
    wf_js_frame_open(js, &frame);
    run_tried(js, &frame, run_framed, &framed);
    return wf_js_frame_result(js, &frame, framed.result);
}

static JSValue call_held(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int magic,
                         JSValue *data) {
    (void)magic;
    return wf_js_call_native(context, JS_GetOpaque(data[0], holder_class), self, count, arguments, NULL);
}

/* ---- Making them ---- */

JSValue wf_js_new_native(JSContext *context, const char *name, const struct wf_js_native *native) {
    struct wf_js_native *held = malloc(sizeof *held);
    JSValue holder = held ? JS_NewObjectClass(context, (int)holder_class) : JS_ThrowOutOfMemory(context);
    if (!held || JS_IsException(holder)) {
        free(held);
        finalize(wf_js_of(context), native);
        return holder;
    }
    *held = *native;
    JS_SetOpaque(holder, held);
    JSValue function = JS_NewCFunctionData(context, call_held, native->length, 0, 1, &holder);
    JS_FreeValue(context, holder); /* the function has it, or it is gone, and with it what it held */
    if (JS_IsException(function))
        return function;
    int named = JS_DefinePropertyValueStr(context, function, "name", JS_NewString(context, name), JS_PROP_CONFIGURABLE);
    if (named >= 0)
        return function;
    JS_FreeValue(context, function);
    return JS_EXCEPTION;
}

weft_js_value weft_js_function(weft_js *js, const char *name, int length, weft_js_native fn, void *arg,
                               void (*fn_finalize)(void *arg)) {
    struct wf_js_native native = {.fn = fn, .length = length, .arg = arg, .finalize = fn_finalize};
    bool is_usable = wf_js_is_usable(js);
    if (is_usable && name && fn && length >= 0 && length <= LENGTH_MOST && wf_js_is_utf8(name, strlen(name)))
        return wf_js_hand_or(js, wf_js_new_native(js->context, name, &native), -ENOMEM);
    if (fn_finalize)
        fn_finalize(arg);
    if (is_usable)
        wf_js_fail_type(js, -EINVAL,
                        "a function of C needs a name in UTF-8, a length of 0 to 32 and something to call");
    return (weft_js_value){0};
}

int wf_js_add_natives(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "NativeHolder", .finalizer = holder_finalize};
    (void)host;
    wf_js_new_class(JS_GetRuntime(context), &holder_class, &definition);
    return wf_js_add_classes(context);
}

/* ---- With JSON texts ---- */

struct definition {
    weft_js_fn fn;
    void *arg;
};

static weft_js_value call_defined(weft_js *js, const weft_js_arguments *given) {
    const struct definition *definition = given->arg;
    weft_js_value list = weft_js_array(js);
    for (int i = 0; i < given->count; i++)
        weft_js_set_at(js, list, (uint32_t)i, given->values[i]);
    const char *arguments = weft_js_to_json(js, list, NULL);
    char *answer = NULL;
    if (!arguments)
        return (weft_js_value){0};
    int status = definition->fn(js, arguments, &answer, definition->arg);
    weft_js_value result = status < 0 ? weft_js_throw_errno(js, status, "call")
                           : answer   ? weft_js_parse(js, answer, strlen(answer))
                                      : weft_js_undefined();
    free(answer);
    return result;
}

int weft_js_define(weft_js *js, const char *name, weft_js_fn fn, void *arg) {
    if (!js || !name || !*name || !fn)
        return -EINVAL;
    int status = weft_js_enter(js);
    if (status)
        return status;
    struct definition *definition = malloc(sizeof *definition);
    if (definition) {
        *definition = (struct definition){fn, arg};
        weft_js_set(js, weft_js_global(js), name, weft_js_function(js, name, 0, call_defined, definition, free));
        status = weft_js_catch(js, NULL);
    } else {
        status = -ENOMEM;
    }
    weft_js_leave(js);
    return status;
}
