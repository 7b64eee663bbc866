/* SPDX-License-Identifier: MIT
 *
 * arch/call.c - what AddressSanitizer must be told about calls onto another stack.
 *
 * It keeps the bounds of the present stack, a fake stack beside it where locals of functions that have returned stay
 * poisoned, and marks around every local. On the way there bounds and fake stack are exchanged as at a switch. On the way
 * back a cleanup does it, so that a return, an exception and wf_guarded_leave are one case. The frames that the latter two
 * leave have not taken their marks away; whoever throws or leaves does that for the stack it is on, and the cleanup for
 * the one it comes back to.
 *
 * Only a jump passes no cleanup (wf_guarded_drop): then the calls that were left are found in a list. It belongs to the
 * thread, because none of its calls can change threads before it is over.
 *
 * Nothing of this exists in other builds.
 */
#include "arch/call.h"

#ifdef WF_ASAN

struct native_call {
    struct native_call *outer;
    struct wf_context *native;
    void (*fn)(void *arg);
    void *arg;
    bool has_returned;
    /* Of the stack that was left. */
    void *fake_stack;
    const void *stack_low;
    size_t stack_size;
};

/* The innermost call that is not over. Each one in the list has changed stacks. */
static __thread struct native_call *native_calls;

static void native_call_arrive(void *opaque);
static void native_call_end(struct native_call *call);
static void native_call_announce_end(struct native_call *call);
static bool range_has(const void *low, size_t size, const void *address);

/* Not instrumented, so that the record lies in the frame itself and has no marks around it. */
__attribute__((no_sanitize_address)) void wf_context_call_on(void *sp, struct wf_context *native, void (*fn)(void *arg),
                                                             void *arg) {
    if (native_calls && native_calls->native == native) { /* it is the present stack */
        wf_arch_call_on(sp, fn, arg);
        return;
    }
    __attribute__((cleanup(native_call_end))) struct native_call call = {
        .outer = native_calls, .native = native, .fn = fn, .arg = arg};
    native_calls = &call;
    __sanitizer_start_switch_fiber(&call.fake_stack, native->stack_low, native->stack_size);
    wf_arch_call_on(sp, native_call_arrive, &call);
    call.has_returned = true;
}

static void native_call_arrive(void *opaque) {
    struct native_call *call = opaque;
    __sanitizer_finish_switch_fiber(call->native->fake_stack, &call->stack_low, &call->stack_size);
    call->fn(call->arg);
}

static void native_call_end(struct native_call *call) {
    native_call_announce_end(call);
    if (!call->has_returned)
        __asan_handle_no_return();
}

static void native_call_announce_end(struct native_call *call) {
    __sanitizer_start_switch_fiber(&call->native->fake_stack, call->stack_low, call->stack_size);
    __sanitizer_finish_switch_fiber(call->fake_stack, NULL, NULL);
    native_calls = call->outer;
}

void wf_context_left_calls(const void *mark) {
    while (native_calls && !range_has(native_calls->native->stack_low, native_calls->native->stack_size, mark)) {
        struct native_call *call = native_calls;
        bool is_last = range_has(call->stack_low, call->stack_size, mark);
        const char *end = is_last ? (const char *)mark : (const char *)call->stack_low + call->stack_size;
        native_call_announce_end(call);
        __asan_unpoison_memory_region(call, (size_t)(end - (const char *)call));
    }
}

void wf_context_forget_calls(void) {
    native_calls = NULL;
}

static bool range_has(const void *low, size_t size, const void *address) {
    return (uintptr_t)address - (uintptr_t)low < size;
}

#endif
