/* SPDX-License-Identifier: MIT
 *
 * js/http_head.c - heads of HTTP exchanges: what JavaScript can ask of a request, and what it says in a response.
 *
 * Values of fields are bytes; in JavaScript each byte is a character, so those above 0x7f are characters of Latin-1.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exchange.h"

/* FIELDS_MOST: less than what the server has room for, where each text takes two bytes more than its own. */
enum { FIELDS_MOST = 12 * 1000 };

enum { METHOD, TARGET, IS_NEW, HEAD_TEXTS, SIZE };

/* ---- The request ---- */

JSValue wf_js_new_latin1(JSContext *context, const char *text) {
    size_t size = strlen(text), high = 0;
    for (size_t i = 0; i < size; i++)
        high += (unsigned char)text[i] >> 7;
    if (high == 0)
        return JS_NewStringLen(context, text, size);
    char *longer = malloc(size + high), *at = longer;
    if (!longer)
        return JS_ThrowOutOfMemory(context);
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x80) {
            *at++ = (char)(0xc0 | byte >> 6);
            byte = 0x80 | (byte & 0x3f);
        }
        *at++ = (char)byte;
    }
    JSValue string = JS_NewStringLen(context, longer, size + high);
    free(longer);
    return string;
}

void wf_js_keep_head(struct wf_js_handle *handle) {
    weft_http *http = handle->exchange->http;
    const char *texts[HEAD_TEXTS] = {weft_http_method(http), weft_http_target(http),
                                     weft_http_is_1_1(http) ? "1" : "0"};
    const char *name, *value;
    size_t size = 0;
    (void)weft_http_peer(http, &handle->peer);
    for (size_t i = 0; i < HEAD_TEXTS; i++)
        size += strlen(texts[i]) + 1;
    for (size_t i = 0; weft_http_header_at(http, i, &name, &value); i++)
        size += strlen(name) + strlen(value) + 2;
    char *at = handle->head = malloc(size);
    if (!at)
        return;
    handle->head_size = size;
    for (size_t i = 0; i < HEAD_TEXTS; i++)
        at = stpcpy(at, texts[i]) + 1;
    for (size_t i = 0; weft_http_header_at(http, i, &name, &value); i++)
        at = stpcpy(stpcpy(at, name) + 1, value) + 1;
}

/* httpMethod(exchange), httpTarget(exchange), httpIsNew(exchange), httpSize(exchange) */
static JSValue js_http_ask(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int what) {
    struct wf_js_handle *handle = wf_js_handle_of(context, count, arguments);
    (void)self;
    if (!handle)
        return JS_EXCEPTION;
    weft_http *http = handle->exchange ? handle->exchange->http : NULL;
    if (what == SIZE)
        return JS_NewInt64(context, http ? weft_http_body_size(http) : 0);
    if (!http && !handle->head)
        return JS_UNDEFINED;
    const char *kept = handle->head;
    for (int i = 0; i < what && !http; i++)
        kept += strlen(kept) + 1;
    if (what == IS_NEW)
        return JS_NewBool(context, http ? weft_http_is_1_1(http) : *kept == '1');
    return wf_js_new_latin1(context, !http ? kept : what == METHOD ? weft_http_method(http) : weft_http_target(http));
}

/* keep(object, name, value) -> value, which is the object's own from now on */
static JSValue js_keep(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self;
    JSAtom name = count > 2 ? JS_ValueToAtom(context, arguments[1]) : JS_ATOM_NULL;
    if (name == JS_ATOM_NULL)
        return JS_EXCEPTION;
    int result = JS_DefinePropertyValue(context, arguments[0], name, JS_DupValue(context, arguments[2]),
                                        JS_PROP_C_W_E | JS_PROP_THROW);
    JS_FreeAtom(context, name);
    return result < 0 ? JS_EXCEPTION : JS_DupValue(context, arguments[2]);
}

/* httpPeer(exchange) -> the client's address; undefined: nobody knows */
static JSValue js_http_peer(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_handle *handle = wf_js_handle_of(context, count, arguments);
    char text[WEFT_ADDRESS_TEXT];
    (void)self;
    if (!handle)
        return JS_EXCEPTION;
    if (handle->exchange)
        (void)weft_http_peer(handle->exchange->http, &handle->peer);
    return weft_address_format(&handle->peer, text, sizeof text) < 0 ? JS_UNDEFINED : JS_NewString(context, text);
}

