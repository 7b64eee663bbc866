/* SPDX-License-Identifier: MIT
 *
 * js/port.c - ports: where messages arrive, for MessagePort and BroadcastChannel.
 *
 * Ports that hear each other are a *group*: the two of a MessageChannel, or all BroadcastChannels of a name. A message is a parcel,
 * which is put into the queue of every other port of the group. A port is in an instance, at a *seat*, or on its way to one as part
 * of a parcel; its queue goes with it.
 *
 *     seat     what belongs to the instance: its object, whether it keeps the loop alive. A callback of the loop that brings messages
 *              belongs to the seat and not to the port, so that it finds nothing to do after the port has left
 *
 * The order is Node's: the callback comes in the poll phase and brings what is there, a checkpoint after each; closing takes effect
 * in the close phase, then tells the peer, which first gets what is still in its queue.
 *
 * Locks: that of the group guards its ports and their fields. It is not held when the engine is entered, nor when parcels are
 * dropped. The list of names is guarded by a lock of its own, which is taken first.
 */
#include "port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parcel.h"

enum { AT_ONCE = 1000 }; /* messages that one callback brings, at least: as many as Node's */

struct group {
    weft_mutex lock;
    struct wf_js_port *ports;
    char *name;         /* of a broadcast's; null: a pair */
    struct group *next; /* of those with a name; under names_lock */
};

/* One of a queue; a broadcast is one parcel in several. */
struct letter {
    struct letter *next;
    struct wf_js_parcel *parcel;
};

struct wf_js_port {
    struct group *group;
    struct wf_js_port *next, *previous; /* in the group; this and the rest under its lock */
    struct letter *first, **last;       /* the queue */
    uint32_t count;                     /* of letters in it */
    struct seat *seat;                  /* null: it is on its way */
    bool is_receiving;                  /* somebody has started it */
    bool is_closed;                     /* the close phase will end it */
    bool has_lost_peer;                 /* nothing will come behind what is in the queue */
    bool is_peer_dead;                  /* because the instance that had it has ended */
};

struct seat {
    weft_js *js;
    struct seat *next, *previous; /* of the instance's; with its turn */
    struct seat *next_closing;    /* of those that the close phase will end */
    struct wf_js_port *port;      /* null: it has left; under the group's lock while it is there */
    JSValue object;               /* of the library; counted only while is_rooted. With the turn */
    bool is_rooted;
    bool keeps;            /* the loop alive; written with the turn and under the lock */
    bool is_signalled;     /* a callback is on its way; under the lock */
    atomic_int references; /* the handle's, and those of callbacks */
};

static JSClassID port_class;
static weft_mutex names_lock = WEFT_MUTEX_INIT; /* names are the process's */
static struct group *names;

static void deliver(void *opaque);
static void close_all(void *opaque);

/* ---- Ports and groups ---- */

/* With the lock, or while nobody else knows the group. */
static void join_group(struct wf_js_port *port, struct group *group) {
    port->last = &port->first;
    port->group = group;
    port->next = group->ports;
    if (group->ports)
        group->ports->previous = port;
    group->ports = port;
}

/* With the lock: there is something to do for the instance that has the port. */
static void signal_locked(struct wf_js_port *port) {
    struct seat *seat = port->seat;
    bool is_ready = port->is_receiving ? port->first || port->has_lost_peer : port->has_lost_peer && !port->first;
    if (!seat || seat->is_signalled || port->is_closed || !is_ready)
        return;
    atomic_fetch_add(&seat->references, 1); /* not the last one to go: the handle has one */
    /* A loop that only its ports would keep does not stay for those that do not. */
    seat->is_signalled = wf_js_bring(seat->js, deliver, seat, seat->keeps) == 0;
    if (!seat->is_signalled)
        atomic_fetch_sub(&seat->references, 1); /* the loop is over */
}

/* False: no memory. */
static bool enqueue_locked(struct wf_js_port *port, struct wf_js_parcel *parcel) {
    struct letter *letter = malloc(sizeof *letter);
    if (!letter)
        return false;
    *letter = (struct letter){.parcel = wf_js_parcel_ref(parcel)};
    *port->last = letter;
    port->last = &letter->next;
    port->count++;
    signal_locked(port);
    return true;
}

