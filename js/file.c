/* SPDX-License-Identifier: MIT
 *
 * js/file.c - open files and their numbers, and how calls are made. Model: js/file.h.
 *
 * What is read from a terminal or a pipe must not block the thread, yet making the descriptor non-blocking would make it so for
 * every process that shares it. So terminals and pipes are opened a second time when they are adopted, and that one is ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

enum { NOW, WAIT, PROMISE };
enum { TABLE_BITS = 6, NUMBERS_FIRST = 16 };

static const struct wf_js_file_operation *const tables[] = {wf_js_file_bytes, wf_js_file_names, wf_js_file_folders};

static JSClassID file_class;

static struct wf_js_file *file_adopt(weft_js *js, int number);
static bool take_arguments(JSContext *context, struct wf_js_file_call *call, int count, JSValueConst *arguments);
static int call_wait(struct wf_js_wait *wait);
static JSValue call_finish(JSContext *context, struct wf_js_wait *wait);
static void call_clear(JSContext *context, struct wf_js_file_call *call);

/* ---- Open files ---- */

static struct wf_js_file *file_new(weft_fd fd) {
    struct wf_js_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->fd = fd;
    file->number = -1;
    file->references = 1;
    return file;
}

static void file_unref(weft_js *js, struct wf_js_file *file) {
    if (!file || --file->references > 0)
        return;
    wf_js_file_forget(js, file);
    (void)weft_close(file->fd); // NOLINT(clang-analyzer-unix.Malloc): references are counted
    free(file);
}

static void file_finalize(JSRuntime *runtime, JSValueConst value) {
    struct wf_js_file *file = JS_GetOpaque(value, file_class);
    if (file)
        file_unref(JS_GetRuntimeOpaque(runtime), file);
}

static bool table_set(weft_js *js, struct wf_js_file *file, int number) {
    if (number >= js->file_room) {
        int room = number < NUMBERS_FIRST ? NUMBERS_FIRST : 2 * number;
        struct wf_js_file **longer = realloc(js->files, (size_t)room * sizeof *longer);
        if (!longer)
            return false;
        memset(longer + js->file_room, 0, (size_t)(room - js->file_room) * sizeof *longer);
        js->files = longer;
        js->file_room = room;
    }
    if (js->files[number]) /* somebody else has closed it, and the kernel has used the number again */
        wf_js_file_forget(js, js->files[number]);
    js->files[number] = file;
    file->number = number;
    return true;
}

void wf_js_file_forget(weft_js *js, struct wf_js_file *file) {
    if (file->number < 0)
        return;
    js->files[file->number] = NULL;
    file->number = -1;
    if (file->is_counted) {
        file->is_counted = false;
        file_unref(js, file);
    }
}

void wf_js_drop_files(weft_js *js) {
    for (int i = 0; i < js->file_room; i++)
        if (js->files[i])
            wf_js_file_forget(js, js->files[i]);
    free(js->files);
    js->files = NULL;
    js->file_room = 0;
}

/* The file of a handle or of a number, with a reference; null: there is none such. */
static struct wf_js_file *file_of(weft_js *js, JSValueConst value) {
    struct wf_js_file *file = NULL;
    int32_t number;
    if (!JS_IsNumber(value))
        file = JS_GetOpaque(value, file_class);
    else if (JS_ToInt32(js->context, &number, value) == 0 && number >= 0)
        file = number < js->file_room && js->files[number] ? js->files[number] : file_adopt(js, number);
    if (file)
        file->references++;
    return file;
}

