/* SPDX-License-Identifier: MIT
 *
 * js/ffi_memory.c - pointers, memory of ours, and buffers that foreign code uses.
 *
 * A pointer knows how many bytes are behind it if they are ours, and is checked against that; of other addresses
 * nobody knows anything, and reading them is what it is in C. Memory of ours comes out of the engine's heap, so that
 * its limit counts; it goes when the last pointer to it is gone and no call uses it, also when it was freed before.
 *
 * A buffer in use by foreign code is pinned: the functions of JavaScript that detach or resize one refuse it. They
 * are replaced by functions that look first, as the engine has no such thing.
 */
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

enum { ALIGNMENT = 16 };
/* What nobody can mean, and some allocators take for a mistake of the program's. */
#define BLOCK_MAX ((size_t)1 << 39)

static JSClassID pointer_class;

/* ---- Pointers ---- */

static struct wf_ffi_block *block_new(JSContext *context, size_t size) {
    struct wf_ffi_block *block = js_malloc(context, sizeof *block);
    void *memory = block ? js_mallocz(context, size + ALIGNMENT - 1) : NULL;
    if (!memory) {
        js_free(context, block);
        return NULL;
    }
    uintptr_t bytes = ((uintptr_t)memory + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
    *block = (struct wf_ffi_block){.references = 1, .bytes = (unsigned char *)bytes, .memory = memory};
    return block;
}

void wf_ffi_block_unref(JSRuntime *runtime, struct wf_ffi_block *block) {
    if (!block || --block->references > 0)
        return;
    js_free_rt(runtime, block->memory);
    js_free_rt(runtime, block);
}

static void pointer_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_ffi_pointer *pointer = JS_GetOpaque(value, pointer_class);
    if (!pointer)
        return;
    wf_ffi_block_unref(runtime, pointer->block);
    wf_ffi_type_unref(pointer->type);
    free(pointer);
}

/* The object's prototype is the class's, or another one for a view. The block is counted once more. */
static JSValue pointer_make(JSContext *context, JSValueConst prototype, const struct wf_ffi_pointer *from) {
    struct wf_ffi_pointer *pointer = malloc(sizeof *pointer);
    if (!pointer)
        return JS_ThrowOutOfMemory(context);
    JSValue object = JS_IsUndefined(prototype) ? JS_NewObjectClass(context, (int)pointer_class)
                                               : JS_NewObjectProtoClass(context, prototype, pointer_class);
    if (JS_IsException(object)) {
        free(pointer);
        return object;
    }
    *pointer = *from;
    if (pointer->block)
        pointer->block->references++;
    if (pointer->type)
        wf_ffi_type_ref(pointer->type);
    JS_SetOpaque(object, pointer);
    return object;
}

JSValue wf_ffi_pointer_new(JSContext *context, void *address, size_t room, struct wf_ffi_block *block) {
    struct wf_ffi_pointer pointer = {.address = address, .room = room, .block = block};
    return pointer_make(context, JS_UNDEFINED, &pointer);
}

struct wf_ffi_pointer *wf_ffi_pointer_of(JSValueConst value, bool *is_pointer) {
    struct wf_ffi_pointer *pointer = JS_GetOpaque(value, pointer_class);
    *is_pointer = pointer != NULL;
    return pointer && !pointer->is_freed ? pointer : NULL;
}

static struct wf_ffi_pointer *take_pointer(JSContext *context, int count, JSValueConst *arguments) {
    bool is_pointer = false;
    struct wf_ffi_pointer *pointer = count > 0 ? wf_ffi_pointer_of(arguments[0], &is_pointer) : NULL;
    if (!pointer)
        JS_ThrowTypeError(context, is_pointer ? "The memory of this pointer was freed" : "This is no pointer");
    return pointer;
}

