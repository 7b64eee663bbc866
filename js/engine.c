/* SPDX-License-Identifier: MIT
 *
 * js/engine.c - the engine itself, and the few things of its inside that we have to reach.
 *
 * QuickJS is compiled here, as part of this file, so that its innermost frame can be put away when a fiber leaves the engine in
 * the middle of a call, and put back when it returns. The self-test in js/frame.c watches over it. What is compiled is a copy
 * that js/tool/mend has made.
 */
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wvla"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "quickjs.h"

/* What the mended source calls. */
static JSValue engine_stack(JSContext *context, JSValueConst error, JSValue *frames);
static void engine_define_stack(JSContext *context, JSValueConst error, JSValue frames);
static void engine_forget_place(JSContext *context);
static void engine_lend_memory(JSRuntime *runtime);
static void engine_take_memory(JSRuntime *runtime);
static void engine_collect(JSRuntime *runtime);
static size_t engine_gc_distance(JSRuntime *runtime);
static bool engine_is_full(JSRuntime *runtime, size_t size);
static bool engine_should_collect(JSRuntime *runtime);
static JSValue engine_spare_error(JSContext *context);
static void engine_throw_again(JSContext *context, JSValue error);
static void engine_enqueue_surely(JSContext *context, JSJobFunc *job, int count, JSValueConst *arguments);
struct JSParseState;
static void engine_guard_begin(struct JSParseState *state, bool is_async, int label_throw);
static void engine_guard_end(struct JSParseState *state, bool is_async);
static void engine_guard_leave(struct JSParseState *state, bool is_async, int label_leave, int label_break);
static void engine_guard_return(struct JSParseState *state);
static void engine_guard_throw(struct JSParseState *state, bool is_async, int label_throw);
static JSValue engine_surroundings(JSContext *context);
static JSValue engine_enter(JSContext *context, JSValueConst surroundings);
static void engine_leave(JSContext *context, JSValue outer);
static void engine_throw_interrupted(JSContext *context);
static void engine_throw_export(JSContext *context, int how, JSModuleDef *importer, JSModuleDef *module, JSAtom name);

#include "quickjs.c"

#include <malloc.h>
#include <time.h>

#include "engine.h"

/* Enough for an error with its stack; and how much time may be lost on looking for memory that there is not. */
enum { MEMORY_LENT = 64 * 1024, MEMORY_NEAR = 1024, FUTILE_NS = 1000000000 };

/* What a runtime has besides; in the place of the engine's own library, which is not compiled. */
struct extra {
    JSValue spare_error;  /* for when there is no memory for one */
    JSValue surroundings; /* see wf_engine_surroundings */
    char why[128];        /* it was interrupted */
    int64_t futile_ns;    /* spent on collections near the limit that left no room, less half of the time since */
    int64_t futile_at;    /* as of then */
};

int wf_engine_complete(JSContext *context) {
    struct extra *extra = js_mallocz(context, sizeof *extra);
    if (!extra)
        return -1;
    JS_ThrowInternalError(context, "out of memory");
    extra->spare_error = JS_GetException(context);
    extra->surroundings = JS_UNDEFINED;
    context->rt->libc_opaque = extra;
    return 0;
}

void wf_engine_release(JSContext *context) {
    struct extra *extra = context->rt->libc_opaque;
    context->rt->libc_opaque = NULL;
    if (!extra)
        return;
    JS_FreeValue(context, extra->spare_error);
    JS_FreeValue(context, extra->surroundings);
    js_free(context, extra);
}

JSValue wf_engine_surroundings(JSContext *context) {
    const struct extra *extra = context->rt->libc_opaque;
    return extra ? js_dup(extra->surroundings) : JS_UNDEFINED;
}

JSValue wf_engine_surround(JSContext *context, JSValue surroundings) {
    struct extra *extra = context->rt->libc_opaque;
    if (!extra)
        return surroundings;
    JSValue outer = extra->surroundings;
    extra->surroundings = surroundings;
    return outer;
}

