/* SPDX-License-Identifier: MIT
 *
 * js/fetch.c - exchanges with weft's HTTP client, for fetch and for node:http. Redirects, abort and all that a script sees are
 * JavaScript's business.
 *
 * Every call is a wait. An exchange is used by one of them at a time; it goes with the last of its users: JavaScript's handle, or
 * the call that runs. So does a client with the last of its exchanges.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange.h"

enum { PIECE = 64 * 1024 };

struct wf_js_client {
    weft_http_client *http;
    int references; /* with the turn */
};

/* A response, or one that is on its way: counted by JavaScript's handle and by the call that uses it. */
struct answer {
    struct wf_js_client *client;
    weft_http_response *response;
    int references; /* with the turn */
    bool is_used;
};

struct fetching {
    struct wf_js_wait wait;
    struct answer *answer;
    char *method, *url, *upgrade, *bytes;
    size_t size;
    weft_http_field *fields;
    size_t field_count;
    weft_http_request request;
    ssize_t piece_size;
};

static JSClassID client_class;
static JSClassID answer_class;

/* ---- Clients ---- */

void wf_js_client_unref(struct wf_js_client *client) {
    if (!client || --client->references > 0)
        return;
    weft_http_client_free(client->http);
    free(client);
}

static void client_finalize(JSRuntime *runtime, JSValueConst value) {
    (void)runtime;
    wf_js_client_unref(JS_GetOpaque(value, client_class));
}

static struct wf_js_client *client_new(JSContext *context, const weft_http_client_options *options) {
    struct wf_js_client *client = calloc(1, sizeof *client);
    int error = client ? weft_http_client_new(&client->http, options) : -ENOMEM;
    if (error) {
        free(client);
        wf_js_throw_errno(context, error, "http");
        return NULL;
    }
    client->references = 1;
    return client;
}

/* [connections for an origin, in all, idle, connect, head, body (milliseconds), keeps packed]; 0: the default */
enum { PER_HOST, IN_ALL, IDLE, CONNECT, HEAD, BODY, KEEPS_PACKED, NUMBERS };

/* clientNew(numbers) */
static JSValue js_client_new(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int64_t numbers[NUMBERS];
    (void)self;
    for (uint32_t i = 0; i < NUMBERS; i++) {
        JSValue value = count > 0 ? JS_GetPropertyUint32(context, arguments[0], i) : JS_EXCEPTION;
        int failed = JS_ToInt64(context, &numbers[i], value);
        JS_FreeValue(context, value);
        if (failed)
            return JS_EXCEPTION;
    }
    weft_http_client_options options = {
        .max_per_host = (uint32_t)numbers[PER_HOST],
        .max_connections = (uint32_t)numbers[IN_ALL],
        .idle_timeout = numbers[IDLE] * WEFT_MILLISECOND,
        .connect_timeout = numbers[CONNECT] * WEFT_MILLISECOND,
        .head_timeout = numbers[HEAD] * WEFT_MILLISECOND,
        .body_timeout = numbers[BODY] * WEFT_MILLISECOND,
        .max_redirects = -1,
        .keeps_packed = numbers[KEEPS_PACKED] != 0,
    };
    struct wf_js_client *client = client_new(context, &options);
    JSValue object = client ? JS_NewObjectClass(context, (int)client_class) : JS_EXCEPTION;
    if (JS_IsException(object))
        wf_js_client_unref(client);
    else
        JS_SetOpaque(object, client);
    return object;
}

/* clientCloseIdle(client): how many connections were closed */
static JSValue js_client_close_idle(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_client *client = count > 0 ? JS_GetOpaque2(context, arguments[0], client_class) : NULL;
    (void)self;
    return client ? JS_NewInt32(context, weft_http_client_close_idle(client->http)) : JS_EXCEPTION;
}

/* ---- Exchanges ---- */

static void answer_unref(struct answer *answer) {
    if (--answer->references > 0)
        return;
    if (answer->response)
        weft_http_response_close(answer->response);
    wf_js_client_unref(answer->client);
    free(answer);
}

static void answer_finalize(JSRuntime *runtime, JSValueConst value) {
    struct answer *answer = JS_GetOpaque(value, answer_class);
    (void)runtime;
    if (answer)
        answer_unref(answer);
}

static void fetching_free(struct fetching *fetching) {
    for (size_t i = 0; i < fetching->field_count; i++) {
        free((char *)fetching->fields[i].name);
        free((char *)fetching->fields[i].value);
    }
    free(fetching->fields);
    free(fetching->method);
    free(fetching->url);
    free(fetching->upgrade);
    free(fetching->bytes);
}