/* A number of bytes, or an offset in them. */
static bool take_count(JSContext *context, JSValueConst value, const char *what, size_t *count) {
    double number;
    if (!JS_IsNumber(value)) {
        JS_ThrowTypeError(context, "The %s must be a number", what);
        return false;
    }
    if (JS_ToFloat64(context, &number, value))
        return false;
    if (!(number >= 0 && number <= 9007199254740991.0) || (double)(uint64_t)number != number) {
        JS_ThrowRangeError(context, "The %s must be a whole number, 0 or more", what);
        return false;
    }
    *count = (size_t)number;
    return true;
}

/* Whether so many bytes are there. */
static bool has_room(JSContext *context, const struct wf_ffi_pointer *pointer, size_t offset, size_t size) {
    if (pointer->room == SIZE_MAX || (offset <= pointer->room && size <= pointer->room - offset))
        return true;
    JS_ThrowRangeError(context, "%zu bytes at offset %zu, where there are %zu", size, offset, pointer->room);
    return false;
}

/* ffiAlloc(bytes) -> pointer */
static JSValue js_alloc(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    size_t size;
    (void)self;
    if (!take_count(context, count > 0 ? arguments[0] : JS_UNDEFINED, "size", &size))
        return JS_EXCEPTION;
    if (size > BLOCK_MAX)
        return JS_ThrowRangeError(context, "%zu bytes are more than a program can have", size);
    struct wf_ffi_block *block = block_new(context, size);
    if (!block)
        return JS_EXCEPTION;
    JSValue object = wf_ffi_pointer_new(context, block->bytes, size, block);
    wf_ffi_block_unref(JS_GetRuntime(context), block);
    return object;
}

/* ffiPointer(address or view) -> pointer, or null for address 0 */
static JSValue js_pointer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    static const struct wf_ffi_type type = {.name = "pointer", .kind = WF_FFI_POINTER};
    bool is_pointer = false;
    void *address;
    (void)self;
    struct wf_ffi_pointer *view = count > 0 ? wf_ffi_pointer_of(arguments[0], &is_pointer) : NULL;
    if (view) {
        struct wf_ffi_pointer pointer = {.address = view->address, .room = view->room, .block = view->block};
        return pointer_make(context, JS_UNDEFINED, &pointer);
    }
    if (count < 1 || !wf_ffi_put(context, &type, arguments[0], &address, NULL))
        return JS_EXCEPTION;
    return wf_ffi_get(context, &type, &address);
}

/* ffiView(pointer, handle of a type, prototype, offset) -> an object with that prototype, for the bytes of the type
 * there */
static JSValue js_view(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    struct wf_ffi_type *type = pointer && count > 3 ? wf_ffi_type_of(context, arguments[1]) : NULL;
    size_t offset;
    (void)self;
    if (!type || !take_count(context, arguments[3], "offset", &offset) ||
        !has_room(context, pointer, offset, type->size))
        return JS_EXCEPTION;
    struct wf_ffi_pointer view = {
        .address = pointer->address + offset, .room = type->size, .block = pointer->block, .type = type};
    return pointer_make(context, arguments[2], &view);
}

/* ffiOffset(pointer, bytes, forward or backward) -> pointer */
static JSValue js_offset(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    int64_t distance;
    (void)self;
    if (!pointer || count < 2 || JS_ToInt64(context, &distance, arguments[1]))
        return JS_EXCEPTION;
    struct wf_ffi_pointer moved = {.address = pointer->address + distance, .room = SIZE_MAX, .block = pointer->block};
    if (pointer->room != SIZE_MAX) {
        if (distance < 0 || (uint64_t)distance > pointer->room)
            return JS_ThrowRangeError(context, "Offset %lld, where there are %zu bytes", (long long)distance,
                                      pointer->room);
        moved.room = pointer->room - (size_t)distance;
    }
    return pointer_make(context, JS_UNDEFINED, &moved);
}

/* ffiAddress(pointer) -> BigInt */
static JSValue js_address(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    (void)self;
    return pointer ? JS_NewBigUint64(context, (uintptr_t)pointer->address) : JS_EXCEPTION;
}

