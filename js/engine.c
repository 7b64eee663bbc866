/* SPDX-License-Identifier: MIT
 *
 * js/engine.c - the engine itself, and the few things of its inside that we have to reach.
 *
 * QuickJS is compiled here, as part of this file, so that its innermost frame can be put away when a fiber leaves the engine in
 * the middle of a call, and put back when it returns. The self-test in js/turn.c watches over it.
 */
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wvla"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "quickjs.c"

#include "engine.h"

int wf_engine_complete(JSContext *context) {
    (void)context;
    return 0;
}

void *wf_engine_frame(JSRuntime *runtime) {
    return runtime->current_stack_frame;
}

void wf_engine_set_frame(JSRuntime *runtime, void *frame) {
    runtime->current_stack_frame = frame;
}

JSValue wf_engine_class_name(JSContext *context, JSClassID id) {
    JSAtom name = JS_GetClassName(JS_GetRuntime(context), id);
    JSValue text = JS_AtomToString(context, name);
    JS_FreeAtom(context, name);
    return text;
}

JSValue wf_engine_throw_end(JSContext *context, JSValue error) {
    JS_SetUncatchableError(context, error);
    return JS_Throw(context, error);
}

/* Where the records begin that an iterator, or a weak collection, would show; NULL: it shows none. */
static struct list_head *first_record(JSValueConst value, JSMapState **state, bool *is_set, int *kind) {
    int id = (int)JS_GetClassID(value);
    *is_set = id == JS_CLASS_SET_ITERATOR || id == JS_CLASS_WEAKSET;
    *kind = *is_set ? JS_ITERATOR_KIND_KEY : JS_ITERATOR_KIND_KEY_AND_VALUE;
    if (id == JS_CLASS_WEAKMAP || id == JS_CLASS_WEAKSET) {
        *state = JS_GetOpaque(value, (JSClassID)id);
        return (*state)->records.next;
    }
    if (id != JS_CLASS_MAP_ITERATOR && id != JS_CLASS_SET_ITERATOR)
        return NULL;
    JSMapIteratorData *iterator = JS_GetOpaque(value, (JSClassID)id);
    *kind = iterator->kind;
    if (JS_IsUndefined(iterator->obj))
        return NULL;
    *state = JS_GetOpaque(iterator->obj, *is_set ? JS_CLASS_SET : JS_CLASS_MAP);
    return iterator->cur_record ? iterator->cur_record->link.next : (*state)->records.next;
}

JSValue wf_engine_preview(JSContext *context, JSValueConst value) {
    JSMapState *state = NULL;
    bool is_set;
    int kind;
    uint32_t count = 0;
    JSValue list = JS_NewArray(context), result = JS_NewArray(context);
    struct list_head *at = first_record(value, &state, &is_set, &kind);
    bool has_pairs = kind == JS_ITERATOR_KIND_KEY_AND_VALUE;
    for (; at && at != &state->records; at = at->next) {
        JSMapRecord *record = list_entry(at, JSMapRecord, link);
        if (record->empty)
            continue;
        if (kind != JS_ITERATOR_KIND_VALUE)
            JS_SetPropertyUint32(context, list, count++, JS_DupValue(context, record->key));
        if (kind == JS_ITERATOR_KIND_VALUE || has_pairs)
            JS_SetPropertyUint32(context, list, count++, JS_DupValue(context, is_set ? record->key : record->value));
    }
    JS_SetPropertyUint32(context, result, 0, list);
    JS_SetPropertyUint32(context, result, 1, JS_NewBool(context, has_pairs));
    return result;
}
