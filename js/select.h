/* SPDX-License-Identifier: MIT
 *
 * js/select.h - what a thing needs to be a case of select: see js/select.c.
 */
#ifndef WF_JS_SELECT_H
#define WF_JS_SELECT_H

#include "channel.h"

/* One case, from the call of select to its end. */
struct wf_js_case {
    const struct wf_js_case_kind *kind;
    JSValue object;  /* the thing; it stays until the end */
    bool is_outside; /* others than this instance can bring it about: time, other instances */
    union {
        union wf_js_item item;    /* of a channel */
        weft_event_reason reason; /* of an event */
        weft_process_end end;     /* of a child */
        weft_signal_info signal;
    } of;
};

struct wf_js_case_kind {
    /* With the turn, before the wait. value is what select was given beside the thing. False: an exception, and it holds
     * nothing. */
    bool (*begin)(JSContext *context, struct wf_js_case *one, JSValueConst value, weft_case *out);
    /* With the turn, after the wait, of each case that has begun: its value if it was chosen. May be an exception. Null: there
     * is nothing to be had. */
    JSValue (*finish)(JSContext *context, struct wf_js_case *one, bool is_chosen, int status);
};

/* js/channel.c */
extern const struct wf_js_case_kind wf_js_receive_case, wf_js_send_case;
/* js/event.c */
extern const struct wf_js_case_kind wf_js_event_case;
/* js/process.c, js/signal.c */
extern const struct wf_js_case_kind wf_js_end_case, wf_js_signal_case;

#endif
