/* SPDX-License-Identifier: MIT
 *
 * js/stream.c - descriptors in the hands of JavaScript, and reading from them.
 *
 * A handle has the descriptor until it is closed, or nobody has the handle any more; a call that waits has it, too. One read
 * waits at a time: a second one would get bytes from the middle of what the first wants.
 *
 * What is there already is answered at once, with the turn (wf_js_may_hurry). Otherwise the wait has no memory for bytes until
 * some have come, so that connections that are silent cost little.
 */
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* BUFFER: of a reader. */
enum { BUFFER = WEFT_BUFFER_SIZE, DELIMITER_MOST = 32 };

enum kind { READ_PIECE, READ_FULL, READ_UNTIL, READ_LINE };

struct reading {
    struct wf_js_wait wait;
    struct wf_js_stream *stream;
    JSValue object; /* the stream's */
    weft_time until;
    enum kind kind;
    size_t size;  /* that is wanted, or at most */
    char *bytes;  /* PIECE, FULL: that were read */
    size_t count; /* how many; UNTIL, LINE: in the reader, from its beginning */
    char delimiter[DELIMITER_MOST];
    size_t delimiter_size;
};

static JSClassID stream_class;

static int read_piece(struct reading *reading);
static int read_full(struct reading *reading);
static int read_until(struct reading *reading, weft_time deadline);
static JSValue result_of(JSContext *context, struct reading *reading, int status);

/* ---- Handles ---- */

static void stream_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_stream *stream = JS_GetOpaque(value, stream_class);
    (void)runtime;
    if (!stream)
        return;
    wf_js_stream_close(stream);
    weft_reader_free(stream->reader);
    free(stream);
}

JSValue wf_js_stream_new(JSContext *context, weft_fd fd) {
    struct wf_js_stream *stream = calloc(1, sizeof *stream);
    JSValue object = stream ? JS_NewObjectClass(context, (int)stream_class) : JS_ThrowOutOfMemory(context);
    if (!stream || JS_IsException(object)) {
        (void)weft_close(fd);
        free(stream);
        return object;
    }
    stream->fd = fd;
    stream->buffer_size = BUFFER;
    JS_SetOpaque(object, stream);
    return object;
}

struct wf_js_stream *wf_js_stream_of(JSContext *context, JSValueConst value) {
    return JS_GetOpaque2(context, value, stream_class);
}

void wf_js_stream_close(struct wf_js_stream *stream) {
    if (!stream->is_closed)
        (void)weft_close(stream->fd);
    stream->is_closed = true;
}

JSValue wf_js_stream_throw(JSContext *context, struct wf_js_stream *stream, int status, const char *what) {
    if (stream->is_closed && status == -EBADF)
        return wf_js_throw_coded(context, "ERR_CLOSED", "It was closed");
    return wf_js_throw_errno(context, status, what);
}

/* netClose(stream): whether it was open. Whoever waits gets an error. */
static JSValue js_net_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 0 ? wf_js_stream_of(context, arguments[0]) : NULL;
    (void)self;
    if (!stream)
        return JS_EXCEPTION;
    bool was_open = !stream->is_closed;
    wf_js_stream_close(stream);
    return JS_NewBool(context, was_open);
}

static JSValue js_net_is_closed(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 0 ? wf_js_stream_of(context, arguments[0]) : NULL;
    (void)self;
    return stream ? JS_NewBool(context, stream->is_closed) : JS_EXCEPTION;
}

/* netBuffer(stream, size): of lines and the like, before the first of them is read */
static JSValue js_net_buffer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 1 ? wf_js_stream_of(context, arguments[0]) : NULL;
    double size;
    (void)self;
    if (!stream || JS_ToFloat64(context, &size, arguments[1]))
        return JS_EXCEPTION;
    if (!(size >= WEFT_BUFFER_LEAST && size <= WEFT_BUFFER_MOST))
        return JS_ThrowRangeError(context, "A buffer has 64 bytes to 1 GiB");
    stream->buffer_size = (size_t)size;
    return JS_UNDEFINED;
}

/* ---- Reading ---- */

static int need_reader(struct wf_js_stream *stream) {
    return stream->reader ? 0 : weft_reader_new(&stream->reader, stream->fd, stream->buffer_size);
}

