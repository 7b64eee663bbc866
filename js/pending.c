/* SPDX-License-Identifier: MIT
 *
 * js/pending.c - errors of functions of C: pending until somebody takes them, or they are thrown.
 *
 * The engine has a place of its own for what was thrown, which whoever notices an exception empties into the running frame. After the
 * end of a script (process.exit in the middle of a call) what gets out of it stays pending, whatever C does.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

int wf_js_fail(weft_js *js, int status) {
    struct wf_js_frame *frame = wf_js_running(js);
    JSValue error = JS_GetException(js->context);
    if (frame->status) {
        JS_FreeValue(js->context, error);
        return frame->status;
    }
    frame->status = js->has_ended ? -EPIPE : status;
    frame->error = JS_IsUninitialized(error) ? JS_UNDEFINED : error;
    return frame->status;
}

int wf_js_fail_type(weft_js *js, int status, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    JS_ThrowTypeError(js->context, "%s", text);
    return wf_js_fail(js, status);
}

JSValue wf_js_frame_result(weft_js *js, struct wf_js_frame *frame, weft_js_value result) {
    JSValue value = wf_js_running(js)->status || !result.bits ? JS_UNDEFINED : wf_js_take(js, result);
    wf_js_frame_close_inner(js, frame);
    wf_js_frame_close(js, frame);
    if (!frame->status && !js->has_ended)
        return value;
    JS_FreeValue(js->context, value);
    if (!js->has_ended)
        return JS_Throw(js->context, frame->error);
    JS_FreeValue(js->context, frame->error);
    return wf_js_throw_end(js->context);
}

/* ---- Looking at them ---- */

static void copy_text(JSContext *context, JSValue value, char *text, size_t size) {
    const char *found = JS_IsException(value) ? NULL : JS_ToCString(context, value);
    if (!found)
        JS_FreeValue(context, JS_GetException(context)); /* a getter of an error has thrown, or there is no memory */
    snprintf(text, size, "%s", found ? found : "");
    JS_FreeCString(context, found);
    JS_FreeValue(context, value);
}

static void copy_property(JSContext *context, JSValueConst object, const char *name, char *text, size_t size) {
    JSValue value = JS_GetPropertyStr(context, object, name);
    if (JS_IsUndefined(value))
        text[0] = 0;
    else
        copy_text(context, value, text, size);
}

void wf_js_describe_error(JSContext *context, JSValueConst value, weft_js_error *out) {
    out->name[0] = out->code[0] = out->stack[0] = 0;
    if (!JS_IsError(value)) {
        copy_text(context, JS_DupValue(context, value), out->message, sizeof out->message);
        return;
    }
    copy_property(context, value, "name", out->name, sizeof out->name);
    copy_property(context, value, "code", out->code, sizeof out->code);
    copy_property(context, value, "message", out->message, sizeof out->message);
    copy_property(context, value, "stack", out->stack, sizeof out->stack);
}

int weft_js_describe(weft_js *js, weft_js_value value, weft_js_error *out) {
    if (!wf_js_is_usable(js))
        return weft_js_pending(js);
    if (!out)
        return wf_js_fail_type(js, -EINVAL, "weft_js_describe needs room for what it says");
    JSValue taken = wf_js_take(js, value);
    if (JS_IsException(taken))
        return wf_js_running(js)->status;
    out->status = -EOWNERDEAD;
    wf_js_describe_error(js->context, taken, out);
    JS_FreeValue(js->context, taken);
    return 0;
}

int weft_js_pending(weft_js *js) {
    return wf_js_is_inside(js) ? wf_js_running(js)->status : -EPERM;
}

int weft_js_catch(weft_js *js, weft_js_error *out) {
    int status = weft_js_pending(js);
    if (status == 0 || status == -EPERM)
        return status;
    struct wf_js_frame *frame = wf_js_running(js);
    if (out) {
        out->status = status;
        if (js->has_ended) {
            *out = (weft_js_error){.status = -EPIPE, .name = "Error", .message = "the script has ended"};
            return -EPIPE;
        }
        wf_js_describe_error(js->context, frame->error, out);
    }
    if (js->has_ended)
        return -EPIPE;
    JS_FreeValue(js->context, frame->error);
    frame->error = JS_UNDEFINED;
    frame->status = 0;
    return status;
}

weft_js_value weft_js_catch_value(weft_js *js) {
    int status = weft_js_pending(js);
    if (status == 0 || status == -EPERM || js->has_ended)
        return (weft_js_value){0};
    struct wf_js_frame *frame = wf_js_running(js);
    JSValue error = frame->error;
    frame->error = JS_UNDEFINED;
    frame->status = 0;
    return wf_js_hand(js, error);
}

/* ---- Throwing ---- */

weft_js_value weft_js_throw(weft_js *js, weft_js_value value) {
    if (wf_js_is_usable(js)) {
        JSValue taken = wf_js_take(js, value);
        if (!JS_IsException(taken)) {
            JS_Throw(js->context, taken);
            wf_js_fail(js, -EOWNERDEAD);
        }
    }
    return (weft_js_value){0};
}

static void throw_kind(JSContext *context, weft_js_error_kind kind, const char *text) {
    switch (kind) {
    case WEFT_JS_TYPE_ERROR:
        JS_ThrowTypeError(context, "%s", text);
        return;
    case WEFT_JS_RANGE_ERROR:
        JS_ThrowRangeError(context, "%s", text);
        return;
    case WEFT_JS_SYNTAX_ERROR:
        JS_ThrowSyntaxError(context, "%s", text);
        return;
    case WEFT_JS_REFERENCE_ERROR:
        JS_ThrowReferenceError(context, "%s", text);
        return;
    default:
        wf_js_throw_coded(context, NULL, text);
    }
}

weft_js_value weft_js_throw_error(weft_js *js, weft_js_error_kind kind, const char *format, ...) {
    if (wf_js_is_usable(js)) {
        char text[256];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format ? format : "", arguments);
        va_end(arguments);
        throw_kind(js->context, kind, text);
        wf_js_fail(js, -EOWNERDEAD);
    }
    return (weft_js_value){0};
}

weft_js_value weft_js_throw_errno(weft_js *js, int error, const char *what) {
    if (wf_js_is_usable(js)) {
        int status = error < 0 ? error : -EINVAL;
        wf_js_throw_errno(js->context, status, what ? what : "call");
        wf_js_fail(js, status);
    }
    return (weft_js_value){0};
}