/* What a reaction of a promise has when it is made it has when it runs. */
static JSValue engine_surroundings(JSContext *context) {
    return wf_engine_surroundings(context);
}

static JSValue engine_enter(JSContext *context, JSValueConst surroundings) {
    return wf_engine_surround(context, js_dup(surroundings));
}

static void engine_leave(JSContext *context, JSValue outer) {
    JS_FreeValue(context, wf_engine_surround(context, outer));
}

void wf_engine_explain(JSRuntime *runtime, const char *why) {
    struct extra *extra = runtime->libc_opaque;
    if (extra)
        snprintf(extra->why, sizeof extra->why, "%s", why);
}

JSValue wf_engine_eval(JSContext *context, const char *text, size_t size, const char *name, int line, int flags) {
    JSEvalOptions options = {JS_EVAL_OPTIONS_VERSION, JS_EVAL_TYPE_GLOBAL | flags, name, line};
    return JS_EvalThis2(context, context->global_obj, text, size, &options);
}

JSValue wf_engine_import(JSContext *context, const char *name, JSValue *promise) {
    JSModuleDef *module = js_host_resolve_imported_module(context, "", name, JS_UNDEFINED);
    *promise = JS_NULL;
    if (!module)
        return JS_EXCEPTION;
    if (module->status != JS_MODULE_STATUS_LINKING && module->status != JS_MODULE_STATUS_EVALUATING)
        *promise = JS_EvalFunction(context, js_dup(JS_MKPTR(JS_TAG_MODULE, module)));
    if (JS_IsException(*promise))
        return JS_EXCEPTION;
    return JS_IsNull(*promise) ? JS_NULL : JS_GetModuleNamespace(context, module);
}

void *wf_engine_frame(JSRuntime *runtime) {
    return runtime->current_stack_frame;
}

void wf_engine_set_frame(JSRuntime *runtime, void *frame) {
    runtime->current_stack_frame = frame;
}

/* The value of its property "name", if that is a plain text: nothing of the script runs for it. */
static JSString *name_of(JSValueConst fn) {
    JSProperty *property;
    if (JS_VALUE_GET_TAG(fn) != JS_TAG_OBJECT)
        return NULL;
    JSShapeProperty *shape = find_own_property(&property, JS_VALUE_GET_OBJ(fn), JS_ATOM_name);
    bool is_plain = shape && (shape->flags & JS_PROP_TMASK) == JS_PROP_NORMAL &&
                    JS_VALUE_GET_TAG(property->u.value) == JS_TAG_STRING;
    return is_plain ? JS_VALUE_GET_STRING(property->u.value) : NULL;
}

static void copy_string(JSString *string, char *text, size_t size) {
    if (!string)
        text[0] = 0;
    else if (string->is_wide_char)
        utf8_encode_buf16(text, size, str16(string), string->len);
    else
        utf8_encode_buf8(text, size, str8(string), string->len);
}

void *wf_engine_tell_frame(JSRuntime *runtime, void *opaque, struct wf_engine_spot *spot) {
    JSStackFrame *frame = opaque;
    JSFunctionBytecode *code = JS_GetFunctionBytecode(frame->cur_func);
    *spot = (struct wf_engine_spot){0};
    copy_string(name_of(frame->cur_func), spot->function, sizeof spot->function);
    if (code && frame->cur_pc) {
        bool has_file = code->filename && !__JS_AtomIsTaggedInt(code->filename);
        copy_string(has_file ? runtime->atom_array[code->filename] : NULL, spot->file, sizeof spot->file);
        uint32_t at = (uint32_t)(frame->cur_pc - code->byte_code_buf - 1);
        spot->line = find_line_num(NULL, code, at, &spot->column);
    }
    return frame->prev_frame;
}

