/* SPDX-License-Identifier: MIT
 *
 * js/pool.c - pools of works whose functions are JavaScript: making and freeing them, waiting for them, what is told of them.
 *
 * A pool is one of weft's with a single thread, since its works take turns in one engine, which comes with the first work and goes
 * when there has been none for a while. How many works have begun and wait is limited by max_running. It is closed with the last that
 * knows it: its handle, works that are not over, groups. What is told of it comes from any thread, and may still be on its way then.
 */
#include "pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static JSClassID pool_class;

/* Something that happened, on its way to JavaScript. */
struct news {
    struct wf_js_pool *pool;
    weft_pool_event event;
    weft_work_status status;
};

static void close_pool(struct wf_js_pool *pool);
static void close_later(void *opaque);
static void drop_block(struct wf_js_pool *pool);
static int on_event(const weft_pool_event *event, void *arg);
static void tell_event(void *opaque);

JSValue wf_js_throw_pool(JSContext *context, int status) {
    switch (status) {
    case -EAGAIN:
        return wf_js_throw_coded(context, "EAGAIN", "The queue of the pool is full");
    case -ESHUTDOWN:
        return wf_js_throw_coded(context, "ESHUTDOWN", "The pool takes no more works");
    case -EEXIST:
        return wf_js_throw_coded(context, "EEXIST", "The name is in use");
    case -ELOOP:
        return wf_js_throw_coded(context, "ELOOP", "It would come after itself");
    case -ESTALE:
        return wf_js_throw_coded(context, "ESTALE", "It belongs to another pool, or is over");
    case -EDEADLK:
        return wf_js_throw_coded(context, "EDEADLK", "What is left can never be over");
    case -EPERM:
        return wf_js_throw_coded(context, "EPERM", "A work cannot wait for itself");
    case -EINVAL:
        return JS_ThrowTypeError(context, "An option of the pool or the work is wrong");
    default:
        return wf_js_throw_errno(context, status, "pool");
    }
}

struct wf_js_pool *wf_js_pool_of(JSContext *context, JSValueConst value) {
    return JS_GetOpaque2(context, value, pool_class);
}

struct wf_js_pool *wf_js_pool_ref(struct wf_js_pool *pool) {
    pool->users++;
    return pool;
}

/* With the turn, or by finalizers. A pool cannot be freed by a work of its own: one that was given up may be the last. */
void wf_js_pool_unref(struct wf_js_pool *pool) {
    if (--pool->users > 0)
        return;
    if (weft_work_pool() != pool->pool) {
        close_pool(pool);
        return;
    }
    atomic_fetch_add(&pool->js->posted, 1);
    (void)wf_js_submit(pool->js->loop, close_later, pool);
}

static void close_later(void *opaque) {
    struct wf_js_pool *pool = opaque;
    weft_js *js = pool->js;
    close_pool(pool);
    atomic_fetch_sub(&js->posted, 1);
}

static void close_pool(struct wf_js_pool *pool) {
    *(pool->previous ? &pool->previous->next : &pool->js->pools) = pool->next;
    if (pool->next)
        pool->next->previous = pool->previous;
    atomic_store(&pool->is_closing, true);
    weft_pool_free(pool->pool);
    drop_block(pool);
}

static void drop_block(struct wf_js_pool *pool) {
    if (atomic_fetch_sub(&pool->references, 1) == 1)
        free(pool);
}

static void pool_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_pool *pool = JS_GetOpaque(value, pool_class);
    if (!pool)
        return;
    JS_FreeValueRT(runtime, pool->on_over);
    JS_FreeValueRT(runtime, pool->on_event);
    pool->on_over = pool->on_event = JS_UNDEFINED;
    wf_js_pool_unref(pool);
}

static void pool_mark(JSRuntime *runtime, JSValueConst value, JS_MarkFunc *mark) {
    struct wf_js_pool *pool = JS_GetOpaque(value, pool_class);
    if (!pool)
        return;
    JS_MarkValue(runtime, pool->on_over, mark);
    JS_MarkValue(runtime, pool->on_event, mark);
}

/* ---- Making one ---- */

/* [name, concurrency, most queued, rejection, discipline, is suspended, measures, timeout, its action, timeout of works, its action,
 * grace, tick]; times in milliseconds, 0: none */