/* ffiRoom(pointer) -> how many bytes are there; undefined: nobody knows */
static JSValue js_room(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    (void)self;
    if (!pointer)
        return JS_EXCEPTION;
    return pointer->room == SIZE_MAX ? JS_UNDEFINED : JS_NewInt64(context, (int64_t)pointer->room);
}

/* ffiFree(pointer): nobody reads or writes by it any more */
static JSValue js_free_pointer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    (void)self;
    if (!pointer)
        return JS_EXCEPTION;
    if (!pointer->block || pointer->address != pointer->block->bytes)
        return JS_ThrowTypeError(context, "This memory did not come from alloc");
    wf_ffi_block_unref(JS_GetRuntime(context), pointer->block);
    pointer->block = NULL;
    pointer->is_freed = true;
    return JS_UNDEFINED;
}

/* ---- Reading and writing ---- */

/* The place of a type's bytes: pointer, type, offset. Null: an exception. */
static unsigned char *take_place(JSContext *context, int count, JSValueConst *arguments, struct wf_ffi_type **type) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    size_t offset;
    *type = pointer && count > 2 ? wf_ffi_type_of(context, arguments[1]) : NULL;
    if (!*type || !wf_ffi_is_storable(context, *type) || !take_count(context, arguments[2], "offset", &offset) ||
        !has_room(context, pointer, offset, (*type)->size))
        return NULL;
    return pointer->address + offset;
}

/* ffiRead(pointer, handle of a type, offset) -> value */
static JSValue js_read(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_type *type;
    const unsigned char *place = take_place(context, count, arguments, &type);
    (void)self;
    return place ? wf_ffi_get(context, type, place) : JS_EXCEPTION;
}

/* ffiWrite(pointer, handle of a type, offset, value): all of it, or nothing if something does not fit */
static JSValue js_write(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_type *type;
    uint64_t word;
    (void)self;
    if (count < 4 || !take_place(context, count, arguments, &type))
        return JS_EXCEPTION;
    void *bytes = type->size > sizeof word ? js_malloc(context, type->size) : &word;
    if (!bytes)
        return JS_EXCEPTION;
    unsigned char *place = NULL;
    if (type->depth) /* the gaps in a struct stay what they are */
        memcpy(bytes, take_place(context, count, arguments, &type), type->size);
    if (wf_ffi_put(context, type, arguments[3], bytes, NULL))
        place = take_place(context, count, arguments, &type); /* getters of the value may have freed it */
    if (place)
        memcpy(place, bytes, type->size);
    if (bytes != &word)
        js_free(context, bytes);
    return place ? JS_UNDEFINED : JS_EXCEPTION;
}

/* ffiGetBytes(pointer, offset, count) -> Uint8Array, a copy */
static JSValue js_get_bytes(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    size_t offset, size;
    (void)self;
    if (!pointer || count < 3 || !take_count(context, arguments[1], "offset", &offset) ||
        !take_count(context, arguments[2], "count", &size) || !has_room(context, pointer, offset, size))
        return JS_EXCEPTION;
    return JS_NewUint8ArrayCopy(context, pointer->address + offset, size);
}

/* ffiSetBytes(pointer, offset, buffer or view) */
static JSValue js_set_bytes(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    size_t offset, size;
    uint8_t *bytes;
    JSValueConst buffer;
    (void)self;
    if (!pointer || count < 3 || !take_count(context, arguments[1], "offset", &offset))
        return JS_EXCEPTION;
    int found = wf_ffi_bytes_of(context, arguments[2], &bytes, &size, &buffer);
    if (found <= 0)
        return JS_ThrowTypeError(context,
                                 found ? "The buffer is detached" : "Bytes come from an ArrayBuffer or a view on one");
    if (!has_room(context, pointer, offset, size))
        return JS_EXCEPTION;
    if (size)
        memmove(pointer->address + offset, bytes, size);
    return JS_UNDEFINED;
}

