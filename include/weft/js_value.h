/* SPDX-License-Identifier: MIT
 *
 * weft/js_value.h - values of JavaScript in C: making and reading them, calling, functions and classes made of C. Part of
 * weft/js.h, and of libweft-js.
 *
 *     static weft_js_value add(weft_js *js, const weft_js_arguments *given) {
 *         double a = weft_js_as_number(js, given->values[0]);
 *         double b = weft_js_as_number(js, given->values[1]);
 *         return weft_js_number(js, a + b);                   // "argument 2 is no number": then this is not reached
 *     }
 *
 *     weft_js_enter(js);
 *     weft_js_set(js, weft_js_global(js), "add", weft_js_function(js, "add", 2, add, NULL, NULL));
 *     weft_js_leave(js);
 *
 * Inside
 *   Values are for whoever is *inside* the instance: a function of C that JavaScript calls, one that weft_js_submit brings, and the
 *   owner of the loop between weft_js_enter and weft_js_leave. All calls here answer to nobody else: they return WEFT_JS_NONE, 0, NULL
 *   or -EPERM, and do nothing. Not inside is a function that runs without the instance (the work of weft_js_perform) and a finalizer.
 *
 * Values
 *   A weft_js_value is a handle. It is good until the function that it was made in, or given to, returns to JavaScript, or until
 *   weft_js_leave: nothing has to be freed. weft_js_keep makes one that stays. A handle that has ended never names another
 *   value: using it is an error, -ESTALE.
 *
 * Errors
 *   What goes wrong, an exception of JavaScript or an error of a call here, becomes the *pending* error of the function of C that
 *   runs. From then on all calls here do nothing and return WEFT_JS_NONE, 0, NULL or the pending status. So a function need look at
 *   nothing until its end: when it returns, the error is thrown in JavaScript, whatever it returns. Who wants to go on takes the
 *   error: weft_js_catch. The first error stays, the others were not tried.
 *
 * A function of C may panic (weft/panic.h): that is an Error for JavaScript. It must not be left by a C++ exception, longjmp or
 * weft_exit.
 */
#ifndef WEFT_JS_VALUE_H
#define WEFT_JS_VALUE_H

#include "weft/promise.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_js weft_js;

/* bits is 0 for no value. */
typedef struct weft_js_value {
    uint64_t bits;
} weft_js_value;

typedef enum weft_js_kind {
    WEFT_JS_NONE = 0, /* no value: what failed calls return */
    WEFT_JS_UNDEFINED,
    WEFT_JS_NULL,
    WEFT_JS_BOOL,
    WEFT_JS_NUMBER,
    WEFT_JS_BIGINT,
    WEFT_JS_STRING,
    WEFT_JS_SYMBOL,
    WEFT_JS_OBJECT, /* any that is none of these */
    WEFT_JS_ARRAY,
    WEFT_JS_FUNCTION,
    WEFT_JS_ERROR,
    WEFT_JS_PROMISE,
    WEFT_JS_BYTES,   /* an ArrayBuffer, or a view of one */
    WEFT_JS_INSTANCE /* of a class made of C */
} weft_js_kind;

/* What it is. WEFT_JS_NONE also for a handle that has ended, which is no error here. */
WEFT_API weft_js_kind weft_js_kind_of(weft_js *js, weft_js_value value);

/* ---- In and out ---- */

/* For the loop's owner, between its turns or in a callback of it; pairs nest, also in functions of C that make many values: what was
 * made since weft_js_enter ends with weft_js_leave. The loop must not be run in between. Returns 0; -EINVAL; -ENOMEM; -EPIPE when the
 * script has ended; -EPERM for somebody who is not the owner while the loop runs, and in a finalizer; -EBUSY when somebody
 * else is inside. */
WEFT_API int weft_js_enter(weft_js *js);
/* The outermost one: what is pending then is an error that nobody has caught, as in a callback of the loop. Jobs of promises run
 * when the loop is run next. Without weft_js_enter it is fatal. */
WEFT_API void weft_js_leave(weft_js *js);
/* The same value by a handle that stays until weft_js_drop, or until the instance is freed. Those that are left then are leaks,
 * which the debug build, and the option tell_leaks, report. */
WEFT_API weft_js_value weft_js_keep(weft_js *js, weft_js_value value);
/* Ends a handle. Works with an error pending, too. Returns 0; -ESTALE, which is no pending error; -EPERM. */
WEFT_API int weft_js_drop(weft_js *js, weft_js_value value);

/* ---- Making ---- */

