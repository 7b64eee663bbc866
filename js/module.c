/* SPDX-License-Identifier: MIT
 *
 * js/module.c - where modules come from. Names are resolved and files are read by js/lib/module.js; here its answers become
 * modules of the engine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static char *normalise(JSContext *context, const char *base, const char *name, void *opaque WF_ENGINE_AND_ATTRIBUTES) {
    weft_js *js = opaque;
    JSValue arguments[] = {JS_NewString(context, name), JS_NewString(context, base)};
    JSValue result = JS_Call(context, js->hooks[WF_JS_RESOLVE], JS_UNDEFINED, 2, arguments);
    JS_FreeValue(context, arguments[0]);
    JS_FreeValue(context, arguments[1]);
    const char *text = JS_IsException(result) ? NULL : JS_ToCString(context, result);
    JS_FreeValue(context, result);
    if (!text)
        return NULL;
    char *copy = js_strdup(context, text);
    JS_FreeCString(context, text);
    return copy;
}

/* ---- Modules that are made of an object: its properties are the exports ---- */

static int fill_exports(JSContext *context, JSModuleDef *module) {
    JSValue exports = JS_GetModulePrivateValue(context, module);
    JSPropertyEnum *names;
    uint32_t count;
    if (JS_GetOwnPropertyNames(context, &names, &count, exports, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY)) {
        JS_FreeValue(context, exports);
        return -1;
    }
    int error = 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        const char *name = JS_AtomToCString(context, names[i].atom);
        JSValue value = name ? JS_GetProperty(context, exports, names[i].atom) : JS_EXCEPTION;
        error = !name || JS_IsException(value) ? -1 : JS_SetModuleExport(context, module, name, value);
        JS_FreeCString(context, name);
    }
    JS_FreePropertyEnum(context, names, count);
    JS_FreeValue(context, exports);
    return error;
}

