/* SPDX-License-Identifier: MIT
 *
 * js/exchange.h - an HTTP exchange that JavaScript has: what js/http.c (orders) and js/http_head.c (heads) share.
 */
#ifndef WF_JS_EXCHANGE_H
#define WF_JS_EXCHANGE_H

#include "server.h"
#include "stream.h"

/* What JavaScript has. When the exchange is over, what can still be asked for is in head: method, target, "1" or "0", and the
 * fields, each with a zero behind it. */
struct wf_js_handle {
    struct wf_js_exchange *exchange;
    char *head;
    size_t head_size;
    weft_address peer;
};

/* From the order until its end all but the first three are the fiber's. */
struct wf_js_order {
    bool is_given;
    JSValue callback, surroundings;
    struct wf_js_exchange *exchange;
    ssize_t result;
    char *bytes;
    size_t size;
};

struct wf_js_exchange {
    struct wf_js_exchange *next, *previous; /* of the instance's, while JavaScript has it */
    struct wf_js_server *server;
    weft_http *http;
    weft_semaphore turn;                           /* released after each change of wants */
    atomic_uint wants;                             /* bits are set with the turn, and cleared by the fiber */
    struct wf_js_order reading, writing, watching; /* writing: also what is written last */
    struct wf_js_handle *handle; /* NULL: JavaScript has dropped it. With the turn, up to END; so is the rest */
    bool is_ending;              /* END comes as soon as it can */
    bool is_dropped;             /* JavaScript has forgotten it without an answer */
    bool is_cut;                 /* it has been cut off */
    bool is_whole;               /* what is written last is all there is */
    int route;                   /* whose it is; -1: nobody's in particular */
    bool is_finished;            /* nothing is missing of the response; the fiber's, up to END */
    bool is_bare;                /* nothing but the head is sent; the fiber's */
    /* Of the response; the fiber's while a write is given. */
    int status; /* 0: it has begun */
    char *reason;
    bool closes;
    char *fields; /* name, zero, value, zero, ...; then trailers */
    size_t fields_size;
    weft_fd taken;
};

/* js/http.c: of the first argument. NULL: an exception. */
struct wf_js_handle *wf_js_handle_of(JSContext *context, int count, JSValueConst *arguments);

/* js/http_head.c: (exchange, status, [name, value, ...] or undefined, reason or undefined, closes). 0, or -1 with an exception. */
int wf_js_take_head(JSContext *context, struct wf_js_exchange *exchange, int count, JSValueConst *arguments);
int wf_js_take_trailers(JSContext *context, struct wf_js_exchange *exchange, JSValueConst list);
/* What it was asked, for those who want to know when it is over. Without memory they learn nothing. */
void wf_js_keep_head(struct wf_js_handle *handle);
/* A string of bytes that are characters of Latin-1, as values of fields are; and back, by malloc. NULL: an exception. */
JSValue wf_js_new_latin1(JSContext *context, const char *text);
char *wf_js_copy_latin1(JSContext *context, JSValueConst value);

#endif