static struct wf_js_parcel *dequeue_locked(struct wf_js_port *port) {
    struct letter *letter = port->first;
    struct wf_js_parcel *parcel = letter->parcel;
    port->first = letter->next;
    port->count--;
    if (!port->first)
        port->last = &port->first;
    free(letter);
    return parcel;
}

/* Out of its group, which goes with its last port. Its peer will hear of it. */
static void leave_group(struct wf_js_port *port, bool is_lost) {
    struct group *group = port->group;
    bool has_name = group->name;
    if (has_name)
        wf_js_lock(&names_lock);
    wf_js_lock(&group->lock);
    *(port->previous ? &port->previous->next : &group->ports) = port->next;
    if (port->next)
        port->next->previous = port->previous;
    for (struct wf_js_port *other = group->ports; other && !has_name; other = other->next) {
        other->has_lost_peer = true;
        other->is_peer_dead |= is_lost;
        signal_locked(other);
    }
    bool is_last = !group->ports;
    struct group **link = &names;
    while (is_last && has_name && *link != group)
        link = &(*link)->next;
    if (is_last && has_name)
        *link = group->next;
    wf_js_unlock(&group->lock);
    if (has_name)
        wf_js_unlock(&names_lock);
    if (is_last) {
        free(group->name);
        free(group);
    }
}

void wf_js_port_abandon(struct wf_js_port *port, bool is_lost, struct wf_js_parcel **rest) {
    leave_group(port, is_lost);
    while (port->first)
        wf_js_parcel_discard(dequeue_locked(port), is_lost, rest);
    free(port);
}

static void abandon(struct wf_js_port *port, bool is_lost) {
    struct wf_js_parcel *rest = NULL;
    wf_js_port_abandon(port, is_lost, &rest);
    wf_js_parcels_free(rest);
}

/* ---- Seats ---- */

static void release_seat(struct seat *seat) {
    if (atomic_fetch_sub(&seat->references, 1) == 1)
        free(seat);
}

/* The instance has it no more. Unless somebody else has a reference, the seat may go with its object. */
static struct wf_js_port *leave_seat(struct seat *seat) {
    weft_js *js = seat->js;
    struct wf_js_port *port = seat->port;
    JSValue root = seat->is_rooted ? seat->object : JS_UNDEFINED;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a seat that is left has its port
    wf_js_lock(&port->group->lock);
    port->seat = NULL;
    seat->port = NULL;
    port->is_receiving = false;
    wf_js_unlock(&port->group->lock);
    *(seat->previous ? &seat->previous->next : &js->seats) = seat->next;
    if (seat->next)
        seat->next->previous = seat->previous;
    if (seat->keeps)
        weft_loop_unkeep(js->loop);
    seat->keeps = seat->is_rooted = false;
    JS_FreeValue(js->context, root);
    return port;
}

static void port_finalize(JSRuntime *runtime, JSValueConst value) {
    struct seat *seat = JS_GetOpaque(value, port_class);
    (void)runtime;
    if (!seat)
        return;
    if (seat->port)
        abandon(leave_seat(seat), seat->js->has_ended);
    release_seat(seat);
}

bool wf_js_port_is_handle(JSValueConst value) {
    return JS_GetClassID(value) == port_class;
}

struct wf_js_port *wf_js_port_detach(JSContext *context, JSValueConst handle) {
    struct seat *seat = JS_GetOpaque(handle, port_class);
    (void)context;
    return seat && seat->port ? leave_seat(seat) : NULL;
}

JSValue wf_js_port_adopt(JSContext *context, struct wf_js_port *port) {
    weft_js *js = wf_js_of(context);
    struct seat *seat = calloc(1, sizeof *seat);
    if (!seat)
        return JS_ThrowOutOfMemory(context);
    JSValue handle = JS_NewObjectClass(context, (int)port_class);
    if (JS_IsException(handle)) {
        free(seat);
        return handle;
    }
    *seat = (struct seat){.js = js, .port = port, .object = JS_UNDEFINED, .references = 1, .next = js->seats};
    if (js->seats)
        js->seats->previous = seat;
    js->seats = seat;
    JS_SetOpaque(handle, seat);
    wf_js_lock(&port->group->lock);
    port->seat = seat;
    signal_locked(port);
    wf_js_unlock(&port->group->lock);
    return handle;
}

void wf_js_drop_ports(weft_js *js) {
    while (js->seats)
        abandon(leave_seat(js->seats), true);
}

