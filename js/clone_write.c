/* SPDX-License-Identifier: MIT
 *
 * js/clone_write.c - values become parcels: the first half of the structured clone algorithm of HTML.
 *
 * Written as a walk over the graph, depth first, with a stack of frames of its own: a list of a million links is no deeper than any
 * other. Getters of the program run in the middle of it, and may change what is still to come; so every object that was met is held,
 * which also keeps its address from being that of another one, and nothing is looked at twice.
 *
 * What is not a plain object, an array, a buffer or a view is taken apart by js/lib/clone.js (RARE): dates, maps, errors, classes of
 * the library. It also refuses what cannot be cloned.
 */
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "numbers.h"
#include "parcel.h"
#include "port.h"
#include "shared.h"

/* COPIED_APART: a buffer of that size is copied into memory that the receiver keeps, a smaller one is part of the bytes. */
enum { FIRST_ROOM = 128, FIRST_FRAMES = 16, COPIED_APART = 4096 };

enum frame_kind { OBJECT, ARRAY, LIST };

/* An object whose parts are being written; the next one is index. */
struct frame {
    enum frame_kind kind;
    JSValue object;        /* LIST: an array of the values */
    JSPropertyEnum *names; /* OBJECT, also of an ARRAY that is not a list */
    uint32_t index, count;
};

struct writer {
    JSContext *context;
    struct wf_js_parcel *parcel; /* grows; its size is what was written */
    size_t room;
    struct wf_numbers objects, keys; /* both are held */
    struct frame *frames;
    uint32_t depth, frame_room;
    uint32_t cargo_room;
    JSValue library, plain; /* js/lib/clone.js, once it is needed; Object.prototype */
};

static struct wf_js_parcel *pack(JSContext *context, JSValueConst value, JSValueConst list);
static bool write_graph(struct writer *writer, JSValueConst value);
static bool write_value(struct writer *writer, JSValueConst value);
static bool write_object(struct writer *writer, JSValueConst object);
static bool write_plain(struct writer *writer, JSValueConst object);
static bool write_array(struct writer *writer, JSValueConst array);
static bool write_buffer(struct writer *writer, JSValueConst buffer);
static bool write_shared(struct writer *writer, JSValueConst buffer);
static bool write_view(struct writer *writer, JSValueConst object);
static bool write_rare(struct writer *writer, JSValueConst object, const char *how);
static bool write_handle(struct writer *writer, JSValueConst object, bool *is_one);
static bool refuse(struct writer *writer, const char *how, JSValueConst value);
static bool write_transfers(struct writer *writer, JSValueConst list);
static bool step(struct writer *writer);

/* ---- Tables ---- */

/* A key that is not in it. */
static bool add_number(struct writer *writer, struct wf_numbers *numbers, uintptr_t key) {
    if (wf_numbers_add(numbers, key))
        return true;
    JS_ThrowOutOfMemory(writer->context);
    return false;
}

static bool add_object(struct writer *writer, JSValueConst object) {
    if (!add_number(writer, &writer->objects, (uintptr_t)JS_VALUE_GET_PTR(object)))
        return false;
    (void)JS_DupValue(writer->context, object);
    return true;
}

/* ---- Bytes ---- */

/* Room for that many more, and where they go; null: an exception. */
static uint8_t *extend(struct writer *writer, size_t size) {
    size_t used = writer->parcel ? writer->parcel->size : 0;
    if (!writer->parcel || writer->room - used < size) {
        size_t room = writer->room ? writer->room : FIRST_ROOM;
        while (room - used < size)
            room *= 2;
        struct wf_js_parcel *longer = realloc(writer->parcel, sizeof *longer + room);
        if (!longer) {
            JS_ThrowOutOfMemory(writer->context);
            return NULL;
        }
        if (!writer->parcel)
            memset(longer, 0, sizeof *longer);
        writer->parcel = longer;
        writer->room = room;
    }
    writer->parcel->size += size;
    return writer->parcel->bytes + used;
}

static bool put_tag(struct writer *writer, enum wf_js_tag tag) {
    uint8_t *at = extend(writer, 1);
    if (at)
        *at = (uint8_t)tag;
    return at;
}

