/* SPDX-License-Identifier: MIT
 *
 * js/handle.c - handles of values, the frames that they end with, and who is inside. See js/embed.h.
 *
 * Invariants
 *   - A place in the table is in exactly one list: of those that are free, of one frame, or of none, when it is kept.
 *   - Its generation grows whenever a handle of it ends, so bits name one value for ever. Small values (undefined, null, false, true)
 *     are handles without a place.
 *   - Frames of one fiber are nested as its calls are. A frame that was left open inside a function of C is closed with that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

enum { FIRST_ROOM = 32 };

static struct wf_js_slot *find_slot(weft_js *js, weft_js_value handle);
static bool more_slots(struct wf_js_embed *embed);
static void end_slot(weft_js *js, struct wf_js_slot *slot);
static void free_slot(weft_js *js, uint32_t place);
static void close_entered(weft_js *js, struct wf_js_frame *frame);

int wf_js_embed_init(weft_js *js) {
    atomic_store(&js->embed.references, 1);
    js->embed.last_post = &js->embed.first_post;
    return 0;
}

void wf_js_embed_end(weft_js *js) {
    struct wf_js_embed *embed = &js->embed;
    bool tells = js->options.tell_leaks;
#ifdef WF_DEBUG
    tells = true;
#endif
    if (tells && embed->kept)
        fprintf(stderr, "weft: %u value%s of JavaScript %s still kept (weft_js_keep) when the instance was freed\n",
                embed->kept, embed->kept == 1 ? "" : "s", embed->kept == 1 ? "was" : "were");
    for (uint32_t i = 1; i < embed->slot_room; i++)
        if (embed->slots[i].next == WF_JS_KEPT)
            end_slot(js, &embed->slots[i]);
    free(embed->slots);
    embed->slots = NULL;
    embed->slot_room = embed->slot_free = embed->kept = 0;
}

/* ---- Who is inside ---- */

bool wf_js_is_inside(weft_js *js) {
    return js && atomic_load_explicit(&js->inside, memory_order_relaxed) == wf_js_self() && js->embed.finalizing == 0 &&
           wf_js_running(js);
}

bool wf_js_is_usable(weft_js *js) {
    return wf_js_is_inside(js) && wf_js_running(js)->status == 0;
}

static bool is_elsewhere(weft_js *js) {
    weft_loop_state state = weft_loop_get_state(js->loop);
    return (state == WEFT_LOOP_RUNNING || state == WEFT_LOOP_SLEEPING) && weft_loop_current() != js->loop;
}

int weft_js_enter(weft_js *js) {
    if (!js)
        return -EINVAL;
    uint64_t inside = atomic_load(&js->inside);
    bool is_inside = inside == wf_js_self();
    if (is_inside ? js->embed.finalizing > 0 : is_elsewhere(js))
        return -EPERM;
    if (!is_inside && inside && inside != WF_JS_LOOKED_AT)
        return -EBUSY;
    if (js->has_ended)
        return -EPIPE;
    struct wf_js_frame *frame = malloc(sizeof *frame);
    if (!frame)
        return -ENOMEM;
    if (!is_inside)
        wf_js_enter_any(js);
    wf_js_frame_open(js, frame);
    frame->is_entered = true;
    frame->is_first = !is_inside;
    return 0;
}

void weft_js_leave(weft_js *js) {
    struct wf_js_frame *frame = js && atomic_load(&js->inside) == wf_js_self() ? wf_js_running(js) : NULL;
    if (!frame || !frame->is_entered)
        weft_fatal("weft_js_leave without weft_js_enter");
    close_entered(js, frame);
}

/* What is pending goes to the frame outside, or is nobody's. */
static void close_entered(weft_js *js, struct wf_js_frame *frame) {
    wf_js_frame_close(js, frame);
    struct wf_js_frame *outer = wf_js_running(js);
    if (frame->status && outer && outer->status) {
        JS_FreeValue(js->context, frame->error); /* the first one stays */
    } else if (frame->status && outer) {
        outer->status = frame->status;
        outer->error = frame->error;
    } else if (frame->status) {
        JS_Throw(js->context, frame->error);
        wf_js_uncaught(js);
    }
    bool is_first = frame->is_first;
    free(frame);
    if (is_first)
        wf_js_leave(js);
}

