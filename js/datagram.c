/* SPDX-License-Identifier: MIT
 *
 * js/datagram.c - datagrams: UDP, and those on paths. A socket for them is a stream's handle (js/stream.c), of which the calls
 * here are made instead of reads and writes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

struct passing {
    struct wf_js_wait wait;
    struct wf_js_stream *stream;
    JSValue object; /* the stream's */
    weft_time until;
    weft_address address;
    bool has_address;
    bool was_cut;
    char *bytes;
    size_t size;
};

/* False: an exception. undefined: none, which is no mistake. */
static bool take_address(JSContext *context, JSValueConst value, weft_address *address, bool *has_address) {
    *has_address = !JS_IsUndefined(value);
    return !*has_address || wf_js_take_address(context, value, address);
}

static JSValue pass(JSContext *context, struct passing *given, JSValueConst object) {
    struct passing *passing = malloc(sizeof *passing);
    if (!passing) {
        free(given->bytes);
        return JS_ThrowOutOfMemory(context);
    }
    *passing = *given;
    passing->object = JS_DupValue(context, object);
    return wf_js_perform(context, &passing->wait);
}

/* datagramOpen(address or undefined, shares its port, broadcasts) -> stream */
static JSValue js_datagram_open(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_address address;
    bool has_address;
    weft_fd fd;
    (void)self;
    if (count < 3 || !take_address(context, arguments[0], &address, &has_address))
        return JS_EXCEPTION;
    weft_socket_options options = {.shares_port = JS_ToBool(context, arguments[1]),
                                   .broadcasts = JS_ToBool(context, arguments[2])};
    int error = weft_datagram_open(&fd, has_address ? &address : NULL, &options);
    return error ? wf_js_throw_errno(context, error, "bind") : wf_js_stream_new(context, fd);
}

/* datagramConnect(stream, address) */
static JSValue js_datagram_connect(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 1 ? wf_js_stream_of(context, arguments[0]) : NULL;
    weft_address address;
    bool has_address;
    (void)self;
    if (!stream || !take_address(context, arguments[1], &address, &has_address))
        return JS_EXCEPTION;
    int error = weft_datagram_connect(stream->fd, has_address ? &address : NULL);
    return error ? wf_js_stream_throw(context, stream, error, "connect") : JS_UNDEFINED;
}

/* ---- Sending ---- */

static int send_now(struct passing *passing, const char *bytes, size_t size, weft_time until) {
    ssize_t sent =
        weft_send_to(passing->stream->fd, bytes, size, passing->has_address ? &passing->address : NULL, until);
    return sent < 0 ? (int)sent : 0;
}

static int send_wait(struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    return send_now(passing, passing->bytes, passing->size, passing->until);
}

static JSValue send_finish(JSContext *context, struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    JSValue result = wait->status ? wf_js_stream_throw(context, passing->stream, wait->status, "send") : JS_UNDEFINED;
    free(passing->bytes);
    JS_FreeValue(context, passing->object);
    return result;
}

/* datagramSend(stream, bytes, address or undefined, milliseconds) */
static JSValue js_datagram_send(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct passing passing = {.wait = {.wait = send_wait, .finish = send_finish}};
    (void)self;
    passing.stream = count > 3 ? wf_js_stream_of(context, arguments[0]) : NULL;
    if (!passing.stream || !take_address(context, arguments[2], &passing.address, &passing.has_address) ||
        !wf_js_until(context, arguments[3], &passing.until) ||
        !wf_js_copy_bytes(context, arguments[1], &passing.bytes, &passing.size))
        return JS_EXCEPTION;
    int status = wf_js_may_hurry(context) ? send_now(&passing, passing.bytes, passing.size, WEFT_NOW) : -ETIMEDOUT;
    if (status == -ETIMEDOUT)
        return pass(context, &passing, arguments[0]);
    free(passing.bytes);
    return wf_js_at_once(context, status ? wf_js_stream_throw(context, passing.stream, status, "send") : JS_UNDEFINED);
}

/* ---- Receiving ---- */

static int receive_wait(struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    for (;;) {
        int error = weft_wait_readable(passing->stream->fd, passing->until);
        if (error)
            return error;
        if (!passing->bytes && !(passing->bytes = malloc(WF_JS_PIECE))) /* the largest that IP carries */
            return -ENOMEM;
        ssize_t count = weft_receive_from(passing->stream->fd, passing->bytes, WF_JS_PIECE, &passing->address,
                                          &passing->was_cut, WEFT_NOW);
        passing->size = count > 0 ? (size_t)count : 0;
        if (count >= 0)
            return 0;
        if (count != -ETIMEDOUT) /* else it was too early, or another one has taken it */
            return (int)count;
    }
}

/* -> [bytes, address or undefined, was cut] */
static JSValue received(JSContext *context, struct passing *passing, int status) {
    char text[WEFT_ADDRESS_TEXT];
    JSValue bytes = status ? wf_js_stream_throw(context, passing->stream, status, "receive")
                           : JS_NewUint8ArrayCopy(context, (uint8_t *)passing->bytes, passing->size);
    if (JS_IsException(bytes))
        return bytes;
    JSValue list = JS_NewArray(context);
    bool has_address = weft_address_format(&passing->address, text, sizeof text) >= 0;
    JS_SetPropertyUint32(context, list, 0, bytes);
    JS_SetPropertyUint32(context, list, 1, has_address ? JS_NewString(context, text) : JS_UNDEFINED);
    JS_SetPropertyUint32(context, list, 2, JS_NewBool(context, passing->was_cut));
    return list;
}

static JSValue receive_finish(JSContext *context, struct wf_js_wait *wait) {
    struct passing *passing = (struct passing *)wait;
    JSValue result = received(context, passing, wait->status);
    free(passing->bytes);
    JS_FreeValue(context, passing->object);
    return result;
}

/* What is there already. False: nothing is. */
static bool receive_now(JSContext *context, struct passing *passing) {
    passing->bytes = wf_js_may_hurry(context) ? wf_js_piece(wf_js_of(context)) : NULL;
    ssize_t count = passing->bytes ? weft_receive_from(passing->stream->fd, passing->bytes, WF_JS_PIECE,
                                                       &passing->address, &passing->was_cut, WEFT_NOW)
                                   : -ETIMEDOUT;
    passing->size = count > 0 ? (size_t)count : 0;
    return count >= 0;
}

/* datagramReceive(stream, milliseconds) */
static JSValue js_datagram_receive(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct passing passing = {.wait = {.wait = receive_wait, .finish = receive_finish}};
    (void)self;
    passing.stream = count > 1 ? wf_js_stream_of(context, arguments[0]) : NULL;
    if (!passing.stream || !wf_js_until(context, arguments[1], &passing.until))
        return JS_EXCEPTION;
    if (receive_now(context, &passing))
        return wf_js_at_once(context, received(context, &passing, 0));
    passing.bytes = NULL;
    return pass(context, &passing, arguments[0]);
}

int wf_js_add_datagrams(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("datagramOpen", 3, js_datagram_open),
        JS_CFUNC_DEF("datagramConnect", 2, js_datagram_connect),
        JS_CFUNC_DEF("datagramSend", 4, js_datagram_send),
        JS_CFUNC_DEF("datagramReceive", 2, js_datagram_receive),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
