/* SPDX-License-Identifier: MIT
 *
 * js/instance.c - instances: making and freeing them, entering the engine and leaving it, the end.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "host.h"
#include "port.h"

/* STACK_SPARE: what the functions of C below JavaScript may need. */
enum { STACK_SPARE = 64 * 1024, FIBER_STACK = 1 << 20, EXIT_UNSETTLED = 13, EXIT_DEADLOCK = 35 };

static int on_interrupt(JSRuntime *runtime, void *opaque);
static void drain_jobs(void *opaque);
static void run_jobs(weft_js *js);
static int set_up(weft_js *js);
static JSValue need_library(JSContext *context, JSValueConst self, int count, JSValueConst *arguments);
static JSValue set_hook(JSContext *context, JSValueConst self, int count, JSValueConst *arguments);
static JSValue is_loaded(JSContext *context, JSValueConst self, int count, JSValueConst *arguments);

/* What the host object is made of. */
static int (*const parts[])(JSContext *context, JSValueConst host) = {
    wf_js_add_modules,   wf_js_add_turn,        wf_js_add_callbacks, wf_js_add_timers,    wf_js_add_system,
    wf_js_add_text,      wf_js_add_channels,    wf_js_add_select,    wf_js_add_http,      wf_js_add_heads,
    wf_js_add_servers,   wf_js_add_fetch,       wf_js_add_streams,   wf_js_add_writing,   wf_js_add_sockets,
    wf_js_add_datagrams, wf_js_add_names,       wf_js_add_errors,    wf_js_add_processes, wf_js_add_runs,
    wf_js_add_signals,   wf_js_add_gates,       wf_js_add_sleep,     wf_js_add_events,    wf_js_add_event_queues,
    wf_js_add_scopes,    wf_js_add_trace,       wf_js_add_parcels,   wf_js_add_shared,    wf_js_add_ports,
    wf_js_add_atomics,   wf_js_add_waits,       wf_js_add_ffi,       wf_js_add_files,     wf_js_add_pools,
    wf_js_add_works,     wf_js_add_work_groups, wf_js_add_spawn,     wf_js_add_natives,   wf_js_add_zlib,
    wf_js_add_repl,
};

int weft_js_new(weft_js **out, weft_loop *loop, const weft_js_options *options) {
    if (!out || !loop)
        return -EINVAL;
    static _Atomic uint64_t last_number;
    weft_js *js = calloc(1, sizeof *js);
    if (!js)
        return -ENOMEM;
    js->number = atomic_fetch_add(&last_number, 1) + 1;
    js->loop = weft_loop_ref(loop);
    wf_js_embed_init(js);
    if (options)
        js->options = *options;
    if (!js->options.fiber_stack)
        js->options.fiber_stack = FIBER_STACK;
    if (!wf_js_is_frame_safe())
        js->options.no_fibers = true;
    for (int i = 0; i < WF_JS_HOOKS; i++)
        js->hooks[i] = JS_UNDEFINED;
    js->libraries = js->host = js->main = js->place = js->next_handle = JS_UNDEFINED;
    js->runtime = JS_NewRuntime();
    js->context = js->runtime ? JS_NewContext(js->runtime) : NULL;
    int error = js->context ? set_up(js) : -ENOMEM;
    if (error) {
        weft_js_free(js);
        return error;
    }
    *out = js;
    return 0;
}