static bool put(struct writer *writer, enum wf_js_tag tag, const void *data, size_t size) {
    uint8_t *at = extend(writer, 1 + size);
    if (!at)
        return false;
    *at = (uint8_t)tag;
    memcpy(at + 1, data, size);
    return true;
}

static bool put_text(struct writer *writer, JSValueConst string) {
    struct wf_engine_text text;
    if (wf_engine_text_of(writer->context, string, &text))
        return false;
    size_t size = (size_t)text.length * (text.width == 2 ? 2 : 1);
    uint8_t *at = extend(writer, 6 + size);
    if (at) {
        at[0] = WF_JS_TEXT;
        at[1] = text.width;
        memcpy(at + 2, &text.length, 4);
        memcpy(at + 6, text.characters, size);
    }
    wf_engine_text_done(writer->context, &text);
    return at;
}

static bool put_bigint(struct writer *writer, JSValueConst value) {
    size_t length;
    const char *digits = JS_ToCStringLen(writer->context, &length, value);
    uint8_t *at = digits ? extend(writer, 5 + length) : NULL;
    if (at) {
        uint32_t shown = (uint32_t)length;
        at[0] = WF_JS_BIGINT;
        memcpy(at + 1, &shown, 4);
        memcpy(at + 5, digits, length);
    }
    JS_FreeCString(writer->context, digits);
    return at;
}

static bool put_key(struct writer *writer, JSAtom atom) {
    uint32_t number;
    if (wf_numbers_find(&writer->keys, atom, &number))
        return put(writer, WF_JS_KEY, &number, sizeof number);
    if (!add_number(writer, &writer->keys, atom))
        return false;
    (void)JS_DupAtom(writer->context, atom);
    JSValue text = JS_AtomToString(writer->context, atom);
    bool is_good = !JS_IsException(text) && put_tag(writer, WF_JS_NEW_KEY) && put_text(writer, text);
    JS_FreeValue(writer->context, text);
    return is_good;
}

/* A new piece of cargo, of which the parcel takes over what it holds, and the reference to it. Null: an exception. */
static struct wf_js_cargo *put_cargo(struct writer *writer, enum wf_js_cargo_kind kind) {
    uint32_t index = writer->parcel ? writer->parcel->cargo_count : 0;
    if (!put(writer, WF_JS_CARGO, &index, sizeof index))
        return NULL;
    struct wf_js_parcel *parcel = writer->parcel;
    if (index == writer->cargo_room) {
        uint32_t room = index ? 2 * index : 4;
        struct wf_js_cargo *longer = realloc(parcel->cargo, room * sizeof *longer);
        if (!longer) {
            JS_ThrowOutOfMemory(writer->context);
            return NULL;
        }
        parcel->cargo = longer;
        writer->cargo_room = room;
    }
    parcel->cargo[index] = (struct wf_js_cargo){.kind = kind, .is_gone = true}; /* until there is something */
    parcel->cargo_count++;
    return &parcel->cargo[index];
}

/* ---- Frames ---- */

/* Takes over the object. */
static struct frame *push(struct writer *writer, enum frame_kind kind, JSValue object) {
    if (writer->depth == writer->frame_room) {
        uint32_t room = writer->frame_room ? 2 * writer->frame_room : FIRST_FRAMES;
        struct frame *longer = realloc(writer->frames, room * sizeof *longer);
        if (!longer) {
            JS_FreeValue(writer->context, object);
            JS_ThrowOutOfMemory(writer->context);
            return NULL;
        }
        writer->frames = longer;
        writer->frame_room = room;
    }
    struct frame *frame = &writer->frames[writer->depth++];
    *frame = (struct frame){.kind = kind, .object = object};
    return frame;
}

static void pop(struct writer *writer) {
    struct frame *frame = &writer->frames[--writer->depth];
    if (frame->names)
        JS_FreePropertyEnum(writer->context, frame->names, frame->count);
    JS_FreeValue(writer->context, frame->object);
}

/* ---- The walk ---- */