static void push_frame(struct wf_js_embed *embed, struct wf_js_frame *frame) {
    frame->previous = NULL;
    frame->next = embed->frames;
    if (frame->next)
        frame->next->previous = frame;
    embed->frames = frame;
}

static void pull_frame(struct wf_js_embed *embed, struct wf_js_frame *frame) {
    *(frame->previous ? &frame->previous->next : &embed->frames) = frame->next;
    if (frame->next)
        frame->next->previous = frame->previous;
}

/* It is the first one next time: whoever has the turn asks more than once. */
struct wf_js_frame *wf_js_running(weft_js *js) {
    struct wf_js_embed *embed = &js->embed;
    struct wf_js_frame *frame = embed->frames;
    uint64_t self = wf_js_self();
    if (!frame || frame->owner == self)
        return frame;
    while (frame && frame->owner != self)
        frame = frame->next;
    if (frame) {
        pull_frame(embed, frame);
        push_frame(embed, frame);
    }
    return frame;
}

void wf_js_frame_open(weft_js *js, struct wf_js_frame *frame) {
    *frame = (struct wf_js_frame){.owner = wf_js_self(), .error = JS_UNDEFINED};
    push_frame(&js->embed, frame);
}

void wf_js_frame_close_inner(weft_js *js, struct wf_js_frame *frame) {
    for (struct wf_js_frame *inner; (inner = wf_js_running(js)) != frame;)
        close_entered(js, inner);
}

void wf_js_frame_close(weft_js *js, struct wf_js_frame *frame) {
    while (frame->newest) {
        uint32_t place = frame->newest;
        frame->newest = js->embed.slots[place].next;
        free_slot(js, place);
    }
    pull_frame(&js->embed, frame);
}

/* ---- Places ---- */

static bool more_slots(struct wf_js_embed *embed) {
    uint32_t room = embed->slot_room ? 2 * embed->slot_room : FIRST_ROOM;
    struct wf_js_slot *longer = room < WF_JS_KEPT / 2 ? realloc(embed->slots, room * sizeof *longer) : NULL;
    if (!longer)
        return false;
    for (uint32_t i = embed->slot_room ? embed->slot_room : 1; i < room; i++)
        longer[i] = (struct wf_js_slot){JS_UNDEFINED, NULL, 1, i + 1 < room ? i + 1 : 0};
    embed->slot_free = embed->slot_room ? embed->slot_room : 1;
    embed->slots = longer;
    embed->slot_room = room;
    return true;
}

/* The value goes, and with it whatever it alone refers to. */
static void end_slot(weft_js *js, struct wf_js_slot *slot) {
    JSValue value = slot->value;
    const char *text = slot->text;
    slot->value = JS_UNDEFINED;
    slot->text = NULL;
    slot->generation = slot->generation == UINT32_MAX ? 1 : slot->generation + 1;
    if (text)
        JS_FreeCString(js->context, text);
    JS_FreeValue(js->context, value); /* finalizers may run: the table stays, since they cannot make handles */
}

static void free_slot(weft_js *js, uint32_t place) {
    struct wf_js_slot *slot = &js->embed.slots[place];
    end_slot(js, slot);
    slot->next = js->embed.slot_free;
    js->embed.slot_free = place;
}

static struct wf_js_slot *find_slot(weft_js *js, weft_js_value handle) {
    uint32_t place = (uint32_t)handle.bits, generation = (uint32_t)(handle.bits >> 32);
    if (place == 0 || place >= js->embed.slot_room || js->embed.slots[place].generation != generation)
        return NULL;
    return &js->embed.slots[place];
}

static bool find_small(weft_js_value handle, JSValue *value) {
    const JSValue small[] = {JS_UNDEFINED, JS_NULL, JS_FALSE, JS_TRUE};
    if (handle.bits == 0 || handle.bits > sizeof small / sizeof *small)
        return false;
    *value = small[handle.bits - 1];
    return true;
}

/* In the frame, which may be null: then it is kept. NULL: there is no memory. */
static struct wf_js_slot *take_slot(weft_js *js, struct wf_js_frame *frame, JSValue value, weft_js_value *handle) {
    struct wf_js_embed *embed = &js->embed;
    if (!embed->slot_free && !more_slots(embed))
        return NULL;
    uint32_t place = embed->slot_free;
    struct wf_js_slot *slot = &embed->slots[place];
    embed->slot_free = slot->next;
    slot->value = value;
    slot->next = frame ? frame->newest : WF_JS_KEPT;
    if (frame)
        frame->newest = place;
    else
        embed->kept++;
    *handle = (weft_js_value){(uint64_t)slot->generation << 32 | place};
    return slot;
}

