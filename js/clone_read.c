/* SPDX-License-Identifier: MIT
 *
 * js/clone_read.c - parcels become values: the second half of the structured clone algorithm of HTML. See js/parcel.h for the form.
 *
 * As in js/clone_write.c, the objects that are being filled are frames of a stack of our own. An object has its number, and can be
 * referred to, before its parts are read; only what js/lib/clone.js makes (RARE) is made when the first of its values are there.
 */
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "parcel.h"
#include "port.h"
#include "shared.h"

enum { FIRST_ROOM = 16 };

struct frame {
    enum wf_js_tag tag; /* OBJECT, ARRAY, RARE */
    uint32_t number;    /* of the object */
    JSValue object;     /* RARE: undefined until it was made */
    JSValue name;       /* RARE */
    JSValue values;     /* RARE: an array of those that were read */
    uint32_t index,
        dense; /* ARRAY: the next element, and how many are elements; RARE: the next value, and those of the shell */
    uint32_t count; /* ARRAY: its length; RARE: of all values */
    JSAtom key;     /* of the value that comes next */
    bool has_holes;
};

struct reader {
    JSContext *context;
    struct wf_js_parcel *parcel;
    const uint8_t *at, *end;
    JSValue *objects;
    uint32_t object_count, object_room;
    JSAtom *keys;
    uint32_t key_count, key_room;
    struct frame *frames;
    uint32_t depth, frame_room;
    uint32_t transfer; /* the number of the transferred object that is being read; of none: UINT32_MAX */
};

static JSValue read_graph(struct reader *reader);
static JSValue read_leaf(struct reader *reader, enum wf_js_tag tag);
static JSValue read_cargo(struct reader *reader, uint32_t index);
static JSValue read_view(struct reader *reader);
static bool begin(struct reader *reader, enum wf_js_tag tag);
static bool place_value(struct reader *reader, JSValue value);
static bool make_rare(struct reader *reader, struct frame *frame);
static JSValue end_frame(struct reader *reader);

/* ---- Bytes ---- */

static const uint8_t *take(struct reader *reader, size_t size) {
    const uint8_t *at = reader->at;
    if ((size_t)(reader->end - at) < size)
        weft_fatal("a message between instances of JavaScript is broken");
    reader->at += size;
    return at;
}

static uint8_t take_byte(struct reader *reader) {
    return *take(reader, 1);
}

static uint32_t take_number(struct reader *reader) {
    uint32_t number;
    memcpy(&number, take(reader, sizeof number), sizeof number);
    return number;
}

/* Behind its tag. */
static JSValue take_text(struct reader *reader) {
    uint8_t width = take_byte(reader);
    uint32_t length = take_number(reader);
    const uint8_t *characters = take(reader, (size_t)length * (width == 2 ? 2 : 1));
    return wf_engine_new_text(reader->context, characters, length, width);
}

/* Room for one more in an array of ours. */
static bool make_room(struct reader *reader, void *array, uint32_t count, uint32_t *room, size_t size) {
    if (count < *room)
        return true;
    uint32_t wanted = *room ? 2 * *room : FIRST_ROOM;
    void *longer = realloc(*(void **)array, wanted * size);
    if (!longer) {
        JS_ThrowOutOfMemory(reader->context);
        return false;
    }
    *(void **)array = longer;
    *room = wanted;
    return true;
}

/* The next number is for this object, which is counted once more. */
static bool add_object(struct reader *reader, JSValueConst object) {
    if (!make_room(reader, &reader->objects, reader->object_count, &reader->object_room, sizeof *reader->objects))
        return false;
    reader->objects[reader->object_count++] = JS_DupValue(reader->context, object);
    return true;
}

/* ---- The walk ---- */

static bool read_transfers(struct reader *reader, JSValue *transferred) {
    JSContext *context = reader->context;
    bool is_good = true;
    for (uint32_t i = 0; is_good && i < reader->parcel->transfers; i++)
        is_good = add_object(reader, JS_UNDEFINED);
    if (transferred)
        *transferred = JS_NewArray(context);
    reader->at = reader->parcel->bytes + reader->parcel->transfers_at;
    for (uint32_t i = 0; is_good && i < reader->parcel->transfers; i++) {
        reader->transfer = i;
        JSValue object = read_graph(reader);
        is_good = !JS_IsException(object);
        if (is_good && transferred)
            is_good = JS_SetPropertyUint32(context, *transferred, i, JS_DupValue(context, object)) >= 0;
        if (is_good)
            reader->objects[i] = object;
    }
    reader->transfer = UINT32_MAX;
    return is_good;
}