static bool read_options(JSContext *context, JSValueConst list, struct wf_js_pool *pool, weft_pool_options *options) {
    enum {
        NAME,
        RUNNING,
        QUEUED,
        REJECTION,
        DISCIPLINE,
        SUSPENDED,
        MEASURE,
        TIMEOUT,
        ACTION,
        WORK_TIMEOUT,
        WORK_ACTION
    };
    enum { GRACE = WORK_ACTION + 1, TICK, COUNT };
    double numbers[COUNT] = {0};
    bool is_good = true;
    for (uint32_t i = 0; i < COUNT && is_good; i++) {
        JSValue value = JS_GetPropertyUint32(context, list, i);
        const char *text = i == NAME ? JS_ToCString(context, value) : NULL;
        if (i == NAME && (is_good = text))
            strncpy(pool->name, text, sizeof pool->name - 1);
        else if (i != NAME)
            is_good = JS_ToFloat64(context, &numbers[i], value) == 0;
        JS_FreeCString(context, text);
        JS_FreeValue(context, value);
    }
    *options = (weft_pool_options){
        .threads = 1,
        .elastic = true,
        .stack_size = pool->js->options.fiber_stack,
        .max_running = (uint32_t)numbers[RUNNING],
        .max_queued = (uint32_t)numbers[QUEUED],
        .rejection = (weft_rejection)numbers[REJECTION],
        .discipline = (weft_discipline)numbers[DISCIPLINE],
        .suspended = numbers[SUSPENDED],
        .measure = numbers[MEASURE],
        .timeout = (int64_t)(numbers[TIMEOUT] * 1e6),
        .timeout_action = (weft_timeout_action)numbers[ACTION],
        .work_timeout = (int64_t)(numbers[WORK_TIMEOUT] * 1e6),
        .work_timeout_action = (weft_timeout_action)numbers[WORK_ACTION],
        .grace = (int64_t)(numbers[GRACE] * 1e6),
        .tick = (int64_t)(numbers[TICK] * 1e6),
    };
    pool->max_running = options->max_running;
    pool->rejection = options->rejection;
    pool->has_alarms = options->timeout || options->work_timeout || options->tick;
    return is_good;
}

/* poolNew(options, on over, on event): on over(work, what came of it, value), as js/work.c tells it;
 * on event(kind, work, status, error, source, number, duration), or undefined */
static JSValue js_pool_new(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    weft_js *js = wf_js_of(context);
    weft_pool_options options;
    (void)self;
    if (count < 3)
        return JS_EXCEPTION;
    if (js->options.no_fibers)
        return wf_js_throw_errno(context, -ENOTSUP, "pool");
    JSValue object = JS_NewObjectClass(context, (int)pool_class);
    struct wf_js_pool *pool = JS_IsException(object) ? NULL : calloc(1, sizeof *pool);
    if (!pool) {
        JS_FreeValue(context, object);
        return JS_IsException(object) ? object : JS_ThrowOutOfMemory(context);
    }
    pool->js = js;
    atomic_store(&pool->references, 1);
    bool is_good = read_options(context, arguments[0], pool, &options);
    bool has_listener = JS_IsFunction(context, arguments[2]);
    options.name = "js-pool";
    options.handler = has_listener ? on_event : NULL;
    options.handler_arg = pool;
    int error = is_good ? weft_pool_new(&pool->pool, &options) : 0;
    if (!is_good || error) {
        drop_block(pool);
        JS_FreeValue(context, object);
        return is_good ? wf_js_throw_pool(context, error) : JS_EXCEPTION;
    }
    pool->users = 1;
    pool->on_over = JS_DupValue(context, arguments[1]);
    pool->on_event = has_listener ? JS_DupValue(context, arguments[2]) : JS_UNDEFINED;
    pool->next = js->pools;
    if (js->pools)
        js->pools->previous = pool;
    js->pools = pool;
    JS_SetOpaque(object, pool);
    return object;
}

/* ---- What happens ---- */

