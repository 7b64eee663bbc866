/* SPDX-License-Identifier: MIT
 *
 * js/engine_bytes.h - what messages between instances are made of: kinds of objects, texts, buffers and views. A part of
 * js/engine.c, which alone includes it, since it needs the inside of the engine.
 */
#ifndef WF_JS_ENGINE_BYTES_H
#define WF_JS_ENGINE_BYTES_H

enum wf_engine_kind wf_engine_kind(JSValueConst object) {
    int id = (int)JS_GetClassID(object);
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
        return is_typed_array(id) || id == JS_CLASS_DATAVIEW ? WF_ENGINE_VIEW : WF_ENGINE_OTHER;
    }
}

int wf_engine_text_of(JSContext *context, JSValueConst string, struct wf_engine_text *out) {
    JSValue held = JS_ToString(context, string);
    if (JS_IsException(held))
        return -1;
    JSString *text = JS_VALUE_GET_STRING(held);
    *out = (struct wf_engine_text){.held = held, .length = text->len, .width = text->is_wide_char ? 2 : 1};
    out->characters = text->is_wide_char ? (const void *)str16(text) : (const void *)str8(text);
    return 0;
}

void wf_engine_text_done(JSContext *context, struct wf_engine_text *text) {
    JS_FreeValue(context, text->held);
}

JSValue wf_engine_new_text(JSContext *context, const void *characters, uint32_t length, uint8_t width) {
    return width == 1 ? js_new_string8_len(context, characters, (int)length)
                      : js_new_string16_len(context, characters, (int)length);
}

bool wf_engine_is_list(JSValueConst array, uint32_t *length) {
    JSObject *object = JS_VALUE_GET_OBJ(array);
    *length = object->u.array.count;
    return object->class_id == JS_CLASS_ARRAY && object->fast_array && object->shape->prop_count == 1 &&
           JS_VALUE_GET_TAG(object->prop[0].u.value) == JS_TAG_INT &&
           (uint32_t)JS_VALUE_GET_INT(object->prop[0].u.value) == *length;
}

void wf_engine_look_at_bytes(JSContext *context, JSValueConst buffer, struct wf_engine_bytes *out) {
    JSArrayBuffer *found = JS_VALUE_GET_OBJ(buffer)->u.array_buffer;
    (void)context;
    *out = (struct wf_engine_bytes){
        .bytes = found->data, .length = (uint32_t)found->byte_length, .room = found->max_byte_length};
}

/* What the engine puts before the memory of its buffers. */
static JSMallocBlockHeader *header_of(void *bytes) {
    return container_of(bytes, JSMallocBlockHeader, user_data);
}

bool wf_engine_has_room(JSRuntime *runtime, size_t bytes) {
    JSMallocState *state = &runtime->malloc_state;
    return state->malloc_size + bytes <= state->malloc_limit - 1; /* without a limit that is the largest number */
}

void wf_engine_account(JSRuntime *runtime, int64_t bytes) {
    runtime->malloc_state.malloc_size += (size_t)bytes;
}

/* The realloc of buffers whose memory is malloc's, as such. */
static void *resize_plain(JSRuntime *runtime, void *opaque, void *bytes, size_t size) {
    size_t before = malloc_usable_size(bytes);
    (void)opaque;
    if (size > before && !wf_engine_has_room(runtime, size - before))
        return NULL;
    void *resized = size ? realloc(bytes, size) : NULL;
    if (!size)
        free(bytes);
    else if (!resized)
        return NULL;
    wf_engine_account(runtime, (int64_t)malloc_usable_size(resized) - (int64_t)before);
    return resized;
}

/* Blocks of the arenas, and memory of somebody else, are copied. */
static bool copy_bytes(JSContext *context, JSArrayBuffer *buffer, struct wf_engine_bytes *out) {
    out->block = out->bytes = malloc(out->length ? out->length : 1);
    if (!out->block) {
        JS_ThrowOutOfMemory(context);
        return false;
    }
    memcpy(out->bytes, buffer->data, out->length);
    if (buffer->realloc_func)
        buffer->realloc_func(context->rt, buffer->opaque, buffer->data, 0);
    return true;
}

