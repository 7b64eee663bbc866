/* SPDX-License-Identifier: MIT
 *
 * js/channel.h - channels whose values are JavaScript's, for the fibers of one instance (js/channel.c) or of several (js/line.c).
 */
#ifndef WF_JS_CHANNEL_H
#define WF_JS_CHANNEL_H

#include "host.h"

struct wf_js_line;
struct wf_js_parcel;

/* What a handle stands for. */
struct wf_js_channel {
    weft_chan *chan;         /* of wf_js_item; the line's, if there is one */
    struct wf_js_line *line; /* what it shares with other instances; null: values stay as they are */
    JSValue *values;         /* without a line: a free place has the number of the next one */
    uint32_t room;
    int32_t first_free;
    struct wf_js_channel *next_gone; /* of those whose handle has gone, and whose line is not left yet */
};

/* A value on its way through a channel: the number of a place beside it, or a parcel. */
union wf_js_item {
    int32_t place;
    struct wf_js_parcel *parcel;
};

/* A handle's channel if it is one that instances share; and a handle for a line in this instance. */
struct wf_js_channel *wf_js_channel_shared(JSValueConst value);
JSValue wf_js_channel_adopt(JSContext *context, struct wf_js_line *line);

/* The instance is no more, or is about to be: its lines hear of it. */
void wf_js_leave_lines(weft_js *js);

/* js/line.c: what is shared. An instance holds a line as long as it has a handle, or several; a parcel carries one, or not. */
struct wf_js_line *wf_js_line_new(uint32_t capacity, int *error);
weft_chan *wf_js_line_chan(struct wf_js_line *line);
/* Whether it was closed because somebody has died. */
bool wf_js_line_is_broken(struct wf_js_line *line);
/* The instance has one handle more, -ENOMEM; or one less. A new line has neither handles nor parcels: it goes with the last of them. */
int wf_js_line_hold(struct wf_js_line *line, const weft_js *js);
void wf_js_line_leave(struct wf_js_line *line, const weft_js *js);
struct wf_js_line *wf_js_line_carry(struct wf_js_line *line);
/* is_lost: the parcel was for an instance that has ended. What goes with the line is put into the list. */
void wf_js_line_uncarry(struct wf_js_line *line, bool is_lost, struct wf_js_parcel **rest);
/* A parcel is sent through it; and is not inside any more, or never was. */
void wf_js_line_enter(struct wf_js_line *line, struct wf_js_parcel *parcel);
void wf_js_line_exit(struct wf_js_line *line, struct wf_js_parcel *parcel);
/* Lines that are only inside of each other go. */
void wf_js_lines_collect(void);

#endif
