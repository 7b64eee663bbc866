/* SPDX-License-Identifier: MIT
 *
 * js/ffi.c - libraries and their functions, and what an instance has of foreign functions.
 *
 * A library is unloaded when a script closes it and no call is inside; one that nobody closes stays, since nobody
 * knows which of its threads still run or who has an address in it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign.h"

/* How many calls may be promises at once, or be made unbound: each has a thread. As many as fibers may be bound by
 * default. */
enum { APART_MAX = 1000 };

static JSClassID library_class;

/* ---- Libraries ---- */

struct opening {
    const char *path, *name;
    weft_ffi_library *library;
    void *address;
    int error;
    char why[256]; /* of the thread, which is another one later */
};

static void open_here(void *opaque) {
    struct opening *opening = opaque;
    opening->error = weft_ffi_open(&opening->library, opening->path);
    if (opening->error)
        snprintf(opening->why, sizeof opening->why, "%s", weft_ffi_reason());
}

static void find_here(void *opaque) {
    struct opening *opening = opaque;
    opening->error = weft_ffi_find(&opening->address, opening->library, opening->name);
    if (opening->error)
        snprintf(opening->why, sizeof opening->why, "%s", weft_ffi_reason());
}

static void close_here(void *opaque) {
    weft_ffi_close(opaque);
}

/* An Error with the loader's words. */
static JSValue throw_opening(JSContext *context, const struct opening *opening) {
    const char *code = strerrorname_np(-opening->error);
    if (opening->error == -ENOMEM)
        return JS_ThrowOutOfMemory(context);
    JSValue error = JS_NewError(context);
    if (JS_IsException(error))
        return error;
    JS_DefinePropertyValueStr(context, error, "message", wf_js_new_text(context, opening->why, strlen(opening->why)),
                              JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    JS_SetPropertyStr(context, error, "code", JS_NewString(context, code ? code : "UNKNOWN"));
    return JS_Throw(context, error);
}

static void library_unref(struct wf_ffi_library *library) {
    if (--library->references == 0)
        free(library);
}

static void library_unload(struct wf_ffi_library *library, weft_js *js) {
    weft_ffi_library *loaded = library->library;
    library->library = NULL;
    if (loaded)
        wf_ffi_run_quiet(js, close_here, loaded);
}

void wf_ffi_library_leave(struct wf_ffi_library *library) {
    if (--library->calls == 0 && library->is_closed)
        library_unload(library, library->js);
}

/* Those that were never closed: they stay loaded, and are kept in mind for whoever looks for lost memory. */
static struct kept {
    struct kept *next;
    weft_ffi_library *library;
} * _Atomic kept;

static void library_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_ffi_library *library = JS_GetOpaque(value, library_class);
    (void)runtime;
    if (!library)
        return;
    struct kept *one = library->library && !library->is_closed ? malloc(sizeof *one) : NULL;
    if (one) {
        one->library = library->library;
        one->next = atomic_load(&kept);
        while (!atomic_compare_exchange_weak(&kept, &one->next, one))
            continue;
    }
    library_unref(library);
}

/* ffiOpen(path, or null for the program itself) -> library */
static JSValue js_open(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct opening opening = {.error = 0};
    (void)self;
    bool has_path = count > 0 && !JS_IsNull(arguments[0]);
    if (has_path && !(opening.path = JS_ToCString(context, arguments[0])))
        return JS_EXCEPTION;
    struct wf_ffi_library *library = calloc(1, sizeof *library);
    JSValue handle = JS_NewObjectClass(context, (int)library_class);
    if (!library || JS_IsException(handle)) {
        free(library);
        JS_FreeValue(context, handle);
        JS_FreeCString(context, opening.path);
        return JS_ThrowOutOfMemory(context);
    }
    library->references = 1;
    library->js = wf_js_of(context);
    JS_SetOpaque(handle, library);
    wf_ffi_run_quiet(library->js, open_here, &opening);
    JS_FreeCString(context, opening.path);
    if (opening.error) {
        JS_FreeValue(context, handle);
        return throw_opening(context, &opening);
    }
    library->library = opening.library;
    return handle;
}

static struct wf_ffi_library *take_library(JSContext *context, int count, JSValueConst *arguments) {
    struct wf_ffi_library *library = count > 0 ? JS_GetOpaque2(context, arguments[0], library_class) : NULL;
    if (library && library->is_closed) {
        JS_ThrowTypeError(context, "The library is closed");
        return NULL;
    }
    return library;
}

/* ffiClose(library): its functions cannot be called any more; it is unloaded when those that are have returned */
static JSValue js_close(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_library *library = count > 0 ? JS_GetOpaque2(context, arguments[0], library_class) : NULL;
    (void)self;
    if (!library)
        return JS_EXCEPTION;
    if (!library->is_closed) {
        library->is_closed = true;
        if (library->calls == 0)
            library_unload(library, library->js);
    }
    return JS_UNDEFINED;
}

/* Null: an exception. */
static void *find_symbol(JSContext *context, struct wf_ffi_library *library, JSValueConst name) {
    struct opening opening = {.library = library->library, .name = JS_ToCString(context, name)};
    if (!opening.name)
        return NULL;
    wf_ffi_run_quiet(library->js, find_here, &opening);
    JS_FreeCString(context, opening.name);
    if (opening.error)
        throw_opening(context, &opening);
    return opening.error ? NULL : opening.address;
}

