/* SPDX-License-Identifier: MIT
 *
 * os/report.c - messages and backtraces that need nothing but a file descriptor.
 *
 * vsnprintf is used although the standard does not list it as safe in handlers: for the formats used here (%s, %d, %zu,
 * %p, %x) the C library neither allocates nor locks.
 */
#include "os/report.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <unwind.h>

#include "base/assert.h"
#include "os/fault.h"

struct capture {
    const void **frames;
    int limit;
    int count;
    int skip;
};

struct walk {
    int left;
    int depth;
};

static _Unwind_Reason_Code walk_frame(struct _Unwind_Context *context, void *opaque);
static _Unwind_Reason_Code capture_frame(struct _Unwind_Context *context, void *opaque);

void wf_report_list(const char *format, va_list arguments) {
    char line[512];
    int used = snprintf(line, sizeof line, "weft: ");
    int more = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    size_t length = (size_t)used + (more < 0 ? 0 : (size_t)more);
    if (length > sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, length);
    (void)ignored;
}

void wf_report(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    wf_report_list(format, arguments);
    va_end(arguments);
}

_Noreturn void wf_fatal_list(const char *format, va_list arguments) {
    char line[448];
    vsnprintf(line, sizeof line, format, arguments);
    wf_report("fatal: %s", line);
    abort();
}

_Noreturn void wf_fatal(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    wf_fatal_list(format, arguments);
}

_Noreturn void wf_assert_fail(const char *text, const char *file, int line) {
    wf_report("%s:%d: broken invariant: %s", file, line, text);
    wf_report_backtrace(32);
    abort();
}

void wf_report_backtrace(int limit) {
    struct walk walk = {.left = limit};
    _Unwind_Backtrace(walk_frame, &walk);
}

static _Unwind_Reason_Code walk_frame(struct _Unwind_Context *context, void *opaque) {
    struct walk *walk = opaque;
    int before_instruction = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
    if (!address)
        return _URC_END_OF_STACK;
    if (walk->left-- == 0) {
        wf_report("    ... (deeper frames left out)");
        return _URC_END_OF_STACK;
    }
    char name[96];
    wf_symbol_name((const void *)(address - !before_instruction), name, sizeof name);
    wf_report("    #%d %s", walk->depth++, name);
    return _URC_NO_REASON;
}

WF_NOINLINE int wf_capture_frames(const void **frames, int limit) {
    struct capture capture = {.frames = frames, .limit = limit, .skip = 1};
    _Unwind_Backtrace(capture_frame, &capture);
    return capture.count;
}

static _Unwind_Reason_Code capture_frame(struct _Unwind_Context *context, void *opaque) {
    struct capture *capture = opaque;
    int before_instruction = 0;
    uintptr_t address = _Unwind_GetIPInfo(context, &before_instruction);
    if (!address || capture->count == capture->limit)
        return _URC_END_OF_STACK;
    if (capture->skip > 0)
        capture->skip--;
    else
        capture->frames[capture->count++] = (const void *)(address - !before_instruction);
    return _URC_NO_REASON;
}

int wf_write_all(int fd, const char *text, size_t length) {
    while (length > 0) {
        int error = wf_fault(WF_CALL_WRITE);
        ssize_t done = error ? -1 : write(fd, text, length);
        if (done < 0) {
            if (!error)
                error = -errno;
            if (error == -EINTR)
                continue;
            return error;
        }
        text += done;
        length -= (size_t)done;
    }
    return 0;
}
