/* SPDX-License-Identifier: MIT
 *
 * arch/context.c - the first frame of a context, and what the sanitizers must be told about it.
 *
 * wf_arch_prepare lays out what a switch will pop, so that the first switch to the context lands in the entry thunk of
 * switch_*.S, which finds function and argument on the stack or in callee-saved registers.
 */
#include "arch/context.h"

#include <string.h>

#include "base/assert.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

void wf_arch_thunk(void);

void *wf_arch_prepare(void *top, void (*entry)(void *arg), void *arg) {
    WF_ASSERT(((uintptr_t)top & 15) == 0);
    uintptr_t *sp = top;
#if defined(__x86_64__)
    *--sp = (uintptr_t)arg;
    *--sp = (uintptr_t)entry;
    *--sp = (uintptr_t)wf_arch_thunk;
    *--sp = 0; /* rbp */
#elif defined(__aarch64__)
    sp -= 20;
    memset(sp, 0, 20 * sizeof *sp);
    sp[0] = (uintptr_t)entry;          /* x19 */
    sp[1] = (uintptr_t)arg;            /* x20 */
    sp[11] = (uintptr_t)wf_arch_thunk; /* x30 */
#else
#error "weft runs on x86-64 and aarch64"
#endif
    return sp;
}

#if defined(__x86_64__)
WF_NOINLINE void wf_arch_switch(void **save, void *load) {
    wf_arch_switch_here(save, load);
}
#endif

void wf_context_announce_stack(void *low, void *high) {
    (void)low;
    (void)high;
#ifdef VALGRIND_STACK_REGISTER
    (void)VALGRIND_STACK_REGISTER(low, high);
#endif
}

void wf_context_init(struct wf_context *context, void *low, size_t size, struct wf_context *neutral) {
    (void)low;
    (void)size;
    (void)neutral;
#ifdef WF_ASAN
    __asan_unpoison_memory_region(low, size);
    context->fake_stack = NULL;
    context->stack_low = low;
    context->stack_size = size;
#endif
#if defined(WF_TSAN_ANNOTATE)
    void *here = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(neutral->tsan_fiber, WF_TSAN_SWITCH_FLAGS);
    context->tsan_fiber = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(here, WF_TSAN_SWITCH_FLAGS);
#elif defined(WF_TSAN)
    context->tsan_fiber = __tsan_create_fiber(0);
#endif
    context->sp = NULL;
}

void wf_context_adopt(struct wf_context *context, void *low, size_t size) {
    (void)low;
    (void)size;
#ifdef WF_ASAN
    context->fake_stack = NULL;
    context->stack_low = low;
    context->stack_size = size;
#endif
#ifdef WF_TSAN
    context->tsan_fiber = __tsan_get_current_fiber();
#endif
    context->sp = NULL;
}

void wf_context_term(struct wf_context *context) {
    (void)context;
#ifdef WF_TSAN
    __tsan_destroy_fiber(context->tsan_fiber);
    context->tsan_fiber = NULL;
#endif
}
