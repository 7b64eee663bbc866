/* SPDX-License-Identifier: MIT
 *
 * js/shared.h - memory of SharedArrayBuffers: see js/shared.c.
 */
#ifndef WF_JS_SHARED_H
#define WF_JS_SHARED_H

#include "host.h"

/* Counted, on any thread. */
void wf_js_shared_ref(void *memory);
void wf_js_shared_unref(void *memory);
/* A SharedArrayBuffer of memory that somebody has shared; it counts for itself. */
JSValue wf_js_shared_new(JSContext *context, const struct wf_engine_bytes *bytes);

#endif
