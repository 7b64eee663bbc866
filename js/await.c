/* SPDX-License-Identifier: MIT
 *
 * js/await.c - waiting in functions of C: for something without the instance, for promises, and promises of C and JavaScript as each
 * other.
 */
#include <errno.h>
#include <stdlib.h>

#include "host.h"

static const weft_js_value none;

int wf_js_watch(weft_js *js, JSValueConst promise, const struct wf_js_native *on_value,
                const struct wf_js_native *on_error) {
    JSContext *context = js->context;
    JSValue values[] = {JS_DupValue(context, promise), wf_js_new_native(context, "onValue", on_value), JS_UNDEFINED};
    values[2] = wf_js_new_native(context, "onError", on_error); /* also after an exception: both are taken over */
    bool is_good = !JS_IsException(values[1]) && !JS_IsException(values[2]);
    JSValue done = is_good ? wf_js_call_library(js, "embed", "watch", 3, values) : JS_EXCEPTION;
    wf_js_give_all(js, 3, values);
    JS_FreeValue(context, done);
    return JS_IsException(done) ? -1 : 0;
}

/* ---- Work without the instance ---- */

struct performing {
    struct wf_js_wait wait;
    int (*work)(void *arg);
    weft_js_value (*finish)(weft_js *js, int status, void *arg);
    void *arg;
    int status;
};

static void try_work(void *opaque) {
    struct performing *performing = opaque;
    performing->status = performing->work(performing->arg);
}

static int perform_wait(struct wf_js_wait *wait) {
    struct performing *performing = (struct performing *)wait;
    int panicked = weft_try(try_work, performing, NULL, 0);
    return panicked ? panicked : performing->status;
}

static weft_js_value call_finish(weft_js *js, void *opaque) {
    struct performing *performing = opaque;
    if (performing->finish)
        return performing->finish(js, performing->wait.status, performing->arg);
    return performing->wait.status < 0 ? weft_js_throw_errno(js, performing->wait.status, "work") : weft_js_undefined();
}

static JSValue perform_finish(JSContext *context, struct wf_js_wait *wait) {
    return wf_js_in_frame(wf_js_of(context), call_finish, wait);
}

weft_js_value weft_js_perform(weft_js *js, int (*work)(void *arg),
                              weft_js_value (*finish)(weft_js *js, int status, void *arg), void *arg) {
    int pending = weft_js_pending(js);
    if (pending == -EPERM)
        return none;
    struct performing *performing = work && !pending ? calloc(1, sizeof *performing) : NULL;
    if (!performing) { /* finish has what work would have used, and frees it */
        int status = pending ? pending : work ? -ENOMEM : -EINVAL;
        struct performing failed = {.wait.status = status, .finish = finish, .arg = arg};
        JS_FreeValue(js->context, wf_js_in_frame(js, call_finish, &failed));
        if (!JS_HasException(js->context))
            wf_js_throw_errno(js->context, failed.wait.status, "weft_js_perform");
        wf_js_fail(js, failed.wait.status);
        return none;
    }
    performing->wait.wait = perform_wait;
    performing->wait.finish = perform_finish;
    performing->wait.what = "a function of C";
    performing->work = work;
    performing->finish = finish;
    performing->arg = arg;
    return wf_js_hand(js, wf_js_perform(js->context, &performing->wait));
}

bool weft_js_is_fiber(weft_js *js) {
    return wf_js_is_inside(js) && js->holder != NULL;
}

/* ---- For a promise, on a go fiber ---- */

/* Whoever waits has it, and both functions that the promise calls. */
struct bell {
    weft_semaphore semaphore;
    atomic_int references;
};

static void bell_unref(void *opaque) {
    struct bell *bell = opaque;
    if (atomic_fetch_sub(&bell->references, 1) == 1)
        free(bell);
}

static weft_js_value ring(weft_js *js, const weft_js_arguments *given) {
    struct bell *bell = given->arg;
    (void)js;
    weft_semaphore_release(&bell->semaphore, 1);
    return weft_js_undefined();
}

