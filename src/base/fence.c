/* SPDX-License-Identifier: MIT
 *
 * base/fence.c - the word that stands in for fences under ThreadSanitizer.
 *
 * Empty in every other build. See wf_fence_seq_cst in base/atomic.h: the sanitizer does not follow fences, so in its
 * build they are read-modify-writes of this word.
 */
#include "base/atomic.h"

#if defined(__SANITIZE_THREAD__) && !defined(WF_MODEL)
_Atomic uint32_t wf_fence_word;
#endif

typedef int wf_fence_unit_is_not_empty;
