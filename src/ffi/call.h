/* SPDX-License-Identifier: MIT
 *
 * ffi/call.h - what the runtime has to know of foreign calls.
 *
 * Everything else of them is public: weft/ffi.h. The runtime stores the function below where fibers that are unbound find it;
 * so the layer of fibers need not know that some wait to be bound.
 */
#ifndef WF_FFI_CALL_H
#define WF_FFI_CALL_H

struct wf_fibers;

/* A fiber was unbound: one that waits to be bound may try. As wf_fibers.on_unbound. */
void wf_ffi_unbound(struct wf_fibers *fibers);

#endif
