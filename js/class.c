/* SPDX-License-Identifier: MIT
 *
 * js/class.c - classes made of C: their constructors, and objects that stand for pointers.
 *
 * For the engine all of their objects are of one class, whose block says which definition they belong to: so a pointer is given only to
 * functions of the class that it was made by, whatever a script has done to prototypes. An instance knows the definitions that were
 * used in it, with constructor and prototype, by their number, which the constructor has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* CLASSES_MOST: the number is one of 16 bits in the engine. */
enum { CLASSES_MOST = INT16_MAX };

struct wf_js_known_class {
    const weft_js_class *definition;
    JSValue constructor, prototype;
};

struct object {
    const weft_js_class *definition;
    void *pointer;
};

static JSClassID object_class;

static void finalize(weft_js *js, const weft_js_class *definition, void *pointer) {
    if (!definition->finalize)
        return;
    js->embed.finalizing++;
    definition->finalize(pointer, definition->arg);
    js->embed.finalizing--;
}

static void object_finalize(JSRuntime *runtime, JSValueConst value) {
    struct object *object = JS_GetOpaque(value, object_class);
    if (!object)
        return;
    finalize(JS_GetRuntimeOpaque(runtime), object->definition, object->pointer);
    free(object);
}

bool wf_js_is_class_object(JSValueConst value) {
    return JS_GetOpaque(value, object_class) != NULL;
}

void *wf_js_pointer_of(JSContext *context, JSValueConst value, const weft_js_class *definition) {
    struct object *object = JS_GetOpaque(value, object_class);
    if (object && object->definition == definition)
        return object->pointer;
    JS_ThrowTypeError(context, "not an object of class %s", definition->name);
    return NULL;
}

/* The pointer is taken over. */
static JSValue new_object(JSContext *context, const weft_js_class *definition, JSValueConst prototype, void *pointer) {
    struct object *object = malloc(sizeof *object);
    JSValue value = object ? JS_NewObjectProtoClass(context, prototype, object_class) : JS_ThrowOutOfMemory(context);
    if (!object || JS_IsException(value)) {
        finalize(wf_js_of(context), definition, pointer);
        free(object);
        return value;
    }
    *object = (struct object){definition, pointer};
    JS_SetOpaque(value, object);
    return value;
}

/* ---- Constructors ---- */

static JSValue construct(JSContext *context, JSValueConst target, int count, JSValueConst *arguments, int number) {
    const weft_js_class *definition = wf_js_of(context)->embed.classes[number].definition;
    const struct wf_js_native native = {
        .construct = definition->construct, .length = definition->length, .arg = definition->arg};
    void *pointer = NULL;
    if (!definition->construct)
        return JS_ThrowTypeError(context, "Illegal constructor");
    JSValue prototype = JS_GetPropertyStr(context, target, "prototype"); /* of a class that extends it, maybe */
    if (JS_IsException(prototype))
        return prototype;
    JSValue done = wf_js_call_native(context, &native, JS_UNDEFINED, count, arguments, &pointer);
    bool has_failed = JS_IsException(done) || !pointer;
    JS_FreeValue(context, done);
    if (has_failed && pointer)
        finalize(wf_js_of(context), definition, pointer);
    JSValue object = JS_EXCEPTION;
    if (!has_failed)
        object = new_object(context, definition, prototype, pointer);
    else if (!JS_IsException(done))
        JS_ThrowTypeError(context, "%s cannot be made of that", definition->name);
    JS_FreeValue(context, prototype);
    return object;
}

static JSValue member_function(JSContext *context, const weft_js_class *definition, const weft_js_member *member,
                               weft_js_native fn, int length) {
    const struct wf_js_native native = {
        .fn = fn, .length = length, .arg = definition->arg, .definition = member->is_static ? NULL : definition};
    return fn ? wf_js_new_native(context, member->name, &native) : JS_UNDEFINED;
}