static inline weft_js_value weft_js_undefined(void) {
    weft_js_value value = {1};
    return value;
}
static inline weft_js_value weft_js_null(void) {
    weft_js_value value = {2};
    return value;
}
static inline weft_js_value weft_js_bool(bool is_true) {
    weft_js_value value = {is_true ? UINT64_C(4) : UINT64_C(3)};
    return value;
}
WEFT_API weft_js_value weft_js_number(weft_js *js, double number);
/* A Number, if it is exact: up to 2^53; else the error is -ERANGE, a RangeError. */
WEFT_API weft_js_value weft_js_int64(weft_js *js, int64_t number);
WEFT_API weft_js_value weft_js_bigint(weft_js *js, int64_t number);
WEFT_API weft_js_value weft_js_biguint(weft_js *js, uint64_t number);
/* UTF-8, which is copied; anything else is -EILSEQ, a TypeError. text: up to its zero. */
WEFT_API weft_js_value weft_js_string(weft_js *js, const char *bytes, size_t size);
WEFT_API weft_js_value weft_js_text(weft_js *js, const char *text);
/* A Uint8Array: with a copy of the bytes; or with the bytes themselves, which are given away by the call: when nobody needs them any
 * more, or the call fails, release(bytes, arg) is called, by a thread that has the instance. */
WEFT_API weft_js_value weft_js_bytes(weft_js *js, const void *bytes, size_t size);
WEFT_API weft_js_value weft_js_give_bytes(weft_js *js, void *bytes, size_t size,
                                          void (*release)(void *bytes, void *arg), void *arg);
WEFT_API weft_js_value weft_js_object(weft_js *js);
WEFT_API weft_js_value weft_js_array(weft_js *js);
/* Of a JSON text; one that is none is a SyntaxError. */
WEFT_API weft_js_value weft_js_parse(weft_js *js, const char *text, size_t size);

/* ---- Reading ----
 *
 * Each wants a value of its kind, and gives a TypeError otherwise, which names the argument of the running function that the value
 * is. Texts and bytes are good as long as the handle; bytes also no longer than until JavaScript runs, which may resize or
 * transfer a buffer. */

/* As an if statement would take it; any kind. */
WEFT_API bool weft_js_truth(weft_js *js, weft_js_value value);
WEFT_API double weft_js_as_number(weft_js *js, weft_js_value value);
/* A whole Number or a BigInt; what does not fit is -ERANGE, a RangeError. */
WEFT_API int64_t weft_js_as_int64(weft_js *js, weft_js_value value);
WEFT_API uint64_t weft_js_as_uint64(weft_js *js, weft_js_value value);
/* A string as UTF-8 with a zero behind it; halves of surrogate pairs become U+FFFD. size may be null. to_text: of anything, as
 * String() makes it, or a description of a symbol. to_json: as JSON.stringify; NULL without an error for undefined and functions. */
WEFT_API const char *weft_js_as_text(weft_js *js, weft_js_value value, size_t *size);
WEFT_API const char *weft_js_to_text(weft_js *js, weft_js_value value, size_t *size);
WEFT_API const char *weft_js_to_json(weft_js *js, weft_js_value value, size_t *size);
/* Never NULL without an error, also for no bytes. */
WEFT_API void *weft_js_as_bytes(weft_js *js, weft_js_value value, size_t *size);
/* By ===. */
WEFT_API bool weft_js_equals(weft_js *js, weft_js_value a, weft_js_value b);
WEFT_API bool weft_js_is_instance(weft_js *js, weft_js_value value, weft_js_value constructor);

/* ---- Properties ----
 *
 * By name (UTF-8), by index or by any value. Getters, setters and proxies run. set, has and remove return 0 (1: it has it), or the
 * pending status. */

WEFT_API weft_js_value weft_js_global(weft_js *js);
WEFT_API weft_js_value weft_js_get(weft_js *js, weft_js_value object, const char *name);
WEFT_API weft_js_value weft_js_get_at(weft_js *js, weft_js_value object, uint32_t index);
WEFT_API weft_js_value weft_js_get_key(weft_js *js, weft_js_value object, weft_js_value key);
WEFT_API int weft_js_set(weft_js *js, weft_js_value object, const char *name, weft_js_value value);
WEFT_API int weft_js_set_at(weft_js *js, weft_js_value object, uint32_t index, weft_js_value value);
WEFT_API int weft_js_set_key(weft_js *js, weft_js_value object, weft_js_value key, weft_js_value value);
WEFT_API int weft_js_has(weft_js *js, weft_js_value object, const char *name);
WEFT_API int weft_js_remove(weft_js *js, weft_js_value object, const char *name);
/* An array of the names of its own enumerable properties. */
WEFT_API weft_js_value weft_js_keys(weft_js *js, weft_js_value object);
/* Of an array, a string or a typed array, or whatever has a length. */
WEFT_API int64_t weft_js_length(weft_js *js, weft_js_value object);

/* ---- Calling ----
 *
 * What is called may be any JavaScript. On a go fiber it may wait; then others run before it returns. */

WEFT_API weft_js_value weft_js_call(weft_js *js, weft_js_value fn, weft_js_value self, int count,
                                    const weft_js_value *values);
