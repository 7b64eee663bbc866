/* SPDX-License-Identifier: MIT
 *
 * js/uncaught.c - what nobody has caught: errors, and promises that were rejected.
 *
 * js/lib/process.js is told, which asks the script's listeners and prints. For that there is memory beyond the instance's limit,
 * since its lack may be what is to be told; where even that is not enough, the error is printed here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* For the libraries that print, and what listeners need. */
enum { REPORT_MEMORY = 4 << 20 };

static void tell_rejections(void *opaque);

static void lend_memory(weft_js *js) {
    if (js->options.max_memory)
        JS_SetMemoryLimit(js->runtime, js->options.max_memory + REPORT_MEMORY);
    js->begun = js->options.max_run ? weft_now() : 0; /* and time */
}

static void take_memory(weft_js *js) {
    if (js->options.max_memory)
        JS_SetMemoryLimit(js->runtime, js->options.max_memory);
}

void wf_js_print_error(JSContext *context, JSValueConst error) {
    JSValue plain = wf_engine_plain_error(context, error);
    JSValue stack = JS_IsUndefined(plain) && JS_IsObject(error) ? JS_GetPropertyStr(context, error, "stack") : plain;
    const char *text = JS_ToCString(context, JS_IsString(stack) ? stack : error);
    fprintf(stderr, "%s\n", text ? text : "an error that cannot be shown");
    JS_FreeCString(context, text);
    JS_FreeValue(context, stack);
}

void wf_js_uncaught(weft_js *js) {
    JSContext *context = js->context;
    JSValue error = JS_GetException(context), before = js->place;
    js->errors++;
    if (js->has_ended) { /* process.exit gets out in this way */
        JS_FreeValue(context, error);
        return;
    }
    js->place = wf_engine_place(context);
    JS_FreeValue(context, before);
    lend_memory(js);
    JSValueConst hook = js->hooks[WF_JS_ON_UNCAUGHT];
    JSValue cares = JS_IsFunction(context, hook) ? JS_Call(context, hook, JS_UNDEFINED, 1, &error) : JS_EXCEPTION;
    if (JS_IsException(
            cares)) { /* not even the library can tell: there is no memory, or the script has spoilt what it needs */
        JS_FreeValue(context, JS_GetException(context));
        if (!js->has_ended) {
            wf_js_print_error(context, error);
            js->exit_code = 1;
            js->has_ended = true;
            weft_loop_stop(js->loop);
        }
    } else if (!JS_ToBool(context, cares)) {
        wf_js_end(js, js->exit_code ? js->exit_code : 1);
    }
    take_memory(js);
    JS_FreeValue(context, cares);
    JS_FreeValue(context, error);
}

/* thrownAt(): the place of what nobody has caught, if it is no error */
static JSValue js_thrown_at(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    return JS_DupValue(context, wf_js_of(context)->place);
}

/* plainError(error): name, message and stack, without running any code of the script */
static JSValue js_plain_error(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return wf_engine_plain_error(context, arguments[0]);
}

int wf_js_add_uncaught(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("thrownAt", 0, js_thrown_at),
        JS_CFUNC_DEF("plainError", 1, js_plain_error),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}

/* ---- Rejections ---- */

/* False: it is not in the list. */
bool wf_js_forget_rejection(weft_js *js, JSValueConst promise) {
    for (size_t i = 0; i < js->rejection_count; i++) {
        if (JS_VALUE_GET_PTR(js->rejections[2 * i]) != JS_VALUE_GET_PTR(promise))
            continue;
        JS_FreeValue(js->context, js->rejections[2 * i]);
        JS_FreeValue(js->context, js->rejections[2 * i + 1]);
        js->rejection_count--;
        memmove(&js->rejections[2 * i], &js->rejections[2 * i + 2],
                2 * (js->rejection_count - i) * sizeof *js->rejections);
        return true;
    }
    return false;
}

void wf_js_on_rejection(JSContext *context, JSValueConst promise, JSValueConst reason, JS_BOOL is_handled,
                        void *opaque) {
    weft_js *js = opaque;
    if (is_handled) {
        if (!wf_js_forget_rejection(js, promise) && JS_IsFunction(context, js->hooks[WF_JS_ON_HANDLED]))
            wf_js_call(js, js->hooks[WF_JS_ON_HANDLED], 1, &promise);
        return;
    }
    if (js->rejection_count == js->rejection_room) {
        size_t room = js->rejection_room ? 2 * js->rejection_room : 8;
        JSValue *longer = realloc(js->rejections, 2 * room * sizeof *longer);
        if (!longer)
            return;
        js->rejections = longer;
        js->rejection_room = room;
    }
    js->rejections[2 * js->rejection_count] = JS_DupValue(context, promise);
    js->rejections[2 * js->rejection_count + 1] = JS_DupValue(context, reason);
    js->rejection_count++;
    if (!js->rejects)
        js->rejects = weft_loop_checkpoint_end(js->loop, tell_rejections, js) == 0;
}

static void tell_rejections(void *opaque) {
    weft_js *js = opaque;
    js->rejects = false;
    if (!wf_js_enter(js))
        return;
    wf_js_tell_rejections(js);
    wf_js_leave(js);
}

void wf_js_tell_rejections(weft_js *js) {
    if (js->rejection_count == 0 || js->has_ended)
        return;
    size_t count = js->rejection_count;
    JSValue *told = js->rejections;
    js->rejections = NULL;
    js->rejection_count = js->rejection_room = 0;
    lend_memory(js);
    JSValue list = JS_NewArray(js->context);
    for (size_t i = 0; i < 2 * count; i++)
        JS_SetPropertyUint32(js->context, list, (uint32_t)i, told[i]);
    free(told);
    if (JS_IsException(list))
        wf_js_uncaught(js);
    else
        wf_js_call(js, js->hooks[WF_JS_ON_REJECTIONS], 1, &list);
    JS_FreeValue(js->context, list);
    take_memory(js);
}