/* What the script does meanwhile, in getters, waits for other things: the handle of the call that packs is not for those. */
struct wf_js_parcel *wf_js_pack(JSContext *context, JSValueConst value, JSValueConst list) {
    weft_js *js = wf_js_of(context);
    JSValue handle = js->next_handle;
    js->next_handle = JS_UNDEFINED;
    struct wf_js_parcel *parcel = pack(context, value, list);
    JS_FreeValue(context, js->next_handle);
    js->next_handle = handle;
    return parcel;
}

static struct wf_js_parcel *pack(JSContext *context, JSValueConst value, JSValueConst list) {
    struct writer writer = {.context = context, .library = JS_UNDEFINED, .plain = JS_UNDEFINED};
    int64_t transfers = 0;
    bool is_good = JS_IsUndefined(list) || JS_GetLength(context, list, &transfers) == 0;
    for (uint32_t i = 0; is_good && i < transfers; i++) {
        JSValue object = JS_GetPropertyUint32(context, list, i);
        is_good = !JS_IsException(object) && add_object(&writer, object);
        JS_FreeValue(context, object);
    }
    is_good = is_good && write_graph(&writer, value) && (transfers == 0 || write_transfers(&writer, list));
    while (writer.depth > 0)
        pop(&writer);
    for (uint32_t i = 0; i < writer.objects.count; i++)
        JS_FreeValue(context, JS_MKPTR(JS_TAG_OBJECT, (void *)writer.objects.keys[i]));
    for (uint32_t i = 0; i < writer.keys.count; i++)
        JS_FreeAtom(context, (JSAtom)writer.keys.keys[i]);
    wf_numbers_term(&writer.objects);
    wf_numbers_term(&writer.keys);
    free(writer.frames);
    JS_FreeValue(context, writer.library);
    JS_FreeValue(context, writer.plain);
    struct wf_js_parcel *parcel = writer.parcel;
    if (parcel) {
        atomic_init(&parcel->references, 1);
        parcel->from = wf_js_of(context)->number;
    }
    if (is_good)
        return parcel;
    wf_js_parcel_drop(parcel, false);
    return NULL;
}

static bool write_graph(struct writer *writer, JSValueConst value) {
    uint32_t bottom = writer->depth;
    bool is_good = write_value(writer, value);
    while (is_good && writer->depth > bottom)
        is_good = step(writer);
    return is_good;
}

/* An own property: uninitialised when it is not there any more. */
static JSValue own_value(struct writer *writer, JSValueConst object, JSAtom name) {
    JSContext *context = writer->context;
    JSPropertyDescriptor property;
    int found = JS_GetOwnProperty(context, &property, object, name);
    if (found <= 0)
        return found ? JS_EXCEPTION : JS_UNINITIALIZED;
    JSValue value = property.value;
    if (property.flags & JS_PROP_GETSET)
        value = JS_GetProperty(context, object, name);
    JS_FreeValue(context, property.getter);
    JS_FreeValue(context, property.setter);
    return value;
}

static JSValue element(struct writer *writer, const struct frame *frame, uint32_t index) {
    uint32_t length;
    if (frame->kind == LIST || (wf_engine_is_list(frame->object, &length) && index < length))
        return JS_GetPropertyUint32(writer->context, frame->object, index);
    JSAtom name = JS_NewAtomUInt32(writer->context, index); /* a getter further up has changed the array */
    JSValue value = name == JS_ATOM_NULL ? JS_EXCEPTION : own_value(writer, frame->object, name);
    JS_FreeAtom(writer->context, name);
    return value;
}

/* One part of the innermost object, or its end. */
static bool step(struct writer *writer) {
    struct frame *frame = &writer->frames[writer->depth - 1];
    if (frame->index == frame->count) {
        bool has_end = frame->kind != LIST;
        pop(writer);
        return !has_end || put_tag(writer, WF_JS_END);
    }
    uint32_t index = frame->index++;
    JSAtom name = frame->names ? frame->names[index].atom : JS_ATOM_NULL;
    JSValue value = frame->names ? own_value(writer, frame->object, name) : element(writer, frame, index);
    bool is_good = !JS_IsException(value);
    if (JS_IsUninitialized(value))
        return frame->names || put_tag(writer, WF_JS_HOLE); /* a getter has removed it */
    is_good = is_good && (!frame->names || put_key(writer, name)) && write_value(writer, value);
    JS_FreeValue(writer->context, value);
    return is_good;
}

