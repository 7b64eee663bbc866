/* SPDX-License-Identifier: MIT
 *
 * js/socket.c - sockets of scripts: connecting, listening, accepting; addresses and options. What comes out are the streams of
 * js/stream.c. Addresses are texts, as weft_address_parse takes them.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stream.h"

/* ---- Connecting ---- */

struct connecting {
    struct wf_js_wait wait;
    weft_time until;
    char *name;
    uint32_t port;
    bool has_local;
    weft_address local;
    weft_fd fd;
};

static int connect_wait(struct wf_js_wait *wait) {
    struct connecting *connecting = (struct connecting *)wait;
    weft_socket_options options = {.local = connecting->has_local ? &connecting->local : NULL};
    return weft_dial(&connecting->fd, connecting->name, connecting->port, &options, connecting->until);
}

static JSValue connect_finish(JSContext *context, struct wf_js_wait *wait) {
    struct connecting *connecting = (struct connecting *)wait;
    free(connecting->name);
    return wait->status ? wf_js_throw_errno(context, wait->status, "connect")
                        : wf_js_stream_new(context, connecting->fd);
}

bool wf_js_take_address(JSContext *context, JSValueConst value, weft_address *address) {
    const char *text = JS_ToCString(context, value);
    int error = text ? weft_address_parse(address, text) : -EINVAL;
    if (text && error)
        JS_ThrowTypeError(context, "Not an address: %s", text);
    JS_FreeCString(context, text);
    return error == 0;
}

/* netConnect(name or number or "unix:...", port, milliseconds, local address or undefined) -> stream */
static JSValue js_net_connect(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct connecting given = {.has_local = false};
    (void)self;
    if (count < 4 || JS_ToUint32(context, &given.port, arguments[1]) ||
        !wf_js_until(context, arguments[2], &given.until))
        return JS_EXCEPTION;
    given.has_local = !JS_IsUndefined(arguments[3]);
    if (given.has_local && !wf_js_take_address(context, arguments[3], &given.local))
        return JS_EXCEPTION;
    given.name = wf_js_copy_text(context, arguments[0]);
    struct connecting *connecting = given.name ? malloc(sizeof *connecting) : NULL;
    if (!connecting) {
        free(given.name);
        return JS_HasException(context) ? JS_EXCEPTION : JS_ThrowOutOfMemory(context);
    }
    given.wait = (struct wf_js_wait){.wait = connect_wait, .finish = connect_finish};
    *connecting = given;
    return wf_js_perform(context, &connecting->wait);
}

/* ---- Listening ---- */

/* netListen(address, backlog, shares its port, only IPv6) -> stream */
static JSValue js_net_listen(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_address address;
    weft_fd fd;
    weft_socket_options options = {0};
    (void)self;
    if (count < 4 || !wf_js_take_address(context, arguments[0], &address) ||
        JS_ToInt32(context, &options.backlog, arguments[1]))
        return JS_EXCEPTION;
    options.shares_port = JS_ToBool(context, arguments[2]);
    options.only_v6 = JS_ToBool(context, arguments[3]);
    int error = weft_listen(&fd, &address, &options);
    return error ? wf_js_throw_errno(context, error, "listen") : wf_js_stream_new(context, fd);
}

struct accepting {
    struct wf_js_wait wait;
    struct wf_js_stream *listener;
    JSValue object; /* the listener's */
    weft_time until;
    weft_fd fd;
};

static int accept_wait(struct wf_js_wait *wait) {
    struct accepting *accepting = (struct accepting *)wait;
    return weft_accept(accepting->listener->fd, &accepting->fd, NULL, accepting->until);
}

static JSValue accept_finish(JSContext *context, struct wf_js_wait *wait) {
    struct accepting *accepting = (struct accepting *)wait;
    accepting->listener->is_reading = false;
    JSValue result = wait->status ? wf_js_stream_throw(context, accepting->listener, wait->status, "accept")
                                  : wf_js_stream_new(context, accepting->fd);
    JS_FreeValue(context, accepting->object);
    return result;
}

/* netAccept(stream, milliseconds) -> stream */
static JSValue js_net_accept(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *listener = count > 1 ? wf_js_stream_of(context, arguments[0]) : NULL;
    weft_time until;
    weft_fd fd;
    (void)self;
    if (!listener || !wf_js_until(context, arguments[1], &until))
        return JS_EXCEPTION;
    if (listener->is_reading)
        return wf_js_at_once(context, wf_js_throw_coded(context, "EBUSY", "Somebody accepts from it already"));
    int status = listener->is_closed        ? -EBADF
                 : wf_js_may_hurry(context) ? weft_accept(listener->fd, &fd, NULL, WEFT_NOW)
                                            : -ETIMEDOUT;
    if (status == 0)
        return wf_js_at_once(context, wf_js_stream_new(context, fd));
    if (status == -EBADF || status == -EINVAL)
        return wf_js_at_once(context, wf_js_stream_throw(context, listener, status, "accept"));
    struct accepting *accepting = calloc(1, sizeof *accepting);
    if (!accepting)
        return JS_ThrowOutOfMemory(context);
    accepting->wait = (struct wf_js_wait){.wait = accept_wait, .finish = accept_finish};
    accepting->listener = listener;
    accepting->object = JS_DupValue(context, arguments[0]);
    accepting->until = until;
    listener->is_reading = true;
    return wf_js_perform(context, &accepting->wait);
}

