/* SPDX-License-Identifier: MIT
 *
 * js/work.c - works of pools whose functions are JavaScript.
 *
 * The pool is weft's, with a thread of its own, and so are queue, priorities, dependencies, groups, retries, timeouts, rejection,
 * cancelling and stopping. A work's function asks for the turn, on the fiber that the pool runs it on, and takes part in the turns
 * of the instance until it returns: what it waits for parks that fiber, a stop by force ends its waits, and calls about "this work"
 * are weft's own.
 *
 * The pool tells of a work's end on whatever thread; JavaScript hears of it by a callback of the loop. A work that was given up is
 * over while its function is still inside: then the job goes when that comes back. How often the function was begun is in the
 * result, how often it came back is counted here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

/* What functions of C below JavaScript may need. */
enum { STACK_SPARE = 64 * 1024 };

/* A submit: its options, and what they point to. */
struct order {
    struct wf_js_wait wait; /* first; of one that has to wait */
    struct wf_js_job *job;
    weft_work work;
    weft_work_options options;
    weft_work *after;
    weft_work_id *after_ids;
    char *id;
    JSValue group; /* stays for as long as the call */
};

static int work_main(void *arg);
static int run_function(struct wf_js_job *job);
static int work_over(const weft_result *result, void *arg);
static void tell_over(void *opaque);
static void free_job(struct wf_js_job *job);
static bool read_order(JSContext *context, struct order *order, JSValueConst list);
static void free_order(JSContext *context, struct order *order);

/* ---- On the pool ---- */

static int work_main(void *arg) {
    struct wf_js_job *job = arg;
    struct wf_js_pool *pool = job->pool;
    weft_js *js = pool->js;
    const char *end = weft_self().bits == job->submitter.bits
                          ? job->submitter_end
                          : (const char *)__builtin_frame_address(0) - js->options.fiber_stack + STACK_SPARE;
    struct wf_js_fiber *fiber = wf_js_attend(js, end);
    snprintf(fiber->name, sizeof fiber->name, "%s", pool->name[0] ? pool->name : "work");
    fiber->job = job;
    pool->attending++;
    int code = js->has_ended ? -ECANCELED : run_function(job);
    pool->attending--;
    fiber->job = NULL;
    job->returned++;
    if (job->is_over)
        free_job(job);
    wf_js_depart(fiber);
    return code;
}

/* With the turn. */
static int run_function(struct wf_js_job *job) {
    JSContext *context = job->pool->js->context;
    int code = 0;
    JSValue value = JS_Call(context, job->fn, JS_UNDEFINED, 0, NULL);
    job->has_thrown = JS_IsException(value);
    if (job->has_thrown) {
        value = JS_GetException(context);
        JS_ClearUncatchableError(context, value);
        JSValue name = JS_IsObject(value) ? JS_GetPropertyStr(context, value, "code") : JS_UNDEFINED;
        const char *text = JS_IsString(name) ? JS_ToCString(context, name) : NULL;
        code = text && strcmp(text, "ECANCELED") == 0 ? -ECANCELED : -EIO;
        JS_FreeCString(context, text);
        if (JS_IsException(name))
            JS_FreeValue(context, JS_GetException(context));
        JS_FreeValue(context, name);
    }
    JS_FreeValue(context, job->value);
    job->value = value;
    return code;
}

/* On whichever thread. */
static int work_over(const weft_result *result, void *arg) {
    struct wf_js_job *job = arg;
    job->result = *result;
    return wf_js_submit(job->pool->js->loop, tell_over, job);
}

/* ---- On the loop ---- */

/* [number, status, error, attempts, cause, submitted, started, ended, has thrown], moments in milliseconds */
static JSValue describe(JSContext *context, const struct wf_js_job *job) {
    const weft_result *result = &job->result;
    JSValue list = JS_NewArray(context);
    if (JS_IsException(list))
        return list;
    JS_SetPropertyUint32(context, list, 0, JS_NewBigUint64(context, result->work.bits));
    JS_SetPropertyUint32(context, list, 1, JS_NewInt32(context, (int)result->status));
    JS_SetPropertyUint32(context, list, 2, JS_NewInt32(context, result->error));
    JS_SetPropertyUint32(context, list, 3, JS_NewUint32(context, result->attempts));
    JS_SetPropertyUint32(context, list, 4, JS_NewBigUint64(context, result->cause.bits));
    JS_SetPropertyUint32(context, list, 5, JS_NewFloat64(context, (double)result->submitted / 1e6));
    JS_SetPropertyUint32(context, list, 6, JS_NewFloat64(context, (double)result->started / 1e6));
    JS_SetPropertyUint32(context, list, 7, JS_NewFloat64(context, (double)result->ended / 1e6));
    JS_SetPropertyUint32(context, list, 8, JS_NewBool(context, job->has_thrown));
    return list;
}

