/* SPDX-License-Identifier: MIT
 *
 * js/ffi_value.c - from JavaScript to the bytes of a type, and back.
 *
 * Nothing is cut, rounded to a whole number, or made of something else: a value that the type does not have is an
 * error that says where it stands. Integers of 64 bits come back as numbers when those are exact and as BigInts when
 * not; either goes in.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foreign.h"

enum { WHERE_SIZE = 256 };

/* What a number can say exactly. */
#define SAFE_MAX 9007199254740991LL

static bool put_integer(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                        const struct wf_ffi_trail *trail);
static bool put_float(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                      const struct wf_ffi_trail *trail);
static bool put_pointer(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                        const struct wf_ffi_trail *trail);
static bool put_text(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                     const struct wf_ffi_trail *trail);
static bool put_struct(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                       const struct wf_ffi_trail *trail);
static bool put_array(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                      const struct wf_ffi_trail *trail);
static bool refuse(JSContext *context, const struct wf_ffi_trail *trail, bool is_range, const char *what,
                   const char *expected);
static JSValue get_struct(JSContext *context, const struct wf_ffi_type *type, const char *place);
static JSValue get_array(JSContext *context, const struct wf_ffi_type *type, const char *place);

/* ---- In ---- */

bool wf_ffi_put(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                const struct wf_ffi_trail *trail) {
    switch (type->kind) {
    case WF_FFI_VOID:
        return true;
    case WF_FFI_BOOL:
        if (!JS_IsBool(value))
            return wf_ffi_refuse_type(context, trail, value, type->name);
        *(bool *)place = JS_ToBool(context, value) > 0;
        return true;
    case WF_FFI_FLOAT:
    case WF_FFI_DOUBLE:
        return put_float(context, type, value, place, trail);
    case WF_FFI_POINTER:
    case WF_FFI_STRING:
    case WF_FFI_BUFFER:
    case WF_FFI_CALLBACK:
        return put_pointer(context, type, value, place, trail);
    case WF_FFI_STRUCT:
        return put_struct(context, type, value, place, trail);
    case WF_FFI_ARRAY:
        return put_array(context, type, value, place, trail);
    case WF_FFI_TEXT:
        return put_text(context, type, value, place, trail);
    default:
        return put_integer(context, type, value, place, trail);
    }
}

/* From a BigInt, whose lowest 64 bits the engine tells: they are all of it if they make the same one again. */
static bool is_exact(JSContext *context, JSValueConst value, uint64_t bits, bool is_signed) {
    JSValue again = is_signed ? JS_NewBigInt64(context, (int64_t)bits) : JS_NewBigUint64(context, bits);
    bool is_same = JS_IsStrictEqual(context, value, again);
    JS_FreeValue(context, again);
    return is_same;
}

/* The 64 bits of an integer that has them, and whether they are below zero. */
static bool read_integer(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, uint64_t *bits,
                         bool *is_negative, const struct wf_ffi_trail *trail) {
    if (JS_IsBigInt(value)) {
        int64_t lowest;
        if (JS_ToBigInt64(context, &lowest, value))
            return false;
        *bits = (uint64_t)lowest;
        *is_negative = lowest < 0 && is_exact(context, value, *bits, true);
        return (*is_negative || is_exact(context, value, *bits, lowest >= 0)) ||
               wf_ffi_refuse_range(context, trail, value, type->name);
    }
    double number;
    if (!JS_IsNumber(value))
        return wf_ffi_refuse_type(context, trail, value, type->name);
    if (JS_ToFloat64(context, &number, value))
        return false;
    if (!(fabs(number) <= (double)SAFE_MAX) || trunc(number) != number)
        return wf_ffi_refuse_range(context, trail, value, type->name);
    *bits = (uint64_t)(int64_t)number;
    *is_negative = number < 0;
    return true;
}

