/* SPDX-License-Identifier: MIT
 *
 * js/channel.c - channels whose values are JavaScript's, for the fibers of one instance.
 *
 * What goes through the channel of weft is the number of a place; the values are in an array beside it, which belongs to the
 * handle, where the engine's collector sees them. Places are taken and given back by whoever has the turn.
 */
#include <errno.h>
#include <stdlib.h>

#include "host.h"
#include "select.h"

enum { NO_PLACE = -1 };

struct channel {
    weft_chan *chan; /* of numbers of places, int32_t */
    JSValue *values; /* a free place has the number of the next one */
    uint32_t room;
    int32_t first_free;
};

static JSClassID channel_class;

static void channel_finalize(JSRuntime *runtime, JSValueConst value) {
    struct channel *channel = JS_GetOpaque(value, channel_class);
    if (!channel)
        return;
    for (uint32_t i = 0; i < channel->room; i++)
        JS_FreeValueRT(runtime, channel->values[i]);
    weft_chan_free(channel->chan);
    free(channel->values);
    free(channel);
}

static void channel_mark(JSRuntime *runtime, JSValueConst value, JS_MarkFunc *mark) {
    struct channel *channel = JS_GetOpaque(value, channel_class);
    for (uint32_t i = 0; channel && i < channel->room; i++)
        JS_MarkValue(runtime, channel->values[i], mark);
}

/* A place with the value, NO_PLACE without memory; and the value of a place, which is free then. With the turn. */
static int32_t place_take(JSContext *context, struct channel *channel, JSValueConst value) {
    if (channel->first_free == NO_PLACE) {
        uint32_t room = channel->room ? 2 * channel->room : 4;
        JSValue *longer = realloc(channel->values, room * sizeof *longer);
        if (!longer)
            return NO_PLACE;
        for (uint32_t i = channel->room; i < room; i++)
            longer[i] = JS_NewInt32(context, i + 1 < room ? (int32_t)i + 1 : NO_PLACE);
        channel->first_free = (int32_t)channel->room;
        channel->values = longer;
        channel->room = room;
    }
    int32_t place = channel->first_free;
    channel->first_free = JS_VALUE_GET_INT(channel->values[place]);
    channel->values[place] = JS_DupValue(context, value);
    return place;
}

static JSValue place_give(JSContext *context, struct channel *channel, int32_t place) {
    JSValue value = channel->values[place];
    channel->values[place] = JS_NewInt32(context, channel->first_free);
    channel->first_free = place;
    return value;
}

static struct channel *channel_of(JSContext *context, int count, JSValueConst *arguments) {
    return count > 0 ? JS_GetOpaque2(context, arguments[0], channel_class) : NULL;
}

/* channelNew(capacity) */
static JSValue js_channel_new(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    uint32_t capacity;
    (void)self, (void)count;
    if (JS_ToUint32(context, &capacity, arguments[0]))
        return JS_EXCEPTION;
    struct channel *channel = calloc(1, sizeof *channel);
    int error = channel ? weft_chan_new(&channel->chan, sizeof(int32_t), capacity) : -ENOMEM;
    if (error) {
        free(channel);
        return wf_js_throw_errno(context, error, "chan");
    }
    channel->first_free = NO_PLACE;
    JSValue object = JS_NewObjectClass(context, (int)channel_class);
    if (JS_IsException(object)) {
        weft_chan_free(channel->chan);
        free(channel);
    } else {
        JS_SetOpaque(object, channel);
    }
    return object;
}

/* A wait of one side. The channel stays as long as its object does. */
struct passing {
    struct wf_js_wait wait;
    struct channel *channel;
    JSValue object;
    int32_t place;
    weft_time until;
};

static int send_wait(struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    return weft_chan_send(passing->channel->chan, &passing->place, passing->until);
}

static int receive_wait(struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    return weft_chan_recv(passing->channel->chan, &passing->place, passing->until);
}

static JSValue sent(JSContext *context, struct channel *channel, int status, int32_t place) {
    if (status == 0)
        return JS_UNDEFINED;
    JS_FreeValue(context, place_give(context, channel, place)); /* it is nobody's */
    return status == -EPIPE ? JS_ThrowTypeError(context, "send on a closed channel")
                            : wf_js_throw_errno(context, status, "send");
}

static JSValue received(JSContext *context, struct channel *channel, int status, int32_t place) {
    if (status == 0)
        return place_give(context, channel, place);
    return status == -EPIPE ? JS_UNDEFINED : wf_js_throw_errno(context, status, "recv");
}

static JSValue send_finish(JSContext *context, struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    JSValue result = sent(context, passing->channel, wait->status, passing->place);
    JS_FreeValue(context, passing->object);
    return result;
}

static JSValue receive_finish(JSContext *context, struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    JSValue result = received(context, passing->channel, wait->status, passing->place);
    JS_FreeValue(context, passing->object);
    return result;
}

