/* SPDX-License-Identifier: MIT
 *
 * ffi/reason.c - why a dynamic call failed, kept for whoever made it.
 *
 * A plain thread has a thread-local text. A fiber may be on another thread when it asks, so it has a record among the
 * leavers of its stack, made by its first failure and freed when it ends or is dropped. A key of weft/local.h would do
 * as well, but takes one of the program's, and is not freed when a fiber is dropped.
 *
 * A record that cannot be had is no second error: the reason is lost, and weft_ffi_reason says that it may be.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "ffi/dynamic.h"
#include "fiber/fiber.h"
#include "os/memory.h"

enum { REASON_SIZE = 256 };

struct reason {
    struct wf_leaver leaver; /* first */
    char text[REASON_SIZE];
};

static __thread char thread_text[REASON_SIZE];

static char *text_here(bool may_make);
static struct reason *reason_find(struct wf_stack *stack);
static struct reason *reason_make(struct wf_stack *stack);
static void reason_free(struct wf_leaver *leaver);

WF_NOINLINE int wf_ffi_fail(int error, const char *format, ...) {
    char *text = text_here(true);
    va_list arguments;
    if (!text)
        return error;
    va_start(arguments, format);
    vsnprintf(text, REASON_SIZE, format, arguments);
    va_end(arguments);
    return error;
}

int wf_ffi_fail_memory(void) {
    return wf_ffi_fail(-ENOMEM, "out of memory");
}

int wf_ffi_fail_null(const char *what) {
    return wf_ffi_fail(-EINVAL, "%s is null", what);
}

WF_NOINLINE const char *weft_ffi_reason(void) {
    const char *text = text_here(false);
    return text && *text ? text : "no reason is known: nothing has failed, or there was no memory to keep it";
}

static char *text_here(bool may_make) {
    struct wf_fiber *fiber = wf_fiber_self();
    if (!fiber)
        return thread_text;
    struct reason *reason = reason_find(wf_fiber_stack(fiber));
    if (!reason && may_make)
        reason = reason_make(wf_fiber_stack(fiber));
    return reason ? reason->text : NULL;
}

static struct reason *reason_find(struct wf_stack *stack) {
    struct wf_leaver *leaver = stack->leavers;
    while (leaver && leaver->leave != reason_free)
        leaver = leaver->next;
    return (struct reason *)leaver;
}

static struct reason *reason_make(struct wf_stack *stack) {
    struct reason *reason = wf_os_alloc(sizeof *reason);
    if (!reason)
        return NULL;
    reason->leaver = (struct wf_leaver){.leave = reason_free, .drop = reason_free};
    wf_leaver_push(stack, &reason->leaver);
    return reason;
}

static void reason_free(struct wf_leaver *leaver) {
    wf_os_free(leaver);
}
