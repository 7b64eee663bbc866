/* SPDX-License-Identifier: MIT
 *
 * js/property.c - what C does with objects: properties and calls.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static const weft_js_value none;

weft_js_value weft_js_global(weft_js *js) {
    return wf_js_is_usable(js) ? wf_js_hand(js, JS_GetGlobalObject(js->context)) : none;
}

/* ---- Properties ---- */

/* An atom that is to be freed; JS_ATOM_NULL: something is pending. */
static JSAtom atom_of(weft_js *js, const char *name) {
    if (!name || !wf_js_is_utf8(name, strlen(name))) {
        wf_js_fail_type(js, name ? -EILSEQ : -EINVAL, "the name of a property is %s", name ? "not UTF-8" : "null");
        return JS_ATOM_NULL;
    }
    JSAtom atom = JS_NewAtom(js->context, name);
    if (atom == JS_ATOM_NULL)
        wf_js_fail(js, -ENOMEM);
    return atom;
}

static JSAtom atom_of_key(weft_js *js, weft_js_value key) {
    JSValue taken = wf_js_take(js, key);
    if (JS_IsException(taken))
        return JS_ATOM_NULL;
    JSAtom atom = JS_ValueToAtom(js->context, taken);
    JS_FreeValue(js->context, taken);
    if (atom == JS_ATOM_NULL)
        wf_js_fail(js, -EOWNERDEAD);
    return atom;
}

/* Takes the atom over. */
static weft_js_value get_atom(weft_js *js, weft_js_value object, JSAtom atom) {
    JSValue taken = atom == JS_ATOM_NULL ? JS_EXCEPTION : wf_js_take(js, object);
    JSValue value = JS_EXCEPTION;
    if (!JS_IsException(taken))
        value = JS_GetProperty(js->context, taken, atom);
    JS_FreeValue(js->context, taken);
    JS_FreeAtom(js->context, atom);
    return wf_js_running(js)->status ? none : wf_js_hand(js, value);
}

static int set_atom(weft_js *js, weft_js_value object, JSAtom atom, weft_js_value value) {
    JSValue taken[2];
    if (atom == JS_ATOM_NULL || !wf_js_take_all(js, 2, (weft_js_value[]){object, value}, taken)) {
        JS_FreeAtom(js->context, atom);
        return wf_js_running(js)->status;
    }
    int done = JS_SetProperty(js->context, taken[0], atom, taken[1]); /* takes the value over */
    JS_FreeValue(js->context, taken[0]);
    JS_FreeAtom(js->context, atom);
    return done < 0 ? wf_js_fail(js, -EOWNERDEAD) : 0;
}

weft_js_value weft_js_get(weft_js *js, weft_js_value object, const char *name) {
    return wf_js_is_usable(js) ? get_atom(js, object, atom_of(js, name)) : none;
}

weft_js_value weft_js_get_at(weft_js *js, weft_js_value object, uint32_t index) {
    return wf_js_is_usable(js) ? get_atom(js, object, JS_NewAtomUInt32(js->context, index)) : none;
}

weft_js_value weft_js_get_key(weft_js *js, weft_js_value object, weft_js_value key) {
    return wf_js_is_usable(js) ? get_atom(js, object, atom_of_key(js, key)) : none;
}

int weft_js_set(weft_js *js, weft_js_value object, const char *name, weft_js_value value) {
    return wf_js_is_usable(js) ? set_atom(js, object, atom_of(js, name), value) : weft_js_pending(js);
}

int weft_js_set_at(weft_js *js, weft_js_value object, uint32_t index, weft_js_value value) {
    return wf_js_is_usable(js) ? set_atom(js, object, JS_NewAtomUInt32(js->context, index), value)
                               : weft_js_pending(js);
}

int weft_js_set_key(weft_js *js, weft_js_value object, weft_js_value key, weft_js_value value) {
    return wf_js_is_usable(js) ? set_atom(js, object, atom_of_key(js, key), value) : weft_js_pending(js);
}

/* What is asked of an object about a name: has or remove. */
static int ask(weft_js *js, weft_js_value object, const char *name, bool removes) {
    if (!wf_js_is_usable(js))
        return weft_js_pending(js);
    JSAtom atom = atom_of(js, name);
    JSValue taken = atom == JS_ATOM_NULL ? JS_EXCEPTION : wf_js_take(js, object);
    int answer = -1;
    if (!JS_IsException(taken) && !JS_IsObject(taken))
        JS_ThrowTypeError(js->context, "not an object");
    else if (!JS_IsException(taken))
        answer = removes ? JS_DeleteProperty(js->context, taken, atom, JS_PROP_THROW)
                         : JS_HasProperty(js->context, taken, atom);
    JS_FreeValue(js->context, taken);
    JS_FreeAtom(js->context, atom);
    if (answer < 0)
        return wf_js_running(js)->status ? wf_js_running(js)->status : wf_js_fail(js, -EOWNERDEAD);
    return removes ? 0 : answer;
}

