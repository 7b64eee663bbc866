/* SPDX-License-Identifier: MIT
 *
 * js/event_queue.c - completion queues of events: any number of them, one place to wait for all.
 *
 * What JavaScript has beside an event in a queue it keeps under a number, which goes through weft as the tag.
 */
#include <errno.h>
#include <stdlib.h>

#include "event.h"

/* At one time. */
enum { POP_MAX = 256 };

struct queue {
    weft_event_queue *queue;
    struct wf_js_events *system;
};

struct popping {
    struct wf_js_wait wait;
    struct queue *queue;
    JSValue object;
    weft_time until;
    uint32_t room;
    weft_event_completion completions[];
};

static JSClassID queue_class;

static void queue_finalize(JSRuntime *runtime, JSValueConst value) {
    struct queue *queue = JS_GetOpaque(value, queue_class);
    (void)runtime;
    if (!queue)
        return;
    weft_event_queue_free(queue->queue);
    wf_js_events_unref(queue->system);
    free(queue);
}

/* eventQueueNew(system) */
static JSValue js_queue_new(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_events *system = count > 0 ? wf_js_events_of(context, arguments[0]) : NULL;
    (void)self;
    if (!system)
        return JS_EXCEPTION;
    JSValue object = JS_NewObjectClass(context, (int)queue_class);
    if (JS_IsException(object))
        return object;
    struct queue *queue = calloc(1, sizeof *queue);
    int error = queue ? weft_event_queue_new(system->events, &queue->queue) : -ENOMEM;
    if (error) {
        free(queue);
        JS_FreeValue(context, object);
        return wf_js_throw_errno(context, error, "queue");
    }
    queue->system = wf_js_events_ref(system);
    JS_SetOpaque(object, queue);
    return object;
}

/* eventQueueAdd(queue, event, number) */
static JSValue js_queue_add(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct queue *queue = count > 2 ? JS_GetOpaque2(context, arguments[0], queue_class) : NULL;
    weft_event event;
    uint32_t number;
    (void)self;
    if (!queue || JS_ToBigUint64(context, &event.bits, arguments[1]) || JS_ToUint32(context, &number, arguments[2]))
        return JS_EXCEPTION;
    int status = weft_event_queue_add(queue->queue, event, (void *)(uintptr_t)number);
    return status ? wf_js_throw_event(context, status) : JS_UNDEFINED;
}

static int pop_wait(struct wf_js_wait *wait) {
    struct popping *popping = (struct popping *)wait;
    return weft_event_queue_pop(popping->queue->queue, popping->completions, popping->room, popping->until);
}

/* -> [number, status, code, text, ...]; status as by weft_event_poll */
static JSValue popped(JSContext *context, int status, const weft_event_completion *completions) {
    if (status < 0)
        return wf_js_throw_errno(context, status, "pop");
    JSValue list = JS_NewArray(context);
    for (uint32_t i = 0; i < (uint32_t)status && !JS_IsException(list); i++) {
        const weft_event_completion *one = &completions[i];
        int verdict = one->status == 0                  ? WEFT_EVENT_READY
                      : one->status == -ENOTRECOVERABLE ? WEFT_EVENT_POISONED
                                                        : WEFT_EVENT_EXPIRED;
        bool is_poisoned = verdict == WEFT_EVENT_POISONED;
        JS_SetPropertyUint32(context, list, 4 * i, JS_NewInt64(context, (int64_t)(uintptr_t)one->tag));
        JS_SetPropertyUint32(context, list, 4 * i + 1, JS_NewInt32(context, verdict));
        JS_SetPropertyUint32(context, list, 4 * i + 2, JS_NewInt32(context, is_poisoned ? one->reason.code : 0));
        JS_SetPropertyUint32(context, list, 4 * i + 3, JS_NewString(context, is_poisoned ? one->reason.text : ""));
    }
    return list;
}

static JSValue pop_finish(JSContext *context, struct wf_js_wait *wait) {
    struct popping *popping = (struct popping *)wait;
    JSValue result = popped(context, wait->status, popping->completions);
    JS_FreeValue(context, popping->object);
    return result;
}

/* eventQueuePop(queue, most, milliseconds) */
static JSValue js_queue_pop(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct queue *queue = count > 2 ? JS_GetOpaque2(context, arguments[0], queue_class) : NULL;
    uint32_t most;
    weft_time until;
    (void)self;
    if (!queue || JS_ToUint32(context, &most, arguments[1]) || !wf_js_until(context, arguments[2], &until))
        return JS_EXCEPTION;
    most = most < POP_MAX ? most : POP_MAX;
    struct popping *popping = calloc(1, sizeof *popping + most * sizeof *popping->completions);
    if (!popping)
        return JS_ThrowOutOfMemory(context);
    int status = weft_event_queue_pop(queue->queue, popping->completions, most, WEFT_NOW);
    if (status != -ETIMEDOUT) {
        JSValue result = popped(context, status, popping->completions);
        free(popping);
        return wf_js_at_once(context, result);
    }
    popping->wait = (struct wf_js_wait){.wait = pop_wait,
                                        .finish = pop_finish,
                                        .is_local = until == WEFT_NEVER && !queue->system->is_shared,
                                        .what = "an event of a queue"};
    popping->queue = queue;
    popping->object = JS_DupValue(context, arguments[0]);
    popping->until = until;
    popping->room = most;
    return wf_js_perform(context, &popping->wait);
}

int wf_js_add_event_queues(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "EventQueueHandle", .finalizer = queue_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("eventQueueNew", 1, js_queue_new),
        JS_CFUNC_DEF("eventQueueAdd", 3, js_queue_add),
        JS_CFUNC_DEF("eventQueuePop", 3, js_queue_pop),
    };
    wf_js_new_class(JS_GetRuntime(context), &queue_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
