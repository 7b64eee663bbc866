/* SPDX-License-Identifier: MIT
 *
 * js/shared.c - memory of SharedArrayBuffers, which outlives the instance that has made it.
 *
 * In front of the memory are the number of those who have it, buffers of instances and parcels, and the length of a buffer that grows.
 * Its memory is there from the start up to the longest it may become. The engine keeps the length in each buffer: ours is looked at
 * whenever a script asks for it. What an instance has of such memory counts for its limit.
 */
#include "shared.h"

#include <stddef.h>
#include <stdlib.h>

struct shared {
    atomic_int references;
    atomic_uint length; /* a buffer's that has grown; else 0 */
    size_t size;
    _Alignas(16) uint8_t memory[];
};

static struct shared *shared_of(void *memory) {
    return (struct shared *)((char *)memory - offsetof(struct shared, memory));
}

void wf_js_shared_ref(void *memory) {
    atomic_fetch_add(&shared_of(memory)->references, 1);
}

void wf_js_shared_unref(void *memory) {
    struct shared *shared = shared_of(memory);
    if (atomic_fetch_sub(&shared->references, 1) == 1)
        free(shared);
}

/* ---- What the engine calls ---- */

static void *engine_alloc(void *opaque, size_t size) {
    weft_js *js = opaque;
    struct shared *shared = wf_engine_has_room(js->runtime, size) ? calloc(1, sizeof *shared + size) : NULL;
    if (!shared) {
        JS_ThrowOutOfMemory(js->context); /* the engine would throw nothing */
        return NULL;
    }
    atomic_init(&shared->references, 1);
    shared->size = size;
    wf_engine_account(js->runtime, (int64_t)size);
    return shared->memory;
}

static void engine_free(void *opaque, void *memory) {
    weft_js *js = opaque;
    wf_engine_account(js->runtime, -(int64_t)shared_of(memory)->size);
    wf_js_shared_unref(memory);
}

static void engine_dup(void *opaque, void *memory) {
    weft_js *js = opaque;
    wf_engine_account(js->runtime, (int64_t)shared_of(memory)->size);
    wf_js_shared_ref(memory);
}

/* ---- Buffers that grow ---- */

/* The length that it has by now, in whatever instance it has grown. */
static uint32_t length_of(JSContext *context, JSValueConst buffer, struct wf_engine_bytes *bytes) {
    wf_engine_look_at_bytes(context, buffer, bytes);
    uint32_t grown = bytes->room < 0 ? 0 : atomic_load(&shared_of(bytes->bytes)->length);
    if (grown > bytes->length) {
        wf_engine_set_shared_length(buffer, grown);
        bytes->length = grown;
    }
    return bytes->length;
}

JSValue wf_js_shared_new(JSContext *context, const struct wf_engine_bytes *bytes) {
    struct wf_engine_bytes now;
    JSValue buffer = JS_NewArrayBuffer(context, bytes->bytes, bytes->length, bytes->room < 0 ? 0 : (size_t)bytes->room,
                                       NULL, NULL, true);
    if (!JS_IsException(buffer))
        (void)length_of(context, buffer, &now);
    return buffer;
}

static bool is_ours(JSContext *context, JSValueConst self) {
    if (JS_IsObject(self) && wf_engine_kind(self) == WF_ENGINE_SHARED)
        return true;
    JS_ThrowTypeError(context, "not a SharedArrayBuffer");
    return false;
}

static JSValue get_byte_length(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_engine_bytes bytes;
    (void)count, (void)arguments;
    return is_ours(context, self) ? JS_NewUint32(context, length_of(context, self, &bytes)) : JS_EXCEPTION;
}

static JSValue grow(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_engine_bytes bytes;
    uint64_t wanted;
    (void)count;
    if (!is_ours(context, self) || JS_ToIndex(context, &wanted, arguments[0]))
        return JS_EXCEPTION;
    uint32_t length = length_of(context, self, &bytes);
    if (bytes.room < 0)
        return JS_ThrowTypeError(context, "the SharedArrayBuffer cannot grow");
    atomic_uint *grown = &shared_of(bytes.bytes)->length;
    uint32_t before = atomic_load(grown);
    do {
        length = before > length ? before : length;
        if (wanted < length || wanted > (uint64_t)bytes.room)
            return JS_ThrowRangeError(context, "a SharedArrayBuffer of %u bytes, at most %d, cannot become one of %llu",
                                      length, (int)bytes.room, (unsigned long long)wanted);
    } while (!atomic_compare_exchange_weak(grown, &before, (uint32_t)wanted));
    (void)length_of(context, self, &bytes);
    return JS_UNDEFINED;
}

int wf_js_add_shared(JSContext *context, JSValueConst host) {
    JSSharedArrayBufferFunctions functions = {
        .sab_alloc = engine_alloc, .sab_free = engine_free, .sab_dup = engine_dup, .sab_opaque = wf_js_of(context)};
    (void)host;
    JS_SetSharedArrayBufferFunctions(JS_GetRuntime(context), &functions);
    JSValue global = JS_GetGlobalObject(context);
    JSValue constructor = JS_GetPropertyStr(context, global, "SharedArrayBuffer");
    JSValue prototype = JS_GetPropertyStr(context, constructor, "prototype");
    JSAtom name = JS_NewAtom(context, "byteLength");
    JSValue getter = JS_NewCFunction(context, get_byte_length, "get byteLength", 0);
    int status = JS_DefinePropertyGetSet(context, prototype, name, getter, JS_UNDEFINED, JS_PROP_CONFIGURABLE);
    if (status >= 0)
        status = JS_DefinePropertyValueStr(context, prototype, "grow", JS_NewCFunction(context, grow, "grow", 1),
                                           JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    JS_FreeAtom(context, name);
    JS_FreeValue(context, prototype);
    JS_FreeValue(context, constructor);
    JS_FreeValue(context, global);
    return status < 0 ? -1 : 0;
}
