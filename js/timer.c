/* SPDX-License-Identifier: MIT
 *
 * js/timer.c - timers and immediates of JavaScript. The loop has one of each for all of them, the alarm and the check; what runs, and
 * in which order, is said here and in js/timer_list.c, as Node does it.
 *
 * Between two that run in one phase comes a checkpoint. One that throws is followed by the next one at once: what it has put off
 * comes at the next boundary; and when it was the last immediate of its round, the next round begins.
 */
#include "timer.h"

#include <errno.h>
#include <stdlib.h>

static JSClassID handle_class;

static void alarm_fires(void *opaque);
static void check_fires(void *opaque);

/* ---- Blocks ---- */

/* Whether the loop stays for it. */
static void keep(struct wf_js_timer *timer, bool keeps) {
    weft_js *js = timer->js;
    struct wf_js_timers *timers = js->timers;
    bool is_immediate = timer->kind == WF_JS_IMMEDIATE;
    int *count = is_immediate ? &timers->immediates_kept : &timers->kept;
    if (timer->keeps == keeps)
        return;
    timer->keeps = keeps;
    *count += keeps ? 1 : -1;
    if (*count != (keeps ? 1 : 0))
        return;
    if (!is_immediate && timers->alarm.bits)
        (void)weft_loop_timer_keep(js->loop, timers->alarm, keeps);
    if (is_immediate && timers->check.bits)
        (void)weft_immediate_keep(js->loop, timers->check, keeps);
}

/* Out of its list; its owner may go, and with that, maybe, the handle and the timer. */
static void disarm(struct wf_js_timer *timer) {
    weft_js *js = timer->js;
    JSValue owner = timer->owner, surroundings = timer->surroundings;
    if (timer->kind != WF_JS_IMMEDIATE)
        wf_js_timer_unlink(js->timers, timer);
    else if (timer->list)
        wf_js_timer_remove(timer);
    keep(timer, false);
    timer->is_armed = false;
    if (!timer->has_handle)
        js_free(js->context, timer);
    JS_FreeValue(js->context, surroundings);
    JS_FreeValue(js->context, owner);
}

static void handle_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_timer *timer = JS_GetOpaque(value, handle_class);
    if (!timer)
        return;
    timer->has_handle = false;
    if (!timer->is_armed)
        js_free_rt(runtime, timer);
}

void wf_js_drop_timers(weft_js *js) {
    struct wf_js_timers *timers = js->timers;
    if (!timers)
        return;
    if (timers->alarm.bits)
        (void)weft_clear_timer(js->loop, timers->alarm);
    if (timers->check.bits)
        (void)weft_clear_immediate(js->loop, timers->check);
    timers->alarm.bits = timers->check.bits = 0;
    for (int i = 0; i < 2; i++)
        while (timers->immediates[i].first)
            disarm(timers->immediates[i].first);
    wf_js_timers_rewind(timers);
    while (timers->count)
        disarm(timers->heap[0]->first);
    wf_js_timers_term(timers);
    free(timers);
    js->timers = NULL;
}

/* ---- Timers ---- */

static int64_t clock_now(void *arg) {
    return weft_loop_now(((weft_js *)arg)->loop) / WEFT_MILLISECOND;
}

/* At that millisecond, instead of whenever it was set to; INT64_MAX: never. Without memory the one that is set stays. */
static int set_alarm(weft_js *js, int64_t expiry) {
    struct wf_js_timers *timers = js->timers;
    weft_loop_timer alarm = {0};
    if (expiry != INT64_MAX) {
        int64_t left = expiry * WEFT_MILLISECOND - weft_loop_now(js->loop);
        int error = weft_set_timeout(js->loop, &alarm, left > 0 ? left : 0, alarm_fires, js);
        if (error)
            return error;
        if (timers->kept == 0)
            (void)weft_loop_timer_keep(js->loop, alarm, false);
    }
    if (timers->alarm.bits)
        (void)weft_clear_timer(js->loop, timers->alarm);
    timers->alarm = alarm;
    timers->alarm_at = expiry;
    return 0;
}

