/* SPDX-License-Identifier: MIT
 *
 * js/event.c - generational events for JavaScript.
 *
 * An event is a number of 64 bits, in JavaScript a BigInt, in a system, which has a handle. A system belongs to one instance, or has
 * a name and is shared by all instances of the process that ask for it: then waits in it are not local (js/deadlock.c).
 *
 * Why an event was poisoned goes through weft as a code and a text. The code says which JavaScript value it was, to the instance
 * that has it (js/lib/weft_events.js); codes are given once in the process.
 */
#include "event.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select.h"

static JSClassID system_class;

/* Systems with names, by all instances. */
static struct wf_js_events *shared;
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

JSValue wf_js_throw_event(JSContext *context, int status) {
    switch (status) {
    case -EINVAL:
        return JS_ThrowTypeError(context, "No such event was ever made");
    case -EXDEV:
        return JS_ThrowTypeError(context, "The event belongs to another system");
    case -ENOSPC:
        return wf_js_throw_coded(context, "ENOSPC", "As many events are pending as the system may have");
    case -ESHUTDOWN:
        return wf_js_throw_coded(context, "ESHUTDOWN", "The event system has been shut down");
    case -ENODATA:
        return wf_js_throw_coded(context, "ENODATA",
                                 "The event is expired: it has completed, but how is no longer kept");
    case -EBUSY:
        return wf_js_throw_coded(context, "EBUSY", "The event is owned by another fiber");
    case -EDEADLK:
        return wf_js_throw_coded(context, "EDEADLK", "The event would have to come after itself");
    default:
        return wf_js_throw_errno(context, status, "event");
    }
}

struct wf_js_events *wf_js_events_of(JSContext *context, JSValueConst value) {
    return JS_GetOpaque2(context, value, system_class);
}

struct wf_js_events *wf_js_events_ref(struct wf_js_events *system) {
    pthread_mutex_lock(&shared_lock);
    system->references++;
    pthread_mutex_unlock(&shared_lock);
    return system;
}

void wf_js_events_unref(struct wf_js_events *system) {
    pthread_mutex_lock(&shared_lock);
    bool is_last = --system->references == 0;
    for (struct wf_js_events **at = &shared; is_last && *at; at = &(*at)->next)
        if (*at == system) {
            *at = system->next;
            break;
        }
    pthread_mutex_unlock(&shared_lock);
    if (!is_last)
        return;
    weft_events_free(system->events);
    free(system);
}

static void system_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_events *system = JS_GetOpaque(value, system_class);
    (void)runtime;
    if (system)
        wf_js_events_unref(system);
}

static struct wf_js_events *find_shared_locked(const char *name) {
    struct wf_js_events *system = shared;
    while (system && strcmp(system->name, name) != 0)
        system = system->next;
    return system;
}

/* A new one, or the one with that name. */
static int open_system(struct wf_js_events **out, const weft_events_options *options, bool is_shared) {
    int error = 0;
    pthread_mutex_lock(&shared_lock);
    struct wf_js_events *system = is_shared ? find_shared_locked(options->name) : NULL;
    if (!system) {
        system = calloc(1, sizeof *system);
        error = system ? weft_events_new(&system->events, options) : -ENOMEM;
        if (!error && is_shared) {
            snprintf(system->name, sizeof system->name, "%s", options->name); /* its length was checked */
            system->is_shared = true;
            system->next = shared;
            shared = system;
        }
    }
    if (error)
        free(system);
    else
        system->references++;
    pthread_mutex_unlock(&shared_lock);
    *out = system;
    return error;
}

/* eventsOpen(name, is shared, max pending, reasons, is strict, first generation) */
static JSValue js_events_open(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    enum { NAME, IS_SHARED, MAX_PENDING, REASONS, IS_STRICT, FIRST, COUNT };
    weft_events_options options = {0};
    struct wf_js_events *system;
    (void)self;
    if (count < COUNT || JS_ToUint32(context, &options.max_pending, arguments[MAX_PENDING]) ||
        JS_ToUint32(context, &options.reasons, arguments[REASONS]) ||
        JS_ToUint32(context, &options.first_generation, arguments[FIRST]))
        return JS_EXCEPTION;
    options.strict = JS_ToBool(context, arguments[IS_STRICT]);
    size_t length;
    const char *name = JS_ToCStringLen(context, &length, arguments[NAME]);
    if (!name)
        return JS_EXCEPTION;
    options.name = name;
    JSValue handle = length >= sizeof system->name
                         ? JS_ThrowRangeError(context, "The name of an event system has at most %d bytes",
                                              (int)sizeof system->name - 1)
                         : JS_NewObjectClass(context, (int)system_class);
    if (!JS_IsException(handle)) {
        int error = open_system(&system, &options, JS_ToBool(context, arguments[IS_SHARED]));
        if (error == -EAGAIN) { /* there are too many: some may be garbage */
            JS_RunGC(JS_GetRuntime(context));
            error = open_system(&system, &options, JS_ToBool(context, arguments[IS_SHARED]));
        }
        if (error) {
            JS_FreeValue(context, handle);
            handle = error == -EAGAIN
                         ? wf_js_throw_coded(context, "EAGAIN", "There are as many event systems as there can be")
                         : wf_js_throw_errno(context, error, "events");
        } else {
            JS_SetOpaque(handle, system);
        }
    }
    JS_FreeCString(context, name);
    return handle;
}

