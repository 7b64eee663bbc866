/* SPDX-License-Identifier: MIT
 *
 * js/ffi_callback.c - function pointers for foreign code, behind which a function of JavaScript stands.
 *
 * Foreign code may call one on any thread, at any time, also when it was closed or its instance is gone. So the block
 * behind the pointer and the code that it points to are never freed: a closed one goes into a pool, and serves again
 * for the same signature when some others have been closed after it. Whoever calls a pointer that is out of date so
 * gets an error, or at worst another function with the same arguments, but never memory that is something else.
 *
 *     state   how many are inside, and two flags: CLOSED by the script, ENDED with its instance
 *
 * Who comes in counts itself first and then looks at the flags; who sets a flag looks at the count. While somebody is
 * inside, a callback cannot be closed, and its instance waits before it is freed; so js and fn are good inside.
 *
 * Where the function runs depends on who calls: whoever has the turn runs it at once; inside of a call that this
 * thread makes for the same instance it gets the turn of that call (enum wf_ffi_mode); elsewhere it is a guest
 * (js/ffi_guest.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

/* RESTS: how many others are closed before one of the same signature is used again. */
enum { RESTS = 64 };
#define CLOSED (1u << 31)
#define ENDED (1u << 30)
#define INSIDE (ENDED - 1)

struct wf_ffi_callback {
    atomic_uint state;
    weft_ffi_callback *native;               /* constant */
    struct pool *pool;                       /* constant */
    struct wf_ffi_callback *next, *previous; /* of its instance, or (next) of its pool, under pools_lock */
    weft_js *js;
    JSValue fn;
    struct wf_ffi_signature *signature;
    JSValue handle; /* that JavaScript has; not counted; or undefined */
    bool moves;     /* somebody outside may call it at any time, so that no fiber waits in vain: js/deadlock.c */
    bool keeps;     /* and it keeps the loop alive */
    bool is_doomed; /* to be closed when nobody is inside */
};

/* Closed ones of one signature, for all instances, the longest closed first. Never freed. */
struct pool {
    struct pool *next;
    struct wf_ffi_callback *first, *last;
    unsigned count;
    char letters[];
};

static weft_mutex pools_lock = WEFT_MUTEX_INIT;
static struct pool *pools;
static weft_cond left = WEFT_COND_INIT; /* an ended one has nobody inside any more; with pools_lock */
static JSClassID callback_class;

static struct wf_ffi_callback *block_take(JSContext *context, const char *letters);
static struct wf_ffi_callback *block_new(JSContext *context, struct pool *pool);
static void block_rest(struct wf_ffi_callback *callback);
static void on_call(const weft_ffi_value *arguments, weft_ffi_value *result, void *opaque);
static void callback_close(JSContext *context, struct wf_ffi_callback *callback);
static void close_doomed(JSContext *context);

static void lock_pools(void) {
    weft_shield();
    weft_mutex_lock(&pools_lock, WEFT_NEVER);
}

static void unlock_pools(void) {
    weft_mutex_unlock(&pools_lock);
    weft_unshield();
}

/* ---- Life ---- */

struct wf_ffi_callback *wf_ffi_callback_new(JSContext *context, struct wf_ffi_signature *signature, JSValueConst fn) {
    weft_js *js = wf_js_of(context);
    close_doomed(context);
    struct wf_ffi_callback *callback = block_take(context, signature->letters);
    if (!callback)
        return NULL;
    callback->js = js;
    callback->fn = JS_DupValue(context, fn);
    callback->signature = wf_ffi_signature_ref(signature);
    callback->handle = JS_UNDEFINED;
    callback->moves = callback->keeps = callback->is_doomed = false;
    callback->previous = NULL;
    callback->next = js->ffi->callbacks;
    if (callback->next)
        callback->next->previous = callback;
    js->ffi->callbacks = callback;
    atomic_fetch_and(&callback->state, INSIDE); /* pairs with on_call: what stands above is seen there */
    return callback;
}

/* One that has rested, or a new one; closed. Null: an exception. */
static struct wf_ffi_callback *block_take(JSContext *context, const char *letters) {
    struct wf_ffi_callback *callback = NULL;
    lock_pools();
    struct pool *pool = pools;
    while (pool && strcmp(pool->letters, letters) != 0)
        pool = pool->next;
    size_t size = strlen(letters) + 1;
    if (!pool && (pool = calloc(1, sizeof *pool + size))) {
        memcpy(pool->letters, letters, size);
        pool->next = pools;
        pools = pool;
    }
    if (pool && pool->count > RESTS) {
        callback = pool->first;
        pool->first = callback->next;
        pool->count--;
    }
    unlock_pools();
    if (!pool)
        JS_ThrowOutOfMemory(context);
    return callback ? callback : pool ? block_new(context, pool) : NULL;
}

