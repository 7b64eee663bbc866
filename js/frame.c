/* SPDX-License-Identifier: MIT
 *
 * js/frame.c - the self-test of what turns rely on: that the engine's innermost frame is where we think it is.
 */
#include <stdatomic.h>

#include "host.h"

static JSValue note_frame(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    void **seen = JS_GetContextOpaque(context);
    (void)self, (void)count, (void)arguments;
    *seen = wf_engine_frame(JS_GetRuntime(context));
    return JS_UNDEFINED;
}

/* Inside a call there is a frame, and afterwards there is that of before: what is put away is what we think. */
bool wf_js_is_frame_safe(void) {
    static atomic_int verdict; /* 0: not known, 1: yes, 2: no */
    if (atomic_load(&verdict))
        return atomic_load(&verdict) == 1;
    void *seen = NULL;
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = runtime ? JS_NewContextRaw(runtime) : NULL;
    if (!context) {
        if (runtime)
            JS_FreeRuntime(runtime);
        return true; /* no memory: what comes next says so */
    }
    JS_AddIntrinsicBaseObjects(context);
    JS_SetContextOpaque(context, &seen);
    JSValue fn = JS_NewCFunction(context, note_frame, "note", 0);
    JS_FreeValue(context, JS_Call(context, fn, JS_UNDEFINED, 0, NULL));
    JS_FreeValue(context, fn);
    bool is_safe = seen && !wf_engine_frame(runtime);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
    atomic_store(&verdict, is_safe ? 1 : 2);
    return is_safe;
}
