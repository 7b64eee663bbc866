/* SPDX-License-Identifier: MIT
 *
 * js/do.c - other threads and fibers have something done in an instance, and wait for what comes of it: weft_js_do, weft_js_call_wait.
 *
 * The block belongs to all who may touch it: who waits, the wish in the list of the instance (js/outside.c), and the functions that are
 * told how a promise was settled. Its lock is held while begin or done runs, so whoever gives up gets it when neither does, and
 * from then on neither will. When the last function goes without having been called, as at the end of an instance, nobody will ever
 * be told: then the wait is over, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

struct doing {
    struct wf_js_post post;
    weft_js_value (*begin)(weft_js *js, void *arg);
    void (*done)(weft_js *js, weft_js_value value, void *arg);
    void *arg;
    JSValueConst value; /* for done */
    weft_mutex lock;    /* of the rest */
    weft_semaphore over;
    bool is_over;      /* the status is known */
    bool is_abandoned; /* nobody waits any more */
    int status;
    weft_js_error error;
    atomic_int functions; /* of ours that the promise has */
    atomic_int references;
};

static void doing_unref(void *opaque) {
    struct doing *doing = opaque;
    if (atomic_fetch_sub(&doing->references, 1) == 1)
        free(doing);
}

static void finish_locked(struct doing *doing, int status) {
    if (doing->is_over)
        return;
    doing->is_over = true;
    doing->status = status;
    weft_semaphore_release(&doing->over, 1);
}

static void fail_locked(weft_js *js, struct doing *doing, JSValueConst error) {
    wf_js_describe_error(js->context, error, &doing->error);
    doing->error.status = -EOWNERDEAD;
    finish_locked(doing, js->has_ended ? -EPIPE : -EOWNERDEAD);
}

static void fail_thrown_locked(weft_js *js, struct doing *doing) {
    JSValue error = JS_GetException(js->context);
    fail_locked(js, doing, error);
    JS_FreeValue(js->context, error);
}

/* ---- On the loop ---- */

static weft_js_value call_done(weft_js *js, void *opaque) {
    struct doing *doing = opaque;
    weft_js_value value = wf_js_hand(js, JS_DupValue(js->context, doing->value));
    if (doing->done && weft_js_pending(js) == 0)
        doing->done(js, value, doing->arg);
    return weft_js_undefined();
}

static void settle_locked(weft_js *js, struct doing *doing, JSValueConst value) {
    doing->value = value;
    if (JS_IsException(wf_js_in_frame(js, call_done, doing)))
        fail_thrown_locked(js, doing);
    else
        finish_locked(doing, 0);
}

static weft_js_value on_settled(weft_js *js, const weft_js_arguments *given, bool is_good) {
    struct doing *doing = given->arg;
    JSValue value = wf_js_take(js, given->values[0]);
    wf_js_lock(&doing->lock);
    if (!doing->is_abandoned && is_good)
        settle_locked(js, doing, value);
    else if (!doing->is_abandoned)
        fail_locked(js, doing, value);
    wf_js_unlock(&doing->lock);
    JS_FreeValue(js->context, value);
    return weft_js_undefined();
}

static weft_js_value on_value(weft_js *js, const weft_js_arguments *given) {
    return on_settled(js, given, true);
}

static weft_js_value on_error(weft_js *js, const weft_js_arguments *given) {
    return on_settled(js, given, false);
}

/* One of the two functions is gone, whether it was called or not. When it is the last one neither runs, so nobody here has the lock. */
static void forget(void *opaque) {
    struct doing *doing = opaque;
    if (atomic_fetch_sub(&doing->functions, 1) == 1) {
        wf_js_lock(&doing->lock);
        finish_locked(doing, -EPIPE);
        wf_js_unlock(&doing->lock);
    }
    doing_unref(doing);
}

static void wait_for(weft_js *js, struct doing *doing, JSValueConst promise) {
    const struct wf_js_native good = {.fn = on_value, .length = 1, .arg = doing, .finalize = forget};
    const struct wf_js_native bad = {.fn = on_error, .length = 1, .arg = doing, .finalize = forget};
    atomic_fetch_add(&doing->references, 2);
    atomic_store(&doing->functions, 2);
    if (wf_js_watch(js, promise, &good, &bad) < 0) /* that they are gone is told */
        JS_FreeValue(js->context, JS_GetException(js->context));
}

