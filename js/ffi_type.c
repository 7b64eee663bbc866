/* SPDX-License-Identifier: MIT
 *
 * js/ffi_type.c - what a value is in C: scalars by their names, structs and arrays laid out as the compiler does,
 * signatures.
 *
 * JavaScript has handles of types. Scalars are static and the same in all instances. A type is made of types that are
 * there already, so none contains itself.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

/* DEPTH_MAX: as weft/ffi.h has it for structs by value. LETTERS_MAX: more than its 1,024 members can need. */
enum { DEPTH_MAX = 16, LETTERS_MAX = 4096 };

static JSClassID type_class;

#define SCALAR(text, which, like) \
    { .name = (text), .kind = (which), .is_static = true, .size = sizeof(like), .alignment = _Alignof(like) }
#define INTEGER(text, like) SCALAR(text, WF_FFI_##like, INTEGER_##like)
#define INTEGER_I8 int8_t
#define INTEGER_U8 uint8_t
#define INTEGER_I16 int16_t
#define INTEGER_U16 uint16_t
#define INTEGER_I32 int32_t
#define INTEGER_U32 uint32_t
#define INTEGER_I64 int64_t
#define INTEGER_U64 uint64_t

_Static_assert(sizeof(int) == 4 && sizeof(long) == 8 && sizeof(long long) == 8 && sizeof(size_t) == 8,
               "what the names below stand for");

static struct wf_ffi_type scalars[] = {
    {.name = "void", .kind = WF_FFI_VOID, .is_static = true, .alignment = 1},
    SCALAR("bool", WF_FFI_BOOL, bool),
    INTEGER("i8", I8),
    INTEGER("u8", U8),
    INTEGER("i16", I16),
    INTEGER("u16", U16),
    INTEGER("i32", I32),
    INTEGER("u32", U32),
    INTEGER("i64", I64),
    INTEGER("u64", U64),
    INTEGER("int8_t", I8),
    INTEGER("uint8_t", U8),
    INTEGER("int16_t", I16),
    INTEGER("uint16_t", U16),
    INTEGER("int32_t", I32),
    INTEGER("uint32_t", U32),
    INTEGER("int64_t", I64),
    INTEGER("uint64_t", U64),
#if CHAR_MIN < 0
    INTEGER("char", I8),
#else
    INTEGER("char", U8),
#endif
    INTEGER("schar", I8),
    INTEGER("uchar", U8),
    INTEGER("short", I16),
    INTEGER("ushort", U16),
    INTEGER("int", I32),
    INTEGER("uint", U32),
    INTEGER("enum", I32),
    INTEGER("long", I64),
    INTEGER("ulong", U64),
    INTEGER("longlong", I64),
    INTEGER("ulonglong", U64),
    INTEGER("size_t", U64),
    INTEGER("ssize_t", I64),
    INTEGER("ptrdiff_t", I64),
    INTEGER("intptr_t", I64),
    INTEGER("uintptr_t", U64),
    INTEGER("off_t", I64),
    SCALAR("f32", WF_FFI_FLOAT, float),
    SCALAR("f64", WF_FFI_DOUBLE, double),
    SCALAR("float", WF_FFI_FLOAT, float),
    SCALAR("double", WF_FFI_DOUBLE, double),
    SCALAR("pointer", WF_FFI_POINTER, void *),
    SCALAR("string", WF_FFI_STRING, char *),
    {.name = "string?",
     .kind = WF_FFI_STRING,
     .is_static = true,
     .is_optional = true,
     .size = sizeof(char *),
     .alignment = _Alignof(char *)},
    SCALAR("buffer", WF_FFI_BUFFER, void *),
};

/* ---- Life ---- */

struct wf_ffi_type *wf_ffi_type_ref(struct wf_ffi_type *type) {
    if (!type->is_static)
        type->references++;
    return type;
}

void wf_ffi_type_unref(struct wf_ffi_type *type) {
    if (!type || type->is_static || --type->references > 0)
        return;
    for (uint32_t i = 0; type->fields && i < type->count; i++) {
        JS_FreeAtomRT(type->runtime, type->fields[i].name);
        wf_ffi_type_unref(type->fields[i].type);
    }
    wf_ffi_type_unref(type->element);
    wf_ffi_signature_unref(type->signature);
    free(type->fields);
    free((char *)type->name);
    free(type);
}

static void type_finalize(JSRuntime *runtime, JSValueConst value) {
    (void)runtime;
    wf_ffi_type_unref(JS_GetOpaque(value, type_class));
}

struct wf_ffi_type *wf_ffi_type_of(JSContext *context, JSValueConst handle) {
    return JS_GetOpaque2(context, handle, type_class);
}