static bool put_integer(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                        const struct wf_ffi_trail *trail) {
    uint64_t bits = 0;
    bool is_negative = false;
    unsigned width = (unsigned)type->size * 8;
    bool is_signed =
        type->kind == WF_FFI_I8 || type->kind == WF_FFI_I16 || type->kind == WF_FFI_I32 || type->kind == WF_FFI_I64;
    if (JS_VALUE_GET_TAG(value) == JS_TAG_INT) {
        bits = (uint64_t)(int64_t)JS_VALUE_GET_INT(value);
        is_negative = JS_VALUE_GET_INT(value) < 0;
    } else if (!read_integer(context, type, value, &bits, &is_negative, trail)) {
        return false;
    }
    uint64_t highest = UINT64_MAX >> (64 - width + is_signed);
    if (is_negative ? !is_signed || ~bits > highest : bits > highest)
        return wf_ffi_refuse_range(context, trail, value, type->name);
    memcpy(place, &bits, type->size); /* the lowest bytes come first on the machines that weft knows */
    return true;
}

static bool put_float(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                      const struct wf_ffi_trail *trail) {
    double number;
    if (!JS_IsNumber(value))
        return wf_ffi_refuse_type(context, trail, value, type->name);
    if (JS_ToFloat64(context, &number, value))
        return false;
    if (type->kind == WF_FFI_DOUBLE) {
        memcpy(place, &number, sizeof number);
        return true;
    }
    float shorter = (float)number;
    if (isinf(shorter) && !isinf(number))
        return wf_ffi_refuse_range(context, trail, value, type->name);
    memcpy(place, &shorter, sizeof shorter);
    return true;
}

/* What points somewhere without our help: also in memory, where nobody would keep a buffer or a text. */
static bool put_pointer(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                        const struct wf_ffi_trail *trail) {
    static const char expected[] = "pointer (a Pointer, an address as BigInt, or null)";
    static const char expected_text[] = "pointer to a string (as ffi.string makes it)";
    static const struct wf_ffi_type address_type = {.name = expected, .kind = WF_FFI_U64, .size = sizeof(void *)};
    bool is_pointer, is_callback;
    void *address = NULL;
    struct wf_ffi_pointer *pointer = wf_ffi_pointer_of(value, &is_pointer);
    struct wf_ffi_callback *callback = wf_ffi_callback_of(value, &is_callback);
    if (JS_IsBigInt(value))
        return put_integer(context, &address_type, value, place, trail);
    if (is_pointer && !pointer) {
        JS_ThrowTypeError(context, "The memory of this pointer was freed");
        return false;
    }
    if (is_callback && !callback) {
        JS_ThrowTypeError(context, "The callback is closed");
        return false;
    }
    if (pointer)
        address = pointer->address;
    else if (callback)
        address = wf_ffi_callback_address(callback);
    else if (!JS_IsNull(value))
        return wf_ffi_refuse_type(context, trail, value, type->kind == WF_FFI_STRING ? expected_text : expected);
    memcpy(place, &address, sizeof address);
    return true;
}

static bool put_text(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                     const struct wf_ffi_trail *trail) {
    size_t size;
    if (!JS_IsString(value))
        return wf_ffi_refuse_type(context, trail, value, type->name);
    const char *text = JS_ToCStringLen(context, &size, value);
    if (!text)
        return false;
    bool fits = size < type->size && !memchr(text, 0, size);
    if (fits) {
        memset(place, 0, type->size);
        memcpy(place, text, size);
        wf_ffi_mend_text(place, size);
    }
    JS_FreeCString(context, text);
    return fits || wf_ffi_refuse_range(context, trail, value, type->name);
}

static bool put_struct(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                       const struct wf_ffi_trail *trail) {
    bool is_pointer;
    struct wf_ffi_pointer *view = wf_ffi_pointer_of(value, &is_pointer);
    if (view && view->type == type) {
        memmove(place, view->address, type->size);
        return true;
    }
    if (!JS_IsObject(value) || is_pointer)
        return wf_ffi_refuse_type(context, trail, value, type->name);
    for (uint32_t i = 0; i < type->count; i++) {
        const struct wf_ffi_field *field = &type->fields[i];
        struct wf_ffi_trail here = {.outer = trail, .field = field->name};
        JSValue member = JS_GetProperty(context, value, field->name);
        bool is_good =
            !JS_IsException(member) && wf_ffi_put(context, field->type, member, (char *)place + field->offset, &here);
        JS_FreeValue(context, member);
        if (!is_good)
            return false;
    }
    return true;
}