/* On whichever thread. */
static int on_event(const weft_pool_event *event, void *arg) {
    struct news *news = malloc(sizeof *news);
    if (!news)
        return -ENOMEM; /* it is not told, and that is all */
    struct wf_js_pool *pool = arg;
    weft_js *js = pool->js;
    *news = (struct news){.pool = pool, .event = *event};
    news->status = event->result ? event->result->status : WEFT_WORK_PENDING;
    atomic_fetch_add(&pool->references, 1); /* the pool is open, since it calls */
    atomic_fetch_add(&js->posted, 1); /* whoever frees the instance sets has_ended, and waits for what was posted */
    bool is_over = atomic_load(&js->has_ended) || atomic_load(&pool->is_closing);
    int error = is_over ? -EPIPE : wf_js_submit(js->loop, tell_event, news);
    if (error) {
        weft_loop *loop = weft_loop_ref(js->loop);
        atomic_fetch_sub(&js->posted, 1);
        (void)weft_loop_wake(loop); /* weft_js_free may wait for it there */
        weft_loop_unref(loop);
        drop_block(pool);
        free(news);
    }
    return is_over ? 0 : error;
}

static void tell_event(void *opaque) {
    struct news *news = opaque;
    struct wf_js_pool *pool = news->pool;
    weft_js *js = pool->js;
    const weft_pool_event *event = &news->event;
    wf_js_enter_any(js);
    if (!js->has_ended && !JS_IsUndefined(pool->on_event)) {
        JSContext *context = js->context;
        JSValue arguments[] = {
            JS_NewString(context, weft_pool_event_name(event->kind)),
            JS_NewBigUint64(context, event->work.bits),
            JS_NewInt32(context, (int)news->status),
            JS_NewInt32(context, event->error),
            JS_NewInt32(context, (int)event->source),
            JS_NewUint32(context, event->now),
            JS_NewFloat64(context, (double)event->duration / 1e6),
        };
        enum { COUNT = sizeof arguments / sizeof *arguments };
        wf_js_call(js, pool->on_event, COUNT, (JSValueConst *)arguments);
        for (int i = 0; i < COUNT; i++)
            JS_FreeValue(context, arguments[i]);
    }
    drop_block(pool);
    free(news);
    wf_js_leave(js);
    atomic_fetch_sub(&js->posted, 1);
}

/* ---- Of the whole pool ---- */

struct waiting {
    struct wf_js_wait wait;
    struct wf_js_pool *pool;
    JSValue object;
    weft_time until;
};

static int idle_wait(struct wf_js_wait *wait) {
    struct waiting *waiting = (struct waiting *)wait;
    return weft_pool_wait(waiting->pool->pool, waiting->until);
}

static int drain_wait(struct wf_js_wait *wait) {
    struct waiting *waiting = (struct waiting *)wait;
    return weft_pool_drain(waiting->pool->pool, waiting->until);
}

static int dispose_wait(struct wf_js_wait *wait) {
    int status = weft_pool_dispose(((struct waiting *)wait)->pool->pool);
    if (status == -EDEADLK) /* by a work of its own */
        return -EPERM;
    return status == -EBUSY ? 0 : status; /* a function that was given up is still inside */
}

static JSValue wait_finish(JSContext *context, struct wf_js_wait *wait) {
    struct waiting *waiting = (struct waiting *)wait;
    JS_FreeValue(context, waiting->object);
    return wait->status ? wf_js_throw_pool(context, wait->status) : JS_UNDEFINED;
}

/* poolWait(pool, what, milliseconds): 0 until it is idle, 1 and takes nothing more, 2 ends everything */
static JSValue js_pool_wait(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    static int (*const waits[])(struct wf_js_wait * wait) = {idle_wait, drain_wait, dispose_wait};
    struct wf_js_pool *pool = count > 2 ? wf_js_pool_of(context, arguments[0]) : NULL;
    weft_time until;
    uint32_t what;
    (void)self;
    if (!pool || JS_ToUint32(context, &what, arguments[1]) || !wf_js_until(context, arguments[2], &until))
        return JS_EXCEPTION;
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting)
        return JS_ThrowOutOfMemory(context);
    *waiting = (struct waiting){.wait = {.wait = waits[what % 3],
                                         .finish = wait_finish,
                                         .is_local = what < 2 && until == WEFT_NEVER,
                                         .what = "a pool that is not idle"},
                                .pool = pool,
                                .object = JS_DupValue(context, arguments[0]),
                                .until = until};
    return wf_js_perform(context, &waiting->wait);
}

