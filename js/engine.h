/* SPDX-License-Identifier: MIT
 *
 * js/engine.h - the engine, whichever it is: QuickJS-ng from source, or the older line as a library.
 */
#ifndef WF_JS_ENGINE_H
#define WF_JS_ENGINE_H

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wcast-function-type"
#pragma GCC diagnostic ignored "-Wshadow"
#include <quickjs.h>
#pragma GCC diagnostic pop
#if WF_JS_OLDER
#include "engine_older.h"
enum { WF_ENGINE_TELLS_FRAMES = 0 };
#else
enum { WF_ENGINE_TELLS_FRAMES = 1 };
#define WF_ENGINE_AND_ATTRIBUTES
#define JS_BOOL bool
#endif

/* Adds what a context of this engine lacks; 0, or -1 with an exception. Before the context is freed it is to be released. */
int wf_engine_complete(JSContext *context);
void wf_engine_release(JSContext *context);

/* The innermost frame of JavaScript: where it stands now, and whose it is. */
void *wf_engine_frame(JSRuntime *runtime);
void wf_engine_set_frame(JSRuntime *runtime, void *frame);

/* Where a call stands: texts are cut where they do not fit. A call of C has no file, and line 0. */
struct wf_engine_spot {
    char function[64];
    char file[192];
    int line, column;
};
/* Of the call that a frame belongs to; returns the frame of whoever called it, or NULL. Changes nothing: nobody may be in the
 * engine but those who stand still. */
void *wf_engine_tell_frame(JSRuntime *runtime, void *frame, struct wf_engine_spot *spot);
/* A function's name, or "". */
void wf_engine_function_name(JSContext *context, JSValueConst fn, char *text, size_t size);

/* What a Map's or Set's iterator still has to give, without moving it, or what is in a weak collection: [values, whether keys and
 * values come in turn]. */
JSValue wf_engine_preview(JSContext *context, JSValueConst value);

/* The engine's own name of a kind of objects. */
JSValue wf_engine_class_name(JSContext *context, JSClassID id);
/* Throws what no JavaScript can catch; the error is taken over. */
JSValue wf_engine_throw_end(JSContext *context, JSValue error);

/* A value that belongs to whatever runs now, and to what it puts off: a reaction of a promise has it again. What else runs later is
 * the host's business. The first returns it; the second sets another one, which it takes over, and returns the last. An engine that
 * knows nothing of it always has undefined. */
JSValue wf_engine_surroundings(JSContext *context);
JSValue wf_engine_surround(JSContext *context, JSValue surroundings);
/* Why what is interrupted from now on is. */
void wf_engine_explain(JSRuntime *runtime, const char *why);
/* Where the last value that is no error was thrown: frames, as in a stack; undefined when nobody knows. It is forgotten. */
JSValue wf_engine_place(JSContext *context);
/* What is known of an error without running any code: name, message and stack. Undefined: it is none. */
JSValue wf_engine_plain_error(JSContext *context, JSValueConst error);
/* Evaluates the module of that name, which is resolved, at once. NULL in *promise: it is being evaluated already. The namespace,
 * or an exception; undefined when this engine cannot do it. */
JSValue wf_engine_import(JSContext *context, const char *name, JSValue *promise);
/* A text in the global scope, whose first line has that number, and what it is. flags: further ones of JS_Eval. */
JSValue wf_engine_eval(JSContext *context, const char *text, size_t size, const char *name, int line, int flags);

/* ---- What messages between instances are made of (js/clone_write.c) ---- */

/* PLAIN: of no class of its own, though it may have a prototype. OTHER: everything else, proxies too. */
enum wf_engine_kind {
    WF_ENGINE_PLAIN,
    WF_ENGINE_ARRAY,
    WF_ENGINE_BUFFER,
    WF_ENGINE_SHARED,
    WF_ENGINE_VIEW,
    WF_ENGINE_OTHER
};
enum wf_engine_kind wf_engine_kind(JSValueConst object);

/* The characters of a string: one byte each (Latin-1), two (UTF-16), or, width 0, length bytes of UTF-8. -1: an exception. */
struct wf_engine_text {
    JSValue held;
    const void *characters;
    uint32_t length;
    uint8_t width;
};
int wf_engine_text_of(JSContext *context, JSValueConst string, struct wf_engine_text *out);
void wf_engine_text_done(JSContext *context, struct wf_engine_text *text);
JSValue wf_engine_new_text(JSContext *context, const void *characters, uint32_t length, uint8_t width);

/* Whether an array is nothing but its elements, none of which is missing or has a getter; then their number. False when in doubt. */
bool wf_engine_is_list(JSValueConst array, uint32_t *length);

/* The memory of an ArrayBuffer or SharedArrayBuffer: room is what it may grow to, below 0 when it cannot. Null bytes: detached. */
struct wf_engine_bytes {
    uint8_t *bytes;
    void *block; /* what free() takes, once it was taken away from its buffer */
    uint32_t length;
    int32_t room;
};
void wf_engine_look_at_bytes(JSContext *context, JSValueConst buffer, struct wf_engine_bytes *out);
/* Detaches an ArrayBuffer and has its memory, without copying if it can be helped; and makes one of it, in any instance; also of
 * what malloc has made (then block and bytes are the same). -1 and an exception: nothing has changed hands. */
int wf_engine_take_bytes(JSContext *context, JSValueConst buffer, struct wf_engine_bytes *out);
JSValue wf_engine_give_bytes(JSContext *context, const struct wf_engine_bytes *bytes);
/* Whether the limit of the instance allows so many bytes more; and: they count for it, though its heap does not have them, or no
 * longer. */
bool wf_engine_has_room(JSRuntime *runtime, size_t bytes);
void wf_engine_account(JSRuntime *runtime, int64_t bytes);
/* A SharedArrayBuffer that has grown, in whatever instance, has its length from now on. */
void wf_engine_set_shared_length(JSValueConst buffer, uint32_t length);

/* A typed array or DataView (type -1). The buffer is not counted. length counts elements. */
struct wf_engine_view {
    JSValue buffer;
    uint32_t offset;
    uint32_t length;
    int type;
    bool tracks; /* follows the length of its buffer */
    bool is_out; /* of its buffer's bounds */
};
int wf_engine_look_at_view(JSContext *context, JSValueConst object, struct wf_engine_view *out);
JSValue wf_engine_new_view(JSContext *context, const struct wf_engine_view *view);

/* ---- Functions that are sent as their text (js/spawn.c) ---- */

/* [whether it is strict, names that it uses of its surroundings]; undefined: it is not written in JavaScript. */
JSValue wf_engine_function(JSContext *context, JSValueConst fn);
/* ---- Atomics (js/atomics.c) ---- */

/* The address of an element that can be waited for, and its size; is_shared: whether others may know it. Null: an exception. */
void *wf_engine_atomic_place(JSContext *context, JSValueConst array, JSValueConst index, unsigned *size,
                             bool *is_shared);

#endif
