/* SPDX-License-Identifier: MIT
 *
 * spec/migration_test.c - what travels with a fiber from worker to worker, and what a pin holds back.
 *
 * errno is written and read through functions that are not inlined: a compiler may keep its address across a call, and
 * the address belongs to a thread.
 */
#include <unistd.h>

#include "support/run.h"

enum { FIBERS = 24 };

static weft_key key;

static __attribute__((noinline)) void errno_set(int value) {
    errno = value;
    __asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) int errno_get(void) {
    __asm__ volatile("" ::: "memory");
    return errno;
}

static __attribute__((noinline)) int thread_now(void) {
    return gettid();
}

/* The rounding mode as the processor knows it, 0 to 3; 0 is to nearest. */
static int rounding_get(void) {
#ifdef __x86_64__
    return (int)(__builtin_ia32_stmxcsr() >> 13 & 3);
#else
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (int)(control >> 22 & 3);
#endif
}

static void rounding_set(int mode) {
#ifdef __x86_64__
    __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & ~(3u << 13)) | (unsigned)mode << 13);
#else
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    control = (control & ~(UINT64_C(3) << 22)) | (uint64_t)mode << 22;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#endif
}

static void *travel(void *arg) {
    int id = (int)(intptr_t)arg;
    bool keeps_fp = id % 2;
    CHECK_EQ(weft_keep_fp_control(keeps_fp), 0);
    if (keeps_fp)
        rounding_set(id / 2 % 4);
    CHECK_EQ(weft_local_set(key, arg), 0);
    for (long i = scaled(1000000, 2000) / FIBERS; i > 0; i--) {
        errno_set(id + 1);
        if (i % 1000 == 0)
            weft_sleep(weft_after(10 * WEFT_MICROSECOND));
        else
            weft_yield();
        CHECK_EQ(errno_get(), id + 1);
        CHECK(weft_local_get(key) == arg);
        CHECK_EQ(rounding_get(), keeps_fp ? id / 2 % 4 : 0);
    }
    if (keeps_fp)
        rounding_set(0);
    return NULL;
}

static void *stay(void *arg) {
    CHECK_EQ(weft_pin(), 0);
    int thread = thread_now();
    for (long i = scaled(20000, 100); i > 0; i--) {
        if (i % 100 == 0)
            weft_sleep(weft_after(10 * WEFT_MICROSECOND));
        else
            weft_yield();
        CHECK_EQ(thread_now(), thread);
    }
    CHECK_EQ(weft_pin(), 0);
    weft_unpin();
    weft_yield();
    CHECK_EQ(thread_now(), thread);
    weft_unpin();
    return arg;
}

static void send_fibers_around(void) {
    weft_fiber fibers[FIBERS + 4];
    CHECK_EQ(weft_key_new(&key, NULL), 0);
    for (intptr_t i = 0; i < FIBERS; i++)
        SPAWN(&fibers[i], travel, (void *)i);
    for (int i = FIBERS; i < FIBERS + 4; i++)
        SPAWN(&fibers[i], stay, NULL);
    for (int i = 0; i < FIBERS + 4; i++)
        JOIN(fibers[i], NULL);
    CHECK_EQ(weft_key_free(key), 0);
    weft_stats stats;
    CHECK_EQ(weft_get_stats(NULL, &stats), 0);
    printf("    %llu switches, %llu fibers moved\n", (unsigned long long)stats.switches,
           (unsigned long long)stats.stolen);
}

TEST(errno_fp_control_and_variables_travel_and_a_pinned_fiber_stays) {
    run_fibers(send_fibers_around);
}
