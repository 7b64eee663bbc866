/* SPDX-License-Identifier: MIT
 *
 * js/text.c - UTF-8, in and out.
 *
 * The engine takes bytes for what they should be; whether they are is found here, and what is wrong becomes U+FFFD, as the
 * Encoding standard says: one for each longest beginning of a sequence that could have become one.
 */
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* How many bytes a sequence that begins so has, and what its second one may be; 0: none begins so. */
static unsigned utf8_length(uint8_t first, uint8_t *low, uint8_t *high) {
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

bool wf_js_is_utf8(const void *opaque, size_t size) {
    const uint8_t *bytes = opaque;
    for (size_t i = 0; i < size;) {
        uint8_t low, high;
        unsigned length = utf8_length(bytes[i], &low, &high);
        if (length == 0 || length > size - i || (length > 1 && (bytes[i + 1] < low || bytes[i + 1] > high)))
            return false;
        for (unsigned k = 2; k < length; k++)
            if ((bytes[i + k] & 0xc0) != 0x80)
                return false;
        i += length;
    }
    return true;
}

/* How many bytes belong to what begins here; *is_good: and are a character. */
static size_t step(const uint8_t *bytes, size_t size, bool *is_good) {
    uint8_t low, high;
    unsigned length = utf8_length(bytes[0], &low, &high), seen = 1;
    while (seen < length && seen < size && bytes[seen] >= low && bytes[seen] <= high) {
        seen++;
        low = 0x80;
        high = 0xbf;
    }
    *is_good = length > 0 && seen == length;
    return seen;
}

JSValue wf_js_new_text(JSContext *context, const char *bytes, size_t size) {
    static const char replacement[] = "\xef\xbf\xbd";
    const uint8_t *from = (const uint8_t *)bytes;
    if (wf_js_is_utf8(from, size))
        return JS_NewStringLen(context, bytes, size);
    char *mended = size < SIZE_MAX / 3 ? malloc(3 * size) : NULL;
    if (!mended)
        return JS_ThrowOutOfMemory(context);
    size_t at = 0, used = 0;
    while (at < size) {
        bool is_good;
        size_t length = step(from + at, size - at, &is_good);
        memcpy(mended + used, is_good ? bytes + at : replacement, is_good ? length : 3);
        used += is_good ? length : 3;
        at += length;
    }
    JSValue text = JS_NewStringLen(context, mended, used);
    free(mended);
    return text;
}

/* encodeUtf8(text) -> ArrayBuffer */
static JSValue js_encode_utf8(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    size_t size;
    (void)self;
    const char *text = count > 0 ? JS_ToCStringLen(context, &size, arguments[0]) : NULL;
    if (!text)
        return JS_EXCEPTION;
    JSValue buffer = JS_NewArrayBufferCopy(context, (const uint8_t *)text, size);
    JS_FreeCString(context, text);
    return buffer;
}

/* utf8Size(text): how many bytes it takes; half a pair takes three, as U+FFFD does */
static JSValue js_utf8_size(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_engine_text text;
    (void)self;
    if (count < 1 || wf_engine_text_of(context, arguments[0], &text))
        return JS_EXCEPTION;
    int64_t size = text.length;
    const uint8_t *narrow = text.characters;
    const uint16_t *wide = text.characters;
    for (uint32_t i = 0; text.width == 1 && i < text.length; i++)
        size += narrow[i] >> 7;
    for (uint32_t i = 0; text.width == 2 && i < text.length; i++) {
        bool is_pair = (wide[i] & 0xfc00) == 0xd800 && i + 1 < text.length && (wide[i + 1] & 0xfc00) == 0xdc00;
        size += wide[i] < 0x80 ? 0 : wide[i] < 0x800 ? 1 : 2;
        i += is_pair; /* four bytes together */
    }
    wf_engine_text_done(context, &text);
    return JS_NewInt64(context, size);
}

/* decodeUtf8(buffer, offset, length) -> text; undefined when it is none */
static JSValue js_decode_utf8(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    uint32_t offset, length;
    size_t size;
    (void)self;
    uint8_t *bytes = count > 2 ? JS_GetArrayBuffer(context, &size, arguments[0]) : NULL;
    if (count < 3 || JS_ToUint32(context, &offset, arguments[1]) || JS_ToUint32(context, &length, arguments[2]))
        return JS_EXCEPTION;
    if (!bytes) { /* empty ones may have no address */
        JS_FreeValue(context, JS_GetException(context));
        return length == 0 ? JS_NewString(context, "") : JS_UNDEFINED;
    }
    if (offset > size || length > size - offset)
        return JS_ThrowRangeError(context, "outside of the buffer");
    return wf_js_is_utf8(bytes + offset, length) ? JS_NewStringLen(context, (const char *)bytes + offset, length)
                                                 : JS_UNDEFINED;
}

int wf_js_add_text(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("encodeUtf8", 1, js_encode_utf8),
        JS_CFUNC_DEF("decodeUtf8", 3, js_decode_utf8),
        JS_CFUNC_DEF("utf8Size", 1, js_utf8_size),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
