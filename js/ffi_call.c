/* SPDX-License-Identifier: MIT
 *
 * js/ffi_call.c - a call of a foreign function: its arguments on the way in, what they need meanwhile, its result on
 * the way out.
 *
 * Arguments are made into values of weft/ffi.h while the caller has the turn. Texts and structs are copied into the
 * call. Buffers are not: they are held and pinned. Memory of ours is counted, and a function of JavaScript becomes a
 * callback that lives as long as the call. So nothing that foreign code was given goes away under it, whatever
 * JavaScript does meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

static bool call_begin(JSContext *context, struct wf_ffi_call *call, struct wf_ffi_function *function, int count,
                       JSValueConst *arguments);
static JSValue call_end(JSContext *context, struct wf_ffi_call *call);
static void call_release(JSContext *context, struct wf_ffi_call *call);

/* ---- Arguments ---- */

/* Memory that goes with the call; null: an exception. */
static void *call_alloc(JSContext *context, struct wf_ffi_call *call, size_t size) {
    size_t rounded = (size + 15) & ~(size_t)15;
    if (rounded <= sizeof call->scratch - call->used) {
        call->used += rounded;
        return call->scratch + call->used - rounded;
    }
    struct wf_ffi_chunk *chunk = malloc(sizeof *chunk + size);
    if (!chunk) {
        JS_ThrowOutOfMemory(context);
        return NULL;
    }
    chunk->next = call->chunks;
    call->chunks = chunk;
    return chunk->bytes;
}

static struct wf_ffi_hold *call_hold(struct wf_ffi_call *call) {
    struct wf_ffi_hold *hold = &call->holds[call->hold_count++];
    hold->value = JS_UNDEFINED;
    hold->pin.object = NULL;
    hold->block = NULL;
    hold->callback = NULL;
    return hold;
}

static bool take_text(JSContext *context, struct wf_ffi_call *call, const struct wf_ffi_type *type, JSValueConst value,
                      const char **out, const struct wf_ffi_trail *trail) {
    size_t size;
    if (!JS_IsString(value) && !(type->is_optional && JS_IsNull(value)))
        return wf_ffi_refuse_type(context, trail, value, type->name);
    *out = NULL;
    if (JS_IsNull(value))
        return true;
    const char *text = JS_ToCStringLen(context, &size, value);
    char *copy = text ? call_alloc(context, call, size + 1) : NULL;
    bool has_zero = copy && memchr(text, 0, size);
    if (copy) {
        memcpy(copy, text, size + 1);
        wf_ffi_mend_text(copy, size);
    }
    JS_FreeCString(context, text);
    if (has_zero) {
        JS_ThrowTypeError(context, "%s, argument %d: the text contains a zero, which is the end of a string in C",
                          trail->function, (int)trail->index + 1);
        return false;
    }
    *out = copy;
    return copy;
}

/* Of a buffer, or of a pointer; memory of ours and buffers are held. */
static bool take_pointer(JSContext *context, struct wf_ffi_call *call, const struct wf_ffi_type *type,
                         JSValueConst value, void **out, const struct wf_ffi_trail *trail) {
    bool is_pointer;
    uint8_t *bytes;
    size_t size;
    JSValueConst buffer;
    int found = JS_IsObject(value) ? wf_ffi_bytes_of(context, value, &bytes, &size, &buffer) : 0;
    if (found < 0) {
        JS_ThrowTypeError(context, "%s, argument %d: the buffer is detached", trail->function, (int)trail->index + 1);
        return false;
    }
    if (found) {
        struct wf_ffi_hold *hold = call_hold(call);
        hold->value = JS_DupValue(context, buffer);
        wf_ffi_pin_add(call->js, &hold->pin, buffer);
        *out = bytes;
        return true;
    }
    if (type->kind == WF_FFI_BUFFER && !JS_IsNull(value))
        return wf_ffi_refuse_type(context, trail, value, "buffer (an ArrayBuffer, a view on one, or null)");
    struct wf_ffi_pointer *pointer = wf_ffi_pointer_of(value, &is_pointer);
    if (pointer && pointer->block) {
        call_hold(call)->block = pointer->block;
        pointer->block->references++;
    }
    return wf_ffi_put(context, type, value, out, trail);
}

