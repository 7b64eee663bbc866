/* SPDX-License-Identifier: MIT
 *
 * js/sleep.c - waiting for nothing but time.
 */
#include <stdlib.h>

#include "host.h"

struct sleeping {
    struct wf_js_wait wait;
    weft_time until;
};

static int sleep_wait(struct wf_js_wait *wait) {
    return weft_sleep(((struct sleeping *)wait)->until);
}

static JSValue finish_plain(JSContext *context, struct wf_js_wait *wait) {
    return wait->status ? wf_js_throw_errno(context, wait->status, "sleep") : JS_UNDEFINED;
}

/* sleep(milliseconds) */
static JSValue js_sleep(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    double milliseconds = 0;
    (void)self;
    if (count > 0 && JS_ToFloat64(context, &milliseconds, arguments[0]))
        return JS_EXCEPTION;
    struct sleeping *sleeping = calloc(1, sizeof *sleeping);
    if (!sleeping)
        return JS_ThrowOutOfMemory(context);
    if (!(milliseconds > 0))
        milliseconds = 0;
    sleeping->wait.wait = sleep_wait;
    sleeping->wait.finish = finish_plain;
    sleeping->until = milliseconds > 9e12 ? WEFT_NEVER : weft_after((int64_t)(milliseconds * 1e6));
    return wf_js_perform(context, &sleeping->wait);
}

int wf_js_add_sleep(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {JS_CFUNC_DEF("sleep", 1, js_sleep)};
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
