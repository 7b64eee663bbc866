/* SPDX-License-Identifier: MIT
 *
 * js/select.c - select for JavaScript: whichever of several things comes first.
 *
 * What a thing is to select is told by its kind (js/select.h): how to make a case of weft's of it, and what comes of that. The
 * numbers of kinds are the places in the table, and known to js/lib/go.js.
 */
#include "select.h"

#include <errno.h>
#include <stdlib.h>

static bool time_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out);

static const struct wf_js_case_kind time_case = {.begin = time_begin};
static const struct wf_js_case_kind *const kinds[] = {&wf_js_receive_case, &wf_js_send_case,   &time_case,
                                                      &wf_js_end_case,     &wf_js_signal_case, &wf_js_event_case};

/* In the list that JavaScript gives: kind, thing, value. */
enum { KIND_COUNT = sizeof kinds / sizeof *kinds, STRIDE = 3 };

struct selecting {
    struct wf_js_wait wait;
    weft_time until;
    int count;
    weft_case *cases;
    struct wf_js_case *parts;
};

static int select_wait(struct wf_js_wait *wait) {
    struct selecting *selecting = (struct selecting *)wait;
    return weft_select(selecting->cases, selecting->count, selecting->until);
}

static bool time_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out) {
    weft_time moment;
    (void)value;
    if (!wf_js_until(context, one->object, &moment))
        return false;
    one->is_outside = true;
    *out = weft_on_time(moment);
    return true;
}

/* All cases end. The value is that of the chosen one. */
static JSValue end_cases(JSContext *context, struct selecting *selecting, int chosen) {
    JSValue value = JS_UNDEFINED;
    for (int i = 0; i < selecting->count; i++) {
        struct wf_js_case *part = &selecting->parts[i];
        JSValue one = part->kind->finish ? part->kind->finish(context, part, i == chosen, selecting->cases[i].status)
                                         : JS_UNDEFINED;
        if (i == chosen)
            value = one;
        else
            JS_FreeValue(context, one);
        JS_FreeValue(context, part->object);
    }
    free(selecting->cases);
    free(selecting->parts);
    return value;
}

/* -> [index, value, is closed]; index -1: nothing came in time */
static JSValue select_finish(JSContext *context, struct wf_js_wait *wait) {
    struct selecting *selecting = (struct selecting *)wait;
    int chosen = wait->status;
    bool is_closed = chosen >= 0 && selecting->cases[chosen].status == -EPIPE;
    JSValue value = end_cases(context, selecting, chosen);
    if (JS_IsException(value))
        return value;
    if (chosen < 0 && chosen != -ETIMEDOUT)
        return wf_js_throw_errno(context, chosen, "select");
    JSValue list = JS_NewArray(context);
    if (JS_IsException(list)) {
        JS_FreeValue(context, value);
        return list;
    }
    JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, chosen < 0 ? -1 : chosen));
    JS_SetPropertyUint32(context, list, 1, value);
    JS_SetPropertyUint32(context, list, 2, JS_NewBool(context, is_closed));
    return list;
}

/* The case that the list has there. */
static bool add_case(JSContext *context, struct selecting *selecting, JSValueConst list, uint32_t at) {
    struct wf_js_case *part = &selecting->parts[selecting->count];
    uint32_t kind;
    JSValue number = JS_GetPropertyUint32(context, list, at);
    if (JS_ToUint32(context, &kind, number))
        return false;
    if (kind >= KIND_COUNT) {
        JS_ThrowTypeError(context, "no such kind of case");
        return false;
    }
    *part = (struct wf_js_case){.kind = kinds[kind], .object = JS_GetPropertyUint32(context, list, at + 1)};
    JSValue value = JS_GetPropertyUint32(context, list, at + 2);
    bool is_good = part->kind->begin(context, part, value, &selecting->cases[selecting->count]);
    JS_FreeValue(context, value);
    if (is_good)
        selecting->count++;
    else
        JS_FreeValue(context, part->object);
    return is_good;
}

/* select([kind, thing, value, ...], milliseconds) */
static JSValue js_select(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int64_t length;
    weft_time until;
    (void)self;
    if (count < 2 || JS_GetLength(context, arguments[0], &length) || !wf_js_until(context, arguments[1], &until))
        return JS_EXCEPTION;
    if (length == 0 && until == WEFT_NEVER)
        return JS_ThrowTypeError(context, "select of nothing would wait for ever");
    struct selecting *selecting = calloc(1, sizeof *selecting);
    if (!selecting)
        return JS_ThrowOutOfMemory(context);
    selecting->until = until;
    selecting->cases = calloc((size_t)length / STRIDE + 1, sizeof *selecting->cases);
    selecting->parts = calloc((size_t)length / STRIDE + 1, sizeof *selecting->parts);
    bool is_good = selecting->cases && selecting->parts;
    if (!is_good)
        JS_ThrowOutOfMemory(context);
    for (uint32_t at = 0; is_good && at < (uint32_t)length; at += STRIDE)
        is_good = add_case(context, selecting, arguments[0], at);
    if (!is_good) {
        JS_FreeValue(context, end_cases(context, selecting, -1));
        free(selecting);
        return JS_EXCEPTION;
    }
    bool is_local = until == WEFT_NEVER;
    for (int i = 0; i < selecting->count; i++)
        is_local = is_local && !selecting->parts[i].is_outside;
    selecting->wait = (struct wf_js_wait){
        .wait = select_wait, .finish = select_finish, .is_local = is_local, .what = "one of the cases of a select"};
    return wf_js_perform(context, &selecting->wait);
}

int wf_js_add_select(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {JS_CFUNC_DEF("select", 2, js_select)};
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