/* ---- On the loop ---- */

enum news { MESSAGE, MESSAGE_ERROR, CLOSE };

/* hook(object, news, value, transferred) */
static void tell(struct seat *seat, enum news news, JSValueConst value, JSValueConst transferred) {
    weft_js *js = seat->js;
    JSValue arguments[] = {JS_DupValue(js->context, seat->object), JS_NewInt32(js->context, news), value, transferred};
    wf_js_call(js, js->hooks[WF_JS_ON_MESSAGE], 4, arguments);
    JS_FreeValue(js->context, arguments[0]);
}

static void begin_close(struct seat *seat) {
    weft_js *js = seat->js;
    wf_js_lock(&seat->port->group->lock);
    bool is_first = !seat->port->is_closed;
    seat->port->is_closed = true;
    wf_js_unlock(&seat->port->group->lock);
    if (!is_first || (!js->closing && weft_loop_close_callback(js->loop, close_all, js) != 0))
        return;
    if (!js->closing)
        atomic_fetch_add(&js->incoming, 1);
    atomic_fetch_add(&seat->references, 1);
    seat->next_closing = js->closing;
    js->closing = seat;
}

/* The peer hears of it, and so does the object. */
static void close_one(void *opaque) {
    struct seat *seat = opaque;
    weft_js *js = seat->js;
    wf_js_enter_any(js);
    if (seat->port) {
        JSValue object = JS_DupValue(js->context, seat->object);
        abandon(leave_seat(seat), js->has_ended);
        if (!js->has_ended)
            tell(seat, CLOSE, JS_UNDEFINED, JS_UNDEFINED);
        JS_FreeValue(js->context, object);
    }
    release_seat(seat);
    wf_js_leave(js);
}

/* The close phase: the last one first, as Node's. */
static void close_all(void *opaque) {
    weft_js *js = opaque;
    struct seat *next = js->closing;
    js->closing = NULL;
    wf_js_brought(js);
    while (next) {
        struct seat *seat = next;
        next = seat->next_closing;
        (void)weft_loop_call(js->loop, close_one, seat);
    }
}

/* The next message, if there is one to be brought; *is_over: nothing will come any more. */
static struct wf_js_parcel *next_message(struct seat *seat, bool *is_over) {
    struct wf_js_port *port = seat->port;
    struct wf_js_parcel *parcel = NULL;
    *is_over = false;
    if (!port)
        return NULL;
    wf_js_lock(&port->group->lock);
    if (port->is_receiving && port->first)
        parcel = dequeue_locked(port);
    *is_over = !parcel && !port->first && port->has_lost_peer;
    wf_js_unlock(&port->group->lock);
    return parcel;
}

static void bring(struct seat *seat, struct wf_js_parcel *parcel) {
    weft_js *js = seat->js;
    JSContext *context = js->context;
    JSValue transferred;
    JSValue value = wf_js_open(context, parcel, &transferred);
    bool has_failed = JS_IsException(value);
    if (has_failed)
        value = JS_GetException(context);
    tell(seat, has_failed ? MESSAGE_ERROR : MESSAGE, value, transferred);
    JS_FreeValue(context, value);
    JS_FreeValue(context, transferred);
}

struct bringing {
    struct seat *seat;
    struct wf_js_parcel *parcel;
};

static void bring_one(void *opaque) {
    struct bringing *bringing = opaque;
    weft_js *js = bringing->seat->js;
    if (!wf_js_enter(js)) {
        wf_js_parcel_drop(bringing->parcel, true);
        return;
    }
    bring(bringing->seat, bringing->parcel);
    wf_js_leave(js);
}

/* A port that was closed meanwhile brings nothing; one that is closed by what it brings goes on, as Node's does. After an error that
 * nobody has caught the rest comes in the next turn. */
