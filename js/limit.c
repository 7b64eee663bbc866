/* SPDX-License-Identifier: MIT
 *
 * js/limit.c - limits and figures of an instance, for its owner.
 */
#include <errno.h>

#include "host.h"

/* In, from wherever values may be used or weft_js_enter may be called; also after the end of the script. */
static int come_in(weft_js *js, bool *is_entered) {
    *is_entered = false;
    if (atomic_load(&js->inside) == wf_js_self())
        return 0;
    if (js->has_ended) { /* nothing of it runs any more */
        wf_js_enter_any(js);
        *is_entered = true;
        return 0;
    }
    int error = weft_js_enter(js);
    *is_entered = !error;
    return error;
}

static void go_out(weft_js *js, bool is_entered) {
    if (is_entered && wf_js_running(js))
        weft_js_leave(js);
    else if (is_entered)
        wf_js_leave(js);
}

int weft_js_get_limits(weft_js *js, weft_js_limits *out) {
    bool is_entered;
    if (!js || !out)
        return -EINVAL;
    int error = come_in(js, &is_entered);
    if (error)
        return error;
    *out = (weft_js_limits){js->options.max_memory, js->options.max_stack, js->options.max_run};
    go_out(js, is_entered);
    return 0;
}

int weft_js_set_limits(weft_js *js, const weft_js_limits *limits) {
    bool is_entered;
    if (!js || !limits || limits->max_run < 0)
        return -EINVAL;
    int error = come_in(js, &is_entered);
    if (error)
        return error;
    js->options.max_memory = limits->max_memory;
    js->options.max_stack = limits->max_stack;
    js->options.max_run = limits->max_run;
    JS_SetMemoryLimit(js->runtime, limits->max_memory); /* 0: none */
    js->stack_end = NULL;                               /* it is looked for anew */
    js->begun = limits->max_run ? weft_now() : 0;
    go_out(js, is_entered);
    return 0;
}

int weft_js_get_stats(weft_js *js, weft_js_stats *out) {
    bool is_entered;
    JSMemoryUsage usage;
    if (!js || !out)
        return -EINVAL;
    int error = come_in(js, &is_entered);
    if (error)
        return error;
    JS_ComputeMemoryUsage(js->runtime, &usage);
    *out = (weft_js_stats){.heap = (size_t)usage.malloc_size,
                           .blocks = (uint64_t)usage.malloc_count,
                           .objects = (uint64_t)usage.obj_count,
                           .functions = (uint64_t)(usage.js_func_count + usage.c_func_count),
                           .arrays = (uint64_t)usage.array_count,
                           .strings = (uint64_t)usage.str_count,
                           .kept = js->embed.kept};
    for (const struct wf_js_fiber *fiber = js->fibers; fiber; fiber = fiber->next)
        out->fibers++;
    wf_js_lock_waits(js);
    for (const struct wf_js_wait *wait = js->waits; wait; wait = wait->next)
        out->waits++;
    wf_js_unlock_waits(js);
    go_out(js, is_entered);
    return 0;
}

int weft_js_collect(weft_js *js) {
    bool is_entered;
    int error = js ? come_in(js, &is_entered) : -EINVAL;
    if (error)
        return error;
    JS_RunGC(js->runtime);
    go_out(js, is_entered);
    return 0;
}