static size_t buffered(const struct wf_js_stream *stream) {
    return stream->reader ? weft_reader_buffered(stream->reader) : 0;
}

static int read_wait(struct wf_js_wait *wait) {
    struct reading *reading = (struct reading *)wait;
    weft_reader *reader = reading->stream->reader;
    if (reader)
        (void)weft_reader_rest(reader); /* if it is empty, it takes no memory while we wait */
    switch (reading->kind) {
    case READ_PIECE:
        return read_piece(reading);
    case READ_FULL:
        return read_full(reading);
    default:
        return read_until(reading, reading->until);
    }
}

/* What is there, or comes next. */
static int read_piece(struct reading *reading) {
    weft_fd fd = reading->stream->fd;
    for (;;) {
        int error = weft_wait_readable(fd, reading->until);
        if (error)
            return error;
        char *bytes = malloc(reading->size);
        if (!bytes)
            return -ENOMEM;
        ssize_t count = weft_read(fd, bytes, reading->size, WEFT_NOW);
        if (count > 0) {
            char *shorter = realloc(bytes, (size_t)count);
            reading->bytes = shorter ? shorter : bytes;
            reading->count = (size_t)count;
            return 0;
        }
        free(bytes);
        if (count != -ETIMEDOUT) /* else it was too early */
            return (int)count;
    }
}

static int read_full(struct reading *reading) {
    reading->bytes = malloc(reading->size + 1);
    if (!reading->bytes)
        return -ENOMEM;
    ssize_t count =
        weft_reader_read_full(reading->stream->reader, reading->bytes, reading->size, &reading->count, reading->until);
    if (count < 0)
        return (int)count;
    reading->count = (size_t)count;
    return 0;
}

/* Up to the delimiter, or the end; it stays in the reader. */
static int read_until(struct reading *reading, weft_time deadline) {
    size_t seen = 0;
    for (;;) {
        const void *bytes;
        if (seen >= reading->size)
            return -EMSGSIZE;
        ssize_t count = weft_reader_peek(reading->stream->reader, &bytes, seen + 1, deadline);
        if (count < 0)
            return (int)count;
        size_t from = seen >= reading->delimiter_size ? seen - reading->delimiter_size + 1 : 0;
        const char *found = count ? memmem((const char *)bytes + from, (size_t)count - from, reading->delimiter,
                                           reading->delimiter_size)
                                  : NULL;
        size_t size = found ? (size_t)(found - (const char *)bytes) + reading->delimiter_size : (size_t)count;
        if (found && size > reading->size)
            return -EMSGSIZE;
        if (found || (size_t)count <= seen) { /* there, or nothing came: the end */
            reading->count = size;
            return 0;
        }
        seen = (size_t)count;
    }
}

/* ---- Results, with the turn ---- */

static JSValue line_of(JSContext *context, const char *bytes, size_t size) {
    if (size > 0 && bytes[size - 1] == '\n')
        size -= size > 1 && bytes[size - 2] == '\r' ? 2 : 1;
    return wf_js_new_text(context, bytes, size);
}

/* What is in the reader up to count becomes a value, and is taken out. */
static JSValue take_out(JSContext *context, struct reading *reading) {
    const void *bytes;
    weft_reader *reader = reading->stream->reader;
    if (reading->count == 0)
        return reading->kind == READ_FULL ? JS_NewUint8ArrayCopy(context, NULL, 0) : JS_NULL;
    ssize_t there = weft_reader_peek(reader, &bytes, reading->count, WEFT_NOW);
    if (there < 0)
        return wf_js_throw_errno(context, (int)there, "read");
    JSValue value = reading->kind == READ_LINE ? line_of(context, bytes, reading->count)
                                               : JS_NewUint8ArrayCopy(context, bytes, reading->count);
    if (!JS_IsException(value))
        (void)weft_reader_discard(reader, reading->count);
    return value;
}

