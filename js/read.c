/* SPDX-License-Identifier: MIT
 *
 * js/read.c - what values are, for C: kinds, numbers, texts, bytes.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "foreign.h"

static const char *const kinds[] = {
    [WEFT_JS_NONE] = "no value",     [WEFT_JS_UNDEFINED] = "undefined", [WEFT_JS_NULL] = "null",
    [WEFT_JS_BOOL] = "a boolean",    [WEFT_JS_NUMBER] = "a number",     [WEFT_JS_BIGINT] = "a BigInt",
    [WEFT_JS_STRING] = "a string",   [WEFT_JS_SYMBOL] = "a symbol",     [WEFT_JS_OBJECT] = "an object",
    [WEFT_JS_ARRAY] = "an array",    [WEFT_JS_FUNCTION] = "a function", [WEFT_JS_ERROR] = "an error",
    [WEFT_JS_PROMISE] = "a promise", [WEFT_JS_BYTES] = "bytes",         [WEFT_JS_INSTANCE] = "an object",
};

static weft_js_kind kind_of_object(JSContext *context, JSValueConst value) {
    if (JS_IsArray(value))
        return WEFT_JS_ARRAY;
    if (JS_IsFunction(context, value))
        return WEFT_JS_FUNCTION;
    if (JS_IsError(value))
        return WEFT_JS_ERROR;
    if ((int)JS_PromiseState(context, value) >= 0)
        return WEFT_JS_PROMISE;
    enum wf_engine_kind kind = wf_engine_kind(value);
    if (kind == WF_ENGINE_BUFFER || kind == WF_ENGINE_SHARED || kind == WF_ENGINE_VIEW)
        return WEFT_JS_BYTES;
    return wf_js_is_class_object(value) ? WEFT_JS_INSTANCE : WEFT_JS_OBJECT;
}

static weft_js_kind kind_of(JSContext *context, JSValueConst value) {
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_UNDEFINED:
        return WEFT_JS_UNDEFINED;
    case JS_TAG_NULL:
        return WEFT_JS_NULL;
    case JS_TAG_BOOL:
        return WEFT_JS_BOOL;
    case JS_TAG_OBJECT:
        return kind_of_object(context, value);
    default:
        return JS_IsNumber(value)   ? WEFT_JS_NUMBER
               : JS_IsString(value) ? WEFT_JS_STRING
               : JS_IsSymbol(value) ? WEFT_JS_SYMBOL
                                    : WEFT_JS_BIGINT;
    }
}

weft_js_kind weft_js_kind_of(weft_js *js, weft_js_value value) {
    if (!wf_js_is_usable(js) || !wf_js_is_good(js, value))
        return WEFT_JS_NONE;
    JSValue taken = wf_js_take(js, value);
    weft_js_kind kind = kind_of(js->context, taken);
    JS_FreeValue(js->context, taken);
    return kind;
}

/* The argument of the running function that it is, from 1; 0: none of them. */
static int number_of(const struct wf_js_frame *frame, weft_js_value value) {
    for (int i = 0; i < frame->count; i++)
        if (frame->values[i].bits == value.bits)
            return i + 1;
    return 0;
}

static void fail_kind(weft_js *js, weft_js_value handle, JSValueConst value, const char *wanted) {
    int number = number_of(wf_js_running(js), handle);
    const char *kind = kinds[kind_of(js->context, value)];
    if (number)
        wf_js_fail_type(js, -EINVAL, "argument %d is %s, not %s", number, kind, wanted);
    else
        wf_js_fail_type(js, -EINVAL, "%s where %s is wanted", kind, wanted);
}

bool weft_js_truth(weft_js *js, weft_js_value value) {
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, value) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return false;
    bool is_true = JS_ToBool(js->context, taken) == 1;
    JS_FreeValue(js->context, taken);
    return is_true;
}

/* ---- Numbers ---- */

double weft_js_as_number(weft_js *js, weft_js_value value) {
    double number = 0;
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, value) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return 0;
    if (JS_IsNumber(taken))
        JS_ToFloat64(js->context, &number, taken);
    else
        fail_kind(js, value, taken, "a number");
    JS_FreeValue(js->context, taken);
    return number;
}

/* A BigInt keeps its lowest 64 bits: if it is not what they make again, there were more. */
static bool read_bigint(weft_js *js, JSValueConst value, bool is_signed, int64_t *number) {
    if (JS_ToBigInt64(js->context, number, value))
        return false;
    JSValue again = is_signed ? JS_NewBigInt64(js->context, *number) : JS_NewBigUint64(js->context, (uint64_t)*number);
    bool is_same = !JS_IsException(again) && JS_IsStrictEqual(js->context, again, value);
    JS_FreeValue(js->context, again);
    return is_same;
}

static bool read_whole(weft_js *js, JSValueConst value, bool is_signed, int64_t *number) {
    double plain;
    if (JS_ToFloat64(js->context, &plain, value) || plain != floor(plain))
        return false;
    double least = is_signed ? -0x1p63 : 0, end = is_signed ? 0x1p63 : 0x1p64;
    if (plain < least || plain >= end)
        return false;
    *number = is_signed ? (int64_t)plain : (int64_t)(uint64_t)plain;
    return true;
}