static struct wf_ffi_callback *block_new(JSContext *context, struct pool *pool) {
    struct wf_ffi_callback *callback = calloc(1, sizeof *callback);
    if (!callback) {
        JS_ThrowOutOfMemory(context);
        return NULL;
    }
    atomic_store(&callback->state, CLOSED);
    callback->pool = pool;
    int error = weft_ffi_callback_new(&callback->native, pool->letters, on_call, callback, 0);
    if (!error)
        return callback;
    if (error == -ENOMEM)
        JS_ThrowOutOfMemory(context);
    else
        JS_ThrowTypeError(context, "No callback can have such a signature: %s", weft_ffi_reason());
    free(callback);
    return NULL;
}

static void block_rest(struct wf_ffi_callback *callback) {
    struct pool *pool = callback->pool;
    lock_pools();
    callback->next = NULL;
    *(pool->count ? &pool->last->next : &pool->first) = callback;
    pool->last = callback;
    pool->count++;
    unlock_pools();
}

void *wf_ffi_callback_address(const struct wf_ffi_callback *callback) {
    return weft_ffi_callback_address(callback->native);
}

/* Closed for good, and nobody is inside. */
static void callback_close(JSContext *context, struct wf_ffi_callback *callback) {
    weft_js *js = callback->js;
    *(callback->previous ? &callback->previous->next : &js->ffi->callbacks) = callback->next;
    if (callback->next)
        callback->next->previous = callback->previous;
    if (callback->moves)
        wf_js_ends(js, callback->keeps);
    if (!JS_IsUndefined(callback->handle))
        JS_SetOpaque(callback->handle, NULL);
    JSValue fn = callback->fn;
    wf_ffi_signature_unref(callback->signature);
    block_rest(callback);
    JS_FreeValue(context, fn);
}

static bool try_close(JSContext *context, struct wf_ffi_callback *callback) {
    unsigned nobody = 0;
    if (!atomic_compare_exchange_strong(&callback->state, &nobody, CLOSED))
        return false;
    callback_close(context, callback);
    return true;
}

void wf_ffi_callback_drop(JSContext *context, struct wf_ffi_callback *callback) {
    if (try_close(context, callback))
        return;
    callback->is_doomed = true;
    callback->js->ffi->doomed++;
}

/* Those that somebody was inside of when their call returned: a thread of the library's. */
static void close_doomed(JSContext *context) {
    struct wf_ffi *ffi = wf_js_of(context)->ffi;
    struct wf_ffi_callback *next;
    for (struct wf_ffi_callback *callback = ffi->doomed ? ffi->callbacks : NULL; callback; callback = next) {
        next = callback->next;
        if (callback->is_doomed && try_close(context, callback))
            ffi->doomed--;
    }
}

void wf_ffi_stop_callbacks(weft_js *js) {
    for (struct wf_ffi_callback *callback = js->ffi->callbacks; callback; callback = callback->next)
        atomic_fetch_or(&callback->state, ENDED);
}

void wf_ffi_free_callbacks(weft_js *js) {
    while (js->ffi->callbacks) {
        struct wf_ffi_callback *callback = js->ffi->callbacks;
        lock_pools();
        while (atomic_load(&callback->state) & INSIDE)
            (void)weft_cond_wait(&left, &pools_lock, WEFT_NEVER);
        unlock_pools();
        callback_close(js->context, callback);
    }
}

/* ---- On whatever thread ---- */

static bool callback_enter(struct wf_ffi_callback *callback, unsigned *flags) {
    *flags = atomic_fetch_add(&callback->state, 1) & (CLOSED | ENDED);
    return *flags == 0;
}

static void callback_leave(struct wf_ffi_callback *callback) {
    unsigned before = atomic_fetch_sub(&callback->state, 1);
    if (!(before & ENDED) || (before & INSIDE) != 1)
        return;
    lock_pools();
    (void)weft_cond_broadcast(&left);
    unlock_pools();
}

/* What is out of date is the fault of the call that it comes from; without one there is nobody to tell. */
static void refuse(struct wf_ffi_call *call, unsigned flags) {
    if (flags & ENDED)
        return;
    if (!call)
        weft_fatal("a callback of JavaScript was called after it was closed, on a thread of a library");
    if (!call->misuse)
        call->misuse = "it called a callback after that was closed";
}

