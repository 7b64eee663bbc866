/* SPDX-License-Identifier: MIT
 *
 * ffi/dynamic.h - what the parts of dynamic calls share: symbols, reasons, the way into a foreign call.
 *
 * A library is counted: one for whoever opened it, one for each symbol of it. A symbol is constant from its making to
 * its end, so any number of fibers and threads may invoke it at once.
 *
 * Everything that includes ffi.h stands inside WF_LIBFFI, which the build sets where libffi is; ffi/absent.c stands in
 * where it is not.
 */
#ifndef WF_FFI_DYNAMIC_H
#define WF_FFI_DYNAMIC_H

#include "weft/ffi.h"

struct wf_signature;

struct weft_ffi_symbol {
    void *address;
    struct wf_signature *signature;
    weft_ffi_library *library; /* NULL: the program had the address */
};

/* ffi/reason.c: remembers why for the calling fiber or thread and returns error, which is negative. */
int wf_ffi_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for the two reasons that most functions have. */
int wf_ffi_fail_memory(void);
int wf_ffi_fail_null(const char *what);

/* ffi/invoke.c: weft_ffi_call, which says why if it fails. */
int wf_ffi_foreign(void (*fn)(void *arg), void *arg);

#endif
