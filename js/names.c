/* SPDX-License-Identifier: MIT
 *
 * js/names.c - addresses of names, for scripts.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "host.h"

/* More than anybody tries. */
enum { ADDRESSES_MOST = 32 };

struct resolving {
    struct wf_js_wait wait;
    weft_time until;
    char *name, *servers;
    int family;
    weft_address found[ADDRESSES_MOST];
};

static int resolve_wait(struct wf_js_wait *wait) {
    struct resolving *resolving = (struct resolving *)wait;
    weft_resolve_options options = {.family = resolving->family, .servers = resolving->servers};
    return weft_resolve(resolving->name, 0, resolving->found, ADDRESSES_MOST, &options, resolving->until);
}

/* -> [address, ...], with the port 0 */
static JSValue resolve_finish(JSContext *context, struct wf_js_wait *wait) {
    struct resolving *resolving = (struct resolving *)wait;
    char text[WEFT_ADDRESS_TEXT];
    free(resolving->name);
    free(resolving->servers);
    if (wait->status < 0)
        return wf_js_throw_errno(context, wait->status, "resolve");
    JSValue list = JS_NewArray(context);
    uint32_t length = 0;
    for (int i = 0; i < wait->status; i++)
        if (weft_address_format(&resolving->found[i], text, sizeof text) >= 0)
            JS_SetPropertyUint32(context, list, length++, JS_NewString(context, text));
    return list;
}

/* resolve(name, family: 0, 4 or 6, servers or undefined, milliseconds) */
static JSValue js_resolve(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t family;
    weft_time until;
    (void)self;
    if (count < 4 || JS_ToInt32(context, &family, arguments[1]) || !wf_js_until(context, arguments[3], &until))
        return JS_EXCEPTION;
    struct resolving *resolving = calloc(1, sizeof *resolving);
    if (!resolving)
        return JS_ThrowOutOfMemory(context);
    resolving->wait = (struct wf_js_wait){.wait = resolve_wait, .finish = resolve_finish};
    resolving->until = until;
    resolving->family = family == 4 ? AF_INET : family == 6 ? AF_INET6 : 0;
    resolving->name = wf_js_copy_text(context, arguments[0]);
    if (resolving->name && !JS_IsUndefined(arguments[2]))
        resolving->servers = wf_js_copy_text(context, arguments[2]);
    if (!resolving->name || (!resolving->servers && !JS_IsUndefined(arguments[2]))) {
        free(resolving->name);
        free(resolving);
        return JS_EXCEPTION;
    }
    return wf_js_perform(context, &resolving->wait);
}

int wf_js_add_names(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {JS_CFUNC_DEF("resolve", 4, js_resolve)};
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