int weft_js_has(weft_js *js, weft_js_value object, const char *name) {
    return ask(js, object, name, false);
}

int weft_js_remove(weft_js *js, weft_js_value object, const char *name) {
    return ask(js, object, name, true);
}

static JSValue keys_of(JSContext *context, JSValueConst object) {
    JSPropertyEnum *names;
    uint32_t count;
    if (JS_GetOwnPropertyNames(context, &names, &count, object, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return JS_EXCEPTION;
    JSValue list = JS_NewArray(context);
    int error = JS_IsException(list) ? -1 : 0;
    for (uint32_t i = 0; i < count && error >= 0; i++)
        error = JS_SetPropertyUint32(context, list, i, JS_AtomToString(context, names[i].atom));
    JS_FreePropertyEnum(context, names, count);
    if (error >= 0)
        return list;
    JS_FreeValue(context, list);
    return JS_EXCEPTION;
}

weft_js_value weft_js_keys(weft_js *js, weft_js_value object) {
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, object) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return none;
    if (!JS_IsObject(taken))
        JS_ThrowTypeError(js->context, "not an object");
    JSValue list = JS_IsObject(taken) ? keys_of(js->context, taken) : JS_EXCEPTION;
    JS_FreeValue(js->context, taken);
    return wf_js_hand(js, list);
}

int64_t weft_js_length(weft_js *js, weft_js_value object) {
    int64_t length = 0;
    JSValue taken = wf_js_is_usable(js) ? wf_js_take(js, object) : JS_EXCEPTION;
    if (JS_IsException(taken))
        return 0;
    if (JS_GetLength(js->context, taken, &length)) {
        wf_js_fail(js, -EOWNERDEAD);
        length = 0;
    }
    JS_FreeValue(js->context, taken);
    return length;
}

/* ---- Calls ---- */

/* FEW: values that need no memory of their own. */
enum { FEW = 8 };

enum way { CALL, METHOD, CONSTRUCT };

static JSValue go(JSContext *context, enum way way, JSValueConst fn, JSValueConst self, int count, JSValue *values) {
    return way == CONSTRUCT ? JS_CallConstructor(context, fn, count, values)
                            : JS_Call(context, fn, self, count, values);
}

/* The function and this are taken over. */
static weft_js_value call(weft_js *js, enum way way, JSValue fn, JSValue self, int count,
                          const weft_js_value *handles) {
    JSContext *context = js->context;
    JSValue few[FEW], *values = few, result = JS_EXCEPTION;
    if (JS_IsException(fn) || JS_IsException(self)) {
        /* pending, or thrown by the engine */
    } else if (count < 0 || (count > 0 && !handles)) {
        wf_js_fail_type(js, -EINVAL, "a call of C has no values");
    } else if (count > FEW && !(values = malloc((size_t)count * sizeof *values))) {
        JS_ThrowOutOfMemory(context);
    } else if (wf_js_take_all(js, count, handles, values)) {
        result = go(context, way, fn, self, count, values);
        wf_js_give_all(js, count, values);
    }
    if (values != few)
        free(values);
    JS_FreeValue(context, fn);
    JS_FreeValue(context, self);
    return wf_js_running(js)->status ? none : wf_js_hand(js, result);
}

weft_js_value weft_js_call(weft_js *js, weft_js_value fn, weft_js_value self, int count, const weft_js_value *values) {
    if (!wf_js_is_usable(js))
        return none;
    JSValue taken = wf_js_take(js, fn);
    return call(js, CALL, taken, JS_IsException(taken) ? taken : wf_js_take(js, self), count, values);
}

weft_js_value weft_js_call_method(weft_js *js, weft_js_value object, const char *name, int count,
                                  const weft_js_value *values) {
    if (!wf_js_is_usable(js))
        return none;
    JSAtom atom = atom_of(js, name);
    JSValue self = atom == JS_ATOM_NULL ? JS_EXCEPTION : wf_js_take(js, object);
    JSValue fn = JS_IsException(self) ? JS_EXCEPTION : JS_GetProperty(js->context, self, atom);
    JS_FreeAtom(js->context, atom);
    return call(js, METHOD, fn, self, count, values);
}

weft_js_value weft_js_construct(weft_js *js, weft_js_value constructor, int count, const weft_js_value *values) {
    return wf_js_is_usable(js) ? call(js, CONSTRUCT, wf_js_take(js, constructor), JS_UNDEFINED, count, values) : none;
}
