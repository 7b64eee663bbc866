/* SPDX-License-Identifier: MIT
 *
 * os/futex.h - the one way a thread sleeps on a word, and the one way it is woken.
 *
 * Used by the parker and the lock of queue/ and by nothing else. The weak-memory explorer replaces both functions, which
 * is why they are so few: whoever wants to sleep in another way has to build it on the parker, whose protocol is checked
 * there with every interleaving.
 */
#ifndef WF_OS_FUTEX_H
#define WF_OS_FUTEX_H

#include "base/atomic.h"

/* Sleeps while *word is expected, until a wake or the absolute monotonic deadline (INT64_MAX: none). Returns 0 on a
 * wake or when the word had another value already, -ETIMEDOUT, or -EINTR; the caller looks at its word again in any
 * case, so a spurious return is harmless. */
int wf_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline_ns);

/* Wakes up to count sleepers of the word. Cannot fail for a word of this process. */
void wf_os_futex_wake(_Atomic uint32_t *word, int count);

#endif
