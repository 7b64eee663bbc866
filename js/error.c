/* SPDX-License-Identifier: MIT
 *
 * js/error.c - errors of the system as Node has them: its words, and code, errno, syscall, path and dest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* In the words of libuv. What is not among them is "Unknown system error". */
static const struct {
    int number;
    const char *text;
} texts[] = {
    {E2BIG, "argument list too long"},
    {EACCES, "permission denied"},
    {EADDRINUSE, "address already in use"},
    {EADDRNOTAVAIL, "address not available"},
    {EAFNOSUPPORT, "address family not supported"},
    {EAGAIN, "resource temporarily unavailable"},
    {EALREADY, "connection already in progress"},
    {EBADF, "bad file descriptor"},
    {EBUSY, "resource busy or locked"},
    {ECANCELED, "operation canceled"},
    {ECONNABORTED, "software caused connection abort"},
    {ECONNREFUSED, "connection refused"},
    {ECONNRESET, "connection reset by peer"},
    {EDESTADDRREQ, "destination address required"},
    {EEXIST, "file already exists"},
    {EFAULT, "bad address in system call argument"},
    {EFBIG, "file too large"},
    {EHOSTDOWN, "host is down"},
    {EHOSTUNREACH, "host is unreachable"},
    {EILSEQ, "illegal byte sequence"},
    {EINTR, "interrupted system call"},
    {EINVAL, "invalid argument"},
    {EIO, "i/o error"},
    {EISCONN, "socket is already connected"},
    {EISDIR, "illegal operation on a directory"},
    {ELOOP, "too many symbolic links encountered"},
    {EMFILE, "too many open files"},
    {EMLINK, "too many links"},
    {EMSGSIZE, "message too long"},
    {ENAMETOOLONG, "name too long"},
    {ENETDOWN, "network is down"},
    {ENETUNREACH, "network is unreachable"},
    {ENFILE, "file table overflow"},
    {ENOBUFS, "no buffer space available"},
    {ENODATA, "no data available"},
    {ENODEV, "no such device"},
    {ENOENT, "no such file or directory"},
    {ENOMEM, "not enough memory"},
    {ENONET, "machine is not on the network"},
    {ENOPROTOOPT, "protocol not available"},
    {ENOSPC, "no space left on device"},
    {ENOSYS, "function not implemented"},
    {ENOTCONN, "socket is not connected"},
    {ENOTDIR, "not a directory"},
    {ENOTEMPTY, "directory not empty"},
    {ENOTSOCK, "socket operation on non-socket"},
    {ENOTSUP, "operation not supported on socket"},
    {ENOTTY, "inappropriate ioctl for device"},
    {ENXIO, "no such device or address"},
    {EOVERFLOW, "value too large for defined data type"},
    {EPERM, "operation not permitted"},
    {EPIPE, "broken pipe"},
    {EPROTO, "protocol error"},
    {EPROTONOSUPPORT, "protocol not supported"},
    {EPROTOTYPE, "protocol wrong type for socket"},
    {ERANGE, "result too large"},
    {EREMOTEIO, "remote I/O error"},
    {EROFS, "read-only file system"},
    {ESHUTDOWN, "cannot send after transport endpoint shutdown"},
    {ESOCKTNOSUPPORT, "socket type not supported"},
    {ESPIPE, "invalid seek"},
    {ESRCH, "no such process"},
    {ETIMEDOUT, "connection timed out"},
    {ETXTBSY, "text file is busy"},
    {EUNATCH, "protocol driver not attached"},
    {EXDEV, "cross-device link not permitted"},
};

static const char *text_of(int number) {
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].number == number)
            return texts[i].text;
    return NULL;
}

static void set(JSContext *context, JSValueConst error, const char *name, JSValue value) {
    if (!JS_IsException(value))
        (void)JS_SetPropertyStr(context, error, name, value);
}

/* Its name: unknown has room for one that has none. */
static const char *code_of(int status, char unknown[48]) {
    const char *known = text_of(-status) ? strerrorname_np(-status) : NULL;
    snprintf(unknown, 48, "Unknown system error %d", status);
    return !known ? unknown : strcmp(known, "EOPNOTSUPP") == 0 ? "ENOTSUP" : known;
}

/* systemError(negative number) -> [code, text] */
static JSValue js_system_error(JSContext *context, JSValueConst self, int count, JSValueConst *arguments) {
    char unknown[48];
    int32_t status;
    (void)self;
    if (count < 1 || JS_ToInt32(context, &status, arguments[0]))
        return JS_EXCEPTION;
    const char *code = code_of(status, unknown), *text = text_of(-status);
    JSValue list = JS_NewArray(context);
    JS_SetPropertyUint32(context, list, 0, JS_NewString(context, code));
    JS_SetPropertyUint32(context, list, 1, JS_NewString(context, text ? text : unknown));
    return list;
}

int wf_js_add_errors(JSContext *context, JSValueConst host) {
    static const JSCFunctionListEntry functions[] = {JS_CFUNC_DEF("systemError", 1, js_system_error)};
    return JS_SetPropertyFunctionList(context, host, functions, sizeof functions / sizeof *functions);
}

JSValue wf_js_throw_system(JSContext *context, int status, const char *call, const char *path, const char *other) {
    char unknown[48];
    const char *text = text_of(-status), *code = code_of(status, unknown);
    size_t size = 256 + (path ? strlen(path) : 0) + (other ? strlen(other) : 0);
    char *message = malloc(size);
    JSValue error = message ? JS_NewError(context) : JS_ThrowOutOfMemory(context);
    if (JS_IsException(error)) {
        free(message);
        return error;
    }
    int length = snprintf(message, size, "%s: %s, %s", code, text ? text : unknown, call);
    if (path)
        length += snprintf(message + length, size - (size_t)length, " '%s'", path);
    if (other)
        length += snprintf(message + length, size - (size_t)length, " -> '%s'", other);
    JSValue words = wf_js_new_text(context, message, (size_t)length);
    free(message);
    if (!JS_IsException(words))
        JS_DefinePropertyValueStr(context, error, "message", words, JS_PROP_CONFIGURABLE | JS_PROP_WRITABLE);
    set(context, error, "errno", JS_NewInt32(context, status));
    set(context, error, "code", JS_NewString(context, code));
    set(context, error, "syscall", JS_NewString(context, call));
    if (path)
        set(context, error, "path", wf_js_new_text(context, path, strlen(path)));
    if (other)
        set(context, error, "dest", wf_js_new_text(context, other, strlen(other)));
    return JS_Throw(context, error);
}