/* ffiGetText(pointer, offset) -> the text up to its zero */
static JSValue js_get_text(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    size_t offset;
    (void)self;
    if (!pointer || count < 2 || !take_count(context, arguments[1], "offset", &offset) ||
        !has_room(context, pointer, offset, 0))
        return JS_EXCEPTION;
    const char *text = (const char *)pointer->address + offset;
    return wf_js_new_text(context, text,
                          pointer->room == SIZE_MAX ? strlen(text) : strnlen(text, pointer->room - offset));
}

static void *release_view(JSRuntime *runtime, void *opaque, void *bytes, size_t size) {
    (void)bytes;
    if (size)
        return NULL;
    wf_ffi_block_unref(runtime, opaque);
    return NULL;
}

/* ffiBuffer(pointer, offset, count) -> ArrayBuffer on the memory itself */
static JSValue js_buffer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_pointer *pointer = take_pointer(context, count, arguments);
    size_t offset, size;
    (void)self;
    if (!pointer || count < 3 || !take_count(context, arguments[1], "offset", &offset) ||
        !take_count(context, arguments[2], "count", &size) || !has_room(context, pointer, offset, size))
        return JS_EXCEPTION;
    if (size > INT32_MAX)
        return JS_ThrowRangeError(context, "An ArrayBuffer has at most 2 GiB");
    if (pointer->block)
        pointer->block->references++;
    JSValue buffer =
        JS_NewArrayBuffer(context, pointer->address + offset, size, 0, release_view, pointer->block, false);
    if (JS_IsException(buffer))
        wf_ffi_block_unref(JS_GetRuntime(context), pointer->block);
    return buffer;
}

/* ---- Buffers ---- */

static size_t size_of_element(int type) {
    switch (type) {
    case JS_TYPED_ARRAY_INT16:
    case JS_TYPED_ARRAY_UINT16:
    case JS_TYPED_ARRAY_FLOAT16:
        return 2;
    case JS_TYPED_ARRAY_INT32:
    case JS_TYPED_ARRAY_UINT32:
    case JS_TYPED_ARRAY_FLOAT32:
        return 4;
    case JS_TYPED_ARRAY_BIG_INT64:
    case JS_TYPED_ARRAY_BIG_UINT64:
    case JS_TYPED_ARRAY_FLOAT64:
        return 8;
    default: /* and DataView */
        return 1;
    }
}

int wf_ffi_bytes_of(JSContext *context, JSValueConst value, uint8_t **bytes, size_t *size, JSValueConst *buffer) {
    enum wf_engine_kind kind = JS_IsObject(value) ? wf_engine_kind(value) : WF_ENGINE_OTHER;
    struct wf_engine_bytes whole;
    struct wf_engine_view view = {.offset = 0};
    *buffer = value;
    if (kind != WF_ENGINE_BUFFER && kind != WF_ENGINE_SHARED && kind != WF_ENGINE_VIEW)
        return 0;
    if (kind == WF_ENGINE_VIEW) {
        if (wf_engine_look_at_view(context, value, &view) != 0) {
            JS_FreeValue(context, JS_GetException(context));
            return -1;
        }
        *buffer = view.buffer;
    }
    wf_engine_look_at_bytes(context, *buffer, &whole);
    if (!whole.bytes || view.is_out)
        return -1;
    *bytes = whole.bytes + view.offset;
    *size = kind == WF_ENGINE_VIEW ? view.length * size_of_element(view.type) : whole.length;
    return 1;
}

void wf_ffi_pin_add(weft_js *js, struct wf_ffi_pin *pin, JSValueConst buffer) {
    struct wf_ffi *ffi = js->ffi;
    pin->object = JS_VALUE_GET_PTR(buffer);
    pin->previous = NULL;
    pin->next = ffi->pins;
    if (ffi->pins)
        ffi->pins->previous = pin;
    ffi->pins = pin;
}

void wf_ffi_pin_remove(weft_js *js, struct wf_ffi_pin *pin) {
    *(pin->previous ? &pin->previous->next : &js->ffi->pins) = pin->next;
    if (pin->next)
        pin->next->previous = pin->previous;
    pin->object = NULL;
}