JSValue wf_js_unpack(JSContext *context, struct wf_js_parcel *parcel, JSValue *transferred) {
    struct reader reader = {
        .context = context, .parcel = parcel, .end = parcel->bytes + parcel->size, .transfer = UINT32_MAX};
    if (transferred)
        *transferred = JS_UNDEFINED;
    bool is_good = (parcel->transfers == 0 && !transferred) || read_transfers(&reader, transferred);
    reader.at = parcel->bytes;
    JSValue value = is_good ? read_graph(&reader) : JS_EXCEPTION;
    while (reader.depth > 0)
        JS_FreeValue(context, end_frame(&reader));
    for (uint32_t i = 0; i < reader.object_count; i++)
        JS_FreeValue(context, reader.objects[i]);
    for (uint32_t i = 0; i < reader.key_count; i++)
        JS_FreeAtom(context, reader.keys[i]);
    free(reader.objects);
    free(reader.keys);
    free(reader.frames);
    if (JS_IsException(value) && transferred) {
        JS_FreeValue(context, *transferred);
        *transferred = JS_UNDEFINED;
    }
    return value;
}

/* Whether the innermost object is complete. Else its next value follows, and the key of it is known. */
static int is_complete(struct reader *reader) {
    struct frame *frame = &reader->frames[reader->depth - 1];
    if (frame->tag == WF_JS_RARE)
        return frame->index == frame->count;
    if (frame->tag == WF_JS_ARRAY && frame->index < frame->dense)
        return false;
    enum wf_js_tag tag = take_byte(reader);
    if (tag == WF_JS_END)
        return true;
    if (tag == WF_JS_KEY) {
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): whoever wrote it had written keys before
        frame->key = reader->keys[take_number(reader)];
        return false;
    }
    (void)take_byte(reader); /* the tag of the text */
    if (!make_room(reader, &reader->keys, reader->key_count, &reader->key_room, sizeof *reader->keys))
        return -1;
    JSValue text = take_text(reader);
    JSAtom key = JS_IsException(text) ? JS_ATOM_NULL : JS_ValueToAtom(reader->context, text);
    JS_FreeValue(reader->context, text);
    if (key == JS_ATOM_NULL)
        return -1;
    frame->key = reader->keys[reader->key_count++] = key;
    return false;
}

static JSValue read_graph(struct reader *reader) {
    uint32_t bottom = reader->depth;
    for (;;) {
        int complete = reader->depth > bottom ? is_complete(reader) : 0;
        if (complete < 0)
            return JS_EXCEPTION;
        JSValue value;
        if (complete) {
            value = end_frame(reader);
        } else {
            enum wf_js_tag tag = take_byte(reader);
            if (tag == WF_JS_OBJECT || tag == WF_JS_ARRAY || tag == WF_JS_RARE) {
                if (!begin(reader, tag))
                    return JS_EXCEPTION;
                continue;
            }
            value = read_leaf(reader, tag);
        }
        if (JS_IsException(value) || reader->depth == bottom)
            return value;
        if (!place_value(reader, value))
            return JS_EXCEPTION;
    }
}

/* ---- Objects with parts ---- */

static bool begin(struct reader *reader, enum wf_js_tag tag) {
    JSContext *context = reader->context;
    struct frame frame = {.tag = tag, .object = JS_UNDEFINED, .name = JS_UNDEFINED, .values = JS_UNDEFINED};
    if (tag == WF_JS_ARRAY) {
        frame.count = take_number(reader);
        frame.dense = take_number(reader);
    } else if (tag == WF_JS_RARE) {
        frame.dense = take_number(reader);
        frame.count = frame.dense + take_number(reader);
        (void)take_byte(reader); /* the tag of its name */
        frame.name = take_text(reader);
        frame.values = JS_NewArray(context);
    }
    frame.object = tag == WF_JS_OBJECT  ? JS_NewObject(context)
                   : tag == WF_JS_ARRAY ? JS_NewArray(context)
                                        : JS_UNDEFINED;
    bool is_good = !JS_IsException(frame.object) && !JS_IsException(frame.name) && !JS_IsException(frame.values) &&
                   make_room(reader, &reader->frames, reader->depth, &reader->frame_room, sizeof frame);
    if (is_good && reader->transfer == UINT32_MAX) {
        frame.number = reader->object_count;
        is_good = add_object(reader, frame.object);
    } else {
        frame.number = reader->transfer;
    }
    if (!is_good) {
        JS_FreeValue(context, frame.object);
        JS_FreeValue(context, frame.name);
        JS_FreeValue(context, frame.values);
        return false;
    }
    reader->frames[reader->depth++] = frame;
    return tag != WF_JS_RARE || frame.dense > 0 || make_rare(reader, &reader->frames[reader->depth - 1]);
}