static int set_up(weft_js *js) {
    JSContext *context = js->context;
    JS_SetContextOpaque(context, js);
    JS_SetRuntimeOpaque(js->runtime, js);
    if (js->options.max_memory)
        JS_SetMemoryLimit(js->runtime, js->options.max_memory);
    JS_SetInterruptHandler(js->runtime, on_interrupt, js);
    JS_SetHostPromiseRejectionTracker(js->runtime, wf_js_on_rejection, js);
    if (!wf_js_enter(js))
        return -EPIPE;
    js->libraries = JS_NewObject(context);
    js->host = JS_NewObject(context);
    JS_SetPropertyStr(context, js->host, "setHook", JS_NewCFunction(context, set_hook, "setHook", 2));
    JS_SetPropertyStr(context, js->host, "isLoaded", JS_NewCFunction(context, is_loaded, "isLoaded", 1));
    int failed = wf_engine_complete(context) || wf_js_add_uncaught(context, js->host);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !failed; i++)
        failed = parts[i](context, js->host);
    JSValue booted = failed ? JS_EXCEPTION : wf_js_library(context, "boot");
    if (JS_IsException(booted)) {
        wf_js_uncaught(js);
        failed = 1;
    }
    JS_FreeValue(context, booted);
    wf_js_leave(js);
    return failed ? -ENOMEM : 0;
}

/* The engine frees modules with their context, whoever still refers to them: one that waits for something is referred to by
 * what it waits for. So nothing may be left that refers to anything. */
static void empty_global(JSContext *context) {
    JSPropertyEnum *names;
    uint32_t count;
    JSValue global = JS_GetGlobalObject(context);
    if (JS_GetOwnPropertyNames(context, &names, &count, global, JS_GPN_STRING_MASK | JS_GPN_SYMBOL_MASK) == 0) {
        for (uint32_t i = 0; i < count; i++)
            (void)JS_DeleteProperty(context, global, names[i].atom, 0);
        JS_FreePropertyEnum(context, names, count);
    }
    JS_FreeValue(context, global);
    JS_RunGC(JS_GetRuntime(context));
}

void weft_js_free(weft_js *js) {
    if (!js)
        return;
    uint64_t inside = atomic_load(&js->inside);
    if (inside && inside != WF_JS_LOOKED_AT)
        weft_fatal("a JavaScript instance was freed by its own script");
    js->is_lost |= !js->has_finished;
    js->has_ended = true;
    wf_js_drop_ports(js);
    wf_js_drop_promised(js);
    wf_js_drop_children(js);
    wf_js_outside_close(js);
    wf_js_cancel_all(js);
    wf_js_stop_ffi(js);
    wf_js_cancel_works(js);
    weft_shield();
    while (js->fibers || js->waits || js->servers || js->queued || js->drains || js->rejects || js->incoming ||
           wf_js_is_ffi_due(js) || js->job_count || atomic_load(&js->posted) || js->children || wf_js_has_posts(js)) {
        wf_js_drop_servers(js);
        bool is_there = !js->fibers && !js->waits && !js->servers && !js->incoming && !wf_js_is_ffi_due(js) &&
                        !js->job_count && !atomic_load(&js->posted) && !js->children; /* and others may keep the loop */
        if (weft_loop_run(js->loop, is_there ? WEFT_LOOP_NO_WAIT : WEFT_LOOP_ONCE, WEFT_NEVER) >= 0)
            continue;
        if (js->fibers || js->waits || js->servers || js->job_count || js->children)
            weft_fatal("a JavaScript instance with fibers was freed after its loop had ended");
        break; /* it has dropped the rest */
    }
    weft_unshield();
    wf_js_outside_drop(js);
    if (js->context) {
        wf_js_drop_promised(js);
        wf_js_free_ffi(js);
        wf_js_drop_callbacks(js);
        wf_js_drop_timers(js);
        wf_js_drop_deferreds(js);
        wf_js_drop_classes(js);
        wf_js_embed_end(js);
        for (int i = 0; i < WF_JS_HOOKS; i++)
            JS_FreeValue(js->context, js->hooks[i]);
        for (size_t i = 0; i < 2 * js->rejection_count; i++)
            JS_FreeValue(js->context, js->rejections[i]);
        JS_FreeValue(js->context, js->libraries);
        JS_FreeValue(js->context, js->host);
        JS_FreeValue(js->context, js->next_handle);
        JS_FreeValue(js->context, js->main);
        JS_FreeValue(js->context, js->place);
        wf_engine_release(js->context);
        empty_global(js->context);
        JS_FreeContext(js->context);
    }
    if (js->runtime)
        JS_FreeRuntime(js->runtime);
    wf_js_leave_lines(js);
    wf_js_lines_collect();
    wf_js_drop_files(js);
    wf_js_client_unref(js->client);
    weft_loop_unref(js->loop);
    free(js->rejections);
    free(js->piece);
    free(js->leaving);
    weft_js_unref(js);
}

