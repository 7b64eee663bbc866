/* SPDX-License-Identifier: MIT
 *
 * js/channel.c - channels whose values are JavaScript's.
 *
 * For the fibers of one instance: what goes through the channel of weft is the number of a place; the values are in an array beside
 * it, which belongs to the handle, where the engine's collector sees them. Places are taken and given back by whoever has the turn.
 * For several instances: what goes through is a parcel, and the channel of weft belongs to a line (js/line.c), which handles of
 * several instances have in common.
 */
#include "channel.h"

#include <errno.h>
#include <stdlib.h>

#include "parcel.h"
#include "select.h"

enum { NO_PLACE = -1 };

static JSClassID channel_class;

static void leave_later(weft_js *js, struct wf_js_channel *channel);
static void leave_now(void *opaque);

static void channel_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_channel *channel = JS_GetOpaque(value, channel_class);
    if (!channel)
        return;
    if (channel->line) {
        leave_later(JS_GetRuntimeOpaque(runtime), channel);
        return;
    }
    for (uint32_t i = 0; i < channel->room; i++)
        JS_FreeValueRT(runtime, channel->values[i]);
    weft_chan_free(channel->chan);
    free(channel->values);
    free(channel);
}

/* An error that ends the instance frees handles on its way: whether their line has lost somebody is known a little later. */
static void leave_later(weft_js *js, struct wf_js_channel *channel) {
    bool is_first = !js->gone;
    channel->next_gone = js->gone;
    js->gone = channel;
    if (is_first && !js->has_ended)
        (void)wf_js_bring(js, leave_now, js, false);
}

static void leave_now(void *opaque) {
    weft_js *js = opaque;
    wf_js_brought(js);
    wf_js_leave_lines(js);
}

void wf_js_leave_lines(weft_js *js) {
    while (js->gone) {
        struct wf_js_channel *channel = js->gone;
        js->gone = channel->next_gone;
        wf_js_line_leave(channel->line, js);
        free(channel);
    }
}

static void channel_mark(JSRuntime *runtime, JSValueConst value, JS_MarkFunc *mark) {
    struct wf_js_channel *channel = JS_GetOpaque(value, channel_class);
    for (uint32_t i = 0; channel && i < channel->room; i++)
        JS_MarkValue(runtime, channel->values[i], mark);
}

static struct wf_js_channel *handle_of(JSContext *context, JSValueConst value) {
    return JS_GetOpaque2(context, value, channel_class);
}

struct wf_js_channel *wf_js_channel_shared(JSValueConst value) {
    struct wf_js_channel *channel = JS_GetOpaque(value, channel_class);
    return channel && channel->line ? channel : NULL;
}

static struct wf_js_channel *channel_of(JSContext *context, int count, JSValueConst *arguments) {
    return count > 0 ? handle_of(context, arguments[0]) : NULL;
}

/* ---- Handles ---- */

/* Takes the channel over, also when there is no handle. */
static JSValue new_handle(JSContext *context, struct wf_js_channel *channel) {
    JSValue object = JS_NewObjectClass(context, (int)channel_class);
    if (!JS_IsException(object)) {
        JS_SetOpaque(object, channel);
        return object;
    }
    if (channel->line)
        wf_js_line_leave(channel->line, wf_js_of(context));
    else
        weft_chan_free(channel->chan);
    free(channel);
    return object;
}

static JSValue new_local(JSContext *context, uint32_t capacity) {
    struct wf_js_channel *channel = calloc(1, sizeof *channel);
    int error = channel ? weft_chan_new(&channel->chan, sizeof(union wf_js_item), capacity) : -ENOMEM;
    if (error) {
        free(channel);
        return wf_js_throw_errno(context, error, "chan");
    }
    channel->first_free = NO_PLACE;
    return new_handle(context, channel);
}

JSValue wf_js_channel_adopt(JSContext *context, struct wf_js_line *line) {
    struct wf_js_channel *channel = calloc(1, sizeof *channel);
    int error = channel ? wf_js_line_hold(line, wf_js_of(context)) : -ENOMEM;
    if (error) {
        free(channel);
        return wf_js_throw_errno(context, error, "chan");
    }
    channel->line = line;
    channel->chan = wf_js_line_chan(line);
    return new_handle(context, channel);
}

/* channelNew(capacity, whether instances share it) */
static JSValue js_channel_new(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    uint32_t capacity;
    int error;
    (void)self;
    if (JS_ToUint32(context, &capacity, arguments[0]))
        return JS_EXCEPTION;
    if (count < 2 || !JS_ToBool(context, arguments[1]))
        return new_local(context, capacity);
    struct wf_js_line *line = wf_js_line_new(capacity, &error);
    if (!line)
        return wf_js_throw_errno(context, error, "channel");
    (void)wf_js_line_carry(line); /* so that it goes if there is no handle */
    JSValue handle = wf_js_channel_adopt(context, line);
    struct wf_js_parcel *rest = NULL; /* there is nothing inside */
    wf_js_line_uncarry(line, false, &rest);
    return handle;
}

