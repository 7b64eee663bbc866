/* SPDX-License-Identifier: MIT
 *
 * js/bridge.c - promises of JavaScript as promises of C, and the other way round.
 *
 * A promise of JavaScript has two functions of ours, which share a block with the one of C. If both go without having been called,
 * because nobody can settle the promise any more, the one of C is rejected. A promise of C is waited for by a fiber, which ends with
 * the instance.
 */
#include <errno.h>
#include <stdlib.h>

#include "host.h"

struct bridge {
    weft_promise *promise;
    void *(*take)(weft_js *js, weft_js_value value, void *arg);
    void *arg;
    bool is_settled;
    int references; /* of the two functions; with the turn */
};

static void bridge_unref(void *opaque) {
    struct bridge *bridge = opaque;
    if (--bridge->references > 0)
        return;
    if (!bridge->is_settled)
        (void)weft_promise_reject(bridge->promise, -EPIPE, "nobody can settle the promise of JavaScript any more");
    weft_promise_unref(bridge->promise);
    free(bridge);
}

struct taking {
    weft_js *js;
    struct bridge *bridge;
    weft_js_value value;
    void *taken;
};

static void take(void *opaque) {
    struct taking *taking = opaque;
    taking->taken = taking->bridge->take(taking->js, taking->value, taking->bridge->arg);
}

static weft_js_value on_value(weft_js *js, const weft_js_arguments *given) {
    struct taking taking = {js, given->arg, given->values[0], NULL};
    struct bridge *bridge = given->arg;
    weft_js_error error = {0};
    bridge->is_settled = true;
    if (bridge->take && weft_try(take, &taking, error.message, sizeof error.message) != 0)
        (void)weft_promise_reject(bridge->promise, -EOWNERDEAD, error.message);
    else if (weft_js_catch(js, &error) < 0)
        (void)weft_promise_reject(bridge->promise, error.status, error.message);
    else
        (void)weft_promise_resolve(bridge->promise, taking.taken);
    return weft_js_undefined();
}

static weft_js_value on_error(weft_js *js, const weft_js_arguments *given) {
    struct bridge *bridge = given->arg;
    weft_js_error error = {0};
    bridge->is_settled = true;
    (void)weft_js_describe(js, given->values[0], &error);
    (void)weft_promise_reject(bridge->promise, -EOWNERDEAD, error.message);
    return weft_js_undefined();
}

int weft_js_to_promise(weft_js *js, weft_js_value promise, void *(*taker)(weft_js *js, weft_js_value value, void *arg),
                       void *arg, weft_promise **out) {
    if (!wf_js_is_usable(js))
        return weft_js_pending(js);
    if (!out)
        return wf_js_fail_type(js, -EINVAL, "weft_js_to_promise needs room for the promise");
    JSValue taken = wf_js_take(js, promise);
    if (JS_IsException(taken))
        return wf_js_running(js)->status;
    struct bridge *bridge = calloc(1, sizeof *bridge);
    weft_promise *made = NULL;
    int error = bridge ? weft_promise_new(&made) : -ENOMEM;
    if (error) {
        free(bridge);
        JS_FreeValue(js->context, taken);
        JS_ThrowOutOfMemory(js->context);
        return wf_js_fail(js, error);
    }
    *bridge = (struct bridge){.promise = weft_promise_ref(made), .take = taker, .arg = arg, .references = 2};
    const struct wf_js_native good = {.fn = on_value, .length = 1, .arg = bridge, .finalize = bridge_unref};
    const struct wf_js_native bad = {.fn = on_error, .length = 1, .arg = bridge, .finalize = bridge_unref};
    error = wf_js_watch(js, taken, &good, &bad);
    JS_FreeValue(js->context, taken);
    if (error < 0) {
        (void)weft_promise_poll(made, NULL); /* nobody has to be told of its rejection */
        weft_promise_unref(made);
        return wf_js_fail(js, -ENOMEM);
    }
    *out = made;
    return 0;
}

/* ---- The other way round ---- */

struct following {
    struct wf_js_wait wait;
    weft_promise *promise;
    weft_js_value (*make)(weft_js *js, void *value, void *arg);
    void *arg;
    weft_outcome outcome;
};

static int follow_wait(struct wf_js_wait *wait) {
    struct following *following = (struct following *)wait;
    return weft_promise_await(following->promise, &following->outcome, WEFT_NEVER);
}

static weft_js_value call_make(weft_js *js, void *opaque) {
    struct following *following = opaque;
    const weft_outcome *outcome = &following->outcome;
    if (following->wait.status < 0)
        return weft_js_throw_errno(js, following->wait.status, "promise");
    if (outcome->state == WEFT_PROMISE_REJECTED)
        return weft_js_throw_errno(js, outcome->error, outcome->text[0] ? outcome->text : "promise");
    return following->make ? following->make(js, outcome->value, following->arg) : weft_js_undefined();
}

static JSValue follow_finish(JSContext *context, struct wf_js_wait *wait) {
    struct following *following = (struct following *)wait;
    JSValue result = wf_js_in_frame(wf_js_of(context), call_make, following);
    weft_promise_unref(following->promise);
    return result;
}

weft_js_value weft_js_from_promise(weft_js *js, weft_promise *promise,
                                   weft_js_value (*make)(weft_js *js, void *value, void *arg), void *arg) {
    if (!wf_js_is_usable(js))
        return (weft_js_value){0};
    struct following *following = promise ? calloc(1, sizeof *following) : NULL;
    if (!following) {
        wf_js_throw_errno(js->context, promise ? -ENOMEM : -EINVAL, "promise");
        wf_js_fail(js, promise ? -ENOMEM : -EINVAL);
        return (weft_js_value){0};
    }
    following->wait =
        (struct wf_js_wait){.wait = follow_wait, .finish = follow_finish, .what = "a promise of C", .is_promise = true};
    following->promise = weft_promise_ref(promise);
    following->make = make;
    following->arg = arg;
    return wf_js_hand(js, wf_js_perform(js->context, &following->wait));
}
