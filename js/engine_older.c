/* SPDX-License-Identifier: MIT
 *
 * js/engine_older.c - the older line of QuickJS, which comes as a library: its inside is looked for at the start.
 *
 * The innermost frame is a word of the runtime's block: null outside of calls, inside of one an address of the stack between that of
 * the call and ours, and lower in a call inside of the call. If there is exactly one such word it is taken, else none, and wf_js_new
 * does without fibers.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { UNKNOWN = 0, NOT_FOUND = -1 };

/* Of the frame's word in a runtime, plus one; the same for all of them. */
static atomic_int place;

struct search {
    void *runtime;
    size_t words;
    const char *outer;     /* an address on the stack, above all calls */
    const void **seen[2];  /* copies of the runtime inside of the two calls */
    const char *inside[2]; /* addresses on the stack there */
};

static JSValue look(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct search *search = JS_GetContextOpaque(context);
    int depth = search->inside[0] ? 1 : 0;
    (void)self;
    search->inside[depth] = __builtin_frame_address(0);
    memcpy(search->seen[depth], search->runtime, search->words * sizeof(void *));
    return depth == 0 ? JS_Call(context, arguments[0], JS_UNDEFINED, count, arguments) : JS_UNDEFINED;
}

static bool is_frame(const struct search *search, size_t i) {
    const char *first = search->seen[0][i], *second = search->seen[1][i];
    return ((const void **)search->runtime)[i] == NULL && first > search->inside[0] && first < search->outer &&
           second > search->inside[1] && second < search->inside[0];
}

static int find_place(JSRuntime *runtime, JSContext *context) {
    struct search search = {
        .runtime = runtime, .words = malloc_usable_size(runtime) / sizeof(void *), .outer = __builtin_frame_address(0)};
    int found = NOT_FOUND, many = 0;
    search.seen[0] = calloc(search.words, sizeof(void *));
    search.seen[1] = calloc(search.words, sizeof(void *));
    JS_SetContextOpaque(context, &search);
    JSValue fn = JS_NewCFunction(context, look, "look", 1);
    if (search.seen[0] && search.seen[1])
        JS_FreeValue(context, JS_Call(context, fn, JS_UNDEFINED, 1, &fn));
    JS_FreeValue(context, fn);
    for (size_t i = 0; search.inside[1] && i < search.words; i++)
        if (is_frame(&search, i)) {
            found = (int)i + 1;
            many++;
        }
    free(search.seen[0]);
    free(search.seen[1]);
    return many == 1 ? found : NOT_FOUND;
}

static int frame_place(void) {
    int known = atomic_load(&place);
    if (known != UNKNOWN)
        return known;
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = runtime ? JS_NewContextRaw(runtime) : NULL;
    if (context && JS_AddIntrinsicBaseObjects(context) == 0) {
        known = find_place(runtime, context);
        atomic_store(&place, known);
    }
    if (context)
        JS_FreeContext(context);
    if (runtime)
        JS_FreeRuntime(runtime);
    return known;
}

void *wf_engine_frame(JSRuntime *runtime) {
    int at = frame_place();
    return at > 0 ? ((void **)runtime)[at - 1] : NULL;
}

void wf_engine_set_frame(JSRuntime *runtime, void *frame) {
    int at = frame_place();
    if (at > 0)
        ((void **)runtime)[at - 1] = frame;
}

/* Nobody knows: WF_ENGINE_TELLS_FRAMES. */
void *wf_engine_tell_frame(JSRuntime *runtime, void *frame, struct wf_engine_spot *spot) {
    (void)runtime, (void)frame;
    *spot = (struct wf_engine_spot){0};
    return NULL;
}

