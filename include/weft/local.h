/* SPDX-License-Identifier: MIT
 *
 * weft/local.h - variables that travel with a fiber.
 *
 * What pthread keys are to threads: a key made once names a slot that each fiber fills for itself.
 *
 *     static weft_key request_id;                      // weft_key_new(&request_id, free) at start
 *     weft_local_set(request_id, strdup("r-17"));      // this fiber's
 *     const char *id = weft_local_get(request_id);     // also after a suspension, on another thread
 *
 * A destructor runs on the fiber itself, after its deferred calls, for every slot that is not null then; up to four
 * rounds, as destructors may set slots again. Keys are per process and serve every runtime.
 */
#ifndef WEFT_LOCAL_H
#define WEFT_LOCAL_H

#include "weft/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WEFT_KEYS_MAX = 128 };

typedef struct weft_key {
    uint32_t bits;
} weft_key;

/* Makes a key. destructor may be null. Returns 0, -EAGAIN when WEFT_KEYS_MAX keys exist, -EINVAL for a null out. */
WEFT_API int weft_key_new(weft_key *out, void (*destructor)(void *value));

/* Ends a key; values that fibers still hold under it are forgotten without their destructor. Returns 0 or -ESTALE. */
WEFT_API int weft_key_free(weft_key key);

/* The calling fiber's value; null when it has none, for a stale key, and on a plain thread. */
WEFT_API void *weft_local_get(weft_key key);

/* Sets the calling fiber's value. Returns 0, -ENOMEM, -ESTALE for a dead key, -EPERM on a plain thread. */
WEFT_API int weft_local_set(weft_key key, void *value);

#ifdef __cplusplus
}
#endif

#endif