static bool take_function(JSContext *context, struct wf_ffi_call *call, const struct wf_ffi_type *type,
                          JSValueConst value, void **out, const struct wf_ffi_trail *trail) {
    if (!JS_IsFunction(context, value))
        return take_pointer(context, call, type, value, out, trail);
    struct wf_ffi_callback *callback = wf_ffi_callback_new(context, type->signature, value);
    if (!callback)
        return false;
    call_hold(call)->callback = callback;
    *out = wf_ffi_callback_address(callback);
    return true;
}

static bool take_argument(JSContext *context, struct wf_ffi_call *call, unsigned index, JSValueConst value) {
    const struct wf_ffi_type *type = call->function->signature->types[index];
    struct wf_ffi_trail trail = {.function = call->function->name, .index = index};
    weft_ffi_value *out = &call->values[index];
    switch (type->kind) {
    case WF_FFI_STRING:
        return take_text(context, call, type, value, &out->string, &trail);
    case WF_FFI_POINTER:
    case WF_FFI_BUFFER:
        return take_pointer(context, call, type, value, &out->pointer, &trail);
    case WF_FFI_CALLBACK:
        return take_function(context, call, type, value, &out->pointer, &trail);
    case WF_FFI_STRUCT:
        out->pointer = call_alloc(context, call, type->size);
        if (out->pointer)
            memset(out->pointer, 0, type->size); /* the gaps, too */
        return out->pointer && wf_ffi_put(context, type, value, out->pointer, &trail);
    default:
        return wf_ffi_put(context, type, value, out, &trail);
    }
}

/* ---- A call ---- */

static bool call_begin(JSContext *context, struct wf_ffi_call *call, struct wf_ffi_function *function, int count,
                       JSValueConst *arguments) {
    const struct wf_ffi_signature *signature = function->signature;
    if (count != (int)signature->count) {
        JS_ThrowTypeError(context, "%s takes %u argument%s, not %d", function->name, signature->count,
                          signature->count == 1 ? "" : "s", count);
        return false;
    }
    if (function->library && function->library->is_closed) {
        JS_ThrowTypeError(context, "The library of %s is closed", function->name);
        return false;
    }
    call->js = wf_js_of(context);
    call->function = function;
    call->is_over = false;
    call->status = call->number = 0;
    call->misuse = NULL;
    call->error = JS_UNINITIALIZED;
    call->hold_count = 0;
    call->chunks = NULL;
    call->used = 0;
    function->references++;
    if (function->library)
        function->library->calls++;
    bool is_good = true;
    for (int i = 0; i < count && is_good; i++)
        is_good = take_argument(context, call, (unsigned)i, arguments[i]);
    if (is_good && signature->result->kind == WF_FFI_STRUCT)
        is_good = (call->result.pointer = call_alloc(context, call, signature->result->size)) != NULL;
    if (!is_good)
        call_release(context, call);
    return is_good;
}