static int add_member(JSContext *context, JSValueConst target, const weft_js_class *definition,
                      const weft_js_member *member) {
    JSValue method = member_function(context, definition, member, member->method, member->length);
    if (JS_IsException(method))
        return -1;
    if (member->method)
        return JS_DefinePropertyValueStr(context, target, member->name, method,
                                         JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    JSValue get = member_function(context, definition, member, member->get, 0);
    JSValue set = member_function(context, definition, member, member->set, 1);
    JSAtom name = JS_NewAtom(context, member->name);
    if (!JS_IsException(get) && !JS_IsException(set) && name != JS_ATOM_NULL) {
        int done = JS_DefinePropertyGetSet(context, target, name, get, set, JS_PROP_CONFIGURABLE);
        JS_FreeAtom(context, name);
        return done;
    }
    JS_FreeAtom(context, name);
    JS_FreeValue(context, get);
    JS_FreeValue(context, set);
    return -1;
}

static int fill(JSContext *context, const struct wf_js_known_class *known) {
    const weft_js_member *member = known->definition->members;
    JS_SetConstructor(context, known->constructor, known->prototype);
    for (int failed = 0; member && member->name; member++) {
        failed =
            add_member(context, member->is_static ? known->constructor : known->prototype, known->definition, member);
        if (failed < 0)
            return -1;
    }
    return 0;
}

/* The class, as this instance knows it; NULL: an exception. */
static struct wf_js_known_class *know(weft_js *js, const weft_js_class *definition) {
    JSContext *context = js->context;
    struct wf_js_embed *embed = &js->embed;
    for (int i = 0; i < embed->class_count; i++)
        if (embed->classes[i].definition == definition)
            return &embed->classes[i];
    struct wf_js_known_class *longer = NULL;
    if (embed->class_count < CLASSES_MOST)
        longer = realloc(embed->classes, ((size_t)embed->class_count + 1) * sizeof *longer);
    if (!longer) {
        JS_ThrowOutOfMemory(context);
        return NULL;
    }
    embed->classes = longer;
    struct wf_js_known_class known = {definition, JS_UNDEFINED, JS_NewObject(context)};
    JSCFunctionType type = {.constructor_magic = construct};
    if (!JS_IsException(known.prototype))
        known.constructor = JS_NewCFunction2(context, type.generic, definition->name, definition->length,
                                             JS_CFUNC_constructor_magic, embed->class_count);
    bool is_bad = JS_IsException(known.prototype) || JS_IsException(known.constructor) || fill(context, &known) < 0;
    if (is_bad) {
        JS_FreeValue(context, known.constructor);
        JS_FreeValue(context, known.prototype);
        return NULL;
    }
    embed->classes[embed->class_count] = known;
    return &embed->classes[embed->class_count++];
}

void wf_js_drop_classes(weft_js *js) {
    struct wf_js_embed *embed = &js->embed;
    for (int i = 0; i < embed->class_count; i++) {
        JS_FreeValue(js->context, embed->classes[i].constructor);
        JS_FreeValue(js->context, embed->classes[i].prototype);
    }
    free(embed->classes);
    embed->classes = NULL;
    embed->class_count = 0;
}

/* ---- For C ---- */

static struct wf_js_known_class *know_or_fail(weft_js *js, const weft_js_class *definition) {
    if (!definition || !definition->name) {
        wf_js_fail_type(js, -EINVAL, "a class of C needs a definition with a name");
        return NULL;
    }
    struct wf_js_known_class *known = know(js, definition);
    if (!known)
        wf_js_fail(js, -ENOMEM);
    return known;
}

weft_js_value weft_js_constructor(weft_js *js, const weft_js_class *definition) {
    struct wf_js_known_class *known = wf_js_is_usable(js) ? know_or_fail(js, definition) : NULL;
    return known ? wf_js_hand(js, JS_DupValue(js->context, known->constructor)) : (weft_js_value){0};
}

weft_js_value weft_js_wrap(weft_js *js, const weft_js_class *definition, void *pointer) {
    struct wf_js_known_class *known = wf_js_is_usable(js) ? know_or_fail(js, definition) : NULL;
    if (known && pointer)
        return wf_js_hand_or(js, new_object(js->context, definition, known->prototype, pointer), -ENOMEM);
    if (known)
        wf_js_fail_type(js, -EINVAL, "an object of class %s needs a pointer", definition->name);
    else if (pointer && definition && definition->finalize)
        definition->finalize(pointer, definition->arg);
    return (weft_js_value){0};
}

void *weft_js_unwrap(weft_js *js, weft_js_value value, const weft_js_class *definition) {
    if (!wf_js_is_usable(js))
        return NULL;
    if (!definition) {
        wf_js_fail_type(js, -EINVAL, "a class of C needs a definition");
        return NULL;
    }
    JSValue taken = wf_js_take(js, value);
    if (JS_IsException(taken))
        return NULL;
    void *pointer = wf_js_pointer_of(js->context, taken, definition);
    JS_FreeValue(js->context, taken);
    if (!pointer)
        wf_js_fail(js, -EINVAL);
    return pointer;
}

int wf_js_add_classes(JSContext *context) {
    static const JSClassDef definition = {.class_name = "NativeObject", .finalizer = object_finalize};
    wf_js_new_class(JS_GetRuntime(context), &object_class, &definition);
    return 0;
}