/* ---- In and out ---- */

void wf_js_set_stack(weft_js *js, const char *end) {
    const char *here = __builtin_frame_address(0);
    JS_SetMaxStackSize(js->runtime, here > end ? (size_t)(here - end) : 1);
    JS_UpdateStackTop(js->runtime);
}

bool wf_js_enter(weft_js *js) {
    if (js->has_ended)
        return false;
    wf_js_enter_any(js);
    return true;
}

bool wf_js_enter_checkpoint(weft_js *js) {
    weft_time begun = js->is_checkpoint ? js->begun : 0;
    if (!wf_js_enter(js))
        return false;
    if (begun)
        js->begun = begun;
    js->is_checkpoint = true;
    return true;
}

/* A thread that is no fiber's: the address of something of its own, which differs from ids of fibers in its first bit. */
uint64_t wf_js_self(void) {
    static _Thread_local char here;
    uint64_t fiber = weft_self().bits;
    return fiber ? fiber : (uint64_t)(uintptr_t)&here | UINT64_C(1) << 63;
}

void wf_js_be_inside(weft_js *js, uint64_t who) {
    uint64_t found = 0;
    while (!atomic_compare_exchange_strong(&js->inside, &found, who)) {
        if (found && found != WF_JS_LOOKED_AT)
            weft_fatal("a JavaScript instance was entered twice at a time");
        found = 0;
        sched_yield(); /* not weft_yield: the world may be stopped for whoever looks */
    }
}

void wf_js_enter_any(weft_js *js) {
    uint64_t self = wf_js_self();
    wf_js_be_inside(js, self);
    atomic_store_explicit(&js->loop_owner, self, memory_order_relaxed);
    const char *here = __builtin_frame_address(0);
    if (!js->stack_end || here <= js->stack_end || here > js->stack_begin + STACK_SPARE) { /* another owner, maybe */
        js->stack_begin = here;
        js->stack_end = js->options.max_stack ? here - js->options.max_stack : wf_js_find_stack_end();
    }
    wf_js_set_stack(js, js->stack_end);
    js->hurried = 0;
    atomic_store_explicit(&js->embed.is_interrupted, false, memory_order_relaxed);
    js->begun = js->options.max_run ? weft_now() : 0;
    js->is_checkpoint = false;
}

void wf_js_leave(weft_js *js) {
    bool has_jobs = JS_IsJobPending(js->runtime) && !js->drains && !js->has_ended;
    atomic_store(&js->inside, 0);
    if (has_jobs)
        js->drains = weft_loop_microtask(js->loop, drain_jobs, js) == 0;
}

/* A fiber's stack is one that nobody knows. */
const char *wf_js_find_stack_end(void) {
    const char *here = __builtin_frame_address(0);
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return here - 2 * STACK_SPARE;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    if (here >= (const char *)low && here < (const char *)low + size)
        return (const char *)low + STACK_SPARE;
    return here - 2 * STACK_SPARE;
}

static int on_interrupt(JSRuntime *runtime, void *opaque) {
    weft_js *js = opaque;
    char why[128];
    weft_maybe_yield(); /* to other instances: nobody else enters this one */
    if (js->deadline && weft_now() >= js->deadline)
        js->has_ended = true;
    if (js->has_ended || wf_js_is_stopped(js))
        return 1;
    if (!js->begun || weft_now() - js->begun <= js->options.max_run)
        return 0;
    snprintf(why, sizeof why, "a callback ran for more than %g ms, which is its limit",
             (double)js->options.max_run / 1e6);
    wf_engine_explain(runtime, why);
    return 1;
}

