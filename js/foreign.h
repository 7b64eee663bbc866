/* SPDX-License-Identifier: MIT
 *
 * js/foreign.h - foreign functions for JavaScript: types, memory, calls, callbacks. What a script sees of them is
 * js/lib/ffi.js.
 *
 * Everything here belongs to one instance and is touched with its turn. What happens without it, inside of foreign
 * code, touches a call (struct wf_ffi_call), which belongs to the thread that makes it until it has returned, and the
 * state of a callback, which is atomic.
 *
 *     ffi_type.c       what a value is in C: kinds, structs, arrays, signatures
 *     ffi_value.c      from JavaScript to the bytes of a type and back
 *     ffi_memory.c     pointers, memory, buffers that foreign code uses
 *     ffi_call.c       arguments, results, and a call itself
 *     ffi_run.c        where a call runs, and who has the turn meanwhile
 *     ffi_callback.c   function pointers for foreign code
 *     ffi_guest.c      callbacks that come on other threads
 *     ffi.c            libraries and functions
 */
#ifndef WF_JS_FOREIGN_H
#define WF_JS_FOREIGN_H

#include "host.h"

/* ---- js/ffi_type.c ---- */

enum wf_ffi_kind {
    WF_FFI_VOID,
    WF_FFI_BOOL,
    WF_FFI_I8,
    WF_FFI_U8,
    WF_FFI_I16,
    WF_FFI_U16,
    WF_FFI_I32,
    WF_FFI_U32,
    WF_FFI_I64,
    WF_FFI_U64,
    WF_FFI_FLOAT,
    WF_FFI_DOUBLE,
    WF_FFI_POINTER,
    WF_FFI_STRING, /* a pointer to char, whose bytes are a text; an argument's are copied for the call */
    WF_FFI_BUFFER, /* a pointer to the bytes of an ArrayBuffer or a view on one; arguments only */
    WF_FFI_CALLBACK, /* a pointer to a function; an argument may be a function of JavaScript, for as long as the call is */
    WF_FFI_STRUCT,
    WF_FFI_ARRAY,
    WF_FFI_TEXT, /* an array of char that holds a text */
};

struct wf_ffi_type;

struct wf_ffi_field {
    JSAtom name;
    struct wf_ffi_type *type;
    size_t offset;
};

/* Counted, but those that are static; constant once it is made. */
struct wf_ffi_type {
    const char *name; /* for messages; of a static one, or the type's own */
    enum wf_ffi_kind kind;
    bool is_optional; /* a string that may be null */
    bool is_static;
    size_t size, alignment;
    uint32_t references;
    uint32_t count;                     /* fields of a struct, elements of an array */
    uint32_t depth;                     /* how many structs and arrays one inside another */
    struct wf_ffi_field *fields;        /* of a struct */
    struct wf_ffi_type *element;        /* of an array */
    struct wf_ffi_signature *signature; /* of a callback */
    JSRuntime *runtime;
};

/* Counted; constant once it is made. */
struct wf_ffi_signature {
    uint32_t references;
    unsigned count; /* of arguments, variable ones included */
    unsigned fixed; /* those before the first variable one */
    bool is_variadic;
    struct wf_ffi_type *result;
    struct wf_ffi_type **types;
    char *letters; /* as weft/ffi.h has them */
};

enum { WF_FFI_ARGUMENTS_MAX = 64 };

struct wf_ffi_type *wf_ffi_type_ref(struct wf_ffi_type *type);
void wf_ffi_type_unref(struct wf_ffi_type *type);
/* Of a handle; null: it is none, which is an exception. */
struct wf_ffi_type *wf_ffi_type_of(JSContext *context, JSValueConst handle);
/* Whether memory can contain it; else an exception. */
bool wf_ffi_is_storable(JSContext *context, const struct wf_ffi_type *type);
/* From handles: the result's, a list of the arguments', and how many of these are fixed (below 0: all). Null: an
 * exception. */
