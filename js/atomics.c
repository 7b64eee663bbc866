/* SPDX-License-Identifier: MIT
 *
 * js/atomics.c - Atomics.wait, waitAsync and notify: waiting for a word of memory that instances share.
 *
 * One table for the whole process: waiters by the address of their word, first come, first served, whichever way they wait. On a go
 * fiber Atomics.wait parks the fiber and its instance goes on; elsewhere the instance stands still, as on Node's threads, but not the
 * worker: what waits is the fiber that runs the loop. Atomics.waitAsync has no fiber: its promise is settled by a callback of the
 * loop, which stays for it.
 *
 * A waiter is linked under the lock under which its word was compared; a notifier that has written the word before it looks for waiters
 * finds it. Whoever unlinks it, notifier or waiter, says so in it under the same lock; so what ends by the clock and is notified at
 * the same time was notified, and counted, or it was not.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "host.h"

enum { BUCKETS = 64 }; /* waiters are few, and far between */

struct waiter {
    struct waiter *next, *previous;
    void *address;
    bool is_linked;
    struct promised *promised; /* who is told; null: whoever waits for */
    weft_semaphore woken;
};

/* The addresses are the process's, and so is the table. */
static struct bucket {
    weft_mutex lock;
    struct waiter *first, *last;
} buckets[BUCKETS];

/* A wait of Atomics.wait. */
struct wish {
    struct wf_js_wait wait;
    struct waiter waiter;
    JSValue array; /* keeps the memory */
    weft_time until;
};

/* One of Atomics.waitAsync. All but the waiter with the turn. */
struct promised {
    struct waiter waiter;
    weft_js *js;
    struct promised *next, *previous; /* of the instance's */
    JSValue array;
    JSValue settle[2];
    weft_loop_timer timer; /* 0: for ever */
};

static void notified(void *opaque);

static struct bucket *bucket_of(const void *address) {
    return &buckets[((uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15)) >> 58];
}

/* ---- The table ---- */

/* False: the word has another value, and nobody waits. */
static bool link_if_equal(struct waiter *waiter, unsigned size, int64_t value) {
    struct bucket *bucket = bucket_of(waiter->address);
    wf_js_lock(&bucket->lock);
    int64_t now = size == 8 ? (int64_t)atomic_load((_Atomic uint64_t *)waiter->address)
                            : (int32_t)atomic_load((_Atomic uint32_t *)waiter->address);
    waiter->is_linked = now == value;
    if (waiter->is_linked) {
        waiter->previous = bucket->last;
        *(bucket->last ? &bucket->last->next : &bucket->first) = waiter;
        bucket->last = waiter;
    }
    wf_js_unlock(&bucket->lock);
    return now == value;
}

static void unlink_locked(struct bucket *bucket, struct waiter *waiter) {
    *(waiter->previous ? &waiter->previous->next : &bucket->first) = waiter->next;
    *(waiter->next ? &waiter->next->previous : &bucket->last) = waiter->previous;
    waiter->is_linked = false;
}

/* Its wait is over: whether it was notified. Its memory may go then. */
static bool end_waiting(struct waiter *waiter) {
    struct bucket *bucket = bucket_of(waiter->address);
    wf_js_lock(&bucket->lock);
    bool was_notified = !waiter->is_linked;
    if (!was_notified)
        unlink_locked(bucket, waiter);
    wf_js_unlock(&bucket->lock);
    return was_notified;
}

static int32_t notify(void *address, int32_t most) {
    struct bucket *bucket = bucket_of(address);
    int32_t count = 0;
    wf_js_lock(&bucket->lock);
    for (struct waiter *waiter = bucket->first, *next; waiter && count < most; waiter = next) {
        next = waiter->next;
        if (waiter->address != address)
            continue;
        unlink_locked(bucket, waiter);
        if (waiter->promised)
            (void)wf_js_bring(waiter->promised->js, notified, waiter->promised, true);
        else
            weft_semaphore_release(&waiter->woken, 1);
        count++;
    }
    wf_js_unlock(&bucket->lock);
    return count;
}

/* ---- Waiting ---- */

static int wish_wait(struct wf_js_wait *wait) {
    struct wish *wish = (struct wish *)wait;
    return weft_semaphore_acquire(&wish->waiter.woken, 1, wish->until);
}

static JSValue wish_finish(JSContext *context, struct wf_js_wait *wait) {
    struct wish *wish = (struct wish *)wait;
    bool was_notified = end_waiting(&wish->waiter);
    JS_FreeValue(context, wish->array);
    if (!was_notified && wait->status != -ETIMEDOUT)
        return wf_js_throw_errno(context, wait->status, "Atomics.wait");
    return JS_NewString(context, was_notified ? "ok" : "timed-out");
}