/* eventsShutdown(system, code, text): whether it was the first time */
static JSValue js_events_shutdown(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_events *system = count > 2 ? wf_js_events_of(context, arguments[0]) : NULL;
    int32_t code;
    (void)self;
    if (!system || JS_ToInt32(context, &code, arguments[1]))
        return JS_EXCEPTION;
    const char *text = JS_ToCString(context, arguments[2]);
    if (!text)
        return JS_EXCEPTION;
    int status = weft_events_shutdown(system->events, code, text);
    JS_FreeCString(context, text);
    return JS_NewBool(context, status == 0);
}

/* eventsStats(system) -> [created, triggered, poisoned, pending, wakes, expired, lost, slots, quarantined, retired] */
static JSValue js_events_stats(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_events *system = count > 0 ? wf_js_events_of(context, arguments[0]) : NULL;
    weft_events_stats stats;
    (void)self;
    if (!system)
        return JS_EXCEPTION;
    (void)weft_events_get_stats(system->events, &stats);
    const uint64_t values[] = {stats.created, stats.triggered, stats.poisoned, stats.pending,     stats.wakes,
                               stats.expired, stats.lost,      stats.slots,    stats.quarantined, stats.retired};
    JSValue list = JS_NewArray(context);
    for (uint32_t i = 0; i < sizeof values / sizeof *values && !JS_IsException(list); i++)
        JS_SetPropertyUint32(context, list, i, JS_NewInt64(context, (int64_t)values[i]));
    return list;
}

/* eventCode(): for a reason, from 1 */
static JSValue js_event_code(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    static atomic_uint codes;
    (void)self, (void)count, (void)arguments;
    return JS_NewInt32(context, (int32_t)(atomic_fetch_add(&codes, 1) % INT32_MAX) + 1);
}

/* ---- One event ---- */

/* The first two arguments. */
static struct wf_js_events *take_event(JSContext *context, int count, JSValueConst *arguments, weft_event *event) {
    struct wf_js_events *system = count > 1 ? wf_js_events_of(context, arguments[0]) : NULL;
    return system && JS_ToBigUint64(context, &event->bits, arguments[1]) == 0 ? system : NULL;
}

/* Whether it was this call that did it: 0 and -EALREADY are answers, others are errors. */
static JSValue did(JSContext *context, int status) {
    return status == 0 || status == -EALREADY ? JS_NewBool(context, status == 0) : wf_js_throw_event(context, status);
}

/* eventTrigger(system, event): whether it was pending */
static JSValue js_event_trigger(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_event event;
    struct wf_js_events *system = take_event(context, count, arguments, &event);
    (void)self;
    return system ? did(context, weft_event_trigger(system->events, event)) : JS_EXCEPTION;
}

/* eventPoison(system, event, code, text): whether it was pending */
static JSValue js_event_poison(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_event event;
    struct wf_js_events *system = take_event(context, count, arguments, &event);
    int32_t code;
    (void)self;
    if (!system || count < 4 || JS_ToInt32(context, &code, arguments[2]))
        return JS_EXCEPTION;
    const char *text = JS_ToCString(context, arguments[3]);
    if (!text)
        return JS_EXCEPTION;
    int before = weft_event_poll(system->events, event);
    int status = weft_event_poison(system->events, event, code, text);
    JS_FreeCString(context, text);
    weft_event_reason reason; /* somebody else may have been faster, and then the first reason stays */
    bool is_known = !status && weft_event_get_reason(system->events, event, &reason) == 0 && reason.code != -ENODATA;
    if (!status && (before != WEFT_EVENT_PENDING || (is_known && reason.code != code)))
        status = -EALREADY;
    return did(context, status);
}

/* eventPoll(system, event) -> 0 pending, 1 ready, 2 poisoned, 3 expired */
static JSValue js_event_poll(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_event event;
    struct wf_js_events *system = take_event(context, count, arguments, &event);
    (void)self;
    if (!system)
        return JS_EXCEPTION;
    int status = weft_event_poll(system->events, event);
    return status < 0 ? wf_js_throw_event(context, status) : JS_NewInt32(context, status);
}

