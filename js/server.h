/* SPDX-License-Identifier: MIT
 *
 * js/server.h - what the two files of HTTP servers share.
 */
#ifndef WF_JS_SERVER_H
#define WF_JS_SERVER_H

#include "host.h"

struct wf_js_server {
    weft_js *js;
    struct wf_js_server *next, *previous; /* of the instance's */
    weft_http_server *http;
    weft_fd listener;
    JSValue handler;
    JSValue stopped[2]; /* of the promise that close() returned */
    JSValue object;     /* not counted */
    bool is_stopping;
    bool is_dropped;  /* with its instance */
    atomic_int users; /* who serves, and who stops it: the last one frees */
};

/* js/http.c: the handler of all routes, with the server as its argument. */
void wf_js_on_request(weft_http *http, void *arg);
void wf_js_drop_exchanges(weft_js *js);

#endif