void wf_engine_function_name(JSContext *context, JSValueConst fn, char *text, size_t size) {
    JSPropertyDescriptor property;
    JSAtom atom = JS_NewAtom(context, "name");
    const char *name = NULL;
    if (JS_GetOwnProperty(context, &property, fn, atom) == 1) {
        if (JS_IsString(property.value))
            name = JS_ToCString(context, property.value);
        JS_FreeValue(context, property.value);
        JS_FreeValue(context, property.getter);
        JS_FreeValue(context, property.setter);
    }
    snprintf(text, size, "%s", name ? name : "");
    JS_FreeCString(context, name);
    JS_FreeAtom(context, atom);
}

/* Nothing of it can be seen from outside. */
JSValue wf_engine_preview(JSContext *context, JSValueConst value) {
    JSValue result = JS_NewArray(context);
    (void)value;
    JS_SetPropertyUint32(context, result, 0, JS_NewArray(context));
    JS_SetPropertyUint32(context, result, 1, JS_FALSE);
    return result;
}

/* ---- What has another shape ---- */

#undef JS_NewArrayBuffer
#undef JS_NewTypedArray

JSValue wf_engine_throw_end(JSContext *context, JSValue error) {
    JS_Throw(context, error);
    JS_SetUncatchableException(context, true);
    return JS_EXCEPTION;
}

/* Whom the bytes of a buffer go back to. */
struct owner {
    wf_older_realloc *resize;
    void *opaque;
};

static void give_back(JSRuntime *runtime, void *opaque, void *bytes) {
    struct owner *owner = opaque;
    owner->resize(runtime, owner->opaque, bytes, 0);
    free(owner);
}

JSValue wf_older_new_array_buffer(JSContext *context, uint8_t *bytes, size_t size, size_t max_size,
                                  wf_older_realloc *resize, void *opaque, bool is_shared) {
    struct owner *owner = malloc(sizeof *owner);
    (void)max_size;
    if (!owner)
        return JS_ThrowOutOfMemory(context);
    *owner = (struct owner){resize, opaque};
    JSValue buffer = JS_NewArrayBuffer(context, bytes, size, resize ? give_back : NULL, owner, is_shared);
    if (JS_IsException(buffer) || !resize)
        free(owner);
    return buffer;
}

/* It reads three arguments, however many there are. */
JSValue wf_older_new_typed_array(JSContext *context, int count, JSValueConst *arguments, JSTypedArrayEnum kind) {
    JSValue three[] = {JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED};
    for (int i = 0; i < count && i < 3; i++)
        three[i] = arguments[i];
    return JS_NewTypedArray(context, 3, three, kind);
}

/* ---- What is missing ---- */

static JSValue call_job(JSContext *context, int count, JSValueConst *arguments) {
    (void)count;
    return JS_Call(context, arguments[0], JS_UNDEFINED, 0, NULL);
}