/* As weft_event_wait has said: undefined, or [code, text] of a poisoned one. */
JSValue wf_js_event_verdict(JSContext *context, int status, const weft_event_reason *reason) {
    if (status == 0)
        return JS_UNDEFINED;
    if (status != -ENOTRECOVERABLE)
        return wf_js_throw_event(context, status);
    JSValue list = JS_NewArray(context);
    if (!JS_IsException(list)) {
        JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, reason->code));
        JS_SetPropertyUint32(context, list, 1, JS_NewString(context, reason->text));
    }
    return list;
}

/* eventReason(system, event) -> [code, text]; undefined: it is not poisoned */
static JSValue js_event_reason(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_event event;
    weft_event_reason reason;
    struct wf_js_events *system = take_event(context, count, arguments, &event);
    (void)self;
    if (!system)
        return JS_EXCEPTION;
    int status = weft_event_get_reason(system->events, event, &reason);
    if (status == -ENOENT || status == -ENODATA)
        return JS_UNDEFINED;
    return wf_js_event_verdict(context, status ? status : -ENOTRECOVERABLE, &reason);
}

struct awaiting {
    struct wf_js_wait wait;
    struct wf_js_events *system;
    JSValue object;
    weft_event event;
    weft_time until;
    weft_event_reason reason;
};

static int event_wait(struct wf_js_wait *wait) {
    struct awaiting *awaiting = (struct awaiting *)wait;
    return weft_event_wait(awaiting->system->events, awaiting->event, &awaiting->reason, awaiting->until);
}

static int event_create(struct wf_js_wait *wait) {
    struct awaiting *awaiting = (struct awaiting *)wait;
    return weft_event_new(awaiting->system->events, &awaiting->event, awaiting->until);
}

static JSValue wait_finish(JSContext *context, struct wf_js_wait *wait) {
    struct awaiting *awaiting = (struct awaiting *)wait;
    JS_FreeValue(context, awaiting->object);
    return wf_js_event_verdict(context, wait->status, &awaiting->reason);
}

/* -> the event. What nobody hears of must not stay pending. */
static JSValue create_finish(JSContext *context, struct wf_js_wait *wait) {
    struct awaiting *awaiting = (struct awaiting *)wait;
    JSValue result =
        wait->status ? wf_js_throw_event(context, wait->status) : JS_NewBigUint64(context, awaiting->event.bits);
    if (!wait->status && (JS_IsException(result) || wait->js->has_ended))
        (void)weft_event_trigger(awaiting->system->events, awaiting->event);
    JS_FreeValue(context, awaiting->object);
    return result;
}

static JSValue await_event(JSContext *context, struct awaiting with) {
    struct awaiting *awaiting = malloc(sizeof *awaiting);
    if (!awaiting)
        return JS_ThrowOutOfMemory(context);
    *awaiting = with;
    awaiting->wait.is_local = with.until == WEFT_NEVER && !with.system->is_shared;
    awaiting->object = JS_DupValue(context, with.object);
    return wf_js_perform(context, &awaiting->wait);
}

/* eventWait(system, event, milliseconds) -> as wf_js_event_verdict */
static JSValue js_event_wait(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct awaiting with = {.wait = {.wait = event_wait, .finish = wait_finish, .what = "an event"}};
    with.system = take_event(context, count, arguments, &with.event);
    (void)self;
    if (!with.system || count < 3 || !wf_js_until(context, arguments[2], &with.until))
        return JS_EXCEPTION;
    if (weft_event_poll(with.system->events, with.event) != WEFT_EVENT_PENDING) {
        int status = weft_event_wait(with.system->events, with.event, &with.reason, WEFT_NOW);
        return wf_js_at_once(context, wf_js_event_verdict(context, status, &with.reason));
    }
    with.object = arguments[0];
    return await_event(context, with);
}

/* eventCreate(system) -> event, or an error when there is no room */
static JSValue js_event_create(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_events *system = count > 0 ? wf_js_events_of(context, arguments[0]) : NULL;
    weft_event event;
    (void)self;
    if (!system)
        return JS_EXCEPTION;
    int status = weft_event_new(system->events, &event, WEFT_NOW);
    return status ? wf_js_throw_event(context, status) : JS_NewBigUint64(context, event.bits);
}

/* eventCreateWaiting(system, milliseconds) -> event */
static JSValue js_event_create_waiting(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct awaiting with = {.wait = {.wait = event_create, .finish = create_finish, .what = "room for an event"}};
    with.system = count > 1 ? wf_js_events_of(context, arguments[0]) : NULL;
    (void)self;
    if (!with.system || !wf_js_until(context, arguments[1], &with.until))
        return JS_EXCEPTION;
    int status = weft_event_new(with.system->events, &with.event, WEFT_NOW);
    if (status != -ENOSPC)
        return wf_js_at_once(context,
                             status ? wf_js_throw_event(context, status) : JS_NewBigUint64(context, with.event.bits));
    with.object = arguments[0];
    return await_event(context, with);
}