/* Bytes of a whole that did not come are not lost: the error has them. */
static JSValue throw_partial(JSContext *context, struct reading *reading, int status) {
    JSValue thrown = status ? wf_js_stream_throw(context, reading->stream, status, "read")
                            : wf_js_throw_coded(context, "ERR_UNEXPECTED_END", "The end came in the middle");
    JSValue error = JS_GetException(context);
    JSValue partial = JS_NewUint8ArrayCopy(context, (uint8_t *)reading->bytes, reading->count);
    if (JS_IsObject(error) && !JS_IsException(partial))
        JS_SetPropertyStr(context, error, "partial", partial);
    else
        JS_FreeValue(context, partial);
    free(reading->bytes);
    JS_Throw(context, error);
    return thrown;
}

static JSValue result_of(JSContext *context, struct reading *reading, int status) {
    bool is_short = reading->kind == READ_FULL && reading->count > 0 && reading->count < reading->size;
    if (is_short)
        return throw_partial(context, reading, status);
    if (status) {
        free(reading->bytes);
        return wf_js_stream_throw(context, reading->stream, status, "read");
    }
    if (reading->kind == READ_UNTIL || reading->kind == READ_LINE)
        return take_out(context, reading);
    if (reading->count > 0 || (reading->kind == READ_FULL && reading->size == 0))
        return wf_js_give_bytes(context, reading->bytes, reading->count);
    free(reading->bytes);
    return JS_NULL;
}

static JSValue read_finish(JSContext *context, struct wf_js_wait *wait) {
    struct reading *reading = (struct reading *)wait;
    reading->stream->is_reading = false;
    JSValue result = result_of(context, reading, wait->status);
    JS_FreeValue(context, reading->object);
    return result;
}

/* ---- At once ---- */

char *wf_js_piece(weft_js *js) {
    if (!js->piece)
        js->piece = malloc(WF_JS_PIECE);
    return js->piece;
}

/* What is there, without waiting. *status: -ETIMEDOUT when nothing is. */
static JSValue piece_at_once(JSContext *context, struct reading *reading, int *status) {
    size_t size = reading->size < WF_JS_PIECE ? reading->size : WF_JS_PIECE;
    char *piece = wf_js_piece(wf_js_of(context));
    if (!piece) {
        *status = -ENOMEM;
        return JS_UNDEFINED;
    }
    ssize_t count = buffered(reading->stream) ? weft_reader_read(reading->stream->reader, piece, size, WEFT_NOW)
                                              : weft_read(reading->stream->fd, piece, size, WEFT_NOW);
    *status = count < 0 ? (int)count : 0;
    return count > 0 ? JS_NewUint8ArrayCopy(context, (uint8_t *)piece, (size_t)count) : JS_NULL;
}

static JSValue at_once(JSContext *context, struct reading *reading, int *status) {
    switch (reading->kind) {
    case READ_PIECE:
        return piece_at_once(context, reading, status);
    case READ_FULL:
        *status = buffered(reading->stream) >= reading->size ? 0 : -ETIMEDOUT;
        reading->count = reading->size;
        return *status ? JS_UNDEFINED : take_out(context, reading);
    default:
        *status = read_until(reading, WEFT_NOW);
        return *status ? JS_UNDEFINED : take_out(context, reading);
    }
}

/* A read that has its arguments: the result, or a wait for it. */
static JSValue read_begin(JSContext *context, struct reading *given, JSValueConst object, JSValueConst milliseconds) {
    struct wf_js_stream *stream = given->stream;
    if (!wf_js_until(context, milliseconds, &given->until))
        return JS_EXCEPTION;
    if (stream->is_reading)
        return wf_js_at_once(context, wf_js_throw_coded(context, "EBUSY", "Somebody reads from it already"));
    int status = stream->is_closed ? -EBADF : given->kind == READ_PIECE ? 0 : need_reader(stream);
    if (status)
        return wf_js_at_once(context, wf_js_stream_throw(context, stream, status, "read"));
    bool is_here = given->kind == READ_PIECE && buffered(stream) > 0; /* a wait would look at the descriptor only */
    if (is_here || wf_js_may_hurry(context)) {
        JSValue value = at_once(context, given, &status);
        if (status == 0)
            return wf_js_at_once(context, value);
        if (status != -ETIMEDOUT || given->until <= weft_now()) /* a limit of 0 milliseconds asks only */
            return wf_js_at_once(context, wf_js_stream_throw(context, stream, status, "read"));
        given->count = 0;
    }
    struct reading *reading = malloc(sizeof *reading);
    if (!reading)
        return JS_ThrowOutOfMemory(context);
    *reading = *given;
    reading->wait = (struct wf_js_wait){.wait = read_wait, .finish = read_finish};
    reading->object = JS_DupValue(context, object);
    stream->is_reading = true;
    return wf_js_perform(context, &reading->wait);
}

