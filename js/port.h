/* SPDX-License-Identifier: MIT
 *
 * js/port.h - ports: where messages arrive, for MessagePort and BroadcastChannel. See js/port.c.
 */
#ifndef WF_JS_PORT_H
#define WF_JS_PORT_H

#include "host.h"

struct wf_js_parcel;
struct wf_js_port;

bool wf_js_port_is_handle(JSValueConst value);
/* Takes the port away from its handle and the instance; null: there was none. It is the caller's, or a parcel's, until somebody
 * adopts it, which gives it a handle; an exception: it is still the caller's. */
struct wf_js_port *wf_js_port_detach(JSContext *context, JSValueConst handle);
JSValue wf_js_port_adopt(JSContext *context, struct wf_js_port *port);
/* Nobody will ever have it: for its peer it is closed. On any thread. is_lost: the instance that had it, or should get it, has ended.
 * What has come for it is put into the list. */
void wf_js_port_abandon(struct wf_js_port *port, bool is_lost, struct wf_js_parcel **rest);
/* The instance ends: all that it has are abandoned. */
void wf_js_drop_ports(weft_js *js);

#endif
