/* SPDX-License-Identifier: MIT
 *
 * js/server.c - HTTP servers of scripts: listening, and the end. What becomes of a request: js/http.c.
 *
 * Whoever serves and whoever stops a server use it on fibers of their own; the last of them frees it and tells the loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

/* How long the end of an instance waits for what its connections are at. */
#define DROP_PATIENCE WEFT_SECOND

static JSClassID server_class;

static void server_over(void *opaque);
static void tell_refused(void *opaque);

/* The instance is there as long as the server is in its list. */
static void server_leave(struct wf_js_server *server) {
    weft_loop *loop = weft_loop_ref(server->js->loop);
    if (atomic_fetch_sub(&server->users, 1) == 1)
        (void)wf_js_submit(loop, server_over, server);
    weft_loop_unref(loop);
}

static void *serve_main(void *opaque) {
    struct wf_js_server *server = opaque;
    (void)weft_http_serve(server->http, server->listener);
    (void)weft_close(server->listener);
    server_leave(server);
    return NULL;
}

static void *stop_main(void *opaque) {
    struct wf_js_server *server = opaque;
    (void)weft_http_server_stop(server->http, WEFT_NEVER);
    server_leave(server);
    return NULL;
}

static void *drop_main(void *opaque) {
    struct wf_js_server *server = opaque;
    (void)weft_http_server_stop(server->http, weft_after(DROP_PATIENCE));
    server_leave(server);
    return NULL;
}

/* Somebody who is counted already. */
static int spawn_user(struct wf_js_server *server, void *(*fn)(void *)) {
    weft_fiber id;
    const weft_js *js = server->js;
    weft_spawn_options options = {.runtime =
                                      js->holder ? js->home : NULL}; /* not that of a pool, whose work may call */
    int error = weft_spawn_with(&id, &options, fn, server);
    if (!error)
        weft_detach(id);
    return error;
}

/* -ESRCH: all have left it, and it will be over soon. */
static int start_user(struct wf_js_server *server, void *(*fn)(void *)) {
    int users = atomic_load(&server->users);
    do {
        if (users == 0)
            return -ESRCH;
    } while (!atomic_compare_exchange_weak(&server->users, &users, users + 1));
    int error = spawn_user(server, fn);
    if (error)
        server_leave(server);
    return error;
}

static void server_free(JSContext *context, struct wf_js_server *server) {
    JS_FreeValue(context, server->handler);
    JS_FreeValue(context, server->on_refused);
    JS_FreeValue(context, server->stopped);
    free(server->routes);
    free(server);
}

/* Its http stays until here, since scripts may ask it for something after its last user. */
static void server_over(void *opaque) {
    struct wf_js_server *server = opaque;
    weft_js *js = server->js;
    weft_http_server_free(server->http);
    wf_js_enter_any(js);
    if (!JS_IsUndefined(server->object))
        JS_SetOpaque(server->object, NULL);
    if (server->is_stopping && !js->has_ended)
        wf_js_call(js, server->stopped, 0, NULL);
    *(server->previous ? &server->previous->next : &js->servers) = server->next;
    if (server->next)
        server->next->previous = server->previous;
    if (server->is_kept)
        weft_loop_unkeep(js->loop);
    server_free(js->context, server);
    wf_js_leave(js);
}

/* What nobody will answer any more, and servers that would wait for it. */
void wf_js_drop_servers(weft_js *js) {
    wf_js_drop_exchanges(js);
    for (struct wf_js_server *server = js->servers; server; server = server->next)
        if (!server->is_dropped)
            server->is_dropped = start_user(server, drop_main) == 0;
}

static void server_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_server *server = JS_GetOpaque(value, server_class);
    (void)runtime;
    if (server)
        server->object = JS_UNDEFINED;
}

/* ---- Requests that never become one ---- */

struct refused {
    struct wf_js_server *server;
    int status;
    char peer[WEFT_ADDRESS_TEXT];
};

/* On the connection's fiber. The server is there until all of these have ended, and is told of it on the loop after them. */
static void on_entry(const weft_http_entry *entry, void *arg) {
    struct wf_js_server *server = arg;
    if (strcmp(entry->method, "-") != 0)
        return;
    struct refused *refused = calloc(1, sizeof *refused);
    if (!refused)
        return;
    refused->server = server;
    refused->status = entry->status;
    strncpy(refused->peer, entry->peer, sizeof refused->peer - 1);
    if (weft_loop_submit(server->js->loop, tell_refused, refused) != 0)
        free(refused);
}

