/* SPDX-License-Identifier: MIT
 *
 * js/server.h - what the files of HTTP servers share.
 */
#ifndef WF_JS_SERVER_H
#define WF_JS_SERVER_H

#include "host.h"

/* A pattern of requests, and which one it is. */
struct wf_js_route {
    struct wf_js_server *server;
    int number;
};

struct wf_js_server {
    weft_js *js;
    struct wf_js_server *next, *previous; /* of the instance's */
    weft_http_server *http;
    weft_fd listener;
    struct wf_js_route *routes; /* the first for all requests that no other one has */
    JSValue handler;            /* (exchange, number of the route) */
    JSValue on_refused;         /* (status, peer), or undefined */
    JSValue stopped;            /* called when the server is over */
    JSValue object;             /* not counted */
    bool is_kept;               /* the loop stays for it */
    bool is_stopping;
    bool is_dropped;  /* with its instance */
    atomic_int users; /* who serves, and who stops it: after the last one it is over */
};

/* js/http.c: the handler of all routes, with the route as its argument. */
void wf_js_on_request(weft_http *http, void *arg);
void wf_js_drop_exchanges(weft_js *js);
/* Those whose connections have been cut off, and who do not wait for anything that would tell them. */
void wf_js_cut_exchanges(struct wf_js_server *server);

#endif