static int link_timer(struct wf_js_timer *timer, int64_t start) {
    weft_js *js = timer->js;
    int64_t expiry;
    int error = wf_js_timer_link(js->timers, timer, start, &expiry);
    if (!error && expiry < js->timers->alarm_at && (error = set_alarm(js, expiry)) != 0)
        wf_js_timer_unlink(js->timers, timer);
    return error;
}

/* One that repeats begins again, unless it has been stopped, or begun again, meanwhile. False: it has thrown. */
static bool run_timer(weft_js *js, struct wf_js_timer *timer) {
    bool repeats = timer->kind == WF_JS_INTERVAL;
    int64_t start = repeats ? clock_now(js) : 0;
    JSValue owner = JS_DupValue(js->context, timer->owner); /* which has the handle, so that the block stays */
    JSValue surroundings = JS_DupValue(js->context, timer->surroundings);
    if (repeats)
        wf_js_timer_unlink(js->timers, timer);
    else
        disarm(timer);
    bool is_good = wf_js_call_in(js, surroundings, js->hooks[WF_JS_ON_TIMER], 1, &owner);
    if (repeats && timer->is_armed && !timer->list && link_timer(timer, start) != 0)
        disarm(timer); /* no memory: it ends */
    JS_FreeValue(js->context, owner);
    return is_good;
}

static void alarm_fires(void *opaque) {
    weft_js *js = opaque;
    struct wf_js_timers *timers = js->timers;
    int64_t now = clock_now(js), expiry = INT64_MAX;
    bool owes = false; /* a checkpoint, before the next one */
    struct wf_js_timer *timer;
    timers->alarm.bits = 0;
    timers->alarm_at = INT64_MIN;
    while (!js->has_ended && (timer = wf_js_timer_due(timers, &now, clock_now, js, &expiry))) {
        if (owes) {
            owes = false;
            (void)weft_loop_run_checkpoint(js->loop);
            continue;
        }
        if (!wf_js_enter(js))
            return;
        owes = run_timer(js, timer);
        wf_js_leave(js);
        if (!owes) {
            wf_js_timers_rewind(timers);
            now = clock_now(js);
        }
    }
    while (!js->has_ended && set_alarm(js, expiry) == -ENOMEM)
        (void)weft_sleep(weft_after(WEFT_MILLISECOND)); /* it must not get lost */
}

/* ---- Immediates ---- */

static struct wf_js_timer_list *next_round(struct wf_js_timers *timers) {
    return &timers->immediates[!timers->round];
}

static int add_immediate(struct wf_js_timer *timer) {
    weft_js *js = timer->js;
    struct wf_js_timers *timers = js->timers;
    int error = timers->check.bits ? 0 : weft_set_immediate(js->loop, &timers->check, check_fires, js);
    if (error)
        return error;
    if (timers->immediates_kept > 0) /* those of this round count as well */
        (void)weft_immediate_keep(js->loop, timers->check, true);
    wf_js_timer_append(next_round(timers), timer);
    return 0;
}

static bool run_immediate(weft_js *js, struct wf_js_timer *timer) {
    JSValue owner = JS_DupValue(js->context, timer->owner);
    JSValue surroundings = JS_DupValue(js->context, timer->surroundings);
    disarm(timer);
    bool is_good = wf_js_call_in(js, surroundings, js->hooks[WF_JS_ON_TIMER], 1, &owner);
    JS_FreeValue(js->context, owner);
    return is_good;
}

static void check_fires(void *opaque) {
    weft_js *js = opaque;
    struct wf_js_timers *timers = js->timers;
    bool owes = false;
    timers->check.bits = 0;
    timers->round = !timers->round;
    while (!js->has_ended) {
        struct wf_js_timer *timer = timers->immediates[timers->round].first;
        if (!timer)
            return;
        if (owes) {
            owes = false;
            (void)weft_loop_run_checkpoint(js->loop);
            continue;
        }
        if (!wf_js_enter(js))
            return;
        owes = run_immediate(js, timer);
        wf_js_leave(js);
        if (!owes && !timers->immediates[timers->round].first)
            timers->round = !timers->round;
    }
}