static void deliver(void *opaque) {
    struct seat *seat = opaque;
    weft_js *js = seat->js;
    uint32_t most = 0, errors = js->errors;
    bool is_over = false;
    struct bringing bringing = {.seat = seat};
    wf_js_brought(js);
    if (seat->port) {
        wf_js_lock(&seat->port->group->lock);
        seat->is_signalled = false;
        if (!seat->port->is_closed)
            most = seat->port->count > AT_ONCE ? seat->port->count : AT_ONCE;
        wf_js_unlock(&seat->port->group->lock);
    }
    while (!js->has_ended && most-- > 0 && js->errors == errors && (bringing.parcel = next_message(seat, &is_over)))
        (void)weft_loop_call(js->loop, bring_one, &bringing);
    if (seat->port && is_over) {
        begin_close(seat);
    } else if (seat->port) {
        wf_js_lock(&seat->port->group->lock);
        signal_locked(seat->port);
        wf_js_unlock(&seat->port->group->lock);
    }
    release_seat(seat);
}

/* ---- For the library ---- */

static struct seat *seat_of(JSContext *context, int count, JSValueConst *arguments) {
    return count > 0 ? JS_GetOpaque2(context, arguments[0], port_class) : NULL;
}

/* portPair() -> [handle, handle] */
static JSValue js_port_pair(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    struct group *group = calloc(1, sizeof *group);
    struct wf_js_port *ports[2] = {calloc(1, sizeof **ports), calloc(1, sizeof **ports)};
    if (!group || !ports[0] || !ports[1]) {
        free(ports[0]);
        free(ports[1]);
        free(group);
        return JS_ThrowOutOfMemory(context);
    }
    join_group(ports[0], group);
    join_group(ports[1], group);
    JSValue list = JS_NewArray(context);
    for (uint32_t i = 0; i < 2; i++) {
        JSValue handle = JS_IsException(list) ? JS_EXCEPTION : wf_js_port_adopt(context, ports[i]);
        if (!JS_IsException(handle)) {
            JS_SetPropertyUint32(context, list, i, handle);
            continue;
        }
        abandon(ports[i], false);
        JS_FreeValue(context, list);
        list = JS_EXCEPTION;
    }
    return list;
}

static struct group *group_named(const char *name) {
    struct group *group = names;
    while (group && strcmp(group->name, name) != 0)
        group = group->next;
    if (group)
        return group;
    group = calloc(1, sizeof *group);
    if (group && !(group->name = strdup(name))) {
        free(group);
        group = NULL;
    }
    if (group) {
        group->next = names;
        names = group;
    }
    return group;
}

/* portNamed(name) -> handle: one of a broadcast */
static JSValue js_port_named(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    const char *name = JS_ToCString(context, arguments[0]);
    if (!name)
        return JS_EXCEPTION;
    struct wf_js_port *port = calloc(1, sizeof *port);
    wf_js_lock(&names_lock);
    struct group *group = port ? group_named(name) : NULL;
    if (group) {
        wf_js_lock(&group->lock);
        join_group(port, group);
        wf_js_unlock(&group->lock);
    }
    wf_js_unlock(&names_lock);
    JS_FreeCString(context, name);
    if (!group) {
        free(port);
        return JS_ThrowOutOfMemory(context);
    }
    JSValue handle = wf_js_port_adopt(context, port);
    if (JS_IsException(handle))
        abandon(port, false);
    return handle;
}

/* portAttach(handle, object): who is told; the object has the handle, so it stays as long as that does */
static JSValue js_port_attach(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct seat *seat = seat_of(context, count, arguments);
    (void)self;
    if (!seat || count < 2)
        return JS_EXCEPTION;
    seat->object = arguments[1];
    return JS_UNDEFINED;
}

/* Whether a port is part of the message that it would get. */
static bool carries(const struct wf_js_parcel *parcel, const struct wf_js_port *port) {
    for (uint32_t i = 0; i < parcel->cargo_count; i++)
        if (parcel->cargo[i].kind == WF_JS_CARGO_PORT && parcel->cargo[i].what == port)
            return true;
    return false;
}

/* portPost(handle, value, list of what is transferred, or undefined): whether somebody will get it */
static JSValue js_port_post(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct seat *seat = seat_of(context, count, arguments);
    (void)self;
    if (!seat || count < 3)
        return JS_EXCEPTION;
    struct wf_js_parcel *parcel = wf_js_pack(context, arguments[1], arguments[2]);
    if (!parcel)
        return JS_EXCEPTION;
    struct wf_js_port *port = seat->port; /* looked at after packing, which may have closed it, or given it away */
    bool is_alone = true, is_good = true, is_lost = false;
    if (port) {
        struct group *group = port->group;
        wf_js_lock(&group->lock);
        for (struct wf_js_port *other = group->ports; other && !port->is_closed; other = other->next) {
            if (other == port || other->is_closed || carries(parcel, other))
                continue;
            bool is_sent = enqueue_locked(other, parcel);
            is_alone &= !is_sent;
            is_good &= is_sent;
        }
        if (!is_alone) /* with the lock, so that a single receiver finds that the parcel is its own */
            wf_js_parcel_drop(parcel, false);
        is_lost = port->is_peer_dead;
        wf_js_unlock(&group->lock);
    }
    if (is_alone)
        wf_js_parcel_drop(parcel, is_lost);
    return is_good ? JS_NewBool(context, !is_alone) : JS_ThrowOutOfMemory(context);
}