/* What both waits are told. */
struct order {
    void *address;
    unsigned size;
    int64_t value;
    double milliseconds; /* infinite: for ever */
};

static bool read_order(JSContext *context, JSValueConst *arguments, struct order *out) {
    bool is_shared;
    int32_t number = 0;
    if (!wf_engine_atomic_place(context, arguments[0], arguments[1], &out->size, &is_shared))
        return false;
    if (!is_shared) {
        JS_ThrowTypeError(context, "not a view of a SharedArrayBuffer");
        return false;
    }
    if (out->size == 8 ? JS_ToBigInt64(context, &out->value, arguments[2]) : JS_ToInt32(context, &number, arguments[2]))
        return false;
    if (out->size == 4)
        out->value = number;
    if (JS_ToFloat64(context, &out->milliseconds, arguments[3]))
        return false;
    if (isnan(out->milliseconds) || out->milliseconds > 9e12)
        out->milliseconds = INFINITY;
    else if (out->milliseconds < 0)
        out->milliseconds = 0;
    out->address =
        wf_engine_atomic_place(context, arguments[0], arguments[1], &out->size, &is_shared); /* as it is now */
    return out->address;
}

/* The whole instance stands still. */
static JSValue stand_still(JSContext *context, struct wish *wish) {
    weft_js *js = wf_js_of(context);
    do
        wish->wait.status = wish_wait(&wish->wait);
    while (wish->wait.status == -ENOMEM && weft_sleep(weft_after(WEFT_MILLISECOND)) == 0);
    JSValue result = wish_finish(context, &wish->wait);
    free(wish);
    if (!js->has_ended)
        return result;
    if (JS_IsException(result))
        JS_FreeValue(context, JS_GetException(context));
    JS_FreeValue(context, result);
    return wf_js_throw_end(context);
}

/* Atomics.wait(array, index, value, milliseconds) */
static JSValue js_wait(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct order order;
    (void)self, (void)count;
    if (!read_order(context, arguments, &order))
        return JS_EXCEPTION;
    struct wish *wish = calloc(1, sizeof *wish);
    if (!wish)
        return JS_ThrowOutOfMemory(context);
    wish->waiter.address = order.address;
    if (!link_if_equal(&wish->waiter, order.size, order.value)) {
        free(wish);
        return JS_NewString(context, "not-equal");
    }
    wish->wait = (struct wf_js_wait){.wait = wish_wait, .finish = wish_finish};
    wish->array = JS_DupValue(context, arguments[0]);
    wish->until = isinf(order.milliseconds) ? WEFT_NEVER
                  : order.milliseconds > 0  ? weft_after((int64_t)(order.milliseconds * 1e6))
                                            : WEFT_NOW;
    return wf_js_of(context)->holder ? wf_js_perform(context, &wish->wait) : stand_still(context, wish);
}

/* ---- Promises ---- */

/* Its waiter is not linked any more. */
static void free_promised(struct promised *promised) {
    weft_js *js = promised->js;
    *(promised->previous ? &promised->previous->next : &js->promised) = promised->next;
    if (promised->next)
        promised->next->previous = promised->previous;
    if (promised->timer.bits)
        (void)weft_clear_timer(js->loop, promised->timer);
    JS_FreeValue(js->context, promised->array);
    JS_FreeValue(js->context, promised->settle[0]);
    JS_FreeValue(js->context, promised->settle[1]);
    weft_loop_unkeep(js->loop);
    free(promised);
}

static void settle(struct promised *promised, const char *answer) {
    weft_js *js = promised->js;
    wf_js_enter_any(js);
    JSValue value = js->has_ended ? JS_UNDEFINED : JS_NewString(js->context, answer);
    if (!js->has_ended)
        wf_js_call(js, promised->settle[0], 1, &value);
    JS_FreeValue(js->context, value);
    free_promised(promised);
    wf_js_leave(js);
}

/* Callbacks of the loop. A notification that is under way goes before the clock. */
static void notified(void *opaque) {
    struct promised *promised = opaque;
    wf_js_brought(promised->js);
    settle(promised, "ok");
}

static void timed_out(void *opaque) {
    struct promised *promised = opaque;
    promised->timer.bits = 0;
    if (!end_waiting(&promised->waiter))
        settle(promised, "timed-out");
}

void wf_js_drop_promised(weft_js *js) {
    for (struct promised *promised = js->promised, *next; promised; promised = next) {
        next = promised->next;
        if (!end_waiting(&promised->waiter) || atomic_load(&js->incoming) == 0) /* else a callback has it */
            free_promised(promised);
    }
}

