/* SPDX-License-Identifier: MIT
 *
 * js/http.c - HTTP exchanges whose handlers are JavaScript's: the connection's fiber and the loop, and orders between them.
 *
 * The fiber of a connection hands its exchange to the loop, and waits for orders of whoever has the turn: to write a piece of the
 * response, or the last one, to read one of the body, to watch whether the client goes away, to end. Orders are bits of wants, each with a place
 * of its own in the exchange, which is the fiber's from the moment when the bit is set until it is cleared; then the loop is told
 * how it went, and calls back. Writing comes before reading: a read or a watch that waits is put off for it.
 *
 *     JavaScript sets a bit --> the fiber obeys, clears it --> order_done on the loop calls back
 *
 * The exchange is on the fiber's stack. So the last order, END, is given when no other one is on its way; one that waits is ended
 * first, by STOP. From END on, JavaScript's object has a copy of the head only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

enum { WANT_WRITE = 1, WANT_LAST = 2, WANT_TAKE = 4, WANT_READ = 8, WANT_WATCH = 16, WANT_STOP = 32, WANT_END = 64 };

/* READ_SIZE: as much as the server's buffer ever has of a body. */
enum { READ_SIZE = 20 * 1024 };

static JSClassID exchange_class;

static void begin_exchange(void *opaque);
static void order_done(void *opaque);

/* ---- On the fiber of the connection ---- */

static void put_fields(struct wf_js_exchange *exchange) {
    weft_http *http = exchange->http;
    if (exchange->status == 0)
        return;
    exchange->is_bare =
        exchange->status == 204 || exchange->status == 304 || strcmp(weft_http_method(http), "HEAD") == 0;
    (void)weft_http_status(http, exchange->status);
    if (exchange->reason)
        (void)weft_http_reason(http, exchange->reason);
    if (exchange->closes)
        (void)weft_http_close(http);
    for (char *at = exchange->fields, *end = at + exchange->fields_size; at < end;) {
        char *value = at + strlen(at) + 1;
        (void)weft_http_set(http, at, value);
        at = value + strlen(value) + 1;
    }
    exchange->fields_size = 0;
    exchange->status = 0;
}

static ssize_t obey_write(struct wf_js_exchange *exchange) {
    const struct wf_js_order *order = &exchange->writing;
    put_fields(exchange);
    int error = order->size ? weft_http_write(exchange->http, order->bytes, order->size) : 0;
    if (!error)
        error = weft_http_flush(exchange->http);
    return error == -EPIPE && exchange->is_bare ? 0 : error;
}

/* What is written last, and all that belongs to it. */
static void send_last(struct wf_js_exchange *exchange) {
    weft_http *http = exchange->http;
    const struct wf_js_order *order = &exchange->writing;
    if (exchange->status != 0 && exchange->is_whole) {
        int status = exchange->status;
        put_fields(exchange);
        (void)weft_http_reply(http, status, NULL, order->bytes, order->size);
        return;
    }
    put_fields(exchange);
    (void)weft_http_write(http, order->bytes ? order->bytes : "", order->size);
    for (char *at = exchange->fields, *end = at + exchange->fields_size; at < end;) {
        char *value = at + strlen(at) + 1;
        (void)weft_http_set_trailer(http, at, value);
        at = value + strlen(value) + 1;
    }
}

static ssize_t obey_last(struct wf_js_exchange *exchange) {
    send_last(exchange);
    exchange->is_finished = true;
    return weft_http_finish(exchange->http);
}

static ssize_t obey_take(struct wf_js_exchange *exchange) {
    const void *early;
    struct wf_js_order *order = &exchange->writing;
    int error = weft_http_upgrade(exchange->http, NULL, &exchange->taken, &early, &order->size);
    if (error || order->size == 0)
        return error;
    order->bytes = realloc(order->bytes, order->size);
    if (!order->bytes) {
        weft_close(exchange->taken);
        return -ENOMEM;
    }
    memcpy(order->bytes, early, order->size);
    return 0;
}