static void tell_over(void *opaque) {
    struct wf_js_job *job = opaque;
    struct wf_js_pool *pool = job->pool;
    weft_js *js = pool->js;
    /* It has said so before its id is free, and before those who wait for it go on: a moment. */
    (void)weft_pool_wait_work(pool->pool, job->result.work, NULL, WEFT_NEVER);
    bool is_inside = job->result.attempts > job->returned;
    bool is_timed = job->is_timed;
    wf_js_enter_any(js);
    if (!js->has_ended) {
        JSValue list = describe(js->context, job);
        JSValueConst arguments[] = {job->work, list, is_inside ? JS_UNDEFINED : job->value};
        if (JS_IsException(list))
            wf_js_uncaught(js);
        else
            wf_js_call(js, pool->on_over, 3, arguments);
        JS_FreeValue(js->context, list);
    }
    job->is_over = true;
    pool->pending--;
    if (!is_inside)
        free_job(job);
    wf_js_leave(js);
    if (is_timed)
        wf_js_ends(js, true);
    else
        wf_js_unkeep(js);
}

/* With the turn. */
static void free_job(struct wf_js_job *job) {
    JSContext *context = job->pool->js->context;
    JS_FreeValue(context, job->work);
    JS_FreeValue(context, job->fn);
    JS_FreeValue(context, job->value);
    job->pool->js->job_count--;
    wf_js_pool_unref(job->pool);
    free(job);
}

/* ---- Submitting ---- */

static int submit_wait(struct wf_js_wait *wait) {
    struct order *order = (struct order *)wait;
    struct wf_js_job *job = order->job;
    weft_js *js = wait->js;
    if (job->pool->rejection == WEFT_REJECT_CALLER_RUNS) { /* it may have to be run right here */
        job->submitter = weft_self();
        if (!job->submitter_end)
            job->submitter_end = (const char *)__builtin_frame_address(0) - js->options.fiber_stack + STACK_SPARE;
    }
    return weft_pool_submit_with(job->pool->pool, &order->work, &order->options, work_main, job);
}

/* -> the work's number */
static JSValue submitted(JSContext *context, struct order *order, int status) {
    struct wf_js_job *job = order->job;
    weft_js *js = wf_js_of(context);
    if (status) {
        job->pool->pending--;
        if (job->is_timed)
            wf_js_ends(js, true);
        else
            wf_js_unkeep(js);
        free_job(job);
    }
    free_order(context, order);
    return status ? wf_js_throw_pool(context, status) : JS_NewBigUint64(context, order->work.bits);
}

static JSValue submit_finish(JSContext *context, struct wf_js_wait *wait) {
    return submitted(context, (struct order *)wait, wait->status);
}

static struct wf_js_job *new_job(JSContext *context, struct wf_js_pool *pool, JSValueConst work, JSValueConst fn,
                                 bool is_timed) {
    weft_js *js = pool->js;
    struct wf_js_job *job = calloc(1, sizeof *job);
    if (!job) {
        JS_ThrowOutOfMemory(context);
        return NULL;
    }
    int error = is_timed ? wf_js_begins(js) : wf_js_keep(js);
    if (error) {
        free(job);
        wf_js_throw_errno(context, error, "submit");
        return NULL;
    }
    job->pool = wf_js_pool_ref(pool);
    job->work = JS_DupValue(context, work);
    job->fn = JS_DupValue(context, fn);
    job->value = JS_UNDEFINED;
    job->is_timed = is_timed;
    js->job_count++;
    pool->pending++;
    return job;
}

/* workSubmit(pool, work, fn, options) -> number; options as in read_order. On pools whose rejection waits, a promise elsewhere
 * than on a fiber. */
