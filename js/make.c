/* SPDX-License-Identifier: MIT
 *
 * js/make.c - values that C makes. Each is handed out by a handle of the running frame: js/handle.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const weft_js_value none;

weft_js_value weft_js_number(weft_js *js, double number) {
    return wf_js_is_usable(js) ? wf_js_hand(js, JS_NewFloat64(js->context, number)) : none;
}

weft_js_value weft_js_int64(weft_js *js, int64_t number) {
    static const int64_t most = INT64_C(1) << 53;
    if (!wf_js_is_usable(js))
        return none;
    if (number >= -most && number <= most)
        return wf_js_hand(js, JS_NewInt64(js->context, number));
    JS_ThrowRangeError(js->context, "%lld is no exact Number", (long long)number);
    wf_js_fail(js, -ERANGE);
    return none;
}

weft_js_value weft_js_bigint(weft_js *js, int64_t number) {
    return wf_js_is_usable(js) ? wf_js_hand_or(js, JS_NewBigInt64(js->context, number), -ENOMEM) : none;
}

weft_js_value weft_js_biguint(weft_js *js, uint64_t number) {
    return wf_js_is_usable(js) ? wf_js_hand_or(js, JS_NewBigUint64(js->context, number), -ENOMEM) : none;
}

weft_js_value weft_js_string(weft_js *js, const char *bytes, size_t size) {
    if (!wf_js_is_usable(js))
        return none;
    if (!bytes && size)
        wf_js_fail_type(js, -EINVAL, "a string of C is null");
    else if (!wf_js_is_utf8(bytes, size))
        wf_js_fail_type(js, -EILSEQ, "a string of C is not UTF-8");
    else
        return wf_js_hand_or(js, JS_NewStringLen(js->context, bytes ? bytes : "", size), -ENOMEM);
    return none;
}

weft_js_value weft_js_text(weft_js *js, const char *text) {
    return weft_js_string(js, text, text ? strlen(text) : 1);
}

weft_js_value weft_js_object(weft_js *js) {
    return wf_js_is_usable(js) ? wf_js_hand_or(js, JS_NewObject(js->context), -ENOMEM) : none;
}

weft_js_value weft_js_array(weft_js *js) {
    return wf_js_is_usable(js) ? wf_js_hand_or(js, JS_NewArray(js->context), -ENOMEM) : none;
}

char *wf_js_terminated(weft_js *js, const char *text, size_t size) {
    char *copy = malloc(size + 1);
    if (!copy) {
        JS_ThrowOutOfMemory(js->context);
        wf_js_fail(js, -ENOMEM);
        return NULL;
    }
    memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

weft_js_value weft_js_parse(weft_js *js, const char *text, size_t size) {
    if (!wf_js_is_usable(js))
        return none;
    if (!text || !wf_js_is_utf8(text, size)) {
        wf_js_fail_type(js, text ? -EILSEQ : -EINVAL, text ? "a text of C is not UTF-8" : "a text of C is null");
        return none;
    }
    char *copy = wf_js_terminated(js, text, size);
    if (!copy)
        return none;
    JSValue value = JS_ParseJSON(js->context, copy, size, "JSON");
    free(copy);
    return wf_js_hand(js, value);
}

/* ---- Bytes ---- */

weft_js_value weft_js_bytes(weft_js *js, const void *bytes, size_t size) {
    if (!wf_js_is_usable(js))
        return none;
    if (!bytes && size) {
        wf_js_fail_type(js, -EINVAL, "bytes of C are null");
        return none;
    }
    return wf_js_hand_or(js, JS_NewUint8ArrayCopy(js->context, bytes, size), -ENOMEM);
}

/* Who gets bytes back that were given away. */
struct owner {
    void (*release)(void *bytes, void *arg);
    void *arg;
    weft_js *js;
};

static void release(struct owner *owner, void *bytes) {
    if (owner->release) {
        owner->js->embed.finalizing++;
        owner->release(bytes, owner->arg);
        owner->js->embed.finalizing--;
    }
    free(owner);
}

/* The engine asks for another size, or for none: it cannot be had. */
static void *resize(JSRuntime *runtime, void *opaque, void *bytes, size_t size) {
    (void)runtime;
    if (size == 0)
        release(opaque, bytes);
    return NULL;
}

weft_js_value weft_js_give_bytes(weft_js *js, void *bytes, size_t size, void (*fn)(void *bytes, void *arg), void *arg) {
    struct owner *owner = wf_js_is_usable(js) ? malloc(sizeof *owner) : NULL;
    if (!owner) {
        if (wf_js_is_usable(js)) {
            JS_ThrowOutOfMemory(js->context);
            wf_js_fail(js, -ENOMEM);
        }
        if (fn)
            fn(bytes, arg);
        return none;
    }
    *owner = (struct owner){fn, arg, js};
    JSValue buffer = JS_EXCEPTION;
    if (!bytes)
        JS_ThrowTypeError(js->context, "bytes of C are null");
    else
        buffer = JS_NewArrayBuffer(js->context, bytes, size, 0, resize, owner, false);
    if (JS_IsException(buffer)) {
        release(owner, bytes);
        wf_js_fail(js, bytes ? -ENOMEM : -EINVAL);
        return none;
    }
    JSValue array = JS_NewTypedArray(js->context, 1, &buffer, JS_TYPED_ARRAY_UINT8);
    JS_FreeValue(js->context, buffer);
    return wf_js_hand_or(js, array, -ENOMEM);
}
