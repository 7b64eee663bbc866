/* SPDX-License-Identifier: MIT
 *
 * wait/memory.c - memory that a call needs while it waits.
 *
 * A fiber that is dropped with its runtime does not come back to free what it had taken. So each block is among the leavers of
 * its stack, and goes with it.
 */
#include "os/memory.h"
#include "wait/wait.h"

/* Leaving, too: the call may end by a fault that became a panic. */
static void release_memory(struct wf_leaver *leaver) {
    wf_os_free(leaver);
}

void *wf_wait_alloc(size_t bytes) {
    struct wf_fiber *fiber = wf_fiber_self();
    struct wf_leaver *leaver = wf_os_alloc(sizeof *leaver + bytes);
    if (!leaver)
        return NULL;
    *leaver = (struct wf_leaver){.leave = release_memory, .drop = release_memory};
    if (fiber)
        wf_leaver_push(wf_fiber_stack(fiber), leaver);
    return leaver + 1;
}

void wf_wait_free(void *memory) {
    struct wf_leaver *leaver = (struct wf_leaver *)memory - 1;
    struct wf_fiber *fiber = wf_fiber_self();
    if (fiber)
        wf_leaver_remove(wf_fiber_stack(fiber), leaver);
    wf_os_free(leaver);
}