/* False: nobody is left who could be told. */
static bool order_tell(struct wf_js_exchange *exchange, struct wf_js_order *order, unsigned want, ssize_t result) {
    order->result = result;
    atomic_fetch_and(&exchange->wants, ~want);
    if (wf_js_submit(exchange->server->js->loop, order_done, order) == 0)
        return true;
    exchange->is_dropped = true;
    return false;
}

/* What waits, and would go on waiting. */
static bool obey_stop(struct wf_js_exchange *exchange, unsigned wants) {
    atomic_fetch_and(&exchange->wants, ~(unsigned)WANT_STOP);
    return (!(wants & WANT_READ) || order_tell(exchange, &exchange->reading, WANT_READ, -EINTR)) &&
           (!(wants & WANT_WATCH) || order_tell(exchange, &exchange->watching, WANT_WATCH, -EINTR));
}

/* One order, or none: then it waits for one. False: it was the last. */
static bool obey(struct wf_js_exchange *exchange) {
    unsigned wants = atomic_load(&exchange->wants);
    weft_case next = weft_on_semaphore(&exchange->turn);
    ssize_t result;
    if (wants & WANT_WRITE)
        return order_tell(exchange, &exchange->writing, WANT_WRITE, obey_write(exchange));
    if (wants & WANT_LAST)
        return order_tell(exchange, &exchange->writing, WANT_LAST, obey_last(exchange));
    if (wants & WANT_TAKE)
        return order_tell(exchange, &exchange->writing, WANT_TAKE, obey_take(exchange));
    if (wants & WANT_STOP)
        return obey_stop(exchange, wants);
    if (wants & WANT_END)
        return false;
    if (wants & WANT_READ) {
        result = weft_http_read_or(exchange->http, exchange->reading.bytes, exchange->reading.size, &next);
        return result == -EINTR || order_tell(exchange, &exchange->reading, WANT_READ, result);
    }
    if (wants & WANT_WATCH) {
        result = weft_http_await_end(exchange->http, &next);
        return result == -EINTR || order_tell(exchange, &exchange->watching, WANT_WATCH, result);
    }
    weft_shield(); /* it belongs to somebody else until that one says so */
    while (weft_semaphore_acquire(&exchange->turn, 1, WEFT_NEVER) != 0)
        continue;
    weft_unshield();
    return true;
}

static void end_exchange(struct wf_js_exchange *exchange) {
    if (exchange->is_cut || exchange->is_finished)
        return;
    if (!exchange->is_dropped)
        send_last(exchange);
    else if (exchange->status != 0)
        (void)weft_http_fail(exchange->http, 500);
    else
        weft_http_cut(exchange->http); /* it must not look like a whole one */
}

void wf_js_on_request(weft_http *http, void *arg) {
    const struct wf_js_route *route = arg;
    struct wf_js_server *server = route->server;
    struct wf_js_exchange exchange = {.server = server, .http = http, .status = 200, .route = route->number};
    exchange.reading.exchange = exchange.writing.exchange = exchange.watching.exchange = &exchange;
    if (weft_loop_submit(server->js->loop, begin_exchange, &exchange) != 0) {
        (void)weft_http_fail(http, 503);
        return;
    }
    while (obey(&exchange))
        continue;
    end_exchange(&exchange);
    free(exchange.reason);
    free(exchange.fields);
    free(exchange.reading.bytes);
    free(exchange.writing.bytes);
}

/* ---- On the loop ---- */

static JSValue new_exchange(JSContext *context, struct wf_js_exchange *exchange) {
    struct wf_js_handle *handle = calloc(1, sizeof *handle);
    if (!handle)
        return JS_ThrowOutOfMemory(context);
    JSValue object = JS_NewObjectClass(context, (int)exchange_class);
    if (JS_IsException(object)) {
        free(handle);
        return object;
    }
    handle->exchange = exchange;
    exchange->handle = handle;
    JS_SetOpaque(object, handle);
    return object;
}

