/* SPDX-License-Identifier: MIT
 *
 * js/zlib.c - packing and unpacking for node:zlib and the streams of the web, by zlib.
 *
 * A packer takes a piece of input and gives at most so much output; who wants the rest calls again with what was not taken. Runs
 * of some size are waits, without the turn and off the loop; small ones, and those of functions that are to be synchronous, happen
 * at once. One run at a time uses a packer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

#if defined(WF_ZLIB) && WF_ZLIB
#include <zlib.h>

/* In the order of js/lib/zlib.js. UNZIP: gzip or zlib, whichever it is. */
enum kind { DEFLATE, INFLATE, GZIP, GUNZIP, DEFLATE_RAW, INFLATE_RAW, UNZIP };

struct packer {
    z_stream stream;
    enum kind kind;
    bool is_open;
    bool is_over; /* the end of what is packed has been read */
    bool is_used;
    Bytef *dictionary;
    size_t dictionary_size;
};

struct packing {
    struct wf_js_wait wait;
    struct packer *packer;
    JSValue object; /* the packer's */
    char *input, *output;
    size_t input_size, room, taken, made;
    int flush;
    int status; /* zlib's */
};

static JSClassID packer_class;

static bool is_packing(enum kind kind) {
    return kind == DEFLATE || kind == GZIP || kind == DEFLATE_RAW;
}

static int window_of(enum kind kind, int bits) {
    switch (kind) {
    case GZIP:
    case GUNZIP:
        return bits + 16;
    case DEFLATE_RAW:
    case INFLATE_RAW:
        return -bits;
    case UNZIP:
        return bits + 32;
    default:
        return bits;
    }
}

static void packer_finalize(JSRuntime *runtime, JSValueConst value) {
    struct packer *packer = JS_GetOpaque(value, packer_class);
    (void)runtime;
    if (!packer)
        return;
    if (packer->is_open && is_packing(packer->kind))
        (void)deflateEnd(&packer->stream);
    else if (packer->is_open)
        (void)inflateEnd(&packer->stream);
    free(packer->dictionary);
    free(packer);
}

/* ---- A run ---- */

static int give_dictionary(struct packer *packer) {
    uInt size = (uInt)packer->dictionary_size;
    if (!packer->dictionary)
        return Z_OK;
    return is_packing(packer->kind) ? deflateSetDictionary(&packer->stream, packer->dictionary, size)
                                    : inflateSetDictionary(&packer->stream, packer->dictionary, size);
}

/* A file of gzip may be several, one behind the other; what follows and is none is left. */
static bool goes_on(struct packer *packer) {
    z_stream *stream = &packer->stream;
    bool is_gzip = packer->kind == GUNZIP || packer->kind == UNZIP;
    if (!is_gzip || stream->avail_in == 0 || stream->next_in[0] != 0x1f)
        return false;
    return inflateReset(stream) == Z_OK;
}

static int unpack(struct packer *packer, int flush) {
    z_stream *stream = &packer->stream;
    int status;
    do {
        status = inflate(stream, flush);
        if (status == Z_NEED_DICT) {
            status = packer->dictionary ? give_dictionary(packer) : Z_NEED_DICT;
            if (status == Z_OK) {
                status = inflate(stream, flush);
            } else if (status == Z_DATA_ERROR) {
                status = Z_NEED_DICT;
                stream->msg = (char *)"Bad dictionary";
            }
        }
    } while (status == Z_STREAM_END && goes_on(packer));
    return status;
}

static int run(struct wf_js_wait *wait) {
    struct packing *packing = (struct packing *)wait;
    struct packer *packer = packing->packer;
    z_stream *stream = &packer->stream;
    stream->next_in = (Bytef *)packing->input;
    stream->avail_in = (uInt)packing->input_size;
    stream->next_out = (Bytef *)packing->output;
    stream->avail_out = (uInt)packing->room;
    if (packer->is_over)
        packing->status = Z_STREAM_END;
    else if (is_packing(packer->kind))
        packing->status = deflate(stream, packing->flush);
    else
        packing->status = unpack(packer, packing->flush);
    packer->is_over = packing->status == Z_STREAM_END;
    packing->taken = packing->input_size - stream->avail_in;
    packing->made = packing->room - stream->avail_out;
    return 0;
}