/* ---- Two ends, and what was opened elsewhere ---- */

/* netPipe(is a pair of sockets) -> [stream, stream]; of a pipe, the first reads and the second writes */
static JSValue js_net_pipe(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_fd ends[2];
    (void)self;
    bool is_pair = count > 0 && JS_ToBool(context, arguments[0]);
    int error = is_pair ? weft_socket_pair(ends) : weft_pipe(ends);
    if (error)
        return wf_js_throw_errno(context, error, is_pair ? "socketpair" : "pipe");
    JSValue first = wf_js_stream_new(context, ends[0]);
    JSValue second = wf_js_stream_new(context, ends[1]);
    JSValue list = JS_IsException(first) || JS_IsException(second) ? JS_EXCEPTION : JS_NewArray(context);
    if (JS_IsException(list)) {
        JS_FreeValue(context, first);
        JS_FreeValue(context, second);
        return list;
    }
    JS_SetPropertyUint32(context, list, 0, first);
    JS_SetPropertyUint32(context, list, 1, second);
    return list;
}

/* netAdopt(descriptor, stays open) -> stream */
static JSValue js_net_adopt(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t number;
    weft_fd fd;
    (void)self;
    if (count < 2 || JS_ToInt32(context, &number, arguments[0]))
        return JS_EXCEPTION;
    bool stays = JS_ToBool(context, arguments[1]);
    int own = stays ? wf_js_open_again(number) : -1;
    int error = weft_adopt(&fd, own < 0 ? number : own, stays && own < 0 ? WEFT_ADOPT_KEEP : 0);
    if (error && own >= 0)
        close(own);
    return error ? wf_js_throw_errno(context, error, "open") : wf_js_stream_new(context, fd);
}

/* ---- Addresses and options ---- */

/* netRemovePath(path): of a listener that ends; names that are not files stay as they are */
static JSValue js_net_remove_path(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    const char *path = count > 0 ? JS_ToCString(context, arguments[0]) : NULL;
    if (!path)
        return JS_EXCEPTION;
    if (*path && *path != '@')
        (void)unlink(path);
    JS_FreeCString(context, path);
    return JS_UNDEFINED;
}

/* netAddress(stream, of the other side) -> text; undefined: it has none */
static JSValue js_net_address(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 1 ? wf_js_stream_of(context, arguments[0]) : NULL;
    weft_address address;
    char text[WEFT_ADDRESS_TEXT];
    (void)self;
    if (!stream)
        return JS_EXCEPTION;
    int error = JS_ToBool(context, arguments[1]) ? weft_peer_address(stream->fd, &address)
                                                 : weft_local_address(stream->fd, &address);
    if (error || weft_address_format(&address, text, sizeof text) < 0)
        return JS_UNDEFINED;
    return JS_NewString(context, text);
}

enum option { NO_DELAY, KEEP_ALIVE, RESET };

static int set_option(int number, enum option option, int value) {
    struct linger at_once = {.l_onoff = 1};
    int is_on = value > 0;
    switch (option) {
    case NO_DELAY:
        return setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &is_on, sizeof is_on);
    case RESET:
        return setsockopt(number, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    default: /* on, or the seconds of silence after which it asks, too */
        if (setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &is_on, sizeof is_on) != 0)
            return -1;
        return value > 1 ? setsockopt(number, IPPROTO_TCP, TCP_KEEPIDLE, &value, sizeof value) : 0;
    }
}

/* netSet(stream, option, value): whether it was done; others than sockets of TCP have no such options */
static JSValue js_net_set(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_stream *stream = count > 2 ? wf_js_stream_of(context, arguments[0]) : NULL;
    int32_t option, value;
    (void)self;
    if (!stream || JS_ToInt32(context, &option, arguments[1]) || JS_ToInt32(context, &value, arguments[2]))
        return JS_EXCEPTION;
    int number = stream->is_closed ? -EBADF : weft_fd_number(stream->fd);
    return JS_NewBool(context, number >= 0 && set_option(number, (enum option)option, value) == 0);
}

int wf_js_add_sockets(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("netConnect", 4, js_net_connect), JS_CFUNC_DEF("netListen", 4, js_net_listen),
        JS_CFUNC_DEF("netAccept", 2, js_net_accept),   JS_CFUNC_DEF("netPipe", 1, js_net_pipe),
        JS_CFUNC_DEF("netAdopt", 2, js_net_adopt),     JS_CFUNC_DEF("netAddress", 2, js_net_address),
        JS_CFUNC_DEF("netSet", 3, js_net_set),         JS_CFUNC_DEF("netRemovePath", 1, js_net_remove_path),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