struct awaiting {
    struct wf_js_wait wait;
    struct bell *bell;
    weft_time until;
    JSValue promise;
    int *told; /* the status, for whoever called */
};

static int await_wait(struct wf_js_wait *wait) {
    struct awaiting *awaiting = (struct awaiting *)wait;
    return weft_semaphore_acquire(&awaiting->bell->semaphore, 1, awaiting->until);
}

static JSValue result_of(JSContext *context, JSValueConst promise) {
    JSValue result = JS_PromiseResult(context, promise);
    return JS_PromiseState(context, promise) == JS_PROMISE_REJECTED ? JS_Throw(context, result) : result;
}

static JSValue await_finish(JSContext *context, struct wf_js_wait *wait) {
    struct awaiting *awaiting = (struct awaiting *)wait;
    *awaiting->told = wait->status;
    JSValue result =
        wait->status ? wf_js_throw_errno(context, wait->status, "await") : result_of(context, awaiting->promise);
    JS_FreeValue(context, awaiting->promise);
    bell_unref(awaiting->bell);
    return result;
}

/* The promise is pending. */
static JSValue await_on_fiber(weft_js *js, JSValueConst promise, weft_time deadline, int *told) {
    JSContext *context = js->context;
    struct awaiting *awaiting = calloc(1, sizeof *awaiting);
    struct bell *bell = calloc(1, sizeof *bell);
    if (!awaiting || !bell) {
        free(awaiting);
        free(bell);
        return JS_ThrowOutOfMemory(context);
    }
    atomic_store(&bell->references, 3);
    const struct wf_js_native native = {.fn = ring, .length = 1, .arg = bell, .finalize = bell_unref};
    if (wf_js_watch(js, promise, &native, &native) < 0) {
        bell_unref(bell);
        free(awaiting);
        return JS_EXCEPTION;
    }
    *awaiting = (struct awaiting){
        .wait = {.wait = await_wait, .finish = await_finish, .is_local = deadline == WEFT_NEVER, .what = "a promise"},
        .bell = bell,
        .until = deadline,
        .promise = JS_DupValue(context, promise),
        .told = told};
    return wf_js_perform(context, &awaiting->wait);
}

weft_js_value weft_js_await(weft_js *js, weft_js_value promise, weft_time deadline) {
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, promise) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return none;
    int state = (int)JS_PromiseState(js->context, taken), told = 0;
    if (state < 0)
        return wf_js_hand(js, taken);
    JSValue result = JS_EXCEPTION;
    if (state != JS_PROMISE_PENDING) {
        (void)wf_js_forget_rejection(js, taken);
        result = result_of(js->context, taken);
    } else if (js->holder) {
        result = await_on_fiber(js, taken, deadline, &told);
    } else {
        wf_js_throw_errno(js->context, told = -EDEADLK, "await elsewhere than on a fiber");
    }
    JS_FreeValue(js->context, taken);
    return wf_js_hand_or(js, result, told < 0 ? told : -EOWNERDEAD);
}

weft_promise_state weft_js_promise_state(weft_js *js, weft_js_value promise, weft_js_value *result) {
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, promise) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return WEFT_PROMISE_PENDING;
    int state = (int)JS_PromiseState(js->context, taken);
    if (state == JS_PROMISE_REJECTED)
        (void)wf_js_forget_rejection(js, taken);
    if (result && state != JS_PROMISE_PENDING)
        *result = wf_js_hand(js, state < 0 ? JS_DupValue(js->context, taken) : JS_PromiseResult(js->context, taken));
    JS_FreeValue(js->context, taken);
    return state == JS_PROMISE_PENDING    ? WEFT_PROMISE_PENDING
           : state == JS_PROMISE_REJECTED ? WEFT_PROMISE_REJECTED
                                          : WEFT_PROMISE_RESOLVED;
}
