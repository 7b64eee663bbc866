/* SPDX-License-Identifier: MIT
 *
 * support/dynamic.h - short forms for suites of dynamic foreign calls.
 *
 * A build without libffi has none of them; a test that needs them begins with HAS_LIBFFI, or runs its body by run_both,
 * which does nothing there. Public headers only.
 */
#ifndef WF_SUPPORT_DYNAMIC_H
#define WF_SUPPORT_DYNAMIC_H

#include "support/run.h"

#define HAS_LIBFFI() (weft_ffi_size_of("i") != -ENOSYS)

/* Runs the body on a fiber, and on a plain thread without a runtime. */
static inline void run_both(void (*body)(void)) {
    if (!HAS_LIBFFI())
        return;
    run_fibers(body);
    body();
}

static inline weft_ffi_symbol *bind_function(void *address, const char *signature) {
    weft_ffi_symbol *symbol = NULL;
    int error = weft_ffi_bind_address(&symbol, address, signature);
    if (error)
        fprintf(stderr, "%s\n", weft_ffi_reason());
    CHECK_EQ(error, 0);
    return symbol;
}

static inline void invoke(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count,
                          weft_ffi_value *result) {
    int error = weft_ffi_invoke(symbol, args, count, result);
    if (error)
        fprintf(stderr, "%s\n", weft_ffi_reason());
    CHECK_EQ(error, 0);
}

static inline void invoke_once(void *address, const char *signature, const weft_ffi_value *args, unsigned count,
                               weft_ffi_value *result) {
    weft_ffi_symbol *symbol = bind_function(address, signature);
    invoke(symbol, args, count, result);
    weft_ffi_symbol_free(symbol);
}

static inline void no_handler(const weft_ffi_value *args, weft_ffi_value *result, void *arg) {
    (void)args;
    (void)result;
    (void)arg;
}

/* One function for each letter: what comes back can be told from what went in, and must not depend on the rest of its
 * register. */
static inline bool pass_bool(bool x) {
    return !x;
}
#define PASS(name, type) \
    static inline type pass_##name(type x) { \
        return (type)(x + 1); \
    }
PASS(i8, int8_t)
PASS(u8, uint8_t)
PASS(i16, int16_t)
PASS(u16, uint16_t)
PASS(int, int)
PASS(unsigned, unsigned)
PASS(long, long)
PASS(ulong, unsigned long)
PASS(i64, int64_t)
PASS(u64, uint64_t)
PASS(float, float)
PASS(double, double)

static inline void *pass_pointer(void *x) {
    return (char *)x + 1;
}

#endif
