/* SPDX-License-Identifier: MIT
 *
 * js/system.c - what the library asks of the system: writing, clocks, files by their names, what is inside a value, the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "host.h"

extern char **environ;

/* All of it. What several instances write to the same terminal or file does not mix, and one that has to wait for its reader keeps
 * nobody from a worker. */
static int write_all(int number, const char *bytes, size_t size) {
    static weft_mutex one_at_a_time = WEFT_MUTEX_INIT; /* the descriptors are the process's */
    bool is_shared = number == STDOUT_FILENO || number == STDERR_FILENO;
    int error = 0;
    if (is_shared)
        wf_js_lock(&one_at_a_time);
    weft_blocking_begin();
    for (size_t done = 0; done < size && !error;) {
        ssize_t written = write(number, bytes + done, size - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno == EAGAIN)
            (void)poll(&(struct pollfd){.fd = number, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR)
            error = -errno;
    }
    weft_blocking_end();
    if (is_shared)
        wf_js_unlock(&one_at_a_time);
    return error;
}

/* The engine has half characters as they are, in three bytes of which the first is this; as UTF-8 they are U+FFFD. */
static char *mend_halves(const char *text, size_t size) {
    char *mended = malloc(size);
    if (!mended)
        return NULL;
    memcpy(mended, text, size);
    for (char *at = mended; (at = memchr(at, 0xed, size - (size_t)(at - mended))) != NULL; at++)
        if ((size_t)(at - mended) + 2 < size && (uint8_t)at[1] >= 0xa0)
            memcpy(at, "\xef\xbf\xbd", 3);
    return mended;
}

static int write_text(int number, const char *text, size_t size) {
    if (!memchr(text, 0xed, size))
        return write_all(number, text, size);
    char *mended = mend_halves(text, size);
    int error = mended ? write_all(number, mended, size) : -ENOMEM;
    free(mended);
    return error;
}

/* write(descriptor, text or bytes) -> 0 or a negative error: all of it, in order, as Node does for its standard output. */
static JSValue js_write(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t number;
    size_t size;
    (void)self;
    if (count < 2 || JS_ToInt32(context, &number, arguments[0]))
        return JS_EXCEPTION;
    if (!JS_IsString(arguments[1])) {
        const char *bytes = (const char *)JS_GetUint8Array(context, &size, arguments[1]);
        return !bytes && JS_HasException(context) ? JS_EXCEPTION : JS_NewInt32(context, write_all(number, bytes, size));
    }
    const char *text = JS_ToCStringLen(context, &size, arguments[1]);
    if (!text)
        return JS_EXCEPTION;
    int error = write_text(number, text, size);
    JS_FreeCString(context, text);
    return JS_NewInt32(context, error);
}

/* windowSize(descriptor) -> [columns, rows]; undefined: it is no terminal */
static JSValue js_window_size(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct winsize size;
    int32_t number;
    (void)self;
    if (count < 1 || JS_ToInt32(context, &number, arguments[0]))
        return JS_EXCEPTION;
    if (ioctl(number, TIOCGWINSZ, &size) != 0)
        return JS_UNDEFINED;
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewInt32(context, size.ws_col));
    JS_SetPropertyUint32(context, list, 1, JS_NewInt32(context, size.ws_row));
    return list;
}

/* setTerminal(descriptor, how) -> how it was, for another call; undefined: keys come one by one, and are not shown; null: the same,
 * but those that mean a signal still do */
static JSValue js_set_terminal(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct termios before, after;
    int32_t number;
    size_t size = 0;
    (void)self;
    if (count < 2 || JS_ToInt32(context, &number, arguments[0]))
        return JS_EXCEPTION;
    bool is_raw = JS_IsUndefined(arguments[1]) || JS_IsNull(arguments[1]);
    const uint8_t *given = is_raw ? NULL : JS_GetArrayBuffer(context, &size, arguments[1]);
    if (!is_raw && (!given || size != sizeof after))
        return JS_ThrowTypeError(context, "no setting of a terminal");
    if (tcgetattr(number, &before) != 0)
        return wf_js_throw_system(context, -errno, "tcgetattr", NULL, NULL);
    if (given) {
        memcpy(&after, given, sizeof after);
    } else {
        after = before;
        after.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INPCK | ISTRIP | IXON);
        after.c_oflag |= ONLCR;
        after.c_cflag |= CS8;
        after.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | (JS_IsNull(arguments[1]) ? 0 : ISIG));
        after.c_cc[VMIN] = 1;
        after.c_cc[VTIME] = 0;
    }
    if (tcsetattr(number, TCSADRAIN, &after) != 0)
        return wf_js_throw_system(context, -errno, "tcsetattr", NULL, NULL);
    return JS_NewArrayBufferCopy(context, (const uint8_t *)&before, sizeof before);
}