static void push_pair(JSContext *context, JSValue list, uint32_t *index, const char *name, const char *value) {
    JS_SetPropertyUint32(context, list, (*index)++, wf_js_new_latin1(context, name));
    JS_SetPropertyUint32(context, list, (*index)++, wf_js_new_latin1(context, value));
}

/* httpHeaders(exchange) -> [name, value, ...] */
static JSValue js_http_headers(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_handle *handle = wf_js_handle_of(context, count, arguments);
    const char *name, *value;
    uint32_t index = 0;
    (void)self;
    if (!handle)
        return JS_EXCEPTION;
    JSValue list = JS_NewArray(context);
    if (handle->exchange) {
        for (size_t i = 0; weft_http_header_at(handle->exchange->http, i, &name, &value); i++)
            push_pair(context, list, &index, name, value);
        return list;
    }
    const char *at = handle->head, *end = at + handle->head_size;
    for (int i = 0; i < HEAD_TEXTS && at < end; i++)
        at += strlen(at) + 1;
    for (; at < end; at = value + strlen(value) + 1) {
        value = at + strlen(at) + 1;
        push_pair(context, list, &index, at, value);
    }
    return list;
}

/* httpTrailers(exchange) -> [name, value, ...], once the body has been read */
static JSValue js_http_trailers(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_handle *handle = wf_js_handle_of(context, count, arguments);
    const char *name, *value;
    uint32_t index = 0;
    (void)self;
    if (!handle)
        return JS_EXCEPTION;
    JSValue list = JS_NewArray(context);
    for (size_t i = 0; handle->exchange && weft_http_trailer_at(handle->exchange->http, i, &name, &value); i++)
        push_pair(context, list, &index, name, value);
    return list;
}

/* httpParameter(exchange, name): of its route; undefined when it is over */
static JSValue js_http_parameter(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_handle *handle = wf_js_handle_of(context, count, arguments);
    (void)self;
    const char *name = handle && count > 1 ? JS_ToCString(context, arguments[1]) : NULL;
    if (!name)
        return JS_EXCEPTION;
    const char *value = handle->exchange ? weft_http_parameter(handle->exchange->http, name) : NULL;
    JS_FreeCString(context, name);
    return value ? wf_js_new_text(context, value, strlen(value)) : JS_UNDEFINED;
}

/* httpLimit(exchange, bytes): how long its body may be */
static JSValue js_http_limit(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_handle *handle = wf_js_handle_of(context, count, arguments);
    int64_t bytes;
    (void)self;
    if (!handle || count < 2 || JS_ToInt64(context, &bytes, arguments[1]))
        return JS_EXCEPTION;
    if (handle->exchange)
        weft_http_limit_body(handle->exchange->http, bytes < 0 ? UINT64_MAX : (uint64_t)bytes);
    return JS_UNDEFINED;
}

/* ---- The response ---- */

/* What a name may be made of, and a value; and one of ASCII alone. */
enum { IN_NAMES = 1, IN_VALUES = 2, IN_PLAIN_VALUES = 4 };

static const uint8_t kinds[256] = {
    ['\t'] = 6, [' '] = 6,         ['!'] = 7,         ['"'] = 6,         ['#' ... '\''] = 7,  ['('] = 6,
    [')'] = 6,  ['*'] = 7,         ['+'] = 7,         [','] = 6,         ['-'] = 7,           ['.'] = 7,
    ['/'] = 6,  ['0' ... '9'] = 7, [':' ... '@'] = 6, ['A' ... 'Z'] = 7, ['[' ... ']'] = 6,   ['^' ... 'z'] = 7,
    ['{'] = 6,  ['|'] = 7,         ['}'] = 6,         ['~'] = 7,         [0x80 ... 0xff] = 2,
};

static bool is_made_of(const char *text, size_t size, unsigned kind) {
    for (size_t i = 0; i < size; i++)
        if (!(kinds[(unsigned char)text[i]] & kind))
            return false;
    return true;
}

/* In place: characters of Latin-1 from UTF-8. False: there are others, which no field can have. */
static bool to_latin1(char *text, size_t *size) {
    size_t to = 0;
    for (size_t from = 0; from < *size; from++) {
        unsigned char byte = (unsigned char)text[from];
        if (byte >= 0xc4)
            return false;
        if (byte >= 0xc0)
            byte = (unsigned char)(byte << 6 | ((unsigned char)text[++from] & 0x3f));
        text[to++] = (char)byte;
    }
    *size = to;
    return true;
}

