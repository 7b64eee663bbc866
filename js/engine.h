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

/* Why what is interrupted from now on is. */
void wf_engine_explain(JSRuntime *runtime, const char *why);
/* Where the last value that is no error was thrown: frames, as in a stack; undefined when nobody knows. It is forgotten. */
JSValue wf_engine_place(JSContext *context);
/* Evaluates the module of that name, which is resolved, at once. NULL in *promise: it is being evaluated already. The namespace,
 * or an exception; undefined when this engine cannot do it. */
JSValue wf_engine_import(JSContext *context, const char *name, JSValue *promise);
/* A text in the global scope, whose first line has that number, and what it is. */
JSValue wf_engine_eval(JSContext *context, const char *text, size_t size, const char *name, int line);

#endif