/* On the thread of a call of the same instance, with its turn. */
static void run_inside(struct wf_ffi_callback *callback, const weft_ffi_value *arguments, weft_ffi_value *result,
                       struct wf_ffi_call *call) {
    weft_js *js = call->js;
    const char **end = call->mode == WF_FFI_FIBER ? &call->fiber->stack_end : &js->stack_end;
    const char *before = *end;
    if (call->stack_end)
        *end = call->stack_end;
    wf_js_set_stack(js, *end);
    wf_ffi_callback_run(callback, arguments, result, call);
    *end = before;
}

static void run_for_call(struct wf_ffi_callback *callback, const weft_ffi_value *arguments, weft_ffi_value *result,
                         struct wf_ffi_call *call) {
    bool was_kept;
    switch (call->mode) {
    case WF_FFI_KEEPS:
        break;
    case WF_FFI_LOOP:
        wf_ffi_guest_dismiss(call->js, call->frame);
        run_inside(callback, arguments, result, call);
        wf_ffi_guest_admit(call->js);
        break;
    case WF_FFI_GUEST:
        wf_ffi_guest_take(call->js, call->guest);
        run_inside(callback, arguments, result, call);
        wf_ffi_guest_give(call->js, call->guest);
        break;
    case WF_FFI_FIBER:
        call->is_over = !wf_ffi_regain_turn(call->fiber, &was_kept);
        if (call->is_over)
            break;
        run_inside(callback, arguments, result, call);
        call->is_lent = wf_ffi_drop_turn(call->fiber, true);
        break;
    case WF_FFI_APART:
        wf_ffi_guest_run(callback, call->js, arguments, result, call);
        break;
    }
}

static void on_call(const weft_ffi_value *arguments, weft_ffi_value *result, void *opaque) {
    struct wf_ffi_callback *callback = opaque;
    struct wf_ffi_call *call = wf_ffi_innermost();
    unsigned flags;
    bool is_good = callback_enter(callback, &flags);
    weft_js *js = is_good ? callback->js : NULL;
    if (!is_good) {
        refuse(call, flags);
    } else if (call && call->js == js && call->mode == WF_FFI_KEEPS) {
        call->misuse = "it is said to be fast, and a fast function cannot call back";
    } else if (atomic_load(&js->inside) == wf_js_self()) { /* C that JavaScript has called in another way */
        wf_ffi_callback_run(callback, arguments, result, NULL);
    } else if (call && call->js == js) {
        if (!call->is_over && !call->misuse && JS_IsUninitialized(call->error)) /* one failure ends it all */
            run_for_call(callback, arguments, result, call);
    } else if (atomic_load(&js->loop_owner) == wf_js_self()) { /* between two callbacks of the loop */
        wf_js_enter_any(js);
        wf_ffi_callback_run(callback, arguments, result, NULL);
        wf_js_leave(js);
    } else {
        wf_ffi_guest_run(callback, js, arguments, result, NULL);
    }
    callback_leave(callback);
}

/* ---- With the turn ---- */

/* False: something is thrown. */
static bool call_function(JSContext *context, struct wf_ffi_callback *callback, const weft_ffi_value *arguments,
                          weft_ffi_value *result) {
    const struct wf_ffi_signature *signature = callback->signature;
    JSValue values[WF_FFI_ARGUMENTS_MAX];
    unsigned made = 0;
    bool is_good = true;
    for (; is_good && made < signature->count; made++) {
        const struct wf_ffi_type *type = signature->types[made];
        const void *place = type->kind == WF_FFI_STRUCT ? arguments[made].pointer : (const void *)&arguments[made];
        values[made] = wf_ffi_get(context, type, place);
        is_good = !JS_IsException(values[made]);
    }
    JSValue returned =
        is_good ? JS_Call(context, callback->fn, JS_UNDEFINED, (int)signature->count, values) : JS_EXCEPTION;
    while (made > 0)
        JS_FreeValue(context, values[--made]);
    is_good = !JS_IsException(returned);
    if (is_good) {
        bool is_struct = signature->result->kind == WF_FFI_STRUCT;
        struct wf_ffi_trail trail = {.function = "a callback", .index = -1};
        weft_ffi_value value = {.u64 = 0};
        void *place = is_struct ? malloc(signature->result->size) : &value;
        is_good = place && wf_ffi_put(context, signature->result, returned, place, &trail);
        if (!place)
            JS_ThrowOutOfMemory(context);
        if (is_good && is_struct)
            memcpy(result->pointer, place, signature->result->size);
        else if (is_good)
            *result = value;
        if (is_struct)
            free(place);
    }
    JS_FreeValue(context, returned);
    return is_good;
}