int wf_engine_take_bytes(JSContext *context, JSValueConst value, struct wf_engine_bytes *out) {
    JSArrayBuffer *buffer = JS_VALUE_GET_OBJ(value)->u.array_buffer;
    wf_engine_look_at_bytes(context, value, out);
    if (buffer->immutable) {
        JS_ThrowTypeErrorImmutableArrayBuffer(context);
        return -1;
    }
    if (buffer->realloc_func == resize_plain) {
        out->block = out->bytes;
        wf_engine_account(context->rt, -(int64_t)malloc_usable_size(out->block));
    } else if (buffer->realloc_func == js_array_buffer_realloc &&
               header_of(out->bytes)->u.block_idx == JS_ARENA_FREE_NIL) {
        out->block = header_of(out->bytes);
        context->rt->malloc_state.malloc_count--;
        wf_engine_account(context->rt, -(int64_t)(js_arena_usable_size(context->rt, out->bytes) + MALLOC_OVERHEAD));
    } else if (!copy_bytes(context, buffer, out)) {
        return -1;
    }
    buffer->realloc_func = NULL;
    buffer->opaque = NULL;
    JS_DetachArrayBuffer(context, value);
    return 0;
}

JSValue wf_engine_give_bytes(JSContext *context, const struct wf_engine_bytes *bytes) {
    bool is_plain = bytes->block == bytes->bytes;
    if (!wf_engine_has_room(context->rt, bytes->length))
        return JS_ThrowOutOfMemory(context);
    uint64_t room = bytes->room < 0 ? 0 : (uint64_t)bytes->room;
    JSValue buffer = js_array_buffer_constructor3(context, JS_UNDEFINED, bytes->length, bytes->room < 0 ? NULL : &room,
                                                  JS_CLASS_ARRAY_BUFFER, bytes->bytes,
                                                  is_plain ? resize_plain : js_array_buffer_realloc, NULL, false);
    if (JS_IsException(buffer))
        return buffer;
    if (!is_plain)
        context->rt->malloc_state.malloc_count++;
    wf_engine_account(context->rt, is_plain
                                       ? (int64_t)malloc_usable_size(bytes->block)
                                       : (int64_t)(js_arena_usable_size(context->rt, bytes->bytes) + MALLOC_OVERHEAD));
    return buffer;
}

void wf_engine_set_shared_length(JSValueConst buffer, uint32_t length) {
    JSArrayBuffer *shared = JS_VALUE_GET_OBJ(buffer)->u.array_buffer;
    shared->byte_length = (int)length;
    js_array_buffer_update_typed_arrays(shared);
}

int wf_engine_look_at_view(JSContext *context, JSValueConst value, struct wf_engine_view *out) {
    JSObject *object = JS_VALUE_GET_OBJ(value);
    JSTypedArray *view = object->u.typed_array;
    bool is_data = object->class_id == JS_CLASS_DATAVIEW;
    (void)context;
    *out = (struct wf_engine_view){
        .buffer = JS_MKPTR(JS_TAG_OBJECT, view->buffer),
        .offset = view->offset,
        .length = is_data ? view->length : object->u.array.count,
        .type = is_data ? -1 : object->class_id - JS_CLASS_UINT8C_ARRAY,
        .tracks = view->track_rab,
        .is_out = is_data ? dataview_is_oob(object) : typed_array_is_oob(object),
    };
    return 0;
}

JSValue wf_engine_new_view(JSContext *context, const struct wf_engine_view *view) {
    JSValueConst arguments[] = {view->buffer, JS_NewUint32(context, view->offset),
                                view->tracks ? JS_UNDEFINED : JS_NewUint32(context, view->length)};
    return view->type < 0 ? js_dataview_constructor(context, JS_UNDEFINED, 3, arguments)
                          : JS_NewTypedArray(context, 3, arguments, (JSTypedArrayEnum)view->type);
}

#endif