static bool write_value(struct writer *writer, JSValueConst value) {
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_UNDEFINED:
        return put_tag(writer, WF_JS_UNDEFINED);
    case JS_TAG_NULL:
        return put_tag(writer, WF_JS_NULL);
    case JS_TAG_BOOL:
        return put_tag(writer, JS_VALUE_GET_BOOL(value) ? WF_JS_TRUE : WF_JS_FALSE);
    case JS_TAG_INT: {
        int32_t number = JS_VALUE_GET_INT(value);
        return put(writer, WF_JS_INT, &number, sizeof number);
    }
    case JS_TAG_FLOAT64: {
        double number = JS_VALUE_GET_FLOAT64(value);
        return put(writer, WF_JS_NUMBER, &number, sizeof number);
    }
    case JS_TAG_SYMBOL:
        return refuse(writer, "refuse", value);
    case JS_TAG_OBJECT:
        return write_object(writer, value);
    default:
        return JS_IsString(value) ? put_text(writer, value) : put_bigint(writer, value);
    }
}

static bool write_object(struct writer *writer, JSValueConst object) {
    uint32_t number;
    if (wf_numbers_find(&writer->objects, (uintptr_t)JS_VALUE_GET_PTR(object), &number))
        return put(writer, WF_JS_REFERENCE, &number, sizeof number);
    switch (wf_engine_kind(object)) {
    case WF_ENGINE_PLAIN:
        return write_plain(writer, object);
    case WF_ENGINE_ARRAY:
        return write_array(writer, object);
    case WF_ENGINE_BUFFER:
        return write_buffer(writer, object);
    case WF_ENGINE_SHARED:
        return write_shared(writer, object);
    case WF_ENGINE_VIEW:
        return write_view(writer, object);
    default:
        return write_rare(writer, object, "take");
    }
}

/* Whether its prototype says that it is more than a plain object. */
static int is_special(struct writer *writer, JSValueConst object) {
    JSContext *context = writer->context;
    if (JS_IsUndefined(writer->plain)) {
        JSValue any = JS_NewObject(context);
        if (JS_IsException(any))
            return -1;
        writer->plain = JS_GetPrototype(context, any);
        JS_FreeValue(context, any);
    }
    JSValue prototype = JS_GetPrototype(context, object);
    bool is_plain = JS_IsNull(prototype) ||
                    (JS_IsObject(prototype) && JS_VALUE_GET_PTR(prototype) == JS_VALUE_GET_PTR(writer->plain));
    JS_FreeValue(context, prototype);
    return !is_plain;
}