struct wf_ffi_signature *wf_ffi_signature_new(JSContext *context, JSValueConst result, JSValueConst types,
                                              JSValueConst fixed, bool is_callback);
struct wf_ffi_signature *wf_ffi_signature_ref(struct wf_ffi_signature *signature);
void wf_ffi_signature_unref(struct wf_ffi_signature *signature);
int wf_ffi_add_types(JSContext *context, JSValueConst host);

/* ---- js/ffi_value.c ---- */

/* Where a value stands, for messages: "pow, argument 2", "field x", "element 3". */
struct wf_ffi_trail {
    const struct wf_ffi_trail *outer;
    const char *function; /* then index is that of the argument, from 0; below 0: its result */
    JSAtom field;         /* or JS_ATOM_NULL: index is that of an element */
    int64_t index;
};

/* Throws: what the trail names is not what is expected. Always false. */
bool wf_ffi_refuse_type(JSContext *context, const struct wf_ffi_trail *trail, JSValueConst value, const char *expected);
bool wf_ffi_refuse_range(JSContext *context, const struct wf_ffi_trail *trail, JSValueConst value,
                         const char *expected);
/* Writes a value as the type's bytes. False: an exception. Places need not be aligned. */
bool wf_ffi_put(JSContext *context, const struct wf_ffi_type *type, JSValueConst value, void *place,
                const struct wf_ffi_trail *trail);
/* What the engine makes of halves of surrogates is no UTF-8: they become U+FFFD, which has as many bytes. */
void wf_ffi_mend_text(char *text, size_t size);
/* The value that the type's bytes are. */
JSValue wf_ffi_get(JSContext *context, const struct wf_ffi_type *type, const void *place);

/* ---- js/ffi_memory.c ---- */

/* Memory of ours. Counted by pointers to it and by calls that use it. */
struct wf_ffi_block {
    uint32_t references;
    unsigned char *bytes; /* aligned as malloc's, inside of */
    void *memory;         /* which the engine gives less of that */
};

/* What an object of the class Pointer, or a view on a struct, is about. */
struct wf_ffi_pointer {
    unsigned char *address;
    size_t room;                /* bytes that are known to be there; SIZE_MAX: nobody knows */
    struct wf_ffi_block *block; /* that it points into, or null */
    struct wf_ffi_type *type;   /* of a view, or null */
    bool is_freed;
};

/* The bytes of a buffer that a foreign call uses: as long as it is in the instance's list, it is neither detached nor
 * resized. */
struct wf_ffi_pin {
    struct wf_ffi_pin *next, *previous;
    void *object; /* the ArrayBuffer */
};

JSValue wf_ffi_pointer_new(JSContext *context, void *address, size_t room, struct wf_ffi_block *block);
/* Null: it is none, or was freed; *is_pointer tells which. No exception. */
struct wf_ffi_pointer *wf_ffi_pointer_of(JSValueConst value, bool *is_pointer);
void wf_ffi_block_unref(JSRuntime *runtime, struct wf_ffi_block *block);
/* Where the bytes are of an ArrayBuffer of either kind, or of a view on one, which is *buffer, not counted. 1; 0: it
 * is neither; -1: they are gone, detached or cut off. No exception. */
int wf_ffi_bytes_of(JSContext *context, JSValueConst value, uint8_t **bytes, size_t *size, JSValueConst *buffer);
void wf_ffi_pin_add(weft_js *js, struct wf_ffi_pin *pin, JSValueConst buffer);
void wf_ffi_pin_remove(weft_js *js, struct wf_ffi_pin *pin);
int wf_ffi_add_memory(JSContext *context, JSValueConst host);

/* ---- js/ffi.c ---- */

/* Counted by its handle and its functions. Closed when it is said so, and unloaded when no call is inside any more. */
struct wf_ffi_library {
    uint32_t references;
    uint32_t calls;
    bool is_closed;
    weft_js *js;
    weft_ffi_library *library; /* null: it is unloaded */
};