weft_js_value wf_js_hand_placed(weft_js *js, JSValue value) {
    weft_js_value handle = {0};
    if (!take_slot(js, wf_js_running(js), value, &handle)) {
        JS_FreeValue(js->context, value);
        JS_ThrowOutOfMemory(js->context);
        wf_js_fail(js, -ENOMEM);
    }
    return handle;
}

weft_js_value wf_js_hand_or(weft_js *js, JSValue value, int status) {
    switch (JS_VALUE_GET_TAG(value)) {
    case JS_TAG_EXCEPTION:
        wf_js_fail(js, status);
        return (weft_js_value){0};
    case JS_TAG_UNDEFINED:
        return weft_js_undefined();
    case JS_TAG_NULL:
        return weft_js_null();
    case JS_TAG_BOOL:
        return weft_js_bool(JS_VALUE_GET_BOOL(value));
    default:
        return wf_js_hand_placed(js, value);
    }
}

weft_js_value wf_js_hand(weft_js *js, JSValue value) {
    return wf_js_hand_or(js, value, -EOWNERDEAD);
}

JSValue wf_js_take(weft_js *js, weft_js_value handle) {
    JSValue value;
    if (find_small(handle, &value))
        return value;
    struct wf_js_slot *slot = find_slot(js, handle);
    if (slot)
        return JS_DupValue(js->context, slot->value);
    if (handle.bits == 0)
        wf_js_fail_type(js, -EINVAL, "a function of C has used no value");
    else
        wf_js_fail_type(js, -ESTALE, "a function of C has used a value after its end");
    return JS_EXCEPTION;
}

bool wf_js_is_good(weft_js *js, weft_js_value handle) {
    JSValue small;
    return find_small(handle, &small) || find_slot(js, handle);
}

bool wf_js_take_all(weft_js *js, int count, const weft_js_value *handles, JSValue *values) {
    for (int i = 0; i < count; i++) {
        values[i] = wf_js_take(js, handles[i]);
        if (JS_IsException(values[i])) {
            wf_js_give_all(js, i, values);
            return false;
        }
    }
    return true;
}

void wf_js_give_all(weft_js *js, int count, JSValue *values) {
    for (int i = 0; i < count; i++)
        JS_FreeValue(js->context, values[i]);
}

weft_js_value weft_js_keep(weft_js *js, weft_js_value value) {
    weft_js_value handle = {0};
    JSValue taken;
    if (!wf_js_is_usable(js) || find_small(value, &taken))
        return wf_js_is_usable(js) ? value : handle;
    taken = wf_js_take(js, value);
    if (!JS_IsException(taken) && !take_slot(js, NULL, taken, &handle)) {
        JS_FreeValue(js->context, taken);
        JS_ThrowOutOfMemory(js->context);
        wf_js_fail(js, -ENOMEM);
    }
    return handle;
}

/* One of a frame keeps its place until the frame ends. */
int weft_js_drop(weft_js *js, weft_js_value value) {
    JSValue small;
    if (!wf_js_is_inside(js))
        return -EPERM;
    if (find_small(value, &small))
        return 0;
    struct wf_js_slot *slot = find_slot(js, value);
    if (!slot)
        return -ESTALE;
    if (slot->next != WF_JS_KEPT) {
        end_slot(js, slot);
        return 0;
    }
    js->embed.kept--;
    free_slot(js, (uint32_t)value.bits);
    return 0;
}

const char *wf_js_hold_text(weft_js *js, JSValue value, size_t *size) {
    weft_js_value handle;
    size_t length;
    const char *text = JS_IsException(value) ? NULL : JS_ToCStringLen(js->context, &length, value);
    if (!text) {
        JS_FreeValue(js->context, value);
        wf_js_fail(js, -EOWNERDEAD);
        return NULL;
    }
    struct wf_js_slot *slot = take_slot(js, wf_js_running(js), value, &handle);
    if (!slot) {
        JS_FreeCString(js->context, text);
        JS_FreeValue(js->context, value);
        JS_ThrowOutOfMemory(js->context);
        wf_js_fail(js, -ENOMEM);
        return NULL;
    }
    slot->text = text;
    if (size)
        *size = length;
    return text;
}
