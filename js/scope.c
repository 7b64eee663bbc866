/* SPDX-License-Identifier: MIT
 *
 * js/scope.c - blocks of a fiber in which all its waits can be cancelled, and only there.
 *
 * They are scopes of weft without children: those are fibers with cancellations of their own (js/lib/scope.js). A fiber that gets
 * out of its JavaScript without closing them, because the instance ends, leaves them in its list.
 */
#include <errno.h>
#include <stdlib.h>

#include "host.h"

struct wf_js_scope {
    struct wf_js_scope *outer;
    weft_scope *scope;
    JSValue handle;
};

static JSClassID scope_class;

/* The innermost one. On the fiber. */
static void close_inner(JSContext *context, struct wf_js_fiber *fiber) {
    struct wf_js_scope *inner = fiber->scopes;
    fiber->scopes = inner->outer;
    (void)weft_scope_close(inner->scope); /* why it was cancelled is known to JavaScript */
    JS_SetOpaque(inner->handle, NULL);
    JS_FreeValue(context, inner->handle);
    free(inner);
}

void wf_js_close_scopes(struct wf_js_fiber *fiber) {
    while (fiber->scopes)
        close_inner(fiber->js->context, fiber);
}

/* scopeOpen() -> handle */
static JSValue js_scope_open(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_fiber *fiber = wf_js_of(context)->holder;
    (void)self, (void)count, (void)arguments;
    if (!fiber)
        return JS_ThrowTypeError(context, "only a fiber has blocks that can be cancelled");
    struct wf_js_scope *scope = calloc(1, sizeof *scope);
    JSValue handle = scope ? JS_NewObjectClass(context, (int)scope_class) : JS_ThrowOutOfMemory(context);
    if (!scope || JS_IsException(handle)) {
        free(scope);
        return handle;
    }
    int error = weft_scope_open(&scope->scope, NULL);
    if (error) {
        JS_FreeValue(context, handle);
        free(scope);
        return wf_js_throw_errno(context, error, "scope");
    }
    JS_SetOpaque(handle, scope);
    scope->handle = JS_DupValue(context, handle);
    scope->outer = fiber->scopes;
    fiber->scopes = scope;
    return handle;
}

/* scopeCancel(handle): by anybody */
static JSValue js_scope_cancel(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_scope *scope = count > 0 ? JS_GetOpaque(arguments[0], scope_class) : NULL;
    (void)self, (void)context;
    return JS_NewBool(context, scope && weft_scope_cancel(scope->scope, -ECANCELED, NULL) == 0);
}

/* scopeClose(handle): by the fiber that has opened it, and those inside it */
static JSValue js_scope_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_fiber *fiber = wf_js_of(context)->holder;
    struct wf_js_scope *scope = count > 0 ? JS_GetOpaque(arguments[0], scope_class) : NULL;
    (void)self;
    bool is_own = false;
    for (struct wf_js_scope *each = fiber ? fiber->scopes : NULL; each && scope && !is_own; each = each->outer)
        is_own = each == scope;
    for (bool is_last = false; is_own && !is_last;) {
        is_last = fiber->scopes == scope;
        close_inner(context, fiber);
    }
    return JS_NewBool(context, is_own);
}

int wf_js_add_scopes(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "ScopeHandle"};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("scopeOpen", 0, js_scope_open),
        JS_CFUNC_DEF("scopeCancel", 1, js_scope_cancel),
        JS_CFUNC_DEF("scopeClose", 1, js_scope_close),
    };
    wf_js_new_class(JS_GetRuntime(context), &scope_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
