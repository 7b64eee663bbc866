/* SPDX-License-Identifier: MIT
 *
 * js/trace.c - looking at an instance from inside, for weft:trace: its fibers and where they stand, counters, the list of all fibers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stack.h"

static const char *state_of(const weft_js *js, const struct wf_js_fiber *fiber) {
    if (fiber == js->holder)
        return "running";
    if (!fiber->id.bits)
        return "new";
    return fiber->waiting && !atomic_load(&fiber->waiting->is_up) ? "waiting" : "ready";
}

/* [function, file, line, column, ...]; no file: a function of C */
static JSValue places_of(JSContext *context, const struct wf_js_fiber *fiber) {
    JSValue list = JS_NewArray(context);
    uint32_t at = 0;
    for (void *frame = wf_js_stack_begin(fiber); frame && !JS_IsException(list);) {
        struct wf_engine_spot spot;
        frame = wf_engine_tell_frame(fiber->js->runtime, frame, &spot);
        JS_SetPropertyUint32(context, list, at++, JS_NewString(context, spot.function));
        JS_SetPropertyUint32(context, list, at++, JS_NewString(context, spot.file));
        JS_SetPropertyUint32(context, list, at++, JS_NewInt32(context, spot.line));
        JS_SetPropertyUint32(context, list, at++, JS_NewInt32(context, spot.column));
    }
    return list;
}

/* fibers() -> [[number, name, state, since, what, [function, file, line, column, ...]], ...], oldest first */
static JSValue js_fibers(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_js *js = wf_js_of(context);
    JSValue list = JS_NewArray(context);
    uint32_t at = 0;
    (void)self, (void)count, (void)arguments;
    const struct wf_js_fiber *fiber = js->fibers;
    while (fiber && fiber->next)
        fiber = fiber->next;
    for (; fiber && !JS_IsException(list); fiber = fiber->previous) {
        JSValue one = JS_NewArray(context);
        const char *what = fiber->waiting ? fiber->waiting->what : NULL;
        JS_SetPropertyUint32(context, one, 0, JS_NewInt64(context, fiber->number));
        JS_SetPropertyUint32(context, one, 1, JS_NewString(context, fiber->name));
        JS_SetPropertyUint32(context, one, 2, JS_NewString(context, state_of(js, fiber)));
        JS_SetPropertyUint32(context, one, 3, JS_NewFloat64(context, (double)fiber->since / 1e6));
        JS_SetPropertyUint32(context, one, 4, what ? JS_NewString(context, what) : JS_UNDEFINED);
        JS_SetPropertyUint32(context, one, 5, places_of(context, fiber));
        JS_SetPropertyUint32(context, list, at++, one);
    }
    return list;
}

/* What the runtime writes goes into a file that has no name. We stand still meanwhile: everybody may look. */
static JSValue dump_through(JSContext *context, int file) {
    weft_js *js = wf_js_of(context);
    uint64_t self = atomic_exchange(&js->inside, 0);
    int error = weft_dump(NULL, file);
    wf_js_be_inside(js, self);
    off_t size = lseek(file, 0, SEEK_END);
    if (error && error != -ENOMEM) /* that one: it is cut, and says so */
        return wf_js_throw_errno(context, error, "dump");
    char *text = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    if (text == MAP_FAILED)
        return size ? wf_js_throw_errno(context, -errno, "mmap") : JS_NewString(context, "");
    JSValue result = JS_NewStringLen(context, text, (size_t)size);
    munmap(text, (size_t)size);
    return result;
}

/* dump() -> the text of weft_dump */
static JSValue js_dump(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    int file = memfd_create("weft dump", MFD_CLOEXEC);
    if (file < 0)
        return wf_js_throw_errno(context, -errno, "memfd_create");
    JSValue result = dump_through(context, file);
    close(file);
    return result;
}

struct number {
    const char *name;
    double value;
};

static JSValue object_of(JSContext *context, const struct number *numbers, size_t count) {
    JSValue object = JS_NewObject(context);
    for (size_t i = 0; i < count && !JS_IsException(object); i++)
        JS_SetPropertyStr(context, object, numbers[i].name, JS_NewFloat64(context, numbers[i].value));
    return object;
}

#define OBJECT_OF(context, ...) \
    object_of(context, (const struct number[]){__VA_ARGS__}, \
              sizeof((const struct number[]){__VA_ARGS__}) / sizeof(struct number))

static JSValue runtime_stats(JSContext *context) {
    weft_stats stats = {0};
    (void)weft_get_stats(NULL, &stats);
    return OBJECT_OF(context, {"workers", stats.workers}, {"workersIdle", stats.workers_idle},
                     {"fibers", (double)stats.fibers_alive}, {"fibersStarted", (double)stats.fibers_started},
                     {"fibersEnded", (double)stats.fibers_ended}, {"switches", (double)stats.switches},
                     {"parks", (double)stats.parks}, {"wakes", (double)stats.wakes}, {"steals", (double)stats.steals},
                     {"polls", (double)stats.polls}, {"timersArmed", (double)stats.timers_armed},
                     {"timersFired", (double)stats.timers_fired}, {"stacks", (double)stats.stacks_in_use},
                     {"panics", (double)stats.panics});
}

/* undefined: the loop was made without metrics */
static JSValue loop_stats(JSContext *context) {
    weft_loop_metrics metrics;
    if (weft_loop_get_metrics(wf_js_of(context)->loop, &metrics) != 0)
        return JS_UNDEFINED;
    return OBJECT_OF(context, {"turns", (double)metrics.turns}, {"callbacks", (double)metrics.callbacks},
                     {"callbacksPerSecond", metrics.per_second}, {"panics", (double)metrics.panics},
                     {"sleeps", (double)metrics.sleeps}, {"idle", (double)metrics.idle / 1e6},
                     {"active", (double)metrics.active / 1e6}, {"utilization", metrics.utilisation},
                     {"callbackMean", (double)metrics.callback.mean / 1e6},
                     {"callbackP99", (double)metrics.callback.p99 / 1e6},
                     {"timerDelayP99", (double)metrics.delay.p99 / 1e6});
}

static JSValue heap_stats(JSContext *context) {
    JSMemoryUsage usage;
    weft_js *js = wf_js_of(context);
    JS_ComputeMemoryUsage(js->runtime, &usage);
    return OBJECT_OF(context, {"used", (double)usage.malloc_size}, {"limit", (double)js->options.max_memory},
                     {"blocks", (double)usage.malloc_count}, {"objects", (double)usage.obj_count},
                     {"properties", (double)usage.prop_count}, {"shapes", (double)usage.shape_count},
                     {"strings", (double)usage.str_count}, {"stringBytes", (double)usage.str_size},
                     {"functions", (double)usage.js_func_count}, {"codeBytes", (double)usage.js_func_code_size},
                     {"arrays", (double)usage.array_count}, {"buffers", (double)usage.binary_object_count},
                     {"bufferBytes", (double)usage.binary_object_size});
}

/* stats() -> {runtime, loop, heap} */
static JSValue js_stats(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    JSValue stats = JS_NewObject(context);
    (void)self, (void)count, (void)arguments;
    if (JS_IsException(stats))
        return stats;
    JS_SetPropertyStr(context, stats, "runtime", runtime_stats(context));
    JS_SetPropertyStr(context, stats, "loop", loop_stats(context));
    JS_SetPropertyStr(context, stats, "heap", heap_stats(context));
    return stats;
}

int wf_js_add_trace(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("fibers", 0, js_fibers),
        JS_CFUNC_DEF("dump", 0, js_dump),
        JS_CFUNC_DEF("stats", 0, js_stats),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