/* One job after another until there is none. What a job throws is nobody's: promises have caught what is theirs. */
static void drain_jobs(void *opaque) {
    weft_js *js = opaque;
    js->drains = false;
    if (!wf_js_enter_checkpoint(js))
        return;
    run_jobs(js);
    wf_js_leave(js);
}

static void run_jobs(weft_js *js) {
    JSContext *context;
    int done;
    while (!js->has_ended && (done = JS_ExecutePendingJob(js->runtime, &context)) != 0)
        if (done < 0)
            wf_js_uncaught(js);
}

bool wf_js_call(weft_js *js, JSValueConst fn, int count, JSValueConst *arguments) {
    JSValue result = JS_Call(js->context, fn, JS_UNDEFINED, count, arguments);
    bool is_good = !JS_IsException(result);
    if (!is_good)
        wf_js_uncaught(js);
    JS_FreeValue(js->context, result);
    return is_good;
}

/* ---- The end ---- */

/* The listeners of the end, once. */
static void tell_exit(weft_js *js) {
    JSValueConst hook = js->hooks[WF_JS_ON_EXIT];
    if (!JS_IsFunction(js->context, hook))
        return;
    JSValue argument = JS_NewInt32(js->context, js->exit_code);
    js->hooks[WF_JS_ON_EXIT] = JS_UNDEFINED;
    JSValue result = JS_Call(js->context, hook, JS_UNDEFINED, 1, &argument);
    if (JS_IsException(result)) {
        JSValue error = JS_GetException(js->context);
        if (!js->has_ended) {
            wf_js_print_error(js->context, error);
            js->exit_code = WF_JS_EXIT_LISTENER;
        }
        JS_FreeValue(js->context, error);
    } else if (JS_IsNumber(result)) {
        int32_t changed;
        JS_ToInt32(js->context, &changed, result);
        js->exit_code = changed;
    }
    JS_FreeValue(js->context, result);
    JS_FreeValue(js->context, hook);
}

/* Inside. Nothing of it runs any more, but the listeners of the end. */
void wf_js_end(weft_js *js, int code) {
    if (js->has_ended)
        return;
    js->exit_code = code;
    tell_exit(js);
    js->has_ended = true;
    weft_loop_stop(js->loop);
}

/* By itself: what the listeners have put off as jobs still comes, and what those reject. */
static void end_quietly(weft_js *js, int code) {
    js->exit_code = code;
    tell_exit(js);
    run_jobs(js);
    wf_js_tell_rejections(js);
    js->has_finished = !js->has_ended;
    js->has_ended = true;
}

JSValue wf_js_throw_errno(JSContext *context, int status, const char *what) {
    char text[128];
    const char *code = strerrorname_np(-status);
    JSValue error = JS_NewError(context);
    if (JS_IsException(error))
        return error;
    /* What the system says of the first is about connections. */
    snprintf(text, sizeof text, "%s: %s", what, status == -ETIMEDOUT ? "Timed out" : strerror(-status));
    JS_DefinePropertyValueStr(context, error, "message", JS_NewString(context, text),
                              JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    JS_SetPropertyStr(context, error, "errno", JS_NewInt32(context, status));
    JS_SetPropertyStr(context, error, "code", JS_NewString(context, code ? code : "UNKNOWN"));
    JS_SetPropertyStr(context, error, "syscall", JS_NewString(context, what));
    return JS_Throw(context, error);
}

void wf_js_new_class(JSRuntime *runtime, JSClassID *id, const JSClassDef *definition) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static JSClassID last;
    pthread_mutex_lock(&lock); /* ids are shared by all instances, on whatever thread they are made */
    if (*id == 0) {
        JSClassID fresh;
        do { /* each runtime counts for itself; one that was never completed has not counted all of them */
            fresh = 0;
            JS_NewClassID(runtime, &fresh);
        } while (fresh <= last);
        *id = last = fresh;
    }
    JS_NewClass(runtime, *id, definition);
    pthread_mutex_unlock(&lock);
}

/* ---- Libraries ---- */

