/* SPDX-License-Identifier: MIT
 *
 * arch/current.c - the one thread-local of the runtime.
 *
 * Written when a thread becomes a worker and when it stops being one, never by a fiber.
 */
#include "arch/current.h"

__thread void *wf_current __attribute__((tls_model("initial-exec"), visibility("hidden")));

__attribute__((noinline)) void wf_current_set(void *worker) {
    wf_current = worker;
}
