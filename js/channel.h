/* SPDX-License-Identifier: MIT
 *
 * js/channel.h - channels whose values are JavaScript's: see js/channel.c.
 */
#ifndef WF_JS_CHANNEL_H
#define WF_JS_CHANNEL_H

#include "host.h"

enum { WF_JS_NO_PLACE = -1 };

struct wf_js_channel {
    weft_chan *chan; /* of numbers of places, int32_t */
    JSValue *values; /* a free place has the number of the next one */
    uint32_t room;
    int32_t first_free;
};

/* Null: it is none, and an exception. */
struct wf_js_channel *wf_js_channel_of(JSContext *context, JSValueConst value);
/* A place with the value, WF_JS_NO_PLACE without memory; and the value of a place, which is free then. With the turn. */
int32_t wf_js_place_take(JSContext *context, struct wf_js_channel *channel, JSValueConst value);
JSValue wf_js_place_give(JSContext *context, struct wf_js_channel *channel, int32_t place);

#endif