/* ---- For JavaScript ---- */

static JSValue begin(JSContext *context, enum wf_js_timer_kind kind, JSValueConst owner, int64_t duration) {
    weft_js *js = wf_js_of(context);
    struct wf_js_timer *timer = js_mallocz(context, sizeof *timer); /* it counts */
    if (!timer)
        return JS_EXCEPTION;
    JSValue handle = JS_NewObjectClass(context, (int)handle_class);
    if (JS_IsException(handle)) {
        js_free(context, timer);
        return handle;
    }
    *timer = (struct wf_js_timer){.js = js,
                                  .kind = kind,
                                  .has_handle = true,
                                  .is_armed = true,
                                  .duration = duration,
                                  .owner = JS_DupValue(context, owner),
                                  .surroundings = wf_engine_surroundings(context)};
    JS_SetOpaque(handle, timer);
    keep(timer, true);
    int error = kind == WF_JS_IMMEDIATE ? add_immediate(timer) : link_timer(timer, clock_now(js));
    if (error) {
        disarm(timer);
        JS_FreeValue(context, handle);
        return wf_js_throw_errno(context, error, "timer");
    }
    return handle;
}

/* startTimer(owner, milliseconds, repeats) -> handle */
static JSValue js_start_timer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int64_t milliseconds;
    (void)self;
    if (count < 3 || JS_ToInt64(context, &milliseconds, arguments[1]))
        return JS_EXCEPTION;
    return begin(context, JS_ToBool(context, arguments[2]) ? WF_JS_INTERVAL : WF_JS_TIMEOUT, arguments[0],
                 milliseconds);
}

/* startImmediate(owner) -> handle */
static JSValue js_start_immediate(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    return count > 0 ? begin(context, WF_JS_IMMEDIATE, arguments[0], 0) : JS_EXCEPTION;
}

static struct wf_js_timer *armed(int count, JSValueConst *arguments) {
    struct wf_js_timer *timer = count > 0 ? JS_GetOpaque(arguments[0], handle_class) : NULL;
    return timer && timer->is_armed ? timer : NULL;
}

/* stopTimer(handle): whether it was armed */
static JSValue js_stop_timer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_timer *timer = armed(count, arguments);
    (void)self;
    if (timer)
        disarm(timer);
    return JS_NewBool(context, timer != NULL);
}

/* keepTimer(handle, keeps): whether it is armed */
static JSValue js_keep_timer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_timer *timer = count > 1 ? armed(count, arguments) : NULL;
    (void)self;
    if (timer)
        keep(timer, JS_ToBool(context, arguments[1]));
    return JS_NewBool(context, timer != NULL);
}

/* refreshTimer(handle): begins its time anew; false when it has fired */
static JSValue js_refresh_timer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_timer *timer = armed(count, arguments);
    (void)self;
    if (!timer || timer->kind == WF_JS_IMMEDIATE)
        return JS_FALSE;
    wf_js_timer_unlink(timer->js->timers, timer);
    int error = link_timer(timer, clock_now(timer->js));
    if (!error)
        return JS_TRUE;
    disarm(timer);
    return wf_js_throw_errno(context, error, "timer");
}

int wf_js_add_timers(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "TimerHandle", .finalizer = handle_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("startTimer", 3, js_start_timer),     JS_CFUNC_DEF("startImmediate", 1, js_start_immediate),
        JS_CFUNC_DEF("stopTimer", 1, js_stop_timer),       JS_CFUNC_DEF("keepTimer", 2, js_keep_timer),
        JS_CFUNC_DEF("refreshTimer", 1, js_refresh_timer),
    };
    weft_js *js = wf_js_of(context);
    js->timers = calloc(1, sizeof *js->timers);
    if (!js->timers) {
        JS_ThrowOutOfMemory(context);
        return -1;
    }
    js->timers->alarm_at = INT64_MAX;
    wf_js_new_class(JS_GetRuntime(context), &handle_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