/* ---- Items ---- */

static bool take_place(JSContext *context, struct wf_js_channel *channel, JSValueConst value, int32_t *place) {
    if (channel->first_free == NO_PLACE) {
        uint32_t room = channel->room ? 2 * channel->room : 4;
        JSValue *longer = realloc(channel->values, room * sizeof *longer);
        if (!longer) {
            JS_ThrowOutOfMemory(context);
            return false;
        }
        for (uint32_t i = channel->room; i < room; i++)
            longer[i] = JS_NewInt32(context, i + 1 < room ? (int32_t)i + 1 : NO_PLACE);
        channel->first_free = (int32_t)channel->room;
        channel->values = longer;
        channel->room = room;
    }
    *place = channel->first_free;
    channel->first_free = JS_VALUE_GET_INT(channel->values[*place]);
    channel->values[*place] = JS_DupValue(context, value);
    return true;
}

static JSValue give_place(JSContext *context, struct wf_js_channel *channel, int32_t place) {
    JSValue value = channel->values[place];
    channel->values[place] = JS_NewInt32(context, channel->first_free);
    channel->first_free = place;
    return value;
}

static bool put_item(JSContext *context, struct wf_js_channel *channel, JSValueConst value, JSValueConst list,
                     union wf_js_item *out) {
    if (!channel->line)
        return take_place(context, channel, value, &out->place);
    out->parcel = wf_js_pack(context, value, list);
    if (out->parcel)
        wf_js_line_enter(channel->line, out->parcel);
    return out->parcel;
}

static JSValue take_item(JSContext *context, struct wf_js_channel *channel, union wf_js_item item) {
    if (!channel->line)
        return give_place(context, channel, item.place);
    wf_js_line_exit(channel->line, item.parcel);
    return wf_js_open(context, item.parcel, NULL);
}

static void drop_item(JSContext *context, struct wf_js_channel *channel, union wf_js_item item) {
    if (!channel->line) {
        JS_FreeValue(context, give_place(context, channel, item.place));
        return;
    }
    wf_js_line_exit(channel->line, item.parcel);
    wf_js_parcel_drop(item.parcel, false);
}

/* Whether it was closed because nobody is left at the other end; then that is an error. */
static bool is_broken(JSContext *context, struct wf_js_channel *channel, int status) {
    if (status != -EPIPE || !channel->line || !wf_js_line_is_broken(channel->line))
        return false;
    wf_js_throw_coded(context, "EOWNERDEAD", "The instance at the other end of the channel has died");
    return true;
}

/* ---- Sending and receiving ---- */

/* A wait of one side. The channel stays as long as its object does. */
struct passing {
    struct wf_js_wait wait;
    struct wf_js_channel *channel;
    JSValue object;
    union wf_js_item item;
    weft_time until;
};

static int send_wait(struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    return weft_chan_send(passing->channel->chan, &passing->item, passing->until);
}

static int receive_wait(struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    return weft_chan_recv(passing->channel->chan, &passing->item, passing->until);
}

static JSValue sent(JSContext *context, struct wf_js_channel *channel, int status, union wf_js_item item) {
    if (status == 0)
        return JS_UNDEFINED;
    drop_item(context, channel, item); /* it is nobody's */
    if (is_broken(context, channel, status))
        return JS_EXCEPTION;
    return status == -EPIPE ? JS_ThrowTypeError(context, "send on a closed channel")
                            : wf_js_throw_errno(context, status, "send");
}

static JSValue received(JSContext *context, struct wf_js_channel *channel, int status, union wf_js_item item) {
    if (status == 0)
        return take_item(context, channel, item);
    if (is_broken(context, channel, status))
        return JS_EXCEPTION;
    return status == -EPIPE ? JS_UNDEFINED : wf_js_throw_errno(context, status, "recv");
}

static JSValue send_finish(JSContext *context, struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    JSValue result = sent(context, passing->channel, wait->status, passing->item);
    JS_FreeValue(context, passing->object);
    return result;
}

static JSValue receive_finish(JSContext *context, struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    JSValue result = received(context, passing->channel, wait->status, passing->item);
    JS_FreeValue(context, passing->object);
    return result;
}

