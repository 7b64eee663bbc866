/* SPDX-License-Identifier: MIT
 *
 * js/http.c - HTTP servers whose handlers are JavaScript's.
 *
 * The fiber of a connection hands its exchange to the loop, and waits for orders: to read a piece of the body, to write one, to
 * end. Meanwhile the exchange belongs to whoever has the turn. Orders are carried out one at a time; for each but the last the
 * loop is told how it went.
 *
 *     HANDED --order--> WORKING --done--> HANDED ...     --last order--> OVER: JavaScript's object is empty from there on
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum order { ORDER_NONE, ORDER_READ, ORDER_WRITE, ORDER_END };

/* FIELDS_MOST: less than what the server has room for. */
enum { READ_SIZE = 64 * 1024, FIELDS_MOST = 3500 };

/* What JavaScript has. When the exchange is over, what can still be asked for is in head: method, target, "1" or "0", and the
 * fields, each with a zero behind it. */
struct handle {
    struct wf_js_exchange *exchange;
    char *head;
    size_t head_size;
};

struct wf_js_exchange {
    struct wf_js_exchange *next, *previous; /* of the instance's, while JavaScript has it */
    struct wf_js_server *server;
    weft_http *http;
    weft_semaphore turn; /* an order is there */
    enum order order;
    struct handle *handle; /* NULL: JavaScript has dropped it */
    JSValue settle[2];     /* of the order's promise */
    bool has_promise;
    int status;   /* of the response, 0: it has begun */
    char *fields; /* name, zero, value, zero, ... */
    size_t fields_size;
    char *bytes; /* to be written, or read */
    size_t size;
    ssize_t result;
    bool is_dropped; /* JavaScript has forgotten it without an answer */
};

static JSClassID exchange_class;

/* ---- On the fiber of the connection ---- */

static void begin_exchange(void *opaque);
static void order_done(void *opaque);

static void put_fields(struct wf_js_exchange *exchange) {
    if (exchange->status == 0)
        return;
    (void)weft_http_status(exchange->http, exchange->status);
    for (char *at = exchange->fields, *end = at + exchange->fields_size; at < end;) {
        char *value = at + strlen(at) + 1;
        (void)weft_http_set(exchange->http, at, value);
        at = value + strlen(value) + 1;
    }
    free(exchange->fields);
    exchange->fields = NULL;
    exchange->fields_size = 0;
    exchange->status = 0;
}

static void obey(struct wf_js_exchange *exchange) {
    switch (exchange->order) {
    case ORDER_READ:
        exchange->result = weft_http_read(exchange->http, exchange->bytes, exchange->size);
        break;
    case ORDER_WRITE:
        put_fields(exchange);
        exchange->result = exchange->size ? weft_http_write(exchange->http, exchange->bytes, exchange->size) : 0;
        if (exchange->result == 0)
            exchange->result = weft_http_flush(exchange->http);
        break;
    default:
        break;
    }
}

/* False: what has begun cannot be ended any more. */
static bool end_exchange(struct wf_js_exchange *exchange) {
    bool is_whole = exchange->status != 0;
    if (exchange->is_dropped) {
        if (is_whole)
            (void)weft_http_fail(exchange->http, 500);
        return is_whole;
    }
    int status = exchange->status;
    put_fields(exchange);
    if (is_whole)
        (void)weft_http_reply(exchange->http, status, NULL, exchange->bytes, exchange->size);
    else if (exchange->size)
        (void)weft_http_write(exchange->http, exchange->bytes, exchange->size);
    return true;
}

void wf_js_on_request(weft_http *http, void *arg) {
    struct wf_js_server *server = arg;
    struct wf_js_exchange exchange = {.server = server, .http = http, .status = 200};
    if (weft_loop_submit(server->js->loop, begin_exchange, &exchange) != 0) {
        (void)weft_http_fail(http, 503);
        return;
    }
    weft_shield(); /* it belongs to somebody else until that one says so */
    for (;;) {
        while (weft_semaphore_acquire(&exchange.turn, 1, WEFT_NEVER) != 0)
            continue;
        if (exchange.order == ORDER_END)
            break;
        weft_unshield();
        obey(&exchange);
        weft_shield();
        if (wf_js_submit(server->js->loop, order_done, &exchange) != 0)
            break;
    }
    weft_unshield();
    bool is_good = end_exchange(&exchange);
    free(exchange.fields);
    free(exchange.bytes);
    if (!is_good)
        weft_panic(
            "a response was left unfinished"); /* the connection ends, so that it does not look like a whole one */
}

