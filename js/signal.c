/* SPDX-License-Identifier: MIT
 *
 * js/signal.c - signals of the system, for scripts: sets of them that can be waited for.
 */
#include <errno.h>
#include <stdlib.h>

#include "select.h"

/* More than there are. */
enum { SIGNALS_MOST = 64 };

struct set {
    weft_signals signals;
    bool interrupts; /* whatever runs when one comes */
};

static JSClassID set_class;

static void set_finalize(JSRuntime *runtime, JSValueConst value) {
    struct set *set = JS_GetOpaque(value, set_class);
    (void)runtime;
    if (set)
        (void)weft_signals_close(set->signals);
    free(set);
}

static struct set *set_of(JSContext *context, JSValueConst value) {
    return JS_GetOpaque2(context, value, set_class);
}

/* signalsOpen([number, ...], interrupts) -> set, or a negative number. interrupts: also what JavaScript runs when a signal comes, by
 * an error that it cannot catch, as long as somebody waits for the set elsewhere than on a fiber */
static JSValue js_signals_open(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int numbers[SIGNALS_MOST];
    int64_t length;
    (void)self;
    if (count < 1 || JS_GetLength(context, arguments[0], &length))
        return JS_EXCEPTION;
    if (length < 1 || length > SIGNALS_MOST)
        return JS_NewInt32(context, -EINVAL);
    for (uint32_t i = 0; i < (uint32_t)length; i++) {
        JSValue value = JS_GetPropertyUint32(context, arguments[0], i);
        int failed = JS_ToInt32(context, &numbers[i], value);
        JS_FreeValue(context, value);
        if (failed)
            return JS_EXCEPTION;
    }
    struct set *set = malloc(sizeof *set);
    int error = set ? weft_signals_open(&set->signals, numbers, (int)length) : -ENOMEM;
    if (error) {
        free(set);
        return JS_NewInt32(context, error);
    }
    JSValue object = JS_NewObjectClass(context, (int)set_class);
    if (JS_IsException(object)) {
        (void)weft_signals_close(set->signals);
        free(set);
        return object;
    }
    set->interrupts = count > 1 && JS_ToBool(context, arguments[1]);
    JS_SetOpaque(object, set);
    return object;
}

struct listening {
    struct wf_js_wait wait;
    weft_signals signals;
    bool interrupts;
    JSValue object; /* the set's */
    weft_time until;
    weft_signal_info info;
};

static int listen_wait(struct wf_js_wait *wait) {
    struct listening *listening = (struct listening *)wait;
    int status = weft_signal_wait(listening->signals, &listening->info, listening->until);
    if (!status && listening->interrupts)
        (void)weft_js_interrupt(wait->js);
    return status;
}

/* -> [number, how often, sender]; null: it was closed */
static JSValue told(JSContext *context, int status, const weft_signal_info *info) {
    if (status)
        return status == -ESTALE ? JS_NULL : wf_js_throw_errno(context, status, "signal");
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, info->number));
    JS_SetPropertyUint32(context, list, 1, JS_NewInt64(context, (int64_t)info->count));
    JS_SetPropertyUint32(context, list, 2, JS_NewInt32(context, info->sender));
    return list;
}

static JSValue listen_finish(JSContext *context, struct wf_js_wait *wait) {
    struct listening *listening = (struct listening *)wait;
    JS_FreeValue(context, listening->object);
    return told(context, wait->status, &listening->info);
}

/* signalsWait(set, milliseconds) */
static JSValue js_signals_wait(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct set *set = count > 1 ? set_of(context, arguments[0]) : NULL;
    weft_time until;
    (void)self;
    if (!set || !wf_js_until(context, arguments[1], &until))
        return JS_EXCEPTION;
    struct listening *listening = calloc(1, sizeof *listening);
    if (!listening)
        return JS_ThrowOutOfMemory(context);
    listening->wait = (struct wf_js_wait){.wait = listen_wait, .finish = listen_finish};
    listening->signals = set->signals;
    listening->interrupts = set->interrupts;
    listening->object = JS_DupValue(context, arguments[0]);
    listening->until = until;
    return wf_js_perform(context, &listening->wait);
}

static bool signal_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out) {
    struct set *set = set_of(context, one->object);
    (void)value;
    if (!set)
        return false;
    one->is_outside = true;
    *out = weft_on_signal(set->signals, &one->of.signal);
    return true;
}

static JSValue signal_finish(JSContext *context, struct wf_js_case *one, bool is_chosen, int status) {
    return is_chosen ? told(context, status, &one->of.signal) : JS_UNDEFINED;
}

const struct wf_js_case_kind wf_js_signal_case = {.begin = signal_begin, .finish = signal_finish};

/* signalsClose(set): whoever waits gets null */
static JSValue js_signals_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct set *set = count > 0 ? set_of(context, arguments[0]) : NULL;
    (void)self;
    return set ? JS_NewBool(context, weft_signals_close(set->signals) == 0) : JS_EXCEPTION;
}

int wf_js_add_signals(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "SignalsHandle", .finalizer = set_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("signalsOpen", 2, js_signals_open),
        JS_CFUNC_DEF("signalsWait", 2, js_signals_wait),
        JS_CFUNC_DEF("signalsClose", 1, js_signals_close),
    };
    wf_js_new_class(JS_GetRuntime(context), &set_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