bool wf_js_is_unpinned(JSContext *context, JSValueConst buffer) {
    for (struct wf_ffi_pin *pin = wf_js_of(context)->ffi->pins; pin; pin = pin->next)
        if (pin->object == JS_VALUE_GET_PTR(buffer)) {
            JS_ThrowTypeError(context, "A foreign function uses the buffer, which can neither be detached nor resized");
            return false;
        }
    return true;
}

/* The engine's function, unless foreign code uses the buffer. */
static JSValue call_unpinned(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int magic,
                             JSValue *data) {
    (void)magic;
    if (JS_IsObject(self) && !wf_js_is_unpinned(context, self))
        return JS_EXCEPTION;
    return JS_Call(context, data[0], self, count, arguments);
}

static bool guard_function(JSContext *context, JSValueConst prototype, const char *name) {
    static const struct {
        const char *name;
        int flags;
    } hidden[] = {{"name", JS_PROP_CONFIGURABLE}, {"length", JS_PROP_CONFIGURABLE}};
    JSValue original = JS_GetPropertyStr(context, prototype, name);
    bool is_good = !JS_IsException(original);
    if (is_good && JS_IsFunction(context, original)) {
        JSValue guard = JS_NewCFunctionData(context, call_unpinned, 0, 0, 1, &original);
        for (size_t i = 0; i < 2 && !JS_IsException(guard); i++)
            JS_DefinePropertyValueStr(context, guard, hidden[i].name,
                                      JS_GetPropertyStr(context, original, hidden[i].name), hidden[i].flags);
        is_good = !JS_IsException(guard) && JS_DefinePropertyValueStr(context, prototype, name, guard,
                                                                      JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE) >= 0;
    }
    JS_FreeValue(context, original);
    return is_good;
}

static bool guard_buffers(JSContext *context) {
    static const char *const names[] = {"transfer", "transferToFixedLength", "transferToImmutable", "resize"};
    JSValue global = JS_GetGlobalObject(context);
    JSValue constructor = JS_GetPropertyStr(context, global, "ArrayBuffer");
    JSValue prototype = JS_GetPropertyStr(context, constructor, "prototype");
    bool is_good = !JS_IsException(prototype);
    for (size_t i = 0; i < sizeof names / sizeof *names && is_good; i++)
        is_good = guard_function(context, prototype, names[i]);
    JS_FreeValue(context, prototype);
    JS_FreeValue(context, constructor);
    JS_FreeValue(context, global);
    return is_good;
}

int wf_ffi_add_memory(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "Pointer", .finalizer = pointer_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("ffiAlloc", 1, js_alloc),        JS_CFUNC_DEF("ffiPointer", 1, js_pointer),
        JS_CFUNC_DEF("ffiView", 4, js_view),          JS_CFUNC_DEF("ffiOffset", 2, js_offset),
        JS_CFUNC_DEF("ffiAddress", 1, js_address),    JS_CFUNC_DEF("ffiRoom", 1, js_room),
        JS_CFUNC_DEF("ffiFree", 1, js_free_pointer),  JS_CFUNC_DEF("ffiRead", 3, js_read),
        JS_CFUNC_DEF("ffiWrite", 4, js_write),        JS_CFUNC_DEF("ffiGetBytes", 3, js_get_bytes),
        JS_CFUNC_DEF("ffiSetBytes", 3, js_set_bytes), JS_CFUNC_DEF("ffiGetText", 2, js_get_text),
        JS_CFUNC_DEF("ffiBuffer", 3, js_buffer),
    };
    wf_js_new_class(JS_GetRuntime(context), &pointer_class, &definition);
    JSValue prototype = JS_NewObject(context);
    if (JS_IsException(prototype) || !guard_buffers(context))
        return -1;
    JS_SetClassProto(context, pointer_class, JS_DupValue(context, prototype));
    JS_SetPropertyStr(context, host, "pointerPrototype", prototype);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