static JSValue pass(JSContext *context, struct wf_js_channel *channel, JSValueConst object, union wf_js_item item,
                    weft_time until, bool is_send) {
    struct passing *passing = calloc(1, sizeof *passing);
    if (!passing) {
        if (is_send)
            drop_item(context, channel, item);
        return JS_ThrowOutOfMemory(context);
    }
    *passing = (struct passing){
        .wait = {.wait = is_send ? send_wait : receive_wait,
                 .finish = is_send ? send_finish : receive_finish,
                 .is_local = until == WEFT_NEVER && !channel->line,
                 .what = is_send ? "somebody who takes a value from a channel" : "a value of a channel"},
        .channel = channel,
        .object = JS_DupValue(context, object),
        .item = item,
        .until = until};
    return wf_js_perform(context, &passing->wait);
}

/* channelSend(channel, value, milliseconds, list of what is transferred, or undefined) */
static JSValue js_channel_send(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_channel *channel = channel_of(context, count, arguments);
    weft_time until;
    union wf_js_item item;
    (void)self;
    if (!channel || count < 3 || !wf_js_until(context, arguments[2], &until) ||
        !put_item(context, channel, arguments[1], count > 3 ? arguments[3] : JS_UNDEFINED, &item))
        return JS_EXCEPTION;
    int status = weft_chan_send(channel->chan, &item, WEFT_NOW);
    if (status != -ETIMEDOUT)
        return wf_js_at_once(context, sent(context, channel, status, item));
    return pass(context, channel, arguments[0], item, until, true);
}

/* channelReceive(channel, milliseconds) */
static JSValue js_channel_receive(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_channel *channel = channel_of(context, count, arguments);
    weft_time until;
    union wf_js_item item = {0};
    (void)self;
    if (!channel || count < 2 || !wf_js_until(context, arguments[1], &until))
        return JS_EXCEPTION;
    int status = weft_chan_recv(channel->chan, &item, WEFT_NOW);
    if (status != -ETIMEDOUT)
        return wf_js_at_once(context, received(context, channel, status, item));
    return pass(context, channel, arguments[0], item, until, false);
}

/* channelClose(channel): whether it was open */
static JSValue js_channel_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_channel *channel = channel_of(context, count, arguments);
    (void)self;
    return channel ? JS_NewBool(context, weft_chan_close(channel->chan) == 0) : JS_EXCEPTION;
}

/* channelInfo(channel) -> [length, capacity, is closed, is shared] */
static JSValue js_channel_info(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_channel *channel = channel_of(context, count, arguments);
    (void)self;
    if (!channel)
        return JS_EXCEPTION;
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewInt64(context, (int64_t)weft_chan_len(channel->chan)));
    JS_SetPropertyUint32(context, list, 1, JS_NewInt64(context, (int64_t)weft_chan_cap(channel->chan)));
    JS_SetPropertyUint32(context, list, 2, JS_NewBool(context, weft_chan_is_closed(channel->chan)));
    JS_SetPropertyUint32(context, list, 3, JS_NewBool(context, channel->line != NULL));
    return list;
}

/* ---- As cases of select ---- */

static bool receive_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out) {
    struct wf_js_channel *channel = handle_of(context, one->object);
    (void)value;
    if (!channel)
        return false;
    one->is_outside = channel->line;
    *out = weft_on_receive(channel->chan, &one->of.item);
    return true;
}

static JSValue receive_end(JSContext *context, struct wf_js_case *one, bool is_chosen, int status) {
    struct wf_js_channel *channel = JS_GetOpaque(one->object, channel_class);
    return is_chosen ? received(context, channel, status, one->of.item) : JS_UNDEFINED;
}

static bool send_begin(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out) {
    struct wf_js_channel *channel = handle_of(context, one->object);
    if (!channel || !put_item(context, channel, value, JS_UNDEFINED, &one->of.item))
        return false;
    one->is_outside = channel->line;
    *out = weft_on_send(channel->chan, &one->of.item);
    return true;
}

/* What was not sent is nobody's. */
static JSValue send_end(JSContext *context, struct wf_js_case *one, bool is_chosen, int status) {
    struct wf_js_channel *channel = JS_GetOpaque(one->object, channel_class);
    if (is_chosen)
        return sent(context, channel, status, one->of.item);
    drop_item(context, channel, one->of.item);
    return JS_UNDEFINED;
}

const struct wf_js_case_kind wf_js_receive_case = {.begin = receive_begin, .finish = receive_end};
const struct wf_js_case_kind wf_js_send_case = {.begin = send_begin, .finish = send_end};

int wf_js_add_channels(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {
        .class_name = "ChannelHandle", .finalizer = channel_finalize, .gc_mark = channel_mark};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("channelNew", 2, js_channel_new),         JS_CFUNC_DEF("channelSend", 4, js_channel_send),
        JS_CFUNC_DEF("channelReceive", 2, js_channel_receive), JS_CFUNC_DEF("channelClose", 1, js_channel_close),
        JS_CFUNC_DEF("channelInfo", 1, js_channel_info),
    };
    wf_js_new_class(JS_GetRuntime(context), &channel_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
