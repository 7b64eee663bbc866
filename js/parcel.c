/* SPDX-License-Identifier: MIT
 *
 * js/parcel.c - parcels, as such: counting them, and what becomes of cargo that nobody has unpacked. See js/parcel.h.
 */
#include "parcel.h"

#include <stdlib.h>

#include "channel.h"
#include "port.h"
#include "shared.h"

struct wf_js_parcel *wf_js_parcel_ref(struct wf_js_parcel *parcel) {
    atomic_fetch_add(&parcel->references, 1);
    return parcel;
}

JSValue wf_js_open(JSContext *context, struct wf_js_parcel *parcel, JSValue *transferred) {
    weft_js *js = wf_js_of(context);
    if (transferred)
        *transferred = JS_UNDEFINED;
    JSValue value = js->has_ended ? JS_UNDEFINED : wf_js_unpack(context, parcel, transferred);
    wf_js_parcel_drop(parcel, js->has_ended); /* maybe in the middle */
    return value;
}

static void drop_cargo(struct wf_js_cargo *cargo, bool is_lost, struct wf_js_parcel **rest) {
    switch (cargo->kind) {
    case WF_JS_CARGO_BYTES:
        free(cargo->bytes.block);
        break;
    case WF_JS_CARGO_SHARED:
        wf_js_shared_unref(cargo->bytes.bytes);
        break;
    case WF_JS_CARGO_CHANNEL:
        wf_js_line_uncarry(cargo->what, is_lost, rest);
        break;
    case WF_JS_CARGO_PORT:
        wf_js_port_abandon(cargo->what, is_lost, rest);
        break;
    }
}

void wf_js_parcel_discard(struct wf_js_parcel *parcel, bool is_lost, struct wf_js_parcel **rest) {
    if (!parcel || atomic_fetch_sub(&parcel->references, 1) > 1)
        return;
    parcel->is_lost = is_lost;
    parcel->next = *rest;
    *rest = parcel;
}

void wf_js_parcels_free(struct wf_js_parcel *rest) {
    while (rest) {
        struct wf_js_parcel *parcel = rest;
        rest = parcel->next;
        for (uint32_t i = 0; i < parcel->cargo_count; i++)
            if (!parcel->cargo[i].is_gone)
                drop_cargo(&parcel->cargo[i], parcel->is_lost, &rest);
        free(parcel->cargo);
        free(parcel);
    }
}

void wf_js_parcel_drop(struct wf_js_parcel *parcel, bool is_lost) {
    struct wf_js_parcel *rest = NULL;
    wf_js_parcel_discard(parcel, is_lost, &rest);
    wf_js_parcels_free(rest);
}

bool wf_js_parcel_carries(const struct wf_js_parcel *parcel) {
    for (uint32_t i = 0; i < parcel->cargo_count; i++)
        if (parcel->cargo[i].kind == WF_JS_CARGO_CHANNEL)
            return true;
    return false;
}

struct wf_js_parcel *wf_js_parcel_split(struct wf_js_parcel *parcel) {
    struct wf_js_parcel *part = calloc(1, sizeof *part);
    struct wf_js_cargo *cargo = part ? calloc(parcel->cargo_count, sizeof *cargo) : NULL;
    if (!cargo) {
        free(part);
        return NULL;
    }
    atomic_init(&part->references, 1);
    part->cargo = cargo;
    for (uint32_t i = 0; i < parcel->cargo_count; i++) {
        if (parcel->cargo[i].kind != WF_JS_CARGO_CHANNEL || parcel->cargo[i].is_gone)
            continue;
        cargo[part->cargo_count++] = parcel->cargo[i];
        parcel->cargo[i].is_gone = true;
    }
    return part;
}

void wf_js_parcel_strip(struct wf_js_parcel **parcel) {
    struct wf_js_parcel *rest = NULL;
    for (uint32_t i = 0; i < (*parcel)->cargo_count; i++) {
        struct wf_js_cargo *cargo = &(*parcel)->cargo[i];
        if (!cargo->is_gone && (cargo->kind == WF_JS_CARGO_BYTES || cargo->kind == WF_JS_CARGO_PORT)) {
            drop_cargo(cargo, false, &rest); /* whoever unpacked it has failed before */
            cargo->is_gone = true;
        }
    }
    wf_js_parcels_free(rest);
    (*parcel)->size = 0;
    struct wf_js_parcel *shorter = realloc(*parcel, sizeof **parcel);
    if (shorter)
        *parcel = shorter;
}

/* clone(value, list of what is transferred, or undefined) */
static JSValue js_clone(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    struct wf_js_parcel *parcel = wf_js_pack(context, arguments[0], arguments[1]);
    if (!parcel)
        return JS_EXCEPTION;
    JSValue value = wf_js_unpack(context, parcel, NULL);
    wf_js_parcel_drop(parcel, false);
    return value;
}

int wf_js_add_parcels(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {JS_CFUNC_DEF("clone", 2, js_clone)};
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