static bool put_array(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                      const struct wf_ffi_trail *trail) {
    int64_t length;
    if (!JS_IsObject(value))
        return wf_ffi_refuse_type(context, trail, value, type->name);
    if (JS_GetLength(context, value, &length))
        return false;
    if (length != type->count) {
        char text[32];
        snprintf(text, sizeof text, "a list of %lld", (long long)length);
        return refuse(context, trail, true, text, type->name);
    }
    for (uint32_t i = 0; i < type->count; i++) {
        struct wf_ffi_trail here = {.outer = trail, .field = JS_ATOM_NULL, .index = i};
        JSValue member = JS_GetPropertyUint32(context, value, i);
        bool is_good = !JS_IsException(member) &&
                       wf_ffi_put(context, type->element, member, (char *)place + i * type->element->size, &here);
        JS_FreeValue(context, member);
        if (!is_good)
            return false;
    }
    return true;
}

void wf_ffi_mend_text(char *text, size_t size) {
    for (size_t i = 0; i + 2 < size; i++)
        if ((unsigned char)text[i] == 0xed && (unsigned char)text[i + 1] >= 0xa0)
            text[i] = (char)0xef, text[i + 1] = (char)0xbf, text[i + 2] = (char)0xbd;
}

/* ---- Out ---- */

#define LOAD(like, make) \
    do { \
        like loaded; \
        memcpy(&loaded, place, sizeof loaded); \
        return make; \
    } while (0)

JSValue wf_ffi_get(JSContext *context, const struct wf_ffi_type *type, const void *place) {
    switch (type->kind) {
    case WF_FFI_VOID:
        return JS_UNDEFINED;
    case WF_FFI_BOOL:
        LOAD(uint8_t, JS_NewBool(context, loaded != 0));
    case WF_FFI_I8:
        LOAD(int8_t, JS_NewInt32(context, loaded));
    case WF_FFI_U8:
        LOAD(uint8_t, JS_NewInt32(context, loaded));
    case WF_FFI_I16:
        LOAD(int16_t, JS_NewInt32(context, loaded));
    case WF_FFI_U16:
        LOAD(uint16_t, JS_NewInt32(context, loaded));
    case WF_FFI_I32:
        LOAD(int32_t, JS_NewInt32(context, loaded));
    case WF_FFI_U32:
        LOAD(uint32_t, JS_NewInt64(context, loaded));
    case WF_FFI_I64:
        LOAD(int64_t, loaded >= -SAFE_MAX && loaded <= SAFE_MAX ? JS_NewInt64(context, loaded)
                                                                : JS_NewBigInt64(context, loaded));
    case WF_FFI_U64:
        LOAD(uint64_t, loaded <= SAFE_MAX ? JS_NewInt64(context, (int64_t)loaded) : JS_NewBigUint64(context, loaded));
    case WF_FFI_FLOAT:
        LOAD(float, JS_NewFloat64(context, loaded));
    case WF_FFI_DOUBLE:
        LOAD(double, JS_NewFloat64(context, loaded));
    case WF_FFI_POINTER:
    case WF_FFI_BUFFER:
    case WF_FFI_CALLBACK:
        LOAD(void *, loaded ? wf_ffi_pointer_new(context, loaded, SIZE_MAX, NULL) : JS_NULL);
    case WF_FFI_STRING:
        LOAD(char *, loaded ? wf_js_new_text(context, loaded, strlen(loaded)) : JS_NULL);
    case WF_FFI_TEXT:
        return wf_js_new_text(context, place, strnlen(place, type->size));
    case WF_FFI_STRUCT:
        return get_struct(context, type, place);
    default:
        return get_array(context, type, place);
    }
}

