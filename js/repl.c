/* SPDX-License-Identifier: MIT
 *
 * js/repl.c - texts that somebody types, for js/lib/repl.js: whether they can be understood, and what they are worth.
 */
#include "host.h"

/* SPARE_MEMORY: what reading and printing may need when all memory is used up. RUN_MEMORY: what each text may need then, so that
 * something can be typed which frees it. */
enum { SPARE_MEMORY = 4 << 20, RUN_MEMORY = 256 << 10 };

/* The instance's limit, or so much more than is used if that is above it. */
static void limit_memory(weft_js *js, size_t least) {
    JSMemoryUsage usage;
    size_t limit = js->options.max_memory;
    if (!limit)
        return;
    JS_ComputeMemoryUsage(js->runtime, &usage);
    size_t wanted = (size_t)usage.malloc_size + least;
    JS_SetMemoryLimit(js->runtime, wanted > limit ? wanted : limit);
}

/* replSpare(): from now on there is memory beyond the limit, until a text runs */
static JSValue js_repl_spare(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    limit_memory(wf_js_of(context), SPARE_MEMORY);
    return JS_UNDEFINED;
}

/* flags: of JS_Eval. The stack ends with the text: who has typed it is not interested in us. */
static JSValue evaluate(JSContext *context, int count, JSValueConst *arguments, int flags) {
    size_t size;
    const char *text = count > 2 ? JS_ToCStringLen(context, &size, arguments[0]) : NULL;
    const char *name = text ? JS_ToCString(context, arguments[1]) : NULL;
    if (count > 2 && JS_ToBool(context, arguments[2]))
        flags |= JS_EVAL_FLAG_ASYNC;
    JSValue result =
        name ? wf_engine_eval(context, text, size, name, 1, flags | JS_EVAL_FLAG_BACKTRACE_BARRIER) : JS_EXCEPTION;
    JS_FreeCString(context, text);
    JS_FreeCString(context, name);
    return result;
}

/* replCheck(text, name, isAsync): an exception if it cannot be understood */
static JSValue js_repl_check(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    JSValue compiled = evaluate(context, count, arguments, JS_EVAL_FLAG_COMPILE_ONLY);
    if (JS_IsException(compiled))
        return compiled;
    JS_FreeValue(context, compiled);
    return JS_UNDEFINED;
}

/* replRun(text, name, isAsync) -> [whether it has thrown, what], also when it was interrupted, which JavaScript itself cannot
 * catch. isAsync: await may be used, and it is worth a promise of { value } */
static JSValue js_repl_run(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    limit_memory(wf_js_of(context), RUN_MEMORY);
    JSValue result = evaluate(context, count, arguments, 0);
    limit_memory(wf_js_of(context), SPARE_MEMORY);
    bool has_thrown = JS_IsException(result);
    if (has_thrown && wf_js_of(context)->has_ended) /* process.exit: it must get out */
        return result;
    if (has_thrown) {
        result = JS_GetException(context);
        JS_ClearUncatchableError(context, result);
    }
    JSValue answer = JS_NewArray(context);
    if (JS_IsException(answer)) {
        JS_FreeValue(context, result);
        return answer;
    }
    JS_SetPropertyUint32(context, answer, 0, JS_NewBool(context, has_thrown));
    JS_SetPropertyUint32(context, answer, 1, result);
    return answer;
}

int wf_js_add_repl(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("replSpare", 0, js_repl_spare),
        JS_CFUNC_DEF("replCheck", 3, js_repl_check),
        JS_CFUNC_DEF("replRun", 3, js_repl_run),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