static void tell_refused(void *opaque) {
    struct refused *refused = opaque;
    weft_js *js = refused->server->js;
    if (wf_js_enter(js)) {
        JSValue told[] = {JS_NewInt32(js->context, refused->status), JS_NewString(js->context, refused->peer)};
        wf_js_call(js, refused->server->on_refused, 2, told);
        JS_FreeValue(js->context, told[1]);
        wf_js_leave(js);
    }
    free(refused);
}

/* ---- Listening ---- */

/* [max_head, max_body, max_connections, max_requests, idle, head, body (milliseconds), gzip, backlog]; 0: the default. */
enum { MAX_HEAD, MAX_BODY, MAX_CONNECTIONS, MAX_REQUESTS, IDLE, HEAD, BODY, GZIP, BACKLOG, NUMBERS };

static bool take_numbers(JSContext *context, JSValueConst list, int64_t numbers[NUMBERS]) {
    for (uint32_t i = 0; i < NUMBERS; i++) {
        JSValue value = JS_GetPropertyUint32(context, list, i);
        int failed = JS_ToInt64(context, &numbers[i], value);
        JS_FreeValue(context, value);
        if (failed)
            return false;
    }
    return true;
}

static int open_server(struct wf_js_server *server, const int64_t numbers[NUMBERS]) {
    weft_http_options options = {
        .max_head = (size_t)numbers[MAX_HEAD],
        .max_body = numbers[MAX_BODY] < 0 ? UINT64_MAX : (uint64_t)numbers[MAX_BODY],
        .max_connections = (uint32_t)numbers[MAX_CONNECTIONS],
        .max_requests = (uint32_t)numbers[MAX_REQUESTS],
        .idle_timeout = numbers[IDLE] * WEFT_MILLISECOND,
        .head_timeout = numbers[HEAD] * WEFT_MILLISECOND,
        .body_timeout = numbers[BODY] * WEFT_MILLISECOND,
        .on_entry = JS_IsUndefined(server->on_refused) ? NULL : on_entry,
        .arg = server,
    };
    int error = weft_http_server_new(&server->http, &options);
    if (!error && numbers[GZIP] > 0)
        error = weft_http_gzip(server->http, (int)numbers[GZIP]);
    return error;
}

/* Patterns, and whether there is a handler for what none of them takes. */
static int add_routes(JSContext *context, struct wf_js_server *server, JSValueConst patterns, bool has_rest) {
    int64_t length;
    if (JS_GetLength(context, patterns, &length))
        return -EINVAL;
    server->routes = calloc((size_t)length + 1, sizeof *server->routes);
    if (!server->routes)
        return -ENOMEM;
    server->routes[0] = (struct wf_js_route){server, -1};
    int error = has_rest ? weft_http_route(server->http, "/", wf_js_on_request, &server->routes[0]) : 0;
    if (!error && has_rest)
        error = weft_http_route(server->http, "/+", wf_js_on_request, &server->routes[0]);
    for (int64_t i = 0; i < length && !error; i++) {
        JSValue value = JS_GetPropertyUint32(context, patterns, (uint32_t)i);
        const char *pattern = JS_ToCString(context, value);
        struct wf_js_route *route = &server->routes[i + 1];
        *route = (struct wf_js_route){server, (int)i};
        error = pattern ? weft_http_route(server->http, pattern, wf_js_on_request, route) : -EINVAL;
        JS_FreeCString(context, pattern);
        JS_FreeValue(context, value);
    }
    return error;
}

/* With its http open. */
static int begin_serving(struct wf_js_server *server, weft_address *address, const int64_t numbers[NUMBERS]) {
    weft_socket_options options = {.backlog = (int)numbers[BACKLOG]};
    int error = weft_listen(&server->listener, address, &options);
    if (!error)
        error = weft_local_address(server->listener, address);
    if (!error)
        error = weft_loop_keep(server->js->loop);
    server->is_kept = !error;
    atomic_store(&server->users, 1);
    if (!error)
        error = spawn_user(server, serve_main);
    if (!error)
        return 0;
    if (server->is_kept)
        weft_loop_unkeep(server->js->loop);
    (void)weft_close(server->listener);
    return error;
}

