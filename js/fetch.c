/* SPDX-License-Identifier: MIT
 *
 * js/fetch.c - the transport of fetch: one exchange with weft's HTTP client. Redirects, abort and all that a script sees are
 * js/lib/fetch.js's business.
 *
 * Every call returns a promise, also on a go fiber. A response is used by one call at a time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { PIECE = 64 * 1024 };

/* A response, or one that is on its way: counted by JavaScript's handle and by the call that uses it. */
struct answer {
    weft_http_response *response;
    int references;
    bool is_used;
};

struct fetching {
    struct wf_js_wait wait;
    struct answer *answer;
    char *method, *url, *body;
    size_t body_size;
    weft_http_field *fields;
    size_t field_count;
    char *piece;
    ssize_t piece_size;
};

static JSClassID answer_class;

static void answer_unref(struct answer *answer) {
    if (--answer->references > 0)
        return;
    if (answer->response)
        weft_http_response_close(answer->response);
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
    free(fetching->body);
    free(fetching->piece);
}

/* ---- The request ---- */

static int request_wait(struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    weft_http_request request = {.headers = fetching->fields,
                                 .header_count = fetching->field_count,
                                 .body = fetching->body,
                                 .body_size = fetching->body_size};
    return weft_http_request_open(wait->js->client, fetching->method, fetching->url, &request,
                                  &fetching->answer->response, WEFT_NEVER);
}

/* -> [status, [name, value, ...], handle] */
static JSValue request_finish(JSContext *context, struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    struct answer *answer = fetching->answer;
    const char *name, *value;
    fetching_free(fetching);
    JSValue handle = wait->status ? wf_js_throw_errno(context, wait->status, "fetch")
                                  : JS_NewObjectClass(context, (int)answer_class);
    if (JS_IsException(handle)) {
        answer_unref(answer);
        return handle;
    }
    JS_SetOpaque(handle, answer); /* which has the call's reference now */
    JSValue list = JS_NewArray(context), fields = JS_NewArray(context);
    for (uint32_t i = 0; weft_http_response_header_at(answer->response, i, &name, &value); i++) {
        JS_SetPropertyUint32(context, fields, 2 * i, JS_NewString(context, name));
        JS_SetPropertyUint32(context, fields, 2 * i + 1, JS_NewString(context, value));
    }
    JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, weft_http_response_status(answer->response)));
    JS_SetPropertyUint32(context, list, 1, fields);
    JS_SetPropertyUint32(context, list, 2, handle);
    return list;
}

static char *copy_at(JSContext *context, JSValueConst list, uint32_t index) {
    JSValue value = JS_GetPropertyUint32(context, list, index);
    char *copy = wf_js_copy_text(context, value);
    JS_FreeValue(context, value);
    return copy;
}

static bool take_request(JSContext *context, struct fetching *fetching, JSValueConst *arguments) {
    int64_t count;
    fetching->method = wf_js_copy_text(context, arguments[0]);
    fetching->url = wf_js_copy_text(context, arguments[1]);
    if (!fetching->method || !fetching->url || JS_GetLength(context, arguments[2], &count))
        return false;
    fetching->fields = calloc((size_t)count / 2 + 1, sizeof *fetching->fields);
    if (!fetching->fields)
        return false;
    for (uint32_t i = 0; i + 1 < (uint32_t)count; i += 2) {
        weft_http_field *field = &fetching->fields[fetching->field_count++];
        field->name = copy_at(context, arguments[2], i);
        field->value = copy_at(context, arguments[2], i + 1);
        if (!field->name || !field->value)
            return false;
    }
    if (JS_IsUndefined(arguments[3]) || JS_IsNull(arguments[3]))
        return true;
    return wf_js_copy_bytes(context, arguments[3], &fetching->body, &fetching->body_size);
}

/* fetchOpen(method, url, [name, value, ...], bytes) -> promise */
static JSValue js_fetch_open(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_js *js = wf_js_of(context);
    (void)self;
    if (count < 4)
        return JS_ThrowTypeError(context, "four arguments");
    if (!js->client) {
        weft_http_client_options options = {.max_redirects = -1};
        int error = weft_http_client_new(&js->client, &options);
        if (error)
            return wf_js_throw_errno(context, error, "fetch");
    }
    struct fetching *fetching = calloc(1, sizeof *fetching);
    struct answer *answer = calloc(1, sizeof *answer);
    if (!fetching || !answer || !take_request(context, fetching, arguments)) {
        if (fetching)
            fetching_free(fetching);
        free(fetching);
        free(answer);
        return JS_HasException(context) ? JS_EXCEPTION : JS_ThrowOutOfMemory(context);
    }
    answer->references = 1;
    fetching->answer = answer;
    fetching->wait = (struct wf_js_wait){.wait = request_wait, .finish = request_finish, .is_promise = true};
    return wf_js_perform(context, &fetching->wait);
}

/* ---- The body ---- */

static int read_wait(struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    fetching->piece_size = weft_http_response_read(fetching->answer->response, fetching->piece, PIECE, WEFT_NEVER);
    return fetching->piece_size < 0 ? (int)fetching->piece_size : 0;
}

static JSValue read_finish(JSContext *context, struct wf_js_wait *wait) {
    struct fetching *fetching = (struct fetching *)wait;
    JSValue result = wait->status ? wf_js_throw_errno(context, wait->status, "fetch")
                     : fetching->piece_size
                         ? JS_NewUint8ArrayCopy(context, (uint8_t *)fetching->piece, (size_t)fetching->piece_size)
                         : JS_NULL;
    fetching->answer->is_used = false;
    answer_unref(fetching->answer);
    fetching_free(fetching);
    return result;
}

/* fetchRead(handle) -> promise of bytes, or null at the end */
static JSValue js_fetch_read(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct answer *answer = count > 0 ? JS_GetOpaque2(context, arguments[0], answer_class) : NULL;
    (void)self;
    if (!answer)
        return JS_EXCEPTION;
    if (answer->is_used)
        return JS_ThrowTypeError(context, "The last read has not ended");
    struct fetching *fetching = calloc(1, sizeof *fetching);
    if (fetching)
        fetching->piece = malloc(PIECE);
    if (!fetching || !fetching->piece) {
        free(fetching);
        return JS_ThrowOutOfMemory(context);
    }
    answer->references++;
    answer->is_used = true;
    fetching->answer = answer;
    fetching->wait = (struct wf_js_wait){.wait = read_wait, .finish = read_finish, .is_promise = true};
    return wf_js_perform(context, &fetching->wait);
}

/* fetchClose(handle): a read that is on its way ends first */
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
    static const JSClassDef definition = {.class_name = "AnswerHandle", .finalizer = answer_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("fetchOpen", 4, js_fetch_open),
        JS_CFUNC_DEF("fetchRead", 1, js_fetch_read),
        JS_CFUNC_DEF("fetchClose", 1, js_fetch_close),
    };
    wf_js_new_class(JS_GetRuntime(context), &answer_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
