/* SPDX-License-Identifier: MIT
 *
 * ffi/signature.h - a signature in letters, made into what libffi wants.
 *
 *     "Zd{ii}.p)i"    string, double and struct of two ints; then, variable, a pointer; gives an int
 *
 * The letters are those of weft/ffi.h. A signature is one block: this struct, then the types of its arguments, the
 * types of its structs and the letters. It does not change once it is made, and libffi only reads it, so calls at the
 * same time share it.
 */
#ifndef WF_FFI_SIGNATURE_H
#define WF_FFI_SIGNATURE_H

#ifdef WF_LIBFFI

#include <ffi.h>
#include <stdbool.h>
#include <stdint.h>

/* Arguments, structs one inside another, and members of all structs together. */
enum { WF_FFI_ARGUMENTS_MAX = 64, WF_FFI_DEPTH_MAX = 16, WF_FFI_MEMBERS_MAX = 1024 };

enum wf_signature_use { WF_SIGNATURE_CALL, WF_SIGNATURE_CALLBACK };

struct wf_signature {
    ffi_cif cif;
    uint32_t count; /* of arguments, variable ones included */
    char result;    /* its letter; '{' for a struct, also in letters */
    bool is_direct; /* it can be called without libffi: ffi/direct.h */
    char letters[WF_FFI_ARGUMENTS_MAX];
};

/* Makes one; freed by wf_os_free. Returns 0; -EINVAL when the text makes no sense; -E2BIG; -ENOMEM. Says why it failed.
 * */
int wf_signature_new(struct wf_signature **out, const char *text, enum wf_signature_use use);

#endif

#endif