static int64_t as_integer(weft_js *js, weft_js_value value, bool is_signed) {
    int64_t number = 0;
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, value) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return 0;
    weft_js_kind kind = kind_of(js->context, taken);
    bool is_number = kind == WEFT_JS_NUMBER || kind == WEFT_JS_BIGINT;
    bool is_good = kind == WEFT_JS_NUMBER   ? read_whole(js, taken, is_signed, &number)
                   : kind == WEFT_JS_BIGINT ? read_bigint(js, taken, is_signed, &number)
                                            : false;
    if (!is_number) {
        fail_kind(js, value, taken, "a whole number");
    } else if (!is_good) {
        if (!JS_HasException(js->context))
            JS_ThrowRangeError(js->context, "a number is not whole, or has more than 64 bits");
        wf_js_fail(js, -ERANGE);
    }
    JS_FreeValue(js->context, taken);
    return is_good ? number : 0;
}

int64_t weft_js_as_int64(weft_js *js, weft_js_value value) {
    return as_integer(js, value, true);
}

uint64_t weft_js_as_uint64(weft_js *js, weft_js_value value) {
    return (uint64_t)as_integer(js, value, false);
}

/* ---- Texts ---- */

/* Halves of surrogate pairs are as long as what stands for them. The text is one that the engine has made for us: those that are
 * part of a string have no such halves. */
static void mend_halves(const char *text, size_t size) {
    const char *end = text + size;
    for (char *at = memchr(text, 0xed, size); at; at = memchr(at, 0xed, (size_t)(end - at))) {
        if (end - at >= 3 && (unsigned char)at[1] >= 0xa0)
            memcpy(at, "\xef\xbf\xbd", 3); // NOLINT(bugprone-not-null-terminated-result): in the middle of a text
        at++;
    }
}

static const char *hold(weft_js *js, JSValue value, size_t *size) {
    size_t length;
    const char *text = wf_js_hold_text(js, value, &length);
    if (text)
        mend_halves(text, length);
    if (text && size)
        *size = length;
    return text;
}

const char *weft_js_as_text(weft_js *js, weft_js_value value, size_t *size) {
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, value) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return NULL;
    if (JS_IsString(taken))
        return hold(js, taken, size);
    fail_kind(js, value, taken, "a string");
    JS_FreeValue(js->context, taken);
    return NULL;
}

const char *weft_js_to_text(weft_js *js, weft_js_value value, size_t *size) {
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, value) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return NULL;
    JSValue text =
        JS_IsSymbol(taken) ? JS_GetPropertyStr(js->context, taken, "description") : JS_ToString(js->context, taken);
    JS_FreeValue(js->context, taken);
    if (JS_IsUndefined(text)) /* of a symbol without one */
        text = JS_NewString(js->context, "");
    return hold(js, text, size);
}

const char *weft_js_to_json(weft_js *js, weft_js_value value, size_t *size) {
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, value) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return NULL;
    JSValue text = JS_JSONStringify(js->context, taken, JS_UNDEFINED, JS_UNDEFINED);
    JS_FreeValue(js->context, taken);
    return JS_IsUndefined(text) ? NULL : hold(js, text, size);
}

/* ---- Bytes ---- */

void *weft_js_as_bytes(weft_js *js, weft_js_value value, size_t *size) {
    JSValueConst buffer;
    uint8_t *bytes = NULL;
    size_t length = 0;
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, value) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return NULL;
    int found = wf_ffi_bytes_of(js->context, taken, &bytes, &length, &buffer);
    if (!size)
        wf_js_fail_type(js, -EINVAL, "weft_js_as_bytes needs room for the size");
    else if (found == 0)
        fail_kind(js, value, taken, "bytes");
    else if (found < 0)
        wf_js_fail_type(js, -EINVAL, "bytes are gone: their buffer was transferred or made smaller");
    else
        *size = length;
    JS_FreeValue(js->context, taken); /* the handle has it */
    return found > 0 && size ? bytes : NULL;
}

/* ---- Two values ---- */

bool weft_js_equals(weft_js *js, weft_js_value a, weft_js_value b) {
    JSValue values[2];
    if (!wf_js_is_usable(js) || !wf_js_take_all(js, 2, (weft_js_value[]){a, b}, values))
        return false;
    bool is_equal = JS_IsStrictEqual(js->context, values[0], values[1]);
    wf_js_give_all(js, 2, values);
    return is_equal;
}

bool weft_js_is_instance(weft_js *js, weft_js_value value, weft_js_value constructor) {
    JSValue values[2];
    if (!wf_js_is_usable(js) || !wf_js_take_all(js, 2, (weft_js_value[]){value, constructor}, values))
        return false;
    int answer = JS_IsInstanceOf(js->context, values[0], values[1]);
    wf_js_give_all(js, 2, values);
    if (answer < 0)
        wf_js_fail(js, -EOWNERDEAD);
    return answer == 1;
}