static bool take_size(JSContext *context, JSValueConst value, size_t *size) {
    double number;
    if (JS_ToFloat64(context, &number, value))
        return false;
    *size = number >= 0 && number < 9e15 ? (size_t)number : 0;
    return true;
}

/* netRead(stream, size, milliseconds) -> bytes, or null at the end */
static JSValue js_net_read(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct reading reading = {.kind = READ_PIECE};
    (void)self;
    reading.stream = count > 2 ? wf_js_stream_of(context, arguments[0]) : NULL;
    if (!reading.stream || !take_size(context, arguments[1], &reading.size))
        return JS_EXCEPTION;
    return read_begin(context, &reading, arguments[0], arguments[2]);
}

/* netReadFull(stream, size, milliseconds) -> so many bytes, or null at the end */
static JSValue js_net_read_full(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct reading reading = {.kind = READ_FULL};
    (void)self;
    reading.stream = count > 2 ? wf_js_stream_of(context, arguments[0]) : NULL;
    if (!reading.stream || !take_size(context, arguments[1], &reading.size))
        return JS_EXCEPTION;
    return read_begin(context, &reading, arguments[0], arguments[2]);
}

/* What may be asked for is what the buffer holds. */
static bool take_limit(JSContext *context, struct reading *reading, JSValueConst value) {
    if (JS_IsUndefined(value))
        reading->size = reading->stream->buffer_size;
    else if (!take_size(context, value, &reading->size))
        return false;
    if (reading->size > 0 && reading->size <= reading->stream->buffer_size)
        return true;
    JS_ThrowRangeError(context, "The limit is a number of bytes, at most those of the buffer");
    return false;
}

/* netReadLine(stream, limit, milliseconds) -> text without its end, or null at the end */
static JSValue js_net_read_line(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct reading reading = {.kind = READ_LINE, .delimiter = "\n", .delimiter_size = 1};
    (void)self;
    reading.stream = count > 2 ? wf_js_stream_of(context, arguments[0]) : NULL;
    if (!reading.stream || !take_limit(context, &reading, arguments[1]))
        return JS_EXCEPTION;
    return read_begin(context, &reading, arguments[0], arguments[2]);
}

/* netReadUntil(stream, delimiter, limit, milliseconds) -> bytes with the delimiter, or those before the end, or null */
static JSValue js_net_read_until(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct reading reading = {.kind = READ_UNTIL};
    (void)self;
    reading.stream = count > 3 ? wf_js_stream_of(context, arguments[0]) : NULL;
    if (!reading.stream || !take_limit(context, &reading, arguments[2]))
        return JS_EXCEPTION;
    const uint8_t *delimiter = JS_GetUint8Array(context, &reading.delimiter_size, arguments[1]);
    if (!delimiter && JS_HasException(context))
        return JS_EXCEPTION;
    if (!delimiter || reading.delimiter_size == 0 || reading.delimiter_size > DELIMITER_MOST)
        return JS_ThrowRangeError(context, "A delimiter has 1 to 32 bytes");
    memcpy(reading.delimiter, delimiter, reading.delimiter_size);
    return read_begin(context, &reading, arguments[0], arguments[3]);
}

int wf_js_add_streams(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "StreamHandle", .finalizer = stream_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("netClose", 1, js_net_close),          JS_CFUNC_DEF("netIsClosed", 1, js_net_is_closed),
        JS_CFUNC_DEF("netBuffer", 2, js_net_buffer),        JS_CFUNC_DEF("netRead", 3, js_net_read),
        JS_CFUNC_DEF("netReadFull", 3, js_net_read_full),   JS_CFUNC_DEF("netReadLine", 3, js_net_read_line),
        JS_CFUNC_DEF("netReadUntil", 4, js_net_read_until),
    };
    wf_js_new_class(JS_GetRuntime(context), &stream_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
