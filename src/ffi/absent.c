/* SPDX-License-Identifier: MIT
 *
 * ffi/absent.c - dynamic calls in a build without libffi: all of them say so.
 *
 * The functions exist all the same, so that a program links with either build and asks at run time. Foreign calls of
 * functions that were known to the compiler need no libffi and are elsewhere.
 */
#ifndef WF_LIBFFI

#include <errno.h>

#include "ffi/dynamic.h"

static int absent(void) {
    return wf_ffi_fail(-ENOSYS, "dynamic calls need libffi, and this build of weft has none");
}

int weft_ffi_open(weft_ffi_library **out, const char *path) {
    (void)out;
    (void)path;
    return absent();
}

void weft_ffi_close(weft_ffi_library *library) {
    (void)library;
}

int weft_ffi_find(void **out, weft_ffi_library *library, const char *name) {
    (void)out;
    (void)library;
    (void)name;
    return absent();
}

int weft_ffi_bind_symbol(weft_ffi_symbol **out, weft_ffi_library *library, const char *name, const char *signature) {
    (void)out;
    (void)library;
    (void)name;
    (void)signature;
    return absent();
}

int weft_ffi_bind_address(weft_ffi_symbol **out, void *address, const char *signature) {
    (void)out;
    (void)address;
    (void)signature;
    return absent();
}

void weft_ffi_symbol_free(weft_ffi_symbol *symbol) {
    (void)symbol;
}

int weft_ffi_invoke(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count, weft_ffi_value *result) {
    (void)symbol;
    (void)args;
    (void)count;
    (void)result;
    return absent();
}

int weft_ffi_invoke_plain(const weft_ffi_symbol *symbol, const weft_ffi_value *args, unsigned count,
                          weft_ffi_value *result) {
    return weft_ffi_invoke(symbol, args, count, result);
}

int weft_ffi_size_of(const char *type) {
    (void)type;
    return absent();
}

int weft_ffi_callback_new(weft_ffi_callback **out, const char *signature, weft_ffi_handler handler, void *arg,
                          unsigned flags) {
    (void)out;
    (void)signature;
    (void)handler;
    (void)arg;
    (void)flags;
    return absent();
}

void *weft_ffi_callback_address(const weft_ffi_callback *callback) {
    (void)callback;
    return NULL;
}

void weft_ffi_callback_free(weft_ffi_callback *callback) {
    (void)callback;
}

#endif

typedef int wf_absent_unit_is_not_empty;