static JSValue get_struct(JSContext *context, const struct wf_ffi_type *type, const char *place) {
    JSValue object = JS_NewObject(context);
    for (uint32_t i = 0; i < type->count && !JS_IsException(object); i++) {
        const struct wf_ffi_field *field = &type->fields[i];
        JSValue member = wf_ffi_get(context, field->type, place + field->offset);
        if (JS_IsException(member) || JS_DefinePropertyValue(context, object, field->name, member, JS_PROP_C_W_E) < 0) {
            JS_FreeValue(context, object);
            return JS_EXCEPTION;
        }
    }
    return object;
}

static JSValue get_array(JSContext *context, const struct wf_ffi_type *type, const char *place) {
    JSValue array = JS_NewArray(context);
    for (uint32_t i = 0; i < type->count && !JS_IsException(array); i++) {
        JSValue member = wf_ffi_get(context, type->element, place + i * type->element->size);
        if (JS_IsException(member) || JS_SetPropertyUint32(context, array, i, member) < 0) {
            JS_FreeValue(context, array);
            return JS_EXCEPTION;
        }
    }
    return array;
}

/* ---- What is wrong ---- */

/* "pow, argument 2, field x: ", from outside to inside; cut where it gets too long. */
static size_t tell_trail(JSContext *context, const struct wf_ffi_trail *trail, char *text, size_t used) {
    if (!trail)
        return used;
    used = tell_trail(context, trail->outer, text, used);
    size_t room = WHERE_SIZE - used;
    int added = 0;
    if (trail->function && trail->index < 0) {
        added = snprintf(text + used, room, "the result of %.100s", trail->function);
    } else if (trail->function) {
        added = snprintf(text + used, room, "%.100s, argument %lld", trail->function, (long long)trail->index + 1);
    } else if (trail->field != JS_ATOM_NULL) {
        const char *name = JS_AtomToCString(context, trail->field);
        added = snprintf(text + used, room, "%sfield %.60s", used ? ", " : "", name ? name : "?");
        JS_FreeCString(context, name);
    } else {
        added = snprintf(text + used, room, "%selement %lld", used ? ", " : "", (long long)trail->index);
    }
    return added < 0 ? used : used + (size_t)added < WHERE_SIZE ? used + (size_t)added : WHERE_SIZE - 1;
}

static const char *kind_of(JSContext *context, JSValueConst value) {
    return JS_IsUndefined(value)           ? "undefined"
           : JS_IsNull(value)              ? "null"
           : JS_IsBool(value)              ? "a boolean"
           : JS_IsNumber(value)            ? "a number"
           : JS_IsBigInt(value)            ? "a BigInt"
           : JS_IsString(value)            ? "a string"
           : JS_IsSymbol(value)            ? "a symbol"
           : JS_IsFunction(context, value) ? "a function"
                                           : "an object";
}

/* "where: what does not fit into expected", or "what where expected is expected". */
static bool refuse(JSContext *context, const struct wf_ffi_trail *trail, bool is_range, const char *what,
                   const char *expected) {
    char where[WHERE_SIZE] = "";
    size_t used = tell_trail(context, trail, where, 0);
    if (is_range)
        JS_ThrowRangeError(context, "%s%s%.40s does not fit into %s", where, used ? ": " : "", what, expected);
    else
        JS_ThrowTypeError(context, "%s%s%s where %s is expected", where, used ? ": " : "", what, expected);
    return false;
}

bool wf_ffi_refuse_type(JSContext *context, const struct wf_ffi_trail *trail, JSValueConst value,
                        const char *expected) {
    return refuse(context, trail, false, kind_of(context, value), expected);
}

bool wf_ffi_refuse_range(JSContext *context, const struct wf_ffi_trail *trail, JSValueConst value,
                         const char *expected) {
    const char *text = JS_IsString(value) ? NULL : JS_ToCString(context, value);
    refuse(context, trail, true, text ? text : "the text", expected);
    JS_FreeCString(context, text);
    return false;
}
