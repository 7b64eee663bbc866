/* SPDX-License-Identifier: MIT
 *
 * js/event.h - systems of events: see js/event.c.
 */
#ifndef WF_JS_EVENT_H
#define WF_JS_EVENT_H

#include "host.h"

/* A system, and how many handles and queues it has, in all instances. */
struct wf_js_events {
    weft_events *events;
    struct wf_js_events *next; /* of those with names, under their lock; so are the references */
    int references;
    bool is_shared;
    char name[32];
};

/* Null: it is none, and an exception. */
struct wf_js_events *wf_js_events_of(JSContext *context, JSValueConst value);
struct wf_js_events *wf_js_events_ref(struct wf_js_events *system);
void wf_js_events_unref(struct wf_js_events *system);
/* Throws what a call on events has answered. */
JSValue wf_js_throw_event(JSContext *context, int status);
/* What came of one, by the answer of weft_event_wait: undefined, or [code, text] of a poisoned one; or throws. */
JSValue wf_js_event_verdict(JSContext *context, int status, const weft_event_reason *reason);

#endif
