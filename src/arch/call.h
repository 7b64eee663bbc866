/* SPDX-License-Identifier: MIT
 *
 * arch/call.h - calls whose callee runs on another stack of the same thread.
 *
 *     fiber's stack             thread's own stack
 *     caller                    scheduler
 *       wf_context_call_on        (saved sp)
 *           \-------------------->  fn(arg)
 *       goes on  <-----------------/ returns
 *
 * A real call and not a pair of switches: nothing is saved but the frame pointer, and debuggers, exceptions and
 * wf_guarded_leave find their way from fn to the caller. A panic or an exception may leave fn; it comes out at the caller.
 *
 * Until fn has returned or was left, nobody may switch to the context whose stack it borrows, and the caller stays on its
 * thread.
 */
#ifndef WF_ARCH_CALL_H
#define WF_ARCH_CALL_H

#include "arch/context.h"

/* Calls fn(arg) with the stack pointer at sp, which is aligned to 16 and has free memory below it. */
void wf_arch_call_on(void *sp, void (*fn)(void *arg), void *arg);

/* The same on the stack of a suspended context: sp is at most native->sp. Tells AddressSanitizer which stack it is on. A call
 * from the native stack onto a lower part of itself is allowed. */
#ifdef WF_ASAN
void wf_context_call_on(void *sp, struct wf_context *native, void (*fn)(void *arg), void *arg);
#else
static inline __attribute__((always_inline)) void wf_context_call_on(void *sp, struct wf_context *native,
                                                                     void (*fn)(void *arg), void *arg) {
    (void)native;
    wf_arch_call_on(sp, fn, arg);
}
#endif

/* For a jump to the frame at mark that ran no cleanups: AddressSanitizer learns that the stacks on the way were left. */
#ifdef WF_ASAN
void wf_context_left_calls(const void *mark);
#else
static inline void wf_context_left_calls(const void *mark) {
    (void)mark;
}
#endif

/* For a thread that leaves all its calls for good, together with the stacks that they were made from. */
#ifdef WF_ASAN
void wf_context_forget_calls(void);
#else
static inline void wf_context_forget_calls(void) {}
#endif

#endif
