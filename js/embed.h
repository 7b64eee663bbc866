/* SPDX-License-Identifier: MIT
 *
 * js/embed.h - what C programs have of an instance: handles of values, the functions of C that run, what other threads bring.
 *
 * Handles
 *   A handle names a place in a table and the generation of what is there. Places are linked, newest first, to the *frame* of the
 *   function of C that made them, and given back when that ends. Frames are on the stack of the function, and know whose it is, since
 *   functions of several fibers may be open at a time: the running one is the newest of whoever asks.
 *
 * Other threads
 *   What they bring waits in a list under the lock *outside*; the loop has one callback for each. From the moment at which is_over is
 *   set, under that lock, nothing more is taken. The block of an instance stays until the last reference is gone.
 */
#ifndef WF_JS_EMBED_H
#define WF_JS_EMBED_H

#include "engine.h"
#include "weft.h"
#include "weft/js.h"

struct wf_js_slot {
    JSValue value;
    const char *text;    /* the engine's, of a string whose text was asked for, or NULL */
    uint32_t generation; /* from 1; one more with each end */
    uint32_t next;       /* of its frame, or of those that are free; WF_JS_KEPT */
};

/* A function of C that runs, or a pair of weft_js_enter and weft_js_leave. */
struct wf_js_frame {
    struct wf_js_frame *next, *previous; /* of all that are open; of one owner's the newest first */
    uint64_t owner;                      /* wf_js_self() */
    const weft_js_value *values;         /* arguments of a function that JavaScript called, or NULL */
    int count;                           /* of them, and of those that were not given but asked for */
    uint32_t newest;                     /* of its handles; 0: none */
    int status;                          /* of the pending error, or 0 */
    JSValue error;                       /* that; undefined without one */
    bool is_entered;                     /* by weft_js_enter, and made by malloc */
    bool is_first;                       /* the engine was entered with it */
};

/* What another thread wants to be done. */
struct wf_js_post {
    struct wf_js_post *next;
    void (*run)(weft_js *js, struct wf_js_post *post); /* inside; null js: the instance has ended. Frees it */
};

struct wf_js_embed {
    struct wf_js_slot *slots; /* from 1 */
    uint32_t slot_room;
    uint32_t slot_free; /* 0: none */
    uint32_t kept;
    struct wf_js_frame *frames; /* with the turn */
    int finalizing;             /* finalizers that run: values are not to be touched */
    struct wf_js_known_class *classes;
    int class_count;
    struct weft_js_deferred *deferreds; /* whose promises are pending; under outside */
    weft_mutex outside;
    struct wf_js_post *first_post, **last_post; /* under outside, like the next */
    int posts;                                  /* callbacks that the loop has for them */
    bool is_over;
    atomic_int references;
    atomic_bool is_interrupted;
    atomic_bool is_terminated; /* by somebody else: the next one who looks ends it, with that code */
    atomic_int terminated_code;
};

enum { WF_JS_KEPT = UINT32_MAX };

/* js/handle.c */
int wf_js_embed_init(weft_js *js);
/* Nothing runs any more: ends all handles, and says how many were kept. Then the rest: the block may go. */
void wf_js_embed_end(weft_js *js);
/* The innermost frame of the caller, who is inside; NULL: there is none. */
struct wf_js_frame *wf_js_running(weft_js *js);
/* Whether the caller is inside, and may use values. */
bool wf_js_is_inside(weft_js *js);
/* The same, and nothing is pending. */
bool wf_js_is_usable(weft_js *js);
void wf_js_frame_open(weft_js *js, struct wf_js_frame *frame);
/* Those inside of it that weft_js_leave has not closed. */
void wf_js_frame_close_inner(weft_js *js, struct wf_js_frame *frame);
/* Ends its handles. What is pending stays in it, and is the caller's. */
void wf_js_frame_close(weft_js *js, struct wf_js_frame *frame);
/* A handle, in the running frame, of a value that is taken over; an exception becomes the pending error, with that status. */
weft_js_value wf_js_hand(weft_js *js, JSValue value);
weft_js_value wf_js_hand_or(weft_js *js, JSValue value, int status);
/* The same, and no other handle is equal to it, whatever the value. */
weft_js_value wf_js_hand_placed(weft_js *js, JSValue value);
/* The value of a handle, as a reference of the caller's; an exception, which is pending then, for one that has ended. */
JSValue wf_js_take(weft_js *js, weft_js_value handle);
/* Whether a handle has not ended. */
bool wf_js_is_good(weft_js *js, weft_js_value handle);
/* As many, into values; false: all are given back, and something is pending. */
bool wf_js_take_all(weft_js *js, int count, const weft_js_value *handles, JSValue *values);
void wf_js_give_all(weft_js *js, int count, JSValue *values);
/* The text of a string, which is taken over, as long as the running frame; NULL: something is pending. */
const char *wf_js_hold_text(weft_js *js, JSValue value, size_t *size);

