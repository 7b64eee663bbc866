/* SPDX-License-Identifier: MIT
 *
 * arch/guarded.c - the unwinder's side of guarded calls.
 *
 * The personality routine of the assembly frame claims every exception that reaches it and sends it to the landing pad
 * there. Forced unwinds pass: they are ours, and their stop function ends them at the frame that was marked.
 *
 * The mark is the stack pointer that the frame of the assembly called with, and that is what the unwinder says of a frame
 * when it arrives there (_Unwind_GetCFA: the end of the frame that was left last). So the frame is the one where the two
 * are equal. No order of addresses is asked for, because the frames on the way may lie on several stacks (arch/call.h); and
 * no other frame can be equal, because each one that calls has at least a return address of its own beneath it. Other
 * guarded calls on the way are passed, on whatever stack.
 *
 * C++ is not linked in. Its run-time functions are looked up weakly, only to put the type's name into a report.
 */
#include "arch/guarded.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "arch/call.h"
#include "arch/context.h"
#include "base/assert.h"

void wf_arch_guarded_landing(void);
_Noreturn void wf_arch_guarded_return(struct wf_guarded *guarded, int value);
_Unwind_Reason_Code wf_arch_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                        struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Static_assert(sizeof(struct _Unwind_Exception) <= sizeof(((struct wf_guarded *)0)->unwinding), "it has to fit");

extern void *__cxa_begin_catch(void *exception) __attribute__((weak));
extern void __cxa_end_catch(void) __attribute__((weak));
extern void **__cxa_current_exception_type(void) __attribute__((weak));
extern char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status) __attribute__((weak));

extern struct wf_cxx_state *__cxa_get_globals(void) __attribute__((weak));

static void leave_was_caught(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception);
static _Unwind_Reason_Code leave_frame(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                       struct _Unwind_Exception *exception, struct _Unwind_Context *context,
                                       void *opaque);

_Unwind_Reason_Code wf_arch_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                        struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
    (void)kind;
    if (version != 1 || (actions & _UA_FORCE_UNWIND))
        return _URC_CONTINUE_UNWIND;
    if (actions & _UA_SEARCH_PHASE)
        return _URC_HANDLER_FOUND;
    _Unwind_SetGR(context, __builtin_eh_return_data_regno(0), (uintptr_t)exception);
    _Unwind_SetIP(context, (uintptr_t)wf_arch_guarded_landing);
    return _URC_INSTALL_CONTEXT;
}

_Noreturn void wf_guarded_leave(struct wf_guarded *guarded) {
    struct _Unwind_Exception *exception = (struct _Unwind_Exception *)(void *)guarded->unwinding;
    memset(exception, 0, sizeof *exception);
    memcpy(&exception->exception_class, "WEFTLEAV", 8);
    exception->exception_cleanup = leave_was_caught;
#ifdef WF_ASAN
    __asan_handle_no_return();
#endif
    _Unwind_ForcedUnwind(exception, leave_frame, guarded);
    wf_guarded_drop(guarded); /* the unwinder met a frame that it cannot read: the rest goes without cleanups */
}

/* Not instrumented: the compiler would call __asan_handle_no_return itself, last, when the stack that the sanitizer was told
 * of is already the other one. */
_Noreturn __attribute__((no_sanitize_address)) void wf_guarded_drop(struct wf_guarded *guarded) {
#ifdef WF_ASAN
    __asan_handle_no_return();
#endif
    wf_context_left_calls(guarded->mark);
    wf_arch_guarded_return(guarded, WF_GUARDED_LEFT);
}

/* The unwinder calls this when foreign code has caught the exception and lets it end there. */
static void leave_was_caught(_Unwind_Reason_Code reason, struct _Unwind_Exception *exception) {
    (void)reason;
    (void)exception;
    wf_assert_fail("a catch (...) block has to rethrow: weft_panic or weft_exit was on its way through it", __FILE__,
                   __LINE__);
}

static _Unwind_Reason_Code leave_frame(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                       struct _Unwind_Exception *exception, struct _Unwind_Context *context,
                                       void *opaque) {
    (void)version;
    (void)kind;
    (void)exception;
    struct wf_guarded *guarded = opaque;
    bool arrived = _Unwind_GetCFA(context) == (uintptr_t)guarded->mark;
    if (!arrived && !(actions & _UA_END_OF_STACK))
        return _URC_NO_REASON;
    wf_guarded_drop(guarded); /* no cleanups are left, or none that can be reached */
}

void wf_guarded_describe(void *exception, char *buffer, unsigned long size) {
    struct _Unwind_Exception *unwound = exception;
    bool is_cxx = memcmp(&unwound->exception_class, "GNUCC++", 7) == 0 || /* written by a big- or little-endian ABI */
                  (unwound->exception_class >> 8) == (0x474e5543432b2b00u >> 8);
    if (!is_cxx || !__cxa_begin_catch || !__cxa_end_catch || !__cxa_current_exception_type) {
        snprintf(buffer, size, "uncaught exception of another language");
        _Unwind_DeleteException(unwound);
        return;
    }
    __cxa_begin_catch(unwound);
    void **type = __cxa_current_exception_type(); /* a std::type_info: its vtable, then its name */
    const char *mangled = type ? (const char *)type[1] : "?";
    char *readable = __cxa_demangle ? __cxa_demangle(mangled, NULL, NULL, NULL) : NULL;
    snprintf(buffer, size, "uncaught C++ exception of type %s", readable ? readable : mangled);
    free(readable);
    __cxa_end_catch();
}

/* A real call each time, for the same reason as with errno. */
__attribute__((noinline)) struct wf_cxx_state *wf_cxx_state_location(void) {
    return __cxa_get_globals ? __cxa_get_globals() : NULL;
}
