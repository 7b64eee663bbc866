/* SPDX-License-Identifier: MIT
 *
 * js/stream_write.c - writing to the streams of js/stream.c, and saying that nothing more is written.
 *
 * What there is room for is written at once, with the turn, from where JavaScript has it. The rest is copied and waits in a
 * line: writes of one stream are carried out one after another, in the order in which they were asked for. Each has a
 * semaphore, which the one before it releases when it has ended; the line belongs to who has the turn.
 *
 * A write that was given up in its middle (a limit of time, a signal) ends the line: what came behind it would be taken for
 * the rest of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

struct wf_js_writing {
    struct wf_js_wait wait;
    struct wf_js_writing *next; /* of the stream's; the turn's */
    struct wf_js_stream *stream;
    JSValue object; /* the stream's */
    weft_semaphore turn;
    weft_time until;
    bool is_shutdown; /* not a write, but the end of all */
    bool has_begun;   /* some of it was written at once */
    size_t size, done;
    char bytes[];
};

static int write_wait(struct wf_js_wait *wait) {
    struct wf_js_writing *writing = (struct wf_js_writing *)wait;
    struct wf_js_stream *stream = writing->stream;
    int error = weft_semaphore_acquire(&writing->turn, 1, writing->until);
    if (error)
        return error;
    if (stream->write_error) /* the one before has set it before it released us */
        return stream->write_error;
    if (writing->is_shutdown)
        return weft_shutdown(stream->fd, WEFT_SHUT_WRITE);
    return weft_write_all_done(stream->fd, writing->bytes, writing->size, &writing->done, writing->until);
}

static void leave_line(struct wf_js_writing *writing) {
    struct wf_js_stream *stream = writing->stream;
    struct wf_js_writing **link = &stream->first_write, *before = NULL;
    while (*link != writing) {
        before = *link;
        link = &before->next;
    }
    *link = writing->next;
    if (stream->last_write == writing)
        stream->last_write = before;
    if (!before && writing->next)
        weft_semaphore_release(&writing->next->turn, 1);
}

/* Pipes have no half to shut. */
static JSValue shut(JSContext *context, struct wf_js_stream *stream, int status) {
    if (status == -ENOTSOCK)
        wf_js_stream_close(stream);
    else if (status && status != -ENOTCONN)
        return wf_js_stream_throw(context, stream, status, "shutdown");
    return JS_UNDEFINED;
}

static JSValue write_finish(JSContext *context, struct wf_js_wait *wait) {
    struct wf_js_writing *writing = (struct wf_js_writing *)wait;
    struct wf_js_stream *stream = writing->stream;
    if (wait->status && (writing->has_begun || writing->done > 0) && !stream->is_closed && !stream->write_error)
        stream->write_error = -EPIPE;
    leave_line(writing);
    JSValue result = writing->is_shutdown ? shut(context, stream, wait->status)
                     : wait->status       ? wf_js_stream_throw(context, stream, wait->status, "write")
                                          : JS_UNDEFINED;
    JS_FreeValue(context, writing->object);
    return result;
}

/* Into the line, and a wait for its turn. */
static JSValue enqueue(JSContext *context, struct wf_js_stream *stream, JSValueConst object, const char *bytes,
                       size_t size, struct wf_js_writing *like) {
    struct wf_js_writing *writing = malloc(sizeof *writing + size);
    if (!writing)
        return JS_ThrowOutOfMemory(context);
    *writing = *like;
    writing->wait = (struct wf_js_wait){.wait = write_wait, .finish = write_finish};
    writing->stream = stream;
    writing->object = JS_DupValue(context, object);
    writing->size = size;
    if (size)
        memcpy(writing->bytes, bytes, size);
    if (stream->last_write)
        stream->last_write->next = writing;
    else
        stream->first_write = writing;
    stream->last_write = writing;
    if (stream->first_write == writing)
        weft_semaphore_release(&writing->turn, 1);
    return wf_js_perform(context, &writing->wait);
}

/* A text's or an array's. Null: an exception, or nothing. *text is to be freed. */
static const char *bytes_of(JSContext *context, JSValueConst value, const char **text, size_t *size) {
    *text = JS_IsString(value) ? JS_ToCStringLen(context, size, value) : NULL;
    if (*text || JS_IsString(value))
        return *text;
    return (const char *)JS_GetUint8Array(context, size, value);
}