static void packing_free(JSContext *context, struct packing *packing) {
    packing->packer->is_used = false;
    JS_FreeValue(context, packing->object);
    free(packing->input);
    free(packing->output);
}

/* [output, bytes of the input that were taken, whether it is at its end, zlib's status if that is an error, its text] */
static JSValue finish(JSContext *context, struct wf_js_wait *wait) {
    struct packing *packing = (struct packing *)wait;
    const char *text = packing->packer->stream.msg;
    if (wait->status) {
        packing_free(context, packing);
        return wf_js_throw_errno(context, wait->status, "zlib");
    }
    int status = packing->status;
    bool has_failed = status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR;
    char *fitted = packing->made ? realloc(packing->output, packing->made) : NULL;
    JSValue output = fitted ? wf_js_give_bytes(context, fitted, packing->made) : JS_NewUint8ArrayCopy(context, NULL, 0);
    if (fitted)
        packing->output = NULL;
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, output);
    JS_SetPropertyUint32(context, list, 1, JS_NewInt64(context, (int64_t)packing->taken));
    JS_SetPropertyUint32(context, list, 2, JS_NewBool(context, status == Z_STREAM_END));
    if (has_failed) {
        JS_SetPropertyUint32(context, list, 3, JS_NewInt32(context, status));
        JS_SetPropertyUint32(context, list, 4, text ? JS_NewString(context, text) : JS_UNDEFINED);
    }
    packing_free(context, packing);
    return list;
}

/* ---- For JavaScript ---- */

static int packer_open(struct packer *packer, int level, int bits, int memory, int strategy) {
    int window = window_of(packer->kind, bits);
    int status = is_packing(packer->kind) ? deflateInit2(&packer->stream, level, Z_DEFLATED, window, memory, strategy)
                                          : inflateInit2(&packer->stream, window);
    packer->is_open = status == Z_OK;
    bool is_early = is_packing(packer->kind) || packer->kind == INFLATE_RAW; /* others ask for it */
    return status == Z_OK && is_early ? give_dictionary(packer) : status;
}

/* zlibNew(kind, level, window bits, memory level, strategy, dictionary or undefined); null: something of it is wrong */
static JSValue js_zlib_new(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t numbers[5];
    (void)self;
    if (count < 6)
        return JS_EXCEPTION;
    for (int i = 0; i < 5; i++)
        if (JS_ToInt32(context, &numbers[i], arguments[i]))
            return JS_EXCEPTION;
    struct packer *packer = calloc(1, sizeof *packer);
    JSValue object = packer ? JS_NewObjectClass(context, (int)packer_class) : JS_ThrowOutOfMemory(context);
    if (JS_IsException(object)) {
        free(packer);
        return object;
    }
    JS_SetOpaque(object, packer);
    packer->kind = (enum kind)numbers[0];
    bool has_dictionary = !JS_IsUndefined(arguments[5]);
    int status = Z_OK;
    if (!has_dictionary ||
        wf_js_copy_bytes(context, arguments[5], (char **)&packer->dictionary, &packer->dictionary_size))
        status = packer_open(packer, numbers[1], numbers[2], numbers[3], numbers[4]);
    else
        status = Z_MEM_ERROR;
    if (status == Z_OK)
        return object;
    JS_FreeValue(context, object);
    if (JS_HasException(context))
        return JS_EXCEPTION;
    return status == Z_MEM_ERROR ? JS_ThrowOutOfMemory(context) : JS_NULL;
}

