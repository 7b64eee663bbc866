/* SPDX-License-Identifier: MIT
 *
 * js/work_group.c - groups of works: sets of them, and of other groups below.
 */
#include <errno.h>
#include <stdlib.h>

#include "pool.h"

struct group {
    weft_group *group;
    struct wf_js_pool *pool;
};

static JSClassID group_class;

static void group_finalize(JSRuntime *runtime, JSValueConst value) {
    struct group *group = JS_GetOpaque(value, group_class);
    (void)runtime;
    if (!group)
        return;
    weft_group_free(group->group);
    wf_js_pool_unref(group->pool);
    free(group);
}

static struct group *group_at(JSContext *context, int count, JSValueConst *arguments, int index) {
    return count > index ? JS_GetOpaque2(context, arguments[index], group_class) : NULL;
}

weft_group *wf_js_group_of(JSContext *context, JSValueConst value) {
    const struct group *group = JS_GetOpaque2(context, value, group_class);
    return group ? group->group : NULL;
}

/* groupNew(pool, name or undefined) */
static JSValue js_group_new(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_pool *pool = count > 1 ? wf_js_pool_of(context, arguments[0]) : NULL;
    (void)self;
    if (!pool)
        return JS_EXCEPTION;
    const char *name = JS_IsUndefined(arguments[1]) ? NULL : JS_ToCString(context, arguments[1]);
    if (!name && !JS_IsUndefined(arguments[1]))
        return JS_EXCEPTION;
    JSValue object = JS_NewObjectClass(context, (int)group_class);
    struct group *group = JS_IsException(object) ? NULL : calloc(1, sizeof *group);
    int error = group ? weft_group_new(&group->group, pool->pool, name) : -ENOMEM;
    JS_FreeCString(context, name);
    if (error) {
        free(group);
        JS_FreeValue(context, object);
        return JS_IsException(object) ? object : wf_js_throw_pool(context, error);
    }
    group->pool = wf_js_pool_ref(pool);
    JS_SetOpaque(object, group);
    return object;
}

/* groupWork(group, work, is to be added): whether that changed something */
static JSValue js_group_work(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct group *group = group_at(context, count, arguments, 0);
    weft_work work;
    (void)self;
    if (!group || count < 3 || JS_ToBigUint64(context, &work.bits, arguments[1]))
        return JS_EXCEPTION;
    int status =
        JS_ToBool(context, arguments[2]) ? weft_group_add(group->group, work) : weft_group_remove(group->group, work);
    return status == -ENOMEM ? wf_js_throw_pool(context, status) : JS_NewBool(context, status == 0);
}

/* groupJoin(parent, child, is to be joined): whether that changed something */
static JSValue js_group_join(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct group *parent = group_at(context, count, arguments, 0);
    struct group *child = parent ? group_at(context, count, arguments, 1) : NULL;
    (void)self;
    if (!child || count < 3)
        return JS_EXCEPTION;
    int status = JS_ToBool(context, arguments[2]) ? weft_group_join(parent->group, child->group)
                                                  : weft_group_part(parent->group, child->group);
    if (status == 0 || status == -EEXIST || status == -ENOENT)
        return JS_NewBool(context, status == 0);
    return wf_js_throw_pool(context, status);
}

/* groupControl(group, what) -> how many could not be; what as in weft_control */
static JSValue js_group_control(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct group *group = group_at(context, count, arguments, 0);
    int32_t what;
    (void)self;
    if (!group || count < 2 || JS_ToInt32(context, &what, arguments[1]))
        return JS_EXCEPTION;
    int status = weft_group_control(group->group, (weft_control)what);
    return status < 0 ? wf_js_throw_pool(context, status) : JS_NewInt32(context, status);
}

/* groupWorks(group) -> [work, ...] that are not over */
static JSValue js_group_works(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct group *group = group_at(context, count, arguments, 0);
    (void)self;
    if (!group)
        return JS_EXCEPTION;
    size_t room = weft_group_works(group->group, NULL, 0);
    weft_work *works = malloc((room + 1) * sizeof *works);
    if (!works)
        return JS_ThrowOutOfMemory(context);
    size_t found = weft_group_works(group->group, works, room);
    JSValue list = JS_NewArray(context);
    for (size_t i = 0; i < found && i < room && !JS_IsException(list); i++)
        JS_SetPropertyUint32(context, list, (uint32_t)i, JS_NewBigUint64(context, works[i].bits));
    free(works);
    return list;
}

struct waiting {
    struct wf_js_wait wait;
    weft_group *group;
    JSValue object;
    weft_time until;
};

static int group_wait(struct wf_js_wait *wait) {
    struct waiting *waiting = (struct waiting *)wait;
    return weft_group_wait(waiting->group, waiting->until);
}

static JSValue wait_finish(JSContext *context, struct wf_js_wait *wait) {
    struct waiting *waiting = (struct waiting *)wait;
    JS_FreeValue(context, waiting->object);
    return wait->status ? wf_js_throw_pool(context, wait->status) : JS_UNDEFINED;
}

/* groupWait(group, milliseconds) */
static JSValue js_group_wait(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct group *group = group_at(context, count, arguments, 0);
    weft_time until;
    (void)self;
    if (!group || count < 2 || !wf_js_until(context, arguments[1], &until))
        return JS_EXCEPTION;
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting)
        return JS_ThrowOutOfMemory(context);
    *waiting = (struct waiting){.wait = {.wait = group_wait,
                                         .finish = wait_finish,
                                         .is_local = until == WEFT_NEVER,
                                         .what = "the works of a group"},
                                .group = group->group,
                                .object = JS_DupValue(context, arguments[0]),
                                .until = until};
    return wf_js_perform(context, &waiting->wait);
}

int wf_js_add_work_groups(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "WorkGroupHandle", .finalizer = group_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("groupNew", 2, js_group_new),     JS_CFUNC_DEF("groupWork", 3, js_group_work),
        JS_CFUNC_DEF("groupJoin", 3, js_group_join),   JS_CFUNC_DEF("groupControl", 2, js_group_control),
        JS_CFUNC_DEF("groupWorks", 1, js_group_works), JS_CFUNC_DEF("groupWait", 2, js_group_wait),
    };
    wf_js_new_class(JS_GetRuntime(context), &group_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