static JSValue js_work_submit(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_pool *pool = count > 3 ? wf_js_pool_of(context, arguments[0]) : NULL;
    (void)self;
    if (!pool)
        return JS_EXCEPTION;
    struct order *order = calloc(1, sizeof *order);
    if (!order)
        return JS_ThrowOutOfMemory(context);
    order->group = JS_UNDEFINED;
    if (read_order(context, order, arguments[3])) {
        bool is_timed = pool->has_alarms || order->options.timeout || order->options.deadline;
        order->job = new_job(context, pool, arguments[1], arguments[2], is_timed);
    }
    if (!order->job) {
        free_order(context, order);
        free(order);
        return JS_EXCEPTION;
    }
    order->options.callback = work_over;
    order->options.callback_arg = order->job;
    bool waits = pool->rejection == WEFT_REJECT_BLOCK || pool->rejection == WEFT_REJECT_CALLER_RUNS;
    if (!waits) {
        int status = weft_pool_submit_with(pool->pool, &order->work, &order->options, work_main, order->job);
        JSValue result = submitted(context, order, status);
        free(order);
        return result;
    }
    const struct wf_js_fiber *fiber = wf_js_of(context)->holder;
    order->job->submitter_end = fiber ? fiber->stack_end : NULL;
    order->wait.wait = submit_wait;
    order->wait.finish = submit_finish;
    order->wait.stack_size = pool->rejection == WEFT_REJECT_CALLER_RUNS ? pool->js->options.fiber_stack : 0;
    order->wait.is_local = !order->options.submit_deadline;
    order->wait.what = "room in a pool";
    return wf_js_perform(context, &order->wait);
}

/* ---- What a submit was asked ---- */

/* A text or a number, by which a work can be found. The text is made by malloc. */
static bool read_id(JSContext *context, JSValueConst value, weft_work_id *id) {
    int64_t number;
    if (JS_IsString(value)) {
        id->text = wf_js_copy_text(context, value);
        return id->text;
    }
    if (JS_ToInt64(context, &number, value))
        return false;
    id->number = (uint64_t)number;
    return true;
}

static bool read_after(JSContext *context, struct order *order, JSValueConst list) {
    int64_t length;
    if (JS_GetLength(context, list, &length))
        return false;
    order->after = calloc((size_t)length + 1, sizeof *order->after);
    order->after_ids = calloc((size_t)length + 1, sizeof *order->after_ids);
    if (!order->after || !order->after_ids) {
        JS_ThrowOutOfMemory(context);
        return false;
    }
    bool is_good = true;
    weft_work_options *options = &order->options;
    for (int64_t i = 0; i < length && is_good; i++) {
        JSValue value = JS_GetPropertyInt64(context, list, i);
        if (JS_IsBigInt(value))
            is_good = JS_ToBigUint64(context, &order->after[options->after_count++].bits, value) == 0;
        else
            is_good = read_id(context, value, &order->after_ids[options->after_id_count++]);
        JS_FreeValue(context, value);
    }
    options->after = order->after;
    options->after_ids = order->after_ids;
    return is_good;
}

/* [id, priority, group, after, retry, most retries, timeout, its action, deadline, time for the submit]; each may be undefined, times
 * are in milliseconds */
static bool read_order(JSContext *context, struct order *order, JSValueConst list) {
    enum { ID, PRIORITY, GROUP, AFTER, RETRY, RETRIES, TIMEOUT, ACTION, DEADLINE, SUBMIT_TIME, COUNT };
    weft_work_options *options = &order->options;
    bool is_good = true;
    for (uint32_t i = 0; i < COUNT && is_good; i++) {
        JSValue value = JS_GetPropertyUint32(context, list, i);
        double milliseconds = 0;
        int32_t number = 0;
        if (JS_IsUndefined(value))
            continue;
        if (i == TIMEOUT || i == DEADLINE || i == SUBMIT_TIME)
            is_good = JS_ToFloat64(context, &milliseconds, value) == 0;
        else if (i == PRIORITY || i == RETRY || i == RETRIES || i == ACTION)
            is_good = JS_ToInt32(context, &number, value) == 0;
        weft_time moment = is_good ? weft_after((int64_t)(milliseconds * 1e6)) : 0;
        if (i == ID) {
            is_good = read_id(context, value, &options->id);
            order->id = (char *)options->id.text;
        } else if (i == GROUP) {
            order->group = JS_DupValue(context, value);
            is_good = (options->group = wf_js_group_of(context, value)) != NULL;
        } else if (i == AFTER) {
            is_good = read_after(context, order, value);
        } else if (i == PRIORITY) {
            options->priority = number;
        } else if (i == RETRY) {
            options->retry = (weft_retry)number;
        } else if (i == RETRIES) {
            options->max_retries = number < 0 ? WEFT_RETRY_FOREVER : (unsigned)number;
        } else if (i == ACTION) {
            options->timeout_action = (weft_timeout_action)number;
        } else if (i == TIMEOUT) {
            options->timeout = (int64_t)(milliseconds * 1e6);
        } else if (i == DEADLINE) {
            options->deadline = moment;
        } else {
            options->submit_deadline = moment;
        }
        JS_FreeValue(context, value);
    }
    return is_good;
}

/* Not the block itself. */
static void free_order(JSContext *context, struct order *order) {
    for (size_t i = 0; order->after_ids && i < order->options.after_id_count; i++)
        free((char *)order->after_ids[i].text);
    free(order->after);
    free(order->after_ids);
    free(order->id);
    JS_FreeValue(context, order->group);
}