/* No more orders: the connection goes on. */
static void let_go(struct wf_js_exchange *exchange) {
    weft_js *js = exchange->server->js;
    *(exchange->previous ? &exchange->previous->next : &js->exchanges) = exchange->next;
    if (exchange->next)
        exchange->next->previous = exchange->previous;
    if (exchange->handle) {
        wf_js_keep_head(exchange->handle);
        exchange->handle->exchange = NULL;
    }
    atomic_fetch_or(&exchange->wants, WANT_END);
    weft_semaphore_release(&exchange->turn, 1);
}

/* The end comes when nothing else is on its way; what waits is ended for it. */
static void finish_exchange(struct wf_js_exchange *exchange) {
    bool waits = exchange->reading.is_given || exchange->watching.is_given;
    if (!waits && !exchange->writing.is_given) {
        let_go(exchange);
    } else if (!exchange->is_ending) {
        exchange->is_ending = true;
        if (waits) {
            atomic_fetch_or(&exchange->wants, WANT_STOP);
            weft_semaphore_release(&exchange->turn, 1);
        }
    }
}

static void drop_exchange(struct wf_js_exchange *exchange) {
    if (exchange->is_ending)
        return;
    exchange->is_dropped = true;
    finish_exchange(exchange);
}

static void begin_exchange(void *opaque) {
    struct wf_js_exchange *exchange = opaque;
    weft_js *js = exchange->server->js;
    exchange->next = js->exchanges;
    if (js->exchanges)
        js->exchanges->previous = exchange;
    js->exchanges = exchange;
    if (!wf_js_enter(js)) {
        drop_exchange(exchange);
        return;
    }
    JSValue object = new_exchange(js->context, exchange);
    if (JS_IsException(object)) {
        wf_js_uncaught(js);
        drop_exchange(exchange);
    } else {
        JSValue given[] = {object, JS_NewInt32(js->context, exchange->route)};
        wf_js_call(js, exchange->server->handler, 2, given);
        JS_FreeValue(js->context, object);
    }
    wf_js_leave(js);
}

/* What a callback is told besides an error. */
static JSValue outcome_of(JSContext *context, struct wf_js_exchange *exchange, struct wf_js_order *order) {
    if (order == &exchange->reading && order->result > 0) {
        char *bytes = order->bytes;
        order->bytes = NULL;
        char *fitted = realloc(bytes, (size_t)order->result);
        return wf_js_give_bytes(context, fitted ? fitted : bytes, (size_t)order->result);
    }
    if (order != &exchange->writing || exchange->taken.bits == 0)
        return JS_NULL;
    JSValue pair = JS_NewArray(context), stream = wf_js_stream_new(context, exchange->taken);
    exchange->taken = WEFT_NO_FD;
    JS_SetPropertyUint32(context, pair, 0, stream);
    JS_SetPropertyUint32(context, pair, 1,
                         JS_NewUint8ArrayCopy(context, (const uint8_t *)order->bytes, order->bytes ? order->size : 0));
    return pair;
}

static void order_done(void *opaque) {
    struct wf_js_order *order = opaque;
    struct wf_js_exchange *exchange = order->exchange;
    weft_js *js = exchange->server->js;
    JSContext *context = js->context;
    wf_js_enter_any(js);
    JSValue callback = order->callback, surroundings = order->surroundings, told[2] = {JS_NULL, JS_NULL};
    bool is_stopped = order->result == -EINTR;
    if (order->result < 0)
        told[0] = (wf_js_throw_errno(context, (int)order->result, "http"), JS_GetException(context));
    else
        told[1] = outcome_of(context, exchange, order);
    order->is_given = false;
    order->size = 0;
    if (exchange->is_ending) {
        exchange->is_ending = false;
        finish_exchange(exchange);
    } else if (!exchange->handle || js->has_ended) { /* nobody is left who could say what to answer */
        drop_exchange(exchange);
    }
    if (!js->has_ended && !is_stopped)
        wf_js_call_in(js, surroundings, callback, 2, told);
    else
        JS_FreeValue(context, surroundings);
    JS_FreeValue(context, callback);
    JS_FreeValue(context, told[0]);
    JS_FreeValue(context, told[1]);
    wf_js_leave(js);
}