static JSModuleDef *module_of_object(JSContext *context, const char *name, JSValueConst exports) {
    JSPropertyEnum *names;
    uint32_t count;
    JSModuleDef *module = JS_NewCModule(context, name, fill_exports);
    if (!module || JS_GetOwnPropertyNames(context, &names, &count, exports, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const char *export_name = JS_AtomToCString(context, names[i].atom);
        if (export_name)
            JS_AddModuleExport(context, module, export_name);
        JS_FreeCString(context, export_name);
    }
    JS_FreePropertyEnum(context, names, count);
    JS_SetModulePrivateValue(context, module, JS_DupValue(context, exports));
    return module;
}

/* ---- Modules of text ---- */

static JSModuleDef *module_of_text(JSContext *context, const char *name, JSValueConst payload, JSValueConst meta) {
    size_t size;
    const char *text = JS_ToCStringLen(context, &size, payload);
    if (!text)
        return NULL;
    JSValue compiled = JS_Eval(context, text, size, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
    JS_FreeCString(context, text);
    if (JS_IsException(compiled))
        return NULL;
    JSModuleDef *module = JS_VALUE_GET_PTR(compiled);
    JSValue target = JS_GetImportMeta(context, module);
    JSPropertyEnum *names;
    uint32_t count;
    if (!JS_GetOwnPropertyNames(context, &names, &count, meta, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY)) {
        for (uint32_t i = 0; i < count; i++)
            JS_SetProperty(context, target, names[i].atom, JS_GetProperty(context, meta, names[i].atom));
        JS_FreePropertyEnum(context, names, count);
    }
    JS_FreeValue(context, target);
    JS_FreeValue(context, compiled);
    return module;
}

/* The library answers [kind, payload, meta]: "text" or "object". */
static JSModuleDef *load(JSContext *context, const char *name, void *opaque, JSValueConst attributes) {
    weft_js *js = opaque;
    JSValue arguments[] = {JS_NewString(context, name), JS_DupValue(context, attributes)};
    JSValue answer = JS_Call(context, js->hooks[WF_JS_LOAD], JS_UNDEFINED, 2, arguments);
    JS_FreeValue(context, arguments[0]);
    JS_FreeValue(context, arguments[1]);
    if (JS_IsException(answer))
        return NULL;
    JSValue kind = JS_GetPropertyUint32(context, answer, 0);
    JSValue payload = JS_GetPropertyUint32(context, answer, 1);
    JSValue meta = JS_GetPropertyUint32(context, answer, 2);
    const char *text = JS_ToCString(context, kind);
    JSModuleDef *module = !text                       ? NULL
                          : strcmp(text, "text") == 0 ? module_of_text(context, name, payload, meta)
                                                      : module_of_object(context, name, payload);
    JS_FreeCString(context, text);
    JS_FreeValue(context, kind);
    JS_FreeValue(context, payload);
    JS_FreeValue(context, meta);
    JS_FreeValue(context, answer);
    return module;
}

/* ---- Modules at once, and modules that are only read ---- */

/* importNow(name): undefined, or [how it went, what it threw, namespace] */
static JSValue js_import_now(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    static const char *const names[] = {"pending", "fulfilled", "rejected"};
    (void)self, (void)count;
    const char *name = JS_ToCString(context, arguments[0]);
    if (!name)
        return JS_EXCEPTION;
    JSValue promise, namespace = wf_engine_import(context, name, &promise);
    JS_FreeCString(context, name);
    if (JS_IsException(namespace) || JS_IsUndefined(namespace))
        return namespace;
    JSValue answer = JS_NewArray(context), result = JS_UNDEFINED;
    const char *how = "running";
    if (!JS_IsNull(promise)) {
        JSPromiseStateEnum state = JS_PromiseState(context, promise);
        how = names[state];
        if (state == JS_PROMISE_REJECTED) {
            result = JS_PromiseResult(context, promise);
            (void)wf_js_forget_rejection(wf_js_of(context), promise);
        }
    }
    JS_SetPropertyUint32(context, answer, 0, JS_NewString(context, how));
    JS_SetPropertyUint32(context, answer, 1, result);
    JS_SetPropertyUint32(context, answer, 2, namespace);
    JS_FreeValue(context, promise);
    return answer;
}

static char *stay(JSContext *context, const char *base, const char *name, void *opaque WF_ENGINE_AND_ATTRIBUTES) {
    (void)base, (void)opaque;
    return js_strdup(context, name);
}

static JSModuleDef *load_nothing(JSContext *context, const char *name, void *opaque, JSValueConst attributes) {
    (void)opaque, (void)attributes;
    return JS_NewCModule(context, name, fill_exports);
}

/* checkModule(text, name): an exception if it cannot be understood; what it imports is not looked at */
static JSValue js_check_module(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_js *js = wf_js_of(context);
    size_t size;
    (void)self, (void)count;
    const char *text = JS_ToCStringLen(context, &size, arguments[0]);
    const char *name = text ? JS_ToCString(context, arguments[1]) : NULL;
    JSValue compiled = JS_EXCEPTION;
    if (name) {
        JS_SetModuleLoaderFunc2(js->runtime, stay, load_nothing, NULL, js);
        compiled = JS_Eval(context, text, size, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
        JS_SetModuleLoaderFunc2(js->runtime, normalise, load, NULL, js);
    }
    JS_FreeCString(context, text);
    JS_FreeCString(context, name);
    if (JS_IsException(compiled))
        return compiled;
    JS_FreeValue(context, compiled);
    return JS_UNDEFINED;
}

int wf_js_add_modules(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("importNow", 1, js_import_now),
        JS_CFUNC_DEF("checkModule", 2, js_check_module),
    };
    JS_SetModuleLoaderFunc2(JS_GetRuntime(context), normalise, load, NULL, wf_js_of(context));
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}

/* ---- The main one ---- */

static int run_main(weft_js *js, const char *name, const char *what, const char *text, size_t size) {
    if (!wf_js_enter(js))
        return -EPIPE;
    JSContext *context = js->context;
    JSValue library = wf_js_library(context, "main");
    JSValue fn = JS_IsException(library) ? JS_EXCEPTION : JS_GetPropertyStr(context, library, name);
    if (JS_IsException(fn)) {
        wf_js_uncaught(js);
    } else {
        JSValue arguments[] = {JS_NewString(context, what), text ? JS_NewStringLen(context, text, size) : JS_UNDEFINED};
        JSValue promise = JS_Call(context, fn, JS_UNDEFINED, 2, arguments);
        if (JS_IsException(promise)) {
            wf_js_uncaught(js);
        } else if ((int)JS_PromiseState(context, promise) >= 0) {
            JS_FreeValue(context, js->main);
            js->main = JS_DupValue(context, promise);
        }
        JS_FreeValue(context, promise);
        JS_FreeValue(context, arguments[0]);
        JS_FreeValue(context, arguments[1]);
    }
    JS_FreeValue(context, fn);
    JS_FreeValue(context, library);
    wf_js_leave(js);
    return 0;
}

struct start {
    weft_js *js;
    char *what;
    char *text;
    size_t size;
};

/* As a callback of the loop, so that a checkpoint follows; an internal one, because after those timers that are due come before
 * immediates. */
static void start_main(void *opaque) {
    struct start *start = opaque;
    start->js->queued--;
    run_main(start->js, start->text ? "runText" : "runFile", start->what, start->text, start->size);
    free(start->what);
    free(start->text);
    free(start);
}

static int submit_main(weft_js *js, const char *what, const char *text, size_t size) {
    struct start *start = calloc(1, sizeof *start);
    if (!start)
        return -ENOMEM;
    *start = (struct start){.js = js, .what = strdup(what), .text = text ? malloc(size + 1) : NULL, .size = size};
    int error = !start->what || (text && !start->text) ? -ENOMEM : 0;
    if (!error && text) {
        memcpy(start->text, text, size);
        start->text[size] = 0;
    }
    if (!error)
        error = weft_loop_submit_internal(js->loop, start_main, start);
    js->queued += !error;
    if (error) {
        free(start->what);
        free(start->text);
        free(start);
    }
    return error;
}

int weft_js_run(weft_js *js, const char *path) {
    return js && path ? submit_main(js, path, NULL, 0) : -EINVAL;
}

int weft_js_eval(weft_js *js, const char *text, size_t size, const char *name) {
    return js && text && name ? submit_main(js, name, text, size) : -EINVAL;
}