/* poolControl(pool, what) -> the answer: how many were cancelled, or 0; or a negative error. What as in weft_control; 5: start */
static JSValue js_pool_control(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    enum { START = 5 };
    struct wf_js_pool *pool = count > 1 ? wf_js_pool_of(context, arguments[0]) : NULL;
    int32_t what;
    (void)self;
    if (!pool || JS_ToInt32(context, &what, arguments[1]))
        return JS_EXCEPTION;
    return JS_NewInt32(context, what == START ? weft_pool_start(pool->pool)
                                              : weft_pool_control_all(pool->pool, (weft_control)what));
}

/* poolStats(pool) -> [flags, queued, held, running, submitted, succeeded, failed, cancelled, stopped, stopped by force, timed out,
 * rejected, discarded, retried, abandoned, generation, runtime, time queued, time run]; flags: 1 idle, 2 stopping, 4 suspended, 8
 * paused, 16 disposed; times in milliseconds */
static JSValue js_pool_stats(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_pool *pool = count > 0 ? wf_js_pool_of(context, arguments[0]) : NULL;
    weft_pool_stats stats;
    (void)self;
    if (!pool)
        return JS_EXCEPTION;
    (void)weft_pool_get_stats(pool->pool, &stats);
    unsigned flags = (unsigned)stats.is_idle | (unsigned)stats.is_stopping << 1 | (unsigned)stats.is_suspended << 2 |
                     (unsigned)stats.is_paused << 3 | (unsigned)stats.is_disposed << 4;
    const double values[] = {
        flags,
        (double)stats.queued,
        (double)stats.held,
        (double)stats.running,
        (double)stats.submitted,
        (double)stats.succeeded,
        (double)stats.failed,
        (double)stats.cancelled,
        (double)stats.stopped,
        (double)stats.force_stopped,
        (double)stats.timed_out,
        (double)stats.rejected,
        (double)stats.discarded,
        (double)stats.retried,
        (double)stats.abandoned,
        (double)stats.generation,
        (double)stats.runtime_ns / 1e6,
        (double)stats.queue_ns / 1e6,
        (double)stats.run_ns / 1e6,
    };
    JSValue list = JS_NewArray(context);
    for (uint32_t i = 0; i < sizeof values / sizeof *values && !JS_IsException(list); i++)
        JS_SetPropertyUint32(context, list, i, JS_NewFloat64(context, values[i]));
    return list;
}

/* ---- For the instance ---- */

/* What its works do without JavaScript: begin, when there is one that may, and end. Twice: while one ends, those that come after it
 * are let go, and a single look may come too early for these and too late for that one. */
bool wf_js_pools_stand_still(weft_js *js) {
    for (int look = 0; look < 2; look++)
        for (struct wf_js_pool *pool = js->pools; pool; pool = pool->next) {
            weft_pool_stats stats;
            (void)weft_pool_get_stats(pool->pool, &stats);
            bool may_begin = stats.queued > 0 && (!pool->max_running || stats.running < pool->max_running);
            bool has_all = stats.outstanding == stats.held + stats.queued + stats.running &&
                           stats.running == (uint64_t)pool->attending;
            if (may_begin || !has_all)
                return false;
        }
    return true;
}

void wf_js_cancel_works(weft_js *js) {
    for (struct wf_js_pool *pool = js->pools; pool; pool = pool->next)
        (void)weft_pool_control_all(pool->pool, WEFT_CANCEL);
}

int wf_js_tell_works(const weft_js *js, FILE *out) {
    int count = 0;
    for (const struct wf_js_pool *pool = js->pools; pool; pool = pool->next) {
        int waiting = pool->pending - pool->attending;
        if (waiting > 0 && out)
            fprintf(out, "  %d work%s of %s%s%s%s to begin\n", waiting, waiting == 1 ? "" : "s",
                    pool->name[0] ? "pool \"" : "a pool", pool->name, pool->name[0] ? "\"" : "",
                    waiting == 1 ? " waits" : " wait");
        count += waiting;
    }
    return count;
}

int wf_js_add_pools(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "PoolHandle", .finalizer = pool_finalize, .gc_mark = pool_mark};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("poolNew", 3, js_pool_new),
        JS_CFUNC_DEF("poolWait", 3, js_pool_wait),
        JS_CFUNC_DEF("poolControl", 2, js_pool_control),
        JS_CFUNC_DEF("poolStats", 1, js_pool_stats),
    };
    wf_js_new_class(JS_GetRuntime(context), &pool_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