/* Takes the reference over. Null is an exception already. */
static JSValue type_handle(JSContext *context, struct wf_ffi_type *type) {
    if (!type)
        return JS_EXCEPTION;
    JSValue handle = JS_NewObjectClass(context, (int)type_class);
    if (JS_IsException(handle))
        wf_ffi_type_unref(type);
    else
        JS_SetOpaque(handle, type);
    return handle;
}

static struct wf_ffi_type *type_new(JSContext *context, enum wf_ffi_kind kind, const char *name) {
    struct wf_ffi_type *type = calloc(1, sizeof *type);
    char *copy = strdup(name);
    if (!type || !copy) {
        free(type);
        free(copy);
        JS_ThrowOutOfMemory(context);
        return NULL;
    }
    type->kind = kind;
    type->name = copy;
    type->alignment = 1;
    type->references = 1;
    type->runtime = JS_GetRuntime(context);
    return type;
}

/* ---- Making them ---- */

/* ffiScalar(name) -> handle, or undefined */
static JSValue js_scalar(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    const char *name = count > 0 ? JS_ToCString(context, arguments[0]) : NULL;
    struct wf_ffi_type *found = NULL;
    (void)self;
    if (!name)
        return JS_EXCEPTION;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars && !found; i++)
        if (strcmp(scalars[i].name, name) == 0)
            found = &scalars[i];
    JS_FreeCString(context, name);
    return found ? type_handle(context, found) : JS_UNDEFINED;
}

bool wf_ffi_is_storable(JSContext *context, const struct wf_ffi_type *type) {
    if (type->kind != WF_FFI_VOID && type->kind != WF_FFI_BUFFER && type->kind != WF_FFI_CALLBACK)
        return true;
    JS_ThrowTypeError(context, "Memory cannot contain %s; a pointer it can",
                      type->kind == WF_FFI_VOID     ? "void"
                      : type->kind == WF_FFI_BUFFER ? "a buffer"
                                                    : "a callback");
    return false;
}

static bool grow(JSContext *context, struct wf_ffi_type *type, const struct wf_ffi_type *part, uint64_t times) {
    size_t offset = (type->size + part->alignment - 1) / part->alignment * part->alignment;
    uint64_t size = offset + part->size * times;
    if (times > INT32_MAX || size > INT32_MAX) {
        JS_ThrowRangeError(context, "A struct or an array has at most 2 GiB");
        return false;
    }
    if (part->depth + 1 > DEPTH_MAX) {
        JS_ThrowRangeError(context, "At most %d structs and arrays one inside another", DEPTH_MAX);
        return false;
    }
    type->size = size;
    type->depth = part->depth + 1 > type->depth ? part->depth + 1 : type->depth;
    type->alignment = part->alignment > type->alignment ? part->alignment : type->alignment;
    return true;
}

static bool add_field(JSContext *context, struct wf_ffi_type *type, JSValueConst list, uint32_t index) {
    JSValue name = JS_GetPropertyUint32(context, list, 2 * index);
    JSValue handle = JS_GetPropertyUint32(context, list, 2 * index + 1);
    struct wf_ffi_type *part = wf_ffi_type_of(context, handle);
    struct wf_ffi_field *field = &type->fields[type->count];
    bool is_good = part && wf_ffi_is_storable(context, part) && grow(context, type, part, 1);
    if (is_good && (field->name = JS_ValueToAtom(context, name)) != JS_ATOM_NULL) {
        field->type = wf_ffi_type_ref(part);
        field->offset = type->size - part->size;
        type->count++;
    } else {
        is_good = false;
    }
    JS_FreeValue(context, name);
    JS_FreeValue(context, handle);
    return is_good;
}

/* ffiStruct(name, [name of a field, handle, ...]) -> handle */
static JSValue js_struct(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int64_t length;
    (void)self;
    const char *name = count > 1 ? JS_ToCString(context, arguments[0]) : NULL;
    if (!name)
        return JS_EXCEPTION;
    struct wf_ffi_type *type = type_new(context, WF_FFI_STRUCT, name);
    JS_FreeCString(context, name);
    bool is_good = type && JS_GetLength(context, arguments[1], &length) == 0;
    if (is_good && length < 2) {
        JS_ThrowTypeError(context, "A struct needs a field");
        is_good = false;
    }
    if (is_good && !(type->fields = calloc((size_t)length / 2, sizeof *type->fields))) {
        JS_ThrowOutOfMemory(context);
        is_good = false;
    }
    for (uint32_t i = 0; is_good && i < length / 2; i++)
        is_good = add_field(context, type, arguments[1], i);
    if (!is_good) {
        wf_ffi_type_unref(type);
        return JS_EXCEPTION;
    }
    type->size = (type->size + type->alignment - 1) / type->alignment * type->alignment;
    return type_handle(context, type);
}

