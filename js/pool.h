/* SPDX-License-Identifier: MIT
 *
 * js/pool.h - pools of works whose functions are JavaScript: see js/pool.c and js/work.c.
 */
#ifndef WF_JS_POOL_H
#define WF_JS_POOL_H

#include "host.h"

struct wf_js_pool {
    weft_js *js;
    weft_pool *pool;
    struct wf_js_pool *next, *previous; /* of the instance's */
    int users;                          /* its handle, works, groups; with the turn: the last of them closes it */
    atomic_int references;              /* of the block: while it is open, and what is on its way to JavaScript */
    atomic_bool is_closing;             /* nothing more is told */
    uint32_t max_running;               /* 0: any number */
    weft_rejection rejection;
    bool has_alarms; /* time may do something to any of its works */
    char name[32];
    int pending;               /* works that are not over. With the turn, as all that follows */
    int attending;             /* of these: take part in the instance's turns */
    JSValue on_over, on_event; /* functions of JavaScript */
};

/* A work: from its submit until JavaScript has been told of its end, and until its function is back. */
struct wf_js_job {
    struct wf_js_pool *pool;
    JSValue work; /* the object that stands for it */
    JSValue fn;
    JSValue value; /* what the function has returned or thrown last */
    bool has_thrown;
    bool is_timed;             /* time may do something to it */
    bool is_over;              /* JavaScript knows */
    unsigned returned;         /* how often its function has come back */
    weft_fiber submitter;      /* who waits for its submit, and may have to run it; */
    const char *submitter_end; /* of whose stack */
    weft_result result;
};

/* Null: it is none, and an exception. */
struct wf_js_pool *wf_js_pool_of(JSContext *context, JSValueConst value);
weft_group *wf_js_group_of(JSContext *context, JSValueConst value);
struct wf_js_pool *wf_js_pool_ref(struct wf_js_pool *pool);
void wf_js_pool_unref(struct wf_js_pool *pool);
/* Throws what a call on pools, works and groups has answered. */
JSValue wf_js_throw_pool(JSContext *context, int status);

#endif