/* eventOwn(system, event): whether it was pending */
static JSValue js_event_own(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_event event;
    struct wf_js_events *system = take_event(context, count, arguments, &event);
    struct wf_js_fiber *fiber = wf_js_of(context)->holder;
    (void)self;
    if (!system)
        return JS_EXCEPTION;
    if (!fiber)
        return JS_ThrowTypeError(context, "Only a fiber can own an event");
    int status = weft_event_own(system->events, event);
    fiber->owns_events = fiber->owns_events || status == 0;
    return did(context, status);
}

/* eventDisown(system, event): whether somebody had it */
static JSValue js_event_disown(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_event event;
    struct wf_js_events *system = take_event(context, count, arguments, &event);
    (void)self;
    if (!system)
        return JS_EXCEPTION;
    int status = weft_event_disown(system->events, event);
    return did(context, status == -ENOENT ? -EALREADY : status);
}

/* ---- Several ---- */

/* eventMerge(system, [event, ...], policy, quorum) -> event */
static JSValue js_event_merge(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_events *system = count > 3 ? wf_js_events_of(context, arguments[0]) : NULL;
    int64_t length, quorum;
    int32_t policy;
    weft_event merged;
    (void)self;
    if (!system || JS_GetLength(context, arguments[1], &length) || JS_ToInt32(context, &policy, arguments[2]) ||
        JS_ToInt64(context, &quorum, arguments[3]))
        return JS_EXCEPTION;
    weft_event *inputs = malloc(((size_t)length + 1) * sizeof *inputs);
    if (!inputs)
        return JS_ThrowOutOfMemory(context);
    bool is_good = true;
    for (int64_t i = 0; i < length && is_good; i++) {
        JSValue value = JS_GetPropertyInt64(context, arguments[1], i);
        is_good = JS_ToBigUint64(context, &inputs[i].bits, value) == 0;
        JS_FreeValue(context, value);
    }
    int status = is_good ? weft_event_merge(system->events, inputs, (size_t)length, (weft_merge_policy)policy,
                                            (size_t)quorum, &merged)
                         : 0;
    free(inputs);
    if (!is_good)
        return JS_EXCEPTION;
    return status ? wf_js_throw_event(context, status) : JS_NewBigUint64(context, merged.bits);
}

/* eventAfter(system, event, other): whether it was pending */
static JSValue js_event_after(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_event event, after;
    struct wf_js_events *system = take_event(context, count, arguments, &event);
    (void)self;
    if (!system || count < 3 || JS_ToBigUint64(context, &after.bits, arguments[2]))
        return JS_EXCEPTION;
    return did(context, weft_event_trigger_after(system->events, event, after));
}

/* As a case of select; the value beside it is the event. */
static bool case_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out) {
    struct wf_js_events *system = wf_js_events_of(context, one->object);
    weft_event event;
    if (!system || JS_ToBigUint64(context, &event.bits, value))
        return false;
    int status = weft_event_poll(system->events, event);
    if (status < 0) {
        wf_js_throw_event(context, status);
        return false;
    }
    one->is_outside = system->is_shared;
    *out = weft_on_event(system->events, event, &one->of.reason);
    return true;
}

static JSValue case_finish(JSContext *context, struct wf_js_case *one, bool is_chosen, int status) {
    return is_chosen ? wf_js_event_verdict(context, status, &one->of.reason) : JS_UNDEFINED;
}

const struct wf_js_case_kind wf_js_event_case = {.begin = case_begin, .finish = case_finish};

int wf_js_add_events(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "EventSystemHandle", .finalizer = system_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("eventsOpen", 6, js_events_open),
        JS_CFUNC_DEF("eventsShutdown", 3, js_events_shutdown),
        JS_CFUNC_DEF("eventsStats", 1, js_events_stats),
        JS_CFUNC_DEF("eventCode", 0, js_event_code),
        JS_CFUNC_DEF("eventCreate", 1, js_event_create),
        JS_CFUNC_DEF("eventCreateWaiting", 2, js_event_create_waiting),
        JS_CFUNC_DEF("eventTrigger", 2, js_event_trigger),
        JS_CFUNC_DEF("eventPoison", 4, js_event_poison),
        JS_CFUNC_DEF("eventPoll", 2, js_event_poll),
        JS_CFUNC_DEF("eventReason", 2, js_event_reason),
        JS_CFUNC_DEF("eventWait", 3, js_event_wait),
        JS_CFUNC_DEF("eventOwn", 2, js_event_own),
        JS_CFUNC_DEF("eventDisown", 2, js_event_disown),
        JS_CFUNC_DEF("eventMerge", 4, js_event_merge),
        JS_CFUNC_DEF("eventAfter", 3, js_event_after),
    };
    wf_js_new_class(JS_GetRuntime(context), &system_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
