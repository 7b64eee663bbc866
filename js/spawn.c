/* SPDX-License-Identifier: MIT
 *
 * js/spawn.c - instances that JavaScript has started: each is an instance of its own, on a loop of its own, run by a fiber.
 *
 *     parent's turn                            child's fiber
 *     spawnStart: parcel with the order  --->  makes loop and instance, calls begin() of js/lib/instance.js,
 *                                              which asks for the order and leaves a parcel with the result
 *     spawnTerminate: has_ended, stop    --->  whatever it is in the middle of ends
 *     child_over, on the parent's loop   <---  has freed its instance: nothing of it runs any more
 *
 * A child does not outlive its parent: an instance that is freed ends its children and waits for them, so that what a child has of it
 * (options, the loop) stays as long as the child does.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "parcel.h"

/* STACK_BELOW: what C needs of it. MEMORY_LEAST: without so much it cannot even say what is wrong. */
enum { STACK_BELOW = 128 << 10, MEMORY_LEAST = 64 << 10 };

/* How it has ended; known to js/lib/parallel_spawn.js. */
enum outcome { GOOD, FAILED, EXITED, UNSETTLED, TERMINATED, LATE, NO_MEMORY, NOT_STARTED };

struct wf_js_child {
    atomic_int references; /* the handle's, and the fiber's or the callback's that tells its end */
    weft_js *parent;
    struct wf_js_child *next, *previous; /* of the parent's; this and the next two with the parent's turn */
    JSValue settle[2];
    bool keeps;                 /* the parent's loop */
    struct wf_js_parcel *order; /* what it is told, and what it was given */
    weft_js_options options;
    const char *arguments[2];
    char name[32];
    int64_t limit; /* nanoseconds from its start; 0: none */
    weft_mutex lock;
    weft_js *js;       /* while it lives; this and the next two under lock */
    weft_scope *scope; /* of its fiber */
    bool is_terminated;
    /* The child's, then the parent's. */
    struct wf_js_parcel *result;
    bool has_failed; /* the result is an error */
    enum outcome outcome;
    int code; /* of exit, or an error of the system */
};

static JSClassID child_class;

static void *child_main(void *opaque);
static void begin(void *opaque);
static void child_over(void *opaque);

static void release(struct wf_js_child *child) {
    if (atomic_fetch_sub(&child->references, 1) > 1)
        return;
    wf_js_parcel_drop(child->order, false); /* it was never started */
    free((char *)child->arguments[0]);
    free(child);
}

static void child_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_child *child = JS_GetOpaque(value, child_class);
    (void)runtime;
    if (child)
        release(child);
}

/* ---- The parent's ---- */

static bool read_options(JSContext *context, struct wf_js_child *child, JSValueConst *arguments) {
    weft_js *parent = child->parent;
    double memory, stack, limit;
    const char *name = JS_ToCString(context, arguments[2]);
    if (!name)
        return false;
    strncpy(child->name, name, sizeof child->name - 1);
    JS_FreeCString(context, name);
    if (JS_ToFloat64(context, &memory, arguments[3]) || JS_ToFloat64(context, &stack, arguments[4]) ||
        JS_ToFloat64(context, &limit, arguments[5]))
        return false;
    child->arguments[0] = wf_js_copy_text(context, arguments[6]);
    if (!child->arguments[0])
        return false;
    child->limit = limit > 0 ? (int64_t)(limit * 1e6) : 0;
    child->options = (weft_js_options){
        .max_memory = (size_t)memory,
        .max_stack = (size_t)stack,
        .fiber_stack = parent->options.fiber_stack,
        .no_fibers = parent->options.no_fibers,
        .arguments = child->arguments,
        .host_arguments = parent->options.host_arguments,
    };
    return true;
}

static int start(struct wf_js_child *child) {
    weft_fiber fiber;
    weft_spawn_options options = {.name = child->name,
                                  .stack_size = child->options.max_stack + STACK_BELOW,
                                  .runtime = child->parent->holder ? child->parent->home : NULL}; /* not a pool's */
    int error = weft_loop_keep(child->parent->loop);
    if (error)
        return error;
    error = weft_spawn_with(&fiber, &options, child_main, child);
    if (error) {
        weft_loop_unkeep(child->parent->loop);
        return error;
    }
    weft_detach(fiber);
    child->keeps = true;
    return 0;
}

