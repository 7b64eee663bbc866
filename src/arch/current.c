/* SPDX-License-Identifier: MIT
 *
 * arch/current.c - the one thread-local of the runtime.
 *
 * Written when a thread becomes a worker and when it stops being one, never by a fiber. The setter is a real call, so
 * that the compiler cannot keep the variable's address in a function that goes on on another thread. The initial-exec
 * model makes a read two instructions, in a shared library too.
 */
#include "arch/current.h"

/* used: the readers are assembly, which link-time optimisation does not see. */
__thread void *wf_current __attribute__((tls_model("initial-exec"), visibility("hidden"), used));

__attribute__((noinline)) void wf_current_set(void *worker) {
    wf_current = worker;
}