static JSValue queue_microtask(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    if (count < 1 || !JS_IsFunction(context, arguments[0]))
        return JS_ThrowTypeError(context, "not a function");
    return JS_EnqueueJob(context, call_job, 1, arguments) < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

int wf_engine_complete(JSContext *context) {
    JSValue global = JS_GetGlobalObject(context);
    int status = JS_SetPropertyStr(context, global, "queueMicrotask",
                                   JS_NewCFunction(context, queue_microtask, "queueMicrotask", 1));
    JS_FreeValue(context, global);
    return status < 0 ? -1 : 0;
}

void wf_engine_release(JSContext *context) {
    (void)context;
}

void wf_engine_explain(JSRuntime *runtime, const char *why) {
    (void)runtime, (void)why;
}

JSValue wf_engine_plain_error(JSContext *context, JSValueConst error) {
    (void)context, (void)error;
    return JS_UNDEFINED;
}

JSValue wf_engine_place(JSContext *context) {
    (void)context;
    return JS_UNDEFINED;
}

JSValue wf_engine_import(JSContext *context, const char *name, JSValue *promise) {
    (void)context, (void)name;
    *promise = JS_NULL;
    return JS_UNDEFINED;
}

/* It counts from 1: lines before that one are made part of it. */
JSValue wf_engine_eval(JSContext *context, const char *text, size_t size, const char *name, int line, int flags) {
    char *copy = js_malloc(context, size + 1);
    if (!copy)
        return JS_EXCEPTION;
    memcpy(copy, text, size);
    copy[size] = 0;
    for (char *at = copy; line < 1 && (at = strchr(at, '\n')) != NULL; line++)
        *at = ' ';
    JSValue result = JS_Eval(context, copy, size, name, JS_EVAL_TYPE_GLOBAL | flags);
    js_free(context, copy);
    return result;
}

int JS_ToBigUint64(JSContext *context, uint64_t *number, JSValueConst value) {
    return JS_ToBigInt64(context, (int64_t *)number, value);
}

JSValue JS_GetPropertyInt64(JSContext *context, JSValueConst object, int64_t index) {
    JSValue number = JS_NewInt64(context, index);
    JSAtom name = JS_ValueToAtom(context, number);
    JS_FreeValue(context, number);
    if (name == JS_ATOM_NULL)
        return JS_EXCEPTION;
    JSValue value = JS_GetProperty(context, object, name);
    JS_FreeAtom(context, name);
    return value;
}

int JS_GetLength(JSContext *context, JSValueConst object, int64_t *length) {
    JSValue value = JS_GetPropertyStr(context, object, "length");
    int error = JS_IsException(value) ? -1 : JS_ToInt64(context, length, value);
    JS_FreeValue(context, value);
    return error;
}

JSValue JS_NewUint8ArrayCopy(JSContext *context, const uint8_t *bytes, size_t size) {
    JSValue buffer = JS_NewArrayBufferCopy(context, bytes, size);
    if (JS_IsException(buffer))
        return buffer;
    JSValue array = wf_older_new_typed_array(context, 1, &buffer, JS_TYPED_ARRAY_UINT8);
    JS_FreeValue(context, buffer);
    return array;
}

uint8_t *JS_GetUint8Array(JSContext *context, size_t *size, JSValueConst array) {
    size_t offset, width, whole;
    JSClassID id = JS_GetClassID(array);
    if (id != JS_CLASS_UINT8_ARRAY && id != JS_CLASS_UINT8C_ARRAY) {
        JS_ThrowTypeError(context, "not a Uint8Array");
        return NULL;
    }
    JSValue buffer = JS_GetTypedArrayBuffer(context, array, &offset, size, &width);
    if (JS_IsException(buffer))
        return NULL;
    uint8_t *bytes = JS_GetArrayBuffer(context, &whole, buffer);
    JS_FreeValue(context, buffer); /* the array has it, too */
    return bytes ? bytes + offset : NULL;
}

/* What a proxy's block begins with. */
struct proxy {
    JSValue target, handler;
};

JSValue JS_GetProxyTarget(JSContext *context, JSValueConst proxy) {
    return JS_DupValue(context, ((struct proxy *)JS_GetOpaque(proxy, JS_CLASS_PROXY))->target);
}

JSValue JS_GetProxyHandler(JSContext *context, JSValueConst proxy) {
    return JS_DupValue(context, ((struct proxy *)JS_GetOpaque(proxy, JS_CLASS_PROXY))->handler);
}

JSValue wf_engine_class_name(JSContext *context, JSClassID id) {
    static const char *const names[JS_CLASS_INIT_COUNT] = {
        [JS_CLASS_ARRAY] = "Array",
        [JS_CLASS_ERROR] = "Error",
        [JS_CLASS_NUMBER] = "Number",
        [JS_CLASS_STRING] = "String",
        [JS_CLASS_BOOLEAN] = "Boolean",
        [JS_CLASS_SYMBOL] = "Symbol",
        [JS_CLASS_ARGUMENTS] = "Arguments",
        [JS_CLASS_MAPPED_ARGUMENTS] = "Arguments",
        [JS_CLASS_DATE] = "Date",
        [JS_CLASS_MODULE_NS] = "Module",
        [JS_CLASS_C_FUNCTION] = "Function",
        [JS_CLASS_BYTECODE_FUNCTION] = "Function",
        [JS_CLASS_BOUND_FUNCTION] = "Function",
        [JS_CLASS_C_FUNCTION_DATA] = "Function",
        [JS_CLASS_GENERATOR_FUNCTION] = "GeneratorFunction",
        [JS_CLASS_REGEXP] = "RegExp",
        [JS_CLASS_ARRAY_BUFFER] = "ArrayBuffer",
        [JS_CLASS_SHARED_ARRAY_BUFFER] = "SharedArrayBuffer",
        [JS_CLASS_UINT8C_ARRAY] = "Uint8ClampedArray",
        [JS_CLASS_INT8_ARRAY] = "Int8Array",
        [JS_CLASS_UINT8_ARRAY] = "Uint8Array",
        [JS_CLASS_INT16_ARRAY] = "Int16Array",
        [JS_CLASS_UINT16_ARRAY] = "Uint16Array",
        [JS_CLASS_INT32_ARRAY] = "Int32Array",
        [JS_CLASS_UINT32_ARRAY] = "Uint32Array",
        [JS_CLASS_BIG_INT64_ARRAY] = "BigInt64Array",
        [JS_CLASS_BIG_UINT64_ARRAY] = "BigUint64Array",
        [JS_CLASS_FLOAT16_ARRAY] = "Float16Array",
        [JS_CLASS_FLOAT32_ARRAY] = "Float32Array",
        [JS_CLASS_FLOAT64_ARRAY] = "Float64Array",
        [JS_CLASS_DATAVIEW] = "DataView",
        [JS_CLASS_BIG_INT] = "BigInt",
        [JS_CLASS_MAP] = "Map",
        [JS_CLASS_SET] = "Set",
        [JS_CLASS_WEAKMAP] = "WeakMap",
        [JS_CLASS_WEAKSET] = "WeakSet",
        [JS_CLASS_MAP_ITERATOR] = "Map Iterator",
        [JS_CLASS_SET_ITERATOR] = "Set Iterator",
        [JS_CLASS_ARRAY_ITERATOR] = "Array Iterator",
        [JS_CLASS_STRING_ITERATOR] = "String Iterator",
        [JS_CLASS_REGEXP_STRING_ITERATOR] = "RegExp String Iterator",
        [JS_CLASS_GENERATOR] = "Generator",
        [JS_CLASS_PROXY] = "Proxy",
        [JS_CLASS_PROMISE] = "Promise",
        [JS_CLASS_ASYNC_FUNCTION] = "AsyncFunction",
        [JS_CLASS_ASYNC_GENERATOR_FUNCTION] = "AsyncGeneratorFunction",
        [JS_CLASS_ASYNC_GENERATOR] = "AsyncGenerator",
        [JS_CLASS_WEAK_REF] = "WeakRef",
        [JS_CLASS_FINALIZATION_REGISTRY] = "FinalizationRegistry",
    };
    return JS_NewString(context, id < JS_CLASS_INIT_COUNT && names[id] ? names[id] : "Object");
}

/* ---- What messages between instances are made of: see js/engine.h ---- */

enum wf_engine_kind wf_engine_kind(JSValueConst object) {
    JSClassID id = JS_GetClassID(object);
    switch (id) {
    case JS_CLASS_OBJECT:
        return WF_ENGINE_PLAIN;
    case JS_CLASS_ARRAY:
        return WF_ENGINE_ARRAY;
    case JS_CLASS_ARRAY_BUFFER:
        return WF_ENGINE_BUFFER;
    case JS_CLASS_SHARED_ARRAY_BUFFER:
        return WF_ENGINE_SHARED;
    default:
        return id >= JS_CLASS_UINT8C_ARRAY && id <= JS_CLASS_DATAVIEW ? WF_ENGINE_VIEW : WF_ENGINE_OTHER;
    }
}

int wf_engine_text_of(JSContext *context, JSValueConst string, struct wf_engine_text *out) {
    size_t length;
    const char *text = JS_ToCStringLen(context, &length, string);
    *out = (struct wf_engine_text){.held = JS_UNDEFINED, .characters = text, .length = (uint32_t)length};
    return text ? 0 : -1;
}

void wf_engine_text_done(JSContext *context, struct wf_engine_text *text) {
    JS_FreeCString(context, text->characters);
}

JSValue wf_engine_new_text(JSContext *context, const void *characters, uint32_t length, uint8_t width) {
    (void)width;
    return JS_NewStringLen(context, characters, length);
}

bool wf_engine_is_list(JSValueConst array, uint32_t *length) {
    (void)array;
    *length = 0;
    return false;
}

static int number_of(JSContext *context, JSValueConst object, const char *name, uint32_t *out) {
    JSValue value = JS_GetPropertyStr(context, object, name);
    int error = JS_IsException(value) ? -1 : JS_ToUint32(context, out, value);
    JS_FreeValue(context, value);
    return error;
}

void wf_engine_look_at_bytes(JSContext *context, JSValueConst buffer, struct wf_engine_bytes *out) {
    size_t size;
    *out = (struct wf_engine_bytes){.bytes = JS_GetArrayBuffer(context, &size, buffer), .room = -1};
    if (!out->bytes) {
        JS_FreeValue(context, JS_GetException(context));
        return;
    }
    out->length = (uint32_t)size;
    JSValue can_change = JS_GetPropertyStr(context, buffer, "resizable");
    if (JS_ToBool(context, can_change) > 0 && number_of(context, buffer, "maxByteLength", (uint32_t *)&out->room))
        out->room = -1;
    JS_FreeValue(context, can_change);
}

int wf_engine_take_bytes(JSContext *context, JSValueConst buffer, struct wf_engine_bytes *out) {
    struct wf_engine_bytes found;
    wf_engine_look_at_bytes(context, buffer, &found);
    uint8_t *copy = malloc((size_t)found.length + 1);
    if (!copy) {
        JS_ThrowOutOfMemory(context);
        return -1;
    }
    memcpy(copy, found.bytes, found.length);
    found.bytes = found.block = copy;
    *out = found;
    JS_DetachArrayBuffer(context, buffer);
    return 0;
}

/* A buffer that was detached is told again, without bytes, when it goes. */
static void free_block(JSRuntime *runtime, void *opaque, void *bytes) {
    (void)runtime;
    if (bytes)
        free(opaque);
}

/* new name(...) */
static JSValue construct(JSContext *context, const char *name, int count, JSValueConst *arguments) {
    JSValue global = JS_GetGlobalObject(context);
    JSValue constructor = JS_GetPropertyStr(context, global, name);
    JSValue made = JS_CallConstructor(context, constructor, count, arguments);
    JS_FreeValue(context, constructor);
    JS_FreeValue(context, global);
    return made;
}

/* Only the engine itself makes buffers that can be resized. */
static JSValue copy_to_resizable(JSContext *context, const struct wf_engine_bytes *bytes) {
    size_t size;
    JSValue arguments[] = {JS_NewUint32(context, bytes->length), JS_NewObject(context)};
    JS_SetPropertyStr(context, arguments[1], "maxByteLength", JS_NewInt32(context, bytes->room));
    JSValue buffer = construct(context, "ArrayBuffer", 2, arguments);
    JS_FreeValue(context, arguments[1]);
    uint8_t *to = JS_IsException(buffer) ? NULL : JS_GetArrayBuffer(context, &size, buffer);
    if (!to)
        return buffer;
    memcpy(to, bytes->bytes, bytes->length);
    free(bytes->block);
    return buffer;
}

JSValue wf_engine_give_bytes(JSContext *context, const struct wf_engine_bytes *bytes) {
    if (bytes->room >= 0)
        return copy_to_resizable(context, bytes);
    return JS_NewArrayBuffer(context, bytes->bytes, bytes->length, free_block, bytes->block, false);
}

bool wf_engine_has_room(JSRuntime *runtime, size_t bytes) {
    (void)runtime, (void)bytes;
    return true;
}

void wf_engine_account(JSRuntime *runtime, int64_t bytes) {
    (void)runtime, (void)bytes;
}

void wf_engine_set_shared_length(JSValueConst buffer, uint32_t length) {
    (void)buffer, (void)length;
}

int wf_engine_look_at_view(JSContext *context, JSValueConst object, struct wf_engine_view *out) {
    JSClassID id = JS_GetClassID(object);
    size_t offset, size, width;
    *out = (struct wf_engine_view){.type = id == JS_CLASS_DATAVIEW ? -1 : (int)id - JS_CLASS_UINT8C_ARRAY};
    if (out->type < 0) {
        out->buffer = JS_GetPropertyStr(context, object, "buffer");
    } else {
        out->buffer = JS_GetTypedArrayBuffer(context, object, &offset, &size, &width);
    }
    if (JS_IsException(out->buffer))
        return -1;
    if (out->type >= 0) {
        out->offset = (uint32_t)offset;
        out->length = (uint32_t)(size / width);
    }
    JS_FreeValue(context, out->buffer); /* the view has it */
    if (out->type >= 0)
        return 0;
    return number_of(context, object, "byteOffset", &out->offset) ||
                   number_of(context, object, "byteLength", &out->length)
               ? -1
               : 0;
}

JSValue wf_engine_new_view(JSContext *context, const struct wf_engine_view *view) {
    JSValue arguments[] = {view->buffer, JS_NewUint32(context, view->offset), JS_NewUint32(context, view->length)};
    if (view->type >= 0)
        return wf_older_new_typed_array(context, 3, arguments, (JSTypedArrayEnum)view->type);
    return construct(context, "DataView", 3, arguments);
}

JSValue wf_engine_function(JSContext *context, JSValueConst fn) {
    JSClassID id = JS_GetClassID(fn);
    if (!JS_IsFunction(context, fn) || id == JS_CLASS_C_FUNCTION || id == JS_CLASS_BOUND_FUNCTION ||
        id == JS_CLASS_C_FUNCTION_DATA)
        return JS_UNDEFINED;
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_TRUE);
    JS_SetPropertyUint32(context, list, 1, JS_NewArray(context));
    return list;
}