struct wf_ffi_function {
    uint32_t references; /* the functions of JavaScript that call it, and calls */
    bool is_fast;        /* called as it is, with the turn */
    bool wants_errno;
    uint8_t patience; /* how many short calls it takes until it is thought to be short; see js/ffi_run.c */
    char *name;
    weft_ffi_symbol *symbol;
    struct wf_ffi_signature *signature;
    struct wf_ffi_library *library; /* null: it was an address */
};

void wf_ffi_function_unref(struct wf_ffi_function *function);
void wf_ffi_library_leave(struct wf_ffi_library *library);

/* ---- js/ffi_call.c ---- */

struct wf_ffi_callback;

/* What an argument needs until the call has returned. */
struct wf_ffi_hold {
    JSValue value;                    /* a buffer, or undefined */
    struct wf_ffi_pin pin;            /* of that; object null: none */
    struct wf_ffi_block *block;       /* or null */
    struct wf_ffi_callback *callback; /* made for this call, or null */
};

struct wf_ffi_chunk {
    struct wf_ffi_chunk *next;
    _Alignas(16) char bytes[];
};

/* Who has the turn while it runs, and what a callback on its thread has to do to get it. */
enum wf_ffi_mode {
    WF_FFI_KEEPS, /* it is kept, and nobody can call back: a fast function, loading and unloading */
    WF_FFI_LOOP,  /* on the loop's own thread: open to guests */
    WF_FFI_GUEST, /* given back by the guest that makes it */
    WF_FFI_FIBER, /* on a go fiber: given back, or lent to the loop */
    WF_FFI_APART, /* of a promise: it never had it */
};

struct wf_ffi_call {
    weft_js *js;
    struct wf_ffi_function *function;
    struct wf_js_fiber *fiber;  /* of WF_FFI_FIBER */
    struct wf_ffi_guest *guest; /* of WF_FFI_GUEST */
    void *frame;                /* the engine's, of WF_FFI_LOOP */
    enum wf_ffi_mode mode;
    bool is_lent;              /* of WF_FFI_FIBER: the turn was lent, not given back */
    bool is_over;              /* there is no loop any more that could give the turn */
    int status;                /* of the call: 0, or why it was not made */
    int number;                /* errno behind it */
    const char *misuse;        /* a callback could not be run: why; it becomes an error. A constant */
    JSValue error;             /* of a callback; or uninitialized */
    const char *caller;        /* where the stack of whoever calls stands */
    const char *stack_end;     /* of the stack that it runs on, for callbacks; null: the caller's */
    struct wf_ffi_call *outer; /* on the same thread */
    weft_ffi_value result;
    weft_ffi_value values[WF_FFI_ARGUMENTS_MAX];
    unsigned hold_count;
    struct wf_ffi_hold holds[WF_FFI_ARGUMENTS_MAX];
    struct wf_ffi_chunk *chunks;
    size_t used;
    _Alignas(16) char scratch[256];
};

/* A function of JavaScript that calls it; which one says the number. */
enum { WF_FFI_CALL_HERE, WF_FFI_CALL_APART };
JSValue wf_ffi_call_new(JSContext *context, struct wf_ffi_function *function, int which);
void wf_ffi_add_calls(JSContext *context);

/* ---- js/ffi_run.c ---- */

/* With the turn before and after. */
void wf_ffi_run(struct wf_ffi_call *call);
/* Without it, on a fiber that was started for it. */
int wf_ffi_run_apart(struct wf_ffi_call *call);
/* Runs what is no function of a script, such as the loader, as the loop's own: nobody can call back. */
void wf_ffi_run_quiet(weft_js *js, void (*fn)(void *arg), void *arg);
/* The turn of a go fiber, before it goes on in foreign code, and after: js/lend.c. */
bool wf_ffi_drop_turn(struct wf_js_fiber *fiber, bool lazily);
bool wf_ffi_regain_turn(struct wf_js_fiber *fiber, bool *was_kept);
/* The innermost one of this thread, or null. */
struct wf_ffi_call *wf_ffi_innermost(void);

