/* SPDX-License-Identifier: MIT
 *
 * js/stream.h - descriptors that JavaScript has: connections, listeners, ends of pipes. See js/stream.c.
 */
#ifndef WF_JS_STREAM_H
#define WF_JS_STREAM_H

#include "host.h"

/* Everything in it belongs to who has the turn, but for the reader, which is used by the one read that is under way. */
struct wf_js_stream {
    weft_fd fd;
    bool is_closed;                                 /* by JavaScript, or it never was open */
    bool is_reading;                                /* a read, or an accept, waits */
    size_t buffer_size;                             /* of the reader */
    weft_reader *reader;                            /* NULL: nobody has asked for lines yet */
    struct wf_js_writing *first_write, *last_write; /* under way, and those behind it */
    int write_error;                                /* why no more can be written: a write was cut off in its middle */
};

/* The descriptor becomes an object's; it is closed if there is none. */
JSValue wf_js_stream_new(JSContext *context, weft_fd fd);
/* Null: it is none, and an exception. */
struct wf_js_stream *wf_js_stream_of(JSContext *context, JSValueConst value);
/* What became of a call: -EBADF after a close is said as such. */
JSValue wf_js_stream_throw(JSContext *context, struct wf_js_stream *stream, int status, const char *what);
void wf_js_stream_close(struct wf_js_stream *stream);
/* WF_JS_PIECE bytes of the instance, for who has the turn. Null: no memory. */
enum { WF_JS_PIECE = 64 * 1024 };
char *wf_js_piece(weft_js *js);
/* js/socket.c: a text that is an address. False: an exception. */
bool wf_js_take_address(JSContext *context, JSValueConst value, weft_address *address);

#endif