void wf_ffi_callback_run(struct wf_ffi_callback *callback, const weft_ffi_value *arguments, weft_ffi_value *result,
                         struct wf_ffi_call *call) {
    weft_js *js = callback->js;
    JSContext *context = js->context;
    if (js->has_ended || call_function(context, callback, arguments, result))
        return;
    if (!call) {
        wf_js_uncaught(js);
        return;
    }
    JSValue error = JS_GetException(context);
    if (js->has_ended)
        JS_FreeValue(context, error);
    else
        call->error = error;
}

/* ---- What JavaScript has ---- */

struct wf_ffi_callback *wf_ffi_callback_of(JSValueConst value, bool *is_callback) {
    *is_callback = JS_IsObject(value) && JS_GetClassID(value) == callback_class;
    return JS_GetOpaque(value, callback_class);
}

static void callback_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_ffi_callback *callback = JS_GetOpaque(value, callback_class);
    (void)runtime;
    if (callback)
        callback->handle = JS_UNDEFINED; /* it stays until it is closed: who knows where its address is */
}

/* ffiCallback(handle of a callback's type, fn, prototype) -> an object with that prototype */
static JSValue js_callback(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_type *type = count > 2 ? wf_ffi_type_of(context, arguments[0]) : NULL;
    (void)self;
    if (!type || !type->signature)
        return JS_EXCEPTION;
    if (!JS_IsFunction(context, arguments[1]))
        return JS_ThrowTypeError(context, "A callback needs a function");
    struct wf_ffi_callback *callback = wf_ffi_callback_new(context, type->signature, arguments[1]);
    if (!callback)
        return JS_EXCEPTION;
    JSValue handle = JS_NewObjectProtoClass(context, arguments[2], callback_class);
    int error = JS_IsException(handle) ? 0 : wf_js_begins(callback->js);
    if (JS_IsException(handle) || error) {
        wf_ffi_callback_drop(context, callback);
        JS_FreeValue(context, handle);
        return error ? wf_js_throw_errno(context, error, "callback") : JS_EXCEPTION;
    }
    wf_js_unkeep(callback->js);
    callback->moves = true;
    callback->handle = handle;
    JS_SetOpaque(handle, callback);
    return handle;
}

static struct wf_ffi_callback *take_callback(JSContext *context, int count, JSValueConst *arguments) {
    bool is_callback = false;
    struct wf_ffi_callback *callback = count > 0 ? wf_ffi_callback_of(arguments[0], &is_callback) : NULL;
    if (!callback)
        JS_ThrowTypeError(context, is_callback ? "The callback is closed" : "This is no callback");
    return callback;
}

/* ffiCallbackPointer(callback) -> pointer */
static JSValue js_callback_pointer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_callback *callback = take_callback(context, count, arguments);
    (void)self;
    return callback ? wf_ffi_pointer_new(context, wf_ffi_callback_address(callback), SIZE_MAX, NULL) : JS_EXCEPTION;
}

/* ffiCallbackClose(callback): closes it; one that is closed already stays so */
static JSValue js_callback_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    bool is_callback = false;
    struct wf_ffi_callback *callback = count > 0 ? wf_ffi_callback_of(arguments[0], &is_callback) : NULL;
    (void)self;
    if (!is_callback)
        return JS_ThrowTypeError(context, "This is no callback");
    if (callback && !try_close(context, callback))
        return JS_ThrowTypeError(context, "The callback is being called, and cannot be closed meanwhile");
    return JS_UNDEFINED;
}

/* ffiCallbackKeep(callback, keeps): whether it keeps the loop alive; at first it does not */
static JSValue js_callback_keep(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_callback *callback = take_callback(context, count, arguments);
    (void)self;
    if (!callback || count < 2)
        return JS_EXCEPTION;
    bool keeps = JS_ToBool(context, arguments[1]) > 0;
    if (keeps == callback->keeps)
        return JS_UNDEFINED;
    int error = keeps ? wf_js_keep(callback->js) : 0;
    if (error)
        return wf_js_throw_errno(context, error, "ref");
    if (!keeps)
        wf_js_unkeep(callback->js);
    callback->keeps = keeps;
    return JS_UNDEFINED;
}

int wf_ffi_add_callbacks(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "Callback", .finalizer = callback_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("ffiCallback", 3, js_callback),
        JS_CFUNC_DEF("ffiCallbackPointer", 1, js_callback_pointer),
        JS_CFUNC_DEF("ffiCallbackClose", 1, js_callback_close),
        JS_CFUNC_DEF("ffiCallbackKeep", 2, js_callback_keep),
    };
    wf_js_new_class(JS_GetRuntime(context), &callback_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
