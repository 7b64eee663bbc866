/* SPDX-License-Identifier: MIT
 *
 * js/gate.c - where one fiber, or one promise, waits until JavaScript lets it through.
 *
 * Locks and the like of weft:go are written in JavaScript (js/lib/line.js): who has the turn has them all to itself, so their
 * state needs no care, and those who wait are in the order in which they came. A gate is the part that cannot be written there.
 */
#include <stdlib.h>

#include "host.h"

static JSClassID gate_class;

/* What is behind the gates of each kind, for reports; numbers as in js/lib/line.js and fiber.js. */
static const char *const kinds[] = {
    "a mutex",        "a lock for reading",  "a lock for writing",      "permits of a semaphore",  "a wait group",
    "a call of Once", "others at a barrier", "a signal of a condition", "the children of a scope", "a work"};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

struct passing {
    struct wf_js_wait wait;
    weft_semaphore *gate;
    JSValue object;
    weft_time until;
};

static void gate_finalize(JSRuntime *runtime, JSValueConst value) {
    (void)runtime;
    free(JS_GetOpaque(value, gate_class));
}

static int gate_wait(struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    return weft_semaphore_acquire(passing->gate, 1, passing->until);
}

static JSValue gate_finish(JSContext *context, struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    JS_FreeValue(context, passing->object);
    return wait->status ? wf_js_throw_errno(context, wait->status, "wait") : JS_UNDEFINED;
}

/* gateNew() */
static JSValue js_gate_new(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    weft_semaphore *gate = calloc(1, sizeof *gate);
    JSValue object = gate ? JS_NewObjectClass(context, (int)gate_class) : JS_ThrowOutOfMemory(context);
    if (JS_IsException(object))
        free(gate);
    else
        JS_SetOpaque(object, gate);
    return object;
}

/* gateWait(gate, milliseconds, kind, surely): surely means also on a fiber that is cancelled */
static JSValue js_gate_wait(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_semaphore *gate = count > 3 ? JS_GetOpaque2(context, arguments[0], gate_class) : NULL;
    weft_time until;
    uint32_t kind;
    (void)self;
    if (!gate || !wf_js_until(context, arguments[1], &until) || JS_ToUint32(context, &kind, arguments[2]))
        return JS_EXCEPTION;
    struct passing *passing = calloc(1, sizeof *passing);
    if (!passing)
        return JS_ThrowOutOfMemory(context);
    *passing = (struct passing){.wait = {.wait = gate_wait,
                                         .finish = gate_finish,
                                         .is_local = until == WEFT_NEVER,
                                         .is_sure = JS_ToBool(context, arguments[3]),
                                         .what = kinds[kind % KIND_COUNT]},
                                .gate = gate,
                                .object = JS_DupValue(context, arguments[0]),
                                .until = until};
    return wf_js_perform(context, &passing->wait);
}

/* gateOpen(gate): once */
static JSValue js_gate_open(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_semaphore *gate = count > 0 ? JS_GetOpaque2(context, arguments[0], gate_class) : NULL;
    (void)self;
    if (!gate)
        return JS_EXCEPTION;
    weft_semaphore_release(gate, 1);
    return JS_UNDEFINED;
}

int wf_js_add_gates(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "GateHandle", .finalizer = gate_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("gateNew", 0, js_gate_new),
        JS_CFUNC_DEF("gateWait", 4, js_gate_wait),
        JS_CFUNC_DEF("gateOpen", 1, js_gate_open),
    };
    wf_js_new_class(JS_GetRuntime(context), &gate_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