WEFT_API weft_js_value weft_js_call_method(weft_js *js, weft_js_value object, const char *name, int count,
                                           const weft_js_value *values);
WEFT_API weft_js_value weft_js_construct(weft_js *js, weft_js_value constructor, int count,
                                         const weft_js_value *values);
/* A script in the global scope, now, and the value of its last expression; name is what its errors say. */
WEFT_API weft_js_value weft_js_evaluate(weft_js *js, const char *text, size_t size, const char *name);
/* A text as a module: a promise of its namespace, which has what it exports. What it imports by relative names is looked for in the
 * current folder. */
WEFT_API weft_js_value weft_js_evaluate_module(weft_js *js, const char *text, size_t size, const char *name);
/* As import(specifier) in the current folder: a promise of the namespace. */
WEFT_API weft_js_value weft_js_import(weft_js *js, const char *specifier);

/* ---- Errors ---- */

typedef enum weft_js_error_kind {
    WEFT_JS_PLAIN_ERROR = 0,
    WEFT_JS_TYPE_ERROR,
    WEFT_JS_RANGE_ERROR,
    WEFT_JS_SYNTAX_ERROR,
    WEFT_JS_REFERENCE_ERROR
} weft_js_error_kind;

/* Copies, cut where they do not fit. */
typedef struct weft_js_error {
    int status;        /* -EOWNERDEAD: JavaScript has thrown it; else the error of a call */
    char name[32];     /* "TypeError" */
    char code[32];     /* error.code, such as "ENOENT", or "" */
    char message[256]; /* or the text of what was thrown, if that is no error */
    char stack[1024];  /* one call in a line, or "" */
} weft_js_error;

/* 0, or what is pending: -EOWNERDEAD for an exception of JavaScript, -EPIPE when the script has ended (which cannot be caught),
 * -ENOMEM, -ESTALE, -EINVAL, -EILSEQ, -ERANGE; -EPERM for somebody who is not inside. */
WEFT_API int weft_js_pending(weft_js *js);
/* Takes the pending error. Returns what weft_js_pending would have, which is 0 when there was none; out may be null. */
WEFT_API int weft_js_catch(weft_js *js, weft_js_error *out);
/* The same as a value; WEFT_JS_NONE when there was none. */
WEFT_API weft_js_value weft_js_catch_value(weft_js *js);
/* What any error, or other value, says of itself. Returns 0, or the pending status. */
WEFT_API int weft_js_describe(weft_js *js, weft_js_value value, weft_js_error *out);
/* Make an error pending, and return WEFT_JS_NONE, so that a function can end with: return weft_js_throw_errno(...). throw: any
 * value. throw_errno: as an error of the system, with a code; what says in which call. */
WEFT_API weft_js_value weft_js_throw(weft_js *js, weft_js_value value);
WEFT_API weft_js_value weft_js_throw_error(weft_js *js, weft_js_error_kind kind, const char *format, ...)
    WEFT_PRINTF(3, 4);
WEFT_API weft_js_value weft_js_throw_errno(weft_js *js, int error, const char *what);

/* ---- Functions of C ---- */

typedef struct weft_js_arguments {
    weft_js_value self; /* this */
    const weft_js_value
        *values;   /* at least as many as the function was made for: those that were not given are undefined */
    int count;     /* of those that were given */
    void *pointer; /* in members of a class: what the object stands for */
    void *arg;     /* of the function, or the class */
} weft_js_arguments;

typedef weft_js_value (*weft_js_native)(weft_js *js, const weft_js_arguments *given);

/* A function for JavaScript; length: how many values it reads at least, 0 to 32. finalize(arg), which may be null, is called when it
 * can never be called again, and when the call here fails. */
WEFT_API weft_js_value weft_js_function(weft_js *js, const char *name, int length, weft_js_native fn, void *arg,
                                        void (*finalize)(void *arg));

/* What a class has besides its constructor. A method, or a property with a getter and, maybe, a setter, which finds the new value in
 * values[0]. Of the class itself, not of its objects, if is_static: then there is no pointer. The list ends with a null name. */
typedef struct weft_js_member {
    const char *name;
    int length; /* of the method */
    weft_js_native method;
    weft_js_native get;
    weft_js_native set;
    bool is_static;
} weft_js_member;

/* A class made of C, whose objects each stand for a pointer. The definition, and what it points to, stays for as long as the
 * instances that know it. */
typedef struct weft_js_class {
    const char *name;
    int length; /* of the constructor */
    /* Makes the pointer of a new object, by new; NULL: an error, which is a TypeError unless another one is pending. A null function:
     * scripts cannot make any. */
    void *(*construct)(weft_js *js, const weft_js_arguments *given);
    const weft_js_member *members; /* may be null */
    /* An object is gone: once for each pointer, inside weft_js_free at the latest, by a thread that has the instance. May be null. */
    void (*finalize)(void *pointer, void *arg);
    void *arg;
} weft_js_class;