/* now(): milliseconds since the instance's clock began to count, with a fraction; epoch(): those of the world */
static JSValue js_now(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    return JS_NewFloat64(context, (double)weft_now() / 1e6);
}

static JSValue js_epoch(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct timespec now;
    (void)self, (void)count, (void)arguments;
    clock_gettime(CLOCK_REALTIME, &now);
    return JS_NewFloat64(context, (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
}

/* hrtime(): nanoseconds, as a BigInt */
static JSValue js_hrtime(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    return JS_NewBigInt64(context, weft_now());
}

/* ---- Files ---- */

/* readFile(path) -> Uint8Array; readText(path) -> string */
static JSValue read_whole(JSContext *context, JSValueConst path, bool is_text) {
    const char *name = JS_ToCString(context, path);
    if (!name)
        return JS_EXCEPTION;
    char *bytes = NULL;
    size_t size = 0, room = 0;
    int error = 0;
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        error = -errno;
    while (!error) {
        if (room - size < 4096) {
            room = room ? 2 * room : 65536;
            char *longer = realloc(bytes, room);
            if (!longer) {
                error = -ENOMEM;
                break;
            }
            bytes = longer;
        }
        ssize_t got = read(file, bytes + size, room - size);
        if (got == 0)
            break;
        if (got > 0)
            size += (size_t)got;
        else if (errno != EINTR)
            error = -errno;
    }
    if (file >= 0)
        close(file);
    JS_FreeCString(context, name);
    JSValue result = error     ? wf_js_throw_errno(context, error, "open")
                     : is_text ? JS_NewStringLen(context, bytes, size)
                               : JS_NewUint8ArrayCopy(context, (const uint8_t *)bytes, size);
    free(bytes);
    return result;
}

static JSValue js_read_file(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return read_whole(context, arguments[0], false);
}

static JSValue js_read_text(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return read_whole(context, arguments[0], true);
}

/* fileKind(path): "file", "folder" or undefined */
static JSValue js_file_kind(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    struct stat status;
    (void)self, (void)count;
    const char *name = JS_ToCString(context, arguments[0]);
    if (!name)
        return JS_EXCEPTION;
    int failed = stat(name, &status);
    JS_FreeCString(context, name);
    if (failed)
        return JS_UNDEFINED;
    return JS_NewString(context, S_ISDIR(status.st_mode) ? "folder" : "file");
}

static JSValue js_real_path(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    const char *name = JS_ToCString(context, arguments[0]);
    if (!name)
        return JS_EXCEPTION;
    char *real = realpath(name, NULL);
    int error = -errno;
    JS_FreeCString(context, name);
    if (!real)
        return wf_js_throw_errno(context, error, "realpath");
    JSValue result = JS_NewString(context, real);
    free(real);
    return result;
}

static JSValue js_cwd(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    char path[PATH_MAX];
    (void)self, (void)count, (void)arguments;
    return getcwd(path, sizeof path) ? JS_NewString(context, path) : wf_js_throw_errno(context, -errno, "uv_cwd");
}

static JSValue js_chdir(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    const char *name = JS_ToCString(context, arguments[0]);
    if (!name)
        return JS_EXCEPTION;
    int error = chdir(name) == 0 ? 0 : -errno;
    JS_FreeCString(context, name);
    return error ? wf_js_throw_errno(context, error, "chdir") : JS_UNDEFINED;
}

/* ---- The process ---- */

/* environment() -> ["NAME=value", ...]; argumentsOf() -> process.argv; hostArguments() -> process.execArgv */
static JSValue js_environment(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    JSValue list = JS_NewArray(context);
    (void)self, (void)count, (void)arguments;
    for (uint32_t i = 0; environ[i]; i++)
        JS_SetPropertyUint32(context, list, i, JS_NewString(context, environ[i]));
    return list;
}

static JSValue js_arguments(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    const char *const *given = wf_js_of(context)->options.arguments;
    JSValue list = JS_NewArray(context);
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    (void)self, (void)count, (void)arguments;
    JS_SetPropertyUint32(context, list, 0, JS_NewStringLen(context, path, size > 0 ? (size_t)size : 0));
    for (uint32_t i = 0; given && given[i]; i++)
        JS_SetPropertyUint32(context, list, i + 1, JS_NewString(context, given[i]));
    return list;
}

static JSValue js_host_arguments(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    const char *const *given = wf_js_of(context)->options.host_arguments;
    JSValue list = JS_NewArray(context);
    (void)self, (void)count, (void)arguments;
    for (uint32_t i = 0; given && given[i]; i++)
        JS_SetPropertyUint32(context, list, i, JS_NewString(context, given[i]));
    return list;
}

static JSValue js_number_of(JSContext *context, JSValueConst self, int count, JSValueConst *arguments, int magic) {
    (void)self, (void)count, (void)arguments;
    return JS_NewInt32(context, magic == 0 ? (int32_t)getpid() : (int32_t)getppid());
}

/* exit(code): does not return to JavaScript */
static JSValue js_exit(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t code = 0;
    (void)self;
    if (count > 0 && JS_ToInt32(context, &code, arguments[0]))
        return JS_EXCEPTION;
    wf_js_end(wf_js_of(context), code);
    return wf_js_throw_end(context);
}

/* setExitCode(code) */
static JSValue js_set_exit_code(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t code = 0;
    (void)self;
    if (count > 0 && JS_ToInt32(context, &code, arguments[0]))
        return JS_EXCEPTION;
    wf_js_of(context)->exit_code = code;
    return JS_UNDEFINED;
}

static JSValue js_is_tty(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    int32_t number = -1;
    (void)self;
    if (count > 0 && JS_ToInt32(context, &number, arguments[0]))
        return JS_EXCEPTION;
    return JS_NewBool(context, isatty(number) == 1);
}

/* random(buffer, offset, length) */
static JSValue js_random(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    uint32_t offset, length;
    size_t size;
    (void)self;
    uint8_t *bytes = count > 2 ? JS_GetArrayBuffer(context, &size, arguments[0]) : NULL;
    if (!bytes || JS_ToUint32(context, &offset, arguments[1]) || JS_ToUint32(context, &length, arguments[2]))
        return JS_EXCEPTION;
    if (offset > size || length > size - offset)
        return JS_ThrowRangeError(context, "outside of the buffer");
    for (size_t done = 0; done < length;) {
        ssize_t got = getrandom(bytes + offset + done, length - done, 0);
        if (got > 0)
            done += (size_t)got;
        else if (errno != EINTR)
            return wf_js_throw_errno(context, -errno, "getrandom");
    }
    return JS_UNDEFINED;
}

/* ---- Values ---- */

/* isPromise(value): undefined, or [state, result] with 0 pending, 1 fulfilled, 2 rejected */
static JSValue js_is_promise(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    JSPromiseStateEnum state = JS_PromiseState(context, arguments[0]);
    if ((int)state < 0)
        return JS_UNDEFINED;
    JSValue pair = JS_NewArray(context);
    JS_SetPropertyUint32(context, pair, 0, JS_NewInt32(context, (int32_t)state));
    JS_SetPropertyUint32(context, pair, 1,
                         state == JS_PROMISE_PENDING ? JS_UNDEFINED : JS_PromiseResult(context, arguments[0]));
    return pair;
}

/* isProxy(value): undefined, or its target; null: it is revoked */
static JSValue js_is_proxy(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    if (!JS_IsProxy(arguments[0]))
        return JS_UNDEFINED;
    JSValue target = JS_GetProxyTarget(context, arguments[0]);
    if (!JS_IsException(target))
        return target;
    JS_FreeValue(context, JS_GetException(context));
    return JS_NULL;
}

/* proxyHandler(value): undefined, or its handler */
static JSValue js_proxy_handler(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return JS_IsProxy(arguments[0]) ? JS_GetProxyHandler(context, arguments[0]) : JS_UNDEFINED;
}

/* previewEntries(iterator) -> [values, whether they are pairs] */
static JSValue js_preview(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    return wf_engine_preview(context, arguments[0]);
}

/* typeTag(value): the engine's own name of its kind */
static JSValue js_type_tag(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count;
    JSClassID id = JS_GetClassID(arguments[0]);
    return id == JS_INVALID_CLASS_ID ? JS_UNDEFINED : wf_engine_class_name(context, id);
}

/* compile(text, name, line): a text in the engine's global scope, whose first line has that number, and what it is */
static JSValue js_compile(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    size_t size;
    int32_t line = 1;
    (void)self;
    const char *text = count > 1 ? JS_ToCStringLen(context, &size, arguments[0]) : NULL;
    const char *name = text ? JS_ToCString(context, arguments[1]) : NULL;
    bool is_good = name && (count < 3 || !JS_ToInt32(context, &line, arguments[2]));
    JSValue result = is_good ? wf_engine_eval(context, text, size, name, line, 0) : JS_EXCEPTION;
    JS_FreeCString(context, text);
    JS_FreeCString(context, name);
    return result;
}

static JSValue js_collect(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    (void)self, (void)count, (void)arguments;
    JS_RunGC(JS_GetRuntime(context));
    return JS_UNDEFINED;
}

/* memory() -> bytes of the engine's heap */
static JSValue js_memory(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    JSMemoryUsage usage;
    (void)self, (void)count, (void)arguments;
    JS_ComputeMemoryUsage(JS_GetRuntime(context), &usage);
    return JS_NewInt64(context, usage.malloc_size);
}

/* Whoever writes where nobody reads any more gets an error, as from weft's descriptors. A handler of the program's own stays. */
static void ignore_broken_pipes(void) {
    struct sigaction present;
    if (sigaction(SIGPIPE, NULL, &present) == 0 && present.sa_handler == SIG_DFL && !(present.sa_flags & SA_SIGINFO))
        signal(SIGPIPE, SIG_IGN);
}

int wf_js_add_system(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {
        JS_CFUNC_DEF("write", 2, js_write),
        JS_CFUNC_DEF("now", 0, js_now),
        JS_CFUNC_DEF("epoch", 0, js_epoch),
        JS_CFUNC_DEF("hrtime", 0, js_hrtime),
        JS_CFUNC_DEF("readFile", 1, js_read_file),
        JS_CFUNC_DEF("readText", 1, js_read_text),
        JS_CFUNC_DEF("fileKind", 1, js_file_kind),
        JS_CFUNC_DEF("realPath", 1, js_real_path),
        JS_CFUNC_DEF("cwd", 0, js_cwd),
        JS_CFUNC_DEF("chdir", 1, js_chdir),
        JS_CFUNC_DEF("environment", 0, js_environment),
        JS_CFUNC_DEF("argumentsOf", 0, js_arguments),
        JS_CFUNC_DEF("hostArguments", 0, js_host_arguments),
        JS_CFUNC_MAGIC_DEF("pid", 0, js_number_of, 0),
        JS_CFUNC_MAGIC_DEF("ppid", 0, js_number_of, 1),
        JS_CFUNC_DEF("exit", 1, js_exit),
        JS_CFUNC_DEF("setExitCode", 1, js_set_exit_code),
        JS_CFUNC_DEF("isTTY", 1, js_is_tty),
        JS_CFUNC_DEF("windowSize", 1, js_window_size),
        JS_CFUNC_DEF("setTerminal", 2, js_set_terminal),
        JS_CFUNC_DEF("random", 3, js_random),
        JS_CFUNC_DEF("isPromise", 1, js_is_promise),
        JS_CFUNC_DEF("isProxy", 1, js_is_proxy),
        JS_CFUNC_DEF("proxyHandler", 1, js_proxy_handler),
        JS_CFUNC_DEF("previewEntries", 1, js_preview),
        JS_CFUNC_DEF("typeTag", 1, js_type_tag),
        JS_CFUNC_DEF("compile", 2, js_compile),
        JS_CFUNC_DEF("collect", 0, js_collect),
        JS_CFUNC_DEF("memory", 0, js_memory),
    };
    ignore_broken_pipes();
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}
