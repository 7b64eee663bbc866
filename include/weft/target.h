/* SPDX-License-Identifier: MIT
 *
 * weft/target.h - things that tell others what happens to them: EventTarget and Event.
 *
 *     struct door { weft_target target; ... } door = {0};
 *     weft_target_add(&door.target, "open", greet, NULL, NULL);     // void greet(weft_target_event *event, void *arg)
 *     weft_target_event event = {.type = "open", .cancelable = true};
 *     if (weft_target_dispatch(&door.target, &event) == 0)
 *         close_again(&door);                                       // somebody has called weft_target_prevent_default
 *     weft_target_term(&door.target);
 *
 * Listeners are called where the event is dispatched, one after another, before weft_target_dispatch returns, as in the DOM with
 * a path of one target: first those with capture, then the others, each in the order in which they were added. One that
 * is added meanwhile to those that are being called waits for the next event; one that is removed before its call has begun
 * is not called. A listener that panics is left, told to the on_failure of the loop whose callback this is, or else on
 * standard error, and the others run.
 *
 * (Events of weft/event.h are another thing: they happen once, and are waited for.)
 *
 * A target may be used by any number of fibers and plain threads at the same time; an event is dispatched by one of them at a
 * time, and its fields and functions are for the listeners it is given to.
 */
#ifndef WEFT_TARGET_H
#define WEFT_TARGET_H

#include "weft/abort.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is a target without listeners: static or automatic, or a member of something else. Not to be copied or moved. */
typedef struct weft_target {
    void *listeners;
} weft_target;

#define WEFT_TARGET_INIT \
    { NULL }

typedef enum weft_target_phase {
    WEFT_TARGET_NONE = 0, /* it is not being dispatched */
    WEFT_TARGET_AT_TARGET = 2
} weft_target_phase;

/* Something that happens. Set what is needed of the first part and leave the rest zero. May be dispatched again, also
 * elsewhere; that it was canceled stays. */
typedef struct weft_target_event {
    const char *type; /* not copied: has to last as long as the event is used */
    void *detail;
    bool bubbles; /* for the listeners to read, as composed */
    bool cancelable;
    bool composed;
    weft_time time_stamp; /* when it was made; 0 becomes the moment of its first dispatch */

    /* to be read */
    weft_target *target; /* where it was dispatched last */
    weft_target *current_target;
    weft_target_phase phase;
    uint32_t state;
} weft_target_event;

typedef void (*weft_target_fn)(weft_target_event *event, void *arg);

typedef struct weft_target_options {
    bool capture;              /* called before all that have not */
    bool once;                 /* removed before its first call */
    bool passive;              /* cannot prevent the default */
    weft_abort_signal *signal; /* NULL, or removes the listener when it is aborted; the target has its own reference */
} weft_target_options;

/* Has fn(event, arg) called for each event of that type, which is copied. options may be null. Two listeners are the same
 * when type, fn, arg and capture are. Returns 0; -EEXIST when it is there already: that one stays as it is; -ECANCELED when
 * the signal is aborted; -ENOMEM; -EINVAL for a null target, type or function. */
WEFT_API int weft_target_add(weft_target *target, const char *type, weft_target_fn fn, void *arg,
                             const weft_target_options *options);
/* 0: it is not called any more; a call that has begun goes on. -ENOENT: there is none such. -EINVAL as above. */
WEFT_API int weft_target_remove(weft_target *target, const char *type, weft_target_fn fn, void *arg, bool capture);
/* How many there are for that type, or of all types for null. */
WEFT_API size_t weft_target_count(const weft_target *target, const char *type);
/* Removes all. The target is as new, and may go: no other call on it may be under way, but for a dispatch by the caller, which
 * ends without another listener. Null is allowed. */
WEFT_API void weft_target_term(weft_target *target);

/* Calls the listeners. Returns 1, or 0 when the event was canceled; -EBUSY when it is being dispatched; -EINVAL for a null
 * target, event or type. Needs no memory. */
WEFT_API int weft_target_dispatch(weft_target *target, weft_target_event *event);

/* The event is canceled; nothing when it is not cancelable, and in a passive listener. */
WEFT_API void weft_target_prevent_default(weft_target_event *event);
/* Listeners with capture go on, those without are not called; before the dispatch: none is. Until the dispatch ends. */
WEFT_API void weft_target_stop_propagation(weft_target_event *event);
/* No other listener is called. Until the dispatch ends. */
WEFT_API void weft_target_stop_immediate_propagation(weft_target_event *event);
/* Whether it was canceled, in this or an earlier dispatch. */
WEFT_API bool weft_target_is_canceled(const weft_target_event *event);

#ifdef __cplusplus
}
#endif

#endif