/* The constructor of the class, made with the first call. JavaScript may extend it. */
WEFT_API weft_js_value weft_js_constructor(weft_js *js, const weft_js_class *definition);
/* A new object that stands for the pointer, which is given away, also if it fails. */
WEFT_API weft_js_value weft_js_wrap(weft_js *js, const weft_js_class *definition, void *pointer);
/* What an object of that class stands for; NULL and a TypeError for anything else. */
WEFT_API void *weft_js_unwrap(weft_js *js, weft_js_value value, const weft_js_class *definition);

/* A module made of C, for import and require: its exports are the enumerable properties of an object, and the default one is its
 * property "default", or else the object. The name has a scheme of its own, "app:config"; -EINVAL, a TypeError, for "node:",
 * "weft:", "file:" and "data:", and for one without; -EEXIST for one that is taken. module_text: a module whose text is in the program. */
WEFT_API int weft_js_module(weft_js *js, const char *name, weft_js_value exports);
WEFT_API int weft_js_module_text(weft_js *js, const char *name, const char *text, size_t size);

/* ---- Waiting ---- */

/* For functions of C that wait: "return weft_js_perform(...)". work(arg) runs on a fiber, without the instance, where it may wait as
 * fibers do; then finish(js, status, arg), inside, makes the result of what work returned. On a go fiber the call waits and gives the
 * result; elsewhere it gives a promise of it. finish is called in any case, once: with the error when the work could not begin, also
 * for one that was pending already; after the end of the script (then its result is dropped); and with -EOWNERDEAD when work panicked.
 * Null: undefined, or an error of the system. The work is cancelled (weft/scope.h) with the fiber, and with the instance. */
WEFT_API weft_js_value weft_js_perform(weft_js *js, int (*work)(void *arg),
                                       weft_js_value (*finish)(weft_js *js, int status, void *arg), void *arg);
/* Whether the running function was called on a go fiber. */
WEFT_API bool weft_js_is_fiber(weft_js *js);
/* On a go fiber: waits until the promise is settled, and gives its value, or its error as the pending one; what is no promise is
 * given back. -ETIMEDOUT at the deadline, -EDEADLK elsewhere than on a go fiber, both pending. */
WEFT_API weft_js_value weft_js_await(weft_js *js, weft_js_value promise, weft_time deadline);
/* What has become of a promise, with the value or the error in *result, which may be null; what is no promise is resolved with
 * itself. Looking at a rejection counts as handling it. */
WEFT_API weft_promise_state weft_js_promise_state(weft_js *js, weft_js_value promise, weft_js_value *result);

/* A promise of JavaScript as one of C, which fibers and threads can await: resolved with take(js, value, arg), called inside, or with
 * NULL without it; rejected with -EOWNERDEAD and the message, or -EPIPE when nobody can settle the promise any more, as after the end of the
 * instance. Returns 0 with a reference in *out, or the pending status. */
WEFT_API int weft_js_to_promise(weft_js *js, weft_js_value promise,
                                void *(*take)(weft_js *js, weft_js_value value, void *arg), void *arg,
                                weft_promise **out);
/* And the other way round: resolved with make(js, value, arg), called inside, or with undefined without it. The instance keeps the
 * loop for it. */
WEFT_API weft_js_value weft_js_from_promise(weft_js *js, weft_promise *promise,
                                            weft_js_value (*make)(weft_js *js, void *value, void *arg), void *arg);

/* The right to settle a promise of JavaScript, from any thread. */
typedef struct weft_js_deferred weft_js_deferred;
/* A pending promise, which keeps the loop until it is settled, and in *out the right to settle it, which is to be used once, by one of
 * the next functions. */
WEFT_API weft_js_value weft_js_defer(weft_js *js, weft_js_deferred **out);
/* From any thread, and after the instance has been freed, too. The loop settles the promise: resolved with make(js, arg), called inside,
 * or rejected with the error that this leaves; with a JSON text, or undefined for null, which is copied; rejected with an error
 * of the system and that text, which may be null. drop(arg), which may be null, is called instead of make when the instance ends before.
 * Return 0; -EPIPE after the end of the instance, with nothing called; -EINVAL; -ENOMEM, and only then the right is still there. */
WEFT_API int weft_js_resolve(weft_js_deferred *deferred, weft_js_value (*make)(weft_js *js, void *arg),
                             void (*drop)(void *arg), void *arg);
WEFT_API int weft_js_resolve_json(weft_js_deferred *deferred, const char *text, size_t size);
WEFT_API int weft_js_reject(weft_js_deferred *deferred, int error, const char *text);

#ifdef __cplusplus
}
#endif

#endif