/* The parts by their names. */
static bool push_names(struct writer *writer, enum frame_kind kind, JSValueConst object) {
    JSContext *context = writer->context;
    JSPropertyEnum *names;
    uint32_t count;
    if (JS_GetOwnPropertyNames(context, &names, &count, object, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return false;
    struct frame *frame = push(writer, kind, JS_DupValue(context, object));
    if (!frame) {
        JS_FreePropertyEnum(context, names, count);
        return false;
    }
    frame->names = names;
    frame->count = count;
    return true;
}

static bool write_plain(struct writer *writer, JSValueConst object) {
    int special = is_special(writer, object);
    if (special)
        return special > 0 && write_rare(writer, object, "take");
    return add_object(writer, object) && put_tag(writer, WF_JS_OBJECT) && push_names(writer, OBJECT, object);
}

static bool write_array(struct writer *writer, JSValueConst array) {
    int64_t length;
    uint32_t dense;
    bool is_list = wf_engine_is_list(array, &dense);
    if (!add_object(writer, array) || JS_GetLength(writer->context, array, &length))
        return false;
    uint32_t head[] = {(uint32_t)length, is_list ? dense : 0};
    if (!put(writer, WF_JS_ARRAY, head, sizeof head))
        return false;
    if (!is_list)
        return push_names(writer, ARRAY, array);
    struct frame *frame = push(writer, ARRAY, JS_DupValue(writer->context, array));
    if (frame)
        frame->count = dense;
    return frame;
}

/* ---- Memory ---- */

static bool write_buffer(struct writer *writer, JSValueConst buffer) {
    struct wf_engine_bytes bytes;
    wf_engine_look_at_bytes(writer->context, buffer, &bytes);
    if (!bytes.bytes)
        return refuse(writer, "refuseDetached", JS_UNDEFINED);
    if (!add_object(writer, buffer))
        return false;
    if (bytes.length < COPIED_APART) {
        uint8_t *at = extend(writer, 9 + bytes.length);
        if (!at)
            return false;
        *at = WF_JS_BUFFER;
        memcpy(at + 1, &bytes.length, 4);
        memcpy(at + 5, &bytes.room, 4);
        memcpy(at + 9, bytes.bytes, bytes.length);
        return true;
    }
    struct wf_js_cargo *cargo = put_cargo(writer, WF_JS_CARGO_BYTES);
    uint8_t *copy = cargo ? malloc(bytes.length) : NULL;
    if (!copy) {
        if (cargo)
            JS_ThrowOutOfMemory(writer->context);
        return false;
    }
    memcpy(copy, bytes.bytes, bytes.length);
    bytes.bytes = bytes.block = copy;
    cargo->bytes = bytes;
    cargo->is_gone = false;
    return true;
}

static bool write_shared(struct writer *writer, JSValueConst buffer) {
    if (!add_object(writer, buffer))
        return false;
    struct wf_js_cargo *cargo = put_cargo(writer, WF_JS_CARGO_SHARED);
    if (!cargo)
        return false;
    wf_engine_look_at_bytes(writer->context, buffer, &cargo->bytes);
    wf_js_shared_ref(cargo->bytes.bytes);
    cargo->is_gone = false;
    return true;
}

static bool write_view(struct writer *writer, JSValueConst object) {
    struct wf_engine_view view;
    struct wf_engine_bytes bytes;
    if (wf_engine_look_at_view(writer->context, object, &view))
        return false;
    wf_engine_look_at_bytes(writer->context, view.buffer, &bytes);
    if (!bytes.bytes)
        return refuse(writer, "refuseDetached", JS_UNDEFINED);
    if (view.is_out)
        return refuse(writer, "refuse", object);
    uint8_t *at = extend(writer, 11);
    if (!at)
        return false;
    at[0] = WF_JS_VIEW;
    at[1] = (uint8_t)view.type;
    at[2] = view.tracks;
    memcpy(at + 3, &view.offset, 4);
    memcpy(at + 7, &view.length, 4);
    return write_object(writer, view.buffer) && add_object(writer, object);
}

/* ---- What js/lib/clone.js knows of ---- */

/* library[how](value); an exception when that throws. */
static JSValue ask(struct writer *writer, const char *how, JSValueConst value) {
    JSContext *context = writer->context;
    if (JS_IsUndefined(writer->library))
        writer->library = wf_js_library(context, "clone");
    JSValue fn = JS_IsException(writer->library) ? JS_EXCEPTION : JS_GetPropertyStr(context, writer->library, how);
    JSValue answer = JS_IsException(fn) ? fn : JS_Call(context, fn, JS_UNDEFINED, 1, &value);
    JS_FreeValue(context, fn);
    if (JS_IsException(writer->library))
        writer->library = JS_UNDEFINED;
    return answer;
}

/* By an error of JavaScript: false. */
static bool refuse(struct writer *writer, const char *how, JSValueConst value) {
    JS_FreeValue(writer->context, ask(writer, how, value));
    return false;
}

/* The answer is undefined for a plain object, or [name, shell, fill...], where shell is how many of the rest it is made of. */
static bool write_rare(struct writer *writer, JSValueConst object, const char *how) {
    JSContext *context = writer->context;
    bool is_handle = false;
    if (!write_handle(writer, object, &is_handle) || is_handle)
        return is_handle;
    JSValue answer = ask(writer, how, object);
    if (JS_IsException(answer))
        return false;
    if (JS_IsUndefined(answer))
        return add_object(writer, object) && put_tag(writer, WF_JS_OBJECT) && push_names(writer, OBJECT, object);
    int64_t length = 0;
    uint32_t head[2] = {0, 0};
    JSValue name = JS_GetPropertyUint32(context, answer, 0), shell = JS_GetPropertyUint32(context, answer, 1);
    bool is_good = !JS_IsException(name) && !JS_ToUint32(context, &head[0], shell) &&
                   !JS_GetLength(context, answer, &length) && length >= 2 + (int64_t)head[0];
    head[1] = (uint32_t)length - 2 - head[0];
    uint32_t known;
    if (!wf_numbers_find(&writer->objects, (uintptr_t)JS_VALUE_GET_PTR(object),
                         &known)) /* else: of the transfer list */
        is_good = is_good && add_object(writer, object);
    is_good = is_good && put(writer, WF_JS_RARE, head, sizeof head) && put_text(writer, name);
    JS_FreeValue(context, name);
    JS_FreeValue(context, shell);
    struct frame *frame = is_good ? push(writer, LIST, answer) : NULL;
    if (!is_good)
        JS_FreeValue(context, answer);
    if (!frame)
        return false;
    frame->index = 2;
    frame->count = (uint32_t)length;
    return true;
}

/* Handles of the host, which only its own classes have: a channel is shared, a port is given away. They have no number: each is
 * part of one object. */
static bool write_handle(struct writer *writer, JSValueConst object, bool *is_one) {
    struct wf_js_channel *channel = wf_js_channel_shared(object);
    bool is_port = !channel && wf_js_port_is_handle(object);
    if (!channel && !is_port)
        return true;
    struct wf_js_cargo *cargo = put_cargo(writer, channel ? WF_JS_CARGO_CHANNEL : WF_JS_CARGO_PORT);
    *is_one = cargo;
    if (!cargo)
        return false;
    cargo->what =
        channel ? (void *)wf_js_line_carry(channel->line) : (void *)wf_js_port_detach(writer->context, object);
    cargo->is_gone = !cargo->what;
    return true;
}

/* A getter may have detached a buffer meanwhile. */
static bool has_all_transfers(struct writer *writer, JSValueConst list, uint32_t count) {
    bool is_good = true;
    for (uint32_t i = 0; is_good && i < count; i++) {
        struct wf_engine_bytes bytes = {.bytes = NULL};
        JSValue object = JS_GetPropertyUint32(writer->context, list, i);
        if (wf_engine_kind(object) == WF_ENGINE_BUFFER) {
            wf_engine_look_at_bytes(writer->context, object, &bytes);
            is_good = (bytes.bytes || refuse(writer, "refuseDetached", JS_UNDEFINED)) &&
                      wf_js_is_unpinned(writer->context, object);
        }
        JS_FreeValue(writer->context, object);
    }
    return is_good;
}

/* After everything else has gone well: what is on the list changes hands. */
static bool write_transfers(struct writer *writer, JSValueConst list) {
    JSContext *context = writer->context;
    int64_t count;
    if (JS_GetLength(context, list, &count))
        return false;
    writer->parcel->transfers_at = writer->parcel->size;
    bool is_good = has_all_transfers(writer, list, (uint32_t)count);
    for (uint32_t i = 0; is_good && i < count; i++) {
        JSValue object = JS_GetPropertyUint32(context, list, i);
        if (wf_engine_kind(object) == WF_ENGINE_BUFFER) {
            struct wf_js_cargo *cargo = put_cargo(writer, WF_JS_CARGO_BYTES);
            is_good = cargo && wf_engine_take_bytes(context, object, &cargo->bytes) == 0;
            if (is_good)
                cargo->is_gone = false;
        } else {
            uint32_t bottom = writer->depth;
            is_good = write_rare(writer, object, "move");
            while (is_good && writer->depth > bottom)
                is_good = step(writer);
        }
        JS_FreeValue(context, object);
    }
    writer->parcel->transfers = (uint32_t)count;
    return is_good;
}
