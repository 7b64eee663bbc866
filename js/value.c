/* SPDX-License-Identifier: MIT
 *
 * js/value.c - values that go between JavaScript and C: texts, bytes, times.
 */
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* A call that answers at once takes about a microsecond: a timer is late by less than a tenth of a millisecond. */
enum { HURRY_MOST = 64 };

char *wf_js_copy_text(JSContext *context, JSValueConst value) {
    const char *text = JS_ToCString(context, value);
    char *copy = text ? strdup(text) : NULL;
    JS_FreeCString(context, text);
    if (text && !copy)
        JS_ThrowOutOfMemory(context);
    return copy;
}

bool wf_js_copy_bytes(JSContext *context, JSValueConst value, char **bytes, size_t *size) {
    const uint8_t *from = JS_GetUint8Array(context, size, value);
    if (!from && JS_HasException(context))
        return false;
    *bytes = malloc(*size + 1);
    if (!*bytes) {
        JS_ThrowOutOfMemory(context);
        return false;
    }
    if (from && *size)
        memcpy(*bytes, from, *size);
    return true;
}

JSValue wf_js_give_bytes(JSContext *context, char *bytes, size_t size) {
    struct wf_engine_bytes given = {.bytes = (uint8_t *)bytes, .block = bytes, .length = (uint32_t)size, .room = -1};
    JSValue buffer = size > INT32_MAX ? JS_ThrowRangeError(context, "no buffer can have %zu bytes", size)
                                      : wf_engine_give_bytes(context, &given);
    if (JS_IsException(buffer)) {
        free(bytes);
        return buffer;
    }
    JSValue array = JS_NewTypedArray(context, 1, &buffer, JS_TYPED_ARRAY_UINT8);
    JS_FreeValue(context, buffer);
    return array;
}

bool wf_js_until(JSContext *context, JSValueConst value, weft_time *until) {
    double milliseconds;
    if (JS_ToFloat64(context, &milliseconds, value))
        return false;
    *until = milliseconds < 0 || milliseconds > 9e12 ? WEFT_NEVER : weft_after((int64_t)(milliseconds * 1e6));
    return true;
}

bool wf_js_may_hurry(JSContext *context) {
    weft_js *js = wf_js_of(context);
    return !wf_js_is_called(js) && js->hurried++ < HURRY_MOST;
}

JSValue wf_js_throw_coded(JSContext *context, const char *code, const char *message) {
    JSValue error = JS_NewError(context);
    if (JS_IsException(error))
        return error;
    JS_DefinePropertyValueStr(context, error, "message", JS_NewString(context, message),
                              JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    if (code)
        JS_SetPropertyStr(context, error, "code", JS_NewString(context, code));
    return JS_Throw(context, error);
}

JSValue wf_js_at_once(JSContext *context, JSValue value) {
    weft_js *js = wf_js_of(context);
    return js->holder || wf_js_is_called(js) ? value : wf_js_settled(context, value);
}

JSValue wf_js_settled(JSContext *context, JSValue value) {
    JSValue settle[2];
    bool has_failed = JS_IsException(value);
    if (has_failed)
        value = JS_GetException(context);
    JSValue promise = JS_NewPromiseCapability(context, settle);
    if (!JS_IsException(promise)) {
        JS_FreeValue(context, JS_Call(context, settle[has_failed], JS_UNDEFINED, 1, &value));
        JS_FreeValue(context, settle[0]);
        JS_FreeValue(context, settle[1]);
    }
    JS_FreeValue(context, value);
    return promise;
}