char *wf_js_copy_latin1(JSContext *context, JSValueConst value) {
    char *text = wf_js_copy_text(context, value);
    size_t size = text ? strlen(text) : 0;
    if (text && to_latin1(text, &size)) {
        text[size] = 0;
        return text;
    }
    if (text)
        JS_ThrowTypeError(context, "A text with characters that no field may have");
    free(text);
    return NULL;
}

/* httpCheck(name, value): 0; 1 for a name that none can be, 2 for such a value */
static JSValue js_http_check(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    size_t sizes[2] = {0, 0};
    (void)self;
    if (count < 2)
        return JS_EXCEPTION;
    const char *name = JS_ToCStringLen(context, &sizes[0], arguments[0]);
    const char *value = name ? JS_ToCStringLen(context, &sizes[1], arguments[1]) : NULL;
    int verdict = -1;
    if (value)
        verdict = sizes[0] == 0 || !is_made_of(name, sizes[0], IN_NAMES) ? 1
                  : is_made_of(value, sizes[1], IN_VALUES)               ? 0
                                                                         : 2;
    for (size_t i = 0; verdict == 0 && i < sizes[1]; i++)
        if ((unsigned char)value[i] >= 0xc4) /* it begins a character beyond Latin-1 */
            verdict = 2;
    JS_FreeCString(context, name);
    JS_FreeCString(context, value);
    return verdict < 0 ? JS_EXCEPTION : JS_NewInt32(context, verdict);
}

