/* SPDX-License-Identifier: MIT
 *
 * wmx/callbacks.c - the functions that code compiled with -fsanitize=thread calls.
 *
 * Their names and signatures are the compiler's. The return address is what a trace shows as the place in the source.
 */
#include "wmx/wmx.h"

#include <string.h>

#define HERE __builtin_return_address(0)

#define PLAIN(bytes) \
    void __tsan_read##bytes(void *p) { \
        wmx_plain(p, bytes, false, HERE); \
    } \
    void __tsan_write##bytes(void *p) { \
        wmx_plain(p, bytes, true, HERE); \
    } \
    void __tsan_unaligned_read##bytes(void *p) { \
        wmx_plain(p, bytes, false, HERE); \
    } \
    void __tsan_unaligned_write##bytes(void *p) { \
        wmx_plain(p, bytes, true, HERE); \
    }

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *p, unsigned long bytes) {
    wmx_plain(p, bytes, false, HERE);
}

void __tsan_write_range(void *p, unsigned long bytes) {
    wmx_plain(p, bytes, true, HERE);
}

void __tsan_init(void) {}

void __tsan_func_entry(void *p) {
    (void)p;
}

void __tsan_func_exit(void) {}

void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    wmx_plain(from, bytes, false, HERE);
    wmx_plain(to, bytes, true, HERE);
    return memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes) {
    wmx_plain(to, bytes, true, HERE);
    return memset(to, value, bytes);
}

void __tsan_atomic_thread_fence(int order) {
    wmx_fence(order, HERE);
}

void __tsan_atomic_signal_fence(int order) {
    (void)order;
}

#define UPDATE(bits, type, name, kind) \
    type __tsan_atomic##bits##_##name(volatile type *p, type value, int order) { \
        return (type)wmx_update((uintptr_t)p, sizeof(type), kind, value, order, HERE); \
    }

#define ATOMIC(bits, type) \
    type __tsan_atomic##bits##_load(const volatile type *p, int order) { \
        return (type)wmx_load((uintptr_t)p, sizeof(type), order, HERE); \
    } \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order) { \
        wmx_store((uintptr_t)p, sizeof(type), value, order, HERE); \
    } \
    UPDATE(bits, type, exchange, WMX_EXCHANGE) \
    UPDATE(bits, type, fetch_add, WMX_ADD) \
    UPDATE(bits, type, fetch_sub, WMX_SUB) \
    UPDATE(bits, type, fetch_and, WMX_AND) \
    UPDATE(bits, type, fetch_or, WMX_OR) \
    UPDATE(bits, type, fetch_xor, WMX_XOR) \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *p, type *e, type desired, int success, \
                                                      int failure) { \
        uint64_t expected = *e; \
        bool done = wmx_cas((uintptr_t)p, sizeof(type), &expected, desired, (int[]){success, failure}, HERE); \
        *e = (type)expected; \
        return done; \
    } \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *p, type *e, type desired, int success, \
                                                    int failure) { \
        return __tsan_atomic##bits##_compare_exchange_strong(p, e, desired, success, failure); \
    } \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type e, type desired, int success, \
                                                    int failure) { \
        uint64_t expected = e; \
        wmx_cas((uintptr_t)p, sizeof(type), &expected, desired, (int[]){success, failure}, HERE); \
        return (type)expected; \
    }

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