static void exchange_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_handle *handle = JS_GetOpaque(value, exchange_class);
    (void)runtime;
    if (!handle)
        return;
    struct wf_js_exchange *exchange = handle->exchange;
    if (exchange) {
        exchange->handle = NULL;
        if (!exchange->reading.is_given && !exchange->writing.is_given && !exchange->watching.is_given)
            drop_exchange(exchange);
    }
    free(handle->head);
    free(handle);
}

/* What nobody will answer any more. */
void wf_js_drop_exchanges(weft_js *js) {
    for (struct wf_js_exchange *exchange = js->exchanges, *next; exchange; exchange = next) {
        next = exchange->next;
        drop_exchange(exchange);
    }
}

void wf_js_cut_exchanges(struct wf_js_server *server) {
    for (struct wf_js_exchange *exchange = server->js->exchanges, *next; exchange; exchange = next) {
        next = exchange->next;
        bool waits = exchange->reading.is_given || exchange->writing.is_given || exchange->watching.is_given;
        if (exchange->server != server || waits)
            continue;
        exchange->is_cut = true;
        finish_exchange(exchange);
    }
}

struct wf_js_handle *wf_js_handle_of(JSContext *context, int count, JSValueConst *arguments) {
    return count > 0 ? JS_GetOpaque2(context, arguments[0], exchange_class) : NULL;
}

/* ---- Orders ---- */

/* NULL with an exception: it is over. */
static struct wf_js_exchange *exchange_of(JSContext *context, int count, JSValueConst *arguments) {
    struct wf_js_handle *handle = wf_js_handle_of(context, count, arguments);
    if (handle && (!handle->exchange || handle->exchange->is_ending))
        wf_js_throw_coded(context, "ERR_CLOSED", "The exchange is over");
    else if (handle)
        return handle->exchange;
    return NULL;
}

static JSValue give_order(JSContext *context, struct wf_js_order *order, unsigned want, JSValueConst callback) {
    if (order->is_given)
        return JS_ThrowTypeError(context, "The last one has not ended");
    if (!JS_IsFunction(context, callback))
        return JS_ThrowTypeError(context, "a callback is needed");
    order->callback = JS_DupValue(context, callback);
    order->surroundings = wf_engine_surroundings(context);
    order->is_given = true;
    atomic_fetch_or(&order->exchange->wants, want);
    weft_semaphore_release(&order->exchange->turn, 1);
    return JS_UNDEFINED;
}

/* httpRead(exchange, callback): callback(error, bytes or null at the end) */
static JSValue js_http_read(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    if (!exchange || count < 2)
        return JS_EXCEPTION;
    if (!exchange->reading.is_given && !exchange->reading.bytes)
        exchange->reading.bytes = malloc(READ_SIZE);
    if (!exchange->reading.bytes)
        return JS_ThrowOutOfMemory(context);
    exchange->reading.size = READ_SIZE;
    return give_order(context, &exchange->reading, WANT_READ, arguments[1]);
}

/* httpWatch(exchange, callback): callback(error) when the client has gone, and not if it has not */
static JSValue js_http_watch(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    return exchange && count > 1 ? give_order(context, &exchange->watching, WANT_WATCH, arguments[1]) : JS_EXCEPTION;
}

/* A text, bytes, or nothing at all. 0, or -1 with an exception. */
static int take_bytes(JSContext *context, struct wf_js_order *order, JSValueConst value) {
    size_t size = 0;
    const char *text = NULL;
    const uint8_t *bytes = NULL;
    if (JS_IsString(value)) {
        text = JS_ToCStringLen(context, &size, value);
        bytes = (const uint8_t *)text;
    } else if (!JS_IsUndefined(value) && !JS_IsNull(value)) {
        bytes = JS_GetUint8Array(context, &size, value);
    }
    if (!bytes && JS_HasException(context))
        return -1;
    char *copy = size ? realloc(order->bytes, size) : order->bytes;
    if (size && copy)
        memcpy(copy, bytes, size);
    JS_FreeCString(context, text);
    if (size && !copy) {
        JS_ThrowOutOfMemory(context);
        return -1;
    }
    order->bytes = copy;
    order->size = size;
    return 0;
}