/* ffiSymbol(library, name) -> pointer */
static JSValue js_symbol(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_library *library = count > 1 ? take_library(context, count, arguments) : NULL;
    (void)self;
    void *address = library ? find_symbol(context, library, arguments[1]) : NULL;
    return address ? wf_ffi_pointer_new(context, address, SIZE_MAX, NULL) : JS_EXCEPTION;
}

/* ffiIsClosed(library) */
static JSValue js_is_closed(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_library *library = count > 0 ? JS_GetOpaque2(context, arguments[0], library_class) : NULL;
    (void)self;
    return library ? JS_NewBool(context, library->is_closed) : JS_EXCEPTION;
}

/* ---- Functions ---- */

void wf_ffi_function_unref(struct wf_ffi_function *function) {
    if (--function->references > 0)
        return;
    weft_ffi_symbol_free(function->symbol);
    wf_ffi_signature_unref(function->signature);
    if (function->library)
        library_unref(function->library);
    free(function->name);
    free(function);
}

static bool check_fast(JSContext *context, const struct wf_ffi_function *function) {
    for (unsigned i = 0; function->is_fast && i < function->signature->count; i++)
        if (function->signature->types[i]->kind == WF_FFI_CALLBACK) {
            JS_ThrowTypeError(context, "%s: a fast function cannot call back", function->name);
            return false;
        }
    return true;
}

static bool bind_function(JSContext *context, struct wf_ffi_function *function, void *address) {
    int error = weft_ffi_bind_address(&function->symbol, address, function->signature->letters);
    if (error == -ENOMEM)
        JS_ThrowOutOfMemory(context);
    else if (error)
        JS_ThrowTypeError(context, "%s: %s", function->name, weft_ffi_reason());
    return !error;
}

/* A symbol of a library, or an address. Null: an exception. */
static void *address_of(JSContext *context, struct wf_ffi_function *function, JSValueConst *arguments) {
    if (function->library)
        return find_symbol(context, function->library, arguments[1]);
    bool is_pointer;
    struct wf_ffi_pointer *pointer = wf_ffi_pointer_of(arguments[1], &is_pointer);
    if (!pointer)
        JS_ThrowTypeError(context, "A function needs an address");
    return pointer ? pointer->address : NULL;
}

/* ffiFunction(library or null, symbol or pointer, name, result, [types], how many are fixed, is fast, wants errno)
 *   -> [function, function that returns a promise] */
static JSValue js_function(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_ffi_library *library = NULL;
    (void)self;
    if (count < 8 || (!JS_IsNull(arguments[0]) && !(library = take_library(context, count, arguments))))
        return JS_EXCEPTION;
    struct wf_ffi_function *function = calloc(1, sizeof *function);
    if (!function)
        return JS_ThrowOutOfMemory(context);
    function->references = 1;
    function->patience = 1;
    function->is_fast = JS_ToBool(context, arguments[6]) > 0;
    function->wants_errno = JS_ToBool(context, arguments[7]) > 0;
    if ((function->library = library))
        library->references++;
    function->name = wf_js_copy_text(context, arguments[2]);
    void *address = function->name ? address_of(context, function, arguments) : NULL;
    if (address)
        function->signature = wf_ffi_signature_new(context, arguments[3], arguments[4], arguments[5], false);
    JSValue pair = JS_EXCEPTION;
    if (function->signature && check_fast(context, function) && bind_function(context, function, address)) {
        JSValue here = wf_ffi_call_new(context, function, WF_FFI_CALL_HERE);
        JSValue apart = wf_ffi_call_new(context, function, WF_FFI_CALL_APART);
        pair = JS_NewArray(context);
        JS_SetPropertyUint32(context, pair, 0, here);
        JS_SetPropertyUint32(context, pair, 1, apart);
    }
    wf_ffi_function_unref(function);
    return pair;
}

/* ffiErrno() -> errno of the last foreign call of this fiber, or of all that is not on a fiber */
static JSValue js_errno(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_js *js = wf_js_of(context);
    (void)self, (void)count, (void)arguments;
    return JS_NewInt32(context, js->holder ? js->holder->foreign_errno : js->ffi->number);
}

/* ---- An instance's ---- */

int wf_js_add_ffi(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "LibraryHandle", .finalizer = library_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("ffiOpen", 1, js_open),         JS_CFUNC_DEF("ffiClose", 1, js_close),
        JS_CFUNC_DEF("ffiSymbol", 2, js_symbol),     JS_CFUNC_DEF("ffiIsClosed", 1, js_is_closed),
        JS_CFUNC_DEF("ffiFunction", 8, js_function), JS_CFUNC_DEF("ffiErrno", 0, js_errno),
    };
    weft_js *js = wf_js_of(context);
    js->ffi = calloc(1, sizeof *js->ffi);
    if (!js->ffi)
        return -1;
    js->ffi->apart = (weft_semaphore)WEFT_SEMAPHORE_INIT(APART_MAX);
    wf_js_new_class(JS_GetRuntime(context), &library_class, &definition);
    wf_ffi_add_calls(context);
    if (wf_ffi_add_types(context, host) || wf_ffi_add_memory(context, host) || wf_ffi_add_callbacks(context, host))
        return -1;
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}

void wf_js_stop_ffi(weft_js *js) {
    if (!js->ffi)
        return;
    wf_ffi_stop_callbacks(js);
    wf_ffi_guest_stop(js);
}

bool wf_js_is_ffi_due(const weft_js *js) {
    return js->ffi && wf_ffi_guest_is_due(js);
}

void wf_js_free_ffi(weft_js *js) {
    if (!js->ffi)
        return;
    wf_ffi_free_callbacks(js);
    free(js->ffi);
    js->ffi = NULL;
}