/* {async, value}; takes the value over. */
static JSValue answer(JSContext *context, bool is_async, JSValue value) {
    JSValue object = JS_IsException(value) ? value : JS_NewObject(context);
    if (JS_IsException(object)) {
        JS_FreeValue(context, value);
        return object;
    }
    JS_DefinePropertyValueStr(context, object, "async", JS_NewBool(context, is_async), JS_PROP_C_W_E);
    JS_DefinePropertyValueStr(context, object, "value", value, JS_PROP_C_W_E);
    return object;
}

/* With a promise, a timer, and the loop kept; not linked. Null: an exception. */
static struct promised *new_promised(JSContext *context, const struct order *order, JSValue *promise) {
    weft_js *js = wf_js_of(context);
    struct promised *promised = calloc(1, sizeof *promised);
    if (!promised) {
        *promise = JS_ThrowOutOfMemory(context);
        return NULL;
    }
    *promise = JS_NewPromiseCapability(context, promised->settle);
    int error = JS_IsException(*promise) ? 0 : weft_loop_keep(js->loop);
    if (JS_IsException(*promise) || error) {
        if (error) {
            JS_FreeValue(context, promised->settle[0]);
            JS_FreeValue(context, promised->settle[1]);
            JS_FreeValue(context, *promise);
            wf_js_throw_errno(context, error, "Atomics.waitAsync");
        }
        free(promised);
        return NULL;
    }
    promised->js = js;
    promised->array = JS_UNDEFINED;
    promised->waiter.promised = promised;
    promised->waiter.address = order->address;
    promised->next = js->promised;
    if (js->promised)
        js->promised->previous = promised;
    js->promised = promised;
    if (!isinf(order->milliseconds))
        error = weft_set_timeout(js->loop, &promised->timer, (int64_t)(order->milliseconds * 1e6), timed_out, promised);
    if (!error)
        return promised;
    free_promised(promised);
    JS_FreeValue(context, *promise);
    wf_js_throw_errno(context, error, "Atomics.waitAsync");
    return NULL;
}

/* Atomics.waitAsync(array, index, value, milliseconds) */
static JSValue js_wait_async(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct order order;
    JSValue promise;
    (void)self, (void)count;
    if (!read_order(context, arguments, &order))
        return JS_EXCEPTION;
    struct promised *promised = new_promised(context, &order, &promise);
    if (!promised)
        return JS_EXCEPTION;
    promised->array = JS_DupValue(context, arguments[0]);
    bool is_equal = link_if_equal(&promised->waiter, order.size, order.value);
    if (is_equal && order.milliseconds > 0)
        return answer(context, true, promise);
    if (!is_equal || !end_waiting(&promised->waiter)) /* else somebody was very quick, and the callback is on its way */
        free_promised(promised);
    JS_FreeValue(context, promise);
    return answer(context, false, JS_NewString(context, is_equal ? "timed-out" : "not-equal"));
}

/* Atomics.notify(array, index, count) */
static JSValue js_notify(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    unsigned size;
    bool is_shared;
    double most = INFINITY;
    (void)self, (void)count;
    if (!wf_engine_atomic_place(context, arguments[0], arguments[1], &size, &is_shared) ||
        (!JS_IsUndefined(arguments[2]) && JS_ToFloat64(context, &most, arguments[2])))
        return JS_EXCEPTION;
    void *address = wf_engine_atomic_place(context, arguments[0], arguments[1], &size, &is_shared);
    if (!address)
        return JS_EXCEPTION;
    int32_t limit = most > INT32_MAX ? INT32_MAX : most > 0 ? (int32_t)most : 0;
    return JS_NewInt32(context, is_shared ? notify(address, limit) : 0);
}

int wf_js_add_atomics(JSContext *context, JSValueConst host) {
    static const struct {
        const char *name;
        JSCFunction *fn;
        int count;
    } functions[] = {{"wait", js_wait, 4}, {"waitAsync", js_wait_async, 4}, {"notify", js_notify, 3}};
    JSValue global = JS_GetGlobalObject(context);
    JSValue atomics = JS_GetPropertyStr(context, global, "Atomics");
    int status = 0;
    (void)host;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && status >= 0; i++)
        status =
            JS_DefinePropertyValueStr(context, atomics, functions[i].name,
                                      JS_NewCFunction(context, functions[i].fn, functions[i].name, functions[i].count),
                                      JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    JS_FreeValue(context, atomics);
    JS_FreeValue(context, global);
    return status < 0 ? -1 : 0;
}