/* A value that the innermost object waits for. */
static bool place_value(struct reader *reader, JSValue value) {
    JSContext *context = reader->context;
    struct frame *frame = &reader->frames[reader->depth - 1];
    if (frame->tag == WF_JS_RARE) {
        if (JS_SetPropertyUint32(context, frame->values, frame->index++, value) < 0)
            return false;
        return frame->index != frame->dense || make_rare(reader, frame);
    }
    if (frame->tag == WF_JS_ARRAY && frame->index < frame->dense) {
        uint32_t index = frame->index++;
        frame->has_holes |= JS_IsUninitialized(value);
        return JS_IsUninitialized(value) ||
               JS_DefinePropertyValueUint32(context, frame->object, index, value, JS_PROP_C_W_E) >= 0;
    }
    return JS_DefinePropertyValue(context, frame->object, frame->key, value, JS_PROP_C_W_E) >= 0;
}

static JSValue ask(struct reader *reader, const char *how, int count, JSValueConst *arguments) {
    JSContext *context = reader->context;
    JSValue library = wf_js_library(context, "clone");
    JSValue fn = JS_IsException(library) ? JS_EXCEPTION : JS_GetPropertyStr(context, library, how);
    JSValue answer = JS_IsException(fn) ? fn : JS_Call(context, fn, JS_UNDEFINED, count, arguments);
    JS_FreeValue(context, fn);
    JS_FreeValue(context, library);
    return answer;
}

static bool make_rare(struct reader *reader, struct frame *frame) {
    JSContext *context = reader->context;
    JSValueConst arguments[] = {frame->name, frame->values};
    JSValue object = ask(reader, "make", 2, arguments);
    if (JS_IsException(object))
        return false;
    frame->object = object;
    if (reader->transfer == UINT32_MAX)
        reader->objects[frame->number] = JS_DupValue(context, object);
    return true;
}

/* What it has become; also after an error, when nobody wants it. */
static JSValue end_frame(struct reader *reader) {
    JSContext *context = reader->context;
    struct frame frame = reader->frames[--reader->depth];
    bool is_good = !JS_HasException(context);
    if (is_good && frame.tag == WF_JS_RARE && frame.count > frame.dense) {
        JSValueConst arguments[] = {frame.name, frame.object, frame.values, JS_NewUint32(context, frame.dense)};
        JSValue done = ask(reader, "fill", 4, arguments);
        is_good = !JS_IsException(done);
        JS_FreeValue(context, done);
    }
    if (is_good && frame.tag == WF_JS_ARRAY && (frame.has_holes || frame.dense != frame.count))
        is_good = JS_SetPropertyStr(context, frame.object, "length", JS_NewUint32(context, frame.count)) >= 0;
    JS_FreeValue(context, frame.name);
    JS_FreeValue(context, frame.values);
    if (is_good)
        return frame.object;
    JS_FreeValue(context, frame.object);
    return JS_EXCEPTION;
}

/* ---- Leaves ---- */

static JSValue read_bigint(struct reader *reader) {
    uint32_t length = take_number(reader);
    const char *digits = (const char *)take(reader, length);
    if (length > 18) { /* more may be more than 64 bits */
        JSValue text = JS_NewStringLen(reader->context, digits, length);
        JSValue value = JS_IsException(text) ? text : ask(reader, "makeBigInt", 1, &text);
        JS_FreeValue(reader->context, text);
        return value;
    }
    char copy[20];
    memcpy(copy, digits, length);
    copy[length] = 0;
    return JS_NewBigInt64(reader->context, strtoll(copy, NULL, 10));
}

/* Bytes that are part of the message. */
static JSValue read_buffer(struct reader *reader) {
    struct wf_engine_bytes bytes = {.length = take_number(reader)};
    memcpy(&bytes.room, take(reader, sizeof bytes.room), sizeof bytes.room);
    const uint8_t *from = take(reader, bytes.length);
    if (bytes.room < 0)
        return JS_NewArrayBufferCopy(reader->context, from, bytes.length);
    bytes.block = bytes.bytes = malloc(bytes.length + 1);
    if (!bytes.block)
        return JS_ThrowOutOfMemory(reader->context);
    memcpy(bytes.bytes, from, bytes.length);
    JSValue buffer = wf_engine_give_bytes(reader->context, &bytes);
    if (JS_IsException(buffer))
        free(bytes.block);
    return buffer;
}

