/* SPDX-License-Identifier: MIT
 *
 * examples/pinned.c - staying on one thread for a while, and floating-point modes that travel.
 *
 * Between weft_pin and weft_unpin a fiber goes on on the same thread, whatever it waits for. That is for code which keeps
 * state in the thread: libraries with a context per thread, thread-local variables whose address is kept. The thread is
 * not reserved: other fibers run on it meanwhile.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft.h>

enum { FIBERS = 20, TURNS = 50 };

/* Not gettid(): it may be inlined or cached; and not pthread_self(), which compilers keep across calls. */
static long thread_id(void) {
    return syscall(SYS_gettid);
}

static void *stay(void *arg) {
    if (weft_pin() != 0 || weft_pin() != 0) /* pairs nest */
        weft_panic("a fiber can be pinned");
    weft_unpin();
    long home = thread_id();
    for (int i = 0; i < TURNS; i++) {
        if (i % 10 == 0)
            weft_sleep(weft_after(WEFT_MILLISECOND));
        else
            weft_yield();
        if (thread_id() != home)
            weft_panic("a pinned fiber moved");
    }
    weft_unpin();
    return arg;
}

/* The control register of floating-point arithmetic: mode 0 rounds to nearest, 1 down, 2 up. As fesetround, without
 * needing the mathematical library. */
static unsigned rounding(void) {
#if defined(__x86_64__)
    return __builtin_ia32_stmxcsr() >> 13 & 3;
#else
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)(control >> 22 & 3) ^ (control >> 22 & 3 ? 3u : 0u);
#endif
}

static void set_rounding(unsigned mode) {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~(3u << 13)) | mode << 13);
#else
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = (control & ~(UINT64_C(3) << 22)) | (uint64_t)(mode ? mode ^ 3u : 0u) << 22;
    __asm__ volatile("msr fpcr, %0" ::"r"(control));
#endif
}

/* The rounding mode belongs to the thread unless the fiber asks to keep it. */
static void *keep_rounding(void *arg) {
    if (weft_keep_fp_control(true) != 0)
        weft_panic("a fiber can keep its control words");
    unsigned mode = (intptr_t)arg % 2 ? 1 : 2;
    set_rounding(mode);
    for (int i = 0; i < TURNS; i++) {
        weft_yield();
        if (rounding() != mode)
            weft_panic("the rounding mode was lost");
    }
    set_rounding(0); /* the thread goes on with what the fiber leaves behind */
    return NULL;
}

static int app(void *arg) {
    (void)arg;
    weft_fiber fibers[2 * FIBERS];
    for (intptr_t i = 0; i < 2 * FIBERS; i++)
        if (weft_spawn(&fibers[i], i < FIBERS ? stay : keep_rounding, (void *)i) != 0)
            return 1;
    for (int i = 0; i < 2 * FIBERS; i++)
        if (weft_join(fibers[i], NULL, WEFT_NEVER) != 0)
            return 1;
    printf("%d pinned fibers stayed on their threads, %d kept their rounding mode\n", FIBERS, FIBERS);
    return 0;
}

int main(void) {
    return weft_run(NULL, app, NULL);
}