/* ---- Of one work, by its number; and inside of it ---- */

/* workControl(pool, what, work): whether it could be done; what as in weft_control */
static JSValue js_work_control(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_pool *pool = count > 2 ? wf_js_pool_of(context, arguments[0]) : NULL;
    weft_work work;
    int32_t what;
    (void)self;
    if (!pool || JS_ToInt32(context, &what, arguments[1]) || JS_ToBigUint64(context, &work.bits, arguments[2]))
        return JS_EXCEPTION;
    int status = weft_pool_control(pool->pool, (weft_control)what, work);
    return status == -ENOMEM ? wf_js_throw_pool(context, status) : JS_NewBool(context, status == 0);
}

/* workStopRetry(pool, work) */
static JSValue js_work_stop_retry(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_pool *pool = count > 1 ? wf_js_pool_of(context, arguments[0]) : NULL;
    weft_work work;
    (void)self;
    if (!pool || JS_ToBigUint64(context, &work.bits, arguments[1]))
        return JS_EXCEPTION;
    return JS_NewBool(context, weft_pool_stop_retry(pool->pool, work) == 0);
}

/* workFind(pool, id) -> its number; undefined: there is none */
static JSValue js_work_find(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_pool *pool = count > 1 ? wf_js_pool_of(context, arguments[0]) : NULL;
    weft_work_id id = {0};
    weft_work work;
    (void)self;
    if (!pool || !read_id(context, arguments[1], &id))
        return JS_EXCEPTION;
    int status = weft_pool_find(pool->pool, id, &work);
    free((char *)id.text);
    return status ? JS_UNDEFINED : JS_NewBigUint64(context, work.bits);
}

static const struct wf_js_job *own_job(JSContext *context) {
    const struct wf_js_fiber *fiber = wf_js_of(context)->holder;
    return fiber ? fiber->job : NULL;
}

/* workSelf() -> the object that stands for the work that calls; undefined: none does */
static JSValue js_work_self(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    const struct wf_js_job *job = own_job(context);
    (void)self, (void)count, (void)arguments;
    return job ? JS_DupValue(context, job->work) : JS_UNDEFINED;
}

/* workState() -> [attempt, is stopping]; of the work that calls */
static JSValue js_work_state(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    bool is_work = own_job(context);
    (void)self, (void)count, (void)arguments;
    JSValue list = JS_NewArray(context);
    if (!JS_IsException(list)) {
        JS_SetPropertyUint32(context, list, 0, JS_NewUint32(context, is_work ? weft_work_attempt() : 0));
        JS_SetPropertyUint32(context, list, 1, JS_NewBool(context, is_work && weft_work_is_stopping()));
    }
    return list;
}

static int veto(void *arg) {
    (void)arg;
    return 0;
}

/* workStopPoint(agrees): whether it is to stop now */
static JSValue js_work_stop_point(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    bool agrees = count < 1 || JS_ToBool(context, arguments[0]);
    (void)self;
    return JS_NewBool(context, own_job(context) && weft_work_stop_point(agrees ? NULL : veto, NULL));
}

static int pause_wait(struct wf_js_wait *wait) {
    (void)wait;
    return weft_work_pause_point();
}

static JSValue pause_finish(JSContext *context, struct wf_js_wait *wait) {
    return wait->status ? wf_js_throw_errno(context, wait->status, "pause") : JS_UNDEFINED;
}

/* workPausePoint(): waits while it is paused; only inside a work */
static JSValue js_work_pause_point(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    if (!own_job(context))
        return JS_UNDEFINED;
    struct wf_js_wait *wait = calloc(1, sizeof *wait);
    if (!wait)
        return JS_ThrowOutOfMemory(context);
    *wait =
        (struct wf_js_wait){.wait = pause_wait, .finish = pause_finish, .is_local = true, .what = "the end of a pause"};
    return wf_js_perform(context, wait);
}

int wf_js_add_works(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("workSubmit", 4, js_work_submit),
        JS_CFUNC_DEF("workControl", 3, js_work_control),
        JS_CFUNC_DEF("workStopRetry", 2, js_work_stop_retry),
        JS_CFUNC_DEF("workFind", 2, js_work_find),
        JS_CFUNC_DEF("workSelf", 0, js_work_self),
        JS_CFUNC_DEF("workState", 0, js_work_state),
        JS_CFUNC_DEF("workStopPoint", 1, js_work_stop_point),
        JS_CFUNC_DEF("workPausePoint", 0, js_work_pause_point),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