static void run_doing(weft_js *js, struct wf_js_post *post) {
    struct doing *doing = (struct doing *)post;
    JSValue promise = JS_UNDEFINED;
    wf_js_lock(&doing->lock);
    if (!js) {
        finish_locked(doing, -EPIPE);
    } else if (!doing->is_abandoned) {
        JSValue value = wf_js_in_frame(js, doing->begin, doing->arg);
        if (JS_IsException(value))
            fail_thrown_locked(js, doing);
        else if (JS_IsObject(value))
            promise = JS_DupValue(js->context, value);
        else
            settle_locked(js, doing, value);
        JS_FreeValue(js->context, value);
    }
    wf_js_unlock(&doing->lock);
    if (JS_IsObject(promise)) {
        wait_for(js, doing, promise);
        JS_FreeValue(js->context, promise);
    }
    doing_unref(doing);
}

/* ---- Who waits ---- */

int weft_js_do(weft_js *js, weft_js_value (*begin)(weft_js *js, void *arg),
               void (*done)(weft_js *js, weft_js_value value, void *arg), void *arg, weft_js_error *error,
               weft_time deadline) {
    if (!js || !begin)
        return -EINVAL;
    if (atomic_load(&js->inside) == wf_js_self() || weft_loop_current() == js->loop)
        return -EDEADLK;
    struct doing *doing = calloc(1, sizeof *doing);
    if (!doing)
        return -ENOMEM;
    doing->post.run = run_doing;
    doing->begin = begin;
    doing->done = done;
    doing->arg = arg;
    atomic_store(&doing->references, 2);
    int status = wf_js_post(js, &doing->post);
    if (status) {
        free(doing);
        return status;
    }
    status = weft_semaphore_acquire(&doing->over, 1, deadline);
    wf_js_lock(&doing->lock);
    if (doing->is_over)
        status = doing->status;
    else
        doing->is_abandoned = true;
    if (doing->is_over && status == -EOWNERDEAD && error)
        *error = doing->error;
    wf_js_unlock(&doing->lock);
    doing_unref(doing);
    return status;
}

/* ---- By name ---- */

struct naming {
    const char *name;
    const char *arguments;
    char *result;
    int status;
};

static weft_js_value begin_named(weft_js *js, void *opaque) {
    struct naming *naming = opaque;
    JSValue values[] = {wf_js_new_text(js->context, naming->name, strlen(naming->name)),
                        wf_js_new_text(js->context, naming->arguments, strlen(naming->arguments))};
    bool is_good = !JS_IsException(values[0]) && !JS_IsException(values[1]);
    JSValue promise = is_good ? wf_js_call_library(js, "embed", "callNamed", 2, values) : JS_EXCEPTION;
    wf_js_give_all(js, 2, values);
    return wf_js_hand(js, promise);
}

static void done_named(weft_js *js, weft_js_value value, void *opaque) {
    struct naming *naming = opaque;
    if (weft_js_kind_of(js, value) == WEFT_JS_UNDEFINED)
        return;
    const char *text = weft_js_as_text(js, value, NULL);
    naming->result = text ? strdup(text) : NULL;
    naming->status = text && !naming->result ? -ENOMEM : 0;
}

int weft_js_call_wait(weft_js *js, const char *name, const char *arguments, char **result, weft_js_error *error,
                      weft_time deadline) {
    weft_js_error thrown = {0};
    struct naming naming = {.name = name, .arguments = arguments ? arguments : "[]"};
    if (!js || !name || !*name)
        return -EINVAL;
    int status = weft_js_do(js, begin_named, done_named, &naming, &thrown, deadline);
    if (status == -EOWNERDEAD && strcmp(thrown.code, "ERR_WEFT_NO_FUNCTION") == 0)
        status = -ENOENT;
    if ((status == -EOWNERDEAD || status == -ENOENT) && error)
        *error = thrown;
    if (status == 0)
        status = naming.status;
    if (status == 0 && result)
        *result = naming.result;
    else
        free(naming.result);
    return status;
}
