/* SPDX-License-Identifier: MIT
 *
 * arch/current.h - what the calling thread is to weft: one pointer, read afresh every time.
 *
 * NULL on a plain thread; on a worker its struct wf_worker. Compilers compute the address of a thread-local once per
 * function and keep it, which is wrong in a function that suspends a fiber and goes on with it on another thread. So
 * the read is assembly that cannot be merged with an earlier one.
 */
#ifndef WF_ARCH_CURRENT_H
#define WF_ARCH_CURRENT_H

extern __thread void *wf_current __attribute__((tls_model("initial-exec"), visibility("hidden")));

static inline __attribute__((always_inline)) void *wf_current_get(void) {
    void *value;
#if defined(__x86_64__)
    __asm__ volatile("movq wf_current@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value)::"memory");
#elif defined(__aarch64__)
    void *offset;
    __asm__ volatile("mrs %0, tpidr_el0\n\t"
                     "adrp %1, :gottprel:wf_current\n\t"
                     "ldr %1, [%1, :gottprel_lo12:wf_current]\n\t"
                     "ldr %0, [%0, %1]"
                     : "=&r"(value), "=&r"(offset)::"memory");
#endif
    return value;
}

void wf_current_set(void *worker);

#endif