/* js/pending.c */
/* What the engine has thrown becomes the pending error of the running frame. Returns the status. */
int wf_js_fail(weft_js *js, int status);
/* The same with an error of our own. */
int wf_js_fail_type(weft_js *js, int status, const char *format, ...) WEFT_PRINTF(3, 4);
/* A function of C has ended: its result for the engine, of a handle of its frame; or what is pending is thrown. */
JSValue wf_js_frame_result(weft_js *js, struct wf_js_frame *frame, weft_js_value result);

/* js/outside.c: other threads. */
/* Whether it was taken: 0; -EPIPE, -ENOMEM. */
int wf_js_post(weft_js *js, struct wf_js_post *post);
/* Nothing more is taken. After the loop's end, or when it has run all of its callbacks: drops what is left. */
void wf_js_outside_close(weft_js *js);
void wf_js_outside_drop(weft_js *js);
bool wf_js_has_posts(weft_js *js);
/* With the turn: whether somebody wants it to end, or what runs. */
bool wf_js_is_stopped(weft_js *js);

/* js/native.c */
/* Calls a function of C in a frame of its own; what it returns, or an exception, also for a panic. Inside. */
JSValue wf_js_in_frame(weft_js *js, weft_js_value (*fn)(weft_js *js, void *arg), void *arg);
/* The same for one that JavaScript calls. */
struct wf_js_native {
    weft_js_native fn;
    void *(*construct)(weft_js *js, const weft_js_arguments *given);
    int length;
    void *arg;
    void (*finalize)(void *arg);
    const weft_js_class *definition; /* of what is a member of a class, and not static */
};
JSValue wf_js_call_native(JSContext *context, const struct wf_js_native *native, JSValueConst self, int count,
                          JSValueConst *arguments, void **pointer);
/* A function, which takes the native over; it is a copy. */
JSValue wf_js_new_native(JSContext *context, const char *name, const struct wf_js_native *native);
/* js/property.c: calls what a file of js/lib exports. */
JSValue wf_js_call_library(weft_js *js, const char *library, const char *name, int count, JSValueConst *values);
int wf_js_add_classes(JSContext *context);
/* js/class.c: NULL and a TypeError for what is none. */
void *wf_js_pointer_of(JSContext *context, JSValueConst value, const weft_js_class *definition);
bool wf_js_is_class_object(JSValueConst value);
void wf_js_drop_classes(weft_js *js);
/* js/make.c: a copy with a zero behind it, which the engine wants; null, with an error: no memory. */
char *wf_js_terminated(weft_js *js, const char *text, size_t size);
/* js/await.c: calls one of two functions, with the value or the error, when a promise is settled; at once, in a job, for what is
 * no promise. Both are taken over. 0, or -1 with an exception. */
int wf_js_watch(weft_js *js, JSValueConst promise, const struct wf_js_native *on_value,
                const struct wf_js_native *on_error);
/* js/pending.c: what an error says of itself; nothing of the engine is left thrown. */
void wf_js_describe_error(JSContext *context, JSValueConst value, weft_js_error *out);
/* js/deferred.c: at the end. */
void wf_js_drop_deferreds(weft_js *js);

/* Adds functions to the host object. */
int wf_js_add_natives(JSContext *context, JSValueConst host);

#endif
