/* SPDX-License-Identifier: MIT
 *
 * js/parcel.h - a value on its way from one instance to another, or to the same.
 *
 * A parcel is what the structured clone algorithm of HTML calls a serialised value: bytes that describe a graph of objects, and
 * beside them the *cargo*, what cannot be bytes: memory of buffers that were transferred, shared memory, channels, ports. It belongs
 * to no instance and may be freed on any thread.
 *
 *     wf_js_pack    value -> parcel      by whoever has the turn of the sender
 *     wf_js_unpack  parcel -> value      by whoever has the turn of the receiver
 *
 * What can be had once, memory and ports that were transferred, goes to the first who unpacks. Everything else can be unpacked
 * again, so that one parcel serves all receivers of a broadcast.
 */
#ifndef WF_JS_PARCEL_H
#define WF_JS_PARCEL_H

#include "host.h"

enum wf_js_cargo_kind { WF_JS_CARGO_BYTES, WF_JS_CARGO_SHARED, WF_JS_CARGO_CHANNEL, WF_JS_CARGO_PORT };

struct wf_js_cargo {
    enum wf_js_cargo_kind kind;
    bool is_gone;                 /* somebody has got it */
    void *what;                   /* shared memory, channel or port: counted */
    struct wf_engine_bytes bytes; /* BYTES, and the lengths of SHARED */
};

struct wf_js_parcel {
    struct wf_js_parcel *next, *previous; /* of those inside of a line that carry others, js/line.c; or that go */
    bool is_inside;
    bool is_lost; /* of one that goes: see wf_js_parcel_drop */
    atomic_int references;
    uint32_t transfers;  /* objects of the transfer list */
    size_t transfers_at; /* where they are described: behind the value */
    uint32_t cargo_count;
    struct wf_js_cargo *cargo;
    uint64_t from; /* the number of the instance that has sent it */
    size_t size;
    uint8_t bytes[];
};

/* list: an array of objects to transfer, or undefined; it was checked by js/lib/clone.js. Null: an exception. */
struct wf_js_parcel *wf_js_pack(JSContext *context, JSValueConst value, JSValueConst list);
/* transferred, which may be null, gets an array of the objects that the transfer list has become. */
JSValue wf_js_unpack(JSContext *context, struct wf_js_parcel *parcel, JSValue *transferred);
/* The same for the one whom it was for: the parcel is dropped. After the end nothing is unpacked. */
JSValue wf_js_open(JSContext *context, struct wf_js_parcel *parcel, JSValue *transferred);
struct wf_js_parcel *wf_js_parcel_ref(struct wf_js_parcel *parcel);
/* Whether channels are among its cargo; and a parcel of its own for those, without which the other one is left. Null: there are none,
 * or no memory. */
bool wf_js_parcel_carries(const struct wf_js_parcel *parcel);
struct wf_js_parcel *wf_js_parcel_split(struct wf_js_parcel *parcel);
/* Only its cargo is left, and what of that can be had more than once. */
void wf_js_parcel_strip(struct wf_js_parcel **parcel);
/* Null is allowed. is_lost: it was for an instance that has ended before it could look; then channels in it may be broken. */
void wf_js_parcel_drop(struct wf_js_parcel *parcel, bool is_lost);
/* The same in two steps, since parcels can be inside of parcels, as deep as a script likes: one that is nobody's any more is put into
 * a list, and with those of the list goes what was inside of them. */
void wf_js_parcel_discard(struct wf_js_parcel *parcel, bool is_lost, struct wf_js_parcel **rest);
void wf_js_parcels_free(struct wf_js_parcel *rest);

/* ---- How a graph is written; for js/clone_write.c and js/clone_read.c ---- */

/* Objects are numbered as they begin, those of the transfer list first. Numbers are of the machine, and not aligned.
 *
 *     INT i32, NUMBER f64, TEXT width u8 length u32 characters, BIGINT length u32 digits, REFERENCE number u32
 *     OBJECT property... END
 *     ARRAY length u32 dense u32 (value or HOLE)... property... END
 *     BUFFER length u32 room i32 bytes
 *     VIEW type i8 tracks u8 offset u32 length u32 value (the buffer, which is numbered before the view)
 *     CARGO index u32
 *     RARE shell u32 fill u32 TEXT (its name) value...      js/lib/clone.js makes it of the first values, and fills the rest in
 *     property: KEY number u32 value, NEW_KEY TEXT (the next number) value */
enum wf_js_tag {
    WF_JS_UNDEFINED,
    WF_JS_NULL,
    WF_JS_FALSE,
    WF_JS_TRUE,
    WF_JS_INT,
    WF_JS_NUMBER,
    WF_JS_TEXT,
    WF_JS_BIGINT,
    WF_JS_REFERENCE,
    WF_JS_OBJECT,
    WF_JS_ARRAY,
    WF_JS_HOLE,
    WF_JS_BUFFER,
    WF_JS_VIEW,
    WF_JS_CARGO,
    WF_JS_RARE,
    WF_JS_KEY,
    WF_JS_NEW_KEY,
    WF_JS_END,
};

#endif