/* httpWrite(exchange, bytes, callback): callback(error) when they have gone */
static JSValue js_http_write(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    if (!exchange || count < 3)
        return JS_EXCEPTION;
    if (exchange->writing.is_given)
        return JS_ThrowTypeError(context, "The last write has not ended");
    if (take_bytes(context, &exchange->writing, arguments[1]))
        return JS_EXCEPTION;
    return give_order(context, &exchange->writing, WANT_WRITE, arguments[2]);
}

/* httpTake(exchange, callback): the connection itself: callback(error, [stream, bytes that have come already]). It does not end the
 * exchange. */
static JSValue js_http_take(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    return exchange && count > 1 ? give_order(context, &exchange->writing, WANT_TAKE, arguments[1]) : JS_EXCEPTION;
}

/* httpHead(exchange, status, [name, value, ...], reason, closes): what goes before the first piece */
static JSValue js_http_head(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    return exchange && wf_js_take_head(context, exchange, count, arguments) == 0 ? JS_UNDEFINED : JS_EXCEPTION;
}

/* The end, or, for one who reads on and gives a callback, an order like others. */
static JSValue end_or_order(JSContext *context, struct wf_js_exchange *exchange, JSValueConst callback) {
    if (!JS_IsUndefined(callback))
        return give_order(context, &exchange->writing, WANT_LAST, callback);
    finish_exchange(exchange);
    return JS_UNDEFINED;
}

/* httpReply(exchange, status, [name, value, ...], reason, closes, bytes, callback): all in one, which has a length. With a callback
 * the exchange goes on, for reading, until httpEnd(exchange). */
static JSValue js_http_reply(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    if (!exchange || count < 6 || wf_js_take_head(context, exchange, count, arguments) ||
        take_bytes(context, &exchange->writing, arguments[5]))
        return JS_EXCEPTION;
    exchange->is_whole = true;
    return end_or_order(context, exchange, count > 6 ? arguments[6] : JS_UNDEFINED);
}

/* httpEnd(exchange, bytes, [name, value, ...], callback): the last piece, and trailers; the callback as above */
static JSValue js_http_end(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    if (!exchange)
        return JS_EXCEPTION;
    bool has_trailers = count > 2 && !JS_IsUndefined(arguments[2]);
    if (exchange->writing.is_given)
        return JS_ThrowTypeError(context, "The last write has not ended");
    if ((has_trailers && wf_js_take_trailers(context, exchange, arguments[2])) ||
        take_bytes(context, &exchange->writing, count > 1 ? arguments[1] : JS_UNDEFINED))
        return JS_EXCEPTION;
    return end_or_order(context, exchange, count > 3 ? arguments[3] : JS_UNDEFINED);
}

/* httpCut(exchange): whether there was something to cut off */
static JSValue js_http_cut(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_handle *handle = wf_js_handle_of(context, count, arguments);
    (void)self;
    if (!handle)
        return JS_EXCEPTION;
    if (!handle->exchange)
        return JS_FALSE;
    handle->exchange->is_cut = true;
    weft_http_cut(handle->exchange->http); /* whatever it is at ends */
    finish_exchange(handle->exchange);
    return JS_TRUE;
}

int wf_js_add_http(JSContext *context, JSValueConst host) {
    static const JSClassDef exchange_definition = {.class_name = "ExchangeHandle", .finalizer = exchange_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("httpRead", 2, js_http_read),   JS_CFUNC_DEF("httpWatch", 2, js_http_watch),
        JS_CFUNC_DEF("httpWrite", 3, js_http_write), JS_CFUNC_DEF("httpTake", 2, js_http_take),
        JS_CFUNC_DEF("httpHead", 5, js_http_head),   JS_CFUNC_DEF("httpReply", 6, js_http_reply),
        JS_CFUNC_DEF("httpEnd", 3, js_http_end),     JS_CFUNC_DEF("httpCut", 1, js_http_cut),
    };
    wf_js_new_class(JS_GetRuntime(context), &exchange_class, &exchange_definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