static struct wf_ffi_type *array_of(JSContext *context, enum wf_ffi_kind kind, struct wf_ffi_type *part,
                                    JSValueConst length) {
    int64_t count;
    char name[64];
    if (!wf_ffi_is_storable(context, part) || JS_ToInt64(context, &count, length))
        return NULL;
    if (count < 1) {
        JS_ThrowRangeError(context, "An array has at least one element");
        return NULL;
    }
    snprintf(name, sizeof name, "%.40s[%lld]", kind == WF_FFI_TEXT ? "text" : part->name, (long long)count);
    struct wf_ffi_type *type = type_new(context, kind, name);
    if (!type)
        return NULL;
    if (!grow(context, type, part, (uint64_t)count)) {
        wf_ffi_type_unref(type);
        return NULL;
    }
    type->count = (uint32_t)count;
    type->element = wf_ffi_type_ref(part);
    return type;
}

/* ffiArray(handle of the element, count) -> handle */
static JSValue js_array(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_type *part = count > 1 ? wf_ffi_type_of(context, arguments[0]) : NULL;
    (void)self;
    return part ? type_handle(context, array_of(context, WF_FFI_ARRAY, part, arguments[1])) : JS_EXCEPTION;
}

/* ffiTextType(count of bytes) -> handle */
static JSValue js_text_type(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    static struct wf_ffi_type byte = INTEGER("char", U8);
    (void)self;
    return count > 0 ? type_handle(context, array_of(context, WF_FFI_TEXT, &byte, arguments[0])) : JS_EXCEPTION;
}

/* ffiCallbackType(handle of the result, [handles]) -> handle */
static JSValue js_callback_type(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    struct wf_ffi_signature *signature =
        count > 1 ? wf_ffi_signature_new(context, arguments[0], arguments[1], JS_UNDEFINED, true) : NULL;
    struct wf_ffi_type *type = signature ? type_new(context, WF_FFI_CALLBACK, "callback") : NULL;
    if (!type) {
        wf_ffi_signature_unref(signature);
        return JS_EXCEPTION;
    }
    type->size = sizeof(void *);
    type->alignment = _Alignof(void *);
    type->signature = signature;
    return type_handle(context, type);
}

/* ffiLayout(handle) -> [size, alignment, offsets of the fields...] */
static JSValue js_layout(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_type *type = count > 0 ? wf_ffi_type_of(context, arguments[0]) : NULL;
    (void)self;
    if (!type)
        return JS_EXCEPTION;
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewInt64(context, (int64_t)type->size));
    JS_SetPropertyUint32(context, list, 1, JS_NewInt64(context, (int64_t)type->alignment));
    for (uint32_t i = 0; type->fields && i < type->count; i++)
        JS_SetPropertyUint32(context, list, 2 + i, JS_NewInt64(context, (int64_t)type->fields[i].offset));
    return list;
}

/* ---- Signatures ---- */

struct letters {
    char *text;
    size_t used;
};

static bool add_letter(struct letters *letters, char letter) {
    if (letters->used + 1 >= LETTERS_MAX)
        return false;
    letters->text[letters->used++] = letter;
    letters->text[letters->used] = 0;
    return true;
}

/* An array by value, which only a struct can contain, is as many members. */
static bool add_type(struct letters *letters, const struct wf_ffi_type *type) {
    static const char of_kind[] = {
        [WF_FFI_VOID] = 'v',    [WF_FFI_BOOL] = 'B',   [WF_FFI_I8] = 'c',     [WF_FFI_U8] = 'C',
        [WF_FFI_I16] = 's',     [WF_FFI_U16] = 'S',    [WF_FFI_I32] = 'i',    [WF_FFI_U32] = 'I',
        [WF_FFI_I64] = 'l',     [WF_FFI_U64] = 'L',    [WF_FFI_FLOAT] = 'f',  [WF_FFI_DOUBLE] = 'd',
        [WF_FFI_POINTER] = 'p', [WF_FFI_STRING] = 'p', [WF_FFI_BUFFER] = 'p', [WF_FFI_CALLBACK] = 'p'};
    bool is_good = true;
    switch (type->kind) {
    case WF_FFI_STRUCT:
        is_good = add_letter(letters, '{');
        for (uint32_t i = 0; is_good && i < type->count; i++)
            is_good = add_type(letters, type->fields[i].type);
        return is_good && add_letter(letters, '}');
    case WF_FFI_ARRAY:
    case WF_FFI_TEXT:
        for (uint32_t i = 0; is_good && i < type->count; i++)
            is_good = add_type(letters, type->element);
        return is_good;
    default:
        return add_letter(letters, of_kind[type->kind]);
    }
}