/* spawnStart(order, transfers, name, memory, stack, milliseconds, argument) -> [promise of [outcome, code, value], handle] */
static JSValue js_spawn_start(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_js *js = wf_js_of(context);
    (void)self, (void)count;
    struct wf_js_child *child = calloc(1, sizeof *child);
    if (!child)
        return JS_ThrowOutOfMemory(context);
    atomic_init(&child->references, 1);
    child->parent = js;
    JSValue promise, list = JS_EXCEPTION;
    JSValue handle = JS_NewObjectClass(context, (int)child_class);
    if (JS_IsException(handle)) {
        release(child);
        return handle;
    }
    JS_SetOpaque(handle, child);
    if (!read_options(context, child, arguments) || !(child->order = wf_js_pack(context, arguments[0], arguments[1])))
        goto free_handle;
    promise = JS_NewPromiseCapability(context, child->settle);
    if (JS_IsException(promise))
        goto free_handle;
    list = JS_NewArray(context);
    if (JS_IsException(list))
        goto free_promise;
    atomic_fetch_add(&child->references, 1);
    int error = start(child);
    if (error) {
        release(child);
        JS_FreeValue(context, list);
        list = wf_js_throw_errno(context, error, "spawn");
        goto free_promise;
    }
    child->next = js->children;
    if (js->children)
        js->children->previous = child;
    js->children = child;
    JS_SetPropertyUint32(context, list, 0, promise);
    JS_SetPropertyUint32(context, list, 1, handle);
    return list;

free_promise:
    JS_FreeValue(context, promise);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): references are counted, and the handle has one
    JS_FreeValue(context, child->settle[0]);
    JS_FreeValue(context, child->settle[1]);
free_handle:
    JS_FreeValue(context, handle);
    return list;
}

/* From any thread. It ends as soon as it can: in the middle of a computation, or of whatever its loop waits for. */
static bool terminate(struct wf_js_child *child) {
    wf_js_lock(&child->lock);
    bool is_first = !child->is_terminated;
    child->is_terminated = true;
    if (child->js) {
        child->js->has_ended = true;
        weft_loop_stop(child->js->loop);
        weft_scope_cancel(child->scope, -ECANCELED, NULL);
    }
    wf_js_unlock(&child->lock);
    return is_first;
}

/* spawnTerminate(handle): whether nobody has done so before */
static JSValue js_spawn_terminate(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_child *child = count > 0 ? JS_GetOpaque2(context, arguments[0], child_class) : NULL;
    (void)self;
    return child ? JS_NewBool(context, terminate(child)) : JS_EXCEPTION;
}

/* spawnKeep(handle, whether the loop stays for it) */
static JSValue js_spawn_keep(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_child *child = count > 1 ? JS_GetOpaque2(context, arguments[0], child_class) : NULL;
    (void)self;
    if (!child)
        return JS_EXCEPTION;
    bool keeps = JS_ToBool(context, arguments[1]), is_linked = !JS_IsUndefined(child->settle[0]);
    if (!is_linked || keeps == child->keeps)
        return JS_NewBool(context, child->keeps);
    if (!keeps)
        weft_loop_unkeep(child->parent->loop);
    child->keeps = keeps && weft_loop_keep(child->parent->loop) == 0;
    return JS_NewBool(context, child->keeps);
}

void wf_js_drop_children(weft_js *js) {
    for (struct wf_js_child *child = js->children; child; child = child->next)
        terminate(child);
}

/* On the parent's loop: the child is no more. */
static void child_over(void *opaque) {
    struct wf_js_child *child = opaque;
    weft_js *js = child->parent;
    JSContext *context = js->context;
    wf_js_brought(js);
    *(child->previous ? &child->previous->next : &js->children) = child->next;
    if (child->next)
        child->next->previous = child->previous;
    wf_js_enter_any(js);
    if (!js->has_ended) {
        JSValue value = child->result ? wf_js_unpack(context, child->result, NULL) : JS_UNDEFINED;
        bool is_good = !JS_IsException(value);
        JSValue answer = is_good ? JS_NewArray(context) : JS_GetException(context);
        if (is_good) {
            JS_SetPropertyUint32(context, answer, 0, JS_NewInt32(context, child->outcome));
            JS_SetPropertyUint32(context, answer, 1, JS_NewInt32(context, child->code));
            JS_SetPropertyUint32(context, answer, 2, value);
        }
        wf_js_call(js, child->settle[!is_good], 1, &answer);
        JS_FreeValue(context, answer);
    }
    JS_FreeValue(context, child->settle[0]);
    JS_FreeValue(context, child->settle[1]);
    child->settle[0] = child->settle[1] = JS_UNDEFINED;
    wf_js_parcel_drop(child->result, true);
    child->result = NULL;
    wf_js_leave(js);
    if (child->keeps)
        weft_loop_unkeep(js->loop);
    release(child);
}

/* ---- The child's fiber ---- */

/* From here on it can be terminated; or no more. Whether it was. */
static bool show(struct wf_js_child *child, weft_js *js, weft_scope *scope) {
    wf_js_lock(&child->lock);
    bool is_terminated = child->is_terminated;
    child->js = js;
    child->scope = scope;
    if (js && is_terminated)
        js->has_ended = true;
    wf_js_unlock(&child->lock);
    return is_terminated;
}