static void call_release(JSContext *context, struct wf_ffi_call *call) {
    struct wf_ffi_function *function = call->function;
    for (unsigned i = 0; i < call->hold_count; i++) {
        struct wf_ffi_hold *hold = &call->holds[i];
        if (hold->pin.object)
            wf_ffi_pin_remove(call->js, &hold->pin);
        JS_FreeValue(context, hold->value);
        wf_ffi_block_unref(JS_GetRuntime(context), hold->block);
        if (hold->callback)
            wf_ffi_callback_drop(context, hold->callback);
    }
    for (struct wf_ffi_chunk *chunk = call->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    if (function->library)
        wf_ffi_library_leave(function->library);
    wf_ffi_function_unref(function);
}

/* [result, errno] for a function that is to tell both */
static JSValue with_errno(JSContext *context, JSValue value, int number) {
    if (JS_IsException(value))
        return value;
    JSValue pair = JS_NewArray(context);
    if (JS_IsException(pair)) {
        JS_FreeValue(context, value);
        return pair;
    }
    JS_SetPropertyUint32(context, pair, 0, value);
    JS_SetPropertyUint32(context, pair, 1, JS_NewInt32(context, number));
    return pair;
}

static JSValue call_end(JSContext *context, struct wf_ffi_call *call) {
    const struct wf_ffi_function *function = call->function;
    const struct wf_ffi_type *type = function->signature->result;
    JSValue result;
    if (call->js->has_ended) {
        JS_FreeValue(context, call->error);
        result = wf_js_throw_end(context);
    } else if (!JS_IsUninitialized(call->error)) {
        result = JS_Throw(context, call->error);
    } else if (call->misuse) {
        result = JS_ThrowTypeError(context, "%s: %s", function->name, call->misuse);
    } else if (call->status) {
        result = wf_js_throw_errno(context, call->status, function->name);
    } else {
        const void *place = type->kind == WF_FFI_STRUCT ? call->result.pointer : (const void *)&call->result;
        result = wf_ffi_get(context, type, place);
        if (function->wants_errno)
            result = with_errno(context, result, call->number);
    }
    call_release(context, call);
    return result;
}

/* ---- What JavaScript calls ---- */

static JSClassID function_class; /* of what ties a function of JavaScript to one of C */

static JSValue call_here(JSContext *context, struct wf_ffi_function *function, int count, JSValueConst *arguments) {
    struct wf_ffi_call call;
    if (!call_begin(context, &call, function, count, arguments))
        return JS_EXCEPTION;
    wf_ffi_run(&call);
    if (call.mode == WF_FFI_FIBER)
        call.fiber->foreign_errno = call.number;
    else
        call.js->ffi->number = call.number;
    return call_end(context, &call);
}

struct apart {
    struct wf_js_wait wait;
    struct wf_ffi_call call;
};

static int apart_wait(struct wf_js_wait *wait) {
    return wf_ffi_run_apart(&((struct apart *)wait)->call);
}

static JSValue apart_finish(JSContext *context, struct wf_js_wait *wait) {
    struct wf_ffi_call *call = &((struct apart *)wait)->call;
    if (!call->status)
        call->status = wait->status;
    return call_end(context, call);
}

static JSValue call_apart(JSContext *context, struct wf_ffi_function *function, int count, JSValueConst *arguments) {
    struct apart *apart = malloc(sizeof *apart);
    if (!apart)
        return JS_ThrowOutOfMemory(context);
    if (!call_begin(context, &apart->call, function, count, arguments)) {
        free(apart);
        return wf_js_settled(context, JS_EXCEPTION);
    }
    apart->wait = (struct wf_js_wait){.wait = apart_wait, .finish = apart_finish, .is_promise = true};
    return wf_js_perform(context, &apart->wait);
}

static JSValue call_closure(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int which,
                            JSValue *data) {
    struct wf_ffi_function *function = JS_GetOpaque(data[0], function_class);
    (void)self;
    return which == WF_FFI_CALL_APART ? call_apart(context, function, count, arguments)
                                      : call_here(context, function, count, arguments);
}

static void function_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_ffi_function *function = JS_GetOpaque(value, function_class);
    (void)runtime;
    if (function)
        wf_ffi_function_unref(function);
}

JSValue wf_ffi_call_new(JSContext *context, struct wf_ffi_function *function, int which) {
    JSValue tie = JS_NewObjectClass(context, (int)function_class);
    if (JS_IsException(tie))
        return tie;
    function->references++;
    JS_SetOpaque(tie, function);
    JSValue closure = JS_NewCFunctionData(context, call_closure, (int)function->signature->count, which, 1, &tie);
    JS_FreeValue(context, tie);
    if (!JS_IsException(closure))
        JS_DefinePropertyValueStr(context, closure, "name", JS_NewString(context, function->name),
                                  JS_PROP_CONFIGURABLE);
    return closure;
}

void wf_ffi_add_calls(JSContext *context) {
    static const JSClassDef definition = {.class_name = "FunctionHandle", .finalizer = function_finalize};
    wf_js_new_class(JS_GetRuntime(context), &function_class, &definition);
}