/* What can be an argument, and what a result. */
static bool check_type(JSContext *context, const struct wf_ffi_type *type, bool is_result, bool is_callback) {
    bool is_aggregate = type->kind == WF_FFI_ARRAY || type->kind == WF_FFI_TEXT;
    bool only_goes_in = type->kind == WF_FFI_BUFFER || type->kind == WF_FFI_CALLBACK;
    if (is_aggregate || (!is_result && type->kind == WF_FFI_VOID))
        JS_ThrowTypeError(context, "%s is no type of %s; C passes a pointer", type->name,
                          is_result ? "a result" : "an argument");
    else if (only_goes_in && (is_result || is_callback))
        JS_ThrowTypeError(context, "%s is a type of arguments to foreign functions only; use pointer", type->name);
    else if (type->kind == WF_FFI_STRING && is_result && is_callback)
        JS_ThrowTypeError(context, "A callback cannot return a string, whose bytes would be nobody's; use pointer");
    else
        return true;
    return false;
}

static bool fill_signature(JSContext *context, struct wf_ffi_signature *signature, JSValueConst result,
                           JSValueConst types, bool is_callback) {
    struct letters letters = {.text = signature->letters};
    struct wf_ffi_type *type = wf_ffi_type_of(context, result);
    if (!type || !check_type(context, type, true, is_callback))
        return false;
    signature->result = wf_ffi_type_ref(type);
    bool has_room = true;
    for (unsigned i = 0; i < signature->count && has_room; i++) {
        JSValue handle = JS_GetPropertyUint32(context, types, i);
        type = wf_ffi_type_of(context, handle);
        JS_FreeValue(context, handle); /* the list has it, too */
        if (!type || !check_type(context, type, false, is_callback))
            return false;
        signature->types[i] = wf_ffi_type_ref(type);
        has_room = (i != signature->fixed || add_letter(&letters, '.')) && add_type(&letters, type);
    }
    if (signature->is_variadic && signature->fixed == signature->count)
        has_room = has_room && add_letter(&letters, '.');
    if (!has_room || !add_letter(&letters, ')') || !add_type(&letters, signature->result)) {
        JS_ThrowRangeError(context, "Structs by value have too many members");
        return false;
    }
    return true;
}

struct wf_ffi_signature *wf_ffi_signature_new(JSContext *context, JSValueConst result, JSValueConst types,
                                              JSValueConst fixed, bool is_callback) {
    int64_t count, first = -1;
    if (JS_GetLength(context, types, &count) || (!JS_IsUndefined(fixed) && JS_ToInt64(context, &first, fixed)))
        return NULL;
    if (count > WF_FFI_ARGUMENTS_MAX || first > count) {
        JS_ThrowRangeError(context, "A foreign function has at most %d arguments", WF_FFI_ARGUMENTS_MAX);
        return NULL;
    }
    struct wf_ffi_signature *signature = calloc(1, sizeof *signature + (size_t)count * sizeof *signature->types);
    if (!signature || !(signature->letters = malloc(LETTERS_MAX))) {
        free(signature);
        JS_ThrowOutOfMemory(context);
        return NULL;
    }
    signature->references = 1;
    signature->count = (unsigned)count;
    signature->is_variadic = first >= 0;
    signature->fixed = signature->is_variadic ? (unsigned)first : signature->count;
    signature->types = (struct wf_ffi_type **)(signature + 1);
    if (!fill_signature(context, signature, result, types, is_callback)) {
        wf_ffi_signature_unref(signature);
        return NULL;
    }
    char *shorter = strdup(signature->letters);
    if (shorter) {
        free(signature->letters);
        signature->letters = shorter;
    }
    return signature;
}

struct wf_ffi_signature *wf_ffi_signature_ref(struct wf_ffi_signature *signature) {
    signature->references++;
    return signature;
}

void wf_ffi_signature_unref(struct wf_ffi_signature *signature) {
    if (!signature || --signature->references > 0)
        return;
    for (unsigned i = 0; i < signature->count; i++)
        wf_ffi_type_unref(signature->types[i]);
    wf_ffi_type_unref(signature->result);
    free(signature->letters);
    free(signature);
}

int wf_ffi_add_types(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "TypeHandle", .finalizer = type_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("ffiScalar", 1, js_scalar),
        JS_CFUNC_DEF("ffiStruct", 2, js_struct),
        JS_CFUNC_DEF("ffiArray", 2, js_array),
        JS_CFUNC_DEF("ffiTextType", 1, js_text_type),
        JS_CFUNC_DEF("ffiCallbackType", 2, js_callback_type),
        JS_CFUNC_DEF("ffiLayout", 1, js_layout),
    };
    wf_js_new_class(JS_GetRuntime(context), &type_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
