/* SPDX-License-Identifier: MIT
 *
 * arch/context.h - contexts: stacks that can be left and entered again.
 *
 * A context is its saved stack pointer, and beside it what the sanitizers want to know. wf_context_switch leaves one and
 * enters another on the same thread; it returns when somebody switches back, possibly on another thread. So nothing
 * that belongs to a thread may be kept across it: not the current worker, not an address of a thread-local.
 *
 * Rule: nobody may switch to a context before the switch away from it has finished. The context's owner publishes it
 * from the other side (fiber/switch.c), never before it leaves.
 *
 * Sanitizers: AddressSanitizer is told both stacks at each switch; ThreadSanitizer has one fiber for each context, and
 * the call that announces a switch stands in the same function as the switch (both inlined into the caller), because a
 * wrapper that returned first would unbalance its shadow stack. WF_TSAN_ANNOTATE is the build whose own code is not
 * instrumented but tells the sanitizer about fibers, for finding races between users' fibers.
 */
#ifndef WF_ARCH_CONTEXT_H
#define WF_ARCH_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sanitizer.h"

#ifdef WF_ASAN
#include <sanitizer/common_interface_defs.h>
void __asan_unpoison_memory_region(void const volatile *address, size_t size);
void __asan_handle_no_return(void);
#endif
#ifdef WF_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#ifdef WF_TSAN_ANNOTATE
#define WF_TSAN_SWITCH_FLAGS 1u /* a switch is no synchronisation: only the annotated edges are */
#else
#define WF_TSAN_SWITCH_FLAGS 0u
#endif
#endif

/* Using a record or a stack again orders its two owners, and so hides races between them. The build that looks for races
 * of users therefore takes new ones for as long as few have been used. */
static inline bool wf_wants_fresh(uint32_t used) {
#ifdef WF_TSAN_ANNOTATE
    return used < 4096;
#else
    (void)used;
    return false;
#endif
}

struct wf_context {
    void *sp;
#ifdef WF_ASAN
    void *fake_stack;
    const void *stack_low;
    size_t stack_size;
#endif
#ifdef WF_TSAN
    void *tsan_fiber;
#endif
};

/* Saves what the present context needs on its stack and the stack pointer to *save, goes on at load. */
void wf_arch_switch(void **save, void *load);

#if defined(__x86_64__)
#ifdef __AVX512F__
#define WF_SWITCH_MORE_CLOBBERS \
    "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
        "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7",
#else
#define WF_SWITCH_MORE_CLOBBERS
#endif
/* The same without a call. A call would leave an entry in the processor's stack of return addresses that no return takes
 * off, and every later return of this thread would be mispredicted; and the compiler saves only the registers that it
 * really uses here, since all are named as clobbered. A suspended context is then
 *
 *     sp -> rbp, address to go on at
 *
 * The 128 bytes keep clear of a red zone. */
static inline __attribute__((always_inline)) void wf_arch_switch_here(void **save, void *load) {
    __asm__ volatile("leaq 1f(%%rip), %%rax\n\t"
                     "leaq -128(%%rsp), %%rsp\n\t"
                     "pushq %%rax\n\t"
                     "pushq %%rbp\n\t"
                     "movq %%rsp, (%%rdi)\n\t"
                     "movq %%rsi, %%rsp\n\t"
                     "popq %%rbp\n\t"
                     "popq %%rax\n\t"
                     "jmp *%%rax\n\t"
                     ".p2align 3\n"
                     "1:\n\t"
                     "endbr64\n\t"
                     "leaq 128(%%rsp), %%rsp"
                     : "+D"(save), "+S"(load)
                     :
                     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
                       "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
                       "xmm13", "xmm14", "xmm15", WF_SWITCH_MORE_CLOBBERS "memory", "cc");
}
#else
#define wf_arch_switch_here wf_arch_switch
#endif

/* A context that will run entry(arg) on the stack that ends at top (aligned to 16). entry must not return. */
void *wf_arch_prepare(void *top, void (*entry)(void *arg), void *arg);

/* Valgrind guesses where stacks are; it is told once for each range that will hold one. Nothing without Valgrind. */
void wf_context_announce_stack(void *low, void *high);

/* For a stack of ours: low and size are what the sanitizers are told. neutral is the calling thread's own context: the
 * new one comes after it and not after whatever fiber happens to run now. */
void wf_context_init(struct wf_context *context, void *low, size_t size, struct wf_context *neutral);
/* Whether somebody wants to know where the thread's own stack is. */
static inline bool wf_context_wants_bounds(void) {
#ifdef WF_ASAN
    return true;
#else
    return false;
#endif
}
/* For the calling thread's own stack. */
void wf_context_adopt(struct wf_context *context, void *low, size_t size);
/* For memory that calls will be made on, and nothing switches to. */
static inline void wf_context_describe(struct wf_context *context, void *low, size_t size) {
    (void)context;
    (void)low;
    (void)size;
#ifdef WF_ASAN
    context->stack_low = low;
    context->stack_size = size;
#endif
}
/* For a context that has died; not the running one. */
void wf_context_term(struct wf_context *context);

/* Leaves from for to. dies: nobody will come back to from. */
static inline __attribute__((always_inline)) void wf_context_switch(struct wf_context *from, struct wf_context *to,
                                                                    bool dies) {
    (void)dies;
#ifdef WF_ASAN
    __sanitizer_start_switch_fiber(dies ? NULL : &from->fake_stack, to->stack_low, to->stack_size);
#endif
#ifdef WF_TSAN
    __tsan_switch_to_fiber(to->tsan_fiber, WF_TSAN_SWITCH_FLAGS);
#endif
    wf_arch_switch_here(&from->sp, to->sp);
#ifdef WF_ASAN
    __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

/* First thing on a new context, before anything else runs there. */
static inline void wf_context_entered(void) {
#ifdef WF_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

/* An edge "what was done before release is seen after acquire" that the sanitizer cannot see by itself. */
static inline void wf_context_release(void *address) {
    (void)address;
#ifdef WF_TSAN_ANNOTATE
    __tsan_release(address);
#endif
}

static inline void wf_context_acquire(void *address) {
    (void)address;
#ifdef WF_TSAN_ANNOTATE
    __tsan_acquire(address);
#endif
}

/* Floating-point control: rounding and masks, not the status flags of x87. */
static inline uint64_t wf_arch_fp_control_get(void) {
#if defined(__x86_64__)
    uint32_t mxcsr;
    uint16_t x87;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(x87));
    return (uint64_t)mxcsr | (uint64_t)x87 << 32;
#else
    uint64_t value;
    __asm__ volatile("mrs %0, fpcr" : "=r"(value));
    return value;
#endif
}

static inline void wf_arch_fp_control_set(uint64_t value) {
#if defined(__x86_64__)
    uint32_t mxcsr = (uint32_t)value;
    uint16_t x87 = (uint16_t)(value >> 32);
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(mxcsr), "m"(x87));
#else
    __asm__ volatile("msr fpcr, %0" ::"r"(value));
#endif
}

#endif