int wf_js_open_again(int number) {
    struct stat about;
    char path[32];
    int flags = fcntl(number, F_GETFL);
    if (flags < 0 || fstat(number, &about) != 0 || (!S_ISFIFO(about.st_mode) && isatty(number) != 1))
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", number);
    return open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static int adopt_descriptor(weft_fd *out, int number) {
    int own = wf_js_open_again(number);
    int error = weft_adopt(out, own < 0 ? number : own, own < 0 ? WEFT_ADOPT_KEEP : 0);
    if (error && own >= 0)
        close(own);
    return error;
}

static struct wf_js_file *file_adopt(weft_js *js, int number) {
    weft_fd fd;
    if (adopt_descriptor(&fd, number) != 0)
        return NULL;
    struct wf_js_file *file = file_new(fd);
    if (!file || !table_set(js, file, number)) {
        (void)weft_close(fd);
        free(file);
        return NULL;
    }
    file->is_counted = file->is_borrowed = true;
    return file;
}

JSValue wf_js_file_give(JSContext *context, weft_fd fd, bool is_number) {
    weft_js *js = wf_js_of(context);
    int number = weft_fd_number(fd);
    struct wf_js_file *file = file_new(fd);
    if (!file || !table_set(js, file, number)) {
        free(file);
        (void)weft_close(fd);
        return JS_ThrowOutOfMemory(context);
    }
    if (is_number) {
        file->is_counted = true;
        return JS_NewInt32(context, number);
    }
    JSValue handle = JS_NewObjectClass(context, (int)file_class);
    if (JS_IsException(handle))
        file_unref(js, file);
    else
        JS_SetOpaque(handle, file);
    return handle;
}

int wf_js_file_begin(struct wf_js_file *file) {
    int error = weft_rwlock_read(&file->lock, WEFT_NEVER);
    if (error)
        return error;
    int number = weft_fd_number(file->fd);
    if (number < 0)
        weft_rwlock_unlock(&file->lock);
    return number;
}

void wf_js_file_end(struct wf_js_file *file) {
    weft_rwlock_unlock(&file->lock);
}

/* numberOf(handle): -1 when it is closed */
static JSValue js_number_of(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct wf_js_file *file = count > 0 ? JS_GetOpaque2(context, arguments[0], file_class) : NULL;
    (void)self;
    return file ? JS_NewInt32(context, file->number) : JS_EXCEPTION;
}

/* ---- Calls ---- */

static JSValue js_call(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int magic) {
    struct wf_js_file_call *call = calloc(1, sizeof *call);
    int32_t way = WAIT;
    (void)self;
    if (!call)
        return JS_ThrowOutOfMemory(context);
    call->operation = &tables[magic >> TABLE_BITS][magic & ((1 << TABLE_BITS) - 1)];
    call->wait = (struct wf_js_wait){.js = wf_js_of(context), .wait = call_wait, .finish = call_finish};
    call->view = JS_UNDEFINED;
    bool has_callback = count > 0 && JS_IsFunction(context, arguments[0]);
    if (!has_callback && (count < 1 || JS_ToInt32(context, &way, arguments[0])))
        goto clear;
    call->is_now = way == NOW;
    if (!take_arguments(context, call, count - 1, arguments + 1))
        goto clear;
    if (call->operation->closes && call->file) {
        call->numbers[0] = call->file->is_borrowed ? call->file->number : -1;
        wf_js_file_forget(call->wait.js, call->file);
    }
    if (call->is_now) {
        weft_shield(); /* what is done at once is not given up halfway */
        call->wait.status = call_wait(&call->wait);
        weft_unshield();
        JSValue result = call_finish(context, &call->wait);
        free(call);
        return result;
    }
    call->wait.is_promise = way == PROMISE;
    call->wait.has_callback = has_callback;
    if (has_callback)
        call->wait.callback = JS_DupValue(context, arguments[0]);
    return wf_js_perform(context, &call->wait);

clear:
    call_clear(context, call);
    free(call);
    return JS_EXCEPTION;
}

static char *take_path(JSContext *context, JSValueConst value) {
    char *bytes;
    size_t size;
    if (JS_IsString(value))
        return wf_js_copy_text(context, value);
    if (!wf_js_copy_bytes(context, value, &bytes, &size))
        return NULL;
    bytes[size] = 0;
    return bytes;
}

/* Borrowed, when the call is made at once: then nobody can take them away. */
static bool take_bytes(JSContext *context, struct wf_js_file_call *call, JSValueConst value) {
    if (JS_IsString(value)) {
        call->text = JS_ToCStringLen(context, &call->size, value);
        return call->text != NULL;
    }
    if (!call->is_now)
        return wf_js_copy_bytes(context, value, &call->bytes, &call->size);
    call->is_borrowed = true;
    call->bytes = (char *)JS_GetUint8Array(context, &call->size, value);
    return call->bytes || !JS_HasException(context);
}

static bool take_view(JSContext *context, struct wf_js_file_call *call, JSValueConst value) {
    char *room = (char *)JS_GetUint8Array(context, &call->size, value);
    if (!room && JS_HasException(context))
        return false;
    call->view = JS_DupValue(context, value);
    call->is_borrowed = call->is_now;
    call->bytes = call->is_now ? room : malloc(call->size + 1);
    if (call->bytes || call->is_now)
        return true;
    JS_ThrowOutOfMemory(context);
    return false;
}

static void take_file(JSContext *context, struct wf_js_file_call *call, JSValueConst value) {
    call->is_file = true;
    call->file = file_of(wf_js_of(context), value);
}

static bool take_argument(JSContext *context, struct wf_js_file_call *call, char kind, JSValueConst value, int *at) {
    switch (kind) {
    case 'x':
        if (JS_IsString(value) || (JS_IsObject(value) && JS_GetClassID(value) != file_class))
            return (call->path = take_path(context, value)) != NULL;
        take_file(context, call, value);
        return true;
    case 'f':
        take_file(context, call, value);
        return true;
    case 'p':
        return (call->path = take_path(context, value)) != NULL;
    case 'q':
        return (call->other = take_path(context, value)) != NULL;
    case 'b':
        return take_bytes(context, call, value);
    case 'v':
        return take_view(context, call, value);
    case 'd':
        return JS_ToFloat64(context, &call->times[(*at)++ % 2], value) == 0;
    default:
        return JS_ToInt64Ext(context, &call->numbers[(*at)++], value) == 0;
    }
}

static bool take_arguments(JSContext *context, struct wf_js_file_call *call, int count, JSValueConst *arguments) {
    const char *kinds = call->operation->arguments;
    int whole = 0, broken = 0;
    for (int i = 0; kinds[i]; i++)
        if (!take_argument(context, call, kinds[i], i < count ? arguments[i] : JS_UNDEFINED,
                           kinds[i] == 'd' ? &broken : &whole))
            return false;
    return true;
}

static int call_wait(struct wf_js_wait *wait) {
    struct wf_js_file_call *call = (struct wf_js_file_call *)wait;
    int error = call->is_file && !call->file ? -EBADF : call->operation->closes ? 0 : wf_js_file_look(call);
    if (error)
        return error;
    if (call->operation->blocks)
        weft_blocking_begin();
    call->count = call->operation->run(call);
    if (call->operation->blocks)
        weft_blocking_end();
    return call->count < 0 ? (int)call->count : 0;
}

int wf_js_file_look(struct wf_js_file_call *call) {
    return !call->is_now && weft_cancel_reason(NULL, 0) ? -ECANCELED : 0;
}

int wf_js_file_fail(struct wf_js_file_call *call, int status, const char *name, char *path) {
    call->failed_call = name;
    call->hides_path = !path;
    free(call->failed_path);
    call->failed_path = path;
    return status;
}

static JSValue call_finish(JSContext *context, struct wf_js_wait *wait) {
    struct wf_js_file_call *call = (struct wf_js_file_call *)wait;
    const struct wf_js_file_operation *operation = call->operation;
    JSValue result = JS_UNDEFINED;
    if (wait->status == 0) {
        if (operation->result)
            result = operation->result(context, call);
    } else {
        const char *name = call->failed_call ? call->failed_call
                           : call->is_file   ? operation->file_call
                                             : operation->call;
        const char *path = call->failed_path ? call->failed_path : call->hides_path ? NULL : call->path;
        result = wf_js_throw_system(context, wait->status, name, path, call->other);
    }
    call_clear(context, call);
    return result;
}

static void call_clear(JSContext *context, struct wf_js_file_call *call) {
    file_unref(wf_js_of(context), call->file);
    JS_FreeCString(context, call->text);
    JS_FreeValue(context, call->view);
    if (!call->is_borrowed)
        free(call->bytes);
    free(call->path);
    free(call->other);
    free(call->failed_path);
}

/* files() -> all of them */
static JSValue js_files(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    JSValue files = JS_NewObject(context);
    (void)self, (void)count, (void)arguments;
    if (JS_IsException(files))
        return files;
    for (int i = 0; i < (int)(sizeof tables / sizeof *tables); i++)
        for (int k = 0; tables[i][k].name; k++)
            JS_SetPropertyStr(context, files, tables[i][k].name,
                              JS_NewCFunctionMagic(context, js_call, tables[i][k].name, 1, JS_CFUNC_generic_magic,
                                                   i << TABLE_BITS | k));
    /* those that differ between processors */
    JS_SetPropertyStr(context, files, "O_DIRECTORY", JS_NewInt32(context, O_DIRECTORY));
    JS_SetPropertyStr(context, files, "O_NOFOLLOW", JS_NewInt32(context, O_NOFOLLOW));
    JS_SetPropertyStr(context, files, "O_DIRECT", JS_NewInt32(context, O_DIRECT));
    JS_SetPropertyStr(context, files, "numberOf", JS_NewCFunction(context, js_number_of, "numberOf", 1));
    return files;
}

int wf_js_add_files(JSContext *context, JSValueConst host) {
    static const JSClassDef definition = {.class_name = "FileHandle", .finalizer = file_finalize};
    static const JSCFunctionListEntry functions[] = {JS_CFUNC_DEF("files", 0, js_files)};
    wf_js_new_class(JS_GetRuntime(context), &file_class, &definition);
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