/* ---- js/ffi_callback.c ---- */

struct wf_ffi_callback *wf_ffi_callback_new(JSContext *context, struct wf_ffi_signature *signature, JSValueConst fn);
void *wf_ffi_callback_address(const struct wf_ffi_callback *callback);
/* Of the handle that JavaScript has; null: it is none, or closed; *is_callback tells which. No exception. */
struct wf_ffi_callback *wf_ffi_callback_of(JSValueConst value, bool *is_callback);
/* Nobody will call it any more: it is closed now, or when nobody is inside. */
void wf_ffi_callback_drop(JSContext *context, struct wf_ffi_callback *callback);
/* With the turn: calls the function of JavaScript. What it throws goes to the call, or is nobody's. */
void wf_ffi_callback_run(struct wf_ffi_callback *callback, const weft_ffi_value *arguments, weft_ffi_value *result,
                         struct wf_ffi_call *call);
int wf_ffi_add_callbacks(JSContext *context, JSValueConst host);
void wf_ffi_stop_callbacks(weft_js *js);
void wf_ffi_free_callbacks(weft_js *js);

/* ---- js/ffi_guest.c ---- */

/* A thread without the turn that runs a callback. On its stack. */
struct wf_ffi_guest {
    struct wf_ffi_guest *next; /* in line for the turn; under guests_lock */
    weft_semaphore turn;       /* it has waited long enough; */
    bool has_turn;             /* and has it, or else it will not get it any more */
    bool is_inside;            /* it has had it */
    void *frame;               /* the engine's, while it has it not */
    const char *stack_end;     /* how far JavaScript may go */
    const char *loop_end;      /* and on the loop, while it has the turn */
};

/* Runs a callback as a guest. From any thread. */
void wf_ffi_guest_run(struct wf_ffi_callback *callback, weft_js *js, const weft_ffi_value *arguments,
                      weft_ffi_value *result, struct wf_ffi_call *call);
/* Waits for the turn, false: there is none any more; and gives it back. */
bool wf_ffi_guest_take(weft_js *js, struct wf_ffi_guest *guest);
void wf_ffi_guest_give(weft_js *js, struct wf_ffi_guest *guest);
/* On the loop: guests may have the turn from here to there. frame: the engine's before. */
void wf_ffi_guest_admit(weft_js *js);
void wf_ffi_guest_dismiss(weft_js *js, void *frame);
/* From now on only those get it who have had it. */
void wf_ffi_guest_stop(weft_js *js);
/* Whether the loop still has something to do for guests. */
bool wf_ffi_guest_is_due(const weft_js *js);

/* What an instance has of all this. */
struct wf_ffi {
    struct wf_ffi_pin *pins;
    struct wf_ffi_callback *callbacks;
    unsigned doomed;        /* callbacks that are to be closed when nobody is inside of them */
    int number;             /* errno of the last call that was not a fiber's */
    weft_semaphore apart;   /* permits for calls that are promises, or could not be bound: each takes a thread */
    weft_mutex guests_lock; /* of what follows, but for the atomic ones */
    struct wf_ffi_guest *first, *last;
    bool is_stopped;
    bool is_awaited;            /* the loop wants its turn back, and waits for it */
    weft_semaphore returned;    /* here */
    atomic_int loop_turn;       /* see js/ffi_guest.c */
    atomic_uint waiting;        /* how many guests are in line */
    atomic_uint due;            /* how often the loop was asked to let one in, and has not yet */
    atomic_uint guests;         /* all of them */
    struct wf_ffi_guest *guest; /* that has the turn, or null; with the turn */
};

#endif