void *wf_engine_atomic_place(JSContext *context, JSValueConst array, JSValueConst index, unsigned *size,
                             bool *is_shared) {
    struct wf_engine_view view;
    struct wf_engine_bytes bytes;
    uint64_t at;
    JSClassID id = JS_GetClassID(array);
    if (id != JS_CLASS_INT32_ARRAY && id != JS_CLASS_BIG_INT64_ARRAY) {
        JS_ThrowTypeError(context, "integer TypedArray expected");
        return NULL;
    }
    if (JS_ToIndex(context, &at, index) || wf_engine_look_at_view(context, array, &view))
        return NULL;
    wf_engine_look_at_bytes(context, view.buffer, &bytes);
    if (!bytes.bytes || at >= view.length) {
        JS_ThrowRangeError(context, "out-of-bound access");
        return NULL;
    }
    *size = id == JS_CLASS_INT32_ARRAY ? 4 : 8;
    *is_shared = JS_GetClassID(view.buffer) == JS_CLASS_SHARED_ARRAY_BUFFER;
    return bytes.bytes + view.offset + at * *size;
}

JSValue wf_engine_surroundings(JSContext *context) {
    (void)context;
    return JS_UNDEFINED;
}

JSValue wf_engine_surround(JSContext *context, JSValue surroundings) {
    JS_FreeValue(context, surroundings);
    return JS_UNDEFINED;
}