/* What the server says itself. */
static bool is_own(const char *name, size_t size) {
    static const char *const names[] = {"connection", "transfer-encoding", "date", "keep-alive"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (size == strlen(names[i]) && !strncasecmp(name, names[i], size))
            return true;
    return false;
}

/* Whether it is a text of plain characters of this kind, not an empty one and no name of the server's. -1: an exception. */
static int is_plain_text(JSContext *context, JSValueConst string, unsigned kind) {
    struct wf_engine_text text;
    if (wf_engine_text_of(context, string, &text))
        return -1;
    bool is_plain = text.width < 2 && text.length > 0 && is_made_of(text.characters, text.length, kind) &&
                    (kind != IN_NAMES || !is_own(text.characters, text.length));
    wf_engine_text_done(context, &text);
    return is_plain;
}

/* Adds one field of an object to a list: 1; 0 for one that wants a closer look, -1 with an exception. */
static int add_plain_field(JSContext *context, JSValueConst object, JSAtom atom, JSValueConst list, uint32_t at) {
    JSValue name = JS_AtomToString(context, atom), value = JS_GetProperty(context, object, atom);
    int verdict = JS_IsException(name) || JS_IsException(value) ? -1 : is_plain_text(context, name, IN_NAMES);
    if (verdict > 0 && !JS_IsNumber(value))
        verdict = JS_IsString(value) ? is_plain_text(context, value, IN_PLAIN_VALUES) : 0;
    if (verdict > 0 && (JS_SetPropertyUint32(context, list, at, JS_DupValue(context, name)) < 0 ||
                        JS_SetPropertyUint32(context, list, at + 1, JS_DupValue(context, value)) < 0))
        verdict = -1;
    JS_FreeValue(context, name);
    JS_FreeValue(context, value);
    return verdict;
}

/* httpFields(object) -> [name, value, ...], as they can be sent; undefined when one of them wants a closer look */
static JSValue js_http_fields(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    JSPropertyEnum *names = NULL;
    uint32_t length = 0;
    int verdict = 1;
    (void)self;
    if (count < 1 || !JS_IsObject(arguments[0]))
        return JS_UNDEFINED;
    if (JS_GetOwnPropertyNames(context, &names, &length, arguments[0], JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return JS_EXCEPTION;
    JSValue list = JS_NewArray(context);
    if (JS_IsException(list))
        verdict = -1;
    for (uint32_t i = 0; verdict > 0 && i < length; i++)
        verdict = add_plain_field(context, arguments[0], names[i].atom, list, 2 * i);
    JS_FreePropertyEnum(context, names, length);
    if (verdict > 0)
        return list;
    JS_FreeValue(context, list);
    return verdict < 0 ? JS_EXCEPTION : JS_UNDEFINED;
}

/* Adds characters, with a zero. False: there is no memory for them, or no field can have them. */
static bool add_characters(struct wf_js_exchange *exchange, const struct wf_engine_text *text, bool *fits) {
    const uint16_t *wide = text->characters;
    size_t size = text->length;
    char *longer = realloc(exchange->fields, exchange->fields_size + size + 1);
    if (!longer)
        return false;
    exchange->fields = longer;
    longer += exchange->fields_size;
    if (text->width < 2)
        memcpy(longer, text->characters, size);
    for (size_t i = 0; text->width == 2 && i < size; i++) {
        *fits &= wide[i] <= 0xff;
        longer[i] = (char)wide[i];
    }
    if (memchr(longer, 0, size) || (text->width == 0 && !to_latin1(longer, &size)))
        *fits = false;
    longer[size] = 0;
    exchange->fields_size += size + 1;
    return *fits;
}

/* Adds a text; index: how many there are. */
static bool add_text(JSContext *context, struct wf_js_exchange *exchange, JSValue value, size_t index) {
    struct wf_engine_text text;
    JSValue string = JS_ToString(context, value);
    JS_FreeValue(context, value);
    bool is_there = !JS_IsException(string) && !wf_engine_text_of(context, string, &text);
    JS_FreeValue(context, string);
    if (!is_there)
        return false;
    bool fits = exchange->fields_size + text.length + index < FIELDS_MOST;
    bool is_added = fits && add_characters(exchange, &text, &fits);
    wf_engine_text_done(context, &text);
    if (is_added)
        return true;
    if (fits)
        JS_ThrowOutOfMemory(context);
    else
        JS_ThrowTypeError(context, "Header fields that are too long, or have characters that none may have");
    return false;
}

/* Half a list is none. */
static int take_fields(JSContext *context, struct wf_js_exchange *exchange, JSValueConst list) {
    int64_t length = 0;
    exchange->fields_size = 0;
    if (!JS_IsUndefined(list) && JS_GetLength(context, list, &length))
        return -1;
    for (int64_t i = 0; i < length; i++) {
        if (!add_text(context, exchange, JS_GetPropertyUint32(context, list, (uint32_t)i), (size_t)i)) {
            exchange->fields_size = 0;
            return -1;
        }
    }
    if (length % 2 == 0)
        return 0;
    exchange->fields_size = 0;
    JS_ThrowTypeError(context, "A field has no value");
    return -1;
}

int wf_js_take_head(JSContext *context, struct wf_js_exchange *exchange, int count, JSValueConst *arguments) {
    enum { STATUS = 1, FIELDS, REASON, CLOSES };
    int32_t status;
    if (count <= CLOSES || JS_ToInt32(context, &status, arguments[STATUS]))
        return -1;
    if (exchange->status == 0)
        return JS_ThrowTypeError(context, "The response has begun"), -1;
    if (status < 200 || status > 999)
        return JS_ThrowRangeError(context, "The status has to be 200 to 999"), -1;
    if (!JS_IsUndefined(arguments[REASON])) {
        char *reason = wf_js_copy_text(context, arguments[REASON]);
        if (!reason)
            return -1;
        free(exchange->reason);
        exchange->reason = reason;
    }
    if (take_fields(context, exchange, arguments[FIELDS]))
        return -1;
    exchange->closes = JS_ToBool(context, arguments[CLOSES]);
    exchange->status = status;
    return 0;
}

int wf_js_take_trailers(JSContext *context, struct wf_js_exchange *exchange, JSValueConst list) {
    if (exchange->status != 0)
        return JS_ThrowTypeError(context, "The response has not begun"), -1;
    return take_fields(context, exchange, list);
}

int wf_js_add_heads(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_MAGIC_DEF("httpMethod", 1, js_http_ask, METHOD),
        JS_CFUNC_MAGIC_DEF("httpTarget", 1, js_http_ask, TARGET),
        JS_CFUNC_MAGIC_DEF("httpIsNew", 1, js_http_ask, IS_NEW),
        JS_CFUNC_DEF("keep", 3, js_keep),
        JS_CFUNC_DEF("httpPeer", 1, js_http_peer),
        JS_CFUNC_MAGIC_DEF("httpSize", 1, js_http_ask, SIZE),
        JS_CFUNC_DEF("httpHeaders", 1, js_http_headers),
        JS_CFUNC_DEF("httpTrailers", 1, js_http_trailers),
        JS_CFUNC_DEF("httpParameter", 2, js_http_parameter),
        JS_CFUNC_DEF("httpLimit", 2, js_http_limit),
        JS_CFUNC_DEF("httpCheck", 2, js_http_check),
        JS_CFUNC_DEF("httpFields", 1, js_http_fields),
    };
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