/* zlibRun(packer, bytes, room, flush, at once) -> see finish */
static JSValue js_zlib_run(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct packer *packer = count > 4 ? JS_GetOpaque2(context, arguments[0], packer_class) : NULL;
    int64_t room;
    int32_t flush;
    (void)self;
    if (!packer || JS_ToInt64(context, &room, arguments[2]) || JS_ToInt32(context, &flush, arguments[3]))
        return JS_EXCEPTION;
    if (packer->is_used)
        return JS_ThrowTypeError(context, "The last run has not ended");
    struct packing *packing = calloc(1, sizeof *packing);
    if (!packing)
        return JS_ThrowOutOfMemory(context);
    packing->packer = packer;
    packing->object = JS_DupValue(context, arguments[0]);
    packing->flush = flush;
    packing->room = (size_t)room;
    packing->output = malloc(packing->room + 1);
    packing->wait = (struct wf_js_wait){.wait = run, .finish = finish};
    bool is_good = packing->output && wf_js_copy_bytes(context, arguments[1], &packing->input, &packing->input_size);
    if (!is_good) {
        packing_free(context, packing);
        free(packing);
        return JS_HasException(context) ? JS_EXCEPTION : JS_ThrowOutOfMemory(context);
    }
    packer->is_used = true;
    if (!JS_ToBool(context, arguments[4]))
        return wf_js_perform(context, &packing->wait);
    (void)run(&packing->wait);
    JSValue result = finish(context, &packing->wait);
    free(packing);
    return result;
}

/* zlibReset(packer): as if nothing had been packed */
static JSValue js_zlib_reset(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct packer *packer = count > 0 ? JS_GetOpaque2(context, arguments[0], packer_class) : NULL;
    (void)self;
    if (!packer || packer->is_used)
        return packer ? JS_FALSE : JS_EXCEPTION;
    packer->is_over = false;
    int status = is_packing(packer->kind) ? deflateReset(&packer->stream) : inflateReset(&packer->stream);
    return JS_NewBool(context, status == Z_OK);
}

/* zlibParams(packer, level, strategy): from the next run on; what was packed before has to be flushed */
static JSValue js_zlib_params(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct packer *packer = count > 2 ? JS_GetOpaque2(context, arguments[0], packer_class) : NULL;
    int32_t level, strategy;
    (void)self;
    if (!packer || JS_ToInt32(context, &level, arguments[1]) || JS_ToInt32(context, &strategy, arguments[2]))
        return JS_EXCEPTION;
    if (packer->is_used || !is_packing(packer->kind))
        return JS_FALSE;
    Bytef nothing;
    packer->stream.next_in = packer->stream.next_out = &nothing;
    packer->stream.avail_in = packer->stream.avail_out = 0;
    int status = deflateParams(&packer->stream, level, strategy);
    return JS_NewBool(context, status == Z_OK || status == Z_BUF_ERROR);
}

/* zlibCrc(bytes, value so far) */
static JSValue js_zlib_crc(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    size_t size = 0;
    uint32_t value;
    (void)self;
    const uint8_t *bytes = count > 1 ? JS_GetUint8Array(context, &size, arguments[0]) : NULL;
    if ((!bytes && JS_HasException(context)) || JS_ToUint32(context, &value, arguments[1]))
        return JS_EXCEPTION;
    return JS_NewUint32(context, bytes ? (uint32_t)crc32_z(value, bytes, size) : value);
}

int wf_js_add_zlib(JSContext *context, JSValueConst host) {
    static const JSClassDef packers = {.class_name = "PackerHandle", .finalizer = packer_finalize};
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("zlibNew", 6, js_zlib_new),     JS_CFUNC_DEF("zlibRun", 5, js_zlib_run),
        JS_CFUNC_DEF("zlibReset", 1, js_zlib_reset), JS_CFUNC_DEF("zlibParams", 3, js_zlib_params),
        JS_CFUNC_DEF("zlibCrc", 2, js_zlib_crc),
    };
    wf_js_new_class(JS_GetRuntime(context), &packer_class, &packers);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}

#else

int wf_js_add_zlib(JSContext *context, JSValueConst host) {
    (void)context, (void)host;
    return 0;
}

#endif