/* portStart(handle, whether it receives) */
static JSValue js_port_start(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct seat *seat = seat_of(context, count, arguments);
    (void)self;
    if (!seat || count < 2)
        return JS_EXCEPTION;
    if (!seat->port)
        return JS_FALSE;
    if (!seat->is_rooted) {
        seat->is_rooted = true;
        (void)JS_DupValue(context, seat->object);
    }
    wf_js_lock(&seat->port->group->lock);
    seat->port->is_receiving = JS_ToBool(context, arguments[1]);
    signal_locked(seat->port);
    wf_js_unlock(&seat->port->group->lock);
    return JS_TRUE;
}

/* portKeep(handle, whether it keeps the loop alive); without the second: whether it does */
static JSValue js_port_keep(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct seat *seat = seat_of(context, count, arguments);
    (void)self;
    if (!seat)
        return JS_EXCEPTION;
    bool keeps = count > 1 ? JS_ToBool(context, arguments[1]) : seat->keeps;
    if (!seat->port || keeps == seat->keeps)
        return JS_NewBool(context, seat->keeps);
    int error = keeps ? weft_loop_keep(seat->js->loop) : 0;
    if (!keeps)
        weft_loop_unkeep(seat->js->loop);
    wf_js_lock(&seat->port->group->lock);
    seat->keeps = keeps && !error;
    wf_js_unlock(&seat->port->group->lock);
    return JS_NewBool(context, seat->keeps);
}

/* portClose(handle) */
static JSValue js_port_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct seat *seat = seat_of(context, count, arguments);
    (void)self;
    if (!seat)
        return JS_EXCEPTION;
    if (seat->port)
        begin_close(seat);
    return JS_UNDEFINED;
}

/* portReceive(handle) -> [value], what is next in its queue, without waiting; undefined: nothing */
static JSValue js_port_receive(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct seat *seat = seat_of(context, count, arguments);
    (void)self;
    if (!seat)
        return JS_EXCEPTION;
    struct wf_js_parcel *parcel = NULL;
    if (seat->port) {
        wf_js_lock(&seat->port->group->lock);
        parcel = seat->port->first ? dequeue_locked(seat->port) : NULL;
        signal_locked(seat->port);
        wf_js_unlock(&seat->port->group->lock);
    }
    if (!parcel)
        return JS_UNDEFINED;
    JSValue value = wf_js_open(context, parcel, NULL);
    if (JS_IsException(value))
        return value;
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, value);
    return list;
}

/* portPeer(handle, handle): whether the two are of one pair */
static JSValue js_port_peer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct seat *one = seat_of(context, count, arguments);
    struct seat *other = count > 1 ? JS_GetOpaque2(context, arguments[1], port_class) : NULL;
    (void)self;
    if (!one || !other)
        return JS_EXCEPTION;
    return JS_NewBool(context, one->port && other->port && one != other && one->port->group == other->port->group);
}

int wf_js_add_ports(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "PortHandle", .finalizer = port_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("portPair", 0, js_port_pair),     JS_CFUNC_DEF("portNamed", 1, js_port_named),
        JS_CFUNC_DEF("portAttach", 2, js_port_attach), JS_CFUNC_DEF("portPost", 3, js_port_post),
        JS_CFUNC_DEF("portStart", 2, js_port_start),   JS_CFUNC_DEF("portKeep", 2, js_port_keep),
        JS_CFUNC_DEF("portClose", 1, js_port_close),   JS_CFUNC_DEF("portReceive", 1, js_port_receive),
        JS_CFUNC_DEF("portPeer", 2, js_port_peer),
    };
    wf_js_new_class(JS_GetRuntime(context), &port_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