/* ---- On the loop ---- */

static JSValue new_exchange(JSContext *context, struct wf_js_exchange *exchange) {
    struct handle *handle = calloc(1, sizeof *handle);
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

/* What it was asked, for those who want to know when it is over. Without memory they learn nothing. */
static void keep_head(struct handle *handle) {
    weft_http *http = handle->exchange->http;
    const char *texts[] = {weft_http_method(http), weft_http_target(http), weft_http_is_1_1(http) ? "1" : "0"};
    const char *name, *value;
    size_t size = 0;
    for (size_t i = 0; i < 3; i++)
        size += strlen(texts[i]) + 1;
    for (size_t i = 0; weft_http_header_at(http, i, &name, &value); i++)
        size += strlen(name) + strlen(value) + 2;
    char *at = handle->head = malloc(size);
    if (!at)
        return;
    handle->head_size = size;
    for (size_t i = 0; i < 3; i++)
        at = stpcpy(at, texts[i]) + 1;
    for (size_t i = 0; weft_http_header_at(http, i, &name, &value); i++)
        at = stpcpy(stpcpy(at, name) + 1, value) + 1;
}

/* No more orders: the connection goes on. */
static void let_go(struct wf_js_exchange *exchange) {
    weft_js *js = exchange->server->js;
    *(exchange->previous ? &exchange->previous->next : &js->exchanges) = exchange->next;
    if (exchange->next)
        exchange->next->previous = exchange->previous;
    if (exchange->handle) {
        keep_head(exchange->handle);
        exchange->handle->exchange = NULL;
    }
    exchange->order = ORDER_END;
    weft_semaphore_release(&exchange->turn, 1);
}

static void begin_exchange(void *opaque) {
    struct wf_js_exchange *exchange = opaque;
    weft_js *js = exchange->server->js;
    exchange->next = js->exchanges;
    if (js->exchanges)
        js->exchanges->previous = exchange;
    js->exchanges = exchange;
    if (!wf_js_enter(js)) {
        exchange->is_dropped = true;
        let_go(exchange);
        return;
    }
    JSValue object = new_exchange(js->context, exchange);
    if (JS_IsException(object)) {
        wf_js_uncaught(js);
        exchange->is_dropped = true;
        let_go(exchange);
    } else {
        wf_js_call(js, exchange->server->handler, 1, &object);
        JS_FreeValue(js->context, object);
    }
    wf_js_leave(js);
}

static void order_done(void *opaque) {
    struct wf_js_exchange *exchange = opaque;
    weft_js *js = exchange->server->js;
    JSContext *context = js->context;
    wf_js_enter_any(js);
    bool has_failed = exchange->result < 0;
    JSValue result = JS_UNDEFINED;
    if (has_failed)
        result = (wf_js_throw_errno(context, (int)exchange->result, "http"), JS_GetException(context));
    else if (exchange->order == ORDER_READ)
        result = exchange->result ? JS_NewUint8ArrayCopy(context, (uint8_t *)exchange->bytes, (size_t)exchange->result)
                                  : JS_NULL;
    exchange->order = ORDER_NONE;
    exchange->size = 0;
    JSValue settle = exchange->settle[has_failed];
    JS_FreeValue(context, exchange->settle[!has_failed]);
    exchange->has_promise = false;
    if (!exchange->handle || js->has_ended) { /* nobody is left who could say what to answer */
        exchange->is_dropped = true;
        let_go(exchange);
    }
    if (!js->has_ended)
        wf_js_call(js, settle, 1, &result);
    JS_FreeValue(context, settle);
    JS_FreeValue(context, result);
    wf_js_leave(js);
}

static void exchange_finalize(JSRuntime *runtime, JSValueConst value) {
    struct handle *handle = JS_GetOpaque(value, exchange_class);
    (void)runtime;
    if (!handle)
        return;
    struct wf_js_exchange *exchange = handle->exchange;
    if (exchange) {
        exchange->handle = NULL;
        if (exchange->order == ORDER_NONE) {
            exchange->is_dropped = true;
            let_go(exchange);
        }
    }
    free(handle->head);
    free(handle);
}

/* NULL with an exception: it is over, or at an order. */
static struct wf_js_exchange *exchange_of(JSContext *context, int count, JSValueConst *arguments) {
    struct handle *handle = count > 0 ? JS_GetOpaque2(context, arguments[0], exchange_class) : NULL;
    if (!handle)
        return NULL;
    if (!handle->exchange)
        JS_ThrowTypeError(context, "The response has ended");
    else if (handle->exchange->order != ORDER_NONE)
        JS_ThrowTypeError(context, "The last read or write has not ended");
    else
        return handle->exchange;
    return NULL;
}

/* ---- The request ---- */

enum { METHOD, TARGET, IS_NEW, SIZE };

/* httpMethod(exchange), httpTarget(exchange), httpIsNew(exchange), httpSize(exchange) */
static JSValue js_http_ask(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int what) {
    struct handle *handle = count > 0 ? JS_GetOpaque2(context, arguments[0], exchange_class) : NULL;
    (void)self;
    if (!handle)
        return JS_EXCEPTION;
    weft_http *http = handle->exchange ? handle->exchange->http : NULL;
    if (what == SIZE)
        return JS_NewInt64(context, http ? weft_http_body_size(http) : 0);
    if (!http && !handle->head)
        return JS_UNDEFINED;
    const char *kept = handle->head;
    for (int i = 0; i < what && !http; i++)
        kept += strlen(kept) + 1;
    if (what == IS_NEW)
        return JS_NewBool(context, http ? weft_http_is_1_1(http) : *kept == '1');
    return JS_NewString(context, !http ? kept : what == METHOD ? weft_http_method(http) : weft_http_target(http));
}

/* httpHeaders(exchange) -> [name, value, ...] */
static JSValue js_http_headers(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct handle *handle = count > 0 ? JS_GetOpaque2(context, arguments[0], exchange_class) : NULL;
    const char *name, *value;
    uint32_t index = 0;
    (void)self;
    if (!handle)
        return JS_EXCEPTION;
    JSValue list = JS_NewArray(context);
    if (handle->exchange) {
        for (size_t i = 0; weft_http_header_at(handle->exchange->http, i, &name, &value); i++) {
            JS_SetPropertyUint32(context, list, index++, JS_NewString(context, name));
            JS_SetPropertyUint32(context, list, index++, JS_NewString(context, value));
        }
        return list;
    }
    const char *at = handle->head, *end = at + handle->head_size;
    for (int i = 0; i < SIZE && at < end; i++)
        at += strlen(at) + 1;
    for (; at < end; at += strlen(at) + 1)
        JS_SetPropertyUint32(context, list, index++, JS_NewString(context, at));
    return list;
}

static JSValue order(JSContext *context, struct wf_js_exchange *exchange, enum order what) {
    JSValue promise = JS_NewPromiseCapability(context, exchange->settle);
    if (JS_IsException(promise))
        return promise;
    exchange->has_promise = true;
    exchange->order = what;
    weft_semaphore_release(&exchange->turn, 1);
    return promise;
}

/* httpRead(exchange) -> promise of bytes, or null at the end */
static JSValue js_http_read(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    if (!exchange)
        return JS_EXCEPTION;
    char *room = realloc(exchange->bytes, READ_SIZE);
    if (!room)
        return JS_ThrowOutOfMemory(context);
    exchange->bytes = room;
    exchange->size = READ_SIZE;
    return order(context, exchange, ORDER_READ);
}

/* ---- The response ---- */

/* Half a list is none. */
static int no_head(struct wf_js_exchange *exchange) {
    exchange->fields_size = 0;
    return -1;
}

/* 0, or -1 with an exception. fields may be undefined. */
static int take_head(JSContext *context, struct wf_js_exchange *exchange, JSValueConst given, JSValueConst fields) {
    int32_t status;
    int64_t length = 0;
    if (JS_ToInt32(context, &status, given) || (!JS_IsUndefined(fields) && JS_GetLength(context, fields, &length)))
        return -1;
    if (exchange->status == 0)
        return JS_ThrowTypeError(context, "The response has begun"), -1;
    if (status < 200 || status > 999)
        return JS_ThrowRangeError(context, "The status has to be 200 to 999"), -1;
    exchange->fields_size = 0;
    for (int64_t i = 0; i < length; i++) {
        JSValue value = JS_GetPropertyUint32(context, fields, (uint32_t)i);
        size_t size;
        const char *text = JS_ToCStringLen(context, &size, value);
        JS_FreeValue(context, value);
        if (!text)
            return no_head(exchange);
        char *longer = strlen(text) == size && exchange->fields_size + size < FIELDS_MOST
                           ? realloc(exchange->fields, exchange->fields_size + size + 1)
                           : NULL;
        if (longer) {
            memcpy(longer + exchange->fields_size, text, size + 1);
            exchange->fields = longer;
            exchange->fields_size += size + 1;
        }
        JS_FreeCString(context, text);
        if (!longer)
            return JS_ThrowTypeError(context, "Header fields that are too long, or have characters that none may have"),
                   no_head(exchange);
    }
    exchange->status = status;
    return length % 2 == 0 ? 0 : no_head(exchange);
}

/* httpHead(exchange, status, [name, value, ...]) */
static JSValue js_http_head(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    return exchange && count > 2 && take_head(context, exchange, arguments[1], arguments[2]) == 0 ? JS_UNDEFINED
                                                                                                  : JS_EXCEPTION;
}

/* A text, bytes, or nothing at all. 0, or -1 with an exception. */
static int take_bytes(JSContext *context, struct wf_js_exchange *exchange, JSValueConst value) {
    size_t size = 0;
    const char *text = NULL;
    const uint8_t *bytes = NULL;
    if (JS_IsString(value)) {
        text = JS_ToCStringLen(context, &size, value);
        bytes = (const uint8_t *)text;
    } else if (!JS_IsUndefined(value) && !JS_IsNull(value)) {
        bytes = JS_GetUint8Array(context, &size, value);
        if (!bytes && size == 0 && JS_HasException(context))
            return -1;
    }
    if (JS_IsString(value) && !text)
        return -1;
    char *copy = size ? realloc(exchange->bytes, size) : exchange->bytes;
    if (size && copy)
        memcpy(copy, bytes, size);
    JS_FreeCString(context, text);
    if (size && !copy) {
        JS_ThrowOutOfMemory(context);
        return -1;
    }
    exchange->bytes = copy;
    exchange->size = size;
    return 0;
}

/* httpWrite(exchange, bytes) -> promise */
static JSValue js_http_write(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    if (!exchange || take_bytes(context, exchange, count > 1 ? arguments[1] : JS_UNDEFINED))
        return JS_EXCEPTION;
    return order(context, exchange, ORDER_WRITE);
}

/* httpEnd(exchange, bytes) */
static JSValue js_http_end(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    if (!exchange || take_bytes(context, exchange, count > 1 ? arguments[1] : JS_UNDEFINED))
        return JS_EXCEPTION;
    let_go(exchange);
    return JS_UNDEFINED;
}

/* httpReply(exchange, status, [name, value, ...], bytes): all in one */
static JSValue js_http_reply(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_exchange *exchange = exchange_of(context, count, arguments);
    (void)self;
    if (!exchange || count < 4 || take_head(context, exchange, arguments[1], arguments[2]) ||
        take_bytes(context, exchange, arguments[3]))
        return JS_EXCEPTION;
    let_go(exchange);
    return JS_UNDEFINED;
}

/* What nobody will answer any more. */
void wf_js_drop_exchanges(weft_js *js) {
    struct wf_js_exchange *exchange = js->exchanges;
    while (exchange) {
        struct wf_js_exchange *next = exchange->next;
        if (exchange->order == ORDER_NONE) { /* else it is told when that is done */
            exchange->is_dropped = true;
            let_go(exchange);
        }
        exchange = next;
    }
}

int wf_js_add_http(JSContext *context, JSValueConst host) {
    static const JSClassDef exchange_definition = {.class_name = "ExchangeHandle", .finalizer = exchange_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_MAGIC_DEF("httpMethod", 1, js_http_ask, METHOD),
        JS_CFUNC_MAGIC_DEF("httpTarget", 1, js_http_ask, TARGET),
        JS_CFUNC_MAGIC_DEF("httpIsNew", 1, js_http_ask, IS_NEW),
        JS_CFUNC_MAGIC_DEF("httpSize", 1, js_http_ask, SIZE),
        JS_CFUNC_DEF("httpHeaders", 1, js_http_headers),
        JS_CFUNC_DEF("httpRead", 1, js_http_read),
        JS_CFUNC_DEF("httpReply", 4, js_http_reply),
        JS_CFUNC_DEF("httpHead", 3, js_http_head),
        JS_CFUNC_DEF("httpWrite", 2, js_http_write),
        JS_CFUNC_DEF("httpEnd", 2, js_http_end),
    };
    wf_js_new_class(JS_GetRuntime(context), &exchange_class, &exchange_definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