static enum outcome outcome_of(struct wf_js_child *child, weft_js *js, int status, bool is_terminated) {
    child->code = status;
    if (child->result && child->has_failed)
        return FAILED;
    if (js->has_finished || (status == 0 && child->result && !is_terminated))
        return child->result ? GOOD : wf_engine_has_room(js->runtime, MEMORY_LEAST) ? UNSETTLED : NO_MEMORY;
    if (is_terminated)
        return TERMINATED;
    if (js->deadline && weft_now() >= js->deadline)
        return LATE;
    return status < 0 ? NOT_STARTED : EXITED;
}

static int run(struct wf_js_child *child, weft_loop *loop) {
    weft_js *js;
    weft_scope *scope;
    int error = weft_js_new(&js, loop, &child->options);
    if (error)
        return error;
    js->child = child;
    js->deadline = child->limit ? weft_after(child->limit) : 0;
    error = weft_scope_open(&scope, &(weft_scope_options){.deadline = js->deadline});
    if (!error) {
        show(child, js, scope);
        error = weft_loop_submit_internal(loop, begin, js); /* as main scripts begin */
        js->queued += error == 0;
        int status = error ? error : weft_js_finish(js);
        bool is_terminated = show(child, NULL, NULL);
        child->outcome = outcome_of(child, js, status, is_terminated);
        (void)weft_scope_close(scope);
    }
    js->is_lost = error || child->outcome != GOOD;
    weft_js_free(js);
    return error;
}

static void *child_main(void *opaque) {
    struct wf_js_child *child = opaque;
    weft_loop *loop = NULL;
    int error = weft_loop_new(&loop, &(weft_loop_options){.name = child->name, .stays = true});
    if (!error)
        error = run(child, loop);
    if (error) {
        child->outcome = NOT_STARTED;
        child->code = error;
    }
    weft_loop_unref(loop);
    wf_js_parcel_drop(child->order, child->outcome != GOOD);
    child->order = NULL;
    (void)wf_js_bring(child->parent, child_over, child, true); /* it waits for its children, and so does its loop */
    return NULL;
}

/* A callback of the child's loop: its script begins. */
static void begin(void *opaque) {
    weft_js *js = opaque;
    JSContext *context = js->context;
    js->queued--;
    if (!wf_js_enter(js))
        return;
    JSValue library = wf_js_library(context, "instance");
    JSValue fn = JS_IsException(library) ? JS_EXCEPTION : JS_GetPropertyStr(context, library, "begin");
    JSValue promise = JS_IsException(fn) ? JS_EXCEPTION : JS_Call(context, fn, JS_UNDEFINED, 0, NULL);
    if (JS_IsException(promise))
        wf_js_uncaught(js);
    else
        js->main = JS_DupValue(context, promise);
    JS_FreeValue(context, promise);
    JS_FreeValue(context, fn);
    JS_FreeValue(context, library);
    wf_js_leave(js);
}

/* childOrder(): what it was told; undefined: it is nobody's child, or has asked before. The parcel stays, so that channels which it was
 * given are known to it until its end, even if it has forgotten them. */
static JSValue js_child_order(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_child *child = wf_js_of(context)->child;
    (void)self, (void)count, (void)arguments;
    if (!child || !child->order || child->order->size == 0)
        return JS_UNDEFINED;
    JSValue value = wf_js_unpack(context, child->order, NULL);
    wf_js_parcel_strip(&child->order);
    return value;
}

/* childResult(value, transfers, whether it is an error): what its parent will be told; the first error, or the last value */
static JSValue js_child_result(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_child *child = wf_js_of(context)->child;
    (void)self;
    if (!child || count < 3 || (child->result && child->has_failed))
        return JS_UNDEFINED;
    struct wf_js_parcel *parcel = wf_js_pack(context, arguments[0], arguments[1]);
    if (!parcel)
        return JS_EXCEPTION;
    wf_js_parcel_drop(child->result, false);
    child->result = parcel;
    child->has_failed = JS_ToBool(context, arguments[2]);
    return JS_UNDEFINED;
}

/* functionInfo(fn) -> [whether it is strict, names of its surroundings that it uses]; undefined: it has no text */
static JSValue js_function_info(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return wf_engine_function(context, arguments[0]);
}

/* workers(): how many instances can run at a time */
static JSValue js_workers(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_stats stats;
    (void)self, (void)count, (void)arguments;
    return JS_NewInt32(context, weft_get_stats(NULL, &stats) == 0 && stats.workers > 0 ? (int32_t)stats.workers : 1);
}

int wf_js_add_spawn(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "ChildHandle", .finalizer = child_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("spawnStart", 7, js_spawn_start),   JS_CFUNC_DEF("spawnTerminate", 1, js_spawn_terminate),
        JS_CFUNC_DEF("spawnKeep", 2, js_spawn_keep),     JS_CFUNC_DEF("childOrder", 0, js_child_order),
        JS_CFUNC_DEF("childResult", 3, js_child_result), JS_CFUNC_DEF("functionInfo", 1, js_function_info),
        JS_CFUNC_DEF("workers", 0, js_workers),
    };
    wf_js_new_class(JS_GetRuntime(context), &child_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