/* setHook(number, function) */
static JSValue set_hook(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t number;
    (void)self;
    if (count < 2 || JS_ToInt32(context, &number, arguments[0]) || number < 0 || number >= WF_JS_HOOKS)
        return JS_ThrowRangeError(context, "no such hook");
    JSValue before = wf_js_of(context)->hooks[number];
    wf_js_of(context)->hooks[number] = JS_DupValue(context, arguments[1]);
    JS_FreeValue(context, before);
    return JS_UNDEFINED;
}

JSValue wf_js_library(JSContext *context, const char *name) {
    weft_js *js = wf_js_of(context);
    JSValue known = JS_GetPropertyStr(context, js->libraries, name);
    if (!JS_IsUndefined(known))
        return known;
    const struct wf_js_source *source = wf_js_sources;
    while (source->name && strcmp(source->name, name) != 0)
        source++;
    if (!source->name)
        return JS_ThrowReferenceError(context, "weft has no library '%s'", name);
    JSValue code = JS_ReadObject(context, source->code, (size_t)(source->end - source->code), JS_READ_OBJ_BYTECODE);
    JSValue fn = JS_IsException(code) ? code : JS_EvalFunction(context, code);
    if (JS_IsException(fn))
        return fn;
    JSValue arguments[] = {js->host, JS_NewCFunction(context, need_library, "need", 1)};
    JSValue exports = JS_Call(context, fn, JS_UNDEFINED, 2, arguments);
    JS_FreeValue(context, arguments[1]);
    JS_FreeValue(context, fn);
    if (!JS_IsException(exports))
        JS_SetPropertyStr(context, js->libraries, name, JS_DupValue(context, exports));
    return exports;
}

static JSValue is_loaded(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    const char *name = count > 0 ? JS_ToCString(context, arguments[0]) : NULL;
    if (!name)
        return JS_EXCEPTION;
    JSValue known = JS_GetPropertyStr(context, wf_js_of(context)->libraries, name);
    JSValue answer = JS_NewBool(context, !JS_IsUndefined(known));
    JS_FreeValue(context, known);
    JS_FreeCString(context, name);
    return answer;
}

static JSValue need_library(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    const char *name = count > 0 ? JS_ToCString(context, arguments[0]) : NULL;
    if (!name)
        return JS_EXCEPTION;
    JSValue exports = wf_js_library(context, name);
    JS_FreeCString(context, name);
    return exports;
}

/* ---- Running ---- */

int weft_js_exit_code(weft_js *js) {
    if (!js)
        return -EINVAL;
    if (!js->has_ended && !JS_IsUndefined(js->main) && JS_PromiseState(js->context, js->main) == JS_PROMISE_PENDING)
        return EXIT_UNSETTLED;
    return js->exit_code;
}

static void tell_quiet(void *opaque) {
    weft_js *js = opaque;
    js->queued--;
    if (!wf_js_enter(js))
        return;
    wf_js_call(js, js->hooks[WF_JS_ON_QUIET], 0, NULL);
    wf_js_leave(js);
}

int weft_js_finish(weft_js *js) {
    if (!js)
        return -EINVAL;
    int status;
    js->is_finishing = true;
    do {
        status = wf_js_run_until_quiet(js);
        if (status < 0 || js->has_ended)
            break;
        status = weft_loop_submit(js->loop, tell_quiet, js);
        js->queued += status == 0;
        if (!status)
            status = weft_loop_run(js->loop, WEFT_LOOP_NO_WAIT, WEFT_NEVER);
    } while (status > 0 && !js->has_ended && !wf_js_is_stranded(js));
    js->is_finishing = false;
    if (status < 0)
        return status;
    int code = weft_js_exit_code(js);
    if (wf_js_enter(js)) {
        if (wf_js_tell_deadlock(js))
            code = EXIT_DEADLOCK;
        end_quietly(js, code);
        wf_js_leave(js);
    }
    return js->exit_code;
}

const char *weft_js_engine(void) {
    return WF_JS_ORIGIN;
}