/* The call is over, well or badly. */
static void fetching_end(struct fetching *fetching) {
    fetching->answer->is_used = false;
    answer_unref(fetching->answer);
    fetching_free(fetching);
}

/* A wait on an exchange that nobody else uses. NULL: an exception. */
static struct fetching *fetching_new(JSContext *context, struct answer *answer, int (*wait)(struct wf_js_wait *wait),
                                     JSValue (*finish)(JSContext *context, struct wf_js_wait *wait)) {
    if (!answer->response || answer->is_used) {
        wf_js_throw_coded(context, "ERR_CLOSED", "The exchange is over, or at something else");
        return NULL;
    }
    struct fetching *fetching = calloc(1, sizeof *fetching);
    if (!fetching) {
        JS_ThrowOutOfMemory(context);
        return NULL;
    }
    answer->references++;
    answer->is_used = true;
    fetching->answer = answer;
    fetching->wait = (struct wf_js_wait){.wait = wait, .finish = finish};
    return fetching;
}

static struct answer *answer_of(JSContext *context, int count, JSValueConst *arguments) {
    struct answer *answer = count > 0 ? JS_GetOpaque(arguments[0], answer_class) : NULL;
    if (!answer)
        wf_js_throw_coded(context, "ERR_CLOSED", "The exchange is over");
    return answer;
}

/* ---- The request ---- */

static int open_wait(struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    struct answer *answer = fetching->answer;
    return weft_http_request_open(answer->client->http, fetching->method, fetching->url, &fetching->request,
                                  &answer->response, WEFT_NEVER);
}

static JSValue list_of(JSContext *context, weft_http_response *response,
                       bool (*at)(const weft_http_response *, size_t, const char **, const char **)) {
    const char *name, *value;
    JSValue list = JS_NewArray(context);
    for (uint32_t i = 0; at(response, i, &name, &value); i++) {
        JS_SetPropertyUint32(context, list, 2 * i, wf_js_new_latin1(context, name));
        JS_SetPropertyUint32(context, list, 2 * i + 1, wf_js_new_latin1(context, value));
    }
    return list;
}

/* [status, [name, value, ...], handle, reason, whether there is no body]; of an answer that has not come the handle alone */
static JSValue head_of(JSContext *context, weft_http_response *response, JSValue handle) {
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, weft_http_response_status(response)));
    JS_SetPropertyUint32(context, list, 1, list_of(context, response, weft_http_response_header_at));
    JS_SetPropertyUint32(context, list, 2, handle);
    JS_SetPropertyUint32(context, list, 3, wf_js_new_latin1(context, weft_http_response_reason(response)));
    JS_SetPropertyUint32(context, list, 4, JS_NewBool(context, weft_http_response_size(response) == 0));
    return list;
}

static JSValue open_finish(JSContext *context, struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    struct answer *answer = fetching->answer;
    JSValue handle =
        wait->status ? wf_js_throw_errno(context, wait->status, "http") : JS_NewObjectClass(context, (int)answer_class);
    bool is_written = fetching->request.is_written;
    fetching_free(fetching);
    answer->is_used = false;
    if (JS_IsException(handle)) {
        answer_unref(answer);
        return handle;
    }
    JS_SetOpaque(handle, answer); /* which has the call's reference now */
    return is_written ? handle : head_of(context, answer->response, handle);
}

static char *copy_at(JSContext *context, JSValueConst list, uint32_t index) {
    JSValue value = JS_GetPropertyUint32(context, list, index);
    char *copy = wf_js_copy_latin1(context, value);
    JS_FreeValue(context, value);
    return copy;
}

static bool take_fields(JSContext *context, struct fetching *fetching, JSValueConst list) {
    int64_t count;
    if (JS_GetLength(context, list, &count))
        return false;
    fetching->fields = calloc((size_t)count / 2 + 1, sizeof *fetching->fields);
    if (!fetching->fields) {
        JS_ThrowOutOfMemory(context);
        return false;
    }
    for (uint32_t i = 0; i + 1 < (uint32_t)count; i += 2) {
        weft_http_field *field = &fetching->fields[fetching->field_count++];
        field->name = copy_at(context, list, i);
        field->value = copy_at(context, list, i + 1);
        if (!field->name || !field->value)
            return false;
    }
    return true;
}

enum { BODY_NONE, BODY_BYTES, BODY_WRITTEN };
enum { CLIENT, METHOD, URL, FIELDS, KIND, CONTENT, LENGTH, CLOSES, EXPECTS, UPGRADE, ARGUMENTS };

