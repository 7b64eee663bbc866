/* SPDX-License-Identifier: MIT
 *
 * ffi/direct.h - calls whose arguments all travel in registers, made without libffi.
 *
 * libffi looks at the type of each argument at every call. Where all that matters is which register it goes to, that is
 * more work than the call. Results and reasons are ffi/invoke.c's business.
 */
#ifndef WF_FFI_DIRECT_H
#define WF_FFI_DIRECT_H

#ifdef WF_LIBFFI

#include "ffi/signature.h"
#include "weft/ffi.h"

/* Whether a signature whose letters are known is of that sort. */
bool wf_direct_can_call(const struct wf_signature *signature, bool is_variadic);
/* Calls it; what the function leaves in the register of its result. */
uint64_t wf_direct_call(const struct wf_signature *signature, void *address, const weft_ffi_value *args);

#endif

#endif
