/* SPDX-License-Identifier: MIT
 *
 * js/engine_older.h - the older line of QuickJS, as a library of npm's: what it calls otherwise, or has not, under the names of the
 * newer one, so that nobody else need know which of them there is. Included by js/engine.h.
 */
#ifndef WF_JS_ENGINE_OLDER_H
#define WF_JS_ENGINE_OLDER_H

#include <stdbool.h>

/* Errors know a file and a line there; ours have none. */
#define JS_ThrowTypeError(context, ...) JS_ThrowTypeError(context, NULL, 0, __VA_ARGS__)
#define JS_ThrowRangeError(context, ...) JS_ThrowRangeError(context, NULL, 0, __VA_ARGS__)
#define JS_ThrowReferenceError(context, ...) JS_ThrowReferenceError(context, NULL, 0, __VA_ARGS__)
#define JS_ThrowInternalError(context, ...) JS_ThrowInternalError(context, NULL, 0, __VA_ARGS__)
#define JS_ThrowSyntaxError(context, ...) JS_ThrowSyntaxError(context, NULL, 0, __VA_ARGS__)

/* Not the error is one that cannot be caught, but the throwing of it. */
#define JS_SetUncatchableError(context, error) ((void)(error))
#define JS_ClearUncatchableError(context, error) ((void)(error), JS_SetUncatchableException(context, false))
/* Whoever resolves a name is told the attributes of its import, too. */
#define WF_ENGINE_AND_ATTRIBUTES , __attribute__((unused)) JSValueConst attributes

#define JS_NewClassID(runtime, id) ((void)(runtime), JS_NewClassID(id))
#define JS_NewCModule(context, name, fill) JS_NewCModule(context, name, fill, NULL)
#define JS_WRITE_OBJ_STRIP_SOURCE 0
#define JS_IsStrictEqual JS_StrictEq
#define JS_IsArray(value) (JS_GetClassID(value) == JS_CLASS_ARRAY)
#define JS_IsError(value) (JS_GetClassID(value) == JS_CLASS_ERROR)
#define JS_IsProxy(value) (JS_GetClassID(value) == JS_CLASS_PROXY)
#define JS_IsBigInt(value) JS_IsBigInt(NULL, value) /* the context is not looked at */
#define JS_IsStrictEqual JS_StrictEq
#define JS_NewArrayBuffer wf_older_new_array_buffer
#define JS_NewTypedArray wf_older_new_typed_array

/* A maximum that is not 0 is not there: such buffers cannot be resized. */
typedef void *wf_older_realloc(JSRuntime *runtime, void *opaque, void *bytes, size_t size);
JSValue wf_older_new_array_buffer(JSContext *context, uint8_t *bytes, size_t size, size_t max_size,
                                  wf_older_realloc *resize, void *opaque, bool is_shared);
JSValue wf_older_new_typed_array(JSContext *context, int count, JSValueConst *arguments, JSTypedArrayEnum kind);

int JS_ToBigUint64(JSContext *context, uint64_t *number, JSValueConst value);
JSValue JS_GetPropertyInt64(JSContext *context, JSValueConst object, int64_t index);
int JS_GetLength(JSContext *context, JSValueConst object, int64_t *length);
JSValue JS_NewUint8ArrayCopy(JSContext *context, const uint8_t *bytes, size_t size);
uint8_t *JS_GetUint8Array(JSContext *context, size_t *size, JSValueConst array);
JSValue JS_GetProxyTarget(JSContext *context, JSValueConst proxy);
JSValue JS_GetProxyHandler(JSContext *context, JSValueConst proxy);

#endif