void wf_engine_function_name(JSContext *context, JSValueConst fn, char *text, size_t size) {
    copy_string(name_of(fn), text, size);
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

/* ---- Errors ---- */

/* Name and message; with its code, if the error is one of those that Node shows so: see js/lib/inspect_error.js. */
static JSValue engine_head(JSContext *context, JSValueConst error) {
    JSValue symbol = JS_NewSymbol(context, "weft.nodeError", true);
    JSAtom atom = JS_ValueToAtom(context, symbol);
    JSValue mark = JS_GetProperty(context, error, atom);
    JSValue head = JS_IsException(mark) ? JS_EXCEPTION : js_error_toString(context, error, 0, NULL);
    if (!JS_IsException(head) && JS_ToBool(context, mark)) {
        JSValue name = JS_ToStringFree(context, JS_GetPropertyStr(context, error, "name"));
        JSValue code = JS_ToStringFree(context, JS_GetPropertyStr(context, error, "code"));
        JSValue message = JS_ToStringFree(context, JS_GetPropertyStr(context, error, "message"));
        JS_FreeValue(context, head);
        head = JS_ConcatString(context, JS_ConcatString3(context, "", name, " ["),
                               JS_ConcatString(context, JS_ConcatString3(context, "", code, "]: "), message));
    }
    JS_FreeValue(context, mark);
    JS_FreeAtom(context, atom);
    JS_FreeValue(context, symbol);
    return head;
}

/* Frames begin with a newline, until somebody has looked: then with the head. */
static bool engine_is_bare(JSContext *context, JSValueConst frames) {
    const char *text = JS_ToCString(context, frames);
    bool is_bare = text && (*text == '\n' || !*text);
    JS_FreeCString(context, text);
    return is_bare;
}

static JSValue engine_stack(JSContext *context, JSValueConst error, JSValue *frames) {
    if (!JS_IsString(*frames) || !engine_is_bare(context, *frames))
        return JS_DupValue(context, *frames);
    JSValue bare = *frames; /* what makes the head may look, too */
    *frames = JS_NewString(context, "Error");
    JSValue head = engine_head(context, error);
    if (JS_IsException(head)) {
        JS_FreeValue(context, JS_GetException(context));
        head = JS_NewString(context, "<error>");
    }
    JSValue whole = JS_ConcatString(context, head, JS_DupValue(context, bare)), before = *frames;
    *frames = JS_IsException(whole) ? bare : JS_DupValue(context, whole);
    if (!JS_IsException(whole))
        JS_FreeValue(context, bare);
    JS_FreeValue(context, before);
    return whole;
}

static JSValue engine_get_stack(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int magic,
                                JSValue *data) {
    return engine_stack(context, self, data);
}

static JSValue engine_set_stack(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int done = JS_DefinePropertyValue(context, self, JS_ATOM_stack, JS_DupValue(context, arguments[0]),
                                      JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    return done < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

/* Error.captureStackTrace: an error has a place for it, other objects get a property that shows it. */
static void engine_define_stack(JSContext *context, JSValueConst value, JSValue frames) {
    JSObject *object = JS_VALUE_GET_OBJ(value);
    if (!JS_IsString(frames)) {
        JS_DefinePropertyValue(context, value, JS_ATOM_stack, frames, JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    } else if (object->class_id == JS_CLASS_ERROR && !find_own_property1(object, JS_ATOM_stack)) {
        JS_FreeValue(context, object->u.object_data);
        object->u.object_data = frames;
    } else {
        JSValue get = JS_NewCFunctionData(context, engine_get_stack, 0, 0, 1, &frames);
        JSValue set = JS_NewCFunction(context, engine_set_stack, "stack", 1);
        JS_FreeValue(context, frames);
        JS_DefinePropertyGetSet(context, value, JS_ATOM_stack, get, set, JS_PROP_CONFIGURABLE);
    }
}

/* A property that is a text, the object's own or inherited; else what it is without one. */
static JSValue engine_plain_text(JSContext *context, JSValueConst value, JSAtom name, const char *otherwise) {
    for (JSObject *object = JS_VALUE_GET_OBJ(value); object; object = object->shape->proto) {
        JSProperty *property;
        JSShapeProperty *found = find_own_property(&property, object, name);
        if (!found)
            continue;
        bool is_plain = (found->flags & JS_PROP_TMASK) == JS_PROP_NORMAL && JS_IsString(property->u.value);
        return is_plain ? JS_DupValue(context, property->u.value) : JS_NewString(context, otherwise);
    }
    return JS_NewString(context, otherwise);
}

JSValue wf_engine_plain_error(JSContext *context, JSValueConst error) {
    if (JS_GetClassID(error) != JS_CLASS_ERROR)
        return JS_UNDEFINED;
    JSValueConst frames = JS_VALUE_GET_OBJ(error)->u.object_data;
    if (JS_IsString(frames) && !engine_is_bare(context, frames))
        return JS_DupValue(context, frames);
    JSValue name = JS_ConcatString3(context, "", engine_plain_text(context, error, JS_ATOM_name, "Error"), ": ");
    JSValue head = JS_ConcatString(context, name, engine_plain_text(context, error, JS_ATOM_message, ""));
    return JS_IsString(frames) ? JS_ConcatString(context, head, JS_DupValue(context, frames)) : head;
}

/* An import that cannot be bound: in the importer's words, and with its name as the only place. */
static void engine_throw_export(JSContext *context, int how, JSModuleDef *importer, JSModuleDef *module, JSAtom name) {
    JSAtom wanted = module->module_name;
    for (int i = 0; i < importer->req_module_entries_count; i++)
        if (importer->req_module_entries[i].module == module)
            wanted = importer->req_module_entries[i].module_name;
    if (how != JS_RESOLVE_RES_NOT_FOUND) {
        js_resolve_export_throw_error(context, (JSResolveResultEnum)how, module, name);
        return;
    }
    const char *texts[] = {JS_AtomToCString(context, wanted), JS_AtomToCString(context, name),
                           JS_AtomToCString(context, importer->module_name)};
    JSValue error = JS_NewSyntaxError(context, "The requested module '%s' does not provide an export named '%s'",
                                      texts[0] ? texts[0] : "", texts[1] ? texts[1] : "");
    JSValue place = JS_ConcatString3(context, "\n    at ", JS_NewString(context, texts[2] ? texts[2] : ""), "");
    if (!JS_IsException(error) && !JS_IsException(place)) {
        JS_FreeValue(context, JS_VALUE_GET_OBJ(error)->u.object_data);
        JS_VALUE_GET_OBJ(error)->u.object_data = place;
        JS_Throw(context, error);
    }
    for (int i = 0; i < 3; i++)
        JS_FreeCString(context, texts[i]);
}

static void engine_forget_place(JSContext *context) {
    JS_FreeValue(context, context->error_back_trace);
    context->error_back_trace = JS_UNDEFINED;
}

JSValue wf_engine_place(JSContext *context) {
    JSValue place = context->error_back_trace;
    context->error_back_trace = JS_UNDEFINED;
    return place;
}

/* Beyond the limit, if there is one. */
static void engine_lend_memory(JSRuntime *runtime) {
    if (runtime->malloc_state.malloc_limit)
        runtime->malloc_state.malloc_limit += MEMORY_LENT;
}

static void engine_take_memory(JSRuntime *runtime) {
    if (runtime->malloc_state.malloc_limit)
        runtime->malloc_state.malloc_limit -= MEMORY_LENT;
}

static int64_t engine_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static size_t engine_half_left(const JSRuntime *runtime) {
    const JSMallocState *memory = &runtime->malloc_state;
    return memory->malloc_size < memory->malloc_limit ? (memory->malloc_limit - memory->malloc_size) / 2 : 0;
}

static bool engine_has_room(const JSRuntime *runtime) {
    return engine_half_left(runtime) > runtime->malloc_state.malloc_limit / 64;
}

static void engine_collect(JSRuntime *runtime) {
    struct extra *extra = runtime->libc_opaque;
    bool is_near = extra && runtime->malloc_state.malloc_limit && !engine_has_room(runtime);
    int64_t begun = is_near ? engine_clock(CLOCK_THREAD_CPUTIME_ID) : 0;
    JS_RunGC(runtime);
    if (!is_near)
        return;
    if (!extra->futile_ns)
        extra->futile_at = engine_clock(CLOCK_MONOTONIC);
    extra->futile_ns = engine_has_room(runtime) ? 0 : extra->futile_ns + engine_clock(CLOCK_THREAD_CPUTIME_ID) - begun;
}

/* How much may be allocated until garbage is looked for again: half of what there is, but no more than half of what is left; and
 * a 64th of the limit in any case, or whoever lives near the limit would do nothing else. */
static size_t engine_gc_distance(JSRuntime *runtime) {
    const JSMallocState *memory = &runtime->malloc_state;
    size_t limit = memory->malloc_limit, distance = memory->malloc_size / 2;
    if (!limit)
        return distance;
    size_t most = engine_has_room(runtime) ? engine_half_left(runtime) : limit / 64;
    return distance < most ? distance : most;
}

/* Whether an error of memory, or that one is near, makes the collector look, for what whoever catches it lets go. That is always so,
 * until a second was lost on it: thousands of fibers that all find no memory would otherwise look a thousand times. Then it takes a
 * third of the time. */
static bool engine_should_collect(JSRuntime *runtime) {
    struct extra *extra = runtime->libc_opaque;
    if (!extra || !extra->futile_ns)
        return true;
    int64_t now = engine_clock(CLOCK_MONOTONIC), rest = extra->futile_ns - (now - extra->futile_at) / 2;
    extra->futile_ns = rest > 0 ? rest : 0;
    extra->futile_at = now;
    return extra->futile_ns < FUTILE_NS;
}

/* An object is more than its own block. */
static bool engine_is_full(JSRuntime *runtime, size_t size) {
    const JSMallocState *memory = &runtime->malloc_state;
    return memory->malloc_limit && memory->malloc_size + size + MEMORY_NEAR > memory->malloc_limit &&
           engine_should_collect(runtime);
}

/* Beyond any limit: without the job nobody would be told. */
static void engine_enqueue_surely(JSContext *context, JSJobFunc *job, int count, JSValueConst *arguments) {
    JSMallocState *memory = &context->rt->malloc_state;
    size_t limit = memory->malloc_limit;
    memory->malloc_limit = 0;
    JS_EnqueueJob(context, job, count, arguments);
    memory->malloc_limit = limit;
}

static JSValue engine_spare_error(JSContext *context) {
    struct extra *extra = context->rt->libc_opaque;
    if (!extra)
        return JS_NULL;
    js_set_uncatchable_error(context, extra->spare_error, false); /* its last use may have been an interrupt */
    return JS_DupValue(context, extra->spare_error);
}

/* An error that was put aside, unless one has come that cannot be caught. */
static void engine_throw_again(JSContext *context, JSValue error) {
    if (JS_IsUncatchableError(context->rt->current_exception))
        JS_FreeValue(context, error);
    else
        JS_Throw(context, error);
}

static void engine_throw_interrupted(JSContext *context) {
    struct extra *extra = context->rt->libc_opaque;
    engine_lend_memory(context->rt);
    JS_ThrowInternalError(context, "%s", extra && extra->why[0] ? extra->why : "interrupted");
    engine_take_memory(context->rt);
}

/* ---- for await ----
 *
 * What leaves the body of a for await loop by an error waits for the iterator's return(), as what leaves it by break does; what
 * next() throws does not even ask for it. While body and target of an assignment run, the stack has one value more, and the place
 * where to go with an error:
 *
 *     iterator, next, mark     between two rounds; the mark is an offset of -1: errors go by
 *     iterator, next, mark, value, offset of label_throw     in the body
 */

static void engine_guard_begin(JSParseState *state, bool is_async, int label_throw) {
    if (!is_async)
        return;
    emit_goto(state, OP_catch, label_throw);
    emit_op(state, OP_dup2); /* a copy of the value, above the offset */
    emit_op(state, OP_drop);
}

/* The body has ended. */
static void engine_guard_end(JSParseState *state, bool is_async) {
    if (!is_async)
        return;
    emit_op(state, OP_drop);
    emit_op(state, OP_drop);
}

/* It ends by break, which comes to label_leave; an iterator that is done comes from above. */
static void engine_guard_leave(JSParseState *state, bool is_async, int label_leave, int label_break) {
    if (!is_async)
        return;
    emit_goto(state, OP_goto, label_break);
    emit_label(state, label_leave);
    engine_guard_end(state, true);
}

/* It ends by return: iterator, next, mark, value, result -> iterator, next, result */
static void engine_guard_return(JSParseState *state) {
    emit_op(state, OP_nip);
    emit_op(state, OP_nip_catch);
}

/* It has thrown: iterator, next, mark, value, error. Whatever becomes of return(), that error goes on. */
static void engine_guard_throw(JSParseState *state, bool is_async, int label_throw) {
    if (!is_async)
        return;
    int label_end = emit_goto(state, OP_goto, -1);
    emit_label(state, label_throw);
    emit_op(state, OP_nip);
    emit_op(state, OP_nip);
    emit_op(state, OP_nip);
    emit_op(state, OP_swap);
    int label_failed = emit_goto(state, OP_catch, -1);
    emit_op(state, OP_dup2);
    emit_op(state, OP_drop); /* error, iterator, offset, iterator */
    emit_op(state, OP_get_field2);
    emit_atom(state, JS_ATOM_return);
    emit_op(state, OP_dup);
    emit_op(state, OP_is_undefined_or_null);
    int label_none = emit_goto(state, OP_if_true, -1);
    emit_op(state, OP_call_method);
    emit_u16(state, 0);
    emit_op(state, OP_await);
    int label_closed = emit_goto(state, OP_goto, -1);
    emit_label(state, label_none);
    emit_op(state, OP_drop);
    emit_label(state, label_closed);
    emit_op(state, OP_drop);
    emit_op(state, OP_drop); /* the offset */
    int label_over = emit_goto(state, OP_goto, -1);
    emit_label(state, label_failed);
    emit_op(state, OP_drop); /* of two errors the first */
    emit_label(state, label_over);
    emit_op(state, OP_drop);
    emit_op(state, OP_throw);
    emit_label(state, label_end);
}

#include "engine_bytes.h"

/* ---- Functions ---- */

JSValue wf_engine_function(JSContext *context, JSValueConst fn) {
    JSFunctionBytecode *code = JS_GetFunctionBytecode(fn);
    uint32_t count = 0;
    if (!code)
        return JS_UNDEFINED;
    JSValue list = JS_NewArray(context), names = JS_NewArray(context);
    for (int i = 0; i < code->closure_var_count; i++) {
        JSClosureVar *used = &code->closure_var[i];
        if (used->closure_type < JS_CLOSURE_GLOBAL_REF || used->closure_type > JS_CLOSURE_GLOBAL)
            JS_SetPropertyUint32(context, names, count++, JS_AtomToString(context, used->var_name));
    }
    JS_SetPropertyUint32(context, list, 0, JS_NewBool(context, code->is_strict_mode));
    JS_SetPropertyUint32(context, list, 1, names);
    return list;
}

/* ---- Atomics ---- */

void *wf_engine_atomic_place(JSContext *context, JSValueConst array, JSValueConst index, unsigned *size,
                             bool *is_shared) {
    JSArrayBuffer *buffer;
    uint64_t at;
    JSObject *object = js_atomics_get_buf(context, array, index, &buffer, &at, 1);
    if (!object)
        return NULL;
    int width = typed_array_size_log2(object->class_id);
    *size = 1u << width;
    *is_shared = buffer->shared;
    return object->u.array.u.uint8_ptr + (at << width);
}