static bool take_request(JSContext *context, struct fetching *fetching, JSValueConst *arguments) {
    weft_http_request *request = &fetching->request;
    int32_t kind;
    int64_t length;
    fetching->method = wf_js_copy_text(context, arguments[METHOD]);
    fetching->url = fetching->method ? wf_js_copy_text(context, arguments[URL]) : NULL;
    if (!fetching->url || !take_fields(context, fetching, arguments[FIELDS]) ||
        JS_ToInt32(context, &kind, arguments[KIND]) || JS_ToInt64(context, &length, arguments[LENGTH]))
        return false;
    if (kind == BODY_BYTES && !wf_js_copy_bytes(context, arguments[CONTENT], &fetching->bytes, &fetching->size))
        return false;
    if (!JS_IsUndefined(arguments[UPGRADE]) && !(fetching->upgrade = wf_js_copy_text(context, arguments[UPGRADE])))
        return false;
    *request = (weft_http_request){
        .headers = fetching->fields,
        .header_count = fetching->field_count,
        .body = fetching->bytes,
        .body_size = fetching->size,
        .is_written = kind == BODY_WRITTEN,
        .length = kind == BODY_WRITTEN && length > 0 ? (uint64_t)length : 0,
        .closes = JS_ToBool(context, arguments[CLOSES]),
        .expects = JS_ToBool(context, arguments[EXPECTS]),
        .unpacks = JS_IsUndefined(arguments[CLIENT]), /* fetch's */
        .upgrade = fetching->upgrade,
    };
    return true;
}

static struct wf_js_client *client_of(JSContext *context, JSValueConst value) {
    weft_js *js = wf_js_of(context);
    if (!JS_IsUndefined(value))
        return JS_GetOpaque2(context, value, client_class);
    if (!js->client) {
        weft_http_client_options options = {
            .max_redirects = -1, .head_timeout = 300 * WEFT_SECOND, .body_timeout = 300 * WEFT_SECOND};
        js->client = client_new(context, &options);
    }
    return js->client;
}

/* fetchOpen(client or undefined, method, url, [name, value, ...], kind of body, bytes, length, closes, expects, protocol to change to
 * or undefined) -> the head, or, when the body is written, the handle */
static JSValue js_fetch_open(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    struct wf_js_client *client = count >= ARGUMENTS ? client_of(context, arguments[CLIENT]) : NULL;
    if (!client)
        return JS_HasException(context) ? JS_EXCEPTION : JS_ThrowTypeError(context, "ten arguments");
    struct fetching *fetching = calloc(1, sizeof *fetching);
    struct answer *answer = calloc(1, sizeof *answer);
    if (!fetching || !answer || !take_request(context, fetching, arguments)) {
        if (fetching)
            fetching_free(fetching);
        free(fetching);
        free(answer);
        return JS_HasException(context) ? JS_EXCEPTION : JS_ThrowOutOfMemory(context);
    }
    client->references++;
    *answer = (struct answer){.client = client, .references = 1, .is_used = true};
    fetching->answer = answer;
    fetching->wait.wait = open_wait;
    fetching->wait.finish = open_finish;
    return wf_js_perform(context, &fetching->wait);
}

static int write_wait(struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    return weft_http_request_write(fetching->answer->response, fetching->bytes, fetching->size, WEFT_NEVER);
}

/* false: the server has answered, and wants no more */
static JSValue write_finish(JSContext *context, struct wf_js_wait *wait) {
    int status = wait->status;
    fetching_end((struct fetching *)wait);
    return status && status != -EPIPE ? wf_js_throw_errno(context, status, "http") : JS_NewBool(context, !status);
}

/* fetchWrite(handle, bytes) -> whether more is wanted */
static JSValue js_fetch_write(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct answer *answer = answer_of(context, count, arguments);
    (void)self;
    struct fetching *fetching = answer && count > 1 ? fetching_new(context, answer, write_wait, write_finish) : NULL;
    if (!fetching)
        return JS_EXCEPTION;
    if (wf_js_copy_bytes(context, arguments[1], &fetching->bytes, &fetching->size))
        return wf_js_perform(context, &fetching->wait);
    fetching_end(fetching);
    free(fetching);
    return JS_EXCEPTION;
}

static int end_wait(struct wf_js_wait *wait) {
    return weft_http_request_end(((struct fetching *)wait)->answer->response, WEFT_NEVER);
}