/* httpServe(address, numbers, handler, on refused or undefined, patterns, has a handler for the rest) -> [server, address] */
static JSValue js_http_serve(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int64_t numbers[NUMBERS];
    weft_address address;
    char text[WEFT_ADDRESS_TEXT];
    (void)self;
    if (count < 6 || !take_numbers(context, arguments[1], numbers))
        return JS_EXCEPTION;
    const char *where = JS_ToCString(context, arguments[0]);
    if (!where)
        return JS_EXCEPTION;
    int error = weft_address_parse(&address, where);
    JS_FreeCString(context, where);
    struct wf_js_server *server = error ? NULL : calloc(1, sizeof *server);
    if (!server)
        return wf_js_throw_errno(context, error ? error : -ENOMEM, "listen");
    server->js = wf_js_of(context);
    server->handler = JS_DupValue(context, arguments[2]);
    server->on_refused = JS_DupValue(context, arguments[3]);
    server->stopped = server->object = JS_UNDEFINED;
    error = open_server(server, numbers);
    if (!error)
        error = add_routes(context, server, arguments[4], JS_ToBool(context, arguments[5]));
    if (!error)
        error = begin_serving(server, &address, numbers);
    if (error) {
        weft_http_server_free(server->http);
        server_free(context, server);
        return wf_js_throw_errno(context, error, "listen");
    }
    server->next = server->js->servers;
    if (server->next)
        server->next->previous = server;
    server->js->servers = server;
    (void)weft_address_format(&address, text, sizeof text);
    JSValue object = JS_NewObjectClass(context, (int)server_class);
    if (JS_IsException(object))
        return object; /* it serves, and nobody can stop it but the end */
    JS_SetOpaque(object, server);
    server->object = object;
    JSValue pair = JS_NewArray(context);
    JS_SetPropertyUint32(context, pair, 0, object);
    JS_SetPropertyUint32(context, pair, 1, JS_NewString(context, text));
    return pair;
}

/* httpStop(server, callback): no more connections, and those that are there are finished; whether that was news */
static JSValue js_http_stop(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_server *server = count > 1 ? JS_GetOpaque(arguments[0], server_class) : NULL;
    (void)self;
    if (!server || server->is_stopping)
        return JS_FALSE;
    int error = start_user(server, stop_main);
    if (error && error != -ESRCH)
        return wf_js_throw_errno(context, error, "close");
    server->is_stopping = true;
    server->stopped = JS_DupValue(context, arguments[1]);
    return JS_TRUE;
}

/* httpDrop(server, idle only): how many connections were closed */
static JSValue js_http_drop(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_server *server = count > 1 ? JS_GetOpaque(arguments[0], server_class) : NULL;
    (void)self;
    if (!server)
        return JS_NewInt32(context, 0);
    bool idle_only = JS_ToBool(context, arguments[1]);
    int dropped = weft_http_server_drop(server->http, idle_only);
    if (!idle_only)
        wf_js_cut_exchanges(server);
    return JS_NewInt32(context, dropped);
}

/* httpKeep(server, keeps): whether the loop stays for it */
static JSValue js_http_keep(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_server *server = count > 1 ? JS_GetOpaque(arguments[0], server_class) : NULL;
    bool keeps = count > 1 && JS_ToBool(context, arguments[1]);
    (void)self;
    if (!server || server->is_kept == keeps)
        return JS_UNDEFINED;
    if (!keeps)
        weft_loop_unkeep(server->js->loop);
    server->is_kept = keeps && weft_loop_keep(server->js->loop) == 0;
    return JS_UNDEFINED;
}

/* httpConnections(server): how many there are */
static JSValue js_http_connections(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_server *server = count > 0 ? JS_GetOpaque(arguments[0], server_class) : NULL;
    weft_http_stats stats = {0};
    (void)self;
    if (server)
        (void)weft_http_get_stats(server->http, &stats);
    return JS_NewInt64(context, (int64_t)stats.connections);
}

int wf_js_add_servers(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "ServerHandle", .finalizer = server_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("httpServe", 4, js_http_serve),
        JS_CFUNC_DEF("httpStop", 2, js_http_stop),
        JS_CFUNC_DEF("httpDrop", 2, js_http_drop),
        JS_CFUNC_DEF("httpKeep", 2, js_http_keep),
        JS_CFUNC_DEF("httpConnections", 1, js_http_connections),
    };
    wf_js_new_class(JS_GetRuntime(context), &server_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