static JSValue number_it(struct reader *reader, JSValue object) {
    if (JS_IsException(object) || reader->transfer != UINT32_MAX || add_object(reader, object))
        return object;
    JS_FreeValue(reader->context, object);
    return JS_EXCEPTION;
}

static JSValue read_leaf(struct reader *reader, enum wf_js_tag tag) {
    switch (tag) {
    case WF_JS_UNDEFINED:
        return JS_UNDEFINED;
    case WF_JS_NULL:
        return JS_NULL;
    case WF_JS_FALSE:
        return JS_FALSE;
    case WF_JS_TRUE:
        return JS_TRUE;
    case WF_JS_HOLE:
        return JS_UNINITIALIZED;
    case WF_JS_INT:
        return JS_NewInt32(reader->context, (int32_t)take_number(reader));
    case WF_JS_NUMBER: {
        double number;
        memcpy(&number, take(reader, sizeof number), sizeof number);
        return JS_NewFloat64(reader->context, number);
    }
    case WF_JS_TEXT:
        return take_text(reader);
    case WF_JS_BIGINT:
        return read_bigint(reader);
    case WF_JS_REFERENCE:
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): whoever wrote it had written objects before
        return JS_DupValue(reader->context, reader->objects[take_number(reader)]);
    case WF_JS_BUFFER:
        return number_it(reader, read_buffer(reader));
    case WF_JS_VIEW:
        return read_view(reader);
    case WF_JS_CARGO:
        return read_cargo(reader, take_number(reader));
    default:
        weft_fatal("a message between instances of JavaScript has no such part: %d", (int)tag);
    }
}

static JSValue read_view(struct reader *reader) {
    struct wf_engine_view view = {.type = (int8_t)take_byte(reader)};
    view.tracks = take_byte(reader);
    view.offset = take_number(reader);
    view.length = take_number(reader);
    view.buffer = read_leaf(reader, take_byte(reader));
    if (JS_IsException(view.buffer))
        return view.buffer;
    JSValue object = wf_engine_new_view(reader->context, &view);
    JS_FreeValue(reader->context, view.buffer);
    return number_it(reader, object);
}

/* Memory of the sender becomes the receiver's, unless there are others who want it. */
static JSValue give_bytes(struct reader *reader, struct wf_js_cargo *cargo) {
    JSContext *context = reader->context;
    if (atomic_load(&reader->parcel->references) > 1) {
        struct wf_engine_bytes copy = cargo->bytes;
        copy.block = copy.bytes = malloc((size_t)copy.length + 1);
        if (!copy.block)
            return JS_ThrowOutOfMemory(context);
        memcpy(copy.bytes, cargo->bytes.bytes, copy.length);
        JSValue buffer = wf_engine_give_bytes(context, &copy);
        if (JS_IsException(buffer))
            free(copy.block);
        return buffer;
    }
    JSValue buffer = wf_engine_give_bytes(context, &cargo->bytes);
    cargo->is_gone = !JS_IsException(buffer);
    return buffer;
}

static JSValue read_cargo(struct reader *reader, uint32_t index) {
    JSContext *context = reader->context;
    struct wf_js_cargo *cargo = &reader->parcel->cargo[index];
    if (cargo->is_gone && cargo->kind == WF_JS_CARGO_CHANNEL) /* js/line.c has taken it out */
        return wf_js_throw_coded(context, "EOWNERDEAD", "The instance at the other end of the channel has died");
    if (cargo->is_gone)
        return JS_ThrowInternalError(context, "what was transferred is somebody else's by now");
    switch (cargo->kind) {
    case WF_JS_CARGO_BYTES:
        return number_it(reader, give_bytes(reader, cargo));
    case WF_JS_CARGO_SHARED:
        return number_it(reader, wf_js_shared_new(context, &cargo->bytes));
    case WF_JS_CARGO_CHANNEL:
        return wf_js_channel_adopt(context, cargo->what);
    default: {
        JSValue handle = wf_js_port_adopt(context, cargo->what);
        cargo->is_gone = !JS_IsException(handle);
        return handle;
    }
    }
}
