/* SPDX-License-Identifier: MIT
 *
 * js/import.c - scripts and modules of C programs: texts that are run, modules that are imported, or made of C.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const weft_js_value none;

static bool is_good_text(weft_js *js, const char *text, size_t size, const char *name) {
    if (!text || !name)
        wf_js_fail_type(js, -EINVAL, "a text to run, or its name, is null");
    else if (!wf_js_is_utf8(text, size) || !wf_js_is_utf8(name, strlen(name)))
        wf_js_fail_type(js, -EILSEQ, "a text to run is not UTF-8");
    return wf_js_running(js)->status == 0;
}

weft_js_value weft_js_evaluate(weft_js *js, const char *text, size_t size, const char *name) {
    if (!wf_js_is_usable(js) || !is_good_text(js, text, size, name))
        return none;
    char *copy = wf_js_terminated(js, text, size);
    if (!copy)
        return none;
    JSValue value = wf_engine_eval(js->context, copy, size, name, 1, 0);
    free(copy);
    return wf_js_hand(js, value);
}

JSValue wf_js_call_library(weft_js *js, const char *library, const char *name, int count, JSValueConst *values) {
    JSContext *context = js->context;
    JSValue exports = wf_js_library(context, library);
    JSValue fn = JS_IsException(exports) ? exports : JS_GetPropertyStr(context, exports, name);
    JSValue result = JS_IsException(fn) ? fn : JS_Call(context, fn, JS_UNDEFINED, count, values);
    JS_FreeValue(context, exports);
    JS_FreeValue(context, fn);
    return result;
}

weft_js_value weft_js_evaluate_module(weft_js *js, const char *text, size_t size, const char *name) {
    if (!wf_js_is_usable(js) || !is_good_text(js, text, size, name))
        return none;
    JSValue values[] = {JS_NewString(js->context, name), JS_NewStringLen(js->context, text, size)};
    bool is_good = !JS_IsException(values[0]) && !JS_IsException(values[1]);
    JSValue promise = is_good ? wf_js_call_library(js, "embed", "evaluateModule", 2, values) : JS_EXCEPTION;
    wf_js_give_all(js, 2, values);
    return wf_js_hand(js, promise);
}

weft_js_value weft_js_import(weft_js *js, const char *specifier) {
    if (!wf_js_is_usable(js) || !is_good_text(js, "", 0, specifier))
        return none;
    JSValue name = JS_NewString(js->context, specifier);
    JSValue promise = JS_IsException(name) ? name : wf_js_call_library(js, "embed", "importModule", 1, &name);
    JS_FreeValue(js->context, name);
    return wf_js_hand(js, promise);
}

/* Takes the value over. */
static int add_module(weft_js *js, const char *name, const char *how, JSValue value) {
    weft_js_error error;
    JSValue values[] = {JS_NewString(js->context, name), value};
    bool is_good = !JS_IsException(values[0]) && !JS_IsException(value);
    JSValue done = is_good ? wf_js_call_library(js, "embed", how, 2, values) : JS_EXCEPTION;
    wf_js_give_all(js, 2, values);
    if (!JS_IsException(done))
        return 0;
    JSValue thrown = JS_GetException(js->context);
    wf_js_describe_error(js->context, thrown, &error);
    int status = strcmp(error.code, "EINVAL") == 0   ? -EINVAL
                 : strcmp(error.code, "EEXIST") == 0 ? -EEXIST
                                                     : -EOWNERDEAD;
    JS_Throw(js->context, thrown);
    return wf_js_fail(js, status);
}

int weft_js_module(weft_js *js, const char *name, weft_js_value exports) {
    if (!wf_js_is_usable(js) || !is_good_text(js, "", 0, name))
        return weft_js_pending(js);
    JSValue taken = wf_js_take(js, exports);
    if (JS_IsException(taken))
        return wf_js_running(js)->status;
    if (JS_IsObject(taken))
        return add_module(js, name, "addModule", taken);
    JS_FreeValue(js->context, taken);
    return wf_js_fail_type(js, -EINVAL, "the exports of a module are no object");
}

int weft_js_module_text(weft_js *js, const char *name, const char *text, size_t size) {
    if (!wf_js_is_usable(js) || !is_good_text(js, text, size, name))
        return weft_js_pending(js);
    return add_module(js, name, "addModuleText", JS_NewStringLen(js->context, text, size));
}