static JSValue write_begin(JSContext *context, struct wf_js_stream *stream, JSValueConst object, const char *bytes,
                           size_t size, weft_time until) {
    struct wf_js_writing like = {.until = until};
    size_t done = 0;
    int status = stream->is_closed ? -EBADF : stream->write_error;
    bool is_alone = !stream->first_write;
    if (!status && is_alone && wf_js_may_hurry(context)) {
        status = weft_write_all_done(stream->fd, bytes, size, &done, WEFT_NOW);
        if (!status)
            return wf_js_at_once(context, JS_UNDEFINED);
        if (status == -ETIMEDOUT)
            status = 0;
    }
    if (status)
        return wf_js_at_once(context, wf_js_stream_throw(context, stream, status, "write"));
    like.has_begun = done > 0;
    return enqueue(context, stream, object, bytes + done, size - done, &like);
}

/* netWrite(stream, text or bytes, milliseconds): all of it */
static JSValue js_net_write(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 2 ? wf_js_stream_of(context, arguments[0]) : NULL;
    const char *text;
    size_t size;
    weft_time until;
    (void)self;
    if (!stream || !wf_js_until(context, arguments[2], &until))
        return JS_EXCEPTION;
    const char *bytes = bytes_of(context, arguments[1], &text, &size);
    if (!bytes && JS_HasException(context))
        return JS_EXCEPTION;
    JSValue result = write_begin(context, stream, arguments[0], bytes ? bytes : "", bytes ? size : 0, until);
    JS_FreeCString(context, text);
    return result;
}

/* netWriteNow(stream, text or bytes) -> how many of the bytes were written without waiting */
static JSValue js_net_write_now(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 1 ? wf_js_stream_of(context, arguments[0]) : NULL;
    const char *text;
    size_t size, done = 0;
    (void)self;
    if (!stream)
        return JS_EXCEPTION;
    const char *bytes = bytes_of(context, arguments[1], &text, &size);
    if (!bytes && JS_HasException(context))
        return JS_EXCEPTION;
    int status = stream->is_closed ? -EBADF : stream->write_error;
    if (!status && !stream->first_write && bytes)
        status = weft_write_all_done(stream->fd, bytes, size, &done, WEFT_NOW);
    JS_FreeCString(context, text);
    if (status && status != -ETIMEDOUT)
        return wf_js_stream_throw(context, stream, status, "write");
    return JS_NewInt64(context, (int64_t)done);
}

/* netShutdown(stream): when all is written, the other side reads the end */
static JSValue js_net_shutdown(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 0 ? wf_js_stream_of(context, arguments[0]) : NULL;
    struct wf_js_writing like = {.until = WEFT_NEVER, .is_shutdown = true};
    (void)self;
    if (!stream)
        return JS_EXCEPTION;
    if (stream->is_closed)
        return wf_js_at_once(context, wf_js_stream_throw(context, stream, -EBADF, "shutdown"));
    if (!stream->first_write && !wf_js_is_called(wf_js_of(context)))
        return wf_js_at_once(context, shut(context, stream, weft_shutdown(stream->fd, WEFT_SHUT_WRITE)));
    return enqueue(context, stream, arguments[0], NULL, 0, &like);
}

/* netShutdownNow(stream): 0, or a negative number; it has nothing left to write */
static JSValue js_net_shutdown_now(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 0 ? wf_js_stream_of(context, arguments[0]) : NULL;
    (void)self;
    if (!stream)
        return JS_EXCEPTION;
    int status = stream->is_closed ? -EBADF : weft_shutdown(stream->fd, WEFT_SHUT_WRITE);
    if (status == -ENOTSOCK)
        wf_js_stream_close(stream);
    return JS_NewInt32(context, status == -ENOTSOCK || status == -ENOTCONN ? 0 : status);
}

int wf_js_add_writing(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("netWrite", 3, js_net_write),
        JS_CFUNC_DEF("netWriteNow", 2, js_net_write_now),
        JS_CFUNC_DEF("netShutdown", 1, js_net_shutdown),
        JS_CFUNC_DEF("netShutdownNow", 1, js_net_shutdown_now),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
