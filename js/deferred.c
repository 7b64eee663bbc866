/* SPDX-License-Identifier: MIT
 *
 * js/deferred.c - promises of JavaScript that C settles, from any thread.
 *
 *     PENDING --resolve, reject, in time--> POSTED --by the loop--> settled, freed
 *        |  `--resolve, reject, after the end--> USED --drop_deferreds--> freed
 *        `--drop_deferreds--> DEAD --resolve, reject: -EPIPE--> freed
 *
 * The block holds a reference of the instance, and the functions of the engine that settle the promise, which only the loop touches:
 * until it has done so, or the instance ends, the block is in a list of the instance, under the lock of js/outside.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

struct weft_js_deferred {
    weft_js *js;
    struct weft_js_deferred *next, *previous;
    JSValue settle[2];
    bool is_used; /* nobody else knows it any more */
    bool is_dead; /* it is in no list, and has nothing of the engine */
};

struct settling {
    struct wf_js_post post;
    struct weft_js_deferred *deferred;
    weft_js_value (*make)(weft_js *js, void *arg);
    void (*drop)(void *arg);
    void *arg;
    int error; /* else */
    bool is_undefined;
    size_t size;
    char text[]; /* of JSON, or of the error */
};

static void unlink_locked(struct weft_js_deferred *deferred) {
    struct wf_js_embed *embed = &deferred->js->embed;
    *(deferred->previous ? &deferred->previous->next : &embed->deferreds) = deferred->next;
    if (deferred->next)
        deferred->next->previous = deferred->previous;
}

static void deferred_free(struct weft_js_deferred *deferred) {
    weft_js_unref(deferred->js);
    free(deferred);
}

weft_js_value weft_js_defer(weft_js *js, weft_js_deferred **out) {
    if (!wf_js_is_usable(js))
        return (weft_js_value){0};
    struct weft_js_deferred *deferred = out ? calloc(1, sizeof *deferred) : NULL;
    JSValue promise = JS_EXCEPTION;
    int error = !out ? -EINVAL : !deferred ? -ENOMEM : 0;
    if (error) {
        wf_js_throw_errno(js->context, error, "weft_js_defer");
    } else if (!JS_IsException(promise = JS_NewPromiseCapability(js->context, deferred->settle)) &&
               (error = wf_js_begins(js)) != 0) {
        wf_js_give_all(js, 2, deferred->settle);
        JS_FreeValue(js->context, promise);
        promise = wf_js_throw_errno(js->context, error, "weft_js_defer");
    }
    if (JS_IsException(promise)) {
        free(deferred);
        wf_js_fail(js, error ? error : -ENOMEM);
        return (weft_js_value){0};
    }
    deferred->js = weft_js_ref(js);
    wf_js_lock(&js->embed.outside);
    deferred->next = js->embed.deferreds;
    if (deferred->next)
        deferred->next->previous = deferred;
    js->embed.deferreds = deferred;
    wf_js_unlock(&js->embed.outside);
    *out = deferred;
    return wf_js_hand(js, promise); /* without memory for the handle it is pending, and can be settled all the same */
}

/* ---- On the loop ---- */

static weft_js_value make_value(weft_js *js, void *opaque) {
    struct settling *settling = opaque;
    if (settling->error)
        return weft_js_throw_errno(js, settling->error, settling->size ? settling->text : "promise");
    if (settling->make)
        return settling->make(js, settling->arg);
    return settling->is_undefined ? weft_js_undefined() : weft_js_parse(js, settling->text, settling->size);
}

static void run_settling(weft_js *js, struct wf_js_post *post) {
    struct settling *settling = (struct settling *)post;
    struct weft_js_deferred *deferred = settling->deferred;
    wf_js_lock(&deferred->js->embed.outside);
    if (js)
        unlink_locked(deferred);
    else
        deferred->is_used = true;
    wf_js_unlock(&deferred->js->embed.outside);
    if (!js) { /* the end of the instance clears away */
        if (settling->drop)
            settling->drop(settling->arg);
        free(settling);
        return;
    }
    JSValue value = wf_js_in_frame(js, make_value, settling);
    bool has_failed = JS_IsException(value);
    if (has_failed)
        value = JS_GetException(js->context);
    if (!js->has_ended)
        wf_js_call(js, deferred->settle[has_failed], 1, &value);
    JS_FreeValue(js->context, value);
    wf_js_give_all(js, 2, deferred->settle);
    wf_js_ends(js, true);
    deferred_free(deferred);
    free(settling);
}

/* One after another: who holds the right may free a block as soon as it is dead. */
void wf_js_drop_deferreds(weft_js *js) {
    struct weft_js_deferred *deferred;
    do {
        wf_js_lock(&js->embed.outside);
        deferred = js->embed.deferreds;
        bool is_used = deferred && deferred->is_used;
        JSValue settle[2] = {JS_UNDEFINED, JS_UNDEFINED};
        if (deferred) {
            unlink_locked(deferred);
            memcpy(settle, deferred->settle, sizeof settle);
            deferred->is_dead = true;
        }
        wf_js_unlock(&js->embed.outside);
        wf_js_give_all(js, 2, settle);
        if (is_used)
            deferred_free(deferred);
    } while (deferred);
}

/* ---- Anywhere ---- */

static int settle(struct settling *settling) {
    struct weft_js_deferred *deferred = settling->deferred;
    settling->post.run = run_settling;
    int error = wf_js_post(deferred->js, &settling->post);
    if (!error)
        return 0;
    free(settling);
    if (error == -ENOMEM)
        return error;
    wf_js_lock(&deferred->js->embed.outside);
    bool is_dead = deferred->is_dead;
    deferred->is_used = true;
    wf_js_unlock(&deferred->js->embed.outside);
    if (is_dead)
        deferred_free(deferred);
    return -EPIPE;
}

static struct settling *new_settling(weft_js_deferred *deferred, const char *text, size_t size) {
    struct settling *settling = calloc(1, sizeof *settling + size + 1);
    if (!settling)
        return NULL;
    settling->deferred = deferred;
    settling->size = size;
    if (size)
        memcpy(settling->text, text, size);
    return settling;
}

int weft_js_resolve(weft_js_deferred *deferred, weft_js_value (*make)(weft_js *js, void *arg), void (*drop)(void *arg),
                    void *arg) {
    if (!deferred || !make)
        return -EINVAL;
    struct settling *settling = new_settling(deferred, NULL, 0);
    if (!settling)
        return -ENOMEM;
    settling->make = make;
    settling->drop = drop;
    settling->arg = arg;
    return settle(settling);
}

int weft_js_resolve_json(weft_js_deferred *deferred, const char *text, size_t size) {
    if (!deferred || (!text && size))
        return -EINVAL;
    struct settling *settling = new_settling(deferred, text, size);
    if (!settling)
        return -ENOMEM;
    settling->is_undefined = !text;
    return settle(settling);
}

int weft_js_reject(weft_js_deferred *deferred, int error, const char *text) {
    if (!deferred || error >= 0)
        return -EINVAL;
    struct settling *settling = new_settling(deferred, text, text ? strlen(text) : 0);
    if (!settling)
        return -ENOMEM;
    settling->error = error;
    return settle(settling);
}