static JSValue pass(JSContext *context, struct channel *channel, JSValueConst object, int32_t place, weft_time until,
                    bool is_send) {
    struct passing *passing = calloc(1, sizeof *passing);
    if (!passing) {
        if (is_send)
            JS_FreeValue(context, place_give(context, channel, place));
        return JS_ThrowOutOfMemory(context);
    }
    *passing = (struct passing){
        .wait = {.wait = is_send ? send_wait : receive_wait,
                 .finish = is_send ? send_finish : receive_finish,
                 .is_local = until == WEFT_NEVER,
                 .what = is_send ? "somebody who takes a value from a channel" : "a value of a channel"},
        .channel = channel,
        .object = JS_DupValue(context, object),
        .place = place,
        .until = until};
    return wf_js_perform(context, &passing->wait);
}

/* channelSend(channel, value, milliseconds) */
static JSValue js_channel_send(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct channel *channel = channel_of(context, count, arguments);
    weft_time until;
    (void)self;
    if (!channel || count < 3 || !wf_js_until(context, arguments[2], &until))
        return JS_EXCEPTION;
    int32_t place = place_take(context, channel, arguments[1]);
    if (place == NO_PLACE)
        return JS_ThrowOutOfMemory(context);
    int status = weft_chan_send(channel->chan, &place, WEFT_NOW);
    if (status != -ETIMEDOUT)
        return wf_js_at_once(context, sent(context, channel, status, place));
    return pass(context, channel, arguments[0], place, until, true);
}

/* channelReceive(channel, milliseconds) */
static JSValue js_channel_receive(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct channel *channel = channel_of(context, count, arguments);
    weft_time until;
    int32_t place = NO_PLACE;
    (void)self;
    if (!channel || count < 2 || !wf_js_until(context, arguments[1], &until))
        return JS_EXCEPTION;
    int status = weft_chan_recv(channel->chan, &place, WEFT_NOW);
    if (status != -ETIMEDOUT)
        return wf_js_at_once(context, received(context, channel, status, place));
    return pass(context, channel, arguments[0], place, until, false);
}

/* channelClose(channel): whether it was open */
static JSValue js_channel_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct channel *channel = channel_of(context, count, arguments);
    (void)self;
    return channel ? JS_NewBool(context, weft_chan_close(channel->chan) == 0) : JS_EXCEPTION;
}

/* channelInfo(channel) -> [length, capacity, is closed] */
static JSValue js_channel_info(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct channel *channel = channel_of(context, count, arguments);
    (void)self;
    if (!channel)
        return JS_EXCEPTION;
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewInt64(context, (int64_t)weft_chan_len(channel->chan)));
    JS_SetPropertyUint32(context, list, 1, JS_NewInt64(context, (int64_t)weft_chan_cap(channel->chan)));
    JS_SetPropertyUint32(context, list, 2, JS_NewBool(context, weft_chan_is_closed(channel->chan)));
    return list;
}

/* ---- As cases of select ---- */

static bool receive_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out) {
    struct channel *channel = JS_GetOpaque2(context, one->object, channel_class);
    (void)value;
    if (channel)
        *out = weft_on_receive(channel->chan, &one->of.place);
    return channel;
}

static JSValue receive_end(JSContext *context, struct wf_js_case *one, bool is_chosen, int status) {
    struct channel *channel = JS_GetOpaque(one->object, channel_class);
    return is_chosen ? received(context, channel, status, one->of.place) : JS_UNDEFINED;
}

static bool send_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out) {
    struct channel *channel = JS_GetOpaque2(context, one->object, channel_class);
    if (!channel)
        return false;
    one->of.place = place_take(context, channel, value);
    if (one->of.place == NO_PLACE) {
        JS_ThrowOutOfMemory(context);
        return false;
    }
    *out = weft_on_send(channel->chan, &one->of.place);
    return true;
}

/* What was not sent is nobody's. */
static JSValue send_end(JSContext *context, struct wf_js_case *one, bool is_chosen, int status) {
    struct channel *channel = JS_GetOpaque(one->object, channel_class);
    if (is_chosen)
        return sent(context, channel, status, one->of.place);
    JS_FreeValue(context, place_give(context, channel, one->of.place));
    return JS_UNDEFINED;
}

const struct wf_js_case_kind wf_js_receive_case = {.begin = receive_begin, .finish = receive_end};
const struct wf_js_case_kind wf_js_send_case = {.begin = send_begin, .finish = send_end};

int wf_js_add_channels(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {
        .class_name = "ChannelHandle", .finalizer = channel_finalize, .gc_mark = channel_mark};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("channelNew", 1, js_channel_new),         JS_CFUNC_DEF("channelSend", 3, js_channel_send),
        JS_CFUNC_DEF("channelReceive", 2, js_channel_receive), JS_CFUNC_DEF("channelClose", 1, js_channel_close),
        JS_CFUNC_DEF("channelInfo", 1, js_channel_info),
    };
    wf_js_new_class(JS_GetRuntime(context), &channel_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
