/* SPDX-License-Identifier: MIT
 *
 * js/server.c - HTTP servers of scripts: listening, and the end. What becomes of a request: js/http.c.
 *
 * Whoever serves and whoever stops a server use it on fibers of their own; the last of them frees it and tells the loop.
 */
#include <errno.h>
#include <stdlib.h>

#include "server.h"

/* How long the end of an instance waits for what its connections are at. */
#define DROP_PATIENCE WEFT_SECOND

static JSClassID server_class;

static void server_over(void *opaque);

/* The instance is there as long as the server is in its list. */
static void server_leave(struct wf_js_server *server) {
    weft_loop *loop = weft_loop_ref(server->js->loop);
    if (atomic_fetch_sub(&server->users, 1) == 1) {
        weft_http_server_free(server->http);
        (void)wf_js_submit(loop, server_over, server);
    }
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

static int start_user(struct wf_js_server *server, void *(*fn)(void *)) {
    weft_fiber id;
    atomic_fetch_add(&server->users, 1);
    int error = weft_spawn(&id, fn, server);
    if (error)
        atomic_fetch_sub(&server->users, 1); /* not the last: whoever serves is one */
    else
        weft_detach(id);
    return error;
}

static void server_over(void *opaque) {
    struct wf_js_server *server = opaque;
    weft_js *js = server->js;
    JSContext *context = js->context;
    wf_js_enter_any(js);
    if (server->is_stopping && !js->has_ended)
        wf_js_call(js, server->stopped[0], 0, NULL);
    JS_FreeValue(context, server->handler);
    if (!JS_IsUndefined(server->object))
        JS_SetOpaque(server->object, NULL);
    if (server->is_stopping) {
        JS_FreeValue(context, server->stopped[0]);
        JS_FreeValue(context, server->stopped[1]);
    }
    *(server->previous ? &server->previous->next : &js->servers) = server->next;
    if (server->next)
        server->next->previous = server->previous;
    wf_js_leave(js);
    weft_loop_unkeep(js->loop);
    free(server);
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

/* httpServe(address, handler) -> [server, address] */
static JSValue js_http_serve(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    const char *where = count > 1 ? JS_ToCString(context, arguments[0]) : NULL;
    if (!where)
        return JS_EXCEPTION;
    weft_address address;
    char text[WEFT_ADDRESS_TEXT];
    struct wf_js_server *server = calloc(1, sizeof *server);
    int error = server ? weft_address_parse(&address, where) : -ENOMEM;
    JS_FreeCString(context, where);
    bool is_open = !error && (error = weft_http_server_new(&server->http, NULL)) == 0;
    if (!error)
        error = weft_http_route(server->http, "/", wf_js_on_request, server);
    if (!error)
        error = weft_http_route(server->http, "/+", wf_js_on_request, server);
    bool is_bound = !error && (error = weft_listen(&server->listener, &address, NULL)) == 0;
    if (!error)
        error = weft_local_address(server->listener, &address);
    if (!error) {
        server->js = wf_js_of(context);
        server->handler = JS_DupValue(context, arguments[1]);
        server->object = JS_UNDEFINED;
        error = weft_loop_keep(server->js->loop);
        if (!error && (error = start_user(server, serve_main)) != 0)
            weft_loop_unkeep(server->js->loop);
        if (error)
            JS_FreeValue(context, server->handler);
    }
    if (error) {
        if (is_bound)
            weft_close(server->listener);
        if (is_open)
            weft_http_server_free(server->http);
        free(server);
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

/* httpStop(server) -> promise: no more connections, and those that are there are finished */
static JSValue js_http_stop(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_server *server = count > 0 ? JS_GetOpaque2(context, arguments[0], server_class) : NULL;
    (void)self;
    if (!server)
        return JS_EXCEPTION;
    JSValue promise = JS_NewPromiseCapability(context, server->stopped);
    if (JS_IsException(promise))
        return promise;
    int error = start_user(server, stop_main);
    if (error) {
        JS_FreeValue(context, server->stopped[0]);
        JS_FreeValue(context, server->stopped[1]);
        JS_FreeValue(context, promise);
        return wf_js_throw_errno(context, error, "close");
    }
    server->is_stopping = true;
    server->object = JS_UNDEFINED;
    JS_SetOpaque(arguments[0], NULL);
    return promise;
}

int wf_js_add_servers(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "ServerHandle", .finalizer = server_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("httpServe", 2, js_http_serve),
        JS_CFUNC_DEF("httpStop", 1, js_http_stop),
    };
    wf_js_new_class(JS_GetRuntime(context), &server_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