static JSValue end_finish(JSContext *context, struct wf_js_wait *wait) {
    struct answer *answer = ((struct fetching *)wait)->answer;
    JSValue result = wait->status ? wf_js_throw_errno(context, wait->status, "http")
                                  : head_of(context, answer->response, JS_UNDEFINED);
    fetching_end((struct fetching *)wait);
    return result;
}

/* fetchEnd(handle) -> the head, without a handle */
static JSValue js_fetch_end(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct answer *answer = answer_of(context, count, arguments);
    (void)self;
    struct fetching *fetching = answer ? fetching_new(context, answer, end_wait, end_finish) : NULL;
    return fetching ? wf_js_perform(context, &fetching->wait) : JS_EXCEPTION;
}

/* ---- The answer's body ---- */

static int read_wait(struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    fetching->piece_size = weft_http_response_read(fetching->answer->response, fetching->bytes, PIECE, WEFT_NEVER);
    return fetching->piece_size < 0 ? (int)fetching->piece_size : 0;
}

static JSValue read_finish(JSContext *context, struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    JSValue result = JS_NULL;
    if (wait->status) {
        result = wf_js_throw_errno(context, wait->status, "http");
    } else if (fetching->piece_size > 0) {
        char *fitted = realloc(fetching->bytes, (size_t)fetching->piece_size);
        result = wf_js_give_bytes(context, fitted ? fitted : fetching->bytes, (size_t)fetching->piece_size);
        fetching->bytes = NULL;
    }
    fetching_end(fetching);
    return result;
}

/* fetchRead(handle) -> bytes, or null at the end */
static JSValue js_fetch_read(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct answer *answer = answer_of(context, count, arguments);
    (void)self;
    struct fetching *fetching = answer ? fetching_new(context, answer, read_wait, read_finish) : NULL;
    if (!fetching)
        return JS_EXCEPTION;
    fetching->bytes = malloc(PIECE);
    if (fetching->bytes)
        return wf_js_perform(context, &fetching->wait);
    fetching_end(fetching);
    free(fetching);
    return JS_ThrowOutOfMemory(context);
}

/* fetchTrailers(handle) -> [name, value, ...], once the body has been read */
static JSValue js_fetch_trailers(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct answer *answer = answer_of(context, count, arguments);
    (void)self;
    return answer && answer->response ? list_of(context, answer->response, weft_http_response_trailer_at)
                                      : JS_EXCEPTION;
}

/* fetchTake(handle) -> [stream, bytes that have come already]: the connection itself, after a status of 101 */
static JSValue js_fetch_take(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct answer *answer = answer_of(context, count, arguments);
    const void *extra;
    size_t size;
    weft_fd fd;
    (void)self;
    if (!answer)
        return JS_EXCEPTION;
    int error = answer->response ? weft_http_response_take(answer->response, &fd, &extra, &size) : -EINVAL;
    if (error)
        return wf_js_throw_errno(context, error, "http");
    JSValue pair = JS_NewArray(context), stream = wf_js_stream_new(context, fd);
    JS_SetPropertyUint32(context, pair, 0, stream);
    JS_SetPropertyUint32(context, pair, 1, JS_NewUint8ArrayCopy(context, extra, size));
    return pair;
}

/* fetchClose(handle): a call that is on its way ends first */
static JSValue js_fetch_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct answer *answer = count > 0 ? JS_GetOpaque(arguments[0], answer_class) : NULL;
    (void)self, (void)context;
    if (answer) {
        JS_SetOpaque(arguments[0], NULL);
        answer_unref(answer);
    }
    return JS_UNDEFINED;
}

int wf_js_add_fetch(JSContext *context, JSValueConst host) {
    static const JSClassDef clients = {.class_name = "ClientHandle", .finalizer = client_finalize};
    static const JSClassDef answers = {.class_name = "AnswerHandle", .finalizer = answer_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("clientNew", 1, js_client_new),   JS_CFUNC_DEF("clientCloseIdle", 1, js_client_close_idle),
        JS_CFUNC_DEF("fetchOpen", 10, js_fetch_open),  JS_CFUNC_DEF("fetchTake", 1, js_fetch_take),
        JS_CFUNC_DEF("fetchWrite", 2, js_fetch_write), JS_CFUNC_DEF("fetchEnd", 1, js_fetch_end),
        JS_CFUNC_DEF("fetchRead", 1, js_fetch_read),   JS_CFUNC_DEF("fetchTrailers", 1, js_fetch_trailers),
        JS_CFUNC_DEF("fetchClose", 1, js_fetch_close),
    };
    wf_js_new_class(JS_GetRuntime(context), &client_class, &clients);
    wf_js_new_class(JS_GetRuntime(context), &answer_class, &answers);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
