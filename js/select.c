/* SPDX-License-Identifier: MIT
 *
 * js/select.c - select for JavaScript: whichever of several channels and times comes first.
 */
#include <errno.h>
#include <stdlib.h>

#include "channel.h"

enum kind { CASE_RECEIVE, CASE_SEND, CASE_TIME };

struct part {
    enum kind kind;
    int32_t place; /* of what is to be sent, or of what was received */
    struct wf_js_channel *channel;
    JSValue object; /* the channel's */
};

struct selecting {
    struct wf_js_wait wait;
    weft_time until;
    int count;
    weft_case *cases;
    struct part *parts;
};

static int select_wait(struct wf_js_wait *wait) {
    struct selecting *selecting = (struct selecting *)wait;
    return weft_select(selecting->cases, selecting->count, selecting->until);
}

/* What was not sent is nobody's. */
static void clear(JSContext *context, struct selecting *selecting, int sent) {
    for (int i = 0; i < selecting->count; i++) {
        struct part *part = &selecting->parts[i];
        if (part->kind == CASE_SEND && i != sent)
            JS_FreeValue(context, wf_js_place_give(context, part->channel, part->place));
        JS_FreeValue(context, part->object);
    }
    free(selecting->cases);
    free(selecting->parts);
}

/* -> [index, value, is closed]; index -1: nothing came in time */
static JSValue select_finish(JSContext *context, struct wf_js_wait *wait) {
    struct selecting *selecting = (struct selecting *)wait;
    int chosen = wait->status;
    int status = chosen < 0 ? chosen : selecting->cases[chosen].status;
    bool is_sent = chosen >= 0 && status == 0 && selecting->parts[chosen].kind == CASE_SEND;
    JSValue value = JS_UNDEFINED, error = JS_UNDEFINED;
    if (chosen >= 0 && selecting->parts[chosen].kind == CASE_RECEIVE && status == 0)
        value = wf_js_place_give(context, selecting->parts[chosen].channel, selecting->parts[chosen].place);
    else if (chosen >= 0 && selecting->parts[chosen].kind == CASE_SEND && status == -EPIPE)
        error = JS_ThrowTypeError(context, "send on a closed channel");
    else if (chosen < 0 && chosen != -ETIMEDOUT)
        error = wf_js_throw_errno(context, chosen, "select");
    clear(context, selecting, is_sent ? chosen : -1);
    if (JS_IsException(error))
        return error;
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, chosen < 0 ? -1 : chosen));
    JS_SetPropertyUint32(context, list, 1, value);
    JS_SetPropertyUint32(context, list, 2, JS_NewBool(context, chosen >= 0 && status == -EPIPE));
    return list;
}

/* The case that begins at *at, which goes on to the next. */
static bool add_case(JSContext *context, struct selecting *selecting, JSValueConst list, uint32_t *at) {
    struct part *part = &selecting->parts[selecting->count];
    weft_case *one = &selecting->cases[selecting->count];
    JSValue kind = JS_GetPropertyUint32(context, list, (*at)++);
    JSValue object = JS_GetPropertyUint32(context, list, (*at)++);
    weft_time moment;
    *part = (struct part){.kind = (enum kind)JS_VALUE_GET_INT(kind), .place = WF_JS_NO_PLACE, .object = object};
    if (part->kind == CASE_TIME) {
        if (!wf_js_until(context, object, &moment))
            return false;
        *one = weft_on_time(moment);
        selecting->count++;
        return true;
    }
    part->channel = wf_js_channel_of(context, object);
    if (part->channel && part->kind == CASE_SEND) {
        JSValue value = JS_GetPropertyUint32(context, list, (*at)++);
        part->place = wf_js_place_take(context, part->channel, value);
        JS_FreeValue(context, value);
        if (part->place == WF_JS_NO_PLACE)
            JS_ThrowOutOfMemory(context);
    }
    if (!part->channel || (part->kind == CASE_SEND && part->place == WF_JS_NO_PLACE)) {
        JS_FreeValue(context, object);
        return false;
    }
    *one = part->kind == CASE_SEND ? weft_on_send(part->channel->chan, &part->place)
                                   : weft_on_receive(part->channel->chan, &part->place);
    selecting->count++;
    return true;
}

/* select([kind, channel or milliseconds, value if it is to be sent, ...], milliseconds) */
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
    selecting->cases = calloc((size_t)length / 2 + 1, sizeof *selecting->cases);
    selecting->parts = calloc((size_t)length / 2 + 1, sizeof *selecting->parts);
    bool is_good = selecting->cases && selecting->parts;
    if (!is_good)
        JS_ThrowOutOfMemory(context);
    for (uint32_t at = 0; is_good && at < (uint32_t)length;)
        is_good = add_case(context, selecting, arguments[0], &at);
    if (!is_good) {
        clear(context, selecting, -1);
        free(selecting);
        return JS_EXCEPTION;
    }
    selecting->wait = (struct wf_js_wait){.wait = select_wait, .finish = select_finish};
    return wf_js_perform(context, &selecting->wait);
}

int wf_js_add_select(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {JS_CFUNC_DEF("select", 2, js_select)};
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
